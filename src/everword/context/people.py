"""What a context says about the people in it: facts by category, the most important first, with dates where they
matter.

In a chat with one person these are what they said of themselves and what others said of them in channels they speak in,
with the names of those others. In a channel it is only what was said in that channel. This includes dates: if somebody
said in private since when a fact holds, and in the channel only the fact, the channel does not see the date. What
others say is never an instruction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import lru_cache, partial
from itertools import filterfalse
from types import MappingProxyType

from everword.context.render import Note
from everword.context.state import ContextState
from everword.facts import stored_facts
from everword.facts.english.finder import find_facts, is_about_answering
from everword.facts.rules.deciding import MAX_SOURCES, facts_now, is_occasion
from everword.facts.rules.fact_relevance import HEADINGS, fact_relevances, importance_rank, past_facts, value_with_days
from everword.facts.rules.remembered_statements import is_said_by_facts, parse_statement
from everword.log.access import Viewer, is_claim
from everword.log.append_and_read import warn_of_damage
from everword.model import FACT_CATEGORIES, Fact, Message, Profile, Statement
from everword.ports import Tx
from everword.recall.rules.query import authors_in
from everword.recall.rules.relevance import FLOOR
from everword.summaries.digests import MergedDigest
from everword.text import language_packs
from everword.text.detect import DEFAULT
from everword.text.escaping import named_byline, person_byline, plain_name
from everword.text.names import fold_name

IMPORTANT = 0.5  # less important facts are found by search, and not shown in every context
LESSER_FACTS = 2  # facts of little importance that a context shows, if they have to do with the message
SPEAKERS = 12  # messages of a channel whose authors a context tells about
LAST = len(FACT_CATEGORIES) + 2  # the position of digests: after all facts
ANY_DAY = date(2000, 1, 1)  # whether a text is an instruction does not depend on the day
CLAIMS = 50  # statements of others about a person that are shown, the newest ones
LINE = 300  # characters of a line, about: a key with many values takes several lines, so that some fit a small budget


def last_speakers(messages: Sequence[Message]) -> list[str]:
    """Those who wrote the last messages of a channel, the last one first."""
    return list(dict.fromkeys(message.author for message in reversed(messages[-SPEAKERS:]) if message.role == "user"))


def context_notes(
    tx: Tx,
    space: str,
    person: str | None,
    viewer: Viewer,
    now: datetime,
    facts_by_person: stored_facts.FactsByPerson,
    speaker: tuple[str, MergedDigest] | None,
    query: str,
    language: str = DEFAULT,
) -> list[Note]:
    """Notes about the person of a chat, or about those whose facts are given for a channel; what a query is about comes
    first. What is not of a value is in a language."""
    if person is not None:
        return person_notes(tx, space, person, viewer, now, query, facts_by_person, language)
    return group_notes(tx, space, facts_by_person, viewer, now, speaker, query, facts_by_person, language)


def name_notes(state: ContextState, told: Mapping[str, str], person: str | None, notes: Sequence[Note]) -> list[Note]:
    """A line for whoever has another name beside the one they are shown by: what they call themselves, and the id if
    the message has it. In a chat with one person, who that is, unless the notes say it already. `told` is what people
    call themselves, by id."""
    lines: list[Note] = []
    names = state.names
    for id in sorted(state.people | ({person} if person is not None else set())):
        others = other_names(id, names.get(id, id), told.get(id, ""), state.text)
        is_named = id == person and (id in names or bool(authors_in(state.text, {id: [id]})))
        if others or (is_named and not any(names.get(id, id) in note.text for note in notes)):
            label = state.labels.get(("user", id)) or named_byline(id, names.get(id))
            text = f"{label} ({', '.join(others)})" if others else label
            text = f"The user is {text}." if id == person else text
            lines.append(Note("names", text, "who is who", "People", (-1, text)))
    return lines


def other_names(id: str, name: str, told: str, query: str) -> list[str]:
    """What else somebody is called who is shown by a name: by themselves, and in the query."""
    others = [f"goes by {plain_name(told)}"] if told and fold_name(told) != fold_name(name) else []
    return [*others, *([f"id {plain_name(id)}"] if id != name and authors_in(query, {id: [id]}) else [])]


def person_notes(
    tx: Tx,
    space: str,
    person: str,
    viewer: Viewer,
    now: datetime,
    query: str = "",
    facts_by_person: stored_facts.FactsByPerson = MappingProxyType({}),
    language: str = DEFAULT,
) -> list[Note]:
    """What a chat with one person shows of them, the most important first. What they said themselves comes first, so
    that what others say takes no room from it; of what others say, the newest comes first. `facts_by_person` are facts
    that are read already."""
    all_facts, all_statements = knowledge_for_viewer(tx, space, person, viewer, now, facts_by_person)
    shown_facts, asked_ids = facts_to_show(all_facts, query)
    all_statements = statements_beside(tx, all_statements, shown_facts)
    facts, statements = own_knowledge(shown_facts, all_statements)
    other_facts, other_statements = claims_in(shown_facts, all_statements)
    return [
        *lines_of_facts(facts, asked_ids, language=language),
        *statement_notes(statements),
        *lines_of_facts(other_facts, asked_ids, language=language),
        *reversed(statement_notes(other_statements)),
    ]


def profile_of(tx: Tx, space: str, person: str, viewer: Viewer, now: datetime) -> Profile:
    """What is known of a person, with the text that a chat of theirs would show."""
    facts, statements = knowledge_for_viewer(tx, space, person, viewer, now)
    text = profile_text(facts, statements_beside(tx, statements, facts))
    return Profile(person, stored_facts.own_name(tx, space, person), tuple(facts), tuple(statements), text)


def knowledge_for_viewer(
    tx: Tx,
    space: str,
    person: str,
    viewer: Viewer,
    now: datetime,
    facts_by_person: stored_facts.FactsByPerson = MappingProxyType({}),
) -> tuple[list[Fact], list[Statement]]:
    """What a viewer may be shown of a person now, with what has ended and still says something of them."""
    statements = [
        statement
        for statement in stored_facts.statements_of(tx, space, person)
        if statement.is_shown_at(now) and viewer.sees(statement)
    ]
    facts = facts_for_viewer(tx, space, person, viewer, now, facts_by_person)
    return with_past_facts(tx, space, person, viewer, facts), hide_private_names(tx, statements, viewer)


def facts_for_viewer(
    tx: Tx,
    space: str,
    person: str,
    viewer: Viewer,
    now: datetime,
    facts_by_person: stored_facts.FactsByPerson = MappingProxyType({}),
) -> list[Fact]:
    """The facts of a person that a viewer may be shown, as they hold now: a plan whose day has come is a fact. Where
    the viewer did not hear the day, it stays a plan: else the day could be guessed from it."""
    facts = (facts_by_person or stored_facts.active_facts_by_person(tx, space, [person])).get(person, ())
    visible_facts = [fact for fact in facts if viewer.sees(fact)]
    return facts_now(hide_private_dates(tx, space, visible_facts, viewer), now)


def with_past_facts(tx: Tx, space: str, person: str, viewer: Viewer, facts: Sequence[Fact]) -> list[Fact]:
    """The facts of a person that a viewer is shown, with what has ended and still says something of the person."""
    past = [fact for fact in past_facts(stored_facts.ended_facts(tx, space, person), facts) if viewer.sees(fact)]
    return [*facts, *hide_private_dates(tx, space, past, viewer)]


def profile_text(
    facts: Sequence[Fact],
    statements: Iterable[Statement],
    names: Mapping[str, str] = MappingProxyType({}),
    language: str = DEFAULT,
) -> str:
    """All facts and statements as lines under headings in a language. `names` are those of people who say something, by
    id."""
    lines: list[str] = []
    heading = ""
    notes = [*fact_notes(facts, least=0.0, language=language), *statement_notes(statements)]
    for note in sorted(notes, key=lambda note: note.place):
        if note.heading != heading:
            heading = note.heading
            lines.append(language_packs.heading(language, heading))
        lines.append(f"- {note_text(note, names)}")
    return "\n".join(lines)


def group_notes(
    tx: Tx,
    space: str,
    people: Iterable[str],
    viewer: Viewer,
    now: datetime,
    speaker: tuple[str, MergedDigest] | None = None,
    query: str = "",
    facts_by_person: stored_facts.FactsByPerson = MappingProxyType({}),
    language: str = DEFAULT,
) -> list[Note]:
    """What a channel shows of those who speak in it: only what was said in it; what others say of them comes last. Of
    the `speaker` it also shows what they did lately: merged with what is known if a model did that, or separately."""
    member_notes: list[Note] = []
    claims: list[Note] = []
    for number, person in enumerate(people):
        merged_digest = speaker[1] if speaker is not None and speaker[0] == person else None
        facts = facts_for_viewer(tx, space, person, viewer, now, facts_by_person)
        own_facts = [fact for fact in facts if not is_claim(fact)]
        about = partial(fact_notes, name=person, number=number, query=query, language=language)
        claims += about([fact for fact in facts if is_claim(fact)])
        if merged_digest is not None and merged_digest.made_by == "model":
            member_notes.append(
                Note(person, merged_digest.text, "merged", "In short", (number, "", -1, 0.0, "", 0), person)
            )
            merged_text = merged_digest.text.casefold()
            own_facts = [fact for fact in own_facts if fact.value.casefold() not in merged_text]
        member_notes += about(own_facts)
        if merged_digest is not None and merged_digest.made_by != "model":
            member_notes += digest_notes(merged_digest, person, number)
    return [*member_notes, *claims]


def digest_notes(merged_digest: MergedDigest, person: str, number: int) -> list[Note]:
    """What a member did today and in the days before, on separate lines."""
    titled_digests = (("Today", merged_digest.today), ("In the last days", merged_digest.history))
    return [
        Note(
            f"{digest.kind} {digest.day}",
            digest.text,
            "digest",
            title,
            (number, "", LAST, 0.0, title, 0),
            person,
        )
        for title, digest in titled_digests
        if digest is not None and digest.text
    ]


def channel_profile(tx: Tx, space: str, person: str, viewer: Viewer, now: datetime) -> tuple[str, str]:
    """What a person is called in a channel, and what they said of themselves there, as far as it does not expire: it is
    merged with digests, which stay."""
    facts, all_statements = own_knowledge(*knowledge_for_viewer(tx, space, person, viewer, now))
    statements = [statement for statement in all_statements if statement.expires_at is None]
    return stored_facts.public_name(tx, space, person), profile_text(facts, statements_beside(tx, statements, facts))


def own_knowledge(facts: Iterable[Fact], statements: Iterable[Statement]) -> tuple[list[Fact], list[Statement]]:
    """What a person said of themselves. Only this is merged with digests: a model that rewords it may leave out who
    said what."""
    return list(filterfalse(is_claim, facts)), list(filterfalse(is_claim, statements))


def claims_in(facts: Iterable[Fact], statements: Iterable[Statement]) -> tuple[list[Fact], list[Statement]]:
    """What others say of a person."""
    return list(filter(is_claim, facts)), list(filter(is_claim, statements))


def hide_private_names(tx: Tx, statements: Sequence[Statement], viewer: Viewer) -> list[Statement]:
    """Statements about one person as a viewer may see them: in what the person said, their private name is replaced by
    the name they have there. What others say stays as it is: a replaced name would reveal that it is the person's."""
    own_statement = next((statement for statement in statements if not is_claim(statement)), None)
    if own_statement is None or own_statement.user == viewer.person:
        return list(statements)
    private_name = stored_facts.own_name(tx, own_statement.space, own_statement.user)
    name = stored_facts.name_for(tx, own_statement.space, own_statement.user, viewer)
    if private_name == name:
        return list(statements)
    name_pattern = re.compile(rf"(?<!\w){re.escape(private_name)}(?!\w)")
    return [
        statement if is_claim(statement) else replace(statement, text=name_pattern.sub(lambda _: name, statement.text))
        for statement in statements
    ]


