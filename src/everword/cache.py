"""The cache of what is made from a store's rows.

There is one rule of validity: what was made is used again while the store's version of its scope, read in the same
transaction, is what it was. A store changes that version in every transaction that changes the scope, so the cache is
right with several processes on one store, after a rollback, and in a snapshot that is older than the cache. Nobody may
change what it returns. All entries together have a maximal size; the least recently used goes first.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from threading import Lock
from typing import Any, Protocol, TypeVar, cast

T = TypeVar("T")

Scope = tuple[str, str, str]
"""A table, a space, and whose rows of it: a person's, or those of the WHOLE_SPACE."""
WHOLE_SPACE = ""


class Versions(Protocol):
    """A transaction that knows the versions of scopes."""

    def version(self, scope: Scope) -> str | None: ...


@dataclass(frozen=True, slots=True)
class CachedValue:
    """What was made of a scope, the version that the scope had, and about how many bytes it takes."""

    value: Any
    version: str
    size: int


class Cache:
    """What was made of the rows of a store, up to a number of bytes. Safe for threads."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.size = 0
        self.hits = 0
        self.misses = 0
        self._entries: OrderedDict[tuple[Scope, Hashable], CachedValue] = OrderedDict()
        self._lock = Lock()

    def get(self, tx: Versions, scope: Scope, name: Hashable, make: Callable[[], T]) -> T:
        """What `make` returns, made anew if the scope has changed since it was made."""
        version = tx.version(scope)
        if version is None:
            return make()
        key = scope, name
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.version == version:
                self.hits += 1
                self._entries.move_to_end(key)
                return cast(T, entry.value)
            self.misses += 1
        value = make()
        self._put(key, CachedValue(value, version, approximate_size(value)))
        return value

    def _put(self, key: tuple[Scope, Hashable], entry: CachedValue) -> None:
        with self._lock:
            earlier = self._entries.pop(key, None)
            self.size += entry.size - (0 if earlier is None else earlier.size)
            self._entries[key] = entry
            while self.size > self.max_bytes:
                self.size -= self._entries.popitem(last=False)[1].size


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
