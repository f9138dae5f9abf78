"""What is known of people: facts with their history, statements to remember, names.

What a speaker tells is first kept in the log, in a conversation of the speaker's own, and then read. A profile changes
under the person's lock, and only if it is still the one that the change was made for: two speakers at once lose
nothing. Nothing is removed: what was forgotten is retired, and can be restored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from everword.context import people as knowing
from everword.errors import EmbedderError, Forbidden, InvalidInput, NotFound
from everword.facts import view as facts
from everword.facts.profile_changes import (
    forgettable_knowledge,
    keep_statements,
    read_merge_inputs,
    restore_knowledge,
    retire_knowledge,
)
from everword.facts.prompts import ForgetInputs, RememberInputs, forget, remember
from everword.facts.rules.deciding import facts_as_of, facts_now
from everword.facts.rules.deciding import history as fact_history
from everword.facts.rules.keys import is_in_category
from everword.facts.rules.statements import AuthoredMessage, matching_facts, parse_statement, target_statement
from everword.facts.rules.third_person import statements_about
from everword.facts.tables import people as profiles
from everword.facts.tables.facts import facts_of
from everword.facts.tables.facts import put_facts as put_facts
from everword.facts.tables.findings import refusals_of
from everword.facts.viewers import own_name, viewer_alone
from everword.log import rules
from everword.log import tables as log
from everword.log.access import Access, Viewer
from everword.log.rules import first_expiry
from everword.memory.fact_changes import check_category, undo_change
from everword.memory.fact_search import rank_facts
from everword.memory.runtime import Runtime
from everword.model import (
    Batch,
    Digest,
    Draft,
    Fact,
    Forgotten,
    Member,
    Message,
    Profile,
    RefusedFact,
    Statement,
    Whom,
)
from everword.model.notes import NOTES
from everword.ports import Tx
from everword.summaries import digests as days
from everword.summaries.digest_texts import recent_speakers
from everword.summaries.rules.days import parse_time_zone
from everword.text.fences import is_taken, resolve

MAX_KEY = 200  # bytes
MAX_STATEMENT = 4_000  # bytes
TRIES = 5  # how often a merge is made again when others change the profile meanwhile
NO_NAMES = "a user's key without the scope 'read' sends no display name: leave out `name` in the metadata"
NOTHING_SAID = "says nothing that can be remembered; write it as in 'Alex lives in Berlin'"


class Knowledge:
    """What is known of people, over a runtime. Its methods are those of the memory's face."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def facts(
        self,
        *,
        user: str,
        query: str | None = None,
        as_of: datetime | None = None,
        category: str | None = None,
        space: str | None = None,
    ) -> list[Fact]:
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        moment = None if as_of is None else rules.check_time("as_of", as_of)
        kind = None if category is None else check_category(category)
        all_facts = await self.runtime.read(lambda tx: facts_of(tx, space_id, user_id, active=moment is None))
        now = self.runtime.parts.clock.now()
        valid_facts = facts_now(all_facts, now) if moment is None else facts_as_of(all_facts, moment)
        selection = [fact for fact in valid_facts if kind is None or is_in_category(fact.category, fact.key, kind)]
        if query is not None:
            rules.check_text("query", query, limit=MAX_STATEMENT)
            ranked = await rank_facts(self.runtime, self.runtime.parts.secrets.mask(query), selection)
            return [fact for fact, _ in ranked]
        return sorted(selection, key=importance_order)

    async def refused_facts(self, *, user: str, space: str | None = None) -> list[RefusedFact]:
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        refused: list[RefusedFact] = await self.runtime.read(lambda tx: refusals_of(tx, space_id, user_id))
        return refused

    async def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        rules.check_text("key", key, limit=MAX_KEY)
        all_facts = await self.runtime.read(lambda tx: facts_of(tx, space_id, user_id))
        return fact_history(all_facts, key)

    async def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        fact_id = rules.check_id("fact", fact)

        def read(tx: Tx) -> list[Message]:
            matches = [candidate for candidate in facts_of(tx, space_id, user_id) if candidate.id == fact_id]
            if not matches:
                raise NotFound(f"user {user_id!r} has no fact {fact_id!r} in space {space_id!r}; `facts` lists them")
            sources = tx.find_messages(space_id, ids=matches[0].sources, damaged=log.warn_of_damage)
            messages = [message.without_secrets for message in sources if not message.erased]
            return sorted(messages, key=time_order)

        return await self.runtime.read(read)

    # -- changing

    async def remember(
        self,
        text: str,
        *,
        user: str,
        speaker: str | None = None,
        message: str | None = None,
        expires: datetime | timedelta | None = None,
        space: str | None = None,
    ) -> list[Statement]:
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        rules.check_text("text", text, limit=MAX_STATEMENT)
        now = self.runtime.parts.clock.now()
        expires_at = None if expires is None else rules.check_expiry("expires", expires, now)
        name = await self.runtime.read(lambda tx: own_name(tx, space_id, user_id))
        masked_text = self.runtime.parts.secrets.guard_text("text", text)
        if not statements_about(name, masked_text):
            raise InvalidInput("text", NOTHING_SAID)
        source = await self._command_message(
            "remember", text, space_id, user_id if speaker is None else speaker, message, expires_at
        )
        statements = await self.merge_statement(masked_text, user_id, source, expires_at=expires_at)
        if not statements:
            raise InvalidInput("text", NOTHING_SAID)
        return statements

    async def merge_statement(
        self,
        text: str,
        user: str,
        message: Message,
        conversation: tuple[AuthoredMessage, ...] = (),
        expires_at: datetime | None = None,
    ) -> list[Statement]:
        """Merge what a message in the log says of a person into their profile; an empty list if it says nothing.

        Without a text, the end of the `conversation` is what is meant. A statement expires with its message, or before.
        """
        end = first_expiry(expires_at, message.expires_at)
        for is_last in (False,) * TRIES + (True,):
            name, speaker_name, statements = await self.runtime.read(
                lambda tx: read_merge_inputs(tx, user, message, end)
            )
            inputs = RememberInputs(
                name, tuple(statement.text for statement in statements), text, speaker_name, conversation
            )
            merge = remember.offline(inputs) if is_last else (await self.runtime.tasks.ask(remember, inputs)).reply
            if not merge:
                return []
            standing = await self.runtime.write(
                partial(keep_statements, user, name, statements, merge, message, is_last, inputs, end)
            )
            if standing is not None:
                self.runtime.wake()
                return standing
        raise AssertionError("the last try always succeeds")

    async def forget(
        self,
        what: str,
        *,
        user: str,
        speaker: str | None = None,
        message: str | None = None,
        space: str | None = None,
        meant_id: str | None = None,
    ) -> Forgotten:
        """Retire what fits the words. If they are taken from another message than the request, `meant_id` is its id."""
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        rules.check_text("what", what, limit=MAX_STATEMENT)
        what = self.runtime.parts.secrets.guard_text("what", what)
        request = None if message is None else await self._message(space_id, message)
        author = request.author if request else user_id if speaker is None else rules.check_id("speaker", speaker)
        await self.wait_for_facts(space_id)
        now = self.runtime.parts.clock.now()

        def read(tx: Tx) -> tuple[str, list[Statement], list[Fact]]:
            return forgettable_knowledge(tx, space_id, user_id, author, self.viewer_of(tx, space_id, author), now)

        name, statements, known_facts = await self.runtime.read(read)
        cosines = await self._cosines(statements, target_statement(name, what))
        inputs = ForgetInputs(name, tuple(statement.text for statement in statements), what, cosines)
        reply = (await self.runtime.tasks.ask(forget, inputs)).reply
        if reply.everything:
            return Forgotten(None, everything=True)
        chosen_statements = [statements[number - 1] for number in reply.numbers]
        # The facts of a retired statement are retired with it, however the request was worded.
        descriptions = [
            what,
            *(statement.text for statement in chosen_statements if parse_statement(name, statement.text).facts),
        ]
        fact_ids = {
            fact.id for description in descriptions for fact in matching_facts(known_facts, description, name=name)
        }
        if not chosen_statements and not fact_ids:
            return Forgotten(None)
        source = request or await self._command_message("forget", what, space_id, author, None)
        outcome = await self.runtime.write(
            partial(
                retire_knowledge,
                space_id,
                user_id,
                what,
                {statement.id for statement in chosen_statements},
                fact_ids,
                source,
                meant_id,
            )
        )
        self.runtime.wake()
        return outcome

    async def undo(self, id: str, *, user: str, space: str | None = None, asker: str | None = None) -> Forgotten:
        """Undo a `forget` or a change of a fact; with an `asker`, only one that they asked for themselves."""
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        request_id = rules.check_id("id", id)

        def restore(tx: Tx) -> Forgotten:
            change = undo_change(tx, space_id, user_id, request_id, asker)
            return change or restore_knowledge(tx, space_id, user_id, request_id, asker)

        result = await self.runtime.write(restore)
        self.runtime.wake()
        return result

    async def profile(
        self, *, user: str, space: str | None = None, wait: float | None = None, viewer: Viewer | None = None
    ) -> Profile:
        """The profile of a person as far as a viewer may see it: the person themselves, if none is given."""
        space_id = self.runtime.resolve_space(space)
        person = rules.check_id("user", user)
        reader = viewer or Viewer(person, shared=True)
        digest_request = await self.runtime.digests.prepare_request(space_id, self._check_wait(wait))
        now = self.runtime.parts.clock.now()
        profile: Profile = await self.runtime.read(lambda tx: knowing.profile_of(tx, space_id, person, reader, now))
        statements = await self.runtime.read(
            lambda tx: knowing.statements_beside(tx, profile.statements, profile.facts)
        )
        own_facts, own_statements = knowing.own_knowledge(profile.facts, statements)
        # A digest is kept: what expires is shown beside it.
        lasting = [statement for statement in own_statements if statement.expires_at is None]
        expiring = [statement for statement in own_statements if statement.expires_at is not None]
        own_words = knowing.profile_text(own_facts, lasting)
        claims = knowing.profile_text(*knowing.claims_in(profile.facts, statements))
        digest = await self.runtime.digests.merge_digests(digest_request, person, profile.name, own_words)
        context = "\n".join(filter(None, (digest.text, knowing.profile_text((), expiring), claims)))
        return replace(profile, today=digest.today, history=digest.history, context=context)

    async def digests(
        self,
        space: str | None = None,
        *,
        day: date | None = None,
        user: str | None = None,
        week: bool = False,
        wait: float | None = None,
    ) -> list[Digest]:
        space_id = self.runtime.resolve_space(space)
        seconds = self._check_wait(wait)
        user_id = None if user is None else rules.check_id("user", user)
        if day is not None and (isinstance(day, datetime) or not isinstance(day, date)):
            raise InvalidInput("day", f"is a {type(day).__name__}; must be a date")
        digest_request = await self.runtime.digests.prepare_request(space_id, seconds, day)
        if not week:
            digests_by_user = await self.runtime.digests.day(digest_request, digest_request.on)
            return [digests_by_user[id] for id in sorted(digests_by_user) if user_id in (None, id)]
        members = (
            [user_id]
            if user_id
            else await self.runtime.read(lambda tx: recent_speakers(tx, space_id, digest_request.on))
        )
        histories = await asyncio.gather(*(self.runtime.digests.history(digest_request, member) for member in members))
        return [history for history in histories if history is not None]

    async def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        space_id = self.runtime.resolve_space(space)
        default = self.runtime.parts.time_zone
        rules.check_id("time_zone", name)
        parse_time_zone(name)
        await self.runtime.write(lambda tx: days.set_zone(tx, space_id, name, default))
        self.runtime.wake()

    def viewer_of(self, tx: Tx, space: str, person: str) -> Viewer:
        """The viewer for a person who reads alone, by this memory's settings."""
        return viewer_alone(tx, space, person, shared=self.runtime.parts.share_channels)

    def _check_wait(self, wait: float | None) -> float:
        parts = self.runtime.parts
        if wait is not None and not (isinstance(wait, int | float) and 0 <= wait < float("inf")):
            raise InvalidInput("wait", f"is {wait!r}; must be a number of seconds, 0 or more")
        return parts.digest_seconds if wait is None else wait

    async def _command_message(
        self,
        command: str,
        text: str,
        space: str,
        speaker: str,
        message: str | None,
        expires_at: datetime | None = None,
    ) -> Message:
        """The message in the log that gave a command; if there is none, the text is kept as one, by its speaker."""
        if message is not None:
            return await self._message(space, message)
        author = rules.check_id("speaker", speaker)
        draft = Draft("user", text, author, author, metadata={NOTES: {"command": command}}, expires_at=expires_at)
        batch = Batch(space, rules.profile_conversation(author), author, [draft])
        return (await self.runtime.append_messages([batch], is_source=True))[0][0].message

    async def _message(self, space: str, message: str) -> Message:
        message_id = rules.check_id("message", message)
        messages: Sequence[Message] = await self.runtime.read(lambda tx: tx.find_messages(space, ids=[message_id]))
        if not messages or not messages[0].is_shown_at(self.runtime.parts.clock.now()):
            raise NotFound(f"there is no message {message_id!r} in space {space!r}")
        return messages[0]

    async def wait_for_facts(self, space: str) -> None:
        """Wait a moment until the facts view has read what was just said in a space."""
        await self.runtime.wait_for_view(facts.FactsView.name, space)

    async def _cosines(self, statements: Sequence[Statement], text: str) -> tuple[float, ...]:
        """The cosine of each statement to a text; none if the embedder fails: the words are enough to go on."""
        try:
            vectors = await self.runtime.parts.embedder.embed([text, *(statement.text for statement in statements)])
        except EmbedderError:
            return ()
        return tuple(float(cosine) for cosine in vectors[1:] @ vectors[0])

    # -- names

    async def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        now = self.runtime.parts.clock.now()
        if kind not in profiles.KINDS:
            raise InvalidInput("kind", f"is {kind!r}; must be one of {', '.join(profiles.KINDS)}")
        name = self.runtime.parts.secrets.guard_text("name", rules.check_id("name", name))
        await self.runtime.write(lambda tx: profiles.put_name(tx, space_id, user_id, kind, name, now))

    async def check_display_names(self, access: Access, space: str, *metadatas: Mapping[str, Any]) -> None:
        """Raise if messages by a user's key come with a display name that another member has; to a key that may not
        read, which names there are is not told."""
        if access.user is None:  # a program says who is called what
            return
        names = {name for metadata in metadatas if isinstance(name := metadata.get("name"), str)}
        if names and not access.is_reader:
            raise Forbidden("scope", NO_NAMES)
        for name in names:
            await self.check_free_name(name, user=access.user, space=space)

    async def check_free_name(self, name: str, *, user: str, space: str) -> None:
        """Raise if another member of the space has this name, or one that can be mistaken for it. For those who name
        themselves; a program says who is called what."""
        members = await self.runtime.read(lambda tx: profiles.members_of(tx, space))
        if is_taken(name, [member for member in members if member.id != user]):
            raise InvalidInput("name", "is taken, or looks like a name that is: choose another")

    async def people(self, *, space: str | None = None) -> list[Member]:
        space_id = self.runtime.resolve_space(space)
        return await self.runtime.read(lambda tx: profiles.members_of(tx, space_id))

    async def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        space_id = self.runtime.resolve_space(space)
        rules.check_text("name", name, limit=MAX_KEY)
        members = await self.runtime.read(lambda tx: profiles.members_of(tx, space_id))
        return resolve(name, members, speaker=speaker)


def importance_order(fact: Fact) -> tuple[float, str, str, datetime, str]:
    """The sort key that puts the most important fact first."""
    return -fact.importance, fact.category, fact.key, fact.recorded_at, fact.id


def time_order(message: Message) -> tuple[datetime, str, int]:
    return message.time, message.conversation, message.turn
