"""Removing a person or a conversation for good: first a preview, then, with the id typed again, the act."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from recollect.errors import InvalidInput, NotFound
from recollect.model import Deletion
from recollect.server.door.access import Caller, caller_for
from recollect.server.web.conversations import OptionalId
from recollect.server.web.forms import Form
from recollect.server.web.pages import show_page, view_of

NOT_TYPED = "is not what was to be removed: type its id to confirm; nothing was removed"

router = APIRouter(include_in_schema=False)


async def preview_person(caller: Caller, user: str) -> Deletion | None:
    """What would go with a person; None if they wrote nothing, and only what others said of them would."""
    try:
        return await caller.memory.delete(user=user, dry_run=True, space=caller.space)
    except NotFound:
        return None


@router.get("/web/erase")
async def show_preview(
    caller: Annotated[Caller, caller_for("delete")], user: OptionalId = "", conversation: OptionalId = ""
) -> Response:
    """What would go. Nothing is changed."""
    if bool(user) == bool(conversation):
        return show_page(caller, "erase.html", section="Integrity", user="", conversation="", deletion=None)
    if user:
        deletion = await preview_person(caller, user)
    else:
        deletion = await caller.memory.delete_conversation(conversation, space=caller.space, dry_run=True)
    values = {"user": user, "conversation": conversation, "deletion": deletion}
    return show_page(caller, "erase.html", section="Integrity", **values)


@router.post("/web/erase")
async def erase(caller: Annotated[Caller, caller_for("delete")], form: Form) -> Response:
    """Remove a person, or a conversation, and all that was derived from it, for good."""
    user = form.text("user")
    conversation = form.text("conversation")
    if bool(user) == bool(conversation):
        raise InvalidInput("user", "or a conversation is to be named, one of them")
    if form.text("confirm") != (user or conversation):
        raise InvalidInput("confirm", NOT_TYPED)
    link = view_of(caller).link("/web/integrity")
    if user:
        erasure = await caller.memory.erase(user=user, space=caller.space)
        return show_page(caller, "erased.html", section="Integrity", erasure=erasure, back=link)
    deletion = await caller.memory.delete_conversation(conversation, space=caller.space)
    return show_page(caller, "removed.html", section="Integrity", deletion=deletion, back=link)
