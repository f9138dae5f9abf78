"""Archiving at once: whatever the rule of the window says, and nothing twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from everword import AsyncMemory, Draft, EmbedderError, Memory, NotSettled
from everword.models.embedding.local import StaticEmbedder
from everword.testing.doubles import ScriptedLLM

TALK = [
    ("user", "I am planning a garden with tomatoes and beans."),
    ("assistant", "Plant the beans beside the fence."),
    ("user", "The soil is heavy clay."),
    ("assistant", "Mix in sand and compost."),
    ("user", "My neighbour Ines lends me a spade."),
    ("assistant", "Thank her with a basket of beans."),
]


def drafts(talk: list[tuple[str, str]]) -> list[Draft]:
    return [Draft(role, text) for role, text in talk]  # type: ignore[arg-type]


@pytest.mark.checklist("D7")
def test_all_but_the_last_exchange_is_archived_at_once(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        chat = memory.conversation("garden", user="alex")
        assert chat.archive() is None, "there is nothing yet"
        chat.extend(drafts(TALK))
        chunk = chat.archive()
        assert chunk is not None
        assert (chunk.first, chunk.last, chunk.reason) == (1, 4, "asked for")
        assert chat.archived() == [chunk]
        assert chat.episodes()[0].first == 1
        assert chat.archive() is None, "the last exchange stays"
        chat.extend(drafts(TALK[:2]))
        second = chat.archive()
        assert second is not None
        assert (second.first, second.last) == (5, 6)
        assert len(chat.history()) == 8, "nothing is deleted"
        assert memory.verify().ok


def test_where_nobody_answers_all_but_the_last_message_leave(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        channel = memory.conversation("team")
        channel.extend(Draft("user", f"note {number} about the boat", author="ann") for number in range(5))
        chunk = channel.archive()
        assert chunk is not None
        assert (chunk.first, chunk.last) == (1, 4)


def test_many_requests_at_once_archive_a_message_once(tmp_path: Path) -> None:
    async def ask() -> list[tuple[int, int]]:
        async with AsyncMemory(str(tmp_path / "memory.db"), window_turns=4) as memory:
            chat = memory.conversation("garden", user="alex")
            await chat.extend(drafts(TALK * 4))
            await asyncio.gather(*(chat.archive() for _ in range(4)))
            return [(chunk.first, chunk.last) for chunk in await chat.archived()]

    chunks = asyncio.run(ask())
    turns = [turn for first, last in chunks for turn in range(first, last + 1)]
    assert turns == list(range(1, 23))


def test_the_model_writes_the_summary_of_what_was_archived(tmp_path: Path) -> None:
    model = ScriptedLLM(default="They plan a garden; Ines lends a spade.")
    with Memory(str(tmp_path / "memory.db"), memory=model, batch_seconds=0) as memory:
        chat = memory.conversation("garden", user="alex")
        chat.extend(drafts(TALK))
        memory.settle()
        assert chat.archive() is not None
        memory.settle()
        assert {(episode.made_by, episode.pending) for episode in chat.episodes()} == {("model", False)}


class AbsentEmbedder(StaticEmbedder):
    """An embedder that is away."""

    is_away = True

    async def embed(self, texts):  # type: ignore[no-untyped-def]
        if self.is_away:
            raise EmbedderError("the embedder is away")
        return await super().embed(texts)


@pytest.mark.checklist("D9")
def test_if_it_fails_the_messages_stay_and_it_can_be_asked_again(tmp_path: Path) -> None:
    embedder = AbsentEmbedder()
    with Memory(str(tmp_path / "memory.db"), embedder=embedder, followers=False) as memory:
        chat = memory.conversation("garden", user="alex")
        chat.extend(drafts(TALK))
        with pytest.raises(NotSettled, match="away"):
            chat.archive()
        assert chat.archived() == []


def test_a_command_with_a_known_platform_id_is_not_carried_out_again(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        chat = memory.conversation("garden", user="alex")
        answer = chat.command("Bot, remember that I grow beans", platform_id="7")
        assert answer is not None
        assert answer.message.platform_id == "7"
        assert chat.command("Bot, remember that I grow beans", platform_id="7") is None
        assert len(chat.history()) == 2
