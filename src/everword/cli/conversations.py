"""Commands on conversations: what was said in them, found and corrected; and what is derived from it: episodes, topics,
and digests of a day in a space."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from everword.cli import options, output
from everword.cli.opening import index_state, open_for_reading, open_for_writing, warn_of_index
from everword.cli.options import StoreCommand, json_option, parse_moment, printable
from everword.cli.output import format_time, show_table, table
from everword.model import ROLES, Conversation, Digest, Episode, Hit, Message, Topic

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

PAGE = 500  # conversations read at a time
STANDARD = "-"


# -- search


@click.command(cls=StoreCommand)
@click.argument("query")
@options.ONE_USER
@options.ONE_CONVERSATION
@click.option("--role", type=click.Choice(ROLES), help="Show only messages with this role.")
@click.option("--after", callback=parse_moment, metavar="DATE", help="Show only messages from DATE or later.")
@click.option("--before", callback=parse_moment, metavar="DATE", help="Show only messages from before DATE.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, help="Show at most this many results.")
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    help="Show only messages of at least this relevance; 0.5 leaves out messages that do not fit QUERY.",
)
@click.option("--facts", is_flag=True, help="Find facts as well as messages.")
@click.option("--explain", is_flag=True, help="Show how the score of each result was computed.")
@json_option("Print the complete messages as JSON Lines.")
def search(query: str, facts: bool, explain: bool, as_json: bool, **choice: Any) -> None:
    """Find messages by word and by meaning, best first.

    QUERY is plain words in any writing system. No character in QUERY has a special meaning. DATE is a day or a time,
    such as 2023-05-01 or 2023-05-01T18:30+02:00. A DATE without a time zone is in UTC. A DATE without a time means the
    start of that day.

    \b
    everword search "databases" --user alex
    everword search "what did we eat" --after 2023-05-01 --before 2023-06-01
    everword search "deploy" --floor 0.5 --json | head -1
    everword search "what she eats" --user alex --facts
    """
    with open_for_reading(searching=True) as handle:
        choice["user"] = choice["user"] and handle.find_person(choice["user"])
        choice["conversation"] = choice["conversation"] and handle.find_conversation(choice["conversation"]).id
        hits = handle.memory.search(query, kinds=("message", "fact") if facts else ("message",), **choice)
        state = index_state(handle.store, handle.settings.space)
        shown_messages = handle.with_names(hit.message for hit in hits) if not as_json else ()
    shown_hits = [replace(hit, message=message) for hit, message in zip(hits, shown_messages, strict=False)]
    if as_json:
        output.print_json_lines(map(hit_fields, hits))
    elif output.is_plain() and not facts:
        for number, hit in enumerate(shown_hits, start=1):
            click.echo("\n".join(hit_lines(number, hit, query, explain)))
    else:
        out = output.console()
        for number, hit in enumerate(shown_hits, start=1):
            show_hit(out, number, hit, query, explain)
    if not hits:
        click.echo("nothing found", err=True)
    warn_of_index(state)


def hit_fields(hit: Hit) -> dict[str, Any]:
    from everword.formats import dump

    fact = {} if hit.fact is None else {"kind": hit.kind, "fact": hit.fact}
    scores = {"score": hit.score, "relevance": hit.relevance, "parts": dict(hit.parts)}
    return {**scores, **fact, **json.loads(dump(hit.message))}


def hit_lines(number: int, hit: Hit, query: str, explain: bool) -> list[str]:
    """A message that was found, as `show_hit` prints it in a pipe."""
    message = hit.message
    place = f"{printable(message.conversation)}, turn {message.turn}"
    head = f"{number:>3}. {format_time(message.time)}  {printable(message.author)}  {place}  score {hit.score:.2f}"
    lines = [head, " " * 5 + output.cut_snippet(message.content, query)[0]]
    return [*lines, " " * 5 + score_parts(hit)] if explain else lines


def score_parts(hit: Hit) -> str:
    """What a score is made of, on one line."""
    named_values = {**hit.parts, "relevance": hit.relevance}
    return "  ".join(f"{name} {value:.2f}" for name, value in named_values.items())


def show_hit(out: Console, number: int, hit: Hit, query: str, explain: bool) -> None:
    head = output.message_head(hit.message, f"{number:>3}. ", with_place=True)
    out.print(head.append(f"  score {hit.score:.2f}", style="dim"))
    if hit.fact is not None:
        from everword.cli.facts import show_fact

        show_fact(out, hit.fact)
    output.print_indented(out, output.build_snippet(hit.message.content, query), 5)
    if explain:
        output.print_indented(out, output.styled(score_parts(hit), style="dim"), 5)


# -- history, conversations


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--limit", type=click.IntRange(1), default=50, help="Show at most this many of the last messages.")
@click.option("--versions", is_flag=True, help="Also show the earlier texts of edited messages.")
@json_option("Print JSON Lines in the format of `everword export`.")
def history(conversation: str, limit: int, versions: bool, as_json: bool) -> None:
    """Show the last messages of a conversation, in order.

    CONVERSATION is the id or the title of a conversation, which `everword conversations` lists.

    \b
    everword history demo
    everword history "Trip to Lisbon"
    everword history demo --limit 5 --json
    everword history demo --versions
    """
    from everword.formats import dump

    with open_for_reading() as handle:
        owner = handle.find_conversation(conversation)
        messages = handle.memory.conversation(owner.id).history(limit=limit, versions=versions)
        shown_messages = handle.with_names(messages) if not as_json else ()
    if as_json:
        output.print_json_lines({**json.loads(dump(message, owner)), **version_fields(message)} for message in messages)
        return
    out = output.console()
    for message in shown_messages:
        show_message(out, message)


def version_fields(message: Message) -> dict[str, Any]:
    """What a message said before it was edited, as JSON; nothing if it was not."""
    versions = [
        {"content": version.content, "metadata": dict(version.metadata), **output.pick(version, "by since until")}
        for version in message.versions
    ]
    return {"versions": versions} if versions else {}


def show_message(out: Console, message: Message) -> None:
    for version in message.versions:
        head = output.styled(f"{message.turn:>4}  ", style="dim")
        head.append(f"{format_time(version.since)}  {printable(message.author)}, until ")
        head.append(f"{format_time(version.until)} (edited by {printable(version.by)})")
        out.print(head)
        output.print_indented(out, output.styled(printable(version.content), style="dim"), 6)
    out.print(output.message_head(message, f"{message.turn:>4}  "))
    output.print_indented(out, output.styled(printable(message.content)), 6)


@click.command(cls=StoreCommand)
@options.person_option("Show only chats with PERSON")
@options.JSON_LINES
def conversations(user: str | None, as_json: bool) -> None:
    """List conversations, the most recent first.

    The title of a conversation is its imported title, or else the `title` in the metadata of its first message. For a
    conversation without a title, the list shows the title of its first topic. Commands such as `everword history`
    accept the title or the id of a conversation.

    \b
    everword conversations
    everword conversations --user alex
    everword history "Trip to Lisbon"
    """
    from everword.log.checks_and_seals import PROFILE_PREFIX

    listing: list[Conversation] = []
    with open_for_reading(log_only=True) as handle:
        after = ""
        user = user and handle.find_person(user)
        while page := handle.memory.conversations(user=user, after=after, limit=PAGE):
            listing += [conversation for conversation in page if not conversation.id.startswith(PROFILE_PREFIX)]
            after = page[-1].cursor
        names = handle.names_of(conversation.user for conversation in listing if conversation.user)
    if as_json:
        for conversation in listing:
            ids = {"space": conversation.space, "conversation": conversation.id}
            output.print_json(
                {**ids, **output.pick(conversation, "title user turns created_at changed_at last_message_at")}
            )
        return
    grid = table(
        "title", "conversation", "user", "messages", "last message", right=("messages",), whole=("last message",)
    )
    for conversation in listing:
        owner = "(a channel)" if conversation.user is None else printable(names[conversation.user])
        title = shorten(printable(conversation.title)) or "-"
        last = format_time(conversation.last_message_at)
        grid.add_row(title, printable(conversation.id), owner, f"{conversation.turns:,}", last)
    have_titles = len({conversation.title for conversation in listing} - {""}) == len(listing)
    show_table(grid, optional=("messages", "conversation") if have_titles else ("messages",))
    if not listing:
        click.echo("there is no conversation yet; `everword import FILE` or `everword chat` makes one", err=True)


# -- edit


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.argument("message")
@click.argument("text")
@click.option(
    "--metadata", metavar="JSON", help="The new metadata of the message, as JSON.  [default: the old metadata]"
)
@json_option("Print the message as JSON.")
def edit(conversation: str, message: str, text: str, metadata: str | None, as_json: bool) -> None:
    """Replace the text of a message.

    CONVERSATION is the id of a conversation. MESSAGE is the message's id, its id on the chat platform, or its number,
    such as #7. TEXT is the complete new text of the message. If TEXT is -, `everword edit` reads the new text from
    standard input. Search, contexts, facts, summaries, topics and exports use the new text of the message. The old text
    of the message stays stored, and `everword history --versions` shows it. `everword verify` checks the old and the
    new text of an edited message. To remove the text of a message for good, use `everword delete`.

    \b
    everword edit demo "#7" "We meet at 8."
    everword edit general 1098765 "We meet at 8."
    everword edit demo "#7" - < corrected.txt
    """
    from everword.formats import dump

    new_metadata = None if metadata is None else parse_metadata(metadata)
    new_text = sys.stdin.read().removesuffix("\n") if text == STANDARD else text
    with open_for_reading() as handle:
        chat = handle.memory.conversation(conversation)
        edited = chat.edit(name_of_message(message), new_text, metadata=new_metadata)
    if as_json:
        output.print_json(json.loads(dump(edited)))
    else:
        click.echo(f"message {edited.turn} of {printable(conversation)} has its new text (message {edited.id})")


def name_of_message(text: str) -> str | int:
    """What names a message: its id, the one that its platform gave it, or its turn as #7."""
    number = text.removeprefix("#")
    is_turn = text.startswith("#") and number.isascii() and number.isdigit()
    return int(number) if is_turn else text


