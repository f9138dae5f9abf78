"""Runs messages that are commands to the memory: remember this, forget that, what do you know about Bob.

A name in a command must mean one member of the space whom the speaker may know of. If several members fit, the answer
asks which one, and nothing is done; if none fits, the message is ordinary talk. A command shows nobody what they may
not see: a channel is shown what was said in it, and a person alone is shown what `log.access` lets them see. The
command and its answer stay in the log, marked, so that no facts are read from them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import cast

from everword.context.people import hide_private_names, knowledge_for_viewer, profile_text, statements_beside
from everword.errors import InvalidInput, StoreError
from everword.facts.prompts import CommandInputs, command
from everword.facts.rules.commands import Command, is_addressed, may_be_command
from everword.facts.rules.remembered_statements import LOOKED_BACK, AuthoredMessage, matching_facts, matching_statements
from everword.facts.stored_facts import (
    facts_of,
    ids_repeated,
    members_known_to,
    name_for,
    names_in_context,
    note_repeated,
    viewer_of_chat,
)
from everword.facts.view import FactsView, command_of
from everword.follow.model_task import TaskMessage
from everword.log import append_and_read as log
from everword.log import checks_and_seals
from everword.log.access import ConversationScope, Viewer
from everword.memory.operations.people import forget_knowledge, merge_statement
from everword.memory.runtime import Runtime
from everword.model import (
    Added,
    Ambiguous,
    Answer,
    Batch,
    CommandKind,
    Draft,
    Fact,
    Filter,
    Forgotten,
    Member,
    Message,
    Resolved,
    Statement,
    Unknown,
)
from everword.ports import Tx
from everword.text.detect import DEFAULT, is_clear
from everword.text.doc import reading_in
from everword.text.language_packs import key_label, language_of_chat, phrase
from everword.text.names import fold_name, resolve

logger = logging.getLogger("everword.commands")

MAX_NAMES = 20  # names of the memory in one command
NEAR = 50  # messages whose authors count as members, even if they are not in the register yet
MEANT = 1_000  # characters of a message that "forget what I just said" means


@dataclass(frozen=True, slots=True)
class CommandScene:
    """Where a command is given: who speaks, who reads the answer, who may be meant, and the recent messages. A channel
    has no `owner`."""

    space: str
    conversation: str
    owner: str | None
    speaker: str
    viewer: Viewer
    members: tuple[Member, ...]
    recent: tuple[Message, ...]


def read_command_scene(
    scope: ConversationScope, author: str | None, share_channels: bool, now: datetime, tx: Tx
) -> CommandScene:
    space, id, access = scope.space, scope.id, scope.access
    conversation = log.find_own_conversation(tx, space, id, scope.user)
    owner = conversation.user if conversation is not None else scope.user
    where = Filter(space, conversation=id)
    recent = tx.messages(where, limit=NEAR, newest=True, damaged=log.warn_of_damage) if conversation else []
    messages = [message for message in recent if message.is_shown_at(now)]
    speaker = access.user or author or owner or checks_and_seals.SPEAKERS["user"]
    viewer = viewer_of_chat(tx, space, id, owner, speaker, shared=share_channels)
    members = {member.id: member for member in members_known_to(tx, space, viewer)}
    for person in (speaker, *(m.author for m in messages if m.role == "user")):
        members.setdefault(person, Member(person))
    if access.is_bound:  # for a key that is bound to one user, nobody else exists
        members = {speaker: members[speaker]}
    return CommandScene(space, id, owner, speaker, viewer, tuple(members.values()), tuple(messages))


async def run_command(
    runtime: Runtime,
    scope: ConversationScope,
    text: str,
    author: str | None,
    names: Sequence[str],
    for_memory: bool,
    platform_id: str | None = None,
) -> Answer | None:
    """Read a message as a command and run it; None if it is ordinary talk, or was run before."""
    share_channels = runtime.parts.settings.share_channels
    checks_and_seals.check_text("text", text)
    author_id = None if author is None else checks_and_seals.check_id("author", author)
    own_names = check_names(names)
    if not may_be_command(text) or not (for_memory or await runtime.run(is_addressed, text, own_names)):
        return None
    now = runtime.parts.clock.now()
    scene = await runtime.read(partial(read_command_scene, scope, author_id, share_channels, now))
    exchange = tuple(TaskMessage(m.role, m.content) for m in scene.recent)
    masked_text = runtime.parts.secrets.guard_text("text", text)
    inputs = CommandInputs(masked_text, own_names, for_memory, names_of(scene.members), exchange)
    reply = (await runtime.tasks.ask(command, inputs)).reply
    with reading_in(runtime.languages):
        parsed_command = in_language_of_chat(reply, text, scene)
    subject = find_subject(parsed_command, scene)
    if parsed_command.kind == "none" or isinstance(subject, Unknown):
        return None
    if not parsed_command.is_certain and isinstance(subject, Resolved):
        await runtime.wait_for_view(FactsView.name, scope.space)
        if not any(await runtime.read(partial(visible_knowledge, scene, parsed_command.text, subject.member, now))):
            return None
    mark = {"everword": {"command": parsed_command.kind}}
    draft = Draft("user", text, scene.speaker, platform_id=platform_id, metadata=mark)
    added = await append(runtime, scope, draft, is_source=parsed_command.kind != "ask")
    if not added.new:
        return None
    message = added.message
    answer = await CommandRun(runtime, scene, parsed_command, message).answer(subject)
    # In a channel the answer belongs to the person it is about, and is erased with them.
    about = answer.person if scene.owner is None else None
    id = log.new_id(runtime.parts.clock.now())
    message_ids = ids_repeated(answer) | ids_meant(parsed_command, scene)
    try:
        await runtime.write(lambda tx: note_repeated(tx, scope.space, id, message.time, message_ids))
    except StoreError as error:  # what cannot be found again when its sources are removed is not kept
        logger.warning("the answer to a command is not kept: %s", error)
        return answer
    await append(runtime, scope, Draft("assistant", answer.text, user=about, metadata=mark, id=id))
    return answer


def in_language_of_chat(parsed_command: Command, text: str, scene: CommandScene) -> Command:
    """The command, to be answered in the language of the chat if its own words do not tell one."""
    if parsed_command.language != DEFAULT or is_clear(text):
        return parsed_command
    earlier_texts = [message.content for message in reversed(scene.recent) if message.role == "user"]
    return replace(parsed_command, language=language_of_chat(text, earlier_texts))


def ids_meant(parsed_command: Command, scene: CommandScene) -> set[str]:
    """The messages that "remember this" and "forget that" may mean."""
    if parsed_command.text or parsed_command.kind == "ask":
        return set()
    return {message.id for message in scene.recent[-LOOKED_BACK:] if message.role == "user"}


async def append(runtime: Runtime, scope: ConversationScope, draft: Draft, is_source: bool = False) -> Added:
    """Keep a message in the conversation, and wake the views. One that changes what is known is not held in memory."""
    batch = Batch(scope.space, scope.id, scope.user, [draft])
    added = await runtime.append_messages([batch], is_source=is_source)
    runtime.wake(scope.space)
    return added[0][0]


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names the memory is called by. Their number is limited: patterns are made of them, which takes time."""
    items = checks_and_seals.check_items("names", names)
    if len(items) > MAX_NAMES:
        raise InvalidInput("names", f"has {len(items)} names; at most {MAX_NAMES} are allowed")
    return tuple(checks_and_seals.check_text("names", name, limit=checks_and_seals.MAX_ID_BYTES) for name in items)


