"""Routes that are written by hand: messages, contexts, replies, and what comes in pages or streams.

A message is stored once for each `platform_id`; with an `Idempotency-Key`, messages without a `platform_id` get one
made of the key, so that they are stored once even if the server is killed between the write and the answer.
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

from everword.errors import EverwordError, InvalidInput
from everword.log.checks_and_seals import ONCE, check_cursor, parse_expiry
from everword.log.secret_policy import masked
from everword.memory.operations.changes import remove_conversation
from everword.memory.operations.conversation import AsyncConversation
from everword.model import Added, Batch, Budget, Draft, Message, Reply
from everword.model.views import IMPORTANCE
from everword.server.access import Caller, caller_for
from everword.server.problems import Problem, problem_of
from everword.server.routes import shapes
from everword.server.routes.answers import (
    LINES,
    PAGE_BYTES,
    Count,
    Cursor,
    IdempotencyKey,
    KeyClaim,
    StoredForm,
    answer_once,
    claim_key,
    etag_of,
    json_response,
    line_response,
    matches_etag,
)
from everword.server.routes.from_declarations import Conversation, User
from everword.values_to_json import dumps

EVENTS = "text/event-stream"
AT_ONCE = 50  # messages read at a time
OTHER_MESSAGES = "this idempotency key was used for other messages; use a new key"

router = APIRouter(prefix="/v1", tags=["conversations"])
router_of_others = APIRouter(prefix="/v1")


def chat_of(caller: Caller, id: str, user: str | None) -> AsyncConversation:
    return caller.memory.conversation(id, user=user, space=caller.space)


@router.get("/conversations", response_model=shapes.page_model(shapes.Conversation))
async def conversations(
    caller: Annotated[Caller, caller_for("conversations")],
    user: Annotated[str | None, Query(description="List only the chats of this user.", max_length=256)] = None,
    cursor: Cursor = None,
    limit: Count = 100,
) -> Response:
    """List the conversations of a space, or of one user in the space; the conversation with the newest message comes
    first. If a conversation gets a message while you read the pages of the list, the conversation moves to the first
    page. To find conversations that got messages while you read the list, read the first page again at the end."""
    if cursor is not None:
        check_cursor("cursor", cursor)
    page = await caller.memory.conversations(user=user, space=caller.space, after=cursor or "", limit=limit)
    return json_response({"items": page, "next": page[-1].cursor if len(page) == limit else None})


# -- messages


@router.post("/conversations/{id:id}/messages", response_model=list[shapes.Added])
async def add_messages(
    caller: Annotated[Caller, caller_for("add_messages")],
    id: Conversation,
    body: shapes.MessagesIn,
    key: IdempotencyKey = None,
) -> Response:
    """Store messages, in order. When the server answers, the messages are on disk. The result of each message has a
    field `kept`, which says whether the message was new.

    If the id or `platform_id` of a message is already stored with a different text, everword refuses the new text, and
    `kept` is "refused". With `on_edit: "version"`, the new text becomes a new version of the stored message, and `kept`
    is "edited". While the store is unavailable, the server can buffer messages in RAM (setting `hold_messages`);
    results of buffered messages have the field `degraded`.
    """
    batch = batch_of(caller, id, body, key)
    return json_response((await caller.memory.add_many([batch]))[0])


@router.post("/messages", response_model=list[list[shapes.Added]])
async def add_batches(
    caller: Annotated[Caller, caller_for("add_messages")], body: shapes.BatchesIn, key: IdempotencyKey = None
) -> Response:
    """Store messages of several conversations in one transaction: either all of the messages or none."""
    batch_counts = Counter[str]()  # a message is identified by its place among those of its conversation
    batches: list[Batch] = []
    for batch in body.batches:
        place = batch_counts[batch.conversation]
        batch_counts[batch.conversation] += 1
        batches.append(batch_of(caller, batch.conversation, batch, key, (place,)))
    return json_response(await caller.memory.add_many(batches))


def batch_of(caller: Caller, id: str, body: shapes.MessagesIn, key: str | None, place: tuple[int, ...] = ()) -> Batch:
    """The messages of a request; with a key, each without an id gets one, made of its place."""
    drafts = [draft_of(message) for message in body.messages]
    keyed_drafts = [
        with_platform_id(caller, draft, key, id, (*place, number) if place else number)
        for number, draft in enumerate(drafts)
    ]
    return Batch(caller.space, id, body.user, keyed_drafts, partial(check_repeats, drafts, key), body.on_edit)


@router.get("/conversations/{id:id}/messages", response_model=shapes.page_model(shapes.Message))
async def history(
    caller: Annotated[Caller, caller_for("history")],
    id: Conversation,
    user: User = None,
    cursor: Cursor = None,
    limit: Count = 100,
    versions: Annotated[bool, Query(description="Whether to include the older versions of edited messages.")] = False,
) -> Response:
    """Get the last messages of a conversation, in order. To get earlier messages, pass the answer's `next` as `cursor`.
    A page of very long messages can have fewer messages than `limit`."""
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
        raise InvalidInput("cursor", "must be the `next` value of an earlier page")
    return int(cursor)


def draft_of(message: shapes.DraftIn) -> Draft:
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
        message.reply_to,
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


def budget_of(value: Any) -> Budget:
    return Budget(**value.model_dump()) if isinstance(value, shapes.RequestBody) else Budget.of(value)


async def context_response(caller: Caller, id: str, body: shapes.ContextIn, tag: str | None = None) -> Response:
    chat = chat_of(caller, id, body.user)
    context = await chat.context(body.text, budget=budget_of(body.budget), system=body.system, markers=body.markers)
    content = dumps(context)
    headers = {"ETag": etag_of(content), "Cache-Control": "private, no-cache"}
    if tag is not None and matches_etag(headers["ETag"], tag):
        return Response(None, 304, headers)
    return Response(content, 200, headers, "application/json")


@router.get(
    "/conversations/{id:id}/context",
    response_model=shapes.Context,
    responses={304: {"description": "The context has not changed."}},
)
async def get_context(
    caller: Annotated[Caller, caller_for("context")],
    id: Conversation,
    text: Annotated[str, Query(description="The message to answer.", max_length=4_000)],
    user: User = None,
    budget: Annotated[
        str,
        Query(
            description="The most tokens in the context: `standard` is 30,000, `compact` is 8,000.",
            pattern="^(standard|compact)$",
        ),
    ] = "standard",
    if_none_match: Annotated[str | None, Header(description="The `ETag` of a context that you already have.")] = None,
) -> Response:
    """Build a context for `text`: the messages to send to a model, with a receipt that says what was chosen and why. If
    you send an earlier answer's `ETag` as `If-None-Match` and the context has not changed, the status is 304."""
    body = shapes.ContextIn.model_construct(text=text, user=user, budget=budget, system=None, markers=True)
    return await context_response(caller, id, body, if_none_match)


