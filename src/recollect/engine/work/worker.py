"""Work on what was claimed: it is thought about and stored, and one bad message harms itself alone.

All runs are tried together. If that fails they are tried in halves, until the message to blame stands alone; it is set
aside, and everything else is stored. What was stored stays stored, and what a model has answered is not asked again. A
store, an embedder or a model that is away is nobody's fault: then all that is left waits for a while. But it may be so
for one conversation alone: those that have failed are tried one by one from then on, and keep no others waiting.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Literal

from recollect.engine.work.faults import (
    Fault,
    backoff,
    fault_of,
    is_for_all,
    is_set_aside,
    kind_of,
    put_set_aside,
    reason_of,
    remove_set_aside,
    set_aside_in,
)
from recollect.engine.work.view import Hooks, Run, Saved, View
from recollect.errors import EmbedderMismatch, EmbedderRefused, StoreClosed
from recollect.model import Filter, SetAside
from recollect.ports import STAND_IN, Clock, ConversationKey, Lag, Store, Telemetry, Tx

log = logging.getLogger("recollect.followers")

ISOLATION_SECONDS = 1.0  # after which a batch that fails is left for later, if anything of it was done
REFUSALS = 3  # of a store or an embedder, with nothing taken in between, until it is taken to refuse everything
TRIES = 3  # of a conversation alone, while others are taken, until one of its messages is taken to be at fault
REMEMBERED = 10_000  # conversations of which it is known that they fail


@dataclass(frozen=True, slots=True)
class Stored:
    """What a transaction stored of some runs: how much, of which spaces, whether it was all there was, and which leases
    it gave back."""

    done: int
    spaces: Collection[str]
    whole: bool
    released: Sequence[ConversationKey]


@dataclass(slots=True)
class Progress:
    """How the work on a batch goes."""

    deadline: float
    done: int = 0  # messages brought in
    set_aside: int = 0
    refusals: int = 0  # in a row
    whole: bool = True  # whether nothing was left undone
    spaces: set[str] = field(default_factory=set)  # of which something was seen to

    @property
    def seen_to(self) -> int:
        return self.done + self.set_aside

    @property
    def is_late(self) -> bool:
        return self.seen_to > 0 and time.monotonic() > self.deadline


@dataclass(slots=True)
class Failing:
    """A conversation whose last try failed: how often it did alone, and what had been brought in of all at the first
    failure."""

    taken: int
    alone: int = 0


class Worker:
    """Works on one view. `held` are the leases that are ours at the moment."""

    def __init__(
        self,
        store: Store,
        view: View[Any],
        clock: Clock,
        run: Callable[..., Any],
        lease: timedelta,
        hooks: Hooks,
        telemetry: Telemetry | None,
    ) -> None:
        self._store, self._view, self._clock, self._run = store, view, clock, run
        self._hooks, self._telemetry = hooks, telemetry
        self.lease = lease
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"
        self.held: dict[ConversationKey, Run] = {}
        self._failing: dict[ConversationKey, Failing] = {}
        self._taken = 0  # messages brought in so far

    def hold(self, runs: Sequence[Run]) -> None:
        self.held = {run.place: run for run in runs}

    async def give_back(self, error: str | None) -> None:
        """Give back all that is held; with an error, to be tried again after a pause."""
        places = list(self.held)

        def release(tx: Tx) -> None:
            if error is None:
                tx.release_all(self._view.name, places, self.holder)
                return
            for place in places:
                self._release_failed(tx, place, error)

        await self._run(self._store.write, release)
        if error is not None:
            self._note_failing(places)
        self.held.clear()

    def count(self, outcome: str, amount: int, begun: float) -> None:
        """Messages brought in, or one failure; and how long it took."""
        if self._telemetry is not None:
            seconds = time.monotonic() - begun
            self._telemetry.count("view", kind=self._view.name, outcome=outcome, amount=amount, seconds=seconds)

    # -- a batch

    async def work(self, runs: Sequence[Run]) -> Progress:
        """Bring these in. What is still held afterwards was not looked at."""
        progress = Progress(time.monotonic() + ISOLATION_SECONDS)
        await self._try([run for run in runs if run.place not in self._failing], progress)
        alone = [run for run in runs if run.place in self._failing]
        for run in sorted(alone, key=lambda run: self._failing[run.place].alone):
            await self._try([run], progress)
        progress.whole = progress.whole and not self.held
        return progress

    async def _try(self, runs: Sequence[Run], progress: Progress) -> None:
        runs = [run for run in runs if run.place in self.held]
        if not runs or progress.is_late:
            return
        try:
            results = await self._prepare(runs)
        except Exception as error:  # noqa: BLE001  a view may fail in any way
            await self._try_in_halves(runs, error, progress)
        else:
            await self._store_results(runs, results, progress)

    async def _try_in_halves(self, runs: Sequence[Run], error: Exception, progress: Progress) -> None:
        fault = self._fault(runs, error)
        if fault == "outside":
            raise error
        if fault == "apart":
            await self._let_wait(runs[0], error, progress)
            return
        if len(runs) == 1 and len(runs[0].messages) <= 1:
            await self._blame(runs[0], error, progress)
            return
        half = len(runs) // 2
        for part in (runs[:half], runs[half:]) if half else ([run] for run in runs[0].halves()):
            await self._try(part, progress)

    async def _store_results(self, runs: Sequence[Run], results: Sequence[Any], progress: Progress) -> None:
        try:
            stored: Stored = await self._run(self._store.write, lambda tx: self._save(tx, runs, results))
        except Exception as error:  # noqa: BLE001  as above
            half = len(runs) // 2
            if not half or self._fault(runs, error) == "outside":
                await self._try_in_halves(runs, error, progress)
                return
            await self._store_results(runs[:half], results[:half], progress)
            await self._store_results(runs[half:], results[half:], progress)
            return
        for place in stored.released:
            self.held.pop(place, None)
            self._failing.pop(place, None)
        self._taken += stored.done
        progress.done += stored.done
        progress.spaces |= {*stored.spaces}
        progress.refusals = 0
        progress.whole = progress.whole and stored.whole

    async def _prepare(self, runs: Sequence[Run]) -> Sequence[Any]:
        """What the view makes of each run; however long it thinks, all our leases stay ours."""
        readable = [run for run in runs if run.messages or not run.damaged]
        thinking = asyncio.ensure_future(self._view.prepare(readable))
        try:
            while not (await asyncio.wait({thinking}, timeout=self.lease.total_seconds() / 3))[0]:
                await self._run(self._store.write, self._renew)
        finally:
            thinking.cancel()
        if thinking.cancelled():  # not by us: nobody is to take it for our own end
            raise RuntimeError("the work was cancelled from within")
        results = dict(zip((run.place for run in readable), thinking.result(), strict=True))
        return [results.get(run.place) for run in runs]

    def _renew(self, tx: Tx) -> None:
        now = self._clock.now()
        ours = tx.held(self._view.name, [*self.held], self.holder)
        tx.claim_all(self._view.name, [*ours], self.holder, now, now + self.lease)

    def _save(self, tx: Tx, runs: Sequence[Run], results: Sequence[Any]) -> Stored:
        name, places = self._view.name, [run.place for run in runs]
        ours, cursors = tx.held(name, places, self.holder), tx.cursors_of(name, places)
        done, whole, moved, released = 0, True, dict[ConversationKey, int](), list[ConversationKey]()
        spaces: set[str] = set()
        for run, result in zip(runs, results, strict=True):
            # Another took over, or somebody moved the cursor, back for a rebuild or on: what we thought is void.
            if run.place not in ours or cursors[run.place] != run.lag.done:
                released.append(run.place)
                whole = False
                continue
            if run.is_empty and self._view.at_once:
                released.append(run.place)
                continue
            saved = self._save_run(tx, run, result)
            moved[run.place] = saved.upto
            if saved.upto <= run.lag.done:  # the view may have thrown away what it had of the space
                cursors |= tx.cursors_of(name, places)
            if saved.outage:
                self._release_failed(tx, run.place, STAND_IN + saved.outage)
            if saved.outage or run.last or saved.upto < run.end:
                released.append(run.place)
            if saved.done:
                spaces.add(run.lag.space)
            done, whole = done + saved.done, whole and (saved.upto >= run.lag.turns or not run.last)
        tx.set_cursors(name, moved)
        tx.release_all(name, released, self.holder)
        return Stored(done, spaces, whole, released)

    def _save_run(self, tx: Tx, run: Run, result: Any) -> Saved:
        saved = Saved(run.end, len(run.messages) + len(run.damaged))
        if run.messages or not run.damaged:
            saved = self._view.save(tx, result) or saved
        for damage in run.damaged:
            if damage.turn <= saved.upto:
                self._put_aside(tx, run.place, damage.turn, kind_of(damage))
        return saved

    def _release_failed(self, tx: Tx, place: ConversationKey, error: str) -> None:
        at = (self._view.name, *place)
        tx.release(*at, self.holder, error=error, retry_at=self._clock.now() + backoff(tx.failures(*at)))

    # -- who is to blame

    def _fault(self, runs: Sequence[Run], error: Exception) -> Fault | Literal["apart"]:
        """As `fault_of`. But what the world does to one conversation alone sets it apart from the others, and if those
        are taken time and again, one of its messages is at fault."""
        fault = fault_of(error)
        failing = self._failing.get(runs[0].place) if len(runs) == 1 else None
        if failing is None or fault == "message" or is_for_all(error):
            return fault
        if failing.alone >= TRIES and self._taken > failing.taken:
            return "message"
        return "apart" if fault == "outside" else fault

    def _note_failing(self, places: Iterable[ConversationKey]) -> None:
        if len(self._failing) > REMEMBERED:
            self._failing.clear()
        for place in places:
            self._failing.setdefault(place, Failing(self._taken))

    async def _blame(self, run: Run, error: Exception, progress: Progress) -> None:
        """This run fails alone: its message is set aside. If it may be the store or the embedder that refuses, its
        conversation waits; an embedder that has taken other messages since refuses this one."""
        if self._fault([run], error) != "message" and not (isinstance(error, EmbedderRefused) and progress.done):
            await self._let_wait(run, error, progress)
            return
        begun = time.monotonic()
        await self._run(self._store.write, lambda tx: self._pass_over(tx, run, kind_of(error)))
        log.warning("%s: a message is set aside: %s; `recollect doctor` names it", self._view.name, kind_of(error))
        progress.set_aside += 1
        progress.spaces.add(run.lag.space)
        if run.last:
            self.held.pop(run.place, None)
            self._failing.pop(run.place, None)
        self.count(type(error).__name__, 1, begun)

    async def _let_wait(self, run: Run, error: Exception, progress: Progress) -> None:
        """Leave a conversation for later. If all wait that are tried, the error is of them all."""
        begun = time.monotonic()
        progress.refusals += 1
        if progress.refusals >= REFUSALS:
            raise error
        await self._run(self._store.write, lambda tx: self._release_failed(tx, run.place, reason_of(error)))
        log.warning("%s: %s", self._view.name, reason_of(error))
        self._note_failing([run.place])
        self._failing[run.place].alone += 1
        self.held.pop(run.place, None)
        progress.whole = False
        self.count(type(error).__name__, 1, begun)

    def _pass_over(self, tx: Tx, run: Run, reason: str) -> None:
        at = (self._view.name, *run.place)
        if not tx.holds(*at, self.holder) or tx.cursor(*at) != run.lag.done:
            return
        turns = [message.turn for message in run.messages] or [run.lag.turns]
        for turn, why in [
            *((turn, reason) for turn in turns),
            *((damage.turn, kind_of(damage)) for damage in run.damaged),
        ]:
            self._put_aside(tx, run.place, turn, why)
        tx.set_cursor(*at, run.end)
        if run.last:
            tx.release(*at, self.holder)

    def _put_aside(self, tx: Tx, place: ConversationKey, turn: int, reason: str) -> None:
        failures = 0
        if not self._view.at_once:  # of a conversation as a whole there is one row, however far it was to get
            for row in set_aside_in(tx, self._view.name, place):
                failures = max(failures, row.failures)
                remove_set_aside(tx, row)
        self._hooks.skip(tx, *place, turn)
        row = SetAside(place[0], self._view.name, place[1], turn, failures + 1, None, reason)
        put_set_aside(tx, row, self._clock.now(), retried=not self._view.ordered)

    # -- once more

    async def retry(self, row: SetAside) -> bool:
        """Try a message again that was set aside; whether the view has it now."""
        begun = time.monotonic()
        try:
            run: Run | None = await self._run(self._store.write, lambda tx: self._take_again(tx, row))
            if run is None:
                return False
            self.hold([run])
            results = await self._prepare([run])
            done: bool = await self._run(self._store.write, lambda tx: self._save_again(tx, row, run, results[0]))
        except asyncio.CancelledError:
            await asyncio.shield(self.give_back(None))
            raise
        except StoreClosed:  # no lease can be given back any more
            self.held.clear()
            raise
        except EmbedderMismatch:
            await self.give_back(None)
            raise
        except Exception as error:  # noqa: BLE001  as above
            failure = error
            await self._run(self._store.write, lambda tx: self._note_failure(tx, row, failure))
            self.held.clear()
            self.count(type(error).__name__, 1, begun)
            return False
        self.held.clear()
        self.count("ok", int(done), begun)
        return done

    def _take_again(self, tx: Tx, row: SetAside) -> Run | None:
        """The message, and the lease on its conversation; None if another has that."""
        now, place = self._clock.now(), (row.space, row.conversation)
        there = tx.conversation(*place)
        if there is None or not tx.claim(self._view.name, *place, self.holder, now, now + self.lease):
            return None
        if not is_set_aside(tx, row):  # another has brought it in since it was looked for
            tx.release(self._view.name, *place, self.holder)
            return None
        if not self._view.at_once:
            return Run(Lag(*place, row.turn - 1, row.turn), ())
        where = Filter(row.space, conversation=row.conversation)
        messages = tx.messages(where, after=(row.conversation, row.turn - 1), upto=row.turn)
        return Run(Lag(*place, row.turn - 1, there.turns), messages)

    def _save_again(self, tx: Tx, row: SetAside, run: Run, result: Any) -> bool:
        """Store it. The cursor is past this message: it stays where it is."""
        at = (self._view.name, *run.place)
        if not tx.holds(*at, self.holder):
            return False
        saved = self._view.save(tx, result) or Saved(row.turn, 1)
        done = saved.upto >= row.turn and saved.outage is None
        if done:
            remove_set_aside(tx, row)
        elif is_set_aside(tx, row):
            put_set_aside(tx, row, self._clock.now(), retried=True)
        tx.release(*at, self.holder)
        return done

    def _note_failure(self, tx: Tx, row: SetAside, error: Exception) -> None:
        if fault_of(error) != "outside":
            row = replace(row, failures=row.failures + 1, error=kind_of(error))
        if is_set_aside(tx, row):
            put_set_aside(tx, row, self._clock.now(), retried=True)
        tx.release(row.view, row.space, row.conversation, self.holder)
