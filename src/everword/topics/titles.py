"""The titles view: titles of topics, and summaries of their packed messages.

It follows the topics: a topic that was packed is `pending` until this view has written it. If there is a memory model,
it is asked about what is new since it last wrote; while it is away the built-in writer's summary stands in and the
topic stays pending. Nobody waits for this: a topic has a title from its first message on, from the third on its key
phrases, and is found and packed without a summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from everword.follow.model_calls import TaskResult, TaskRunner
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run, SaveResult
from everword.log.append_and_read import read_channel_names
from everword.model import Episode, ExtractLine
from everword.model.views import TopicMessage
from everword.ports import Lag, Tokenizer, Tx
from everword.summaries.episodes import CALLS, lock_conversation, show_addressee, summary_inputs, written_episodes
from everword.summaries.prompts import TopicInputs, TopicReply, topic_summary
from everword.summaries.rules.extract import from_object, to_object, whole_line
from everword.text.addressing import KnownNames
from everword.topics import stored_topics as rows
from everword.topics.rules.fading import TopicState
from everword.topics.view import TITLES, Topics

BUILT_IN_CALLS = 64  # topics that the built-in writer writes in one step
FEW_TURNS = 512  # turns that a conversation is behind, of which few topics are pending
LINES = 120  # messages that are looked at for one summary, the last
MOSTLY = 2 / 3  # of the messages of an episode that is about a topic
EPISODE_CHARACTERS = 1_600  # of the summaries of episodes that are shown for a topic


@dataclass(frozen=True, slots=True)
class PendingTopic:
    """A topic that waits for a title or summary: the summary so far, the new messages, the lines of the summary if it
    was written from lines, and the episodes that are about the topic."""

    state: TopicState
    before: str
    lines: Sequence[TopicMessage]
    before_lines: tuple[ExtractLine, ...] = ()
    episodes: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicText:
    """The title and summary of a topic, up to the turn it was packed to, and who wrote them."""

    state: TopicState
    title: str
    summary: str
    made_by: str
    final: bool
    lines: tuple[ExtractLine, ...] = ()


@dataclass(frozen=True, slots=True)
class TitlesResult:
    place: rows.Place
    texts: Sequence[TopicText]
    progress: SaveResult


class TitlesView:
    """Writes the titles and summaries of topics."""

    name = TITLES
    at_once = 0
    ordered = False

    def __init__(
        self,
        asking: TaskRunner,
        tokenizer: Tokenizer,
        topics: Topics,
        calls: StoreCalls,
    ) -> None:
        self._asking = asking
        self._tokenizer = tokenizer
        self._topics = topics
        self._calls = calls

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[TitlesResult]:
        asks = self._asking.has_model
        calls_left = CALLS if asks else BUILT_IN_CALLS
        places = [rows.place_of(*run.place) for run in runs]
        is_backlog = any(run.lag.turns - run.lag.done > FEW_TURNS for run in runs)
        waiting_by_run = await self._calls.read(
            lambda tx: load_pending_topics(tx, places, asks, calls_left, is_backlog)
        )
        results: list[TitlesResult] = []
        for run, place, waiting_topics in zip(runs, places, waiting_by_run, strict=True):
            if waiting_topics is None:
                results.append(TitlesResult(place, (), SaveResult(run.lag.done, 0)))
                continue
            results.append(await self._write_texts(run.lag, place, waiting_topics, calls_left))
            calls_left -= len(results[-1].texts)
        return results

    async def _write_texts(
        self, lag: Lag, place: rows.Place, waiting_topics: Sequence[PendingTopic], max_calls: int
    ) -> TitlesResult:
        """Write the texts of pending topics, with at most `max_calls` calls; the others stay pending."""
        texts: list[TopicText] = []
        for topic in waiting_topics[:max_calls]:
            answer = await self._ask(topic)
            texts.append(to_topic_text(topic, answer))
            if answer.outage is not None:
                return TitlesResult(place, texts, SaveResult(lag.done, len(texts), answer.outage))
        if len(waiting_topics) > max_calls:
            return TitlesResult(place, texts, SaveResult(lag.done, len(texts)))
        return TitlesResult(place, texts, SaveResult(lag.turns, max(len(texts), 1)))

    async def _ask(self, topic: PendingTopic) -> TaskResult[TopicReply]:
        # A faded topic is summarised by the built-in writer: it is rarely read.
        if self._asking.has_model and topic.state.faded_at is None:
            return await self._asking.ask(topic_summary, self.task_inputs(topic))
        answer: TaskResult[TopicReply] = await self._asking.run(self.write_offline, topic)
        return answer

    def write_offline(self, topic: PendingTopic) -> TaskResult[TopicReply]:
        """The built-in writer's title and summary."""
        return TaskResult(topic_summary.offline(self.task_inputs(topic)), "offline")

    def task_inputs(self, topic: PendingTopic) -> TopicInputs:
        inputs = summary_inputs(topic.lines, topic.before, self._tokenizer, topic.before_lines)
        return TopicInputs(
            topic.state.title,
            inputs.lines,
            inputs.before,
            inputs.limit,
            inputs.count,
            inputs.before_lines,
            topic.episodes,
        )

    def save(self, tx: Tx, result: TitlesResult) -> SaveResult:
        if result.texts:
            lock_conversation(tx, result.place["space"], result.place["conversation"])
            self.store_texts(tx, result.place, result.texts)
        return result.progress

    def store_texts(self, tx: Tx, place: rows.Place, texts: Sequence[TopicText]) -> None:
        """Store the texts of topics that still exist. The conversation is locked."""
        page = self._topics.read_page(tx, place["space"], place["conversation"])
        changed_states = list[TopicState]()
        for text in texts:
            state = page.state(tx, text.state.first)
            if state is None:
                continue
            by_model = text.made_by == "model"
            upto = text.state.packed_upto
            if upto:
                written = {"summary": text.summary, "upto": upto, "extract": to_object(text.lines)}
                base = {"base": text.summary, "base_upto": upto} if by_model else {}
                tx.put(rows.SUMMARIES, [{**rows.summary_of(tx, place, state.first), **written, **base}])
            new_state = replace(
                state,
                title=text.title if by_model else state.title,
                made_by="model" if by_model else state.made_by,
                # It has grown meanwhile: the rest is written next.
                pending=not text.final or state.packed_upto != upto,
            )
            rows.put_states(tx, place, [new_state])
            page.book = page.book.with_states({state.first: new_state})
            changed_states.append(new_state)
        if texts:
            self._topics.write_head(tx, page, changed_states)


