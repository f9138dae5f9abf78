"""The context lab: what a model would be sent for a message, section by section, and the receipt; for two budgets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from recollect.context.build import TITLES
from recollect.errors import InvalidInput
from recollect.log.scope import scope_for
from recollect.memory.inspection.conversations import recent_lines
from recollect.memory.inspection.receipts import Names, name_items
from recollect.model import Budget, ChatMessage, Context, Receipt
from recollect.server.door.access import Caller, caller_for
from recollect.server.web.conversations import OptionalId
from recollect.server.web.pages import show_page

MAX_TEXT = 4_000  # characters of a message in a link, as for the route of the API
MAX_TOTAL = 1_000_000  # tokens
SUGGESTED = 12  # conversations that are offered to choose from
NAMES = {title: name for name, title in TITLES.items()}
FENCE = re.compile(r"^=== (END )?(.+?) ===$", re.MULTILINE)
ABOUT = {
    "system": "the standing text, and the day",
    "profile": "what is known of the people",
    "summaries": "of what has left the window",
    "found": "what the model searched for",
    "retrieved": "what fits the message",
    "topic": "what is being talked about",
    "history": "older messages of the window",
    "recent": "the last exchanges, word for word",
    "current": "the message itself",
}

router = APIRouter(include_in_schema=False)


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
        raise InvalidInput("budget", f"must be standard, compact, or 1 to {MAX_TOTAL:,} tokens")
    return Budget(total=int(text))


def split_prompt(messages: Sequence[ChatMessage]) -> Iterator[PromptPart]:
    """What the model is sent, by section. Only the builder writes a fence: what people said is escaped in one."""
    for place, message in enumerate(messages):
        if message["role"] == "system" and place == 0:
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
    caller: Caller, conversation: str, text: str, budgets: Sequence[str], markers: bool
) -> list[BuiltContext]:
    chat = caller.memory.conversation(conversation, space=caller.space)
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
    scope = scope_for(caller.access, caller.space, conversation, None)
    return await name_items(caller.memory.runtime, scope, [context.receipt for context in contexts])


@router.get("/web/context")
async def show_context(
    caller: Annotated[Caller, caller_for("context")],
    conversation: OptionalId = "",
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
    lines = await recent_lines(caller.memory.runtime, caller.space, caller.access.user, None, SUGGESTED)
    values = {"conversation": conversation, "text": text, "budget": budget, "other": other, "markers": markers == "on"}
    return show_page(
        caller,
        "context.html",
        section="Context lab",
        contexts=contexts,
        lines=lines,
        names=names,
        about=ABOUT,
        **values,
    )
