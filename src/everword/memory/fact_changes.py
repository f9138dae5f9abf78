"""Changes of facts by hand: a person, or a program for them, adds a fact, edits its value or deletes it.

Who changes a fact must have said it, or be the person it is about and may see it, as with `forget`; for anybody else
it does not exist. A change is kept in the log and stands when the facts are built again; the old value stays as
history, with its times, as long as what told it is there: the change itself names it only by id. An edited fact is
seen by those who saw it before: what was said in private stays private.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from functools import partial

from everword.errors import InvalidInput, NotFound
from everword.facts import view
from everword.facts.profile_changes import restore_statements
from everword.facts.rules.deciding import MAX_VALUE, refusal, tidy_fact
from everword.facts.rules.keys import MAX_KEY
from everword.facts.tables import people as profiles
from everword.facts.tables.fact_changes import (
    DELETED,
    change_metadata,
    decided_facts,
    denied_ids,
    ids_saying,
    line_of,
    put_change,
    to_found_fact,
)
from everword.facts.tables.facts import fact_with_id, facts_of
from everword.facts.tables.findings import facts_in_slots, slot_of
from everword.facts.viewers import viewer_alone
from everword.log import rules
from everword.log.access import may_take_back
from everword.log.tables import warn_of_damage
from everword.memory.runtime import Runtime
from everword.model import (
    FACT_CATEGORIES,
    Batch,
    Draft,
    Fact,
    FactCategory,
    FactChange,
    FactChangeKind,
    Forgotten,
    FoundFact,
    Message,
    Statement,
)
from everword.model.notes import own_notes
from everword.ports import Tx

BYTES_PER_CHARACTER = 4  # at most, in UTF-8


class FactChanges:
    """Reads and changes single facts, over a runtime. Its methods are those of the memory's face."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def fact(self, id: str, *, user: str, space: str | None = None) -> Fact:
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        fact_id = rules.check_id("fact", id)
        return await self.runtime.read(lambda tx: find_fact(tx, space_id, user_id, fact_id))

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
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        author = user_id if speaker is None else rules.check_id("speaker", speaker)
        new = FoundFact(
            check_category(category),
            check_line("key", key, MAX_KEY),
            check_line("value", value, MAX_VALUE),
            subject=None if subject is None else check_line("subject", subject, MAX_KEY),
            corrects=True,
            since=rules.check_day("valid_from", valid_from),
            until=rules.check_day("valid_to", valid_to),
        )
        if new.category == "instruction" and author != user_id:
            raise InvalidInput("category", "is 'instruction': nobody gives instructions for another")
        self.runtime.parts.secrets.refuse_secrets("value", line_of(new))
        new = check_found_fact(new)
        slot = slot_of(new)

        def last_said(tx: Tx) -> datetime | None:
            return max((fact.said_at for fact in facts_in_slots(tx, space_id, user_id, {slot})), default=None)

        after = await self.runtime.read(last_said)
        metadata = change_metadata("add", [new], None, after)
        message = await self._append_change(space_id, author, line_of(new), metadata)
        return await self._store_change("add", user_id, message, None)

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
        space_id = self.runtime.resolve_space(space)
        text = check_line("value", value, MAX_VALUE)
        since = rules.check_day("valid_from", valid_from)
        until = rules.check_day("valid_to", valid_to)
        old, author = await self._changeable_fact(id, space_id, user, speaker)
        if text == old.value and since is None and until is None:
            raise InvalidInput("value", "is the value that the fact has already")
        self.runtime.parts.secrets.refuse_secrets("value", f"{old.key}: {text}")
        new = check_found_fact(
            FoundFact(
                old.category, old.key, text, 1.0, old.importance, old.subject, corrects=True, since=since, until=until
            )
        )
        metadata = change_metadata("edit", [new], old.audience, old.said_at)
        message = await self._append_change(space_id, author, line_of(new), metadata)
        return await self._store_change("edit", old.user, message, old)

    async def delete_fact(
        self, id: str, *, user: str, speaker: str | None = None, space: str | None = None
    ) -> FactChange:
        space_id = self.runtime.resolve_space(space)
        old, author = await self._changeable_fact(id, space_id, user, speaker)
        metadata = change_metadata("delete", [], old.audience, old.said_at)
        message = await self._append_change(space_id, author, DELETED, metadata)
        return await self._store_change("delete", old.user, message, old)

    async def _changeable_fact(self, id: str, space: str, user: str, speaker: str | None) -> tuple[Fact, str]:
        """The fact that somebody wants to change, and who that is."""
        user_id = rules.check_id("user", user)
        author = user_id if speaker is None else rules.check_id("speaker", speaker)
        fact_id = rules.check_id("fact", id)

        def read(tx: Tx) -> Fact:
            fact = find_fact(tx, space, user_id, fact_id)
            viewer = viewer_alone(tx, space, author, shared=self.runtime.parts.share_channels)
            if not may_take_back(author, fact, viewer):
                raise missing_fact(space, user_id, fact_id, f" that {author!r} may change")
            return fact

        fact = await self.runtime.read(read)
        if not fact.active:
            raise InvalidInput("fact", f"{fact_id!r} is history: it does not hold any more, and cannot be changed")
        return fact, author

    async def _append_change(self, space: str, author: str, text: str, metadata: dict[str, object]) -> Message:
        draft = Draft("user", text, author, author, metadata=metadata)
        batch = Batch(space, rules.profile_conversation(author), author, [draft])
        return (await self.runtime.append_messages([batch], is_source=True))[0][0].message

    async def _store_change(self, kind: FactChangeKind, person: str, message: Message, old: Fact | None) -> FactChange:
        change = await self.runtime.write(partial(store_change, kind, person, message, old))
        self.runtime.wake()
        return change


