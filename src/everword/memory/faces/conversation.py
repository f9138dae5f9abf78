"""What a program can ask of one conversation: its messages, contexts, replies and topics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from everword.memory.faces.operation import operation
from everword.model import (
    Added,
    Answer,
    Budget,
    BudgetName,
    ChatMessage,
    Chunk,
    Context,
    Deletion,
    Draft,
    Episode,
    Message,
    OnEdit,
    Reply,
    Role,
    Topic,
    TopicHit,
    TopicMessage,
    TopicStats,
)
from everword.model.clean_names import with_name
from everword.model.topics import IMPORTANCE


class ConversationFace:
    """One thread of messages."""

    space: str | None
    id: str
    user: str | None

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
    ) -> Message:
        """Keep a message. Once this returns, it is on the disk; the same platform id twice is kept once. If the store
        takes nothing and the setting `hold_messages` allows it, it is held in memory, and `degraded` says so.

        `name` is what its author is called there now; cleaned, it is kept in the metadata, and in a channel's register.

        `expires` is a moment, or a span of time from now: from then on no search and no context has the message, and
        `retain` removes it. Nothing is derived from it that would outlive it: no fact, summary, digest or topic.

        If the platform id is known with another text, that is a new version of the message with `on_edit="version"`;
        else the stored text stays. The message's `kept` says which: "new", "known", "edited" or "refused".
        """
        full_metadata = {} if metadata is None else metadata
        if name is not None and isinstance(full_metadata, Mapping):
            full_metadata = with_name(full_metadata, name)
        draft = Draft(role, content, author, user, time, platform_id, full_metadata, expires_at=expires)
        return (await self.extend([draft], on_edit=on_edit))[0].message

    @operation(
        "POST /v1/conversations/{id}/messages", right="write", tells="request", name="add_messages", by_hand=True
    )
    async def extend(self, drafts: Iterable[Draft | Mapping[str, Any]], *, on_edit: OnEdit = "refuse") -> list[Added]:
        """Keep several messages in one transaction: all of them, or none. Each is a draft, or a mapping such as
        `{"role": "user", "content": "Hi"}`, which may have the fields of a draft, and `expires` as `add` takes it.
        `on_edit` is as for `add`, and each result's `kept` says what became of the message."""

    @operation("GET /v1/conversations/{id}/messages", right="read", by_hand=True)
    async def history(
        self, *, limit: int | None = None, before: int | None = None, versions: bool = False
    ) -> list[Message]:
        """The messages in order; with `limit`, the last ones, and with `before`, those before that turn. With
        `versions`, each has its older versions: what it said before it was edited.

        This is the log: a message that has expired is in it until `retain` removes it.
        """

    @operation("PATCH /v1/conversations/{id}/messages/{message}", right="write", name="edit_message", by_hand=True)
    async def edit(self, message: str | int, text: str, *, metadata: dict[str, Any] | None = None) -> Message:
        """Give a message a new text, and new metadata if there are any: by its id, its turn (a number) or the id that
        its platform gave it. Everything follows the new version: search, contexts, facts, summaries, topics, exports.
        The old one stays in the log, and `history(versions=True)` shows it. The same text again changes nothing."""

    @operation("DELETE /v1/conversations/{id}/messages/{message}", right="admin", name="delete_message", once="names")
    async def delete(self, message: str | int, *, dry_run: bool = False) -> Deletion:
        """Remove a message and all that was derived from it, for good: by its id, its turn (a number) or the id that
        its platform gave it. What others said too stays. On a `dry_run`, say only what would go from which view."""

    @operation("POST /v1/conversations/{id}/context", right="read", by_hand=True)
    async def context(
        self, text: str, *, budget: Budget | BudgetName | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        """What to send to a model to have `text` answered: never over budget, with a receipt.

        It tells the model how to ask for more by markers, which `reply` serves. Without `markers` it does not: for
        programs that call a model themselves and show what it says.
        """

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
        """The whole turn: keep the message, ask the model, keep and return its reply."""

    @operation("POST /v1/conversations/{id}/reply", right="write", name="reply", by_hand=True)
    def stream(
        self,
        text: str,
        *,
        budget: Budget | BudgetName | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> AsyncIterator[str]:
        """The same, piece by piece as it is written. A turn that is cut off keeps what was seen, as partial."""

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
        """Carry out what a message asks of the memory: remember, forget, tell what is known; None if it asks nothing.

        `names` are those the memory is called by; with `addressed`, the message is for it without naming it. A command
        is kept in the log with its answer; what is none is not: it is ordinary talk, for `reply` or `add`. What came
        with this `platform_id` before is not carried out again: None.
        """

    @operation("POST /v1/conversations/{id}/archive", right="write")
    async def archive(self) -> Chunk | None:
        """Archive the window now, whatever the settings say: all but the last exchange. None if nothing was left to
        archive. If summarising fails, the messages stay where they are, and the error says why."""

    @operation("GET /v1/conversations/{id}/archived", right="read")
    async def archived(self) -> list[Chunk]:
        """The runs of messages that have left the window, oldest first."""

    @operation("GET /v1/conversations/{id}/episodes", right="read")
    async def episodes(self) -> list[Episode]:
        """What left the window, as summaries: the active ones, highest level first, each with its parts."""

    @operation("POST /v1/conversations/{id}/standalone", right="read", wrap="question")
    async def standalone(self, question: str) -> str:
        """A follow-up question so that it can be understood alone, from what was said last; as it is if it can be."""

    @operation(
        "POST /v1/conversations/{id}/topics",
        right="write",
        name="add_to_topic",
        part="by_topic",
        sends={"role": "user"},
        by_hand=True,
    )
    async def add_user_message(
        self, text: str, importance: float = IMPORTANCE, *, author: str | None = None, time: datetime | None = None
    ) -> Topic:
        """Keep a user's message and give it to its topic, which it may open or bring back. Returns the topic.

        `importance`, from 0 to 1, is what the topic is worth to whoever says it.
        """

    @operation(
        "POST /v1/conversations/{id}/topics",
        right="write",
        name="add_to_topic",
        part="by_topic",
        sends={"role": "assistant"},
        by_hand=True,
    )
    async def add_assistant_message(self, text: str, *, time: datetime | None = None) -> Topic:
        """Keep a reply and give it to the topic it follows. Returns the topic."""

    @operation("GET /v1/conversations/{id}/topics", right="read", part="by_topic", page="id")
    async def topics(self, *, faded: bool = False) -> list[Topic]:
        """What is talked about, the most present first; with `faded`, also what has left the active set."""

    @operation(
        "GET /v1/conversations/{id}/topics/{topic_id as topic}/context",
        right="read",
        name="topic_context",
        part="by_topic",
        wrap="messages",
    )
    async def get_topic_context(self, topic_id: str | None = None) -> list[ChatMessage]:
        """What to send of a topic: its summary, if it has one, and the messages of its active set. Without an id, of
        the topic that is being talked of; empty if nothing was said yet."""

    @operation(
        "GET /v1/conversations/{id}/topics/{topic_id as topic}/messages",
        right="read",
        name="topic_history",
        part="by_topic",
    )
    async def get_full_topic_history(
        self, topic_id: str | None = None, include_compressed: bool = True
    ) -> list[TopicMessage]:
        """Every message of a topic, in order; without `include_compressed`, only those of its active set."""

    @operation(
        "GET /v1/conversations/{id}/topics/{topic_id as topic}/stats", right="read", name="topic_stats", part="by_topic"
    )
    async def get_topic_stats(self, topic_id: str | None = None) -> TopicStats:
        """A topic in figures; without an id, the one that is being talked of."""

    @operation("GET /v1/conversations/{id}/topic-search", right="read", part="by_topic")
    async def search_topics(self, query: str, *, limit: int = 5) -> list[TopicHit]:
        """The topics of this conversation that a query is about, best first, faded ones too: by what was said in
        them, by their titles and by their tags."""

    @operation(
        "POST /v1/conversations/{id}/topics/{topic_id as topic}/merge", right="write", part="by_topic", once="words"
    )
    async def merge_topics(self, topic_id: str, other: str) -> Topic:
        """Make two topics one: the other becomes part of the first, which is returned. `undo_merge` takes it out."""

    @operation(
        "POST /v1/conversations/{id}/topics/{topic_id as topic}/unmerge",
        right="write",
        name="unmerge_topic",
        part="by_topic",
        once="words",
    )
    async def undo_merge(self, topic_id: str) -> Topic:
        """Take a topic out of the one it has become part of, by itself or by `merge_topics`; the two stay apart from
        now on. Returns it."""

    @operation(
        "POST /v1/conversations/{id}/topics/{topic_id as topic}/tags", right="write", part="by_topic", once="words"
    )
    async def tag_topic(self, topic_id: str, *tags: str, remove: bool = False) -> Topic:
        """Give a topic tags of your own, or with `remove` take them away. They are searched, and outlive a rebuild."""

    @operation(
        "POST /v1/conversations/{id}/topics/{topic_id as topic}/feedback",
        right="write",
        name="rate_topic",
        part="by_topic",
        once="words",
    )
    async def feedback(self, topic_id: str, score: int) -> Topic:
        """Say that a topic matters (+1) or does not (-1): its importance moves, and with it how long it stays."""
