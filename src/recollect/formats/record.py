"""The options of a reader, and how it returns a record: a message ready for the log, or the reason why there is none.

A bad record is a value, not an exception: it never stops the reading, and the caller decides what to do with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from recollect.errors import ImportFailed
from recollect.model import BadRecord, Record


@dataclass(frozen=True, slots=True)
class Options:
    """What a file does not say: whose chats these are, who the assistant is, the zone of bare times."""

    user: str | None = None
    assistant_ids: frozenset[str] = frozenset()
    zone: tzinfo | None = None


def attempt(where: str, make: Callable[[], Record | None]) -> Iterator[Record | BadRecord]:
    """The record that `make` returns, or a bad record with the reason it raises; nothing if it returns None."""
    try:
        record = make()
    except ImportFailed as error:
        yield BadRecord(where, str(error))
    else:
        if record is not None:
            yield record
