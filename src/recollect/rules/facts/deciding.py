"""What becomes of a fact that was found: kept, put in the place of another, or ignored, and always with a reason.

Of a key that holds one value, at most one fact is active. A new value takes its place if it is said with at least the
old one's confidence *as aged*: every turn since the old one was said makes it a little weaker, down to a floor. So a
nickname said in passing does not change a name, and the full name said later does. An explicit correction wins at
once. Of a key that holds several values, each stands for itself.

What others say of a person is kept apart, each speaker's word for itself: it neither corrects nor confirms what the
person said. Whoever is shown the person's own word is not shown what others say of the same. It is retired only where
all who heard it hear the person, too, or where the person denies it: so nobody learns by a guess what was said in
private.

Nothing is ever removed: a value that no longer holds keeps its row, with the times between which it held. What the
rules return is the rows to store, whole, so that storing them twice is the same as once. Ids come from what was said
and where: a view built again has the same facts.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Literal

from recollect.language.lexicon import species
from recollect.language.terms import analyse
from recollect.model import FACT_CATEGORIES, HOLDS, Fact, FoundFact, Message
from recollect.rules.access import channels_of, is_claim
from recollect.rules.facts.keys import is_several, normalise

MIN_CONFIDENCE = 0.4
MIN_IMPORTANCE = 0.2
MIN_HISTORY = 0.7
"""The confidence of what is kept although it is over and was never known: a past that is only guessed is not kept."""
MAX_VALUE = 200
"""Characters of a value."""
MAX_SOURCES = 32
"""Messages a fact names: the first that said it and the last ones. A fact said a thousand times is one fact."""

MAX_CHANNELS = 32
"""Channels beside the first in which a fact is known to have been said: the last ones."""

HALF_LIFE = 500
"""Turns after which a confidence counts half."""
FLOOR = 0.7
"""The part of a confidence that never ages away: what was said clearly is not undone by a murmur, however late."""
TURNS_A_DAY = 10
"""How many turns a day counts for, between conversations: their turns are not numbered together."""

UNDONE_BY = {"likes": "dislikes", "dislikes": "likes"}

Kind = Literal["add", "replace", "confirm", "retire", "ignore"]


@dataclass(frozen=True, slots=True)
class Action:
    """What is to be done about a found fact, and why. `rows` are the facts to store, whole; none if it is ignored."""

    kind: Kind
    reason: str
    rows: tuple[Fact, ...] = ()


def accepted(found: Iterable[FoundFact]) -> list[FoundFact]:
    """The facts of one message that may be kept, tidied: keys normalised, numbers in range, none twice."""
    kept: dict[tuple[object, ...], FoundFact] = {}
    for each in map(tidied, found):
        if refusal(each) is None:
            name = (each.subject and fold(each.subject), each.category, each.key, sense(each), each.retracts)
            kept[name] = _merged(kept[name], each) if name in kept else each
    return list(kept.values())


def _merged(one: FoundFact, other: FoundFact) -> FoundFact:
    """Of two of the same, the surer, with all that either tells."""
    best, rest = (one, other) if one.confidence >= other.confidence else (other, one)
    return replace(
        best,
        importance=max(one.importance, other.importance),
        corrects=one.corrects or other.corrects,
        since=best.since or rest.since,
        until=best.until or rest.until,
    )


def tidied(found: FoundFact) -> FoundFact:
    """With its key in the one form it is kept under, its value on one line, and its numbers between 0 and 1."""
    value = " ".join(found.value.split())
    key = normalise(found.category, found.key, value) if found.category in FACT_CATEGORIES else found.key
    subject = " ".join(found.subject.split()) if found.subject else None
    return replace(
        found,
        key=key,
        value=value,
        subject=subject or None,
        confidence=_share(found.confidence),
        importance=_share(found.importance),
    )


def refusal(found: FoundFact) -> str | None:
    """Why a found fact is not kept, or None if it may be."""
    if found.category not in FACT_CATEGORIES:
        return f"there is no category {found.category!r}; there are {', '.join(FACT_CATEGORIES)}"
    if found.holds not in HOLDS:
        return f"a fact cannot be {found.holds!r}; it holds {', '.join(HOLDS)}"
    if not found.key:
        return "it has no key"
    if not found.value and not found.retracts:
        return "it has no value"
    if len(found.value) > MAX_VALUE:
        return f"its value has {len(found.value)} characters; at most {MAX_VALUE} are kept"
    if found.confidence < MIN_CONFIDENCE:
        return f"its confidence is {found.confidence:.2f}; at least {MIN_CONFIDENCE} is kept"
    if found.importance < MIN_IMPORTANCE:
        return f"its importance is {found.importance:.2f}; at least {MIN_IMPORTANCE} is kept"
    return None


def aged(fact: Fact, message: Message) -> float:
    """The confidence of a fact when a message comes: less with every turn since it was said, never under the floor."""
    if fact.conversation == message.conversation:
        turns = float(message.turn - fact.turn)
    else:
        turns = (message.time - fact.said_at).total_seconds() / 86_400 * TURNS_A_DAY
    return float(fact.confidence * max(FLOOR, 0.5 ** (max(turns, 0.0) / HALF_LIFE)))


def decide(
    known: Iterable[Fact], found: FoundFact, message: Message, *, user: str, audience: str | None = None
) -> list[Action]:
    """What a found fact does to what is known of a user.

    `known` are facts of the user; those of other keys, and those that are not active, change nothing. `message` is
    where it was said, `user` in whose memory it belongs, `audience` the group that heard it, or None in private.
    """
    actions = _decided(known, tidied(found), message, user, audience)
    return [replace(action, rows=tuple(map(_in_order, action.rows))) for action in actions]


def _in_order(fact: Fact) -> Fact:
    """With an end that is not before its beginning, whatever dates were said."""
    if fact.valid_from is None or fact.valid_to is None or fact.valid_from <= fact.valid_to:
        return fact
    return replace(fact, valid_to=fact.valid_from)


def _decided(
    known: Iterable[Fact], found: FoundFact, message: Message, user: str, audience: str | None
) -> list[Action]:
    reason = refusal(found)
    if reason is not None:
        return [Action("ignore", reason)]
    said = _Said(found, message, user, audience)
    every = [fact for fact in known if fact.user == user and fact.space == message.space and _about(fact, found)]
    if message.author != user:
        if found.category == "instruction":
            return [Action("ignore", "nobody gives instructions for another")]
    elif claims := [fact for fact in every if fact.active and fact.speaker != user and _may_yield(fact, said)]:
        return [*_yielding(said, claims), *_weigh(said, [fact for fact in every if fact.speaker == user])]
    return _weigh(said, [fact for fact in every if fact.speaker == message.author])


def _may_yield(claim: Fact, said: _Said) -> bool:
    """Whether what others said may be retired by a person's own word: what was said before many if the person denies
    it, and else only what was said where all who heard it hear the person, too. So nobody can tell by it what somebody
    said elsewhere."""
    return claim.audience is not None if said.found.retracts else channels_of(claim) == {said.audience}


def _yielding(said: _Said, claims: Sequence[Fact]) -> list[Action]:
    """What others said of a person gives way to the person's own word on it."""
    found, message = said.found, said.message
    same_key = [fact for fact in claims if fact.key == found.key and fact.category == found.category]
    over = _meant(same_key, found) if found.retracts else [fact for fact in same_key if _is_answered(fact, found)]
    return [
        *(Action("retire", "the person says it themselves", (_over(fact, message),)) for fact in over),
        *_opposed(said, claims),
    ]


