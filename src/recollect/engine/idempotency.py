"""Writes that are asked for twice and done once: what was answered to a request is kept for a day, under its key.

Who comes with a key first claims it; who comes while that one is at work is told to wait; who comes later with the same
request gets the same answer, and with another request is refused. A claim whose holder died lapses. A request of which
nobody knows whether it was done is not done again: that it is not known is its answer. Answers repeat what was said, so
an erasure takes all of its space. Whoever is at work on a key stays so; but of what was begun before an erasure, only
an answer that repeats nobody's words is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from recollect.engine.tables.log import ANSWERS
from recollect.ports import Tx

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine

TABLE = LOCK = ANSWERS
LAPSES = timedelta(minutes=10)  # a claim that was neither kept nor given up
DAY = timedelta(days=1)
SWEPT = 100  # rows looked at for what is over, each time


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a key: the request may be done ("new"), is being done ("busy"), was another one ("other"), or
    was done, with this answer."""

    state: Literal["new", "busy", "other", "done"]
    status: int = 0
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A request under its key, in a space. Its name begins with its day, so that the oldest are found first."""

    space: str
    key: str
    request: bytes
    at: datetime | None = None  # when it was claimed by whoever has it

    def name(self, day: datetime) -> str:
        return f"{day:%Y-%m-%d} {self.key}"


def repeat_of(space: str, caller: str, key: str, request: bytes) -> Repeat:
    """The key of one caller is not that of another."""
    return Repeat(space, sha256(f"{caller}\n{key}".encode()).hexdigest(), sha256(request).digest())


def stamp(memory: MemoryEngine, repeat: Repeat) -> Repeat:
    """The same as it is claimed now: what is later done with the claim is done with this one alone."""
    return replace(repeat, at=memory._opened.clock.now())


async def claim(memory: MemoryEngine, repeat: Repeat) -> Known:
    now = repeat.at or memory._opened.clock.now()
    return await memory._write(lambda tx: claimed(tx, repeat, now))


async def keep(memory: MemoryEngine, repeat: Repeat, status: int, body: bytes, *, repeats_words: bool = True) -> None:
    """The answer, for whoever asks again; or, after an erasure, that they may ask for it anew."""
    now = memory._opened.clock.now()

    def write(tx: Tx) -> None:
        tx.lock(LOCK, repeat.space)
        row = held(tx, repeat, now)
        if row is None or not is_ours(row, repeat):
            return
        if repeats_words and row["body"] is not None:  # the claim is void
            tx.remove(TABLE, {"space": repeat.space, "id": row["id"]})
        else:
            tx.put(TABLE, [row | {"status": status, "body": body}])

    await memory._write(write)


async def give_up(memory: MemoryEngine, repeat: Repeat) -> None:
    """It failed: whoever asks again may try again."""
    now = memory._opened.clock.now()

    def write(tx: Tx) -> None:
        row = held(tx, repeat, now)
        if row is not None and is_ours(row, repeat):
            tx.remove(TABLE, {"space": repeat.space, "id": row["id"]})

    await memory._write(write)


def is_ours(row: Mapping[str, Any], repeat: Repeat) -> bool:
    """Whether a claim is that of this request, and not of one that came after it had lapsed."""
    return row["status"] is None and (repeat.at is None or row["at"] == repeat.at)


def claimed(tx: Tx, repeat: Repeat, now: datetime) -> Known:
    tx.lock(LOCK, repeat.space, repeat.key)
    sweep(tx, repeat.space, now)
    row = held(tx, repeat, now)
    if row is not None:
        if bytes(row["request"]) != repeat.request:
            return Known("other")
        if row["status"] is not None:
            return Known("done", row["status"], bytes(row["body"]))
        if now - row["at"] < LAPSES:
            return Known("busy")
        tx.remove(TABLE, {"space": repeat.space, "id": row["id"]})
    about = {"space": repeat.space, "id": repeat.name(now), "request": repeat.request, "at": now}
    tx.put(TABLE, [about | {"status": None, "body": None}])
    return Known("new")


def held(tx: Tx, repeat: Repeat, now: datetime) -> dict[str, Any] | None:
    for day in (now, now - DAY):
        for row in tx.rows(TABLE, where={"space": repeat.space, "id": repeat.name(day)}):
            return dict(row)
    return None


def sweep(tx: Tx, space: str, now: datetime) -> None:
    oldest = f"{now - DAY:%Y-%m-%d}"
    for row in tx.rows(TABLE, limit=SWEPT, where={"space": space}):
        if row["id"] >= oldest:
            return
        tx.remove(TABLE, {"space": space, "id": row["id"]})
