"""What was said, what is asked of it, and what is answered; and documents, which a program keeps beside it.

A message is said once; an edit makes a new version of it, and the older ones stay. What the memory notes in the
metadata of a message is under one key, beside what the caller gave. Metadata is sealed into the chain of the log, so
notes of older stores keep the key that they were written under. A document is kept under a key of the program's own
choosing, and taken away again when it wants to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from everword.model.facts import Fact
from everword.secrets import Marks, MaskedParts, mask_parts

Role = Literal["user", "assistant", "system", "tool"]
"""Who speaks in a message, as chat models name it."""
ROLES: tuple[Role, ...] = get_args(Role)
HitKind = Literal["message", "fact"]
HIT_KINDS: tuple[HitKind, ...] = get_args(HitKind)
Kept = Literal["new", "known", "edited", "refused", "erased"]
OnEdit = Literal["refuse", "version"]
ON_EDIT: tuple[OnEdit, ...] = get_args(OnEdit)

DEFAULT_SPACE = "default"
NOTES = "everword"
OLD_NOTES = ("recollect",)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def to_microseconds(time: datetime) -> int:
    """A time as stores and seals have it: microseconds since 1970."""
    return (time - EPOCH) // MICROSECOND


def from_microseconds(count: int) -> datetime:
    return EPOCH + timedelta(microseconds=count)


@dataclass(frozen=True, slots=True)
class Draft:
    """A message that you want to store.

    `author` wrote the message. The message belongs to the memory of `user`: in a chat with one person, this is the
    person, even for replies. `time` is when the message was said (default: now). `platform_id` is the id that another
    system gave the message. A message whose `platform_id` or `id` is already stored in the conversation is not stored
    again. The message is shown until `expires_at`, a time or a time span from now. `reply_to` is the id or platform id
    of the message that this message answers.
    """

    role: Role
    content: str
    author: str | None = None
    user: str | None = None
    time: datetime | None = None
    platform_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    expires_at: datetime | timedelta | None = None
    reply_to: str | None = None


@dataclass(frozen=True, slots=True)
class Seal:
    """Proof of what a message says: `digest` is a hash of the message and its salt, and `link` is a hash of `digest`
    and the previous link."""

    salt: bytes
    digest: bytes
    link: bytes


@dataclass(frozen=True, slots=True)
class Version:
    """What a message said before it was edited, from when until when, and who edited it (the id of a key, or
    "program")."""

    content: str
    metadata: Mapping[str, Any]
    since: datetime
    until: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Degraded:
    """The store cannot be written at present, so everword buffers messages in memory.

    `held` says how many messages are buffered, `since` when, and `reason` why. When the store can be written again, the
    messages are written in order, each once. Until then, their turns may change, and if the process dies, the messages
    are lost. When `is_over` is true, `held` says how many messages were written.
    """

    held: int
    since: datetime
    reason: str
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message in the log. Of an erased message, only its place and its seal (hashes) are left.

    A message with `expires_at` is shown until that time, and no data that would outlive the message is derived from it.
    `reply_to` is the id or platform id of the message that this message answers. An edited message has the text of its
    newest version; `versions` are the older versions, oldest first, if you asked for them.

    `kept` says what happened to a message that was just added: "new"; "known" (already stored with this text); "edited"
    (stored as a new version); "refused" (already stored with another text); or "erased" (removed from the log earlier,
    and not stored again). If the store cannot be written, the message is buffered in memory, `degraded` says why, and
    the message's turn may still change.

    `secrets` marks the secrets in the content and metadata, and the placeholders for them. A store returns messages
    with placeholders, so that no derived data contains a secret. `as_said` is the original message, for its own
    conversation.
    """

    space: str
    conversation: str
    turn: int
    id: str
    role: Role
    author: str
    user: str | None
    content: str
    time: datetime
    platform_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    erased: bool = False
    expires_at: datetime | None = None
    seal: Seal = field(default=Seal(b"", b"", b""), repr=False, compare=False)
    versions: tuple[Version, ...] = ()
    kept: Kept | None = field(default=None, compare=False)
    degraded: Degraded | None = field(default=None, repr=False, compare=False)
    secrets: Marks = field(default=(), compare=False)
    original: MaskedParts | None = field(default=None, repr=False, compare=False)
    reply_to: str | None = None

    @property
    def as_said(self) -> Message:
        """The message with the secrets that were said in it."""
        if self.original is None:
            return self
        content, metadata, marks = self.original
        return replace(self, content=content, metadata=metadata, secrets=marks, original=None)

    @property
    def masked(self) -> Message:
        """The message with placeholders for its secrets. It still holds them, for `as_said`."""
        if not self.secrets or self.original is not None:
            return self
        content, metadata, marks = mask_parts(self.content, self.metadata, self.secrets)
        original = (self.content, self.metadata, self.secrets)
        return replace(self, content=content, metadata=metadata, secrets=marks, original=original)

    @property
    def without_secrets(self) -> Message:
        """The message with placeholders for good: its secrets cannot be had from it."""
        message = self.masked
        return message if message.original is None else replace(message, original=None)

    @property
    def is_lasting(self) -> bool:
        """Whether memory may be derived from it: it is not erased, and does not expire."""
        return not self.erased and self.expires_at is None

    @property
    def is_of_bot(self) -> bool:
        """Whether a program wrote it, by its metadata: `{"bot": true}`. Search finds it, but there are no facts or
        digests about a bot."""
        return self.metadata.get("bot") is True

    def is_shown_at(self, now: datetime) -> bool:
        """Whether it is neither erased nor expired at this time."""
        return not self.erased and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One thread of messages: a chat with one `user`, or a channel with many people (`user` is None).

    `turns` is the number of the last message, and `head` is the link (hash) of the last message: they show if the last
    messages are missing. `changes` and `changes_head` do the same for the changes made to the conversation.
    `last_message_at` is when the newest message was said; in an import, this can be long before `changed_at`. In a
    list, each conversation has a `title`: the title in the metadata of its first message, or else the title of its
    first topic.
    """

    space: str
    id: str
    user: str | None
    created_at: datetime
    changed_at: datetime
    turns: int = 0
    head: bytes = field(default=b"", repr=False)
    changes: int = 0
    changes_head: bytes = field(default=b"", repr=False)
    last_message_at: datetime | None = None
    title: str = field(default="", compare=False)

    @property
    def cursor(self) -> str:
        """Its place in the list of conversations. Give it to `conversations` as `after` to get those that follow."""
        return f"{to_microseconds(self.last_message_at or EPOCH)}.{self.id}"


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did: the message in the log, and whether the message was new.

    `kept` is the message's `kept`. If the message was removed from the log earlier, it is not stored again, and
    `kept` is "erased". If the message is only buffered in memory, `degraded` says why.
    """

    message: Message
    new: bool
    kept: Kept = "new"
    degraded: Degraded | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.new and self.kept == "new":  # an older server says no more than that
            object.__setattr__(self, "kept", "known")


