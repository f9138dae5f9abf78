"""LangGraph's `SqliteStore`: a namespace for each person, `put` for one message, `batch` of puts for many.

With an `index` as its documentation shows it, it embeds the field `text` and searches by cosine, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from driver import Embed, Message
from langgraph.store.base import PutOp
from langgraph.store.sqlite import SqliteStore


class LangGraphPeer:
    """The store, open."""

    def __init__(self, folder: Path, embed: Embed) -> None:
        self._open = ExitStack()
        # `fields` is what its documentation names, `text_fields` what it reads.
        index: Any = {"dims": len(embed([""])[0]), "embed": embed, "fields": ["text"], "text_fields": ["text"]}
        self._store = self._open.enter_context(SqliteStore.from_conn_string(str(folder / "store.db"), index=index))
        self._store.setup()

    def add(self, scope: str, number: int, message: Message) -> None:
        self._store.put(("memories", scope), str(number), {"text": message["text"]})

    def add_many(self, scope: str, first: int, messages: Sequence[Message]) -> None:
        self._store.batch(
            [
                PutOp(("memories", scope), str(number), {"text": message["text"]})
                for number, message in enumerate(messages, first)
            ]
        )

    def search(self, scope: str, query: str, limit: int, now: str | None) -> list[int]:
        return [int(item.key) for item in self._store.search(("memories", scope), query=query, limit=limit)]

    def finish(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        self._open.close()


def open_peer(folder: Path, embed: Embed) -> LangGraphPeer:
    return LangGraphPeer(folder, embed)
