"""The bot on Discord, over discord.py: what its gateway says becomes events, what the bot says becomes calls.

The library keeps the connection, resumes it where it was dropped, and waits where Discord asks for short waits; a long
wait is left to the core. Nothing that the bot writes mentions anybody, whatever a model puts into it.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import aiohttp
import discord
from discord import app_commands

from recollect.bots.bot import Bot
from recollect.bots.completion import complete_person, complete_statement
from recollect.bots.discord.interactions import PendingInteractions
from recollect.bots.discord.messages import (
    PLATFORM,
    channel_of,
    command_of,
    deletion_of,
    event_of,
    person_of,
    place_of_channel,
    place_of_interaction,
    press_of,
)
from recollect.bots.discord.slash_commands import build_commands
from recollect.bots.events import ChannelDeletion, Event, Identity, Place
from recollect.bots.outgoing import BotFile, BotMessage, Button
from recollect.config import Secret
from recollect.errors import ConfigError, PlatformBusy, PlatformRefused, RecollectError, ServerError

LONGEST = 2_000  # characters of one message
LONGEST_LABEL = 80  # characters of a button
EDIT_SECONDS = 1.5  # between two edits: Discord takes five calls in five seconds for a channel
LONGEST_WAIT = 30.0  # seconds that the library waits by itself where Discord asks to; the least that it allows to set
REFUSED_TOKEN = (
    "RECOLLECT_DISCORD_TOKEN: Discord refuses this token; the Developer Portal gives one: your application, Bot, "
    "Reset Token"
)
REFUSED_INTENT = (
    "Discord refuses the intent Message Content, without which the bot reads nothing: switch it on in the Developer "
    "Portal: your application, Bot, Privileged Gateway Intents, Message Content Intent"
)


@dataclass(frozen=True, slots=True)
class DiscordOptions:
    """The token, and names of the bot besides its own."""

    token: Secret
    names: tuple[str, ...] = ()


class DiscordPlatform:
    """Discord as the core sees it."""

    name = PLATFORM
    longest = LONGEST
    has_hidden_channels = True

    def __init__(self, options: DiscordOptions) -> None:
        self._options = options
        self._receiver: Bot | None = None
        self._interactions = PendingInteractions()
        self._gateway: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()
        self.client = GatewayClient(self)
        # Not in talks of others to which somebody brings the bot along: these are neither a server nor a private chat.
        self._tree = app_commands.CommandTree(
            self.client,
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        )
        for command in build_commands(self._run_command, self._complete_person, self._complete_statement):
            self._tree.add_command(command)

    def __repr__(self) -> str:
        return "<Discord>"

    # -- opening and closing

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Ask Discord who the bot is, and tell it the commands; at the end, let go of the connections."""
        try:
            async with self._translate_errors():
                await self.client.login(str(self._options.token))
                await self._tree.sync()
            yield
        finally:
            await self.client.close()
            if self._gateway is not None:
                self._gateway.cancel()  # it may be waiting to try again
                await asyncio.gather(self._gateway, return_exceptions=True)

    @asynccontextmanager
    async def deliver_updates(self, bot: Bot) -> AsyncIterator[None]:
        """Give the bot what happens within this block. After it, the bot can still speak."""
        self._receiver = bot
        self._gateway = asyncio.create_task(self.client.connect())
        try:
            yield
        finally:
            self._receiver = None

    async def wait_for_any(self, *events: asyncio.Event) -> None:
        """Wait until one of these is set; raises if the connection has ended for good before that."""
        assert self._gateway is not None, "nothing is delivered yet"
        waits = [asyncio.create_task(event.wait()) for event in events]
        try:
            await asyncio.wait([self._gateway, *waits], return_when=asyncio.FIRST_COMPLETED)
            if not any(event.is_set() for event in events):
                async with self._translate_errors():
                    await self._gateway
                raise ServerError("Discord has ended the connection")
        finally:
            for wait in waits:
                wait.cancel()

    # -- what happens

    def submit(self, event: Event | None) -> None:
        if event is not None and self._receiver is not None:
            self._receiver.submit(event)

    def take_press(self, interaction: discord.Interaction) -> None:
        press = press_of(interaction)
        if press is not None and self._receiver is not None:
            self._interactions.add(interaction, is_private=True)
            self.submit(press)

    def _run_command(self, interaction: discord.Interaction, name: str, argument: str) -> None:
        bot = self._receiver
        if bot is not None and self._interactions.add(interaction, is_private=not bot.is_for_all(name)):
            self.submit(command_of(interaction, name, argument))

    async def _complete_person(self, interaction: discord.Interaction, typed: str) -> list[str]:
        if self._receiver is None:
            return []
        with suppress(RecollectError):  # it is only an offer
            return await complete_person(self._receiver.tools, place_of_interaction(interaction), typed)
        return []

    async def _complete_statement(self, interaction: discord.Interaction, typed: str) -> list[str]:
        if self._receiver is None:
            return []
        person = person_of(interaction.user)
        with suppress(RecollectError):
            return await complete_statement(self._receiver.tools, place_of_interaction(interaction), person, typed)
        return []

    # -- as the core needs it

    @property
    def user(self) -> discord.ClientUser:
        user = self.client.user
        assert user is not None, "known from the login on"
        return user

    @property
    def identity(self) -> Identity:
        person = person_of(self.user)
        names = [person.name, person.handle, *self._options.names]
        return Identity(person, tuple(dict.fromkeys(filter(None, names))))

    def edit_seconds(self, place: Place) -> float:
        return EDIT_SECONDS

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        view = build_view(message.buttons)
        async with self._translate_errors():
            if message.answers in self._interactions:
                is_private = message.is_private and not place.is_private
                return await self._interactions.answer(message.answers, message.text, view, is_private=is_private)
            if message.answers and message.is_private and not place.is_private:
                raise PlatformRefused("Discord: this interaction is over, and its answer is for one person alone")
            channel = self._channel(place)
            reference = None
            if reply_to is not None and not message.answers:
                reference = discord.MessageReference(
                    message_id=int(reply_to), channel_id=channel.id, fail_if_not_exists=False
                )
            # The library's types do not know that both may be None.
            options: dict[str, Any] = {"reference": reference, "view": view}
            sent = await channel.send(message.text, **options)
        return str(sent.id)

    async def edit(self, place: Place, id: str, message: BotMessage) -> None:
        async with self._translate_errors():
            shown_message = self._channel(place).get_partial_message(int(id))
            await shown_message.edit(content=message.text, view=build_view(message.buttons))

    async def send_file(self, place: Place, file: BotFile) -> None:
        async with self._translate_errors():
            content = discord.File(io.BytesIO(file.content), filename=file.name)
            await self._channel(place).send(file.caption, file=content)

    async def show_typing(self, place: Place) -> None:
        async with self._translate_errors():
            await self._channel(place).typing()

    async def answer_press(self, press_id: str, note: str = "") -> None:
        if note and press_id in self._interactions:
            async with self._translate_errors():
                await self._interactions.answer(press_id, note, None, is_private=True)

    async def is_admin(self, place: Place, person_id: str) -> bool:
        guild = self.client.get_guild(int(place.chat))
        if guild is None or guild.unavailable:  # Discord has not said yet who runs it
            return False
        if guild.owner_id == int(person_id):
            return True
        async with self._translate_errors():
            member = await guild.fetch_member(int(person_id))
        return member.guild_permissions.administrator or member.guild_permissions.manage_guild

    async def private_place(self, person_id: str) -> Place:
        async with self._translate_errors():
            channel = await self.client.create_dm(discord.Object(int(person_id)))
        return place_of_channel(None, channel.id)

    def _channel(self, place: Place) -> discord.PartialMessageable:
        return self.client.get_partial_messageable(channel_of(place))

    # -- errors

    @asynccontextmanager
    async def _translate_errors(self) -> AsyncIterator[None]:
        """Raise Discord's errors as ours, which hold no token."""
        try:
            yield
        except discord.RateLimited as error:
            raise busy_for(error.retry_after) from None
        except discord.LoginFailure:
            raise ConfigError(REFUSED_TOKEN) from None
        except discord.PrivilegedIntentsRequired:
            raise ConfigError(REFUSED_INTENT) from None
        except discord.Forbidden as error:
            raise PlatformRefused(f"Discord: {describe_error(error)}") from None
        except discord.HTTPException as error:
            if error.status == 429:
                raise busy_for(float(error.response.headers.get("Retry-After", LONGEST_WAIT))) from None
            raise ServerError(f"Discord: {describe_error(error)}") from None
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            raise ServerError(f"Discord: {describe_error(error)}") from None


