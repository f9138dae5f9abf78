"""Idempotency: a write that is requested twice is done once. The answer to a request is kept for a day, under its key.

The first caller with a key claims it. A second caller waits while the first is at work; after that, the same request
gets the same answer, and another request under the same key is refused. A claim whose holder died lapses. If nobody
knows whether a request was done, it is not done again: its answer is that this is not known. Answers repeat what was
said, so an erasure removes all answers of its space. Claims stay; but for a request that began before the erasure, an
answer is kept only if it repeats nobody's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Literal

from recollect.engine.runtime import Runtime
from recollect.engine.tables.log import ANSWERS
from recollect.ports import Tx

TABLE = LOCK = ANSWERS
LAPSES = timedelta(minutes=10)  # after this, a claim that was neither answered nor released is free
DAY = timedelta(days=1)
SWEPT = 100  # rows checked for expiry by each claim


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The state of a key: the request may be done ("new"), is being done ("busy"), was another one ("other"), or was
    done, with this answer."""

    state: Literal["new", "busy", "other", "done"]
    status: int = 0
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request under its key, in a space. Its row id begins with the day, so that the oldest rows are read first."""

    space: str
    key: str
    digest: bytes  # of the whole request
    claimed_at: datetime | None = None

    def name(self, day: datetime) -> str:
        return f"{day:%Y-%m-%d} {self.key}"


def build_keyed_request(space: str, caller: str, key: str, request: bytes) -> KeyedRequest:
    """A request under a key. Two callers with the same key do not share it."""
    return KeyedRequest(space, sha256(f"{caller}\n{key}".encode()).hexdigest(), sha256(request).digest())


def stamp(runtime: Runtime, request: KeyedRequest) -> KeyedRequest:
    """The request with the time of its claim, which identifies the claim later."""
    return replace(request, claimed_at=runtime.parts.clock.now())


async def claim(runtime: Runtime, request: KeyedRequest) -> ClaimResult:
    now = request.claimed_at or runtime.parts.clock.now()
    return await runtime.write(lambda tx: claim_in_transaction(tx, request, now))


async def keep_answer(
    runtime: Runtime, request: KeyedRequest, status: int, body: bytes, *, repeats_words: bool = True
) -> None:
    """Keep the answer for a repeated request; after an erasure, release the claim instead."""
    now = runtime.parts.clock.now()

    def write(tx: Tx) -> None:
        tx.lock(LOCK, request.space)
        row = find_claim(tx, request, now)
        if row is None or not is_ours(row, request):
            return
        if repeats_words and row["body"] is not None:  # the claim is void
            tx.remove(TABLE, {"space": request.space, "id": row["id"]})
        else:
            tx.put(TABLE, [row | {"status": status, "body": body}])

    await runtime.write(write)


async def release_claim(runtime: Runtime, request: KeyedRequest) -> None:
    """Release the claim of a request that failed: it may be tried again."""
    now = runtime.parts.clock.now()

    def write(tx: Tx) -> None:
        row = find_claim(tx, request, now)
        if row is not None and is_ours(row, request):
            tx.remove(TABLE, {"space": request.space, "id": row["id"]})

    await runtime.write(write)


def is_ours(row: Mapping[str, Any], request: KeyedRequest) -> bool:
    """Whether a claim belongs to this request, and not to one that came after the claim had lapsed."""
    return row["status"] is None and (request.claimed_at is None or row["at"] == request.claimed_at)


def claim_in_transaction(tx: Tx, request: KeyedRequest, now: datetime) -> ClaimResult:
    tx.lock(LOCK, request.space, request.key)
    sweep_expired(tx, request.space, now)
    row = find_claim(tx, request, now)
    if row is not None:
        if bytes(row["request"]) != request.digest:
            return ClaimResult("other")
        if row["status"] is not None:
            return ClaimResult("done", row["status"], bytes(row["body"]))
        if now - row["at"] < LAPSES:
            return ClaimResult("busy")
        tx.remove(TABLE, {"space": request.space, "id": row["id"]})
    claim_fields = {"space": request.space, "id": request.name(now), "request": request.digest, "at": now}
    tx.put(TABLE, [claim_fields | {"status": None, "body": None}])
    return ClaimResult("new")


def find_claim(tx: Tx, request: KeyedRequest, now: datetime) -> dict[str, Any] | None:
    for day in (now, now - DAY):
        for row in tx.rows(TABLE, where={"space": request.space, "id": request.name(day)}):
            return dict(row)
    return None


def sweep_expired(tx: Tx, space: str, now: datetime) -> None:
    oldest = f"{now - DAY:%Y-%m-%d}"
    for row in tx.rows(TABLE, limit=SWEPT, where={"space": space}):
        if row["id"] >= oldest:
            return
        tx.remove(TABLE, {"space": space, "id": row["id"]})
