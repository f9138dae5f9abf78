"""The one way in which messages are removed: those of a person who is erased, those deleted, those that have expired.

Each message is replaced by a tombstone that keeps its place and its seal, so the chain still proves the others. What
was derived from it goes with it, in the same transaction: what belongs to the message alone is dropped, views of its
conversation are made anew from what is left, and facts and statements are weighed again without it. Receipts of past
replies go with the messages they name. Only retention keeps what was made of a message. A line of the audit says who
removed how many.

With a person, their names go out of the moves that the log notes. What others said can still be proved: a move of that
person's messages concerns theirs alone, and those are erased. Only messages that were the person's and are somebody
else's now lose the proof of what they were; they stay in their chain. The name of a conversation in which others still
have messages stays, as it does without a move.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from everword.changes.removed_knowledge import facts_resting_on, statements_resting_on, withdraw_knowledge
from everword.context.receipts import TABLE, named_ids, receipt_rows
from everword.documents import names_in
from everword.errors import DamagedMessage, NotFound
from everword.facts.tables import CHANNEL, DISPLAYED, answers_repeating, display_name, drop_notes, facts_of
from everword.facts.view import command_of
from everword.log import rules, tables
from everword.log.access import LOCAL
from everword.log.events import erasure_events, fact_events, has_receiver, note_events
from everword.log.rules import compute_digest, erase_change, names_person, original_message
from everword.log.tables import (
    ANSWER_BODIES,
    ANSWERS,
    CHANGES_TABLE,
    DIGESTING,
    LAST_REMOVAL,
    PEOPLE,
    Order,
    changes_of,
    erase_edits,
    every_conversation,
    every_message,
    is_empty,
    new_id,
    note_renamed_messages,
    to_change,
    to_row,
    unreadable_message,
    warn_of_damage,
)
from everword.model import Conversation, Erasure, Filter, LogChange, Message, RemovalKind
from everword.ports import Tx
from everword.text.fences import message_label

Select = Callable[[Tx], Iterable[Message]]
AT_ONCE = 500  # turns or ids in one query

# Tables and columns with rows about a person, or by a person about others.
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
    ("events", "user_id"),
)
CONVERSATIONS_AT_ONCE = 20  # conversations in one query
MESSAGE = re.compile(r"m(\d{1,9})")
EPISODE = re.compile(r"e\d+_(\d{1,9})_(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Selection:
    """Messages that are deleted, or would be, and how much of each view rests on them."""

    messages: Sequence[Message]
    views: Mapping[str, int]


def make_order(now: datetime, kind: RemovalKind, what: str, by: str = LOCAL) -> Order:
    return Order(new_id(now), now, kind, what, by)


# -- removing


def remove_messages(tx: Tx, space: str, messages: Sequence[Message], order: Order, id: str | None = None) -> Erasure:
    """Replace messages by tombstones and drop all that was derived from them, but for facts and statements. Their
    conversations must be locked."""
    drop_answers(tx, space)
    drop_digests(tx, space, [(message.conversation, message.turn) for message in messages])
    return put_tombstones(tx, space, messages, order, id=id)


def put_tombstones(
    tx: Tx, space: str, messages: Sequence[Message], order: Order, *, keep: Collection[str] = (), id: str | None = None
) -> Erasure:
    """Replace messages by tombstones, and note that in the audit; views in `keep` stay as they are."""
    drop_receipts(tx, space, messages)
    drop_notes(tx, space, messages)
    conversations = {message.conversation for message in messages}
    erasure = Erasure(id or order.id, space, order.at, len(messages), len(conversations), entries=0)
    entry_count = tx.erase(erasure, [rules.tombstone(message) for message in messages], keep=keep)
    erase_edits(tx, space, messages, erasure.id)
    note_events(tx, space, erasure_events(messages, erasure.id, order.at))
    tables.note_removal(tx, space, order, len(messages))
    return replace(erasure, entries=entry_count)


def delete_messages(tx: Tx, space: str, select: Select, order: Order) -> Selection:
    """Delete the messages that are selected, and what memory answered to those that were commands, or to others of
    what they said."""
    places = {message.conversation for message in select_with_answers(tx, select)}
    conversations = lock_conversations(tx, space, places, order.at)
    # Selected again, now that nobody else can change them.
    messages = [message for message in select_with_answers(tx, select) if message.conversation in conversations]
    if not messages:
        return Selection([], {})
    selection = Selection(messages, count_by_view(tx, space, messages))
    remove_messages(tx, space, messages, order)
    withdraw_knowledge(tx, space, messages, order.at)
    drop_display_names(tx, space, messages)
    for conversation in conversations.values():
        if is_empty(tx, conversation):  # nobody speaks there any more, and nobody hears anything
            tx.remove(PEOPLE, {"space": space, "kind": CHANNEL, "name": conversation.id})
    return selection


def drop_display_names(tx: Tx, space: str, messages: Sequence[Message]) -> None:
    """Remove the names that came with these messages, which are tombstones already, and with no other one."""
    names = {(message.author, display_name(message)) for message in messages if message.role == "user"}
    for author, name in sorted((author, name) for author, name in names if author and name):
        where = {"space": space, "user_id": author, "kind": DISPLAYED, "name": name}
        if not tx.rows(PEOPLE, limit=1, where=where):
            continue
        others = every_message(tx, Filter(space, author=author), ignore_damage)
        if not any(not message.erased and display_name(message) == name for message in others):
            tx.remove(PEOPLE, where)


def preview_messages(tx: Tx, space: str, select: Select) -> Selection:
    """What `delete_messages` would delete now."""
    messages = select_with_answers(tx, select)
    return Selection(messages, count_by_view(tx, space, messages))


def select_with_answers(tx: Tx, select: Select) -> list[Message]:
    """The messages that are selected and not erased, in order; and what memory answered to those that were commands, or
    elsewhere of what they said: it repeats them."""
    chosen = {(message.conversation, message.turn): message for message in select(tx) if not message.erased}
    for message in list(chosen.values()):
        if message.role == "user" and command_of(message) is not None:
            chosen |= {(answer.conversation, answer.turn): answer for answer in answer_to_command(tx, message)}
    for space in {message.space for message in chosen.values()}:
        repeating = answers_repeating(tx, space, chosen.values())
        chosen |= {(answer.conversation, answer.turn): answer for answer in repeating}
    return [chosen[place] for place in sorted(chosen)]


def answer_to_command(tx: Tx, message: Message) -> list[Message]:
    where = Filter(message.space, conversation=message.conversation)
    answers = tx.messages(where, after=(message.conversation, message.turn), limit=1, damaged=ignore_damage)
    return [
        answer
        for answer in answers
        if answer.role == "assistant" and not answer.erased and command_of(answer) is not None
    ]


def ignore_damage(_: DamagedMessage) -> None:
    """For a message that cannot be read, and is no answer of the memory."""


def lock_conversations(tx: Tx, space: str, ids: Iterable[str], now: datetime) -> dict[str, Conversation]:
    """Lock and return conversations: nobody else appends or removes until the transaction ends."""
    return {id: tx.lock_conversation(Conversation(space, id, None, now, now)) for id in sorted(set(ids))}


# -- what would go


def count_by_view(tx: Tx, space: str, messages: Sequence[Message]) -> dict[str, int]:
    """How much of each view rests on messages. Views with nothing of them are left out."""
    counts = Counter[str]()
    for conversation, turns in turns_by_conversation((m.conversation, m.turn) for m in messages).items():
        place = {"space": space, "conversation": conversation}
        topics = set[int]()
        for start in range(0, len(turns), AT_ONCE):
            where = {**place, "turn": tuple(turns[start : start + AT_ONCE])}
            counts["index"] += len(tx.rows("entries", where=where))
            counts["tiers"] += len(tx.rows("tiers", where=where))
            topics |= {row["topic"] for row in tx.rows("topic_turns", where=where)}
        counts["topics"] += len(topics)
        counts["episodes"] += sum(covers(turns, row["first"], row["last"]) for row in tx.rows("episodes", where=place))
    days = digest_days(tx, space, [(message.conversation, message.turn) for message in messages])
    counts["digests"] = sum(len(tx.rows("digests", where={"space": space, "kind": "day", "day": day})) for day in days)
    counts["facts"] = len(facts_resting_on(tx, space, messages))
    counts["statements"] = len(statements_resting_on(tx, space, messages))
    return {view: count for view, count in counts.items() if count}


def turns_by_conversation(message_keys: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    turns: dict[str, list[int]] = {}
    for conversation, turn in sorted(message_keys):
        turns.setdefault(conversation, []).append(turn)
    return turns


def covers(turns: Sequence[int], first: int, last: int) -> bool:
    """Whether one of the turns, which are in order, is from `first` to `last`."""
    position = bisect_left(turns, first)
    return position < len(turns) and turns[position] <= last


# -- what is of a whole space


def drop_answers(tx: Tx, space: str) -> None:
    """Delete the stored answers to requests: they may repeat anybody's messages. That the requests were done stays
    known, so that nobody repeats them. A new mark says to those that are being worked on that something was removed."""
    tx.lock(ANSWERS, space)
    tx.remove(ANSWER_BODIES, {"space": space})
    tx.put(ANSWER_BODIES, [{"space": space, "id": LAST_REMOVAL, "body": os.urandom(8)}])


def drop_digests(tx: Tx, space: str, message_keys: Collection[tuple[str, int]]) -> None:
    """Delete every digest that may mention these messages: those of their days, and all that are made from days."""
    for day in digest_days(tx, space, message_keys):
        tx.remove("digests", {"space": space, "kind": "day", "day": day})
    for kind in ("week", "merge"):
        tx.remove("digests", {"space": space, "kind": kind})
    tx.put("spaces", [{"space": space, "version": 1}], add=("version",))


def digest_days(tx: Tx, space: str, message_keys: Iterable[tuple[str, int]]) -> list[str]:
    """The days on which somebody said one of these messages in a channel."""
    days = {
        row["day"]
        for conversation, turns in turns_by_conversation(message_keys).items()
        for row in tx.rows("days", where={"space": space, "conversation": conversation})
        if covers(turns, row["first"], row["last"])
    }
    return sorted(days)


# -- a person


def erase_person(tx: Tx, space: str, user: str, now: datetime, by: str = LOCAL) -> Erasure:
    """Erase a person's messages: what they wrote, and what was written to them in their own chats."""
    order = make_order(now, "erase", "messages", by)
    moves = moves_naming(tx, space, user)
    answers = answers_repeating(tx, space, messages_of(tx, space, user))
    places = conversations_of(tx, space, user) | {change.conversation for change in moves}
    places |= {answer.conversation for answer in answers}
    conversations = lock_conversations(tx, space, places, now)
    tx.remove("leases", {"space": space, "view": DIGESTING})  # their names contain user ids
    messages_with_answers = [*messages_of(tx, space, user), *answers_repeating(tx, space, messages_of(tx, space, user))]
    found = {(m.conversation, m.turn): m for m in messages_with_answers if m.conversation in conversations}
    messages = [found[place] for place in sorted(found)]
    keys = tables.keys_of_person(tx, space, user)
    erasure = Erasure(order.id, space, now, messages=0, conversations=0, entries=0)
    if messages:
        erasure = remove_messages(tx, space, messages, order)
    else:
        drop_answers(tx, space)
    known_facts = facts_of(tx, space, user) if has_receiver(tx, space) else []
    row_count = remove_rows_of_person(tx, space, user)
    gone = fact_events([(fact, None) for fact in known_facts], now)
    note_events(tx, space, [replace(event, user=None) for event in gone])
    if messages:
        withdraw_knowledge(tx, space, messages, now)
    for conversation in conversations.values():
        if conversation.user == user:
            tx.save_conversation(replace(conversation, user=None))
    ids = (user, *earlier_ids(moves, user))
    row_count += erase_moves(tx, space, ids, conversations.values(), erasure.id)
    renamed_count = anonymise_conversations(tx, space, ids, conversations.values(), now)
    if not messages and not row_count + renamed_count:
        raise NotFound(f"user {user!r} has no messages in space {space!r}; nothing was erased")
    if not messages:  # others may have stated facts about a person who never wrote, or given them a name
        tables.note_removal(tx, space, order, 0)
    tables.forget_keys(tx, space, keys)
    return erasure


