"""Who works on what: leases, what a follower claims in one step, and what is made once for all who ask for it.

Of all workers and processes on a store, one at a time works on a place of a view: it holds a lease. A lease lasts for a
while and is renewed for as long as the work takes, so a holder that died keeps nobody waiting for long. A holder that
was too slow loses its lease to another. It learns this in the transaction in which it would store its result:
`held_places` and `holds` lock the lease until that transaction ends.

Every space is served before any is served again: one conversation of each space is taken at a time, and the spaces in
the order in which they were served last. Within a space, a conversation with few new messages does not wait for one
that imports a history. Every query is for many conversations at once: with a thousand conversations of one new message
each, one query for each would take longer than the work itself.

What many callers ask for at once is made once (`SingleFlight`): by one task in a process, by a lease among processes. A
caller waits as long as its limit allows: the work continues after that, and the next caller finds the result. If
another process is making it, callers wait for that process, and take over its lease if it does not finish. What could
not be made now is tried again after a pause that grows.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from everword.errors import DamagedMessage, EverwordError
from everword.follow.faults import backoff, messages_around_damage
from everword.follow.store_calls import StoreCalls
from everword.follow.view import FEW, Patience, Run, View, fair_order
from everword.log.append_and_read import DIGESTING, cursors_of, set_cursors
from everword.masking import mask_credentials, masked_logger
from everword.model import Filter, Message
from everword.ports import STAND_IN, Clock, ConversationKey, Lag, Tx

log = masked_logger("everword.once")

T = TypeVar("T")
POLL = 0.05  # seconds between checks of what another process makes
TRIES = 3  # how often something is made again whose sources change meanwhile
RENEWALS = 3  # of a lease in the time for which it lasts
LOOKED_AT = 64  # conversations, at least, from which those to claim are chosen
TURNS_OF_ROOM = 8  # that a conversation is behind, for a view that reads for itself: it is not to have all of them
READ = 32  # conversations whose messages are read together
CHARACTERS = 2_000_000  # of text in one claim
REMEMBERED = 10_000  # spaces for which we know when they were last served


class Lease:
    """What one holder takes of a view: any number of its places, each for some time. No two leases have one holder.

    A place is a conversation of a space, or whatever else has a name in a space. All but `renew_until_done` are part of
    the caller's transaction, and remember nothing: a transaction may be repeated.
    """

    def __init__(self, view: str, clock: Clock, duration: timedelta) -> None:
        self._view = view
        self._clock = clock
        self._duration = duration
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"

    def acquire(self, tx: Tx, places: Collection[ConversationKey]) -> frozenset[ConversationKey]:
        """Take those of these places that nobody else holds and that wait for no retry, or renew them; returns them."""
        now = self._clock.now()
        return tx.claim(self._view, [*places], self.holder, now, now + self._duration)

    def renew(self, tx: Tx, places: Collection[ConversationKey]) -> None:
        """Begin the time anew for those of these places that are still held; one that was lost is not taken back."""
        self.acquire(tx, self.held_places(tx, places))

    def held_places(self, tx: Tx, places: Collection[ConversationKey]) -> frozenset[ConversationKey]:
        """Those of these places that are still held; nobody takes them over before the transaction ends."""
        return tx.held_leases(self._view, [*places], self.holder)

    def holds(self, tx: Tx, place: ConversationKey) -> bool:
        """As `held_places`, of one place."""
        return place in self.held_places(tx, [place])

    def release(self, tx: Tx, places: Collection[ConversationKey], error: str | None = None) -> None:
        """Give these places back, if they are still held. After an error nobody may take them for a while, which grows
        with every failure."""
        if error is None:
            tx.release(self._view, [*places], self.holder)
            return
        for place in sorted(places):
            failures = next((row["failures"] for row in tx.rows("leases", where=self._row_key(place))), 0)
            retry_at = self._clock.now() + backoff(failures)
            tx.release(self._view, [place], self.holder, error=error, retry_at=retry_at)

    def remove(self, tx: Tx, place: ConversationKey) -> None:
        """Give a place back for good, with no trace of it, if it is still held."""
        tx.remove("leases", self._row_key(place) | {"holder": self.holder})

    def waits_for_retry(self, tx: Tx, place: ConversationKey) -> bool:
        """Whether work on a place has failed, and it is too early to try again."""
        now = self._clock.now()
        rows = tx.rows("leases", where=self._row_key(place))
        return any(row["retry_at"] is not None and row["retry_at"] > now for row in rows)

    async def renew_until_done(
        self,
        work: asyncio.Future[Any],
        calls: StoreCalls,
        places: Collection[ConversationKey],
    ) -> None:
        """Wait for the work on these places, and renew them for as long as it takes. The work is cancelled if this is
        cancelled or a renewal fails; how it ended is for the caller to look at."""
        try:
            while not (await asyncio.wait({work}, timeout=self._duration.total_seconds() / RENEWALS))[0]:
                await calls.write(lambda tx: self.renew(tx, places))
        finally:
            work.cancel()

    def _row_key(self, place: ConversationKey) -> dict[str, Any]:
        space, name = place
        return {"space": space, "view": self._view, "conversation": name}


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """What to claim: for which view, under which lease, and how many messages (`room`; conversations, for a view that
    reads for itself). Only conversations of a `space`, if there is one, that changed `since` then, none that `defers`
    holds back, with `patience` none
    of which there is not yet enough, and if they are to be `whole`, none that the view it follows has only in part. If
    the view works only on rows of a table that are `pending`, conversations without one are done with the claim."""

    view: View[Any]
    lease: Lease
    room: int
    since: datetime | None
    defers: Callable[[str, str], bool]
    patience: Patience | None = None
    whole: bool = False
    pending: str | None = None
    space: str | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """The runs that were claimed, and whether there are more."""

    runs: Sequence[Run]
    has_more: bool


class ServiceOrder:
    """The spaces in the order in which they were last served."""

    def __init__(self) -> None:
        self._count = 0
        self._last: OrderedDict[str, int] = OrderedDict()

    @property
    def last_served(self) -> Mapping[str, int]:
        return self._last

    def record_served(self, spaces: Iterable[str]) -> None:
        self._count += 1
        for space in spaces:
            self._last[space] = self._count
            self._last.move_to_end(space)
        while len(self._last) > REMEMBERED:
            self._last.popitem(last=False)

    def prefer(self, space: str) -> None:
        """Serve this space next, unless it was just served: one that asks all the time would keep others waiting."""
        if self._last.get(space) != self._count:
            self._last.pop(space, None)


def is_behind(tx: Tx, request: ClaimRequest, now: datetime) -> bool:
    """Whether there is something to claim. This takes no lock, and most of the time finds nothing."""
    lags = tx.lagging(request.view.name, now, since=request.since, limit=LOOKED_AT, space=request.space)
    return len(lags) == LOOKED_AT or bool(worthwhile_lags(tx, request, lags, now))


def worthwhile_lags(tx: Tx, request: ClaimRequest, lags: Sequence[Lag], now: datetime) -> list[Lag]:
    """Those of these conversations that are neither deferred nor waiting for more messages."""
    lags = [lag for lag in lags if not request.defers(lag.space, lag.conversation)]
    if request.whole:
        lags = [lag for lag in lags if is_whole(tx, lag)]
    if request.patience is None or not lags:
        return lags
    count = max(LOOKED_AT, request.room)
    return due_lags(tx, request.view.name, request.patience, lags, now, count, space=request.space)


def due_lags(
    tx: Tx,
    view: str,
    patience: Patience,
    lags: Sequence[Lag],
    now: datetime,
    count: int = LOOKED_AT,
    *,
    space: str | None = None,
) -> list[Lag]:
    """Those of these conversations, at most so many, in which enough has come for a view that waits."""
    recent_lags = tx.lagging(view, now, since=now - patience.quiet, limit=2 * count, space=space)
    recent_places = {(lag.space, lag.conversation) for lag in recent_lags}
    return [
        lag
        for lag in lags
        if patience.is_enough(lag, (lag.space, lag.conversation) not in recent_places)
        and has_messages(tx, lag, patience.first)
    ]


def is_whole(tx: Tx, lag: Lag) -> bool:
    """Whether a view may have all messages of a conversation that there are."""
    conversation = tx.conversation(lag.space, lag.conversation)
    return conversation is not None and lag.turns >= conversation.turns


def has_messages(tx: Tx, lag: Lag, least: int) -> bool:
    """Whether a conversation, or the memory of its user, has so many messages."""
    if lag.turns >= least:
        return True
    conversation = tx.conversation(lag.space, lag.conversation)
    user = conversation.user if conversation is not None else None
    return user is not None and tx.index.tally(lag.space, user).docs >= least


def find_lags(tx: Tx, request: ClaimRequest, now: datetime) -> tuple[list[Lag], bool]:
    """Conversations that are behind and not leased, also of spaces that come after a flood of others; and whether there
    may be more."""
    limit = max(LOOKED_AT, request.room)
    lags = tx.lagging(request.view.name, now, since=request.since, limit=limit, space=request.space)
    is_cut = len(lags) == limit
    if is_cut and request.space is None:
        busy_spaces = {lag.space for lag in lags}
        lags += tx.lagging(request.view.name, now, since=request.since, limit=limit, besides=busy_spaces)
    return worthwhile_lags(tx, request, lags, now), is_cut


def claim_runs(tx: Tx, request: ClaimRequest, now: datetime, service_order: ServiceOrder) -> Claim:
    """Take leases, and read the messages to work on."""
    view = request.view
    lags, is_cut = find_lags(tx, request, now)
    chosen_lags = list(lags_within_room(view, fair_order(lags, service_order.last_served), request.room))
    places = [(lag.space, lag.conversation) for lag in chosen_lags]
    claimed_places = request.lease.acquire(tx, places)
    cursors = cursors_of(tx, view.name, [*claimed_places])
    claimed_lags = [
        replace(lag, done=cursors[place])
        for lag, place in zip(chosen_lags, places, strict=True)
        if place in claimed_places
    ]
    idle_turns = turns_of_idle(tx, request.pending, claimed_lags)
    set_cursors(tx, view.name, idle_turns)
    if view.at_once:
        runs = read_runs(tx, [*plan_reads(view, claimed_lags, request.room)])
    else:
        runs = [run for run in (Run(lag, ()) for lag in claimed_lags) if run.place not in idle_turns]
    unread_places = claimed_places - {run.place for run in runs}
    request.lease.release(tx, unread_places)
    return Claim(runs, is_cut or len(chosen_lags) < len(lags) or bool(unread_places - idle_turns.keys()))


def turns_of_idle(tx: Tx, table: str | None, lags: Iterable[Lag]) -> dict[ConversationKey, int]:
    """The conversations in which no row of a table is pending, and how far the view is there with that. Those with many
    new messages mostly have one."""
    if table is None:
        return {}
    return {
        (lag.space, lag.conversation): lag.turns
        for lag in lags
        if lag.turns - lag.done <= FEW
        and not tx.rows(table, where={"space": lag.space, "conversation": lag.conversation, "pending": 1})
    }


def lags_within_room(view: View[Any], lags: Iterable[Lag], room: int) -> Iterator[Lag]:
    """As many conversations as there is room for."""
    for lag in lags:
        if room <= 0:
            return
        new_turns = lag.turns - view.read_after(lag.done, lag.turns)
        room -= max(new_turns if view.at_once else new_turns // TURNS_OF_ROOM, 1)
        yield lag


def plan_reads(view: View[Any], lags: Iterable[Lag], room: int) -> Iterator[tuple[Lag, int, int]]:
    """The turn after which each conversation is read, and the last turn that is read."""
    for lag in lags:
        begin = view.read_after(lag.done, lag.turns)
        end = min(lag.turns, begin + room)
        room -= max(end - begin, 0)
        yield lag, begin, end


def read_runs(tx: Tx, plans: Sequence[tuple[Lag, int, int]]) -> list[Run]:
    """The messages of these conversations, up to a limit of text; those that need the same turns share a query."""
    groups: dict[tuple[str, int, int], list[Lag]] = {}
    for lag, begin, end in plans:
        groups.setdefault((lag.space, begin, end), []).append(lag)
    runs: list[Run] = []
    characters_left = CHARACTERS
    for (space, begin, end), lags in groups.items():
        for start in range(0, len(lags), READ):
            if characters_left <= 0:
                return runs
            for run in read_group(tx, space, lags[start : start + READ], begin, end):
                runs.append(shorten_run(run, characters_left))
                characters_left -= sum(len(message.content) for message in runs[-1].messages)
    return runs


def read_group(tx: Tx, space: str, lags: Sequence[Lag], begin: int, end: int) -> list[Run]:
    if begin >= end:
        return [Run(lag, ()) for lag in lags]
    conversations = [lag.conversation for lag in lags]
    try:
        if len(conversations) == 1:  # without a list: such a statement is prepared once
            where = Filter(space, conversation=conversations[0])
            messages = tx.messages(where, after=(conversations[0], begin), upto=end)
        else:
            messages = tx.messages(Filter(space), after=("", begin), upto=end, among=conversations)
    except DamagedMessage:
        return [read_around_damage(tx, lag, begin, end) for lag in lags]
    by_conversation: dict[ConversationKey, list[Message]] = {}
    for message in messages:
        by_conversation.setdefault((message.space, message.conversation), []).append(message)
    return [Run(lag, by_conversation.get((lag.space, lag.conversation), [])) for lag in lags]


def read_around_damage(tx: Tx, lag: Lag, begin: int, end: int) -> Run:
    where = Filter(lag.space, conversation=lag.conversation)
    messages, damages = messages_around_damage(tx, where, after=begin, upto=end)
    return Run(lag, messages, damages)


def shorten_run(run: Run, characters: int) -> Run:
    """A run of at most this many characters, but of at least one message."""
    for index, message in enumerate(run.messages):
        characters -= len(message.content)
        if characters <= 0 and index + 1 < len(run.messages):
            damages = [error for error in run.damages if error.turn < message.turn]
            return replace(run, messages=run.messages[: index + 1], damages=damages)
    return run


# -- made once for all who ask


@dataclass(frozen=True, slots=True)
class FlightResult(Generic[T]):
    """How to store what was made; `save` returns None if that is no longer valid. `outage`: why a model was away."""

    save: Callable[[Tx], T | None]
    outage: str | None = None


@dataclass(frozen=True, slots=True)
class Flight(Generic[T]):
    """What is made: its name, in the space it is for; the lease is on that place. `look` finds what is there, `make`
    makes it."""

    space: str
    name: str
    look: Callable[[Tx], T | None]
    make: Callable[[], Awaitable[FlightResult[T]]]

    @property
    def place(self) -> ConversationKey:
        return self.space, self.name


class WaitLimit:
    """How long a caller waits in all, over several steps."""

    def __init__(self, seconds: float) -> None:
        self.allows_waiting = seconds > 0
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        return max(self._end - time.monotonic(), 0.0)


class SingleFlight:
    """The tasks in progress, by place."""

    def __init__(
        self,
        calls: StoreCalls,
        clock: Clock,
        lease_seconds: int,
        writable: bool = True,
    ) -> None:
        """If the store is not writable, nothing is made: it could not be stored."""
        self._calls = calls
        self._writable = writable
        self._lease = Lease(DIGESTING, clock, timedelta(seconds=lease_seconds))
        self._longest_wait = 2.0 * lease_seconds
        self._tasks: dict[ConversationKey, asyncio.Task[Any]] = {}

    async def get(self, flight: Flight[T], patience: WaitLimit) -> T | None:
        """What `look` finds, made first if it is not there; None if that takes longer than the caller waits, or fails.

        If the caller does not wait at all, nothing is begun.
        """
        if not patience.allows_waiting or not self._writable:
            return None
        task = self._tasks.get(flight.place)
        if task is None:
            task = asyncio.create_task(self._find_or_make(flight), name=f"everword {flight.name}")
            self._tasks[flight.place] = task
            task.add_done_callback(lambda finished_task: self._remove_task(flight.place, finished_task))
        finished_tasks, _ = await asyncio.wait({task}, timeout=patience.seconds_left)
        if not finished_tasks or task.cancelled():
            return None
        error = task.exception()
        if error is not None and not isinstance(error, EverwordError):
            raise error
        return None if error is not None else task.result()

    def _remove_task(self, place: ConversationKey, task: asyncio.Task[Any]) -> None:
        self._tasks.pop(place, None)
        if not task.cancelled() and task.exception() is not None:
            log.warning("%s: %s", place[1], task.exception())

    async def close(self) -> None:
        """Cancel the tasks in progress; their leases are given back."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _find_or_make(self, flight: Flight[T]) -> T | None:
        deadline = time.monotonic() + self._longest_wait
        for _ in range(TRIES):
            while True:
                value, is_ours, is_too_early = await self._calls.write(lambda tx: self._claim(tx, flight))
                if value is not None or is_too_early:
                    return value
                if is_ours:
                    break
                if time.monotonic() > deadline:
                    return None
                await asyncio.sleep(POLL)
            saved_value = await self._make_and_save(flight)
            if saved_value is not None:
                return saved_value
        return None

    def _claim(self, tx: Tx, flight: Flight[T]) -> tuple[T | None, bool, bool]:
        """What is there by now; whether we have the lease to make it; whether it is too early to try again."""
        value = flight.look(tx)
        if value is not None:
            return value, False, False
        if self._lease.acquire(tx, [flight.place]):
            # The former holder may have finished between our look and our claim.
            value = flight.look(tx)
            if value is not None:
                self._lease.remove(tx, flight.place)
            return value, value is None, False
        return None, False, self._lease.waits_for_retry(tx, flight.place)

    async def _make_and_save(self, flight: Flight[T]) -> T | None:
        try:
            making = asyncio.ensure_future(flight.make())
            await self._lease.renew_until_done(making, self._calls, [flight.place])
            result = making.result()
            value: T | None = await self._calls.write(lambda tx: self._save(tx, flight, result))
        except asyncio.CancelledError:
            await asyncio.shield(self._calls.write(lambda tx: self._lease.release(tx, [flight.place])))
            raise
        except Exception as error:
            reason = mask_credentials(f"{type(error).__name__}: {error}")
            await self._calls.write(lambda tx: self._lease.release(tx, [flight.place], reason))
            raise
        return value

    def _save(self, tx: Tx, flight: Flight[T], result: FlightResult[T]) -> T | None:
        if not self._lease.holds(tx, flight.place):
            return None  # another process took over: its result counts
        value = result.save(tx)
        if result.outage:
            self._lease.release(tx, [flight.place], STAND_IN + result.outage)
        else:
            self._lease.remove(tx, flight.place)  # not needed once the result is stored
        return value
