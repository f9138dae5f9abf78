"""Findings: each fact found in a message, stored as found, so that the order of reading does not matter.

A person's conversations are read in parallel, files are imported late, and a model that was away reads a message again.
The facts about one thing, a slot, follow from all findings about it, in the order in which they were said. A new
finding that comes last is weighed against the facts of its slot; one that belongs in between has the findings weighed
again from the start that it is connected with, or all of the slot (`person_slots`). What was found and refused is
stored beside them, with the reason, in a slot that is never weighed: it is erased and expires with them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime
from typing import Any

from everword.errors import StoreError
from everword.facts.rules import deciding as rules
from everword.facts.rules.values import SlotFacts, fold
from everword.facts.tables.facts import facts_with_keys
from everword.model import Fact, FactRefusal, FoundFact, Message, RefusalKind, RefusedFact
from everword.ports import Tx

TABLE = "findings"
REFUSED = "refused"
"""The slot of what was refused."""
MAX_REFUSALS = 200
"""Refusals of a person that are kept: the last ones."""
IDS = 32  # messages whose findings are looked up together
FOUND_FIELDS = tuple(field.name for field in fields(FoundFact))
OPPOSITES = {"dislikes": "likes"}  # keys that contradict each other share a slot


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact found in a message, and where that was said."""

    message: Message
    number: int
    audience: str | None
    fact: FoundFact

    @property
    def sort_key(self) -> tuple[datetime, str, int, int]:
        """Sorts findings by the order in which they were said."""
        return self.message.time, self.message.conversation, self.message.turn, self.number


@dataclass(frozen=True, slots=True)
class RefusedFinding:
    """A fact that was found in a message and is not kept, and why."""

    message: Message
    fact: FoundFact
    refusal: FactRefusal


def slot_of(fact: FoundFact | Fact) -> str:
    """What a fact is about: the same thing of the same person has the same slot."""
    return slot_name(fact.subject, fact.category, fact.key)


def slot_name(subject: str | None, category: str, key: str) -> str:
    return json.dumps([fold(subject) if subject else "", category, OPPOSITES.get(key, key)], ensure_ascii=False)


def id_of(finding: Finding, person: str) -> str:
    """The id of the fact that a finding makes, if it is the first to say so."""
    return rules.fact_id(finding.message.space, person, finding.fact, finding.message.id)


