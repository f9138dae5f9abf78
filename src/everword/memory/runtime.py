"""A memory that is open: its store, its models, and the followers that keep its views up with the log.

Every call into a store is one hop to a thread and one transaction. Each follower runs in a loop of its own, so that a
slow model holds up only its own view. Closing finishes what is being written, and ends turns under way. A memory that
follows nothing imports and builds its views when one is first asked for: a search needs none of them.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from everword.changes.retention_rules import Retention
from everword.config import Settings
from everword.context.receipts import LastPrompts
from everword.errors import EverwordError, NotFound, StoreError
from everword.follow.model_calls import ActivityCounter, Meter, has_model
from everword.follow.store_calls import CLOSED, Callers, CallThreads, StoreCalls
from everword.log import append_and_read as log
from everword.log import checks_and_seals
from everword.log.access import Access, Viewer
from everword.log.append_and_read import refuse_renamed_messages
from everword.log.operation_declarations import Operation
from everword.log.secret_policy import SecretPolicy
from everword.masking import masked_logger
from everword.model import ON_EDIT, Added, Batch, Degraded, Draft, Filter, MemoryAnswer, Message, Profile, Stats
from everword.ports import Clock, ConversationKey, Embedder, Models, Store, Tokenizer, Tx
from everword.recall.rules.ranking import Weights
from everword.recall.scope_index import LARGE, LARGE_FOR_ONE_SEARCH, ScopeIndexes
from everword.recall.vectors import VectorsView, is_made_anew
from everword.recall.view import IndexView
from everword.stores.outage_buffer import HoldingStore, mark_degraded
from everword.summaries.rules.window import WindowRule
from everword.text.detect import check_languages
from everword.text.doc import reading_in
from everword.versioned_cache import Cache

if TYPE_CHECKING:
    from everword.changes.retention import RetentionJob, RetentionSchedule
    from everword.context import turn
    from everword.follow.follower import Follower, Loop
    from everword.follow.model_calls import TaskRunner
    from everword.follow.view import Hooks, Patience, View
    from everword.memory.webhooks import Courier
    from everword.summaries.digests import Digests
    from everword.summaries.window import WindowView
    from everword.topics.rules.topics import TopicRule
    from everword.topics.titles import TitlesView
    from everword.topics.view import Topics

T = TypeVar("T")

logger = masked_logger("everword.runtime")

THREADS = 8
FOLLOWING = 2  # calls into the store by all views of a memory at a time
# Views whose results others wait for.
FOLLOWED = {"index": ("topics",), "window": ("episodes",), "topics": ("window", "titles")}
FACT_TURNS = 40  # messages that the model reads for facts at once, if they come without a pause
FIRST_TURNS = 60  # messages of a person before which it reads nothing in the background
SUMMARY_TURNS = 80  # messages after which it writes summaries
TITLE_TURNS = 400  # messages after which it writes titles of topics: one has a title from its first message on
TIER_TURNS = 60  # messages after which it writes the tiers that did not come with a reply
FIRST = {"facts": "first_facts"}  # what reads at once for a view, if that one waits for a model
DAYS = "digests"  # the view of who spoke on which day
LATE = (
    "tasks",
    "topics",
    "titles",
    "window",
    "digests",
    "followers",
    "courier",
    "retention",
)  # built when first asked for


@dataclass(frozen=True, slots=True)
class Parts:
    """What an engine is made of: its adapters, its settings, and what follows from them. `topic_rule` is made with the
    views: a search needs none."""

    store: Store
    embedder: Embedder
    tokenizer: Tokenizer
    clock: Clock
    models: Callable[[Meter], tuple[Models, Models]]
    settings: Settings
    telemetry: ActivityCounter
    retention: Retention
    window: WindowRule
    weights: Weights
    episode_distance: float
    topic_rule: Callable[[], TopicRule]
    secrets: SecretPolicy
    on_degraded: Callable[[Degraded], None] | None = None
    for_one_search: bool = False


class Runtime:
    """A memory's store, models, views and threads, which everything in the engine holds and works with.

    Its parts are there between `open` and `close`. `read` and `write` are one transaction each; `run` is for what takes
    a thread's time, `search` for what keeps a thread busy, of which only as many run at once as the store allows.
    """

    tasks: TaskRunner
    topics: Topics
    titles: TitlesView
    window: WindowView
    digests: Digests
    followers: dict[str, Follower]
    courier: Courier | None
    retention: RetentionJob

    def __init__(self, build: Callable[[], Parts]) -> None:
        self._build = build
        self._building = threading.RLock()
        self._loops: dict[str, Loop] = {}
        self._schedule: RetentionSchedule | None = None
        self._parts: Parts | None = None
        self.languages = ""  # that texts may be in
        self._callers = Callers()  # all but views
        self._turn_counts: Counter[tuple[str, str]] = Counter()
        self._open_turns: list[list[tuple[turn.Turn, turn.TurnTools]]] = []

    # -- opening and closing

    async def open(self, *, check_embedder: bool = True) -> None:
        """Open the store, build the views and start following."""
        if self._parts is not None:
            return
        for name in LATE:
            self.__dict__.pop(name, None)  # of the last time
        self._loops = {}
        self._schedule = None
        self._threads = CallThreads(THREADS, "everword")
        self._callers = Callers()
        parts = await self.run(self._build)
        if not parts.store.writable:  # nothing can be written there; that is no error
            parts = replace(parts, settings=replace(parts.settings, followers=False))
        self._parts = parts
        self._secrets = parts.secrets  # held messages are written when the parts are gone
        # Bound to the store, not to this memory: what is under way when the memory closes is finished.
        self.calls = StoreCalls(parts.store, self.run)
        loop = asyncio.get_running_loop()

        def report(degraded: Degraded) -> None:
            loop.call_soon_threadsafe(self._report_held, parts, degraded)

        self.store = HoldingStore(parts.store, parts.clock, parts.settings.hold_messages, report)
        self.meter = Meter(self.calls, parts.clock, parts.settings.space, parts.telemetry, parts.store.writable)
        self.chat, self._memory_models = parts.models(self.meter)
        self.cache = Cache(parts.settings.vector_cache_mb << 20)
        self.indexes = ScopeIndexes(self.cache, LARGE_FOR_ONE_SEARCH if parts.for_one_search else LARGE)
        self.last_prompts = LastPrompts()
        self._aside_calls = StoreCalls(parts.store, self.run_aside)  # a search waits for what was just added
        self.index = IndexView(parts.embedder, self._aside_calls, self.indexes)
        self._background_slots = asyncio.Semaphore(FOLLOWING)
        self._later_calls = StoreCalls(parts.store, self._run_later)
        self.read_ahead = ReadAhead(self.indexes, self._later_calls, is_on=parts.settings.followers)
        self._search_threads = CallThreads(parts.store.searches, "everword search")
        try:
            self.languages = check_languages(parts.settings.languages)
            await self.read(log.refuse_unfinished_copy)
            if check_embedder:
                await self.read(self.index.guard)
            self._follows_vectors = await self._has_vectors_to_make(parts)
            if parts.settings.webhook_urls:
                await self._note_receivers(parts.settings)
        except BaseException:
            await self.close()
            raise
        if parts.settings.followers:
            self._start_following()

    async def _has_vectors_to_make(self, parts: Parts) -> bool:
        """Whether vectors are being made anew, or should be from now on."""
        if parts.for_one_search or not parts.store.writable:
            return False
        if await self.read(self.index.has_earlier_vectors):
            await self.write(self.index.start_anew)
        return await self.read(is_made_anew)

    async def _note_receivers(self, settings: Settings) -> None:
        """Have every process keep the events for which there are receivers in the settings."""
        from everword.log.events import RECEIVERS
        from everword.memory import webhooks

        note = await self.read(lambda tx: tx.note(RECEIVERS))
        if note != webhooks.spaces_note(settings) and self.parts.store.writable:
            await self.write(lambda tx: webhooks.note_receivers(tx, settings))

    def follow_vectors(self) -> None:
        """Take part in making vectors anew."""
        if VectorsView.name in self.followers:
            return
        from everword.follow.view import Hooks

        view = VectorsView(self.index, self.parts.clock)
        self.followers[view.name] = self._build_follower(view, self._later_calls, Hooks(guard=view.guard))
        loop = self._loops[view.name] = self._build_loop(view.name)
        if self.parts.settings.followers:
            loop.start()

    def _start_following(self) -> None:
        self.followers  # noqa: B018  builds the loops
        for loop in self._loops.values():
            loop.start()
        if self._schedule is not None:
            self._schedule.start()

    def __getattr__(self, name: str) -> Any:
        """What is built when it is first asked for, in whichever thread that is."""
        if name not in LATE:
            raise AttributeError(name)
        with self._building:
            if name not in self.__dict__:
                self._build_following()
        return self.__dict__[name]

    def _build_following(self) -> None:
        """Build the views, and what needs them."""
        from everword.changes.retention import RetentionJob, RetentionSchedule

        parts = self.parts
        later_calls = self._later_calls
        views = self._build_views(parts, later_calls)
        self.digests = self._build_digests(parts)
        hooks = self._build_hooks(views)
        self.followers = {
            view.name: self._build_follower(
                view, self._aside_calls if view is self.index else later_calls, hooks.get(view.name)
            )
            for view in views
        }
        # Each follower has a loop of its own: a slow model holds up only its own view.
        self._loops = {name: self._build_loop(name) for name in self.followers}
        self.courier = self._build_courier(parts)
        self.retention = RetentionJob(parts.retention, self.calls, parts.telemetry)
        self._schedule = RetentionSchedule(self.retention, parts.retention, parts.clock, self.scrub)

    def _build_follower(self, view: View[Any], calls: StoreCalls, hooks: Hooks | None) -> Follower:
        from everword.follow.follower import Follower

        parts = self.parts
        return Follower(calls, view, parts.clock, parts.settings.lease_seconds, hooks, parts.telemetry)

    def _build_courier(self, parts: Parts) -> Courier | None:
        """What sends events, if the settings name a receiver."""
        if not parts.settings.webhook_urls or not parts.store.writable:
            return None
        from everword.follow.follower import Loop
        from everword.memory.webhooks import NAME, Courier

        courier = Courier(parts.settings, self._later_calls, parts.clock, parts.secrets, parts.telemetry)
        self._loops[NAME] = Loop(courier, parts.clock)
        return courier

    def _build_loop(self, name: str) -> Loop:
        from everword.follow.follower import Loop

        wake_next = partial(self.wake, names=FOLLOWED.get(name, ()))
        return Loop(self.followers[name], self.parts.clock, wake_next, self._callers)

    def _build_hooks(self, views: list[View[Any]]) -> dict[str, Hooks]:
        """How the follower of each view behaves: what it checks first, what it leaves for later, how long it waits for
        more. A turn under way brings its own tiers: until it ends, no other code makes them."""
        from everword.follow.view import Hooks

        patience = self.patience
        topics: Any = next(view for view in views if view.name == "topics")
        guard = self.index.guard  # raises where vectors are of another embedder

        return {
            "tiers": Hooks(later=self._has_open_turn, patience=patience.get("tiers")),
            "topics": Hooks(skip=topics.skip),
            "index": Hooks(guard=guard, on_saved=self.read_ahead.start),
            "window": Hooks(guard=guard),
            **{view.name: Hooks(guard=view.guard) for view in views if isinstance(view, VectorsView)},
            "episodes": Hooks(guard=guard, patience=patience.get("episodes"), pending="episodes"),
            "titles": Hooks(patience=patience.get("titles"), pending="topics"),
            "facts": Hooks(patience=patience.get("facts"), steady=self.tasks.has_model),
        }

    @property
    def patience(self) -> Mapping[str, Patience]:
        """How long each view that asks a model waits for more messages in the background; none if there is no model."""
        return patience_by_view(self.parts.settings) if has_model(self._memory_models) else {}

    def _build_views(self, parts: Parts, calls: StoreCalls) -> list[View[Any]]:
        from everword.facts.first_facts import FirstFactsView
        from everword.facts.view import FactsView
        from everword.follow.model_calls import TaskRunner
        from everword.summaries.digests import DaysView
        from everword.summaries.episodes import Calibration, EpisodesView, Writer
        from everword.summaries.tiers import TiersView
        from everword.summaries.window import WindowView
        from everword.topics.titles import TitlesView
        from everword.topics.view import Topics, TopicsView

        asking = self.tasks = TaskRunner(self._memory_models, parts.telemetry, self._aside_calls)
        writer = Writer(
            parts.embedder,
            parts.tokenizer,
            asking,
            Calibration(parts.weights.unrelated, parts.weights.spread),
            parts.settings.level_episodes,
            max(parts.settings.active_episodes, parts.settings.level_episodes),
        )
        self.topics = Topics(parts.topic_rule(), self.cache)
        self.titles = TitlesView(asking, parts.tokenizer, self.topics, calls)
        self.window = WindowView(
            parts.window,
            parts.tokenizer,
            parts.clock,
            parts.settings.raised_turns,
            writer,
            asking,
            calls,
            parts.settings.time_zone,
        )
        first_facts = [FirstFactsView(asking, calls, parts.telemetry)] if asking.has_model else []
        return [
            self.index,
            *([VectorsView(self.index, parts.clock)] if self._follows_vectors else []),
            *first_facts,
            TiersView(asking, parts.tokenizer, calls, parts.window.turns),
            TopicsView(self.topics, calls),
            self.window,
            EpisodesView(asking, writer, calls),
            FactsView(asking, calls, parts.telemetry),
            DaysView(parts.clock, parts.settings.time_zone),
            self.titles,
        ]

    def _build_digests(self, parts: Parts) -> Digests:
        from everword.follow.claiming import SingleFlight
        from everword.summaries.digests import DayWriter, Digests

        return Digests(
            self.tasks,
            DayWriter(self.tasks, parts.tokenizer, self.calls, parts.settings.digest_tokens),
            SingleFlight(self.calls, parts.clock, parts.settings.lease_seconds, parts.store.writable),
            self.calls,
            parts.clock,
            parts.telemetry,
            parts.settings.time_zone,
            self._wait_for_days,
        )

    async def _wait_for_days(self, space: str) -> None:
        """Wait a moment until who spoke when, and in which thread, is known of what was said so far in a space, in any
        process."""
        if not self.parts.store.writable:
            return
        for view in ("index", "topics", DAYS):
            await self._catch_up(view, space)

    async def _catch_up(self, view: str, space: str) -> None:
        from everword.follow.follower import OVERLAP

        parts = self.parts
        follower = self.followers[view]
        since = parts.clock.now() - OVERLAP
        if parts.settings.followers:
            await self._loops[view].wait_for(Filter(space), self.parts.settings.index_seconds)
        deadline = time.monotonic() + parts.settings.index_seconds
        since_then = since if parts.settings.followers else None
        while await follower.step(since_then, space=space) and time.monotonic() < deadline:
            if follower.drained or not await follower.lags_in(Filter(space), since):
                return

    def wake(self, *spaces: str, names: Iterable[str] | None = None) -> None:
        """Wake the loops of these views, or of all: there is something new to read in these spaces, or anywhere."""
        for name in self._loops.keys() if names is None else self._loops.keys() & names:
            self._loops[name].wake(*spaces)

    async def close(self) -> None:
        """Stop following, finish what is being written, close the models and the store."""
        if self._parts is None:
            return
        for turns in [*self._open_turns]:
            from everword.context import turn

            for turn_and_tools in turns:
                await turn.end_turn(*turn_and_tools)
        parts = self._parts
        self._parts = None
        self.read_ahead.stop()
        if self._schedule is not None:
            await self._schedule.stop()
        for loop in self._loops.values():
            await loop.stop()
        if "digests" in self.__dict__:
            await self.digests.close()
        await self.meter.finish()
        await self.chat.close()
        await self._memory_models.close()
        for threads in (self._threads, self._search_threads):
            await asyncio.to_thread(threads.close)
        await parts.embedder.close()
        await asyncio.to_thread(self.store.close)

    def _report_held(self, parts: Parts, degraded: Degraded) -> None:
        """Note in the memory's loop that messages begin to be held, or that they were written: views can read them."""
        if degraded.is_over:
            self.wake()
        if parts.on_degraded is not None:
            parts.on_degraded(degraded)

    @property
    def parts(self) -> Parts:
        """What the memory is made of; raises if it is not open."""
        if self._parts is None:
            raise EverwordError(CLOSED)
        return self._parts

    @property
    def degraded(self) -> Degraded | None:
        """What is held in memory, since the store takes nothing; None if nothing is."""
        return None if self._parts is None else self.store.degraded

    async def run(self, fn: Callable[..., T], *args: Any) -> T:
        """Call a function in a thread."""
        with self._callers:
            return await self.run_aside(fn, *args)

    async def run_aside(self, fn: Callable[..., T], *args: Any) -> T:
        """Run a call of a view, for which no other call waits."""
        return await self._threads.call(self.languages, fn, *args)

    async def _run_later(self, fn: Callable[..., T], *args: Any) -> T:
        """Run a call that nobody waits for: it leaves threads, connections and the interpreter to the others."""
        async with self._background_slots:
            await self._callers.go_first()
            return await self.run_aside(fn, *args)

    async def search(self, fn: Callable[[], T], *, at_once: bool = False) -> T:
        """Run a call that keeps a thread busy, in threads of their own: only as many run at a time as the store
        allows. One that takes less time than Python lets a thread run is made `at_once`, in the event loop's thread: to
        run beside that, it would take a quarter more of the processor."""
        with self._callers:
            if at_once:
                await asyncio.sleep(0)  # whoever waits as well is counted before this call is made
                with reading_in(self.languages):
                    result = fn()
            else:
                result = await self._search_threads.call(self.languages, fn)
        self.read_ahead.start()
        return result

    async def read(self, fn: Callable[[Any], T]) -> T:
        """Run a function in a transaction that only reads."""
        return await self.run(self.parts.store.read, fn)

    async def write(self, fn: Callable[[Any], T]) -> T:
        """Run a function in a transaction, again if the database is busy: it must not change anything else. It comes
        after all messages that are held in memory."""
        self.parts  # noqa: B018  nothing is written to a memory that is closed
        return await self.run(self.store.write, fn)

    async def write_if_possible(self, fn: Callable[[Any], T], otherwise: T) -> T:
        """Run a function that writes what can be done without; if the store takes nothing, nothing is written."""
        return await self.run(self.store.write_if_possible, fn, otherwise)

    async def read_with_held(self, place: ConversationKey, fn: Callable[[Any], T]) -> T:
        """Run a function that reads a conversation, with the messages of it that are held in memory."""
        self.parts  # noqa: B018
        return await self.run(self.store.read_with_held, place, fn)

    async def scrub(self) -> tuple[str, ...]:
        """Clear what was removed out of the store's files. A failure is returned as what is left, not raised: the rows
        themselves are removed in any case."""
        try:
            return await self.run(self.parts.store.scrub)
        except StoreError as error:
            logger.warning("what was removed could not be cleared out of the files: %s", error)
            kind = type(error).__name__
            return (f"the store's files may still hold what was removed ({kind}): run `everword scrub`",)

    async def clear_removed(self) -> tuple[str, ...]:
        """Clear what was removed out of memory and out of the store's files, and wake the views. Returns what is
        left."""
        self.digests.clear()
        leftovers = await self.scrub()
        self.wake()
        return leftovers

    async def catch_up(self, where: Filter, *views: str) -> None:
        """Wait a moment until what was just added to a space, by a user or to a conversation is searchable, whichever
        process added it, and until what this process added is in these views."""
        await self._wait_for_loop(self.index.name, where, others=True)
        for name in views:
            await self._wait_for_loop(name, where)

    def is_behind(self, tx: Tx, where: Filter) -> bool:
        """Whether `catch_up` would wait for the index, as this transaction sees it. A memory that closes while it
        searches waits for nothing."""
        parts = self._parts
        if parts is None or not parts.settings.followers or self.degraded is not None:
            return False
        from everword.follow.follower import OVERLAP

        return self.followers[self.index.name].lags(tx, where, parts.clock.now() - OVERLAP)

    async def wait_for_view(self, name: str, space: str) -> None:
        """Wait a moment until a view has read what this process has just added to a space."""
        await self._wait_for_loop(FIRST.get(name, name) if FIRST.get(name) in self._loops else name, Filter(space))

    async def _wait_for_loop(self, name: str, where: Filter, *, others: bool = False) -> None:
        """As `Loop.wait_for`. If the store takes nothing, views wait too."""
        if self.parts.settings.followers and self.degraded is None:
            await self._loops[name].wait_for(where, self.parts.settings.index_seconds, others=others)

    def _has_open_turn(self, space: str, conversation: str) -> bool:
        return bool(self._turn_counts[space, conversation])

    @contextmanager
    def turn_under_way(self, space: str, conversation: str) -> Iterator[list[tuple[turn.Turn, turn.TurnTools]]]:
        """Count a turn of this conversation while it runs; a stream in the list is ended when the memory closes."""
        self._turn_counts[space, conversation] += 1
        under_way: list[tuple[turn.Turn, turn.TurnTools]] = []
        self._open_turns.append(under_way)
        try:
            yield under_way
        finally:
            self._open_turns.remove(under_way)
            self._turn_counts[space, conversation] -= 1
            if not self._turn_counts[space, conversation]:
                del self._turn_counts[space, conversation]
            if self._parts is not None:
                self.wake(space)

    # -- the log

    async def append_messages(
        self,
        batches: Iterable[Batch],
        *,
        is_source: bool = False,
        then: Callable[[Tx, list[list[Added]]], None] = lambda *_: None,
    ) -> list[list[Added]]:
        """Check messages and append them to their conversations in one transaction. Views are not woken. If the store
        takes none, they are held in memory if a setting allows it; never a source, of which something is made next,
        or by `then` in this transaction."""
        batch_list: list[Batch] = checks_and_seals.check_items("batches", batches, Batch)
        now = self.parts.clock.now()
        for batch in batch_list:
            check_batch(batch)
        ready = [log.with_ids(batch, now) for batch in batch_list]
        new = log.draft_ids(ready) - log.draft_ids(batch_list)
        order = sorted(range(len(ready)), key=lambda i: (ready[i].space, ready[i].conversation))
        is_retry = False

        def write(tx: Tx) -> list[list[Added]]:
            # If a first run was committed and only its answer got lost, the second finds its messages by their ids.
            nonlocal is_retry
            fresh = () if is_retry else new
            is_retry = True
            results: dict[int, list[Added]] = {}
            for i in order:  # every writer uses the same order, so that no two wait for each other
                results[i] = self._append_batch(tx, ready[i], now, fresh)
                refuse_renamed_messages(tx, ready[i], results[i], now)
            additions = [results[i] for i in range(len(ready))]
            then(tx, additions)
            return additions

        if is_source:
            additions = await self.write(write)
        else:
            places = {(batch.space, batch.conversation) for batch in ready}
            additions, degraded = await self.run(self.store.append, places, write)
            if degraded is not None:
                additions = [[mark_degraded(added, degraded) for added in batch] for batch in additions]
        if any(addition.kept == "edited" for batch in additions for addition in batch) and "digests" in self.__dict__:
            self.digests.clear()
        return additions

    def _append_batch(self, tx: Tx, batch: Batch, now: datetime, fresh_ids: Collection[str] = ()) -> list[Added]:
        """Append messages in a transaction: now, as a trial before they are held in memory, or later."""
        additions = log.append_messages(tx, batch, now, self._secrets, fresh_ids)
        if batch.on_edit != "version":
            return additions
        from everword.changes.edits import take_versions

        views = [follower.view for follower in self.followers.values()]
        return take_versions(tx, batch, additions, now, views, self._secrets)

    def append_message(self, tx: Tx, batch: Batch, now: datetime, fresh_ids: Collection[str] = ()) -> Message:
        """Append a batch of one message in a transaction, and return the message."""
        return log.append_messages(tx, batch, now, self._secrets, fresh_ids)[0].message

    async def keep_message(self, batch: Batch, write: Callable[[Tx], Message]) -> Message:
        """Run a function that appends the one message of a batch, which has an id, or hold the message."""
        place = (batch.space, batch.conversation)
        message, degraded = await self.run(lambda: self.store.append([place], write))
        return message if degraded is None else replace(message, degraded=degraded)

    def resolve_space(self, space: str | None) -> str:
        """The space that is named, or the memory's own."""
        return self.parts.settings.space if space is None else checks_and_seals.check_id("space", space)