def anonymise_conversations(
    tx: Tx, space: str, ids: Sequence[str], conversations: Iterable[Conversation], now: datetime
) -> int:
    """Give a random id to each empty conversation of this person, or of nobody, whose id contains an id of the person.
    The seals of erased messages do not cover the id, so the chain stays valid. Returns how many were renamed."""
    count = 0
    for conversation in conversations:
        is_own = conversation.user in (*ids, None) or conversation.id in map(rules.profile_conversation, ids)
        is_named = any(rules.names_person(conversation.id, id) for id in ids)
        if is_own and is_named and is_empty(tx, conversation):
            note_renamed_messages(tx, space, conversation.id, now)
            tx.rename_conversation(space, conversation.id, f"{rules.ERASED}{new_id(now)}")
            count += 1
    return count


def remove_rows_of_person(tx: Tx, space: str, user: str) -> int:
    """Delete what is stored about a person outside the log. A document without a user is theirs if its namespace names
    them. Returns the number of rows."""
    documents = [
        row
        for row in tx.rows("documents", where={"space": space, "user_id": None})
        if user in names_in(row["namespace"])
    ]
    document_count = sum(
        tx.remove("documents", {name: row[name] for name in ("space", "namespace", "key")}) for row in documents
    )
    return document_count + sum(tx.remove(table, {"space": space, role: user}) for table, role in OF_PEOPLE)


