"""The bot on Discord, over discord.py: what its gateway says becomes events, what the bot says becomes calls.

A guild is a space. Each of its channels, and each thread, is a conversation of many; a direct message is a private
chat, which is called by the id of its channel. Mentions of people stay as Discord writes them, `<@123>`: the log keeps
ids, and whoever reads it is shown names.

The library keeps the connection, resumes it where it was dropped, and waits where Discord asks for short waits; a long
wait is left to the core. Nothing that the bot writes mentions anybody, whatever a model puts into it.
"""

from __future__ import annotations

import asyncio
import inspect
import io
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

import aiohttp
import discord
from discord import Interaction, app_commands

from everword.bots import platforms
from everword.bots.bot import Bot
from everword.bots.platforms import BotFile, BotMessage, Button, Event, Identity, Person, Place, ReceivedMessage
from everword.bots.texts import COMMANDS
from everword.config import Secret
from everword.errors import ConfigError, EverwordError, PlatformBusy, PlatformRefused, ServerError

PLATFORM = "discord"
LONGEST = 2_000  # characters of one message
LONGEST_LABEL = 80  # characters of a button
LONGEST_ABOUT = 100  # characters of a description of a command
LONGEST_CHOICE = 100  # characters of a value that is offered
MOST_CHOICES = 25
MOST_PENDING = 1_000  # interactions that can still be answered
EDIT_SECONDS = 1.5  # between two edits: Discord takes five calls in five seconds for a channel
LONGEST_WAIT = 30.0  # seconds that the library waits by itself where Discord asks to; the least that it allows to set
NO_SERVER = "servers: the bot is in no server; docs/bots.md explains how to invite the bot"
REFUSED_TOKEN = (
    "EVERWORD_DISCORD_TOKEN: Discord refuses this token; the Developer Portal gives one: your application, Bot, "
    "Reset Token"
)
REFUSED_INTENT = (
    "Discord refuses the intent Message Content, which the bot needs to read messages: switch the intent on in the "
    "Developer Portal: your application, Bot, Privileged Gateway Intents, Message Content Intent"
)

