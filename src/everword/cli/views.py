"""What is derived from a conversation, on the command line: episodes, topics, and digests of a day in a space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from everword.cli import options
from everword.cli.opening import open_for_reading, open_for_writing
from everword.cli.options import StoreCommand, json_option, printable
from everword.cli.output import (
    console,
    format_time,
    pick,
    plural,
    print_indented,
    print_json_lines,
    show_table,
    styled,
    table,
)
from everword.model import Digest, Episode, Topic

if TYPE_CHECKING:
    from rich.tree import Tree

BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 40  # columns of a curve
TITLE = 48  # characters of a title in a table


# -- episodes


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--all", "show_all", is_flag=True, help="Down to level 1, not only the active ones.")
@json_option("One JSON object a line, each with the id of the one it is part of.")
def episodes(conversation: str, show_all: bool, as_json: bool) -> None:
    """Show what left a conversation's window, as summaries.

    An episode of level 1 summarises messages; one of a higher level those below it. The active ones stand in the
    context. `everword search` finds the messages themselves, whatever became of them.

    \b
    everword episodes demo
    everword episodes demo --all
    """
    with open_for_reading() as handle:
        active = handle.existing_chat(conversation).episodes()
    if as_json:
        print_json_lines(episode_fields(active))
    elif not active:
        click.echo("nothing has left the window yet", err=True)
    else:
        show_tree(conversation, active, show_all)


def episode_fields(episodes: Sequence[Episode], parent: str | None = None) -> Iterator[dict[str, Any]]:
    for episode in episodes:
        names = "level first last began ended summary made_by pending"
        yield {"id": episode.id, "part_of": parent, **pick(episode, names)}
        yield from episode_fields(episode.parts, episode.id)


def show_tree(conversation: str, episodes: Sequence[Episode], show_all: bool) -> None:
    from rich.tree import Tree

    tree = Tree(styled(printable(conversation), style="bold"))
    add_branches(tree, episodes, show_all)
    console().print(tree)


def add_branches(tree: Tree, episodes: Sequence[Episode], show_all: bool) -> None:
    for episode in episodes:
        label = styled(f"level {episode.level}, turns {episode.first}-{episode.last}", style="cyan")
        label.append(f"  {format_time(episode.began)} to {format_time(episode.ended)}", style="dim")
        if episode.pending:
            label.append("  built-in writer, waiting for the model", style="yellow")
        label.append(f"\n{printable(episode.summary)}", style="default")
        branch = tree.add(label)
        if show_all:
            add_branches(branch, episode.parts, show_all)
        elif episode.parts:
            branch.add(styled(f"{len(episode.parts)} of level {episode.level - 1} (--all shows them)", style="dim"))


# -- topics


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--all", "show_all", is_flag=True, help="Also those that have left the active set.")
@click.option("--plot", is_flag=True, help="Draw how each will fade if nobody comes back to it.")
@options.JSON_LINES
def topics(conversation: str, show_all: bool, plot: bool, as_json: bool) -> None:
    """Show what a conversation is about.

    The most present topic stands first. Half of a topic's priority is gone in each half-life, which grows from one day
    to thirty the more often the talk comes back to it. When there are more than 20, those under 0.05 leave the active
    set; a message about one of them brings it back.

    \b
    everword topics demo
    everword topics demo --plot
    """
    with open_for_reading() as handle:
        listing = handle.existing_chat(conversation).topics(faded=show_all)
    if as_json:
        print_json_lines(map(topic_fields, listing))
    elif not listing:
        click.echo("there are no topics yet; they follow the messages: `everword worker --once` catches up", err=True)
    elif plot:
        show_plot(listing)
    else:
        show_topics(listing)


def show_topics(listing: Sequence[Topic]) -> None:
    numbers = ("half-life", "priority", "messages", "packed")
    columns = ("topic", "title", "kind", *numbers, "last active", "tags")
    grid = table(*columns, right=numbers, whole=("topic", "kind", "last active"))
    for topic in listing:
        grid.add_row(
            topic.id,
            short_title(topic),
            "faded" if topic.faded else topic.kind,
            plural(topic.half_life.days, "day"),
            f"{topic.priority:.3f}",
            f"{topic.messages:,}",
            f"{topic.packed:,}",
            format_time(topic.last_active_at),
            ", ".join(map(printable, topic.tags)),
        )
    show_table(grid, optional=("packed", "half-life", "tags", "kind", "priority"))


def show_plot(listing: Sequence[Topic]) -> None:
    """Print one curve for each topic, all over the same days: until the last topic has faded."""
    from everword.topics.rules.topic_set import DAY, remaining_time
    from everword.topics.rules.topics import TopicRule

    least = TopicRule().least
    days_left = {topic.id: remaining_time(topic.priority, topic.half_life, least) / DAY for topic in listing}
    span = max(1.0, *days_left.values())
    top = max(*(topic.priority for topic in listing), least)
    grid = table(
        "topic", "title", "now", f"priority over {plural(round(span), 'day')}", f"under {least}", right=("now",)
    )
    for topic in listing:
        levels = [topic.priority * 0.5 ** (span * DAY * column / WIDTH / topic.half_life) for column in range(WIDTH)]
        curve = "".join(bar(level, top, least) for level in levels)
        fades = f"in {days_left[topic.id]:.1f} days" if days_left[topic.id] > 0 else "already"
        grid.add_row(topic.id, short_title(topic), f"{topic.priority:.3f}", curve, fades)
    show_table(grid)


def bar(level: float, top: float, least: float) -> str:
    """A level as a block character; below `least` it is a dot."""
    if level < least:
        return "·"
    return BARS[max(1, round(level / top * (len(BARS) - 1)))]


def short_title(topic: Topic) -> str:
    mark = "* " if topic.current else ""
    title = printable(topic.title)
    return mark + (title if len(title) <= TITLE else title[: TITLE - 1].rstrip() + "…")


def topic_fields(topic: Topic) -> dict[str, Any]:
    numbers = "priority importance accesses messages packed created_at last_active_at"
    return {
        **pick(topic, "id title summary kind"),
        "half_life_days": topic.half_life.days,
        **pick(topic, f"{numbers} tags current faded merged made_by"),
    }


# -- digests


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
@json_option("One JSON object a line, with all that is kept of the digest.")
def digest(
    place: str | None, day: date | None, week: bool, user: str | None, time_zone: str | None, as_json: bool
) -> None:
    """Show what a day in a space was for each who spoke.

    SPACE is by default the setting `space`. A day is made of what was said in channels, by the space's clock; chats
    with one person are no part of it. It is written up once, by the memory model if there is one, and kept; today's is
    at most an hour old.

    \b
    everword digest
    everword digest guild --day 2024-05-01
    everword digest guild --week --user ann
    """
    with open_for_writing() as handle:
        space = place or handle.settings.space
        if time_zone is not None:
            handle.memory.set_time_zone(time_zone, space=space)
        digests = handle.memory.digests(space, day=day, user=user, week=week)
    if as_json:
        print_json_lines(digests)
    else:
        show_digests(digests)
    if not digests:
        period = "in the days before" if week else f"on {day}" if day else "today"
        click.echo(f"nobody spoke in a channel of space {printable(space)} {period}", err=True)


def show_digests(digests: list[Digest]) -> None:
    out = console()
    for user_digest in digests:
        first = f"{user_digest.first:%Y-%m-%d}"
        is_day = user_digest.kind == "day"
        period = f"{user_digest.day:%Y-%m-%d}" if is_day else f"{first} to {user_digest.last:%Y-%m-%d}"
        writer = {"model": "", "offline": ", by the built-in writer"}[user_digest.made_by]
        channels = plural(len({span.conversation for span in user_digest.sources}), "channel")
        head = styled(printable(user_digest.user), style="green")
        out.print(head + styled(f"  {period}, {channels}{writer}", style="dim"))
        print_indented(out, styled(printable(user_digest.text)), 2)
