"""Moves: the log gets the new names, what was derived follows, and each conversation notes it.

Passages of the index, tiers and the days' rows keep what they say under the new names. What quotes people by name is
made anew: episodes, topics, digests. Only where the messages themselves have expired, summaries stay as they are.

What was told of a person (statements, names, documents) is kept and gets the new names. What was found in messages is
kept as well, and the facts are weighed again from it, so no model reads a message twice. What must be known to take a
move back is kept as its record: ids, times and hashes, and nothing that was said.

A plan decides what changes: of which conversations the names, the owners and the turns of which messages. It is made
under the locks of its conversations and then carried out, or made on a snapshot and only counted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Any

from everword.changes.removal import FINDING_KEY, drop_answers, drop_digests, drop_receipts, rows_with
from everword.documents import names_in
from everword.errors import InvalidInput, NotFound
from everword.facts import stored_facts as profiles
from everword.facts import view
from everword.facts.findings import FINDINGS, REFUSED, findings_of, json_values, slot_of, to_found_fact
from everword.facts.rules.deciding import fact_id
from everword.facts.stored_facts import ANSWER, CHANGES, CHANNEL, STATEMENTS, facts_of, name_for, viewer_of_statement
from everword.facts.view import command_of
from everword.log.append_and_read import (
    CHANGES_TABLE,
    DIGESTING,
    NAME_KINDS,
    PEOPLE,
    PRIVATE,
    Order,
    append_change,
    cursor_of,
    every_conversation,
    every_message,
    is_empty,
    note_removal,
    note_renamed_messages,
    to_change,
    warn_of_damage,
)
from everword.log.checks_and_seals import (
    ERASED_PREFIX,
    PROFILE_PREFIX,
    check_id,
    contains_turn,
    profile_conversation,
    to_ranges,
    with_audience,
)
from everword.model import Conversation, Filter, FoundFact, LogChange, Message, MoveKind
from everword.model.log import own_notes
from everword.ports import Tx
from everword.summaries.digests import DAYS, bump_version

Lock = Callable[[Iterable[str]], None]
Row = Mapping[str, Any]


def check_new_name(name: str) -> str:
    """The new id of a conversation; not one that memory uses itself."""
    id = check_id("to", name)
    if id.startswith((PROFILE_PREFIX, ERASED_PREFIX)):
        raise InvalidInput("to", f"must not begin with {PROFILE_PREFIX!r} or {ERASED_PREFIX!r}; choose another ID")
    return id


def check_movable(conversation: str) -> str:
    """The id of a conversation that may be moved; not one that memory keeps itself."""
    id = check_id("conversation", conversation)
    if id.startswith((PROFILE_PREFIX, ERASED_PREFIX)):
        raise InvalidInput(
            "conversation",
            f"{id!r} is internal to everword and cannot be moved alone; `merge_users` moves it with all data of its "
            "user",
        )
    return id


def further_profile_conversation(user: str, number: int) -> str:
    """The name of the conversation with what a person told by command under another id: there is one already."""
    return profile_conversation(user) if number == 1 else profile_conversation(f"{user}~{number}")


def subject_under_names(
    subject: str | None, before: tuple[str, str | None], after: tuple[str, str | None]
) -> str | None:
    """Whom a finding is about, when the author and the user of its message get other names. What somebody says in the
    memory of another user is about its author, unless it names somebody."""
    author, user = before
    named = None if subject == author and user not in (None, author) else subject
    new_author, new_user = after
    return named or (new_author if new_user not in (None, new_author) else None)


def first_name(text: str, names: Iterable[str]) -> str | None:
    """The one of these names that a text begins with; the longest, if there are several."""
    for name in sorted(names, key=len, reverse=True):
        if re.match(rf"{re.escape(name)}(?!\w)", text, re.IGNORECASE):
            return name
    return None


def hash_key(*parts: str) -> str:
    """Stands for a name or a key without saying it."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Step:
    """What changes in one conversation: its id, its owner, and the turns whose user or author becomes another person,
    or whose channel (`heard`) another name. `messages` are those, as they are now."""

    conversation: Conversation
    id: str
    owner: str | None
    messages: Sequence[Message] = ()
    owned: frozenset[int] = frozenset()
    written: frozenset[int] = frozenset()
    heard: frozenset[int] = frozenset()

    @property
    def is_renamed(self) -> bool:
        return self.id != self.conversation.id


@dataclass(frozen=True, slots=True)
class MovePlan:
    """What a move does: the person whose things become another's, if any, and a step for each conversation. If it is
    `whole`, all that the person has goes along. `channel` is a channel's id before and after. An undo has the `record`
    of what the move that it takes back did besides."""

    space: str
    kind: MoveKind
    user: str | None
    into: str | None
    steps: Sequence[Step]
    whole: bool = False
    channel: tuple[str, str] | None = None
    undoes: str | None = None
    record: Mapping[str, Any] = field(default_factory=dict)

    @property
    def messages(self) -> list[Message]:
        """The messages that become another person's."""
        return [
            message
            for step in self.steps
            for message in step.messages
            if message.turn in step.owned or message.turn in step.written
        ]


