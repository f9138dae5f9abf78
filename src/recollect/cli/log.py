"""Commands on the log: search, history, conversations, edit, erase."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.terminal.opening import MemoryHandle, find_conversation, index_state, open_for_reading
from recollect.cli.terminal.options import StoreCommand, parse_moment, printable, report_remains, warn
from recollect.cli.terminal.show import (
    console,
    format_time,
    is_plain,
    plural,
    print_indented,
    print_json,
    show_table,
    table,
)
from recollect.model import ROLES, Role

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.model import Conversation, Hit, Message

PAGE = 500  # conversations read at a time
STANDARD = "-"


# -- search


@click.command(cls=StoreCommand)
@click.argument("query")
@click.option("--user", metavar="ID", help="Only this person's memory.")
@click.option("--conversation", metavar="ID", help="Only this conversation.")
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
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with the whole message.")
def search(
    query: str,
    user: str | None,
    conversation: str | None,
    role: Role | None,
    after: datetime | None,
    before: datetime | None,
    limit: int,
    floor: float | None,
    facts: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Find messages by word and by meaning, best first.

    QUERY is plain words, in any script; nothing in it is syntax. Dates are 2023-05-01 or 2023-05-01T18:30+02:00; one
    without a zone is UTC, one without a time is midnight.

    \b
    recollect search "databases" --user alex
    recollect search "what did we eat" --after 2023-05-01 --before 2023-06-01
    recollect search "deploy" --floor 0.5 --json | head -1
    recollect search "what she eats" --user alex --facts
    """
    with open_for_reading(searching=True) as handle:
        hits = handle.memory.search(
            query,
            user=user,
            conversation=conversation,
            role=role,
            after=after,
            before=before,
            limit=limit,
            floor=floor,
            kinds=("message", "fact") if facts else ("message",),
        )
        state = index_state(handle.store, handle.settings.space)
    if as_json:
        for hit in hits:
            print_json(hit_fields(hit))
    elif is_plain() and not facts:
        for number, hit in enumerate(hits, start=1):
            click.echo("\n".join(hit_lines(number, hit, query, explain)))
    else:
        out = console()
        for number, hit in enumerate(hits, start=1):
            show_hit(out, number, hit, query, explain)
    if not hits:
        click.echo("nothing found", err=True)
    if state.behind:
        reason = f" (the last error was: {state.error})" if state.error else ""
        warn(
            f"the index is {plural(state.behind, 'message')} behind the log{reason}: some may be missing here. "
            "`recollect worker --once` brings it up"
        )


def hit_fields(hit: Hit) -> dict[str, Any]:
    from recollect.formats import dump

    fact: dict[str, Any] = {}
    if hit.fact is not None:
        from recollect.cli.knowledge.facts import fact_fields

        fact = {"kind": hit.kind, "fact": fact_fields(hit.fact)}
    scores = {"score": hit.score, "relevance": hit.relevance, "parts": dict(hit.parts)}
    return {**scores, **fact, **json.loads(dump(hit.message))}


def hit_lines(number: int, hit: Hit, query: str, explain: bool) -> list[str]:
    """A message that was found, as `show_hit` prints it in a pipe."""
    from recollect.cli.terminal.snippet import cut_snippet

    message = hit.message
    place = f"{printable(message.conversation)}, turn {message.turn}"
    head = f"{number:>3}. {format_time(message.time)}  {printable(message.author)}  {place}  score {hit.score:.2f}"
    lines = [head, " " * 5 + cut_snippet(message.content, query)[0]]
    return [*lines, " " * 5 + score_parts(hit)] if explain else lines


def score_parts(hit: Hit) -> str:
    """What a score is made of, on one line."""
    named_values = {**hit.parts, "relevance": hit.relevance}
    return "  ".join(f"{name} {value:.2f}" for name, value in named_values.items())


def show_hit(out: Console, number: int, hit: Hit, query: str, explain: bool) -> None:
    from rich.text import Text

    from recollect.cli.terminal.snippet import build_snippet

    message = hit.message
    head = Text(f"{number:>3}. ")
    head.append(format_time(message.time), style="cyan")
    head.append(f"  {printable(message.author)}", style="bold")
    head.append(f"  {printable(message.conversation)}, turn {message.turn}")
    head.append(f"  score {hit.score:.2f}", style="dim")
    out.print(head)
    if hit.fact is not None:
        from recollect.cli.knowledge.facts import show_fact

        show_fact(out, hit.fact)
    print_indented(out, build_snippet(message.content, query), 5)
    if explain:
        print_indented(out, Text(score_parts(hit), style="dim"), 5)


# -- history, conversations


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.option("--limit", type=click.IntRange(1), default=50, help="How many messages, the last ones.")
@click.option("--versions", is_flag=True, help="Show what edited messages said before, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, as `recollect export` writes it.")
def history(conversation: str, limit: int, versions: bool, as_json: bool) -> None:
    """Show the last messages of a conversation, in order.

    \b
    recollect history demo
    recollect history demo --limit 5 --json
    recollect history demo --versions
    """
    from recollect.formats import dump

    with open_for_reading() as handle:
        owner = find_conversation(handle.store, handle.settings.space, conversation)
        messages = handle.memory.conversation(conversation).history(limit=limit, versions=versions)
    if as_json:
        for message in messages:
            line = {**json.loads(dump(message, owner)), **version_fields(message)}
            click.echo((json.dumps(line, ensure_ascii=False) + "\n").encode(), nl=False)
        return
    out = console()
    for message in messages:
        show_message(out, message)


