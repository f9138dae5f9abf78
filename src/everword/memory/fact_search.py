"""A search of the facts, by word and by meaning: each is found with the newest message that states it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from everword.errors import EmbedderError
from everword.facts.rules.deciding import facts_now
from everword.facts.rules.profile import fact_relevances, fact_text, shared_words
from everword.facts.tables.facts import facts_in
from everword.log.access import channels_of
from everword.log.tables import warn_of_damage
from everword.memory.runtime import Runtime
from everword.model import Fact, Filter, Hit, Message
from everword.ports import Tx

COMPARED = 400  # facts whose meaning is compared with a query: those that share most words with it


async def search_facts(
    runtime: Runtime, query: str, where: Filter, limit: int, best_score: float, floor: float | None
) -> list[Hit]:
    """The facts that answer a query best, best first. The best possible one has the best score."""
    now = runtime.parts.clock.now()
    facts = await runtime.read(lambda tx: facts_within(tx, where, now))
    ranked_facts = (await rank_facts(runtime, query, facts))[:limit]
    relevant = [(fact, relevance) for fact, relevance in ranked_facts if relevance > 0 and relevance >= (floor or 0.0)]
    messages = await runtime.read(lambda tx: newest_sources(tx, where.space, [fact for fact, _ in relevant]))
    return [
        Hit(messages[fact.id], best_score * relevance, {"fact": best_score * relevance}, relevance, "fact", fact)
        for fact, relevance in relevant
        if fact.id in messages
    ]


def facts_within(tx: Tx, where: Filter, now: datetime) -> list[Fact]:
    """The facts that hold now and were said where and when a filter means."""
    if where.role not in (None, "user"):
        return []
    facts = facts_in(tx, where.space, where.user)
    by_person: dict[str, list[Fact]] = {}
    for fact in facts:
        by_person.setdefault(fact.user, []).append(fact)
    return [
        fact
        for person_facts in by_person.values()
        for fact in facts_now(person_facts, now)
        if where.conversation in (None, fact.conversation, *channels_of(fact))
        and (where.after is None or fact.said_at >= where.after)
        and (where.before is None or fact.said_at < where.before)
    ]


def newest_sources(tx: Tx, space: str, facts: Sequence[Fact]) -> dict[str, Message]:
    """By the id of each fact, the newest message that it comes from; one that was removed only if there is no other."""
    ids = sorted({id for fact in facts for id in fact.sources})
    found = tx.find_messages(space, ids=ids, damaged=warn_of_damage) if ids else []
    messages = {message.id: message for message in found}
    newest: dict[str, Message] = {}
    for fact in facts:
        sources = [messages[id] for id in fact.sources if id in messages]
        if sources:
            newest[fact.id] = max(sources, key=lambda message: (not message.erased, message.time, message.turn))
    return newest


async def rank_facts(runtime: Runtime, query: str, facts: Sequence[Fact]) -> list[tuple[Fact, float]]:
    """Facts by their relevance to a query, the most relevant first, then the most important. Without an embedder the
    words decide."""
    if not facts:
        return []
    words = await runtime.run(shared_words, query, facts)
    nearest = [facts[place] for place in np.argsort(-words, kind="stable")[:COMPARED]]
    deviations = np.zeros(len(facts))
    try:
        vectors = await runtime.parts.embedder.embed([query, *map(fact_text, nearest)])
    except EmbedderError:
        pass
    else:
        cosines = [float(cosine) for cosine in vectors[1:] @ vectors[0]]
        compared = dict(
            zip((fact.id for fact in nearest), runtime.parts.weights.deviations(cosines).tolist(), strict=True)
        )
        deviations = np.array([compared.get(fact.id, 0.0) for fact in facts])
    relevances = await runtime.run(fact_relevances, query, facts, deviations)
    ranked = zip(facts, map(float, relevances), strict=True)
    return sorted(ranked, key=lambda pair: (-pair[1], -pair[0].importance, pair[0].id))