# -- one conversation


def plan_move(tx: Tx, space: str, id: str, to: str | None, user: str | None, lock: Lock) -> MovePlan | None:
    """The plan that renames a conversation or gives it to another user, or both; None if all is so already."""
    conversation = find_conversation(tx, space, id)
    new_id = id if to is None else to
    owner = conversation.user
    check_free(tx, space, id, new_id)
    if user is None or user == owner:
        return None if new_id == id else plan_rename(tx, conversation, new_id, lock)
    if owner is None:
        raise InvalidInput(
            "user",
            f"cannot be changed: conversation {id!r} is a channel or belonged to an erased user; only the "
            "ID of the conversation can be changed",
        )
    if has_said_all_in(tx, space, owner, id):
        plan = plan_people(tx, space, "move", owner, user, lock)
    else:
        lock([id])
        plan = MovePlan(space, "move", owner, user, [plan_step(tx, find_conversation(tx, space, id), owner, user)])
    steps = [replace(step, id=new_id) if step.conversation.id == id else step for step in plan.steps]
    return MovePlan(space, "move", owner, user, steps, plan.whole)


def find_conversation(tx: Tx, space: str, id: str) -> Conversation:
    conversation = tx.conversation(space, id)
    if conversation is None:
        raise NotFound(f"there is no conversation {id!r} in space {space!r}; nothing was moved")
    return conversation


def check_free(tx: Tx, space: str, id: str, new_id: str) -> None:
    if new_id != id and tx.conversation(space, new_id) is not None:
        raise InvalidInput("to", f"is {new_id!r}, which another conversation already has; choose another ID")


def has_said_all_in(tx: Tx, space: str, user: str, id: str) -> bool:
    """Whether a person has said nothing outside this conversation, but for what they told by command."""
    places = {message.conversation for message in messages_of_person(tx, space, user)}
    places |= {place.id for place in every_conversation(tx, space, user) if not is_empty(tx, place)}
    return all(place == id or place.startswith(PROFILE_PREFIX) for place in places)


def plan_rename(tx: Tx, conversation: Conversation, new_id: str, lock: Lock) -> MovePlan:
    """The plan that only renames a conversation. Changes of facts name the channel that sees them: they follow."""
    space = conversation.space
    old_id = conversation.id
    messages_by_place: dict[str, list[Message]] = {}
    for message in changes_heard_in(tx, space, old_id) if conversation.user is None else ():
        messages_by_place.setdefault(message.conversation, []).append(message)
    lock([old_id, *messages_by_place])
    steps = [Step(find_conversation(tx, space, old_id), new_id, conversation.user)]
    for place, messages in sorted(messages_by_place.items()):
        other = find_conversation(tx, space, place)
        steps.append(Step(other, place, other.user, messages, heard=frozenset(message.turn for message in messages)))
    return MovePlan(space, "move", None, None, steps, channel=(old_id, new_id))


def changes_heard_in(tx: Tx, space: str, channel: str) -> list[Message]:
    """The messages that are changes of facts which a channel sees."""
    ids = [row["id"] for row in tx.rows(STATEMENTS, where={"space": space, "kind": CHANGES})]
    messages = tx.find_messages(space, ids=ids, damaged=warn_of_damage) if ids else []
    return [
        message for message in messages if not message.erased and own_notes(message.metadata).get("audience") == channel
    ]


# -- a person


def plan_people(tx: Tx, space: str, kind: MoveKind, user: str, into: str, lock: Lock) -> MovePlan:
    """The plan that makes all that a person has another's."""
    lock(conversations_of_person(tx, space, user))
    steps: list[Step] = []
    for id in sorted(conversations_of_person(tx, space, user)):
        step = plan_step(tx, find_conversation(tx, space, id), user, into)
        if id.startswith(PROFILE_PREFIX) and step.conversation.user == user:
            step = replace(step, id=free_profile_conversation(tx, space, into, {step.id for step in steps}))
        steps.append(step)
    return MovePlan(space, kind, user, into, steps, whole=True)


def plan_step(tx: Tx, conversation: Conversation, user: str, into: str) -> Step:
    """All messages of a person in a conversation become another's."""
    space = conversation.space
    own = {
        message.turn: message
        for where in (
            Filter(space, user=user, conversation=conversation.id),
            Filter(space, author=user, conversation=conversation.id),
        )
        for message in every_message(tx, where, warn_of_damage)
        if not message.erased
    }
    messages = [own[turn] for turn in sorted(own)]
    return Step(
        conversation,
        conversation.id,
        into if conversation.user == user else conversation.user,
        messages,
        frozenset(message.turn for message in messages if message.user == user),
        frozenset(message.turn for message in messages if message.author == user),
    )