def may_tell_day(fact: Fact) -> bool:
    return has_dates(fact) or (len(fact.sources) > 1 and is_occasion(fact))


def times_heard(tx: Tx, space: str, ids: Collection[str], viewer: Viewer) -> dict[str, datetime]:
    """When the viewer heard each of these messages, of those that they heard."""
    messages = tx.find_messages(space, ids=sorted(ids), damaged=warn_of_damage)
    places = {message.conversation for message in messages}
    heard_places = {place for place in places if stored_facts.hears_channel(tx, space, place, viewer)}
    return {message.id: message.time for message in messages if message.conversation in heard_places}


def hide_private_dates(tx: Tx, space: str, facts: Sequence[Fact], viewer: Viewer) -> list[Fact]:
    """Facts as a viewer may see them: without dates that may have been said where the viewer did not hear them, and as
    said when the viewer first heard it."""
    dated_facts = [fact for fact in facts if fact.speaker != viewer.person and may_tell_day(fact)]
    if not dated_facts:
        return list(facts)
    heard_at = times_heard(tx, space, {id for fact in dated_facts for id in fact.sources}, viewer)
    ids_to_undate = {
        fact.id for fact in dated_facts if len(fact.sources) >= MAX_SOURCES or not heard_at.keys() >= set(fact.sources)
    }
    return [undate(fact, heard_at) if fact.id in ids_to_undate else fact for fact in facts]


