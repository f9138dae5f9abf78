"""The audit: a line for each removal and each move, with who made it, when, of what kind, and how many; not for reads.

Lines name no person, conversation or message. The id of a key is not one of a person; the lines of a key that an
erasure takes along no longer name it either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from everword.model import AuditLine, RemovalKind
from everword.ports import Tx

TABLE = "audit"
KEYS = "api_keys"
GONE = "erased"
"""In place of the id of a key that was erased with its user."""


@dataclass(frozen=True, slots=True)
class Order:
    """Who wants something removed, when, and in which way. The lines of one order have one id."""

    id: str
    at: datetime
    kind: RemovalKind
    what: str
    by: str


def note_removal(tx: Tx, space: str, order: Order, count: int, what: str | None = None) -> None:
    """Add to the line of an order how many more were removed, in the transaction that removes them."""
    row = {"space": space, "id": order.id, "what": what or order.what, "at": order.at, "kind": order.kind}
    tx.put(TABLE, [row | {"by": order.by, "count": count}], add=("count",))


def lines_of(tx: Tx, space: str, limit: int) -> list[AuditLine]:
    """The removals of a space, the newest first: their ids begin with their times."""
    rows = tx.rows(TABLE, limit=limit, where={"space": space}, newest=True)
    lines = [AuditLine(**row) for row in rows]
    return sorted(lines, key=lambda line: (line.at, line.id, line.what), reverse=True)


def keys_of_person(tx: Tx, space: str, user: str) -> list[str]:
    return [row["id"] for row in tx.rows(KEYS, where={"space": space, "user_id": user})]


def forget_keys(tx: Tx, space: str, key_ids: Iterable[str]) -> None:
    """Take the ids of keys out of the lines of a space."""
    ids = tuple(key_ids)
    if ids:
        tx.put(TABLE, [{**row, "by": GONE} for row in tx.rows(TABLE, where={"space": space, "by": ids})])
