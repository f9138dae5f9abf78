"""The labs: why memory finds what it finds, and what a model is sent.

The search lab shows what a query finds, the parts of each score as bars, and why a message was not found. The context
lab shows what a model would be sent for a message, section by section, with the receipt, for two budgets; and past
replies, what the model was shown when it wrote them, and what it asked for on the way. Nothing is kept of what is
asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query
from starlette.responses import Response

from everword.context.build import TITLES
from everword.context.receipts import SLOTS
from everword.errors import InvalidInput, NotFound
from everword.follow.model_calls import NONE
from everword.log.append_and_read import cursor_of
from everword.log.checks_and_seals import MAX_ID, check_share
from everword.memory.dashboard_data import Names, name_items, names_of_authors, past_replies, read_page
from everword.model import ROLES, Budget, ChatMessage, Context, Hit, Message, Receipt
from everword.server.access import Caller, caller_for
from everword.server.web.conversations import page_of
from everword.server.web.pages import (
    LABELS,
    ME,
    Form,
    Id,
    RequiredTurn,
    Turn,
    label_place,
    label_places,
    likely_person,
    redirect,
    scope_of,
    show_page,
    suggest_conversations,
    view_of,
    write_data,
    write_samples,
)

MOST_HITS = 1_000  # hits among which a message that was not shown is looked for
MAX_QUERY = 1_000  # characters
PARTS: dict[str, str] = LABELS["score_parts"]

router = APIRouter(include_in_schema=False)
MAX_TEXT = 4_000  # characters of a message in a link, as for the route of the API
MAX_TOTAL = 1_000_000  # tokens
PLAYGROUND = "playground"  # begins the id of the chat that one begins with
SHOWN_MESSAGES = 12  # of the playground
NAMES = {title: name for name, title in TITLES.items()} | {"POSSIBLY RELATED MEMORY": "retrieved"}
FENCE = re.compile(r"^=== (END )?(.+?) ===$", re.MULTILINE)
ABOUT: dict[str, str] = LABELS["sections"]


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
    scope = scope_of(caller, conversation)
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
    scored_hits = draw_hits(await find_hits(caller, request, MOST_HITS, None))
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
        return check_share("floor", float(text))
    except ValueError:
        raise InvalidInput("floor", "must be a number from 0 to 1") from None


def start_of(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def parse_day(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise InvalidInput(name, "must be a date such as 2026-05-31") from None


@router.get("/web/search")
async def show_search(
    caller: Annotated[Caller, caller_for("search")],
    query: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    user: Id = "",
    within: Id = "",
    role: Literal["", "user", "assistant", "system", "tool"] = "",
    after: Annotated[str, Query(max_length=10)] = "",
    before: Annotated[str, Query(max_length=10)] = "",
    floor: Annotated[str, Query(max_length=10)] = "",
    facts: Annotated[str, Query(max_length=8)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
    conversation: Id = "",
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
    labels = await label_places(caller, [message.conversation for message in shown_messages])
    values: dict[str, Any] = {"query": query, "asked": values_sent, "roles": ROLES, "hits": draw_hits(hits)}
    values |= {"explanation": explanation, "lines": await suggest_conversations(caller)}
    return show_page(caller, "search.html", section="Search lab", labels=labels, names=names, **values)


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A piece of what the model is sent, and the section it belongs to."""

    section: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Share:
    """A section in the bar of a context: where it begins and how wide it is, in percent of the bar."""

    name: str
    tokens: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """A context as the page shows it."""

    title: str
    receipt: Receipt
    shares: tuple[Share, ...]
    parts: tuple[PromptPart, ...]


def parse_budget(text: str) -> Budget:
    """A budget by its name, or by its tokens in all."""
    if text in ("", "standard"):
        return Budget()
    if text == "compact":
        return Budget.compact()
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 8 and 0 < int(text) <= MAX_TOTAL):
        raise InvalidInput("budget", f"must be standard, compact or a number of tokens from 1 to {MAX_TOTAL:,}")
    return Budget(total=int(text))


