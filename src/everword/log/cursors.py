"""Cursors: the last turn of a conversation that a view has seen; 0 where it has seen none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from everword.ports import ConversationKey, Tx

TABLE = "cursors"


def cursor_of(tx: Tx, view: str, space: str, conversation: str) -> int:
    return cursors_of(tx, view, [(space, conversation)])[space, conversation]


def cursors_of(tx: Tx, view: str, places: Iterable[ConversationKey]) -> dict[ConversationKey, int]:
    """The cursors of many conversations, with one query for each space."""
    turns = dict.fromkeys(places, 0)
    for space in sorted({space for space, _ in turns}):
        conversations = tuple(conversation for own_space, conversation in turns if own_space == space)
        for row in tx.rows(TABLE, where={"space": space, "view": view, "conversation": conversations}):
            turns[space, row["conversation"]] = row["turn"]
    return turns


def set_cursor(tx: Tx, view: str, space: str, conversation: str, turn: int) -> None:
    set_cursors(tx, view, {(space, conversation): turn})


def set_cursors(tx: Tx, view: str, turns: Mapping[ConversationKey, int]) -> None:
    rows = [
        {"view": view, "space": space, "conversation": conversation, "turn": turn}
        for (space, conversation), turn in turns.items()
    ]
    tx.put(TABLE, rows)
