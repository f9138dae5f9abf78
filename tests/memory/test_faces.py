"""`Memory` and `AsyncMemory` are one memory with two faces: the same methods, from tasks, threads and loops."""

from __future__ import annotations

import asyncio
import gc
import inspect
import re
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from engine_doubles import PATIENCE, GatedEmbedder

from everword import AsyncMemory, ConfigError, Draft, EverwordError, Memory, Message
from everword.memory.blocking import BlockingConversation, BlockingDocuments, BlockingMemory
from everword.memory.memory import MemoryFace
from everword.memory.operations.conversation import ConversationFace
from everword.memory.operations.documents import DocumentsFace

OPEN_FILES = Path("/proc/self/fd")
TASKS = 16
ROUNDS = 4


# -- one interface


def public(face: type) -> dict[str, Any]:
    own = {name: value for each in reversed(face.__mro__[:-1]) for name, value in vars(each).items()}
    return {name: value for name, value in own.items() if not name.startswith("_") and callable(value)}


def shape(method: Callable[..., Any]) -> tuple[str, str]:
    """Parameters with their defaults and types, and the type of the answer in the words of either face."""
    signature = inspect.signature(method, eval_str=True)
    answer = inspect.formatannotation(signature.return_annotation)
    home = r"everword\.memory\.(?:operations\.conversation|operations\.documents|memory|blocking)\."
    answer = re.sub(rf"{home}|Async(?=I)|Blocking|Face\b", "", answer)
    return str(signature.replace(return_annotation=inspect.Signature.empty)), answer


@pytest.mark.parametrize(
    ("one", "other", "only"),
    [
        (MemoryFace, BlockingMemory, {"open"}),
        (ConversationFace, BlockingConversation, set()),
        (DocumentsFace, BlockingDocuments, set()),
    ],
    ids=["memory", "conversation", "documents"],
)
def test_both_faces_have_the_same_methods_and_signatures(one: type, other: type, only: set[str]) -> None:
    assert set(public(one)) - set(public(other)) == only
    assert set(public(other)) - {"run"} <= set(public(one))
    for name in set(public(other)) - {"run"}:
        blocking, waiting = public(other)[name], public(one)[name]
        assert shape(blocking) == shape(waiting), name
        assert inspect.getdoc(blocking) == inspect.getdoc(waiting), name
        assert not inspect.iscoroutinefunction(blocking), name


def test_both_faces_are_made_the_same_way() -> None:
    assert str(inspect.signature(Memory.__init__)) == str(inspect.signature(AsyncMemory.__init__))
    assert "everword.db" in str(Memory.__doc__)


# -- many at once


def expected() -> set[str]:
    return {f"task {task} says {number}" for task in range(TASKS) for number in range(ROUNDS)}


def check(contents: list[Message]) -> None:
    assert [m.turn for m in contents] == list(range(1, TASKS * ROUNDS + 1))
    assert {m.content for m in contents} == expected()
    for task in range(TASKS):
        own = [m.content for m in contents if m.content.startswith(f"task {task} ")]
        assert own == [f"task {task} says {number}" for number in range(ROUNDS)], "each in its own order"


async def many_tasks(url: str) -> None:
    async with AsyncMemory(url) as memory:
        chat = memory.conversation("shared", user="alex")

        async def work(task: int) -> None:
            for number in range(ROUNDS):
                await chat.add("user", f"task {task} says {number}")
                hits = await memory.search(f"task {task}", user="alex", limit=5)
                assert {hit.message.user for hit in hits} <= {"alex"}

        await asyncio.gather(*map(work, range(TASKS)))
        await memory.settle()
        check(await chat.history())
        assert (await memory.stats()).entries == TASKS * ROUNDS
        assert (await memory.verify()).ok


def test_sixteen_tasks_add_and_search_at_once(store_url: str) -> None:
    asyncio.run(many_tasks(store_url))


@pytest.mark.every_store
def test_sixteen_threads_add_and_search_at_once(store_url: str) -> None:
    with Memory(store_url) as memory:
        chat = memory.conversation("shared", user="alex")

        def work(task: int) -> None:
            for number in range(ROUNDS):
                chat.add("user", f"task {task} says {number}")
                assert {hit.message.user for hit in memory.search(f"task {task}", user="alex")} <= {"alex"}

        with ThreadPoolExecutor(TASKS) as threads:
            list(threads.map(work, range(TASKS)))
        memory.settle()
        check(chat.history())
        assert memory.stats().entries == TASKS * ROUNDS
        assert memory.verify().ok


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
@pytest.mark.checklist("C1")
def test_the_same_platform_id_from_sixteen_threads_is_kept_once(store_url: str) -> None:
    """C1: whoever comes first; all get the same message."""
    with Memory(store_url, followers=False) as memory, ThreadPoolExecutor(TASKS) as threads:
        chat = memory.conversation("shared", user="alex")
        kept = list(threads.map(lambda n: chat.add("user", f"delivery {n}", platform_id="p"), range(TASKS)))
        assert len({message.id for message in kept}) == 1
        assert chat.history() == kept[:1]