def patience_by_view(settings: Settings) -> dict[str, Patience]:
    """How long each view that asks a model waits for more messages, with these settings."""
    from everword.follow.view import Patience

    quiet = timedelta(seconds=settings.batch_seconds)
    if not quiet:
        return {}
    turns = {"tiers": TIER_TURNS, "episodes": SUMMARY_TURNS, "titles": TITLE_TURNS}
    facts = Patience(FACT_TURNS, quiet, first=FIRST_TURNS)
    return {"facts": facts, **{view: Patience(count, quiet, count) for view, count in turns.items()}}


def with_waits(stats: Stats, patience: Mapping[str, Patience]) -> Stats:
    """The figures of a store, with how long what is behind waits for the model."""
    views = tuple(
        replace(state, waits=patience[state.view].describe()) if state.behind and state.view in patience else state
        for state in stats.views
    )
    return replace(stats, views=views)


class MemoryPart:
    """Some of the operations of a memory: each is a method that stands under its declaration, and is done here.

    They work over the runtime of a memory in this process, for whoever has the access. A client of a server has the
    same methods and no runtime: it sends each call, and the server runs it.
    """

    runtime: Runtime
    access: Access

    async def _viewer(self, space: str) -> Viewer | None:
        """Who reads the answers; None for a program, which decides itself what it shows."""
        return None


