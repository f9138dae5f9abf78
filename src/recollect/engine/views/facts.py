"""The facts view: what users say about themselves and others, as rows with the time and the speaker of each fact.

Facts come only from messages of users: what an assistant says, and what memory itself put into a context, is no source.
The messages are read by the memory model, several in one call; by rules, if there is no model or if a message states
nothing. What was found is weighed against the known facts in one transaction under the person's lock: also with
concurrent writers, a key with a single value has one active fact, and all others are history. What somebody asked to be
forgotten stays forgotten, even if the facts are rebuilt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.engine.context.viewers import is_channel, own_name, viewer_alone
from recollect.engine.tables.fact_changes import DecidedFacts, changes_in, name_retirements
from recollect.engine.tables.facts import facts_of, put_facts
from recollect.engine.tables.findings import (
    Finding,
    drop_findings,
    findings_of,
    record_findings,
    slot_of,
    weigh_findings,
)
from recollect.engine.tables.log import warn_of_damage
from recollect.engine.tables.people import (
    CHANGE,
    FORGET,
    name_in_statement,
    note_people,
    put_name,
    retire_contradicted_statements,
    statements_in,
    statements_of,
)
from recollect.engine.work.ask import TaskRunner
from recollect.engine.work.view import Run, SaveResult
from recollect.language.smalltalk import is_small_talk
from recollect.model import Fact, Filter, FoundFact, Message, Statement
from recollect.ports import Tx
from recollect.rules.access import Viewer, is_claim, may_take_back
from recollect.rules.facts import deciding as rules
from recollect.rules.facts.keys import holds_several_values
from recollect.rules.facts_english.finder import find_facts, states_something
from recollect.rules.people.forgetting import matching_facts, target_statement
from recollect.rules.people.remembered_statements import parse_statement
from recollect.rules.people.third_person import first_person
from recollect.tasks import fact_batch, fact_extraction

NEAR = 60  # turns from the end of a conversation that the model reads; older ones (imports) are read by rules
LOCK = "facts"


@dataclass(frozen=True, slots=True)
class Extraction:
    """The facts found in a run, by message, and how far they are final."""

    run: Run
    facts_by_message: Sequence[tuple[Message, tuple[FoundFact, ...]]]
    progress: SaveResult | None


class FactsView:
    """Reads facts out of users' messages."""

    name = "facts"
    at_once = 64  # each may be a call of a model
    ordered = False

    def __init__(
        self, asking: TaskRunner, read: Callable[..., Awaitable[Any]], run: Callable[..., Awaitable[Any]]
    ) -> None:
        self._asking = asking
        self._read = read
        self._run = run

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Extraction]:
        replies = await self._read(lambda tx: [last_reply_before(tx, run) for run in runs])
        return [await self._extract_facts(run, last_reply) for run, last_reply in zip(runs, replies, strict=True)]

    async def _extract_facts(self, run: Run, last_reply: str) -> Extraction:
        """Extract the facts of a run; `last_reply` is what the assistant said before it."""
        inputs_by_turn = facts_inputs(run.messages, last_reply)
        near_turns = [
            turn
            for turn, inputs in inputs_by_turn.items()
            if turn > run.lag.turns - NEAR and states_something(inputs.text)
        ]
        replies, outage, unread_turn = await self._ask_model(inputs_by_turn, near_turns)
        facts_by_message = list[tuple[Message, tuple[FoundFact, ...]]]()
        for message in run.messages:
            if message.turn in inputs_by_turn:
                reply = replies.get(message.turn) or await self._run(
                    fact_extraction.offline, inputs_by_turn[message.turn]
                )
                facts_by_message.append((message, attribute_to_author(message, reply.facts)))
        if outage is None:
            return Extraction(run, facts_by_message, None)
        upto = max((message.turn for message in run.messages if message.turn < unread_turn), default=run.lag.done)
        return Extraction(run, facts_by_message, SaveResult(upto, max(len(facts_by_message), 1), outage))

    async def _ask_model(
        self, inputs_by_turn: Mapping[int, fact_extraction.Inputs], turns: Sequence[int]
    ) -> tuple[dict[int, fact_extraction.Reply], str | None, int]:
        """The model's facts by turn, several messages in a call; and if it is unavailable, why, and from which turn."""
        replies: dict[int, fact_extraction.Reply] = {}
        if not self._asking.has_model:
            return replies, None, 0
        start = 0
        for batch in fact_batch.batch_messages([inputs_by_turn[turn] for turn in turns]):
            batch_turns = turns[start : start + len(batch)]
            start += len(batch)
            outage, batch_replies = await self._ask_about(batch)
            replies |= dict(zip(batch_turns, batch_replies, strict=True))
            if outage is not None:
                return replies, outage, batch_turns[0]
        return replies, None, 0

    async def _ask_about(
        self, batch: tuple[fact_extraction.Inputs, ...]
    ) -> tuple[str | None, tuple[fact_extraction.Reply, ...]]:
        if len(batch) == 1:
            answer = await self._asking.ask(fact_extraction, batch[0])
            return answer.outage, (answer.reply,)
        batch_answer = await self._asking.ask(fact_batch, fact_batch.Inputs(batch))
        return batch_answer.outage, batch_answer.reply.replies

    def save(self, tx: Tx, result: Extraction) -> SaveResult | None:
        space = result.run.lag.space
        conversation = result.run.lag.conversation
        note_people(tx, result.run.messages)
        store_facts(
            tx,
            space,
            conversation,
            result.facts_by_message,
            from_commands=facts_from_commands(tx, result.run.messages),
            decided=changes_in(tx, result.run.messages),
        )
        return result.progress


