"""Opens the memory or store that a command works on, and no more than it needs.

A command that only reads does not create a store: a mistyped name is an error, not an empty memory. The log can be
read, verified, exported and erased without a working embedder: only searching and indexing need one.

A command that needs all views brings them up to date with a progress bar; one that follows reports until told to stop.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, cast

import click

from everword.cli.options import SPACE, STORE, global_option, printable, warn
from everword.cli.output import plural, progress_bar
from everword.errors import MachineAway, NotFound, NotSettled, StoreError

if TYPE_CHECKING:
    from everword.config import Settings
    from everword.memory.blocking import BlockingConversation, BlockingMemory
    from everword.memory.memory import MemoryEngine
    from everword.memory.runtime import Parts
    from everword.model import Conversation, Degraded, Message, ViewState
    from everword.ports import Store, Tx


SERVER_SECONDS = 5.0  # that a command waits for a database's server; a program that stays waits `busy_seconds`
BRANCH = "/branch/"  # in the ids of what was regenerated or edited away in a chat of ChatGPT


@dataclass(frozen=True, slots=True)
class MemoryHandle:
    """A memory, the store under it, and the settings it was opened with."""

    memory: BlockingMemory
    store: Store
    settings: Settings

    def find_conversation(self, id: str) -> Conversation:
        return find_conversation(self.store, self.settings.space, id)

    def find_person(self, name: str, space: str | None = None) -> str:
        """The id of the person whose name was typed to read something, perhaps misspelt; warns if it is nobody's."""
        from everword.facts.user_by_name import is_known_id, person_by_name

        place = space or self.settings.space
        person = self.store.read(lambda tx: person_by_name(tx, place, name, is_typed=True))
        if person == name and not self.store.read(lambda tx: is_known_id(tx, place, name)):
            warn(f"nothing is kept of anybody called {name!r} in space {place!r}")
        return self._announce_person(name, place, person)

    def find_exact_person(self, name: str) -> str:
        """The id of the person whose name was typed to change something: it must be exact."""
        from everword.facts.user_by_name import person_by_exact_name

        space = self.settings.space
        return self._announce_person(name, space, self.store.read(lambda tx: person_by_exact_name(tx, space, name)))

    def _announce_person(self, name: str, space: str, person: str) -> str:
        """The person; whoever typed the name is told whom it was taken for."""
        if person != name:
            from everword.facts.user_by_name import shown_person

            shown = self.store.read(lambda tx: shown_person(tx, space, person))
            click.echo(f"{printable(name)!r} is taken for {printable(shown)}", err=True)
        return person

    def existing_chat(self, id: str) -> BlockingConversation:
        """A conversation that is there, as its user has it."""
        conversation = self.find_conversation(id)
        return self.memory.conversation(conversation.id, user=conversation.user)

    def names_of(self, people: Iterable[str], space: str | None = None) -> dict[str, str]:
        """What people are called, by id: the id stands beside a name that two of them have."""
        from everword.facts.stored_facts import own_name

        ids = sorted(set(people))
        place = space or self.settings.space
        names = self.store.read(lambda tx: {id: own_name(tx, place, id) or id for id in ids})
        counts = Counter(names.values())
        return {id: name if counts[name] == 1 or name == id else f"{name} ({id})" for id, name in names.items()}

    def with_names(self, messages: Iterable[Message]) -> list[Message]:
        """The messages as they are shown: with the names of people and the titles of conversations, not their ids."""
        from everword.log.append_and_read import given_titles

        page = list(messages)
        space = page[0].space if page else self.settings.space
        names = self.names_of((message.author for message in page), space)
        titles = self.store.read(lambda tx: given_titles(tx, space, (message.conversation for message in page)))
        return [
            replace(
                message,
                author=names[message.author],
                conversation=titles.get(message.conversation, message.conversation),
            )
            for message in page
        ]


def current_settings() -> Settings:
    """The settings in force, including --store and --space from the command line."""
    from everword.config import Settings

    return Settings.load(store=global_option(STORE), space=global_option(SPACE))


