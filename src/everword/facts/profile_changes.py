"""Changes to a profile, in a transaction each: keeping statements, retiring what was forgotten, restoring it.

A profile changes under the person's lock, and only if it is still the one that the change was made for: two speakers at
once lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from everword.errors import NotFound
from everword.facts import stored_facts
from everword.facts import view as facts
from everword.facts.prompts import RememberInputs, remember
from everword.facts.rules import remembered_statements as rules
from everword.log.access import Viewer, is_claim, may_take_back
from everword.log.append_and_read import warn_of_damage
from everword.log.events import fact_events, note_events
from everword.model import Fact, Forgotten, FoundFact, Message, Statement
from everword.ports import Tx


@dataclass(frozen=True, slots=True)
class MergeScene:
    """What a message is merged into: the profile of a user as far as its words may move there.

    Those are the statements of the same speaker in the same channel, or in private: a merge rewords what it is given,
    and words must not move to where others see them, nor from one speaker to another. What expires is merged with
    nothing: else its words would outlive it, or lasting ones would go with it.
    """

    user: str
    message: Message
    expires_at: datetime | None
    name: str
    speaker_name: str
    """The speaker's name if it is somebody else."""
    statements: Sequence[Statement]

    @classmethod
    def read(cls, tx: Tx, user: str, message: Message, expires_at: datetime | None) -> MergeScene:
        audience = audience_of(tx, message)
        viewer = (
            Viewer(channel=audience)
            if audience is not None
            else stored_facts.viewer_alone(tx, message.space, message.author)
        )
        name = stored_facts.name_for(tx, message.space, user, viewer)
        speaker_name = (
            "" if message.author == user else stored_facts.name_for(tx, message.space, message.author, viewer)
        )
        statements = [
            statement
            for statement in stored_facts.statements_of(tx, message.space, user)
            if (statement.audience, statement.speaker) == (audience, message.author)
            and statement.expires_at is None
            and expires_at is None
        ]
        return cls(user, message, expires_at, name, speaker_name, statements)

    def may_replace(self, statement: Statement) -> bool:
        return self.expires_at is None or statement.expires_at is not None

    def inputs(self, text: str, conversation: tuple[rules.AuthoredMessage, ...] = ()) -> RememberInputs:
        """What is asked of a model, or of the rules. Without a text, the end of the conversation is what is meant."""
        texts = tuple(statement.text for statement in self.statements)
        return RememberInputs(self.name, texts, text, self.speaker_name, conversation)


def keep_statements(
    tx: Tx, scene: MergeScene, merge: rules.ProfileMerge, inputs: RememberInputs, *, is_last: bool
) -> list[Statement] | None:
    """Store a merge if the profile has not changed since; on the last try, merge again in this transaction.

    What expires makes no facts, and replaces only what expires too.
    """
    message = scene.message
    tx.lock(facts.LOCK, message.space, scene.user)
    if is_removed(tx, message):
        return []
    current = replace(scene, statements=MergeScene.read(tx, scene.user, message, scene.expires_at).statements)
    ids = [statement.id for statement in current.statements]
    if ids != [statement.id for statement in scene.statements]:
        if not is_last:
            return None
        merge = remember.offline(current.inputs(inputs.new, inputs.conversation))
    later = statements_after(tx, message, current.statements)
    all_statements = stored_facts.statements_of(tx, message.space, scene.user)
    others = [statement for statement in all_statements if statement.id not in ids and scene.may_replace(statement)]
    rows = merged_rows(tx, current, merge, later)
    standing = [
        put_against_others(tx, scene.name, row, later, others if row.id not in ids else ())
        for row in rows
        if row.active
    ]
    stored_facts.put_statements(tx, [row for row in rows if not row.active])
    new_facts = list(facts_told(tx, rows, message))
    facts.store_facts(tx, message.space, message.conversation, (), from_commands=[(scene.user, message, new_facts)])
    facts.mark_command_read(tx, message)
    return standing


def facts_told(tx: Tx, rows: Sequence[Statement], message: Message) -> Iterator[FoundFact]:
    """The facts in the statements that a message made."""
    for row in rows:
        if message.id in row.sources and row.expires_at is None:
            yield from facts.facts_in_statement(stored_facts.name_in_statement(tx, row), row, message)