Command = app_commands.Command[Any, Any, Any]
REQUIRED = inspect.Parameter.empty
EVERYBODY = (bool, False, "Of everybody here, not only of you: for those who run the server")
KEPT_OR_SOUGHT = (str, REQUIRED, "What to keep, or to look for")
# The options of commands: the type of each, its default, and what Discord says about it.
OPTIONS: dict[str, dict[str, tuple[Any, Any, str]]] = {
    "remember": {"text": KEPT_OR_SOUGHT},
    "search": {"text": KEPT_OR_SOUGHT},
    "forget": {"text": (str, REQUIRED, "What to take out")},
    "export": {"everybody": EVERYBODY},
    "erase": {"everybody": EVERYBODY},
    "whatdoyouknow": {"name": (str, "", "Somebody in this server; you, if it is left out")},
    "summary": {
        "storage": (Literal["sqlite", "json"] | None, None, "Where the memory is kept"),
        "threshold": (app_commands.Range[int, 1, 500] | None, None, "After how many messages to summarise"),
    },
    "digest": {
        "period": (
            Literal["today", "yesterday", "week", "daily", "weekly", "off"],
            "today",
            "Of which days; or daily, weekly, off: when it is sent by itself",
        ),
        "time": (str, "", "Of daily and weekly, as in 08:30"),
        "weekday": (Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], "mon", "Of weekly"),
    },
}


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
        for command in build_commands(self):
            self._tree.add_command(command)

    def __repr__(self) -> str:
        return "<Discord>"

    # -- opening and closing

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[None]:
        """Ask Discord who the bot is, and tell it the commands; at the end, let go of the connections."""
        try:
            async with translate_errors():
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

    async def wait_until_ready(self, stop: asyncio.Event) -> None:
        await self.wait_for_any(self.connected, stop)

    def describe(self) -> str:
        count = len(self.client.guilds)
        return f"servers: {count}; it sees every message of the channels that it may read" if count else NO_SERVER

    async def wait_for_end(self, stop: asyncio.Event) -> None:
        await self.wait_for_any(stop)

    async def wait_for_any(self, *events: asyncio.Event) -> None:
        """Wait until one of these is set; raises if the connection has ended for good before that."""
        assert self._gateway is not None, "nothing is delivered yet"
        waits = [asyncio.create_task(event.wait()) for event in events]
        try:
            await asyncio.wait([self._gateway, *waits], return_when=asyncio.FIRST_COMPLETED)
            if not any(event.is_set() for event in events):
                async with translate_errors():
                    await self._gateway
                raise ServerError("Discord closed the connection")
        finally:
            for wait in waits:
                wait.cancel()

    # -- what happens

    def submit(self, event: Event | None) -> None:
        if event is not None and self._receiver is not None:
            self._receiver.submit(event)

    def take_press(self, interaction: Interaction) -> None:
        press = press_of(interaction)
        if press is not None and self._receiver is not None:
            self._interactions.add(interaction, is_private=True)
            self.submit(press)

    def run_command(self, interaction: Interaction, name: str, argument: str = "") -> None:
        bot = self._receiver
        if bot is not None and self._interactions.add(interaction, is_private=not bot.is_for_all(name)):
            place = place_of_interaction(interaction)
            author = person_of(interaction.user)
            self.submit(platforms.CommandCall(place, str(interaction.id), author, name, argument.strip()))

    async def complete(self, interaction: Interaction, option: str, prefix: str) -> list[str]:
        """What the value of an option may be: a name of somebody, or what was remembered of whoever asks."""
        place = place_of_interaction(interaction)
        with suppress(EverwordError):  # it is only an offer
            if self._receiver is not None and option == "name":
                return await self._receiver.commands.complete_person(place, prefix)
            if self._receiver is not None:
                return await self._receiver.commands.complete_statement(place, person_of(interaction.user), prefix)
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
        is_private = message.is_private and not place.is_private
        async with translate_errors():
            if message.answers in self._interactions:
                return await self._interactions.answer(message.answers, message.text, view, is_private=is_private)
            if message.answers and is_private:
                raise PlatformRefused("Discord: the interaction has expired, so the bot cannot send a private answer")
            channel = self._channel(place)
            # The library's types do not know that both may be None.
            options: dict[str, Any] = {"view": view}
            if reply_to is not None and not message.answers:
                options["reference"] = discord.MessageReference(
                    message_id=int(reply_to), channel_id=channel.id, fail_if_not_exists=False
                )
            sent = await channel.send(message.text, **options)
        return str(sent.id)

    async def edit(self, place: Place, id: str, message: BotMessage) -> None:
        async with translate_errors():
            shown_message = self._channel(place).get_partial_message(int(id))
            await shown_message.edit(content=message.text, view=build_view(message.buttons))

    async def send_file(self, place: Place, file: BotFile) -> None:
        async with translate_errors():
            content = discord.File(io.BytesIO(file.content), filename=file.name)
            await self._channel(place).send(file.caption, file=content)

    async def show_typing(self, place: Place) -> None:
        async with translate_errors():
            await self._channel(place).typing()

    async def answer_press(self, press_id: str, note: str = "") -> None:
        if note and press_id in self._interactions:
            async with translate_errors():
                await self._interactions.answer(press_id, note, None, is_private=True)

    async def is_admin(self, place: Place, person_id: str) -> bool:
        guild = self.client.get_guild(int(place.chat))
        if guild is None or guild.unavailable:  # Discord has not said yet who runs it
            return False
        if guild.owner_id == int(person_id):
            return True
        async with translate_errors():
            member = await guild.fetch_member(int(person_id))
        return member.guild_permissions.administrator or member.guild_permissions.manage_guild

    async def private_place(self, person_id: str) -> Place:
        async with translate_errors():
            channel = await self.client.create_dm(discord.Object(int(person_id)))
        return place_of_channel(None, channel.id)

    def _channel(self, place: Place) -> discord.PartialMessageable:
        return self.client.get_partial_messageable(int(place.chat if place.is_private else place.thread))


