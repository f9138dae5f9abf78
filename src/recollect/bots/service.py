"""Puts a bot together from its parts, on a folder, and takes it apart again.

The folder holds `bot.db`, the bot's own settings, and one store file for each chat.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from recollect.bots.bot import Bot
from recollect.bots.delivery import Delivery
from recollect.bots.memories import MemoryParts, MemoryPool
from recollect.bots.plain import PlainReplies
from recollect.bots.settings import SPACE, SettingsTable
from recollect.bots.tools import Tools
from recollect.clock import SystemClock
from recollect.config import Settings
from recollect.errors import StoreUnwritable
from recollect.masking import masked_logger
from recollect.models.chat.roles import Chain
from recollect.ports import LLM
from recollect.summaries.rules.days import parse_time_zone
from recollect.wiring import AsyncMemory, chat_models, split_names

logger = masked_logger("recollect.bots")

HOME = "bot.db"
NO_MODEL = (
    "replies: none. It remembers, and answers memory commands; to reply it needs a model: RECOLLECT_CHAT_URL, "
    "RECOLLECT_CHAT_MODEL, RECOLLECT_CHAT_KEY"
)
GRACE_SECONDS = 55.0  # for what is in hand at the end; systemd and compose wait for 70
LAST_SECONDS = 5.0  # for what is said after that
SCHEDULE_SECONDS = 30.0  # between two looks for digests that are due


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
    model = reply_model(settings, given)
    memories = replace(given, has_model=model is not None)
    async with AsyncMemory(str(options.folder / HOME), space=SPACE, followers=False, telemetry="off") as home:
        table = SettingsTable(home.documents())
        pool = MemoryPool(options.folder, table, memories)
        clock = given.clock or SystemClock()
        tools = Tools(delivery, pool, table, clock, parse_time_zone(settings.time_zone), model is not None)
        bot = Bot(tools, None if model is None else PlainReplies(model), options.system)
        try:
            yield bot
        finally:
            await bot.drain(GRACE_SECONDS)
            try:
                await pool.close()
            finally:
                await bot.drain(LAST_SECONDS)  # closing may have written what was held, of which chats are told
                await bot.close()


def reply_model(settings: Settings, given: MemoryParts) -> LLM | None:
    """The model that replies while memory is off; None if there is none at all."""
    if given.chat is not None:
        return given.chat
    return Chain(chat_models(settings)) if split_names(settings.chat_model) else None


def make_folder(folder: Path) -> None:
    """Make the folder, for nobody but whoever runs the bot."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable(f"{folder}: {error.strerror or error}; name another folder: --data") from error


async def follow_schedule(bot: Bot) -> None:
    """Send digests when they are due, and retry edits and deletions that a store refused, until cancelled."""
    while True:
        try:
            bot.retry_postponed()
            await bot.digests.send_due()
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
