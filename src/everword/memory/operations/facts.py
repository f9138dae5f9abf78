"""The facts of people: read, ranked and searched, and changed by hand. A person, or a program for them, adds a fact,
edits its value or deletes it.

Who changes a fact must have said it, or be the person it is about and may see it, as with `forget`; for anybody else
it does not exist. A change is kept in the log and stands when the facts are built again; the old value stays as
history, with its times, as long as what told it is there: the change itself names it only by id. An edited fact is
seen by those who saw it before: what was said in private stays private.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial

import numpy as np

from everword.errors import EmbedderError, InvalidInput, NotFound
from everword.facts import findings as changes
from everword.facts import stored_facts as profiles
from everword.facts import view
from everword.facts.findings import facts_in_slots, refusals_of, slot_of
from everword.facts.profile_changes import restore_statements
from everword.facts.rules import deciding
from everword.facts.rules.deciding import MAX_VALUE, facts_now, refusal, tidy_fact
from everword.facts.rules.fact_relevance import fact_relevances, fact_text, shared_words
from everword.facts.rules.keys_and_values import MAX_KEY, is_in_category
from everword.facts.stored_facts import facts_in, facts_of, people_told_of, viewer_alone
from everword.log import checks_and_seals
from everword.log.access import channels_of, may_take_back
from everword.log.append_and_read import warn_of_damage
from everword.log.operation_declarations import operation
from everword.memory.runtime import MemoryPart, Runtime
from everword.model import (
    FACT_CATEGORIES,
    Batch,
    Draft,
    Fact,
    FactChange,
    FactChangeKind,
    Filter,
    Forgotten,
    FoundFact,
    Hit,
    Message,
    RefusedFact,
    Statement,
)
from everword.model.log import own_notes
from everword.ports import Tx

COMPARED = 400  # facts whose meaning is compared with a query: those that share most words with it
MAX_QUERY = 4_000  # bytes
MAX_KEY_BYTES = 200
BYTES_PER_CHARACTER = 4  # at most, in UTF-8


class Facts(MemoryPart):
    """Reads and changes facts."""

    @operation("GET /v1/users/{user as id}/facts", right="read", page="id", tool="get_facts")
    async def facts(
        self,
        *,
        user: str,
        query: str | None = None,
        as_of: datetime | None = None,
        category: str | None = None,
        space: str | None = None,
    ) -> list[Fact]:
        """List what is known about a person, now or at a given time, most important fact first.

        With a `query`, the facts that match the query best come first. With a `category`, you get the facts of this
        category and closely related facts. For example, the category "work" also returns the fact "employer", which is
        in another category.
        """
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        moment = None if as_of is None else checks_and_seals.check_time("as_of", as_of)
        kind = None if category is None else checks_and_seals.check_choice("category", category, FACT_CATEGORIES)
        all_facts = await self.runtime.read(lambda tx: facts_of(tx, space_id, user_id, active=moment is None))
        now = self.runtime.parts.clock.now()
        valid_facts = facts_now(all_facts, now) if moment is None else deciding.facts_as_of(all_facts, moment)
        selection = [fact for fact in valid_facts if kind is None or is_in_category(fact.category, fact.key, kind)]
        if query is not None:
            checks_and_seals.check_text("query", query, limit=MAX_QUERY)
            ranked = await rank_facts(self.runtime, self.runtime.parts.secrets.mask(query), selection)
            return [fact for fact, _ in ranked]
        return sorted(selection, key=importance_order)

    @operation("GET /v1/users/{user as id}/refused-facts", right="read", tool="get_refused_facts")
    async def refused_facts(self, *, user: str, space: str | None = None) -> list[RefusedFact]:
        """List the facts that a model found in a person's messages but that everword did not accept, oldest first. Each
        fact in the list comes with the reason why everword did not accept the fact."""
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        refused: list[RefusedFact] = await self.runtime.read(lambda tx: refusals_of(tx, space_id, user_id))
        return refused

    @operation("GET /v1/users/{user as id}/fact-history", right="read")
    async def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """List every value that the fact `key`, such as "city", has had, oldest first. Each value has the period in
        which the value was true."""
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        checks_and_seals.check_text("key", key, limit=MAX_KEY_BYTES)
        all_facts = await self.runtime.read(lambda tx: facts_of(tx, space_id, user_id))
        return deciding.history(all_facts, key)

    @operation("GET /v1/users/{user as id}/facts/{fact}/why", right="read")
    async def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """List the messages that a fact came from, oldest first."""
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        fact_id = checks_and_seals.check_id("fact", fact)

        def read(tx: Tx) -> list[Message]:
            sources = find_fact(tx, space_id, user_id, fact_id).sources
            found = tx.find_messages(space_id, ids=sources, damaged=warn_of_damage)
            messages = [message.without_secrets for message in found if not message.erased]
            return sorted(messages, key=time_order)

        return await self.runtime.read(read)

    @operation("GET /v1/users/{user as id}/facts/{id as fact}", right="read")
    async def fact(self, id: str, *, user: str, space: str | None = None) -> Fact:
        """Get a fact by its id, even if the fact is no longer true."""
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        fact_id = checks_and_seals.check_id("fact", id)
        return await self.runtime.read(lambda tx: find_fact(tx, space_id, user_id, fact_id))

    @operation("POST /v1/users/{user as id}/facts", right="write", once="words", tool="add_fact")
    async def add_fact(
        self,
        category: str,
        key: str,
        value: str,
        *,
        user: str,
        valid_from: date | None = None,
        valid_to: date | None = None,
        subject: str | None = None,
        speaker: str | None = None,
        space: str | None = None,
    ) -> FactChange:
        """Add a fact about a person by hand. If the fact's key, such as "city", can have only one value, the new fact
        replaces the old fact.

        The fact is true from the day `valid_from` (default: now) to the day `valid_to`. If the fact is about someone
        else, such as the person's brother, `subject` names this other person: "brother". `speaker` is the user who adds
        the fact, by default the person themselves. A rebuild of the facts keeps a fact added by hand. To remove an
        added fact, call `undo`.
        """
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        author = user_id if speaker is None else checks_and_seals.check_id("speaker", speaker)
        new = FoundFact(
            checks_and_seals.check_choice("category", category, FACT_CATEGORIES),
            check_line("key", key, MAX_KEY),
            check_line("value", value, MAX_VALUE),
            subject=None if subject is None else check_line("subject", subject, MAX_KEY),
            corrects=True,
            since=checks_and_seals.check_day("valid_from", valid_from),
            until=checks_and_seals.check_day("valid_to", valid_to),
        )
        if new.category == "instruction" and author != user_id:
            raise InvalidInput("category", "must not be 'instruction': only the user themselves can give instructions")
        self.runtime.parts.secrets.refuse_secrets("value", changes.line_of(new))
        new = check_found_fact(new)
        slot = slot_of(new)

        def last_said(tx: Tx) -> datetime | None:
            return max((fact.said_at for fact in facts_in_slots(tx, space_id, user_id, {slot})), default=None)

        after = await self.runtime.read(last_said)
        metadata = changes.change_metadata("add", [new], None, after)
        message = await append_change(self.runtime, space_id, author, changes.line_of(new), metadata)
        return await keep_change(self.runtime, "add", user_id, message, None)

    @operation("PATCH /v1/users/{user as id}/facts/{id as fact}", right="write", once="words", tool="edit_fact")
    async def edit_fact(
        self,
        id: str,
        value: str,
        *,
        user: str,
        valid_from: date | None = None,
        valid_to: date | None = None,
        speaker: str | None = None,
        space: str | None = None,
    ) -> FactChange:
        """Change the value of a fact. The old value stays in the history, with its times; `undo` restores the old
        value.

        `speaker` must be the person or the user who stated the fact. Everyone who can see the fact sees the new value.
        If the person states a different value later, the later value replaces the edited value.
        """
        space_id = self.runtime.resolve_space(space)
        text = check_line("value", value, MAX_VALUE)
        since = checks_and_seals.check_day("valid_from", valid_from)
        until = checks_and_seals.check_day("valid_to", valid_to)
        old, author = await changeable_fact(self.runtime, id, space_id, user, speaker)
        if text == old.value and since is None and until is None:
            raise InvalidInput("value", "is already the value of this fact; give another value")
        self.runtime.parts.secrets.refuse_secrets("value", f"{old.key}: {text}")
        new = check_found_fact(
            FoundFact(
                old.category, old.key, text, 1.0, old.importance, old.subject, corrects=True, since=since, until=until
            )
        )
        metadata = changes.change_metadata("edit", [new], old.audience, old.said_at)
        message = await append_change(self.runtime, space_id, author, changes.line_of(new), metadata)
        return await keep_change(self.runtime, "edit", old.user, message, old)

    @operation("DELETE /v1/users/{user as id}/facts/{id as fact}", right="write", once="words", tool="delete_fact")
    async def delete_fact(
        self, id: str, *, user: str, speaker: str | None = None, space: str | None = None
    ) -> FactChange:
        """Remove a fact. A removed fact returns only if somebody states the fact again.

        The removed fact stays in the history, and `undo` restores the fact. To remove a person's messages permanently,
        use `erase`. `speaker` must be the person or the user who stated the fact.
        """
        space_id = self.runtime.resolve_space(space)
        old, author = await changeable_fact(self.runtime, id, space_id, user, speaker)
        metadata = changes.change_metadata("delete", [], old.audience, old.said_at)
        message = await append_change(self.runtime, space_id, author, changes.DELETED, metadata)
        return await keep_change(self.runtime, "delete", old.user, message, old)


async def changeable_fact(runtime: Runtime, id: str, space: str, user: str, speaker: str | None) -> tuple[Fact, str]:
    """The fact that somebody wants to change, and who that is."""
    user_id = checks_and_seals.check_id("user", user)
    author = user_id if speaker is None else checks_and_seals.check_id("speaker", speaker)
    fact_id = checks_and_seals.check_id("fact", id)

    def read(tx: Tx) -> Fact:
        fact = find_fact(tx, space, user_id, fact_id)
        viewer = viewer_alone(tx, space, author, shared=runtime.parts.settings.share_channels)
        if not may_take_back(author, fact, viewer):
            raise missing_fact(space, user_id, fact_id, f" that {author!r} may change")
        return fact

    fact = await runtime.read(read)
    if not fact.active:
        raise InvalidInput("fact", f"{fact_id!r} is no longer true, so it cannot be changed")
    return fact, author


async def append_change(runtime: Runtime, space: str, author: str, text: str, metadata: dict[str, object]) -> Message:
    draft = Draft("user", text, author, author, metadata=metadata)
    batch = Batch(space, checks_and_seals.profile_conversation(author), author, [draft])
    return (await runtime.append_messages([batch], is_source=True))[0][0].message


async def keep_change(
    runtime: Runtime, kind: FactChangeKind, person: str, message: Message, old: Fact | None
) -> FactChange:
    change = await runtime.write(partial(store_change, kind, person, message, old))
    runtime.wake(message.space)
    return change


def store_change(kind: FactChangeKind, person: str, message: Message, old: Fact | None, tx: Tx) -> FactChange:
    """Keep a change, and weigh what follows from it."""
    space = message.space
    tx.lock(view.LOCK, space, person)
    new_facts = map(changes.found_fact_of, own_notes(message.metadata)["facts"])
    slots = {slot_of(tidy_fact(fact)) for fact in new_facts} | ({slot_of(old)} if old is not None else set())
    before = {fact.id: fact for fact in facts_in_slots(tx, space, person, slots)}
    if old is not None and not (old.id in before and before[old.id].active):
        raise InvalidInput(
            "fact",
            f"{old.id!r} was changed by someone else at the same time; read the fact again before you change the fact",
        )
    sources = (message.id,) if old is None else (message.id, *changes.ids_saying(tx, before[old.id]))
    row = Statement(space, person, message.id, message.content, message.author, message.time, sources)
    changes.put_change(tx, row)
    view.store_facts(tx, space, message.conversation, (), decided=[changes.decided_facts(row, message)])
    view.mark_command_read(tx, message)
    after = facts_in_slots(tx, space, person, slots)
    active_before = {id for id, fact in before.items() if fact.active}
    retired = [fact for fact in after if not fact.active and fact.id in active_before]
    standing = next((fact for fact in after if message.id in fact.sources and fact not in retired), None)
    return FactChange(message.id, kind, message.author, message.time, standing, tuple(retired))


def undo_change(tx: Tx, space: str, person: str, id: str, asker: str | None) -> Forgotten | None:
    """Take back a change of facts. Returns what came back by it; None if there is no change with this id."""
    rows = statements_of_change(tx, space, person, id, asker)
    if not rows:
        return None
    tx.lock(view.LOCK, space, person)
    messages = tx.find_messages(space, ids=[id], damaged=warn_of_damage)
    before = {fact.id for fact in facts_of(tx, space, person, active=True)}
    made_here = {id, *(fact.id for fact in facts_of(tx, space, person) if fact.sources[0] == id)}
    changes.put_change(tx, replace(rows[0], active=False, retired_by=None))
    for message in messages:
        view.withdraw_facts(tx, space, person, message, changes.denied_ids(rows[0]))
    restored_facts = [fact for fact in facts_of(tx, space, person, active=True) if fact.id not in before]
    statements = restore_statements(tx, space, person, made_here)
    return Forgotten(id, tuple(statements), tuple(restored_facts))


def statements_of_change(tx: Tx, space: str, person: str, id: str, asker: str | None) -> list[Statement]:
    rows = profiles.statements_of(tx, space, person, kind=profiles.CHANGES)
    return [row for row in rows if row.id == id and asker in (None, row.speaker)]


# -- facts


def find_fact(tx: Tx, space: str, person: str, id: str) -> Fact:
    facts = facts_of(tx, space, person, id=id)
    if not facts:
        raise missing_fact(space, person, id)
    return facts[0]


def missing_fact(space: str, person: str, id: str, which: str = "") -> NotFound:
    return NotFound(f"user {person!r} has no fact {id!r}{which} in space {space!r}; `facts` lists all facts")


# -- checks


def check_line(field: str, value: str, limit: int) -> str:
    """The text on one line; it must say something, and not be longer than facts may be."""
    text = " ".join(checks_and_seals.check_text(field, value, limit=limit * BYTES_PER_CHARACTER).split())
    if not text:
        raise InvalidInput(field, "is empty")
    if len(text) > limit:
        raise InvalidInput(field, f"has {len(text)} characters; at most {limit} are allowed")
    return text


def check_found_fact(fact: FoundFact) -> FoundFact:
    """The fact with its key in its one form; raises InvalidInput if it cannot be kept."""
    tidy = tidy_fact(fact)
    if tidy.since is not None and tidy.until is not None and tidy.until < tidy.since:
        raise InvalidInput("valid_to", f"is {tidy.until}; must not be before valid_from ({tidy.since})")
    refused = refusal(tidy)
    if refused is not None:
        raise InvalidInput("fact" if tidy.key else "key", f"cannot be kept: {refused.reason}")
    return tidy


# -- ranking and searching


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
    facts = facts_in(tx, where.space, people_of(tx, where))
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


def people_of(tx: Tx, where: Filter) -> Collection[str] | None:
    """Whose facts a filter may mean; None if it may mean anybody's."""
    if where.user is not None:
        return (where.user,)
    return None if where.conversation is None else people_told_of(tx, where.space, where.conversation)


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


def importance_order(fact: Fact) -> tuple[float, str, str, datetime, str]:
    """The sort key that puts the most important fact first."""
    return -fact.importance, fact.category, fact.key, fact.recorded_at, fact.id


def time_order(message: Message) -> tuple[datetime, str, int]:
    return message.time, message.conversation, message.turn