@asynccontextmanager
async def translate_errors() -> AsyncIterator[None]:
    """Raise Discord's errors as ours, which hold no token."""
    try:
        yield
    except discord.RateLimited as error:
        raise busy_for(error.retry_after) from None
    except discord.LoginFailure:
        raise ConfigError(REFUSED_TOKEN) from None
    except discord.PrivilegedIntentsRequired:
        raise ConfigError(REFUSED_INTENT) from None
    except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
        if isinstance(error, discord.HTTPException) and error.status == 429:
            raise busy_for(float(error.response.headers.get("Retry-After", LONGEST_WAIT))) from None
        kind = PlatformRefused if isinstance(error, discord.Forbidden) else ServerError
        raise kind(f"Discord: {str(error) or type(error).__name__}") from None


def busy_for(seconds: float) -> PlatformBusy:
    busy = PlatformBusy("Discord asks to wait")
    busy.after = seconds
    return busy


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
        place = place_of_channel(payload.guild_id, payload.channel_id)
        self._platform.submit(platforms.MessageDeletion(place, (str(payload.message_id),)))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        place = place_of_channel(payload.guild_id, payload.channel_id)
        self._platform.submit(platforms.MessageDeletion(place, tuple(map(str, sorted(payload.message_ids)))))

    async def on_guild_channel_delete(self, channel: discord.abc.GuildChannel) -> None:
        self._platform.submit(platforms.ChannelDeletion(place_of_channel(channel.guild.id, channel.id)))

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        self._platform.submit(platforms.ChannelDeletion(place_of_channel(payload.guild_id, payload.thread_id)))

    async def on_interaction(self, interaction: Interaction) -> None:
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


# -- slash commands and presses of buttons, which wait for an answer


@dataclass(slots=True)
class PendingInteraction:
    """An interaction, and the task that acknowledges it. `awaits_first`: Discord shows that the bot is thinking, until
    the first answer takes the place of that."""

    interaction: Interaction
    acknowledgement: asyncio.Task[None]
    awaits_first: bool


class PendingInteractions:
    """The interactions that can be answered, by id.

    Discord wants to hear within three seconds that an interaction has come in, and takes answers for a quarter of an
    hour. So each is acknowledged at once, beside the work, and every answer waits for that. Whether the first answer to
    a command is shown to everybody is decided when it is acknowledged.
    """

    def __init__(self) -> None:
        self._pending: OrderedDict[str, PendingInteraction] = OrderedDict()

    def __contains__(self, id: str) -> bool:
        return id in self._pending

    def add(self, interaction: Interaction, *, is_private: bool) -> bool:
        """Acknowledge an interaction; False if that was done."""
        id = str(interaction.id)
        if id in self._pending:
            return False
        is_command = interaction.type is discord.InteractionType.application_command
        acknowledgement = asyncio.create_task(acknowledge(interaction, is_command, is_private))
        self._pending[id] = PendingInteraction(interaction, acknowledgement, is_command)
        if len(self._pending) > MOST_PENDING:
            self._pending.popitem(last=False)
        return True

    async def answer(self, id: str, text: str, view: discord.ui.View | None, *, is_private: bool) -> str:
        """Answer an interaction; returns the id of the message."""
        pending = self._pending[id]
        await asyncio.shield(pending.acknowledgement)
        interaction = pending.interaction
        if pending.awaits_first:
            first = await interaction.edit_original_response(content=text, view=view)
            pending.awaits_first = False
            return str(first.id)
        shown_view = discord.utils.MISSING if view is None else view
        message = await interaction.followup.send(text, view=shown_view, ephemeral=is_private, wait=True)
        return str(message.id)


