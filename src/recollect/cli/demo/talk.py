"""The steps of the demo about a conversation: the context, a turn with the model, episodes, facts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.cli.demo.stage import LEVEL, ScriptedModel, expect, print_line, print_step
from recollect.cli.terminal.show import plural, show_table, table
from recollect.context.prompt import InlineTiers, render_inline
from recollect.model import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from rich.console import Console

    from recollect.memory.sync import BlockingConversation, BlockingMemory
    from recollect.model import Episode, Fact

SYSTEM = "You are Alex's assistant. Be brief."
BUDGET = 900  # tokens: small enough for something to be left out
ABOUT = {
    "system": "your prompt, and how to ask for more",
    "profile": "what is known of alex",
    "summaries": "of what has left the window",
    "topic": "what was said before on this topic",
    "retrieved": "what search found for this question",
    "history": "older messages of the window, shortened",
    "recent": "the last exchanges, word for word",
    "current": "the question",
}

QUESTION = "So which database do the two shops share?"
RECIPE = 32  # the turn of the recipe
HIDDEN = "9 l stock"  # what only its full text says
SOUP = "Twice as many guests tomorrow. What must Noor fetch?"
ASKS = f"[REQUEST_TIER:3:m{RECIPE}]"
SAYS = "18 l of stock, not 9. The rest doubles too: 4 kg carrots, 2 kg onions, 6 kg lentils."
NOTES = InlineTiers(reply1="stock = 18 l; lentils = 6 kg", reply2="18 l of stock, and the rest doubles.")
CLOSED = "How long was the bakery closed when I went to Japan?"
KNOWN = "we close for two weeks in March"
LINES = (ASKS, f"{SAYS}\n{render_inline(NOTES)}", "For two weeks, in March.")


def show_context(out: Console, chat: BlockingConversation) -> None:
    print_step(
        out, f"CONTEXT: {QUESTION}", f"What a model would be sent, in {BUDGET} tokens at most, and the receipt for it."
    )
    receipt = chat.context(QUESTION, budget=Budget(total=BUDGET), system=SYSTEM).receipt
    grid = table("section", "tokens", "in", "left out", "what it is", right=("tokens", "in", "left out"))
    for section in receipt.sections:
        item_count = f"{len(section.items)}" if section.items or section.left_out else "1"
        grid.add_row(section.name, f"{section.tokens:,}", item_count, f"{len(section.left_out)}", ABOUT[section.name])
    show_table(grid)
    expect(receipt.tokens <= BUDGET, f"the context has {receipt.tokens} tokens")
    expect(any(section.left_out for section in receipt.sections), "nothing was left out")
    out.print(
        f"together {receipt.tokens:,} tokens, counted as {receipt.tokenizer} counts; what is left out stays in the log"
    )


def show_turn(out: Console, file: Path, chat: BlockingConversation, model: ScriptedModel) -> None:
    print_step(
        out,
        f"TURN: {SOUP}",
        "The model is SCRIPTED: the demo needs no key. What no search finds is short, until it asks for more.",
    )
    reply = chat.reply(SOUP, system=SYSTEM)
    first, second = reply.rounds
    before, after = (request.messages[0]["content"] for request in model.requests)
    label = f"MESSAGE[m{RECIPE}]"
    expect(HIDDEN not in before and HIDDEN in after, "the model was not given what it asked for")
    expect(first.raised == ((RECIPE, 3),), f"raised were {first.raised}")
    print_line(
        out,
        "memory sends",
        f"{first.tokens_in} tokens, with turn {RECIPE}, the recipe, at tier 1: {line_below(before, label)}",
    )
    print_line(out, "model writes", ASKS)
    print_line(
        out, "memory sends", f"{second.tokens_in} tokens, with turn {RECIPE} at tier 3: {line_below(after, label)}"
    )
    print_line(out, "model writes", " ".join(LINES[1].split()))
    expect(reply.text == SAYS == chat.history(limit=1)[0].content, "the user was shown something else")
    print_line(out, "alex sees", f"{reply.text}")
    tokens = sum(model_round.tokens_in + model_round.tokens_out for model_round in reply.rounds)
    cost = f"{plural(len(reply.rounds), 'round')}, {tokens:,} tokens"
    out.print(f"{cost}. From the block, which alex does not see, the reply has its tiers:")
    tier1, tier2 = read_tiers(file, reply.message.turn)
    expect((tier1, tier2) == (NOTES.reply1, NOTES.reply2), "the tiers the model gave were not kept")
    for tier, text in enumerate((tier1, tier2, reply.text), start=1):
        print_line(out, f"  tier {tier}", text)


def line_below(text: str, label: str) -> str:
    """The line that follows the one with this label."""
    lines = text.splitlines()
    return next(next_line for label_line, next_line in pairwise(lines) if label_line.startswith(label))


def read_tiers(file: Path, turn: int) -> tuple[str, str]:
    with closing(sqlite3.connect(file)) as store:
        tier1, tier2 = store.execute("SELECT tier1, tier2 FROM tiers WHERE turn = ?", (turn,)).fetchone()
    return tier1, tier2


def show_episodes(out: Console, chat: BlockingConversation, model: ScriptedModel) -> None:
    archive_end = chat.archived()[-1].last
    print_step(
        out,
        f"EPISODES: turns 1 to {archive_end} have left the window, not the log",
        f"Contexts show summaries of them, in levels (of {LEVEL} here, so that there is a tree; of 5 unless set).",
    )
    tree = chat.episodes()
    expect(tree[0].level > 1 and {episode.first for episode in leaves(tree)} >= {1}, "there is no tree of summaries")
    expect(max(episode.last for episode in leaves(tree)) == archive_end, "a turn that left is in no episode")
    print_tree(out, tree)
    reply = chat.reply(CLOSED, system=SYSTEM)
    summaries = model.last_prompt.partition("=== SUMMARIES ===")[2].partition("=== END SUMMARIES ===")[0]
    expect(KNOWN in summaries, "the summaries do not answer the question")
    print_line(out, "the summary", f"answers “{CLOSED}”: … {KNOWN} …")
    print_line(out, "alex sees", reply.text)


def leaves(tree: Sequence[Episode]) -> list[Episode]:
    return [leaf for episode in tree for leaf in (leaves(episode.parts) if episode.parts else [episode])]


def print_tree(out: Console, tree: Sequence[Episode], depth: int = 0) -> None:
    for episode in tree:
        head = f"{'   ' * depth}level {episode.level}, turns {episode.first}-{episode.last}: "
        room = min(out.width, 100) - len(head) - 2
        summary = episode.summary if len(episode.summary) <= room else episode.summary[:room].rsplit(" ", 1)[0] + " …"
        out.print(head + summary)
        print_tree(out, episode.parts, depth + 1)


def show_facts(out: Console, memory: BlockingMemory, user: str) -> None:
    print_step(
        out,
        f"FACTS: what is known of {user}",
        "Read out of what alex said, with the day. A new value ends the old one.",
    )
    facts = {fact.key: fact for fact in memory.facts(user=user)}
    grid = table("category", "key", "value", "said on", "in turn", right=("in turn",))
    for fact in facts.values():
        grid.add_row(fact.category, fact.key, fact.value, format_day(fact.said_at), f"{fact.turn}")
    show_table(grid)
    history = memory.fact_history("location", user=user)
    expect([fact.value for fact in history] == ["Leiden", "Delft"], "the move is not in the history")
    out.print("history of location: " + "; ".join(f"{fact.value}, {format_span(fact)}" for fact in history))
    current = facts["location"]
    (message,) = memory.why(current.id, user=user)
    expect(current.value == "Delft" and current.value in message.content, "the fact does not come from its message")
    out.print(f"why Delft? turn {message.turn}: “{message.content}”")


def format_day(moment: datetime | None) -> str:
    return "now" if moment is None else f"{moment:%Y-%m-%d}"


def format_span(fact: Fact) -> str:
    return f"{format_day(fact.valid_from)} to {format_day(fact.valid_to)}"
