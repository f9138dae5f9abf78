"""mem0 without a model: `add(..., infer=False)`, its default vector store (Qdrant in this process, on the disk) and its
default search. It adds the messages of a list one after the other; it has no faster way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from driver import Embed, Message


class PreparedEmbedding:
    """Takes the place of mem0's embedding model: the vectors that were computed beforehand."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._embed([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return self._embed(texts)


class Mem0Peer:
    """The memory, open."""

    def __init__(self, folder: Path, embed: Embed) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder / "mem0")
        from mem0 import Memory

        place = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": len(embed([""])[0])}
        unused: dict[str, Any] = {"provider": "openai", "config": {"api_key": "unused"}}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": place},
                "llm": unused,
                "embedder": unused,
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = PreparedEmbedding(embed)

    def add(self, scope: str, number: int, message: Message) -> None:
        self._memory.add(message["text"], user_id=scope, metadata={"number": number}, infer=False)

    def add_many(self, scope: str, first: int, messages: Sequence[Message]) -> None:
        for number, message in enumerate(messages, first):
            self.add(scope, number, message)

    def search(self, scope: str, query: str, limit: int, now: str | None) -> list[int]:
        found = self._memory.search(query, filters={"user_id": scope}, top_k=limit)
        return [int(result["metadata"]["number"]) for result in found["results"]]

    def finish(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        self._memory.close()


def open_peer(folder: Path, embed: Embed) -> Mem0Peer:
    return Mem0Peer(folder, embed)
