"""What is asked of a model. Every task can also be done without one.

A task builds its question, reads the answer or says what is wrong with it, and has an answer of its own. All of it is
pure: who asks, and what happens when nobody answers, is the engine's business.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from recollect.errors import ModelNonsense
from recollect.ports import Request

I = TypeVar("I", contravariant=True)  # noqa: E741
R = TypeVar("R", covariant=True)


class Task(Protocol[I, R]):
    """One question with a typed answer."""

    @property
    def name(self) -> str: ...

    def build(self, inputs: I) -> Request: ...

    def parse(self, text: str, inputs: I) -> R:
        """The answer, or ModelNonsense that says what is wrong with it."""

    def offline(self, inputs: I) -> R: ...


def repaired(request: Request, text: str, error: ModelNonsense) -> Request:
    """The same question once more, with the answer that could not be read and what is wrong with it."""
    again = f"That answer cannot be used: it {error}. Answer again, with exactly the form asked for and nothing else."
    said = text[:2000] or "(nothing)"
    messages = [*request.messages, {"role": "assistant", "content": said}, {"role": "user", "content": again}]
    return Request(messages, request.temperature, request.max_tokens, request.schema)  # type: ignore[arg-type]
