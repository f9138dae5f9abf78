"""The same memory for programs without an event loop. Every method is one line: it waits for the asynchronous one.

A separate thread runs the loop, so that views follow the log while the program does other things.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from recollect.memory.faces import ConversationFace, MemoryFace, documented_as
from recollect.memory.private_loop import LoopThread, run_shielded
from recollect.memory.sync_documents import BlockingDocuments
from recollect.model import (
    Added,
    Answer,
    AuditLine,
    Batch,
    Budget,
    BudgetName,
    ChatMessage,
    Chunk,
    Context,
    Conversation,
    Deletion,
    Digest,
    Draft,
    Episode,
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
    OnEdit,
    Profile,
    Redaction,
    RefusedFact,
    Reply,
    Retained,
    Retried,
    Role,
    Statement,
    Stats,
    Topic,
    TopicHit,
    TopicMessage,
    TopicStats,
    Verification,
    Whom,
)
from recollect.model.topics import IMPORTANCE

if TYPE_CHECKING:
    from recollect.memory.search import SearchOptions

T = TypeVar("T")


def search_for_callers(memory: MemoryFace) -> Callable[..., list[Hit] | None]:
    """What searches a memory in the thread of a caller, and gives None if the memory has to do it itself."""
    runtime = getattr(memory, "runtime", None)
    if runtime is None:  # the memory is on a server
        return lambda query, **options: None
    from recollect.memory.search import search_here

    return partial(search_here, runtime)


@documented_as(MemoryFace)
class BlockingMemory:
    """A memory, open from the moment it is made. Safe to use from many threads at once."""

    def __init__(self, memory: MemoryFace, opening: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Open the memory, by its method `open` unless another way of `opening` it is given."""
        self._private = LoopThread()
        self._closing = threading.Lock()
        self._memory = memory
        self._search_here = search_for_callers(memory)
        try:
            self._private.wait((opening or memory.open)())
        except BaseException:
            self._private.stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._private.is_left_behind:  # what it has open belongs to the other process
            self._private.is_stopped = True
            return
        with self._closing:
            if not self._private.is_stopped:
                try:
                    self._private.wait(run_shielded(self._memory.close()))
                finally:
                    self._private.stop()

    def run(self, work: Callable[[MemoryFace], Coroutine[Any, Any, T]]) -> T:
        """Run asynchronous code with the memory that this one waits for, and return what it returns."""
        return self._private.wait(work(self._memory))

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> BlockingConversation:
        return BlockingConversation(self._memory.conversation(id, user=user, space=space), self._private)

    def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        return self._private.wait(self._memory.conversations(user=user, space=space, after=after, limit=limit))

    def documents(self, *, space: str | None = None) -> BlockingDocuments:
        return BlockingDocuments(self._memory.documents(space=space), self._private)

    def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        return self._private.wait(self._memory.add_many(batches))

    def search(
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
        options: SearchOptions = {
            "user": user, "conversation": conversation, "role": role, "after": after, "before": before,
            "limit": limit, "floor": floor, "kinds": kinds, "space": space,
        }  # fmt: skip
        hits = self._search_here(query, **options) if self._private.lets_callers_work else None
        return self._private.wait(self._memory.search(query, **options)) if hits is None else hits

    def ask(
        self, question: str, *, user: str, conversation: str | None = None, space: str | None = None
    ) -> MemoryAnswer:
        return self._private.wait(self._memory.ask(question, user=user, conversation=conversation, space=space))

    def facts(
        self,
        *,
        user: str,
        query: str | None = None,
        as_of: datetime | None = None,
        category: str | None = None,
        space: str | None = None,
    ) -> list[Fact]:
        return self._private.wait(
            self._memory.facts(user=user, query=query, as_of=as_of, category=category, space=space)
        )

    def fact(self, id: str, *, user: str, space: str | None = None) -> Fact:
        return self._private.wait(self._memory.fact(id, user=user, space=space))

    def add_fact(
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
        return self._private.wait(
            self._memory.add_fact(
                category,
                key,
                value,
                user=user,
                valid_from=valid_from,
                valid_to=valid_to,
                subject=subject,
                speaker=speaker,
                space=space,
            )
        )

    def edit_fact(
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
        return self._private.wait(
            self._memory.edit_fact(
                id, value, user=user, valid_from=valid_from, valid_to=valid_to, speaker=speaker, space=space
            )
        )

    def delete_fact(self, id: str, *, user: str, speaker: str | None = None, space: str | None = None) -> FactChange:
        return self._private.wait(self._memory.delete_fact(id, user=user, speaker=speaker, space=space))

    def refused_facts(self, *, user: str, space: str | None = None) -> list[RefusedFact]:
        return self._private.wait(self._memory.refused_facts(user=user, space=space))

    def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        return self._private.wait(self._memory.fact_history(key, user=user, space=space))

    def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        return self._private.wait(self._memory.why(fact, user=user, space=space))

    def remember(
        self,
        text: str,
        *,
        user: str,
        speaker: str | None = None,
        message: str | None = None,
        expires: datetime | timedelta | None = None,
        space: str | None = None,
    ) -> list[Statement]:
        return self._private.wait(
            self._memory.remember(text, user=user, speaker=speaker, message=message, expires=expires, space=space)
        )

    def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        return self._private.wait(self._memory.forget(what, user=user, speaker=speaker, message=message, space=space))

    def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        return self._private.wait(self._memory.undo(id, user=user, space=space))

    def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        return self._private.wait(self._memory.profile(user=user, space=space, wait=wait))

    def digests(
        self,
        space: str | None = None,
        *,
        day: date | None = None,
        user: str | None = None,
        week: bool = False,
        wait: float | None = None,
    ) -> list[Digest]:
        return self._private.wait(self._memory.digests(space, day=day, user=user, week=week, wait=wait))

    def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        self._private.wait(self._memory.set_time_zone(name, space=space))

    def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        self._private.wait(self._memory.add_name(name, user=user, kind=kind, space=space))

    def people(self, *, space: str | None = None) -> list[Member]:
        return self._private.wait(self._memory.people(space=space))

    def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        return self._private.wait(self._memory.who_is(name, speaker=speaker, space=space))

    def settle(self, timeout: float = 60.0) -> int:
        return self._private.wait(self._memory.settle(timeout))

    def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        self._private.wait(self._memory.rebuild(view, space=space))

    def retry(self, view: str | None = None, *, conversation: str | None = None, space: str | None = None) -> Retried:
        return self._private.wait(self._memory.retry(view, conversation=conversation, space=space))

    def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
        secrets: bool = False,
    ) -> Iterator[Message]:
        messages = self._memory.export(
            user=user, conversation=conversation, space=space, salvage=salvage, secrets=secrets
        )
        return self._private.iterate_pages(messages)

    def erase(self, *, user: str, space: str | None = None) -> Erasure:
        return self._private.wait(self._memory.erase(user=user, space=space))

    def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        return self._private.wait(self._memory.delete_conversation(id, space=space, dry_run=dry_run))

    def delete(
        self,
        *,
        before: datetime | None = None,
        user: str | None = None,
        query: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Deletion:
        return self._private.wait(
            self._memory.delete(before=before, user=user, query=query, dry_run=dry_run, space=space)
        )

    def move_conversation(
        self,
        id: str,
        *,
        to: str | None = None,
        user: str | None = None,
        space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        return self._private.wait(self._memory.move_conversation(id, to=to, user=user, space=space, dry_run=dry_run))

    def merge_users(self, user: str, *, into: str, space: str | None = None, dry_run: bool = False) -> Move:
        return self._private.wait(self._memory.merge_users(user, into=into, space=space, dry_run=dry_run))

    def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Move:
        return self._private.wait(self._memory.undo_move(id, space=space, dry_run=dry_run))

    def audit(self, *, limit: int = 100, space: str | None = None) -> list[AuditLine]:
        return self._private.wait(self._memory.audit(limit=limit, space=space))

    def redact(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Redaction:
        return self._private.wait(
            self._memory.redact(user=user, conversation=conversation, dry_run=dry_run, space=space)
        )

    def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        return self._private.wait(self._memory.retain(dry_run=dry_run, space=space))

    def verify(self) -> Verification:
        return self._private.wait(self._memory.verify())

    def stats(self, *, space: str | None = None) -> Stats:
        return self._private.wait(self._memory.stats(space=space))


@documented_as(ConversationFace)
class BlockingConversation:
    """One thread of messages."""

    def __init__(self, inner: ConversationFace, private: LoopThread) -> None:
        self._inner = inner
        self._private = private
        self.space = inner.space
        self.id = inner.id
        self.user = inner.user

    def __repr__(self) -> str:
        return repr(self._inner)

    def add(
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
    ) -> Message:
        return self._private.wait(
            self._inner.add(
                role,
                content,
                author=author,
                user=user,
                time=time,
                platform_id=platform_id,
                metadata=metadata,
                name=name,
                expires=expires,
                on_edit=on_edit,
            )
        )

    def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        return self._private.wait(self._inner.extend(drafts, on_edit=on_edit))

    def history(self, *, limit: int | None = None, before: int | None = None, versions: bool = False) -> list[Message]:
        return self._private.wait(self._inner.history(limit=limit, before=before, versions=versions))

    def edit(self, message: str | int, text: str, *, metadata: dict[str, Any] | None = None) -> Message:
        return self._private.wait(self._inner.edit(message, text, metadata=metadata))

    def delete(self, message: str | int, *, dry_run: bool = False) -> Deletion:
        return self._private.wait(self._inner.delete(message, dry_run=dry_run))

    def context(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        return self._private.wait(self._inner.context(text, budget=budget, system=system, markers=markers))

    def reply(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Reply:
        return self._private.wait(
            self._inner.reply(text, budget=budget, system=system, author=author, platform_id=platform_id)
        )

    def stream(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Iterator[str]:
        return self._private.iterate_items(
            self._inner.stream(text, budget=budget, system=system, author=author, platform_id=platform_id)
        )

    def command(
        self,
        text: str,
        *,
        author: str | None = None,
        names: Sequence[str] = ("recollect", "bot"),
        addressed: bool = False,
        platform_id: str | None = None,
    ) -> Answer | None:
        options = {"author": author, "names": names, "addressed": addressed, "platform_id": platform_id}
        return self._private.wait(self._inner.command(text, **options))  # type: ignore[arg-type]

    def archive(self) -> Chunk | None:
        return self._private.wait(self._inner.archive())

    def archived(self) -> list[Chunk]:
        return self._private.wait(self._inner.archived())

    def episodes(self) -> list[Episode]:
        return self._private.wait(self._inner.episodes())

    def standalone(self, question: str) -> str:
        return self._private.wait(self._inner.standalone(question))

    def add_user_message(
        self, text: str, importance: float = IMPORTANCE, *, author: str | None = None, time: datetime | None = None
    ) -> Topic:
        return self._private.wait(self._inner.add_user_message(text, importance, author=author, time=time))

    def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        return self._private.wait(self._inner.add_assistant_message(text, time=time))

    def topics(self, *, faded: bool = False) -> list[Topic]:
        return self._private.wait(self._inner.topics(faded=faded))

    def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        return self._private.wait(self._inner.get_topic_context(topic_id))

    def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True
    ) -> list[TopicMessage]:
        return self._private.wait(self._inner.get_full_topic_history(topic_id, include_compressed))

    def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        return self._private.wait(self._inner.get_topic_stats(topic_id))

    def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        return self._private.wait(self._inner.search_topics(query, limit=limit))

    def merge_topics(self, topic_id: str, other: str) -> Topic:
        return self._private.wait(self._inner.merge_topics(topic_id, other))

    def undo_merge(self, topic_id: str) -> Topic:
        return self._private.wait(self._inner.undo_merge(topic_id))

    def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        return self._private.wait(self._inner.tag_topic(topic_id, *tags, remove=remove))

    def feedback(self, topic_id: str, score: int) -> Topic:
        return self._private.wait(self._inner.feedback(topic_id, score))
