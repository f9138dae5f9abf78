"""Changes of facts that an older version wrote: their text and metadata repeat the value that was edited or deleted.

Such a change is read as it is. When a message that told the old value is removed or edited, the change gets the text
that is written today, as an edit of which nothing is kept: the chain of the log holds, and the value is in no table.
What the change decided stands.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from everword.facts.tables.fact_changes import DELETED, line_of, to_found_fact
from everword.facts.tables.findings import TABLE
from everword.follow.faults import request_reading
from everword.log.rules import edited_fields
from everword.log.tables import append_change, erase_edits, new_id, warn_of_damage
from everword.model import Conversation, LogChange, Message, Statement
from everword.model.notes import notes_key, own_notes
from everword.ports import Tx

BY_MESSAGE = {"index": "entries", "tiers": "tiers"}  # views with rows of single messages, and their tables
WHY = "it was edited"


def rewrite_old_change(tx: Tx, row: Statement, now: datetime) -> Statement:
    """The row of a change; the old value is taken out of it and of its message, if it is there."""
    messages = tx.find_messages(row.space, ids=[row.id], damaged=warn_of_damage)
    if not messages or messages[0].erased or not repeats_old_value(messages[0]):
        return row
    message = messages[0]
    details = own_notes(message.metadata)
    new = [values for values in details["facts"] if values["holds"] != "not"]
    text = line_of(to_found_fact(new[0])) if new else DELETED
    metadata = {**message.metadata, notes_key(message.metadata): {**details, "facts": new}}
    new_message = replace(message, content=text, metadata=metadata)
    replace_without_trace(tx, message, new_message, now)
    remove_stored_denials(tx, row)
    return replace(row, text=text)


def repeats_old_value(message: Message) -> bool:
    return any(values["holds"] == "not" for values in own_notes(message.metadata).get("facts", ()))


def replace_without_trace(tx: Tx, message: Message, new_message: Message, now: datetime) -> None:
    """Store another text of a message, and keep nothing of the one it had."""
    space, id = message.space, message.conversation
    conversation = tx.lock_conversation(Conversation(space, id, None, now, now))
    change = LogChange(space, id, 0, "edit", message.turn, now, "", edited_fields(message), edited_fields(new_message))
    conversation = append_change(tx, conversation, change)
    place = {"space": space, "conversation": id, "turn": message.turn}
    views = [view for view, table in BY_MESSAGE.items() if tx.rows(table, limit=1, where=place)]
    tx.rewrite_messages([new_message])
    tx.save_conversation(replace(conversation, changed_at=now))
    erase_edits(tx, space, [new_message], new_id(now))
    for view in views:
        request_reading(tx, view, [new_message], now, WHY)


def remove_stored_denials(tx: Tx, row: Statement) -> None:
    """Older versions stored what a change denies as findings."""
    place = {"space": row.space, "user_id": row.user, "message_id": row.id}
    for finding in tx.rows(TABLE, where=place):
        if finding["found"]["holds"] == "not":
            key = ("slot", "time", "conversation", "turn", "number")
            tx.remove(TABLE, {**place, **{name: finding[name] for name in key}})
