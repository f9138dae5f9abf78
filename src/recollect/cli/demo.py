"""`recollect demo`: the real engine, on a chat written for it, shown step by step. Offline, without a key.

Nothing is staged: each block runs what a program would call and prints what came back. It knows no settings, so that
it shows the same to everybody, and works in a temporary folder, so that it leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.log import show_hit
from recollect.cli.show import console, counted, show_table, table, when

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.engine.memory import MemoryEngine
    from recollect.engine.sync import BlockingConversation, BlockingMemory
    from recollect.model import Message

USER, CHAT = "alex", "chat"
BY_WORD, BY_MEANING, BY_SCRIPT = "databases", "nut allergy", "自転車"
QUESTION = "So which database do the two shops share?"
SYSTEM = "You are Alex's assistant. Be brief."
BUDGET = 800  # tokens: small enough for something to be left out
SAID, FORGED = "below 2 GB free", "below 2 MB free"


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), metavar="FOLDER", help="Keep the files, in this new folder.")
def demo(keep: Path | None) -> None:
    """Show what recollect does: a tour of a few seconds.

    Offline, without a key, leaving nothing behind: a chat of 40 messages over five months goes through the real engine.
    It is kept, searched by word, by meaning and in another script, put into a context with its receipt, proved whole,
    tampered with, and moved to another store.

    \b
    recollect demo
    recollect demo --keep /tmp/demo
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
            tour(Path(folder))
        return
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise click.UsageError(f"--keep: {keep} exists already; name a new folder")
    keep.mkdir(parents=True, exist_ok=True)
    tour(keep)
    click.echo(f"\nKept in {keep}. Try: recollect search {BY_WORD} --store {keep / 'demo.db'}")


def tour(folder: Path) -> None:
    out = console()
    out.print("recollect: a chat program's memory. This runs offline, without a key.", style="bold")
    with memory(folder / "demo.db") as kept:
        chat = kept.conversation(CHAT, user=USER)
        keep_messages(out, kept, chat)
        find(out, kept)
        build_context(out, chat)
        prove(out, kept)
        messages = list(kept.export())
        tamper(out, folder)
        move(out, folder, kept, messages)
    out.print("\nThat was all of it: one file, no server, no key.", style="bold")
    out.print("Next: recollect import YOUR_EXPORT, then recollect search WORDS. See recollect --help.")


def engine(url: str) -> MemoryEngine:
    from recollect.config import Settings
    from recollect.engine.memory import MemoryEngine
    from recollect.wiring import build

    return MemoryEngine(lambda: build(Settings(store=url)))


@contextmanager
def memory(path: Path) -> Iterator[BlockingMemory]:
    from recollect.engine.sync import BlockingMemory

    with BlockingMemory(lambda: engine(str(path))) as opened:
        yield opened


def expect(true: bool, otherwise: str) -> None:
    """What the demo is about to claim is true, or it ends here."""
    from recollect.errors import RecollectError

    if not true:
        raise RecollectError(f"the demo went wrong: {otherwise}")


def step(out: Console, title: str, about: str) -> None:
    from rich.text import Text

    out.print()
    out.print(Text(title, style="bold cyan"))
    out.print(Text(about, style="dim"))


def keep_messages(out: Console, kept: BlockingMemory, chat: BlockingConversation) -> None:
    from recollect.cli.demo_script import drafts

    step(out, "KEEP", "An add returns when the message is on the disk. The index follows by itself.")
    for draft in drafts():
        chat.add(draft.role, draft.content, time=draft.time, platform_id=draft.platform_id)
    again = chat.extend(drafts())
    kept.settle()
    found = kept.stats()
    out.print(
        f"{counted(found.messages, 'message')} of {USER} and an assistant, {when(found.first)} to {when(found.last)}"
    )
    out.print(f"added a second time: {sum(one.new for one in again)} new, since each has its platform's id")


