"""A found fact is compared with few others, and what becomes of it is the same as if it were compared with all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everword.facts.rules.deciding import decide
from everword.facts.rules.keys_and_values import FEW, ConnectedValues, SlotFacts, is_compared_by_words
from everword.model import Fact, FactCategory, FoundFact, Message

START = datetime(2026, 3, 1, tzinfo=UTC)
THINGS = ("a bike", "an old bike", "the red bike", "a tent", "two tents", "pottery", "a pottery class", "chess", "Anna")
KEYS: list[tuple[FactCategory, str]] = [("event", "event"), ("preference", "likes"), ("other", "other")]
DONE = ("bought", "sold", "went to", "started", "visited", "never bought")


def found_facts(count: int) -> list[tuple[FoundFact, Message]]:
    chance = Random(7)
    pairs = []
    for turn in range(1, count + 1):
        category, key = chance.choice(KEYS)
        value = f"{chance.choice(DONE)} {chance.choice(THINGS)}" + chance.choice(["", " in Oslo", " with Anna"])
        fact = FoundFact(category, key, value, holds="not" if chance.random() < 0.2 else "now")
        message = Message("s", "c", turn, f"m{turn}", "user", "ann", "ann", "", START + turn * timedelta(days=1))
        pairs.append((fact, message))
    return pairs


def test_what_becomes_of_a_fact_is_the_same() -> None:
    few = SlotFacts([])
    all_facts: dict[str, Fact] = {}
    compared = 0
    for fact, message in found_facts(400):
        like = few.facts_like(fact)
        compared += len(like)
        actions = decide(like, fact, message, user="ann")
        assert actions == decide(all_facts.values(), fact, message, user="ann")
        for row in (row for action in actions for row in action.rows):
            few.put(row)
            all_facts[row.id] = row
    assert few.by_id == all_facts
    assert list(few.by_id) == list(all_facts)
    assert compared < 400 * len(all_facts) / 2


def test_what_is_taken_back_is_compared_with_all() -> None:
    assert is_compared_by_words(FoundFact("event", "event", "went to Oslo"))
    assert not is_compared_by_words(FoundFact("event", "event", "went to Oslo", holds="not"))
    assert not is_compared_by_words(FoundFact("identity", "name", "Anna"))
    assert not is_compared_by_words(FoundFact("identity", "pets", "Rex (dog)"))


def weigh(pairs: list[tuple[FoundFact, Message]]) -> dict[str, Fact]:
    facts = SlotFacts()
    for fact, message in pairs:
        for action in decide(facts.facts_like(fact), fact, message, user="ann"):
            for row in action.rows:
                facts.put(row)
    return facts.by_id


def test_a_late_finding_changes_only_facts_of_those_it_is_connected_with() -> None:
    pairs = [(fact, message) for fact, message in found_facts(200) if fact.key == "event" and fact.holds == "now"]
    assert len(pairs) > 20
    all_facts = weigh(pairs)
    for place in range(0, len(pairs), 9):
        late, message = pairs[place]
        others = pairs[:place] + pairs[place + 1 :]
        values = ConnectedValues()
        for fact, _ in others:
            values.add(fact.value)
        connected = [others[number] for number in values.connected_with([late.value])]
        before = {id: fact for id, fact in weigh(others).items() if id not in weigh(connected)}
        after = weigh(sorted([*connected, (late, message)], key=lambda pair: pair[1].turn))
        assert before | after == all_facts


def test_values_are_connected_through_others() -> None:
    values = ConnectedValues()
    for value in ("bought a red bike", "sold the boat", "bought a red racing bike", "bought a racing bike", "saw Oslo"):
        values.add(value)
    assert values.connected_with(["bought the red bike"]) == [0, 2, 3]
    assert values.connected_with(["Saw Oslo"]) == [4]
    assert values.connected_with(["moved to Rome"]) == []


PARTS = ("red bike", "blue boat", "old piano", "racing", "in Oslo", "for Ann", "again")


@given(
    st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map(" ".join), max_size=12), st.integers(0, 12)
)
def test_it_does_not_matter_when_connected_values_were_asked_for(values: list[str], asked_at: int) -> None:
    asked_before, asked_last = ConnectedValues(), ConnectedValues()
    for number, value in enumerate(values):
        if number >= asked_at:
            asked_before.connected_with([value])
        asked_before.add(value)
        asked_last.add(value)
    for value in (*PARTS, *values):
        assert asked_before.connected_with([value]) == asked_last.connected_with([value])


def test_facts_like_one_are_in_the_order_in_which_they_were_said() -> None:
    facts = list(weigh([pair for pair in found_facts(60) if pair[0].key == "event"]).values())
    found = FoundFact("event", "event", facts[0].value, holds="not")
    in_order = SlotFacts(facts).facts_like(found)
    assert SlotFacts(reversed(facts)).facts_like(found) == in_order


def test_a_fact_that_was_taken_out_is_not_like_any() -> None:
    facts = SlotFacts(weigh([pair for pair in found_facts(80) if pair[0].key == "event"]).values())
    assert len(facts.by_id) > FEW
    gone = next(iter(facts.by_id.values()))
    found = FoundFact("event", "event", gone.value)
    assert gone in facts.facts_like(found)
    facts.remove(gone.id)
    assert gone not in facts.facts_like(found)
