"""OpenAI's shapes: the options a request may have for the memory, and errors as OpenAI's clients read them.

An error tells the client its cause in our words and nothing else: no address of the model's server, no key, nothing of
what the model was sent, nothing of what its server said; that is in the log, under the id in the message. A refusal of
the model's server keeps its status, except one about the key: the client's own key was right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from starlette.datastructures import Headers

from everword import errors
from everword.errors import EverwordError, InvalidInput, ModelError, Refusal
from everword.memory.openai_relay import TooLong
from everword.models.chat.answers import log_note
from everword.openai.messages import clean_json
from everword.parsing import UnreadableJson, read_json
from everword.server.problems import Problem, problem_of

OURS = "everword"  # in a request's body: the options for the memory
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
class MemoryOptions:
    """The options of a request for the memory, in headers or in its body under `everword`."""

    conversation: str | None = None
    space: str | None = None
    user: str | None = None
    memory: bool = True
    budget: int | None = None


def read_body(raw: bytes) -> dict[str, Any]:
    """The body of a request; raises InvalidInput if it is not a JSON object."""
    try:
        body = read_json(raw)
    except UnreadableJson as error:
        raise InvalidInput("body", str(error)) from None
    if not isinstance(body, dict):
        raise InvalidInput("body", "must be an object")
    clean: dict[str, Any] = clean_json(body)
    return clean


def take_memory_options(headers: Headers, body: dict[str, Any]) -> MemoryOptions:
    """Take the options for the memory out of a request. The body goes before the headers."""
    options = body.pop(OURS, None)
    options = {} if options is None else options
    if not isinstance(options, dict):
        raise InvalidInput(OURS, "must be an object")
    option_names = {"conversation", "space", "user", "memory", "budget"}
    if unknown := sorted({*options} - option_names):
        raise InvalidInput(OURS, f"has no {unknown[0]!r}; it has {', '.join(sorted(option_names))}")
    header_names = option_names - {"space"}  # that header is read at the door, as on every route
    header_values = {
        name: unquote(value) for name in header_names if (value := headers.get(f"x-everword-{name}")) is not None
    }
    if body.get("user") is not None:
        header_values["user"] = parse_text("user", body["user"]) or ""
    texts = {
        name: parse_text(name, options.get(name, header_values.get(name))) for name in ("conversation", "space", "user")
    }
    return MemoryOptions(
        **texts,
        memory=parse_switch(options.get("memory", header_values.get("memory"))),
        budget=parse_budget(options.get("budget", header_values.get("budget"))),
    )


def parse_text(name: str, value: object) -> str | None:
    if not isinstance(value, str | None):
        raise InvalidInput(name, "must be text")
    return value or None


def parse_switch(value: object) -> bool:
    if value is None or value is True or (isinstance(value, str) and value.lower() in ("on", "true", "1")):
        return True
    if value is False or (isinstance(value, str) and value.lower() in ("off", "false", "0")):
        return False
    raise InvalidInput("memory", "must be on or off")


def parse_budget(value: object) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_BUDGET:
        raise InvalidInput("budget", f"must be a whole number of tokens, 1 to {LARGEST_BUDGET:,}")
    return value


def quote_header(value: str) -> str:
    """An id as a header can carry it; read back, it is the same."""
    return quote(value, safe=SEEN)


# -- errors


def openai_problem(error: EverwordError | Problem) -> Problem:
    """The problem that a client gets for an error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, ModelError) and not isinstance(error, errors.NoModel):
        return model_refusal(error.refusal) if error.refusal is not None else model_failure(error)
    general_problem = problem_of(error)
    if isinstance(error, InvalidInput):
        code = "context_length_exceeded" if isinstance(error, TooLong) else "invalid_value"
        return Problem(400, code, general_problem.detail, general_problem.errors)
    if isinstance(error, errors.NoModel):
        return Problem(general_problem.status, general_problem.code, general_problem.detail, headers=NOT_AGAIN)
    if isinstance(error, errors.ScopeError | errors.StoreBusy):
        return general_problem
    # Others may name files and tables of the server.
    return Problem(
        general_problem.status,
        general_problem.code,
        "the memory is not available; the server's log says why",
        (),
        general_problem.headers,
    )


def model_failure(error: ModelError) -> Problem:
    status, code, words = next((s, c, w) for kind, s, c, w in WORDS if isinstance(error, kind))
    return Problem(status, code, words)


def model_refusal(refusal: Refusal) -> Problem:
    """A refusal of the model's server: its status, and what happened in our words."""
    retry_headers = {} if refusal.after is None else {"Retry-After": str(math.ceil(refusal.after))}
    if refusal.status in (401, 403) or not 400 <= refusal.status < 600:
        text = "the model's server refused this server's key or has moved; whoever runs this server must look at it"
        return Problem(502, "model_refused", text + log_note(refusal.id), headers=NOT_AGAIN)
    param = refusal.param if refusal.param and not refusal.param.startswith("messages") else ""
    fields = {name: value for name, value in (("type", refusal.kind), ("field", param)) if value}
    code = refusal.code or "model_refused"
    return Problem(refusal.status, code, refusal.message, (fields,) if fields else (), retry_headers)


def openai_error(problem: Problem) -> Mapping[str, Any]:
    """A problem as OpenAI's clients read it."""
    first = problem.errors[0] if problem.errors else {}
    usual = "server_error" if problem.status >= 500 else "invalid_request_error"
    kind = first.get("type") or KINDS.get(problem.status, usual)
    return {"error": {"message": problem.detail, "type": kind, "param": first.get("field"), "code": problem.code}}
