"""Names as platforms give them: something is left of each, or nothing, and it is always fit to be kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword import InvalidInput
from everword.log.checks_and_seals import check_id
from everword.model.people import MAX_NAME, MAX_NAME_BYTES, clean_name, with_name

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("Dana Kim", "Dana Kim"),
        ("\u00a0\u3000", ""),
        ("\u3164\u2800", ""),
        ("\u200b\u200d\ufeff", ""),
        ("\u0301\u0302", ""),
        ("Da\tna\u2028Kim\u3000 ", "Da na Kim"),
        ("Dana\u202e\u2066 miK", "Dana miK"),
        ("Dana\x00\x1b[31m", "Dana [31m"),
        ("half \ud83d", "half"),
        (f"Ann {FAMILY}", f"Ann {FAMILY}"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("A\u200dnn", "Ann"),
        (7, ""),
        (None, ""),
    ],
)
def test_what_is_left_of_a_name(name: object, cleaned: str) -> None:
    assert clean_name(name) == cleaned


def test_the_first_name_that_can_be_seen_counts() -> None:
    assert clean_name("\u00a0", None, "dana8", "8") == "dana8"
    assert clean_name("\u3000", "") == ""


@pytest.mark.parametrize("part", [FAMILY, "e\u0301", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "日本", "x"])
def test_a_long_name_is_cut_between_characters(part: str) -> None:
    for before in range(len(part)):
        cleaned = clean_name("y" * before + part * 300)
        assert len(cleaned) <= MAX_NAME
        assert len(cleaned.encode()) <= MAX_NAME_BYTES
        rest = cleaned.removeprefix("y" * before)
        if part != "日本":
            assert len(rest) % len(part) == 0


@given(st.text(st.characters(exclude_categories=()), max_size=600))
def test_every_name_is_fit_to_be_kept_or_none(name: str) -> None:
    cleaned = clean_name(name)
    assert cleaned == clean_name(cleaned)
    if cleaned:
        assert check_id("name", cleaned) == cleaned


def test_a_name_that_is_no_text_is_refused_and_an_unseen_one_left_out() -> None:
    assert with_name({"a": 1}, "\u3000") == {"a": 1}
    assert with_name({}, " Ann\t") == {"name": "Ann"}
    with pytest.raises(InvalidInput, match="must be text"):
        with_name({}, 7)
