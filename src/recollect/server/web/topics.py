"""Topics: what a conversation is about, how present each topic is now and will be, and their correction by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from recollect.errors import InvalidInput, NotFound
from recollect.log.scope import ConversationScope, scope_for
from recollect.memory.inspection.conversations import names_within, recent_lines
from recollect.memory.inspection.topics import TopicList, TopicOrders, find_topic, list_topics
from recollect.memory.seen_by import SeenConversation
from recollect.model import Topic
from recollect.server.door.access import Caller, caller_for
from recollect.server.web.context_lab import SUGGESTED
from recollect.server.web.conversations import Id, OptionalId
from recollect.server.web.forms import Form
from recollect.server.web.pages import redirect, shorten, show_page, view_of
from recollect.topics.rules.topic_set import priority

DRAWN = 8  # topics in the chart
LONGEST_BEHIND = timedelta(days=45)  # of the chart
AHEAD = timedelta(days=7)
LONGEST_NAME = 40  # characters of a title in the legend of the chart
STEPS = 160  # points of a curve
PAGE = 50  # topics in a page
MESSAGES = 60  # of a topic that are shown, the last

router = APIRouter(include_in_schema=False)


def chat_of(caller: Caller, conversation: str) -> SeenConversation:
    return caller.memory.conversation(conversation, space=caller.space)


def decay_chart(topics: Sequence[Topic], now: datetime) -> dict[str, Any]:
    """How present topics were, are and will be if nobody talks of them again: half in each half-life. If nobody has
    for long, the chart ends soon after somebody did, and not today."""
    first = min((topic.last_active_at for topic in topics), default=now)
    last = max((topic.last_active_at for topic in topics), default=now)
    end = now + AHEAD if last > now - LONGEST_BEHIND else last + LONGEST_BEHIND
    start = max(min(first, now), end - AHEAD - LONGEST_BEHIND)
    step = (end - start) / (STEPS - 1)
    times = [start + number * step for number in range(STEPS)]

    def value_at(topic: Topic, time: datetime) -> float | None:
        if time < topic.last_active_at:
            return None
        return round(priority(topic.importance, topic.accesses, time - topic.last_active_at), 4)

    return {
        "now": int(now.timestamp()) if now < end else None,
        "times": [int(time.timestamp()) for time in times],
        "names": [shorten(topic.title, LONGEST_NAME) or topic.id for topic in topics],
        "values": [[value_at(topic, time) for time in times] for topic in topics],
    }


async def page_of_topics(caller: Caller, scope: ConversationScope, with_faded: bool, skip: int) -> TopicList:
    orders: TopicOrders = caller.request.app.state.topic_orders
    return await list_topics(caller.memory.runtime, orders, scope, with_faded=with_faded, skip=skip, limit=PAGE)


@router.get("/web/topics")
async def show_topics(
    caller: Annotated[Caller, caller_for("topics")],
    conversation: OptionalId = "",
    with_faded: Annotated[str, Query(alias="faded", max_length=8)] = "",
    skip: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> Response:
    """The topics of a conversation, the most present first."""
    if not conversation:
        lines = await recent_lines(caller.memory.runtime, caller.space, caller.access.user, None, SUGGESTED)
        return show_page(caller, "choose.html", section="Topics", lines=lines, target="/web/topics")
    scope = scope_for(caller.access, caller.space, conversation, None)
    listing = await page_of_topics(caller, scope, bool(with_faded), skip)
    all_faded = not listing.topics and not with_faded
    if all_faded:
        listing = await page_of_topics(caller, scope, True, skip)
        with_faded = "yes" if listing.topics else ""
    topics = listing.topics
    chart = decay_chart([topic for topic in topics if not topic.faded][:DRAWN], caller.memory.runtime.parts.clock.now())
    values = {
        "conversation": conversation,
        "topics": topics,
        "count": listing.count,
        "chart": chart,
        "faded": with_faded,
        "all_faded": all_faded and bool(topics),
    }
    next_skip = skip + PAGE if skip + PAGE < listing.count else None
    return show_page(caller, "topics.html", section="Topics", next_skip=next_skip, **values)


@router.get("/web/topic")
async def show_topic(caller: Annotated[Caller, caller_for("topic_history")], conversation: Id, id: Id) -> Response:
    """One topic: its messages, its tags, and the topics that became part of it."""
    chat = chat_of(caller, conversation)
    scope = scope_for(caller.access, caller.space, conversation, None)
    topic = await find_topic(caller.memory.runtime, scope, id)
    if topic is None:
        raise NotFound(f"there is no topic {id!r} in this conversation")
    messages = await chat.get_full_topic_history(topic.id, include_compressed=topic.packed < MESSAGES)
    listing = await page_of_topics(caller, scope, False, 0)
    others = [other for other in listing.topics if other.id != topic.id]
    chart = decay_chart([topic], caller.memory.runtime.parts.clock.now())
    shown_messages = messages[-MESSAGES:]
    names = await names_within(caller.memory.runtime, scope, {message.author for message in shown_messages})
    values = {"conversation": conversation, "topic": topic, "others": others}
    values |= {"messages": shown_messages, "names": names}
    return show_page(caller, "topic.html", section="Topics", chart=chart, **values)


def back_to(caller: Caller, conversation: str, topic: str) -> Response:
    return redirect(view_of(caller).link("/web/topic", conversation=conversation, id=topic))


@router.post("/web/topic/merge")
async def merge_topics(caller: Annotated[Caller, caller_for("merge_topics")], form: Form) -> Response:
    """Make another topic part of this one."""
    conversation = form.required_text("conversation")
    topic = await chat_of(caller, conversation).merge_topics(form.required_text("id"), form.required_text("other"))
    return back_to(caller, conversation, topic.id)


@router.post("/web/topic/split")
async def split_topic(caller: Annotated[Caller, caller_for("unmerge_topic")], form: Form) -> Response:
    """Take a topic out of the one it has become part of."""
    conversation = form.required_text("conversation")
    topic = await chat_of(caller, conversation).undo_merge(form.required_text("other"))
    return back_to(caller, conversation, topic.id)


@router.post("/web/topic/tag")
async def tag_topic(caller: Annotated[Caller, caller_for("tag_topic")], form: Form) -> Response:
    """Give a topic a tag, or take it away."""
    conversation = form.required_text("conversation")
    remove = form.text("remove") == "yes"
    topic = await chat_of(caller, conversation).tag_topic(
        form.required_text("id"), form.required_text("tag"), remove=remove
    )
    return back_to(caller, conversation, topic.id)


@router.post("/web/topic/feedback")
async def rate_topic(caller: Annotated[Caller, caller_for("rate_topic")], form: Form) -> Response:
    """Say that a topic matters, or does not."""
    conversation = form.required_text("conversation")
    scores = {"1": 1, "-1": -1}
    if form.text("score") not in scores:
        raise InvalidInput("score", "must be 1 or -1")
    topic = await chat_of(caller, conversation).feedback(form.required_text("id"), scores[form.text("score")])
    return back_to(caller, conversation, topic.id)
