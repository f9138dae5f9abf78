"""What is known of people, asked and told: facts with their history, statements that were remembered, names.

What is told is kept in the log like everything else, in a conversation of its own for each who tells, before anything
is made of it. A profile changes under the person's lock, and only if it still is what was thought about: two who tell
at once lose nothing. Nothing is removed: what was forgotten is retired, and can be brought back.
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
from recollect.engine.tables.facts import put as put_facts
from recollect.engine.tables.people import across, statements_of
from recollect.engine.views import digests as days
from recollect.engine.views import facts
from recollect.engine.views.digest_texts import lately
from recollect.errors import EmbedderError, InvalidInput, NotFound
from recollect.model import FACT_CATEGORIES, Digest, Draft, Fact, Forgotten, Message, Profile, Statement
from recollect.ports import Tx
from recollect.rules import log as rules
from recollect.rules.access import Viewer, may_take_back
from recollect.rules.days import zone_named
from recollect.rules.facts.deciding import as_of as as_of_then
from recollect.rules.facts.deciding import history as fact_history
from recollect.rules.facts.deciding import without_answered_claims
from recollect.rules.people.forgetting import matching_facts, sought
from recollect.rules.people.names import Ambiguous, Member, Resolved, Unknown, resolve
from recollect.rules.people.statements import Heard, Merge, contradicts, reading, remembered, restored, says_same
from recollect.rules.people.third_person import statements_about
from recollect.tasks import forget, remember

MAX_KEY = 200  # bytes
MAX_STATEMENT = 4_000  # bytes
TRIES = 5  # how often a profile that others change meanwhile is thought about anew
NOTHING_SAID = "says nothing that can be remembered; write it as in 'Alex lives in Berlin'"
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
        held = without_answered_claims(known) if when is None else as_of_then(known, when)
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
            said = tx.find_messages(place, ids=found[0].sources, damaged=log.warn_of_damage)
            messages = [message for message in said if not message.erased]
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
        name = await self._read(lambda tx: own_name(tx, place, who))
        if not statements_about(name, text):
            raise InvalidInput("text", NOTHING_SAID)
        said = await self._told("remember", text, place, who if speaker is None else speaker, message)
        kept = await self._remember(text, who, said)
        if not kept:
            raise InvalidInput("text", NOTHING_SAID)
        return kept

    async def _remember(
        self, text: str, user: str, said: Message, conversation: tuple[Heard, ...] = ()
    ) -> list[Statement]:
        """Merge what a message in the log tells of a person into their profile; nothing if it tells nothing.

        Without a text, what is meant was said last in the `conversation`.
        """
        for last in (False,) * TRIES + (True,):
            name, by, known = await self._read(lambda tx: beside(tx, user, said))
            inputs = remember.Inputs(name, tuple(one.text for one in known), text, by, conversation)
            merged = remember.offline(inputs) if last else (await self._asking.ask(remember, inputs)).reply
            if not merged:
                return []
            kept = await self._write(partial(keep_statements, user, name, known, merged, said, last, inputs))
            if kept is not None:
                self._wake()
                return kept
        raise AssertionError("the last try always succeeds")

    async def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        """Take out of a person's profile what fits the words, statements and facts; says whether anything did.

        Nothing is removed from the log or from history: `undo` brings it back. To remove for good, `erase`. A `speaker`
        who is somebody else can take out only what they said themselves.
        """
        place, who = self._space(space), rules.checked_id("user", user)
        rules.checked_text("what", what, limit=MAX_STATEMENT)
        asked = None if message is None else await self._message(place, message)
        author = asked.author if asked else who if speaker is None else rules.checked_id("speaker", speaker)
        await self._facts_read(place)
        name, known, held = await self._read(
            lambda tx: everything_of(tx, place, who, author, self._viewer(tx, place, author))
        )
        cosines = await self._likeness(known, sought(name, what))
        inputs = forget.Inputs(name, tuple(one.text for one in known), what, cosines)
        reply = (await self._asking.ask(forget, inputs)).reply
        if reply.everything:
            return Forgotten(None, everything=True)
        chosen = [known[number - 1] for number in reply.numbers]
        # What a statement says goes with it, in whatever words it was asked for.
        wanted = [what, *(one.text for one in chosen if reading(name, one.text).facts)]
        meant = {fact.id for each in wanted for fact in matching_facts(held, each, name=name)}
        if not chosen and not meant:
            return Forgotten(None)
        said = asked or await self._told("forget", what, place, author, None)
        gone = await self._write(partial(forget_all, place, who, what, {one.id for one in chosen}, meant, said))
        self._wake()
        return gone

    async def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Bring back what a `forget` took out, by the id it gave."""
        return await self._undo(id, user, self._space(space))

    async def _undo(self, id: str, user: str, space: str, asker: str | None = None) -> Forgotten:
        """The same; for an `asker` only what they had forgotten themselves."""
        who, key = rules.checked_id("user", user), rules.checked_id("id", id)
        return await self._write(lambda tx: bring_back(tx, space, who, key, asker))

    async def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        """What is known of a person: what they said of themselves, and what was said of them in channels, by whom.

        If they speak in channels of the space, with what they did there today and in the days before, and all of it as
        one text, `context`. Digests that are missing are made, for which it waits so many seconds at most (the setting
        `digest_seconds`); after that, what there was last is given. With `wait=0` nothing is made.
        """
        place, who = self._space(space), rules.checked_id("user", user)
        return await self._profile(who, place, wait, Viewer(who, shared=True))

    async def _profile(self, person: str, space: str, wait: float | None, viewer: Viewer) -> Profile:
        """What a viewer may be shown of a person."""
        asked = await self._digests.asked(space, self._seconds(wait))
        known: Profile = await self._read(lambda tx: knowing.profile_of(tx, space, person, viewer))
        own = knowing.listed(*knowing.own_words(known.facts, known.statements))
        claims = knowing.listed(*knowing.claims_in(known.facts, known.statements))
        made = await self._digests.merged(asked, person, known.name, own)
        context = "\n".join(filter(None, (made.text, claims)))
        return replace(known, today=made.today, history=made.history, context=context)

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
        place, seconds = self._space(space), self._seconds(wait)
        who = None if user is None else rules.checked_id("user", user)
        if day is not None and (isinstance(day, datetime) or not isinstance(day, date)):
            raise InvalidInput("day", f"is a {type(day).__name__}; must be a date")
        asked = await self._digests.asked(place, seconds, day)
        if not week:
            found = await self._digests.day(asked, asked.on)
            return [found[id] for id in sorted(found) if who in (None, id)]
        members = [who] if who else await self._read(lambda tx: lately(tx, place, asked.on))
        histories = await asyncio.gather(*(self._digests.history(asked, member) for member in members))
        return [one for one in histories if one is not None]

    async def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        """Where a space's days begin and end, as an IANA name: "Europe/Berlin". Without one, the setting counts."""
        place, default = self._space(space), self._opened.time_zone
        rules.checked_id("time_zone", name)
        zone_named(name)
        await self._write(lambda tx: days.set_zone(tx, place, name, default))
        self._wake()

    def _viewer(self, tx: Tx, space: str, person: str) -> Viewer:
        """A person who reads alone, by this memory's setting."""
        return viewer_alone(tx, space, person, shared=self._opened.share_channels)

    def _seconds(self, wait: float | None) -> float:
        parts = self._opened
        if wait is not None and not 0 <= wait < float("inf"):
            raise InvalidInput("wait", f"is {wait}; must be a number of seconds, 0 or more")
        return parts.digest_seconds if wait is None else wait

    async def _told(self, command: str, text: str, space: str, speaker: str, message: str | None) -> Message:
        """The message in the log that a command came with, or was: in the memory of whoever gave it."""
        if message is not None:
            return await self._message(space, message)
        author = rules.checked_id("speaker", speaker)
        draft = Draft("user", text, author, author, metadata={"recollect": {"command": command}})
        return (await self._add([log.Batch(space, rules.told_in(author), author, [draft])]))[0][0].message

    async def _message(self, space: str, message: str) -> Message:
        id = rules.checked_id("message", message)
        found: Sequence[Message] = await self._read(lambda tx: tx.find_messages(space, ids=[id]))
        if not found or found[0].erased:
            raise NotFound(f"there is no message {id!r} in space {space!r}")
        return found[0]

    async def _facts_read(self, space: str) -> None:
        """Wait a moment for what was just said in a space to be read."""
        if self._opened.followers:
            await self._loops[facts.FactsView.name].wait_for(space, CATCH_UP)

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


