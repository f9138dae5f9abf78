"""Conversations over HTTP: messages, contexts and replies.

A message is stored once for each `platform_id`; with an `Idempotency-Key`, messages without a `platform_id` get one
made of the key, so that they are stored once even if the server is killed between the write and the answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response, StreamingResponse

from recollect.errors import InvalidInput, RecollectError
from recollect.log.expiry import parse_expiry
from recollect.log.rules import ONCE
from recollect.log.scope import scope_for
from recollect.log.secret_policy import masked
from recollect.memory import idempotency
from recollect.memory.conversation import AsyncConversation
from recollect.model import Added, Batch, Budget, BudgetName, Draft, Message, Reply
from recollect.server.door.access import Caller, caller_for
from recollect.server.problems import Problem, problem_of
from recollect.server.routes import shapes
from recollect.server.routes.answers import (
    AS_IT_IS,
    PAGE_BYTES,
    Count,
    Cursor,
    IdempotencyKey,
    StoredForm,
    answer_once,
    claim_key,
    close_claim,
    etag_of,
    json_bytes,
    json_response,
    keep_trying,
    matches_etag,
    wait_briefly,
)
from recollect.server.routing import LeanRoute
from recollect.wire import dumps, to_json_value

EVENTS = "text/event-stream"
AT_ONCE = 50  # messages read at a time
OWN_ID = "a user's key does not choose ids of messages, which count in the whole space: send a `platform_id` instead"
NO_NAMES = "a user's key without the scope 'read' sends no display name: leave out `name` in the metadata"
OTHER_MESSAGES = "this idempotency key came with other messages before; use a new one"
Conversation = Annotated[str, Path(alias="id", description="The conversation; it begins with its first message.")]
User = Annotated[str | None, Query(description="Whose chat it is; left out for a channel.", max_length=256)]

router = APIRouter(prefix="/v1", tags=["conversations"], route_class=LeanRoute)


def chat_of(caller: Caller, id: str, user: str | None) -> AsyncConversation:
    return caller.memory.open_conversation(scope_for(caller.access, caller.space, id, user))


@router.get("/conversations", response_model=shapes.page_model(shapes.Conversation))
async def conversations(
    caller: Annotated[Caller, caller_for("conversations")], user: User = None, cursor: Cursor = None, limit: Count = 100
) -> Response:
    """The conversations of a space, in order of id; of one user, if given."""
    page = await caller.memory.conversations(
        user=caller.access.resolve_user(user), space=caller.space, after=cursor or "", limit=limit
    )
    return json_response({"items": page, "next": page[-1].id if len(page) == limit else None})


# -- messages


@router.post("/conversations/{id:id}/messages", response_model=list[shapes.Added])
async def add_messages(
    caller: Annotated[Caller, caller_for("add_messages")],
    id: Conversation,
    body: shapes.MessagesIn,
    key: IdempotencyKey = None,
) -> Response:
    """Keep messages, in order. Once this answers, they are on the disk; or, where the setting `hold_messages` allows it
    and the store takes nothing, they are held in memory, and `degraded` says so. `kept` says what became of each. If
    the id or `platform_id` of a message is known with another text, the stored one stays ("refused"), unless `on_edit`
    asks for a new version ("edited")."""
    drafts = [draft_of(caller, message) for message in body.messages]
    keyed_drafts = [with_platform_id(caller, draft, key, id, number) for number, draft in enumerate(drafts)]
    await check_display_names(caller, *(draft.metadata for draft in drafts))
    batch = batch_of(caller, id, body, keyed_drafts, partial(check_repeats, drafts, key))
    return json_response(visible_additions(caller, batch, (await caller.memory.add_many([batch]))[0]))


@router.post("/messages", response_model=list[list[shapes.Added]])
async def add_batches(
    caller: Annotated[Caller, caller_for("add_messages")], body: shapes.BatchesIn, key: IdempotencyKey = None
) -> Response:
    """Keep messages of several conversations in one transaction: all of them, or none."""
    drafts_of_batches = [[draft_of(caller, message) for message in batch.messages] for batch in body.batches]
    batch_counts = Counter[str]()  # a message is identified by its place among those of its conversation
    batches: list[Batch] = []
    for batch, drafts in zip(body.batches, drafts_of_batches, strict=True):
        place = batch_counts[batch.conversation]
        batch_counts[batch.conversation] += 1
        keyed_drafts = [
            with_platform_id(caller, draft, key, batch.conversation, (place, n)) for n, draft in enumerate(drafts)
        ]
        check = partial(check_repeats, drafts, key)
        batches.append(batch_of(caller, batch.conversation, batch, keyed_drafts, check))
    await check_display_names(caller, *(draft.metadata for drafts in drafts_of_batches for draft in drafts))
    results = await caller.memory.add_many(batches)
    return json_response([visible_additions(caller, *pair) for pair in zip(batches, results, strict=True)])


def visible_additions(caller: Caller, batch: Batch, additions: list[Added]) -> list[Added]:
    """What became of messages, as the caller may be told: without the right to read, in the words of the request, and
    not in those that are stored."""
    if caller.access.is_reader:
        return additions
    now = caller.memory.runtime.parts.clock.now()
    return [
        replace(addition, message=message_as_sent(addition.message, draft, batch.user, now))
        for draft, addition in zip(batch.drafts, additions, strict=True)
    ]


def message_as_sent(message: Message, draft: Draft, user: str | None, now: datetime) -> Message:
    """A message with what its request said of it, and of what is stored only its place and its id."""
    expires_at = draft.expires_at
    return replace(
        message,
        role=draft.role,
        author=draft.author or draft.user or user or draft.role,
        user=draft.user or user,
        content=draft.content,
        time=draft.time or now,
        platform_id=draft.platform_id,
        metadata=draft.metadata,
        expires_at=now + expires_at if isinstance(expires_at, timedelta) else expires_at,
        versions=(),
    )


async def check_display_names(caller: Caller, *metadatas: Mapping[str, Any]) -> None:
    """Raise if messages by a user's key come with a display name that another member has; to a key that may not read,
    which names there are is not told."""
    user = caller.access.user
    names = {name for metadata in metadatas if isinstance(name := metadata.get("name"), str)}
    if user is not None:
        if names and not caller.access.is_reader:
            raise Problem(403, "scope", NO_NAMES)
        for name in names:
            await caller.memory.knowledge.check_free_name(name, user=user, space=caller.space)


def batch_of(
    caller: Caller, id: str, body: shapes.MessagesIn, drafts: list[Draft], check: Callable[[list[Added]], None]
) -> Batch:
    user = caller.access.resolve_user(body.user)
    return Batch(caller.space, id, user, drafts, check, body.on_edit, caller.access.key_id)


@router.get("/conversations/{id:id}/messages", response_model=shapes.page_model(shapes.Message))
async def history(
    caller: Annotated[Caller, caller_for("history")],
    id: Conversation,
    user: User = None,
    cursor: Cursor = None,
    limit: Count = 100,
    versions: Annotated[bool, Query(description="Show what messages said before they were edited, too.")] = False,
) -> Response:
    """The last messages, in order; `next` leads to those before them. Where they are very long, a page has fewer."""
    chat = chat_of(caller, id, user)
    messages = list[Message]()
    before = turn_of(cursor)
    size = 0
    has_more = True
    while has_more and len(messages) < limit and size < PAGE_BYTES:
        count = min(limit - len(messages), AT_ONCE)
        batch = [] if before == 1 else await chat.history(limit=count, before=before, versions=versions)
        messages[:0] = batch
        size += sum(map(text_size, batch))
        has_more = len(batch) == count and batch[0].turn > 1
        before = batch[0].turn if batch else None
    return json_response({"items": messages, "next": str(messages[0].turn) if has_more else None})


def text_size(message: Message) -> int:
    """How many characters a message has, with its older versions."""
    return len(message.content) + sum(len(version.content) for version in message.versions)


def turn_of(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10 and int(cursor)):
        raise InvalidInput("cursor", "is not one that a page gave as `next`")
    return int(cursor)


def draft_of(caller: Caller, message: shapes.DraftIn) -> Draft:
    if message.id is not None and caller.access.is_bound:
        raise Problem(403, "not_you", OWN_ID)
    """The message as a draft; a key of one user accepts only messages by and to that user."""
    if message.user is not None:
        caller.access.check_user(message.user)
    if message.author is not None and message.role == "user":
        caller.access.check_user(message.author)
    return Draft(
        message.role,
        message.content,
        message.author,
        message.user,
        message.time,
        message.platform_id,
        message.metadata,
        message.id,
        parse_expiry("expires", message.expires),
    )


def with_platform_id(caller: Caller, draft: Draft, key: str | None, conversation: str, place: object) -> Draft:
    if key is None or draft.platform_id is not None or draft.id is not None:
        return draft
    digest = sha256(f"{caller.access.key_id}\n{key}\n{conversation}\n{place}".encode()).hexdigest()
    return replace(draft, platform_id=f"{ONCE}{digest[:40]}")


def check_repeats(drafts: list[Draft], key: str | None, results: list[Added]) -> None:
    """Raise if an idempotency key came back with other or more messages: that is a mistake of the caller, and none of
    them is stored. A message that was erased stays erased."""
    pairs = zip(drafts, results, strict=True)
    repeats = [result for draft, result in pairs if draft.platform_id is None and draft.id is None]
    is_partly_new = any(result.new for result in repeats) and not all(result.new for result in repeats)
    if key is not None and (is_partly_new or any(result.kept == "refused" for result in repeats)):
        raise Problem(422, "key_reused", OTHER_MESSAGES)


# -- contexts


def budget_of(value: shapes.BudgetIn | BudgetName) -> Budget:
    if isinstance(value, str):
        return Budget.of(value)
    return Budget(**value.model_dump())


async def context_response(caller: Caller, id: str, body: shapes.ContextIn, tag: str | None = None) -> Response:
    chat = chat_of(caller, id, body.user)
    context = await chat.context(body.text, budget=budget_of(body.budget), system=body.system, markers=body.markers)
    content = json_bytes(context)
    headers = {"ETag": etag_of(content), "Cache-Control": "private, no-cache"}
    if tag is not None and matches_etag(headers["ETag"], tag):
        return Response(None, 304, headers)
    return Response(content, 200, headers, "application/json")


@router.get(
    "/conversations/{id:id}/context",
    response_model=shapes.Context,
    responses={304: {"description": "It is what you have."}},
)
async def get_context(
    caller: Annotated[Caller, caller_for("context")],
    id: Conversation,
    text: Annotated[str, Query(description="What is to be answered.", max_length=4_000)],
    user: User = None,
    budget: Annotated[str, Query(description="30,000 tokens, or 8,000.", pattern="^(standard|compact)$")] = "standard",
    if_none_match: Annotated[str | None, Header(description="The ETag of the context you have.")] = None,
) -> Response:
    """What to send to a model to have `text` answered, with a receipt; 304 if it is what you have."""
    body = shapes.ContextIn.model_construct(text=text, user=user, budget=budget, system=None, markers=True)
    return await context_response(caller, id, body, if_none_match)


@router.post("/conversations/{id:id}/context", response_model=shapes.Context)
async def make_context(
    caller: Annotated[Caller, caller_for("context")], id: Conversation, body: shapes.ContextIn
) -> Response:
    """The same, for texts of any length and budgets of your own."""
    return await context_response(caller, id, body)


# -- turns


@router.post(
    "/conversations/{id:id}/reply",
    response_model=shapes.Reply,
    responses={200: {"content": {EVENTS: {"schema": {"type": "string"}}}}},
)
async def reply(
    caller: Annotated[Caller, caller_for("reply")], id: Conversation, body: shapes.ReplyIn, key: IdempotencyKey = None
) -> Response:
    """The whole turn: keep the message, ask the model, keep and return its reply.

    With `stream`, by server-sent events: `text` for each piece as it is written, then `done` with all of it; or
    `error` with a problem. A turn that is cut off keeps what was seen.
    """
    if body.author is not None:
        caller.access.check_user(body.author)
    chat = chat_of(caller, id, body.user)
    platform_id = with_platform_id(
        caller, Draft("user", "", platform_id=body.platform_id), key, id, "reply"
    ).platform_id
    options: dict[str, Any] = {"budget": budget_of(body.budget), "system": body.system}
    options |= {"author": body.author, "platform_id": platform_id}
    if not body.stream:
        # A reply may repeat a secret, which is stored with its conversation and nowhere else.
        return await answer_once(caller, key, lambda: chat.reply(body.text, **options), MASKED_REPLY)
    repeat, stored_body = await claim_key(caller, key) if key is not None else (None, None)
    if stored_body is not None:
        return event_response(replay_events(json.loads(stored_body)["text"]))
    pieces = chat.stream(body.text, **options)
    try:
        first = await anext(pieces, None)  # an error before the first piece is a normal answer, not a stream
    except BaseException as error:
        if repeat is not None:
            await close_claim(caller, repeat, error)
        raise
    return event_response(reply_events(caller, first, pieces, repeat))


def mask_reply(reply: Reply) -> Reply:
    return replace(reply, text=masked(reply.text), message=reply.message.without_secrets)


MASKED_REPLY = StoredForm(mask_reply, AS_IT_IS.restore)


def event_response(source: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(source, media_type=EVENTS, headers={"X-Accel-Buffering": "no"})


def event_bytes(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(to_json_value(data), ensure_ascii=False)}\n\n".encode()


async def replay_events(text: str) -> AsyncIterator[bytes]:
    yield event_bytes("text", {"text": text})
    yield event_bytes("done", {"text": text})


async def reply_events(
    caller: Caller, first: str | None, pieces: AsyncIterator[str], repeat: idempotency.KeyedRequest | None
) -> AsyncIterator[bytes]:
    texts = [] if first is None else [first]
    try:
        async with aclosing(pieces):  # type: ignore[type-var]
            if first is not None:
                yield event_bytes("text", {"text": first})
            async for piece in pieces:
                texts.append(piece)
                yield event_bytes("text", {"text": piece})
    except BaseException as error:
        if repeat is not None:
            await close_claim(caller, repeat, error)
        if not isinstance(error, RecollectError):
            raise
        yield event_bytes("error", problem_of(error).document())
    else:
        degraded = caller.memory.degraded
        answer: dict[str, Any] = {"text": "".join(texts)} | ({} if degraded is None else {"degraded": degraded})
        if repeat is not None and degraded is None:
            # The turn is done: whatever happens now, its key is not released.
            stored_answer = dumps({"text": masked(answer["text"])})
            keep = partial(idempotency.keep_answer, caller.memory.runtime, repeat, HTTPStatus.OK, stored_answer)
            await wait_briefly(keep_trying(keep))
        yield event_bytes("done", answer)


@router.post("/conversations/{id:id}/command", response_model=shapes.Command | None)
async def command(
    caller: Annotated[Caller, caller_for("command")],
    id: Conversation,
    body: shapes.CommandIn,
    key: IdempotencyKey = None,
) -> Response:
    """Carry out what a message asks of the memory: remember, forget, tell what is known; null if it asks nothing."""
    if body.author is not None:
        caller.access.check_user(body.author)
    chat = chat_of(caller, id, body.user)
    options = {
        "author": body.author,
        "names": tuple(body.names),
        "addressed": body.addressed,
        "platform_id": body.platform_id,
    }
    return await answer_once(caller, key, lambda: chat.command(body.text, **options))  # type: ignore[arg-type]


@router.post("/conversations/{id:id}/standalone", response_model=shapes.Question)
async def standalone(
    caller: Annotated[Caller, caller_for("standalone")], id: Conversation, body: shapes.QuestionIn
) -> Response:
    """A follow-up question so that it can be understood alone, from what was said last."""
    return json_response({"question": await chat_of(caller, id, body.user).standalone(body.question)})


# -- what was derived


@router.get("/conversations/{id:id}/episodes", response_model=list[shapes.EpisodeOut])
async def episodes(caller: Annotated[Caller, caller_for("episodes")], id: Conversation, user: User = None) -> Response:
    """What left the window, as summaries: the active ones, highest level first, each with its parts."""
    return json_response(await chat_of(caller, id, user).episodes())


@router.post("/conversations/{id:id}/archive", response_model=shapes.Chunk | None)
async def archive(caller: Annotated[Caller, caller_for("archive")], id: Conversation, body: shapes.UserIn) -> Response:
    """Archive the window now: all but the last exchange; null if there was nothing to archive."""
    return json_response(await chat_of(caller, id, body.user).archive())


@router.get("/conversations/{id:id}/archived", response_model=list[shapes.Chunk])
async def archived(caller: Annotated[Caller, caller_for("archived")], id: Conversation, user: User = None) -> Response:
    """The runs of messages that have left the window, oldest first."""
    return json_response(await chat_of(caller, id, user).archived())
