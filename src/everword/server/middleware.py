"""What every request passes before the door: observation, the rules for browsers, the check of its address.

Of a request is recorded one line of JSON, a count and a span, and nothing of what was said: the line names the route as
it is declared, not the path, which contains ids of people.

Pages of the origins in the settings may call with everything, all others with nothing. No cookie opens anything here,
only a key that somebody gave the page: so such a page may send any header, and may read those that the server sends.

An address whose bytes are not UTF-8 is refused, since guessing would make one id of many. `HEAD` is routed as `GET` and
answered without the body. An unexpected error becomes a document, and the log gets its type and its place: behind the
rules for browsers, so that a page of another origin can read that document, too. An answer also says whether the server
holds messages in memory that are not on the disk yet.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from everword.masking import mask_credentials
from everword.memory.memory import MemoryEngine
from everword.model import Degraded
from everword.ports import Telemetry
from everword.server.problems import MEDIA, Problem, describe_error, logger, problem_of, problem_response

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider


REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
UNKNOWN = "unknown"
TRUSTED = ("everword", "uvicorn")  # loggers whose messages contain nothing of a request
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
OTHER = "_OTHER"  # OpenTelemetry's name for a method that it does not know
TRACE = (b"traceparent", b"tracestate")
# Our answers run nothing in a browser, and no page may show them in a frame.
SECURITY = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
)
ID_HEADER = b"x-request-id"

encode_line = json.JSONEncoder(ensure_ascii=False).encode  # made once: `json.dumps` would make one for each line
NOT_UTF8 = "the address is not UTF-8: write each byte of a character's UTF-8 as %XX"
NO_MORE = {"type": "http.response.body", "body": b"", "more_body": False}
HEADER = "Everword-Degraded"
EXPOSED = (
    "ETag",
    "Idempotent-Replayed",
    "Mcp-Session-Id",
    "Retry-After",
    "WWW-Authenticate",
    "X-Everword-Conversation",
    "X-Everword-Tokens",
    "X-Request-Id",
)
REFUSED = (
    "web pages of this origin may not call the server; to allow the origin, add it to the setting `server_origins`"
)


class JsonLines(logging.Formatter):
    """One JSON object a line. Messages of other libraries may repeat what was said, so only their place is written."""

    def format(self, record: logging.LogRecord) -> str:
        is_ours = record.name.partition(".")[0] in TRUSTED
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": mask_credentials(record.getMessage()) if is_ours else "logged",
        }
        if not is_ours:
            line["at"] = f"{record.funcName} {record.pathname}:{record.lineno}"
        line["pid"] = str(record.process)
        line |= getattr(record, "noted", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return encode_line(line)


class RequestObserver:
    """Times, counts and logs every request."""

    def __init__(self, app: ASGIApp, telemetry: Telemetry | None, tracing: TracerProvider | None = None) -> None:
        self._app = app
        self._telemetry = telemetry
        self._span = span_opener(tracing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        header = next((value.decode("latin-1") for name, value in scope["headers"] if name == ID_HEADER), "")
        id = header if REQUEST_ID.fullmatch(header) else token_hex(8)
        scope["request_id"] = id
        began = time.perf_counter()
        status = 0
        is_recorded = False

        def record() -> None:
            nonlocal is_recorded
            is_recorded = True
            self._record_request(scope, id, status, time.perf_counter() - began, span)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = add_headers(message.get("headers", ()), id)
            elif not message.get("more_body") and not is_recorded:
                record()  # whoever has an answer finds it counted, even if this process ends now
            await send(message)

        with self._span(scope) as span:
            try:
                await self._app(scope, receive, send_with_headers)
            finally:
                if not is_recorded:
                    record()

    def _record_request(self, scope: Scope, id: str, status: int, seconds: float, span: Any) -> None:
        route = scope.get("route")
        name = getattr(route, "name", UNKNOWN)
        path = getattr(route, "path_format", UNKNOWN)
        access = scope.get("access")
        method = scope["method"] if scope["method"] in METHODS else OTHER
        outcome = str(status) if status else "gone"
        if self._telemetry is not None:
            self._telemetry.count("request", kind=name, outcome=outcome, seconds=seconds)
        if span is not None:
            span.update_name(f"{method} {path}")
            attributes = {"http.request.method": method, "http.route": path, "http.response.status_code": status}
            span.set_attributes(attributes)
            if status >= 500:
                span.set_attributes({"error.type": str(status)})
                span.set_status(error_status())
        line = {
            "request": id,
            "method": method,
            "route": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key": access.key_id if access is not None else None,
        }
        logger.info("request", extra={"noted": line})


def add_headers(headers: Iterable[tuple[bytes, bytes]], id: str) -> list[tuple[bytes, bytes]]:
    """The headers of an answer with the request's id, and with those for safety that it does not have."""
    own_headers = [header for header in headers if header[0] != ID_HEADER]
    names = {name for name, _ in own_headers}
    missing_headers = [header for header in SECURITY if header[0] not in names]
    return [*own_headers, (ID_HEADER, id.encode("latin-1")), *missing_headers]


