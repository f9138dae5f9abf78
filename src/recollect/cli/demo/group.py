"""The step of the demo about a group: a digest of a day for each speaker, the days before, and the merged context."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.demo.stage import NOW, expect, open_memory, print_line, print_step

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.memory.sync import BlockingMemory

CHANNEL = "counter"
MEMBER = "noor"
TALK = (
    (3, "noor", "The van broke down, so I bring the orders by bicycle today."),
    (3, "alex", "Take the cargo bike, Noor, it has a new chain."),
    (2, "noor", "The garage wants 900 euros for the van. I am fed up with it."),
    (1, "noor", "I sold the van this morning. The cargo bike stays."),
    (0, "noor", "I brought forty orders by bicycle before ten! I like the mornings now."),
    (0, "alex", "Noor, you are the fastest. I baked you a lemon cake."),
)


def show_group(out: Console, folder: Path) -> None:
    print_step(
        out,
        "GROUP: alex and noor in a channel of the bakery",
        "A day is written up once, for all who spoke. What is said in private is no part of it.",
    )
    with open_memory(folder / "group.db") as demo_memory:
        channel = demo_memory.conversation(CHANNEL)
        for days, author, text in TALK:
            channel.add("user", text, author=author, time=days_ago(days))
        private_chat = demo_memory.conversation("private", user=MEMBER)
        private_chat.add("user", "Do not tell Alex, but I am looking for another job.")
        show_remembering(out, demo_memory)
        demo_memory.settle()
        for digest in demo_memory.digests():
            print_line(out, f"{digest.user} today", digest.text)
        profile = demo_memory.profile(user=MEMBER)
        expect(profile.history is not None and "van" in profile.history.text, "the days before are not in the history")
        print_line(out, f"{MEMBER} lately", profile.history.text if profile.history else "")
        prompt = channel.context("What should I bake for Noor?").messages[0]["content"]
        expect("van" in profile.context and "lemons" in profile.context, "the context is not merged")
        expect("another job" not in prompt, "a private word is in the channel's context")
        out.print("profile, today and the days before stand in the channel's contexts; the private word does not")


def show_remembering(out: Console, demo_memory: BlockingMemory) -> None:
    """Show what is remembered and forgotten on request."""
    demo_memory.remember("I am allergic to lemons", user=MEMBER)
    removal = demo_memory.forget("the lemons", user=MEMBER)
    statements = demo_memory.profile(user=MEMBER).statements
    expect(removal.found and removal.id is not None and not statements, "it was not forgotten")
    (statement,) = demo_memory.undo(removal.id or "", user=MEMBER).statements
    print_line(
        out, f"{MEMBER} says", f"remember that I am allergic to lemons; forget the lemons; undo: “{statement.text}”"
    )


def days_ago(days: int) -> datetime:
    return NOW - timedelta(days=days, hours=1)
