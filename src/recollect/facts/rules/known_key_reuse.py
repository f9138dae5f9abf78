"""Files a fact under the key by which the same thing is known already.

Models call one thing by several names. Who sold "the Volvo" ended the car that is known as "car: Volvo V60", whatever
key the end was given; and what is known under one key is not kept again under another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.facts.rules.claims_by_others import has_same_subject
from recollect.facts.rules.deciding import tidy_fact
from recollect.facts.rules.keys import holds_several_values
from recollect.facts.rules.values import fold, has_same_value, says_nearly_the_same
from recollect.model import Fact, FoundFact
from recollect.text.terms import analyse


def align_fact(found: FoundFact, known_facts: Sequence[Fact]) -> FoundFact:
    """The fact under the category and key by which it is known, or as it is."""
    new = tidy_fact(found)
    peers = [fact for fact in known_facts if fact.active and has_same_subject(fact, new)]
    same_key = [fact for fact in peers if (fact.category, fact.key) == (new.category, new.key)]
    if not new.value or (same_key and not new.retracts):
        return new
    if new.retracts:
        return new if any(_is_meant(fact, new) for fact in same_key) else _under_key_of(new, peers)
    same_values = [
        fact
        for fact in peers
        if fact.category == new.category
        and holds_several_values(fact.category, fact.key)
        and (fold(fact.value) == fold(new.value) or says_nearly_the_same(fact.value, new.value))
    ]
    return replace(new, key=same_values[0].key) if same_values and holds_several_values(new.category, new.key) else new


def _under_key_of(new: FoundFact, peers: Sequence[Fact]) -> FoundFact:
    """What is taken back, under the key of the one known fact that it means."""
    meant = [fact for fact in peers if _is_meant(fact, new) and fact.category != "event"]
    slots = {(fact.category, fact.key) for fact in meant}
    if len(slots) != 1:
        return new
    category, key = slots.pop()
    return replace(new, category=category, key=key)


def _is_meant(fact: Fact, new: FoundFact) -> bool:
    words = set(analyse(fold(new.value), "en").terms)
    return has_same_value(fact, new) or (bool(words) and words <= set(analyse(fold(fact.value), "en").terms))
