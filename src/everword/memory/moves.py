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
from everword.facts.tables import facts_of
from everword.log import rules
from everword.log.access import scope_for
from everword.log.audit import Order
from everword.log.operations import operation
from everword.memory.runtime import MemoryPart, Runtime
from everword.model import Move, MoveKind
from everword.ports import Tx

Lock = Callable[[Iterable[str]], None]
Build = Callable[[Tx, Lock], MovePlan | None]


class Moves(MemoryPart):
    """Moves conversations and people to other names. A user's key may rename what is that user's."""

    @operation("POST /v1/conversations/{id}/move", right="admin", once="names")
    async def move_conversation(
        self,
        id: str,
        *,
        to: str | None = None,
        user: str | None = None,
        space: str | None = None,
        dry_run: bool = False,
    ) -> Move:
        """Rename a conversation (`to`), give it to another user (`user`), or both: the chat of somebody who signs in.

        What its user said in it becomes the other's, with the facts and statements that rest on it. If that user has
        said nothing anywhere else, everything they have moves, as with `merge_users`. Nothing is removed, and
        `undo_move` takes it back. If nothing would change, nothing is done, and the `id` of the move is empty. On a
        `dry_run`, say only what would move.
        """
        scope = scope_for(self.access, self.runtime.resolve_space(space), id, None)
        check_movable(scope.id)
        new_id = None if to is None else check_new_name(to)
        new_user = None if user is None else rules.check_id("user", user)
        if new_id is None and new_user is None:
            raise InvalidInput("to", "is missing, as is user: say where to move it")
        if self.access.is_bound and new_user not in (None, self.access.user):
            raise Forbidden("not_you", f"this {self.access.noun} is for one user: it cannot give to another")

        def build(tx: Tx, lock: Lock) -> MovePlan | None:
            conversation = scope.find(tx)
            if conversation is None or (self.access.is_bound and conversation.user != self.access.user):
                raise NotFound(f"there is no conversation {id!r} in space {scope.space!r}; nothing was moved")
            return plan_move(tx, scope.space, id, new_id, new_user, lock)

        return await move(self.runtime, scope.space, "move", build, self.access.key_id, dry_run)

    @operation("POST /v1/users/{user as id}/merge", right="admin", about_all=True, once="names")
    async def merge_users(self, user: str, *, into: str, space: str | None = None, dry_run: bool = False) -> Move:
        """Give everything of one user to another, when both are one person.

        Conversations, messages in channels, facts, statements, names and documents become those of `into`. API keys of
        the old id are left alone. Nothing is removed, and `undo_move` takes it back. On a `dry_run`, say only what
        would move.
        """
        space_id = self.runtime.resolve_space(space)
        user_id = rules.check_id("user", user)
        other_id = rules.check_id("into", into)
        if user_id == other_id:
            raise InvalidInput("into", f"is {other_id!r}, the same user")

        def build(tx: Tx, lock: Lock) -> MovePlan:
            if not has_anything(tx, space_id, user_id):
                raise NotFound(f"user {user_id!r} has nothing in space {space_id!r}; nothing was merged")
            return plan_people(tx, space_id, "merge", user_id, other_id, lock)

        return await move(self.runtime, space_id, "merge", build, self.access.key_id, dry_run)

    @operation("POST /v1/moves/{id}/undo", right="admin", about_all=True, in_query=True, once="names")
    async def undo_move(self, id: str, *, space: str | None = None, dry_run: bool = False) -> Move:
        """Take back a move or a merge, if nothing that it moved was removed since, or moved again.

        A chat that goes back to its old owner takes along what was said in it since. On a `dry_run`, say only what
        would move.
        """
        space_id = self.runtime.resolve_space(space)
        move_id = rules.check_id("id", id)

        def build(tx: Tx, lock: Lock) -> MovePlan:
            return plan_undo(tx, space_id, move_id, lock)

        return await move(self.runtime, space_id, "undo", build, self.access.key_id, dry_run)


async def move(runtime: Runtime, space: str, kind: MoveKind, build: Build, by: str, dry_run: bool) -> Move:
    """Carry out a plan, or say what it would do."""
    order = make_order(runtime.parts.clock.now(), kind, "messages", by)
    if dry_run:
        return await runtime.read(lambda tx: preview(tx, build, space, order))
    result = await runtime.write(lambda tx: carry_out(tx, build, space, order))
    if result.id:
        runtime.digests.clear()
        runtime.wake()
    return result


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