def merged_rows(tx: Tx, scene: MergeScene, merge: rules.ProfileMerge, later: Sequence[Statement]) -> list[Statement]:
    """The rows after a merge. The statement that was said last wins, in whatever order the messages arrive here."""
    message = scene.message
    replaced_numbers = tuple(number for number in merge.replaced if scene.statements[number - 1] not in later)
    rows = rules.rows_after_merge(
        scene.statements,
        replace(merge, replaced=replaced_numbers),
        space=message.space,
        user=scene.user,
        speaker=message.author,
        said_at=message.time,
        source=message.id,
        audience=audience_of(tx, message),
    )
    return rows if scene.expires_at is None else [replace(row, expires_at=scene.expires_at) for row in rows]


def put_against_others(
    tx: Tx, name: str, row: Statement, later: Sequence[Statement], others: Sequence[Statement]
) -> Statement:
    """Store a statement with what it does to those of other audiences. Returns the one that stands: itself, one that
    was said later and contradicts it, or one that says the same already."""
    reading = rules.parse_statement(name, row.text)
    for newer in later:
        if rules.contradicts(reading, rules.parse_statement(name, newer.text)):
            stored_facts.put_statements(tx, [replace(row, active=False, retired_at=newer.said_at, retired_by=newer.id)])
            return newer
    changes, duplicate = weigh_across_audiences(name, row, others)
    stored_facts.put_statements(tx, [*changes, *([row] if duplicate is None else [])])
    return duplicate or row


def may_give_way(old: Statement, new: Statement) -> bool:
    """Whether a new statement may retire an old one: by the same speaker, or if it is the person's own word against
    what others said in the same channel. Statements of other audiences stay: if one disappeared, others would learn
    that something was said in private."""
    heard_both = old.audience is not None and old.audience == new.audience
    return old.speaker == new.speaker or (not is_claim(new) and heard_both)


def weigh_across_audiences(
    name: str, new: Statement, others: Iterable[Statement]
) -> tuple[list[Statement], Statement | None]:
    """What a new statement does to those of another audience: rows to store, and the one that already says the same.

    The newer one wins here, too, but no text moves to another audience: the rest of a private statement stays private.
    """
    new_reading = rules.parse_statement(name, new.text)
    rows = list[Statement]()
    for old in (old for old in others if may_give_way(old, new)):
        old_reading = rules.parse_statement(name, old.text)
        retired_row = replace(old, active=False, retired_at=new.said_at, retired_by=new.id)
        if rules.contradicts(old_reading, new_reading):
            rows.append(retired_row)
            remaining_texts = rules.facts_not_restated(old_reading, [new_reading])
            rows += [replace(old, id=f"{old.id}.{number}", text=text) for number, text in enumerate(remaining_texts, 1)]
        elif old.expires_at is not None:  # the new one stands longer, or at least is newer
            if rules.says_same(new_reading, old_reading):
                rows.append(retired_row)
        elif new.audience is None and old.speaker == new.speaker and rules.says_same(old_reading, new_reading):
            return [], old
        elif new.audience is not None and rules.says_same(new_reading, old_reading):
            rows.append(retired_row)
    return rows, None


def is_removed(tx: Tx, message: Message) -> bool:
    """Whether a message was removed while something was made of it."""
    return any(found.erased for found in tx.find_messages(message.space, ids=[message.id], damaged=warn_of_damage))


def statements_after(tx: Tx, reference: Message, statements: Sequence[Statement]) -> list[Statement]:
    """The statements that came after a message: by turn, or between conversations by time, as with facts."""
    ids = {id for statement in statements for id in statement.sources}
    sources = tx.find_messages(reference.space, ids=sorted(ids), damaged=warn_of_damage) if ids else []
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
    return message.conversation if stored_facts.is_channel(tx, message.space, message.conversation) else None


