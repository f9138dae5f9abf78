"""What the people of a channel are called in it: their ids, and the names that came with their messages.

Only the last few hundred messages are read: whoever is spoken to has spoken lately. In a chat with one person nobody
is spoken to by name, and nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterable

from everword.log.tables import warn_of_damage
from everword.model import Filter, Message
from everword.ports import Tx
from everword.text.addressing import KnownNames

READ = 500
"""Messages before a turn whose authors are known by name."""
NAMES = ("name", "handle")
"""Where metadata has what an author is called."""


def known_names(messages: Iterable[Message]) -> KnownNames:
    """The names of those who wrote messages; whoever wrote last comes last."""
    nicknames = KnownNames()
    add_names(nicknames, messages)
    return nicknames


def add_names(nicknames: KnownNames, messages: Iterable[Message]) -> None:
    for message in messages:
        if message.role == "user" and not message.erased:
            names = [message.metadata.get(name) for name in NAMES]
            nicknames.add(message.author, [name for name in names if isinstance(name, str)])


def read_channel_names(tx: Tx, space: str, conversation: str, before: int | None = None) -> KnownNames:
    """The names of those who wrote in a channel before a turn, or until now."""
    stored = tx.conversation(space, conversation)
    if stored is None or stored.user is not None:
        return KnownNames()
    last = stored.turns if before is None else before - 1
    where = Filter(space, conversation=conversation)
    after = (conversation, max(last - READ, 0))
    return known_names(tx.messages(where, after=after, upto=last, damaged=warn_of_damage))
