"""Episodes on the command line: what left a conversation's window, as a tree of summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.terminal.opening import conversation_in, opened
from recollect.cli.terminal.options import StoreCommand, printable
from recollect.cli.terminal.show import console, json_line, when

if TYPE_CHECKING:
    from rich.tree import Tree

    from recollect.model import Episode


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--all", "whole", is_flag=True, help="Down to level 1, not only the active ones.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line, each with the id of the one it is part of."
)
def episodes(conversation: str, whole: bool, as_json: bool) -> None:
    """Show what left a conversation's window, as summaries.

    An episode of level 1 summarises messages; one of a higher level those below it. The active ones stand in the
    context. `recollect search` finds the messages themselves, whatever became of them.

    \b
    recollect episodes demo
    recollect episodes demo --all
    """
    with opened() as here:
        owner = conversation_in(here.store, here.settings.space, conversation)
        found = here.memory.conversation(conversation, user=owner.user).episodes()
    if as_json:
        for line in fields(found):
            json_line(line)
        return
    if not found:
        click.echo("nothing has left the window yet", err=True)
        return
    draw(conversation, found, whole)


def fields(episodes: Sequence[Episode], parent: str | None = None) -> Iterator[dict[str, Any]]:
    for one in episodes:
        yield {
            "id": one.id,
            "part_of": parent,
            "level": one.level,
            "first": one.first,
            "last": one.last,
            "began": one.began,
            "ended": one.ended,
            "summary": one.summary,
            "made_by": one.made_by,
            "pending": one.pending,
        }
        yield from fields(one.parts, one.id)


def draw(conversation: str, episodes: Sequence[Episode], whole: bool) -> None:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(printable(conversation), style="bold"))
    grow(tree, episodes, whole)
    console().print(tree)


def grow(tree: Tree, episodes: Sequence[Episode], whole: bool) -> None:
    from rich.text import Text

    for one in episodes:
        label = Text(f"level {one.level}, turns {one.first}-{one.last}", style="cyan")
        label.append(f"  {when(one.began)} to {when(one.ended)}", style="dim")
        if one.pending:
            label.append("  built-in writer, waiting for the model", style="yellow")
        label.append(f"\n{printable(one.summary)}", style="default")
        branch = tree.add(label)
        if whole:
            grow(branch, one.parts, whole)
        elif one.parts:
            branch.add(Text(f"{len(one.parts)} of level {one.level - 1} (--all shows them)", style="dim"))
