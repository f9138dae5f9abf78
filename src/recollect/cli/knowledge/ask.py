"""Questions on the command line: an answer from what is remembered, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recollect.cli.knowledge.facts import fact_fields, show_fact, show_source, unread_warning
from recollect.cli.knowledge.profile import open_for_writing
from recollect.cli.terminal.options import StoreCommand, printable, warn
from recollect.cli.terminal.show import console, print_json

if TYPE_CHECKING:
    from recollect.model import MemoryAnswer


@click.command(cls=StoreCommand)
@click.argument("question")
@click.option("--user", metavar="ID", required=True, help="Whom it is about.")
@click.option("--conversation", metavar="ID", help="Only what was said in this channel.")
@click.option("--sources", is_flag=True, help="Show the facts and messages that the answer rests on.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: the answer, and the ids it rests on.")
def ask(question: str, user: str, conversation: str | None, sources: bool, as_json: bool) -> None:
    """Answer a question about a person from facts and messages.

    The memory model answers, only from what it is shown. Without one, or if its answer cannot be used, the facts and
    messages that fit best are the answer. The exit status is 1 if nothing that is remembered answers it.

    \b
    recollect ask "What does she like?" --user u2
    recollect ask "Where does Alex live?" --user alex --sources
    """
    with open_for_writing() as handle:
        answer = handle.memory.ask(question, user=user, conversation=conversation)
        warning = unread_warning(handle.store, handle.settings.space)
    if as_json:
        print_json(answer_fields(answer))
    else:
        click.echo(printable(answer.text))
    if sources and not as_json:
        show_sources(answer)
    if warning:
        warn(warning)
    if not answer.known:
        raise click.exceptions.Exit(1)


def answer_fields(answer: MemoryAnswer) -> dict[str, Any]:
    return {
        "answer": answer.text,
        "known": answer.known,
        "made_by": answer.made_by,
        "facts": [fact_fields(fact) for fact in answer.facts],
        "messages": [message.id for message in answer.messages],
    }


def show_sources(answer: MemoryAnswer) -> None:
    out = console()
    for fact in answer.facts:
        show_fact(out, fact)
    for message in answer.messages:
        show_source(out, message)
