"""Several processes with the topics of one conversation: each reads again what another has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from everword import AsyncMemory, Draft, Memory
from everword.follow.follower import settle
from everword.follow.view import Run, SaveResult
from everword.model import Filter
from everword.ports import Lag
from everword.topics.stored_topics import decode_pack

TALK = (
    "My tomatoes have brown spots on their leaves.",
    "Different topic: the brakes of my bicycle squeal on wet roads.",
    "New subject, my sister wants to learn the violin at forty.",
    "Back to the tomatoes, should I cut the brown leaves off?",
)


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


def test_summaries_that_are_written_while_messages_are_assigned_change_nothing_else(tmp_path: Path) -> None:
    """Messages are assigned, then the summary of their topic is written, then the topics are stored."""
    text = "My tomatoes have brown spots, and the tomatoes on the south side have more of them."

    async def run() -> None:
        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False) as memory:
            runtime = memory.runtime
            chat = memory.conversation("chat", user="ann")
            await chat.extend([Draft("user", f"{text} ({number})") for number in range(16)])
            await settle([runtime.followers["index"], runtime.followers["topics"]], 60, runtime.calls)
            await chat.extend([Draft("user", f"{text} ({number})") for number in range(16, 22)])
            await settle([runtime.followers["index"]], 60, runtime.calls)
            messages = await runtime.read(lambda tx: tx.messages(Filter("default", conversation="chat")))
            view = runtime.followers["topics"].view
            results = await view.prepare([Run(Lag("default", "chat", 16, 22), messages[16:])])
            await settle([runtime.followers["titles"]], 60, runtime.calls)
            saved = await runtime.write(lambda tx: view.save(tx, results[0]))
            assert saved == SaveResult(22, 6)
            assert await memory.settle(60) == 0
            (topic,) = await chat.topics()
            assert topic.messages == 22
            assert topic.summary
            states = await runtime.read(lambda tx: tx.rows("topics"))
            assert [row["pending"] for row in states] == [0]

    asyncio.run(run())


def test_what_is_erased_while_its_messages_are_assigned_is_in_no_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages are assigned and about to be packed; then a person is erased, and then the topics are stored."""
    text = "My tomatoes have brown spots, and the tomatoes on the south side have more of them."

    async def run() -> None:
        async with AsyncMemory(str(tmp_path / "memory.db"), followers=False) as memory:
            runtime = memory.runtime
            channel = memory.conversation("garden")
            authors = ["ann", "zoe"] * 10
            await channel.extend([Draft("user", f"{text} So says {author}.", author=author) for author in authors])
            await settle([runtime.followers["index"]], 60, runtime.calls)
            view = runtime.followers["topics"].view
            prepare = view.prepare

            async def prepare_and_erase(runs: Sequence[Run]) -> Sequence[Any]:
                results = await prepare(runs)
                await memory.erase(user="zoe")
                return results

            monkeypatch.setattr(view, "prepare", prepare_and_erase)
            await runtime.followers["topics"].step()
            monkeypatch.undo()
            assert await memory.settle(60) == 0
            packs = await runtime.read(lambda tx: tx.rows("topic_packs"))
            stored_messages = [message for pack in packs for message in decode_pack(bytes(pack["packed"]))]
            assert not [message for message in stored_messages if message.author == "zoe"]
            history = await channel.get_full_topic_history()
            assert {message.author for message in history} == {"ann"}

    asyncio.run(run())
