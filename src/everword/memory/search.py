"""A search of the log, by word and by meaning, and of the facts beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from everword.errors import InvalidInput
from everword.log import checks_and_seals
from everword.memory.runtime import Runtime
from everword.model import HIT_KINDS, Filter, Hit, HitKind, Role
from everword.ports import Tx
from everword.recall import retrieval as recall
from everword.recall.retrieval import open_source
from everword.recall.rules.query import text_to_compare
from everword.recall.rules.relevance import match_words

MAX_QUERY = 1 << 20  # bytes
MAX_LIMIT = 1_000  # in one answer
ALONE = 1.0  # the score of the best fact or held message, if no other message is found


@dataclass(frozen=True, slots=True)
class CheckedSearch:
    """What is searched for, and where, checked. With a floor, only what is as relevant as that is found."""

    query: str
    where: Filter
    limit: int
    floor: float | None
    kinds: tuple[HitKind, ...]


def check_search(
    runtime: Runtime,
    query: str,
    *,
    user: str | None,
    conversation: str | None,
    role: Role | None,
    after: datetime | None,
    before: datetime | None,
    limit: int,
    floor: float | None,
    kinds: Sequence[HitKind],
    space: str | None,
) -> CheckedSearch:
    """What a caller asks for; raises InvalidInput if it makes no sense."""
    where = Filter(
        runtime.resolve_space(space),
        user=None if user is None else checks_and_seals.check_id("user", user),
        conversation=None if conversation is None else checks_and_seals.check_id("conversation", conversation),
        role=None if role is None else checks_and_seals.check_role(role),
        after=None if after is None else checks_and_seals.check_time("after", after),
        before=None if before is None else checks_and_seals.check_time("before", before),
    )
    return CheckedSearch(
        runtime.parts.secrets.mask(checks_and_seals.check_text("query", query, limit=MAX_QUERY)),
        where,
        checks_and_seals.check_number("limit", limit, MAX_LIMIT),
        None if floor is None else checks_and_seals.check_share("floor", floor),
        check_kinds(kinds),
    )


def check_kinds(kinds: Sequence[HitKind]) -> tuple[HitKind, ...]:
    """What a search is to find; it must be known, and not nothing."""
    items = checks_and_seals.check_items("kinds", kinds)
    if not items or not all(kind in HIT_KINDS for kind in items):
        raise InvalidInput("kinds", f"is {kinds!r}; must be one or more of {', '.join(HIT_KINDS)}")
    return tuple(items)


async def search_messages(
    runtime: Runtime, query: str, where: Filter, limit: int, floor: float | None = None
) -> list[Hit]:
    """The messages that answer a query best, best first; what this process has just added is among them, and what it
    holds in memory is found by its words. With a floor, only those that are as relevant as that."""
    parts = runtime.parts
    now = parts.clock.now()
    vector = (await parts.embedder.embed([text_to_compare(query, now)]))[0]

    def find(tx: Tx) -> list[Hit]:
        source = open_source(tx, runtime.indexes, where, now, runtime.index)
        return recall.search(tx, source, where, query, vector, limit, now, parts.weights, floor)

    at_once = parts.store.reads_at_once and runtime.indexes.is_quick(where.scope)

    def find_if_read(tx: Tx) -> list[Hit] | None:
        """What is found; None if there is something to be read first, of what was just added or, at once, of what
        others added."""
        if runtime.is_behind(tx, where) or (at_once and not runtime.indexes.is_nearly_read(tx, where.scope)):
            return None
        return find(tx)

    held_messages = runtime.store.held_messages(where)
    nothing: list[Hit] | None = []  # is found in an outage
    hits = await runtime.search(lambda: runtime.store.read_if_possible(find_if_read, nothing), at_once=at_once)
    if hits is None:
        await runtime.catch_up(where)
        held_messages = runtime.store.held_messages(where)  # what was written meanwhile is found in the store
        hits = await runtime.search(lambda: runtime.store.read_if_possible(find, list[Hit]()))
    if not held_messages:
        return hits
    held_hits = await runtime.run(match_words, query, held_messages, hits[0].score if hits else ALONE)
    relevant_hits = [hit for hit in held_hits if floor is None or hit.relevance >= floor]
    return sorted([*relevant_hits, *hits], key=lambda hit: -hit.score)[:limit]


async def search(runtime: Runtime, request: CheckedSearch) -> list[Hit]:
    """The messages and the facts that answer a query best, best first. The scores of facts fit those of the messages:
    the best possible fact has the score of the best message."""
    search_scope = (request.query, request.where, request.limit)
    hits = await search_messages(runtime, *search_scope, request.floor) if "message" in request.kinds else []
    if "fact" not in request.kinds:
        return bare_hits(hits)
    from everword.memory.operations.facts import search_facts  # it takes a room that a search of messages does without

    fact_hits = await search_facts(runtime, *search_scope, hits[0].score if hits else ALONE, request.floor)
    return bare_hits(sorted([*hits, *fact_hits], key=lambda hit: -hit.score)[: request.limit])


def bare_hits(hits: list[Hit]) -> list[Hit]:
    """The hits as a program gets them: no secret can be had from them."""
    if all(hit.message.original is None for hit in hits):
        return hits
    return [replace(hit, message=hit.message.without_secrets) for hit in hits]
