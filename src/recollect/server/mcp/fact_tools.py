"""The tools of MCP for facts: questions, and changes by hand."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from recollect.engine.context.people import text_with_speaker
from recollect.model import FactCategory, FactChange
from recollect.rules.prompt import fences
from recollect.server.mcp import shapes
from recollect.server.mcp.calls import reports_tool_errors
from recollect.server.mcp.handlers import Ctx, MemoryHandlers, User, data_block, fact_line, tool_result

FactId = Annotated[str, Field(description="The fact's id, as get_facts gives it.")]
Value = Annotated[str, Field(description="What is so, in a few words: 'Delft', 'peanuts'.")]
From = Annotated[date | None, Field(description="The day from which it is so, as in 2026-03-01; now if left out.")]
To = Annotated[date | None, Field(description="The day on which it ends.")]


class FactTools(MemoryHandlers):
    """The tools. Their docstrings are the descriptions that a model reads."""

    @reports_tool_errors
    async def ask_memory(
        self,
        ctx: Ctx,
        question: Annotated[str, Field(description="A question about the person, as in 'What does she like?'.")],
        user: User = None,
        conversation: Annotated[
            str | None, Field(description="The channel it is asked in: only what was said there answers.")
        ] = None,
    ) -> Annotated[CallToolResult, shapes.AskResult]:
        """Answer a question about a person from what is known and what was said, with what the answer rests on."""
        memory, person = self._person(ctx, "ask", user)
        answer = await memory.ask(question, conversation=conversation, **person)
        return tool_result(
            data_block("ANSWER", [fences.escape(answer.text)]),
            shapes.AskResult,
            answer=answer.text,
            known=answer.known,
            made_by=answer.made_by,
            facts=[fact.id for fact in answer.facts],
            messages=[message.id for message in answer.messages],
        )

    @reports_tool_errors
    async def get_refused_facts(self, ctx: Ctx, user: User = None) -> Annotated[CallToolResult, shapes.RefusedResult]:
        """What was found in a person's messages and is not known, with the reason: look here if a fact is missing."""
        memory, person = self._person(ctx, "refused_facts", user)
        refused = await memory.refused_facts(**person)
        lines = [fences.escape_line(f"{fact.key}: {fact.value} ({fact.reason})") for fact in refused]
        text = data_block("REFUSED", lines) if lines else "Nothing was refused."
        return tool_result(text, shapes.RefusedResult, refused=refused)

    @reports_tool_errors
    async def add_fact(
        self,
        ctx: Ctx,
        category: Annotated[FactCategory, Field(description="The kind of the fact.")],
        key: Annotated[str, Field(description="What it is about, in a word or two: 'city', 'allergies'.")],
        value: Value,
        user: User = None,
        valid_from: From = None,
        valid_to: To = None,
    ) -> Annotated[CallToolResult, shapes.FactChangeResult]:
        """Add a fact about a person, when they want it kept exactly so. If its key has one value, the old one goes."""
        memory, person = self._person(ctx, "add_fact", user)
        change = await memory.add_fact(category, key, value, valid_from=valid_from, valid_to=valid_to, **person)
        return change_result(change)

    @reports_tool_errors
    async def edit_fact(
        self,
        ctx: Ctx,
        fact: FactId,
        value: Value,
        user: User = None,
        valid_from: From = None,
        valid_to: To = None,
    ) -> Annotated[CallToolResult, shapes.FactChangeResult]:
        """Give a fact another value, when the person says that it is wrong. The old one stays as history."""
        memory, person = self._person(ctx, "edit_fact", user)
        return change_result(await memory.edit_fact(fact, value, valid_from=valid_from, valid_to=valid_to, **person))

    @reports_tool_errors
    async def delete_fact(
        self, ctx: Ctx, fact: FactId, user: User = None
    ) -> Annotated[CallToolResult, shapes.FactChangeResult]:
        """Take a fact out of what is known, when the person wants it gone. Its messages stay; undo brings it back."""
        memory, person = self._person(ctx, "delete_fact", user)
        return change_result(await memory.delete_fact(fact, **person))

    @reports_tool_errors
    async def undo(
        self,
        ctx: Ctx,
        id: Annotated[str, Field(description="The undo_id that forget or a change of a fact gave.")],
        user: User = None,
    ) -> Annotated[CallToolResult, shapes.UndoResult]:
        """Take back a forget or a change of a fact. Returns what came back."""
        memory, person = self._person(ctx, "undo", user)
        outcome = await memory.undo(id, **person)
        statements = (
            fences.escape_line(text_with_speaker(statement, statement.text)) for statement in outcome.statements
        )
        text = data_block("BACK", [*statements, *map(fact_line, outcome.facts)]) if outcome.found else "It is undone."
        return tool_result(text, shapes.UndoResult, statements=outcome.statements, facts=outcome.facts)


def change_result(change: FactChange) -> CallToolResult:
    facts = [] if change.fact is None else [change.fact]
    text = data_block("FACT", map(fact_line, facts)) if facts else "The fact is deleted."
    return tool_result(text, shapes.FactChangeResult, undo_id=change.id, fact=facts, retired=change.retired)
