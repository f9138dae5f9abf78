"""Followers bring views up to date with the log. There is no job to lose: there is the difference of two numbers.

For each view and conversation a cursor says how far the view has got. A follower claims conversations that are
behind, reads what is new, thinks about it outside any transaction, and then stores the result and the new cursor in
one. Only who still holds the lease, and finds the cursor where it left it, may store: so two workers never do
the same work twice, and a crash at any point leaves work undone but never half done. Every space is served before any
is served again, and a batch is as large as fits into a moment.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from recollect.engine.work import claiming
from recollect.engine.work.ask import keep_completions
from recollect.engine.work.claiming import Claim, Wanted
from recollect.engine.work.faults import reason_of
from recollect.engine.work.view import Hooks, View
from recollect.engine.work.worker import Worker
from recollect.errors import EmbedderMismatch, NotSettled, StoreClosed
from recollect.model import SetAside, ViewState
from recollect.ports import Clock, Store, Telemetry, Tx
from recollect.rules.fairness import next_room

log = logging.getLogger("recollect.followers")

FIRST_ROOM = 32  # messages in the first batch, before it is known how long they take
MOST_CONVERSATIONS = 256  # in a batch of a view that reads for itself
BATCH_SECONDS = 0.5  # that a batch is to take: so long a space waits while another is served
RETRIED = 8  # messages that were set aside, tried again in one step
SETTLING = 0.02  # seconds between looks at what others are working on


class Follower:
    """Keeps one view up with the log. Steps of one follower never overlap."""

    def __init__(
        self,
        store: Store,
        view: View[Any],
        clock: Clock,
        run: Callable[..., Any],
        lease_seconds: int,
        hooks: Hooks | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self.view = view
        self._store, self._clock, self._run, self._hooks = store, clock, run, hooks or Hooks()
        lease = timedelta(seconds=lease_seconds)
        self._worker = Worker(store, view, clock, run, lease, self._hooks, telemetry)
        self._one = asyncio.Lock()
        self._served = claiming.Served()
        self._most = view.at_once or MOST_CONVERSATIONS
        # Where the subject changes is seen in what comes together: a view in order always takes the same batches.
        self._room = self._most if view.ordered else min(FIRST_ROOM, self._most)
        self.drained = False  # whether the last step left nothing undone of what it saw
        self.trouble: str | None = None  # why this process cannot work on the view, though others may

    async def step(self, since: datetime | None = None) -> int:
        """Claim, think, store, once. Returns the number of messages seen to, 0 if there was nothing to do.

        A look comes first, since it costs no lock and most looks find nothing.
        """
        async with self._one:
            if self._worker.held:  # the store failed when they were to be given back
                await self._worker.give_back(None)
            self.drained, self.trouble = True, None
            try:
                behind, due = await self._run(self._store.read, lambda tx: self._look(tx, since))
                done = await self._catch_up(since) if behind else 0
                retried = sum([await self._worker.retry(row) for row in due])
                self.drained = self.drained and not (retried and len(due) == RETRIED)
                return done + retried
            except EmbedderMismatch as error:  # others have the right one: they do not wait for us
                self.trouble = reason_of(error)
                return 0

    def prefer(self, space: str) -> None:
        """Somebody waits for this space: it is served next, if it was not just now."""
        self._served.prefer(space)

    async def lags_in(self, space: str, since: datetime) -> bool:
        """Whether something of a space that changed since then is still to come into this view."""
        name, now = self.view.name, self._clock.now()
        lags: bool = await self._run(self._store.read, lambda tx: tx.unseen(name, now, space=space, since=since))
        return lags

    async def retry(self, rows: Sequence[SetAside]) -> int:
        """Try messages again that were set aside, now. Returns how many of them the view has now."""
        async with self._one:
            return sum([await self._worker.retry(row) for row in rows])

    def state(self, tx: Tx) -> ViewState:
        """How far this view is."""
        return tx.view_state(self.view.name, self._clock.now(), None)

    def _look(self, tx: Tx, since: datetime | None) -> tuple[bool, list[SetAside]]:
        self._hooks.guard(tx)
        now = self._clock.now()
        behind = claiming.is_behind(tx, self._wanted(since), now)
        # What was set aside is in no hurry: it is looked for when everything is.
        return behind, tx.set_aside_due(self.view.name, now, RETRIED) if since is None else []

    def _wanted(self, since: datetime | None) -> Wanted:
        worker = self._worker
        return Wanted(self.view, worker.holder, worker.lease, self._room, since, self._hooks.later)

    async def _catch_up(self, since: datetime | None) -> int:
        claim = await self._claim(since)
        self.drained = not claim.left
        if not claim.runs:
            return 0
        worker, begun = self._worker, time.monotonic()
        try:
            with keep_completions():
                progress = await worker.work(claim.runs)
            self._served.note(progress.spaces)
            if worker.held:
                await worker.give_back(None)
        except asyncio.CancelledError:
            await asyncio.shield(worker.give_back(None))
            raise
        except StoreClosed:  # no lease can be given back any more
            worker.held.clear()
            raise
        except EmbedderMismatch:
            await worker.give_back(None)
            raise
        except Exception as error:  # noqa: BLE001  whatever a view does, the log and the other views go on
            log.warning("%s: %s", self.view.name, reason_of(error))
            worker.count(type(error).__name__, 1, begun)
            await worker.give_back(reason_of(error))
            return 0
        worker.count("ok", progress.done, begun)
        self.drained = self.drained and progress.whole
        if not self.view.ordered:
            seconds = time.monotonic() - begun
            self._room = next_room(self._room, progress.seen_to, seconds, target=BATCH_SECONDS, most=self._most)
        return progress.seen_to

    async def _claim(self, since: datetime | None) -> Claim:
        """What is ours to do."""
        worker, now, wanted = self._worker, self._clock.now(), self._wanted(since)
        taking = asyncio.ensure_future(
            self._run(self._store.write, lambda tx: claiming.take(tx, wanted, now, self._served))
        )
        try:
            claim: Claim = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The thread goes on and takes the leases all the same: without us nobody would give them back.
            await asyncio.wait([taking])
            if taking.exception() is None:
                worker.hold(taking.result().runs)
                await asyncio.shield(worker.give_back(None))
            raise
        worker.hold(claim.runs)
        return claim


async def settle(followers: Sequence[Follower], timeout: float, read: Callable[..., Any]) -> int:
    """Work and wait until these views have caught up, in order: one that follows another comes after it.

    Stand-ins count: they are there. What was set aside is not waited for: how many messages that are is returned.
    Raises NotSettled, with how far each view is behind, as soon as nothing can be done, or when the time is over.
    """
    deadline = time.monotonic() + timeout

    def states_of(tx: Tx) -> list[ViewState]:
        return [follower.state(tx) for follower in followers]

    states: list[ViewState] = await read(states_of)
    while any(state.behind or state.set_aside for state in states):
        worked = 0
        for follower in followers:
            while done := await follower.step():
                worked += done
                if follower.drained or time.monotonic() > deadline:
                    break
        states = await read(states_of)
        left = [(state, follower) for state, follower in zip(states, followers, strict=True) if lacks(state, follower)]
        if not left:
            break
        stuck = not worked and all(follower.trouble or (s.waiting and not s.leased) for s, follower in left)
        if stuck or time.monotonic() > deadline:
            error = NotSettled("; ".join(describe(state, follower.trouble) for state, follower in left))
            error.left = {state.view: state.behind for state, _ in left}
            raise error
        if not worked:
            await asyncio.sleep(SETTLING)
    return sum(state.set_aside for state in states)


def lacks(state: ViewState, follower: Follower) -> bool:
    """Whether a view is behind by more than what a built-in writer stands in for."""
    stood_in = follower.drained and state.waiting == state.standing_in > 0 and not state.leased
    return bool(state.behind) and not stood_in


def describe(state: ViewState, trouble: str | None) -> str:
    error = trouble or state.error
    idle = "another worker holds the lease" if state.leased else "there was no time for more"
    why = f"the last error was: {error}" if error else idle
    return f"the {state.view} view is {state.behind} messages behind the log ({why}); it is tried again by itself"
