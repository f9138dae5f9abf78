"""People over HTTP: what is known of them, what to remember and to forget, and their rights to all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime
from starlette.responses import Response, StreamingResponse

from recollect.engine.context.visible import undo_for, visible_facts, visible_messages, visible_profile
from recollect.engine.tables.people import SHOWN_BY_PLATFORM
from recollect.errors import NotFound
from recollect.model import FactCategory, Message
from recollect.server.door.access import Governing, Here, Reading, Writing
from recollect.server.problems import Problem
from recollect.server.routes import shapes
from recollect.server.routes.answers import Count, Cursor, Once, once, out, page_of
from recollect.wire import dumps

LINES = "application/x-ndjson"
Person = Annotated[str, Path(alias="id", description="The user.", max_length=256)]
Seconds = Annotated[float | None, Query(ge=0, le=300, description="How long to wait for digests; 0: make none.")]

router = APIRouter(prefix="/v1", tags=["people"])


def about(here: Here, id: str) -> dict[str, Any]:
    """Of whom, and where, as the engine is asked."""
    return {"user": here.access.person(id), "space": here.space}


@router.get("/users/{id:id}/facts", response_model=shapes.page(shapes.Fact))
async def facts(
    here: Reading,
    id: Person,
    as_of: Annotated[AwareDatetime | None, Query(description="As it was so at a time.")] = None,
    category: FactCategory | None = None,
    cursor: Cursor = None,
    limit: Count = 100,
) -> Response:
    """What is known of a person, most important first: now, or as it was so at a time."""
    known = await here.memory.facts(as_of=as_of, category=category, **about(here, id))
    found = await visible_facts(here.memory, here.access, here.space, known)
    return page_of(found, cursor, limit, lambda fact: fact.id)


@router.get("/users/{id:id}/fact-history", response_model=list[shapes.Fact])
async def fact_history(here: Reading, id: Person, key: Annotated[str, Query(max_length=200)]) -> Response:
    """Every value a key has had, oldest first, with the times between which it was so."""
    known = await here.memory.fact_history(key, **about(here, id))
    return out(await visible_facts(here.memory, here.access, here.space, known))


@router.get("/users/{id:id}/facts/{fact:id}/why", response_model=list[shapes.Message])
async def why(here: Reading, id: Person, fact: Annotated[str, Path(max_length=256)]) -> Response:
    """The messages a fact came from, oldest first."""
    sources = await here.memory.why(fact, **about(here, id))
    shown = await visible_messages(here.memory, here.access, here.space, sources)
    if here.access.is_bound and not shown:  # what somebody else told in private is, for who may not know, not there
        raise NotFound(f"user {id!r} has no fact {fact!r} in space {here.space!r}; `facts` lists them")
    return out(shown)


@router.get("/users/{id:id}/profile", response_model=shapes.Profile)
async def profile(here: Reading, id: Person, wait: Seconds = None) -> Response:
    """What is known of a person, facts and statements, and what they did lately, as one text."""
    return out(await visible_profile(here.memory, here.access, wait=wait, **about(here, id)))


# -- telling


def by(here: Here, body: shapes.RememberIn | shapes.ForgetIn) -> dict[str, Any]:
    """Who says it. With a key that is one user's, nobody else does."""
    if body.speaker is not None:
        here.access.person(body.speaker)
    if body.message is not None and here.access.user is not None:
        raise Problem(403, "not_you", "this key is for one user: tell the text, without naming a message")
    return {"speaker": body.speaker, "message": body.message}


@router.post("/users/{id:id}/remember", response_model=list[shapes.Statement])
async def remember(here: Writing, id: Person, body: shapes.RememberIn, key: Once = None) -> Response:
    """Keep a statement about a person; what it contradicts gives way. Returns what now stands."""
    given = about(here, id) | by(here, body)
    return await once(here, key, lambda: here.memory.remember(body.text, **given))


@router.post("/users/{id:id}/forget", response_model=shapes.Forgotten)
async def forget(here: Writing, id: Person, body: shapes.ForgetIn, key: Once = None) -> Response:
    """Take out of a person's profile what fits the words; the id that is returned brings it back."""
    given = about(here, id) | by(here, body)
    return await once(here, key, lambda: here.memory.forget(body.what, **given))


@router.post("/users/{id:id}/undo", response_model=shapes.Forgotten)
async def undo(here: Writing, id: Person, body: shapes.UndoIn, key: Once = None) -> Response:
    """Bring back what a `forget` took out."""
    given = about(here, id)
    return await once(here, key, lambda: undo_for(here.memory, here.access, body.id, **given))


@router.post("/users/{id:id}/names", response_model=shapes.Done)
async def add_name(here: Writing, id: Person, body: shapes.NameIn) -> Response:
    """What else a person goes by; by a user's key a nickname or an alias."""
    if body.kind in SHOWN_BY_PLATFORM:
        here.access.check_unbound()
    await here.memory.add_name(body.name, kind=body.kind, **about(here, id))
    return out({"done": True})


@router.get("/people", response_model=shapes.page(shapes.Member))
async def people(here: Reading, cursor: Cursor = None, limit: Count = 100) -> Response:
    """Everybody who has spoken in a space, or was given a name there."""
    here.access.check_unbound()
    found = await here.memory.people(space=here.space)
    return page_of(found, cursor, limit, lambda member: member.id)


@router.get("/who-is", response_model=shapes.Whom)
async def who_is(
    here: Reading,
    name: Annotated[str, Query(max_length=200)],
    speaker: Annotated[str | None, Query(max_length=256)] = None,
) -> Response:
    """Whom a name, nickname, alias, mention or id means: one, several to ask back about, or nobody."""
    here.access.check_unbound()
    return out(await here.memory.who_is(name, speaker=speaker, space=here.space))


# -- rights


@router.get(
    "/users/{id:id}/export",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}, "description": "A message a line."}},
)
async def export_user(here: Reading, id: Person, salvage: bool = False) -> Response:
    """Every message of a user's memory, in order: one JSON object a line, as `recollect import` reads it. With
    `salvage`, without those that cannot be read."""
    return await lines(here.memory.export(salvage=salvage, **about(here, id)))


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {LINES: {"schema": {"type": "string"}}}, "description": "A message a line."}},
)
async def export(
    here: Reading,
    user: Annotated[str | None, Query(max_length=256)] = None,
    conversation: Annotated[str | None, Query(max_length=256)] = None,
    salvage: bool = False,
) -> Response:
    """Every message of a space, or of one user's memory, or of one conversation, in order: one a line. With `salvage`,
    without those that cannot be read."""
    whose = here.access.own(user)
    source = here.memory.export(user=whose, conversation=conversation, space=here.space, salvage=salvage)
    return await lines(source)


async def lines(source: AsyncIterator[Message]) -> Response:
    first = await anext(source, None)  # what is refused is refused at once, and not in the middle of an answer

    async def each() -> AsyncIterator[bytes]:
        async with aclosing(source) as messages:  # type: ignore[type-var]
            if first is not None:
                yield dumps(first) + b"\n"
            async for message in messages:
                yield dumps(message) + b"\n"

    return StreamingResponse(each(), media_type=LINES)


@router.post("/users/{id:id}/erase", response_model=shapes.Erasure)
async def erase(here: Governing, id: Person, key: Once = None) -> Response:
    """Remove a person's messages and all that was derived from them, for good. Needs the scope `admin`."""
    given = about(here, id)
    return await once(here, key, lambda: here.memory.erase(**given), repeats_words=False)
