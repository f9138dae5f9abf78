"""The last messages of a conversation, of which only the new ones are read again.

The log only grows, but for messages that somebody has edited, moved or erased: then its version is another one, and all
are read again. The version is read in the same transaction, so this is right with several processes on one store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.errors import DamagedMessage
from recollect.log.tables import warn_of_damage
from recollect.model import Conversation, Filter, Message
from recollect.ports import Tx


@dataclass(frozen=True, slots=True)
class ReadMessages:
    """All messages of a conversation after a turn, up to the last one that there was, in a version of the log."""

    version: str
    after: int
    messages: Sequence[Message]

    @property
    def last_turn(self) -> int:
        return self.messages[-1].turn


class LastMessages:
    """Reads the last messages of one conversation. Safe for threads: what was read is replaced as a whole."""

    def __init__(self, space: str, conversation: str) -> None:
        self._where = Filter(space, conversation=conversation)
        self._known: ReadMessages | None = None

    def read(self, tx: Tx, conversation: Conversation, after: int, limit: int) -> list[Message]:
        """The messages after a turn, the last `limit` of them. The conversation was read in this transaction."""
        version = tx.log_version()
        known = self._known
        errors: list[DamagedMessage] = []
        messages: list[Message] | None = None
        if known is not None and known.version == version and known.last_turn <= conversation.turns:
            new_messages = self._read_after(tx, conversation, max(known.last_turn, after), limit, errors)
            all_messages = [*(message for message in known.messages if message.turn > after), *new_messages]
            if len(new_messages) < limit and (known.after <= after or len(all_messages) >= limit):
                messages = all_messages[-limit:]
        if messages is None:
            messages = self._read_after(tx, conversation, after, limit, errors)
        self._known = None
        if version is not None and messages and not errors:
            first = after if len(messages) < limit else messages[0].turn - 1
            self._known = ReadMessages(version, first, tuple(messages))
        return messages

    def _read_after(
        self, tx: Tx, conversation: Conversation, turn: int, limit: int, errors: list[DamagedMessage]
    ) -> list[Message]:
        """The messages after a turn; errors of those that cannot be read are added."""
        if turn >= conversation.turns:
            return []

        def note_damage(error: DamagedMessage) -> None:
            warn_of_damage(error)
            errors.append(error)

        place = (conversation.id, turn)
        return tx.messages(self._where, after=place, limit=limit, newest=True, damaged=note_damage)
