"""Errors as documents (RFC 9457): what went wrong, as text for a person and a code for a program.

Every error that everword raises on purpose has one status and one code. An unexpected error is a 500 that does not
say its cause: that is in the server's log, under the request's id.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Protocol

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from everword import errors
from everword.masking import mask_credentials, masked_logger
from everword.server.keys import is_page
from everword.values_to_json import ERROR_CODES

logger = masked_logger("everword.server")

MEDIA = "application/problem+json"
RETRY = {"Retry-After": "1"}

STATUS_CODES = {
    400: "bad_request",
    401: "no_key",
    403: "forbidden",
    404: "no_route",
    405: "method",
    408: "too_slow",
    413: "too_large",
}
STATUS_DETAILS = {
    404: "there is no such route; /openapi.json lists all routes",
    405: "this route does not accept the method of the request; the header `Allow` lists the accepted methods",
}
NOT_JSON = "the request body cannot be read: send JSON, in UTF-8, as `Content-Type: application/json`"
BODY = ("body",)


RESERVED = (errors.StoreError, errors.ModelError, errors.EmbedderError)
# Those of them whose messages contain neither an address nor what was said.
SPEAKING = (errors.EmbedderMismatch, errors.DamagedMessage, errors.NoModel, errors.ModelSpent)


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
        self.status = status
        self.code = code
        self.detail = mask_credentials(detail)
        self.errors = tuple({name: mask_credentials(text) for name, text in error.items()} for error in errors)
        super().__init__(self.detail)
        self.headers = dict(headers or {})

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        return document | ({"errors": [dict(error) for error in self.errors]} if self.errors else {})


class ProblemShape(Protocol):
    """How errors look to the clients of another API, on its paths."""

    def problem_of(self, error: Exception) -> Problem: ...

    def document(self, problem: Problem) -> Mapping[str, Any]: ...


def shape_at(scope: Scope) -> ProblemShape | None:
    shapes: Mapping[str, ProblemShape] = scope["app"].state.shapes if "app" in scope else {}
    return next((shape for prefix, shape in shapes.items() if scope["path"].startswith(prefix)), None)


def problem_of(error: Exception) -> Problem:
    """The problem to answer with for an error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, RequestValidationError):
        return validation_problem(error.errors())
    if isinstance(error, HTTPException):
        code = STATUS_CODES.get(error.status_code, "refused")
        unread = error.status_code == 400 and error.__cause__ is not None  # FastAPI says no more than that it failed
        bare = error.detail == HTTPStatus(error.status_code).phrase  # nothing but the name of the status
        detail = NOT_JSON if unread else (bare and STATUS_DETAILS.get(error.status_code)) or f"{error.detail}"
        return Problem(error.status_code, code, detail, headers=error.headers or {})
    if isinstance(error, errors.Forbidden):
        return Problem(400 if error.code == "which_space" else 403, error.code, str(error))
    for code, (kind, status) in ERROR_CODES.items():
        if isinstance(error, kind):
            retry = RETRY if isinstance(error, errors.ModelBusy | errors.StoreBusy) else {}
            return Problem(status, code, public_message(error), error_fields(error), retry)
    return Problem(500, "internal", "the server failed; its log says why, under the id of this request")


def public_message(error: errors.EverwordError) -> str:
    """The message of an error that a caller may see. For an error of the store, of a model or of the embedder it is the
    description of its class: their own messages contain addresses, and may repeat what is stored or was asked. Where a
    store's message contains no more than its address, it goes to the log. For a refusal of a model's server there are
    words of our own, with the id under which the log has the server's."""
    if not isinstance(error, RESERVED) or isinstance(error, SPEAKING):
        return str(error)
    refusal = error.refusal if isinstance(error, errors.ModelError) else None
    names_no_content = isinstance(error, errors.StoreError) and type(error) is not errors.StoreError
    reason = str(error) if names_no_content else type(error).__name__
    logger.warning("%s: %s", failure_source(error), reason, extra={"noted": describe_error(error)})
    return refusal.message if refusal is not None else " ".join((type(error).__doc__ or "").split())


def failure_source(error: errors.EverwordError) -> str:
    """Which part failed, for the log."""
    if isinstance(error, errors.StoreError):
        return "store"
    return "model" if isinstance(error, errors.ModelError) else "embedder"


def error_fields(error: Exception) -> Sequence[Mapping[str, str]]:
    """The fields of an error besides its message, so that a client can raise the same one."""
    if isinstance(error, errors.InvalidInput):
        return ({"field": error.field, "reason": error.reason},)
    if isinstance(error, errors.MissingExtra):
        return ({"field": error.extra, "reason": error.purpose},)
    return ()


def validation_problem(failures: Sequence[Any]) -> Problem:
    """The problem for a request of the wrong shape. The value itself is not repeated."""
    details = tuple(field_error(failure) for failure in failures)
    first = f"{details[0]['field']}: {details[0]['reason']}" if details else "the request does not have the right shape"
    suffix = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return Problem(422, "invalid_input", first + suffix, details)


def field_error(failure: Mapping[str, Any]) -> dict[str, str]:
    """One validation failure: which field, and why."""
    if failure["type"] == "json_invalid":
        position = failure["loc"][-1]
        return {"field": "body", "reason": f"is not JSON: {failure['ctx']['error']} (at character {position + 1})"}
    return {"field": ".".join(map(str, failure["loc"])), "reason": str(failure["msg"])}


def problem_response(problem: Problem, scope: Scope) -> Response:
    """The problem as a response: a document, or the shape that another API's clients expect on its paths, or a page if
    a page was asked for."""
    if "app" in scope and is_page(scope["path"]):
        page: Response = scope["app"].state.problem_page(problem, scope)
        return page
    shape = shape_at(scope)
    content, media = (problem.document(), MEDIA) if shape is None else (shape.document(problem), "application/json")
    return JSONResponse(content, problem.status, headers=dict(problem.headers), media_type=media)


async def handle_error(request: Request, error: Exception) -> Response:
    """The handler of every error that is raised on purpose."""
    shape = shape_at(request.scope)
    problem = problem_of(error) if shape is None else shape.problem_of(error)
    if isinstance(error, RequestValidationError) and any(failure["loc"] == BODY for failure in error.errors()):
        if not has_json_body(request):
            problem = Problem(415, "media_type", NOT_JSON, headers={"Accept-Post": "application/json"})
    elif problem.status == 405:
        problem.headers["Allow"] = ", ".join(sorted(methods_at(request)))
    return problem_response(problem, request.scope)


def has_json_body(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def methods_at(request: Request) -> set[str]:
    """The methods of all routes with the request's path; each route knows only its own."""
    methods = set[str]()
    for route in iter_route_contexts(request.app.routes):
        regex = getattr(route, "path_regex", None)
        if regex is not None and regex.match(request.scope["path"]):
            methods |= route.methods or set()
    return methods | ({"HEAD"} if "GET" in methods else set())


def describe_error(error: BaseException) -> dict[str, Any]:
    """An error's type and the places in its traceback. Its text is left out, since it may repeat what was said."""
    frames = traceback.extract_tb(error.__traceback__)[-12:]
    return {"error": type(error).__name__, "at": [f"{frame.name} {frame.filename}:{frame.lineno}" for frame in frames]}
