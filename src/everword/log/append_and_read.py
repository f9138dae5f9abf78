"""The log, as transactions: append, read, verify, note changes. Each is a function of a `Tx` and can be run again.

Appending locks the conversation, so turns are numbered without gaps, also with concurrent writers. Nothing here changes
a message; only `changes.removal` replaces messages by tombstones and `changes.edits` by newer versions, and only
because somebody asked for it. Each such change is noted in the chain of changes of its conversation.

A cursor is the last turn of a conversation that a view has seen; 0 where it has seen none.

A message that came with an idempotency key has a platform id made of it, and so is found again in its conversation,
erased or not. When a conversation gets another name, its keyed messages would no longer be found under the old one. So
a rename notes them in `answers`, as hashes, for a day: whoever adds them under the old name again is told so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from everword.errors import AnswerGone, DamagedMessage, InvalidInput, ScopeError, SecretRefused, StoreError
from everword.log import checks_and_seals
from everword.log.checks_and_seals import is_as_changed, is_sealed, kept_as, older_versions, original_message, says_same
from everword.log.secret_policy import SecretPolicy
from everword.masking import masked_logger
from everword.model import (
    EPOCH,
    Added,
    AuditLine,
    Batch,
    Conversation,
    Draft,
    Fault,
    Filter,
    LogChange,
    Message,
    RemovalKind,
    Seal,
    Verification,
)
from everword.model.people import clean_name
from everword.ports import ConversationKey, Tx, by_space
from everword.secrets import Marks, marks_from_json, mask_parts
from everword.text.addressing import KnownNames

logger = masked_logger("everword.log")

FEW_ROWS = 16  # conversations of a space, for which the next page is larger
LAST_ID = "\U0010ffff"  # after every id, and every name of a member
PAGE = 1_000  # rows read at a time
REPEATED = 20  # messages of a conversation whose secrets a new one may repeat
DIGESTING = "digesting"  # the view name of leases on a digest that is being made
MAX_LISTED = 5  # damaged messages that one error lists
COPYING = "copying"  # the note on a store that is being filled from another
LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u to misread
PAIRS = [first + second for first in LETTERS for second in LETTERS]
MILLISECOND = timedelta(milliseconds=1)
CHANGES_TABLE = "changes"
CHANGE_FIELDS = ("space", "conversation", "number", "kind", "turn", "at", "by", "before", "after")  # its columns
ANSWERS = "answers"  # the table of requests with a key, and the lock for changing it
ANSWER_BODIES = "answer_bodies"  # what they were answered
LAST_REMOVAL = ""  # the id of the row there that marks the last removal in a space
TITLE_KEYS = ("title", "channel")  # in the metadata of a first message; exports of Discord have the channel's name
AT_ONCE = 500  # ids in one query
FIRST_TURNS = tuple(range(1, 9))  # in which the first topic of a conversation begins; greetings have none
DAY = timedelta(days=1)
DONE = 200
TIME_LETTERS = 9  # the letters of a message's id that tell its time
ANSWER_IS_GONE = (
    "this request was already done and is not repeated. Its answer was removed, because data in the space was removed "
    "or changed since. Read the current data instead"
)
OnDamage = Callable[[StoreError, Mapping[str, Any]], None]


def new_id(now: datetime) -> str:
    """Twenty characters: 45 bits of time, so that ids sort by age, and 55 random bits, so that ids do not collide."""
    number = ((now - EPOCH) // MILLISECOND & (1 << 45) - 1) << 55 | int.from_bytes(os.urandom(7)) >> 1
    return "".join([PAIRS[number >> shift & 1023] for shift in range(90, -1, -10)])


def with_ids(batch: Batch, now: datetime) -> Batch:
    """The batch with an id for every message. Called before the transaction, so that a retry uses the same ids."""
    return replace(
        batch, drafts=[draft if draft.id is not None else replace(draft, id=new_id(now)) for draft in batch.drafts]
    )


def draft_ids(batches: Sequence[Batch]) -> set[str]:
    return {draft.id for batch in batches for draft in batch.drafts if draft.id is not None}


def append_messages(
    tx: Tx, batch: Batch, now: datetime, secrets: SecretPolicy, fresh_ids: Collection[str] = ()
) -> list[Added]:
    """Add messages to the end of a conversation, each once: for one whose id exists, the stored message is returned.
    Messages are returned masked.

    Ids in `fresh_ids` were generated just now and are not searched for.
    """
    new_conversation = Conversation(batch.space, batch.conversation, batch.user, created_at=now, changed_at=now)
    conversation = adopt_conversation(tx, tx.lock_conversation(new_conversation), batch.user)
    drafts_with_marks = guard_drafts(tx, conversation, batch.drafts, now, secrets)
    drafts = [draft for draft, _ in drafts_with_marks]
    if batch.user is None:
        refuse_strangers(conversation, drafts)
    existing = existing_messages(tx, conversation, drafts, fresh_ids)
    additions: list[Added] = []
    new_messages: list[Message] = []
    head = conversation.head
    for draft, marks in drafts_with_marks:
        known_message = next((existing[key] for key in draft_keys(draft) if key in existing), None)
        if known_message is None:
            message = checks_and_seals.seal_message(
                message_from_draft(draft, conversation, conversation.turns + len(new_messages) + 1, now, marks),
                head,
                os.urandom(16),
            )
            head = message.seal.link
            new_messages.append(message)
            existing.update((key, message) for key in draft_keys(draft))
            additions.append(Added(message, True))
        else:
            additions.append(known_addition(tx, conversation, draft, known_message))
    if batch.check is not None:
        batch.check(additions)
    if new_messages:
        turns = conversation.turns + len(new_messages)
        times = [message.time for message in new_messages]
        last = max(times if conversation.last_message_at is None else [conversation.last_message_at, *times])
        longer = replace(conversation, turns=turns, head=head, changed_at=now, last_message_at=last)
        tx.save_conversation(longer, new_messages)
    return additions


def guard_drafts(
    tx: Tx, conversation: Conversation, drafts: Sequence[Draft], now: datetime, secrets: SecretPolicy
) -> list[tuple[Draft, Marks]]:
    """The drafts checked and as they are kept, each with the marks of its secrets. What is a secret in a message is one
    in those after it, too. A refusal says which of several it is."""
    if conversation.turns:
        secrets = after_conversation(tx, conversation.space, conversation.id, secrets)
    drafts_with_marks: list[tuple[Draft, Marks]] = []
    for draft in drafts:
        full_draft = checks_and_seals.check_draft(draft, conversation, now)
        try:
            drafts_with_marks.append(secrets.guard_draft(full_draft))
        except SecretRefused as error:
            message_number = f"message {len(drafts_with_marks) + 1}: " if drafts_with_marks else ""
            raise SecretRefused(message_number + error.field, error.reason) from None
        if drafts_with_marks[-1][1]:
            secrets = secrets.after_texts([full_draft.content])
    return drafts_with_marks


def after_conversation(tx: Tx, space: str, id: str, secrets: SecretPolicy) -> SecretPolicy:
    """The policy for what is said in a conversation, which may repeat its secrets. Only masked ones are in the log."""
    if secrets.mode != "mask":
        return secrets
    where = Filter(space, conversation=id, marked=True)
    return secrets.after_messages(tx.messages(where, limit=REPEATED, newest=True, damaged=warn_of_damage))


def known_addition(tx: Tx, conversation: Conversation, draft: Draft, message: Message) -> Added:
    """What became of a draft whose message is in the log already."""
    is_doubtful = not message.erased and not says_same(draft, message)
    versions = older_versions(message, changes_of(tx, conversation)) if is_doubtful else ()
    kept = kept_as(draft, message, versions)
    return Added(replace(message, kept=kept), False, kept)


def draft_keys(draft: Draft) -> Iterator[str]:
    """Keys that two drafts share if they are the same message."""
    if draft.id is not None:
        yield "id " + draft.id
    if draft.platform_id is not None:
        yield "platform " + draft.platform_id


def existing_messages(
    tx: Tx, conversation: Conversation, drafts: Sequence[Draft], fresh_ids: Collection[str]
) -> dict[str, Message]:
    ids = [draft.id for draft in drafts if draft.id is not None and draft.id not in fresh_ids]
    known_drafts = drafts if conversation.turns else ()  # else nothing is in it yet
    platform_ids = [draft.platform_id for draft in known_drafts if draft.platform_id is not None]
    erased_ids = {id: checks_and_seals.hash_platform_id(id) for id in platform_ids}
    existing: dict[str, Message] = {}
    if not ids and not erased_ids:
        return existing
    all_ids = [*erased_ids, *erased_ids.values()]
    for message in tx.find_messages(conversation.space, ids=ids, conversation=conversation.id, platform_ids=all_ids):
        if message.conversation != conversation.id and not is_anonymous(message):
            raise InvalidInput("id", f"{message.id!r} is already the ID of a message in another conversation")
        existing["id " + message.id] = message
        if message.platform_id is not None:
            existing["platform " + message.platform_id] = message
    erased_messages = {id: existing.get("platform " + erased_id) for id, erased_id in erased_ids.items()}
    return existing | {"platform " + id: message for id, message in erased_messages.items() if message is not None}


def is_anonymous(message: Message) -> bool:
    """Whether a message was erased with the name of its conversation: then it was perhaps in any other."""
    return message.erased and message.conversation.startswith(checks_and_seals.ERASED_PREFIX)


def message_from_draft(draft: Draft, conversation: Conversation, turn: int, now: datetime, secrets: Marks) -> Message:
    message = Message(
        space=conversation.space,
        conversation=conversation.id,
        turn=turn,
        id=draft.id or new_id(now),
        role=draft.role,
        author=draft.author or "",
        user=draft.user,
        content=draft.content,
        time=draft.time or now,
        platform_id=draft.platform_id,
        metadata=draft.metadata,
        expires_at=None
        if draft.expires_at is None
        else checks_and_seals.check_expiry("expires", draft.expires_at, now),
        reply_to=draft.reply_to,
        kept="new",
        secrets=secrets,
    )
    return message.masked


def adopt_conversation(tx: Tx, conversation: Conversation, user: str | None) -> Conversation:
    """The conversation, if it belongs to this user or no user is given; raises if it belongs to somebody else.

    After an erasure a person's chat is empty and has no owner; if the person returns, it becomes theirs again. Where
    somebody tells the memory something is theirs from the start: nobody else can begin it and so keep them from it.
    """
    if user is not None and not conversation.turns and is_told_by_another(conversation.id, user):
        raise not_owned(conversation, user)
    if user is None or conversation.user == user:
        return conversation
    if conversation.user is None and is_empty(tx, conversation):
        return replace(conversation, user=user)
    raise not_owned(conversation, user)


def is_told_by_another(conversation: str, user: str) -> bool:
    return conversation.startswith(
        checks_and_seals.PROFILE_PREFIX
    ) and conversation != checks_and_seals.profile_conversation(user)


def not_owned(conversation: Conversation, user: str) -> ScopeError:
    return ScopeError(f"conversation {conversation.id!r} does not belong to user {user!r}; choose another id")


def refuse_strangers(conversation: Conversation, drafts: Iterable[Draft]) -> None:
    """Raise if messages for a channel would go into a one-person chat with the same id: its owner would read what the
    others say."""
    if conversation.user is None:
        return
    if any(draft.role == "user" and draft.author != conversation.user for draft in drafts):
        raise ScopeError(
            f"conversation {conversation.id!r} is a chat with one user, not a channel; give that user's ID"
        )


def find_own_conversation(tx: Tx, space: str, conversation: str, user: str | None) -> Conversation | None:
    """The conversation, or None if there is none; raises if it belongs to another user."""
    existing = tx.conversation(space, conversation)
    return None if existing is None else adopt_conversation(tx, existing, user)


# -- verification


def verify(tx: Tx, progress: Callable[[int], None] | None = None) -> Verification:
    """Walk every chain from its first message to its last, in one snapshot; `progress` is told how many messages were
    checked so far."""
    faults: list[Fault] = []
    count = ProofCount(progress)
    conversations = 0
    root = sha256()
    for conversation in every_conversation(tx):
        conversations += 1
        faults += check_chain(tx, conversation, count)
        root.update(conversation.head + conversation.changes_head)
    faults += erasure_faults(tx)
    return Verification(conversations, count.messages, count.erasures, tuple(faults), root.hexdigest())


@dataclass(slots=True)
class ProofCount:
    """The messages that were checked so far and can be read; `progress` is told now and then how many these are."""

    progress: Callable[[int], None] | None
    messages: int = 0
    erasures: int = 0

    def add(self, message: Message) -> None:
        self.erasures += message.erased
        self.messages += not message.erased
        if self.progress is not None and (self.messages + self.erasures) % PAGE == 0:
            self.progress(self.messages + self.erasures)


def check_chain(tx: Tx, conversation: Conversation, count: ProofCount) -> list[Fault]:
    """What is wrong with a conversation, its messages and its changes; counts the messages that can be read."""
    changes = changes_of(tx, conversation, ignore_damage)  # one that cannot be read is missing in the chain
    faults = find_change_faults(conversation, changes)
    changes = [change for change in changes if is_sealed(change)]
    reasons: dict[int, str] = {}  # why a message cannot be read, by its turn

    def note_damage(error: DamagedMessage) -> None:
        reasons[error.turn] = error.reason

    turn = 0
    last_link: bytes | None = b""
    for message in every_message(tx, Filter(conversation.space, conversation=conversation.id), note_damage):
        if message.turn in reasons:
            turn = message.turn
            last_link = None  # the next message cannot be checked against a damaged one
            continue
        problem = find_message_problem(message, turn + 1, last_link, changes)
        if problem is not None:
            faults.append(checks_and_seals.fault(conversation, min(turn + 1, message.turn), problem))
        count.add(message)
        turn = message.turn
        last_link = message.seal.link
    problem = checks_and_seals.tail_problem(conversation, turn, last_link)
    if problem is not None:
        faults.append(checks_and_seals.fault(conversation, turn + (turn < conversation.turns), problem))
    unreadable_turns = sorted(reasons.items())
    return faults + [
        checks_and_seals.fault(conversation, turn, f"cannot be read: {reason}") for turn, reason in unreadable_turns
    ]


def ignore_damage(error: StoreError, row: Mapping[str, Any]) -> None:
    """For rows whose absence is noticed by other means."""


def find_message_problem(
    message: Message, turn: int, last_link: bytes | None, changes: Sequence[LogChange]
) -> str | None:
    """What is wrong with a message, given the changes of its conversation."""
    if not changes or message.erased:
        return checks_and_seals.message_problem(message, turn, last_link, message)
    problem = checks_and_seals.message_problem(message, turn, last_link, original_message(message, changes))
    return problem if problem or is_as_changed(message, changes) else "is not what its last change made of it"


def erasure_faults(tx: Tx) -> Iterator[Fault]:
    """Erasures whose recorded count differs from the messages that name them: a message may be made to look erased. The
    id of an unrecorded erasure is not shown: a damaged row may contain anything."""
    recorded_counts = erasures_of(tx)
    actual_counts = tx.count_messages("erasure")
    for id in sorted({*recorded_counts, *(key or "" for key in actual_counts)}):
        recorded_count = recorded_counts.get(id, 0)
        actual_count = actual_counts.get(id, 0)
        if recorded_count != actual_count:
            name = id if id in recorded_counts else "unknown"
            yield Fault("", name, 0, f"erasure counts {recorded_count} messages but {actual_count} are erased by it")


def every_conversation(tx: Tx, space: str | None = None, user: str | None = None) -> Iterator[Conversation]:
    after = ("", "")
    while page := tx.conversations(space, user, after=after, limit=PAGE):
        yield from page
        after = (page[-1].space, page[-1].id)


def every_space(tx: Tx, after: str = "") -> Iterator[str]:
    """The spaces in order, those after `after`: a page of conversations at a time, larger where many spaces have few,
    and without reading on in a space that fills a page."""
    limit = FEW_ROWS
    while page := tx.conversations(after=(after, LAST_ID if after else ""), limit=limit):
        spaces = list(dict.fromkeys(conversation.space for conversation in page))
        yield from spaces
        after = spaces[-1]
        limit = min(2 * limit, PAGE) if FEW_ROWS * len(spaces) >= limit else FEW_ROWS


def every_message(
    tx: Tx, where: Filter, on_damage: Callable[[DamagedMessage], None] | None = None, *, after: int = 0
) -> Iterator[Message]:
    """The messages that match a filter; of one conversation, those after a turn."""
    place = (where.conversation or "", after)
    while page := tx.messages(where, after=place, limit=PAGE, damaged=on_damage):
        yield from page
        place = (page[-1].conversation, page[-1].turn)


def erasures_of(tx: Tx, space: str | None = None) -> dict[str, int]:
    """The id of each erasure, or of each in a space, and the number of messages it says it removed."""
    rows = tx.rows("erasures", where={} if space is None else {"space": space})
    return {row["id"]: row["messages"] for row in rows}


def warn_of_damage(error: DamagedMessage) -> None:
    """For callers that continue without a message that cannot be read, as if it had been erased."""
    logger.warning("%s; run `everword verify`", error)


def find_damaged_messages(tx: Tx, where: Filter) -> list[DamagedMessage]:
    """Every message that matches the filter and cannot be read."""
    errors: list[DamagedMessage] = []
    for _ in every_message(tx, where, errors.append):
        pass
    return errors


def damage_error(errors: Sequence[StoreError], advice: str) -> StoreError:
    """The error of an operation that needs every message: how many cannot be read, where they are, and what to do."""
    listing = "; ".join(map(str, errors[:MAX_LISTED])) + ("; …" if len(errors) > MAX_LISTED else "")
    return StoreError(f"{len(errors):,} of the store cannot be read: {listing}. {advice}")


def unreadable_message(error: DamagedMessage) -> Message:
    """A message of which only the position is known: enough to put a tombstone there."""
    return Message(error.space, error.conversation, error.turn, "", "user", "", None, "", EPOCH)


def is_empty(tx: Tx, conversation: Conversation) -> bool:
    """Whether every message of a conversation is erased."""
    errors: list[DamagedMessage] = []
    messages = every_message(tx, Filter(conversation.space, conversation=conversation.id), errors.append)
    return all(message.erased for message in messages) and not errors


def refuse_unfinished_copy(tx: Tx) -> None:
    """Raise if the store is a copy that was not finished."""
    source = tx.note(COPYING)
    if source is not None:
        raise StoreError(
            f"this store is an unfinished copy of {source}; remove this store and run `everword copy` again"
        )


# -- changes


def changes_of(tx: Tx, conversation: Conversation, damaged: OnDamage | None = None) -> list[LogChange]:
    """The changes made to a conversation, the oldest first. One that cannot be read raises an error, unless `damaged`
    is called with it."""
    if not conversation.changes:
        return []
    where = {"space": conversation.space, "conversation": conversation.id}
    return [to_change(row) for row in tx.rows(CHANGES_TABLE, where=where, damaged=damaged)]


def add_versions(tx: Tx, conversation: Conversation, messages: Iterable[Message]) -> list[Message]:
    """Messages of a conversation, each with its older versions."""
    changes_by_turn: dict[int, list[LogChange]] = {}
    for change in changes_of(tx, conversation):
        changes_by_turn.setdefault(change.turn, []).append(change)
    return [
        replace(message, versions=older_versions(message, changes_by_turn.get(message.turn, ())))
        for message in messages
    ]


def append_change(tx: Tx, conversation: Conversation, change: LogChange) -> Conversation:
    """Add a change to the end of a conversation's changes, and return the conversation, which must be locked, with its
    new head; the caller saves it."""
    numbered = replace(change, number=conversation.changes + 1)
    sealed = checks_and_seals.seal_change(numbered, conversation.changes_head, os.urandom(16))
    tx.put(CHANGES_TABLE, [to_row(sealed)])
    return replace(conversation, changes=sealed.number, changes_head=sealed.seal.link)


def append_erased_change(tx: Tx, conversation: Conversation, change: LogChange, erasure: str) -> Conversation:
    """The same for a change that is erased from the start: it stands for words that are gone."""
    longer = append_change(tx, conversation, change)
    (row,) = tx.rows(CHANGES_TABLE, where={"space": longer.space, "conversation": longer.id, "number": longer.changes})
    tx.put(CHANGES_TABLE, [to_row(checks_and_seals.erase_change(to_change(row)), erasure)])
    return longer


def erase_edits(tx: Tx, space: str, messages: Sequence[Message], erasure: str) -> None:
    """Remove what erased messages said before they were edited."""
    turns_by_conversation: dict[str, set[int]] = {}
    for message in messages:
        turns_by_conversation.setdefault(message.conversation, set()).add(message.turn)
    for id, turns in turns_by_conversation.items():
        conversation = tx.conversation(space, id)
        changes = [] if conversation is None else changes_of(tx, conversation)
        edits = [change for change in changes if change.kind == "edit" and change.turn in turns and not change.erased]
        tx.put(CHANGES_TABLE, [to_row(checks_and_seals.erase_change(change), erasure) for change in edits])


def to_change(row: Mapping[str, Any]) -> LogChange:
    seal = Seal(bytes(row["salt"]), bytes(row["digest"]), bytes(row["link"]))
    fields = {name: row[name] for name in CHANGE_FIELDS}
    return LogChange(**fields, erased=row["erasure"] is not None, seal=seal)


def to_row(change: LogChange, erasure: str | None = None) -> dict[str, Any]:
    seal = change.seal
    fields = {name: getattr(change, name) for name in CHANGE_FIELDS}
    return {**fields, "erasure": erasure, "salt": seal.salt, "digest": seal.digest, "link": seal.link}


def find_change_faults(conversation: Conversation, changes: Sequence[LogChange]) -> list[Fault]:
    """What is wrong with the chain of a conversation's changes."""
    faults = []
    link = b""
    for number, change in enumerate(changes, 1):
        problem = checks_and_seals.change_problem(change, number, link)
        if problem is not None:
            faults.append(checks_and_seals.fault(conversation, change.turn, problem))
        link = change.seal.link
    problem = checks_and_seals.changes_end_problem(conversation, changes)
    return faults if problem is None else [*faults, checks_and_seals.fault(conversation, 0, problem)]


