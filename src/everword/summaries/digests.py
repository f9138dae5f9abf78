"""Digests: what each member said on a day, how each has been lately, and both with the profile as one text.

Who spoke when is noted as messages come in, so that a digest knows its inputs. A day consists of what people said in
channels. It does not include chats with one person, commands to the memory, or what an assistant said: memory must not
feed on itself. For each day, channel and member there is a row with the first and last turn and the number of messages;
the messages themselves stay in the log. Days depend on the space's time zone: if that changes, they are noted again.

A digest is made on request and stored: a past day once, today once an hour, a history once a day, a merge once for the
same inputs. A late message changes the inputs of its day, which is then made again. If the model is away the built-in
writer stands in, and its text is replaced later; if a digest cannot be made in time, the last one is returned. Digests
never change the profile.

The entries of a day are one model call for all who spoke, or several if the day or the group is too large. A day with
more text than the model takes is split into parts by time; then the entries of the parts become one entry for each
member. If the model fails at one part, the built-in writer writes that part; the others are kept.

On a day on which very many spoke, the digest of one member is made of the channels in which they spoke, and of no
others: it costs what those channels hold, not what the space holds.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any

from cachetools import TTLCache

from everword.facts.rules.remembered_statements import matching_statements
from everword.facts.stored_facts import FORGET, public_name, statements_of
from everword.facts.view import command_of
from everword.follow.claiming import Flight, FlightResult, SingleFlight, WaitLimit
from everword.follow.model_calls import TaskResult, TaskRunner
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run, SaveResult
from everword.log.access import Viewer, is_claim
from everword.log.append_and_read import PEOPLE, erasures_of, warn_of_damage
from everword.log.events import Event, note_events
from everword.model import Digest, Filter, Message, Span
from everword.model.facts import DigestKind
from everword.ports import Clock, Telemetry, Tokenizer, Tx
from everword.summaries import prompts
from everword.summaries.prompts import DayInputs, DayReply, MergeInputs, WeekInputs
from everword.summaries.rules import days
from everword.summaries.rules.day_threads import is_told_by_thread, merge_told_days, quoted_words, units_of
from everword.summaries.rules.days import (
    GIVEN,
    Participation,
    ThreadLink,
    day_bounds,
    day_of,
    extend_participation,
    parse_time_zone,
)

VIEW = "digests"
SPACES = "spaces"
DAYS = "days"
DIGESTS = "digests"
LOCK = "digests"
TOPIC_TURNS = "topic_turns"
TURNS_AT_ONCE = 500


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
    """Whether a message of a channel counts for its day: people's words, no commands."""
    is_of_person = message.role == "user" and not message.is_of_bot
    return is_of_person and message.is_lasting and bool(message.content.strip()) and command_of(message) is None


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


def speakers_on(tx: Tx, place: tuple[str, str], on: Iterable[date]) -> set[str]:
    """Who spoke in a channel on these days."""
    space, conversation = place
    activities = (activities_on(tx, space, day, conversation=conversation) for day in on)
    return {activity.user for day_activities in activities for activity in day_activities}


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


def thread_links(tx: Tx, space: str, messages: Sequence[Message]) -> dict[str, ThreadLink]:
    """The threads of messages in groups, by the ids of the messages. With fewer than three people there are none."""
    turns: dict[str, list[int]] = {}
    for message in messages:
        turns.setdefault(message.conversation, []).append(message.turn)
    rows = [
        row
        for channel, channel_turns in turns.items()
        for start in range(0, len(channel_turns), TURNS_AT_ONCE)
        for row in tx.rows(
            TOPIC_TURNS,
            where={
                "space": space,
                "conversation": channel,
                "turn": tuple(channel_turns[start : start + TURNS_AT_ONCE]),
            },
        )
    ]
    return {
        row["message_id"]: ThreadLink((row["conversation"], row["topic"]), row["answers"], row["why"] == GIVEN)
        for row in rows
        if row["why"]
    }


def time_order(message: Message) -> tuple[datetime, str, int]:
    return message.time, message.conversation, message.turn


def activity_spans(activities: Iterable[Participation]) -> tuple[Span, ...]:
    """The turns of these activities."""
    return tuple(Span(single_copy(activity.conversation), activity.first, activity.last) for activity in activities)