@dataclass(frozen=True, slots=True)
class Record:
    """One message of an imported file.

    `user` is the owner of the conversation if it is a chat with one person, None if it is a channel. `where` says
    where in the file the message is, for a person; `position` is how many bytes had been read, for a progress bar.
    `space` is the one the file names, if it names one: which space the message goes to is the caller's choice.
    `about` is set if the text is no talk but what another memory knew of that person: an import remembers it.
    """

    conversation: str
    user: str | None
    draft: Draft
    where: str
    position: int = 0
    space: str | None = None
    about: str | None = None


@dataclass(frozen=True, slots=True)
class BadRecord:
    """One place in an imported file that could not be read, with the reason."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Which messages are meant. Nothing crosses a space; None means "any". `expired_by` is a time by which they have
    expired. With `marked`, only those in which secrets are marked."""

    space: str
    user: str | None = None
    author: str | None = None
    conversation: str | None = None
    role: Role | None = None
    after: datetime | None = None
    before: datetime | None = None
    expired_by: datetime | None = None
    marked: Literal[True] | None = None

    @property
    def scope(self) -> Filter:
        """The messages among which it is searched: all of a user, of a conversation (as of a channel), or of a
        space."""
        if self.user is not None or self.conversation is None:
            return Filter(self.space, self.user)
        return Filter(self.space, conversation=self.conversation)

    @property
    def is_unrestricted(self) -> bool:
        """Whether it means all messages of its scope."""
        restrictions = (self.author, self.role, self.after, self.before, self.expired_by, self.marked)
        is_part_of_user = self.user is not None and self.conversation is not None
        return restrictions == (None,) * len(restrictions) and not is_part_of_user


@dataclass(frozen=True, slots=True)
class Hit:
    """A message or fact that search found, with its score and the parts of the score.

    For a fact (`kind` is "fact"), `message` is the newest message that the fact comes from. The score orders the hits
    of one search. `relevance`, from 0 to 1, is comparable between searches and memories: from 0.5 on, a hit is better
    than the best hit that an unrelated query gets by chance.
    """

    message: Message
    score: float
    parts: Mapping[str, float]
    relevance: float = 1.0
    kind: HitKind = "message"
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in the log, with its place."""

    space: str
    conversation: str
    turn: int
    problem: str

    def __str__(self) -> str:
        return f"{self.space}/{self.conversation} turn {self.turn}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found. `root` is a hash of all conversations: write it down outside the store, to prove later that
    nothing was changed."""

    conversations: int
    messages: int
    erased: int
    faults: tuple[Fault, ...]
    root: str

    @property
    def ok(self) -> bool:
        return not self.faults


