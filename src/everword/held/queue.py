"""The messages that are held in memory, in the order in which they came, and the last messages of recent conversations.

Nothing here waits or writes. The queue is bounded by messages and by bytes: what does not fit is refused, and nothing
that is in it leaves but by being written. The recent messages stand in for a store that cannot even be read.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from everword.model import Batch, Conversation, Filter, Message
from everword.ports import ConversationKey

MAX_BYTES = 64 << 20  # of what is said in held messages
LAST_MESSAGES = 400  # of a conversation: as many as a context looks back
MAX_CONVERSATIONS = 200
MAX_RECENT_BYTES = 32 << 20
RECENT = timedelta(minutes=10)  # what was read or written longer ago may have been removed since by another process


@dataclass(frozen=True, slots=True)
class HeldWrite:
    """What one call wanted to keep: its batches, which are written all or none, the messages that they become, with
    provisional turns, and the conversations as they will be then."""

    batches: tuple[Batch, ...]
    messages: tuple[Message, ...]
    conversations: tuple[Conversation, ...]

    @property
    def size(self) -> int:
        return sum(message_size(message) for message in self.messages)


@dataclass(frozen=True, slots=True)
class HeldConversation:
    """The messages of a conversation in order, and what is known of it. Those with `uncertain_ids` may have been
    written already."""

    conversation: Conversation
    messages: tuple[Message, ...] = ()
    uncertain_ids: frozenset[str] = frozenset()

    @property
    def place(self) -> ConversationKey:
        return self.conversation.space, self.conversation.id


class HeldQueue:
    """What is held, oldest first."""

    def __init__(self, max_messages: int) -> None:
        self.max_messages = max_messages
        self._writes: deque[HeldWrite] = deque()
        self._messages: dict[ConversationKey, deque[Message]] = {}
        self._conversations: dict[ConversationKey, Conversation] = {}
        self._uncertain_ids: frozenset[str] = frozenset()
        self._size = 0
        self.count = 0

    def __bool__(self) -> bool:
        return bool(self._writes)

    def has_room(self, write: HeldWrite) -> bool:
        is_small = self._size + write.size <= MAX_BYTES
        return is_small and self.count + len(write.messages) <= self.max_messages

    def push(self, write: HeldWrite) -> None:
        self._writes.append(write)
        self._size += write.size
        self.count += len(write.messages)
        for message in write.messages:
            self._messages.setdefault((message.space, message.conversation), deque()).append(message)
        self._conversations |= {(held.space, held.id): held for held in write.conversations}

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
            for message in write.messages:
                self._messages[message.space, message.conversation].popleft()
        self._uncertain_ids -= {message.id for write in writes for message in write.messages}
        for place in [place for place, messages in self._messages.items() if not messages]:
            del self._messages[place], self._conversations[place]

    def mark_uncertain(self, writes: Sequence[HeldWrite]) -> None:
        """Note that writes may be in the store from now on, until they are dropped."""
        self._uncertain_ids |= {message.id for write in writes for message in write.messages}

    def conversations(self, places: Iterable[ConversationKey]) -> dict[ConversationKey, HeldConversation]:
        """What is held of these conversations."""
        return {
            place: HeldConversation(self._conversations[place], tuple(self._messages[place]), self._uncertain_ids)
            for place in places
            if place in self._messages
        }

    def messages(self) -> Iterator[Message]:
        for write in self._writes:
            yield from write.messages


@dataclass(frozen=True, slots=True)
class NotedConversation:
    """What is known of a conversation, since when, and how many bytes it takes."""

    known: HeldConversation
    noted_at: datetime
    size: int


class RecentMessages:
    """The last messages of the conversations that this process has used last."""

    def __init__(self) -> None:
        self._noted: dict[ConversationKey, NotedConversation] = {}  # the one used last is the last
        self._size = 0
        self._lock = threading.Lock()  # contexts are read in threads

    def note(self, conversation: Conversation, messages: Sequence[Message], now: datetime) -> None:
        """Note messages that were read or written, all of one conversation and in order."""
        place = (conversation.space, conversation.id)
        first_turn = messages[0].turn if messages else conversation.turns + 1
        shown = [message for message in messages if not message.erased]
        with self._lock:
            before = self._noted[place].known.messages if place in self._noted else ()
            earlier = takewhile(lambda message: message.turn < first_turn, before)
            all_messages = (*earlier, *shown)[-LAST_MESSAGES:]
            self._forget(place)
            size = sum(map(message_size, all_messages))
            self._noted[place] = NotedConversation(HeldConversation(conversation, all_messages), now, size)
            self._size += size
            while len(self._noted) > MAX_CONVERSATIONS or (self._size > MAX_RECENT_BYTES and len(self._noted) > 1):
                self._forget(next(iter(self._noted)))

    def find(self, place: ConversationKey, now: datetime) -> HeldConversation | None:
        """What is known of a conversation that was used shortly before."""
        noted = self._noted.get(place)
        return noted.known if noted is not None and now - noted.noted_at <= RECENT else None

    def find_user(self, place: ConversationKey) -> str | None:
        """Whose chat a conversation is, as far as that is known."""
        noted = self._noted.get(place)
        return None if noted is None else noted.known.conversation.user

    def clear(self) -> None:
        with self._lock:
            self._noted.clear()
            self._size = 0

    def _forget(self, place: ConversationKey) -> None:
        noted = self._noted.pop(place, None)
        self._size -= noted.size if noted is not None else 0


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
