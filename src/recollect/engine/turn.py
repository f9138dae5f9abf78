"""A turn: the user's message is kept, a context is built, the model answers and may ask for more, the reply is kept.

Whatever happens, the log stays true. The message is in it before the model is asked. A reply that was cut off, by the
model, by an error or by whoever stopped listening, is kept as far as the user saw it, and says that it is partial; one
of which nothing was seen is not kept, so no reply in the log is empty. What the model asks for in markers is served
inside the turn, a bounded number of times, and never seen by the user; each round leaves a receipt with the reply.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from recollect.engine.tables import log
from recollect.engine.tables.log import warn_of_damage
from recollect.engine.views import tiers
from recollect.errors import ModelNonsense, RecollectError
from recollect.model import ChatMessage, Context, Draft, Hit, Message, Reply, Round, Tiers
from recollect.ports import LLM, Completion, Request, Tx
from recollect.rules.log import MAX_CONTENT, SURROGATE
from recollect.rules.prompt.fences import seen
from recollect.rules.prompt.markers import TierRequest
from recollect.rules.prompt.reply_filter import Held, Holding
from recollect.rules.tiers import tiers as tier_rules
from recollect.tasks import reply as reply_task

logger = logging.getLogger("recollect.turn")

KEY = "recollect"  # in the metadata of a reply: what the turn did
LABEL = re.compile(r"m(\d{1,9})")
PAGE = 4_096  # characters looked at together
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
    append: Callable[[Tx, log.Batch, Any], Message] = lambda tx, batch, now: log.append(tx, batch, now)[0].message


@dataclass(slots=True)
class Turn:
    """What a turn has done so far. `told` is what else is to be kept of the reply, beside what was seen."""

    asked: Message
    told: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    found: list[Hit] = field(default_factory=list)
    inline: str | None = None
    complete: bool = True
    context: Context | None = None
    reply: Message | None = None
    kept: bool = False
    ended: bool = False

    @property
    def shown(self) -> str:
        """What the user has seen of the reply."""
        return "".join(self.said)


async def stream(turn: Turn, tools: Tools) -> AsyncGenerator[str]:
    """The reply piece by piece, as it is made; when it ends, it is in the log."""
    try:
        async with aclosing(rounds(turn, tools, streaming=True)) as pieces:
            async for piece in pieces:
                if turn.ended:
                    raise RecollectError("the memory was closed during this turn; open it again and ask again")
                turn.said.append(piece)
                yield piece
    except BaseException:
        await cut_off(turn, tools)
        raise
    await seen_through(keep(turn, tools, partial=not turn.complete))


async def answer(turn: Turn, tools: Tools) -> Reply:
    """The whole reply at once: that of the last round."""
    async for piece in rounds(turn, tools, streaming=False):
        turn.said.append(piece)
    await seen_through(keep(turn, tools, partial=not turn.complete))
    assert turn.reply is not None
    assert turn.context is not None
    return Reply(turn.shown, turn.reply, turn.context.receipt, tuple(turn.rounds))


async def rounds(turn: Turn, tools: Tools, *, streaming: bool) -> AsyncGenerator[str]:
    """Ask the model until it asks for nothing more, or has asked often enough.

    A reply that neither says nor asks anything is asked for once more: small models write the block of tiers and
    forget the answer, so the second time it is not asked for.
    """
    left, block, apart = tools.rounds, True, ""
    while True:
        turn.context = await tools.context(turn.asked, turn.found)
        messages = turn.context.messages if block else without_block(turn.context.messages)
        holding, cost = Holding(), Completion("", tools.model.name, 0, 0)
        async with aclosing(heard(tools.model, messages, streaming)) as source:
            async for piece in source:
                if isinstance(piece, Completion):
                    cost = piece
                elif (out := holding.feed(piece)) and streaming:
                    yield apart + out
                    apart = ""
        held = holding.finish()
        asks, last = held.markers.asks, not (held.markers.asks and left)
        rest = remaining(held, last, streaming)
        if rest:
            yield apart + rest
        if not last:
            left -= 1
            apart = BREAK if streaming and not is_blank(turn.shown) else ""
            turn.rounds.append(await serve(turn, tools, held, cost))
            continue
        turn.rounds.append(receipt_of(turn, cost))
        if asks or not block or not is_blank(held.markers.text + rest):
            break
        block = False
    turn.inline, turn.complete = held.inline, cost.complete or held.inline is not None
    if is_blank(turn.shown):
        what = "only requests for more" if asks else "only notes for the memory" if held.inline else "only empty ones"
        raise ModelNonsense(f"{cost.model} gave no reply in {len(turn.rounds)} calls, {what}; ask again")


def remaining(held: Held, last: bool, streaming: bool) -> str:
    """What is still to be shown when the model has said all. Behind the block stands the answer, or nothing new."""
    if is_blank(held.markers.text):
        return held.after if last else ""
    if streaming:
        return held.text_to_show
    return held.markers.text if last else ""


async def heard(model: LLM, messages: Sequence[ChatMessage], streaming: bool) -> AsyncGenerator[str | Completion]:
    """What the model says, as far as it is text, and last what that cost."""
    request = Request(messages)
    if streaming:
        async with aclosing(model.stream(request)) as source:  # type: ignore[type-var]
            async for piece in source:
                yield piece if isinstance(piece, Completion) else as_text(piece)
        return
    whole = await model.complete(request)
    yield as_text(whole.text)
    yield whole


def as_text(piece: str) -> str:
    """What can be kept: a reply that was shown and could not be stored would leave the log untrue."""
    return SURROGATE.sub("\ufffd", piece.replace("\x00", ""))


def is_blank(text: str) -> bool:
    """Whether there is nothing to see. Mostly the beginning tells."""
    return not any(seen(text[start : start + PAGE]).strip() for start in range(0, len(text), PAGE))


def without_block(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The same context, with no request for the block of tiers: a little shorter, never longer."""
    first, *others = messages
    before, _, after = first["content"].partition(reply_task.instructions(asking=False))
    rest = "\n\n".join(part for part in (before.rstrip("\n"), after.lstrip("\n")) if part)
    return [ChatMessage(role=first["role"], content=rest), *others] if rest else others