@lru_cache(maxsize=512, typed=True)
def single_copy(value: Any) -> Any:
    """The value as it was first read: what many digests have in common (a channel, a day) is held once for all."""
    return value


def public_names(tx: Tx, space: str, members: Collection[str], others: bool = True) -> dict[str, str]:
    """Public names by id: of these members, and with `others` of everybody who has a display name."""
    names: dict[str, str] = {}
    rows = tx.rows(PEOPLE, where={"space": space, "kind": "display"} | ({} if others else {"user_id": tuple(members)}))
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


# -- the entries of a day

MEMBERS = 60  # in one model call: an answer has room for so many entries


@dataclass(frozen=True, slots=True)
class DayEntries:
    """The entries of a day by member, the members whose entry the built-in writer wrote, and why the model failed."""

    entries: Mapping[str, str]
    offline: frozenset[str]
    outage: str | None = None

    @classmethod
    def join(cls, parts: Iterable[DayEntries]) -> DayEntries:
        """The entries of several answers; of a member with several, the last."""
        entries = dict[str, str]()
        offline = set[str]()
        outage = None
        for part in parts:
            entries |= part.entries
            offline |= part.offline
            outage = outage or part.outage
        return cls(entries, frozenset(offline), outage)


class DayWriter:
    """Writes days, with the memory model or without."""

    def __init__(self, asking: TaskRunner, tokenizer: Tokenizer, calls: StoreCalls, tokens: int) -> None:
        self._asking = asking
        self._tokenizer = tokenizer
        self._calls = calls
        self._tokens = tokens

    async def write_day(
        self,
        day: date,
        zone: tzinfo,
        messages: Sequence[Message],
        names: Mapping[str, str],
        links: Mapping[str, ThreadLink],
        member: str | None = None,
    ) -> DayEntries:
        """The entries of all who spoke on a day, or of one `member`; `links` are those of messages in groups."""
        inputs = DayInputs(day, zone, tuple(messages), authors_in(messages, member), names, links=links)
        if not self._asking.has_model:
            return await self._write_entries(inputs)
        sizes = await self._calls.run(self._token_counts, messages, names, zone)
        times = [message.time for message in messages]
        parts = [
            await self._write_entries(replace(inputs, messages=part, members=authors_in(part, member)))
            for part in (tuple(messages[first:end]) for first, end in days.split_day(sizes, times, self._tokens))
        ]
        return await self._merge_parts(day, zone, messages, names, parts)

    def _token_counts(self, messages: Iterable[Message], names: Mapping[str, str], zone: tzinfo) -> list[int]:
        return [
            self._tokenizer.count(days.transcript([prompts.shorten_message(message)], names, zone))
            for message in messages
        ]

    async def _write_entries(self, inputs: DayInputs) -> DayEntries:
        answers = [
            await self._ask(replace(inputs, members=inputs.members[start : start + MEMBERS]))
            for start in range(0, len(inputs.members), MEMBERS)
        ]
        return DayEntries.join(
            DayEntries(answer.reply.entries, answer.reply.offline, answer.outage) for answer in answers
        )

    async def _ask(self, inputs: DayInputs) -> TaskResult[DayReply]:
        if self._asking.has_model:
            return await self._asking.ask(prompts.day_digest, inputs)
        # In a thread: the built-in writer reads every word.
        return TaskResult(await self._calls.run(prompts.day_digest.offline, inputs), "offline")

    async def _merge_parts(
        self,
        day: date,
        zone: tzinfo,
        messages: Sequence[Message],
        names: Mapping[str, str],
        parts: Sequence[DayEntries],
    ) -> DayEntries:
        """Merge the entries of several parts into one entry for each member."""
        if len(parts) == 1:
            return parts[0]
        first_messages = {message.author: message for message in reversed(messages)}
        notes = {
            user: [part.entries[user] for part in parts if user in part.entries]
            for user in dict.fromkeys(first_messages)
        }
        members_to_merge = [user for user, texts in notes.items() if len(texts) > 1]
        single_entries = {user: texts[0] for user, texts in notes.items() if len(texts) == 1}
        results = [replace(DayEntries.join(parts), entries=single_entries)]
        if members_to_merge:
            note_messages = tuple(
                replace(first_messages[user], content=text) for user in members_to_merge for text in notes[user]
            )
            results.append(
                await self._write_from_notes(
                    DayInputs(day, zone, note_messages, tuple(members_to_merge), names, notes=True)
                )
            )
        return DayEntries.join(results)

    async def _write_from_notes(self, inputs: DayInputs) -> DayEntries:
        """Make entries from notes, for as many members at a time as fit into one model call."""
        notes_by_member = [
            [message for message in inputs.messages if message.author == user] for user in inputs.members
        ]
        sizes = [sum(self._token_counts(notes, inputs.names, inputs.zone)) for notes in notes_by_member]
        times = [notes[0].time for notes in notes_by_member]
        results = list[DayEntries]()
        for first, end in days.split_day(sizes, times, self._tokens):
            messages = tuple(note for notes in notes_by_member[first:end] for note in notes)
            results.append(
                await self._write_entries(replace(inputs, messages=messages, members=inputs.members[first:end]))
            )
        return DayEntries.join(results)


