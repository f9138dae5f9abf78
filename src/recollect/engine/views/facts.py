"""The facts view: what users say of themselves and of others, as rows that say since when and on whose word.

Facts come from messages of users alone: what an assistant says, and what memory itself put into a context, is no
source. Each message is read by the memory model, or by rules where there is none, and weighed against what is known in
one transaction under the person's lock: whoever writes at the same time, of a key that has one value one stays active,
and every other is history. What somebody asked to be forgotten stays forgotten, even if the facts are built anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.engine.context.viewers import is_channel, own_name, viewer_alone
from recollect.engine.tables.facts import facts_of, put
from recollect.engine.tables.findings import noted, slot_of, weighed
from recollect.engine.tables.log import warn_of_damage
from recollect.engine.tables.people import (
    FORGET,
    note_people,
    put_name,
    retire_contradicted,
    said_in,
    statements_of,
    worded_name,
)
from recollect.engine.work.ask import Asking
from recollect.engine.work.view import Run, Saved
from recollect.language.smalltalk import is_small_talk
from recollect.model import Fact, Filter, FoundFact, Message, Statement
from recollect.ports import Tx
from recollect.rules.access import Viewer, is_claim, may_take_back
from recollect.rules.facts import deciding as rules
from recollect.rules.facts.keys import is_several
from recollect.rules.facts_english.finder import find
from recollect.rules.people.forgetting import matching_facts, sought
from recollect.rules.people.statements import reading
from recollect.rules.people.third_person import first_person
from recollect.tasks import fact_extraction

NEAR = 60  # turns from the end of a conversation that a model is asked about; what is imported is read by rules
LOCK = "facts"


@dataclass(frozen=True, slots=True)
class Read:
    """What was found in a run, message by message, and how far that is final."""

    run: Run
    found: Sequence[tuple[Message, tuple[FoundFact, ...]]]
    saved: Saved | None


class FactsView:
    """Reads facts out of users' messages."""

    name = "facts"
    at_once = 64  # each may be a call of a model
    ordered = False

    def __init__(self, asking: Asking, read: Callable[..., Awaitable[Any]], run: Callable[..., Awaitable[Any]]) -> None:
        self._asking, self._read, self._run = asking, read, run

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Read]:
        said = await self._read(lambda tx: [said_before(tx, run) for run in runs])
        return [await self._found(run, before) for run, before in zip(runs, said, strict=True)]

    async def _found(self, run: Run, said: str) -> Read:
        """What a run says; `said` is what the assistant said before it."""
        found, outage, done = list[tuple[Message, tuple[FoundFact, ...]]](), None, run.lag.done
        for message in run.messages:
            if message.role == "assistant":
                said = message.content
            elif is_telling(message):
                inputs = fact_extraction.Inputs(message.content, message.time.date(), (said,) if said else ())
                near = message.turn > run.lag.turns - NEAR
                if near and outage is None and self._asking.possible:
                    answer = await self._asking.ask(fact_extraction, inputs)
                    reply, outage = answer.reply, answer.outage
                else:
                    reply = await self._run(fact_extraction.offline, inputs)
                found.append((message, about_author(message, reply.facts)))
            done = message.turn if outage is None else done
        return Read(run, found, Saved(done, max(len(found), 1), outage) if outage else None)

    def save(self, tx: Tx, result: Read) -> Saved | None:
        space, conversation = result.run.lag.space, result.run.lag.conversation
        note_people(tx, result.run.messages)
        keep(tx, space, conversation, result.found, told=told(tx, result.run.messages))
        return result.saved


def about_author(message: Message, found: Sequence[FoundFact]) -> tuple[FoundFact, ...]:
    """What a message says, of whom: "I" is who wrote it, also where it is kept in the memory of another."""
    if message.user in (None, message.author):
        return tuple(found)
    return tuple(replace(fact, subject=fact.subject or message.author) for fact in found)


def is_telling(message: Message) -> bool:
    """Whether a message may state facts: a user's words, neither small talk nor a command to the memory."""
    return (
        message.role == "user"
        and not message.erased
        and command_of(message) is None
        and not is_small_talk(message.content)
    )


def said_before(tx: Tx, run: Run) -> str:
    """What the assistant said last before a run."""
    if not run.messages or run.messages[0].turn == 1:
        return ""
    first = run.messages[0]
    where = Filter(first.space, conversation=first.conversation, role="assistant")
    before = tx.messages(where, upto=first.turn - 1, limit=1, newest=True, damaged=warn_of_damage)
    return before[0].content if before else ""


def keep(
    tx: Tx,
    space: str,
    conversation: str,
    found: Iterable[tuple[Message, Sequence[FoundFact]]],
    *,
    told: Iterable[tuple[str, Message, Sequence[FoundFact]]] = (),
) -> list[rules.Action]:
    """Weigh what was found against what is known, and store what comes of it. It is of whoever spoke; what was `told`
    by command is of whom it names."""
    audience = conversation if is_channel(tx, space, conversation) else None
    by_person: dict[str, list[tuple[Message, FoundFact]]] = {}
    for person, message, several in (*((m.user or m.author, m, facts) for m, facts in found), *told):
        for one in several:
            by_person.setdefault(person, []).append((message, one))
    every: list[rules.Action] = []
    for who in sorted(by_person):  # in one order for everybody, so that no two writers wait for each other
        tx.lock(LOCK, space, who)
        every += kept_of(tx, space, who, audience, by_person[who])
    return every


