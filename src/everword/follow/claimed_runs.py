"""Works on claimed runs: prepares and stores them, so that one bad message does not affect the others.

All runs are tried together. If that fails they are tried in halves, until the message that causes it is alone; it is
set aside, and everything else is stored. What was stored stays stored, and what a model has answered is not asked
again. If a store, an embedder or a model is unavailable, no message is to blame: then all remaining runs wait for a
while. But this may concern only one conversation: conversations that have failed are tried one by one from then on, and
keep no others waiting. If the store is spread over machines and one of them is away, all runs but those of its spaces
are done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

from everword.errors import EmbedderMismatch, EmbedderRefused, MachineAway, StoreClosed
from everword.follow.claiming import Lease
from everword.follow.faults import (
    Fault,
    affects_all_messages,
    fault_of,
    is_set_aside,
    kind_of,
    put_set_aside,
    reason_of,
    remove_set_aside,
    set_aside_rows,
)
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Hooks, Run, SaveResult, View
from everword.log.append_and_read import cursor_of, cursors_of, set_cursor, set_cursors
from everword.masking import masked_logger
from everword.model import Filter, SetAside
from everword.ports import STAND_IN, Clock, ConversationKey, Lag, Telemetry, Tx

log = masked_logger("everword.followers")

ISOLATION_SECONDS = 1.0  # after which the rest of a failing batch is left for later, if part of it was done
REFUSALS = 3  # by a store or an embedder without a success in between, until we assume that it refuses everything
TRIES = 3  # of a conversation alone while others succeed, until we assume that one of its messages is the cause
REMEMBERED = 10_000  # conversations that are known to fail


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a transaction stored of some runs: how many items, of which spaces, whether everything was stored, and which
    leases it gave back."""

    saved_count: int
    spaces: Collection[str]
    is_complete: bool
    released_places: Sequence[ConversationKey]


@dataclass(slots=True)
class Progress:
    """The progress of the work on a batch."""

    deadline: float
    saved_count: int = 0  # messages brought in
    set_aside: int = 0
    refusals: int = 0  # in a row
    is_complete: bool = True  # whether nothing was left undone
    spaces: set[str] = field(default_factory=set)  # of which something was handled

    @property
    def message_count(self) -> int:
        return self.saved_count + self.set_aside

    @property
    def is_late(self) -> bool:
        return self.message_count > 0 and time.monotonic() > self.deadline


@dataclass(slots=True)
class FailureRecord:
    """A conversation whose last try failed: how many messages of all had been brought in before its first failure, and
    how often it failed alone."""

    saved_before: int
    lone_failures: int = 0


