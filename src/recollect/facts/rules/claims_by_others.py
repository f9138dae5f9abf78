"""What others say of a person, beside what the person says: who is shown both is shown the person's own word."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.facts.rules.keys import holds_several_values
from recollect.facts.rules.values import fold, has_same_value, sense
from recollect.log.access import is_claim
from recollect.model import Fact, FoundFact

UNDONE_BY = {"likes": "dislikes", "dislikes": "likes"}


def is_answered(claim: Fact, own_fact: FoundFact | Fact) -> bool:
    """Whether a person's own fact answers a claim: it says the same, or gives another value of a single-value key."""
    if not has_same_subject(claim, own_fact) or claim.category != own_fact.category:
        return False
    if claim.key != own_fact.key:
        return UNDONE_BY.get(claim.key) == own_fact.key and sense(claim) == sense(own_fact)
    return not holds_several_values(own_fact.category, own_fact.key) or has_same_value(claim, own_fact)


def without_answered_claims(facts: Sequence[Fact]) -> list[Fact]:
    """The facts of one person without the claims that the person's own facts answer."""
    own_facts = [fact for fact in facts if not is_claim(fact)]
    return [fact for fact in facts if not (is_claim(fact) and any(is_answered(fact, answer) for answer in own_facts))]


def has_same_subject(fact: Fact, other: FoundFact | Fact) -> bool:
    """Whether two facts of one person's memory are about the same."""
    return is_same_name(fact.subject, other.subject)


def is_same_name(first: str | None, second: str | None) -> bool:
    return (fold(first) if first else None) == (fold(second) if second else None)
