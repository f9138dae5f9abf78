"""A store around another, which holds messages in memory while the other takes none, and writes them when it does.

Only `append` holds anything: a write that fails because the disk is full, read-only or gone, or because the database's
server is away, is tried in a transaction that keeps nothing, so that it is checked, recognised and numbered like any
other, and is run again later. A write may run more than once (see `ports`), and finds by their ids the messages that it
has written before. What was held first is written first: every other write waits behind it, and fails if it cannot be
written. The next write tries again, and so does a thread in the background, with growing pauses. While a server is away
only that thread tries: each attempt takes as long as a busy database is waited for.

`read` sees what is written, as views must. `read_with_held` also sees what is held, as messages at the end of their
conversations with provisional turns, since another process may write first; if the store cannot be read at all, it sees
the last messages of recent conversations and nothing else.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar, cast

from everword.errors import (
    CommitUnknown,
    EverwordError,
    MessagesLost,
    StoreAway,
    StoreClosed,
    StoreError,
    StoreUnwritable,
)
from everword.masking import masked_logger
from everword.model import Added, Conversation, Degraded, Filter, Message
from everword.ports import Clock, ConversationKey, Store, Tx, Work

T = TypeVar("T")
Outage = StoreUnwritable | StoreAway | CommitUnknown

logger = masked_logger("everword.held")

OUTAGES = (StoreUnwritable, StoreAway, CommitUnknown)  # what is nobody's fault and may pass
AWAY = (StoreAway, CommitUnknown)
AT_ONCE = 100  # messages written in one transaction, after the oldest were taken
FIRST_PAUSE = 0.5  # seconds until the thread tries again
LONGEST_PAUSE = 30.0
MAX_BYTES = 64 << 20  # of what is said in held messages
LAST_MESSAGES = 400  # of a conversation: as many as a context looks back
MAX_CONVERSATIONS = 200
MAX_RECENT_BYTES = 32 << 20
RECENT = timedelta(minutes=10)  # what was read or written longer ago may have been removed since by another process
CHANGES_LOG = {"erase", "rewrite_messages", "move_messages", "rename_conversation"}


class CannotHold(Exception):
    """What is to be written is more than new messages at the end of a conversation."""


@dataclass(frozen=True, slots=True)
class HeldWrite:
    """A function that is to be run when the store takes it, the messages that it writes, with provisional turns, and
    the conversations as they will be then."""

    write: Callable[[Tx], object]
    messages: tuple[Message, ...]
    conversations: tuple[Conversation, ...]

    @property
    def size(self) -> int:
        return sum(message_size(message) for message in self.messages)


@dataclass(frozen=True, slots=True)
class KnownConversation:
    """A conversation, and some of its last messages in order."""

    conversation: Conversation
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldMessages:
    """What is held at a moment, by conversation. Messages with `uncertain_ids` may have been written already."""

    conversations: Mapping[ConversationKey, KnownConversation]
    uncertain_ids: Collection[str]
    degraded: Degraded | None


class HeldQueue:
    """What is held, oldest first. It is bounded by messages and by bytes: what does not fit is refused, and nothing
    that is in it leaves but by being written."""

    def __init__(self, max_messages: int) -> None:
        self.max_messages = max_messages
        self._writes: deque[HeldWrite] = deque()
        self.conversations: dict[ConversationKey, KnownConversation] = {}
        self.uncertain_ids: set[str] = set()
        self._size = 0
        self.count = 0

    def __bool__(self) -> bool:
        return bool(self._writes)

    def __iter__(self) -> Iterator[Message]:
        for write in self._writes:
            yield from write.messages

    def has_room(self, write: HeldWrite) -> bool:
        is_small = self._size + write.size <= MAX_BYTES
        return is_small and self.count + len(write.messages) <= self.max_messages

    def push(self, write: HeldWrite) -> None:
        self._writes.append(write)
        self._size += write.size
        self.count += len(write.messages)
        for conversation in write.conversations:
            place = (conversation.space, conversation.id)
            earlier = self.conversations[place].messages if place in self.conversations else ()
            new = (message for message in write.messages if (message.space, message.conversation) == place)
            self.conversations[place] = KnownConversation(conversation, (*earlier, *new))

    def oldest(self, max_messages: int) -> list[HeldWrite]:
        """The oldest writes with at most so many messages; at least one write, if there is any."""
        oldest: list[HeldWrite] = []
        count = 0
        for write in self._writes:
            count += len(write.messages)
            if oldest and count > max_messages:
                break
            oldest.append(write)
        return oldest

    def drop(self, writes: Sequence[HeldWrite]) -> None:
        """Take out the oldest writes."""
        for write in writes:
            assert self._writes[0] is write
            self._writes.popleft()
            self._size -= write.size
            self.count -= len(write.messages)
        dropped_ids = {message.id for write in writes for message in write.messages}
        self.uncertain_ids -= dropped_ids
        for place in {(message.space, message.conversation) for write in writes for message in write.messages}:
            conversation = self.conversations.pop(place)
            remaining_messages = tuple(message for message in conversation.messages if message.id not in dropped_ids)
            if remaining_messages:
                self.conversations[place] = replace(conversation, messages=remaining_messages)

    def mark_uncertain(self, writes: Iterable[HeldWrite]) -> None:
        """Note that writes may be in the store from now on, until they are dropped."""
        self.uncertain_ids |= {message.id for write in writes for message in write.messages}


@dataclass(frozen=True, slots=True)
class NotedConversation:
    """What is known of a conversation, since when, and how many bytes it takes."""

    known: KnownConversation
    noted_at: datetime
    size: int


class RecentMessages:
    """The last messages of the conversations that this process has used last, for when the store cannot be read."""

    def __init__(self) -> None:
        self._noted: dict[ConversationKey, NotedConversation] = {}  # the one used last is the last
        self._size = 0
        self._lock = threading.Lock()

    def note(self, conversation: Conversation, messages: Sequence[Message], now: datetime) -> None:
        """Note messages that were read or written, all of one conversation, in order and to its end."""
        place = (conversation.space, conversation.id)
        first_turn = messages[0].turn if messages else conversation.turns + 1
        visible_messages = [message for message in messages if not message.erased]
        with self._lock:
            before = self._noted[place].known.messages if place in self._noted else ()
            earlier = takewhile(lambda message: message.turn < first_turn, before)
            all_messages = (*earlier, *visible_messages)[-LAST_MESSAGES:]
            self._forget(place)
            size = sum(map(message_size, all_messages))
            self._noted[place] = NotedConversation(KnownConversation(conversation, all_messages), now, size)
            self._size += size
            while len(self._noted) > MAX_CONVERSATIONS or (self._size > MAX_RECENT_BYTES and len(self._noted) > 1):
                self._forget(next(iter(self._noted)))

    def find(self, place: ConversationKey, now: datetime) -> KnownConversation | None:
        """What is known of a conversation that was used shortly before."""
        entry = self._noted.get(place)
        return entry.known if entry is not None and now - entry.noted_at <= RECENT else None

    def clear(self) -> None:
        with self._lock:
            self._noted.clear()
            self._size = 0

    def _forget(self, place: ConversationKey) -> None:
        entry = self._noted.pop(place, None)
        self._size -= entry.size if entry is not None else 0


# -- transactions


class WritingTx:
    """A transaction that writes, and notes what becomes known of conversations by that. With `changed_at`, that is when
    the conversations changed: what was held is written later than it was said, and views look for what changed last."""

    def __init__(self, tx: Tx, changed_at: datetime | None = None) -> None:
        self._tx = tx
        self._changed_at = changed_at
        self.saved: list[tuple[Conversation, Sequence[Message]]] = []
        self.changes_log = False

    def __getattr__(self, name: str) -> Any:
        self.changes_log |= name in CHANGES_LOG
        return getattr(self._tx, name)

    def save_conversation(self, conversation: Conversation, new_messages: Sequence[Message] = ()) -> None:
        if self._changed_at is not None:
            conversation = replace(conversation, changed_at=self._changed_at)
        self._tx.save_conversation(conversation, new_messages)
        self.saved.append((conversation, new_messages))


class HeldTx:
    """A transaction that reads, with what is held as if it were written. A message that is in the store already,
    because it was written a moment ago, is not shown twice."""

    def __init__(self, tx: Tx, held: HeldMessages) -> None:
        self._tx = tx
        self._held = held
        self._pending: dict[ConversationKey, tuple[int, Sequence[Message]]] = {}
        self.read: dict[ConversationKey, tuple[Conversation, Sequence[Message]]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def conversation(self, space: str, id: str) -> Conversation | None:
        stored = self._tx.conversation(space, id)
        if stored is not None:
            self.read.setdefault((space, id), (stored, ()))
        last_turn, pending = self._pending_messages((space, id))
        if not pending:
            return stored
        conversation = stored or replace(self._held.conversations[space, id].conversation, head=b"")
        return replace(conversation, turns=last_turn + len(pending))

    def messages(self, where: Filter, **options: Any) -> list[Message]:
        stored = self._tx.messages(where, **options)
        if where.conversation is None or options.get("among"):
            return stored
        place = (where.space, where.conversation)
        upto, turns = options.get("upto"), options.get("turns")
        newest = options.get("newest", False)
        if place in self.read and newest and upto is None and where == Filter(*place[:1], conversation=place[1]):
            self.read[place] = (self.read[place][0], stored)
        last_turn, pending = self._pending_messages(place)
        chosen = [
            self._as_pending(message, turn)
            for turn, message in enumerate(pending, start=last_turn + 1)
            if (where.conversation, turn) > options.get("after", ("", 0))
            and (upto is None or turn <= upto)
            and (not turns or turn in turns)
            and fits(message, where)
        ]
        limit = options.get("limit")
        both = [*stored, *chosen]
        if limit is None:
            return both
        return both[max(len(both) - limit, 0) :] if newest else both[:limit]

    def find_messages(self, space: str, **options: Any) -> list[Message]:
        options |= {name: [*options.get(name, ())] for name in ("ids", "platform_ids")}  # they are read twice
        messages = self._tx.find_messages(space, **options)
        for place in [place for place in self._held.conversations if place[0] == space]:
            last_turn, pending = self._pending_messages(place)
            as_pending = (self._as_pending(message, turn) for turn, message in enumerate(pending, start=last_turn + 1))
            messages += select_messages(as_pending, **options)
        return messages

    def _pending_messages(self, place: ConversationKey) -> tuple[int, Sequence[Message]]:
        """The last turn of a conversation in the store, and the held messages that are not in it yet."""
        if place not in self._held.conversations:
            return 0, ()
        if place not in self._pending:
            unwritten: Sequence[Message] = self._held.conversations[place].messages
            uncertain_ids = [message.id for message in unwritten if message.id in self._held.uncertain_ids]
            if uncertain_ids:
                stored_ids = {message.id for message in self._tx.find_messages(place[0], ids=uncertain_ids)}
                unwritten = [message for message in unwritten if message.id not in stored_ids]
            stored = self._tx.conversation(*place)
            self._pending[place] = (0 if stored is None else stored.turns, unwritten)
        return self._pending[place]

    def _as_pending(self, message: Message, turn: int) -> Message:
        return replace(message, turn=turn, degraded=self._held.degraded)


class TrialTx(HeldTx):
    """A transaction in which messages are appended and nothing is written: they are what is to be held. What is written
    beside them is written with them, later."""

    def __init__(self, tx: Tx, held: HeldMessages) -> None:
        super().__init__(tx, held)
        self.new_messages: list[Message] = []
        self._saved: dict[ConversationKey, Conversation] = {}

    def __getattr__(self, name: str) -> Any:
        if name != "rows":
            raise CannotHold(name)
        return getattr(self._tx, name)

    @property
    def new_conversations(self) -> tuple[Conversation, ...]:
        return tuple(self._saved.values())

    def lock_conversation(self, fresh: Conversation) -> Conversation:
        saved = self._saved.get((fresh.space, fresh.id))
        return saved or self.conversation(fresh.space, fresh.id) or fresh

    def save_conversation(self, conversation: Conversation, new_messages: Sequence[Message] = ()) -> None:
        self.new_messages += new_messages
        self._saved[conversation.space, conversation.id] = conversation

    def put(self, table: str, rows: Sequence[Mapping[str, Any]], add: Sequence[str] = ()) -> None:
        """Nothing for now."""

    def find_messages(self, space: str, **options: Any) -> list[Message]:
        options |= {name: [*options.get(name, ())] for name in ("ids", "platform_ids")}
        new = [message for message in self.new_messages if message.space == space]
        return [*super().find_messages(space, **options), *select_messages(new, **options)]


# -- the store


@dataclass(slots=True)
class OutageState:
    """The outage that messages are held for: since when, the last error, and how many were written by now."""

    since: datetime | None = None
    error: Outage | None = None
    is_away: bool = False  # then nothing can be read, either
    written_count: int = 0


@dataclass(slots=True)
class FlushAttempts:
    """The attempts to write what is held: one at a time, and whoever waits for one has its result."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    count: int = 0
    error: StoreError | None = None


