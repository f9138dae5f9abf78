"""Facts hold a life (F6–F9): through the public API, with a scripted model that answers as a good one would.

One memory is open for most of these tests, and each has a person of its own in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cli_driver import json_lines, succeeded
from engine_doubles import settle_facts
from fact_talks import entry, values

from everword import Draft, Memory
from everword.model import FACT_CATEGORIES, Fact, FactCategory, Role
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Life:
    """A memory, and the answers of its model: by words that a line has, what a model finds there."""

    def __init__(self, memory: Memory, model: ScriptedLLM, clock: FrozenClock, found: dict[str, list[Any]]) -> None:
        self.memory = memory
        self.model = model
        self.clock = clock
        self.found = found

    def say(self, user: str, *lines: str, finds: dict[str, list[Any]] | None = None, days: int = 1) -> list[Fact]:
        """Lines of a person's chat, "> …" by the assistant; then what is known. The model finds what it is told to."""
        self.found.clear()
        self.found |= finds or {}
        chat = self.memory.conversation(f"chat of {user}", user=user)
        for line in lines:
            self.clock.advance(timedelta(seconds=20))
            role: Role = "assistant" if line.startswith("> ") else "user"
            chat.add(role, line.removeprefix("> "), time=self.clock.now())
        settle_facts(self.memory)
        self.clock.advance(timedelta(days=days))
        return self.memory.facts(user=user)

    def readings(self) -> list[str]:
        """What the model was shown in each call about facts."""
        return [
            request.messages[-1]["content"]
            for request in self.model.requests
            if "facts" in (request.schema or {}).get("required", ())
        ]


def answer_lines(found: dict[str, list[Any]], request: Request) -> str:
    """For each new line with these words, the facts in it, with the line's number."""
    shown = request.messages[-1]["content"].splitlines()
    facts = []
    for line in shown:
        number, _, text = line.partition(". ")
        if number.isdecimal():
            facts += [
                {**fact, "line": int(number)} for words, several in found.items() if words in text for fact in several
            ]
    return json.dumps({"facts": facts})


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    found: dict[str, list[Any]] = {}
    model = ScriptedLLM(default=lambda request: answer_lines(found, request))
    clock = FrozenClock(NOW)
    address = str(tmp_path_factory.mktemp("life") / "memory.db")
    with Memory(address, memory=model, clock=clock, followers=False) as memory:
        yield Life(memory, model, clock, found)


def active(facts: list[Fact], *keys: str) -> dict[str, list[str]]:
    return {key: several for key, several in values(facts).items() if not keys or key in keys}


# -- what used to be dropped


@pytest.mark.parametrize("about", ["mother", "mom", "my mom"])
@pytest.mark.checklist("F6")
def test_what_is_said_of_mom_is_kept(life: Life, about: str) -> None:
    facts = life.say(
        f"dana {about}",
        "My mom teaches pottery in Ghent.",
        finds={"pottery": [entry("work", "job", "teaches pottery", about=about)]},
    )
    assert {(fact.subject, fact.value) for fact in facts} == {("mother", "teaches pottery")}


@pytest.mark.parametrize(
    ("line", "category", "key", "value"),
    [
        ("I've been working in IT for a while.", "work", "field", "IT"),
        ("The hearing is on 23 May.", "event", "hearing", "on 23 May"),
        ("Nothing beats The Who on a long drive.", "preference", "band", "The Who"),
        ("By the way, my blood type is A negative.", "health", "blood type", "A negative"),
    ],
)
@pytest.mark.checklist("F6")
def test_capitalised_small_words_are_no_inventions(
    life: Life, line: str, category: FactCategory, key: str, value: str
) -> None:
    facts = life.say(f"cap {value}", line, finds={line: [entry(category, key, value)]})
    assert (category, key, value) in {(fact.category, fact.key, fact.value) for fact in facts}


@pytest.mark.checklist("F8")
def test_a_relative_day_that_the_model_works_out_is_kept(life: Life) -> None:
    day = (life.clock.now() - timedelta(days=2)).date()
    facts = life.say(
        "nils",
        "I sprained my ankle two days ago.",
        finds={"ankle": [{**entry("event", "injury", "sprained his ankle"), "from": day.isoformat()}]},
    )
    (fact,) = [fact for fact in facts if fact.category == "event"]
    assert fact.valid_from is not None
    assert fact.valid_from.date() == day