async def acknowledge(interaction: Interaction, is_command: bool, is_private: bool) -> None:
    if is_command:
        await interaction.response.defer(ephemeral=is_private, thinking=True)
    else:
        await interaction.response.defer()


def build_commands(platform: DiscordPlatform) -> list[Command]:
    """All commands, each with its options, of which Discord offers the values."""
    commands = {name: build_command(platform, name) for name in COMMANDS}
    for name, option in (("whatdoyouknow", "name"), ("forget", "text")):
        commands[name].autocomplete(option)(offer_choices(platform, option))
    return list(commands.values())


def build_command(platform: DiscordPlatform, name: str) -> Command:
    """A command whose callback has the options as parameters: the library reads them from its signature."""
    options = OPTIONS.get(name, {})

    async def callback(interaction: Interaction, **values: Any) -> None:
        platform.run_command(interaction, name, write_argument(name, values))

    parameters = [inspect.Parameter("interaction", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Interaction)]
    parameters += [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for option, (kind, default, _) in options.items()
    ]
    callback.__dict__["__signature__"] = inspect.Signature(parameters)
    describe: Any = app_commands.describe(**{option: about for option, (_, _, about) in options.items()})
    summary = COMMANDS[name].partition(":")[0][:LONGEST_ABOUT]
    return app_commands.Command(name=name, description=summary, callback=describe(callback))


def write_argument(name: str, values: Mapping[str, Any]) -> str:
    """The options of a command as words after it, as people write them elsewhere."""
    match name:
        case "export" | "erase":
            return "everybody" if values["everybody"] else ""
        case "summary":
            return f"{values['storage'] or ''} {values['threshold'] or ''}"
        case "digest":
            schedules = {"daily": f"daily {values['time']}", "weekly": f"weekly {values['weekday']} {values['time']}"}
            return schedules.get(values["period"], str(values["period"]))
    return "".join(values.values())


def offer_choices(platform: DiscordPlatform, option: str) -> Any:
    """What Discord asks while somebody writes the value of an option."""

    async def offer(interaction: Interaction, current: str) -> list[app_commands.Choice[str]]:
        matches = await platform.complete(interaction, option, current)
        values = [value for value in matches if len(value) <= LONGEST_CHOICE]
        return [app_commands.Choice(name=value, value=value) for value in values[:MOST_CHOICES]]

    return offer


# -- what Discord says has happened, as events


def place_of_channel(guild: int | None, channel: int) -> Place:
    if guild is None:
        return Place(PLATFORM, str(channel), is_private=True)
    return Place(PLATFORM, str(guild), is_private=False, thread=str(channel))


def place_of_interaction(interaction: Interaction) -> Place:
    return place_of_channel(interaction.guild_id, interaction.channel_id or 0)


def person_of(user: discord.abc.User) -> Person:
    return Person(str(user.id), user.display_name, user.name)


def press_of(interaction: Interaction) -> platforms.ButtonPress | None:
    """The press of a button; None if the interaction is none."""
    data: Mapping[str, Any] = interaction.data or {}
    if interaction.type is not discord.InteractionType.component or interaction.message is None:
        return None
    author = person_of(interaction.user)
    place = place_of_interaction(interaction)
    return platforms.ButtonPress(place, str(interaction.id), author, str(data.get("custom_id", "")))


def event_of(message: discord.Message, bot: discord.abc.User, *, is_edit: bool = False) -> Event | None:
    """What a message is to the bot; None if it is nothing for it: its own, or one that Discord itself writes."""
    if message.author.id == bot.id or message.is_system():
        return None
    received = message_of(message, bot)
    if not received.content:
        return None
    return platforms.MessageEdit(received) if is_edit else received


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
    parent = message.reference.resolved if message.reference is not None else None
    return isinstance(parent, discord.Message) and parent.author.id == bot.id


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
    kind = (attachment.content_type or "").partition("/")[0]
    return f"{kind if kind in ('image', 'video', 'audio') else 'file'}: {attachment.filename}"
