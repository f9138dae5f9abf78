"""Brings views up to date with a progress bar, or reports on followers until told to stop."""

from __future__ import annotations

import asyncio
import math
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from recollect.cli.terminal.options import printable, warn
from recollect.cli.terminal.show import plural, progress_bar

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine
    from recollect.model import ViewState
    from recollect.ports import Store

LOOK = 0.2  # seconds between updates of a progress bar
BUSY = 0.5  # seconds between a worker's reports, while there is work
IDLE = 3.0  # and while there is none


def index_state(store: Store, space: str | None = None) -> ViewState:
    """How far the index is."""
    from recollect.engine.views.index import IndexView

    return view_states(store, [IndexView.name], space)[0]


def view_states(store: Store, views: Sequence[str], space: str | None = None) -> list[ViewState]:
    """How far each of these views is."""
    now = datetime.now(UTC)
    return store.read(lambda tx: [tx.view_state(view, now, space) for view in views])


async def settle(memory: MemoryEngine, store: Store) -> int:
    """Bring every view up to date, with a progress bar. Returns how many messages the slowest view was behind."""

    async def lags() -> dict[str, int]:
        return {state.view: state.behind for state in await asyncio.to_thread(view_states, store, memory.views)}

    lag_at_start = await lags()
    total = sum(lag_at_start.values())
    with progress_bar("{task.completed:,} of {task.total:,} steps") as bar:
        task = bar.add_task("catching up", total=total)
        work = asyncio.create_task(memory.settle(math.inf))
        try:
            while not (await asyncio.wait([work], timeout=None if bar.disable else LOOK))[0]:
                remaining = await lags()
                view_at_work = next((view for view in remaining if remaining[view]), "")
                bar.update(task, description=view_at_work, completed=max(total - sum(remaining.values()), 0))
            set_aside = await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    if set_aside:
        warn(f"{plural(set_aside, 'message')} set aside, since a view failed on them: `recollect doctor` names them")
    return max(lag_at_start.values())


async def report_followers(memory: MemoryEngine, store: Store, stop: asyncio.Event) -> None:
    """Print the progress of an open memory's followers, until told to stop."""
    from recollect.errors import StoreError

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


async def settle_or_warn(memory: MemoryEngine, store: Store) -> None:
    """Settle; if a view cannot catch up now, print a warning: the messages are stored, and the view is tried again."""
    from recollect.errors import NotSettled

    try:
        await settle(memory, store)
    except NotSettled as error:
        warn(f"{error}. The messages are kept; `recollect worker --once` tries now")
