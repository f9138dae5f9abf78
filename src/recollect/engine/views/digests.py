"""The days of a space: who spoke when, noted as messages come, so that a digest knows what it is made of.

A day consists of what people said in channels. Chats with one person are no part of it, nor are commands to the memory
and what an assistant said: memory must not feed on itself. For each day, channel and member there is a row with the
first and last turn and the number of messages; the messages themselves stay in the log. Rows follow the space's time
zone: if that is changed, they are noted anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, tzinfo
from typing import Any

from recollect.engine.context.viewers import PEOPLE, public_name
from recollect.engine.tables.log import warn_of_damage
from recollect.engine.views.facts import command_of
from recollect.engine.work.view import Run, Saved
from recollect.model import Filter, Message, Span
from recollect.ports import Clock, Tx
from recollect.rules.days import Spoke, bounds, day_of, noted, zone_named

VIEW = "digests"
SPACES, DAYS, DIGESTS = "spaces", "days", "digests"
LOCK = "digests"


class DaysView:
    """Notes who spoke on which day."""

    name = VIEW
    at_once = 1_000
    ordered = False

    def __init__(self, clock: Clock, zone: str) -> None:
        self._clock, self._zone = clock, zone

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> Sequence[Run]:
        return runs

    def save(self, tx: Tx, run: Run) -> Saved | None:
        space, conversation = run.lag.space, run.lag.conversation
        owner = tx.conversation(space, conversation)
        if owner is None or owner.user is not None:
            return None
        tx.lock(LOCK, space)
        zone, changed = zoned(tx, space, self._zone)
        if changed:  # what was noted before is void, and so is how far this view had got
            return Saved(0, len(run.messages))
        today = day_of(self._clock.now(), zone)
        if min(note(tx, space, conversation, run.messages, zone), default=today) < today:
            touch(tx, space)
        return None


def note(tx: Tx, space: str, conversation: str, messages: Iterable[Message], zone: tzinfo) -> set[date]:
    """Note who spoke; the days on which somebody did."""
    turns: dict[tuple[date, str], list[int]] = {}
    for message in messages:
        if counts(message):
            turns.setdefault((day_of(message.time, zone), message.author), []).append(message.turn)
    days = {day for day, _ in turns}
    known = {(day, one.user): one for day in days for one in spoken(tx, space, day, conversation=conversation)}
    tx.put(
        DAYS,
        [
            row_of(space, day, noted(known.get((day, user)), conversation, user, said))
            for (day, user), said in sorted(turns.items())
        ],
    )
    return days


def counts(message: Message) -> bool:
    """Whether a message of a channel is part of its day."""
    return (
        message.role == "user" and not message.erased and bool(message.content.strip()) and command_of(message) is None
    )


def row_of(space: str, day: date, one: Spoke) -> dict[str, Any]:
    turns = {"first": one.first, "last": one.last, "messages": one.messages}
    return {"space": space, "day": day.isoformat(), "conversation": one.conversation, "user_id": one.user, **turns}


def spoken(tx: Tx, space: str, day: date, **where: str) -> list[Spoke]:
    """Who spoke on a day, where, and how much."""
    rows = tx.rows(DAYS, where={"space": space, "day": day.isoformat(), **where})
    return [Spoke(row["conversation"], row["user_id"], row["first"], row["last"], row["messages"]) for row in rows]


def said_on(tx: Tx, space: str, day: date, spoke: Sequence[Spoke], zone: tzinfo) -> list[Message]:
    """The messages of a day in the channels of a space, in the order of their times."""
    begin, end = bounds(day, zone)
    found: list[Message] = []
    for channel in sorted({one.conversation for one in spoke}):
        turns = [(one.first, one.last) for one in spoke if one.conversation == channel]
        where = Filter(space, conversation=channel, after=begin, before=end)
        first, last = min(first for first, _ in turns), max(last for _, last in turns)
        there = tx.messages(where, after=(channel, first - 1), upto=last, damaged=warn_of_damage)
        found += [message for message in there if counts(message)]
    return sorted(found, key=lambda message: (message.time, message.conversation, message.turn))


def spans(spoke: Iterable[Spoke]) -> tuple[Span, ...]:
    """Where a member spoke."""
    return tuple(Span(one.conversation, one.first, one.last) for one in spoke)


def names_of(tx: Tx, space: str, members: Iterable[str]) -> dict[str, str]:
    """What to call people before many, by id: these members, and everybody who has a display name."""
    names: dict[str, str] = {}
    rows = tx.rows(PEOPLE, where={"space": space, "kind": "display"})
    for row in sorted(rows, key=lambda row: (row["seen"] or row["since"], row["name"])):
        names[row["user_id"]] = row["name"]
    return names | {id: public_name(tx, space, id) for id in members if id not in names}


# -- a space's clock, and what tells others that something changed


def space_row(tx: Tx, space: str) -> Mapping[str, Any]:
    rows = tx.rows(SPACES, where={"space": space})
    return rows[0] if rows else {"space": space, "time_zone": None, "noted": None, "version": 0}


def zoned(tx: Tx, space: str, default: str) -> tuple[tzinfo, bool]:
    """The time zone of a space; and whether days were noted by another, and are forgotten now to be noted anew."""
    row = space_row(tx, space)
    name = row["time_zone"] or default
    if row["noted"] == name:
        return zone_named(name), False
    tx.put(SPACES, [dict(row) | {"noted": name, "version": row["version"] + 1}])
    if row["noted"] is None:
        return zone_named(name), False
    tx.remove(DAYS, {"space": space})
    for table in ("cursors", "set_aside"):
        tx.remove(table, {"space": space, "view": VIEW})
    return zone_named(name), True


def set_zone(tx: Tx, space: str, name: str, default: str) -> None:
    tx.lock(LOCK, space)
    tx.put(SPACES, [dict(space_row(tx, space)) | {"time_zone": name}])
    zoned(tx, space, default)


def touch(tx: Tx, space: str) -> None:
    """What others hold in memory of this space's digests is to be read again."""
    tx.put(SPACES, [{"space": space, "version": 1}], add=("version",))


def begin_anew(tx: Tx, space: str | None) -> None:
    """The view was thrown away: what anybody holds in memory of it is void."""
    for row in tx.rows(SPACES, where=None if space is None else {"space": space}):
        touch(tx, row["space"])