def store_file(url: str) -> Path | None:
    """The file an address names; None if it names a server."""
    kind, colon, path = url.partition(":")
    if colon and kind in ("json", "sqlite"):
        return Path(path.removeprefix("///") if kind == "sqlite" else path)
    return None if "://" in url else Path(url)


def require_existing(url: str) -> str:
    """Return the address of a store; raise NotFound if it names a file that does not exist."""

    file = store_file(url)
    if file is not None and not file.exists():
        raise NotFound(
            f"there is no store {url}; create it with `everword import FILE`, or choose another with "
            "--store or EVERWORD_STORE"
        )
    return url


def open_current_store(settings: Settings, *, new: bool = False, stays: bool = False) -> closing[Store]:
    """Open the store of the settings for a block; with `new`, it is created if there is none. A program that `stays`
    may be started together with the database's server, and waits longer for it."""
    from everword.wiring import open_store

    url = settings.store if new else require_existing(settings.store)
    return closing(open_store(url, settings, server_seconds=None if stays else SERVER_SECONDS))


@contextmanager
def open_for_reading(*, searching: bool = False, log_only: bool = False) -> Iterator[MemoryHandle]:
    """Open an existing memory to read its log; with `searching`, also to search it. With `log_only`, the memory has
    only the operations of `SearchAndMaintenance`: a command that needs no others starts in two thirds of the time."""
    settings = current_settings()
    with open_current_store(settings) as store:
        effective_settings = for_search(settings, store) if searching else without_embedder(settings)
        engine = build_engine(effective_settings, store, log_only=searching or log_only)
        with run_blocking(engine, check_embedder=searching) as memory:
            yield MemoryHandle(memory, store, settings)


@contextmanager
def open_for_writing(*, new: bool = False) -> Iterator[MemoryHandle]:
    """Open a memory to write to, with its model if it has one; with `new`, it is created if there is none."""
    settings = replace(current_settings(), followers=False)
    with (
        open_current_store(settings, new=new) as store,
        run_blocking(build_engine(settings, store), check_embedder=False) as memory,
    ):
        yield MemoryHandle(memory, store, settings)


@contextmanager
def open_for_chat(settings: Settings, notices: SimpleQueue[Degraded] | None = None) -> Iterator[MemoryHandle]:
    """Open a memory with its models; created if there is none yet. `notices` gets whether messages are held."""
    with (
        open_current_store(settings, new=True) as store,
        run_blocking(build_engine(settings, store, notices)) as memory,
    ):
        yield MemoryHandle(memory, store, settings)


@asynccontextmanager
async def open_engine(
    settings: Settings, *, follow: bool = False, check_embedder: bool = True
) -> AsyncIterator[tuple[MemoryEngine, Store]]:
    """Open a memory to write to, and its store; created if there is none yet."""
    with open_current_store(settings, new=True, stays=follow) as store:
        engine = build_engine(replace(settings, followers=follow), store)
        try:
            await engine.open(check_embedder=check_embedder)
            yield engine, store
        finally:
            await engine.close()


def build_engine(
    settings: Settings,
    store: Store,
    notices: SimpleQueue[Degraded] | None = None,
    *,
    log_only: bool = False,
) -> MemoryEngine:
    from everword.wiring import build

    def build_parts() -> Parts:
        return replace(
            build(settings, store=store, on_degraded=None if notices is None else notices.put),
            for_one_search=log_only,
        )

    if log_only:  # the other operations take longer to import than a search takes
        from everword.memory.operations.search_and_maintenance import LogEngine

        return cast("MemoryEngine", LogEngine(build_parts))
    from everword.memory.memory import MemoryEngine

    return MemoryEngine(build_parts)


def run_blocking(engine: MemoryEngine, *, check_embedder: bool = True) -> BlockingMemory:
    from everword.memory.blocking import BlockingMemory

    return BlockingMemory(engine, partial(engine.open, check_embedder=check_embedder))


def for_search(settings: Settings, store: Store) -> Settings:
    """The settings for a search. Where the index has every message, nothing follows the log: the views and the models
    that write them take longer to load than the search takes."""
    return settings if index_state(store, settings.space).behind else without_followers(settings)


