"""What is kept of people, as rows: facts, statements, and names; and who may see what is kept.

Facts and statements are read here and stored, and decided elsewhere. A profile is the active statements about one
person, in the order they were first said. A request to forget is a row too, so that facts that are rebuilt from the log
stay forgotten.

A viewer is who reads what is shown: a person alone, with the channels they have spoken in, or all who read a channel.
What a person is called depends on the viewer.

The memory's own answers to commands repeat what people said elsewhere. A row names the messages that an answer repeats:
whoever removes such a message removes the answer with it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from everword.log.access import Viewer, is_claim
from everword.log.append_and_read import NAME_KINDS, PEOPLE, PRIVATE, name_rows, warn_of_damage
from everword.model import Answer, Fact, Member, Message, Name, Statement
from everword.model.people import clean_name
from everword.ports import WHOLE_SPACE, Tx
from everword.text.escaping import RESERVED
from everword.text.names import fold_name
from everword.word_lists import lazy_pattern

FACTS = "facts"


def facts_of(tx: Tx, space: str, person: str, *, active: bool = False, **columns: Any) -> list[Fact]:
    """The facts about a person, in order of id: if asked for, only those that hold now, or that have these values in
    their columns."""
    where = {"space": space, "user_id": person, **columns}
    return [to_fact(row) for row in tx.rows(FACTS, where=where | {"active": 1} if active else where)]


def active_facts_by_person(tx: Tx, space: str, people: Iterable[str]) -> dict[str, list[Fact]]:
    """The facts that hold now about each of some people, in order of id. They are read at once, and nobody changes
    them."""
    names = tuple(dict.fromkeys(people))

    def read_facts() -> dict[str, list[Fact]]:
        facts: dict[str, list[Fact]] = {person: [] for person in names}
        for row in tx.rows(FACTS, where={"space": space, "user_id": names, "active": 1}):
            facts[row["user_id"]].append(to_fact(row))
        return facts

    scope = FACTS, space, names[0] if len(names) == 1 else WHOLE_SPACE
    return tx.cache.get(tx, scope, names, read_facts) if names else {}


def ended_facts(tx: Tx, space: str, person: str) -> list[Fact]:
    """The facts about a person that have ended: not what was replaced, denied or forgotten."""
    where = {"space": space, "user_id": person, "active": 0, "retired_by": None}
    scope = FACTS, space, person
    return tx.cache.get(tx, scope, "ended", lambda: [to_fact(row) for row in tx.rows(FACTS, where=where)])


def facts_in(tx: Tx, space: str, people: Collection[str] | None = None) -> list[Fact]:
    """The facts of a space that hold now; of these people, if given."""
    where: dict[str, Any] = {"space": space, "active": 1}
    if people is not None:
        where["user_id"] = tuple(sorted(people))
    return [] if people is not None and not people else [to_fact(row) for row in tx.rows(FACTS, where=where)]


def people_told_of(tx: Tx, space: str, conversation: str) -> set[str]:
    """Those about whom facts may have been said in a conversation."""
    rows = tx.rows(FACTS, where={"space": space, "conversation": conversation}, columns=("user_id",))
    if speakers := speakers_in(tx, space, [conversation]):
        rows += tx.rows(FACTS, where={"space": space, "speaker": tuple(speakers)}, columns=("user_id",))
    return {row["user_id"] for row in rows}


def put_facts(tx: Tx, facts: Iterable[Fact]) -> None:
    tx.put(FACTS, [row_of(fact) for fact in facts])


def row_of(item: Fact | Statement) -> dict[str, Any]:
    row = {field.name: getattr(item, field.name) for field in fields(item)}
    row["user_id"] = row.pop("user")
    row["active"] = int(item.active)
    return row


def column_names(kind: type[Fact] | type[Statement]) -> list[str]:
    return ["user_id" if field.name == "user" else field.name for field in fields(kind)]


# A person may have a thousand: values are given in order, which takes half as long as by name.
get_fact_values = itemgetter(*column_names(Fact))
get_statement_values = itemgetter(*column_names(Statement))


def to_fact(row: Mapping[str, Any]) -> Fact:
    return Fact(*get_fact_values({**row, "active": bool(row["active"])}))


def to_statement(row: Mapping[str, Any]) -> Statement:
    return Statement(*get_statement_values({**row, "active": bool(row["active"])}))


# -- who sees what, and what people are called

FactsByPerson = Mapping[str, Sequence[Fact]]

CHANNEL = "channel"  # the kind of a row that says in which channel somebody has spoken
DISPLAYED = ("display", PRIVATE)
NAME_LIKE = lazy_pattern(r"[^\W\d_]+(?:[-'’. ]+[^\W\d_]+)*\.?")  # what reads as a name: letters alone


def channels_spoken_in(tx: Tx, space: str, person: str) -> frozenset[str]:
    """The channels in which a person has said something, as far as the messages have been processed."""
    rows = tx.rows(PEOPLE, where={"space": space, "user_id": person, "kind": CHANNEL})
    return frozenset(row["name"] for row in rows)


def speakers_in(tx: Tx, space: str, channels: Iterable[str]) -> set[str]:
    """Who has said something in one of these channels."""
    channel_names = tuple(channels)
    rows = tx.rows(PEOPLE, where={"space": space, "kind": CHANNEL, "name": channel_names}) if channel_names else []
    return {row["user_id"] for row in rows}


def viewer_alone(tx: Tx, space: str, person: str, *, shared: bool = False) -> Viewer:
    """A person who reads alone."""
    return Viewer(person, heard=channels_spoken_in(tx, space, person), shared=shared)


def viewer_of_chat(
    tx: Tx, space: str, conversation: str, owner: str | None, speaker: str, *, shared: bool = False
) -> Viewer:
    """Who reads the answer to a speaker's command: in a chat of their own they alone. A channel is read by all, and a
    chat with a guest by both: there only what was said in it is shown."""
    if owner is not None and owner == speaker:
        return viewer_alone(tx, space, speaker, shared=shared)
    return Viewer(channel=conversation, shared=shared and owner is None)


def viewer_of_statement(tx: Tx, statement: Statement) -> Viewer:
    """Who reads a statement: the channel that heard it, or the person who said it."""
    if statement.audience is not None:
        return Viewer(channel=statement.audience)
    return viewer_alone(tx, statement.space, statement.speaker)


def is_channel(tx: Tx, space: str, conversation: str) -> bool:
    """Whether a conversation is a channel, which many read, and not a chat with one person."""
    row = tx.conversation(space, conversation)
    return row is not None and row.user is None


def hears_channel(tx: Tx, space: str, conversation: str, viewer: Viewer) -> bool:
    """Whether what is said in a conversation is said in a channel that the viewer hears."""
    return is_channel(tx, space, conversation) and viewer.hears(conversation)


def name_for(tx: Tx, space: str, person: str, viewer: Viewer) -> str:
    """What to call a person to a viewer: their display name, or else what `known_name` chooses. A name that they said
    in a channel may be used in the whole space, one that they said in private may not, and what somebody else calls
    them is never used."""
    display_name = display_names(tx, space, [person], viewer).get(person)
    return display_name or known_name(person, told_name(tx, space, person, viewer))


def known_name(person: str, told: str) -> str:
    """What others know a person by who has no display name: the id, if it reads as a name; a name that they said of
    themselves takes the place of any other id, and of one that it only spells out: `alex`, "Alexandra"."""
    if not told:
        return person
    is_name = NAME_LIKE.fullmatch(person) is not None and RESERVED.fullmatch(person) is None
    is_longer = any(word.startswith(fold_name(person)) for word in (fold_name(told), *fold_name(told).split()))
    return told if is_longer or not is_name else person


def display_names(tx: Tx, space: str, people: Sequence[str], viewer: Viewer) -> dict[str, str]:
    """The display names that were seen last, by id. One that came in a chat with one person is for that person."""
    latest: dict[str, tuple[bool, datetime, str]] = {}
    for row in name_rows(tx, space, people):
        person = row["user_id"]
        is_public = row["kind"] != PRIVATE
        if row["kind"] in DISPLAYED and (is_public or viewer.person == person):
            name = (is_public, row["seen"] or row["since"], str(row["name"]))
            latest[person] = max(latest.get(person, name), name)
    return {person: name for person, (_, _, name) in latest.items()}


def told_name(tx: Tx, space: str, person: str, viewer: Viewer) -> str:
    """The name that a person said of themselves, if the viewer may see it; or nothing."""
    return told_names(tx, space, [person], viewer).get(person, "")


def told_names(
    tx: Tx, space: str, people: Sequence[str], viewer: Viewer, facts_by_person: FactsByPerson = MappingProxyType({})
) -> dict[str, str]:
    """The names that people said of themselves, by id, as far as the viewer may see them. `facts_by_person` are all
    facts of some of them that hold now, if they are read already."""
    names: dict[str, str] = {}
    others = tuple(person for person in people if person not in facts_by_person)
    where = {"space": space, "user_id": others, "active": 1, "key": "name"}
    facts = [fact for person in people for fact in facts_by_person.get(person, ()) if fact.key == "name"]
    facts += map(to_fact, tx.rows(FACTS, where=where) if others else ())
    for fact in facts:
        is_own = fact.subject is None and not is_claim(fact)
        if is_own and (fact.audience is not None or viewer.sees(fact)):
            names.setdefault(fact.user, fact.value)
    return names


def names_in_context(
    tx: Tx,
    space: str,
    people: Iterable[str],
    viewer: Viewer,
    own_messages: Iterable[Message] = (),
    facts_by_person: FactsByPerson = MappingProxyType({}),
) -> dict[str, str]:
    """What to call people to a viewer, by id; those without a name are left out. `own_messages` are of a chat with one
    person: the names that came with them are known in that chat, though nowhere else. `facts_by_person` are facts that
    are read already."""
    ids = sorted(set(people))
    names = display_names(tx, space, ids, viewer)
    for message in own_messages:
        if message.role == "user" and message.author not in names and (name := display_name(message)):
            names[message.author] = name
    others = [person for person in ids if person not in names]
    told = told_names(tx, space, others, viewer, facts_by_person)
    names |= {person: known_name(person, name) for person, name in told.items()}
    return {person: name for person, name in names.items() if name and name != person}


def public_name(tx: Tx, space: str, person: str) -> str:
    """What a person is called in public."""
    return name_for(tx, space, person, Viewer())


def own_name(tx: Tx, space: str, person: str) -> str:
    """What a person is called in their own chats."""
    return name_for(tx, space, person, Viewer(person))


# -- statements

STATEMENTS = "statements"
SAID = "statement"
FORGET = "forget"
CHANGE = "change"  # of a fact, by hand: what was decided is in the metadata of the message
DENIAL = "denial"  # a change that edits or deletes a fact: it denies the findings that its sources name
CHANGES = (CHANGE, DENIAL)


def statements_of(
    tx: Tx,
    space: str,
    person: str,
    *,
    kind: str | tuple[str, ...] = SAID,
    active: bool = True,
) -> list[Statement]:
    """The statements about a person, oldest first."""
    where: dict[str, Any] = {"space": space, "user_id": person, "kind": kind}
    rows = tx.rows(STATEMENTS, where=where | {"active": 1} if active else where)
    return sorted(map(to_statement, rows), key=lambda statement: (statement.said_at, statement.id))


def put_statements(tx: Tx, statements: Iterable[Statement], kind: str = SAID) -> None:
    tx.put(STATEMENTS, [row_of(statement) | {"kind": kind} for statement in statements])


def statements_in(
    tx: Tx, messages: Iterable[Message], *, kind: str | tuple[str, ...] = SAID
) -> list[tuple[Message, Statement]]:
    """The statements these messages asked to remember, about anybody, active or not; each with its message. Those that
    expire are left out: no fact rests on them."""
    messages_by_id = {message.id: message for message in messages if message.role == "user" and message.is_lasting}
    pairs = list[tuple[Message, Statement]]()
    for space, author in sorted({(message.space, message.author) for message in messages_by_id.values()}):
        rows = tx.rows(STATEMENTS, where={"space": space, "speaker": author, "kind": kind})
        pairs += [
            (messages_by_id[id], statement)
            for statement in map(to_statement, rows)
            for id in statement.sources
            if id in messages_by_id and statement.expires_at is None
        ]
    return pairs


def name_in_statement(tx: Tx, statement: Statement) -> str:
    """The name that a statement uses for its person: their current name where it was said, or an earlier one."""
    viewer = viewer_of_statement(tx, statement)
    name = name_for(tx, statement.space, statement.user, viewer)
    if begins_with_name(statement.text, name):
        return name
    rows = tx.rows(PEOPLE, where={"space": statement.space, "user_id": statement.user, "kind": (*NAME_KINDS, PRIVATE)})
    told = told_name(tx, statement.space, statement.user, viewer)
    earlier_names = (statement.user, told, *(row["name"] for row in rows))
    return next(
        (
            earlier_name
            for earlier_name in earlier_names
            if earlier_name and begins_with_name(statement.text, earlier_name)
        ),
        name,
    )


def begins_with_name(text: str, name: str) -> bool:
    """Whether a statement begins with a name."""
    return re.match(rf"{re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


# -- names


def members_known_to(tx: Tx, space: str, viewer: Viewer) -> list[Member]:
    """The members a viewer may know of: those with a name in the space, those who spoke in a channel the viewer hears,
    and those about whom the viewer stated something. Who spoke only in private is not among them."""
    channels = viewer.heard | ({viewer.channel} if viewer.channel else frozenset())
    speakers = speakers_in(tx, space, sorted(channels))
    if viewer.person is not None:
        speakers |= {row["user_id"] for row in tx.rows(STATEMENTS, where={"space": space, "speaker": viewer.person})}
    return [member for member in members_of(tx, space) if member.names or member.id in speakers]


def members_of(tx: Tx, space: str) -> list[Member]:
    """Everybody who has a name in a space, or has spoken in it."""
    names_by_person: dict[str, list[Name]] = {}
    for row in tx.rows(PEOPLE, where={"space": space}):
        names = names_by_person.setdefault(row["user_id"], [])
        if row["kind"] in NAME_KINDS:
            names.append(Name(row["name"], row["kind"], row["since"], row["seen"]))
    return [Member(person, tuple(names)) for person, names in names_by_person.items()]


def note_people(tx: Tx, messages: Iterable[Message]) -> None:
    """Register the authors of messages as members of their space, and their display names. In a chat with one person a
    display name is private."""
    user_messages = [message for message in messages if message.role == "user" and message.is_lasting]
    is_public = {
        place: is_channel(tx, *place) for place in {(message.space, message.conversation) for message in user_messages}
    }
    messages_by_person = defaultdict[tuple[str, str], list[Message]](list)
    for message in user_messages:
        messages_by_person[message.space, message.author].append(message)
    for (space, person), own_messages in sorted(messages_by_person.items()):
        first_time = min(message.time for message in own_messages)
        rows = tx.rows(PEOPLE, limit=1, where={"space": space, "user_id": person, "kind": "id"})
        if not rows or first_time < rows[0]["since"]:
            tx.put(PEOPLE, [name_row(space, person, "id", person, first_time) | {"seen": None}])
        note_channels(
            tx, space, person, [message for message in own_messages if is_public[space, message.conversation]]
        )
        put_display_names(tx, space, person, own_messages, is_public)


def put_display_names(
    tx: Tx, space: str, person: str, messages: Iterable[Message], is_public: Mapping[tuple[str, str], bool]
) -> None:
    times_by_name: dict[tuple[str, str], list[datetime]] = {}
    for message in messages:
        if name := display_name(message):
            kind = "display" if is_public[space, message.conversation] else PRIVATE
            times_by_name.setdefault((kind, name), []).append(message.time)
    for (kind, name), times in times_by_name.items():
        put_name(tx, space, person, kind, name, min(times), max(times))


def note_channels(tx: Tx, space: str, person: str, messages: Iterable[Message]) -> None:
    """Note in which channels a person has spoken: they may see what is said there."""
    first_times: dict[str, datetime] = {}
    for message in messages:
        first_times[message.conversation] = min(first_times.get(message.conversation, message.time), message.time)
    new_channels = first_times.keys() - channels_spoken_in(tx, space, person) if first_times else ()
    rows = [
        name_row(space, person, CHANNEL, channel, first_times[channel]) | {"seen": None}
        for channel in sorted(new_channels)
    ]
    tx.put(PEOPLE, rows)


def display_name(message: Message) -> str | None:
    """The author's display name: `name` in the metadata, as programs and exports give it."""
    return clean_name(message.metadata.get("name")) or None


