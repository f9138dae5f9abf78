"""People: who is known in a space, and of one person everything that is known, said and refused;
and one fact: what it says, since when, from which messages, and its change by hand, which can be taken back.

A key of one user sees that user, and of them what they may see: the same rules as those of the REST routes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from everword.facts.tables import channels_spoken_in, facts_of
from everword.log.access import Viewer, channels_of
from everword.log.rules import parse_expiry
from everword.memory.inspection import days_of, names_of_authors, page_of_people
from everword.model import FACT_CATEGORIES, Fact, FactChange, Statement
from everword.server.door.access import Caller, caller_for
from everword.server.routes.answers import person_arguments
from everword.server.web.labs import parse_day
from everword.server.web.pages import LABELS, Form, Id, Notice, Skip, redirect, show_page, view_of

PAGE = 50  # people in a page
DAYS = 30  # days of a person that are offered, the last
WAIT = 1.0  # seconds that a page waits for a digest that has to be written first
FACTS = 15  # of a category that a person's page shows; a page of the category alone has more
CATEGORY = 100  # facts in such a page
REFUSED = 200  # refused facts that are shown, the newest
NOTICES: dict[str, str] = LABELS["notices"]
router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Some facts of a category, from one on, and how many there are."""

    category: str
    facts: Sequence[Fact]
    count: int
    next_skip: int | None = None


FactSlot = tuple[str, str, str | None]


@router.get("/web/people")
async def show_people(caller: Annotated[Caller, caller_for("people")], after: Id = "", name: Id = "") -> Response:
    """Who has spoken in a space; a key of one user is led to that user."""
    if caller.access.user is not None:
        return redirect(view_of(caller).link("/web/person", id=caller.access.user))
    page = await page_of_people(caller.memory.runtime, caller.space, name.strip().casefold(), after, PAGE)
    return show_page(caller, "people.html", section="People", page=page, name=name)


def group_facts(facts: Sequence[Fact], chosen: str, skip: int) -> list[FactGroup]:
    """Facts by category, in the order in which contexts show them; categories without any are left out. The first ones
    of each, or a page of the one that was chosen."""
    by_category = {category: [fact for fact in facts if fact.category == category] for category in FACT_CATEGORIES}
    if chosen in by_category:
        members = by_category[chosen]
        next_skip = skip + CATEGORY if skip + CATEGORY < len(members) else None
        return [FactGroup(chosen, members[skip : skip + CATEGORY], len(members), next_skip)]
    return [FactGroup(category, members[:FACTS], len(members)) for category, members in by_category.items() if members]


async def channels_with(caller: Caller, user: str, facts: Sequence[Fact]) -> list[str]:
    """The channels that may see something of a person: where they spoke, or where it was said."""
    channels = await caller.memory.runtime.read(lambda tx: channels_spoken_in(tx, caller.space, user))
    return sorted({*channels, *(channel for fact in facts for channel in channels_of(fact))})


async def former_values(caller: Caller, user: str, viewer: Viewer | None) -> dict[FactSlot, list[Fact]]:
    """What was known of a person before, by category, key and subject, the newest first."""
    facts = await caller.memory.runtime.read(lambda tx: facts_of(tx, caller.space, user))
    former = [fact for fact in facts if not fact.active]
    visible = await caller.memory.visible_facts(caller.space, former)
    values: dict[FactSlot, list[Fact]] = {}
    for fact in sorted(visible, key=lambda fact: fact.said_at, reverse=True):
        if viewer is None or viewer.sees(fact):
            values.setdefault((fact.category, fact.key, fact.subject), []).append(fact)
    return values


@router.get("/web/person")
async def show_person(
    caller: Annotated[Caller, caller_for("profile")],
    id: Id,
    channel: Id = "",
    outcome: Notice = "",
    undo: Id = "",
    category: Annotated[str, Query(max_length=32)] = "",
    skip: Skip = 0,
) -> Response:
    """What is known of a person: all that the key may see, or what a channel may see of it; or one category of it."""
    arguments = person_arguments(caller, id)
    profile = await caller.memory.profile(wait=0, **arguments)
    facts: Sequence[Fact] = await caller.memory.facts(**arguments)
    statements: Sequence[Statement] = profile.statements
    channels = await channels_with(caller, id, facts)
    viewer = Viewer(channel=channel, shared=caller.memory.runtime.parts.settings.share_channels) if channel else None
    if viewer is not None:
        facts = [fact for fact in facts if viewer.sees(fact)]
        statements = [statement for statement in statements if viewer.sees(statement)]
    values = {"id": id, "profile": profile, "groups": group_facts(facts, category, skip), "statements": statements}
    values["former"] = await former_values(caller, id, viewer)
    values |= {
        "chosen": category,
        "channel": channel,
        "channels": channels,
        "notice": NOTICES.get(outcome, ""),
        "undo": undo,
    }
    return show_page(caller, "person.html", section="People", categories=FACT_CATEGORIES, **values)


