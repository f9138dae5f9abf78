"""F15: no text is so large, or so made, that others wait while it is counted, escaped or searched for."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from everword import InvalidInput
from everword.config import Settings
from everword.log.checks_and_seals import check_metadata
from everword.memory.memory import MemoryEngine
from everword.model import Budget
from everword.models.tokens import EstimateTokenizer
from everword.wiring import build

PATIENCE = 120.0  # seconds until a test that waits for something gives up
LARGE = "word " * 45_000
UNBROKEN = "漢字" * 60_000


class WaitingTokenizer(EstimateTokenizer):
    """Counts a large text only once it is let; says that it is asked to."""

    def __init__(self) -> None:
        self.asked, self.let = threading.Event(), threading.Event()

    def count(self, text: str) -> int:
        if len(text) >= len(LARGE):
            self.asked.set()
            assert self.let.wait(PATIENCE), "nobody let the text be counted"
        return super().count(text)


def memory_with(tokenizer: WaitingTokenizer, folder: Path) -> MemoryEngine:
    settings = Settings(store=f"{folder}/m.db", followers=False)
    return MemoryEngine(lambda: replace(build(settings), tokenizer=tokenizer))


@pytest.mark.checklist("F15")
def test_others_search_while_a_large_text_is_counted(tmp_path: Path) -> None:
    async def run() -> None:
        tokenizer = WaitingTokenizer()
        async with memory_with(tokenizer, tmp_path) as memory:
            await memory.conversation("demo", user="alex").add("user", "I keep bees.")
            await memory.settle()
            context = asyncio.ensure_future(memory.conversation("other", user="sam").context(LARGE))
            assert await asyncio.to_thread(tokenizer.asked.wait, PATIENCE)
            try:
                hits = await asyncio.wait_for(memory.search("bees", user="alex"), PATIENCE / 2)
            finally:
                tokenizer.let.set()
            assert [hit.message.content for hit in hits] == ["I keep bees."]
            with pytest.raises(InvalidInput, match="and the system text has"):
                await context

    asyncio.run(run())


@pytest.mark.checklist("F15")
def test_others_search_while_a_large_window_is_counted(tmp_path: Path) -> None:
    async def run() -> None:
        tokenizer = WaitingTokenizer()
        async with memory_with(tokenizer, tmp_path) as memory:
            await memory.conversation("demo", user="alex").add("user", "I keep bees.")
            chat = memory.conversation("other", user="sam")
            tokenizer.let.set()
            await chat.add("user", LARGE)
            await memory.settle()
            tokenizer.let.clear()
            tokenizer.asked.clear()
            context = asyncio.ensure_future(chat.context("What did I send you?", budget=Budget.compact()))
            assert await asyncio.to_thread(tokenizer.asked.wait, PATIENCE)
            try:
                hits = await asyncio.wait_for(memory.search("bees", user="alex"), PATIENCE / 2)
            finally:
                tokenizer.let.set()
            assert [hit.message.content for hit in hits] == ["I keep bees."]
            assert (await context).receipt.tokens <= Budget.compact().total

    asyncio.run(run())


@pytest.mark.checklist("F15")
def test_a_text_of_unbroken_script_is_refused_by_its_size_and_names_it(tmp_path: Path) -> None:
    async def run() -> None:
        async with MemoryEngine(lambda: build(Settings(store=f"{tmp_path}/m.db", followers=False))) as memory:
            chat = memory.conversation("demo", user="alex")
            with pytest.raises(InvalidInput, match=r"text: has .* tokens"):
                await chat.context(UNBROKEN)
            assert await memory.search(UNBROKEN, user="alex") == []

    asyncio.run(run())


@pytest.mark.checklist("F15")
def test_the_end_of_a_long_query_is_searched_for_too(tmp_path: Path) -> None:
    async def run() -> None:
        async with MemoryEngine(lambda: build(Settings(store=f"{tmp_path}/m.db", followers=False))) as memory:
            await memory.conversation("demo", user="alex").add("user", "The bees are called Maja and Willi.")
            await memory.settle()
            hits = await memory.search("lorem ipsum " * 20_000 + "What are the bees called?", user="alex")
            assert [hit.message.turn for hit in hits] == [1]

    asyncio.run(run())


@pytest.mark.parametrize("names", [["b" * 100_000], ["bot"] * 21], ids=["one that is long", "many"])
@pytest.mark.checklist("F15")
def test_no_pattern_is_made_of_names_without_end(tmp_path: Path, names: list[str]) -> None:
    async def run() -> None:
        async with MemoryEngine(lambda: build(Settings(store=f"{tmp_path}/m.db", followers=False))) as memory:
            with pytest.raises(InvalidInput, match=r"names: .* at most"):
                await memory.conversation("demo", user="alex").command("Bot, remember that I keep bees.", names=names)

    asyncio.run(run())


@pytest.mark.checklist("F15")
def test_metadata_that_is_too_large_is_refused_before_it_is_looked_through() -> None:
    metadata = {"numbers": [1] * 700_000}

    def seconds(work: Any) -> float:
        begun = time.thread_time()
        work()
        return time.thread_time() - begun

    def refuse() -> None:
        with pytest.raises(InvalidInput, match="has more than 524,288 values"):
            check_metadata(metadata)

    assert min(seconds(refuse) for _ in range(3)) < 3 * min(seconds(lambda: json.dumps(metadata)) for _ in range(3))
