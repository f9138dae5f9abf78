"""The interface of a memory, asynchronous, where each method is one request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import date, datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar

from recollect.client.connection import (
    ResultPage,
    ServerConnection,
    build_path,
    check_optional_time,
    switch_text,
    user_path,
    without_none,
)
from recollect.client.conversation import AsyncClientConversation, draft_fields, edit_field, with_outcome
from recollect.client.documents import AsyncClientDocuments
from recollect.errors import InvalidInput, NotSettled
from recollect.log.expiry import format_expiry
from recollect.log.rules import check_day, check_id, check_items
from recollect.memory.faces import MemoryFace
from recollect.model import (
    Added,
    AuditLine,
    Batch,
    Conversation,
    Deletion,
    Digest,
    Draft,
    Erasure,
    Fact,
    FactChange,
    Forgotten,
    Hit,
    HitKind,
    Member,
    MemoryAnswer,
    Message,
    Move,
    Profile,
    Redaction,
    RefusedFact,
    Retained,
    Retried,
    Role,
    Statement,
    Stats,
    Verification,
    Whom,
)
from recollect.wire import from_json_value

T = TypeVar("T")

PAGE = 1_000
DIGESTS = 60.0  # seconds a server may wait for digests, beyond what an answer may take
SHORTEST = 0.001  # seconds that one request asks a server to wait, at least
LONGEST = 300.0  # and at most


class AsyncClient(MemoryFace):
    """A memory on a server: `async with AsyncClient("http://127.0.0.1:8000", key) as memory: …`.

    `key` is one that `recollect keys create` showed; a server on loopback may need none. `space` is the one meant when
    a call names none: else the key's own. `timeout` is in seconds, for each answer or the next piece of one.
    """

    def __init__(self, base_url: str, key: str = "", *, space: str | None = None, timeout: float = 90.0) -> None:
        self.connection = ServerConnection(base_url, key, None if space is None else check_id("space", space), timeout)

    def __repr__(self) -> str:
        return f"<client of {self.connection!r}>"

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Be ready to ask. `async with` does this."""
        self.connection.open()

    async def close(self) -> None:
        """Give the connections back."""
        await self.connection.close()

    # -- conversations

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> AsyncClientConversation:
        user = None if user is None else check_id("user", user)
        space = None if space is None else check_id("space", space)
        return AsyncClientConversation(self.connection, space, check_id("conversation", id), user)

    async def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        query = without_none(user=user, cursor=after or None, limit=limit)
        return await self._ask_page(Conversation, build_path("conversations"), space, query)

    def documents(self, *, space: str | None = None) -> AsyncClientDocuments:
        return AsyncClientDocuments(self.connection, None if space is None else check_id("space", space))

    async def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        all_batches: list[Batch] = check_items("batches", batches, Batch)
        if not all_batches:
            return []
        if len({batch.space for batch in all_batches}) > 1:
            raise InvalidInput("batches", "are for several spaces; a server is asked for one at a time")
        body = [
            without_none(conversation=batch.conversation, user=batch.user)
            | edit_field(batch.on_edit)
            | {"messages": [draft_fields(draft) for draft in check_items("drafts", batch.drafts, Draft)]}
            for batch in all_batches
        ]
        additions: list[list[Added]] = await self.connection.ask(
            list[list[Added]], "POST", build_path("messages"), space=all_batches[0].space, body={"batches": body}
        )
        return [list(map(with_outcome, batch)) for batch in additions]

    # -- finding

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
        period = without_none(after=check_optional_time("after", after), before=check_optional_time("before", before))
        body = without_none(query=query, user=user, conversation=conversation, role=role, limit=limit, floor=floor)
        body |= {"kinds": check_items("kinds", kinds)}
        return await self._ask_list(Hit, "POST", build_path("search"), space, body=body | period)

    async def ask(
        self, question: str, *, user: str, conversation: str | None = None, space: str | None = None
    ) -> MemoryAnswer:
        body = without_none(question=question, conversation=conversation)
        return await self._ask(MemoryAnswer, "POST", user_path(user, "ask"), space, body)

    # -- what is known

    async def facts(
        self,
        *,
        user: str,
        query: str | None = None,
        as_of: datetime | None = None,
        category: str | None = None,
        space: str | None = None,
    ) -> list[Fact]:
        return await self._ask_pages(
            Fact,
            user_path(user, "facts"),
            space,
            without_none(query=query, as_of=check_optional_time("as_of", as_of), category=category),
        )

    async def fact(self, id: str, *, user: str, space: str | None = None) -> Fact:
        return await self._ask(Fact, "GET", user_path(user, "facts", check_id("fact", id)), space)

    async def add_fact(
        self,
        category: str,
        key: str,
        value: str,
        *,
        user: str,
        valid_from: date | None = None,
        valid_to: date | None = None,
        subject: str | None = None,
        speaker: str | None = None,
        space: str | None = None,
    ) -> FactChange:
        body = without_none(
            category=category,
            key=key,
            value=value,
            valid_from=day_text("valid_from", valid_from),
            valid_to=day_text("valid_to", valid_to),
            subject=subject,
            speaker=speaker,
        )
        return await self._ask(FactChange, "POST", user_path(user, "facts"), space, body)

    async def edit_fact(
        self,
        id: str,
        value: str,
        *,
        user: str,
        valid_from: date | None = None,
        valid_to: date | None = None,
        speaker: str | None = None,
        space: str | None = None,
    ) -> FactChange:
        body = without_none(
            value=value,
            valid_from=day_text("valid_from", valid_from),
            valid_to=day_text("valid_to", valid_to),
            speaker=speaker,
        )
        return await self._ask(FactChange, "PATCH", user_path(user, "facts", check_id("fact", id)), space, body)

    async def delete_fact(
        self, id: str, *, user: str, speaker: str | None = None, space: str | None = None
    ) -> FactChange:
        path = user_path(user, "facts", check_id("fact", id))
        return await self._ask(FactChange, "DELETE", path, space, query=without_none(speaker=speaker))

    async def refused_facts(self, *, user: str, space: str | None = None) -> list[RefusedFact]:
        return await self._ask_list(RefusedFact, "GET", user_path(user, "refused-facts"), space)

    async def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        return await self._ask_list(Fact, "GET", user_path(user, "fact-history"), space, query={"key": key})

    async def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        return await self._ask_list(Message, "GET", user_path(user, "facts", check_id("fact", fact), "why"), space)

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
        until = None if expires is None else format_expiry("expires", expires)
        body = without_none(text=text, speaker=speaker, message=message, expires=until)
        return await self._ask_list(Statement, "POST", user_path(user, "remember"), space, body=body)

    async def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        body = without_none(what=what, speaker=speaker, message=message)
        return await self._ask(Forgotten, "POST", user_path(user, "forget"), space, body=body)

    async def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        return await self._ask(Forgotten, "POST", user_path(user, "undo"), space, body={"id": id})

    async def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        query, extra_seconds = wait_query(wait)
        return await self._ask(Profile, "GET", user_path(user, "profile"), space, query=query, wait=extra_seconds)

    async def digests(
        self,
        space: str | None = None,
        *,
        day: date | None = None,
        user: str | None = None,
        week: bool = False,
        wait: float | None = None,
    ) -> list[Digest]:
        path = build_path("spaces", await self.connection.resolve_space(space), "digests")
        wait_field, extra_seconds = wait_query(wait)
        query = without_none(day=day, user=user, week=switch_text(week)) | wait_field
        return await self._ask_list(Digest, "GET", path, space, query=query, wait=extra_seconds)

    async def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        await self._ask(
            dict[str, Any],
            "PUT",
            build_path("spaces", await self.connection.resolve_space(space), "time-zone"),
            space,
            {"name": name},
        )

    async def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        body = {"name": name, "kind": kind}
        await self._ask(dict[str, Any], "POST", user_path(user, "names"), space, body)

    async def people(self, *, space: str | None = None) -> list[Member]:
        return await self._ask_pages(Member, build_path("people"), space, {})

    async def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        query = without_none(name=name, speaker=speaker)
        match: Whom = await self.connection.ask(Whom, "GET", build_path("who-is"), space=space, query=query)
        return match

    # -- the memory as a whole

    async def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view has caught up with the log; raises NotSettled, with how far each is behind and why, if
        one cannot. Returns how many messages views failed on and have set aside, in the
        key's own space."""
        remaining = float(timeout)
        while True:
            seconds = min(max(remaining, SHORTEST), LONGEST)
            try:
                body = {"timeout": seconds}
                answer = await self._ask(dict[str, Any], "POST", build_path("settle"), None, body, wait=seconds)
                return int(answer.get("set_aside", 0))
            except NotSettled:
                remaining -= seconds
                if remaining <= 0:
                    raise

    async def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        await self._ask(dict[str, Any], "POST", build_path("rebuild"), space, {"view": view})

    async def retry(
        self, view: str | None = None, *, conversation: str | None = None, space: str | None = None
    ) -> Retried:
        """Try messages again, now, that views failed on and set aside: in one space, of one conversation or view.

        A view that follows a conversation in order is made anew for that conversation: `settle` waits for it.
        """
        body = without_none(view=view, conversation=conversation)
        return await self._ask(Retried, "POST", build_path("retry"), space, body)

    async def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
        secrets: bool = False,
    ) -> AsyncIterator[Message]:
        options = {"salvage": salvage or None, "secrets": secrets or None}
        query = without_none(user=user, conversation=conversation, **options)
        async for line in self.connection.stream_lines("GET", build_path("export"), space=space, query=query):
            if line:
                message: Message = self.connection.read(Message, line)
                yield message

    async def erase(self, *, user: str, space: str | None = None) -> Erasure:
        return await self._ask(Erasure, "POST", user_path(user, "erase"), space)

    async def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        path = build_path("conversations", check_id("conversation", id))
        return await self._ask(Deletion, "DELETE", path, space, query=without_none(dry_run=dry_run or None))

    async def delete(
        self,
        *,
        before: datetime | None = None,
        user: str | None = None,
        query: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Deletion:
        time = check_optional_time("before", before)
        body = without_none(before=time, user=user, query=query, dry_run=dry_run)
        return await self._ask(Deletion, "POST", build_path("delete"), space, body)

    async def move_conversation(
        self,
        id: str,
        *,
        to: str | None = None,
        user: str | None = None,
        space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        path = build_path("conversations", check_id("conversation", id), "move")
        return await self._ask(Move, "POST", path, space, without_none(to=to, user=user, dry_run=dry_run))

    async def merge_users(self, user: str, *, into: str, space: str | None = None, dry_run: bool = False) -> Move:
        return await self._ask(Move, "POST", user_path(user, "merge"), space, {"into": into, "dry_run": dry_run})

    async def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Move:
        path = build_path("moves", check_id("id", id), "undo")
        return await self._ask(Move, "POST", path, space, query=without_none(dry_run=dry_run or None))

    async def audit(self, *, limit: int = 100, space: str | None = None) -> list[AuditLine]:
        return await self._ask_list(AuditLine, "GET", build_path("audit"), space, query={"limit": limit})

    async def redact(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Redaction:
        body = {"user": user, "conversation": conversation, "dry_run": dry_run}
        return await self._ask(Redaction, "POST", build_path("redact"), space, body)

    async def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        """Say what the settings `retain_…` no longer keep, in one space. If not `dry_run`, remove it."""
        return await self._ask(Retained, "POST", build_path("retain"), space, {"dry_run": dry_run})

    async def verify(self) -> Verification:
        """Prove the log whole: every message unchanged, none missing. Needs a key that opens every space."""
        return await self._ask(Verification, "GET", build_path("verify"), None)

    async def stats(self, *, space: str | None = None) -> Stats:
        """What is in a space, how far its views are, and what models, caches and fallbacks did."""
        return await self._ask(Stats, "GET", build_path("stats"), space)

    # -- requests

    async def _ask(
        self,
        kind: type[T],
        method: str,
        path: str,
        space: str | None,
        body: Any = None,
        *,
        query: Any = None,
        wait: float = 0.0,
    ) -> T:
        value: T = await self.connection.ask(kind, method, path, space=space, query=query, body=body, wait=wait)
        return value

    async def _ask_list(
        self,
        kind: Any,
        method: str,
        path: str,
        space: str | None,
        *,
        body: Any = None,
        query: Any = None,
        wait: float = 0,
    ) -> list[Any]:
        values: list[Any] = await self._ask(list[kind], method, path, space, body, query=query, wait=wait)
        return values

    async def _ask_page(self, kind: Any, path: str, space: str | None, query: dict[str, Any]) -> list[Any]:
        page = await self._ask(ResultPage, "GET", path, space, query=query)
        values: list[Any] = from_json_value(list[kind], page.items)
        return values

    async def _ask_pages(self, kind: Any, path: str, space: str | None, query: dict[str, Any]) -> list[Any]:
        return [value async for value in iterate_pages(self.connection, kind, path, space, query)]


def day_text(field: str, day: date | None) -> str | None:
    """A day as it is sent."""
    checked_day = check_day(field, day)
    return None if checked_day is None else checked_day.isoformat()


def wait_query(wait: float | None) -> tuple[dict[str, Any], float]:
    """The query for how long to wait for digests, and the extra seconds that the answer may take for it."""
    if wait is not None and not (isinstance(wait, int | float) and 0 <= wait < float("inf")):
        raise InvalidInput("wait", f"is {wait!r}; must be a number of seconds, 0 or more")
    return ({}, DIGESTS) if wait is None else ({"wait": min(wait, LONGEST)}, min(wait, LONGEST))


async def iterate_pages(
    server: ServerConnection, kind: Any, path: str, space: str | None, query: dict[str, Any]
) -> AsyncIterator[Any]:
    """All values of a list, read page by page."""
    cursor: str | None = None
    while True:
        page_query = query | without_none(cursor=cursor, limit=PAGE)
        page = await server.ask(ResultPage, "GET", path, space=space, query=page_query)
        for value in from_json_value(list[kind], page.items):
            yield value
        cursor = page.next
        if cursor is None:
            return
