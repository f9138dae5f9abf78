"""Two hundred days of talk by a stopped clock: topics fade by their half-lives, leave, and come back whole."""

from __future__ import annotations

from datetime import timedelta

import pytest
from topic_doubles import about, opened, talk

from everword.testing import FrozenClock

DAY = timedelta(days=1)


@pytest.mark.checklist("E3")
def test_priorities_halve_by_the_table_to_the_second(store_url: str) -> None:
    clock = FrozenClock()
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add_user_message(about(1), importance=1.0)
        for accesses, days in ((0, 1), (4, 1), (5, 2), (9, 2), (10, 4), (15, 8), (20, 16), (24, 16), (25, 30)):
            while chat.get_topic_stats().access_count < accesses:
                chat.add_user_message(about(1))
            began = clock.now()
            (topic,) = chat.topics()
            assert (topic.accesses, topic.half_life, topic.priority) == (accesses, days * DAY, 1.0)
            clock.advance(days * DAY - timedelta(seconds=1))
            assert chat.topics()[0].priority > 0.5
            clock.advance(timedelta(seconds=1))
            assert chat.topics()[0].priority == 0.5
            assert chat.get_topic_stats().inactive_seconds == (clock.now() - began).total_seconds()
            chat.add_assistant_message("Yes.")
            assert chat.topics()[0].priority == 1.0, "any message refreshes it"
            chat.add_assistant_message("No more than that.")


@pytest.mark.checklist("E3", "E4", "E5")
def test_two_hundred_days(store_url: str) -> None:
    """Twenty passing subjects, one that matters, one that is come back to: what is there on which day."""
    clock = FrozenClock()
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        passing = talk(chat, *range(1, 21))
        weighty = chat.add_user_message(about(30), importance=1.0).id
        talk(chat, *[40] * 26)  # the half-life is thirty days from now on
        often = chat.get_topic_stats().topic_id
        assert [t.faded for t in chat.topics(faded=True)] == [False] * 22, "young topics stay, however many"

        def on(day: int, thing: int) -> set[str]:
            """What has left the active set after something was said on that day."""
            clock.advance(began + day * DAY - clock.now())
            talk(chat, thing)
            return {topic.id for topic in chat.topics(faded=True) if topic.faded}

        began = clock.now()
        assert on(3, 50) == set(), "0.5 after three days is 0.0625"
        assert on(4, 50) == set(passing), "0.5 after four days is 0.031; 1.0 is 0.0625"
        assert {t.id for t in chat.topics()} == {weighty, often, chat.get_topic_stats().topic_id}
        assert on(5, 7) == set(passing) - {passing[6]}, "a match brings it back; few are left, so nobody leaves"
        assert [m.content for m in chat.get_full_topic_history(passing[6])] == [about(7, 6), about(7)]
        talk(chat, *range(1, 21))
        assert on(6, 51) == {weighty}, "there are 23 again, and 1.0 after five days is 0.031"
        gone = on(99, 52)
        assert gone >= {*passing, weighty}
        assert often not in gone, "after 99 days of 30 a tenth of it is left: 0.5 × 0.1 > 0.05"
        assert on(120, 53) >= gone, "21 are never reached again: nobody else has to leave"
        talk(chat, *range(1, 21))
        assert often in on(200, 54), "now there are more, and of that one 0.005 is left"
        stats = chat.get_topic_stats(often)
        assert (stats.memory_type, stats.half_life_days, stats.total_messages) == ("long-term", 30.0, 26)
        assert stats.inactive_seconds == 200 * 86_400
        assert on(200, 40) == on(200, 40)
        back = chat.get_topic_stats()
        assert (back.topic_id, back.compressed_messages, back.active_messages) == (often, 0, 28)
        assert len(chat.get_full_topic_history(often)) == 28
        before = sorted((t.id, t.messages, t.accesses, t.faded) for t in chat.topics(faded=True))
        memory.rebuild("topics")
        memory.settle()
        assert sorted((t.id, t.messages, t.accesses, t.faded) for t in chat.topics(faded=True)) == before


@pytest.mark.parametrize("votes", [-8, 0, 8])
@pytest.mark.checklist("E10")
def test_feedback_moves_the_day_a_topic_leaves(store_url: str, votes: int) -> None:
    clock = FrozenClock()
    with opened(store_url, clock) as memory:
        chat = memory.conversation("chat", user="alex")
        talk(chat, *range(1, 22))
        for _ in range(abs(votes)):
            chat.feedback("t5", 1 if votes > 0 else -1)
        left = None
        for day in range(1, 8):
            clock.advance(DAY)
            talk(chat, 21)
            left = left or next((day for t in chat.topics(faded=True) if t.id == "t5" and t.faded), None)
        # When the others have left, there is room for it.
        assert left == {-8: 2, 0: 4, 8: None}[votes]