def messages_of(tx: Tx, space: str, user: str, before: datetime | None = None) -> Iterator[Message]:
    """What a person wrote, and what is in their chats; some messages twice. Includes messages that cannot be read."""
    for where in (Filter(space, user=user, before=before), Filter(space, author=user, before=before)):
        yield from readable_or_not(tx, where)


def readable_or_not(tx: Tx, where: Filter) -> Iterator[Message]:
    """The messages that match a filter and are not erased. Of one that cannot be read, only the place is known."""
    errors: list[DamagedMessage] = []
    yield from (message for message in every_message(tx, where, errors.append) if not message.erased)
    yield from (unreadable_message(error) for error in errors if error.turn)


def conversations_of(tx: Tx, space: str, user: str) -> set[str]:
    """The conversations a person is in."""
    ids = {message.conversation for message in messages_of(tx, space, user)}
    ids |= {conversation.id for conversation in every_conversation(tx, space, user)}
    if tx.conversation(space, rules.profile_conversation(user)) is not None:
        ids.add(rules.profile_conversation(user))
    return ids


def drop_receipts(tx: Tx, space: str, messages: Sequence[Message]) -> None:
    """Delete the receipts that name one of these messages, which are changed or removed after this. A chat shows what
    its person said elsewhere, so the receipts of the person's other chats are looked through as well."""
    rows = receipts_near(tx, space, messages)
    if not rows:
        return
    turns: dict[str, set[int]] = {}
    for message in messages:
        turns.setdefault(message.conversation, set()).add(message.turn)
    ids = {name for message in messages if message.id for name in (message.id, message_label(message.id))}
    ids |= {fact.id for fact in facts_resting_on(tx, space, messages)}
    ids |= {row["id"] for row in statements_resting_on(tx, space, messages)}
    for row in rows:
        if names_removed(row, turns.get(row["conversation"], set()), ids):
            tx.remove(TABLE, {name: row[name] for name in ("space", "conversation", "slot")})


