"""Routes of a whole space that are written by hand: which it is, its messages as lines, and waiting for its views."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response, StreamingResponse

from everword.server.door.access import Caller, caller_for
from everword.server.routes import shapes
from everword.server.routes.answers import LINES, json_response, line_response

LINE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {LINES: {"schema": {"type": "string"}}}, "description": "A message a line."}
}

router = APIRouter(prefix="/v1")


@router.get("/space", response_model=shapes.SpaceOut, tags=["spaces"])
async def space(caller: Annotated[Caller, caller_for("space")]) -> Response:
    """The space a request is about that names none: the key's own."""
    return json_response({"space": caller.space})


@router.post("/settle", response_model=shapes.Settled, tags=["spaces"])
async def settle(caller: Annotated[Caller, caller_for("settle")], body: shapes.SettleIn) -> Response:
    """Wait until every view has caught up with the log; 409 if one has not in time, and to a key for all spaces the
    reason."""
    await caller.memory.settle(body.timeout)
    # Failures on messages of others are not for a key of one user, nor for one that may not read.
    is_told = caller.access.is_reader and not caller.access.is_bound
    states = (await caller.memory.stats(space=caller.space)).views if is_told else ()
    return json_response({"done": True, "set_aside": sum(state.set_aside for state in states)})


@router.get("/users/{id:id}/export", response_class=StreamingResponse, responses=LINE_RESPONSES, tags=["people"])
async def export_user(
    caller: Annotated[Caller, caller_for("export")],
    id: Annotated[str, Path(description="The user.", max_length=256)],
    salvage: bool = False,
    secrets: bool = False,
) -> Response:
    """Every message of a user's memory, in order: one JSON object a line, as `everword import` reads it. With
    `salvage`, without those that cannot be read; with `secrets`, with the secrets that were said, which are otherwise
    placeholders."""
    return await line_response(caller.memory.export(user=id, space=caller.space, salvage=salvage, secrets=secrets))


@router.get("/export", response_class=StreamingResponse, responses=LINE_RESPONSES, tags=["people"])
async def export(
    caller: Annotated[Caller, caller_for("export")],
    user: Annotated[str | None, Query(max_length=256)] = None,
    conversation: Annotated[str | None, Query(max_length=256)] = None,
    salvage: bool = False,
    secrets: bool = False,
) -> Response:
    """Every message of a space, or of one user's memory, or of one conversation, in order: one a line. With `salvage`,
    without those that cannot be read; with `secrets`, with the secrets that were said, which are otherwise
    placeholders."""
    source = caller.memory.export(
        user=user, conversation=conversation, space=caller.space, salvage=salvage, secrets=secrets
    )
    return await line_response(source)
