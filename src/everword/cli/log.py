"""Commands on the log: search, history, conversations, edit."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from everword.cli import options, output
from everword.cli.opening import index_state, open_for_reading, warn_of_index
from everword.cli.options import StoreCommand, json_option, parse_moment, printable
from everword.cli.output import format_time, show_table, table
from everword.model import ROLES, Conversation, Hit, Message

if TYPE_CHECKING:
    from rich.console import Console

PAGE = 500  # conversations read at a time
STANDARD = "-"


# -- search


@click.command(cls=StoreCommand)
@click.argument("query")
@options.ONE_USER
@options.ONE_CONVERSATION
@click.option("--role", type=click.Choice(ROLES), help="Only messages of this role.")
@click.option("--after", callback=parse_moment, metavar="DATE", help="Only messages from this moment on.")
@click.option("--before", callback=parse_moment, metavar="DATE", help="Only messages before this moment.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, help="How many to show.")
@click.option(
    "--floor",
    type=click.FloatRange(0, 1),
    help="Only messages at least so relevant; 0.5 leaves out what has nothing to do with the query.",
)
@click.option("--facts", is_flag=True, help="Find facts too.")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@json_option("One JSON object a line, with the whole message.")
def search(query: str, facts: bool, explain: bool, as_json: bool, **choice: Any) -> None:
    """Find messages by word and by meaning, best first.

    QUERY is plain words, in any script; nothing in it is syntax. Dates are 2023-05-01 or 2023-05-01T18:30+02:00; one
    without a zone is UTC, one without a time is midnight.

    \b
    everword search "databases" --user alex
    everword search "what did we eat" --after 2023-05-01 --before 2023-06-01
    everword search "deploy" --floor 0.5 --json | head -1
    everword search "what she eats" --user alex --facts
    """
    with open_for_reading(searching=True) as handle:
        hits = handle.memory.search(query, kinds=("message", "fact") if facts else ("message",), **choice)
        state = index_state(handle.store, handle.settings.space)
    if as_json:
        output.print_json_lines(map(hit_fields, hits))
    elif output.is_plain() and not facts:
        for number, hit in enumerate(hits, start=1):
            click.echo("\n".join(hit_lines(number, hit, query, explain)))
    else:
        out = output.console()
        for number, hit in enumerate(hits, start=1):
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
@click.option("--limit", type=click.IntRange(1), default=50, help="How many messages, the last ones.")
@click.option("--versions", is_flag=True, help="Show what edited messages said before, too.")
@json_option("One JSON object a line, as `everword export` writes it.")
def history(conversation: str, limit: int, versions: bool, as_json: bool) -> None:
    """Show the last messages of a conversation, in order.

    \b
    everword history demo
    everword history demo --limit 5 --json
    everword history demo --versions
    """
    from everword.formats import dump

    with open_for_reading() as handle:
        owner = handle.find_conversation(conversation)
        messages = handle.memory.conversation(conversation).history(limit=limit, versions=versions)
    if as_json:
        output.print_json_lines({**json.loads(dump(message, owner)), **version_fields(message)} for message in messages)
        return
    out = output.console()
    for message in messages:
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
@click.option("--user", metavar="ID", help="Only chats with this person.")
@options.JSON_LINES
def conversations(user: str | None, as_json: bool) -> None:
    """List the conversations of the space.

    \b
    everword conversations --user alex
    """
    listing: list[Conversation] = []
    with open_for_reading() as handle:
        after = ""
        while page := handle.memory.conversations(user=user, after=after, limit=PAGE):
            listing += page
            after = page[-1].id
    if as_json:
        for conversation in listing:
            ids = {"space": conversation.space, "conversation": conversation.id}
            output.print_json({**ids, **output.pick(conversation, "user turns created_at changed_at")})
        return
    grid = table(
        "conversation", "user", "messages", "kept since", "last added to", right=("messages",), whole=("last added to",)
    )
    for conversation in listing:
        owner = "(a channel)" if conversation.user is None else printable(conversation.user)
        times = (format_time(conversation.created_at), format_time(conversation.changed_at))
        grid.add_row(printable(conversation.id), owner, f"{conversation.turns:,}", *times)
    show_table(grid, optional=("kept since", "last added to"))


# -- edit


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.argument("message")
@click.argument("text")
@click.option("--metadata", metavar="JSON", help="New metadata, as a JSON object; without it, those it has stay.")
@json_option("The message as one JSON object.")
def edit(conversation: str, message: str, text: str, metadata: str | None, as_json: bool) -> None:
    """Give a message a new text.

    MESSAGE is its id, the id that its platform gave it, or its turn as #7. TEXT is all of the new text; - reads it from
    standard input. Search, contexts, facts, summaries, topics and exports follow the new text. The old one stays in the
    log: `everword history --versions` shows it, and `everword verify` proves both. To remove a text for good, use
    `everword delete`.

    \b
    everword edit demo #7 "We meet at 8."
    everword edit general 1098765 "We meet at 8."
    everword edit demo #7 - < corrected.txt
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
    from everword.parsing import UnreadableJson, read_json

    try:
        value = read_json(text)
    except UnreadableJson as error:
        raise click.BadParameter(str(error), param_hint="--metadata") from None
    if not isinstance(value, dict):
        raise click.BadParameter('is no JSON object, such as {"name": "Alex"}', param_hint="--metadata")
    return value