def receipts_near(tx: Tx, space: str, messages: Sequence[Message]) -> list[Mapping[str, Any]]:
    """The receipts of the conversations of these messages, and of the chats of the people they belong to."""
    places = {message.conversation for message in messages}
    for user in {message.user for message in messages if message.user is not None}:
        places |= {conversation.id for conversation in every_conversation(tx, space, user)}
    ids = sorted(places)
    starts = range(0, len(ids), CONVERSATIONS_AT_ONCE)
    return [row for start in starts for row in receipt_rows(tx, space, ids[start : start + CONVERSATIONS_AT_ONCE])]


def names_removed(row: Mapping[str, Any], turns: Collection[int], ids: Collection[str]) -> bool:
    """Whether a receipt is of a message at one of these turns of its conversation, or names one of them or an id."""
    if row["turn"] in turns or row["asked"] in turns:
        return True
    names = named_ids(row)
    return not names.isdisjoint(ids) or any(stands_for(name, turns) for name in names)


def stands_for(name: str, turns: Collection[int]) -> bool:
    """Whether a name in a receipt is that of a message at one of these turns, or of a summary that covers one."""
    if message := MESSAGE.fullmatch(name):
        return int(message[1]) in turns
    if episode := EPISODE.fullmatch(name):
        return any(int(episode[1]) <= turn <= int(episode[2]) for turn in turns)
    return False


