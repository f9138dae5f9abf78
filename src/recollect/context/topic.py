"""Finds the topic of the message to answer, for a context, as far as no other section shows it.

A topic that lies in the window is shown there. If it began before the window, the summary of its packed part is shown,
and if the conversation returns to it, its last messages too. This reads the topics, which are cached, and two more rows
if there is something to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.context.render import CurrentTopic
from recollect.model import ExtractLine, Message, TopicMessage
from recollect.ports import Tx, Vectors
from recollect.topics import tables as rows
from recollect.topics.rules import topics as rule
from recollect.topics.rules.centroids import round_vector
from recollect.topics.rules.topic_state import TopicState
from recollect.topics.rules.topics import IncomingMessage
from recollect.topics.view import LAST, TopicPage, Topics, may_lean

KEPT = 4  # last messages of a topic outside the window that are shown
LARGE = 8_000  # characters of the window, from which its topics may decide what is shown of it


def find_current_topic(
    tx: Tx,
    topics: Topics,
    place: tuple[str, str],
    text: str,
    vector: Vectors,
    window: Sequence[Message],
    now: datetime,
) -> CurrentTopic | None:
    """The topic that a message in `place` (a space and a conversation) would belong to, with what is worth showing."""
    page = topics.read_page(tx, *place)
    if not page.book.states:
        return None
    text = text[: rows.LOOKED_AT]
    parts = matching_topics(
        tx,
        topics,
        page,
        IncomingMessage(LAST, "user", text, now, round_vector(vector), leaning=may_lean(text)),
    )
    if not parts:
        return None
    start = window[0].turn if window else LAST
    lines: tuple[ExtractLine, ...] = ()
    last_messages: list[TopicMessage] = []
    if min(part.first for part in parts) < start:
        packed_parts = [part for part in parts if part.packed_upto]
        lines = tuple(line for part in packed_parts for line in rows.summary_lines(tx, page.place, part.first))
        if parts[0].first != page.book.current:  # the conversation returns to it
            last_messages = [
                message
                for part in parts
                for message in rows.messages_outside_packs(tx, page.place, part)
                if message.turn < start
            ]
    return CurrentTopic(
        id=parts[0].id,
        title=parts[0].title,
        first=parts[0].first,
        since=min(part.created_at for part in parts),
        messages=sum(part.count for part in parts),
        lines=lines,
        last_messages=sorted(last_messages, key=lambda message: message.turn)[-KEPT:],
        turns=topic_turns(tx, page, parts, window),
    )


def matching_topics(tx: Tx, topics: Topics, page: TopicPage, message: IncomingMessage) -> list[TopicState]:
    """The topic a message belongs to, active or faded, with all its parts; empty if the message opens a new topic."""
    first = rule.choose_topic(page.book, message, topics.rule)
    if first is not None:
        return page.book.topics.parts(first)
    faded_topics = page.load_faded(tx)
    topics.cache_faded(page)
    weights = page.book.weigh_words(message)
    returned_topic = faded_topics.find_return(message.vector, topics.rule.similarity, weights, topics.rule.scale)
    return [] if returned_topic is None else faded_topics.states.parts(returned_topic)


def topic_turns(tx: Tx, page: TopicPage, parts: Sequence[TopicState], window: Sequence[Message]) -> frozenset[int]:
    """The turns of a large window that belong to this topic: if not all of the window fits, they are chosen first."""
    if not window or sum(len(message.content) for message in window) < LARGE:
        return frozenset()
    part_ids = {part.first for part in parts}
    turn_rows = tx.rows(rows.TURNS, {**page.place, "turn": window[0].turn - 1}, where=page.place)
    return frozenset(row["turn"] for row in turn_rows if row["topic"] in part_ids)