def free_profile_conversation(tx: Tx, space: str, user: str, taken: Collection[str] = ()) -> str:
    """A name for one more conversation with what a person told by command."""
    for number in count(1):
        name = further_profile_conversation(user, number)
        if name not in taken and tx.conversation(space, name) is None:
            break
    return name


def messages_of_person(tx: Tx, space: str, user: str) -> Iterable[Message]:
    for where in (Filter(space, user=user), Filter(space, author=user)):
        yield from (message for message in every_message(tx, where, warn_of_damage) if not message.erased)


def conversations_of_person(tx: Tx, space: str, user: str) -> set[str]:
    ids = {message.conversation for message in messages_of_person(tx, space, user)}
    return ids | {conversation.id for conversation in every_conversation(tx, space, user)}


# -- back


def parts_to_undo(tx: Tx, space: str, id: str) -> list[LogChange]:
    """The changes of a move; raises if it cannot be taken back."""
    all_moves = moves_in(tx, space)
    parts = [change for change in all_moves if change.after.get("id") == id]
    if not parts:
        raise NotFound(
            f"there is no move or merge with the ID {id!r} in space {space!r}, or the moved messages have been erased"
        )
    if "undoes" in parts[0].after:
        raise InvalidInput("id", f"{id!r} is an undo, and an undo cannot be undone; move the messages again")
    if any(change.after.get("undoes") == id for change in all_moves):
        raise InvalidInput("id", f"{id!r} has already been undone")
    return parts


def plan_undo(tx: Tx, space: str, id: str, lock: Lock) -> MovePlan:
    """The plan that takes back a move."""
    parts = parts_to_undo(tx, space, id)
    lock(change.conversation for change in parts)
    places = sorted({change.conversation for change in parts})
    steps = [undo_step(tx, space, place, [part for part in parts if part.conversation == place]) for place in places]
    for step in steps:
        check_free(tx, space, step.conversation.id, step.id)
    persons = [(part.after["person"], part.before["person"]) for part in parts if part.after.get("person")]
    channels = [(part.after["channel"], part.before["channel"]) for part in parts if "channel" in part.after]
    user, into = persons[0] if persons else (None, None)
    return MovePlan(
        space,
        "undo",
        user,
        into,
        steps,
        channel=channels[0] if channels else None,
        undoes=id,
        record=next((part.before["record"] for part in parts if "record" in part.before), {}),
    )


def moves_in(tx: Tx, space: str) -> list[LogChange]:
    rows = tx.rows(CHANGES_TABLE, where={"space": space, "kind": "move"})
    return [change for change in map(to_change, rows) if not change.erased]


def undo_step(tx: Tx, space: str, place: str, parts: Sequence[LogChange]) -> Step:
    """What a move changed in a conversation, the other way round. What was said since in a chat that goes back to its
    owner goes with it."""
    conversation = find_conversation(tx, space, place)
    last = parts[-1]
    owner = last.before.get("owner", conversation.user)
    owner_since = last.after.get("owner", conversation.user)
    if conversation.user != owner_since or conversation.id != parts[0].after.get("conversation", conversation.id):
        raise changed_since(place)
    person = last.after.get("person") if owner != owner_since else None
    messages: list[Message] = []
    turns: dict[str, set[int]] = {"owned": set(), "written": set(), "heard": set()}
    for message in every_message(tx, Filter(space, conversation=place), warn_of_damage):
        names = turns_of_message(message, last, person)
        if names:
            check_unchanged(message, last, names)
            messages.append(message)
            for name in names:
                turns[name].add(message.turn)
    return Step(
        conversation,
        parts[0].before.get("conversation", conversation.id),
        owner,
        messages,
        frozenset(turns["owned"]),
        frozenset(turns["written"]),
        frozenset(turns["heard"]),
    )


def turns_of_message(message: Message, part: LogChange, person: str | None) -> list[str]:
    """What a move changed of a message: "owned", "written", "heard"; of a later one, what is the person's, if given."""
    before = part.before
    if message.turn <= before["upto"]:
        return [name for name in ("owned", "written", "heard") if contains_turn(before.get(name, ()), message.turn)]
    if person is None or message.erased:
        return []
    return [name for name, own in (("owned", message.user), ("written", message.author)) if own == person]


def check_unchanged(message: Message, part: LogChange, names: Collection[str]) -> None:
    """Raise if a message is not what a move made of it."""
    after = part.after
    if message.erased:
        raise InvalidInput("id", "names a move that cannot be undone, because a moved message has been removed since")
    if ("owned" in names and message.user != after["person"]) or (
        "written" in names and message.author != after["person"]
    ):
        raise changed_since(message.conversation)


def changed_since(conversation: str) -> InvalidInput:
    return InvalidInput(
        "id",
        f"names a move that cannot be undone, because conversation {conversation!r} was moved again; undo the later "
        "move first",
    )


DOCUMENTS = "documents"
Pairs = Mapping[str, tuple[Message, Message]]  # by id, messages before and after
LASTING = ("window", "episodes")  # views that outlive messages which have expired