def facts_inputs(messages: Sequence[Message], last_reply: str) -> dict[int, fact_extraction.Inputs]:
    """By turn, what is to be read of each message that may state facts, with the reply before it."""
    inputs_by_turn: dict[int, fact_extraction.Inputs] = {}
    for message in messages:
        if message.role == "assistant":
            last_reply = message.content
        elif may_state_facts(message):
            shown = (last_reply,) if last_reply else ()
            inputs_by_turn[message.turn] = fact_extraction.Inputs(message.content, message.time.date(), shown)
    return inputs_by_turn


def attribute_to_author(message: Message, facts: Sequence[FoundFact]) -> tuple[FoundFact, ...]:
    """The facts with the author as subject of "I", if the message is in the memory of another user."""
    if message.user in (None, message.author):
        return tuple(facts)
    return tuple(replace(fact, subject=fact.subject or message.author) for fact in facts)


def may_state_facts(message: Message) -> bool:
    """Whether a message may state facts: a user's words, neither small talk nor a command to the memory."""
    return (
        message.role == "user"
        and not message.erased
        and command_of(message) is None
        and not is_small_talk(message.content)
    )


def last_reply_before(tx: Tx, run: Run) -> str:
    """The assistant's last message before a run, or an empty text."""
    if not run.messages or run.messages[0].turn == 1:
        return ""
    first = run.messages[0]
    where = Filter(first.space, conversation=first.conversation, role="assistant")
    replies = tx.messages(where, upto=first.turn - 1, limit=1, newest=True, damaged=warn_of_damage)
    return replies[0].content if replies else ""


def store_facts(
    tx: Tx,
    space: str,
    conversation: str,
    facts_by_message: Iterable[tuple[Message, Sequence[FoundFact]]],
    *,
    from_commands: Iterable[tuple[str, Message, Sequence[FoundFact]]] = (),
    decided: Iterable[DecidedFacts] = (),
) -> list[rules.Action]:
    """Weigh found facts against the known ones, and store the result. They are about their speaker; those
    `from_commands` and those `decided` by hand are about the person named with them."""
    audience = conversation if is_channel(tx, space, conversation) else None
    by_person: dict[tuple[str, str], list[tuple[Message, FoundFact]]] = {}
    for person, message, facts in (*((m.user or m.author, m, facts) for m, facts in facts_by_message), *from_commands):
        by_person.setdefault((person, audience or ""), []).extend((message, fact) for fact in facts)
    for change in decided:
        found_facts = by_person.setdefault((change.person, change.audience or ""), [])
        found_facts.extend((change.message, fact) for fact in change.facts)
    actions: list[rules.Action] = []
    for person, heard_in in sorted(by_person):  # always in the same order, so that writers do not deadlock
        if by_person[person, heard_in]:
            tx.lock(LOCK, space, person)
            actions += store_facts_of(tx, space, person, heard_in or None, by_person[person, heard_in])
    return actions


def store_facts_of(
    tx: Tx, space: str, person: str, audience: str | None, found_facts: Sequence[tuple[Message, FoundFact]]
) -> list[rules.Action]:
    slots = record_findings(tx, person, audience, found_facts)
    return weigh_slots(tx, space, person, slots, max((message.time for message, _ in found_facts)))


def withdraw_facts(tx: Tx, space: str, person: str, message: Message) -> None:
    """Weigh what is known of a person again, without what was found in a message."""
    slots = drop_findings(tx, person, message)
    findings_by_slot = {slot: (findings_of(tx, space, person, slot), True) for slot in sorted(slots)}
    weigh_slots(tx, space, person, findings_by_slot, message.time)


