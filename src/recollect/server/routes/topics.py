"""The topics of a conversation over HTTP. A topic is named by its id, or as `current`, the one being talked about."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from recollect.errors import InvalidInput
from recollect.model.topics import IMPORTANCE
from recollect.server.door.access import Caller, caller_for
from recollect.server.routes import shapes
from recollect.server.routes.answers import Count, Cursor, IdempotencyKey, answer_once, json_response, page_response
from recollect.server.routes.conversations import Conversation, User, chat_of

CURRENT = "current"
Topic = Annotated[str, Path(description="A topic's id, or `current`.", max_length=256)]

router = APIRouter(prefix="/v1/conversations/{id:id}", tags=["topics"])


def topic_id_of(topic: str) -> str | None:
    return None if topic == CURRENT else topic


@router.get("/topics", response_model=shapes.page_model(shapes.Topic))
async def topics(
    caller: Annotated[Caller, caller_for("topics")],
    id: Conversation,
    user: User = None,
    faded: bool = False,
    cursor: Cursor = None,
    limit: Count = 100,
) -> Response:
    """What is talked about, the most present first; with `faded`, also what has left the active set."""
    all_topics = await chat_of(caller, id, user).topics(faded=faded)
    return page_response(all_topics, cursor, limit, lambda topic: topic.id)


@router.post("/topics", response_model=shapes.Topic)
async def say(
    caller: Annotated[Caller, caller_for("add_to_topic")],
    id: Conversation,
    body: shapes.SaidIn,
    key: IdempotencyKey = None,
) -> Response:
    """Keep a message and give it to its topic, which it may open or bring back. Returns the topic."""
    if body.author is not None:
        caller.access.check_user(body.author)
    chat = chat_of(caller, id, body.user)
    if body.role == "assistant":
        if body.author is not None or body.importance != IMPORTANCE:
            raise InvalidInput("role", "a reply of the assistant has neither author nor importance")
        return await answer_once(caller, key, lambda: chat.add_assistant_message(body.text, time=body.time))
    return await answer_once(
        caller, key, lambda: chat.add_user_message(body.text, body.importance, author=body.author, time=body.time)
    )


@router.get("/topic-search", response_model=list[shapes.TopicHit])
async def search_topics(
    caller: Annotated[Caller, caller_for("search_topics")],
    id: Conversation,
    query: Annotated[str, Query(max_length=4_000)],
    user: User = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 5,
) -> Response:
    """The topics a query is about, best first, faded ones too."""
    return json_response(await chat_of(caller, id, user).search_topics(query, limit=limit))


@router.get("/topics/{topic:id}/context", response_model=shapes.ChatMessages)
async def topic_context(
    caller: Annotated[Caller, caller_for("topic_context")], id: Conversation, topic: Topic, user: User = None
) -> Response:
    """What to send to a model of a topic: its summary, if it has one, and the messages of its active set."""
    return json_response({"messages": await chat_of(caller, id, user).get_topic_context(topic_id_of(topic))})


@router.get("/topics/{topic:id}/messages", response_model=list[shapes.TopicMessage])
async def topic_history(
    caller: Annotated[Caller, caller_for("topic_history")],
    id: Conversation,
    topic: Topic,
    user: User = None,
    include_compressed: bool = True,
) -> Response:
    """Every message of a topic, in order; without `include_compressed`, only those of its active set."""
    return json_response(await chat_of(caller, id, user).get_full_topic_history(topic_id_of(topic), include_compressed))


@router.get("/topics/{topic:id}/stats", response_model=shapes.TopicStats)
async def topic_stats(
    caller: Annotated[Caller, caller_for("topic_stats")], id: Conversation, topic: Topic, user: User = None
) -> Response:
    """A topic in figures."""
    return json_response(await chat_of(caller, id, user).get_topic_stats(topic_id_of(topic)))


@router.post("/topics/{topic:id}/merge", response_model=shapes.Topic)
async def merge(
    caller: Annotated[Caller, caller_for("merge_topics")],
    id: Conversation,
    topic: Topic,
    body: shapes.MergeIn,
    key: IdempotencyKey = None,
) -> Response:
    """Make two topics one: the other becomes part of this one."""
    return await answer_once(caller, key, lambda: chat_of(caller, id, body.user).merge_topics(topic, body.other))


@router.post("/topics/{topic:id}/unmerge", response_model=shapes.Topic)
async def unmerge(
    caller: Annotated[Caller, caller_for("unmerge_topic")],
    id: Conversation,
    topic: Topic,
    body: shapes.UserIn,
    key: IdempotencyKey = None,
) -> Response:
    """Take a topic out of the one it has become part of."""
    return await answer_once(caller, key, lambda: chat_of(caller, id, body.user).undo_merge(topic))


@router.post("/topics/{topic:id}/tags", response_model=shapes.Topic)
async def tag(
    caller: Annotated[Caller, caller_for("tag_topic")],
    id: Conversation,
    topic: Topic,
    body: shapes.TagsIn,
    key: IdempotencyKey = None,
) -> Response:
    """Give a topic tags of your own, or with `remove` take them away."""
    chat = chat_of(caller, id, body.user)
    return await answer_once(caller, key, lambda: chat.tag_topic(topic, *body.tags, remove=body.remove))


@router.post("/topics/{topic:id}/feedback", response_model=shapes.Topic)
async def feedback(
    caller: Annotated[Caller, caller_for("rate_topic")],
    id: Conversation,
    topic: Topic,
    body: shapes.FeedbackIn,
    key: IdempotencyKey = None,
) -> Response:
    """Say that a topic matters (1) or does not (-1)."""
    return await answer_once(caller, key, lambda: chat_of(caller, id, body.user).feedback(topic, body.score))