def apply_plan(tx: Tx, plan: MovePlan, order: Order) -> None:
    """Carry out a plan whose conversations are locked."""
    space = plan.space
    drop_answers(tx, space)
    tx.remove("leases", {"space": space, "view": DIGESTING})  # their names contain user ids
    if plan.user is not None:
        drop_digests(tx, space, [(message.conversation, message.turn) for message in plan.messages])
    bump_version(tx, space)
    moved_pairs: dict[str, tuple[Message, Message]] = {}
    for step in plan.steps:
        for old, new in apply_step(tx, plan, step, order.at):
            moved_pairs[old.id] = (old, new)
    record = move_knowledge(tx, plan, moved_pairs, order)
    steps = plan.steps or [profile_step(tx, plan, order.at)]
    for number, step in enumerate(steps, 1):
        note_step(tx, plan, step, order, record if number == len(steps) else {})
    note_removal(tx, space, order, len(plan.messages))


def profile_step(tx: Tx, plan: MovePlan, now: datetime) -> Step:
    """A step that changes nothing, to note in: of a person who said nothing, names and documents moved."""
    user = plan.into
    fresh = Conversation(plan.space, profile_conversation(user or ""), user, now, now)
    conversation = tx.lock_conversation(fresh)
    return Step(conversation, conversation.id, conversation.user)


# -- the log


def apply_step(tx: Tx, plan: MovePlan, step: Step, now: datetime) -> list[tuple[Message, Message]]:
    """Give the new names to a conversation and its messages. Returns the messages before and after."""
    conversation = step.conversation
    space = conversation.space
    expired_upto = last_expired_turn(tx, conversation) if step.owned or step.written else 0
    drop_receipts(tx, space, step.messages)  # those of other chats would name what is another's now
    pairs = [(message, rename_message(plan, step, message)) for message in step.messages]
    if step.is_renamed:
        note_renamed_messages(tx, space, conversation.id, now)
        tx.rename_conversation(space, conversation.id, step.id)
    days = expired_rows(tx, DAYS, space, step.id, expired_upto)
    is_lasting = bool(expired_rows(tx, "episodes", space, step.id, expired_upto))
    has_names = bool(step.owned or step.written)
    keep = (*LASTING, "digests", "topics", "titles") if not has_names else LASTING if is_lasting else ()
    tx.move_messages([message for _, message in pairs], keep=keep)
    tx.save_conversation(replace(conversation, id=step.id, user=step.owner))
    tx.put(DAYS, [row | {"user_id": plan.into} if row["user_id"] == plan.user else row for row in days])
    if keep and step.owner != conversation.user and step.owner is not None:
        give_episodes(tx, space, step.id, step.owner)
    return pairs


def give_episodes(tx: Tx, space: str, conversation: str, owner: str) -> None:
    place = {"space": space, "conversation": conversation}
    rows = tx.rows("episodes", where=place)
    tx.remove("episodes", place)  # so that they are known to be no longer those of the owner before
    tx.put("episodes", [{**row, "user_id": owner} for row in rows])


def rename_message(plan: MovePlan, step: Step, message: Message) -> Message:
    if message.original is not None:
        return rename_message(plan, step, message.as_said).masked
    return replace(
        message,
        conversation=step.id,
        user=plan.into if message.turn in step.owned else message.user,
        author=plan.into or "" if message.turn in step.written else message.author,
        metadata=with_audience(message.metadata, plan.channel[1])
        if plan.channel is not None and message.turn in step.heard
        else message.metadata,
    )


def last_expired_turn(tx: Tx, conversation: Conversation) -> int:
    """The last of the erased messages that a conversation begins with; 0 if there are none."""
    turn = 0
    where = Filter(conversation.space, conversation=conversation.id)
    for message in every_message(tx, where, warn_of_damage):
        if not message.erased:
            return turn
        turn = message.turn
    return turn


def expired_rows(tx: Tx, table: str, space: str, conversation: str, upto: int) -> list[dict[str, Any]]:
    """The rows of a view that rest on nothing but the erased messages that a conversation begins with."""
    if not upto:
        return []
    rows = tx.rows(table, where={"space": space, "conversation": conversation})
    return [dict(row) for row in rows if row["last"] <= upto]


# -- what is noted


def note_step(tx: Tx, plan: MovePlan, step: Step, order: Order, record: Row) -> None:
    """Note in a conversation what was changed: its name, and apart from that people, whose names may be erased one
    day."""
    conversation = replace(step.conversation, id=step.id, user=step.owner)
    if step.is_renamed:
        before: dict[str, Any] = {"conversation": step.conversation.id}
        after: dict[str, Any] = {"conversation": step.id}
        conversation = append_change(tx, conversation, build_change(plan, step, order, before, after))
    if step.messages or record or step.owner != step.conversation.user or not step.is_renamed:
        before = {"owner": step.conversation.user, "person": plan.user}
        after = {"owner": step.owner, "person": plan.into}
        before |= {"owned": to_ranges(step.owned), "written": to_ranges(step.written)}
        if step.heard and plan.channel is not None:
            before |= {"heard": to_ranges(step.heard), "channel": plan.channel[0]}
            after |= {"channel": plan.channel[1]}
        if record:
            before |= {"record": record}
        conversation = append_change(tx, conversation, build_change(plan, step, order, before, after))
    tx.save_conversation(conversation)


