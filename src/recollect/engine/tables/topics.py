"""Topics as rows: states, the turns that belong to each, and the packs of what left the active set.

Everything here is of one conversation (`place`) and inside a transaction of the caller's. Who writes holds the
conversation's lock, so states read and written in one transaction are nobody else's meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recollect.engine.tables.log import warn_of_damage
from recollect.model import Filter, Message
from recollect.model.topics import TopicMessage
from recollect.ports import Tx
from recollect.rules.topics import compression
from recollect.rules.topics.centroids import Row, as_kept
from recollect.rules.topics.drift import Seen
from recollect.rules.topics.topics import State

TABLE, HEADS, TURNS, PACKS = "topics", "topic_heads", "topic_turns", "topic_packs"
SUMMARIES, NOTES = "topic_summaries", "topic_notes"

Place = Mapping[str, Any]


def place_of(space: str, conversation: str) -> dict[str, Any]:
    return {"space": space, "conversation": conversation}


# -- states


def states_of(tx: Tx, place: Place, *, active: bool | None = None) -> dict[int, State]:
    """The topics of a conversation: all, or those that are active, or those that have faded."""
    where = dict(place) if active is None else {**place, "active": int(active)}
    return {row["first"]: to_state(row) for row in tx.rows(TABLE, where=where)}


def put_states(tx: Tx, place: Place, states: Iterable[State]) -> None:
    tx.put(TABLE, [row_of(place, state) for state in states])


def row_of(place: Place, state: State) -> dict[str, Any]:
    return {
        **place,
        "first": state.first,
        "title": state.title,
        "made_by": state.made_by,
        "created_at": state.created_at,
        "last_active_at": state.last_active_at,
        "centroid": state.centroid,
        "count": state.count,
        "accesses": state.accesses,
        "returns": state.returns,
        "importance": state.importance,
        "ups": state.ups,
        "downs": state.downs,
        "tags": state.tags,
        "packed": state.packed,
        "packed_upto": state.packed_upto,
        "opened": state.opened,
        "active": int(state.faded_at is None),
        "faded_at": state.faded_at,
        "merged_into": state.merged_into,
        "apart": tuple(map(str, sorted(state.apart))),
        "pending": int(state.pending),
    }


def to_state(row: Mapping[str, Any]) -> State:
    return State(
        first=row["first"],
        title=row["title"],
        created_at=row["created_at"],
        last_active_at=row["last_active_at"],
        centroid=bytes(row["centroid"]),
        count=row["count"],
        accesses=row["accesses"],
        returns=row["returns"],
        importance=row["importance"],
        ups=row["ups"],
        downs=row["downs"],
        tags=tuple(row["tags"]),
        packed=row["packed"],
        opened=row["opened"],
        faded_at=row["faded_at"],
        merged_into=row["merged_into"],
        apart=frozenset(map(int, row["apart"])),
        made_by=row["made_by"],
        packed_upto=row["packed_upto"],
        pending=bool(row["pending"]),
    )


# -- the last messages


def recent_bytes(recent: Sequence[tuple[int, Row]]) -> bytes:
    """The turns and vectors of the last messages: they may be ahead of the index, which does not have them yet."""
    if not recent:
        return b""
    turns = np.array([turn for turn, _ in recent], np.int32)
    width = max(len(vector) for _, vector in recent)
    rows = np.zeros((len(recent), width), np.float16)
    for number, (_, vector) in enumerate(recent):
        rows[number, : len(vector)] = vector
    return len(recent).to_bytes(2, "big") + turns.tobytes() + rows.tobytes()


def recent_of(tx: Tx, place: Place, stored: bytes) -> list[tuple[int, Seen]]:
    """The last messages again, with what they said."""
    if not stored:
        return []
    count = int.from_bytes(stored[:2], "big")
    turns = np.frombuffer(stored, np.int32, count, 2).tolist()
    rows = np.frombuffer(stored, np.float16, offset=2 + 4 * count).reshape(count, -1)
    where = Filter(place["space"], conversation=place["conversation"])
    begin = (place["conversation"], turns[0] - 1)
    said = {m.turn: m for m in tx.messages(where, after=begin, upto=turns[-1], damaged=warn_of_damage)}
    return [
        (turn, Seen(said[turn].content, as_kept(row), said[turn].role, said[turn].time))
        for turn, row in zip(turns, rows, strict=True)
        if turn in said
    ]


# -- turns and packs


def put_turns(tx: Tx, place: Place, turns: Sequence[tuple[Message, int]]) -> None:
    tx.put(TURNS, [{**place, "turn": m.turn, "topic": first, "message_id": m.id} for m, first in turns])


def topic_at(tx: Tx, place: Place, turn: int) -> int | None:
    """The topic a turn was given to."""
    rows = tx.rows(TURNS, where={**place, "turn": turn})
    return int(rows[0]["topic"]) if rows else None


def loose(tx: Tx, place: Place, state: State, after: int | None = None) -> list[TopicMessage]:
    """The messages of a topic that are in no pack, in order; or those after a turn."""
    start = state.packed_upto if after is None else after
    rows = tx.rows(TURNS, {**place, "turn": start}, where={**place, "topic": state.first})
    return said_in(tx, place, [row["message_id"] for row in rows])


def said_in(tx: Tx, place: Place, ids: Iterable[str]) -> list[TopicMessage]:
    there = tx.find_messages(place["space"], ids=ids, damaged=warn_of_damage)
    found = [message for message in there if not message.erased]
    return [TopicMessage(m.turn, m.role, m.author, m.content, m.time) for m in sorted(found, key=lambda m: m.turn)]


def packed_of(tx: Tx, place: Place, state: State) -> list[TopicMessage]:
    """The messages of a topic that are in packs, in order."""
    if not state.packed_upto:
        return []
    rows = tx.rows(PACKS, where={**place, "topic": state.first})
    return [message for row in rows for message in compression.unpack(bytes(row["packed"]))]


def history_of(tx: Tx, place: Place, parts: Sequence[State]) -> list[TopicMessage]:
    """Every message of a topic and of what has become part of it, in order."""
    every = [m for part in parts for m in (*packed_of(tx, place, part), *loose(tx, place, part))]
    return sorted(every, key=lambda message: message.turn)


def active_of(tx: Tx, place: Place, parts: Sequence[State]) -> list[TopicMessage]:
    """The messages of its active set: those in no pack, and all of them once it has been unpacked."""
    every = list[TopicMessage]()
    for part in parts:
        every += packed_of(tx, place, part) if part.opened is not None else []
        every += loose(tx, place, part)
    return sorted(every, key=lambda message: message.turn)


def packed_away(tx: Tx, place: Place, state: State, before: int) -> State:
    """Put what left the active set into packs, of which `before` messages are there already."""
    here = {**place, "topic": state.first}
    going = loose(tx, place, state)[: state.packed - before]
    if not going:
        return state
    last = tx.rows(PACKS, limit=1, where=here, newest=True)
    if last and last[0]["messages"] < compression.MOST:
        going = [*compression.unpack(bytes(last[0]["packed"])), *going]
        tx.remove(PACKS, {**here, "last": last[0]["last"]})
    some = [going[start : start + compression.MOST] for start in range(0, len(going), compression.MOST)]
    tx.put(PACKS, [{**here, "last": m[-1].turn, "messages": len(m), "packed": compression.pack(m)} for m in some])
    return replace(state, packed_upto=going[-1].turn)


def summary_of(tx: Tx, place: Place, first: int) -> Mapping[str, Any]:
    """What is written of a topic: the summary so far and up to which turn, and the model's own, as far as that goes."""
    rows = tx.rows(SUMMARIES, where={**place, "topic": first})
    return rows[0] if rows else {**place, "topic": first, "summary": "", "upto": 0, "base": "", "base_upto": 0}