def authors_in(messages: Iterable[Message], member: str | None = None) -> tuple[str, ...]:
    """The authors, or only that `member`, in the order of their first messages."""
    return tuple(dict.fromkeys(message.author for message in messages if member in (None, message.author)))


# -- digests


HEAD = ""  # in place of a member: the row with the inputs of the whole day
MANY = 300  # who spoke in which channel on a day: above it, digests of members are made one by one
OWN = " own"  # at the end of the variant of such a digest, which is made of the member's own channels,
OWN_HEAD = " own head"  # and of the row with its inputs
AT_ONCE = 4  # days that are made in parallel
MERGES = 8  # newest merges of a member that are kept
CACHED = (1_024, 3_600.0)  # merges held in memory: how many, and for how many seconds
OPEN = "open"  # the mark of a history of days that are not final


@dataclass(frozen=True, slots=True)
class MergedDigest:
    """Profile, today and history of a member as one text; and the digests it is made of."""

    text: str
    made_by: str = "offline"
    today: Digest | None = None
    history: Digest | None = None


@dataclass(frozen=True, slots=True)
class DigestRequest:
    """A request for digests: of which space, in which time zone, as of which day, and how long the caller waits."""

    space: str
    zone: tzinfo
    now: datetime
    today: date
    on: date
    patience: WaitLimit
    version: int

    @property
    def variant(self) -> str:
        """Tells digests of different time zones apart: their days begin and end at different times."""
        return str(self.zone)

    def hour(self, day: date) -> str:
        return days.hour_bucket(self.now, self.zone) if day == self.today else ""


@dataclass(frozen=True, slots=True)
class DayPart:
    """What the digests of a day are made of: all channels, or those of one `member`. Its rows in the table have the
    values of `rows`, and the one with their inputs those of `head`."""

    member: str | None
    activities: Sequence[Participation]
    rows: Mapping[str, Any]
    head: Mapping[str, Any]


def part_of_day(tx: Tx, request: DigestRequest, day: date, user: str | None) -> DayPart:
    """What the digests of a day are made of; those of one `user` of their own channels, if very many spoke."""
    space = request.space
    place = {"space": space, "day": day.isoformat()}
    rows = place | {"kind": "day", "variant": request.variant}
    if user is None or len(tx.rows(DAYS, limit=MANY + 1, where=place)) <= MANY:
        return DayPart(None, activities_on(tx, space, day), rows, rows | {"user_id": HEAD})
    channels = {activity.conversation for activity in activities_on(tx, space, day, user_id=user)}
    activities = [
        activity for channel in sorted(channels) for activity in activities_on(tx, space, day, conversation=channel)
    ]
    rows |= {"user_id": user, "variant": request.variant + OWN}
    return DayPart(user, activities, rows, rows | {"variant": request.variant + OWN_HEAD})


@dataclass(frozen=True, slots=True)
class StoredDay:
    """A day as it is stored, and whether its digests are up to date."""

    rows: Mapping[str, Mapping[str, Any]]
    activities: Sequence[Participation]
    is_current: bool
    member: str | None = None  # whose channels alone these digests are made of


