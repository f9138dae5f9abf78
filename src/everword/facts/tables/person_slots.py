"""What is known of people, slot by slot, as far as a transaction has read it.

A batch of a backlog may be a hundred conversations of one person, each of which is saved for itself, in one
transaction: if each of them read all facts and findings anew, a message would take the longer the more is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary, ref

from everword.facts.rules import deciding as rules
from everword.facts.rules.deciding import place_in_time
from everword.facts.rules.values import ConnectedValues, SlotFacts, is_compared_by_words
from everword.facts.tables import findings
from everword.facts.tables.facts import facts_with_keys
from everword.facts.tables.findings import (
    Finding,
    drop_findings,
    finding_row,
    findings_of,
    in_order,
    keys_of_slots,
    newest_finding,
    slot_of,
)
from everword.model import FoundFact, Message
from everword.ports import Tx

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
            for fact in facts_with_keys(self.tx, *self._place, category, new_keys) if new_keys else ():
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
    found_facts: Iterable[tuple[Message, FoundFact]],
    known_slots: PersonSlots,
) -> dict[str, tuple[list[Finding], Reweigh]]:
    """Store findings. Returns for each changed slot the findings that are to be weighed, in order."""
    new_findings: dict[str, list[Finding]] = {}
    messages: dict[str, Message] = {}
    for number, (message, fact) in enumerate(found_facts):
        tidy_fact = place_in_time(rules.tidy_fact(fact), message)
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
    tx.put(findings.TABLE, rows)
    return slots


def is_late(finding: Finding, newest: Finding | None) -> bool:
    """Whether a finding was said before another of its slot that is stored."""
    return newest is not None and finding.sort_key[:3] <= newest.sort_key[:3]
