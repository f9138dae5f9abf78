"""What the tools of MCP return: the text that a model reads, and the same as typed values.

Stored text is escaped in both (`text.escaping`): it comes back as something said earlier, and cannot pose as a message,
a role or an instruction. Ids and names of people are returned as they are, since callers ask by them; only tokens of a
model's template are escaped in them.

A client sees the name of a result's class in the schema of its tool, as the `title`, and of a class inside another as
the key of `$defs`, which is made of `__qualname__`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from everword.context.people import text_with_speaker
from everword.errors import EverwordError
from everword.model import Fact, FactCategory, Kept, Message, RefusalKind, RefusedFact, Role, Statement
from everword.recall.rules import relevance
from everword.server.problems import Problem, describe_error, logger, problem_of
from everword.text import escaping
from everword.values_to_json import to_json_shallow

LONG = 4_000  # characters of a message in search results; of a longer one only an excerpt is shown
EVERYTHING = "the words match everything that is known, so nothing was forgotten; name one thing at a time"
# What became of messages that are not new, where a caller may not expect it.
OUTCOMES: dict[Kept, str] = {
    "edited": "known, and have a new version now",
    "refused": "known with another text, which stays",
    "erased": "removed before, and stay out",
}


def escape_name(text: str) -> str:
    """Escape an id or a name. It stands inside a value and not at the start of a line, so that one like `user:42` is
    not read as a role. One with invisible characters gets a sign, so that it does not look like another's."""
    safe_text = escaping.escape(f"a {text}")[2:]
    return safe_text if escaping.strip_invisible(text) == text else escaping.with_sign(safe_text, text)


# Text as it is returned: it may hold what somebody said, on one line, or an id or a name.
Text = Annotated[str, BeforeValidator(escaping.escape)]
Line = Annotated[str, BeforeValidator(escaping.escape_line)]
Name = Annotated[str, BeforeValidator(escape_name)]
TurnNumber = Annotated[int, Field(description="The message's number in the conversation.")]


def person_note(person: str | None, arguments: Mapping[str, Any]) -> str:
    """Whom a name was taken for; nothing if the person was named by their id."""
    name = arguments.get("user")
    if not name or not person or name == person:
        return ""
    return f"{escape_name(name)} is taken for the user {escape_name(person)}.\n"


def fact_line(fact: Fact) -> escaping.Fenced:
    whose = f"{fact.subject}: " if fact.subject else ""
    return escaping.escape_line(text_with_speaker(fact, f"{whose}{fact.key}: {fact.value} ({fact.category})"))


def entry_lines(statements: Iterable[Statement], facts: Iterable[Fact]) -> list[escaping.Fenced]:
    lines = [escaping.escape_line(text_with_speaker(statement, statement.text)) for statement in statements]
    return [*lines, *map(fact_line, facts)]


class ToolResult(BaseModel):
    """A result: `tell` makes it from what the operation answers, and what it was asked."""

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        raise NotImplementedError

    @classmethod
    def build(cls, text: str, /, **values: Any) -> CallToolResult:
        """The text that a model reads, and the values, escaped."""
        content: list[Any] = [TextContent(type="text", text=text)]
        return CallToolResult(content=content, structured_content=cls.model_validate(values).model_dump(mode="json"))


class NewMessage(BaseModel):
    """A message to be kept."""

    model_config = ConfigDict(extra="forbid")

    role: Annotated[Role, Field(description="Who spoke: the user, the assistant, the system or a tool.")]
    content: Annotated[str, Field(description="What was said, word for word.")]
    author: Annotated[str | None, Field(description="The id of the author, if it is not the conversation's user.")] = (
        None
    )
    time: Annotated[
        AwareDatetime | None, Field(description="When the message was said, as in 2026-05-31T09:00:00Z. Default: now.")
    ] = None
    id: Annotated[
        str | None,
        Field(description="An id that you choose. A message whose id is already stored is not stored again."),
    ] = None
    expires: Annotated[
        str | None,
        Field(description="When the message expires, if ever: a time span from now (10m, 2h, 7d) or a time."),
    ] = None
    reply_to: Annotated[str | None, Field(description="The id of the message that this message answers.")] = None


class KeptMessage(BaseModel):
    id: Name
    turn: TurnNumber
    new: Annotated[bool, Field(description="False if the message was already stored.")]
    kept: Annotated[
        Kept,
        Field(
            description="What happened to the message: new; known (already stored with this text); edited (stored as a "
            "new version); refused (already stored with another text); or erased (removed earlier)."
        ),
    ]


