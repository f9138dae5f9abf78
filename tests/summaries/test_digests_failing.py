"""Digests when something fails: the profile is never lost, others stay whole, nobody waits for ever, nothing is made
twice; and what stood in is replaced."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from call_log import CallLog
from digest_doubles import DAY, HOUR, NOON, Scribe, clock_at
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_programs import PreparedProgram
from sample_sizes import sample

from everword import (
    AsyncMemory,
    ConfigError,
    EverwordError,
    Memory,
    ModelBusy,
    ModelRefused,
    ModelTimeout,
    Settings,
)
from everword.log.append_and_read import DIGESTING
from everword.testing import ScriptedLLM
from everword.testing.doubles import Said
from everword.testing.samples import claim_place
from everword.wiring import open_store

CHILD = Path(__file__).parent / "data" / "digesting_child.py"
TODAY = NOON.date()
MEMBERS = ("ann", "bob", "cyd")
FAULTS: list[Said] = [
    ModelTimeout("no answer"),
    ModelBusy("too many"),
    ModelRefused("no"),
    "this is no JSON",
    json.dumps({"members": [{"id": "nobody", "summary": "A stranger was here."}]}),
    json.dumps({"members": [{"id": "ann", "summary": "Only ann matters."}], "summary": "Everything is fine here."}),
    json.dumps({"summary": "They met Xenophon and Yggdrasil in Zanzibar and Timbuktu."}),
]


async def told(memory: AsyncMemory, day: int) -> None:
    for user in MEMBERS:
        await memory.conversation("c").add("user", f"my mark is {user}mark, on round {day}", author=user)


@settings(max_examples=sample(14))
@given(st.dictionaries(st.integers(1, 16), st.sampled_from(FAULTS), max_size=16), st.booleans())
@pytest.mark.checklist("C7")
def test_whatever_fails_everybody_has_their_profile_and_only_their_own(faults: dict[int, Said], later: bool) -> None:
    """C7: of any calls that fail in any way; asked for all at once, and again after a pause."""

    async def main(folder: str) -> None:
        clock, scribe = clock_at(), Scribe(faults)
        async with AsyncMemory(f"{folder}/m.db", clock=clock, memory=scribe, followers=False) as memory:
            for user in MEMBERS:
                await memory.remember(f"{user} keeps a {user}pet", user=user)
            for day in range(3):
                await told(memory, day)
                clock.advance(DAY)
            await told(memory, 3)
            for _ in range(2 if later else 1):
                profiles = await asyncio.gather(*(memory.profile(user=user) for user in MEMBERS))
                for user, profile in zip(MEMBERS, profiles, strict=True):
                    assert f"{user}pet" in profile.text
                    assert f"{user}pet" in profile.context
                    assert profile.today is not None
                    assert profile.history is not None
                    others = [other for other in MEMBERS if other != user]
                    assert not any(f"{other}{what}" in profile.context for other in others for what in ("pet", "mark"))
                clock.advance(HOUR)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(folder))


@pytest.mark.checklist("C7")
def test_a_stand_in_is_replaced_when_the_model_is_back(store_url: str) -> None:
    """C7, C4: marked, tried again after a pause that grows and not before, one day by itself."""
    clock, scribe = clock_at(), Scribe(kinds={"day": ModelTimeout("away")})
    with Memory(store_url, clock=clock, memory=scribe, followers=False) as memory:
        memory.conversation("c").add("user", "look, a zebra in the yard", author="ann")
        for _ in range(3):
            (found,) = memory.digests()
            assert (found.made_by, found.pending) == ("offline", True)
            assert "zebra" in found.text
        assert scribe.since() == {"day": 1}, "the pause is not over"
        clock.advance(timedelta(minutes=1))
        memory.digests()
        clock.advance(timedelta(seconds=1))
        memory.digests()
        assert scribe.since() == {"day": 1}, "it has grown"
        scribe.kinds.clear()
        clock.advance(timedelta(minutes=1))
        (found,) = memory.digests()
        assert (found.made_by, found.pending, scribe.since()) == ("model", False, {"day": 1})
        memory.conversation("c").add("user", "I saw a giraffe", author="ann")
        clock.advance(HOUR)
        scribe.kinds["day"] = ModelBusy("busy")
        (after,) = memory.digests()
        assert (after.text, after.made_by, after.pending) == (found.text, "model", True), "the last good one"


@pytest.mark.checklist("C7")
def test_without_a_model_everything_is_there_and_a_model_writes_it_later(store_url: str) -> None:
    clock = clock_at()
    with Memory(store_url, clock=clock, followers=False) as memory:
        memory.remember("ann lives in Oslo", user="ann")
        for day in ("Monday", "Tuesday", "Wednesday"):
            memory.conversation("c").add("user", f"On {day} I baked a cake for the team.", author="ann")
            clock.advance(DAY)
        memory.conversation("c").add("user", "🎂", author="bob")
        memory.conversation("c").add("user", "Today I rest.", author="ann")
        known = memory.profile(user="ann")
        assert known.context.startswith(known.text)
        assert "Today: ann: Today I rest." in known.context
        assert known.history is not None
        assert all(day in known.history.text for day in ("Monday", "Wednesday"))
        assert memory.profile(user="bob").context == "bob: 🎂"
    scribe = Scribe()
    with Memory(store_url, clock=clock, memory=scribe, followers=False) as memory:
        assert "All in all" in memory.profile(user="ann").context
        assert scribe.since() == {"day": 4, "week": 1, "merge": 1}


@pytest.mark.checklist("C7")
def test_one_member_left_out_has_their_own_words(store_url: str) -> None:
    only = json.dumps({"members": [{"id": "ann", "summary": "ann saw a zebra"}, {"id": "eve", "summary": "a spy"}]})
    with Memory(store_url, clock=clock_at(), memory=Scribe(kinds={"day": only}), followers=False) as memory:
        memory.conversation("c").add("user", "look, a zebra in the yard", author="ann")
        memory.conversation("c").add("user", "I saw a giraffe", author="bob")
        ann, bob = memory.digests()
        assert (ann.text, ann.made_by) == ("ann saw a zebra", "model")
        assert (bob.text, bob.made_by, bob.pending) == ("bob: I saw a giraffe.", "offline", False)


@pytest.mark.checklist("C13")
def test_nobody_waits_longer_than_they_can_and_the_work_goes_on(store_url: str) -> None:
    """C13, C7: the last good value meanwhile; nothing is begun for who does not wait at all."""

    async def main() -> None:
        clock, gate = clock_at(), asyncio.Event()
        scribe = Scribe()
        options: dict[str, Any] = {"followers": False, "context_digest_seconds": 0.3}
        async with AsyncMemory(store_url, clock=clock, memory=scribe, **options) as memory:
            await memory.conversation("c").add("user", "look, a zebra in the yard", author="ann")
            assert (await memory.profile(user="ann", wait=0)).context == ""
            assert scribe.since() == {}
            assert "zebra" in (await memory.profile(user="ann")).context
            await memory.conversation("c").add("user", "I saw a giraffe", author="ann")
            clock.advance(HOUR)
            scribe.kinds["day"] = [gate, json.dumps({"members": [{"id": "ann", "summary": "ann saw a giraffe"}]})]
            late = await memory.profile(user="ann", wait=0.01)
            assert "zebra" in late.context
            await scribe.waiting.wait()
            context = await memory.conversation("c").context("And?")
            assert "zebra" in context.messages[0]["content"].partition("END WHAT IS KNOWN")[0]
            gate.set()
            assert "giraffe" in (await memory.profile(user="ann")).context
            assert scribe.since() == {"day": 2}

    asyncio.run(main())


def test_closing_gives_up_what_is_under_way_and_leaves_no_lease(store_url: str) -> None:
    async def main() -> None:
        clock, scribe = clock_at(), Scribe(kinds={"day": [asyncio.Event(), "never"]})
        memory = AsyncMemory(store_url, clock=clock, memory=scribe, followers=False)
        async with memory:
            await memory.conversation("c").add("user", "look, a zebra in the yard", author="ann")
            asked = asyncio.create_task(memory.digests())
            await scribe.waiting.wait()
        assert await asyncio.gather(asked, return_exceptions=True)
        async with AsyncMemory(store_url, clock=clock, memory=Scribe(), followers=False) as again:
            assert [one.made_by for one in await again.digests()] == ["model"]

    asyncio.run(main())


@pytest.mark.every_store
@pytest.mark.checklist("C13")
def test_a_lease_of_a_process_that_died_is_taken_over(store_url: str) -> None:
    clock, scribe = clock_at(), Scribe()
    store = open_store(store_url, Settings())
    with Memory(store, clock=clock, memory=scribe, followers=False) as memory:
        memory.conversation("c").add("user", "look, a zebra in the yard", author="ann")
        until = NOON + timedelta(minutes=1)
        store.write(lambda tx: claim_place(tx, DIGESTING, "default", f"day {TODAY} UTC", "a dead one", NOON, until))
        assert memory.digests(wait=0.1) == [], "somebody else is at it"
        clock.advance(timedelta(minutes=1))
        assert [one.user for one in memory.digests()] == ["ann"]
        assert scribe.since() == {"day": 1}
        left = store.read(lambda tx: tx.rows("leases", where={"view": DIGESTING}))
        assert left == []


@pytest.mark.checklist("C13")
def test_two_processes_that_ask_at_once_make_one_call(postgres_url: str) -> None:
    with Memory(postgres_url, clock=clock_at(), followers=False) as memory:
        memory.conversation("c").add("user", "look, a zebra in the yard", author="ann")
        memory.conversation("c").add("user", "I saw one, too: a zebra", author="bob")
        memory.settle()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    children = [
        PreparedProgram([sys.executable, str(CHILD), postgres_url, user], text=True, bufsize=1, **pipes)  # type: ignore[call-overload]
        for user in ("ann", "bob")
    ]
    try:
        for child in children:
            assert child.stdout.readline() == "asking\n"
        answers = []
        for child in children:  # whoever holds the lease waits for a line; the other waits for it
            child.stdin.write("go\n")
            child.stdin.close()
        for child in children:  # not by `communicate`: it would miss what came together with the first line
            with child.stdout:
                answers.append(child.stdout.read())
            child.wait(timeout=120)
        assert sum(out.count("called") for out in answers) == 1, answers
        assert [out.splitlines()[-1] for out in answers] == ["got All of them saw a zebra."] * 2
    finally:
        for child in children:
            child.kill()


# -- roles


@pytest.mark.checklist("C9")
def test_small_merges_have_a_model_of_their_own_and_each_a_chain(store_url: str) -> None:
    """C9: batch summaries and small merges; without one of its own, the memory model does both."""
    clock, batch, small = clock_at(), Scribe(), Scribe()
    with Memory(store_url, clock=clock, memory=batch, small=small, followers=False) as memory:
        memory.remember("ann lives in Oslo", user="ann")
        for _ in range(3):
            memory.conversation("c").add("user", "look, a zebra in the yard", author="ann")
            memory.profile(user="ann")
            clock.advance(DAY)
        assert batch.since() == {"day": 3}
        assert small.since() == {"week": 1, "merge": 3}


@pytest.mark.checklist("C9")
def test_the_models_of_a_role_are_tried_in_order() -> None:
    from everword.models.chat.roles import Cooldowns, Role, TaskRouter
    from everword.ports import Request
    from everword.wiring import small_models

    given = Settings.load(environ={}, small_url="http://localhost:1/v1", small_model="one, two@http://localhost:2/v1")
    assert [model.name.partition(" ")[0].partition("@")[0] for model in small_models(given)] == ["one", "two"]
    assert small_models(Settings()) == []
    down = ScriptedLLM(default=ModelTimeout("down"), name="down")
    other = Role("memory", [down, ScriptedLLM(default="small", name="up")], CallLog(), cooldowns=Cooldowns())
    shared = TaskRouter(Role("memory", [ScriptedLLM(default="big")], CallLog()), other, ("context_merge",))

    async def ask(task: str) -> str:
        return (await shared.for_task(task).complete(Request([]))).text

    assert [asyncio.run(ask(task)) for task in ("day_digest", "context_merge", "")] == ["big", "small", "big"]


def test_a_wrong_time_zone_is_refused_at_once(store_url: str) -> None:
    with pytest.raises(ConfigError, match="is not known; use an IANA name such as Europe/Berlin"):
        Memory(store_url, time_zone="Mars/Olympus")
    with pytest.raises(EverwordError):
        Memory(store_url, time_zone="../../etc/passwd")
