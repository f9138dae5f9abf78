"""`recollect retain`: shows what is kept longer than the settings say, and with --yes removes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from recollect.cli.terminal.opening import open_for_reading
from recollect.cli.terminal.options import SPACE, StoreCommand, global_option, report_remains, warn
from recollect.cli.terminal.show import format_time, plural, print_json, show_table, table

if TYPE_CHECKING:
    from recollect.model import Retained


OWN_TIME = "what was kept with a time at which it expires"


@click.command(cls=StoreCommand)
@click.option("--yes", is_flag=True, help="Remove it, for good. Without this, it is only shown.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def retain(yes: bool, as_json: bool) -> None:
    """Show what is kept too long; with --yes, remove it.

    How long each kind of memory is kept is a setting, in days: retain_messages, retain_episodes, retain_facts (those
    that no longer hold), retain_digests, retain_topics (those that have faded), retain_usage. The default of each is 0,
    for ever, and nothing goes by itself unless `retain_every` says how often. What was kept with a time at which it
    expires goes after that time, whatever the settings say. All spaces are cleaned up; with --space, that one.

    A message that goes leaves an empty place with its seal, so that `recollect verify` still proves the rest. What was
    made of it (summaries, facts, digests) stays as long as its own kind is kept. There is no way back: export first
    (`recollect export -o FILE`) if a copy is wanted.

    \b
    RECOLLECT_RETAIN_MESSAGES=90 recollect retain
    RECOLLECT_RETAIN_MESSAGES=90 recollect retain --yes
    """
    with open_for_reading() as handle:
        outcome = handle.memory.retain(dry_run=not yes, space=global_option(SPACE))
    if as_json:
        print_json(asdict(outcome))
        report_remains(outcome.left)
        return
    if not outcome.expired:
        click.echo("everything is kept for ever: no setting `retain_…` says otherwise; nothing was removed")
        return
    show_expired(outcome)
    waiting = sum(expired_kind.waiting for expired_kind in outcome.expired)
    if waiting:
        warn(f"{plural(waiting, 'message')} more will go once every view has read them: `recollect worker --once`")
    report_remains(outcome.left)


def show_expired(outcome: Retained) -> None:
    from recollect.changes.retention_rules import KINDS

    grid = table("kind", "older than (UTC)", "would go" if outcome.dry_run else "removed", "what")
    for expired_kind in outcome.expired:
        grid.add_row(
            expired_kind.kind,
            format_time(expired_kind.before),
            f"{expired_kind.count:,}",
            KINDS.get(expired_kind.kind, OWN_TIME),
        )
    show_table(grid)
    if outcome.dry_run:
        click.echo(
            "nothing was removed; `recollect retain --yes` does it, for good" if outcome.count else "nothing is over"
        )