def index_state(store: Store, space: str | None = None) -> ViewState:
    """How far the index is."""
    from everword.recall.view import IndexView

    now = datetime.now(UTC)
    return store.read(lambda tx: tx.view_state(IndexView.name, now, space))


def warn_of_index(state: ViewState, *, with_error: bool = True) -> None:
    """Warn if the index does not have every message."""
    if state.behind:
        reason = f" (the last error was: {state.error})" if state.error and with_error else ""
        warn(
            f"the index is {plural(state.behind, 'message')} behind the log{reason}: some may be missing here. "
            "`everword worker --once` brings it up"
        )


def without_followers(settings: Settings) -> Settings:
    """The settings for a process that ends with its answer: it follows nothing, counts nothing and asks no model."""
    quiet = replace(settings, followers=False, telemetry="off")
    return replace(quiet, chat_model="", memory_model="", small_model="")


def without_embedder(settings: Settings) -> Settings:
    """The settings for a command that never embeds either: with the built-in embedder, which loads nothing until
    used."""
    return replace(without_followers(settings), embedder="static")


def read_conversation(store: Store, space: str, id: str) -> Conversation | None:
    return store.read(lambda tx: tx.conversation(space, id))


def find_conversation(store: Store, space: str, id: str) -> Conversation:
    """The conversation with this id, or the only one with this title."""
    conversation = known_conversation(store, space, id)
    if conversation is None:
        raise NotFound(
            f"there is no conversation {id!r} in space {space!r}; `everword conversations` lists all conversations"
        )
    return conversation


def known_conversation(store: Store, space: str, id: str) -> Conversation | None:
    """The conversation with this id, or the only one with this title; None if there is none."""
    return read_conversation(store, space, id) or store.read(lambda tx: conversation_by_title(tx, space, id))


def conversation_by_title(tx: Tx, space: str, title: str) -> Conversation | None:
    """The conversation with this title, in any case; None if there is none, or more than one. Branches of a chat, which
    an import keeps apart, do not count."""
    from everword.log.append_and_read import conversation_titles, every_conversation

    conversations = {conversation.id: conversation for conversation in every_conversation(tx, space)}
    titles = conversation_titles(tx, space, list(conversations))
    matches = [id for id, name in titles.items() if name.casefold() == title.strip().casefold() and BRANCH not in id]
    return conversations[matches[0]] if len(matches) == 1 else None


# -- bringing views up to date

LOOK = 1.0  # seconds between updates of the progress
LARGE = 2_000  # messages behind, of which another process does a part
HELPED_VIEWS = ("facts", "window", "topics", "titles")  # of which the other process takes what this one does not
PATIENCE = 10.0  # seconds for the other process to end
BUSY = 0.5  # seconds between a worker's reports, while there is work
IDLE = 3.0  # and while there is none


def view_states(store: Store, views: Sequence[str], space: str | None = None) -> list[ViewState]:
    """How far each of these views is."""
    now = datetime.now(UTC)
    return store.read(lambda tx: [tx.view_state(view, now, space) for view in views])


async def settle(memory: MemoryEngine, store: Store, helper: HelpingProcess, views: Sequence[str] = ()) -> int:
    """Bring every view up to date, with help if there is much to do, and show the progress; or only these views.
    Returns how many messages the slowest view was behind."""

    async def lags() -> dict[str, int]:
        return {state.view: state.behind for state in await asyncio.to_thread(view_states, store, memory.views)}

    lag_at_start = await lags()
    total = steps_left(lag_at_start)
    with progress_bar("{task.completed:,} of {task.total:,} steps", visible=not views) as bar:
        task = bar.add_task("catching up", total=total)
        if not views:
            helper.start_if_large(max(lag_at_start.values()), again=True)
        work = asyncio.create_task(settle_views(memory, views))
        try:
            while not (await asyncio.wait([work], timeout=None if views else LOOK))[0]:
                remaining = await lags()
                view_at_work = next((view for view in remaining if remaining[view]), "")
                bar.update(task, description=view_at_work, completed=max(total - steps_left(remaining), 0))
            set_aside = await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    if set_aside:
        warn(f"{plural(set_aside, 'message')} could not be processed: `everword doctor` lists the failures")
    return max(lag_at_start.values())


