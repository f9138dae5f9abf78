"""A transaction that also has the messages that are held in memory, as if they were written.

Held messages come after those of the store, with the turns that follow: provisional ones, since another process may
write first. One that is in the store already, because it was written a moment ago, is not shown twice. What is to be
held is first appended to a `TrialTx`, by the same code that will write it: so it is checked, recognised and numbered
like any other, and nothing that would be refused later is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from everword.errors import DamagedMessage
from everword.held.queue import HeldConversation, fits
from everword.model import Conversation, Degraded, Filter, Message
from everword.ports import ConversationKey, Tx

T = TypeVar("T")
OnDamage = Callable[[DamagedMessage], None] | None
KnownConversations = Mapping[ConversationKey, HeldConversation]


class CannotHold(Exception):
    """What is to be written is more than new messages at the end of a conversation."""


class KnownTx:
    """Stands in for a store that cannot be read: of a few conversations it has the last messages."""

    def __init__(self, known: KnownConversations) -> None:
        self._known = known

    def conversation(self, space: str, id: str) -> Conversation | None:
        known = self._known.get((space, id))
        return None if known is None else known.conversation

    def messages(
        self,
        where: Filter,
        *,
        after: tuple[str, int] = ("", 0),
        upto: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        damaged: OnDamage = None,
    ) -> list[Message]:
        known = self._known.get((where.space, where.conversation or ""))
        messages = [] if known is None else known.messages
        return page_of([m for m in messages if is_on_page(m, where, after, upto)], limit, newest)

    def find_messages(
        self,
        space: str,
        *,
        ids: Iterable[str] = (),
        conversation: str | None = None,
        platform_ids: Iterable[str] = (),
        damaged: OnDamage = None,
    ) -> list[Message]:
        messages = [m for known in self._known.values() for m in known.messages if m.space == space]
        return select_messages(messages, ids, conversation, platform_ids)

    def rows(self, *arguments: Any, **options: Any) -> list[Mapping[str, Any]]:
        return []


class HeldTx:
    """A transaction that reads, with what is held of some conversations."""

    def __init__(self, tx: Tx, held: KnownConversations, degraded: Degraded | None) -> None:
        self._tx = tx
        self._held = held
        self._degraded = degraded
        self._pending: dict[ConversationKey, tuple[int, Sequence[Message]]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def conversation(self, space: str, id: str) -> Conversation | None:
        stored = self._tx.conversation(space, id)
        last_turn, pending = self._pending_messages((space, id))
        if not pending:
            return stored
        conversation = stored or replace(self._held[space, id].conversation, head=b"")
        return replace(conversation, turns=last_turn + len(pending))

    def messages(
        self,
        where: Filter,
        *,
        after: tuple[str, int] = ("", 0),
        upto: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        among: Sequence[str] = (),
        damaged: OnDamage = None,
    ) -> list[Message]:
        options = {"among": among} if among else {}
        stored = self._tx.messages(
            where, after=after, upto=upto, limit=limit, newest=newest, damaged=damaged, **options
        )
        if where.conversation is None or among:
            return stored
        last_turn, pending = self._pending_messages((where.space, where.conversation))
        numbered = [
            (turn, message)
            for turn, message in enumerate(pending, start=last_turn + 1)
            if (where.conversation, turn) > after and (upto is None or turn <= upto) and fits(message, where)
        ]
        chosen = page_of(numbered, limit, newest)
        return page_of([*stored, *(self._as_pending(message, turn) for turn, message in chosen)], limit, newest)

    def find_messages(
        self,
        space: str,
        *,
        ids: Iterable[str] = (),
        conversation: str | None = None,
        platform_ids: Iterable[str] = (),
        damaged: OnDamage = None,
    ) -> list[Message]:
        wanted_ids = [*ids]
        wanted_platform_ids = [*platform_ids]
        stored = self._tx.find_messages(
            space, ids=wanted_ids, conversation=conversation, platform_ids=wanted_platform_ids, damaged=damaged
        )
        found: list[Message] = []
        for place in [place for place in self._held if place[0] == space]:
            last_turn, pending = self._pending_messages(place)
            turns = {message.id: turn for turn, message in enumerate(pending, start=last_turn + 1)}
            selected = select_messages(pending, wanted_ids, conversation, wanted_platform_ids)
            found += [self._as_pending(message, turns[message.id]) for message in selected]
        return [*stored, *found]

    def _pending_messages(self, place: ConversationKey) -> tuple[int, Sequence[Message]]:
        """The last turn of a conversation in the store, and the held messages that are not in it yet."""
        if place not in self._held:
            return 0, ()
        if place not in self._pending:
            held = self._held[place]
            unwritten: Sequence[Message] = held.messages
            uncertain_ids = [message.id for message in unwritten if message.id in held.uncertain_ids]
            if uncertain_ids:
                stored_ids = {message.id for message in self._tx.find_messages(place[0], ids=uncertain_ids)}
                unwritten = [message for message in unwritten if message.id not in stored_ids]
            stored = self._tx.conversation(*place)
            self._pending[place] = (0 if stored is None else stored.turns, unwritten)
        return self._pending[place]

    def _as_pending(self, message: Message, turn: int) -> Message:
        return replace(message, turn=turn, degraded=self._degraded)


class TrialTx(HeldTx):
    """A transaction in which messages are appended and nothing is written: they are what is to be held."""

    def __init__(self, tx: Tx, held: KnownConversations, degraded: Degraded | None) -> None:
        super().__init__(tx, held, degraded)
        self.new_messages: list[Message] = []
        self._saved: dict[ConversationKey, Conversation] = {}

    def __getattr__(self, name: str) -> Any:
        raise CannotHold(name)

    def rows(self, *arguments: Any, **options: Any) -> list[Mapping[str, Any]]:
        return self._tx.rows(*arguments, **options)

    @property
    def new_conversations(self) -> tuple[Conversation, ...]:
        return tuple(self._saved.values())

    def lock_conversation(self, fresh: Conversation) -> Conversation:
        saved = self._saved.get((fresh.space, fresh.id))
        return saved or self.conversation(fresh.space, fresh.id) or fresh

    def save_conversation(self, conversation: Conversation, new_messages: Sequence[Message] = ()) -> None:
        self.new_messages += new_messages
        self._saved[conversation.space, conversation.id] = conversation

    def find_messages(
        self,
        space: str,
        *,
        ids: Iterable[str] = (),
        conversation: str | None = None,
        platform_ids: Iterable[str] = (),
        damaged: OnDamage = None,
    ) -> list[Message]:
        wanted_ids = [*ids]
        wanted_platform_ids = [*platform_ids]
        known = super().find_messages(
            space, ids=wanted_ids, conversation=conversation, platform_ids=wanted_platform_ids, damaged=damaged
        )
        new = [message for message in self.new_messages if message.space == space]
        return [*known, *select_messages(new, wanted_ids, conversation, wanted_platform_ids)]


def is_on_page(message: Message, where: Filter, after: tuple[str, int], upto: int | None) -> bool:
    """Whether a message of one conversation is after a place, not after a turn, and fits a filter."""
    is_after = (message.conversation, message.turn) > after
    return is_after and (upto is None or message.turn <= upto) and fits(message, where)


def page_of(items: list[T], limit: int | None, newest: bool) -> list[T]:
    """So many of the items: the first, or the last."""
    if limit is None:
        return items
    return items[max(len(items) - limit, 0) :] if newest else items[:limit]


def select_messages(
    messages: Iterable[Message], ids: Iterable[str], conversation: str | None, platform_ids: Iterable[str]
) -> list[Message]:
    """The messages with one of these ids, or in that conversation with one of these ids of a platform."""
    id_set = {*ids}
    platform_id_set = {*platform_ids}
    return [
        message
        for message in messages
        if message.id in id_set or (message.conversation == conversation and message.platform_id in platform_id_set)
    ]
