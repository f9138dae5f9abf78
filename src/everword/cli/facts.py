"""What is known of people, on the command line: facts, their history and sources, profiles, and questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from everword.cli import options, output
from everword.cli.doctor import describe_wait
from everword.cli.opening import current_settings, open_for_reading, open_for_writing, view_states
from everword.cli.options import StoreCommand, json_option, parse_moment, person_option, printable, warn
from everword.cli.output import format_time, plural, show_table, table
from everword.errors import NotFound
from everword.model import FACT_CATEGORIES, Fact, FactChange, Message, Statement

if TYPE_CHECKING:
    from rich.console import Console

    from everword.cli.opening import MemoryHandle
    from everword.ports import Store

VIEW = "facts"
ALL_OF_FACT = "Print JSON{}, with all fields of {}."
IN_MEMORY = person_option("The person whom the fact is about", required=True)
IN_PROFILE = person_option("The person whose profile to change", required=True)
FROM = click.option(
    "--from", "valid_from", callback=parse_moment, metavar="DATE", help="The day from which the fact is true."
)
TO = click.option(
    "--to", "valid_to", callback=parse_moment, metavar="DATE", help="The day from which the fact is no longer true."
)


# -- facts


@click.command(cls=StoreCommand)
@click.argument("user")
@click.option("--as-of", callback=parse_moment, metavar="DATE", help="Show the facts that were true at DATE.")
@click.option("--category", type=click.Choice(FACT_CATEGORIES), help="Show only facts of this category.")
@click.option("--about", "query", metavar="WORDS", help="Sort facts by how well they fit WORDS.")
@click.option(
    "--history",
    "key",
    metavar="KEY",
    help="Show all values that the fact KEY, such as `city`, has had, oldest first.",
)
@click.option(
    "--refused", is_flag=True, help="Show the facts that a model found and everword rejected, with the reasons."
)
@json_option(ALL_OF_FACT.format(" Lines", "each fact"))
def facts(user: str, key: str | None, refused: bool, as_json: bool, **choice: Any) -> None:
    """Show the facts about a person, the most important first.

    USER is the id or the name of a person. everword extracts facts automatically from what people say. When a fact
    gets a new value, the old value is kept with its dates: see --as-of and --history. To see the messages that a fact
    comes from, run `everword why`. DATE is a day or a time, such as 2023-05-01 or 2023-05-01T18:30+02:00. A DATE
    without a time zone is in UTC.

    \b
    everword facts alex
    everword facts alex --as-of 2023-05-01
    everword facts alex --about "food"
    everword facts alex --history location
    everword facts alex --refused
    """
    check_choice(refused, key, choice)
    if refused:
        show_refused(user, as_json)
        return
    with open_for_reading() as handle:
        memory = handle.memory
        user = handle.find_person(user)
        listing = memory.facts(user=user, **choice) if key is None else memory.fact_history(key, user=user)
        warning = unread_warning(handle.store, handle.settings.space)
        names = handle.names_of(fact.speaker for fact in listing)
    if as_json:
        output.print_json_lines(listing)
    elif listing:
        show_facts([replace(fact, speaker=names[fact.speaker]) for fact in listing], history=key is not None)
    if not listing:
        is_narrow = key or choice["category"] or choice["as_of"]
        click.echo("nothing is known of that" if is_narrow else "nothing is known yet", err=True)
    if warning:
        warn(warning)


@click.command(cls=StoreCommand)
@click.argument("fact")
@IN_MEMORY
@json_option("Print JSON Lines in the format of `everword export`.")
def why(fact: str, user: str, as_json: bool) -> None:
    """Show the messages that a fact comes from.

    FACT is the id of a fact; `everword facts` lists the ids. `everword why` shows the messages that stated, repeated or
    ended the fact.

    \b
    everword why f41d0c6a9be27b3155aa --user alex
    """
    from everword.facts.stored_facts import facts_of
    from everword.formats import dump

    with open_for_reading() as handle:
        user = handle.find_person(user)
        messages = handle.memory.why(fact, user=user)
        known_facts = handle.store.read(lambda tx: facts_of(tx, handle.settings.space, user))
        shown_messages = handle.with_names(messages)
    if as_json:
        for message in messages:
            click.echo((dump(message) + "\n").encode(), nl=False)
        return
    show_evidence((known_fact for known_fact in known_facts if known_fact.id == fact), shown_messages)


def show_refused(user: str, as_json: bool) -> None:
    """Print what was found in a person's messages and refused, with the reason, oldest first."""
    with open_for_reading() as handle:
        refused = handle.memory.refused_facts(user=handle.find_person(user))
    if as_json:
        output.print_json_lines(refused)
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
    """A warning about messages that are not yet read for facts, or only by rules; empty if there are none."""
    from everword.memory.runtime import FIRST

    state = view_states(store, [VIEW], space)[0]
    if not state.behind:
        return ""
    wait = store.read(partial(describe_wait, state, current_settings()))
    if wait and not view_states(store, [FIRST[VIEW]], space)[0].behind:
        return wait
    reason = f" (the last error was: {state.error})" if state.error else ""
    return (
        f"{plural(state.behind, 'message')} not yet read for facts{reason}: some may be missing here. "
        "`everword worker --once` reads them"
    )


