"""The topics of a conversation as a process has cached them: what has changed since is read again, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.ports import Tx
from recollect.topics import tables as rows
from recollect.topics.rules.topic_set import TopicSet
from recollect.topics.rules.topics import Book, FadedTopics
from recollect.topics.stamp import Stamp


@dataclass(frozen=True, slots=True)
class CachedTopics:
    """The topics of a conversation in the cache: valid while the store has the same stamp."""

    stamp: Stamp
    turn: int
    book: Book
    turns: tuple[int, ...]
    faded_topics: FadedTopics | None = None


def load_topics(
    tx: Tx, place: rows.Place, head: Mapping[str, Any], stamp: Stamp, earlier: CachedTopics | None
) -> CachedTopics:
    """The topics as the store has them; of those that were cached earlier, only what has changed since is read."""
    recent = rows.load_recent_messages(tx, place, bytes(head["recent"]))
    changes = None if earlier is None else stamp.changes_since(earlier.stamp)
    faded_topics = None
    if earlier is None or changes is None:
        states = TopicSet.of(rows.states_of(tx, place, active=True))
    else:
        changed_states = rows.states_of(tx, place, firsts=changes)
        states = earlier.book.topics.with_stored(changes, changed_states)
        faded_topics = earlier.faded_topics and earlier.faded_topics.with_stored(changes, changed_states)
    book = Book(states, head["current"], tuple(recent_message for _, recent_message in recent))
    return CachedTopics(stamp, head["turn"], book, tuple(turn for turn, _ in recent), faded_topics)
