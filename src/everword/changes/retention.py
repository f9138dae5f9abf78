"""Retention: removes what is older than the settings keep, when asked to; a plan says before what that would be.

Messages are removed as `erase` removes them: a tombstone keeps the place and the seal, so `verify` still proves the
other messages; the words, their passages in the index and their tiers are gone. What was derived from them stays for
as long as its own kind is kept: that is what summaries, facts and digests are for. So a message is removed only after
all of those have read it. Topics hold the messages' own words, and are made again from what is left; so is any view
that is rebuilt later. Nothing that was removed can be restored.

What has a time of its own at which it expires is removed after that time, whatever the settings keep. It was shown to
nobody from that moment on. Nothing was derived from it that is still there, so no view has to be made anew.

Each page is a transaction of its own, under the locks of the writers: a run can be stopped and started again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any

from everword.changes.removal import drop_answers, lock_conversations, make_order, put_tombstones
from everword.changes.retention_rules import EXPIRED_KINDS, KINDS, OVER, Retention, day_is_over, find_expired_topics
from everword.errors import DamagedMessage, EverwordError
from everword.facts.stored_facts import CHANNEL
from everword.facts.view import LOCK
from everword.follow.store_calls import StoreCalls
from everword.log.access import LOCAL
from everword.log.append_and_read import (
    PEOPLE,
    Order,
    cursor_of,
    every_space,
    is_empty,
    new_id,
    note_removal,
    unreadable_message,
)
from everword.log.checks_and_seals import has_expired
from everword.masking import masked_logger
from everword.model import Expired, Filter, Message, Retained
from everword.ports import Clock, Telemetry, Tx, UpTo
from everword.summaries import digests
from everword.topics.stored_topics import renew_stamp

log = masked_logger("everword.retention")

PAGE = 1_000  # messages or rows in one transaction
KEPT = ("window", "episodes", "digests")  # views that stay as they are when messages expire; others are made again
LASTING = (*KEPT, "facts")  # views that outlive messages, and so must have read them before they are removed
LAST = "retained"  # the note in the store that says when the schedule last ran
LOOK = 60.0  # seconds between checks of the schedule

KEYS = {
    "episodes": ("space", "conversation", "level", "first"),
    "facts": ("space", "user_id", "id"),
    "statements": ("space", "user_id", "id"),
    "findings": ("space", "user_id", "slot", "time", "conversation", "turn", "number"),
    "digests": ("space", "kind", "day", "user_id", "variant"),
    "days": ("space", "day", "conversation", "user_id"),
    "topics": ("space", "conversation", "first"),
    "usage": ("space", "day", "role", "task", "model", "outcome"),
    "documents": ("space", "namespace", "key"),
    "messages": ("space",),
}
TABLES = {
    "episodes": ("episodes",),
    "facts": ("facts", "statements"),
    "digests": ("digests", "days"),
    "topics": (),
    "usage": ("usage",),
}  # the tables of each kind whose rows expire one by one
OF_TOPIC = ("topic_turns", "topic_packs", "topic_summaries")
HISTORY = ("facts", "statements")  # of these, only rows that are not active can expire

Row = Mapping[str, Any]
UNTOUCHED = ("window", "episodes", "digests", "topics", "titles")  # views that have nothing of messages that expire
EXPIRING = ("statements", "documents")  # tables whose rows may expire at a time of their own


@dataclass(frozen=True, slots=True)
class ExpiredPage:
    """The result of one page of messages: how many were removed, how many wait for a view, and where it ended."""

    count: int = 0
    waiting: int = 0
    end: tuple[str, int] | None = None


class RetentionJob:
    """Plans and makes the removals that a retention policy asks for."""

    def __init__(self, policy: Retention, calls: StoreCalls, telemetry: Telemetry) -> None:
        self._policy = policy
        self._calls = calls
        self._telemetry = telemetry

    async def plan(self, now: datetime, space: str | None) -> Retained:
        """What has expired and would be removed; nothing is removed."""
        results: list[Expired] = await self._calls.read(lambda tx: plan_expired(tx, space, now))
        for kind, before in self._cutoffs(now):
            if kind == "messages":
                count, waiting = await self._calls.read(lambda tx: count_expired_messages(tx, space, before))  # noqa: B023
                results.append(Expired(kind, before, count, waiting))
            else:
                count = await self._calls.read(lambda tx: count_expired_rows(tx, kind, space, before))  # noqa: B023
                results.append(Expired(kind, before, count))
        return Retained(now, True, tuple(results))

    async def apply(self, now: datetime, space: str | None, by: str = LOCAL) -> Retained:
        """Remove what has expired."""
        order = make_order(now, "retention", "messages", by)
        results = await self._remove_expired(order, space)
        for kind, before in self._cutoffs(now):
            if kind == "messages":
                result = await self._expire_messages(before, order, space)
            else:
                result = Expired(kind, before, await self._remove_rows(kind, before, space, order))
            self._telemetry.count("retention", kind=kind, outcome="removed", amount=result.count)
            results.append(result)
        return Retained(now, False, tuple(results))

    async def apply_if_due(self, now: datetime) -> Retained | None:
        """Remove what has expired if the schedule asks for it, once for all processes on the store; else None."""
        if not await self._calls.write(lambda tx: claim_run(tx, self._policy, now)):
            return None
        result = await self.apply(now, None)
        log.info("retention: %s", ", ".join(f"{expiry.count} {expiry.kind}" for expiry in result.expired))
        return result

    async def _remove_expired(self, order: Order, space: str | None) -> list[Expired]:
        """Remove what had a time of its own at which it expired."""
        counts = Counter[str]()
        for space_id in await self._calls.read(lambda tx: spaces_with_expired(tx, space, order.at)):
            what = EXPIRED_KINDS["messages"]
            while count := await self._calls.write(
                lambda tx: remove_expired_messages(tx, space_id, order, what)  # noqa: B023  called at once
            ):
                counts[what] += count
        for table in EXPIRING:
            what = EXPIRED_KINDS[table]
            rows: list[Row] = await self._calls.read(lambda tx: list(find_expired(tx, table, space, order.at)))  # noqa: B023
            for space_id in sorted({row["space"] for row in rows}):
                own = [row for row in rows if row["space"] == space_id]
                counts[what] += await self._calls.write(
                    lambda tx: remove_expired_rows(tx, table, space_id, own, order, what)  # noqa: B023
                )
        for kind, count in counts.items():
            self._telemetry.count("retention", kind=kind, outcome="removed", amount=count)
        return [Expired(kind, order.at, count) for kind, count in counts.items() if count]

    def _cutoffs(self, now: datetime) -> list[tuple[str, datetime]]:
        # Messages come last: a reader in between finds no summary without its source.
        kinds = sorted(KINDS, key=lambda kind: kind == "messages")
        return [(kind, before) for kind in kinds if (before := self._policy.cutoff(kind, now)) is not None]

    async def _expire_messages(self, before: datetime, order: Order, space: str | None) -> Expired:
        count = waiting = 0
        for space_id in await self._calls.read(lambda tx: spaces_of(tx, space)):
            page = ExpiredPage(end=("", 0))
            while page.end is not None:
                page = await self._calls.write(partial(expire_page, space_id, before, page.end, order))
                count += page.count
                waiting += page.waiting
        return Expired("messages", before, count, waiting)

    async def _remove_rows(self, kind: str, before: datetime, space: str | None, order: Order) -> int:
        rows_by_table = await self._calls.read(lambda tx: find_expired_rows(tx, kind, space, before))
        count = 0
        for table, rows in rows_by_table.items():
            for start in range(0, len(rows), PAGE):
                part = rows[start : start + PAGE]
                for space_id in sorted({row["space"] for row in part}):
                    own = [row for row in part if row["space"] == space_id]
                    count += await self._calls.write(partial(remove_noted, space_id, kind, table, own, before, order))
        return count


def plan_expired(tx: Tx, space: str | None, now: datetime) -> list[Expired]:
    """What had a time of its own at which it expired."""
    spaces = spaces_with_expired(tx, space, now)
    counts = {EXPIRED_KINDS["messages"]: sum(count_expired(tx, space_id, now) for space_id in spaces)}
    for table in EXPIRING:
        counts[EXPIRED_KINDS[table]] = sum(1 for _ in find_expired(tx, table, space, now))
    return [Expired(kind, now, count) for kind, count in counts.items() if count]


# -- messages


def spaces_with_expired(tx: Tx, space: str | None, now: datetime) -> list[str]:
    """The spaces in which messages have expired. One query: there may be a space for each person."""
    return sorted({row["space"] for row in find_expired(tx, "messages", space, now)})


def spaces_of(tx: Tx, space: str | None) -> list[str]:
    return [space] if space is not None else list(every_space(tx))


def count_expired_messages(tx: Tx, space: str | None, before: datetime) -> tuple[int, int]:
    """How many messages have expired, and how many more will when every view has read them."""
    count = waiting = 0
    for space_id in spaces_of(tx, space):
        after: tuple[str, int] = ("", 0)
        while page := read_page(tx, Filter(space_id, before=before), after):
            ready, late = split_by_readiness(tx, page)
            count = count + len(ready)
            waiting = waiting + len(late)
            after = (page[-1].conversation, page[-1].turn)
    return count, waiting


def split_by_readiness(tx: Tx, page: Iterable[Message]) -> tuple[list[Message], list[Message]]:
    """The messages that every lasting view has read, and the others; erased messages are in neither list."""
    ready: list[Message] = []
    late: list[Message] = []
    standing = [message for message in page if not message.erased]
    for (space, conversation), group in groupby(standing, key=lambda message: (message.space, message.conversation)):
        last_read_turn = min(cursor_of(tx, view, space, conversation) for view in LASTING)
        for message in group:
            (ready if message.turn <= last_read_turn else late).append(message)
    return ready, late


def expire_page(space: str, before: datetime, after: tuple[str, int], order: Order, tx: Tx) -> ExpiredPage:
    """Replace a page of expired messages by tombstones."""
    page = read_page(tx, Filter(space, before=before), after)
    if not page:
        return ExpiredPage()
    end = (page[-1].conversation, page[-1].turn)
    conversations = sorted({message.conversation for message in page if not message.erased})
    if not conversations:
        return ExpiredPage(end=end)
    lock_conversations(tx, space, conversations, order.at)
    # Read them again, now that nobody else can change them.
    page = read_page(tx, Filter(space, before=before), after)
    page = [message for message in page if message.conversation in conversations]
    ready, late = split_by_readiness(tx, page)
    if ready:
        expired_conversations = {message.conversation for message in ready}
        put_tombstones(tx, space, ready, order, keep=KEPT, id=new_id(order.at))
        for conversation in sorted(expired_conversations):
            settle_days(tx, space, conversation, before)
    return ExpiredPage(len(ready), len(late), end)


def settle_days(tx: Tx, space: str, conversation: str, before: datetime) -> None:
    """Close the days whose messages are gone: a digest that was made is final, and a day without one is removed."""
    days = tx.rows("days", where={"space": space, "conversation": conversation})
    old_days = [row for row in days if day_is_over(row["day"], before)]
    if not old_days:
        return
    tx.lock(digests.LOCK, space)
    for row in old_days:
        digest_rows = tx.rows("digests", where={"space": space, "kind": "day", "day": row["day"]})
        if not digest_rows:
            tx.remove("days", {key: row[key] for key in KEYS["days"]})
        tx.put("digests", [{**digest, "pending": 0} for digest in digest_rows if digest["pending"]])
    digests.bump_version(tx, space)


# -- what was derived


def find_expired_rows(tx: Tx, kind: str, space: str | None, before: datetime) -> dict[str, list[Row]]:
    """By table, the rows of a kind that have expired."""
    rows_by_table = {
        table: [row for row in every_row(tx, table, space) if OVER[table](row, before)] for table in TABLES[kind]
    }
    if kind == "facts":
        rows_by_table["findings"] = list(find_expired_findings(tx, space, before))
    if kind == "topics":
        topics = groupby(every_row(tx, "topics", space), key=lambda row: (row["space"], row["conversation"]))
        rows_by_table["topics"] = [row for _, rows in topics for row in find_expired_topics(list(rows), before)]
    return rows_by_table


def count_expired_rows(tx: Tx, kind: str, space: str | None, before: datetime) -> int:
    return sum(len(rows) for rows in find_expired_rows(tx, kind, space, before).values())


def every_row(tx: Tx, table: str, space: str | None) -> Iterator[Row]:
    where: dict[str, Any] = {} if space is None else {"space": space}
    if table in HISTORY:
        where["active"] = 0
    after: Row | None = None
    while rows := tx.rows(table, after, PAGE, where=where):
        yield from rows
        after = rows[-1]


def find_expired_findings(tx: Tx, space: str | None, before: datetime) -> Iterator[Row]:
    """Findings older than a time that are not the source of any fact that stays."""
    rows = (row for row in every_row(tx, "findings", space) if row["time"] < before)
    for (space_id, person), person_rows in groupby(rows, key=lambda row: (row["space"], row["user_id"])):
        grounds = sources_of_facts(tx, space_id, person, before)
        yield from (row for row in person_rows if row["message_id"] not in grounds)


def sources_of_facts(tx: Tx, space: str, person: str, before: datetime) -> set[str]:
    """The messages on which facts about a person rest that have not expired."""
    facts = tx.rows("facts", where={"space": space, "user_id": person})
    return {id for fact in facts if not OVER["facts"](fact, before) for id in fact["sources"]}


def remove_expired(tx: Tx, table: str, rows: Sequence[Row], before: datetime) -> int:
    """Remove those of the rows that are still expired, under the locks of the writers."""
    lock_writers(tx, table, rows)
    if table == "topics":
        return remove_topics(tx, rows, before)
    count = 0
    grounds: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        where = {key: row[key] for key in KEYS[table]}
        current = tx.rows(table, limit=1, where=where)
        if current and (
            is_needed(tx, current[0], before, grounds) if table == "findings" else not OVER[table](current[0], before)
        ):
            continue
        count += tx.remove(table, where) if current else 0
    if table in ("digests", "days"):
        for space in sorted({row["space"] for row in rows}):
            digests.bump_version(tx, space)
    return count


def remove_noted(space: str, kind: str, table: str, rows: Sequence[Row], before: datetime, order: Order, tx: Tx) -> int:
    """Remove rows of a space that have expired, and note in the audit how many."""
    count = remove_expired(tx, table, rows, before)
    if count:
        note_removal(tx, space, order, count, kind)
    return count


def remove_topics(tx: Tx, rows: Sequence[Row], before: datetime) -> int:
    """Remove expired topics with their turns, packs and summaries."""
    count = 0
    for space, conversation in sorted({(row["space"], row["conversation"]) for row in rows}):
        place = {"space": space, "conversation": conversation}
        for row in find_expired_topics(tx.rows("topics", where=place), before):
            for table in OF_TOPIC:
                tx.remove(table, {**place, "topic": row["first"]})
            count += tx.remove("topics", {**place, "first": row["first"]})
        renew_stamp(tx, place)
    return count


def is_needed(tx: Tx, row: Row, before: datetime, grounds: dict[tuple[str, str], set[str]]) -> bool:
    """Whether a fact that stays rests on a finding; `grounds` keeps the sources of a person's facts."""
    person = (row["space"], row["user_id"])
    if person not in grounds:
        grounds[person] = sources_of_facts(tx, *person, before)
    return row["message_id"] in grounds[person]


