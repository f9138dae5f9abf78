"""Who may do what about whom, with a bot. docs/bots.md says the same in words.

Everybody may see and change what is remembered of themselves: in a private chat all of it, in a group what was said in
that group. About others one may ask, remember and forget only in the group where it was said; there the engine shows
what the channel has heard, and lets somebody take back only what they said themselves (`log.access`). How a group's
memory is kept, and what concerns everybody in it, is for those who run the group.
"""

from __future__ import annotations

from enum import Enum


class Right(Enum):
    """What a command needs."""

    ANYBODY = "anybody"
    CHAT_OWNER = "whoever the chat belongs to: the user of a private chat, those who run a group"


RIGHTS = {
    "summary": Right.CHAT_OWNER,
    "summary_on": Right.CHAT_OWNER,
    "summary_off": Right.CHAT_OWNER,
    "summary_now": Right.CHAT_OWNER,
    "export everybody": Right.CHAT_OWNER,
    "erase everybody": Right.CHAT_OWNER,
    "digest schedule": Right.CHAT_OWNER,
    "digest of hidden channels": Right.CHAT_OWNER,
}


def right_for(action: str) -> Right:
    """What an action needs: most are about oneself, or show what the group has heard."""
    return RIGHTS.get(action, Right.ANYBODY)


def is_allowed(action: str, *, in_private: bool, is_admin: bool) -> bool:
    """Whether somebody may do this in a chat."""
    return in_private or is_admin or right_for(action) is Right.ANYBODY
