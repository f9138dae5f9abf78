"""What a found fact changes: it is added, replaces another, or is ignored, and always with a reason.

Of a key that holds one value, at most one fact is active. A new value replaces it if its confidence is at least the
old one's *aged* confidence: every turn since the old value was said makes it a little weaker, down to a floor. So a
nickname said in passing does not change a name, and the full name said later does. An explicit correction wins at
once. Of a key that holds several values, each is a fact of its own.

What others say about a person (a claim) is kept apart, for each speaker: it neither corrects nor confirms what the
person said. Who is shown the person's own fact is not shown claims about the same. A claim is retired only if all who
heard it hear the person too, or if the person denies it: so nobody can guess from it what was said in private.

Nothing is ever removed: a value that no longer holds keeps its row, with the times between which it held. The rules
return whole rows to store, so storing them twice is the same as once. Ids come from what was said and where: a view
built again has the same facts.

A fact that begins on a later day is a plan until then, under the same key. An event is a fact with a time, from
`valid_from` to the last day, `valid_to`, and never ends; nor does anything else that a sentence tells as done or
planned. What a model calls by another name is filed under the key by which it is known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Literal

from everword.facts.rules.keys_and_values import (
    UNDONE_BY,
    exchanged_value,
    excludes_value,
    find_home,
    fold,
    fuller_value,
    has_same_subject,
    has_same_value,
    holds_several_values,
    home_of_planned,
    is_answered,
    is_same_name,
    says_nearly_the_same,
    sense,
    without_answered_claims,
)
from everword.log.access import channels_of
from everword.log.secret_policy import stands_for_secret
from everword.model import FACT_CATEGORIES, HOLDS, Fact, FactRefusal, FoundFact, Message
from everword.text.english import is_past, species
from everword.text.terms import analyse

DATED = ("plan", "event")
"""The categories whose facts may begin after they were said."""


SAME_DATED_EVENT = 7
"""Days between two tellings of one event that both name its day: "last week" is no exact one."""
SAME_EVENT = 45
"""Days between two tellings of one event, if one does not name its day."""
NEVER = datetime.max.replace(tzinfo=UTC)


def place_in_time(fact: FoundFact, message: Message) -> FoundFact:
    """A found fact as it is kept: what begins later is a plan, and an event that is over has still happened."""
    if fact.category == "event" and fact.holds != "not":
        return replace(fact, holds="now", since=fact.since or fact.until, until=fact.until if fact.since else None)
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
        come_true(fact, now) if fact.category == "plan" else fact for fact in facts if fact.active and _end(fact) > now
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
    never_ends = fact.valid_to is None or (fact.active and is_occasion(fact))
    return NEVER if never_ends or fact.valid_to is None else fact.valid_to


def is_occasion(fact: Fact | FoundFact) -> bool:
    """Whether a fact has a time at which it happens ("bought a boat"), rather than a beginning and an end."""
    if fact.category == "event":
        return True
    is_sentence = fact.key == fact.category and fact.category != "preference"
    return is_sentence and (fact.category == "plan" or any(map(is_past, fact.value.split(maxsplit=4)[:4])))


MIN_CONFIDENCE = 0.4
MIN_IMPORTANCE = 0.2
MIN_HISTORY = 0.7
"""The least confidence of a past value that was never known while it held: a guessed past is not kept."""
MAX_VALUE = 200
"""Characters of a value."""
MAX_SOURCES = 32
"""Messages a fact names: the first that said it and the last ones. A fact said a thousand times is one fact."""

MAX_CHANNELS = 32
"""Channels beside the first in which a fact is known to have been said: the last ones."""

HALF_LIFE = 500
"""Turns after which a confidence counts half."""
FLOOR = 0.7
"""The share of a confidence that never ages away: a clear statement is not undone by a vague one, however late."""
TURNS_A_DAY = 10
"""How many turns a day counts for, between conversations: their turns are not numbered together."""

Kind = Literal["add", "replace", "confirm", "retire", "ignore"]


@dataclass(frozen=True, slots=True)
class Action:
    """What is to be done about a found fact, and why. `rows` are the facts to store, whole; none if it is ignored."""

    kind: Kind
    reason: str
    rows: tuple[Fact, ...] = ()


def acceptable_facts(found_facts: Iterable[FoundFact]) -> list[FoundFact]:
    """The facts of one message that may be kept, tidied: keys normalised, numbers in range, none twice."""
    facts: dict[tuple[object, ...], FoundFact] = {}
    for fact in map(tidy_fact, found_facts):
        if refusal(fact) is None:
            identity = (fact.subject and fold(fact.subject), fact.category, fact.key, sense(fact), fact.retracts)
            facts[identity] = _merge_facts(facts[identity], fact) if identity in facts else fact
    return list(facts.values())


def _merge_facts(first: FoundFact, second: FoundFact) -> FoundFact:
    """The surer of two equal facts, completed by the other."""
    surer, weaker = (first, second) if first.confidence >= second.confidence else (second, first)
    return replace(
        surer,
        importance=max(first.importance, second.importance),
        corrects=first.corrects or second.corrects,
        since=surer.since or weaker.since,
        until=surer.until or weaker.until,
    )


def tidy_fact(fact: FoundFact) -> FoundFact:
    """The fact under its one category and key, with its value on one line and its numbers between 0 and 1."""
    value = " ".join(fact.value.split())
    category, key = fact.category, fact.key
    if category in FACT_CATEGORIES:
        category, key = find_home(category, key, value)
    subject = " ".join(fact.subject.split()) if fact.subject else None
    return replace(
        fact,
        category=category,
        key=key,
        value=value,
        subject=subject or None,
        confidence=_clamp(fact.confidence),
        importance=_clamp(fact.importance),
    )


def refusal(fact: FoundFact) -> FactRefusal | None:
    """Why a found fact is not kept, or None if it may be."""
    if fact.category not in FACT_CATEGORIES:
        categories = ", ".join(FACT_CATEGORIES)
        return FactRefusal("invalid", f"there is no category {fact.category!r}; the categories are {categories}")
    if fact.holds not in HOLDS:
        return FactRefusal("invalid", f"`holds` is {fact.holds!r}; must be one of {', '.join(HOLDS)}")
    if not fact.key:
        return FactRefusal("incomplete", "the fact has no key")
    if not fact.value and not fact.retracts:
        return FactRefusal("incomplete", "the fact has no value")
    if stands_for_secret(fact.value) or stands_for_secret(fact.key):
        return FactRefusal("secret", "the fact contains a secret, which is stored only in its own conversation")
    if len(fact.value) > MAX_VALUE:
        return FactRefusal("invalid", f"the value has {len(fact.value)} characters; at most {MAX_VALUE} are allowed")
    if fact.confidence < MIN_CONFIDENCE:
        reason = f"the confidence is {fact.confidence:.2f}; at least {MIN_CONFIDENCE} is needed"
        return FactRefusal("unsure", reason)
    if fact.importance < MIN_IMPORTANCE:
        reason = f"the importance is {fact.importance:.2f}; at least {MIN_IMPORTANCE} is needed"
        return FactRefusal("unimportant", reason)
    return None


def remaining_confidence(fact: Fact, message: Message) -> float:
    """The confidence of a fact when a message comes: less with every turn since it was said, never under the floor."""
    if fact.conversation == message.conversation:
        turns = float(message.turn - fact.turn)
    else:
        turns = (message.time - fact.said_at).total_seconds() / 86_400 * TURNS_A_DAY
    return float(fact.confidence * max(FLOOR, 0.5 ** (max(turns, 0.0) / HALF_LIFE)))


def decide(
    facts: Iterable[Fact], new: FoundFact, message: Message, *, user: str, audience: str | None = None
) -> list[Action]:
    """What a found fact changes in what is known of a user.

    `facts` are those of the user; those of other keys, and those that are not active, change nothing. `message`
    is where it was said, `user` in whose memory it belongs, `audience` the group that heard it, or None in private.
    """
    actions = _actions(facts, place_in_time(tidy_fact(new), message), message, user, audience)
    return [replace(action, rows=tuple(map(order_dates, action.rows))) for action in actions]


def _actions(facts: Iterable[Fact], new: FoundFact, message: Message, user: str, audience: str | None) -> list[Action]:
    reason_against = refusal(new)
    if reason_against is not None:
        return [Action("ignore", reason_against.reason)]
    mention = _Mention(new, message, user, audience)
    peers = [
        fact for fact in facts if fact.user == user and fact.space == message.space and has_same_subject(fact, new)
    ]
    own_facts = [fact for fact in peers if fact.speaker == message.author]
    if message.author == user:
        claims = [fact for fact in peers if fact.active and fact.speaker != user and _may_yield(fact, mention)]
        return [*_retire_claims(mention, claims), *_weigh(mention, own_facts)]
    if new.category == "instruction":
        return [Action("ignore", "nobody gives instructions for another")]
    return _weigh(mention, own_facts)


def _may_yield(claim: Fact, mention: _Mention) -> bool:
    """Whether a person's own fact may retire a claim: a denial any claim made in a group, another fact only a claim
    whose whole audience hears the person too. So nobody can tell from it what was said elsewhere."""
    return claim.audience is not None if mention.fact.retracts else channels_of(claim) == {mention.audience}


def _under_same_key(facts: Iterable[Fact], new: FoundFact) -> list[Fact]:
    return [fact for fact in facts if fact.key == new.key and fact.category == new.category]


def _retire_claims(mention: _Mention, claims: Sequence[Fact]) -> list[Action]:
    """Retires claims about a person that the person answers or denies."""
    new, message = mention.fact, mention.message
    same_key = _under_same_key(claims, new)
    stale = _facts_taken_back(same_key, new) if new.retracts else [fact for fact in same_key if is_answered(fact, new)]
    return [
        *(Action("retire", "the person says it themselves", (_end_row(fact, message),)) for fact in stale),
        *_retire_opposites(mention, claims),
    ]


def _weigh_echo(match: Fact | None, message: Message) -> Action:
    if match is None:
        return Action("ignore", "it only repeats what the assistant said or was shown")
    return Action("confirm", "repeated after the assistant: nothing is raised", (_add_source(match, message),))


def _weigh(mention: _Mention, earlier: Sequence[Fact]) -> list[Action]:
    """What a found fact changes in what the same speaker said earlier."""
    new, message = mention.fact, mention.message
    same_key = _under_same_key(earlier, new)
    active = [fact for fact in same_key if fact.active]
    if new.retracts:
        return _retire_values(mention, active, same_key)
    active = [fact for fact in active if not is_other_occasion(fact, new, message)]
    same_values = [fact for fact in active if has_same_value(fact, new)]
    if any(message.id in fact.sources for fact in same_values):
        return [Action("ignore", "this message was read before")]
    if _is_over(new, message):
        return _retire_values(mention, active, same_key)
    if new.instead_of:
        return _exchange_values(mention, active)
    match = next(iter(same_values), None)
    if new.echo:
        return [_weigh_echo(match, message)]
    return [*_retire_opposites(mention, earlier), _decide_value(mention, match, active)]


def _decide_value(mention: _Mention, match: Fact | None, active: Sequence[Fact]) -> Action:
    """The action on a value: it is known, takes the place of others, or is one more."""
    new = mention.fact
    if match is not None:
        return _confirm(mention, match, active)
    rivals = [fact for fact in active if _is_rival(fact, new)]
    if rivals or not holds_several_values(new.category, new.key):
        return _decide_single_value(mention, rivals)
    return _decide_further_value(mention, active)


def _exchange_values(mention: _Mention, active: Sequence[Fact]) -> list[Action]:
    """The actions on what takes the place of something: it counts where that is known, in the words of that."""
    new = replace(mention.fact, instead_of=None, corrects=True)
    values = [(fact, exchanged_value(fact, mention.fact)) for fact in active]
    actions = [
        _decide_single_value(replace(mention, fact=replace(new, value=value)), [fact])
        for fact, value in values
        if value
    ]
    return actions or [Action("ignore", "what it takes the place of is not known")]


def _is_rival(fact: Fact, new: FoundFact) -> bool:
    """Whether only one of two values of a key can be so."""
    if not holds_several_values(new.category, new.key) or excludes_value(fact, new):
        return True
    home = home_of_planned(new.key) if new.category == "plan" and new.corrects else None
    return home is not None and not holds_several_values(home, new.key)


# The decisions


@dataclass(frozen=True, slots=True)
class _Mention:
    """A found fact, and where it was said."""

    fact: FoundFact
    message: Message
    user: str
    audience: str | None

    def row(self, *, active: bool = True) -> Fact:
        """The fact as a new row."""
        new, message = self.fact, self.message
        begins = midnight(new.since) if new.since else message.time if active and not new.is_undated else None
        if begins and new.category not in DATED:
            begins = min(begins, message.time)
        return Fact(
            space=message.space,
            user=self.user,
            id=fact_id(message.space, self.user, new, message.id),
            category=new.category,
            key=new.key,
            value=new.value,
            confidence=new.confidence,
            importance=new.importance,
            speaker=message.author,
            conversation=message.conversation,
            turn=message.turn,
            said_at=message.time,
            recorded_at=message.time,
            sources=tuple(filter(None, (message.id, new.asked_in))),
            subject=new.subject,
            audience=self.audience,
            active=active,
            valid_from=begins,
            valid_to=self.end_to_come() if active else self.end_time(),
            retired_at=None if active else message.time,
        )

    def end_to_come(self) -> datetime | None:
        """The end of what holds now, if one was said."""
        return midnight(self.fact.until) if self.fact.until else None

    def end_time(self) -> datetime:
        """When the value it takes back ended: as said, or now."""
        until = self.fact.until
        return min(midnight(until), self.message.time) if until else self.message.time


def _decide_single_value(mention: _Mention, active: Sequence[Fact]) -> Action:
    """The action on a key that holds one value."""
    if not active:
        return Action("add", "nothing was known", (mention.row(),))
    new, message = mention.fact, mention.message
    old = max(active, key=lambda fact: (fact.said_at, fact.confidence))
    if _is_before(message, old):
        row = replace(mention.row(), active=False, retired_at=old.said_at, retired_by=old.id)
        return Action("add", "an older message: it is history", (_set_end(row, begin_of(old)),))
    limit = remaining_confidence(old, message)
    if not new.corrects and new.confidence < limit:
        return Action(
            "ignore", f"its confidence {new.confidence:.2f} is under {limit:.2f}, which {old.value!r} still has"
        )
    row = mention.row()
    old_rows = tuple(_set_end(replace(_end_row(fact, message), retired_by=row.id), row.valid_from) for fact in active)
    surer = f"its confidence is at least {limit:.2f}, which the old value has"
    reason = "an explicit correction" if new.corrects else surer
    return Action("replace", reason, (*old_rows, row))


def _decide_further_value(mention: _Mention, active: Sequence[Fact]) -> Action:
    """One more value of a key that holds several. An animal's name replaces its kind."""
    row = mention.row()
    vague = [fact for fact in active if fact.key == "pets" and f"({species(fact.value)})" in row.value]
    if not vague:
        return Action("add", "one more value of the key", (row,))
    old_row = replace(_end_row(vague[0], mention.message), retired_by=row.id, valid_to=vague[0].valid_from)
    return Action("replace", "says the same more exactly", (old_row, replace(row, valid_from=vague[0].valid_from)))


