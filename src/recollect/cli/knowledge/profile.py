"""A person's profile on the command line: remember, forget, undo, profile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.knowledge.facts import fact_fields, unread_warning
from recollect.cli.terminal.opening import MemoryHandle, current_settings, open_for_reading, require_existing
from recollect.cli.terminal.options import StoreCommand, printable, warn
from recollect.cli.terminal.show import print_json

if TYPE_CHECKING:
    from recollect.model import Fact, Profile, Statement


@contextmanager
def open_for_writing(*, new: bool = False) -> Iterator[MemoryHandle]:
    """Open a memory to write to, with its model if it has one; with `new`, it is created if there is none."""
    from recollect.memory.memory import MemoryEngine
    from recollect.memory.sync import BlockingMemory
    from recollect.wiring import build, open_store

    settings = replace(current_settings(), followers=False)
    store = open_store(settings.store if new else require_existing(settings.store), settings)
    try:
        engine = MemoryEngine(lambda: build(settings, store=store))
        with BlockingMemory(engine, partial(engine.open, check_embedder=False)) as memory:
            yield MemoryHandle(memory, store, settings)
    finally:
        store.close()


@click.command(cls=StoreCommand)
@click.argument("text")
@click.option("--user", metavar="ID", required=True, help="Whom it is about.")
@click.option("--speaker", metavar="ID", help="Who says it.  [default: the person themselves]")
@click.option("--expires", metavar="WHEN", help="Until when: a span such as 10m, 2h or 7d, or an ISO time.")
def remember(text: str, user: str, speaker: str | None, expires: str | None) -> None:
    """Keep a statement about a person.

    TEXT is in plain words, in the first person or the third. What it contradicts gives way: the newer word wins, and
    the older stays in history. What somebody else says in private is shown to them alone. With --expires it is shown
    until then, beside what lasts, and `recollect retain --yes` removes it for good.

    \b
    recollect remember "I live in Lisbon now" --user alex
    recollect remember "I am on holiday" --user alex --expires 14d
    recollect remember "Alex is allergic to latex" --user alex
    recollect remember "Bob plays the cello" --user bob --speaker alex
    """
    from recollect.log.expiry import parse_expiry

    until = parse_expiry("expires", expires)
    with open_for_writing(new=True) as handle:
        statements = handle.memory.remember(text, user=user, speaker=speaker, expires=until)
    for statement in statements:
        click.echo(printable(statement.text))


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
    with open_for_writing() as handle:
        removal = handle.memory.forget(what, user=user)
        warning = unread_warning(handle.store, handle.settings.space)
    if warning:
        warn(warning)
    if removal.everything:
        click.echo(
            "that would be everything, and nothing was forgotten: say one thing at a time, or remove the person for "
            "good with `recollect erase`",
            err=True,
        )
    elif not removal.found:
        click.echo("nothing is known of that", err=True)
    if not removal.found:
        raise click.exceptions.Exit(1)
    show_entries(removal.statements, removal.facts)
    click.echo(f"forgotten; `recollect undo {removal.id} --user {printable(user)}` brings it back", err=True)


@click.command(cls=StoreCommand)
@click.argument("id")
@click.option("--user", metavar="ID", required=True, help="In whose profile.")
def undo(id: str, user: str) -> None:
    """Bring back what `recollect forget` took out.

    ID is the one that `recollect forget` showed. What was told since stands: nothing comes back that it contradicts.

    \b
    recollect undo 01jd3x8k2m9q4r7t5v6w --user alex
    """
    with open_for_writing() as handle:
        restored_entries = handle.memory.undo(id, user=user)
    show_entries(restored_entries.statements, restored_entries.facts)
    if not restored_entries.found:
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
    with open_for_reading() as handle:
        user_profile = handle.memory.profile(user=user, wait=0)
        warning = unread_warning(handle.store, handle.settings.space)
    if as_json:
        print_json(profile_fields(user_profile))
    elif user_profile.text:
        click.echo(printable(user_profile.text))
    else:
        click.echo("nothing is known yet", err=True)
    if warning:
        warn(warning)


def profile_fields(user_profile: Profile) -> dict[str, Any]:
    return {
        "user": user_profile.user,
        "name": user_profile.name,
        "facts": [fact_fields(fact) for fact in user_profile.facts],
        "statements": [statement_fields(statement) for statement in user_profile.statements],
        "text": user_profile.text,
        "today": user_profile.today.text if user_profile.today else None,
        "history": user_profile.history.text if user_profile.history else None,
        "context": user_profile.context,
    }


def statement_fields(statement: Statement) -> dict[str, Any]:
    from dataclasses import fields as dataclass_fields

    return {field.name: getattr(statement, field.name) for field in dataclass_fields(statement)}


def show_entries(statements: tuple[Statement, ...], facts: tuple[Fact, ...]) -> None:
    for statement in statements:
        click.echo(printable(statement.text))
    for fact in facts:
        subject = f"{fact.subject}: " if fact.subject else ""
        click.echo(printable(f"{subject}{fact.key}: {fact.value}"))
