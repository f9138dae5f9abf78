"""Routes that delete messages for good, with a preview, and the one that says who removed something."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from recollect.errors import InvalidInput
from recollect.log.scope import scope_for
from recollect.server.door.access import Caller, caller_for
from recollect.server.routes import shapes
from recollect.server.routes.answers import Count, IdempotencyKey, answer_once, json_response
from recollect.server.routes.conversations import Conversation, User

Message = Annotated[str, Path(description="The message's id, or the one that its platform gave it, or its turn.")]
By = Annotated[Literal["id", "turn"], Query(description="What names the message.")]
DryRun = Annotated[bool, Query(description="Only say what would go.")]

router = APIRouter(prefix="/v1", tags=["removals"])


@router.delete("/conversations/{id:id}/messages/{message:id}", response_model=shapes.Deletion)
async def delete_message(
    caller: Annotated[Caller, caller_for("delete_message")],
    id: Conversation,
    message: Message,
    user: User = None,
    by: By = "id",
    dry_run: DryRun = False,
    key: IdempotencyKey = None,
) -> Response:
    """Remove a message and all that was derived from it, for good. By a user's key, what is that user's."""
    scope = scope_for(caller.access, caller.space, id, user)
    name = parse_turn(message) if by == "turn" else message
    work = partial(caller.memory.deletions.delete_message, scope, name, dry_run=dry_run)
    return await answer_once(caller, key, work, repeats="names")


def parse_turn(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(2**31)):
        raise InvalidInput("message", "must be the number of a turn")
    return int(text)


@router.delete("/conversations/{id:id}", response_model=shapes.Deletion)
async def delete_conversation(
    caller: Annotated[Caller, caller_for("delete_conversation")],
    id: Conversation,
    user: User = None,
    dry_run: DryRun = False,
    key: IdempotencyKey = None,
) -> Response:
    """Remove all messages of a conversation and all that was derived from them, for good."""
    scope = scope_for(caller.access, caller.space, id, user)
    work = partial(caller.memory.deletions.delete_conversation, scope, dry_run=dry_run)
    return await answer_once(caller, key, work, repeats="names")


@router.post("/delete", response_model=shapes.Deletion)
async def delete(
    caller: Annotated[Caller, caller_for("delete")], body: shapes.DeleteIn, key: IdempotencyKey = None
) -> Response:
    """Remove the messages of before a time, of a user, or with a phrase in them, and all that was derived from them,
    for good: those that fit all that is given."""
    user = caller.access.resolve_user(body.user)
    options = body.model_dump() | {"user": user, "space": caller.space, "by": caller.access.key_id}
    return await answer_once(caller, key, partial(caller.memory.deletions.delete, **options), repeats="names")


@router.get("/audit", response_model=list[shapes.AuditLine])
async def audit(caller: Annotated[Caller, caller_for("audit")], limit: Count = 100) -> Response:
    """Who removed or moved something in a space, when, of what kind, how many: the newest first."""
    caller.access.check_unbound()
    return json_response(await caller.memory.audit(limit=limit, space=caller.space))
