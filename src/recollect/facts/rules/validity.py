"""When facts hold: which held at a time, which hold now, and what was said of a time to come.

A fact that begins on a later day is a plan until then, under the same key: who will move to Lyon in March lives in
Utrecht until March. From that day on the plan is the fact, in the category of its key. An event is a fact with a day;
it never ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from recollect.facts.rules.claims_by_others import is_same_name, without_answered_claims
from recollect.facts.rules.keys import find_home, holds_several_values, home_of_planned
from recollect.facts.rules.values import fold
from recollect.model import FACT_CATEGORIES, Fact, FoundFact, Message

DATED = ("plan", "event")
"""The categories whose facts may begin after they were said."""


SAME_DATED_EVENT = 7
"""Days between two tellings of one event that both name its day: "last week" is no exact one."""
SAME_EVENT = 45
"""Days between two tellings of one event, if one does not name its day."""


def place_in_time(fact: FoundFact, message: Message) -> FoundFact:
    """A found fact as it is kept: what begins later is a plan, and an event that is over has still happened."""
    if fact.category == "event" and fact.holds != "not":
        return replace(fact, holds="now", since=fact.since or fact.until, until=None)
    is_later = fact.since is not None and fact.since > message.time.date()
    if is_later and not fact.retracts and fact.category not in (*DATED, "instruction"):
        return replace(fact, category="plan")
    return fact


def facts_as_of(facts: Iterable[Fact], when: datetime | date) -> list[Fact]:
    """The facts that held at a time. Of a key with one value the one that began last, then the one that ended first."""
    moment = when if isinstance(when, datetime) else midnight(when)
    facts_then = [come_true(fact, moment) for fact in facts if _holds_at(fact, moment)]
    facts_then.sort(key=lambda fact: (begin_of(fact), -_end(fact).timestamp(), fact.id))
    latest: dict[tuple[object, ...], Fact] = {}
    for fact in facts_then:
        value = fold(fact.value) if holds_several_values(fact.category, fact.key) else None
        latest[(fact.user, fact.speaker, fact.subject, fact.category, fact.key, value)] = fact
    return without_answered_claims(list(latest.values()))


def facts_now(facts: Iterable[Fact], now: datetime) -> list[Fact]:
    """The active facts, with plans and events to come. A plan whose day has come is a fact, and one whose end has come
    is none."""
    standing = [
        come_true(fact, now) if fact.category == "plan" else fact
        for fact in facts
        if fact.active and (fact.valid_to is None or fact.valid_to > now)
    ]
    return without_answered_claims(_without_overtaken(standing))


def come_true(fact: Fact, moment: datetime) -> Fact:
    """A plan as the fact it has become, if its day has come."""
    was_later = fact.category == "plan" and fact.valid_from is not None and fact.valid_from > fact.recorded_at
    has_come = was_later and begin_of(fact) <= moment
    return replace(fact, category=home_of_planned(fact.key) or fact.category) if has_come else fact


def _without_overtaken(facts: Sequence[Fact]) -> list[Fact]:
    """Facts without those whose key has another value that has begun since, as was planned."""
    by_slot: dict[tuple[str | None, ...], list[Fact]] = {}
    for fact in facts:
        by_slot.setdefault((fact.speaker, fact.subject, fact.category, fact.key), []).append(fact)
    overtaken: set[str] = set()
    for values in by_slot.values():
        if len(values) > 1 and not holds_several_values(values[0].category, values[0].key):
            overtaken.update(fact.id for fact in sorted(values, key=lambda fact: (begin_of(fact), fact.id))[:-1])
    return [fact for fact in facts if fact.id not in overtaken] if overtaken else [*facts]


def is_other_occasion(event: Fact, new: FoundFact, message: Message) -> bool:
    """Whether an event happened on another occasion than a known one, though the words may be the same: who goes
    camping in June and again in August has done so twice."""
    if event.category != "event" or new.category != "event" or (new.is_undated and event.valid_from is None):
        return False
    known_from = event.valid_from or event.said_at
    day = new.since or message.time.date()
    if known_from <= event.said_at and new.since is not None and new.since > event.said_at.date():
        return True  # what was told as done cannot have been done after that
    are_dated = new.since is not None and known_from not in (event.recorded_at, event.said_at)
    return abs((day - known_from.date()).days) > (SAME_DATED_EVENT if are_dated else SAME_EVENT)


def history(facts: Iterable[Fact], key: str, *, subject: str | None = None) -> list[Fact]:
    """Every value a key had, oldest first. The key may be called anything that means it."""
    homes = {find_home(category, key) for category in FACT_CATEGORIES}
    keys = {name for _, name in homes} | {key}
    values = [
        fact
        for fact in facts
        if (fact.key == key or (fact.key in keys and (fact.category, fact.key) in homes))
        and is_same_name(fact.subject, subject)
    ]
    return sorted(values, key=lambda fact: (begin_of(fact), fact.recorded_at, fact.id))


def order_dates(fact: Fact) -> Fact:
    """The fact with an end that is not before its beginning, whatever dates were said."""
    if fact.valid_from is None or fact.valid_to is None or fact.valid_from <= fact.valid_to:
        return fact
    return replace(fact, valid_to=fact.valid_from)


def begin_of(fact: Fact) -> datetime:
    return fact.valid_from or datetime.min.replace(tzinfo=UTC)


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _holds_at(fact: Fact, moment: datetime) -> bool:
    return begin_of(fact) <= moment < _end(fact)


def _end(fact: Fact) -> datetime:
    return fact.valid_to or datetime.max.replace(tzinfo=UTC)
