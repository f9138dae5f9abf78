"""What a context is asked for, and its material: everything that it can be chosen from, read in one transaction.

A follow-up question is searched for with what the last messages before it are about, so what to search for may be open
until these are read. The topic of the message is part of the material as far as no other section shows it: a topic that
lies in the window is shown there; if it began before the window, the summary of its packed part is shown, and if the
conversation returns to it, its last messages too. This reads the topics, which are cached, and two more rows if there
is something to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property

from everword.context.render import Calendar, CurrentTopic, Note, current_text
from everword.follow.model_task import TaskMessage
from everword.model import Budget, Episode, ExtractLine, Hit, Message, Role, Tiers, TopicMessage
from everword.ports import Tx, Vectors
from everword.recall import follow_up_questions
from everword.recall.rules.query import text_to_compare
from everword.summaries.digests import MergedDigest
from everword.text import escaping
from everword.text.addressing import KnownNames
from everword.text.escaping import author_labels
from everword.text.language_packs import language_of_chat
from everword.topics import stored_topics as rows
from everword.topics.rules import topics as rule
from everword.topics.rules.fading import TopicState
from everword.topics.rules.topic_set import round_vector
from everword.topics.rules.topics import IncomingMessage
from everword.topics.view import LAST, TopicPage, Topics, may_lean

EXCHANGE = 4  # messages that tell what a follow-up question is about


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What a context is built for: the message, what to search for with it and its vector, and what it may hold.
    `embed` is set while what to search for is open."""

    text: str
    query: str
    vector: Vectors | None
    now: datetime
    budget: Budget
    system: str | None
    markers: bool
    question: Message | None
    speaker: tuple[str, MergedDigest] | None
    hits: Sequence[Hit]
    shown_ids: frozenset[str]
    embed: Callable[[Sequence[str]], Vectors] | None = None

    def after_exchange(self, messages: Sequence[Message]) -> ContextRequest:
        """The request with what to search for, from the last messages before the question."""
        if self.embed is None:
            return self
        inputs = follow_up_questions.Inputs(self.query, task_messages(messages[-EXCHANGE:]))
        query = follow_up_questions.offline(inputs).question
        vector = self.embed([text_to_compare(query, self.now)])[0]
        return replace(self, query=query, vector=vector, embed=None)


def task_messages(messages: Sequence[Message]) -> tuple[TaskMessage, ...]:
    return tuple(TaskMessage(message.role, message.content) for message in messages)


LARGE = 200_000  # characters of the material of a context; the usual budget holds about 120,000