class Digests:
    """The digests of a memory."""

    def __init__(
        self,
        asking: TaskRunner,
        diary: DayWriter,
        once: SingleFlight,
        calls: StoreCalls,
        clock: Clock,
        telemetry: Telemetry,
        zone: str,
        caught_up: Callable[[str], Awaitable[None]],
    ) -> None:
        self._asking = asking
        self._diary = diary
        self._once = once
        self._calls = calls
        self._clock = clock
        self._telemetry = telemetry
        self._zone = zone
        self._caught_up = caught_up
        self._side_by_side = asyncio.Semaphore(AT_ONCE)
        self._cache: TTLCache[tuple[str, ...], tuple[tuple[Any, ...], MergedDigest]] = TTLCache(*CACHED)

    async def close(self) -> None:
        await self._once.close()

    def clear(self) -> None:
        """Empty the cache: it may contain what was erased."""
        self._cache.clear()

    async def prepare_request(self, space: str, seconds: float, day: date | None = None) -> DigestRequest:
        """A request as of today or another `day`. Waits until all messages of the space so far are noted."""
        await self._caught_up(space)
        row = await self._calls.read(lambda tx: space_row(tx, space))
        zone = days.parse_time_zone(row["time_zone"] or self._zone)
        now = self._clock.now()
        today = days.day_of(now, zone)
        return DigestRequest(space, zone, now, today, today if day is None else day, WaitLimit(seconds), row["version"])

    # -- a day

    async def day(self, request: DigestRequest, day: date, user: str | None = None) -> dict[str, Digest]:
        """The digests of a day by member id, or only that of one `user`. If they cannot be made now, those that are
        stored."""
        stored_day: StoredDay = await self._calls.read(lambda tx: self._load_day(tx, request, day, user))
        return (await self._day_digests(request, day, user, stored_day))[0]

    async def _day_digests(
        self, request: DigestRequest, day: date, user: str | None, stored_day: StoredDay
    ) -> tuple[dict[str, Digest], bool]:
        """As `day`, of a day as it is stored; and whether the result is up to date."""
        if stored_day.activities and not stored_day.is_current:
            flight = Flight(
                request.space,
                f"day {day.isoformat()} {request.variant}" + ("" if stored_day.member is None else f" {user}"),
                lambda tx: self._load_current_day(tx, request, day, stored_day.member),
                lambda: self._make_day(request, day, stored_day.member),
            )
            new_day = await self._once.get(flight, request.patience)
            # If it is too early to try again, another caller may have stored a stand-in since this one looked.
            if new_day is None:
                new_day = await self._calls.read(lambda tx: self._load_day(tx, request, day, user))
            stored_day = new_day
        members = [id for id in stored_day.rows if id != HEAD and user in (None, id)]
        day_digests = {id: to_digest(stored_day.rows[id], spans_of(stored_day, id)) for id in members}
        return day_digests, stored_day.is_current or not stored_day.activities

    async def channel(self, request: DigestRequest, conversation: str, *, week: bool = False) -> Digest | None:
        """What a channel's day, or its six days before, was about; None if nobody spoke. It is made of what was said
        each time, and not stored."""
        dates = days.history_days(request.on) if week else (request.on,)

        def load_inputs(tx: Tx) -> list[tuple[DayInputs, tuple[Span, ...]]]:
            results = []
            for day in dates:
                activities = activities_on(tx, request.space, day, conversation=conversation)
                messages = messages_on(tx, request.space, day, activities, request.zone)
                members = authors_in(messages)
                names = public_names(tx, request.space, members)
                links = thread_links(tx, request.space, messages)
                inputs = DayInputs(day, request.zone, tuple(messages), members, names, links=links)
                results += [(inputs, activity_spans(activities))] if messages else []
            return results

        day_inputs = await self._calls.read(load_inputs)
        if not day_inputs:
            return None
        texts = [await self._calls.run(prompts.channel_day, inputs) for inputs, _ in day_inputs]
        text = texts[0] if len(texts) == 1 else merge_told_days(texts, prompts.CHANNEL_DAY)
        spans = tuple(span for _, day_spans in day_inputs for span in day_spans)
        kind: DigestKind = "week" if week else "day"
        return Digest(request.space, "", kind, dates[0], dates[-1], text, "offline", self._clock.now(), False, spans)

    def _load_day(self, tx: Tx, request: DigestRequest, day: date, user: str | None = None) -> StoredDay:
        part = part_of_day(tx, request, day, user)
        activities = part.activities
        heads = tx.rows(DIGESTS, where=part.head)
        of_user = {} if user is None else {"user_id": user}
        rows = {row["user_id"]: row for row in tx.rows(DIGESTS, where={**part.rows, **of_user})}
        if not heads:
            return StoredDay(rows, activities, False, part.member)
        head = heads[0]
        # If there are fewer messages now, some have expired (an erasure deletes the digest, too): the stored digest
        # says more than a new one could.
        has_fewer = sum(activity.messages for activity in activities) < int(head["text"])
        inputs = head["inputs"] if has_fewer else days.fingerprint(activities)
        is_current = days.is_current(head, inputs=inputs, hour=request.hour(day), asking=self._asking.has_model)
        return StoredDay(rows, activities, is_current, part.member)

    def _load_current_day(self, tx: Tx, request: DigestRequest, day: date, member: str | None) -> StoredDay | None:
        stored_day = self._load_day(tx, request, day, member)
        return stored_day if stored_day.is_current or not stored_day.activities else None

    async def _make_day(self, request: DigestRequest, day: date, member: str | None) -> FlightResult[StoredDay]:
        def load_inputs(tx: Tx) -> tuple[Any, ...]:
            part = part_of_day(tx, request, day, member)
            members = tuple(sorted({activity.user for activity in part.activities}))
            messages = messages_on(tx, request.space, day, part.activities, request.zone)
            names = public_names(tx, request.space, members, others=part.member is None)
            links = thread_links(tx, request.space, messages)
            return part, messages, names, links, frozenset(erasures_of(tx, request.space))

        async with self._side_by_side:
            part, messages, names, links, erasures = await self._calls.read(load_inputs)
            day_entries = await self._diary.write_day(day, request.zone, messages, names, links, part.member)
        shared_columns = {"made_at": self._clock.now(), "bucket": request.hour(day)}
        shared_columns |= {"inputs": days.fingerprint(part.activities)}
        total = sum(activity.messages for activity in part.activities)

        def save(tx: Tx) -> StoredDay | None:
            if frozenset(erasures_of(tx, request.space)) != erasures:
                return None
            tx.lock(LOCK, request.space)
            old_rows = {row["user_id"]: row for row in tx.rows(DIGESTS, where=part.rows)}
            head, *rows = self._day_rows(day_entries, old_rows, total)
            tx.remove(DIGESTS, part.rows)
            new_rows = [shared_columns | row | part.rows for row in rows]
            tx.put(DIGESTS, [shared_columns | head | part.head, *new_rows])
            places = {activity.user: activity.conversation for activity in reversed(part.activities)}
            rows_with_new_text = [
                row for row in new_rows if old_rows.get(row["user_id"], {}).get("text") != row["text"]
            ]
            note_digests(tx, request.space, [(row, places.get(row["user_id"], "")) for row in rows_with_new_text])
            bump_version(tx, request.space)
            return self._load_day(tx, request, day, member)

        return FlightResult(save, day_entries.outage)

    def _day_rows(
        self, day_entries: DayEntries, old_rows: Mapping[str, Mapping[str, Any]], total: int
    ) -> list[dict[str, Any]]:
        """One row for each member, and one for the day with the number of its messages; that one is pending if the
        model was away for any of them. Meanwhile its text of an hour ago is better than the built-in writer's."""
        is_pending = bool(day_entries.outage) or not self._asking.has_model

        def member_row(user: str, text: str) -> dict[str, Any]:
            old_row = old_rows.get(user)
            is_offline = user in day_entries.offline
            if is_offline and is_pending and old_row is not None and old_row["made_by"] == "model":
                return {"user_id": user, "text": old_row["text"], "made_by": "model", "pending": 1}
            made_by = "offline" if is_offline else "model"
            return {"user_id": user, "text": text, "made_by": made_by, "pending": int(is_pending and is_offline)}

        head = {"user_id": HEAD, "text": str(total), "made_by": "model", "pending": int(is_pending)}
        return [head, *(member_row(user, text) for user, text in sorted(day_entries.entries.items()))]

    # -- a history

    async def history(self, request: DigestRequest, user: str) -> Digest | None:
        """How a member has been in the days before; None if they said nothing. Made again when a new day begins."""
        return (await self._history(request, user))[0]

    async def _history(self, request: DigestRequest, user: str) -> tuple[Digest | None, bool]:
        """As `history`; and whether the result is up to date."""

        def load_week(tx: Tx) -> tuple[dict[date, StoredDay], tuple[Span, ...], Mapping[str, Any] | None]:
            activities_by_day = {
                day: activities_on(tx, request.space, day, user_id=user) for day in days.history_days(request.on)
            }
            spans = activity_spans(activity for activities in activities_by_day.values() for activity in activities)
            row = self._load_week(tx, request, user, None)
            active_days = [day for day, activities in activities_by_day.items() if activities and row is None]
            return {day: self._load_day(tx, request, day, user) for day in active_days}, spans, row

        active_days, spans, row = await self._calls.read(load_week)
        if row is not None or not active_days:
            return (to_digest(row, spans) if row else None), True
        entries = await asyncio.gather(
            *(self._day_digests(request, day, user, stored_day) for day, stored_day in active_days.items())
        )
        day_digests = [by_user[user] for by_user, _ in entries if user in by_user]
        is_complete = len(day_digests) == len(active_days)
        if is_complete and len(day_digests) == 1:
            return week_without_model(day_digests, days.history_days(request.on), spans), entries[0][1]
        row = await self._get_week(request, user, day_digests) if is_complete else None
        if row is not None:
            return to_digest(row, spans), True
        # It could not be made in time: the last stored one, or one from the days that are there.
        row = await self._calls.read(lambda tx: self._load_last_week(tx, request, user))
        return (
            to_digest(row, spans)
            if row
            else week_without_model(day_digests, days.history_days(request.on), spans)
            if day_digests
            else None
        ), False

    async def _get_week(
        self, request: DigestRequest, user: str, day_digests: Sequence[Digest]
    ) -> Mapping[str, Any] | None:
        inputs = days.content_hash(*(f"{digest.day} {digest.text}" for digest in day_digests))
        flight = Flight(
            request.space,
            f"week {last_history_day(request)} {request.variant} {user}",
            lambda tx: self._load_week(tx, request, user, inputs),
            lambda: self._make_week(request, user, day_digests, inputs),
        )
        return await self._once.get(flight, request.patience)

    def _load_week(self, tx: Tx, request: DigestRequest, user: str, inputs: str | None) -> Mapping[str, Any] | None:
        """The stored history, if valid. One made from days that were not final is valid while those are unchanged."""
        rows = tx.rows(DIGESTS, where=week_key(request, user))
        if not rows or (rows[0]["pending"] and self._asking.has_model):
            return None
        return rows[0] if rows[0]["bucket"] != OPEN or rows[0]["inputs"] == inputs else None

    def _load_last_week(self, tx: Tx, request: DigestRequest, user: str) -> Mapping[str, Any] | None:
        """The newest stored history: of today, or of one of the days before that a history covers."""
        for day in (last_history_day(request), *(day.isoformat() for day in reversed(days.history_days(request.on)))):
            rows = tx.rows(DIGESTS, where=week_key(request, user) | {"day": day})
            if rows:
                return rows[0]
        return None

    async def _make_week(
        self, request: DigestRequest, user: str, day_digests: Sequence[Digest], inputs: str
    ) -> FlightResult[Mapping[str, Any]]:
        def load_name(tx: Tx) -> tuple[str, frozenset[str]]:
            return public_names(tx, request.space, [user], others=False)[user], frozenset(
                erasures_of(tx, request.space)
            )

        name, erasures = await self._calls.read(load_name)
        task_inputs = WeekInputs(name, day_texts(day_digests))
        answer = await self._asking.ask(prompts.week_history, task_inputs)
        is_pending = bool(answer.outage) or not self._asking.has_model
        row = week_key(request, user) | {
            "text": answer.reply.text,
            "made_by": answer.made_by,
            "made_at": self._clock.now(),
            "pending": int(is_pending),
            "bucket": OPEN if any(digest.pending for digest in day_digests) else "",
            "inputs": inputs,
        }
        sources = [span.conversation for digest in day_digests for span in digest.sources]

        def save(tx: Tx) -> Mapping[str, Any] | None:
            stored_row = put_digest(tx, row, erasures)
            if stored_row is not None:
                note_digests(tx, request.space, [(row, min(sources, default=""))])
            return stored_row

        return FlightResult(save, answer.outage)

    # -- all of it as one text

    async def merge_digests(
        self, request: DigestRequest, user: str, name: str, profile: str, viewer: Viewer | None = None
    ) -> MergedDigest:
        """Profile, today and history as one text; if something fails, the parts that are there. With a `viewer`, only
        digests of channels the viewer hears."""
        channel = (viewer.channel or "") if viewer is not None else ""
        key = (request.space, user, channel, days.content_hash(name, profile))  # not the text: it is in the result
        hour = request.hour(request.today)
        validity = single_copy((request.version, request.today, hour, request.variant, self._asking.has_model))
        cache_entry = self._cache.get(key)
        is_hit = cache_entry is not None and cache_entry[0] == validity
        self._telemetry.count("cache", kind="digests", outcome="hit" if is_hit else "miss")
        if cache_entry is not None and is_hit:
            return cache_entry[1]
        result, is_final = await self._build_merge(request, user, name, profile, viewer)
        if is_final:
            self._cache[key] = (validity, result)
        return result

    async def _build_merge(
        self, request: DigestRequest, user: str, name: str, profile: str, viewer: Viewer | None
    ) -> tuple[MergedDigest, bool]:
        def load_today(tx: Tx) -> StoredDay | None:
            has_spoken = activities_on(tx, request.space, request.today, user_id=user)
            return self._load_day(tx, request, request.today, user) if has_spoken else None

        stored_day = await self._calls.read(load_today)
        entries, is_today_fresh = (
            ({}, True) if stored_day is None else await self._day_digests(request, request.today, user, stored_day)
        )
        history, is_history_fresh = await self._history(request, user)
        history = visible_digest(viewer, history)
        today = visible_digest(viewer, entries.get(user))
        forget_texts = await self._calls.read(lambda tx: texts_to_forget(tx, request.space, user))
        inputs = MergeInputs(
            name,
            profile,
            text_without_forgotten(today, name, forget_texts) if today else "",
            text_without_forgotten(history, name, forget_texts),
        )
        parts = [part for part in (today, history) if part is not None]
        asking = self._asking.has_model
        is_final = is_today_fresh and is_history_fresh and not any(part.pending and asking for part in parts)
        if not inputs.several:
            return MergedDigest(prompts.context_merge.offline(inputs).text, "offline", today, history), is_final
        row = await self._calls.read(lambda tx: self._load_merge(tx, request, user, inputs))
        if row is None:
            flight = Flight(
                request.space,
                f"merge {inputs.hash} {user}",
                lambda tx: self._load_merge(tx, request, user, inputs),
                lambda: self._make_merge(request, user, inputs),
            )
            row = await self._once.get(flight, request.patience)
        if row is None:
            self._telemetry.count("fallback", kind=prompts.context_merge.name, outcome="late")
            return MergedDigest(prompts.context_merge.offline(inputs).text, "offline", today, history), False
        merged_digest = MergedDigest(row["text"], single_copy(row["made_by"]), today, history)
        return merged_digest, is_final and not (row["pending"] and asking)

    def _load_merge(self, tx: Tx, request: DigestRequest, user: str, inputs: MergeInputs) -> Mapping[str, Any] | None:
        rows = tx.rows(DIGESTS, where=merge_key(request, user) | {"variant": inputs.hash})
        return rows[0] if rows and not (rows[0]["pending"] and self._asking.has_model) else None

    async def _make_merge(
        self, request: DigestRequest, user: str, inputs: MergeInputs
    ) -> FlightResult[Mapping[str, Any]]:
        erasures = await self._calls.read(lambda tx: frozenset(erasures_of(tx, request.space)))
        answer = await self._asking.ask(prompts.context_merge, inputs)
        row = merge_key(request, user) | {
            "variant": inputs.hash,
            "text": answer.reply.text,
            "made_by": answer.made_by,
            "made_at": self._clock.now(),
            "pending": int(bool(answer.outage) or not self._asking.has_model),
            "bucket": "",
            "inputs": inputs.hash,
        }

        def save(tx: Tx) -> Mapping[str, Any] | None:
            stored_row = put_digest(tx, row, erasures)
            merge_rows = sorted(
                tx.rows(DIGESTS, where=merge_key(request, user)),
                key=lambda merge_row: merge_row["made_at"],
                reverse=True,
            )
            for old_row in merge_rows[MERGES:]:
                tx.remove(DIGESTS, merge_key(request, user) | {"variant": old_row["variant"]})
            return stored_row

        return FlightResult(save, answer.outage)


