"""`recollect move` gives a conversation another name or owner, `recollect merge` makes two users one; both go back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.terminal.opening import MemoryHandle, open_for_reading
from recollect.cli.terminal.options import StoreCommand, printable
from recollect.cli.terminal.show import plural, print_json, show_table, table

if TYPE_CHECKING:
    from recollect.model import Move

SHOWN = 10  # conversations that are named


@click.command(cls=StoreCommand)
@click.argument("conversation", required=False)
@click.option("--to", metavar="ID", help="The new name of the conversation.")
@click.option("--user", metavar="ID", help="The user whose chat it is from now on.")
@click.option("--undo", metavar="ID", help="Take back the move or the merge with this id.")
@click.option("--dry-run", is_flag=True, help="Only show what would move.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def move(
    conversation: str | None, to: str | None, user: str | None, undo: str | None, dry_run: bool, as_json: bool
) -> None:
    """Rename a conversation, or give it to another user.

    For the chat of somebody who signs in: what the user said in it becomes the other's, with the facts and statements
    that rest on it. If that user has said nothing anywhere else, all they have goes along. A channel can be renamed,
    but not owned. Nothing is removed: the log notes the change, `recollect verify` still proves every message, and
    --undo takes it back, unless something that was moved has been removed since.

    \b
    recollect move anonymous-17 --user alex --dry-run
    recollect move anonymous-17 --user alex --to alex-1
    recollect move --undo 1m7hg7ne89bfqrd0p3aa
    """
    if undo is not None:
        if conversation is not None or to is not None or user is not None:
            raise click.UsageError("--undo goes alone: it knows what to take back")
        run(lambda handle: handle.memory.undo_move(undo, dry_run=dry_run), as_json)
        return
    if conversation is None or (to is None and user is None):
        raise click.UsageError("say what to move and where: recollect move CONVERSATION --to ID, or --user ID")
    run(lambda handle: handle.memory.move_conversation(conversation, to=to, user=user, dry_run=dry_run), as_json)


@click.command(cls=StoreCommand)
@click.argument("user", required=False)
@click.option("--into", metavar="ID", help="The user who has all of it from now on.")
@click.option("--undo", metavar="ID", help="Take back the merge or the move with this id.")
@click.option("--dry-run", is_flag=True, help="Only show what would move.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def merge(user: str | None, into: str | None, undo: str | None, dry_run: bool, as_json: bool) -> None:
    """Make all that one user has another's.

    For two ids of one person. Conversations, messages in channels, facts, statements, names and documents move; keys
    of the server do not. Nothing is removed: the log notes the change, `recollect verify` still proves every message,
    and --undo takes it back, unless something that was moved has been removed since.

    \b
    recollect merge telegram-4711 --into alex --dry-run
    recollect merge telegram-4711 --into alex
    recollect merge --undo 1m7hg7ne89bfqrd0p3aa
    """
    if undo is not None:
        if user is not None or into is not None:
            raise click.UsageError("--undo goes alone: it knows what to take back")
        run(lambda handle: handle.memory.undo_move(undo, dry_run=dry_run), as_json)
        return
    if user is None or into is None:
        raise click.UsageError("say who becomes whom: recollect merge USER --into OTHER")
    run(lambda handle: handle.memory.merge_users(user, into=into, dry_run=dry_run), as_json)


def run(work: Callable[[MemoryHandle], Any], as_json: bool) -> None:
    """Open the memory, move, and show what was moved."""
    with open_for_reading() as handle:
        outcome: Move = work(handle)
    if as_json:
        print_json(asdict(outcome))
        return
    show_move(outcome)


def show_move(outcome: Move) -> None:
    if not outcome.conversations and not outcome.moved:
        click.echo("everything is so already; nothing was moved")
        return
    grid = table("moves" if outcome.dry_run else "moved", "to", "how many", right=("how many",))
    places = sorted(outcome.conversations.items())
    for old, new in places[:SHOWN]:
        grid.add_row(f"conversation {printable(old)}", "the same name" if new == old else printable(new), "")
    if len(places) > SHOWN:
        grid.add_row(f"{len(places) - SHOWN:,} more conversations", "", "")
    for kind, count in outcome.moved.items():
        grid.add_row(kind, printable(outcome.into or ""), f"{count:,}")
    show_table(grid)
    if outcome.dry_run:
        click.echo("nothing was moved")
        return
    messages = plural(outcome.moved.get("messages", 0), "message")
    back = "" if outcome.kind == "undo" else f"; back: recollect move --undo {outcome.id}"
    click.echo(f"moved {messages} ({outcome.kind} {outcome.id}){back}")
