"""Who reads what is shown, looked up: the channels a person has spoken in, and what a person is called there."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.engine.tables.facts import facts_of
from recollect.model import Statement
from recollect.ports import Tx
from recollect.rules.access import Viewer, is_claim

PEOPLE = "people"
CHANNEL = "channel"  # the kind of a row that says in which channel somebody has spoken


def channels_spoken_in(tx: Tx, space: str, person: str) -> frozenset[str]:
    """The channels in which a person has said something, as far as what was said has been read."""
    rows = tx.rows(PEOPLE, where={"space": space, "user_id": person, "kind": CHANNEL})
    return frozenset(row["name"] for row in rows)


def speakers_in(tx: Tx, space: str, channels: Iterable[str]) -> set[str]:
    """Who has said something in one of these channels."""
    named = tuple(channels)
    rows = tx.rows(PEOPLE, where={"space": space, "kind": CHANNEL, "name": named}) if named else []
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
    """Who reads a statement as it is worded: the channel that heard it, or whoever said it."""
    if statement.audience is not None:
        return Viewer(channel=statement.audience)
    return viewer_alone(tx, statement.space, statement.speaker)


def is_channel(tx: Tx, space: str, conversation: str) -> bool:
    """Whether many read a conversation: a chat with one person is none."""
    found = tx.conversation(space, conversation)
    return found is not None and found.user is None


def hears_channel(tx: Tx, space: str, conversation: str, viewer: Viewer) -> bool:
    """Whether what is said in a conversation is said in a channel that the viewer hears."""
    return is_channel(tx, space, conversation) and viewer.hears(conversation)


def name_for(tx: Tx, space: str, person: str, viewer: Viewer) -> str:
    """What to call a person before a viewer: as others see them, as they said, or by their id. A name that they said
    in a channel is the space's own; one that they told in private is not. What somebody else calls them is neither."""
    rows = tx.rows(PEOPLE, where={"space": space, "user_id": person, "kind": "display"})
    if rows:
        return str(max(rows, key=lambda row: (row["seen"] or row["since"], row["name"]))["name"])
    known = [fact for fact in facts_of(tx, space, person, active=True) if fact.key == "name" and fact.subject is None]
    own = [fact for fact in known if not is_claim(fact) and (fact.audience is not None or viewer.sees(fact))]
    return own[0].value if own else person


def public_name(tx: Tx, space: str, person: str) -> str:
    """What a person is called before many."""
    return name_for(tx, space, person, Viewer())


def own_name(tx: Tx, space: str, person: str) -> str:
    """What a person is called before themselves."""
    return name_for(tx, space, person, Viewer(person))
