"""A memory for MCP clients on standard input and output; the client starts and ends the program."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import click

from recollect.cli.terminal.opening import current_settings
from recollect.cli.terminal.options import STORE, StoreCommand


@click.command(cls=StoreCommand)
@click.argument("url", metavar="[STORE]", required=False)
@click.option("--user", metavar="ID", help="Whose memory: the only one that can be asked for and told of.")
def mcp(url: str | None, user: str | None) -> None:
    """Serve the memory to an MCP client.

    A client such as Claude Desktop or an editor starts this program and speaks the Model Context Protocol with it, on
    standard input and output. It gets the tools remember, forget, search_memory, get_context, get_facts and
    add_messages. With --user, all of it is about that user; without, each call names one. Over HTTP, `recollect serve`
    has the same at /mcp.

    \b
    recollect mcp --user alex
    recollect mcp ~/memory.db --space work --user alex
    recollect mcp postgresql://localhost/memory --space team
    """
    from recollect.errors import MissingExtra
    from recollect.log.rules import check_id

    if user is not None:
        check_id("user", user)
    if url is not None:
        click.get_current_context().meta[STORE] = url
    try:
        from recollect.server.mcp.tools import build_server, local_caller
    except ImportError:
        raise MissingExtra("server", "`recollect mcp`") from None

    from recollect.wiring import AsyncMemory

    settings = current_settings()

    async def serve() -> None:
        async with AsyncMemory(settings.store, space=settings.space) as memory:
            status = await run_until_stopped(build_server(memory, local_caller(settings.space, user)).run_stdio_async())
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
