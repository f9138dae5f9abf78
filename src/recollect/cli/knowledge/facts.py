"""Facts on the command line: what is known of a person, now or at a date, its history, and its sources."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.terminal.opening import open_for_reading
from recollect.cli.terminal.options import StoreCommand, parse_moment, printable, warn
from recollect.cli.terminal.settling import view_states
from recollect.cli.terminal.show import console, format_time, plural, print_indented, print_json, show_table, table
from recollect.model import FACT_CATEGORIES

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.model import Fact, Message, RefusedFact
    from recollect.ports import Store

VIEW = "facts"


@click.command(cls=StoreCommand)
@click.argument("user")
@click.option("--as-of", callback=parse_moment, metavar="DATE", help="What was so at this moment.")
@click.option("--category", type=click.Choice(FACT_CATEGORIES), help="Only facts of this category.")
@click.option("--about", "query", metavar="WORDS", help="What has most to do with these words first.")
@click.option("--history", "key", metavar="KEY", help="Every value this key has had, oldest first.")
@click.option("--refused", is_flag=True, help="What a model found and was not kept, and why.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with all that is kept of the fact.")
def facts(
    user: str,
    as_of: datetime | None,
    category: str | None,
    query: str | None,
    key: str | None,
    refused: bool,
    as_json: bool,
) -> None:
    """Show what is known of a person, the most important first.

    Facts come from what people say: by themselves, without a command. A value that is replaced stays, with the times
    between which it was so: --as-of and --history tell. A key may be called anything that means it (`city`, `home`).
    `recollect why` shows the messages a fact comes from. Dates are 2023-05-01 or 2023-05-01T18:30+02:00; one without a
    zone is UTC.

    \b
    recollect facts alex
    recollect facts alex --as-of 2023-05-01
    recollect facts alex --about "food"
    recollect facts alex --history location
    recollect facts alex --refused
    """
    if refused:
        if key is not None or as_of is not None or category is not None or query is not None:
            raise click.UsageError("--refused shows what is not kept; use it with no other choice of facts")
        show_refused(user, as_json)
        return
    if key is not None and (as_of is not None or category is not None or query is not None):
        raise click.UsageError("--history shows every value of one key; use it without --as-of, --category and --about")
    with open_for_reading() as handle:
        if key is None:
            listing = handle.memory.facts(user=user, query=query, as_of=as_of, category=category)
        else:
            listing = handle.memory.fact_history(key, user=user)
        warning = unread_warning(handle.store, handle.settings.space)
    if as_json:
        for fact in listing:
            print_json(fact_fields(fact))
    elif listing:
        show_facts(listing, history=key is not None)
    if not listing:
        click.echo("nothing is known of that" if key or category or as_of else "nothing is known yet", err=True)
    if warning:
        warn(warning)


@click.command(cls=StoreCommand)
@click.argument("fact")
@click.option("--user", metavar="ID", required=True, help="In whose memory the fact is.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, as `recollect export` writes it.")
def why(fact: str, user: str, as_json: bool) -> None:
    """Show the messages that a fact comes from.

    FACT is its id, as `recollect facts` lists it. Those that said it, that said it again, and that ended it.

    \b
    recollect why f41d0c6a9be27b3155aa --user alex
    """
    from recollect.facts.tables.facts import facts_of
    from recollect.formats import dump

    with open_for_reading() as handle:
        messages = handle.memory.why(fact, user=user)
        known_facts = handle.store.read(lambda tx: facts_of(tx, handle.settings.space, user))
    if as_json:
        for message in messages:
            click.echo((dump(message) + "\n").encode(), nl=False)
        return
    out = console()
    for known_fact in known_facts:
        if known_fact.id == fact:
            show_fact(out, known_fact)
    for message in messages:
        show_source(out, message)


def show_refused(user: str, as_json: bool) -> None:
    """Print what was found in a person's messages and refused, with the reason, oldest first."""
    with open_for_reading() as handle:
        refused = handle.memory.refused_facts(user=user)
    if as_json:
        for fact in refused:
            print_json(fact_fields(fact))
        return
    if not refused:
        click.echo("nothing was refused", err=True)
        return
    grid = table("said", "fact", "why it is not kept")
    for fact in refused:
        about = f"{fact.subject}: " if fact.subject else ""
        text = f"{about}{fact.category}, {fact.key}: {fact.value}"
        grid.add_row(format_time(fact.said_at), printable(text), printable(fact.reason))
    show_table(grid)


def unread_warning(store: Store, space: str) -> str:
    """A warning about messages that are not yet read for facts; empty if there are none."""
    state = view_states(store, [VIEW], space)[0]
    if not state.behind:
        return ""
    reason = f" (the last error was: {state.error})" if state.error else ""
    return (
        f"{plural(state.behind, 'message')} not yet read for facts{reason}: some may be missing here. "
        "`recollect worker --once` reads them"
    )


def fact_fields(fact: Fact | RefusedFact) -> dict[str, Any]:
    """A fact as a dictionary of all its fields."""
    from dataclasses import fields as dataclass_fields

    return {field.name: getattr(fact, field.name) for field in dataclass_fields(fact)}


def show_facts(listing: Sequence[Fact], *, history: bool) -> None:
    """Print a table of facts; of a history, with the times between which each was true."""
    times = ("from", "to") if history else ("since",)
    grid = table("category", "key", "value", *times, "sure", "said by", "id", right=("sure",), whole=("id", *times))
    for fact in listing:
        span = (format_time(fact.valid_from), "now" if fact.active else format_time(fact.valid_to))
        grid.add_row(
            fact.category,
            printable(f"{fact.subject}: {fact.key}" if fact.subject else fact.key),
            printable(fact.value),
            *(span if history else span[:1]),
            f"{fact.confidence:.2f}",
            printable(fact.speaker),
            fact.id,
        )
    show_table(grid, optional=("sure", "said by"))


def show_fact(out: Console, fact: Fact) -> None:
    from rich.text import Text

    head = Text(printable(f"{fact.subject}: {fact.key}" if fact.subject else fact.key) + ": ", style="bold")
    head.append(printable(fact.value))
    until = "" if fact.active else f" to {format_time(fact.valid_to)}"
    audience = "in private" if fact.audience is None else f"in {printable(fact.audience)}"
    head.append(f"  {fact.category}, from {format_time(fact.valid_from)}{until}, said {audience}", style="dim")
    out.print(head)


def show_source(out: Console, message: Message) -> None:
    from rich.text import Text

    head = Text("  ")
    head.append(format_time(message.time), style="cyan")
    head.append(f"  {printable(message.author)}", style="bold")
    head.append(f"  {printable(message.conversation)}, turn {message.turn}")
    out.print(head)
    print_indented(out, Text(printable(message.content)), 6)
