"""Episodes on the command line: what left a conversation's window, as a tree of summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.terminal.opening import find_conversation, open_for_reading
from recollect.cli.terminal.options import StoreCommand, printable
from recollect.cli.terminal.show import console, format_time, print_json

if TYPE_CHECKING:
    from rich.tree import Tree

    from recollect.model import Episode


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--all", "show_all", is_flag=True, help="Down to level 1, not only the active ones.")
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON object a line, each with the id of the one it is part of."
)
def episodes(conversation: str, show_all: bool, as_json: bool) -> None:
    """Show what left a conversation's window, as summaries.

    An episode of level 1 summarises messages; one of a higher level those below it. The active ones stand in the
    context. `recollect search` finds the messages themselves, whatever became of them.

    \b
    recollect episodes demo
    recollect episodes demo --all
    """
    with open_for_reading() as handle:
        owner = find_conversation(handle.store, handle.settings.space, conversation)
        active = handle.memory.conversation(conversation, user=owner.user).episodes()
    if as_json:
        for line in episode_fields(active):
            print_json(line)
        return
    if not active:
        click.echo("nothing has left the window yet", err=True)
        return
    show_tree(conversation, active, show_all)


def episode_fields(episodes: Sequence[Episode], parent: str | None = None) -> Iterator[dict[str, Any]]:
    for episode in episodes:
        yield {
            "id": episode.id,
            "part_of": parent,
            "level": episode.level,
            "first": episode.first,
            "last": episode.last,
            "began": episode.began,
            "ended": episode.ended,
            "summary": episode.summary,
            "made_by": episode.made_by,
            "pending": episode.pending,
        }
        yield from episode_fields(episode.parts, episode.id)


def show_tree(conversation: str, episodes: Sequence[Episode], show_all: bool) -> None:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(printable(conversation), style="bold"))
    add_branches(tree, episodes, show_all)
    console().print(tree)


def add_branches(tree: Tree, episodes: Sequence[Episode], show_all: bool) -> None:
    from rich.text import Text

    for episode in episodes:
        label = Text(f"level {episode.level}, turns {episode.first}-{episode.last}", style="cyan")
        label.append(f"  {format_time(episode.began)} to {format_time(episode.ended)}", style="dim")
        if episode.pending:
            label.append("  built-in writer, waiting for the model", style="yellow")
        label.append(f"\n{printable(episode.summary)}", style="default")
        branch = tree.add(label)
        if show_all:
            add_branches(branch, episode.parts, show_all)
        elif episode.parts:
            branch.add(Text(f"{len(episode.parts)} of level {episode.level - 1} (--all shows them)", style="dim"))
