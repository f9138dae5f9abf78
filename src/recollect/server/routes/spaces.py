"""What is of a whole space: finding, digests, figures, and keeping it in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from recollect.errors import NotSettled
from recollect.rules.access import Access
from recollect.server.door.access import Governing, Reading, Writing, may
from recollect.server.problems import Problem
from recollect.server.routes import shapes
from recollect.server.routes.answers import Once, once, out
from recollect.server.routes.people import Seconds

Space = Annotated[str, Path(alias="id", description="The space.", max_length=256)]
Reader = Annotated[Access, may("read")]
Governor = Annotated[Access, may("admin")]

router = APIRouter(prefix="/v1", tags=["spaces"])


@router.get("/space", response_model=shapes.SpaceOut)
async def space(here: Reading) -> Response:
    """The space a request is about that names none: the key's own."""
    return out({"space": here.space})


@router.post("/search", response_model=list[shapes.Hit])
async def search(here: Reading, body: shapes.SearchIn) -> Response:
    """Messages by word and by meaning, best first, within a space; of one user's memory, if given."""
    asked = body.model_dump(exclude={"query"}) | {"user": here.access.own(body.user), "space": here.space}
    return out(await here.memory.search(body.query, **asked))


@router.get("/spaces/{id:id}/digests", response_model=list[shapes.Digest])
async def digests(
    request: Request,
    access: Reader,
    id: Space,
    day: Annotated[date | None, Query(description="Another day than today.")] = None,
    user: Annotated[str | None, Query(max_length=256)] = None,
    week: Annotated[bool, Query(description="How each has been in the six days before.")] = False,
    wait: Seconds = None,
) -> Response:
    """What a day in a space was for each who spoke in its channels, or for one user."""
    asked = {"day": day, "user": access.own(user), "week": week, "wait": wait}
    return out(await request.app.state.memory.digests(access.space(id), **asked))


@router.put("/spaces/{id:id}/time-zone", response_model=shapes.Done)
async def set_time_zone(request: Request, access: Governor, id: Space, body: shapes.ZoneIn) -> Response:
    """Where a space's days begin and end, as an IANA name. Needs the scope `admin`."""
    access.check_unbound()
    await request.app.state.memory.set_time_zone(body.name, space=access.space(id))
    return out({"done": True})


@router.get("/stats", response_model=shapes.Stats)
async def stats(here: Reading) -> Response:
    """What is in a space, how far its views are, and what models, caches and fallbacks did."""
    here.access.check_unbound()
    found = await here.memory.stats(space=here.space)
    return out(found if "admin" in here.access.rights else replace(found, store=""))  # where it is, is not theirs


@router.post("/settle", response_model=shapes.Settled)
async def settle(here: Writing, body: shapes.SettleIn) -> Response:
    """Wait until every view has caught up with the log; 409 if one has not in time, and to a key for all spaces the
    reason."""
    try:
        await here.memory.settle(body.timeout)
    except NotSettled:
        if here.access.spaces is None:
            raise
        # The views are of all spaces: how far behind they are, and why, is not told to one.
        raise Problem(409, "not_settled", "the views have not caught up with the log; ask again later") from None
    # What failed on others' messages is not for a key that is one user's.
    states = () if here.access.is_bound else (await here.memory.stats(space=here.space)).views
    return out({"done": True, "set_aside": sum(state.set_aside for state in states)})


@router.post("/rebuild", response_model=shapes.Done)
async def rebuild(here: Governing, body: shapes.RebuildIn, key: Once = None) -> Response:
    """Throw a view of a space away and let it be built again from the log. Needs the scope `admin`."""
    here.access.check_unbound()

    async def work() -> dict[str, bool]:
        await here.memory.rebuild(body.view, space=here.space)
        return {"done": True}

    return await once(here, key, work)


@router.post("/retry", response_model=shapes.Retried)
async def retry(here: Governing, body: shapes.RetryIn, key: Once = None) -> Response:
    """Try messages of a space again, now, that views failed on and set aside. Needs the scope `admin`."""
    here.access.check_unbound()
    asked = {"conversation": body.conversation, "space": here.space}
    return await once(here, key, lambda: here.memory.retry(body.view, **asked))


@router.post("/retain", response_model=shapes.Retained)
async def retain(here: Governing, body: shapes.RetainIn, key: Once = None) -> Response:
    """Say what the settings `retain_…` no longer keep of a space, or remove it. Needs the scope `admin`."""
    here.access.check_unbound()
    return await once(here, key, lambda: here.memory.retain(dry_run=body.dry_run, space=here.space))


@router.get("/verify", response_model=shapes.Verification)
async def verify(request: Request, access: Governor) -> Response:
    """Prove the log whole, in all spaces: for a key that opens them all, with the scope `admin`."""
    access.check_unbound()
    access.check_all_spaces()
    return out(await request.app.state.memory.verify())
