"""What was derived from each message of a page: its tiers, its topic, and the episode it is in.

Only rows of the turns of the page are read, so that a page costs the same in a conversation of any length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from everword.log.access import ConversationScope
from everword.log.tables import warn_of_damage
from everword.memory.inspection.conversations import names_of_people, topic_firsts
from everword.memory.runtime import Runtime
from everword.model import Conversation, Episode, Filter, Message, Tiers
from everword.ports import Tx
from everword.summaries import episodes
from everword.summaries.tiers import to_tiers
from everword.topics import tables as topic_rows

LONGEST_EPISODE = 200  # turns: an episode that began before these is not looked for
MOST_EPISODES = 64  # of level 1, that are read for a page


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
        return MessagePage(conversation, describe_messages(tx, shown_messages), has_older, has_newer, names)

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
