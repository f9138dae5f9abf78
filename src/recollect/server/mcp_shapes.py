"""What the tools of MCP take and give, typed. Text that was stored is escaped: see `rules.fences`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field

from recollect import model
from recollect.model import FactCategory, Role
from recollect.rules import fences


class NewMessage(BaseModel):
    """A message to be kept."""

    role: Role
    content: Annotated[str, Field(description="What was said, word for word.")]
    author: Annotated[str | None, Field(description="Who said it, if not the conversation's user.")] = None
    time: Annotated[AwareDatetime | None, Field(description="When, with a time zone; now if left out.")] = None
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


def message(one: model.Message, score: float) -> FoundMessage:
    return FoundMessage(
        id=one.id,
        conversation=one.conversation,
        turn=one.turn,
        role=one.role,
        author=one.author,
        time=one.time,
        content=fences.escape(one.content),
        score=score,
    )


def statement(one: model.Statement) -> Statement:
    return Statement(text=fences.escape(one.text), said_at=one.said_at, speaker=one.speaker)


def fact(one: model.Fact) -> Fact:
    return Fact(
        id=one.id,
        category=one.category,
        key=fences.escape(one.key),
        value=fences.escape(one.value),
        about=None if one.subject is None else fences.line(one.subject),
        confidence=one.confidence,
        importance=one.importance,
        speaker=one.speaker,
        said_at=one.said_at,
        valid_from=one.valid_from,
        valid_to=one.valid_to,
    )
