"""Keys of the server, for those who may open everything: made and shown once, revoked, and when each was used last."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Annotated

from fastapi import APIRouter
from starlette.responses import Response

from recollect.errors import InvalidInput
from recollect.log.access import Access
from recollect.log.operations import RIGHTS
from recollect.server.door.access import Caller, caller_for
from recollect.server.door.keys import create_key, list_keys, revoke_key
from recollect.server.web.forms import Form, FormFields
from recollect.server.web.pages import redirect, show_page, view_of

MAX_DIGITS = 9

router = APIRouter(include_in_schema=False)


def check_keeper(access: Access) -> None:
    """Raise Forbidden for a key that does not open everything: keys are about all spaces and all users."""
    access.check_unbound()
    access.check_all_spaces()


async def show_key_page(caller: Caller, text: str = "") -> Response:
    store = caller.memory.runtime.parts.store
    keys = await asyncio.to_thread(list_keys, store)
    now = datetime.now(UTC)
    entries = sorted(((key, key.is_active(now)) for key in keys), key=lambda entry: not entry[1])
    asks_for_keys = caller.request.app.state.keys is not None
    rights = [right for right in RIGHTS if right in caller.access.rights]
    values = {"entries": entries, "text": text, "asks_for_keys": asks_for_keys, "own": caller.access.key_id}
    return show_page(caller, "keys.html", section="Keys", rights=rights, **values)


@router.get("/web/keys")
async def show_keys(caller: Annotated[Caller, caller_for("list_keys")]) -> Response:
    check_keeper(caller.access)
    return await show_key_page(caller)


def number_in(form: FormFields, name: str) -> int | None:
    text = form.text(name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise InvalidInput(name, "must be a whole number")
    return int(text)


@router.post("/web/keys/create")
async def make_key(caller: Annotated[Caller, caller_for("create_key")], form: Form) -> Response:
    """Make a key that can do no more than the one that makes it. Its text is on this page, and nowhere else."""
    check_keeper(caller.access)
    state = caller.request.app.state
    make = partial(
        create_key,
        caller.memory.runtime.parts.store,
        name=form.required_text("name"),
        spaces=[space.strip() for space in form.text("spaces").split(",") if space.strip()],
        scopes=[right for right in RIGHTS if form.text(f"scope_{right}")],
        user=form.text("user") or None,
        rate=number_in(form, "rate"),
        days=number_in(form, "days"),
        maker=None if state.keys is None else caller.access.key_id,
        usual_rate=state.options.rate,
    )
    _, text = await asyncio.to_thread(make)
    return await show_key_page(caller, text)


@router.post("/web/keys/revoke")
async def end_key(caller: Annotated[Caller, caller_for("revoke_key")], form: Form) -> Response:
    """Make a key open nothing from now on."""
    check_keeper(caller.access)
    await asyncio.to_thread(revoke_key, caller.memory.runtime.parts.store, form.required_text("id"))
    return redirect(view_of(caller).link("/web/keys"))
