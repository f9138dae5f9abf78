"""Findings: each fact found in a message, stored as found, so that the order of reading does not matter.

A person's conversations are read in parallel, files are imported late, and a model that was away reads a message again.
The facts about one thing, a slot, follow from all findings about it, in the order in which they were said. A new
finding that comes last is weighed against the facts of its slot; one that belongs in between has the findings weighed
again from the start that it is connected with, or all of the slot. What was found and refused is stored beside them,
with the reason, in a slot that is never weighed: it is erased and expires with them.

A batch of a backlog may be a hundred conversations of one person, each of which is saved for itself, in one
transaction: if each of them read all facts and findings anew, a message would take the longer the more is known. So
what is known of people is kept slot by slot, as far as a transaction has read it (`PersonSlots`).

A change of a fact by hand is a message in the log, in the conversation of its speaker's own, and a row of `statements`
that says that it stands. The message's metadata have the new value, which is so "now". The old value is not repeated
anywhere: the row names the findings that it denies by their ids. When a slot is weighed, each denied finding that is
still there gives the value that is "not" so from then on. So a change is weighed with all that was ever said, in the
order of time: a view that is built again keeps it, an older message does not undo it, and what the person says later
counts again. When the message that told the old value is removed, nothing is left of it. A change that was undone has a
row that is not active, and is not read. Older versions had the old value in the text and the metadata of a change: that
is still read, and is taken out when its source is removed (`removal.old_changes`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date, datetime, timedelta
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary, ref

from everword import model
from everword.errors import StoreError
from everword.facts import stored_facts
from everword.facts.rules import deciding as rules
from everword.facts.rules.keys_and_values import ConnectedValues, SlotFacts, fold, has_same_value, is_compared_by_words
from everword.log.append_and_read import warn_of_damage
from everword.model.log import NOTES, own_notes
from everword.ports import Tx

FINDINGS = "findings"
REFUSED = "refused"
"""The slot of what was refused."""
MAX_REFUSALS = 200
"""Refusals of a person that are kept: the last ones."""
IDS = 32  # messages whose findings are looked up together
FOUND_FIELDS = tuple(field.name for field in fields(model.FoundFact))
OPPOSITES = {"dislikes": "likes"}  # keys that contradict each other share a slot


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact found in a message, and where that was said."""

    message: model.Message
    number: int
    audience: str | None
    fact: model.FoundFact

    @property
    def sort_key(self) -> tuple[datetime, str, int, int]:
        """Sorts findings by the order in which they were said."""
        return self.message.time, self.message.conversation, self.message.turn, self.number


@dataclass(frozen=True, slots=True)
class RefusedFinding:
    """A fact that was found in a message and is not kept, and why."""

    message: model.Message
    fact: model.FoundFact
    refusal: model.FactRefusal


def slot_of(fact: model.FoundFact | model.Fact) -> str:
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