def kept_of(
    tx: Tx, space: str, person: str, audience: str | None, found: Sequence[tuple[Message, FoundFact]]
) -> list[rules.Action]:
    forgotten = forgotten_of(tx, space, person)
    by_slot: dict[str, list[Fact]] = {}
    for fact in facts_of(tx, space, person):
        by_slot.setdefault(slot_of(fact), []).append(fact)
    changed: dict[str, Fact] = {}
    every: list[rules.Action] = []
    for slot, (findings, anew) in noted(tx, person, audience, found).items():
        known = {fact.id: fact for fact in by_slot.get(slot, ())}
        facts, actions = weighed([] if anew else [*known.values()], findings, person)
        facts = {id: still_forgotten(fact, forgotten) for id, fact in facts.items()}
        for id in known.keys() - facts.keys():
            tx.remove("facts", {"space": space, "user_id": person, "id": id})
        changed |= {id: fact for id, fact in facts.items() if fact != known.get(id)}
        every += actions
    put(tx, changed.values())
    gone = [row for row in changed.values() if not row.active]
    retire_contradicted(tx, space, person, gone, max((message.time for message, _ in found)))
    # A name is the space's only if the person themselves said it before many.
    said = [row for row in changed.values() if row.active and row.audience is not None and not is_claim(row)]
    for row in (row for row in said if row.key == "name" and row.subject is None):
        put_name(tx, space, person, "alias", row.value, row.said_at)
    return every


# -- what was forgotten


@dataclass(frozen=True, slots=True)
class Requests:
    """What was asked to be forgotten of a person, what they are called, and what they see of what is said of them."""

    requests: Sequence[Statement]
    name: str
    viewer: Viewer


def forgotten_of(tx: Tx, space: str, person: str) -> Requests:
    requests = statements_of(tx, space, person, kind=FORGET)
    if not requests:
        return Requests((), person, Viewer(person))
    return Requests(requests, own_name(tx, space, person), viewer_alone(tx, space, person))


def still_forgotten(fact: Fact, forgotten: Requests) -> Fact:
    """A fact that was said before it was asked to be forgotten, by somebody who may ask that, is not active, whenever
    it is read."""
    for request in forgotten.requests:
        if fact.active and fact.said_at <= request.said_at and is_meant(fact, request, forgotten):
            return retired(fact, request.id, request.said_at)
    return fact


def is_meant(fact: Fact, request: Statement, forgotten: Requests) -> bool:
    """Whether a request to forget took this fact. The request names those it took: of the others it chose not to take
    any, so that only what says exactly the same, and was not known yet, is meant."""
    name = forgotten.name
    if fact.id in request.sources:
        return True
    if not may_take_back(request.speaker, fact, forgotten.viewer):
        return False
    if len(request.sources) > 1 and not is_exactly(fact, request.text, name):
        return False
    return bool(matching_facts([fact], request.text, name=name))


def is_exactly(fact: Fact, what: str, name: str) -> bool:
    found = reading(name, sought(name, what)).facts
    return any(
        (one.subject, one.category, one.key) == (fact.subject, fact.category, fact.key) and rules.same_value(fact, one)
        for one in found
    )


def retired(fact: Fact, by: str, when: datetime) -> Fact:
    """A fact that was forgotten: it stays, with the end of its time."""
    end = max(when, fact.valid_from) if fact.valid_from else when
    return replace(fact, active=False, valid_to=end, retired_at=when, retired_by=by)


def standing(fact: Fact) -> Fact:
    """A fact that stands again."""
    return replace(fact, active=True, valid_to=None, retired_at=None, retired_by=None)


def taken(fact: Fact, known: Iterable[Fact]) -> bool:
    """Whether another value that the same speaker said has taken a fact's place meanwhile."""
    place = (fact.speaker, fact.category, fact.key, fact.subject)
    return not is_several(fact.category, fact.key) and any(
        other.active and (other.speaker, other.category, other.key, other.subject) == place for other in known
    )


def told(tx: Tx, messages: Iterable[Message]) -> list[tuple[str, Message, list[FoundFact]]]:
    """The facts in what messages asked to be remembered, and of whom."""
    return [
        (statement.user, message, facts_in(worded_name(tx, statement), statement, message))
        for message, statement in said_in(tx, messages)
    ]


def facts_in(name: str, statement: Statement, message: Message) -> list[FoundFact]:
    """The facts in a statement. Who says "remember" means it: it corrects what was said in passing."""
    found = find(first_person(name, statement.text), message.time.date())
    return [replace(fact, corrects=True) for fact in found]


def note_read(tx: Tx, command: Message) -> None:
    """A command that was carried out has been read: with it the view is at its turn, if it was just before."""
    at = (FactsView.name, command.space, command.conversation)
    if command_of(command) is not None and tx.cursor(*at) == command.turn - 1:
        note_people(tx, [command])
        tx.set_cursor(*at, command.turn)


def command_of(message: Message) -> str | None:
    """The command a message in the log was, if it was one."""
    about = message.metadata.get("recollect")
    command = about.get("command") if isinstance(about, Mapping) else None
    return command if isinstance(command, str) else None
