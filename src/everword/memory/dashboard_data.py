"""What pages show of a memory: spaces, conversations, people, messages with what was derived from them, episodes,
topics, and the receipts of replies.

Each page is read in one transaction. Only the rows of a page are read, so that it costs the same in a conversation, or
a space, of any length. Episodes and summaries are stored with the ids of who spoke; they are shown with what people are
called now.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from itertools import groupby, islice
from math import inf, log2
from threading import Lock
from typing import Any, Generic, Literal, TypeVar

from everword.context.receipts import StoredReceipt, has_receipt, receipts_of
from everword.errors import NotFound
from everword.facts.stored_facts import SAID, active_facts_by_person, names_in_context, own_name
from everword.log.access import Access, ConversationScope, Viewer, scope_for
from everword.log.append_and_read import (
    LAST_ID,
    NAME_KINDS,
    PEOPLE,
    conversation_titles,
    every_space,
    given_titles,
    mask_row,
    warn_of_damage,
)
from everword.log.checks_and_seals import PROFILE_PREFIX
from everword.memory.operations.conversation_topics import build_topic
from everword.memory.runtime import Runtime
from everword.model import Conversation, Episode, Fact, Filter, Member, Message, Name, Receipt, Tiers, Topic
from everword.model.log import own_notes
from everword.ports import Tx
from everword.summaries import episodes
from everword.summaries.rules.extract import render_lines
from everword.summaries.tiers import to_tiers
from everword.topics import stored_topics as topic_rows
from everword.topics.rules import fading, topic_set
from everword.topics.view import TopicPage

BEGINNING = datetime(1, 1, 2, tzinfo=UTC)  # before every message
NEWS = 6  # things of each kind that are new
NEWS_READ = 10  # conversations in which they are looked for
QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e")
MOST_TITLES = 500  # conversations whose titles a search reads
LAST_MESSAGES = 6  # messages of a conversation that are read for the list
DAYS_TABLE = "days"
MOST_ROWS = 200  # of days in channels that are read
BLOCK = 200  # rows that are read at a time
MOST_READ = 5_000  # members that one page of a search by name looks at
LONGEST_EPISODE = 200  # turns: an episode that began before these is not looked for
MOST_EPISODES = 64  # of level 1, that are read for a page
FRESH = timedelta(minutes=1)  # for which an order is kept
MOST_KEPT = 32  # orders
TOPIC_ID = re.compile(r"t(\d{1,9})")

T = TypeVar("T")
Place = tuple[datetime, str]  # of a conversation in the list of those that changed last
TALKS = 12  # conversations of which an overview shows topics or episodes
TOPICS_OF_EACH = 4
EPISODES_OF_EACH = 3
Order = Sequence[int]
States = Mapping[int, fading.TopicState]
AT_ONCE = 500  # turns or ids in one query
SHOWN_CHARACTERS = 160  # characters of a text that stands for an id
TURN_ID = re.compile(r"m(\d{1,9})")
EPISODE_ID = re.compile(r"e(\d+)_(\d+)_(\d+)")

ItemKind = Literal["message", "fact", "statement", "episode", "topic"]


# -- spaces


async def list_spaces(runtime: Runtime, after: str = "", limit: int = 100) -> list[str]:
    """The spaces of the store in order, those after `after`."""
    return await runtime.read(lambda tx: list(islice(every_space(tx, after), limit)))


async def count_days(runtime: Runtime, space: str) -> Mapping[date, int]:
    """How many messages were said on each day (UTC), the oldest first; days without any are left out."""
    counts = await runtime.read(lambda tx: tx.count_messages("day", space, BEGINNING))
    return dict(sorted(counts.items()))


# -- conversations in a list


MACHINE_ID = re.compile(r"(?=\S*\d)\S*[0-9a-f]{8}\S*|-?\d+", re.IGNORECASE | re.ASCII)  # no person chose such an id


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation in a list: its title ("" if it has none), who spoke lately, and the last messages."""

    conversation: Conversation
    title: str
    people: tuple[str, ...]
    messages: tuple[Message, ...]
    owner: str  # what the person of a chat is called; "" for a channel

    @property
    def last(self) -> Message | None:
        return self.messages[-1] if self.messages else None

    @property
    def person(self) -> tuple[str, str]:
        """The id and the name of the person of a chat; empty for a channel."""
        return self.conversation.user or "", self.owner

    @property
    def label(self) -> str:
        """What to call it."""
        return conversation_label(self.conversation, self.title, self.owner)