def find_subject(parsed_command: Command, scene: CommandScene) -> Resolved | Ambiguous | Unknown:
    """The person a command is about. A command about nobody in particular is ambiguous, without candidates."""
    if parsed_command.about is not None:
        return resolve(parsed_command.about, scene.members, speaker=scene.speaker)
    # "He likes jazz", "what do you know about him", and in a group "this", may be about anybody.
    is_ambiguous = parsed_command.refers_back and (parsed_command.text or parsed_command.kind == "ask")
    if is_ambiguous or (parsed_command.refers_back and parsed_command.kind == "remember" and scene.owner is None):
        return Ambiguous(())
    return Resolved(scene.speaker, "who speaks")


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One command that is being run."""

    runtime: Runtime
    scene: CommandScene
    command: Command
    message: Message

    async def answer(self, subject: Resolved | Ambiguous | Unknown) -> Answer:
        if isinstance(subject, Resolved):
            await self.runtime.wait_for_view(FactsView.name, self.message.space)
            act = {"remember": self.remember, "forget": self.forget, "ask": self.ask}[self.command.kind]
            return await act(subject.member)
        candidates = subject.candidates if isinstance(subject, Ambiguous) else ()
        if not candidates:
            return Answer(self.kind, self.say("whom"), self.message)
        names = (f"{candidate.member} ({candidate.name}, {candidate.why})" for candidate in candidates)
        choices = f" {self.say('or')} ".join(names)
        answer_text = self.say("which", about=self.command.about or "", choices=choices)
        return Answer(self.kind, answer_text, self.message, candidates=candidates)

    @property
    def kind(self) -> CommandKind:
        return cast(CommandKind, self.command.kind)

    @property
    def viewer(self) -> Viewer:
        """Who reads the answer."""
        return self.scene.viewer

    def say(self, name: str, /, **parts: str) -> str:
        """A text of everword's own in the language of the command."""
        return phrase(self.command.language, name, **parts)

    async def say_of(self, person: str, name: str) -> str:
        """A text about the speaker, or about somebody who is named in it."""
        if person == self.scene.speaker:
            return self.say(f"{name}_you")
        return self.say(
            name, name=await self.runtime.read(lambda tx: name_for(tx, self.scene.space, person, self.viewer))
        )

    async def statement_texts(self, statements: Sequence[Statement]) -> list[str]:
        """The texts of the statements that the viewer may see, each once."""
        visible = await self.runtime.read(lambda tx: hide_private_names(tx, statements, self.viewer))
        return list(dict.fromkeys(statement.text for statement in visible))

    # -- remember

    async def remember(self, person: str) -> Answer:
        text = self.command.text
        utterances = tuple[AuthoredMessage, ...]()
        if text:
            text = await self._use_profile_name(person, text)
        elif self.command.refers_back:
            utterances = await self.runtime.read(self._recent_utterances)
        statements = (
            await merge_statement(self.runtime, text, person, self.message, utterances) if text or utterances else []
        )
        if not statements:
            return Answer(self.kind, await self.say_of(person, "nothing_to_keep"), self.message, person)
        answer_text = self.say("remembered", text=" ".join(await self.statement_texts(statements)))
        return Answer(self.kind, answer_text, self.message, person, tuple(statements))

    async def _use_profile_name(self, person: str, text: str) -> str:
        """The text with a nickname of the person replaced by the name in their profile."""
        about = self.command.about
        if about is None or person == self.scene.speaker:
            return text
        name = await self.runtime.read(lambda tx: name_for(tx, self.scene.space, person, self.viewer))
        return re.sub(rf"^{re.escape(about)}(?!\w)", lambda _: name, text, flags=re.IGNORECASE)

    def _recent_utterances(self, tx: Tx) -> tuple[AuthoredMessage, ...]:
        """What people said before the command. What an assistant says is not a source, nor is what expires: a statement
        would outlive it."""
        messages = [m for m in self.scene.recent if m.role == "user" and command_of(m) is None][-LOOKED_BACK:]
        if not messages or not messages[-1].is_lasting:
            return ()
        return tuple(
            AuthoredMessage(name_for(tx, self.scene.space, m.author, self.viewer), m.content)
            for m in messages
            if m.is_lasting
        )

    # -- forget

    async def forget(self, person: str) -> Answer:
        description = self.command.text
        meant_id: str | None = None
        if not description:
            own_messages = [m for m in self.scene.recent if m.author == self.scene.speaker and command_of(m) is None]
            # The request is kept, and so must not repeat what expires.
            if own_messages and own_messages[-1].is_lasting:
                description = own_messages[-1].content[:MEANT]
                meant_id = own_messages[-1].id
        if not description:
            return Answer(self.kind, self.say("say_what"), self.message, person, forgotten=Forgotten(None))
        description = await self._use_profile_name(person, description)
        message_id = self.message.id
        outcome = await forget_knowledge(
            self.runtime, self.scene.space, description, person, None, message_id, meant_id
        )
        if outcome.everything:
            answer_text = await self.say_of(person, "everything")
        else:
            answer_text = await self._describe_forgotten(outcome)
        return Answer(self.kind, answer_text, self.message, person, forgotten=outcome)

    async def _describe_forgotten(self, outcome: Forgotten) -> str:
        if not outcome.found:
            return self.say("not_known")
        lines = await self.statement_texts(
            [statement for statement in outcome.statements if self.viewer.sees(statement)]
        )
        facts = [fact for fact in outcome.facts if self.viewer.sees(fact)]
        lines = lines or [f"{key_label(self.command.language, fact.key)}: {fact.value}." for fact in facts]
        return self.say("forgotten", text=" ".join(lines)) if lines else self.say("done")

    # -- ask

    async def ask(self, person: str) -> Answer:
        now = self.runtime.parts.clock.now()
        knowledge = partial(visible_knowledge, self.scene, self.command.text, person, now)
        facts, statements = await self.runtime.read(knowledge)
        if facts or statements:
            text = await self.runtime.read(lambda tx: self._profile_text(tx, facts, statements))
            answer_text = f"{await self.say_of(person, 'know')}\n{text}"
        elif self.command.text:
            answer_text = self.say("nothing_of_that")
        else:
            answer_text = await self.say_of(person, "nothing")
        return Answer(self.kind, answer_text, self.message, person, tuple(statements), tuple(facts))

    def _profile_text(self, tx: Tx, facts: Sequence[Fact], statements: Sequence[Statement]) -> str:
        """Facts and statements as lines, with the names of those who say something of the person."""
        speakers = {fact.speaker for fact in facts} | {statement.speaker for statement in statements}
        names = names_in_context(tx, self.scene.space, speakers, self.viewer)
        return profile_text(facts, statements_beside(tx, statements, facts), names, self.command.language)