def steps_left(lags: Mapping[str, int]) -> int:
    """How many messages all views together have yet to read; a view that follows another, also what that one has."""
    from everword.memory.runtime import FOLLOWED

    leaders = {view: leader for leader, views in FOLLOWED.items() for view in views}

    def steps_of(view: str) -> int:
        leader = leaders.get(view)
        return lags.get(view, 0) + (steps_of(leader) if leader is not None else 0)

    return sum(map(steps_of, lags))


async def settle_views(memory: MemoryEngine, views: Sequence[str]) -> int:
    """Bring every view up to date, or only these."""
    from everword.follow.follower import settle as settle_followers

    if not views:
        return await memory.settle(math.inf)
    followers = [memory.runtime.followers[view] for view in views]
    return await settle_followers(followers, math.inf, memory.runtime.calls)


class HelpingProcess:
    """Another process that does a part of a large backlog: until its views have caught up, or this one needs no more
    help. It begins with facts, which are read in the log itself, so that it can help while messages are still coming
    in; then each process takes conversations that the other does not have."""

    def __init__(self, memory: MemoryEngine, url: str) -> None:
        self._memory = memory
        self._url = url
        self.process: subprocess.Popen[bytes] | None = None

    def start_if_large(self, backlog: int, *, again: bool = False) -> None:
        """Start it if so many messages are worth it; `again`, if it has ended. A model reads no faster for two."""
        if backlog < LARGE or self._memory.runtime.tasks.has_model or not may_share(self._url):
            return
        if self.process is None or (again and self.process.poll() is not None):
            self.process = start_helper(self._url)

    async def __aenter__(self) -> HelpingProcess:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process is not None:
            await asyncio.to_thread(stop_helper, self.process)


def may_share(url: str) -> bool:
    """Whether another process of this machine can help with a store."""
    return (os.cpu_count() or 1) > 1 and not url.startswith("json:")


def start_helper(url: str) -> subprocess.Popen[bytes]:
    """Start a process that works on views until they have caught up, and then ends: also if this process is killed."""
    chosen_views = [argument for view in HELPED_VIEWS for argument in ("--view", view)]
    return subprocess.Popen(
        [sys.executable, "-m", "everword", "worker", "--once", *chosen_views],
        env={**os.environ, "EVERWORD_STORE": url},  # an address may have a password, and everybody sees arguments
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def stop_helper(helper: subprocess.Popen[bytes]) -> None:
    """Ask the process to end, so that it gives back what it holds; what it does not give back in time is free later."""
    helper.send_signal(signal.SIGINT)
    try:
        helper.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


async def report_followers(memory: MemoryEngine, store: Store, stop: asyncio.Event) -> None:
    """Print the progress of an open memory's followers, until told to stop."""

    last_news = ""
    while not stop.is_set():
        try:
            states = await asyncio.to_thread(view_states, store, memory.views)
            news = describe_states(states)
            pause = BUSY if any(state.behind for state in states) else IDLE
        except StoreError as error:  # the followers wait for it too, but for the spaces of other machines
            is_partial = isinstance(error, MachineAway)
            awaited = "a machine, and working on the spaces of other machines" if is_partial else "the store"
            news = f"waiting for {awaited}: {error}"
            pause = IDLE
        if news and news != last_news:
            click.echo(printable(news))
        last_news = news
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause)


def describe_states(states: Sequence[ViewState]) -> str:
    """The state of the views in words; empty while they are at work without errors."""
    if not any(state.behind for state in states):
        return "caught up: every view has every message"
    return "\n".join(
        f"{state.view}: {plural(state.behind, 'message')} behind, to be tried again; the last error was: {state.error}"
        for state in states
        if state.behind and state.waiting
    )


@contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that SIGINT and SIGTERM set, instead of ending the program at once."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    old_handlers = {
        number: signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stop
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)


async def settle_or_warn(memory: MemoryEngine, store: Store, helper: HelpingProcess) -> None:
    """Settle; if a view cannot catch up now, print a warning: the messages are stored, and the view is tried again."""

    try:
        await settle(memory, store, helper)
    except NotSettled as error:
        warn(f"{error}. The messages are kept; `everword worker --once` tries now")
