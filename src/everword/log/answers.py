"""The rows of requests with an idempotency key, and what keeps keyed messages from being added twice.

A message that came with a key has a platform id made of it, and so is found again in its conversation, erased or not.
When a conversation gets another name, its keyed messages would no longer be found under the old one. So a rename notes
them here, as hashes, for a day: whoever adds them under the old name again is told that this was done.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from everword.errors import AnswerGone
from everword.log.rules import ERASED, ONCE, hash_platform_id
from everword.log.tables import every_message, new_id, warn_of_damage
from everword.model import Added, Batch, Filter
from everword.ports import Tx

ANSWERS = "answers"  # the table of requests with a key, and the lock for changing it
ANSWER_BODIES = "answer_bodies"  # what they were answered
LAST_REMOVAL = ""  # the id of the row there that marks the last removal in a space
DAY = timedelta(days=1)
DONE = 200
TIME_LETTERS = 9  # the letters of a message's id that tell its time
GONE = (
    "this request was done already, and is not done again; its answer is gone, since something in the space was removed"
    " or changed after it. Read what it was about"
)


def row_id(day: datetime, name: str) -> str:
    """The id of a row. It begins with the day, so that the oldest rows are read first."""
    return f"{day:%Y-%m-%d} {name}"


def possible_row_ids(now: datetime, name: str) -> tuple[str, ...]:
    """The ids that a row of the last day can have; that of tomorrow, too, by the clock of another server."""
    return tuple(row_id(day, name) for day in (now - DAY, now, now + DAY))


def note_renamed_messages(tx: Tx, space: str, conversation: str, now: datetime) -> None:
    """Note the keyed messages of a conversation that gets another name; erased ones have hashes already."""
    oldest_id = new_id(now - 2 * DAY)[:TIME_LETTERS]
    rows = []
    for message in every_message(tx, Filter(space, conversation=conversation), warn_of_damage):
        name = message.platform_id or ""
        if name.startswith((ONCE, ERASED)) and message.id >= oldest_id:
            name = name if message.erased else hash_platform_id(name)
            rows.append({"space": space, "id": row_id(now, name)})
    tx.put(ANSWERS, [row | {"request": b"", "at": now, "status": DONE, "body": None} for row in rows])


def refuse_renamed_messages(tx: Tx, batch: Batch, additions: Sequence[Added], now: datetime) -> None:
    """Raise if new messages that came with a key were added before, when their conversation had another name. Those of
    one key were added together, so the first is looked up."""
    pairs = zip(batch.drafts, additions, strict=True)
    new_names = (draft.platform_id or "" for draft, addition in pairs if addition.new)
    name = next((name for name in new_names if name.startswith(ONCE)), None)
    if name is None:
        return
    ids = possible_row_ids(now, hash_platform_id(name))
    if tx.rows(ANSWERS, limit=1, where={"space": batch.space, "id": ids}):
        raise AnswerGone(GONE)
