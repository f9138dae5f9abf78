"""What every part of a bot works with: the memory of the chat in which something happens, and who may do what there.

Everybody may see and change what is remembered of themselves: in a private chat all of it, in a group what was said in
that group. About others one may ask, remember and forget only in the group where it was said; there the engine shows
what the channel has heard, and lets somebody take back only what they said themselves (`log.access`). How a group's
memory is kept, and what concerns everybody in it, is for those who run the group. docs/bots.md says the same in words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import tzinfo

from everword.bots.delivery import Delivery
from everword.bots.memories import MemoryPool
from everword.bots.platforms import Identity, Person, Place
from everword.bots.settings import ChatSettings, SettingsTable
from everword.errors import ServerError, StoreError
from everword.masking import masked_logger
from everword.memory.conversation import AsyncConversation
from everword.memory.memory import SeenMemory
from everword.model import ChatMessage
from everword.model.people import clean_name
from everword.ports import LLM, Clock, Request

logger = masked_logger("everword.bots")

MOST_KNOWN_NAMES = 10_000  # people whose names are known to be in the register
HELD = 12  # messages of a place that are held while memory is off
MOST_PLACES = 1_000  # whose messages are held
# What only those may do to whom the chat belongs: the user of a private chat, those who run a group.
OWNER_ACTIONS = {
    "summary",
    "summary_on",
    "summary_off",
    "summary_now",
    "export everybody",
    "erase everybody",
    "digest schedule",
    "digest of hidden channels",
}


def is_allowed(action: str, *, in_private: bool, is_admin: bool) -> bool:
    """Whether somebody may do this in a chat."""
    return in_private or is_admin or action not in OWNER_ACTIONS


class PlainReplies:
    """Replies while memory is off: the model is shown the last messages, which only this process holds."""

    def __init__(self, model: LLM) -> None:
        self._model = model
        self._held: dict[Place, deque[ChatMessage]] = {}

    async def stream(self, place: Place, text: str, system: str) -> AsyncIterator[str]:
        held = self._held.pop(place, None) or deque(maxlen=HELD)
        self._held[place] = held  # as the one used last
        while len(self._held) > MOST_PLACES:
            del self._held[next(iter(self._held))]
        held.append({"role": "user", "content": text})
        reply = ""
        async for piece in self._model.stream(Request([{"role": "system", "content": system}, *held])):
            if isinstance(piece, str):
                reply += piece
                yield piece
        held.append({"role": "assistant", "content": reply})

    def clear(self, place: Place) -> None:
        """Let go of what was said in a chat while memory was off."""
        self._held = {held_place: held for held_place, held in self._held.items() if held_place.key != place.key}

    async def close(self) -> None:
        await self._model.close()


@dataclass(frozen=True, slots=True)
class OpenChat:
    """A memory and a conversation in it."""

    memory: SeenMemory
    conversation: AsyncConversation


@dataclass(frozen=True, slots=True)
class Tools:
    """The parts of a bot that its commands use. `plain` is None if there is no model to reply with."""

    delivery: Delivery
    pool: MemoryPool
    table: SettingsTable
    clock: Clock
    zone: tzinfo
    plain: PlainReplies | None
    known_names: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)  # by chat and person

    @property
    def identity(self) -> Identity:
        return self.delivery.platform.identity

    async def settings(self, place: Place) -> ChatSettings:
        return await self.table.chat(place)

    async def may(self, action: str, place: Place, person: Person) -> bool:
        """Whether somebody may do this in a chat. Where the platform does not say who runs the chat, nobody does."""
        if is_allowed(action, in_private=place.is_private, is_admin=False):
            return True
        try:
            return await self.delivery.platform.is_admin(place, person.id)
        except ServerError:
            return False

    @asynccontextmanager
    async def open_chat(self, place: Place, person: Person) -> AsyncIterator[OpenChat]:
        """The conversation in which somebody acts, for as long as it is used."""
        async with self.pool.use(place) as memory:
            owner = person.id if place.is_private else None
            await self._note_names(place, person)
            yield OpenChat(memory, memory.conversation(place.conversation, user=owner))

    async def _note_names(self, place: Place, person: Person) -> None:
        """Enter the names of whoever acts into the register, if they are new; not while memory is off."""
        names = (person.name, clean_name(f"@{person.handle}") if person.handle else "")
        if self.known_names.get((place.key, person.id)) == names or not (await self.settings(place)).enabled:
            return
        try:
            async with self.pool.maintain(place) as memory:
                for kind, name in zip(("display", "mention"), names, strict=True):
                    if name:
                        await memory.add_name(name, user=person.id, kind=kind)
        except StoreError as error:  # what is said counts more; it is tried again with the next message
            logger.warning("a name is not entered: %s", error)
            return
        if len(self.known_names) >= MOST_KNOWN_NAMES:
            self.known_names.clear()
        self.known_names[place.key, person.id] = names
