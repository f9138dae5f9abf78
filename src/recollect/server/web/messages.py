"""One message: all that is known of it, what it said before, and its removal, with a preview of what goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.log.scope import scope_for
from recollect.memory.inspection.messages import read_page
from recollect.memory.inspection.receipts import find_receipt
from recollect.memory.seen_by import SeenConversation
from recollect.model import Deletion
from recollect.server.door.access import Caller, caller_for
from recollect.server.problems import Problem
from recollect.server.web.conversations import MAX_TURN, Id
from recollect.server.web.forms import Form, FormFields
from recollect.server.web.pages import redirect, show_page, view_of

router = APIRouter(include_in_schema=False)
Outcome = Annotated[str, Query(alias="done", max_length=32)]
RequiredTurn = Annotated[int, Query(ge=1, le=MAX_TURN)]


def turn_in(form: FormFields) -> int:
    text = form.required_text("turn")
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
        raise Problem(422, "invalid_input", "turn: is not the number of a turn")
    return int(text)


async def show_message_page(
    caller: Caller, conversation: str, turn: int, deletion: Deletion | None = None, notice: str = ""
) -> Response:
    scope = scope_for(caller.access, caller.space, conversation, None)
    page = await read_page(caller.memory.runtime, scope, turn + 1, 1)
    if not page.messages or page.messages[0].message.turn != turn:
        raise NotFound(f"there is no message at turn {turn} of this conversation")
    chat = caller.memory.conversation(conversation, space=caller.space)
    versions = (await chat.history(limit=1, before=turn + 1, versions=True))[0].versions
    has_receipt = await find_receipt(caller.memory.runtime, scope, turn)
    values = {
        "entry": replace(page.messages[0], message=page.messages[0].message.as_said),
        "has_receipt": has_receipt,
        "versions": versions,
        "names": page.names,
        "deletion": deletion,
        "notice": notice,
    }
    return show_page(caller, "message.html", section="Conversations", id=conversation, **values)


@router.get("/web/message")
async def show_message(
    caller: Annotated[Caller, caller_for("history")], conversation: Id, turn: RequiredTurn, outcome: Outcome = ""
) -> Response:
    notice = "The message has a new version." if outcome == "edited" else ""
    return await show_message_page(caller, conversation, turn, notice=notice)


@router.post("/web/message/edit")
async def edit_message(caller: Annotated[Caller, caller_for("edit_message")], form: Form) -> Response:
    """Give a message a new text; the old one stays as a version."""
    conversation = form.required_text("conversation")
    turn = turn_in(form)
    await caller.memory.conversation(conversation, space=caller.space).edit(turn, form.required_text("text"))
    return redirect(view_of(caller).link("/web/message", conversation=conversation, turn=turn, done="edited"))


def chat_in(caller: Caller, form: FormFields) -> SeenConversation:
    return caller.memory.conversation(form.required_text("conversation"), space=caller.space)


@router.post("/web/message/preview")
async def preview_deletion(caller: Annotated[Caller, caller_for("delete_message")], form: Form) -> Response:
    """What would go with a message. Nothing is changed."""
    chat = chat_in(caller, form)
    turn = turn_in(form)
    deletion = await chat.delete(turn, dry_run=True)
    return await show_message_page(caller, chat.id, turn, deletion)


@router.post("/web/message/delete")
async def delete_message(caller: Annotated[Caller, caller_for("delete_message")], form: Form) -> Response:
    """Remove a message and all that was derived from it, for good."""
    chat = chat_in(caller, form)
    deletion = await chat.delete(turn_in(form))
    link = view_of(caller).link("/web/conversation", id=chat.id)
    return show_page(caller, "removed.html", section="Conversations", deletion=deletion, back=link)