def conversation_label(conversation: Conversation, title: str, owner: str) -> str:
    """What a conversation is called: its title, or an id that somebody chose, or whose it is."""
    if title:
        return title
    if conversation.id.startswith(PROFILE_PREFIX):
        return f"What {owner or 'somebody'} asked to remember"
    if not MACHINE_ID.fullmatch(conversation.id):
        return conversation.id
    return f"Chat with {owner}" if owner else "Untitled channel"


async def label_conversations(runtime: Runtime, access: Access, space: str, ids: Iterable[str]) -> dict[str, str]:
    """What conversations are called, by id; those that the access may not see are left out."""

    def read(tx: Tx) -> dict[str, str]:
        scopes = [scope_for(access, space, id, None) for id in dict.fromkeys(ids)]
        conversations = [conversation for scope in scopes if (conversation := scope.find(tx)) is not None]
        return labels_of(tx, space, conversations)

    return await runtime.read(read)


async def recent_lines(
    runtime: Runtime, space: str, user: str | None, before: tuple[datetime, str] | None, limit: int
) -> list[ListedConversation]:
    """The conversations of a space, or of one user, with the newest messages: one page of them."""

    def read(tx: Tx) -> list[ListedConversation]:
        return [
            read_line(tx, conversation)
            for conversation in tx.conversations(space, user, recent=True, before=before, limit=limit)
        ]

    return await runtime.read(read)


async def lines_of(runtime: Runtime, space: str, user: str | None, ids: Sequence[str]) -> list[ListedConversation]:
    """These conversations of a space in this order, without those of others than the user, if one is given."""

    def read(tx: Tx) -> list[ListedConversation]:
        conversations = (tx.conversation(space, id) for id in ids)
        return [
            read_line(tx, conversation)
            for conversation in conversations
            if conversation is not None and user in (None, conversation.user)
        ]

    return await runtime.read(read)


def read_line(tx: Tx, conversation: Conversation) -> ListedConversation:
    messages = [message for message in recent_messages(tx, conversation) if not message.erased]
    people = tuple(dict.fromkeys(message.author for message in reversed(messages) if message.role != "assistant"))
    names = names_of_people(tx, conversation, messages)
    shown_people = tuple(names.get(person, person) for person in people)
    owner = conversation.user or ""
    title = conversation_titles(tx, conversation.space, [conversation.id]).get(conversation.id, "")
    return ListedConversation(conversation, title, shown_people, tuple(messages), names.get(owner, owner))


def recent_messages(tx: Tx, conversation: Conversation) -> list[Message]:
    """The newest messages of a conversation, oldest first; erased ones too."""
    where = Filter(conversation.space, conversation=conversation.id)
    return tx.messages(where, limit=LAST_MESSAGES, newest=True, damaged=warn_of_damage)


def names_of_people(
    tx: Tx, conversation: Conversation, messages: Sequence[Message], others: Iterable[str] = ()
) -> dict[str, str]:
    """What the authors of messages of a conversation, its owner and `others` are called in it."""
    owner = conversation.user
    viewer = Viewer(channel=conversation.id) if owner is None else Viewer(owner)
    people = {*(message.author for message in messages), *([owner] if owner else []), *others}
    return names_in_context(tx, conversation.space, people, viewer, messages if owner else ())


async def names_within(runtime: Runtime, scope: ConversationScope, people: Iterable[str]) -> dict[str, str]:
    """What these people are called in a conversation, by id."""

    def read(tx: Tx) -> dict[str, str]:
        conversation = scope.find(tx)
        if conversation is None:
            return {}
        return names_of_people(tx, conversation, recent_messages(tx, conversation), people)

    return await runtime.read(read)


async def names_of_authors(runtime: Runtime, messages: Sequence[Message]) -> dict[tuple[str, str], str]:
    """What the authors of messages of a space are called where they spoke, by conversation and author."""

    def read(tx: Tx) -> dict[tuple[str, str], str]:
        names = dict[tuple[str, str], str]()
        for id in dict.fromkeys(message.conversation for message in messages):
            of_conversation = [message for message in messages if message.conversation == id]
            conversation = tx.conversation(of_conversation[0].space, id)
            if conversation is not None:
                names |= {
                    (id, author): name for author, name in names_of_people(tx, conversation, of_conversation).items()
                }
        return names

    return await runtime.read(read) if messages else {}


def topic_firsts(tx: Tx, place: topic_rows.Place, turns: tuple[int, ...]) -> dict[int, int]:
    """By turn, the first turn of its topic. They are asked for by the turns themselves: a search by what comes after a
    turn would read every row of the conversation before it."""
    return {row["turn"]: row["topic"] for row in tx.rows(topic_rows.TURNS, where={**place, "turn": turns})}


