"""Receipts to look at: those of past replies, and what the ids in a receipt stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from everword.context.receipts import StoredReceipt, has_receipt, receipts_of
from everword.facts.tables.people import SAID
from everword.log.access import ConversationScope
from everword.memory.runtime import Runtime
from everword.model import Receipt
from everword.model.notes import own_notes
from everword.ports import Tx
from everword.secrets.marks import marks_from_json, mask_parts

AT_ONCE = 500  # turns or ids in one query
SHOWN = 160  # characters of a text that stands for an id
TURN = re.compile(r"m(\d{1,9})")
EPISODE = re.compile(r"e(\d+)_(\d+)_(\d+)")

ItemKind = Literal["message", "fact", "statement", "episode", "topic"]


@dataclass(frozen=True, slots=True)
class NamedItem:
    """What an id in a receipt stands for, and where it is to be found."""

    kind: ItemKind
    text: str
    conversation: str = ""
    turn: int = 0


Names = Mapping[str, NamedItem]


@dataclass(frozen=True, slots=True)
class PastReply:
    """A reply of the past: its receipt, and what was asked and answered."""

    stored: StoredReceipt
    question: str
    answer: str


async def past_replies(runtime: Runtime, scope: ConversationScope) -> list[PastReply]:
    """The replies of a conversation that have a receipt, the newest first; none if the scope may not see it."""

    def read(tx: Tx) -> list[PastReply]:
        if scope.find(tx) is None:
            return []
        receipts = receipts_of(tx, scope.space, scope.id)
        turns = {turn for stored in receipts for turn in (stored.asked, stored.turn)}
        rows = {row["turn"]: row for row in rows_with(tx, "messages", scope, "turn", turns)}
        return [
            PastReply(
                with_searches(stored, rows.get(stored.turn, {})),
                content_of(rows.get(stored.asked, {})),
                content_of(rows.get(stored.turn, {})),
            )
            for stored in receipts
        ]

    return await runtime.read(read)


async def find_receipt(runtime: Runtime, scope: ConversationScope, turn: int) -> bool:
    """Whether there is a receipt of the reply at a turn."""

    def read(tx: Tx) -> bool:
        return scope.find(tx) is not None and has_receipt(tx, scope.space, scope.id, turn)

    return await runtime.read(read)


def content_of(row: Mapping[str, Any]) -> str:
    return str(row.get("content", ""))


def with_searches(stored: StoredReceipt, reply: Mapping[str, Any]) -> StoredReceipt:
    """The receipt with what the model searched for in each call, which stands in the metadata of the reply."""
    calls = own_notes(reply.get("metadata") or {}).get("rounds")
    if not isinstance(calls, list):
        return stored
    rounds = tuple(
        replace(turn_round, searches=searches_in(calls[place])) if place < len(calls) else turn_round
        for place, turn_round in enumerate(stored.rounds)
    )
    return replace(stored, rounds=rounds)


def searches_in(call: object) -> tuple[str, ...]:
    searches = call.get("searches") if isinstance(call, dict) else None
    return tuple(str(search) for search in searches) if isinstance(searches, list) else ()


# -- what ids stand for


async def name_items(runtime: Runtime, scope: ConversationScope, receipts: Iterable[Receipt]) -> Names:
    """What the ids in receipts of a conversation stand for; an id of something that is gone is left out."""
    ids = {
        item.id for receipt in receipts for section in receipt.sections for item in (*section.items, *section.left_out)
    }

    def read(tx: Tx) -> dict[str, NamedItem]:
        conversation = scope.find(tx)
        if conversation is None:
            return {}
        names = dict(message_names(tx, scope, ids))
        names |= {id: episode_name(match) for id in ids if (match := EPISODE.fullmatch(id))}
        if conversation.user is not None:
            names |= dict(known_names(tx, scope, conversation.user, ids - names.keys()))
        return names

    return await runtime.read(read)


def message_names(tx: Tx, scope: ConversationScope, ids: Iterable[str]) -> Iterator[tuple[str, NamedItem]]:
    """Messages: of this conversation by their turns, of others by their ids."""
    turns = {int(match[1]) for id in ids if (match := TURN.fullmatch(id))}
    for row in rows_with(tx, "messages", scope, "turn", turns):
        if row["erasure"] is None:
            yield f"m{row['turn']}", NamedItem("message", shorten_text(row["content"]), scope.id, row["turn"])
    others = [id for id in ids if not TURN.fullmatch(id)]
    for message in tx.find_messages(scope.space, ids=others, damaged=lambda _: None):
        if not message.erased:
            yield message.id, NamedItem("message", shorten_text(message.content), message.conversation, message.turn)


def known_names(tx: Tx, scope: ConversationScope, user: str, ids: Iterable[str]) -> Iterator[tuple[str, NamedItem]]:
    """Facts and statements of the person of a chat."""
    wanted = tuple(ids)
    for start in range(0, len(wanted), AT_ONCE):
        where = {"space": scope.space, "user_id": user, "id": wanted[start : start + AT_ONCE]}
        for row in tx.rows("facts", where=where):
            yield row["id"], NamedItem("fact", shorten_text(f"{row['key']}: {row['value']}"))
        for row in tx.rows("statements", where=where | {"kind": SAID}):
            yield row["id"], NamedItem("statement", shorten_text(row["text"]))


def episode_name(match: re.Match[str]) -> NamedItem:
    return NamedItem("episode", f"turns {match[2]}\u2013{match[3]}", turn=int(match[2]))


def shorten_text(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\u2026"


def rows_with(
    tx: Tx, table: str, scope: ConversationScope, column: str, values: Iterable[int]
) -> Iterator[Mapping[str, Any]]:
    """The rows of a conversation that have one of these values."""
    wanted = sorted(values)
    for start in range(0, len(wanted), AT_ONCE):
        where = {"space": scope.space, "conversation": scope.id, column: tuple(wanted[start : start + AT_ONCE])}
        yield from map(mask_row, tx.rows(table, where=where))


def mask_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row; of a message with secrets, with placeholders for them."""
    if not row.get("secrets"):
        return row
    content, metadata, _ = mask_parts(row["content"], row["metadata"], marks_from_json(row["secrets"]))
    return {**row, "content": content, "metadata": metadata}
