"""What goes wrong with a model, in words: which model, what happened, what to do next.

A server may repeat the key in what it says, whole or in part. Its words are quoted only if no part of the key is
among them, and never when the key itself is the subject. Nothing else of a foreign error is kept: these errors are
raised where no other is being handled, so that none hangs on to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from recollect.errors import ModelBusy, ModelError, ModelNonsense, ModelRefused, ModelTimeout, Refusal

QUOTED = 200  # characters of a server's words
SHOWN = 500  # characters of what is repeated to whoever asked
TELLING = 8  # characters of a key that already give something away
PASSING = (408, 409, 429)  # HTTP states that pass, beside all from 500
ADDRESSED = re.compile(r"\S+://\S+")
WORD = re.compile(r"[\w.\[\]-]{1,64}")


class Trouble:
    """Words the errors of one model."""

    def __init__(self, who: str, key: str = "") -> None:
        self.who = who
        self._key = key.casefold()

    def nonsense(self, what: str) -> ModelNonsense:
        return ModelNonsense(f"{self.who} answered with {what}")

    def foreign(self, what: str) -> ModelNonsense:
        return ModelNonsense(f"{self.who} answered with {what}; check that the address is an OpenAI-compatible API")

    def silent(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(f"{self.who}: no answer within {seconds:g} seconds; try again, or allow it more time")

    def endless(self, seconds: float) -> ModelTimeout:
        return ModelTimeout(f"{self.who}: still talking after {seconds:g} seconds; ask for less, or allow it more time")

    def unreachable(self) -> ModelBusy:
        return ModelBusy(f"{self.who} cannot be reached; check the address and that the server runs")

    def broken(self) -> ModelBusy:
        return ModelBusy(f"{self.who} broke off in the middle of its answer; try again")

    def refusal(self, status: int, said: str = "", after: float | None = None) -> ModelError:
        """What an HTTP status means."""
        if status in (401, 403):
            return ModelRefused(f"{self.who} refused the key (HTTP {status}); check the key and what it may use")
        if status < 400:
            return ModelRefused(f"{self.who} points elsewhere (HTTP {status}); set the address it has moved to")
        quote = self.quote(said)
        if status == 402:
            return ModelRefused(f"{self.who} wants to be paid (HTTP 402){quote}; check the account")
        if status == 404:
            advice = "check the model's name and the address (often …/v1)"
            return ModelRefused(f"{self.who} knows no such model or path (HTTP 404){quote}; {advice}")
        if status == 429:
            wait = "wait" if after is None else f"wait {after:g} seconds"
            return ModelBusy(f"{self.who}: too many requests or no credit left (HTTP 429){quote}; {wait}, or check it")
        if passing(status):
            return ModelBusy(f"{self.who} failed (HTTP {status}){quote}; try again later")
        return ModelRefused(f"{self.who} refused (HTTP {status}){quote}; check the model and the length of the request")

    def reported(self, error: object) -> ModelError:
        """An error that came in place of an answer, under a status that promised one."""
        code, said = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, error)
        text = said if isinstance(said, str) else ""
        if isinstance(code, int) and 400 <= code < 600:
            trouble, status = self.refusal(code, text), code
        else:
            status = 502
            trouble = ModelBusy(f"{self.who} failed while answering{self.quote(text)}; try again later")
        trouble.refusal = self.shown(status, error)
        return trouble

    def shown(self, status: int, error: object, after: float | None = None) -> Refusal:
        """What a server said in place of an answer, as far as it may be repeated to whoever asked."""
        if status in (401, 403):
            return Refusal(status, after=after)
        # A text that is no object is a page of some gateway, and speaks of what is behind it.
        said = error if isinstance(error, Mapping) else {}
        kind, code, param = (self._word(said.get(name)) for name in ("type", "code", "param"))
        text = said.get("message")
        message = " ".join(text.split())[:SHOWN] if isinstance(text, str) else ""
        if self._betrays(message.casefold()) or any(place in message for place in self._places()):
            message = ""
        return Refusal(status, message, kind, code, param, after)

    def _word(self, value: object) -> str | None:
        usable = isinstance(value, str) and WORD.fullmatch(value) and not self._betrays(value.casefold())
        return str(value) if usable else None

    def _places(self) -> list[str]:
        """The addresses in our own name for the model, which are nobody else's business."""
        return [place for place in (urlsplit(one).netloc for one in ADDRESSED.findall(self.who)) if place]

    def quote(self, said: str) -> str:
        text = " ".join(said.split())
        if not text or self._betrays(text.casefold()):
            return ""
        return f", saying {text[:QUOTED]!r}"

    def _betrays(self, text: str) -> bool:
        parts = max(len(self._key) - TELLING, 0) + 1
        return bool(self._key) and any(self._key[start : start + TELLING] in text for start in range(parts))


def passing(status: int) -> bool:
    """Whether the same request may be answered later."""
    return status in PASSING or status >= 500
