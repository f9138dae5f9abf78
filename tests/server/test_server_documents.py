"""Documents over HTTP, and what rests on them with a client in the place of a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from langchain_core.messages import AIMessage, HumanMessage

from everword import AsyncClient, Change, Client, Document, EverwordError, ScopeError, StoreBusy
from everword.adapters.agents import EverwordSession
from everword.adapters.anthropic import MemoryTool, async_memory_tool, memory_tool
from everword.adapters.langchain import EverwordChatMessageHistory
from everword.adapters.langgraph import EverwordStore
from everword.documents.anthropic_memory_tool import FileCommandRefused
from everword.server.routes import documents as document_routes
from everword.server.routes.answers import PAGE_BYTES
from everword.testing.serving import Serving

ROOT = "/v1/spaces/default"
NOTES = {"namespace": ["notes", "alex"]}
SECRET = "the vault opens at seven"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(str(tmp_path / "memory.db"), followers=False) as running:
        yield running


@pytest.fixture
def http(server: Serving) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url) as client:
        yield client


def put(http: httpx2.Client, key: str, value: dict[str, Any], **headers: str) -> httpx2.Response:
    return http.put(f"{ROOT}/documents/{key}", params=NOTES, json={"value": value}, headers=headers)


# -- routes


def test_a_document_is_kept_read_written_over_and_removed(http: httpx2.Client) -> None:
    first = put(http, "a%2Fb", {"text": "eins", "n": [1, None, {"é": "日本"}]})
    assert (first.status_code, first.json()["key"]) == (200, "a/b")
    assert http.get(f"{ROOT}/documents/a%2Fb", params=NOTES).json() == first.json()
    second = put(http, "a%2Fb", {"text": "zwei"}).json()
    assert second["created_at"] == first.json()["created_at"]
    assert http.get(f"{ROOT}/namespaces").json() == {"items": [["notes", "alex"]], "next": None}
    assert [http.delete(f"{ROOT}/documents/a%2Fb", params=NOTES).json()["removed"] for _ in range(2)] == [True, False]
    gone = http.get(f"{ROOT}/documents/a%2Fb", params=NOTES)
    assert (gone.status_code, gone.json()["code"]) == (404, "not_found")
    for wrong in (
        http.get(f"{ROOT}/documents"),
        http.get(f"{ROOT}/documents", params={"namespace": ""}),
        http.get(f"{ROOT}/documents", params={"namespace": ["ü" * 256] * 2}),
        http.get(f"{ROOT}/documents/a%00b", params=NOTES),
        http.put(f"{ROOT}/documents/a", params=NOTES, json={"value": [1]}),
        http.put(f"{ROOT}/documents/a", params=NOTES, json={"value": {"x": "y" * (1 << 20)}}),
        http.post(f"{ROOT}/documents", json={"changes": []}),
        http.post(f"{ROOT}/documents", json={"changes": [{**NOTES, "key": "a"}], "tag": "x"}),
        http.post(f"{ROOT}/document-search", json={"query": "\x00"}),
        http.get(f"{ROOT}/namespaces", params={"cursor": "["}),
        http.get(f"{ROOT}/namespaces", params={"cursor": "[" * 4_000}),
        http.get(f"{ROOT}/namespaces", params={"cursor": '["a", 7]'}),
    ):
        assert (wrong.status_code, wrong.headers["content-type"]) == (422, "application/problem+json"), wrong.url


def test_lists_of_documents_come_in_pages_and_none_is_too_large(
    http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert PAGE_BYTES == 8 << 20
    monkeypatch.setattr(document_routes, "PAGE_BYTES", PAGE_BYTES // 20)
    changes = [{"namespace": ["n", str(n % 5)], "key": f"k{n:02}", "value": {"n": n}} for n in range(25)]
    changes += [{"namespace": ["big"], "key": str(n), "value": {"x": "x" * 45_000}} for n in range(10)]
    for change in changes:
        assert http.post(f"{ROOT}/documents", json={"changes": [change]}).status_code == 200
    pages = list(walked(http, "documents", {"namespace": ["n", "3"], "limit": 2}))
    assert [[one["key"] for one in page["items"]] for page in pages] == [["k03", "k08"], ["k13", "k18"], ["k23"]]
    assert len({page["tag"] for page in pages}) == 1
    spaces = list(walked(http, "namespaces", {"limit": 4}))
    assert [one for page in spaces for one in page["items"]] == [["big"], *(["n", str(n)] for n in range(5))]
    assert len(spaces) == 2
    large = list(walked(http, "documents", {"namespace": ["big"]}))
    assert [len(page["items"]) for page in large] == [9, 1]


def walked(http: httpx2.Client, what: str, about: dict[str, Any]) -> Iterator[Any]:
    cursor = None
    while True:
        page = http.get(f"{ROOT}/{what}", params=about | ({"cursor": cursor} if cursor else {})).json()
        yield page
        cursor = page["next"]
        if cursor is None:
            return


def test_changes_with_a_tag_are_made_only_if_nobody_was_faster(http: httpx2.Client) -> None:
    put(http, "a", {"n": 1})
    tag = http.get(f"{ROOT}/documents", params=NOTES).json()["tag"]
    put(http, "b", {"n": 2})
    change = {"changes": [{**NOTES, "key": "a", "value": {"n": 9}}], **NOTES, "tag": tag}
    late = http.post(f"{ROOT}/documents", json=change)
    assert (late.status_code, late.json()["code"]) == (412, "changed")
    fresh = http.get(f"{ROOT}/documents", params=NOTES).json()
    assert [one["value"] for one in fresh["items"]] == [{"n": 1}, {"n": 2}]
    done = http.post(f"{ROOT}/documents", json=change | {"tag": fresh["tag"]})
    assert [one["value"] for one in done.json()] == [{"n": 9}]
    assert http.post(f"{ROOT}/documents", json=change | {"tag": fresh["tag"]}).status_code == 412


def test_a_write_with_a_key_is_done_once_and_what_is_removed_is_gone(server: Serving, http: httpx2.Client) -> None:
    key = {"Idempotency-Key": "k"}
    first = put(http, "a", {"text": SECRET, "float": 1.0}, **key)
    put(http, "a", {"text": "other"})
    again = put(http, "a", {"text": SECRET, "float": 1.0}, **key)
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert http.get(f"{ROOT}/documents/a", params=NOTES).json()["value"] == {"text": "other"}
    assert put(http, "a", {"text": "third"}, **key).json()["code"] == "key_reused"
    both = {"changes": [{**NOTES, "key": "b", "value": {"t": SECRET}}, {**NOTES, "key": "c"}], "namespace": ["x"]}
    both["tag"] = http.get(f"{ROOT}/documents?namespace=x").json()["tag"]
    told = [http.post(f"{ROOT}/documents", json=both, headers={"Idempotency-Key": "p"}) for _ in range(2)]
    assert told[0].json() == told[1].json()
    assert [one["key"] for one in told[0].json()] == ["b"]
    gone = [http.delete(f"{ROOT}/documents/b", params=NOTES, headers={"Idempotency-Key": "d"}).json() for _ in "ab"]
    assert gone == [{"removed": True}, {"removed": True}]
    answers = server.store.read(lambda tx: tx.rows("answers"))
    assert len(answers) == 3
    assert SECRET.encode() not in b"".join(row["body"] for row in answers)


def test_a_key_of_one_user_has_that_users_documents_and_no_others(store_url: str) -> None:
    with (
        Serving(store_url, auth=True, followers=False) as server,
        Client(server.url, server.key()) as everybody,
    ):
        shared = everybody.documents()
        shared.put(("notes",), "hers", {"text": SECRET}, user="ann")
        shared.put(("notes",), "nobody's", {"text": SECRET})
        shared.put(("secret", "names"), "n", {"text": SECRET}, user="ann")
        with Client(server.url, server.key(user="bo")) as memory:
            own = memory.documents()
            assert own.put(("notes",), "mine", {"text": "a boat"}).user == "bo"
            assert [one.key for one in own.search(query=SECRET)] == ["mine"]
            assert own.namespaces() == [("notes",)]
            assert own.get(("notes",), "hers") is None
            assert own.edit(("notes",), lambda found: ((), list(found))) == ["mine"]
            assert not own.remove(("notes",), "hers")
            own.apply([Change(("notes",), "hers", None), Change(("notes",), "nobody's", None)])
            for key in ("hers", "nobody's"):
                with pytest.raises(ScopeError, match="another user"):
                    own.put(("notes",), key, {"text": "mine now"})
            with pytest.raises(ScopeError, match="another"):
                own.put(("notes",), "new", {}, user="ann")
        assert [one.value["text"] for one in shared.search(("notes",), limit=9)] == ["a boat", SECRET, SECRET]


# -- with a client


def test_many_clients_that_edit_at_once_lose_nothing(server: Serving) -> None:
    def more(documents: dict[str, Document]) -> tuple[list[Change], int]:
        number = documents["counter"].value["n"] + 1 if documents else 1
        return [Change(("c",), "counter", {"n": number})], number

    with Client(server.url) as memory, ThreadPoolExecutor(6) as threads:
        numbers = list(threads.map(lambda _: memory.documents().edit(("c",), more), range(18)))
    assert sorted(numbers) == list(range(1, 19))


def test_who_is_never_fast_enough_gives_up_with_a_word(server: Serving) -> None:
    with Client(server.url) as memory, httpx2.Client(base_url=server.url) as http:
        rounds: list[int] = []

        def decide(found: dict[str, Document]) -> tuple[list[Change], None]:
            rounds.append(len(found))
            put(http, "theirs", {"n": len(rounds)})
            return [Change(("notes", "alex"), "mine", {})], None

        with pytest.raises(StoreBusy, match="kept changing"):
            memory.documents().edit(("notes", "alex"), decide)
        assert len(rounds) > 9
        assert memory.documents().get(("notes", "alex"), "mine") is None


def test_a_namespace_is_read_whole_whatever_its_size(server: Serving) -> None:
    with Client(server.url, space="s") as memory:
        documents = memory.documents()
        for start in (1_000, 1_520):
            documents.apply([Change(("n",), f"k{n}", {"n": n}) for n in range(start, start + 520)])
        documents.apply([Change(("m", str(n)), "k", {}) for n in range(9)])
        every = [f"k{n}" for n in range(1_000, 2_040)]
        assert documents.edit(("n",), lambda found: ((), sorted(found))) == every
        assert documents.namespaces(prefix=("m",), offset=3, limit=4) == [("m", str(n)) for n in range(3, 7)]
        assert len(documents.namespaces()) == 10


def test_anthropics_memory_tool_works_with_a_client(server: Serving) -> None:
    """The adapter as it is, with a `Client` in the place of a `Memory`."""
    create = {"command": "create", "path": "/memories/notes.md", "file_text": "Kim likes otters.\n"}
    with Client(server.url) as memory, ThreadPoolExecutor(2) as threads:
        tool = MemoryTool(memory, user="kim")
        assert tool.result("t", create)["content"] == "File created successfully at: /memories/notes.md"
        with pytest.raises(FileCommandRefused, match="already exists"):
            tool.call(create)
        insert = {"command": "insert", "path": "/memories/notes.md", "insert_line": 0}
        list(threads.map(lambda n: tool.call({**insert, "insert_text": f"line {n}"}), range(4)))
        seen = tool.call({"command": "view", "path": "/memories/notes.md"})
        assert all(f"line {n}\n" in seen for n in range(4))
        moved = {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/deep/kim.md"}
        assert "Successfully" in memory_tool(memory, user="kim").call(moved)
        assert "kim.md" not in MemoryTool(memory, user="sam").call({"command": "view", "path": "/memories"})
        memory.erase(user="kim")
        assert "kim.md" not in tool.call({"command": "view", "path": "/memories"})


def test_anthropics_asynchronous_tool_works_with_an_asynchronous_client(server: Serving) -> None:
    async def use() -> None:
        async with AsyncClient(server.url, space="team") as memory:
            tool = async_memory_tool(memory, user="kim")
            made = await tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
            assert made == "File created successfully at: /memories/a"
            plain = MemoryTool(memory, user="kim")
            with pytest.raises(EverwordError, match="asynchronous"):
                plain.call({"command": "view", "path": "/memories"})
            assert "/memories/a" in await plain.acall({"command": "view", "path": "/memories"})
            await plain.aclear()
            assert "/memories/a" not in await plain.acall({"command": "view", "path": "/memories"})

    asyncio.run(use())


def test_the_other_adapters_work_with_a_client(server: Serving) -> None:
    with Client(server.url) as memory:
        store = EverwordStore(memory, owner=lambda namespace: namespace[1])
        store.put(("memories", "alex"), "food", {"text": "Alex likes ramen"})
        assert store.search(("memories", "alex"), query="favourite dish")[0].key == "food"
        assert store.list_namespaces() == [("memories", "alex")]
        history = EverwordChatMessageHistory(memory, "session", user="kim")
        history.add_messages([HumanMessage("I moved to Lisbon."), AIMessage("How do you like it?")])
        history.clear()
        assert history.messages == []

    async def use() -> None:
        async with AsyncClient(server.url) as memory:
            session = EverwordSession(memory, "agent", user="kim")
            await session.add_items([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi."}])
            assert await session.pop_item() == {"role": "assistant", "content": "Hi."}
            assert await session.get_items() == [{"role": "user", "content": "Hello"}]

    asyncio.run(use())
