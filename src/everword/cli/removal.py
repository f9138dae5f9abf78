"""Commands that remove, replace or move what is kept, for good or with a way back, after they have shown what goes.

`delete`, `erase` and `retain` remove messages, `redact` replaces secrets in them, `move` and `merge` give them another
name or owner; `audit` says who did so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from everword.cli import options
from everword.cli.conversations import name_of_message
from everword.cli.opening import MemoryHandle, open_for_reading
from everword.cli.options import SPACE, StoreCommand, global_option, parse_moment, printable, report_remains, warn
from everword.cli.output import format_time, plural, print_json, print_json_lines, show_table, table
from everword.errors import EverwordError
from everword.model import Deletion, Move, Redaction, Retained

SHOWN = 10  # conversations that a preview names
OWN_TIME = "what was kept with a time at which it expires"


# -- delete, audit


@click.command(cls=StoreCommand)
@click.option(
    "--message",
    metavar="ID",
    help="The one message of --conversation to delete: its id, its id on the chat platform, or its number, such as #7.",
)
@click.option(
    "--conversation",
    metavar="ID",
    help="The conversation to delete. With --message, the conversation that contains the message.",
)
@click.option("--before", callback=parse_moment, metavar="DATE", help="Delete messages from before DATE.")
@options.person_option("Delete messages of PERSON")
@click.option("--query", metavar="TEXT", help="Delete messages that contain the phrase TEXT.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@options.YES
@options.JSON_ASKED
def delete(
    message: str | None, conversation: str | None, dry_run: bool, yes: bool, as_json: bool, **choice: Any
) -> None:
    """Remove messages for good.

    You can remove one message, a conversation, or all messages that match --before, --user and --query. Facts,
    summaries and other data made from the deleted messages are removed, and made again from the messages that are left.
    Each deleted message leaves an empty place with its hash, so that `everword verify` can still check the other
    messages. Before `everword delete` removes messages, it shows what will be removed and asks you to confirm. A
    deletion cannot be undone. To keep a copy of the messages, run `everword export` before `everword delete`.

    \b
    everword delete --conversation demo --message "#7"
    everword delete --query "hunter2" --dry-run
    everword delete --user alex --before 2024-01-01
    """
    check_choice(message, conversation, choice)
    if as_json and not (yes or dry_run):
        raise click.UsageError(
            "--json needs --yes or --dry-run, because a command with --json cannot ask for confirmation"
        )
    with open_for_reading() as handle:
        choice["user"] = choice["user"] and handle.find_exact_person(choice["user"])
        if dry_run or not yes:
            outcome = run_delete(handle, message, conversation, choice, dry_run=True)
            if not as_json:
                show_deletion(outcome)
        if not dry_run:
            if not yes:
                click.confirm("Remove this for good?", abort=True, err=True)
            outcome = run_delete(handle, message, conversation, choice, dry_run=False)
    if as_json:
        print_json(outcome)
    elif dry_run:
        click.echo("nothing was removed")
    else:
        click.echo(f"deleted {plural(outcome.messages, 'message')} (deletion {outcome.id})")
    report_remains(outcome.left)


def check_choice(message: str | None, conversation: str | None, choice: Mapping[str, Any]) -> None:
    """Raise unless the options say what to delete."""
    has_filter = any(value is not None for value in choice.values())
    if message is not None and conversation is None:
        raise click.UsageError("--message needs --conversation, the ID of the conversation that contains the message")
    if conversation is not None and has_filter:
        raise click.UsageError("--conversation can be combined only with --message; leave out all other filters")
    if conversation is None and not has_filter:
        raise click.UsageError("choose what to delete with --conversation, --before, --user or --query")


def run_delete(
    handle: MemoryHandle, message: str | None, conversation: str | None, choice: Mapping[str, Any], *, dry_run: bool
) -> Deletion:
    if conversation is None:
        return handle.memory.delete(**choice, dry_run=dry_run)
    if message is None:
        return handle.memory.delete_conversation(conversation, dry_run=dry_run)
    return handle.memory.conversation(conversation).delete(name_of_message(message), dry_run=dry_run)


def show_deletion(deletion: Deletion) -> None:
    """Show what would go: from which conversations, and what of which view rests on it."""
    grid = table("goes", "how many", right=("how many",))
    places = sorted(deletion.conversations.items(), key=lambda place: -place[1])
    for conversation, count in places[:SHOWN]:
        grid.add_row(f"messages of {printable(conversation)}", f"{count:,}")
    if len(places) > SHOWN:
        grid.add_row(f"messages of {len(places) - SHOWN:,} more", f"{sum(count for _, count in places[SHOWN:]):,}")
    for view, count in deletion.views.items():
        grid.add_row(view, f"{count:,}")
    show_table(grid)


@click.command(cls=StoreCommand)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, help="Show at most this many of the latest changes.")
@options.JSON_LINES
def audit(limit: int, as_json: bool) -> None:
    """Show who removed or moved messages, when, and how many.

    Each printed line is an erasure, deletion, expiry or move of messages. `everword audit` shows neither the texts nor
    the authors of the messages.

    \b
    everword audit --limit 5
    """
    with open_for_reading() as handle:
        lines = handle.memory.audit(limit=limit)
    if as_json:
        print_json_lines(lines)
        return
    grid = table("when (UTC)", "by", "kind", "what", "how many", right=("how many",))
    for line in lines:
        grid.add_row(format_time(line.at), printable(line.by), line.kind, line.what, f"{line.count:,}")
    show_table(grid)
    if not lines:
        click.echo("nothing was ever removed or moved", err=True)


# -- erase


@click.command(cls=StoreCommand)
@options.person_option("The person whose messages to remove", required=True)
@options.YES
@options.json_option("Print JSON. --json needs --yes.")
def erase(user: str, yes: bool, as_json: bool) -> None:
    """Remove a person's messages for good.

    `everword erase` removes all messages that the person wrote in the space. In the person's own chats, `everword
    erase` also removes the messages of others, such as the assistant's replies. `everword erase` removes all facts,
    summaries and other data made from the removed messages. Each erased message leaves an empty place with its hash, so
    that `everword verify` can still check the other messages. An erasure cannot be undone. To keep a copy of the
    person's messages, run `everword export --user ID -o FILE` before `everword erase`. While another program is reading
    the store, parts of the removed text can stay in the store's files. If parts of the removed text stay in the store's
    files, the exit status is 1: run `everword scrub` when no other program is reading the store.

    \b
    everword erase --user alex
    """
    from everword.cli.output import progress_bar

    if as_json and not yes:
        raise click.UsageError("--json needs --yes, because a command with --json cannot ask for confirmation")
    with open_for_reading() as handle:
        user = handle.find_exact_person(user)
        if not yes:
            click.echo(f"This removes all messages of {user!r} from {handle.store.name}, for good.", err=True)
            confirmation = click.prompt("Type the user's id to go on", default="", show_default=False, err=True)
            if confirmation != user:
                raise EverwordError(f"the name that you typed is not {user!r}; nothing was erased")
        with progress_bar() as bar:
            bar.add_task("erasing", total=None)
            erasure = handle.memory.erase(user=user)
    if as_json:
        print_json(erasure)
    else:
        click.echo(
            f"erased {plural(erasure.messages, 'message')} in {plural(erasure.conversations, 'conversation')} "
            f"and {plural(erasure.entries, 'passage')} of the index (erasure {erasure.id})"
        )
    report_remains(erasure.left)


# -- redact


@click.command(cls=StoreCommand)
@options.ONE_USER
@options.ONE_CONVERSATION
@click.option("--dry-run", is_flag=True, help="Count the secrets, and change nothing.")
@options.YES
@options.JSON_ASKED
def redact(user: str | None, conversation: str | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Replace secrets in messages by placeholders, for good.

    `everword redact` finds API keys, tokens, passwords, card numbers and other secrets in the messages of the space.
    `everword redact` overwrites each secret with a placeholder, which names the kind of secret. `everword redact`
    removes the older versions of the messages that it changes. everword rebuilds the facts, summaries and other data of
    the changed messages. After a redaction, `everword verify` can still check all messages. A redaction cannot be
    undone.

    \b
    everword redact --dry-run
    everword redact --user alex
    everword redact --space team --yes
    """
    if as_json and not (dry_run or yes):
        raise click.UsageError(
            "--json needs --yes or --dry-run, because a command with --json cannot ask for confirmation"
        )
    with open_for_reading() as handle:
        user = user and handle.find_exact_person(user)
        run = partial(handle.memory.redact, user=user, conversation=conversation, space=handle.settings.space)
        if dry_run or not yes:
            outcome = run(dry_run=True)
            if not as_json:
                show_redaction(outcome)
        if not dry_run and (yes or outcome.messages):
            if not yes:
                click.confirm("Replace them for good?", abort=True, err=True)
            outcome = run()
            id_note = f" (redaction {outcome.id})" if outcome.id else ""
            if not as_json:
                click.echo(f"replaced in {plural(outcome.messages, 'message')}{id_note}")
    if as_json:
        print_json(outcome)
    report_remains(outcome.left)


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


# -- retain


@click.command(cls=StoreCommand)
@click.option(
    "--yes", is_flag=True, help="Remove data that is older than the settings allow, instead of only showing this data."
)
@options.JSON_OBJECT
def retain(yes: bool, as_json: bool) -> None:
    """Show or remove data that is older than the settings allow.

    Six settings say how many days data is kept:

    \b
    retain_messages  messages
    retain_episodes  summaries of messages
    retain_facts     facts that are no longer true
    retain_digests   summaries of days
    retain_topics    topics that are inactive
    retain_usage     counts of calls

    A `retain_…` setting of 0 days, the default, keeps the data for ever. everword removes old data automatically only
    if you set `retain_every`. A message or statement that was stored with an expiry time is removed after that time,
    whatever the `retain_…` settings say. `everword retain` covers all spaces of the store, or the one space that you
    name with --space.

    A removed message leaves an empty place with its hash, so that `everword verify` can still check the other messages.
    Summaries, facts and digests that were made from the message stay; other settings say for how long. A removal by
    `everword retain` cannot be undone. To keep a copy of the messages, run `everword export -o FILE` before `everword
    retain --yes`.

    \b
    EVERWORD_RETAIN_MESSAGES=90 everword retain
    EVERWORD_RETAIN_MESSAGES=90 everword retain --yes
    """
    with open_for_reading() as handle:
        outcome = handle.memory.retain(dry_run=not yes, space=global_option(SPACE))
    if as_json:
        print_json(outcome)
        report_remains(outcome.left)
        return
    if not outcome.expired:
        click.echo("everything is kept for ever: no setting `retain_…` says otherwise; nothing was removed")
        return
    show_expired(outcome)
    waiting = sum(expired_kind.waiting for expired_kind in outcome.expired)
    if waiting:
        warn(f"{plural(waiting, 'message')} more will go once every view has read them: `everword worker --once`")
    report_remains(outcome.left)


def show_expired(outcome: Retained) -> None:
    from everword.changes.retention_rules import KINDS

    grid = table("kind", "older than (UTC)", "would go" if outcome.dry_run else "removed", "what")
    for expired in outcome.expired:
        what = KINDS.get(expired.kind, OWN_TIME)
        grid.add_row(expired.kind, format_time(expired.before), f"{expired.count:,}", what)
    show_table(grid)
    if outcome.dry_run:
        hint = "nothing was removed; `everword retain --yes` does it, for good"
        click.echo(hint if outcome.count else "nothing is over")


# -- move, merge


@click.command(cls=StoreCommand)
@click.argument("conversation", required=False)
@click.option("--to", metavar="ID", help="The new id of the conversation.")
@options.person_option("The new owner of the conversation")
@click.option("--undo", metavar="ID", help="Undo the move or merge with this id.")
@click.option("--dry-run", is_flag=True, help="Only show what would be moved.")
@options.JSON_OBJECT
def move(
    conversation: str | None, to: str | None, user: str | None, undo: str | None, dry_run: bool, as_json: bool
) -> None:
    """Rename a conversation, or move it to another user.

    CONVERSATION is the id of a conversation. Use `everword move` when somebody signs in after they chatted as a guest.
    With --user, the conversation moves to the new owner, with the facts and statements made from its messages. If the
    previous owner said nothing outside the conversation, all data of the previous owner moves to the new owner. You can
    rename a channel, but you cannot give a channel to a user.

    A move removes nothing: everword records the move, and `everword verify` can still check every message. To undo a
    move, use --undo. You can no longer undo a move after some of the moved data was removed.

    \b
    everword move anonymous-17 --user alex --dry-run
    everword move anonymous-17 --user alex --to alex-1
    everword move --undo 1m7hg7ne89bfqrd0p3aa
    """
    if undo is not None:
        take_back(undo, dry_run, as_json, conversation, to, user)
        return
    if conversation is None or (to is None and user is None):
        raise click.UsageError(
            "give the conversation and its new ID or user: everword move CONVERSATION --to ID, or --user ID"
        )
    with open_for_reading() as handle:
        user = user and handle.find_exact_person(user)
        outcome = handle.memory.move_conversation(conversation, to=to, user=user, dry_run=dry_run)
    show_move(outcome, as_json)


@click.command(cls=StoreCommand)
@click.argument("user", required=False)
@click.option("--into", metavar="ID", help="The user who receives the data of USER.")
@click.option("--undo", metavar="ID", help="Undo the move or merge with this id.")
@click.option("--dry-run", is_flag=True, help="Only show what would be moved.")
@options.JSON_OBJECT
def merge(user: str | None, into: str | None, undo: str | None, dry_run: bool, as_json: bool) -> None:
    """Merge the data of one user into another user.

    Use `everword merge` when one person has two ids. USER is the id of the user whose data moves to the user of --into.
    A merge moves conversations, messages in channels, facts, statements, names and documents. A merge does not move the
    keys that `everword keys create` made for USER.

    A merge removes nothing. To undo a merge, use --undo.

    \b
    everword merge telegram-4711 --into alex --dry-run
    everword merge telegram-4711 --into alex
    everword merge --undo 1m7hg7ne89bfqrd0p3aa
    """
    if undo is not None:
        take_back(undo, dry_run, as_json, user, into)
        return
    if user is None or into is None:
        raise click.UsageError("give both users: everword merge USER --into OTHER")
    with open_for_reading() as handle:
        user = handle.find_exact_person(user)
        into = handle.find_exact_person(into)
        outcome = handle.memory.merge_users(user, into=into, dry_run=dry_run)
    show_move(outcome, as_json)


def take_back(id: str, dry_run: bool, as_json: bool, *other_options: str | None) -> None:
    """Undo a move or a merge."""
    if any(option is not None for option in other_options):
        raise click.UsageError("--undo needs only the ID of the move or merge; leave out all other arguments")
    with open_for_reading() as handle:
        outcome = handle.memory.undo_move(id, dry_run=dry_run)
    show_move(outcome, as_json)


def show_move(outcome: Move, as_json: bool) -> None:
    if as_json:
        print_json(outcome)
        return
    if not outcome.conversations and not outcome.moved:
        click.echo("everything is so already; nothing was moved")
        return
    grid = table("moves" if outcome.dry_run else "moved", "to", "how many", right=("how many",))
    places = sorted(outcome.conversations.items())
    for old, new in places[:SHOWN]:
        grid.add_row(f"conversation {printable(old)}", "the same name" if new == old else printable(new), "")
    if len(places) > SHOWN:
        grid.add_row(plural(len(places) - SHOWN, "more conversation"), "", "")
    for kind, count in outcome.moved.items():
        grid.add_row(kind, printable(outcome.into or ""), f"{count:,}")
    show_table(grid)
    if outcome.dry_run:
        click.echo("nothing was moved")
        return
    messages = plural(outcome.moved.get("messages", 0), "message")
    back = "" if outcome.kind == "undo" else f"; back: everword move --undo {outcome.id}"
    click.echo(f"moved {messages} ({outcome.kind} {outcome.id}){back}")
