"""Keys of a server, on the command line: create, list, revoke."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.terminal.opening import current_settings, require_existing
from recollect.cli.terminal.options import SPACE, StoreCommand, global_option, printable
from recollect.cli.terminal.show import format_time, print_json, show_table, table

if TYPE_CHECKING:
    from recollect.ports import Store
    from recollect.server.door.keys import ApiKey


@click.group()
def keys() -> None:
    """Make, list and revoke the keys of a server.

    A key opens one space, or all, and gives some rights: `read`, `write`, and `admin` (erase, rebuild, metrics). One
    with --user opens that user's memory alone, for an app that lets people in directly.

    \b
    recollect keys create --space team --scopes read,write --name website
    recollect keys list
    recollect keys revoke 3f2a9c1b7d6e5f40
    """


@contextmanager
def open_key_store(*, new: bool = False) -> Iterator[Store]:
    """Open the store that has the keys; with `new`, it is created if there is none."""
    from recollect.wiring import open_store

    settings = current_settings()
    store = open_store(settings.store if new else require_existing(settings.store), settings)
    try:
        yield store
    finally:
        store.close()


@keys.command(cls=StoreCommand)
@click.option("--name", required=True, metavar="NAME", help="What it is for; to know it again in the list.")
@click.option("--scopes", default="read,write", metavar="LIST", help="Of read, write and admin; with commas.")
@click.option("--all-spaces", is_flag=True, help="Open every space, and not one.")
@click.option("--user", metavar="ID", help="Open only this user's memory.")
@click.option("--rate", metavar="N", type=int, help="Requests a minute.  [default: the setting `server_rate`]")
@click.option("--body-kb", metavar="N", type=int, help="Size of a request.  [default: the setting `server_body_kb`]")
@click.option("--days", metavar="N", type=int, help="Open nothing any more after so many days.  [default: for good]")
def create(
    name: str,
    scopes: str,
    all_spaces: bool,
    user: str | None,
    rate: int | None,
    body_kb: int | None,
    days: int | None,
) -> None:
    """Make a key, and show it: this once.

    Only its hash is kept. It opens the space named by --space (or by the setting `space`).

    \b
    recollect keys create --space team --scopes read,write --name website
    recollect keys create --all-spaces --scopes read,write,admin --name operator
    recollect keys create --space app --user alex --days 90 --name "Alex's phone"
    """
    from recollect.server.door.keys import create_key as create_key

    spaces = [] if all_spaces else [current_settings().space]
    with open_key_store(new=True) as store:
        key, text = create_key(
            store,
            name=name,
            spaces=spaces,
            scopes=scopes.split(","),
            user=user,
            rate=rate,
            body=None if body_kb is None else body_kb << 10,
            days=days,
        )
    click.echo(text)
    scope = "every space" if all_spaces else f"space {printable(spaces[0])}"
    user_note = f", user {printable(user)}" if user else ""
    until = f", until {format_time(key.expires_at)}" if key.expires_at else ""
    click.echo(f"key {key.id} for {scope}{user_note}: {', '.join(key.scopes)}{until}. It is not shown again.", err=True)


@keys.command("list", cls=StoreCommand)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(as_json: bool) -> None:
    """Show the keys, and when each was used last. With --space, those that open it.

    \b
    recollect keys list
    recollect keys list --space team --json
    """
    from recollect.server.door.keys import list_keys

    space = global_option(SPACE)
    with open_key_store() as store:
        matches = [key for key in list_keys(store) if space is None or not key.spaces or space in key.spaces]
    if as_json:
        for key in matches:
            print_json(key_fields(key))
        return
    grid = table("id", "name", "spaces", "scopes", "user", "made", "last use", "state")
    for key in matches:
        spaces = ", ".join(key.spaces) or "all"
        state = key_state(key)
        about = (key.name, spaces, ", ".join(key.scopes), key.user or "")
        last_use = format_time(key.used_at) if key.used_at else "never"
        grid.add_row(key.id, *map(printable, about), format_time(key.created_at), last_use, state)
    show_table(grid)


def key_fields(key: ApiKey) -> dict[str, Any]:
    names = ("id", "name", "spaces", "scopes", "user", "rate", "body", "maker")
    times = ("created_at", "used_at", "revoked_at", "expires_at")
    return {name: getattr(key, name) for name in (*names, *times)}


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
def revoke(id: str) -> None:
    """Make a key open nothing from now on, nor any key that it made.

    ID is the one `recollect keys list` shows, or the whole key, if that is what was found. A server that is running
    follows within a second.

    \b
    recollect keys revoke 3f2a9c1b7d6e5f40
    """
    from recollect.server.door.keys import revoke_key as revoke_key

    with open_key_store() as store:
        key = revoke_key(store, id)
    click.echo(f"key {key.id} ({printable(key.name)}) opens nothing any more")
