"""Sessions of the dashboard that were signed out: their cookies open nothing any more, on any server of the store.

A signed cookie is valid wherever the secret is known, so signing out has to be noted in the store. Each key has a note
with the nonces of its ended sessions; one is kept until its session would have been over. A key that ends more
sessions than a note holds ends all those that began before, so that no note grows without bound.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from recollect.ports import Tx
from recollect.server.web.session import Session

NOTE = "signed_out:"  # begins the name of a key's note
MOST = 200  # sessions in a note


@dataclass(frozen=True, slots=True)
class EndedSessions:
    """The ended sessions of a key, by nonce, with the second at which each would have been over. Sessions that would
    be over at `upto` or earlier are ended, too."""

    seconds: Mapping[str, int] = field(default_factory=dict)
    upto: int = 0

    def includes(self, session: Session) -> bool:
        return session.nonce in self.seconds or session.ends_at.timestamp() <= self.upto

    def add(self, session: Session, now: datetime) -> EndedSessions:
        """With this session, and without those whose time is over."""
        seconds = {nonce: second for nonce, second in self.seconds.items() if second > now.timestamp()}
        seconds[session.nonce] = int(session.ends_at.timestamp())
        if len(seconds) > MOST:
            return EndedSessions({}, max(self.upto, *seconds.values()))
        return EndedSessions(seconds, self.upto)


def read_ended(tx: Tx, key_id: str) -> EndedSessions:
    text = tx.note(NOTE + key_id)
    return EndedSessions(**json.loads(text)) if text else EndedSessions()


def end_session(tx: Tx, session: Session, now: datetime) -> None:
    """Note that a session was signed out."""
    name = NOTE + session.key_id
    tx.lock(name)
    ended = read_ended(tx, session.key_id).add(session, now)
    tx.set_note(name, json.dumps({"seconds": dict(ended.seconds), "upto": ended.upto}, separators=(",", ":")))
