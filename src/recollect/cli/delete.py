"""`recollect delete` removes messages for good, after it has shown what goes; `recollect audit` says who did so."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import click

from recollect.cli.terminal.opening import MemoryHandle, open_for_reading
from recollect.cli.terminal.options import StoreCommand, parse_moment, printable, report_remains
from recollect.cli.terminal.show import format_time, plural, print_json, show_table, table

if TYPE_CHECKING:
    from recollect.model import Deletion

SHOWN = 10  # conversations that a preview names


@click.command(cls=StoreCommand)
@click.option("--message", metavar="ID", help="A message of --conversation: its id, its platform's, or its turn as #7.")
@click.option("--conversation", metavar="ID", help="A whole conversation, or where --message is.")
@click.option("--before", callback=parse_moment, metavar="DATE", help="Messages of before this moment.")
@click.option("--user", metavar="ID", help="Messages of this person.")
@click.option("--query", metavar="TEXT", help="Messages with this phrase in them, word for word.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; without --dry-run it needs --yes.")
def delete(
    message: str | None,
    conversation: str | None,
    before: datetime | None,
    user: str | None,
    query: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove messages for good.

    One message, a conversation, or the messages that fit all of --before, --user and --query. What was derived from
    them goes with them, and is made anew from what is left. Each message leaves an empty place with its seal, so that
    `recollect verify` still proves the rest. What goes is shown first. There is no way back: export first
    (`recollect export`) if a copy is wanted.

    \b
    recollect delete --conversation demo --message #7
    recollect delete --query "hunter2" --dry-run
    recollect delete --user alex --before 2024-01-01
    """
    request = DeleteRequest(message, conversation, before, user, query)
    request.check(yes or dry_run or not as_json)
    with open_for_reading() as handle:
        preview = request.run(handle, dry_run=True) if dry_run or not yes else None
        if preview is not None and not as_json:
            show_deletion(preview)
        if not dry_run and preview is not None:
            click.confirm("Remove this for good?", abort=True, err=True)
        outcome = preview if dry_run and preview is not None else request.run(handle, dry_run=False)
    if as_json:
        print_json(asdict(outcome))
    elif not dry_run:
        click.echo(f"deleted {plural(outcome.messages, 'message')} (deletion {outcome.id})")
    else:
        click.echo("nothing was removed")
    report_remains(outcome.left)


class DeleteRequest:
    """What somebody wants to delete, as options say it."""

    def __init__(
        self,
        message: str | None,
        conversation: str | None,
        before: datetime | None,
        user: str | None,
        query: str | None,
    ) -> None:
        self.message = message
        self.conversation = conversation
        self.before = before
        self.user = user
        self.query = query

    def check(self, may_go_on: bool) -> None:
        has_filter = any(value is not None for value in (self.before, self.user, self.query))
        if self.message is not None and self.conversation is None:
            raise click.UsageError("--message needs --conversation: where is it?")
        if self.conversation is not None and has_filter:
            raise click.UsageError("--conversation goes with --message alone: a conversation goes as a whole")
        if self.conversation is None and not has_filter:
            raise click.UsageError("say what to delete: --conversation, --before, --user or --query")
        if not may_go_on:
            raise click.UsageError("--json needs --yes or --dry-run: nothing is asked then")

    def run(self, handle: MemoryHandle, *, dry_run: bool) -> Deletion:
        memory = handle.memory
        if self.conversation is None:
            return memory.delete(before=self.before, user=self.user, query=self.query, dry_run=dry_run)
        if self.message is None:
            return memory.delete_conversation(self.conversation, dry_run=dry_run)
        return memory.conversation(self.conversation).delete(name_of_message(self.message), dry_run=dry_run)


def name_of_message(text: str) -> str | int:
    """What names a message: its id, the one that its platform gave it, or its turn as #7."""
    number = text.removeprefix("#")
    is_turn = text.startswith("#") and number.isascii() and number.isdigit()
    return int(number) if is_turn else text


def show_deletion(deletion: Deletion) -> None:
    """Show what would go: from which conversations, and what of which view rests on it."""
    grid = table("goes", "how many", right=("how many",))
    places = sorted(deletion.conversations.items(), key=lambda place: -place[1])
    for conversation, count in places[:SHOWN]:
        grid.add_row(f"messages of {printable(conversation)}", f"{count:,}")
    if len(places) > SHOWN:
        grid.add_row(f"messages of {len(places) - SHOWN:,} more", f"{sum(count for _, count in places[SHOWN:]):,}")
    for view, count in deletion.views.items():
        grid.add_row(view, f"{count:,}")
    show_table(grid)


@click.command(cls=StoreCommand)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, help="How many lines, the last ones.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def audit(limit: int, as_json: bool) -> None:
    """Show who removed or moved something, when, and how many.

    A line for each time that messages were erased or deleted, that something expired, or that messages were moved to
    another name. The text and whose it was are not in it.

    \b
    recollect audit --limit 5
    """
    with open_for_reading() as handle:
        lines = handle.memory.audit(limit=limit)
    if as_json:
        for line in lines:
            print_json(asdict(line))
        return
    grid = table("when (UTC)", "by", "kind", "what", "how many", right=("how many",))
    for line in lines:
        grid.add_row(format_time(line.at), printable(line.by), line.kind, line.what, f"{line.count:,}")
    show_table(grid)
    if not lines:
        click.echo("nothing was ever removed or moved", err=True)