def beside(tx: Tx, user: str, said: Message) -> tuple[str, str, list[Statement]]:
    """What a person is called, and who speaks if it is somebody else; and the statements that a new one is merged with.

    Those are what the same speaker said in the same place, or in private: a merge words anew what it finds, and no word
    may get from one place into what others see, nor one speaker's word into another's mouth.
    """
    audience = heard(tx, said)
    viewer = Viewer(channel=audience) if audience is not None else viewer_alone(tx, said.space, said.author)
    name = name_for(tx, said.space, user, viewer)
    by = "" if said.author == user else name_for(tx, said.space, said.author, viewer)
    every = statements_of(tx, said.space, user)
    return name, by, [one for one in every if (one.audience, one.speaker) == (audience, said.author)]


def keep_statements(
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
    tx.lock(facts.LOCK, said.space, user)
    _, _, now = beside(tx, user, said)
    if [one.id for one in now] != [one.id for one in known]:
        if not last:
            return None
        merged = remember.offline(replace(inputs, statements=tuple(one.text for one in now)))
    # Who told last is who spoke last, whoever is first to be heard here.
    later = said_after(tx, said, now)
    replaced = tuple(number for number in merged.replaced if now[number - 1] not in later)
    rows = remembered(
        now,
        replace(merged, replaced=replaced),
        space=said.space,
        user=user,
        speaker=said.author,
        said_at=said.time,
        source=said.id,
        audience=heard(tx, said),
    )
    ids = {one.id for one in now}
    others = [one for one in statements_of(tx, said.space, user) if one.id not in ids]
    stands = list[Statement]()
    for row in (row for row in rows if row.active):
        over = next((one for one in later if contradicts(reading(name, row.text), reading(name, one.text))), None)
        if over is not None:
            profiles.put(tx, [replace(row, active=False, retired_at=over.said_at, retired_by=over.id)])
            stands.append(over)
            continue
        changed, same = across(name, row, others) if row.id not in ids else ([], None)
        profiles.put(tx, [*changed, *([row] if same is None else [])])
        stands.append(same or row)
    profiles.put(tx, [row for row in rows if not row.active])
    found = [fact for row in rows if said.id in row.sources for fact in facts.facts_in(name, row, said)]
    facts.keep(tx, said.space, said.conversation, (), told=[(user, said, found)])
    facts.note_read(tx, said)
    return stands


def said_after(tx: Tx, said: Message, statements: Sequence[Statement]) -> list[Statement]:
    """The statements that were told after a message: by turns, or between conversations by time, as facts are."""
    ids = {id for one in statements for id in one.sources}
    sources = tx.find_messages(said.space, ids=sorted(ids), damaged=log.warn_of_damage) if ids else []
    asked = {message.id: message for message in sources}

    def is_after(message: Message) -> bool:
        if message.conversation == said.conversation:
            return message.turn > said.turn
        return message.time > said.time

    return [one for one in statements if any(is_after(asked[id]) for id in one.sources if id in asked)]


def heard(tx: Tx, said: Message) -> str | None:
    """The group that heard a message, or None if it was said in private."""
    return said.conversation if is_channel(tx, said.space, said.conversation) else None


def everything_of(tx: Tx, space: str, user: str, asker: str, viewer: Viewer) -> tuple[str, list[Statement], list[Fact]]:
    """What an asker may have forgotten of a person, and what they call that person."""
    statements = [item for item in statements_of(tx, space, user) if may_take_back(asker, item, viewer)]
    known = [fact for fact in facts_of(tx, space, user, active=True) if may_take_back(asker, fact, viewer)]
    return name_for(tx, space, user, viewer), statements, known


def forget_all(space: str, user: str, what: str, texts: set[str], meant: set[str], said: Message, tx: Tx) -> Forgotten:
    """Retire statements and facts by their ids, those that still stand, and keep the request, with what it took."""
    tx.lock(facts.LOCK, space, user)
    gone = [
        replace(one, active=False, retired_at=said.time, retired_by=said.id)
        for one in statements_of(tx, space, user)
        if one.id in texts
    ]
    over = [
        facts.retired(fact, said.id, said.time) for fact in facts_of(tx, space, user, active=True) if fact.id in meant
    ]
    request = Statement(space, user, said.id, what, said.author, said.time, (said.id, *(fact.id for fact in over)))
    profiles.put(tx, [request], profiles.FORGET)
    profiles.put(tx, gone)
    put_facts(tx, over)
    facts.note_read(tx, said)
    return Forgotten(said.id, tuple(gone), tuple(over))


def bring_back(tx: Tx, space: str, user: str, id: str, asker: str | None) -> Forgotten:
    tx.lock(facts.LOCK, space, user)
    every_request = statements_of(tx, space, user, kind=profiles.FORGET)
    requests = [request for request in every_request if request.id == id and asker in (None, request.speaker)]
    if not requests:
        raise NotFound(f"user {user!r} has nothing forgotten under {id!r} in space {space!r}")
    profiles.put(tx, [replace(requests[0], active=False)], profiles.FORGET)
    every, name = statements_of(tx, space, user, active=False), own_name(tx, space, user)
    # What the same speaker told since stands: nothing comes back that it contradicts, or says already.
    standing = [(statement.speaker, reading(name, statement.text)) for statement in every if statement.active]
    gone = [(statement, reading(name, statement.text)) for statement in every if statement.retired_by == id]
    back = [
        restored(statement)
        for statement, was in gone
        if not any(
            speaker == statement.speaker and (contradicts(was, stands) or says_same(stands, was))
            for speaker, stands in standing
        )
    ]
    held = facts_of(tx, space, user)
    again = [facts.standing(fact) for fact in held if fact.retired_by == id and not facts.taken(fact, held)]
    profiles.put(tx, back)
    put_facts(tx, again)
    return Forgotten(id, tuple(back), tuple(again))


def checked_category(value: str) -> str:
    if value not in FACT_CATEGORIES:
        raise InvalidInput("category", f"is {value!r}; must be one of {', '.join(FACT_CATEGORIES)}")
    return value
