"""The cache of what is made from a store's rows.

There is one rule of validity: what was made is used again while the version that the store gives for its scope, read in
the same transaction, is what it was. A store changes that version in every transaction that changes the scope, so the
cache is right with several processes on one store, after a rollback, and in a snapshot that is older than the cache.
Nobody may change what it returns. What can grow, as the index of a scope does, is made from the `latest` value instead
of anew. All entries together have a maximal size; the least recently used goes first.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

T = TypeVar("T")

Scope = tuple[str, str, str]
"""A table, a space, and whose rows of it: a person's, or those of the WHOLE_SPACE."""
WHOLE_SPACE = ""
NOTHING: Any = object()


class Versions(Protocol):
    """A transaction that knows the versions of scopes."""

    def version(self, scope: Scope) -> str | None: ...


class VersionedValue(NamedTuple):
    """What was made of a scope, the version that the scope had, and about how many bytes it takes."""

    value: Any
    version: Any
    size: int


class Cache:
    """What was made of the rows of a store, up to a number of bytes. Safe for threads."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.size = 0
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[Hashable, VersionedValue] = OrderedDict()
        self._lock = Lock()

    def get(self, tx: Versions, scope: Scope, name: Hashable, make: Callable[[], T]) -> T:
        """What `make` returns, made anew if the scope has changed since it was made."""
        version = tx.version(scope)
        if version is None:
            return make()
        value: T = self.find((scope, name), version, NOTHING)
        if value is NOTHING:
            value = make()
            self.put((scope, name), version, value)
        return value

    def find(self, key: Hashable, version: Hashable, default: Any = None) -> Any:
        """What was made at this version."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.version != version:
                self.misses += 1
                return default
            self.hits += 1
            self._entries.move_to_end(key)
            return entry.value

    def latest(self, key: Hashable) -> VersionedValue | None:
        """What was made last, at whichever version."""
        return self._entries.get(key)

    @property
    def keys(self) -> list[Any]:
        """The keys of all entries, the least recently used first."""
        return list(self._entries)

    def put(self, key: Hashable, version: Hashable, value: Any, size: int | None = None) -> None:
        """Keep what was made at this version. What is larger than the whole cache is not kept."""
        entry = VersionedValue(value, version, approximate_size(value) if size is None else size)
        with self._lock:
            earlier = self._entries.pop(key, None)
            self.size += entry.size - (0 if earlier is None else earlier.size)
            self._entries[key] = entry
            while self.size > self.max_bytes:
                self.size -= self._entries.popitem(last=False)[1].size

    def drop(self, key: Hashable) -> None:
        with self._lock:
            entry = self._entries.pop(key, None)
            self.size -= 0 if entry is None else entry.size


def approximate_size(value: Any) -> int:
    """About how many bytes a value takes, with all that is in it."""
    size = sys.getsizeof(value)
    if isinstance(value, str | bytes):
        return size
    if isinstance(value, Mapping):
        return size + sum(approximate_size(part) for item in value.items() for part in item)
    if isinstance(value, list | tuple | set | frozenset):
        return size + sum(map(approximate_size, value))
    if is_dataclass(value):
        return size + sum(approximate_size(getattr(value, field.name)) for field in fields(value))
    return size