def find(out: Console, kept: BlockingMemory) -> None:
    searches = (
        (BY_WORD, "BY WORD", "Other forms of the word are found too."),
        (BY_MEANING, "BY MEANING", "No word in common: the text part of the score is 0, the vector part finds it."),
        (BY_SCRIPT, "IN ANOTHER SCRIPT", "Japanese for bicycle, inside a sentence written without spaces."),
    )
    for query, title, about in searches:
        step(out, f"FIND {title}: {query}", about)
        for number, hit in enumerate(kept.search(query, user=USER, limit=2), start=1):
            show_hit(out, number, hit, query, explain=True)


def build_context(out: Console, chat: BlockingConversation) -> None:
    from recollect.model import Budget

    step(
        out, f"CONTEXT: {QUESTION}", f"What a model would be sent, in at most {BUDGET} tokens, with the receipt for it."
    )
    context = chat.context(QUESTION, budget=Budget(total=BUDGET), system=SYSTEM)
    receipt = context.receipt
    grid = table("section", "tokens", "messages", "left out", right=("tokens", "messages", "left out"))
    for section in receipt.sections:
        inside = f"{len(section.items)}" if section.items or section.left_out else "1"
        grid.add_row(section.name, f"{section.tokens:,}", inside, f"{len(section.left_out)}")
    show_table(grid)
    reply = receipt.tokens - sum(section.tokens for section in receipt.sections)
    out.print(f"together {receipt.tokens:,} tokens ({reply} join the parts), counted exactly for {receipt.tokenizer}")
    reasons = {item.reason for section in receipt.sections for item in section.left_out}
    for reason in sorted(reasons):
        out.print(f"left out because: {reason}. Nothing is lost: search still finds it")


def prove(out: Console, kept: BlockingMemory) -> None:
    step(out, "PROVE", "Every message is sealed with the one before it: a changed or missing one breaks the chain.")
    proof = kept.verify()
    expect(proof.ok, f"the log is not whole: {proof.faults}")
    out.print(f"verify: whole, {counted(proof.messages, 'message')}, root {proof.root[:16]}…")


def tamper(out: Console, folder: Path) -> None:
    step(out, "TAMPER", f"In a copy of the file, somebody turns “{SAID}” into “{FORGED}”, behind recollect's back.")
    forged = folder / "tampered.db"
    with closing(sqlite3.connect(folder / "demo.db")) as source, closing(sqlite3.connect(forged)) as copy:
        source.backup(copy)
        copy.execute("UPDATE messages SET content = replace(content, ?, ?)", (SAID, FORGED))
        copy.commit()
    with memory(forged) as changed:
        proof = changed.verify()
    expect(not proof.ok, "a changed message was not noticed")
    out.print("verify: not whole")
    for fault in proof.faults:
        out.print(f"  {fault}")


def move(out: Console, folder: Path, kept: BlockingMemory, messages: list[Message]) -> None:
    from recollect.formats import dump

    step(out, "MOVE", "Exported as JSON Lines and imported into a store of another kind: one readable JSON file.")
    lines = folder / "demo.jsonl"
    owners = {conversation.id: conversation for conversation in kept.conversations()}
    text = "".join(dump(message, owners[message.conversation]) + "\n" for message in messages)
    lines.write_text(text, encoding="utf-8")
    arrived = asyncio.run(imported(lines, folder / "demo.json"))
    expect(arrived == messages, "the messages that arrived are not those that left")
    out.print(f"{lines.name}: {counted(len(messages), 'line')}; demo.json: {counted(len(arrived), 'message')}")
    out.print("each with the same words, id, author, time and turn")


async def imported(lines: Path, target: Path) -> list[Message]:
    from recollect.engine.transfer import import_records
    from recollect.formats import open_records

    async with engine(f"json:{target}") as memory:
        with open_records(lines) as records:
            await import_records(memory, records, space="default")
        await memory.settle()
        return [message async for message in memory.export()]