def keys_of_slots(slots: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The category and the keys of the facts that may be in these slots, category by category."""
    keys: dict[str, set[str]] = {}
    for slot in slots:
        _, category, key = json.loads(slot)
        keys.setdefault(category, set()).update({key, *(other for other, name in OPPOSITES.items() if name == key)})
    return [(category, tuple(sorted(names))) for category, names in sorted(keys.items())]


def facts_in_slots(tx: Tx, space: str, person: str, slots: Collection[str]) -> list[Fact]:
    """The facts about a person that are in these slots. Only they are read, however many there are."""
    facts = [
        fact for category, keys in keys_of_slots(slots) for fact in facts_with_keys(tx, space, person, category, keys)
    ]
    return [fact for fact in facts if slot_of(fact) in slots]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order in which they were said."""
    return sorted(findings, key=lambda finding: finding.sort_key)


def drop_findings(tx: Tx, person: str, *messages: Message) -> set[str]:
    """Delete what an earlier reading of messages of one space found. Returns the slots of the deleted findings."""
    if not messages:
        return set()
    place = {"space": messages[0].space, "user_id": person}
    ids = [message.id for message in messages]
    rows: list[Mapping[str, Any]] = []
    for start in range(0, len(ids), IDS):  # always as many, so that the statement is prepared once
        some_ids = [*ids[start : start + IDS], *([ids[-1]] * IDS)][:IDS] if len(ids) > 1 else ids
        rows += tx.rows(TABLE, where={**place, "message_id": tuple(some_ids)})
    for id in {row["message_id"] for row in rows}:
        tx.remove(TABLE, {**place, "message_id": id})
    return {str(row["slot"]) for row in rows} - {REFUSED}


def newest_finding(tx: Tx, space: str, person: str, slot: str) -> Finding | None:
    """The finding of a slot that was said last."""
    rows = tx.rows(TABLE, limit=1, where={"space": space, "user_id": person, "slot": slot}, newest=True)
    return to_finding(rows[0]) if rows else None


def findings_of(tx: Tx, space: str, person: str, slot: str) -> list[Finding]:
    """All findings of a slot, in the order in which they were said."""
    return [to_finding(row) for row in tx.rows(TABLE, where={"space": space, "user_id": person, "slot": slot})]


def weigh_findings(
    facts: SlotFacts, findings: Iterable[Finding], person: str
) -> tuple[dict[str, Fact | None], list[rules.Action]]:
    """Weigh findings against the facts of a slot, and put what follows among them. Returns the facts that this changed
    as they were before, by id (None for one that was not there), and the actions that led to it."""
    facts_before: dict[str, Fact | None] = {}
    all_actions: list[rules.Action] = []
    for finding in findings:
        known_facts = facts.facts_like(finding.fact)
        actions = rules.decide(known_facts, finding.fact, finding.message, user=person, audience=finding.audience)
        for action in actions:
            for row in action.rows:
                facts_before.setdefault(row.id, facts.by_id.get(row.id))
                facts.put(row)
        all_actions += actions
    return facts_before, all_actions


# -- refusals


def record_refusals(tx: Tx, person: str, audience: str | None, refusals: Sequence[RefusedFinding]) -> None:
    """Store what was refused in a person's messages, in place of what an earlier reading refused in them."""
    place = {"space": refusals[0].message.space, "user_id": person, "slot": REFUSED}
    for message_id in {refusal.message.id for refusal in refusals}:
        tx.remove(TABLE, {**place, "message_id": message_id})
    rows = [
        finding_row(person, REFUSED, Finding(refused.message, number, audience, refused.fact))
        | {"found": json_values(refused.fact) | asdict(refused.refusal)}
        for number, refused in enumerate(refusals)
    ]
    tx.put(TABLE, rows)
    stored_rows = tx.rows(TABLE, where=place)
    for row in stored_rows[:-MAX_REFUSALS]:
        tx.remove(TABLE, {**place, **{name: row[name] for name in ("time", "conversation", "turn", "number")}})


def refusals_of(tx: Tx, space: str, person: str) -> list[RefusedFact]:
    """What was refused in a person's messages, oldest first."""
    return [to_refused_fact(row) for row in tx.rows(TABLE, where={"space": space, "user_id": person, "slot": REFUSED})]


def to_refused_fact(row: Mapping[str, Any]) -> RefusedFact:
    found = {name: value for name, value in row["found"].items() if name not in ("reason", "kind")}
    fact = to_found_fact({**row, "found": found})
    reason = str(row["found"].get("reason", ""))
    return RefusedFact(
        space=row["space"],
        user=row["user_id"],
        category=fact.category,
        key=fact.key,
        value=fact.value,
        kind=row["found"].get("kind") or kind_of_reason(reason),
        reason=reason,
        speaker=row["author"],
        conversation=row["conversation"],
        turn=row["turn"],
        message=row["message_id"],
        said_at=row["time"],
        subject=fact.subject,
        audience=row["audience"],
    )


def kind_of_reason(reason: str) -> RefusalKind:
    """The kind of a refusal that was stored without it, before there were kinds."""
    return next((kind for start, kind in OLD_REASONS.items() if reason.startswith(start)), "not_said")


OLD_REASONS: dict[str, RefusalKind] = {
    "its confidence": "unsure",
    "its importance": "unimportant",
    "it is about an assistant": "about_assistant",
    "it has no": "incomplete",
    "no value": "incomplete",
    "no line speaks of": "about_nobody",
    "the line only asks": "only_asked",
    "the line denies": "denied",
}


# -- rows


def finding_row(person: str, slot: str, finding: Finding) -> dict[str, Any]:
    message = finding.message
    return {
        "space": message.space,
        "user_id": person,
        "slot": slot,
        "time": message.time,
        "conversation": message.conversation,
        "turn": message.turn,
        "number": finding.number,
        "message_id": message.id,
        "author": message.author,
        "audience": finding.audience,
        "found": json_values(finding.fact),
    }


def json_values(fact: FoundFact) -> dict[str, Any]:
    values = {name: getattr(fact, name) for name in FOUND_FIELDS}
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
    values = dict(row["found"])
    try:
        for name in ("since", "until"):
            values[name] = date.fromisoformat(values[name]) if values[name] else None
        return FoundFact(**values)
    except (LookupError, TypeError, ValueError):
        place = f"message {row['turn']} of {row['conversation']!r} in space {row['space']!r}"
        raise StoreError(f"what was read in {place} is damaged; run `everword rebuild facts`") from None
