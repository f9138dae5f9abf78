"""LangGraph's store on a memory: the same answers as LangGraph's own, found by meaning, in a real graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore
from sample_sizes import sample

from everword import AsyncMemory, Document, EverwordError, InvalidInput, Memory, NotFound
from everword.adapters.anthropic import MemoryTool
from everword.adapters.langchain import EverwordChatMessageHistory
from everword.adapters.langgraph import EverwordStore
from everword.memory.operations.documents import MAX_LIMIT
from everword.testing import FrozenClock

LABELS = st.sampled_from(["users", "alex", "sam", "notes", "日本", "a b"])
PATHS = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k1", "k2", "K1", "ключ"])
VALUES = st.dictionaries(
    st.sampled_from(["n", "text", "deep"]),
    st.one_of(st.integers(-5, 5), st.text("ab ü", max_size=4), st.booleans(), st.none(), st.just({"x": [1, 2]})),
    max_size=3,
)
FILTERS = st.sampled_from(
    [None, {}, {"n": 1}, {"n": {"$ne": 1}}, {"text": "a"}, {"deep": {"x": [1, 2]}}, {"n": {"$eq": None}}]
)
CONDITIONS = st.lists(
    st.builds(
        MatchCondition,
        match_type=st.sampled_from(["prefix", "suffix"]),
        path=st.lists(st.one_of(LABELS, st.just("*")), min_size=1, max_size=2).map(tuple),
    ),
    max_size=2,
).map(tuple)
OPS: st.SearchStrategy[Op] = st.one_of(
    st.tuples(PATHS, KEYS, VALUES).map(lambda given: PutOp(*given)),
    st.tuples(PATHS, KEYS, VALUES).map(lambda given: PutOp(*given)),
    st.tuples(PATHS, KEYS).map(lambda given: PutOp(*given, value=None)),
    st.tuples(PATHS, KEYS).map(lambda given: GetOp(*given)),
    st.tuples(st.one_of(st.just(()), PATHS), FILTERS).map(lambda given: SearchOp(*given, limit=100)),
    st.tuples(CONDITIONS, st.sampled_from([None, 1, 2, 3])).map(lambda given: ListNamespacesOp(*given, limit=100)),
)


def plain(result: Any) -> Any:
    """What a result says, without times and without the order in which a search without a query lists."""
    if isinstance(result, list):
        return sorted((plain(one) for one in result), key=repr)
    return result if result is None or isinstance(result, tuple) else (result.namespace, result.key, result.value)


@settings(max_examples=sample(40), deadline=None)
@given(batches=st.lists(st.lists(OPS, min_size=1, max_size=5), min_size=1, max_size=6))
def test_every_batch_answers_as_langgraphs_own_store_does(shared: Memory, batches: list[list[Op]]) -> None:
    documents = shared.documents(space="property")
    for found in documents.search(limit=1000):
        documents.remove(found.namespace, found.key)
    ours, theirs = EverwordStore(shared, space="property"), InMemoryStore()
    for batch in batches:
        for namespace in [one for one, items in theirs._data.items() if not items]:
            del theirs._data[namespace]  # theirs goes on to list a namespace that has become empty, or was asked for
        listing = [op for op in batch if isinstance(op, ListNamespacesOp)]
        others = [op for op in batch if not isinstance(op, ListNamespacesOp)]
        for part in (listing, others):
            for op, mine, other in zip(part, ours.batch(part), theirs.batch(part), strict=True):
                assert plain(mine) == plain(other), op


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Memory(str(tmp_path_factory.mktemp("store") / "memory.db"), followers=False) as memory:
        yield memory


def test_items_are_put_over_found_listed_and_deleted(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        store: BaseStore = EverwordStore(memory)
        store.put(("users", "alex"), "food", {"text": "Alex loves pizza"})
        store.put(("users", "alex"), "city", {"text": "Alex lives in Lisbon", "since": 2020})
        store.put(("users", "sam"), "food", {"text": "Sam eats sushi"}, index=False)
        store.put(("docs",), "deep", {"a": {"b": "a cathedral in Cologne"}, "noise": "pizza pizza"}, index=["a.b"])
        found = store.get(("users", "alex"), "food")
        assert found is not None
        assert found.value == {"text": "Alex loves pizza"}
        assert found.created_at.tzinfo == UTC
        ranked = store.search(("users",), query="what pizza does Alex like")
        assert [(one.namespace[-1], one.key) for one in ranked] == [("alex", "food"), ("alex", "city"), ("sam", "food")]
        assert ranked[0].score is not None
        assert ranked[0].score > (ranked[1].score or 0)
        assert ranked[2].score is None
        assert [one.key for one in store.search((), query="cathedral in Cologne", limit=1)] == ["deep"]
        assert [one.key for one in store.search(("users",), filter={"since": {"$gt": 2019}})] == ["city"]
        assert store.search(("users",), limit=0) == []
        assert store.list_namespaces(prefix=("users", "*")) == [("users", "alex"), ("users", "sam")]
        assert store.list_namespaces(max_depth=1) == [("docs",), ("users",)]
        before = found.created_at
        store.put(("users", "alex"), "food", {"text": "changed"})
        again = store.get(("users", "alex"), "food")
        assert again is not None
        assert (again.value, again.created_at) == ({"text": "changed"}, before)
        store.delete(("users", "alex"), "food")
        store.delete(("users", "alex"), "food")
        assert store.get(("users", "alex"), "food") is None


@pytest.mark.every_store(in_part=("sqlite", "json", "postgresql"))
def test_a_batch_reads_before_it_writes_and_writes_all_or_nothing(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        store = EverwordStore(memory)
        put, get = PutOp(("a",), "k", {"n": 1}), GetOp(("a",), "k")
        assert store.batch([put, get]) == [None, None]
        with pytest.raises(InvalidInput, match="value"):
            store.batch([PutOp(("a",), "k", {"n": 2}), PutOp(("a",), "bad", {"n": object()})])
        found = store.get(("a",), "k")
        assert found is not None
        assert found.value == {"n": 1}


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x")])
def test_namespaces_that_langgraph_forbids_are_refused(tmp_path: Any, namespace: tuple[str, ...]) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        store = EverwordStore(memory)
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
        if namespace and namespace[0] != "langgraph":
            with pytest.raises(InvalidNamespaceError):
                store.batch([PutOp(namespace, "k", {})])
        assert store.search(()) == []


@pytest.mark.checklist("F13")
def test_an_item_with_a_ttl_is_gone_after_so_many_minutes(tmp_path: Any) -> None:
    """Reading it does not make it stay longer."""
    clock = FrozenClock()
    with Memory(str(tmp_path / "m.db"), clock=clock, followers=False) as memory:
        store = EverwordStore(memory)
        store.put(("a",), "k", {"text": "for a while"}, ttl=1)
        store.batch([PutOp(("a",), "l", {"text": "for a while"}, ttl=0.5), PutOp(("a",), "m", {"text": "for good"})])
        clock.advance(timedelta(seconds=30))
        assert {item.key for item in store.search(("a",))} == {"m", "k"}
        clock.advance(timedelta(seconds=30))
        assert store.get(("a",), "k") is None
        assert [item.key for item in store.search(("a",), query="while")] == ["m"]


def test_a_store_has_its_own_items_and_nothing_else_of_the_memory(store_url: str) -> None:
    """Neither the files of Anthropic's tool, nor what is noted of sessions, nor what a program keeps by itself."""
    with Memory(store_url, followers=False) as memory:
        MemoryTool(memory, user="sam").call({"command": "create", "path": "/memories/a", "file_text": "Sam's secret"})
        history = EverwordChatMessageHistory(memory, "chat", user="sam")
        history.add_messages([HumanMessage("hello")])
        history.clear()
        memory.documents().put(("users", "alex"), "kept", {"text": "by the program"})
        store = EverwordStore(memory)
        store.put(("users", "alex"), "mine", {"text": "an otter"})
        assert [one.key for one in store.search(())] == ["mine"]
        assert [one.key for one in store.search((), query="secret")] == ["mine"]
        assert store.list_namespaces() == [("users", "alex")]
        assert store.list_namespaces(suffix=("alex",), max_depth=1) == [("users",)]
        assert [one.namespace for one in store.search(("users",))] == [("users", "alex")]
        assert store.get(("users", "alex"), "kept") is None
        store.put(("everword", "sessions"), "chat", {"number": "spoilt"})
        assert history.messages == []
        found = memory.documents().get(("langgraph", "users", "alex"), "mine")
        assert found is not None
        assert found.value == {"text": "an otter"}


