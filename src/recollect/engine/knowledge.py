"""What is known of people, asked and told: facts with their history, statements that were remembered, names.

What is told is kept in the log like everything else, in a conversation of its own for each person, before anything is
made of it. A profile changes under the person's lock, and only if it still is what was thought about: two who tell at
once lose nothing. Nothing is removed: what was forgotten is retired, and can be brought back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import cast

from recollect.engine import facts, knowing, log, profiles
from recollect.engine.fact_rows import facts_of
from recollect.engine.fact_rows import put as put_facts
from recollect.engine.profiles import name_of, statements_of
from recollect.engine.running import Running
from recollect.errors import EmbedderError, InvalidInput, NotFound
from recollect.model import FACT_CATEGORIES, Draft, Fact, Forgotten, Message, Profile, Statement
from recollect.ports import Tx
from recollect.rules import log as rules
from recollect.rules.fact_finding import find
from recollect.rules.facts import as_of as as_of_then
from recollect.rules.facts import history as fact_history
from recollect.rules.forgetting import matching_facts, sought
from recollect.rules.names import Ambiguous, Member, Resolved, Unknown, resolve
from recollect.rules.profiles import Merge, remembered, restored
from recollect.rules.third_person import first_person
from recollect.tasks import forget, remember

MAX_KEY = 200  # bytes
MAX_STATEMENT = 4_000  # bytes
TRIES = 5  # how often a profile that others change meanwhile is thought about anew
TOLD = "profile:"  # the conversation in which what was told about a person is kept: this and their id
Whom = Resolved | Ambiguous | Unknown


class Knowledge(Running):
    """What is known."""

    async def facts(
        self, *, user: str, as_of: datetime | None = None, category: str | None = None, space: str | None = None
    ) -> list[Fact]:
        """What is known of a person, most important first: now, or as it was so at a time."""
        place, who, when = self._space(space), rules.checked_id("user", user), self._time("as_of", as_of)
        kind = None if category is None else checked_category(category)
        known = await self._read(lambda tx: facts_of(tx, place, who, active=when is None))
        held = known if when is None else as_of_then(known, when)
        chosen = [fact for fact in held if kind is None or fact.category == kind]
        return sorted(chosen, key=lambda fact: (-fact.importance, fact.category, fact.key, fact.recorded_at, fact.id))

    async def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """Every value a key has had, oldest first, with the times between which it was so."""
        place, who = self._space(space), rules.checked_id("user", user)
        rules.checked_text("key", key, limit=MAX_KEY)
        known = await self._read(lambda tx: facts_of(tx, place, who))
        return fact_history(known, key)

    async def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """The messages a fact came from, oldest first."""
        place, who, id = self._space(space), rules.checked_id("user", user), rules.checked_id("fact", fact)

        def read(tx: Tx) -> list[Message]:
            found = [one for one in facts_of(tx, place, who) if one.id == id]
            if not found:
                raise NotFound(f"user {who!r} has no fact {id!r} in space {place!r}; `facts` lists them")
            messages = [one for one in tx.find_messages(place, ids=found[0].sources) if not one.erased]
            return sorted(messages, key=lambda message: (message.time, message.conversation, message.turn))

        return await self._read(read)

    # -- telling

    async def remember(
        self, text: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> list[Statement]:
        """Keep a statement about a person, in the third person; what it contradicts gives way. Returns what now stands.

        `speaker` says it, the person themselves if nobody is named. `message` is the id of the message in the log that
        asked for it; without one, the text itself is kept there.
        """
        place, who = self._space(space), rules.checked_id("user", user)
        rules.checked_text("text", text, limit=MAX_STATEMENT)
        said = await self._told("remember", text, place, who, speaker, message)
        for last in (False,) * TRIES + (True,):
            name, known = await self._read(lambda tx: (name_of(tx, place, who), statements_of(tx, place, who)))
            by = "" if said.author == who else await self._read(lambda tx: name_of(tx, place, said.author))
            inputs = remember.Inputs(name, tuple(one.text for one in known), text, by)
            merged = remember.offline(inputs) if last else (await self._asking.ask(remember, inputs)).reply
            if not merged:
                raise InvalidInput("text", "says nothing that can be remembered; write it as in 'Alex lives in Berlin'")
            kept = await self._write(partial(keep_statements, place, who, name, known, merged, said, last, inputs))
            if kept is not None:
                self._wake()
                return list(kept)
        raise AssertionError("the last try always succeeds")

    async def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        """Take out of a person's profile what fits the words, statements and facts; says whether anything did.

        Nothing is removed from the log or from history: `undo` brings it back. To remove for good, `erase`.
        """
        place, who = self._space(space), rules.checked_id("user", user)
        rules.checked_text("what", what, limit=MAX_STATEMENT)
        name, known, held = await self._read(lambda tx: everything_of(tx, place, who))
        cosines = await self._likeness(known, sought(name, what))
        inputs = forget.Inputs(name, tuple(one.text for one in known), what, cosines)
        reply = (await self._asking.ask(forget, inputs)).reply
        if reply.everything:
            return Forgotten(None, everything=True)
        texts = {known[number - 1].id for number in reply.numbers}
        meant = {fact.id for fact in matching_facts(held, what, name=name)}
        if not texts and not meant:
            return Forgotten(None)
        said = await self._told("forget", what, place, who, speaker, message)
        gone = await self._write(partial(forget_all, place, who, what, texts, meant, said, self._opened.clock.now()))
        self._wake()
        return gone

    async def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Bring back what a `forget` took out, by the id it gave."""
        place, who, key = self._space(space), rules.checked_id("user", user), rules.checked_id("id", id)
        return await self._write(lambda tx: bring_back(tx, place, who, key))

    async def profile(self, *, user: str, space: str | None = None) -> Profile:
        """What is known of a person, facts and statements, as a context in their own chat would show it."""
        place, who = self._space(space), rules.checked_id("user", user)
        return await self._read(lambda tx: knowing.profile_of(tx, place, who))

    async def _told(
        self, command: str, text: str, space: str, user: str, speaker: str | None, message: str | None
    ) -> Message:
        """The message in the log that a command came with, or was."""
        author = user if speaker is None else rules.checked_id("speaker", speaker)
        if message is not None:
            id = rules.checked_id("message", message)
            found = await self._read(lambda tx: tx.find_messages(space, ids=[id]))
            if not found:
                raise NotFound(f"there is no message {id!r} in space {space!r}")
            return cast(Message, found[0])
        draft = Draft("user", text, author, user, metadata={"recollect": {"command": command}})
        batch = log.Batch(space, f"{TOLD}{user}", user, [draft])
        return (await self._add([batch]))[0][0].message

    async def _likeness(self, known: Sequence[Statement], text: str) -> tuple[float, ...]:
        """The cosine of each statement to a text; none if the embedder fails, since words go a long way."""
        try:
            vectors = await self._opened.embedder.embed([text, *(one.text for one in known)])
        except EmbedderError:
            return ()
        return tuple(float(cosine) for cosine in vectors[1:] @ vectors[0])

    # -- who is who

    async def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        """What else a person goes by: "display", "nickname", "alias" or "mention"."""
        place, who, now = self._space(space), rules.checked_id("user", user), self._opened.clock.now()
        if kind not in profiles.KINDS:
            raise InvalidInput("kind", f"is {kind!r}; must be one of {', '.join(profiles.KINDS)}")
        rules.checked_id("name", name)
        await self._write(lambda tx: profiles.put_name(tx, place, who, kind, name, now))

    async def people(self, *, space: str | None = None) -> list[Member]:
        """Everybody who has spoken in a space, or was given a name there."""
        place = self._space(space)
        return await self._read(lambda tx: profiles.members_of(tx, place))

    async def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        """Whom a name, nickname, alias, mention or id means: one, several to ask back about, or nobody."""
        place = self._space(space)
        rules.checked_text("name", name, limit=MAX_KEY)
        members = await self._read(lambda tx: profiles.members_of(tx, place))
        return resolve(name, members, speaker=speaker)


