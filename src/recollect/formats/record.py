"""What a reader hands over: a message ready for the log, or the reason why there is none.

A bad record is a value, not an exception: it never stops the reading, and the caller decides what it is
worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from recollect.errors import ImportFailed
from recollect.model import Draft


@dataclass(frozen=True, slots=True)
class Record:
    """One message of an imported file.

    `user` is the owner of the conversation if it is a chat with one person, None if it is a channel. `where`
    says where in the file the message is, for a person; `position` is how many bytes had been read, for a
    progress bar. `space` is the one the file names: which one the message goes to is the caller's choice.
    """

    conversation: str
    user: str | None
    draft: Draft
    where: str
    position: int
    space: str | None = None


@dataclass(frozen=True, slots=True)
class BadRecord:
    """One place in an imported file that could not be read, and why."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Options:
    """What a file does not say: whose chats these are, who the assistant is, the zone of bare times."""

    user: str | None = None
    assistant_ids: frozenset[str] = frozenset()
    zone: tzinfo | None = None


def attempt(where: str, make: Callable[[], Record | None]) -> Iterator[Record | BadRecord]:
    """The record that `make` returns, or the reason it gives; nothing if nothing was said."""
    try:
        record = make()
    except ImportFailed as error:
        yield BadRecord(where, str(error))
    else:
        if record is not None:
            yield record