async def serve(turn: Turn, tools: Tools, held: Held, cost: Completion) -> Round:
    """Give the model what it asked for: raise tiers, search. What is not of this conversation changes nothing."""
    asked = turn.asked
    raised = await tools.write(lambda tx: raise_tiers(tx, asked, held.markers.tiers, tools.raised_turns))
    for words in held.markers.searches:
        known = {hit.message.id for hit in turn.found}
        turn.found += [
            hit for hit in await tools.search(words) if hit.message.id not in known and hit.message.id != asked.id
        ]
    ids = tuple(hit.message.id for hit in turn.found)
    return receipt_of(turn, cost, tuple(raised), held.markers.searches, ids)


def receipt_of(
    turn: Turn,
    cost: Completion,
    raised: tuple[tuple[int, int], ...] = (),
    searches: tuple[str, ...] = (),
    found: tuple[str, ...] = (),
) -> Round:
    return Round(len(turn.rounds) + 1, raised, searches, found, cost.tokens_in, cost.tokens_out, cost.model)


def raise_tiers(tx: Tx, asked: Message, requests: Sequence[TierRequest], raised_turns: int) -> list[tuple[int, int]]:
    """The turns and tiers that were raised: only messages of this conversation, before the one being answered."""
    done = []
    for request in requests:
        turn = turn_of(tx, asked, request.id)
        if turn is not None and 0 < turn < asked.turn:
            tiers.raise_tier(tx, asked.space, asked.conversation, turn, request.tier, asked.turn, raised_turns)
            done.append((turn, request.tier))
    return done


def turn_of(tx: Tx, asked: Message, id: str) -> int | None:
    label = LABEL.fullmatch(id)
    if label:
        return int(label[1])
    for message in tx.find_messages(asked.space, ids=[id], damaged=warn_of_damage):
        if message.conversation == asked.conversation and not message.erased:
            return message.turn
    return None


async def keep(turn: Turn, tools: Tools, *, partial: bool) -> None:
    """Put the reply into the log, once, and the tiers that came with it beside it."""
    if turn.kept:
        return
    turn.kept = True
    asked, now = turn.asked, tools.now()
    about: dict[str, Any] = {"rounds": [round_note(one) for one in turn.rounds]}
    content = turn.shown.strip()
    kept = content.encode()[:MAX_CONTENT].decode(errors="ignore")
    partial = partial or len(kept) < len(content)  # what is beyond what the log takes; the rest is better than nothing
    if partial:
        about["partial"] = True
    draft = Draft("assistant", kept, user=asked.user, metadata={**turn.told, KEY: about})
    inline = reply_task.parse_inline(turn.inline) if turn.inline and not partial else None
    # With its id drawn beforehand, a transaction that is run again finds what the first run has kept.
    batch = log.drawn(log.Batch(asked.space, asked.conversation, None, [draft]), now)

    def write(tx: Tx) -> Message:
        message = tools.append(tx, batch, now)
        if inline is not None:
            given = ((asked, inline.user1, inline.user2), (message, inline.reply1, inline.reply2))
            spoken = [(m, one, two) for m, one, two in given if (one or two) and m.role in ("user", "assistant")]
            made = {m.turn: accepted(m, one, two, tools.count) for m, one, two in spoken}
            tiers.put_tiers(tx, message.space, message.conversation, made)
        return message

    turn.reply = await tools.write(write)
    tools.woken()


async def end(turn: Turn, tools: Tools) -> None:
    """The memory closes: keep what was seen while that is possible; nothing more is shown."""
    turn.ended = True
    await cut_off(turn, tools)


async def cut_off(turn: Turn, tools: Tools) -> None:
    """Keep what was seen of a reply that did not end. Why it did not is raised by the caller, whatever happens here."""
    if is_blank(turn.shown):
        return
    try:
        await seen_through(keep(turn, tools, partial=True))
    except RecollectError as error:
        logger.warning("a reply that was cut off could not be kept: %s", error)


async def seen_through(work: Coroutine[Any, Any, None]) -> None:
    """Do this to its end; a cancellation that comes meanwhile waits for it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


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
