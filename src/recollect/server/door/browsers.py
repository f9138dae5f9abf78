"""Which pages of other origins may call: those of the origins in the settings, with everything; all others, nothing.

No cookie opens anything here, only a key that somebody gave the page. So a page that may call may send any header,
those of OpenAI's and MCP's clients included, and may read the headers that the server sends.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp

from recollect.server.problems import MEDIA, Problem

EXPOSED = (
    "ETag",
    "Idempotent-Replayed",
    "Mcp-Session-Id",
    "Retry-After",
    "WWW-Authenticate",
    "X-Recollect-Conversation",
    "X-Recollect-Tokens",
    "X-Request-Id",
)
REFUSED = "a page of this origin may not call this server; the setting `server_origins` names those that may"


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