# -- what is new


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact that was said lately, and what its person is called."""

    fact: Fact
    name: str


@dataclass(frozen=True, slots=True)
class News:
    """What was said lately: conversations, questions that people asked in them, and facts about these people."""

    lines: tuple[ListedConversation, ...]
    questions: tuple[tuple[ListedConversation, Message], ...]
    facts: tuple[NewFact, ...]


async def read_news(runtime: Runtime, space: str, user: str | None, since: datetime, until: datetime) -> News:
    """What was said in a space between two times, or of it what is one user's; the newest first."""

    def read(tx: Tx) -> News:
        conversations = tx.conversations(space, user, recent=True, before=(until, ""), limit=NEWS_READ)
        lines = [
            read_line(tx, conversation)
            for conversation in conversations
            if not conversation.id.startswith(PROFILE_PREFIX)
            and conversation.last_message_at is not None
            and conversation.last_message_at >= since
        ]
        questions = [
            (line, message) for line in lines for message in reversed(line.messages) if is_question(message, since)
        ]
        questions.sort(key=lambda question: question[1].time, reverse=True)
        return News(tuple(lines[:NEWS]), tuple(questions[:NEWS]), tuple(read_new_facts(tx, space, lines, since, until)))

    return await runtime.read(read)


def is_question(message: Message, since: datetime) -> bool:
    return message.role == "user" and message.time >= since and message.content.rstrip().endswith(QUESTION_MARKS)


def read_new_facts(
    tx: Tx, space: str, lines: Iterable[ListedConversation], since: datetime, until: datetime
) -> Iterator[NewFact]:
    """The newest facts about those who spoke in these conversations."""
    speakers = {message.author for line in lines for message in line.messages if message.role == "user"}
    people = sorted(speakers | {line.conversation.user for line in lines if line.conversation.user is not None})
    by_person = active_facts_by_person(tx, space, people)
    facts = [fact for facts in by_person.values() for fact in facts if since <= fact.said_at < until]
    for fact in sorted(facts, key=lambda fact: fact.said_at, reverse=True)[:NEWS]:
        yield NewFact(fact, own_name(tx, space, fact.user))


def labels_of(tx: Tx, space: str, conversations: Sequence[Conversation]) -> dict[str, str]:
    """What conversations of a space are called, by id."""
    titles = conversation_titles(tx, space, [conversation.id for conversation in conversations])
    users = {conversation.user for conversation in conversations if conversation.user is not None}
    names = {user: own_name(tx, space, user) for user in users}
    return {
        conversation.id: conversation_label(
            conversation, titles.get(conversation.id, ""), names.get(conversation.user or "", "")
        )
        for conversation in conversations
    }


# -- conversations and topics that a search finds


async def titled_conversations(
    runtime: Runtime, space: str, user: str | None, words: str, limit: int
) -> list[ListedConversation]:
    """The conversations whose title or id has these words, among those with the newest messages; at most so many."""
    wanted = words.casefold().split()

    def read(tx: Tx) -> list[ListedConversation]:
        conversations = {
            conversation.id: conversation
            for conversation in tx.conversations(space, user, recent=True, limit=MOST_TITLES)
            if not conversation.id.startswith(PROFILE_PREFIX)
        }
        titles = given_titles(tx, space, conversations)
        ids = [id for id in conversations if has_words(f"{titles.get(id, '')} {id}", wanted)]
        return [read_line(tx, conversations[id]) for id in ids[:limit]]

    return await runtime.read(read)


def has_words(text: str, words: Iterable[str]) -> bool:
    folded_text = text.casefold()
    return all(word in folded_text for word in words)


@dataclass(frozen=True, slots=True)
class PlacedTopic:
    """A topic, and the conversation that it is of."""

    conversation: str
    topic: TopicName


async def topics_of_messages(
    runtime: Runtime, access: Access, space: str, messages: Sequence[Message], limit: int
) -> list[PlacedTopic]:
    """The topics of messages, in the order of these; of conversations that the access may see."""

    def read(tx: Tx) -> list[PlacedTopic]:
        turns: dict[str, list[int]] = {}
        for message in messages:
            turns.setdefault(message.conversation, []).append(message.turn)
        topics = list[PlacedTopic]()
        for id, turns_of_place in turns.items():
            if scope_for(access, space, id, None).find(tx) is not None:
                by_turn = topics_by_turn(tx, topic_rows.place_of(space, id), tuple(turns_of_place))
                topics += [PlacedTopic(id, topic) for topic in dict.fromkeys(by_turn.values()) if topic.title]
        return topics[:limit]

    return await runtime.read(read)


# -- people in a list


@dataclass(frozen=True, slots=True)
class ListedPerson:
    """Somebody in a list: what they are called in their own chats, and since when they are known."""

    member: Member
    name: str
    since: datetime


