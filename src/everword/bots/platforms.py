"""What the core of a bot and a chat platform say to each other, without the library of any platform.

An event is what happens in a chat; a `BotMessage` is what the bot says; `Platform` is what the core needs to say it. A
`Place` is where it happens. A private chat is a conversation of one user. A group is a space; its main channel, and
each topic or thread in it, is a conversation of many.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from everword.model.people import clean_name

_COMMAND = re.compile(
    r"/(?P<name>[A-Za-z][A-Za-z0-9_]{0,31})(?:@(?P<bot>\w{1,64}))?(?:\s+(?P<argument>.*))?", re.DOTALL
)
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

    @property
    def place(self) -> Place:
        return self.message.place


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


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """Somebody has pressed a button under a message of the bot; `id` is what the platform wants answered."""

    place: Place
    id: str
    author: Person
    data: str


@dataclass(frozen=True, slots=True)
class ChatMove:
    """The platform has given a chat another id, as Telegram does when a group becomes a supergroup."""

    place: Place
    old_chat: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is on its platform, and the names by which people address it."""

    person: Person
    names: tuple[str, ...] = ()


Event = ReceivedMessage | MessageEdit | MessageDeletion | ChannelDeletion | CommandCall | ButtonPress | ChatMove
Change = MessageEdit | MessageDeletion | ChannelDeletion


def parse_slash(text: str, handle: str) -> tuple[str, str] | None:
    """The name of the command in a message such as `/summary@memo_bot`, in small letters, and what follows it; None if
    it is no command, or one for another bot."""
    match = _COMMAND.fullmatch(text.strip())
    if match is None or (match["bot"] and match["bot"].casefold() != handle.casefold()):
        return None
    return match["name"].lower(), (match["argument"] or "").strip()


# -- what the bot says


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message: what it says, and what comes back when it is pressed (64 bytes at most)."""

    label: str
    data: str


@dataclass(frozen=True, slots=True)
class BotMessage:
    """A message of the bot: a text, and buttons in one column. `answers` is the id of the command or the press that it
    answers, if any; if it `is_private`, it is for whoever did that, where the platform can show it to one alone."""

    text: str
    buttons: tuple[Button, ...] = ()
    is_private: bool = False
    answers: str = ""


@dataclass(frozen=True, slots=True)
class BotFile:
    """A file that the bot sends."""

    name: str
    content: bytes
    caption: str = ""


class Platform(Protocol):
    """A chat platform. Calls raise PlatformBusy when it asks to wait, PlatformRefused when it lets the bot not write
    there, and ServerError for everything else that it refuses."""

    @property
    def name(self) -> str:
        """What the platform is called in places, as in "telegram"."""

    @property
    def identity(self) -> Identity: ...

    @property
    def longest(self) -> int:
        """The most characters of one message."""

    @property
    def has_hidden_channels(self) -> bool:
        """Whether a group may have channels that not all of its members can read."""

    def edit_seconds(self, place: Place) -> float:
        """The seconds between two edits of a message that the platform allows in the long run."""

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        """Send a message; returns its id."""

    async def edit(self, place: Place, id: str, message: BotMessage) -> None:
        """Give a message of the bot another text and other buttons."""

    async def send_file(self, place: Place, file: BotFile) -> None: ...

    async def show_typing(self, place: Place) -> None:
        """Show for some seconds that the bot is writing."""

    async def answer_press(self, press_id: str, note: str = "") -> None:
        """End the wait of whoever pressed a button, with a short note."""

    async def is_admin(self, place: Place, person_id: str) -> bool:
        """Whether somebody runs the chat."""

    async def private_place(self, person_id: str) -> Place:
        """The private chat of somebody with the bot."""
