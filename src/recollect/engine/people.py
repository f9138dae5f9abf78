"""What is known of people: facts with their history, statements to remember, names.

What a speaker tells is first kept in the log, in a conversation of the speaker's own, and then read. A profile changes
under the person's lock, and only if it is still the one that the change was made for: two speakers at once lose
nothing. Nothing is removed: what was forgotten is retired, and can be restored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import partial

from recollect.engine.context import people as knowing
from recollect.engine.context.viewers import is_channel, name_for, own_name, viewer_alone
from recollect.engine.runtime import CATCH_UP, Running
from recollect.engine.tables import log
from recollect.engine.tables import people as profiles
from recollect.engine.tables.facts import facts_of
from recollect.engine.tables.facts import put_facts as put_facts
from recollect.engine.tables.people import statements_of, weigh_across_audiences
from recollect.engine.views import digests as days
from recollect.engine.views import facts
from recollect.engine.views.digest_texts import recent_speakers
from recollect.errors import EmbedderError, InvalidInput, NotFound
from recollect.model import (
    FACT_CATEGORIES,
    Batch,
    Digest,
    Draft,
    Fact,
    Forgotten,
    Member,
    Message,
    Profile,
    Statement,
    Whom,
)
from recollect.ports import Tx
from recollect.rules import log as rules
from recollect.rules.access import Viewer, may_take_back
from recollect.rules.days import parse_time_zone
from recollect.rules.facts.deciding import facts_as_of as as_of_then
from recollect.rules.facts.deciding import history as fact_history
from recollect.rules.facts.deciding import without_answered_claims
from recollect.rules.people.forgetting import matching_facts, target_statement
from recollect.rules.people.names import resolve
from recollect.rules.people.statements import (
    AuthoredMessage,
    ProfileMerge,
    contradicts,
    parse_statement,
    restore_statement,
    rows_after_merge,
    says_same,
)
from recollect.rules.people.third_person import statements_about
from recollect.tasks import forget, remember

MAX_KEY = 200  # bytes
MAX_STATEMENT = 4_000  # bytes
TRIES = 5  # how often a merge is made again when others change the profile meanwhile
NOTHING_SAID = "says nothing that can be remembered; write it as in 'Alex lives in Berlin'"


class Knowledge(Running):
    """What is known of people."""

    async def facts(
        self, *, user: str, as_of: datetime | None = None, category: str | None = None, space: str | None = None
    ) -> list[Fact]:
        """What is known of a person, most important first: now, or as it was so at a time."""
        space_id = self._space(space)
        user_id = rules.check_id("user", user)
        moment = self._time("as_of", as_of)
        kind = None if category is None else check_category(category)
        all_facts = await self._read(lambda tx: facts_of(tx, space_id, user_id, active=moment is None))
        valid_facts = without_answered_claims(all_facts) if moment is None else as_of_then(all_facts, moment)
        selection = [fact for fact in valid_facts if kind is None or fact.category == kind]
        return sorted(selection, key=importance_order)

    async def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """Every value a key has had, oldest first, with the times between which it was so."""
        space_id = self._space(space)
        user_id = rules.check_id("user", user)
        rules.check_text("key", key, limit=MAX_KEY)
        all_facts = await self._read(lambda tx: facts_of(tx, space_id, user_id))
        return fact_history(all_facts, key)

    async def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """The messages a fact came from, oldest first."""
        space_id = self._space(space)
        user_id = rules.check_id("user", user)
        fact_id = rules.check_id("fact", fact)

        def read(tx: Tx) -> list[Message]:
            matches = [candidate for candidate in facts_of(tx, space_id, user_id) if candidate.id == fact_id]
            if not matches:
                raise NotFound(f"user {user_id!r} has no fact {fact_id!r} in space {space_id!r}; `facts` lists them")
            sources = tx.find_messages(space_id, ids=matches[0].sources, damaged=log.warn_of_damage)
            messages = [message for message in sources if not message.erased]
            return sorted(messages, key=time_order)

        return await self._read(read)

    # -- changing

    async def remember(
        self, text: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> list[Statement]:
        """Keep a statement about a person, in the third person; what it contradicts gives way. Returns what now stands.

        `speaker` says it, the person themselves if nobody is named. `message` is the id of the message in the log that
        asked for it; without one, the text itself is kept there.
        """
        space_id = self._space(space)
        user_id = rules.check_id("user", user)
        rules.check_text("text", text, limit=MAX_STATEMENT)
        name = await self._read(lambda tx: own_name(tx, space_id, user_id))
        if not statements_about(name, text):
            raise InvalidInput("text", NOTHING_SAID)
        source = await self._command_message(
            "remember", text, space_id, user_id if speaker is None else speaker, message
        )
        statements = await self._remember(text, user_id, source)
        if not statements:
            raise InvalidInput("text", NOTHING_SAID)
        return statements

    async def _remember(
        self, text: str, user: str, message: Message, conversation: tuple[AuthoredMessage, ...] = ()
    ) -> list[Statement]:
        """Merge what a message in the log says of a person into their profile; an empty list if it says nothing.

        Without a text, the end of the `conversation` is what is meant.
        """
        for is_last in (False,) * TRIES + (True,):
            name, speaker_name, statements = await self._read(lambda tx: read_merge_inputs(tx, user, message))
            inputs = remember.Inputs(
                name, tuple(statement.text for statement in statements), text, speaker_name, conversation
            )
            merge = remember.offline(inputs) if is_last else (await self._asking.ask(remember, inputs)).reply
            if not merge:
                return []
            standing = await self._write(
                partial(keep_statements, user, name, statements, merge, message, is_last, inputs)
            )
            if standing is not None:
                self._wake()
                return standing
        raise AssertionError("the last try always succeeds")

    async def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        """Take out of a person's profile what fits the words, statements and facts; says whether anything did.

        Nothing is removed from the log or from history: `undo` brings it back. To remove for good, `erase`. A `speaker`
        who is somebody else can take out only what they said themselves.
        """
        space_id = self._space(space)
        user_id = rules.check_id("user", user)
        rules.check_text("what", what, limit=MAX_STATEMENT)
        request = None if message is None else await self._message(space_id, message)
        author = request.author if request else user_id if speaker is None else rules.check_id("speaker", speaker)
        await self._facts_read(space_id)

        def read(tx: Tx) -> tuple[str, list[Statement], list[Fact]]:
            return forgettable_knowledge(tx, space_id, user_id, author, self._viewer(tx, space_id, author))

        name, statements, known_facts = await self._read(read)
        cosines = await self._cosines(statements, target_statement(name, what))
        inputs = forget.Inputs(name, tuple(statement.text for statement in statements), what, cosines)
        reply = (await self._asking.ask(forget, inputs)).reply
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
        outcome = await self._write(
            partial(
                retire_knowledge,
                space_id,
                user_id,
                what,
                {statement.id for statement in chosen_statements},
                fact_ids,
                source,
            )
        )
        self._wake()
        return outcome

    async def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Bring back what a `forget` took out, by the id it gave."""
        return await self._undo(id, user, self._space(space))

    async def _undo(self, id: str, user: str, space: str, asker: str | None = None) -> Forgotten:
        """Undo a `forget`; with an `asker`, only one that they asked for themselves."""
        user_id = rules.check_id("user", user)
        request_id = rules.check_id("id", id)
        return await self._write(lambda tx: restore_knowledge(tx, space, user_id, request_id, asker))

    async def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        """What is known of a person: what they said of themselves, and what was said of them in channels, by whom.

        If they speak in channels of the space, with what they did there today and in the days before, and all of it as
        one text, `context`. Digests that are missing are made, for which it waits so many seconds at most (the setting
        `digest_seconds`); after that, what there was last is given. With `wait=0` nothing is made.
        """
        space_id = self._space(space)
        user_id = rules.check_id("user", user)
        return await self._profile(user_id, space_id, wait, Viewer(user_id, shared=True))

    async def _profile(self, person: str, space: str, wait: float | None, viewer: Viewer) -> Profile:
        """The profile of a person as far as a viewer may see it."""
        digest_request = await self._digests.prepare_request(space, self._check_wait(wait))
        profile: Profile = await self._read(lambda tx: knowing.profile_of(tx, space, person, viewer))
        own_words = knowing.profile_text(*knowing.own_knowledge(profile.facts, profile.statements))
        claims = knowing.profile_text(*knowing.claims_in(profile.facts, profile.statements))
        digest = await self._digests.merge_digests(digest_request, person, profile.name, own_words)
        context = "\n".join(filter(None, (digest.text, claims)))
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
        """What a day in a space was for each who spoke in its channels: today, or another day; or of one `user` alone.

        With `week`, how each has been in the six days before that day. What is missing is made; see `profile`.
        """
        space_id = self._space(space)
        seconds = self._check_wait(wait)
        user_id = None if user is None else rules.check_id("user", user)
        if day is not None and (isinstance(day, datetime) or not isinstance(day, date)):
            raise InvalidInput("day", f"is a {type(day).__name__}; must be a date")
        digest_request = await self._digests.prepare_request(space_id, seconds, day)
        if not week:
            digests_by_user = await self._digests.day(digest_request, digest_request.on)
            return [digests_by_user[id] for id in sorted(digests_by_user) if user_id in (None, id)]
        members = (
            [user_id] if user_id else await self._read(lambda tx: recent_speakers(tx, space_id, digest_request.on))
        )
        histories = await asyncio.gather(*(self._digests.history(digest_request, member) for member in members))
        return [history for history in histories if history is not None]

    async def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        """Where a space's days begin and end, as an IANA name: "Europe/Berlin". Without one, the setting counts."""
        space_id = self._space(space)
        default = self._opened.time_zone
        rules.check_id("time_zone", name)
        parse_time_zone(name)
        await self._write(lambda tx: days.set_zone(tx, space_id, name, default))
        self._wake()

    def _viewer(self, tx: Tx, space: str, person: str) -> Viewer:
        """The viewer for a person who reads alone, by this memory's settings."""
        return viewer_alone(tx, space, person, shared=self._opened.share_channels)

    def _check_wait(self, wait: float | None) -> float:
        parts = self._opened
        if wait is not None and not 0 <= wait < float("inf"):
            raise InvalidInput("wait", f"is {wait}; must be a number of seconds, 0 or more")
        return parts.digest_seconds if wait is None else wait

    async def _command_message(self, command: str, text: str, space: str, speaker: str, message: str | None) -> Message:
        """The message in the log that gave a command; if there is none, the text is kept as one, by its speaker."""
        if message is not None:
            return await self._message(space, message)
        author = rules.check_id("speaker", speaker)
        draft = Draft("user", text, author, author, metadata={"recollect": {"command": command}})
        return (await self._add([Batch(space, rules.profile_conversation(author), author, [draft])]))[0][0].message

    async def _message(self, space: str, message: str) -> Message:
        message_id = rules.check_id("message", message)
        messages: Sequence[Message] = await self._read(lambda tx: tx.find_messages(space, ids=[message_id]))
        if not messages or messages[0].erased:
            raise NotFound(f"there is no message {message_id!r} in space {space!r}")
        return messages[0]

    async def _facts_read(self, space: str) -> None:
        """Wait a moment until the facts view has read what was just said in a space."""
        if self._opened.followers:
            await self._loops[facts.FactsView.name].wait_for(space, CATCH_UP)

    async def _cosines(self, statements: Sequence[Statement], text: str) -> tuple[float, ...]:
        """The cosine of each statement to a text; none if the embedder fails: the words are enough to go on."""
        try:
            vectors = await self._opened.embedder.embed([text, *(statement.text for statement in statements)])
        except EmbedderError:
            return ()
        return tuple(float(cosine) for cosine in vectors[1:] @ vectors[0])

    # -- names

    async def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        """What else a person goes by: "display", "nickname", "alias" or "mention"."""
        space_id = self._space(space)
        user_id = rules.check_id("user", user)
        now = self._opened.clock.now()
        if kind not in profiles.KINDS:
            raise InvalidInput("kind", f"is {kind!r}; must be one of {', '.join(profiles.KINDS)}")
        rules.check_id("name", name)
        await self._write(lambda tx: profiles.put_name(tx, space_id, user_id, kind, name, now))

    async def people(self, *, space: str | None = None) -> list[Member]:
        """Everybody who has spoken in a space, or was given a name there."""
        space_id = self._space(space)
        return await self._read(lambda tx: profiles.members_of(tx, space_id))

    async def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        """Whom a name, nickname, alias, mention or id means: one, several to ask back about, or nobody."""
        space_id = self._space(space)
        rules.check_text("name", name, limit=MAX_KEY)
        members = await self._read(lambda tx: profiles.members_of(tx, space_id))
        return resolve(name, members, speaker=speaker)