def _is_answered(claim: Fact, own: FoundFact | Fact) -> bool:
    """Whether a person says the same themselves, or something else where there is but one answer."""
    if not _about(claim, own) or claim.category != own.category:
        return False
    if claim.key != own.key:
        return UNDONE_BY.get(claim.key) == own.key and sense(claim) == sense(own)
    return not is_several(own.category, own.key) or same_value(claim, own)


def without_answered_claims(facts: Sequence[Fact]) -> list[Fact]:
    """Facts of one person that hold, as they are shown to somebody: where the person's own word is among them, what
    others say of the same is not."""
    own = [fact for fact in facts if not is_claim(fact)]
    return [fact for fact in facts if not (is_claim(fact) and any(_is_answered(fact, word) for word in own))]


def _weigh(said: _Said, mine: Sequence[Fact]) -> list[Action]:
    """What a found fact does to what the same speaker said before."""
    found, message = said.found, said.message
    same_key = [fact for fact in mine if fact.key == found.key and fact.category == found.category]
    held = [fact for fact in same_key if fact.active]
    if any(message.id in fact.sources and same_value(fact, found) for fact in held if not found.retracts):
        return [Action("ignore", "this message was read before")]
    if found.retracts or _is_over(found, message):
        return _retire(said, held, same_key)
    same = next((fact for fact in held if same_value(fact, found)), None)
    if found.echo:
        if same is None:
            return [Action("ignore", "it only repeats what the assistant said or was shown")]
        return [Action("confirm", "repeated after the assistant: nothing is raised", (_sourced(same, message),))]
    actions = _opposed(said, mine)
    if same is not None:
        return [*actions, _confirm(said, same, held)]
    if is_several(found.category, found.key):
        return [*actions, _another(said, held)]
    return [*actions, _one(said, held)]


