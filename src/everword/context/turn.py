"""A turn: the user's message is kept, a context is built, the model answers and may ask for more, the reply is kept.

The log stays correct in every case. The message is in it before the model is asked. A reply that was cut off, by the
model, by an error or because the caller stopped listening, is kept as far as the user saw it, marked as partial; if
nothing was seen, it is not kept, so no reply in the log is empty. What the model asks for by markers is served inside
the turn, a limited number of times, and is never shown to the user; each round leaves a receipt with the reply.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from everword.context import receipts
from everword.context import reply_markers as reply_task
from everword.context.reply_markers import ReplyEnd, ReplyFilter, TierRequest
from everword.errors import EverwordError, ModelNonsense
from everword.log import append_and_read as log
from everword.log.append_and_read import warn_of_damage
from everword.log.checks_and_seals import MAX_CONTENT, SURROGATE
from everword.log.secret_policy import mask_repeated
from everword.masking import masked_logger
from everword.model import Batch, ChatMessage, Context, Draft, Hit, Message, Reply, Round, Tiers
from everword.model.log import NOTES
from everword.ports import LLM, Completion, Request, Tokenizer, Tx
from everword.summaries import tiers
from everword.summaries.rules import shortened_messages as tier_rules
from everword.text.escaping import strip_invisible

logger = masked_logger("everword.turn")

LABEL = re.compile(r"m(\d{1,9})")
PAGE = 4_096  # characters checked at a time
BREAK = "\n\n"  # between the text before a request for more and the text after it


@dataclass(frozen=True, slots=True)
class TurnTools:
    """What a turn needs: the model, and access to the memory of the conversation. `write` writes what can be done
    without, which it is given instead if the store takes nothing; `keep` writes the reply."""

    model: LLM
    context: Callable[[Message, Sequence[Hit]], Awaitable[Context]]
    search: Callable[[str], Awaitable[list[Hit]]]
    write: Callable[[Callable[[Tx], Any], Any], Awaitable[Any]]
    keep: Callable[[Batch, Callable[[Tx], Message]], Awaitable[Message]]
    tokenizer: Tokenizer
    now: Callable[[], Any]
    rounds: int
    raised_turns: int
    append: Callable[[Tx, Batch, Any, Collection[str]], Message]


@dataclass(slots=True)
class Turn:
    """The state of a turn. `told` is metadata to keep with the reply, beside the text that was seen; `reply_id` is the
    id it is to have, if that is known before."""

    asked: Message
    reply_id: str | None = None
    told: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    found: list[Hit] = field(default_factory=list)
    inline: str | None = None
    complete: bool = True
    context: Context | None = None
    reply: Message | None = None
    is_kept: bool = False
    ended: bool = False

    @property
    def visible_text(self) -> str:
        """The text of the reply that the user has seen."""
        return "".join(self.said)


async def stream(turn: Turn, tools: TurnTools) -> AsyncGenerator[str]:
    """Yield the reply piece by piece, as it is written; when the stream ends, the reply is in the log."""
    try:
        async with aclosing(run_rounds(turn, tools, streaming=True)) as pieces:
            async for piece in pieces:
                if turn.ended:
                    raise EverwordError(
                        "the memory was closed before the reply was complete; open the memory again and repeat the "
                        "question"
                    )
                turn.said.append(piece)
                yield piece
    except BaseException:
        await keep_partial_reply(turn, tools)
        raise
    await run_to_end(keep_reply(turn, tools, partial=not turn.complete))


async def answer(turn: Turn, tools: TurnTools) -> Reply:
    """The whole reply at once, from the last round."""
    async for piece in run_rounds(turn, tools, streaming=False):
        turn.said.append(piece)
    await run_to_end(keep_reply(turn, tools, partial=not turn.complete))
    assert turn.reply is not None
    assert turn.context is not None
    degraded = turn.reply.degraded
    return Reply(turn.visible_text, turn.reply, turn.context.receipt, tuple(turn.rounds), degraded)


async def run_rounds(turn: Turn, tools: TurnTools, *, streaming: bool) -> AsyncGenerator[str]:
    """Ask the model until it requests nothing more, or has no rounds left.

    If a reply neither says nor requests anything, the model is asked once more, without the request for the block of
    tiers: small models write that block and forget the answer.
    """
    rounds_left = tools.rounds
    asks_for_block = True
    separator = ""
    while True:
        turn.context = await tools.context(turn.asked, turn.found)
        messages = turn.context.messages if asks_for_block else without_tier_block(turn.context.messages)
        reply_filter = ReplyFilter()
        cost = Completion("", tools.model.name, 0, 0)
        request = Request(messages, cache_key=cache_key(turn.asked))
        async with aclosing(model_pieces(tools.model, request, streaming)) as source:
            async for piece in source:
                if isinstance(piece, Completion):
                    cost = piece
                elif (visible := reply_filter.feed(piece)) and streaming:
                    yield separator + visible
                    separator = ""
        output = reply_filter.finish()
        asks = output.markers.asks
        is_last = not (asks and rounds_left)
        tail = remaining_text(output, is_last, streaming)
        if tail:
            yield separator + tail
        if not is_last:
            rounds_left -= 1
            separator = BREAK if streaming and not is_blank(turn.visible_text) else ""
            turn.rounds.append(await serve_requests(turn, tools, output, cost))
            continue
        turn.rounds.append(round_receipt(turn, cost))
        if asks or not asks_for_block or not is_blank(output.markers.text + tail):
            break
        asks_for_block = False
    turn.inline = output.inline
    turn.complete = cost.complete or output.inline is not None
    if is_blank(turn.visible_text):
        content_kind = (
            "only requests for more" if asks else "only notes for the memory" if output.inline else "only empty ones"
        )
        raise ModelNonsense(f"{cost.model} gave no reply in {len(turn.rounds)} calls, {content_kind}; ask again")


def remaining_text(output: ReplyEnd, is_last: bool, streaming: bool) -> str:
    """The text still to be shown when the model has ended. After the block of tiers comes the answer, or nothing."""
    if is_blank(output.markers.text):
        return output.after if is_last else ""
    if streaming:
        return output.text_to_show
    return output.markers.text if is_last else ""


def cache_key(question: Message) -> str:
    """What the prompts of one conversation have in common, for a server that keeps their beginnings; no id is told."""
    return sha256(f"{question.space}\n{question.conversation}".encode()).hexdigest()[:32]


async def model_pieces(model: LLM, request: Request, streaming: bool) -> AsyncGenerator[str | Completion]:
    """Yield the pieces of text that the model writes, and last the completion with its cost."""
    if streaming:
        async with aclosing(model.stream(request)) as source:  # type: ignore[type-var]
            async for piece in source:
                yield piece if isinstance(piece, Completion) else storable_text(piece)
        return
    completion = await model.complete(request)
    yield storable_text(completion.text)
    yield completion


def storable_text(piece: str) -> str:
    """The text without characters that no store can keep: a reply that is shown must also be kept."""
    return SURROGATE.sub("\ufffd", piece.replace("\x00", ""))


def is_blank(text: str) -> bool:
    """Whether a text has nothing to see. It is checked page by page, since mostly the first page decides."""
    return not any(strip_invisible(text[start : start + PAGE]).strip() for start in range(0, len(text), PAGE))


def without_tier_block(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The same context without the request for the block of tiers: a little shorter, never longer."""
    shorter = list[ChatMessage]()
    for message in messages:
        before, request, after = message["content"].partition(reply_task.instructions(asking=False))
        content = "\n\n".join(part for part in (before.rstrip("\n"), after.lstrip("\n")) if part)
        is_request = message["role"] == "system" and request
        if content or not is_request:
            shorter.append(ChatMessage(role=message["role"], content=content) if is_request else message)
    return shorter


