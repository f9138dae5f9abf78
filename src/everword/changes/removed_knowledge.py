"""Takes what removed messages said out of facts and statements, and makes again what others said too.

A fact is weighed again from the findings that are left: one with another source stays, one that a removed message had
replaced is back. A statement that a removed message asked for goes; one that others asked for too, or that may repeat
words of one that went, is made again from their messages. A request to forget keeps what it did, without its words. A
change of a fact by hand stays, and loses the id of what was removed. A finding in a message nearby that may have its
words from a removed one is dropped, and that message is read again.

Older versions wrote changes of facts whose text and metadata repeat the value that was edited or deleted. When a
message that told that value is removed or edited, the change gets the text that is written today, as an edit of which
nothing is kept: the chain of the log holds, and the value is in no table. What the change decided stands.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from everword.facts import tables as profiles
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
from everword.facts.tables import ANSWER, facts_of
from everword.facts.view import LOCK, FactsView, command_of, weigh_slots
from everword.follow.faults import request_reading
from everword.log.rules import TOLD, edited_fields
from everword.log.tables import PEOPLE, append_change, erase_edits, every_message, new_id, warn_of_damage
from everword.model import Conversation, Fact, Filter, LogChange, Message, Statement
from everword.model.log import notes_key, own_notes
from everword.ports import Tx

AT_ONCE = 500  # ids in one query
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
            if command_of(message) == "remember" and not message.conversation.startswith(TOLD):
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
    if message.conversation.startswith(TOLD) or command_of(message) is None:
        return message.content
    return parse_command(message.content, NAMES, for_bot=True).text or message.content


# -- messages nearby


def messages_after(tx: Tx, space: str, conversation: str, turns: Collection[int], count: int) -> Iterator[Message]:
    """The messages of users that are among the next `count` after a removed one."""
    first = min(turns)
    last = max(turns)
    pending = 0
    where = Filter(space, conversation=conversation)
    for message in every_message(tx, where, warn_of_damage, after=first - 1):
        if message.turn in turns:
            pending = count
        elif not message.erased and pending:
            pending -= 1
            if message.role == "user":
                yield message
        if message.turn > last and not pending:
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
