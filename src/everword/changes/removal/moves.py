"""Takes the names of an erased person out of the moves that the log notes.

What others said can still be proved: a move of that person's messages concerns theirs alone, and those are erased. Only
messages that were the person's and are somebody else's now lose the proof of what they were; they stay in their chain.
The name of a conversation in which others still have messages stays, as it does without a move.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from everword.log.rules import compute_digest, erase_change, names_person, original_message
from everword.log.tables import CHANGES_TABLE, changes_of, every_message, to_change, to_row, warn_of_damage
from everword.model import Conversation, Filter, LogChange, Message
from everword.ports import Tx


def moves_naming(tx: Tx, space: str, user: str) -> list[LogChange]:
    """The moves in which a person's id is."""
    rows = tx.rows(CHANGES_TABLE, where={"space": space, "kind": "move"})
    return [change for change in map(to_change, rows) if not change.erased and names_user(change, user)]


def names_user(change: LogChange, user: str) -> bool:
    return is_of_person(change, [user]) or is_named_after(change, [user])


def is_named_after(change: LogChange, users: Collection[str]) -> bool:
    """Whether a move gave or took a conversation a name in which one of these persons is."""
    names = [values["conversation"] for values in (change.before, change.after) if "conversation" in values]
    return any(names_person(name, user) for name in names for user in users)


def is_of_person(change: LogChange, users: Collection[str]) -> bool:
    """Whether a move changed whose something is, and one of these persons was concerned."""
    values = (names.get(field) for names in (change.before, change.after) for field in ("person", "owner"))
    return any(value in users for value in values if value is not None)


def earlier_ids(changes: Iterable[LogChange], user: str) -> list[str]:
    """The ids that a person had before they became this one."""
    ids = {change.before["person"] for change in changes if change.after.get("person") == user}
    return sorted(ids - {None, user})


def erase_moves(tx: Tx, space: str, users: Collection[str], conversations: Iterable[Conversation], erasure: str) -> int:
    """Erase the moves that name one of these persons, and all moves of conversations in which nothing is left. Returns
    how many."""
    count = 0
    for conversation in conversations:
        changes = changes_of(tx, conversation)
        moves = [change for change in changes if change.kind == "move" and not change.erased]
        if moves:
            where = Filter(space, conversation=conversation.id)
            standing = [message for message in every_message(tx, where, warn_of_damage) if not message.erased]
            erased = erase_moves_of(changes, moves, users, standing)
            tx.put(CHANGES_TABLE, [to_row(change, erasure) for change in erased])
            count += len(erased)
    return count


def erase_moves_of(
    changes: Sequence[LogChange], moves: Sequence[LogChange], users: Collection[str], standing: Sequence[Message]
) -> list[LogChange]:
    """The moves of one conversation that are erased, as what is left of them. One that gave the conversation its name
    stays for what others said there before, unless the name was taken back."""
    numbers = {change.number for change in moves if is_of_person(change, users)}
    unproved = unproved_turns(changes, numbers, standing)
    renaming = {change.number for change in moves if is_named_after(change, users)}
    if unproved_turns(changes, numbers | renaming, standing) == unproved:
        numbers |= renaming
    for change in moves:
        if all(message.turn in unproved for message in standing if message.turn <= change.before["upto"]):
            numbers.add(change.number)
    return [erase_change(change, unproved) for change in moves if change.number in numbers]


def unproved_turns(changes: Sequence[LogChange], erased: Collection[int], standing: Sequence[Message]) -> set[int]:
    """The messages that cannot be proved without the changes of these numbers."""
    rest = [erase_change(change) if change.number in erased else change for change in changes]
    return {message.turn for message in standing if not is_proved(message, rest)}


def is_proved(message: Message, changes: Sequence[LogChange]) -> bool:
    """Whether a message can be proved by its seal; also where an erased edit has taken that away before."""
    original = original_message(message, changes)
    return original is None or compute_digest(original, message.seal.salt) == message.seal.digest
