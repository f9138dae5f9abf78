"""OpenAI's shapes: what a request may say to us, and what went wrong, as OpenAI's clients read it.

An error says what its cause is to the client and nothing else: no address of the model's server, no key, no word that
the model was sent. What the model's server refused keeps its status, but for the key: the client's own key was right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from starlette.datastructures import Headers

from recollect import errors
from recollect.engine.openai.relay import TooLong
from recollect.errors import InvalidInput, ModelError, RecollectError, Refusal
from recollect.rules.openai.messages import cleaned
from recollect.server.problems import Problem, problem_of

OURS = "recollect"  # in a request's body: what is for the memory
DEEPEST = 64  # objects and lists in each other
LARGEST_BUDGET = 10_000_000  # tokens
NOT_AGAIN = {"x-should-retry": "false"}  # OpenAI's clients heed it
KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
SEEN = "".join(chr(code) for code in range(33, 127) if chr(code) != "%") + " "
WORDS: tuple[tuple[type[ModelError], int, str, str], ...] = (
    (errors.ModelTimeout, 504, "model_timeout", "the model did not answer in time; try again"),
    (errors.ModelBusy, 502, "model_unreachable", "the model's server cannot be reached or broke off; try again"),
    (errors.ModelSpent, 503, "model_spent", "the day's ceiling of tokens is reached"),
    (errors.ModelNonsense, 502, "model_nonsense", "the model's server sent something that is no answer; try again"),
    (errors.ModelError, 502, "model_failed", "the model's server failed; try again"),
)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a request says to the memory, in headers or in its body under `recollect`."""

    conversation: str | None = None
    space: str | None = None
    user: str | None = None
    memory: bool = True
    budget: int | None = None


def read_body(raw: bytes) -> dict[str, Any]:
    """The body of a request; raises InvalidInput if it is none."""
    try:
        body = json.loads(raw, parse_constant=refused_constant)
    except (ValueError, RecursionError):
        raise InvalidInput("body", "is not JSON") from None
    if not isinstance(body, dict):
        raise InvalidInput("body", "must be an object")
    if depth(body) > DEEPEST:
        raise InvalidInput("body", f"has more than {DEEPEST} levels")
    clean: dict[str, Any] = cleaned(body)
    return clean


def refused_constant(name: str) -> Any:
    raise ValueError(name)


def depth(value: object) -> int:
    """How deep a value is; no deeper than matters."""
    level, here = 0, [value]
    while here and level <= DEEPEST:
        level += 1
        here = [
            one
            for value in here
            if isinstance(value, dict | list)
            for one in (value.values() if isinstance(value, dict) else value)
        ]
    return level


def wish_of(headers: Headers, body: dict[str, Any]) -> Wish:
    """Take what is for the memory out of a request. What the body says goes before what the headers say."""
    told = body.pop(OURS, None)
    told = {} if told is None else told
    if not isinstance(told, dict):
        raise InvalidInput(OURS, "must be an object")
    known = {"conversation", "space", "user", "memory", "budget"}
    if unknown := sorted({*told} - known):
        raise InvalidInput(OURS, f"has no {unknown[0]!r}; it has {', '.join(sorted(known))}")
    named = known - {"space"}  # that header is read at the door, as on every route
    given = {name: unquote(value) for name in named if (value := headers.get(f"x-recollect-{name}")) is not None}
    if body.get("user") is not None:
        given["user"] = text_of("user", body["user"]) or ""
    texts = {name: text_of(name, told.get(name, given.get(name))) for name in ("conversation", "space", "user")}
    return Wish(
        **texts,
        memory=switch(told.get("memory", given.get("memory"))),
        budget=budget_of(told.get("budget", given.get("budget"))),
    )


def text_of(name: str, value: object) -> str | None:
    if not isinstance(value, str | None):
        raise InvalidInput(name, "must be text")
    return value or None


def switch(value: object) -> bool:
    if value is None or value is True or (isinstance(value, str) and value.lower() in ("on", "true", "1")):
        return True
    if value is False or (isinstance(value, str) and value.lower() in ("off", "false", "0")):
        return False
    raise InvalidInput("memory", "must be on or off")


def budget_of(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_BUDGET:
        raise InvalidInput("budget", f"must be a whole number of tokens, 1 to {LARGEST_BUDGET:,}")
    return value


def header(value: str) -> str:
    """An id as a header can carry it; read back, it is the same."""
    return quote(value, safe=SEEN)


# -- what went wrong


def problem(error: RecollectError | Problem) -> Problem:
    """What to tell a client of an error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, ModelError) and not isinstance(error, errors.NoModel):
        return refusal(error.refusal) if error.refusal is not None else failure(error)
    found = problem_of(error)
    if isinstance(error, InvalidInput):
        code = "context_length_exceeded" if isinstance(error, TooLong) else "invalid_value"
        return Problem(400, code, found.detail, found.errors)
    if isinstance(error, errors.NoModel):
        return Problem(found.status, found.code, found.detail, headers=NOT_AGAIN)
    if isinstance(error, errors.ScopeError | errors.StoreBusy):
        return found
    # Others may name files and tables of the server.
    return Problem(
        found.status, found.code, "the memory is not available; the server's log says why", (), found.headers
    )


def failure(error: ModelError) -> Problem:
    status, code, words = next((s, c, w) for kind, s, c, w in WORDS if isinstance(error, kind))
    return Problem(status, code, words)


def refusal(said: Refusal) -> Problem:
    """What the model's server said, with the status it said it under."""
    after = {} if said.after is None else {"Retry-After": str(math.ceil(said.after))}
    if said.status in (401, 403) or not 400 <= said.status < 600:
        text = "the model's server refused this server's key or has moved; whoever runs this server must look at it"
        return Problem(502, "model_refused", text, headers=NOT_AGAIN)
    words = said.message or f"the model's server refused the request (HTTP {said.status})"
    param = said.param if said.param and not said.param.startswith("messages") else ""
    told = {name: value for name, value in (("type", said.kind), ("field", param)) if value}
    return Problem(said.status, said.code or "model_refused", words, (told,) if told else (), after)


def shape(found: Problem) -> Mapping[str, Any]:
    """A problem as OpenAI's clients read it."""
    first = found.errors[0] if found.errors else {}
    usual = "server_error" if found.status >= 500 else "invalid_request_error"
    kind = first.get("type") or KINDS.get(found.status, usual)
    return {"error": {"message": found.detail, "type": kind, "param": first.get("field"), "code": found.code}}
