"""Gathers everything that a context of a conversation can be chosen from, and has it built.

What is retrieved for a chat is its user's memory; what is retrieved for a channel is the channel's own, so that nothing
said in private is shown to many.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.engine.context import people as knowing
from recollect.engine.context import recall
from recollect.engine.context.build import assemble, head_of, room_beside
from recollect.engine.context.render import Note
from recollect.engine.context.state import ContextState
from recollect.engine.context.topic import find_current_topic
from recollect.engine.context.viewers import names_in_context, viewer_alone
from recollect.engine.runtime import Runtime
from recollect.engine.scope import ConversationScope
from recollect.engine.search import search_messages
from recollect.engine.tables import log
from recollect.engine.views import episodes
from recollect.engine.views.digest_texts import MergedDigest
from recollect.engine.views.digests import zone_of
from recollect.engine.views.tiers import load_tiers
from recollect.engine.views.window import last_archived_turn
from recollect.language.smalltalk import is_small_talk
from recollect.model import (
    Budget,
    Context,
    Episode,
    Filter,
    Hit,
    Message,
)
from recollect.ports import Tx, Vectors
from recollect.rules import log as rules
from recollect.rules.access import Viewer
from recollect.rules.recall.floor import CLOSE, FLOOR
from recollect.rules.recall.nearness import nearest_turns
from recollect.tasks import standalone
from recollect.tasks.reply import instructions
from recollect.tasks.task import TaskMessage

MAX_QUERY = 1 << 20  # bytes
LOOK_BACK = 400  # messages of the window considered for a context
JUST_SAID = 20  # messages: those of them that have left the window are as near as those in it
LONG_REQUEST = 8_000  # characters: whether a longer text fits at all is seen before anything is searched
RELEVANT = (40, 200)  # messages that recall proposes for a context: the least and the most,
TOKENS = 32  # one for so many tokens of the section
RETURNING = (3, 4)  # messages from outside the window that come back: at least so many, and one in so many of them all
SPEAKERS = 12  # messages of a channel whose authors a context tells about
EXCHANGE = 4  # messages that tell what a follow-up question is about
PATIENCE = 0.3  # seconds that a turn waits for a digest
FOUND = 10  # messages that a model's own search gives it


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is built for: the message, what to search for with it and its vector, and what it may hold."""

    text: str
    query: str
    vector: Vectors | None
    now: datetime
    budget: Budget
    system: str | None
    instruction_text: str
    question: Message | None
    speaker: tuple[str, MergedDigest] | None
    hits: Sequence[Hit]
    shown_ids: frozenset[str]


