"""`recollect context`: what a model would be sent, and the receipt for it. No model is opened, none is needed.

The command only shows a context. It does not bring views up to date, since without a model the built-in writers would
write what a model should.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from recollect.cli.terminal.opening import MemoryHandle, current_settings, index_state, require_existing
from recollect.cli.terminal.options import StoreCommand, printable, warn
from recollect.cli.terminal.show import console, plural, print_json
from recollect.model import Budget

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.model import Context, Degraded, Receipt

COMPACT = "compact"


def parse_budget(ctx: click.Context, param: click.Parameter, value: str | None) -> Budget | None:
    """Parse a budget from the command line: a number of tokens, or `compact`."""
    if value is None:
        return None
    if value.casefold() == COMPACT:
        return Budget.compact()
    if not (value.isascii() and value.isdigit() and int(value)):
        raise click.BadParameter(f"{value!r} is no budget: write a number of tokens, or {COMPACT}", ctx, param)
    return Budget(total=int(value))


@contextmanager
def open_for_chat(settings: Settings, on_degraded: Callable[[Degraded], None] | None = None) -> Iterator[MemoryHandle]:
    """Open a memory with its models; created if there is none yet."""
    from recollect.memory.memory import MemoryEngine
    from recollect.memory.sync import BlockingMemory
    from recollect.wiring import build, open_store

    store = open_store(settings.store, settings)
    try:
        with BlockingMemory(MemoryEngine(lambda: build(settings, store=store, on_degraded=on_degraded))) as memory:
            yield MemoryHandle(memory, store, settings)
    finally:
        store.close()


def explain_receipt(receipt: Receipt) -> str:
    """The receipt in words, as wide as the terminal; a pipe has no width."""
    out = console()
    return receipt.explain(out.width if out.is_terminal else None)


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.argument("text", default="")
@click.option("--user", metavar="ID", help="Whose conversation it must be.")
@click.option("--system", metavar="TEXT", help="A system prompt.")
@click.option(
    "--budget", callback=parse_budget, metavar="TOKENS", help="How many tokens, or `compact`.  [default: 30,000]"
)
@click.option("--explain", is_flag=True, help="Show the receipt: what is in, at which tier, what is not, and why.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object: the messages and the receipt.")
def context(
    conversation: str,
    text: str,
    user: str | None,
    system: str | None,
    budget: Budget | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Show what a model would be sent to answer TEXT.

    Needs no model, and asks none. Without TEXT it is what comes before a message, whatever that will be: nothing is
    retrieved for it.

    \b
    recollect context demo "What's my name?"
    recollect context demo "What's my name?" --budget compact --explain
    """
    settings = current_settings()
    require_existing(settings.store)
    without_models = dataclasses.replace(settings, chat_model="", memory_model="", followers=False)
    with open_for_chat(without_models) as handle:
        is_new = handle.store.read(lambda tx: tx.conversation(settings.space, conversation)) is None
        chat = handle.memory.conversation(conversation, user=user)
        preview = chat.context(text, budget=budget, system=system)
        behind = index_state(handle.store, settings.space).behind
    if as_json:
        print_json({"messages": preview.messages, "receipt": dataclasses.asdict(preview.receipt)})
    elif explain:
        click.echo(explain_receipt(preview.receipt))
    else:
        show_messages(preview, bool(text))
    if is_new:
        warn(f"there is no conversation {conversation!r} yet: this is how it would begin")
    if behind:
        warn(
            f"the index is {plural(behind, 'message')} behind the log: some may be missing here. "
            "`recollect worker --once` brings it up"
        )


def show_messages(preview: Context, has_text: bool) -> None:
    messages = preview.messages if has_text else preview.messages[:-1]
    click.echo("\n\n".join(f"[{message['role']}]\n{printable(message['content'])}" for message in messages))