async def serve_requests(turn: Turn, tools: TurnTools, output: ReplyEnd, cost: Completion) -> Round:
    """Raise tiers and search, as the model requested. Requests outside this conversation change nothing."""
    question = turn.asked

    def write(tx: Tx) -> list[tuple[int, int]]:
        return raise_tiers(tx, question, output.markers.tiers, tools.raised_turns)

    raised_tiers: list[tuple[int, int]] = await tools.write(write, [])
    for query in output.markers.searches:
        known_ids = {hit.message.id for hit in turn.found}
        turn.found += [
            hit
            for hit in await tools.search(query)
            if hit.message.id not in known_ids and hit.message.id != question.id
        ]
    ids = tuple(hit.message.id for hit in turn.found)
    return round_receipt(turn, cost, tuple(raised_tiers), output.markers.searches, ids)


def round_receipt(
    turn: Turn,
    cost: Completion,
    raised_tiers: tuple[tuple[int, int], ...] = (),
    searches: tuple[str, ...] = (),
    hit_ids: tuple[str, ...] = (),
) -> Round:
    return Round(len(turn.rounds) + 1, raised_tiers, searches, hit_ids, cost.tokens_in, cost.tokens_out, cost.model)


def raise_tiers(tx: Tx, question: Message, requests: Sequence[TierRequest], raised_turns: int) -> list[tuple[int, int]]:
    """Raise tiers of messages of this conversation before the question; returns the turns and their tiers."""
    raised_tiers = []
    for request in requests:
        turn = find_requested_turn(tx, question, request.id)
        if turn is not None and 0 < turn < question.turn:
            tiers.raise_tier(tx, question.space, question.conversation, turn, request.tier, question.turn, raised_turns)
            raised_tiers.append((turn, request.tier))
    return raised_tiers


