"""The memory for other programs and for chat platforms: over HTTP, with a dashboard and keys; for MCP clients on
standard input; and as a bot."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from everword.cli import options
from everword.cli.opening import current_settings, open_current_store
from everword.cli.options import SPACE, STORE, StoreCommand, global_option, printable, require_libraries
from everword.cli.output import format_time, pick, print_json, print_json_lines, show_table, table
from everword.errors import ConfigError, MissingExtra
from everword.masking import keep_password_out_of_texts, mask_credentials

if TYPE_CHECKING:
    from everword.config import Secret
    from everword.server.keys import ApiKey

LOOPBACK = "127.0.0.1"
LIBRARIES = ("uvicorn", "fastapi", "jinja2")  # that a server needs


@click.command(cls=StoreCommand)
@click.option(
    "--host",
    default="127.0.0.1",
    help="The address to listen on; 0.0.0.0 stands for all addresses, and requires keys.",
)
@click.option(
    "--port",
    default=8000,
    type=click.IntRange(0, 65535),
    help="The port to listen on; with 0, the system chooses a free port.",
)
@click.option(
    "--workers",
    default=1,
    type=click.IntRange(1, 64),
    help="How many server processes to run. For several processes, PostgreSQL is the best store.",
)
@click.option(
    "--auth/--no-auth",
    default=None,
    help="Whether requests need a key; --no-auth works only on loopback.  [default: need a key if there are keys]",
)
def serve(host: str, port: int, workers: int, auth: bool | None) -> None:
    """Serve the memory over HTTP, by REST, OpenAI's API and MCP.

    The server's dashboard is at the path `/`. People sign in to the dashboard with a key.

    If no keys exist, the server listens on loopback only, and every program on this machine can use the server. To let
    the server listen on an address other than loopback, create a key with `everword keys create`. Ctrl-C or SIGTERM
    ends the server after the current requests. The server writes its log to standard error, as JSON lines. The server's
    log contains no texts of messages.

    \b
    everword serve
    curl http://127.0.0.1:8000/healthz
    everword keys create --space team --name website
    everword serve --host 0.0.0.0 --workers 4 --store postgresql://user:password@host/database

    `everword serve` needs `pip install 'everword[server]'`. The page docs/rest.md lists the routes of the server.
    """
    from everword.server import hosting

    require_libraries("server", "a server", *LIBRARIES)
    settings = current_settings()
    auth_is_on = hosting.wants_keys(settings, host, auth)
    with hosting.open_listening_socket(host, port) as listener:
        shown_host = f"[{host}]" if ":" in host else host
        url = f"http://{shown_host}:{listener.getsockname()[1]}"
        click.echo(f"serving {mask_credentials(settings.store)} on {url}; Ctrl-C ends it", err=True)
        if not auth_is_on:
            click.echo("auth is off: every program on this machine may read and write all of it", err=True)
            click.echo("once there are keys (`everword keys create`), start it again, and it asks for them", err=True)
        hosting.serve(settings, hosting.HostOptions(workers, auth_is_on), listener)


@click.command("open", cls=StoreCommand)
@click.option(
    "--port",
    default=0,
    type=click.IntRange(0, 65535),
    help="The port to listen on; with 0, the system chooses a free port.",
)
@click.option(
    "--browser/--no-browser", default=True, help="Open the browser, or only print the address of the dashboard."
)
@click.option(
    "--auth/--no-auth", default=None, help="Whether requests need a key.  [default: need a key if there are keys]"
)
def open_dashboard(port: int, browser: bool, auth: bool | None) -> None:
    """See and correct the memory in the browser.

    The dashboard shows what the store contains. The dashboard also shows what was sent to a model, and why. `everword
    open` starts a server on the store of the working folder, and opens the dashboard in the browser. Only programs on
    this machine can reach the dashboard. Ctrl-C ends the server of the dashboard. If the store has keys (see `everword
    keys`), you sign in to the dashboard with a key, unless you give --no-auth.

    \b
    everword open
    everword open --store json:memory.json
    everword open --no-browser --port 8000

    `everword open` needs `pip install 'everword[server]'`. The page docs/dashboard.md describes the dashboard.
    """
    import threading
    import webbrowser

    from everword.server import hosting

    require_libraries("server", "a server", *LIBRARIES)
    settings = current_settings()
    auth_is_on = hosting.wants_keys(settings, LOOPBACK, auth)
    with hosting.open_listening_socket(LOOPBACK, port) as listener:
        url = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
        click.echo(f"showing {mask_credentials(settings.store)} on {url}; Ctrl-C ends it", err=True)
        if browser:
            # The socket listens already: a browser that comes early waits until the server answers.
            threading.Thread(target=webbrowser.open, args=(url,), name="everword browser", daemon=True).start()
        hosting.serve(settings, hosting.HostOptions(1, auth_is_on), listener)


# -- keys


@click.group()
def keys() -> None:
    """Create, list and revoke the keys of a server.

    A key gives access to one space or to all spaces. The rights of a key are `read`, `write` and `admin` (erase,
    rebuild, metrics). A key that you create with --user gives access to the memory of one user only. Keys for a single
    user are for apps whose users call the server directly.

    \b
    everword keys create --space team --scopes read,write --name website
    everword keys list
    everword keys revoke 3f2a9c1b7d6e5f40
    """


@keys.command(cls=StoreCommand)
@click.option(
    "--name",
    required=True,
    metavar="NAME",
    help="What the key is for; `everword keys list` shows NAME.",
)
@click.option(
    "--scopes",
    default="read,write",
    metavar="LIST",
    help="The rights of the key, separated by commas: read, write, admin.",
)
@click.option("--all-spaces", is_flag=True, help="Give the key access to all spaces, not only to one space.")
@click.option("--user", metavar="ID", help="Give the key access to the memory of the user ID only.")
@click.option(
    "--rate",
    metavar="N",
    type=int,
    help="How many requests a minute the key allows.  [default: the setting `server_rate`]",
)
@click.option(
    "--body-kb",
    metavar="N",
    type=int,
    help="The size of the largest request that the key allows, in KiB.  [default: the setting `server_body_kb`]",
)
@click.option("--days", metavar="N", type=int, help="The key expires after this many days.  [default: never]")
@options.json_option("Print JSON that contains the new key.")
def create(scopes: str, all_spaces: bool, user: str | None, body_kb: int | None, as_json: bool, **fields: Any) -> None:
    """Create a key for a server, and show the key once.

    The store keeps only a hash of the key, so the key cannot be shown again. By default, the new key
    gives access to the space named in the setting `space`.

    \b
    everword keys create --space team --scopes read,write --name website
    everword keys create --all-spaces --scopes read,write,admin --name operator
    everword keys create --space app --user alex --days 90 --name "Alex's phone"
    """
    from everword.server.keys import create_key

    settings = current_settings()
    spaces = [] if all_spaces else [settings.space]
    body = None if body_kb is None else body_kb << 10
    with open_current_store(settings, new=True) as store:
        key, text = create_key(store, spaces=spaces, scopes=scopes.split(","), user=user, body=body, **fields)
    if as_json:
        print_json({"key": text, **pick(key, KEY_FIELDS)})
    else:
        click.echo(text)
    scope = "every space" if all_spaces else f"space {printable(spaces[0])}"
    user_note = f", user {printable(user)}" if user else ""
    until = f", until {format_time(key.expires_at)}" if key.expires_at else ""
    click.echo(f"key {key.id} for {scope}{user_note}: {', '.join(key.scopes)}{until}. It is not shown again.", err=True)


KEY_FIELDS = "id name spaces scopes user rate body maker created_at used_at revoked_at expires_at"


@keys.command("list", cls=StoreCommand)
@options.JSON_LINES
def list_(as_json: bool) -> None:
    """Show the keys of a server, and when each key was last used. With --space NAME, `everword keys list` shows only
    keys with access to the space NAME.

    \b
    everword keys list
    everword keys list --space team --json
    """
    from everword.server.keys import list_keys

    space = global_option(SPACE)
    with open_current_store(current_settings()) as store:
        matches = [key for key in list_keys(store) if space is None or not key.spaces or space in key.spaces]
    if as_json:
        print_json_lines(pick(key, KEY_FIELDS) for key in matches)
        return
    grid = table("id", "name", "spaces", "scopes", "user", "made", "last use", "state")
    for key in matches:
        spaces = ", ".join(key.spaces) or "all"
        state = key_state(key)
        about = (key.name, spaces, ", ".join(key.scopes), key.user or "")
        last_use = format_time(key.used_at) if key.used_at else "never"
        grid.add_row(key.id, *map(printable, about), format_time(key.created_at), last_use, state)
    show_table(grid)
    if not matches:
        click.echo("there is no key yet; `everword keys create --name NAME` makes one", err=True)


def key_state(key: ApiKey) -> str:
    if key.revoked_at:
        return f"revoked {format_time(key.revoked_at)}"
    if key.was_revoked:
        return "revoked with its maker"
    if key.expires_at is None:
        return "active"
    return f"{'active until' if key.is_active(datetime.now(UTC)) else 'expired'} {format_time(key.expires_at)}"


@keys.command(cls=StoreCommand)
@click.argument("id")
@options.JSON_OBJECT
def revoke(id: str, as_json: bool) -> None:
    """Revoke a key, and all keys that were created with that key.

    ID is the id of the key, which `everword keys list` shows, or the key itself. A running server rejects a revoked key
    after at most one second.

    \b
    everword keys revoke 3f2a9c1b7d6e5f40
    """
    from everword.server.keys import revoke_key

    with open_current_store(current_settings()) as store:
        key = revoke_key(store, id)
    if as_json:
        print_json(pick(key, KEY_FIELDS))
    else:
        click.echo(f"key {key.id} ({printable(key.name)}) opens nothing any more")


# -- MCP


@click.command(cls=StoreCommand)
@click.argument("url", metavar="[STORE]", required=False)
@click.option("--user", metavar="ID", help="The only user whose memory the client can read or change.")
@click.option(
    "--graph", is_flag=True, help="Offer the tools of MCP's reference memory server instead of everword's tools."
)
def mcp(url: str | None, user: str | None, graph: bool) -> None:
    """Serve the memory to an MCP client.

    A client of the Model Context Protocol, such as Claude Desktop or an editor, starts this command. The client and
    `everword mcp` communicate over standard input and output. STORE is the address of the store, by default the setting
    `store`. With --user ID, every tool call is about the user ID. If you leave out --user, each tool call must name a
    user. The page docs/tools.md lists the tools. `everword serve` offers the same tools over HTTP, at /mcp.

    With --graph, `everword mcp` offers the nine tools of MCP's reference memory server, such as create_entities,
    read_graph and search_nodes. The tools of --graph have the same arguments and results as the tools of MCP's
    reference memory server.

    \b
    everword mcp --user alex
    everword mcp ~/memory.db --space work --user alex
    everword mcp postgresql://localhost/memory --space team
    everword mcp --user alex --graph
    """
    from everword.log.checks_and_seals import check_id

    if user is not None:
        check_id("user", user)
    if url is not None:
        click.get_current_context().meta[STORE] = url
    try:
        from everword.server.mcp.tools import build_server, local_caller
    except ImportError:
        raise MissingExtra("server", "`everword mcp`") from None

    from everword.library import AsyncMemory

    settings = current_settings()

    async def serve() -> None:
        async with AsyncMemory(settings.store, space=settings.space) as memory:
            caller = local_caller(settings.space, user)
            server = build_server(memory, caller, graph=graph or settings.mcp_graph)
            status = await run_until_stopped(server.run_stdio_async())
        if status:
            # The memory is closed. A thread still reads standard input, and that read cannot be interrupted.
            os._exit(status)

    asyncio.run(serve())


async def run_until_stopped(service: Coroutine[Any, Any, None]) -> int:
    """Run the service until the client closes its end or a signal comes; returns the exit status."""
    loop = asyncio.get_running_loop()
    stop_event = asyncio.Event()
    received_signals: list[int] = []

    def stop(number: int) -> None:
        received_signals.append(number)
        stop_event.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # on Windows
            loop.add_signal_handler(number, stop, number)
    running = asyncio.create_task(service)
    waiting = asyncio.create_task(stop_event.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if received_signals:
        return 128 + received_signals[0]
    waiting.cancel()
    await running
    return 0


# -- bots


FOLDER = "everword-bot"
TELEGRAM = "https://api.telegram.org"
NO_TOKEN = (
    "{variable} is not set: {giver} gives a token; put it into this variable of the environment. To try the bot "
    "without a token: --dry-run FILE"
)


@click.group()
def bot() -> None:
    """Run a chat bot with a memory.

    The bot stores each message with its author, and replies when somebody addresses it. The bot answers chat commands
    such as /summary, /remember and /whatdoyouknow. The bot keeps each chat in its own store file, in the folder of
    --data. The page docs/bots.md says how to get a token and start the bot.

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
        click.option("--name", "names", multiple=True, help="Another name to which the bot answers (repeatable)."),
        click.option("--system", metavar="TEXT", help="The system prompt for the bot's replies."),
        click.option(
            "--dry-run",
            "record",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Replay a recorded conversation, print what the bot would say, and store nothing.",
        ),
        click.option(
            "--assistant",
            metavar="ID",
            multiple=True,
            help="With --dry-run, an id that the bot has in FILE (repeatable).",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@bot.command()
@with_bot_options
@click.option(
    "--webhook",
    metavar="URL",
    help="Use a webhook instead of polling: Telegram calls this https:// address, which must forward to --port.",
)
@click.option("--host", default="127.0.0.1", help="The address to listen on for the webhook.")
@click.option("--port", default=8443, type=click.IntRange(0, 65535), help="The port for the webhook.")
@click.option("--api", metavar="URL", help="Use your own Bot API server instead of https://api.telegram.org.")
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

    Set the environment variable EVERWORD_TELEGRAM_TOKEN to the bot's token. After Ctrl-C or SIGTERM, the bot processes
    the messages that it has already received, and ends. With --dry-run, `everword bot telegram` needs no token: it
    replays an export of Telegram or a file of JSON Lines.

    \b
    export EVERWORD_TELEGRAM_TOKEN=…
    everword bot telegram --data ~/memo --name Memo
    everword bot telegram --dry-run result.json --name Memo

    `everword bot telegram` needs `pip install 'everword[telegram]'`.
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
    run_alone(TelegramPlatform(options), BotOptions(folder, system), report)


@bot.command()
@with_bot_options
def discord(
    folder: Path, names: tuple[str, ...], system: str | None, record: Path | None, assistant: tuple[str, ...]
) -> None:
    """Run the bot on Discord.

    Set the environment variable EVERWORD_DISCORD_TOKEN to the bot's token. Switch on the bot's Message Content intent
    in Discord's Developer Portal. After Ctrl-C or SIGTERM, the bot processes the messages that it has already received,
    and ends. With --dry-run, `everword bot discord` needs no token: it replays an export of DiscordChatExporter or a
    file of JSON Lines.

    \b
    export EVERWORD_DISCORD_TOKEN=…
    everword bot discord --data ~/memo --name Memo
    everword bot discord --dry-run channel.json --name Memo

    `everword bot discord` needs `pip install 'everword[discord]'`.
    """
    if record is not None:
        run_replay(record, names, assistant, system)
        return
    require_libraries("discord", "a bot on Discord", "discord")
    from everword.bots.discord import DiscordOptions, DiscordPlatform
    from everword.bots.service import BotOptions, run_alone

    token = read_bot_token("discord", "the Developer Portal")
    run_alone(DiscordPlatform(DiscordOptions(token, names)), BotOptions(folder, system), report)


def run_replay(record: Path, names: tuple[str, ...], assistant: tuple[str, ...], system: str | None) -> None:
    """Replay a file in a folder that is removed afterwards."""
    import tempfile

    from everword.bots.delivery import Delivery
    from everword.bots.replay import PrintedPlatform, printed_identity, replay_records
    from everword.bots.service import BotOptions, open_bot
    from everword.bots.texts import count_messages
    from everword.formats import open_records

    async def replay(folder: Path) -> int:
        platform = PrintedPlatform(printed_identity(names), lambda line: click.echo(printable(line)))
        with open_records(record, assistant_ids=assistant) as records:
            async with open_bot(Delivery(platform), BotOptions(folder, system)) as replayed_bot:
                return await replay_records(records, replayed_bot, platform)

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