class Many:
    """A memory, and its documents, of which there are more than one answer holds."""

    count = MAX_LIMIT + 5

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> Any:
        raise NotImplementedError

    def documents(self, *, space: str | None = None) -> Any:
        return self

    async def search(self, namespace: Sequence[str], *, limit: int, offset: int, **_: Any) -> list[Document]:
        assert limit <= MAX_LIMIT
        now = datetime.now(UTC)
        numbers = range(self.count)[offset : offset + limit]
        return [Document("default", tuple(namespace), str(n), {}, None, now, now) for n in numbers]


def test_a_limit_is_as_large_as_it_says() -> None:
    for limit, offset, expected in (
        (Many.count + 100, 3, Many.count - 3),
        (MAX_LIMIT + 1, 0, MAX_LIMIT + 1),
        (0, 0, 0),
    ):
        many: Any = Many()
        found = asyncio.run(EverwordStore(many).asearch(("many",), limit=limit, offset=offset))
        assert [one.key for one in found] == [str(n) for n in range(offset, offset + expected)]


def test_what_is_no_operation_is_refused(tmp_path: Any) -> None:
    with Memory(str(tmp_path / "m.db"), followers=False) as memory:
        for bad in ("nonsense", None):
            with pytest.raises(ValueError, match="Unknown operation"):
                EverwordStore(memory).batch([GetOp(("a",), "k"), bad])  # type: ignore[list-item]


