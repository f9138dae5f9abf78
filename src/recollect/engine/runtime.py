"""A memory that is open: its store, its models, and the followers that keep its views up with the log.

Every call into a store is one hop to a thread and one transaction. Each follower runs in a loop of its own, so that a
slow model holds up its own view and nothing else. Closing finishes what is being written, and ends turns under way.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from recollect.engine import turn
from recollect.engine.retention import Retaining, Schedule
from recollect.engine.tables import log
from recollect.engine.views.day_writer import Diary
from recollect.engine.views.digest_texts import Digests
from recollect.engine.views.digests import DaysView
from recollect.engine.views.episodes import Calibration, EpisodesView, Writer
from recollect.engine.views.facts import FactsView
from recollect.engine.views.index import IndexView
from recollect.engine.views.tiers import TiersView
from recollect.engine.views.titles import TitlesView
from recollect.engine.views.topics import Topics, TopicsView
from recollect.engine.views.window import WindowView
from recollect.engine.work.ask import NONE, Asking
from recollect.engine.work.follower import Follower
from recollect.engine.work.loop import OVERLAP, Loop
from recollect.engine.work.metrics import Counting
from recollect.engine.work.single_flight import Once
from recollect.engine.work.usage import Meter
from recollect.engine.work.view import Hooks, View
from recollect.errors import RecollectError, StoreError
from recollect.model import Added
from recollect.ports import LLM, Clock, Embedder, Models, Request, Store, Tokenizer, Tx
from recollect.rules import log as rules
from recollect.rules.episodes.window import WindowRule
from recollect.rules.recall.ranking import Weights
from recollect.rules.retention import Retention
from recollect.rules.topics.topics import TopicRule

T = TypeVar("T")

logger = logging.getLogger("recollect.running")

THREADS = 8
FOLLOWING = 2  # calls into the store by all views of a memory at a time
CATCH_UP = 2.0  # seconds a search waits for what was just added here
# Views whose results others wait for.
FOLLOWED = {"index": ("window", "topics"), "window": ("episodes",), "topics": ("titles",)}
CLOSED = "this memory is not open: use it inside `with` (or `async with`), and not after"


@dataclass(frozen=True, slots=True)
class Parts:
    """What an engine is made of."""

    store: Store
    embedder: Embedder
    tokenizer: Tokenizer
    clock: Clock
    space: str
    models: Callable[[Meter], tuple[Models, Models]]
    telemetry: Counting = field(default_factory=Counting)
    retention: Retention = field(default_factory=Retention)
    followers: bool = True
    lease_seconds: int = 60
    weights: Weights = field(default_factory=Weights)
    window: WindowRule = field(default_factory=WindowRule)
    rounds: int = 3
    raised_turns: int = 20
    level_episodes: int = 5
    active_episodes: int = 10
    near_episodes: int = 3
    episode_distance: float = 0.4
    topics: TopicRule = field(default_factory=TopicRule)
    time_zone: str = "UTC"
    digest_seconds: float = 20.0
    digest_tokens: int = 24_000
    share_channels: bool = False


class Running:
    """What opens, closes and follows."""

    def __init__(self, build: Callable[[], Parts]) -> None:
        self._build = build
        self._parts: Parts | None = None
        self._calls = 0  # so far, by others than views
        self._turning: Counter[tuple[str, str]] = Counter()
        self._turns: list[list[tuple[turn.Turn, turn.Tools]]] = []

    # -- opening and closing

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self, *, check_embedder: bool = True) -> None:
        """Open the store and start following. `async with` does this."""
        if self._parts is not None:
            return
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="recollect")
        parts = await self._run(self._build)
        if not parts.store.writable:  # nothing can be followed, noted or counted there, and nobody need hear of it
            parts = replace(parts, followers=False)
        self._parts = parts
        # Bound to the store, not to the memory being open: what is under way when it closes is finished.
        read, write = partial(self._run, parts.store.read), partial(self._run, parts.store.write)
        self._meter = Meter(write, read, parts.clock, parts.space, parts.telemetry, parts.store.writable)
        self._chat, self._memory_models = parts.models(self._meter)
        self._index = IndexView(parts.embedder, self._run_aside)
        self._few, self._searching = asyncio.Semaphore(FOLLOWING), asyncio.Semaphore(parts.store.searches)
        views = self._views(parts, partial(self._run_later, parts.store.read))
        self._digests = self._made_digests(parts, read, write)
        hooks = self._hooks(views)
        self._followers = {
            view.name: Follower(
                parts.store,
                view,
                parts.clock,
                self._run_aside if view is self._index else self._run_later,  # a search waits for what was just added
                parts.lease_seconds,
                hooks.get(view.name),
                parts.telemetry,
            )
            for view in views
        }
        # Each in a loop of its own: a slow model holds up its own view and nothing else.
        self._loops = {
            name: Loop(
                follower,
                parts.clock,
                partial(self._wake, FOLLOWED.get(name, ())),
                lambda: self._calls,
            )
            for name, follower in self._followers.items()
        }
        self._retaining = Retaining(parts.retention, read, write, parts.telemetry)
        self._schedule = Schedule(self._retaining, parts.retention, parts.clock, self._scrub)
        try:
            await self._read(whole)
            if check_embedder:
                await self._read(self._index.guard)
        except BaseException:
            await self.close()
            raise
        if parts.followers:
            for loop in self._loops.values():
                loop.start()
            self._schedule.start()

    def _views(self, parts: Parts, read: Callable[..., Any]) -> list[View[Any]]:
        asking = self._asking = Asking(self._memory_models, parts.telemetry, self._run_aside)
        writer = Writer(
            parts.embedder,
            parts.tokenizer,
            self._run_aside,
            Calibration(parts.weights.unrelated, parts.weights.spread),
            parts.level_episodes,
            parts.active_episodes,
        )
        self._topics = Topics(parts.topics, asking.possible)
        self._titles = TitlesView(asking, parts.tokenizer, self._topics, self._run_aside, read)
        window = (parts.window, parts.tokenizer, parts.clock, parts.raised_turns)
        return [
            self._index,
            TiersView(asking, parts.tokenizer, read, self._run_aside),
            WindowView(*window, writer, asking.possible, self._run_aside, read),
            EpisodesView(asking, writer, read),
            FactsView(asking, read, self._run_aside),
            DaysView(parts.clock, parts.time_zone),
            TopicsView(self._topics),
            self._titles,
        ]

    def _hooks(self, views: Iterable[View[Any]]) -> dict[str, Hooks]:
        """What views want of their followers."""
        # A turn under way brings its own tiers: until it ends, nobody else is to make them.
        tiers = Hooks(later=lambda space, conversation: bool(self._turning[space, conversation]))
        topics = next(view for view in views if isinstance(view, TopicsView))
        vectors = Hooks(guard=self._index.guard)
        return {
            TiersView.name: tiers,
            TopicsView.name: Hooks(skip=topics.skip),
            **dict.fromkeys((IndexView.name, WindowView.name, EpisodesView.name), vectors),
        }

    def _made_digests(self, parts: Parts, read: Callable[..., Any], write: Callable[..., Any]) -> Digests:
        return Digests(
            self._asking,
            Diary(self._asking, parts.tokenizer.count, self._run, parts.digest_tokens),
            Once(read, write, parts.clock, parts.lease_seconds, parts.store.writable),
            read,
            parts.clock,
            parts.telemetry,
            parts.time_zone,
            self._note_days,
        )

    async def _note_days(self, space: str) -> None:
        """Wait a moment until what was said so far in a space, here or in another process, has been noted."""
        parts, follower = self._opened, self._followers[DaysView.name]
        if not parts.store.writable:
            return
        since = parts.clock.now() - OVERLAP
        if parts.followers:
            await self._loops[DaysView.name].wait_for(space, CATCH_UP)
        deadline = time.monotonic() + CATCH_UP
        follower.prefer(space)
        while await follower.step(since if parts.followers else None) and time.monotonic() < deadline:
            if follower.drained or not await follower.lags_in(space, since):
                return

    def _wake(self, names: Iterable[str] | None = None) -> None:
        """There is something new: for these views, or for all."""
        for name in self._loops if names is None else names:
            self._loops[name].wake()

    async def close(self) -> None:
        """Stop following, finish what is being written, close the store."""
        if self._parts is None:
            return
        for turns in [*self._turns]:
            for one in turns:
                await turn.end(*one)
        parts, self._parts = self._parts, None
        await self._schedule.stop()
        for loop in self._loops.values():
            await loop.stop()
        await self._digests.close()
        await self._meter.finish()
        await self._chat.close()
        await self._memory_models.close()
        await asyncio.to_thread(self._pool.shutdown)
        await parts.embedder.close()
        await asyncio.to_thread(parts.store.close)

    @property
    def _opened(self) -> Parts:
        if self._parts is None:
            raise RecollectError(CLOSED)
        return self._parts

    async def _run(self, fn: Callable[..., T], *args: Any) -> T:
        self._calls += 1
        return await self._run_aside(fn, *args)

    async def _run_aside(self, fn: Callable[..., T], *args: Any) -> T:
        """For views: these calls are not counted among those of others."""
        loop = asyncio.get_running_loop()
        try:
            work = loop.run_in_executor(self._pool, call_in_thread, fn, *args)
        except RuntimeError:  # the pool takes nothing more
            raise RecollectError(CLOSED) from None
        return await work

    async def _run_later(self, fn: Callable[..., T], *args: Any) -> T:
        """For what nobody waits for: it leaves threads and connections to those who do."""
        async with self._few:
            return await self._run_aside(fn, *args)

    async def _search(self, fn: Callable[[], T]) -> T:
        """For what takes a thread's whole attention: the others wait for their turn, and not in each other's way."""
        async with self._searching:
            return await self._run(fn)

    async def _read(self, fn: Callable[[Any], T]) -> T:
        return await self._run(self._opened.store.read, fn)

    async def _write(self, fn: Callable[[Any], T]) -> T:
        return await self._run(self._opened.store.write, fn)

    async def _scrub(self) -> tuple[str, ...]:
        """Clear what was removed out of the store's files. If that fails, what was removed is gone all the same: so it
        is told as what is left, and not as an error."""
        try:
            return await self._run(self._opened.store.scrub)
        except StoreError as error:
            logger.warning("what was removed could not be cleared out of the files: %s", error)
            kind = type(error).__name__
            return (f"the store's files may still hold what was removed ({kind}): run `recollect scrub`",)

    async def _caught_up(self, space: str, *views: str) -> None:
        """Wait a moment for what this process has just added to a space to be searchable, and to be in these views."""
        if self._opened.followers:
            for name in (self._index.name, *views):
                await self._loops[name].wait_for(space, CATCH_UP)

    @contextmanager
    def _turn_of(self, space: str, conversation: str) -> Iterator[list[tuple[turn.Turn, turn.Tools]]]:
        """While a turn of this conversation is under way; a stream is noted, to be ended when the memory closes."""
        self._turning[space, conversation] += 1
        under_way: list[tuple[turn.Turn, turn.Tools]] = []
        self._turns.append(under_way)
        try:
            yield under_way
        finally:
            self._turns.remove(under_way)
            self._turning[space, conversation] -= 1
            if not self._turning[space, conversation]:
                del self._turning[space, conversation]
            if self._parts is not None:
                self._wake()

    async def _usable(self, model: LLM) -> None:
        """With no model configured, say how to configure one before anything is kept."""
        if model.name == NONE:
            await model.complete(Request([]))

    # -- the log

    async def _add(self, batches: Iterable[log.Batch]) -> list[list[Added]]:
        given, now = list(batches), self._opened.clock.now()
        for batch in given:
            rules.checked_id("space", batch.space)
            rules.checked_id("conversation", batch.conversation)
            if batch.user is not None:
                rules.checked_id("user", batch.user)
        ready = [log.drawn(batch, now) for batch in given]
        new = log.ids_of(ready) - log.ids_of(given)
        order = sorted(range(len(ready)), key=lambda i: (ready[i].space, ready[i].conversation))
        tried = False

        def write(tx: Tx) -> list[list[Added]]:
            # If a first run was committed and only its answer got lost, the second finds its messages by their ids.
            nonlocal tried
            fresh, tried = () if tried else new, True
            done: dict[int, list[Added]] = {}
            for i in order:  # in one order for everybody, so that no two writers wait for each other
                done[i] = log.append(tx, ready[i], now, fresh)
            return [done[i] for i in range(len(ready))]

        return await self._write(write)

    def _space(self, space: str | None) -> str:
        return self._opened.space if space is None else rules.checked_id("space", space)

    def _time(self, name: str, value: datetime | None) -> datetime | None:
        return None if value is None else rules.checked_time(name, value)


def call_in_thread(fn: Callable[..., T], *args: Any) -> T:
    """Call a function for the event loop, which cannot be given a StopIteration: who awaits it would wait for ever."""
    try:
        return fn(*args)
    except StopIteration as error:
        raise RuntimeError("an iterator ended too early") from error


def whole(tx: Tx) -> None:
    """Refuse a store that a copy was to fill and did not."""
    source = tx.note(log.COPYING)
    if source is not None:
        raise StoreError(f"this store is the unfinished copy of {source}; remove it and run `recollect copy` again")