def build_change(plan: MovePlan, step: Step, order: Order, before: Row, after: Row) -> LogChange:
    conversation = step.conversation
    all_before = {"upto": conversation.turns, "owned": [], "written": [], **before}
    all_after = {**after, "id": order.id} | ({} if plan.undoes is None else {"undoes": plan.undoes})
    return LogChange(conversation.space, step.id, 0, "move", 0, order.at, order.by, all_before, all_after)


def step_conversations(steps: Sequence[Step]) -> dict[str, str]:
    """The conversations of steps, by the names they had before, with their new ones."""
    return {step.conversation.id: step.id for step in steps}


# -- what is known of people


def move_knowledge(tx: Tx, plan: MovePlan, pairs: Pairs, order: Order) -> Row:
    """Move what is known; the log has the new names already. Returns the record that an undo needs."""
    space = plan.space
    persons = persons_concerned(tx, plan, pairs)
    for person in sorted(persons):  # always in the same order, so that writers do not deadlock
        tx.lock(view.LOCK, space, person)
    old_names = [] if plan.user is None else names_of(tx, space, plan.user)
    is_undo = plan.undoes is not None
    statements = undo_statements(tx, plan, pairs) if is_undo else move_statements(tx, plan, pairs)
    known_names = [] if plan.into is None else tx.rows(PEOPLE, where={"space": space, "user_id": plan.into})
    names = undo_names(tx, plan) if is_undo else move_names(tx, plan, order.id)
    note_read_people(tx, space, [new for _, new in pairs.values()])
    documents = undo_documents(tx, plan) if is_undo else move_documents(tx, plan, order.id)
    people_by_command = {(id, entry["user"]): entry["into"] for entry in statements for id in entry["sources"]}
    findings = move_findings(tx, plan, pairs, people_by_command)
    rename_fact_ids(tx, space, persons, findings.ids)
    rename_in_texts(tx, plan, statements, old_names, plan.undoes or order.id)
    standing = active_statements(tx, space, persons)
    for person in sorted(persons):
        weigh_again(tx, space, person, findings.slots.get(person, ()), order.at)
    retired = sorted(standing - active_statements(tx, space, persons))
    if is_undo:
        return {}
    names += new_names(tx, plan, known_names, names, order.id)
    record = {"statements": statements, "names": names, "documents": documents, "retired": retired}
    return {name: entries for name, entries in record.items() if entries}


def persons_concerned(tx: Tx, plan: MovePlan, pairs: Pairs) -> set[str]:
    """Everybody whose facts may change: by what a moved message says, and where a channel has another name."""
    space = plan.space
    rows = rows_with(tx, FINDINGS, space, "message_id", pairs.keys())
    renamed = tuple(step.id for step in plan.steps if step.is_renamed)
    for column in ("conversation", "audience") if renamed else ():
        rows += tx.rows(FINDINGS, where={"space": space, column: renamed})
    persons = {row["user_id"] for row in rows}
    if plan.user is not None and plan.into is not None:
        persons |= {plan.user, plan.into}
        persons |= {
            row["user_id"] for row in tx.rows(profiles.STATEMENTS, where={"space": space, "speaker": plan.user})
        }
    return persons


# -- statements


def move_statements(
    tx: Tx, plan: MovePlan, pairs: Pairs, besides: Collection[tuple[str, str]] = ()
) -> list[dict[str, Any]]:
    """Move statements, requests to forget and changes of facts: all of a person, or those that moved messages asked
    for; those in `besides` stay. Returns how each was before."""
    if plan.user is None:
        return []
    rows = {
        (row["user_id"], row["id"]): row
        for column in ("user_id", "speaker")
        for row in tx.rows(profiles.STATEMENTS, where={"space": plan.space, column: plan.user})
    }
    entries = (move_statement(tx, plan, rows[key], pairs) for key in sorted(rows.keys() - set(besides)))
    return [entry for entry in entries if entry is not None]


