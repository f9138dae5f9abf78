"""The same memory for programs without an event loop: every method waits for the asynchronous one.

A separate thread runs the loop, so that views follow the log while the program does other things. This file is written
by `scripts/blocking.py` from the operations, which are declared by `@operation` on their methods.
"""

# fmt: off
# ruff: noqa: I001
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from everword.memory.private_loop import LoopThread, OwnLoop
from everword.model import (
    Added, Answer, AuditLine, Batch, Budget, BudgetName, Change, ChatMessage, Chunk, Context, Conversation, Deletion,
    Digest, Document, Draft, Episode, Erasure, Fact, FactChange, Forgotten, Hit, HitKind, Member, MemoryAnswer, Message,
    Move, OnEdit, Profile, Redaction, RefusedFact, Reply, Retained, Retried, Role, Statement, Stats, Topic, TopicHit,
    TopicMessage, TopicStats, Verification, Whom,
)
from everword.model.views import IMPORTANCE

if TYPE_CHECKING:
    from everword.memory.operations.conversation import ConversationFace
    from everword.memory.operations.documents import DocumentsFace


T = TypeVar("T")


class BlockingMemory(OwnLoop):
    """A memory, open from the moment it is made. Safe to use from many threads at once."""

    def conversation(self, id: str, *, user: str | None = None, space: str | None = None) -> BlockingConversation:
        """A conversation with one `user` or, if you name no user, a channel with many. The first message creates the
        conversation."""
        return BlockingConversation(self._inner.conversation(id, user=user, space=space), self._private)

    def documents(self, *, space: str | None = None) -> BlockingDocuments:
        """The documents of a space: JSON objects that programs store under their own keys, and can replace and
        remove."""
        return BlockingDocuments(self._inner.documents(space=space), self._private)

    def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        """Store messages of several conversations in one transaction: either all of the messages or none."""
        return self._private.wait(self._inner.add_many(batches))

    def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100,
    ) -> list[Conversation]:
        """List the conversations of a space, or of one user, with their titles; the conversation with the newest
        message comes first.

        For the next page, give the `cursor` of the page's last conversation as `after`. A conversation that gets a
        message while you read the list page by page moves to the first page. To see conversations that moved to the
        first page of the list, read this page again. A conversation whose messages were all removed is not listed.
        """
        return self._private.wait(self._inner.conversations(user=user, space=space, after=after, limit=limit))

    def search(
        self, query: str, *, user: str | None = None, conversation: str | None = None, role: Role | None = None,
        after: datetime | None = None, before: datetime | None = None, limit: int = 10, floor: float | None = None,
        kinds: Sequence[HitKind] = ("message",), space: str | None = None,
    ) -> list[Hit]:
        """Find messages by word and by meaning, best match first, in a space or in one user's memory.

        With a `floor` from 0 to 1, search leaves out hits whose `relevance` is below the `floor`. A `floor` of 0.5
        leaves out hits that have nothing to do with the query. If `kinds` contains "fact", search also finds facts. The
        hit of a fact has the `kind` "fact" and contains the `fact` and the newest message that the fact comes from.
        """
        return self._private.wait(self._inner.search(
            query, user=user, conversation=conversation, role=role, after=after, before=before, limit=limit,
            floor=floor, kinds=kinds, space=space,
        ))

    def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view (derived data, such as facts) is up to date with the log. If a view is not up to date
        in time, the error is NotSettled, which says how far each view is behind and why. Returns how many messages were
        skipped because a view failed on them."""
        return self._private.wait(self._inner.settle(timeout))

    def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        """Delete a view (data derived from the log, such as facts or topics) and build it again."""
        self._private.wait(self._inner.rebuild(view, space=space))

    def retry(self, view: str | None = None, *, conversation: str | None = None, space: str | None = None) -> Retried:
        """Retry messages that a view (derived data, such as facts) has skipped because of a failure. You can limit the
        retry to one space, conversation or view.

        Some derived data, such as topics, depends on the order of messages. If such a view skipped a message, everword
        rebuilds the view for the whole conversation. `settle` waits until all derived data is up to date.
        """
        return self._private.wait(self._inner.retry(view, conversation=conversation, space=space))

    def export(
        self, *, user: str | None = None, conversation: str | None = None, space: str | None = None,
        salvage: bool = False, secrets: bool = False,
    ) -> Iterator[Message]:
        """Export every message of a space, of a user's memory or of a conversation, in order. The export contains
        placeholders for secrets, such as API keys, unless `secrets` is true. If messages cannot be read, the export
        ends with an error that lists all of these messages. With `salvage`, the export skips messages that cannot be
        read."""
        return self._private.iterate_pages(self._inner.export(
            user=user, conversation=conversation, space=space, salvage=salvage, secrets=secrets,
        ))

    def verify(self) -> Verification:
        """Check that no message in the log was changed and that no message is missing."""
        return self._private.wait(self._inner.verify())

    def stats(self, *, space: str | None = None) -> Stats:
        """Get statistics: counts of stored data, the progress of each view (derived data), and the use of models,
        caches and fallbacks."""
        return self._private.wait(self._inner.stats(space=space))

    def facts(
        self, *, user: str, query: str | None = None, as_of: datetime | None = None, category: str | None = None,
        space: str | None = None,
    ) -> list[Fact]:
        """List what is known about a person, now or at a given time, most important fact first.

        With a `query`, the facts that match the query best come first. With a `category`, you get the facts of this
        category and closely related facts. For example, the category "work" also returns the fact "employer", which is
        in another category.
        """
        return self._private.wait(self._inner.facts(
            user=user, query=query, as_of=as_of, category=category, space=space,
        ))

    def refused_facts(self, *, user: str, space: str | None = None) -> list[RefusedFact]:
        """List the facts that a model found in a person's messages but that everword did not accept, oldest first. Each
        fact in the list comes with the reason why everword did not accept the fact."""
        return self._private.wait(self._inner.refused_facts(user=user, space=space))

    def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """List every value that the fact `key`, such as "city", has had, oldest first. Each value has the period in
        which the value was true."""
        return self._private.wait(self._inner.fact_history(key, user=user, space=space))

    def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """List the messages that a fact came from, oldest first."""
        return self._private.wait(self._inner.why(fact, user=user, space=space))

    def fact(self, id: str, *, user: str, space: str | None = None) -> Fact:
        """Get a fact by its id, even if the fact is no longer true."""
        return self._private.wait(self._inner.fact(id, user=user, space=space))

    def add_fact(
        self, category: str, key: str, value: str, *, user: str, valid_from: date | None = None,
        valid_to: date | None = None, subject: str | None = None, speaker: str | None = None, space: str | None = None,
    ) -> FactChange:
        """Add a fact about a person by hand. If the fact's key, such as "city", can have only one value, the new fact
        replaces the old fact.

        The fact is true from the day `valid_from` (default: now) to the day `valid_to`. If the fact is about someone
        else, such as the person's brother, `subject` names this other person: "brother". `speaker` is the user who adds
        the fact, by default the person themselves. A rebuild of the facts keeps a fact added by hand. To remove an
        added fact, call `undo`.
        """
        return self._private.wait(self._inner.add_fact(
            category, key, value, user=user, valid_from=valid_from, valid_to=valid_to, subject=subject, speaker=speaker,
            space=space,
        ))

    def edit_fact(
        self, id: str, value: str, *, user: str, valid_from: date | None = None, valid_to: date | None = None,
        speaker: str | None = None, space: str | None = None,
    ) -> FactChange:
        """Change the value of a fact. The old value stays in the history, with its times; `undo` restores the old
        value.

        `speaker` must be the person or the user who stated the fact. Everyone who can see the fact sees the new value.
        If the person states a different value later, the later value replaces the edited value.
        """
        return self._private.wait(self._inner.edit_fact(
            id, value, user=user, valid_from=valid_from, valid_to=valid_to, speaker=speaker, space=space,
        ))

    def delete_fact(self, id: str, *, user: str, speaker: str | None = None, space: str | None = None) -> FactChange:
        """Remove a fact. A removed fact returns only if somebody states the fact again.

        The removed fact stays in the history, and `undo` restores the fact. To remove a person's messages permanently,
        use `erase`. `speaker` must be the person or the user who stated the fact.
        """
        return self._private.wait(self._inner.delete_fact(id, user=user, speaker=speaker, space=space))

    def remember(
        self, text: str, *, user: str, speaker: str | None = None, message: str | None = None,
        expires: datetime | timedelta | None = None, space: str | None = None,
    ) -> list[Statement]:
        """Store a statement about a person, in the third person ("Alex likes tea"). The new statement replaces stored
        statements that it contradicts. Returns the statements about the person that are true now.

        `speaker` is the user who makes the statement, by default the person whom it is about. If the statement was made
        in a stored message, pass the message's id as `message`. If you pass no `message`, everword stores `text` as a
        new message. With `expires` (a time, or a time span from now), the statement is shown only until it expires. A
        statement with `expires` replaces no lasting statement, and no fact is extracted from the statement.
        """
        return self._private.wait(self._inner.remember(
            text, user=user, speaker=speaker, message=message, expires=expires, space=space,
        ))

    def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None,
    ) -> Forgotten:
        """Remove the statements and facts in a person's profile that match the words in `what`. Returns what was
        removed.

        The log and the history keep what `forget` removed, and `undo` restores the removed statements and facts. To
        remove a person's messages permanently, use `erase`. A `speaker` other than the person can remove only what this
        speaker said about the person.
        """
        return self._private.wait(self._inner.forget(what, user=user, speaker=speaker, message=message, space=space))

    def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Undo a call of `forget`, `add_fact`, `edit_fact` or `delete_fact`. `id` is the id that the call returned.
        Returns what was restored."""
        return self._private.wait(self._inner.undo(id, user=user, space=space))

    def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        """Get what is known about a person: what the person said about themselves, and what others said about the
        person in channels.

        For people who speak in channels, the profile includes summaries of what they said in the channels today and on
        the six days before. The field `context` contains the whole profile as one text. Before everword answers, it
        writes missing digests (summaries of days), for at most `wait` seconds (default: the setting `digest_seconds`).
        If `wait` seconds are not enough, you get the digests that exist after this time. With `wait=0`, you get the
        existing digests at once.
        """
        return self._private.wait(self._inner.profile(user=user, space=space, wait=wait))

    def digests(
        self, space: str | None = None, *, day: date | None = None, user: str | None = None,
        conversation: str | None = None, week: bool = False, wait: float | None = None,
    ) -> list[Digest]:
        """Summarise what each person, or one `user`, said in the channels of a space on a `day` (default: today).

        With `week`, each digest (summary) covers the six days before `day`, instead of `day` itself. If you name a
        channel as `conversation`, you get one digest of the channel instead of one digest for each person. The digest
        of a channel describes the channel's threads and the outcome of each thread. Before everword answers, it writes
        missing digests, for at most `wait` seconds.
        """
        return self._private.wait(self._inner.digests(
            space, day=day, user=user, conversation=conversation, week=week, wait=wait,
        ))

    def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        """Set the time zone in which a space's days begin and end. `name` is the IANA name of a time zone, such as
        "Europe/Berlin". A space without a time zone of its own uses the setting `time_zone`."""
        self._private.wait(self._inner.set_time_zone(name, space=space))

    def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        """Add a name of a person. The `kind` of a name is "display", "nickname", "alias" or "mention"."""
        self._private.wait(self._inner.add_name(name, user=user, kind=kind, space=space))

    def remove_name(self, name: str, *, user: str, space: str | None = None) -> None:
        """Remove a name of a person. A removed display name comes back when the person sends a message under this
        name."""
        self._private.wait(self._inner.remove_name(name, user=user, space=space))

    def people(self, *, space: str | None = None) -> list[Member]:
        """List the users of a space who have written a message or have been given a name."""
        return self._private.wait(self._inner.people(space=space))

    def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        """Find the person that a name, nickname, alias, mention or id refers to. The result is one person, several
        candidates, or nobody."""
        return self._private.wait(self._inner.who_is(name, speaker=speaker, space=space))

    def ask(
        self, question: str, *, user: str, conversation: str | None = None, space: str | None = None,
    ) -> MemoryAnswer:
        """Answer a question about a person, with the facts and messages that support the answer.

        The model answers only from facts and messages that everword finds for the question. If there is no model, or
        its answer cannot be used, you get the facts and messages that match the question best. If you name a channel as
        `conversation`, the answer uses only what was said in this channel.
        """
        return self._private.wait(self._inner.ask(question, user=user, conversation=conversation, space=space))

    def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        """Permanently remove all messages of a conversation and everything derived from them. With `dry_run`, nothing
        is removed: the result says what would be removed from the log and from each view (derived data)."""
        return self._private.wait(self._inner.delete_conversation(id, space=space, dry_run=dry_run))

    def delete(
        self, *, before: datetime | None = None, user: str | None = None, query: str | None = None,
        dry_run: bool = False, space: str | None = None,
    ) -> Deletion:
        """Permanently remove the messages that match all given arguments, and everything derived from these messages.

        `before` matches messages from before a time. `user` matches the messages that `erase` would remove for this
        user. `query` matches messages that contain this phrase, in upper or lower case. With `dry_run`, nothing is
        removed: the result says what would be removed from the log and from each view (derived data).
        """
        return self._private.wait(self._inner.delete(
            before=before, user=user, query=query, dry_run=dry_run, space=space,
        ))

    def erase(self, *, user: str, space: str | None = None) -> Erasure:
        """Permanently remove a person's messages and everything derived from them."""
        return self._private.wait(self._inner.erase(user=user, space=space))

    def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        """Permanently remove data that has expired or is older than the settings `retain_…` allow, in all spaces or in
        one space. With `dry_run`, the default, nothing is removed: the result lists what would be removed."""
        return self._private.wait(self._inner.retain(dry_run=dry_run, space=space))

    def audit(self, *, limit: int = 100, space: str | None = None) -> list[AuditLine]:
        """List the last removals and moves in a space, newest first. Each entry says who removed or moved which
        kind of data, when, and how many items."""
        return self._private.wait(self._inner.audit(limit=limit, space=space))

    def redact(
        self, *, user: str | None = None, conversation: str | None = None, dry_run: bool = False,
        space: str | None = None,
    ) -> Redaction:
        """Permanently replace secrets (API keys, passwords, card numbers) in stored messages by placeholders. By
        default, everword redacts all messages of the space; `user` or `conversation` limits the redaction. If everword
        replaces secrets in a message, everword removes the message's older versions. With `dry_run`, nothing changes:
        the result says how many messages contain secrets."""
        return self._private.wait(self._inner.redact(
            user=user, conversation=conversation, dry_run=dry_run, space=space,
        ))

    def move_conversation(
        self, id: str, *, to: str | None = None, user: str | None = None, space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        """Rename a conversation (`to`), give the conversation to another user (`user`), or both, for example when a
        guest signs in.

        With the conversation, the new user receives the old user's messages in it, and the facts and statements made
        from these messages. If the old user has said nothing outside the conversation, all data of the old user moves,
        as with `merge_users`. A move deletes nothing; `undo_move` reverses the move. If the move would change nothing,
        the `id` of the returned move is empty. With `dry_run`, nothing is moved: the result says what would move.
        """
        return self._private.wait(self._inner.move_conversation(id, to=to, user=user, space=space, dry_run=dry_run))

    def merge_users(self, user: str, *, into: str, space: str | None = None, dry_run: bool = False) -> Move:
        """Merge two users who are the same person: everything of one user is given to the other user.

        After the merge, all conversations, channel messages, facts, statements, names and documents of `user` belong to
        `into`. A merge does not change API keys. A merge deletes nothing; `undo_move` reverses the merge. With
        `dry_run`, nothing is moved: the result says what would move.
        """
        return self._private.wait(self._inner.merge_users(user, into=into, space=space, dry_run=dry_run))

    def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Move:
        """Reverse the move of a conversation or the merge of two users. A move or merge cannot be reversed after some
        of the moved data was removed or moved again.

        If `undo_move` returns a chat to the old owner, the chat keeps the messages added since the move. With
        `dry_run`, nothing is moved: the result says what would move.
        """
        return self._private.wait(self._inner.undo_move(id, space=space, dry_run=dry_run))


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
        self, role: Role, content: str, *, author: str | None = None, user: str | None = None,
        time: datetime | None = None, platform_id: str | None = None, metadata: dict[str, Any] | None = None,
        name: str | None = None, expires: datetime | timedelta | None = None, on_edit: OnEdit = "refuse",
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
        return self._private.wait(self._inner.add(
            role, content, author=author, user=user, time=time, platform_id=platform_id, metadata=metadata, name=name,
            expires=expires, on_edit=on_edit, reply_to=reply_to,
        ))

    def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        """Store several messages in one transaction: either all of them or none. Each message is a draft, or a mapping
        such as `{"role": "user", "content": "Hi"}` with the fields of a draft; `expires` works as in `add`. `on_edit`
        works as in `add`. For each message, `kept` in the result says whether the message was stored."""
        return self._private.wait(self._inner.extend(drafts, on_edit=on_edit))

    def history(self, *, limit: int | None = None, before: int | None = None, versions: bool = False) -> list[Message]:
        """Get the messages in order. With `limit`, you get the last messages; with `before`, the messages before that
        turn. With `versions`, each message has its older versions: the texts before each edit.

        Expired messages are in the history until `retain` removes them.
        """
        return self._private.wait(self._inner.history(limit=limit, before=before, versions=versions))

    def edit(self, message: str | int, text: str, *, metadata: dict[str, Any] | None = None) -> Message:
        """Replace the text of a message and, if you pass `metadata`, the message's metadata. Identify the message by
        its id, its turn (a number) or its platform id.

        Search, contexts, facts, summaries, topics and exports use the new version of an edited message. The old version
        of the message stays in the log; `history(versions=True)` shows the old version. If the new text and metadata
        are the same as the old ones, nothing changes.
        """
        return self._private.wait(self._inner.edit(message, text, metadata=metadata))

    def delete(self, message: str | int, *, dry_run: bool = False) -> Deletion:
        """Permanently remove a message and everything derived from it. Identify the message by its id, its turn (a
        number) or its platform id. A fact from the removed message stays if another message also states this fact. With
        `dry_run`, nothing is removed: the result says what would be removed from the log and from each view (derived
        data)."""
        return self._private.wait(self._inner.delete(message, dry_run=dry_run))

    def context(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None, markers: bool = True,
    ) -> Context:
        """Build a context for `text`: the messages to send to a model, within the budget, with a receipt that says what
        was chosen and why.

        The messages tell the model how to ask for more by writing markers, which `reply` handles. If your program calls
        a model itself and shows the model's words, pass `markers=False`.
        """
        return self._private.wait(self._inner.context(text, budget=budget, system=system, markers=markers))

    def reply(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None,
        author: str | None = None, platform_id: str | None = None,
    ) -> Reply:
        """Run a whole turn: store the message, ask the model, and store and return the model's reply."""
        return self._private.wait(self._inner.reply(
            text, budget=budget, system=system, author=author, platform_id=platform_id,
        ))

    def stream(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None,
        author: str | None = None, platform_id: str | None = None,
    ) -> Iterator[str]:
        """Run a turn as `reply` does, and yield the reply in pieces while the model writes it. If the turn is cut off,
        everword stores the part that was sent, marked as partial."""
        return self._private.iterate_items(self._inner.stream(
            text, budget=budget, system=system, author=author, platform_id=platform_id,
        ))

    def command(
        self, text: str, *, author: str | None = None, names: Sequence[str] = ("everword", "bot"),
        addressed: bool = False, platform_id: str | None = None,
    ) -> Answer | None:
        """Carry out a message that is a command to everword, such as "remember …", "forget …" or "what do you know
        about me?". If the message is not a command to everword, the result is None.

        `names` are the names by which people address everword. With `addressed`, everword treats the message as
        addressed to everword, even if the message contains none of the `names`. If the message is a command, everword
        stores the message and the answer in the log. If the message is not a command, everword does not store the
        message: to store it, call `reply` or `add`. If a message with the same `platform_id` is already stored, the
        command is not carried out again, and the result is None.
        """
        return self._private.wait(self._inner.command(
            text, author=author, names=names, addressed=addressed, platform_id=platform_id,
        ))

    def describe(self) -> Conversation:
        """Get the conversation itself: its title, its user, how many messages it has had, and the time of the last
        message. If the conversation does not exist, the error is `NotFound`."""
        return self._private.wait(self._inner.describe())

    def archive(self) -> Chunk | None:
        """Archive (summarise) all messages of the conversation now, except the last exchange (a message and its reply).
        If there is nothing to archive, the result is None. If summarising fails, the messages are not archived, and the
        error says why."""
        return self._private.wait(self._inner.archive())

    def archived(self) -> list[Chunk]:
        """List the groups of messages that were archived together, oldest first."""
        return self._private.wait(self._inner.archived())

    def episodes(self) -> list[Episode]:
        """List the summaries of archived messages, highest level first. A summary that became part of a larger summary
        is listed only inside the larger summary."""
        return self._private.wait(self._inner.episodes())

    def standalone(self, question: str) -> str:
        """Rewrite a follow-up question, with the help of the last messages, so that the question can be understood
        alone. A question that can already be understood alone is returned unchanged."""
        return self._private.wait(self._inner.standalone(question))

    def add_user_message(
        self, text: str, importance: float = IMPORTANCE, *, author: str | None = None, time: datetime | None = None,
    ) -> Topic:
        """Store a user's message and add it to its topic. A message can open a new topic, or make an inactive (faded)
        topic active again. Returns the topic. `importance`, from 0 to 1, says how much the topic matters to the
        author."""
        return self._private.wait(self._inner.add_user_message(text, importance, author=author, time=time))

    def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        """Store a reply and add it to the topic of the message before it. Returns the topic."""
        return self._private.wait(self._inner.add_assistant_message(text, time=time))

    def topics(self, *, faded: bool = False) -> list[Topic]:
        """List the topics of the conversation, highest priority first. With `faded`, the list also includes faded
        topics, which are no longer active."""
        return self._private.wait(self._inner.topics(faded=faded))

    def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        """Get a topic's messages to send to a model: the topic's summary, if there is one, and the messages that the
        summary does not cover. By default, you get the messages of the conversation's current topic. If the
        conversation has no messages yet, the result is empty.
        """
        return self._private.wait(self._inner.get_topic_context(topic_id))

    def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True,
    ) -> list[TopicMessage]:
        """List every message of a topic, in order. To leave out messages that are part of the topic's summary, set
        `include_compressed` to false."""
        return self._private.wait(self._inner.get_full_topic_history(topic_id, include_compressed))

    def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        """Get the figures of a topic: counts of messages, importance and age. By default, you get the figures of the
        conversation's current topic."""
        return self._private.wait(self._inner.get_topic_stats(topic_id))

    def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        """Find the topics in this conversation that match a query, best match first, including faded topics. The query
        is compared with each topic's messages, title and tags."""
        return self._private.wait(self._inner.search_topics(query, limit=limit))

    def merge_topics(self, topic_id: str, other: str) -> Topic:
        """Merge two topics: the topic `other` becomes part of the first topic. Returns the merged topic. `undo_merge`
        separates two merged topics again."""
        return self._private.wait(self._inner.merge_topics(topic_id, other))

    def undo_merge(self, topic_id: str) -> Topic:
        """Undo the merge of a topic into another topic. The merge can have been automatic or made by `merge_topics`.
        After `undo_merge`, the two topics are not merged automatically again. Returns the separated topic."""
        return self._private.wait(self._inner.undo_merge(topic_id))

    def split_topic(self, topic_id: str, *turns: int) -> Topic:
        """In a group chat, move messages and their replies from their thread into a new thread. Returns the new thread.
        After the split, new messages may join either of the two threads. To reverse a split, join the new and the old
        thread with `merge_topics`."""
        return self._private.wait(self._inner.split_topic(topic_id, *turns))

    def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        """Add your own tags to a topic. With `remove`, the given tags are removed from the topic. `search_topics` finds
        topics by their tags. A rebuild of the topics keeps your tags."""
        return self._private.wait(self._inner.tag_topic(topic_id, *tags, remove=remove))

    def feedback(self, topic_id: str, score: int) -> Topic:
        """Rate a topic: 1 if the topic matters, -1 if it does not. The rating changes the topic's importance, which
        affects how long the topic stays active."""
        return self._private.wait(self._inner.feedback(topic_id, score))


