"""What is noted of a request: a line, a count, a span; and nothing of what was said, whatever happens."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from prepared_programs import PreparedProgram

from everword import AsyncMemory
from everword.follow.model_calls import ActivityCounter
from everword.ports import Request
from everword.server.app import create_app
from everword.server.middleware import JsonLines, RequestObserver
from everword.testing import ScriptedLLM

SECRET = "the vault opens at seven"
TRACE = "0af7651916cd43dd8448eb211c80319c"


def broken(request: Request) -> str:
    raise KeyError(SECRET)  # what nobody foresaw, with words of a person in it


async def asked(path: Path, counting: ActivityCounter, exporter: InMemorySpanExporter) -> list[httpx2.Response]:
    memory = AsyncMemory(str(path), followers=False, telemetry="off", chat=ScriptedLLM(default=broken))
    app = create_app(memory, telemetry=counting)
    tracing = TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(exporter))
    observed = RequestObserver(app, None, tracing)
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(observed), base_url="http://localhost")
    async with app.router.lifespan_context(app), http:
        said = {"messages": [{"role": "user", "content": SECRET}]}
        traced = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "X-Request-Id": "mine"}
        return [
            await http.post(f"/v1/conversations/{SECRET}/messages", json=said, headers=traced),
            await http.post("/v1/conversations/c/reply", json={"text": SECRET}),
            await http.get(f"/v1/users/alex/facts?cursor={SECRET}"),
            await http.get(f"/{SECRET}"),
            await http.request("THEVAULTOPENS", "/v1/search"),
            await http.head("/healthz"),
        ]


def test_requests_are_logged_counted_and_traced_without_their_content(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    counting, exporter = ActivityCounter(), InMemorySpanExporter()
    with caplog.at_level(logging.INFO, logger="everword.server"):
        answers = asyncio.run(asked(tmp_path / "a.db", counting, exporter))
    assert [answer.status_code for answer in answers] == [200, 500, 410, 404, 405, 200]
    assert answers[0].headers["X-Request-Id"] == "mine"
    assert answers[1].json()["code"] == "internal"
    assert SECRET not in answers[1].text
    lines: list[dict[str, Any]] = [json.loads(JsonLines().format(record)) for record in caplog.records]
    assert SECRET not in json.dumps(lines)
    assert "THEVAULTOPENS" not in json.dumps(lines)
    assert {line["method"] for line in lines if line["event"] == "request"} == {"GET", "HEAD", "POST", "_OTHER"}
    noted = [line for line in lines if line["event"] == "request" and line["route"] != "unknown"]
    assert {line["route"] for line in noted} >= {"/v1/conversations/{id}/messages", "/v1/users/{id}/facts"}
    (failure,) = [line for line in lines if line["event"] == "failed"]
    assert failure["error"] == "KeyError"
    assert any("broken" in place for place in failure["at"])
    counted = {(one.kind, one.outcome): one.count for one in counting.activities() if one.what == "request"}
    assert counted[("add_messages", "200")] == 1
    assert counted[("reply", "500")] == 1
    spans = exporter.get_finished_spans()
    names = {span.name for span in spans}
    assert "POST /v1/conversations/{id}/messages" in names
    written = "".join(span.to_json() for span in spans)
    assert SECRET not in written
    assert "THEVAULTOPENS" not in written
    (failed,) = [span for span in spans if span.name == "POST /v1/conversations/{id}/reply"]
    assert (failed.status.status_code, failed.events) == (StatusCode.ERROR, ())
    assert dict(failed.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/conversations/{id}/reply",
        "http.response.status_code": 500,
        "error.type": "500",
    }
    assert {span.status.status_code for span in spans if span is not failed} == {StatusCode.UNSET}
    context = spans[0].get_span_context()
    assert context is not None
    assert format(context.trace_id, "032x") == TRACE


LOUD = """
import asyncio, logging, sys
from everword.server.hosting import log_as_json

log_as_json()
secret = sys.argv[1]
logging.getLogger("asyncio").error(f"Task exception was never retrieved: {secret}", exc_info=KeyError(secret))
logging.getLogger("mcp.shared.session").warning("Failed to validate request: %s", secret)
logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
logging.getLogger("everword.anything").warning("words of our own", extra={"noted": {"n": 1}})
logging.getLogger("elsewhere").info("nobody wants to know")
"""


def test_what_other_libraries_log_is_named_and_not_repeated() -> None:
    """They do not know what may be written down: their words stay out, and the place is enough to find them."""
    with PreparedProgram([sys.executable, "-c", LOUD, SECRET], stderr=subprocess.PIPE, text=True) as program:
        _, logged = program.communicate()
    assert program.returncode == 0
    assert SECRET not in logged
    lines = [json.loads(line) for line in logged.splitlines()]
    assert [(line["logger"], line["level"], line["event"]) for line in lines] == [
        ("asyncio", "error", "logged"),
        ("mcp.shared.session", "warning", "logged"),
        ("uvicorn.error", "warning", "Invalid HTTP request received."),
        ("everword.anything", "warning", "words of our own"),
    ]
    assert lines[0]["error"] == "KeyError"
    assert lines[0]["at"].startswith("<module> <string>:")
    assert lines[3]["n"] == 1


def test_a_request_is_counted_once_and_before_the_last_of_its_answer_leaves() -> None:
    counting = ActivityCounter()
    seen = list[int]()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        await send({"type": "http.response.body", "body": b"b"})

    async def send(message: Any) -> None:
        seen.append(sum(one.count for one in counting.activities()))

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(RequestObserver(answer, counting)(scope, None, send))  # type: ignore[arg-type]
    assert seen == [0, 0, 1]
    assert [one.count for one in counting.activities()] == [1]
