"""People: who is known in a space, and of one person everything that is known, said and refused;
and one fact: what it says, since when, from which messages, and its change by hand, which can be taken back.

A key of one user sees that user, and of them what they may see: the same rules as those of the REST routes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from everword.errors import InvalidInput, NotFound
from everword.facts.stored_facts import channels_spoken_in, facts_of, names_in_context, own_name
from everword.log.access import Viewer, channels_of, is_claim
from everword.log.checks_and_seals import parse_expiry
from everword.memory.dashboard_data import days_of, names_of_authors, page_of_people
from everword.model import FACT_CATEGORIES, Fact, FactChange, Statement
from everword.server.access import Caller, caller_for
from everword.server.routes.answers import person_arguments
from everword.server.web.labs import parse_day
from everword.server.web.pages import (
    LABELS,
    Form,
    FormFields,
    Id,
    Notice,
    Skip,
    label_places,
    redirect,
    show_page,
    view_of,
    write_data,
    write_samples,
)

PAGE = 50  # people in a page
DAYS = 30  # days of a person that are offered, the last
WAIT = 1.0  # seconds that a page waits for a digest that has to be written first
FACTS = 12  # of a category that a person's page shows; a page of the category alone has more
CATEGORY = 60  # facts in such a page
CHOSEN = "fact_"  # begins the name of a field for a fact that was chosen
SHOWN = "shown_"  # and of one for a fact that was shown
MAX_UNDO = 16_000  # characters of the ids of changes
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


@dataclass(frozen=True, slots=True)
class FactFilter:
    """Which facts of a person are shown."""

    words: str = ""
    category: str = ""
    said: str = ""  # "self" or "others"; "" for both

    def accepts(self, fact: Fact) -> bool:
        if self.category and fact.category != self.category:
            return False
        if self.said and (self.said == "others") != is_claim(fact):
            return False
        text = f"{fact.key} {fact.value} {fact.subject or ''}".casefold()
        return all(word in text for word in self.words.casefold().split())


def group_facts(facts: Sequence[Fact], chosen: str, skip: int) -> list[FactGroup]:
    """Facts by category, in the order in which contexts show them; categories without any are left out. The first ones
    of each, or a page of the one that was chosen. What is about somebody else, and what others said, is not among what
    a person says of themselves."""
    groups = list[FactGroup]()
    for name, members in groups_by_name(facts):
        first = skip if chosen else 0
        shown = members[first : first + (CATEGORY if chosen else FACTS)]
        next_skip = first + CATEGORY if chosen and first + CATEGORY < len(members) else None
        if shown:
            groups.append(FactGroup(name, shown, len(members), next_skip))
    return groups


def groups_by_name(facts: Sequence[Fact]) -> Iterator[tuple[str, list[Fact]]]:
    own = [fact for fact in facts if not is_claim(fact) and fact.subject is None]
    for category in FACT_CATEGORIES:
        yield category, [fact for fact in own if fact.category == category]
    yield "around", [fact for fact in facts if not is_claim(fact) and fact.subject is not None]
    yield "claims", [fact for fact in facts if is_claim(fact)]


@dataclass(frozen=True, slots=True)
class Month:
    """What happened in a month, the newest first."""

    name: str
    facts: list[Fact]


def day_of(fact: Fact) -> datetime:
    """The day on which it began or happened, or else was said."""
    return fact.valid_from or fact.said_at


def months_of(facts: Sequence[Fact], skip: int) -> list[Month]:
    """A page of facts by month, the newest first; what no longer holds, too."""
    page = sorted(facts, key=day_of, reverse=True)[skip : skip + CATEGORY]
    return [Month(name, list(members)) for name, members in groupby(page, key=lambda fact: f"{day_of(fact):%B %Y}")]


async def channels_with(caller: Caller, user: str, facts: Sequence[Fact]) -> list[str]:
    """The channels that may see something of a person: where they spoke, or where it was said."""
    channels = await caller.memory.runtime.read(lambda tx: channels_spoken_in(tx, caller.space, user))
    return sorted({*channels, *(channel for fact in facts for channel in channels_of(fact))})


async def former_facts(caller: Caller, user: str, viewer: Viewer | None) -> list[Fact]:
    """What was known of a person before, the newest first."""
    facts = await caller.memory.runtime.read(lambda tx: facts_of(tx, caller.space, user))
    visible = await caller.memory.visible_facts(caller.space, [fact for fact in facts if not fact.active])
    shown = [fact for fact in visible if viewer is None or viewer.sees(fact)]
    return sorted(shown, key=lambda fact: fact.said_at, reverse=True)


def former_values(facts: Sequence[Fact]) -> dict[FactSlot, list[Fact]]:
    """Facts by category, key and subject."""
    values: dict[FactSlot, list[Fact]] = {}
    for fact in facts:
        values.setdefault((fact.category, fact.key, fact.subject), []).append(fact)
    return values


async def name_speakers(caller: Caller, user: str, items: Iterable[Fact | Statement]) -> dict[str, str]:
    """What those who said something are called to the person it is about."""
    people = {item.speaker for item in items}
    return await caller.memory.runtime.read(lambda tx: names_in_context(tx, caller.space, people, Viewer(user)))


@router.get("/web/person")
async def show_person(
    caller: Annotated[Caller, caller_for("profile")],
    id: Id,
    channel: Id = "",
    outcome: Notice = "",
    undo: Annotated[str, Query(max_length=MAX_UNDO)] = "",
    category: Annotated[str, Query(max_length=32)] = "",
    skip: Skip = 0,
    words: Annotated[str, Query(max_length=200)] = "",
    said: Literal["", "self", "others"] = "",
    order: Literal["", "time"] = "",
) -> Response:
    """What is known of a person: all that the key may see, or what a channel may see of it; filtered, and by category
    or as a timeline."""
    arguments = person_arguments(caller, id)
    profile = await caller.memory.profile(wait=0, **arguments)
    all_facts: Sequence[Fact] = await caller.memory.facts(**arguments)
    channels = await channels_with(caller, id, all_facts)
    viewer = Viewer(channel=channel, shared=caller.memory.runtime.parts.settings.share_channels) if channel else None
    wanted = FactFilter(words, category if category in FACT_CATEGORIES else "", said)
    facts = [fact for fact in all_facts if (viewer is None or viewer.sees(fact)) and wanted.accepts(fact)]
    statements = [statement for statement in profile.statements if viewer is None or viewer.sees(statement)]
    former = await former_facts(caller, id, viewer)
    dated = [*facts, *(fact for fact in former if wanted.accepts(fact))] if order else []
    groups = [] if order else group_facts(facts, wanted.category, skip)
    months = months_of(dated, skip)
    shown = [fact for group in groups for fact in group.facts] + [fact for month in months for fact in month.facts]
    places = [*channels, *(fact.conversation for fact in shown)]
    values = {
        "id": id,
        "profile": profile,
        "groups": groups,
        "months": months,
        "next_skip": skip + CATEGORY if skip + CATEGORY < len(dated) else None,
        "total": len(all_facts),
        "found": len(facts),
        "statements": statements,
        "former": former_values(former),
        "wanted": wanted,
        "order": order,
        "channel": channel,
        "channels": channels,
        "notice": NOTICES.get(outcome, ""),
        "undo": undo,
        "labels": await label_places(caller, places),
        "names": await name_speakers(caller, id, (*shown, *statements)),
        "samples": write_samples(caller, f"/v1/users/{quote(id, safe='')}/facts", None, *facts_lines(id)),
    }
    return show_page(caller, "person.html", section="People", categories=FACT_CATEGORIES, **values)


def facts_lines(id: str) -> tuple[str, str]:
    return f"for fact in memory.facts(user={write_data(id)}):", "    print(fact.key, fact.value)"


@router.get("/web/person/refused")
async def show_refused(caller: Annotated[Caller, caller_for("refused_facts")], id: Id) -> Response:
    """What a model found in a person's messages and was not kept, the newest first, each with the reason."""
    refused = await caller.memory.refused_facts(**person_arguments(caller, id))
    values: dict[str, Any] = {"id": id, "refused": refused[::-1][:REFUSED], "count": len(refused)}
    values["labels"] = await label_places(caller, [fact.conversation for fact in values["refused"]])
    values["name"] = await caller.memory.runtime.read(lambda tx: own_name(tx, caller.space, id))
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
    places = [span.conversation for digest in (*digests, *weeks) for span in digest.sources]
    name = await caller.memory.runtime.read(lambda tx: own_name(tx, caller.space, user))
    values = {"id": id, "day": date, "days": days[:DAYS], "digests": digests, "weeks": weeks, "name": name}
    values["labels"] = await label_places(caller, places)
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


