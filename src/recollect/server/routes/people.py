"""People over HTTP: what is known of them, what to remember and to forget, and their rights to all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime
from starlette.responses import Response, StreamingResponse

from recollect.errors import NotFound
from recollect.facts.tables.people import SHOWN_BY_PLATFORM
from recollect.log.expiry import parse_expiry
from recollect.memory.visible import undo_for, visible_facts, visible_messages, visible_profile, visible_refusals
from recollect.model import FactCategory, Message
from recollect.server.door.access import Caller, caller_for
from recollect.server.problems import Problem
from recollect.server.routes import fact_shapes, shapes
from recollect.server.routes.answers import Count, Cursor, IdempotencyKey, answer_once, json_response, page_response
from recollect.wire import dumps

LINES = "application/x-ndjson"
Person = Annotated[str, Path(alias="id", description="The user.", max_length=256)]
Seconds = Annotated[float | None, Query(ge=0, le=300, description="How long to wait for digests; 0: make none.")]

router = APIRouter(prefix="/v1", tags=["people"])


def person_arguments(caller: Caller, id: str) -> dict[str, Any]:
    """The user and the space as arguments of the engine."""
    return {"user": caller.access.check_user(id), "space": caller.space}


@router.get("/users/{id:id}/facts", response_model=shapes.page_model(shapes.Fact))
async def facts(
    caller: Annotated[Caller, caller_for("facts")],
    id: Person,
    query: Annotated[str | None, Query(description="What has most to do with it comes first.", max_length=4000)] = None,
    as_of: Annotated[AwareDatetime | None, Query(description="As it was so at a time.")] = None,
    category: FactCategory | None = None,
    cursor: Cursor = None,
    limit: Count = 100,
) -> Response:
    """What is known of a person, most important first: now, or as it was so at a time."""
    all_facts = await caller.memory.facts(query=query, as_of=as_of, category=category, **person_arguments(caller, id))
    visible = await visible_facts(caller.memory, caller.access, caller.space, all_facts)
    return page_response(visible, cursor, limit, lambda fact: fact.id)


@router.get("/users/{id:id}/fact-history", response_model=list[shapes.Fact])
async def fact_history(
    caller: Annotated[Caller, caller_for("fact_history")], id: Person, key: Annotated[str, Query(max_length=200)]
) -> Response:
    """Every value a key has had, oldest first, with the times between which it was so."""
    all_facts = await caller.memory.fact_history(key, **person_arguments(caller, id))
    return json_response(await visible_facts(caller.memory, caller.access, caller.space, all_facts))


@router.get("/users/{id:id}/refused-facts", response_model=list[fact_shapes.RefusedFact])
async def refused_facts(caller: Annotated[Caller, caller_for("refused_facts")], id: Person) -> Response:
    """What a model found in a person's messages and was not kept, oldest first, each with the reason."""
    refused = await caller.memory.refused_facts(**person_arguments(caller, id))
    return json_response(await visible_refusals(caller.memory, caller.access, caller.space, refused))


@router.get("/users/{id:id}/facts/{fact:id}/why", response_model=list[shapes.Message])
async def why(
    caller: Annotated[Caller, caller_for("why")], id: Person, fact: Annotated[str, Path(max_length=256)]
) -> Response:
    """The messages a fact came from, oldest first."""
    sources = await caller.memory.why(fact, **person_arguments(caller, id))
    messages = await visible_messages(caller.memory, caller.access, caller.space, sources)
    if caller.access.is_bound and not messages:  # sources that the caller may not see: the fact is not found
        raise NotFound(f"user {id!r} has no fact {fact!r} in space {caller.space!r}; `facts` lists them")
    return json_response(messages)


@router.get("/users/{id:id}/profile", response_model=shapes.Profile)
async def profile(caller: Annotated[Caller, caller_for("profile")], id: Person, wait: Seconds = None) -> Response:
    """What is known of a person, facts and statements, and what they did lately, as one text."""
    return json_response(await visible_profile(caller.memory, caller.access, wait=wait, **person_arguments(caller, id)))


# -- telling


def speaker_arguments(caller: Caller, body: shapes.RememberIn | shapes.ForgetIn) -> dict[str, Any]:
    """Who says it, as arguments of the engine. A key of one user allows only that user."""
    if body.speaker is not None:
        caller.access.check_user(body.speaker)
    if body.message is not None and caller.access.user is not None:
        raise Problem(403, "not_you", "this key is for one user: tell the text, without naming a message")
    return {"speaker": body.speaker, "message": body.message}


@router.post("/users/{id:id}/remember", response_model=list[shapes.Statement])
async def remember(
    caller: Annotated[Caller, caller_for("remember")], id: Person, body: shapes.RememberIn, key: IdempotencyKey = None
) -> Response:
    """Keep a statement about a person; what it contradicts gives way. Returns what now stands."""
    arguments = person_arguments(caller, id) | speaker_arguments(caller, body)
    arguments |= {"expires": parse_expiry("expires", body.expires)}
    return await answer_once(caller, key, lambda: caller.memory.remember(body.text, **arguments))


