"""Deleting over HTTP, with the rights that erasing needs: a user's key reaches what is that user's, a space's key the
space; and the audit says by which key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from everword import Client, NotFound
from everword.testing.serving import Serving

ALL = ("read", "write", "admin")


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("delete") / "memory.db")
    with Serving(store, auth=True, followers=False) as running:
        yield running


def client(server: Serving, **options: Any) -> httpx2.Client:
    key = server.key(**{"space": "default", "scopes": ALL, **options})
    return httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"})


def say(http: httpx2.Client, conversation: str, author: str, user: str | None = None, count: int = 3) -> None:
    messages = [
        {"role": "user", "content": f"{author} says {n}", "author": author, "platform_id": f"{author}{n}"}
        for n in range(count)
    ]
    body = {"messages": messages} | ({} if user is None else {"user": user})
    assert http.post(f"/v1/conversations/{conversation}/messages", json=body).status_code == 200


def left(http: httpx2.Client, conversation: str) -> list[str]:
    return [one["content"] for one in http.get(f"/v1/conversations/{conversation}/messages").json()["items"]]


def test_messages_and_conversations_are_deleted_and_each_once_by_its_key(server: Serving) -> None:
    with client(server) as http:
        say(http, "chat", "alex", "alex", 4)
        path = "/v1/conversations/chat/messages"
        preview = http.delete(f"{path}/alex0", params={"dry_run": True}).json()
        assert (preview["dry_run"], preview["messages"], preview["conversations"]) == (True, 1, {"chat": 1})
        assert len(left(http, "chat")) == 4
        answers = [http.delete(f"{path}/alex0", headers={"Idempotency-Key": "k"}) for _ in range(2)]
        assert answers[0].json() == answers[1].json()
        assert answers[1].headers["Idempotent-Replayed"] == "true"
        assert http.delete(f"{path}/alex0").status_code == 404
        assert http.delete(f"{path}/2", params={"by": "turn"}).json()["messages"] == 1
        assert http.delete(f"{path}/x", params={"by": "turn"}).status_code == 422
        assert http.post("/v1/delete", json={"query": "ALEX  says 2"}).json()["conversations"] == {"chat": 1}
        assert http.post("/v1/delete", json={}).status_code == 422
        assert left(http, "chat") == ["alex says 3"]
        assert http.delete("/v1/conversations/chat").json()["messages"] == 1
        assert http.delete("/v1/conversations/chat").status_code == 404
        assert http.get("/v1/conversations").json()["items"] == []
        lines = http.get("/v1/audit").json()
        assert [(line["kind"], line["what"], line["count"]) for line in lines] == [
            ("delete", "conversation", 1),
            ("delete", "messages", 1),
            ("delete", "messages", 1),
            ("delete", "messages", 1),
        ]
        assert len(http.get("/v1/audit", params={"limit": 2}).json()) == 2


def test_it_needs_the_scope_admin(server: Serving) -> None:
    with client(server) as http, client(server, scopes=("read", "write")) as writer:
        say(http, "chat", "alex", "alex")
        refused = [
            writer.delete("/v1/conversations/chat/messages/alex0"),
            writer.delete("/v1/conversations/chat"),
            writer.post("/v1/delete", json={"user": "alex"}),
            writer.get("/v1/audit"),
        ]
        assert [answer.status_code for answer in refused] == [403] * 4
        assert len(left(http, "chat")) == 3


def test_a_users_key_deletes_what_is_that_users_and_sees_no_audit(server: Serving) -> None:
    with client(server) as http, client(server, user="alex") as own:
        say(http, "chat", "alex", "alex")
        say(http, "kims", "kim", "kim")
        say(http, "all", "alex")
        say(http, "all", "kim")
        for path in ("kims/messages/kim0", "all/messages/kim0", "kims", "all"):
            assert own.delete(f"/v1/conversations/{path}").status_code == 404, path
        assert own.post("/v1/delete", json={"user": "kim"}).status_code == 403
        assert own.post("/v1/delete", json={"query": "kim says"}).status_code == 404
        assert own.get("/v1/audit").status_code == 403
        assert own.delete("/v1/conversations/all/messages/alex0").status_code == 200
        assert own.delete("/v1/conversations/chat/messages/alex0").status_code == 200
        assert own.post("/v1/delete", json={"query": "says 1"}).json()["conversations"] == {"all": 1, "chat": 1}
        assert own.delete("/v1/conversations/chat").status_code == 200
        assert left(http, "all") == ["alex says 2", *(f"kim says {n}" for n in range(3))]
        assert len(left(http, "kims")) == 3
        keys = {line["by"] for line in http.get("/v1/audit").json()}
        assert len(keys) == 1
        assert http.post("/v1/users/alex/erase").status_code == 200
        lines = http.get("/v1/audit").json()
        assert (lines[0]["kind"], lines[0]["by"] in keys) == ("erase", False)
        assert {line["by"] for line in lines[1:]} == {"erased"}, "the key went with the person, and so did its id"


def test_a_client_deletes_as_a_memory_does(server: Serving) -> None:
    with Client(server.url, server.key(space="default", scopes=ALL)) as memory:
        chat = memory.conversation("über/uns", user="alex")
        messages = [chat.add("user", f"number {n}", platform_id=f"p/{n}") for n in range(4)]
        assert chat.delete(messages[0].id, dry_run=True).conversations == {"über/uns": 1}
        for name in (messages[0].id, "p/1", 3):
            assert chat.delete(name).messages == 1
        with pytest.raises(NotFound):
            chat.delete("p/1")
        assert memory.delete(query="number", dry_run=True).messages == 1
        assert memory.delete_conversation("über/uns").messages == 1
        assert [line.count for line in memory.audit(limit=3)] == [1, 1, 1]
