"""Makes the errors of a model: which model, what happened, what to do next.

A server may repeat the key in its messages, whole or in part. A message is quoted only if it has no part of the key,
and never when the error is about the key itself. Nothing else of a foreign error is kept: these errors are raised where
no other exception is being handled, so that none is chained to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from recollect.errors import ModelBusy, ModelCutOff, ModelError, ModelNonsense, ModelRefused, ModelTimeout, Refusal

QUOTED = 200  # characters of a server's message
SHOWN = 500  # characters of a server's message that the caller gets
TELLING = 8  # characters of a key that already reveal something
PASSING = (408, 409, 429)  # HTTP states that are temporary, besides all from 500
ADDRESSED = re.compile(r"\S+://\S+")
WORD = re.compile(r"[\w.\[\]-]{1,64}")


class Trouble:
    """Makes the errors of one model."""

    def __init__(self, model: str, key: str = "") -> None:
        self.model = model
        self._key = key.casefold()

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

    def refusal(self, status: int, server_text: str = "", after: float | None = None) -> ModelError:
        """The error for an HTTP status."""
        if status in (401, 403):
            return ModelRefused(f"{self.model} refused the key (HTTP {status}); check the key and what it may use")
        if status < 400:
            return ModelRefused(f"{self.model} points elsewhere (HTTP {status}); set the address it has moved to")
        quote = self.quote(server_text)
        if status == 402:
            return ModelRefused(f"{self.model} wants to be paid (HTTP 402){quote}; check the account")
        if status == 404:
            advice = "check the model's name and the address (often …/v1)"
            return ModelRefused(f"{self.model} knows no such model or path (HTTP 404){quote}; {advice}")
        if status == 429:
            wait = "wait" if after is None else f"wait {after:g} seconds"
            return ModelBusy(
                f"{self.model}: too many requests or no credit left (HTTP 429){quote}; {wait}, or check it"
            )
        if is_temporary(status):
            return ModelBusy(f"{self.model} failed (HTTP {status}){quote}; try again later")
        return ModelRefused(
            f"{self.model} refused (HTTP {status}){quote}; check the model and the length of the request"
        )

    def error_in_answer(self, error: object) -> ModelError:
        """The error for an answer with status 200 that holds an error instead of text."""
        code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, error)
        text = message if isinstance(message, str) else ""
        if isinstance(code, int) and 400 <= code < 600:
            status = code
            model_error = self.refusal(code, text)
        else:
            status = 502
            model_error = ModelBusy(f"{self.model} failed while answering{self.quote(text)}; try again later")
        model_error.refusal = self.public_refusal(status, error)
        return model_error

    def public_refusal(self, status: int, error: object, after: float | None = None) -> Refusal:
        """What a server sent in place of an answer, as far as the caller may see it."""
        if status in (401, 403):
            return Refusal(status, after=after)
        # A text that is not an object is the page of some gateway, and may describe internal servers.
        fields = error if isinstance(error, Mapping) else {}
        kind, code, param = (self._safe_word(fields.get(name)) for name in ("type", "code", "param"))
        text = fields.get("message")
        message = " ".join(text.split())[:SHOWN] if isinstance(text, str) else ""
        if self._reveals_key(message.casefold()) or any(host in message for host in self._own_hosts()):
            message = ""
        return Refusal(status, message, kind, code, param, after)

    def _safe_word(self, value: object) -> str | None:
        usable = isinstance(value, str) and WORD.fullmatch(value) and not self._reveals_key(value.casefold())
        return str(value) if usable else None

    def _own_hosts(self) -> list[str]:
        """The hosts in our own name for the model, which callers must not see."""
        return [host for host in (urlsplit(address).netloc for address in ADDRESSED.findall(self.model)) if host]

    def quote(self, server_text: str) -> str:
        text = " ".join(server_text.split())
        if not text or self._reveals_key(text.casefold()):
            return ""
        return f", saying {text[:QUOTED]!r}"

    def _reveals_key(self, text: str) -> bool:
        parts = max(len(self._key) - TELLING, 0) + 1
        return bool(self._key) and any(self._key[start : start + TELLING] in text for start in range(parts))


def is_temporary(status: int) -> bool:
    """Whether the same request may be answered later."""
    return status in PASSING or status >= 500
