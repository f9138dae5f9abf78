"""Rules read facts at once, with a model or without; the model's reading takes their place later (G4)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from everword import AsyncMemory, Draft, Fact
from everword.errors import ModelTimeout
from everword.facts.stored_facts import facts_of
from everword.follow.follower import settle
from everword.memory.runtime import FIRST_TURNS
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM

TOLD = "My name is Alex, I live in Utrecht and I am allergic to peanuts"
FIRST_FACTS = {"name": "Alex", "location": "Utrecht", "allergies": "peanuts"}


def entry(key: str, value: str, category: str = "identity", line: int = 1, **more: object) -> dict[str, object]:
    return {"line": line, "about": "", "category": category, "key": key, "value": value, "importance": 0.8, **more}


def asks_for_facts(request: Request) -> bool:
    return "facts" in (request.schema or {})["required"]


class Reader(ScriptedLLM):
    """A memory model that finds the `facts` it is given, and is away while `is_away`."""

    def __init__(self) -> None:
        super().__init__(default=self._answer)
        self.facts: list[dict[str, object]] = []
        self.is_away = False

    def _answer(self, request: Request) -> str:
        if self.is_away:
            raise ModelTimeout("away")
        required = (request.schema or {})["required"]
        return json.dumps({"facts": self.facts} if "facts" in required else dict.fromkeys(required, "They talked."))

    @property
    def shown(self) -> list[str]:
        """What it was shown, in each call about facts."""
        return [request.messages[-1]["content"] for request in self.requests if asks_for_facts(request)]


def with_memory(
    tmp_path: Path, use: Callable[[AsyncMemory, Reader], Coroutine[Any, Any, None]], **settings: Any
) -> None:
    async def run() -> None:
        model = Reader()
        options = {"followers": False, "clock": FrozenClock(), **settings}
        async with AsyncMemory(str(tmp_path / "memory.db"), memory=model, **options) as memory:
            await use(memory, model)

    asyncio.run(asyncio.wait_for(run(), 60))


async def say(memory: AsyncMemory, *texts: str, conversation: str = "chat") -> None:
    """Add messages, and work as in the background of a process, once: what waits for the model waits."""
    await memory.conversation(conversation, user="alex").extend([Draft("user", text) for text in texts])
    for follower in memory.runtime.followers.values():
        await follower.step(patient=True)


async def settle_facts(memory: AsyncMemory) -> None:
    """Bring the facts up to date, and no other view."""
    runtime = memory.runtime
    await settle([runtime.followers[name] for name in ("index", "first_facts", "facts")], 60, runtime.calls)


async def facts_by_key(memory: AsyncMemory) -> dict[str, str]:
    return {fact.key: fact.value for fact in await memory.facts(user="alex")}


async def all_facts(memory: AsyncMemory) -> list[Fact]:
    """Every fact, history included."""
    facts = await memory.runtime.read(lambda tx: facts_of(tx, "default", "alex"))
    return sorted(facts, key=lambda fact: fact.id)


@pytest.mark.checklist("G4")
def test_the_first_facts_are_there_before_the_model_has_read_anything(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        await memory.conversation("chat", user="alex").add("user", TOLD)
        while not await memory.facts(user="alex"):  # it waits for nothing: only the followers' loop does the work
            pass
        assert await facts_by_key(memory) == FIRST_FACTS
        assert model.requests == []

    with_memory(tmp_path, use, followers=True)


@pytest.mark.checklist("G4")
def test_a_bot_that_was_just_told_a_name_knows_it(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        chat = memory.conversation("chat", user="alex")
        await chat.add("user", TOLD)
        answer = await chat.command("Bot, what do you know about me?")
        assert answer is not None
        assert {fact.value for fact in answer.facts} == set(FIRST_FACTS.values())
        assert (await memory.ask("Where do I live?", user="alex")).facts[0].value == "Utrecht"
        assert model.shown == []

    with_memory(tmp_path, use, followers=True)


@pytest.mark.checklist("G4")
def test_the_models_words_take_the_place_of_the_rules_under_the_same_key(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        await say(memory, "I work as a nurse on the night shift", "I bought a blue bicycle at the market")
        first = {fact.key: fact for fact in await memory.facts(user="alex")}
        assert "nurse" in first["job"].value
        model.facts = [entry("job", "nurse, night shift"), entry("bicycle", "blue bicycle", "possession", line=2)]
        await settle_facts(memory)
        (job,) = [fact for fact in await all_facts(memory) if fact.key == "job"]
        assert job.value == "nurse, night shift"
        assert job.sources == first["job"].sources
        bicycles = [fact.value for fact in await all_facts(memory) if "bicycle" in fact.value]
        assert bicycles == ["blue bicycle"]

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_what_the_rules_are_sure_of_stays_and_what_the_model_leaves_out_goes(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        await say(memory, TOLD, "I painted the garden fence yesterday")
        assert any("fence" in fact.value for fact in await memory.facts(user="alex"))
        await settle_facts(memory)
        assert await facts_by_key(memory) == FIRST_FACTS

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_what_the_model_says_has_ended_ends(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        await say(memory, "I live in Utrecht", "Utrecht is over for me, the keys are handed in")
        assert await facts_by_key(memory) == {"location": "Utrecht"}
        model.facts = [entry("location", "Utrecht"), entry("location", "Utrecht", line=2, status="ended")]
        await settle_facts(memory)
        assert await facts_by_key(memory) == {}
        (place,) = await all_facts(memory)
        assert not place.active
        assert len(place.sources) == 2

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_the_model_is_shown_as_known_only_what_was_read_before(tmp_path: Path) -> None:
    """It would leave out what is known; and of a value that rules have just replaced it is shown the old one."""

    async def use(memory: AsyncMemory, model: Reader) -> None:
        model.facts = [entry("location", "Berlin")]
        await memory.conversation("chat", user="alex").add("user", "I live in Berlin")
        await settle_facts(memory)
        model.facts = []
        await say(memory, "I moved to Utrecht", "I work as a nurse", conversation="other")
        assert await facts_by_key(memory) == {"location": "Utrecht", "job": "nurse"}
        await settle_facts(memory)
        known = model.shown[-1].partition("=== LINES ===")[0]
        assert "location: Berlin" in known
        assert "Utrecht" not in known
        assert "nurse" not in known

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_the_first_reading_changes_no_call(tmp_path: Path) -> None:
    """Whether rules have read a message before or not, the model is asked the same, as often."""

    async def use(memory: AsyncMemory, model: Reader) -> None:
        texts = [f"I collect stamps of the year {1900 + number}" for number in range(FIRST_TURNS)]
        for text in texts:
            await say(memory, text)
        await settle_facts(memory)
        shown = [*model.shown]
        await memory.conversation("all", user="kim").extend([Draft("user", text) for text in texts])
        facts = memory.runtime.followers["facts"]
        while await facts.step():
            pass
        assert [text.replace("alex", "kim") for text in shown] == model.shown[len(shown) :]

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_a_rebuild_gives_the_same_whoever_read_first(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        model.facts = [entry("location", "Utrecht, near the canal"), entry("bicycle", "blue bicycle", line=2)]
        await say(memory, TOLD + ", near the canal", "I bought a blue bicycle", "I sold my old car")
        await settle_facts(memory)
        before = await all_facts(memory)
        await memory.rebuild("facts")
        assert await memory.facts(user="alex") == []
        await settle_facts(memory)
        assert await all_facts(memory) == before

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_what_is_read_by_rules_goes_with_its_message(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        await say(memory, TOLD)
        chat = memory.conversation("chat", user="alex")
        (message,) = await chat.history()
        await chat.edit(message.id, "I live in Delft")
        await say(memory, "ok")
        assert await facts_by_key(memory) == {"location": "Delft"}
        await chat.delete(message.id)
        assert await facts_by_key(memory) == {}
        await settle_facts(memory)
        assert await all_facts(memory) == []

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_a_late_first_reading_leaves_what_the_model_has_read(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        model.facts = [entry("job", "night nurse")]
        await memory.conversation("chat", user="alex").add("user", "I work as a nurse at night")
        await memory.runtime.followers["facts"].step()
        read_by_model = await all_facts(memory)
        assert await memory.runtime.followers["first_facts"].step() == 1
        assert await all_facts(memory) == read_by_model

    with_memory(tmp_path, use)


@pytest.mark.checklist("G4")
def test_rules_stand_in_while_the_model_is_away_and_its_reading_replaces_theirs(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        model.is_away = True
        await say(memory, "I painted the garden fence yesterday", "I live in Utrecht")
        await settle_facts(memory)
        assert len(await memory.facts(user="alex")) == 2
        model.is_away = False
        clock.advance(timedelta(hours=1))
        await settle_facts(memory)
        assert await facts_by_key(memory) == {"location": "Utrecht"}

    clock = FrozenClock()
    with_memory(tmp_path, use, clock=clock)


def test_what_reads_ahead_is_no_view_of_its_own(tmp_path: Path) -> None:
    async def use(memory: AsyncMemory, model: Reader) -> None:
        assert "first_facts" in memory.runtime.followers
        assert "first_facts" not in memory.views
        assert "first_facts" not in [state.view for state in (await memory.stats()).views]

    with_memory(tmp_path, use)
