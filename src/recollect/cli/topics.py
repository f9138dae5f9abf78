"""Topics on the command line: what a conversation is about, how present each topic still is, and how it fades."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.terminal.opening import find_conversation, open_for_reading
from recollect.cli.terminal.options import StoreCommand, printable
from recollect.cli.terminal.show import format_time, print_json, show_table, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.model import Topic

BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 40  # columns of a curve
TITLE = 48  # characters of a title in a table


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--all", "show_all", is_flag=True, help="Also those that have left the active set.")
@click.option("--plot", is_flag=True, help="Draw how each will fade if nobody comes back to it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def topics(conversation: str, show_all: bool, plot: bool, as_json: bool) -> None:
    """Show what a conversation is about.

    The most present topic stands first. Half of a topic's priority is gone in each half-life, which grows from one day
    to thirty the more often the talk comes back to it. When there are more than 20, those under 0.05 leave the active
    set; a message about one of them brings it back.

    \b
    recollect topics demo
    recollect topics demo --plot
    """
    with open_for_reading() as handle:
        owner = find_conversation(handle.store, handle.settings.space, conversation)
        listing = handle.memory.conversation(conversation, user=owner.user).topics(faded=show_all)
    if as_json:
        for topic in listing:
            print_json(topic_fields(topic))
        return
    if not listing:
        click.echo("there are no topics yet; they follow the messages: `recollect worker --once` catches up", err=True)
        return
    if plot:
        show_plot(listing)
        return
    grid = table(
        "topic",
        "title",
        "kind",
        "half-life",
        "priority",
        "messages",
        "packed",
        "last active",
        "tags",
        right=("half-life", "priority", "messages", "packed"),
        whole=("topic", "kind", "last active"),
    )
    for topic in listing:
        grid.add_row(
            topic.id,
            short_title(topic),
            "faded" if topic.faded else topic.kind,
            format_days(topic.half_life.days),
            f"{topic.priority:.3f}",
            f"{topic.messages:,}",
            f"{topic.packed:,}",
            format_time(topic.last_active_at),
            ", ".join(map(printable, topic.tags)),
        )
    show_table(grid, optional=("packed", "half-life", "tags", "kind", "priority"))


def show_plot(listing: Sequence[Topic]) -> None:
    """Print one curve for each topic, all over the same days: until the last topic has faded."""
    from recollect.topics.rules.topic_set import DAY, remaining_time
    from recollect.topics.rules.topics import TopicRule

    least = TopicRule().least
    days_left = {topic.id: remaining_time(topic.priority, topic.half_life, least) / DAY for topic in listing}
    span = max(1.0, *days_left.values())
    top = max(*(topic.priority for topic in listing), least)
    grid = table("topic", "title", "now", f"priority over {format_days(round(span))}", f"under {least}", right=("now",))
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


def format_days(number: int) -> str:
    return f"{number} day{'' if number == 1 else 's'}"


def topic_fields(topic: Topic) -> dict[str, Any]:
    return {
        "id": topic.id,
        "title": topic.title,
        "summary": topic.summary,
        "kind": topic.kind,
        "half_life_days": topic.half_life.days,
        "priority": topic.priority,
        "importance": topic.importance,
        "accesses": topic.accesses,
        "messages": topic.messages,
        "packed": topic.packed,
        "created_at": topic.created_at,
        "last_active_at": topic.last_active_at,
        "tags": list(topic.tags),
        "current": topic.current,
        "faded": topic.faded,
        "merged": list(topic.merged),
        "made_by": topic.made_by,
    }