def put_digest(tx: Tx, row: Mapping[str, Any], erasures: frozenset[str]) -> Mapping[str, Any] | None:
    """Store a digest, unless something was erased while it was made: the digest may mention it."""
    if frozenset(erasures_of(tx, row["space"])) != erasures:
        return None
    tx.lock(LOCK, row["space"])
    tx.put(DIGESTS, [row])
    bump_version(tx, row["space"])
    return row


def note_digests(tx: Tx, space: str, rows: Iterable[tuple[Mapping[str, Any], str]]) -> None:
    """Note for a receiver that digests were written, each with a conversation that it is made of."""
    events = [
        Event(
            "digest.written",
            conversation,
            json.dumps([row["kind"], row["day"], row["variant"]]),
            row["made_at"],
            row["user_id"],
        )
        for row, conversation in rows
    ]
    note_events(tx, space, events)


def last_history_day(request: DigestRequest) -> str:
    """The last day of a history: the day before the request's day."""
    return (request.on - timedelta(days=1)).isoformat()


def week_key(request: DigestRequest, user: str) -> dict[str, Any]:
    return {
        "space": request.space,
        "kind": "week",
        "day": last_history_day(request),
        "user_id": user,
        "variant": request.variant,
    }


def merge_key(request: DigestRequest, user: str) -> dict[str, Any]:
    return {"space": request.space, "kind": "merge", "day": "", "user_id": user}


