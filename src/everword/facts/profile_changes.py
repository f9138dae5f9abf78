"""Changes to a profile, in a transaction each: keeping statements, retiring what was forgotten, restoring it.

A profile changes under the person's lock, and only if it is still the one that the change was made for: two speakers at
once lose nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from everword.errors import NotFound
from everword.facts import view as facts
from everword.facts.prompts import RememberInputs, remember
from everword.facts.rules.statements import (
    ProfileMerge,
    contradicts,
    parse_statement,
    restore_statement,
    rows_after_merge,
    says_same,
)
from everword.facts.tables import people as profiles
from everword.facts.tables.facts import facts_of
from everword.facts.tables.facts import put_facts as put_facts
from everword.facts.tables.people import statements_of, weigh_across_audiences
from everword.facts.viewers import is_channel, name_for, own_name, viewer_alone
from everword.log import tables as log
from everword.log.access import Viewer, may_take_back
from everword.model import (
    Fact,
    Forgotten,
    Message,
    Statement,
)
from everword.ports import Tx


def read_merge_inputs(
    tx: Tx, user: str, message: Message, expires_at: datetime | None = None
) -> tuple[str, str, list[Statement]]:
    """A person's name, the speaker's name if it is somebody else, and the statements that a new one is merged with.

    Those are the statements of the same speaker in the same channel, or in private: a merge rewords what it is given,
    and words must not move to where others see them, nor from one speaker to another. What expires is merged with
    nothing: else its words would outlive it, or lasting ones would go with it.
    """
    audience = audience_of(tx, message)
    viewer = Viewer(channel=audience) if audience is not None else viewer_alone(tx, message.space, message.author)
    name = name_for(tx, message.space, user, viewer)
    speaker_name = "" if message.author == user else name_for(tx, message.space, message.author, viewer)
    statements = statements_of(tx, message.space, user)
    return (
        name,
        speaker_name,
        [
            statement
            for statement in statements
            if (statement.audience, statement.speaker) == (audience, message.author)
            and statement.expires_at is None
            and expires_at is None
        ],
    )


def keep_statements(
    user: str,
    name: str,
    known_statements: Sequence[Statement],
    merge: ProfileMerge,
    message: Message,
    is_last: bool,
    inputs: RememberInputs,
    expires_at: datetime | None,
    tx: Tx,
) -> list[Statement] | None:
    """Store a merge if the profile has not changed since; on the last try, merge again in this transaction.

    What expires makes no facts, and replaces only what expires too.
    """
    tx.lock(facts.LOCK, message.space, user)
    if is_removed(tx, message):
        return []
    _, _, current = read_merge_inputs(tx, user, message, expires_at)
    if [statement.id for statement in current] != [statement.id for statement in known_statements]:
        if not is_last:
            return None
        merge = remember.offline(replace(inputs, statements=tuple(statement.text for statement in current)))
    # The statement that was said last wins, in whatever order the messages arrive here.
    later = statements_after(tx, message, current)
    replaced_numbers = tuple(number for number in merge.replaced if current[number - 1] not in later)
    rows = rows_after_merge(
        current,
        replace(merge, replaced=replaced_numbers),
        space=message.space,
        user=user,
        speaker=message.author,
        said_at=message.time,
        source=message.id,
        audience=audience_of(tx, message),
    )
    if expires_at is not None:
        rows = [replace(row, expires_at=expires_at) for row in rows]
    ids = {statement.id for statement in current}
    others = [
        statement
        for statement in statements_of(tx, message.space, user)
        if statement.id not in ids and (expires_at is None or statement.expires_at is not None)
    ]
    standing = list[Statement]()
    for row in (row for row in rows if row.active):
        newer = next(
            (
                statement
                for statement in later
                if contradicts(parse_statement(name, row.text), parse_statement(name, statement.text))
            ),
            None,
        )
        if newer is not None:
            profiles.put_statements(tx, [replace(row, active=False, retired_at=newer.said_at, retired_by=newer.id)])
            standing.append(newer)
            continue
        changes, duplicate = weigh_across_audiences(name, row, others) if row.id not in ids else ([], None)
        profiles.put_statements(tx, [*changes, *([row] if duplicate is None else [])])
        standing.append(duplicate or row)
    profiles.put_statements(tx, [row for row in rows if not row.active])
    new_facts = [
        fact
        for row in rows
        if message.id in row.sources and row.expires_at is None
        for fact in facts.facts_in_statement(profiles.name_in_statement(tx, row), row, message)
    ]
    facts.store_facts(tx, message.space, message.conversation, (), from_commands=[(user, message, new_facts)])
    facts.mark_command_read(tx, message)
    return standing


def is_removed(tx: Tx, message: Message) -> bool:
    """Whether a message was removed while something was made of it."""
    return any(found.erased for found in tx.find_messages(message.space, ids=[message.id], damaged=log.warn_of_damage))


def statements_after(tx: Tx, reference: Message, statements: Sequence[Statement]) -> list[Statement]:
    """The statements that came after a message: by turn, or between conversations by time, as with facts."""
    ids = {id for statement in statements for id in statement.sources}
    sources = tx.find_messages(reference.space, ids=sorted(ids), damaged=log.warn_of_damage) if ids else []
    sources_by_id = {message.id: message for message in sources}

    def is_after(message: Message) -> bool:
        if message.conversation == reference.conversation:
            return message.turn > reference.turn
        return message.time > reference.time

    return [
        statement
        for statement in statements
        if any(is_after(sources_by_id[id]) for id in statement.sources if id in sources_by_id)
    ]


def audience_of(tx: Tx, message: Message) -> str | None:
    """The channel in which a message was said, or None if it was said in private."""
    return message.conversation if is_channel(tx, message.space, message.conversation) else None


def forgettable_knowledge(
    tx: Tx, space: str, user: str, asker: str, viewer: Viewer, now: datetime
) -> tuple[str, list[Statement], list[Fact]]:
    """The person's name for the asker, and the statements and facts that the asker may have forgotten."""
    statements = [
        statement
        for statement in statements_of(tx, space, user)
        if statement.is_shown_at(now) and may_take_back(asker, statement, viewer)
    ]
    known_facts = [fact for fact in facts_of(tx, space, user, active=True) if may_take_back(asker, fact, viewer)]
    return name_for(tx, space, user, viewer), statements, known_facts


