"""The tiers view: each message of the window at lower resolutions, and the one the model needs.

Tiers come with the reply where the model gives them. For the rest a follower asks the memory model, and where that
fails, or there is none, the built-in writer makes them. If the model is only away for a while, the writer's tiers stand
in and the model is asked again later. Messages long past are passed over: what is imported by the
thousand is searched, not shown, and gets its tiers when it is shown after all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.engine.work.ask import Asking
from recollect.engine.work.view import Run, Saved
from recollect.model import Message, Tiers
from recollect.ports import Tokenizer, Tx
from recollect.rules.tiers import tiers as rules
from recollect.rules.tiers.requested_tier import raised
from recollect.tasks import message_tiers
from recollect.tasks.task import Said

NEAR = 60  # turns from the end of a conversation that are given tiers as they come


WEAK = ("offline", "none")  # tiers a model may still make better


@dataclass(frozen=True, slots=True)
class Made:
    """The tiers made of a run, and how far that is final."""

    run: Run
    made: Mapping[int, Tiers]
    saved: Saved | None


class TiersView:
    """Makes the tiers that did not come with a reply."""

    name = "tiers"
    at_once = 32  # each may be a call of a model
    ordered = False

    def __init__(
        self,
        asking: Asking,
        tokenizer: Tokenizer,
        read: Callable[..., Awaitable[Any]],
        run: Callable[..., Awaitable[Any]],
    ) -> None:
        self._asking, self._tokenizer, self._read, self._run = asking, tokenizer, read, run

    def first(self, done: int, turns: int) -> int:
        return max(done, turns - NEAR)

    async def prepare(self, runs: Sequence[Run]) -> list[Made]:
        known = await self._read(lambda tx: [load_tiers(tx, r.lag.space, r.lag.conversation, r.lag.done) for r in runs])
        if not self._asking.possible:
            made: list[Made] = await self._run(lambda: list(map(self._written, runs, known)))
            return made
        return [await self._made(run, there) for run, there in zip(runs, known, strict=True)]

    def _written(self, run: Run, there: Mapping[int, Tiers]) -> Made:
        """By the built-in writer, what has no tiers yet."""
        new = (message for message in run.messages if not message.erased and message.turn not in there)
        return Made(run, {m.turn: rules.write(m.content, self._tokenizer.count) for m in new}, None)

    async def _made(self, run: Run, there: Mapping[int, Tiers]) -> Made:
        made, done, outage = dict[int, Tiers](), run.lag.done, None
        for message in run.messages:
            known = there.get(message.turn)
            if message.erased or (known is not None and not (known.made_by in WEAK and self._asking.possible)):
                pass
            elif outage is None:
                made[message.turn], outage = await self.tiers_of(message)
            elif known is None:
                made[message.turn] = rules.write(message.content, self._tokenizer.count)
            done = message.turn if outage is None else done
        return Made(run, made, Saved(done, len(made), outage) if outage else None)

    async def tiers_of(self, message: Message) -> tuple[Tiers, str | None]:
        """The tiers of one message, by the memory model or else by the built-in writer; and why to ask again later."""
        count = self._tokenizer.count
        if rules.is_short(message.content, count):
            return Tiers(), None
        inputs = message_tiers.Inputs((Said(message.role, message.content),), count)
        answer = await self._asking.ask(message_tiers, inputs)
        made = answer.reply.tiers[0]
        return Tiers(made.tier1, made.tier2, answer.made_by), answer.outage

    def save(self, tx: Tx, result: Made) -> Saved | None:
        put_tiers(tx, result.run.lag.space, result.run.lag.conversation, result.made)
        return result.saved


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