@pytest.mark.checklist("F7")
def test_an_answer_is_understood_with_its_question(life: Life) -> None:
    before = len(life.readings())
    facts = life.say(
        "olga", "> Any allergies?", "Yes, peanuts", finds={"peanuts": [entry("health", "allergy", "peanuts")]}
    )
    assert active(facts) == {"allergies": ["peanuts"]}
    shown = life.readings()[before]
    assert "- assistant: Any allergies?\n1. olga: Yes, peanuts" in shown


# -- time


@pytest.mark.checklist("F8")
def test_a_move_to_come_does_not_end_the_present_home(life: Life) -> None:
    life.say("pia", "I live in Utrecht.", finds={"Utrecht": [entry("identity", "location", "Utrecht")]})
    lyon = {**entry("identity", "location", "Lyon", status="corrected"), "from": "2027-03-01"}
    facts = life.say("pia", "We will move to Lyon on 1 March 2027.", finds={"Lyon": [lyon]})
    assert [fact.value for fact in facts if fact.category == "identity"] == ["Utrecht"]
    assert [fact.value for fact in facts if fact.category == "plan"] == ["Lyon"]
    before, after = datetime(2027, 2, 28, tzinfo=UTC), datetime(2027, 3, 2, tzinfo=UTC)
    assert active(life.memory.facts(user="pia", as_of=before), "location") == {"location": ["Utrecht"]}
    assert active(life.memory.facts(user="pia", as_of=after), "location") == {"location": ["Lyon"]}


@pytest.mark.parametrize(
    ("first", "then", "key", "category", "values_then"),
    [
        (("I'm 29.", "29", "now"), ("I'm 30 now!", "30", "now"), "age", "identity", ["30"]),
        (("I'm vegetarian.", "vegetarian", "now"), ("I'm pescatarian now.", "pescatarian", "now"), "diet",
         "constraint", ["pescatarian"]),
        (("We have a cat called Mia.", "Mia (cat)", "now"), ("Sad news: my cat died.", "cat", "ended"), "pets",
         "identity", []),
        (("I drive an old Volvo.", "old Volvo", "now"), ("I sold the Volvo.", "Volvo", "ended"), "car", "possession",
         []),
    ],
)  # fmt: skip
@pytest.mark.checklist("F8")
def test_what_changes_or_ends_does(
    life: Life, first: Any, then: Any, key: str, category: FactCategory, values_then: list[str]
) -> None:
    user = f"change {key}"
    for line, value, status in (first, then):
        facts = life.say(user, line, finds={line: [entry(category, key, value, status=status)]})
    assert active(facts, key) == ({key: values_then} if values_then else {})
    assert len(life.memory.fact_history(key, user=user)) == len(values_then) + 1


@pytest.mark.checklist("F8")
def test_what_was_sold_is_known_by_another_key(life: Life) -> None:
    life.say("rolf", "I bought a red canoe.", finds={"canoe": [entry("possession", "boat", "red canoe")]})
    ended = entry("possession", "sold items", "canoe", status="ended")
    assert life.say("rolf", "I sold the canoe.", finds={"canoe": [ended]}) == []


# -- many values


@pytest.mark.checklist("F6")
def test_a_second_goal_or_thing_does_not_retire_the_first(life: Life) -> None:
    finds = {
        "Spanish": [entry("identity", "goal", "learn Spanish")],
        "piano": [entry("identity", "goal", "play the piano")],
        "bike": [entry("possession", "owns", "a cargo bike")],
        "kayak": [entry("possession", "owns", "a blue kayak")],
    }
    facts = life.say(
        "sam", "I mean to learn Spanish.", "One day I want to play the piano.", "I own a cargo bike.",
        "And a blue kayak, I love it.", finds=finds,
    )  # fmt: skip
    assert active(facts, "goal") == {"goal": ["learn Spanish", "play the piano"]}
    assert active(facts, "own", "owns").popitem()[1] == ["a blue kayak", "a cargo bike"]


@pytest.mark.parametrize("category", ["work", "place", "other", "identity"])
@pytest.mark.checklist("F6")
def test_a_known_key_has_one_value_whatever_it_is_filed_under(life: Life, category: FactCategory) -> None:
    life.say(f"tom {category}", "I live in Ghent.", finds={"Ghent": [entry("identity", "location", "Ghent")]})
    facts = life.say(f"tom {category}", "I moved to Namur.", finds={"Namur": [entry(category, "lives in", "Namur")]})
    assert active(facts, "location") == {"location": ["Namur"]}


