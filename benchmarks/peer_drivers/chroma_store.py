"""Chroma's persistent client: a collection for each person, cosine, its own index with its own settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
from driver import Embed, Message


class ChromaPeer:
    """The client, open."""

    def __init__(self, folder: Path, embed: Embed) -> None:
        settings = chromadb.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(folder), settings=settings)
        self._embed = embed
        self._collections: dict[str, Any] = {}

    def _collection(self, scope: str) -> Any:
        if scope not in self._collections:
            self._collections[scope] = self._client.get_or_create_collection(
                scope, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
        return self._collections[scope]

    def add(self, scope: str, number: int, message: Message) -> None:
        self.add_many(scope, number, [message])

    def add_many(self, scope: str, first: int, messages: Sequence[Message]) -> None:
        texts = [message["text"] for message in messages]
        ids = [str(number) for number in range(first, first + len(texts))]
        self._collection(scope).add(ids=ids, documents=texts, embeddings=self._embed(texts))

    def search(self, scope: str, query: str, limit: int, now: str | None) -> list[int]:
        found = self._collection(scope).query(query_embeddings=self._embed([query]), n_results=limit)
        return [int(id) for id in found["ids"][0]]

    def finish(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        """Nothing to close: the client writes through."""


def open_peer(folder: Path, embed: Embed) -> ChromaPeer:
    return ChromaPeer(folder, embed)
