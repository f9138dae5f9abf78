"""`recollect redact` replaces secrets in messages by placeholders, for good, after it has shown how many there are."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from recollect.cli.terminal.opening import open_for_reading
from recollect.cli.terminal.options import StoreCommand, printable, report_remains
from recollect.cli.terminal.show import plural, print_json

if TYPE_CHECKING:
    from recollect.model import Redaction

SHOWN = 10  # conversations that are named


@click.command(cls=StoreCommand)
@click.option("--user", metavar="ID", help="Only this person's memory.")
@click.option("--conversation", metavar="ID", help="Only this conversation.")
@click.option("--dry-run", is_flag=True, help="Only show how many there are.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object; without --dry-run it needs --yes.")
def redact(user: str | None, conversation: str | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Replace secrets in messages by placeholders, for good.

    Looks through the messages of the space for API keys, tokens, passwords, cards and other secrets, those that are
    masked and those that were kept before, and writes a placeholder such as [secret: API key] in place of each. Older
    versions of these messages go, too, and everything that was derived from them is made anew. `recollect verify` still
    proves the log. There is no way back.

    \b
    recollect redact --dry-run
    recollect redact --user alex
    recollect redact --space team --yes
    """
    if as_json and not (dry_run or yes):
        raise click.UsageError("--json needs --yes or --dry-run: there is nobody to ask")
    with open_for_reading() as handle:
        run = partial(handle.memory.redact, user=user, conversation=conversation, space=handle.settings.space)
        outcome = run(dry_run=True) if dry_run or not yes else None
        if outcome is not None and not as_json:
            show_redaction(outcome)
        if not dry_run and (outcome is None or outcome.messages):
            if outcome is not None:
                click.confirm("Replace them for good?", abort=True, err=True)
            outcome = run()
            if not as_json:
                click.echo(f"replaced in {plural(outcome.messages, 'message')}" + redaction_id(outcome))
    assert outcome is not None
    if as_json:
        print_json(asdict(outcome))
    report_remains(outcome.left)


def redaction_id(outcome: Redaction) -> str:
    return f" (redaction {outcome.id})" if outcome.id else ""


def show_redaction(outcome: Redaction) -> None:
    if not outcome.messages:
        click.echo("no message holds a secret; nothing was changed")
        return
    kinds = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(outcome.kinds.items()))
    click.echo(f"{plural(outcome.messages, 'message')} with secrets ({kinds})")
    counts = sorted(outcome.conversations.items(), key=lambda entry: (-entry[1], entry[0]))
    for conversation, count in counts[:SHOWN]:
        click.echo(f"  {printable(conversation)}: {plural(count, 'message')}")
    if len(counts) > SHOWN:
        click.echo(f"  and {plural(len(counts) - SHOWN, 'conversation')} more")
