"""A turn: the user's message is kept, a context is built, the model answers and may ask for more, the reply is kept.

Whatever happens, the log stays true. The message is in it before the model is asked. A reply that was cut off is kept
as far as the user saw it, and says that it is partial. What the model asks for in markers is served inside the turn,
a bounded number of times, and never seen by the user; each round leaves a receipt with the reply.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from recollect.engine import log, tiering
from recollect.errors import ModelError, ModelNonsense
from recollect.model import Context, Draft, Hit, Message, Reply, Round, Tiers
from recollect.ports import LLM, Completion, Request, Tx
from recollect.rules import tiers as tier_rules
from recollect.rules.holding import Held, Holding
from recollect.rules.markers import TierRequest
from recollect.tasks import reply as reply_task

KEY = "recollect"  # in the metadata of a reply: what the turn did
LABEL = re.compile(r"m(\d{1,9})")
BREAK = "\n\n"  # between what was said before the model asked for more and what it said after


@dataclass(frozen=True, slots=True)
class Tools:
    """What a turn works with: the model, and the memory as the conversation sees it."""

    model: LLM
    context: Callable[[Message, Sequence[Hit]], Awaitable[Context]]
    search: Callable[[str], Awaitable[list[Hit]]]
    write: Callable[[Callable[[Tx], Any]], Awaitable[Any]]
    count: Callable[[str], int]
    now: Callable[[], Any]
    woken: Callable[[], None]
    rounds: int
    raised_turns: int


@dataclass(slots=True)
class Turn:
    """What a turn has done so far."""

    asked: Message
    shown: str = ""
    rounds: list[Round] = field(default_factory=list)
    found: list[Hit] = field(default_factory=list)
    inline: str | None = None
    context: Context | None = None
    reply: Message | None = None


async def stream(turn: Turn, tools: Tools) -> AsyncGenerator[str]:
    """The reply piece by piece, as it is made; when it ends, it is in the log."""
    try:
        async with aclosing(rounds(turn, tools, streaming=True)) as pieces:
            async for piece in pieces:
                turn.shown += piece
                yield piece
    except (asyncio.CancelledError, GeneratorExit, ModelError):
        if turn.shown.strip():
            await asyncio.shield(keep(turn, tools, partial=True))
        raise
    await keep(turn, tools, partial=False)


async def answer(turn: Turn, tools: Tools) -> Reply:
    """The whole reply at once: that of the last round."""
    async for piece in rounds(turn, tools, streaming=False):
        turn.shown += piece
    await keep(turn, tools, partial=False)
    assert turn.reply is not None
    assert turn.context is not None
    return Reply(turn.shown, turn.reply, turn.context.receipt, tuple(turn.rounds))


async def rounds(turn: Turn, tools: Tools, *, streaming: bool) -> AsyncGenerator[str]:
    """Ask the model until it asks for nothing more, or has asked often enough."""
    for number in range(tools.rounds + 1):
        turn.context = await tools.context(turn.asked, turn.found)
        holding, shown = Holding(), ""
        async for piece in asked_of(tools.model, turn.context, streaming):
            if isinstance(piece, Completion):
                cost = piece
            elif (out := holding.feed(piece)) and streaming:
                shown += out
                yield out
        held = holding.finish()
        last = number == tools.rounds or not held.markers.asks
        rest = held.text_to_show if streaming else held.markers.text if last else ""
        if rest:
            yield rest
        if last:
            turn.inline = held.inline
            turn.rounds.append(Round(number + 1, (), (), (), cost.tokens_in, cost.tokens_out, cost.model))
            if not (turn.shown + rest).strip():
                raise ModelNonsense(
                    f"{cost.model} gave no reply, only {len(turn.rounds) - 1} requests for more; ask again"
                )
            return
        if streaming and held.markers.text.strip():
            yield BREAK
        turn.rounds.append(await serve(turn, tools, held, number + 1, cost))


async def asked_of(model: LLM, context: Context, streaming: bool) -> AsyncIterator[str | Completion]:
    request = Request(context.messages)
    if streaming:
        async with aclosing(model.stream(request)) as source:  # type: ignore[type-var]
            async for piece in source:
                yield piece
        return
    whole = await model.complete(request)
    yield whole.text
    yield whole


async def serve(turn: Turn, tools: Tools, held: Held, number: int, cost: Completion) -> Round:
    """Give the model what it asked for: raise tiers, search. What is not of this conversation changes nothing."""
    asked = turn.asked
    raised = await tools.write(lambda tx: raise_tiers(tx, asked, held.markers.tiers, tools.raised_turns))
    for words in held.markers.searches:
        known = {hit.message.id for hit in turn.found}
        turn.found += [
            hit for hit in await tools.search(words) if hit.message.id not in known and hit.message.id != asked.id
        ]
    ids = tuple(hit.message.id for hit in turn.found)
    return Round(number, tuple(raised), held.markers.searches, ids, cost.tokens_in, cost.tokens_out, cost.model)


def raise_tiers(tx: Tx, asked: Message, requests: Sequence[TierRequest], raised_turns: int) -> list[tuple[int, int]]:
    """The turns and tiers that were raised: only messages of this conversation, before the one being answered."""
    done = []
    for request in requests:
        turn = turn_of(tx, asked, request.id)
        if turn is not None and 0 < turn < asked.turn:
            tiering.raise_tier(tx, asked.space, asked.conversation, turn, request.tier, asked.turn, raised_turns)
            done.append((turn, request.tier))
    return done


def turn_of(tx: Tx, asked: Message, id: str) -> int | None:
    label = LABEL.fullmatch(id)
    if label:
        return int(label[1])
    for message in tx.find_messages(asked.space, ids=[id]):
        if message.conversation == asked.conversation and not message.erased:
            return message.turn
    return None


async def keep(turn: Turn, tools: Tools, *, partial: bool) -> None:
    """Put the reply into the log, and the tiers that came with it beside it."""
    asked, text = turn.asked, turn.shown.strip()
    about: dict[str, Any] = {"rounds": [round_note(one) for one in turn.rounds]}
    if partial:
        about["partial"] = True
    draft = Draft("assistant", text, user=asked.user, metadata={KEY: about})
    inline = reply_task.parse_inline(turn.inline) if turn.inline and not partial else None

    def write(tx: Tx) -> Message:
        batch = log.Batch(asked.space, asked.conversation, None, [draft])
        message = log.append(tx, batch, tools.now())[0].message
        if inline is not None:
            given = ((asked, inline.user1, inline.user2), (message, inline.reply1, inline.reply2))
            made = {m.turn: accepted(m, one, two, tools.count) for m, one, two in given if one or two}
            tiering.put_tiers(tx, asked.space, asked.conversation, made)
        return message

    turn.reply = await tools.write(write)
    tools.woken()


def accepted(message: Message, one: str, two: str, count: Callable[[str], int]) -> Tiers:
    if tier_rules.is_short(message.content, count):
        return Tiers()
    checked = tier_rules.accept(one, two, message.content, count)
    return Tiers(checked.tiers.tier1, checked.tiers.tier2, "offline" if checked.faults else "model")


def round_note(one: Round) -> dict[str, Any]:
    note: dict[str, Any] = {"model": one.model, "tokens_in": one.tokens_in, "tokens_out": one.tokens_out}
    if one.raised:
        note["raised"] = [[turn, tier] for turn, tier in one.raised]
    if one.searches:
        note["searches"] = list(one.searches)
    return note
