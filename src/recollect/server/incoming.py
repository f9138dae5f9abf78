"""Checks a request's address before anything else reads it, and answers unexpected errors.

An address whose bytes are not UTF-8 is refused, since guessing would make one id of many. `HEAD` is routed as `GET` and
answered without the body. An unexpected error becomes a document, and the log gets its type and its place: in this
middleware and not further out, so that a page of another origin can read that document, too.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.server.observing import describe_error, logger
from recollect.server.problems import Problem, problem_of, problem_response

NOT_UTF8 = "the address is not UTF-8: write each byte of a character's UTF-8 as %XX"
NO_MORE = {"type": "http.response.body", "body": b"", "more_body": False}


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