class ContextBuilder:
    """Builds contexts for one conversation, and searches for the model that is asked in it."""

    def __init__(self, runtime: Runtime, scope: ConversationScope) -> None:
        self._runtime = runtime
        self._scope = scope

    async def build(
        self,
        text: str,
        question: Message | None,
        hits: Sequence[Hit],
        budget: Budget,
        system: str | None,
        markers: bool,
        shown_ids: Collection[str] = (),
    ) -> Context:
        """`shown_ids` are the ids of messages that the model is shown anyway, beside the context."""
        parts = self._runtime.parts
        instruction_text = instructions() if markers else ""
        if len(text) + len(system or "") > LONG_REQUEST:
            head = head_of(instruction_text, system)
            await self._runtime.run(room_beside, text, head, budget, parts.tokenizer.count)
        query, vector = await self._search_query(text, question)
        speaker = await self._speaker_digest(question)
        now = parts.clock.now()
        request = ContextRequest(
            text, query, vector, now, budget, system, instruction_text, question, speaker, hits, frozenset(shown_ids)
        )

        def build() -> Context | ContextState:
            # The read transaction ends before the context is built, in the same thread: changing threads takes time.
            state = parts.store.read(lambda tx: self._read_state(tx, request))
            return state if state.is_large else assemble(state, budget, parts.tokenizer)

        result = await self._runtime.search(build)
        if isinstance(result, ContextState):
            result = await self._runtime.run(assemble, result, budget, parts.tokenizer)
        return result

    async def build_answer_context(
        self, budget: Budget, system: str | None, question: Message, hits: Sequence[Hit]
    ) -> Context:
        return await self.build(question.content, question, hits, budget, system, True)

    async def search(self, words: str) -> list[Hit]:
        """Search for the model: in the memory of the chat's user, or in the channel."""
        conversation = await self._runtime.read(lambda tx: self._scope.find(tx))
        person = conversation.user if conversation is not None else self._scope.user
        channel = None if person is not None else self._scope.id
        rules.check_text("query", words, limit=MAX_QUERY)
        where = Filter(self._scope.space, user=person, conversation=channel)
        return await search_messages(self._runtime, words, where, FOUND)

    async def recent_messages(self, limit: int | None, before: int | None) -> list[Message]:
        where = Filter(self._scope.space, conversation=self._scope.id)

        def read(tx: Tx) -> list[Message]:
            if self._scope.find(tx) is None:
                return []
            messages = list[Message]()
            upto = None if before is None else before - 1
            while page := tx.messages(where, upto=upto, limit=limit, newest=True, damaged=log.warn_of_damage):
                # Erased messages are not shown and do not count, so it may take more than one page.
                messages[:0] = [message for message in page if not message.erased]
                if limit is None or len(messages) >= limit or len(page) < limit:
                    break
                upto = page[0].turn - 1
            return messages if limit is None else messages[-limit:]

        return await self._runtime.read(read)

    async def last_exchange(self, question: Message | None) -> tuple[TaskMessage, ...]:
        """The last messages before a question."""
        last = await self.recent_messages(EXCHANGE, None if question is None else question.turn)
        return tuple(TaskMessage(message.role, message.content) for message in last)

    # -- what there is to choose from

    def _read_state(self, tx: Tx, request: ContextRequest) -> ContextState:
        """Everything that a context can be chosen from."""
        question = request.question
        shown_ids = request.shown_ids
        conversation = self._scope.find(tx)
        person = conversation.user if conversation is not None else self._scope.user
        start = last_archived_turn(tx, self._scope.space, self._scope.id)
        messages = self._last_messages(tx, min(start, conversation.turns - JUST_SAID)) if conversation else []
        messages = [m for m in messages if not m.erased and (question is None or m.turn < question.turn)]
        hits, past_episodes, nothing_relevant = self._recall(tx, request, person)
        in_window = [m for m in messages if m.turn > start]
        # While little has left the window, a search would bring all of it back, and nothing would be saved.
        outside_count = start if person is None else max(tx.tally(self._scope.space, person).docs - len(in_window), 0)
        return_limit = max(RETURNING[0], -(-outside_count // RETURNING[1]))
        excluded_ids = shown_ids | {message.id for message in in_window}
        retrieved = [hit for hit in hits if hit.message.id not in excluded_ids][:return_limit]
        relevance = self._nearest_messages(tx, request, messages) if hits else {}
        shown_hits = [hit for hit in hits if hit.message.id in excluded_ids] + retrieved
        relevance |= {hit.message.turn: hit.score for hit in shown_hits if hit.message.conversation == self._scope.id}
        # What has just left the window stays in it for a message to which it is relevant.
        window = [m for m in messages if m.turn > start or m.turn in relevance]
        window_ids = {message.id for message in window}
        retrieved = [hit for hit in retrieved if hit.message.id not in window_ids]
        place = (self._scope.space, self._scope.id)
        topic = None
        if request.vector is not None and conversation is not None:
            topics = self._runtime.topics
            topic = find_current_topic(tx, topics, place, request.text, request.vector, in_window, request.now)
        active_episodes = [record.episode for record in episodes.active_episodes(tx, *place)] if conversation else []
        notes = self._profile_notes(tx, person, window, request)
        viewer = self._viewer(tx, person)
        last_of_topic = topic.last_messages if topic is not None else ()
        authors = {
            *(message.author for message in window if message.role == "user"),
            *(hit.message.author for hit in (*retrieved, *request.hits) if hit.message.role == "user"),
            *(message.author for message in last_of_topic if message.role == "user"),
            *(line.author for episode in (*active_episodes, *past_episodes) for line in episode.lines if line.author),
            *(id for note in notes for id in (note.person, note.speaker) if id),
            *(() if question is None else (question.author,)),
        }
        return ContextState(
            text=request.text,
            instructions=request.instruction_text,
            system=request.system,
            conversation=self._scope.id,
            window=[m for m in window if m.id not in shown_ids],
            beside=[m for m in window if m.id in shown_ids],
            is_whole=start == 0 and len(window) < LOOK_BACK and window_ids.isdisjoint(shown_ids),
            tiers=load_tiers(tx, self._scope.space, self._scope.id, window[0].turn - 1) if window else {},
            episodes=active_episodes,
            past=past_episodes,
            profile=notes,
            relevance={m.turn: relevance[m.turn] for m in window if m.turn in relevance},
            retrieved=retrieved,
            nothing_relevant=nothing_relevant and outside_count > 0,
            found=request.hits,
            topic=topic,
            channel=person is None,
            raised_turns=self._runtime.parts.raised_turns,
            author=None if question is None else question.author,
            names=names_in_context(tx, self._scope.space, authors, viewer, () if person is None else window),
            now=request.now,
            zone=zone_of(tx, self._scope.space, self._runtime.parts.time_zone),
        )

    def _recall(self, tx: Tx, request: ContextRequest, person: str | None) -> tuple[list[Hit], list[Episode], bool]:
        """Messages and past episodes near the question, from the person's memory or from the channel; and whether the
        search found nothing relevant: then no message is recalled, and only an episode that is very close."""
        if request.vector is None:
            return [], [], False
        parts = self._runtime.parts
        question = request.question
        self._runtime.index.check_embedder(tx)
        scope = (
            Filter(self._scope.space, user=person)
            if person is not None
            else Filter(self._scope.space, conversation=self._scope.id)
        )
        limit = min(max(request.budget.retrieved // TOKENS, RELEVANT[0]), RELEVANT[1])
        hits = recall.search(
            tx, scope, request.query, request.vector, limit, request.now, parts.weights, question=question
        )
        hits = [hit for hit in hits if question is None or not follows(hit.message, question)]
        nothing_relevant = all(hit.relevance < FLOOR for hit in hits)
        least = 1 - parts.episode_distance
        if hits and nothing_relevant:
            least = max(least, parts.weights.cosine_at(CLOSE))
        past_episodes = episodes.nearest_episodes(tx, scope, request.vector, parts.near_episodes, least)
        return [] if nothing_relevant else hits, past_episodes, nothing_relevant

    def _last_messages(self, tx: Tx, after: int) -> list[Message]:
        """The messages after a turn, at most `LOOK_BACK` of them."""
        where = Filter(self._scope.space, conversation=self._scope.id)
        begin = (self._scope.id, max(after, 0))
        return tx.messages(where, after=begin, limit=LOOK_BACK, newest=True, damaged=log.warn_of_damage)

    def _nearest_messages(self, tx: Tx, request: ContextRequest, messages: Sequence[Message]) -> dict[int, float]:
        """The users' messages among the last ones, before those that are sent whole, that are nearest to the question,
        by turn."""
        if request.vector is None:
            return {}
        last_messages = messages[-JUST_SAID:][: -2 * request.budget.pairs or None]
        turns = {m.turn for m in last_messages if m.role == "user" and m.id not in request.shown_ids}
        if not turns:
            return {}
        vectors = tx.vectors_of(self._scope.space, self._scope.id, min(turns), max(turns))
        return nearest_turns(request.vector, {turn: vectors[turn] for turn in vectors.keys() & turns})

    async def _search_query(self, text: str, question: Message | None) -> tuple[str, Vectors | None]:
        """The query for a message and its vector; for small talk the vector is None, and nothing is searched."""
        if is_small_talk(text):
            return text, None
        if question is None:  # otherwise `_begin_turn` has waited before it kept the message
            await self._runtime.catch_up(self._scope.space)
        if standalone.depends_on_context(text):  # "and the second one?" is searched for with what it is about
            text = standalone.offline(standalone.Inputs(text, await self.last_exchange(question))).question
        return text, (await self._runtime.parts.embedder.embed([text]))[0]

    def _profile_notes(
        self,
        tx: Tx,
        person: str | None,
        window: Sequence[Message],
        request: ContextRequest,
    ) -> list[Note]:
        """Notes about the person, or about those who spoke last in a channel; what the message is about first."""
        query = request.query if request.vector is not None else ""
        if person is not None:
            return knowing.person_notes(tx, self._scope.space, person, self._viewer(tx, person), query)
        recent = [*window, *([request.question] if request.question else [])][-SPEAKERS:]
        people = dict.fromkeys(m.author for m in reversed(recent) if m.role == "user")
        return knowing.group_notes(tx, self._scope.space, people, self._channel_viewer, request.speaker, query)

    def _viewer(self, tx: Tx, person: str | None) -> Viewer:
        """Who reads the context: the person of the chat, or everybody in the channel."""
        if person is None:
            return self._channel_viewer
        return viewer_alone(tx, self._scope.space, person, shared=self._runtime.parts.share_channels)

    @property
    def _channel_viewer(self) -> Viewer:
        """The viewer that stands for everybody in this channel."""
        return Viewer(channel=self._scope.id, shared=self._runtime.parts.share_channels)

    async def _speaker_digest(self, question: Message | None) -> tuple[str, MergedDigest] | None:
        """In a channel, who speaks, with a digest of what they did lately. It waits only a moment: a digest that is
        not there yet is made in the background, for the next turn."""
        if self._scope.user is not None or (question is not None and question.user not in (None, question.author)):
            return None
        digests = self._runtime.digests

        def look(tx: Tx) -> tuple[str, str, str] | None:
            conversation = log.find_own_conversation(tx, self._scope.space, self._scope.id, None)
            if conversation is None or conversation.user is not None:
                return None
            where = Filter(self._scope.space, conversation=self._scope.id, role="user")
            messages = [question] if question else tx.messages(where, limit=1, newest=True, damaged=log.warn_of_damage)
            if not messages or messages[0].erased:
                return None
            author = messages[0].author
            return author, *knowing.channel_profile(tx, self._scope.space, author, self._channel_viewer)

        speaker = await self._runtime.read(look)
        if speaker is None:
            return None
        person, name, profile = speaker
        digest_request = await digests.prepare_request(
            self._scope.space, min(PATIENCE, self._runtime.parts.digest_seconds)
        )
        return person, await digests.merge_digests(digest_request, person, name, profile, self._channel_viewer)


def follows(message: Message, question: Message) -> bool:
    """Whether a message is the question or came after it. A second reply must not be made from the first one."""
    return message.conversation == question.conversation and message.turn >= question.turn
