"""Who may see and change what is remembered. Only this module decides, for everything that shows memory.

Every interface makes an `Access`: a program that holds the memory, or a key of a server, acts for everybody in its
spaces; a key that is bound to a user acts for that user alone. What is shown has a `Viewer`: one person alone, or
everybody in a channel. A person sees what they said themselves and what was said in channels they have spoken in; a
channel sees what was said in it. Names in the register of a space are visible to the whole space.

What somebody says of another is kept beside what that person says, with the speaker's name. It corrects nothing, and
only the speaker, or the person it is about, can take it back. To those who may not see something, it does not exist.
Every read and write of a conversation goes through its scope, which says for whom it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from everword.errors import Forbidden, ScopeError
from everword.log.append_and_read import find_own_conversation
from everword.log.checks_and_seals import check_id
from everword.log.operation_declarations import OPERATIONS, READ, RIGHTS
from everword.model import Conversation, Fact, Filter, RefusedFact, Statement
from everword.ports import ConversationKey, Tx


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who reads what is shown: a `person` alone, or everybody in a `channel`.

    `heard` are the channels the person has spoken in. With `shared`, every channel of the space is open to all.
    """

    person: str | None = None
    channel: str | None = None
    heard: frozenset[str] = frozenset()
    shared: bool = False

    def sees(self, item: Fact | RefusedFact | Statement) -> bool:
        """Whether a fact or statement may be shown to this viewer."""
        if self.person is not None and item.speaker == self.person:
            return True
        channels = channels_of(item)
        if self.shared and channels:
            return True
        if self.person is None:
            return self.channel in channels
        return not self.heard.isdisjoint(channels)

    def hears(self, channel: str) -> bool:
        """Whether what is said in a channel may be shown to this viewer."""
        return self.shared or channel == self.channel or (self.person is not None and channel in self.heard)


def channels_of(item: Fact | RefusedFact | Statement) -> frozenset[str]:
    """The channels in which something was said; none if it was said only in private."""
    others = item.also_heard_in if isinstance(item, Fact) else ()
    return frozenset(others if item.audience is None else (item.audience, *others))


def is_claim(item: Fact | Statement) -> bool:
    """Whether somebody else said it of the person, and not the person themselves."""
    return item.speaker != item.user


def may_take_back(actor: str, item: Fact | Statement, viewer: Viewer) -> bool:
    """Whether an actor may take something back: they said it, or it is about them and they may see it."""
    return item.speaker == actor or (item.user == actor and viewer.sees(item))


LOCAL = "program"  # in place of a key's id: a program that holds the memory itself
STDIO = "stdio"  # and a client on pipes


@dataclass(frozen=True, slots=True)
class Access:
    """Who acts: by which key, in which spaces (None: all), with which rights, and for which user if bound to one."""

    key_id: str = LOCAL
    spaces: frozenset[str] | None = None
    rights: frozenset[str] = frozenset(RIGHTS)
    user: str | None = None
    home: str = "default"

    @property
    def noun(self) -> str:
        """What an error calls it: a client on pipes has a connection, and no key."""
        return "connection" if self.key_id in (LOCAL, STDIO) else "key"

    @property
    def is_bound(self) -> bool:
        """Whether it acts for one user alone."""
        return self.user is not None

    def resolve_space(self, name: str | None = None) -> str:
        """The named space, or else the key's own; raises Forbidden if the key does not open it."""
        if name is None:
            if self.spaces is not None and self.home not in self.spaces:
                if len(self.spaces) != 1:
                    raise Forbidden(
                        "which_space", "this key opens several spaces; choose a space with the header X-Everword-Space"
                    )
                return next(iter(self.spaces))
            return self.home
        check_id("space", name)
        if self.spaces is not None and name not in self.spaces:
            raise Forbidden("not_your_space", f"this {self.noun} gives no access to the requested space")
        return name

    @property
    def is_reader(self) -> bool:
        """Whether it may be told what is stored."""
        return READ in self.rights

    def may(self, operation: str) -> bool:
        """Whether it has every right that an operation needs."""
        return OPERATIONS[operation].rights <= self.rights

    def check_operation(self, operation: str) -> None:
        """Raise Forbidden if it has not every right that an operation needs."""
        if self.may(operation):
            return
        needed_rights = " and ".join(repr(right) for right in RIGHTS if right in OPERATIONS[operation].rights)
        own_rights = ", ".join(right for right in RIGHTS if right in self.rights) or "none"
        noun = "scopes" if " and " in needed_rights else "scope"
        raise Forbidden(
            "scope", f"the request needs a key with the {noun} {needed_rights}; this {self.noun} has {own_rights}"
        )

    def check_unbound(self) -> None:
        """Raise Forbidden for a key that is bound to one user: the call is about many."""
        if self.is_bound:
            raise Forbidden("not_you", f"this {self.noun} is for one user, but the request concerns all users")

    def check_all_spaces(self) -> None:
        """Raise Forbidden for a key of some spaces: the call is about all."""
        if self.spaces is not None:
            raise Forbidden(
                "not_your_space", "the request concerns all spaces, so it needs a key that opens all spaces"
            )

    def check_user(self, user: str) -> str:
        """The user; raises Forbidden if the key is bound to another."""
        if self.is_bound and check_id("user", user) != self.user:
            raise Forbidden("not_you", f"this {self.noun} is for one user, but the request concerns another user")
        return user

    def resolve_user(self, user: str | None) -> str | None:
        """The named user, checked; if none is named, the user that the key is bound to."""
        return self.user if user is None else self.check_user(user)


PROGRAM = Access()
"""Whoever holds the memory itself: a program that uses the library, a worker, the command line."""


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

    @property
    def filter(self) -> Filter:
        """The messages of this conversation."""
        return Filter(self.space, conversation=self.id)

    @property
    def filter_of_recall(self) -> Filter:
        """The messages that are recalled here: all of the user, or those of the channel."""
        return self.filter if self.user is None else Filter(self.space, user=self.user)

    def find(self, tx: Tx) -> Conversation | None:
        """The conversation, if there is one and it is this user's."""
        try:
            return find_own_conversation(tx, self.space, self.id, self.user)
        except ScopeError:
            if self.access.is_bound:
                return None
            raise


def scope_for(access: Access, space: str, id: str, user: str | None) -> ConversationScope:
    """The scope of this access: of the named user, or of the user that the access is bound to."""
    owner = access.resolve_user(user)
    owner = None if owner is None else check_id("user", owner)
    return ConversationScope(space, check_id("conversation", id), owner, access)
