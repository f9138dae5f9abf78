"""A page of a conversation's topics, the most present first: only those of the page are put together."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import inf, log2
from threading import Lock

from everword.log.access import ConversationScope
from everword.memory.conversation_topics import build_topic
from everword.memory.inspection.conversations import names_of_people, recent_messages
from everword.memory.runtime import Runtime
from everword.model import Conversation, Topic
from everword.ports import Tx
from everword.summaries.rules.lines import render_lines
from everword.topics import tables as rows
from everword.topics.rules import topic_set
from everword.topics.rules.topic_set import half_life
from everword.topics.view import TopicPage

FRESH = timedelta(minutes=1)  # for which an order is kept
MOST_KEPT = 32  # orders
TOPIC = re.compile(r"t(\d{1,9})")

Order = Sequence[int]
States = Mapping[int, topic_set.TopicState]


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
        states: States = {**(page.load_faded(tx).states.to_dict() if with_faded else {}), **page.book.states}
        merge_states = states_of_merges(states)
        firsts = orders.order_of(page, states, merge_states, with_faded, now)
        page_firsts = firsts[skip : skip + limit]
        topics = tuple(read_topic(tx, page, states, merge_states, first, now) for first in page_firsts)
        return TopicList(topics, len(firsts))

    return await runtime.read(read)


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
            importance = topic_set.importance_of(state)
            weights[votes] = log2(importance) if importance > 0 else -inf
        if state.accesses not in spans:
            spans[state.accesses] = half_life(state.accesses).total_seconds()
        age = (now - state.last_active_at).total_seconds()
        return state.faded_at is not None, max(age, 0.0) / spans[state.accesses] - weights[votes], first

    return key


async def find_topic(runtime: Runtime, scope: ConversationScope, id: str) -> Topic | None:
    """One topic by its id, or by that of a topic that has become part of it; people have names in its summary."""
    match = TOPIC.fullmatch(id)
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
    lines = rows.summary_lines(tx, rows.place_of(conversation.space, conversation.id), first)
    speakers = {line.author for line in lines if line.role == "user"}
    names = names_of_people(tx, conversation, recent_messages(tx, conversation), speakers)
    return render_lines(lines, names)


def read_topic(tx: Tx, page: TopicPage, states: States, merge_states: States, first: int, now: datetime) -> Topic:
    topic_states = {**merge_states, first: states[first]}
    has_summary = any(part.packed_upto for part in topic_set.parts(topic_states, first))
    summary = rows.summary_of(tx, page.place, first)["summary"] if has_summary else ""
    return build_topic(topic_states, first, page, summary, now)