class AddResult(ToolResult):
    model_config = ConfigDict(title="Kept")

    new: Annotated[int, Field(description="How many of the messages were not stored before.")]
    messages: list[KeptMessage]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        new = sum(result.new for result in answer)
        text = f"{new} of {len(answer)} messages are new and kept."
        for kept, count in Counter(result.kept for result in answer).items():
            text += f" {count}: {OUTCOMES[kept]}." if kept in OUTCOMES else ""
        messages = [
            {"id": result.message.id, "turn": result.message.turn, "new": result.new, "kept": result.kept}
            for result in answer
        ]
        return cls.build(text, new=new, messages=messages)


class EditResult(ToolResult):
    model_config = ConfigDict(title="Edited")

    id: Name
    turn: TurnNumber

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        return cls.build("The message has its new text.", id=answer.id, turn=answer.turn)


class FoundMessage(BaseModel):
    id: Name
    conversation: Name
    turn: int
    role: Role
    author: Name
    time: datetime
    content: Text
    excerpt: Annotated[
        bool, Field(description="Whether `content` is only the part of the message that matches the query.")
    ]
    score: float


class SearchResult(ToolResult):
    model_config = ConfigDict(title="Found")

    messages: list[FoundMessage]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        shown_messages = [excerpt_about(arguments["query"], hit.message) for hit in answer]
        text = escaping.data_block("MESSAGES", escaping.messages(shown_messages)) if answer else "Nothing was found."
        messages = [
            {**to_json_shallow(message), "score": hit.score, "excerpt": message is not hit.message}
            for message, hit in zip(shown_messages, answer, strict=True)
        ]
        return cls.build(person_note(answer[0].message.user if answer else None, arguments) + text, messages=messages)


def excerpt_about(query: str, message: Message) -> Message:
    """The message; of a long one, only the part about a query."""
    if len(message.content) <= LONG:
        return message
    return replace(message, content=relevance.excerpt(message.content, relevance.stems(query), LONG))


class StatementOut(BaseModel):
    model_config = ConfigDict(from_attributes=True, title="Statement")
    __qualname__ = "Statement"

    text: Text
    said_at: datetime
    speaker: Name


class RememberResult(ToolResult):
    model_config = ConfigDict(title="Remembered")

    statements: Annotated[list[StatementOut], Field(description="The statements about the person that are true now.")]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        text = escaping.data_block("REMEMBERED", [escaping.escape_line(statement.text) for statement in answer])
        return cls.build(text, statements=answer)


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
    about: Annotated[Line | None, Field(description="Whom the fact is about, if it is not about the user.")]
    confidence: float
    importance: float
    speaker: Name
    said_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None


class FactsResult(ToolResult):
    model_config = ConfigDict(title="Facts")

    facts: list[FactOut]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        text = escaping.data_block("FACTS", map(fact_line, answer)) if answer else "Nothing is known yet."
        return cls.build(person_note(answer[0].user if answer else None, arguments) + text, facts=answer)


class RefusedOut(AboutSomebody):
    model_config = ConfigDict(title="RefusedFact")
    __qualname__ = "RefusedFact"

    category: FactCategory
    key: Text
    value: Text
    about: Annotated[Line | None, Field(description="Whom the fact would be about, if it is not about the user.")]
    kind: RefusalKind
    reason: Text
    message: Annotated[str, Field(description="The id of the message in which the fact was found.")]
    said_at: datetime


class RefusedResult(ToolResult):
    model_config = ConfigDict(title="RefusedFacts")

    refused: list[RefusedOut]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        lines = [escaping.escape_line(f"{fact.key}: {fact.value} ({fact.reason})") for fact in answer]
        return cls.build(escaping.data_block("REFUSED", lines) if lines else "Nothing was refused.", refused=answer)


class FactChangeResult(ToolResult):
    model_config = ConfigDict(title="FactChange")

    undo_id: Annotated[str, Field(description="To undo the change, call the tool undo with this id.")]
    fact: Annotated[list[FactOut], Field(description="The fact after the change; empty if the fact was deleted.")]
    retired: Annotated[list[FactOut], Field(description="Facts that are no longer true.")]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        facts = [] if answer.fact is None else [answer.fact]
        text = escaping.data_block("FACT", map(fact_line, facts)) if facts else "The fact is deleted."
        return cls.build(text, undo_id=answer.id, fact=facts, retired=answer.retired)


class UndoResult(ToolResult):
    model_config = ConfigDict(title="Undone")

    statements: list[StatementOut]
    facts: list[FactOut]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        lines = entry_lines(answer.statements, answer.facts)
        text = escaping.data_block("BACK", lines) if answer.found else "It is undone."
        return cls.build(text, statements=answer.statements, facts=answer.facts)


