"""A body is read as a whole, however it is marked and in however many parts it comes, and answers are written alike."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2
import numpy
import pytest

from everword import values_to_json
from everword.model import Message
from everword.server.routes.answers import json_response
from everword.testing.serving import Serving

PLAIN = {"Content-Type": "application/json"}
WITH_CHARSET = {"Content-Type": "application/json; charset=utf-8"}
CONTEXT = "/v1/conversations/c/context"
NOW = datetime(2026, 11, 17, 4, 20, tzinfo=UTC)


@dataclass(frozen=True)
class Span:
    """Times of every kind."""

    at: datetime
    day: date
    length: timedelta
    others: Mapping[str, datetime]


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    folder: Path = tmp_path_factory.mktemp("bodies")
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
def test_a_body_is_read_the_same_with_a_charset_and_without(
    http: httpx2.Client, path: str, body: bytes, status: int | None
) -> None:
    plain, marked = (http.post(path, content=body, headers=headers) for headers in (PLAIN, WITH_CHARSET))
    assert plain.status_code == marked.status_code
    assert status in (None, plain.status_code)
    assert without_id(plain.json()) == without_id(marked.json())


def without_id(answer: Any) -> Any:
    """An answer without what differs from one request to the next: its id, and the moment on which scores depend."""
    if isinstance(answer, dict):
        moving = ("request", "instance", "score", "recency", "parts")
        return {key: without_id(value) for key, value in answer.items() if key not in moving}
    return [without_id(value) for value in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize("headers", [PLAIN, WITH_CHARSET])
@pytest.mark.parametrize("query", [b"lighthouse", b'lighthouse", "limit": "many'])
def test_a_body_in_parts_is_read_as_a_whole(http: httpx2.Client, headers: dict[str, str], query: bytes) -> None:
    def parts() -> Iterator[bytes]:
        yield b'{"query": "'
        yield query
        yield b'"}'

    whole = http.post("/v1/search", content=b"".join(parts()), headers=headers)
    answer = http.post("/v1/search", content=parts(), headers=headers)
    assert answer.status_code == whole.status_code
    assert without_id(answer.json()) == without_id(whole.json())


NESTED: Any = "x"
for _ in range(300):
    NESTED = [NESTED]


WHEN = NOW.isoformat()
MESSAGE = Message("s", "c", 1, "id", "user", "alex", None, "hello", NOW, metadata={"a": {"b": [1]}})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"deep": NESTED}, {"deep": NESTED}),
        (
            [1e-7, 1e22, 0.1, 10**30, True, None, numpy.float64(0.25), ()],
            [1e-7, 1e22, 0.1, 10**30, True, None, 0.25, []],
        ),
        ({1: {"a": (1, 2)}, "ü\u2028": "\x01\n🙂"}, {"1": {"a": [1, 2]}, "ü\u2028": "\x01\n🙂"}),
        (
            [Span(NOW, NOW.date(), timedelta(seconds=1.5), MappingProxyType({"a": NOW}))],
            [{"at": WHEN, "day": "2026-11-17", "length": 1.5, "others": {"a": WHEN}}],
        ),
    ],
    ids=["deep", "numbers", "names and signs", "times"],
)
def test_an_answer_is_written_as_json(value: Any, expected: Any) -> None:
    assert json.loads(bytes(json_response(value).body)) == expected


def test_a_message_is_written_with_all_that_is_sent_of_it() -> None:
    written = json.loads(bytes(json_response(MESSAGE).body))
    assert written["metadata"] == {"a": {"b": [1]}}
    assert written["time"] == WHEN
    assert values_to_json.from_json_value(Message, written) == MESSAGE
