"""Statements about people as rows, and the names they go by.

A profile is the active statements of one person, in the order they were first said. A request to forget is a row too:
facts that are built anew from the log stay forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from recollect.engine.context.viewers import (
    CHANNEL,
    PEOPLE,
    channels_spoken_in,
    is_channel,
    name_for,
    speakers_in,
    viewer_of_statement,
)
from recollect.engine.tables.facts import facts_of
from recollect.errors import InvalidInput
from recollect.model import Fact, Message, Statement
from recollect.ports import Tx
from recollect.rules.access import Viewer, is_claim
from recollect.rules.log import checked_id
from recollect.rules.people.names import Member, Name
from recollect.rules.people.statements import contradicts, reading, says_same, unrestated

TABLE = "statements"
SAID, FORGET = "statement", "forget"
SHOWN_BY_PLATFORM = ("display", "mention")  # by which others see a person: not for the person's own key to say
KINDS = (*SHOWN_BY_PLATFORM, "nickname", "alias")


def statements_of(tx: Tx, space: str, person: str, *, kind: str = SAID, active: bool = True) -> list[Statement]:
    """What was remembered of a person, oldest first."""
    where: dict[str, Any] = {"space": space, "user_id": person, "kind": kind}
    rows = tx.rows(TABLE, where=where | {"active": 1} if active else where)
    return sorted(map(to_statement, rows), key=lambda one: (one.said_at, one.id))


def put(tx: Tx, statements: Iterable[Statement], kind: str = SAID) -> None:
    tx.put(TABLE, [row_of(one) | {"kind": kind} for one in statements])


NAMES = tuple(field.name for field in fields(Statement) if field.name not in ("user", "active"))


def row_of(one: Statement) -> dict[str, Any]:
    return {name: getattr(one, name) for name in NAMES} | {"user_id": one.user, "active": int(one.active)}


def to_statement(row: Mapping[str, Any]) -> Statement:
    return Statement(**{name: row[name] for name in NAMES}, user=row["user_id"], active=bool(row["active"]))


def said_in(tx: Tx, messages: Iterable[Message]) -> list[tuple[Message, Statement]]:
    """What messages of one space asked to be remembered, of whomever, whether it still stands or not."""
    asked = {message.id: message for message in messages if message.role == "user" and not message.erased}
    found = list[tuple[Message, Statement]]()
    for space, author in sorted({(message.space, message.author) for message in asked.values()}):
        rows = tx.rows(TABLE, where={"space": space, "speaker": author, "kind": SAID})
        found += [(asked[id], one) for one in map(to_statement, rows) for id in one.sources if id in asked]
    return found


def may_give_way(old: Statement, new: Statement) -> bool:
    """Whether a statement may retire another: one of the same speaker; and a person's own word what others said of them
    in the same channel. What was said elsewhere stays there: by its absence others would learn of a private word."""
    heard_both = old.audience is not None and old.audience == new.audience
    return old.speaker == new.speaker or (not is_claim(new) and heard_both)


def across(name: str, new: Statement, others: Iterable[Statement]) -> tuple[list[Statement], Statement | None]:
    """What a new statement does to those of another audience: rows to store, and the one that says the same already.

    Newer wins here, too, but no words cross over: what a private statement said besides stays private.
    """
    made, rows = reading(name, new.text), list[Statement]()
    for old in (old for old in others if may_give_way(old, new)):
        was = reading(name, old.text)
        if contradicts(was, made):
            rows.append(replace(old, active=False, retired_at=new.said_at, retired_by=new.id))
            rest = unrestated(was, [made])
            rows += [replace(old, id=f"{old.id}.{number}", text=text) for number, text in enumerate(rest, 1)]
        elif new.audience is None and old.speaker == new.speaker and says_same(was, made):
            return [], old
        elif new.audience is not None and says_same(made, was):
            rows.append(replace(old, active=False, retired_at=new.said_at, retired_by=new.id))
    return rows, None


def retire_contradicted(tx: Tx, space: str, person: str, gone: Sequence[Fact], when: datetime) -> None:
    """A statement that says what no longer holds does not stand either: the newer word of whoever said it wins, however
    it came."""
    if not gone:
        return
    held = {fact_sense(fact) for fact in facts_of(tx, space, person, active=True)}
    lost = {fact_sense(fact) for fact in gone} - held
    old = [statement for statement in statements_of(tx, space, person) if statement.said_at <= when]
    put(
        tx,
        [
            replace(statement, active=False, retired_at=when, retired_by=gone[0].retired_by)
            for statement in old
            if any(
                (statement.speaker, fact.category, fact.key, fact.value.casefold()) in lost
                for fact in reading(worded_name(tx, statement), statement.text).facts
            )
        ],
    )


def fact_sense(fact: Fact) -> tuple[str, str, str, str]:
    """On whose word a fact rests, and what it says."""
    return fact.speaker, fact.category, fact.key, fact.value.casefold()


def worded_name(tx: Tx, statement: Statement) -> str:
    """The name by which a statement calls whom it is about: as they are called now where it was said, or were then."""
    name = name_for(tx, statement.space, statement.user, viewer_of_statement(tx, statement))
    if calls(statement.text, name):
        return name
    rows = tx.rows(PEOPLE, where={"space": statement.space, "user_id": statement.user, "kind": KINDS})
    earlier = (statement.user, *(row["name"] for row in rows))
    return next((other for other in earlier if calls(statement.text, other)), name)


def calls(text: str, name: str) -> bool:
    """Whether a statement begins with a name."""
    return re.match(rf"{re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


# -- names


def members_known_to(tx: Tx, space: str, viewer: Viewer) -> list[Member]:
    """Those a viewer may know of: who goes by a name in the space's register, has spoken where the viewer hears, or was
    told of by the viewer. Whoever spoke in private alone is as unknown as somebody who never did."""
    channels = viewer.heard | ({viewer.channel} if viewer.channel else frozenset())
    near = speakers_in(tx, space, sorted(channels))
    if viewer.person is not None:
        near |= {row["user_id"] for row in tx.rows(TABLE, where={"space": space, "speaker": viewer.person})}
    return [member for member in members_of(tx, space) if member.names or member.id in near]


def members_of(tx: Tx, space: str) -> list[Member]:
    """Everybody who goes by a name in a space, or has spoken in it."""
    names: dict[str, list[Name]] = {}
    for row in tx.rows(PEOPLE, where={"space": space}):
        own = names.setdefault(row["user_id"], [])
        if row["kind"] in KINDS:
            own.append(Name(row["name"], row["kind"], row["since"], row["seen"]))
    return [Member(person, tuple(given)) for person, given in names.items()]


def note_people(tx: Tx, messages: Iterable[Message]) -> None:
    """Whoever speaks in a space is somebody there, from the first time on; and before many goes by the display name
    that came with the message. In a chat with one person a name is private, and stays in the log."""
    spoke = [message for message in messages if message.role == "user" and not message.erased]
    public = {place: is_channel(tx, *place) for place in {(message.space, message.conversation) for message in spoke}}
    for space, person in sorted({(message.space, message.author) for message in spoke}):
        own = [message for message in spoke if (message.space, message.author) == (space, person)]
        if not tx.rows(PEOPLE, limit=1, where={"space": space, "user_id": person, "kind": "id"}):
            first = min(message.time for message in own)
            tx.put(PEOPLE, [name_row(space, person, "id", person, first) | {"seen": None}])
        note_channels(tx, space, person, [message for message in own if public[space, message.conversation]])
        names: dict[str, list[datetime]] = {}
        for message in own:
            if public[space, message.conversation] and (name := display_name(message)):
                names.setdefault(name, []).append(message.time)
        for name, times in names.items():
            put_name(tx, space, person, "display", name, min(times), max(times))


def note_channels(tx: Tx, space: str, person: str, messages: Iterable[Message]) -> None:
    """Note in which channels a person has spoken: what is said there, they may be shown."""
    first: dict[str, datetime] = {}
    for message in messages:
        first[message.conversation] = min(first.get(message.conversation, message.time), message.time)
    new = first.keys() - channels_spoken_in(tx, space, person) if first else ()
    rows = [name_row(space, person, CHANNEL, channel, first[channel]) | {"seen": None} for channel in sorted(new)]
    tx.put(PEOPLE, rows)


def display_name(message: Message) -> str | None:
    """What its author was called where it was said: `name` in the metadata, as programs and exports give it."""
    name = message.metadata.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    try:
        return checked_id("name", " ".join(name.split()))
    except InvalidInput:  # longer than any name, or not on one line
        return None


def put_name(
    tx: Tx, space: str, person: str, kind: str, name: str, since: datetime, seen: datetime | None = None
) -> None:
    """A person goes by a name: seen from `since` to `seen`, whatever order messages are read in."""
    row = name_row(space, person, kind, name, since)
    known = tx.rows(PEOPLE, limit=1, where={key: row[key] for key in ("space", "user_id", "kind", "name")})
    last = seen or since
    if known:
        row["since"] = min(since, known[0]["since"])
        last = max(last, known[0]["seen"] or known[0]["since"])
    if not known or (row["since"], last) != (known[0]["since"], known[0]["seen"]):
        tx.put(PEOPLE, [row | {"seen": last}])


def name_row(space: str, person: str, kind: str, name: str, since: datetime) -> dict[str, Any]:
    return {"space": space, "user_id": person, "kind": kind, "name": name, "since": since}
