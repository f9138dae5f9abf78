"""Pages for who runs the server: the overview, integrity, removal for good, keys, and the settings in force.

The overview is how much is remembered, how far the views are, and what models and caches did. Counting all messages
takes longer than a page may take, so the figures of a space are kept for some seconds: a page shows the last ones at
once, and has newer ones made beside it.

Integrity is proving the log whole while one looks on, what retention would remove, and who removed what. Removing a
person or a conversation begins with a preview; the act needs the id typed again. Keys are for those who may open
everything: made and shown once, revoked, and when each was used last. A secret setting is shown as set or empty.

A proof reads every message, so its page is sent as it goes: each step replaces the one before, the last is the result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response, StreamingResponse

from everword.config import Secret, Settings, setting_sources
from everword.errors import EverwordError, InvalidInput, NotFound
from everword.facts.stored_facts import own_name
from everword.log import append_and_read as log
from everword.log.access import Access
from everword.log.operation_declarations import RIGHTS
from everword.masking import mask_credentials
from everword.memory.dashboard_data import count_days, list_spaces
from everword.memory.memory import MemoryEngine
from everword.model import Activity, Deletion, Stats, Verification
from everword.server.access import Caller, caller_for
from everword.server.keys import create_key, list_keys, revoke_key
from everword.server.problems import problem_of
from everword.server.web.pages import (
    HEADERS,
    Form,
    FormFields,
    Id,
    environment,
    label_places,
    redirect,
    show_page,
    suggest_conversations,
    view_of,
)

router = APIRouter(include_in_schema=False)

FRESH = 5.0  # seconds for which figures are shown without new ones being made
MAX_SPACES = 200  # in the list
MOST_KEPT = 100  # spaces whose figures are kept


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls of a model for one task cost."""

    role: str
    task: str
    model: str
    calls: int
    failures: int
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class LookCount:
    """How often a cache had what was asked of it."""

    name: str
    hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What the overview shows of a space, and when it was counted (by a clock that only counts on)."""

    stats: Stats
    days: Mapping[date, int]
    spending: tuple[Spending, ...]
    caches: tuple[LookCount, ...]
    made_at: float


class FigureCache:
    """The last figures of each space."""

    def __init__(self, memory: MemoryEngine) -> None:
        self._memory = memory
        self._figures: dict[str, Figures] = {}
        self._tasks: dict[str, asyncio.Task[Figures]] = {}

    async def of_space(self, space: str) -> Figures:
        """The figures of a space: the last ones, if there are any, and newer ones are made if they are old."""
        last = self._figures.get(space)
        if last is not None and not last.days:  # quickly counted, and the first messages are not to be missed
            last = None
        if last is not None and time.monotonic() - last.made_at < FRESH:
            return last
        task = self._tasks.get(space)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = self._tasks[space] = asyncio.create_task(self._count(space))
            task.add_done_callback(lambda task: self._end_count(space, task))
        return await asyncio.shield(task) if last is None else last

    def _end_count(self, space: str, task: asyncio.Task[Figures]) -> None:
        self._tasks.pop(space, None)
        if not task.cancelled():
            task.exception()  # those who waited for it got it; the next request counts again

    async def _count(self, space: str) -> Figures:
        stats = await self._memory.stats(space=space)
        days = await count_days(self._memory.runtime, space)
        rows = await self._memory.runtime.read(lambda tx: tx.rows("usage", where={"space": space}))
        figures = Figures(stats, days, sum_spending(rows), sum_caches(stats.activity), time.monotonic())
        if len(self._figures) >= MOST_KEPT:
            self._figures.clear()
        self._figures[space] = figures
        return figures


def sum_spending(rows: Iterable[Mapping[str, Any]]) -> tuple[Spending, ...]:
    """Calls of models by task and model, the dearest first."""
    totals: dict[tuple[str, str, str], Spending] = {}
    for row in rows:
        if not row["model"]:
            continue
        key = (row["role"], row["task"], row["model"])
        last = totals.get(key, Spending(*key, 0, 0, 0, 0))
        totals[key] = replace(
            last,
            calls=last.calls + row["calls"],
            failures=last.failures + (row["calls"] if row["outcome"] != "ok" else 0),
            tokens_in=last.tokens_in + row["tokens_in"],
            tokens_out=last.tokens_out + row["tokens_out"],
        )
    return tuple(sorted(totals.values(), key=lambda spending: -(spending.tokens_in + spending.tokens_out)))


def sum_caches(activities: Iterable[Activity]) -> tuple[LookCount, ...]:
    caches: dict[str, LookCount] = {}
    for activity in activities:
        if activity.what == "cache":
            use = caches.get(activity.kind, LookCount(activity.kind, 0, 0))
            is_hit = activity.outcome == "hit"
            caches[activity.kind] = replace(
                use,
                hits=use.hits + (activity.count if is_hit else 0),
                misses=use.misses + (0 if is_hit else activity.count),
            )
    return tuple(caches[name] for name in sorted(caches))


async def figures_for(caller: Caller) -> Figures | None:
    """The figures of the caller's space; none for a key of one user, since they are about all."""
    if caller.access.is_bound:
        return None
    cache: FigureCache = caller.request.app.state.figures
    return await cache.of_space(caller.space)


