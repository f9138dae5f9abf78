"""Holds messages in memory while the store takes none, and writes them when it does.

A write of messages that fails because the disk is full, read-only or gone, or because the database's server is away, is
held if a setting allows it. What was held first is written first: while anything is held, a later message waits behind
it. Ids are given before, so that a write that was made although nobody heard of it is recognised and not made twice.
The next message tries again, and so does a loop in the background, with growing pauses. While a server is away only the
loop tries, and conversations are read from memory: each attempt takes as long as a busy database is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar, cast

from everword.errors import (
    CommitUnknown,
    EverwordError,
    InvalidInput,
    MessagesLost,
    ScopeError,
    StoreAway,
    StoreClosed,
    StoreError,
    StoreUnwritable,
)
from everword.follow.calls import wait_for_event
from everword.held.overlay import CannotHold, HeldTx, KnownTx, TrialTx
from everword.held.queue import HeldConversation, HeldQueue, HeldWrite, RecentMessages, fits
from everword.masking import masked_logger
from everword.model import Added, Batch, Conversation, Degraded, Filter, Message, Tiers
from everword.ports import Clock, ConversationKey, Store, Tx

T = TypeVar("T")
Run = Callable[..., Awaitable[Any]]
Append = Callable[[Tx, Batch, datetime], list[Added]]
Outage = StoreUnwritable | StoreAway | CommitUnknown

logger = masked_logger("everword.held")

OUTAGES = (StoreUnwritable, StoreAway, CommitUnknown)  # what is nobody's fault and may pass
AWAY = (StoreAway, CommitUnknown)
AT_ONCE = 100  # messages written in one transaction, after the oldest were taken
FIRST_PAUSE = 0.5  # seconds until the loop tries again
LONGEST_PAUSE = 30.0
MOMENT = timedelta(microseconds=1)


class HeldMessages:
    """The messages that a memory could not write yet. With `max_messages` 0 nothing is ever held."""

    def __init__(
        self,
        store: Store,
        run: Run,
        append: Append,
        clock: Clock,
        max_messages: int,
        on_change: Callable[[Degraded], None] | None = None,
        on_written: Callable[[], None] = lambda: None,
    ) -> None:
        """`run` calls a function in a thread, and `append` adds a batch to the log. `on_change` is called when the
        first message is held and when the last is written, and `on_written` after each transaction that wrote some."""
        self._store = store
        self._run = run
        self._append = append
        self._clock = clock
        self._on_change = on_change
        self._on_written = on_written
        self._queue = HeldQueue(max_messages)
        self._recent = RecentMessages()
        self.is_on = max_messages > 0
        self._holding = asyncio.Lock()
        self._wake = asyncio.Event()
        self._flush_task: asyncio.Task[None] | None = None
        self._loop_task: asyncio.Task[None] | None = None
        self._since: datetime | None = None
        self._error: Outage | None = None
        self._is_away = False  # then nothing can be read, either
        self._written_count = 0
        self._refused_count = 0
        self._tiers: dict[str, Tiers] = {}  # by the id of a held message

    @property
    def degraded(self) -> Degraded | None:
        """What is held, since when and why; None if nothing is."""
        if self._since is None or self._error is None:
            return None
        return Degraded(self._queue.count, self._since, self._error.reason)

    # -- writing

    async def write(self, batches: Sequence[Batch], write: Callable[[Tx], list[list[Added]]]) -> list[list[Added]]:
        """Run a function that writes these batches, whose messages have ids. If the store does not take it, or earlier
        messages are held, hold the batches."""
        await self._try_flush()
        while self._queue and self._error is not None:
            held_additions = await self._hold(batches, self._error, is_behind=True)
            if held_additions is not None:
                return held_additions
        try:
            return await self._write_now(batches, write)
        except OUTAGES as error:
            if not self.is_on:
                raise
            return await self._hold(batches, error) or []

    async def write_source(
        self, batches: Sequence[Batch], write: Callable[[Tx], list[list[Added]]]
    ) -> list[list[Added]]:
        """Run a function that writes messages of which something is made next: that must not outlive them, so they are
        never held. All that is held is written before; raises what the store raises if it does not take it."""
        await self.write_all()
        return await self._write_now(batches, write)

    async def _write_now(self, batches: Sequence[Batch], write: Callable[[Tx], list[list[Added]]]) -> list[list[Added]]:
        additions: list[list[Added]] = await self._run(self._store.write, write)
        if self.is_on:
            self._note_added(batches, [added for batch_additions in additions for added in batch_additions])
        return additions

    async def write_view(self, write: Callable[[Tx], T], otherwise: T) -> T:
        """Run a function that writes what is not worth holding: during an outage nothing is written."""
        if self._queue:
            return otherwise
        try:
            return cast(T, await self._run(self._store.write, write))
        except OUTAGES:
            if not self.is_on:
                raise
            return otherwise

    async def write_all(self) -> None:
        """Write all that is held; raises what the store raises if it does not take it."""
        if self._queue:
            await self._flush()

    async def _hold(
        self, batches: Sequence[Batch], error: Outage, *, is_behind: bool = False
    ) -> list[list[Added]] | None:
        """Check messages as if they were written, and hold them. Raises the error if that is not possible. Those that
        are held only because they are behind others are not if these were written meanwhile: then it returns None."""
        async with self._holding:
            now = self._clock.now()
            places = {(batch.space, batch.conversation) for batch in batches}
            held = self._queue.conversations(places)

            def append(tx: Tx) -> tuple[list[list[Added]], TrialTx]:
                trial = TrialTx(tx, held, self.degraded)
                return [self._append(cast(Tx, trial), batch, now) for batch in batches], trial

            is_away = self._is_away or isinstance(error, AWAY)
            try:
                additions, trial = await self._read_or_recall(append, self._known_tx(places), is_away=is_away)
            except CannotHold:
                raise error from None
            if is_behind and not self._queue:
                return None
            if trial.new_messages:
                settled = tuple(settle_batch(batch, added) for batch, added in zip(batches, additions, strict=True))
                write = HeldWrite(settled, tuple(trial.new_messages), trial.new_conversations)
                self._push(write, error)
                if isinstance(error, CommitUnknown) and not is_behind:
                    self._queue.mark_uncertain([write])
            degraded = self.degraded
            return [[mark_degraded(added, degraded) for added in batch_additions] for batch_additions in additions]

    def _push(self, write: HeldWrite, error: Outage) -> None:
        if not self._queue.has_room(write):
            raise StoreUnwritable(
                f"{error.reason}, and {self._queue.count:,} messages are held in memory; no more fit "
                f"(hold_messages = {self._queue.max_messages:,}): nothing of this was kept",
                error.reason,
            ) from error
        self._queue.push(write)
        self._note_error(error)
        if self._since is None:
            self._since = self._clock.now()
            logger.warning("messages are held in memory, and are lost if this process dies: %s", error)
            self._report(self.degraded)
        if self._loop_task is None or self._loop_task.done():
            self._loop_task = asyncio.create_task(self._keep_trying(), name="everword held messages")
        if self._is_away:
            self._wake.set()

    def _report(self, degraded: Degraded | None) -> None:
        if self._on_change is not None and degraded is not None:
            # Not called from here: an error in it must not end what is being done.
            asyncio.get_running_loop().call_soon(self._on_change, degraded)

    # -- trying again

    async def _try_flush(self) -> None:
        """Write what is held, if that does not take long to find out."""
        if self._queue and not self._is_away:
            try:
                await self._flush()
            except StoreError as error:
                self._note_error(error)

    async def _flush(self) -> None:
        """Write all that is held; whoever comes meanwhile waits for the same attempt."""
        if self._flush_task is None or self._flush_task.done():
            self._flush_task = asyncio.create_task(self._write_queue())
            self._flush_task.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._flush_task)

    async def _write_queue(self) -> None:
        """Write what is held, in order, until nothing is left. The oldest goes alone: it shows whether the store takes
        anything."""
        max_messages = 1
        while self._queue:
            writes = self._queue.oldest(max_messages)
            self._queue.mark_uncertain(writes)
            now = self._clock.now()
            try:
                additions = await self._run(self._store.write, partial(self._append_held, writes, now))
            except (InvalidInput, ScopeError) as error:
                if len(writes) == 1:  # else the one that is refused is found alone
                    self._refuse(writes[0], error)
                max_messages = 1
                continue
            self._queue.drop(writes)
            self._written_count += sum(len(write.messages) for write in writes)
            self._is_away = False
            self._note_added([batch for write in writes for batch in write.batches], additions)
            self._on_written()
            max_messages = AT_ONCE
        self._end()

    def _append_held(self, writes: Sequence[HeldWrite], now: datetime, tx: Tx) -> list[Added]:
        """Write what was held: each message once, also if it was written before and nobody heard of it."""
        batches = [batch for write in writes for batch in write.batches]
        additions: list[Added] = []
        # Every writer uses the same order, so that no two wait for each other; that of a conversation stays as it is.
        for batch in sorted(batches, key=lambda batch: (batch.space, batch.conversation)):
            additions += self._append(tx, with_future_expiry(batch, now), now)
        return additions

    def _refuse(self, write: HeldWrite, error: EverwordError) -> None:
        """Give up messages that the store would take, but the log refuses: another process has written meanwhile what
        contradicts them."""
        self._queue.drop([write])
        self._refused_count += len(write.messages)
        kind = type(error).__name__
        logger.error("%d messages that were held are refused and lost: %s", len(write.messages), kind)

    def _end(self) -> None:
        """Note that nothing is held any more."""
        if self._since is None or self._error is None:
            return
        degraded = Degraded(self._written_count, self._since, self._error.reason, is_over=True)
        logger.warning("the store takes messages again: %d that were held are written", self._written_count)
        self._since = None
        self._error = None
        self._is_away = False
        self._written_count = 0
        self._tiers.clear()
        self._report(degraded)

    def _note_error(self, error: StoreError) -> None:
        if isinstance(error, OUTAGES):
            self._error = error
            self._is_away = isinstance(error, AWAY)

    async def _keep_trying(self) -> None:
        pause = FIRST_PAUSE
        while self._queue:
            await wait_for_event(self._wake, pause)
            self._wake.clear()
            try:
                await self._flush()
            except StoreClosed:
                return  # by somebody else: nothing can be written any more
            except StoreError as error:
                self._note_error(error)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def close(self) -> None:
        """Try once more to write what is held; raises MessagesLost if that fails."""
        if self._loop_task is not None:
            self._loop_task.cancel()
            await asyncio.gather(self._loop_task, return_exceptions=True)
        reason = "another process has written what contradicts them"
        if self._queue:
            try:
                await self._flush()
            except StoreError as error:
                reason = str(error)
        count = self._queue.count + self._refused_count
        if count:
            noun = "message" if count == 1 else "messages"
            raise MessagesLost(f"{count:,} {noun} held in memory could not be written: lost, since {reason}", count)

    # -- reading

    async def read(self, place: ConversationKey, read: Callable[[Tx], T]) -> T:
        """Run a function that reads a conversation, with what is held of it. If the store cannot be read, it reads what
        is in memory; raises the store's error if nothing is."""
        held = self._queue.conversations([place])
        degraded = self.degraded

        def read_both(tx: Tx) -> T:
            return read(cast(Tx, HeldTx(tx, held, degraded)) if held else tx)

        is_known = self.is_on and (bool(held) or self._find_recent(place) is not None)
        known_tx = self._known_tx([place]) if is_known else None
        return await self._read_or_recall(read_both, known_tx, is_away=self._is_away)

    def overlay(self, place: ConversationKey, read: Callable[[Tx], T]) -> Callable[[Tx], T]:
        """A function that reads a conversation, with what is held of it."""
        held = self._queue.conversations([place])
        degraded = self.degraded
        return (lambda tx: read(cast(Tx, HeldTx(tx, held, degraded)))) if held else read

    def recall(self, place: ConversationKey) -> HeldConversation | None:
        """What is in memory of a conversation, for when the store cannot be read."""
        tx = HeldTx(self._known_tx([place]), self._queue.conversations([place]), self.degraded)
        conversation = tx.conversation(*place)
        if conversation is None:
            return None
        return HeldConversation(conversation, tuple(tx.messages(Filter(place[0], conversation=place[1]))))

    async def attempt(
        self, place: ConversationKey, read: Callable[[], Awaitable[T]], recall: Callable[[HeldConversation], T]
    ) -> T:
        """Do what reads the store. If that cannot be read, do what reads the conversation as it is in memory."""
        if self._is_away and (known := self.recall(place)) is not None:
            return recall(known)
        try:
            return await read()
        except OUTAGES:
            known = self.recall(place) if self.is_on else None
            if known is None:
                raise
            return recall(known)

    async def search(self, search: Callable[[], Awaitable[list[T]]]) -> list[T]:
        """Do what searches the store; nothing is found there while it cannot be read and something is held."""
        if self._is_away:
            return []
        try:
            return await search()
        except OUTAGES:
            if not self._queue:
                raise
            return []

    async def _read_or_recall(self, read: Callable[[Tx], T], known_tx: Tx | None, *, is_away: bool) -> T:
        """Run a function that reads the store, or what is known without it if that cannot be read."""
        if is_away and known_tx is not None:
            return read(known_tx)
        try:
            return cast(T, await self._run(self._store.read, read))
        except OUTAGES:
            if known_tx is None:
                raise
            return read(known_tx)

    def _known_tx(self, places: Iterable[ConversationKey]) -> Tx:
        """What is known of conversations without the store."""
        recent = {place: self._find_recent(place) for place in places}
        return cast(Tx, KnownTx({place: known for place, known in recent.items() if known is not None}))

    def _find_recent(self, place: ConversationKey) -> HeldConversation | None:
        """What is known of a conversation that was used shortly before the outage began."""
        return self._recent.find(place, self._since or self._clock.now())

    def messages_in(self, where: Filter) -> list[Message]:
        """The held messages that a filter means."""
        return [message for message in self._queue.messages() if fits(message, where)]

    def tiers_of(self, messages: Iterable[Message], count: Callable[[str], int]) -> dict[int, Tiers]:
        """The tiers of those messages that are held, by turn. They are made once: the views that would store them wait,
        and a window that nothing leaves is long."""
        from everword.summaries.rules.tiers import write_tiers

        tiers: dict[int, Tiers] = {}
        for message in messages:
            if message.degraded is not None:
                if message.id not in self._tiers:
                    self._tiers[message.id] = write_tiers(message.content, count)
                tiers[message.turn] = self._tiers[message.id]
        return tiers

    # -- what is known without the store

    def note_read(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Note the last messages of a conversation, for when the store cannot be read."""
        if self.is_on and not self._queue:
            self._recent.note(conversation, messages, self._clock.now())

    def _note_added(self, batches: Iterable[Batch], additions: Sequence[Added]) -> None:
        """Note messages that were written."""
        users = {(batch.space, batch.conversation): batch.user for batch in batches if batch.user is not None}
        for place in {(batch.space, batch.conversation) for batch in batches}:
            messages = [a.message for a in additions if (a.message.space, a.message.conversation) == place and a.new]
            if messages:
                user = users.get(place) or self._recent.find_user(place)
                time = messages[-1].time
                conversation = Conversation(*place, user, time, time, turns=messages[-1].turn)
                self._recent.note(conversation, messages, self._clock.now())

    def forget(self) -> None:
        """Drop what is known without the store: something was removed there."""
        self._recent.clear()


def with_future_expiry(batch: Batch, now: datetime) -> Batch:
    """A batch whose messages the log takes: one that expired while it was held expires as it is written."""
    drafts = [
        replace(draft, expires_at=now + MOMENT)
        if isinstance(draft.expires_at, datetime) and draft.expires_at <= now
        else draft
        for draft in batch.drafts
    ]
    return replace(batch, drafts=drafts)


def settle_batch(batch: Batch, additions: Sequence[Added]) -> Batch:
    """A batch that can be written later: its messages keep the times they have now, and its check was made."""
    drafts = [
        replace(draft, time=added.message.time, expires_at=added.message.expires_at or draft.expires_at)
        if added.new
        else draft
        for draft, added in zip(batch.drafts, additions, strict=True)
    ]
    return replace(batch, drafts=drafts, check=None)


def mark_degraded(added: Added, degraded: Degraded | None) -> Added:
    """An addition that says that its message is held; one that is in the store is left as it is."""
    if not added.new and added.message.degraded is None:
        return added
    return replace(added, message=replace(added.message, degraded=degraded), degraded=degraded)
