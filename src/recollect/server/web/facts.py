"""One fact: what it says, since when, from which messages; and its change by hand, which can be taken back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from recollect.memory.inspection.conversations import names_of_authors
from recollect.model import FactChange
from recollect.server.door.access import Caller, caller_for
from recollect.server.routes.answers import person_arguments
from recollect.server.web.conversations import Id
from recollect.server.web.forms import Form
from recollect.server.web.pages import redirect, show_page, view_of
from recollect.server.web.search_lab import parse_day

router = APIRouter(include_in_schema=False)


@router.get("/web/fact")
async def show_fact(caller: Annotated[Caller, caller_for("fact")], user: Id, id: Id) -> Response:
    """A fact, every value its key has had, and the messages it came from."""
    arguments = person_arguments(caller, user)
    fact = await caller.memory.fact(id, **arguments)
    history = await caller.memory.fact_history(fact.key, **arguments)
    messages = await caller.memory.why(id, **arguments)
    names = await names_of_authors(caller.memory.runtime, messages)
    values = {"user": user, "fact": fact, "history": history[::-1], "messages": messages, "names": names}
    return show_page(caller, "fact.html", section="People", **values)


async def change_fact(
    caller: Caller, user: str, notice: str, work: Callable[..., Awaitable[FactChange]], **values: Any
) -> Response:
    """Do a change and show the person, with the way back."""
    arguments = person_arguments(caller, user) | values
    change = await work(**arguments)
    return redirect(view_of(caller).link("/web/person", id=user, done=notice, undo=change.id))


@router.post("/web/fact/add")
async def add_fact(caller: Annotated[Caller, caller_for("add_fact")], form: Form) -> Response:
    names = ("category", "key", "value")
    values: dict[str, Any] = {name: form.required_text(name) for name in names}
    days = {name: parse_day(name, form.text(name)) for name in ("valid_from", "valid_to")}
    return await change_fact(caller, form.required_text("user"), "added", caller.memory.add_fact, **values, **days)


@router.post("/web/fact/edit")
async def edit_fact(caller: Annotated[Caller, caller_for("edit_fact")], form: Form) -> Response:
    work = partial(caller.memory.edit_fact, form.required_text("id"))
    return await change_fact(caller, form.required_text("user"), "edited", work, value=form.required_text("value"))


@router.post("/web/fact/delete")
async def delete_fact(caller: Annotated[Caller, caller_for("delete_fact")], form: Form) -> Response:
    work = partial(caller.memory.delete_fact, form.required_text("id"))
    return await change_fact(caller, form.required_text("user"), "deleted", work)
