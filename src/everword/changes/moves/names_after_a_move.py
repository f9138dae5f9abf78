"""Moves: which names are free to move to, and what follows for a person's name in what was found and stated."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from everword.errors import InvalidInput
from everword.log.rules import ERASED, TOLD, check_id, profile_conversation


def check_new_name(name: str) -> str:
    """The new id of a conversation; not one that memory uses itself."""
    id = check_id("to", name)
    if id.startswith((TOLD, ERASED)):
        raise InvalidInput("to", f"begins with {TOLD!r} or {ERASED!r}: such names are the memory's own")
    return id


def check_movable(conversation: str) -> str:
    """The id of a conversation that may be moved; not one that memory keeps itself."""
    id = check_id("conversation", conversation)
    if id.startswith((TOLD, ERASED)):
        raise InvalidInput("conversation", f"{id!r} is the memory's own; merge_users moves what a person told it")
    return id


def further_profile_conversation(user: str, number: int) -> str:
    """The name of the conversation with what a person told by command under another id: there is one already."""
    return profile_conversation(user) if number == 1 else profile_conversation(f"{user}~{number}")


def subject_under_names(
    subject: str | None, before: tuple[str, str | None], after: tuple[str, str | None]
) -> str | None:
    """Whom a finding is about, when the author and the user of its message get other names. What somebody says in the
    memory of another user is about its author, unless it names somebody."""
    author, user = before
    named = None if subject == author and user not in (None, author) else subject
    new_author, new_user = after
    return named or (new_author if new_user not in (None, new_author) else None)


def first_name(text: str, names: Iterable[str]) -> str | None:
    """The one of these names that a text begins with; the longest, if there are several."""
    for name in sorted(names, key=len, reverse=True):
        if re.match(rf"{re.escape(name)}(?!\w)", text, re.IGNORECASE):
            return name
    return None


def hash_key(*parts: str) -> str:
    """Stands for a name or a key without saying it."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