@dataclass(frozen=True, slots=True)
class PeoplePage:
    """A page of the people of a space; `next_after` is the id after which the next page begins, if there is one."""

    people: tuple[ListedPerson, ...]
    next_after: str | None


async def page_of_people(runtime: Runtime, space: str, part: str, after: str, limit: int) -> PeoplePage:
    """The people of a space after an id, in order; with `part`, those who have it in their id or in a name. A search
    looks at so many members for a page, and the next page goes on where it ended."""

    def read(tx: Tx) -> PeoplePage:
        members = list[tuple[Member, datetime]]()
        last = after
        for count, (member, since) in enumerate(members_after(tx, space, after), 1):
            if len(members) == limit or count > MOST_READ:
                return PeoplePage(name_people(tx, space, members), last)
            last = member.id
            if has_part(member, part):
                members.append((member, since))
        return PeoplePage(name_people(tx, space, members), None)

    return await runtime.read(read)


def members_after(tx: Tx, space: str, after: str) -> Iterator[tuple[Member, datetime]]:
    """The members of a space after an id, each with the time of the first row about them. No column is compared but
    those of the key: the store finds the place of each block by its index."""
    for id, rows in groupby(rows_after(tx, space, after), key=lambda row: row[0]):
        names = list(rows)
        own = tuple(name for _, name in names if name.kind in NAME_KINDS)
        yield Member(id, own), min(name.since for _, name in names if name.since is not None)


def rows_after(tx: Tx, space: str, after: str) -> Iterator[tuple[str, Name]]:
    place = {"space": space, "user_id": after, "kind": LAST_ID if after else "", "name": LAST_ID if after else ""}
    while True:
        rows = tx.rows(PEOPLE, place, BLOCK)
        for row in rows:
            if row["space"] != space:
                return
            yield row["user_id"], Name(row["name"], row["kind"], row["since"], row["seen"])
        if len(rows) < BLOCK:
            return
        place = {name: rows[-1][name] for name in place}


def has_part(member: Member, part: str) -> bool:
    return part in member.id.casefold() or any(part in name.text.casefold() for name in member.names)


def name_people(tx: Tx, space: str, members: list[tuple[Member, datetime]]) -> tuple[ListedPerson, ...]:
    return tuple(ListedPerson(member, own_name(tx, space, member.id), since) for member, since in members)


async def days_of(runtime: Runtime, space: str, person: str) -> list[date]:
    """The last days on which somebody said something in a channel, the newest first."""

    def read(tx: Tx) -> list[date]:
        rows = tx.rows(DAYS_TABLE, limit=MOST_ROWS, where={"space": space, "user_id": person}, newest=True)
        return [date.fromisoformat(day) for day in dict.fromkeys(row["day"] for row in rows)]

    return await runtime.read(read)


# -- messages of a page


