"""The titles view: what topics are called, and the summary of what was packed of them.

It follows the topics: each that was packed, or has grown enough to be given a better title, is `pending` until this
view has written it. With a memory model that is asked, for what is new since it last wrote; while it is away the
built-in writer's summary stands in and the topic stays pending. Nobody waits for any of it: a topic has a title from
its first message on, and is found and packed without a summary.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recollect.engine.tables import topics as rows
from recollect.engine.views.episodes import CALLS, CHARACTERS, SHARE, TOKENS, within
from recollect.engine.views.topics import TITLES, Topics, lock
from recollect.engine.work.ask import Answer, Asking
from recollect.engine.work.view import Run, Saved
from recollect.model.topics import TopicMessage
from recollect.ports import Lag, Tokenizer, Tx
from recollect.rules.episodes.extract import Line
from recollect.rules.topics import compression
from recollect.rules.topics.topics import State
from recollect.tasks import topic_summary

LINES = 120  # messages that are looked at for one summary, the last


@dataclass(frozen=True, slots=True)
class Wanted:
    """A topic that waits to be written of: what is known so far, and what is new."""

    state: State
    before: str
    lines: Sequence[TopicMessage]


@dataclass(frozen=True, slots=True)
class Written:
    """What was written of a topic, up to the turn it was packed to, and by whom."""

    state: State
    title: str
    summary: str
    made_by: str
    final: bool


@dataclass(frozen=True, slots=True)
class Result:
    place: rows.Place
    made: Sequence[Written]
    saved: Saved


class TitlesView:
    """Writes the titles and summaries of topics."""

    name = TITLES
    at_once = 0
    ordered = False

    def __init__(
        self,
        asking: Asking,
        tokenizer: Tokenizer,
        topics: Topics,
        run: Callable[..., Awaitable[Any]],
        read: Callable[..., Awaitable[Any]],
    ) -> None:
        self._asking, self._tokenizer, self._topics = asking, tokenizer, topics
        self._run, self._read = run, read

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Result]:
        asks, calls = self._asking.possible, CALLS
        places = [rows.place_of(*run.place) for run in runs]
        wanted = await self._read(lambda tx: [pending(tx, place, asks) for place in places])
        results: list[Result] = []
        for run, place, waiting in zip(runs, places, wanted, strict=True):
            results.append(await self._written(run.lag, place, waiting, calls))
            calls -= len(results[-1].made)
        return results

    async def _written(self, lag: Lag, place: rows.Place, waiting: Sequence[Wanted], calls: int) -> Result:
        """What is written of the topics that wait, with so many calls; the rest is left for later."""
        made: list[Written] = []
        for one in waiting[:calls]:
            answer = await self._answered(one)
            made.append(written(one, answer))
            if answer.outage is not None:
                return Result(place, made, Saved(lag.done, len(made), answer.outage))
        if len(waiting) > calls:
            return Result(place, made, Saved(lag.done, len(made)))
        return Result(place, made, Saved(lag.turns, max(len(made), 1)))

    async def _answered(self, one: Wanted) -> Answer[topic_summary.Reply]:
        # What has faded is summarised by the built-in writer: nobody is looking.
        if self._asking.possible and one.state.faded_at is None:
            return await self._asking.ask(topic_summary, self.inputs(one))
        made: Answer[topic_summary.Reply] = await self._run(self.offline, one)
        return made

    def offline(self, one: Wanted) -> Answer[topic_summary.Reply]:
        """What the built-in writer makes of it."""
        return Answer(topic_summary.offline(self.inputs(one)), "offline")

    def inputs(self, one: Wanted) -> topic_summary.Inputs:
        lines = tuple(Line(said.role, said.author, said.content) for said in one.lines if said.content.strip())
        size = sum(len(line.text) for line in lines) // CHARACTERS + self._tokenizer.count(one.before) * SHARE
        limit = within(size // SHARE, TOKENS)
        return topic_summary.Inputs(one.state.title, lines, one.before, limit, self._tokenizer.count)

    def save(self, tx: Tx, result: Result) -> Saved:
        if result.made:
            lock(tx, result.place["space"], result.place["conversation"])
            self.keep(tx, result.place, result.made)
        return result.saved

    def keep(self, tx: Tx, place: rows.Place, made: Sequence[Written]) -> None:
        """Store what was written, of topics that are still there. The conversation is locked."""
        page, every = self._topics.read(tx, place["space"], place["conversation"]), list[State]()
        for one in made:
            state = page.state(tx, one.state.first)
            if state is None:
                continue
            by_model = one.made_by == "model"
            upto = one.state.packed_upto
            if upto:
                summary = {**rows.summary_of(tx, place, state.first), "summary": one.summary, "upto": upto}
                tx.put(rows.SUMMARIES, [summary | ({"base": one.summary, "base_upto": upto} if by_model else {})])
            changed = replace(
                state,
                title=one.title if by_model else state.title,
                made_by="model" if by_model else state.made_by,
                # It has grown in the meantime: the rest is written next.
                pending=not one.final or state.packed_upto != upto,
            )
            rows.put_states(tx, place, [changed])
            page.book = replace(page.book, states={**page.book.states, state.first: changed})
            every.append(changed)
        if made:
            self._topics.stamp(tx, page, every)


def written(one: Wanted, answer: Answer[topic_summary.Reply]) -> Written:
    reply = answer.reply
    return Written(one.state, reply.title, reply.summary, answer.made_by, answer.outage is None)


def pending(tx: Tx, place: rows.Place, asks: bool) -> list[Wanted]:
    """The topics that wait, the oldest first."""
    states = [rows.to_state(row) for row in tx.rows(rows.TABLE, limit=CALLS + 1, where={**place, "pending": 1})]
    return [wanted(tx, place, state, asks) for state in states]


def wanted(tx: Tx, place: rows.Place, state: State, asks: bool) -> Wanted:
    """What there is to write of a topic: of one that was packed, what is new in the packs; else a title."""
    if not state.packed_upto:
        return Wanted(state, "", rows.loose(tx, place, state)[:LINES])
    known = rows.summary_of(tx, place, state.first)
    before, upto = (known["base"], known["base_upto"]) if asks else (known["summary"], known["upto"])
    here = {**place, "topic": state.first}
    packs = tx.rows(rows.PACKS, {**here, "last": upto}, where=here)
    said = [message for row in packs for message in compression.unpack(bytes(row["packed"])) if message.turn > upto]
    return Wanted(state, before, said[-LINES:])
