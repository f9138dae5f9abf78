"""The memories of the chats: one store file a chat, opened when something happens there, and moved between kinds.

A chat's storage changes without loss: everything is copied into a new file, the copy is proved equal (the same counts,
the same root of the chain), then the setting is switched, and only then the old file goes. A crash before the switch
leaves the old file in use, a crash after it the new one; the other file, which nobody uses then, is removed when the
chat is next opened.

Whoever writes in a chat gets its memory with the rights of a person there (`use`): to read and to write in this chat,
and all rights to what is their own. Only what the bot does by itself holds the engine (`maintain`): it does as the
platform has done with messages, enters the names that the platform shows, and looks whether summaries fail.

Everybody may see and change what is remembered of themselves: in a private chat all of it, in a group what was said in
that group. About others one may ask, remember and forget only in the group where it was said; there the engine shows
what the channel has heard, and lets somebody take back only what they said themselves (`log.access`). How a group's
memory is kept, and what concerns everybody in it, is for those who run the group. docs/bots.md says the same in words.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import quote

from everword.bots.chat_settings import STORAGES, ChatSettings, SettingsTable, StorageKind
from everword.bots.delivery import Delivery
from everword.bots.platforms import Identity, Person, Place
from everword.bots.texts import count_messages
from everword.config import Settings, hold_in_chats
from everword.errors import EverwordError, MessagesLost, ServerError, StoreError, StoreUnwritable
from everword.library import AsyncMemory
from everword.log.access import Access
from everword.log.append_and_read import verify
from everword.log.operation_declarations import RIGHTS
from everword.masking import masked_logger
from everword.memory.memory import SeenMemory
from everword.memory.operations.conversation import AsyncConversation
from everword.memory.transfer import copy_store
from everword.model import ChatMessage, Degraded, Verification
from everword.model.people import clean_name
from everword.ports import LLM, Clock, Request
from everword.wiring import open_store

logger = masked_logger("everword.bots")

MOST_OPEN = 16  # memories that stay open; those that were used last
SUFFIXES: dict[StorageKind, str] = {"sqlite": ".db", "json": ".json"}
LONGEST_STEM = 150  # characters of a file's name
STILL_HELD = "messages of this chat are buffered in memory until the disk can be written; nothing was changed"
PERSONAL_RIGHTS = ("read", "write")  # of a person in a chat
BESIDE = ("", "-wal", "-shm", "-journal", ".lock")  # what a store may have beside its file


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """What every memory of the bot is made with: models and a clock that are given, and settings by name. At most
    `most_open` of them stay open."""

    chat: LLM | None = None
    memory: LLM | None = None
    clock: Clock | None = None
    has_model: bool = False
    most_open: int = MOST_OPEN
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class OpenMemory:
    """A memory that is open, how many use it now, and where it was used last."""

    memory: AsyncMemory
    place: Place
    uses: int = 0


class MemoryPool:
    """Opens the memory of a chat for as long as somebody uses it, and some longer.

    A memory is opened, closed and moved while its base is reserved. Nobody holds the lock meanwhile: one chat does not
    wait for the file of another.
    """

    def __init__(self, folder: Path, table: SettingsTable, options: MemoryParts) -> None:
        self._folder = folder
        self._table = table
        self._options = options
        self._open: OrderedDict[str, OpenMemory] = OrderedDict()  # by base, the last used last
        self._reserved: set[str] = set()
        self._changed = asyncio.Condition()
        self.on_outage: Callable[[Place, Degraded], None] = lambda place, outage: None

    @asynccontextmanager
    async def use(self, place: Place, owner: str | None = None) -> AsyncIterator[SeenMemory]:
        """The memory of a chat, as those who write there may use it; or as one of them may use what is their own."""
        async with self.maintain(place) as memory:
            space = (await self._table.chat(place)).base
            rights = frozenset(PERSONAL_RIGHTS if owner is None else RIGHTS)
            yield memory.seen_by(Access(spaces=frozenset([space]), rights=rights, user=owner, home=space))

    @asynccontextmanager
    async def maintain(self, place: Place) -> AsyncIterator[AsyncMemory]:
        """The memory of a chat, for what the bot does by itself. It stays open until all who use it are done."""
        entry = await self._begin_use(place)
        try:
            yield entry.memory
        finally:
            entry.uses -= 1
            async with self._changed:
                self._changed.notify_all()
            await self._close_idle(self._options.most_open)

    async def change_storage(self, place: Place, storage: StorageKind, threshold: int) -> ChatSettings:
        """Move the memory of a chat into a store of another kind."""
        async with self._reserve_closed(place) as settings:
            old_file = self.store_file(settings.base, settings.storage)
            if storage != settings.storage and old_file.exists():
                # Written first: a copy that is cut short must not be taken for the memory of this chat.
                await self._table.change_chat(place, storage=settings.storage)
                new_file = self.store_file(settings.base, storage)
                await asyncio.to_thread(copy_file, old_file, settings.storage, new_file, storage)
            changed = await self._table.change_chat(place, storage=storage, threshold=threshold, enabled=True)
            if storage != settings.storage:
                await asyncio.to_thread(remove_store, old_file)
            return changed

    async def remove(self, place: Place) -> None:
        """Remove the memory of a chat with its file."""
        async with self._reserve_closed(place) as settings:
            for storage in STORAGES:
                await asyncio.to_thread(remove_store, self.store_file(settings.base, storage))

    async def close(self) -> None:
        """Close every memory, also if another cannot be closed well; raises MessagesLost if messages were lost."""
        async with self._changed:
            await self._changed.wait_for(lambda: not any(entry.uses for entry in self._open.values()))
        lost_count = await self._close_idle(0)
        if lost_count:
            raise MessagesLost(f"{count_messages(lost_count)} held in memory could not be written: lost", lost_count)

    def store_file(self, base: str, storage: StorageKind) -> Path:
        return self._folder / f"{file_stem(base)}{SUFFIXES[storage]}"

    @asynccontextmanager
    async def _reserve(self, base: str) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: base not in self._reserved)
            self._reserved.add(base)
        try:
            yield
        finally:
            async with self._changed:
                self._reserved.discard(base)
                self._changed.notify_all()

    async def _begin_use(self, place: Place) -> OpenMemory:
        base = (await self._table.chat(place)).base
        async with self._reserve(base):
            entry = self._open.get(base)
            if entry is None:
                entry = OpenMemory(await self._open_memory(place, await self._table.chat(place)), place)
                self._open[base] = entry
            entry.uses += 1
            entry.place = place
            self._open.move_to_end(base)
            return entry

    @asynccontextmanager
    async def _reserve_closed(self, place: Place) -> AsyncIterator[ChatSettings]:
        """Close the memory of a chat, and let nobody open it meanwhile."""
        base = (await self._table.chat(place)).base
        async with self._reserve(base):
            async with self._changed:
                await self._changed.wait_for(lambda: base not in self._open or not self._open[base].uses)
            entry = self._open.get(base)
            if entry is not None:
                if holds_messages(entry.memory):
                    raise StoreUnwritable(STILL_HELD)
                del self._open[base]
                await entry.memory.close()
            yield await self._table.chat(place)

    async def _open_memory(self, place: Place, settings: ChatSettings) -> AsyncMemory:
        storage = await self._find_storage(place, settings)
        options = self._options
        settings_by_name: dict[str, Any] = {
            "space": settings.base,
            "hold_messages": hold_in_chats(Settings.load()).hold_messages,
            **window_settings(settings.threshold, place.is_private and options.has_model),
            **options.settings,
        }

        def report(outage: Degraded) -> None:
            entry = self._open.get(settings.base)
            self.on_outage(place if entry is None else entry.place, outage)

        memory = AsyncMemory(
            store_url(self.store_file(settings.base, storage), storage),
            chat=options.chat,
            memory=options.memory,
            clock=options.clock,
            on_degraded=report,
            **settings_by_name,
        )
        await memory.open()
        return memory

    async def _find_storage(self, place: Place, settings: ChatSettings) -> StorageKind:
        """The kind of store that a chat has. If there are files of both kinds, the one that is set counts, and the
        other is what a move has left. If only the other is there, somebody has put it there, and it counts."""
        other: StorageKind = "json" if settings.storage == "sqlite" else "sqlite"
        other_file = self.store_file(settings.base, other)
        if not other_file.exists():
            return settings.storage
        if not self.store_file(settings.base, settings.storage).exists():
            await self._table.change_chat(place, storage=other)
            return other
        if await self._table.has_chat(place):
            logger.info("removing %s, which a change of the storage has left", other_file.name)
            await asyncio.to_thread(remove_store, other_file)
        else:  # no move of ours was begun, so it is not ours to remove
            logger.warning("%s is not used: the chat is in a store of the other kind", other_file.name)
        return settings.storage

    async def _close_idle(self, most: int) -> int:
        """Close memories that nobody uses, those used longest ago first, until at most so many are open. Returns how
        many held messages were lost by that."""
        lost_count = 0
        while (base := self._find_idle(most)) is not None:
            async with self._reserve(base):
                if base not in self._open or self._open[base].uses:  # somebody was faster
                    continue
                try:
                    await self._open.pop(base).memory.close()
                except MessagesLost as error:
                    logger.error("%s: %s", base, error)
                    lost_count += error.count
                except EverwordError as error:  # whoever used another memory has no part in it
                    logger.error("%s could not be closed: %s", base, error)
        return lost_count

    def _find_idle(self, most: int) -> str | None:
        """The memory to close next; one that holds messages stays open until all are closed."""
        if len(self._open) <= most:
            return None
        idle_bases = [base for base, entry in self._open.items() if not entry.uses and base not in self._reserved]
        return next((base for base in idle_bases if not (most and holds_messages(self._open[base].memory))), None)


def holds_messages(memory: AsyncMemory | SeenMemory) -> bool:
    """Whether a memory holds messages that it could not write: it must not be closed then, or they are lost."""
    return memory.degraded is not None


def window_settings(threshold: int, is_answered: bool) -> dict[str, int]:
    """The settings of the window for a threshold. Where every message is answered, the messages of the user count;
    elsewhere, as in a group, all messages do."""
    if is_answered:
        return {"window_user_messages": threshold, "window_turns": 0}
    return {"window_user_messages": 0, "window_turns": threshold}


def file_stem(base: str) -> str:
    """The name of a chat's file, whatever the chat is called: no id of a platform leads out of the folder."""
    stem = quote(base, safe="")
    return stem if len(stem) <= LONGEST_STEM else hashlib.sha256(base.encode()).hexdigest()


def store_url(file: Path, storage: StorageKind) -> str:
    return f"json:{file}" if storage == "json" else str(file)


def copy_file(old_file: Path, old_storage: StorageKind, new_file: Path, new_storage: StorageKind) -> None:
    """Copy a store into a new file, and prove that both hold the same."""
    remove_store(new_file)  # what an earlier try may have left
    settings = Settings.load()
    try:
        with (
            closing(open_store(store_url(old_file, old_storage), settings)) as source,
            closing(open_store(store_url(new_file, new_storage), settings)) as target,
        ):
            copy_store(source, target, lambda table, count: None)
            check_equal(source.read(verify), target.read(verify))
    except BaseException:
        remove_store(new_file)
        raise


def check_equal(source: Verification, target: Verification) -> None:
    """Raise if a copy is not what it was made of."""
    if not target.ok or source != target:
        raise StoreError("the copy of the store differs from the original, so the original stays in use")


def remove_store(file: Path) -> None:
    """Remove a store's file and what is beside it."""
    for ending in BESIDE:
        try:
            file.with_name(file.name + ending).unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnwritable(
                f"the file {file.name}{ending} cannot be removed: {error.strerror or error}"
            ) from error


# -- what every part of a bot works with

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