@dataclass(frozen=True, slots=True)
class TopicName:
    """The topic of a message: its id and title."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class MessageDetails:
    """A message with what was derived from it; None where a view has nothing of it (yet)."""

    message: Message
    tiers: Tiers | None = None
    topic: TopicName | None = None
    episode: Episode | None = None


@dataclass(frozen=True, slots=True)
class MessagePage:
    """A page of a conversation, what its people are called, and whether there are messages before it and after it."""

    conversation: Conversation | None
    messages: tuple[MessageDetails, ...] = ()
    has_older: bool = False
    has_newer: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    title: str = ""


async def read_page(runtime: Runtime, scope: ConversationScope, before: int | None, limit: int) -> MessagePage:
    """The last messages of a conversation before a turn, with their details. Erased ones are not shown."""

    def read(tx: Tx) -> MessagePage:
        conversation = scope.find(tx)
        if conversation is None:
            return MessagePage(None)
        where = Filter(scope.space, conversation=scope.id)
        upto = conversation.turns if before is None else min(before - 1, conversation.turns)
        messages = list[Message]()
        has_older = upto > 0
        while has_older and len(messages) < limit:
            page = tx.messages(where, upto=upto, limit=limit, newest=True, damaged=warn_of_damage)
            messages[:0] = [message for message in page if not message.erased]
            has_older = len(page) == limit and page[0].turn > 1
            upto = page[0].turn - 1 if page else 0
        shown_messages = messages[-limit:]
        has_older = has_older or len(messages) > limit
        has_newer = bool(shown_messages) and shown_messages[-1].turn < conversation.turns
        names = names_of_people(tx, conversation, shown_messages)
        title = conversation_titles(tx, scope.space, [scope.id]).get(scope.id, "")
        return MessagePage(conversation, describe_messages(tx, shown_messages), has_older, has_newer, names, title)

    return await runtime.read(read)


def describe_messages(tx: Tx, messages: Sequence[Message]) -> tuple[MessageDetails, ...]:
    """The details of messages of one conversation, in order."""
    if not messages:
        return ()
    turns = tuple(message.turn for message in messages)
    place = topic_rows.place_of(messages[0].space, messages[0].conversation)
    tiers = {row["turn"]: to_tiers(row) for row in tx.rows("tiers", where={**place, "turn": turns})}
    topics = topics_by_turn(tx, place, turns)
    covering = episodes_by_turn(tx, place, turns[0], turns[-1])
    return tuple(
        MessageDetails(message, tiers.get(message.turn), topics.get(message.turn), covering.get(message.turn))
        for message in messages
    )


def topics_by_turn(tx: Tx, place: topic_rows.Place, turns: tuple[int, ...]) -> dict[int, TopicName]:
    topic_of_turn = topic_firsts(tx, place, turns)
    firsts = tuple(sorted(set(topic_of_turn.values())))
    state_rows = tx.rows(topic_rows.TABLE, where={**place, "first": firsts}) if firsts else []
    names = {row["first"]: topic_name(row) for row in state_rows}
    return {turn: names[topic] for turn, topic in topic_of_turn.items() if topic in names}


def topic_name(row: Mapping[str, object]) -> TopicName:
    state = topic_rows.to_state(row)
    return TopicName(state.id, state.title)


def episodes_by_turn(tx: Tx, place: topic_rows.Place, first: int, last: int) -> dict[int, Episode]:
    """By turn, the episode of level 1 that a turn is in."""
    level = {**place, "level": 1}
    after = {**level, "first": first - LONGEST_EPISODE}
    rows = tx.rows(episodes.TABLE, after, MOST_EPISODES, where=level)
    page_episodes = [episodes.to_record(row).episode for row in rows]
    return {
        turn: episode
        for episode in page_episodes
        for turn in range(max(episode.first, first), min(episode.last, last) + 1)
        if episode.first <= last
    }


# -- episodes, level by level


@dataclass(frozen=True, slots=True)
class EpisodeParts:
    """An episode, and the episodes of the level below that it is made of, oldest first."""

    episode: Episode
    parts: tuple[Episode, ...]


async def active_episodes(runtime: Runtime, scope: ConversationScope) -> list[Episode]:
    """The episodes that are part of no other, the highest level first and then the oldest."""

    def read(tx: Tx) -> list[Episode]:
        conversation = scope.find(tx)
        if conversation is None:
            return []
        records = episodes.active_episodes(tx, scope.space, scope.id)
        named_episodes = name_speakers(tx, conversation, [record.episode for record in records])
        return sorted(named_episodes, key=lambda episode: (-episode.level, episode.first))

    return await runtime.read(read)


async def read_episode(runtime: Runtime, scope: ConversationScope, level: int, first: int) -> EpisodeParts:
    """One episode by its level and its first turn, with its parts."""

    def read(tx: Tx) -> EpisodeParts:
        where = {"space": scope.space, "conversation": scope.id, "level": level, "first": first}
        conversation = scope.find(tx)
        rows = tx.rows(episodes.TABLE, where=where) if conversation is not None else []
        if conversation is None or not rows:
            raise NotFound(
                f"there is no episode (summary of older messages) of level {level} that begins with message {first}"
            )
        episode = episodes.to_record(rows[0]).episode
        parts = episodes.parts_of(tx, episode) if level > 1 else []
        named_episodes = name_speakers(tx, conversation, [episode, *(record.episode for record in parts)])
        return EpisodeParts(named_episodes[0], tuple(named_episodes[1:]))

    return await runtime.read(read)


def name_speakers(tx: Tx, conversation: Conversation, found_episodes: Iterable[Episode]) -> list[Episode]:
    """Episodes with names in place of the ids of who spoke: in their lines, and in summaries that are these lines."""
    episode_list = list(found_episodes)
    speakers = {line.author for episode in episode_list for line in episode.lines if line.role == "user"}
    names = names_of_people(tx, conversation, recent_messages(tx, conversation), speakers)
    named_episodes = list[Episode]()
    for episode in episode_list:
        lines = tuple(replace(line, author=names.get(line.author, line.author)) for line in episode.lines)
        is_extract = render_lines(episode.lines) == episode.summary
        summary = render_lines(episode.lines, names) if is_extract else episode.summary
        named_episodes.append(replace(episode, lines=lines, summary=summary))
    return named_episodes


# -- a page of topics, the most present first


@dataclass(frozen=True, slots=True)
class TopicList:
    """Some topics of a conversation, and how many there are."""

    topics: tuple[Topic, ...]
    count: int


class TopicOrders:
    """The topics of some conversations in the order of their presence, for a minute or until one of them changes: so
    pages follow on from each other, and only the first of them has to look at every topic."""

    def __init__(self) -> None:
        self._orders: OrderedDict[tuple[str, str, bool, str], tuple[datetime, list[int]]] = OrderedDict()
        self._lock = Lock()

    def order_of(self, page: TopicPage, states: States, merge_states: States, with_faded: bool, now: datetime) -> Order:
        """The first turns of the topics of a page, active ones before faded ones, the most present first."""
        name = (page.place["space"], page.place["conversation"], with_faded, page.stamp)
        with self._lock:
            made_at, order = self._orders.get(name, (now - FRESH, []))
        if timedelta() <= now - made_at < FRESH:
            return order
        order = sorted(topic_set.roots(states), key=presence_key(states, merge_states, now))
        with self._lock:
            self._orders[name] = (now, order)
            while len(self._orders) > MOST_KEPT:
                self._orders.popitem(last=False)
        return order


async def list_topics(
    runtime: Runtime, orders: TopicOrders, scope: ConversationScope, *, with_faded: bool, skip: int, limit: int
) -> TopicList:
    """The topics of a conversation from the most present on, without the first `skip`; with `with_faded`, those that
    have left the active set too, at the end."""
    now = runtime.parts.clock.now()

    def read(tx: Tx) -> TopicList:
        if scope.find(tx) is None:
            return TopicList((), 0)
        page = runtime.topics.read_page(tx, scope.space, scope.id)
        faded_states = topic_rows.states_of(tx, page.place, active=False) if with_faded else {}
        states: States = {**faded_states, **page.book.states}
        merge_states = states_of_merges(states)
        firsts = orders.order_of(page, states, merge_states, with_faded, now)
        page_firsts = firsts[skip : skip + limit]
        topics = tuple(read_topic(tx, page, states, merge_states, first, now) for first in page_firsts)
        return TopicList(topics, len(firsts))

    return await runtime.read(read)


@dataclass(frozen=True, slots=True)
class ListedTopic:
    """A topic in a list of many conversations: the id of its own, and what that is called."""

    conversation: str
    label: str
    topic: Topic


@dataclass(frozen=True, slots=True)
class Overview(Generic[T]):
    """What some conversations have, and where the conversations after these begin, if there are more."""

    items: tuple[T, ...]
    next_cursor: str | None


async def topics_of_many(
    runtime: Runtime, orders: TopicOrders, space: str, user: str | None, before: Place | None
) -> Overview[ListedTopic]:
    """The most present topics of the conversations of a space, or of one user, that changed last; the most present and
    then the latest first."""
    now = runtime.parts.clock.now()

    def read(tx: Tx) -> Overview[ListedTopic]:
        conversations, next_cursor = recent_talks(tx, space, user, before)
        topics = list[ListedTopic]()
        for conversation in conversations:
            page = runtime.topics.read_page(tx, space, conversation.id)
            states: States = page.book.states or topic_rows.states_of(tx, page.place, active=False)
            merge_states = states_of_merges(states)
            label = labels_of(tx, space, [conversation])[conversation.id]
            topics += [
                ListedTopic(conversation.id, label, read_topic(tx, page, states, merge_states, first, now))
                for first in orders.order_of(page, states, merge_states, not page.book.states, now)[:TOPICS_OF_EACH]
            ]
        topics.sort(key=lambda listed: (round(listed.topic.priority, 2), listed.topic.last_active_at), reverse=True)
        return Overview(tuple(topics), next_cursor)

    return await runtime.read(read)


@dataclass(frozen=True, slots=True)
class ListedEpisodes:
    """The episodes of a conversation that are part of no other, in a list of many."""

    conversation: str
    label: str
    episodes: tuple[Episode, ...]


async def episodes_of_many(
    runtime: Runtime, space: str, user: str | None, before: Place | None
) -> Overview[ListedEpisodes]:
    """The highest episodes of the conversations of a space, or of one user, that changed last."""

    def read(tx: Tx) -> Overview[ListedEpisodes]:
        conversations, next_cursor = recent_talks(tx, space, user, before)
        listed = list[ListedEpisodes]()
        for conversation in conversations:
            records = sorted(
                episodes.active_episodes(tx, space, conversation.id),
                key=lambda record: (-record.episode.level, -record.episode.first),
            )
            shown = name_speakers(tx, conversation, [record.episode for record in records[:EPISODES_OF_EACH]])
            if shown:
                listed.append(
                    ListedEpisodes(conversation.id, labels_of(tx, space, [conversation])[conversation.id], tuple(shown))
                )
        return Overview(tuple(listed), next_cursor)

    return await runtime.read(read)


def recent_talks(tx: Tx, space: str, user: str | None, before: Place | None) -> tuple[list[Conversation], str | None]:
    """The conversations that changed last, without those of commands; and where those after them begin, if any."""
    page = tx.conversations(space, user, recent=True, before=before, limit=TALKS + 1)
    talks = [conversation for conversation in page[:TALKS] if not conversation.id.startswith(PROFILE_PREFIX)]
    return talks, page[TALKS - 1].cursor if len(page) > TALKS else None


def states_of_merges(states: States) -> States:
    """The topics that became part of another, and those others: to all the rest, only they themselves matter."""
    merged_firsts = [first for first, state in states.items() if state.merged_into is not None]
    return {
        first: states[first] for first in (*merged_firsts, *(topic_set.root(states, first) for first in merged_firsts))
    }


def presence_key(states: States, merge_states: States, now: datetime) -> Callable[[int], tuple[bool, float, int]]:
    """The key by which topics are sorted, by their first turns: active ones before faded ones, the most present first.

    A conversation may have ten thousand topics, and a page has a twentieth of a second: so it compares the logarithms
    of priorities, and works out once what is the same for most topics.
    """
    spans: dict[int, float] = {}
    weights: dict[tuple[float, int, int, int], float] = {}

    def key(first: int) -> tuple[bool, float, int]:
        state = states[first] if first not in merge_states else topic_set.whole_topic(merge_states, first)
        votes = (state.importance, state.ups, state.downs, state.returns)
        if votes not in weights:
            importance = fading.importance_of(state)
            weights[votes] = log2(importance) if importance > 0 else -inf
        if state.accesses not in spans:
            spans[state.accesses] = fading.half_life(state.accesses).total_seconds()
        age = (now - state.last_active_at).total_seconds()
        return state.faded_at is not None, max(age, 0.0) / spans[state.accesses] - weights[votes], first

    return key


async def find_topic(runtime: Runtime, scope: ConversationScope, id: str) -> Topic | None:
    """One topic by its id, or by that of a topic that has become part of it; people have names in its summary."""
    match = TOPIC_ID.fullmatch(id)
    now = runtime.parts.clock.now()

    def read(tx: Tx) -> Topic | None:
        conversation = scope.find(tx)
        if match is None or conversation is None:
            return None
        page = runtime.topics.read_page(tx, scope.space, scope.id)
        if page.state(tx, int(match[1])) is None:
            return None
        states = page.book.states
        first = topic_set.root(states, int(match[1]))
        topic = read_topic(tx, page, states, states_of_merges(states), first, now)
        return replace(topic, summary=named_summary(tx, conversation, first)) if topic.summary else topic

    return await runtime.read(read)


def named_summary(tx: Tx, conversation: Conversation, first: int) -> str:
    """The summary of a topic, with names in place of the ids of who spoke."""
    lines = topic_rows.summary_lines(tx, topic_rows.place_of(conversation.space, conversation.id), first)
    speakers = {line.author for line in lines if line.role == "user"}
    names = names_of_people(tx, conversation, recent_messages(tx, conversation), speakers)
    return render_lines(lines, names)


def read_topic(tx: Tx, page: TopicPage, states: States, merge_states: States, first: int, now: datetime) -> Topic:
    topic_states = {**merge_states, first: states[first]}
    has_summary = any(part.packed_upto for part in topic_set.parts(topic_states, first))
    summary = topic_rows.summary_of(tx, page.place, first)["summary"] if has_summary else ""
    return build_topic(topic_states, first, page, summary, now)


# -- receipts of past replies, and what the ids in them stand for


@dataclass(frozen=True, slots=True)
class NamedItem:
    """What an id in a receipt stands for, and where it is to be found."""

    kind: ItemKind
    text: str
    conversation: str = ""
    turn: int = 0
    label: str = ""  # what the conversation is called


Names = Mapping[str, NamedItem]


@dataclass(frozen=True, slots=True)
class PastReply:
    """A reply of the past: its receipt, and what was asked and answered."""

    stored: StoredReceipt
    question: str
    answer: str


async def past_replies(runtime: Runtime, scope: ConversationScope) -> list[PastReply]:
    """The replies of a conversation that have a receipt, the newest first; none if the scope may not see it."""

    def read(tx: Tx) -> list[PastReply]:
        if scope.find(tx) is None:
            return []
        receipts = receipts_of(tx, scope.space, scope.id)
        turns = {turn for stored in receipts for turn in (stored.asked, stored.turn)}
        rows = {row["turn"]: row for row in rows_with(tx, "messages", scope, "turn", turns)}
        return [
            PastReply(
                with_searches(stored, rows.get(stored.turn, {})),
                content_of(rows.get(stored.asked, {})),
                content_of(rows.get(stored.turn, {})),
            )
            for stored in receipts
        ]

    return await runtime.read(read)


async def find_receipt(runtime: Runtime, scope: ConversationScope, turn: int) -> bool:
    """Whether there is a receipt of the reply at a turn."""

    def read(tx: Tx) -> bool:
        return scope.find(tx) is not None and has_receipt(tx, scope.space, scope.id, turn)

    return await runtime.read(read)


def content_of(row: Mapping[str, Any]) -> str:
    return str(row.get("content", ""))


def with_searches(stored: StoredReceipt, reply: Mapping[str, Any]) -> StoredReceipt:
    """The receipt with what the model searched for in each call, which stands in the metadata of the reply."""
    calls = own_notes(reply.get("metadata") or {}).get("rounds")
    if not isinstance(calls, list):
        return stored
    rounds = tuple(
        replace(turn_round, searches=searches_in(calls[place])) if place < len(calls) else turn_round
        for place, turn_round in enumerate(stored.rounds)
    )
    return replace(stored, rounds=rounds)


def searches_in(call: object) -> tuple[str, ...]:
    searches = call.get("searches") if isinstance(call, dict) else None
    return tuple(str(search) for search in searches) if isinstance(searches, list) else ()


# -- what ids stand for


async def name_items(
    runtime: Runtime, scope: ConversationScope, receipts: Iterable[Receipt], owner: str | None = None
) -> Names:
    """What the ids in receipts of a conversation stand for; an id of something that is gone is left out. `owner` is
    whose a conversation is that is not there yet: its receipts name what this person's memory holds."""
    ids = {
        item.id for receipt in receipts for section in receipt.sections for item in (*section.items, *section.left_out)
    }

    def read(tx: Tx) -> dict[str, NamedItem]:
        conversation = scope.find(tx)
        person = owner if conversation is None else conversation.user
        names = dict(other_message_names(tx, scope, ids)) if conversation is not None or owner is not None else {}
        if conversation is not None:
            names |= dict(message_names(tx, scope, ids))
            names |= {id: episode_name(match) for id in ids if (match := EPISODE_ID.fullmatch(id))}
        if person is not None:
            names |= dict(known_names(tx, scope, person, ids - names.keys()))
        return names

    return await runtime.read(read)


