"""Opens the memory or store that a command works on, and no more than it needs.

A command that only reads does not create a store: a mistyped name is an error, not an empty memory. The log can be
read, verified, exported and erased without a working embedder: only searching and indexing need one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.terminal.collection import without_collection
from recollect.cli.terminal.options import SPACE, STORE, global_option

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.memory.memory import MemoryEngine
    from recollect.memory.sync import BlockingMemory
    from recollect.model import Conversation, ViewState
    from recollect.ports import Store


@dataclass(frozen=True, slots=True)
class MemoryHandle:
    """A memory, the store under it, and the settings it was opened with."""

    memory: BlockingMemory
    store: Store
    settings: Settings


def current_settings() -> Settings:
    """The settings in force, including --store and --space from the command line."""
    from recollect.config import Settings

    return Settings.load(store=global_option(STORE), space=global_option(SPACE))


def store_file(url: str) -> Path | None:
    """The file an address names; None if it names a server."""
    kind, colon, path = url.partition(":")
    if colon and kind in ("json", "sqlite"):
        return Path(path.removeprefix("///") if kind == "sqlite" else path)
    return None if "://" in url else Path(url)


def require_existing(url: str) -> str:
    """Return the address of a store; raise NotFound if it names a file that does not exist."""
    from recollect.errors import NotFound

    file = store_file(url)
    if file is not None and not file.exists():
        raise NotFound(
            f"there is no store {url}; `recollect import FILE` makes one, or name another: --store, RECOLLECT_STORE"
        )
    return url


@contextmanager
def open_for_reading(*, searching: bool = False) -> Iterator[MemoryHandle]:
    """Open an existing memory to read its log; with `searching`, also to search it: a search makes so little garbage
    that none is collected."""
    with ExitStack() as stack:
        if searching:
            stack.enter_context(without_collection(freezes=False))
        yield stack.enter_context(open_memory(searching))


@contextmanager
def open_memory(searching: bool) -> Iterator[MemoryHandle]:
    with without_collection():
        from recollect.memory.memory import MemoryEngine
        from recollect.memory.sync import BlockingMemory
        from recollect.wiring import build, open_store

        settings = current_settings()
        store = open_store(require_existing(settings.store), settings)  # imports the database
    try:
        effective_settings = for_search(settings, store) if searching else without_embedder(settings)
        engine = MemoryEngine(lambda: replace(build(effective_settings, store=store), for_one_search=searching))
        with BlockingMemory(engine, partial(engine.open, check_embedder=searching)) as memory:
            yield MemoryHandle(memory, store, settings)
    finally:
        store.close()


@asynccontextmanager
async def open_engine(
    settings: Settings, *, follow: bool = False, check_embedder: bool = True
) -> AsyncIterator[tuple[MemoryEngine, Store]]:
    """Open a memory to write to, and its store; created if there is none yet."""
    from recollect.memory.memory import MemoryEngine
    from recollect.wiring import build, open_store

    store = open_store(settings.store, settings)
    engine = MemoryEngine(lambda: build(replace(settings, followers=follow), store=store))
    try:
        await engine.open(check_embedder=check_embedder)
        yield engine, store
    finally:
        await engine.close()
        store.close()


def for_search(settings: Settings, store: Store) -> Settings:
    """The settings for a search. Where the index has every message, nothing follows the log: the views and the models
    that write them take longer to load than the search takes."""
    return settings if index_state(store, settings.space).behind else without_followers(settings)


def index_state(store: Store, space: str | None = None) -> ViewState:
    """How far the index is."""
    from recollect.recall.view import IndexView

    now = datetime.now(UTC)
    return store.read(lambda tx: tx.view_state(IndexView.name, now, space))


def without_followers(settings: Settings) -> Settings:
    """The settings for a process that ends with its answer: it follows nothing, counts nothing and asks no model."""
    quiet = replace(settings, followers=False, telemetry="off")
    return replace(quiet, chat_model="", memory_model="", small_model="")


def without_embedder(settings: Settings) -> Settings:
    """The settings for a command that never embeds either: with the built-in embedder, which loads nothing until
    used."""
    return replace(without_followers(settings), embedder="static")


def find_conversation(store: Store, space: str, id: str) -> Conversation:
    from recollect.errors import NotFound

    conversation = store.read(lambda tx: tx.conversation(space, id))
    if conversation is None:
        raise NotFound(f"there is no conversation {id!r} in space {space!r}; `recollect conversations` lists them")
    return conversation