@pytest.mark.checklist("F6")
def test_an_unknown_category_becomes_other(life: Life) -> None:
    facts = life.say("uma", "I believe in luck.", finds={"luck": [entry("belief", "belief", "believes in luck")]})
    assert [(fact.category, fact.value) for fact in facts] == [("other", "believes in luck")]


# -- people


@pytest.mark.checklist("F6")
def test_each_person_in_a_channel_has_their_facts_and_an_assistant_none(life: Life) -> None:
    life.found.clear()
    life.found |= {
        "violin": [entry("preference", "plays", "the violin", about="vera")],
        "drums": [entry("preference", "plays", "the drums", about="wim")],
        "jokes": [entry("preference", "likes", "jokes", about="assistant")],
    }
    room = life.memory.conversation("band")
    room.add("user", "I play the violin.", author="vera", time=life.clock.now())
    room.add("assistant", "I love jokes.", time=life.clock.now())
    room.add("user", "And I play the drums, no jokes.", author="wim", time=life.clock.now())
    settle_facts(life.memory)
    assert [fact.value for fact in life.memory.facts(user="vera")] == ["the violin"]
    assert [fact.value for fact in life.memory.facts(user="wim")] == ["the drums"]


def test_what_is_known_is_shown_to_the_reader_and_nothing_private_in_a_channel(life: Life) -> None:
    life.say("xia", "I keep owls.", finds={"owls": [entry("identity", "pets", "owls")]})
    before = len(life.readings())
    life.say("xia", "I fed them mice today, at home in the barn.")
    assert "xia: pets: owls" in life.readings()[before]
    before = len(life.readings())
    life.memory.conversation("birds").add("user", "I bought a new barn door.", author="xia", time=life.clock.now())
    settle_facts(life.memory)
    assert "owls" not in life.readings()[before]


# -- what costs nothing, and what is refused


@pytest.mark.checklist("F9")
def test_pleasantries_and_bare_questions_cost_no_call(life: Life) -> None:
    before = len(life.readings())
    life.say("yan", "Hi!", "> Hello.", "How are you?", "Gotta run, bye!", "Thanks so much!", "What time is it?")
    assert len(life.readings()) == before


@pytest.mark.checklist("F6")
def test_a_refused_fact_is_asked_about_once(life: Life) -> None:
    before = len(life.readings())
    facts = life.say("zoe", "I adopted a tortoise.", finds={"tortoise": [entry("identity", "location", "Atlantis")]})
    reading, repair = life.readings()[before:]
    assert "Atlantis" not in reading
    assert "no line says 'Atlantis'" in repair
    assert facts == []


# -- every category: the echo guard and the audience rule


@pytest.mark.parametrize("category", FACT_CATEGORIES)
@pytest.mark.checklist("C2", "F6")
def test_no_category_confirms_itself_or_is_shown_to_many(life: Life, category: FactCategory) -> None:
    """What a context shows is not read again, and what was said in private is not shown in a channel."""
    user = f"echo {category}"
    secret = f"zither{FACT_CATEGORIES.index(category)}"
    found = entry(category, "matter", f"keeps a {secret}", importance=0.9)
    (fact,) = life.say(user, f"I keep a {secret} under the bed.", finds={secret: [found]})
    assert (fact.category, fact.audience) == (category, None)
    chat = life.memory.conversation(f"chat of {user}", user=user)
    shown = chat.context("What do you know?").messages[0]["content"]
    assert secret in shown
    life.say(user, f"> You keep a {secret} under the bed.", f"As you said, I keep a {secret} under the bed.", shown,
             finds={secret: [{**found, "confidence": 1}]})  # fmt: skip
    (after,) = life.memory.facts(user=user)
    assert (after.id, after.confidence, after.said_at) == (fact.id, fact.confidence, fact.said_at)
    room = life.memory.conversation("room")
    room.add("user", "Good morning, all of you.", author=user, time=life.clock.now())
    settle_facts(life.memory)
    context = room.context("What does everybody keep?")
    assert secret not in json.dumps(context.messages)


# -- an import


@pytest.mark.checklist("F9")
def test_a_backlog_is_read_by_the_model_in_large_batches(tmp_path: Path) -> None:
    found = {f"number {number} at": [entry("possession", "tea", f"tea number {number}")] for number in (7, 150)}
    model = ScriptedLLM(default=lambda request: answer_lines(found, request))
    with Memory(str(tmp_path / "memory.db"), memory=model, clock=FrozenClock(NOW), followers=False) as memory:
        chat = memory.conversation("tea", user="alex")
        texts = [f"I bought tea number {number} at the harbour." for number in range(1, 193)]
        chat.extend(Draft("user", text, time=NOW) for text in texts)
        settle_facts(memory)
        readings = [request for request in model.requests if "facts" in (request.schema or {}).get("required", ())]
        assert len(readings) == 4
        assert values(memory.facts(user="alex")) == {"tea": ["tea number 150", "tea number 7"]}


