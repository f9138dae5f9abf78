"""Moving: messages and conversations get other names, in every table that holds them.

The index is not built again for that: a passage says the same under another name, and its vector stays. Its row is
written anew, since the full text index holds the names as terms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import delete, select, update

from recollect.model import Message
from recollect.stores import schema
from recollect.stores.index import NOBODY, IndexTx, scope_term
from recollect.stores.rows import conversation_row, message_row, turn_conditions
from recollect.stores.schema import conversations, entries, tallies, vectors

Row = Mapping[str, Any]
SCOPES = 3  # the terms at the beginning that stand for the space, the user and the conversation
SEPARATOR = "  "  # between terms


def change_scope(terms: str, space: str, user: str, conversation: str) -> str:
    """The terms of a passage, for another user and conversation."""
    words = terms[1:-1].split(SEPARATOR)
    scopes = (
        scope_term("space", space),
        scope_term("user", space, user),
        scope_term("conversation", space, conversation),
    )
    return f" {SEPARATOR.join((*scopes, *words[SCOPES:]))} "


class MoveTx(IndexTx):
    """The operations that give other names to what is there."""

    def move_messages(self, moved: Sequence[Message], *, keep: Collection[str] = ()) -> None:
        if not moved:
            return
        self.revoke_leases(moved)  # first: it waits for a worker that is storing at this moment
        self.update_messages([message_row(message) for message in moved])
        self.note_reset()  # also if none of them is in the index: they may be kept in memory, as they were
        people = {
            (message.conversation, message.turn): {"user_id": message.user or NOBODY, "author": message.author}
            for message in moved
        }
        for conditions in turn_conditions(moved, entries):
            self.rewrite_entries(conditions, lambda row: people[row["conversation"], row["turn"]])
        self.reset_conversation_views(moved, keep)

    def rename_conversation(self, space: str, old: str, new: str) -> None:
        conversation = self.conversation(space, old)
        if conversation is None:
            return
        renamed = replace(conversation, id=new)
        self.revoke_leases([Message(space, old, 0, "", "user", "", None, "", conversation.created_at)])
        self.note_reset()
        # The row of the conversation first: messages refer to it.
        self.write(conversations, conversations.insert(), conversation_row(renamed))
        self.rewrite_entries((entries.c.space == space, entries.c.conversation == old), lambda _: {"conversation": new})
        for table in schema.TABLES.values():
            for column in (table.c[name] for name in ("conversation", "audience") if name in table.c):
                statement = update(table).where(table.c.space == space, column == old)
                self.write(table, statement.values({column.name: new}))
        people = schema.people
        spoke_there = (people.c.space == space, people.c.kind == "channel", people.c.name == old)
        self.write(people, update(people).where(*spoke_there).values(name=new))
        is_old_conversation = (conversations.c.space == space, conversations.c.id == old)
        self.write(conversations, delete(conversations).where(*is_old_conversation))

    def rewrite_entries(self, conditions: Sequence[Any], names_of: Callable[[Row], Row]) -> None:
        """Write passages anew with other names, with their vectors and tallies."""
        rows = [dict(row) for row in self.connection.execute(select(entries).where(*conditions)).mappings()]
        if not rows:
            return
        self.write(entries, delete(entries).where(*conditions))
        renamed = [{**row, **names_of(row)} for row in rows]
        for row in renamed:
            row["terms"] = change_scope(row["terms"], row["space"], row["user_id"], row["conversation"])
        self.write(entries, entries.insert(), renamed)
        docs_by_users: dict[tuple[str, str], list[int]] = {}
        for old, new in zip(rows, renamed, strict=True):
            if old["user_id"] != new["user_id"]:
                docs_by_users.setdefault((old["user_id"], new["user_id"]), []).append(old["doc"])
                self.add_to_tally(old["space"], old["user_id"], old["language"], -1, -old["length"])
                self.add_to_tally(new["space"], new["user_id"], new["language"], 1, new["length"])
        for (old_user, new_user), docs in sorted(docs_by_users.items()):
            is_moved = (vectors.c.space == rows[0]["space"], vectors.c.user_id == old_user)
            statement = update(vectors).where(*is_moved, self.is_among_numbers(vectors.c.doc))
            self.write(vectors, statement.values(user_id=new_user), self.number_params(docs))
        # An empty tally would still name the person it belonged to.
        self.write(tallies, delete(tallies).where(tallies.c.space == rows[0]["space"], tallies.c.docs == 0))
        self.note_reset()
