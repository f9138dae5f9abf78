"""Runs the bot on Discord until it is told to stop, and says at the start what it can do and what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

from recollect.bots.delivery import Delivery
from recollect.bots.discord.platform import DiscordOptions, DiscordPlatform
from recollect.bots.service import BotOptions, describe_replies, keep_schedule, open_bot

NO_SERVER = "servers: it is in none; docs/bots.md says how to invite it"


async def run_discord(
    discord: DiscordOptions, options: BotOptions, report: Callable[[str], None], stop: asyncio.Event
) -> None:
    """Run the bot until `stop` is set. Then it takes nothing more, and finishes what it has."""
    platform = DiscordPlatform(discord)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(platform.connect())
        bot = await stack.enter_async_context(open_bot(Delivery(platform), options))
        await stack.enter_async_context(keep_schedule(bot))
        await stack.enter_async_context(platform.deliver_updates(bot))
        await platform.wait_for_any(platform.connected, stop)
        for line in start_lines(platform, options):
            report(line)
        await platform.wait_for_any(stop)
        report("stopping: what has come in is finished first")


def start_lines(platform: DiscordPlatform, options: BotOptions) -> list[str]:
    """What the bot can do, and what is missing."""
    own = platform.identity.person
    count = len(platform.client.guilds)
    return [
        f"{own.name} (@{own.handle}) is on Discord; its memory is in {options.folder}; Ctrl-C ends it",
        describe_replies(options),
        f"servers: {count}; it sees every message of the channels that it may read" if count else NO_SERVER,
    ]
