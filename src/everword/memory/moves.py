"""Moves: a conversation gets another name or another owner, two ids of one person become one, and back.

Each is one transaction over the log and all that was derived from it. Nothing is removed: what a move changed is noted
in the chain of changes of each conversation, so `verify` proves every message, and `undo_move` can take it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from everword.changes.move_plan import MovePlan, check_movable, check_new_name, plan_move, plan_people, plan_undo
from everword.changes.moves import apply_plan, documents_of, step_conversations
from everword.changes.removal import OF_PEOPLE, lock_conversations, make_order
from everword.changes.removed_knowledge import facts_resting_on
from everword.errors import Forbidden, InvalidInput, NotFound
from everword.facts.tables.facts import facts_of
from everword.log import rules
from everword.log.access import LOCAL, ConversationScope
from everword.log.audit import Order
from everword.memory.runtime import Runtime
from everword.model import Move, MoveKind
from everword.ports import Tx

Lock = Callable[[Iterable[str]], None]
Build = Callable[[Tx, Lock], MovePlan | None]


class Moves:
    """Moves conversations and people to other names, over a runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    async def move_conversation(
        self, scope: ConversationScope, *, to: str | None, user: str | None, dry_run: bool
    ) -> Move:
        """Rename a conversation, give it to another user, or both. A user's key may rename what is that user's."""
        id = check_movable(scope.id)
        new_id = None if to is None else check_new_name(to)
        new_user = None if user is None else rules.check_id("user", user)
        if new_id is None and new_user is None:
            raise InvalidInput("to", "is missing, as is user: say where to move it")
        if scope.access.is_bound and new_user not in (None, scope.access.user):
            raise Forbidden("not_you", f"this {scope.access.noun} is for one user: it cannot give to another")

        def build(tx: Tx, lock: Lock) -> MovePlan | None:
            conversation = scope.find(tx)
            if conversation is None or (scope.access.is_bound and conversation.user != scope.access.user):
                raise NotFound(f"there is no conversation {id!r} in space {scope.space!r}; nothing was moved")
            return plan_move(tx, scope.space, id, new_id, new_user, lock)

        return await self._move(scope.space, "move", build, scope.access.key_id, dry_run)

    async def merge_users(
        self, user: str, *, into: str, space: str | None = None, dry_run: bool = False, by: str = LOCAL
    ) -> Move:
        """Make all that one user has another's: both are one person."""
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        other_id = rules.check_id("into", into)
        if user_id == other_id:
            raise InvalidInput("into", f"is {other_id!r}, the same user")

        def build(tx: Tx, lock: Lock) -> MovePlan:
            if not has_anything(tx, space_id, user_id):
                raise NotFound(f"user {user_id!r} has nothing in space {space_id!r}; nothing was merged")
            return plan_people(tx, space_id, "merge", user_id, other_id, lock)

        return await self._move(space_id, "merge", build, by, dry_run)

    async def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False, by: str = LOCAL) -> Move:
        """Take back a move or a merge."""
        space_id = self.runtime.resolve_space(space)
        move_id = rules.check_id("id", id)
        return await self._move(space_id, "undo", lambda tx, lock: plan_undo(tx, space_id, move_id, lock), by, dry_run)

    async def _move(self, space: str, kind: MoveKind, build: Build, by: str, dry_run: bool) -> Move:
        now = self.runtime.parts.clock.now()
        order = make_order(now, kind, "messages", by)
        if dry_run:
            return await self.runtime.read(lambda tx: preview(tx, build, space, order))
        move = await self.runtime.write(lambda tx: carry_out(tx, build, space, order))
        if move.id:
            self.runtime.digests.clear()
            self.runtime.wake()
        return move


def carry_out(tx: Tx, build: Build, space: str, order: Order) -> Move:
    def lock(ids: Iterable[str]) -> None:
        lock_conversations(tx, space, (id for id in ids if tx.conversation(space, id) is not None), order.at)

    plan = build(tx, lock)
    if plan is None:
        return describe(None, space, order, {}, dry_run=False)
    moved = count_by_kind(tx, plan)
    apply_plan(tx, plan, order)
    return describe(plan, space, order, moved, dry_run=False)


def preview(tx: Tx, build: Build, space: str, order: Order) -> Move:
    """What a move would do now."""
    plan = build(tx, lambda ids: None)
    return describe(plan, space, order, {} if plan is None else count_by_kind(tx, plan), dry_run=True)


def describe(plan: MovePlan | None, space: str, order: Order, moved: dict[str, int], *, dry_run: bool) -> Move:
    kind: MoveKind = "move" if plan is None else plan.kind
    if plan is None:
        return Move("", space, order.at, kind, dry_run, None, None, {}, {})
    id = "" if dry_run else order.id
    return Move(id, space, order.at, kind, dry_run, plan.user, plan.into, step_conversations(plan.steps), moved)


def count_by_kind(tx: Tx, plan: MovePlan) -> dict[str, int]:
    """How much a plan would move."""
    messages = plan.messages
    counts = {"messages": len(messages)}
    if plan.undoes is not None:
        counts |= {kind: len(plan.record.get(kind, ())) for kind in ("statements", "names", "documents")}
    if plan.user is not None:
        ids = frozenset(message.id for message in messages)
        is_whole = plan.whole
        counts["facts"] = len(
            facts_of(tx, plan.space, plan.user) if is_whole else facts_resting_on(tx, plan.space, messages)
        )
    if plan.user is not None and plan.undoes is None:
        statements = tx.rows("statements", where={"space": plan.space, "user_id": plan.user})
        counts["statements"] = sum(plan.whole or not ids.isdisjoint(row["sources"]) for row in statements)
    if plan.user is not None and plan.whole:
        counts["names"] = len(tx.rows("people", where={"space": plan.space, "user_id": plan.user}))
        counts["documents"] = len(documents_of(tx, plan.space, plan.user))
    return {kind: count for kind, count in counts.items() if count or kind == "messages"}


def has_anything(tx: Tx, space: str, user: str) -> bool:
    """Whether anything in a space is of a user: messages, or something that was told, kept or found."""
    tables = [("messages", "user_id"), ("messages", "author"), ("conversations", "user_id"), *OF_PEOPLE]
    is_found = any(
        tx.rows(table, limit=1, where={"space": space, column: user}) for table, column in tables if table != "api_keys"
    )
    return is_found or bool(documents_of(tx, space, user))
