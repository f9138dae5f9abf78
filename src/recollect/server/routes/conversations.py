"""Conversations over HTTP: what was said, the context of what is said now, and the reply.

A message is kept once for each `platform_id`; with an `Idempotency-Key`, messages that have none get one made of it, so
that even a server that is killed between the write and the answer keeps them once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response, StreamingResponse

from recollect.engine import idempotency
from recollect.engine.conversation import AsyncConversation, conversation_for
from recollect.engine.tables.log import Batch
from recollect.errors import InvalidInput, RecollectError
from recollect.model import Added, Budget, Draft, Message
from recollect.server.door.access import Here, Reading, Writing
from recollect.server.problems import Problem, problem_of
from recollect.server.routes import shapes
from recollect.server.routes.answers import (
    PAGE_BYTES,
    Count,
    Cursor,
    Once,
    begun,
    close_claim,
    is_one_of,
    once,
    out,
    tag_of,
)
from recollect.wire import dumps, plain

EVENTS = "text/event-stream"
AT_ONCE = 50  # messages read at a time
OTHER_MESSAGES = "this idempotency key or id came with other messages before; use a new one"
Conversation = Annotated[str, Path(alias="id", description="The conversation; it begins with its first message.")]
User = Annotated[str | None, Query(description="Whose chat it is; left out for a channel.", max_length=256)]

router = APIRouter(prefix="/v1", tags=["conversations"])


def chat_of(here: Here, id: str, user: str | None) -> AsyncConversation:
    return conversation_for(here.memory, here.access, here.space, id, user)


@router.get("/conversations", response_model=shapes.page(shapes.Conversation))
async def conversations(here: Reading, user: User = None, cursor: Cursor = None, limit: Count = 100) -> Response:
    """The conversations of a space, in order of id; of one user, if given."""
    found = await here.memory.conversations(
        user=here.access.own(user), space=here.space, after=cursor or "", limit=limit
    )
    return out({"items": found, "next": found[-1].id if len(found) == limit else None})


# -- messages


@router.post("/conversations/{id:id}/messages", response_model=list[shapes.Added])
async def add_messages(here: Writing, id: Conversation, body: shapes.MessagesIn, key: Once = None) -> Response:
    """Keep messages, in order. Once this answers, they are on the disk."""
    given = [draft_of(here, one) for one in body.messages]
    drafts = [keyed(here, draft, key, id, number) for number, draft in enumerate(given)]
    batch = Batch(here.space, id, here.access.own(body.user), drafts, partial(check_repeated, given, key))
    return out((await here.memory.add_many([batch]))[0])


@router.post("/messages", response_model=list[list[shapes.Added]])
async def add_batches(here: Writing, body: shapes.BatchesIn, key: Once = None) -> Response:
    """Keep messages of several conversations in one transaction: all of them, or none."""
    given = [[draft_of(here, one) for one in batch.messages] for batch in body.batches]
    seen = Counter[str]()  # a message is known by its place among those of its conversation
    batches: list[Batch] = []
    for batch, drafts in zip(body.batches, given, strict=True):
        place = seen[batch.conversation]
        seen[batch.conversation] += 1
        made = [keyed(here, draft, key, batch.conversation, (place, n)) for n, draft in enumerate(drafts)]
        check = partial(check_repeated, drafts, key)
        batches.append(Batch(here.space, batch.conversation, here.access.own(batch.user), made, check))
    return out(await here.memory.add_many(batches))


@router.get("/conversations/{id:id}/messages", response_model=shapes.page(shapes.Message))
async def history(
    here: Reading, id: Conversation, user: User = None, cursor: Cursor = None, limit: Count = 100
) -> Response:
    """The last messages, in order; `next` leads to those before them. Where they are very long, a page has fewer."""
    chat, found, before, size, more = chat_of(here, id, user), list[Message](), turn_of(cursor), 0, True
    while more and len(found) < limit and size < PAGE_BYTES:
        wanted = min(limit - len(found), AT_ONCE)
        some = [] if before == 1 else await chat.history(limit=wanted, before=before)
        found[:0] = some
        size += sum(len(message.content) for message in some)
        more = len(some) == wanted and some[0].turn > 1
        before = some[0].turn if some else None
    return out({"items": found, "next": str(found[0].turn) if more else None})


def turn_of(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10 and int(cursor)):
        raise InvalidInput("cursor", "is not one that a page gave as `next`")
    return int(cursor)


def draft_of(here: Here, one: shapes.DraftIn) -> Draft:
    """The message; a key that is one user's lets in only what that user says and is told."""
    if one.user is not None:
        here.access.person(one.user)
    if one.author is not None and one.role == "user":
        here.access.person(one.author)
    return Draft(one.role, one.content, one.author, one.user, one.time, one.platform_id, one.metadata, one.id)


