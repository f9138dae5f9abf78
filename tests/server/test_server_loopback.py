"""A server without keys: open to this machine alone, whatever a browser or a proxy on it is made to ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from everword.server import ServerOptions
from everword.server.access import is_loopback
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

SAY = {"user": "alex", "messages": [{"role": "user", "content": "hello"}]}
ASK = b'{"model": "everword", "messages": [{"role": "user", "content": "hello"}]}'
PLAIN = {"Content-Type": "text/plain"}  # which a page may send anywhere, without asking first
NAMED = "https://app.example"
MCP = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
MCP_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    store = str(tmp_path_factory.mktemp("loopback") / "memory.db")
    options = ServerOptions(origins=(NAMED,))
    with Serving(store, followers=False, chat=ScriptedLLM(default="So be it."), options=options) as running:
        yield running


@pytest.fixture
def http(server: Serving) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url) as client:
        assert client.post("/v1/conversations/c/messages", json=SAY).status_code == 200
        yield client


def refused(answer: httpx2.Response) -> Any:
    told = answer.json()
    assert answer.status_code == 403
    return told["error"]["code"] if "error" in told else told["code"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example", "http://[", "x"])
def test_a_page_of_elsewhere_can_neither_erase_nor_tell_nor_read(http: httpx2.Client, origin: str) -> None:
    """A browser sends a plain POST without asking first, and a page needs no answer to do harm by it."""
    page = {"Origin": origin}
    assert refused(http.post("/v1/users/alex/erase", headers=page)) == "origin"
    assert refused(http.post("/v1/chat/completions", content=ASK, headers=page | PLAIN)) == "origin"
    assert refused(http.get("/v1/conversations", headers=page)) == "origin"
    assert refused(http.post("/mcp", content=MCP, headers=page | MCP_HEADERS)) == "origin"
    assert len(http.get("/v1/export").text.splitlines()) > 0


def test_what_a_page_of_elsewhere_only_shows_is_not_fetched_for_it(http: httpx2.Client) -> None:
    assert refused(http.get("/v1/export", headers={"Sec-Fetch-Site": "cross-site"})) == "origin"
    for near in ("same-origin", "same-site", "none"):
        assert http.get("/v1/export", headers={"Sec-Fetch-Site": near}).status_code == 200


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1:5173", "https://[::1]:8443", NAMED])
def test_pages_of_this_machine_and_those_that_are_named_may_call(http: httpx2.Client, origin: str) -> None:
    page = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
    assert http.post("/v1/conversations/c/messages", json=SAY, headers=page).status_code == 200
    readable = http.get("/healthz", headers=page).headers.get("Access-Control-Allow-Origin")
    assert readable == (NAMED if origin == NAMED else None)


@pytest.mark.parametrize(
    "passed_on",
    [{"X-Forwarded-For": "203.0.113.9"}, {"Forwarded": "for=203.0.113.9"}, {"X-Real-IP": "203.0.113.9"}],
)
def test_what_a_proxy_passes_on_needs_a_key(http: httpx2.Client, passed_on: dict[str, str]) -> None:
    answer = http.get("/v1/conversations", headers=passed_on)
    assert refused(answer) == "forwarded"
    assert "everword keys create" in answer.json()["detail"]


def test_it_answers_to_every_number_of_this_machine_and_to_no_other_name(server: Serving, http: httpx2.Client) -> None:
    """A web page can make a name of its own lead to 127.0.0.1; it does not get in by that."""
    for own in ("localhost", "LOCALHOST", "127.0.0.1", "127.0.0.2", "[::1]"):
        for host in (own, f"{own}:{server.port}"):
            assert http.get("/v1/conversations", headers={"Host": host}).status_code == 200, host
    for other in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0", ""):
        for host in (other, f"{other}:{server.port}"):
            assert refused(http.get("/v1/conversations", headers={"Host": host})) == "host", host
    assert not is_loopback("localhost@evil.example")


def test_with_keys_no_page_gets_in_without_one_and_a_proxy_may_pass_on(tmp_path: Path) -> None:
    with (
        Serving(str(tmp_path / "a.db"), auth=True, followers=False) as server,
        httpx2.Client(base_url=server.url) as http,
    ):
        elsewhere = {"Origin": "https://evil.example", "Host": "memory.example", "X-Forwarded-For": "203.0.113.9"}
        assert http.get("/v1/conversations", headers=elsewhere).status_code == 401
        key = {"Authorization": f"Bearer {server.key()}"}
        assert http.get("/v1/conversations", headers=elsewhere | key).status_code == 200
