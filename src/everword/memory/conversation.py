"""One conversation: adding to it, reading it back, building contexts for it, and having a model reply in it.

Everything here belongs to one space and one conversation, and to one user if it is a chat with one. A chat retrieves
from its user's memory; a channel retrieves only from itself, so that nothing said in private is shown to many.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any

from everword.context import turn
from everword.errors import InvalidInput
from everword.follow.ask import check_usable
from everword.log import rules
from everword.log.access import ConversationScope
from everword.log.operations import Operation
from everword.log.rules import MAX_TURN, check_number
from everword.memory.commands import run_command
from everword.memory.conversation_topics import ConversationTopics
from everword.memory.deletion import Deletions
from everword.memory.edits import Edits
from everword.memory.faces import ConversationFace
from everword.memory.gather import ContextBuilder
from everword.memory.people import Knowledge
from everword.memory.window_archive import archive_window
from everword.model import (
    Added,
    Answer,
    Batch,
    Budget,
    BudgetName,
    Chunk,
    Context,
    Deletion,
    Draft,
    Episode,
    Message,
    OnEdit,
    Reply,
)
from everword.openai.drafts_from_mappings import as_draft
from everword.ports import Tx
from everword.recall import standalone
from everword.summaries import episodes
from everword.summaries.window import load_chunks


class AsyncConversation(ConversationFace):
    """One thread of messages."""

    space: str

    def __init__(self, knowledge: Knowledge, deletions: Deletions, scope: ConversationScope) -> None:
        self._knowledge = knowledge
        self._deletions = deletions
        self._runtime = knowledge.runtime
        self._edits = Edits(self._runtime)
        self.scope = scope
        self._contexts = ContextBuilder(self._runtime, scope)
        self.by_topic = ConversationTopics(self._runtime, scope)
        self.space = scope.space
        self.id = scope.id
        self.user = scope.user

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return await getattr(getattr(self, operation.part), operation.method.__name__)(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<conversation {self.space}/{self.id}>"

    async def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        draft_list = [as_draft(draft) for draft in rules.check_items("messages", drafts)]
        by = self.scope.access.key_id
        return await self._append(Batch(self.space, self.id, self.user, draft_list, on_edit=on_edit, by=by))

    async def history(
        self, *, limit: int | None = None, before: int | None = None, versions: bool = False
    ) -> list[Message]:
        count = None if limit is None else check_number("limit", limit, MAX_TURN)
        messages = await self._contexts.recent_messages(
            count, None if before is None else check_number("before", before, MAX_TURN), versions
        )
        return [message.as_said for message in messages]

    async def edit(self, message: str | int, text: str, *, metadata: dict[str, Any] | None = None) -> Message:
        await self._knowledge.check_display_names(self.scope.access, self.space, metadata or {})
        return await self._edits.edit_message(self.scope, message, text, metadata)

    async def delete(self, message: str | int, *, dry_run: bool = False) -> Deletion:
        return await self._deletions.delete_message(self.scope, message, dry_run=dry_run)

    async def context(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        rules.check_text("text", text)
        if system is not None:
            rules.check_text("system", system)
        return await self._contexts.build(text, None, (), Budget.of(budget), system, markers)

    async def reply(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Reply:
        with self._runtime.turn_under_way(self.space, self.id):
            turn_state, tools = await self._begin_turn(text, Budget.of(budget), system, author, platform_id)
            reply = await turn.answer(turn_state, tools)
        return replace(reply, message=reply.message.as_said)

    async def stream(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> AsyncIterator[str]:
        with self._runtime.turn_under_way(self.space, self.id) as turns:
            turn_and_tools = await self._begin_turn(text, Budget.of(budget), system, author, platform_id)
            turns.append(turn_and_tools)
            # Closed together with this generator: when the caller stops listening, the log is correct at once.
            async with aclosing(turn.stream(*turn_and_tools)) as pieces:
                async for piece in pieces:
                    yield piece

    async def command(
        self,
        text: str,
        *,
        author: str | None = None,
        names: Sequence[str] = ("everword", "bot"),
        addressed: bool = False,
        platform_id: str | None = None,
    ) -> Answer | None:
        return await run_command(self._knowledge, self.scope, text, author, names, addressed, platform_id)

    async def archive(self) -> Chunk | None:
        return await archive_window(self._runtime, self.scope)

    async def archived(self) -> list[Chunk]:

        def read(tx: Tx) -> list[Chunk]:
            exists = self.scope.find(tx) is not None
            return load_chunks(tx, self.space, self.id) if exists else []

        return await self._runtime.read(read)

    async def episodes(self) -> list[Episode]:

        def read(tx: Tx) -> list[Episode]:
            exists = self.scope.find(tx) is not None
            return episodes.episode_tree(tx, self.space, self.id) if exists else []

        return await self._runtime.read(read)

    async def standalone(self, question: str) -> str:
        question = self._runtime.parts.secrets.mask(rules.check_text("question", question))
        inputs = standalone.Inputs(question, await self._contexts.last_exchange(None), await self.by_topic.subject())
        return (await self._runtime.tasks.ask(standalone, inputs)).reply.question

    async def _append(self, batch: Batch) -> list[Added]:
        added = (await self._runtime.append_messages([batch]))[0]
        self._runtime.wake()
        return [replace(addition, message=addition.message.as_said) for addition in added]

    # -- a turn

    async def _begin_turn(
        self, text: str, budget: Budget, system: str | None, author: str | None, platform_id: str | None
    ) -> tuple[turn.Turn, turn.TurnTools]:
        if system is not None:
            rules.check_text("system", system)
        runtime = self._runtime
        parts = runtime.parts
        model = runtime.chat.for_task("reply")
        await check_usable(model)
        await runtime.catch_up(self.space)
        draft = Draft("user", text, author, None, None, platform_id)
        batch = Batch(self.space, self.id, self.user, [draft])
        # Views are woken when the turn ends: nobody waits for them, and they should not slow the turn down.
        (addition,) = (await runtime.append_messages([batch]))[0]
        if addition.kept == "refused":
            raise InvalidInput("platform_id", f"{platform_id!r} is known with another text: edit that message first")
        question = addition.message
        tools = turn.TurnTools(
            model=model,
            context=partial(self._contexts.build_answer_context, budget, system),
            search=self._contexts.search,
            write=runtime.held.write_view,
            keep=runtime.keep_message,
            count=parts.tokenizer.count,
            now=parts.clock.now,
            rounds=parts.rounds,
            raised_turns=parts.raised_turns,
            append=runtime.append_message,
        )
        return turn.Turn(question), tools