def importance_order(fact: Fact) -> tuple[float, str, str, datetime, str]:
    """The sort key that puts the most important fact first."""
    return -fact.importance, fact.category, fact.key, fact.recorded_at, fact.id


def time_order(message: Message) -> tuple[datetime, str, int]:
    return message.time, message.conversation, message.turn


def read_merge_inputs(tx: Tx, user: str, message: Message) -> tuple[str, str, list[Statement]]:
    """A person's name, the speaker's name if it is somebody else, and the statements that a new one is merged with.

    Those are the statements of the same speaker in the same channel, or in private: a merge rewords what it is given,
    and words must not move to where others see them, nor from one speaker to another.
    """
    audience = audience_of(tx, message)
    viewer = Viewer(channel=audience) if audience is not None else viewer_alone(tx, message.space, message.author)
    name = name_for(tx, message.space, user, viewer)
    speaker_name = "" if message.author == user else name_for(tx, message.space, message.author, viewer)
    statements = statements_of(tx, message.space, user)
    return (
        name,
        speaker_name,
        [
            statement
            for statement in statements
            if (statement.audience, statement.speaker) == (audience, message.author)
        ],
    )


def keep_statements(
    user: str,
    name: str,
    known_statements: Sequence[Statement],
    merge: ProfileMerge,
    message: Message,
    is_last: bool,
    inputs: remember.Inputs,
    tx: Tx,
) -> list[Statement] | None:
    """Store a merge if the profile has not changed since; on the last try, merge again in this transaction."""
    tx.lock(facts.LOCK, message.space, user)
    _, _, current = read_merge_inputs(tx, user, message)
    if [statement.id for statement in current] != [statement.id for statement in known_statements]:
        if not is_last:
            return None
        merge = remember.offline(replace(inputs, statements=tuple(statement.text for statement in current)))
    # The statement that was said last wins, in whatever order the messages arrive here.
    later = statements_after(tx, message, current)
    replaced_numbers = tuple(number for number in merge.replaced if current[number - 1] not in later)
    rows = rows_after_merge(
        current,
        replace(merge, replaced=replaced_numbers),
        space=message.space,
        user=user,
        speaker=message.author,
        said_at=message.time,
        source=message.id,
        audience=audience_of(tx, message),
    )
    ids = {statement.id for statement in current}
    others = [statement for statement in statements_of(tx, message.space, user) if statement.id not in ids]
    standing = list[Statement]()
    for row in (row for row in rows if row.active):
        newer = next(
            (
                statement
                for statement in later
                if contradicts(parse_statement(name, row.text), parse_statement(name, statement.text))
            ),
            None,
        )
        if newer is not None:
            profiles.put_statements(tx, [replace(row, active=False, retired_at=newer.said_at, retired_by=newer.id)])
            standing.append(newer)
            continue
        changes, duplicate = weigh_across_audiences(name, row, others) if row.id not in ids else ([], None)
        profiles.put_statements(tx, [*changes, *([row] if duplicate is None else [])])
        standing.append(duplicate or row)
    profiles.put_statements(tx, [row for row in rows if not row.active])
    new_facts = [
        fact for row in rows if message.id in row.sources for fact in facts.facts_in_statement(name, row, message)
    ]
    facts.store_facts(tx, message.space, message.conversation, (), from_commands=[(user, message, new_facts)])
    facts.mark_command_read(tx, message)
    return standing


