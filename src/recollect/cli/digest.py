"""Digests on the command line: the day of each member of a space, and the days before."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.knowledge.profile import open_for_writing
from recollect.cli.terminal.options import StoreCommand, printable
from recollect.cli.terminal.show import console, plural, print_indented, print_json

if TYPE_CHECKING:
    from recollect.model import Digest

NOTHING = "nobody spoke in a channel of space {space} {when}"


def parse_day(ctx: click.Context, param: click.Parameter, value: str | None) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a day: write 2023-05-01", ctx, param) from None


@click.command(cls=StoreCommand)
@click.argument("place", metavar="[SPACE]", required=False)
@click.option("--day", callback=parse_day, metavar="DATE", help="Another day than today.")
@click.option("--week", is_flag=True, help="How each has been in the six days before.")
@click.option("--user", metavar="ID", help="Of one member alone.")
@click.option("--time-zone", metavar="NAME", help="Set the space's time zone first, as in Europe/Berlin.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with all that is kept of the digest.")
def digest(
    place: str | None, day: date | None, week: bool, user: str | None, time_zone: str | None, as_json: bool
) -> None:
    """Show what a day in a space was for each who spoke.

    SPACE is by default the setting `space`. A day is made of what was said in channels, by the space's clock; chats
    with one person are no part of it. It is written up once, by the memory model if there is one, and kept; today's is
    at most an hour old.

    \b
    recollect digest
    recollect digest guild --day 2024-05-01
    recollect digest guild --week --user ann
    """
    with open_for_writing() as handle:
        space = place or handle.settings.space
        if time_zone is not None:
            handle.memory.set_time_zone(time_zone, space=space)
        digests = handle.memory.digests(space, day=day, user=user, week=week)
    if as_json:
        for user_digest in digests:
            print_json(digest_fields(user_digest))
    else:
        show_digests(digests)
    if not digests:
        period = "in the days before" if week else f"on {day}" if day else "today"
        click.echo(NOTHING.format(space=printable(space), when=period), err=True)


def show_digests(digests: list[Digest]) -> None:
    from rich.text import Text

    out = console()
    for user_digest in digests:
        first = f"{user_digest.first:%Y-%m-%d}"
        period = (
            f"{user_digest.day:%Y-%m-%d}" if user_digest.kind == "day" else f"{first} to {user_digest.last:%Y-%m-%d}"
        )
        writer = {"model": "", "offline": ", by the built-in writer"}[user_digest.made_by]
        channels = plural(len({span.conversation for span in user_digest.sources}), "channel")
        out.print(
            Text(printable(user_digest.user), style="green") + Text(f"  {period}, {channels}{writer}", style="dim")
        )
        print_indented(out, Text(printable(user_digest.text)), 2)


def digest_fields(user_digest: Digest) -> dict[str, Any]:
    return {
        "space": user_digest.space,
        "user": user_digest.user,
        "kind": user_digest.kind,
        "first": user_digest.first.isoformat(),
        "last": user_digest.last.isoformat(),
        "text": user_digest.text,
        "made_by": user_digest.made_by,
        "made_at": user_digest.made_at,
        "pending": user_digest.pending,
        "sources": [
            {"conversation": source.conversation, "first": source.first, "last": source.last}
            for source in user_digest.sources
        ],
    }
