"""People as a list shows them: one page at a time, in the order of their ids, however many a space has; and the days
on which somebody spoke in channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby

from everword.facts.tables.people import KINDS
from everword.facts.viewers import PEOPLE, told_name
from everword.log.access import Viewer
from everword.memory.runtime import Runtime
from everword.model import Member, Name
from everword.ports import Tx

DAYS = "days"
MOST_ROWS = 200  # of days in channels that are read
BLOCK = 200  # rows that are read at a time
MOST_READ = 5_000  # members that one page of a search by name looks at
LAST = "\U0010ffff"  # after every kind and name of a member


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """Somebody in a list: what they are called in their own chats, and since when they are known."""

    member: Member
    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class PeoplePage:
    """A page of the people of a space; `next_after` is the id after which the next page begins, if there is one."""

    people: tuple[ListedPerson, ...]
    next_after: str | None


async def page_of_people(runtime: Runtime, space: str, part: str, after: str, limit: int) -> PeoplePage:
    """The people of a space after an id, in order; with `part`, those who have it in their id or in a name. A search
    looks at so many members for a page, and the next page goes on where it ended."""

    def read(tx: Tx) -> PeoplePage:
        members = list[tuple[Member, datetime]]()
        last = after
        for count, (member, since) in enumerate(members_after(tx, space, after), 1):
            if len(members) == limit or count > MOST_READ:
                return PeoplePage(name_people(tx, space, members), last)
            last = member.id
            if has_part(member, part):
                members.append((member, since))
        return PeoplePage(name_people(tx, space, members), None)

    return await runtime.read(read)


def members_after(tx: Tx, space: str, after: str) -> Iterator[tuple[Member, datetime]]:
    """The members of a space after an id, each with the time of the first row about them. No column is compared but
    those of the key: the store finds the place of each block by its index."""
    for id, rows in groupby(rows_after(tx, space, after), key=lambda row: row[0]):
        names = list(rows)
        own = tuple(name for _, name in names if name.kind in KINDS)
        yield Member(id, own), min(name.since for _, name in names if name.since is not None)


def rows_after(tx: Tx, space: str, after: str) -> Iterator[tuple[str, Name]]:
    place = {"space": space, "user_id": after, "kind": LAST if after else "", "name": LAST if after else ""}
    while True:
        rows = tx.rows(PEOPLE, place, BLOCK)
        for row in rows:
            if row["space"] != space:
                return
            yield row["user_id"], Name(row["name"], row["kind"], row["since"], row["seen"])
        if len(rows) < BLOCK:
            return
        place = {name: rows[-1][name] for name in place}


def has_part(member: Member, part: str) -> bool:
    return part in member.id.casefold() or any(part in name.text.casefold() for name in member.names)


def name_people(tx: Tx, space: str, members: list[tuple[Member, datetime]]) -> tuple[ListedPerson, ...]:
    return tuple(ListedPerson(member, name_of(tx, space, member), since) for member, since in members)


def name_of(tx: Tx, space: str, member: Member) -> str:
    """What somebody is called in their own chats: their display name, the name they said, or their id."""
    if member.shown != member.id:
        return member.shown
    return told_name(tx, space, member.id, Viewer(member.id)) or member.id


async def days_of(runtime: Runtime, space: str, person: str) -> list[date]:
    """The last days on which somebody said something in a channel, the newest first."""

    def read(tx: Tx) -> list[date]:
        rows = tx.rows(DAYS, limit=MOST_ROWS, where={"space": space, "user_id": person}, newest=True)
        return [date.fromisoformat(day) for day in dict.fromkeys(row["day"] for row in rows)]

    return await runtime.read(read)