def keyed(here: Here, draft: Draft, key: str | None, conversation: str, place: object) -> Draft:
    if key is None or draft.platform_id is not None:
        return draft
    made = sha256(f"{here.access.key_id}\n{key}\n{conversation}\n{place}".encode()).hexdigest()
    return replace(draft, platform_id=f"once:{made[:40]}")


def check_repeated(given: list[Draft], key: str | None, added: list[Added]) -> None:
    """A key that came back with other messages, or with more, is a mistake of the caller's, and none of them is kept. A
    message that was erased stays so."""
    own = [(draft, one) for draft, one in zip(given, added, strict=True) if draft.platform_id is None]
    again = [one for draft, one in own if draft.id is None]
    if key is not None and any(one.new for one in again) and not all(one.new for one in again):
        raise Problem(422, "key_reused", OTHER_MESSAGES)
    for draft, one in own:
        told, kept = (draft.role, draft.content), one.message
        if not one.new and not kept.erased and told != (kept.role, kept.content):
            raise Problem(422, "key_reused", OTHER_MESSAGES)


# -- contexts


def budget_of(given: shapes.BudgetIn | str) -> Budget:
    if isinstance(given, str):
        return Budget.compact() if given == "compact" else Budget()
    return Budget(**given.model_dump())


async def context_of(here: Here, id: str, body: shapes.ContextIn, tag: str | None = None) -> Response:
    chat = chat_of(here, id, body.user)
    made = await chat.context(body.text, budget=budget_of(body.budget), system=body.system, markers=body.markers)
    content = dumps(made)
    headers = {"ETag": tag_of(content), "Cache-Control": "private, no-cache"}
    if tag is not None and is_one_of(headers["ETag"], tag):
        return Response(None, 304, headers)
    return Response(content, 200, headers, "application/json")


@router.get(
    "/conversations/{id:id}/context",
    response_model=shapes.Context,
    responses={304: {"description": "It is what you have."}},
)
async def get_context(
    here: Reading,
    id: Conversation,
    text: Annotated[str, Query(description="What is to be answered.", max_length=4_000)],
    user: User = None,
    budget: Annotated[str, Query(description="30,000 tokens, or 8,000.", pattern="^(standard|compact)$")] = "standard",
    if_none_match: Annotated[str | None, Header(description="The ETag of the context you have.")] = None,
) -> Response:
    """What to send to a model to have `text` answered, with a receipt; 304 if it is what you have."""
    asked = shapes.ContextIn.model_construct(text=text, user=user, budget=budget, system=None, markers=True)
    return await context_of(here, id, asked, if_none_match)


@router.post("/conversations/{id:id}/context", response_model=shapes.Context)
async def make_context(here: Reading, id: Conversation, body: shapes.ContextIn) -> Response:
    """The same, for texts of any length and budgets of your own."""
    return await context_of(here, id, body)


# -- turns