def show_facts(listing: Sequence[Fact], *, history: bool) -> None:
    """Print a table of facts; of a history, with the times between which each was true."""
    times = ("from", "to") if history else ("since",)
    grid = table("category", "key", "value", *times, "sure", "said by", "id", right=("sure",), whole=("id", *times))
    for fact in listing:
        span = (format_time(fact.valid_from), "now" if fact.active else format_time(fact.valid_to))
        key = "-" if full_key(fact) == fact.category else printable(full_key(fact))
        values = (key, printable(fact.value), *span[: len(times)])
        grid.add_row(fact.category, *values, f"{fact.confidence:.2f}", printable(fact.speaker), fact.id)
    show_table(grid, optional=("sure", "said by"))


def full_key(fact: Fact) -> str:
    return f"{fact.subject}: {fact.key}" if fact.subject else fact.key


def show_evidence(known_facts: Iterable[Fact], messages: Iterable[Message]) -> None:
    """Print facts, and the messages from which they come."""
    out = output.console()
    for fact in known_facts:
        show_fact(out, fact)
    for message in messages:
        out.print(output.message_head(message, "  ", with_place=True))
        output.print_indented(out, output.styled(printable(message.content)), 6)


def show_fact(out: Console, fact: Fact) -> None:
    head = output.styled(f"{printable(full_key(fact))}: ", style="bold")
    head.append(printable(fact.value))
    until = "" if fact.active else f" to {format_time(fact.valid_to)}"
    audience = "in private" if fact.audience is None else f"in {printable(fact.audience)}"
    head.append(f"  {fact.category}, from {format_time(fact.valid_from)}{until}, said {audience}", style="dim")
    out.print(head)


# -- single facts


@click.group()
def fact() -> None:
    """Show, add, edit or delete a fact.

    Facts that you change by hand stay changed after `everword rebuild facts`. The old value of a fact stays in the
    history of the fact. To undo a change of a fact, run `everword undo` with the id that `add`, `edit` or `delete`
    printed.

    \b
    everword fact show f41d0c6a9be27b3155aa --user alex
    everword fact add identity city Delft --user alex
    everword fact edit f41d0c6a9be27b3155aa Delft --user alex
    everword fact delete f41d0c6a9be27b3155aa --user alex
    """


@fact.command(cls=StoreCommand)
@click.argument("id")
@IN_MEMORY
@json_option(ALL_OF_FACT.format("", "the fact"))
def show(id: str, user: str, as_json: bool) -> None:
    """Show one fact and its source messages.

    ID is the id of a fact; `everword facts` lists the ids. `everword fact show` can also show a fact that is no longer
    true.

    \b
    everword fact show f41d0c6a9be27b3155aa --user alex
    """
    with open_for_reading() as handle:
        user = handle.find_person(user)
        known_fact = handle.memory.fact(id, user=user)
        shown_messages = handle.with_names(handle.memory.why(id, user=user))
    if as_json:
        output.print_json(known_fact)
    else:
        show_evidence([known_fact], shown_messages)


@fact.command(cls=StoreCommand)
@click.argument("category", type=click.Choice(FACT_CATEGORIES), metavar="CATEGORY")
@click.argument("key")
@click.argument("value")
@IN_MEMORY
@FROM
@TO
@click.option(
    "--about",
    "subject",
    metavar="NAME",
    help="Whom the fact is about, such as `brother`, if it is not about the person of --user.",
)
@options.JSON_OBJECT
def add(user: str, as_json: bool, **fields: Any) -> None:
    """Add a fact about a person.

    CATEGORY is a category that `everword facts --help` lists. KEY is what the fact is about, such as `city`. VALUE is
    the value of KEY, such as Delft. If KEY, such as `city`, can have only one value, the new value replaces the old
    value.

    \b
    everword fact add identity city Delft --user alex --from 2026-03-01
    everword fact add preference likes "long walks" --user alex
    """
    with open_for_writing(new=True) as handle:
        user = handle.find_exact_person(user)
        change = handle.memory.add_fact(user=user, **fields)
    show_change(change, user, as_json)


