"""What is noted of a request: one line of JSON, a count, a span; and never a word of what was said.

The line names the route as it is declared, not the path, which holds ids of people. An error nobody foresaw is caught
here, outermost: the caller gets a document with the request's id, the log its kind and where it arose.
"""

from __future__ import annotations

import json
import logging
import re
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.ports import Telemetry
from recollect.server.problems import problem_of, response_of

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

logger = logging.getLogger("recollect.server")

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
UNKNOWN = "unknown"
TRACE = (b"traceparent", b"tracestate")
# A page of ours runs nothing and is shown inside no other; the API's own documentation needs a little more.
SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")}
        line |= {"level": record.levelname.lower(), "logger": record.name, "event": record.getMessage()}
        line["pid"] = str(record.process)
        line |= getattr(record, "noted", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=False)


class Observing:
    """Times, counts and logs every request, and answers for what nobody foresaw."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry | None, tracing: TracerProvider | None = None) -> None:
        self._app, self._telemetry = app, telemetry
        self._span = spans(tracing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"x-request-id"), "")
        id = given if REQUEST_ID.fullmatch(given) else token_hex(8)
        began, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = id
                for name, value in SECURITY.items():
                    headers.setdefault(name, value)
            await send(message)

        with self._span(scope) as span:
            try:
                await self._app(scope, receive, noted)
            except Exception as error:  # noqa: BLE001  the outermost handler
                logger.error("failed", extra={"noted": {"request": id, **where(error)}})
                if not status:
                    await response_of(problem_of(error), scope)(scope, receive, noted)
            finally:
                self._note(scope, id, status, time.perf_counter() - began, span)

    def _note(self, scope: Scope, id: str, status: int, seconds: float, span: Any) -> None:
        route = scope.get("route")
        name, path = getattr(route, "name", UNKNOWN), getattr(route, "path_format", UNKNOWN)
        caller = scope.get("caller")
        outcome = str(status) if status else "gone"
        if self._telemetry is not None:
            self._telemetry.count("request", kind=name, outcome=outcome, seconds=seconds)
        if span is not None:
            span.update_name(f"{scope['method']} {path}")
            span.set_attributes({"http.route": path, "http.response.status_code": status})
        line = {
            "request": id,
            "method": scope["method"],
            "route": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key": caller.key_id if caller is not None else None,
        }
        logger.info("request", extra={"noted": line})


def where(error: BaseException) -> dict[str, Any]:
    """An error's kind and the places it came through. Not its text, which may repeat what was said."""
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return {"error": type(error).__name__, "at": [f"{one.name} {one.filename}:{one.lineno}" for one in frames]}


def spans(provider: TracerProvider | None) -> Callable[[Scope], AbstractContextManager[Any]]:
    """Opens a span of OpenTelemetry for a request, part of the caller's trace if it names one. Without its API there is
    none; without a provider that the program has set up, it goes nowhere."""
    try:
        from opentelemetry import propagate, trace
    except ImportError:
        return lambda scope: nothing()
    tracer = trace.get_tracer("recollect.server", tracer_provider=provider)

    def opened(scope: Scope) -> AbstractContextManager[Any]:
        told = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name in TRACE}
        caller = propagate.extract(told) if told else None
        return tracer.start_as_current_span(scope["method"], caller, kind=trace.SpanKind.SERVER)

    return opened


def nothing() -> AbstractContextManager[None]:
    return nullcontext()
