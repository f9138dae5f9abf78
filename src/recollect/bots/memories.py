"""The memories of the chats: one store file a chat, opened when something happens there, and moved between kinds.

A chat's storage changes without loss: everything is copied into a new file, the copy is proved equal (the same counts,
the same root of the chain), then the setting is switched, and only then the old file goes. A crash before the switch
leaves the old file in use, a crash after it the new one; the other file, which nobody uses then, is removed when the
chat is next opened.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recollect.bots.events import Place
from recollect.bots.outages import holds_messages, outage_options
from recollect.bots.settings import STORAGES, ChatSettings, SettingsTable, StorageKind
from recollect.config import Settings
from recollect.engine.tables.log import verify
from recollect.engine.transfer import copy_store
from recollect.errors import StoreError, StoreUnwritable
from recollect.model import Verification
from recollect.ports import LLM, Clock
from recollect.wiring import AsyncMemory, open_store

logger = logging.getLogger("recollect.bots")

MOST_OPEN = 16  # memories that stay open; those that were used last
SUFFIXES: dict[StorageKind, str] = {"sqlite": ".db", "json": ".json"}
LONGEST_STEM = 150  # characters of a file's name
STILL_HELD = "messages of this chat are held in memory until the disk takes them; nothing was changed"
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
    """A memory that is open, and how many use it now."""

    memory: AsyncMemory
    uses: int = 0


class MemoryPool:
    """Opens the memory of a chat for as long as somebody uses it, and some longer."""

    def __init__(self, folder: Path, table: SettingsTable, options: MemoryParts) -> None:
        self._folder = folder
        self._table = table
        self._options = options
        self._open: OrderedDict[str, OpenMemory] = OrderedDict()  # by base, the last used last
        self._reserved: set[str] = set()
        self._changed = asyncio.Condition()
        self.on_outage: Callable[[Place, Any], None] = lambda place, outage: None

    @asynccontextmanager
    async def use(self, place: Place) -> AsyncIterator[AsyncMemory]:
        """The memory of a chat. It stays open until all who use it are done."""
        settings = await self._table.chat(place)
        async with self._changed:
            await self._changed.wait_for(lambda: settings.base not in self._reserved)
            settings = await self._table.chat(place)
            entry = self._open.get(settings.base) or await self._open_memory(place, settings)
            self._open.move_to_end(settings.base)
            entry.uses += 1
        try:
            yield entry.memory
        finally:
            async with self._changed:
                entry.uses -= 1
                await self._close_idle(self._options.most_open)
                self._changed.notify_all()

    async def change_settings(self, place: Place, **changes: Any) -> ChatSettings:
        """Change what the memory of a chat is opened with, when nobody uses it."""
        async with self._reserve(place):
            return await self._table.change_chat(place, **changes)

    async def change_storage(self, place: Place, storage: StorageKind, threshold: int) -> ChatSettings:
        """Move the memory of a chat into a store of another kind."""
        async with self._reserve(place) as settings:
            old_file = self.store_file(settings.base, settings.storage)
            if storage != settings.storage and old_file.exists():
                new_file = self.store_file(settings.base, storage)
                await asyncio.to_thread(copy_file, old_file, settings.storage, new_file, storage)
            changed = await self._table.change_chat(place, storage=storage, threshold=threshold, enabled=True)
            if storage != settings.storage:
                await asyncio.to_thread(remove_store, old_file)
            return changed

    async def remove(self, place: Place) -> None:
        """Remove the memory of a chat with its file."""
        async with self._reserve(place) as settings:
            for storage in STORAGES:
                await asyncio.to_thread(remove_store, self.store_file(settings.base, storage))

    async def close(self) -> None:
        async with self._changed:
            self._reserved.update(self._open)
            await self._changed.wait_for(lambda: not any(entry.uses for entry in self._open.values()))
            await self._close_idle(0)
            self._reserved.clear()

    def store_file(self, base: str, storage: StorageKind) -> Path:
        return self._folder / f"{file_stem(base)}{SUFFIXES[storage]}"

    @asynccontextmanager
    async def _reserve(self, place: Place) -> AsyncIterator[ChatSettings]:
        """Close the memory of a chat, and let nobody open it meanwhile."""
        base = (await self._table.chat(place)).base
        async with self._changed:
            await self._changed.wait_for(lambda: base not in self._reserved)
            if base in self._open and holds_messages(self._open[base].memory):
                raise StoreUnwritable(STILL_HELD)
            self._reserved.add(base)
            await self._changed.wait_for(lambda: base not in self._open or not self._open[base].uses)
            entry = self._open.pop(base, None)
        try:
            if entry is not None:
                await entry.memory.close()
            yield await self._table.chat(place)
        finally:
            async with self._changed:
                self._reserved.discard(base)
                self._changed.notify_all()

    async def _open_memory(self, place: Place, settings: ChatSettings) -> OpenMemory:
        storage = await self._find_storage(place, settings)
        options = self._options
        window = window_settings(settings.threshold, place.is_private and options.has_model)
        memory = AsyncMemory(
            store_url(self.store_file(settings.base, storage), storage),
            chat=options.chat,
            memory=options.memory,
            clock=options.clock,
            **outage_options(lambda outage: self.on_outage(place, outage)),
            **{"space": settings.base} | window | options.settings,
        )
        await memory.open()
        entry = OpenMemory(memory)
        self._open[settings.base] = entry
        return entry

    async def _find_storage(self, place: Place, settings: ChatSettings) -> StorageKind:
        """The kind of store that a chat has. A file of the other kind is what a move has left, and is removed; but if
        nothing was ever set for this chat, the file that is there counts."""
        other: StorageKind = "json" if settings.storage == "sqlite" else "sqlite"
        other_file = self.store_file(settings.base, other)
        if not other_file.exists():
            return settings.storage
        if not await self._table.has_chat(place):
            await self._table.change_chat(place, storage=other)
            return other
        logger.info("removing %s, which a change of the storage has left", other_file.name)
        await asyncio.to_thread(remove_store, other_file)
        return settings.storage

    async def _close_idle(self, most: int) -> None:
        """Close memories that nobody uses, those used longest ago first, until at most so many are open."""
        for base in [base for base, entry in self._open.items() if not entry.uses]:
            if len(self._open) <= most:
                return
            if most and holds_messages(self._open[base].memory):
                continue
            await self._open.pop(base).memory.close()


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
    source = open_store(store_url(old_file, old_storage), settings)
    try:
        target = open_store(store_url(new_file, new_storage), settings)
        try:
            copy_store(source, target, lambda table, count: None)
            check_equal(source.read(verify), target.read(verify))
        finally:
            target.close()
    except BaseException:
        remove_store(new_file)
        raise
    finally:
        source.close()


def check_equal(source: Verification, target: Verification) -> None:
    """Raise if a copy is not what it was made of."""
    if not target.ok or source != target:
        raise StoreError("the copy is not equal to the store it was made of; the old one stays in use")


def remove_store(file: Path) -> None:
    """Remove a store's file and what is beside it."""
    for ending in BESIDE:
        try:
            file.with_name(file.name + ending).unlink(missing_ok=True)
        except OSError as error:
            raise StoreUnwritable(f"{file.name}{ending} cannot be removed: {error.strerror or error}") from error
