"""Moving and merging over HTTP: a space's key may, a user's key may rename what is that user's, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from everword import Client, InvalidInput, NotFound
from everword.testing.serving import Serving

ALL = ("read", "write", "admin")


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("move") / "memory.db")
    with Serving(store, auth=True, followers=False) as running:
        yield running


def client(server: Serving, **options: Any) -> httpx2.Client:
    key = server.key(**{"space": "default", "scopes": ALL, **options})
    return httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"})


def say(http: httpx2.Client, conversation: str, author: str, user: str | None = None) -> None:
    messages = [{"role": "user", "content": f"{author} says so", "author": author}]
    body = {"messages": messages} | ({} if user is None else {"user": user})
    assert http.post(f"/v1/conversations/{conversation}/messages", json=body).status_code == 200


@pytest.mark.checklist("F12")
def test_a_chat_is_moved_merged_and_taken_back_each_once(server: Serving) -> None:
    with client(server) as http:
        say(http, "chat", "anon", "anon")
        preview = http.post("/v1/conversations/chat/move", json={"user": "alex", "dry_run": True}).json()
        assert (preview["dry_run"], preview["moved"]["messages"], preview["id"]) == (True, 1, "")
        body = {"user": "alex", "to": "talk"}
        answers = [
            http.post("/v1/conversations/chat/move", json=body, headers={"Idempotency-Key": "k"}) for _ in range(2)
        ]
        assert answers[0].json() == answers[1].json()
        assert answers[0].json()["conversations"] == {"chat": "talk"}
        assert answers[1].headers["Idempotent-Replayed"] == "true"
        merge = http.post("/v1/users/alex/merge", json={"into": "kim"}).json()
        assert (merge["user"], merge["into"], merge["kind"]) == ("alex", "kim", "merge")
        assert http.post(f"/v1/moves/{merge['id']}/undo", params={"dry_run": True}).json()["dry_run"]
        assert http.post(f"/v1/moves/{merge['id']}/undo").json()["into"] == "alex"
        assert http.post(f"/v1/moves/{merge['id']}/undo").status_code == 422
        assert http.post(f"/v1/moves/{answers[0].json()['id']}/undo").json()["conversations"] == {"talk": "chat"}
        assert [item["user"] for item in http.get("/v1/conversations").json()["items"]] == ["anon"]
        assert [line["kind"] for line in http.get("/v1/audit").json()] == ["undo", "undo", "merge", "move"]
        assert http.post("/v1/conversations/nowhere/move", json={"to": "x"}).status_code == 404
        assert http.post("/v1/conversations/chat/move", json={}).status_code == 422
        assert http.post("/v1/users/nobody/merge", json={"into": "x"}).status_code == 404


@pytest.mark.checklist("F12")
def test_a_users_key_takes_nothing_over(server: Serving) -> None:
    with client(server) as http, client(server, user="alex") as own, client(server, scopes=("read", "write")) as writer:
        say(http, "kims", "kim", "kim")
        say(http, "mine", "alex", "alex")
        say(http, "all", "alex")
        move = http.post("/v1/conversations/kims/move", json={"user": "sam"}).json()
        refused = [
            own.post("/v1/conversations/kims/move", json={"user": "alex"}),
            own.post("/v1/conversations/kims/move", json={"to": "stolen"}),
            own.post("/v1/conversations/all/move", json={"to": "stolen"}),
            own.post("/v1/conversations/mine/move", json={"user": "sam"}),
            own.post("/v1/users/sam/merge", json={"into": "alex"}),
            own.post("/v1/users/alex/merge", json={"into": "sam"}),
            own.post(f"/v1/moves/{move['id']}/undo"),
            writer.post("/v1/conversations/kims/move", json={"to": "x"}),
        ]
        assert [answer.status_code for answer in refused] == [404, 404, 404, 403, 403, 403, 403, 403]
        assert own.post("/v1/conversations/mine/move", json={"to": "ours"}).json()["conversations"] == {"mine": "ours"}
        owners = {item["id"]: item["user"] for item in http.get("/v1/conversations").json()["items"]}
        assert owners == {"all": None, "kims": "sam", "ours": "alex"}


@pytest.mark.checklist("F12")
def test_a_client_moves_as_a_memory_does(server: Serving) -> None:
    with Client(server.url, server.key(space="default", scopes=ALL)) as memory:
        memory.conversation("über/uns", user="anon").add("user", "I live in Berlin.")
        assert memory.move_conversation("über/uns", to="x?#1", dry_run=True).conversations == {"über/uns": "x?#1"}
        move = memory.move_conversation("über/uns", to="x?#1", user="alex")
        assert memory.move_conversation("x?#1", user="alex").id == ""
        merge = memory.merge_users("alex", into="zoë/1")
        assert [message.user for message in memory.conversation("x?#1").history()] == ["zoë/1"]
        with pytest.raises(InvalidInput):
            memory.undo_move(move.id)
        memory.undo_move(merge.id)
        assert memory.undo_move(move.id).moved["messages"] == 1
        with pytest.raises(NotFound):
            memory.merge_users("alex", into="kim")
