"""Receipts of past replies go with the messages they name: as messages, in a summary, or as the source of a fact."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from everword.changes.removal.knowledge import facts_resting_on, statements_resting_on
from everword.context.receipts import TABLE, named_ids, receipt_rows
from everword.log.tables import every_conversation
from everword.model import Message
from everword.ports import Tx
from everword.text.fences import message_label

AT_ONCE = 20  # conversations in one query
MESSAGE = re.compile(r"m(\d{1,9})")
EPISODE = re.compile(r"e\d+_(\d{1,9})_(\d{1,9})")


def drop_receipts(tx: Tx, space: str, messages: Sequence[Message]) -> None:
    """Delete the receipts that name one of these messages, which are changed or removed after this. A chat shows what
    its person said elsewhere, so the receipts of the person's other chats are looked through as well."""
    rows = receipts_near(tx, space, messages)
    if not rows:
        return
    turns: dict[str, set[int]] = {}
    for message in messages:
        turns.setdefault(message.conversation, set()).add(message.turn)
    ids = {name for message in messages if message.id for name in (message.id, message_label(message.id))}
    ids |= {fact.id for fact in facts_resting_on(tx, space, messages)}
    ids |= {row["id"] for row in statements_resting_on(tx, space, messages)}
    for row in rows:
        if names_removed(row, turns.get(row["conversation"], set()), ids):
            tx.remove(TABLE, {name: row[name] for name in ("space", "conversation", "slot")})


def receipts_near(tx: Tx, space: str, messages: Sequence[Message]) -> list[Mapping[str, Any]]:
    """The receipts of the conversations of these messages, and of the chats of the people they belong to."""
    places = {message.conversation for message in messages}
    for user in {message.user for message in messages if message.user is not None}:
        places |= {conversation.id for conversation in every_conversation(tx, space, user)}
    ids = sorted(places)
    starts = range(0, len(ids), AT_ONCE)
    return [row for start in starts for row in receipt_rows(tx, space, ids[start : start + AT_ONCE])]


def names_removed(row: Mapping[str, Any], turns: Collection[int], ids: Collection[str]) -> bool:
    """Whether a receipt is of a message at one of these turns of its conversation, or names one of them or an id."""
    if row["turn"] in turns or row["asked"] in turns:
        return True
    names = named_ids(row)
    return not names.isdisjoint(ids) or any(stands_for(name, turns) for name in names)


def stands_for(name: str, turns: Collection[int]) -> bool:
    """Whether a name in a receipt is that of a message at one of these turns, or of a summary that covers one."""
    if message := MESSAGE.fullmatch(name):
        return int(message[1]) in turns
    if episode := EPISODE.fullmatch(name):
        return any(int(episode[1]) <= turn <= int(episode[2]) for turn in turns)
    return False