def move_statement(tx: Tx, plan: MovePlan, row: Row, pairs: Pairs) -> dict[str, Any] | None:
    """Move one row. A statement that moved messages asked for, and others too, is then two people's."""
    asking = row["sources"] if row["kind"] in (profiles.SAID, ANSWER) else row["sources"][:1]
    moved_ids = [id for id in asking if id in pairs]
    if not plan.whole and not moved_ids:
        return None
    left_ids = [] if plan.whole else [id for id in asking if id not in pairs]
    renamed = {name: plan.into if row[name] == plan.user else row[name] for name in ("user_id", "speaker")}
    entry = {"id": row["id"], "user": row["user_id"], "into": renamed["user_id"], "speaker": row["speaker"]}
    entry |= {"sources": list(row["sources"] if not left_ids else moved_ids)}
    if left_ids and renamed["user_id"] != row["user_id"]:
        tx.put(profiles.STATEMENTS, [{**row, "sources": tuple(left_ids)}])
        tx.put(profiles.STATEMENTS, [{**row, **renamed, "sources": tuple(moved_ids)}])
        return entry | {"all_sources": list(row["sources"])}
    tx.remove(profiles.STATEMENTS, {name: row[name] for name in ("space", "user_id", "id")})
    tx.put(profiles.STATEMENTS, [{**row, **renamed}])
    return entry


def undo_statements(tx: Tx, plan: MovePlan, pairs: Pairs) -> list[dict[str, Any]]:
    """Move back the statements that a move had moved, and those made since in messages that go back; bring back those
    that it had retired. Returns the moves."""
    for user, id in plan.record.get("retired", ()):
        rows = tx.rows(profiles.STATEMENTS, where={"space": plan.space, "user_id": user, "id": id})
        tx.put(profiles.STATEMENTS, [{**row, "active": 1, "retired_at": None, "retired_by": None} for row in rows])
    entries: list[dict[str, Any]] = []
    for entry in plan.record.get("statements", ()):
        key = {"space": plan.space, "user_id": entry["into"], "id": entry["id"]}
        for row in tx.rows(profiles.STATEMENTS, where=key):
            tx.remove(profiles.STATEMENTS, key)
            sources = tuple(entry.get("all_sources", row["sources"]))
            back = {"user_id": entry["user"], "speaker": entry["speaker"], "sources": sources}
            tx.put(profiles.STATEMENTS, [{**row, **back}])
            entries.append({**entry, "user": entry["into"], "into": entry["user"]})
    done = {(entry["into"], entry["id"]) for entry in entries}
    return entries + move_statements(tx, plan, pairs, besides=done)


def active_statements(tx: Tx, space: str, persons: Iterable[str]) -> set[tuple[str, str]]:
    """Those that stand, by person and id."""
    return {(person, statement.id) for person in persons for statement in profiles.statements_of(tx, space, person)}


def rename_in_texts(
    tx: Tx, plan: MovePlan, entries: Iterable[dict[str, Any]], old_names: Sequence[str], id: str
) -> None:
    """Statements begin with the name of their person: those of another person get that person's name. The entry keeps a
    hash of the name they had, by which an undo finds it again."""
    hashed = {hash_key(id, name): name for name in (*old_names, *names_of(tx, plan.space, plan.into or ""))}
    for entry in (entry for entry in entries if entry["into"] != entry["user"]):
        where = {"space": plan.space, "user_id": entry["into"], "id": entry["id"], "kind": profiles.SAID}
        for row in tx.rows(profiles.STATEMENTS, where=where):
            old_name = first_name(row["text"], old_names)
            if old_name is None:
                continue
            viewer = viewer_of_statement(tx, profiles.to_statement(row))
            name = hashed.get(entry.get("name", "")) or name_for(tx, plan.space, entry["into"], viewer)
            tx.put(profiles.STATEMENTS, [{**row, "text": name + row["text"][len(old_name) :]}])
            entry["name"] = hash_key(id, old_name)


def rename_fact_ids(tx: Tx, space: str, persons: Iterable[str], ids: Mapping[str, str]) -> None:
    """Requests to forget and changes of facts name facts by ids, in which the person is."""
    for person in sorted(persons) if ids else ():
        for row in tx.rows(profiles.STATEMENTS, where={"space": space, "user_id": person}):
            sources = tuple(ids.get(id, id) for id in row["sources"])
            retired_by = ids.get(row["retired_by"], row["retired_by"])
            if (sources, retired_by) != (tuple(row["sources"]), row["retired_by"]):
                tx.put(profiles.STATEMENTS, [{**row, "sources": sources, "retired_by": retired_by}])


# -- names


def names_of(tx: Tx, space: str, person: str) -> list[str]:
    """All that a person is called: their id, their names, and what they said their name is."""
    rows = tx.rows(PEOPLE, where={"space": space, "user_id": person, "kind": (*NAME_KINDS, PRIVATE)})
    told = [fact.value for fact in facts_of(tx, space, person) if fact.key == "name" and fact.subject is None]
    return [person, *(row["name"] for row in rows), *told]


def move_names(tx: Tx, plan: MovePlan, id: str) -> list[dict[str, Any]]:
    """Move the names of a person, and the channels in which they spoke. Returns what was before."""
    if not plan.whole or plan.into is None:
        return []
    entries: list[dict[str, Any]] = []
    for row in tx.rows(PEOPLE, where={"space": plan.space, "user_id": plan.user}):
        name = plan.into if row["kind"] == "id" else row["name"]
        key = {"space": plan.space, "user_id": plan.into, "kind": row["kind"], "name": name}
        known = tx.rows(PEOPLE, where=key)
        entry = {"key": hash_key(id, row["kind"], name), **name_times(row)}
        entries.append(entry | ({"known": name_times(known[0])} if known else {}))
        tx.remove(PEOPLE, {field: row[field] for field in ("space", "user_id", "kind", "name")})
        tx.put(PEOPLE, [key | merged_times(row, *known)])
    return entries


