"""Events that a program outside learns of: a fact learnt or changed, messages erased, a digest written.

An event is noted in the transaction that makes it happen, and only where a space has a receiver (`memory/webhooks.py`
sends it). It names ids and holds no words: those are read when it is sent, so an erasure leaves none behind here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

from everword.model import Fact, Message
from everword.ports import Tx

EVENTS = "events"
RECEIVERS = "webhooks"
"""The note that names the spaces whose events are kept for a receiver; `*` for all."""
EventKind = Literal["fact.learnt", "fact.changed", "message.erased", "digest.written"]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
ERASED_AT_ONCE = 500  # turns that one event of an erasure is about, at most


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to what: the `subject` is the id of a fact, or a list as JSON."""

    kind: EventKind
    conversation: str
    subject: str
    at: datetime
    user: str | None = None


def has_receiver(tx: Tx, space: str) -> bool:
    """Whether somebody outside is told of the events of a space."""
    note = tx.note(RECEIVERS)
    return note is not None and not {"*", space}.isdisjoint(json.loads(note))


def note_events(tx: Tx, space: str, events: Sequence[Event]) -> None:
    """Note events, in this order, for the receiver of a space, if it has one."""
    if not events or not has_receiver(tx, space):
        return
    # No lock: what two processes note at once may have the same numbers, and comes in any order.
    numbers = {
        conversation: last_number(tx, space, conversation) for conversation in {event.conversation for event in events}
    }
    rows = [
        {
            "space": space,
            "conversation": event.conversation,
            "number": numbers[event.conversation] + place,
            "id": f"evt_{os.urandom(12).hex()}",
        }
        | {"kind": event.kind, "subject": event.subject, "user_id": event.user, "at": event.at}
        | {"failures": 0, "retry_at": None}
        for place, event in enumerate(events, start=1)
    ]
    tx.put(EVENTS, rows)


def last_number(tx: Tx, space: str, conversation: str) -> int:
    """The number of the last event that waits of a conversation; 0 if none does."""
    rows = tx.rows(EVENTS, None, 1, where={"space": space, "conversation": conversation}, newest=True)
    return int(rows[0]["number"]) if rows else 0


def fact_events(pairs: Iterable[tuple[Fact | None, Fact | None]], at: datetime) -> list[Event]:
    """What became of facts, each as it was before (None: it is new) and as it is (None: it is gone)."""
    events: list[Event] = []
    for before, fact in pairs:
        if before is None and fact is not None and fact.active:
            events.append(Event("fact.learnt", fact.conversation, fact.id, fact.said_at, fact.user))
        elif before is not None and summary_of(before) != summary_of(fact):
            last = fact or before
            events.append(Event("fact.changed", last.conversation, last.id, last.retired_at or at, last.user))
    return events


def summary_of(fact: Fact | None) -> tuple[object, ...]:
    """What a receiver would call a change of a fact; not that it was said again."""
    return () if fact is None else (fact.active, fact.value, fact.valid_from, fact.valid_to, fact.retired_by)


def erasure_events(messages: Iterable[Message], erasure: str, at: datetime) -> list[Event]:
    """That messages were erased: an event for some turns of a conversation each."""
    turns: dict[str, list[int]] = {}
    for message in messages:
        turns.setdefault(message.conversation, []).append(message.turn)
    events: list[Event] = []
    for conversation, all_turns in sorted(turns.items()):
        for start in range(0, len(all_turns), ERASED_AT_ONCE):
            part = sorted(all_turns)[start : start + ERASED_AT_ONCE]
            subject = json.dumps([erasure, part[0], part[-1]])
            events.append(Event("message.erased", conversation, subject, at))
    return events
