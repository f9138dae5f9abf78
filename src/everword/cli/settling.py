"""Brings views up to date with a progress bar, or reports on followers until told to stop."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from everword.cli.options import printable, warn
from everword.cli.output import plural, progress_bar
from everword.errors import NotSettled, StoreError

if TYPE_CHECKING:
    from everword.memory.memory import MemoryEngine
    from everword.model import ViewState
    from everword.ports import Store

LOOK = 1.0  # seconds between updates of the progress
LARGE = 2_000  # messages behind, of which another process does a part
HELPED_VIEWS = ("facts", "window", "topics", "titles")  # of which the other process takes what this one does not
PATIENCE = 10.0  # seconds for the other process to end
BUSY = 0.5  # seconds between a worker's reports, while there is work
IDLE = 3.0  # and while there is none


def view_states(store: Store, views: Sequence[str], space: str | None = None) -> list[ViewState]:
    """How far each of these views is."""
    now = datetime.now(UTC)
    return store.read(lambda tx: [tx.view_state(view, now, space) for view in views])


async def settle(memory: MemoryEngine, store: Store, helper: HelpingProcess, views: Sequence[str] = ()) -> int:
    """Bring every view up to date, with help if there is much to do, and show the progress; or only these views.
    Returns how many messages the slowest view was behind."""

    async def lags() -> dict[str, int]:
        return {state.view: state.behind for state in await asyncio.to_thread(view_states, store, memory.views)}

    lag_at_start = await lags()
    total = steps_left(lag_at_start)
    with progress_bar("{task.completed:,} of {task.total:,} steps", visible=not views) as bar:
        task = bar.add_task("catching up", total=total)
        if not views:
            helper.start_if_large(max(lag_at_start.values()), again=True)
        work = asyncio.create_task(settle_views(memory, views))
        try:
            while not (await asyncio.wait([work], timeout=None if views else LOOK))[0]:
                remaining = await lags()
                view_at_work = next((view for view in remaining if remaining[view]), "")
                bar.update(task, description=view_at_work, completed=max(total - steps_left(remaining), 0))
            set_aside = await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    if set_aside:
        warn(f"{plural(set_aside, 'message')} set aside, since a view failed on them: `everword doctor` names them")
    return max(lag_at_start.values())


def steps_left(lags: Mapping[str, int]) -> int:
    """How many messages all views together have yet to read; a view that follows another, also what that one has."""
    from everword.memory.runtime import FOLLOWED

    leaders = {view: leader for leader, views in FOLLOWED.items() for view in views}

    def steps_of(view: str) -> int:
        leader = leaders.get(view)
        return lags.get(view, 0) + (steps_of(leader) if leader is not None else 0)

    return sum(map(steps_of, lags))


async def settle_views(memory: MemoryEngine, views: Sequence[str]) -> int:
    """Bring every view up to date, or only these."""
    from everword.follow.follower import settle as settle_followers

    if not views:
        return await memory.settle(math.inf)
    followers = [memory.runtime.followers[view] for view in views]
    return await settle_followers(followers, math.inf, memory.runtime.calls)


class HelpingProcess:
    """Another process that does a part of a large backlog: until its views have caught up, or this one needs no more
    help. It begins with facts, which are read in the log itself, so that it can help while messages are still coming
    in; then each process takes conversations that the other does not have."""

    def __init__(self, memory: MemoryEngine, url: str) -> None:
        self._memory = memory
        self._url = url
        self.process: subprocess.Popen[bytes] | None = None

    def start_if_large(self, backlog: int, *, again: bool = False) -> None:
        """Start it if so many messages are worth it; `again`, if it has ended. A model reads no faster for two."""
        if backlog < LARGE or self._memory.runtime.tasks.has_model or not may_share(self._url):
            return
        if self.process is None or (again and self.process.poll() is not None):
            self.process = start_helper(self._url)

    async def __aenter__(self) -> HelpingProcess:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process is not None:
            await asyncio.to_thread(stop_helper, self.process)


def may_share(url: str) -> bool:
    """Whether another process of this machine can help with a store."""
    return (os.cpu_count() or 1) > 1 and not url.startswith("json:")


def start_helper(url: str) -> subprocess.Popen[bytes]:
    """Start a process that works on views until they have caught up, and then ends: also if this process is killed."""
    chosen_views = [argument for view in HELPED_VIEWS for argument in ("--view", view)]
    return subprocess.Popen(
        [sys.executable, "-m", "everword", "worker", "--once", *chosen_views],
        env={**os.environ, "EVERWORD_STORE": url},  # an address may have a password, and everybody sees arguments
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def stop_helper(helper: subprocess.Popen[bytes]) -> None:
    """Ask the process to end, so that it gives back what it holds; what it does not give back in time is free later."""
    helper.send_signal(signal.SIGINT)
    try:
        helper.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


async def report_followers(memory: MemoryEngine, store: Store, stop: asyncio.Event) -> None:
    """Print the progress of an open memory's followers, until told to stop."""

    last_news = ""
    while not stop.is_set():
        try:
            states = await asyncio.to_thread(view_states, store, memory.views)
            news = describe_states(states)
            pause = BUSY if any(state.behind for state in states) else IDLE
        except StoreError as error:  # the followers wait for it too
            news = f"waiting for the store: {error}"
            pause = IDLE
        if news and news != last_news:
            click.echo(printable(news))
        last_news = news
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)


def describe_states(states: Sequence[ViewState]) -> str:
    """The state of the views in words; empty while they are at work without errors."""
    if not any(state.behind for state in states):
        return "caught up: every view has every message"
    return "\n".join(
        f"{state.view}: {plural(state.behind, 'message')} behind, to be tried again; the last error was: {state.error}"
        for state in states
        if state.behind and state.waiting
    )


@contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set, instead of ending the program at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    old_handlers = {
        number: signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stop
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


async def settle_or_warn(memory: MemoryEngine, store: Store, helper: HelpingProcess) -> None:
    """Settle; if a view cannot catch up now, print a warning: the messages are stored, and the view is tried again."""

    try:
        await settle(memory, store, helper)
    except NotSettled as error:
        warn(f"{error}. The messages are kept; `everword worker --once` tries now")
