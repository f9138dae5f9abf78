"""G10: what a server shows of secrets: REST, the pages of the dashboard, MCP, and the endpoint in OpenAI's shapes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from openai_doubles import answers, assistant, user, world_of
from page_reader import PageReader
from pasted_secrets import SECRETS, TALK, pasted_texts, secrets_in
from raw_tables import rows_of

from everword.memory.transfer import TABLES
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

PASSWORD = "tr0ub4dor&3x"
TOLD = f"My password is {PASSWORD} since last week."
MASKED = "My password is [secret: password] since last week."
CHAT = "/v1/conversations/chat"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("secrets") / "memory.db")


@pytest.fixture(scope="module")
def server(place: str) -> Iterator[Serving]:
    """A server with ten secrets in one chat of Alex's, and with ordinary talk in another."""
    model = ScriptedLLM(default=f"Your password is {PASSWORD}, and the tulips are in flower.")
    options: dict[str, Any] = {"window_turns": 11, "level_episodes": 2, "active_episodes": 2}
    with Serving(place, chat=model, **options) as serving, httpx.Client(base_url=serving.url) as http:
        talk = [text for pair in zip(TALK * 3, pasted_texts(), strict=False) for text in pair]
        messages = [{"role": "user", "content": text} for text in talk]
        sent = http.post(f"{CHAT}/messages", json={"user": "alex", "messages": messages})
        assert sent.status_code == 200, sent.text
        marked = [added["message"] for added in sent.json() if added["message"]["secrets"]]
        assert [message["content"] for message in marked] == pasted_texts()
        asking = {"user": "alex", "text": "What was my password?"}
        http.post(f"{CHAT}/reply", json=asking, headers={"Idempotency-Key": "one"})
        http.post("/v1/conversations/garden/messages", json={"user": "alex", "messages": [messages[0]]})
        http.post("/v1/settle", json={}, timeout=120)
        yield serving


def test_rest_answers_of_other_conversations_have_placeholders(server: Serving) -> None:
    with httpx.Client(base_url=server.url) as http:
        paths = [
            "/v1/conversations/garden/context?user=alex&text=password%20card",
            "/v1/users/alex/facts",
            "/v1/users/alex/profile",
            "/v1/users/alex/export",
            "/v1/export",
            "/v1/stats",
            f"{CHAT}/topics?user=alex",
            f"{CHAT}/episodes?user=alex",
        ]
        found = {path: http.get(path) for path in paths}
        for query in ("password", "my card", PASSWORD):
            found[query] = http.post("/v1/search", json={"query": query, "user": "alex", "limit": 50})
        found["ask"] = http.post("/v1/users/alex/ask", json={"question": "What is the password?"})
        assert {path: (answer.status_code, secrets_in(answer.text)) for path, answer in found.items()} == {
            path: (200, []) for path in found
        }
        assert "[secret: password]" in found["password"].text
        own = http.get(f"{CHAT}/messages", params={"user": "alex", "limit": 100}).text
        assert secrets_in(own) == list(SECRETS)
        asked_for = http.get("/v1/users/alex/export", params={"secrets": "true"}).text
        assert secrets_in(asked_for) == list(SECRETS)


def test_a_stored_answer_repeats_no_secret(server: Serving, place: str) -> None:
    with httpx.Client(base_url=server.url) as http:
        asking = {"user": "alex", "text": "What was my password?"}
        again = http.post(f"{CHAT}/reply", json=asking, headers={"Idempotency-Key": "one"})
        assert again.headers["Idempotent-Replayed"] == "true"
        assert again.json()["text"].startswith("Your password is [secret: password]")
    tables = [table for table in (*TABLES, "answers") if table != "messages"]
    assert secrets_in(repr([rows_of(place, table) for table in tables])) == []


def test_no_page_but_that_of_the_message_itself_shows_a_secret(server: Serving) -> None:
    """Every page that a link of another leads to, and the labs."""
    with httpx.Client(base_url=server.url, follow_redirects=True) as http:
        open_paths = ["/", "/web/search?query=password&facts=on", "/web/context?conversation=chat&text=my%20password"]
        open_paths += ["/web/replies?conversation=chat", "/web/conversation/export?id=chat"]
        seen: dict[str, list[str]] = {}
        kinds: dict[str, int] = {}
        while open_paths:
            path = open_paths.pop()
            kind = path.partition("?")[0]
            kinds[kind] = kinds.get(kind, 0) + 1
            if path in seen or kind == "/web/message" or kinds[kind] > 12:
                continue
            page = http.get(path)
            seen[path] = secrets_in(unescape(page.text))
            if "text/html" in page.headers["content-type"]:
                links = [given.get("href") or "" for tag, given in PageReader(page.text).elements if tag == "a"]
                open_paths += [urljoin(path, link) for link in links if not link.startswith(("http", "#"))]
        assert {path: found for path, found in seen.items() if found} == {}
        assert len(seen) > 20
        turn = next(number for number, text in enumerate(server_talk(http), 1) if PASSWORD in text)
        assert PASSWORD in unescape(http.get(f"/web/message?conversation=chat&turn={turn}").text)


