"""Looks up who reads what is shown: the channels a person has spoken in, and what the person is called there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from everword.facts.tables.facts import TABLE, to_fact
from everword.log.access import Viewer, is_claim
from everword.model import Fact, Message, Statement
from everword.model.people import clean_name
from everword.ports import Tx

FactsByPerson = Mapping[str, Sequence[Fact]]

PEOPLE = "people"
CHANNEL = "channel"  # the kind of a row that says in which channel somebody has spoken


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
    """What to call a person to a viewer: their display name, the name they said, or their id. A name that they said in
    a channel may be used in the whole space, one that they said in private may not, and what somebody else calls them
    is never used."""
    rows = tx.rows(PEOPLE, where={"space": space, "user_id": person, "kind": "display"})
    if rows:
        return str(max(rows, key=lambda row: (row["seen"] or row["since"], row["name"]))["name"])
    return told_name(tx, space, person, viewer) or person


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
    facts += map(to_fact, tx.rows(TABLE, where=where) if others else ())
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
    latest_names: dict[str, tuple[datetime, str]] = {}
    where = {"space": space, "user_id": tuple(ids), "kind": "display"}
    rows = tx.rows(PEOPLE, where=where) if ids else []
    for row in rows:
        name = (row["seen"] or row["since"], str(row["name"]))
        latest_names[row["user_id"]] = max(latest_names.get(row["user_id"], name), name)
    names = {person: name for person, (_, name) in latest_names.items()}
    for message in own_messages:
        name_given = clean_name(message.metadata.get("name"))
        if message.role == "user" and message.author not in latest_names and name_given:
            names[message.author] = name_given
    names |= told_names(tx, space, [person for person in ids if person not in names], viewer, facts_by_person)
    return {person: name for person, name in names.items() if name and name != person}


def public_name(tx: Tx, space: str, person: str) -> str:
    """What a person is called in public."""
    return name_for(tx, space, person, Viewer())


def own_name(tx: Tx, space: str, person: str) -> str:
    """What a person is called in their own chats."""
    return name_for(tx, space, person, Viewer(person))
