"""The log as a whole and the views that follow it: listed, searched, exported, proved, settled, rebuilt.

These operations need little but the store and the index. A command that only searches or reads the log opens a
`LogEngine`, which has no others: the rooms behind them take longer to import than the search takes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from everword.errors import DamagedMessage, InvalidInput
from everword.follow.model_calls import activity_of
from everword.log import append_and_read as log
from everword.log import checks_and_seals
from everword.log.access import PROGRAM
from everword.log.operation_declarations import Operation, operation
from everword.memory.runtime import DAYS, FIRST, MemoryPart, Parts, Runtime, answer_by_name, with_waits
from everword.memory.search import MAX_LIMIT, check_search, search
from everword.model import Conversation, Degraded, Filter, Hit, HitKind, Message, Retried, Role, Stats, Verification
from everword.ports import Tx
from everword.recall.vectors import is_made_anew

PAGE = 500  # messages read at a time by export and history
LEAVE_OUT = "To export what is readable: everword export --salvage, or export(salvage=True)"


class SearchAndMaintenance(MemoryPart):
    """What can be asked of the log as a whole, and of its views."""

    @operation("GET /v1/conversations", right="read", by_hand=True)
    async def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        """List the conversations of a space, or of one user, with their titles; the conversation with the newest
        message comes first.

        For the next page, give the `cursor` of the page's last conversation as `after`. A conversation that gets a
        message while you read the list page by page moves to the first page. To see conversations that moved to the
        first page of the list, read this page again. A conversation whose messages were all removed is not listed.
        """
        space_id = self.runtime.resolve_space(space)
        count = checks_and_seals.check_number("limit", limit, MAX_LIMIT)
        user_id = None if user is None else checks_and_seals.check_id("user", user)
        before = None if after == "" else checks_and_seals.check_cursor("after", after)

        def read(tx: Tx) -> list[Conversation]:
            page = tx.conversations(space_id, user_id, recent=True, before=before, limit=count)
            titles = log.conversation_titles(tx, space_id, [conversation.id for conversation in page])
            return [replace(conversation, title=titles.get(conversation.id, "")) for conversation in page]

        return await self.runtime.read(read)

    @operation("POST /v1/search", right="read", tool="search_memory")
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
        """Find messages by word and by meaning, best match first, in a space or in one user's memory.

        With a `floor` from 0 to 1, search leaves out hits whose `relevance` is below the `floor`. A `floor` of 0.5
        leaves out hits that have nothing to do with the query. If `kinds` contains "fact", search also finds facts. The
        hit of a fact has the `kind` "fact" and contains the `fact` and the newest message that the fact comes from.
        """
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

    @operation("POST /v1/settle", right="write", tells="nothing", by_hand=True)
    async def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view (derived data, such as facts) is up to date with the log. If a view is not up to date
        in time, the error is NotSettled, which says how far each view is behind and why. Returns how many messages were
        skipped because a view failed on them."""
        self.runtime.parts  # noqa: B018  nobody waits for a memory that is closed
        from everword.follow.follower import settle

        await self.runtime.run(self.runtime.store.flush)
        set_aside_count = await settle([*self.runtime.followers.values()], timeout, self.runtime.calls)
        if self.runtime.courier is not None:  # events are sent, but nobody waits for a receiver that is away
            while await self.runtime.courier.step() and not self.runtime.courier.drained:
                pass
        return set_aside_count

    @operation("POST /v1/rebuild", right="admin", tells="nothing", about_all=True, once="nothing")
    async def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        """Delete a view (data derived from the log, such as facts or topics) and build it again."""
        check_view(self.runtime, view)
        space_id = None if space is None else checks_and_seals.check_id("space", space)
        if view == self.runtime.index.name:
            await self.runtime.parts.embedder.ready()

        from everword.follow.follower import TOGETHER
        from everword.summaries.digests import bump_versions

        def reset(tx: Tx) -> None:
            if view == self.runtime.index.name and space_id is not None:
                self.runtime.index.check_embedder(tx)
            views = list(TOGETHER.get(view, (view,)))
            if view == self.runtime.index.name and self.runtime.index.start_anew(tx):
                views = [*TOGETHER["window"], *TOGETHER["topics"]]  # these views hold vectors, too
            for name in views:
                tx.reset_view(name, space_id)
            if view == DAYS:
                bump_versions(tx, space_id)

        await self.runtime.write(reset)
        if await self.runtime.read(is_made_anew):
            self.runtime.follow_vectors()
        self.runtime.wake()

    @operation("POST /v1/retry", right="admin", tells="nothing", about_all=True, once="nothing")
    async def retry(
        self, view: str | None = None, *, conversation: str | None = None, space: str | None = None
    ) -> Retried:
        """Retry messages that a view (derived data, such as facts) has skipped because of a failure. You can limit the
        retry to one space, conversation or view.

        Some derived data, such as topics, depends on the order of messages. If such a view skipped a message, everword
        rebuilds the view for the whole conversation. `settle` waits until all derived data is up to date.
        """
        where: dict[str, str] = {}
        if space is not None:
            where["space"] = checks_and_seals.check_id("space", space)
        if view is not None:
            where["view"] = check_view(self.runtime, view)
        if conversation is not None:
            where["conversation"] = checks_and_seals.check_id("conversation", conversation)
        self.runtime.parts  # noqa: B018  a memory that is closed tries nothing
        from everword.follow.follower import retry_set_aside

        result = await retry_set_aside(self.runtime.followers, self.runtime.calls, where)
        self.runtime.wake()
        return result

    @operation("GET /v1/export", right="read", by_hand=True)
    async def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
        secrets: bool = False,
    ) -> AsyncIterator[Message]:
        """Export every message of a space, of a user's memory or of a conversation, in order. The export contains
        placeholders for secrets, such as API keys, unless `secrets` is true. If messages cannot be read, the export
        ends with an error that lists all of these messages. With `salvage`, the export skips messages that cannot be
        read."""
        where = Filter(
            self.runtime.resolve_space(space),
            user=None if user is None else checks_and_seals.check_id("user", user),
            conversation=None if conversation is None else checks_and_seals.check_id("conversation", conversation),
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

    @operation("GET /v1/verify", right="admin", about_all=True)
    async def verify(self) -> Verification:
        """Check that no message in the log was changed and that no message is missing."""
        return await self.runtime.read(log.verify)

    @operation("GET /v1/stats", right="read", about_all=True)
    async def stats(self, *, space: str | None = None) -> Stats:
        """Get statistics: counts of stored data, the progress of each view (derived data), and the use of models,
        caches and fallbacks."""
        now = self.runtime.parts.clock.now()
        space_id = None if space is None else self.runtime.resolve_space(space)
        await self.runtime.meter.flush()

        def read(tx: Tx) -> Stats:
            activity = activity_of(tx.rows("usage", where=None if space_id is None else {"space": space_id}))
            return replace(tx.stats(now, space_id), activity=tuple(activity))

        stats = await self.runtime.read(read)
        stats = with_waits(stats, self.runtime.patience)
        return replace(stats, store=self.runtime.parts.store.name, degraded=self.runtime.degraded)


class InProcess(MemoryPart):
    """A memory in this process: a runtime, over which the operations run."""

    def __init__(self, build: Callable[[], Parts]) -> None:
        self.runtime = Runtime(build)
        self.access = PROGRAM

    async def open(self, *, check_embedder: bool = True) -> None:
        """Open the store and start following. Without `check_embedder`, also where vectors are another embedder's."""
        await self.runtime.open(check_embedder=check_embedder)

    async def close(self) -> None:
        await self.runtime.close()

    async def _perform(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return await answer_by_name(self.runtime, operation, partial(operation.method, self, *args), kwargs)

    def _perform_stream(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return operation.method(self, *args, **kwargs)

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views that follow the log."""
        return view_names(self.runtime)

    @property
    def degraded(self) -> Degraded | None:
        """What is held in memory, since the store takes nothing; None if nothing is."""
        return self.runtime.degraded


class LogEngine(InProcess, SearchAndMaintenance):
    """A memory that is opened for one search, or to read its log once."""


def read_page(where: Filter, after: tuple[str, int], damage: list[DamagedMessage], tx: Tx) -> list[Message]:
    return tx.messages(where, after=after, limit=PAGE, damaged=damage.append)


def view_names(runtime: Runtime) -> tuple[str, ...]:
    """The names of the views, without what only reads ahead for one of them."""
    runtime.parts  # noqa: B018  a memory that is closed follows nothing
    return tuple(name for name in runtime.followers if name not in FIRST.values())


def check_view(runtime: Runtime, view: str) -> str:
    names = view_names(runtime)
    if view not in names:
        raise InvalidInput("view", f"is {view!r}; must be one of {', '.join(names)}")
    return view
