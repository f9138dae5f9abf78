"""Topics under many hands: sixteen threads, sixteen tasks and several processes lose and double nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from fresh_processes import FRESH
from sample_sizes import sample
from topic_doubles import AxisEmbedder, about, opened

from everword import AsyncMemory, Memory
from everword.memory.blocking import BlockingConversation
from everword.testing import FrozenClock

MANY, ROUNDS = 16, sample(4, least=2)


def check(chat: BlockingConversation, expected: int) -> None:
    """Each message is in the log once and in one topic, that of its thing; and the counts say so."""
    history = chat.history()
    assert [m.turn for m in history] == list(range(1, expected + 1))
    topics = chat.topics(faded=True)
    found = [message for topic in topics for message in chat.get_full_topic_history(topic.id)]
    assert sorted(m.turn for m in found) == list(range(1, expected + 1))
    assert {m.turn: m.content for m in found} == {m.turn: m.content for m in history}
    assert sum(topic.messages for topic in topics) == expected
    assert sum(topic.packed for topic in topics) <= expected
    for topic in topics:
        own = chat.get_full_topic_history(topic.id)
        assert topic.messages == len(own)
        assert topic.accesses == sum(m.role == "user" for m in own) - 1
        assert len({m.content.split("#")[1].split()[0] for m in own if "#" in m.content}) == 1


@pytest.mark.every_store(in_part=("sqlite", "postgresql"))
@pytest.mark.checklist("E7")
def test_sixteen_threads_talk_and_read_at_once(store_url: str) -> None:
    with opened(store_url, followers=True) as memory:
        chat = memory.conversation("chat", user="alex")

        def work(number: int) -> None:
            for turn in range(ROUNDS):
                topic = chat.add_user_message(about(number % 5, turn))
                assert topic.messages >= 1
                if number % 4 == 0:
                    chat.add("user", about(number % 5, turn))  # and some leave it to the follower
                if number % 4 == 1:
                    chat.feedback(topic.id, 1)
                    assert chat.get_topic_stats(topic.id).total_messages >= 1
                if number % 4 == 2:
                    chat.tag_topic(topic.id, f"tag {number}")

        with ThreadPoolExecutor(MANY) as threads:
            list(threads.map(work, range(MANY)))
        memory.settle()
        check(chat, MANY * ROUNDS + MANY // 4 * ROUNDS)
        told = Counter(tag for topic in chat.topics() for tag in topic.tags)
        assert told == Counter({f"tag {number}": 1 for number in range(MANY) if number % 4 == 2})
        assert memory.verify().ok


async def talk_at_once(url: str) -> None:
    async with AsyncMemory(url, embedder=AxisEmbedder(), clock=FrozenClock()) as memory:
        chat = memory.conversation("chat", user="alex")

        async def work(number: int) -> None:
            for turn in range(ROUNDS):
                await chat.add_user_message(about(number % 5, turn))
                await chat.topics()

        await asyncio.gather(*map(work, range(MANY)))
        await memory.settle()


@pytest.mark.checklist("E7")
def test_sixteen_tasks_talk_and_read_at_once(store_url: str) -> None:
    asyncio.run(talk_at_once(store_url))
    with opened(store_url, followers=True) as memory:
        check(memory.conversation("chat", user="alex"), MANY * ROUNDS)


def of_one_process(url: str, number: int) -> None:
    with Memory(url, embedder=AxisEmbedder(), clock=FrozenClock()) as memory:
        chat = memory.conversation("chat", user="alex")
        for turn in range(ROUNDS):
            chat.add_user_message(about(number, turn))


@pytest.mark.checklist("E7")
def test_processes_share_the_topics_of_one_file(addresses: Callable[[str, str], str]) -> None:
    """What one process holds ready, another changes: it is seen."""
    url = addresses("sqlite", "shared")
    with opened(url, followers=True) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add_user_message(about(9))
        workers = [FRESH.Process(target=of_one_process, args=(url, number)) for number in range(3)]
        for worker in workers:
            worker.start()
        chat.add_user_message(about(9, 1))
        for worker in workers:
            worker.join(120)
            assert worker.exitcode == 0
        chat.add_user_message(about(9, 2))
        memory.settle()
        check(chat, 3 + 3 * ROUNDS)