def statements_after(tx: Tx, reference: Message, statements: Sequence[Statement]) -> list[Statement]:
    """The statements that came after a message: by turn, or between conversations by time, as with facts."""
    ids = {id for statement in statements for id in statement.sources}
    sources = tx.find_messages(reference.space, ids=sorted(ids), damaged=log.warn_of_damage) if ids else []
    sources_by_id = {message.id: message for message in sources}

    def is_after(message: Message) -> bool:
        if message.conversation == reference.conversation:
            return message.turn > reference.turn
        return message.time > reference.time

    return [
        statement
        for statement in statements
        if any(is_after(sources_by_id[id]) for id in statement.sources if id in sources_by_id)
    ]


def audience_of(tx: Tx, message: Message) -> str | None:
    """The channel in which a message was said, or None if it was said in private."""
    return message.conversation if is_channel(tx, message.space, message.conversation) else None


def forgettable_knowledge(
    tx: Tx, space: str, user: str, asker: str, viewer: Viewer
) -> tuple[str, list[Statement], list[Fact]]:
    """The person's name for the asker, and the statements and facts that the asker may have forgotten."""
    statements = [statement for statement in statements_of(tx, space, user) if may_take_back(asker, statement, viewer)]
    known_facts = [fact for fact in facts_of(tx, space, user, active=True) if may_take_back(asker, fact, viewer)]
    return name_for(tx, space, user, viewer), statements, known_facts