# -- titles of conversations


def given_titles(tx: Tx, space: str, conversations: Iterable[str]) -> dict[str, str]:
    """The titles that conversations of a space were given or imported with, by id. A title is in the metadata of the
    first message; so it goes when that message is erased."""
    ids = sorted(set(conversations))
    titles: dict[str, str] = {}
    for start in range(0, len(ids), AT_ONCE):
        where = {"space": space, "conversation": tuple(ids[start : start + AT_ONCE]), "turn": 1}
        for row in tx.rows("messages", where=where, damaged=lambda *_: None):
            if row["erasure"] is None and row["expires_at"] is None:
                metadata = mask_row(row)["metadata"]
                titles[row["conversation"]] = clean_name(*(metadata.get(key) for key in TITLE_KEYS))
    return {id: title for id, title in titles.items() if title}


def conversation_titles(tx: Tx, space: str, conversations: Sequence[str]) -> dict[str, str]:
    """The titles of conversations of a space, by id: the given one, or that of the first topic, if there is either."""
    titles = given_titles(tx, space, conversations)
    other_ids = [id for id in conversations if id not in titles]
    for start in range(0, len(other_ids), AT_ONCE):
        where = {"space": space, "conversation": tuple(other_ids[start : start + AT_ONCE]), "first": FIRST_TURNS}
        for row in tx.rows("topics", where=where, damaged=lambda *_: None):  # in order of their first turns
            titles.setdefault(row["conversation"], clean_name(row["title"]))
    return titles


