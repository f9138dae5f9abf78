"""The window: A9 by tokens, B2 by turns, D4 by user messages; exchanges are never split."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everword.model import ROLES, Role
from everword.summaries.rules.window import (
    Departure,
    WindowMessage,
    WindowRule,
    exchange_ends,
    find_departure,
    find_requested_departure,
    may_depart,
)

OFF = WindowRule(tokens=0, turns=0, user_messages=0)


def talk(pairs: int, tokens: int = 10) -> list[WindowMessage]:
    return [WindowMessage(turn, "user" if turn % 2 else "assistant", tokens) for turn in range(1, 2 * pairs + 1)]


@pytest.mark.checklist("A9")
def test_over_30_000_tokens_the_oldest_exchanges_leave_until_5_000_under() -> None:
    rule = WindowRule(turns=0)
    assert find_departure(talk(15, 1000), rule) is None
    gone = find_departure([*talk(15, 1000), WindowMessage(31, "user", 1), WindowMessage(32, "assistant", 1)], rule)
    assert gone == Departure(1, 6, "tokens")


@pytest.mark.checklist("A9")
def test_at_least_five_messages_stay_however_long_they_are() -> None:
    gone = find_departure(talk(6, 20_000), WindowRule(turns=0))
    assert gone == Departure(1, 6, "tokens")
    assert find_departure(talk(3, 90_000), WindowRule(turns=0)) is None


@pytest.mark.checklist("B2")
def test_at_20_turns_the_last_10_stay() -> None:
    rule = WindowRule()
    assert find_departure(talk(9), rule) is None
    assert find_departure(talk(10), rule) == Departure(1, 10, "turns")


@pytest.mark.checklist("D4")
def test_after_n_user_messages_and_the_reply_all_but_four_pairs_leave() -> None:
    rule = WindowRule(tokens=0, turns=0, user_messages=10)
    assert find_departure(talk(9), rule) is None
    assert find_departure(talk(10)[:-1], rule) is None, "the reply has to be stored first"
    assert find_departure(talk(10), rule) == Departure(1, 12, "user messages")


@pytest.mark.checklist("D7")
def test_on_request_all_but_the_last_exchange_leave_or_all_but_the_last_message_where_nobody_answers() -> None:
    assert find_requested_departure([]) is None
    assert find_requested_departure(talk(1)) is None
    assert find_requested_departure(talk(3)) == Departure(1, 4, "asked for")
    alone = [WindowMessage(turn, "user", 10) for turn in range(5, 9)]
    assert find_requested_departure(alone) == Departure(5, 7, "asked for")
    assert find_requested_departure(alone[:1]) is None


def test_each_trigger_can_be_off() -> None:
    assert find_departure(talk(500, 1000), OFF) is None


def test_a_question_in_several_messages_leaves_with_its_answer() -> None:
    window = [
        WindowMessage(1, "user", 1),
        WindowMessage(2, "user", 1),
        WindowMessage(3, "assistant", 1),
        WindowMessage(4, "tool", 1),
        WindowMessage(5, "user", 1),
    ]
    assert list(exchange_ends(window)) == [4]


def test_a_channel_where_nobody_answers_is_archived_too() -> None:
    window = [WindowMessage(turn, "user", 10) for turn in range(1, 61)]
    gone = find_departure(window, WindowRule())
    assert gone is not None
    assert gone.last == 50


WINDOWS, EACH = 125, 8  # a thousand windows: so many examples, each of so many
# By a number: to draw up to sixty messages one by one would take longer than to try them.
messages = st.integers(0, 2**62).map(lambda seed: said_by(Random(seed)))
rules = st.builds(
    WindowRule,
    tokens=st.sampled_from([0, 50, 1_000, 30_000]),
    turns=st.sampled_from([0, 6, 20]),
    keep_turns=st.sampled_from([5, 10]),
    user_messages=st.sampled_from([0, 1, 10]),
)


def said_by(chance: Random) -> list[tuple[str, int]]:
    """Messages of any roles and sizes: none, few or many, small or large."""
    largest = chance.choice((1, 50, 1_000, 9_000))
    return [(chance.choice(ROLES), chance.randint(0, largest)) for _ in range(chance.randint(0, 60))]


@settings(max_examples=WINDOWS)
@given(st.integers(0, 2**62), rules, st.integers(1, 50))
@pytest.mark.checklist("A9")
def test_no_exchange_is_split_and_five_messages_stay(seed: int, rule: WindowRule, first: int) -> None:
    for number in range(EACH):
        assert_whole_exchanges(said_by(Random(seed + number)), rule, first)


def assert_whole_exchanges(said: list[tuple[str, int]], rule: WindowRule, first: int) -> None:
    window = [WindowMessage(first + i, role, tokens) for i, (role, tokens) in enumerate(said)]  # type: ignore[arg-type]
    gone = find_departure(window, rule)
    if gone is None:
        return
    assert gone.first == first
    left = [message for message in window if message.turn > gone.last]
    assert len(left) >= 5
    assert left[0].role == "user", "what stays begins with a question"
    cut = next(i for i, message in enumerate(window) if message.turn > gone.last)
    unanswered = all(message.role == "user" for message in window[max(0, cut - 20) : cut])
    assert window[cut - 1].role != "user" or unanswered


@settings(max_examples=60)
@given(messages, rules)
def test_it_comes_to_rest(said: list[tuple[str, int]], rule: WindowRule) -> None:
    """Applied again and again, the rule stops: every step takes something, and the last exchange stays."""
    window = [WindowMessage(i, role, tokens) for i, (role, tokens) in enumerate(said, 1)]  # type: ignore[arg-type]
    sizes = [len(window)]
    while (gone := find_departure(window, rule)) is not None:
        window = [message for message in window if message.turn > gone.last]
        sizes.append(len(window))
    assert all(a > b for a, b in pairwise(sizes))


@given(
    st.lists(st.sampled_from(ROLES), max_size=24),
    st.integers(0, 100),
    st.integers(0, 10),
    st.integers(0, 3),
)
def test_nothing_leaves_a_window_that_is_not_asked(roles: list[Role], tokens: int, turns: int, users: int) -> None:
    rule = WindowRule(tokens=tokens, under=10, keep=2, turns=turns, keep_turns=1, user_messages=users, keep_pairs=1)
    window = [WindowMessage(turn, role, 9) for turn, role in enumerate(roles, 1)]
    assert may_depart(len(window), 9 * len(window), rule) or find_departure(window, rule) is None