def to_digest(row: Mapping[str, Any], spans: tuple[Span, ...]) -> Digest:
    end = date.fromisoformat(row["day"])
    begin = end if row["kind"] == "day" else days.history_days(end + timedelta(days=1))[0]
    space, kind, made_by, first, last = map(single_copy, (row["space"], row["kind"], row["made_by"], begin, end))
    text_fields = (row["text"], made_by, row["made_at"], bool(row["pending"]))
    return Digest(space, row["user_id"], kind, first, last, *text_fields, spans)


def week_without_model(day_digests: Sequence[Digest], dates: Sequence[date], spans: tuple[Span, ...]) -> Digest:
    """A history without a model: of one day, that day's digest; of several, the built-in writer's stand-in."""
    newest = day_digests[-1]
    is_single = len(day_digests) == 1
    text = newest.text if is_single else prompts.week_history.offline(WeekInputs("", day_texts(day_digests))).text
    text_fields = (text, newest.made_by if is_single else "offline", newest.made_at, newest.pending or not is_single)
    return Digest(newest.space, newest.user, "week", dates[0], dates[-1], *text_fields, spans)


def day_texts(day_digests: Sequence[Digest]) -> tuple[tuple[date, str], ...]:
    return tuple((digest.day, digest.text) for digest in day_digests)


