"""What the tools of MCP take and give, typed. Text that was stored is escaped: see `rules.fences`.

Ids and names of people go out as they are, since they are asked for by them, but for one thing: no token of a model's
template is in them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from recollect import model
from recollect.model import FactCategory, Role
from recollect.rules.prompt import fences


class NewMessage(BaseModel):
    """A message to be kept."""

    model_config = ConfigDict(extra="forbid")

    role: Annotated[Role, Field(description="Who spoke: the user, the assistant, the system or a tool.")]
    content: Annotated[str, Field(description="What was said, word for word.")]
    author: Annotated[str | None, Field(description="Who said it, if not the conversation's user.")] = None
    time: Annotated[AwareDatetime | None, Field(description="When, as in 2026-05-31T09:00:00Z; now if left out.")] = (
        None
    )
    id: Annotated[str | None, Field(description="An id of your own: the same one twice is kept once.")] = None


class KeptMessage(BaseModel):
    id: str
    turn: Annotated[int, Field(description="Its number in the conversation.")]
    new: Annotated[bool, Field(description="False if it was there already.")]


class Kept(BaseModel):
    new: Annotated[int, Field(description="How many of them were not there yet.")]
    messages: list[KeptMessage]


class FoundMessage(BaseModel):
    id: str
    conversation: str
    turn: int
    role: Role
    author: str
    time: datetime
    content: str
    excerpt: Annotated[bool, Field(description="Whether it is only the part that is about the query.")]
    score: float


class Found(BaseModel):
    messages: list[FoundMessage]


class Statement(BaseModel):
    text: str
    said_at: datetime
    speaker: str


class Remembered(BaseModel):
    statements: Annotated[list[Statement], Field(description="What now stands.")]


class Fact(BaseModel):
    id: str
    category: FactCategory
    key: str
    value: str
    about: Annotated[str | None, Field(description="Whom it is about, if not the user.")]
    confidence: float
    importance: float
    speaker: str
    said_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None


class Facts(BaseModel):
    facts: list[Fact]


class Forgotten(BaseModel):
    found: bool
    undo_id: Annotated[str | None, Field(description="Brings it back: `recollect undo ID`.")]
    statements: list[Statement]
    facts: list[Fact]


class Section(BaseModel):
    name: str
    tokens: int


class Context(BaseModel):
    text: str
    tokens: int
    sections: list[Section]


class Conversation(BaseModel):
    id: str
    user: str | None
    messages: int
    changed_at: datetime


class Conversations(BaseModel):
    conversations: list[Conversation]


def message(one: model.Message, score: float, *, excerpt: bool) -> FoundMessage:
    return FoundMessage(
        id=name(one.id),
        conversation=name(one.conversation),
        turn=one.turn,
        role=one.role,
        author=name(one.author),
        time=one.time,
        content=fences.escape(one.content),
        excerpt=excerpt,
        score=score,
    )


def statement(one: model.Statement) -> Statement:
    return Statement(text=fences.escape(one.text), said_at=one.said_at, speaker=name(one.speaker))


def fact(one: model.Fact) -> Fact:
    return Fact(
        id=one.id,
        category=one.category,
        key=fences.escape(one.key),
        value=fences.escape(one.value),
        about=None if one.subject is None else fences.line(one.subject),
        confidence=one.confidence,
        importance=one.importance,
        speaker=name(one.speaker),
        said_at=one.said_at,
        valid_from=one.valid_from,
        valid_to=one.valid_to,
    )


def conversation(one: model.Conversation) -> Conversation:
    user = None if one.user is None else name(one.user)
    return Conversation(id=name(one.id), user=user, messages=one.turns, changed_at=one.changed_at)


def name(given: str) -> str:
    """An id or a name. It stands inside a value and begins no line, so that one like `user:42` is no role there. One
    in which something cannot be seen has a sign, so that nobody's reads as another's."""
    shown = fences.escape(f"a {given}")[2:]
    return shown if fences.seen(given) == given else fences.with_sign(shown, given)
