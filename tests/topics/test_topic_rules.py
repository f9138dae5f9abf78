"""Topics: which one a message belongs to, how they fade, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.topics.rules import fading, topic_set
from everword.topics.rules import topics as rule
from everword.topics.rules.fading import TopicOutline, TopicState
from everword.topics.rules.topic_set import TopicSet
from everword.topics.rules.topics import Book, FadedTopics, IncomingMessage, TopicRule

T0 = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAY, SECOND = timedelta(days=1), timedelta(seconds=1)
WIDTH = 48
EVERY = TopicRule(similarity=0.7)


def axis(*numbers: int) -> np.ndarray:
    """A vector that is about these things, in equal parts."""
    vector = np.zeros(WIDTH, np.float32)
    vector[list(numbers)] = 1
    return topic_set.round_vector(vector / np.linalg.norm(vector))


def said(
    turn: int, about: int | None, *, role: str = "user", time: datetime = T0, text: str = "", **more: object
) -> IncomingMessage:
    # Whether the subject shifts is not the question here: it is said so, and there are words for it.
    words = text or f"Different topic: grelb{about} has a vonk{about}, a sarl{about} and {turn} tumps{about}."
    vector = np.zeros(WIDTH, np.float32) if about is None else axis(about)
    return IncomingMessage(turn, role, words, time, vector, **more)  # type: ignore[arg-type]


def talked(*steps: IncomingMessage, rule_: TopicRule = EVERY, book: Book | None = None) -> Book:
    book = book or Book()
    for one in steps:
        book = rule.step(book, one, rule_, FadedTopics)
    return book


# -- time


@pytest.mark.parametrize(
    ("accesses", "days", "kind"),
    [
        (0, 1, "short-term"),
        (4, 1, "short-term"),
        (5, 2, "transitioning"),
        (9, 2, "transitioning"),
        (10, 4, "long-term"),
        (14, 4, "long-term"),
        (15, 8, "long-term"),
        (19, 8, "long-term"),
        (20, 16, "long-term"),
        (24, 16, "long-term"),
        (25, 30, "long-term"),
        (26, 30, "long-term"),
        (1_000_000, 30, "long-term"),
    ],
)
@pytest.mark.checklist("E3")
def test_the_half_life_table_is_exact_to_the_second(accesses: int, days: int, kind: str) -> None:
    assert fading.half_life(accesses) == timedelta(days=days)
    assert fading.topic_kind(accesses) == kind
    half = timedelta(days=days)
    assert fading.priority(1.0, accesses, half) == 0.5
    assert fading.priority(1.0, accesses, 2 * half) == 0.25
    assert fading.priority(0.5, accesses, half) == 0.25
    assert fading.priority(1.0, accesses, half - SECOND) > 0.5 > fading.priority(1.0, accesses, half + SECOND)
    seconds = int(half.total_seconds()) // 3
    expected = 0.5 ** (seconds / half.total_seconds())
    assert fading.priority(1.0, accesses, seconds * SECOND) == pytest.approx(expected, rel=1e-12)


@pytest.mark.checklist("E3")
def test_the_published_days_of_the_short_and_the_long_term() -> None:
    short = [fading.priority(1.0, 4, days * DAY) for days in range(6)]
    assert short == [1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125]
    assert [fading.priority(1.0, 20, 16 * days * DAY) for days in range(6)] == short


@given(
    st.integers(0, 60),
    st.floats(0, 1),
    st.timedeltas(timedelta(), timedelta(days=400)),
    st.timedeltas(timedelta(), DAY),
)
def test_priority_only_falls_and_never_leaves_its_bounds(
    accesses: int, importance: float, age: timedelta, more: timedelta
) -> None:
    now, later = fading.priority(importance, accesses, age), fading.priority(importance, accesses, age + more)
    assert 0 <= later <= now <= importance
    assert fading.priority(importance, accesses + 1, age) >= now


def test_a_message_from_the_future_takes_nothing() -> None:
    assert fading.priority(0.8, 0, -DAY) == 0.8


# -- importance


@given(st.floats(0, 1), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
@pytest.mark.checklist("E10")
def test_importance_is_learned_from_votes_and_from_use_and_stays_in_bounds(
    given_: float, ups: int, downs: int, returns: int
) -> None:
    state = TopicState(1, "", T0, T0, importance=given_, ups=ups, downs=downs, returns=returns)
    here = fading.importance_of(state)
    assert 0 <= here <= 1 + 1e-12
    assert fading.importance_of(rule.add_vote(state, 1)) >= here - 1e-12
    assert fading.importance_of(rule.add_vote(state, -1)) <= here + 1e-12
    assert fading.importance_of(replace(state, returns=returns + 1)) >= here - 1e-12


def test_importance_is_what_was_given_while_nobody_votes_or_comes_back() -> None:
    assert fading.importance_of(TopicState(1, "", T0, T0)) == 0.5
    assert fading.importance_of(TopicState(1, "", T0, T0, importance=0.9)) == 0.9


# -- matching


@pytest.mark.checklist("E1")
def test_a_message_joins_the_nearest_topic_or_opens_one_titled_with_80_characters() -> None:
    long = "Let us talk about " + "sailing boats and " * 10
    book = talked(said(1, 0, text=long), said(2, 1), said(3, 0), said(4, 1), said(5, 2))
    assert sorted(book.states) == [1, 2, 5]
    assert book.states[1].title == long[:67] == f"{long[:54]}sailing boats", "neither a word nor a phrase is cut"
    assert [book.states[first].count for first in (1, 2, 5)] == [2, 2, 1]
    assert book.current == 5
    assert [book.states[first].accesses for first in (1, 2, 5)] == [1, 1, 0]


@pytest.mark.checklist("E1")
def test_the_threshold_decides() -> None:
    other_words = "By the way: a quorn has some blist and a frop."
    near = replace(said(2, 0, text=other_words), vector=topic_set.round_vector(0.8 * axis(0) + 0.6 * axis(1)))
    away = said(3, 5)
    for least, joins in ((0.7, True), (0.79, True), (0.81, False)):
        book = talked(said(1, 0), away, near, rule_=TopicRule(similarity=least))
        assert (book.current == 1) is joins, least


@pytest.mark.checklist("E1")
def test_either_refreshes_the_clock_and_an_older_time_does_not_set_it_back() -> None:
    book = talked(said(1, 0), said(2, 0, time=T0 + DAY), said(3, 0, time=T0 - DAY))
    assert (book.states[1].created_at, book.states[1].last_active_at) == (T0, T0 + DAY)


@pytest.mark.parametrize("text", ["thanks!", "ok", "🎉", "And the second one?", "and why?", "それで？"])
@pytest.mark.checklist("E1")
def test_what_says_nothing_by_itself_belongs_to_what_it_follows(text: str) -> None:
    follow_up = replace(said(3, None, text=text), vector=axis(7), leaning=True)
    book = talked(said(1, 0), said(2, 1), follow_up)
    assert book.current == 2
    assert book.states[2].count == 2


def test_a_script_the_embedder_cannot_read_and_a_reply_stay_with_the_topic() -> None:
    book = talked(said(1, 0), said(2, 1), said(3, None, text="Какой завтра будет день?"))
    book = talked(replace(said(4, 0), role="assistant"), book=book)
    assert (book.current, book.states[2].count, book.states[2].accesses) == (2, 3, 1)


def test_a_conversation_may_begin_with_a_reply_or_an_emoji() -> None:
    assert talked(said(1, None, text="👋")).states[1].title == "👋"
    book = talked(replace(said(1, 0), role="assistant"), said(2, 0))
    assert (book.current, book.states[1].count) == (1, 2)


def test_if_two_would_do_the_current_topic_is_kept() -> None:
    between = replace(said(5, 0), vector=topic_set.round_vector(axis(0) + 1.02 * axis(1)))
    for last, other in ((0, 1), (1, 0)):
        book = talked(said(1, other), said(2, last), between, rule_=TopicRule(similarity=0.6))
        assert book.current == 2


@pytest.mark.checklist("E1")
def test_greetings_open_nothing_and_the_first_thing_said_names_the_topic() -> None:
    book = talked(said(1, 0, text="Hey Dana! Long time no see!"), said(2, 0, text="The grelb has a vonk."))
    assert topic_set.roots(book.states) == [1]
    assert book.states[1].title == "The grelb has a vonk."
    book = talked(said(3, 7, text="Thanks so much, Dana! See you!", time=T0 + 9 * DAY), book=book)
    assert book.current == 1


@pytest.mark.checklist("E1")
def test_a_question_that_names_nothing_leaves_the_name_to_its_answer() -> None:
    book = talked(said(1, 0, text="What challenges have you encountered?"), said(2, 0, text="The grelb has a vonk."))
    assert book.states[1].title == "The grelb has a vonk."
    book = talked(said(1, 0, text="Which greenhouse do you like?"), said(2, 0, text="The grelb has a vonk."))
    assert book.states[1].title == "Which greenhouse do you like?"


@pytest.mark.checklist("E1")
def test_from_the_third_message_on_key_phrases_are_the_title() -> None:
    book = talked(*(said(turn, 0) for turn in range(1, 4)))
    assert book.states[1].title == "grelb0, vonk0, sarl0"
    named = replace(book.states[1], title="What a model wrote", made_by="model")
    book = talked(*(said(turn, 0) for turn in range(4, 9)), book=replace(book, states={1: named}))
    assert book.states[1].title == "What a model wrote"


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=40))
@settings(max_examples=25, deadline=None)
@pytest.mark.checklist("E1")
def test_titles_of_a_batch_are_those_of_each_step(subjects: list[tuple[int, bool]]) -> None:
    """A topic may begin with a greeting, which is no title, and be named before and after it says something."""
    messages = [
        said(turn, about, time=T0 + turn * DAY / 24, text="Hello!" if is_greeting else "")
        for turn, (about, is_greeting) in enumerate(subjects, start=1)
    ]
    book = Book()
    for message in messages:
        book = rule.follow_message(book, message, EVERY, FadedTopics)
    named = rule.name_topics(book)
    assert dict(named.states) == dict(talked(*messages).states)
    assert not named.due_titles


def test_a_very_large_topic_goes_on_in_another_part() -> None:
    book = talked(*(said(turn, 0) for turn in range(1, rule.LARGE + 6)))
    assert [state.count for state in book.states.values()] == [rule.LARGE, 5]


# -- packing


@pytest.mark.checklist("E2")
def test_past_12_messages_all_but_4_are_packed_and_the_pack_grows() -> None:
    book, packed = Book(), []
    for turn in range(1, 41):
        book = talked(said(turn, 0), book=book)
        packed.append(book.states[1].packed)
    assert packed[:12] == [0] * 12
    assert packed[12] == 9
    assert [n for n, (a, b) in enumerate(pairwise(packed), 2) if a != b] == [13, 22, 31, 40]
    assert packed[-1] == 36


@pytest.mark.checklist("E5")
def test_coming_back_unpacks_and_leaving_packs_again() -> None:
    book = talked(*(said(turn, 0) for turn in range(1, 21)))
    assert (book.states[1].packed, book.states[1].opened) == (9, None)
    book = talked(said(21, 1), said(22, 0), book=book)
    assert book.states[1].opened == 20, "all of it is in the active set"
    stays = talked(*(said(turn, 0) for turn in range(23, 34)), book=book)
    assert stays.states[1].opened == 20
    later = talked(said(34, 0), book=stays)
    assert (later.states[1].packed, later.states[1].opened) == (later.states[1].count - 4, None)
    left = talked(said(23, 1), book=book)
    assert (left.states[1].packed, left.states[1].opened) == (9, None), "12 of 21 may stay"


# -- fading


def many(count: int, *, every: timedelta = timedelta(minutes=1)) -> Book:
    return talked(*(said(turn, turn, time=T0 + turn * every) for turn in range(1, count + 1)))


def faded(book: Book) -> list[int]:
    return sorted(first for first, state in book.states.items() if state.faded_at is not None)


@pytest.mark.checklist("E4")
def test_up_to_20_topics_stay_whatever_their_age() -> None:
    book = talked(said(21, 20, time=T0 + 900 * DAY), book=many(20))
    assert faded(book) == []


@pytest.mark.checklist("E4")
def test_over_20_those_under_the_least_priority_leave_never_the_current() -> None:
    # Half of 0.5 is gone each day: 0.05 is passed after 3.33 days.
    book = many(20)
    assert faded(talked(said(21, 21, time=T0 + 3 * DAY), book=book)) == []
    book = talked(said(21, 3, time=T0 + 3 * DAY), said(22, 22, time=T0 + 4 * DAY), book=book)
    assert faded(book) == [turn for turn in range(1, 21) if turn != 3]
    assert book.current == 22


@pytest.mark.checklist("E3", "E4")
def test_what_matters_and_what_is_used_often_stays_longer() -> None:
    book = many(18)
    book = talked(said(19, 19, importance=1.0), *(said(turn, 0) for turn in range(20, 32)), book=book)
    book = talked(said(40, 40, time=T0 + 4 * DAY), said(41, 41, time=T0 + 4 * DAY), book=book)
    assert faded(book) == list(range(1, 19)), "19 has the importance 1, and 20 was come to 11 times"


@pytest.mark.checklist("E4")
def test_a_match_brings_a_faded_topic_back_as_it_was() -> None:
    book = talked(said(21, 21, time=T0 + 9 * DAY), book=many(20))
    assert faded(book) == list(range(1, 21))
    gone = {first: state for first, state in book.states.items() if state.faded_at is not None}
    here = replace(book, states={first: state for first, state in book.states.items() if state.faded_at is None})
    back = rule.step(here, said(22, 7, time=T0 + 9 * DAY), EVERY, lambda: FadedTopics.of(gone))
    assert back.current == 7
    assert back.states[7].faded_at is None
    assert (back.states[7].count, back.states[7].returns) == (2, 1)
    assert sorted(back.states) == [7, 21]


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, WIDTH - 1), st.booleans()), max_size=120), st.data())
@settings(max_examples=sample(80))
@pytest.mark.checklist("E4")
def test_what_has_faded_is_found_the_same_however_often_it_changed(
    changes: list[tuple[int, int, bool]], data: st.DataObject
) -> None:
    """Made ready once and changed since, or made ready afresh: the same topic comes back."""
    grown = FadedTopics()
    for first, about, away in changes:
        gone = T0 if away else None
        into = data.draw(st.sampled_from([None, *grown.states])) if away else None
        merged = into if into is not None and into < first else None
        state = TopicState(
            first, "", T0, T0, topic_set.move_centroid(b"", 0, axis(about)), faded_at=gone, merged_into=merged
        )
        if not away:  # what is part of it comes back with it
            parts = topic_set.parts(grown.states, topic_set.root(grown.states, first)) if first in grown.states else []
            grown = grown.after({part.first: replace(part, faded_at=None) for part in parts})
        grown = grown.after({first: state})
    assert all(state.faded_at is not None for state in grown.states.values())
    afresh = FadedTopics.of(dict(grown.states))
    outlines = {
        first: TopicOutline.of(first, state.centroid, state.merged_into) for first, state in grown.states.items()
    }
    in_outline = FadedTopics(TopicSet.of(outlines, of_faded=True), lambda firsts: {n: grown.states[n] for n in firsts})
    for about in range(WIDTH):
        back = grown.find_return(axis(about), 0.7)
        assert back == afresh.find_return(axis(about), 0.7) == in_outline.find_return(axis(about), 0.7)
        assert back is None or grown.parts(back) == in_outline.parts(back)


# -- merging


@pytest.mark.checklist("E10")
def test_topics_that_grew_alike_become_one_and_can_be_taken_apart_for_good() -> None:
    """Two that began apart and have drifted to the same subject."""
    book = talked(*(said(turn, 0) for turn in range(1, 6)), *(said(turn, 1) for turn in range(6, 13)))
    assert sorted(topic_set.roots(book.states)) == [1, 6]
    centroid = topic_set.move_centroid(b"", 0, axis(0, 1))
    alike = replace(book, states={first: replace(state, centroid=centroid) for first, state in book.states.items()})
    both = replace(said(13, 0), vector=axis(0, 1))
    one = talked(both, book=alike)
    assert topic_set.roots(one.states) == [1]
    assert one.current == 1
    assert topic_set.whole_topic(one.states, 1).count == 13
    apart = rule.split_topic(one, 6)
    later = talked(*(replace(both, turn=turn) for turn in range(14, 24)), book=apart)
    assert sorted(topic_set.roots(later.states)) == [1, 6]
    young = replace(alike, states={**alike.states, 1: replace(alike.states[1], count=2)})
    assert len(topic_set.roots(talked(both, book=young).states)) == 2, "too little is known of one of them"


def test_a_merged_topic_is_matched_by_either_part_and_taken_out_as_it_was() -> None:
    book = talked(said(1, 0), said(2, 1), said(3, 0), said(4, 1), said(5, 9))
    one = rule.merge_topics(book, 1, 2)
    assert talked(said(6, 1), book=one).current == 1
    assert talked(said(6, 0), book=one).current == 1
    assert topic_set.whole_topic(one.states, 1).count == 4
    out = rule.split_topic(one, 2)
    assert replace(out.states[2], apart=frozenset()) == book.states[2]
    assert talked(said(6, 1), book=out).current == 2


# -- one log, one result


@settings(max_examples=sample(30))
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 100)), min_size=1, max_size=40))
def test_the_same_messages_give_the_same_topics_and_none_is_lost(steps: list[tuple[int, bool, int]]) -> None:
    messages = [
        said(turn, about, role="user" if mine else "assistant", time=T0 + hours * timedelta(hours=1))
        for turn, (about, mine, hours) in enumerate(steps, 1)
    ]
    book, again = talked(*messages), talked(*messages)
    assert book.states == again.states
    assert sum(state.count for state in book.states.values()) == len(messages)
    assert all(0 <= state.packed <= max(state.count - EVERY.keep, 0) for state in book.states.values())
    assert all(
        state.count - state.packed <= EVERY.messages or state.opened is not None for state in book.states.values()
    )


def test_a_centroid_is_rounded_at_once_so_that_a_pause_changes_nothing() -> None:
    centroid = b""
    for number in range(50):
        centroid = topic_set.move_centroid(centroid, number, axis(number % 3, 5))
        assert topic_set.move_centroid(centroid, 99, np.zeros(WIDTH, np.float32)) == centroid
    assert topic_set.round_vector(topic_set.direction(centroid)).tobytes() == topic_set.direction(centroid).tobytes()
    assert len(centroid) == 2 * WIDTH