def put_name(
    tx: Tx, space: str, person: str, kind: str, name: str, since: datetime, last_seen: datetime | None = None
) -> None:
    """Store a name of a person, used from `since` to `last_seen`; the result does not depend on the order of calls."""
    row = name_row(space, person, kind, name, since)
    existing_rows = tx.rows(PEOPLE, limit=1, where={key: row[key] for key in ("space", "user_id", "kind", "name")})
    last_time = last_seen or since
    if existing_rows:
        row["since"] = min(since, existing_rows[0]["since"])
        last_time = max(last_time, existing_rows[0]["seen"] or existing_rows[0]["since"])
    if not existing_rows or (row["since"], last_time) != (existing_rows[0]["since"], existing_rows[0]["seen"]):
        tx.put(PEOPLE, [row | {"seen": last_time}])


def name_row(space: str, person: str, kind: str, name: str, since: datetime) -> dict[str, Any]:
    return {"space": space, "user_id": person, "kind": kind, "name": name, "since": since}


ANSWER = "answer"
AT_ONCE = 500  # values in one query


def in_pages(values: Sequence[str]) -> Iterable[tuple[str, ...]]:
    """Values in portions that fit in one query."""
    return (tuple(values[start : start + AT_ONCE]) for start in range(0, len(values), AT_ONCE))


