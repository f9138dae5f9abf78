"""Bots for chat platforms, on the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli.options import printable, require_libraries
from everword.errors import ConfigError
from everword.masking import keep_password_out_of_texts, mask_credentials

if TYPE_CHECKING:
    from everword.config import Secret

FOLDER = "everword-bot"
TELEGRAM = "https://api.telegram.org"
NO_TOKEN = (
    "{variable} is not set: {giver} gives a token; put it into the environment, as in `export {variable}=…`. To try "
    "the bot without one: --dry-run FILE"
)


@click.group()
def bot() -> None:
    """Run a bot that remembers a chat.

    It keeps what it is shown, with who said it, replies when it is addressed, and answers /summary, /remember,
    /whatdoyouknow and others. Each chat has a store file of its own in the folder --data. docs/bots.md begins with a
    token and ends with a running bot.

    \b
    everword bot telegram --data ~/memo
    everword bot discord --data ~/memo
    """


def with_bot_options(command: Any) -> Any:
    """Give a command the options that every bot has."""
    options = [
        click.option(
            "--data",
            "folder",
            default=FOLDER,
            type=click.Path(file_okay=False, path_type=Path),
            help="The folder for the bot's settings and the memory of each chat.",
        ),
        click.option("--name", "names", multiple=True, help="What the bot is called besides its own name; repeatable."),
        click.option("--system", metavar="TEXT", help="The system prompt of its replies."),
        click.option(
            "--dry-run",
            "record",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Replay a recorded conversation, print what the bot would say, and keep nothing.",
        ),
        click.option(
            "--assistant", metavar="ID", multiple=True, help="Of --dry-run: an author who is the bot; repeatable."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@bot.command()
@with_bot_options
@click.option("--webhook", metavar="URL", help="Have Telegram call https://… in place of asking it; needs --port.")
@click.option("--host", default="127.0.0.1", help="The address to listen on for the webhook.")
@click.option("--port", default=8443, type=click.IntRange(0, 65535), help="The port for the webhook.")
@click.option("--api", metavar="URL", help="A Bot API server of your own, in place of https://api.telegram.org.")
def telegram(
    folder: Path,
    names: tuple[str, ...],
    system: str | None,
    record: Path | None,
    assistant: tuple[str, ...],
    webhook: str | None,
    host: str,
    port: int,
    api: str | None,
) -> None:
    """Run the bot on Telegram.

    The token comes from the environment alone, EVERWORD_TELEGRAM_TOKEN, and is never shown. Ctrl-C or SIGTERM finishes
    what has come in, and ends. With --dry-run, an export of Telegram or a file of JSON Lines is replayed, without a
    token.

    \b
    export EVERWORD_TELEGRAM_TOKEN=…
    everword bot telegram --data ~/memo --name Memo
    everword bot telegram --dry-run result.json --name Memo

    Needs the extra: pip install 'everword[telegram]'.
    """
    if record is not None:
        run_replay(record, names, assistant, system)
        return
    require_libraries("telegram", "a bot on Telegram", "telegram", "uvicorn")
    from everword.bots.service import BotOptions, run_alone
    from everword.bots.telegram import TelegramOptions, TelegramPlatform, Webhook, open_webhook_socket

    token = read_bot_token("telegram", "@BotFather")
    server = (api or TELEGRAM).rstrip("/")
    keep_password_out_of_texts(server)
    hook = None if webhook is None else Webhook(webhook, open_webhook_socket(host, port))
    options = TelegramOptions(token, names, f"{server}/bot", f"{server}/file/bot", webhook=hook)
    run_alone(lambda: TelegramPlatform(options), BotOptions(folder, system), report)


@bot.command()
@with_bot_options
def discord(
    folder: Path, names: tuple[str, ...], system: str | None, record: Path | None, assistant: tuple[str, ...]
) -> None:
    """Run the bot on Discord.

    The token comes from the environment alone, EVERWORD_DISCORD_TOKEN, and is never shown. The bot needs the intent
    Message Content, which is switched on in the Developer Portal. Ctrl-C or SIGTERM finishes what has come in, and
    ends. With --dry-run, an export of DiscordChatExporter or a file of JSON Lines is replayed, without a token.

    \b
    export EVERWORD_DISCORD_TOKEN=…
    everword bot discord --data ~/memo --name Memo
    everword bot discord --dry-run channel.json --name Memo

    Needs the extra: pip install 'everword[discord]'.
    """
    if record is not None:
        run_replay(record, names, assistant, system)
        return
    require_libraries("discord", "a bot on Discord", "discord")
    from everword.bots.discord import DiscordOptions, DiscordPlatform
    from everword.bots.service import BotOptions, run_alone

    token = read_bot_token("discord", "the Developer Portal")
    run_alone(lambda: DiscordPlatform(DiscordOptions(token, names)), BotOptions(folder, system), report)


def run_replay(record: Path, names: tuple[str, ...], assistant: tuple[str, ...], system: str | None) -> None:
    """Replay a file in a folder that is removed afterwards."""
    import tempfile

    from everword.bots.delivery import Delivery
    from everword.bots.replay import PrintedPlatform, printed_identity, replay_records
    from everword.bots.service import BotOptions, open_bot
    from everword.bots.texts import count_messages
    from everword.clock import SystemClock
    from everword.formats import open_records

    async def replay(folder: Path) -> int:
        platform = PrintedPlatform(printed_identity(names), lambda line: click.echo(printable(line)))
        with open_records(record, assistant_ids=assistant) as records:
            async with open_bot(Delivery(platform), BotOptions(folder, system)) as replayed_bot:
                return await replay_records(records, replayed_bot, platform, SystemClock().now)

    with tempfile.TemporaryDirectory() as folder:
        bad_count = asyncio.run(replay(Path(folder)))
    if bad_count:
        report(f"{count_messages(bad_count)} of the record could not be read")


def read_bot_token(platform: str, giver: str) -> Secret:
    """The token from the environment; raises if there is none."""
    from everword.config import read_token, token_variable

    token = read_token(platform)
    if not token:
        raise ConfigError(NO_TOKEN.format(variable=token_variable(platform), giver=giver))
    return token


def report(line: str) -> None:
    click.echo(printable(mask_credentials(line)), err=True)
