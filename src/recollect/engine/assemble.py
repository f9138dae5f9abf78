"""Builds a context: what is sent to the model to have a message answered, never a token over its budget.

Sections come in a fixed order, what changes rarely first: the system prompt, what was retrieved, the history of the
window at its tiers, the last exchanges word for word, the message itself. Each has a budget; what is left over goes to
history. If there is not room for all, history gives way first, then what was retrieved, then recent messages. Past
messages other than the last exchanges stand in one fenced text, so that none of them can pose as anything else. Every
decision is on the receipt. The same state gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.errors import InvalidInput
from recollect.model import Budget, ChatMessage, Context, Hit, Item, Message, Receipt, Section, Tiers
from recollect.ports import Tokenizer
from recollect.rules import fences
from recollect.rules.budgets import PER_MESSAGE, PER_REPLY, fitting
from recollect.rules.raising import text_at, tier_now
from recollect.rules.tiers import write as offline_tiers

HISTORY, RETRIEVED, FOUND = "HISTORY", "RETRIEVED MEMORY", "SEARCH RESULTS"
SPOKEN = ("user", "assistant")
LARGE = 3  # a retrieved message that would take more than this part of the section's budget is shown at tier 2


@dataclass(frozen=True, slots=True)
class State:
    """What a context is made from, as of one moment. `window` has the messages before the current one, oldest first."""

    text: str
    instructions: str
    system: str | None
    conversation: str = ""
    window: Sequence[Message] = ()
    tiers: Mapping[int, Tiers] = field(default_factory=dict)
    relevance: Mapping[int, float] = field(default_factory=dict)
    retrieved: Sequence[Hit] = ()
    found: Sequence[Hit] = ()
    channel: bool = False
    raised_turns: int = 20


@dataclass(frozen=True, slots=True)
class Piece:
    """A past message as it would stand in the context, and what the receipt says of it."""

    turn: int
    text: fences.Fenced
    item: Item


def assemble(state: State, budget: Budget, tokenizer: Tokenizer) -> Context:
    """The context for a state. Raises InvalidInput if not even the system prompt and the message fit."""
    count = tokenizer.count
    head = "\n\n".join(part for part in (state.instructions, state.system) if part)
    system_cost = count(head) + PER_MESSAGE if head else 0
    current = count(state.text) + PER_MESSAGE
    room = checked_room(budget, system_cost, current)

    recent, not_recent = recent_messages(
        state, min(room, room if budget.recent is None else budget.recent), budget, count
    )
    room -= sum(item.tokens for _, item in recent)
    retrieved, not_retrieved = chosen(retrieved_pieces(state, budget, count), min(room, budget.retrieved), count)
    room -= sum(piece.item.tokens for piece in retrieved)
    shown = {message.turn for message, _ in recent}
    older = [message for message in state.window if message.turn not in shown]
    pieces = sorted(history_pieces(state, older, count), key=lambda piece: rank(state, piece))
    history, not_history = chosen(pieces, room, count)
    left = Left(tuple(not_retrieved), tuple(not_history), tuple(not_recent))
    return fitted(state, budget, tokenizer, head, retrieved, sorted(history, key=lambda p: p.turn), recent, left)


@dataclass(frozen=True, slots=True)
class Left:
    """What did not make it, by section."""

    retrieved: tuple[Item, ...]
    history: tuple[Item, ...]
    recent: tuple[Item, ...]


def checked_room(budget: Budget, system: int, current: int) -> int:
    if budget.total < 1:
        raise InvalidInput("budget", f"has {budget.total} tokens; it must have at least one")
    if system > budget.system + PER_MESSAGE:
        had = system - PER_MESSAGE
        raise InvalidInput("system", f"has {had} tokens with the standing text; the budget allows {budget.system}")
    room = budget.total - PER_REPLY - system - current
    if room < 0:
        raise InvalidInput(
            "text",
            f"has {current} tokens and the system text {system}; a budget of {budget.total} has no room for both",
        )
    return room


def recent_messages(
    state: State, allowed: int, budget: Budget, count: Callable[[str], int]
) -> tuple[list[tuple[Message, Item]], list[Item]]:
    """The last exchanges, word for word, newest first in, oldest first out; what does not fit goes to history."""
    spoken = [m for m in state.window if m.role in SPOKEN and m.content.strip()][-2 * budget.pairs :]
    costs = [count(words(m, state.channel)) + PER_MESSAGE for m in spoken]
    split = len(spoken) - fitting(costs, allowed)
    items = [
        Item(fences.label(f"m{m.turn}"), cost, "among the last exchanges")
        for m, cost in zip(spoken, costs, strict=True)
    ]
    out = [Item(item.id, item.tokens, "too long for the recent section") for item in items[:split]]
    return list(zip(spoken[split:], items[split:], strict=True)), out


def words(message: Message, channel: bool) -> str:
    """A message as it was said; in a channel, with who said it."""
    return (
        f"{fences.plain(message.author)}: {message.content}" if channel and message.role == "user" else message.content
    )


def history_pieces(state: State, older: Sequence[Message], count: Callable[[str], int]) -> list[Piece]:
    pieces = []
    now = state.window[-1].turn + 1 if state.window else 1
    for message in older:
        tiers = state.tiers.get(message.turn)
        if tiers is None or tiers.made_by == "none":
            made = offline_tiers(message.content, count)
            tiers = replace(tiers or Tiers(), tier1=made.tier1, tier2=made.tier2, made_by=made.made_by)
        asked = tier_now(tiers, now, state.raised_turns)
        text, tier = text_at(message, tiers, asked)
        reason = "the model asked for it" if asked > 1 else "in the window"
        pieces.append(piece_of(message, text, tier, reason, count, state.channel, message.conversation))
    return pieces


def retrieved_pieces(state: State, budget: Budget, count: Callable[[str], int]) -> list[Piece]:
    pieces = []
    here = {message.id for message in state.window}
    most = max(budget.retrieved // LARGE, 1)
    for hit, reason in [
        *((h, "found by the model's search") for h in state.found),
        *((h, "relevant") for h in state.retrieved),
    ]:
        if hit.message.id in here:
            continue
        here.add(hit.message.id)
        text, tier = hit.message.content, 3
        if count(text) > most:
            text, tier = offline_tiers(text, count).tier2, 2
        pieces.append(piece_of(hit.message, text, tier, f"{reason} ({hit.score:.1f})", count, True, state.conversation))
    return pieces


def piece_of(
    message: Message, text: str, tier: int, reason: str, count: Callable[[str], int], author: bool, conversation: str
) -> Piece:
    label = f"m{message.turn}" if message.conversation == conversation else message.id
    who = message.author if author and message.role == "user" else None
    when = message.time if reason.startswith(("relevant", "found")) else None
    fenced = fences.message(label, message.role, who, tier, text, when=when)
    return Piece(message.turn, fenced, Item(label, count(fenced) + 2, reason, tier))


def rank(state: State, piece: Piece) -> tuple[int, float, int]:
    """What goes in first when not all does: what the model asked for, then what is relevant, then what is newer."""
    return (0 if piece.item.reason.startswith("the model") else 1, -state.relevance.get(piece.turn, 0.0), -piece.turn)


def chosen(pieces: Sequence[Piece], allowed: int, count: Callable[[str], int]) -> tuple[list[Piece], list[Item]]:
    """The pieces that fit, in their order; a fence around them costs a few tokens too."""
    left, kept, out = allowed - FENCE_COST, list[Piece](), list[Item]()
    for piece in pieces:
        if piece.item.tokens <= left:
            left -= piece.item.tokens
            kept.append(piece)
        else:
            out.append(
                Item(
                    piece.item.id,
                    piece.item.tokens,
                    "does not fit the budget: others are more relevant",
                    piece.item.tier,
                )
            )
    return kept, out


FENCE_COST = 24  # tokens: the lines before and after a section


def fitted(
    state: State,
    budget: Budget,
    tokenizer: Tokenizer,
    head: str,
    retrieved: list[Piece],
    history: list[Piece],
    recent: list[tuple[Message, Item]],
    left: Left,
) -> Context:
    """Put it together and count it as a whole; while it is over, the last in is the first out."""
    while True:
        context = rendered(state, budget, tokenizer, head, retrieved, history, recent, left)
        if context.receipt.tokens <= budget.total:
            return context
        if history:
            gone = history.pop(0).item
            left = Left(
                left.retrieved,
                (*left.history, Item(gone.id, gone.tokens, "does not fit the budget", gone.tier)),
                left.recent,
            )
        elif retrieved:
            gone = retrieved.pop().item
            left = Left(
                (*left.retrieved, Item(gone.id, gone.tokens, "does not fit the budget", gone.tier)),
                left.history,
                left.recent,
            )
        elif recent:
            gone = recent.pop(0)[1]
            left = Left(
                left.retrieved,
                left.history,
                (*left.recent, Item(gone.id, gone.tokens, "does not fit the budget", gone.tier)),
            )
        else:
            raise InvalidInput("text", f"does not fit a budget of {budget.total} tokens")


def rendered(
    state: State,
    budget: Budget,
    tokenizer: Tokenizer,
    head: str,
    retrieved: Sequence[Piece],
    history: Sequence[Piece],
    recent: Sequence[tuple[Message, Item]],
    left: Left,
) -> Context:
    blocks = [head] if head else []
    sections = [Section("system", tokenizer.count(head) + PER_MESSAGE)] if head else []
    for name, title, pieces, out in (
        ("retrieved", RETRIEVED, retrieved, left.retrieved),
        ("history", HISTORY, history, left.history),
    ):
        if pieces:
            blocks.append(fences.section(title, [piece.text for piece in pieces]))
        if pieces or out:
            tokens = tokenizer.count("\n\n" + blocks[-1]) if pieces else 0
            sections.append(Section(name, tokens, tuple(piece.item for piece in pieces), out))
    if recent and state.instructions:
        labels = ", ".join(f"{item.id} {message.role}" for message, item in recent)
        blocks.append(f"The last {len(recent)} messages follow in full, at tier 3: {labels}.")
    messages: list[ChatMessage] = [{"role": "system", "content": "\n\n".join(blocks)}] if blocks else []
    messages += [{"role": message.role, "content": words(message, state.channel)} for message, _ in recent]
    messages.append({"role": "user", "content": state.text})
    if recent or left.recent:
        spent = sum(item.tokens for _, item in recent)
        spent += tokenizer.count("\n\n" + blocks[-1]) if recent and state.instructions else 0
        sections.append(Section("recent", spent, tuple(item for _, item in recent), left.recent))
    sections.append(Section("current", tokenizer.count(state.text) + PER_MESSAGE))
    total = PER_REPLY + sum(tokenizer.count(message["content"]) + PER_MESSAGE for message in messages)
    return Context(messages, Receipt(tokenizer.name, budget, total, tuple(sections)))
