"""How routes answer: as JSON of the nouns, by pages, and once for each idempotency key."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Header, Query
from starlette.responses import Response

from recollect import wire
from recollect.engine import idempotency
from recollect.errors import CommitUnknown, RecollectError, StoreBusy
from recollect.server.door.access import Here
from recollect.server.problems import Problem, problem_of
from recollect.server.routes.shapes import Limit

JSON = "application/json"
PAUSE = 1.0  # seconds until a store that was away is asked again
LONGEST_CLOSING = 5.0  # seconds that an answer waits until it is kept under its key, or the key is free again
PAGE_BYTES = 8 << 20  # after so many a page ends, so that no answer is as large as all there is
Cursor = Annotated[str | None, Query(description="Where to go on: the `next` of the page before.", max_length=256)]
Count = Annotated[Limit, Query(description="How many at most.")]
Once = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="A text of your own: the same request with it is done once, and answered alike for a day.",
    ),
]


def out(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(wire.dumps(value), status, headers, JSON)


def tag_of(body: bytes) -> str:
    return f'"{sha256(body).hexdigest()[:32]}"'


def is_one_of(tag: str, known: str) -> bool:
    """Whether a tag is among those of an `If-None-Match`; whoever stands in between may have marked it as weak."""
    return known.strip() == "*" or tag in (one.strip().removeprefix("W/") for one in known.split(","))


def page_of(items: Sequence[Any], cursor: str | None, limit: int, name: Callable[[Any], str]) -> Response:
    """The items after the one the cursor names; a list that has changed since is gone on with all the same."""
    start = 0
    if cursor is not None:
        names = [name(item) for item in items]
        if cursor not in names:
            raise Problem(410, "cursor_over", "what this cursor names is no longer in the list; begin again without it")
        start = names.index(cursor) + 1
    part = items[start : start + limit]
    more = start + limit < len(items)
    return out({"items": part, "next": name(part[-1]) if part and more else None})


@dataclass(frozen=True, slots=True)
class Brief:
    """How an answer is kept for whoever asks again: as `told`, from which `again` makes all of it."""

    told: Callable[[Any], Any]
    again: Callable[[Any], Any]


AS_IT_IS = Brief(lambda given: given, lambda kept: kept)


async def once(
    here: Here,
    key: str | None,
    work: Callable[[], Awaitable[Any]],
    brief: Brief = AS_IT_IS,
    repeats_words: bool = True,
) -> Response:
    """Do a write and answer with what it gave; with a key, do it once. An answer that repeats nobody's words is kept
    even if somebody was erased meanwhile."""
    if key is None:
        return out(await work())
    repeat, known = await begun(here, key)
    if known is not None:
        return out(brief.again(json.loads(known)), headers={"Idempotent-Replayed": "true"})
    try:
        given = await work()
    except BaseException as error:
        await close_claim(here, repeat, error)
        raise
    body = wire.dumps(brief.told(given))
    keep = partial(idempotency.keep, here.memory, repeat, HTTPStatus.OK, body, repeats_words=repeats_words)
    await wait_a_little(keep_trying(keep))
    return out(given)


_leaving = set[asyncio.Task[None]]()


async def close_claim(here: Here, repeat: idempotency.Repeat, error: BaseException) -> None:
    """A request has failed: give its claim back, so that whoever asks again may try again, also if nobody waits for it
    any more. What waits in a request that is cancelled is cancelled again and again, so this is done beside it. If it
    is not known whether the request was done, that is what its key answers from now on."""
    if isinstance(error, CommitUnknown):
        problem = problem_of(error)
        document = wire.dumps(problem.document())
        keep_trying(partial(idempotency.keep, here.memory, repeat, problem.status, document, repeats_words=False))
        return
    await wait_a_little(keep_trying(lambda: idempotency.give_up(here.memory, repeat)))


async def wait_a_little(closing: asyncio.Task[None]) -> None:
    """Answer when the key is settled, as a rule; but not later because the store is away."""
    done, _ = await asyncio.wait({closing}, timeout=LONGEST_CLOSING)
    for task in done:
        task.result()


def keep_trying(work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
    """Do this beside the request, again and again while the store is away: until then the key says that somebody is at
    work on it. In the end, as if this process had died, the claim lapses by itself."""

    async def repeat_until_done() -> None:
        deadline = time.monotonic() + idempotency.LAPSES.total_seconds()
        while time.monotonic() < deadline:
            try:
                await work()
                return
            except (StoreBusy, CommitUnknown):  # which have waited for the store already
                await asyncio.sleep(PAUSE)
            except RecollectError:  # such as a memory that was closed
                return

    task = asyncio.create_task(repeat_until_done())
    _leaving.add(task)
    task.add_done_callback(_leaving.discard)
    return task


async def begun(here: Here, key: str) -> tuple[idempotency.Repeat, bytes | None]:
    """Claim a key for this request: with what was answered to it before, if it was."""
    url = here.request.url
    request = f"{here.request.method} {url.path}?{url.query}\n".encode() + await here.request.body()
    repeat = idempotency.stamp(here.memory, idempotency.repeat_of(here.space, here.access.key_id, key, request))
    try:
        known = await idempotency.claim(here.memory, repeat)
    except CommitUnknown as error:
        keep_trying(lambda: idempotency.give_up(here.memory, repeat))
        raise StoreBusy(f"{error}; no more than the key was claimed") from error
    if known.state == "busy":
        told = "the same request is being worked on; ask again in a moment"
        raise Problem(409, "in_progress", told, headers={"Retry-After": "1"})
    if known.state == "other":
        raise Problem(422, "key_reused", "this idempotency key came with another request before; use a new one")
    if known.state == "done" and known.status != HTTPStatus.OK:
        problem = json.loads(known.body)
        raise Problem(known.status, problem["code"], problem["detail"], headers={"Idempotent-Replayed": "true"})
    return repeat, known.body if known.state == "done" else None
