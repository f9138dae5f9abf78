"""Carries out a plan: the log gets the new names, what was derived follows, and each conversation notes the change.

Passages of the index, tiers and the days' rows keep what they say under the new names; facts are weighed again from
what was found, and nobody is asked twice. What quotes people by name is made anew: episodes, topics, digests. Only
where the messages themselves have expired, summaries stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from everword.changes.moves.knowledge import move_knowledge
from everword.changes.moves.plan import MovePlan, Step
from everword.changes.removal.messages import drop_answers, drop_digests
from everword.changes.removal.receipts import drop_receipts
from everword.log.audit import Order, note_removal
from everword.log.rules import profile_conversation, to_ranges, with_audience
from everword.log.tables import DIGESTING, append_change, every_message, note_renamed_messages, warn_of_damage
from everword.model import Conversation, Filter, LogChange, Message
from everword.ports import Tx
from everword.summaries.digests import DAYS, bump_version

LASTING = ("window", "episodes")  # views that outlive messages which have expired

Row = Mapping[str, Any]


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
        place = {"space": space, "conversation": step.id}
        rows = tx.rows("episodes", where=place)
        tx.remove("episodes", place)  # so that they are known to be no longer those of the owner before
        tx.put("episodes", [{**row, "user_id": step.owner} for row in rows])
    return pairs


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
