"""What expires, over HTTP, through the client and by MCP: spans and times are taken, and the server's clock decides."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from mcp import Client as McpClient
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client

from everword import Batch, Change, Client, Draft, InvalidInput
from everword.testing import FrozenClock
from everword.testing.serving import Serving

SOON = timedelta(minutes=10)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, clock: FrozenClock) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("expire") / "memory.db")
    with Serving(store, followers=False, clock=clock) as running:
        yield running


@pytest.fixture
def http(server: Serving) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url) as client:
        yield client


@pytest.mark.checklist("F13")
def test_requests_take_a_span_or_a_time(http: httpx2.Client, clock: FrozenClock) -> None:
    until = (clock.now() + SOON).isoformat()

    def say(**message: Any) -> httpx2.Response:
        body = {"user": "alex", "messages": [{"role": "user", "content": "The code is 4711.", **message}]}
        return http.post("/v1/conversations/chat/messages", json=body)

    for expires in ("10m", "600s", until):
        assert say(expires=expires).json()[0]["message"]["expires_at"] == until
    for expires in ("soon", "2020-01-01T00:00:00Z", "2026-05-31T09:00:00", "0m"):
        refused = say(expires=expires)
        assert (refused.status_code, "expires" in refused.json()["detail"]) == (422, True), refused.text
    told = http.post("/v1/users/alex/remember", json={"text": "Alex is in Oslo", "expires": "10m"})
    assert [one["expires_at"] for one in told.json()] == [until]
    place = "/v1/spaces/default/documents/door"
    query = {"namespace": "notes"}
    headers = {"Idempotency-Key": "k1"}
    document = {"value": {"code": 4711}, "expires": "10m"}
    kept = http.put(place, params=query, json=document, headers=headers)
    assert kept.json()["expires_at"] == until
    clock.advance(SOON)
    assert http.put(place, params=query, json=document, headers=headers).json() == kept.json(), "said again, not done"
    assert http.get(place, params=query).status_code == 404
    assert http.get("/v1/spaces/default/documents", params=query).json()["items"] == []
    assert http.post("/v1/search", json={"query": "the code", "user": "alex"}).json() == []
    assert http.get("/v1/users/alex/profile").json()["statements"] == []
    assert len(http.get("/v1/conversations/chat/messages").json()["items"]) == 3, "the log"
    removed = http.post("/v1/retain", json={"dry_run": False}).json()["expired"]
    assert {one["kind"]: one["count"] for one in removed} == {
        "expired messages": 4,
        "expired statements": 1,
        "expired documents": 1,
    }
    assert http.get("/v1/conversations/chat/messages").json()["items"] == []


@pytest.mark.checklist("F13")
def test_a_client_sends_what_it_is_given(server: Serving, clock: FrozenClock) -> None:
    until = clock.now() + SOON
    with Client(server.url) as memory:
        chat = memory.conversation("chat", user="alex")
        assert chat.add("user", "One", expires=SOON).expires_at == until
        assert chat.add("user", "Two", expires=until).expires_at == until
        added = chat.extend([{"role": "user", "content": "Three", "expires": SOON}, Draft("user", "Four")])
        assert [one.message.expires_at for one in added] == [until, None]
        ((batched,),) = memory.add_many([Batch("default", "chat", "alex", [Draft("user", "Five", expires_at=SOON)])])
        assert batched.message.expires_at == until
        (statement,) = memory.remember("Alex is in Oslo", user="alex", expires=SOON)
        assert statement.expires_at == until
        notes = memory.documents()
        assert notes.put(("notes",), "a", {"n": 1}, expires=SOON).expires_at == until
        (changed,) = notes.apply([Change(("notes",), "b", {"n": 2}, expires_at=until)])
        assert changed.expires_at == until
        with pytest.raises(InvalidInput, match="is in the past"):
            chat.add("user", "Late", expires=clock.now())
        clock.advance(SOON)
        assert notes.search(("notes",)) == []
        assert notes.edit(("notes",), lambda documents: ([], sorted(documents))) == []
        memory.settle()
        assert [hit.message.content for hit in memory.search("Four", user="alex")] == ["Four"]
        assert memory.profile(user="alex").statements == ()


@pytest.mark.checklist("F13")
def test_a_model_that_remembers_may_say_until_when(server: Serving, clock: FrozenClock) -> None:
    async def use() -> None:
        async with (
            httpx2.AsyncClient() as http,
            McpClient(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            message = {"role": "user", "content": "The code is 4711.", "expires": "10m"}
            await client.call_tool("add_messages", {"conversation": "chat", "user": "alex", "messages": [message]})
            await client.call_tool("remember", {"text": "Alex is in Oslo", "user": "alex", "expires": "10m"})
            refused = await client.call_tool("remember", {"text": "Alex is here", "user": "alex", "expires": "soon"})
            assert "7d" in str(refused)
            assert "4711" in str(await client.read_resource("everword://conversations/chat"))
            assert "Oslo" in str(await client.read_resource("everword://profile?user=alex"))
            clock.advance(SOON)
            with pytest.raises(MCPError):
                await client.read_resource("everword://conversations/chat")
            assert "Oslo" not in str(await client.read_resource("everword://profile?user=alex"))

    asyncio.run(use())
