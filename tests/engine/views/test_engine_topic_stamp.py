"""Several processes with the topics of one conversation: each reads only what another has changed."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recollect import Memory
from recollect.engine.tables.topic_stamp import MAX_TOPICS, MAX_WRITES, Stamp

TALK = (
    "My tomatoes have brown spots on their leaves.",
    "Different topic: the brakes of my bicycle squeal on wet roads.",
    "New subject, my sister wants to learn the violin at forty.",
    "Back to the tomatoes, should I cut the brown leaves off?",
)


@given(st.lists(st.lists(st.integers(1, 10**6), max_size=400, unique=True), max_size=90), st.data())
def test_a_stamp_names_what_was_changed_since_an_earlier_one_or_nothing(
    writes: list[list[int]], data: st.DataObject
) -> None:
    stamps = [Stamp().next(())]
    for changed in writes:
        stamps.append(stamps[-1].next(changed))
    last = Stamp.parse(str(stamps[-1]))
    assert last == stamps[-1]
    assert len(last.writes) <= MAX_WRITES
    assert sum(len(firsts) for _, firsts in last.writes) <= MAX_TOPICS
    place = data.draw(st.integers(0, len(writes)))
    changes = last.changes_since(stamps[place])
    assert changes is None or changes == {first for changed in writes[place:] for first in changed}
    assert last.changes_since(last) == set()
    assert last.changes_since(Stamp.parse("0f3a:77aa")) is None, "an older version named no writes"


def test_two_memories_that_add_in_turn_have_the_topics_of_one(tmp_path: Path) -> None:
    texts = [f"{text} ({number})" for number in range(6) for text in TALK]
    with Memory(str(tmp_path / "alone.db"), followers=False) as memory:
        chat = memory.conversation("chat", user="ann")
        expected = [chat.add_user_message(text).id for text in texts]
        expected_counts = sorted((topic.id, topic.messages) for topic in chat.topics(faded=True))
    url = str(tmp_path / "shared.db")
    with Memory(url, followers=False) as first, Memory(url, followers=False) as second:
        chats = [memory.conversation("chat", user="ann") for memory in (first, second)]
        assert [chats[number % 2].add_user_message(text).id for number, text in enumerate(texts)] == expected
        for chat in chats:
            assert sorted((topic.id, topic.messages) for topic in chat.topics(faded=True)) == expected_counts
