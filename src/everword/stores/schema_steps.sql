-- Numbered steps from an empty database to today's schema. A step that has been released never changes: a database
-- that has run it would not get the change. A test checks the text of each step. What stands under "-- sqlite" or
-- "-- postgresql" is for that database alone. A semicolon within a statement has a backslash before it; a statement
-- after "IF table.column:" runs only if there is such a column; words in braces are spelled by each database.

-- step 1: the log and the index
CREATE TABLE meta (key {key} NOT NULL PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE conversations (
    space {key} NOT NULL, id {key} NOT NULL, user_id {key},
    created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL,
    turns INTEGER NOT NULL, head {blob} NOT NULL,
    PRIMARY KEY (space, id));
CREATE INDEX conversations_user ON conversations (space, user_id);
CREATE INDEX conversations_changed ON conversations (changed_at);

CREATE TABLE messages (
    space {key} NOT NULL, conversation {key} NOT NULL, turn INTEGER NOT NULL,
    id {key} NOT NULL, role TEXT NOT NULL, author {key} NOT NULL, user_id {key},
    content TEXT NOT NULL, time BIGINT NOT NULL, platform_id {key}, metadata TEXT NOT NULL,
    erasure {key}, salt {blob} NOT NULL, digest {blob} NOT NULL, link {blob} NOT NULL,
    PRIMARY KEY (space, conversation, turn),
    FOREIGN KEY (space, conversation) REFERENCES conversations (space, id));
CREATE UNIQUE INDEX messages_id ON messages (space, id);
CREATE UNIQUE INDEX messages_platform ON messages (space, conversation, platform_id) WHERE platform_id IS NOT NULL;
CREATE INDEX messages_user ON messages (space, user_id);

CREATE TABLE erasures (
    space {key} NOT NULL, id {key} NOT NULL, at BIGINT NOT NULL, messages INTEGER NOT NULL,
    PRIMARY KEY (space, id));

CREATE TABLE cursors (
    space {key} NOT NULL, view {key} NOT NULL, conversation {key} NOT NULL, turn INTEGER NOT NULL,
    PRIMARY KEY (space, view, conversation));

CREATE TABLE leases (
    space {key} NOT NULL, view {key} NOT NULL, conversation {key} NOT NULL,
    holder TEXT, until BIGINT, failures INTEGER NOT NULL, retry_at BIGINT, error TEXT,
    PRIMARY KEY (space, view, conversation));

CREATE TABLE entries (
    space {key} NOT NULL, doc BIGINT NOT NULL,
    conversation {key} NOT NULL, turn INTEGER NOT NULL, part INTEGER NOT NULL, message_id {key} NOT NULL,
    user_id {key} NOT NULL, role TEXT NOT NULL, time BIGINT NOT NULL,
    language TEXT NOT NULL, length INTEGER NOT NULL, terms TEXT NOT NULL{tsv},
    PRIMARY KEY (space, doc));
CREATE UNIQUE INDEX entries_turn ON entries (space, conversation, turn, part);

CREATE TABLE vectors (
    space {key} NOT NULL, user_id {key} NOT NULL, doc BIGINT NOT NULL, vec {vector} NOT NULL,
    PRIMARY KEY (space, user_id, doc)){clustered};

CREATE TABLE tallies (
    space {key} NOT NULL, user_id {key} NOT NULL, language {key} NOT NULL,
    docs INTEGER NOT NULL, words BIGINT NOT NULL,
    PRIMARY KEY (space, user_id, language));
-- sqlite
-- The full text index holds our own terms: no positions, no stemming of its own. Triggers keep it equal to `entries`,
-- so that no code path can forget it.
CREATE VIRTUAL TABLE fulltext USING fts5(
    terms, content='', detail=none, columnsize=0, tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'");
CREATE TRIGGER entries_added AFTER INSERT ON entries BEGIN
    INSERT INTO fulltext (rowid, terms) VALUES (new.doc, new.terms)\; END;
CREATE TRIGGER entries_removed AFTER DELETE ON entries BEGIN
    INSERT INTO fulltext (fulltext, rowid, terms) VALUES ('delete', old.doc, old.terms)\; END;
-- postgresql
CREATE SEQUENCE docs;
CREATE INDEX entries_terms ON entries USING gin (tsv);

-- step 2: tiers and window
CREATE TABLE tiers (
    space {key} NOT NULL, conversation {key} NOT NULL, turn INTEGER NOT NULL,
    tier1 TEXT NOT NULL, tier2 TEXT NOT NULL, made_by TEXT NOT NULL,
    required INTEGER NOT NULL, raised_at INTEGER,
    PRIMARY KEY (space, conversation, turn));

CREATE TABLE chunks (
    space {key} NOT NULL, conversation {key} NOT NULL, last INTEGER NOT NULL, first INTEGER NOT NULL,
    reason TEXT NOT NULL, archived_at BIGINT NOT NULL,
    PRIMARY KEY (space, conversation, last));

CREATE TABLE usage (
    space {key} NOT NULL, day {key} NOT NULL, role {key} NOT NULL, task {key} NOT NULL, model {key} NOT NULL,
    outcome {key} NOT NULL, calls INTEGER NOT NULL, tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL,
    milliseconds BIGINT NOT NULL,
    PRIMARY KEY (space, day, role, task, model, outcome));

-- step 3: episodes
-- Chunks that left the windows before there were episodes leave them again, this time with a summary.
DELETE FROM chunks;
DELETE FROM cursors WHERE view = 'window';
DELETE FROM leases WHERE view = 'window';

CREATE TABLE episodes (
    space {key} NOT NULL, conversation {key} NOT NULL, level INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, user_id {key} NOT NULL, began BIGINT NOT NULL, ended BIGINT NOT NULL,
    summary TEXT NOT NULL, made_by TEXT NOT NULL, pending INTEGER NOT NULL, parent INTEGER,
    base TEXT NOT NULL, base_last INTEGER NOT NULL, vec {vector},
    PRIMARY KEY (space, conversation, level, first));
CREATE INDEX episodes_active ON episodes (space, user_id) WHERE parent IS NULL;
CREATE INDEX episodes_parent ON episodes (space, conversation, parent);
CREATE INDEX episodes_pending ON episodes (space, conversation) WHERE pending = 1;

-- step 4: facts, statements, people
CREATE TABLE facts (
    space {key} NOT NULL, user_id {key} NOT NULL, id {key} NOT NULL,
    category TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL, importance DOUBLE PRECISION NOT NULL,
    speaker {key} NOT NULL, conversation {key} NOT NULL, turn INTEGER NOT NULL,
    said_at BIGINT NOT NULL, recorded_at BIGINT NOT NULL, sources TEXT NOT NULL,
    subject TEXT, audience {key}, active INTEGER NOT NULL,
    valid_from BIGINT, valid_to BIGINT, retired_at BIGINT, retired_by {key},
    PRIMARY KEY (space, user_id, id));
CREATE INDEX facts_speaker ON facts (space, speaker);
CREATE INDEX facts_active ON facts (space, user_id) WHERE active = 1;

CREATE TABLE findings (
    space {key} NOT NULL, user_id {key} NOT NULL, slot {key} NOT NULL, time BIGINT NOT NULL,
    conversation {key} NOT NULL, turn INTEGER NOT NULL, number INTEGER NOT NULL,
    message_id {key} NOT NULL, author {key} NOT NULL, audience {key}, found TEXT NOT NULL,
    PRIMARY KEY (space, user_id, slot, time, conversation, turn, number));
CREATE INDEX findings_message ON findings (space, message_id);
CREATE INDEX findings_author ON findings (space, author);

CREATE TABLE statements (
    space {key} NOT NULL, user_id {key} NOT NULL, id {key} NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL,
    said_at BIGINT NOT NULL, speaker {key} NOT NULL, audience {key}, sources TEXT NOT NULL,
    active INTEGER NOT NULL, retired_at BIGINT, retired_by {key},
    PRIMARY KEY (space, user_id, id));
CREATE INDEX statements_speaker ON statements (space, speaker);

CREATE TABLE people (
    space {key} NOT NULL, user_id {key} NOT NULL, kind {key} NOT NULL, name {key} NOT NULL, since BIGINT NOT NULL,
    PRIMARY KEY (space, user_id, kind, name));

-- step 5: digests
CREATE TABLE spaces (
    space {key} NOT NULL PRIMARY KEY, time_zone TEXT, noted TEXT, version INTEGER NOT NULL);

CREATE TABLE days (
    space {key} NOT NULL, day {key} NOT NULL, conversation {key} NOT NULL, user_id {key} NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, messages INTEGER NOT NULL,
    PRIMARY KEY (space, day, conversation, user_id));
CREATE INDEX days_conversation ON days (space, conversation);
CREATE INDEX days_user ON days (space, user_id);

CREATE TABLE digests (
    space {key} NOT NULL, kind {key} NOT NULL, day {key} NOT NULL, user_id {key} NOT NULL, variant {key} NOT NULL,
    text TEXT NOT NULL, made_by TEXT NOT NULL, made_at BIGINT NOT NULL, pending INTEGER NOT NULL,
    bucket TEXT NOT NULL, inputs TEXT NOT NULL,
    PRIMARY KEY (space, kind, day, user_id, variant));
CREATE INDEX digests_user ON digests (space, user_id);

-- step 6: when names were seen
ALTER TABLE people ADD COLUMN seen BIGINT;

-- step 7: topics
-- A topic is named by the turn that opened it. `topic_notes` come from people and are not derived: a rebuild keeps them.
CREATE TABLE topics (
    space {key} NOT NULL, conversation {key} NOT NULL, first INTEGER NOT NULL,
    title TEXT NOT NULL, made_by TEXT NOT NULL, created_at BIGINT NOT NULL, last_active_at BIGINT NOT NULL,
    centroid {blob} NOT NULL, count INTEGER NOT NULL, accesses INTEGER NOT NULL, returns INTEGER NOT NULL,
    importance DOUBLE PRECISION NOT NULL, ups INTEGER NOT NULL, downs INTEGER NOT NULL, tags TEXT NOT NULL,
    packed INTEGER NOT NULL, packed_upto INTEGER NOT NULL, opened INTEGER, active INTEGER NOT NULL, faded_at BIGINT,
    merged_into INTEGER, apart TEXT NOT NULL, pending INTEGER NOT NULL,
    PRIMARY KEY (space, conversation, first));
CREATE INDEX topics_pending ON topics (space, conversation) WHERE pending = 1;

CREATE TABLE topic_heads (
    space {key} NOT NULL, conversation {key} NOT NULL, turn INTEGER NOT NULL, stamp TEXT NOT NULL,
    current INTEGER, recent {blob} NOT NULL,
    PRIMARY KEY (space, conversation));

CREATE TABLE topic_turns (
    space {key} NOT NULL, conversation {key} NOT NULL, turn INTEGER NOT NULL,
    topic INTEGER NOT NULL, message_id {key} NOT NULL,
    PRIMARY KEY (space, conversation, turn));
CREATE INDEX topic_turns_topic ON topic_turns (space, conversation, topic, turn);

CREATE TABLE topic_packs (
    space {key} NOT NULL, conversation {key} NOT NULL, topic INTEGER NOT NULL, last INTEGER NOT NULL,
    messages INTEGER NOT NULL, packed {blob} NOT NULL,
    PRIMARY KEY (space, conversation, topic, last));

CREATE TABLE topic_summaries (
    space {key} NOT NULL, conversation {key} NOT NULL, topic INTEGER NOT NULL,
    summary TEXT NOT NULL, upto INTEGER NOT NULL, base TEXT NOT NULL, base_upto INTEGER NOT NULL,
    PRIMARY KEY (space, conversation, topic));

CREATE TABLE topic_notes (
    space {key} NOT NULL, conversation {key} NOT NULL, after INTEGER NOT NULL, number INTEGER NOT NULL,
    kind TEXT NOT NULL, turn INTEGER NOT NULL, other INTEGER, text TEXT NOT NULL, told_at BIGINT NOT NULL,
    PRIMARY KEY (space, conversation, after, number));

-- step 8: documents
-- Documents come from programs and are not derived. Their vectors are made at the first search.
CREATE TABLE documents (
    space {key} NOT NULL, namespace {key} NOT NULL, key {key} NOT NULL, user_id {key},
    value TEXT NOT NULL, texts TEXT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    embedder TEXT, vecs {blob},
    PRIMARY KEY (space, namespace, key));
CREATE INDEX documents_user ON documents (space, user_id);

-- step 9: keys and answers of a server
-- A key for several spaces has a row in each of them; the space of a key for all spaces is empty.
CREATE TABLE api_keys (
    space {key} NOT NULL, id {key} NOT NULL, hash {blob} NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
    user_id {key}, rate INTEGER, body INTEGER, created_at BIGINT NOT NULL, used_at BIGINT, revoked_at BIGINT,
    PRIMARY KEY (space, id));
CREATE INDEX api_keys_id ON api_keys (id);

CREATE TABLE answers (
    space {key} NOT NULL, id {key} NOT NULL, request {blob} NOT NULL, at BIGINT NOT NULL, status INTEGER, body {blob},
    PRIMARY KEY (space, id));

-- step 10: when keys end
ALTER TABLE api_keys ADD COLUMN expires_at BIGINT;

-- step 11: authors
-- The author of a passage, stored with it: to look it up in the log was a large part of the work of a search.
ALTER TABLE entries ADD COLUMN author TEXT NOT NULL DEFAULT '';
UPDATE entries SET author = COALESCE((SELECT messages.author FROM messages WHERE messages.space = entries.space
    AND messages.conversation = entries.conversation AND messages.turn = entries.turn), '');

-- step 12: where facts were heard
-- A fact said in several channels is shown in each of them, and people who have spoken in a channel may see what is said
-- there. Where they have spoken so far is known from the days of the space.
ALTER TABLE facts ADD COLUMN also_heard_in TEXT NOT NULL DEFAULT '[]';
INSERT INTO people (space, user_id, kind, name, since)
    SELECT DISTINCT space, user_id, 'channel', conversation, 0 FROM days;

-- step 13: commits
-- postgresql
-- For each connection, the last transaction it has written, and the first that it may not write any more.
CREATE TABLE commits (
    session {key} NOT NULL PRIMARY KEY, last BIGINT NOT NULL, fenced BIGINT, at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CHECK (last < fenced)) WITH (fillfactor = 50);

-- step 14: what the first steps became
-- sqlite
IF statements.source: UPDATE statements SET source = json_array(source);
-- postgresql
IF statements.source: UPDATE statements SET source = CAST(json_build_array(source) AS TEXT);
IF statements.source: ALTER TABLE statements ALTER COLUMN source TYPE TEXT;
-- both
-- The first steps were changed after some databases had run them. This step makes those databases like all others; facts
-- that were stored without their findings are extracted again.
IF tallies.dropped: ALTER TABLE tallies DROP COLUMN dropped;
DROP INDEX IF EXISTS episodes_user;
CREATE INDEX IF NOT EXISTS episodes_active ON episodes (space, user_id) WHERE parent IS NULL;
IF statements.source: ALTER TABLE statements RENAME COLUMN source TO sources;
IF NOT findings: DELETE FROM facts;
IF NOT findings: DELETE FROM cursors WHERE view = 'facts';
IF NOT findings: DELETE FROM leases WHERE view = 'facts';
CREATE TABLE IF NOT EXISTS findings (
    space {key} NOT NULL, user_id {key} NOT NULL, slot {key} NOT NULL, time BIGINT NOT NULL,
    conversation {key} NOT NULL, turn INTEGER NOT NULL, number INTEGER NOT NULL,
    message_id {key} NOT NULL, author {key} NOT NULL, audience {key}, found TEXT NOT NULL,
    PRIMARY KEY (space, user_id, slot, time, conversation, turn, number));
CREATE INDEX IF NOT EXISTS findings_message ON findings (space, message_id);
CREATE INDEX IF NOT EXISTS findings_author ON findings (space, author);

-- step 15: set aside
-- Messages on which a view failed, and when they are tried again; never their contents.
CREATE TABLE set_aside (
    space {key} NOT NULL, view {key} NOT NULL, conversation {key} NOT NULL, turn INTEGER NOT NULL,
    failures INTEGER NOT NULL, retry_at BIGINT, error TEXT NOT NULL,
    PRIMARY KEY (space, view, conversation, turn));
CREATE INDEX set_aside_due ON set_aside (view, retry_at);

-- step 16: extracts
-- The sentences of a summary with who said each, in which turn and when. Summaries so far were written without: the
-- episodes are written again from the messages, and their chunks stay. Where messages were erased or have expired, what
-- is left of them is the summary, so it stays.
ALTER TABLE episodes ADD COLUMN extract TEXT NOT NULL DEFAULT '{}';
ALTER TABLE topic_summaries ADD COLUMN extract TEXT NOT NULL DEFAULT '{}';
DELETE FROM episodes WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.space = episodes.space
    AND messages.conversation = episodes.conversation AND messages.erasure IS NOT NULL);
DELETE FROM cursors WHERE view IN ('window', 'episodes') AND NOT EXISTS (SELECT 1 FROM messages
    WHERE messages.space = cursors.space AND messages.conversation = cursors.conversation
    AND messages.erasure IS NOT NULL);
DELETE FROM leases WHERE view IN ('window', 'episodes');

-- step 17: audit
-- Who removed something, when, and how much of it: never what it said.
CREATE TABLE audit (
    space {key} NOT NULL, id {key} NOT NULL, what {key} NOT NULL,
    at BIGINT NOT NULL, kind TEXT NOT NULL, by {key} NOT NULL, count BIGINT NOT NULL,
    PRIMARY KEY (space, id, what));

-- step 18: changes
-- What messages said, and whose conversations were, before somebody changed that; and until when something is shown.
CREATE TABLE changes (
    space {key} NOT NULL, conversation {key} NOT NULL, number INTEGER NOT NULL,
    kind TEXT NOT NULL, turn INTEGER NOT NULL, at BIGINT NOT NULL, by {key} NOT NULL,
    before TEXT NOT NULL, after TEXT NOT NULL,
    erasure {key}, salt {blob} NOT NULL, digest {blob} NOT NULL, link {blob} NOT NULL,
    PRIMARY KEY (space, conversation, number));
ALTER TABLE conversations ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN changes_head {blob} NOT NULL DEFAULT {empty};
ALTER TABLE messages ADD COLUMN expires_at BIGINT;
ALTER TABLE entries ADD COLUMN expires_at BIGINT;
ALTER TABLE statements ADD COLUMN expires_at BIGINT;
ALTER TABLE documents ADD COLUMN expires_at BIGINT;
CREATE INDEX messages_expiring ON messages (space, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX entries_expiring ON entries (space, expires_at) WHERE expires_at IS NOT NULL;

-- step 19: standing sentences
-- Sentences that cannot be understood alone are no longer chosen: what was written without a model is written again.
DELETE FROM episodes WHERE NOT EXISTS (SELECT 1 FROM messages WHERE messages.space = episodes.space
    AND messages.conversation = episodes.conversation AND messages.erasure IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM episodes AS written WHERE written.space = episodes.space
    AND written.conversation = episodes.conversation AND written.made_by = 'model');
DELETE FROM cursors WHERE view IN ('window', 'episodes') AND NOT EXISTS (SELECT 1 FROM episodes
    WHERE episodes.space = cursors.space AND episodes.conversation = cursors.conversation)
    AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.space = cursors.space
    AND messages.conversation = cursors.conversation AND messages.erasure IS NOT NULL);
DELETE FROM leases WHERE view IN ('window', 'episodes');

-- step 20: topic words
-- What the messages of a topic say most. A topic from before counts from now on.
ALTER TABLE topics ADD COLUMN words TEXT NOT NULL DEFAULT '{}';

-- step 21: receipts
-- What models were shown for the last replies of each conversation.
CREATE TABLE receipts (
    space {key} NOT NULL, conversation {key} NOT NULL, slot INTEGER NOT NULL,
    turn INTEGER NOT NULL, asked INTEGER NOT NULL, at BIGINT NOT NULL, receipt TEXT NOT NULL,
    PRIMARY KEY (space, conversation, slot));

-- step 22: merged topics
-- Few topics are part of another, and one of them is looked up among tens of thousands.
CREATE INDEX IF NOT EXISTS topics_merged ON topics (space, conversation, merged_into) WHERE merged_into IS NOT NULL;

-- step 23: traits
ALTER TABLE entries ADD COLUMN traits INTEGER NOT NULL DEFAULT -1;

-- step 24: answers, facts by slot, statements by kind
-- The answers to requests, apart from the requests: an erasure removes the answers, and the requests stay done.
CREATE TABLE answer_bodies (space {key} NOT NULL, id {key} NOT NULL, body {blob} NOT NULL, PRIMARY KEY (space, id));
INSERT INTO answer_bodies (space, id, body) SELECT space, id, body FROM answers WHERE status = 200;
UPDATE answers SET body = NULL WHERE status = 200 OR status IS NULL;
-- One fact by what it is about, and the few statements of a kind, among thousands that a program has added by hand.
CREATE INDEX IF NOT EXISTS facts_slot ON facts (space, user_id, category, key);
CREATE INDEX IF NOT EXISTS statements_kind ON statements (space, user_id, kind);
UPDATE statements SET kind = 'denial' WHERE kind = 'change' AND replace(sources, ',', '') <> sources;

-- step 25: key makers
-- Which key made a key. Those from before were made by none: they stay as they are.
ALTER TABLE api_keys ADD COLUMN maker TEXT;

-- step 26: secrets
-- Where messages hold secrets: a list of kind, first character and end; NULL if there are none.
ALTER TABLE messages ADD COLUMN secrets TEXT;
CREATE INDEX messages_with_secrets ON messages (space, conversation, turn) WHERE secrets IS NOT NULL;

-- step 27: by person and by conversation
-- What a person or a conversation asks for is found among its own rows, however many others there are.
DROP INDEX conversations_user;
CREATE INDEX conversations_user ON conversations (space, user_id, id);
CREATE INDEX conversations_recent ON conversations (space, changed_at, id);
CREATE INDEX conversations_user_recent ON conversations (space, user_id, changed_at, id);
DROP INDEX messages_user;
CREATE INDEX messages_user ON messages (space, user_id, conversation, turn);
CREATE INDEX messages_author ON messages (space, author, conversation, turn);
CREATE INDEX messages_erased ON messages (erasure) WHERE erasure IS NOT NULL;
CREATE INDEX entries_user ON entries (space, user_id, doc);
CREATE INDEX entries_conversation ON entries (space, conversation, doc);
CREATE INDEX facts_conversation ON facts (space, conversation);
CREATE INDEX facts_audience ON facts (space, audience) WHERE audience IS NOT NULL;
CREATE INDEX findings_conversation ON findings (space, conversation);
CREATE INDEX findings_audience ON findings (space, audience) WHERE audience IS NOT NULL;
CREATE INDEX statements_audience ON statements (space, audience) WHERE audience IS NOT NULL;
CREATE INDEX people_name ON people (space, kind, name);
CREATE INDEX cursors_conversation ON cursors (space, conversation);
CREATE INDEX leases_conversation ON leases (space, conversation);
CREATE INDEX tallies_empty ON tallies (space) WHERE docs = 0;

-- step 28: replies
-- The message that a message answers, by its id or its platform id, where that was given.
ALTER TABLE messages ADD COLUMN reply_to TEXT;

-- step 29: last messages
-- When the newest message of each conversation was said; 0 if it has none. Lists are in this order.
ALTER TABLE conversations ADD COLUMN last_message_at BIGINT NOT NULL DEFAULT 0;
UPDATE conversations SET last_message_at = coalesce((SELECT max(time) FROM messages
    WHERE messages.space = conversations.space AND conversation = conversations.id), 0);
DROP INDEX conversations_recent;
CREATE INDEX conversations_recent ON conversations (space, last_message_at, id);
DROP INDEX conversations_user_recent;
CREATE INDEX conversations_user_recent ON conversations (space, user_id, last_message_at, id);

-- step 30: threads
-- What a message of a group answers, and why it joined its thread.
ALTER TABLE topic_turns ADD COLUMN answers INTEGER;
ALTER TABLE topic_turns ADD COLUMN why TEXT;

-- step 31: unread conversations
-- Which conversations some view has still to read: only these are looked at to find what views are behind in, however
-- many others there are. The same for leases that are held or wait.
ALTER TABLE conversations ADD COLUMN unread INTEGER NOT NULL DEFAULT 1;
UPDATE conversations SET unread = 0 WHERE 8 = (SELECT count(*) FROM cursors
    WHERE cursors.space = conversations.space AND conversation = conversations.id AND turn >= conversations.turns
    AND view IN ('index', 'tiers', 'window', 'episodes', 'facts', 'digests', 'topics', 'titles'));
DROP INDEX conversations_changed;
CREATE INDEX conversations_unread ON conversations (changed_at) WHERE unread = 1;
CREATE INDEX leases_busy ON leases (view, space) WHERE until IS NOT NULL OR retry_at IS NOT NULL;

-- step 32: events
-- What a receiver outside is still to be told of, by ids alone: read and removed in order, conversation by conversation.
CREATE TABLE events (space {key} NOT NULL, conversation {key} NOT NULL, number BIGINT NOT NULL, id {key} NOT NULL,
    kind TEXT NOT NULL, subject TEXT NOT NULL, user_id {key}, at BIGINT NOT NULL, failures INTEGER NOT NULL,
    retry_at BIGINT, PRIMARY KEY (space, conversation, number, id)){clustered};
CREATE INDEX events_user ON events (space, user_id) WHERE user_id IS NOT NULL;

-- step 33: beside the rows
-- postgresql
-- The note of a transaction lies beside the rows it is about, on the same machine; rows to lock where machines are many.
ALTER TABLE commits ADD COLUMN space {key} NOT NULL DEFAULT '';
ALTER TABLE commits ALTER COLUMN space DROP DEFAULT;
ALTER TABLE commits DROP CONSTRAINT commits_pkey;
ALTER TABLE commits ADD PRIMARY KEY (space, session);
CREATE TABLE locks (space {key} NOT NULL, slot INTEGER NOT NULL, PRIMARY KEY (space, slot));
-- Numbers of passages come from the clock of whoever writes them.
DROP SEQUENCE docs;

-- step 34: counts
-- How many characters a conversation has, of the messages that stand; and what has expired or was said when.
ALTER TABLE conversations ADD COLUMN characters BIGINT NOT NULL DEFAULT 0;
UPDATE conversations SET characters = coalesce((SELECT sum(length(content)) FROM messages
    WHERE messages.space = conversations.space AND conversation = conversations.id), 0);
CREATE INDEX messages_time ON messages (space, time) WHERE erasure IS NULL;
CREATE INDEX statements_expiring ON statements (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX documents_expiring ON documents (expires_at) WHERE expires_at IS NOT NULL;
