"""The typed inputs and results of the tools of MCP. Stored text is escaped: see `text.fences`.

Ids and names of people are returned as they are, since callers ask by them; only tokens of a model's template are
escaped in them.

A client sees the name of a result's class in the schema of its tool, as the `title`, and of a class inside another as
the key of `$defs`, which is made of `__qualname__`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from recollect import model
from recollect.model import FactCategory, Kept, RefusalKind, Role
from recollect.text import fences

Expires = Annotated[
    str | None,
    Field(description="When it is to be gone, if not kept for good: a span as in 10m, 2h or 7d, or a time."),
]


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
    expires: Expires = None


class KeptMessage(BaseModel):
    id: str
    turn: Annotated[int, Field(description="Its number in the conversation.")]
    new: Annotated[bool, Field(description="False if it was there already.")]
    kept: Annotated[
        Kept,
        Field(
            description="new; known, with this text; edited, a new version; refused, known with another text; erased."
        ),
    ]


class EditResult(BaseModel):
    model_config = ConfigDict(title="Edited")

    id: str
    turn: Annotated[int, Field(description="Its number in the conversation.")]


class AddResult(BaseModel):
    model_config = ConfigDict(title="Kept")

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


class SearchResult(BaseModel):
    model_config = ConfigDict(title="Found")

    messages: list[FoundMessage]


class StatementOut(BaseModel):
    model_config = ConfigDict(title="Statement")
    __qualname__ = "Statement"

    text: str
    said_at: datetime
    speaker: str


class RememberResult(BaseModel):
    model_config = ConfigDict(title="Remembered")

    statements: Annotated[list[StatementOut], Field(description="What now stands.")]


class FactOut(BaseModel):
    model_config = ConfigDict(title="Fact")
    __qualname__ = "Fact"

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


class FactsResult(BaseModel):
    model_config = ConfigDict(title="Facts")

    facts: list[FactOut]


class RefusedOut(BaseModel):
    model_config = ConfigDict(title="RefusedFact")
    __qualname__ = "RefusedFact"

    category: FactCategory
    key: str
    value: str
    about: Annotated[str | None, Field(description="Whom it would be about, if not the user.")]
    kind: RefusalKind
    reason: str
    message: Annotated[str, Field(description="The id of the message in which it was found.")]
    said_at: datetime


class RefusedResult(BaseModel):
    model_config = ConfigDict(title="RefusedFacts")

    refused: list[RefusedOut]


class FactChangeResult(BaseModel):
    model_config = ConfigDict(title="FactChange")

    undo_id: Annotated[str, Field(description="Takes the change back, by the tool undo.")]
    fact: Annotated[list[FactOut], Field(description="The fact as it stands now; empty if it was deleted.")]
    retired: Annotated[list[FactOut], Field(description="Facts that no longer hold.")]


class UndoResult(BaseModel):
    model_config = ConfigDict(title="Undone")

    statements: list[StatementOut]
    facts: list[FactOut]


class AskResult(BaseModel):
    model_config = ConfigDict(title="Answer")

    answer: str
    known: Annotated[bool, Field(description="False if nothing that is remembered answers the question.")]
    made_by: Annotated[str, Field(description="`model`, or `offline` if the best lines stand for an answer.")]
    facts: Annotated[list[str], Field(description="The ids of the facts that the answer rests on.")]
    messages: Annotated[list[str], Field(description="The ids of the messages that the answer rests on.")]


class ForgetResult(BaseModel):
    model_config = ConfigDict(title="Forgotten")

    found: bool
    undo_id: Annotated[str | None, Field(description="Brings it back, by the tool undo.")]
    statements: list[StatementOut]
    facts: list[FactOut]


class SectionOut(BaseModel):
    model_config = ConfigDict(title="Section")
    __qualname__ = "Section"

    name: str
    tokens: int


class ContextResult(BaseModel):
    model_config = ConfigDict(title="Context")

    text: str
    tokens: int
    sections: list[SectionOut]


class ConversationOut(BaseModel):
    id: str
    user: str | None
    messages: int
    changed_at: datetime


class ConversationList(BaseModel):
    conversations: list[ConversationOut]


def build_kept_message(addition: model.Added) -> KeptMessage:
    message = addition.message
    return KeptMessage(id=escape_name(message.id), turn=message.turn, new=addition.new, kept=addition.kept)


def build_message(message: model.Message, score: float, *, excerpt: bool) -> FoundMessage:
    return FoundMessage(
        id=escape_name(message.id),
        conversation=escape_name(message.conversation),
        turn=message.turn,
        role=message.role,
        author=escape_name(message.author),
        time=message.time,
        content=fences.escape(message.content),
        excerpt=excerpt,
        score=score,
    )


def build_statement(statement: model.Statement) -> StatementOut:
    return StatementOut(
        text=fences.escape(statement.text), said_at=statement.said_at, speaker=escape_name(statement.speaker)
    )


def build_refused(fact: model.RefusedFact) -> RefusedOut:
    return RefusedOut(
        category=fact.category,
        key=fences.escape(fact.key),
        value=fences.escape(fact.value),
        about=None if fact.subject is None else fences.escape_line(fact.subject),
        kind=fact.kind,
        reason=fences.escape(fact.reason),
        message=fact.message,
        said_at=fact.said_at,
    )


def build_fact(fact: model.Fact) -> FactOut:
    return FactOut(
        id=fact.id,
        category=fact.category,
        key=fences.escape(fact.key),
        value=fences.escape(fact.value),
        about=None if fact.subject is None else fences.escape_line(fact.subject),
        confidence=fact.confidence,
        importance=fact.importance,
        speaker=escape_name(fact.speaker),
        said_at=fact.said_at,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
    )


def build_change(change: model.FactChange) -> FactChangeResult:
    return FactChangeResult(
        undo_id=change.id,
        fact=[] if change.fact is None else [build_fact(change.fact)],
        retired=[build_fact(fact) for fact in change.retired],
    )


def build_answer(answer: model.MemoryAnswer) -> AskResult:
    return AskResult(
        answer=fences.escape(answer.text),
        known=answer.known,
        made_by=answer.made_by,
        facts=[fact.id for fact in answer.facts],
        messages=[escape_name(message.id) for message in answer.messages],
    )


def build_conversation(conversation: model.Conversation) -> ConversationOut:
    user = None if conversation.user is None else escape_name(conversation.user)
    return ConversationOut(
        id=escape_name(conversation.id), user=user, messages=conversation.turns, changed_at=conversation.changed_at
    )


def escape_name(text: str) -> str:
    """Escape an id or a name. It stands inside a value and not at the start of a line, so that one like `user:42` is
    not read as a role. One with invisible characters gets a sign, so that it does not look like another's."""
    safe_text = fences.escape(f"a {text}")[2:]
    return safe_text if fences.strip_invisible(text) == text else fences.with_sign(safe_text, text)
