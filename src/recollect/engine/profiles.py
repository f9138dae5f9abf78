"""Statements about people as rows, and the names they go by.

A profile is the active statements of one person, in the order they were first said. A request to forget is a row too:
facts that are built anew from the log stay forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from recollect.engine.fact_rows import facts_of
from recollect.errors import InvalidInput
from recollect.model import Fact, Message, Statement
from recollect.ports import Tx
from recollect.rules.log import checked_id
from recollect.rules.names import Member, Name
from recollect.rules.profiles import contradicts, reading, says_same, unrestated

TABLE, PEOPLE = "statements", "people"
SAID, FORGET = "statement", "forget"
KINDS = ("display", "nickname", "alias", "mention")


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


def seen_by(one: Statement, viewer: str | None) -> bool:
    """Whether a statement may be shown to somebody alone, or to a group (None): what was said in private is for whoever
    said it."""
    return one.audience is not None or (viewer is not None and viewer == one.speaker)


def said_in(tx: Tx, messages: Iterable[Message]) -> list[tuple[Message, Statement]]:
    """What messages of one space asked to be remembered, of whomever, whether it still stands or not."""
    asked = {message.id: message for message in messages if message.role == "user" and not message.erased}
    found = list[tuple[Message, Statement]]()
    for space, author in sorted({(message.space, message.author) for message in asked.values()}):
        rows = tx.rows(TABLE, where={"space": space, "speaker": author, "kind": SAID})
        found += [(asked[id], one) for one in map(to_statement, rows) for id in one.sources if id in asked]
    return found


def across(name: str, new: Statement, others: Iterable[Statement]) -> tuple[list[Statement], Statement | None]:
    """What a new statement does to those of another audience: rows to store, and the one that says the same already.

    Newer wins here, too, but no words cross over: what a private statement said besides stays private.
    """
    made, rows = reading(name, new.text), list[Statement]()
    for old in others:
        was = reading(name, old.text)
        if contradicts(was, made):
            rows.append(replace(old, active=False, retired_at=new.said_at, retired_by=new.id))
            rest = unrestated(was, [made])
            rows += [replace(old, id=f"{old.id}.{number}", text=text) for number, text in enumerate(rest, 1)]
        elif new.audience is None and says_same(was, made):
            return [], old
        elif new.audience is not None and says_same(made, was):
            rows.append(replace(old, active=False, retired_at=new.said_at, retired_by=new.id))
    return rows, None


def retire_contradicted(tx: Tx, space: str, person: str, gone: Sequence[Fact], when: datetime) -> None:
    """A statement that says what no longer holds does not stand either: the newer word wins, however it came."""
    if not gone:
        return
    name, held = name_of(tx, space, person), facts_of(tx, space, person, active=True)
    lost = {(f.category, f.key, f.value.casefold()) for f in gone} - {
        (f.category, f.key, f.value.casefold()) for f in held
    }
    old = [
        replace(one, active=False, retired_at=when, retired_by=gone[0].retired_by)
        for one in statements_of(tx, space, person)
        if one.said_at <= when
        and any((f.category, f.key, f.value.casefold()) in lost for f in reading(name, one.text).facts)
    ]
    put(tx, old)


# -- names


def name_of(tx: Tx, space: str, person: str) -> str:
    """What to call a person: as others see them, as they said, or else by their id."""
    rows = tx.rows(PEOPLE, where={"space": space, "user_id": person, "kind": "display"})
    if rows:
        return str(max(rows, key=lambda row: (row["seen"] or row["since"], row["name"]))["name"])
    said = [fact for fact in facts_of(tx, space, person, active=True) if fact.key == "name" and fact.subject is None]
    return said[0].value if said else person


def public_name(tx: Tx, space: str, person: str) -> str:
    """What to call a person before many: never by a name that they told in private."""
    name = name_of(tx, space, person)
    shown = tx.rows(PEOPLE, limit=1, where={"space": space, "user_id": person, "kind": "display"})
    facts = facts_of(tx, space, person, active=True)
    told = any(fact.key == "name" and fact.value == name and fact.audience is not None for fact in facts)
    return name if shown or told else person


def members_of(tx: Tx, space: str) -> list[Member]:
    """Everybody who goes by a name in a space, or has spoken in it."""
    names: dict[str, list[Name]] = {}
    for row in tx.rows(PEOPLE, where={"space": space}):
        own = names.setdefault(row["user_id"], [])
        if row["kind"] != "id":
            own.append(Name(row["name"], row["kind"], row["since"], row["seen"]))
    return [Member(person, tuple(given)) for person, given in names.items()]


def note_people(tx: Tx, messages: Iterable[Message]) -> None:
    """Whoever speaks in a space is somebody there, from the first time on; and before many goes by the display name
    that came with the message. In a chat with one person a name is private, and stays in the log."""
    spoke = [message for message in messages if message.role == "user" and not message.erased]
    public = {place: is_public(tx, *place) for place in {(message.space, message.conversation) for message in spoke}}
    for space, person in sorted({(message.space, message.author) for message in spoke}):
        own = [message for message in spoke if (message.space, message.author) == (space, person)]
        if not tx.rows(PEOPLE, limit=1, where={"space": space, "user_id": person, "kind": "id"}):
            first = min(message.time for message in own)
            tx.put(PEOPLE, [name_row(space, person, "id", person, first) | {"seen": None}])
        names: dict[str, list[datetime]] = {}
        for message in own:
            if public[space, message.conversation] and (name := display_name(message)):
                names.setdefault(name, []).append(message.time)
        for name, times in names.items():
            put_name(tx, space, person, "display", name, min(times), max(times))


def is_public(tx: Tx, space: str, conversation: str) -> bool:
    found = tx.conversation(space, conversation)
    return found is not None and found.user is None


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