def keep_statements(
    space: str,
    user: str,
    name: str,
    known: Sequence[Statement],
    merged: Merge,
    said: Message,
    last: bool,
    inputs: remember.Inputs,
    tx: Tx,
) -> list[Statement] | None:
    """Store a merge, if the profile still is what was merged into; after many tries, merge again on the spot."""
    tx.lock(facts.LOCK, space, user)
    now = statements_of(tx, space, user)
    if [one.id for one in now] != [one.id for one in known]:
        if not last:
            return None
        merged = remember.offline(replace(inputs, statements=tuple(one.text for one in now)))
    rows = remembered(
        now,
        merged,
        space=space,
        user=user,
        speaker=said.author,
        said_at=said.time,
        source=said.id,
        audience=heard(tx, said),
    )
    profiles.put(tx, rows)
    found = [(said, find(first_person(name, text), said.time.date())) for text in merged.added]
    facts.keep(tx, space, said.conversation, found, person=user)
    return [row for row in rows if row.active]


def heard(tx: Tx, said: Message) -> str | None:
    """The group that heard a message, or None if it was said in private."""
    owner = tx.conversation(said.space, said.conversation)
    return said.conversation if owner is not None and owner.user is None else None


def everything_of(tx: Tx, space: str, user: str) -> tuple[str, list[Statement], list[Fact]]:
    held = facts_of(tx, space, user, active=True)
    return name_of(tx, space, user), statements_of(tx, space, user), held


def forget_all(
    space: str, user: str, what: str, texts: set[str], meant: set[str], said: Message, now: datetime, tx: Tx
) -> Forgotten:
    """Retire statements and facts by their ids, those that still stand, and keep the request."""
    tx.lock(facts.LOCK, space, user)
    request = Statement(space, user, said.id, what, said.author, said.time, (said.id,))
    profiles.put(tx, [request], profiles.FORGET)
    gone = [
        replace(one, active=False, retired_at=said.time, retired_by=said.id)
        for one in statements_of(tx, space, user)
        if one.id in texts
    ]
    over = [
        facts.retired(fact, said.id, said.time) for fact in facts_of(tx, space, user, active=True) if fact.id in meant
    ]
    profiles.put(tx, gone)
    put_facts(tx, over)
    return Forgotten(said.id, tuple(gone), tuple(over))


def bring_back(tx: Tx, space: str, user: str, id: str) -> Forgotten:
    tx.lock(facts.LOCK, space, user)
    requests = [one for one in statements_of(tx, space, user, kind=profiles.FORGET) if one.id == id]
    if not requests:
        raise NotFound(f"user {user!r} has nothing forgotten under {id!r} in space {space!r}")
    profiles.put(tx, [replace(requests[0], active=False)], profiles.FORGET)
    every = statements_of(tx, space, user, active=False)
    back = [restored(one) for one in every if one.retired_by == id]
    held = facts_of(tx, space, user)
    again = [facts.standing(fact) for fact in held if fact.retired_by == id and not facts.taken(fact, held)]
    profiles.put(tx, back)
    put_facts(tx, again)
    return Forgotten(id, tuple(back), tuple(again))


def checked_category(value: str) -> str:
    if value not in FACT_CATEGORIES:
        raise InvalidInput("category", f"is {value!r}; must be one of {', '.join(FACT_CATEGORIES)}")
    return value
