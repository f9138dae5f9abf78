"""Replays a recorded conversation: what the bot would say, without a token and without a platform.

What people said is given to the bot one message after the other; what an assistant said in the record is left out. A
message that is the label of a button under what the bot said last presses that button.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from everword.bots import platforms
from everword.bots.bot import Bot
from everword.bots.platforms import BotMessage, ButtonPress, CommandCall, Person, Place, ReceivedMessage
from everword.model import BadRecord, Record

PLATFORM = "replay"
BOT_ID = "bot"
LONGEST = 4_096  # characters of one message, as on Telegram


@dataclass(slots=True)
class PrintedPlatform:
    """A platform that prints. Whoever is in the record runs the chat."""

    identity: platforms.Identity
    show: Callable[[str], None]
    name: str = PLATFORM
    buttons: tuple[platforms.Button, ...] = ()
    longest: int = LONGEST
    has_hidden_channels: bool = False
    _ids: count[int] = field(default_factory=count)

    def edit_seconds(self, place: Place) -> float:
        return float("inf")

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        labels = " ".join(f"[{button.label}]" for button in message.buttons)
        self.buttons = message.buttons
        self.show(f"{self.identity.person.shown}: {message.text}{f' {labels}' if labels else ''}")
        return f"bot {next(self._ids)}"

    async def edit(self, place: Place, id: str, message: BotMessage) -> None:
        await self.send(place, message)

    async def send_file(self, place: Place, file: platforms.BotFile) -> None:
        self.show(f"{self.identity.person.shown}: [file {file.name}, {len(file.content):,} bytes]")

    async def show_typing(self, place: Place) -> None:
        pass

    async def answer_press(self, press_id: str, note: str = "") -> None:
        if note:
            self.show(f"{self.identity.person.shown}: {note}")

    async def is_admin(self, place: Place, person_id: str) -> bool:
        return True

    async def private_place(self, person_id: str) -> Place:
        return Place(PLATFORM, person_id, is_private=True)


async def replay_records(records: Iterable[Record | BadRecord], bot: Bot, platform: PrintedPlatform) -> int:
    """Give the bot what people said in a record, in order; returns the number of messages that could not be read."""
    bad_count = 0
    for number, record in enumerate(records):
        if isinstance(record, BadRecord):
            bad_count += 1
            continue
        if record.draft.role != "user":
            continue
        event = event_of_record(record, number, platform, bot.tools.clock.now())
        platform.show(f"{event.author.shown}: {record.draft.content}")
        platform.buttons = ()
        bot.submit(event)
        await bot.drain()
    return bad_count


def event_of_record(
    record: Record, number: int, platform: PrintedPlatform, now: datetime
) -> ReceivedMessage | CommandCall | ButtonPress:
    draft = record.draft
    place = Place(PLATFORM, record.conversation, record.user is not None)
    name = draft.metadata.get("name")
    author = Person(draft.author or record.user or "somebody", name if isinstance(name, str) else "")
    id = draft.platform_id or f"line {number}"
    pressed = [button for button in platform.buttons if button.label == draft.content.strip()]
    if pressed:
        return ButtonPress(place, id, author, pressed[0].data)
    handle = platform.identity.person.handle
    command = platforms.parse_slash(draft.content, handle)
    if command is not None:
        return CommandCall(place, id, author, *command)
    is_for_bot = f"@{handle}".casefold() in draft.content.casefold()
    return ReceivedMessage(place, id, author, draft.content, draft.time or now, draft.reply_to, is_for_bot)


def printed_identity(names: Iterable[str]) -> platforms.Identity:
    """Who the bot is in a replay."""
    all_names = tuple(names) or ("Memo",)
    handle = all_names[0].lower().replace(" ", "_") + "_bot"
    return platforms.Identity(Person(BOT_ID, all_names[0], handle), (*all_names, handle))
