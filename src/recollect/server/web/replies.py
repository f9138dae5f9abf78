"""Past replies: what the model was shown when it wrote each of the last ones, and what it asked for on the way."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from recollect.context.receipts import SLOTS
from recollect.errors import NotFound
from recollect.log.scope import scope_for
from recollect.memory.inspection.receipts import name_items, past_replies
from recollect.server.door.access import Caller, caller_for
from recollect.server.web.context_lab import ABOUT, section_shares
from recollect.server.web.conversations import Id, page_of
from recollect.server.web.messages import RequiredTurn
from recollect.server.web.pages import show_page

router = APIRouter(include_in_schema=False)


@router.get("/web/replies")
async def show_replies(caller: Annotated[Caller, caller_for("receipts")], conversation: Id) -> Response:
    """The last replies of a conversation, each with its tokens and calls."""
    await page_of(caller, conversation, 1)
    scope = scope_for(caller.access, caller.space, conversation, None)
    replies = await past_replies(caller.memory.runtime, scope)
    values = {"conversation": conversation, "replies": replies, "most": SLOTS}
    return show_page(caller, "replies.html", section="Context lab", **values)


@router.get("/web/reply")
async def show_reply(
    caller: Annotated[Caller, caller_for("receipts")], conversation: Id, turn: RequiredTurn
) -> Response:
    """One reply: the receipt of its context, and every call of the model."""
    await page_of(caller, conversation, 1)
    scope = scope_for(caller.access, caller.space, conversation, None)
    runtime = caller.memory.runtime
    reply = next((reply for reply in await past_replies(runtime, scope) if reply.stored.turn == turn), None)
    if reply is None:
        raise NotFound(f"there is no receipt for turn {turn} of this conversation")
    receipt = reply.stored.receipt
    values = {
        "conversation": conversation,
        "reply": reply,
        "receipt": receipt,
        "shares": [share for share in section_shares(receipt) if share.tokens > 0],
        "names": await name_items(runtime, scope, [receipt]),
        "hidden": reply.stored.hidden,
        "about": ABOUT,
        "user": scope.user,
    }
    return show_page(caller, "reply.html", section="Context lab", **values)