def new_names(tx: Tx, plan: MovePlan, known: Iterable[Row], moved: Iterable[Row], id: str) -> list[dict[str, Any]]:
    """What a person is called only since a move, and was not moved: an undo takes it away again."""
    if plan.into is None:
        return []
    known_keys = {(row["kind"], row["name"]) for row in known}
    moved_keys = {entry["key"] for entry in moved}
    rows = tx.rows(PEOPLE, where={"space": plan.space, "user_id": plan.into})
    keys = [
        (row, hash_key(id, row["kind"], row["name"])) for row in rows if (row["kind"], row["name"]) not in known_keys
    ]
    return [{"key": key, "is_new": True, **name_times(row)} for row, key in keys if key not in moved_keys]


def note_read_people(tx: Tx, space: str, messages: Iterable[Message]) -> None:
    """Note the authors that messages have now, as far as the facts view has read them."""
    by_place: dict[str, list[Message]] = {}
    for message in messages:
        by_place.setdefault(message.conversation, []).append(message)
    for place, place_messages in sorted(by_place.items()):
        read_upto = cursor_of(tx, view.FactsView.name, space, place)
        profiles.note_people(tx, [message for message in place_messages if message.turn <= read_upto])


def undo_names(tx: Tx, plan: MovePlan) -> list[Row]:
    """Move back the names that a move had moved. A name that the other person had too, or used since, stays theirs."""
    entries = {entry["key"]: entry for entry in plan.record.get("names", ())}
    moved: list[Row] = []
    for row in tx.rows(PEOPLE, where={"space": plan.space, "user_id": plan.user}) if entries else ():
        entry = entries.get(hash_key(plan.undoes or "", row["kind"], row["name"]))
        if entry is None:
            continue
        moved.append(row)
        key = {"space": plan.space, "user_id": plan.into, "kind": row["kind"]}
        key |= {"name": plan.into if row["kind"] == "id" else row["name"]}
        if "is_new" not in entry:
            tx.put(PEOPLE, [key | merged_times(read_times(entry), *tx.rows(PEOPLE, where=key))])
        known = read_times(entry["known"]) if "known" in entry else None
        left = times_left(tx, plan, row, read_times(entry), known)
        tx.remove(PEOPLE, {field: row[field] for field in ("space", "user_id", "kind", "name")})
        tx.put(PEOPLE, [] if left is None else [{**row, **left}])
    return moved


def times_left(tx: Tx, plan: MovePlan, row: Row, moved: Row, known: Row | None) -> Row | None:
    """From when to when a name stays that of the person it was moved to; None if it is not theirs."""
    if row["kind"] in (CHANNEL, "id") and known is None:
        where = Filter(plan.space, author=plan.user, conversation=row["name"] if row["kind"] == CHANNEL else None)
        own = [message for message in tx.messages(replace(where, role="user"), limit=1) if not message.erased]
        return {"since": own[0].time, "seen": None} if own else None
    last_times = [times["seen"] or times["since"] for times in (moved, known) if times is not None]
    is_used_since = (row["seen"] or row["since"]) > max(last_times)
    if known is None:
        return {"since": row["seen"] or row["since"], "seen": row["seen"]} if is_used_since else None
    return {"since": known["since"], "seen": row["seen"] if is_used_since else known["seen"]}


def name_times(row: Row) -> dict[str, Any]:
    return {"since": row["since"].isoformat(), "seen": None if row["seen"] is None else row["seen"].isoformat()}


def read_times(entry: Row) -> dict[str, Any]:
    return {name: None if entry[name] is None else datetime.fromisoformat(entry[name]) for name in ("since", "seen")}


def merged_times(*rows: Row) -> dict[str, Any]:
    """From when to when a name was used that several rows have."""
    seen = [row["seen"] for row in rows if row["seen"] is not None]
    return {"since": min(row["since"] for row in rows), "seen": max(seen, default=None)}


# -- documents


def move_documents(tx: Tx, plan: MovePlan, id: str) -> list[dict[str, Any]]:
    """Give a person's documents to another. Their namespaces and keys are the program's, and stay."""
    if not plan.whole or plan.user is None:
        return []
    rows = documents_of(tx, plan.space, plan.user)
    tx.put(DOCUMENTS, [{**row, "user_id": plan.into} for row in rows])
    return [{"key": hash_key(id, row["namespace"], row["key"]), "owned": row["user_id"] is not None} for row in rows]


