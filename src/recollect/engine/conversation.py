"""One conversation: adding to it, reading it back, building contexts for it, and having a model reply in it.

Everything here belongs to one space and one conversation, and to one user if it is a chat with one. A chat retrieves
from its user's memory; a channel retrieves only from itself, so that nothing said in private is shown to many.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.engine import turn
from recollect.engine.commands import run_command
from recollect.engine.context import people as knowing
from recollect.engine.context import recall
from recollect.engine.context.build import ContextState, assemble, head_of, room_beside
from recollect.engine.context.render import Note
from recollect.engine.context.topic import find_current_topic
from recollect.engine.conversation_topics import TopicalConversation
from recollect.engine.tables import log
from recollect.engine.views import episodes
from recollect.engine.views.digest_texts import MergedDigest
from recollect.engine.views.tiers import load_tiers
from recollect.engine.views.window import last_archived_turn, load_chunks
from recollect.language.smalltalk import is_small_talk
from recollect.model import (
    Added,
    Answer,
    Batch,
    Budget,
    Chunk,
    Context,
    Draft,
    Episode,
    Filter,
    Hit,
    Message,
    Reply,
    Role,
)
from recollect.ports import Tx, Vectors
from recollect.rules import log as rules
from recollect.rules.access import PROGRAM, Access, Viewer
from recollect.rules.log import check_number
from recollect.tasks import standalone
from recollect.tasks.reply import instructions
from recollect.tasks.task import TaskMessage

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine

MAX_TURN = 2**31 - 1  # messages in one conversation
LOOK_BACK = 400  # messages of the window considered for a context
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


class AsyncConversation(TopicalConversation):
    """One thread of messages."""

    def __init__(self, memory: MemoryEngine, space: str, id: str, user: str | None, access: Access = PROGRAM) -> None:
        """`access` says who acts. If it is bound to a user, what belongs to others does not exist for it."""
        self._memory = memory
        self._access = access
        self.space = space
        self.id = id
        self.user = user

    def __repr__(self) -> str:
        return f"<conversation {self.space}/{self.id}>"

    async def add(
        self,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        user: str | None = None,
        time: datetime | None = None,
        platform_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
    ) -> Message:
        """Keep a message. Once this returns, it is on the disk; the same platform id twice is kept once.

        `name` is what its author is called there now; it is kept in the metadata, and in a channel's register.
        """
        full_metadata = {} if metadata is None else metadata
        if name is not None:
            full_metadata = {**full_metadata, "name": rules.check_id("name", name)}
        draft = Draft(role, content, author, user, time, platform_id, full_metadata)
        return (await self.extend([draft]))[0].message

    async def extend(self, drafts: Iterable[Draft]) -> list[Added]:
        """Keep several messages in one transaction: all of them, or none."""
        batch = Batch(self.space, self.id, self.user, list(drafts))
        return (await self._memory.add_many([batch]))[0]

    async def history(self, *, limit: int | None = None, before: int | None = None) -> list[Message]:
        """The messages in order; with `limit`, the last ones, and with `before`, those before that turn."""
        count = None if limit is None else check_number("limit", limit, MAX_TURN)
        return await self._recent_messages(count, None if before is None else check_number("before", before, MAX_TURN))

    async def context(
        self, text: str, *, budget: Budget | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        """What to send to a model to have `text` answered: never over budget, with a receipt.

        It tells the model how to ask for more by markers, which `reply` serves. Without `markers` it does not: for
        programs that call a model themselves and show what it says.
        """
        rules.check_text("text", text)
        if system is not None:
            rules.check_text("system", system)
        return await self._context(text, None, (), budget or Budget(), system, markers)

    async def reply(
        self,
        text: str,
        *,
        budget: Budget | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Reply:
        """The whole turn: keep the message, ask the model, keep and return its reply."""
        with self._memory._turn_of(self.space, self.id):
            return await turn.answer(*await self._begin_turn(text, budget, system, author, platform_id))

    async def stream(
        self,
        text: str,
        *,
        budget: Budget | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> AsyncIterator[str]:
        """The same, piece by piece as it is written. A turn that is cut off keeps what was seen, as partial."""
        with self._memory._turn_of(self.space, self.id) as turns:
            turn_and_tools = await self._begin_turn(text, budget, system, author, platform_id)
            turns.append(turn_and_tools)
            # Closed together with this generator: when the caller stops listening, the log is correct at once.
            async with aclosing(turn.stream(*turn_and_tools)) as pieces:
                async for piece in pieces:
                    yield piece

    async def command(
        self,
        text: str,
        *,
        author: str | None = None,
        names: Sequence[str] = ("recollect", "bot"),
        addressed: bool = False,
    ) -> Answer | None:
        """Carry out what a message asks of the memory: remember, forget, tell what is known; None if it asks nothing.

        `names` are those the memory is called by; with `addressed`, the message is for it without naming it. A command
        is kept in the log with its answer; what is none is not: it is ordinary talk, for `reply` or `add`.
        """
        conversation_key = (self.space, self.id, self.user)
        return await run_command(self._memory, conversation_key, text, author, tuple(names), addressed, self._access)

    async def archived(self) -> list[Chunk]:
        """The runs of messages that have left the window, oldest first."""

        def read(tx: Tx) -> list[Chunk]:
            exists = self._own_conversation(tx) is not None
            return load_chunks(tx, self.space, self.id) if exists else []

        return await self._memory._read(read)

    async def episodes(self) -> list[Episode]:
        """What left the window, as summaries: the active ones, highest level first, each with its parts."""

        def read(tx: Tx) -> list[Episode]:
            exists = self._own_conversation(tx) is not None
            return episodes.episode_tree(tx, self.space, self.id) if exists else []

        return await self._memory._read(read)

    async def standalone(self, question: str) -> str:
        """A follow-up question so that it can be understood alone, from what was said last; as it is if it can be."""
        rules.check_text("question", question)
        inputs = standalone.Inputs(question, await self._last_exchange(None), await self._subject())
        return (await self._memory._asking.ask(standalone, inputs)).reply.question

    async def _last_exchange(self, question: Message | None) -> tuple[TaskMessage, ...]:
        """The last messages before a question."""
        last = await self._recent_messages(EXCHANGE, None if question is None else question.turn)
        return tuple(TaskMessage(message.role, message.content) for message in last)

    # -- a turn

    async def _begin_turn(
        self, text: str, budget: Budget | None, system: str | None, author: str | None, platform_id: str | None
    ) -> tuple[turn.Turn, turn.TurnTools]:
        if system is not None:
            rules.check_text("system", system)
        memory = self._memory
        parts = memory._opened
        model = memory._chat.for_task("reply")
        await memory._usable(model)
        await memory._caught_up(self.space)
        draft = Draft("user", text, author, None, None, platform_id)
        batch = Batch(self.space, self.id, self.user, [draft])
        # Views are woken when the turn ends: nobody waits for them, and they should not slow the turn down.
        question = (await memory._add([batch]))[0][0].message
        tools = turn.TurnTools(
            model=model,
            context=partial(self._answer_context, budget or Budget(), system),
            search=self._search,
            write=memory._write,
            count=parts.tokenizer.count,
            now=parts.clock.now,
            woken=memory._wake,
            rounds=parts.rounds,
            raised_turns=parts.raised_turns,
        )
        return turn.Turn(question), tools

    async def _answer_context(
        self, budget: Budget, system: str | None, question: Message, hits: Sequence[Hit]
    ) -> Context:
        return await self._context(question.content, question, hits, budget, system, True)

    async def _context(
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
        parts = self._memory._opened
        instruction_text = instructions() if markers else ""
        if len(text) + len(system or "") > LONG_REQUEST:
            head = head_of(instruction_text, system)
            await self._memory._run(room_beside, text, head, budget, parts.tokenizer.count)
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

        result = await self._memory._search(build)
        if isinstance(result, ContextState):
            result = await self._memory._run(assemble, result, budget, parts.tokenizer)
        return result

    def _read_state(self, tx: Tx, request: ContextRequest) -> ContextState:
        """Everything that a context can be chosen from."""
        question = request.question
        shown_ids = request.shown_ids
        conversation = self._own_conversation(tx)
        person = conversation.user if conversation is not None else self.user
        start = last_archived_turn(tx, self.space, self.id)
        window = self._window(tx, start) if conversation else []
        window = [m for m in window if not m.erased and (question is None or m.turn < question.turn)]
        hits, past_episodes = self._recall(tx, request, person)
        topic = None
        if request.vector is not None and conversation is not None:
            place = (self.space, self.id)
            topics = self._memory._topics
            topic = find_current_topic(tx, topics, place, request.text, request.vector, window, request.now)
        window_ids = {message.id for message in window}
        # While little has left the window, a search would bring all of it back, and nothing would be saved.
        outside_count = start if person is None else max(tx.tally(self.space, person).docs - len(window), 0)
        return_limit = max(RETURNING[0], -(-outside_count // RETURNING[1]))
        excluded_ids = window_ids | shown_ids
        return ContextState(
            text=request.text,
            instructions=request.instruction_text,
            system=request.system,
            conversation=self.id,
            window=[m for m in window if m.id not in shown_ids],
            tiers=load_tiers(tx, self.space, self.id, window[0].turn - 1) if window else {},
            episodes=[row.episode for row in episodes.active_episodes(tx, self.space, self.id)] if conversation else (),
            past=past_episodes,
            profile=self._profile_notes(tx, person, window, question, request.speaker),
            relevance={hit.message.turn: hit.score for hit in hits if hit.message.id in window_ids},
            retrieved=[hit for hit in hits if hit.message.id not in excluded_ids][:return_limit],
            found=request.hits,
            topic=topic,
            channel=person is None,
            raised_turns=self._memory._opened.raised_turns,
            author=None if question is None else question.author,
        )

    def _recall(self, tx: Tx, request: ContextRequest, person: str | None) -> tuple[list[Hit], list[Episode]]:
        """Messages and past episodes near the question: from the person's memory, or from the channel."""
        if request.vector is None:
            return [], []
        parts = self._memory._opened
        question = request.question
        self._memory._index.check_embedder(tx)
        scope = Filter(self.space, user=person) if person is not None else Filter(self.space, conversation=self.id)
        limit = min(max(request.budget.retrieved // TOKENS, RELEVANT[0]), RELEVANT[1])
        hits = recall.search(tx, scope, request.query, request.vector, limit, request.now, parts.weights)
        past_episodes = episodes.nearest_episodes(
            tx, scope, request.vector, parts.near_episodes, 1 - parts.episode_distance
        )
        return [hit for hit in hits if question is None or not follows(hit.message, question)], past_episodes

    def _window(self, tx: Tx, start: int) -> list[Message]:
        """The messages that have not left the window, at most `LOOK_BACK` of them."""
        where = Filter(self.space, conversation=self.id)
        begin = (self.id, start)
        return tx.messages(where, after=begin, limit=LOOK_BACK, newest=True, damaged=log.warn_of_damage)

    async def _search_query(self, text: str, question: Message | None) -> tuple[str, Vectors | None]:
        """The query for a message and its vector; for small talk the vector is None, and nothing is searched."""
        if is_small_talk(text):
            return text, None
        if question is None:  # otherwise `_begin_turn` has waited before it kept the message
            await self._memory._caught_up(self.space)
        if standalone.depends_on_context(text):  # "and the second one?" is searched for with what it is about
            text = standalone.offline(standalone.Inputs(text, await self._last_exchange(question))).question
        return text, (await self._memory._opened.embedder.embed([text]))[0]

    def _profile_notes(
        self,
        tx: Tx,
        person: str | None,
        window: Sequence[Message],
        question: Message | None,
        speaker: tuple[str, MergedDigest] | None,
    ) -> list[Note]:
        """Notes about the person, or about those who spoke last in a channel."""
        if person is not None:
            return knowing.person_notes(tx, self.space, person, self._memory._viewer(tx, self.space, person))
        recent = [*window, *([question] if question else [])][-SPEAKERS:]
        people = dict.fromkeys(m.author for m in reversed(recent) if m.role == "user")
        return knowing.group_notes(tx, self.space, people, self._channel_viewer, speaker)

    @property
    def _channel_viewer(self) -> Viewer:
        """The viewer that stands for everybody in this channel."""
        return Viewer(channel=self.id, shared=self._memory._opened.share_channels)

    async def _speaker_digest(self, question: Message | None) -> tuple[str, MergedDigest] | None:
        """In a channel, who speaks, with a digest of what they did lately. It waits only a moment: a digest that is
        not there yet is made in the background, for the next turn."""
        if self.user is not None or (question is not None and question.user not in (None, question.author)):
            return None
        digests = self._memory._digests

        def look(tx: Tx) -> tuple[str, str, str] | None:
            conversation = log.find_own_conversation(tx, self.space, self.id, None)
            if conversation is None or conversation.user is not None:
                return None
            where = Filter(self.space, conversation=self.id, role="user")
            messages = [question] if question else tx.messages(where, limit=1, newest=True, damaged=log.warn_of_damage)
            if not messages or messages[0].erased:
                return None
            author = messages[0].author
            return author, *knowing.channel_profile(tx, self.space, author, self._channel_viewer)

        speaker = await self._memory._read(look)
        if speaker is None:
            return None
        person, name, profile = speaker
        digest_request = await digests.prepare_request(self.space, min(PATIENCE, self._memory._opened.digest_seconds))
        return person, await digests.merge_digests(digest_request, person, name, profile, self._channel_viewer)

    async def _search(self, words: str) -> list[Hit]:
        """Search for the model: in the memory of the chat's user, or in the channel."""
        conversation = await self._memory._read(lambda tx: self._own_conversation(tx))
        person = conversation.user if conversation is not None else self.user
        channel = None if person is not None else self.id
        return await self._memory.search(words, user=person, conversation=channel, space=self.space, limit=FOUND)

    async def _recent_messages(self, limit: int | None, before: int | None) -> list[Message]:
        where = Filter(self.space, conversation=self.id)

        def read(tx: Tx) -> list[Message]:
            if self._own_conversation(tx) is None:
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

        return await self._memory._read(read)


def conversation_for(memory: MemoryEngine, access: Access, space: str, id: str, user: str | None) -> AsyncConversation:
    """A conversation for this access: of the named user, or of the user that the access is bound to."""
    owner = access.resolve_user(user)
    owner = None if owner is None else rules.check_id("user", owner)
    return AsyncConversation(memory, space, rules.check_id("conversation", id), owner, access)


def follows(message: Message, question: Message) -> bool:
    """Whether a message is the question or came after it. A second reply must not be made from the first one."""
    return message.conversation == question.conversation and message.turn >= question.turn
