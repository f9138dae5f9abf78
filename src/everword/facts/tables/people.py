"""Statements about people as rows, and the names they go by.

A profile is the active statements about one person, in the order they were first said. A request to forget is a row
too, so that facts that are rebuilt from the log stay forgotten.

The memory's own answers to commands repeat what people said elsewhere. A row names the messages that an answer repeats:
whoever removes such a message removes the answer with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from everword.facts.rules.statements import contradicts, facts_not_restated, parse_statement, says_same
from everword.facts.tables.facts import facts_with_keys
from everword.facts.tables.findings import keys_of_slots, slot_of
from everword.facts.viewers import (
    CHANNEL,
    PEOPLE,
    channels_spoken_in,
    is_channel,
    name_for,
    speakers_in,
    viewer_of_statement,
)
from everword.log.access import Viewer, is_claim
from everword.log.tables import warn_of_damage
from everword.model import Answer, Fact, Member, Message, Name, Statement
from everword.model.people import clean_name
from everword.ports import Tx

TABLE = "statements"
SAID = "statement"
FORGET = "forget"
CHANGE = "change"  # of a fact, by hand: what was decided is in the metadata of the message
DENIAL = "denial"  # a change that edits or deletes a fact: it denies the findings that its sources name
CHANGES = (CHANGE, DENIAL)
SHOWN_BY_PLATFORM = ("display", "mention")  # names that only the platform sets, not the person's own API key
KINDS = (*SHOWN_BY_PLATFORM, "nickname", "alias")


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
    rows = tx.rows(TABLE, where=where | {"active": 1} if active else where)
    return sorted(map(to_statement, rows), key=lambda statement: (statement.said_at, statement.id))


def put_statements(tx: Tx, statements: Iterable[Statement], kind: str = SAID) -> None:
    tx.put(TABLE, [statement_row(statement) | {"kind": kind} for statement in statements])


NAMES = tuple(field.name for field in fields(Statement) if field.name not in ("user", "active"))


def statement_row(statement: Statement) -> dict[str, Any]:
    return {name: getattr(statement, name) for name in NAMES} | {
        "user_id": statement.user,
        "active": int(statement.active),
    }


def to_statement(row: Mapping[str, Any]) -> Statement:
    return Statement(**{name: row[name] for name in NAMES}, user=row["user_id"], active=bool(row["active"]))


def statements_in(
    tx: Tx, messages: Iterable[Message], *, kind: str | tuple[str, ...] = SAID
) -> list[tuple[Message, Statement]]:
    """The statements these messages asked to remember, about anybody, active or not; each with its message. Those that
    expire are left out: no fact rests on them."""
    messages_by_id = {message.id: message for message in messages if message.role == "user" and message.is_lasting}
    pairs = list[tuple[Message, Statement]]()
    for space, author in sorted({(message.space, message.author) for message in messages_by_id.values()}):
        rows = tx.rows(TABLE, where={"space": space, "speaker": author, "kind": kind})
        pairs += [
            (messages_by_id[id], statement)
            for statement in map(to_statement, rows)
            for id in statement.sources
            if id in messages_by_id and statement.expires_at is None
        ]
    return pairs


def may_give_way(old: Statement, new: Statement) -> bool:
    """Whether a new statement may retire an old one: by the same speaker, or if it is the person's own word against
    what others said in the same channel. Statements of other audiences stay: if one disappeared, others would learn
    that something was said in private."""
    heard_both = old.audience is not None and old.audience == new.audience
    return old.speaker == new.speaker or (not is_claim(new) and heard_both)


def weigh_across_audiences(
    name: str, new: Statement, others: Iterable[Statement]
) -> tuple[list[Statement], Statement | None]:
    """What a new statement does to those of another audience: rows to store, and the one that already says the same.

    The newer one wins here, too, but no text moves to another audience: the rest of a private statement stays private.
    """
    new_reading = parse_statement(name, new.text)
    rows = list[Statement]()
    for old in (old for old in others if may_give_way(old, new)):
        old_reading = parse_statement(name, old.text)
        if contradicts(old_reading, new_reading):
            rows.append(replace(old, active=False, retired_at=new.said_at, retired_by=new.id))
            remaining_texts = facts_not_restated(old_reading, [new_reading])
            rows += [replace(old, id=f"{old.id}.{number}", text=text) for number, text in enumerate(remaining_texts, 1)]
        elif old.expires_at is not None:  # the new one stands longer, or at least is newer
            if says_same(new_reading, old_reading):
                rows.append(replace(old, active=False, retired_at=new.said_at, retired_by=new.id))
        elif new.audience is None and old.speaker == new.speaker and says_same(old_reading, new_reading):
            return [], old
        elif new.audience is not None and says_same(new_reading, old_reading):
            rows.append(replace(old, active=False, retired_at=new.said_at, retired_by=new.id))
    return rows, None


def retire_contradicted_statements(
    tx: Tx, space: str, person: str, retired_facts: Sequence[Fact], when: datetime
) -> None:
    """Retire the statements that say the same as facts that were retired: the speaker's newer word wins, whether it
    came as a statement or as a fact."""
    if not retired_facts:
        return
    candidates = [statement for statement in statements_of(tx, space, person) if statement.said_at <= when]
    if not candidates:
        return
    active_senses = {
        fact_sense(fact)
        for category, keys in keys_of_slots({slot_of(fact) for fact in retired_facts})
        for fact in facts_with_keys(tx, space, person, category, keys)
        if fact.active
    }
    lost_senses = {fact_sense(fact) for fact in retired_facts} - active_senses
    put_statements(
        tx,
        [
            replace(statement, active=False, retired_at=when, retired_by=retired_facts[0].retired_by)
            for statement in candidates
            if any(
                (statement.speaker, fact.category, fact.key, fact.value.casefold()) in lost_senses
                for fact in parse_statement(name_in_statement(tx, statement), statement.text).facts
            )
        ],
    )


def fact_sense(fact: Fact) -> tuple[str, str, str, str]:
    """Who said a fact, and what it says."""
    return fact.speaker, fact.category, fact.key, fact.value.casefold()


def name_in_statement(tx: Tx, statement: Statement) -> str:
    """The name that a statement uses for its person: their current name where it was said, or an earlier one."""
    name = name_for(tx, statement.space, statement.user, viewer_of_statement(tx, statement))
    if begins_with_name(statement.text, name):
        return name
    rows = tx.rows(PEOPLE, where={"space": statement.space, "user_id": statement.user, "kind": KINDS})
    earlier_names = (statement.user, *(row["name"] for row in rows))
    return next(
        (earlier_name for earlier_name in earlier_names if begins_with_name(statement.text, earlier_name)), name
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
        speakers |= {row["user_id"] for row in tx.rows(TABLE, where={"space": space, "speaker": viewer.person})}
    return [member for member in members_of(tx, space) if member.names or member.id in speakers]


def members_of(tx: Tx, space: str) -> list[Member]:
    """Everybody who has a name in a space, or has spoken in it."""
    names_by_person: dict[str, list[Name]] = {}
    for row in tx.rows(PEOPLE, where={"space": space}):
        names = names_by_person.setdefault(row["user_id"], [])
        if row["kind"] in KINDS:
            names.append(Name(row["name"], row["kind"], row["since"], row["seen"]))
    return [Member(person, tuple(names)) for person, names in names_by_person.items()]


def note_people(tx: Tx, messages: Iterable[Message]) -> None:
    """Register the authors of messages as members of their space; in channels, also their display names. In a chat with
    one person a display name is private, and stays in the log."""
    user_messages = [message for message in messages if message.role == "user" and message.is_lasting]
    is_public = {
        place: is_channel(tx, *place) for place in {(message.space, message.conversation) for message in user_messages}
    }
    for space, person in sorted({(message.space, message.author) for message in user_messages}):
        own_messages = [message for message in user_messages if (message.space, message.author) == (space, person)]
        if not tx.rows(PEOPLE, limit=1, where={"space": space, "user_id": person, "kind": "id"}):
            first_time = min(message.time for message in own_messages)
            tx.put(PEOPLE, [name_row(space, person, "id", person, first_time) | {"seen": None}])
        note_channels(
            tx, space, person, [message for message in own_messages if is_public[space, message.conversation]]
        )
        times_by_name: dict[str, list[datetime]] = {}
        for message in own_messages:
            if is_public[space, message.conversation] and (name := display_name(message)):
                times_by_name.setdefault(name, []).append(message.time)
        for name, times in times_by_name.items():
            put_name(tx, space, person, "display", name, min(times), max(times))


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
AT_ONCE = 500  # authors in one query


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
        for start in range(0, len(authors), AT_ONCE)
        for row in tx.rows(
            TABLE, where={"space": space, "speaker": tuple(authors[start : start + AT_ONCE]), "kind": ANSWER}
        )
        if not ids.isdisjoint(row["sources"])
    }
    answers = tx.find_messages(space, ids=sorted(answer_ids), damaged=warn_of_damage) if answer_ids else []
    return [message for message in answers if not message.erased]


def drop_notes(tx: Tx, space: str, messages: Iterable[Message]) -> None:
    """Drop what is noted of answers that are removed."""
    ids = [message.id for message in messages if message.id and message.role == "assistant"]
    for start in range(0, len(ids), AT_ONCE):
        where = {"space": space, "kind": ANSWER, "id": tuple(ids[start : start + AT_ONCE])}
        for row in tx.rows(TABLE, where=where):
            tx.remove(TABLE, {name: row[name] for name in ("space", "user_id", "id")})
