"""The steps of the demo in which a model is asked: the context, a turn, episodes, facts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.demo.stage import LEVEL, ScriptedModel, expect, line, step
from recollect.cli.terminal.show import counted, show_table, table
from recollect.model import Budget
from recollect.tasks.reply import InlineTiers, render_inline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rich.console import Console

    from recollect.engine.sync import BlockingConversation, BlockingMemory
    from recollect.model import Episode, Fact

SYSTEM = "You are Alex's assistant. Be brief."
BUDGET = 900  # tokens: small enough for something to be left out
ABOUT = {
    "system": "your prompt, and how to ask for more",
    "profile": "what is known of alex",
    "summaries": "of what has left the window",
    "retrieved": "what search found for this question",
    "history": "older messages of the window, shortened",
    "recent": "the last exchanges, word for word",
    "current": "the question",
}

QUESTION = "So which database do the two shops share?"
RECIPE, HIDDEN = 32, "9 l stock"  # the turn of the recipe, and what only its full text says
SOUP = "Sixty bowls tomorrow, twice as many as today. How much stock must Noor fetch?"
ASKS = f"[REQUEST_TIER:3:m{RECIPE}]"
SAYS = "18 l of stock, not 9. The rest doubles too: 4 kg carrots, 2 kg onions, 6 kg lentils."
NOTES = InlineTiers(reply1="stock = 18 l; lentils = 6 kg", reply2="18 l of stock, and the rest doubles.")
DOG, KNOWN = "Where was Biscuit while I was in Japan?", "Biscuit stays with my sister"
LINES = (ASKS, f"{SAYS}\n{render_inline(NOTES)}", "With your sister: Biscuit hates trains.")


def build_context(out: Console, chat: BlockingConversation) -> None:
    step(
        out, f"CONTEXT: {QUESTION}", f"What a model would be sent, in {BUDGET} tokens at most, and the receipt for it."
    )
    receipt = chat.context(QUESTION, budget=Budget(total=BUDGET), system=SYSTEM).receipt
    grid = table("section", "tokens", "in", "left out", "what it is", right=("tokens", "in", "left out"))
    for section in receipt.sections:
        inside = f"{len(section.items)}" if section.items or section.left_out else "1"
        grid.add_row(section.name, f"{section.tokens:,}", inside, f"{len(section.left_out)}", ABOUT[section.name])
    show_table(grid)
    expect(receipt.tokens <= BUDGET, f"the context has {receipt.tokens} tokens")
    expect(any(section.left_out for section in receipt.sections), "nothing was left out")
    out.print(
        f"together {receipt.tokens:,} tokens, counted as {receipt.tokenizer} counts; what is left out stays in the log"
    )


def take_turn(out: Console, file: Path, chat: BlockingConversation, model: ScriptedModel) -> None:
    step(
        out,
        f"TURN: {SOUP}",
        "The model is SCRIPTED: the demo needs no key. Older messages are sent short, until it asks for more.",
    )
    reply = chat.reply(SOUP, system=SYSTEM)
    first, second = reply.rounds
    before, after = (request.messages[0]["content"] for request in model.requests)
    label = f"MESSAGE[m{RECIPE}]"
    expect(HIDDEN not in before and HIDDEN in after, "the model was not given what it asked for")
    expect(first.raised == ((RECIPE, 3),), f"raised were {first.raised}")
    line(
        out,
        "memory sends",
        f"{first.tokens_in} tokens, with turn {RECIPE}, the recipe, at tier 1: {below(before, label)}",
    )
    line(out, "model writes", ASKS)
    line(out, "memory sends", f"{second.tokens_in} tokens, with turn {RECIPE} at tier 3: {below(after, label)}")
    line(out, "model writes", " ".join(LINES[1].split()))
    expect(reply.text == SAYS == chat.history(limit=1)[0].content, "the user was shown something else")
    line(out, "alex sees", f"{reply.text}")
    tokens = sum(one.tokens_in + one.tokens_out for one in reply.rounds)
    cost = f"{counted(len(reply.rounds), 'round')}, {tokens:,} tokens"
    out.print(f"{cost}. From the block, which alex does not see, the reply has its tiers:")
    one, two = stored_tiers(file, reply.message.turn)
    expect((one, two) == (NOTES.reply1, NOTES.reply2), "the tiers the model gave were not kept")
    for tier, text in enumerate((one, two, reply.text), start=1):
        line(out, f"  tier {tier}", text)


def below(text: str, label: str) -> str:
    """The line that follows the one with this label."""
    lines = text.splitlines()
    return next(after for at, after in pairwise(lines) if at.startswith(label))


def stored_tiers(file: Path, turn: int) -> tuple[str, str]:
    with closing(sqlite3.connect(file)) as store:
        one, two = store.execute("SELECT tier1, tier2 FROM tiers WHERE turn = ?", (turn,)).fetchone()
    return one, two


def show_episodes(out: Console, chat: BlockingConversation, model: ScriptedModel) -> None:
    gone = chat.archived()[-1].last
    step(
        out,
        f"EPISODES: turns 1 to {gone} have left the window, not the log",
        f"Contexts show summaries of them, in levels (of {LEVEL} here, so that there is a tree; of 5 unless set).",
    )
    tree = chat.episodes()
    expect(tree[0].level > 1 and {one.first for one in leaves(tree)} >= {1}, "there is no tree of summaries")
    expect(max(one.last for one in leaves(tree)) == gone, "a turn that left is in no episode")
    draw(out, tree)
    reply = chat.reply(DOG, system=SYSTEM)
    summaries = model.sent.partition("=== SUMMARIES ===")[2].partition("=== END SUMMARIES ===")[0]
    expect(KNOWN in summaries, "the summaries do not answer the question")
    line(out, "alex asks", DOG)
    line(out, "the summary", f"… {KNOWN} …")
    line(out, "alex sees", reply.text)


def leaves(tree: Sequence[Episode]) -> list[Episode]:
    return [leaf for one in tree for leaf in (leaves(one.parts) if one.parts else [one])]


def draw(out: Console, tree: Sequence[Episode], depth: int = 0) -> None:
    for one in tree:
        head = f"{'   ' * depth}level {one.level}, turns {one.first}-{one.last}: "
        room = min(out.width, 100) - len(head) - 2
        summary = one.summary if len(one.summary) <= room else one.summary[:room].rsplit(" ", 1)[0] + " …"
        out.print(head + summary)
        draw(out, one.parts, depth + 1)


def show_facts(out: Console, kept: BlockingMemory, user: str) -> None:
    step(
        out,
        f"FACTS: what is known of {user}",
        "Read out of what alex said, with the day. A new value ends the old one.",
    )
    known = {fact.key: fact for fact in kept.facts(user=user)}
    grid = table("category", "key", "value", "said on", "in turn", right=("in turn",))
    for fact in known.values():
        grid.add_row(fact.category, fact.key, fact.value, day(fact.said_at), f"{fact.turn}")
    show_table(grid)
    past = kept.fact_history("location", user=user)
    expect([fact.value for fact in past] == ["Leiden", "Delft"], "the move is not in the history")
    out.print("history of location: " + "; ".join(f"{fact.value}, {span(fact)}" for fact in past))
    now = known["location"]
    (message,) = kept.why(now.id, user=user)
    expect(now.value == "Delft" and now.value in message.content, "the fact does not come from its message")
    out.print(f"why Delft? turn {message.turn}: “{message.content}”")


def day(moment: datetime | None) -> str:
    return "now" if moment is None else f"{moment:%Y-%m-%d}"


def span(fact: Fact) -> str:
    return f"{day(fact.valid_from)} to {day(fact.valid_to)}"
