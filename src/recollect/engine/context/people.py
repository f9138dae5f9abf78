"""What a context says of the people in it: facts by category, the most important first, with dates where they matter.

In a chat with one person it is what they said of themselves and what was said of them in channels they speak in, by
name. In a channel it is what was said in that channel: nothing said elsewhere gets into it. Not even a date does: who
said in private since when, and before many only what, is not quoted with both. What others say is never an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import filterfalse

from recollect.engine.context.render import Note
from recollect.engine.context.viewers import hears_channel, name_for, own_name, public_name
from recollect.engine.tables.facts import facts_of
from recollect.engine.tables.log import warn_of_damage
from recollect.engine.tables.people import statements_of
from recollect.engine.views.digest_texts import Merged
from recollect.model import FACT_CATEGORIES, Fact, Profile, Statement
from recollect.ports import Tx
from recollect.rules.access import Viewer, is_claim
from recollect.rules.facts.deciding import MAX_SOURCES, without_answered_claims
from recollect.rules.facts.profile_lines import HEADINGS, dated
from recollect.rules.facts_english.finder import find
from recollect.rules.facts_english.instructions import is_about_answering
from recollect.rules.people.statements import reading
from recollect.rules.prompt.fences import byline

IMPORTANT = 0.5  # facts of less importance are found by search, not shown in every context
LAST = len(FACT_CATEGORIES) + 2  # the place of digests: after what is known
ANY_DAY = date(2000, 1, 1)  # what is no instruction on one day is none on another
CLAIMS = 50  # statements of others about a person that are shown: the newest
LINE = 300  # characters of a line, about: a key of many values takes several lines, so that a small budget holds some


def of_person(tx: Tx, space: str, person: str, viewer: Viewer) -> list[Note]:
    """What a chat with one person shows of them, the most important first: before all else what they said themselves,
    which what others say takes no room from, however much it is; of that the newest first."""
    known = known_to(tx, space, person, viewer)
    (facts, statements), (other_facts, other_statements) = own_words(*known), claims_in(*known)
    return [*notes(facts), *remembered(statements), *notes(other_facts), *reversed(remembered(other_statements))]


def profile_of(tx: Tx, space: str, person: str, viewer: Viewer) -> Profile:
    """What is known of a person, with the text that a chat of theirs would show."""
    facts, statements = known_to(tx, space, person, viewer)
    text = listed(facts, statements)
    return Profile(person, own_name(tx, space, person), tuple(facts), tuple(statements), text)


def known_to(tx: Tx, space: str, person: str, viewer: Viewer) -> tuple[list[Fact], list[Statement]]:
    """What a viewer may be shown of a person."""
    statements = [statement for statement in statements_of(tx, space, person) if viewer.sees(statement)]
    return facts_known_to(tx, space, person, viewer), shown_statements(tx, statements, viewer)


def facts_known_to(tx: Tx, space: str, person: str, viewer: Viewer) -> list[Fact]:
    """The facts of a person that a viewer may be shown."""
    seen = [fact for fact in facts_of(tx, space, person, active=True) if viewer.sees(fact)]
    return shown_facts(tx, space, without_answered_claims(seen), viewer)


def listed(facts: Sequence[Fact], statements: Iterable[Statement]) -> str:
    """Facts and statements as lines under headings, all of them."""
    lines, heading = list[str](), ""
    for note in sorted([*notes(facts, least=0.0), *remembered(statements)], key=lambda note: note.place):
        if note.heading != heading:
            heading = note.heading
            lines.append(heading)
        lines.append(f"- {note.text}")
    return "\n".join(lines)


def of_group(
    tx: Tx, space: str, people: Iterable[str], viewer: Viewer, speaker: tuple[str, Merged] | None = None
) -> list[Note]:
    """What a channel shows of those who speak in it: only what was said in it, what others say of them last. Of the
    `speaker` it also shows what they did lately: merged with what is known, if a model did that, or else beside it."""
    found: list[Note] = []
    claims: list[Note] = []
    for number, person in enumerate(people):
        made = speaker[1] if speaker is not None and speaker[0] == person else None
        every = facts_known_to(tx, space, person, viewer)
        known = [fact for fact in every if not is_claim(fact)]
        claims += notes([fact for fact in every if is_claim(fact)], name=person, number=number)
        if made is not None and made.made_by == "model":
            found.append(Note(person, made.text, "merged", f"{person}: In short", (number, "", -1, 0.0, "", 0)))
            said = made.text.casefold()
            known = [fact for fact in known if fact.value.casefold() not in said]
        found += notes(known, name=person, number=number)
        found += lately(made, person, number) if made is not None and made.made_by != "model" else []
    return [*found, *claims]


def lately(made: Merged, person: str, number: int) -> list[Note]:
    """What a member did today and in the days before, on lines of their own."""
    told = (("Today", made.today), ("In the last days", made.history))
    return [
        Note(f"{one.kind} {one.day}", one.text, "digest", f"{person}: {title}", (number, "", LAST, 0.0, title, 0))
        for title, one in told
        if one is not None and one.text
    ]


def channel_profile(tx: Tx, space: str, person: str, viewer: Viewer) -> tuple[str, str]:
    """What a person is called in a channel, and what they said of themselves there."""
    return public_name(tx, space, person), listed(*own_words(*known_to(tx, space, person, viewer)))


def own_words(facts: Iterable[Fact], statements: Iterable[Statement]) -> tuple[list[Fact], list[Statement]]:
    """What a person said of themselves. Only this is merged with digests: a model that words it anew may leave out who
    said what."""
    return list(filterfalse(is_claim, facts)), list(filterfalse(is_claim, statements))


def claims_in(facts: Iterable[Fact], statements: Iterable[Statement]) -> tuple[list[Fact], list[Statement]]:
    """What others say of a person."""
    return list(filter(is_claim, facts)), list(filter(is_claim, statements))


def shown_statements(tx: Tx, statements: Sequence[Statement], viewer: Viewer) -> list[Statement]:
    """Statements of one person as a viewer may be shown them: what the person said themselves calls them by the name
    they have there, and not by one that they told in private. What others say stays as they said it: who sees a name of
    theirs replaced knows that it is the person's."""
    own = next((statement for statement in statements if not is_claim(statement)), None)
    if own is None or own.user == viewer.person:
        return list(statements)
    private = own_name(tx, own.space, own.user)
    name = name_for(tx, own.space, own.user, viewer)
    if private == name:
        return list(statements)
    called = re.compile(rf"(?<!\w){re.escape(private)}(?!\w)")
    return [
        statement if is_claim(statement) else replace(statement, text=called.sub(lambda _: name, statement.text))
        for statement in statements
    ]