def parse_metadata(text: str) -> dict[str, Any]:
    from everword.strict_json import UnreadableJson, read_json

    try:
        value = read_json(text)
    except UnreadableJson as error:
        raise click.BadParameter(str(error), param_hint="--metadata") from None
    if not isinstance(value, dict):
        raise click.BadParameter('is no JSON object, such as {"name": "Alex"}', param_hint="--metadata")
    return value


BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 40  # columns of a curve
TITLE = 48  # characters of a title in a table


# -- episodes


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--all", "show_all", is_flag=True, help="Show all episodes (summaries), not only the active episodes.")
@json_option("Print JSON Lines. The `part_of` of an episode is the id of the larger episode that contains it.")
def episodes(conversation: str, show_all: bool, as_json: bool) -> None:
    """Show summaries of a conversation's older messages.

    CONVERSATION is the id or the title of a conversation. A summary is called an episode. An episode of level 1
    summarises messages; an episode of a higher level summarises episodes. An episode (a summary) is active until an
    episode of a higher level contains it. A model receives the active episodes (summaries) in its context.
    `everword search` still finds messages that an episode summarises.

    \b
    everword episodes demo
    everword episodes demo --all
    """
    with open_for_reading() as handle:
        active = handle.existing_chat(conversation).episodes()
    if as_json:
        output.print_json_lines(episode_fields(active))
    elif not active:
        click.echo("no message has left the window yet; `everword worker --once` catches up", err=True)
    else:
        show_tree(conversation, active, show_all)


