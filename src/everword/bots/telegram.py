"""The bot on Telegram, over python-telegram-bot: its updates become events, what the bot says becomes calls.

Updates come by polling, or by a webhook: a server with one address, which takes updates that carry the secret, and
nothing else. Behind it stands whatever speaks TLS, as Telegram calls only `https`. The library puts the token into the
address of every call: nothing of what it logs or raises is shown before the token is taken out.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import telegram
import uvicorn
from telegram import Chat, Message, MessageEntity, Update, User
from telegram.constants import ChatAction, MessageLimit
from telegram.error import BadRequest, Forbidden, InvalidToken, RetryAfter, TelegramError
from telegram.ext import Application, ApplicationBuilder, ContextTypes, TypeHandler
from telegram.request import HTTPXRequest

from everword.bots import platforms
from everword.bots.bot import Bot
from everword.bots.platforms import BotFile, BotMessage, Button, Event, Identity, Person, Place, ReceivedMessage
from everword.bots.texts import COMMANDS
from everword.config import Secret
from everword.errors import ConfigError, PlatformBusy, PlatformRefused, ServerError
from everword.masking import masked_logger
from everword.request_smuggling import StrictProtocol
from everword.strict_json import UnreadableJson, read_json

logger = masked_logger("everword.bots")

PLATFORM = "telegram"
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
REFUSED_TOKEN = "EVERWORD_TELEGRAM_TOKEN: Telegram refuses this token; ask @BotFather for the current token"
REFUSALS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND)  # what Telegram answers to a token that it does not know
WRITERS = (telegram.ChatMember.OWNER, telegram.ChatMember.ADMINISTRATOR)
PRIVACY_MODE = (
    "groups: privacy mode is on, so Telegram shows it commands, mentions and replies only. To let it keep whole "
    "groups: @BotFather, /setprivacy, Disable; then remove it from the group and add it again"
)
WHOLE_GROUPS = "groups: the bot sees every message of its groups"
# What a message has besides its text, how it is called in the log, and the field that says more.
ATTACHMENTS = {
    "photo": ("photo", ""),
    "voice": ("voice message", ""),
    "video_note": ("video message", ""),
    "animation": ("animation", ""),
    "video": ("video", ""),
    "audio": ("audio", "title"),
    "document": ("file", "file_name"),
    "sticker": ("sticker", "emoji"),
    "location": ("location", ""),
    "contact": ("contact", "first_name"),
    "poll": ("poll", "question"),
    "dice": ("dice", "value"),
}


@dataclass(frozen=True, slots=True)
class Webhook:
    """The public address that Telegram calls, and the socket on which the bot waits for it."""

    url: str
    listener: socket.socket


@dataclass(frozen=True, slots=True)
class TelegramOptions:
    """How to reach Telegram: the token, names of the bot besides its own, addresses other than Telegram's, how long a
    poll may take, and a webhook in place of polling."""

    token: Secret
    names: tuple[str, ...] = ()
    base_url: str = "https://api.telegram.org/bot"
    base_file_url: str = "https://api.telegram.org/file/bot"
    poll_seconds: int = 10
    webhook: Webhook | None = None


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
        self._refused = asyncio.Event()  # set when Telegram no longer takes the token
        self.application: Application = (  # type: ignore[type-arg]
            ApplicationBuilder()
            .token(str(options.token))
            .base_url(options.base_url)
            .base_file_url(options.base_file_url)
            .get_updates_request(PollRequest(self._refused))
        ).build()
        self.application.add_handler(TypeHandler(Update, self._take_update))
        self._bot = self.application.bot

    def __repr__(self) -> str:
        return "<Telegram>"

    # -- opening and closing

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Ask Telegram who the bot is, so that it can speak; at the end, let go of the connections."""
        try:
            async with translate_errors():
                await self.application.initialize()
                await self._bot.set_my_commands([telegram.BotCommand(name, about) for name, about in COMMANDS.items()])
            yield
        finally:
            await self.application.shutdown()
            await self._bot.shutdown()  # also if the application was not ready

    @asynccontextmanager
    async def deliver_updates(self, bot: Bot) -> AsyncIterator[None]:
        self._receiver = bot
        await self.application.start()
        try:
            yield
        finally:
            await self.application.stop()

    async def wait_until_ready(self, stop: asyncio.Event) -> None:
        """Telegram has said all when the bot is connected."""

    def describe(self) -> str:
        return WHOLE_GROUPS if self._bot.bot.can_read_all_group_messages else PRIVACY_MODE

    async def wait_for_end(self, stop: asyncio.Event) -> None:
        webhook = self._options.webhook
        async with self.poll() if webhook is None else self._use_webhook(webhook):
            waits = [asyncio.create_task(event.wait()) for event in (stop, self._refused)]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            if self._refused.is_set() and not stop.is_set():
                raise ConfigError(REFUSED_TOKEN)

    @asynccontextmanager
    async def poll(self) -> AsyncIterator[None]:
        """Ask Telegram for updates within this block."""
        updater = self.application.updater
        assert updater is not None  # the builder makes one
        async with translate_errors():
            await updater.start_polling(
                timeout=timedelta(seconds=self._options.poll_seconds),
                allowed_updates=UPDATES,
                error_callback=lambda error: logger.warning("Telegram does not answer: %s", error),
            )
        try:
            yield
        finally:
            with suppress(InvalidToken):  # then it has stopped already, and `_refused` is set
                await updater.stop()

    @asynccontextmanager
    async def _use_webhook(self, webhook: Webhook) -> AsyncIterator[None]:
        secret = secrets.token_urlsafe(32)
        async with serve_webhook(self, secret, webhook.listener):
            await self.take_webhook(webhook.url.rstrip("/") + PATH, secret)
            yield

    async def take_webhook(self, url: str, secret: str) -> None:
        """Have Telegram call an address with each update."""
        async with translate_errors():
            await self._bot.set_webhook(url, secret_token=secret, allowed_updates=UPDATES)

    async def put_update(self, data: dict[str, object]) -> None:
        """Take an update that came by the webhook."""
        await self.application.update_queue.put(Update.de_json(data, self._bot))

    async def _take_update(self, update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
        event = event_of(update, self._bot.bot)
        if event is not None and self._receiver is not None:
            self._receiver.submit(event)

    # -- as the core needs it

    @property
    def identity(self) -> Identity:
        own = self._bot.bot
        names = [own.first_name, own.username or "", *self._options.names]
        return Identity(person_of(own), tuple(dict.fromkeys(filter(None, names))))

    def edit_seconds(self, place: Place) -> float:
        return PRIVATE_SECONDS if place.is_private else GROUP_SECONDS

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        reply = None if reply_to is None else telegram.ReplyParameters(int(reply_to), allow_sending_without_reply=True)
        async with translate_errors():
            sent = await self._bot.send_message(
                place.chat,
                message.text,
                message_thread_id=thread_id(place),
                reply_parameters=reply,
                reply_markup=keyboard(message.buttons),
                link_preview_options=telegram.LinkPreviewOptions(is_disabled=True),
            )
        return str(sent.message_id)

    async def edit(self, place: Place, id: str, message: BotMessage) -> None:
        markup = keyboard(message.buttons)
        async with translate_errors():
            await self._bot.edit_message_text(message.text, place.chat, int(id), reply_markup=markup)

    async def send_file(self, place: Place, file: BotFile) -> None:
        document = telegram.InputFile(file.content, filename=file.name)
        thread = thread_id(place)
        async with translate_errors():
            await self._bot.send_document(place.chat, document, caption=file.caption, message_thread_id=thread)

    async def show_typing(self, place: Place) -> None:
        async with translate_errors():
            await self._bot.send_chat_action(place.chat, ChatAction.TYPING, message_thread_id=thread_id(place))

    async def answer_press(self, press_id: str, note: str = "") -> None:
        async with translate_errors():
            await self._bot.answer_callback_query(press_id, note or None)

    async def is_admin(self, place: Place, person_id: str) -> bool:
        if person_id == place.chat:  # an admin who hides behind the group
            return True
        if not person_id.isdigit():  # a channel that writes in its own name
            return False
        async with translate_errors():
            member = await self._bot.get_chat_member(place.chat, int(person_id))
        return member.status in WRITERS

    async def private_place(self, person_id: str) -> Place:
        if not person_id.isdigit():  # what is sent to a group or a channel, all of it sees
            raise PlatformRefused("Telegram: an anonymous admin cannot receive private messages")
        return Place(PLATFORM, person_id, is_private=True)


@asynccontextmanager
async def translate_errors() -> AsyncIterator[None]:
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
    except TelegramError as error:
        message = error.message.lower() if isinstance(error, BadRequest) else ""
        if NOT_MODIFIED not in message and TOO_OLD not in message:
            raise ServerError(f"Telegram: {error}") from None


def thread_id(place: Place) -> int | None:
    return int(place.thread) if place.thread else None


def keyboard(buttons: Sequence[Button]) -> telegram.InlineKeyboardMarkup | None:
    """Buttons in one column."""
    if not buttons:
        return None
    rows = [[telegram.InlineKeyboardButton(button.label, callback_data=button.data)] for button in buttons]
    return telegram.InlineKeyboardMarkup(rows)


# -- updates as events


def event_of(update: Update, bot: User) -> Event | None:
    """What an update says has happened; None if it is nothing for the bot."""
    if update.callback_query is not None:
        return press_of(update.callback_query)
    message = update.effective_message
    if message is None:
        return None
    if message.migrate_to_chat_id is not None:
        place = Place(PLATFORM, str(message.migrate_to_chat_id), is_private=False)
        return platforms.ChatMove(place, str(message.chat.id))
    is_edit = update.edited_message is not None or update.edited_channel_post is not None
    incoming = message_of(message, bot)
    command = platforms.parse_slash(incoming.text, bot.username or "") if incoming.text.startswith("/") else None
    if not incoming.content or incoming.author.id == str(bot.id) or (is_edit and command is not None):
        return None
    if command is not None:
        return platforms.CommandCall(incoming.place, incoming.id, incoming.author, *command)
    return platforms.MessageEdit(incoming) if is_edit else incoming


def message_of(message: Message, bot: User) -> ReceivedMessage:
    """A message as an event. What was forwarded is no word of whoever forwards it: it is quoted."""
    parent = message.reply_to_message
    text = message.text or message.caption or ""
    attachments = attachments_of(message)
    quote = ""
    if message.forward_origin is not None:
        attachments = (f"forwarded from {origin_name(message.forward_origin)}", *attachments)
        quote = text
        text = ""
    return ReceivedMessage(
        place_of_chat(message.chat, message),
        str(message.message_id),
        author_of(message),
        text,
        message.date,
        None if parent is None else str(parent.message_id),
        is_for_bot(message, bot),
        attachments,
        is_from_bot=message.sender_chat is None and message.from_user is not None and message.from_user.is_bot,
        quote=quote,
    )


def origin_name(origin: telegram.MessageOrigin) -> str:
    """Who wrote what was forwarded, as far as they let it be known."""
    match origin:
        case telegram.MessageOriginUser():
            return origin.sender_user.full_name
        case telegram.MessageOriginHiddenUser():
            return origin.sender_user_name
        case telegram.MessageOriginChat():
            return origin.sender_chat.title or "a group"
        case telegram.MessageOriginChannel():
            return origin.chat.title or "a channel"
    return "elsewhere"


def press_of(query: telegram.CallbackQuery) -> platforms.ButtonPress | None:
    message = query.message
    if message is None or query.data is None:
        return None
    place = place_of_chat(message.chat, message if isinstance(message, Message) else None)
    return platforms.ButtonPress(place, query.id, person_of(query.from_user), query.data)


def place_of_chat(chat: Chat, message: Message | None) -> Place:
    is_topic = message is not None and message.is_topic_message and message.message_thread_id is not None
    thread = str(message.message_thread_id) if message is not None and is_topic else ""
    return Place(PLATFORM, str(chat.id), chat.type == Chat.PRIVATE, thread)


def author_of(message: Message) -> Person:
    """Who wrote a message; a channel, or a group whose admin hides behind it, writes in its own name."""
    if message.sender_chat is not None:
        chat = message.sender_chat
        return Person(str(chat.id), chat.title or "", chat.username or "")
    if message.from_user is None:
        return Person(str(message.chat.id), message.chat.title or "")
    return person_of(message.from_user)


def person_of(user: User) -> Person:
    return Person(str(user.id), user.full_name, user.username or "")


def is_for_bot(message: Message, bot: User) -> bool:
    """Whether a message mentions the bot, or replies to it."""
    parent = message.reply_to_message
    if parent is not None and parent.from_user is not None and parent.from_user.id == bot.id:
        return True
    kinds: list[str | None] = [MessageEntity.MENTION, MessageEntity.TEXT_MENTION]
    entities = {**message.parse_entities(kinds), **message.parse_caption_entities(kinds)}
    handle = f"@{bot.username}".casefold()
    return any(
        text.casefold() == handle or (entity.user is not None and entity.user.id == bot.id)
        for entity, text in entities.items()
    )


def attachments_of(message: Message) -> tuple[str, ...]:
    """A placeholder for what a message has besides its text. An animation is a file, too; it is named once."""
    for name, (kind, detail_field) in ATTACHMENTS.items():
        attachment = getattr(message, name)
        if attachment:
            detail = getattr(attachment, detail_field) if detail_field else None
            return (f"{kind}: {detail}" if detail else kind,)
    return ()


# -- the webhook

PATH = "/telegram"
SECRET_HEADER = b"x-telegram-bot-api-secret-token"
MOST_BYTES = 1 << 20  # of an update

Part = MutableMapping[str, Any]  # of what an ASGI server and its application say to each other
Receive = Callable[[], Awaitable[Part]]


class WebhookApp:
    """An ASGI application that takes Telegram's updates. An update is answered once it is in the queue."""

    def __init__(self, platform: TelegramPlatform, secret: str) -> None:
        self._platform = platform
        self._secret = secret.encode()

    async def __call__(self, scope: Part, receive: Receive, send: Callable[[Part], Awaitable[None]]) -> None:
        assert scope["type"] == "http"
        status = await self._take_request(scope, receive)
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def _take_request(self, scope: Part, receive: Receive) -> int:
        """Take a request, and return the status of the answer."""
        if scope["path"] != PATH:
            return 404
        if scope["method"] != "POST":
            return 405
        secret = dict(scope["headers"]).get(SECRET_HEADER, b"")
        if not hmac.compare_digest(secret, self._secret):
            return 403
        body = await read_body(receive)
        if body is None:
            return 413
        try:
            data = read_json(body)
        except UnreadableJson:
            return 400
        if not isinstance(data, dict) or not isinstance(data.get("update_id"), int):
            return 400
        await self._platform.put_update(data)
        return 200


async def read_body(receive: Receive) -> bytes | None:
    """The body of a request; None if it is too long or does not end."""
    body = b""
    while True:
        part = await receive()
        body += bytes(part.get("body", b""))
        if part["type"] == "http.disconnect" or len(body) > MOST_BYTES:
            return None
        if not part.get("more_body"):
            return body


def open_webhook_socket(host: str, port: int) -> socket.socket:
    """A socket that listens for Telegram's calls."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(f"cannot listen on {host}:{port}: {reason}; choose another --port") from error


class WebhookServer(uvicorn.Server):
    """A server whose process handles signals itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serve_webhook(platform: TelegramPlatform, secret: str, listener: socket.socket) -> AsyncIterator[None]:
    """Serve the webhook on a socket within this block."""
    app = WebhookApp(platform, secret)
    server = WebhookServer(
        uvicorn.Config(app, http=StrictProtocol, ws="none", log_config=None, access_log=False, lifespan="off")
    )
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await task
