"""Followers bring views up to date with the log. There is no job to lose: there is the difference of two numbers.

For each view and conversation a cursor says how far the view has got. A follower claims conversations that are
behind, reads what is new, thinks about it outside any transaction, and then stores the result and the new cursor in
one. Only who still holds the lease, and finds the cursor where it left it, may store: so two workers never do
the same work twice, and a crash at any point leaves work undone but never half done.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from recollect.errors import NotSettled, StoreClosed
from recollect.model import Filter, Message, ViewState
from recollect.ports import STAND_IN, Clock, Lag, Store, Telemetry, Tx

log = logging.getLogger("recollect.followers")

R = TypeVar("R")
CLAIMED = 64  # conversations at a time
CHARACTERS = 2_000_000  # of text at a time
FIRST_RETRY = timedelta(seconds=1)
LONGEST_RETRY = timedelta(minutes=10)
POLL = 2.0  # seconds between looks at what other processes have written
PAUSE = 0.1  # seconds without anything new, before a view that nobody waits for is brought up to date,
LONGEST_PAUSE = 1.0  # and how long that may take while there always is
FULL_LOOK = 60.0  # seconds between looks at every conversation, not only at those changed lately
OVERLAP = timedelta(minutes=2)  # how far clocks of two machines may be apart


@dataclass(frozen=True, slots=True)
class Run:
    """New messages of one conversation, in order."""

    lag: Lag
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Saved:
    """How far a view got: the turn its cursor moves to, how much was done, and why a model did not do it.

    After an outage the built-in writer stands in, and the rest is tried again later, after a pause that grows.
    """

    upto: int
    done: int
    outage: str | None = None


class View(Protocol[R]):
    """What a view does with new messages."""

    @property
    def name(self) -> str: ...

    @property
    def at_once(self) -> int:
        """How many messages it takes at a time; 0: one conversation, and it reads for itself."""

    def first(self, done: int, turns: int) -> int:
        """Where to go on, of a conversation of that many turns and done so far: after `done`, or later."""

    async def prepare(self, runs: Sequence[Run]) -> Sequence[R]:
        """Think: one result for each run. No transaction is open."""

    def save(self, tx: Tx, result: R) -> Saved | None:
        """Store a result. The cursor moves in the same transaction: to the end of the run, unless told otherwise."""


class Follower:
    """Keeps one view up with the log. Steps of one follower never overlap."""

    def __init__(
        self,
        store: Store,
        view: View[Any],
        clock: Clock,
        run: Callable[..., Any],
        lease_seconds: int,
        later: Callable[[str, str], bool] = lambda space, conversation: False,
        telemetry: Telemetry | None = None,
    ) -> None:
        """`later` says which conversations to leave alone for the moment."""
        self._telemetry = telemetry
        self.view = view
        self._store, self._clock, self._run, self._later = store, clock, run, later
        self._lease = timedelta(seconds=lease_seconds)
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"
        self._one = asyncio.Lock()
        self.drained = False  # whether the last step left nothing undone of what it saw

    async def step(self, since: datetime | None = None, *, look: bool = True) -> int:
        """Claim, think, store, once. Returns the number of messages brought in, 0 if there was nothing to do.

        A look comes first, since it costs no lock and most looks find nothing; whoever has just looked needs none.
        """
        async with self._one:
            if look and not await self._run(self._store.read, lambda tx: self._behind(tx, since)):
                self.drained = True
                return 0
            runs, behind = await self._claimed(since)
            self.drained = not behind
            if not runs:
                return 0
            begun = time.monotonic()
            try:
                results = await self._prepared(runs)
                stored, whole = await self._run(self._store.write, lambda tx: self._save(tx, runs, results))
                self.drained = whole and behind == len(runs)
                self._count("ok", int(stored), begun)
                return int(stored)
            except asyncio.CancelledError:
                await asyncio.shield(self._give_back(runs, None))
                raise
            except StoreClosed:  # no lease can be given back any more
                raise
            except Exception as error:  # noqa: BLE001  whatever a view does, the log and the other views go on
                log.warning("%s: %s: %s", self.view.name, type(error).__name__, error)
                self._count(type(error).__name__, 1, begun)
                await self._give_back(runs, f"{type(error).__name__}: {error}")
                return 0

    def _count(self, outcome: str, amount: int, begun: float) -> None:
        """Messages brought in, or one failure; and how long it took."""
        if self._telemetry is not None:
            seconds = time.monotonic() - begun
            self._telemetry.count("view", kind=self.view.name, outcome=outcome, amount=amount, seconds=seconds)

    async def _claimed(self, since: datetime | None) -> tuple[list[Run], int]:
        """What is ours to do, and how many conversations were behind."""
        claiming = asyncio.ensure_future(self._run(self._store.write, lambda tx: self._claim(tx, since)))
        try:
            claimed: tuple[list[Run], int] = await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The thread goes on and takes the leases all the same: without us nobody would give them back.
            await asyncio.wait([claiming])
            if claiming.exception() is None:
                await asyncio.shield(self._give_back(claiming.result()[0], None))
            raise
        return claimed

    async def _prepared(self, runs: Sequence[Run]) -> Sequence[Any]:
        """What the view makes of the runs; however long it thinks, the leases stay ours."""
        thinking = asyncio.ensure_future(self.view.prepare(runs))
        try:
            while not (await asyncio.wait({thinking}, timeout=self._lease.total_seconds() / 3))[0]:
                await self._run(self._store.write, lambda tx: self._renew(tx, runs))
        finally:
            thinking.cancel()
        return thinking.result()

    def _renew(self, tx: Tx, runs: Sequence[Run]) -> None:
        now = self._clock.now()
        for run in runs:
            if tx.holds(self.view.name, run.lag.space, run.lag.conversation, self._holder):
                tx.claim(self.view.name, run.lag.space, run.lag.conversation, self._holder, now, now + self._lease)

    def _behind(self, tx: Tx, since: datetime | None) -> list[Lag]:
        found = tx.lagging(self.view.name, self._clock.now(), since=since, limit=CLAIMED)
        return [lag for lag in found if not self._later(lag.space, lag.conversation)]

    def _claim(self, tx: Tx, since: datetime | None) -> tuple[list[Run], int]:
        now, runs, count, size = self._clock.now(), list[Run](), 0, 0
        behind = self._behind(tx, since)
        for lag in behind:
            if runs and (count >= self.view.at_once or size >= CHARACTERS):
                break
            if not tx.claim(self.view.name, lag.space, lag.conversation, self._holder, now, now + self._lease):
                continue
            where = Filter(lag.space, conversation=lag.conversation)
            done = tx.cursor(self.view.name, lag.space, lag.conversation)
            begin, room = self.view.first(done, lag.turns), self.view.at_once - count
            messages = tx.messages(where, after=(lag.conversation, begin), limit=room) if room else []
            kept = []
            for message in messages:
                kept.append(message)
                size += len(message.content)
                if size >= CHARACTERS:
                    break
            count += len(kept)
            runs.append(Run(Lag(lag.space, lag.conversation, done, lag.turns), kept))
        return runs, len(behind)

    def _save(self, tx: Tx, runs: Sequence[Run], results: Sequence[Any]) -> tuple[int, bool]:
        stored, whole = 0, True
        for run, result in zip(runs, results, strict=True):
            place = (self.view.name, run.lag.space, run.lag.conversation)
            # Another took over, or somebody moved the cursor, back for a rebuild or on: what we thought is void.
            if not tx.holds(*place, self._holder) or tx.cursor(*place) != run.lag.done:
                tx.release(*place, self._holder)
                whole = False
                continue
            if not run.messages and self.view.at_once:
                tx.release(*place, self._holder)
                continue
            saved = self.view.save(tx, result) or Saved(run.messages[-1].turn, len(run.messages))
            tx.set_cursor(*place, saved.upto)
            retry_at = self._clock.now() + backoff(tx.failures(*place)) if saved.outage else None
            error = STAND_IN + saved.outage if saved.outage else None
            tx.release(*place, self._holder, error=error, retry_at=retry_at)
            stored, whole = stored + saved.done, whole and saved.upto >= run.lag.turns
        return stored, whole

    async def _give_back(self, runs: Sequence[Run], error: str | None) -> None:
        def release(tx: Tx) -> None:
            for run in runs:
                place = (self.view.name, run.lag.space, run.lag.conversation)
                retry_at = self._clock.now() + backoff(tx.failures(*place)) if error else None
                tx.release(*place, self._holder, error=error, retry_at=retry_at)

        await self._run(self._store.write, release)

    def state(self, tx: Tx) -> ViewState:
        """How far this view is."""
        return tx.view_state(self.view.name, self._clock.now(), None)

    async def settle(self, timeout: float) -> None:
        """Work and wait until this view has caught up, or say what is in the way. Stand-ins count: they are there."""
        deadline = time.monotonic() + timeout
        state = await self._run(self._store.read, self.state)
        while state.behind:
            while await self.step(look=False) and not self.drained:
                pass
            state = await self._run(self._store.read, self.state)
            if not state.behind or (state.waiting == state.standing_in > 0 and not state.leased):
                return
            if (state.waiting and not state.leased) or time.monotonic() > deadline:
                raise NotSettled(describe(state))
            await asyncio.sleep(0.02)

    async def settle_all(self, others: Sequence[Follower], timeout: float) -> None:
        """The same of this view and of others, in order: one that follows another comes after it."""
        every, deadline = (self, *others), time.monotonic() + timeout

        def states(tx: Tx) -> list[ViewState]:
            return [follower.state(tx) for follower in every]

        before = await self._run(self._store.read, states)
        if not any(state.behind for state in before):
            return
        for follower, state in zip(every, before, strict=True):
            while await follower.step(look=not state.behind) and not follower.drained:
                pass
        for follower, state in zip(every, await self._run(self._store.read, states), strict=True):
            if state.behind:
                await follower.settle(deadline - time.monotonic())


def backoff(failures: int) -> timedelta:
    """Twice as long after each failure, with some chance in it, up to a limit."""
    wait: timedelta = FIRST_RETRY * (1 << min(failures, 20))
    return min(wait, LONGEST_RETRY) * random.uniform(0.75, 1.0)


def describe(state: ViewState) -> str:
    why = f"the last error was: {state.error}" if state.error else "another worker holds the lease"
    return f"the {state.view} view is {state.behind} messages behind the log ({why}); it is tried again by itself"


class Loop:
    """Runs a follower in the background of a process until it is told to stop."""

    def __init__(
        self, follower: Follower, clock: Clock, done: Callable[[], None] = lambda: None, calls: Callable[[], int] = int
    ) -> None:
        """`done` is called after each step that brought something in: others may follow this view. `calls` says how
        often others have called so far: while they do, they have half of the time.

        What comes in quick succession is brought in at one go, and what a program adds before it ends is left to the
        next; whoever waits for the view to be idle cuts the pause short.
        """
        self._follower, self._clock, self._done, self._calls = follower, clock, done, calls
        self._wake, self._idle, self._hurry = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._forever(), name="recollect followers")

    def wake(self) -> None:
        """There is something new: no need to wait for the next look."""
        self._idle.clear()
        self._wake.set()

    async def idle(self, timeout: float) -> bool:
        """Wait until all that was written here so far has been seen to; False if that takes too long."""
        if not self._idle.is_set():
            self._hurry.set()
        return await happened(self._idle, timeout)

    async def stop(self) -> None:
        # A store that fails while leases are given back hides the cancellation: hence the flag.
        self._stopping = True
        if self._task is not None:
            self._wake.set()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _forever(self) -> None:
        looked, again, worked = float("-inf"), False, 0.0
        while not self._stopping:
            await self._rest(again, worked)
            self._wake.clear()
            full, begun, calls = time.monotonic() - looked > FULL_LOOK, time.monotonic(), self._calls()
            done = await self._step(None if full else self._clock.now() - OVERLAP)
            worked = time.monotonic() - begun if self._calls() != calls else 0.0
            if done:
                self._done()
            again = done > 0 and not self._follower.drained
            if again or self._stopping:
                continue
            looked = time.monotonic() if full else looked
            if not self._wake.is_set():
                self._idle.set()
                self._hurry.clear()
            await happened(self._wake, POLL)
        self._idle.set()  # it has ended: nobody is to wait for it

    async def _rest(self, again: bool, worked: float) -> None:
        """Let more come, until nothing has come for a moment; and let others work, as long as the last step took."""
        self._wake.clear()
        until = time.monotonic() + LONGEST_PAUSE
        rest = max(0.0 if again else PAUSE, min(worked, LONGEST_PAUSE))
        while not await happened(self._hurry, rest) and self._wake.is_set() and time.monotonic() < until and not again:
            self._wake.clear()
            rest = PAUSE

    async def _step(self, since: datetime | None) -> int:
        try:
            return await self._follower.step(since)
        except StoreClosed:
            self._stopping = True  # by whoever else has it: there is nothing left to follow
        except Exception as error:  # noqa: BLE001  a store that is away for a while must not end the loop
            if not self._stopping:
                log.warning("followers: %s: %s", type(error).__name__, error)
        return 0


async def happened(event: asyncio.Event, timeout: float) -> bool:
    """Wait for an event, so many seconds at most."""
    try:
        async with asyncio.timeout(timeout):
            return await event.wait()
    except TimeoutError:
        return False
