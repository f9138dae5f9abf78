"""Single facts on the command line: show one, add one, edit its value, delete it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from recollect.cli.knowledge.facts import fact_fields, show_fact, show_source
from recollect.cli.knowledge.profile import open_for_writing
from recollect.cli.terminal.opening import open_for_reading
from recollect.cli.terminal.options import StoreCommand, parse_moment, printable
from recollect.cli.terminal.show import console, print_json
from recollect.model import FACT_CATEGORIES

if TYPE_CHECKING:
    from recollect.model import FactChange

USER = click.option("--user", metavar="ID", required=True, help="In whose memory the fact is.")
FROM = click.option("--from", "valid_from", callback=parse_moment, metavar="DATE", help="The day from which it is so.")
TO = click.option("--to", "valid_to", callback=parse_moment, metavar="DATE", help="The day on which it ends.")


@click.group()
def fact() -> None:
    """Show, add, edit and delete single facts.

    What people decide by hand stays when the facts are built again (`recollect rebuild facts`). The old value stays as
    history, and `recollect undo` takes a change back, by the id that is shown.

    \b
    recollect fact show f41d0c6a9be27b3155aa --user alex
    recollect fact add identity city Delft --user alex
    recollect fact edit f41d0c6a9be27b3155aa Delft --user alex
    recollect fact delete f41d0c6a9be27b3155aa --user alex
    """


@fact.command(cls=StoreCommand)
@click.argument("id")
@USER
@click.option("--json", "as_json", is_flag=True, help="One JSON object, with all that is kept of the fact.")
def show(id: str, user: str, as_json: bool) -> None:
    """Show one fact, and the messages it comes from.

    ID is the one that `recollect facts` lists; also of a fact that no longer holds.

    \b
    recollect fact show f41d0c6a9be27b3155aa --user alex
    """
    with open_for_reading() as handle:
        known_fact = handle.memory.fact(id, user=user)
        messages = handle.memory.why(id, user=user)
    if as_json:
        print_json(fact_fields(known_fact))
        return
    out = console()
    show_fact(out, known_fact)
    for message in messages:
        show_source(out, message)


@fact.command(cls=StoreCommand)
@click.argument("category", type=click.Choice(FACT_CATEGORIES))
@click.argument("key")
@click.argument("value")
@USER
@FROM
@TO
@click.option("--about", "subject", metavar="NAME", help="Whom it is about, if not the person: brother.")
def add(
    category: str,
    key: str,
    value: str,
    user: str,
    valid_from: datetime | None,
    valid_to: datetime | None,
    subject: str | None,
) -> None:
    """Add a fact about a person.

    Of a key that has one value, as a city does, it takes the place of the one before.

    \b
    recollect fact add identity city Delft --user alex --from 2026-03-01
    recollect fact add preference likes "long walks" --user alex
    """
    with open_for_writing(new=True) as handle:
        change = handle.memory.add_fact(
            category, key, value, user=user, valid_from=valid_from, valid_to=valid_to, subject=subject
        )
    show_change(change, user)


@fact.command(cls=StoreCommand)
@click.argument("id")
@click.argument("value")
@USER
@FROM
@TO
def edit(id: str, value: str, user: str, valid_from: datetime | None, valid_to: datetime | None) -> None:
    """Give a fact another value.

    The old value stays as history. What the person says later counts again.

    \b
    recollect fact edit f41d0c6a9be27b3155aa Delft --user alex
    """
    with open_for_writing() as handle:
        change = handle.memory.edit_fact(id, value, user=user, valid_from=valid_from, valid_to=valid_to)
    show_change(change, user)


@fact.command(cls=StoreCommand)
@click.argument("id")
@USER
def delete(id: str, user: str) -> None:
    """Take a fact out of what is known.

    It does not come back from messages that were said until now; said again, it does. To remove a person's words for
    good there is `recollect erase`.

    \b
    recollect fact delete f41d0c6a9be27b3155aa --user alex
    """
    with open_for_writing() as handle:
        change = handle.memory.delete_fact(id, user=user)
    show_change(change, user)


def show_change(change: FactChange, user: str) -> None:
    out = console()
    if change.fact is not None:
        show_fact(out, change.fact)
    for retired_fact in change.retired:
        show_fact(out, retired_fact)
    click.echo(f"done; `recollect undo {change.id} --user {printable(user)}` takes it back", err=True)
