"""What has faded is held ready, by two memories on one store: what one of them changes, the other knows."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import pytest
from topic_doubles import about, opened, talk

from everword.testing import FrozenClock

AWAY = timedelta(days=9)


@pytest.mark.checklist("E4")
def test_a_faded_topic_that_came_back_elsewhere_is_not_taken_for_faded(store_url: str, kind: str) -> None:
    """Both have read what has faded before either changes it, and each brings something back that the other held."""
    clock = FrozenClock()
    with ExitStack() as stack:
        one = stack.enter_context(opened(store_url, clock, followers=False))
        first = one.conversation("long", user="alex")
        talk(first, *range(21), clock=clock)
        clock.advance(AWAY)
        assert talk(first, 30, clock=clock) == ["t22"]
        assert sum(topic.faded for topic in first.topics(faded=True)) == 21
        alone = kind == "json"  # which one memory has for itself
        other = one if alone else stack.enter_context(opened(store_url, clock, followers=False))
        second = other.conversation("long", user="alex")
        for chat in (first, second):
            assert chat.context(about(40)).messages, "nothing is about this: what has faded is looked through"
        assert talk(second, 3, clock=clock) == ["t4"]
        assert talk(first, 5, 3, clock=clock) == ["t6", "t4"]
        assert talk(second, 5, 4, 31, clock=clock) == ["t6", "t5", "t28"]
        clock.advance(AWAY)
        assert talk(first, 32, 3, 31, 19, clock=clock) == ["t29", "t4", "t28", "t20"]
        talk(second, *range(33, 55), clock=clock)
        clock.advance(AWAY)
        assert talk(first, 56, 5, clock=clock) == ["t55", "t6"]
        for chat in (first, second):
            counts = {topic.id: (topic.messages, topic.faded) for topic in chat.topics(faded=True)}
            assert (counts["t4"], counts["t6"], counts["t20"]) == ((4, True), (4, False), (2, True))
            assert sum(messages for messages, _ in counts.values()) == 56
            assert sum(not faded for _, faded in counts.values()) == 2
        assert talk(second, 3, clock=clock) == ["t4"]
