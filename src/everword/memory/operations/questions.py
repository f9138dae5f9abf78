"""Questions about a person, answered from what is known and what was said.

Only what the asker may see is a source: of a person's own memory what that person may see, in a channel what was said
in it. One call of the memory model gets the best facts and messages within a budget; commands to the memory are not
among them, since they say what to keep and not what is so.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from everword.context.people import facts_for_viewer
from everword.errors import EmbedderError, InvalidInput, NotFound, ScopeError
from everword.facts.findings import COMMANDS
from everword.facts.prompts import AskInputs, AskReply, Line
from everword.facts.prompts import ask as ask_task
from everword.facts.rules.fact_relevance import value_with_days
from everword.facts.stored_facts import is_channel, name_for, names_in_context
from everword.facts.view import command_of
from everword.log import checks_and_seals
from everword.log.access import Viewer, is_claim
from everword.log.append_and_read import find_own_conversation
from everword.log.operation_declarations import operation
from everword.memory.operations.facts import rank_facts
from everword.memory.runtime import MemoryPart, Runtime
from everword.memory.search import search_messages
from everword.model import Fact, Filter, Hit, MemoryAnswer, Role
from everword.ports import Tx
from everword.recall.rules import relevance
from everword.recall.rules.relevance import FLOOR
from everword.text.escaping import Labels, author_labels, person_byline
from everword.text.filler import is_small_talk

MAX_QUESTION = 4_000  # bytes
FACTS = 40  # that a model is shown, at most
MESSAGES = 15
POSSIBLE = 0.1  # relevance of a message that may be what was asked for
LONG = 600  # characters of a message that a model is shown
CHARACTERS = 12_000  # of all lines
NOT_SOURCES = frozenset({*COMMANDS.values(), "forget", "ask"})


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose facts and which messages an answer may be made of, and who reads it."""

    person: str
    where: Filter
    viewer: Viewer


class Questions(MemoryPart):
    """Answers questions."""

    @operation("POST /v1/users/{user as id}/ask", right="read", tool="ask_memory")
    async def ask(
        self, question: str, *, user: str, conversation: str | None = None, space: str | None = None
    ) -> MemoryAnswer:
        """Answer a question about a person, with the facts and messages that support the answer.

        The model answers only from facts and messages that everword finds for the question. If there is no model, or
        its answer cannot be used, you get the facts and messages that match the question best. If you name a channel as
        `conversation`, the answer uses only what was said in this channel.
        """
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        if not checks_and_seals.check_text("question", question, limit=MAX_QUESTION).strip():
            raise InvalidInput("question", "is empty")
        runtime = self.runtime
        question = runtime.parts.secrets.mask(question)
        place = None if conversation is None else checks_and_seals.check_id("conversation", conversation)
        # Without a viewer, the person themselves reads the answer, to whom all channels are open.
        viewer = await self._viewer(space_id)
        await runtime.wait_for_view("facts", space_id)
        shared = runtime.parts.settings.share_channels
        scope = await runtime.read(lambda tx: find_scope(tx, space_id, user_id, place, viewer, shared))
        facts = await best_facts(runtime, question, scope)
        hits = await best_messages(runtime, question, scope)
        today = runtime.parts.clock.now().date()
        inputs = await runtime.read(lambda tx: build_inputs(tx, question, scope, facts, hits, today))
        reply, made_by = await answer_question(runtime, inputs)
        cited_facts = tuple(facts[number][0] for number in reply.facts)
        cited_messages = tuple(hits[number].message.without_secrets for number in reply.messages)
        return MemoryAnswer(reply.text, reply.known, made_by, cited_facts, cited_messages, user_id)


def find_scope(
    tx: Tx, space: str, person: str, conversation: str | None, viewer: Viewer | None, share_channels: bool
) -> Scope:
    """Who is asked about, what may be a source, and who reads the answer: in a channel everybody there."""
    if conversation is None:
        return Scope(person, Filter(space, user=person), viewer or Viewer(person, shared=True))
    missing = NotFound(f"there is no conversation {conversation!r} in space {space!r}")
    if is_channel(tx, space, conversation):
        if viewer is not None and not viewer.hears(conversation):
            raise missing
        channel = Viewer(channel=conversation, shared=share_channels)
        return Scope(person, Filter(space, conversation=conversation), channel)
    try:
        is_known = find_own_conversation(tx, space, conversation, person) is not None
    except ScopeError:  # another's: a key of one user is told that there is none
        is_known = False
    if not is_known:
        raise missing
    return Scope(person, Filter(space, user=person), viewer or Viewer(person, shared=True))