@router.get("/web/person/refused")
async def show_refused(caller: Annotated[Caller, caller_for("refused_facts")], id: Id) -> Response:
    """What a model found in a person's messages and was not kept, the newest first, each with the reason."""
    refused = await caller.memory.refused_facts(**person_arguments(caller, id))
    values = {"id": id, "refused": refused[::-1][:REFUSED], "count": len(refused)}
    return show_page(caller, "refused.html", section="People", **values)


@router.get("/web/person/digests")
async def show_digests(
    caller: Annotated[Caller, caller_for("digests")], id: Id, day: Annotated[str, Query(max_length=10)] = ""
) -> Response:
    """What a person did on a day in the channels of the space, and in the six days before; without a day, on the last
    one on which they spoke there."""
    user = caller.access.check_user(id)
    days = await days_of(caller.memory.runtime, caller.space, user)
    today = caller.memory.runtime.parts.clock.now().date()
    date = parse_day("day", day) or next(iter(days), today)
    digests = await caller.memory.digests(caller.space, day=date, user=user, wait=WAIT)
    weeks = await caller.memory.digests(caller.space, day=date, user=user, week=True, wait=WAIT)
    values = {"id": id, "day": date, "days": days[:DAYS], "digests": digests, "weeks": weeks}
    return show_page(caller, "digests.html", section="People", **values)


@router.post("/web/person/remember")
async def remember(caller: Annotated[Caller, caller_for("remember")], form: Form) -> Response:
    """Keep a statement about a person."""
    id = form.required_text("user")
    expires = parse_expiry("expires", form.text("expires") or None)
    await caller.memory.remember(form.required_text("text"), expires=expires, **person_arguments(caller, id))
    return redirect(view_of(caller).link("/web/person", id=id, done="remembered"))


@router.post("/web/person/forget")
async def forget(caller: Annotated[Caller, caller_for("forget")], form: Form) -> Response:
    """Take out of a person's profile what fits the words."""
    id = form.required_text("user")
    outcome = await caller.memory.forget(form.required_text("text"), **person_arguments(caller, id))
    notice = "everything" if outcome.everything else "forgotten" if outcome.found else "nothing"
    return redirect(view_of(caller).link("/web/person", id=id, done=notice, undo=outcome.id))


@router.post("/web/person/undo")
async def undo_change(caller: Annotated[Caller, caller_for("undo")], form: Form) -> Response:
    """Take back a change of a fact, or a `forget`."""
    id = form.required_text("user")
    await caller.memory.undo(form.required_text("id"), **person_arguments(caller, id))
    return redirect(view_of(caller).link("/web/person", id=id, done="undone"))


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


async def change_fact(caller: Caller, user: str, notice: str, work: Awaitable[FactChange]) -> Response:
    """Do a change and show the person, with the way back."""
    change = await work
    return redirect(view_of(caller).link("/web/person", id=user, done=notice, undo=change.id))


@router.post("/web/fact/add")
async def add_fact(caller: Annotated[Caller, caller_for("add_fact")], form: Form) -> Response:
    user = form.required_text("user")
    values: dict[str, Any] = {name: form.required_text(name) for name in ("category", "key", "value")}
    values |= {name: parse_day(name, form.text(name)) for name in ("valid_from", "valid_to")}
    work = caller.memory.add_fact(**values, **person_arguments(caller, user))
    return await change_fact(caller, user, "added", work)


@router.post("/web/fact/edit")
async def edit_fact(caller: Annotated[Caller, caller_for("edit_fact")], form: Form) -> Response:
    id, value, user = (form.required_text(name) for name in ("id", "value", "user"))
    work = caller.memory.edit_fact(id, value, **person_arguments(caller, user))
    return await change_fact(caller, user, "edited", work)


@router.post("/web/fact/delete")
async def delete_fact(caller: Annotated[Caller, caller_for("delete_fact")], form: Form) -> Response:
    id, user = (form.required_text(name) for name in ("id", "user"))
    return await change_fact(caller, user, "deleted", caller.memory.delete_fact(id, **person_arguments(caller, user)))