@router.get("/web/overview/live")
async def show_figures(caller: Annotated[Caller, caller_for("stats")]) -> Response:
    """The figures alone: a script asks for them again and again."""
    figures = await figures_for(caller)
    return show_page(caller, "figures.html", figures=figures, degraded=caller.memory.degraded)


@router.get("/web/spaces")
async def show_spaces(caller: Annotated[Caller, caller_for("spaces")], after: str = "") -> Response:
    """The spaces that the key opens."""
    spaces = caller.access.spaces
    if spaces is None:
        names = await list_spaces(caller.memory.runtime, after, MAX_SPACES)
        has_more = len(names) == MAX_SPACES
    else:
        names = sorted(spaces)
        has_more = False
    return show_page(caller, "spaces.html", section="", names=names, next_after=names[-1] if has_more else None)


# -- integrity, removal, keys, settings

TICK = 0.3  # seconds between two steps
LINES = 30  # of the audit
MAX_FAULTS = 200  # that are shown
GAP = Markup("<!-- steps -->")  # where the steps of a proof go

CONFIRMATION = "erase"  # what somebody types who wants it
NOT_TYPED = "is not the word “erase”: type “erase” to confirm; nothing was removed"

MAX_DIGITS = 9


def may_verify(caller: Caller) -> bool:
    """Whether the key may prove the log whole, which is about all spaces."""
    return caller.access.spaces is None and not caller.access.is_bound


@router.get("/web/integrity")
async def show_integrity(caller: Annotated[Caller, caller_for("audit")]) -> Response:
    """What can be proved and removed, and what was removed."""
    retention = None
    lines = []
    if not caller.access.is_bound:
        retention = await caller.memory.retain(dry_run=True, space=caller.space)
        lines = await caller.memory.audit(limit=LINES, space=caller.space)
    values: dict[str, Any] = {"retention": retention, "lines": lines, "may_verify": may_verify(caller)}
    values["suggested"] = await suggest_conversations(caller)
    return show_page(caller, "integrity.html", section="Integrity", **values)


@router.post("/web/integrity/verify")
async def verify(caller: Annotated[Caller, caller_for("verify")], form: Form) -> Response:
    """Prove the log whole, in all spaces, and show how far it is."""
    check_keeper(caller.access)
    figures = await figures_for(caller)
    total = 0 if figures is None else figures.stats.messages + figures.stats.erased
    frame = environment().get_template("verify.html").render(view=view_of(caller), section="Integrity", gap=GAP)
    head, _, foot = frame.partition(GAP)
    return StreamingResponse(stream_proof(caller, head, foot, total), headers=HEADERS, media_type="text/html")


