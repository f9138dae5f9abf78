"""How routes answer: as JSON, in pages, and once for each idempotency key."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from inspect import isawaitable
from typing import Annotated, Any

from fastapi import Header, Query
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from everword import wire
from everword.errors import AnswerGone, CommitUnknown, EverwordError, StoreAway, StoreBusy, StoreUnwritable
from everword.log.operations import Repeats
from everword.log.tables import ANSWER_IS_GONE
from everword.memory import idempotency
from everword.model import Message
from everword.server.door.access import Caller
from everword.server.problems import Problem, problem_of
from everword.server.routes.shapes import Limit

JSON = "application/json"
LINES = "application/x-ndjson"
PAUSE = 1.0  # seconds until a store that was away is tried again
LONGEST_CLOSING = 5.0  # seconds that an answer waits until it is stored under its key, or the key is released
PAGE_BYTES = 8 << 20  # a page ends after so many, so that no answer is too large
ENDED = (
    "the server ended while it was at work on this request: whether it was done is not known, and it is not done again."
    " Read what it was about before you make it again with another key"
)
UNKNOWN = "commit_unknown"
Cursor = Annotated[str | None, Query(description="Where to go on: the `next` of the page before.", max_length=256)]
Count = Annotated[Limit, Query(description="How many at most.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="A text of your own: within a day, the same request with it is done once.",
    ),
]


def json_bytes(value: Any) -> bytes:
    """A value as JSON. Pydantic writes it in a third of the time that the standard library takes; it refuses what is
    nested deeply."""
    try:
        return to_json(wire.to_json_value(value), inf_nan_mode="constants")
    except (ValueError, RecursionError):
        return wire.dumps(value)


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(json_bytes(value), status, headers, JSON)


def etag_of(body: bytes) -> str:
    return f'"{sha256(body).hexdigest()[:32]}"'


def matches_etag(tag: str, header: str) -> bool:
    """Whether a tag is in an `If-None-Match` header; a proxy may have marked it as weak."""
    return header.strip() == "*" or tag in (candidate.strip().removeprefix("W/") for candidate in header.split(","))


def page_response(items: Sequence[Any], cursor: str | None, limit: int, name: Callable[[Any], str]) -> Response:
    """A page of the items after the one the cursor names; the list may have changed since the last page."""
    start = 0
    if cursor is not None:
        names = [name(item) for item in items]
        if cursor not in names:
            raise Problem(410, "cursor_over", "what this cursor names is no longer in the list; begin again without it")
        start = names.index(cursor) + 1
    page = items[start : start + limit]
    has_more = start + limit < len(items)
    return json_response({"items": page, "next": name(page[-1]) if page and has_more else None})


def person_arguments(caller: Caller, id: str) -> dict[str, Any]:
    """The user and the space as arguments of the engine."""
    return {"user": caller.access.check_user(id), "space": caller.space}


async def line_response(source: AsyncIterator[Message]) -> Response:
    """Messages, one a line."""
    first = await anext(source, None)  # a refusal comes before the answer starts, not in the middle of it

    async def encode_lines() -> AsyncIterator[bytes]:
        async with aclosing(source) as messages:  # type: ignore[type-var]
            if first is not None:
                yield wire.dumps(first) + b"\n"
            async for message in messages:
                yield wire.dumps(message) + b"\n"

    return StreamingResponse(encode_lines(), media_type=LINES)


@dataclass(frozen=True, slots=True)
class StoredForm:
    """How an answer is stored for a repeated request: `shorten` makes what is stored, `restore` the answer from it, or
    an awaitable of the answer."""

    shorten: Callable[[Any], Any]
    restore: Callable[[Any], Any]


AS_IT_IS = StoredForm(lambda value: value, lambda value: value)


async def answer_once(
    caller: Caller,
    key: str | None,
    work: Callable[[], Awaitable[Any]],
    brief: StoredForm = AS_IT_IS,
    repeats: Repeats = "words",
) -> Response:
    """Do a write and answer with its result; with a key, do it once. `repeats` says how long the answer is stored."""
    if key is None:
        return json_response(await work())
    repeat, stored_body = await claim_key(caller, key)
    if repeat is None:
        return json_response(await work())
    if stored_body is not None:
        answer = brief.restore(json.loads(stored_body))
        answer = await answer if isawaitable(answer) else answer
        return json_response(answer, headers={"Idempotent-Replayed": "true"})
    try:
        result = await work()
    except asyncio.CancelledError:  # the server ends, and a transaction that has begun does not
        await close_claim(caller, repeat, unknown_problem())
        raise
    except BaseException as error:
        await close_claim(caller, repeat, error)
        raise
    body = wire.dumps(brief.shorten(result))
    runtime = caller.memory.runtime
    keep = partial(idempotency.keep_answer, runtime, repeat, HTTPStatus.OK, body, repeats=repeats)
    await wait_briefly(keep_trying(keep))
    return json_response(result)


_background_tasks = set[asyncio.Task[None]]()


async def close_claim(caller: Caller, repeat: idempotency.KeyedRequest, error: BaseException) -> None:
    """Release the claim of a request that failed, so that a repeated request may try again, even if nobody waits for
    this one any more. Whatever a cancelled request awaits is cancelled again and again, so this runs in a task of its
    own. If it is not known whether the request was done, that becomes the answer of its key."""
    runtime = caller.memory.runtime
    if isinstance(error, CommitUnknown | Problem) and problem_of(error).code == UNKNOWN:
        problem = problem_of(error)
        document = wire.dumps(problem.document())
        keep_trying(partial(idempotency.keep_answer, runtime, repeat, problem.status, document, repeats="nothing"))
        return
    await wait_briefly(keep_trying(lambda: idempotency.release_claim(runtime, repeat)))


def unknown_problem() -> Problem:
    """The answer to a request that was perhaps done."""
    return Problem(HTTPStatus.GATEWAY_TIMEOUT, UNKNOWN, ENDED)


async def wait_briefly(closing: asyncio.Task[None]) -> None:
    """Wait until the key is settled, but not longer than `LONGEST_CLOSING` if the store is away."""
    finished_tasks, _ = await asyncio.wait({closing}, timeout=LONGEST_CLOSING)
    for task in finished_tasks:
        task.result()


def keep_trying(work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
    """Run this in the background, and retry while the store is away: until then the key counts as being worked on.
    After `idempotency.LAPSES` nobody is said to be at work on it, as if this process had died."""

    async def repeat_until_done() -> None:
        deadline = time.monotonic() + idempotency.LAPSES.total_seconds()
        while time.monotonic() < deadline:
            try:
                await work()
                return
            except (StoreBusy, CommitUnknown):  # these have waited for the store already
                await asyncio.sleep(PAUSE)
            except EverwordError:  # such as a memory that was closed
                return

    task = asyncio.create_task(repeat_until_done())
    _background_tasks.add(task)
    task.add_done_callback(_background_tasks.discard)
    return task


async def claim_key(caller: Caller, key: str) -> tuple[idempotency.KeyedRequest | None, bytes | None]:
    """Claim a key for this request. Returns the claim, and the stored answer if the request was done before. If the
    store takes nothing and messages may be held in memory, there is no claim."""
    held = caller.memory.runtime.held
    if held.degraded is not None:
        return None, None
    url = caller.request.url
    request_bytes = f"{caller.request.method} {url.path}?{url.query}\n".encode() + await caller.request.body()
    repeat = idempotency.stamp(
        caller.memory.runtime, idempotency.build_keyed_request(caller.space, caller.access.key_id, key, request_bytes)
    )
    try:
        claim = await idempotency.claim(caller.memory.runtime, repeat)
    except CommitUnknown as error:
        keep_trying(lambda: idempotency.release_claim(caller.memory.runtime, repeat))
        raise StoreBusy(f"{error}; no more than the key was claimed") from error
    except (StoreUnwritable, StoreAway):
        if not held.is_on:
            raise
        return None, None
    if claim.state == "busy":
        detail = "the same request is being worked on; ask again in a moment"
        raise Problem(409, "in_progress", detail, headers={"Retry-After": "1"})
    if claim.state == "gone":
        raise AnswerGone(ANSWER_IS_GONE)
    if claim.state == "unknown":
        raise unknown_problem()
    if claim.state == "other":
        raise Problem(422, "key_reused", "this idempotency key came with another request before; use a new one")
    if claim.state == "done" and claim.status != HTTPStatus.OK:
        problem = json.loads(claim.body)
        raise Problem(claim.status, problem["code"], problem["detail"], headers={"Idempotent-Replayed": "true"})
    return repeat, claim.body if claim.state == "done" else None
