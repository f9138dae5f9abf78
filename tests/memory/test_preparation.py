"""A memory that stays open prepares what turns need before the first of them, one small step at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from everword import AsyncMemory
from everword.errors import EmbedderError
from everword.memory.preparation import PATTERN_MODULES, SAMPLE, prepare_turns
from everword.memory.read_ahead import ReadAhead
from everword.models.embedding.local import StaticEmbedder
from everword.models.tokens import TiktokenTokenizer
from everword.ports import Vectors
from everword.recall.scope_index import ScopeIndexes
from everword.stores.sqlite import SqliteStore
from everword.testing import FrozenClock, ScriptedLLM
from everword.word_lists import compile_patterns

SECONDS = 30.0  # for what takes one


class RecordingEmbedder(StaticEmbedder):
    """Remembers what it was given by who is in a thread, and tells an event loop."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.is_used = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._error = error

    def embed_now(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        self._loop.call_soon_threadsafe(self.is_used.set)
        if self._error is not None:
            raise self._error
        return super().embed_now(texts)


def test_every_module_of_a_turn_has_patterns_to_compile() -> None:
    step_count = sum(1 for _ in prepare_turns(TiktokenTokenizer(), StaticEmbedder()))
    assert step_count >= 8  # fewer than there are patterns, if other tests have compiled them
    for name in PATTERN_MODULES:
        assert [*compile_patterns(vars(import_module(name)))], f"{name} has no patterns"


def test_a_memory_that_follows_and_has_a_model_prepares_turns_after_it_was_opened(tmp_path: Path) -> None:
    async def open_and_wait() -> Sequence[str]:
        embedder = RecordingEmbedder()
        async with AsyncMemory(str(tmp_path / "memory.db"), embedder=embedder, chat=ScriptedLLM([])):
            await asyncio.wait_for(embedder.is_used.wait(), SECONDS)
        return embedder.texts

    assert asyncio.run(open_and_wait()) == [SAMPLE]


def test_without_a_model_turns_are_prepared_after_the_first_context(tmp_path: Path) -> None:
    async def open_and_wait() -> Sequence[str]:
        embedder = RecordingEmbedder()
        async with AsyncMemory(str(tmp_path / "memory.db"), embedder=embedder) as memory:
            await memory.conversation("chat", user="ann").context("Where did I leave my kite?")
            embedder.is_used.clear()
            embedder.texts.clear()
            await asyncio.wait_for(embedder.is_used.wait(), SECONDS)
        return embedder.texts

    assert asyncio.run(open_and_wait()) == [SAMPLE]


@pytest.mark.parametrize("follows", [False, True], ids=["follows nothing", "is closed"])
def test_a_memory_that_does_not_follow_prepares_nothing(tmp_path: Path, follows: bool) -> None:
    async def refuse_call(*call: Any) -> None:
        raise AssertionError(f"{call} was called")

    async def start_and_stop() -> int:
        embedder = RecordingEmbedder()
        store = SqliteStore(tmp_path / "memory.db")
        ahead = ReadAhead(ScopeIndexes(0), refuse_call, store, FrozenClock(), is_on=follows)
        ahead.expect_turns(TiktokenTokenizer(), embedder)
        ahead.stop()
        ahead.expect_turns(TiktokenTokenizer(), embedder)
        await asyncio.sleep(0)  # a task that was cancelled ends
        store.close()
        return len(asyncio.all_tasks())

    assert asyncio.run(start_and_stop()) == 1  # this one


def test_an_embedder_that_fails_is_told_of_by_the_turn_that_needs_it(tmp_path: Path) -> None:
    async def use_memory() -> str:
        embedder = RecordingEmbedder(EmbedderError("the table is damaged"))
        async with AsyncMemory(str(tmp_path / "memory.db"), embedder=embedder, chat=ScriptedLLM([])) as memory:
            await asyncio.wait_for(embedder.is_used.wait(), SECONDS)
            try:
                await memory.search("kites", user="ann")
            except EmbedderError as error:
                return str(error)
        return ""

    assert "the table is damaged" in asyncio.run(use_memory())
