"""`python -m benchmarks recall --check`: where a simple method is better than ours."""

from __future__ import annotations

import pytest

from quality.recall import OURS, Evaluation, Result, Scope
from quality.recall_command import cells_behind, show_behind


def evaluation(ours: dict[str, float], simple: dict[str, float]) -> Evaluation:
    results = (Result("q", "any", {OURS: ours, "BM25, stemmed": simple, "vectors": dict.fromkeys(simple, 0.0)}),)
    scope = Scope("all turns", results)
    return Evaluation("a set", "static", "plain", 1, 1, 1, 1, (), (scope,), Scope("context", ()), 0.0, ())


def test_every_printed_figure_that_is_lower_is_named_with_both() -> None:
    found = evaluation({"recall@10": 0.5, "session all@5": 0.9}, {"recall@10": 0.625, "session all@5": 0.9})
    assert cells_behind(found) == ["all turns, recall@10: 50.0 against 62.5 for BM25, stemmed"]


def test_being_behind_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as failure:
        show_behind(["all turns, recall@10: 50.0 against 62.5 for vectors"])
    assert failure.value.code == 1
    show_behind([])
    assert capsys.readouterr().err.splitlines() == [
        "behind: all turns, recall@10: 50.0 against 62.5 for vectors",
        "check: nowhere behind a simple method",
    ]