def moves_naming(tx: Tx, space: str, user: str) -> list[LogChange]:
    """The moves in which a person's id is."""
    rows = tx.rows(CHANGES_TABLE, where={"space": space, "kind": "move"})
    return [change for change in map(to_change, rows) if not change.erased and names_user(change, user)]


def names_user(change: LogChange, user: str) -> bool:
    return is_of_person(change, [user]) or is_named_after(change, [user])


def is_named_after(change: LogChange, users: Collection[str]) -> bool:
    """Whether a move gave or took a conversation a name in which one of these persons is."""
    names = [values["conversation"] for values in (change.before, change.after) if "conversation" in values]
    return any(names_person(name, user) for name in names for user in users)


def is_of_person(change: LogChange, users: Collection[str]) -> bool:
    """Whether a move changed whose something is, and one of these persons was concerned."""
    values = (names.get(field) for names in (change.before, change.after) for field in ("person", "owner"))
    return any(value in users for value in values if value is not None)


def earlier_ids(changes: Iterable[LogChange], user: str) -> list[str]:
    """The ids that a person had before they became this one."""
    ids = {change.before["person"] for change in changes if change.after.get("person") == user}
    return sorted(ids - {None, user})


def erase_moves(tx: Tx, space: str, users: Collection[str], conversations: Iterable[Conversation], erasure: str) -> int:
    """Erase the moves that name one of these persons, and all moves of conversations in which nothing is left. Returns
    how many."""
    count = 0
    for conversation in conversations:
        changes = changes_of(tx, conversation)
        moves = [change for change in changes if change.kind == "move" and not change.erased]
        if moves:
            where = Filter(space, conversation=conversation.id)
            standing = [message for message in every_message(tx, where, warn_of_damage) if not message.erased]
            erased = erase_moves_of(changes, moves, users, standing)
            tx.put(CHANGES_TABLE, [to_row(change, erasure) for change in erased])
            count += len(erased)
    return count


def erase_moves_of(
    changes: Sequence[LogChange], moves: Sequence[LogChange], users: Collection[str], standing: Sequence[Message]
) -> list[LogChange]:
    """The moves of one conversation that are erased, as what is left of them. One that gave the conversation its name
    stays for what others said there before, unless the name was taken back."""
    numbers = {change.number for change in moves if is_of_person(change, users)}
    unproved = unproved_turns(changes, numbers, standing)
    renaming = {change.number for change in moves if is_named_after(change, users)}
    if unproved_turns(changes, numbers | renaming, standing) == unproved:
        numbers |= renaming
    for change in moves:
        if all(message.turn in unproved for message in standing if message.turn <= change.before["upto"]):
            numbers.add(change.number)
    return [erase_change(change, unproved) for change in moves if change.number in numbers]


def unproved_turns(changes: Sequence[LogChange], erased: Collection[int], standing: Sequence[Message]) -> set[int]:
    """The messages that cannot be proved without the changes of these numbers."""
    rest = [erase_change(change) if change.number in erased else change for change in changes]
    return {message.turn for message in standing if not is_proved(message, rest)}


def is_proved(message: Message, changes: Sequence[LogChange]) -> bool:
    """Whether a message can be proved by its seal; also where an erased edit has taken that away before."""
    original = original_message(message, changes)
    return original is None or compute_digest(original, message.seal.salt) == message.seal.digest