def ids_repeated(answer: Answer) -> set[str]:
    """The messages that an answer may repeat: the command itself, and what the memory knows by."""
    outcome = answer.forgotten
    knowledge: list[Statement | Fact] = [*answer.statements, *answer.facts]
    knowledge += [] if outcome is None else [*outcome.statements, *outcome.facts]
    return {answer.message.id, *(id for item in knowledge for id in item.sources)}


def note_repeated(tx: Tx, space: str, id: str, now: datetime, message_ids: Collection[str]) -> None:
    """Note that the answer with an id repeats these messages."""
    by_author: dict[str, list[str]] = {}
    for message in tx.find_messages(space, ids=sorted(message_ids), damaged=warn_of_damage):
        if not message.erased:
            by_author.setdefault(message.author, []).append(message.id)
    rows = [Statement(space, author, id, "", author, now, tuple(ids)) for author, ids in sorted(by_author.items())]
    put_statements(tx, rows, ANSWER)


def answers_repeating(tx: Tx, space: str, messages: Iterable[Message]) -> list[Message]:
    """The answers that repeat one of these messages, and are still there."""
    message_list = list(messages)
    ids = {message.id for message in message_list}
    authors = sorted({message.author for message in message_list if message.author})
    answer_ids = {
        row["id"]
        for page in in_pages(authors)
        for row in tx.rows(STATEMENTS, where={"space": space, "speaker": page, "kind": ANSWER})
        if not ids.isdisjoint(row["sources"])
    }
    answers = tx.find_messages(space, ids=sorted(answer_ids), damaged=warn_of_damage) if answer_ids else []
    return [message for message in answers if not message.erased]


def drop_notes(tx: Tx, space: str, messages: Iterable[Message]) -> None:
    """Drop what is noted of answers that are removed."""
    ids = [message.id for message in messages if message.id and message.role == "assistant"]
    for page in in_pages(ids):
        for row in tx.rows(STATEMENTS, where={"space": space, "kind": ANSWER, "id": page}):
            tx.remove(STATEMENTS, {name: row[name] for name in ("space", "user_id", "id")})