def mask_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row; of a message with secrets, with placeholders for them."""
    if not row.get("secrets"):
        return row
    content, metadata, _ = mask_parts(row["content"], row["metadata"], marks_from_json(row["secrets"]))
    return {**row, "content": content, "metadata": metadata}


# -- cursors of views


def cursor_of(tx: Tx, view: str, space: str, conversation: str) -> int:
    return cursors_of(tx, view, [(space, conversation)])[space, conversation]


def cursors_of(tx: Tx, view: str, places: Iterable[ConversationKey]) -> dict[ConversationKey, int]:
    """The cursors of many conversations, with one query for each space."""
    turns = dict.fromkeys(places, 0)
    for space, ids in by_space(turns).items():
        for row in tx.rows("cursors", where={"space": space, "view": view, "conversation": tuple(ids)}):
            turns[space, row["conversation"]] = row["turn"]
    return turns


def set_cursor(tx: Tx, view: str, space: str, conversation: str, turn: int) -> None:
    set_cursors(tx, view, {(space, conversation): turn})


def set_cursors(tx: Tx, view: str, turns: Mapping[ConversationKey, int]) -> None:
    rows = [
        {"view": view, "space": space, "conversation": conversation, "turn": turn}
        for (space, conversation), turn in turns.items()
    ]
    tx.put("cursors", rows)


# -- requests with an idempotency key


def row_id(day: datetime, name: str) -> str:
    """The id of a row. It begins with the day, so that the oldest rows are read first."""
    return f"{day:%Y-%m-%d} {name}"


def possible_row_ids(now: datetime, name: str) -> tuple[str, ...]:
    """The ids that a row of the last day can have; that of tomorrow, too, by the clock of another server."""
    return tuple(row_id(day, name) for day in (now - DAY, now, now + DAY))


def note_renamed_messages(tx: Tx, space: str, conversation: str, now: datetime) -> None:
    """Note the keyed messages of a conversation that gets another name; erased ones have hashes already."""
    oldest_id = new_id(now - 2 * DAY)[:TIME_LETTERS]
    rows = []
    for message in every_message(tx, Filter(space, conversation=conversation), warn_of_damage):
        name = message.platform_id or ""
        if name.startswith((checks_and_seals.ONCE, checks_and_seals.ERASED_PREFIX)) and message.id >= oldest_id:
            name = name if message.erased else checks_and_seals.hash_platform_id(name)
            rows.append({"space": space, "id": row_id(now, name)})
    tx.put(ANSWERS, [row | {"request": b"", "at": now, "status": DONE, "body": None} for row in rows])


def refuse_renamed_messages(tx: Tx, batch: Batch, additions: Sequence[Added], now: datetime) -> None:
    """Raise if new messages that came with a key were added before, when their conversation had another name. Those of
    one key were added together, so the first is looked up."""
    pairs = zip(batch.drafts, additions, strict=True)
    new_names = (draft.platform_id or "" for draft, addition in pairs if addition.new)
    name = next((name for name in new_names if name.startswith(checks_and_seals.ONCE)), None)
    if name is None:
        return
    ids = possible_row_ids(now, checks_and_seals.hash_platform_id(name))
    if tx.rows(ANSWERS, limit=1, where={"space": batch.space, "id": ids}):
        raise AnswerGone(ANSWER_IS_GONE)


PEOPLE = "people"
PRIVATE = "private"  # the kind of a display name that came in a chat with one person, and is known there alone
SHOWN_BY_PLATFORM = ("display", "mention")  # names that only the platform sets, not the person's own API key
NAME_KINDS = (*SHOWN_BY_PLATFORM, "nickname", "alias")
FEW_PEOPLE = 10


def author_names(tx: Tx, space: str, authors: Collection[str], reader: str | None) -> dict[str, list[str]]:
    """The names by which authors are known in a space, by id, which is one of them; to the `reader` also what they are
    called in their own chats."""
    names = {author: [author] for author in sorted(authors)}
    for row in name_rows(tx, space, list(names)):
        if row["kind"] != PRIVATE or row["user_id"] == reader:
            names[row["user_id"]].append(row["name"])
    return names


def name_rows(tx: Tx, space: str, people: Sequence[str]) -> list[Mapping[str, Any]]:
    """The names of some people, as rows. Of few people they are read one by one: a list in SQL takes longer."""
    kinds = (*NAME_KINDS, PRIVATE)
    if len(people) > FEW_PEOPLE:
        return tx.rows(PEOPLE, where={"space": space, "user_id": tuple(people), "kind": kinds})
    rows = (row for person in people for row in tx.rows(PEOPLE, where={"space": space, "user_id": person}))
    return [row for row in rows if row["kind"] in kinds]


# -- what the people of a channel are called in it

# Only the last few hundred messages are read: whoever is spoken to has spoken lately. In a chat with one person nobody
# is spoken to by name, and nothing is read.
READ = 500
"""Messages before a turn whose authors are known by name."""
CALLED_BY = ("name", "handle")
"""Where metadata has what an author is called."""


def known_names(messages: Iterable[Message]) -> KnownNames:
    """The names of those who wrote messages; whoever wrote last comes last."""
    nicknames = KnownNames()
    add_names(nicknames, messages)
    return nicknames


def add_names(nicknames: KnownNames, messages: Iterable[Message]) -> None:
    for message in messages:
        if message.role == "user" and not message.erased:
            names = [message.metadata.get(name) for name in CALLED_BY]
            nicknames.add(message.author, [name for name in names if isinstance(name, str)])


def read_channel_names(tx: Tx, space: str, conversation: str, before: int | None = None) -> KnownNames:
    """The names of those who wrote in a channel before a turn, or until now."""
    stored = tx.conversation(space, conversation)
    if stored is None or stored.user is not None:
        return KnownNames()
    last = stored.turns if before is None else before - 1
    where = Filter(space, conversation=conversation)
    after = (conversation, max(last - READ, 0))
    return known_names(tx.messages(where, after=after, upto=last, damaged=warn_of_damage))


# -- the audit: a line for each removal and each move, with who made it, when, of what kind, and how many

# Lines name no person, conversation or message. The id of a key is not one of a person; the lines of a key that an
# erasure takes along no longer name it either.
AUDIT = "audit"
KEYS = "api_keys"
GONE = "erased"
"""In place of the id of a key that was erased with its user."""


@dataclass(frozen=True, slots=True)
class Order:
    """Who wants something removed, when, and in which way. The lines of one order have one id."""

    id: str
    at: datetime
    kind: RemovalKind
    what: str
    by: str


def note_removal(tx: Tx, space: str, order: Order, count: int, what: str | None = None) -> None:
    """Add to the line of an order how many more were removed, in the transaction that removes them."""
    row = {"space": space, "id": order.id, "what": what or order.what, "at": order.at, "kind": order.kind}
    tx.put(AUDIT, [row | {"by": order.by, "count": count}], add=("count",))


def audit_lines(tx: Tx, space: str, limit: int) -> list[AuditLine]:
    """The removals of a space, the newest first: their ids begin with their times."""
    rows = tx.rows(AUDIT, limit=limit, where={"space": space}, newest=True)
    lines = [AuditLine(**row) for row in rows]
    return sorted(lines, key=lambda line: (line.at, line.id, line.what), reverse=True)


def keys_of_person(tx: Tx, space: str, user: str) -> list[str]:
    return [row["id"] for row in tx.rows(KEYS, where={"space": space, "user_id": user})]


def forget_keys(tx: Tx, space: str, key_ids: Iterable[str]) -> None:
    """Take the ids of keys out of the lines of a space."""
    ids = tuple(key_ids)
    if ids:
        tx.put(AUDIT, [{**row, "by": GONE} for row in tx.rows(AUDIT, where={"space": space, "by": ids})])
