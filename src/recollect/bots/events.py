"""What happens in a chat, as values: no platform's library is needed to make or to read them.

A `Place` is where it happens. A private chat is a conversation of one user. A group is a space; its main channel, and
each topic or thread in it, is a conversation of many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from recollect.model.clean_names import clean_name

MAIN = "chat"  # the conversation of a chat that has no threads, or of its main channel


@dataclass(frozen=True, slots=True)
class Place:
    """A chat on a platform, and a thread of it, if there are threads."""

    platform: str
    chat: str
    is_private: bool
    thread: str = ""

    @property
    def key(self) -> str:
        """What the chat as a whole is called in files and settings."""
        return f"{self.platform}-{self.chat}"

    @property
    def conversation(self) -> str:
        return self.thread or MAIN


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody on a platform: the id that never changes, the name that is shown, and the handle that mentions them."""

    id: str
    name: str = ""
    handle: str = ""

    def __post_init__(self) -> None:
        """Names may hold anything that somebody could type."""
        object.__setattr__(self, "handle", clean_name(self.handle))
        object.__setattr__(self, "name", clean_name(self.name, self.handle))

    @property
    def shown(self) -> str:
        return self.name or self.handle or self.id


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message that somebody wrote. What is not text stands in `attachments`: "photo", "voice message, 7 seconds".

    `is_for_bot`: it mentions the bot, or replies to it. `is_from_bot`: another bot wrote it, which is kept and never
    answered, so that two bots do not talk for ever. `quote` is what somebody else wrote and this message passes on: it
    is kept, and is no word of the author's.
    """

    place: Place
    id: str
    author: Person
    text: str
    time: datetime
    reply_to: str | None = None
    is_for_bot: bool = False
    attachments: tuple[str, ...] = ()
    is_from_bot: bool = False
    quote: str = ""

    @property
    def content(self) -> str:
        """The message as the log keeps it: attachments as placeholders, what is quoted, and the text or caption."""
        placeholders = [f"[{attachment}]" for attachment in self.attachments]
        quoted_lines = [f"> {line}" for line in self.quote.splitlines()]
        return "\n".join([*placeholders, *quoted_lines, *filter(None, [self.text])])


@dataclass(frozen=True, slots=True)
class MessageEdit:
    """A message has another text now."""

    message: ReceivedMessage


@dataclass(frozen=True, slots=True)
class MessageDeletion:
    """Messages were deleted on the platform."""

    place: Place
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChannelDeletion:
    """A channel or a thread was deleted on the platform, with all that was said in it."""

    place: Place


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A command with a slash, and what was written after it."""

    place: Place
    id: str
    author: Person
    name: str
    argument: str
    time: datetime


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """Somebody has pressed a button under a message of the bot; `id` is what the platform wants answered."""

    place: Place
    id: str
    author: Person
    data: str
    message: str
    time: datetime


@dataclass(frozen=True, slots=True)
class ChatMove:
    """The platform has given a chat another id, as Telegram does when a group becomes a supergroup."""

    place: Place
    old_chat: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is on its platform, and the names by which people address it."""

    person: Person
    names: tuple[str, ...] = field(default=())


Event = ReceivedMessage | MessageEdit | MessageDeletion | ChannelDeletion | CommandCall | ButtonPress | ChatMove


def place_of(event: Event) -> Place:
    """Where something happened."""
    return event.message.place if isinstance(event, MessageEdit) else event.place