def stored(facts: Iterable[Fact], actions: Iterable[Action]) -> list[Fact]:
    """The facts after the actions, as a store would have them: rows by their ids, the new ones last."""
    rows = {fact.id: fact for fact in facts}
    for action in actions:
        rows |= {row.id: row for row in action.rows}
    return list(rows.values())


# Times and views of them


def as_of(facts: Iterable[Fact], when: datetime | date) -> list[Fact]:
    """The facts that held at a time. Of a key with one value the one that began last, then the one that ended first."""
    moment = when if isinstance(when, datetime) else _midnight(when)
    held = [fact for fact in facts if _held(fact, moment)]
    held.sort(key=lambda fact: (_begin(fact), -_end(fact).timestamp(), fact.id))
    found: dict[tuple[object, ...], Fact] = {}
    for fact in held:
        value = fold(fact.value) if is_several(fact.category, fact.key) else None
        found[(fact.user, fact.speaker, fact.subject, fact.category, fact.key, value)] = fact
    return without_answered_claims(list(found.values()))


def history(facts: Iterable[Fact], key: str, *, subject: str | None = None) -> list[Fact]:
    """Every value a key had, oldest first. The key may be called anything that means it."""
    named = {category: normalise(category, key) for category in FACT_CATEGORIES}
    mine = [fact for fact in facts if fact.key in (key, named[fact.category]) and _subject(fact.subject, subject)]
    return sorted(mine, key=lambda fact: (_begin(fact), fact.recorded_at, fact.id))


# What is the same


