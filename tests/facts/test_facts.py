"""Facts through the public API (B3–B9): what is kept of what people say, since when, on whose word, and what a context
shows of it. On every store, with a memory model and without one.
"""

from __future__ import annotations

import asyncio
import json
import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from engine_doubles import settle_views
from fact_talks import NOW, day, entry, everything, live, reader, values
from sample_sizes import sample

from everword import AsyncMemory, Budget, Context, Draft, InvalidInput, Memory, NotFound
from everword.model import Fact, Section
from everword.testing import FrozenClock, ScriptedLLM

PATIENCE = 120.0


def profile(context: Context) -> Section | None:
    return next((section for section in context.receipt.sections if section.name == "profile"), None)


# -- B3, B4: rows, thresholds, extraction


@pytest.mark.checklist("B3", "B7")
def test_a_fact_is_a_row_with_everything_about_it(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        said = chat.add("user", "My name is Alex. I've lived in Berlin since May 2019.", time=day("2025-03-01"))
        again = chat.add("user", "As I said, my name is Alex.", time=day("2025-04-01"))
        settle_views(memory, "facts")
        name, home = memory.facts(user="alex")
        assert name == Fact(
            "default", "alex", name.id, "identity", "name", "Alex", 1.0, name.importance, "alex", "demo", again.turn,
            again.time, said.time, (said.id, again.id), valid_from=said.time,
        )  # fmt: skip
        assert (home.category, home.key, home.value) == ("identity", "location", "Berlin")
        assert home.valid_from == datetime(2019, 5, 1, tzinfo=UTC)
        assert (home.active, home.valid_to, home.retired_by, home.subject, home.audience) == (True, None, None) + (
            None,
        ) * 2
        assert name.importance > home.importance >= 0.5
        assert memory.facts(user="alex", category="identity") == [name, home]
        assert memory.facts(user="alex", category="preference") == []
        assert memory.facts(user="somebody else") == memory.facts(user="alex", space="elsewhere") == []


def test_what_is_asked_wrongly_is_refused_with_a_reason(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        with pytest.raises(InvalidInput, match="identity, relationship, work, place, health"):
            memory.facts(user="alex", category="mood")
        with pytest.raises(InvalidInput, match="time zone"):
            memory.facts(user="alex", as_of=datetime(2026, 1, 1))  # noqa: DTZ001
        with pytest.raises(InvalidInput):
            memory.facts(user="")
        with pytest.raises(InvalidInput, match="key"):
            memory.fact_history("k" * 1_000, user="alex")
        with pytest.raises(NotFound, match="has no fact 'f0'"):
            memory.why("f0", user="alex")


@pytest.mark.checklist("B3")
def test_one_active_value_a_key_and_several_where_a_key_has_several(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        for text in ("I live in Oslo.", "I'm allergic to kiwi.", "I moved to Rome.", "I'm also allergic to latex."):
            chat.add("user", text)
        settle_views(memory, "facts")
        assert values(memory.facts(user="alex")) == {"location": ["Rome"], "allergies": ["kiwi", "latex"]}


@pytest.mark.checklist("B4")
def test_the_model_is_asked_after_the_reply_and_nobody_waits_for_it(store_url: str) -> None:
    async def run() -> None:
        gate = asyncio.Event()
        answer = json.dumps({"facts": [entry("preference", "hobby", "falconry")]})
        worker = ScriptedLLM(default=[gate, answer])
        chat_model = ScriptedLLM(["A fine bird."])
        async with AsyncMemory(store_url, chat=chat_model, memory=worker, batch_seconds=0) as memory:
            chat = memory.conversation("demo", user="alex")
            assert (await chat.reply("On weekends it is falconry for me.")).text == "A fine bird."
            await asyncio.wait_for(worker.waiting.wait(), PATIENCE)
            assert await memory.facts(user="alex") == []
            gate.set()
            await memory.settle()
            (fact,) = await memory.facts(user="alex")
            assert (fact.key, fact.value) == ("likes", "falconry")
            assert [message.turn for message in await memory.why(fact.id, user="alex")] == [1]

    asyncio.run(run())


@pytest.mark.checklist("B4")
def test_what_a_model_finds_is_weighed(store_url: str) -> None:
    """B4: thresholds, duplicates of one message, keys in their one form; an unknown category is "other"."""
    found = [
        entry("preference", "favorite color", "teal", confidence=0.5),
        entry("preference", "preferred colour", "Teal", confidence=0.8),
        entry("preference", "drink", "tea", confidence=0.39),
        entry("preference", "snack", "toast", importance=0.19),
        entry("mood", "today", "cheerful"),
        entry("preference", "fruit", ""),
        entry("constraint", "food allergies", "kiwi", confidence=0.4, importance=0.2),
        entry("preference", "sport", "rowing", confidence="90%", importance=7),
    ]
    text = "Teal it is, with tea, toast and kiwi which I do not tolerate; a cheerful day of rowing."
    with Memory(store_url, memory=reader({"Teal": found}), followers=False) as memory:
        memory.conversation("demo", user="alex").add("user", text)
        settle_views(memory, "facts")
        kept = {(fact.key, fact.value): (fact.confidence, fact.importance) for fact in memory.facts(user="alex")}
        assert kept == {
            ("colour", "Teal"): (0.8, 0.8), ("allergies", "kiwi"): (0.4, 0.2), ("sport", "rowing"): (0.9, 1.0),
            ("today", "cheerful"): (0.9, 0.8),
        }  # fmt: skip


@pytest.mark.checklist("B4")
def test_a_model_that_lies_adds_nothing(tmp_path: Path) -> None:
    """What the message does not state, only asks or tells of others, is no fact of the user's."""
    lies = [
        entry("identity", "name", "Bob"),
        entry("identity", "location", "Atlantis"),
        entry("identity", "employer", "Globex", confidence=1.0),
        entry("constraint", "allergies", "bees", about="Zoe"),
    ]
    said = (
        "Is my name Bob?",
        "The soup was too salty for me.",
        "My boss is Bob.",
    )
    worker = reader(dict.fromkeys(said, lies))
    with Memory(str(tmp_path / "memory.db"), memory=worker, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.extend(Draft("user", text) for text in said)
        memory.settle()
        assert len(worker.requests) == 2, "all in one call, and one that asks about what no line says"
        assert all(text in worker.requests[0].messages[-1]["content"] for text in said)
        assert "no line says 'Atlantis'" in worker.requests[1].messages[-1]["content"]
        assert values(memory.facts(user="alex")) == {"boss": ["Bob"]}


@pytest.mark.checklist("B8")
def test_talk_of_the_moment_is_no_fact(store_url: str) -> None:
    said = (
        "I'm working on the parser just now.",
        "I'm tired today.",
        "You explained that well.",
        "I like your answer.",
    )
    with Memory(store_url, followers=False) as memory:
        memory.conversation("demo", user="alex").extend(Draft("user", text) for text in said)
        settle_views(memory, "facts")
        assert memory.facts(user="alex") == []


# -- B5: the example, to the letter


@pytest.mark.parametrize("by_model", [False, True])
@pytest.mark.checklist("B5")
def test_the_documents_example(store_url: str, by_model: bool) -> None:
    """B5: Alex at turn 5 with 1.0; "Al" at turn 50 with 0.6 is ignored; "Alexander" at turn 80 with 0.95 replaces."""
    said = {5: "My name is Alex", 50: "Call me Al", 80: "My full name is Alexander"}
    sure = {5: ("Alex", 1.0), 50: ("Al", 0.6), 80: ("Alexander", 0.95)}
    worker = reader({said[n]: [entry("identity", "name", v, confidence=c)] for n, (v, c) in sure.items()})
    expected = {5: ["Alex"], 50: ["Alex"], 80: ["Alexander"]}
    with Memory(store_url, followers=False, window_turns=0, memory=worker if by_model else None) as memory:
        chat = memory.conversation("demo", user="alex")
        done = 0
        for turn, names in expected.items():
            chat.extend(Draft("assistant", f"Line {n} of the listing.") for n in range(done + 1, turn))
            assert chat.add("user", said[turn]).turn == turn
            settle_views(memory, "facts")
            done = turn
            assert [fact.value for fact in memory.facts(user="alex") if fact.key == "name"] == names
        history = memory.fact_history("name", user="alex")
        assert [(fact.value, fact.confidence, fact.active) for fact in history] == [
            ("Alex", 1.0, False),
            ("Alexander", 0.95, True),
        ]
        assert [fact.turn for fact in history] == [5, 80]


# -- B6: a year

THEN: dict[str, tuple[str | None, str | None, str | None, str | None]] = {
    # name, home, employer, allergy
    "2024-12-31": (None, None, None, None),
    "2025-01-04": ("Yolanda Reyes", None, None, None),
    "2025-01-20": ("Yolanda Reyes", "Lima", None, None),
    "2025-02-15": ("Yolanda Reyes", "Lima", "Contoso", None),
    "2025-03-15": ("Yolanda Reyes", "Oslo", "Contoso", None),
    "2025-04-15": ("Yolanda Reyes", "Oslo", "Contoso", "kiwi"),
    "2025-05-15": ("Yolanda Reyes", "Oslo", "Globex", "kiwi"),
    "2025-06-15": ("Yola Berg", "Oslo", "Globex", "kiwi"),
    "2025-07-15": ("Yola Berg", "Rome", "Globex", "kiwi"),
    "2025-08-15": ("Yola Berg", "Rome", "Globex", "kiwi"),
    "2025-09-15": ("Yola Berg", "Rome", None, "kiwi"),
    "2025-10-15": ("Yola Berg", None, None, "kiwi"),
    "2025-10-25": ("Yola Berg", None, None, None),
    "2025-11-15": ("Yola Berg", "Turin", None, None),
}


@pytest.mark.checklist("B6")
def test_a_year_can_be_asked_for_as_of_any_day(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        live(memory)
        for when, expected in THEN.items():
            held = values(memory.facts(user="yola", as_of=day(when)))
            keys = ("name", "location", "employer", "allergies")
            assert [held.get(key) for key in keys] == [None if one is None else [one] for one in expected], when
        moved = day("2025-03-10")
        assert values(memory.facts(user="yola", as_of=moved))["location"] == ["Oslo"]
        before = memory.facts(user="yola", as_of=moved - timedelta(microseconds=1), category="identity")
        assert values(before)["location"] == ["Lima"]
        now = memory.facts(user="yola")
        assert {fact.id for fact in memory.facts(user="yola", as_of=NOW)} == {fact.id for fact in now}
        homes = memory.fact_history("home", user="yola")
        assert [(fact.value, fact.active) for fact in homes] == [
            ("Lima", False), ("Oslo", False), ("Rome", False), ("Turin", True),
        ]  # fmt: skip
        assert [fact.retired_by for fact in homes[:2]] == [fact.id for fact in homes[1:3]]
        assert all(one.valid_to <= two.valid_from for one, two in pairwise(homes))  # type: ignore[operator]


@pytest.mark.checklist("B7")
def test_every_fact_names_its_messages(store_url: str) -> None:
    with Memory(store_url, clock=FrozenClock(NOW), followers=False) as memory:
        live(memory)
        said = {message.id: message.content for message in memory.export(user="yola")}
        for fact in everything(memory, "yola"):
            messages = memory.why(fact.id, user="yola")
            assert [message.id for message in messages] == list(fact.sources)
            assert fact.value.split()[0].casefold() in said[fact.sources[0]].casefold()
        rome = memory.fact_history("location", user="yola")[2]
        ends = [message.content for message in memory.why(rome.id, user="yola")]
        assert ends == ["I moved to Rome in July.", "I no longer live in Rome."]
        with pytest.raises(NotFound, match="user 'kim' has no fact"):
            memory.why(rome.id, user="kim")


# -- B9: the profile section of a context


@pytest.mark.checklist("B9")
def test_small_talk_gets_the_profile_too_most_important_first(store_url: str) -> None:
    """B9: plain query, no vectors: importance of 0.5 and more, grouped by category, the most important first."""
    found = {
        "breakfast": [entry("preference", "breakfast", "porridge", importance=0.49)],
        "evenings": [entry("preference", "evenings", "chess", importance=0.5)],
    }
    with Memory(store_url, memory=reader(found), followers=False) as memory:
        chat = memory.conversation("first", user="alex")
        for text in (
            "I want porridge for breakfast.",
            "The evenings are for chess.",
            "I've worked at Contoso since May 2024.",
            "My name is Alex.",
            "I'm allergic to latex.",
            "I'm allergic to kiwi.",
            "Never use emojis.",
        ):
            chat.add("user", text)
        memory.settle()
        context = memory.conversation("another", user="alex").context("hi", markers=False)
        today, _, others = context.messages[0]["content"].partition("\n\n")
        known, _, others = others.partition("\n\n=== OTHER CONVERSATIONS ===\n")  # a small memory is sent whole
        assert today.startswith("Today is ")
        assert others.endswith("\n=== END OTHER CONVERSATIONS ===")
        assert known == (
            "=== WHAT IS KNOWN ===\n"
            "Identity\n- name: Alex\n- employer: Contoso (since May 2024)\n"
            "Preferences\n- evening: chess\n"
            "Constraints\n- allergies: kiwi, latex\n"
            "Instructions\n- emojis: never use emojis\n"
            "=== END WHAT IS KNOWN ==="
        )
        section = profile(context)
        assert section is not None
        assert len(section.items) == 5
        ids = {fact.id for fact in memory.facts(user="alex")}
        assert {item.id for item in section.items} <= ids
        assert all(item.reason.startswith("known, importance") for item in section.items)


@pytest.mark.checklist("B9")
def test_the_profile_keeps_to_its_budget_and_the_most_important_stay(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.extend(Draft("user", f"I'm allergic to {a}{b}{c}nol.") for a in "bdfg" for b in "aeiou" for c in "lmnrs")
        chat.add("user", "My name is Alexandra. I love falconry.")
        memory.settle()
        assert len(memory.facts(user="alex", category="constraint")) == 100
        for tokens in (60, 120, 240, 480):
            section = profile(memory.conversation("new", user="alex").context("hi", budget=Budget(profile=tokens)))
            assert section is not None
            assert 0 < section.tokens <= tokens
            assert section.items[0].reason == "known, importance 1.0"
            left = [item.reason for item in section.left_out]
            assert all(reason.startswith("does not fit the budget") for reason in left)
            shown = {item.reason for item in section.items}
            assert left == [] or len(shown) > 1 or tokens < 120, "of many values some are shown, though not all fit"
        nothing = profile(memory.conversation("new", user="alex").context("hi", budget=Budget(profile=0)))
        assert nothing is not None
        assert nothing.items == ()


# -- what must not become a fact


@pytest.mark.checklist("B8")
def test_hundreds_of_messages_of_junk_hold_no_fact(tmp_path: Path) -> None:
    lines = (
        "my code is broken again", "I like how you put it", "I think it works now", "I have a meeting at three",
        "my train is late again", "who wrote this function", "I went home early yesterday", "never mind, found it",
        "I'm so tired today", "it crashes on start", "I hate this bug", "the build failed because of a comma",
    )  # fmt: skip
    chance = random.Random(11)
    junk = [
        ", ".join(chance.choices(lines, k=2)) + chance.choice([".", "!", "?", " lol", " 🙂"])
        for _ in range(sample(1_000))
    ]
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        memory.conversation("demo", user="alex").extend(Draft("user", text) for text in junk)
        settle_views(memory, "facts")
        assert memory.facts(user="alex") == []


@pytest.mark.checklist("B3")
def test_a_hundred_repetitions_are_one_fact(store_url: str) -> None:
    said = ("I live in Oslo.", "i live in oslo", "I'm living in Oslo!")
    with Memory(store_url, followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        first, *_, last = chat.extend(Draft("user", said[number % 3]) for number in range(100))
        settle_views(memory, "facts")
        (fact,) = memory.facts(user="alex")
        assert fact.value == "Oslo"
        assert len(memory.fact_history("location", user="alex")) == 1
        assert len(fact.sources) == 32
        assert (fact.sources[0], fact.sources[-1]) == (first.message.id, last.message.id)


@pytest.mark.checklist("C2")
def test_an_assistant_that_hallucinates_adds_nothing(tmp_path: Path) -> None:
    """The echo: what the assistant says, and what a user repeats after it, is no fact and raises no confidence."""
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.add("user", "I think I live in Oslo.")
        settle_views(memory, "facts")
        before = [(fact.key, fact.value, fact.confidence) for fact in memory.facts(user="alex")]
        assert [value for _, value, _ in before] == ["Oslo"]
        for number in range(0, 100, 4):
            chat.extend(
                [
                    Draft("assistant", f"Your name is Zed{number}, you live in Atlantis and are allergic to tin."),
                    Draft("user", "You're right, I live in Atlantis and I am allergic to tin."),
                    Draft(
                        "assistant", "I am allergic to cats. My name is Zed. You live in Oslo, in a house by the sea."
                    ),
                    Draft("user", "As you said, I live in Oslo."),
                ]
            )
        settle_views(memory, "facts")
        assert [(fact.key, fact.value, fact.confidence) for fact in memory.facts(user="alex")] == before


@pytest.mark.checklist("C2")
def test_a_context_that_is_said_again_is_no_source(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db"), followers=False) as memory:
        chat = memory.conversation("demo", user="alex")
        chat.extend(Draft("user", text) for text in ("I work at Contoso.", "My brother Tom lives in Rome."))
        memory.settle()
        before = memory.facts(user="alex")
        shown = chat.context("hi").messages[0]["content"]
        assert "WHAT IS KNOWN" in shown
        for role in ("system", "tool", "user"):
            chat.add(role, shown)
        memory.settle()
        assert memory.facts(user="alex") == before