@fact.command(cls=StoreCommand)
@click.argument("id")
@click.argument("value")
@IN_MEMORY
@FROM
@TO
@options.JSON_OBJECT
def edit(id: str, value: str, user: str, as_json: bool, **times: Any) -> None:
    """Give a fact another value.

    ID is the id of a fact; `everword facts` lists the ids. VALUE is the new value of the fact. The old value stays in
    the history of the fact. If the person states a different value later, that value replaces VALUE.

    \b
    everword fact edit f41d0c6a9be27b3155aa Delft --user alex
    """
    with open_for_writing() as handle:
        user = handle.find_exact_person(user)
        change = handle.memory.edit_fact(id, value, user=user, **times)
    show_change(change, user, as_json)


@fact.command(cls=StoreCommand)
@click.argument("id")
@IN_MEMORY
@options.JSON_OBJECT
def delete(id: str, user: str, as_json: bool) -> None:
    """Delete a fact.

    ID is the id of a fact; `everword facts` lists the ids. A deleted fact comes back only if somebody states the fact
    again. To remove a person's messages for good, use `everword erase`.

    \b
    everword fact delete f41d0c6a9be27b3155aa --user alex
    """
    with open_for_writing() as handle:
        user = handle.find_exact_person(user)
        change = handle.memory.delete_fact(id, user=user)
    show_change(change, user, as_json)


def show_change(change: FactChange, user: str, as_json: bool) -> None:
    if as_json:
        output.print_json(change)
        return
    show_evidence([fact for fact in (change.fact, *change.retired) if fact is not None], [])
    click.echo(f"done; `everword undo {change.id} --user {printable(user)}` takes it back", err=True)


# -- questions


@click.command(cls=StoreCommand)
@click.argument("question")
@person_option("Whom the question is about", required=True)
@click.option("--conversation", metavar="ID", help="Answer only from what was said in the channel with this ID.")
@click.option("--sources", is_flag=True, help="Show the facts and messages that the answer comes from.")
@json_option("Print JSON with the answer and the ids of its sources.")
def ask(question: str, user: str, conversation: str | None, sources: bool, as_json: bool) -> None:
    """Answer a question about a person from facts and messages.

    Write QUESTION in plain words. The memory model (see `everword settings`) answers QUESTION from stored facts and
    messages only. If there is no memory model, or its answer cannot be used, `everword ask` shows the facts and
    messages that fit QUESTION best. If nothing in the memory answers QUESTION, the exit status is 1.

    \b
    everword ask "What does she like?" --user u2
    everword ask "Where does Alex live?" --user alex --sources
    """
    with open_for_writing() as handle:
        place = conversation and handle.find_conversation(conversation).id
        answer = handle.memory.ask(question, user=handle.find_person(user), conversation=place)
        warning = unread_warning(handle.store, handle.settings.space)
        shown_messages = handle.with_names(answer.messages) if sources else []
    if as_json:
        messages = [message.id for message in answer.messages]
        output.print_json({"answer": answer.text, **output.pick(answer, "known made_by facts"), "messages": messages})
    else:
        click.echo(printable(answer.text))
    if sources and not as_json:
        show_evidence(answer.facts, shown_messages)
    if warning:
        warn(warning)
    if not answer.known:
        raise click.exceptions.Exit(1)


# -- profiles


@click.command(cls=StoreCommand)
@click.argument("text")
@person_option("Whom the statement is about", required=True)
@click.option("--speaker", metavar="ID", help="The user who makes the statement.  [default: the person of --user]")
@click.option(
    "--expires",
    metavar="WHEN",
    help="When the statement expires: after a time such as 10m, 2h or 7d, or at a time in ISO 8601.",
)
@options.JSON_LINES
def remember(text: str, user: str, speaker: str | None, expires: str | None, as_json: bool) -> None:
    """Store a statement about a person.

    Write TEXT in plain words, in the first or third person. A new statement replaces older statements that it
    contradicts; older statements stay in the history. A statement that a user makes in private about somebody else is
    shown only to the user who made it. A statement with --expires is no longer shown after the given time. `everword
    retain --yes` removes expired statements for good.

    \b
    everword remember "I live in Lisbon now" --user alex
    everword remember "I am on holiday" --user alex --expires 14d
    everword remember "Alex is allergic to latex" --user alex
    everword remember "Bob plays the cello" --user bob --speaker alex
    """
    from everword.log.checks_and_seals import parse_expiry

    until = parse_expiry("expires", expires)
    with open_for_writing(new=True) as handle:
        user = handle.find_exact_person(user)
        statements = handle.memory.remember(text, user=user, speaker=speaker, expires=until)
    if as_json:
        output.print_json_lines(statements)
    else:
        show_entries(statements, ())


