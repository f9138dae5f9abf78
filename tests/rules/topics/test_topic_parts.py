"""A topic and its parts: grouped once for all topics, they are what each topic alone would give."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.topics.topic_set import group_parts, parts, roots
from recollect.rules.topics.topic_state import TopicState
from recollect.rules.topics.topics import Book

T0 = datetime(2026, 1, 1, 12, tzinfo=UTC)


@given(st.lists(st.integers(min_value=0, max_value=30), max_size=30))
def test_parts_that_are_grouped_at_once_are_those_of_each_topic(older: list[int]) -> None:
    """Each topic may be part of an older one, which may be part of another."""
    states: dict[int, TopicState] = {}
    for first, number in enumerate(older, start=1):
        into = number % first or None
        states[first] = TopicState(first, f"topic {first}", T0, T0, count=1, merged_into=into)
    by_root = group_parts(states)
    assert sorted(by_root) == sorted(roots(states))
    assert all(
        {part.first for part in by_root[first]} == {part.first for part in parts(states, first)} for first in by_root
    )


def test_what_a_book_derives_is_of_its_active_topics() -> None:
    faded = TopicState(1, "boats", T0, T0, faded_at=T0)
    active = TopicState(2, "bread", T0, T0)
    book = Book({1: faded, 2: active}, current=2)
    assert book.topics.last_active == (active,)
    assert book.topics.root_count == 1
    assert book.topics.without_faded() == {2: active}
    assert book.topics is book.topics  # computed once
    assert book == Book({1: faded, 2: active}, current=2)