def fold(text: str) -> str:
    """A value as it is compared: no case, no accents of typing, no article, no marks around it."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())
    return _ARTICLE.sub("", plain.strip(_MARKS)) or plain


_ARTICLE = re.compile(r"^(?:the|an?|some|any)\s+(?=\S)")
_MARKS = " .,;:!?\"'“”«»()[]"


def sense(found: FoundFact | Fact) -> tuple[str, ...]:
    """What a value means: names letter for letter, everything else by its words, whatever form they are in."""
    folded = fold(found.value)
    if found.category == "identity" and found.key != "pets":
        return (folded,)
    return analyse(folded, "en").terms or (folded,)


def same_value(fact: Fact, found: FoundFact | Fact) -> bool:
    """Whether a fact has this value already; of an animal, its kind alone means the one that is known by name."""
    if sense(fact) == sense(found):
        return True
    animal = species(found.value) if found.key == "pets" else ""
    return bool(animal) and f"({animal})" in fact.value


# The decisions


@dataclass(frozen=True, slots=True)
class _Said:
    """A found fact, and where it was said."""

    found: FoundFact
    message: Message
    user: str
    audience: str | None

    def row(self, *, active: bool = True) -> Fact:
        """The fact as a new row."""
        found, message = self.found, self.message
        begins = _midnight(found.since) if found.since else message.time if active else None
        return Fact(
            space=message.space,
            user=self.user,
            id=_id(message.space, self.user, found.subject, found.category, found.key, fold(found.value), message.id),
            category=found.category,
            key=found.key,
            value=found.value,
            confidence=found.confidence,
            importance=found.importance,
            speaker=message.author,
            conversation=message.conversation,
            turn=message.turn,
            said_at=message.time,
            recorded_at=message.time,
            sources=(message.id,),
            subject=found.subject,
            audience=self.audience,
            active=active,
            valid_from=min(begins, message.time) if begins else None,
            valid_to=None if active else self.ended(),
            retired_at=None if active else message.time,
        )

    def ended(self) -> datetime:
        """When what it takes back was over: as said, or now."""
        until = self.found.until
        return min(_midnight(until), self.message.time) if until else self.message.time


def _one(said: _Said, held: Sequence[Fact]) -> Action:
    """The value of a key that has one."""
    if not held:
        return Action("add", "nothing was known", (said.row(),))
    found, message = said.found, said.message
    old = max(held, key=lambda fact: (fact.said_at, fact.confidence))
    if _is_before(message, old):
        row = replace(said.row(), active=False, retired_at=old.said_at, retired_by=old.id)
        return Action("add", "an older message: it is history", (_closed(row, _begin(old)),))
    left = aged(old, message)
    if not found.corrects and found.confidence < left:
        return Action(
            "ignore", f"its confidence {found.confidence:.2f} is under {left:.2f}, which {old.value!r} still has"
        )
    row = said.row()
    gone = tuple(_closed(replace(_over(fact, message), retired_by=row.id), row.valid_from) for fact in held)
    surer = f"its confidence is at least {left:.2f}, which the old value has"
    reason = "an explicit correction" if found.corrects else surer
    return Action("replace", reason, (*gone, row))


def _another(said: _Said, held: Sequence[Fact]) -> Action:
    """One more value of a key that has several. An animal's name takes the place of its kind."""
    row = said.row()
    vague = [fact for fact in held if fact.key == "pets" and f"({species(fact.value)})" in row.value]
    if not vague:
        return Action("add", "one more value of the key", (row,))
    gone = replace(_over(vague[0], said.message), retired_by=row.id, valid_to=vague[0].valid_from)
    return Action("replace", "says the same more exactly", (gone, replace(row, valid_from=vague[0].valid_from)))


def _confirm(said: _Said, old: Fact, held: Sequence[Fact]) -> Action:
    """The value is known: it is as sure as the surer of the two, in its newest wording, and its age starts again."""
    found, message = said.found, said.message
    newer = not _is_before(message, old)
    more = replace(
        _sourced(old, message),
        value=_wording(old.value, found.value) if newer and sense(old) == sense(found) else old.value,
        confidence=max(old.confidence, found.confidence),
        importance=max(old.importance, found.importance),
        audience=old.audience if old.audience is not None else said.audience,
        also_heard_in=_heard_in(old, said.audience),
    )
    if newer:
        more = replace(more, conversation=message.conversation, turn=message.turn, said_at=message.time)
    if found.since and (old.valid_from is None or old.valid_from == old.recorded_at):
        more = replace(more, valid_from=min(_midnight(found.since), message.time))
    others = [fact for fact in held if fact.id != old.id and not is_several(old.category, old.key)]
    gone = tuple(replace(_over(fact, message), retired_by=old.id) for fact in others)
    return Action("confirm", "said again", (*gone, more))


def _heard_in(fact: Fact, channel: str | None) -> tuple[str, ...]:
    """The channels beside its first in which a fact was said, this one last."""
    if channel is None or fact.audience in (None, channel):
        return fact.also_heard_in
    others = tuple(other for other in fact.also_heard_in if other != channel)
    return (*others, channel)[-MAX_CHANNELS:]


