"""The real client of discord.py, with the bot behind it, against the server in `discord_server`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from discord_server import ALEX, CHANNEL, TOKEN, DiscordServer, Sent, User

from everword.bots.bot import Bot
from everword.bots.delivery import Delivery
from everword.bots.discord import DiscordOptions, DiscordPlatform
from everword.bots.memories import MemoryParts
from everword.bots.service import BotOptions, open_bot
from everword.config import Secret
from everword.ports import LLM, Clock


@asynccontextmanager
async def running_bot(
    server: DiscordServer,
    folder: Path,
    *,
    chat: LLM | None = None,
    clock: Clock | None = None,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    now: Callable[[], float] | None = None,
    **settings: Any,
) -> AsyncIterator[Bot]:
    """A bot that is connected to the server."""
    platform = DiscordPlatform(DiscordOptions(Secret(TOKEN)))
    delivery = Delivery(platform, pause) if now is None else Delivery(platform, pause, now)
    memories = MemoryParts(chat, clock=clock, settings={"telemetry": "off", **settings})
    async with (
        platform.connect(),
        open_bot(delivery, BotOptions(folder, memories=memories)) as bot,
        platform.deliver_updates(bot),
    ):
        await platform.wait_for_any(platform.connected)
        yield bot


class DiscordTalk:
    """A person's talk with the bot: what they say or call, and what they wait for. Without a channel, in private."""

    def __init__(self, server: DiscordServer, user: User = ALEX, channel: int | None = CHANNEL) -> None:
        self.server = server
        self.user = user
        self.channel = channel
        self.lines: list[str] = []  # what was called, pressed and heard, as a screen shows it
        self.seen = 0  # messages of the bot that were there before the last thing that was said

    async def say(self, text: str, **fields: Any) -> int:
        self.seen = len(self.server.sent)
        return await self.server.say(text, user=self.user, channel=self.channel, **fields)

    async def ask(self, text: str, answer: str, **fields: Any) -> Sent:
        await self.say(text, **fields)
        return await self.hear(answer)

    async def call(self, command: str, answer: str, **options: Any) -> Sent:
        """Call a slash command, and wait for its answer."""
        values = "".join(f" {name}:{value}" for name, value in options.items() if name != "deliveries")
        self.lines.append(f"{self.user[1]}: /{command}{values}")
        self.seen = len(self.server.sent)
        await self.server.call_command(command, user=self.user, channel=self.channel, **options)
        return await self.hear(answer)

    async def press(self, message: Sent, label: str, answer: str) -> Sent:
        self.lines.append(f"{self.user[1]}: [{label}]")
        self.seen = len(self.server.sent)
        await self.server.press(message, label, user=self.user)
        return await self.hear(answer)

    async def hear(self, text: str) -> Sent:
        """Wait for a message of the bot with this in it."""
        sent = await self.server.wait_for_text(text, after=self.seen)
        labels = "".join(f" [{label}]" for label, _ in sent.buttons)
        whom = f", to {self.user[1]} alone" if sent.is_private else ""
        self.lines.append(f"Memo{whom}: {sent.text}{labels}")
        return sent
