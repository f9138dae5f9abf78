"""The engine's face, asynchronous: conversations, search, and what one does with a memory as a whole.

It owns the order of things and nothing else: rules decide, stores keep, views follow. Every call into a store is
one hop to a thread and one transaction. What an `add` returned is on the disk; what is derived from it follows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

from recollect.engine import facts, log, recall, turn
from recollect.engine.archiving import WindowView
from recollect.engine.ask import NONE, Asking
from recollect.engine.conversation import AsyncConversation
from recollect.engine.episodes import Calibration, EpisodesView, Writer
from recollect.engine.facts import FactsView
from recollect.engine.followers import Follower, Loop, View
from recollect.engine.indexing import EMBEDDER, IndexView
from recollect.engine.metering import Meter
from recollect.engine.tiering import TiersView
from recollect.errors import EmbedderError, InvalidInput, NotFound, RecollectError, StoreError
from recollect.model import (
    FACT_CATEGORIES,
    Added,
    Conversation,
    Erasure,
    Fact,
    Filter,
    Hit,
    Message,
    Role,
    Stats,
    Verification,
)
from recollect.ports import LLM, Clock, Embedder, Models, Request, Store, Tokenizer, Tx
from recollect.rules import log as rules
from recollect.rules.facts import as_of as as_of_then
from recollect.rules.facts import history as fact_history
from recollect.rules.log import checked_number
from recollect.rules.ranking import Weights
from recollect.rules.window import WindowRule

T = TypeVar("T")

THREADS = 8
PAGE = 500  # messages read at a time by export and history
MAX_LIMIT = 1_000  # messages in one answer
MAX_TURN = 2**31 - 1  # messages in one conversation
MAX_QUERY = 1 << 20  # bytes
MAX_KEY = 200  # bytes
CATCH_UP = 2.0  # seconds a search waits for what was just added here
FOLLOWED = {"index": ("window",), "window": ("episodes",)}  # views whose results others wait for
TOGETHER = {"window": ("window", "episodes"), "episodes": ("window", "episodes")}  # views made anew only as one
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


class MemoryEngine:
    """A memory, opened with `async with`. Safe to use from many tasks at once."""

    def __init__(self, build: Callable[[], Parts]) -> None:
        self._build = build
        self._parts: Parts | None = None
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
        self._parts = parts
        # Bound to the store, not to the memory being open: what is under way when it closes is finished.
        read, write = partial(self._run, parts.store.read), partial(self._run, parts.store.write)
        self._meter = Meter(write, read, parts.clock, parts.space)
        self._chat, self._memory_models = parts.models(self._meter)
        self._index = IndexView(parts.embedder, self._run)
        views = self._views(parts, read)
        # A turn under way brings its own tiers: until it ends, nobody else is to make them.
        later = {"tiers": lambda space, conversation: bool(self._turning[space, conversation])}
        self._followers = {
            view.name: Follower(
                parts.store, view, parts.clock, self._run, parts.lease_seconds, later.get(view.name, never)
            )
            for view in views
        }
        # Each in a loop of its own: a slow model holds up its own view and nothing else.
        self._loops = {
            name: Loop([follower], parts.clock, partial(self._wake, FOLLOWED.get(name, ())))
            for name, follower in self._followers.items()
        }
        try:
            await self._read(whole)
            if check_embedder:
                await self._check_embedder()
        except BaseException:
            await self.close()
            raise
        if parts.followers:
            for loop in self._loops.values():
                loop.start()

    def _views(self, parts: Parts, read: Callable[..., Any]) -> list[View[Any]]:
        asking = self._asking = Asking(self._memory_models)
        writer = Writer(
            parts.embedder,
            parts.tokenizer,
            self._run,
            Calibration(parts.weights.unrelated, parts.weights.spread),
            parts.level_episodes,
            parts.active_episodes,
        )
        window = (parts.window, parts.tokenizer, parts.clock, parts.raised_turns)
        return [
            self._index,
            TiersView(asking, parts.tokenizer, read),
            WindowView(*window, writer, asking.possible, self._run, read),
            EpisodesView(asking, writer, read),
            FactsView(asking, read, self._run),
        ]

    def _wake(self, names: Iterable[str] | None = None) -> None:
        """There is something new: for these views, or for all."""
        for name in self._loops if names is None else names:
            self._loops[name].wake()

    async def _check_embedder(self) -> None:
        try:
            self._opened.embedder.identity  # noqa: B018  an endpoint knows it only once it has answered
        except EmbedderError:
            return
        await self._read(self._index.check)

    async def close(self) -> None:
        """Stop following, finish what is being written, close the store."""
        if self._parts is None:
            return
        for turns in [*self._turns]:
            for one in turns:
                await turn.end(*one)
        parts, self._parts = self._parts, None
        for loop in self._loops.values():
            await loop.stop()
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
        loop = asyncio.get_running_loop()
        try:
            work = loop.run_in_executor(self._pool, fn, *args)
        except RuntimeError:  # the pool takes nothing more
            raise RecollectError(CLOSED) from None
        return await work

    async def _read(self, fn: Callable[[Any], T]) -> T:
        return await self._run(self._opened.store.read, fn)

    async def _write(self, fn: Callable[[Any], T]) -> T:
        return await self._run(self._opened.store.write, fn)

    async def _caught_up(self) -> None:
        """Wait a moment for what this process has just added to be searchable."""
        if self._opened.followers:
            await self._loops[self._index.name].idle(CATCH_UP)

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

    def _space(self, space: str | None) -> str:
        return self._opened.space if space is None else rules.checked_id("space", space)

    # -- conversations

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> AsyncConversation:
        """A conversation: with one `user`, or without, a channel of many. It begins with its first message."""
        user = None if user is None else rules.checked_id("user", user)
        return AsyncConversation(self, self._space(space), rules.checked_id("conversation", id), user)

    async def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        """Conversations of a space in order of id, those after `after`; of one user, if given."""
        place, count = self._space(space), checked_number("limit", limit, MAX_LIMIT)
        who = None if user is None else rules.checked_id("user", user)
        begin = (place, after if after == "" else rules.checked_id("after", after))
        return await self._read(lambda tx: tx.conversations(place, who, after=begin, limit=count))

    async def add_many(self, batches: Iterable[log.Batch]) -> list[list[Added]]:
        """Add messages to several conversations in one transaction: all of them, or none."""
        added = await self._add(batches)
        self._wake()
        return added

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

    # -- finding

    async def search(
        self,
        query: str,
        *,
        user: str | None = None,
        conversation: str | None = None,
        role: Role | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        limit: int = 10,
        space: str | None = None,
    ) -> list[Hit]:
        """Messages by word and by meaning, best first, within a space; of one user's memory, if given."""
        rules.checked_text("query", query, limit=MAX_QUERY)
        count, now = checked_number("limit", limit, MAX_LIMIT), self._opened.clock.now()
        where = Filter(
            self._space(space),
            user=None if user is None else rules.checked_id("user", user),
            conversation=None if conversation is None else rules.checked_id("conversation", conversation),
            role=None if role is None else rules.checked_role(role),
            after=self._time("after", after),
            before=self._time("before", before),
        )
        await self._caught_up()
        vector = (await self._opened.embedder.embed([query]))[0]

        def find(tx: Any) -> list[Hit]:
            self._index.check(tx)
            return recall.search(tx, where, query, vector, count, now, self._opened.weights)

        return await self._read(find)

    # -- what is known

    async def facts(
        self, *, user: str, as_of: datetime | None = None, category: str | None = None, space: str | None = None
    ) -> list[Fact]:
        """What is known of a person, most important first: now, or as it was so at a time."""
        place, who, when = self._space(space), rules.checked_id("user", user), self._time("as_of", as_of)
        kind = None if category is None else checked_category(category)
        known = await self._read(lambda tx: facts.facts_of(tx, place, who, active=when is None))
        held = known if when is None else as_of_then(known, when)
        chosen = [fact for fact in held if kind is None or fact.category == kind]
        return sorted(chosen, key=lambda fact: (-fact.importance, fact.category, fact.key, fact.recorded_at, fact.id))

    async def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """Every value a key has had, oldest first, with the times between which it was so."""
        place, who = self._space(space), rules.checked_id("user", user)
        rules.checked_text("key", key, limit=MAX_KEY)
        known = await self._read(lambda tx: facts.facts_of(tx, place, who))
        return fact_history(known, key)

    async def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """The messages a fact came from, oldest first."""
        place, who, id = self._space(space), rules.checked_id("user", user), rules.checked_id("fact", fact)

        def read(tx: Tx) -> list[Message]:
            found = [one for one in facts.facts_of(tx, place, who) if one.id == id]
            if not found:
                raise NotFound(f"user {who!r} has no fact {id!r} in space {place!r}; `facts` lists them")
            messages = [one for one in tx.find_messages(place, ids=found[0].sources) if not one.erased]
            return sorted(messages, key=lambda message: (message.time, message.conversation, message.turn))

        return await self._read(read)

    def _time(self, name: str, value: datetime | None) -> datetime | None:
        return None if value is None else rules.checked_time(name, value)

    # -- the memory as a whole

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views that follow the log."""
        self._opened  # noqa: B018  a memory that is closed follows nothing
        return tuple(self._followers)

    async def settle(self, timeout: float = 60.0) -> None:
        """Wait until every view has caught up with the log; raises NotSettled with the reason if one cannot."""
        self._opened  # noqa: B018  nobody waits for a memory that is closed
        for follower in self._followers.values():
            await follower.settle(timeout)

    async def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        """Throw a view away and let it be built again from the log."""
        if view not in self._followers:
            raise InvalidInput("view", f"is {view!r}; the views are: {', '.join(self._followers)}")
        place = None if space is None else rules.checked_id("space", space)
        if view == self._index.name:
            await self._opened.embedder.ready()

        def reset(tx: Tx) -> None:
            if view == self._index.name and place is not None:
                self._index.check(tx)
            again = list(TOGETHER.get(view, (view,)))
            if view == self._index.name and tx.note(EMBEDDER) != self._opened.embedder.identity:
                tx.set_note(EMBEDDER, self._opened.embedder.identity)
                again += TOGETHER["window"]  # they hold vectors too
            for name in again:
                tx.reset_view(name, place)

        await self._write(reset)
        self._wake()

    async def export(
        self, *, user: str | None = None, conversation: str | None = None, space: str | None = None
    ) -> AsyncIterator[Message]:
        """Every message of a space, or of one user's memory, or of one conversation, in order."""
        where = Filter(
            self._space(space),
            user=None if user is None else rules.checked_id("user", user),
            conversation=None if conversation is None else rules.checked_id("conversation", conversation),
        )
        after: tuple[str, int] = (conversation or "", 0)
        while True:
            page = await self._read(lambda tx: tx.messages(where, after=after, limit=PAGE))  # noqa: B023
            for message in page:
                yield message
            if len(page) < PAGE:
                return
            after = (page[-1].conversation, page[-1].turn)

    async def erase(self, *, user: str, space: str | None = None) -> Erasure:
        """Remove a person's messages and all that was derived from them, for good. Nothing else ever does this."""
        place, who, now = self._space(space), rules.checked_id("user", user), self._opened.clock.now()
        erasure = await self._write(lambda tx: log.erase(tx, place, who, now))
        await self._run(self._opened.store.scrub)
        return erasure

    async def verify(self) -> Verification:
        """Prove the log whole: every message unchanged, none missing."""
        return await self._read(log.verify)

    async def stats(self, *, space: str | None = None) -> Stats:
        """What is in the store, and how far its views are."""
        now, place = self._opened.clock.now(), None if space is None else self._space(space)
        found: Stats = await self._read(lambda tx: tx.stats(now, place))
        return replace(found, store=self._opened.store.name)


def checked_category(value: str) -> str:
    if value not in FACT_CATEGORIES:
        raise InvalidInput("category", f"is {value!r}; must be one of {', '.join(FACT_CATEGORIES)}")
    return value


def never(space: str, conversation: str) -> bool:
    return False


def whole(tx: Tx) -> None:
    """Refuse a store that a copy was to fill and did not."""
    source = tx.note(log.COPYING)
    if source is not None:
        raise StoreError(f"this store is the unfinished copy of {source}; remove it and run `recollect copy` again")
