"""The log, as transactions: append, verify, erase. Each is a function of a `Tx` and can be run again.

Appending locks the conversation, so turns are given out one after another with none left out, whoever else is
writing. Nothing here changes a message; `erase` alone replaces one by its tombstone, and nothing calls
it but a person's explicit wish.
"""

from __future__ import annotations

import logging
import os
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from recollect.errors import DamagedMessage, InvalidInput, NotFound, ScopeError, StoreError
from recollect.model import Added, Conversation, Draft, Erasure, Fault, Filter, Message, Verification
from recollect.ports import Tx
from recollect.rules import log as rules
from recollect.rules.documents.documents import names_in

logger = logging.getLogger("recollect.log")

PAGE = 1_000  # rows read at a time
DIGESTING = "digesting"  # what the leases of those who make a digest are called
SHOWN = 5  # of what is damaged, in one error
ANSWERS = "answers"  # the table of what was answered to requests with a key, and the lock of who changes it
COPYING = "copying"  # the note on a store that is being filled from another
LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u to misread
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def new_id(now: datetime) -> str:
    """Twenty characters: 45 bits of time, so that ids sort by age, and 55 of chance, so that no two meet."""
    number = ((now - EPOCH) // MILLISECOND & (1 << 45) - 1) << 55 | int.from_bytes(os.urandom(7)) >> 1
    return "".join(LETTERS[number >> shift & 31] for shift in range(95, -1, -5))


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages for one conversation, in order. `check` is told what is about to be added, each draft in its turn, and
    may raise: then nothing of the transaction is kept."""

    space: str
    conversation: str
    user: str | None
    drafts: Sequence[Draft]
    check: Callable[[list[Added]], None] | None = field(default=None, compare=False, repr=False)


def drawn(batch: Batch, now: datetime) -> Batch:
    """The batch with an id for every message. Drawn before the transaction, so that a second run knows the first."""
    return replace(
        batch, drafts=[draft if draft.id is not None else replace(draft, id=new_id(now)) for draft in batch.drafts]
    )


def ids_of(batches: Sequence[Batch]) -> set[str]:
    return {draft.id for batch in batches for draft in batch.drafts if draft.id is not None}


def append(tx: Tx, batch: Batch, now: datetime, fresh_ids: Collection[str] = ()) -> list[Added]:
    """Add messages to the end of a conversation, each once: one whose id is known is given back as it is.

    Ids in `fresh_ids` were drawn a moment ago and are not looked for.
    """
    fresh = Conversation(batch.space, batch.conversation, batch.user, created_at=now, changed_at=now)
    conversation = adopted(tx, tx.lock_conversation(fresh), batch.user)
    drafts = [rules.checked(draft, conversation, now) for draft in batch.drafts]
    if batch.user is None:
        refuse_strangers(conversation, drafts)
    known = known_messages(tx, conversation, drafts, fresh_ids)
    added: list[Added] = []
    new: list[Message] = []
    head = conversation.head
    for draft in drafts:
        before = next((known[key] for key in keys(draft) if key in known), None)
        if before is None:
            message = rules.sealed(
                from_draft(draft, conversation, conversation.turns + len(new) + 1, now), head, os.urandom(16)
            )
            head = message.seal.link
            new.append(message)
            known.update((key, message) for key in keys(draft))
        added.append(Added(before or message, before is None))
    if batch.check is not None:
        batch.check(added)
    if new:
        tx.insert_messages(new)
        tx.save_conversation(replace(conversation, turns=conversation.turns + len(new), head=head, changed_at=now))
    return added


def keys(draft: Draft) -> Iterator[str]:
    """What tells that two drafts are the same message."""
    if draft.id is not None:
        yield "id " + draft.id
    if draft.platform_id is not None:
        yield "platform " + draft.platform_id


def known_messages(
    tx: Tx, conversation: Conversation, drafts: Sequence[Draft], fresh_ids: Collection[str]
) -> dict[str, Message]:
    ids = [draft.id for draft in drafts if draft.id is not None and draft.id not in fresh_ids]
    platform = {p: rules.erased_platform_id(p) for p in (draft.platform_id for draft in drafts) if p is not None}
    if conversation.turns == 0:
        platform = {}  # nothing is in it yet
    known: dict[str, Message] = {}
    both = [*platform, *platform.values()]
    for message in tx.find_messages(conversation.space, ids=ids, conversation=conversation.id, platform_ids=both):
        if message.conversation != conversation.id:
            raise InvalidInput("id", f"{message.id!r} is the id of a message in another conversation")
        known["id " + message.id] = message
        if message.platform_id is not None:
            known["platform " + message.platform_id] = message
    for given, hashed in platform.items():
        if "platform " + hashed in known:
            known["platform " + given] = known["platform " + hashed]
    return known


def from_draft(draft: Draft, conversation: Conversation, turn: int, now: datetime) -> Message:
    return Message(
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
    )


def adopted(tx: Tx, conversation: Conversation, user: str | None) -> Conversation:
    """The conversation, if it is this user's or nobody asks; another's is refused and not revealed.

    A person who had everything erased and comes back finds their chat ownerless and empty, and takes it up again.
    """
    if user is None or conversation.user == user:
        return conversation
    if conversation.user is None and is_empty(tx, conversation):
        return replace(conversation, user=user)
    raise ScopeError(f"conversation {conversation.id!r} does not belong to user {user!r}; choose another id")


def refuse_strangers(conversation: Conversation, drafts: Iterable[Draft]) -> None:
    """What is meant for a channel does not get into a chat with one person that has its id: whoever began that chat
    would read what the others say."""
    if conversation.user is None:
        return
    if any(draft.role == "user" and draft.author != conversation.user for draft in drafts):
        raise ScopeError(f"conversation {conversation.id!r} is a chat with one user, and no channel; name that user")


def owned(tx: Tx, space: str, conversation: str, user: str | None) -> Conversation | None:
    """The conversation, if there is one and it is this user's."""
    found = tx.conversation(space, conversation)
    return None if found is None else adopted(tx, found, user)


# -- proving


def verify(tx: Tx) -> Verification:
    """Walk every chain from its first message to its last, in one snapshot."""
    faults: list[Fault] = []
    messages = erased = conversations = 0
    root = sha256()
    for conversation in every_conversation(tx):
        conversations += 1
        damaged: dict[int, str] = {}
        turn = 0
        last: bytes | None = b""
        where = Filter(conversation.space, conversation=conversation.id)
        for message in every_message(tx, where, lambda error: damaged.update({error.turn: error.reason})):  # noqa: B023
            if message.turn in damaged:
                turn, last = message.turn, None  # what follows it cannot be held against it
                continue
            wrong = rules.problem(message, turn + 1, last)
            if wrong is not None:
                faults.append(rules.fault(conversation, min(turn + 1, message.turn), wrong))
            messages, erased = messages + (not message.erased), erased + message.erased
            turn, last = message.turn, message.seal.link
        wrong = rules.tail_problem(conversation, turn, last)
        if wrong is not None:
            faults.append(rules.fault(conversation, turn + (turn < conversation.turns), wrong))
        faults += [rules.fault(conversation, at, f"cannot be read: {why}") for at, why in sorted(damaged.items())]
        root.update(conversation.head)
    return Verification(conversations, messages, erased, (*faults, *forged_erasures(tx)), root.hexdigest())


def forged_erasures(tx: Tx) -> Iterator[Fault]:
    """A message made to look erased, without an erasure that counts it. One that is not noted is not named: in the row
    of a damaged message, what stands there may be anything."""
    noted, found = tx.erasures(), tx.erased_by()
    for id in sorted({*noted, *(key or "" for key in found)}):
        counted, erased = noted.get(id, 0), found.get(id, 0)
        if counted != erased:
            name = id if id in noted else "unknown"
            yield Fault("", name, 0, f"erasure counts {counted} messages but {erased} are erased by it")


def every_conversation(tx: Tx, space: str | None = None, user: str | None = None) -> Iterator[Conversation]:
    after = ("", "")
    while page := tx.conversations(space, user, after=after, limit=PAGE):
        yield from page
        after = (page[-1].space, page[-1].id)


def every_message(tx: Tx, where: Filter, damaged: Callable[[DamagedMessage], None] | None = None) -> Iterator[Message]:
    after = (where.conversation or "", 0)
    while page := tx.messages(where, after=after, limit=PAGE, damaged=damaged):
        yield from page
        after = (page[-1].conversation, page[-1].turn)


def warn_of_damage(error: DamagedMessage) -> None:
    """For whoever goes on without a message that cannot be read: it is gone for them, as one that was erased."""
    logger.warning("%s; run `recollect verify`", error)


def damaged_messages(tx: Tx, where: Filter) -> list[DamagedMessage]:
    """Every message that is meant and cannot be read."""
    damaged: list[DamagedMessage] = []
    for _ in every_message(tx, where, damaged.append):
        pass
    return damaged


def refusal(damaged: Sequence[StoreError], advice: str) -> StoreError:
    """Why something that wants all of it is not done: how much cannot be read, where it is, and what to do."""
    shown = "; ".join(map(str, damaged[:SHOWN])) + ("; …" if len(damaged) > SHOWN else "")
    return StoreError(f"{len(damaged):,} of the store cannot be read: {shown}. {advice}")


def unreadable_message(error: DamagedMessage) -> Message:
    """A message of which only the place is known: enough to put a tombstone there."""
    return Message(error.space, error.conversation, error.turn, "", "user", "", None, "", EPOCH)


# -- erasing

# What is known of a person, and what they said of others.
OF_PEOPLE = (
    ("facts", "user_id"),
    ("facts", "speaker"),
    ("findings", "user_id"),
    ("findings", "author"),
    ("statements", "user_id"),
    ("statements", "speaker"),
    ("people", "user_id"),
    ("days", "user_id"),
    ("digests", "user_id"),
    ("api_keys", "user_id"),
    ("documents", "user_id"),
)


def erase(tx: Tx, space: str, user: str, now: datetime) -> Erasure:
    """Take a person's messages out: what they wrote, and what was written to them in chats of their own."""
    locked = lock_all_of(tx, space, user, now)
    drop_answers(tx, space)
    tx.remove("leases", {"space": space, "view": DIGESTING})  # named by those of whom a digest could not be made
    gone = {(m.conversation, m.turn): m for m in messages_of(tx, space, user) if m.conversation in locked}
    if not gone:
        # Of somebody who never wrote, others may still have told something, or given them a name.
        if not remove_all_of(tx, space, user) + unname(tx, space, user, locked.values(), now):
            raise NotFound(f"user {user!r} has no messages in space {space!r}; nothing was erased")
        return Erasure(new_id(now), space, now, messages=0, conversations=0, entries=0)
    drop_digests(tx, space, gone)
    tombstones = [rules.tombstone(message) for message in gone.values()]
    touched = {conversation for conversation, _ in gone}
    erasure = Erasure(new_id(now), space, now, len(tombstones), len(touched), entries=0)
    dropped = tx.erase(erasure, tombstones)
    remove_all_of(tx, space, user)
    for conversation in locked.values():
        if conversation.user == user:
            tx.save_conversation(replace(conversation, user=None))
    unname(tx, space, user, locked.values(), now)
    return replace(erasure, entries=dropped)


def unname(tx: Tx, space: str, user: str, conversations: Iterable[Conversation], now: datetime) -> int:
    """Give a name drawn by chance to each conversation of a person, or of nobody, that was called by their id and is
    empty now. The seals of erased messages do not cover it, so the chain holds. Returns how many there were."""
    count = 0
    for conversation in conversations:
        own = conversation.user in (user, None) or conversation.id == rules.told_in(user)
        if own and rules.names_person(conversation.id, user) and is_empty(tx, conversation):
            tx.rename_conversation(space, conversation.id, f"{rules.ERASED}{new_id(now)}")
            count += 1
    return count


def is_empty(tx: Tx, conversation: Conversation) -> bool:
    """Whether all that was said in a conversation is erased."""
    damaged: list[DamagedMessage] = []
    everything = every_message(tx, Filter(conversation.space, conversation=conversation.id), damaged.append)
    return all(message.erased for message in everything) and not damaged


def remove_all_of(tx: Tx, space: str, user: str) -> int:
    """Take out what is kept of a person beside the log. A document of nobody is theirs if its namespace names them."""
    named = [
        row
        for row in tx.rows("documents", where={"space": space, "user_id": None})
        if user in names_in(row["namespace"])
    ]
    gone = sum(tx.remove("documents", {name: row[name] for name in ("space", "namespace", "key")}) for row in named)
    return gone + sum(tx.remove(table, {"space": space, role: user}) for table, role in OF_PEOPLE)


def drop_answers(tx: Tx, space: str) -> None:
    """Take out the answers that are kept under the keys of requests: they repeat what was said, of whomever. A claim of
    who is at work stays, so that nobody else does the same; with a body before its answer, it is void."""
    tx.lock(ANSWERS, space)
    claims = tx.rows(ANSWERS, where={"space": space, "status": None})
    tx.remove(ANSWERS, {"space": space})
    tx.put(ANSWERS, [{**claim, "body": b""} for claim in claims])


def drop_digests(tx: Tx, space: str, gone: Collection[tuple[str, int]]) -> None:
    """Every digest that may say something of what goes: of the days it was said on, and all that is made of days."""
    turns: dict[str, list[int]] = {}
    for conversation, turn in sorted(gone):
        turns.setdefault(conversation, []).append(turn)
    days = set[str]()
    for conversation, said in turns.items():
        for row in tx.rows("days", where={"space": space, "conversation": conversation}):
            place = bisect_left(said, row["first"])
            if place < len(said) and said[place] <= row["last"]:
                days.add(row["day"])
    for day in sorted(days):
        tx.remove("digests", {"space": space, "kind": "day", "day": day})
    for kind in ("week", "merge"):
        tx.remove("digests", {"space": space, "kind": kind})
    tx.put("spaces", [{"space": space, "version": 1}], add=("version",))


def messages_of(tx: Tx, space: str, user: str) -> Iterator[Message]:
    """What a person wrote, and what is theirs; some of it twice. Also what cannot be read of it."""
    for where in (Filter(space, user=user), Filter(space, author=user)):
        damaged: list[DamagedMessage] = []
        yield from (message for message in every_message(tx, where, damaged.append) if not message.erased)
        yield from (unreadable_message(error) for error in damaged if error.turn)


def lock_all_of(tx: Tx, space: str, user: str, now: datetime) -> dict[str, Conversation]:
    """The conversations a person is in, locked: nobody adds to them, or erases from them, until we end."""
    ids = {message.conversation for message in messages_of(tx, space, user)}
    ids |= {conversation.id for conversation in every_conversation(tx, space, user)}
    if tx.conversation(space, rules.told_in(user)) is not None:
        ids.add(rules.told_in(user))
    return {id: tx.lock_conversation(Conversation(space, id, None, now, now)) for id in sorted(ids)}
