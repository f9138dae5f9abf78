"""A route that reads its arguments itself answers as FastAPI would: the same request by both ways, good or bad."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from recollect.server.routes import conversations, spaces
from recollect.server.routing import LeanRoute, argument_reader
from recollect.testing.serving import Serving

LEAN = {"Content-Type": "application/json"}
BY_FASTAPI = {"Content-Type": "application/json; charset=utf-8"}
CONTEXT = "/v1/conversations/c/context"


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    folder: Path = tmp_path_factory.mktemp("lean")
    with (
        Serving(str(folder / "memory.db"), followers=False) as server,
        httpx2.Client(base_url=server.url) as client,
    ):
        said = {"user": "alex", "messages": [{"role": "user", "content": "The lighthouse is painted white."}]}
        assert client.post("/v1/conversations/c/messages", json=said).status_code == 200
        yield client


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/search", b'{"query": "lighthouse", "user": "alex", "limit": 3}', 200),
        ("/v1/search", b'{"query": "lighthouse", "after": "2020-01-01T00:00:00Z", "kinds": ["message", "fact"]}', 200),
        ("/v1/search", b'{"query": "lighthouse", "limit": 0}', 422),
        ("/v1/search", b'{"query": "lighthouse", "unknown": 1}', 422),
        ("/v1/search", b'{"query": ', 422),
        ("/v1/search", b"", 422),
        ("/v1/search", b"null", 422),
        ("/v1/search", b"[]", 422),
        ("/v1/search?space=one", b'{"query": "lighthouse"}', 200),
        (CONTEXT, b'{"text": "Which colour is the lighthouse?", "user": "alex"}', 200),
        (CONTEXT, b'{"text": "Which colour?", "user": "other"}', None),
        (f"/v1/conversations/{'x' * 300}/context", b'{"text": "Which colour?"}', 422),
        (CONTEXT, b'{"text": 5}', 422),
    ],
)
def test_both_ways_give_the_same_answer(http: httpx2.Client, path: str, body: bytes, status: int | None) -> None:
    lean, full = (http.post(path, content=body, headers=headers) for headers in (LEAN, BY_FASTAPI))
    assert lean.status_code == full.status_code
    assert status in (None, lean.status_code)
    assert without_id(lean.json()) == without_id(full.json())


def without_id(answer: Any) -> Any:
    """An answer without what differs from one request to the next: its id, and the moment on which scores depend."""
    if isinstance(answer, dict):
        moving = ("request", "instance", "score", "recency", "parts")
        return {key: without_id(value) for key, value in answer.items() if key not in moving}
    return [without_id(value) for value in answer] if isinstance(answer, list) else answer


def test_the_routes_that_are_asked_most_are_lean() -> None:
    routes = [route for route in (*spaces.router.routes, *conversations.router.routes) if isinstance(route, LeanRoute)]
    lean = {route.path for route in routes if "POST" in (route.methods or ()) and argument_reader(route) is not None}
    assert {"/v1/search", "/v1/conversations/{id:id}/context"} <= lean
    assert "/v1/conversations/{id:id}/messages" not in lean  # it has a header, too