class HoldingStore:
    """A store that holds messages while another takes none. With `max_messages` 0 nothing is ever held."""

    def __init__(
        self, inner: Store, clock: Clock, max_messages: int, on_change: Callable[[Degraded], None] | None = None
    ) -> None:
        """`on_change` is called when the first message is held and when the last is written, in any thread."""
        self.inner = inner
        self.is_on = max_messages > 0 and inner.writable
        self._clock = clock
        self._on_change = on_change
        self._queue = HeldQueue(max_messages)
        self._recent = RecentMessages()
        self._outage = OutageState()
        self._refused_count = 0
        self._lock = threading.RLock()  # for the queue and the outage; for moments only
        self._holding = threading.Lock()
        self._attempts = FlushAttempts()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_closing = False
        self._recalling = threading.RLock()  # for the store in memory: it is not closed while somebody reads it
        self._stand_in: tuple[Mapping[ConversationKey, KnownConversation], Store] | None = None

    @property
    def degraded(self) -> Degraded | None:
        """What is held, since when and why; None if nothing is."""
        with self._lock:
            if self._outage.since is None or self._outage.error is None:
                return None
            return Degraded(self._queue.count, self._outage.since, self._outage.error.reason)

    def held_messages(self, where: Filter) -> list[Message]:
        """The held messages that a filter means."""
        with self._lock:
            return [message for message in self._queue if fits(message, where)]

    # -- writing

    def write(self, fn: Work[T]) -> T:
        """Run a function in one transaction, after all that is held: what it does may rest on that, or remove it."""
        self.flush()
        return self._write_now(fn)

    def write_if_possible(self, fn: Work[T], otherwise: T) -> T:
        """Run a function that writes what is not worth holding: during an outage nothing is written."""
        if self._queue:
            return otherwise
        try:
            return self.inner.write(fn)
        except OUTAGES:
            if not self.is_on:
                raise
            return otherwise

    def append(self, places: Collection[ConversationKey], fn: Work[T]) -> tuple[T, Degraded | None]:
        """Run a function that adds messages with ids to these conversations. If the store does not take it, or earlier
        messages are held, the messages are held; then it is also said what is held now."""
        self._try_flush()
        while (error := self._outage.error) is not None and self._queue:
            outcome = self._hold(places, fn, error, is_behind=True)
            if outcome is not None:
                return outcome
        try:
            return self._write_now(fn), None
        except OUTAGES as error:
            if not self.is_on:
                raise
            outcome = self._hold(places, fn, error)
            assert outcome is not None
            return outcome

    def _write_now(self, fn: Work[T], changed_at: datetime | None = None) -> T:
        if not self.is_on:
            return self.inner.write(fn)

        def write(tx: Tx) -> tuple[T, WritingTx]:
            writing_tx = WritingTx(tx, changed_at)
            return fn(cast(Tx, writing_tx)), writing_tx

        result, writing_tx = self.inner.write(write)
        for conversation, messages in writing_tx.saved:
            self._recent.note(conversation, messages, self._clock.now())
        if writing_tx.changes_log:
            self._recent.clear()
        return result

    def _hold(
        self, places: Collection[ConversationKey], fn: Work[T], error: Outage, *, is_behind: bool = False
    ) -> tuple[T, Degraded | None] | None:
        """Run a write as a trial, and hold it. Raises the error if that is not possible. One that is held only because
        it is behind others is not if these were written meanwhile: then None is returned."""
        with self._holding:
            held = self._held_now()

            def attempt(tx: Tx) -> tuple[T, TrialTx]:
                trial = TrialTx(tx, held)
                return fn(cast(Tx, trial)), trial

            is_away = self._outage.is_away or isinstance(error, AWAY)
            try:
                result, trial = self._read_or_recall(attempt, places, is_away=is_away)
            except CannotHold:
                raise error from None
            write = HeldWrite(fn, tuple(trial.new_messages), trial.new_conversations)
            with self._lock:
                if is_behind and not self._queue:
                    return None
                if write.messages:
                    self._push(write, error)
                    self._queue.mark_uncertain([write] if isinstance(error, CommitUnknown) and not is_behind else [])
                return result, self.degraded

    def _push(self, write: HeldWrite, error: Outage) -> None:
        if not self._queue.has_room(write):
            raise StoreUnwritable(
                f"{error.reason}, and the buffer has no room for these messages: it already has "
                f"{self._queue.count:,} of {self._queue.max_messages:,} messages (setting "
                "hold_messages). Nothing was stored",
                error.reason,
            ) from error
        self._queue.push(write)
        self._note_error(error)
        if self._outage.since is None:
            self._outage.since = self._clock.now()
            logger.warning("messages are held in memory, and are lost if this process dies: %s", error)
            self._report(self.degraded)
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep_trying, name="everword held messages", daemon=True)
            self._thread.start()
        if self._outage.is_away:
            self._wake.set()

    def _report(self, degraded: Degraded | None) -> None:
        if self._on_change is not None and degraded is not None:
            self._on_change(degraded)

    def _note_error(self, error: StoreError) -> None:
        if isinstance(error, OUTAGES):
            with self._lock:
                self._outage.error = error
                self._outage.is_away = isinstance(error, AWAY)

    # -- trying again

    def flush(self) -> None:
        """Write all that is held; raises what the store raises if it does not take it. Whoever comes during an attempt
        has its result."""
        if not self._queue:
            return
        count = self._attempts.count
        with self._attempts.lock:
            if self._attempts.count != count and self._attempts.error is not None and self._queue:
                raise self._attempts.error
            self._attempts.error = None
            try:
                self._write_queue()
            except StoreError as error:
                self._attempts.error = error
                raise
            finally:
                self._attempts.count += 1

    def _try_flush(self) -> None:
        """Write what is held, if that does not take long to find out."""
        if self._queue and not self._outage.is_away:
            try:
                self.flush()
            except StoreError as error:
                self._note_error(error)

    def _write_queue(self) -> None:
        """Write what is held, in order, until nothing is left. The oldest goes alone: it shows whether the store takes
        anything."""
        max_messages = 1
        while writes := self._take_oldest(max_messages):
            try:
                self._write_now(partial(run_writes, writes), self._clock.now())
            except StoreError:
                raise
            except EverwordError as error:
                if len(writes) == 1:  # else the one that is refused is found alone
                    self._refuse(writes[0], error)
                max_messages = 1
                continue
            with self._lock:
                self._queue.drop(writes)
                self._outage.written_count += sum(len(write.messages) for write in writes)
                self._outage.is_away = False
            max_messages = AT_ONCE

    def _take_oldest(self, max_messages: int) -> list[HeldWrite]:
        """The next writes, which may be in the store from now on. If there are none, the outage is over."""
        with self._lock:
            writes = self._queue.oldest(max_messages)
            self._queue.mark_uncertain(writes)
            if not writes and self._outage.since is not None and self._outage.error is not None:
                outage = self._outage
                self._outage = OutageState()
                logger.warning("the store takes messages again: %d that were held are written", outage.written_count)
                assert outage.since is not None
                assert outage.error is not None
                self._report(Degraded(outage.written_count, outage.since, outage.error.reason, is_over=True))
            return writes

    def _refuse(self, write: HeldWrite, error: EverwordError) -> None:
        """Give up messages that the store would take, but the log refuses: another process has written meanwhile what
        contradicts them."""
        with self._lock:
            self._queue.drop([write])
            self._refused_count += len(write.messages)
        kind = type(error).__name__
        logger.error("%d messages that were held are refused and lost: %s", len(write.messages), kind)

    def _keep_trying(self) -> None:
        pause = FIRST_PAUSE
        while self._is_needed():
            self._wake.wait(pause)
            self._wake.clear()
            if self._is_closing:
                return
            try:
                self.flush()
            except StoreClosed:
                return  # by somebody else: nothing can be written any more
            except StoreError as error:
                self._note_error(error)
                pause = min(pause * 2, LONGEST_PAUSE)

    def _is_needed(self) -> bool:
        """Whether the thread has something to do; else it ends, and the next outage starts another."""
        with self._lock:
            if not self._queue:
                self._thread = None
            return bool(self._queue)

    def close(self) -> None:
        """Try once more to write what is held, and close the store; raises MessagesLost if something is lost."""
        self._is_closing = True
        self._wake.set()
        thread = self._thread
        if thread is not None:
            thread.join()
        reason = "another process wrote conflicting data"
        try:
            self.flush()
        except StoreError as error:
            reason = str(error)
        finally:
            with self._recalling:
                self._close_stand_in()
            self.inner.close()
        count = self._queue.count + self._refused_count
        if count:
            noun = "message" if count == 1 else "messages"
            raise MessagesLost(f"{count:,} {noun} held in memory could not be written: lost, because {reason}", count)

    # -- reading

    def read(self, fn: Work[T]) -> T:
        """Run a function on what is written."""
        return self.inner.read(fn)

    def read_if_possible(self, fn: Work[T], otherwise: T) -> T:
        """Run a function on what is written; nothing is found there while the store cannot be read and something is
        held."""
        if self._outage.is_away:
            return otherwise
        try:
            return self.inner.read(fn)
        except OUTAGES:
            if not self._queue:
                raise
            return otherwise

    def read_with_held(self, place: ConversationKey, fn: Work[T]) -> T:
        """Run a function that reads a conversation, with what is held of it and others. If the store cannot be read, it
        reads what is in memory; raises the store's error if nothing is."""
        if not self.is_on:
            return self.inner.read(fn)
        held = self._held_now()

        def read(tx: Tx) -> tuple[T, HeldTx]:
            held_tx = HeldTx(tx, held)
            return fn(cast(Tx, held_tx)), held_tx

        is_known = place in held.conversations or self._find_recent(place) is not None
        if not is_known:
            result, held_tx = self.inner.read(read)
        else:
            result, held_tx = self._read_or_recall(read, [place], is_away=self._outage.is_away)
        if not self._queue:
            for conversation, messages in held_tx.read.values():
                if messages:
                    self._recent.note(conversation, messages, self._clock.now())
        return result

    def _held_now(self) -> HeldMessages:
        with self._lock:
            return HeldMessages({**self._queue.conversations}, {*self._queue.uncertain_ids}, self.degraded)

    def _read_or_recall(self, fn: Work[T], places: Collection[ConversationKey], *, is_away: bool) -> T:
        """Run a function that reads the store; if that cannot be read, one in memory with nothing but the last messages
        of these conversations, as far as they are known."""
        if not is_away:
            try:
                return self.inner.read(fn)
            except OUTAGES:
                pass
        recent = {place: self._find_recent(place) for place in places}
        return self._recall({place: known for place, known in recent.items() if known is not None}, fn)

    def _find_recent(self, place: ConversationKey) -> KnownConversation | None:
        """What is known of a conversation that was used shortly before the outage began."""
        return self._recent.find(place, self._outage.since or self._clock.now())

    def _recall(self, known: Mapping[ConversationKey, KnownConversation], fn: Work[T]) -> T:
        """Run a function on a store with these messages alone. It is kept until others are asked for."""
        with self._recalling:
            if self._stand_in is None or self._stand_in[0] != known:
                self._close_stand_in()
                self._stand_in = known, store_in_memory(known.values())
            return self._stand_in[1].read(fn)

    def _close_stand_in(self) -> None:
        if self._stand_in is not None:
            self._stand_in[1].close()
            self._stand_in = None


