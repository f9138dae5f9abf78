"""Opens what a command works on, and no more than it needs.

A command that reads makes no store: a mistyped name is an error, not an empty memory. And what is in the log can be
read, proved, exported and erased whatever has become of the embedder: only searching and indexing need one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.terminal.options import SPACE, STORE, given

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.engine.memory import MemoryEngine
    from recollect.engine.sync import BlockingMemory
    from recollect.model import Conversation
    from recollect.ports import Store


@dataclass(frozen=True, slots=True)
class Opened:
    """A memory, the store under it, and the settings it was opened with."""

    memory: BlockingMemory
    store: Store
    settings: Settings


def current_settings() -> Settings:
    """The settings in force, with what was said on the command line."""
    from recollect.config import Settings

    return Settings.load(store=given(STORE), space=given(SPACE))


def file_of(url: str) -> Path | None:
    """The file an address names; None if it names a server."""
    kind, colon, path = url.partition(":")
    if colon and kind in ("json", "sqlite"):
        return Path(path.removeprefix("///") if kind == "sqlite" else path)
    return None if "://" in url else Path(url)


def existing(url: str) -> str:
    """The address, if there is something at it to read."""
    from recollect.errors import NotFound

    file = file_of(url)
    if file is not None and not file.exists():
        raise NotFound(
            f"there is no store {url}; `recollect import FILE` makes one, or name another: --store, RECOLLECT_STORE"
        )
    return url


@contextmanager
def opened(*, searching: bool = False) -> Iterator[Opened]:
    """An existing memory, to be read: its log alone, or for searching."""
    from recollect.engine.memory import MemoryEngine
    from recollect.engine.sync import BlockingMemory
    from recollect.wiring import build, open_store

    settings = current_settings()
    wanted = settings if searching else without_embedder(settings)
    store = open_store(existing(settings.store), settings)
    try:
        engine = MemoryEngine(lambda: build(wanted, store=store))
        with BlockingMemory(lambda: engine, check_embedder=searching) as memory:
            yield Opened(memory, store, settings)
    finally:
        store.close()


@asynccontextmanager
async def engine_of(
    settings: Settings, *, follow: bool = False, check_embedder: bool = True
) -> AsyncIterator[tuple[MemoryEngine, Store]]:
    """A memory to be written to, and its store; made if there is none yet."""
    from recollect.engine.memory import MemoryEngine
    from recollect.wiring import build, open_store

    store = open_store(settings.store, settings)
    engine = MemoryEngine(lambda: build(replace(settings, followers=follow), store=store))
    try:
        await engine.open(check_embedder=check_embedder)
        yield engine, store
    finally:
        await engine.close()
        store.close()


def without_embedder(settings: Settings) -> Settings:
    """The settings of a command that never embeds nor asks a model: the built-in embedder stands in, which loads
    nothing until used."""
    quiet = replace(settings, embedder="static", followers=False, telemetry="off")
    return replace(quiet, chat_model="", memory_model="")


def conversation_in(store: Store, space: str, id: str) -> Conversation:
    from recollect.errors import NotFound

    found = store.read(lambda tx: tx.conversation(space, id))
    if found is None:
        raise NotFound(f"there is no conversation {id!r} in space {space!r}; `recollect conversations` lists them")
    return found