def undate(fact: Fact, heard_at: Mapping[str, datetime]) -> Fact:
    """A fact without its dates, first said in the first of its sources that was heard."""
    times = [heard_at[id] for id in fact.sources if id in heard_at]
    return replace(fact, valid_from=None, valid_to=None, recorded_at=min(times, default=fact.said_at))


def has_dates(fact: Fact) -> bool:
    """Whether somebody said since when or until when a fact holds."""
    return fact.valid_from not in (None, fact.recorded_at, fact.said_at) or fact.valid_to is not None


def statement_notes(statements: Iterable[Statement]) -> list[Note]:
    """Statements that somebody asked to remember, in order: by the person themselves, and by others, who are named. Of
    what others say only the newest, without what says how to answer."""
    all_statements = list(statements)
    claim_ids = [statement.id for statement in all_statements if is_claim(statement)]
    old_claim_ids = set(claim_ids[:-CLAIMS])
    statement_lines: list[Note] = []
    for position, statement in enumerate(all_statements):
        from_other = is_claim(statement)
        if statement.id in old_claim_ids or (from_other and says_how_to_answer(statement.user, statement.text)):
            continue
        heading = "Said by others" if from_other else "Remembered"
        rank = (0, "", len(FACT_CATEGORIES) + from_other, 0.0, f"{position:06}")
        speaker = statement.speaker if from_other else ""
        statement_lines.append(Note(statement.id, statement.text, "remembered", heading, rank, speaker=speaker))
    return statement_lines


