"""In a group, each message joins the thread of what it answers, however much is said in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_doubles import settle_summaries, settle_topics, settle_views
from filled_store import make_filled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everword import Draft, Episode, InvalidInput, Memory, NotFound
from everword.topics.rules.reply_threads import BEGINS, MEMORY, ThreadMessage, Threads

START = datetime(2026, 5, 1, 9, tzinfo=UTC)
SAID = [
    ("dana", "good morning everybody"),
    ("carl", "morning"),
    ("ann", "how do I mount an encrypted usb disk?"),
    ("bob", "does anyone know a good recipe for rye bread?"),
    ("carl", "ann: use cryptsetup open, then mount the mapper device"),
    ("dana", "bob: take sourdough, and twelve hours of patience"),
    ("ann", "carl: cryptsetup says the device is in use"),
    ("bob", "dana: at which temperature does the bread rise?"),
    ("carl", "ann: close the mapper first"),
    ("dana", "bob: 24 degrees"),
    ("ann", "carl: that works, thanks"),
    ("bob", "dana: thank you"),
]
DISK = {3, 5, 7, 9, 11}
BREAD = {4, 6, 8, 10, 12}


numbers = count(1)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        yield memory


def drafts(said: list[tuple[str, str]]) -> list[Draft]:
    return [
        Draft("user", text, author, time=START + timedelta(minutes=number), platform_id=f"p{number + 1}")
        for number, (author, text) in enumerate(said)
    ]


def threads_of(memory: Any, conversation: str = "general") -> dict[int, str]:
    """The topic of each turn."""
    channel = memory.conversation(conversation)
    return {
        message.turn: topic.id
        for topic in channel.topics(faded=True)
        for message in channel.get_full_topic_history(topic.id)
    }


@pytest.mark.checklist("G23")
def test_two_conversations_through_each_other_are_two_threads(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("general").extend(drafts(SAID))
        settle_topics(memory)
        threads = threads_of(memory)
        assert {threads[turn] for turn in DISK} == {"t3"}
        assert {threads[turn] for turn in BREAD} == {"t4"}
        history = memory.conversation("general").get_full_topic_history("t3")
        assert [(message.turn, message.answers) for message in history] == [(3, None), (5, 3), (7, 5), (9, 7), (11, 9)]
        assert history[1].why == "is said to its author"
        assert history[2].why == "they speak to each other"


def days_of_talk(days: int) -> list[Draft]:
    """The same two conversations through each other, on so many days."""
    return [
        Draft("user", text, author, time=START + timedelta(days=day, minutes=number))
        for day in range(days)
        for number, (author, text) in enumerate(SAID)
    ]


def hold_six_days(url: str) -> None:
    with Memory(url, active_episodes=5, followers=False) as memory:
        memory.conversation("general").extend(days_of_talk(6))
        settle_summaries(memory)


def flat_episodes(memory: Memory, conversation: str = "general") -> list[Episode]:
    """The episodes of a conversation with all their parts."""

    def flatten(episodes: Iterable[Episode]) -> list[Episode]:
        return [entry for episode in episodes for entry in (episode, *flatten(episode.parts))]

    return flatten(memory.conversation(conversation).episodes())


def episodes_of(memory: Memory, conversation: str = "general") -> list[tuple[int, int, int, str, list[str]]]:
    """Level, first and last turn, summary and authors of each episode."""
    return [
        (episode.level, episode.first, episode.last, episode.summary, [line.author for line in episode.lines])
        for episode in flat_episodes(memory, conversation)
    ]


@pytest.mark.checklist("G23")
def test_an_episode_is_of_one_thread_and_the_level_above_of_one_day(store_url: str) -> None:
    make_filled(store_url, hold_six_days)
    with Memory(store_url, active_episodes=5, followers=False) as memory:
        channel = memory.conversation("general")
        threads = threads_of(memory)
        times = {message.turn: message.time.date() for message in channel.history()}
        episodes = flat_episodes(memory)
        days = [episode for episode in episodes if episode.level == 2]
        for day in days:
            assert {times[turn] for turn in range(day.first, day.last + 1)} == {day.began.date()}
        assert max(len(day.parts) for day in days) > 2
        assert len({day.began.date() for day in days}) == len(days) > 2
        assert {part.level for episode in episodes if episode.level == 3 for part in episode.parts} == {2}
        of_threads = [episode for episode in episodes if episode.level == 1]
        for episode in of_threads:
            spoken = {threads[line.turn] for line in episode.lines if line.turn in threads}
            assert spoken <= {threads[episode.first]}
        disk = next(episode for episode in of_threads if "encrypted" in episode.summary)
        assert disk.first == 3
        assert disk.last == 11
        assert {line.author for line in disk.lines} <= {"ann", "carl"}


@pytest.mark.checklist("G23")
def test_a_rebuild_and_one_by_one_give_the_same_episodes(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), active_episodes=5, followers=False) as memory:
        memory.conversation("general").extend(days_of_talk(3))
        settle_summaries(memory)
        episodes = episodes_of(memory)
        memory.rebuild("window")
        settle_summaries(memory)
        assert episodes_of(memory) == episodes
        memory.rebuild("topics")
        settle_summaries(memory)
        assert episodes_of(memory) == episodes
        for draft in days_of_talk(3):
            memory.conversation("slow").extend([draft])
            settle_summaries(memory)
        assert episodes_of(memory, "slow") == episodes


@pytest.mark.checklist("G23")
def test_a_window_that_is_left_again_and_again_gives_the_same_episodes(tmp_path: Path) -> None:
    """Then the episodes of threads go on that the messages before have begun."""
    url, talk = str(tmp_path / "memory.db"), days_of_talk(6)
    make_filled(url, hold_six_days)
    with Memory(url, active_episodes=5, followers=False) as memory:
        for start in range(0, len(talk), 18):
            memory.conversation("slow").extend(talk[start : start + 18])
            settle_summaries(memory)
        assert len(memory.conversation("slow").archived()) > 2
        assert episodes_of(memory, "slow") == episodes_of(memory)


@pytest.mark.checklist("G23")
def test_the_episodes_of_a_thread_that_was_split_are_of_its_parts(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("general")
        channel.extend(days_of_talk(3))
        settle_summaries(memory)
        assert (3, 11) in {(first, last) for level, first, last, *_ in episodes_of(memory) if level == 1}
        channel.split_topic("t3", 7)
        settle_summaries(memory)
        places = {(first, last) for level, first, last, *_ in episodes_of(memory) if level == 1}
        assert {(3, 5), (7, 11)} <= places


@pytest.mark.checklist("G23")
def test_a_rebuild_and_one_by_one_give_the_same_threads(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("general")
        channel.extend(drafts(SAID * 2))
        settle_topics(memory)
        threads = threads_of(memory)
        memory.rebuild("topics")
        settle_topics(memory)
        assert threads_of(memory) == threads
    for start in range(0, len(SAID) * 2, 9):  # each memory begins with what the store has
        with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
            for draft in drafts(SAID * 2)[start : start + 9]:
                memory.conversation("slow").extend([draft])
                settle_views(memory, "index", "topics")
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        assert threads_of(memory, "slow") == threads


@pytest.mark.checklist("G23")
def test_what_was_said_before_a_third_person_spoke_is_in_threads_too(store_url: str) -> None:
    """However the messages came: at once, one by one, with topics at once, or read again."""
    said = [*SAID[2:4], ("bob", "and one for a white loaf?"), *SAID[4:]]
    with Memory(store_url, followers=False) as memory:
        memory.conversation("general").extend(drafts(said))
        settle_topics(memory)
        threads = threads_of(memory)
        assert threads[1] == threads[4] != threads[2] == threads[3] == threads[5]
        for draft in drafts(said):
            memory.conversation("slow").extend([draft])
            settle_views(memory, "index", "topics")
            memory.conversation("at once").add_user_message(draft.content, author=draft.author, time=draft.time)
        settle_topics(memory)
        assert threads_of(memory, "slow") == threads
        assert threads_of(memory, "at once") == threads
        memory.rebuild("topics")
        settle_topics(memory)
        assert threads_of(memory, "slow") == threads
        history = memory.conversation("slow").get_full_topic_history(threads[1])
        assert all(message.why for message in history)


@pytest.mark.checklist("G23")
def test_a_notice_of_the_system_is_in_no_thread(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("general")
        channel.extend([*drafts(SAID[:5]), Draft("system", "eve has joined", "server"), *drafts(SAID)[5:]])
        settle_topics(memory)
        assert 6 not in threads_of(memory)


@pytest.mark.checklist("G22", "G23")
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ann", "bob", "carl", "dana"]),
            st.sampled_from([text for _, text in SAID]),
            st.none() | st.integers(0, 30),
            st.booleans(),
        ),
        min_size=3,
        max_size=20,
    )
)
def test_a_reply_that_was_given_is_always_honoured(
    memory: Memory, said: list[tuple[str, str, int | None, bool]]
) -> None:
    channel = memory.conversation(f"general {next(numbers)}")
    replies: dict[int, int] = {}
    ids: list[str] = []
    for number, (author, text, parent, by_id) in enumerate(said):
        reply_to = None
        if parent is not None and ids:
            turn = parent % len(ids) + 1
            replies[number + 1] = turn
            reply_to = ids[turn - 1] if by_id else f"p{turn}"
        time = START + timedelta(minutes=number)
        options: dict[str, Any] = {"author": author, "time": time, "platform_id": f"p{number + 1}"}
        ids.append(channel.add("user", text, reply_to=reply_to, **options).id)
    settle_views(memory, "index", "topics")
    threads = threads_of(memory, channel.id)
    assert sorted(threads) == [*range(1, len(said) + 1)]
    for turn, parent in replies.items():
        assert threads[turn] == threads[parent]


@pytest.mark.checklist("G22")
def test_a_reply_to_what_is_not_there_is_a_message_like_others(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("general")
        channel.extend(drafts(SAID))
        time = START + timedelta(minutes=20)
        channel.add("user", "carl: the disk is mounted now", author="ann", reply_to="nothing", time=time)
        settle_topics(memory)
        assert threads_of(memory)[13] == "t3"


@pytest.mark.checklist("G23")
def test_two_people_have_topics_and_no_threads(tmp_path: Path) -> None:
    said = [("ann" if author in ("ann", "bob") else "carl", text) for author, text in SAID]
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.conversation("pair").extend(drafts(said))
        settle_topics(memory)
        channel = memory.conversation("pair")
        messages = [message for topic in channel.topics() for message in channel.get_full_topic_history(topic.id)]
        assert len(messages) == len(SAID)
        assert {(message.answers, message.why) for message in messages} == {(None, "")}


@pytest.mark.checklist("G23")
def test_a_group_in_which_nobody_says_to_whom_they_speak_has_one_conversation(tmp_path: Path) -> None:
    said = [
        ("kira", "when is the half marathon again"),
        ("theo", "april 21 in porto"),
        ("kim", "we booked a room near the river"),
        ("kira", "who brings the running shoes for kids"),
        ("kim", "theo does"),
    ] + [("kira", "ok")] * 30
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("friends")
        channel.extend(drafts(said))
        settle_summaries(memory)
        messages = [message for topic in channel.topics() for message in channel.get_full_topic_history(topic.id)]
        assert {(message.answers, message.why) for message in messages} == {(None, "")}
        summary = " ".join(episode.summary for episode in channel.episodes())
        assert "kira: when is the half marathon again? theo: april 21 in porto." in summary
        channel.extend(drafts([*said, ("theo", "kira: no"), ("kira", "theo: why"), ("theo", "kira: rain")])[-3:])
        settle_summaries(memory)
        messages = [message for topic in channel.topics() for message in channel.get_full_topic_history(topic.id)]
        assert all(message.why for message in messages), "now they say so"


@pytest.mark.checklist("G23")
def test_messages_are_moved_out_of_a_thread_and_stay_so(store_url: str) -> None:
    later = [("ann", "carl: cryptsetup asks for a key file"), ("carl", "ann: the key file is on the disk")]
    with Memory(store_url, followers=False) as memory:
        channel = memory.conversation("general")
        channel.extend(drafts(SAID))
        settle_topics(memory)
        before = threads_of(memory)
        topic = channel.split_topic("t3", 7)
        threads = threads_of(memory)
        assert (topic.id, topic.messages) == ("t7", 3), "what answers a message goes with it"
        assert {turn for turn, thread in threads.items() if thread == "t7"} == {7, 9, 11}
        assert {turn: threads[turn] for turn in {3, 5} | BREAD} == {turn: before[turn] for turn in {3, 5} | BREAD}
        history = channel.get_full_topic_history("t7")
        assert [(message.answers, message.why) for message in history] == [(None, HAND), (7, HAND), (9, HAND)]
        channel.extend(drafts([*SAID, *later])[len(SAID) :])
        settle_topics(memory)
        threads = threads_of(memory)
        assert threads[13] == threads[14] == "t7", "what follows goes on in the new thread"
        memory.rebuild("topics")
        settle_topics(memory)
        assert threads_of(memory) == threads
        assert channel.merge_topics("t3", "t7").messages == 7
        assert threads_of(memory)[9] == "t3"


HAND = "moved by hand"


def test_what_cannot_be_split_is_refused(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("general")
        channel.extend(drafts(SAID))
        channel.add("user", "an egg", author="eve")
        chat = memory.conversation("pair", user="ann")
        chat.add("user", "how do I mount a disk?")
        settle_topics(memory)
        before = threads_of(memory)
        for turns in ([], [0], [True], [4], [3], [99], [7, 4]):
            with pytest.raises(InvalidInput, match="turns"):
                channel.split_topic("t3", *turns)
        with pytest.raises(NotFound, match="no topic"):
            channel.split_topic("t5", 5)
        with pytest.raises(InvalidInput, match="topic 't1'"):
            chat.split_topic("t1", 1)
        assert threads_of(memory) == before


@pytest.mark.checklist("G23")
def test_what_was_said_too_long_ago_is_answered_by_nothing_and_its_thread_goes_with_its_last_message() -> None:
    threads = Threads()
    vector = np.ones(1, np.float32)

    def read(turn: int, author: str, text: str) -> ThreadMessage:
        time = START + timedelta(seconds=turn)
        return threads.read(turn, author, text, time, vector, keys=(f"p{turn}",), names=(author,))

    def answered_at(turn: int) -> int | None:
        link = threads.find_parent(read(turn, "carl", "ann: use cryptsetup to mount the encrypted disk"))
        assert (link.turn is None) == (link.why == BEGINS)
        return link.turn

    asked = [("ann", SAID[2][1]), ("bob", "how do I bake an encrypted bread?"), ("ann", "which tool mounts it?")]
    for turn, thread in ((1, 1), (2, 2), (3, 1)):
        threads.append(read(turn, *asked[turn - 1]), thread)
    assert answered_at(MEMORY + 2) == 3, "the thread is still there, though its first message is not"
    assert [threads.turn_of(key) for key in ("p1", "p2", "p3")] == [None, None, 3]
    assert answered_at(MEMORY + 3) is None
    assert threads.turn_of("p3") is None