def retire_knowledge(
    space: str, user: str, description: str, statement_ids: set[str], fact_ids: set[str], message: Message, tx: Tx
) -> Forgotten:
    """Retire the statements and facts with these ids that still stand, and keep the request with what it retired."""
    tx.lock(facts.LOCK, space, user)
    statements = [
        replace(statement, active=False, retired_at=message.time, retired_by=message.id)
        for statement in statements_of(tx, space, user)
        if statement.id in statement_ids
    ]
    retired_facts = [
        facts.retire_fact(fact, message.id, message.time)
        for fact in facts_of(tx, space, user, active=True)
        if fact.id in fact_ids
    ]
    request = Statement(
        space,
        user,
        message.id,
        description,
        message.author,
        message.time,
        (message.id, *(fact.id for fact in retired_facts)),
    )
    profiles.put_statements(tx, [request], profiles.FORGET)
    profiles.put_statements(tx, statements)
    put_facts(tx, retired_facts)
    facts.mark_command_read(tx, message)
    return Forgotten(message.id, tuple(statements), tuple(retired_facts))


def restore_knowledge(tx: Tx, space: str, user: str, id: str, asker: str | None) -> Forgotten:
    tx.lock(facts.LOCK, space, user)
    every_request = statements_of(tx, space, user, kind=profiles.FORGET)
    requests = [request for request in every_request if request.id == id and asker in (None, request.speaker)]
    if not requests:
        raise NotFound(f"user {user!r} has nothing forgotten under {id!r} in space {space!r}")
    profiles.put_statements(tx, [replace(requests[0], active=False)], profiles.FORGET)
    statements = statements_of(tx, space, user, active=False)
    name = own_name(tx, space, user)
    # What the same speaker said since then stands: nothing is restored that contradicts it or repeats it.
    standing = [
        (statement.speaker, parse_statement(name, statement.text)) for statement in statements if statement.active
    ]
    retired_statements = [
        (statement, parse_statement(name, statement.text)) for statement in statements if statement.retired_by == id
    ]
    restored_statements = [
        restore_statement(statement)
        for statement, old_reading in retired_statements
        if not any(
            speaker == statement.speaker
            and (contradicts(old_reading, standing_reading) or says_same(standing_reading, old_reading))
            for speaker, standing_reading in standing
        )
    ]
    all_facts = facts_of(tx, space, user)
    restored_facts = [
        facts.reactivate_fact(fact)
        for fact in all_facts
        if fact.retired_by == id and not facts.is_replaced(fact, all_facts)
    ]
    profiles.put_statements(tx, restored_statements)
    put_facts(tx, restored_facts)
    return Forgotten(id, tuple(restored_statements), tuple(restored_facts))


def check_category(value: str) -> str:
    if value not in FACT_CATEGORIES:
        raise InvalidInput("category", f"is {value!r}; must be one of {', '.join(FACT_CATEGORIES)}")
    return value
