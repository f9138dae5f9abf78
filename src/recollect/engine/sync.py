"""The same memory for programs without an event loop. Every method is one line: it waits for the asynchronous one.

A separate thread runs the loop, so that views follow the log while the program does other things.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import Any, Self

from recollect.engine.conversation import AsyncConversation
from recollect.engine.memory import MemoryEngine
from recollect.engine.private_loop import LoopThread, run_shielded
from recollect.engine.sync_documents import BlockingDocuments
from recollect.engine.sync_topics import BlockingTopicalConversation
from recollect.model import (
    Added,
    Answer,
    Batch,
    Budget,
    Chunk,
    Context,
    Conversation,
    Digest,
    Draft,
    Episode,
    Erasure,
    Fact,
    Forgotten,
    Hit,
    Member,
    Message,
    Profile,
    Reply,
    Retained,
    Retried,
    Role,
    Statement,
    Stats,
    Verification,
    Whom,
)


class BlockingMemory:
    """A memory, open from the moment it is made. Safe to use from many threads at once."""

    def __init__(self, make: Callable[[], MemoryEngine], **open_options: Any) -> None:
        self._private = LoopThread()
        self._closing = threading.Lock()
        try:
            self._engine = make()
            self._private.wait(self._engine.open(**open_options))
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
        """Stop following, finish what is being written, close the store."""
        if self._private.is_left_behind:  # what it has open belongs to the other process
            self._private.is_stopped = True
            return
        with self._closing:
            if not self._private.is_stopped:
                self._private.wait(run_shielded(self._engine.close()))
                self._private.stop()

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> BlockingConversation:
        """A conversation: with one `user`, or without, a channel of many. It begins with its first message."""
        return BlockingConversation(self._engine.conversation(id, user=user, space=space), self._private)

    def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        """Conversations of a space in order of id, those after `after`; of one user, if given."""
        return self._private.wait(self._engine.conversations(user=user, space=space, after=after, limit=limit))

    def documents(self, *, space: str | None = None) -> BlockingDocuments:
        """What programs keep in a space under keys of their own, beside the log: to be written over, and removed."""
        return BlockingDocuments(self._engine.documents(space=space), self._private)

    def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        """Add messages to several conversations in one transaction: all of them, or none."""
        return self._private.wait(self._engine.add_many(batches))

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
        space: str | None = None,
    ) -> list[Hit]:
        """Messages by word and by meaning, best first, within a space; of one user's memory, if given."""
        return self._private.wait(
            self._engine.search(
                query,
                user=user,
                conversation=conversation,
                role=role,
                after=after,
                before=before,
                limit=limit,
                space=space,
            )
        )

    def facts(
        self, *, user: str, as_of: datetime | None = None, category: str | None = None, space: str | None = None
    ) -> list[Fact]:
        """What is known of a person, most important first: now, or as it was so at a time."""
        return self._private.wait(self._engine.facts(user=user, as_of=as_of, category=category, space=space))

    def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """Every value a key has had, oldest first, with the times between which it was so."""
        return self._private.wait(self._engine.fact_history(key, user=user, space=space))

    def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """The messages a fact came from, oldest first."""
        return self._private.wait(self._engine.why(fact, user=user, space=space))

    def remember(
        self, text: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> list[Statement]:
        """Keep a statement about a person, in the third person; what it contradicts gives way. Returns what now stands.

        `speaker` says it, the person themselves if nobody is named. `message` is the id of the message in the log that
        asked for it; without one, the text itself is kept there.
        """
        return self._private.wait(self._engine.remember(text, user=user, speaker=speaker, message=message, space=space))

    def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        """Take out of a person's profile what fits the words, statements and facts; says whether anything did.

        Nothing is removed from the log or from history: `undo` brings it back. To remove for good, `erase`. A `speaker`
        who is somebody else can take out only what they said themselves.
        """
        return self._private.wait(self._engine.forget(what, user=user, speaker=speaker, message=message, space=space))

    def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Bring back what a `forget` took out, by the id it gave."""
        return self._private.wait(self._engine.undo(id, user=user, space=space))

    def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        """What is known of a person: what they said of themselves, and what was said of them in channels, by whom.

        If they speak in channels of the space, with what they did there today and in the days before, and all of it as
        one text, `context`. Digests that are missing are made, for which it waits so many seconds at most (the setting
        `digest_seconds`); after that, what there was last is given. With `wait=0` nothing is made.
        """
        return self._private.wait(self._engine.profile(user=user, space=space, wait=wait))

    def digests(
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
        return self._private.wait(self._engine.digests(space, day=day, user=user, week=week, wait=wait))

    def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        """Where a space's days begin and end, as an IANA name: "Europe/Berlin". Without one, the setting counts."""
        self._private.wait(self._engine.set_time_zone(name, space=space))

    def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        """What else a person goes by: "display", "nickname", "alias" or "mention"."""
        self._private.wait(self._engine.add_name(name, user=user, kind=kind, space=space))

    def people(self, *, space: str | None = None) -> list[Member]:
        """Everybody who has spoken in a space, or was given a name there."""
        return self._private.wait(self._engine.people(space=space))

    def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        """Whom a name, nickname, alias, mention or id means: one, several to ask back about, or nobody."""
        return self._private.wait(self._engine.who_is(name, speaker=speaker, space=space))

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views that follow the log."""
        return self._engine.views

    def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view has caught up with the log; raises NotSettled, with how far each is behind and why, if
        one cannot. Returns how many messages views failed on and have set aside."""
        return self._private.wait(self._engine.settle(timeout))

    def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        """Throw a view away and let it be built again from the log."""
        self._private.wait(self._engine.rebuild(view, space=space))

    def retry(self, view: str | None = None, *, conversation: str | None = None, space: str | None = None) -> Retried:
        """Try messages again, now, that views failed on and set aside: of one space, conversation or view, or all.

        A view that follows a conversation in order is made anew for that conversation: `settle` waits for it.
        """
        return self._private.wait(self._engine.retry(view, conversation=conversation, space=space))

    def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
    ) -> Iterator[Message]:
        """Every message of a space, or of one user's memory, or of one conversation, in order.

        If one cannot be read, it ends with an error that names all of those; with `salvage`, they are left out.
        """
        messages = self._engine.export(user=user, conversation=conversation, space=space, salvage=salvage)
        return self._private.iterate_pages(messages)

    def erase(self, *, user: str, space: str | None = None) -> Erasure:
        """Remove a person's messages and all that was derived from them, for good. Only `retain` removes besides."""
        return self._private.wait(self._engine.erase(user=user, space=space))

    def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        """Say what the settings `retain_…` no longer keep, in all spaces or one. If not `dry_run`, remove it."""
        return self._private.wait(self._engine.retain(dry_run=dry_run, space=space))

    def verify(self) -> Verification:
        """Prove the log whole: every message unchanged, none missing."""
        return self._private.wait(self._engine.verify())

    def stats(self, *, space: str | None = None) -> Stats:
        """What is in the store, how far its views are, and what models, caches and fallbacks did."""
        return self._private.wait(self._engine.stats(space=space))