def spans_of(day: StoredDay, user: str) -> tuple[Span, ...]:
    return activity_spans(activity for activity in day.activities if activity.user == user)


def visible_digest(viewer: Viewer | None, digest: Digest | None) -> Digest | None:
    """The digest, if the viewer hears every channel it is made from; else None."""
    if digest is None or viewer is None:
        return digest
    return digest if all(viewer.hears(span.conversation) for span in digest.sources) else None


def texts_to_forget(tx: Tx, space: str, person: str) -> list[str]:
    """The texts that a person asked to be forgotten about themselves; requests of others do not count."""
    requests = statements_of(tx, space, person, kind=FORGET)
    return [request.text for request in requests if not is_claim(request)]


def text_without_forgotten(digest: Digest | None, name: str, forget_texts: Sequence[str]) -> str:
    """A digest's text without the sentences that match a request to forget."""
    if digest is None or not forget_texts:
        return "" if digest is None else digest.text
    units = units_of(digest.text)
    places = [(number, words) for number, unit in enumerate(units) for words in (unit, *quoted_words(unit))]
    forgotten_units = {
        places[number - 1][0]
        for forget_text in forget_texts
        for number in matching_statements(name, [words for _, words in places], forget_text)
    }
    kept = [unit for number, unit in enumerate(units) if number not in forgotten_units]
    return ("\n" if is_told_by_thread(digest.text) else " ").join(kept)


def recent_speakers(tx: Tx, space: str, day: date) -> list[str]:
    """Who spoke in the days before a day."""
    return sorted(
        {activity.user for earlier_day in days.history_days(day) for activity in activities_on(tx, space, earlier_day)}
    )
