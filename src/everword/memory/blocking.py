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
        """A conversation with one `user`; without a user, a channel of many. It begins with its first message."""
        return BlockingConversation(self._inner.conversation(id, user=user, space=space), self._private)

    def documents(self, *, space: str | None = None) -> BlockingDocuments:
        """JSON objects that programs store in a space under their own keys, beside the log. They can be replaced and
        removed."""
        return BlockingDocuments(self._inner.documents(space=space), self._private)

    def add_many(self, batches: Iterable[Batch]) -> list[list[Added]]:
        """Add messages to several conversations in one transaction: all of them, or none."""
        return self._private.wait(self._inner.add_many(batches))

    def conversations(
        self, *, user: str | None = None, space: str | None = None, after: str = "", limit: int = 100,
    ) -> list[Conversation]:
        """The conversations of a space, or of one user, with their titles. The one with the newest message comes first.

        For the next page, give the `cursor` of the last one as `after`. A conversation that gets a message meanwhile
        moves to the front: no later page has it again, and if no page had it yet, the first page has it now. A
        conversation whose messages were all removed is not listed.
        """
        return self._private.wait(self._inner.conversations(user=user, space=space, after=after, limit=limit))

    def search(
        self, query: str, *, user: str | None = None, conversation: str | None = None, role: Role | None = None,
        after: datetime | None = None, before: datetime | None = None, limit: int = 10, floor: float | None = None,
        kinds: Sequence[HitKind] = ("message",), space: str | None = None,
    ) -> list[Hit]:
        """Find messages by word and by meaning, best first, in a space or in one user's memory.

        A `floor`, from 0 to 1, leaves out hits with a lower `relevance`. At 0.5, as in a context, a query that has
        nothing to do with the memory finds nothing. With "fact" among the `kinds`, facts are found too. Such a hit has
        the `kind` "fact", the `fact`, and the newest message that it comes from.
        """
        return self._private.wait(self._inner.search(
            query, user=user, conversation=conversation, role=role, after=after, before=before, limit=limit,
            floor=floor, kinds=kinds, space=space,
        ))

    def settle(self, timeout: float = 60.0) -> int:
        """Wait until every view has caught up with the log. If one cannot, raises NotSettled, which says how far each
        view is behind and why. Returns how many messages views failed on and have set aside."""
        return self._private.wait(self._inner.settle(timeout))

    def rebuild(self, view: str = "index", *, space: str | None = None) -> None:
        """Delete a view and build it again from the log."""
        self._private.wait(self._inner.rebuild(view, space=space))

    def retry(self, view: str | None = None, *, conversation: str | None = None, space: str | None = None) -> Retried:
        """Try again the messages that views failed on and set aside: those of one space, conversation or view, or all.

        A view that reads a conversation in order begins again at its first message; `settle` waits for it.
        """
        return self._private.wait(self._inner.retry(view, conversation=conversation, space=space))

    def export(
        self, *, user: str | None = None, conversation: str | None = None, space: str | None = None,
        salvage: bool = False, secrets: bool = False,
    ) -> Iterator[Message]:
        """Every message of a space, or of one user's memory, or of one conversation, in order. Secrets are replaced by
        placeholders, unless `secrets` asks for them. If messages cannot be read, the export ends with an error that
        names them all; with `salvage`, they are left out."""
        return self._private.iterate_pages(self._inner.export(
            user=user, conversation=conversation, space=space, salvage=salvage, secrets=secrets,
        ))

    def verify(self) -> Verification:
        """Prove that no message in the log was changed and none is missing."""
        return self._private.wait(self._inner.verify())

    def stats(self, *, space: str | None = None) -> Stats:
        """What is in the store, how far its views are, and what models, caches and fallbacks did."""
        return self._private.wait(self._inner.stats(space=space))

    def facts(
        self, *, user: str, query: str | None = None, as_of: datetime | None = None, category: str | None = None,
        space: str | None = None,
    ) -> list[Fact]:
        """What is known about a person, now or at a given time, most important first.

        With a `query`, the facts that fit it best come first. A `category` also finds facts that people expect there:
        the employer under "work", a home under "place", allergies under "health".
        """
        return self._private.wait(self._inner.facts(
            user=user, query=query, as_of=as_of, category=category, space=space,
        ))

    def refused_facts(self, *, user: str, space: str | None = None) -> list[RefusedFact]:
        """Facts that a model found in a person's messages and that were not accepted, oldest first, each with the
        reason."""
        return self._private.wait(self._inner.refused_facts(user=user, space=space))

    def fact_history(self, key: str, *, user: str, space: str | None = None) -> list[Fact]:
        """Every value a key has had, oldest first, with the times at which it was true."""
        return self._private.wait(self._inner.fact_history(key, user=user, space=space))

    def why(self, fact: str, *, user: str, space: str | None = None) -> list[Message]:
        """The messages a fact came from, oldest first."""
        return self._private.wait(self._inner.why(fact, user=user, space=space))

    def fact(self, id: str, *, user: str, space: str | None = None) -> Fact:
        """One fact by its id, even if it is no longer true."""
        return self._private.wait(self._inner.fact(id, user=user, space=space))

    def add_fact(
        self, category: str, key: str, value: str, *, user: str, valid_from: date | None = None,
        valid_to: date | None = None, subject: str | None = None, speaker: str | None = None, space: str | None = None,
    ) -> FactChange:
        """Add a fact about a person, by hand. If the key can have only one value, the new fact replaces the old one.

        It is true from the day `valid_from`, or from now, to the day `valid_to`. `subject` names whom it is about, if
        not the person: "brother". `speaker` is who adds it: the person themselves, if left out. A rebuild keeps it, and
        `undo` takes it back.
        """
        return self._private.wait(self._inner.add_fact(
            category, key, value, user=user, valid_from=valid_from, valid_to=valid_to, subject=subject, speaker=speaker,
            space=space,
        ))

    def edit_fact(
        self, id: str, value: str, *, user: str, valid_from: date | None = None, valid_to: date | None = None,
        speaker: str | None = None, space: str | None = None,
    ) -> FactChange:
        """Give a fact another value. The old one stays as history, with its times; `undo` brings it back.

        A `speaker` who is not the person can edit only what they said themselves. Everyone who could see the fact sees
        the new value. If the person says something else later, that replaces it.
        """
        return self._private.wait(self._inner.edit_fact(
            id, value, user=user, valid_from=valid_from, valid_to=valid_to, speaker=speaker, space=space,
        ))

    def delete_fact(self, id: str, *, user: str, speaker: str | None = None, space: str | None = None) -> FactChange:
        """Remove a fact. It does not come back unless somebody says it again.

        It stays as history, and `undo` brings it back. To remove a person's messages for good, use `erase`. A `speaker`
        who is not the person can delete only what they said themselves.
        """
        return self._private.wait(self._inner.delete_fact(id, user=user, speaker=speaker, space=space))

    def remember(
        self, text: str, *, user: str, speaker: str | None = None, message: str | None = None,
        expires: datetime | timedelta | None = None, space: str | None = None,
    ) -> list[Statement]:
        """Store a statement about a person, in the third person. It replaces statements that it contradicts. Returns
        the statements that are true now.

        `speaker` is who says it: the person themselves, if left out. `message` is the id of the message in the log that
        asked for it; without one, the log keeps `text`. A statement that `expires` (at a moment, or a span of
        time from now) is shown until then. It replaces no lasting statement, and no fact is read from it.
        """
        return self._private.wait(self._inner.remember(
            text, user=user, speaker=speaker, message=message, expires=expires, space=space,
        ))

    def forget(
        self, what: str, *, user: str, speaker: str | None = None, message: str | None = None, space: str | None = None,
    ) -> Forgotten:
        """Remove the statements and facts that fit the words from a person's profile. Returns what was removed.

        Nothing is removed from the log or from history, and `undo` brings it back. To remove a person's messages for
        good, use `erase`. A `speaker` who is not the person can remove only what they said themselves.
        """
        return self._private.wait(self._inner.forget(what, user=user, speaker=speaker, message=message, space=space))

    def undo(self, id: str, *, user: str, space: str | None = None) -> Forgotten:
        """Take back a `forget`, or a change of a fact by hand, by the `id` that the call returned. Returns what came
        back."""
        return self._private.wait(self._inner.undo(id, user=user, space=space))

    def profile(self, *, user: str, space: str | None = None, wait: float | None = None) -> Profile:
        """What is known about a person: what they said about themselves, and what others said about them in channels.

        For people who speak in channels, it includes what they did there today and in the days before. `context` has
        all of it as one text. Missing digests are written first. `wait` limits the seconds that this takes (by default
        the setting `digest_seconds`); after that you get the last digests. With `wait=0`, none are written.
        """
        return self._private.wait(self._inner.profile(user=user, space=space, wait=wait))

    def digests(
        self, space: str | None = None, *, day: date | None = None, user: str | None = None,
        conversation: str | None = None, week: bool = False, wait: float | None = None,
    ) -> list[Digest]:
        """Summarise a day in the channels of a space, for each member who spoke or for one `user`. The day is today
        unless you name one.

        With `week`, you get the six days before that day. With a `conversation`, you get one digest of that channel as
        a whole, without a user: its threads, and what came of each. Missing digests are written first; see `profile`.
        """
        return self._private.wait(self._inner.digests(
            space, day=day, user=user, conversation=conversation, week=week, wait=wait,
        ))

    def set_time_zone(self, name: str, *, space: str | None = None) -> None:
        """Set the time zone in which a space's days begin and end, by its IANA name: "Europe/Berlin". Without one,
        the setting `time_zone` is used."""
        self._private.wait(self._inner.set_time_zone(name, space=space))

    def add_name(self, name: str, *, user: str, kind: str = "alias", space: str | None = None) -> None:
        """Add a name of a person: "display", "nickname", "alias" or "mention"."""
        self._private.wait(self._inner.add_name(name, user=user, kind=kind, space=space))

    def remove_name(self, name: str, *, user: str, space: str | None = None) -> None:
        """Remove a name of a person. A display name comes back with the next message that has it."""
        self._private.wait(self._inner.remove_name(name, user=user, space=space))

    def people(self, *, space: str | None = None) -> list[Member]:
        """Everybody who has spoken in a space, or was given a name there."""
        return self._private.wait(self._inner.people(space=space))

    def who_is(self, name: str, *, speaker: str | None = None, space: str | None = None) -> Whom:
        """Find whom a name, nickname, alias, mention or id means: one person, several to choose from, or nobody."""
        return self._private.wait(self._inner.who_is(name, speaker=speaker, space=space))

    def ask(
        self, question: str, *, user: str, conversation: str | None = None, space: str | None = None,
    ) -> MemoryAnswer:
        """Answer a question about a person from facts and messages, and name those that the answer uses.

        The memory model answers from these facts and messages alone. Without a model, or if its answer cannot be used,
        you get the facts and messages that fit best. With a `conversation` (a channel), only what was said there is
        used.
        """
        return self._private.wait(self._inner.ask(question, user=user, conversation=conversation, space=space))

    def delete_conversation(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Deletion:
        """Remove all messages of a conversation and all that was derived from them, for good. With `dry_run`, only
        report what would be removed from which view."""
        return self._private.wait(self._inner.delete_conversation(id, space=space, dry_run=dry_run))

    def delete(
        self, *, before: datetime | None = None, user: str | None = None, query: str | None = None,
        dry_run: bool = False, space: str | None = None,
    ) -> Deletion:
        """Remove for good the messages that fit all arguments, and everything derived from them.

        You can choose messages sent before a time, those of a user (as in `erase`), and those with a phrase. The
        phrase, `query`, is matched word for word, whatever its case, and not by meaning. With `dry_run`, only report
        what would be removed from which view.
        """
        return self._private.wait(self._inner.delete(
            before=before, user=user, query=query, dry_run=dry_run, space=space,
        ))

    def erase(self, *, user: str, space: str | None = None) -> Erasure:
        """Remove a person's messages and all that was derived from them, for good."""
        return self._private.wait(self._inner.erase(user=user, space=space))

    def retain(self, *, dry_run: bool = True, space: str | None = None) -> Retained:
        """Remove what has expired and what is older than the settings `retain_…` allow, in all spaces or one. With
        `dry_run`, the default, only list it."""
        return self._private.wait(self._inner.retain(dry_run=dry_run, space=space))

    def audit(self, *, limit: int = 100, space: str | None = None) -> list[AuditLine]:
        """The last removals and moves in a space, newest first: by whom, when, of what kind and how many."""
        return self._private.wait(self._inner.audit(limit=limit, space=space))

    def redact(
        self, *, user: str | None = None, conversation: str | None = None, dry_run: bool = False,
        space: str | None = None,
    ) -> Redaction:
        """Replace the secrets in stored messages (API keys, passwords, cards) by placeholders, for good: in all of a
        space, in one user's memory or in one conversation. Older versions of these messages are removed. With
        `dry_run`, only report how many messages contain secrets."""
        return self._private.wait(self._inner.redact(
            user=user, conversation=conversation, dry_run=dry_run, space=space,
        ))

    def move_conversation(
        self, id: str, *, to: str | None = None, user: str | None = None, space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        """Rename a conversation (`to`), give it to another user (`user`), or both, for example when a guest signs in.

        The messages of its old user then belong to the new one, with the facts and statements made from them. If the
        old user has said nothing anywhere else, all their data moves, as with `merge_users`. Nothing is removed, and
        `undo_move` takes it back. If nothing would change, the `id` of the move is empty. With `dry_run`, only report
        what would move.
        """
        return self._private.wait(self._inner.move_conversation(id, to=to, user=user, space=space, dry_run=dry_run))

    def merge_users(self, user: str, *, into: str, space: str | None = None, dry_run: bool = False) -> Move:
        """Give everything of one user to another, when both are one person.

        Conversations, messages in channels, facts, statements, names and documents then belong to `into`. API keys of
        the old id are left alone. Nothing is removed, and `undo_move` takes it back. With `dry_run`, only report
        what would move.
        """
        return self._private.wait(self._inner.merge_users(user, into=into, space=space, dry_run=dry_run))

    def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Move:
        """Take back a move or a merge, unless something that it moved has since been removed or moved again.

        A chat that goes back to its old owner keeps what was said in it meanwhile. With `dry_run`, only report what
        would move.
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
        """Keep a message. Once this returns, it is on the disk. A message whose platform id is known is not stored
        twice. If the store takes nothing and the setting `hold_messages` allows it, the message is held in memory, and
        `degraded` says so.

        `name` is what the author is called there now. It is cleaned and kept in the metadata; a channel also keeps it
        among its names.

        `expires` is a moment, or a span of time from now. After that, no search and no context has the message, and
        `retain` removes it. Nothing is derived from it that would outlive it: no fact, summary, digest or topic.

        If the platform id is known with another text, the stored text stays; with `on_edit="version"`, the new text
        becomes a new version instead. The message's `kept` says what happened: "new", "known", "edited" or "refused".

        `reply_to` is the message of this conversation that it answers: its id, or its platform id.
        """
        return self._private.wait(self._inner.add(
            role, content, author=author, user=user, time=time, platform_id=platform_id, metadata=metadata, name=name,
            expires=expires, on_edit=on_edit, reply_to=reply_to,
        ))

    def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        """Keep several messages in one transaction: all of them, or none. Each is a draft, or a mapping such as
        `{"role": "user", "content": "Hi"}`, which may have the fields of a draft, and `expires` as in `add`. `on_edit`
        is as in `add`, and each result's `kept` says what became of the message."""
        return self._private.wait(self._inner.extend(drafts, on_edit=on_edit))

    def history(self, *, limit: int | None = None, before: int | None = None, versions: bool = False) -> list[Message]:
        """The messages in order. With `limit`, you get the last ones; with `before`, those before that turn. With
        `versions`, each has its older versions: what it said before it was edited.

        An expired message is here until `retain` removes it.
        """
        return self._private.wait(self._inner.history(limit=limit, before=before, versions=versions))

    def edit(self, message: str | int, text: str, *, metadata: dict[str, Any] | None = None) -> Message:
        """Give a message a new text, and new metadata if you pass any. Name the message by its id, its turn (a number)
        or its platform id.

        Everything follows the new version: search, contexts, facts, summaries, topics, exports. The old one stays in
        the log; `history(versions=True)` shows it. The same text again changes nothing.
        """
        return self._private.wait(self._inner.edit(message, text, metadata=metadata))

    def delete(self, message: str | int, *, dry_run: bool = False) -> Deletion:
        """Remove a message and everything derived from it, for good. Name the message by its id, its turn (a number) or
        its platform id. A fact that another message states too stays. With `dry_run`, only report what would be removed
        from which view."""
        return self._private.wait(self._inner.delete(message, dry_run=dry_run))

    def context(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None, markers: bool = True,
    ) -> Context:
        """The messages to send to a model so that it answers `text`: never over budget, with a receipt.

        They tell the model how to ask for more by markers, which `reply` serves. If your program calls a model itself
        and shows what it says, leave this out with `markers=False`.
        """
        return self._private.wait(self._inner.context(text, budget=budget, system=system, markers=markers))

    def reply(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None,
        author: str | None = None, platform_id: str | None = None,
    ) -> Reply:
        """The whole turn: keep the message, ask the model, keep and return its reply."""
        return self._private.wait(self._inner.reply(
            text, budget=budget, system=system, author=author, platform_id=platform_id,
        ))

    def stream(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None,
        author: str | None = None, platform_id: str | None = None,
    ) -> Iterator[str]:
        """The same as `reply`, piece by piece as it is written. If a turn is cut off, the part that was seen is kept
        and marked as partial."""
        return self._private.iterate_items(self._inner.stream(
            text, budget=budget, system=system, author=author, platform_id=platform_id,
        ))

    def command(
        self, text: str, *, author: str | None = None, names: Sequence[str] = ("everword", "bot"),
        addressed: bool = False, platform_id: str | None = None,
    ) -> Answer | None:
        """Carry out a message that is a command to the memory (remember, forget, tell what is known). Returns None if
        it is not a command.

        `names` are the names that the memory answers to. With `addressed`, the message is for the memory even if it
        names nobody. A command is stored in the log with its answer. A message that is not a command is not stored:
        give it to `reply` or `add`. A command with a known `platform_id` is not carried out again; the answer is None.
        """
        return self._private.wait(self._inner.command(
            text, author=author, names=names, addressed=addressed, platform_id=platform_id,
        ))

    def describe(self) -> Conversation:
        """The conversation itself: its title, whose it is, how many messages it has had and when the last one was said.
        Raises `NotFound` if nothing was ever said in it."""
        return self._private.wait(self._inner.describe())

    def archive(self) -> Chunk | None:
        """Archive the window now, whatever the settings say: all messages but the last exchange. Returns None if
        nothing was left to archive. If summarising fails, the messages stay where they are, and the error says why."""
        return self._private.wait(self._inner.archive())

    def archived(self) -> list[Chunk]:
        """The groups of messages that were archived together, oldest first."""
        return self._private.wait(self._inner.archived())

    def episodes(self) -> list[Episode]:
        """The active summaries of messages that left the window, highest level first, each with its parts."""
        return self._private.wait(self._inner.episodes())

    def standalone(self, question: str) -> str:
        """Rewrite a follow-up question with the last messages, so that it can be understood alone. A question that is
        already clear is returned unchanged."""
        return self._private.wait(self._inner.standalone(question))

    def add_user_message(
        self, text: str, importance: float = IMPORTANCE, *, author: str | None = None, time: datetime | None = None,
    ) -> Topic:
        """Keep a user's message and add it to its topic, which may be a new one or a faded one that comes back. Returns
        the topic. `importance`, from 0 to 1, is what the topic is worth to the person who says it."""
        return self._private.wait(self._inner.add_user_message(text, importance, author=author, time=time))

    def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        """Keep a reply and add it to the topic it follows. Returns the topic."""
        return self._private.wait(self._inner.add_assistant_message(text, time=time))

    def topics(self, *, faded: bool = False) -> list[Topic]:
        """The topics of the conversation, the most current first; with `faded`, also those that have left the active
        set."""
        return self._private.wait(self._inner.topics(faded=faded))

    def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        """The part of a topic to send to a model: its summary, if it has one, and the messages of its active set.
        Without an id, you get the current topic. The result is empty if nothing was said yet."""
        return self._private.wait(self._inner.get_topic_context(topic_id))

    def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True,
    ) -> list[TopicMessage]:
        """Every message of a topic, in order; without `include_compressed`, only those of its active set."""
        return self._private.wait(self._inner.get_full_topic_history(topic_id, include_compressed))

    def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        """The figures of a topic, by default of the current one."""
        return self._private.wait(self._inner.get_topic_stats(topic_id))

    def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        """The topics of this conversation that a query is about, best first, faded ones too. Their messages, titles and
        tags are searched."""
        return self._private.wait(self._inner.search_topics(query, limit=limit))

    def merge_topics(self, topic_id: str, other: str) -> Topic:
        """Make two topics one: the other becomes part of the first, which is returned. `undo_merge` separates them."""
        return self._private.wait(self._inner.merge_topics(topic_id, other))

    def undo_merge(self, topic_id: str) -> Topic:
        """Separate a topic from the one it was merged into, automatically or by `merge_topics`. The two stay apart from
        now on. Returns the topic."""
        return self._private.wait(self._inner.undo_merge(topic_id))

    def split_topic(self, topic_id: str, *turns: int) -> Topic:
        """Move messages of a group, with the replies to them, out of their thread into a new one, which is returned.
        Later messages may join either. `merge_topics` puts them together again."""
        return self._private.wait(self._inner.split_topic(topic_id, *turns))

    def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        """Give a topic tags of your own; with `remove`, take them away. Search finds them, and a rebuild keeps them."""
        return self._private.wait(self._inner.tag_topic(topic_id, *tags, remove=remove))

    def feedback(self, topic_id: str, score: int) -> Topic:
        """Say that a topic matters (+1) or does not (-1). This changes its importance, and so how long it stays
        active."""
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
        """Store a JSON object under a key. It replaces the one that was there.

        `user` is its owner: `erase` removes it with all else of theirs. Search compares with `texts`, in place of all
        texts of the value; if they are empty, no search by meaning ranks it. From the time given in `expires` (a time,
        or a span of time from now) it is gone. Without `expires` it stays, even if the one before was to expire.
        """
        return self._private.wait(self._inner.put(namespace, key, value, user=user, texts=texts, expires=expires))

    def get(self, namespace: Sequence[str], key: str) -> Document | None:
        """The document under a key, if there is one."""
        return self._private.wait(self._inner.get(namespace, key))

    def remove(self, namespace: Sequence[str], key: str) -> bool:
        """Remove a document for good, and say whether there was one."""
        return self._private.wait(self._inner.remove(namespace, key))

    def apply(self, changes: Sequence[Change]) -> list[Document]:
        """Store and remove several documents in one transaction. Returns the documents that are stored now, in the
        order given."""
        return self._private.wait(self._inner.apply(changes))

    def edit(self, namespace: Sequence[str], decide: Callable[[dict[str, Document]], tuple[Sequence[Change], T]]) -> T:
        """Change documents of one namespace depending on what they contain; nobody else changes them in between.
        `decide` gets the documents by key and returns the changes and an answer. It may be run more than once."""
        return self._private.wait(self._inner.edit(namespace, decide))

    def search(
        self, namespace: Sequence[str] = (), *, query: str | None = None, where: Mapping[str, Any] | None = None,
        limit: int = 10, offset: int = 0,
    ) -> list[Document]:
        """The documents of a namespace and of those below it. With a `query`, those nearest to it in meaning and words
        come first; without one, those changed last.

        `where` filters by their values: `{"kind": "note", "stars": {"$gte": 4}}`, with the operators `$eq`, `$ne`,
        `$gt`, `$gte`, `$lt`, `$lte`.
        """
        return self._private.wait(self._inner.search(namespace, query=query, where=where, limit=limit, offset=offset))

    def namespaces(
        self, *, prefix: Sequence[str] = (), suffix: Sequence[str] = (), depth: int | None = None,
        limit: int | None = None, offset: int = 0,
    ) -> list[tuple[str, ...]]:
        """The namespaces that have documents, in order. `*` in a prefix or suffix stands for any one name. With
        `depth`, namespaces are cut to that many names, and each is listed once."""
        return self._private.wait(self._inner.namespaces(
            prefix=prefix, suffix=suffix, depth=depth, limit=limit, offset=offset,
        ))