def _confirm(mention: _Mention, old: Fact, active: Sequence[Fact]) -> Action:
    """The value is known: it keeps the higher confidence, takes the newest wording, and its age starts again."""
    new, message = mention.fact, mention.message
    is_newer = not _is_before(message, old)
    row = replace(
        _add_source(old, message, new.asked_in),
        value=_confirmed_value(old, new) if is_newer else old.value,
        confidence=max(old.confidence, new.confidence),
        importance=max(old.importance, new.importance),
        audience=old.audience if old.audience is not None else mention.audience,
        also_heard_in=_other_channels(old, mention.audience),
    )
    if is_newer:
        row = replace(row, conversation=message.conversation, turn=message.turn, said_at=message.time)
    if new.since and new.category in DATED:
        row = replace(row, valid_from=midnight(new.since), valid_to=None)
    elif new.since and (old.valid_from is None or old.valid_from == old.recorded_at):
        row = replace(row, valid_from=min(midnight(new.since), message.time))
    if (end := mention.end_to_come()) is not None:
        row = replace(row, valid_to=end)
    others = [fact for fact in active if fact.id != old.id and not holds_several_values(old.category, old.key)]
    old_rows = tuple(replace(_end_row(fact, message), retired_by=old.id) for fact in others)
    return Action("confirm", "said again", (*old_rows, row))


