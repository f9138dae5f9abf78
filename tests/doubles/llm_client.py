"""Asking a served model, the way all tests here do: on a loop whose clock can be moved on, so that no test waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from llm_server import Service

from everword.model import ChatMessage
from everword.models.chat.openai import OpenAIModel
from everword.ports import Completion, Request

KEY = "sk-very-secret-key"
AGES = 3600.0  # seconds; longer than any patience here
T = TypeVar("T")


class Loop(asyncio.SelectorEventLoop):
    """Time can be skipped."""

    skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped

    def skip(self, seconds: float = AGES) -> None:
        self.skipped += seconds


def current_loop() -> Loop:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Loop)
    return loop


def request(*texts: str, **how: Any) -> Request:
    """A question: the last text from the user, those before it from the system."""
    *system, user = texts or ("hello",)
    messages = [ChatMessage(role="system", content=text) for text in system]
    return Request([*messages, ChatMessage(role="user", content=user)], **how)


def with_model(service: Service, use: Callable[[OpenAIModel], Awaitable[T]], key: str = KEY, **options: Any) -> T:
    async def run() -> T:
        loop = current_loop()
        service.time_passes = lambda: loop.call_soon_threadsafe(loop.skip)
        model = OpenAIModel(service.url, key, "some-model", **options)
        try:
            return await use(model)
        finally:
            await model.close()

    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(run())


def complete(service: Service, asked: Request | None = None, **options: Any) -> Completion:
    return with_model(service, lambda model: model.complete(asked or request()), **options)


def stream(
    service: Service, asked: Request | None = None, heard: list[str | Completion] | None = None, **options: Any
) -> list[str | Completion]:
    """The pieces; they are in `heard` too, for when the stream ends in an error."""
    pieces = [] if heard is None else heard

    async def listen(model: OpenAIModel) -> list[str | Completion]:
        async for piece in model.stream(asked or request()):
            pieces.append(piece)
        return pieces

    return with_model(service, listen, **options)


class Waits(list[float]):
    """A `sleep` that only notes for how long."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
