"""One conversation: adding to it, reading it back, building contexts for it, and having a model reply in it.

Everything here belongs to one space and one conversation, and to one user if it is a chat with one. A chat retrieves
from its user's memory; a channel retrieves only from itself, so that nothing said in private is shown to many.

Archiving at once takes the lease that the follower of the window takes, so that no message goes into two chunks. If a
view on which summaries rest cannot follow the log, nothing is archived: the messages stay in the window, and the error
says why. A rebuild of the window follows its rule alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from everword.context import turn
from everword.errors import InvalidInput, NotFound, StoreBusy
from everword.follow.claiming import Lease
from everword.follow.follower import settle
from everword.follow.model_calls import check_usable
from everword.log import checks_and_seals
from everword.log.access import ConversationScope
from everword.log.append_and_read import conversation_titles, cursors_of, set_cursors
from everword.log.checks_and_seals import MAX_TURN, check_number
from everword.log.operation_declarations import Operation, operation
from everword.memory.commands import run_command
from everword.memory.gather_context import ContextBuilder
from everword.memory.operations.changes import edit_message, remove_message
from everword.memory.operations.conversation_topics import ConversationTopics
from everword.memory.operations.people import check_display_names
from everword.memory.restricted_memory import add_batches
from everword.memory.runtime import Runtime
from everword.model import (
    Added,
    Answer,
    Batch,
    Budget,
    BudgetName,
    Chunk,
    Context,
    Conversation,
    Deletion,
    Draft,
    Episode,
    Message,
    OnEdit,
    Reply,
    Role,
)
from everword.model.people import with_name
from everword.openai.messages import as_draft
from everword.ports import Lag, Tx
from everword.recall import follow_up_questions
from everword.recall.view import IndexView
from everword.summaries import episodes
from everword.summaries.episodes import EpisodesView
from everword.summaries.window import ArchivedRun, WindowView, load_chunks
from everword.topics.view import VIEW

ARCHIVE_SECONDS = 20.0  # to wait for views, and for another worker's lease
PAUSE = 0.02  # seconds between two tries to take the lease


class ConversationFace(ConversationTopics):
    """One thread of messages."""

    space: str | None
    id: str
    user: str | None
    _contexts: ContextBuilder

    async def add(
        self,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        user: str | None = None,
        time: datetime | None = None,
        platform_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        expires: datetime | timedelta | None = None,
        on_edit: OnEdit = "refuse",
        reply_to: str | None = None,
    ) -> Message:
        """Store a message. When `add` returns, the message is on disk. A message with a known platform id is not stored
        twice. While the store accepts no writes, everword can buffer the message in RAM (setting `hold_messages`); the
        message's `degraded` says so.

        `name` is the author's display name now. everword cleans the name and stores it in the metadata; a channel also
        adds it to the author's names.

        `expires` is a time, or a time span from now. After this time, searches and contexts leave out the message, and
        `retain` removes it. No fact, summary, digest or topic that would outlive the message is derived from it.

        If the platform id is already stored with a different text, the stored text stays; with `on_edit="version"`, the
        new text becomes a new version instead. The message's `kept` is "new", "known", "edited" or "refused".

        `reply_to` is the id or platform id of the message in this conversation that this message answers.
        """
        full_metadata = {} if metadata is None else metadata
        if name is not None and isinstance(full_metadata, Mapping):
            full_metadata = with_name(full_metadata, name)
        draft = Draft(
            role, content, author, user, time, platform_id, full_metadata, expires_at=expires, reply_to=reply_to
        )
        return (await self.extend([draft], on_edit=on_edit))[0].message

    @operation(
        "POST /v1/conversations/{id}/messages",
        right="write",
        tells="request",
        name="add_messages",
        by_hand=True,
        tool="add_messages",
    )
    async def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        """Store several messages in one transaction: either all of them or none. Each message is a draft, or a mapping
        such as `{"role": "user", "content": "Hi"}` with the fields of a draft; `expires` works as in `add`. `on_edit`
        works as in `add`. For each message, `kept` in the result says whether the message was stored."""
        draft_list = [as_draft(draft) for draft in checks_and_seals.check_items("messages", drafts)]
        batch = Batch(self.scope.space, self.id, self.user, draft_list, on_edit=on_edit)
        return (await add_batches(self.runtime, [batch], self.scope.access))[0]

    @operation("GET /v1/conversations/{id}/messages", right="read", by_hand=True)
    async def history(
        self, *, limit: int | None = None, before: int | None = None, versions: bool = False
    ) -> list[Message]:
        """Get the messages in order. With `limit`, you get the last messages; with `before`, the messages before that
        turn. With `versions`, each message has its older versions: the texts before each edit.

        Expired messages are in the history until `retain` removes them.
        """
        count = None if limit is None else check_number("limit", limit, MAX_TURN)
        messages = await self._contexts.recent_messages(
            count, None if before is None else check_number("before", before, MAX_TURN), versions
        )
        return [message.as_said for message in messages]

    @operation(
        "PATCH /v1/conversations/{id}/messages/{message}",
        right="write",
        name="edit_message",
        once="nothing",
        tool="edit_message",
    )
    async def edit(self, message: str | int, text: str, *, metadata: dict[str, Any] | None = None) -> Message:
        """Replace the text of a message and, if you pass `metadata`, the message's metadata. Identify the message by
        its id, its turn (a number) or its platform id.

        Search, contexts, facts, summaries, topics and exports use the new version of an edited message. The old version
        of the message stays in the log; `history(versions=True)` shows the old version. If the new text and metadata
        are the same as the old ones, nothing changes.
        """
        await check_display_names(self.runtime, self.scope.access, self.scope.space, metadata or {})
        return await edit_message(self.runtime, self.scope, message, text, metadata)

    @operation("DELETE /v1/conversations/{id}/messages/{message}", right="admin", name="delete_message", once="names")
    async def delete(self, message: str | int, *, dry_run: bool = False) -> Deletion:
        """Permanently remove a message and everything derived from it. Identify the message by its id, its turn (a
        number) or its platform id. A fact from the removed message stays if another message also states this fact. With
        `dry_run`, nothing is removed: the result says what would be removed from the log and from each view (derived
        data)."""
        return await remove_message(self.runtime, self.scope, message, dry_run=dry_run)

    @operation("POST /v1/conversations/{id}/context", right="read", by_hand=True, tool="get_context")
    async def context(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        """Build a context for `text`: the messages to send to a model, within the budget, with a receipt that says what
        was chosen and why.

        The messages tell the model how to ask for more by writing markers, which `reply` handles. If your program calls
        a model itself and shows the model's words, pass `markers=False`.
        """
        checks_and_seals.check_text("text", text)
        if system is not None:
            checks_and_seals.check_text("system", system)
        return await self._contexts.build(text, None, (), Budget.of(budget), system, markers)

    @operation("POST /v1/conversations/{id}/reply", right="write", by_hand=True)
    async def reply(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Reply:
        """Run a whole turn: store the message, ask the model, and store and return the model's reply."""
        with self.runtime.turn_under_way(self.scope.space, self.id):
            turn_state, tools = await self._begin_turn(text, Budget.of(budget), system, author, platform_id)
            reply = await turn.answer(turn_state, tools)
        return replace(reply, message=reply.message.as_said)

    @operation("POST /v1/conversations/{id}/reply", right="write", name="reply", by_hand=True)
    async def stream(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> AsyncIterator[str]:
        """Run a turn as `reply` does, and yield the reply in pieces while the model writes it. If the turn is cut off,
        everword stores the part that was sent, marked as partial."""
        with self.runtime.turn_under_way(self.scope.space, self.id) as turns:
            turn_and_tools = await self._begin_turn(text, Budget.of(budget), system, author, platform_id)
            turns.append(turn_and_tools)
            # Closed together with this generator: when the caller stops listening, the log is correct at once.
            async with aclosing(turn.stream(*turn_and_tools)) as pieces:
                async for piece in pieces:
                    yield piece

    @operation("POST /v1/conversations/{id}/command", right="write", once="words")
    async def command(
        self,
        text: str,
        *,
        author: str | None = None,
        names: Sequence[str] = ("everword", "bot"),
        addressed: bool = False,
        platform_id: str | None = None,
    ) -> Answer | None:
        """Carry out a message that is a command to everword, such as "remember …", "forget …" or "what do you know
        about me?". If the message is not a command to everword, the result is None.

        `names` are the names by which people address everword. With `addressed`, everword treats the message as
        addressed to everword, even if the message contains none of the `names`. If the message is a command, everword
        stores the message and the answer in the log. If the message is not a command, everword does not store the
        message: to store it, call `reply` or `add`. If a message with the same `platform_id` is already stored, the
        command is not carried out again, and the result is None.
        """
        return await run_command(self.runtime, self.scope, text, author, names, addressed, platform_id)

    @operation("GET /v1/conversations/{id}", right="read", name="describe_conversation")
    async def describe(self) -> Conversation:
        """Get the conversation itself: its title, its user, how many messages it has had, and the time of the last
        message. If the conversation does not exist, the error is `NotFound`."""

        def read(tx: Tx) -> Conversation:
            conversation = self.scope.find(tx)
            if conversation is None:
                raise NotFound(f"there is no conversation {self.id!r} in space {self.scope.space!r}")
            return replace(conversation, title=conversation_titles(tx, self.scope.space, [self.id]).get(self.id, ""))

        return await self.runtime.read(read)

    @operation("POST /v1/conversations/{id}/archive", right="write")
    async def archive(self) -> Chunk | None:
        """Archive (summarise) all messages of the conversation now, except the last exchange (a message and its reply).
        If there is nothing to archive, the result is None. If summarising fails, the messages are not archived, and the
        error says why."""
        return await archive_window(self.runtime, self.scope)

    @operation("GET /v1/conversations/{id}/archived", right="read")
    async def archived(self) -> list[Chunk]:
        """List the groups of messages that were archived together, oldest first."""

        def read(tx: Tx) -> list[Chunk]:
            exists = self.scope.find(tx) is not None
            return load_chunks(tx, self.scope.space, self.id) if exists else []

        return await self.runtime.read(read)

    @operation("GET /v1/conversations/{id}/episodes", right="read")
    async def episodes(self) -> list[Episode]:
        """List the summaries of archived messages, highest level first. A summary that became part of a larger summary
        is listed only inside the larger summary."""

        def read(tx: Tx) -> list[Episode]:
            exists = self.scope.find(tx) is not None
            return episodes.episode_tree(tx, self.scope.space, self.id) if exists else []

        return await self.runtime.read(read)

    @operation("POST /v1/conversations/{id}/standalone", right="read", wrap="question")
    async def standalone(self, question: str) -> str:
        """Rewrite a follow-up question, with the help of the last messages, so that the question can be understood
        alone. A question that can already be understood alone is returned unchanged."""
        question = self.runtime.parts.secrets.mask(checks_and_seals.check_text("question", question))
        inputs = follow_up_questions.Inputs(question, await self._contexts.last_exchange(None), await self._subject())
        return (await self.runtime.tasks.ask(follow_up_questions, inputs)).reply.question

    async def _begin_turn(
        self, text: str, budget: Budget, system: str | None, author: str | None, platform_id: str | None
    ) -> tuple[turn.Turn, turn.TurnTools]:
        if system is not None:
            checks_and_seals.check_text("system", system)
        runtime = self.runtime
        parts = runtime.parts
        model = runtime.chat.for_task("reply")
        await check_usable(model)
        await runtime.catch_up(self.scope.filter_of_recall)
        draft = Draft("user", text, author, None, None, platform_id)
        batch = Batch(self.scope.space, self.id, self.user, [draft])
        # Views are woken when the turn ends: nobody waits for them, and they should not slow the turn down.
        (addition,) = (await runtime.append_messages([batch]))[0]
        if addition.kept == "refused":
            raise InvalidInput(
                "platform_id",
                f"{platform_id!r} is already stored with a different text; to change the text, edit the message",
            )
        question = addition.message
        tools = turn.TurnTools(
            model=model,
            context=partial(self._contexts.build_answer_context, budget, system),
            search=self._contexts.search,
            write=runtime.write_if_possible,
            keep=runtime.keep_message,
            tokenizer=parts.tokenizer,
            now=parts.clock.now,
            rounds=parts.settings.rounds,
            raised_turns=parts.settings.raised_turns,
            append=runtime.append_message,
        )
        return turn.Turn(question), tools


class AsyncConversation(ConversationFace):
    """One thread of messages, for whoever has the access of its scope."""

    space: str

    def __init__(self, runtime: Runtime, scope: ConversationScope) -> None:
        self.runtime = runtime
        self.scope = scope
        self._contexts = ContextBuilder(runtime, scope)
        self.space = scope.space
        self.id = scope.id
        self.user = scope.user

    def __repr__(self) -> str:
        return f"<conversation {self.space}/{self.id}>"

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._check(operation, kwargs)
        return await operation.method(self, *args, **kwargs)

    def _perform_stream(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._check(operation, kwargs)
        return operation.method(self, *args, **kwargs)

    def _check(self, operation: Operation, kwargs: Mapping[str, Any]) -> None:
        self.scope.access.check_operation(operation.name)
        if kwargs.get("author") is not None:
            self.scope.access.check_user(kwargs["author"])


# -- archiving at once


async def archive_window(runtime: Runtime, scope: ConversationScope) -> Chunk | None:
    """Archive all but the last exchange; None if there is nothing to archive."""
    await follow_log(runtime, scope)
    parts = runtime.parts
    place = (scope.space, scope.id)
    lease = Lease(WindowView.name, parts.clock, timedelta(seconds=parts.settings.lease_seconds))
    await acquire_lease(runtime, lease, place)
    try:
        lag = await runtime.read(lambda tx: read_lag(tx, scope))
        result = await runtime.window.archive_window(lag)
        if result.chunks:
            await runtime.write(lambda tx: save_archive(tx, runtime.window, result, lease, place))
    finally:
        await runtime.write(lambda tx: lease.release(tx, [place]))
    runtime.wake()
    return result.chunks[0] if result.chunks else None


async def follow_log(runtime: Runtime, scope: ConversationScope) -> None:
    """Bring the window of a conversation up with the log; raises NotSettled, with the reason, if it cannot be."""
    await runtime.catch_up(scope.filter, VIEW, WindowView.name)
    lag = await runtime.read(lambda tx: read_lag(tx, scope))
    if lag.done < lag.turns:
        followers = [runtime.followers[name] for name in (IndexView.name, VIEW, WindowView.name)]
        await settle(followers, ARCHIVE_SECONDS, runtime.calls)


async def acquire_lease(runtime: Runtime, lease: Lease, place: tuple[str, str]) -> None:
    """Take the lease on the window of a conversation, waiting for whoever has it."""
    for _ in range(int(ARCHIVE_SECONDS / PAUSE)):
        if await runtime.write(lambda tx: lease.acquire(tx, [place])):
            return
        await asyncio.sleep(PAUSE)
    raise StoreBusy("another worker is archiving this conversation, so this call archived nothing; try again")


def read_lag(tx: Tx, scope: ConversationScope) -> Lag:
    """How far the window has followed the conversation."""
    conversation = scope.find(tx)
    if conversation is None:
        return Lag(scope.space, scope.id, 0, 0)
    done = cursors_of(tx, WindowView.name, [(scope.space, scope.id)])[scope.space, scope.id]
    return Lag(scope.space, scope.id, done, conversation.turns)


def save_archive(tx: Tx, view: WindowView, result: ArchivedRun, lease: Lease, place: tuple[str, str]) -> None:
    if not lease.holds(tx, place):
        raise StoreBusy("another worker took over this conversation, so this call archived nothing; try again")
    view.save(tx, result)
    # The window's own cursor stands, so this view would not see that there is a summary to be written by the model.
    written = cursors_of(tx, EpisodesView.name, [place])[place]
    set_cursors(tx, EpisodesView.name, {place: min(written, result.chunks[0].first - 1)})
