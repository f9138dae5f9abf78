"""Which conversation is meant, and for whom: every read and write of a conversation goes through its scope."""

from __future__ import annotations

from dataclasses import dataclass

from everword.errors import ScopeError
from everword.log import rules
from everword.log import tables as log
from everword.log.access import PROGRAM, Access
from everword.model import Conversation
from everword.ports import ConversationKey, Tx


@dataclass(frozen=True, slots=True)
class ConversationScope:
    """A conversation of a space: with one `user`, or of many if it has none. `access` says who acts: for one that is
    bound to a user, what belongs to others does not exist."""

    space: str
    id: str
    user: str | None
    access: Access = PROGRAM

    @property
    def place(self) -> ConversationKey:
        return self.space, self.id

    def find(self, tx: Tx) -> Conversation | None:
        """The conversation, if there is one and it is this user's."""
        try:
            return log.find_own_conversation(tx, self.space, self.id, self.user)
        except ScopeError:
            if self.access.is_bound:
                return None
            raise


def scope_for(access: Access, space: str, id: str, user: str | None) -> ConversationScope:
    """The scope of this access: of the named user, or of the user that the access is bound to."""
    owner = access.resolve_user(user)
    owner = None if owner is None else rules.check_id("user", owner)
    return ConversationScope(space, rules.check_id("conversation", id), owner, access)