class Worker:
    """Works on one view. `places` are the conversations that this worker has leased."""

    def __init__(
        self,
        view: View[Any],
        lease: Lease,
        clock: Clock,
        calls: StoreCalls,
        hooks: Hooks,
        telemetry: Telemetry | None,
    ) -> None:
        self._view = view
        self._clock = clock
        self._calls = calls
        self._hooks = hooks
        self._telemetry = telemetry
        self.lease = lease
        self.places: set[ConversationKey] = set()
        self._failing: dict[ConversationKey, FailureRecord] = {}
        self._saved_count = 0  # messages brought in so far

    def hold(self, runs: Sequence[Run]) -> None:
        self.places = {run.place for run in runs}

    async def give_back(self, error: str | None) -> None:
        """Give back all leases; with an error, the runs are tried again after a pause."""
        places = sorted(self.places)
        try:
            await self._calls.write(lambda tx: self.lease.release(tx, places, error))
        except MachineAway:  # which holds some of them: their leases lapse
            for _, group in groupby(places, key=lambda place: place[0]):
                with suppress(MachineAway):
                    own_places = [*group]
                    await self._calls.write(lambda tx: self.lease.release(tx, own_places, error))  # noqa: B023  called at once
        if error is not None:
            self._note_failing(places)
        self.places.clear()

    def count(self, outcome: str, amount: int, started_at: float) -> None:
        """Count messages brought in, or one failure, and how long it took."""
        if self._telemetry is not None:
            seconds = time.monotonic() - started_at
            self._telemetry.count("view", kind=self._view.name, outcome=outcome, amount=amount, seconds=seconds)

    # -- a batch

    async def process_runs(self, runs: Sequence[Run]) -> Progress:
        """Bring these runs in. Leases that are still held afterwards are of runs that were not tried."""
        progress = Progress(time.monotonic() + ISOLATION_SECONDS)
        await self._try_runs([run for run in runs if run.place not in self._failing], progress)
        lone_runs = [run for run in runs if run.place in self._failing]
        for run in sorted(lone_runs, key=lambda run: self._failing[run.place].lone_failures):
            await self._try_runs([run], progress)
        progress.is_complete = progress.is_complete and not self.places
        return progress

    async def _try_runs(self, runs: Sequence[Run], progress: Progress) -> None:
        runs = [run for run in runs if run.place in self.places]
        if not runs or progress.is_late:
            return
        try:
            results = await self._prepare(runs)
        except Exception as error:  # noqa: BLE001  a view may fail in any way
            await self._try_in_halves(runs, error, progress)
        else:
            await self._store_results(runs, results, progress)

    async def _try_in_halves(self, runs: Sequence[Run], error: Exception, progress: Progress) -> None:
        if isinstance(error, MachineAway):
            await self._try_by_space(runs, progress)
            return
        fault = self._fault(runs, error)
        if fault == "outside":
            raise error
        if fault == "apart":
            await self._postpone(runs[0], error, progress)
            return
        if len(runs) == 1 and len(runs[0].messages) <= 1:
            await self._blame(runs[0], error, progress)
            return
        half = len(runs) // 2
        for part in (runs[:half], runs[half:]) if half else ([run] for run in runs[0].halves()):
            await self._try_runs(part, progress)

    async def _try_by_space(self, runs: Sequence[Run], progress: Progress) -> None:
        """Do the runs of each space for itself. If there is only one, its machine is away, and its leases lapse."""
        parts = numbers_by_space(runs)
        if len(parts) == 1:
            self.places -= {run.place for run in runs}
            progress.is_complete = False
            return
        for part in parts:
            await self._try_runs([runs[number] for number in part], progress)

    async def _store_results(self, runs: Sequence[Run], results: Sequence[Any], progress: Progress) -> None:
        try:
            result: BatchResult = await self._calls.write(lambda tx: self._save(tx, runs, results))
        except Exception as error:  # noqa: BLE001  as above
            parts = self._parts(runs, error)
            if len(parts) == 1:
                await self._try_in_halves(runs, error, progress)
                return
            for part in parts:
                part_results = [results[number] for number in part]
                await self._store_results([runs[number] for number in part], part_results, progress)
            return
        for place in result.released_places:
            self.places.discard(place)
            self._failing.pop(place, None)
        self._saved_count += result.saved_count
        progress.saved_count += result.saved_count
        progress.spaces |= {*result.spaces}
        progress.refusals = 0
        progress.is_complete = progress.is_complete and result.is_complete

    def _parts(self, runs: Sequence[Run], error: Exception) -> Sequence[Sequence[int]]:
        """The numbers of the runs whose results are to be stored together, after those of all could not be."""
        if isinstance(error, MachineAway):
            return numbers_by_space(runs)
        half = len(runs) // 2
        is_divided = half and self._fault(runs, error) != "outside"
        return [range(half), range(half, len(runs))] if is_divided else [range(len(runs))]

    async def _prepare(self, runs: Sequence[Run]) -> Sequence[Any]:
        """The view's result for each run. The leases are renewed for as long as that takes."""
        readable_runs = [run for run in runs if run.messages or not run.damages]
        preparation = asyncio.ensure_future(self._view.prepare(readable_runs))
        await self.lease.renew_until_done(preparation, self._calls, [*self.places])
        if preparation.cancelled():  # not by us: it must not look like our own cancellation
            raise RuntimeError("the task that computes derived data cancelled itself")
        results = dict(zip((run.place for run in readable_runs), preparation.result(), strict=True))
        return [results.get(run.place) for run in runs]

    def _save(self, tx: Tx, runs: Sequence[Run], results: Sequence[Any]) -> BatchResult:
        name = self._view.name
        places = [run.place for run in runs]
        held_places = self.lease.held_places(tx, places)
        cursors = cursors_of(tx, name, places)
        saved_count = 0
        is_complete = True
        new_cursors: dict[ConversationKey, int] = {}
        released_places: list[ConversationKey] = []
        spaces: set[str] = set()
        for run, result in zip(runs, results, strict=True):
            # Another worker took over, or the cursor moved, back for a rebuild or forward: our result is void.
            if run.place not in held_places or cursors[run.place] != run.lag.done:
                released_places.append(run.place)
                is_complete = False
                continue
            if run.is_empty and self._view.at_once:
                released_places.append(run.place)
                continue
            outcome = self._save_run(tx, run, result)
            new_cursors[run.place] = outcome.upto
            if outcome.upto <= run.lag.done:  # the view may have thrown away what it had of the space
                cursors |= cursors_of(tx, name, places)
            if outcome.outage:
                self.lease.release(tx, [run.place], STAND_IN + outcome.outage)
            if outcome.outage or run.last or outcome.upto < run.end:
                released_places.append(run.place)
            if outcome.done:
                spaces.add(run.lag.space)
            saved_count += outcome.done
            is_complete = is_complete and (outcome.upto >= run.lag.turns or not run.last)
        set_cursors(tx, name, new_cursors)
        self.lease.release(tx, released_places)
        return BatchResult(saved_count, spaces, is_complete, released_places)

    def _save_run(self, tx: Tx, run: Run, result: Any) -> SaveResult:
        outcome = SaveResult(run.end, len(run.messages) + len(run.damages))
        if run.messages or not run.damages:
            outcome = self._view.save(tx, result) or outcome
        for damage in run.damages:
            if damage.turn <= outcome.upto:
                self._put_aside(tx, run.place, damage.turn, kind_of(damage))
        return outcome

    # -- who is to blame

    def _fault(self, runs: Sequence[Run], error: Exception) -> Fault | Literal["apart"]:
        """As `fault_of`; but if something outside fails for one conversation alone, that conversation is set apart from
        the others, and if the others keep succeeding, one of its messages is the cause."""
        fault = fault_of(error)
        record = self._failing.get(runs[0].place) if len(runs) == 1 else None
        if record is None or fault == "message" or affects_all_messages(error):
            return fault
        if record.lone_failures >= TRIES and self._saved_count > record.saved_before:
            return "message"
        return "apart" if fault == "outside" else fault

    def _note_failing(self, places: Iterable[ConversationKey]) -> None:
        if len(self._failing) > REMEMBERED:
            self._failing.clear()
        for place in places:
            self._failing.setdefault(place, FailureRecord(self._saved_count))

    async def _blame(self, run: Run, error: Exception, progress: Progress) -> None:
        """Set aside the message of a run that fails alone. If the store or the embedder may be the cause, its
        conversation waits instead; but an embedder that has accepted other messages in this batch refuses this one."""
        if self._fault([run], error) != "message" and not (isinstance(error, EmbedderRefused) and progress.saved_count):
            await self._postpone(run, error, progress)
            return
        started_at = time.monotonic()
        await self._calls.write(lambda tx: self._skip_run(tx, run, kind_of(error)))
        log.warning("%s: a message is set aside: %s; `everword doctor` names it", self._view.name, kind_of(error))
        progress.set_aside += 1
        progress.spaces.add(run.lag.space)
        if run.last:
            self.places.discard(run.place)
            self._failing.pop(run.place, None)
        self.count(type(error).__name__, 1, started_at)

    async def _postpone(self, run: Run, error: Exception, progress: Progress) -> None:
        """Leave a conversation for later. If several in a row have to wait, the error is raised for all of them."""
        started_at = time.monotonic()
        progress.refusals += 1
        if progress.refusals >= REFUSALS:
            raise error
        await self._calls.write(lambda tx: self.lease.release(tx, [run.place], reason_of(error)))
        log.warning("%s: %s", self._view.name, reason_of(error))
        self._note_failing([run.place])
        self._failing[run.place].lone_failures += 1
        self.places.discard(run.place)
        progress.is_complete = False
        self.count(type(error).__name__, 1, started_at)

    def _skip_run(self, tx: Tx, run: Run, reason: str) -> None:
        if not self.lease.holds(tx, run.place) or cursor_of(tx, self._view.name, *run.place) != run.lag.done:
            return
        turns = [message.turn for message in run.messages] or [run.lag.turns]
        for turn, turn_reason in [
            *((turn, reason) for turn in turns),
            *((damage.turn, kind_of(damage)) for damage in run.damages),
        ]:
            self._put_aside(tx, run.place, turn, turn_reason)
        set_cursor(tx, self._view.name, *run.place, run.end)
        if run.last:
            self.lease.release(tx, [run.place])

    def _put_aside(self, tx: Tx, place: ConversationKey, turn: int, reason: str) -> None:
        failures = 0
        if not self._view.at_once:  # a view of whole conversations has one row for each conversation
            for row in set_aside_rows(tx, self._view.name, place):
                failures = max(failures, row.failures)
                remove_set_aside(tx, row)
        self._hooks.skip(tx, *place, turn)
        row = SetAside(place[0], self._view.name, place[1], turn, failures + 1, None, reason)
        put_set_aside(tx, row, self._clock.now(), retry=not self._view.ordered)

    # -- once more

    async def retry(self, row: SetAside) -> bool:
        """Try a message again that was set aside; return whether the view has it now."""
        started_at = time.monotonic()
        try:
            run: Run | None = await self._calls.write(lambda tx: self._claim_retry(tx, row))
            if run is None:
                return False
            self.hold([run])
            results = await self._prepare([run])
            success: bool = await self._calls.write(lambda tx: self._save_retry(tx, row, run, results[0]))
        except asyncio.CancelledError:
            await asyncio.shield(self.give_back(None))
            raise
        except StoreClosed:  # no lease can be given back any more
            self.places.clear()
            raise
        except EmbedderMismatch:
            await self.give_back(None)
            raise
        except Exception as error:  # noqa: BLE001  as above
            failure = error
            await self._calls.write(lambda tx: self._note_failure(tx, row, failure))
            self.places.clear()
            self.count(type(error).__name__, 1, started_at)
            return False
        self.places.clear()
        self.count("ok", int(success), started_at)
        return success

    def _claim_retry(self, tx: Tx, row: SetAside) -> Run | None:
        """Claim the conversation and read the message; None if another worker has the lease."""
        place = (row.space, row.conversation)
        conversation = tx.conversation(*place)
        if conversation is None or not self.lease.acquire(tx, [place]):
            return None
        if not is_set_aside(tx, row):  # another worker has brought it in meanwhile
            self.lease.release(tx, [place])
            return None
        if not self._view.at_once:
            return Run(Lag(*place, row.turn - 1, row.turn), ())
        where = Filter(row.space, conversation=row.conversation)
        messages = tx.messages(where, after=(row.conversation, row.turn - 1), upto=row.turn)
        return Run(Lag(*place, row.turn - 1, conversation.turns), messages)

    def _save_retry(self, tx: Tx, row: SetAside, run: Run, result: Any) -> bool:
        """Store the result. The cursor is already past this message, so it does not move."""
        if not self.lease.holds(tx, run.place):
            return False
        outcome = self._view.save(tx, result) or SaveResult(row.turn, 1)
        success = outcome.upto >= row.turn and outcome.outage is None
        if success:
            remove_set_aside(tx, row)
        elif is_set_aside(tx, row):
            if not row.failures and outcome.outage is not None:
                row = replace(row, error=STAND_IN + outcome.outage)
            put_set_aside(tx, row, self._clock.now(), retry=True)
        self.lease.release(tx, [run.place])
        return success

    def _note_failure(self, tx: Tx, row: SetAside, error: Exception) -> None:
        if fault_of(error) != "outside":
            row = replace(row, failures=row.failures + 1, error=kind_of(error))
        elif not row.failures:
            row = replace(row, error=reason_of(error))
        if is_set_aside(tx, row):
            put_set_aside(tx, row, self._clock.now(), retry=True)
        self.lease.release(tx, [(row.space, row.conversation)])


def numbers_by_space(runs: Sequence[Run]) -> list[list[int]]:
    """The numbers of the runs of each space."""
    numbers: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        numbers.setdefault(run.lag.space, []).append(number)
    return [*numbers.values()]