def span_opener(provider: TracerProvider | None) -> Callable[[Scope], AbstractContextManager[Any]]:
    """A function that opens a span of OpenTelemetry for a request, in the caller's trace if the request names one.
    Without the API there is no span; without a provider that the program has set up, it is not sent anywhere."""
    try:
        from opentelemetry import propagate, trace
    except ImportError:
        return lambda scope: no_span()
    tracer = trace.get_tracer("everword.server", tracer_provider=provider)

    def open_span(scope: Scope) -> AbstractContextManager[Any]:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name in TRACE}
        if not headers and provider is None and isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return no_span()  # the program has set up no provider
        parent = propagate.extract(headers) if headers else None
        return tracer.start_as_current_span(scope["method"], parent, kind=trace.SpanKind.SERVER)

    return open_span


def error_status() -> Any:
    from opentelemetry.trace import StatusCode

    return StatusCode.ERROR


def no_span() -> AbstractContextManager[None]:
    return nullcontext()


class StreamFinished(Exception):
    """Stops a stream: everything that `HEAD` asks for was sent."""


class RequestGuard:
    """The middleware that refuses unreadable addresses and answers unexpected errors."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_head = scope["method"] == "HEAD"
        has_begun = False
        is_over = False

        async def send_message(message: Message) -> None:
            nonlocal has_begun, is_over
            if message["type"] == "http.response.start":
                has_begun = True
                if is_head:  # the web server leaves the body out
                    scope["method"] = "HEAD"
            elif is_head and is_over:
                raise StreamFinished
            elif is_head:
                message = NO_MORE
                is_over = True
            await send(message)

        try:
            check_address(scope)
            if is_head:
                scope["method"] = "GET"
            await self._app(scope, receive, send_message)
        except StreamFinished:
            pass
        except Exception as error:  # noqa: BLE001  the outermost handler
            if not isinstance(error, Problem):
                logger.error("failed", extra={"noted": {"request": scope.get("request_id"), **describe_error(error)}})
            if not has_begun:
                await problem_response(problem_of(error), scope)(scope, receive, send_message)


def check_address(scope: Scope) -> None:
    for part in (scope.get("raw_path") or b"", scope["query_string"]):
        if part.isascii() and b"%" not in part:
            continue
        try:
            unquote_to_bytes(part).decode()
        except UnicodeDecodeError:
            raise Problem(400, "bad_request", NOT_UTF8) from None


class DegradedHeader:
    """The middleware that adds the header to answers."""

    def __init__(self, app: ASGIApp, memory: MemoryEngine) -> None:
        self._app = app
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_message(message: Message) -> None:
            if message["type"] == "http.response.start":
                degraded = self._memory.degraded
                if degraded is not None:
                    MutableHeaders(scope=message)[HEADER] = header_value(degraded)
            await send(message)

        await self._app(scope, receive, send_message if scope["type"] == "http" else send)


def header_value(degraded: Degraded) -> str:
    return f'held={degraded.held}, since="{degraded.since.isoformat()}", reason="{degraded.reason}"'


class OriginMiddleware(CORSMiddleware):
    """Lets pages of these origins in."""

    def __init__(self, app: ASGIApp, origins: tuple[str, ...]) -> None:
        super().__init__(app, allow_origins=origins, allow_methods=["*"], allow_headers=["*"], expose_headers=EXPOSED)

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code < 400:
            return response
        headers = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
        return JSONResponse(Problem(400, "origin", REFUSED).document(), 400, headers, MEDIA)
