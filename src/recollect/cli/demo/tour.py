"""The tour: storing and searching messages, what a model is sent and asks for, verifying and moving the log."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from recollect.cli.demo import talk
from recollect.cli.demo.group import show_group
from recollect.cli.demo.script import drafts
from recollect.cli.demo.stage import ScriptedModel, build_engine, expect, open_memory, print_step
from recollect.cli.demo.topics import show_topics
from recollect.cli.terminal.show import console, format_time, plural, print_indented
from recollect.cli.terminal.snippet import build_snippet
from recollect.formats import dump, open_records
from recollect.memory.transfer import import_records

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.memory.sync import BlockingConversation, BlockingMemory
    from recollect.model import Hit, Message

USER = "alex"
CHAT = "chat"
BY_MEANING = "nut allergy"
SEARCHES = (
    ("databases", "other forms of a word are found too", "any database"),
    (BY_MEANING, "by meaning alone: no word in common", "allergic to peanuts"),
    ("自転車", "Japanese for bicycle, inside a sentence without spaces", "自転車も無料です"),
)
ORIGINAL = "below 2 GB free"
FORGED = "below 2 MB free"
SMALLEST_PART = 0.1  # of a score that is shown


def run_tour(folder: Path) -> None:
    out = console()
    model = ScriptedModel(talk.LINES)
    file = folder / "demo.db"
    out.print("recollect: a chat program's memory. This runs offline, without a key.", style="bold")
    with open_memory(file, model) as demo_memory:
        chat = demo_memory.conversation(CHAT, user=USER)
        show_keeping(out, demo_memory, chat)
        show_searches(out, demo_memory)
        talk.show_facts(out, demo_memory, USER)
        talk.show_context(out, chat)
        talk.show_turn(out, file, chat, model)
        demo_memory.settle()
        talk.show_episodes(out, chat, model)
        demo_memory.settle()
        show_topics(out, folder)
        show_group(out, folder)
        show_proof(out, demo_memory)
        messages = list(demo_memory.export())
        show_tampering(out, folder)
        show_move(out, folder, demo_memory, messages)
    out.print("\nThat was all of it: one file, no server, no key.", style="bold")
    out.print("Next: recollect import YOUR_EXPORT, then recollect search WORDS. See recollect --help.")


def show_keeping(out: Console, demo_memory: BlockingMemory, chat: BlockingConversation) -> None:
    print_step(
        out,
        "KEEP",
        "Once an add returns, the message is on the disk. All else is derived from the messages, and follows.",
    )
    # All at once: followers that saw them one by one would cut the summaries by the speed of the machine.
    chat.extend(drafts())
    duplicates = sum(addition.new for addition in chat.extend(drafts()))
    expect(duplicates == 0, f"{duplicates} messages were kept twice")
    demo_memory.settle()
    stats = demo_memory.stats()
    period = f"{format_time(stats.first)} to {format_time(stats.last)}"
    out.print(f"{plural(stats.messages, 'message')} of {USER} and an assistant, {period}")
    out.print(f"added a second time: {duplicates} new, since each has its platform's id")


def show_searches(out: Console, demo_memory: BlockingMemory) -> None:
    print_step(out, "FIND", "By word, by meaning and in any script. Each hit says what its score is made of.")
    for query, about, answer in SEARCHES:
        hit = demo_memory.search(query, user=USER, limit=1)[0]
        expect(answer in hit.message.content, f"{query} found turn {hit.message.turn}")
        expect(query != BY_MEANING or hit.parts["text"] == 0, f"{query} has a word in common with what it found")
        out.print(Text(query, style="green") + Text(f": {about}"))
        print_hit(out, hit, query)


def print_hit(out: Console, hit: Hit, query: str) -> None:
    parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items() if abs(value) >= SMALLEST_PART)
    print_indented(out, build_snippet(hit.message.content, query), 2)
    about = f"{format_time(hit.message.time)}, turn {hit.message.turn}, score {hit.score:.2f}: {parts}"
    print_indented(out, Text(about, style="dim"), 2)


def show_proof(out: Console, demo_memory: BlockingMemory) -> None:
    print_step(
        out, "PROVE", "Every message is sealed with the one before it: a changed or missing one breaks the chain."
    )
    proof = demo_memory.verify()
    expect(proof.ok, f"the log is not whole: {proof.faults}")
    out.print(
        f"verify: whole, {plural(proof.messages, 'message')}, and one hash that stands for them all: note it elsewhere"
    )


def show_tampering(out: Console, folder: Path) -> None:
    print_step(out, "TAMPER", f"In a copy of the file, “{ORIGINAL}” becomes “{FORGED}”, behind recollect's back.")
    tampered_file = folder / "tampered.db"
    with closing(sqlite3.connect(folder / "demo.db")) as source, closing(sqlite3.connect(tampered_file)) as copy:
        source.backup(copy)
        copy.execute("UPDATE messages SET content = replace(content, ?, ?)", (ORIGINAL, FORGED))
        copy.commit()
    with open_memory(tampered_file) as tampered_memory:
        proof = tampered_memory.verify()
    expect(not proof.ok, "a changed message was not noticed")
    expect([fault.turn for fault in proof.faults] == [12], f"the wrong one is named: {proof.faults}")
    out.print(f"verify: not whole, {proof.faults[0]}".partition(" (")[0])


def show_move(out: Console, folder: Path, demo_memory: BlockingMemory, messages: list[Message]) -> None:
    print_step(out, "MOVE", "Exported as JSON Lines and imported into a store of another kind: one readable JSON file.")
    exported_file = folder / "demo.jsonl"
    owners = {conversation.id: conversation for conversation in demo_memory.conversations()}
    text = "".join(dump(message, owners[message.conversation]) + "\n" for message in messages)
    exported_file.write_text(text, encoding="utf-8")
    new_messages = asyncio.run(import_into(exported_file, folder / "demo.json"))
    expect(new_messages == messages, "the messages that arrived are not those that left")
    counts = f"{exported_file.name}: {plural(len(messages), 'line')}; demo.json: {plural(len(new_messages), 'message')}"
    out.print(f"{counts}, with the same words, ids, authors, times")


async def import_into(source: Path, target: Path) -> list[Message]:
    async with build_engine(f"json:{target}") as target_engine:
        with open_records(source) as records:
            await import_records(target_engine, records, space="default")
        await target_engine.settle()
        return [message async for message in target_engine.export()]