def text_with_speaker(item: Fact | Statement, text: str) -> str:
    """A line that begins with who says it, if that is somebody else: no text in it can look like another's words."""
    return f"says {person_byline(item.speaker)}: {text}" if is_claim(item) else text


def note_text(note: Note, names: Mapping[str, str]) -> str:
    """The line of a note, where no context has a label for whoever says it."""
    return f"says {person_byline(note.speaker, names.get(note.speaker))}: {note.text}" if note.speaker else note.text


@lru_cache(maxsize=4096)
def says_how_to_answer(person: str, text: str) -> bool:
    """Whether words about a person say how to answer: only the person themselves may say that."""
    if is_about_answering(text):
        return True
    facts = (*find_facts(text, ANY_DAY), *parse_statement(person, text).facts)
    return any(fact.category == "instruction" for fact in facts)


def statements_beside(tx: Tx, statements: Sequence[Statement], facts: Sequence[Fact]) -> list[Statement]:
    """The statements that say something beside the facts that are shown: what was remembered is shown once."""
    names: dict[str, str] = {}
    others = list[Statement]()
    for statement in statements:
        person = statement.user
        if person not in names:
            names[person] = stored_facts.own_name(tx, statement.space, person)
        name = names[person]
        if not stored_facts.begins_with_name(statement.text, name):
            name = stored_facts.name_in_statement(tx, statement)
        own_facts = [fact for fact in facts if (fact.user, fact.speaker) == (person, statement.speaker)]
        if not is_said_by_facts(parse_statement(name, statement.text), own_facts):
            others.append(statement)
    return others


