"""Which transactions a PostgreSQL server has committed: looked up when the answer to a COMMIT is lost.

Every connection has a row in `commits` with the number of the last transaction it has written. The row is changed in
the transaction itself, in the same message as its COMMIT, so it costs no round trip and is right after a crash or on a
promoted replica, too. A client that lost an answer asks by fencing that number off: if the transaction was committed,
the fence is refused; if not, a COMMIT that is still on its way will be refused. Either way it is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from secrets import token_hex

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

KEY = "recollect commit"
DECIDED = "23514"  # check violation: a committed number cannot be fenced off, and a fenced one cannot be committed

# A connection that has written nothing for a day is closed, or will write its row again.
SWEEP = (
    "DELETE FROM commits WHERE session IN (SELECT session FROM commits "
    "WHERE at < now() - interval '1 day' FOR UPDATE SKIP LOCKED)"
)
FENCE = text(
    "INSERT INTO commits (session, last, fenced) VALUES (:session, :number - 1, :number) "
    "ON CONFLICT (session) DO UPDATE SET fenced = excluded.fenced"
)


@dataclass(frozen=True, slots=True)
class Commit:
    """One transaction of one connection."""

    session: str
    number: int

    @property
    def statement(self) -> str:
        """Note the transaction and COMMIT: several statements in one message, which holds no parameters."""
        note = (
            f"INSERT INTO commits (session, last) VALUES ('{self.session}', {self.number}) "
            "ON CONFLICT (session) DO UPDATE SET last = excluded.last, at = excluded.at"
        )
        return "; ".join([note, SWEEP, "COMMIT"] if self.number == 1 else [note, "COMMIT"])


def next_commit(connection: Connection) -> Commit:
    """The id of the transaction this connection is about to commit."""
    last: Commit | None = connection.info.get(KEY)
    commit = Commit(token_hex(16), 1) if last is None else Commit(last.session, last.number + 1)
    connection.info[KEY] = commit
    return commit


def is_lost(error: DBAPIError) -> bool:
    """Whether an error at a COMMIT leaves its outcome unknown: the connection broke before the answer came. Any other
    error is the answer, and means that nothing was committed."""
    return bool(error.connection_invalidated)


def was_kept(connection: Connection, commit: Commit) -> bool:
    """Whether the server has committed a transaction. If not, it never will. Waits for a commit that is under way."""
    try:
        connection.execute(FENCE, {"session": commit.session, "number": commit.number})
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) == DECIDED:
            return True
        raise
    return False
