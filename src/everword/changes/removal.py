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

What removed messages said is taken out of facts and statements, and what others said too is made again. A fact is
weighed again from the findings that are left: one with another source stays, one that a removed message had replaced is
back. A statement that a removed message asked for goes; one that others asked for too, or that may repeat words of one
that went, is made again from their messages. A request to forget keeps what it did, without its words. A change of a
fact by hand stays, and loses the id of what was removed. A finding in a message nearby that may have its words from a
removed one is dropped, and that message is read again.

Older versions wrote changes of facts whose text and metadata repeat the value that was edited or deleted. When a
message that told that value is removed or edited, the change gets the text that is written today, as an edit of which
nothing is kept: the chain of the log holds, and the value is in no table. What the change decided stands.
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

from everword.context.receipts import TABLE, named_ids, receipt_rows
from everword.documents import names_in
from everword.errors import DamagedMessage, NotFound
from everword.facts import stored_facts as profiles
from everword.facts.findings import (
    DELETED,
    FINDINGS,
    REFUSED,
    denied_ids,
    findings_of,
    found_fact_of,
    id_of,
    ids_saying,
    line_of,
    put_change,
    slot_of,
    to_finding,
)
from everword.facts.profile_changes import MergeScene, keep_statements, restore_statements
from everword.facts.prompts import remember
from everword.facts.rules.commands import parse_command
from everword.facts.rules.grounding import NEAR
from everword.facts.stored_facts import (
    ANSWER,
    CHANNEL,
    DISPLAYED,
    answers_repeating,
    display_name,
    drop_notes,
    facts_of,
)
from everword.facts.view import LOCK, FactsView, command_of, weigh_slots
from everword.follow.faults import request_reading
from everword.log import append_and_read, checks_and_seals
from everword.log.access import LOCAL
from everword.log.append_and_read import (
    ANSWER_BODIES,
    ANSWERS,
    CHANGES_TABLE,
    DIGESTING,
    LAST_REMOVAL,
    PEOPLE,
    Order,
    append_change,
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
from everword.log.checks_and_seals import (
    PROFILE_PREFIX,
    compute_digest,
    edited_fields,
    erase_change,
    names_person,
    original_message,
)
from everword.log.events import erasure_events, fact_events, has_receiver, note_events
from everword.model import Conversation, Erasure, Fact, Filter, LogChange, Message, RemovalKind, Statement
from everword.model.log import notes_key, own_notes
from everword.ports import Tx
from everword.text.escaping import message_label

AT_ONCE = 500  # turns or ids in one query
WORD = re.compile(r"\w{3,}")
MAX_ECHOES = 50
"""Messages after a removed one of an assistant that may repeat it."""
MEANT = 10
"""Messages before "remember this" that it may mean."""
NAMES = ("everword", "bot")  # by which a memory is called, if nobody says otherwise
READ_AGAIN = "a message before it was changed"

Row = Mapping[str, Any]
FINDING_KEY = ("space", "user_id", "slot", "time", "conversation", "turn", "number")
BY_MESSAGE = {"index": "entries", "tiers": "tiers"}  # views with rows of single messages, and their tables
WHY = "it was edited"


@dataclass(frozen=True, slots=True)
class Affected:
    """What rests on removed messages: findings, statements that go, and the messages that are told again."""

    ids: frozenset[str]
    findings: Sequence[Row]
    statements: Sequence[Row]
    told_again: Sequence[tuple[str, Message]]
    read_again: Sequence[Message]


def withdraw_knowledge(tx: Tx, space: str, messages: Sequence[Message], now: datetime) -> None:
    """Make what is known of people anew, without what removed messages said. They are tombstones already."""
    affected = find_affected(tx, space, messages)
    persons = {row["user_id"] for row in (*affected.findings, *affected.statements)}
    drop_meant_words(tx, space, messages)
    for person in sorted(persons):  # always in the same order, so that writers do not deadlock
        tx.lock(LOCK, space, person)
        withdraw_from_person(tx, space, person, affected, now)
    for person, message in affected.told_again:
        tell_again(tx, person, message)
    request_reading(tx, FactsView.name, affected.read_again, now, READ_AGAIN)


def find_affected(tx: Tx, space: str, messages: Sequence[Message]) -> Affected:
    ids = frozenset(message.id for message in messages if message.id)
    statements = [*statements_resting_on(tx, space, messages)]
    replaced_by = {row["retired_by"] for row in statements if row["kind"] == profiles.SAID and row["retired_by"]}
    known_ids = {row["id"] for row in statements}
    statements += [
        row
        for row in rows_with(tx, profiles.STATEMENTS, space, "id", replaced_by)
        if row["kind"] == profiles.SAID and row["id"] not in known_ids
    ]
    lasting = [message for message in messages if message.expires_at is None]  # nothing rests on the others
    statements += statements_meaning(tx, space, lasting, {row["id"] for row in statements})
    told_again = messages_told_again(tx, space, ids, statements)
    told_ids = {message.id for _, message in told_again}
    read_again, loose_findings = messages_read_again(tx, space, lasting)
    findings = [*rows_with(tx, FINDINGS, space, "message_id", ids | told_ids), *loose_findings]
    return Affected(ids, findings, statements, told_again, read_again)


def rows_with(tx: Tx, table: str, space: str, column: str, values: Collection[str]) -> list[Row]:
    """The rows of a table with one of these values."""
    ordered = sorted(values)
    return [
        row
        for start in range(0, len(ordered), AT_ONCE)
        for row in tx.rows(table, where={"space": space, column: tuple(ordered[start : start + AT_ONCE])})
    ]


# -- facts


def facts_resting_on(tx: Tx, space: str, messages: Sequence[Message]) -> list[Fact]:
    """The facts that one of these messages stated or asked for, alone or with others."""
    ids = frozenset(message.id for message in messages if message.id)
    findings = [*rows_with(tx, FINDINGS, space, "message_id", ids), *messages_read_again(tx, space, messages)[1]]
    persons = sorted({row["user_id"] for row in findings})
    facts = [fact for person in persons for fact in facts_of(tx, space, person)]
    return [fact for fact in facts if not ids.isdisjoint(fact.sources)]


def withdraw_from_person(tx: Tx, space: str, person: str, affected: Affected, now: datetime) -> None:
    """Drop what is affected of a person, bring back what it had retired, and weigh the facts again."""
    before = facts_of(tx, space, person)
    resting = [fact for fact in before if not affected.ids.isdisjoint(fact.sources)]
    slots = {slot_of(fact) for fact in resting}
    findings = [row for row in affected.findings if row["user_id"] == person]
    statements = [row for row in affected.statements if row["user_id"] == person]
    release_changes(tx, space, person, resting, findings, now)
    for row in findings:
        slots |= {row["slot"]} - {REFUSED}
        tx.remove(FINDINGS, {name: row[name] for name in FINDING_KEY})
    for row in statements:
        drop_statement(tx, row)
    weighed = {slot: (findings_of(tx, space, person, slot), True) for slot in sorted(slots)}
    weigh_slots(tx, space, person, weighed, now)
    left = facts_of(tx, space, person)
    left_ids = {fact.id for fact in left}
    gone = [fact for fact in before if fact.id not in left_ids]
    drop_names(tx, space, person, gone, left)
    ids = {*affected.ids, *(row["id"] for row in statements), *(fact.id for fact in gone)}
    retired_by = ids - forgotten_by(affected)
    restore_statements(tx, space, person, retired_by)


def release_changes(
    tx: Tx, space: str, person: str, resting: Sequence[Fact], finding_rows: Sequence[Row], now: datetime
) -> None:
    """Take removed findings out of the changes that deny them; these still deny whatever else says the same."""
    findings = [to_finding(row) for row in finding_rows if row["slot"] != REFUSED]
    removed_ids = {id_of(finding, person) for finding in findings}
    facts_by_id = {fact.id: fact for fact in resting}
    for row in profiles.statements_of(tx, space, person, kind=profiles.CHANGES, active=False):
        finding_ids = denied_ids(row)
        if removed_ids.isdisjoint(finding_ids) and facts_by_id.keys().isdisjoint(finding_ids):
            continue
        row = rewrite_old_change(tx, row, now)
        denied_facts = [facts_by_id[id] for id in finding_ids if id in facts_by_id]
        all_ids = dict.fromkeys([*finding_ids, *(id for fact in denied_facts for id in ids_saying(tx, fact))])
        other_ids = [id for id in all_ids if id not in removed_ids]
        put_change(tx, replace(row, sources=(row.id, *other_ids)))


def drop_names(tx: Tx, space: str, person: str, gone: Iterable[Fact], left: Iterable[Fact]) -> None:
    """Remove the names that a person was known by only through facts that are gone."""
    standing = {fact.value for fact in left if fact.key == "name"}
    for fact in gone:
        if fact.key == "name" and fact.value not in standing:
            where = {"space": space, "user_id": person, "kind": "alias", "name": fact.value}
            for row in tx.rows(PEOPLE, where=where):
                if row["since"] == fact.said_at:  # else somebody gave the name by hand
                    tx.remove(PEOPLE, where)


# -- statements


def statements_resting_on(tx: Tx, space: str, messages: Iterable[Message]) -> list[Row]:
    """The statements, requests to forget and changes of facts that one of these messages asked for."""
    message_list = list(messages)
    ids = {message.id for message in message_list if message.id}
    authors = {message.author for message in message_list if message.author}
    rows = rows_with(tx, profiles.STATEMENTS, space, "speaker", authors)
    # A request to forget and a change of a fact name the message first, and then the facts they are about.
    asking = (
        (row, row["sources"] if row["kind"] == profiles.SAID else row["sources"][:1])
        for row in rows
        if row["kind"] != ANSWER
    )
    return [row for row, asked_by in asking if not ids.isdisjoint(asked_by)]


def statements_meaning(tx: Tx, space: str, messages: Sequence[Message], known: Collection[str]) -> list[Row]:
    """The statements that a message just after one of these asked for by "remember this": they say what is not in the
    request itself."""
    removed: dict[str, set[int]] = {}
    for message in messages:
        removed.setdefault(message.conversation, set()).add(message.turn)
    requests: dict[str, Message] = {}
    for conversation, turns in removed.items():
        for message in messages_after(tx, space, conversation, turns, MEANT):
            if command_of(message) == "remember" and not message.conversation.startswith(PROFILE_PREFIX):
                requests[message.id] = message
    rows = rows_with(tx, profiles.STATEMENTS, space, "speaker", {message.author for message in requests.values()})
    return [
        row
        for row in rows
        if row["kind"] == profiles.SAID
        and row["id"] not in known
        and any(has_other_words(row["text"], requests[id].content) for id in row["sources"] if id in requests)
    ]


def drop_statement(tx: Tx, row: Row) -> None:
    """Remove a row. A request to forget keeps the ids of what it retired: that stays forgotten."""
    if row["kind"] == profiles.FORGET and len(row["sources"]) > 1:
        tx.put(profiles.STATEMENTS, [{**row, "text": ""}])
    else:
        tx.remove(profiles.STATEMENTS, {"space": row["space"], "user_id": row["user_id"], "id": row["id"]})


def drop_meant_words(tx: Tx, space: str, messages: Sequence[Message]) -> None:
    """A request to forget "what I just said" has its words from that message: take them out, and keep what it did."""
    ids = {message.id for message in messages if message.id}
    authors = {message.author for message in messages if message.author}
    for row in rows_with(tx, profiles.STATEMENTS, space, "speaker", authors):
        if row["kind"] == profiles.FORGET and not ids.isdisjoint(row["sources"][1:]):
            sources = tuple(id for id in row["sources"] if id not in ids or id == row["id"])
            tx.put(profiles.STATEMENTS, [{**row, "text": "", "sources": sources}])


def forgotten_by(affected: Affected) -> set[str]:
    """The requests to forget that keep what they did."""
    return {row["id"] for row in affected.statements if row["kind"] == profiles.FORGET}


def messages_told_again(
    tx: Tx, space: str, ids: Collection[str], statements: Iterable[Row]
) -> list[tuple[str, Message]]:
    """The messages that asked for the same statements and are still there, each with the person it is about."""
    persons_by_id: dict[str, set[str]] = {}
    for row in statements:
        for id in row["sources"] if row["kind"] == profiles.SAID else ():
            if id not in ids:
                persons_by_id.setdefault(id, set()).add(row["user_id"])
    found = tx.find_messages(space, ids=sorted(persons_by_id), damaged=warn_of_damage) if persons_by_id else []
    standing = sorted((m for m in found if not m.erased), key=lambda message: (message.time, message.id))
    return [(person, message) for message in standing for person in sorted(persons_by_id[message.id])]


def tell_again(tx: Tx, person: str, message: Message) -> None:
    """Merge what a message asked to remember into a profile once more, by rules."""
    scene = MergeScene.read(tx, person, message, message.expires_at)
    inputs = scene.inputs(told_text(message))
    merge = remember.offline(inputs)
    if merge:
        keep_statements(tx, scene, merge, inputs, is_last=True)


def told_text(message: Message) -> str:
    """What a message asks to remember, without the asking."""
    if message.conversation.startswith(PROFILE_PREFIX) or command_of(message) is None:
        return message.content
    return parse_command(message.content, NAMES, for_bot=True).text or message.content


# -- messages nearby


def messages_after(tx: Tx, space: str, conversation: str, turns: Collection[int], count: int) -> Iterator[Message]:
    """The messages of users that are among the next `count` after a removed one."""
    last = max(turns)
    turn = min(turns) - 1
    pending = 0
    where = Filter(space, conversation=conversation)
    while turn <= last or pending:
        while turn + 1 in turns:  # removed ones that follow each other are not read
            turn += 1
            pending = count
        page = tx.messages(where, after=(conversation, turn), limit=AT_ONCE, damaged=warn_of_damage)
        for message in page:
            turn = message.turn
            if turn in turns:
                pending = count
            elif not message.erased and pending:
                pending -= 1
                if message.role == "user":
                    yield message
            if turn > last and not pending:
                return
        if not page:
            return


def messages_read_again(tx: Tx, space: str, messages: Sequence[Message]) -> tuple[list[Message], list[Row]]:
    """The messages that must be read again, and the findings in them that may rest on removed ones."""
    ids = {message.id for message in messages if message.id}
    read_again: list[Message] = []
    findings: list[Row] = []
    for conversation in sorted({message.conversation for message in messages}):
        roles = {message.turn: message.role for message in messages if message.conversation == conversation}
        turns = set(roles)
        has_reply = "assistant" in roles.values()
        near = list(messages_after(tx, space, conversation, turns, MAX_ECHOES if has_reply else NEAR))
        rows = rows_with(tx, FINDINGS, space, "message_id", {message.id for message in near})
        for message in near:
            own_rows = [row for row in rows if row["message_id"] == message.id]
            if any(rests_on_others(row, message, ids) for row in own_rows):
                read_again.append(message)
                findings += own_rows
    return read_again, findings


def rests_on_others(row: Row, message: Message, removed_ids: Collection[str]) -> bool:
    """Whether what was found in a message answers a removed question, or may have its words from a message before."""
    found = row["found"]
    if found.get("asked_in") in removed_ids:
        return True
    subject = found.get("subject")
    is_named = bool(subject) and subject not in (message.author, message.user)
    words = f"{found.get('value', '')} {subject if is_named else ''}"
    return bool(found.get("echo")) or has_other_words(words, message.content)


def has_other_words(text: str, source: str) -> bool:
    """Whether a text has words that its source does not have."""
    known = source.casefold()
    return any(word not in known for word in WORD.findall(text.casefold()))


def rewrite_old_change(tx: Tx, row: Statement, now: datetime) -> Statement:
    """The row of a change; the old value is taken out of it and of its message, if it is there."""
    messages = tx.find_messages(row.space, ids=[row.id], damaged=warn_of_damage)
    if not messages or messages[0].erased or not repeats_old_value(messages[0]):
        return row
    message = messages[0]
    details = own_notes(message.metadata)
    new = [values for values in details["facts"] if values["holds"] != "not"]
    text = line_of(found_fact_of(new[0])) if new else DELETED
    metadata = {**message.metadata, notes_key(message.metadata): {**details, "facts": new}}
    new_message = replace(message, content=text, metadata=metadata)
    replace_without_trace(tx, message, new_message, now)
    remove_stored_denials(tx, row)
    return replace(row, text=text)


def repeats_old_value(message: Message) -> bool:
    return any(values["holds"] == "not" for values in own_notes(message.metadata).get("facts", ()))


def replace_without_trace(tx: Tx, message: Message, new_message: Message, now: datetime) -> None:
    """Store another text of a message, and keep nothing of the one it had."""
    space, id = message.space, message.conversation
    conversation = tx.lock_conversation(Conversation(space, id, None, now, now))
    change = LogChange(space, id, 0, "edit", message.turn, now, "", edited_fields(message), edited_fields(new_message))
    conversation = append_change(tx, conversation, change)
    place = {"space": space, "conversation": id, "turn": message.turn}
    views = [view for view, table in BY_MESSAGE.items() if tx.rows(table, limit=1, where=place)]
    tx.rewrite_messages([new_message])
    tx.save_conversation(replace(conversation, changed_at=now))
    erase_edits(tx, space, [new_message], new_id(now))
    for view in views:
        request_reading(tx, view, [new_message], now, WHY)


def remove_stored_denials(tx: Tx, row: Statement) -> None:
    """Older versions stored what a change denies as findings."""
    place = {"space": row.space, "user_id": row.user, "message_id": row.id}
    for finding in tx.rows(FINDINGS, where=place):
        if finding["found"]["holds"] == "not":
            key = ("slot", "time", "conversation", "turn", "number")
            tx.remove(FINDINGS, {**place, **{name: finding[name] for name in key}})


Select = Callable[[Tx], Iterable[Message]]

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
    entry_count = tx.erase(erasure, [checks_and_seals.tombstone(message) for message in messages], keep=keep)
    erase_edits(tx, space, messages, erasure.id)
    note_events(tx, space, erasure_events(messages, erasure.id, order.at))
    append_and_read.note_removal(tx, space, order, len(messages))
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
    selected_turns = turns_by_conversation((message.conversation, message.turn) for message in messages)
    for conversation, turns in selected_turns.items():
        place = {"space": space, "conversation": conversation}
        topics = set[int]()
        for start in range(0, len(turns), AT_ONCE):
            where = {**place, "turn": tuple(turns[start : start + AT_ONCE])}
            counts["index"] += len(tx.rows("entries", where=where, columns=("turn",)))
            counts["tiers"] += len(tx.rows("tiers", where=where, columns=("turn",)))
            topics |= {row["topic"] for row in tx.rows("topic_turns", where=where, columns=("topic",))}
        counts["topics"] += len(topics)
        counts["episodes"] += sum(covers(turns, row["first"], row["last"]) for row in tx.rows("episodes", where=place))
    days = digest_days(tx, space, selected_turns)
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
    for day in digest_days(tx, space, turns_by_conversation(message_keys)):
        tx.remove("digests", {"space": space, "kind": "day", "day": day})
    for kind in ("week", "merge"):
        tx.remove("digests", {"space": space, "kind": kind})
    tx.put("spaces", [{"space": space, "version": 1}], add=("version",))


def digest_days(tx: Tx, space: str, selected_turns: Mapping[str, Sequence[int]]) -> list[str]:
    """The days on which somebody said one of these messages in a channel. Turns are given by conversation, in order."""
    days = {
        row["day"]
        for conversation, turns in selected_turns.items()
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
    keys = append_and_read.keys_of_person(tx, space, user)
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
        append_and_read.note_removal(tx, space, order, 0)
    append_and_read.forget_keys(tx, space, keys)
    return erasure


def anonymise_conversations(
    tx: Tx, space: str, ids: Sequence[str], conversations: Iterable[Conversation], now: datetime
) -> int:
    """Give a random id to each empty conversation of this person, or of nobody, whose id contains an id of the person.
    The seals of erased messages do not cover the id, so the chain stays valid. Returns how many were renamed."""
    count = 0
    for conversation in conversations:
        is_own = conversation.user in (*ids, None) or conversation.id in map(checks_and_seals.profile_conversation, ids)
        is_named = any(checks_and_seals.names_person(conversation.id, id) for id in ids)
        if is_own and is_named and is_empty(tx, conversation):
            note_renamed_messages(tx, space, conversation.id, now)
            tx.rename_conversation(space, conversation.id, f"{checks_and_seals.ERASED_PREFIX}{new_id(now)}")
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
    if tx.conversation(space, checks_and_seals.profile_conversation(user)) is not None:
        ids.add(checks_and_seals.profile_conversation(user))
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
