"""What every part of a bot works with, and how it finds the memory of the chat in which something happens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import tzinfo

from recollect.bots.delivery import Delivery
from recollect.bots.events import Identity, Person, Place
from recollect.bots.memories import MemoryPool
from recollect.bots.permissions import is_allowed
from recollect.bots.settings import ChatSettings, SettingsTable
from recollect.errors import ServerError, StoreError
from recollect.masking import masked_logger
from recollect.memory.conversation import AsyncConversation
from recollect.model.clean_names import clean_name
from recollect.ports import Clock
from recollect.wiring import AsyncMemory

logger = masked_logger("recollect.bots")

MOST_KNOWN_NAMES = 10_000  # people whose names are known to be in the register


@dataclass(frozen=True, slots=True)
class Tools:
    """The parts of a bot that its commands use."""

    delivery: Delivery
    pool: MemoryPool
    table: SettingsTable
    clock: Clock
    zone: tzinfo
    has_model: bool
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
            is_admin = await self.delivery.platform.is_admin(place, person.id)
        except ServerError:
            return False
        return is_allowed(action, in_private=place.is_private, is_admin=is_admin)

    @asynccontextmanager
    async def open_chat(self, place: Place, person: Person) -> AsyncIterator[OpenChat]:
        """The conversation in which somebody acts, for as long as it is used."""
        async with self.pool.use(place) as memory:
            owner = person.id if place.is_private else None
            await self._note_names(memory, place, person)
            yield OpenChat(memory, memory.conversation(place.conversation, user=owner))

    async def _note_names(self, memory: AsyncMemory, place: Place, person: Person) -> None:
        """Enter the names of whoever acts into the register, if they are new; not while memory is off."""
        names = (person.name, clean_name(f"@{person.handle}") if person.handle else "")
        if self.known_names.get((place.key, person.id)) == names or not (await self.settings(place)).enabled:
            return
        try:
            for kind, name in zip(("display", "mention"), names, strict=True):
                if name:
                    await memory.add_name(name, user=person.id, kind=kind)
        except StoreError as error:  # what is said counts more; it is tried again with the next message
            logger.warning("a name is not entered: %s", error)
            return
        if len(self.known_names) >= MOST_KNOWN_NAMES:
            self.known_names.clear()
        self.known_names[place.key, person.id] = names


@dataclass(frozen=True, slots=True)
class OpenChat:
    """A memory and a conversation in it."""

    memory: AsyncMemory
    conversation: AsyncConversation