@router.post("/conversations/{id:id}/context", response_model=shapes.Context)
async def make_context(
    caller: Annotated[Caller, caller_for("context")], id: Conversation, body: shapes.ContextIn
) -> Response:
    """Build a context for `text`: the messages to send to a model, with a receipt. Unlike `GET
    /v1/conversations/{id}/context`, `POST` accepts a text of any length and your own token budget."""
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
    """Run a whole turn: store the message, ask the model, and store and return the model's reply.

    With `stream`, you get the reply as server-sent events. Each piece of a streamed reply is an event `text`. The last
    event is `done`, with the whole reply, or `error`, with a description of the error. If you close the connection of a
    streamed reply early, everword stores the part of the reply that you received.
    """
    chat = chat_of(caller, id, body.user)
    platform_id = with_platform_id(
        caller, Draft("user", "", platform_id=body.platform_id), key, id, "reply"
    ).platform_id
    options: dict[str, Any] = {"budget": budget_of(body.budget), "system": body.system}
    options |= {"author": body.author, "platform_id": platform_id}
    if not body.stream:
        return await answer_once(caller, key, chat.reply(body.text, **options), MaskedReply())
    claim = None if key is None else await claim_key(caller, key)
    if claim is not None and claim.answer is not None:
        return event_response(replay_events(json.loads(claim.answer)["text"]))
    pieces = chat.stream(body.text, **options)
    try:
        first = await anext(pieces, None)  # an error before the first piece is a normal answer, not a stream
    except BaseException as error:
        if claim is not None:
            await claim.end(error)
        raise
    return event_response(reply_events(caller, first, pieces, claim))


class MaskedReply(StoredForm):
    """A reply may repeat a secret, which is stored with its conversation and nowhere else."""

    def shorten(self, answer: Reply) -> Reply:
        return replace(answer, text=masked(answer.text), message=answer.message.without_secrets)