def episode_fields(episodes: Sequence[Episode], parent: str | None = None) -> Iterator[dict[str, Any]]:
    for episode in episodes:
        names = "level first last began ended summary made_by pending"
        yield {"id": episode.id, "part_of": parent, **output.pick(episode, names)}
        yield from episode_fields(episode.parts, episode.id)


def show_tree(conversation: str, episodes: Sequence[Episode], show_all: bool) -> None:
    from rich.tree import Tree

    tree = Tree(output.styled(printable(conversation), style="bold"))
    add_branches(tree, episodes, show_all)
    output.console().print(tree)


def add_branches(tree: Tree, episodes: Sequence[Episode], show_all: bool) -> None:
    for episode in episodes:
        label = output.styled(f"level {episode.level}, turns {episode.first}-{episode.last}", style="cyan")
        label.append(f"  {format_time(episode.began)} to {format_time(episode.ended)}", style="dim")
        if episode.pending:
            label.append("  built-in writer, waiting for the model", style="yellow")
        label.append(f"\n{printable(episode.summary)}", style="default")
        branch = tree.add(label)
        if show_all:
            add_branches(branch, episode.parts, show_all)
        elif episode.parts:
            branch.add(
                output.styled(f"{len(episode.parts)} of level {episode.level - 1} (--all shows them)", style="dim")
            )