def describe_error(error: Exception) -> str:
    return str(error) or type(error).__name__


class GatewayClient(discord.Client):
    """The connection to Discord. It holds no messages: the memory does. What happens is given on before anything is
    awaited, so that it stays in order."""

    def __init__(self, platform: DiscordPlatform) -> None:
        discord.VoiceClient.warn_nacl = False  # what it needs to speak is not missed: it writes
        discord.VoiceClient.warn_dave = False
        intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True, message_content=True)
        super().__init__(
            intents=intents,
            max_messages=None,
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=LONGEST_WAIT,
        )
        self._platform = platform

    async def on_connect(self) -> None:
        self._platform.connected.set()

    async def on_message(self, message: discord.Message) -> None:
        self._platform.submit(event_of(message, self._platform.user))

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        if payload.message.edited_at is not None:  # else Discord has only added a preview of a link
            self._platform.submit(event_of(payload.message, self._platform.user, is_edit=True))

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        self._platform.submit(deletion_of(payload.guild_id, payload.channel_id, [payload.message_id]))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        self._platform.submit(deletion_of(payload.guild_id, payload.channel_id, sorted(payload.message_ids)))

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        self._platform.submit(ChannelDeletion(place_of_channel(channel.guild.id, channel.id)))

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        self._platform.submit(ChannelDeletion(place_of_channel(payload.guild_id, payload.thread_id)))

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        self._platform.take_press(interaction)


def build_view(buttons: Sequence[Button]) -> discord.ui.View | None:
    """Buttons below a message. The library is not to wait for them: a press is known by what is on the button, so that
    it works after a restart, too."""
    if not buttons:
        return None
    view = discord.ui.View(timeout=None)
    for button in buttons:
        view.add_item(discord.ui.Button(label=button.label[:LONGEST_LABEL], custom_id=button.data))
    view.stop()
    return view


def busy_for(seconds: float) -> PlatformBusy:
    busy = PlatformBusy("Discord asks to wait")
    busy.after = seconds
    return busy
