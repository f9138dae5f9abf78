"""The typed inputs and results of the tools of MCP. Stored text is escaped: see `text.fences`.

Ids and names of people are returned as they are, since callers ask by them; only tokens of a model's template are
escaped in them.

A client sees the name of a result's class in the schema of its tool, as the `title`, and of a class inside another as
the key of `$defs`, which is made of `__qualname__`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from everword.model import Fact, FactCategory, Kept, RefusalKind, RefusedFact, Role
from everword.text import fences
from everword.wire import to_json_shallow


def escape_name(text: str) -> str:
    """Escape an id or a name. It stands inside a value and not at the start of a line, so that one like `user:42` is
    not read as a role. One with invisible characters gets a sign, so that it does not look like another's."""
    safe_text = fences.escape(f"a {text}")[2:]
    return safe_text if fences.strip_invisible(text) == text else fences.with_sign(safe_text, text)


# Text as it is returned: it may hold what somebody said, on one line, or an id or a name.
Text = Annotated[str, BeforeValidator(fences.escape)]
Line = Annotated[str, BeforeValidator(fences.escape_line)]
Name = Annotated[str, BeforeValidator(escape_name)]
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
    id: Name
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

    id: Name
    turn: Annotated[int, Field(description="Its number in the conversation.")]


class AddResult(BaseModel):
    model_config = ConfigDict(title="Kept")

    new: Annotated[int, Field(description="How many of them were not there yet.")]
    messages: list[KeptMessage]


class FoundMessage(BaseModel):
    id: Name
    conversation: Name
    turn: int
    role: Role
    author: Name
    time: datetime
    content: Text
    excerpt: Annotated[bool, Field(description="Whether it is only the part that is about the query.")]
    score: float


class SearchResult(BaseModel):
    model_config = ConfigDict(title="Found")

    messages: list[FoundMessage]


class StatementOut(BaseModel):
    model_config = ConfigDict(from_attributes=True, title="Statement")
    __qualname__ = "Statement"

    text: Text
    said_at: datetime
    speaker: Name


class RememberResult(BaseModel):
    model_config = ConfigDict(title="Remembered")

    statements: Annotated[list[StatementOut], Field(description="What now stands.")]


class AboutSomebody(BaseModel):
    """What is known of a person, or was refused: made of a fact, whose `subject` is `about`."""

    @model_validator(mode="before")
    @classmethod
    def read_fact(cls, fact: Fact | RefusedFact) -> dict[str, Any]:
        return {**to_json_shallow(fact), "about": fact.subject}


class FactOut(AboutSomebody):
    model_config = ConfigDict(title="Fact")
    __qualname__ = "Fact"

    id: str
    category: FactCategory
    key: Text
    value: Text
    about: Annotated[Line | None, Field(description="Whom it is about, if not the user.")]
    confidence: float
    importance: float
    speaker: Name
    said_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None


class FactsResult(BaseModel):
    model_config = ConfigDict(title="Facts")

    facts: list[FactOut]


class RefusedOut(AboutSomebody):
    model_config = ConfigDict(title="RefusedFact")
    __qualname__ = "RefusedFact"

    category: FactCategory
    key: Text
    value: Text
    about: Annotated[Line | None, Field(description="Whom it would be about, if not the user.")]
    kind: RefusalKind
    reason: Text
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

    answer: Text
    known: Annotated[bool, Field(description="False if nothing that is remembered answers the question.")]
    made_by: Annotated[str, Field(description="`model`, or `offline` if the best lines stand for an answer.")]
    facts: Annotated[list[str], Field(description="The ids of the facts that the answer rests on.")]
    messages: Annotated[list[Name], Field(description="The ids of the messages that the answer rests on.")]


class ForgetResult(BaseModel):
    model_config = ConfigDict(title="Forgotten")

    found: bool
    undo_id: Annotated[str | None, Field(description="Brings it back, by the tool undo.")]
    statements: list[StatementOut]
    facts: list[FactOut]


class SectionOut(BaseModel):
    model_config = ConfigDict(from_attributes=True, title="Section")
    __qualname__ = "Section"

    name: str
    tokens: int


class ContextResult(BaseModel):
    model_config = ConfigDict(title="Context")

    text: str
    tokens: int
    sections: list[SectionOut]


class ConversationOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: Name
    user: Name | None
    messages: Annotated[int, Field(validation_alias="turns")]
    changed_at: datetime


class ConversationList(BaseModel):
    conversations: list[ConversationOut]
