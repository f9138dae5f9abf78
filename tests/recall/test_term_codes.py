"""Terms as numbers: the same from a text of many lines as one by one, whatever their length and script."""

from __future__ import annotations

import pytest

from everword.recall.scope_index import line_codes, term_code

TERMS = ("a", "boat", "eightbyt", "ninebytes", "sixteen-bytes-ok", "é", "приветмир", "東京都", "x" * 70)


def test_lines_have_the_numbers_of_their_terms() -> None:
    lines = [f" s  u  c  {'  '.join(TERMS)} ", " s  u  c ", " s  u  c  boat  boat "]
    codes, counts = line_codes("\n".join(lines).encode(), 3)
    assert counts.tolist() == [len(TERMS), 0, 2]
    assert codes.tolist() == [term_code(term) for term in (*TERMS, "boat", "boat")]


def test_different_terms_have_different_numbers() -> None:
    assert len({term_code(term) for term in TERMS}) == len(TERMS)
    assert term_code("ninebytes") != term_code("ninebytet")


def test_a_line_without_its_first_terms_is_refused() -> None:
    with pytest.raises(ValueError, match="lacks terms that name its space, user and conversation"):
        line_codes(b" s  u  c  boat \n s ", 3)
