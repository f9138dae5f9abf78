"""A person's profile on the command line: what to remember of them, what to forget, and what is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.facts import fields, unread
from recollect.cli.terminal.opening import Opened, current_settings, existing, opened
from recollect.cli.terminal.options import StoreCommand, printable, warn
from recollect.cli.terminal.show import json_line

if TYPE_CHECKING:
    from recollect.model import Fact, Profile, Statement


@contextmanager
def telling(*, new: bool = False) -> Iterator[Opened]:
    """A memory to be told something, with the model that words it, if there is one; made if it may be `new`."""
    from recollect.engine.memory import MemoryEngine
    from recollect.engine.sync import BlockingMemory
    from recollect.wiring import build, open_store

    settings = replace(current_settings(), followers=False)
    store = open_store(settings.store if new else existing(settings.store), settings)
    try:
        engine = MemoryEngine(lambda: build(settings, store=store))
        with BlockingMemory(lambda: engine, check_embedder=False) as memory:
            yield Opened(memory, store, settings)
    finally:
        store.close()


@click.command(cls=StoreCommand)
@click.argument("text")
@click.option("--user", metavar="ID", required=True, help="Whom it is about.")
@click.option("--speaker", metavar="ID", help="Who says it.  [default: the person themselves]")
def remember(text: str, user: str, speaker: str | None) -> None:
    """Keep a statement about a person.

    TEXT is in plain words, in the first person or the third. What it contradicts gives way: the newer word wins, and
    the older stays in history. What somebody else says in private is shown to them alone.

    \b
    recollect remember "I live in Lisbon now" --user alex
    recollect remember "Alex is allergic to latex" --user alex
    recollect remember "Bob plays the cello" --user bob --speaker alex
    """
    with telling(new=True) as here:
        kept = here.memory.remember(text, user=user, speaker=speaker)
    for one in kept:
        click.echo(printable(one.text))


@click.command(cls=StoreCommand)
@click.argument("what")
@click.option("--user", metavar="ID", required=True, help="In whose profile.")
def forget(what: str, user: str) -> None:
    """Take something out of a person's profile.

    WHAT is in plain words; facts and statements that fit go, and are shown. The messages stay: `recollect undo` brings
    back what was forgotten, by the id that is shown. To remove a person for good there is `recollect erase`. The exit
    status is 1 if nothing was found.

    \b
    recollect forget "I like tea" --user alex
    recollect forget "my birthday" --user alex
    recollect forget "what I said about my boss" --user alex
    """
    with telling() as here:
        gone = here.memory.forget(what, user=user)
        behind = unread(here.store, here.settings.space)
    if behind:
        warn(behind)
    if gone.everything:
        click.echo(
            "that would be everything, and nothing was forgotten: say one thing at a time, or remove the person for "
            "good with `recollect erase`",
            err=True,
        )
    elif not gone.found:
        click.echo("nothing is known of that", err=True)
    if not gone.found:
        raise click.exceptions.Exit(1)
    show(gone.statements, gone.facts)
    click.echo(f"forgotten; `recollect undo {gone.id} --user {printable(user)}` brings it back", err=True)


@click.command(cls=StoreCommand)
@click.argument("id")
@click.option("--user", metavar="ID", required=True, help="In whose profile.")
def undo(id: str, user: str) -> None:
    """Bring back what `recollect forget` took out.

    ID is the one that `recollect forget` showed. What was told since stands: nothing comes back that it contradicts.

    \b
    recollect undo 01jd3x8k2m9q4r7t5v6w --user alex
    """
    with telling() as here:
        back = here.memory.undo(id, user=user)
    show(back.statements, back.facts)
    if not back.found:
        click.echo("nothing came back: what was told since stands", err=True)


@click.command(cls=StoreCommand)
@click.argument("user")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: facts, statements, and the text.")
def profile(user: str, as_json: bool) -> None:
    """Show a person's profile: facts and statements.

    It is what a model is shown in their own chat. Facts come from what people say, statements from `recollect
    remember`. `recollect facts` tells who said what, and since when; `recollect digest`, what they did in channels.
    With --json, what is kept of that is there, too.

    \b
    recollect profile alex
    recollect profile alex --json
    """
    with opened() as here:
        known = here.memory.profile(user=user, wait=0)
        behind = unread(here.store, here.settings.space)
    if as_json:
        json_line(profile_fields(known))
    elif known.text:
        click.echo(printable(known.text))
    else:
        click.echo("nothing is known yet", err=True)
    if behind:
        warn(behind)


def profile_fields(known: Profile) -> dict[str, Any]:
    return {
        "user": known.user,
        "name": known.name,
        "facts": [fields(fact) for fact in known.facts],
        "statements": [statement_fields(one) for one in known.statements],
        "text": known.text,
        "today": known.today.text if known.today else None,
        "history": known.history.text if known.history else None,
        "context": known.context,
    }


def statement_fields(one: Statement) -> dict[str, Any]:
    from dataclasses import fields as named

    return {field.name: getattr(one, field.name) for field in named(one)}


def show(statements: tuple[Statement, ...], facts: tuple[Fact, ...]) -> None:
    for one in statements:
        click.echo(printable(one.text))
    for fact in facts:
        whose = f"{fact.subject}: " if fact.subject else ""
        click.echo(printable(f"{whose}{fact.key}: {fact.value}"))
