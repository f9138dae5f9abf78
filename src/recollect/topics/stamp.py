"""The stamp of a conversation's topics: it tells a cache whether it is still valid, and else what to read again.

Each write of topics puts a new stamp into the head row. A stamp names the last writes and the topics that each has
changed: a process that has cached the topics as they were after one of them reads only those again, however many there
are. So two processes that assign the messages of one conversation in turn do not read all its topics each time.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

MAX_WRITES = 64
MAX_TOPICS = 1_024
"""What a stamp names at most: writes, and topics in all."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The id of the last write; and the last writes, oldest first, each with the topics that it changed, by their
    opening turns. Of the oldest they are not known: nobody asks for them."""

    id: str = ""
    writes: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @staticmethod
    def id_in(text: str) -> str:
        """The id of a stamp, for which its writes need not be read."""
        id, _, journal = text.partition(":")
        return id if "=" in journal else text

    @classmethod
    def parse(cls, text: str) -> Stamp:
        id, _, journal = text.partition(":")
        if "=" not in journal:  # of an older version: no writes are named
            return cls(text)
        writes = [write.partition("=") for write in journal.split(";")]
        return cls(
            id, tuple((name, tuple(map(int, firsts.split(",") if firsts else ()))) for name, _, firsts in writes)
        )

    def __str__(self) -> str:
        writes = [f"{name}={','.join(map(str, firsts))}" for name, firsts in self.writes]
        return f"{self.id}:{';'.join(writes)}"

    def next(self, firsts: Collection[int]) -> Stamp:
        """The stamp after a write that changed these topics."""
        id = os.urandom(8).hex()
        writes = [*self.writes, (id, tuple(firsts))][-MAX_WRITES:]
        room = MAX_TOPICS - sum(len(firsts) for _, firsts in writes[1:])
        while room < 0:
            del writes[0]
            room += len(writes[0][1])
        return Stamp(id, ((writes[0][0], ()), *writes[1:]))

    def changes_since(self, earlier: Stamp) -> set[int] | None:
        """The topics that were changed since an earlier write; None if that is not known."""
        names = [name for name, _ in self.writes]
        if earlier.id not in names:
            return None
        later_writes = self.writes[names.index(earlier.id) + 1 :]
        return {first for _, firsts in later_writes for first in firsts}
