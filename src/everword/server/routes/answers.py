"""How routes answer: as JSON, in pages, and once for each idempotency key."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Header, Query
from starlette.responses import Response, StreamingResponse

from everword import values_to_json
from everword.errors import AnswerGone, CommitUnknown, EverwordError, StoreAway, StoreBusy, StoreUnwritable
from everword.log.append_and_read import ANSWER_IS_GONE
from everword.log.operation_declarations import Repeats
from everword.memory import idempotency
from everword.memory.runtime import Runtime
from everword.model import Message
from everword.server.access import Caller
from everword.server.problems import Problem, problem_of
from everword.server.routes.shapes import Limit

JSON = "application/json"
LINES = "application/x-ndjson"
PAUSE = 1.0  # seconds until a store that was away is tried again
LONGEST_CLOSING = 5.0  # seconds that an answer waits until it is stored under its key, or the key is released
PAGE_BYTES = 8 << 20  # a page ends after so many, so that no answer is too large
ENDED = (
    "the server ended while it processed this request, so it is not known whether the request was done. "
    "Read the data before you repeat the request with another key"
)
UNKNOWN = "commit_unknown"
Cursor = Annotated[str | None, Query(description="Where to continue: `next` from the previous page.", max_length=280)]
Count = Annotated[Limit, Query(description="How many items to return, at most.")]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        description="A text of your choice. For a day, a repeated request with the same key is done only once.",
    ),
]


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(values_to_json.dumps(value), status, headers, JSON)


def etag_of(body: bytes) -> str:
    return f'"{sha256(body).hexdigest()[:32]}"'


def matches_etag(tag: str, header: str) -> bool:
    """Whether a tag is in an `If-None-Match` header; a proxy may have marked it as weak."""
    return header.strip() == "*" or tag in (candidate.strip().removeprefix("W/") for candidate in header.split(","))


def page_response(items: Sequence[Any], cursor: str | None, limit: int, attribute: str) -> Response:
    """A page of the items after the one that the cursor names; the list may have changed since the last page."""
    names = [getattr(item, attribute) for item in items]
    if cursor is not None and cursor not in names:
        raise Problem(
            410, "cursor_over", "the item of this cursor is no longer in the list; start again without a cursor"
        )
    start = 0 if cursor is None else names.index(cursor) + 1
    end = start + limit
    return json_response({"items": items[start:end], "next": names[end - 1] if end < len(items) else None})


def person_arguments(caller: Caller, id: str) -> dict[str, Any]:
    """The user and the space as arguments of the engine."""
    return {"user": caller.access.check_user(id), "space": caller.space}


async def line_response(source: AsyncIterator[Message]) -> Response:
    """Messages, one a line."""
    first = await anext(source, None)  # a refusal comes before the answer starts, not in the middle of it

    async def encode_lines() -> AsyncIterator[bytes]:
        async with aclosing(source) as messages:  # type: ignore[type-var]
            if first is not None:
                yield values_to_json.dumps(first) + b"\n"
            async for message in messages:
                yield values_to_json.dumps(message) + b"\n"

    return StreamingResponse(encode_lines(), media_type=LINES)


class StoredForm:
    """How an answer is stored for a repeated request: as it is, unless a form shortens and restores it."""

    def shorten(self, answer: Any) -> Any:
        return answer

    async def restore(self, value: Any) -> Any:
        return value


AS_IT_IS = StoredForm()


async def answer_once(
    caller: Caller,
    key: str | None,
    work: Coroutine[Any, Any, Any],
    form: StoredForm = AS_IT_IS,
    repeats: Repeats = "words",
) -> Response:
    """Do a write and answer with its result; with a key, do it once. `repeats` says how long the answer is stored."""
    with closing(work):
        claim = None if key is None else await claim_key(caller, key)
        if claim is None:
            return json_response(await work)
        if claim.answer is not None:
            answer = await form.restore(json.loads(claim.answer))
            return json_response(answer, headers={"Idempotent-Replayed": "true"})
        try:
            result = await work
        except asyncio.CancelledError:  # the server ends, and a transaction that has begun does not
            await claim.end(unknown_problem())
            raise
        except BaseException as error:
            await claim.end(error)
            raise
        await claim.keep(values_to_json.dumps(form.shorten(result)), repeats)
        return json_response(result)


_background_tasks = set[asyncio.Task[None]]()


@dataclass(frozen=True, slots=True)
class KeyClaim:
    """A key that a request has claimed; `answer` is the one that is stored, if the request was done before.

    What ends a claim runs in a task of its own, which retries while the store is away: until then the key counts as
    being worked on. After `idempotency.LAPSES` nobody is said to be at work on it, as if this process had died.
    """

    runtime: Runtime
    request: idempotency.KeyedRequest
    answer: bytes | None = None

    async def keep(self, body: bytes, repeats: Repeats = "words") -> None:
        """Store the answer under the key."""
        await wait_briefly(self._settle(HTTPStatus.OK, body, repeats))

    async def end(self, error: BaseException) -> None:
        """Release the claim of a request that failed, so that a repeated request may try again, even if nobody waits
        for this one any more. If it is not known whether the request was done, that becomes the answer of its key."""
        if isinstance(error, CommitUnknown | Problem) and problem_of(error).code == UNKNOWN:
            problem = problem_of(error)
            self._settle(problem.status, values_to_json.dumps(problem.document()), "nothing")
        else:
            await wait_briefly(self.release())

    def release(self) -> asyncio.Task[None]:
        return self._settle(None, b"", "nothing")

    def _settle(self, status: int | None, body: bytes, repeats: Repeats) -> asyncio.Task[None]:
        task = asyncio.create_task(self._try_to_settle(status, body, repeats))
        _background_tasks.add(task)
        task.add_done_callback(_background_tasks.discard)
        return task

    async def _try_to_settle(self, status: int | None, body: bytes, repeats: Repeats) -> None:
        deadline = time.monotonic() + idempotency.LAPSES.total_seconds()
        while time.monotonic() < deadline:
            try:
                if status is None:
                    await idempotency.release_claim(self.runtime, self.request)
                else:
                    await idempotency.keep_answer(self.runtime, self.request, status, body, repeats=repeats)
                return
            except (StoreBusy, CommitUnknown):  # these have waited for the store already
                await asyncio.sleep(PAUSE)
            except EverwordError:  # such as a memory that was closed
                return


def unknown_problem() -> Problem:
    """The answer to a request that was perhaps done."""
    return Problem(HTTPStatus.GATEWAY_TIMEOUT, UNKNOWN, ENDED)


async def wait_briefly(task: asyncio.Task[None]) -> None:
    """Wait until the key is settled, but not longer than `LONGEST_CLOSING` if the store is away."""
    await asyncio.wait({task}, timeout=LONGEST_CLOSING)
    if task.done():
        task.result()


async def claim_key(caller: Caller, key: str) -> KeyClaim | None:
    """KeyClaim a key for this request. If the store takes nothing and messages may be held in memory, there is no
    claim."""
    runtime = caller.memory.runtime
    if runtime.degraded is not None:
        return None
    url = caller.request.url
    request_bytes = f"{caller.request.method} {url.path}?{url.query}\n".encode() + await caller.request.body()
    request = idempotency.build_keyed_request(caller.space, caller.access.key_id, key, request_bytes)
    claim = KeyClaim(runtime, idempotency.stamp(runtime, request))
    try:
        outcome = await idempotency.claim(runtime, claim.request)
    except CommitUnknown as error:
        claim.release()
        raise StoreBusy(f"{error}; the request stored nothing, except perhaps its idempotency key") from error
    except (StoreUnwritable, StoreAway):
        if not runtime.store.is_on:
            raise
        return None
    if outcome.state == "busy":
        detail = "the same request is being processed; ask again in a moment"
        raise Problem(409, "in_progress", detail, headers={"Retry-After": "1"})
    if outcome.state == "gone":
        raise AnswerGone(ANSWER_IS_GONE)
    if outcome.state == "unknown":
        raise unknown_problem()
    if outcome.state == "other":
        raise Problem(422, "key_reused", "this idempotency key was used for another request; use a new key")
    if outcome.state == "done" and outcome.status != HTTPStatus.OK:
        problem = json.loads(outcome.body)
        raise Problem(outcome.status, problem["code"], problem["detail"], headers={"Idempotent-Replayed": "true"})
    return replace(claim, answer=outcome.body) if outcome.state == "done" else claim
