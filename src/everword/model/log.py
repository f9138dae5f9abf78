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

    `author` is who wrote it. `user` is whose memory it belongs to: in a chat with one person it is that person, also
    for replies. `time` is when it was said; now, if none is given. `platform_id` is the id that another system gave it.
    A message whose `platform_id` or `id` the conversation already has is not stored again. It is shown until
    `expires_at`: a moment, or a span of time from now. `reply_to` is the message it answers, by its id or its platform
    id.
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
    """Proves what a message says: `digest` covers the message and its salt, `link` covers the digest and the link
    before it."""

    salt: bytes
    digest: bytes
    link: bytes


@dataclass(frozen=True, slots=True)
class Version:
    """What a message said before it was edited: from when until when, and who replaced it (the id of a key, or
    "program")."""

    content: str
    metadata: Mapping[str, Any]
    since: datetime
    until: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Degraded:
    """The store takes no messages at present. `held` says how many are held in memory, `since` when, and `reason` why.

    When the store takes messages again, they are written in order, each once. Until then their turns may change, and
    the messages are lost if the process dies. When `is_over`, `held` is how many were written.
    """

    held: int
    since: datetime
    reason: str
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message, as the log keeps it. Of an erased message only its place and its seal stay.

    A message that expires is shown until `expires_at`, and nothing is derived from it that would outlive it. `reply_to`
    is the message of its conversation that it answers: the id or platform id that was given with it.

    An edited message is its newest version; `versions` are the older ones, oldest first, if you asked for them. `kept`
    says what became of a message that was just added. It is "new". It was "known" with this text. It was "edited", so
    this is a new version. Its text was "refused", since the stored message has another one. Or it had been "erased"
    from the log, and stays out.

    A message that could not be written yet is `degraded`: it is held in memory, and its turn may change when it is
    written.

    `secrets` marks the secrets in its content and metadata, and the placeholders for them. A store gives messages with
    placeholders, so that nothing that is made of them contains a secret. `as_said` is the message as it was said, for
    its own conversation.
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
    """One thread of messages: a chat with one `user`, or a channel with many (`user` is None).

    `turns` is the number of the last message, and `head` is its link: they show when the last messages are missing.
    `changes` and `changes_head` are the same for the changes made to it. `last_message_at` is when its newest message
    was said: in an import, long before `changed_at`. In a list, each conversation has a `title`: the one in the
    metadata of its first message, or that of its first topic.
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
    """What `add` did: the message as it is in the log, and whether it was new or known already. `kept` is that of the
    message. If the message was removed from the log before, it is not stored again: it is `erased`. If it is only held
    in memory, it is `degraded`."""

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
    """One place in an imported file that could not be read, and why."""

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
    """A message that search found, its score, and the parts the score is made of; or a fact.

    For a fact (`kind` is "fact"), `message` is the newest message that it comes from. The score orders the hits of one
    search. `relevance`, from 0 to 1, means the same in every memory and for every query: from 0.5 on, a hit is better
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
    """One thing wrong with the log, named so that it can be found."""

    space: str
    conversation: str
    turn: int
    problem: str

    def __str__(self) -> str:
        return f"{self.space}/{self.conversation} turn {self.turn}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found. `root` covers every conversation: note it elsewhere, to prove later that nothing was
    changed."""

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
    """What has expired of one kind of memory: what is older than `before`. `waiting` counts what goes only when every
    view has read it."""

    kind: str
    before: datetime
    count: int
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Retained:
    """What `retain` removed, or on a dry run would remove, of each kind that is not kept for ever. `left` is as in
    `Erasure`."""

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
    """What `erase` removed. The person is not named here: that is the point.

    `left` says what the store's files may still contain of it, because other processes were reading, and which command
    removes that.
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
    """Messages for one conversation, in order. `check` is called with what is about to be added, one item for each
    draft; if it raises, the transaction is rolled back. `on_edit` says what happens to another text for a known
    message: with "version" it becomes a version of the message, made by `by`; with "refuse" the stored text stays."""

    space: str
    conversation: str
    user: str | None
    drafts: Sequence[Draft]
    check: Callable[[list[Added]], None] | None = field(default=None, compare=False, repr=False)
    on_edit: OnEdit = "refuse"
    by: str = "program"


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object under a key in a namespace. `user` is its owner, if it has one. `score` is set by a search. It is
    gone at `expires_at`, if that is set."""

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
    """A document to store, in place of the one that was there; or, without a `value`, to remove.

    Search compares with `texts`, in place of all texts of the value; if they are empty, no search by meaning ranks it.
    It is gone at `expires_at`: a moment, or a span of time from now.
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

    Messages of `user` became those of `into`; both are None if a conversation was only renamed. `conversations` has the
    old name of each changed conversation, with its present name. `moved` says how many messages, facts, statements,
    names and documents went along. `id` is for `undo_move`; it is empty on a dry run, or if nothing had to change.
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

    `conversations` says how many messages of each conversation. `views` says how much of each view was derived from
    them: that goes, and is made anew from what is left. `left` is as in `Erasure`. `id` is empty on a dry run.
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
    """What `redact` replaced by placeholders, or on a dry run would replace. `messages` says in how many messages,
    `conversations` how many of each conversation, and `kinds` how many have each kind of secret. `left` is as in
    `Erasure`. `id` is empty if nothing was replaced."""

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
    """One removal: by whom (the id of a key, or "program"), when, of what kind, and how many. Moves and merges have a
    line too, although nothing goes.

    `what` is "messages", "conversation" (its messages are counted), or a kind of memory that expired. What was said,
    and by whom, is not kept: that was removed.
    """

    space: str
    id: str
    at: datetime
    kind: RemovalKind
    by: str
    what: str
    count: int
