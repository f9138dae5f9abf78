"""A whole turn with a real model: what it says is its own affair; what is kept, shown and noted is ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from everword import Budget, Memory, Settings
from everword.model import ChatMessage
from everword.models.chat.local import LocalModel
from everword.ports import Completion, Request
from everword.summaries.tiers import load_tiers
from everword.wiring import open_store

pytest.importorskip("xllamacpp", reason="make test installs it")

SAID = (
    "My name is Alex, I run a small bakery in Lyon with three people, I am allergic to peanuts, and in March I travel "
    "to Kyoto for eleven days to see the old town and the sea."
)
TOLD = ("My name is Alex and I am allergic to peanuts.", "I have a cat called Mia.")  # it reads slowly
READ = 100  # characters
SHORT = 8  # tokens of a reply: enough to be one, or for the first words of an answer
ROLE = ChatMessage(role="system", content="Hi")  # without one it is given its own, which takes it as long as a question


class Brief(LocalModel):
    """The local model, given few words: the test is of the turn, not of its wit. It is loaded once, and so stays when a
    memory that used it is closed."""

    asked_for: list[str]

    async def close(self) -> None:
        pass

    async def unload(self) -> None:
        await super().close()

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        async for piece in super().stream(replace(request, temperature=0.0, max_tokens=SHORT)):
            yield piece

    async def complete(self, request: Request) -> Completion:
        required = (request.schema or {}).get("required", ())
        self.asked_for = [*getattr(self, "asked_for", ()), *required]
        # The end of what it is asked, without instructions, which take it long to read and help it little.
        (*_, message) = request.messages
        last = ChatMessage(role=message["role"], content=message["content"][-READ:])
        return await super().complete(replace(request, messages=[ROLE, last]))


@pytest.fixture(scope="module")
def model() -> Iterator[Brief]:
    brief = Brief()
    yield brief
    asyncio.run(brief.unload())


def test_a_turn_with_a_real_model_is_kept_with_its_tiers(tmp_path: Path, model: Brief) -> None:
    store = open_store(str(tmp_path / "memory.db"), Settings())
    with Memory(store, chat=model, model_seconds=300) as memory:
        chat = memory.conversation("demo", user="alex")
        seen = "".join(chat.stream(SAID, budget=Budget(total=1_000)))
        memory.settle()
        asked, reply = chat.history()
        tiers = store.read(lambda tx: load_tiers(tx, "default", "demo", 0))
    assert seen.strip()
    assert (asked.content, reply.role, reply.content) == (SAID, "assistant", seen.strip())
    assert not any(sign in seen for sign in ("[REQUEST_TIER", "[SEARCH_EPISODIC", "<everword"))
    rounds = reply.metadata["everword"]["rounds"]
    assert {one["model"] for one in rounds} == {"SmolLM2-135M"}
    assert all(0 < one["tokens_in"] < LocalModel.context for one in rounds)
    assert set(tiers) == {1, 2}
    assert tiers[1].made_by in ("model", "offline")
    assert tiers[1].tier1
    assert len(tiers[1].tier2) < len(SAID)


@pytest.mark.checklist("F6")
def test_the_nonsense_of_a_real_model_never_becomes_a_fact_or_a_source(tmp_path: Path, model: Brief) -> None:
    """F6: the whole path, from lines to facts and to an answer, with a model that is too small for it."""
    with Memory(str(tmp_path / "memory.db"), memory=model, followers=False, model_seconds=300) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.extend([{"role": "user", "content": text} for text in TOLD])
        memory.settle(timeout=300)
        facts = memory.facts(user="alex")
        answer = memory.ask("What is Alex allergic to?", user="alex")
        known_messages = chat.history()
    assert {"facts", "answer"} <= set(model.asked_for)
    assert answer.text
    assert answer.made_by in ("model", "offline")
    assert not answer.known or answer.facts or answer.messages, "an answer rests on something"
    assert {fact.id for fact in answer.facts} <= {fact.id for fact in facts}
    assert {message.id for message in answer.messages} <= {message.id for message in known_messages}
    assert {"Alex", "peanuts"} <= {fact.value for fact in facts}
    words = " ".join(TOLD).casefold()
    said = {word.strip(".,()") for word in words.split()} | {"they", "their", "them", "runs", "travels", "has"}
    assert all(set(fact.value.casefold().replace("(", "").replace(")", "").split()) <= said for fact in facts), facts