def forgettable_knowledge(
    tx: Tx, space: str, user: str, asker: str, viewer: Viewer, now: datetime
) -> tuple[str, list[Statement], list[Fact]]:
    """The person's name for the asker, and the statements and facts that the asker may have forgotten."""
    statements = [
        statement
        for statement in stored_facts.statements_of(tx, space, user)
        if statement.is_shown_at(now) and may_take_back(asker, statement, viewer)
    ]
    known_facts = [
        fact for fact in stored_facts.facts_of(tx, space, user, active=True) if may_take_back(asker, fact, viewer)
    ]
    return stored_facts.name_for(tx, space, user, viewer), statements, known_facts


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
    standing = [statement for statement in stored_facts.statements_of(tx, space, user) if statement.id in statement_ids]
    active_facts = stored_facts.facts_of(tx, space, user, active=True)
    meant_facts = [fact for fact in active_facts if fact.id in fact_ids]
    # The request comes after what it takes back, whatever the clocks say.
    times = [statement.said_at for statement in standing] + [fact.said_at for fact in meant_facts]
    when = max([message.time, *times])
    statements = [replace(statement, active=False, retired_at=when, retired_by=message.id) for statement in standing]
    retired_facts = [facts.retire_fact(fact, message.id, when) for fact in meant_facts]
    request = Statement(
        space,
        user,
        message.id,
        description,
        message.author,
        when,
        (message.id, *(fact.id for fact in retired_facts), *filter(None, [meant_id])),
    )
    stored_facts.put_statements(tx, [request], stored_facts.FORGET)
    stored_facts.put_statements(tx, statements)
    put_changed_facts(tx, space, active_facts, retired_facts, when)
    facts.mark_command_read(tx, message)
    return Forgotten(message.id, tuple(statements), tuple(retired_facts))


def restore_knowledge(tx: Tx, space: str, user: str, id: str, asker: str | None) -> Forgotten:
    tx.lock(facts.LOCK, space, user)
    every_request = stored_facts.statements_of(tx, space, user, kind=stored_facts.FORGET)
    requests = [request for request in every_request if request.id == id and asker in (None, request.speaker)]
    if not requests:
        raise NotFound(f"the profile of user {user!r} in space {space!r} has no change with the ID {id!r}")
    stored_facts.put_statements(tx, [replace(requests[0], active=False)], stored_facts.FORGET)
    statements = stored_facts.statements_of(tx, space, user, active=False)
    name = stored_facts.own_name(tx, space, user)
    # What the same speaker said since then stands: nothing is restored that contradicts it or repeats it.
    standing = [(statement.speaker, rules.parse_statement(name, statement.text)) for statement in lasting(statements)]
    restored_statements = [
        rules.restore_statement(statement)
        for statement in statements
        if statement.retired_by == id
        and not any(
            speaker == statement.speaker and answers(reading, rules.parse_statement(name, statement.text))
            for speaker, reading in standing
        )
    ]
    all_facts = stored_facts.facts_of(tx, space, user)
    restored_facts = [
        facts.reactivate_fact(fact)
        for fact in all_facts
        if fact.retired_by == id and not facts.is_replaced(fact, all_facts)
    ]
    stored_facts.put_statements(tx, restored_statements)
    put_changed_facts(tx, space, all_facts, restored_facts, requests[0].said_at)
    return Forgotten(id, tuple(restored_statements), tuple(restored_facts))


def put_changed_facts(tx: Tx, space: str, before: Iterable[Fact], changed: Sequence[Fact], at: datetime) -> None:
    facts_before = {fact.id: fact for fact in before}
    stored_facts.put_facts(tx, changed)
    note_events(tx, space, fact_events([(facts_before[fact.id], fact) for fact in changed], at))


def answers(standing: rules.ParsedStatement, old: rules.ParsedStatement) -> bool:
    """Whether a statement that stands contradicts an old one, or repeats it."""
    return rules.contradicts(old, standing) or rules.says_same(standing, old)


def lasting(statements: Iterable[Statement]) -> list[Statement]:
    return [statement for statement in statements if statement.active and statement.expires_at is None]


def restore_statements(tx: Tx, space: str, person: str, retired_by: set[str]) -> list[Statement]:
    """Bring back the statements that a change retired, if nothing contradicts them that was said since."""
    statements = stored_facts.statements_of(tx, space, person, active=False)
    name = stored_facts.own_name(tx, space, person)
    standing = [rules.parse_statement(name, statement.text) for statement in lasting(statements)]
    restored = [
        rules.restore_statement(statement)
        for statement in statements
        if not statement.active
        and statement.retired_by in retired_by
        and not any(rules.contradicts(rules.parse_statement(name, statement.text), reading) for reading in standing)
    ]
    stored_facts.put_statements(tx, restored)
    return restored
