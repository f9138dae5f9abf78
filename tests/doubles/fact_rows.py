"""The facts that actions of the rules leave, as a store would have them."""

from __future__ import annotations

from collections.abc import Iterable

from everword.facts.rules.deciding import Action
from everword.model import Fact


def apply_actions(facts: Iterable[Fact], actions: Iterable[Action]) -> list[Fact]:
    """The facts after the actions: rows by their ids, the new ones last."""
    rows = {fact.id: fact for fact in facts}
    for action in actions:
        rows |= {row.id: row for row in action.rows}
    return list(rows.values())