async def stream_proof(caller: Caller, head: str, foot: str, total: int) -> AsyncIterator[str]:
    checked_count = 0

    def note(count: int) -> None:
        nonlocal checked_count
        checked_count = count

    yield head
    proof = asyncio.ensure_future(caller.memory.runtime.read(lambda tx: log.verify(tx, note)))
    while not proof.done():
        yield render_step(checked_count, max(total, checked_count))
        with suppress(TimeoutError, EverwordError):
            await asyncio.wait_for(asyncio.shield(proof), TICK)
    error = proof.exception()
    if isinstance(error, EverwordError):
        yield render_result(None, problem_of(error).detail)
    else:
        yield render_result(proof.result(), "")
    yield foot


def render_step(count: int, total: int) -> str:
    return environment().get_template("verify_step.html").render(checked=count, total=total)


def render_result(proof: Verification | None, problem: str) -> str:
    template = environment().get_template("verify_result.html")
    faults = () if proof is None else proof.faults[:MAX_FAULTS]
    return template.render(proof=proof, faults=faults, problem=problem)


async def preview_person(caller: Caller, user: str) -> Deletion | None:
    """What would go with a person; None if they wrote nothing, and only what others said of them would."""
    try:
        return await caller.memory.delete(user=user, dry_run=True, space=caller.space)
    except NotFound:
        return None


@router.get("/web/erase")
async def show_preview(
    caller: Annotated[Caller, caller_for("delete")], user: Id = "", conversation: Id = ""
) -> Response:
    """What would go. Nothing is changed."""
    if bool(user) == bool(conversation):
        return show_page(caller, "erase.html", section="Integrity", user="", conversation="", label="", deletion=None)
    if user:
        deletion = await preview_person(caller, user)
    else:
        deletion = await caller.memory.delete_conversation(conversation, space=caller.space, dry_run=True)
    values: dict[str, Any] = {"user": user, "conversation": conversation, "deletion": deletion}
    values["labels"] = await label_places(caller, [] if deletion is None else deletion.conversations)
    if user:
        values["label"] = await caller.memory.runtime.read(lambda tx: own_name(tx, caller.space, user))
    else:
        values["label"] = values["labels"].get(conversation, conversation)
    return show_page(caller, "erase.html", section="Integrity", **values)


@router.post("/web/erase")
async def erase(caller: Annotated[Caller, caller_for("delete")], form: Form) -> Response:
    """Remove a person, or a conversation, and all that was derived from it, for good."""
    user = form.text("user")
    conversation = form.text("conversation")
    if bool(user) == bool(conversation):
        raise InvalidInput(
            "user", "must be given if `conversation` is missing, and left out if `conversation` is given"
        )
    if form.text("confirm").strip().casefold() != CONFIRMATION:
        raise InvalidInput("confirm", NOT_TYPED)
    link = view_of(caller).link("/web/integrity")
    if user:
        erasure = await caller.memory.erase(user=user, space=caller.space)
        return show_page(caller, "erased.html", section="Integrity", erasure=erasure, back=link)
    deletion = await caller.memory.delete_conversation(conversation, space=caller.space)
    return show_page(caller, "removed.html", section="Integrity", deletion=deletion, back=link)


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


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One setting: its value as it may be shown, where it comes from, and what it does."""

    name: str
    value: str
    source: str
    about: str

    @property
    def is_default(self) -> bool:
        return self.source == "default"


def shown_value(value: object) -> str:
    """A value without what is secret in it: an address may hold a password."""
    if isinstance(value, Secret):
        return "set" if value else ""
    return mask_credentials(str(value))


def setting_lines(settings: Settings) -> list[SettingLine]:
    sources = setting_sources(settings)
    return [
        SettingLine(
            field.name, shown_value(getattr(settings, field.name)), sources[field.name], field.metadata["about"]
        )
        for field in fields(settings)
    ]


@router.get("/web/settings")
async def show_settings(caller: Annotated[Caller, caller_for("settings")]) -> Response:
    check_keeper(caller.access)
    settings: Settings | None = caller.request.app.state.settings
    lines = [] if settings is None else setting_lines(settings)
    return show_page(caller, "settings.html", section="Settings", lines=lines, has_settings=settings is not None)
