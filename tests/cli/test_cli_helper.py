"""The second process that helps with a large import."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from prepared_programs import PreparedProgram, program_server

from everword import AsyncMemory, Memory
from everword.cli.opening import (
    HELPED_VIEWS,
    LARGE,
    HelpingProcess,
    may_share,
    start_helper,
    stop_helper,
    view_states,
)
from everword.follow.follower import settle
from everword.stores.sqlite import SqliteStore


@pytest.fixture(autouse=True)
def _helpers_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    program_server()
    monkeypatch.setattr("everword.cli.opening.subprocess.Popen", PreparedProgram)


def test_it_reads_the_facts_and_nothing_else_and_ends_by_itself(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    with Memory(url, followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "My name is Alex and I live in Utrecht.")
    helper = start_helper(url)
    assert helper.wait(120) == 0
    store = SqliteStore(url)
    try:
        facts, index = view_states(store, ["facts", "index"])
    finally:
        store.close()
    assert (facts.behind, index.behind) == (0, 1)
    with Memory(url, followers=False) as memory:
        assert {fact.value for fact in memory.facts(user="alex")} >= {"Alex", "Utrecht"}


async def index_a_message(url: str) -> None:
    async with AsyncMemory(url, followers=False) as memory:
        await memory.conversation("chat", user="alex").add("user", "We sold the blue boat in May.")
        await settle([memory.runtime.followers["index"]], 60, memory.runtime.calls)


def test_it_takes_what_follows_the_index_once_that_is_there(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    asyncio.run(index_a_message(url))
    assert start_helper(url).wait(120) == 0
    store = SqliteStore(url)
    try:
        states = view_states(store, [*HELPED_VIEWS, "tiers"])
    finally:
        store.close()
    assert [state.behind for state in states] == [0, 0, 0, 0, 1]


def test_it_can_be_stopped_at_any_time_and_what_it_did_not_do_is_done_later(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    with Memory(url, followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "My name is Alex.")
    stop_helper(start_helper(url))
    with Memory(url, followers=False) as memory:
        memory.settle()
        assert [fact.value for fact in memory.facts(user="alex")] == ["Alex"]


def test_it_begins_while_messages_are_still_coming_and_once_more_for_those_it_missed(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")

    async def run() -> None:
        async with AsyncMemory(url, followers=False) as memory, HelpingProcess(memory, url) as helper:
            chat = memory.conversation("chat", user="alex")
            await chat.add("user", "My name is Alex.")
            helper.start_if_large(LARGE - 1)
            none = helper.process
            helper.start_if_large(LARGE)
            first = helper.process
            assert none is None, "little is done sooner than a process starts"
            assert first is not None
            assert first.wait(120) == 0
            assert [fact.value for fact in await memory.facts(user="alex")] == ["Alex"]
            helper.start_if_large(LARGE)
            assert helper.process == first, "the rest of the file may come slowly"
            await chat.add("user", "I live in Utrecht.")
            helper.start_if_large(LARGE, again=True)
            second = helper.process
            assert second != first
        assert second is not None
        assert second.poll() is not None, "nobody is left at work"

    asyncio.run(run())


def test_a_store_of_one_process_is_not_shared() -> None:
    assert not may_share("json:memory.json")
