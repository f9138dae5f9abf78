"""Streams (A5, A8): however a reply is cut into chunks nothing of a marker or of the block is seen; wherever a turn is
cut off, by the model, by a listener who leaves, by a cancellation or by closing the memory, the log is true.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import Exchange, Service, serving, stays_open
from sample_sizes import sample

from everword import AsyncMemory, Budget, EverwordError, Memory, Message, ModelBusy, ModelNonsense
from everword.context.reply_markers import ReplyFilter, strip
from everword.testing.doubles import ScriptedLLM

QUESTION = "How many shops do I run?"
PATIENCE = 120.0  # seconds until a broken test gives up
MARKER = "[SEARCH_EPISODIC: shops]"
TIERS = "\n<everword>\nU1: question = shops\nA1: shops = 2\n</everword>"
LONG = (
    "My name is Alex and I run two bicycle shops in Berlin. The first one opened in 2012, the second in May 2019. "
    "We decided to use PostgreSQL for the stock, because SQLite was locked whenever both tills wrote at once."
)
PIECES = ("One", " two", MARKER, "[REQ", "UEST_TIER:3:m1]", TIERS, "\n", " ", "`", "<ever", "**", "[1]", "[", "日本")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def assert_true(chat: Any, seen: str, *, partial: bool = True, asked: str = QUESTION) -> None:
    """The log holds the question, and what was seen of a reply."""
    history = chat.history()
    assert [m.content for m in history] == [asked, *([seen.strip()] if seen.strip() else [])]
    for message in history[1:]:
        assert message.metadata["everword"].get("partial", False) is partial


@dataclass
class World:
    """A memory whose model says these pieces, and then fails or is done."""

    memory: Memory
    said: list[Any]
    numbers: Iterator[int]

    def chat(self) -> Any:
        return self.memory.conversation(f"chat {next(self.numbers)}", user="alex")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    said: list[Any] = []
    llm = ScriptedLLM(default=lambda request: said)
    path = tmp_path_factory.mktemp("streams") / "memory.db"
    with Memory(str(path), chat=llm, followers=False, rounds=0) as memory:
        yield World(memory, said, count(1))
        assert memory.verify().ok


@settings(max_examples=sample(50))
@given(
    text=st.lists(st.sampled_from(PIECES), max_size=8).map("".join), places=st.lists(st.integers(0, 200), max_size=9)
)
@pytest.mark.checklist("A5")
def test_no_part_of_a_marker_is_seen_however_a_stream_is_cut(world: World, text: str, places: list[int]) -> None:
    """A5: through the whole program. `Holding` alone is tried with thousands of cuts in tests/context."""
    ends = sorted(min(place, len(text)) for place in places)
    world.said[:] = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    chat = world.chat()
    holding = ReplyFilter()
    holding.feed(text)
    expected = strip(text) if strip(text).strip() else holding.finish().after
    pieces: list[str] = []
    try:
        pieces.extend(chat.stream(QUESTION))
    except ModelNonsense as error:
        assert "gave no reply" in str(error)  # noqa: PT017
    assert "".join(pieces) == expected
    assert_true(chat, expected, partial=False)


@settings(max_examples=sample(60))
@given(said=st.lists(st.sampled_from(PIECES), max_size=6))
def test_a_stream_that_breaks_off_anywhere_leaves_a_true_log(world: World, said: list[str]) -> None:
    world.said[:] = [*said, ModelBusy("gone")]
    chat = world.chat()
    pieces: list[str] = []
    with pytest.raises(ModelBusy):
        pieces.extend(chat.stream(QUESTION))
    assert strip("".join(said)).startswith("".join(pieces)), "nothing of a marker or of the block"
    assert_true(chat, "".join(pieces))


# -- the block before the answer, or alone


@pytest.mark.parametrize(
    "said",
    [
        f"{TIERS}\nYou run two.",
        f"{TIERS}You run two.",
        "```everword\nU1: a = b\n```\nYou run two.",
        f"\n{TIERS}\n\nYou run two.\n\n{TIERS}",
        f"{TIERS}\nYou run two. [REQUEST_TIER:9:m1]",
        "</everword>You run two.",
    ],
)
@pytest.mark.parametrize("chunk", [None, 1, 5])
@pytest.mark.checklist("A8")
def test_an_answer_after_the_block_is_shown(tmp_path: Path, said: str, chunk: int | None) -> None:
    """A8: small models write the tiers first. The answer is shown, the block never."""
    llm = ScriptedLLM(default=said, chunk=chunk)
    with Memory(str(tmp_path / "a.db"), chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        assert "".join(chat.stream(QUESTION)) == "You run two."
        assert_true(chat, "You run two.", partial=False)
        assert chat.reply(QUESTION).text == "You run two."
        assert len(llm.requests) == 2


@pytest.mark.checklist("A8")
def test_the_tiers_before_an_answer_are_kept(tmp_path: Path) -> None:
    """A8: they are as good as those after one."""
    block = "<everword>\nU1: name = Alex; shops = 2\nU2: Alex runs two bicycle shops in Berlin.\n</everword>"
    llm, worker = ScriptedLLM([f"{block}\nNoted, Alex.", "Sure."]), ScriptedLLM(default='{"facts": []}')
    with Memory(str(tmp_path / "a.db"), chat=llm, memory=worker, window_turns=0) as memory:
        chat = memory.conversation("demo", user="alex")
        assert chat.reply(LONG).text == "Noted, Alex."
        for n in range(8):
            chat.add("user" if n % 2 else "assistant", f"And {n}.")
        memory.settle()
        chat.reply("ok", budget=Budget(recent=70))  # too little to send all of the chat whole
        assert "(user, tier 1):\nname = Alex; shops = 2" in llm.requests[1].messages[0]["content"]


@pytest.mark.parametrize("first", [TIERS, "<everword></everword>", "```everword\nU1: a = b", "<everword>Two", ""])
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.checklist("A8")
def test_a_block_alone_is_asked_about_once_more_without_it(tmp_path: Path, first: str, streaming: bool) -> None:
    """A8: the second request is the same but for the block; both calls are on the receipt."""
    llm = ScriptedLLM([first, "Two."])
    with Memory(str(tmp_path / "a.db"), chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        how: dict[str, Any] = {"system": "Be brief."}
        question = f"{LONG} {QUESTION}"
        assert ("".join(chat.stream(question, **how)) if streaming else chat.reply(question, **how).text) == "Two."
        one, two = (request.messages for request in llm.requests)
        assert "<everword>" in one[0]["content"]
        assert "<everword>" not in two[0]["content"]
        assert "Be brief." in two[0]["content"]
        assert one[1:] == two[1:]
        assert len(chat.history()[-1].metadata["everword"]["rounds"]) == 2
        assert_true(chat, "Two.", partial=False, asked=question)


@pytest.mark.checklist("A5")
def test_a_second_try_may_still_ask_for_more(tmp_path: Path) -> None:
    """A5: and a model that never answers has been asked five times, not for ever."""
    llm = ScriptedLLM([TIERS, MARKER, MARKER, "Two."])
    with Memory(str(tmp_path / "a.db"), chat=llm, followers=False) as memory:
        assert memory.conversation("demo", user="alex").reply(QUESTION).text == "Two."
    llm = ScriptedLLM([MARKER, TIERS, MARKER, MARKER, MARKER])
    with Memory(str(tmp_path / "b.db"), chat=llm, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        with pytest.raises(ModelNonsense, match="gave no reply in 5 calls, only requests for more"):
            chat.reply(QUESTION)
        assert_true(chat, "")


# -- cut off by the caller


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, PATIENCE))


async def log_of(url: str) -> list[Message]:
    """Read by somebody else, afterwards."""
    async with AsyncMemory(url, followers=False) as memory:
        assert (await memory.verify()).ok
        return await memory.conversation("demo", user="alex").history()


def assert_kept(history: list[Message], seen: str) -> None:
    assert [(m.role, m.content) for m in history] == [("user", QUESTION), ("assistant", seen.strip())]
    assert history[1].metadata["everword"]["partial"] is True


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_a_listener_who_leaves_keeps_what_was_seen_and_hangs_up(tmp_path: Path, pieces: int) -> None:
    url = str(tmp_path / "memory.db")

    async def turn(service: Service) -> None:
        seen: list[str] = []
        async with AsyncMemory(url, chat_url=service.url, chat_model="model-x", followers=False) as memory:
            stream = memory.conversation("demo", user="alex").stream(QUESTION)
            async for piece in stream:
                seen.append(piece)
                if len(seen) == pieces:
                    break
            await stream.aclose()  # type: ignore[attr-defined]
            assert await asyncio.to_thread(service.hung_up.wait, PATIENCE), "the model is not kept talking"
            assert_kept(await memory.conversation("demo", user="alex").history(), "".join(seen))
        assert_kept(await log_of(url), "".join(seen))

    with serving(stays_open("One", " two", " three")) as service:
        run(turn(service))


@pytest.mark.parametrize("said", [(), ("One",), ("One", " two"), ("One", " [REQUEST_TI")])
@pytest.mark.parametrize("streaming", [False, True])
def test_a_task_cancelled_in_the_models_silence_leaves_a_true_log(
    tmp_path: Path, said: tuple[str, ...], streaming: bool
) -> None:
    url = str(tmp_path / "memory.db")
    silent = threading.Event()

    def step(exchange: Exchange) -> None:
        if exchange.service.requests[-1].get("stream"):
            exchange.start()
            for piece in said:
                exchange.event({"choices": [{"index": 0, "delta": {"content": piece}}]})
        silent.set()
        exchange.until_hung_up()

    async def turn(service: Service) -> None:
        seen: list[str] = []
        enough = asyncio.Event()
        shown = [piece for piece in said if "[" not in piece]

        async def listen() -> None:
            async for piece in chat.stream(QUESTION):
                seen.append(piece)
                if len(seen) == len(shown):
                    enough.set()

        async with AsyncMemory(url, chat_url=service.url, chat_model="model-x", followers=False) as memory:
            chat = memory.conversation("demo", user="alex")
            task = asyncio.create_task(listen() if streaming else ignored(chat.reply(QUESTION)))
            assert await asyncio.to_thread(silent.wait, PATIENCE)
            if shown and streaming:
                await enough.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(service.hung_up.wait, PATIENCE)
        history = await log_of(url)
        if shown and streaming:
            assert seen == shown
            assert_kept(history, "".join(seen))
        else:
            assert [(m.role, m.content) for m in history] == [("user", QUESTION)]

    with serving(step) as service:
        run(turn(service))


async def ignored(work: Coroutine[Any, Any, object]) -> None:
    await work


def test_a_turn_cancelled_while_its_reply_is_kept_keeps_it(tmp_path: Path) -> None:
    """Wherever a turn is cancelled: the question is there, the reply whole, in part or not at all, never empty."""
    url = str(tmp_path / "memory.db")

    async def turns() -> None:
        async with AsyncMemory(url, chat=ScriptedLLM(default="One two three.", chunk=4), followers=False) as memory:
            for steps in range(60):
                chat = memory.conversation(f"demo {steps}", user="alex")
                seen: list[str] = []

                async def listen(chat: Any, seen: list[str]) -> None:
                    async for piece in chat.stream(QUESTION):
                        seen.append(piece)

                task = asyncio.create_task(listen(chat, seen))
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                history = await chat.history()
                said = [m.content for m in history[1:]]
                assert said == (["".join(seen).strip()] if seen else [])
                if said and said != ["One two three."]:
                    assert history[1].metadata["everword"]["partial"] is True
            assert (await memory.verify()).ok

    run(turns())


@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_a_memory_that_is_closed_during_a_turn_leaves_a_true_log(tmp_path: Path, pieces: int) -> None:
    """What was asked is there, nothing that was not said, and the caller is told."""
    url = str(tmp_path / "memory.db")

    async def turn(service: Service) -> None:
        seen: list[str] = []
        enough = asyncio.Event()

        async def listen() -> None:
            async for piece in chat.stream(QUESTION):
                seen.append(piece)
                if len(seen) == pieces:
                    enough.set()

        memory = AsyncMemory(url, chat_url=service.url, chat_model="model-x", followers=False)
        await memory.open()
        chat = memory.conversation("demo", user="alex")
        task = asyncio.create_task(listen())
        if pieces:
            await enough.wait()
        await memory.close()
        with pytest.raises(EverwordError):
            await task
        history = await log_of(url)
        assert [m.content for m in history[:1]] in ([], [QUESTION])
        assert [m.content for m in history[1:]] in ([], ["".join(seen)])

    with serving(stays_open("One", " two")) as service:
        run(turn(service))