def lock_writers(tx: Tx, table: str, rows: Iterable[Row]) -> None:
    if table in ("episodes", "topics"):
        for space, conversation in sorted({(row["space"], row["conversation"]) for row in rows}):
            existing = tx.conversation(space, conversation)
            if existing is not None:
                tx.lock_conversation(existing)
    elif table in ("facts", "statements", "findings"):
        for space, person in sorted({(row["space"], row["user_id"]) for row in rows}):
            tx.lock(LOCK, space, person)
    elif table in ("digests", "days"):
        for space in sorted({row["space"] for row in rows}):
            tx.lock(digests.LOCK, space)


# -- the schedule


class RetentionSchedule:
    """Removes what has expired at the interval that is set, while a process follows the log; off by default."""

    def __init__(
        self, job: RetentionJob, policy: Retention, clock: Clock, scrub: Callable[[], Awaitable[tuple[str, ...]]]
    ) -> None:
        self._job = job
        self._policy = policy
        self._clock = clock
        self._scrub = scrub
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._policy.every:
            self._task = asyncio.create_task(self._run_forever(), name="everword retention")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run_forever(self) -> None:
        while True:
            try:
                result = await self._job.apply_if_due(self._clock.now())
                if result is not None and result.count:
                    for leftover in await self._scrub():
                        log.warning("retention: %s", leftover)
            except EverwordError as error:  # the store is not reachable for a while: it is tried again soon
                log.warning("retention: %s", error)
            await asyncio.sleep(LOOK)