def shown_facts(tx: Tx, space: str, facts: Sequence[Fact], viewer: Viewer) -> list[Fact]:
    """Facts as a viewer may be shown them: without dates that may have been told where they did not hear it."""
    dated_elsewhere = [fact for fact in facts if fact.speaker != viewer.person and has_dates(fact)]
    if not dated_elsewhere:
        return list(facts)
    ids = sorted({id for fact in dated_elsewhere for id in fact.sources})
    sources = tx.find_messages(space, ids=ids, damaged=warn_of_damage)
    places = {message.id: message.conversation for message in sources}
    heard = {place for place in set(places.values()) if hears_channel(tx, space, place, viewer)}
    untold = {
        fact.id
        for fact in dated_elsewhere
        if len(fact.sources) >= MAX_SOURCES or not all(places.get(id) in heard for id in fact.sources)
    }
    return [replace(fact, valid_from=None, valid_to=None) if fact.id in untold else fact for fact in facts]


def has_dates(fact: Fact) -> bool:
    """Whether somebody said since when or until when a fact holds."""
    return fact.valid_from not in (None, fact.recorded_at, fact.said_at) or fact.valid_to is not None


def remembered(statements: Iterable[Statement]) -> list[Note]:
    """What was told to be remembered, in the order it was: by the person themselves, and by others, who are named. Of
    what others say the newest, as far as it does not say how to answer."""
    every = list(statements)
    claims = [statement.id for statement in every if is_claim(statement)]
    too_old = set(claims[:-CLAIMS])
    lines: list[Note] = []
    for place, statement in enumerate(every):
        claim = is_claim(statement)
        if statement.id in too_old or (claim and says_how_to_answer(statement.user, statement.text)):
            continue
        heading = "Said by others" if claim else "Remembered"
        rank = (0, "", len(FACT_CATEGORIES) + claim, 0.0, f"{place:06}")
        lines.append(Note(statement.id, attributed(statement, statement.text), "remembered", heading, rank))
    return lines


def attributed(item: Fact | Statement, text: str) -> str:
    """A line, with who says it before all of it if it is somebody else: nothing in it can pass for another's word."""
    return f"says {byline(item.speaker)}: {text}" if is_claim(item) else text


@lru_cache(maxsize=4096)
def says_how_to_answer(person: str, text: str) -> bool:
    """Whether words about a person say how to answer: that is for each to say for themselves."""
    if is_about_answering(text):
        return True
    found = (*find(text, ANY_DAY), *reading(person, text).facts)
    return any(fact.category == "instruction" for fact in found)


def notes(facts: Sequence[Fact], *, name: str = "", number: int = 0, least: float = IMPORTANT) -> list[Note]:
    """One line a key and speaker, or several where its values are many; the most important first."""
    lines: dict[tuple[str, str, str, str], list[Fact]] = {}
    ranked = sorted(facts, key=lambda one: (-one.importance, -one.said_at.timestamp(), one.id))
    ranks = {fact.id: rank for rank, fact in enumerate(ranked)}
    for fact in ranked:
        if fact.importance >= least and not (is_claim(fact) and is_about_answering(f"{fact.key} {fact.value}")):
            lines.setdefault((fact.subject or "", fact.category, fact.key, fact.speaker), []).append(fact)
    found = list[Note]()
    for (subject, category, key, _), values in lines.items():
        heading = f"About {subject}" if subject else HEADINGS[category]
        for some in broken(values):
            place = (number, subject, FACT_CATEGORIES.index(some[0].category), -some[0].importance, key, len(found))
            text = attributed(some[0], f"{key}: {', '.join(map(dated, some))}")
            reason = f"known, importance {some[0].importance:.1f}"
            found.append(Note(some[0].id, text, reason, f"{name}: {heading}" if name else heading, place))
    return sorted(found, key=lambda note: ranks[note.id])


def broken(values: Sequence[Fact]) -> Iterator[list[Fact]]:
    """The values of a key, as many at a time as stand in a line."""
    some, size = list[Fact](), 0
    for fact in values:
        length = len(dated(fact))
        if some and size + length > LINE:
            yield some
            some, size = [], 0
        some.append(fact)
        size += length
    if some:
        yield some
