"""The memory over HTTP, on the command line."""

from __future__ import annotations

import click

from recollect.cli.terminal.opening import current_settings
from recollect.cli.terminal.options import StoreCommand, mask_password


@click.command(cls=StoreCommand)
@click.option("--host", default="127.0.0.1", help="The address to listen on. 0.0.0.0 is every one, and needs keys.")
@click.option("--port", default=8000, type=click.IntRange(0, 65535), help="The port. 0: any that is free.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), help="Processes on one store; best on PostgreSQL.")
@click.option(
    "--auth/--no-auth",
    default=None,
    help="Ask for keys, or not; --no-auth only on loopback.  [default: ask, if there are keys]",
)
def serve(host: str, port: int, workers: int, auth: bool | None) -> None:
    """Serve the memory over HTTP: REST, OpenAI's shapes, MCP.

    On loopback, a server without keys lets every program of this machine in, and says so. Anywhere else it needs keys:
    `recollect keys create` makes them. Ctrl-C or SIGTERM finishes the requests in hand, and ends. Logs are JSON lines
    on standard error, without a word of what was said.

    \b
    recollect serve
    curl http://127.0.0.1:8000/healthz
    recollect keys create --space team --name website
    recollect serve --host 0.0.0.0 --workers 4 --store postgresql://user:password@host/database

    Needs the extra: pip install 'recollect[server]'. The routes are in docs/server.md.
    """
    from importlib.util import find_spec

    from recollect.errors import MissingExtra
    from recollect.server.hosting import HostOptions, open_listening_socket, wants_keys
    from recollect.server.hosting import serve as run_server

    if find_spec("uvicorn") is None or find_spec("fastapi") is None:
        raise MissingExtra("server", "a server")
    settings = current_settings()
    auth_is_on = wants_keys(settings, host, auth)
    with open_listening_socket(host, port) as listener:
        actual_port = listener.getsockname()[1]
        shown_host = f"[{host}]" if ":" in host else host
        click.echo(
            f"serving {mask_password(settings.store)} on http://{shown_host}:{actual_port}; Ctrl-C ends it", err=True
        )
        if not auth_is_on:
            click.echo("auth is off: every program on this machine may read and write all of it", err=True)
            click.echo("once there are keys (`recollect keys create`), start it again, and it asks for them", err=True)
        run_server(settings, HostOptions(workers, auth_is_on), listener)
