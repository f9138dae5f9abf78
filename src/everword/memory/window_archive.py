"""Archives a conversation's window at once, because somebody asks for it, whatever the rule of the window says.

It takes the lease that the follower of the window takes, so that no message goes into two chunks. If a view on which
summaries rest cannot follow the log, nothing is archived: the messages stay in the window, and the error says why. A
rebuild of the window follows its rule alone.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from everword.errors import StoreBusy
from everword.follow.claiming import Lease
from everword.follow.follower import settle
from everword.log.access import ConversationScope
from everword.log.tables import cursors_of, set_cursors
from everword.memory.runtime import Runtime
from everword.model import Chunk
from everword.ports import Lag, Tx
from everword.recall.view import IndexView
from everword.summaries.episodes import EpisodesView
from everword.summaries.window import ArchivedRun, WindowView

SECONDS = 20.0  # to wait for views, and for another worker's lease
PAUSE = 0.02  # seconds between two tries to take the lease


async def archive_window(runtime: Runtime, scope: ConversationScope) -> Chunk | None:
    """Archive all but the last exchange; None if there is nothing to archive."""
    await follow_log(runtime, scope)
    parts = runtime.parts
    place = (scope.space, scope.id)
    lease = Lease(WindowView.name, parts.clock, timedelta(seconds=parts.lease_seconds))
    await acquire_lease(runtime, lease, place)
    try:
        lag = await runtime.read(lambda tx: read_lag(tx, scope))
        result = await runtime.window.archive_window(lag)
        if result.chunks:
            await runtime.write(lambda tx: save_archive(tx, runtime.window, result, lease, place))
    finally:
        await runtime.write(lambda tx: lease.release(tx, [place]))
    runtime.wake()
    return result.chunks[0] if result.chunks else None


async def follow_log(runtime: Runtime, scope: ConversationScope) -> None:
    """Bring the window of a conversation up with the log; raises NotSettled, with the reason, if it cannot be."""
    await runtime.catch_up(scope.space, WindowView.name)
    lag = await runtime.read(lambda tx: read_lag(tx, scope))
    if lag.done < lag.turns:
        followers = [runtime.followers[name] for name in (IndexView.name, WindowView.name)]
        await settle(followers, SECONDS, runtime.calls)


async def acquire_lease(runtime: Runtime, lease: Lease, place: tuple[str, str]) -> None:
    """Take the lease on the window of a conversation, waiting for whoever has it."""
    for _ in range(int(SECONDS / PAUSE)):
        if await runtime.write(lambda tx: lease.acquire(tx, [place])):
            return
        await asyncio.sleep(PAUSE)
    raise StoreBusy("another worker archives this conversation; nothing was archived, try again")


def read_lag(tx: Tx, scope: ConversationScope) -> Lag:
    """How far the window has followed the conversation."""
    conversation = scope.find(tx)
    if conversation is None:
        return Lag(scope.space, scope.id, 0, 0)
    done = cursors_of(tx, WindowView.name, [(scope.space, scope.id)])[scope.space, scope.id]
    return Lag(scope.space, scope.id, done, conversation.turns)


def save_archive(tx: Tx, view: WindowView, result: ArchivedRun, lease: Lease, place: tuple[str, str]) -> None:
    if not lease.holds(tx, place):
        raise StoreBusy("another worker has taken this conversation over; nothing was archived, try again")
    view.save(tx, result)
    # The window's own cursor stands, so this view would not see that there is a summary to be written by the model.
    written = cursors_of(tx, EpisodesView.name, [place])[place]
    set_cursors(tx, EpisodesView.name, {place: min(written, result.chunks[0].first - 1)})
