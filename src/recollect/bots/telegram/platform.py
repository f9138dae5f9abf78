"""The bot on Telegram, over python-telegram-bot: its updates become events, what the bot says becomes calls.

Updates come by polling, or by a webhook (`webhook`). The library puts the token into the address of every
call: nothing of what it logs or raises is shown before the token is taken out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from telegram import (
    BotCommand,
    ChatMember,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputFile,
    LinkPreviewOptions,
    ReplyParameters,
    Update,
)
from telegram.constants import ChatAction, MessageLimit
from telegram.error import BadRequest, Forbidden, InvalidToken, RetryAfter, TelegramError
from telegram.ext import Application, ApplicationBuilder, ContextTypes, TypeHandler
from telegram.request import HTTPXRequest

from recollect.bots.bot import Bot
from recollect.bots.events import Identity, Place
from recollect.bots.outgoing import BotFile, BotMessage, Button
from recollect.bots.telegram.updates import PLATFORM, event_of, person_of
from recollect.bots.texts import COMMANDS
from recollect.config import Secret
from recollect.errors import ConfigError, PlatformBusy, PlatformRefused, ServerError
from recollect.masking import masked_logger

logger = masked_logger("recollect.bots")

UPDATES = [
    Update.MESSAGE,
    Update.EDITED_MESSAGE,
    Update.CHANNEL_POST,
    Update.EDITED_CHANNEL_POST,
    Update.CALLBACK_QUERY,
]
PRIVATE_SECONDS = 1.0  # between two edits in a private chat: Telegram takes about one message a second there,
GROUP_SECONDS = 3.0  # and twenty a minute in a group
NOT_MODIFIED = "not modified"
TOO_OLD = "query is too old"
REFUSED_TOKEN = "RECOLLECT_TELEGRAM_TOKEN: Telegram refuses this token; @BotFather gives one, and shows it again"
REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND)  # what Telegram answers to a token that it does not know
WRITERS = (ChatMember.OWNER, ChatMember.ADMINISTRATOR)


@dataclass(frozen=True, slots=True)
class TelegramOptions:
    """How to reach Telegram: the token, names of the bot besides its own, addresses other than Telegram's, and how
    long a poll may take."""

    token: Secret
    names: tuple[str, ...] = ()
    base_url: str = "https://api.telegram.org/bot"
    base_file_url: str = "https://api.telegram.org/file/bot"
    poll_seconds: int = 10


class PollRequest(HTTPXRequest):
    """Asks for updates. The library stops to ask, and says nothing, once the token is refused: this says it."""

    def __init__(self, refused: asyncio.Event) -> None:
        # One to poll, one for the library's last question when it stops: the poll it breaks off may not be gone yet.
        super().__init__(connection_pool_size=2)
        self._refused = refused

    async def do_request(self, *arguments: Any, **options: Any) -> tuple[int, bytes]:
        status, body = await super().do_request(*arguments, **options)
        if status in REFUSALS:
            self._refused.set()
        return status, body


class TelegramPlatform:
    """Telegram as the core sees it."""

    name = PLATFORM
    longest = int(MessageLimit.MAX_TEXT_LENGTH)
    has_hidden_channels = False

    def __init__(self, options: TelegramOptions) -> None:
        self._options = options
        self._receiver: Bot | None = None
        self.refused = asyncio.Event()  # set when Telegram no longer takes the token
        self.application: Application = (  # type: ignore[type-arg]
            ApplicationBuilder()
            .token(str(options.token))
            .base_url(options.base_url)
            .base_file_url(options.base_file_url)
            .get_updates_request(PollRequest(self.refused))
        ).build()
        self.application.add_handler(TypeHandler(Update, self._take_update))

    def __repr__(self) -> str:
        return "<Telegram>"

    # -- opening and closing

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Ask Telegram who the bot is, so that it can speak; at the end, let go of the connections."""
        bot = self.application.bot
        try:
            async with self._translate_errors():
                await self.application.initialize()
                await bot.set_my_commands([BotCommand(name, about) for name, about in COMMANDS.items()])
            yield
        finally:
            await self.application.shutdown()
            await bot.shutdown()  # also if the application was not ready

    @asynccontextmanager
    async def deliver_updates(self, bot: Bot) -> AsyncIterator[None]:
        """Give the bot what comes in within this block; at the end, what has come in is given first."""
        self._receiver = bot
        await self.application.start()
        try:
            yield
        finally:
            await self.application.stop()

    @asynccontextmanager
    async def poll(self) -> AsyncIterator[None]:
        """Ask Telegram for updates within this block."""
        updater = self.application.updater
        assert updater is not None  # the builder makes one
        async with self._translate_errors():
            await updater.start_polling(
                timeout=timedelta(seconds=self._options.poll_seconds),
                allowed_updates=UPDATES,
                error_callback=self._report_poll_error,
            )
        try:
            yield
        finally:
            with suppress(InvalidToken):  # then it has stopped already, and `refused` is set
                await updater.stop()

    async def take_webhook(self, url: str, secret: str) -> None:
        """Have Telegram call an address with each update."""
        async with self._translate_errors():
            await self.application.bot.set_webhook(url, secret_token=secret, allowed_updates=UPDATES)

    async def put_update(self, data: dict[str, object]) -> None:
        """Take an update that came by the webhook."""
        update = Update.de_json(data, self.application.bot)
        await self.application.update_queue.put(update)

    async def _take_update(self, update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
        event = event_of(update, self.application.bot.bot)
        if event is not None and self._receiver is not None:
            self._receiver.submit(event)

    async def wait_for_end(self, stop: asyncio.Event) -> None:
        """Wait until the bot is told to stop; raises if Telegram no longer takes the token."""
        waits = [asyncio.create_task(event.wait()) for event in (stop, self.refused)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if self.refused.is_set() and not stop.is_set():
            raise ConfigError(REFUSED_TOKEN)

    def _report_poll_error(self, error: TelegramError) -> None:
        logger.warning("Telegram does not answer: %s", error)

    # -- as the core needs it

    @property
    def identity(self) -> Identity:
        own = self.application.bot.bot
        names = [own.first_name, own.username or "", *self._options.names]
        return Identity(person_of(own), tuple(dict.fromkeys(filter(None, names))))

    def edit_seconds(self, place: Place) -> float:
        return PRIVATE_SECONDS if place.is_private else GROUP_SECONDS

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        reply = None if reply_to is None else ReplyParameters(int(reply_to), allow_sending_without_reply=True)
        async with self._translate_errors():
            sent = await self.application.bot.send_message(
                place.chat,
                message.text,
                message_thread_id=thread_id(place),
                reply_parameters=reply,
                reply_markup=keyboard(message.buttons),
                link_preview_options=LinkPreviewOptions(is_disabled=True),
            )
        return str(sent.message_id)

    async def edit(self, place: Place, id: str, message: BotMessage) -> None:
        async with self._translate_errors():
            await self.application.bot.edit_message_text(
                message.text, place.chat, int(id), reply_markup=keyboard(message.buttons)
            )

    async def send_file(self, place: Place, file: BotFile) -> None:
        async with self._translate_errors():
            document = InputFile(file.content, filename=file.name)
            await self.application.bot.send_document(
                place.chat, document, caption=file.caption, message_thread_id=thread_id(place)
            )

    async def show_typing(self, place: Place) -> None:
        async with self._translate_errors():
            await self.application.bot.send_chat_action(
                place.chat, ChatAction.TYPING, message_thread_id=thread_id(place)
            )

    async def answer_press(self, press_id: str, note: str = "") -> None:
        async with self._translate_errors():
            await self.application.bot.answer_callback_query(press_id, note or None)

    async def is_admin(self, place: Place, person_id: str) -> bool:
        if person_id == place.chat:  # an admin who hides behind the group
            return True
        if not person_id.isdigit():  # a channel that writes in its own name
            return False
        async with self._translate_errors():
            member = await self.application.bot.get_chat_member(place.chat, int(person_id))
        return member.status in WRITERS

    async def private_place(self, person_id: str) -> Place:
        if not person_id.isdigit():  # what is sent to a group or a channel, all of it sees
            raise PlatformRefused("Telegram: an admin who hides behind a group has no private chat")
        return Place(PLATFORM, person_id, is_private=True)

    # -- errors

    @asynccontextmanager
    async def _translate_errors(self) -> AsyncIterator[None]:
        """Raise Telegram's errors as ours, which hold no token. What a later call makes pointless is no error."""
        try:
            yield
        except RetryAfter as error:
            busy = PlatformBusy("Telegram asks to wait")
            wait = error.retry_after
            busy.after = wait.total_seconds() if isinstance(wait, timedelta) else float(wait)
            raise busy from None
        except InvalidToken:
            raise ConfigError(REFUSED_TOKEN) from None
        except Forbidden as error:
            raise PlatformRefused(f"Telegram: {error}") from None
        except BadRequest as error:
            if NOT_MODIFIED not in error.message.lower() and TOO_OLD not in error.message.lower():
                raise ServerError(f"Telegram: {error}") from None
        except TelegramError as error:
            raise ServerError(f"Telegram: {error}") from None


def thread_id(place: Place) -> int | None:
    return int(place.thread) if place.thread else None


def keyboard(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """Buttons in one column."""
    if not buttons:
        return None
    return InlineKeyboardMarkup([[InlineKeyboardButton(button.label, callback_data=button.data)] for button in buttons])
