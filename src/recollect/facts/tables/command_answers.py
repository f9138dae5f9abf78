"""What the memory's own answers to commands rest on: "Forgotten: …", "What I know about you: …".

Such an answer repeats what people said elsewhere, and is a message in the log. A row of `statements` names the messages
that it repeats, one row for each of their authors: whoever removes such a message removes the answer with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from recollect.facts.tables.people import TABLE, put_statements
from recollect.log.tables import warn_of_damage
from recollect.model import Answer, Fact, Message, Statement
from recollect.ports import Tx

ANSWER = "answer"
AT_ONCE = 500  # authors in one query


def ids_repeated(answer: Answer) -> set[str]:
    """The messages that an answer may repeat: the command itself, and what the memory knows by."""
    outcome = answer.forgotten
    knowledge: list[Statement | Fact] = [*answer.statements, *answer.facts]
    knowledge += [] if outcome is None else [*outcome.statements, *outcome.facts]
    return {answer.message.id, *(id for item in knowledge for id in item.sources)}


def note_repeated(tx: Tx, space: str, id: str, now: datetime, message_ids: Collection[str]) -> None:
    """Note that the answer with an id repeats these messages."""
    by_author: dict[str, list[str]] = {}
    for message in tx.find_messages(space, ids=sorted(message_ids), damaged=warn_of_damage):
        if not message.erased:
            by_author.setdefault(message.author, []).append(message.id)
    rows = [Statement(space, author, id, "", author, now, tuple(ids)) for author, ids in sorted(by_author.items())]
    put_statements(tx, rows, ANSWER)


def answers_repeating(tx: Tx, space: str, messages: Iterable[Message]) -> list[Message]:
    """The answers that repeat one of these messages, and are still there."""
    message_list = list(messages)
    ids = {message.id for message in message_list}
    authors = sorted({message.author for message in message_list if message.author})
    answer_ids = {
        row["id"]
        for start in range(0, len(authors), AT_ONCE)
        for row in tx.rows(
            TABLE, where={"space": space, "speaker": tuple(authors[start : start + AT_ONCE]), "kind": ANSWER}
        )
        if not ids.isdisjoint(row["sources"])
    }
    answers = tx.find_messages(space, ids=sorted(answer_ids), damaged=warn_of_damage) if answer_ids else []
    return [message for message in answers if not message.erased]


def drop_notes(tx: Tx, space: str, messages: Iterable[Message]) -> None:
    """Drop what is noted of answers that are removed."""
    ids = [message.id for message in messages if message.id and message.role == "assistant"]
    for start in range(0, len(ids), AT_ONCE):
        where = {"space": space, "kind": ANSWER, "id": tuple(ids[start : start + AT_ONCE])}
        for row in tx.rows(TABLE, where=where):
            tx.remove(TABLE, {name: row[name] for name in ("space", "user_id", "id")})