# -- topics


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--all", "show_all", is_flag=True, help="Also show inactive topics.")
@click.option(
    "--plot", is_flag=True, help="Draw how the priority of each topic falls while nobody returns to the topic."
)
@options.JSON_LINES
def topics(conversation: str, show_all: bool, plot: bool, as_json: bool) -> None:
    """Show what a conversation is about.

    CONVERSATION is the id or the title of a conversation. The topic with the highest priority comes first. A topic to
    which nobody returns loses half of its priority in each half-life. The half-life of a topic grows from one day to
    thirty days as people return to the topic. If a conversation has more than 20 topics, topics with a priority under
    0.05 become inactive. A message about an inactive topic makes the topic active again.

    \b
    everword topics demo
    everword topics demo --plot
    """
    with open_for_reading() as handle:
        listing = handle.existing_chat(conversation).topics(faded=show_all)
    if as_json:
        output.print_json_lines(map(topic_fields, listing))
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
            output.plural(topic.half_life.days, "day"),
            f"{topic.priority:.3f}",
            f"{topic.messages:,}",
            f"{topic.packed:,}",
            format_time(topic.last_active_at),
            ", ".join(map(printable, topic.tags)),
        )
    show_table(grid, optional=("packed", "half-life", "tags", "kind", "priority"))


def show_plot(listing: Sequence[Topic]) -> None:
    """Print one curve for each topic, all over the same days: until the last topic has faded."""
    from everword.topics.rules.fading import DAY, remaining_time
    from everword.topics.rules.topics import TopicRule

    least = TopicRule().least
    days_left = {topic.id: remaining_time(topic.priority, topic.half_life, least) / DAY for topic in listing}
    span = max(1.0, *days_left.values())
    top = max(*(topic.priority for topic in listing), least)
    grid = table(
        "topic", "title", "now", f"priority over {output.plural(round(span), 'day')}", f"under {least}", right=("now",)
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
    return mark + shorten(printable(topic.title))


def shorten(title: str) -> str:
    return title if len(title) <= TITLE else title[: TITLE - 1].rstrip() + "…"


def topic_fields(topic: Topic) -> dict[str, Any]:
    numbers = "priority importance accesses messages packed created_at last_active_at"
    return {
        **output.pick(topic, "id title summary kind"),
        "half_life_days": topic.half_life.days,
        **output.pick(topic, f"{numbers} tags current faded merged made_by"),
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
@click.option("--day", callback=parse_day, metavar="DATE", help="The day of the digest.  [default: today]")
@click.option("--week", is_flag=True, help="Summarise the other six days of the week that ends on --day.")
@options.person_option("Show only the digest of PERSON")
@click.option(
    "--channel", metavar="ID", help="Summarise the threads of the channel with this ID, not what each person said."
)
@click.option(
    "--time-zone", metavar="NAME", help="Set the space's time zone, such as Europe/Berlin, before the digest is made."
)
@json_option("Print JSON Lines with all fields of the digests.")
def digest(
    place: str | None,
    day: date | None,
    week: bool,
    user: str | None,
    channel: str | None,
    time_zone: str | None,
    as_json: bool,
) -> None:
    """Summarise what each person said in channels on one day.

    SPACE is the space to summarise, by default the setting `space`. A digest is a summary of one day in the channels of
    a space, in the space's time zone. Private chats are not part of digests. If a memory model is configured, it writes
    the digests. The digest of a past day is written once. The digest of today is updated at most once an hour.

    \b
    everword digest
    everword digest guild --day 2024-05-01
    everword digest guild --week --user ann
    everword digest guild --channel general
    """
    with open_for_writing() as handle:
        space = place or handle.settings.space
        if time_zone is not None:
            handle.memory.set_time_zone(time_zone, space=space)
        user = user and handle.find_person(user, space)
        digests = handle.memory.digests(space, day=day, user=user, conversation=channel, week=week)
    if as_json:
        output.print_json_lines(digests)
    else:
        show_digests(digests)
    if not digests:
        period = "in the days before" if week else f"on {day}" if day else "today"
        click.echo(f"nobody spoke in a channel of space {printable(space)} {period}", err=True)


def show_digests(digests: list[Digest]) -> None:
    out = output.console()
    for user_digest in digests:
        first = f"{user_digest.first:%Y-%m-%d}"
        is_day = user_digest.kind == "day"
        period = f"{user_digest.day:%Y-%m-%d}" if is_day else f"{first} to {user_digest.last:%Y-%m-%d}"
        writer = {"model": "", "offline": ", by the built-in writer"}[user_digest.made_by]
        channels = output.plural(len({span.conversation for span in user_digest.sources}), "channel")
        of_channel = user_digest.sources[0].conversation if user_digest.sources else ""
        head = output.styled(printable(user_digest.user or of_channel), style="green")
        out.print(head + output.styled(f"  {period}, {channels}{writer}", style="dim"))
        output.print_indented(out, output.styled(printable(user_digest.text)), 2)