class BlockingConversation(BlockingTopicalConversation):
    """One thread of messages."""

    def __init__(self, inner: AsyncConversation, private: LoopThread) -> None:
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
    ) -> Message:
        """Keep a message. Once this returns, it is on the disk; the same platform id twice is kept once.

        `name` is what its author is called there now; it is kept in the metadata, and in a channel's register.
        """
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
            )
        )

    def extend(self, drafts: Iterable[Draft]) -> list[Added]:
        """Keep several messages in one transaction: all of them, or none."""
        return self._private.wait(self._inner.extend(drafts))

    def history(self, *, limit: int | None = None, before: int | None = None) -> list[Message]:
        """The messages in order; with `limit`, the last ones, and with `before`, those before that turn."""
        return self._private.wait(self._inner.history(limit=limit, before=before))

    def context(
        self, text: str, *, budget: Budget | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        """What to send to a model to have `text` answered: never over budget, with a receipt.

        It tells the model how to ask for more by markers, which `reply` serves. Without `markers` it does not: for
        programs that call a model themselves and show what it says.
        """
        return self._private.wait(self._inner.context(text, budget=budget, system=system, markers=markers))

    def reply(
        self,
        text: str,
        *,
        budget: Budget | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Reply:
        """The whole turn: keep the message, ask the model, keep and return its reply."""
        return self._private.wait(
            self._inner.reply(text, budget=budget, system=system, author=author, platform_id=platform_id)
        )

    def stream(
        self,
        text: str,
        *,
        budget: Budget | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Iterator[str]:
        """The same, piece by piece as it is written. A turn that is cut off keeps what was seen, as partial."""
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
    ) -> Answer | None:
        """Carry out what a message asks of the memory: remember, forget, tell what is known; None if it asks nothing.

        `names` are those the memory is called by; with `addressed`, the message is for it without naming it. A command
        is kept in the log with its answer; what is none is not: it is ordinary talk, for `reply` or `add`.
        """
        return self._private.wait(self._inner.command(text, author=author, names=names, addressed=addressed))

    def archived(self) -> list[Chunk]:
        """The runs of messages that have left the window, oldest first."""
        return self._private.wait(self._inner.archived())

    def episodes(self) -> list[Episode]:
        """What left the window, as summaries: the active ones, highest level first, each with its parts."""
        return self._private.wait(self._inner.episodes())

    def standalone(self, question: str) -> str:
        """A follow-up question so that it can be understood alone, from what was said last; as it is if it can be."""
        return self._private.wait(self._inner.standalone(question))
