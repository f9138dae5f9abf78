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
from everword.facts import stored_facts as profiles
from everword.facts.profile_changes import (
    MergeScene,
    forgettable_knowledge,
    keep_statements,
    restore_knowledge,
    retire_knowledge,
)
from everword.facts.prompts import ForgetInputs, forget, remember
from everword.facts.rules.person_shift import statements_about
from everword.facts.rules.remembered_statements import (
    AuthoredMessage,
    matching_facts,
    parse_statement,
    target_statement,
)
from everword.facts.stored_facts import own_name, viewer_alone
from everword.facts.view import FactsView
from everword.log import checks_and_seals
from everword.log.access import Access, Viewer
from everword.log.append_and_read import NAME_KINDS, PEOPLE, SHOWN_BY_PLATFORM
from everword.log.checks_and_seals import first_expiry
from everword.log.operation_declarations import operation
from everword.memory.operations.facts import undo_change
from everword.memory.runtime import MemoryPart, Runtime
from everword.model import Batch, Digest, Draft, Fact, Forgotten, Member, Message, Profile, Statement, Whom
from everword.model.log import NOTES
from everword.ports import Tx
from everword.summaries import digests as days
from everword.summaries.digests import recent_speakers
from everword.summaries.rules.days import parse_time_zone
from everword.text.names import is_taken, resolve

MAX_KEY = 200  # bytes
MAX_STATEMENT = 4_000  # bytes
TRIES = 5  # how often a merge is made again when others change the profile meanwhile
NO_NAMES = "a user's key needs the scope 'read' to set a display name; leave out `name` in the metadata"
NOTHING_SAID = "says nothing that can be remembered; write a statement such as 'Alex lives in Berlin'"


