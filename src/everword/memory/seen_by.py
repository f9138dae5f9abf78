"""A memory as somebody sees it who has rights: it shows and changes only what they may.

`memory.seen_by(access)` makes one. Server, tools, bots and pages hold nothing else, so that none of them has a check to
forget. A key needs the rights of an operation, in a space that it opens. A key of one user gets that user's memory:
what the user said, and what was said in channels they have spoken in, but not what others said of them in private. What
they may not see does not exist for them, so an answer is narrowed by what it holds, whichever operation gave it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from everword.errors import Forbidden, NotSettled
from everword.facts.tables.people import SHOWN_BY_PLATFORM
from everword.facts.viewers import hears_channel, viewer_alone
from everword.log.access import Access, Viewer, scope_for
from everword.log.operations import Operation
from everword.log.rules import check_items
from everword.memory.faces import ConversationFace, DocumentsFace, MemoryFace
from everword.memory.fact_changes import missing_fact
from everword.model import (
    Added,
    Batch,
    Degraded,
    Deletion,
    Draft,
    Fact,
    FactChange,
    Forgotten,
    Hit,
    Message,
    Move,
    OnEdit,
    RefusedFact,
    Stats,
)
from everword.openai.drafts_from_mappings import as_draft
from everword.ports import Tx

if TYPE_CHECKING:
    from everword.memory.conversation import AsyncConversation
    from everword.memory.documents import AsyncDocuments

OWN_ID = "a user's key does not choose ids of messages, which count in the whole space: send a `platform_id` instead"
NAMED_MESSAGE = "this key is for one user: tell the text, without naming a message"
BEHIND = "the views have not caught up with the log; ask again later"


class SeenMemory(MemoryFace):
    """A memory for whoever has this access."""

    def __init__(self, engine: Any, access: Access) -> None:
        """`engine` is a `MemoryEngine`, which makes this."""
        self.engine = engine
        self.runtime = engine.runtime
        self.access = access

    @property
    def degraded(self) -> Degraded | None:
        """Whether messages are held in memory, since the store takes none: how many, since when and why."""
        degraded: Degraded | None = self.engine.degraded
        return degraded

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = operation.method.__name__
        values = self._check(operation, args, kwargs)
        if name == "add_name":
            await self._check_own_name(**values)
        space = values.get("space", self.access.home)
        viewer = await self.viewer(space)
        whom = {"by": self.access.key_id, "viewer": viewer, "asker": self.access.user}
        told = {operation.told: whom[operation.told]} if operation.told else {}
        part = getattr(self.engine, operation.part) if operation.part else self.engine
        try:
            answer = await getattr(part, name)(**values, **told)
        except NotSettled:
            if self.access.spaces is None:
                raise
            # The views are of all spaces: how far behind they are, and why, is not for a key of some.
            raise NotSettled(BEHIND) from None
        if isinstance(answer, Stats) and not self.access.may("settings"):
            return replace(answer, store="")  # the address of the store is for admins
        if viewer is None:
            return answer
        visible = await self.narrow(space, answer, viewer)
        if name == "why" and not visible:  # the caller may not see where it comes from: the fact is not found
            raise missing_fact(space, values["user"], values["fact"])
        return visible

    def _perform_stream(
        self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> AsyncIterator[Message]:
        messages: AsyncIterator[Message] = self.engine.export(**self._check(operation, args, kwargs))
        return messages

    def _check(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What an operation is called with; raises Forbidden if this access may not do that."""
        access = self.access
        values = operation.arguments(args, kwargs)
        access.check_operation(operation.name)
        if "space" in values:
            values["space"] = access.resolve_space(values["space"])
        if operation.about_all:
            access.check_unbound()
            if "space" not in values:
                access.check_all_spaces()
        elif "user" in values:
            values["user"] = access.resolve_user(values["user"])
        if values.get("speaker") is not None:
            access.check_user(values["speaker"])
        if values.get("message") is not None and access.is_bound:
            raise Forbidden("not_you", NAMED_MESSAGE)
        return values

    async def _check_own_name(self, name: str, user: str, kind: str, space: str) -> None:
        """By a user's key, a nickname or an alias that nobody else in the space has."""
        if self.access.is_bound:
            if kind in SHOWN_BY_PLATFORM:
                self.access.check_unbound()
            await self.engine.knowledge.check_free_name(name, user=user, space=space)

    # -- conversations and documents

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> SeenConversation:
        scope = scope_for(self.access, self.access.resolve_space(space), id, user)
        return SeenConversation(self, self.engine.open_conversation(scope))

    def documents(self, *, space: str | None = None) -> SeenDocuments:
        from everword.memory.documents import AsyncDocuments

        space_id = self.access.resolve_space(space)
        return SeenDocuments(self.access, AsyncDocuments(self.runtime, space_id, self.access.user))

    async def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        self.access.check_operation("delete_conversation")
        scope = scope_for(self.access, self.access.resolve_space(space), id, None)
        deletion: Deletion = await self.engine.deletions.delete_conversation(scope, dry_run=dry_run)
        return deletion

    async def move_conversation(
        self,
        id: str,
        *,
        to: str | None = None,
        user: str | None = None,
        space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        self.access.check_operation("move_conversation")
        scope = scope_for(self.access, self.access.resolve_space(space), id, None)
        move: Move = await self.engine.moves.move_conversation(scope, to=to, user=user, dry_run=dry_run)
        return move

    async def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        self.access.check_operation("add_messages")
        own_batches = [self._own_batch(batch) for batch in batches]
        metadatas = [draft.metadata for batch in own_batches for draft in batch.drafts]
        for space in {batch.space for batch in own_batches}:
            await self.engine.knowledge.check_display_names(self.access, space, *metadatas)
        results: list[list[Added]] = await self.engine.add_many(own_batches)
        if self.access.is_reader:
            return results
        now = self.runtime.parts.clock.now()
        return [
            [
                replace(addition, message=message_as_sent(addition.message, draft, batch.user, now))
                for draft, addition in zip(batch.drafts, additions, strict=True)
            ]
            for batch, additions in zip(own_batches, results, strict=True)
        ]

    def _own_batch(self, batch: Batch) -> Batch:
        """A batch by this access; a key of one user accepts only messages by and to that user."""
        access = self.access
        for draft in batch.drafts:
            if draft.id is not None and access.is_bound:
                raise Forbidden("not_you", OWN_ID)
            if draft.user is not None:
                access.check_user(draft.user)
            if draft.author is not None and draft.role == "user":
                access.check_user(draft.author)
        space = access.resolve_space(batch.space)
        return replace(batch, space=space, user=access.resolve_user(batch.user), by=access.key_id)

    # -- what may be shown

    async def viewer(self, space: str) -> Viewer | None:
        """Who reads the answers; None for a program, which decides itself what it shows."""
        user = self.access.user
        if user is None:
            return None
        shared = self.runtime.parts.share_channels

        def read_viewer(tx: Tx) -> Viewer:
            return viewer_alone(tx, space, user, shared=shared)

        viewer: Viewer = await self.runtime.read(read_viewer)
        return viewer

    async def visible_facts(self, space: str, facts: Sequence[Fact]) -> list[Fact]:
        """Those of the facts that may be shown."""
        viewer = await self.viewer(space)
        return [fact for fact in facts if viewer is None or viewer.sees(fact)]

    async def narrow(self, space: str, answer: Any, viewer: Viewer) -> Any:
        """An answer without what the viewer may not see."""
        if isinstance(answer, Fact):
            if not viewer.sees(answer):
                raise missing_fact(space, answer.user, answer.id)
        elif isinstance(answer, FactChange):
            return replace(answer, retired=tuple(fact for fact in answer.retired if viewer.sees(fact)))
        elif isinstance(answer, Forgotten):
            return replace(answer, facts=tuple(fact for fact in answer.facts if viewer.sees(fact)))
        elif isinstance(answer, list):
            kept = [item for item in answer if is_shown(viewer, item)]
            messages = [item for item in kept if isinstance(item, Message)]
            return await self._visible_messages(space, messages, viewer) if messages else kept
        return answer

    async def _visible_messages(self, space: str, messages: Sequence[Message], viewer: Viewer) -> list[Message]:
        places = sorted({message.conversation for message in messages})

        def read_heard_channels(tx: Tx) -> set[str]:
            return {place for place in places if hears_channel(tx, space, place, viewer)}

        channels: set[str] = await self.runtime.read(read_heard_channels)
        return [
            message
            for message in messages
            if viewer.person in (message.user, message.author) or message.conversation in channels
        ]


class SeenParts:
    """What a conversation and documents have in common: the rights of each operation are checked before it."""

    access: Access
    inner: Any

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._check(operation, kwargs)
        return await getattr(self.inner, operation.method.__name__)(*args, **kwargs)

    def _perform_stream(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._check(operation, kwargs)
        return getattr(self.inner, operation.method.__name__)(*args, **kwargs)

    def _check(self, operation: Operation, kwargs: Mapping[str, Any]) -> None:
        self.access.check_operation(operation.name)
        if kwargs.get("author") is not None:
            self.access.check_user(kwargs["author"])


class SeenConversation(SeenParts, ConversationFace):
    """One thread of messages, for whoever has this access."""

    def __init__(self, memory: SeenMemory, inner: AsyncConversation) -> None:
        self.access = memory.access
        self.inner = inner
        self.space = inner.space
        self.id = inner.id
        self.user = inner.user
        self._memory = memory

    async def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        draft_list = [as_draft(draft) for draft in check_items("messages", drafts)]
        batch = Batch(self.inner.space, self.id, self.user, draft_list, on_edit=on_edit)
        return (await self._memory.add_many([batch]))[0]


class SeenDocuments(SeenParts, DocumentsFace):
    """The documents of one space, for whoever has this access; a key of one user sees and changes only that user's."""

    def __init__(self, access: Access, inner: AsyncDocuments) -> None:
        self.access = access
        self.inner = inner
        self.space = inner.space


def is_shown(viewer: Viewer, item: Any) -> bool:
    """Whether an item of a list may be shown: what was said of a person in private may not."""
    if isinstance(item, Hit):
        return item.fact is None or viewer.sees(item.fact)
    return viewer.sees(item) if isinstance(item, Fact | RefusedFact) else True


def message_as_sent(message: Message, draft: Draft, user: str | None, now: datetime) -> Message:
    """A message with what its request said of it, and of what is stored only its place and its id: for a key that may
    not read."""
    expires_at = draft.expires_at
    return replace(
        message,
        role=draft.role,
        author=draft.author or draft.user or user or draft.role,
        user=draft.user or user,
        content=draft.content,
        time=draft.time or now,
        platform_id=draft.platform_id,
        metadata=draft.metadata,
        expires_at=now + expires_at if isinstance(expires_at, timedelta) else expires_at,
        versions=(),
    )