def retire_knowledge(
    space: str,
    user: str,
    description: str,
    statement_ids: set[str],
    fact_ids: set[str],
    message: Message,
    meant_id: str | None,
    tx: Tx,
) -> Forgotten:
    """Retire the statements and facts with these ids that still stand, and keep the request with what it retired, and
    with the message that it has its words from, if that is another one."""
    tx.lock(facts.LOCK, space, user)
    statements = [
        replace(statement, active=False, retired_at=message.time, retired_by=message.id)
        for statement in statements_of(tx, space, user)
        if statement.id in statement_ids
    ]
    retired_facts = [
        facts.retire_fact(fact, message.id, message.time)
        for fact in facts_of(tx, space, user, active=True)
        if fact.id in fact_ids
    ]
    request = Statement(
        space,
        user,
        message.id,
        description,
        message.author,
        message.time,
        (message.id, *(fact.id for fact in retired_facts), *filter(None, [meant_id])),
    )
    profiles.put_statements(tx, [request], profiles.FORGET)
    profiles.put_statements(tx, statements)
    put_facts(tx, retired_facts)
    facts.mark_command_read(tx, message)
    return Forgotten(message.id, tuple(statements), tuple(retired_facts))


def restore_knowledge(tx: Tx, space: str, user: str, id: str, asker: str | None) -> Forgotten:
    tx.lock(facts.LOCK, space, user)
    every_request = statements_of(tx, space, user, kind=profiles.FORGET)
    requests = [request for request in every_request if request.id == id and asker in (None, request.speaker)]
    if not requests:
        raise NotFound(f"user {user!r} has nothing forgotten under {id!r} in space {space!r}")
    profiles.put_statements(tx, [replace(requests[0], active=False)], profiles.FORGET)
    statements = statements_of(tx, space, user, active=False)
    name = own_name(tx, space, user)
    # What the same speaker said since then stands: nothing is restored that contradicts it or repeats it.
    standing = [
        (statement.speaker, parse_statement(name, statement.text))
        for statement in statements
        if statement.active and statement.expires_at is None
    ]
    retired_statements = [
        (statement, parse_statement(name, statement.text)) for statement in statements if statement.retired_by == id
    ]
    restored_statements = [
        restore_statement(statement)
        for statement, old_reading in retired_statements
        if not any(
            speaker == statement.speaker
            and (contradicts(old_reading, standing_reading) or says_same(standing_reading, old_reading))
            for speaker, standing_reading in standing
        )
    ]
    all_facts = facts_of(tx, space, user)
    restored_facts = [
        facts.reactivate_fact(fact)
        for fact in all_facts
        if fact.retired_by == id and not facts.is_replaced(fact, all_facts)
    ]
    profiles.put_statements(tx, restored_statements)
    put_facts(tx, restored_facts)
    return Forgotten(id, tuple(restored_statements), tuple(restored_facts))


def restore_statements(tx: Tx, space: str, person: str, retired_by: set[str]) -> list[Statement]:
    """Bring back the statements that a change retired, if nothing contradicts them that was said since."""
    statements = profiles.statements_of(tx, space, person, active=False)
    name = own_name(tx, space, person)
    lasting = [statement for statement in statements if statement.active and statement.expires_at is None]
    standing = [parse_statement(name, statement.text) for statement in lasting]
    restored = [
        restore_statement(statement)
        for statement in statements
        if not statement.active
        and statement.retired_by in retired_by
        and not any(contradicts(parse_statement(name, statement.text), reading) for reading in standing)
    ]
    profiles.put_statements(tx, restored)
    return restored