@dataclass(frozen=True)
class ContextState:
    """The material of a context. Where nothing of the window is shortened, `search_instructions` are all that the
    model has to be told. `window` has the messages before the current one, oldest first; `just_left` those that
    have just left it; `beside` those that the model is shown anyway, beside the context; `author` is who wrote the
    current one, if known. `is_whole` says that `earlier`, which has left the window, and the window are the whole
    conversation: it can be sent as it is, with other instructions and what was found `elsewhere`, and then
    `sends_whole`; `other_chats` is all that was said elsewhere, if it is little. What is retrieved is `uncertain`
    if nothing is clearly relevant; `threads` are those of retrieved messages of a group, by id. `names` says what
    people are called, by id, `nicknames` how they are spoken to, and `titles` what other conversations are called;
    `now` and `zone` which day it is.
    """

    text: str
    instructions: str
    system: str | None
    search_instructions: str = ""
    whole_instructions: str = ""
    tier_request: str = ""
    conversation: str = ""
    window: Sequence[Message] = ()
    just_left: Sequence[Message] = ()
    beside: Sequence[Message] = ()
    earlier: Sequence[Message] = ()
    is_whole: bool = False
    sends_whole: bool = False
    tiers: Mapping[int, Tiers] = field(default_factory=dict)
    relevance: Mapping[int, float] = field(default_factory=dict)
    profile: Sequence[Note] = ()
    episodes: Sequence[Episode] = ()
    past: Sequence[Episode] = ()
    retrieved: Sequence[Hit] = ()
    threads: Mapping[str, int] = field(default_factory=dict)
    elsewhere: Sequence[Hit] = ()
    other_chats: Sequence[Message] = ()
    nothing_relevant: bool = False
    uncertain: bool = False
    found: Sequence[Hit] = ()
    topic: CurrentTopic | None = None
    channel: bool = False
    raised_turns: int = 20
    author: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    now: datetime | None = None
    zone: tzinfo = UTC
    nicknames: KnownNames = field(default_factory=KnownNames)

    @property
    def language(self) -> str:
        """The language of the message, or of the chat where it is too short to tell."""
        return language_of_chat(self.text, (message.content for message in reversed(self.window)))

    @property
    def retrieved_messages(self) -> list[Message]:
        """The messages that may be shown under the conversation they are from."""
        hits = (*self.retrieved, *self.elsewhere, *self.found)
        return [*self.other_chats, *(hit.message for hit in hits)]

    @property
    def people(self) -> set[str]:
        """The ids of all people who may be named in the context."""
        own_messages = (*self.earlier, *self.just_left, *self.window, *self.beside)
        messages = (*own_messages, *self.retrieved_messages)
        last_of_topic = self.topic.last_messages if self.topic is not None else ()
        return {
            *(message.author for message in messages if message.role == "user"),
            *(message.author for message in last_of_topic if message.role == "user"),
            *(line.author for line in self.summary_lines if line.author and line.role != "assistant"),
            *(id for note in self.profile for id in (note.person, note.speaker) if id),
            *(() if self.author is None else (self.author,)),
        }

    @property
    def summary_lines(self) -> Iterator[ExtractLine]:
        """The lines of all summaries that may be in the context."""
        for episode in (*self.episodes, *self.past):
            yield from episode.lines
        if self.topic is not None:
            yield from self.topic.lines

    @cached_property
    def labels(self) -> escaping.Labels:
        """The label of each author in the context; no two are the same."""
        messages = [
            *self.other_chats,
            *self.just_left,
            *self.window,
            *(hit.message for hit in (*self.found, *self.retrieved)),
        ]
        speakers: list[tuple[Role, str]] = [(message.role, message.author) for message in messages]
        speakers += [(message.role, message.author) for message in (self.topic.last_messages if self.topic else ())]
        speakers += [(line.role, line.author) for line in self.summary_lines if line.role]
        speakers += [("user", person) for note in self.profile for person in (note.person, note.speaker) if person]
        speakers += [] if self.author is None else [("user", self.author)]
        return author_labels(speakers, self.names)

    @property
    def shows_authors(self) -> bool:
        """Whether messages say who wrote them: in a channel, and in a chat in which several people write."""
        authors = {message.author for message in self.window if message.role == "user"}
        return self.channel or len(authors) > 1

    @property
    def current(self) -> str:
        """The current message as it is sent."""
        return current_text(self.text, self.author, self.shows_authors, self.labels, self.nicknames)

    def as_whole(self) -> ContextState:
        """The state from which the whole conversation is sent: nothing of it is summed up, retrieved or asked for."""
        return replace(  # what other conversations hold can be retrieved
            self,
            instructions=self.whole_instructions,
            window=sorted((*self.earlier, *self.window), key=lambda message: message.turn),
            earlier=(),
            just_left=(),
            sends_whole=True,
            tiers={},
            relevance={},
            episodes=(),
            past=[episode for episode in self.past if episode.conversation != self.conversation],
            retrieved=self.elsewhere,
            found=[hit for hit in self.found if hit.message.conversation != self.conversation],
            topic=None,
            other_chats=(),
        )

    def as_whole_memory(self) -> ContextState:
        """The state from which the whole memory is sent: there is nothing else to find."""
        return replace(
            self.as_whole(),
            instructions="",
            other_chats=self.other_chats,
            past=(),
            retrieved=(),
            found=(),
            nothing_relevant=False,
        )

    @property
    def is_unsaid(self) -> bool:
        """Whether nothing was said yet in the conversation, so that to send it whole changes nothing."""
        own_parts = (self.earlier, self.window, self.episodes, self.topic, self.other_chats)
        is_own = any(hit.message.conversation == self.conversation for hit in (*self.retrieved, *self.found))
        return not any(own_parts) and not is_own and self.whole_instructions == self.search_instructions

    @property
    def calendar(self) -> Calendar:
        """The day and the time zone in which times are shown."""
        return Calendar(self.now, self.zone)

    @property
    def can_ask(self) -> bool:
        """Whether the model is told how to ask for more."""
        return bool(self.instructions)

    @property
    def is_large(self) -> bool:
        """Whether counting and escaping it takes so long that it should not block others."""
        messages = (*self.earlier, *self.window, *(hit.message for hit in (*self.retrieved, *self.found)))
        return len(self.text) + len(self.system or "") + sum(len(message.content) for message in messages) > LARGE


