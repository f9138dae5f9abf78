"""Idempotency: a write that is requested twice under one key is done once, for a day at least.

The first caller with a key claims it. A second caller waits while the first is at work; after that, the same request
gets the same answer, and another request under the same key is refused. If nobody knows whether a request was done, it
is not done again: its answer is that this is not known. That is also so for a claim whose holder died.

Claim and answer are stored apart, since an answer may repeat what was said. The claim is in `answers`, and nothing but
its age removes it: it holds the key as a hash, and the request as a hash that is keyed with the key. The answer is in
`answer_bodies`, and every removal and every edit in its space removes it; a repeated request is then told that it was
done and that its answer is gone. A removal also leaves a mark: an answer is not stored if it repeats words and the mark
is not the one that the claim has noted. An answer that names nobody and repeats nothing stays with the claim.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Literal

from everword.log.append_and_read import ANSWER_BODIES, ANSWERS, DAY, LAST_REMOVAL, possible_row_ids, row_id
from everword.log.operation_declarations import Repeats
from everword.memory.runtime import Runtime
from everword.ports import Tx

LAPSES = timedelta(minutes=10)  # after this, nobody is at work on a claim any more
SWEPT = 100  # expired claims that each new one removes at most


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The state of a key: the request may be done ("new"), is being done ("busy"), was another one ("other"), was
    perhaps done ("unknown"), or was done, with this answer ("done") or with one that was removed since ("gone")."""

    state: Literal["new", "busy", "other", "unknown", "done", "gone"]
    status: int = 0
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request under its key, in a space."""

    space: str
    key: str
    digest: bytes  # of the whole request
    claimed_at: datetime | None = None


def build_keyed_request(space: str, caller: str, key: str, request: bytes) -> KeyedRequest:
    """A request under a key. Two callers with the same key do not share it. Without the key, nobody can tell by the
    digest whether a request was one that they guess."""
    secret = f"{caller}\n{key}".encode()
    return KeyedRequest(space, sha256(secret).hexdigest(), hmac.digest(secret, request, "sha256"))


def stamp(runtime: Runtime, request: KeyedRequest) -> KeyedRequest:
    """The request with the time of its claim, which identifies the claim later."""
    return replace(request, claimed_at=runtime.parts.clock.now())


async def claim(runtime: Runtime, request: KeyedRequest) -> ClaimResult:
    now = request.claimed_at or runtime.parts.clock.now()
    return await runtime.write(lambda tx: claim_in_transaction(tx, request, now))


async def keep_answer(
    runtime: Runtime, request: KeyedRequest, status: int, body: bytes, *, repeats: Repeats = "words"
) -> None:
    """Note that a request was done, and keep its answer for a repeated one, if it may be kept."""
    now = runtime.parts.clock.now()

    def write(tx: Tx) -> None:
        tx.lock(ANSWERS, request.space)  # no removal comes between
        row = find_claim(tx, request, now)
        if row is None or not is_ours(row, request):
            return
        tx.put(ANSWERS, [row | {"status": status, "body": body if repeats == "nothing" else None}])
        if repeats == "names" or (repeats == "words" and bytes(row["body"]) == last_removal(tx, request.space)):
            tx.put(ANSWER_BODIES, [{"space": request.space, "id": row["id"], "body": body}])

    await runtime.write(write)


async def release_claim(runtime: Runtime, request: KeyedRequest) -> None:
    """Release the claim of a request that failed: it may be tried again."""
    now = runtime.parts.clock.now()

    def write(tx: Tx) -> None:
        row = find_claim(tx, request, now)
        if row is not None and is_ours(row, request):
            tx.remove(ANSWERS, {"space": request.space, "id": row["id"]})

    await runtime.write(write)


def is_ours(row: Mapping[str, Any], request: KeyedRequest) -> bool:
    """Whether a claim belongs to this request, and not to one that came after this one was released."""
    return row["status"] is None and (request.claimed_at is None or row["at"] == request.claimed_at)


def claim_in_transaction(tx: Tx, request: KeyedRequest, now: datetime) -> ClaimResult:
    tx.lock(ANSWERS, request.space, request.key)
    sweep_expired(tx, request.space, now)
    row = find_claim(tx, request, now)
    if row is None:
        claim_fields = {"space": request.space, "id": row_id(now, request.key), "request": request.digest, "at": now}
        tx.put(ANSWERS, [claim_fields | {"status": None, "body": last_removal(tx, request.space)}])
        return ClaimResult("new")
    if not hmac.compare_digest(bytes(row["request"]), request.digest):
        return ClaimResult("other")
    if row["status"] is None:
        return ClaimResult("busy" if now - row["at"] < LAPSES else "unknown")
    body = row["body"] if row["body"] is not None else stored_body(tx, request.space, row["id"])
    return ClaimResult("gone") if body is None else ClaimResult("done", row["status"], bytes(body))


def find_claim(tx: Tx, request: KeyedRequest, now: datetime) -> dict[str, Any] | None:
    ids = possible_row_ids(now, request.key)
    return next((dict(row) for row in tx.rows(ANSWERS, where={"space": request.space, "id": ids})), None)


def stored_body(tx: Tx, space: str, id: str) -> bytes | None:
    rows = tx.rows(ANSWER_BODIES, where={"space": space, "id": id})
    return bytes(rows[0]["body"]) if rows else None


def last_removal(tx: Tx, space: str) -> bytes:
    """The mark that the last removal in a space has left; empty if nothing was removed yet."""
    return stored_body(tx, space, LAST_REMOVAL) or b""


def sweep_expired(tx: Tx, space: str, now: datetime) -> None:
    """Remove some of the claims of before yesterday, with their answers."""
    oldest_day = f"{now - DAY:%Y-%m-%d}"
    first_ids = [row["id"] for row in tx.rows(ANSWERS, limit=1, where={"space": space})]
    if not first_ids or first_ids[0] >= oldest_day:
        return
    ids = tuple(row["id"] for row in tx.rows(ANSWERS, limit=SWEPT, where={"space": space}) if row["id"] < oldest_day)
    for table in (ANSWERS, ANSWER_BODIES):
        tx.remove(table, {"space": space, "id": ids})
