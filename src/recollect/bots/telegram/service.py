"""Runs the bot on Telegram until it is told to stop, and says at the start what it can do and what is missing."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from recollect.bots.delivery import Delivery
from recollect.bots.service import BotOptions, describe_replies, keep_schedule, open_bot
from recollect.bots.telegram.platform import TelegramOptions, TelegramPlatform
from recollect.bots.telegram.webhook import PATH, serve_webhook

PRIVACY_MODE = (
    "groups: privacy mode is on, so Telegram shows it commands, mentions and replies only. To let it keep whole "
    "groups: @BotFather, /setprivacy, Disable; then remove it from the group and add it again"
)
WHOLE_GROUPS = "groups: it sees every message of the groups that it is in"


@dataclass(frozen=True, slots=True)
class Webhook:
    """The public address that Telegram calls, and the socket on which the bot waits for it."""

    url: str
    listener: socket.socket


async def run_telegram(
    telegram: TelegramOptions,
    options: BotOptions,
    report: Callable[[str], None],
    stop: asyncio.Event,
    webhook: Webhook | None = None,
) -> None:
    """Run the bot until `stop` is set. Then it takes nothing more, and finishes what it has."""
    platform = TelegramPlatform(telegram)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(platform.connect())
        bot = await stack.enter_async_context(open_bot(Delivery(platform), options))
        await stack.enter_async_context(keep_schedule(bot))
        await stack.enter_async_context(platform.deliver_updates(bot))
        for line in start_lines(platform, options):
            report(line)
        if webhook is None:
            await stack.enter_async_context(platform.poll())
        else:
            secret = secrets.token_urlsafe(32)
            await stack.enter_async_context(serve_webhook(platform, secret, webhook.listener))
            await platform.take_webhook(webhook.url.rstrip("/") + PATH, secret)
        await platform.wait_for_end(stop)
        report("stopping: what has come in is finished first")


def start_lines(platform: TelegramPlatform, options: BotOptions) -> list[str]:
    """What the bot can do, and what is missing."""
    own = platform.application.bot.bot
    return [
        f"{own.first_name} (@{own.username}) is on Telegram; its memory is in {options.folder}; Ctrl-C ends it",
        describe_replies(options),
        WHOLE_GROUPS if own.can_read_all_group_messages else PRIVACY_MODE,
    ]
