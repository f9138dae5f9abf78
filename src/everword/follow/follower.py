"""Followers bring views up to date with the log. There are no jobs that could be lost: the backlog is the difference
between the log and a cursor.

For each view and conversation a cursor says how far the view has got. A follower claims conversations that are
behind, reads their new messages, works on them outside any transaction, and then stores the result and the new cursor
in one transaction. A worker may store only if it still holds the lease and the cursor has not moved: so two workers
never do the same work twice, and a crash at any point leaves work undone but never half done. Every space is served
before any is served again, and a batch is as large as can be done in about half a second, or in three if somebody waits
for everything.

A loop runs a follower in the background. Messages that come in quick succession are brought in with one step, and what
a program adds just before it ends is left to the next process. A caller that waits for a space to be up to date ends
the pause early, and waits for that space only, not for the thousands of messages that others may have added.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Protocol

from everword.errors import EmbedderMismatch, NotSettled, StoreClosed
from everword.follow import claiming
from everword.follow.claimed_runs import Worker
from everword.follow.claiming import Claim, ClaimRequest, Lease
from everword.follow.faults import TABLE, reason_of
from everword.follow.model_calls import keep_completions
from everword.follow.store_calls import Callers, StoreCalls, wait_for_event
from everword.follow.view import Hooks, View, next_room
from everword.masking import masked_logger
from everword.model import Filter, Retried, SetAside, ViewState
from everword.ports import Clock, Telemetry, Tx

log = masked_logger("everword.followers")

FIRST_ROOM = 32  # messages in the first batch, when it is not yet known how long they take
MOST_CONVERSATIONS = 256  # in a batch of a view that reads for itself
BATCH_SECONDS = 0.5  # the intended time of a batch: a space waits this long while another is served
BACKLOG_SECONDS = 3.0  # of the processor, if somebody waits for everything: a message of a larger batch takes less
RETRIED = 8  # messages that were set aside and are tried again in one step
FIRST = ("index", "tiers")  # views on which others build
LAST = ("window", "episodes", "titles")  # views that build on others
WITHOUT_INDEX = "facts"  # what can be read while another process makes the index
RIGHT_AFTER = {"topics": "titles"}  # what reads a conversation again, best as soon as the view before has all of it
SETTLING = 0.02  # seconds between checks of what other workers are doing
ABANDONED = 2.0  # seconds without any progress or lease, after which nobody is taken to be at work on the rest
POLL = 2.0  # seconds between checks for what other processes have written
MOST_SPACES = 8  # that are looked at one by one
PAUSE = 0.1  # seconds without a new message, before a view that nobody waits for is brought up to date,
LONGEST_PAUSE = 1.0  # and the longest such wait while new messages keep coming
FULL_LOOK = 60.0  # seconds between checks of all conversations, not only of those changed lately
OVERLAP = timedelta(minutes=2)  # how far the clocks of two machines may differ
PAGE = 200  # rows read at a time
# Views that can only be rebuilt together.
TOGETHER = {
    "window": ("window", "episodes"),
    "episodes": ("window", "episodes"),
    "topics": ("topics", "titles"),
    "titles": ("topics", "titles"),
}


class Follower:
    """Keeps one view up with the log. Steps of one follower never overlap."""

    def __init__(
        self,
        calls: StoreCalls,
        view: View[Any],
        clock: Clock,
        lease_seconds: int,
        hooks: Hooks | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self.view = view
        self._calls = calls
        self._clock = clock
        self._hooks = hooks or Hooks()
        lease = Lease(view.name, clock, timedelta(seconds=lease_seconds))
        self._worker = Worker(view, lease, clock, calls, self._hooks, telemetry)
        self._step_lock = asyncio.Lock()
        self._served = claiming.ServiceOrder()
        # An ordered view finds changes of subject within a batch: it always takes batches of the same size.
        self._is_steady = view.ordered or self._hooks.steady
        self._room = self._max_room if self._is_steady else min(FIRST_ROOM, self._max_room)
        self.drained = False  # whether the last step did everything that it found
        self.trouble: str | None = None  # why this process cannot work on the view, although others may

    async def step(
        self,
        since: datetime | None = None,
        *,
        patient: bool = False,
        expects_work: bool = False,
        whole: bool = False,
        space: str | None = None,
    ) -> int:
        """Claim, prepare and store once. Returns the number of messages handled, 0 if there was nothing to do.

        It first looks without a lock, since there is usually nothing to do; not if the caller `expects_work`. With
        `patient`, what may wait for more messages is left; with `whole`, what the view it follows has only in part;
        with a `space`, what is of others.
        """
        async with self._step_lock:
            if self._worker.places:  # the store failed when they should have been given back
                await self._worker.give_back(None)
            self.drained = True
            self.trouble = None
            try:
                request = self._claim_request(since, patient, whole, space)
                if not expects_work and not await self._calls.read(lambda tx: self._has_work(tx, request)):
                    return 0
                claim, due_rows = await self._claim(request)
                message_count = await self._catch_up(claim, is_backlog=expects_work)
                retry_count = sum([await self._worker.retry(row) for row in due_rows])
                self.drained = self.drained and not (retry_count and len(due_rows) == RETRIED)
                return message_count + retry_count
            except EmbedderMismatch as error:  # other processes have the right one and do not wait for us
                self.trouble = reason_of(error)
                return 0

    @property
    def _max_room(self) -> int:
        return self.view.at_once or MOST_CONVERSATIONS

    @property
    def is_patient(self) -> bool:
        """Whether its work may wait in the background: it asks a model."""
        return self._hooks.patience is not None

    def prefer(self, space: str) -> None:
        """Serve this space next, because somebody waits for it, unless it was served just now."""
        self._served.prefer(space)

    async def lags_in(self, where: Filter, since: datetime) -> bool:
        """Whether this view still lacks something of a space, a user or a conversation that changed since then."""
        return await self._calls.read(lambda tx: self.lags(tx, where, since))

    def lags(self, tx: Tx, where: Filter, since: datetime) -> bool:
        """The same in a transaction."""
        user, conversation = where.user, where.conversation
        name, now = self.view.name, self._clock.now()
        return tx.unseen(name, now, space=where.space, since=since, user=user, conversation=conversation)

    async def retry(self, rows: Sequence[SetAside]) -> int:
        """Try messages again that were set aside, now. Returns how many of them the view has now."""
        async with self._step_lock:
            return sum([await self._worker.retry(row) for row in rows])

    def state(self, tx: Tx) -> ViewState:
        """How far this view is."""
        return tx.view_state(self.view.name, self._clock.now(), None)

    def _has_work(self, tx: Tx, request: ClaimRequest) -> bool:
        self._hooks.guard(tx)
        return claiming.is_behind(tx, request, self._clock.now()) or bool(self._due_rows(tx, request, 1))

    def _due_rows(self, tx: Tx, request: ClaimRequest, limit: int) -> list[SetAside]:
        """Messages that were set aside and are to be tried again. They can wait, and only a full look finds them; but
        not those that were changed: what the view has of them is gone."""
        is_short = request.since is not None
        return tx.set_aside_due(self.view.name, self._clock.now(), limit, changed=is_short, space=request.space)

    def _claim_request(self, since: datetime | None, patient: bool, whole: bool, space: str | None) -> ClaimRequest:
        patience = self._hooks.patience if patient else None
        hooks = self._hooks
        lease = self._worker.lease
        return ClaimRequest(self.view, lease, self._room, since, hooks.later, patience, whole, hooks.pending, space)

    async def _catch_up(self, claim: Claim, *, is_backlog: bool) -> int:
        """Work on what was claimed. In a backlog for which somebody waits, the next batch is as large as the processor
        can do in a while, however busy the machine is: nobody else waits."""
        self.drained = not claim.has_more
        if not claim.runs:
            return 0
        worker = self._worker
        started_at = time.monotonic()
        processor_at = time.process_time()
        try:
            with keep_completions():
                progress = await worker.process_runs(claim.runs)
            self._served.record_served(progress.spaces)
            if worker.places:
                await worker.give_back(None)
        except asyncio.CancelledError:
            await asyncio.shield(worker.give_back(None))
            raise
        except StoreClosed:  # no lease can be given back any more
            worker.places.clear()
            raise
        except EmbedderMismatch:
            await worker.give_back(None)
            raise
        except Exception as error:  # noqa: BLE001  whatever one view does, the log and the other views continue
            log.warning("%s: %s", self.view.name, reason_of(error))
            worker.count(type(error).__name__, 1, started_at)
            await worker.give_back(reason_of(error))
            return 0
        worker.count("ok", progress.saved_count, started_at)
        if progress.saved_count:
            self._hooks.on_saved()
        self.drained = self.drained and progress.is_complete
        if not self._is_steady:
            seconds = time.process_time() - processor_at if is_backlog else time.monotonic() - started_at
            target = BACKLOG_SECONDS if is_backlog else BATCH_SECONDS
            self._room = next_room(self._room, progress.message_count, seconds, target=target, limit=self._max_room)
        return progress.message_count

    async def _claim(self, request: ClaimRequest) -> tuple[Claim, list[SetAside]]:
        """Claim runs for this worker, and read what is to be tried again."""
        worker = self._worker
        taking = asyncio.ensure_future(self._calls.write(lambda tx: self._take(tx, request)))
        try:
            claim, due_rows = await asyncio.shield(taking)
        except asyncio.CancelledError:
            # The thread continues and takes the leases anyway: nobody else would give them back.
            await asyncio.wait([taking])
            if taking.exception() is None:
                worker.hold(taking.result()[0].runs)
                await asyncio.shield(worker.give_back(None))
            raise
        worker.hold(claim.runs)
        return claim, due_rows

    def _take(self, tx: Tx, request: ClaimRequest) -> tuple[Claim, list[SetAside]]:
        self._hooks.guard(tx)
        due_rows = self._due_rows(tx, request, RETRIED)
        return claiming.claim_runs(tx, request, self._clock.now(), self._served), due_rows


async def settle(followers: Sequence[Follower], timeout: float, calls: StoreCalls) -> int:
    """Work and wait until these views have caught up, in order: a view that follows another comes after it.

    Offline stand-ins count as done. Messages that were set aside are not waited for: their number is returned.
    Raises NotSettled, with how far each view is behind, as soon as nothing more can be done, or after the timeout.
    """
    deadline = time.monotonic() + timeout
    if not await calls.read(lambda tx: has_work_left(tx, followers)):
        return 0
    by_name = {follower.view.name: follower for follower in followers}
    progress_at = time.monotonic()
    states: list[ViewState] = []
    while True:
        message_count = 0
        whole = time.monotonic() - progress_at < ABANDONED
        finished: set[Follower] = set()
        for group in settling_groups(by_name):
            message_count += await catch_up_together(group, by_name, deadline, whole, finished)
        last_states = states
        states = await calls.read(lambda tx: [follower.state(tx) for follower in followers])
        if message_count or states != last_states or any(state.leased for state in states):
            progress_at = time.monotonic()
        pairs = zip(states, followers, strict=True)
        views_behind = [(state, follower) for state, follower in pairs if is_unsettled(state, follower)]
        if not views_behind:
            return sum(state.set_aside for state in states)
        if time.monotonic() > deadline or not (message_count or may_move_on(views_behind)):
            raise not_settled(views_behind)
        if not message_count:
            await asyncio.sleep(SETTLING)


def has_work_left(tx: Tx, followers: Iterable[Follower]) -> bool:
    """Whether a view is behind or has set something aside; they are asked one by one, until one has."""
    states = (follower.state(tx) for follower in followers)
    return any(state.behind or state.set_aside for state in states)


def may_move_on(views_behind: Iterable[tuple[ViewState, Follower]]) -> bool:
    """Whether one of these views may get further, by another worker or after its pause."""
    return any(not follower.trouble and (state.leased or not state.waiting) for state, follower in views_behind)


def not_settled(views_behind: Sequence[tuple[ViewState, Follower]]) -> NotSettled:
    error = NotSettled("; ".join(describe_lag(state, follower.trouble) for state, follower in views_behind))
    error.left = {state.view: state.behind for state, _ in views_behind}
    return error


def settling_groups(by_name: Mapping[str, Follower]) -> list[list[Follower]]:
    """The followers in groups that work one after the other. The views of a group build on none of it: they take a
    batch in turn, since much of what one reads in a message the next reads again. Facts come last, but first in a
    process that helps another, which makes the index meanwhile: so each of them has work, and seldom the same."""
    others = [follower for name, follower in by_name.items() if name not in (*FIRST, *LAST, WITHOUT_INDEX)]
    first, last, facts = (
        [[by_name[name]] for name in names if name in by_name] for names in (FIRST, LAST, (WITHOUT_INDEX,))
    )
    return [*first, others, *last, *facts] if first else [*facts, others, *last]


async def catch_up_together(
    followers: Sequence[Follower],
    by_name: Mapping[str, Follower],
    deadline: float,
    whole: bool,
    finished: set[Follower],
) -> int:
    """Let these views do all they can, each as far as the others: what one has read of a message the next finds in
    memory. A view that reads conversations again takes only `whole` ones; it is `finished` if it did so right after the
    view before it had all of them. Returns the number of messages handled."""
    message_count = 0
    counts = {follower: 0 for follower in followers if follower not in finished}
    while counts:
        follower = min(counts, key=counts.__getitem__)
        reads_again = follower.view.name in RIGHT_AFTER.values()
        step_count = await follower.step(expects_work=True, whole=whole and reads_again)
        message_count += step_count
        counts[follower] += step_count
        if not step_count or follower.drained or time.monotonic() > deadline:
            del counts[follower]
        reader = by_name.get(RIGHT_AFTER.get(follower.view.name, ""))
        if step_count and reader is not None and not reader.is_patient:  # a model writes from what others write before
            message_count += await reader.step(expects_work=follower.drained, whole=True)
            if follower.drained and reader.drained:
                finished.add(reader)
    return message_count


def is_unsettled(state: ViewState, follower: Follower) -> bool:
    """Whether a view is behind, apart from what the built-in writer stands in for."""
    has_stand_in = follower.drained and state.waiting == state.standing_in > 0 and not state.leased
    return bool(state.behind) and not has_stand_in


def describe_lag(state: ViewState, trouble: str | None) -> str:
    error = trouble or state.error
    idle_reason = "another worker holds the lease" if state.leased else "there was no time for more"
    cause = f"the last error was: {error}" if error else idle_reason
    return f"the {state.view} view is {state.behind} messages behind the log ({cause}); it is tried again by itself"


class Steps(Protocol):
    """What a loop runs: a follower, or what sends events."""

    drained: bool

    async def step(self, since: datetime | None = None, *, patient: bool = False, space: str | None = None) -> int: ...

    async def lags_in(self, where: Filter, since: datetime) -> bool: ...

    def prefer(self, space: str) -> None: ...


class Loop:
    """Runs a follower in the background of a process until it is told to stop."""

    def __init__(
        self,
        follower: Steps,
        clock: Clock,
        on_progress: Callable[..., None] = lambda *_: None,
        callers: Callers | None = None,
    ) -> None:
        """`on_progress` is called after each step that brought something in, with the space if the step was of one:
        other views may follow this one. While there are `callers`, the loop leaves them half of the time."""
        self._follower = follower
        self._clock = clock
        self._on_progress = on_progress
        self._callers = callers or Callers()
        self._wake = asyncio.Event()
        self._woken_spaces: set[str] = set()
        self._last_sweep = float("-inf")  # when all spaces were looked at last
        self._trouble = ""  # why the last step failed
        self._idle = asyncio.Event()
        self._hurry = asyncio.Event()
        self._step_done = asyncio.Event()  # set, and replaced by a new one, at the end of each step
        self._task: asyncio.Task[None] | None = None
        self._stopping = False

    def start(self) -> None:
        self._task = asyncio.create_task(self._run_forever(), name="everword followers")

    def wake(self, *spaces: str) -> None:
        """Say that there is something new in these spaces, or anywhere, so that the loop does not wait for its next
        check."""
        if spaces:
            self._woken_spaces.update(spaces)
        else:
            self._last_sweep = float("-inf")
        self._idle.clear()
        self._wake.set()

    async def wait_for(self, where: Filter, timeout: float, *, others: bool = False) -> bool:
        """Wait until all that this process has written of a space, a user or a conversation so far was handled, and if
        `others`, what other processes have written, too; False after the timeout."""
        deadline = time.monotonic() + timeout
        while others or not self._idle.is_set():
            if self._idle.is_set():
                if not await self._follower.lags_in(where, self._clock.now() - OVERLAP):
                    return True
                self.wake(where.space)
            self._follower.prefer(where.space)
            self._hurry.set()
            step_done = self._step_done
            if not await self._follower.lags_in(where, self._clock.now() - OVERLAP):
                return True
            if not await wait_for_event(step_done, deadline - time.monotonic()):
                return False
            if self._idle.is_set():  # another process works on what is left
                await asyncio.sleep(SETTLING)
        return True

    async def stop(self) -> None:
        # If the store fails while leases are given back, that error hides the cancellation: hence the flag.
        self._stopping = True
        if self._task is not None:
            self._wake.set()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run_forever(self) -> None:
        last_full_look = float("-inf")
        has_more = False
        work_seconds = 0.0
        while not self._stopping:
            await self._pause(has_more, work_seconds)
            self._wake.clear()
            started_at = time.monotonic()
            is_full_look = started_at - last_full_look > FULL_LOOK
            call_count = self._callers.call_count
            has_more = await self._look(None if is_full_look else self._clock.now() - OVERLAP)
            work_seconds = time.monotonic() - started_at if self._callers.call_count != call_count else 0.0
            last_full_look = time.monotonic() if is_full_look and not has_more else last_full_look
            if not has_more and not self._wake.is_set():
                self._idle.set()
            self._hurry.clear()
            self._signal_step()
            if not has_more and not self._stopping:
                await wait_for_event(self._wake, POLL)
        self._idle.set()  # the loop has ended: nobody should wait for it
        self._signal_step()

    def _signal_step(self) -> None:
        self._step_done.set()
        self._step_done = asyncio.Event()

    async def _pause(self, has_more: bool, work_seconds: float) -> None:
        """Wait until no new message has come for a moment; and let others work for as long as the last step took."""
        self._wake.clear()
        deadline = time.monotonic() + LONGEST_PAUSE
        pause = max(0.0 if has_more else PAUSE, min(work_seconds, LONGEST_PAUSE))
        while (
            not await wait_for_event(self._hurry, pause)
            and self._wake.is_set()
            and time.monotonic() < deadline
            and not has_more
        ):
            self._wake.clear()
            pause = PAUSE

    async def _look(self, since: datetime | None) -> bool:
        """Look at the spaces in which there is something new, or now and then at all at once: on several machines the
        former asks one, and works while another one is away. Whether there is more to do."""
        now = time.monotonic()
        spaces, self._woken_spaces = self._woken_spaces, set()
        if since is None or len(spaces) not in range(1, MOST_SPACES + 1) or now - self._last_sweep > POLL:
            self._last_sweep = now
            if (has_more := await self._step(since)) is not None:
                return has_more
        return any([await self._step(since, space) for space in sorted(spaces)])

    async def _step(self, since: datetime | None, space: str | None = None) -> bool | None:
        """One step, in all spaces or in one: whether there is more to do; None if it failed."""
        spaces = () if space is None else (space,)
        try:
            count = await self._follower.step(since, patient=True, space=space)
        except StoreClosed:
            self._stopping = True  # somebody else closed it: there is nothing left to follow
            return False
        except Exception as error:  # noqa: BLE001  a store that is unavailable for a while must not end the loop
            reason = reason_of(error)
            if not self._stopping and reason != self._trouble:  # once: it is tried again every other second
                log.warning("followers: %s", reason)
            self._trouble = reason
            return None
        self._trouble = ""
        if count:
            self._on_progress(*spaces)
        has_more = count > 0 and not self._follower.drained
        if has_more:
            self.wake(*spaces)
        return has_more


async def retry_set_aside(
    followers: Mapping[str, Follower],
    calls: StoreCalls,
    where: Mapping[str, str],
) -> Retried:
    """Try all rows again that have these values."""
    result = Retried(0, 0)
    after: Mapping[str, Any] | None = None
    while True:
        page = await calls.read(lambda tx: tx.rows(TABLE, after, PAGE, where=where))  # noqa: B023
        for view, rows in group_by_view(page):
            follower = followers.get(view)
            if follower is None:  # this version does not have the view
                continue
            if follower.view.ordered:
                await calls.write(lambda tx: reset_conversations(tx, view, rows))  # noqa: B023  called at once
                left_count = 0
            else:
                left_count = len(rows) - await follower.retry(rows)
            result = replace(result, tried=result.tried + len(rows), left=result.left + left_count)
        if len(page) < PAGE:
            return result
        after = page[-1]


def group_by_view(page: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[SetAside]]]:
    rows = sorted((SetAside(**row) for row in page), key=lambda row: row.view)
    for view, group in groupby(rows, key=lambda row: row.view):
        yield view, list(group)


def reset_conversations(tx: Tx, view: str, rows: Sequence[SetAside]) -> None:
    """Throw away what an ordered view, and the views that follow it, have of these conversations."""
    for space, conversation in sorted({(row.space, row.conversation) for row in rows}):
        for name in TOGETHER.get(view, (view,)):
            tx.reset_view(name, space, conversation)
