"""The tables, defined once for every database. Migrations create them; a test compares the two.

Every primary key begins with the space, so that the same schema can be used on a sharded PostgreSQL. The one
exception is `meta`, which is about the store itself. `conversations`, `messages`, `changes` and `erasures` are the log;
`cursors` and `leases` say how far each view is and who works on it, `set_aside` which messages a view skipped because
it failed on them; `audit` has a line for each removal and move; `receipts` what the models were shown for the last
replies; all other tables are views, and can be dropped and rebuilt.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, MetaData, Table, Text

from everword.stores.columns import Blob, Instant, MarkList, Names, Object, SharedObject, Vector

metadata = MetaData()

meta = Table("meta", metadata, Column("key", Text, primary_key=True), Column("value", Text, nullable=False))

conversations = Table(
    "conversations",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("user_id", Text),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("head", Blob, nullable=False),
    Column("changes", Integer, nullable=False),
    Column("changes_head", Blob, nullable=False),
)

messages = Table(
    "messages",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("user_id", Text),
    Column("content", Text, nullable=False),
    Column("time", Instant, nullable=False),
    Column("platform_id", Text),
    Column("metadata", Object, nullable=False),
    Column("erasure", Text),
    Column("salt", Blob, nullable=False),
    Column("digest", Blob, nullable=False),
    Column("link", Blob, nullable=False),
    Column("expires_at", Instant),
    Column("secrets", MarkList),
)

changes = Table(
    "changes",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Column("by", Text, nullable=False),
    Column("before", Object, nullable=False),
    Column("after", Object, nullable=False),
    Column("erasure", Text),
    Column("salt", Blob, nullable=False),
    Column("digest", Blob, nullable=False),
    Column("link", Blob, nullable=False),
)

erasures = Table(
    "erasures",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("messages", Integer, nullable=False),
)

cursors = Table(
    "cursors",
    metadata,
    Column("space", Text, primary_key=True),
    Column("view", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, nullable=False),
)

leases = Table(
    "leases",
    metadata,
    Column("space", Text, primary_key=True),
    Column("view", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("holder", Text),
    Column("until", Instant),
    Column("failures", Integer, nullable=False),
    Column("retry_at", Instant),
    Column("error", Text),
)

set_aside = Table(
    "set_aside",
    metadata,
    Column("space", Text, primary_key=True),
    Column("view", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("retry_at", Instant),
    Column("error", Text, nullable=False),
)

entries = Table(
    "entries",
    metadata,
    Column("space", Text, primary_key=True),
    Column("doc", BigInteger, primary_key=True, autoincrement=False),
    Column("conversation", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("part", Integer, nullable=False),
    Column("message_id", Text, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("time", Instant, nullable=False),
    Column("language", Text, nullable=False),
    Column("length", Integer, nullable=False),
    Column("terms", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("expires_at", Instant),
    Column("traits", Integer, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("doc", BigInteger, primary_key=True, autoincrement=False),
    Column("vec", Vector, nullable=False),
)

tallies = Table(
    "tallies",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("language", Text, primary_key=True),
    Column("docs", Integer, nullable=False),
    Column("words", BigInteger, nullable=False),
)

tiers = Table(
    "tiers",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("tier1", Text, nullable=False),
    Column("tier2", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("required", Integer, nullable=False),
    Column("raised_at", Integer),
)

chunks = Table(
    "chunks",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("last", Integer, primary_key=True),
    Column("first", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("archived_at", Instant, nullable=False),
)

episodes = Table(
    "episodes",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("level", Integer, primary_key=True),
    Column("first", Integer, primary_key=True),
    Column("last", Integer, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("began", Instant, nullable=False),
    Column("ended", Instant, nullable=False),
    Column("summary", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("pending", Integer, nullable=False),
    Column("parent", Integer),
    Column("base", Text, nullable=False),
    Column("base_last", Integer, nullable=False),
    Column("vec", Vector),
    Column("extract", SharedObject, nullable=False),
)

facts = Table(
    "facts",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("category", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("importance", Float, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("recorded_at", Instant, nullable=False),
    Column("sources", Names, nullable=False),
    Column("subject", Text),
    Column("audience", Text),
    Column("active", Integer, nullable=False),
    Column("valid_from", Instant),
    Column("valid_to", Instant),
    Column("retired_at", Instant),
    Column("retired_by", Text),
    Column("also_heard_in", Names, nullable=False),
)

findings = Table(
    "findings",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("slot", Text, primary_key=True),
    Column("time", Instant, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("message_id", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("audience", Text),
    Column("found", Object, nullable=False),
)

statements = Table(
    "statements",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("audience", Text),
    Column("sources", Names, nullable=False),
    Column("active", Integer, nullable=False),
    Column("retired_at", Instant),
    Column("retired_by", Text),
    Column("expires_at", Instant),
)

people = Table(
    "people",
    metadata,
    Column("space", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("since", Instant, nullable=False),
    Column("seen", Instant),
)

spaces = Table(
    "spaces",
    metadata,
    Column("space", Text, primary_key=True),
    Column("time_zone", Text),
    Column("noted", Text),
    Column("version", Integer, nullable=False),
)

days = Table(
    "days",
    metadata,
    Column("space", Text, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("messages", Integer, nullable=False),
)

digests = Table(
    "digests",
    metadata,
    Column("space", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("variant", Text, primary_key=True),
    Column("text", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("made_at", Instant, nullable=False),
    Column("pending", Integer, nullable=False),
    Column("bucket", Text, nullable=False),
    Column("inputs", Text, nullable=False),
)

usage = Table(
    "usage",
    metadata,
    Column("space", Text, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("role", Text, primary_key=True),
    Column("task", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("outcome", Text, primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("milliseconds", BigInteger, nullable=False),
)

topics = Table(
    "topics",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("first", Integer, primary_key=True),
    Column("title", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("last_active_at", Instant, nullable=False),
    Column("centroid", Blob, nullable=False),
    Column("count", Integer, nullable=False),
    Column("accesses", Integer, nullable=False),
    Column("returns", Integer, nullable=False),
    Column("importance", Float, nullable=False),
    Column("ups", Integer, nullable=False),
    Column("downs", Integer, nullable=False),
    Column("tags", Names, nullable=False),
    Column("packed", Integer, nullable=False),
    Column("packed_upto", Integer, nullable=False),
    Column("opened", Integer),
    Column("active", Integer, nullable=False),
    Column("faded_at", Instant),
    Column("merged_into", Integer),
    Column("apart", Names, nullable=False),
    Column("pending", Integer, nullable=False),
    Column("words", Object, nullable=False),
)

topic_heads = Table(
    "topic_heads",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, nullable=False),
    Column("stamp", Text, nullable=False),
    Column("current", Integer),
    Column("recent", Blob, nullable=False),
)

topic_turns = Table(
    "topic_turns",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("turn", Integer, primary_key=True),
    Column("topic", Integer, nullable=False),
    Column("message_id", Text, nullable=False),
)

topic_packs = Table(
    "topic_packs",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("topic", Integer, primary_key=True),
    Column("last", Integer, primary_key=True),
    Column("messages", Integer, nullable=False),
    Column("packed", Blob, nullable=False),
)

topic_summaries = Table(
    "topic_summaries",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("topic", Integer, primary_key=True),
    Column("summary", Text, nullable=False),
    Column("upto", Integer, nullable=False),
    Column("base", Text, nullable=False),
    Column("base_upto", Integer, nullable=False),
    Column("extract", Object, nullable=False),
)

topic_notes = Table(
    "topic_notes",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("after", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("other", Integer),
    Column("text", Text, nullable=False),
    Column("told_at", Instant, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("space", Text, primary_key=True),
    Column("namespace", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("user_id", Text),
    Column("value", Object, nullable=False),
    Column("texts", Text),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("embedder", Text),
    Column("vecs", Blob),
    Column("expires_at", Instant),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("hash", Blob, nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Names, nullable=False),
    Column("user_id", Text),
    Column("rate", Integer),
    Column("body", Integer),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    Column("revoked_at", Instant),
    Column("expires_at", Instant),
    Column("maker", Text),
)

answers = Table(
    "answers",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("request", Blob, nullable=False),
    Column("at", Instant, nullable=False),
    Column("status", Integer),
    Column("body", Blob),
)

answer_bodies = Table(
    "answer_bodies",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("body", Blob, nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("space", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("what", Text, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("kind", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("count", BigInteger, nullable=False),
)

receipts = Table(
    "receipts",
    metadata,
    Column("space", Text, primary_key=True),
    Column("conversation", Text, primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("turn", Integer, nullable=False),
    Column("asked", Integer, nullable=False),
    Column("at", Instant, nullable=False),
    Column("receipt", Object, nullable=False),
)

LOG: tuple[Table, ...] = (conversations, messages, changes, erasures)
VIEW_TABLES: dict[str, tuple[Table, ...]] = {
    "index": (entries, vectors, tallies),
    "tiers": (tiers,),
    "window": (chunks, episodes),
    "episodes": (),
    "facts": (facts, findings),
    "digests": (days, digests),
    "topics": (topics, topic_heads, topic_turns, topic_packs, topic_summaries),
    "titles": (),
}
# Views that follow another view's cursor, and not the log itself.
FOLLOWS = {"window": "index", "episodes": "window", "topics": "index", "titles": "topics"}
# Views of a conversation that are rebuilt after something in it was erased.
AFRESH = ("window", "episodes", "digests", "topics", "titles")
# Tables of which something is cached, each with the columns that say whose a row is: each of these scopes has another
# version after a transaction that has changed it. To change the value of such a column, remove the row first.
VERSIONED = {facts.name: ("user_id",), episodes.name: ("conversation", "user_id")}
TABLES: dict[str, Table] = dict(metadata.tables)
