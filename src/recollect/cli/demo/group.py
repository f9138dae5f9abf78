"""The step of the demo about a group: what a day was for each who spoke, how they have been, and one text of it all."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.demo.stage import NOW, expect, line, memory, step

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.engine.sync import BlockingMemory

CHANNEL, MEMBER = "counter", "noor"
TALK = (
    (3, "noor", "The van broke down, so I bring the orders by bicycle today."),
    (3, "alex", "Take the cargo bike, Noor, it has a new chain."),
    (2, "noor", "The garage wants 900 euros for the van. I am fed up with it."),
    (1, "noor", "I sold the van this morning. The cargo bike stays."),
    (0, "noor", "Forty orders by bicycle before ten! I like the mornings now."),
    (0, "alex", "Noor, you are the fastest. I baked you a lemon cake."),
)


def show_group(out: Console, folder: Path) -> None:
    step(
        out,
        "GROUP: alex and noor in a channel of the bakery",
        "A day is written up once, for all who spoke. What is said in private is no part of it.",
    )
    with memory(folder / "group.db") as kept:
        channel = kept.conversation(CHANNEL)
        for days, author, text in TALK:
            channel.add("user", text, author=author, time=said(days))
        kept.conversation("private", user=MEMBER).add("user", "Do not tell Alex, but I am looking for another job.")
        show_told(out, kept)
        kept.settle()
        for one in kept.digests():
            line(out, f"{one.user} today", one.text)
        known = kept.profile(user=MEMBER)
        expect(known.history is not None and "van" in known.history.text, "the days before are not in the history")
        line(out, f"{MEMBER} lately", known.history.text if known.history else "")
        sent = channel.context("What should I bake for Noor?").messages[0]["content"]
        expect("van" in known.context and "lemons" in known.context, "the context is not merged")
        expect("another job" not in sent, "a private word is in the channel's context")
        out.print("profile, today and the days before stand in the channel's contexts; the private word does not")


def show_told(out: Console, kept: BlockingMemory) -> None:
    """What is remembered and forgotten because somebody asked."""
    kept.remember("I am allergic to lemons", user=MEMBER)
    gone = kept.forget("the lemons", user=MEMBER)
    expect(gone.found and gone.id is not None and not kept.profile(user=MEMBER).statements, "it was not forgotten")
    (told,) = kept.undo(gone.id or "", user=MEMBER).statements
    line(out, f"{MEMBER} says", f"remember that I am allergic to lemons; forget the lemons; undo: “{told.text}”")


def said(days: int) -> datetime:
    return NOW - timedelta(days=days, hours=1)
