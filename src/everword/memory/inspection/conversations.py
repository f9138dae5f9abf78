"""Conversations as a list shows them: what each is about, who speaks in it, and what was said last.

Everything is read in one transaction for one page of the list; of a conversation only its newest messages are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from everword.facts.viewers import names_in_context
from everword.log.access import ConversationScope, Viewer
from everword.log.tables import warn_of_damage
from everword.memory.runtime import Runtime
from everword.model import Conversation, Filter, Message
from everword.ports import Tx
from everword.topics import tables as topic_rows

LAST = 6  # messages of a conversation that are read for the list


@dataclass(frozen=True, slots=True)
class ListedConversation:
    """A conversation in a list: its title (that of its current topic, "" if it has none), who spoke lately, and the
    last message."""

    conversation: Conversation
    title: str
    people: tuple[str, ...]
    last: Message | None
    owner: str  # what the person of a chat is called; "" for a channel


async def recent_lines(
    runtime: Runtime, space: str, user: str | None, before: tuple[datetime, str] | None, limit: int
) -> list[ListedConversation]:
    """The conversations of a space, or of one user, that changed last: one page of them."""

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
    recent = recent_messages(tx, conversation)
    messages = [message for message in recent if not message.erased]
    people = tuple(dict.fromkeys(message.author for message in reversed(messages) if message.role != "assistant"))
    names = names_of_people(tx, conversation, messages)
    shown_people = tuple(names.get(person, person) for person in people)
    owner = conversation.user or ""
    last = messages[-1] if messages else None
    return ListedConversation(conversation, read_title(tx, recent), shown_people, last, names.get(owner, owner))


def recent_messages(tx: Tx, conversation: Conversation) -> list[Message]:
    """The newest messages of a conversation, oldest first; erased ones too."""
    where = Filter(conversation.space, conversation=conversation.id)
    return tx.messages(where, limit=LAST, newest=True, damaged=warn_of_damage)


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


def read_title(tx: Tx, messages: Sequence[Message]) -> str:
    """The title of the topic that the last of these messages belongs to."""
    if not messages:
        return ""
    last = messages[-1]
    place = topic_rows.place_of(last.space, last.conversation)
    firsts = topic_firsts(tx, place, tuple(message.turn for message in messages))
    if not firsts:
        return ""
    rows = tx.rows(topic_rows.TABLE, where={**place, "first": firsts[max(firsts)]})
    return str(rows[0]["title"]) if rows else ""


def topic_firsts(tx: Tx, place: topic_rows.Place, turns: tuple[int, ...]) -> dict[int, int]:
    """By turn, the first turn of its topic. They are asked for by the turns themselves: a search by what comes after a
    turn would read every row of the conversation before it."""
    return {row["turn"]: row["topic"] for row in tx.rows(topic_rows.TURNS, where={**place, "turn": turns})}
