"""A bot on any platform: takes what happens, keeps it, carries out commands, and replies when it is addressed.

What happens in one chat is handled in order; chats do not wait for each other. A message is in the log before anything
is said about it, and one that comes twice is kept and answered once. Replies are written beside all that: while a model
thinks, the messages of others are kept.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from recollect.bots import texts
from recollect.bots.commands.digests import DigestCommands
from recollect.bots.commands.leaving import LeavingCommands
from recollect.bots.commands.remembering import RememberingCommands, explain
from recollect.bots.commands.summaries import THRESHOLD_STEP, SummaryCommands
from recollect.bots.edits import delete_channel, delete_message, edit_message
from recollect.bots.events import (
    ButtonPress,
    ChannelDeletion,
    ChatMove,
    CommandCall,
    Event,
    MessageDeletion,
    MessageEdit,
    Place,
    ReceivedMessage,
    place_of,
)
from recollect.bots.outages import describe_outage
from recollect.bots.outgoing import BotMessage
from recollect.bots.plain import PlainReplies
from recollect.bots.queues import OrderedQueues
from recollect.bots.settings import Dialogue, parse_threshold
from recollect.bots.tools import OpenChat, Tools
from recollect.errors import ModelError, RecollectError, ServerError, StoreError
from recollect.model import Draft
from recollect.rules.log import clamp_time
from recollect.rules.people.commands import is_addressed

logger = logging.getLogger("recollect.bots")

REMEMBERED = 10_000  # presses and commands that are known to have been handled

CommandRunner = Callable[[CommandCall], Awaitable[BotMessage]]
FOR_ALL = ("remember", "digest", "who")  # commands and buttons whose answers everybody in a group may read
NEED_MEMORY = ("remember", "forget", "undo", "search", "whatdoyouknow", "digest", "summary_now")


class Bot:
    """The core of a bot. `submit` takes what happens; `close` waits until all of it is handled."""

    def __init__(self, tools: Tools, plain: PlainReplies | None = None, system: str | None = None) -> None:
        self.tools = tools
        self._plain = plain
        self._system = system
        self._events = OrderedQueues()
        self._replies = OrderedQueues()
        self._refused: set[str] = set()  # the chats whose store refused the last message
        self._handled: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        self.summaries = SummaryCommands(tools)
        self.remembering = RememberingCommands(tools)
        self.leaving = LeavingCommands(tools)
        self.digests = DigestCommands(tools)
        tools.pool.on_outage = self._report_outage
        self._commands: dict[str, CommandRunner] = {
            "start": self._greet,
            "help": self._help,
            "cancel": self._cancel,
            "summary": self.summaries.set_up,
            "summary_status": lambda call: self.summaries.show_status(call.place, call.author),
            "summary_on": self._turn_on,
            "summary_off": lambda call: self.summaries.turn_off(call.place),
            "summary_now": lambda call: self.summaries.summarise_now(call.place, call.author),
            "whatdoyouknow": self.remembering.tell,
            "remember": self.remembering.remember,
            "forget": self.remembering.forget,
            "undo": self.remembering.undo,
            "search": self.remembering.search,
            "digest": self.digests.run,
            "export": self.leaving.export,
            "erase": self.leaving.ask_erase,
        }

    def submit(self, event: Event) -> None:
        """Handle this after all that happened in the same chat before."""
        self._events.put(place_of(event).key, self._handle(event))

    def is_for_all(self, command: str) -> bool:
        """Whether everybody in a group may read the answer to a command. A digest is of all channels of a group."""
        return command in FOR_ALL and not (command == "digest" and self.tools.delivery.platform.has_hidden_channels)

    async def drain(self) -> None:
        """Wait until everything is handled and every reply is written."""
        await self._events.drain()
        await self._replies.drain()

    async def close(self) -> None:
        await self.drain()
        if self._plain is not None:
            await self._plain.close()

    # -- what happens

    async def _handle(self, event: Event) -> None:
        try:
            match event:
                case ReceivedMessage():
                    await self._take_message(event)
                case CommandCall():
                    await self._take_command(event)
                case ButtonPress():
                    await self._take_press(event)
                case MessageEdit():
                    await self._take_edit(event.message)
                case MessageDeletion():
                    await self._take_deletion(event)
                case ChannelDeletion():
                    async with self.tools.pool.use(event.place) as memory:
                        await delete_channel(memory, event.place.conversation)
                case ChatMove():
                    old_place = Place(event.place.platform, event.old_chat, event.place.is_private)
                    await self.tools.table.move_chat(event.place, old_place)
        except ServerError as error:  # the platform refuses: there is nobody to tell
            logger.warning("%s: %s", type(error).__name__, error)
        except StoreError as error:
            logger.error("the store refused: %s", error)
            place = place_of(event)
            if place.key not in self._refused:  # said once, until the store takes something again
                self._refused.add(place.key)
                await self._say_to(event, BotMessage(texts.NOT_KEPT))
        except RecollectError as error:
            logger.warning("%s: %s", type(error).__name__, error)
            await self._say_to(event, explain(error))

    async def _take_message(self, message: ReceivedMessage) -> None:
        place = message.place
        dialogue = await self.tools.table.dialogue(place, message.author)
        if dialogue is not None and is_answer(message, dialogue):
            answer = await self.summaries.set_threshold(place, message.author, message.text, dialogue)
            await self._say(place, answer)
            return
        if not (await self.tools.settings(place)).enabled:
            if self._is_addressed(message):
                self._replies.put(place.key + place.thread, self._reply_without_memory(message))
            return
        async with self.tools.open_chat(place, message.author) as chat:
            is_request = bool(message.text) and not message.is_from_bot
            answer_to_command = await self.remembering.run_message(chat, message) if is_request else None
            if answer_to_command is not None:
                await self._say(place, answer_to_command, message.id)
                return
            is_new = await self._keep(chat, message)
        if is_new and self._is_addressed(message):
            await self._answer(message)

    async def _keep(self, chat: OpenChat, message: ReceivedMessage) -> bool:
        """Put a message into the log; False if it is there already."""
        metadata = {"name": message.author.name, "handle": message.author.handle, "reply_to": message.reply_to}
        draft = Draft(
            "user",
            message.content,
            message.author.id,
            time=min(message.time, self.tools.clock.now()),  # the clocks may differ
            platform_id=message.id,
            metadata={name: value for name, value in metadata.items() if value},
        )
        is_new = (await chat.conversation.extend([clamp_time(draft)]))[0].new
        self._refused.discard(message.place.key)
        return is_new

    async def _take_edit(self, message: ReceivedMessage) -> None:
        if not (await self.tools.settings(message.place)).enabled or not message.content:
            return
        async with self.tools.open_chat(message.place, message.author) as chat:
            if not await edit_message(chat.conversation, message.id, message.content):
                await self._keep(chat, message)

    async def _take_deletion(self, deletion: MessageDeletion) -> None:
        async with self.tools.pool.use(deletion.place) as memory:
            for id in deletion.ids:
                await delete_message(memory.conversation(deletion.place.conversation), id)

    # -- commands and buttons

    async def _take_command(self, call: CommandCall) -> None:
        if self._is_repeated(call.place, "command", call.id):
            return
        run = self._commands.get(call.name)
        if run is None:
            if call.place.is_private:
                await self._say(call.place, BotMessage(texts.NO_COMMAND.format(name=call.name)))
            return
        if not await self.tools.may(call.name, call.place, call.author):
            answer = BotMessage(texts.ADMINS_ONLY)
        elif call.name in NEED_MEMORY and not (await self.tools.settings(call.place)).enabled:
            answer = BotMessage(texts.IS_OFF)
        else:
            answer = await run(call)
        is_private = not self.is_for_all(call.name)
        await self._say(call.place, replace(answer, is_private=is_private, answers=call.id), call.id)

    async def _take_press(self, press: ButtonPress) -> None:
        if self._is_repeated(press.place, "press", press.id):
            return
        step, _, choice = press.data.partition(" ")
        answers = {
            "storage": self.summaries.choose_storage,
            "who": self.remembering.choose_person,
            "erase": self.leaving.answer_erase,
        }
        answer = await answers[step](press, choice) if step in answers else None
        platform = self.tools.delivery.platform
        await self.tools.delivery.call(
            lambda: platform.answer_press(press.id, "" if answer is not None else texts.NOT_FOR_YOU)
        )
        if answer is not None:
            is_private = step not in FOR_ALL
            await self._say(press.place, replace(answer, is_private=is_private, answers=press.id))

    def _is_repeated(self, place: Place, kind: str, id: str) -> bool:
        """Whether a platform delivers something again that was handled."""
        key = (place.key, kind, id)
        is_known = key in self._handled
        self._handled[key] = None
        if len(self._handled) > REMEMBERED:
            self._handled.popitem(last=False)
        return is_known

    async def _greet(self, call: CommandCall) -> BotMessage:
        name = self.tools.identity.person.shown
        model = texts.WITH_MODEL.format(name=name) if self.tools.has_model else texts.WITHOUT_MODEL
        text = texts.START_PRIVATE if call.place.is_private else texts.START_GROUP
        return BotMessage(text.format(name=name, model=model))

    async def _help(self, call: CommandCall) -> BotMessage:
        return BotMessage(texts.help_text())

    async def _cancel(self, call: CommandCall) -> BotMessage:
        if await self.tools.table.dialogue(call.place, call.author) is None:
            return BotMessage(texts.NOTHING_TO_CANCEL)
        await self.tools.table.end_dialogue(call.place, call.author)
        return BotMessage(texts.CANCELLED)

    async def _turn_on(self, call: CommandCall) -> BotMessage:
        if self._plain is not None:
            self._plain.clear(call.place)
        return await self.summaries.turn_on(call.place)

    def _report_outage(self, place: Place, outage: Any) -> None:
        """Tell a chat that its messages are held in memory, or were written."""
        self._replies.put(place.key, self._say(place, describe_outage(outage.is_over, outage.held)))

    # -- replies

    def _is_addressed(self, message: ReceivedMessage) -> bool:
        """Whether the bot is to reply: in private always, in a group to a mention, a reply to it, and its name."""
        names = self.tools.identity.names
        if message.is_from_bot:
            return False
        return message.place.is_private or message.is_for_bot or is_addressed(message.text, names)

    async def _answer(self, message: ReceivedMessage) -> None:
        """Begin a reply; without a model, say once that there is none."""
        place = message.place
        if self.tools.has_model:
            self._replies.put(place.key + place.thread, self._reply(message))
        elif not (await self.tools.settings(place)).told_no_model:
            await self.tools.table.change_chat(place, told_no_model=True)
            await self._say(place, BotMessage(texts.NO_MODEL_YET))

    async def _reply(self, message: ReceivedMessage) -> None:
        place = message.place
        async with self.tools.open_chat(place, message.author) as chat:
            pieces = chat.conversation.stream(
                message.content, system=self._prompt(place), author=message.author.id, platform_id=message.id
            )
            try:
                await self.tools.delivery.stream(place, pieces, None if place.is_private else message.id)
            except ModelError as error:
                logger.warning("no reply: %s", error)
                await self._say(place, BotMessage(texts.MODEL_AWAY), message.id)
            except StoreError as error:
                logger.error("a reply was not kept: %s", error)
                await self._say(place, explain(error), message.id)
            failure = await self.summaries.report_failure(place, chat.memory)
        if failure is not None:
            await self._say(place, failure)

    async def _reply_without_memory(self, message: ReceivedMessage) -> None:
        if self._plain is None:
            return
        place = message.place
        pieces = self._plain.stream(place, message.content, self._prompt(place))
        try:
            await self.tools.delivery.stream(place, pieces, None if place.is_private else message.id)
        except ModelError as error:
            logger.warning("no reply: %s", error)
            await self._say(place, BotMessage(texts.MODEL_AWAY), message.id)

    def _prompt(self, place: Place) -> str:
        if self._system is not None:
            return self._system
        return texts.SYSTEM.format(name=self.tools.identity.person.shown, platform=place.platform.capitalize())

    async def _say_to(self, event: Event, message: BotMessage) -> None:
        """Say something about an event: an answer to a command or a press is for whoever did that."""
        if isinstance(event, CommandCall | ButtonPress):
            message = replace(message, is_private=True, answers=event.id)
        await self._say(place_of(event), message)

    async def _say(self, place: Place, message: BotMessage, reply_to: str | None = None) -> None:
        await self.tools.delivery.send(place, message, None if place.is_private else reply_to)


def is_answer(message: ReceivedMessage, dialogue: Dialogue) -> bool:
    """Whether a message answers the question for a threshold: in private any text, in a group a number or a reply."""
    if dialogue.step != THRESHOLD_STEP:
        return False
    is_number = parse_threshold(message.text) is not None or message.text.strip().isdigit()
    return message.place.is_private or message.is_for_bot or is_number