def server_talk(http: httpx.Client) -> list[str]:
    answer = http.get(f"{CHAT}/messages", params={"user": "alex", "limit": 100}).json()
    return [message["content"] for message in answer["items"]]


def test_mcp_tools_tell_no_secret(server: Serving) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_memory", {"query": "password card key token", "user": "alex", "limit": 50}),
        ("get_context", {"text": "my password", "conversation": "garden", "user": "alex"}),
        ("get_facts", {"user": "alex"}),
        ("get_refused_facts", {"user": "alex"}),
        ("ask_memory", {"question": "What is the password?", "user": "alex"}),
        ("remember", {"text": f"Alex's password is {PASSWORD}", "user": "alex"}),
        ("forget", {"what": "the windmill", "user": "alex"}),
        ("add_fact", {"category": "identity", "key": "password", "value": PASSWORD, "user": "alex"}),
    ]

    async def call_all() -> dict[str, str]:
        async with (
            httpx2.AsyncClient() as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            return {name: repr(await client.call_tool(name, arguments)) for name, arguments in calls}

    told = asyncio.run(call_all())
    assert {name: secrets_in(text) for name, text in told.items()} == {name: [] for name, _ in calls}
    assert "[secret: password]" in told["search_memory"] + told["remember"]


def test_a_refusal_over_http_names_the_kind_and_place(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Serving(str(tmp_path / "memory.db"), secrets="refuse") as serving:
        body = {"user": "alex", "messages": [{"role": "user", "content": "hi"}, {"role": "user", "content": TOLD}]}
        answer = httpx.post(f"{serving.url}{CHAT}/messages", json=body)
        assert answer.status_code == 422
        assert "message 2: content: contains a secret (password, characters 16 to 27)" in answer.json()["detail"]
        assert PASSWORD not in answer.text
    assert PASSWORD not in caplog.text


def test_an_admin_redacts_over_http(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "memory.db"), auth=True) as serving:
        admin = serving.key(scopes=("admin", "write", "read"))
        reader = serving.key(scopes=("write", "read"))
        with httpx.Client(base_url=serving.url, headers={"Authorization": f"Bearer {admin}"}) as http:
            http.post(f"{CHAT}/messages", json={"user": "alex", "messages": [{"role": "user", "content": TOLD}]})
            refused = http.post("/v1/redact", json={}, headers={"Authorization": f"Bearer {reader}"})
            assert refused.status_code == 403
            assert http.post("/v1/redact", json={"dry_run": True}).json()["kinds"] == {"password": 1}
            assert http.post("/v1/redact", json={"user": "alex"}).json()["messages"] == 1
            assert PASSWORD not in http.get(f"{CHAT}/messages", params={"user": "alex"}).text


@pytest.mark.parametrize("mode", ["mask", "redact"])
def test_a_client_that_sends_its_history_again_continues_its_conversation(tmp_path: Path, mode: str) -> None:
    """G10: the endpoint compares what is sent with what is in the log, where a placeholder may stand for a secret."""
    reply = f"It is {PASSWORD}, noted."
    with world_of(str(tmp_path / "memory.db"), secrets=mode) as world:
        client = world.anew(answers(reply), answers("The tulips are fine."), answers("Bye."))
        history = [user(TOLD)]
        client.chat.completions.create(model="model-x", messages=history)
        assert PASSWORD in str(world.sent), "the model reads what its own client sends"
        history += [assistant(reply), user("And the tulips?")]
        client.chat.completions.create(model="model-x", messages=history)
        history += [assistant("The tulips are fine."), user("Bye")]
        client.chat.completions.create(model="model-x", messages=history)
        (log,) = world.said()
        assert len(log) == 6, "one conversation, nothing twice"
        assert [PASSWORD in text for _, text in log] == [mode == "mask", mode == "mask", *[False] * 4]
        other = world.client().chat.completions.create(model="model-x", messages=[user("What is my password?")])
        assert other
        system = [message for message in world.sent if message["role"] == "system"]
        assert PASSWORD not in str(system)
