"""Puts a bot together from its parts, on a folder, runs it on a platform until it is told to stop, and takes it apart.

The folder holds `bot.db`, the bot's own settings, and one store file for each chat. What is logged meanwhile holds no
credentials: libraries log addresses that hold the token.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from everword.bots.bot import Bot
from everword.bots.chat_settings import SPACE, SettingsTable
from everword.bots.delivery import Delivery
from everword.bots.memories import MemoryParts, MemoryPool, PlainReplies, Tools
from everword.bots.platforms import Platform
from everword.config import Settings
from everword.errors import StoreUnwritable
from everword.library import AsyncMemory
from everword.masking import MaskingFormatter, masked_logger
from everword.models.chat.roles import Chain
from everword.summaries.rules.days import parse_time_zone
from everword.wiring import SystemClock, chat_models, split_names

logger = masked_logger("everword.bots")

HOME = "bot.db"
NO_MODEL = (
    "replies: none. It remembers, and answers memory commands; to reply it needs a model: EVERWORD_CHAT_URL, "
    "EVERWORD_CHAT_MODEL, EVERWORD_CHAT_KEY"
)
GRACE_SECONDS = 55.0  # for what is in hand at the end; systemd and compose wait for 70
LAST_SECONDS = 5.0  # for what is said after that
SCHEDULE_SECONDS = 30.0  # between two looks for digests that are due
NOISY = ("httpx", "httpcore", "telegram", "apscheduler", "discord")  # loggers that say much, and addresses with it


@dataclass(frozen=True, slots=True)
class BotOptions:
    """Where a bot keeps what it keeps, the system prompt of its replies, and what its memories are made with."""

    folder: Path
    system: str | None = None
    memories: MemoryParts = field(default_factory=MemoryParts)


@asynccontextmanager
async def open_bot(delivery: Delivery, options: BotOptions) -> AsyncIterator[Bot]:
    """A bot that is ready for what happens. At the end, all that it was given is handled."""
    settings = Settings.load()
    make_folder(options.folder)
    given = options.memories
    model = given.chat
    if model is None and split_names(settings.chat_model):
        model = Chain(chat_models(settings))
    memories = replace(given, has_model=model is not None)
    async with AsyncMemory(str(options.folder / HOME), space=SPACE, followers=False, telemetry="off") as home:
        table = SettingsTable(home.documents())
        pool = MemoryPool(options.folder, table, memories)
        clock = given.clock or SystemClock()
        plain = None if model is None else PlainReplies(model)
        tools = Tools(delivery, pool, table, clock, parse_time_zone(settings.time_zone), plain)
        bot = Bot(tools, options.system)
        try:
            yield bot
        finally:
            await bot.drain(GRACE_SECONDS)
            try:
                await pool.close()
            finally:
                await bot.drain(LAST_SECONDS)  # closing may have written what was held, of which chats are told
                await bot.close()


def make_folder(folder: Path) -> None:
    """Make the folder, for nobody but whoever runs the bot."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable(
            f"the folder {folder} cannot be created: {error.strerror or error}; choose another folder with --data"
        ) from error


async def follow_schedule(bot: Bot) -> None:
    """Send digests when they are due, and retry edits and deletions that a store refused, until cancelled."""
    while True:
        try:
            bot.retry_postponed()
            await bot.commands.send_due_digests()
        except Exception as error:  # the schedule goes on
            logger.error("the schedule: %s", type(error).__name__, exc_info=error)
        await asyncio.sleep(SCHEDULE_SECONDS)


@asynccontextmanager
async def keep_schedule(bot: Bot) -> AsyncIterator[None]:
    """Keep to the schedule of digests within this block."""
    task = asyncio.create_task(follow_schedule(bot))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Report(Protocol):
    """Says a line to whoever runs the bot."""

    def __call__(self, line: str, /) -> None: ...


class LivePlatform(Platform, Protocol):
    """A platform that a bot is connected to."""

    def connect(self) -> AbstractAsyncContextManager[None]:
        """Learn who the bot is, so that it can speak within this block."""

    def deliver_updates(self, bot: Bot) -> AbstractAsyncContextManager[None]:
        """Give the bot what happens within this block; at the end, what has come in is given first."""

    async def wait_until_ready(self, stop: asyncio.Event) -> None:
        """Wait until it is known what the bot sees, or until `stop` is set."""

    def describe(self) -> str:
        """What the bot sees on this platform, and what is missing."""

    async def wait_for_end(self, stop: asyncio.Event) -> None:
        """Take what happens until `stop` is set; raises if the platform ends it before."""


async def run_bot(platform: LivePlatform, options: BotOptions, report: Report, stop: asyncio.Event) -> None:
    """Run the bot until `stop` is set, and report at the start what it can do and what is missing. At the end it takes
    nothing more, and finishes what it has."""
    async with (
        platform.connect(),
        open_bot(Delivery(platform), options) as bot,
        keep_schedule(bot),
        platform.deliver_updates(bot),
    ):
        await platform.wait_until_ready(stop)
        person = platform.identity.person
        place = f"is on {platform.name.capitalize()}; its memory is in {options.folder}"
        report(f"{person.name} (@{person.handle}) {place}; Ctrl-C ends it")
        report(describe_replies(options))
        report(platform.describe())
        await platform.wait_for_end(stop)
        report("stopping: what has come in is finished first")


def run_alone(platform: LivePlatform, options: BotOptions, report: Report) -> None:
    """Run a bot as all that this process does, until a signal comes. Nobody but this user can read the files that it
    makes, also in a folder that others can open; what it logs goes to standard error."""

    async def run() -> None:
        await run_bot(platform, options, report, stop_on_signals())

    os.umask(0o077)
    with log_to_stderr():
        asyncio.run(run())


def describe_replies(options: BotOptions) -> str:
    """What the bot replies with, or what it needs to reply."""
    settings = Settings.load()
    names = ["a model that was given"] if options.memories.chat is not None else split_names(settings.chat_model)
    return f"replies: {' then '.join(names)}" if names else NO_MODEL


def stop_on_signals() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set. Pressed once more, Ctrl-C ends the process at once."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def take_signal(number: int) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows
            loop.add_signal_handler(number, take_signal, number)
    return stop


@contextmanager
def log_to_stderr() -> Iterator[None]:
    """Write warnings and what the bot reports to standard error within this block, without credentials."""
    handler = logging.StreamHandler()
    handler.setFormatter(MaskingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    levels = {name: logging.getLogger(name).level for name in NOISY}
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
