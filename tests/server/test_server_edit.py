"""Editing over HTTP and through MCP: the same message, rights and words as in the library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from everword import Batch, Client, Draft, InvalidInput, NotFound
from everword.testing.serving import Serving

MESSAGES = "/v1/conversations/chat/messages"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("edit") / "memory.db")
    with Serving(store, auth=True, followers=False) as running:
        yield running


def client(server: Serving, **options: Any) -> httpx2.Client:
    key = server.key(**{"space": "default", "scopes": ("read", "write"), **options})
    return httpx2.Client(base_url=server.url, headers={"Authorization": f"Bearer {key}"})


def say(http: httpx2.Client, *texts: str, on_edit: str = "refuse", key: str | None = None, **fields: Any) -> Any:
    messages = [{"role": "user", "content": text, **fields} for text in texts]
    body = {"user": "alex", "messages": messages, "on_edit": on_edit}
    return http.post(MESSAGES, json=body, headers={} if key is None else {"Idempotency-Key": key})


def kept(answer: Any) -> list[tuple[str, str]]:
    return [(addition["kept"], addition["message"]["content"]) for addition in answer.json()]


@pytest.mark.checklist("F11")
def test_a_message_is_edited_once_by_its_key_and_its_versions_are_shown(server: Serving) -> None:
    with client(server) as http:
        say(http, "at 7", platform_id="p/1", metadata={"n": 1})
        edits = [http.patch(f"{MESSAGES}/p%2F1", json={"text": "at 8"}, headers={"Idempotency-Key": "k"})]
        http.patch(f"{MESSAGES}/1", params={"by": "turn"}, json={"text": "at 9", "user": "alex", "metadata": {"n": 2}})
        edits.append(http.patch(f"{MESSAGES}/p%2F1", json={"text": "at 8"}, headers={"Idempotency-Key": "k"}))
        assert [answer.json()["content"] for answer in edits] == ["at 8", "at 9"], "as it is now, and not edited again"
        assert edits[1].headers["Idempotent-Replayed"] == "true"
        (message,) = http.get(MESSAGES, params={"versions": True}).json()["items"]
        assert [(version["content"], version["metadata"]) for version in message["versions"]] == [
            ("at 7", {"n": 1}),
            ("at 8", {"n": 1}),
        ]
        assert {version["by"] for version in message["versions"]} != {"program"}, "the key that did it"
        assert http.get(MESSAGES).json()["items"][0]["versions"] == []
        assert http.patch(f"{MESSAGES}/nobody", json={"text": "x"}).status_code == 404
        for wrong in ({}, {"text": "a\x00"}, {"text": "x", "other": 1}, {"text": 7}):
            assert http.patch(f"{MESSAGES}/1", params={"by": "turn"}, json=wrong).status_code == 422, wrong
        assert http.patch(f"{MESSAGES}/x", params={"by": "turn"}, json={"text": "x"}).status_code == 422


def test_a_users_key_edits_what_is_that_users_and_one_that_only_reads_nothing(server: Serving) -> None:
    with client(server) as http, client(server, user="alex") as own, client(server, scopes=("read",)) as reader:
        say(http, "mine")
        for author in ("alex", "kim"):
            body = {"messages": [{"role": "user", "content": "hello", "author": author, "platform_id": author}]}
            http.post("/v1/conversations/all/messages", json=body)
        assert own.patch(f"{MESSAGES}/1", params={"by": "turn"}, json={"text": "still mine"}).status_code == 200
        assert own.patch("/v1/conversations/all/messages/alex", json={"text": "hi"}).status_code == 200
        assert own.patch("/v1/conversations/all/messages/kim", json={"text": "hi"}).status_code == 404
        assert reader.patch(f"{MESSAGES}/1", params={"by": "turn"}, json={"text": "x"}).status_code == 403


@pytest.mark.checklist("F11")
def test_another_text_for_a_known_message_is_said(server: Serving) -> None:
    with client(server) as http:
        for name in ({"platform_id": "1"}, {"id": "m1"}):
            assert kept(say(http, "at 7", **name)) == [("new", "at 7")]
            assert kept(say(http, "at 8", **name)) == [("refused", "at 7")]
            assert kept(say(http, "at 8", on_edit="version", key=f"v{name}", **name)) == [("edited", "at 8")]
            assert kept(say(http, "at 8", **name)) == [("known", "at 8")]
        assert say(http, "x", on_edit="never").status_code == 422
        first = say(http, "once", key="k")
        id = first.json()[0]["message"]["id"]
        assert http.patch(f"{MESSAGES}/{id}", json={"text": "twice"}).status_code == 200
        again = say(http, "once", on_edit="refuse", key="k")
        assert kept(again) == [("known", "twice")], "the same request again is no edit"
        assert kept(say(http, "once", on_edit="version", key="k")) == [("known", "twice")]
        other = say(http, "other", key="k")
        assert (other.status_code, other.json()["code"]) == (422, "key_reused")


def test_a_client_edits_as_a_memory_does(server: Serving) -> None:
    with Client(server.url, server.key(space="default", scopes=("read", "write"))) as memory:
        chat = memory.conversation("über/uns", user="alex")
        assert chat.add("user", "at 7", platform_id="p/1").kept == "new"
        assert chat.add("user", "at 8", platform_id="p/1").kept == "refused"
        assert chat.add("user", "at 8", platform_id="p/1", on_edit="version").kept == "edited"
        drafts = [Draft("user", "at 9", platform_id="p/1")]
        batch = Batch("default", "über/uns", "alex", drafts, on_edit="version")
        assert [addition.message.kept for (addition,) in memory.add_many([batch])] == ["edited"]
        edited = chat.edit("p/1", "at 10", metadata={"n": 1})
        assert (edited.content, edited.metadata) == ("at 10", {"n": 1})
        assert chat.edit(1, "at 11").id == chat.edit(edited.id, "at 11").id == edited.id
        (message,) = chat.history(versions=True)
        assert [version.content for version in message.versions] == ["at 7", "at 8", "at 9", "at 10"]
        assert message.versions[1].since == message.versions[0].until
        assert chat.history()[0].versions == ()
        with pytest.raises(NotFound):
            chat.edit("nobody", "x")
        with pytest.raises(InvalidInput):
            chat.edit(0, "x")
