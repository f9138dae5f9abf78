"""The interfaces that the engine needs from outside: a store, models, an embedder, a tokenizer, a clock.

A store is synchronous and a transaction is a function: `store.write(fn)` runs `fn(tx)` and may run it again if
the database was busy, so `fn` must have no other effects. It cannot await, so no transaction is ever open
across a call to a model. The operations of `Tx` are few and simple; the engine combines them.

A search asks a store for passages: where words occur, how much there is, and what ranking needs of each. Products of
vectors are computed in one way everywhere: what is compared in memory scores as in a store.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from everword.errors import DamagedMessage, StoreError
from everword.model import ChatMessage, Conversation, Entry, Erasure, Filter, Message, SetAside, Stats, ViewState
from everword.model.views import UNKNOWN_TRAITS
from everword.versioned_cache import WHOLE_SPACE as WHOLE_SPACE
from everword.versioned_cache import Cache
from everword.versioned_cache import Scope as Scope

Vectors = NDArray[np.float32]
FORMER_EMBEDDER = "former embedder"  # the note that names who made the vectors before, while they are made anew
AT_ONCE = 32  # vectors that are multiplied in one call


@dataclass(frozen=True, slots=True)
class Posting:
    """Where one word of a query occurs: the newest passages that have it, and how many passages in scope do."""

    docs: Sequence[int] | NDArray[np.int64]
    frequency: int


NEVER = (1 << 63) - 1
"""When a passage expires that does not."""


class PassageBlock(NamedTuple):
    """Passages of a scope in columns, in the order of their docs. `terms` are those of each passage on a line of its
    own, with spaces between them, those of its space, user and conversation first; times are in microseconds since
    1970, `NEVER` where a passage does not expire; `traits` are what ranking has to know of the texts of messages."""

    docs: NDArray[np.int64]
    times: NDArray[np.int64]
    lengths: NDArray[np.int64]
    turns: NDArray[np.int64]
    traits: NDArray[np.int64]
    expires: NDArray[np.int64]
    message_ids: Sequence[str]
    conversations: Sequence[str]
    roles: Sequence[str]
    authors: Sequence[str]
    languages: Sequence[str]
    terms: bytes


class ScopeState(NamedTuple):
    """How many passages a scope has; how often something was removed from the index of its space, and from all; how
    often passages were changed in another way than that; and which embedder made the vectors."""

    docs: int
    removed: int
    removals: int
    resets: int
    embedder: str | None = None

    @property
    def version(self) -> tuple[int, int, int]:
        """What is the same as long as the passages are. A later one is greater."""
        return self.resets, self.removed, self.docs


class PassageCandidate(NamedTuple):
    """An indexed passage and what ranking needs of it: how often each word of the query occurs in it, its place and
    author, and its terms, with spaces between them."""

    doc: int
    message_id: str
    time: datetime
    length: int
    counts: tuple[int, ...]
    conversation: str = ""
    turn: int = 0
    role: str = "user"
    author: str = ""
    terms: str = ""
    traits: int = UNKNOWN_TRAITS


@dataclass(frozen=True, slots=True)
class Tally:
    """How much is indexed for a user (or a whole space): passages, words, and languages, the most frequent first."""

    docs: int
    words: int
    languages: tuple[str, ...]


def products(vectors: Vectors, other: Vectors) -> Vectors:
    """The product of each vector with another. So many at a time: for more the library starts threads, which takes
    longer than the work; and always as many, so that a product does not depend on those computed with it."""
    count, width = vectors.shape
    if count < AT_ONCE:
        block = np.zeros((AT_ONCE, width), np.float32)
        block[:count] = vectors
        return np.asarray(np.matmul(block, other)[:count])
    whole = count - count % AT_ONCE
    results = np.empty(count, np.float32)
    np.matmul(vectors[:whole].reshape(-1, AT_ONCE, width), other, out=results[:whole].reshape(-1, AT_ONCE))
    if whole < count:
        results[-AT_ONCE:] = np.matmul(vectors[-AT_ONCE:], other)
    return results


T = TypeVar("T")
ConversationKey = tuple[str, str]  # a space and a conversation in it
Work = Callable[["Tx"], T]
"""What is done in one transaction: it may run more than once, so it must have no other effects."""
OnDamagedMessage = Callable[[DamagedMessage], None]
"""What is called with the error of a message that cannot be read."""
OnDamagedRow = Callable[[StoreError, Mapping[str, Any]], None]
"""The same for a row of any table, with the values of it that can be read."""


def by_space(places: Iterable[ConversationKey]) -> dict[str, list[str]]:
    """The conversations of each space, both in order."""
    conversations: dict[str, list[str]] = {}
    for space, conversation in sorted(places):
        conversations.setdefault(space, []).append(conversation)
    return conversations


@dataclass(frozen=True, slots=True)
class UpTo:
    """In a comparison with a column: it is this or less."""

    end: Any


@dataclass(frozen=True, slots=True)
class Lag:
    """A conversation whose view is behind its log: the view has yet to process messages `done + 1` to `turns`."""

    space: str
    conversation: str
    done: int
    turns: int


VERSION_NOTE = "version of "
"""The beginning of the names of notes that a store makes of its own tables; a copy of the store makes others."""
STAND_IN = "offline for now: "
"""The beginning of the error of a view that used a built-in writer in place of a model and will ask the model again."""


class SearchIndex(Protocol):
    """The index as a transaction sees it: passages with their terms and vectors. What a search asks of it, and what
    the view that fills it writes."""

    def put_entries(self, entries: Sequence[Entry]) -> None: ...

    def replace_vectors(self, space: str, conversation: str, vecs: Mapping[tuple[int, int], Vectors]) -> None:
        """Put other vectors in the place of those of the passages at these turns and parts; of one that is not there,
        nothing."""

    def drop_vectors(self) -> None:
        """Remove all vectors; the passages stay, and are found by their words."""

    def note_reset(self) -> None:
        """Have every copy of the index in memory read again."""

    def tally(self, space: str, user: str | None, conversation: str | None = None) -> Tally:
        """How much there is of a user, of a conversation (without a user), or of a space."""

    def postings(self, where: Filter, groups: Sequence[Sequence[str]], limit: int) -> list[Posting]:
        """For each group of alternative terms: the newest `limit` passages in scope that have one of them, newest
        first, and how many passages of the filter's scope do."""

    def candidates(self, where: Filter, docs: Sequence[int], groups: Sequence[Sequence[str]]) -> list[PassageCandidate]:
        """Those of these passages that are in scope, with the counts of each group."""

    def passages_at(
        self, where: Filter, places: Sequence[tuple[str, int]], groups: Sequence[Sequence[str]]
    ) -> list[PassageCandidate]:
        """The passages in scope of the messages at these places (conversation and turn)."""

    def nearest(self, where: Filter, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        """The passages in scope with the highest cosine, best first."""

    def cosines(self, where: Filter, vector: Vectors, docs: Sequence[int]) -> dict[int, float]: ...

    def expired_docs(self, space: str, now: datetime) -> list[int]:
        """The passages of a space whose messages have expired and are not removed yet."""

    def scope_state(self, scope: Filter) -> ScopeState:
        """How much a scope has (`Filter.scope`), and what tells whether it has changed."""

    def docs_upto(self, scope: Filter, doc: int) -> NDArray[np.int64]:
        """The passages of a scope up to this one, in order."""

    def passages_after(self, scope: Filter, doc: int, limit: int) -> PassageBlock:
        """The passages of a scope after this one, at most so many."""

    def vectors_after(self, scope: Filter, doc: int, upto: int) -> tuple[NDArray[np.int64], Vectors]:
        """The unit vectors of the passages after one and up to another, in order, and their passages."""

    def vectors_of(self, space: str, conversation: str, first: int, last: int) -> dict[int, Vectors]:
        """By turn, the vector of each message that has one, of its beginning if it is long."""


class Tx(Protocol):
    """One transaction. Times are aware UTC; every id is already checked."""

    @property
    def index(self) -> SearchIndex: ...

    cache: Cache
    """What was made of rows: `tx.cache.get(tx, scope, name, make)`. A transaction that writes finds nothing in it, and
    puts nothing there."""

    # the log
    def lock_conversation(self, fresh: Conversation) -> Conversation:
        """The conversation with the id of `fresh`, created if there is none; locked until the transaction ends."""

    def conversation(self, space: str, id: str) -> Conversation | None: ...

    def conversations(
        self,
        space: str | None = None,
        user: str | None = None,
        after: tuple[str, str] = ("", ""),
        limit: int = 1000,
        recent: bool = False,
        before: tuple[datetime, str] | None = None,
    ) -> list[Conversation]:
        """Conversations in order of (space, id), those after `after`. With `recent`, those of a space from which not
        everything was erased, the one with the newest message first (and of one moment in reverse order of id); those
        after the place `before` in that order: the time of a message, and an id."""

    def save_conversation(self, conversation: Conversation, new_messages: Sequence[Message] = ()) -> None:
        """Save a conversation, with messages that were added at its end."""

    def find_messages(
        self,
        space: str,
        *,
        ids: Iterable[str] = (),
        conversation: str | None = None,
        platform_ids: Iterable[str] = (),
        damaged: OnDamagedMessage | None = None,
    ) -> list[Message]:
        """The messages with one of these ids, or (in that conversation) one of these platform ids. One that cannot be
        read raises DamagedMessage; with `damaged`, that is called with the error, and the message is left out."""

    def messages(
        self,
        where: Filter,
        *,
        after: tuple[str, int] = ("", 0),
        upto: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        among: Sequence[str] = (),
        turns: Sequence[int] = (),
        damaged: OnDamagedMessage | None = None,
    ) -> list[Message]:
        """Messages in order of conversation and turn, those after `after` and up to turn `upto`; at most `limit`
        of them, the first, or with `newest` the last. With `among`, of these conversations, and each of them after the
        turn of `after`. With `turns`, those at one of these turns. One that cannot be read raises DamagedMessage; with
        `damaged`, that is called with the error, and an erased message takes its place."""

    def count_messages(
        self, by: Literal["day", "erasure"], space: str | None = None, since: datetime | None = None
    ) -> dict[Any, int]:
        """How many messages of a space that are not erased were said on each day (UTC) since a time; or for each
        erasure id found on a tombstone, the number of tombstones."""

    def erase(self, erasure: Erasure, tombstones: Sequence[Message], *, keep: Collection[str] = ()) -> int:
        """Replace messages by their tombstones and drop what was derived from them. Of the views in `keep`, only what
        they hold of single messages is dropped. Returns how many index entries were dropped."""

    def rewrite_messages(self, messages: Sequence[Message]) -> None:
        """Replace what messages say and whose they are, and drop what was derived from them; their seals stay."""

    def move_messages(self, moved: Sequence[Message], *, keep: Collection[str] = ()) -> None:
        """Replace whose messages are, and their metadata; their seals stay. The index gets the new names, and views of
        their conversations that may hold the old ones are dropped, except those in `keep`."""

    def rename_conversation(self, space: str, old: str, new: str) -> None:
        """Rename a conversation, in every table; nothing is dropped. There must be none of the new name."""

    # views
    def lagging(
        self,
        view: str,
        now: datetime,
        *,
        since: datetime | None = None,
        limit: int = 100,
        besides: Collection[str] = (),
        space: str | None = None,
    ) -> list[Lag]:
        """Conversations whose view is behind and free to be claimed, the longest waiting first; with `since`, only
        those changed since, with a `space` only there. With `besides`, those of other spaces: the first of each before
        the second of any."""

    def unseen(
        self,
        view: str,
        now: datetime,
        *,
        space: str,
        since: datetime,
        user: str | None = None,
        conversation: str | None = None,
    ) -> bool:
        """Whether a view has yet to process something of a space that changed since then, even if a worker is busy with
        it; what waits for a retry does not count. With a `user` only in their chats and in channels, with a
        `conversation` only there."""

    def claim(
        self, view: str, places: Sequence[ConversationKey], holder: str, now: datetime, until: datetime
    ) -> frozenset[ConversationKey]:
        """Take or renew the leases on a view of some conversations, unless another holds one or its retry is not due;
        returns those that the holder has now."""

    def held_leases(self, view: str, places: Sequence[ConversationKey], holder: str) -> frozenset[ConversationKey]:
        """Those of these leases that the holder still has; they are locked until the transaction ends."""

    def release(
        self,
        view: str,
        places: Sequence[ConversationKey],
        holder: str,
        *,
        error: str | None = None,
        retry_at: datetime | None = None,
    ) -> None:
        """Release leases; with an error, count the failure and let nobody claim them until `retry_at`."""

    def view_state(self, view: str, now: datetime, space: str | None) -> ViewState:
        """How far a view is behind the log, and the state of its work."""

    def set_aside_due(
        self, view: str, now: datetime, limit: int, *, changed: bool = False, space: str | None = None
    ) -> list[SetAside]:
        """Messages this view has set aside whose retry is due: the longest waiting of each space, then the next of
        each. With `changed`, only those that did not fail and are to be read again because they were changed; with a
        `space`, only its own."""

    def reset_view(self, view: str, space: str | None = None, conversation: str | None = None) -> None:
        """Delete a view and set its cursors to zero, so that it is built again. With `conversation`, only for a view
        whose tables all have a conversation column."""

    # the store itself
    def note(self, key: str) -> str | None:
        """A note that the store keeps about itself, such as which embedder made its vectors."""

    def set_note(self, key: str, value: str | None) -> None: ...

    def stats(self, now: datetime, space: str | None = None) -> Stats: ...

    def rows(
        self,
        table: str,
        after: Mapping[str, Any] | None = None,
        limit: int | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        newest: bool = False,
        columns: tuple[str, ...] = (),
        damaged: OnDamagedRow | None = None,
    ) -> list[Mapping[str, Any]]:
        """Rows of a table in order of its primary key, or with `newest` in reverse: those with the values of `where` (a
        tuple means any of its values, `UpTo` at most a value), after the row `after`; with `columns`, no others are
        read. A row that cannot be read raises an error that names its key; with `damaged`, every value is checked, and
        that is called with the error and the readable values."""

    def near(
        self,
        table: str,
        vector: Vectors,
        limit: int,
        *,
        where: Mapping[str, Any],
    ) -> list[tuple[Mapping[str, Any], float]]:
        """The keys of the rows with vectors that have the values of `where` (a space, and one of those whose rows they
        are), by highest cosine, best first. For small views: all their vectors are compared."""

    def version(self, scope: Scope) -> str | None:
        """The version of the rows of a scope: as long as it is the same, nobody has changed them. None in a transaction
        that writes, and for a table of which the store notes no versions."""

    def put(self, table: str, rows: Sequence[Mapping[str, Any]], add: Sequence[str] = ()) -> None:
        """Insert or replace rows by primary key; the columns in `add` are added to the values that are there."""

    def remove(self, table: str, where: Mapping[str, Any]) -> int:
        """Delete the rows with these values from a derived table; returns how many there were."""

    def lock(self, name: str, space: str = "", *name_parts: str) -> None:
        """Wait for this lock, of a space if one is given, and hold it until the transaction ends."""

    def load(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None: ...


class Store(Protocol):
    """Where the log and its views are kept."""

    @property
    def name(self) -> str:
        """What to call this store in messages; holds no secret."""

    @property
    def searches(self) -> int:
        """How many searches are worth running at a time: one if the work is done in this process, where one thread at a
        time runs Python; more if a server does much of it."""

    @property
    def reads_at_once(self) -> bool:
        """Whether a read waits for nobody: neither for what is being written nor for a network."""

    def read(self, fn: Work[T]) -> T:
        """Run `fn` on one consistent snapshot."""

    def write(self, fn: Work[T]) -> T:
        """Run `fn` in one transaction: all of it is committed, or nothing. May run `fn` again on a busy database."""

    @property
    def writable(self) -> bool:
        """Whether anything can be written: not to a file or a file system that is read-only."""

    def scrub(self, full: bool = False) -> tuple[str, ...]:
        """After an erasure: clear removed rows from the files, as far as that does not block others for long; with
        `full`, also where it takes longer. Returns lines that say what is still in files and which command clears it;
        none when nothing is left."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model: the messages, and what the answer must be like.

    With a `schema` (JSON Schema of an object) the answer must be JSON of that shape; a server that cannot guarantee it
    is asked in words, and the caller checks the answer. `thinking_tokens` may be used beyond `max_tokens`, by models
    that think before they answer; a server that allows no such limit is asked without them. Requests with the same
    `cache_key` begin alike: a server that can may keep what it has computed of them.
    """

    messages: Sequence[ChatMessage]
    temperature: float | None = None
    max_tokens: int | None = None
    schema: Mapping[str, Any] | None = None
    thinking_tokens: int = 0
    cache_key: str = ""

    @property
    def token_limit(self) -> int | None:
        """The most tokens of the answer, with those for thinking."""
        return None if self.max_tokens is None else self.max_tokens + self.thinking_tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer and its cost. `complete` is False if a limit or a filter cut it off; `finish` is the server's
    word for why the answer ended, if it gave one ("stop", "length")."""

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    complete: bool = True
    finish: str | None = field(default=None, compare=False)


class LLM(Protocol):
    """A chat model. Every failure is a ModelError."""

    @property
    def name(self) -> str:
        """What to call it in messages; holds no secret."""

    async def complete(self, request: Request) -> Completion: ...

    def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        """The answer piece by piece as it is made, and at the end the complete answer with its cost."""

    async def close(self) -> None: ...


@runtime_checkable
class Relay(Protocol):
    """A chat model that takes and returns bodies of OpenAI's API. Every failure is a ModelError."""

    @property
    def name(self) -> str: ...

    def relay(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The chunks of the answer to a request; if the request does not ask for a stream, the whole answer as one."""


ForeignApi = Literal["responses", "messages"]
"""OpenAI's Responses API, and Anthropic's Messages API."""
LAST_EVENTS = ("message_stop", "response.completed", "response.incomplete", "response.failed")
"""The types of the events that end an answer of these."""


@runtime_checkable
class Forwarder(Protocol):
    """A model at a server that speaks other APIs too, which takes requests of those as they are."""

    @property
    def apis(self) -> frozenset[str]: ...

    def forward(
        self, api: ForeignApi, body: Mapping[str, Any], headers: Mapping[str, str]
    ) -> AsyncIterator[dict[str, Any]]:
        """The events of the answer as that API sends them; without a stream, the whole answer as one."""


class Models(Protocol):
    """The models of one role, "chat" or "memory": for each task one model, metered under the task's name."""

    @property
    def names(self) -> tuple[str, ...]:
        """The models' names, in the order in which they are asked; empty if there is no model."""

    def for_task(self, task: str) -> LLM: ...

    def relay(self, task: str, model: str) -> Relay:
        """The same for bodies of OpenAI's API: the model of that name, or else the one that is asked first."""

    def forwarder(self, task: str, model: str, api: ForeignApi, headers: Mapping[str, str]) -> Relay | None:
        """The same for bodies of another API, if the model's server speaks it."""

    async def close(self) -> None: ...


class Call(Protocol):
    """One call of a model: for whom, what it cost, and how it ended: "ok", "cut_off", "cancelled" or the name of
    an error."""

    @property
    def role(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def tokens_in(self) -> int: ...
    @property
    def tokens_out(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def outcome(self) -> str: ...


class Telemetry(Protocol):
    """Receives counts and timings. It must not block or fail, and it never sees content: every text given to it is the
    program's own, such as the name of a task."""

    def call(self, call: Call) -> None:
        """A model was called."""

    def count(self, what: str, *, kind: str, outcome: str, amount: int = 1, seconds: float | None = None) -> None:
        """Something else happened, so often, and took so long: `count("cache", kind="merge", outcome="hit")`."""


class Embedder(Protocol):
    """Turns text into vectors of length one. The same text always gives the same vector."""

    @property
    def identity(self) -> str:
        """The name of the embedder, stored with its vectors, so that vectors of two embedders are never mixed."""

    @property
    def width(self) -> int: ...

    async def ready(self) -> None:
        """Find out identity and width, if need be by a request. Before that they may raise EmbedderError."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row a text, each of length one (all zeros for a text with nothing in it)."""

    async def close(self) -> None: ...


class Tokenizer(Protocol):
    """Counts tokens as a model does."""

    @property
    def name(self) -> str: ...

    @property
    def exact(self) -> bool: ...

    def count(self, text: str) -> int: ...


class Clock(Protocol):
    """The current time, aware, in UTC."""

    def now(self) -> datetime: ...
