"""Conversations: the list of them, and one as a chat that is read page by page, the newest first.

Scrolling up loads the messages before, a page at a time; without a script, a link does. Nothing reads a whole history.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from recollect.errors import InvalidInput, NotFound
from recollect.log.scope import scope_for
from recollect.memory.inspection.conversations import ListedConversation, lines_of, recent_lines
from recollect.memory.inspection.messages import MessagePage, read_page
from recollect.server.door.access import Caller, caller_for
from recollect.server.routes.answers import line_response
from recollect.server.web.pages import show_page

PAGE = 25  # conversations in a page of the list
MESSAGES = 40  # in a page of a chat
AROUND = 10  # messages shown after the one that was jumped to
MAX_TURN = 2**31 - 1
FOUND = 100  # messages that a search of the list looks at
MAX_QUERY = 1_000  # characters
MICROSECONDS = 1_000_000

router = APIRouter(include_in_schema=False)
Id = Annotated[str, Query(max_length=256)]
OptionalId = Annotated[str, Query(max_length=256)]
Turn = Annotated[int | None, Query(ge=1, le=MAX_TURN)]


@router.get("/web/conversations")
async def show_conversations(
    caller: Annotated[Caller, caller_for("conversations")],
    query: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    user: OptionalId = "",
    cursor: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    """The conversations that changed last; with a query, those in which it is found, the best first."""
    person = caller.access.resolve_user(user or None)
    next_cursor = None
    if query.strip():
        lines = await find_lines(caller, query, person)
    else:
        lines = await recent_lines(caller.memory.runtime, caller.space, person, parse_cursor(cursor), PAGE)
        next_cursor = write_cursor(lines[-1]) if len(lines) == PAGE else None
    values = {"lines": lines, "query": query, "user": user, "next_cursor": next_cursor}
    return show_page(caller, "conversations.html", section="Conversations", **values)


async def find_lines(caller: Caller, query: str, person: str | None) -> list[ListedConversation]:
    """The conversations in which a query is found, the best first."""
    hits = await caller.memory.search(query, user=person, limit=FOUND, space=caller.space)
    ids = list(dict.fromkeys(hit.message.conversation for hit in hits))[:PAGE]
    return await lines_of(caller.memory.runtime, caller.space, caller.access.user, ids)


def write_cursor(line: ListedConversation) -> str:
    changed_at = line.conversation.changed_at.astimezone(UTC)
    seconds = int(changed_at.replace(microsecond=0).timestamp())
    return f"{seconds * MICROSECONDS + changed_at.microsecond}.{line.conversation.id}"


def parse_cursor(cursor: str) -> tuple[datetime, str] | None:
    """The place in the list that a cursor names."""
    if not cursor:
        return None
    moment, _, id = cursor.partition(".")
    if not (moment.isascii() and moment.isdigit() and len(moment) < 18 and id):
        raise InvalidInput("cursor", "is not one that a page gave")
    seconds, fraction = divmod(int(moment), MICROSECONDS)
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=fraction), id
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("cursor", "is not one that a page gave") from None


async def page_of(caller: Caller, id: str, before: int | None) -> MessagePage:
    """A page of a conversation; one that the caller may not see does not exist."""
    scope = scope_for(caller.access, caller.space, id, None)
    page = await read_page(caller.memory.runtime, scope, before, MESSAGES)
    if page.conversation is None:
        raise NotFound(f"there is no conversation {id!r} in this space")
    return page


@router.get("/web/conversation")
async def show_conversation(
    caller: Annotated[Caller, caller_for("history")], id: Id, before: Turn = None, turn: Turn = None
) -> Response:
    """A conversation as a chat: its last messages, or those before a turn, or those around one."""
    upto = turn + AROUND if turn is not None else before
    page = await page_of(caller, id, upto)
    values = {"id": id, "page": page, "turn": turn}
    return show_page(caller, "conversation.html", section="Conversations", **values)


@router.get("/web/conversation/messages")
async def show_messages(caller: Annotated[Caller, caller_for("history")], id: Id, before: Turn = None) -> Response:
    """The messages before a turn, without the frame of a page: a script puts them above those that are there."""
    return show_page(caller, "messages.html", id=id, page=await page_of(caller, id, before), turn=None)


@router.get("/web/conversation/export")
async def export_conversation(caller: Annotated[Caller, caller_for("export")], id: Id) -> Response:
    """Every message of a conversation, one a line, as `recollect import` reads them."""
    await page_of(caller, id, 1)
    source = caller.memory.export(user=caller.access.user, conversation=id, space=caller.space)
    response = await line_response(source)
    response.headers["Content-Disposition"] = 'attachment; filename="conversation.jsonl"'
    return response
