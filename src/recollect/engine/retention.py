"""Retention: what is over goes, if somebody said so and asked for it, and a plan says before what that would be.

Messages leave as they do when they are erased: a tombstone keeps the place and the seal, so `verify` still proves the
rest, and the words, their passages in the index and their tiers are gone. But what was made of them in time stays, for
as long as its own kind is kept: that is what summaries, facts and digests are for. So no message goes that one of
them has not read yet. Topics hold the messages' own words, and are made anew of what is left; so is any view that is
rebuilt later. What is gone is gone for good.

Each page is a transaction of its own, under the locks of those who write there: it can be stopped and run again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from recollect.engine.tables.log import every_conversation, new_id, unreadable_message
from recollect.engine.views import digests
from recollect.engine.views.facts import LOCK
from recollect.errors import DamagedMessage, RecollectError
from recollect.model import Conversation, Erasure, Expired, Filter, Message, Retained
from recollect.ports import Clock, Telemetry, Tx
from recollect.rules.log import tombstone
from recollect.rules.retention import KINDS, OVER, Retention, day_is_over, topics_over

log = logging.getLogger("recollect.retention")

PAGE = 1_000  # messages or rows in one transaction
KEPT = ("window", "episodes", "digests")  # views that stay as they are when messages are over; others are made anew
LASTING = (*KEPT, "facts")  # views that outlive messages, and so must have read them before they go
LAST = "retained"  # the note on a store that says when the schedule last asked
LOOK = 60.0  # seconds between looks at the schedule

KEYS = {
    "episodes": ("space", "conversation", "level", "first"),
    "facts": ("space", "user_id", "id"),
    "statements": ("space", "user_id", "id"),
    "findings": ("space", "user_id", "slot", "time", "conversation", "turn", "number"),
    "digests": ("space", "kind", "day", "user_id", "variant"),
    "days": ("space", "day", "conversation", "user_id"),
    "topics": ("space", "conversation", "first"),
    "usage": ("space", "day", "role", "task", "model", "outcome"),
}
TABLES = {
    "episodes": ("episodes",),
    "facts": ("facts", "statements"),
    "digests": ("digests", "days"),
    "topics": (),
    "usage": ("usage",),
}  # the tables of each kind whose rows can be over one by one
OF_TOPIC = ("topic_turns", "topic_packs", "topic_summaries")
HISTORY = ("facts", "statements")  # of these only what does not hold is looked at

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """What a page of messages came to: how many went, how many wait for a view, and where it ended."""

    gone: int = 0
    waiting: int = 0
    end: tuple[str, int] | None = None


class Retaining:
    """Plans and does what a retention asks for."""

    def __init__(
        self,
        policy: Retention,
        read: Callable[..., Awaitable[Any]],
        write: Callable[..., Awaitable[Any]],
        telemetry: Telemetry,
    ) -> None:
        self._policy, self._read, self._write, self._telemetry = policy, read, write, telemetry

    async def planned(self, now: datetime, space: str | None) -> Retained:
        """What is over now, and would go; nothing does."""
        found: list[Expired] = []
        for kind, before in self._limits(now):
            if kind == "messages":
                gone, waiting = await self._read(lambda tx: messages_over(tx, space, before))  # noqa: B023
                found.append(Expired(kind, before, gone, waiting))
            else:
                count = await self._read(lambda tx: sum(len(rows) for rows in over(tx, kind, space, before).values()))  # noqa: B023
                found.append(Expired(kind, before, count))
        return Retained(now, True, tuple(found))

    async def applied(self, now: datetime, space: str | None) -> Retained:
        """Take out what is over."""
        done: list[Expired] = []
        for kind, before in self._limits(now):
            if kind == "messages":
                one = await self._messages(before, now, space)
            else:
                one = Expired(kind, before, await self._rows(kind, before, space))
            self._telemetry.count("retention", kind=kind, outcome="removed", amount=one.count)
            done.append(one)
        return Retained(now, False, tuple(done))

    async def due(self, now: datetime) -> Retained | None:
        """What the schedule asks for, once for all processes on the store; None if it is not time yet."""
        if not await self._write(lambda tx: claimed(tx, self._policy, now)):
            return None
        done = await self.applied(now, None)
        log.info("retention: %s", ", ".join(f"{one.count} {one.kind}" for one in done.expired))
        return done

    def _limits(self, now: datetime) -> list[tuple[str, datetime]]:
        # What was made of messages before the messages: whoever reads in between finds no summary without a source.
        ordered = sorted(KINDS, key=lambda kind: kind == "messages")
        return [(kind, before) for kind in ordered if (before := self._policy.before(kind, now)) is not None]

    async def _messages(self, before: datetime, now: datetime, space: str | None) -> Expired:
        gone = waiting = 0
        for place in await self._read(lambda tx: spaces_of(tx, space)):
            after: tuple[str, int] | None = ("", 0)
            while after is not None:
                page: Page = await self._write(lambda tx: expire(tx, place, before, after, now))  # noqa: B023
                gone, waiting, after = gone + page.gone, waiting + page.waiting, page.end
        return Expired("messages", before, gone, waiting)

    async def _rows(self, kind: str, before: datetime, space: str | None) -> int:
        found: dict[str, list[Row]] = await self._read(lambda tx: over(tx, kind, space, before))
        count = 0
        for table, rows in found.items():
            for start in range(0, len(rows), PAGE):
                part = rows[start : start + PAGE]
                count += await self._write(lambda tx: remove(tx, table, part, before))  # noqa: B023
        return count


# -- messages


def spaces_of(tx: Tx, space: str | None) -> list[str]:
    return [space] if space is not None else sorted({one.space for one in every_conversation(tx)})


def messages_over(tx: Tx, space: str | None, before: datetime) -> tuple[int, int]:
    """How many messages are over; and how many of others would be, had every view read them."""
    gone = waiting = 0
    for place in spaces_of(tx, space):
        after: tuple[str, int] = ("", 0)
        while page := messages_before(tx, place, before, after):
            ready, late = split(tx, page)
            gone, waiting = gone + len(ready), waiting + len(late)
            after = (page[-1].conversation, page[-1].turn)
    return gone, waiting


def messages_before(tx: Tx, space: str, before: datetime, after: tuple[str, int]) -> list[Message]:
    """A page of messages that are over. One that cannot be read is: there is something to be removed."""
    damaged: dict[tuple[str, int], DamagedMessage] = {}

    def note(error: DamagedMessage) -> None:
        damaged[error.conversation, error.turn] = error

    page = tx.messages(Filter(space, before=before), after=after, limit=PAGE, damaged=note)
    places = [(message.conversation, message.turn) for message in page]
    return [
        unreadable_message(damaged[place]) if place in damaged else message
        for place, message in zip(places, page, strict=True)
    ]


def split(tx: Tx, page: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """The messages that every view has read that outlives them, and the others. What was erased before is neither."""
    ready: list[Message] = []
    late: list[Message] = []
    standing = [message for message in page if not message.erased]
    for (space, conversation), some in groupby(standing, key=lambda one: (one.space, one.conversation)):
        reach = min(tx.cursor(view, space, conversation) for view in LASTING)
        for message in some:
            (ready if message.turn <= reach else late).append(message)
    return ready, late


def expire(tx: Tx, space: str, before: datetime, after: tuple[str, int], now: datetime) -> Page:
    """Put tombstones in the place of a page of messages that are over."""
    page = messages_before(tx, space, before, after)
    if not page:
        return Page()
    end = (page[-1].conversation, page[-1].turn)
    locked = sorted({message.conversation for message in page if not message.erased})
    if not locked:
        return Page(end=end)
    for conversation in locked:
        tx.lock_conversation(Conversation(space, conversation, None, now, now))
    # Once more, now that nobody else can change them.
    page = [message for message in messages_before(tx, space, before, after) if message.conversation in locked]
    ready, late = split(tx, page)
    if ready:
        touched = {message.conversation for message in ready}
        erasure = Erasure(new_id(now), space, now, len(ready), len(touched), entries=0)
        tx.erase(erasure, [tombstone(message) for message in ready], keep=KEPT)
        for conversation in sorted(touched):
            settle_days(tx, space, conversation, before)
    return Page(len(ready), len(late), end)


def settle_days(tx: Tx, space: str, conversation: str, before: datetime) -> None:
    """A day of which no word is left is no day to make a digest of: the one that was made is the last, and where none
    was, there is nothing to make one of."""
    noted = tx.rows("days", where={"space": space, "conversation": conversation})
    over = [row for row in noted if day_is_over(row["day"], before)]
    if not over:
        return
    tx.lock(digests.LOCK, space)
    for row in over:
        made = tx.rows("digests", where={"space": space, "kind": "day", "day": row["day"]})
        if not made:
            tx.remove("days", {key: row[key] for key in KEYS["days"]})
        tx.put("digests", [{**one, "pending": 0} for one in made if one["pending"]])
    digests.touch(tx, space)


# -- what was derived


def over(tx: Tx, kind: str, space: str | None, before: datetime) -> dict[str, list[Row]]:
    """By table, the rows of a kind that are over."""
    found = {table: [row for row in every_row(tx, table, space) if OVER[table](row, before)] for table in TABLES[kind]}
    if kind == "facts":
        found["findings"] = list(findings_over(tx, space, before))
    if kind == "topics":
        every = groupby(every_row(tx, "topics", space), key=lambda row: (row["space"], row["conversation"]))
        found["topics"] = [row for _, rows in every for row in topics_over(list(rows), before)]
    return found


def every_row(tx: Tx, table: str, space: str | None) -> Iterator[Row]:
    where: dict[str, Any] = {} if space is None else {"space": space}
    if table in HISTORY:
        where["active"] = 0
    after: Row | None = None
    while rows := tx.rows(table, after, PAGE, where=where):
        yield from rows
        after = rows[-1]


def findings_over(tx: Tx, space: str | None, before: datetime) -> Iterator[Row]:
    """What was read in messages so long ago, and is no ground of any fact that stays."""
    rows = (row for row in every_row(tx, "findings", space) if row["time"] < before)
    for (place, person), own in groupby(rows, key=lambda row: (row["space"], row["user_id"])):
        known = tx.rows("facts", where={"space": place, "user_id": person})
        grounds = {id for fact in known if not OVER["facts"](fact, before) for id in fact["sources"]}
        yield from (row for row in own if row["message_id"] not in grounds)


def remove(tx: Tx, table: str, rows: Sequence[Row], before: datetime) -> int:
    """Take out those of the rows that are still over, under the locks of those who write there."""
    lock(tx, table, rows)
    if table == "topics":
        return remove_topics(tx, rows, before)
    count = 0
    grounds: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        where = {key: row[key] for key in KEYS[table]}
        now = tx.rows(table, limit=1, where=where)
        if now and (needed(tx, now[0], before, grounds) if table == "findings" else not OVER[table](now[0], before)):
            continue
        count += tx.remove(table, where) if now else 0
    if table in ("digests", "days"):
        for space in sorted({row["space"] for row in rows}):
            digests.touch(tx, space)
    return count


def remove_topics(tx: Tx, rows: Sequence[Row], before: datetime) -> int:
    """A topic goes with its messages' places, its packs and its summary."""
    count = 0
    for space, conversation in sorted({(row["space"], row["conversation"]) for row in rows}):
        place = {"space": space, "conversation": conversation}
        for row in topics_over(tx.rows("topics", where=place), before):
            for table in OF_TOPIC:
                tx.remove(table, {**place, "topic": row["first"]})
            count += tx.remove("topics", {**place, "first": row["first"]})
    return count


