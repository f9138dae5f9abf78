"""What can be asked of a memory from outside: the rights that each operation needs, and what its answer may tell.

Every face checks a caller by the name of an operation: the REST routes, OpenAI's endpoint, the tools of MCP and the
pages of the dashboard. So no face has a rule of its own. An answer tells "nothing" of the memory: that it is done, or
how much the request itself did; or what the "request" carried: its own words, and the ids that it made; or "memory",
which is anything stored. Whoever learns what is stored needs the right to read, so an operation that tells memory
needs `read` besides the right by which it changes something. Errors and headers are part of an answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

RIGHTS = ("read", "write", "admin")
READ = "read"
Tells = Literal["nothing", "request", "memory"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: the right by which it acts, and what its answer may tell."""

    name: str
    right: str
    tells: Tells

    @property
    def rights(self) -> frozenset[str]:
        """All rights that it needs."""
        return frozenset({self.right, READ} if self.tells == "memory" else {self.right})


def declare(right: str, tells: Tells, names: str) -> Iterable[tuple[str, Operation]]:
    return ((name, Operation(name, right, tells)) for name in names.split())


OPERATIONS: dict[str, Operation] = dict(
    [
        *declare("read", "nothing", "space models"),
        *declare("read", "request", "embeddings"),
        *declare("read", "memory", "conversations history context standalone episodes archived receipts search"),
        *declare("read", "memory", "topics search_topics topic_context topic_history topic_stats"),
        *declare("read", "memory", "fact facts fact_history refused_facts why profile ask digests people who_is"),
        *declare("read", "memory", "documents document search_documents namespaces export stats spaces"),
        *declare("write", "nothing", "settle remove_document"),
        *declare("write", "request", "add_messages put_documents"),
        *declare("write", "memory", "reply command chat_completions edit_message archive"),
        *declare("write", "memory", "add_to_topic merge_topics unmerge_topic tag_topic rate_topic"),
        *declare("write", "memory", "add_name remember forget undo add_fact edit_fact delete_fact"),
        *declare("admin", "nothing", "erase rebuild retry set_time_zone metrics settings"),
        *declare(
            "admin", "memory", "delete_message delete_conversation delete move_conversation merge_users undo_move"
        ),
        *declare("admin", "memory", "retain redact audit verify list_keys create_key revoke_key"),
    ]
)