def _other_channels(fact: Fact, channel: str | None) -> tuple[str, ...]:
    """The channels beside its first in which a fact was said, this one last."""
    if channel is None or fact.audience in (None, channel):
        return fact.also_heard_in
    others = tuple(other for other in fact.also_heard_in if other != channel)
    return (*others, channel)[-MAX_CHANNELS:]


def _retire_values(mention: _Mention, active: Sequence[Fact], same_key: Sequence[Fact]) -> list[Action]:
    """Values taken back: the one that is named, or all of the key."""
    new, message = mention.fact, mention.message
    if new.echo:
        return [Action("ignore", "it only repeats what the assistant said or was shown")]
    targets = [fact for fact in _facts_taken_back(active, new) if not _is_before(message, fact)]
    if targets:
        denied_by = message.id if new.holds == "not" else None
        rows = [
            replace(_set_end(_end_row(fact, message), mention.end_time()), retired_by=denied_by) for fact in targets
        ]
        reason = "it has ended" if new.holds != "not" else "it is not so"
        return [Action("retire", reason, (row,)) for row in rows]
    if new.holds == "not" or not new.value:
        return [Action("ignore", "there is nothing to take back")]
    if any(sense(fact) == sense(new) for fact in same_key):
        return [Action("ignore", "its end is known")]
    if new.confidence < MIN_HISTORY:
        return [Action("ignore", "nothing is known that it could end")]
    return [Action("add", "it was so once: it is history", (mention.row(active=False),))]


