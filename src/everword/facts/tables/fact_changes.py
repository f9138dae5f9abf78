"""Changes of facts by hand, as rows: what people decided, and what it says to the facts view.

A change is a message in the log, in the conversation of its speaker's own, and a row of `statements` that says that
it stands. The message's metadata have the new value, which is so "now". The old value is not repeated anywhere: the row
names the findings that it denies by their ids. When a slot is weighed, each denied finding that is still there gives
the value that is "not" so from then on. So a change is weighed with all that was ever said, in the order of time: a
view that is built again keeps it, an older message does not undo it, and what the person says later counts again. When
the message that told the old value is removed, nothing is left of it. A change that was undone has a row that is not
active, and is not read. Older versions had the old value in the text and the metadata of a change: that is still read,
and is taken out when its source is removed (`removal.old_changes`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from everword.facts.rules.values import has_same_value
from everword.facts.tables import facts as fact_rows
from everword.facts.tables import findings as finding_rows
from everword.facts.tables.findings import Finding, id_of, in_order, json_values, slot_of, to_finding
from everword.facts.tables.people import CHANGE, CHANGES, DENIAL, put_statements, statements_in
from everword.facts.tables.people import TABLE as STATEMENTS
from everword.facts.tables.person_slots import PersonSlots, Reweigh, is_late
from everword.log.tables import warn_of_damage
from everword.model import Fact, FactChangeKind, FoundFact, Message, Statement
from everword.model.log import NOTES, own_notes
from everword.ports import Tx

AT_ONCE = 500  # ids in one query
JUST_AFTER = timedelta(microseconds=1)
COMMANDS: Mapping[FactChangeKind, str] = {"add": "add_fact", "edit": "edit_fact", "delete": "delete_fact"}

DELETED = "Delete a fact"  # what the log says: not which one, so that nothing is left of it when its source is removed


@dataclass(frozen=True, slots=True)
class DecidedFacts:
    """What a change says of a person: the findings, the message that it is, the channel that sees it, and the ids of
    the findings that it denies."""

    person: str
    audience: str | None
    message: Message
    facts: tuple[FoundFact, ...]
    finding_ids: tuple[str, ...] = ()


def change_metadata(
    kind: FactChangeKind, facts: Sequence[FoundFact], audience: str | None, after: datetime | None
) -> dict[str, Any]:
    """The metadata of a message that is a change. `after` is when the fact that it changes was said last."""
    return {
        NOTES: {
            "command": COMMANDS[kind],
            "facts": [json_values(fact) for fact in facts],
            "audience": audience,
            "after": None if after is None else after.isoformat(),
        }
    }


def line_of(fact: FoundFact) -> str:
    """A fact as a line, as the log keeps it."""
    whose = f"{fact.subject}: " if fact.subject else ""
    return f"{whose}{fact.key}: {fact.value}"


def decided_facts(row: Statement, message: Message) -> DecidedFacts:
    """What a message that is a change says. It comes after the fact that it changes, whatever the clocks say. Of a
    message that retention has removed, only what its row has is known."""
    details = own_notes(message.metadata)
    after = details.get("after")
    if after is not None:
        message = replace(message, time=max(message.time, datetime.fromisoformat(after) + JUST_AFTER))
    facts = tuple(map(to_found_fact, details.get("facts", ())))
    return DecidedFacts(row.user, details.get("audience"), message, facts, denied_ids(row))


def to_found_fact(values: Mapping[str, Any]) -> FoundFact:
    days = {name: date.fromisoformat(values[name]) if values[name] else None for name in ("since", "until")}
    return FoundFact(**{**values, **days})


def changes_in(tx: Tx, messages: Iterable[Message]) -> list[DecidedFacts]:
    """What those of the messages say that are changes and still stand."""
    pairs = statements_in(tx, messages, kind=CHANGES)
    return [decided_facts(row, message) for message, row in pairs if row.active and row.id == message.id]


# -- what is denied


def put_change(tx: Tx, row: Statement) -> None:
    """Store the row of a change. Those that deny something are of a kind of their own: they are few, and are read when
    a fact is weighed."""
    put_statements(tx, [row], DENIAL if denied_ids(row) else CHANGE)


def denied_ids(row: Statement) -> tuple[str, ...]:
    """The ids of the findings that a change denies: its row names its own message first."""
    return row.sources[1:]


def ids_saying(tx: Tx, fact: Fact) -> tuple[str, ...]:
    """The ids of a fact, and of the other findings that say the same in its sources."""
    where = {"space": fact.space, "user_id": fact.user, "message_id": fact.sources}
    findings = map(to_finding, tx.rows(finding_rows.TABLE, where=where))
    ids = [id_of(finding, fact.user) for finding in findings if says_value(finding, fact)]
    return tuple(dict.fromkeys((fact.id, *ids)))


def says_value(finding: Finding, fact: Fact) -> bool:
    found_fact = finding.fact
    is_same_slot = slot_of(found_fact) == slot_of(fact)
    return is_same_slot and not found_fact.retracts and has_same_value(fact, found_fact)


def slots_denied(tx: Tx, space: str, person: str, ids: Collection[str]) -> set[str]:
    """The slots of the facts with these ids."""
    rows = tx.rows(fact_rows.TABLE, where={"space": space, "user_id": person, "id": tuple(ids)}) if ids else ()
    return {slot_of(fact_rows.to_fact(row)) for row in rows}


def denial_of(fact: FoundFact | Fact) -> FoundFact:
    """That a fact is not so."""
    return FoundFact(fact.category, fact.key, fact.value, 1.0, fact.importance, fact.subject, "not", corrects=True)


def with_denials(
    tx: Tx,
    person: str,
    slot: str,
    weighing: tuple[Sequence[Finding], Reweigh],
    changes: Sequence[Statement],
    known_slots: PersonSlots,
    new_changes: Collection[str],
) -> tuple[Sequence[Finding], Reweigh]:
    """The findings of a slot that are to be weighed, with what people denied by hand among them. `new_changes` are the
    ids of changes that are weighed for the first time; others matter only if they came after something that is new."""
    if not changes:
        return weighing
    findings, reweigh = weighing
    facts_by_id: dict[str, FoundFact | Fact] = {
        id_of(finding, person): finding.fact for finding in findings if not finding.fact.retracts
    }
    if not reweigh:
        facts_by_id = {**known_slots.facts(slot).by_id, **facts_by_id}
    denials = [
        Finding(change.message, DENIED_FIRST, change.audience, denial_of(facts_by_id[id]))
        for change, id in denying(tx, changes, facts_by_id)
    ]
    if reweigh or not denials:
        return (in_order([*findings, *denials]) if denials else findings), reweigh
    new_denials = [denial for denial in denials if denial.message.id in new_changes]
    if needs_whole_slot(slot, findings, denials, new_denials, known_slots):
        known_slots.forget_findings([slot])
        whole = (in_order(known_slots.findings(slot).findings), True)
        return with_denials(tx, person, slot, whole, changes, known_slots, new_changes)
    return in_order([*findings, *new_denials]), False


DENIED_FIRST = -1
"""The number of a denial among the findings of its change: before the new value."""


def denying(tx: Tx, changes: Sequence[Statement], ids: Collection[str]) -> list[tuple[DecidedFacts, str]]:
    """The changes that deny one of these findings, each with the first that it denies."""
    touching = [(row, id) for row in changes for id in denied_ids(row) if id in ids]
    first_ids = {row.id: (row, id) for row, id in reversed(touching)}
    if not first_ids:
        return []
    space = touching[0][0].space
    messages = tx.find_messages(space, ids=sorted(first_ids), damaged=warn_of_damage)
    return [(decided_facts(first_ids[message.id][0], message), first_ids[message.id][1]) for message in messages]


def needs_whole_slot(
    slot: str,
    findings: Sequence[Finding],
    denials: Iterable[Finding],
    new_denials: Sequence[Finding],
    known_slots: PersonSlots,
) -> bool:
    """Whether what is new in a slot was said before something that is known."""
    if findings:
        first = findings[0]
        is_after_all = all(denial.sort_key < first.sort_key for denial in denials if denial not in new_denials)
        return not (is_after_all and all(denial.message.id == first.message.id for denial in new_denials))
    newest = known_slots.newest_finding(slot)
    later = [denial for denial in denials if denial not in new_denials]
    return any(is_late(denial, newest) for denial in new_denials) or any(
        other.sort_key > denial.sort_key for other in later for denial in new_denials
    )


def has_changes(tx: Tx, space: str, person: str) -> bool:
    """Whether a change of a fact about a person stands."""
    where = {"space": space, "user_id": person, "kind": CHANGES, "active": 1}
    return bool(tx.rows(STATEMENTS, limit=1, where=where))


def changes_behind(tx: Tx, space: str, person: str, facts: Iterable[Fact]) -> frozenset[str]:
    """The ids of the changes that stand and that these facts began with or were last said by."""
    ids = sorted({id for fact in facts for id in (fact.sources[0], fact.sources[-1])})
    where = {"space": space, "user_id": person, "kind": CHANGES, "active": 1}
    pages = (tuple(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE))
    return frozenset(row["id"] for page in pages for row in tx.rows(STATEMENTS, where=where | {"id": page}))


def name_retirements(facts: Mapping[str, Fact], change_ids: frozenset[str]) -> dict[str, Fact]:
    """The facts by id; one that a change retired says so: `retired_by` is the fact in its place, or the change."""
    in_place = {fact.sources[0]: fact.id for fact in facts.values() if fact.sources[0] in change_ids}
    return {
        id: replace(fact, retired_by=in_place.get(fact.sources[-1], fact.sources[-1]))
        if not fact.active and fact.retired_by in (None, fact.sources[-1]) and fact.sources[-1] in change_ids
        else fact
        for id, fact in facts.items()
    }