# -- loops


def test_a_blocking_memory_works_inside_a_running_loop(store_url: str) -> None:
    """It has a loop of its own: notebooks and handlers of web frameworks run inside another."""

    async def handler() -> list[str]:
        with Memory(store_url) as memory:
            chat = memory.conversation("chat", user="alex")
            chat.add("user", "a zebra")
            assert chat.context("And?").messages[-1]["content"] == "And?"
            return [hit.message.content for hit in memory.search("zebra")]

    assert asyncio.run(handler()) == ["a zebra"]


def test_a_blocking_memory_inside_its_own_loop_is_refused(store_url: str) -> None:
    class Curious(GatedEmbedder):
        """An embedder that asks the memory it serves: that could only wait for itself."""

        async def embed(self, texts: Any) -> Any:
            try:
                memory.stats()
            except EverwordError as error:
                refusals.append(str(error))
            return await super().embed(texts)

    refusals: list[str] = []
    embedder = Curious()
    embedder.open()
    with Memory(store_url, embedder=embedder) as memory:
        memory.conversation("chat", user="alex").add("user", "a zebra")
        memory.settle()
    assert refusals == ["Memory cannot be called inside its own event loop; use AsyncMemory there"]


# -- closing


def calls(memory: Memory) -> dict[str, Callable[[], object]]:
    """Every public method of a memory and of a conversation that was opened before."""
    chat = memory.conversation("chat", user="alex")
    return {
        "conversation": lambda: memory.conversation("chat"),
        "conversations": memory.conversations,
        "documents": memory.documents,
        "add_many": lambda: memory.add_many([]),
        "search": lambda: memory.search("zebra"),
        "settle": memory.settle,
        "rebuild": memory.rebuild,
        "retry": memory.retry,
        "export": lambda: list(memory.export()),
        "run": lambda: memory.run(lambda inner: inner.verify()),
        "erase": lambda: memory.erase(user="alex"),
        "retain": memory.retain,
        "redact": memory.redact,
        "edit": lambda: chat.edit(1, "a lion"),
        "delete": lambda: (chat.delete(1), memory.delete(user="alex")),
        "delete_conversation": lambda: memory.delete_conversation("chat"),
        "move_conversation": lambda: memory.move_conversation("chat", to="talk"),
        "merge_users": lambda: memory.merge_users("alex", into="kim"),
        "undo_move": lambda: memory.undo_move("1m7hg7ne89bfqrd0p3aa"),
        "audit": memory.audit,
        "verify": memory.verify,
        "stats": memory.stats,
        "add": lambda: chat.add("user", "too late"),
        "extend": lambda: chat.extend([]),
        "history": chat.history,
        "context": lambda: chat.context("And?"),
        "reply": lambda: chat.reply("And?"),
        "stream": lambda: list(chat.stream("And?")),
        "archive": chat.archive,
        "archived": chat.archived,
        "describe": chat.describe,
        "episodes": chat.episodes,
        "standalone": lambda: chat.standalone("And?"),
        "add_user_message": lambda: chat.add_user_message("too late"),
        "add_assistant_message": lambda: chat.add_assistant_message("too late"),
        "topics": chat.topics,
        "get_topic_context": chat.get_topic_context,
        "get_full_topic_history": chat.get_full_topic_history,
        "get_topic_stats": chat.get_topic_stats,
        "search_topics": lambda: chat.search_topics("zebra"),
        "merge_topics": lambda: chat.merge_topics("t1", "t2"),
        "split_topic": lambda: chat.split_topic("t1", 2),
        "undo_merge": lambda: chat.undo_merge("t1"),
        "tag_topic": lambda: chat.tag_topic("t1", "zebras"),
        "feedback": lambda: chat.feedback("t1", 1),
        "command": lambda: chat.command("Bot, what do you know about me?"),
        "facts": lambda: memory.facts(user="alex"),
        "fact": lambda: memory.fact("f1", user="alex"),
        "add_fact": lambda: memory.add_fact("identity", "city", "Rome", user="alex"),
        "edit_fact": lambda: memory.edit_fact("f1", "Rome", user="alex"),
        "delete_fact": lambda: memory.delete_fact("f1", user="alex"),
        "ask": lambda: memory.ask("Where does Alex live?", user="alex"),
        "refused_facts": lambda: memory.refused_facts(user="alex"),
        "fact_history": lambda: memory.fact_history("name", user="alex"),
        "why": lambda: memory.why("f1", user="alex"),
        "remember": lambda: memory.remember("Alex lives in Rome.", user="alex"),
        "forget": lambda: memory.forget("Rome", user="alex"),
        "undo": lambda: memory.undo("f1", user="alex"),
        "profile": lambda: memory.profile(user="alex"),
        "digests": memory.digests,
        "set_time_zone": lambda: memory.set_time_zone("UTC"),
        "add_name": lambda: memory.add_name("Al", user="alex"),
        "remove_name": lambda: memory.remove_name("Al", user="alex"),
        "people": memory.people,
        "who_is": lambda: memory.who_is("Al"),
    }


