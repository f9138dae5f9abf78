"""The days of a space: who spoke when, noted as messages come in, so that a digest knows its inputs.

A day consists of what people said in channels. It does not include chats with one person, commands to the memory, or
what an assistant said: memory must not feed on itself. For each day, channel and member there is a row with the first
and last turn and the number of messages; the messages themselves stay in the log. Days depend on the space's time zone:
if that changes, they are noted again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

from everword.facts.view import command_of
from everword.facts.viewers import PEOPLE, public_name
from everword.follow.view import Run, SaveResult
from everword.log.tables import warn_of_damage
from everword.model import Filter, Message, Span
from everword.ports import Clock, Tx
from everword.summaries.rules.days import Participation, day_bounds, day_of, extend_participation, parse_time_zone

VIEW = "digests"
SPACES = "spaces"
DAYS = "days"
DIGESTS = "digests"
LOCK = "digests"


class DaysView:
    """Notes who spoke on which day."""

    name = VIEW
    at_once = 1_000
    ordered = False

    def __init__(self, clock: Clock, zone: str) -> None:
        self._clock = clock
        self._zone = zone

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> Sequence[Run]:
        return runs

    def save(self, tx: Tx, run: Run) -> SaveResult | None:
        space = run.lag.space
        conversation = run.lag.conversation
        stored_conversation = tx.conversation(space, conversation)
        if stored_conversation is None or stored_conversation.user is not None:
            return None
        tx.lock(LOCK, space)
        zone, was_reset = apply_zone(tx, space, self._zone)
        if was_reset:  # the days and the cursor of this view were deleted
            return SaveResult(0, len(run.messages))
        today = day_of(self._clock.now(), zone)
        if min(note_activities(tx, space, conversation, run.messages, zone), default=today) < today:
            bump_version(tx, space)
        return None


def note_activities(tx: Tx, space: str, conversation: str, messages: Iterable[Message], zone: tzinfo) -> set[date]:
    """Note who spoke on which day. Returns the days."""
    turns: dict[tuple[date, str], list[int]] = {}
    for message in messages:
        if is_part_of_day(message):
            turns.setdefault((day_of(message.time, zone), message.author), []).append(message.turn)
    days = {day for day, _ in turns}
    earlier = {
        (day, activity.user): activity
        for day in days
        for activity in activities_on(tx, space, day, conversation=conversation)
    }
    tx.put(
        DAYS,
        [
            activity_row(space, day, extend_participation(earlier.get((day, user)), conversation, user, new_turns))
            for (day, user), new_turns in sorted(turns.items())
        ],
    )
    return days


def is_part_of_day(message: Message) -> bool:
    """Whether a message of a channel counts for its day."""
    return (
        message.role == "user" and message.is_lasting and bool(message.content.strip()) and command_of(message) is None
    )


def activity_row(space: str, day: date, activity: Participation) -> dict[str, Any]:
    turns = {"first": activity.first, "last": activity.last, "messages": activity.messages}
    return {
        "space": space,
        "day": day.isoformat(),
        "conversation": activity.conversation,
        "user_id": activity.user,
        **turns,
    }


def activities_on(tx: Tx, space: str, day: date, **where: str) -> list[Participation]:
    """Who spoke on a day, where, and how much."""
    rows = tx.rows(DAYS, where={"space": space, "day": day.isoformat(), **where})
    return [
        Participation(row["conversation"], row["user_id"], row["first"], row["last"], row["messages"]) for row in rows
    ]


def messages_on(tx: Tx, space: str, day: date, activities: Sequence[Participation], zone: tzinfo) -> list[Message]:
    """The messages of a day in the channels of a space, in the order of their times."""
    begin, end = day_bounds(day, zone)
    messages: list[Message] = []
    for channel in sorted({activity.conversation for activity in activities}):
        turns = [(activity.first, activity.last) for activity in activities if activity.conversation == channel]
        where = Filter(space, conversation=channel, after=begin, before=end)
        first = min(first for first, _ in turns)
        last = max(last for _, last in turns)
        channel_messages = tx.messages(where, after=(channel, first - 1), upto=last, damaged=warn_of_damage)
        messages += [message for message in channel_messages if is_part_of_day(message)]
    return sorted(messages, key=time_order)


def time_order(message: Message) -> tuple[datetime, str, int]:
    return message.time, message.conversation, message.turn


def activity_spans(activities: Iterable[Participation]) -> tuple[Span, ...]:
    """The turns of these activities."""
    return tuple(Span(activity.conversation, activity.first, activity.last) for activity in activities)


def public_names(tx: Tx, space: str, members: Iterable[str]) -> dict[str, str]:
    """Public names by id: of these members, and of everybody who has a display name."""
    names: dict[str, str] = {}
    rows = tx.rows(PEOPLE, where={"space": space, "kind": "display"})
    for row in sorted(rows, key=lambda row: (row["seen"] or row["since"], row["name"])):
        names[row["user_id"]] = row["name"]
    return names | {id: public_name(tx, space, id) for id in members if id not in names}


# -- a space's time zone and version


def space_row(tx: Tx, space: str) -> Mapping[str, Any]:
    rows = tx.rows(SPACES, where={"space": space})
    return rows[0] if rows else {"space": space, "time_zone": None, "noted": None, "version": 0}


def zone_of(tx: Tx, space: str, default: str) -> tzinfo:
    """The time zone of a space: its own, or the default of the memory."""
    return parse_time_zone(space_row(tx, space)["time_zone"] or default)


def apply_zone(tx: Tx, space: str, default: str) -> tuple[tzinfo, bool]:
    """The time zone of a space; and whether days were noted in another zone and were deleted now, to be noted again."""
    row = space_row(tx, space)
    name = row["time_zone"] or default
    if row["noted"] == name:
        return parse_time_zone(name), False
    tx.put(SPACES, [dict(row) | {"noted": name, "version": row["version"] + 1}])
    if row["noted"] is None:
        return parse_time_zone(name), False
    tx.remove(DAYS, {"space": space})
    for table in ("cursors", "set_aside"):
        tx.remove(table, {"space": space, "view": VIEW})
    return parse_time_zone(name), True


def set_zone(tx: Tx, space: str, name: str, default: str) -> None:
    tx.lock(LOCK, space)
    tx.put(SPACES, [dict(space_row(tx, space)) | {"time_zone": name}])
    apply_zone(tx, space, default)


def bump_version(tx: Tx, space: str) -> None:
    """Invalidate what others have cached of this space's digests."""
    tx.put(SPACES, [{"space": space, "version": 1}], add=("version",))


def bump_versions(tx: Tx, space: str | None) -> None:
    """Invalidate all caches of one space, or of all: the view was deleted."""
    for row in tx.rows(SPACES, where=None if space is None else {"space": space}):
        bump_version(tx, row["space"])