def needed(tx: Tx, row: Row, before: datetime, grounds: dict[tuple[str, str], set[str]]) -> bool:
    person = (row["space"], row["user_id"])
    if person not in grounds:
        known = tx.rows("facts", where={"space": row["space"], "user_id": row["user_id"]})
        grounds[person] = {id for fact in known if not OVER["facts"](fact, before) for id in fact["sources"]}
    return row["message_id"] in grounds[person]


def lock(tx: Tx, table: str, rows: Iterable[Row]) -> None:
    if table in ("episodes", "topics"):
        for space, conversation in sorted({(row["space"], row["conversation"]) for row in rows}):
            there = tx.conversation(space, conversation)
            if there is not None:
                tx.lock_conversation(there)
    elif table in ("facts", "statements", "findings"):
        for space, person in sorted({(row["space"], row["user_id"]) for row in rows}):
            tx.lock(LOCK, space, person)
    elif table in ("digests", "days"):
        for space in sorted({row["space"] for row in rows}):
            tx.lock(digests.LOCK, space)


# -- the schedule


class Schedule:
    """Cleans up when the schedule asks for it, while a process follows the log; off unless somebody set one."""

    def __init__(
        self, retaining: Retaining, policy: Retention, clock: Clock, scrub: Callable[[], Awaitable[tuple[str, ...]]]
    ) -> None:
        self._retaining, self._policy, self._clock, self._scrub = retaining, policy, clock, scrub
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._policy.every and self._policy.limited:
            self._task = asyncio.create_task(self._forever(), name="recollect retention")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _forever(self) -> None:
        while True:
            try:
                done = await self._retaining.due(self._clock.now())
                if done is not None and done.count:
                    for left in await self._scrub():
                        log.warning("retention: %s", left)
            except RecollectError as error:  # a store that is away for a while: the next look is soon
                log.warning("retention: %s", error)
            await asyncio.sleep(LOOK)


def noted_time(note: str | None) -> datetime | None:
    """When the schedule last asked; of a note that cannot be read, nobody knows."""
    try:
        return None if note is None else datetime.fromisoformat(note)
    except ValueError:
        return None


def claimed(tx: Tx, policy: Retention, now: datetime) -> bool:
    """Whether it is time, and nobody else has seen to it: then it is ours to do."""
    tx.lock(LAST)
    last = tx.note(LAST)
    if not policy.is_due(noted_time(last), now):
        return False
    tx.set_note(LAST, now.isoformat())
    return True