def to_topic_text(topic: PendingTopic, answer: TaskResult[TopicReply]) -> TopicText:
    reply = answer.reply
    return TopicText(topic.state, reply.title, reply.summary, answer.made_by, answer.outage is None, reply.lines)


def load_pending_topics(
    tx: Tx, places: Sequence[rows.Place], asks: bool, max_calls: int, is_backlog: bool
) -> list[list[PendingTopic] | None]:
    """The pending topics of conversations, one more than `max_calls` in all; None for a conversation after that: what
    cannot be written now is not loaded."""
    by_place: list[list[PendingTopic] | None] = []
    calls_left = max_calls
    for place in places:
        by_place.append(pending_topics(tx, place, asks, calls_left + 1, is_backlog) if calls_left > 0 else None)
        calls_left -= len(by_place[-1] or ())
    return by_place


def pending_topics(tx: Tx, place: rows.Place, asks: bool, limit: int, is_backlog: bool) -> list[PendingTopic]:
    """The pending topics of a conversation, oldest first, at most `limit`."""
    # Few are found by their index. Of many, the first are found sooner in the order of all topics.
    pending_rows = tx.rows(rows.TABLE, limit=limit if is_backlog else None, where={**place, "pending": 1})
    states = [rows.to_state(row) for row in pending_rows[:limit]]
    topics = [load_pending_topic(tx, place, state, asks) for state in states]
    nicknames = names_near(tx, place, topics) if topics else KnownNames()
    return [replace(topic, lines=[show_addressee(line, nicknames) for line in topic.lines]) for topic in topics]


def names_near(tx: Tx, place: rows.Place, topics: Sequence[PendingTopic]) -> KnownNames:
    """What the people of a channel are called who wrote in these topics or before the last of them."""
    lines = [line for topic in topics for line in topic.lines]
    last = max((line.turn for line in lines), default=0)
    nicknames = read_channel_names(tx, place["space"], place["conversation"], last + 1)
    if nicknames.is_group:
        for author in {line.author for line in lines if line.role == "user"} - nicknames.people.keys():
            nicknames.add(author)
    return nicknames


def load_pending_topic(tx: Tx, place: rows.Place, state: TopicState, asks: bool) -> PendingTopic:
    """A pending topic with its messages to write about: if it was packed, the new ones in the packs; else the first."""
    if not state.packed_upto:
        return PendingTopic(state, "", rows.messages_outside_packs(tx, place, state)[:LINES])
    summary = rows.summary_of(tx, place, state.first)
    before, upto = (summary["base"], summary["base_upto"]) if asks else (summary["summary"], summary["upto"])
    # What a model wrote is prose; of a text of the built-in writer without its lines it is not known who said what.
    is_prose = asks or before == summary["base"]
    before_lines = () if is_prose else from_object(summary["extract"]) or whole_line(before)
    topic_key = {**place, "topic": state.first}
    packs = tx.rows(rows.PACKS, {**topic_key, "last": upto}, where=topic_key)
    messages = [message for row in packs for message in rows.decode_pack(bytes(row["packed"])) if message.turn > upto]
    lines = messages[-LINES:]
    return PendingTopic(state, before, lines, before_lines, episodes_about(tx, place, lines) if asks else ())


def episodes_about(tx: Tx, place: rows.Place, lines: Sequence[TopicMessage]) -> tuple[Episode, ...]:
    """The episodes most of whose messages are among these: the last ones, as many as there is room for."""
    if not lines:
        return ()
    turns = {message.turn for message in lines}
    room = EPISODE_CHARACTERS
    chosen: list[Episode] = []
    episodes = written_episodes(tx, place["space"], place["conversation"], lines[0].turn, lines[-1].turn)
    for episode in reversed(episodes):
        episode_turns = range(episode.first, episode.last + 1)
        is_about = len(turns.intersection(episode_turns)) >= MOSTLY * len(episode_turns)
        if is_about and len(episode.summary) <= room:
            room -= len(episode.summary)
            chosen.insert(0, episode)
    return tuple(chosen)