@pytest.mark.checklist("F6")
def test_what_was_refused_is_counted_shown_and_erased_with_the_person(tmp_path: Path) -> None:
    address = str(tmp_path / "memory.db")
    found = {"tortoise": [entry("identity", "location", "Atlantis"), entry("possession", "animal", "a tortoise")]}
    model = ScriptedLLM(default=lambda request: answer_lines(found, request))
    with Memory(address, memory=model, clock=FrozenClock(NOW), followers=False) as memory:
        memory.conversation("chat", user="alex").add("user", "I adopted a tortoise.", time=NOW)
        memory.settle()
        counted = {(done.kind, done.outcome): done.count for done in memory.stats().activity if done.what == "refused"}
        assert counted == {("facts", "not_said"): 1}
        (refused_fact,) = memory.refused_facts(user="alex")
        assert (refused_fact.key, refused_fact.value, refused_fact.kind) == ("location", "Atlantis", "not_said")
        assert (refused_fact.conversation, refused_fact.speaker, refused_fact.said_at) == ("chat", "alex", NOW)
        assert memory.refused_facts(user="bo") == []
    (refused,) = json_lines(succeeded("--store", address, "facts", "alex", "--refused", "--json"))
    assert (refused["value"], refused["kind"], refused["reason"]) == ("Atlantis", "not_said", "no line says 'Atlantis'")
    assert "Atlantis" in succeeded("--store", address, "facts", "alex", "--refused")
    with Memory(address, followers=False) as memory:
        memory.erase(user="alex")
        memory.settle()
    assert succeeded("--store", address, "facts", "alex", "--refused") == ""


@pytest.mark.checklist("F8")
def test_a_plan_whose_day_has_come_is_a_fact_in_contexts(tmp_path: Path) -> None:
    clock = FrozenClock(NOW)
    with Memory(str(tmp_path / "plans.db"), clock=clock, followers=False) as memory:
        chat = memory.conversation("chat", user="pia")
        chat.add("user", "I live in Utrecht.", time=clock.now())
        chat.add("user", "I will move to Lyon on 1 March 2027.", time=clock.now())
        memory.settle()
        known = str(chat.context("Which city is my home?").messages[0]["content"])
        assert known.index("- location: Utrecht") < known.index("Plans\n- location: Lyon (from March 2027)")
        clock.advance(timedelta(days=300))
        known = str(chat.context("Which city is my home?").messages[0]["content"])
        assert "Identity\n- location: Lyon (since March 2027)" in known
        assert "Utrecht" not in known
        assert "Plans" not in known + memory.profile(user="pia").text
        assert [fact.category for fact in memory.facts(user="pia")] == ["identity"]
        hits = memory.search("Lyon", user="pia", kinds=("fact",))
        assert [hit.fact.category for hit in hits if hit.fact] == ["identity"]


@pytest.mark.parametrize("by", ["rules", "model"])
@pytest.mark.checklist("F7")
def test_a_fact_by_question_and_answer_names_both_messages(tmp_path: Path, by: str) -> None:
    found = {"peanuts": [entry("constraint", "allergies", "peanuts")]}
    model = ScriptedLLM(default=lambda request: answer_lines(found, request)) if by == "model" else None
    with Memory(str(tmp_path / "memory.db"), memory=model, clock=FrozenClock(NOW), followers=False) as memory:
        chat = memory.conversation("chat", user="uma")
        asked = chat.add("assistant", "Do you have any allergies?", time=NOW)
        said = chat.add("user", "Yes, peanuts.", time=NOW)
        chat.add("user", "I live in Bergen.", time=NOW)
        memory.settle()
        allergy = next(fact for fact in memory.facts(user="uma") if fact.key == "allergies")
        assert set(allergy.sources) == {asked.id, said.id}
        assert memory.why(allergy.id, user="uma") == [asked, said]
        found.clear()
        assert chat.delete(asked.id, dry_run=True).views["facts"] == 1
        chat.delete(asked.id)
        memory.settle()
        assert [fact.value for fact in memory.facts(user="uma")] == ["Bergen"]
        assert [fact.value for fact in memory.facts(user="uma", category="place")] == ["Bergen"]
        assert memory.facts(user="uma", category="work") == []
