"""The facts view: what users say of themselves and of others, as rows that say since when and on whose word.

Facts come from messages of users alone: what an assistant says, and what memory itself put into a context, is no
source. Each message is read by the memory model, or by rules where there is none, and weighed against what is known in
one transaction under the person's lock: whoever writes at the same time, of a key that has one value one stays active,
and every other is history. What somebody asked to be forgotten stays forgotten, even if the facts are built anew.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from recollect.engine.ask import Asking
from recollect.engine.followers import Run, Saved
from recollect.model import Fact, Filter, FoundFact, Message
from recollect.ports import Tx
from recollect.rules import facts as rules
from recollect.rules.smalltalk import is_small_talk
from recollect.tasks import fact_extraction

TABLE = "facts"
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

    def __init__(self, asking: Asking, read: Callable[..., Awaitable[Any]], run: Callable[..., Awaitable[Any]]) -> None:
        self._asking, self._read, self._run = asking, read, run

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[Read]:
        return [await self._found(run) for run in runs]

    async def _found(self, run: Run) -> Read:
        if not run.messages:
            return Read(run, (), None)
        said = await self._read(lambda tx: said_before(tx, run))
        found, outage, done = list[tuple[Message, tuple[FoundFact, ...]]](), None, run.lag.done
        for message in run.messages:
            if message.role == "assistant":
                said = message.content
            elif message.role == "user" and not message.erased and not is_small_talk(message.content):
                inputs = fact_extraction.Inputs(message.content, message.time.date(), (said,) if said else ())
                near = message.turn > run.lag.turns - NEAR
                if near and outage is None and self._asking.possible:
                    answer = await self._asking.ask(fact_extraction, inputs)
                    reply, outage = answer.reply, answer.outage
                else:
                    reply = await self._run(fact_extraction.offline, inputs)
                found.append((message, reply.facts))
            done = message.turn if outage is None else done
        return Read(run, found, Saved(done, max(len(found), 1), outage) if outage else None)

    def save(self, tx: Tx, result: Read) -> Saved | None:
        keep(tx, result.run.lag.space, result.run.lag.conversation, result.found)
        return result.saved


def said_before(tx: Tx, run: Run) -> str:
    """What the assistant said last before a run."""
    first = run.messages[0]
    where = Filter(first.space, conversation=first.conversation, role="assistant")
    before = tx.messages(where, upto=first.turn - 1, limit=1, newest=True)
    return before[0].content if before else ""


def keep(
    tx: Tx, space: str, conversation: str, found: Iterable[tuple[Message, Sequence[FoundFact]]]
) -> list[rules.Action]:
    """Weigh what was found against what is known, and store what comes of it."""
    owner = tx.conversation(space, conversation)
    audience = conversation if owner is not None and owner.user is None else None
    by_person: dict[str, list[tuple[Message, FoundFact]]] = {}
    for message, several in found:
        for one in several:
            by_person.setdefault(message.user or message.author, []).append((message, one))
    every: list[rules.Action] = []
    for person in sorted(by_person):  # in one order for everybody, so that no two writers wait for each other
        tx.lock(LOCK, space, person)
        known = {fact.id: fact for fact in facts_of(tx, space, person)}
        forgotten = forgets_of(tx, space, person)
        changed: dict[str, Fact] = {}
        for message, one in by_person[person]:
            actions = rules.decide(known.values(), one, message, user=person, audience=audience)
            for row in (row for action in actions for row in action.rows):
                known[row.id] = changed[row.id] = still_forgotten(row, forgotten)
            every += actions
        put(tx, changed.values())
    return every


# -- what was forgotten


@dataclass(frozen=True, slots=True)
class Forget:
    """What somebody asked to be forgotten, and when."""

    id: str
    facts: frozenset[tuple[str, str, str]]
    said_at: Any


def forgets_of(tx: Tx, space: str, person: str) -> list[Forget]:
    return []


def still_forgotten(fact: Fact, forgotten: Iterable[Forget]) -> Fact:
    """A fact that was said before somebody asked for it to be forgotten is not active, whenever it is read."""
    for forget in forgotten:
        if fact.active and fact.said_at <= forget.said_at and meant(fact) in forget.facts:
            return replace(fact, active=False, valid_to=forget.said_at, retired_at=forget.said_at, retired_by=forget.id)
    return fact


def meant(fact: Fact) -> tuple[str, str, str]:
    return fact.category, fact.key, rules.fold(fact.value)


# -- rows


def facts_of(tx: Tx, space: str, person: str, *, active: bool = False) -> list[Fact]:
    """What is known of a person, in order of id."""
    where: dict[str, Any] = {"space": space, "user_id": person}
    return [to_fact(row) for row in tx.rows(TABLE, where=where | {"active": 1} if active else where)]


def put(tx: Tx, facts: Iterable[Fact]) -> None:
    tx.put(TABLE, [row_of(fact) for fact in facts])


NAMES = tuple(field.name for field in fields(Fact) if field.name not in ("user", "active"))


def row_of(fact: Fact) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in NAMES} | {"user_id": fact.user, "active": int(fact.active)}


def to_fact(row: Mapping[str, Any]) -> Fact:
    return Fact(**{name: row[name] for name in NAMES}, user=row["user_id"], active=bool(row["active"]))
