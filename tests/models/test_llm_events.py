"""Events come out the same however the bytes are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword.errors import ModelNonsense
from everword.models.chat.answers import EventParser, Trouble

TEXT = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


def fed(raw: bytes, cuts: list[int]) -> list[str]:
    events = EventParser(Trouble("some-model"))
    places = sorted({cut % (len(raw) + 1) for cut in cuts} | {0, len(raw)})
    return [event for start, end in pairwise(places) for event in events.feed(raw[start:end])]


@given(
    st.lists(TEXT, max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(0, 10_000), max_size=12),
    st.booleans(),
)
def test_any_cut_gives_the_same_events(texts: list[str], end: str, cuts: list[int], spaced: bool) -> None:
    space = " " if spaced else ""
    sent = [text.removeprefix(" ") for text in texts]
    raw = "".join(f": note{end}event: x{end}data:{space}{text}{end}{end}" for text in sent).encode()
    # A lone carriage return at the very end may still become a line's end: the next byte decides.
    assert fed(raw + b": next", cuts) == sent


def test_data_over_several_lines_is_one_event() -> None:
    assert fed(b"data: a\ndata: b\n\ndata\n\n\nid: 1\n\n", []) == ["a\nb"]


def test_an_event_is_bounded_however_it_comes() -> None:
    line = b"data: " + b"x" * 65_536
    for end in (b"", b"\n"):
        with pytest.raises(ModelNonsense, match="more than 2 MiB"):
            fed((line + end) * 64, list(range(0, 64 * len(line), 65_536)))


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(ModelNonsense, match="UTF-8") as caught:
        fed(b"data: \xff\n\n", [])
    assert caught.value.__context__ is None