def test_erasing_a_person_takes_their_items(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        store = EverwordStore(memory, owner=lambda namespace: namespace[1])
        store.put(("memories", "alex"), "k", {"text": "secret"})
        store.put(("memories", "sam"), "k", {"text": "other"})
        memory.erase(user="alex")
        assert [one.namespace for one in store.search(())] == [("memories", "sam")]


def test_nobody_is_meant_by_the_name_an_adapter_keeps_all_its_documents_under(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        store, tool = EverwordStore(memory), MemoryTool(memory)
        store.put(("team", "alex"), "k", {})
        store.put(("team", "langgraph"), "k", {})
        tool.call({"command": "create", "path": "/memories/a", "file_text": "of nobody"})
        with pytest.raises(NotFound):
            memory.erase(user="memory files")
        memory.erase(user="langgraph")
        assert store.list_namespaces() == [("team", "alex")]
        memory.erase(user="alex")
        assert store.list_namespaces() == []
        assert "of nobody" in tool.call({"command": "view", "path": "/memories/a"})


class State(TypedDict):
    asked: str
    known: list[str]


def graph(store: BaseStore) -> Any:
    def remember(state: State, *, store: BaseStore) -> State:
        store.put(("users", "alex"), "said", {"text": state["asked"]})
        return state

    def recall(state: State, *, store: BaseStore) -> State:
        found = store.search(("users", "alex"), query="favourite animal")
        return {**state, "known": [str(one.value["text"]) for one in found]}

    built = StateGraph(State).add_sequence([remember, recall]).add_edge(START, "remember")
    return built.compile(store=store)


def test_a_graph_remembers_across_runs_and_processes(store_url: str) -> None:
    for _ in range(2):
        with Memory(store_url, followers=False) as memory:
            ran = graph(EverwordStore(memory)).invoke({"asked": "My favourite animal is the otter", "known": []})
            assert ran["known"] == ["My favourite animal is the otter"]


async def use(store: BaseStore) -> None:
    await asyncio.gather(*(store.aput(("a", str(n)), "k", {"n": n}) for n in range(5)))
    assert len(await store.asearch(("a",))) == 5
    found = await store.aget(("a", "3"), "k")
    assert found is not None
    assert found.value == {"n": 3}
    await store.adelete(("a", "3"), "k")
    assert len(await store.alist_namespaces(prefix=("a",))) == 4


@pytest.mark.parametrize("opened", [Memory, AsyncMemory])
def test_the_asynchronous_methods_work_with_both_memories(tmp_path: Any, opened: Callable[..., Any]) -> None:
    async def both() -> None:
        memory = opened(str(tmp_path / "m.db"), followers=False)
        if isinstance(memory, Memory):
            with memory:
                await use(EverwordStore(memory))
            return
        async with memory:
            store = EverwordStore(memory)
            await use(store)
            with pytest.raises(EverwordError, match="asynchronous methods"):
                store.put(("a",), "k", {})

    asyncio.run(both())