def _facts_taken_back(facts: Sequence[Fact], new: FoundFact) -> list[Fact]:
    """The facts that somebody takes back: those of the same value, or else those that contain its words."""
    if not new.value:
        return list(facts)
    exact = [fact for fact in facts if has_same_value(fact, new)]
    if exact:
        return exact
    words = set(analyse(fold(new.value), "en").terms)
    return [fact for fact in facts if words and words <= set(analyse(fold(fact.value), "en").terms)]


def _retire_opposites(mention: _Mention, facts: Sequence[Fact]) -> list[Action]:
    """Retires the like that a dislike of the same thing undoes, or the other way round."""
    opposite_key = UNDONE_BY.get(mention.fact.key)
    opposites = [
        fact
        for fact in facts
        if fact.active and fact.category == mention.fact.category == "preference" and fact.key == opposite_key
    ]
    return [
        Action("retire", "the opposite was said", (_set_end(_end_row(fact, mention.message), mention.message.time),))
        for fact in opposites
        if sense(fact) == sense(mention.fact) and not _is_before(mention.message, fact)
    ]


def _end_row(fact: Fact, message: Message) -> Fact:
    """The fact as one that no longer holds, with the message that says so as a source."""
    return replace(_add_source(fact, message), active=False, retired_at=message.time, valid_to=message.time)


