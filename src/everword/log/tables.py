"""The log, as transactions: append and verify. Each is a function of a `Tx` and can be run again.

Appending locks the conversation, so turns are numbered without gaps, also with concurrent writers. Nothing here changes
a message; only `memory.removal` replaces messages by tombstones and `memory.edits` by newer versions, and only because
somebody asked for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from everword.errors import DamagedMessage, InvalidInput, ScopeError, SecretRefused, StoreError
from everword.log import rules
from everword.log.changes import changes_of, find_change_faults
from everword.log.message_versions import kept_as, older_versions, says_same
from everword.log.sealed_changes import is_as_changed, is_sealed, original_message
from everword.log.secret_policy import SecretPolicy
from everword.masking import masked_logger
from everword.model import Added, Batch, Conversation, Draft, Fault, Filter, LogChange, Message, Verification
from everword.ports import Tx
from everword.secrets.marks import Marks

logger = masked_logger("everword.log")

PAGE = 1_000  # rows read at a time
REPEATED = 20  # messages of a conversation whose secrets a new one may repeat
DIGESTING = "digesting"  # the view name of leases on a digest that is being made
MAX_LISTED = 5  # damaged messages that one error lists
COPYING = "copying"  # the note on a store that is being filled from another
LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u to misread
PAIRS = [first + second for first in LETTERS for second in LETTERS]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


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
            message = rules.seal_message(
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
        tx.save_conversation(replace(conversation, turns=turns, head=head, changed_at=now), new_messages)
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
        full_draft = rules.check_draft(draft, conversation, now)
        try:
            drafts_with_marks.append(secrets.guard_draft(full_draft))
        except SecretRefused as error:
            which = f"message {len(drafts_with_marks) + 1}: " if drafts_with_marks else ""
            raise SecretRefused(which + error.field, error.reason) from None
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
    erased_ids = {
        platform_id: rules.hash_platform_id(platform_id)
        for platform_id in (draft.platform_id for draft in drafts)
        if platform_id is not None
    }
    if conversation.turns == 0:
        erased_ids = {}  # nothing is in it yet
    existing: dict[str, Message] = {}
    if not ids and not erased_ids:
        return existing
    platform_ids = [*erased_ids, *erased_ids.values()]
    for message in tx.find_messages(
        conversation.space, ids=ids, conversation=conversation.id, platform_ids=platform_ids
    ):
        if message.conversation != conversation.id and not is_anonymous(message):
            raise InvalidInput("id", f"{message.id!r} is the id of a message in another conversation")
        existing["id " + message.id] = message
        if message.platform_id is not None:
            existing["platform " + message.platform_id] = message
    for platform_id, erased_id in erased_ids.items():
        if "platform " + erased_id in existing:
            existing["platform " + platform_id] = existing["platform " + erased_id]
    return existing


def is_anonymous(message: Message) -> bool:
    """Whether a message was erased with the name of its conversation: then it was perhaps in any other."""
    return message.erased and message.conversation.startswith(rules.ERASED)


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
        expires_at=None if draft.expires_at is None else rules.check_expiry("expires", draft.expires_at, now),
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
    return conversation.startswith(rules.TOLD) and conversation != rules.profile_conversation(user)


def not_owned(conversation: Conversation, user: str) -> ScopeError:
    return ScopeError(f"conversation {conversation.id!r} does not belong to user {user!r}; choose another id")


def refuse_strangers(conversation: Conversation, drafts: Iterable[Draft]) -> None:
    """Raise if messages for a channel would go into a one-person chat with the same id: its owner would read what the
    others say."""
    if conversation.user is None:
        return
    if any(draft.role == "user" and draft.author != conversation.user for draft in drafts):
        raise ScopeError(f"conversation {conversation.id!r} is a chat with one user, and no channel; name that user")


def find_own_conversation(tx: Tx, space: str, conversation: str, user: str | None) -> Conversation | None:
    """The conversation, or None if there is none; raises if it belongs to another user."""
    existing = tx.conversation(space, conversation)
    return None if existing is None else adopt_conversation(tx, existing, user)


# -- verification


def verify(tx: Tx, progress: Callable[[int], None] | None = None) -> Verification:
    """Walk every chain from its first message to its last, in one snapshot; `progress` is told how many messages were
    checked so far."""
    faults: list[Fault] = []
    messages = tombstones = conversations = 0
    root = sha256()
    for conversation in every_conversation(tx):
        conversations += 1
        damage_by_turn: dict[int, str] = {}
        turn = 0
        last_link: bytes | None = b""
        where = Filter(conversation.space, conversation=conversation.id)
        changes = changes_of(tx, conversation, ignore_damage)  # one that cannot be read is missing in the chain
        faults += find_change_faults(conversation, changes)
        changes = [change for change in changes if is_sealed(change)]

        def note_damage(error: DamagedMessage, damage_by_turn: dict[int, str] = damage_by_turn) -> None:
            damage_by_turn[error.turn] = error.reason

        for message in every_message(tx, where, note_damage):
            if message.turn in damage_by_turn:
                turn = message.turn
                last_link = None  # the next message cannot be checked against a damaged one
                continue
            problem = find_message_problem(message, turn + 1, last_link, changes)
            if problem is not None:
                faults.append(rules.fault(conversation, min(turn + 1, message.turn), problem))
            messages += not message.erased
            tombstones += message.erased
            if progress is not None and (messages + tombstones) % PAGE == 0:
                progress(messages + tombstones)
            turn = message.turn
            last_link = message.seal.link
        problem = rules.tail_problem(conversation, turn, last_link)
        if problem is not None:
            faults.append(rules.fault(conversation, turn + (turn < conversation.turns), problem))
        faults += [
            rules.fault(conversation, damaged_turn, f"cannot be read: {reason}")
            for damaged_turn, reason in sorted(damage_by_turn.items())
        ]
        root.update(conversation.head + conversation.changes_head)
    return Verification(conversations, messages, tombstones, (*faults, *erasure_faults(tx)), root.hexdigest())


def ignore_damage(error: StoreError, row: Mapping[str, Any]) -> None:
    """For rows whose absence is noticed by other means."""


def find_message_problem(
    message: Message, turn: int, last_link: bytes | None, changes: Sequence[LogChange]
) -> str | None:
    """What is wrong with a message, given the changes of its conversation."""
    if not changes or message.erased:
        return rules.message_problem(message, turn, last_link, message)
    problem = rules.message_problem(message, turn, last_link, original_message(message, changes))
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
        raise StoreError(f"this store is the unfinished copy of {source}; remove it and run `everword copy` again")