def event_response(source: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(source, media_type=EVENTS, headers={"X-Accel-Buffering": "no"})


def event_bytes(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: ".encode() + dumps(data) + b"\n\n"


async def replay_events(text: str) -> AsyncIterator[bytes]:
    yield event_bytes("text", {"text": text})
    yield event_bytes("done", {"text": text})


async def reply_events(
    caller: Caller, first: str | None, pieces: AsyncIterator[str], claim: KeyClaim | None
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
        if claim is not None:
            await claim.end(error)
        if not isinstance(error, EverwordError):
            raise
        yield event_bytes("error", problem_of(error).document())
    else:
        degraded = caller.memory.degraded
        answer: dict[str, Any] = {"text": "".join(texts)} | ({} if degraded is None else {"degraded": degraded})
        if claim is not None and degraded is None:
            # The turn is done: whatever happens now, its key is not released.
            await claim.keep(dumps({"text": masked(answer["text"])}))
        yield event_bytes("done", answer)


# -- topics, edits and removals


@router_of_others.post("/conversations/{id:id}/topics", response_model=shapes.Topic, tags=["topics"])
async def add_to_topic(
    caller: Annotated[Caller, caller_for("add_to_topic")],
    id: Conversation,
    body: shapes.SaidIn,
    key: IdempotencyKey = None,
) -> Response:
    """Store a message and add it to its topic. A message can open a new topic, or make an inactive (faded) topic active
    again. Returns the topic."""
    chat = chat_of(caller, id, body.user)
    if body.role == "assistant":
        if body.author is not None or body.importance != IMPORTANCE:
            raise InvalidInput("role", "is assistant, so `author` and `importance` must be left out")
        return await answer_once(caller, key, chat.add_assistant_message(body.text, time=body.time))
    work = chat.add_user_message(body.text, body.importance, author=body.author, time=body.time)
    return await answer_once(caller, key, work)


@router_of_others.delete("/conversations/{id:id}", response_model=shapes.Deletion, tags=["removals"])
async def delete_conversation(
    caller: Annotated[Caller, caller_for("delete_conversation")],
    id: Conversation,
    user: User = None,
    dry_run: Annotated[
        bool, Query(description="If true, nothing is removed: the result says what would be removed.")
    ] = False,
    key: IdempotencyKey = None,
) -> Response:
    """Permanently remove all messages of a conversation and everything derived from them."""
    scope = chat_of(caller, id, user).scope
    work = remove_conversation(caller.memory.runtime, scope, dry_run=dry_run)
    return await answer_once(caller, key, work, repeats="names")


# -- exports, and waiting for views

LINE_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"content": {LINES: {"schema": {"type": "string"}}}, "description": "One message per line."}
}


@router_of_others.get("/space", response_model=shapes.SpaceOut, tags=["spaces"])
async def space(caller: Annotated[Caller, caller_for("space")]) -> Response:
    """Get the API key's own space. If a request names no space, the server uses the API key's own space."""
    return json_response({"space": caller.space})


@router_of_others.post("/settle", response_model=shapes.Settled, tags=["spaces"])
async def settle(caller: Annotated[Caller, caller_for("settle")], body: shapes.SettleIn) -> Response:
    """Wait until every view (derived data, such as facts) is up to date with the log. If a view is not up to date after
    `timeout` seconds, the status is 409. If your API key opens all spaces, the 409 error says which views are behind,
    and why."""
    await caller.memory.settle(body.timeout)
    # Failures on messages of others are not for a key of one user, nor for one that may not read.
    is_told = caller.access.is_reader and not caller.access.is_bound
    states = (await caller.memory.stats(space=caller.space)).views if is_told else ()
    return json_response({"done": True, "set_aside": sum(state.set_aside for state in states)})


@router_of_others.get(
    "/users/{id:id}/export", response_class=StreamingResponse, responses=LINE_RESPONSES, tags=["people"]
)
async def export_user(
    caller: Annotated[Caller, caller_for("export")],
    id: Annotated[str, Path(description="The user.", max_length=256)],
    salvage: bool = False,
    secrets: bool = False,
) -> Response:
    """Export every message of a user's memory, in order, as JSON Lines that `everword import` reads. With `salvage`,
    the export skips messages that cannot be read, instead of failing. The export contains placeholders for secrets,
    such as API keys, unless `secrets` is true."""
    return await line_response(caller.memory.export(user=id, space=caller.space, salvage=salvage, secrets=secrets))


@router_of_others.get("/export", response_class=StreamingResponse, responses=LINE_RESPONSES, tags=["spaces"])
async def export(
    caller: Annotated[Caller, caller_for("export")],
    user: Annotated[str | None, Query(max_length=256)] = None,
    conversation: Annotated[str | None, Query(max_length=256)] = None,
    salvage: bool = False,
    secrets: bool = False,
) -> Response:
    """Export every message of a space, of a user's memory or of a conversation, in order, one message per line.
    `salvage` and `secrets` work as in `GET /v1/users/{id}/export`."""
    source = caller.memory.export(
        user=user, conversation=conversation, space=caller.space, salvage=salvage, secrets=secrets
    )
    return await line_response(source)
