"""Reads what Discord says has happened as events of the core.

A guild is a space. Each of its channels, and each thread, is a conversation of many; a direct message is a private
chat, which is called by the id of its channel. Mentions of people stay as Discord writes them, `<@123>`: the log keeps
ids, and whoever reads it is shown names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import discord

from recollect.bots.events import ButtonPress, CommandCall, MessageDeletion, MessageEdit, Person, Place, ReceivedMessage

PLATFORM = "discord"
KINDS = {"image": "image", "video": "video", "audio": "audio"}  # of files, by the first part of their media type


def place_of_channel(guild: int | None, channel: int) -> Place:
    if guild is None:
        return Place(PLATFORM, str(channel), is_private=True)
    return Place(PLATFORM, str(guild), is_private=False, thread=str(channel))


def channel_of(place: Place) -> int:
    """The id of the channel in which to speak."""
    return int(place.chat if place.is_private else place.thread)


def person_of(user: discord.abc.User) -> Person:
    return Person(str(user.id), user.display_name, user.name)


def event_of(
    message: discord.Message, bot: discord.abc.User, *, is_edit: bool = False
) -> ReceivedMessage | MessageEdit | None:
    """What a message is to the bot; None if it is nothing for it: its own, or one that Discord itself writes."""
    if message.author.id == bot.id or message.is_system():
        return None
    received = message_of(message, bot)
    if not received.content:
        return None
    return MessageEdit(received) if is_edit else received


def message_of(message: discord.Message, bot: discord.abc.User) -> ReceivedMessage:
    reference = message.reference
    is_reply = message.type is discord.MessageType.reply and reference is not None and reference.message_id is not None
    return ReceivedMessage(
        place_of_channel(guild_of(message), message.channel.id),
        str(message.id),
        person_of(message.author),
        name_bot(message.content, bot),
        message.created_at,
        str(reference.message_id) if is_reply and reference is not None else None,
        is_for_bot(message, bot),
        attachments_of(message),
        message.author.bot or message.webhook_id is not None,
        "\n".join(snapshot.content for snapshot in message.message_snapshots),
    )


def guild_of(message: discord.Message) -> int | None:
    """The id of the guild, also of one that the library does not know yet; None for a direct message."""
    if message.guild is not None:
        return message.guild.id
    return message.channel.guild_id if isinstance(message.channel, discord.PartialMessageable) else None


def name_bot(text: str, bot: discord.abc.User) -> str:
    """A text in which the bot's mentions are its name: it is nobody whom the memory knows."""
    for mention in (f"<@{bot.id}>", f"<@!{bot.id}>"):
        text = text.replace(mention, f"@{bot.name}")
    return text.strip()


def is_for_bot(message: discord.Message, bot: discord.abc.User) -> bool:
    """Whether a message mentions the bot, or replies to it."""
    if any(user.id == bot.id for user in message.mentions):
        return True
    replied = message.reference.resolved if message.reference is not None else None
    return isinstance(replied, discord.Message) and replied.author.id == bot.id


def attachments_of(message: discord.Message) -> tuple[str, ...]:
    """Placeholders for what a message has besides its text."""
    placeholders = ["forwarded"] if message.message_snapshots else []
    placeholders += [describe_file(attachment) for attachment in message.attachments]
    placeholders += [f"sticker: {sticker.name}" for sticker in message.stickers]
    if message.poll is not None:
        placeholders.append(f"poll: {message.poll.question}")
    return tuple(placeholders)


def describe_file(attachment: discord.Attachment) -> str:
    if attachment.is_voice_message():
        return "voice message"
    kind = KINDS.get((attachment.content_type or "").partition("/")[0], "file")
    return f"{kind}: {attachment.filename}"


def deletion_of(guild: int | None, channel: int, ids: list[int]) -> MessageDeletion:
    return MessageDeletion(place_of_channel(guild, channel), tuple(str(id) for id in ids))


def place_of_interaction(interaction: discord.Interaction) -> Place:
    return place_of_channel(interaction.guild_id, interaction.channel_id or 0)


def command_of(interaction: discord.Interaction, name: str, argument: str) -> CommandCall:
    place = place_of_interaction(interaction)
    author = person_of(interaction.user)
    return CommandCall(place, str(interaction.id), author, name, argument.strip(), interaction.created_at)


def press_of(interaction: discord.Interaction) -> ButtonPress | None:
    """The press of a button; None if the interaction is none."""
    data: Mapping[str, Any] = interaction.data or {}
    if interaction.type is not discord.InteractionType.component or interaction.message is None:
        return None
    return ButtonPress(
        place_of_interaction(interaction),
        str(interaction.id),
        person_of(interaction.user),
        str(data.get("custom_id", "")),
        str(interaction.message.id),
        interaction.created_at,
    )
