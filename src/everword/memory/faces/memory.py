"""What a program can ask of a memory as a whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import date, datetime, timedelta
from types import TracebackType
from typing import Self

from everword.memory.faces.conversation import ConversationFace
from everword.memory.faces.documents import DocumentsFace
from everword.memory.faces.operation import operation
from everword.model import (
    Added,
    AuditLine,
    Batch,
    Conversation,
    Deletion,
    Digest,
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


class MemoryFace:
    """A memory, opened with `async with`. Safe to use from many tasks at once."""

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Open the store and start following. `async with` does this."""

    async def close(self) -> None:
        """Stop following, finish what is being written, close the store."""

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> ConversationFace:
        """A conversation: with one `user`, or without, a channel of many. It begins with its first message."""

    @operation("GET /v1/conversations", right="read", by_hand=True)
    async def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100
    ) -> list[Conversation]:
        """Conversations of a space in order of id, those after `after`; of one user, if given. One from which
        everything was removed is not listed."""

    @operation("POST /v1/messages", right="write", tells="request", name="add_messages", by_hand=True)
    async def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        """Add messages to several conversations in one transaction: all of them, or none."""

    def documents(self, *, space: str | None = None) -> DocumentsFace:
        """What programs keep in a space under keys of their own, beside the log: to be written over, and removed."""

    @operation("POST /v1/search", right="read")
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
        """Messages by word and by meaning, best first, within a space; of one user's memory, if given.

        With a `floor`, from 0 to 1, only hits whose `relevance` reaches it. At 0.5, as in a context, a query that has
        nothing to do with the memory finds nothing. With "fact" among the `kinds`, facts are found too: such a hit has
        the `kind` "fact", the `fact`, and the newest message that it comes from.
        """

    @operation("POST /v1/users/{user as id}/ask", right="read", part="questions", told="viewer")
    async def ask(
        self, question: str, *, user: str, conversation: str | None = None, space: str | None = None
    ) -> MemoryAnswer:
        """Answer a question about a person from facts and messages; says which of them the answer rests on.

        The memory model answers, and only from what it is shown. Without a model, or if its answer cannot be used, the
        answer is the facts and messages that fit best. Asked in a channel (`conversation`), it answers from what was
        said there alone.
        """

    @operation("POST /v1/settle", right="write", tells="nothing", by_hand=True)
    async def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view has caught up with the log; raises NotSettled, with how far each is behind and why, if
        one cannot. Returns how many messages views failed on and have set aside."""

    @operation("POST /v1/rebuild", right="admin", tells="nothing", about_all=True, once="nothing")
    async def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        """Throw a view away and let it be built again from the log."""

    @operation("POST /v1/retry", right="admin", tells="nothing", about_all=True, once="nothing")
    async def retry(
        self, view: str | None = None, *, conversation: str | None = None, space: str | None = None
    ) -> Retried:
        """Try messages again, now, that views failed on and set aside: of one space, conversation or view, or all.

        A view that follows a conversation in order is made anew for that conversation: `settle` waits for it.
        """

    @operation("GET /v1/export", right="read", by_hand=True)
    def export(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        space: str | None = None,
        salvage: bool = False,
        secrets: bool = False,
    ) -> AsyncIterator[Message]:
        """Every message of a space, or of one user's memory, or of one conversation, in order. Secrets are replaced by
        placeholders, unless `secrets` asks for them.

        If one cannot be read, it ends with an error that names all of those; with `salvage`, they are left out.
        """

    @operation(
        "POST /v1/users/{user as id}/erase",
        right="admin",
        tells="nothing",
        part="deletions",
        told="by",
        once="nothing",
    )
    async def erase(self, *, user: str, space: str | None = None) -> Erasure:
        """Remove a person's messages and all that was derived from them, for good."""

    @operation("DELETE /v1/conversations/{id}", right="admin", by_hand=True, once="names")
    async def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        """Remove all messages of a conversation and all that was derived from them, for good. On a `dry_run`, say only
        what would go from which view."""

    @operation("POST /v1/delete", right="admin", part="deletions", told="by", once="names")
    async def delete(
        self,
        *,
        before: datetime | None = None,
        user: str | None = None,
        query: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Deletion:
        """Remove the messages that fit all that is given, and all that was derived from them, for good.

        Those of before a time, of one user as `erase` means it, and with a phrase in them: `query` is matched word for
        word, whatever its case, and not by meaning. On a `dry_run`, say only what would go from which view.
        """

    @operation("POST /v1/conversations/{id}/move", right="admin", once="names")
    async def move_conversation(
        self,
        id: str,
        *,
        to: str | None = None,
        user: str | None = None,
        space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        """Rename a conversation (`to`), give it to another user (`user`), or both: the chat of somebody who signs in.

        What its user said in it becomes the other's, with the facts and statements that rest on it. If that user has
        said nothing anywhere else, all they have goes along, as with `merge_users`. Nothing is removed, and `undo_move`
        takes it back. If everything is so already, nothing is done, and the `id` of the move is empty. On a `dry_run`,
        say only what would move.
        """

    @operation(
        "POST /v1/users/{user as id}/merge", right="admin", part="moves", about_all=True, told="by", once="names"
    )
    async def merge_users(self, user: str, *, into: str, space: str | None = None, dry_run: bool = False) -> Move:
        """Make all that one user has another's: two ids of one person.

        Conversations, messages in channels, facts, statements, names and documents become those of `into`. API keys of
        the old id are left alone. Nothing is removed, and `undo_move` takes it back. On a `dry_run`, say only what
        would move.
        """

    @operation(
        "POST /v1/moves/{id}/undo",
        right="admin",
        part="moves",
        about_all=True,
        told="by",
        in_query=True,
        once="names",
    )
    async def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Move:
        """Take back a move or a merge, if nothing that it moved was removed since, or moved again.

        What was said since in a chat that goes back to its owner goes back with it. On a `dry_run`, say only what would
        move.
        """

    @operation("GET /v1/audit", right="admin", part="deletions", about_all=True)
    async def audit(self, *, limit: int = 100, space: str | None = None) -> list[AuditLine]:
        """Who removed or moved something in a space, when, of what kind and how many: the last ones, the newest
        first."""

    @operation("POST /v1/redact", right="admin", part="redactions", about_all=True, told="by", once="names")
    async def redact(
        self,
        *,
        user: str | None = None,
        conversation: str | None = None,
        dry_run: bool = False,
        space: str | None = None,
    ) -> Redaction:
        """Replace the secrets in messages that are in the log (API keys, passwords, cards) by placeholders, for good:
        in all of a space, in one user's memory or in one conversation. Older versions of these messages go, too. On a
        `dry_run`, say only how many there are."""

    @operation("POST /v1/retain", right="admin", part="deletions", about_all=True, told="by", once="nothing")
    async def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        """Say what has expired and what the settings `retain_…` no longer keep, in all spaces or one. If not `dry_run`,
        remove it."""

    @operation("GET /v1/verify", right="admin", about_all=True)
    async def verify(self) -> Verification:
        """Prove the log whole: every message unchanged, none missing."""

    @operation("GET /v1/stats", right="read", about_all=True)
    async def stats(self, *, space: str | None = None) -> Stats:
        """What is in the store, how far its views are, and what models, caches and fallbacks did."""

    @operation("GET /v1/users/{user as id}/facts", right="read", part="knowledge", page="id")
    async def facts(
        self,
        *,
        user: str,
        query: str | None = None,
        as_of: datetime | None = None,
        category: str | None = None,
        space: str | None = None,
    ) -> list[Fact]:
        """What is known of a person, most important first: now, or as it was so at a time.

        With a `query`, what has most to do with it comes first. A `category` is meant as people mean it: the employer,
        which is identity, is found under "work" too, a home under "place", and allergies under "health".
        """

    @operation("GET /v1/users/{user as id}/facts/{id as fact}", right="read", part="fact_changes")
    async def fact(self, id: str, *, user: str, space: str | None = None) -> Fact:
        """One fact by its id, also one that no longer holds."""

    @operation("POST /v1/users/{user as id}/facts", right="write", part="fact_changes", once="words")
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
        """Add a fact about a person, by hand. Of a key that has one value, it takes the place of the one before.

        It is so from the day `valid_from`, or from now, to the day `valid_to`. `subject` names whom it is about, if not
        the person: "brother". `speaker` adds it, the person themselves if nobody is named. What people decide by hand
        stays when the facts are built again; `undo` takes it back.
        """

    @operation("PATCH /v1/users/{user as id}/facts/{id as fact}", right="write", part="fact_changes", once="words")
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
        """Give a fact another value. The old one stays as history, with its times; `undo` brings it back.

        A `speaker` who is somebody else can edit only what they said themselves. Whoever could see the fact sees the
        new value. What the person says later counts again.
        """

    @operation("DELETE /v1/users/{user as id}/facts/{id as fact}", right="write", part="fact_changes", once="words")
    async def delete_fact(
        self, id: str, *, user: str, speaker: str | None = None, space: str | None = None
    ) -> FactChange:
        """Take a fact out of what is known: it does not come back from messages that were said until now.

        It stays as history, and `undo` brings it back; to remove a person's words for good, `erase`. A `speaker` who is
        somebody else can delete only what they said themselves.
        """

    @operation("GET /v1/users/{user as id}/refused-facts", right="read", part="knowledge")
    async def refused_facts(self, *, user: str, space: str | None = None) -> list[RefusedFact]:
        """What a model found in a person's messages and was not kept, oldest first, each with the reason."""

    @operation("GET /v1/users/{user as id}/fact-history", right="read", part="knowledge")
    async def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """Every value a key has had, oldest first, with the times between which it was so."""

    @operation("GET /v1/users/{user as id}/facts/{fact}/why", right="read", part="knowledge")
    async def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """The messages a fact came from, oldest first."""

    @operation("POST /v1/users/{user as id}/remember", right="write", part="knowledge", once="words")
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
        """Keep a statement about a person, in the third person; what it contradicts gives way. Returns what now stands.

        `speaker` says it, the person themselves if nobody is named. `message` is the id of the message in the log that
        asked for it; without one, the text itself is kept there. One that `expires` (a moment, or a span of time from
        now) is shown until then, beside what lasts: it replaces nothing that lasts, and no fact is read from it.
        """

    @operation("POST /v1/users/{user as id}/forget", right="write", part="knowledge", once="words")
    async def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None
    ) -> Forgotten:
        """Take out of a person's profile what fits the words, statements and facts; says whether anything did.

        Nothing is removed from the log or from history: `undo` brings it back. To remove for good, `erase`. A `speaker`
        who is somebody else can take out only what they said themselves.
        """

    @operation("POST /v1/users/{user as id}/undo", right="write", part="knowledge", told="asker", once="words")
    async def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Take back a `forget`, or a change of a fact by hand, by the id it gave. Returns what came back."""

    @operation("GET /v1/users/{user as id}/profile", right="read", part="knowledge", told="viewer")
    async def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        """What is known of a person: what they said of themselves, and what was said of them in channels, by whom.

        If they speak in channels of the space, with what they did there today and in the days before, and all of it as
        one text, `context`. Digests that are missing are made, for which it waits so many seconds at most (the setting
        `digest_seconds`); after that, what there was last is given. With `wait=0` nothing is made.
        """

    @operation("GET /v1/spaces/{space as id}/digests", right="read", part="knowledge")
    async def digests(
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

    @operation(
        "PUT /v1/spaces/{space as id}/time-zone", right="admin", tells="nothing", part="knowledge", about_all=True
    )
    async def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        """Where a space's days begin and end, as an IANA name: "Europe/Berlin". Without one, the setting counts."""

    @operation("POST /v1/users/{user as id}/names", right="write", part="knowledge")
    async def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        """What else a person goes by: "display", "nickname", "alias" or "mention"."""

    @operation("GET /v1/people", right="read", part="knowledge", about_all=True, page="id")
    async def people(self, *, space: str | None = None) -> list[Member]:
        """Everybody who has spoken in a space, or was given a name there."""

    @operation("GET /v1/who-is", right="read", part="knowledge", about_all=True)
    async def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        """Whom a name, nickname, alias, mention or id means: one, several to ask back about, or nobody."""
