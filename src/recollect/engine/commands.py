"""A message that is a command to the memory, carried out: remember this, forget that, what do you know about Bob.

Whoever is named must be one member of the space that the speaker may know of: where several fit, the answer asks
which, and nothing is done; where nobody does, it is ordinary talk. Nobody learns by a command what they may not see:
in a channel what was said in it is shown, and to one person alone what `rules.access` lets them see. The command and
its answer stay in the log, marked, so that no facts are read from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, cast

from recollect.engine.context.people import known_to, listed, shown_statements
from recollect.engine.context.viewers import name_for, viewer_of_chat
from recollect.engine.tables import log
from recollect.engine.tables.facts import facts_of
from recollect.engine.tables.people import members_known_to
from recollect.engine.views.facts import command_of
from recollect.errors import InvalidInput
from recollect.model import Draft, Fact, Filter, Forgotten, Message, Statement
from recollect.ports import Tx
from recollect.rules import log as rules
from recollect.rules.access import Access, Viewer
from recollect.rules.people.commands import Command, is_addressed, may_be_command
from recollect.rules.people.forgetting import matching, matching_facts
from recollect.rules.people.names import Ambiguous, Candidate, Member, Resolved, Unknown, fold_name, resolve
from recollect.rules.people.statements import LOOKED_BACK, Heard
from recollect.tasks import command
from recollect.tasks.task import Said

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine

Kind = Literal["remember", "forget", "ask"]
MAX_NAMES = 20  # by which a memory is called in one command
NEAR = 50  # messages whose authors are members, even if nobody has noted them yet
MEANT = 1_000  # characters of a message that "forget what I just said" means
EXAMPLE = 'as in "forget that I like tea"'


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a command. `text` is what to say to whoever gave it; `message` is theirs, in the log.

    `person` is whom it was about. If that must be asked, it is None, nothing was done, and `candidates` are those who
    may be meant. `statements` are what stands after a "remember"; they and the `facts` are what an "ask" showed;
    `forgotten` is what a "forget" took out.
    """

    kind: Kind
    text: str
    message: Message
    person: str | None = None
    statements: tuple[Statement, ...] = ()
    facts: tuple[Fact, ...] = ()
    forgotten: Forgotten | None = None
    candidates: tuple[Candidate, ...] = ()

    @property
    def asks_back(self) -> bool:
        """Whether nothing was done, because it is not clear what was meant."""
        return self.person is None or (self.forgotten is not None and self.forgotten.everything)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command is given: who speaks, who reads the answer, who may be meant, and what was said before. A channel
    has no `owner`."""

    space: str
    conversation: str
    owner: str | None
    speaker: str
    viewer: Viewer
    members: tuple[Member, ...]
    before: tuple[Message, ...]


def place_of(space: str, id: str, user: str | None, author: str | None, access: Access, shared: bool, tx: Tx) -> Place:
    known = log.owned(tx, space, id, user)
    owner = known.user if known is not None else user
    where = Filter(space, conversation=id)
    near = tx.messages(where, limit=NEAR, newest=True, damaged=log.warn_of_damage) if known else []
    last = [message for message in near if not message.erased]
    speaker = access.user or author or owner or rules.SPEAKERS["user"]
    viewer = viewer_of_chat(tx, space, id, owner, speaker, shared=shared)
    members = {member.id: member for member in members_known_to(tx, space, viewer)}
    for person in (speaker, *(m.author for m in last if m.role == "user")):
        members.setdefault(person, Member(person))
    if access.is_bound:  # to a key that is one user's, nobody else is there
        members = {speaker: members[speaker]}
    return Place(space, id, owner, speaker, viewer, tuple(members.values()), tuple(last))


async def carried_out(
    memory: MemoryEngine,
    where: tuple[str, str, str | None],
    text: str,
    author: str | None,
    names: tuple[str, ...],
    addressed: bool,
    access: Access,
) -> Answer | None:
    """Read a message as a command, and do what it says; None if it is ordinary talk."""
    shared = memory._opened.share_channels
    rules.checked_text("text", text)
    who = None if author is None else rules.checked_id("author", author)
    called = checked_names(names)
    if not may_be_command(text) or not (addressed or await memory._run(is_addressed, text, called)):
        return None
    place = await memory._read(partial(place_of, *where, who, access, shared))
    exchange = tuple(Said(m.role, m.content) for m in place.before)
    inputs = command.Inputs(text, called, addressed, known_by(place.members), exchange)
    found = (await memory._asking.ask(command, inputs)).reply
    meant = whom(found, place)
    if found.kind == "none" or isinstance(meant, Unknown):
        return None
    mark = {"recollect": {"command": found.kind}}
    draft = Draft("user", text, place.speaker, metadata=mark)
    message = (await memory.add_many([log.Batch(*where, [draft])]))[0][0].message
    answer = await Obeying(memory, place, found, message).answer(meant)
    # In a channel it is of the person it tells about, and is erased with them.
    about = answer.person if place.owner is None else None
    await memory.add_many([log.Batch(*where, [Draft("assistant", answer.text, user=about, metadata=mark)])])
    return answer


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """What the memory is called by. Patterns are made of it, which takes long if it is long."""
    if len(names) > MAX_NAMES:
        raise InvalidInput("names", f"are {len(names)}; at most {MAX_NAMES} are allowed")
    return tuple(rules.checked_text("names", name, limit=rules.MAX_ID_BYTES) for name in names)


def whom(found: Command, place: Place) -> Resolved | Ambiguous | Unknown:
    """Whom a command is about; nobody in particular is ambiguous, without candidates."""
    if found.about is not None:
        return resolve(found.about, place.members, speaker=place.speaker)
    # "He likes jazz", "what do you know about him", and in a group "this", may be about anybody.
    open_ended = found.refers_back and (found.text or found.kind == "ask")
    if open_ended or (found.refers_back and found.kind == "remember" and place.owner is None):
        return Ambiguous(())
    return Resolved(place.speaker, "who speaks")


@dataclass(frozen=True, slots=True)
class Obeying:
    """One command, under way."""

    memory: MemoryEngine
    place: Place
    found: Command
    message: Message

    async def answer(self, meant: Resolved | Ambiguous | Unknown) -> Answer:
        if isinstance(meant, Resolved):
            await self.memory._facts_read(self.message.space)
            act = {"remember": self.remember, "forget": self.forget, "ask": self.ask}[self.found.kind]
            return await act(meant.member)
        candidates = meant.candidates if isinstance(meant, Ambiguous) else ()
        if not candidates:
            return Answer(self.kind, "Whom do you mean? Say it again with their name.", self.message)
        several = " or ".join(f"{one.member} ({one.name}, {one.why})" for one in candidates)
        said = f"Whom do you mean by {self.found.about}: {several}? Say it again with the id."
        return Answer(self.kind, said, self.message, candidates=candidates)

    @property
    def kind(self) -> Kind:
        return cast(Kind, self.found.kind)

    @property
    def viewer(self) -> Viewer:
        """Who reads the answer."""
        return self.place.viewer

    async def called(self, person: str) -> str:
        """What to call a person in an answer."""
        if person == self.place.speaker:
            return "you"
        return await self.memory._read(lambda tx: name_for(tx, self.place.space, person, self.viewer))

    async def statement_texts(self, statements: Sequence[Statement]) -> list[str]:
        """The texts of a person's statements as they may be said here, each once."""
        shown = await self.memory._read(lambda tx: shown_statements(tx, statements, self.viewer))
        return list(dict.fromkeys(statement.text for statement in shown))

    # -- remember

    async def remember(self, person: str) -> Answer:
        text, heard = self.found.text, tuple[Heard, ...]()
        if text:
            text = await self._by_name(person, text)
        elif self.found.refers_back:
            heard = await self.memory._read(self._heard)
        kept = await self.memory._remember(text, person, self.message, heard) if text or heard else []
        if not kept:
            name = await self.called(person)
            return Answer(self.kind, f"I found nothing to remember about {name} there.", self.message, person)
        said = f"I will remember: {' '.join(await self.statement_texts(kept))}"
        return Answer(self.kind, said, self.message, person, tuple(kept))

    async def _by_name(self, person: str, text: str) -> str:
        """What is said of somebody by a nickname, by the name their profile has."""
        about = self.found.about
        if about is None or person == self.place.speaker:
            return text
        name = await self.memory._read(lambda tx: name_for(tx, self.place.space, person, self.viewer))
        return re.sub(rf"^{re.escape(about)}(?!\w)", lambda _: name, text, flags=re.IGNORECASE)

    def _heard(self, tx: Tx) -> tuple[Heard, ...]:
        """What people said before the command; what an assistant says is no source."""
        told = [m for m in self.place.before if m.role == "user" and command_of(m) is None][-LOOKED_BACK:]
        return tuple(Heard(name_for(tx, self.place.space, m.author, self.viewer), m.content) for m in told)

    # -- forget

    async def forget(self, person: str) -> Answer:
        what = self.found.text
        if not what:
            own = [m for m in self.place.before if m.author == self.place.speaker and command_of(m) is None]
            what = own[-1].content[:MEANT] if own else ""
        if not what:
            return Answer(self.kind, f"Say what to forget, {EXAMPLE}.", self.message, person, forgotten=Forgotten(None))
        what = await self._by_name(person, what)
        gone = await self.memory.forget(what, user=person, message=self.message.id, space=self.place.space)
        if gone.everything:
            said = (
                f"That would be everything I know about {await self.called(person)}, so I have done nothing. "
                f"Say one thing at a time, {EXAMPLE}. To remove all of it for good is to erase."
            )
        else:
            said = await self._told_forgotten(gone)
        return Answer(self.kind, said, self.message, person, forgotten=gone)

    async def _told_forgotten(self, gone: Forgotten) -> str:
        if not gone.found:
            return "I know nothing of that, so there is nothing to forget."
        lines = await self.statement_texts([statement for statement in gone.statements if self.viewer.sees(statement)])
        facts = [fact for fact in gone.facts if self.viewer.sees(fact)]
        lines = lines or [f"{fact.key}: {fact.value}." for fact in facts]
        return f"Forgotten: {' '.join(lines)}" if lines else "Forgotten."

    # -- ask

    async def ask(self, person: str) -> Answer:
        facts, statements = await self.memory._read(lambda tx: self._known(tx, person))
        name = await self.called(person)
        said = "I know nothing of that yet." if self.found.text else f"I know nothing about {name} yet."
        if facts or statements:
            said = f"What I know about {name}:\n{listed(facts, statements)}"
        return Answer(self.kind, said, self.message, person, tuple(statements), tuple(facts))

    def _known(self, tx: Tx, person: str) -> tuple[list[Fact], list[Statement]]:
        """What may be shown here of a person, and of the thing that is asked about."""
        space, viewer = self.place.space, self.viewer
        facts, statements = known_to(tx, space, person, viewer)
        if viewer.person not in (None, person):
            facts += self._own_words(tx, person)
        if not self.found.text:
            return facts, statements
        name, about = name_for(tx, space, person, viewer), f"about {self.found.text}"
        numbers = matching(name, [one.text for one in statements], about)
        return matching_facts(facts, about, name=name), [statements[number - 1] for number in numbers]

    def _own_words(self, tx: Tx, person: str) -> list[Fact]:
        """What somebody said of another in chats of their own is in their own memory, under the name they used."""
        member = next((one for one in self.place.members if one.id == person), Member(person))
        names = {fold_name(name) for name in (person, *(name.text for name in member.names))}
        known = facts_of(tx, self.place.space, self.place.speaker, active=True)
        return [fact for fact in known if fact.subject and fold_name(fact.subject) in names and self.viewer.sees(fact)]


def known_by(members: Sequence[Member]) -> tuple[str, ...]:
    """Every name that members go by."""
    return tuple(name for one in members for name in (one.id, *(name.text for name in one.names)))