@router.post(
    "/conversations/{id:id}/reply",
    response_model=shapes.Reply,
    responses={200: {"content": {EVENTS: {"schema": {"type": "string"}}}}},
)
async def reply(here: Writing, id: Conversation, body: shapes.ReplyIn, key: Once = None) -> Response:
    """The whole turn: keep the message, ask the model, keep and return its reply.

    With `stream`, by server-sent events: `text` for each piece as it is written, then `done` with all of it; or
    `error` with a problem. A turn that is cut off keeps what was seen.
    """
    here.access.check_right("read")  # a reply tells what is remembered
    if body.author is not None:
        here.access.person(body.author)
    chat = chat_of(here, id, body.user)
    platform_id = keyed(here, Draft("user", "", platform_id=body.platform_id), key, id, "reply").platform_id
    about: dict[str, Any] = {"budget": budget_of(body.budget), "system": body.system}
    about |= {"author": body.author, "platform_id": platform_id}
    if not body.stream:
        return await once(here, key, lambda: chat.reply(body.text, **about))
    repeat, known = await begun(here, key) if key is not None else (None, None)
    if known is not None:
        return events(said_before(json.loads(known)["text"]))
    pieces = chat.stream(body.text, **about)
    try:
        first = await anext(pieces, None)  # what fails at once is an answer of its own, and no stream
    except BaseException as error:
        if repeat is not None:
            await close_claim(here, repeat, error)
        raise
    return events(told(here, first, pieces, repeat))


def events(source: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(source, media_type=EVENTS, headers={"X-Accel-Buffering": "no"})


def event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(plain(data), ensure_ascii=False)}\n\n".encode()


async def said_before(text: str) -> AsyncIterator[bytes]:
    yield event("text", {"text": text})
    yield event("done", {"text": text})


async def told(
    here: Here, first: str | None, pieces: AsyncIterator[str], repeat: idempotency.Repeat | None
) -> AsyncIterator[bytes]:
    said = [] if first is None else [first]
    try:
        async with aclosing(pieces):  # type: ignore[type-var]
            if first is not None:
                yield event("text", {"text": first})
            async for piece in pieces:
                said.append(piece)
                yield event("text", {"text": piece})
        whole = {"text": "".join(said)}
        if repeat is not None:
            await idempotency.keep(here.memory, repeat, 200, dumps(whole))
    except BaseException as error:
        if repeat is not None:
            await close_claim(here, repeat, error)
        if not isinstance(error, RecollectError):
            raise
        yield event("error", problem_of(error).document())
    else:
        yield event("done", whole)


@router.post("/conversations/{id:id}/command", response_model=shapes.Command | None)
async def command(here: Writing, id: Conversation, body: shapes.CommandIn, key: Once = None) -> Response:
    """Carry out what a message asks of the memory: remember, forget, tell what is known; null if it asks nothing."""
    here.access.check_right("read")
    if body.author is not None:
        here.access.person(body.author)
    chat = chat_of(here, id, body.user)
    given = {"author": body.author, "names": tuple(body.names), "addressed": body.addressed}
    return await once(here, key, lambda: chat.command(body.text, **given))  # type: ignore[arg-type]


@router.post("/conversations/{id:id}/standalone", response_model=shapes.Question)
async def standalone(here: Reading, id: Conversation, body: shapes.QuestionIn) -> Response:
    """A follow-up question so that it can be understood alone, from what was said last."""
    return out({"question": await chat_of(here, id, body.user).standalone(body.question)})


# -- what became of it


@router.get("/conversations/{id:id}/episodes", response_model=list[shapes.EpisodeOut])
async def episodes(here: Reading, id: Conversation, user: User = None) -> Response:
    """What left the window, as summaries: the active ones, highest level first, each with its parts."""
    return out(await chat_of(here, id, user).episodes())


@router.get("/conversations/{id:id}/archived", response_model=list[shapes.Chunk])
async def archived(here: Reading, id: Conversation, user: User = None) -> Response:
    """The runs of messages that have left the window, oldest first."""
    return out(await chat_of(here, id, user).archived())
