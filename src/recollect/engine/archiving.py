"""The window view: which messages have left the window, in chunks.

What leaves is marked and nothing else: a chunk says from which turn to which, and why. The messages stay where they
are and are found by search. The window of a conversation is what comes after its last chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.engine.followers import Run
from recollect.engine.tiering import load_tiers
from recollect.model import Chunk, Filter, Message, Tiers
from recollect.ports import Clock, Tokenizer, Tx
from recollect.rules.raising import text_at, tier_now
from recollect.rules.window import Shown, WindowRule, leaving


class WindowView:
    """Follows a conversation message by message and archives by the rule."""

    name = "window"
    at_once = 512

    def __init__(self, rule: WindowRule, tokenizer: Tokenizer, clock: Clock, sinks_after: int) -> None:
        self._rule, self._tokenizer, self._clock, self._sinks_after = rule, tokenizer, clock, sinks_after

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Run]:
        return list(runs)

    def save(self, tx: Tx, result: Run) -> None:
        space, conversation = result.lag.space, result.lag.conversation
        start = archived_upto(tx, space, conversation)
        tiers = load_tiers(tx, space, conversation, start)
        where = Filter(space, conversation=conversation)
        window = tx.messages(where, after=(conversation, start), upto=result.lag.done)
        for message in result.messages:
            window.append(message)
            gone = leaving(self._measured(window, tiers), self._rule)
            if gone is not None:
                archive(tx, space, conversation, Chunk(gone.first, gone.last, gone.trigger, self._clock.now()))
                window = [kept for kept in window if kept.turn > gone.last]

    def _measured(self, window: Sequence[Message], tiers: Mapping[int, Tiers]) -> list[Shown]:
        now = window[-1].turn
        texts = [
            text_at(message, found, tier_now(found, now, self._sinks_after))[0]
            for message, found in ((message, tiers.get(message.turn)) for message in window)
        ]
        # There are never more tokens than bytes: only a window that may be too large is counted.
        sizes = [len(text.encode()) for text in texts]
        if self._rule.tokens and sum(sizes) > self._rule.tokens:
            sizes = [self._tokenizer.count(text) for text in texts]
        return [Shown(message.turn, message.role, size) for message, size in zip(window, sizes, strict=True)]


def archived_upto(tx: Tx, space: str, conversation: str) -> int:
    """The last turn that has left the window; 0 if none has."""
    rows = tx.rows("chunks", limit=1, where={"space": space, "conversation": conversation}, newest=True)
    return int(rows[0]["last"]) if rows else 0


def archive(tx: Tx, space: str, conversation: str, chunk: Chunk) -> None:
    row = {"space": space, "conversation": conversation, "first": chunk.first, "last": chunk.last}
    tx.put("chunks", [{**row, "reason": chunk.reason, "archived_at": chunk.archived_at}])


def chunks(tx: Tx, space: str, conversation: str) -> list[Chunk]:
    """All chunks of a conversation, oldest first."""
    rows = tx.rows("chunks", where={"space": space, "conversation": conversation})
    return [Chunk(row["first"], row["last"], row["reason"], row["archived_at"]) for row in rows]