def documents_of(tx: Tx, space: str, user: str) -> list[Row]:
    """A person's documents, and those of nobody whose namespace names the person."""
    nobodys = tx.rows(DOCUMENTS, where={"space": space, "user_id": None})
    own = tx.rows(DOCUMENTS, where={"space": space, "user_id": user})
    return [*own, *(row for row in nobodys if user in names_in(row["namespace"]))]


def undo_documents(tx: Tx, plan: MovePlan) -> list[Row]:
    entries = {entry["key"]: entry for entry in plan.record.get("documents", ())}
    rows = tx.rows(DOCUMENTS, where={"space": plan.space, "user_id": plan.user}) if entries else []
    moved = [(row, entries.get(hash_key(plan.undoes or "", row["namespace"], row["key"]))) for row in rows]
    back = [{**row, "user_id": plan.into if entry["owned"] else None} for row, entry in moved if entry is not None]
    tx.put(DOCUMENTS, back)
    return list(back)


# -- facts


@dataclass(frozen=True, slots=True)
class MovedFindings:
    """Of findings that were moved: the slots of each person that were changed by it, and the new ids of the facts."""

    slots: Mapping[str, Collection[str]]
    ids: Mapping[str, str]


def findings_to_move(tx: Tx, plan: MovePlan, message_ids: Collection[str]) -> list[Row]:
    rows = rows_with(tx, FINDINGS, plan.space, "message_id", message_ids)
    if not plan.whole:
        return rows
    known = {finding_key(row) for row in rows}
    own = tx.rows(FINDINGS, where={"space": plan.space, "user_id": plan.user})
    return rows + [row for row in own if finding_key(row) not in known]


def move_findings(
    tx: Tx, plan: MovePlan, pairs: Pairs, people_by_command: Mapping[tuple[str, str], str]
) -> MovedFindings:
    """Give what was found in messages the names that those have now."""
    space = plan.space
    rows = findings_to_move(tx, plan, {*pairs, *(id for id, _ in people_by_command)})
    renamed_rows = [(row, rename_finding(plan, row, pairs.get(row["message_id"]), people_by_command)) for row in rows]
    changed = [(row, new) for row, new in renamed_rows if new != row]
    slots: dict[str, set[str]] = {}
    ids: dict[str, str] = {}
    for row, new in changed:
        tx.remove(FINDINGS, {name: row[name] for name in FINDING_KEY})
        for person, slot in ((row["user_id"], row["slot"]), (new["user_id"], new["slot"])):
            slots.setdefault(person, set()).add(slot)
        if row["slot"] != REFUSED:
            old_id, new_id = (
                fact_id(space, finding["user_id"], to_found_fact(finding), finding["message_id"])
                for finding in (row, new)
            )
            ids[old_id] = new_id
    put_findings(tx, space, [new for _, new in changed])
    return MovedFindings(slots, ids)


def finding_key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in FINDING_KEY)


def put_findings(tx: Tx, space: str, rows: Sequence[dict[str, Any]]) -> None:
    """Store findings beside those that are there: two in one message must not have one number."""
    taken = {
        finding_key(row)
        for person in sorted({row["user_id"] for row in rows})
        for row in tx.rows(FINDINGS, where={"space": space, "user_id": person})
    }
    for row in rows:
        while finding_key(row) in taken:
            row["number"] += 1
        taken.add(finding_key(row))
    tx.put(FINDINGS, rows)


def rename_finding(
    plan: MovePlan,
    row: Row,
    pair: tuple[Message, Message] | None,
    people_by_command: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    """A finding under the names that its message has now; of a command, under the person of its statement."""
    person: str | None = people_by_command.get((row["message_id"], row["user_id"]), row["user_id"])
    if plan.whole and person == plan.user:
        person = plan.into
    if pair is None:
        return {**row, "user_id": person}
    old, new = pair
    if command_of(new) is not None:
        return {**row, "user_id": person, "author": new.author, "conversation": new.conversation}
    renamed = {**row, "user_id": new.user or new.author, "author": new.author, "conversation": new.conversation}
    is_refused = row["slot"] == REFUSED
    found = to_found_fact({**row, "found": without_reason(row["found"])} if is_refused else row)
    subject = subject_under_names(found.subject, (old.author, old.user), (new.author, new.user))
    if subject == found.subject:
        return renamed
    fact: FoundFact = replace(found, subject=subject)
    reason = {"reason": row["found"].get("reason", "")} if is_refused else {}
    return renamed | {"slot": REFUSED if is_refused else slot_of(fact), "found": json_values(fact) | reason}


def without_reason(found: Row) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "reason"}


def weigh_again(tx: Tx, space: str, person: str, changed_slots: Iterable[str], now: datetime) -> None:
    """Weigh all facts about a person again, from what was found."""
    rows = tx.rows(FINDINGS, where={"space": space, "user_id": person})
    slots = ({row["slot"] for row in rows} | set(changed_slots)) - {REFUSED}
    findings_by_slot = {slot: (findings_of(tx, space, person, slot), True) for slot in sorted(slots)}
    view.weigh_slots(tx, space, person, findings_by_slot, now)
