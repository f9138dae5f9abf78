"""Facts as rows of their table, and the facts of people as a process has cached them.

Every context reads all facts of its people, and they change rarely. So a list of them is cached with the version that
the store gave to its facts then, and is read again when that is another one, or when messages were removed since.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from operator import itemgetter
from threading import Lock
from typing import Any

from recollect.model import Fact
from recollect.ports import FACTS_VERSION, REMOVALS, Tx

Version = tuple[str, str]

TABLE = "facts"
NOTES = "meta"
MAX_CACHED = 16_384  # facts that are cached of all people, of a kilobyte or so


def facts_of(tx: Tx, space: str, person: str, *, active: bool = False) -> list[Fact]:
    """The facts about a person, in order of id."""
    where: dict[str, Any] = {"space": space, "user_id": person}
    return [to_fact(row) for row in tx.rows(TABLE, where=where | {"active": 1} if active else where)]


def active_facts_by_person(tx: Tx, space: str, people: Iterable[str]) -> dict[str, Sequence[Fact]]:
    """The facts that hold now about each of some people, in order of id, in a transaction that only reads. One query
    for all of them whose facts are not cached."""
    names = [*dict.fromkeys(people)]
    version = read_version(tx) if names else None
    facts = {person: _cached_facts.find(space, person, version) for person in names}
    unread = tuple(person for person, known_facts in facts.items() if known_facts is None)
    new_facts: dict[str, list[Fact]] = {person: [] for person in unread}
    where = {"space": space, "user_id": unread, "active": 1}
    for fact in map(to_fact, tx.rows(TABLE, where=where, kept=True) if unread else ()):
        new_facts[fact.user].append(fact)
    for person, person_facts in new_facts.items():
        _cached_facts.put(space, person, version, person_facts)
    return {person: new_facts[person] if known is None else known for person, known in facts.items()}


def read_version(tx: Tx) -> Version | None:
    """Which facts the store has; None if it does not say. Transactions that read the same version read the same."""
    notes = {row["key"]: row["value"] for row in tx.rows(NOTES, where={"key": (FACTS_VERSION, REMOVALS)})}
    return (notes[FACTS_VERSION], notes.get(REMOVALS, "")) if FACTS_VERSION in notes else None


class CachedFacts:
    """Lists of facts by the space and the person, each of one version. All are dropped when they are too many."""

    def __init__(self, max_facts: int) -> None:
        self._max_facts = max_facts
        self._count = 0
        self._entries: dict[tuple[str, str], tuple[Version, Sequence[Fact]]] = {}
        self._lock = Lock()

    def find(self, space: str, person: str, version: Version | None) -> Sequence[Fact] | None:
        """The facts of a person in a version; None if they are not cached."""
        entry = self._entries.get((space, person))
        return None if entry is None or entry[0] != version else entry[1]

    def put(self, space: str, person: str, version: Version | None, facts: Sequence[Fact]) -> None:
        if version is None:
            return
        with self._lock:
            earlier = self._entries.pop((space, person), None)
            self._count += len(facts) - (0 if earlier is None else len(earlier[1]))
            if self._count > self._max_facts or len(self._entries) >= self._max_facts:
                self._entries.clear()
                self._count = len(facts)
            self._entries[space, person] = (version, facts)


_cached_facts = CachedFacts(MAX_CACHED)


def former_facts_of(tx: Tx, space: str, person: str) -> list[Fact]:
    """The facts about a person that no longer hold, in order of id."""
    return [to_fact(row) for row in tx.rows(TABLE, where={"space": space, "user_id": person, "active": 0})]


def facts_with_keys(tx: Tx, space: str, person: str, category: str, keys: tuple[str, ...]) -> list[Fact]:
    """The facts about a person in a category that have one of these keys."""
    where = {"space": space, "user_id": person, "category": category, "key": keys}
    return [to_fact(row) for row in tx.rows(TABLE, where=where)]


def facts_in(tx: Tx, space: str, person: str | None = None) -> list[Fact]:
    """The facts of a space that hold now; of one person, if given."""
    where: dict[str, Any] = {"space": space, "active": 1}
    return [to_fact(row) for row in tx.rows(TABLE, where=where if person is None else where | {"user_id": person})]


def put_facts(tx: Tx, facts: Iterable[Fact]) -> None:
    tx.put(TABLE, [fact_row(fact) for fact in facts])


NAMES = tuple(field.name for field in fields(Fact) if field.name not in ("user", "active"))
IN_ORDER = tuple(field.name for field in fields(Fact))
get_values = itemgetter(*({"user": "user_id"}.get(name, name) for name in IN_ORDER))


def fact_row(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in NAMES} | {"user_id": fact.user, "active": int(fact.active)}


def to_fact(row: Mapping[str, Any]) -> Fact:
    """A row as a fact. A row that is kept is the same object when it is read again, and so is its fact."""
    return known_fact(row) if isinstance(row, Hashable) else make_fact(row)


def make_fact(row: Mapping[str, Any]) -> Fact:
    """A person may have a thousand: values are given in order, which takes half as long as by name."""
    return Fact(*get_values({**row, "active": bool(row["active"])}))


known_fact = lru_cache(maxsize=4096)(make_fact)
