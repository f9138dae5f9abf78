"""A search of the log, by word and by meaning."""

from __future__ import annotations

from recollect.engine.context import recall
from recollect.engine.runtime import Runtime
from recollect.model import Filter, Hit
from recollect.ports import Tx


async def search_messages(
    runtime: Runtime, query: str, where: Filter, limit: int, floor: float | None = None
) -> list[Hit]:
    """The messages that answer a query best, best first; what this process has just added is among them. With a floor,
    only those that are as relevant as that."""
    parts = runtime.parts
    now = parts.clock.now()
    await runtime.catch_up(where.space)
    vector = (await parts.embedder.embed([query]))[0]

    def find(tx: Tx) -> list[Hit]:
        runtime.index.check_embedder(tx)
        return recall.search(tx, where, query, vector, limit, now, parts.weights, floor)

    return await runtime.search(lambda: parts.store.read(find))
