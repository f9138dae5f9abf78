"""Gathers everything that a context of a conversation can be chosen from, and has it built.

What is retrieved for a chat is its user's memory; what is retrieved for a channel is the channel's own, so that nothing
said in private is shown to many.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from everword.context import people as knowing
from everword.context.build import assemble, head_of, room_beside
from everword.context.render import CurrentTopic
from everword.context.reply_markers import instructions, search_instructions
from everword.context.state import EXCHANGE, ContextRequest, ContextState, find_current_topic, task_messages
from everword.facts.stored_facts import (
    active_facts_by_person,
    names_in_context,
    statements_in,
    told_names,
    viewer_alone,
)
from everword.facts.view import command_of
from everword.follow.model_task import TaskMessage
from everword.log import append_and_read as log
from everword.log import checks_and_seals
from everword.log.access import ConversationScope, Viewer
from everword.log.append_and_read import add_names, add_versions, read_channel_names, warn_of_damage
from everword.memory.runtime import Runtime
from everword.memory.search import search_messages
from everword.model import Budget, Context, Conversation, Episode, Filter, Hit, Message, Tiers
from everword.ports import Tx, Vectors
from everword.recall import follow_up_questions
from everword.recall import retrieval as recall
from everword.recall.retrieval import PassageSource, open_source
from everword.recall.rules.query import text_to_compare
from everword.recall.rules.ranking import Weights
from everword.recall.rules.relevance import (
    ANSWERING,
    ASKED_BY,
    CLOSE,
    FLOOR,
    LENT,
    WITH_THREAD,
    is_question,
    match_words,
    nearest_turns,
    turns_around,
    with_lines_around,
    worthwhile_hits,
    worthwhile_share,
)
from everword.stores.outage_buffer import OUTAGES
from everword.summaries.digests import MergedDigest, speakers_on, zone_of
from everword.summaries.episodes import active_episodes, nearest_episodes
from everword.summaries.rules.days import day_of
from everword.summaries.rules.shortened_messages import is_terse, write_tiers
from everword.summaries.tiers import load_tiers
from everword.summaries.window import last_archived_turn
from everword.text import escaping
from everword.text.addressing import KnownNames
from everword.text.filler import is_small_talk
from everword.topics.stored_topics import answered_messages, place_of, thread_place, threads_at

MAX_QUERY = 1 << 20  # bytes
LOOK_BACK = 400  # messages of the window considered for a context
SHORT_CONVERSATION = 128  # messages: of so many, all are read, and sent if that costs no more than a choice of them
SMALL_MEMORY = 200  # messages of other conversations that may be sent whole,
SMALL_MEMORY_CHARACTERS = 12_000  # and their characters: hardly any text of 1,500 tokens has more
JUST_SAID = 20  # messages: those of them that have left the window are as near as those in it
LONG_REQUEST = 8_000  # characters: whether a longer text fits at all is seen before anything is searched
RELEVANT = (40, 200)  # messages that recall proposes for a context: the least and the most,
TOKENS = 32  # one for so many tokens of the section
RETURNING = 3  # messages from outside the window that come back, at least,
OF_ASKED = 3  # or one in so many of them all for a question,
OF_TOLD = 5  # and for what asks nothing
UNCERTAIN = 8  # messages that are shown for a question to which nothing is clearly relevant
FOUND = 10  # messages that a model's own search gives it


@dataclass(frozen=True, slots=True)
class SpokenMessages:
    """The last messages of a conversation, the `nearest` of them to the question, and the last turn that has left the
    window. `is_whole`: they are all there are, and none of them is shown beside the context."""

    messages: Sequence[Message]
    nearest: Sequence[Message]
    start: int
    is_whole: bool

    @property
    def window(self) -> list[Message]:
        return [message for message in self.nearest if message.turn > self.start]

    @property
    def just_left(self) -> list[Message]:
        return [message for message in self.nearest if message.turn <= self.start]

    @property
    def before_window(self) -> list[Message]:
        """All that were read and have left the window."""
        window_ids = {message.id for message in self.window}
        return [message for message in self.messages if message.id not in window_ids]


@dataclass(frozen=True, slots=True)
class RecalledMessages:
    """What is relevant to a message: hits outside the window, those of other conversations, past episodes, and turns of
    this conversation with their scores. If nothing is clearly relevant to a question, the best hits are `uncertain`."""

    hits: Sequence[Hit]
    elsewhere: Sequence[Hit]
    episodes: Sequence[Episode]
    relevance: Mapping[int, float]
    nothing_relevant: bool
    uncertain: bool
    threads: Mapping[str, int]


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
        if len(text) + len(system or "") > LONG_REQUEST:
            head = head_of(instructions() if markers else "", system)
            await self._runtime.run(room_beside, text, head, budget, parts.tokenizer)
        query, vector, embed = await self._search_query(parts.secrets.mask(text), question)
        speaker = await self._speaker_digest(question)
        now = parts.clock.now()
        shown_hits = [hit for hit in hits if hit.message.is_shown_at(now)]
        request = ContextRequest(
            text, query, vector, now, budget, system, markers, question, speaker, shown_hits, frozenset(shown_ids)
        )
        request = replace(request, embed=embed)
        store = self._runtime.store

        def build() -> Context | ContextState:
            # The read transaction ends before the context is built, in the same thread: changing threads takes time.
            state = store.read_with_held(self._scope.place, lambda tx: self._read_state(tx, request))
            return state if state.is_large else assemble(state, budget, parts.tokenizer)

        result = await self._runtime.search(build)
        if isinstance(result, ContextState):
            result = await self._runtime.run(assemble, result, budget, parts.tokenizer)
        # What is only looked at says the same each time; what is sent is compared with what was sent before.
        is_sent = question is not None
        return self._runtime.last_prompts.with_repeated(self._scope.place, result) if is_sent else result

    async def build_answer_context(
        self, budget: Budget, system: str | None, question: Message, hits: Sequence[Hit]
    ) -> Context:
        return await self.build(question.as_said.content, question, hits, budget, system, True)

    async def search(self, words: str) -> list[Hit]:
        """Search for the model: in the memory of the chat's user, or in the channel."""
        conversation = await self._runtime.read_with_held(self._scope.place, self._scope.find)
        person = conversation.user if conversation is not None else self._scope.user
        channel = None if person is not None else self._scope.id
        checks_and_seals.check_text("query", words, limit=MAX_QUERY)
        words = self._runtime.parts.secrets.mask(words)
        where = Filter(self._scope.space, user=person, conversation=channel)
        return await search_messages(self._runtime, words, where, FOUND)

    async def recent_messages(
        self, limit: int | None, before: int | None, versions: bool = False, *, shown_at: datetime | None = None
    ) -> list[Message]:
        """The last messages of the log, before a turn; those that have not expired at a time, if one is given."""
        return await self._runtime.read_with_held(
            self._scope.place, lambda tx: self._read_recent(tx, limit, before, versions, shown_at)
        )

    def _read_recent(
        self, tx: Tx, limit: int | None, before: int | None, versions: bool, shown_at: datetime | None
    ) -> list[Message]:
        conversation = self._scope.find(tx)
        if conversation is None:
            return []
        where = Filter(self._scope.space, conversation=self._scope.id)
        messages = list[Message]()
        upto = None if before is None else before - 1
        while page := tx.messages(where, upto=upto, limit=limit, newest=True, damaged=log.warn_of_damage):
            # Erased messages are not shown and do not count, so it may take more than one page.
            messages[:0] = [m for m in page if (m.is_shown_at(shown_at) if shown_at else not m.erased)]
            if limit is None or len(messages) >= limit or len(page) < limit:
                break
            upto = page[0].turn - 1
        recent = messages if limit is None else messages[-limit:]
        return add_versions(tx, conversation, recent) if versions else recent

    async def last_exchange(self, question: Message | None) -> tuple[TaskMessage, ...]:
        """The last messages before a question."""
        now = self._runtime.parts.clock.now()
        last = await self.recent_messages(EXCHANGE, None if question is None else question.turn, shown_at=now)
        return task_messages(last)

    # -- what there is to choose from

    def _read_state(self, tx: Tx, request: ContextRequest) -> ContextState:
        """Everything that a context can be chosen from."""
        conversation = self._scope.find(tx)
        person = conversation.user if conversation is not None else self._scope.user
        spoken = self._read_messages(tx, conversation, request)
        request = request.after_exchange(self._exchange_before(tx, request, spoken) if request.embed else ())
        recalled = self._recall_outside(tx, request, person, spoken)
        just_left_ids = {message.id for message in spoken.just_left}
        state = ContextState(
            text=request.text,
            instructions="",
            system=request.system,
            conversation=self._scope.id,
            window=[message for message in spoken.window if message.id not in request.shown_ids],
            beside=[message for message in spoken.window if message.id in request.shown_ids],
            just_left=spoken.just_left,
            is_whole=spoken.is_whole,
            past=recalled.episodes,
            relevance=recalled.relevance,
            retrieved=[hit for hit in recalled.hits if hit.message.id not in just_left_ids],
            nothing_relevant=recalled.nothing_relevant,
            uncertain=recalled.uncertain,
            threads=recalled.threads,
            found=request.hits,
            channel=person is None,
            raised_turns=self._runtime.parts.settings.raised_turns,
            author=None if request.question is None else request.question.author,
            now=request.now,
            zone=zone_of(tx, self._scope.space, self._runtime.parts.settings.time_zone),
        )
        if conversation is not None:
            state = self._with_views(tx, state, request, spoken)
        if spoken.is_whole:
            state = replace(
                state,
                earlier=spoken.before_window,
                elsewhere=recalled.elsewhere,
                other_chats=self._small_memory(tx, person, request.now),
            )
        if request.markers:
            state = self._with_instructions(tx, state, person, spoken)
        return self._with_people(tx, state, request, person, spoken.window)

    def _with_views(self, tx: Tx, state: ContextState, request: ContextRequest, spoken: SpokenMessages) -> ContextState:
        """The state with what is derived from the conversation: tiers, summaries, the topic of the message."""
        place = (self._scope.space, self._scope.id)
        window = spoken.window
        return replace(
            state,
            tiers=load_tiers(tx, *place, window[0].turn - 1) | self._held_tiers(window) if window else {},
            episodes=[record.episode for record in active_episodes(tx, *place)],
            topic=self._current_topic(tx, request, spoken),
        )

    def _with_instructions(
        self, tx: Tx, state: ContextState, person: str | None, spoken: SpokenMessages
    ) -> ContextState:
        """The state with what the model is told of memory: how to ask for more, and to write the tiers of the exchange,
        unless all is so short that it has none."""
        is_short = is_terse([*(message.content for message in spoken.window), state.text])
        can_search = spoken.is_whole and self._has_other_conversations(tx, person)
        return replace(
            state,
            instructions=instructions(inline=False),
            search_instructions=search_instructions(),
            whole_instructions=search_instructions() if can_search else "",
            tier_request="" if is_short else instructions(asking=False),
        )

    def _with_people(
        self, tx: Tx, state: ContextState, request: ContextRequest, person: str | None, window: Sequence[Message]
    ) -> ContextState:
        """The state with what is known of the people in it, and what they are called."""
        space = self._scope.space
        viewer = self._viewer(tx, person)
        speakers = knowing.last_speakers([*window, *([request.question] if request.question else [])])
        facts_by_person = active_facts_by_person(tx, space, speakers if person is None else [person])
        query = request.query if request.vector is not None else ""
        about = (request.speaker, query, state.language)
        notes = knowing.context_notes(tx, space, person, viewer, request.now, facts_by_person, *about)
        state = replace(state, profile=notes)
        # In a channel the register knows who speaks, but of messages that are held, which no view has read.
        own_messages = [m for m in (*state.earlier, *window) if person is not None or m.degraded is not None]
        people = sorted(state.people if person is None else {*state.people, person})
        names = names_in_context(tx, space, people, viewer, own_messages, facts_by_person)
        told = told_names(tx, space, people, viewer, facts_by_person)
        state = replace(state, names=names, titles=self._titles(tx, state), nicknames=self._known_names(tx, state))
        return replace(state, profile=[*knowing.name_notes(state, told, person, notes), *notes])

    def _known_names(self, tx: Tx, state: ContextState) -> KnownNames:
        """How the people of the context are spoken to: those of this channel, and those whose messages were found."""
        nicknames = read_channel_names(tx, self._scope.space, self._scope.id) if state.channel else KnownNames()
        hits = [hit.message for hit in (*state.retrieved, *state.elsewhere, *state.found)]
        if nicknames.is_group:  # what was found is said to people who may not have spoken since
            own_hits = [message for message in hits if message.conversation == self._scope.id]
            turns = {message.turn for message in own_hits}
            add_names(nicknames, answered_messages(tx, place_of(self._scope.space, self._scope.id), turns))
            days = {day_of(message.time, state.zone) for message in own_hits}
            for person in sorted(speakers_on(tx, self._scope.place, days) - nicknames.people.keys()):
                nicknames.add(person)
        add_names(nicknames, hits)
        add_names(nicknames, (*state.earlier, *state.just_left, *state.window, *state.beside))
        return nicknames

    def _titles(self, tx: Tx, state: ContextState) -> dict[str, str]:
        """What the other conversations in the context are called; where they have titles, no two the same."""
        ids = sorted({message.conversation for message in state.retrieved_messages} - {self._scope.id})
        titles = log.given_titles(tx, self._scope.space, ids) if ids else {}
        names = {id: escaping.plain_name(titles.get(id, "")) or escaping.plain_name(id) for id in ids}
        names = {id: name for id, name in names.items() if name}
        return escaping.distinct_labels(names) if titles else names

    def _read_messages(self, tx: Tx, conversation: Conversation | None, request: ContextRequest) -> SpokenMessages:
        """The last messages before the question; of a short conversation all."""
        start = last_archived_turn(tx, self._scope.space, self._scope.id)
        if conversation is None:
            return SpokenMessages([], [], start, is_whole=True)
        after = min(start, conversation.turns - JUST_SAID)
        is_short = conversation.turns <= SHORT_CONVERSATION
        place = conversation.id, 0 if is_short else max(after, 0)
        where = Filter(conversation.space, conversation=conversation.id)
        messages = tx.messages(where, after=place, limit=LOOK_BACK, newest=True, damaged=warn_of_damage)
        is_read_whole = len(messages) == conversation.turns < LOOK_BACK  # not if only the last are in memory
        question = request.question
        messages = [m for m in messages if m.is_shown_at(request.now) and (question is None or m.turn < question.turn)]
        is_whole = is_read_whole and request.shown_ids.isdisjoint(message.id for message in messages)
        return SpokenMessages(messages, [m for m in messages if m.turn > after], start, is_whole)

    def _small_memory(self, tx: Tx, person: str | None, now: datetime) -> list[Message]:
        """What a person said and was told in other conversations, if it is so little that it may be sent whole; the
        memory of a channel is the channel. What commands set is among what is known, as long as it holds."""
        if person is None or tx.index.tally(self._scope.space, person).docs > SMALL_MEMORY:
            return []
        where = Filter(self._scope.space, user=person)
        messages = [
            message
            for message in tx.messages(where, limit=SMALL_MEMORY, newest=True, damaged=warn_of_damage)
            if message.conversation != self._scope.id and message.is_shown_at(now) and command_of(message) is None
        ]
        messages = [message for message in messages if message.content.strip()]
        return messages if sum(len(message.content) for message in messages) <= SMALL_MEMORY_CHARACTERS else []

    def _exchange_before(self, tx: Tx, request: ContextRequest, spoken: SpokenMessages) -> Sequence[Message]:
        """The messages that tell what a follow-up question is about; mostly they are read already."""
        if len(spoken.messages) >= EXCHANGE or spoken.is_whole:
            return spoken.messages
        before = None if request.question is None else request.question.turn
        return self._read_recent(tx, EXCHANGE, before, False, request.now)

    def _has_other_conversations(self, tx: Tx, person: str | None) -> bool:
        """Whether a search of the model could find what was said elsewhere; the memory of a channel is the channel."""
        if person is None:
            return False
        return any(found.id != self._scope.id for found in tx.conversations(self._scope.space, person, limit=2))

    def _current_topic(self, tx: Tx, request: ContextRequest, spoken: SpokenMessages) -> CurrentTopic | None:
        if request.vector is None:
            return None
        place = (self._scope.space, self._scope.id)
        topics = self._runtime.topics
        turn = None if request.question is None else request.question.turn
        return find_current_topic(tx, topics, place, request.text, request.vector, spoken.window, request.now, turn)

    def _recall_outside(
        self, tx: Tx, request: ContextRequest, person: str | None, spoken: SpokenMessages
    ) -> RecalledMessages:
        """What is relevant to the question: messages from outside the window, and turns among the last messages."""
        excluded_ids = request.shown_ids | {message.id for message in spoken.window}
        known = {message.id: message for message in spoken.messages if not message.erased}
        reading_rule = recall.ReadingRule(worthwhile_share(request.text), excluded_ids, known)
        source = None if request.vector is None else self._open_source(tx, person, request.now)
        hits, past_episodes, nothing_relevant = self._recall(tx, source, request, person, reading_rule)
        uncertain = nothing_relevant and bool(hits)
        held_hits = self._match_held(request, person, spoken, max((hit.score for hit in hits), default=1.0))
        hits = sorted([*hits, *held_hits], key=lambda hit: -hit.score)
        nothing_relevant = nothing_relevant and not hits
        outside_count = self._count_outside(tx, source, person, spoken)
        return_limit = most_returning(outside_count, request.text)
        others = [hit for hit in worthwhile_hits(hits, request.text) if hit.message.id not in excluded_ids]
        outside_hits = without_forgotten(tx, [hit for hit in others if is_worth_showing(hit.message)])
        threads: dict[str, int] = {}
        if person is not None:  # in a channel, the lines around a message may be of other talks
            outside_hits = self._with_neighbours(tx, person, outside_hits[:return_limit], excluded_ids, request.now)
            return_limit = len(outside_hits)
            retrieved = outside_hits
        else:
            retrieved, threads = self._with_threads(tx, outside_hits[:return_limit], excluded_ids, request.now)
        elsewhere = [hit for hit in outside_hits if hit.message.conversation != self._scope.id][:return_limit]
        relevance = self._nearest_messages(source, request, spoken.nearest) if hits and not uncertain else {}
        relevance |= self._scores_by_turn([hit for hit in hits if hit.message.id in excluded_ids] + retrieved)
        return RecalledMessages(
            retrieved, elsewhere, past_episodes, relevance, nothing_relevant and outside_count > 0, uncertain, threads
        )

    def _scores_by_turn(self, hits: Sequence[Hit]) -> dict[int, float]:
        """The scores of the hits in this conversation."""
        return {hit.message.turn: hit.score for hit in hits if hit.message.conversation == self._scope.id}

    def _count_outside(self, tx: Tx, source: PassageSource | None, person: str | None, spoken: SpokenMessages) -> int:
        """How many messages have left the window."""
        if person is None:
            return spoken.start
        tally = tx.index.tally(self._scope.space, person) if source is None else source.tally()
        return max(tally.docs - len(spoken.window), 0)

    def _with_neighbours(
        self, tx: Tx, person: str, hits: Sequence[Hit], excluded_ids: Collection[str], now: datetime
    ) -> list[Hit]:
        """The hits, best first; in chats of short lines each with the lines around it that are of the person's own
        memory: what others say in a channel is theirs."""
        lines = [
            message
            for conversation, turns in turns_around(hits).items()
            for message in tx.messages(
                Filter(self._scope.space, user=person, conversation=conversation), turns=turns, damaged=warn_of_damage
            )
            if message.id not in excluded_ids and message.is_shown_at(now) and is_worth_showing(message)
        ]
        return without_forgotten(tx, with_lines_around(hits, lines))

    def _with_threads(
        self, tx: Tx, hits: Sequence[Hit], excluded_ids: Collection[str], now: datetime
    ) -> tuple[list[Hit], dict[str, int]]:
        """The hits of a group, best first, each of the best with what it answers and what answers it; and the threads
        of them all by the ids of their messages."""
        place = place_of(self._scope.space, self._scope.id)
        hit_turns = {hit.message.turn for hit in hits}
        threads = threads_at(tx, place, hit_turns)
        scores: dict[int, tuple[float, str, int]] = {}
        for hit in hits[:WITH_THREAD]:
            if (at := thread_place(tx, place, hit.message.turn)) is not None:
                for part, turns in ((ASKED_BY, at.asked), (ANSWERING, at.answers)):
                    for turn in turns:
                        scores.setdefault(turn, (hit.score * LENT, part, threads[hit.message.id]))
        where = Filter(self._scope.space, conversation=self._scope.id)
        other_turns = sorted(scores.keys() - hit_turns)
        lines = tx.messages(where, turns=other_turns, damaged=warn_of_damage) if other_turns else []
        hits = list(hits)
        for line in lines:
            if line.id not in excluded_ids and line.is_shown_at(now) and line.content.strip():
                score, part, thread = scores[line.turn]
                hits.append(Hit(line, score, {part: score}))
                threads[line.id] = thread
        return sorted(hits, key=lambda hit: -hit.score), threads

    def _open_source(self, tx: Tx, person: str | None, now: datetime) -> PassageSource:
        return open_source(tx, self._runtime.indexes, self._recall_scope(person), now, self._runtime.index)

    def _recall(
        self,
        tx: Tx,
        source: PassageSource | None,
        request: ContextRequest,
        person: str | None,
        reading_rule: recall.ReadingRule,
    ) -> tuple[list[Hit], list[Episode], bool]:
        """Messages and past episodes near the question, from the person's memory or from the channel; and whether the
        search found nothing relevant: then no message is recalled, and only an episode that is very close."""
        if source is None or request.vector is None:
            return [], [], False
        parts = self._runtime.parts
        question = request.question
        scope = self._recall_scope(person)
        limit = min(max(request.budget.retrieved // TOKENS, RELEVANT[0]), RELEVANT[1])
        hits = recall.search(
            tx,
            source,
            scope,
            request.query,
            request.vector,
            limit,
            request.now,
            weights_for_context(parts.weights),
            question=question,
            reading_rule=reading_rule,
        )
        hits = [hit for hit in hits if question is None or not follows(hit.message, question)]
        nothing_relevant = all(hit.relevance < FLOOR for hit in hits)
        least = 1 - parts.episode_distance
        if hits and nothing_relevant:
            least = max(least, parts.weights.cosine_at(CLOSE))
        past_episodes = nearest_episodes(tx, scope, request.vector, parts.settings.near_episodes, least)
        if nothing_relevant:  # what asks the memory has its hits ranked all the same
            hits = [hit for hit in hits if hit.score > 0][:UNCERTAIN] if is_question(request.text) else []
        return hits, past_episodes, nothing_relevant

    def _match_held(
        self, request: ContextRequest, person: str | None, spoken: SpokenMessages, best_score: float
    ) -> list[Hit]:
        """The messages with words of the question that are not in the index, since they are not written yet."""
        held_messages = self._runtime.store.held_messages(self._recall_scope(person))
        if request.vector is None or not held_messages:
            return []
        candidates = {message.id: message for message in spoken.messages if message.degraded is not None}
        for message in held_messages:
            if not (request.question and follows(message, request.question)):
                candidates.setdefault(message.id, message)
        return match_words(request.query, [*candidates.values()], best_score)

    def _held_tiers(self, messages: Sequence[Message]) -> dict[int, Tiers]:
        """The tiers of messages that are held in memory: the view that would store them waits."""
        count = self._runtime.parts.tokenizer.count
        return {m.turn: write_tiers(m.content, count) for m in messages if m.degraded is not None}

    def _recall_scope(self, person: str | None) -> Filter:
        if person is not None:
            return Filter(self._scope.space, user=person)
        return Filter(self._scope.space, conversation=self._scope.id)

    def _nearest_messages(
        self, source: PassageSource | None, request: ContextRequest, messages: Sequence[Message]
    ) -> dict[int, float]:
        """The users' messages among the last ones, before those that are sent whole, that are nearest to the question,
        by turn."""
        if source is None or request.vector is None:
            return {}
        last_messages = messages[-JUST_SAID:][: -2 * request.budget.pairs or None]
        turns = {m.turn for m in last_messages if m.role == "user" and m.id not in request.shown_ids}
        return nearest_turns(request.vector, source.vectors_of(self._scope.id, sorted(turns)))

    async def _search_query(
        self, text: str, question: Message | None
    ) -> tuple[str, Vectors | None, Callable[[Sequence[str]], Vectors] | None]:
        """The query for a message and its vector; for small talk the vector is None, and nothing is searched. Or, for a
        follow-up question, what makes its vector at once when the messages before it are read."""
        if is_small_talk(text):
            return text, None, None
        if question is None:  # otherwise `_begin_turn` has waited before it kept the message
            await self._runtime.catch_up(self._scope.filter_of_recall)
        parts = self._runtime.parts
        if follow_up_questions.depends_on_context(text):  # "and the second one?" is searched for with what it is about
            embed_now = getattr(parts.embedder, "embed_now", None)
            if embed_now is not None:
                return text, None, embed_now
            inputs = follow_up_questions.Inputs(text, await self.last_exchange(question))
            text = follow_up_questions.offline(inputs).question
        return text, (await parts.embedder.embed([text_to_compare(text, parts.clock.now())]))[0], None

    def _viewer(self, tx: Tx, person: str | None) -> Viewer:
        """Who reads the context: the person of the chat, or everybody in the channel."""
        if person is None:
            return self._channel_viewer
        return viewer_alone(tx, self._scope.space, person, shared=self._runtime.parts.settings.share_channels)

    @property
    def _channel_viewer(self) -> Viewer:
        """The viewer that stands for everybody in this channel."""
        return Viewer(channel=self._scope.id, shared=self._runtime.parts.settings.share_channels)

    async def _speaker_digest(self, question: Message | None) -> tuple[str, MergedDigest] | None:
        """In a channel, who speaks, with a digest of what they did lately. It waits only a moment: a digest that is
        not there yet is made in the background, for the next turn."""
        if self._scope.user is not None or (question is not None and question.user not in (None, question.author)):
            return None
        if self._runtime.degraded is not None:  # no digest can be made
            return None
        digests = self._runtime.digests
        now = self._runtime.parts.clock.now()

        def look(tx: Tx) -> tuple[str, str, str] | None:
            conversation = log.find_own_conversation(tx, self._scope.space, self._scope.id, None)
            if conversation is None or conversation.user is not None:
                return None
            where = Filter(self._scope.space, conversation=self._scope.id, role="user")
            messages = [question] if question else tx.messages(where, limit=1, newest=True, damaged=log.warn_of_damage)
            if not messages or not messages[0].is_shown_at(now):
                return None
            author = messages[0].author
            return author, *knowing.channel_profile(tx, self._scope.space, author, self._channel_viewer, now)

        try:
            speaker = await self._runtime.read(look)
        except OUTAGES:  # then the context is made without it, of what is in memory
            return None
        if speaker is None:
            return None
        person, name, profile = speaker
        parts = self._runtime.parts
        patience = min(parts.settings.context_digest_seconds, parts.settings.digest_seconds)
        digest_request = await digests.prepare_request(self._scope.space, patience)
        return person, await digests.merge_digests(digest_request, person, name, profile, self._channel_viewer)


def weights_for_context(weights: Weights) -> Weights:
    """The weights for a context, which has room for many hits of one occasion."""
    return replace(weights, coverage=0.0)


def is_worth_showing(message: Message) -> bool:
    """Whether a message that was found can stand in a context. Small talk answers nothing. The answer to a command
    repeats what somebody told, without their name, and a command to change or forget something repeats what holds no
    more."""
    commands = (None, "remember") if message.role == "user" else (None,)
    return command_of(message) in commands and not is_small_talk(message.content)


def without_forgotten(tx: Tx, hits: Sequence[Hit]) -> list[Hit]:
    """The hits without those that asked to remember what was forgotten since."""
    asked = [hit.message for hit in hits if command_of(hit.message) == "remember"]
    is_remembered: dict[str, bool] = {}
    for message, statement in statements_in(tx, asked) if asked else ():
        is_remembered[message.id] = statement.active or is_remembered.get(message.id, False)
    return [hit for hit in hits if is_remembered.get(hit.message.id, True)]


def follows(message: Message, question: Message) -> bool:
    """Whether a message is the question or came after it. A second reply must not be made from the first one."""
    return message.conversation == question.conversation and message.turn >= question.turn


def most_returning(outside_count: int, text: str) -> int:
    """How many messages of those outside the window may return. While little has left it, a search would bring all of
    it back, and nothing would be saved."""
    return max(RETURNING, -(-outside_count // (OF_ASKED if is_question(text) else OF_TOLD)))
