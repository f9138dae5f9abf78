"""Changes of facts by hand, as rows: what people decided, and what it says to the facts view.

A change is a message in the log, in the conversation of its speaker's own, and a row of `statements` that says that
it stands. What was decided is in the message's metadata as findings: an edited or deleted value is "not" so, an edited
or added value is so "now". So a change is weighed with all that was ever said, in the order of time: a view that is
built again keeps it, an older message does not undo it, and what the person says later counts again. A change that was
undone has a row that is not active, and is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from recollect.engine.tables.findings import json_values
from recollect.engine.tables.people import CHANGE, statements_in
from recollect.engine.tables.people import TABLE as STATEMENTS
from recollect.model import Fact, FactChangeKind, FoundFact, Message
from recollect.ports import Tx

AT_ONCE = 500  # ids in one query
JUST_AFTER = timedelta(microseconds=1)
COMMANDS: Mapping[FactChangeKind, str] = {"add": "add_fact", "edit": "edit_fact", "delete": "delete_fact"}


@dataclass(frozen=True, slots=True)
class DecidedFacts:
    """What a change says of a person: the findings, the message that it is, and the channel that sees it."""

    person: str
    audience: str | None
    message: Message
    facts: tuple[FoundFact, ...]


def change_metadata(
    kind: FactChangeKind, facts: Sequence[FoundFact], audience: str | None, after: datetime | None
) -> dict[str, Any]:
    """The metadata of a message that is a change. `after` is when the fact that it changes was said last."""
    return {
        "recollect": {
            "command": COMMANDS[kind],
            "facts": [json_values(fact) for fact in facts],
            "audience": audience,
            "after": None if after is None else after.isoformat(),
        }
    }


def decided_facts(person: str, message: Message) -> DecidedFacts:
    """What a message that is a change says. It comes after the fact that it changes, whatever the clocks say."""
    details: Mapping[str, Any] = message.metadata["recollect"]
    after = details["after"]
    if after is not None:
        message = replace(message, time=max(message.time, datetime.fromisoformat(after) + JUST_AFTER))
    return DecidedFacts(person, details["audience"], message, tuple(map(to_found_fact, details["facts"])))


def to_found_fact(values: Mapping[str, Any]) -> FoundFact:
    days = {name: date.fromisoformat(values[name]) if values[name] else None for name in ("since", "until")}
    return FoundFact(**{**values, **days})


def changes_in(tx: Tx, messages: Iterable[Message]) -> list[DecidedFacts]:
    """What those of the messages say that are changes and still stand."""
    pairs = statements_in(tx, messages, kind=CHANGE)
    return [decided_facts(row.user, message) for message, row in pairs if row.active and row.id == message.id]


def has_changes(tx: Tx, space: str, person: str) -> bool:
    """Whether a change of a fact about a person stands."""
    where = {"space": space, "user_id": person, "kind": CHANGE, "active": 1}
    return bool(tx.rows(STATEMENTS, limit=1, where=where))


def changes_behind(tx: Tx, space: str, person: str, facts: Iterable[Fact]) -> frozenset[str]:
    """The ids of the changes that stand and that these facts began with or were last said by."""
    ids = sorted({id for fact in facts for id in (fact.sources[0], fact.sources[-1])})
    where = {"space": space, "user_id": person, "kind": CHANGE, "active": 1}
    pages = (tuple(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE))
    return frozenset(row["id"] for page in pages for row in tx.rows(STATEMENTS, where=where | {"id": page}))


def name_retirements(facts: Mapping[str, Fact], change_ids: frozenset[str]) -> dict[str, Fact]:
    """The facts by id; one that a change retired says so: `retired_by` is the fact in its place, or the change."""
    in_place = {fact.sources[0]: fact.id for fact in facts.values() if fact.sources[0] in change_ids}
    return {
        id: replace(fact, retired_by=in_place.get(fact.sources[-1], fact.sources[-1]))
        if not fact.active and fact.retired_by is None and fact.sources[-1] in change_ids
        else fact
        for id, fact in facts.items()
    }