@router.post("/users/{id:id}/forget", response_model=shapes.Forgotten)
async def forget(
    caller: Annotated[Caller, caller_for("forget")], id: Person, body: shapes.ForgetIn, key: IdempotencyKey = None
) -> Response:
    """Take out of a person's profile what fits the words; the id that is returned brings it back."""
    arguments = person_arguments(caller, id) | speaker_arguments(caller, body)
    return await answer_once(caller, key, lambda: caller.memory.forget(body.what, **arguments))


@router.post("/users/{id:id}/undo", response_model=shapes.Forgotten)
async def undo(
    caller: Annotated[Caller, caller_for("undo")], id: Person, body: shapes.UndoIn, key: IdempotencyKey = None
) -> Response:
    """Take back a `forget`, or a change of a fact."""
    arguments = person_arguments(caller, id)
    return await answer_once(caller, key, lambda: undo_for(caller.memory, caller.access, body.id, **arguments))


@router.post("/users/{id:id}/names", response_model=shapes.Done)
async def add_name(caller: Annotated[Caller, caller_for("add_name")], id: Person, body: shapes.NameIn) -> Response:
    """What else a person goes by; by a user's key a nickname or an alias that nobody else in the space has."""
    if caller.access.is_bound:
        if body.kind in SHOWN_BY_PLATFORM:
            caller.access.check_unbound()
        await caller.memory.knowledge.check_free_name(body.name, **person_arguments(caller, id))
    await caller.memory.add_name(body.name, kind=body.kind, **person_arguments(caller, id))
    return json_response({"done": True})


@router.get("/people", response_model=shapes.page_model(shapes.Member))
async def people(
    caller: Annotated[Caller, caller_for("people")], cursor: Cursor = None, limit: Count = 100
) -> Response:
    """Everybody who has spoken in a space, or was given a name there."""
    caller.access.check_unbound()
    members = await caller.memory.people(space=caller.space)
    return page_response(members, cursor, limit, lambda member: member.id)


@router.get("/who-is", response_model=shapes.Whom)
async def who_is(
    caller: Annotated[Caller, caller_for("who_is")],
    name: Annotated[str, Query(max_length=200)],
    speaker: Annotated[str | None, Query(max_length=256)] = None,
) -> Response:
    """Whom a name, nickname, alias, mention or id means: one, several to ask back about, or nobody."""
    caller.access.check_unbound()
    return json_response(await caller.memory.who_is(name, speaker=speaker, space=caller.space))


# -- rights


@router.get(
    "/users/{id:id}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}, "description": "A message a line."}},
)
async def export_user(
    caller: Annotated[Caller, caller_for("export")], id: Person, salvage: bool = False, secrets: bool = False
) -> Response:
    """Every message of a user's memory, in order: one JSON object a line, as `recollect import` reads it. With
    `salvage`, without those that cannot be read; with `secrets`, with the secrets that were said, which are otherwise
    placeholders."""
    source = caller.memory.export(salvage=salvage, secrets=secrets, **person_arguments(caller, id))
    return await line_response(source)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}, "description": "A message a line."}},
)
async def export(
    caller: Annotated[Caller, caller_for("export")],
    user: Annotated[str | None, Query(max_length=256)] = None,
    conversation: Annotated[str | None, Query(max_length=256)] = None,
    salvage: bool = False,
    secrets: bool = False,
) -> Response:
    """Every message of a space, or of one user's memory, or of one conversation, in order: one a line. With `salvage`,
    without those that cannot be read; with `secrets`, with the secrets that were said, which are otherwise
    placeholders."""
    scope = {"user": caller.access.resolve_user(user), "conversation": conversation, "space": caller.space}
    source = caller.memory.export(salvage=salvage, secrets=secrets, **scope)
    return await line_response(source)


async def line_response(source: AsyncIterator[Message]) -> Response:
    first = await anext(source, None)  # a refusal comes before the answer starts, not in the middle of it

    async def encode_lines() -> AsyncIterator[bytes]:
        async with aclosing(source) as messages:  # type: ignore[type-var]
            if first is not None:
                yield dumps(first) + b"\n"
            async for message in messages:
                yield dumps(message) + b"\n"

    return StreamingResponse(encode_lines(), media_type=LINES)


@router.post("/users/{id:id}/erase", response_model=shapes.Erasure)
async def erase(caller: Annotated[Caller, caller_for("erase")], id: Person, key: IdempotencyKey = None) -> Response:
    """Remove a person's messages and all that was derived from them, for good."""
    arguments = person_arguments(caller, id) | {"by": caller.access.key_id}
    return await answer_once(caller, key, lambda: caller.memory.deletions.erase(**arguments), repeats="nothing")