def message_names(tx: Tx, scope: ConversationScope, ids: Iterable[str]) -> Iterator[tuple[str, NamedItem]]:
    """Messages of this conversation, by their turns."""
    turns = {int(match[1]) for id in ids if (match := TURN_ID.fullmatch(id))}
    for row in rows_with(tx, "messages", scope, "turn", turns):
        if row["erasure"] is None:
            yield f"m{row['turn']}", NamedItem("message", shorten_text(row["content"]), scope.id, row["turn"])


def other_message_names(tx: Tx, scope: ConversationScope, ids: Iterable[str]) -> Iterator[tuple[str, NamedItem]]:
    """Messages of other conversations, by their ids."""
    others = [id for id in ids if not TURN_ID.fullmatch(id)]
    labels = dict[str, str]()
    for message in tx.find_messages(scope.space, ids=others, damaged=lambda _: None):
        if not message.erased:
            place = message.conversation
            if place not in labels:
                conversation = tx.conversation(scope.space, place)
                labels[place] = place if conversation is None else labels_of(tx, scope.space, [conversation])[place]
            yield message.id, NamedItem("message", shorten_text(message.content), place, message.turn, labels[place])


def known_names(tx: Tx, scope: ConversationScope, user: str, ids: Iterable[str]) -> Iterator[tuple[str, NamedItem]]:
    """Facts and statements of the person of a chat."""
    wanted = tuple(ids)
    for start in range(0, len(wanted), AT_ONCE):
        where = {"space": scope.space, "user_id": user, "id": wanted[start : start + AT_ONCE]}
        for row in tx.rows("facts", where=where):
            yield row["id"], NamedItem("fact", shorten_text(f"{row['key']}: {row['value']}"))
        for row in tx.rows("statements", where=where | {"kind": SAID}):
            yield row["id"], NamedItem("statement", shorten_text(row["text"]))


def episode_name(match: re.Match[str]) -> NamedItem:
    return NamedItem("episode", f"turns {match[2]}\u2013{match[3]}", turn=int(match[2]))


def shorten_text(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}\u2026"


def rows_with(
    tx: Tx, table: str, scope: ConversationScope, column: str, values: Iterable[int]
) -> Iterator[Mapping[str, Any]]:
    """The rows of a conversation that have one of these values."""
    wanted = sorted(values)
    for start in range(0, len(wanted), AT_ONCE):
        where = {"space": scope.space, "conversation": scope.id, column: tuple(wanted[start : start + AT_ONCE])}
        yield from map(mask_row, tx.rows(table, where=where))