class AskResult(ToolResult):
    model_config = ConfigDict(title="Answer")

    answer: Text
    known: Annotated[bool, Field(description="False if nothing in the memory answers the question.")]
    made_by: Annotated[
        str,
        Field(
            description="`model` if a model wrote the answer; `offline` if the answer lists the facts and messages "
            "that match best."
        ),
    ]
    facts: Annotated[list[str], Field(description="The ids of the facts that support the answer.")]
    messages: Annotated[list[Name], Field(description="The ids of the messages that support the answer.")]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        return cls.build(
            person_note(answer.user, arguments) + escaping.data_block("ANSWER", [escaping.escape(answer.text)]),
            answer=answer.text,
            known=answer.known,
            made_by=answer.made_by,
            facts=[fact.id for fact in answer.facts],
            messages=[message.id for message in answer.messages],
        )


class ForgetResult(ToolResult):
    model_config = ConfigDict(title="Forgotten")

    found: bool
    undo_id: Annotated[str | None, Field(description="To restore what was removed, call the tool undo with this id.")]
    statements: list[StatementOut]
    facts: list[FactOut]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        if answer.everything:
            raise ToolError(EVERYTHING)
        lines = entry_lines(answer.statements, answer.facts)
        text = (
            escaping.data_block("FORGOTTEN", lines)
            if answer.found
            else "Nothing is known of that; nothing was forgotten."
        )
        values = {"found": answer.found, "statements": answer.statements, "facts": answer.facts}
        return cls.build(text, undo_id=answer.id, **values)


class SectionOut(BaseModel):
    model_config = ConfigDict(from_attributes=True, title="Section")
    __qualname__ = "Section"

    name: str
    tokens: int


class ContextResult(ToolResult):
    model_config = ConfigDict(title="Context")

    text: str
    tokens: int
    sections: list[SectionOut]

    @classmethod
    def tell(cls, answer: Any, arguments: Mapping[str, Any]) -> CallToolResult:
        context_text = join_context(answer.messages[:-1])
        text = f"{escaping.DATA}\n{context_text}" if context_text else "Nothing is known yet that matters for this."
        sections = [section for section in answer.receipt.sections if section.tokens]
        return cls.build(text, text=text, tokens=answer.receipt.tokens, sections=sections)


def join_context(messages: Sequence[Mapping[str, Any]]) -> str:
    """A context as one text: its system messages are fenced already, the recent messages are fenced here."""
    parts = [message["content"] for message in messages if message["role"] == "system"]
    recent = [
        escaping.message_line("", message["role"], None, escaping.HIGHEST, message["content"])
        for message in messages
        if message["role"] != "system"
    ]
    if recent:
        parts.append(escaping.section("RECENT MESSAGES", recent, between="\n"))
    return "\n\n".join(part for part in parts if part)


class ConversationOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    id: Name
    user: Name | None
    title: Name
    messages: Annotated[int, Field(validation_alias="turns")]
    changed_at: datetime
    last_message_at: datetime | None


class ConversationList(BaseModel):
    conversations: list[ConversationOut]
    next: Name | None


RESULTS: dict[str, type[ToolResult]] = {
    "remember": RememberResult,
    "forget": ForgetResult,
    "search_memory": SearchResult,
    "get_context": ContextResult,
    "get_facts": FactsResult,
    "add_messages": AddResult,
    "edit_message": EditResult,
    "ask_memory": AskResult,
    "get_refused_facts": RefusedResult,
    "add_fact": FactChangeResult,
    "edit_fact": FactChangeResult,
    "delete_fact": FactChangeResult,
    "undo": UndoResult,
}

# -- what all tools share

FAILED = "the memory failed (its log has the reason); try once more, and if this fails, continue without the memory"


@contextmanager
def tool_errors(name: str) -> Iterator[None]:
    """Errors become errors of the tool, which say what to do."""
    try:
        yield
    except ToolError:
        raise
    except (EverwordError, Problem) as error:
        raise ToolError(problem_of(error).detail) from None
    except Exception as error:  # noqa: BLE001  the outermost handler
        raise ToolError(log_failure(name, error)) from None


def flatten_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without references, unions with null, titles and defaults of null."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})

    def flatten(part: Any) -> Any:
        if isinstance(part, list):
            return [flatten(item) for item in part]
        if not isinstance(part, Mapping):
            return part
        if "$ref" in part:
            part = {**definitions[part["$ref"].rpartition("/")[2]], **part}
        for option in part.get("anyOf", ()):
            part = {**part, **({} if option == {"type": "null"} else option)}
        omitted_keys = {"$ref", "$defs", "anyOf"} | ({"default"} if part.get("default", "") is None else set())
        return {
            name: {key: flatten(subschema) for key, subschema in value.items()}
            if name == "properties"
            else flatten(value)
            for name, value in part.items()
            if name not in omitted_keys and not (name == "title" and isinstance(value, str))
        }

    flat_schema: dict[str, Any] = flatten(schema)
    return flat_schema


def log_failure(name: str, error: Exception) -> str:
    """Log an unexpected error, and return the message that a client may see."""
    place = describe_error(error)
    logger.error("%s failed: %s at %s", name, place["error"], place["at"][-1], extra={"noted": place})
    return FAILED