def parse_note(note: str | None) -> datetime | None:
    """When the schedule last ran; None if the note is missing or cannot be read."""
    try:
        return None if note is None else datetime.fromisoformat(note)
    except ValueError:
        return None


def claim_run(tx: Tx, policy: Retention, now: datetime) -> bool:
    """Claim the run that is due; False if it is not time yet, or another process has claimed it."""
    tx.lock(LAST)
    last = tx.note(LAST)
    if not policy.is_due(parse_note(last), now):
        return False
    tx.set_note(LAST, now.isoformat())
    return True


def read_page(tx: Tx, where: Filter, after: tuple[str, int]) -> list[Message]:
    """A page of messages. It includes messages that cannot be read: they are to be removed, too."""
    errors: dict[tuple[str, int], DamagedMessage] = {}

    def note(error: DamagedMessage) -> None:
        errors[error.conversation, error.turn] = error

    page = tx.messages(where, after=after, limit=PAGE, damaged=note)
    places = [(message.conversation, message.turn) for message in page]
    return [
        unreadable_message(errors[place]) if place in errors else message
        for place, message in zip(places, page, strict=True)
    ]


# -- messages


def count_expired(tx: Tx, space: str, now: datetime) -> int:
    """How many messages of a space have expired."""
    count = 0
    after = ("", 0)
    while page := read_page(tx, Filter(space, expired_by=now), after):
        count += len(page)
        after = (page[-1].conversation, page[-1].turn)
    return count


