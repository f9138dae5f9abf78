"""What a bot says, as structure, and what it needs of a platform to say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from recollect.bots.events import Identity, Place


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