def _set_end(fact: Fact, end: datetime | None) -> Fact:
    """The fact with this end, but not before its beginning."""
    if end is None:
        return fact
    return replace(fact, valid_to=max(end, fact.valid_from) if fact.valid_from else end)


def _add_source(fact: Fact, message: Message, asked_in: str | None = None) -> Fact:
    """The fact with a message as a source, and the question it answers."""
    if message.id in fact.sources:
        return fact
    first, *others = *fact.sources, *filter(None, (asked_in, message.id))
    return replace(fact, sources=(first, *others[-(MAX_SOURCES - 1) :]))


def _confirmed_value(old: Fact, new: FoundFact) -> str:
    """The newest wording of the same value; of two that nearly say the same, the fuller."""
    if sense(old) == sense(new):
        return _wording(old.value, new.value)
    return old.value if old.key == "pets" else fuller_value(old.value, new.value)


def _wording(old: str, new: str) -> str:
    """The newest wording, unless all it changes is that the capitals are gone."""
    return old if old.casefold() == new.casefold() and new == new.lower() else new


def _is_over(new: FoundFact, message: Message) -> bool:
    """Whether it is said of a time that is past: "until 2019"."""
    return new.until is not None and midnight(new.until) <= message.time and not is_occasion(new)


def _is_before(message: Message, fact: Fact) -> bool:
    """Whether a message was written before a fact was last said: a file that was imported late, say."""
    if message.conversation == fact.conversation:
        return message.turn < fact.turn
    return message.time < fact.said_at