def test_closing_twice_is_fine_and_use_after_it_is_a_clear_error(store_url: str) -> None:
    memory = Memory(store_url)
    memory.conversation("chat", user="alex").add("user", "a zebra")
    every = calls(memory)
    assert set(every) | {"close"} == set(public(BlockingMemory)) | set(public(BlockingConversation))
    memory.close()
    memory.close()
    for name, call in every.items():
        with pytest.raises(EverwordError, match=r"is closed|not open"):
            call()
        assert name
    with Memory(store_url) as again:
        assert [m.content for m in again.export()] == ["a zebra"]


async def use_out_of_turn(url: str) -> None:
    memory = AsyncMemory(url)
    with pytest.raises(EverwordError, match="not open"):
        memory.conversation("chat")
    with pytest.raises(EverwordError, match="not open"):
        await memory.settle()
    await memory.close()
    for number in range(2):
        async with memory:
            await memory.open()
            chat = memory.conversation("chat", user="alex")
            assert (await chat.add("user", f"opened {number} times before")).turn == number + 1
        await memory.close()
        late: list[Callable[[], Any]] = [chat.history, memory.stats, memory.settle, memory.verify, memory.rebuild]
        for call in late:
            with pytest.raises(EverwordError, match="not open"):
                await call()
        with pytest.raises(EverwordError, match="not open"):
            await anext(memory.export())


def test_an_asynchronous_memory_is_open_only_in_between(store_url: str) -> None:
    asyncio.run(use_out_of_turn(store_url))


def talk_on(chat: BlockingConversation, name: str, answered: list[str]) -> None:
    for number in count():
        chat.add("user", f"{number} {name}")
        answered.append(f"{number} {name}")


@pytest.mark.every_store
def test_closing_under_the_feet_of_other_threads_leaves_nobody_waiting(store_url: str) -> None:
    """Each of them gets its answer or an error; what was answered is kept."""
    memory = Memory(store_url)
    answered: list[str] = []
    busy = threading.Barrier(9, timeout=PATIENCE)

    def work(number: int) -> None:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", f"first of {number}")
        answered.append(f"first of {number}")
        busy.wait()
        with pytest.raises(EverwordError, match=r"is closed|not open"):
            talk_on(chat, f"of {number}", answered)

    with ThreadPoolExecutor(8) as threads:
        work_done = [threads.submit(work, number) for number in range(8)]
        busy.wait()
        memory.close()
        for one in work_done:
            one.result(PATIENCE)
    with Memory(store_url) as memory:
        assert set(answered) <= {m.content for m in memory.export()}
        assert memory.verify().ok


def test_an_export_can_be_left_early_or_outlived(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("chat", user="alex").extend(Draft("user", f"{n}") for n in range(1_200))
        exported = memory.export()
        assert next(exported).content == "0"
        del exported
        gc.collect()
        left = memory.export()
        assert next(left).content == "0"
    with pytest.raises(EverwordError, match=r"is closed|not open"):
        list(left)
    gc.collect()


def test_a_memory_that_cannot_be_opened_holds_nothing(store_url: str) -> None:
    """A JSON file is one process's alone: a failed opening must not keep it."""
    with pytest.raises(ConfigError, match="embedder_url"):
        Memory(store_url, embedder="endpoint")
    with pytest.raises(ConfigError, match="there is no setting"):
        Memory(store_url, embeder="static")
    with Memory(store_url) as memory:
        memory.conversation("chat", user="alex").add("user", "a zebra")


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="the system does not list the open files of a process")
def test_closed_memories_leave_no_file_open(store_url: str) -> None:
    def open_files() -> int:
        gc.collect()
        return len(list(OPEN_FILES.iterdir()))

    with Memory(store_url):
        pass  # what is opened once for the process
    before = open_files()
    for _ in range(3):
        with Memory(store_url) as memory:
            memory.conversation("chat", user="alex").add("user", "a zebra")
    del memory
    assert open_files() == before


async def left_early(url: str) -> list[str]:
    async with AsyncMemory(url, followers=False) as memory:
        await memory.conversation("chat", user="alex").extend(Draft("user", f"{n}") for n in range(700))
        found = []
        export: AsyncIterator[Message] = memory.export(user="alex")
        async for message in export:
            found.append(message.content)
            if len(found) == 2:
                break
        return found


def test_an_asynchronous_export_is_read_as_it_comes(store_url: str) -> None:
    assert asyncio.run(left_early(store_url)) == ["0", "1"]
