"""A found fact is compared with few others, and what becomes of it is the same as if it were compared with all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from recollect.model import Fact, FactCategory, FoundFact, Message
from recollect.rules.facts.deciding import decide
from recollect.rules.facts.slot_facts import SlotFacts, is_compared_by_words

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