def split_prompt(messages: Sequence[ChatMessage]) -> Iterator[PromptPart]:
    """What the model is sent, by section. Only the builder writes a fence: what people said is escaped in one."""
    for place, message in enumerate(messages):
        if message["role"] == "system" and place in (0, len(messages) - 2):
            yield from split_system(message["content"])
        else:
            section = "current" if place == len(messages) - 1 else "recent"
            yield PromptPart(section, message["role"], message["content"])


def split_system(text: str) -> Iterator[PromptPart]:
    section = "system"
    start = 0
    for fence in FENCE.finditer(text):
        name = NAMES.get(fence[2])
        if name is None:
            continue
        end = fence.end() if fence[1] else fence.start()
        if piece := text[start:end].strip("\n"):
            yield PromptPart(section, "system", piece)
        section = "system" if fence[1] else name
        start = end
    if piece := text[start:].strip("\n"):
        yield PromptPart(section, "system", piece)


def section_shares(receipt: Receipt) -> Iterator[Share]:
    """The sections as parts of a bar, in order; what joins them is the last."""
    sizes = [(section.name, section.tokens) for section in receipt.sections if section.tokens]
    sizes.append(("joints", receipt.tokens - sum(tokens for _, tokens in sizes)))
    start = 0.0
    for name, tokens in sizes:
        width = 100 * max(tokens, 0) / max(receipt.tokens, 1)
        yield Share(name, tokens, round(start, 3), round(width, 3))
        start += width


def describe(title: str, context: Context) -> BuiltContext:
    shares = tuple(share for share in section_shares(context.receipt) if share.tokens > 0)
    return BuiltContext(title, context.receipt, shares, tuple(split_prompt(context.messages)))


async def build_contexts(
    caller: Caller, conversation: str, text: str, budgets: Sequence[str], markers: bool, user: str | None = None
) -> list[BuiltContext]:
    chat = caller.memory.conversation(conversation, user=user, space=caller.space)
    contexts = list[BuiltContext]()
    for name in budgets:
        budget = parse_budget(name)
        context = await chat.context(text, budget=budget, markers=markers)
        mask = caller.memory.runtime.parts.secrets.mask  # whoever looks at pages is not who said it
        messages = [ChatMessage(role=message["role"], content=mask(message["content"])) for message in context.messages]
        context = replace(context, messages=messages)
        contexts.append(describe(f"{budget.total:,} tokens", context))
    return contexts


async def name_context_items(caller: Caller, conversation: str, contexts: Sequence[BuiltContext]) -> Names:
    """What the ids in the receipts stand for."""
    if not contexts:
        return {}
    scope = scope_of(caller, conversation)
    return await name_items(caller.memory.runtime, scope, [context.receipt for context in contexts])


@router.get("/web/context")
async def show_context(
    caller: Annotated[Caller, caller_for("context")],
    conversation: Id = "",
    text: Annotated[str, Query(max_length=MAX_TEXT)] = "",
    budget: Annotated[str, Query(max_length=16)] = "standard",
    other: Annotated[str, Query(max_length=16)] = "",
    markers: Annotated[str, Query(max_length=8)] = "on",
) -> Response:
    """The lab: nothing is kept of what is asked here."""
    contexts = list[BuiltContext]()
    if conversation and text.strip():
        budgets = [budget, *([other] if other else [])]
        contexts = await build_contexts(caller, conversation, text, budgets, markers == "on")
    names = await name_context_items(caller, conversation, contexts)
    lines = await suggest_conversations(caller)
    values = {"conversation": conversation, "text": text, "budget": budget, "other": other, "markers": markers == "on"}
    return show_page(
        caller,
        "context.html",
        section="Context lab",
        contexts=contexts,
        label=await label_place(caller, conversation) if conversation else "",
        lines=lines,
        names=names,
        about=ABOUT,
        **values,
    )


# -- the playground


