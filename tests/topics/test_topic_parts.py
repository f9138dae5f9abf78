"""A topic and its parts: grouped once for all topics, they are what each topic alone would give."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from everword.topics.rules.fading import TopicState
from everword.topics.rules.topic_set import (
    SPAN,
    TopicSet,
    group_parts,
    move_centroid,
    parts,
    roots,
    round_vector,
    round_vectors,
)
from everword.topics.rules.topics import Book

TOPICS = 12
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


@given(
    st.lists(
        st.tuples(st.integers(1, 3 * SPAN), st.integers(0, 90), st.booleans(), st.sampled_from(["", "x", "y"])),
        max_size=80,
    ),
    st.data(),
)
def test_topics_that_were_changed_one_by_one_are_those_that_were_put_together_at_once(
    changes: list[tuple[int, int, bool, str]], data: st.DataObject
) -> None:
    topics = TopicSet()
    for first, hours, is_faded, mark in changes:
        time = T0 + timedelta(hours=hours)
        older = [other for other, state in topics.items() if other < first and state.faded_at is None]
        into = data.draw(st.sampled_from([None, *older])) if mark == "x" else None
        faded_at = T0 if is_faded and into is None and first not in topics.families else None
        state = TopicState(first, mark, T0, time, count=1, faded_at=faded_at, merged_into=into)
        topics = topics.with_changes({first: state})
        topics.next_fade(0.05)  # what was derived before a change must not be kept where it no longer holds
    afresh = TopicSet.of(dict(topics))
    assert topics == afresh
    assert {first: topics.parts(first) for first in topics} == {first: parts(dict(topics), first) for first in topics}
    assert topics.last_active == afresh.last_active
    assert topics.root_count == afresh.root_count
    assert topics.next_fade(0.05) == afresh.next_fade(0.05)
    now = T0 + timedelta(days=5)
    assert sorted(topic.first for topic in topics.due_topics(now, 0.05)) == sorted(
        topic.first for topic in afresh.due_topics(now, 0.05)
    )
    assert topics.changes_since(afresh) == []
    assert topics.without_faded() == {first: state for first, state in topics.items() if state.faded_at is None}


@given(st.lists(st.tuples(st.integers(1, 2 * SPAN), st.integers(0, 4), st.booleans()), min_size=1, max_size=60))
def test_topics_that_grow_are_compared_as_those_that_were_put_together_at_once(
    growths: list[tuple[int, int, bool]],
) -> None:
    topics = TopicSet()
    axes = np.eye(5, dtype=np.float32)
    for hours, (first, axis, is_late) in enumerate(growths):
        before = topics.find(first) or TopicState(first, "", T0, T0)
        time = T0 + timedelta(hours=hours if is_late else 0)
        centroid = move_centroid(before.centroid, before.count, axes[axis])
        state = TopicState(first, "", T0, max(time, before.last_active_at), centroid, before.count + 1)
        topics = topics.with_changes({first: state})
        topics.next_fade(0.05)
    afresh = TopicSet.of(dict(topics))
    vector = round_vector(np.arange(1, 6))
    assert topics.near(vector).topics.tolist() == afresh.near(vector).topics.tolist()
    assert topics.near(vector).cosines.tolist() == afresh.near(vector).cosines.tolist()
    assert topics.last_active == afresh.last_active
    assert topics.next_fade(0.05) == afresh.next_fade(0.05)


def test_vectors_that_are_rounded_together_are_those_that_are_rounded_alone() -> None:
    vectors = np.random.default_rng(3).normal(size=(20, 64)).astype(np.float32)
    vectors[7] = 0.0
    vectors[9] = -1e-9  # less than half precision can tell from zero
    for group in ([*vectors], [vectors[0], vectors[1][:32]], []):
        alone = [round_vector(vector).tobytes() for vector in group]
        assert [row.tobytes() for row in round_vectors(group)] == alone


@given(st.lists(st.integers(1, TOPICS), max_size=40), st.integers(0, 1_000))
def test_topics_that_grow_in_turn_are_as_near_as_those_that_were_put_together_at_once(
    order: list[int], seed: int
) -> None:
    numbers = np.random.default_rng(seed)
    states = {
        first: TopicState(
            first, "", T0, T0, round_vector(numbers.normal(size=16)).astype(np.float16).tobytes(), count=1
        )
        for first in range(1, TOPICS + 1)
    }
    topics = TopicSet.of(states)
    for minute, first in enumerate(order, start=1):
        vector = round_vector(numbers.normal(size=16))
        before = topics
        cosines_before = before.near(vector).cosines.tolist()
        state = topics[first]
        grown = TopicState(
            first,
            "",
            T0,
            T0 + timedelta(minutes=minute),
            move_centroid(state.centroid, state.count, vector),
            count=state.count + 1,
        )
        topics = topics.with_changes({first: grown})
        at_once = TopicSet.of(dict(topics)).near(vector)
        near = topics.near(vector)
        assert (near.topics.tolist(), near.cosines.tolist()) == (at_once.topics.tolist(), at_once.cosines.tolist())
        assert before.near(vector).cosines.tolist() == cosines_before