def store_change(kind: FactChangeKind, person: str, message: Message, old: Fact | None, tx: Tx) -> FactChange:
    """Keep a change, and weigh what follows from it."""
    space = message.space
    tx.lock(view.LOCK, space, person)
    new_facts = map(to_found_fact, own_notes(message.metadata)["facts"])
    slots = {slot_of(tidy_fact(fact)) for fact in new_facts} | ({slot_of(old)} if old is not None else set())
    before = {fact.id: fact for fact in facts_in_slots(tx, space, person, slots)}
    if old is not None and not (old.id in before and before[old.id].active):
        raise InvalidInput("fact", f"{old.id!r} was changed by somebody else at the same time; look at it again")
    sources = (message.id,) if old is None else (message.id, *ids_saying(tx, before[old.id]))
    row = Statement(space, person, message.id, message.content, message.author, message.time, sources)
    put_change(tx, row)
    view.store_facts(tx, space, message.conversation, (), decided=[decided_facts(row, message)])
    view.mark_command_read(tx, message)
    after = facts_in_slots(tx, space, person, slots)
    retired = [fact for fact in after if not fact.active and fact.id in before and before[fact.id].active]
    standing = [fact for fact in after if message.id in fact.sources and fact not in retired]
    return FactChange(message.id, kind, message.author, message.time, standing[0] if standing else None, tuple(retired))


def undo_change(tx: Tx, space: str, person: str, id: str, asker: str | None) -> Forgotten | None:
    """Take back a change of facts. Returns what came back by it; None if there is no change with this id."""
    rows = statements_of_change(tx, space, person, id, asker)
    if not rows:
        return None
    tx.lock(view.LOCK, space, person)
    messages = tx.find_messages(space, ids=[id], damaged=warn_of_damage)
    before = {fact.id for fact in facts_of(tx, space, person, active=True)}
    made_here = {id, *(fact.id for fact in facts_of(tx, space, person) if fact.sources[0] == id)}
    put_change(tx, replace(rows[0], active=False, retired_by=None))
    for message in messages:
        view.withdraw_facts(tx, space, person, message, denied_ids(rows[0]))
    restored_facts = [fact for fact in facts_of(tx, space, person, active=True) if fact.id not in before]
    statements = restore_statements(tx, space, person, made_here)
    return Forgotten(id, tuple(statements), tuple(restored_facts))


def statements_of_change(tx: Tx, space: str, person: str, id: str, asker: str | None) -> list[Statement]:
    rows = profiles.statements_of(tx, space, person, kind=profiles.CHANGES)
    return [row for row in rows if row.id == id and asker in (None, row.speaker)]


# -- facts


def find_fact(tx: Tx, space: str, person: str, id: str) -> Fact:
    fact = fact_with_id(tx, space, person, id)
    if fact is None:
        raise missing_fact(space, person, id)
    return fact


def missing_fact(space: str, person: str, id: str, which: str = "") -> NotFound:
    return NotFound(f"user {person!r} has no fact {id!r}{which} in space {space!r}; `facts` lists them")


# -- checks


def check_category(value: str) -> FactCategory:
    for category in FACT_CATEGORIES:
        if value == category:
            return category
    raise InvalidInput("category", f"is {value!r}; must be one of {', '.join(FACT_CATEGORIES)}")


def check_line(field: str, value: str, limit: int) -> str:
    """The text on one line; it must say something, and not be longer than facts may be."""
    text = " ".join(rules.check_text(field, value, limit=limit * BYTES_PER_CHARACTER).split())
    if not text:
        raise InvalidInput(field, "is empty")
    if len(text) > limit:
        raise InvalidInput(field, f"has {len(text)} characters; at most {limit} are allowed")
    return text


def check_found_fact(fact: FoundFact) -> FoundFact:
    """The fact with its key in its one form; raises InvalidInput if it cannot be kept."""
    tidy = tidy_fact(fact)
    if tidy.since is not None and tidy.until is not None and tidy.until < tidy.since:
        raise InvalidInput("valid_to", f"is {tidy.until}, before valid_from, {tidy.since}")
    refused = refusal(tidy)
    if refused is not None:
        raise InvalidInput("fact" if tidy.key else "key", f"cannot be kept: {refused.reason}")
    return tidy
