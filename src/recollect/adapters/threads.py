"""A conversation that can be cleared, and whose last message can be taken back, over a log from which nothing goes.

A program's session is a conversation of the memory. Clearing it begins another one, `chat~2` after `chat`: the session
is empty, and what was said before is still in the log, is still found, and still counts as known. A session that is
itself called `chat~2` is the conversation `chat~2~1`, so that no two sessions meet in one. A message taken back is
noted, and no longer shown in the session. Both are noted in one document for each session. To remove what a person
said, for good, there is `erase`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recollect.adapters.faces import AnyMemory, Steps
from recollect.errors import InvalidInput
from recollect.model import Change, Document, Draft, Message
from recollect.rules.documents.documents import SESSIONS
from recollect.rules.log import MAX_ID, checked_id

LONGEST = MAX_ID - 16  # characters of a session's id: a number follows it
NUMBERED = re.compile(r"~\d+$")


@dataclass(frozen=True, slots=True)
class Noted:
    """Which conversation a session is at, and the turns of its messages that were taken back."""

    number: int = 1
    gone: tuple[int, ...] = ()


class Thread:
    """A session's messages, as steps."""

    def __init__(self, memory: AnyMemory, session: str, user: str | None, space: str | None) -> None:
        self._memory: Any = memory
        self.session = checked_id("session", session)
        self._user, self._space = user, space
        if len(session) > LONGEST:
            raise InvalidInput("session", f"has {len(session)} characters; at most {LONGEST} are allowed")
        self._notes = notes_of(session)

    def messages(self, limit: int | None = None) -> Steps[list[Message]]:
        """The session's messages in order; with `limit`, the last ones."""
        noted = yield from self._noted()
        chat = self._conversation(noted)
        most = None if limit is None else limit + len(noted.gone)
        found: list[Message] = [] if most == 0 else (yield lambda: chat.history(limit=most))
        gone = {*noted.gone}
        shown = [message for message in found if message.turn not in gone]
        return shown if limit is None else shown[max(len(shown) - limit, 0) :]

    def add(self, drafts: Sequence[Draft]) -> Steps[None]:
        if not drafts:
            return
        chat = self._conversation((yield from self._noted()))
        yield lambda: chat.extend(drafts)

    def pop(self) -> Steps[Message | None]:
        """Take back the last message: it is not shown any more."""
        while True:
            noted = yield from self._noted()
            last = yield from self.messages(1)
            if not last:
                return None
            if (yield from self._note(noted, Noted(noted.number, (*noted.gone, last[0].turn)))):
                return last[0]

    def clear(self) -> Steps[None]:
        """Begin the session anew; if there is nothing in it, it is new already."""
        while (yield from self.messages(1)):
            noted = yield from self._noted()
            if (yield from self._note(noted, Noted(noted.number + 1))):
                return

    def _conversation(self, noted: Noted) -> Any:
        first = noted.number == 1 and not NUMBERED.search(self.session)
        id = self.session if first else f"{self.session}~{noted.number}"
        return self._memory.conversation(id, user=self._user, space=self._space)

    def _noted(self) -> Steps[Noted]:
        documents = self._memory.documents(space=self._space)
        found: Document | None = yield lambda: documents.get(self._notes, self.session)
        return read(found)

    def _note(self, before: Noted, after: Noted) -> Steps[bool]:
        """Note it, unless somebody else has noted something since."""
        value = {"number": after.number, "gone": list(after.gone)}

        def decide(documents: dict[str, Document]) -> tuple[list[Change], bool]:
            if read(documents.get(self.session)) != before:
                return [], False
            return [Change(self._notes, self.session, value, self._user, ())], True

        documents = self._memory.documents(space=self._space)
        done: bool = yield lambda: documents.edit(self._notes, decide)
        return done


def notes_of(session: str) -> tuple[str, ...]:
    """The namespace of what is noted of a session: one of many, for each is read as a whole to change one in it."""
    return SESSIONS, f"sessions~{hashlib.sha256(session.encode()).hexdigest()[:3]}"


def read(found: Document | None) -> Noted:
    return Noted() if found is None else Noted(found.value["number"], tuple(found.value["gone"]))
