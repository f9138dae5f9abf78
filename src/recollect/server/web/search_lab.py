"""The search lab: what a query finds, the parts of each score as bars, and why a message was not found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from recollect.errors import InvalidInput, NotFound
from recollect.log.cursors import cursor_of
from recollect.log.scope import scope_for
from recollect.memory.inspection.conversations import names_of_authors
from recollect.memory.inspection.messages import read_page
from recollect.model import ROLES, Hit, Message
from recollect.recall.rules.selection import check_floor
from recollect.server.door.access import Caller, caller_for
from recollect.server.web.conversations import OptionalId, Turn
from recollect.server.web.pages import show_page

MOST = 1_000  # hits among which a message that was not shown is looked for
MAX_TEXT = 1_000  # characters
PARTS = {
    "text": "words",
    "likeness": "words alike",
    "vector": "meaning",
    "near": "neighbours",
    "speaker": "who said it",
    "time": "when it was said",
    "opening": "first of its chat",
    "recency": "recent",
    "occasion": "same occasion",
    "detail": "particulars",
    "reply": "states or answers",
    "preference": "a preference",
    "standing": "a standing instruction",
    "coverage": "others of its occasion come first",
    "fact": "fact",
}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A part of a score in its bar: where it begins and how wide it is, in percent."""

    name: str
    label: str
    value: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class ScoredHit:
    """A hit with its place and the parts of its score, drawn to the scale of the best hit."""

    place: int
    hit: Hit
    parts: tuple[ScorePart, ...]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is searched for, and where."""

    query: str
    limit: int
    floor: float | None
    filters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a message is not among the hits that are shown; `hit` is how it was entry, if it was."""

    message: Message
    reason: str
    hit: ScoredHit | None = None


def draw_parts(hit: Hit, best: float) -> tuple[ScorePart, ...]:
    parts = list[ScorePart]()
    start = 0.0
    for name, value in sorted(hit.parts.items(), key=lambda part: -part[1]):
        if value > 0:
            width = 100 * value / max(best, value, 1e-9)
            parts.append(ScorePart(name, PARTS.get(name, name), value, round(start, 2), round(width, 2)))
            start += width
    return tuple(parts)


def draw_hits(hits: list[Hit]) -> list[ScoredHit]:
    best = max((sum(value for value in hit.parts.values() if value > 0) for hit in hits), default=1.0)
    return [ScoredHit(place, hit, draw_parts(hit, best)) for place, hit in enumerate(hits, 1)]


async def find_hits(caller: Caller, request: SearchRequest, limit: int, floor: float | None) -> list[Hit]:
    return await caller.memory.search(request.query, limit=limit, floor=floor, space=caller.space, **request.filters)


async def explain_absence(
    caller: Caller, request: SearchRequest, hits: list[Hit], conversation: str, turn: int
) -> Explanation:
    """Why a message is not among the hits."""
    scope = scope_for(caller.access, caller.space, conversation, None)
    page = await read_page(caller.memory.runtime, scope, turn + 1, 1)
    if not page.messages or page.messages[0].message.turn != turn:
        raise NotFound(f"there is no message at turn {turn} of conversation {conversation!r}")
    message = page.messages[0].message
    if any(hit.message.id == message.id for hit in hits):
        return Explanation(message, "It is among the hits.")
    if (filter_reason := excluding_filter(message, request.filters)) is not None:
        return Explanation(message, filter_reason)
    cursor = await caller.memory.runtime.read(lambda tx: cursor_of(tx, "index", caller.space, conversation))
    if cursor < turn:
        return Explanation(message, "It is not in the index yet: the index is behind the log.")
    scored_hits = draw_hits(await find_hits(caller, request, MOST, None))
    entry = next((entry for entry in scored_hits if entry.hit.message.id == message.id), None)
    if entry is None:
        return Explanation(message, "It shares no telling word with the query, and is not near it in meaning.")
    return Explanation(message, rank_reason(entry, request), entry)


def excluding_filter(message: Message, filters: Mapping[str, Any]) -> str | None:
    """The filter that leaves a message out, in words."""
    if filters["conversation"] not in (None, message.conversation):
        return "The filter by conversation leaves it out."
    if filters["user"] not in (None, message.user):
        return "It belongs to another user's memory than the filter names."
    if filters["role"] not in (None, message.role):
        return f"The filter by role leaves it out: it was said by the {message.role}."
    if filters["after"] is not None and message.time < filters["after"]:
        return "It was said before the time of the filter."
    if filters["before"] is not None and message.time >= filters["before"]:
        return "It was said after the time of the filter."
    return None


def rank_reason(entry: ScoredHit, request: SearchRequest) -> str:
    if request.floor is not None and entry.hit.relevance < request.floor:
        return (
            f"Its relevance is {entry.hit.relevance:.2f}, and the floor is {request.floor:.2f}. "
            f"Without the floor it is at place {entry.place}."
        )
    return f"It is found, at place {entry.place}: others fit better, and {request.limit} are shown."


def parse_floor(text: str) -> float | None:
    if not text.strip():
        return None
    try:
        return check_floor(float(text))
    except ValueError:
        raise InvalidInput("floor", "must be a number from 0 to 1") from None


def start_of(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def parse_day(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InvalidInput(name, "must be a day: 2026-05-31") from None


@router.get("/web/search")
async def show_search(
    caller: Annotated[Caller, caller_for("search")],
    query: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    user: OptionalId = "",
    within: OptionalId = "",
    role: Literal["", "user", "assistant", "system", "tool"] = "",
    after: Annotated[str, Query(max_length=10)] = "",
    before: Annotated[str, Query(max_length=10)] = "",
    floor: Annotated[str, Query(max_length=10)] = "",
    facts: Annotated[str, Query(max_length=8)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    conversation: OptionalId = "",
    turn: Turn = None,
) -> Response:
    """The lab. `conversation` and `turn` name a message that one expected."""
    filters = {
        "user": caller.access.resolve_user(user or None),
        "conversation": within or None,
        "role": role or None,
        "after": start_of(parse_day("after", after)),
        "before": start_of(parse_day("before", before)),
        "kinds": ("message", "fact") if facts else ("message",),
    }
    request = SearchRequest(query, limit, parse_floor(floor), filters)
    hits = await find_hits(caller, request, limit, request.floor) if query.strip() else []
    explanation = None
    if query.strip() and conversation and turn is not None:
        explanation = await explain_absence(caller, request, hits, conversation, turn)
    values_sent: dict[str, Any] = {
        "user": user,
        "within": within,
        "role": role,
        "after": after,
        "before": before,
        "floor": floor,
    }
    values_sent |= {"facts": facts, "limit": limit, "conversation": conversation, "turn": turn}
    shown_messages = [hit.message for hit in hits] + ([explanation.message] if explanation else [])
    names = await names_of_authors(caller.memory.runtime, shown_messages)
    values = {"query": query, "asked": values_sent, "roles": ROLES, "hits": draw_hits(hits), "explanation": explanation}
    return show_page(caller, "search.html", section="Search lab", labels=PARTS, names=names, **values)
