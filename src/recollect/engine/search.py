"""A search of the log, by word and by meaning, and of the facts beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from recollect.engine.context import recall
from recollect.engine.context.index_or_database import open_source
from recollect.engine.context.scope_index import TooMuchToRead
from recollect.engine.runtime import Runtime
from recollect.model import Filter, Hit, HitKind
from recollect.ports import Tx
from recollect.rules.recall.advice_and_account_requests import text_to_compare
from recollect.rules.recall.unindexed_messages import match_words

ALONE = 1.0  # the score of the best fact or held message, if no other message is found


async def search_messages(
    runtime: Runtime, query: str, where: Filter, limit: int, floor: float | None = None
) -> list[Hit]:
    """The messages that answer a query best, best first; what this process has just added is among them, and what it
    holds in memory is found by its words. With a floor, only those that are as relevant as that."""
    parts = runtime.parts
    now = parts.clock.now()
    await runtime.catch_up(where.space)
    vector = (await parts.embedder.embed([text_to_compare(query, now)]))[0]

    def find(tx: Tx, *, at_once: bool = False) -> list[Hit]:
        check_embedder = runtime.index.check_vectors_of
        source = open_source(tx, runtime.indexes, where.space, where.user, now, check_embedder, at_once=at_once)
        return recall.search(tx, source, where, query, vector, limit, now, parts.weights, floor)

    held_messages = runtime.held.messages_in(where)
    hits = await runtime.held.search(lambda: search_store(runtime, where, find))
    if not held_messages:
        return hits
    held_hits = await runtime.run(match_words, query, held_messages, hits[0].score if hits else ALONE)
    relevant_hits = [hit for hit in held_hits if floor is None or hit.relevance >= floor]
    return sorted([*relevant_hits, *hits], key=lambda hit: -hit.score)[:limit]


async def search_store(runtime: Runtime, where: Filter, find: Callable[..., list[Hit]]) -> list[Hit]:
    """Search in a thread, or at once if that is quick: to change threads twice takes a twentieth of a short search."""
    store = runtime.parts.store
    if store.reads_at_once and runtime.indexes.is_quick(where.space, where.user):
        with suppress(TooMuchToRead):
            return await runtime.search(lambda: store.read(partial(find, at_once=True)), at_once=True)
    return await runtime.search(lambda: store.read(find))


async def search(
    runtime: Runtime,
    query: str,
    where: Filter,
    limit: int,
    floor: float | None = None,
    kinds: tuple[HitKind, ...] = ("message",),
) -> list[Hit]:
    """The messages and the facts that answer a query best, best first. The scores of facts fit those of the messages:
    the best possible fact has the score of the best message."""
    hits = await search_messages(runtime, query, where, limit, floor) if "message" in kinds else []
    if "fact" not in kinds:
        return hits
    from recollect.engine.context import fact_search  # it takes a dozen modules that a search of messages does without

    fact_hits = await fact_search.search_facts(runtime, query, where, limit, hits[0].score if hits else ALONE, floor)
    return sorted([*hits, *fact_hits], key=lambda hit: -hit.score)[:limit]