@router.get("/web/playground")
async def show_playground(
    caller: Annotated[Caller, caller_for("context")],
    conversation: Id = "",
    user: Id = "",
    text: Annotated[str, Query(max_length=MAX_TEXT)] = "",
) -> Response:
    """A chat, and beside it what the memory adds: for a message that is tried, or for the last reply."""
    lines = await suggest_conversations(caller)
    owner = caller.access.user or user or likely_person(lines)
    id = conversation or f"{PLAYGROUND}-{owner}"[:MAX_ID]
    runtime = caller.memory.runtime
    scope = scope_of(caller, id)
    page = await read_page(runtime, scope, None, SHOWN_MESSAGES)
    if page.conversation is not None:
        owner = page.conversation.user or owner
    context = stored = None
    if text.strip():
        (context,) = await build_contexts(caller, id, text, ["standard"], False, owner)
    else:
        stored = next(iter(await past_replies(runtime, scope)), None)
    receipt = context.receipt if context else stored.stored.receipt if stored else None
    body = {"text": text or "What do you know about me?"}
    path = f"/v1/conversations/{quote(id, safe='')}/context"
    values = {
        "conversation": id,
        "page": page,
        "label": await label_place(caller, id) if page.conversation else "A new chat",
        "owner": owner,
        "text": text,
        "context": context,
        "receipt": receipt,
        "stored": stored,
        "shares": [share for share in section_shares(receipt) if share.tokens > 0] if receipt else [],
        "item_names": await name_items(runtime, scope, [receipt], owner) if receipt else {},
        "about": ABOUT,
        "lines": lines,
        "model": model_name(caller),
        "samples": write_samples(caller, path, body, *chat_lines(id, body)),
    }
    return show_page(caller, "playground.html", section="Playground", **values)


def model_name(caller: Caller) -> str:
    """The model that answers here; "" if none is configured."""
    model = caller.memory.runtime.chat.for_task("reply")
    return "" if model.name == NONE else model.name


def chat_lines(id: str, body: Mapping[str, str]) -> tuple[str, str, str]:
    context = f"context = memory.conversation({write_data(id)}).context({write_data(body['text'])})"
    return context, "print(context.messages)  # give them to any model", "print(context.receipt)"


@router.post("/web/playground/send")
async def send_message(caller: Annotated[Caller, caller_for("reply")], form: Form) -> Response:
    """Keep a message, and have it answered if a model is configured."""
    id = form.required_text("conversation")
    text = form.required_text("text")
    user = caller.access.resolve_user(form.text("user") or None)
    page = await read_page(caller.memory.runtime, scope_of(caller, id), None, 1)
    is_channel = page.conversation is not None and page.conversation.user is None
    owner = page.conversation.user if page.conversation is not None else user or ME
    chat = caller.memory.conversation(id, user=owner, space=caller.space)
    author = user or ME if is_channel else None
    if model_name(caller):
        await chat.reply(text, author=author)
    else:
        await chat.add("user", text, author=author)
    return redirect(view_of(caller).link("/web/playground", conversation=id))


@router.get("/web/replies")
async def show_replies(caller: Annotated[Caller, caller_for("receipts")], conversation: Id) -> Response:
    """The last replies of a conversation, each with its tokens and calls."""
    await page_of(caller, conversation, 1)
    scope = scope_of(caller, conversation)
    replies = await past_replies(caller.memory.runtime, scope)
    labels = await label_places(caller, [conversation])
    values = {"conversation": conversation, "replies": replies, "most": SLOTS, "labels": labels}
    return show_page(caller, "replies.html", section="Context lab", **values)


@router.get("/web/reply")
async def show_reply(
    caller: Annotated[Caller, caller_for("receipts")], conversation: Id, turn: RequiredTurn
) -> Response:
    """One reply: the receipt of its context, and every call of the model."""
    await page_of(caller, conversation, 1)
    scope = scope_of(caller, conversation)
    runtime = caller.memory.runtime
    reply = next((reply for reply in await past_replies(runtime, scope) if reply.stored.turn == turn), None)
    if reply is None:
        raise NotFound(f"there is no receipt (record of the context) for turn {turn} of this conversation")
    receipt = reply.stored.receipt
    values = {
        "conversation": conversation,
        "labels": await label_places(caller, [conversation]),
        "reply": reply,
        "receipt": receipt,
        "shares": [share for share in section_shares(receipt) if share.tokens > 0],
        "names": await name_items(runtime, scope, [receipt]),
        "hidden": reply.stored.hidden,
        "about": ABOUT,
        "user": scope.user,
    }
    return show_page(caller, "reply.html", section="Context lab", **values)
