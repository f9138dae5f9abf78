"""Edits of messages that were commands to the memory.

What "remember that …" told goes with the old text, and the new text is told in its place, if it asks to remember
something of the same person; if it is no command any more, it is read as talk. What was forgotten, and a fact that was
changed by hand, do not follow an edit: what they did may have been built on since, and `undo` takes it back by name. So
such an edit is refused. What the memory answered to a command stays as it was said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from everword.changes.removal.knowledge import NAMES, statements_resting_on, tell_again
from everword.errors import InvalidInput
from everword.facts.rules.commands import Command, parse_command
from everword.facts.tables import people as profiles
from everword.facts.tables.fact_changes import COMMANDS
from everword.facts.view import command_of
from everword.log.rules import TOLD
from everword.model import Message
from everword.model.notes import notes_key
from everword.ports import Tx

LASTING = ("forget", *COMMANDS.values())  # commands that an edit does not take back
DONE = "was carried out, and other words do not take that back: undo it, and say it anew"
UNCLEAR = "asked to remember something of somebody, and the new text does not say what, or of the same: delete it, and "
UNCLEAR += "say it anew"


def still_command(edited: Message, message: Message) -> Message:
    """The edited message; without the mark of a command if its text is no such command any more."""
    command = command_of(message)
    if command is None or message.role != "user" or message.conversation.startswith(TOLD) or command in LASTING:
        return edited
    if read_command(edited).kind == command:
        return edited
    original = edited.as_said
    notes = notes_key(original.metadata)
    metadata = {name: value for name, value in original.metadata.items() if name != notes}
    marks = tuple(mark for mark in original.secrets if not mark.path.startswith(f"/{notes}/"))
    return replace(original, metadata=metadata, secrets=marks).masked


def refuse_change(tx: Tx, message: Message, edited: Message) -> list[str]:
    """Raise if a command cannot be changed. Returns the people of whom the new version tells something."""
    rows = statements_resting_on(tx, message.space, [message])
    has_lasting_effect = any(row["kind"] != profiles.SAID and row["active"] for row in rows)
    if has_lasting_effect or (message.role == "user" and command_of(message) in LASTING):
        raise InvalidInput("message", DONE)
    if command_of(edited) != "remember" or message.role != "user":
        return []
    persons = sorted({row["user_id"] for row in rows if row["kind"] == profiles.SAID})
    if message.conversation.startswith(TOLD):
        return persons or [message.author]
    old = read_command(message)
    new = read_command(edited)
    if not new.text or old.kind != new.kind or subject_of(old) != subject_of(new):
        raise InvalidInput("message", UNCLEAR)
    return persons or ([message.author] if subject_of(new) == "me" else [])


def tell_new_version(tx: Tx, edited: Message, persons: Iterable[str]) -> None:
    """Have the new version of a request to remember told of these people."""
    for person in persons:
        tell_again(tx, person, edited)


def read_command(message: Message) -> Command:
    """The command in a message that is known to be one, by rules."""
    return parse_command(message.content, NAMES, for_bot=True)


def subject_of(command: Command) -> str:
    """Of whom a command is, as it says: "me" for who speaks."""
    return (command.about or "me").casefold()