class Knowledge(MemoryPart):
    """What is known of people."""

    @operation("POST /v1/users/{user as id}/remember", right="write", once="words", tool="remember")
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
        """Store a statement about a person, in the third person ("Alex likes tea"). The new statement replaces stored
        statements that it contradicts. Returns the statements about the person that are true now.

        `speaker` is the user who makes the statement, by default the person whom it is about. If the statement was made
        in a stored message, pass the message's id as `message`. If you pass no `message`, everword stores `text` as a
        new message. With `expires` (a time, or a time span from now), the statement is shown only until it expires. A
        statement with `expires` replaces no lasting statement, and no fact is extracted from the statement.
        """
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        checks_and_seals.check_text("text", text, limit=MAX_STATEMENT)
        now = self.runtime.parts.clock.now()
        expires_at = None if expires is None else checks_and_seals.check_expiry("expires", expires, now)
        name = await self.runtime.read(lambda tx: own_name(tx, space_id, user_id))
        masked_text = self.runtime.parts.secrets.guard_text("text", text)
        if not statements_about(name, masked_text):
            raise InvalidInput("text", NOTHING_SAID)
        author = user_id if speaker is None else speaker
        source = await keep_command(self.runtime, "remember", text, space_id, author, message, expires_at)
        statements = await merge_statement(self.runtime, masked_text, user_id, source, expires_at=expires_at)
        if not statements:
            raise InvalidInput("text", NOTHING_SAID)
        return statements

    @operation("POST /v1/users/{user as id}/forget", right="write", once="words", tool="forget")
    async def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        """Remove the statements and facts in a person's profile that match the words in `what`. Returns what was
        removed.

        The log and the history keep what `forget` removed, and `undo` restores the removed statements and facts. To
        remove a person's messages permanently, use `erase`. A `speaker` other than the person can remove only what this
        speaker said about the person.
        """
        space_id = self.runtime.resolve_space(space)
        return await forget_knowledge(self.runtime, space_id, what, user, speaker, message)

    @operation("POST /v1/users/{user as id}/undo", right="write", once="words", tool="undo")
    async def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Undo a call of `forget`, `add_fact`, `edit_fact` or `delete_fact`. `id` is the id that the call returned.
        Returns what was restored."""
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        request_id = checks_and_seals.check_id("id", id)

        asker = self.access.user  # a user's key takes back only what that user asked for

        def restore(tx: Tx) -> Forgotten:
            change = undo_change(tx, space_id, user_id, request_id, asker)
            return change or restore_knowledge(tx, space_id, user_id, request_id, asker)

        result = await self.runtime.write(restore)
        self.runtime.wake()
        return result

    @operation("GET /v1/users/{user as id}/profile", right="read")
    async def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        """Get what is known about a person: what the person said about themselves, and what others said about the
        person in channels.

        For people who speak in channels, the profile includes summaries of what they said in the channels today and on
        the six days before. The field `context` contains the whole profile as one text. Before everword answers, it
        writes missing digests (summaries of days), for at most `wait` seconds (default: the setting `digest_seconds`).
        If `wait` seconds are not enough, you get the digests that exist after this time. With `wait=0`, you get the
        existing digests at once.
        """
        space_id = self.runtime.resolve_space(space)
        person = checks_and_seals.check_id("user", user)
        reader = await self._viewer(space_id) or Viewer(person, shared=True)
        seconds = check_wait(wait, self.runtime.parts.settings.digest_seconds)
        digest_request = await self.runtime.digests.prepare_request(space_id, seconds)
        now = self.runtime.parts.clock.now()
        profile: Profile = await self.runtime.read(lambda tx: knowing.profile_of(tx, space_id, person, reader, now))
        statements = await self.runtime.read(
            lambda tx: knowing.statements_beside(tx, profile.statements, profile.facts)
        )
        own_facts, own_statements = knowing.own_knowledge(profile.facts, statements)
        # A digest is kept: what expires is shown beside it.
        lasting = [statement for statement in own_statements if statement.expires_at is None]
        expiring = [statement for statement in own_statements if statement.expires_at is not None]
        is_all = len(own_facts) + len(lasting) == len(profile.facts) + len(statements)
        own_words = profile.text if is_all else knowing.profile_text(own_facts, lasting)
        claims = knowing.profile_text(*knowing.claims_in(profile.facts, statements))
        digest = await self.runtime.digests.merge_digests(digest_request, person, profile.name, own_words)
        context = "\n".join(filter(None, (digest.text, knowing.profile_text((), expiring), claims)))
        return replace(profile, today=digest.today, history=digest.history, context=context)

    @operation("GET /v1/spaces/{space as id}/digests", right="read")
    async def digests(
        self,
        space: str | None = None,
        *,
        day: date | None = None,
        user: str | None = None,
        conversation: str | None = None,
        week: bool = False,
        wait: float | None = None,
    ) -> list[Digest]:
        """Summarise what each person, or one `user`, said in the channels of a space on a `day` (default: today).

        With `week`, each digest (summary) covers the six days before `day`, instead of `day` itself. If you name a
        channel as `conversation`, you get one digest of the channel instead of one digest for each person. The digest
        of a channel describes the channel's threads and the outcome of each thread. Before everword answers, it writes
        missing digests, for at most `wait` seconds.
        """
        space_id = self.runtime.resolve_space(space)
        seconds = check_wait(wait, self.runtime.parts.settings.digest_seconds)
        user_id = None if user is None else checks_and_seals.check_id("user", user)
        if day is not None and (isinstance(day, datetime) or not isinstance(day, date)):
            raise InvalidInput("day", f"must be a date, not {type(day).__name__}")
        digest_request = await self.runtime.digests.prepare_request(space_id, seconds, day)
        if conversation is not None:
            channel = checks_and_seals.check_id("conversation", conversation)
            channel_digest = await self.runtime.digests.channel(digest_request, channel, week=week)
            return [] if channel_digest is None else [channel_digest]
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

    @operation("PUT /v1/spaces/{space as id}/time-zone", right="admin", tells="nothing", about_all=True)
    async def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        """Set the time zone in which a space's days begin and end. `name` is the IANA name of a time zone, such as
        "Europe/Berlin". A space without a time zone of its own uses the setting `time_zone`."""
        space_id = self.runtime.resolve_space(space)
        default = self.runtime.parts.settings.time_zone
        checks_and_seals.check_id("time_zone", name)
        parse_time_zone(name)
        await self.runtime.write(lambda tx: days.set_zone(tx, space_id, name, default))
        self.runtime.wake()

    @operation("POST /v1/users/{user as id}/names", right="write")
    async def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        """Add a name of a person. The `kind` of a name is "display", "nickname", "alias" or "mention"."""
        space_id = self.runtime.resolve_space(space)
        user_id = checks_and_seals.check_id("user", user)
        now = self.runtime.parts.clock.now()
        checks_and_seals.check_choice("kind", kind, NAME_KINDS)
        if self.access.user is not None:  # by a user's key, a nickname or an alias that nobody else in the space has
            if kind in SHOWN_BY_PLATFORM:
                self.access.check_unbound()
            await check_free_name(self.runtime, name, user_id, space_id)
        name = self.runtime.parts.secrets.guard_text("name", checks_and_seals.check_id("name", name))
        await self.runtime.write(lambda tx: profiles.put_name(tx, space_id, user_id, kind, name, now))

    @operation("DELETE /v1/users/{user as id}/names/{name}", right="write", tells="nothing")
    async def remove_name(self, name: str, *, user: str, space: str | None = None) -> None:
        """Remove a name of a person. A removed display name comes back when the person sends a message under this
        name."""
        space_id = self.runtime.resolve_space(space)
        row = {
            "space": space_id,
            "user_id": checks_and_seals.check_id("user", user),
            "name": checks_and_seals.check_id("name", name),
        }
        is_own_key = self.access.user is not None
        kinds = [kind for kind in NAME_KINDS if not (is_own_key and kind in SHOWN_BY_PLATFORM)]

        def remove(tx: Tx) -> None:
            for kind in kinds:
                tx.remove(PEOPLE, row | {"kind": kind})

        await self.runtime.write(remove)

    @operation("GET /v1/people", right="read", about_all=True, page="id")
    async def people(self, *, space: str | None = None) -> list[Member]:
        """List the users of a space who have written a message or have been given a name."""
        space_id = self.runtime.resolve_space(space)
        return await self.runtime.read(lambda tx: profiles.members_of(tx, space_id))

    @operation("GET /v1/who-is", right="read", about_all=True)
    async def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        """Find the person that a name, nickname, alias, mention or id refers to. The result is one person, several
        candidates, or nobody."""
        space_id = self.runtime.resolve_space(space)
        checks_and_seals.check_text("name", name, limit=MAX_KEY)
        members = await self.runtime.read(lambda tx: profiles.members_of(tx, space_id))
        return resolve(name, members, speaker=speaker)


async def merge_statement(
    runtime: Runtime,
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
        scene = await runtime.read(lambda tx: MergeScene.read(tx, user, message, end))
        inputs = scene.inputs(text, conversation)
        merge = remember.offline(inputs) if is_last else (await runtime.tasks.ask(remember, inputs)).reply
        if not merge:
            return []
        standing = await runtime.write(
            partial(keep_statements, scene=scene, merge=merge, inputs=inputs, is_last=is_last)
        )
        if standing is not None:
            runtime.wake(message.space)
            return standing
    raise AssertionError("this line is never reached, because the last attempt returns")


async def forget_knowledge(
    runtime: Runtime,
    space: str,
    what: str,
    user: str,
    speaker: str | None,
    message: str | None,
    meant_id: str | None = None,
) -> Forgotten:
    """Retire what fits the words. If they are taken from another message than the request, `meant_id` is its id."""
    user_id = checks_and_seals.check_id("user", user)
    checks_and_seals.check_text("what", what, limit=MAX_STATEMENT)
    what = runtime.parts.secrets.guard_text("what", what)
    request = None if message is None else await find_request(runtime, space, message)
    author = (
        request.author if request else user_id if speaker is None else checks_and_seals.check_id("speaker", speaker)
    )
    await runtime.wait_for_view(FactsView.name, space)
    now = runtime.parts.clock.now()
    shared = runtime.parts.settings.share_channels

    def read(tx: Tx) -> tuple[str, list[Statement], list[Fact]]:
        return forgettable_knowledge(tx, space, user_id, author, viewer_alone(tx, space, author, shared=shared), now)

    name, statements, known_facts = await runtime.read(read)
    cosines = await compare_statements(runtime, statements, target_statement(name, what))
    inputs = ForgetInputs(name, tuple(statement.text for statement in statements), what, cosines)
    reply = (await runtime.tasks.ask(forget, inputs)).reply
    if reply.everything:
        return Forgotten(None, everything=True)
    chosen_statements = [statements[number - 1] for number in reply.numbers]
    # The facts of a retired statement are retired with it, however the request was worded.
    texts = [statement.text for statement in chosen_statements]
    descriptions = [what, *(text for text in texts if parse_statement(name, text).facts)]
    fact_ids = {fact.id for description in descriptions for fact in matching_facts(known_facts, description, name=name)}
    if not chosen_statements and not fact_ids:
        return Forgotten(None)
    source = request or await keep_command(runtime, "forget", what, space, author, None)
    outcome = await runtime.write(
        partial(
            retire_knowledge,
            space,
            user_id,
            what,
            {statement.id for statement in chosen_statements},
            fact_ids,
            source,
            meant_id,
        )
    )
    runtime.wake()
    return outcome


async def keep_command(
    runtime: Runtime,
    command: str,
    text: str,
    space: str,
    speaker: str,
    message: str | None,
    expires_at: datetime | None = None,
) -> Message:
    """The message in the log that gave a command; if there is none, the text is kept as one, by its speaker."""
    if message is not None:
        return await find_request(runtime, space, message)
    author = checks_and_seals.check_id("speaker", speaker)
    draft = Draft("user", text, author, author, metadata={NOTES: {"command": command}}, expires_at=expires_at)
    batch = Batch(space, checks_and_seals.profile_conversation(author), author, [draft])
    return (await runtime.append_messages([batch], is_source=True))[0][0].message


async def find_request(runtime: Runtime, space: str, message: str) -> Message:
    """The message in the log that asks for something."""
    message_id = checks_and_seals.check_id("message", message)
    messages: Sequence[Message] = await runtime.read(lambda tx: tx.find_messages(space, ids=[message_id]))
    if not messages or not messages[0].is_shown_at(runtime.parts.clock.now()):
        raise NotFound(f"there is no message {message_id!r} in space {space!r}")
    return messages[0]


async def compare_statements(runtime: Runtime, statements: Sequence[Statement], text: str) -> tuple[float, ...]:
    """The cosine of each statement to a text; none if the embedder fails: the words are enough to go on."""
    try:
        vectors = await runtime.parts.embedder.embed([text, *(statement.text for statement in statements)])
    except EmbedderError:
        return ()
    return tuple(float(cosine) for cosine in vectors[1:] @ vectors[0])


def check_wait(wait: float | None, usual: float) -> float:
    if wait is not None and not (isinstance(wait, int | float) and 0 <= wait < float("inf")):
        raise InvalidInput("wait", f"is {wait!r}; must be a number of seconds, 0 or more")
    return usual if wait is None else wait


async def check_display_names(runtime: Runtime, access: Access, space: str, *metadatas: Mapping[str, Any]) -> None:
    """Raise if messages by a user's key come with a display name that another member has; to a key that may not
    read, which names there are is not told."""
    if access.user is None:  # a program says who is called what
        return
    names = {name for metadata in metadatas if isinstance(name := metadata.get("name"), str)}
    if names and not access.is_reader:
        raise Forbidden("scope", NO_NAMES)
    for name in names:
        await check_free_name(runtime, name, access.user, space)


async def check_free_name(runtime: Runtime, name: str, user: str, space: str) -> None:
    """Raise if another member of the space has this name, or one that can be mistaken for it. For those who name
    themselves; a program says who is called what."""
    members = await runtime.read(lambda tx: profiles.members_of(tx, space))
    if is_taken(name, [member for member in members if member.id != user]):
        raise InvalidInput("name", "is already in use, or looks like a name that is in use; choose another name")
