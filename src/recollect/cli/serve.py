"""The memory over HTTP, on the command line."""

from __future__ import annotations

import click

from recollect.cli.terminal.opening import current_settings
from recollect.cli.terminal.options import StoreCommand
from recollect.masking import mask_credentials

LOOPBACK = "127.0.0.1"


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

    A dashboard is at `/`, for people: they sign in with a key.

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
    from recollect.server.hosting import HostOptions, open_listening_socket, wants_keys
    from recollect.server.hosting import serve as run_server

    require_server()
    settings = current_settings()
    auth_is_on = wants_keys(settings, host, auth)
    with open_listening_socket(host, port) as listener:
        actual_port = listener.getsockname()[1]
        shown_host = f"[{host}]" if ":" in host else host
        click.echo(
            f"serving {mask_credentials(settings.store)} on http://{shown_host}:{actual_port}; Ctrl-C ends it", err=True
        )
        if not auth_is_on:
            click.echo("auth is off: every program on this machine may read and write all of it", err=True)
            click.echo("once there are keys (`recollect keys create`), start it again, and it asks for them", err=True)
        run_server(settings, HostOptions(workers, auth_is_on), listener)


def require_server() -> None:
    """Raise MissingExtra unless the packages of a server are installed."""
    from importlib.util import find_spec

    from recollect.errors import MissingExtra

    if any(find_spec(name) is None for name in ("uvicorn", "fastapi", "jinja2")):
        raise MissingExtra("server", "a server")


@click.command("open", cls=StoreCommand)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port. 0: any that is free.")
@click.option("--browser/--no-browser", default=True, help="Open the browser, or only say the address.")
@click.option("--auth/--no-auth", default=None, help="Ask for keys, or not.  [default: ask, if there are keys]")
def open_dashboard(port: int, browser: bool, auth: bool | None) -> None:
    """Show the memory in the browser, and correct it there.

    What is kept, why a model saw what it saw, and how to put it right.

    Starts a server on loopback, for this machine alone, on the store of the working folder, and opens its dashboard.
    Ctrl-C ends it. If there are keys, it asks for one; with --no-auth it does not.

    \b
    recollect open
    recollect open --store json:memory.json
    recollect open --no-browser --port 8000

    Needs the extra: pip install 'recollect[server]'. What the pages show is in docs/dashboard.md.
    """
    import threading
    import webbrowser

    from recollect.server.hosting import HostOptions, open_listening_socket, wants_keys
    from recollect.server.hosting import serve as run_server

    require_server()
    settings = current_settings()
    auth_is_on = wants_keys(settings, LOOPBACK, auth)
    with open_listening_socket(LOOPBACK, port) as listener:
        url = f"http://{LOOPBACK}:{listener.getsockname()[1]}/"
        click.echo(f"showing {mask_credentials(settings.store)} on {url}; Ctrl-C ends it", err=True)
        if browser:
            # The socket listens already: a browser that comes early waits until the server answers.
            threading.Thread(target=webbrowser.open, args=(url,), name="recollect browser", daemon=True).start()
        run_server(settings, HostOptions(1, auth_is_on), listener)