def _clamp(number: float) -> float:
    """The number between 0 and 1; NaN counts as 0."""
    return min(max(float(number), 0.0), 1.0) if number == number else 0.0


def fact_id(space: str, user: str, fact: FoundFact, message_id: str) -> str:
    """The id of the fact that a finding in a message makes, if it is the first to say so."""
    parts = (space, user, fact.subject, fact.category, fact.key, fold(fact.value), message_id)
    text = "\x1f".join(part or "" for part in parts)
    return "f" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:19]


def align_fact(found: FoundFact, known_facts: Sequence[Fact]) -> FoundFact:
    """The fact under the category and key by which it is known, or as it is."""
    new = tidy_fact(found)
    peers = [fact for fact in known_facts if fact.active and has_same_subject(fact, new)]
    same_key = _under_same_key(peers, new)
    if not new.value:
        return new
    if new.retracts:
        return new if any(_is_meant(fact, new) for fact in same_key) else _under_key_of(new, peers)
    if same_key or not holds_several_values(new.category, new.key):
        return new
    return next((replace(new, key=fact.key) for fact in peers if _is_same_under_other_key(fact, new)), new)


def _is_same_under_other_key(fact: Fact, new: FoundFact) -> bool:
    return (
        fact.category == new.category
        and holds_several_values(fact.category, fact.key)
        and (fold(fact.value) == fold(new.value) or says_nearly_the_same(fact.value, new.value))
    )


def _under_key_of(new: FoundFact, peers: Sequence[Fact]) -> FoundFact:
    """What is taken back, under the key of the one known fact that it means."""
    matches = [fact for fact in peers if _is_meant(fact, new) and fact.category != "event"]
    slots = {(fact.category, fact.key) for fact in matches}
    if len(slots) != 1:
        return new
    category, key = slots.pop()
    return replace(new, category=category, key=key)


def _is_meant(fact: Fact, new: FoundFact) -> bool:
    words = set(analyse(fold(new.value), "en").terms)
    return has_same_value(fact, new) or (bool(words) and words <= set(analyse(fold(fact.value), "en").terms))
