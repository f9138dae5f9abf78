"""The tour: what is kept and found, what a model is given and asks for, and what can be proved and moved."""

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
from recollect.cli.demo.stage import ScriptedModel, engine, expect, memory, step
from recollect.cli.demo.topics import show_topics
from recollect.cli.terminal.show import console, counted, indented, when
from recollect.cli.terminal.snippet import snippet
from recollect.engine.transfer import import_records
from recollect.formats import dump, open_records

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.engine.sync import BlockingConversation, BlockingMemory
    from recollect.model import Hit, Message

USER, CHAT = "alex", "chat"
BY_MEANING = "nut allergy"
SEARCHES = (
    ("databases", "other forms of a word are found too", "any database"),
    (BY_MEANING, "by meaning alone: no word in common", "allergic to peanuts"),
    ("自転車", "Japanese for bicycle, inside a sentence without spaces", "自転車も無料です"),
)
SAID, FORGED = "below 2 GB free", "below 2 MB free"


def tour(folder: Path) -> None:
    out, model, file = console(), ScriptedModel(talk.LINES), folder / "demo.db"
    out.print("recollect: a chat program's memory. This runs offline, without a key.", style="bold")
    with memory(file, model) as kept:
        chat = kept.conversation(CHAT, user=USER)
        keep_messages(out, kept, chat)
        find(out, kept)
        talk.show_facts(out, kept, USER)
        talk.build_context(out, chat)
        talk.take_turn(out, file, chat, model)
        kept.settle()
        talk.show_episodes(out, chat, model)
        kept.settle()
        show_topics(out, folder)
        show_group(out, folder)
        prove(out, kept)
        messages = list(kept.export())
        tamper(out, folder)
        move(out, folder, kept, messages)
    out.print("\nThat was all of it: one file, no server, no key.", style="bold")
    out.print("Next: recollect import YOUR_EXPORT, then recollect search WORDS. See recollect --help.")


def keep_messages(out: Console, kept: BlockingMemory, chat: BlockingConversation) -> None:
    step(
        out,
        "KEEP",
        "Once an add returns, the message is on the disk. All else is derived from the messages, and follows.",
    )
    # All at once: followers that saw them one by one would cut the summaries by the speed of the machine.
    chat.extend(drafts())
    again = sum(one.new for one in chat.extend(drafts()))
    expect(again == 0, f"{again} messages were kept twice")
    kept.settle()
    found = kept.stats()
    out.print(
        f"{counted(found.messages, 'message')} of {USER} and an assistant, {when(found.first)} to {when(found.last)}"
    )
    out.print(f"added a second time: {again} new, since each has its platform's id")


def find(out: Console, kept: BlockingMemory) -> None:
    step(out, "FIND", "By word, by meaning and in any script. Each hit says what its score is made of.")
    for query, about, answer in SEARCHES:
        hit = kept.search(query, user=USER, limit=1)[0]
        expect(answer in hit.message.content, f"{query} found turn {hit.message.turn}")
        expect(query != BY_MEANING or hit.parts["text"] == 0, f"{query} has a word in common with what it found")
        out.print(Text(query, style="green") + Text(f": {about}"))
        show_found(out, hit, query)


def show_found(out: Console, hit: Hit, query: str) -> None:
    parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items() if round(value, 2))
    indented(out, snippet(hit.message.content, query), 2)
    about = f"{when(hit.message.time)}, turn {hit.message.turn}, score {hit.score:.2f}: {parts}"
    indented(out, Text(about, style="dim"), 2)


def prove(out: Console, kept: BlockingMemory) -> None:
    step(out, "PROVE", "Every message is sealed with the one before it: a changed or missing one breaks the chain.")
    proof = kept.verify()
    expect(proof.ok, f"the log is not whole: {proof.faults}")
    out.print(
        f"verify: whole, {counted(proof.messages, 'message')}, and one hash that stands for them all: note it elsewhere"
    )


def tamper(out: Console, folder: Path) -> None:
    step(out, "TAMPER", f"In a copy of the file, “{SAID}” becomes “{FORGED}”, behind recollect's back.")
    forged = folder / "tampered.db"
    with closing(sqlite3.connect(folder / "demo.db")) as source, closing(sqlite3.connect(forged)) as copy:
        source.backup(copy)
        copy.execute("UPDATE messages SET content = replace(content, ?, ?)", (SAID, FORGED))
        copy.commit()
    with memory(forged) as changed:
        proof = changed.verify()
    expect(not proof.ok, "a changed message was not noticed")
    expect([fault.turn for fault in proof.faults] == [12], f"the wrong one is named: {proof.faults}")
    out.print(f"verify: not whole, {proof.faults[0]}".partition(" (")[0])


def move(out: Console, folder: Path, kept: BlockingMemory, messages: list[Message]) -> None:
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
    async with engine(f"json:{target}") as memory:
        with open_records(lines) as records:
            await import_records(memory, records, space="default")
        await memory.settle()
        return [message async for message in memory.export()]
