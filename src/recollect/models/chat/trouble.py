"""Makes the errors of a model: which model, what happened, what to do next. All of it in our own words.

What a server says when it refuses is not passed on: it may hold its key, the names of its machines, or what others
asked. Its words go to the log, masked, under an id that the error names; if they repeat a part of the key or of the
request, not even there. Of its codes, those are kept that OpenAI's clients know. Nothing else of a foreign error is
kept: these errors are raised where no other exception is being handled, so that none is chained to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from secrets import token_hex
from urllib.parse import urlsplit

from recollect.errors import ModelBusy, ModelCutOff, ModelError, ModelNonsense, ModelRefused, ModelTimeout, Refusal
from recollect.masking import masked_logger

log = masked_logger("recollect.models.chat")

LOGGED = 500  # characters of a server's message
TELLING = 8  # characters of a key that already reveal something
REPEATED = 16  # characters of a request that a server repeats
PASSING = (408, 409, 429)  # HTTP states that are temporary, besides all from 500
ADDRESSED = re.compile(r"\S+://\S+")
ABOUT_LENGTH = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too many (?:input )?tokens|(?:prompt|input) is too long",
    re.IGNORECASE,
)
TOO_LONG = "context_length_exceeded"
FILTERED = ("content_filter", "content_policy_violation")
CODES = frozenset(
    (
        *(TOO_LONG, *FILTERED, "rate_limit_exceeded", "insufficient_quota", "billing_hard_limit_reached"),
        *("model_not_found", "invalid_value", "invalid_type", "unsupported_value", "unsupported_parameter"),
        *("unknown_parameter", "missing_required_parameter", "string_above_max_length", "server_error", "overloaded"),
    )
)
KINDS = frozenset(
    (
        *("invalid_request_error", "rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "tokens"),
        *("requests", "server_error", "api_error", "overloaded_error", "not_found_error", "timeout_error"),
    )
)
PARAMS = frozenset(
    (
        *("model", "messages", "temperature", "top_p", "n", "stop", "max_tokens", "max_completion_tokens", "seed"),
        *("tools", "tool_choice", "functions", "response_format", "stream", "stream_options", "logprobs"),
        *("top_logprobs", "presence_penalty", "frequency_penalty", "logit_bias", "reasoning_effort", "user"),
    )
)


class Trouble:
    """Makes the errors of one model. `sent` is what it was sent, as far as that matters."""

    def __init__(self, model: str, key: str = "", sent: str = "") -> None:
        self.model = model
        self._key = key.casefold()
        self._sent = sent

    def about(self, messages: Iterable[Mapping[str, object]]) -> Trouble:
        """The same for one request."""
        texts = (message.get("content") for message in messages)
        return Trouble(self.model, self._key, "\n".join(flatten(text) for text in texts))

    def nonsense(self, answer: str) -> ModelNonsense:
        return ModelNonsense(f"{self.model} answered with {answer}")

    def cut_off(self, tokens: tuple[int, int] | None) -> ModelCutOff:
        """The error for an answer that a limit ended before its first word."""
        error = ModelCutOff(
            f"{self.model} answered with nothing: it was cut off before it said a word; allow it more tokens"
        )
        error.tokens = tokens
        return error

    def foreign_answer(self, answer: str) -> ModelNonsense:
        return ModelNonsense(f"{self.model} answered with {answer}; check that the address is an OpenAI-compatible API")

    def timeout(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(f"{self.model}: no answer within {seconds:g} seconds; try again, or allow it more time")

    def overlong_answer(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(
            f"{self.model}: still talking after {seconds:g} seconds; ask for less, or allow it more time"
        )

    def unreachable(self) -> ModelBusy:
        return ModelBusy(f"{self.model} cannot be reached; check the address and that the server runs")

    def interruption(self) -> ModelBusy:
        return ModelBusy(f"{self.model} broke off in the middle of its answer; try again")

    def refusal(self, status: int, error: object = "", after: float | None = None) -> ModelError:
        """The error for an HTTP status. `error` is what the server sent with it."""
        fields = error if isinstance(error, Mapping) else {}
        code = known_word(fields.get("code"), CODES)
        if ABOUT_LENGTH.search(server_words(error)) and status in (400, 413, 422):
            code = TOO_LONG
        id = token_hex(4) if server_words(error) else ""
        kind = ModelBusy if is_temporary(status) else ModelRefused
        model_error = kind(describe_refusal(self.model, status, code, after) + log_note(id))
        model_error.refusal = Refusal(
            status,
            describe_refusal("the model's server", status, code, after) + log_note(id),
            known_word(fields.get("type"), KINDS),
            code,
            known_word(fields.get("param"), PARAMS),
            after,
            id,
        )
        return model_error

    def error_in_answer(self, error: object) -> ModelError:
        """The error for an answer with status 200 that holds an error instead of text."""
        code = error.get("code") if isinstance(error, Mapping) else None
        model_error = self.refusal(code if isinstance(code, int) and 400 <= code < 600 else 502, error)
        self.log_words(model_error, error)
        return model_error

    def log_words(self, model_error: ModelError, error: object) -> None:
        """Log what the server said, under the id that the error names."""
        refusal = model_error.refusal
        words = server_words(error)
        if refusal is None or not refusal.id:
            return
        if self._reveals_key(words.casefold()) or self._repeats_request(words):
            words = "(left out: its words repeat the key or the request)"
        for host in self._own_hosts():
            words = words.replace(host, "…")
        model = self.model.partition(" at ")[0]
        log.warning("%s: HTTP %s, id %s, saying: %s", model, refusal.status, refusal.id, words[:LOGGED])

    def _own_hosts(self) -> list[str]:
        """The hosts in our own name for the model."""
        return [host for host in (urlsplit(address).netloc for address in ADDRESSED.findall(self.model)) if host]

    def _repeats_request(self, words: str) -> bool:
        sent = " ".join(self._sent.split())
        parts = range(max(len(words) - REPEATED, 0) + 1)
        return bool(sent) and any(words[start : start + REPEATED] in sent for start in parts)

    def _reveals_key(self, text: str) -> bool:
        parts = max(len(self._key) - TELLING, 0) + 1
        return bool(self._key) and any(self._key[start : start + TELLING] in text for start in range(parts))


def describe_refusal(server: str, status: int, code: str | None, after: float | None) -> str:
    """What happened and what to do, in our own words."""
    if status in (401, 403):
        return f"{server} refused the key (HTTP {status}); check the key and what it may use"
    if status < 400:
        return f"{server} points elsewhere (HTTP {status}); set the address it has moved to"
    if status == 402:
        return f"{server} wants to be paid (HTTP 402); check the account"
    if status == 404:
        return f"{server} knows no such model or path (HTTP 404); check the model's name and the address (often …/v1)"
    if status == 429:
        wait = "wait" if after is None else f"wait {after:g} seconds"
        return f"{server}: too many requests or no credit left (HTTP 429); {wait}, or check it"
    if code == TOO_LONG:
        return f"{server} refused (HTTP {status}): the request is longer than the model takes; send less"
    if code in FILTERED:
        return f"{server} refused (HTTP {status}): its filter does not let this content pass; ask otherwise"
    if is_temporary(status):
        return f"{server} failed (HTTP {status}); try again later"
    return f"{server} refused (HTTP {status}); check the model and the length of the request"


def log_note(id: str) -> str:
    return f" (its words are in the log, id {id})" if id else ""


def server_words(error: object) -> str:
    """What a server said, in one line."""
    text = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(text.split()) if isinstance(text, str) else ""


def known_word(value: object, words: Iterable[str]) -> str | None:
    return value if isinstance(value, str) and value in words else None


def flatten(content: object) -> str:
    """The text of a message's content, which may be in parts."""
    parts = content if isinstance(content, list) else [content]
    return " ".join(str(part.get("text", "") if isinstance(part, Mapping) else part) for part in parts)


def is_temporary(status: int) -> bool:
    """Whether the same request may be answered later."""
    return status in PASSING or status >= 500