@click.command(cls=StoreCommand)
@click.argument("what")
@IN_PROFILE
@options.JSON_OBJECT
def forget(what: str, user: str, as_json: bool) -> None:
    """Remove facts and statements from a person's profile.

    Write WHAT in plain words. `everword forget` removes the facts and statements that fit WHAT, and lists them.
    `everword forget` does not remove messages. To bring back facts and statements that `everword forget` removed, run
    `everword undo`. To remove a person's messages for good, use `everword erase`. If no fact or statement fits WHAT,
    the exit status is 1.

    \b
    everword forget "I like tea" --user alex
    everword forget "my birthday" --user alex
    everword forget "what I said about my boss" --user alex
    """
    with open_for_writing() as handle:
        user = handle.find_exact_person(user)
        removal = handle.memory.forget(what, user=user)
        warning = unread_warning(handle.store, handle.settings.space)
    if warning:
        warn(warning)
    if as_json:
        output.print_json(removal)
    if removal.everything:
        click.echo(
            "that would be everything, and nothing was forgotten: say one thing at a time, or remove the person for "
            "good with `everword erase`",
            err=True,
        )
    elif not removal.found:
        click.echo("nothing is known of that", err=True)
    if not removal.found:
        raise click.exceptions.Exit(1)
    if not as_json:
        show_entries(removal.statements, removal.facts)
    click.echo(f"forgotten; `everword undo {removal.id} --user {printable(user)}` brings it back", err=True)


@click.command(cls=StoreCommand)
@click.argument("id", required=False)
@IN_PROFILE
@options.JSON_OBJECT
def undo(id: str | None, user: str, as_json: bool) -> None:
    """Undo a change of a person's facts and statements.

    `everword undo` reverses a removal by `everword forget`, or a change of a fact by `everword fact`. ID is the id of
    the change, which `everword forget` and `everword fact` print. If you leave out ID, `everword undo` undoes the last
    change of the profile. An undo does not bring back a fact that contradicts a later statement.

    \b
    everword undo --user alex
    everword undo 01jd3x8k2m9q4r7t5v6w --user alex
    """
    with open_for_writing() as handle:
        user = handle.find_exact_person(user)
        id = id or last_change(handle, user)
        restored_entries = handle.memory.undo(id, user=user)
    if as_json:
        output.print_json(restored_entries)
    else:
        show_entries(restored_entries.statements, restored_entries.facts)
    if not restored_entries.found:
        click.echo("nothing was restored, because later statements replaced it", err=True)


def last_change(handle: MemoryHandle, user: str) -> str:
    """The id of the last change of a profile that can be taken back; prints what it was."""
    from everword.facts.stored_facts import CHANGES, FORGET, statements_of

    space = handle.settings.space
    changes = handle.store.read(lambda tx: statements_of(tx, space, user, kind=(FORGET, *CHANGES)))
    if not changes:
        raise NotFound(
            f"there is nothing to undo: no entry in the profile of user {user!r} in space {space!r} was forgotten "
            "or changed by hand"
        )
    last = changes[-1]
    summary = printable(" ".join(last.text.split()))
    click.echo(f"taken back: {summary} ({format_time(last.said_at)})", err=True)
    return last.id


@click.command(cls=StoreCommand)
@click.argument("user")
@json_option("Print JSON with the facts, the statements and the profile's text.")
def profile(user: str, as_json: bool) -> None:
    """Show a person's profile: facts and statements.

    USER is the id or the name of a person. In a person's chats, the model receives the person's profile. A profile has
    facts, which everword extracts from what people say, and statements, which people add with `everword remember`.
    `everword facts` shows who stated each fact, and since when the fact is true. `everword digest` shows what a person
    said in channels.

    \b
    everword profile alex
    everword profile alex --json
    """
    with open_for_reading() as handle:
        user_profile = handle.memory.profile(user=handle.find_person(user), wait=0)
        warning = unread_warning(handle.store, handle.settings.space)
    if as_json:
        today = user_profile.today
        history = user_profile.history
        digests = {"today": today.text if today else None, "history": history.text if history else None}
        fields = output.pick(user_profile, "user name facts statements text")
        output.print_json({**fields, **digests, "context": user_profile.context})
    elif user_profile.text:
        click.echo(printable(user_profile.text))
    else:
        click.echo("nothing is known yet", err=True)
    if warning:
        warn(warning)


def show_entries(statements: Iterable[Statement], known_facts: Iterable[Fact]) -> None:
    for statement in statements:
        click.echo(printable(statement.text))
    for known_fact in known_facts:
        click.echo(printable(f"{full_key(known_fact)}: {known_fact.value}"))


def check_choice(refused: bool, key: str | None, choice: Mapping[str, Any]) -> None:
    has_choice = any(value is not None for value in choice.values())
    if refused and (key is not None or has_choice):
        raise click.UsageError(
            "--refused shows facts that everword rejected and did not store; leave out --as-of, --category, --about "
            "and --history, which choose stored facts"
        )
    if key is not None and has_choice:
        raise click.UsageError(
            "--history cannot be combined with --as-of, --category or --about, because --history shows "
            "all values of one key"
        )
