"""The tiers view: shorter versions (tiers) of each message of the window, and which tier the model needs.

Tiers come with the reply where the model gives them. For the others a follower asks the memory model, if the message is
worth a call; if it is not, if the call fails, or if there is no model, the built-in writer makes them. If the model is
only away for a while, the writer's tiers stand in and the model is asked again later. Old messages are skipped:
imported messages are searched, not shown, and get their tiers when they are shown after all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from everword.follow.model_calls import TaskRunner
from everword.follow.model_task import TaskMessage
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run, SaveResult
from everword.model import Message, Tiers
from everword.ports import Tokenizer, Tx
from everword.summaries.prompts import TiersInputs, message_tiers
from everword.summaries.rules import shortened_messages as rules
from everword.summaries.rules.shortened_messages import tier_after_request

NEAR = 60  # turns from the end of a conversation that are given tiers as they come, if the window holds them
BATCH_CHARACTERS = 8_000  # of messages whose tiers are asked for in one call; a longer message is asked for alone
WEAK = ("offline", "none")  # tiers a model may still make better


READ_BY_MODEL = 32
READ_BY_RULES = 512
"""Messages in a batch, at most: a few calls of a model, or what rules read in a second."""


@dataclass(frozen=True, slots=True)
class RunTiers:
    """The tiers made of a run, and how far that is final."""

    run: Run
    tiers: Mapping[int, Tiers]
    progress: SaveResult | None


class TiersView:
    """Makes the tiers that did not come with a reply."""

    name = "tiers"
    ordered = False

    def __init__(
        self,
        asking: TaskRunner,
        tokenizer: Tokenizer,
        calls: StoreCalls,
        window_turns: int,
    ) -> None:
        """`window_turns`: the most messages that the window holds; 0 if their number does not count."""
        self._asking = asking
        self._tokenizer = tokenizer
        self._calls = calls
        self._near = min(window_turns, NEAR) or NEAR

    @property
    def at_once(self) -> int:
        return READ_BY_MODEL if self._asking.has_model else READ_BY_RULES

    def read_after(self, done: int, turns: int) -> int:
        return max(done, turns - self._near)

    async def prepare(self, runs: Sequence[Run]) -> list[RunTiers]:
        def load(tx: Tx) -> list[dict[int, Tiers]]:
            return [load_tiers(tx, run.lag.space, run.lag.conversation, run.lag.done) for run in runs]

        tiers_by_run = await self._calls.read(load)
        if not self._asking.has_model:
            results: list[RunTiers] = await self._asking.run(lambda: list(map(self._write_offline, runs, tiers_by_run)))
            return results
        return [await self._make_tiers(run, known_tiers) for run, known_tiers in zip(runs, tiers_by_run, strict=True)]

    def _write_offline(self, run: Run, known_tiers: Mapping[int, Tiers]) -> RunTiers:
        """Have the built-in writer make the tiers of messages that have none."""
        new_messages = (message for message in run.messages if not message.erased and message.turn not in known_tiers)
        return RunTiers(
            run,
            {message.turn: rules.write_tiers(message.content, self._tokenizer.count) for message in new_messages},
            None,
        )

    async def _make_tiers(self, run: Run, known_tiers: Mapping[int, Tiers]) -> RunTiers:
        new_tiers = dict(self._write_offline(run, known_tiers).tiers)
        upto = run.lag.done
        outage = None
        for batch in split_batches(run.messages):
            weak_messages = [message for message in batch if self._may_improve(message, known_tiers.get(message.turn))]
            if weak_messages and outage is None:
                tiers_by_turn, outage = await self._ask_model(weak_messages)
                new_tiers |= tiers_by_turn
            upto = batch[-1].turn if outage is None else upto
        return RunTiers(run, new_tiers, SaveResult(upto, len(new_tiers), outage) if outage else None)

    def _may_improve(self, message: Message, known_tiers: Tiers | None) -> bool:
        """Whether the model is asked for the tiers of a message."""
        is_weak = known_tiers is None or known_tiers.made_by in WEAK
        return is_weak and not message.erased and rules.is_worth_a_call(message.content, self._tokenizer.count)

    async def _ask_model(self, messages: Sequence[Message]) -> tuple[dict[int, Tiers], str | None]:
        """The tiers of some messages by turn, by the memory model or else by the built-in writer; and why to ask again
        later."""
        lines = tuple(TaskMessage(message.role, message.content) for message in messages)
        answer = await self._asking.ask(message_tiers, TiersInputs(lines, self._tokenizer.count))
        tiers_by_turn = {
            message.turn: Tiers(reply_tiers.tier1, reply_tiers.tier2, answer.made_by)
            for message, reply_tiers in zip(messages, answer.reply.tiers, strict=True)
        }
        return tiers_by_turn, answer.outage

    def save(self, tx: Tx, result: RunTiers) -> SaveResult | None:
        put_tiers(tx, result.run.lag.space, result.run.lag.conversation, result.tiers)
        return result.progress


def split_batches(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages in batches for one call each, in order."""
    batches: list[list[Message]] = []
    character_count = 0
    for message in messages:
        character_count += len(message.content)
        if not batches or character_count > BATCH_CHARACTERS:
            batches.append([])
            character_count = len(message.content)
        batches[-1].append(message)
    return batches


def load_tiers(tx: Tx, space: str, conversation: str, after: int) -> dict[int, Tiers]:
    """The tiers of a conversation's messages after a turn."""
    place = {"space": space, "conversation": conversation}
    rows = tx.rows("tiers", {**place, "turn": after}, where=place)
    return {row["turn"]: to_tiers(row) for row in rows}


def to_tiers(row: Mapping[str, Any]) -> Tiers:
    return Tiers(row["tier1"], row["tier2"], row["made_by"], row["required"], row["raised_at"])


def put_tiers(tx: Tx, space: str, conversation: str, new_tiers: Mapping[int, Tiers]) -> None:
    """Store tiers; the tier the model required of a message stays as it is."""
    if not new_tiers:
        return
    earlier = load_tiers(tx, space, conversation, min(new_tiers) - 1)
    rows = []
    for turn, value in new_tiers.items():
        before = earlier.get(turn, value)
        value = replace(value, required=before.required, raised_at=before.raised_at)
        rows.append(tiers_row(space, conversation, turn, value))
    tx.put("tiers", rows)


def tiers_row(space: str, conversation: str, turn: int, value: Tiers) -> dict[str, Any]:
    return {"space": space, "conversation": conversation, "turn": turn, **asdict(value)}


def raise_tier(tx: Tx, space: str, conversation: str, turn: int, tier: int, now: int, sinks_after: int) -> None:
    """Raise the tier of a message the model asked for: it is sent at that tier until it was not needed for long."""
    earlier = load_tiers(tx, space, conversation, turn - 1).get(turn)
    required_tier, raised_at = tier_after_request(earlier, tier, now, sinks_after)
    value = replace(earlier or Tiers(made_by="none"), required=required_tier, raised_at=raised_at)
    tx.put("tiers", [tiers_row(space, conversation, turn, value)])