def store_in_memory(conversations: Iterable[KnownConversation]) -> Store:
    """A store in memory with some of the messages of some conversations."""
    from everword.stores.jsonfile import MemoryStore

    def fill(tx: Tx) -> None:
        for known in conversations:
            tx.lock_conversation(known.conversation)
            tx.save_conversation(known.conversation, known.messages)

    store = MemoryStore("what is known without the store")
    store.write(fill)
    return store


def run_writes(writes: Sequence[HeldWrite], tx: Tx) -> None:
    """Write what was held, in order: each message once, also if it was written before and nobody heard of it."""
    for write in writes:
        write.write(tx)


def mark_degraded(added: Added, degraded: Degraded | None) -> Added:
    """An addition that says that its message is held; one that is in the store is left as it is."""
    if not added.new and added.message.degraded is None:
        return added
    return replace(added, message=replace(added.message, degraded=degraded), degraded=degraded)


def message_size(message: Message) -> int:
    """About how many bytes a message takes in memory; its metadata is counted as it is written."""
    return len(message.content) + sum(len(str(value)) for value in message.metadata.values()) + 500


def fits(message: Message, where: Filter) -> bool:
    """Whether a filter means a message."""
    pairs = (
        (where.user, message.user),
        (where.author, message.author),
        (where.conversation, message.conversation),
        (where.role, message.role),
    )
    return (
        message.space == where.space
        and all(wanted is None or wanted == actual for wanted, actual in pairs)
        and (where.after is None or message.time >= where.after)
        and (where.before is None or message.time < where.before)
        and (where.marked is None or bool(message.secrets))
    )


def select_messages(
    messages: Iterable[Message],
    *,
    ids: Collection[str],
    platform_ids: Collection[str],
    conversation: str | None = None,
    **_: Any,
) -> list[Message]:
    """The messages with one of these ids, or in that conversation with one of these ids of a platform."""
    return [
        message
        for message in messages
        if message.id in ids or (message.conversation == conversation and message.platform_id in platform_ids)
    ]
