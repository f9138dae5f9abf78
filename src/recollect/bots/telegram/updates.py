"""Reads Telegram's updates as events of the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from telegram import (
    Chat,
    Message,
    MessageEntity,
    MessageOrigin,
    MessageOriginChannel,
    MessageOriginChat,
    MessageOriginHiddenUser,
    MessageOriginUser,
    Update,
    User,
)

from recollect.bots.events import (
    ButtonPress,
    ChatMove,
    CommandCall,
    Event,
    MessageEdit,
    Person,
    Place,
    ReceivedMessage,
)
from recollect.bots.slash import parse_slash

PLATFORM = "telegram"

# What a message has besides its text, and how it is called in the log.
ATTACHMENTS: dict[str, Callable[[Any], str]] = {
    "photo": lambda _: "photo",
    "voice": lambda _: "voice message",
    "video_note": lambda _: "video message",
    "animation": lambda _: "animation",
    "video": lambda _: "video",
    "audio": lambda audio: f"audio: {audio.title}" if audio.title else "audio",
    "document": lambda document: f"file: {document.file_name}" if document.file_name else "file",
    "sticker": lambda sticker: f"sticker: {sticker.emoji}" if sticker.emoji else "sticker",
    "location": lambda _: "location",
    "contact": lambda contact: f"contact: {contact.first_name}",
    "poll": lambda poll: f"poll: {poll.question}",
    "dice": lambda dice: f"dice: {dice.value}",
}


def event_of(update: Update, bot: User) -> Event | None:
    """What an update says has happened; None if it is nothing for the bot."""
    if update.callback_query is not None:
        return press_of(update)
    message = update.effective_message
    if message is None:
        return None
    if message.migrate_to_chat_id is not None:
        place = Place(PLATFORM, str(message.migrate_to_chat_id), is_private=False)
        return ChatMove(place, str(message.chat.id))
    is_edit = update.edited_message is not None or update.edited_channel_post is not None
    incoming = message_of(message, bot)
    command = parse_slash(incoming.text, bot.username or "") if incoming.text.startswith("/") else None
    if not incoming.content or incoming.author.id == str(bot.id) or (is_edit and command is not None):
        return None
    if command is not None:
        return CommandCall(incoming.place, incoming.id, incoming.author, *command, time=incoming.time)
    return MessageEdit(incoming) if is_edit else incoming


def message_of(message: Message, bot: User) -> ReceivedMessage:
    """A message as an event. What was forwarded is no word of whoever forwards it: it is quoted."""
    replied = message.reply_to_message
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
        None if replied is None else str(replied.message_id),
        is_for_bot(message, bot),
        attachments,
        is_from_bot=message.sender_chat is None and message.from_user is not None and message.from_user.is_bot,
        quote=quote,
    )


def origin_name(origin: MessageOrigin) -> str:
    """Who wrote what was forwarded, as far as they let it be known."""
    match origin:
        case MessageOriginUser():
            return origin.sender_user.full_name
        case MessageOriginHiddenUser():
            return origin.sender_user_name
        case MessageOriginChat():
            return origin.sender_chat.title or "a group"
        case MessageOriginChannel():
            return origin.chat.title or "a channel"
    return "elsewhere"


def press_of(update: Update) -> ButtonPress | None:
    query = update.callback_query
    if query is None or query.message is None or query.data is None:
        return None
    message = query.message
    place = place_of_chat(message.chat, message if isinstance(message, Message) else None)
    return ButtonPress(place, query.id, person_of(query.from_user), query.data, str(message.message_id), message.date)


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
    replied = message.reply_to_message
    if replied is not None and replied.from_user is not None and replied.from_user.id == bot.id:
        return True
    kinds: list[str | None] = [MessageEntity.MENTION, MessageEntity.TEXT_MENTION]
    entities = {**message.parse_entities(kinds), **message.parse_caption_entities(kinds)}
    handle = f"@{bot.username}".casefold()
    return any(
        text.casefold() == handle or (entity.user is not None and entity.user.id == bot.id)
        for entity, text in entities.items()
    )


def attachments_of(message: Message) -> tuple[str, ...]:
    """Placeholders for what a message has besides its text. An animation is a file, too; it is named once."""
    attached = [(name, getattr(message, name)) for name in ATTACHMENTS if getattr(message, name)]
    return tuple(ATTACHMENTS[name](value) for name, value in attached[:1])