def version_fields(message: Message) -> dict[str, Any]:
    """What a message said before it was edited, as JSON; nothing if it was not."""
    versions = [
        {"content": version.content, "metadata": dict(version.metadata), "by": version.by}
        | {"since": version.since.isoformat(), "until": version.until.isoformat()}
        for version in message.versions
    ]
    return {"versions": versions} if versions else {}


def show_message(out: Console, message: Message) -> None:
    from rich.text import Text

    for version in message.versions:
        head = Text(f"{message.turn:>4}  ", style="dim")
        head.append(f"{format_time(version.since)}  {printable(message.author)}, until ")
        head.append(f"{format_time(version.until)} (edited by {printable(version.by)})")
        out.print(head)
        print_indented(out, Text(printable(version.content), style="dim"), 6)
    head = Text(f"{message.turn:>4}  ")
    head.append(format_time(message.time), style="cyan")
    head.append(f"  {printable(message.author)}", style="bold")
    out.print(head)
    print_indented(out, Text(printable(message.content)), 6)


@click.command(cls=StoreCommand)
@click.option("--user", metavar="ID", help="Only chats with this person.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def conversations(user: str | None, as_json: bool) -> None:
    """List the conversations of the space.

    \b
    recollect conversations --user alex
    """
    with open_for_reading() as handle:
        listing = list(all_conversations(handle, user))
    if as_json:
        for conversation in listing:
            print_json(conversation_fields(conversation))
        return
    grid = table(
        "conversation", "user", "messages", "kept since", "last added to", right=("messages",), whole=("last added to",)
    )
    for conversation in listing:
        owner = "(a channel)" if conversation.user is None else printable(conversation.user)
        times = (format_time(conversation.created_at), format_time(conversation.changed_at))
        grid.add_row(printable(conversation.id), owner, f"{conversation.turns:,}", *times)
    show_table(grid, optional=("kept since", "last added to"))


def all_conversations(handle: MemoryHandle, user: str | None) -> Iterator[Conversation]:
    after = ""
    while page := handle.memory.conversations(user=user, after=after, limit=PAGE):
        yield from page
        after = page[-1].id


def conversation_fields(conversation: Conversation) -> dict[str, Any]:
    return {
        "space": conversation.space,
        "conversation": conversation.id,
        "user": conversation.user,
        "turns": conversation.turns,
        "created_at": conversation.created_at,
        "changed_at": conversation.changed_at,
    }


# -- edit


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.argument("message")
@click.argument("text")
@click.option("--metadata", metavar="JSON", help="New metadata, as a JSON object; without it, those it has stay.")
@click.option("--json", "as_json", is_flag=True, help="The message as one JSON object.")
def edit(conversation: str, message: str, text: str, metadata: str | None, as_json: bool) -> None:
    """Give a message a new text.

    MESSAGE is its id, the id that its platform gave it, or its turn as #7. TEXT is all of the new text; - reads it from
    standard input. Search, contexts, facts, summaries, topics and exports follow the new text. The old one stays in the
    log: `recollect history --versions` shows it, and `recollect verify` proves both. To remove a text for good, use
    `recollect delete`.

    \b
    recollect edit demo #7 "We meet at 8."
    recollect edit general 1098765 "We meet at 8."
    recollect edit demo #7 - < corrected.txt
    """
    from recollect.cli.delete import name_of_message
    from recollect.formats import dump

    new_metadata = None if metadata is None else parse_metadata(metadata)
    new_text = sys.stdin.read().removesuffix("\n") if text == STANDARD else text
    with open_for_reading() as handle:
        chat = handle.memory.conversation(conversation)
        edited = chat.edit(name_of_message(message), new_text, metadata=new_metadata)
    if as_json:
        print_json(json.loads(dump(edited)))
    else:
        click.echo(f"message {edited.turn} of {printable(conversation)} has its new text (message {edited.id})")


def parse_metadata(text: str) -> dict[str, Any]:
    from recollect.parsing import UnreadableJson, read_json

    try:
        value = read_json(text)
    except UnreadableJson as error:
        raise click.BadParameter(str(error), param_hint="--metadata") from None
    if not isinstance(value, dict):
        raise click.BadParameter('is no JSON object, such as {"name": "Alex"}', param_hint="--metadata")
    return value


# -- erase


@click.command(cls=StoreCommand)
@click.option("--user", metavar="ID", required=True, help="Whose messages to remove.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def erase(user: str, yes: bool) -> None:
    """Remove a person's messages for good.

    What they wrote, everywhere in the space, what was written to them in chats of their own, and all that was derived
    from it. Each message leaves an empty place with its seal, so that `recollect verify` still proves the rest. There
    is no way back: export first (`recollect export --user ID -o FILE`) if a copy is wanted. If another program keeps
    the words in the store's files for the moment, that is said, and the exit status is 1: `recollect scrub` clears it.

    \b
    recollect erase --user alex
    """
    from recollect.cli.terminal.progress import progress_bar
    from recollect.errors import RecollectError

    with open_for_reading() as handle:
        if not yes:
            click.echo(f"This removes all messages of {user!r} from {handle.store.name}, for good.", err=True)
            confirmation = click.prompt("Type the user's id to go on", default="", show_default=False, err=True)
            if confirmation != user:
                raise RecollectError(f"that is not {user!r}; nothing was erased")
        with progress_bar() as bar:
            bar.add_task("erasing", total=None)
            erasure = handle.memory.erase(user=user)
    click.echo(
        f"erased {plural(erasure.messages, 'message')} in {plural(erasure.conversations, 'conversation')} "
        f"and {erasure.entries:,} of the index (erasure {erasure.id})"
    )
    report_remains(erasure.left)