def facts_in_slots(tx: Tx, space: str, person: str, slots: Collection[str]) -> list[model.Fact]:
    """The facts about a person that are in these slots. Only they are read, however many there are."""
    facts = [
        fact
        for category, keys in keys_of_slots(slots)
        for fact in stored_facts.facts_of(tx, space, person, category=category, key=keys)
    ]
    return [fact for fact in facts if slot_of(fact) in slots]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order in which they were said."""
    return sorted(findings, key=lambda finding: finding.sort_key)


def drop_findings(tx: Tx, person: str, *messages: model.Message) -> set[str]:
    """Delete what an earlier reading of messages of one space found. Returns the slots of the deleted findings."""
    if not messages:
        return set()
    place = {"space": messages[0].space, "user_id": person}
    ids = [message.id for message in messages]
    rows: list[Mapping[str, Any]] = []
    for start in range(0, len(ids), IDS):  # always as many, so that the statement is prepared once
        some_ids = [*ids[start : start + IDS], *([ids[-1]] * IDS)][:IDS] if len(ids) > 1 else ids
        rows += tx.rows(FINDINGS, where={**place, "message_id": tuple(some_ids)})
    for id in {row["message_id"] for row in rows}:
        tx.remove(FINDINGS, {**place, "message_id": id})
    return {str(row["slot"]) for row in rows} - {REFUSED}


def newest_finding(tx: Tx, space: str, person: str, slot: str) -> Finding | None:
    """The finding of a slot that was said last."""
    rows = tx.rows(FINDINGS, limit=1, where={"space": space, "user_id": person, "slot": slot}, newest=True)
    return to_finding(rows[0]) if rows else None


def findings_of(tx: Tx, space: str, person: str, slot: str) -> list[Finding]:
    """All findings of a slot, in the order in which they were said."""
    return [to_finding(row) for row in tx.rows(FINDINGS, where={"space": space, "user_id": person, "slot": slot})]


def weigh_findings(
    facts: SlotFacts, findings: Iterable[Finding], person: str
) -> tuple[dict[str, model.Fact | None], list[rules.Action]]:
    """Weigh findings against the facts of a slot, and put what follows among them. Returns the facts that this changed
    as they were before, by id (None for one that was not there), and the actions that led to it."""
    facts_before: dict[str, model.Fact | None] = {}
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
        tx.remove(FINDINGS, {**place, "message_id": message_id})
    rows = [
        finding_row(person, REFUSED, Finding(refused.message, number, audience, refused.fact))
        | {"found": json_values(refused.fact) | asdict(refused.refusal)}
        for number, refused in enumerate(refusals)
    ]
    tx.put(FINDINGS, rows)
    stored_rows = tx.rows(FINDINGS, where=place)
    for row in stored_rows[:-MAX_REFUSALS]:
        tx.remove(FINDINGS, {**place, **{name: row[name] for name in ("time", "conversation", "turn", "number")}})


def refusals_of(tx: Tx, space: str, person: str) -> list[model.RefusedFact]:
    """What was refused in a person's messages, oldest first."""
    return [
        to_refused_fact(row) for row in tx.rows(FINDINGS, where={"space": space, "user_id": person, "slot": REFUSED})
    ]


