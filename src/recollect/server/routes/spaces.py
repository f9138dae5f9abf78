"""Routes of a whole space: search, digests, statistics and maintenance."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from recollect.errors import NotSettled
from recollect.log.access import Access
from recollect.memory.visible import visible_hits
from recollect.server.door.access import Caller, access_for, caller_for
from recollect.server.problems import Problem
from recollect.server.routes import shapes
from recollect.server.routes.answers import IdempotencyKey, answer_once, json_response
from recollect.server.routes.people import Seconds
from recollect.server.routing import LeanRoute

Space = Annotated[str, Path(alias="id", description="The space.", max_length=256)]

router = APIRouter(prefix="/v1", tags=["spaces"], route_class=LeanRoute)


@router.get("/space", response_model=shapes.SpaceOut)
async def space(caller: Annotated[Caller, caller_for("space")]) -> Response:
    """The space a request is about that names none: the key's own."""
    return json_response({"space": caller.space})


@router.post("/search", response_model=list[shapes.Hit])
async def search(caller: Annotated[Caller, caller_for("search")], body: shapes.SearchIn) -> Response:
    """Messages by word and by meaning, best first, within a space; of one user's memory, if given. Facts too, if asked
    for by `kinds`."""
    filters = dict(body) | {"user": caller.access.resolve_user(body.user), "space": caller.space}
    hits = await caller.memory.search(**filters)
    return json_response(await visible_hits(caller.memory, caller.access, caller.space, hits))


@router.get("/spaces/{id:id}/digests", response_model=list[shapes.Digest])
async def digests(
    request: Request,
    access: Annotated[Access, access_for("digests")],
    id: Space,
    day: Annotated[date | None, Query(description="Another day than today.")] = None,
    user: Annotated[str | None, Query(max_length=256)] = None,
    week: Annotated[bool, Query(description="How each has been in the six days before.")] = False,
    wait: Seconds = None,
) -> Response:
    """What a day in a space was for each who spoke in its channels, or for one user."""
    options = {"day": day, "user": access.resolve_user(user), "week": week, "wait": wait}
    return json_response(await request.app.state.memory.digests(access.resolve_space(id), **options))


@router.put("/spaces/{id:id}/time-zone", response_model=shapes.Done)
async def set_time_zone(
    request: Request, access: Annotated[Access, access_for("set_time_zone")], id: Space, body: shapes.ZoneIn
) -> Response:
    """Where a space's days begin and end, as an IANA name."""
    access.check_unbound()
    await request.app.state.memory.set_time_zone(body.name, space=access.resolve_space(id))
    return json_response({"done": True})


@router.get("/stats", response_model=shapes.Stats)
async def stats(caller: Annotated[Caller, caller_for("stats")]) -> Response:
    """What is in a space, how far its views are, and what models, caches and fallbacks did."""
    caller.access.check_unbound()
    figures = await caller.memory.stats(space=caller.space)
    return json_response(
        figures if caller.access.may("settings") else replace(figures, store="")
    )  # the address of the store is for admins


@router.post("/settle", response_model=shapes.Settled)
async def settle(caller: Annotated[Caller, caller_for("settle")], body: shapes.SettleIn) -> Response:
    """Wait until every view has caught up with the log; 409 if one has not in time, and to a key for all spaces the
    reason."""
    try:
        await caller.memory.settle(body.timeout)
    except NotSettled:
        if caller.access.spaces is None:
            raise
        # The views are of all spaces: how far behind they are, and why, is not for a key of one space.
        raise Problem(409, "not_settled", "the views have not caught up with the log; ask again later") from None
    # Failures on messages of others are not for a key of one user, nor for one that may not read.
    is_told = caller.access.is_reader and not caller.access.is_bound
    states = (await caller.memory.stats(space=caller.space)).views if is_told else ()
    return json_response({"done": True, "set_aside": sum(state.set_aside for state in states)})


@router.post("/rebuild", response_model=shapes.Done)
async def rebuild(
    caller: Annotated[Caller, caller_for("rebuild")], body: shapes.RebuildIn, key: IdempotencyKey = None
) -> Response:
    """Throw a view of a space away and let it be built again from the log."""
    caller.access.check_unbound()

    async def work() -> dict[str, bool]:
        await caller.memory.rebuild(body.view, space=caller.space)
        return {"done": True}

    return await answer_once(caller, key, work, repeats="nothing")


@router.post("/retry", response_model=shapes.Retried)
async def retry(
    caller: Annotated[Caller, caller_for("retry")], body: shapes.RetryIn, key: IdempotencyKey = None
) -> Response:
    """Try messages of a space again, now, that views failed on and set aside."""
    caller.access.check_unbound()
    options = {"conversation": body.conversation, "space": caller.space}
    return await answer_once(caller, key, lambda: caller.memory.retry(body.view, **options), repeats="nothing")


@router.post("/retain", response_model=shapes.Retained)
async def retain(
    caller: Annotated[Caller, caller_for("retain")], body: shapes.RetainIn, key: IdempotencyKey = None
) -> Response:
    """Say what the settings `retain_…` no longer keep of a space, or remove it."""
    caller.access.check_unbound()
    by = caller.access.key_id
    work = partial(caller.memory.deletions.retain, dry_run=body.dry_run, space=caller.space, by=by)
    return await answer_once(caller, key, work, repeats="nothing")


@router.post("/redact", response_model=shapes.Redaction)
async def redact(
    caller: Annotated[Caller, caller_for("redact")], body: shapes.RedactIn, key: IdempotencyKey = None
) -> Response:
    """Replace the secrets in messages that are in the log (API keys, passwords, cards) by placeholders, for good; older
    versions of these messages go, too."""
    caller.access.check_unbound()
    work = partial(
        caller.memory.redactions.redact,
        user=body.user,
        conversation=body.conversation,
        dry_run=body.dry_run,
        space=caller.space,
        by=caller.access.key_id,
    )
    return await answer_once(caller, key, work, repeats="names")


@router.get("/verify", response_model=shapes.Verification)
async def verify(request: Request, access: Annotated[Access, access_for("verify")]) -> Response:
    """Prove the log whole, in all spaces: for a key that opens them all."""
    access.check_unbound()
    access.check_all_spaces()
    return json_response(await request.app.state.memory.verify())
