"""The engine's face, asynchronous: conversations, search, and what one does with a memory as a whole.

It only puts calls in order: rules decide, stores keep, views follow the log. When an `add` returns, the message is on
the disk; what is derived from it comes later. Its parts are imported when they are first used, so that a program which
only searches starts soon.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from everword.errors import DamagedMessage, InvalidInput
from everword.follow.ask import activity_of
from everword.log import rules
from everword.log import tables as log
from everword.log.access import Access, ConversationScope
from everword.log.operations import Operation
from everword.log.rules import check_number
from everword.memory.faces import MemoryFace
from everword.memory.runtime import DAYS, Parts, Runtime
from everword.memory.search import MAX_LIMIT, check_search, search
from everword.model import (
    Added,
    Batch,
    Conversation,
    Degraded,
    Deletion,
    Filter,
    Hit,
    HitKind,
    Message,
    Move,
    Retried,
    Role,
    Stats,
    Verification,
)
from everword.ports import Tx
from everword.recall.view import EMBEDDER

if TYPE_CHECKING:
    from everword.memory.conversation import AsyncConversation
    from everword.memory.deletion import Deletions
    from everword.memory.documents import AsyncDocuments
    from everword.memory.fact_changes import FactChanges
    from everword.memory.moves import Moves
    from everword.memory.people import Knowledge
    from everword.memory.questions import Questions
    from everword.memory.redaction import Redactions
    from everword.memory.seen_by import SeenMemory

PAGE = 500  # messages read at a time by export and history
LEAVE_OUT = "To export what is readable: everword export --salvage, or export(salvage=True)"


def read_page(where: Filter, after: tuple[str, int], damage: list[DamagedMessage], tx: Tx) -> list[Message]:
    return tx.messages(where, after=after, limit=PAGE, damaged=damage.append)


class MemoryEngine(MemoryFace):
    """A memory over a store: the face, and the parts of the engine that do the work.

    `runtime` and `knowledge` are for the rest of the package; programs use the methods of the face.
    """

    def __init__(self, build: Callable[[], Parts]) -> None:
        self.runtime = Runtime(build)

    @cached_property
    def knowledge(self) -> Knowledge:
        from everword.memory.people import Knowledge

        return Knowledge(self.runtime)

    @cached_property
    def fact_changes(self) -> FactChanges:
        from everword.memory.fact_changes import FactChanges

        return FactChanges(self.runtime)

    @cached_property
    def questions(self) -> Questions:
        from everword.memory.questions import Questions

        return Questions(self.runtime)

    @cached_property
    def deletions(self) -> Deletions:
        from everword.memory.deletion import Deletions

        return Deletions(self.runtime)

    @cached_property
    def redactions(self) -> Redactions:
        from everword.memory.redaction import Redactions

        return Redactions(self.runtime)

    @cached_property
    def moves(self) -> Moves:
        from everword.memory.moves import Moves

        return Moves(self.runtime)

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return await getattr(getattr(self, operation.part), operation.method.__name__)(*args, **kwargs)

    async def open(self, *, check_embedder: bool = True) -> None:
        """Open the store and start following. Without `check_embedder`, also where vectors are another embedder's."""
        await self.runtime.open(check_embedder=check_embedder)

    async def close(self) -> None:
        await self.runtime.close()

    def seen_by(self, access: Access) -> SeenMemory:
        """The memory as whoever has this access sees it: it shows and changes only what they may."""
        from everword.memory.seen_by import SeenMemory

        return SeenMemory(self, access)

    # -- conversations

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> AsyncConversation:
        user = None if user is None else rules.check_id("user", user)
        scope = ConversationScope(self.runtime.resolve_space(space), rules.check_id("conversation", id), user)
        return self.open_conversation(scope)

    def open_conversation(self, scope: ConversationScope) -> AsyncConversation:
        """The conversation of a scope, which says who acts: for the server, whose callers have rights."""
        from everword.memory.conversation import AsyncConversation

        return AsyncConversation(self.knowledge, self.deletions, scope)

    async def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        space_id = self.runtime.resolve_space(space)
        count = check_number("limit", limit, MAX_LIMIT)
        user_id = None if user is None else rules.check_id("user", user)
        start = (space_id, after if after == "" else rules.check_id("after", after))
        return await self.runtime.read(
            lambda tx: tx.conversations(space_id, user_id, after=start, limit=count, with_empty=False)
        )

    async def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        results = await self.runtime.append_messages(batches)
        self.runtime.wake()
        return [[replace(added, message=added.message.as_said) for added in additions] for additions in results]

    def documents(self, *, space: str | None = None) -> AsyncDocuments:
        from everword.memory.documents import AsyncDocuments

        return AsyncDocuments(self.runtime, self.runtime.resolve_space(space))

    # -- search

    async def search(
        self,
        query: str,
        *,
        user: str | None = None,
        conversation: str | None = None,
        role: Role | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
        limit: int = 10,
        floor: float | None = None,
        kinds: Sequence[HitKind] = ("message",),
        space: str | None = None,
    ) -> list[Hit]:
        request = check_search(
            self.runtime,
            query,
            user=user,
            conversation=conversation,
            role=role,
            after=after,
            before=before,
            limit=limit,
            floor=floor,
            kinds=kinds,
            space=space,
        )
        return await search(self.runtime, request)

    # -- the memory as a whole

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views that follow the log."""
        self.runtime.parts  # noqa: B018  a memory that is closed follows nothing
        return tuple(self.runtime.followers)

    @property
    def degraded(self) -> Degraded | None:
        """Whether messages are held in memory, since the store takes none: how many, since when and why."""
        return self.runtime.degraded

    async def settle(self, timeout: float = 60.0) -> int:
        self.runtime.parts  # noqa: B018  nobody waits for a memory that is closed
        from everword.follow.follower import settle

        await self.runtime.held.write_all()
        return await settle([*self.runtime.followers.values()], timeout, self.runtime.calls)

    async def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        self._check_view(view)
        space_id = None if space is None else rules.check_id("space", space)
        if view == self.runtime.index.name:
            await self.runtime.parts.embedder.ready()

        from everword.follow.follower import TOGETHER
        from everword.summaries.digests import bump_versions

        def reset(tx: Tx) -> None:
            if view == self.runtime.index.name and space_id is not None:
                self.runtime.index.check_embedder(tx)
            views = list(TOGETHER.get(view, (view,)))
            if view == self.runtime.index.name and tx.note(EMBEDDER) != self.runtime.parts.embedder.identity:
                tx.set_note(EMBEDDER, self.runtime.parts.embedder.identity)
                views += [*TOGETHER["window"], *TOGETHER["topics"]]  # these views hold vectors, too
            for name in views:
                tx.reset_view(name, space_id)
            if view == DAYS:
                bump_versions(tx, space_id)

        await self.runtime.write(reset)
        self.runtime.wake()

    async def retry(
        self, view: str | None = None, *, conversation: str | None = None, space: str | None = None
    ) -> Retried:
        where: dict[str, str] = {}
        if space is not None:
            where["space"] = rules.check_id("space", space)
        if view is not None:
            where["view"] = self._check_view(view)
        if conversation is not None:
            where["conversation"] = rules.check_id("conversation", conversation)
        self.runtime.parts  # noqa: B018  a memory that is closed tries nothing
        from everword.follow.follower import retry_set_aside

        result = await retry_set_aside(self.runtime.followers, self.runtime.calls, where)
        self.runtime.wake()
        return result

    def _check_view(self, view: str) -> str:
        if view not in self.views:
            raise InvalidInput("view", f"is {view!r}; the views are: {', '.join(self.views)}")
        return view

    async def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
        secrets: bool = False,
    ) -> AsyncIterator[Message]:
        where = Filter(
            self.runtime.resolve_space(space),
            user=None if user is None else rules.check_id("user", user),
            conversation=None if conversation is None else rules.check_id("conversation", conversation),
        )
        after: tuple[str, int] = (conversation or "", 0)
        damage: list[DamagedMessage] = []
        while True:
            page = await self.runtime.read(partial(read_page, where, after, damage))
            if damage and not salvage:
                all_damage = await self.runtime.read(lambda tx: log.find_damaged_messages(tx, where))
                raise log.damage_error(all_damage, LEAVE_OUT)
            damaged_places = {(error.conversation, error.turn) for error in damage}
            for message in page:
                if (message.conversation, message.turn) not in damaged_places:
                    yield message.as_said if secrets else message.without_secrets
            while damage:
                log.warn_of_damage(damage.pop())
            if len(page) < PAGE:
                return
            after = (page[-1].conversation, page[-1].turn)

    async def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        scope = ConversationScope(self.runtime.resolve_space(space), rules.check_id("conversation", id), None)
        return await self.deletions.delete_conversation(scope, dry_run=dry_run)

    async def move_conversation(
        self,
        id: str,
        *,
        to: str | None = None,
        user: str | None = None,
        space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        scope = ConversationScope(self.runtime.resolve_space(space), rules.check_id("conversation", id), None)
        return await self.moves.move_conversation(scope, to=to, user=user, dry_run=dry_run)

    async def verify(self) -> Verification:
        return await self.runtime.read(log.verify)

    async def stats(self, *, space: str | None = None) -> Stats:
        now = self.runtime.parts.clock.now()
        space_id = None if space is None else self.runtime.resolve_space(space)
        await self.runtime.meter.flush()

        def read(tx: Tx) -> Stats:
            activity = activity_of(tx.rows("usage", where=None if space_id is None else {"space": space_id}))
            return replace(tx.stats(now, space_id), activity=tuple(activity))

        stats = await self.runtime.read(read)
        return replace(stats, store=self.runtime.parts.store.name, degraded=self.degraded)