# -- what is read before it is asked for


class ReadAhead:
    """Reads into memory, in the background, what the next search of a scope needs whatever is asked.

    A chat searches its memory in every turn, and its last messages are in the index a moment after it. So they are read
    as soon as they are written, if somebody has searched there before: the next search does not wait for that.
    """

    def __init__(self, indexes: ScopeIndexes, calls: StoreCalls, *, is_on: bool) -> None:
        """`calls` are made when nobody waits for another."""
        self._indexes = indexes
        self._calls = calls
        self._is_on = is_on
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Start reading the scopes that should be read, and do not wait."""
        for scope in self._indexes.take_unread() if self._is_on else ():
            task = asyncio.create_task(self._read_scope(scope))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def stop(self) -> None:
        """Read nothing more; what is being read ends by itself."""
        self._is_on = False
        for task in self._tasks:
            task.cancel()

    async def _read_scope(self, scope: Filter) -> None:
        with suppress(EverwordError):  # the next search tells
            await self._calls.read(lambda tx: self._indexes.view(tx, scope, ahead=True))


# -- people by name


async def answer_by_name(
    runtime: Runtime, operation: Operation, call: Callable[..., Awaitable[Any]], arguments: Mapping[str, Any]
) -> Any:
    """What a call answers. Where it reads what is kept of a `user`, and nothing is, that may be a name: then it is
    called again with the id of the person whose name it is."""
    user = arguments.get("user")
    if user is None or not operation.takes_name:
        return await call(**arguments)
    try:
        answer = await call(**arguments)
    except NotFound:
        person = await person_named(runtime, user, arguments.get("space"))
        if person == user:
            raise
    else:
        person = user if not is_empty(answer) else await person_named(runtime, user, arguments.get("space"))
        if person == user:
            return answer
    return await call(**{**arguments, "user": person})


def is_empty(answer: Any) -> bool:
    """Whether an answer holds nothing that is kept of a person."""
    if isinstance(answer, MemoryAnswer):
        return not (answer.facts or answer.messages)
    if isinstance(answer, Profile):
        return not (answer.facts or answer.context)
    return isinstance(answer, list) and not answer


async def person_named(runtime: Runtime, user: str, space: str | None, *, only: str | None = None) -> str:
    """The id of the person whom a caller means by `user`, or the same text if it is nobody's name."""
    from everword.facts.user_by_name import person_by_name  # a search by an id does without that room

    space_id = runtime.resolve_space(space)
    return await runtime.read(lambda tx: person_by_name(tx, space_id, user, only=only))


def check_batch(batch: Batch) -> None:
    """Raise InvalidInput for what cannot be appended as it is."""
    checks_and_seals.check_id("space", batch.space)
    checks_and_seals.check_id("conversation", batch.conversation)
    if batch.user is not None:
        checks_and_seals.check_id("user", batch.user)
    checks_and_seals.check_choice("on_edit", batch.on_edit, ON_EDIT)
    checks_and_seals.check_items("drafts", batch.drafts, Draft)
