"""A page of a conversation's topics, the most present first: only those of the page are put together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.engine.conversation_topics import build_topic
from recollect.engine.runtime import Runtime
from recollect.engine.scope import ConversationScope
from recollect.engine.tables import topics as rows
from recollect.engine.views.topics import TopicPage
from recollect.model import Topic
from recollect.ports import Tx
from recollect.rules.topics import topics as rule

States = Mapping[int, rule.TopicState]


@dataclass(frozen=True, slots=True)
class TopicList:
    """Some topics of a conversation, and how many there are."""

    topics: tuple[Topic, ...]
    count: int


async def list_topics(
    runtime: Runtime, scope: ConversationScope, *, with_faded: bool, skip: int, limit: int
) -> TopicList:
    """The topics of a conversation from the most present on, without the first `skip`; with `with_faded`, those that
    have left the active set too, at the end."""
    now = runtime.parts.clock.now()

    def read(tx: Tx) -> TopicList:
        if scope.find(tx) is None:
            return TopicList((), 0)
        page = runtime.topics.read_page(tx, scope.space, scope.id)
        states: States = {**(page.load_faded(tx).states if with_faded else {}), **page.book.states}
        merge_states = states_of_merges(states)
        firsts = order_topics(states, merge_states, now)
        page_firsts = firsts[skip : skip + limit]
        topics = tuple(read_topic(tx, page, states, merge_states, first, now) for first in page_firsts)
        return TopicList(topics, len(firsts))

    return await runtime.read(read)


def states_of_merges(states: States) -> States:
    """The topics that became part of another, and those others: to all the rest, only they themselves matter."""
    merged_firsts = [first for first, state in states.items() if state.merged_into is not None]
    return {first: states[first] for first in (*merged_firsts, *(rule.root(states, first) for first in merged_firsts))}


def order_topics(states: States, merge_states: States, now: datetime) -> list[int]:
    """The first turns of topics that are part of no other: active ones before faded ones, the most present first."""

    def key(first: int) -> tuple[bool, float, int]:
        state = rule.whole_topic(merge_states, first) if first in merge_states else states[first]
        return states[first].faded_at is not None, -rule.current_priority(state, now), first

    return sorted(rule.roots(states), key=key)


def read_topic(tx: Tx, page: TopicPage, states: States, merge_states: States, first: int, now: datetime) -> Topic:
    summary = rows.summary_of(tx, page.place, first)["summary"]
    return build_topic({**merge_states, first: states[first]}, first, page, summary, now)