def _retire(said: _Said, held: Sequence[Fact], same_key: Sequence[Fact]) -> list[Action]:
    """Values taken back: the one that is named, or all of the key."""
    found, message = said.found, said.message
    if found.echo:
        return [Action("ignore", "it only repeats what the assistant said or was shown")]
    meant = [fact for fact in _meant(held, found) if not _is_before(message, fact)]
    if meant:
        gone = [_closed(_over(fact, message), said.ended()) for fact in meant]
        why = "it has ended" if found.holds != "not" else "it is not so"
        return [Action("retire", why, (row,)) for row in gone]
    if found.holds == "not" or not found.value:
        return [Action("ignore", "there is nothing to take back")]
    if any(sense(fact) == sense(found) for fact in same_key):
        return [Action("ignore", "its end is known")]
    if found.confidence < MIN_HISTORY:
        return [Action("ignore", "nothing is known that it could end")]
    return [Action("add", "it was so once: it is history", (said.row(active=False),))]


def _meant(held: Sequence[Fact], found: FoundFact) -> list[Fact]:
    """The facts that somebody takes back: the same value, or else what the words fit."""
    if not found.value:
        return list(held)
    exact = [fact for fact in held if same_value(fact, found)]
    if exact:
        return exact
    words = set(analyse(fold(found.value), "en").terms)
    return [fact for fact in held if words and words <= set(analyse(fold(fact.value), "en").terms)]


def _opposed(said: _Said, mine: Sequence[Fact]) -> list[Action]:
    """What a like or a dislike undoes: the other of the same thing."""
    other = UNDONE_BY.get(said.found.key)
    opposite = [
        fact
        for fact in mine
        if fact.active and fact.category == said.found.category == "preference" and fact.key == other
    ]
    return [
        Action("retire", "the opposite was said", (_closed(_over(fact, said.message), said.message.time),))
        for fact in opposite
        if sense(fact) == sense(said.found) and not _is_before(said.message, fact)
    ]


def _over(fact: Fact, message: Message) -> Fact:
    """A fact that no longer holds, and the message that says so."""
    return replace(_sourced(fact, message), active=False, retired_at=message.time, valid_to=message.time)


def _closed(fact: Fact, end: datetime | None) -> Fact:
    """With an end that is not before its beginning."""
    if end is None:
        return fact
    return replace(fact, valid_to=max(end, fact.valid_from) if fact.valid_from else end)


def _sourced(fact: Fact, message: Message) -> Fact:
    if message.id in fact.sources:
        return fact
    first, *others = *fact.sources, message.id
    return replace(fact, sources=(first, *others[-(MAX_SOURCES - 1) :]))


def _wording(old: str, new: str) -> str:
    """The newest wording, unless all it changes is that the capitals are gone."""
    return old if old.casefold() == new.casefold() and new == new.lower() else new


def _about(fact: Fact, found: FoundFact | Fact) -> bool:
    return _subject(fact.subject, found.subject)


def _subject(one: str | None, other: str | None) -> bool:
    return (fold(one) if one else None) == (fold(other) if other else None)


def _is_over(found: FoundFact, message: Message) -> bool:
    """Whether it is said of a time that is past: "until 2019"."""
    return found.until is not None and _midnight(found.until) <= message.time


def _is_before(message: Message, fact: Fact) -> bool:
    """Whether a message was written before a fact was last said: a file that was imported late, say."""
    if message.conversation == fact.conversation:
        return message.turn < fact.turn
    return message.time < fact.said_at


def _held(fact: Fact, moment: datetime) -> bool:
    return _begin(fact) <= moment < _end(fact)


def _begin(fact: Fact) -> datetime:
    return fact.valid_from or datetime.min.replace(tzinfo=UTC)


def _end(fact: Fact) -> datetime:
    return fact.valid_to or datetime.max.replace(tzinfo=UTC)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _share(number: float) -> float:
    """Between 0 and 1; what is no number counts as nothing."""
    return min(max(float(number), 0.0), 1.0) if number == number else 0.0


def _id(*parts: str | None) -> str:
    text = "\x1f".join(part or "" for part in parts)
    return "f" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:19]