async def best_facts(runtime: Runtime, question: str, scope: Scope) -> list[tuple[Fact, float]]:
    """The facts that fit a question best. The person's name in it is no reason for a fact: they are all theirs."""

    def read(tx: Tx) -> tuple[str, list[Fact]]:
        space = scope.where.space
        name = name_for(tx, space, scope.person, scope.viewer)
        return name, facts_for_viewer(tx, space, scope.person, scope.viewer, runtime.parts.clock.now())

    name, facts = await runtime.read(read)
    query = re.sub(rf"(?i)(?<!\w){re.escape(name)}(?!\w)", " ", question)
    return (await rank_facts(runtime, query, facts))[:FACTS]


async def best_messages(runtime: Runtime, question: str, scope: Scope) -> list[Hit]:
    try:
        hits = await search_messages(runtime, question, scope.where, 2 * MESSAGES)
    except EmbedderError:  # the facts are enough to go on
        return []
    return [
        hit for hit in hits if command_of(hit.message) not in NOT_SOURCES and not is_small_talk(hit.message.content)
    ][:MESSAGES]


def build_inputs(
    tx: Tx, question: str, scope: Scope, facts: Sequence[tuple[Fact, float]], hits: Sequence[Hit], today: date
) -> AskInputs:
    """What is asked, with as many of the facts and messages as the budget allows."""
    space = scope.where.space
    authors = {hit.message.author for hit in hits if hit.message.role == "user"}
    names = names_in_context(tx, space, {*authors, *(fact.speaker for fact, _ in facts)}, scope.viewer)
    fact_lines = [Line(fact_line(fact, names), relevance >= FLOOR) for fact, relevance in facts]
    shown_facts = lines_within(fact_lines, CHARACTERS // 2)
    stems = relevance.stems(question)
    speakers: list[tuple[Role, str]] = [(hit.message.role, hit.message.author) for hit in hits]
    labels = author_labels([*speakers, ("user", scope.person)], names)
    message_lines = [
        Line(message_line(hit, labels, stems), hit.relevance >= FLOOR, hit.relevance >= POSSIBLE) for hit in hits
    ]
    room = CHARACTERS - sum(len(line.text) for line in shown_facts)
    name = name_for(tx, space, scope.person, scope.viewer)
    return AskInputs(question, name, today, shown_facts, lines_within(message_lines, room))


async def answer_question(runtime: Runtime, inputs: AskInputs) -> tuple[AskReply, str]:
    """The model's answer, or the offline one if there is no model, or if it hangs longer than a model may."""
    if not inputs.facts and not inputs.messages:
        return ask_task.offline(inputs), "offline"
    try:
        async with asyncio.timeout(runtime.parts.settings.model_seconds):
            result = await runtime.tasks.ask(ask_task, inputs)
    except TimeoutError:
        return ask_task.offline(inputs), "offline"
    return result.reply, result.made_by


def lines_within(lines: Sequence[Line], characters: int) -> tuple[Line, ...]:
    """As many of the lines, from the first on, as have at most so many characters together."""
    total = 0
    for number, line in enumerate(lines):
        total += len(line.text)
        if total > characters:
            return tuple(lines[:number])
    return tuple(lines)


def fact_line(fact: Fact, names: dict[str, str]) -> str:
    whose = f"{fact.subject}: " if fact.subject else ""
    source = f" (says {person_byline(fact.speaker, names.get(fact.speaker))})" if is_claim(fact) else ""
    return f"{whose}{fact.key}: {value_with_days(fact)}{source}"


def message_line(hit: Hit, labels: Labels, stems: Collection[str]) -> str:
    message = hit.message
    author = labels[message.role, message.author]
    text = " ".join(relevance.excerpt(message.content, stems, LONG).split())
    return f"{message.time:%Y-%m-%d} {author}: {text}"
