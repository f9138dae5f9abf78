"""Conversations: the list of them, one as a chat that is read page by page, its messages, episodes and topics.

Scrolling up loads the messages before, a page at a time; without a script, a link does. Nothing reads a whole history.
A message shows all that is known of it and what it said before; its removal begins with a preview. Episodes are
summaries of what has left the window, each with the turns it is made of. Topics are what a conversation is about, how
present each is now and will be, and they are corrected by hand here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from everword.errors import InvalidInput, NotFound
from everword.facts.stored_facts import own_name
from everword.log.access import ConversationScope
from everword.log.checks_and_seals import check_cursor
from everword.memory.dashboard_data import (
    ListedConversation,
    MessagePage,
    Overview,
    TopicList,
    TopicOrders,
    active_episodes,
    episodes_of_many,
    find_receipt,
    find_topic,
    lines_of,
    list_topics,
    names_within,
    read_episode,
    read_page,
    recent_lines,
    topics_of_many,
)
from everword.memory.operations.conversation import AsyncConversation
from everword.model import Deletion, Topic
from everword.server.access import Caller, caller_for
from everword.server.problems import Problem
from everword.server.routes.answers import line_response
from everword.server.web.pages import (
    FLOOR,
    PRESENCES,
    Form,
    FormFields,
    Id,
    Notice,
    RequiredTurn,
    Skip,
    Turn,
    label_place,
    label_places,
    redirect,
    scope_of,
    shorten,
    show_page,
    suggest_conversations,
    view_of,
    write_data,
    write_samples,
)
from everword.topics.rules.fading import priority

PAGE = 25  # conversations in a page of the list
MESSAGES = 40  # in a page of a chat
AROUND = 10  # messages shown after the one that was jumped to
FOUND = 100  # messages that a search of the list looks at
MAX_QUERY = 1_000  # characters

router = APIRouter(include_in_schema=False)
MAX_LEVEL = 100

Cursor = Annotated[str, Query(max_length=300)]
Level = Annotated[int, Query(ge=1, le=MAX_LEVEL)]
DRAWN = 8  # topics in the chart
LONGEST_BEHIND = timedelta(days=45)  # of the chart
AHEAD = timedelta(days=7)
LONGEST_NAME = 40  # characters of a title in the legend of the chart
STEPS = 160  # points of a curve
TOPICS = 50  # topics in a page
TOPIC_MESSAGES = 60  # of a topic that are shown, the last


@router.get("/web/conversations")
async def show_conversations(
    caller: Annotated[Caller, caller_for("conversations")],
    query: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    user: Id = "",
    cursor: Cursor = "",
) -> Response:
    """The conversations with the newest messages; with a query, those in which it is found, the best first."""
    person = caller.access.resolve_user(user or None)
    next_cursor = None
    if query.strip():
        lines = await find_lines(caller, query, person)
    else:
        lines = await recent_lines(caller.memory.runtime, caller.space, person, place_of(cursor), PAGE)
        next_cursor = lines[-1].conversation.cursor if len(lines) == PAGE else None
    values = {"lines": lines, "query": query, "user": user, "next_cursor": next_cursor}
    return show_page(caller, "conversations.html", section="Conversations", **values)


async def find_lines(caller: Caller, query: str, person: str | None) -> list[ListedConversation]:
    """The conversations in which a query is found, the best first."""
    hits = await caller.memory.search(query, user=person, limit=FOUND, floor=FLOOR, space=caller.space)
    ids = list(dict.fromkeys(hit.message.conversation for hit in hits))[:PAGE]
    return await lines_of(caller.memory.runtime, caller.space, caller.access.user, ids)


def place_of(cursor: str) -> tuple[datetime, str] | None:
    """The place in a list of conversations that a cursor names."""
    return check_cursor("cursor", cursor) if cursor else None


async def page_of(caller: Caller, id: str, before: int | None) -> MessagePage:
    """A page of a conversation; one that the caller may not see does not exist."""
    scope = scope_of(caller, id)
    page = await read_page(caller.memory.runtime, scope, before, MESSAGES)
    if page.conversation is None:
        raise NotFound(f"there is no conversation {id!r} in this space")
    return page


@router.get("/web/conversation")
async def show_conversation(
    caller: Annotated[Caller, caller_for("history")], id: Id, before: Turn = None, turn: Turn = None
) -> Response:
    """A conversation as a chat: its last messages, or those before a turn, or those around one."""
    upto = turn + AROUND if turn is not None else before
    page = await page_of(caller, id, upto)
    path = f"/v1/conversations/{quote(id, safe='')}/messages"
    loop = f"for message in memory.conversation({write_data(id)}).history():"
    values = {"id": id, "page": page, "turn": turn, "label": await label_place(caller, id)}
    values["samples"] = write_samples(caller, path, None, loop, "    print(message.author, message.content)")
    return show_page(caller, "conversation.html", section="Conversations", **values)


@router.get("/web/conversation/messages")
async def show_messages(caller: Annotated[Caller, caller_for("history")], id: Id, before: Turn = None) -> Response:
    """The messages before a turn, without the frame of a page: a script puts them above those that are there."""
    return show_page(caller, "messages.html", id=id, page=await page_of(caller, id, before), turn=None)


@router.get("/web/conversation/export")
async def export_conversation(caller: Annotated[Caller, caller_for("export")], id: Id) -> Response:
    """Every message of a conversation, one a line, as `everword import` reads them."""
    await page_of(caller, id, 1)
    source = caller.memory.export(user=caller.access.user, conversation=id, space=caller.space)
    response = await line_response(source)
    response.headers["Content-Disposition"] = 'attachment; filename="conversation.jsonl"'
    return response


def chat_of(caller: Caller, conversation: str) -> AsyncConversation:
    return caller.memory.conversation(conversation, space=caller.space)


def turn_in(form: FormFields) -> int:
    text = form.required_text("turn")
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
        raise Problem(422, "invalid_input", "turn: must be the number of a message")
    return int(text)


async def show_message_page(
    caller: Caller, conversation: str, turn: int, deletion: Deletion | None = None, notice: str = ""
) -> Response:
    scope = scope_of(caller, conversation)
    page = await read_page(caller.memory.runtime, scope, turn + 1, 1)
    if not page.messages or page.messages[0].message.turn != turn:
        raise NotFound(f"there is no message at turn {turn} of this conversation")
    chat = chat_of(caller, conversation)
    versions = (await chat.history(limit=1, before=turn + 1, versions=True))[0].versions
    has_receipt = await find_receipt(caller.memory.runtime, scope, turn)
    values = {
        "entry": replace(page.messages[0], message=page.messages[0].message.as_said),
        "has_receipt": has_receipt,
        "versions": versions,
        "names": page.names,
        "label": await label_place(caller, conversation),
        "deletion": deletion,
        "labels": await label_places(caller, [conversation]),
        "notice": notice,
    }
    return show_page(caller, "message.html", section="Conversations", id=conversation, **values)


@router.get("/web/message")
async def show_message(
    caller: Annotated[Caller, caller_for("history")], conversation: Id, turn: RequiredTurn, outcome: Notice = ""
) -> Response:
    notice = "The message has a new version." if outcome == "edited" else ""
    return await show_message_page(caller, conversation, turn, notice=notice)


@router.post("/web/message/edit")
async def edit_message(caller: Annotated[Caller, caller_for("edit_message")], form: Form) -> Response:
    """Give a message a new text; the old one stays as a version."""
    conversation = form.required_text("conversation")
    turn = turn_in(form)
    await chat_of(caller, conversation).edit(turn, form.required_text("text"))
    return redirect(view_of(caller).link("/web/message", conversation=conversation, turn=turn, done="edited"))


@router.post("/web/message/preview")
async def preview_deletion(caller: Annotated[Caller, caller_for("delete_message")], form: Form) -> Response:
    """What would go with a message. Nothing is changed."""
    chat = chat_of(caller, form.required_text("conversation"))
    turn = turn_in(form)
    deletion = await chat.delete(turn, dry_run=True)
    return await show_message_page(caller, chat.id, turn, deletion)


@router.post("/web/message/delete")
async def delete_message(caller: Annotated[Caller, caller_for("delete_message")], form: Form) -> Response:
    """Remove a message and all that was derived from it, for good."""
    chat = chat_of(caller, form.required_text("conversation"))
    deletion = await chat.delete(turn_in(form))
    link = view_of(caller).link("/web/conversation", id=chat.id)
    return show_page(caller, "removed.html", section="Conversations", deletion=deletion, back=link)


@router.get("/web/episodes")
async def show_episodes(
    caller: Annotated[Caller, caller_for("episodes")], conversation: Id = "", user: Id = "", cursor: Cursor = ""
) -> Response:
    """The active episodes of a conversation, the highest level first; or the highest of many conversations."""
    if not conversation:
        person = caller.access.resolve_user(user or None)
        overview = await episodes_of_many(caller.memory.runtime, caller.space, person, place_of(cursor))
        values = await overview_values(caller, overview, user)
        return show_page(caller, "episodes_of_many.html", section="Episodes", **values)
    scope = scope_of(caller, conversation)
    episodes = await active_episodes(caller.memory.runtime, scope)
    labels = await label_places(caller, [conversation])
    values = {"conversation": conversation, "episodes": episodes, "labels": labels}
    return show_page(caller, "episodes.html", section="Episodes", **values)


@router.get("/web/episode")
async def show_episode(
    caller: Annotated[Caller, caller_for("episodes")], conversation: Id, level: Level, first: RequiredTurn
) -> Response:
    """One episode with its parts: a page, or a piece of the tree if a script asks."""
    scope = scope_of(caller, conversation)
    parts = await read_episode(caller.memory.runtime, scope, level, first)
    labels = await label_places(caller, [conversation])
    values = {"conversation": conversation, "episode": parts.episode, "episodes": parts.parts, "labels": labels}
    return show_page(caller, "episode.html", section="Episodes", **values)


@router.get("/web/episode/parts")
async def show_parts(
    caller: Annotated[Caller, caller_for("episodes")], conversation: Id, level: Level, first: RequiredTurn
) -> Response:
    """The parts of an episode, without the frame of a page."""
    scope = scope_of(caller, conversation)
    parts = await read_episode(caller.memory.runtime, scope, level, first)
    return show_page(caller, "episode_tree.html", conversation=conversation, episodes=parts.parts)


async def overview_values(caller: Caller, overview: Overview[Any], user: str) -> dict[str, Any]:
    """What an overview of many conversations gives its page."""
    name = await caller.memory.runtime.read(lambda tx: own_name(tx, caller.space, user)) if user else ""
    lines = [] if caller.access.is_bound else await suggest_conversations(caller)
    return {"items": overview.items, "next_cursor": overview.next_cursor, "user": user, "name": name, "lines": lines}


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
        "names": [shorten(topic.title, LONGEST_NAME) or "untitled topic" for topic in topics],
        "levels": [level for level in PRESENCES if level[0]],
        "values": [[value_at(topic, time) for time in times] for topic in topics],
    }


async def page_of_topics(caller: Caller, scope: ConversationScope, with_faded: bool, skip: int) -> TopicList:
    orders: TopicOrders = caller.request.app.state.topic_orders
    return await list_topics(caller.memory.runtime, orders, scope, with_faded=with_faded, skip=skip, limit=TOPICS)


@router.get("/web/topics")
async def show_topics(
    caller: Annotated[Caller, caller_for("topics")],
    conversation: Id = "",
    with_faded: Annotated[str, Query(alias="faded", max_length=8)] = "",
    skip: Skip = 0,
    user: Id = "",
    cursor: Cursor = "",
) -> Response:
    """The topics of a conversation, the most present first; or those of many conversations."""
    if not conversation:
        person = caller.access.resolve_user(user or None)
        orders: TopicOrders = caller.request.app.state.topic_orders
        overview = await topics_of_many(caller.memory.runtime, orders, caller.space, person, place_of(cursor))
        values = await overview_values(caller, overview, user)
        return show_page(caller, "topics_of_many.html", section="Topics", **values)
    scope = scope_of(caller, conversation)
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
        "labels": await label_places(caller, [conversation]),
    }
    next_skip = skip + TOPICS if skip + TOPICS < listing.count else None
    return show_page(caller, "topics.html", section="Topics", next_skip=next_skip, **values)


@router.get("/web/topic")
async def show_topic(caller: Annotated[Caller, caller_for("topic_history")], conversation: Id, id: Id) -> Response:
    """One topic: its messages, its tags, and the topics that became part of it."""
    chat = chat_of(caller, conversation)
    scope = scope_of(caller, conversation)
    topic = await find_topic(caller.memory.runtime, scope, id)
    if topic is None:
        raise NotFound(f"there is no topic {id!r} in this conversation")
    messages = await chat.get_full_topic_history(topic.id, include_compressed=topic.packed < TOPIC_MESSAGES)
    listing = await page_of_topics(caller, scope, False, 0)
    others = [other for other in listing.topics if other.id != topic.id]
    chart = decay_chart([topic], caller.memory.runtime.parts.clock.now())
    shown_messages = messages[-TOPIC_MESSAGES:]
    names = await names_within(caller.memory.runtime, scope, {message.author for message in shown_messages})
    values = {"conversation": conversation, "topic": topic, "others": others}
    values |= {"messages": shown_messages, "names": names, "labels": await label_places(caller, [conversation])}
    return show_page(caller, "topic.html", section="Topics", chart=chart, **values)


def back_to(caller: Caller, conversation: str, topic: str) -> Response:
    return redirect(view_of(caller).link("/web/topic", conversation=conversation, id=topic))


@router.post("/web/topic/merge")
async def merge_topics(caller: Annotated[Caller, caller_for("merge_topics")], form: Form) -> Response:
    """Make another topic part of this one."""
    conversation = form.required_text("conversation")
    topic = await chat_of(caller, conversation).merge_topics(form.required_text("id"), form.required_text("other"))
    return back_to(caller, conversation, topic.id)


@router.post("/web/topic/unmerge")
async def unmerge_topic(caller: Annotated[Caller, caller_for("unmerge_topic")], form: Form) -> Response:
    """Take a topic out of the one it has become part of."""
    conversation = form.required_text("conversation")
    topic = await chat_of(caller, conversation).undo_merge(form.required_text("other"))
    return back_to(caller, conversation, topic.id)


@router.post("/web/topic/split")
async def split_topic(caller: Annotated[Caller, caller_for("split_topic")], form: Form) -> Response:
    """Move a message, with what answers it, out of its thread into one of its own."""
    conversation = form.required_text("conversation")
    topic = await chat_of(caller, conversation).split_topic(form.required_text("id"), turn_in(form))
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