def facts_to_show(facts: Sequence[Fact], query: str, least: float = IMPORTANT) -> tuple[list[Fact], set[str]]:
    """The facts that are important, in the order in which they are shown (instructions, then the most important), and
    after them the few others that a query is about; and the ids of all that it is about. What others say how to answer
    is left out."""
    relevances = fact_relevances(query, facts).tolist() if query else [0.0] * len(facts)
    lasting: list[Fact] = []
    lesser: list[tuple[float, Fact]] = []
    for fact, relevance in zip(facts, relevances, strict=True):
        if is_claim(fact) and is_about_answering(f"{fact.key} {fact.value}"):
            continue
        if fact.importance >= least or lasts(fact):
            lasting.append(fact)
        elif query and relevance >= FLOOR:
            lesser.append((-relevance, fact))
    lasting.sort(key=lambda fact: (fact.category != "instruction", importance_rank(fact)))
    lesser.sort(key=lambda pair: (pair[0], importance_rank(pair[1])))
    # The messages that the lesser ones come from may be retrieved as well.
    nearest = [fact for _, fact in lesser[:LESSER_FACTS]]
    asked = {fact.id for fact, relevance in zip(facts, relevances, strict=True) if query and relevance >= FLOOR}
    return [*lasting, *nearest], asked


def lasts(fact: Fact) -> bool:
    """Whether every context shows a fact: it is important, or says how to answer."""
    return fact.importance >= IMPORTANT or fact.category == "instruction"


def fact_notes(
    facts: Sequence[Fact],
    *,
    name: str = "",
    number: int = 0,
    least: float = IMPORTANT,
    query: str = "",
    language: str = DEFAULT,
) -> list[Note]:
    """One line for each key and speaker, or several if it has many values; the most important first."""
    shown_facts, asked_ids = facts_to_show(facts, query, least)
    return lines_of_facts(shown_facts, asked_ids, name=name, number=number, language=language)


def lines_of_facts(
    ranked_facts: Sequence[Fact],
    asked_ids: Collection[str],
    *,
    name: str = "",
    number: int = 0,
    language: str = DEFAULT,
) -> list[Note]:
    """Facts as notes, in the order of the first fact of each. What every context shows is not on one line with what
    only this message is about."""
    groups: dict[tuple[str, str, str, str, bool], list[Fact]] = {}
    ranks = {fact.id: rank for rank, fact in enumerate(ranked_facts)}
    for fact in ranked_facts:
        group = (fact.subject or "", fact.category, fact.key, fact.speaker, lasts(fact))
        groups.setdefault(group, []).append(fact)
    fact_lines = list[Note]()
    for (subject, category, key, _, is_lasting), values in groups.items():
        heading = f"About {subject}" if subject else HEADINGS[category]
        for line_facts in split_into_lines(values):
            place = (
                number,
                subject,
                FACT_CATEGORIES.index(line_facts[0].category),
                -line_facts[0].importance,
                key,
                len(fact_lines),
            )
            shown_values = [value_with_days(fact, language) for fact in line_facts]
            line_key = language_packs.key_label(language, key)
            text = "; ".join(shown_values) if key == category else f"{line_key}: {', '.join(shown_values)}"
            reason = f"known, importance {line_facts[0].importance:.1f}"
            speaker = line_facts[0].speaker if is_claim(line_facts[0]) else ""
            is_asked = any(fact.id in asked_ids for fact in line_facts)
            note = Note(line_facts[0].id, text, reason, heading, place, name, speaker, is_lasting, is_asked)
            fact_lines.append(note)
    return sorted(fact_lines, key=lambda note: ranks[note.id])


def split_into_lines(values: Sequence[Fact]) -> Iterator[list[Fact]]:
    """The values of a key, in groups that each fit on a line."""
    line_facts: list[Fact] = []
    size = 0
    for fact in values:
        length = len(value_with_days(fact))
        if line_facts and size + length > LINE:
            yield line_facts
            line_facts = []
            size = 0
        line_facts.append(fact)
        size += length
    if line_facts:
        yield line_facts
