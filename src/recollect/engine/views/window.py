"""The window view: which messages have left the window, in chunks, and what they are summarised to.

What leaves is marked and nothing else happens to it: a chunk says from which turn to which, and why. The messages stay
where they are and are found by search. The window of a conversation is what comes after its last chunk; what comes
before stands in a context as episodes, which are written in the same transaction. This view follows the index, whose
vectors tell where the subject changes: nothing is embedded twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.engine.views import episodes
from recollect.engine.views.tiers import load_tiers
from recollect.engine.work.faults import readable_messages
from recollect.engine.work.view import Run
from recollect.model import Budget, Chunk, Filter, Message, Tiers
from recollect.ports import Clock, Tokenizer, Tx
from recollect.rules.episodes.window import Shown, WindowRule, leaving
from recollect.rules.tiers.requested_tier import text_at, tier_now
from recollect.rules.tiers.tiers import write as offline_tiers

WHOLE = Budget().pairs  # exchanges that a context shows word for word
SCENES = 32  # windows that are read together


@dataclass(frozen=True, slots=True)
class Scene:
    """What a run of new messages comes upon: the window before them, its tiers, the episodes, whose they are."""

    window: Sequence[Message]
    tiers: Mapping[int, Tiers]
    active: Sequence[episodes.Kept]
    user: str


@dataclass(frozen=True, slots=True)
class Left:
    """What leaves with a run, and the episodes that are new or changed by it."""

    run: Run
    chunks: Sequence[Chunk] = ()
    changed: Sequence[episodes.Kept] = ()


class WindowView:
    """Follows a conversation message by message and archives by the rule."""

    name = "window"
    at_once = 512
    ordered = True

    def __init__(
        self,
        rule: WindowRule,
        tokenizer: Tokenizer,
        clock: Clock,
        sinks_after: int,
        writer: episodes.Writer,
        pending: bool,
        run: Callable[..., Awaitable[Any]],
        read: Callable[..., Awaitable[Any]],
    ) -> None:
        """`pending`: whether there is a model that will write the episodes anew."""
        self._rule, self._tokenizer, self._clock, self._sinks_after = rule, tokenizer, clock, sinks_after
        self._writer, self._pending, self._run, self._read = writer, pending, run, read

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Left]:
        left: list[Left] = []
        for start in range(0, len(runs), SCENES):
            some = runs[start : start + SCENES]
            scenes = await self._read(lambda tx: [scene_of(tx, run) for run in some])  # noqa: B023  called at once
            left += [await self._left(run, scene) for run, scene in zip(some, scenes, strict=True)]
        return left

    async def _left(self, run: Run, scene: Scene) -> Left:
        if not run.messages:
            return Left(run)
        chunks, gone = await self._run(self._leaving, run, scene)
        if not gone:
            return Left(run)
        last = episodes.newest(scene.active)
        begin = gone[0].turn if last is None else last.episode.first
        where = (run.lag.space, run.lag.conversation, begin, gone[-1].turn)
        vectors = await self._read(lambda tx: tx.vectors_of(*where))
        changed = await self._writer.grow(run.lag, scene.user, scene.active, gone, vectors, self._pending)
        return Left(run, chunks, changed)

    def save(self, tx: Tx, result: Left) -> None:
        space, conversation = result.run.lag.space, result.run.lag.conversation
        if not result.chunks:
            return
        episodes.lock(tx, space, conversation)
        for chunk in result.chunks:
            archive(tx, space, conversation, chunk)
        # The model may have written one of them while this was being thought about: what it wrote is kept.
        episodes.put(tx, [merged(tx, one) for one in result.changed])

    def _leaving(self, run: Run, scene: Scene) -> tuple[list[Chunk], list[Message]]:
        window, chunks, gone = list(scene.window), list[Chunk](), list[Message]()
        tiers = dict(scene.tiers)
        for message in run.messages:
            window.append(message)
            found = leaving(self._measured(window, tiers), self._rule)
            if found is not None:
                chunks.append(Chunk(found.first, found.last, found.trigger, self._clock.now()))
                gone += [left for left in window if left.turn <= found.last]
                window = [kept for kept in window if kept.turn > found.last]
        return chunks, gone

    def _measured(self, window: Sequence[Message], tiers: dict[int, Tiers]) -> list[Shown]:
        """The messages with their sizes as a context renders them: the last exchanges whole, the others at their tier.
        Where there are no tiers yet, the built-in writer's count, so that it does not matter which view was first."""
        count, now = self._tokenizer.count, window[-1].turn
        older = window[: -2 * WHOLE]

        def shown(message: Message) -> str:
            found = tiers.get(message.turn)
            return text_at(message, found, tier_now(found, now, self._sinks_after))[0]

        texts = [*map(shown, older), *(message.content for message in window[len(older) :])]
        # There are never more tokens than bytes, and no more at a tier than in all: only what may be too large is
        # counted, and only what is too large is looked at closely.
        sizes = [len(text.encode()) for text in texts]
        if self._rule.tokens and sum(sizes) > self._rule.tokens:
            sizes = [count(text) for text in texts]
        if self._rule.tokens and sum(sizes) > self._rule.tokens:
            for message in older:
                if message.turn not in tiers:
                    tiers[message.turn] = offline_tiers(message.content, count)
            sizes[: len(older)] = [count(shown(message)) for message in older]
        return [Shown(message.turn, message.role, size) for message, size in zip(window, sizes, strict=True)]


def scene_of(tx: Tx, run: Run) -> Scene:
    space, conversation = run.lag.space, run.lag.conversation
    start = archived_upto(tx, space, conversation)
    where = Filter(space, conversation=conversation)
    window = readable_messages(tx, WindowView.name, where, after=start, upto=run.lag.done)
    owner = tx.conversation(space, conversation)
    user = owner.user if owner is not None and owner.user is not None else episodes.NOBODY
    active = episodes.active_episodes(tx, space, conversation)
    return Scene(window, load_tiers(tx, space, conversation, start), active, user)


def merged(tx: Tx, one: episodes.Kept) -> episodes.Kept:
    there = episodes.stored(tx, one.episode)
    return one if there is None else episodes.after_model(one, there)


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
