"""The route that gives a message a new version."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.responses import Response

from recollect.log.scope import scope_for
from recollect.memory.edits import Edits
from recollect.server.door.access import Caller, caller_for
from recollect.server.routes import shapes
from recollect.server.routes.answers import IdempotencyKey, StoredForm, answer_once
from recollect.server.routes.conversations import Conversation, check_display_names
from recollect.server.routes.removals import parse_turn

router = APIRouter(prefix="/v1", tags=["conversations"])


class EditIn(shapes.RequestBody):
    """What a message says now."""

    model_config = shapes.with_example(text="I live in Leiden.", user="alex")

    text: str
    user: shapes.Id | None = Field(None, description="Whose chat it is; left out for a channel of many.")
    metadata: dict[str, Any] | None = Field(None, description="New metadata; left out, those it has stay.")


@router.patch("/conversations/{id:id}/messages/{message:id}", response_model=shapes.Message)
async def edit_message(
    caller: Annotated[Caller, caller_for("edit_message")],
    id: Conversation,
    message: Annotated[str, Path(description="The message's id, or the one that its platform gave it, or its turn.")],
    body: EditIn,
    by: Annotated[Literal["id", "turn"], Query(description="What names the message.")] = "id",
    key: IdempotencyKey = None,
) -> Response:
    """Give a message a new text. Everything follows the new version; the old one stays in the log, and `versions=true`
    shows it in the history. By a user's key, what is that user's."""
    scope = scope_for(caller.access, caller.space, id, body.user)
    await check_display_names(caller, body.metadata or {})
    edits = Edits(caller.memory.runtime)
    name = parse_turn(message) if by == "turn" else message
    # Stored without its words: a repeated request is answered with the message as it is then.
    brief = StoredForm(lambda edited: edited.id, partial(edits.read_message, scope))
    work = partial(edits.edit_message, scope, name, body.text, body.metadata)
    return await answer_once(caller, key, work, brief, repeats="nothing")
