"""Digests: what a day in a space was for its members, how each has been lately, and all of it as one text.

Made when somebody asks, stored, and not made again: a day that is over once, today once in an hour, a history once in a
day, a merge once for the same inputs. A late message of a past day gives that day other inputs, and it is made anew. If
a model is away the built-in writer stands in, and what it wrote is replaced later; what cannot be made in time is given
as it was last. Nothing of that ever touches the profile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from cachetools import TTLCache

from recollect.engine.tables.people import FORGET, statements_of
from recollect.engine.views import digests
from recollect.engine.views.day_writer import Diary, Written
from recollect.engine.views.digests import DIGESTS
from recollect.engine.work.ask import Asking
from recollect.engine.work.single_flight import Key, Made, Once, Patience
from recollect.language.sentences import split
from recollect.model import Digest, Span
from recollect.ports import Clock, Telemetry, Tx
from recollect.rules.access import Viewer, is_claim
from recollect.rules.days import Spoke, before, bucket, content_hash, day_of, fingerprint, holds, zone_named
from recollect.rules.people.forgetting import matching
from recollect.tasks import context_merge, week_history

HEAD = ""  # in place of a member: the row that says what a whole day was made of
AT_ONCE = 4  # days that are made side by side
MERGES = 8  # merges of a member that are kept: the newest
CACHED = (1_024, 3_600.0)  # profiles held in memory: at most so many, for so many seconds
OPEN = "open"  # the mark of a history of days that are not final


@dataclass(frozen=True, slots=True)
class Merged:
    """Profile, today and history of a member as one text; and what it is made of."""

    text: str
    made_by: str = "offline"
    today: Digest | None = None
    history: Digest | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """Which space is asked about, by which clock, as of which day, and how long there is."""

    space: str
    zone: tzinfo
    now: datetime
    today: date
    on: date
    patience: Patience
    version: int

    @property
    def variant(self) -> str:
        """Digests of other days: those of another zone begin and end at other times."""
        return str(self.zone)

    def hour(self, day: date) -> str:
        return bucket(self.now, self.zone) if day == self.today else ""


@dataclass(frozen=True, slots=True)
class Day:
    """A day as it is stored, and whether it is as good as new."""

    rows: Mapping[str, Mapping[str, Any]]
    spoke: Sequence[Spoke]
    good: bool


class Digests:
    """The digests of a memory."""

    def __init__(
        self,
        asking: Asking,
        diary: Diary,
        once: Once,
        read: Callable[..., Awaitable[Any]],
        clock: Clock,
        telemetry: Telemetry,
        zone: str,
        caught_up: Callable[[str], Awaitable[None]],
    ) -> None:
        self._asking, self._diary, self._once, self._read = asking, diary, once, read
        self._clock, self._telemetry, self._zone, self._caught_up = clock, telemetry, zone, caught_up
        self._side_by_side = asyncio.Semaphore(AT_ONCE)
        self._cache: TTLCache[tuple[str, ...], tuple[tuple[Any, ...], Merged]] = TTLCache(*CACHED)

    async def close(self) -> None:
        await self._once.close()

    def clear(self) -> None:
        """Hold nothing in memory: what was erased is not to stay anywhere."""
        self._cache.clear()

    async def asked(self, space: str, seconds: float, day: date | None = None) -> Asked:
        """A question about a space, today or as of another day; what was said until now has been noted."""
        await self._caught_up(space)
        row = await self._read(lambda tx: digests.space_row(tx, space))
        zone, now = zone_named(row["time_zone"] or self._zone), self._clock.now()
        today = day_of(now, zone)
        return Asked(space, zone, now, today, today if day is None else day, Patience(seconds), row["version"])

    # -- a day

    async def day(self, at: Asked, day: date, user: str | None = None) -> dict[str, Digest]:
        """What a day was for each of its members, by id, or for one `user`. Of a day that cannot be made now, what is
        there."""
        return (await self._entries(at, day, user))[0]

    async def _entries(self, at: Asked, day: date, user: str | None = None) -> tuple[dict[str, Digest], bool]:
        """The same; and whether it is as good as new."""
        stored: Day = await self._read(lambda tx: self._stored(tx, at, day, user))
        if stored.spoke and not stored.good:
            key = Key(at.space, f"day {day.isoformat()} {at.variant}")
            made = await self._once.get(
                key, lambda tx: self._found(tx, at, day), lambda: self._make(at, day), at.patience
            )
            stored = stored if made is None else made
        wanted = [id for id in stored.rows if id != HEAD and user in (None, id)]
        return {id: digest(stored.rows[id], spans_of(stored, id)) for id in wanted}, stored.good or not stored.spoke

    def _stored(self, tx: Tx, at: Asked, day: date, user: str | None = None) -> Day:
        where = {"space": at.space, "kind": "day", "day": day.isoformat(), "variant": at.variant}
        which = [where] if user is None else [where | {"user_id": id} for id in (HEAD, user)]
        rows = {row["user_id"]: row for each in which for row in tx.rows(DIGESTS, where=each)}
        spoke, head = digests.spoken(tx, at.space, day), rows.get(HEAD)
        if head is None:
            return Day(rows, spoke, False)
        # With fewer messages than it was made of, some are over (an erasure takes the digest, too): it says more than
        # another could.
        less = sum(one.messages for one in spoke) < int(head["text"])
        inputs = head["inputs"] if less else fingerprint(spoke)
        return Day(rows, spoke, holds(head, inputs=inputs, hour=at.hour(day), asking=self._asking.possible))

    def _found(self, tx: Tx, at: Asked, day: date) -> Day | None:
        stored = self._stored(tx, at, day)
        return stored if stored.good or not stored.spoke else None

    async def _make(self, at: Asked, day: date) -> Made[Day]:
        def look(tx: Tx) -> tuple[Any, ...]:
            spoke = digests.spoken(tx, at.space, day)
            members = tuple(sorted({one.user for one in spoke}))
            said = digests.said_on(tx, at.space, day, spoke, at.zone)
            return spoke, said, digests.names_of(tx, at.space, members), frozenset(tx.erasures())

        async with self._side_by_side:
            spoke, said, names, erased = await self._read(look)
            written = await self._diary.written(day, at.zone, said, names)
        hour, inputs = at.hour(day), fingerprint(spoke)

        def save(tx: Tx) -> Day | None:
            if frozenset(tx.erasures()) != erased:
                return None
            where = {"space": at.space, "kind": "day", "day": day.isoformat(), "variant": at.variant}
            tx.lock(digests.LOCK, at.space)
            before = {row["user_id"]: row for row in tx.rows(DIGESTS, where=where)}
            tx.remove(DIGESTS, where)
            own = {"made_at": self._clock.now(), "bucket": hour, "inputs": inputs}
            total = sum(one.messages for one in spoke)
            tx.put(DIGESTS, [where | own | row for row in self._day_rows(written, before, total)])
            digests.touch(tx, at.space)
            return self._stored(tx, at, day)

        return Made(save, written.outage)

    def _day_rows(self, written: Written, before: Mapping[str, Mapping[str, Any]], total: int) -> list[dict[str, Any]]:
        """One row a member, and one for the day with the number of its messages, which waits for a model as a whole.
        Until it answers, what it wrote an hour ago of a member is better than what the built-in writer does."""
        waits = bool(written.outage) or not self._asking.possible

        def row(user: str, text: str) -> dict[str, Any]:
            old, alone = before.get(user), user in written.offline
            if alone and waits and old is not None and old["made_by"] == "model":
                return {"user_id": user, "text": old["text"], "made_by": "model", "pending": 1}
            made_by = "offline" if alone else "model"
            return {"user_id": user, "text": text, "made_by": made_by, "pending": int(waits and alone)}

        head = {"user_id": HEAD, "text": str(total), "made_by": "model", "pending": int(waits)}
        return [head, *(row(user, text) for user, text in sorted(written.entries.items()))]

    # -- a history

    async def history(self, at: Asked, user: str) -> Digest | None:
        """How a member has been in the six days before; None if they said nothing. Renewed when the day turns."""
        return (await self._history(at, user))[0]

    async def _history(self, at: Asked, user: str) -> tuple[Digest | None, bool]:
        """The same; and whether it is as good as new."""

        def look(tx: Tx) -> tuple[list[date], tuple[Span, ...], Mapping[str, Any] | None]:
            spoke = {day: digests.spoken(tx, at.space, day, user_id=user) for day in before(at.on)}
            spans = digests.spans(one for own in spoke.values() for one in own)
            return [day for day, own in spoke.items() if own], spans, self._week(tx, at, user, None)

        active, spans, row = await self._read(look)
        if row is not None or not active:
            return (digest(row, spans) if row else None), True
        entries = await asyncio.gather(*(self._entries(at, day, user) for day in active))
        told = [one[user] for one, _ in entries if user in one]
        whole = len(told) == len(active)
        if whole and len(told) == 1:
            return week(told, before(at.on), spans), entries[0][1]
        row = await self._told(at, user, told) if whole else None
        if row is not None:
            return digest(row, spans), True
        # It could not be made in time: what there was last, or what is there already.
        row = await self._read(lambda tx: self._last_week(tx, at, user))
        return (digest(row, spans) if row else week(told, before(at.on), spans) if told else None), False

    async def _told(self, at: Asked, user: str, told: Sequence[Digest]) -> Mapping[str, Any] | None:
        inputs = content_hash(*(f"{one.day} {one.text}" for one in told))
        key = Key(at.space, f"week {last(at)} {at.variant} {user}")
        return await self._once.get(
            key,
            lambda tx: self._week(tx, at, user, inputs),
            lambda: self._make_week(at, user, told, inputs),
            at.patience,
        )

    def _week(self, tx: Tx, at: Asked, user: str, inputs: str | None) -> Mapping[str, Any] | None:
        """The history that is stored, if it stands. One of days that were not final stands while they are the same."""
        rows = tx.rows(DIGESTS, where=week_key(at, user))
        if not rows or (rows[0]["pending"] and self._asking.possible):
            return None
        return rows[0] if rows[0]["bucket"] != OPEN or rows[0]["inputs"] == inputs else None

    def _last_week(self, tx: Tx, at: Asked, user: str) -> Mapping[str, Any] | None:
        """The last history there is, if it is not too old to be true: the one of today, or of a day before."""
        for day in (last(at), *(day.isoformat() for day in reversed(before(at.on)))):
            rows = tx.rows(DIGESTS, where=week_key(at, user) | {"day": day})
            if rows:
                return rows[0]
        return None

    async def _make_week(self, at: Asked, user: str, told: Sequence[Digest], inputs: str) -> Made[Mapping[str, Any]]:
        def look(tx: Tx) -> tuple[str, frozenset[str]]:
            return digests.names_of(tx, at.space, [user])[user], frozenset(tx.erasures())

        name, erased = await self._read(look)
        asked = week_history.Inputs(name, days_of(told))
        answer = await self._asking.ask(week_history, asked)
        waits = bool(answer.outage) or not self._asking.possible
        row = week_key(at, user) | {
            "text": answer.reply.text,
            "made_by": answer.made_by,
            "made_at": self._clock.now(),
            "pending": int(waits),
            "bucket": OPEN if any(one.pending for one in told) else "",
            "inputs": inputs,
        }
        return Made(lambda tx: put(tx, row, erased), answer.outage)

    # -- all of it as one text

    async def merged(self, at: Asked, user: str, name: str, profile: str, viewer: Viewer | None = None) -> Merged:
        """Profile, today and history as one text. Whatever fails, what is known is in it. With a `viewer`, only digests
        of what was said where they hear it."""
        hold = (profile, name, at.today, at.hour(at.today), at.variant, self._asking.possible)
        place = (viewer.channel or "") if viewer is not None else ""
        key, valid = (at.space, user, place, content_hash(name, profile)), (at.version, *hold)
        cached = self._cache.get(key)
        hit = cached is not None and cached[0] == valid
        self._telemetry.count("cache", kind="digests", outcome="hit" if hit else "miss")
        if cached is not None and hit:
            return cached[1]
        made, final = await self._merge(at, user, name, profile, viewer)
        if final:
            self._cache[key] = (valid, made)
        return made

    async def _merge(self, at: Asked, user: str, name: str, profile: str, viewer: Viewer | None) -> tuple[Merged, bool]:
        spoke = await self._read(lambda tx: digests.spoken(tx, at.space, at.today, user_id=user))
        entries, fresh = await self._entries(at, at.today, user) if spoke else ({}, True)
        history, renewed = await self._history(at, user)
        history, today = heard_by(viewer, history), heard_by(viewer, entries.get(user))
        wanted = await self._read(lambda tx: forgotten_by(tx, at.space, user))
        inputs = context_merge.Inputs(
            name, profile, without(today, name, wanted) if today else "", without(history, name, wanted)
        )
        parts = [one for one in (today, history) if one is not None]
        asking = self._asking.possible
        final = fresh and renewed and not any(one.pending and asking for one in parts)
        if not inputs.several:
            return Merged(context_merge.offline(inputs).text, "offline", today, history), final
        row = await self._read(lambda tx: self._known(tx, at, user, inputs)) or await self._once.get(
            Key(at.space, f"merge {inputs.hash} {user}"),
            lambda tx: self._known(tx, at, user, inputs),
            lambda: self._make_merge(at, user, inputs),
            at.patience,
        )
        if row is None:
            self._telemetry.count("fallback", kind=context_merge.name, outcome="late")
            return Merged(context_merge.offline(inputs).text, "offline", today, history), False
        return Merged(row["text"], row["made_by"], today, history), final and not (row["pending"] and asking)

    def _known(self, tx: Tx, at: Asked, user: str, inputs: context_merge.Inputs) -> Mapping[str, Any] | None:
        rows = tx.rows(DIGESTS, where=merge_key(at, user) | {"variant": inputs.hash})
        return rows[0] if rows and not (rows[0]["pending"] and self._asking.possible) else None

    async def _make_merge(self, at: Asked, user: str, inputs: context_merge.Inputs) -> Made[Mapping[str, Any]]:
        erased = await self._read(lambda tx: frozenset(tx.erasures()))
        answer = await self._asking.ask(context_merge, inputs)
        row = merge_key(at, user) | {
            "variant": inputs.hash,
            "text": answer.reply.text,
            "made_by": answer.made_by,
            "made_at": self._clock.now(),
            "pending": int(bool(answer.outage) or not self._asking.possible),
            "bucket": "",
            "inputs": inputs.hash,
        }

        def save(tx: Tx) -> Mapping[str, Any] | None:
            kept = put(tx, row, erased)
            others = sorted(tx.rows(DIGESTS, where=merge_key(at, user)), key=lambda one: one["made_at"], reverse=True)
            for old in others[MERGES:]:
                tx.remove(DIGESTS, merge_key(at, user) | {"variant": old["variant"]})
            return kept

        return Made(save, answer.outage)


def put(tx: Tx, row: Mapping[str, Any], erased: frozenset[str]) -> Mapping[str, Any] | None:
    """Store a digest, unless something was erased while it was made: it may say what is gone."""
    if frozenset(tx.erasures()) != erased:
        return None
    tx.lock(digests.LOCK, row["space"])
    tx.put(DIGESTS, [row])
    digests.touch(tx, row["space"])
    return row


def last(at: Asked) -> str:
    """The day on which a history ends: the one before."""
    return (at.on - timedelta(days=1)).isoformat()


def week_key(at: Asked, user: str) -> dict[str, Any]:
    return {"space": at.space, "kind": "week", "day": last(at), "user_id": user, "variant": at.variant}


def merge_key(at: Asked, user: str) -> dict[str, Any]:
    return {"space": at.space, "kind": "merge", "day": "", "user_id": user}


def digest(row: Mapping[str, Any], spans: tuple[Span, ...]) -> Digest:
    end = date.fromisoformat(row["day"])
    begin = end if row["kind"] == "day" else before(end + timedelta(days=1))[0]
    made = (row["text"], row["made_by"], row["made_at"], bool(row["pending"]))
    return Digest(row["space"], row["user_id"], row["kind"], begin, end, *made, spans)


def week(told: Sequence[Digest], dates: Sequence[date], spans: tuple[Span, ...]) -> Digest:
    """A history without asking anybody: of one day what that day was, of more what stands in until there is one."""
    newest, alone = told[-1], len(told) == 1
    text = newest.text if alone else week_history.offline(week_history.Inputs("", days_of(told))).text
    made = (text, newest.made_by if alone else "offline", newest.made_at, newest.pending or not alone)
    return Digest(newest.space, newest.user, "week", dates[0], dates[-1], *made, spans)


def days_of(told: Sequence[Digest]) -> tuple[tuple[date, str], ...]:
    return tuple((one.day, one.text) for one in told)


def spans_of(day: Day, user: str) -> tuple[Span, ...]:
    return digests.spans(one for one in day.spoke if one.user == user)


def heard_by(viewer: Viewer | None, digest: Digest | None) -> Digest | None:
    """A digest, if all that it is made of was said where the viewer hears it."""
    if digest is None or viewer is None:
        return digest
    return digest if all(viewer.hears(span.conversation) for span in digest.sources) else None


def forgotten_by(tx: Tx, space: str, person: str) -> list[str]:
    """What a person asked to be forgotten of themselves; what others take back is no word of the person's."""
    requests = statements_of(tx, space, person, kind=FORGET)
    return [request.text for request in requests if not is_claim(request)]


def without(one: Digest | None, name: str, forgotten: Sequence[str]) -> str:
    """A digest's text without the sentences that say what was asked to be forgotten."""
    if one is None or not forgotten:
        return "" if one is None else one.text
    told = split(one.text)
    gone = {number for what in forgotten for number in matching(name, told, what)}
    return " ".join(text for number, text in enumerate(told, 1) if number not in gone)


def lately(tx: Tx, space: str, day: date) -> list[str]:
    """Who spoke in the days before a day."""
    return sorted({one.user for each in before(day) for one in digests.spoken(tx, space, each)})
