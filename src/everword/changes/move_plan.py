"""Decides what a move changes: of which conversations the names, the owners and the turns of which messages.

A plan is made under the locks of its conversations and then carried out, or made on a snapshot and only counted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from everword.errors import InvalidInput, NotFound
from everword.facts.tables import CHANGES, STATEMENTS
from everword.log.rules import ERASED, TOLD, check_id, contains_turn, profile_conversation
from everword.log.tables import CHANGES_TABLE, every_conversation, every_message, is_empty, to_change, warn_of_damage
from everword.model import Conversation, Filter, LogChange, Message, MoveKind
from everword.model.log import own_notes
from everword.ports import Tx

Lock = Callable[[Iterable[str]], None]
Row = Mapping[str, Any]


def check_new_name(name: str) -> str:
    """The new id of a conversation; not one that memory uses itself."""
    id = check_id("to", name)
    if id.startswith((TOLD, ERASED)):
        raise InvalidInput("to", f"begins with {TOLD!r} or {ERASED!r}, which is reserved")
    return id


def check_movable(conversation: str) -> str:
    """The id of a conversation that may be moved; not one that memory keeps itself."""
    id = check_id("conversation", conversation)
    if id.startswith((TOLD, ERASED)):
        raise InvalidInput("conversation", f"{id!r} is internal; `merge_users` moves it with its user")
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
        raise InvalidInput("user", f"{id!r} has no user (a channel, or an erased user): rename it only")
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
        raise InvalidInput(
            "to", f"is {new_id!r}, and there is a conversation of that name: choose another, or rename that one first"
        )


def has_said_all_in(tx: Tx, space: str, user: str, id: str) -> bool:
    """Whether a person has said nothing outside this conversation, but for what they told by command."""
    places = {message.conversation for message in messages_of_person(tx, space, user)}
    places |= {place.id for place in every_conversation(tx, space, user) if not is_empty(tx, place)}
    return all(place == id or place.startswith(TOLD) for place in places)


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
        if id.startswith(TOLD) and step.conversation.user == user:
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
        raise NotFound(f"there is no move {id!r} in space {space!r}, or what it moved was erased since")
    if "undoes" in parts[0].after:
        raise InvalidInput("id", f"{id!r} is itself an undo; to undo that, repeat the move")
    if any(change.after.get("undoes") == id for change in all_moves):
        raise InvalidInput("id", f"{id!r} was taken back already")
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
        raise InvalidInput("id", "cannot be taken back: something that was moved has been removed since")
    if ("owned" in names and message.user != after["person"]) or (
        "written" in names and message.author != after["person"]
    ):
        raise changed_since(message.conversation)


def changed_since(conversation: str) -> InvalidInput:
    return InvalidInput("id", f"cannot be taken back: {conversation!r} was moved again since; take that back first")