@dataclass(frozen=True, slots=True)
class Expired:
    """How much data of one kind has expired, because it is older than `before`. `waiting` counts data that is removed
    only after every view (derived data) has processed it."""

    kind: str
    before: datetime
    count: int
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Retained:
    """What `retain` removed, or on a dry run would remove, of each kind of data that is not kept for ever. `left` is as
    in `Erasure`."""

    at: datetime
    dry_run: bool
    expired: tuple[Expired, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How much has expired, of all kinds together."""
        return sum(entry.count for entry in self.expired)


@dataclass(frozen=True, slots=True)
class Erasure:
    """What `erase` removed. An erasure does not name the erased person.

    `left` says what the store's files may still contain of the removed data, because other processes were reading, and
    which command removes it.
    """

    id: str
    space: str
    at: datetime
    messages: int
    conversations: int
    entries: int
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages for one conversation, in order.

    everword calls `check` with the messages to add, one item for each draft; if `check` raises an error, nothing is
    stored. `on_edit` says what happens if a message is already stored with a different text: with "version", the new
    text becomes a version of the message, made by `by`; with "refuse", the stored text stays.
    """

    space: str
    conversation: str
    user: str | None
    drafts: Sequence[Draft]
    check: Callable[[list[Added]], None] | None = field(default=None, compare=False, repr=False)
    on_edit: OnEdit = "refuse"
    by: str = "program"


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object that is stored under a key in a namespace. `user` is the document's owner, if it has one. Search
    sets `score`. The document is hidden from `expires_at` on, if this time is set."""

    space: str
    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any] = field(hash=False)
    user: str | None
    created_at: datetime
    updated_at: datetime
    score: float | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A document to store or, without a `value`, to remove. A stored document replaces the document under the same key.

    Search compares queries with `texts` or, by default, with all texts in the value; if `texts` is empty, search by
    meaning does not rank the document. `expires_at` is a time, or a time span from now: from then on, the document is
    hidden.
    """

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any] | None = field(hash=False)
    user: str | None = None
    texts: tuple[str, ...] | None = None
    expires_at: datetime | timedelta | None = None


def notes_key(metadata: Mapping[str, Any]) -> str:
    """The key under which this metadata has notes, or would get them."""
    return next((key for key in (NOTES, *OLD_NOTES) if key in metadata), NOTES)


def own_notes(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The notes in this metadata; none if there are none, or if a caller gave something else under that key."""
    notes = metadata.get(notes_key(metadata)) if metadata else None
    return notes if isinstance(notes, Mapping) else {}


ChangeKind = Literal["edit", "move"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@dataclass(frozen=True, slots=True)
class LogChange:
    """One change of a conversation: the number it has there, what it changed, when and by whom (the id of a key, or
    "program").

    An edit is of one `turn`, and `before` and `after` are the message's content and metadata. A move is of the whole
    conversation (`turn` is 0), and they are the names: of the conversation, of its owner, of a person; `before` says of
    which turns the person was the user (`owned`) and the author (`written`), and `after` of which move it is a part. A
    change whose message or person was erased keeps its place and its seal, and nothing that was said.
    """

    space: str
    conversation: str
    number: int
    kind: ChangeKind
    turn: int
    at: datetime
    by: str
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    erased: bool = False
    seal: Seal = field(default=Seal(b"", b"", b""), repr=False, compare=False)


MoveKind = Literal["move", "merge", "undo"]


@dataclass(frozen=True, slots=True)
class Move:
    """What `move_conversation`, `merge_users` or `undo_move` did, or on a dry run would do.

    Messages of `user` became messages of `into`; both are None if a conversation was only renamed. `conversations` has
    the old name of each changed conversation, with its new name. `moved` says how many messages, facts, statements,
    names and documents moved. To reverse the move, pass `id` to `undo_move`; `id` is empty on a dry run, or if nothing
    had to change.
    """

    id: str
    space: str
    at: datetime
    kind: MoveKind
    dry_run: bool
    user: str | None
    into: str | None
    conversations: Mapping[str, str]
    moved: Mapping[str, int]


RemovalKind = Literal["erase", "delete", "retention", "move", "merge", "undo", "redact"]
REMOVAL_KINDS: tuple[RemovalKind, ...] = get_args(RemovalKind)


@dataclass(frozen=True, slots=True)
class Deletion:
    """What `delete` removed, or on a dry run would remove.

    `conversations` says how many messages of each conversation. `views` says how much data of each view was derived
    from these messages: this data is removed, and made again from the messages that are left. `left` is as in
    `Erasure`. `id` is empty on a dry run.
    """

    id: str
    space: str
    at: datetime
    dry_run: bool
    messages: int
    conversations: Mapping[str, int]
    views: Mapping[str, int]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Redaction:
    """What `redact` replaced by placeholders, or on a dry run would replace.

    `messages` says how many messages contained secrets, `conversations` how many messages of each conversation, and
    `kinds` how many messages for each kind of secret. `left` is as in `Erasure`. `id` is empty if nothing was replaced.
    """

    id: str
    space: str
    at: datetime
    dry_run: bool
    messages: int
    conversations: Mapping[str, int]
    kinds: Mapping[str, int]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One removal, move or merge: who made it (the id of a key, or "program"), when, of which kind, and how many items.

    `what` is "messages", "conversation" (the number counts its messages), or a kind of data that expired. An audit line
    does not say what the removed messages said or who wrote them.
    """

    space: str
    id: str
    at: datetime
    kind: RemovalKind
    by: str
    what: str
    count: int
