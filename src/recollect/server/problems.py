"""Errors as documents (RFC 9457): what went wrong, in words for a person and a code for a program.

Every error recollect raises on purpose has one status and one code. What nobody foresaw is a 500 that says nothing of
its cause: that is in the server's log, under the request's id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from recollect import errors

MEDIA = "application/problem+json"
RETRY = {"Retry-After": "1"}

# The first that fits: from the special to the general.
STATUS: tuple[tuple[type[errors.RecollectError], int, str], ...] = (
    (errors.InvalidInput, 422, "invalid_input"),
    (errors.NotFound, 404, "not_found"),
    (errors.ScopeError, 403, "not_yours"),
    (errors.NoModel, 503, "no_model"),
    (errors.ModelTimeout, 504, "model_timeout"),
    (errors.ModelRefused, 502, "model_refused"),
    (errors.ModelBusy, 503, "model_busy"),
    (errors.ModelSpent, 503, "model_spent"),
    (errors.ModelNonsense, 502, "model_nonsense"),
    (errors.ModelError, 502, "model_failed"),
    (errors.EmbedderError, 502, "embedder_failed"),
    (errors.NotSettled, 409, "not_settled"),
    (errors.StoreBusy, 503, "store_busy"),
    (errors.StoreError, 503, "store_failed"),
    (errors.MissingExtra, 501, "missing_extra"),
    (errors.ConfigError, 500, "config"),
    (errors.RecollectError, 503, "unavailable"),
)
PLAIN = {400: "bad_request", 401: "no_key", 403: "forbidden", 404: "not_found", 405: "method", 413: "too_large"}


class Problem(Exception):
    """One thing that went wrong with a request."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.errors, self.headers = tuple(errors), dict(headers or {})

    def document(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        return told | ({"errors": [dict(one) for one in self.errors]} if self.errors else {})


Shape = Callable[[Problem], Mapping[str, Any]]


def problem_of(error: Exception) -> Problem:
    """What to answer for an error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return invalid(error.errors())
    if isinstance(error, HTTPException):
        code = PLAIN.get(error.status_code, "refused")
        return Problem(error.status_code, code, f"{error.detail}", headers=error.headers or {})
    for kind, status, code in STATUS:
        if isinstance(error, kind):
            told = ({"field": error.field, "reason": error.reason},) if isinstance(error, errors.InvalidInput) else ()
            retry = RETRY if isinstance(error, errors.ModelBusy | errors.StoreBusy) else {}
            return Problem(status, code, str(error), told, retry)
    return Problem(500, "internal", "the server failed; its log says why, under the id of this request")


def invalid(found: Sequence[Any]) -> Problem:
    """What does not have the shape it should. The value itself is not repeated."""
    told = tuple({"field": ".".join(map(str, one["loc"])), "reason": str(one["msg"])} for one in found)
    first = f"{told[0]['field']}: {told[0]['reason']}" if told else "the request does not have the right shape"
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    return Problem(422, "invalid_input", first + more, told)


def response_of(problem: Problem, scope: Scope) -> Response:
    """The problem as a response: a document, or what another API's clients expect on its paths."""
    shapes: Mapping[str, Shape] = scope["app"].state.shapes if "app" in scope else {}
    own = next((shape for prefix, shape in shapes.items() if scope["path"].startswith(prefix)), None)
    content, media = (problem.document(), MEDIA) if own is None else (own(problem), "application/json")
    return JSONResponse(content, problem.status, headers=dict(problem.headers), media_type=media)


async def answer(request: Request, error: Exception) -> Response:
    """The handler of every error that is raised on purpose."""
    return response_of(problem_of(error), request.scope)
