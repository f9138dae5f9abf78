"""Routes that move a conversation or merge two users, with a preview, and take it back."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from recollect.log.scope import scope_for
from recollect.server.door.access import Caller, caller_for
from recollect.server.routes import move_shapes as shapes
from recollect.server.routes.answers import IdempotencyKey, answer_once
from recollect.server.routes.conversations import Conversation
from recollect.server.routes.people import Person

MoveId = Annotated[str, Path(alias="id", description="The id of the move or the merge.", max_length=256)]
DryRun = Annotated[bool, Query(description="Only say what would move.")]

router = APIRouter(prefix="/v1", tags=["moves"])


@router.post("/conversations/{id:id}/move", response_model=shapes.Move)
async def move_conversation(
    caller: Annotated[Caller, caller_for("move_conversation")],
    id: Conversation,
    body: shapes.MoveIn,
    key: IdempotencyKey = None,
) -> Response:
    """Rename a conversation, give it to another user, or both. What its user said in it becomes the other's, with what
    is known from it. A user's key may rename what is that user's."""
    scope = scope_for(caller.access, caller.space, id, None)
    work = partial(caller.memory.moves.move_conversation, scope, to=body.to, user=body.user, dry_run=body.dry_run)
    return await answer_once(caller, key, work, repeats="names")


@router.post("/users/{id:id}/merge", response_model=shapes.Move)
async def merge_users(
    caller: Annotated[Caller, caller_for("merge_users")],
    id: Person,
    body: shapes.UserMergeIn,
    key: IdempotencyKey = None,
) -> Response:
    """Make all that one user has another's: two ids of one person. Not for a user's key."""
    caller.access.check_unbound()
    merge = partial(caller.memory.moves.merge_users, id, into=body.into, dry_run=body.dry_run)
    work = partial(merge, space=caller.space, by=caller.access.key_id)
    return await answer_once(caller, key, work, repeats="names")


@router.post("/moves/{id:id}/undo", response_model=shapes.Move)
async def undo_move(
    caller: Annotated[Caller, caller_for("undo_move")], id: MoveId, dry_run: DryRun = False, key: IdempotencyKey = None
) -> Response:
    """Take back a move or a merge, if nothing that it moved was removed since, or moved again. Not for a
    user's key."""
    caller.access.check_unbound()
    undo = partial(caller.memory.moves.undo_move, id, dry_run=dry_run)
    work = partial(undo, space=caller.space, by=caller.access.key_id)
    return await answer_once(caller, key, work, repeats="names")