def visible_knowledge(
    scene: CommandScene, text: str, person: str, now: datetime, tx: Tx
) -> tuple[list[Fact], list[Statement]]:
    """The facts and statements about a person that the viewer may see, and that fit the text; all if it is empty."""
    viewer = scene.viewer
    facts, statements = knowledge_for_viewer(tx, scene.space, person, viewer, now)
    if viewer.person not in (None, person):
        facts += _facts_in_own_words(tx, scene, person)
    if not text:
        return facts, statements
    name = name_for(tx, scene.space, person, viewer)
    about = f"about {text}"
    numbers = matching_statements(name, [statement.text for statement in statements], about)
    return matching_facts(facts, about, name=name), [statements[number - 1] for number in numbers]


def _facts_in_own_words(tx: Tx, scene: CommandScene, person: str) -> list[Fact]:
    """Facts about the person that the speaker told in private: they are in the speaker's memory, by name."""
    member = next((candidate for candidate in scene.members if candidate.id == person), Member(person))
    names = {fold_name(name) for name in (person, *(name.text for name in member.names))}
    facts = facts_of(tx, scene.space, scene.speaker, active=True)
    return [fact for fact in facts if fact.subject and fold_name(fact.subject) in names and scene.viewer.sees(fact)]


def names_of(members: Sequence[Member]) -> tuple[str, ...]:
    """Every id and name of the members."""
    return tuple(name for member in members for name in (member.id, *(name.text for name in member.names)))
