"""A request as it comes in, before anybody looks at it; and an answer for whatever nobody foresaw.

An address is text: one whose bytes are none is refused, since guessing would make one id of many. `HEAD` is asked as
`GET` and answered without the body. An error nobody foresaw becomes a document, and the log gets its kind and where it
arose: here, and not further out, so that a page of another origin can read that document, too.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.server.observing import logger, where
from recollect.server.problems import Problem, problem_of, response_of

NOT_UTF8 = "the address is not UTF-8: write each byte of a character's UTF-8 as %XX"
NO_MORE = {"type": "http.response.body", "body": b"", "more_body": False}


class Enough(Exception):
    """All of a stream that `HEAD` asks for was sent."""


class Incoming:
    """Refuses what cannot be read, answers for what nobody foresaw."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        head = scope["method"] == "HEAD"
        begun = ended = False

        async def sent(message: Message) -> None:
            nonlocal begun, ended
            if message["type"] == "http.response.start":
                begun = True
                if head:  # whoever sends it leaves the body out
                    scope["method"] = "HEAD"
            elif head and ended:
                raise Enough
            elif head:
                message, ended = NO_MORE, True
            await send(message)

        try:
            check_address(scope)
            if head:
                scope["method"] = "GET"
            await self._app(scope, receive, sent)
        except Enough:
            pass
        except Exception as error:  # noqa: BLE001  the outermost handler
            if not isinstance(error, Problem):
                logger.error("failed", extra={"noted": {"request": scope.get("request_id"), **where(error)}})
            if not begun:
                await response_of(problem_of(error), scope)(scope, receive, sent)


def check_address(scope: Scope) -> None:
    for part in (scope.get("raw_path") or b"", scope["query_string"]):
        try:
            unquote_to_bytes(part).decode()
        except UnicodeDecodeError:
            raise Problem(400, "bad_request", NOT_UTF8) from None
