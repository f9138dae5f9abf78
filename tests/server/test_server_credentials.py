"""No output of a server shows a credential (G10): pages, problems, metrics, MCP and the log at its loudest.

A secret is planted in every setting, in the model's key, in what the model's server says when it refuses, in the errors
of the store and in what callers send; then every page and every kind of answer is read.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeVar

import httpx2
import pytest
from engine_doubles import StoreDouble
from fastapi.routing import iter_route_contexts
from llm_server import Exchange, fails, serving
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from page_reader import PageReader

from everword.config import Secret, Settings
from everword.errors import StoreError
from everword.models.chat.openai import OpenAIModel
from everword.ports import Tx
from everword.server.middleware import JsonLines
from everword.testing.serving import Serving
from everword.wiring import open_store

T = TypeVar("T")

PLANTED = "pl4nted"  # a part of every secret here
KEY = f"sk-{PLANTED}-key-of-the-model"
URL = f"postgresql://al:a@{PLANTED}@host/db?password={PLANTED}"
WORDS = f"org-4411 on gpu7.internal: {URL} Authorization: Bearer {PLANTED}1"  # of the model's server
FOREIGN = ("org-4411", "gpu7")


class FailingStore(StoreDouble):
    """A store whose errors repeat its address, as those of a driver do."""

    fails = False

    def read(self, fn: Callable[[Tx], T]) -> T:
        if self.fails:
            raise StoreError(f"{URL}: the driver does not like {URL}")
        return super().read(fn)


def refuses(exchange: Exchange) -> None:
    fails(400, f"{WORDS} {exchange.headers['Authorization']}")(exchange)


def planted_settings() -> Settings:
    values: dict[str, Any] = {
        field.name: Secret(KEY) if isinstance(field.default, Secret) else URL
        for field in fields(Settings)
        if isinstance(field.default, str)
    }
    return Settings(**values)


@contextmanager
def log_lines() -> Iterator[io.StringIO]:
    """All that a server logs, at the loudest, of libraries too."""
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = FailingStore(open_store(str(tmp_path_factory.mktemp("credentials") / "a.db"), Settings()))
    with serving(refuses) as service:
        model = OpenAIModel(service.url, KEY, "m", retries=0)
        with Serving(store, auth=True, chat=model, memory=model, telemetry="prometheus") as server:
            server.app.state.settings = planted_settings()
            yield server


def assert_nothing_shown(*texts: object, words: tuple[str, ...] = (PLANTED,)) -> None:
    for text in map(str, texts):
        for word in words:
            assert word not in text.lower(), text


def talk_to(server: Serving, http: httpx2.Client) -> Iterator[httpx2.Response]:
    """Answers of every kind of face, most of them errors."""
    said = {"messages": [{"role": "user", "content": "I live in Oslo."}]}
    yield http.post("/v1/conversations/c/messages", json=said)
    yield http.post("/v1/conversations/c/reply", json={"text": "Where do I live?"})
    yield http.post("/v1/conversations/c/reply", json={"text": "Where do I live?", "stream": True})
    ask: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}
    yield http.post("/v1/chat/completions", json=ask)
    yield http.post("/v1/chat/completions", json=ask | {"stream": True})
    yield http.post("/v1/chat/completions", json=ask | {"model": f"m@{URL}"})
    yield http.post("/v1/users/alex/ask", json={"question": "Where?"})
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/stats", "/v1/models"):
        yield http.get(path)
    yield http.get("/v1/search", params={"query": "Oslo", "after": URL})
    yield http.get("/v1/users/alex/facts", params={"cursor": URL})
    yield http.get("/v1/search", params={"query": "x"}, headers={"Authorization": f"Bearer {PLANTED}"})
    yield http.get(f"/{PLANTED}")


def pages_of(server: Serving) -> list[str]:
    routes = [route for route in iter_route_contexts(server.app.routes) if "GET" in (route.methods or ())]
    return sorted({route.path for route in routes if route.path and "{" not in route.path})


@pytest.mark.checklist("G10")
def test_no_answer_no_page_and_no_line_of_the_log_shows_a_credential(server: Serving) -> None:
    key = server.key(space=[], scopes=("read", "write", "admin"))
    headers = {"Authorization": f"Bearer {key}", "X-Everword-Space": "default", "X-Everword-User": "alex"}
    with log_lines() as lines, httpx2.Client(base_url=server.url, headers=headers, timeout=60) as http:
        answers = list(talk_to(server, http))
        with httpx2.Client(base_url=server.url, timeout=60) as browser:
            token = PageReader(browser.get("/web/sign-in").text).fields("token")[0]
            browser.post("/web/sign-in", data={"token": token, "key": key})
            answers += [browser.get(path, params={"id": "c", "user": "alex"}) for path in pages_of(server)]
            settings_page = browser.get("/web/settings")
    refused = [answer for answer in answers if answer.status_code >= 400]
    assert len(refused) > 8
    assert "postgresql://al:***@host/db" in settings_page.text
    for answer in (*answers, settings_page):
        assert_nothing_shown(answer.text, answer.headers)
        assert_nothing_shown(answer.text, words=FOREIGN)
    assert_nothing_shown(lines.getvalue())
    assert key.split("_", 2)[2] not in lines.getvalue()


def test_a_refusal_of_the_models_server_is_told_in_our_words_with_an_id_in_the_log(server: Serving) -> None:
    headers = {"Authorization": f"Bearer {server.key(scopes=('read', 'write'))}", "X-Everword-User": "alex"}
    ask: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Where do I live now?"}]}
    for stream in (False, True):
        with log_lines() as lines:
            answer = httpx2.post(
                f"{server.url}/v1/chat/completions", json=ask | {"stream": stream}, headers=headers, timeout=60
            )
        error = answer.json()["error"]
        assert answer.status_code == 400
        assert error["type"] == "invalid_request_error"
        assert error["message"].startswith("the model's server refused (HTTP 400)")
        id = error["message"].rpartition("id ")[2].rstrip(")")
        [line] = [line for line in map(json.loads, lines.getvalue().splitlines()) if id in line["event"]]
        assert line["logger"] == "everword.models.chat"


def test_a_refusal_is_told_in_our_words_over_rest_too(server: Serving) -> None:
    headers = {"Authorization": f"Bearer {server.key(scopes=('read', 'write'))}"}
    with log_lines() as lines:
        answer = httpx2.post(
            f"{server.url}/v1/conversations/r/reply",
            json={"text": "Where?", "user": "alex"},
            headers=headers,
            timeout=60,
        )
    detail = answer.json()["detail"]
    assert (answer.status_code, answer.json()["code"]) == (502, "model_refused")
    assert detail.startswith("the model's server refused (HTTP 400)")
    assert f"id {detail.rpartition('id ')[2].rstrip(')')}, saying" in lines.getvalue()


@pytest.mark.checklist("G10")
def test_a_store_that_fails_shows_no_credential(server: Serving) -> None:
    store = server.store
    assert isinstance(store, FailingStore)
    key = server.key(space=[], scopes=("read", "write", "admin"))
    headers = {"Authorization": f"Bearer {key}", "X-Everword-Space": "default"}

    async def call_tool() -> str:
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            store.fails = True
            return str(await client.call_tool("search_memory", {"query": "Oslo"}))

    with log_lines() as lines, httpx2.Client(base_url=server.url, headers=headers, timeout=60) as http:
        http.get("/v1/search", params={"query": "Oslo"})  # the key is known from now on
        try:
            shown = [asyncio.run(call_tool())]
            answers = list(talk_to(server, http))
        finally:
            store.fails = False
    assert any(answer.status_code == 503 for answer in answers)
    assert_nothing_shown(*shown, *(answer.text for answer in answers), lines.getvalue())