class BlockingDocuments:
    """The documents of one space: what programs keep under keys of their own."""

    def __init__(self, inner: DocumentsFace, private: LoopThread) -> None:
        self._inner = inner
        self._private = private
        self.space = inner.space

    def put(
        self, namespace: Sequence[str], key: str, value: Mapping[str, Any], *, user: str | None = None,
        texts: Sequence[str] | None = None, expires: datetime | timedelta | None = None,
    ) -> Document:
        """Store a JSON object under a key, and replace any document that is stored under the key.

        `user` is the owner: `erase` removes the document with the owner's other data. Search compares queries with
        `texts` or, if you give none, with all texts in the value; if `texts` is empty, search by meaning does not rank
        the document. With `expires` (a time, or a time span from now), the document is hidden from that time on.
        Without `expires`, the document stays, even if the document that it replaces had an expiry.
        """
        return self._private.wait(self._inner.put(namespace, key, value, user=user, texts=texts, expires=expires))

    def get(self, namespace: Sequence[str], key: str) -> Document | None:
        """Get the document that is stored under a key, if there is one."""
        return self._private.wait(self._inner.get(namespace, key))

    def remove(self, namespace: Sequence[str], key: str) -> bool:
        """Permanently remove a document. The result says whether the document existed."""
        return self._private.wait(self._inner.remove(namespace, key))

    def apply(self, changes: Sequence[Change]) -> list[Document]:
        """Store and remove several documents in one transaction. Returns the documents that are stored now, in the
        given order."""
        return self._private.wait(self._inner.apply(changes))

    def edit(self, namespace: Sequence[str], decide: Callable[[dict[str, Document]], tuple[Sequence[Change], T]]) -> T:
        """Change documents of one namespace depending on what the documents contain. Nobody else can change them in
        between. `decide` gets the documents by key, and returns the changes and an answer. everword may call `decide`
        more than once."""
        return self._private.wait(self._inner.edit(namespace, decide))

    def search(
        self, namespace: Sequence[str] = (), *, query: str | None = None, where: Mapping[str, Any] | None = None,
        limit: int = 10, offset: int = 0,
    ) -> list[Document]:
        """Search the documents of a namespace and of the namespaces below it. With a `query`, the documents nearest to
        the query in meaning and words come first. Without a `query`, the most recently changed documents come first.

        `where` filters documents by their values, as in `{"kind": "note", "stars": {"$gte": 4}}`. The operators in
        `where` are `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte`.
        """
        return self._private.wait(self._inner.search(namespace, query=query, where=where, limit=limit, offset=offset))

    def namespaces(
        self, *, prefix: Sequence[str] = (), suffix: Sequence[str] = (), depth: int | None = None,
        limit: int | None = None, offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """List the namespaces that have documents, in order. In a prefix or suffix, `*` stands for any one name. With
        `depth`, everword cuts namespaces to that many names and lists each result once."""
        return self._private.wait(self._inner.namespaces(
            prefix=prefix, suffix=suffix, depth=depth, limit=limit, offset=offset,
        ))
