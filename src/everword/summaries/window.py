"""The window view: which messages have left the window, in chunks, and the episodes that summarise them.

A message that leaves is only marked: a chunk says from which turn to which, and why. The messages stay in the log and
are found by search. The window of a conversation is what comes after its last chunk; earlier messages appear in a
context as episodes, which are written in the same transaction. This view follows the topics, which know the threads
of a channel, and uses the vectors of the index, which show where the subject changes: nothing is embedded twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everword.follow.faults import readable_messages
from everword.follow.model_calls import TaskRunner
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run
from everword.model import Budget, Chunk, Filter, Message, Tiers
from everword.ports import Clock, Lag, Tokenizer, Tx
from everword.summaries import episodes
from everword.summaries.digests import zone_of
from everword.summaries.rules import window as rules
from everword.summaries.rules.shortened_messages import text_at, tier_now
from everword.summaries.rules.shortened_messages import write_tiers as offline_tiers
from everword.summaries.tiers import load_tiers

WHOLE = Budget().pairs  # exchanges that a context shows word for word
SCENES = 32  # windows that are read together


@dataclass(frozen=True, slots=True)
class Scene:
    """What was there before a run of new messages: the window, its tiers, the active episodes, and their owner; the
    last turn that has left the window, and the last message that is in an episode."""

    window: Sequence[Message]
    tiers: Mapping[int, Tiers]
    active: Sequence[episodes.EpisodeRecord]
    user: str
    archived: int = 0
    message_before: Message | None = None


@dataclass(frozen=True, slots=True)
class ArchivedRun:
    """The chunks that leave the window with a run, and the episodes that are new or changed by it."""

    run: Run
    chunks: Sequence[Chunk] = ()
    records: Sequence[episodes.EpisodeRecord] = ()


class WindowView:
    """Follows a conversation message by message and archives by the rule."""

    name = "window"
    at_once = 512
    ordered = True

    def __init__(
        self,
        rule: rules.WindowRule,
        tokenizer: Tokenizer,
        clock: Clock,
        sinks_after: int,
        writer: episodes.Writer,
        asking: TaskRunner,
        calls: StoreCalls,
        zone: str,
    ) -> None:
        self._rule = rule
        self._tokenizer = tokenizer
        self._clock = clock
        self._sinks_after = sinks_after
        self._writer = writer
        self._asking = asking
        self._calls = calls
        self._zone = zone

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[ArchivedRun]:
        results: list[ArchivedRun] = []
        for start in range(0, len(runs), SCENES):
            batch = runs[start : start + SCENES]
            scenes = await self._calls.read(lambda tx: [load_scene(tx, run) for run in batch])  # noqa: B023  called at once
            results += [await self._archive_run(run, scene) for run, scene in zip(batch, scenes, strict=True)]
        return results

    async def _archive_run(self, run: Run, scene: Scene) -> ArchivedRun:
        if not run.messages:
            return ArchivedRun(run)
        chunks, left_messages = await self._asking.run(self._find_chunks, run, scene)
        return await self._summarise(run, scene, chunks, left_messages)

    async def archive_window(self, lag: Lag) -> ArchivedRun:
        """What is to be saved so that the whole window leaves, but for its last exchange, whatever the rule says."""
        run = Run(lag, ())
        scene: Scene = await self._calls.read(lambda tx: load_scene(tx, run))
        departure = rules.find_requested_departure(without_sizes([m for m in scene.window if not m.erased]))
        if departure is None:
            return ArchivedRun(run)
        chunk = Chunk(departure.first, departure.last, departure.trigger, self._clock.now())
        left_messages = [message for message in scene.window if message.turn <= chunk.last]
        return await self._summarise(run, scene, [chunk], left_messages)

    async def _summarise(
        self, run: Run, scene: Scene, chunks: Sequence[Chunk], left_messages: Sequence[Message]
    ) -> ArchivedRun:
        """The chunks with the episodes of the messages that have left."""
        if not left_messages:
            return ArchivedRun(run)
        last = episodes.newest_episode(scene.active)
        begin = left_messages[0].turn if last is None else last.episode.first
        where = (run.lag.space, run.lag.conversation, begin, left_messages[-1].turn)
        vectors, past = await self._calls.read(
            lambda tx: (
                tx.index.vectors_of(*where),
                episodes.load_channel_past(tx, run.place, left_messages, zone_of(tx, run.lag.space, self._zone)),
            )
        )
        asks = self._asking.has_model
        records = await self._writer.grow(
            run.lag, scene.user, scene.active, left_messages, vectors, asks, scene.message_before, past
        )
        return ArchivedRun(run, chunks, records)

    def save(self, tx: Tx, result: ArchivedRun) -> None:
        space = result.run.lag.space
        conversation = result.run.lag.conversation
        if not result.chunks and not result.records:
            return
        episodes.lock_conversation(tx, space, conversation)
        for chunk in result.chunks:
            put_chunk(tx, space, conversation, chunk)
        # The model may have written one of them meanwhile: its summary is kept.
        episodes.put_episodes(tx, [reconcile_with_stored(tx, record) for record in result.records])

    def _find_chunks(self, run: Run, scene: Scene) -> tuple[list[Chunk], list[Message]]:
        window = list(scene.window)
        small_window = without_sizes(window)
        chunks = list[Chunk]()
        left_messages = list[Message]()
        tiers = dict(scene.tiers)
        size = sum(most_bytes(message, tiers) for message in window)
        for message in run.messages:
            if message.turn <= scene.archived:  # it left the window before: only its episode is written again
                left_messages.append(message)
                continue
            window.append(message)
            small_window += without_sizes([message])
            size += most_bytes(message, tiers)
            if not rules.may_depart(len(window), size, self._rule):
                continue
            is_large = 0 < self._rule.tokens < size
            departure = rules.find_departure(
                self._measure_messages(window, tiers) if is_large else small_window, self._rule
            )
            if departure is not None:
                chunks.append(Chunk(departure.first, departure.last, departure.trigger, self._clock.now()))
                left_messages += [message for message in window if message.turn <= departure.last]
                window = [message for message in window if message.turn > departure.last]
                small_window = small_window[-len(window) :] if window else []
                size = sum(most_bytes(message, tiers) for message in window)
        return chunks, left_messages

    def _measure_messages(self, window: Sequence[Message], tiers: dict[int, Tiers]) -> list[rules.WindowMessage]:
        """The messages with their sizes as a context renders them: the last exchanges whole, the others at their tier.
        If there are no tiers yet, those of the built-in writer are measured, so that the order of views does not
        matter."""
        count = self._tokenizer.count
        now = window[-1].turn
        older = window[: -2 * WHOLE]

        def text_in_context(message: Message) -> str:
            message_tiers = tiers.get(message.turn)
            return text_at(message, message_tiers, tier_now(message_tiers, now, self._sinks_after))[0]

        texts = [*map(text_in_context, older), *(message.content for message in window[len(older) :])]
        # A text never has more tokens than bytes, nor more at a tier than whole: so tokens are counted only if the
        # bytes may be too many, and missing tiers are made only if the tokens are too many.
        sizes = [len(text.encode()) for text in texts]
        if self._rule.tokens and sum(sizes) > self._rule.tokens:
            sizes = [count(text) for text in texts]
        if self._rule.tokens and sum(sizes) > self._rule.tokens:
            for message in older:
                if message.turn not in tiers:
                    tiers[message.turn] = offline_tiers(message.content, count)
            sizes[: len(older)] = [count(text_in_context(message)) for message in older]
        return [
            rules.WindowMessage(message.turn, message.role, size) for message, size in zip(window, sizes, strict=True)
        ]


def without_sizes(window: Sequence[Message]) -> list[rules.WindowMessage]:
    """The messages of a window of which no more need be known than that they are not too large."""
    return [rules.WindowMessage(message.turn, message.role, 0) for message in window]


def most_bytes(message: Message, tiers: Mapping[int, Tiers]) -> int:
    """The bytes of a message in a context at most, whatever its tier: a text never has more tokens than bytes."""
    message_tiers = tiers.get(message.turn)
    shorter_texts = "" if message_tiers is None else f"{message_tiers.tier1}{message_tiers.tier2}"
    return len(message.content.encode()) + len(shorter_texts.encode())


def load_scene(tx: Tx, run: Run) -> Scene:
    space = run.lag.space
    conversation = run.lag.conversation
    start = last_archived_turn(tx, space, conversation)
    where = Filter(space, conversation=conversation)
    window = readable_messages(tx, WindowView.name, where, after=start, upto=run.lag.done)
    stored_conversation = tx.conversation(space, conversation)
    user = stored_conversation.user if stored_conversation is not None else None
    active = episodes.active_episodes(tx, space, conversation)
    last = episodes.newest_episode(active)
    message_before = None
    if last is not None:
        last_turn = last.episode.last
        last_messages = readable_messages(tx, WindowView.name, where, after=last_turn - 1, upto=last_turn)
        message_before = next((message for message in last_messages if message.is_lasting), None)
    tiers = load_tiers(tx, space, conversation, start)
    return Scene(window, tiers, active, user or episodes.NOBODY, start, message_before)


def reconcile_with_stored(tx: Tx, record: episodes.EpisodeRecord) -> episodes.EpisodeRecord:
    current = episodes.find_episode(tx, record.episode)
    return record if current is None else episodes.reconcile_with_model(record, current)


def last_archived_turn(tx: Tx, space: str, conversation: str) -> int:
    """The last turn that has left the window; 0 if none has."""
    rows = tx.rows("chunks", limit=1, where={"space": space, "conversation": conversation}, newest=True)
    return int(rows[0]["last"]) if rows else 0


def put_chunk(tx: Tx, space: str, conversation: str, chunk: Chunk) -> None:
    row = {"space": space, "conversation": conversation, "first": chunk.first, "last": chunk.last}
    tx.put("chunks", [{**row, "reason": chunk.reason, "archived_at": chunk.archived_at}])


def load_chunks(tx: Tx, space: str, conversation: str) -> list[Chunk]:
    """All chunks of a conversation, oldest first."""
    rows = tx.rows("chunks", where={"space": space, "conversation": conversation})
    return [Chunk(row["first"], row["last"], row["reason"], row["archived_at"]) for row in rows]