def chosen_facts(form: FormFields, prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in form if name.startswith(prefix)]


@router.post("/web/person/facts")
async def change_facts(caller: Annotated[Caller, caller_for("delete_fact")], form: Form) -> Response:
    """Delete the facts that were chosen, or keep them and delete the others that were shown. All can be taken back."""
    user = form.required_text("user")
    chosen = chosen_facts(form, CHOSEN)
    keeps = form.text("do") == "keep"
    ids = [id for id in chosen_facts(form, SHOWN) if id not in chosen] if keeps else chosen
    changes = list[str]()
    for id in ids if chosen else ():
        with suppress(NotFound, InvalidInput):  # somebody else deleted it in the meantime
            changes.append((await caller.memory.delete_fact(id, **person_arguments(caller, user))).id)
    notice = "none_chosen" if not chosen else "kept_many" if keeps else "deleted_many"
    return redirect(view_of(caller).link("/web/person", id=user, done=notice, undo=",".join(changes)))


@router.post("/web/person/undo")
async def undo_change(caller: Annotated[Caller, caller_for("undo")], form: Form) -> Response:
    """Take back a change of a fact, or a `forget`."""
    id = form.required_text("user")
    for change in reversed(form.required_text("id").split(",")):
        await caller.memory.undo(change, **person_arguments(caller, id))
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
    values["labels"] = await label_places(caller, [message.conversation for message in messages])
    values["name"] = await caller.memory.runtime.read(lambda tx: own_name(tx, caller.space, user))
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
