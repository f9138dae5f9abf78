"""The real application of python-telegram-bot, with the bot behind it, against the server in `telegram_server`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

from telegram_server import TOKEN, Sent, TelegramServer

from everword.bots.bot import Bot
from everword.bots.delivery import Delivery
from everword.bots.memories import MemoryParts
from everword.bots.service import BotOptions, open_bot
from everword.bots.telegram import TelegramOptions, TelegramPlatform
from everword.config import Secret
from everword.ports import LLM, Clock

GROUP = -100200300
ALEX = (7, "Alex")
DANA = (8, "Dana Kim")
NOOR = (9, "Noor")


class Waits:
    """Waits that are noted, and take no time."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


@asynccontextmanager
async def running_bot(
    server: TelegramServer,
    folder: Path,
    *,
    chat: LLM | None = None,
    memory: LLM | None = None,
    clock: Clock | None = None,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    now: Callable[[], float] | None = None,
    polls: bool = True,
    **settings: Any,
) -> AsyncIterator[Bot]:
    """A bot that polls the server."""
    options = TelegramOptions(Secret(TOKEN), base_url=f"{server.address}/bot", poll_seconds=1)
    platform = TelegramPlatform(options)
    delivery = Delivery(platform, pause) if now is None else Delivery(platform, pause, now)
    memories = MemoryParts(chat, memory, clock, settings={"telemetry": "off", **settings})
    async with (
        platform.connect(),
        open_bot(delivery, BotOptions(folder, memories=memories)) as bot,
        platform.deliver_updates(bot),
        platform.poll() if polls else nullcontext(),
    ):
        yield bot


class Talk:
    """A person's talk with the bot: what they say, and what they wait for."""

    def __init__(self, server: TelegramServer, user: tuple[int, str] = ALEX, chat: int | None = None) -> None:
        self.server = server
        self.user = user
        self.chat = chat
        self.seen = 0  # messages of the bot that were there before the last thing that was said

    async def say(self, text: str, **fields: Any) -> int:
        self.seen = len(self.server.sent)
        return self.server.say(text, user=self.user, chat=self.chat, **fields)

    async def press(self, message: Sent, label: str) -> None:
        self.seen = len(self.server.sent)
        self.server.press(message, label, user=self.user)

    async def hear(self, text: str) -> Sent:
        """Wait for a message of the bot with this in it."""
        return await asyncio.to_thread(self.server.wait_for_text, text, after=self.seen)

    async def ask(self, text: str, answer: str) -> Sent:
        await self.say(text)
        return await self.hear(answer)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())