def remove_expired_messages(tx: Tx, space: str, order: Order, what: str) -> int:
    """Replace a page of messages that have expired by tombstones; returns how many."""
    where = Filter(space, expired_by=order.at)
    conversations = lock_conversations(
        tx, space, {message.conversation for message in read_page(tx, where, ("", 0))}, order.at
    )
    # Read them again, now that nobody else can change them.
    messages = [message for message in read_page(tx, where, ("", 0)) if message.conversation in conversations]
    if not messages:
        return 0
    drop_answers(tx, space)
    put_tombstones(tx, space, messages, replace(order, what=what), keep=UNTOUCHED, id=new_id(order.at))
    for conversation in conversations.values():
        if is_empty(tx, conversation):  # nobody speaks there any more, and nobody hears anything
            tx.remove(PEOPLE, {"space": space, "kind": CHANNEL, "name": conversation.id})
            drop_empty_chunks(tx, space, conversation.id)
    return len(messages)


def drop_empty_chunks(tx: Tx, space: str, conversation: str) -> None:
    """Delete the chunks of an empty conversation without episodes: with them it would still be listed."""
    place = {"space": space, "conversation": conversation}
    if not tx.rows("episodes", limit=1, where=place):
        tx.remove("chunks", place)


# -- statements and documents


def find_expired(tx: Tx, table: str, space: str | None, now: datetime) -> Iterator[Row]:
    """The keys of the rows of a table that have expired, of one space or of all."""
    rows = tx.rows(table, where={"expires_at": UpTo(now)}, columns=KEYS[table])
    return (row for row in rows if space in (None, row["space"]))


def remove_expired_rows(tx: Tx, table: str, space: str, rows: Sequence[Row], order: Order, what: str) -> int:
    """Remove those of the rows of a space that are still there and have expired; returns how many."""
    for scope in sorted({row["user_id"] if table == "statements" else row["namespace"] for row in rows}):
        tx.lock(LOCK if table == "statements" else table, space, scope)
    count = 0
    for row in rows:
        where = {name: row[name] for name in KEYS[table]}
        current = tx.rows(table, limit=1, where=where)
        if current and has_expired(current[0]["expires_at"], order.at):
            count += tx.remove(table, where)
    if count:
        drop_answers(tx, space)
        note_removal(tx, space, order, count, what)
    return count