def find_requested_turn(tx: Tx, question: Message, id: str) -> int | None:
    label = LABEL.fullmatch(id)
    if label:
        return int(label[1])
    for message in tx.find_messages(question.space, ids=[id], damaged=warn_of_damage):
        if message.conversation == question.conversation and not message.erased:
            return message.turn
    return None


async def keep_reply(turn: Turn, tools: TurnTools, *, partial: bool) -> None:
    """Append the reply to the log, once, with the tiers that came with it."""
    if turn.is_kept:
        return
    turn.is_kept = True
    question = turn.asked
    now = tools.now()
    summary: dict[str, Any] = {"rounds": [round_note(turn_round) for turn_round in turn.rounds]}
    content = turn.visible_text.strip()
    stored_content = content.encode()[:MAX_CONTENT].decode(errors="ignore")
    partial = partial or len(stored_content) < len(content)  # the log does not take more; a part is better than nothing
    if partial:
        summary["partial"] = True
    metadata = {**turn.told, NOTES: summary}
    draft = Draft("assistant", stored_content, user=question.user, metadata=metadata, id=turn.reply_id)
    inline = reply_task.parse_inline(turn.inline) if turn.inline and not partial else None
    # The id is drawn before: if the transaction runs again, it finds what the first run has kept.
    batch = log.with_ids(Batch(question.space, question.conversation, None, [draft]), now)

    fresh_ids = log.draft_ids([batch])

    def write(tx: Tx) -> Message:
        nonlocal fresh_ids
        message = tools.append(tx, batch, now, fresh_ids)
        fresh_ids = set()
        if question.degraded is None and turn.context is not None:  # else its turn may be another now
            receipts.put_receipt(tx, question, message, turn.context, turn.rounds, now)
        if inline is not None and question.degraded is None:
            exchange = (question, message)  # who wrote these tiers has read both
            proposals = (
                (question, mask_repeated(inline.user1, exchange), mask_repeated(inline.user2, exchange)),
                (message, mask_repeated(inline.reply1, exchange), mask_repeated(inline.reply2, exchange)),
            )
            accepted = {m.turn: accept_tiers(m, tier1, tier2, tools.tokenizer) for m, tier1, tier2 in proposals}
            tiers_by_turn = {turn: value for turn, value in accepted.items() if value is not None}
            tiers.put_tiers(tx, message.space, message.conversation, tiers_by_turn)
        return message

    turn.reply = await tools.keep(batch, write)


async def end_turn(turn: Turn, tools: TurnTools) -> None:
    """End a turn because the memory closes: keep what was seen while that is possible; nothing more is shown."""
    turn.ended = True
    await keep_partial_reply(turn, tools)


async def keep_partial_reply(turn: Turn, tools: TurnTools) -> None:
    """Keep what was seen of a reply that did not end. A failure is only logged: the caller raises the reason."""
    if is_blank(turn.visible_text):
        return
    try:
        await run_to_end(keep_reply(turn, tools, partial=True))
    except EverwordError as error:
        logger.warning("a reply that was cut off could not be kept: %s", error)


async def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Run the work to its end; a cancellation that comes meanwhile takes effect after it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def accept_tiers(message: Message, tier1: str, tier2: str, tokenizer: Tokenizer) -> Tiers | None:
    """The tiers that came with a reply, mended where they have to be. None if nothing of them is of use: then the view
    makes them after the turn, since to write tiers takes longer than all else that is done with a reply."""
    if message.role not in ("user", "assistant") or not (tier1 or tier2):
        return None
    if tier_rules.is_short(message.content, tokenizer.count):
        return Tiers()
    if tier_rules.is_of_no_use(tier1, tier2, message.content):
        return None
    verdict = tier_rules.check_tiers(tier1, tier2, message.content, tokenizer.count)
    return Tiers(verdict.tiers.tier1, verdict.tiers.tier2, "offline" if verdict.faults else "model")


def round_note(turn_round: Round) -> dict[str, Any]:
    note: dict[str, Any] = {
        "model": turn_round.model,
        "tokens_in": turn_round.tokens_in,
        "tokens_out": turn_round.tokens_out,
    }
    if turn_round.raised:
        note["raised"] = [[turn, tier] for turn, tier in turn_round.raised]
    if turn_round.searches:
        note["searches"] = list(turn_round.searches)
    return note