def to_refused_fact(row: Mapping[str, Any]) -> model.RefusedFact:
    found = {name: value for name, value in row["found"].items() if name not in ("reason", "kind")}
    fact = to_found_fact({**row, "found": found})
    reason = str(row["found"].get("reason", ""))
    return model.RefusedFact(
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


def kind_of_reason(reason: str) -> model.RefusalKind:
    """The kind of a refusal that was stored without it, before there were kinds."""
    return next((kind for start, kind in OLD_REASONS.items() if reason.startswith(start)), "not_said")


OLD_REASONS: dict[str, model.RefusalKind] = {
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


def json_values(fact: model.FoundFact) -> dict[str, Any]:
    values = {name: getattr(fact, name) for name in FOUND_FIELDS}
    return values | {name: values[name].isoformat() for name in ("since", "until") if values[name]}


def to_finding(row: Mapping[str, Any]) -> Finding:
    place = (row["space"], row["conversation"], row["turn"], row["message_id"])
    message = model.Message(*place, "user", row["author"], row["user_id"], "", row["time"])
    return Finding(message, row["number"], row["audience"], to_found_fact(row))


def to_found_fact(row: Mapping[str, Any]) -> model.FoundFact:
    try:
        return found_fact_of(row["found"])
    except (LookupError, TypeError, ValueError):
        place = f"message {row['turn']} of conversation {row['conversation']!r} in space {row['space']!r}"
        raise StoreError(f"the facts stored for {place} are damaged; run `everword rebuild facts`") from None


def found_fact_of(values: Mapping[str, Any]) -> model.FoundFact:
    """The found fact that `json_values` were made of."""
    days = {name: date.fromisoformat(values[name]) if values[name] else None for name in ("since", "until")}
    return model.FoundFact(**{**values, **days})


# -- what is known of a person, as far as it was read

Reweigh = bool | Literal["connected"]
"""True: findings are all of a slot, and are weighed from the start. "connected": so are all that are connected with
new ones. False: they are new ones only, and are weighed against what is known."""


@dataclass(slots=True)
class SlotFindings:
    """The findings of a slot, with their values."""

    findings: list[Finding] = field(default_factory=list)
    values: ConnectedValues = field(default_factory=ConnectedValues)
    has_odd: bool = False
    """Whether one is compared by more than its words, and so with all facts of the slot."""
    newest: Finding | None = None
    """The one that was said last."""

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.findings.append(finding)
            self.values.add(finding.fact.value)
            self.has_odd = self.has_odd or not is_compared_by_words(finding.fact)
            if self.newest is None or finding.sort_key > self.newest.sort_key:
                self.newest = finding

    def with_connected(self, fresh: Sequence[Finding]) -> tuple[list[Finding], Reweigh]:
        """New findings with all that are to be weighed again with them."""
        if self.has_odd or not all(is_compared_by_words(finding.fact) for finding in fresh):
            return in_order([*self.findings, *fresh]), True
        numbers = self.values.connected_with(finding.fact.value for finding in fresh)
        return in_order([*(self.findings[number] for number in numbers), *fresh]), "connected"


class PersonSlots:
    """The facts and the findings of a person, slot by slot, as far as they were read."""

    def __init__(self, tx: Tx, space: str, person: str) -> None:
        self._tx = ref(tx)
        self._place = space, person
        self._facts: dict[str, SlotFacts] = {}
        self._read_keys: set[tuple[str, str]] = set()
        self._findings: dict[str, SlotFindings] = {}

    @property
    def tx(self) -> Tx:
        tx = self._tx()
        assert tx is not None  # whoever uses it is in the transaction
        return tx

    def read_facts(self, slots: Iterable[str]) -> None:
        """Read the facts of some slots, unless that was done."""
        for category, keys in keys_of_slots(slots):
            new_keys = tuple(key for key in keys if (category, key) not in self._read_keys)
            self._read_keys.update((category, key) for key in new_keys)
            for fact in (
                stored_facts.facts_of(self.tx, *self._place, category=category, key=new_keys) if new_keys else ()
            ):
                self.facts(slot_of(fact)).put(fact)

    def facts(self, slot: str) -> SlotFacts:
        """The facts of a slot that was read. Who stores changes of them puts them here, too."""
        return self._facts.setdefault(slot, SlotFacts())

    def findings(self, slot: str) -> SlotFindings:
        """The findings of a slot."""
        if slot not in self._findings:
            slot_findings = SlotFindings()
            slot_findings.add(findings_of(self.tx, *self._place, slot))
            self._findings[slot] = slot_findings
        return self._findings[slot]

    def newest_finding(self, slot: str) -> Finding | None:
        """The finding of a slot that was said last."""
        known_findings = self._findings.get(slot)
        return newest_finding(self.tx, *self._place, slot) if known_findings is None else known_findings.newest

    def add_findings(self, slot: str, findings: Iterable[Finding]) -> None:
        """Take note of findings that are stored."""
        if slot in self._findings:
            self._findings[slot].add(findings)

    def forget_findings(self, slots: Iterable[str]) -> None:
        """Read the findings of some slots anew when they are needed: some of them are gone."""
        for slot in slots:
            self._findings.pop(slot, None)


SlotsByPerson: TypeAlias = dict[tuple[str, str], PersonSlots]
"""What was read of people, by their spaces and names."""


class SlotsInTransactions:
    """What each open transaction has read of people: it saves many conversations, often of one person."""

    def __init__(self) -> None:
        self._by_tx: WeakKeyDictionary[Tx, SlotsByPerson] = WeakKeyDictionary()

    def slots_in(self, tx: Tx) -> SlotsByPerson:
        return self._by_tx.setdefault(tx, {})


def record_findings(
    tx: Tx,
    person: str,
    audience: str | None,
    found_facts: Iterable[tuple[model.Message, model.FoundFact]],
    known_slots: PersonSlots,
    read_again: Iterable[model.Message] = (),
) -> dict[str, tuple[list[Finding], Reweigh]]:
    """Store findings, in place of what was found in their messages before, and in those that were `read_again`. Returns
    for each changed slot the findings that are to be weighed, in order."""
    new_findings: dict[str, list[Finding]] = {}
    messages = {message.id: message for message in read_again}
    for number, (message, fact) in enumerate(found_facts):
        tidy_fact = rules.place_in_time(rules.tidy_fact(fact), message)
        messages[message.id] = message
        new_findings.setdefault(slot_of(tidy_fact), []).append(Finding(message, number, audience, tidy_fact))
    stale_slots = drop_findings(tx, person, *messages.values())
    known_slots.forget_findings(stale_slots)
    slots: dict[str, tuple[list[Finding], Reweigh]] = {}
    for slot in sorted({*new_findings, *stale_slots}):
        fresh = in_order(new_findings.get(slot, ()))
        if slot in stale_slots:
            slots[slot] = in_order([*known_slots.findings(slot).findings, *fresh]), True
        elif is_late(fresh[0], known_slots.newest_finding(slot)):
            slots[slot] = known_slots.findings(slot).with_connected(fresh)
        else:
            slots[slot] = fresh, False
        known_slots.add_findings(slot, fresh)
    rows = [finding_row(person, slot, finding) for slot, fresh in new_findings.items() for finding in fresh]
    tx.put(FINDINGS, rows)
    return slots


def is_late(finding: Finding, newest: Finding | None) -> bool:
    """Whether a finding was said before another of its slot that is stored."""
    return newest is not None and finding.sort_key[:3] <= newest.sort_key[:3]


# -- changes by hand

JUST_AFTER = timedelta(microseconds=1)
COMMANDS: Mapping[model.FactChangeKind, str] = {"add": "add_fact", "edit": "edit_fact", "delete": "delete_fact"}

DELETED = "Delete a fact"  # what the log says: not which one, so that nothing is left of it when its source is removed


@dataclass(frozen=True, slots=True)
class DecidedFacts:
    """What a change says of a person: the findings, the message that it is, the channel that sees it, and the ids of
    the findings that it denies."""

    person: str
    audience: str | None
    message: model.Message
    facts: tuple[model.FoundFact, ...]
    finding_ids: tuple[str, ...] = ()


def change_metadata(
    kind: model.FactChangeKind, facts: Sequence[model.FoundFact], audience: str | None, after: datetime | None
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


def line_of(fact: model.FoundFact) -> str:
    """A fact as a line, as the log keeps it."""
    whose = f"{fact.subject}: " if fact.subject else ""
    return f"{whose}{fact.key}: {fact.value}"


def decided_facts(row: model.Statement, message: model.Message) -> DecidedFacts:
    """What a message that is a change says. It comes after the fact that it changes, whatever the clocks say. Of a
    message that retention has removed, only what its row has is known."""
    details = own_notes(message.metadata)
    after = details.get("after")
    if after is not None:
        message = replace(message, time=max(message.time, datetime.fromisoformat(after) + JUST_AFTER))
    facts = tuple(map(found_fact_of, details.get("facts", ())))
    return DecidedFacts(row.user, details.get("audience"), message, facts, denied_ids(row))


def changes_in(tx: Tx, messages: Iterable[model.Message]) -> list[DecidedFacts]:
    """What those of the messages say that are changes and still stand."""
    pairs = stored_facts.statements_in(tx, messages, kind=stored_facts.CHANGES)
    return [decided_facts(row, message) for message, row in pairs if row.active and row.id == message.id]


# -- what is denied


def put_change(tx: Tx, row: model.Statement) -> None:
    """Store the row of a change. Those that deny something are of a kind of their own: they are few, and are read when
    a fact is weighed."""
    stored_facts.put_statements(tx, [row], stored_facts.DENIAL if denied_ids(row) else stored_facts.CHANGE)


def denied_ids(row: model.Statement) -> tuple[str, ...]:
    """The ids of the findings that a change denies: its row names its own message first."""
    return row.sources[1:]


def ids_saying(tx: Tx, fact: model.Fact) -> tuple[str, ...]:
    """The ids of a fact, and of the other findings that say the same in its sources."""
    where = {"space": fact.space, "user_id": fact.user, "message_id": fact.sources}
    findings = map(to_finding, tx.rows(FINDINGS, where=where))
    ids = [id_of(finding, fact.user) for finding in findings if says_value(finding, fact)]
    return tuple(dict.fromkeys((fact.id, *ids)))


def says_value(finding: Finding, fact: model.Fact) -> bool:
    found_fact = finding.fact
    is_same_slot = slot_of(found_fact) == slot_of(fact)
    return is_same_slot and not found_fact.retracts and has_same_value(fact, found_fact)


def slots_denied(tx: Tx, space: str, person: str, ids: Collection[str]) -> set[str]:
    """The slots of the facts with these ids."""
    rows = tx.rows(stored_facts.FACTS, where={"space": space, "user_id": person, "id": tuple(ids)}) if ids else ()
    return {slot_of(stored_facts.to_fact(row)) for row in rows}


def denial_of(fact: model.FoundFact | model.Fact) -> model.FoundFact:
    """That a fact is not so."""
    return model.FoundFact(
        fact.category, fact.key, fact.value, 1.0, fact.importance, fact.subject, "not", corrects=True
    )


def with_denials(
    tx: Tx,
    person: str,
    slot: str,
    weighing: tuple[Sequence[Finding], Reweigh],
    changes: Sequence[model.Statement],
    known_slots: PersonSlots,
    new_changes: Collection[str],
) -> tuple[Sequence[Finding], Reweigh]:
    """The findings of a slot that are to be weighed, with what people denied by hand among them. `new_changes` are the
    ids of changes that are weighed for the first time; others matter only if they came after something that is new."""
    if not changes:
        return weighing
    findings, reweigh = weighing
    facts_by_id: dict[str, model.FoundFact | model.Fact] = {
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


def denying(tx: Tx, changes: Sequence[model.Statement], ids: Collection[str]) -> list[tuple[DecidedFacts, str]]:
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
    where = {"space": space, "user_id": person, "kind": stored_facts.CHANGES, "active": 1}
    return bool(tx.rows(stored_facts.STATEMENTS, limit=1, where=where))


def changes_behind(tx: Tx, space: str, person: str, facts: Iterable[model.Fact]) -> frozenset[str]:
    """The ids of the changes that stand and that these facts began with or were last said by."""
    ids = sorted({id for fact in facts for id in (fact.sources[0], fact.sources[-1])})
    where = {"space": space, "user_id": person, "kind": stored_facts.CHANGES, "active": 1}
    return frozenset(
        row["id"]
        for page in stored_facts.in_pages(ids)
        for row in tx.rows(stored_facts.STATEMENTS, where=where | {"id": page})
    )


def name_retirements(facts: Mapping[str, model.Fact], change_ids: frozenset[str]) -> dict[str, model.Fact]:
    """The facts by id; one that a change retired says so: `retired_by` is the fact in its place, or the change."""
    in_place = {fact.sources[0]: fact.id for fact in facts.values() if fact.sources[0] in change_ids}
    return {
        id: replace(fact, retired_by=in_place.get(fact.sources[-1], fact.sources[-1]))
        if not fact.active and fact.retired_by in (None, fact.sources[-1]) and fact.sources[-1] in change_ids
        else fact
        for id, fact in facts.items()
    }
