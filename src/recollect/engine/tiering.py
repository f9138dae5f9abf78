"""The tiers view: each message of the window at lower resolutions, and the one the model needs.

Tiers come with the reply where the model gives them. For the rest a follower asks the memory model, and where that
fails, or there is none, the built-in writer makes them. Messages long past are passed over: what is imported by the
thousand is searched, not shown, and gets its tiers when it is shown after all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.engine.ask import Asking
from recollect.engine.followers import Run
from recollect.model import Message, Tiers
from recollect.ports import Tokenizer, Tx
from recollect.rules import tiers as rules
from recollect.rules.raising import raised
from recollect.tasks import message_tiers
from recollect.tasks.task import Said

NEAR = 60  # turns from the end of a conversation that are given tiers as they come


class TiersView:
    """Makes the tiers that did not come with a reply."""

    name = "tiers"
    at_once = 32  # each may be a call of a model

    def __init__(self, asking: Asking, tokenizer: Tokenizer, read: Callable[..., Awaitable[Any]]) -> None:
        self._asking, self._tokenizer, self._read = asking, tokenizer, read

    def first(self, done: int, turns: int) -> int:
        return max(done, turns - NEAR)

    async def prepare(self, runs: Sequence[Run]) -> list[tuple[Run, dict[int, Tiers]]]:
        known = await self._read(lambda tx: [load_tiers(tx, r.lag.space, r.lag.conversation, r.lag.done) for r in runs])
        return [(run, await self._made(run, there)) for run, there in zip(runs, known, strict=True)]

    async def _made(self, run: Run, there: Mapping[int, Tiers]) -> dict[int, Tiers]:
        made: dict[int, Tiers] = {}
        for message in run.messages:
            if message.turn in there or message.erased:
                continue
            made[message.turn] = await self.tiers_of(message)
        return made

    async def tiers_of(self, message: Message) -> Tiers:
        """The tiers of one message: by the memory model, or else by the built-in writer."""
        count = self._tokenizer.count
        if rules.is_short(message.content, count):
            return Tiers()
        inputs = message_tiers.Inputs((Said(message.role, message.content),), count)
        answer = await self._asking.ask(message_tiers, inputs)
        made = answer.reply.tiers[0]
        return Tiers(made.tier1, made.tier2, answer.made_by)

    def save(self, tx: Tx, result: tuple[Run, dict[int, Tiers]]) -> None:
        run, made = result
        put_tiers(tx, run.lag.space, run.lag.conversation, made)


def load_tiers(tx: Tx, space: str, conversation: str, after: int) -> dict[int, Tiers]:
    """The tiers of a conversation's messages after a turn."""
    place = {"space": space, "conversation": conversation}
    rows = tx.rows("tiers", {**place, "turn": after}, where=place)
    return {row["turn"]: to_tiers(row) for row in rows}


def to_tiers(row: Mapping[str, Any]) -> Tiers:
    return Tiers(row["tier1"], row["tier2"], row["made_by"], row["required"], row["raised_at"])


def put_tiers(tx: Tx, space: str, conversation: str, made: Mapping[int, Tiers]) -> None:
    """Store tiers; what the model required of a message stays required."""
    if not made:
        return
    there = load_tiers(tx, space, conversation, min(made) - 1)
    kept = {
        turn: replace(new, required=there[turn].required, raised_at=there[turn].raised_at) if turn in there else new
        for turn, new in made.items()
    }
    tx.put("tiers", [tiers_row(space, conversation, turn, value) for turn, value in kept.items()])


def tiers_row(space: str, conversation: str, turn: int, value: Tiers) -> dict[str, Any]:
    return {
        "space": space,
        "conversation": conversation,
        "turn": turn,
        "tier1": value.tier1,
        "tier2": value.tier2,
        "made_by": value.made_by,
        "required": value.required,
        "raised_at": value.raised_at,
    }


def raise_tier(tx: Tx, space: str, conversation: str, turn: int, tier: int, now: int, sinks_after: int) -> None:
    """The model asked for more of a message: from now on it is sent at that tier, until it has long not been needed."""
    there = load_tiers(tx, space, conversation, turn - 1).get(turn)
    required, raised_at = raised(there, tier, now, sinks_after)
    value = replace(there or Tiers(made_by="none"), required=required, raised_at=raised_at)
    tx.put("tiers", [tiers_row(space, conversation, turn, value)])