def weigh_slots(
    tx: Tx, space: str, person: str, slots: Mapping[str, tuple[list[Finding], bool]], when: datetime
) -> list[rules.Action]:
    """Weigh the findings of slots, as `record_findings` returns them, and store what follows from them."""
    forget_requests = forget_requests_of(tx, space, person)
    change_ids = frozenset(row.id for row in statements_of(tx, space, person, kind=CHANGE))
    by_slot: dict[str, list[Fact]] = {}
    for fact in facts_of(tx, space, person):
        by_slot.setdefault(slot_of(fact), []).append(fact)
    changed_facts: dict[str, Fact] = {}
    all_actions: list[rules.Action] = []
    for slot, (findings, reweigh) in slots.items():
        known_facts = {fact.id: fact for fact in by_slot.get(slot, ())}
        facts, actions = weigh_findings([] if reweigh else [*known_facts.values()], findings, person)
        facts = {id: retire_if_forgotten(fact, forget_requests) for id, fact in facts.items()}
        facts = name_retirements(facts, change_ids)
        for id in known_facts.keys() - facts.keys():
            tx.remove("facts", {"space": space, "user_id": person, "id": id})
        changed_facts |= {id: fact for id, fact in facts.items() if fact != known_facts.get(id)}
        all_actions += actions
    put_facts(tx, changed_facts.values())
    retired_facts = [fact for fact in changed_facts.values() if not fact.active]
    retire_contradicted_statements(tx, space, person, retired_facts, when)
    # A name is public only if the person said it themselves in a channel.
    public_facts = [
        fact for fact in changed_facts.values() if fact.active and fact.audience is not None and not is_claim(fact)
    ]
    for fact in (fact for fact in public_facts if fact.key == "name" and fact.subject is None):
        put_name(tx, space, person, "alias", fact.value, fact.said_at)
    return all_actions


# -- requests to forget


@dataclass(frozen=True, slots=True)
class ForgetRequests:
    """The requests to forget something about a person, the person's name, and what the person may see."""

    statements: Sequence[Statement]
    name: str
    viewer: Viewer


def forget_requests_of(tx: Tx, space: str, person: str) -> ForgetRequests:
    statements = statements_of(tx, space, person, kind=FORGET)
    if not statements:
        return ForgetRequests((), person, Viewer(person))
    return ForgetRequests(statements, own_name(tx, space, person), viewer_alone(tx, space, person))


def retire_if_forgotten(fact: Fact, requests: ForgetRequests) -> Fact:
    """The fact, retired if a request by somebody who may make it came after the fact was said; it does not matter when
    the message is read."""
    for request in requests.statements:
        if fact.active and fact.said_at <= request.said_at and is_meant(fact, request, requests):
            return retire_fact(fact, request.id, request.said_at)
    return fact


def is_meant(fact: Fact, request: Statement, requests: ForgetRequests) -> bool:
    """Whether a request to forget applies to this fact. The request lists the facts it retired: if there are several,
    any other fact has to say exactly the same as the request."""
    name = requests.name
    if fact.id in request.sources:
        return True
    if not may_take_back(request.speaker, fact, requests.viewer):
        return False
    if len(request.sources) > 1 and not says_exactly(fact, request.text, name):
        return False
    return bool(matching_facts([fact], request.text, name=name))


def says_exactly(fact: Fact, request_text: str, name: str) -> bool:
    candidates = parse_statement(name, target_statement(name, request_text)).facts
    return any(
        (candidate.subject, candidate.category, candidate.key) == (fact.subject, fact.category, fact.key)
        and rules.has_same_value(fact, candidate)
        for candidate in candidates
    )


def retire_fact(fact: Fact, by: str, when: datetime) -> Fact:
    """The fact as forgotten: it stays stored, with an end of its validity."""
    end = max(when, fact.valid_from) if fact.valid_from else when
    return replace(fact, active=False, valid_to=end, retired_at=when, retired_by=by)


def reactivate_fact(fact: Fact) -> Fact:
    """The fact as active again."""
    return replace(fact, active=True, valid_to=None, retired_at=None, retired_by=None)


def is_replaced(fact: Fact, facts: Iterable[Fact]) -> bool:
    """Whether another active value by the same speaker has replaced a fact."""
    slot = (fact.speaker, fact.category, fact.key, fact.subject)
    return not holds_several_values(fact.category, fact.key) and any(
        other.active and (other.speaker, other.category, other.key, other.subject) == slot for other in facts
    )


def facts_from_commands(tx: Tx, messages: Iterable[Message]) -> list[tuple[str, Message, list[FoundFact]]]:
    """The facts in the statements that messages asked to remember, with the person each is about."""
    return [
        (statement.user, message, facts_in_statement(name_in_statement(tx, statement), statement, message))
        for message, statement in statements_in(tx, messages)
    ]


def facts_in_statement(name: str, statement: Statement, message: Message) -> list[FoundFact]:
    """The facts in a statement. An explicit "remember" corrects what was said before."""
    facts = find_facts(first_person(name, statement.text), message.time.date())
    return [replace(fact, corrects=True) for fact in facts]


def mark_command_read(tx: Tx, command: Message) -> None:
    """Move the view's cursor past a command that was carried out, if the cursor is just before it."""
    position = (FactsView.name, command.space, command.conversation)
    if command_of(command) is not None and tx.cursor(*position) == command.turn - 1:
        note_people(tx, [command])
        tx.set_cursor(*position, command.turn)


def command_of(message: Message) -> str | None:
    """The command that a message in the log was, or None."""
    details = message.metadata.get("recollect")
    command = details.get("command") if isinstance(details, Mapping) else None
    return command if isinstance(command, str) else None
