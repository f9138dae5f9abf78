"""At the command line a person is given by any of their names (G6), and it is said whom a name was taken for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_driver import everword, failed, imported, json_lines, succeeded

pytestmark = pytest.mark.checklist("G6")

LINES: list[dict[str, Any]] = [
    {"author": "user101", "content": "I live in Malmö.", "metadata": {"name": "Caroline"}},
    {"author": "user102", "content": "I live in Porto.", "metadata": {"name": "Melanie"}},
    {"author": "jonas", "content": "I live in Graz."},
]


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps({"conversation": "hall", "role": "user", **line}) for line in LINES]
    Path("hall.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    imported(Path("hall.jsonl"))


@pytest.mark.parametrize(
    ("name", "home", "note"),
    [
        ("user101", "Malmö", ""),
        ("Caroline", "Malmö", "'Caroline' is taken for Caroline (user101)\n"),
        ("carolin", "Malmö", "'carolin' is taken for Caroline (user101)\n"),
        ("Jonnas", "Graz", "'Jonnas' is taken for jonas\n"),
    ],
)
def test_commands_that_read_take_any_name(name: str, home: str, note: str) -> None:
    for command in (
        ("facts", name),
        ("profile", name),
        ("ask", "Where do they live?", "--user", name),
        ("search", "live", "--user", name),
        ("export", "--user", name),
        ("facts", name, "--history", "location"),
    ):
        result = everword(*command)
        assert (result.exit_code, home in result.stdout, result.stderr[: len(note) or None]) == (0, True, note), command
    fact = json_lines(succeeded("facts", name, "--json"))[0]["id"]
    assert home in succeeded("fact", "show", fact, "--user", name)
    assert home in succeeded("why", fact, "--user", name)
    assert "nothing was refused" in everword("facts", name, "--refused").stderr
    assert everword("conversations", "--user", name).exit_code == 0
    assert everword("digest", "--user", name).exit_code == 0
    assert everword("context", "hall", "hello", "--user", name).exit_code == 1  # a channel is nobody's


@pytest.mark.parametrize(
    "command",
    [
        ("forget", "lives in Malmö", "--user"),
        ("remember", "I keep bees", "--user"),
        ("fact", "add", "identity", "city", "Kiel", "--user"),
        ("fact", "edit", "f0", "Kiel", "--user"),
        ("fact", "delete", "f0", "--user"),
        ("undo", "f0", "--user"),
        ("erase", "--yes", "--user"),
        ("delete", "--yes", "--user"),
        ("redact", "--yes", "--user"),
        ("merge", "--into", "user102"),
    ],
)
def test_commands_that_change_something_never_guess(command: tuple[str, ...]) -> None:
    assert "did you mean Caroline (user101)?" in failed(*command, "Carolin")
    assert len(succeeded("export").splitlines()) == len(LINES)


def test_an_exact_name_is_enough_to_change_something() -> None:
    result = everword("forget", "lives in Malmö", "--user", "Caroline")
    assert (result.exit_code, "is taken for Caroline (user101)" in result.stderr) == (0, True)
    assert "erased 1 message" in succeeded("erase", "--yes", "--user", "Melanie")
    assert "nothing is known" in everword("facts", "user102").stderr


def test_a_name_of_two_people_is_an_error_that_names_both() -> None:
    more = {"conversation": "hall", "role": "user", **LINES[0], "author": "user103", "metadata": {"name": "Carolina"}}
    Path("more.jsonl").write_text(json.dumps(more) + "\n", encoding="utf-8")
    succeeded("import", "more.jsonl")
    assert "Caroline (user101) or Carolina (user103)" in failed("facts", "Carolin")
    assert "Porto" in succeeded("facts", "Melani")
