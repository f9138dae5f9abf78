"""What the tests of the drop-in endpoint share: a model's server that is told what to do, and a server before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import openai
from llm_server import Exchange, Service, Step, says, serving, streams

from everword.model import Message
from everword.models.chat.roles import NoModelLLM
from everword.testing.serving import Serving

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
BLOCK = "\n<everword>\nU1: question = shops\nA1: shops = 2\n</everword>"
KEY = "sk-secret-0123456789"
numbers = count(1)


def user(text: Any) -> Any:
    """A message; the client has a type for each kind, which is none of these tests' business."""
    return {"role": "user", "content": text}


def assistant(text: Any, **more: Any) -> Any:
    return {"role": "assistant", "content": text, **more}


def either(whole: Step, streamed: Step) -> Step:
    """The one or the other, as it is asked."""
    return lambda exchange: (streamed if exchange.service.requests[-1].get("stream") else whole)(exchange)


def answers(text: str) -> Step:
    """An answer; a bar is where a stream is cut."""
    return either(says(text.replace("|", "")), streams(*text.split("|")))


def in_turn(*steps: Step) -> Step:
    """One step a request, the last one again and again."""
    left = list(steps)
    return lambda exchange: (left.pop(0) if len(left) > 1 else left[0])(exchange)


@dataclass
class World:
    """A model's server, our server before it, and the client of somebody who has never been here."""

    service: Service
    server: Serving
    user: str = ""
    wires: openai.DefaultHttpxClient = field(default_factory=openai.DefaultHttpxClient)  # making one takes a while

    def anew(self, *steps: Step) -> Any:
        """The client of a new user, with a model that does this."""
        self.user = f"user {next(numbers)}"
        self.does(*steps)
        return self.client()

    def does(self, *steps: Step) -> None:
        self.service.requests.clear()
        self.service.steps = (in_turn(*steps),)

    def client(self, **more: Any) -> Any:
        given: dict[str, Any] = {"base_url": f"{self.server.url}/v1", "api_key": "none", "max_retries": 0} | more
        return openai.OpenAI(default_headers={"X-Everword-User": self.user}, http_client=self.wires, **given)

    def log(self, user: str | None = None) -> dict[str, list[Message]]:
        """Every conversation of the user with its messages, in order."""
        memory, who = self.server.memory, user or self.user

        async def read() -> dict[str, list[Message]]:
            found = await memory.conversations(user=who)
            return {one.id: await memory.conversation(one.id, user=who).history() for one in found}

        log: dict[str, list[Message]] = self.server.run(read())
        return log

    def said(self, user: str | None = None) -> list[list[tuple[str, str]]]:
        """The same, as who said what, the trunk before its branches."""
        return [[(m.role, m.content) for m in messages] for _, messages in sorted(self.log(user).items())]

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The messages that the model was sent last."""
        messages: list[dict[str, Any]] = self.service.requests[-1]["messages"]
        return messages


@contextmanager
def world_of(store: str, **given: Any) -> Iterator[World]:
    with serving(answers("Hello.")) as service:
        settings: dict[str, Any] = {"chat_url": service.url, "chat_model": "model-x", "chat_key": KEY}
        # Memory work is none of the endpoint's: the built-in writers do it.
        with Serving(store, memory=NoModelLLM(), **settings | {"followers": False} | given) as server:
            world = World(service, server)
            with world.wires:
                yield world
            assert server.run(server.memory.verify()).ok


__all__ = [
    "BLOCK",
    "KEY",
    "USAGE",
    "Exchange",
    "Step",
    "World",
    "answers",
    "assistant",
    "either",
    "in_turn",
    "user",
    "world_of",
]