# -- the topic of the message


KEPT = 4  # last messages of a topic outside the window that are shown


def find_current_topic(
    tx: Tx,
    topics: Topics,
    place: tuple[str, str],
    text: str,
    vector: Vectors,
    window: Sequence[Message],
    now: datetime,
    turn: int | None = None,
) -> CurrentTopic | None:
    """The topic that a message in `place` (a space and a conversation) belongs to, with what is worth showing. A
    message that is kept already, as that `turn`, may have one; of another it is found which it would join."""
    page = topics.read_page(tx, *place)
    if not page.book.states:
        return None
    first = page.topic_at(tx, turn) if turn is not None and turn <= page.turn else None
    if first is not None and first in page.book.states:
        parts = page.book.topics.parts(page.root(tx, first))
    else:
        text = text[: rows.LOOKED_AT]
        message = IncomingMessage(LAST, "user", text, now, round_vector(vector), leaning=may_lean(text))
        parts = matching_topics(tx, topics, page, message)
    if not parts:
        return None
    start = window[0].turn if window else LAST
    lines: tuple[ExtractLine, ...] = ()
    last_messages: list[TopicMessage] = []
    if min(part.first for part in parts) < start:
        lines = packed_lines(tx, page, parts)
        if parts[0].first != page.book.current:  # the conversation returns to it
            last_messages = messages_before(tx, page, parts, start)
    return CurrentTopic(
        id=parts[0].id,
        title=parts[0].title,
        first=parts[0].first,
        since=min(part.created_at for part in parts),
        messages=sum(part.count for part in parts),
        lines=lines,
        last_messages=sorted(last_messages, key=lambda message: message.turn)[-KEPT:],
    )


def matching_topics(tx: Tx, topics: Topics, page: TopicPage, message: IncomingMessage) -> list[TopicState]:
    """The topic a message belongs to, active or faded, with all its parts; empty if the message opens a new topic."""
    first = rule.choose_topic(page.book, message, topics.rule)
    if first is not None:
        return page.book.topics.parts(first)
    faded_topics = page.load_archive(tx)
    topics.cache_faded(page)
    weights = page.book.weigh_words(message)
    returned_topic = faded_topics.find_return(message.vector, topics.rule.similarity, weights, topics.rule.scale)
    return [] if returned_topic is None else faded_topics.parts(returned_topic)


def packed_lines(tx: Tx, page: TopicPage, parts: Sequence[TopicState]) -> tuple[ExtractLine, ...]:
    return tuple(line for part in parts if part.packed_upto for line in rows.summary_lines(tx, page.place, part.first))


def messages_before(tx: Tx, page: TopicPage, parts: Sequence[TopicState], turn: int) -> list[TopicMessage]:
    messages = (message for part in parts for message in rows.messages_outside_packs(tx, page.place, part))
    return [message for message in messages if message.turn < turn]
