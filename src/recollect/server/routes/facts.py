"""Single facts over HTTP: one by its id, changes by hand, and questions that facts and messages answer."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from recollect.memory.visible import ask_for, change_for, visible_fact
from recollect.server.door.access import Caller, caller_for
from recollect.server.routes import fact_shapes, shapes
from recollect.server.routes.answers import IdempotencyKey, answer_once, json_response
from recollect.server.routes.people import Person, person_arguments

FactId = Annotated[str, Path(description="The fact, by its id.", max_length=256)]

router = APIRouter(prefix="/v1", tags=["people"])


def changer_arguments(caller: Caller, id: str, speaker: str | None) -> dict[str, Any]:
    """The user, the space and who makes the change. A key of one user allows only that user."""
    if speaker is not None:
        caller.access.check_user(speaker)
    return person_arguments(caller, id) | {"speaker": speaker}


@router.get("/users/{id:id}/facts/{fact:id}", response_model=shapes.Fact)
async def fact(caller: Annotated[Caller, caller_for("fact")], id: Person, fact: FactId) -> Response:
    """One fact by its id, also one that no longer holds."""
    return json_response(await visible_fact(caller.memory, caller.access, fact, **person_arguments(caller, id)))


@router.post("/users/{id:id}/facts", response_model=fact_shapes.FactChange)
async def add_fact(
    caller: Annotated[Caller, caller_for("add_fact")], id: Person, body: fact_shapes.FactIn, key: IdempotencyKey = None
) -> Response:
    """Add a fact about a person by hand. It stays when the facts are built again; its id takes it back (`undo`)."""
    arguments = changer_arguments(caller, id, body.speaker) | body.model_dump(exclude={"speaker"})
    add = caller.memory.add_fact
    return await answer_once(caller, key, lambda: change_for(caller.memory, caller.access, add, **arguments))


@router.patch("/users/{id:id}/facts/{fact:id}", response_model=fact_shapes.FactChange)
async def edit_fact(
    caller: Annotated[Caller, caller_for("edit_fact")],
    id: Person,
    fact: FactId,
    body: fact_shapes.FactEditIn,
    key: IdempotencyKey = None,
) -> Response:
    """Give a fact another value. The old one stays as history; the id that is returned brings it back (`undo`)."""
    arguments = changer_arguments(caller, id, body.speaker) | body.model_dump(exclude={"speaker"})
    edit = partial(caller.memory.edit_fact, fact)
    return await answer_once(caller, key, lambda: change_for(caller.memory, caller.access, edit, **arguments))


@router.delete("/users/{id:id}/facts/{fact:id}", response_model=fact_shapes.FactChange)
async def delete_fact(
    caller: Annotated[Caller, caller_for("delete_fact")],
    id: Person,
    fact: FactId,
    speaker: Annotated[str | None, Query(description="Who deletes it.", max_length=256)] = None,
    key: IdempotencyKey = None,
) -> Response:
    """Take a fact out of what is known. It stays as history; the id that is returned brings it back (`undo`)."""
    arguments = changer_arguments(caller, id, speaker)
    delete = partial(caller.memory.delete_fact, fact)
    return await answer_once(caller, key, lambda: change_for(caller.memory, caller.access, delete, **arguments))


@router.post("/users/{id:id}/ask", response_model=fact_shapes.MemoryAnswer)
async def ask(caller: Annotated[Caller, caller_for("ask")], id: Person, body: fact_shapes.AskIn) -> Response:
    """Answer a question about a person from facts and messages, and name those that the answer rests on."""
    arguments = person_arguments(caller, id) | {"conversation": body.conversation}
    return json_response(await ask_for(caller.memory, caller.access, body.question, **arguments))
