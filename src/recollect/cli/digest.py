"""Digests on the command line: what a day in a space was for its members, and how each has been lately."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.profile import telling
from recollect.cli.terminal.options import StoreCommand, printable
from recollect.cli.terminal.show import console, counted, indented, json_line

if TYPE_CHECKING:
    from recollect.model import Digest

NOTHING = "nobody spoke in a channel of space {space} {when}"


def as_day(ctx: click.Context, param: click.Parameter, value: str | None) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a day: write 2023-05-01", ctx, param) from None


@click.command(cls=StoreCommand)
@click.argument("place", metavar="[SPACE]", required=False)
@click.option("--day", callback=as_day, metavar="DATE", help="Another day than today.")
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
    with telling() as here:
        space = place or here.settings.space
        if time_zone is not None:
            here.memory.set_time_zone(time_zone, space=space)
        found = here.memory.digests(space, day=day, user=user, week=week)
    if as_json:
        for one in found:
            json_line(fields(one))
    else:
        show(found)
    if not found:
        when = "in the days before" if week else f"on {day}" if day else "today"
        click.echo(NOTHING.format(space=printable(space), when=when), err=True)


def show(found: list[Digest]) -> None:
    from rich.text import Text

    out = console()
    for one in found:
        when = f"{one.day:%Y-%m-%d}" if one.kind == "day" else f"{one.first:%Y-%m-%d} to {one.last:%Y-%m-%d}"
        by = {"model": "", "offline": ", by the built-in writer"}[one.made_by]
        said = counted(len({span.conversation for span in one.sources}), "channel")
        out.print(Text(printable(one.user), style="green") + Text(f"  {when}, {said}{by}", style="dim"))
        indented(out, Text(printable(one.text)), 2)


def fields(one: Digest) -> dict[str, Any]:
    return {
        "space": one.space,
        "user": one.user,
        "kind": one.kind,
        "first": one.first.isoformat(),
        "last": one.last.isoformat(),
        "text": one.text,
        "made_by": one.made_by,
        "made_at": one.made_at,
        "pending": one.pending,
        "sources": [{"conversation": s.conversation, "first": s.first, "last": s.last} for s in one.sources],
    }
