"""What was found in messages, kept as it was found: so that facts are the same in whatever order messages are read.

A person's conversations are read side by side, files are imported late, and a model that was away reads a message once
more. What is known of one thing, a slot, follows from all that was ever found about it, in the order in which it was
said. If what is new comes last, it is simply weighed; if it belongs in between, the slot is weighed anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from recollect.errors import StoreError
from recollect.model import Fact, FoundFact, Message
from recollect.ports import Tx
from recollect.rules.facts import deciding as rules

TABLE = "findings"
OPPOSITES = {"dislikes": "likes"}  # what undoes each other is weighed together


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact found in a message, and where that was said."""

    message: Message
    number: int
    audience: str | None
    found: FoundFact

    @property
    def said(self) -> tuple[datetime, str, int, int]:
        """Its place in the order in which things were said."""
        return self.message.time, self.message.conversation, self.message.turn, self.number


def slot_of(fact: FoundFact | Fact) -> str:
    """What a fact is about: the same thing of the same person has the same slot."""
    subject = rules.fold(fact.subject) if fact.subject else ""
    return json.dumps([subject, fact.category, OPPOSITES.get(fact.key, fact.key)], ensure_ascii=False)


def noted(
    tx: Tx, person: str, audience: str | None, found: Iterable[tuple[Message, FoundFact]]
) -> dict[str, tuple[list[Finding], bool]]:
    """Keep what was found. Returns for each slot that has changed all its findings, in order, if it has to be weighed
    anew, or else those that are new."""
    new: dict[str, list[Finding]] = {}
    messages: dict[str, Message] = {}
    for number, (message, one) in enumerate(found):
        tidy = rules.tidied(one)
        messages[message.id] = message
        new.setdefault(slot_of(tidy), []).append(Finding(message, number, audience, tidy))
    stale = {slot for message in messages.values() for slot in unread(tx, person, message)}
    slots: dict[str, tuple[list[Finding], bool]] = {}
    for slot in sorted({*new, *stale}):
        fresh = sorted(new.get(slot, ()), key=lambda one: one.said)
        known = findings_of(tx, fresh[0].message.space if fresh else next(iter(messages.values())).space, person, slot)
        late = bool(known and fresh and fresh[0].said[:3] <= known[-1].said[:3])
        again = slot in stale or late
        slots[slot] = (sorted([*known, *fresh], key=lambda one: one.said) if again else fresh, again)
    tx.put(TABLE, [row_of(person, slot, one) for slot, some in new.items() for one in some])
    return slots


def unread(tx: Tx, person: str, message: Message) -> set[str]:
    """Forget what an earlier reading of a message found; which slots that was in."""
    where = {"space": message.space, "user_id": person, "message_id": message.id}
    slots = {str(row["slot"]) for row in tx.rows(TABLE, where=where)}
    if slots:
        tx.remove(TABLE, where)
    return slots


def findings_of(tx: Tx, space: str, person: str, slot: str) -> list[Finding]:
    """All that was found about one thing, in the order it was said."""
    return [to_finding(row) for row in tx.rows(TABLE, where={"space": space, "user_id": person, "slot": slot})]


def weighed(
    known: Sequence[Fact], findings: Iterable[Finding], person: str
) -> tuple[dict[str, Fact], list[rules.Action]]:
    """The facts of a slot after its findings, by id, and what each of them did."""
    facts = {fact.id: fact for fact in known}
    every: list[rules.Action] = []
    for one in findings:
        actions = rules.decide(facts.values(), one.found, one.message, user=person, audience=one.audience)
        facts |= {row.id: row for action in actions for row in action.rows}
        every += actions
    return facts, every


# -- rows


def row_of(person: str, slot: str, one: Finding) -> dict[str, Any]:
    message = one.message
    return {
        "space": message.space,
        "user_id": person,
        "slot": slot,
        "time": message.time,
        "conversation": message.conversation,
        "turn": message.turn,
        "number": one.number,
        "message_id": message.id,
        "author": message.author,
        "audience": one.audience,
        "found": plain(one.found),
    }


def plain(found: FoundFact) -> dict[str, Any]:
    values = asdict(found)
    return values | {name: values[name].isoformat() for name in ("since", "until") if values[name]}


def to_finding(row: Mapping[str, Any]) -> Finding:
    message = Message(
        row["space"],
        row["conversation"],
        row["turn"],
        row["message_id"],
        "user",
        row["author"],
        row["user_id"],
        "",
        row["time"],
    )
    return Finding(message, row["number"], row["audience"], to_found_fact(row))


def to_found_fact(row: Mapping[str, Any]) -> FoundFact:
    found = dict(row["found"])
    try:
        for name in ("since", "until"):
            found[name] = date.fromisoformat(found[name]) if found[name] else None
        return FoundFact(**found)
    except (LookupError, TypeError, ValueError):
        place = f"message {row['turn']} of {row['conversation']!r} in space {row['space']!r}"
        raise StoreError(f"what was read in {place} is damaged; run `recollect rebuild facts`") from None
