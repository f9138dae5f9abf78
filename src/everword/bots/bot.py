"""A bot on any platform: takes what happens, keeps it, carries out commands, and replies when it is addressed.

What happens in one chat is handled in order; chats do not wait for each other. A message is in the log before anything
is said about it, and one that comes twice is kept and answered once. Replies are written beside all that, and so is
everything sent: while a model thinks or a platform asks to wait, the messages of others are kept.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Coroutine
from contextlib import suppress
from dataclasses import replace
from typing import Any

from everword.bots import platforms, texts
from everword.bots.chat_settings import Dialogue, parse_threshold
from everword.bots.commands import THRESHOLD_STEP, CommandRunner, Commands, explain
from everword.bots.memories import OpenChat, Tools, holds_messages
from everword.bots.platforms import BotMessage, ButtonPress, Change, CommandCall, Event, Place, ReceivedMessage
from everword.errors import EverwordError, ModelError, NotFound, ServerError, StoreError
from everword.facts.rules.commands import is_addressed
from everword.log.checks_and_seals import clamp_time
from everword.masking import masked_logger
from everword.model import Added, Degraded, Draft

logger = masked_logger("everword.bots")

REMEMBERED = 10_000  # presses and commands that are known to have been handled
MOST_POSTPONED = 1_000  # edits and deletions
MOST_REPLIES = 10  # of a place that wait to be written
MOST_ANSWERS = 100  # of a place that wait to be sent
FOR_ALL = ("remember", "digest", "who")  # commands and buttons whose answers everybody in a group may read
ONCE = ("remember", "forget", "undo", "summary_now")  # what is not to be done again if it is delivered again
NEED_MEMORY = ("remember", "forget", "undo", "search", "whatdoyouknow", "digest", "summary_now")


class OrderedQueues:
    """A queue for each key. An error ends its own piece of work alone."""

    def __init__(self) -> None:
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}  # all that is not done, by key

    def put(self, key: str, work: Coroutine[Any, Any, None], most: int | None = None) -> bool:
        """Do this after all that was put under the same key before. False if `most` pieces of work are there already:
        then it is not done."""
        tasks = self._tasks.get(key, [])
        if most is not None and len(tasks) >= most:
            work.close()
            return False
        task = asyncio.create_task(self._run_after(tasks[-1] if tasks else None, work))
        self._tasks.setdefault(key, []).append(task)
        task.add_done_callback(lambda task: self._remove(key, task, work))
        return True

    async def drain(self, seconds: float | None = None) -> int:
        """Wait until nothing is left to do, or for so many seconds. Returns how much was left, which is given up."""
        try:
            async with asyncio.timeout(seconds):
                await self._wait_for_all()
        except TimeoutError:
            tasks = self._all_tasks()
            for task in tasks:
                task.cancel()
            await self._wait_for_all()
            return len(tasks)
        return 0

    def _all_tasks(self) -> list[asyncio.Task[None]]:
        return [task for tasks in self._tasks.values() for task in tasks]

    async def _wait_for_all(self) -> None:
        while self._tasks:
            await asyncio.wait(self._all_tasks())
            await asyncio.sleep(0)  # the callbacks that take them out

    def _remove(self, key: str, task: asyncio.Task[None], work: Coroutine[Any, Any, None]) -> None:
        work.close()  # it may not have been begun
        self._tasks[key].remove(task)
        if not self._tasks[key]:
            del self._tasks[key]

    async def _run_after(self, before: asyncio.Task[None] | None, work: Coroutine[Any, Any, None]) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await work
        except Exception as error:
            logger.error("an update could not be handled: %s", type(error).__name__, exc_info=error)


class PostponedChanges:
    """Edits and deletions that a store refused, in the order in which they came. A platform says once that a message
    was edited or deleted: so a change that the store refuses is postponed, and done when the store takes it."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._changes: dict[str, deque[Change]] = {}  # by chat

    @property
    def count(self) -> int:
        return sum(map(len, self._changes.values()))

    @property
    def chats(self) -> list[str]:
        return [*self._changes]

    async def follow(self, change: Change) -> None:
        """Carry out a change, or postpone it behind those of the same chat."""
        key = change.place.key
        await self.retry(key)
        if key not in self._changes:
            try:
                await self._bot.carry_out(change)
                return
            except StoreError as error:
                logger.warning("an edit or a deletion is postponed: %s", error)
        if self.count < MOST_POSTPONED:
            self._changes.setdefault(key, deque()).append(change)
        else:
            logger.error("an edit or a deletion is lost: %d wait already", MOST_POSTPONED)

    async def retry(self, key: str) -> None:
        """Carry out what was postponed in a chat, as far as its store takes it."""
        changes = self._changes.get(key)
        while changes:
            try:
                await self._bot.carry_out(changes[0])
            except StoreError:
                return
            except EverwordError as error:
                logger.warning("an edit or a deletion is refused: %s", error)
            changes.popleft()
        self._changes.pop(key, None)


class Bot:
    """The core of a bot. `submit` takes what happens; `close` waits until all of it is handled."""

    def __init__(self, tools: Tools, system: str | None = None) -> None:
        self.tools = tools
        self.commands = Commands(tools)
        self._system = system
        self._events = OrderedQueues()
        self._replies = OrderedQueues()
        self._answers = OrderedQueues()  # what is said besides replies, by place
        self._changes = PostponedChanges(self)
        self._outages: dict[str, list[Place]] = {}  # the places that were told of an outage, by chat
        self._refused: set[str] = set()  # the chats whose store refused the last message
        self._crowded: set[Place] = set()  # where a reply was left out
        self._handled: OrderedDict[tuple[str, str, str], None] = OrderedDict()
        tools.pool.on_outage = self._report_outage

    def submit(self, event: Event) -> None:
        """Handle this after all that happened in the same chat before."""
        self._events.put(event.place.key, self._handle(event))

    def is_for_all(self, command: str) -> bool:
        """Whether everybody in a group may read the answer to a command. A digest is of all channels of a group."""
        return command in FOR_ALL and not (command == "digest" and self.tools.delivery.platform.has_hidden_channels)

    def retry_postponed(self) -> None:
        """Carry out edits and deletions that a store refused, if it takes them now."""
        for key in self._changes.chats:
            self._events.put(key, self._changes.retry(key))

    async def drain(self, seconds: float | None = None) -> None:
        """Wait until everything is handled, every reply is written and everything is sent, or for so many seconds in
        all. What is not done by then is given up."""
        loop = asyncio.get_running_loop()
        deadline = None if seconds is None else loop.time() + seconds
        for queues in (self._events, self._replies, self._answers):
            left_count = await queues.drain(None if deadline is None else max(deadline - loop.time(), 0.0))
            if left_count:
                logger.warning("ended before it was done: %d", left_count)

    async def close(self) -> None:
        if self._changes.count:
            logger.error("edits and deletions that the store refused are lost: %d", self._changes.count)
        if self.tools.plain is not None:
            await self.tools.plain.close()

    # -- what happens

    async def _handle(self, event: Event) -> None:
        match event:
            case ReceivedMessage():
                work = self._take_message(event)
            case CommandCall():
                work = self._take_command(event)
            case ButtonPress():
                work = self._take_press(event)
            case platforms.ChatMove():
                old_place = Place(event.place.platform, event.old_chat, event.place.is_private)
                work = self.tools.table.move_chat(event.place, old_place)
            case _:
                work = self._changes.follow(event)
        await self._report_errors(event, work)

    async def _report_errors(self, event: Event, work: Awaitable[None]) -> None:
        """Do something about an event, and say if it fails."""
        try:
            await work
        except ServerError as error:  # the platform refuses: there is nobody to tell
            logger.warning("%s: %s", type(error).__name__, error)
        except StoreError as error:
            logger.error("the store refused: %s", error)
            self._report_refusal(event)
        except EverwordError as error:
            logger.warning("%s: %s", type(error).__name__, error)
            self._say_to(event, explain(error))

    def _report_refusal(self, event: Event) -> None:
        """Say that the store refused something: of messages once, until it takes one again."""
        if isinstance(event, CommandCall | ButtonPress):
            self._say_to(event, BotMessage(texts.NOT_DONE))
        elif isinstance(event, ReceivedMessage) and event.place.key not in self._refused:
            self._refused.add(event.place.key)
            self._say_to(event, BotMessage(texts.NOT_KEPT))

    async def _take_message(self, message: ReceivedMessage) -> None:
        place = message.place
        dialogue = await self._find_dialogue(message)
        if dialogue is not None and is_answer(message, dialogue):
            self._say(place, await self.commands.answer_threshold(message, dialogue))
            return
        if not (await self.tools.settings(place)).enabled:
            if self._is_addressed(message):
                self._put_reply(place, self._reply_without_memory(message))
            return
        async with self.tools.open_chat(place, message.author) as chat:
            is_request = bool(message.text) and not message.is_from_bot
            answer_to_command = await self._run_request(chat, message) if is_request else None
            if answer_to_command is not None:
                self._say(place, answer_to_command, message.id)
                return
            is_new = (await self._keep(chat, message)).new
        if is_new and self._is_addressed(message):
            await self._answer(message)

    async def _find_dialogue(self, message: ReceivedMessage) -> Dialogue | None:
        """The question that somebody may be answering. If the bot's own store cannot be read, none: what is said is
        kept, as far as the memory of the chat can."""
        try:
            return await self.tools.table.dialogue(message.place, message.author)
        except StoreError as error:
            logger.error("a dialogue could not be read: %s", error)
            return None

    async def _run_request(self, chat: OpenChat, message: ReceivedMessage) -> BotMessage | None:
        """Carry out what a message asks of the memory; None if it is not a command. The message is kept in any case."""
        try:
            return await self.commands.run_message(chat, message)
        except StoreError as error:
            logger.error("a request was not carried out: %s", error)
            await self._keep(chat, message)
            return BotMessage(texts.NOT_DONE)

    async def _keep(self, chat: OpenChat, message: ReceivedMessage) -> Added:
        """Put a message into the log, unless it is there already."""
        metadata = {"name": message.author.name, "handle": message.author.handle, "bot": message.is_from_bot}
        now = self.tools.clock.now()
        draft = Draft(
            "user",
            message.content,
            message.author.id,
            time=min(message.time, now),  # the clocks may differ
            platform_id=message.id,
            metadata={name: value for name, value in metadata.items() if value},
            reply_to=message.reply_to,
        )
        (added,) = await chat.conversation.extend([clamp_time(draft, now)])
        self._refused.discard(message.place.key)
        if added.degraded is not None and holds_messages(chat.memory):
            self._report_outage(message.place, added.degraded)
        return added

    async def carry_out(self, change: Change) -> None:
        """Do as the platform has done with messages that are in the log: an edit is a new version, a deleted text
        goes. What is not in the log needs nothing."""
        if isinstance(change, platforms.MessageEdit):
            await self._take_edit(change.message)
            return
        async with self.tools.pool.maintain(change.place) as memory:
            if isinstance(change, platforms.ChannelDeletion):
                with suppress(NotFound):
                    await memory.delete_conversation(change.place.conversation)
                return
            for id in change.ids:
                with suppress(NotFound):
                    await memory.conversation(change.place.conversation).delete(id)

    async def _take_edit(self, message: ReceivedMessage) -> None:
        if not (await self.tools.settings(message.place)).enabled or not message.content:
            return
        async with self.tools.open_chat(message.place, message.author) as chat:
            try:
                await chat.conversation.edit(message.id, message.content)
            except NotFound:
                await self._keep(chat, message)

    # -- commands and buttons

    async def _take_command(self, call: CommandCall) -> None:
        if self._is_repeated(call.place, "command", call.id):
            return
        run = self.commands.runners.get(call.name)
        if run is None:
            if call.place.is_private:
                self._say(call.place, BotMessage(texts.NO_COMMAND.format(name=call.name)))
        elif not await self.tools.may(call.name, call.place, call.author):
            self._answer_command(call, BotMessage(texts.ADMINS_ONLY))
        elif call.name in NEED_MEMORY and not (await self.tools.settings(call.place)).enabled:
            self._answer_command(call, BotMessage(texts.IS_OFF))
        elif call.name in texts.NEED_WORDS and not call.argument:
            self._answer_command(call, BotMessage(texts.NEED_WORDS[call.name]))
        elif call.name in ONCE:
            await self._run_once(call, run)
        elif call.name == "export":  # a file is sent in its own time
            self._answers.put(queue_key(call.place), self._report_errors(call, self._run(call, run)))
        else:
            await self._run(call, run)

    async def _run(self, call: CommandCall, run: CommandRunner) -> None:
        self._answer_command(call, await run(call))

    async def _run_once(self, call: CommandCall, run: CommandRunner) -> None:
        """Carry out a command that must not be carried out twice, also if the process dies and the platform delivers it
        again."""
        state = await self.tools.table.begin_command(call.place, call.id)
        if state == "done":
            return
        answer = await run(call) if state == "new" else BotMessage(texts.INTERRUPTED)
        self._answer_command(call, answer)
        self._answers.put(queue_key(call.place), self.tools.table.end_command(call.place, call.id))

    def _answer_command(self, call: CommandCall, answer: BotMessage) -> None:
        is_private = not self.is_for_all(call.name)
        self._say(call.place, replace(answer, is_private=is_private, answers=call.id), call.id)

    async def _take_press(self, press: ButtonPress) -> None:
        if self._is_repeated(press.place, "press", press.id):
            return
        answer = await self.commands.answer_press(press)
        note = texts.NOT_FOR_YOU if answer is None else ""
        self._answers.put(queue_key(press.place), self._end_press(press, note))
        if answer is not None:
            is_private = press.data.partition(" ")[0] not in FOR_ALL
            self._say(press.place, replace(answer, is_private=is_private, answers=press.id))

    async def _end_press(self, press: ButtonPress, note: str) -> None:
        delivery = self.tools.delivery
        try:
            await delivery.call(delivery.platform.answer_press, press.id, note)
        except ServerError as error:
            logger.warning("%s: %s", type(error).__name__, error)

    def _is_repeated(self, place: Place, kind: str, id: str) -> bool:
        """Whether a platform delivers something again that was handled."""
        key = (place.key, kind, id)
        is_known = key in self._handled
        self._handled[key] = None
        if len(self._handled) > REMEMBERED:
            self._handled.popitem(last=False)
        return is_known

    def _report_outage(self, place: Place, outage: Degraded) -> None:
        """Tell a place that its messages are held in memory, or all that know of it that they were written: once each,
        when that begins and when it ends."""
        if outage.is_over:
            for told_place in self._outages.pop(place.key, []):
                self._say(told_place, describe_outage(is_over=True, held=outage.held))
            self._events.put(place.key, self._changes.retry(place.key))
        elif place not in self._outages.setdefault(place.key, []):
            self._outages[place.key].append(place)
            self._say(place, describe_outage(is_over=False, held=outage.held))

    # -- replies

    def _is_addressed(self, message: ReceivedMessage) -> bool:
        """Whether the bot is to reply: in private always, in a group to a mention, a reply to it, and its name."""
        if message.is_from_bot:
            return False
        names = self.tools.identity.names
        return message.place.is_private or message.is_for_bot or is_addressed(message.text, names)

    async def _answer(self, message: ReceivedMessage) -> None:
        """Begin a reply; without a model, say once that there is none."""
        place = message.place
        if self.tools.plain is not None:
            self._put_reply(place, self._reply(message))
        elif not (await self.tools.settings(place)).told_no_model:
            await self.tools.table.note_chat(place, told_no_model=True)
            self._say(place, BotMessage(texts.NO_MODEL_YET))

    def _put_reply(self, place: Place, reply: Coroutine[Any, Any, None]) -> None:
        """Write a reply after those that wait in this place; if there are too many, say so once."""
        if self._replies.put(queue_key(place), reply, MOST_REPLIES):
            self._crowded.discard(place)
        elif place not in self._crowded:
            self._crowded.add(place)
            self._say(place, BotMessage(texts.TOO_MANY))

    async def _reply(self, message: ReceivedMessage) -> None:
        async with self.tools.open_chat(message.place, message.author) as chat:
            if (await self._keep(chat, message)).kept == "erased":  # while it waited for earlier replies
                return
            system = self._prompt(message.place)
            pieces = chat.conversation.stream(
                message.content, system=system, author=message.author.id, platform_id=message.id
            )
            await self._show_reply(message, pieces)
            failure = await self.commands.report_failure(message.place)
        if failure is not None:
            self._say(message.place, failure)

    async def _reply_without_memory(self, message: ReceivedMessage) -> None:
        if self.tools.plain is not None:
            system = self._prompt(message.place)
            await self._show_reply(message, self.tools.plain.stream(message.place, message.content, system))

    async def _show_reply(self, message: ReceivedMessage, pieces: AsyncIterator[str]) -> None:
        place = message.place
        try:
            await self.tools.delivery.stream(place, pieces, None if place.is_private else message.id)
        except ModelError as error:
            logger.warning("no reply: %s", error)
            self._say(place, BotMessage(texts.MODEL_AWAY), message.id)
        except StoreError as error:
            logger.error("a reply was not kept: %s", error)
            self._say(place, explain(error), message.id)
        except ServerError as error:
            logger.warning("a reply was not sent: %s", error)

    def _prompt(self, place: Place) -> str:
        if self._system is not None:
            return self._system
        return texts.SYSTEM.format(name=self.tools.identity.person.shown, platform=place.platform.capitalize())

    def _say_to(self, event: Event, message: BotMessage) -> None:
        """Say something about an event: an answer to a command or a press is for whoever did that."""
        if isinstance(event, CommandCall | ButtonPress):
            message = replace(message, is_private=True, answers=event.id)
        self._say(event.place, message)

    def _say(self, place: Place, message: BotMessage, reply_to: str | None = None) -> None:
        """Send something after all that was said in the same place before; nobody waits for it."""
        work = self._send(place, message, None if place.is_private else reply_to)
        if not self._answers.put(queue_key(place), work, MOST_ANSWERS):
            logger.warning("a message was not sent: %d wait already", MOST_ANSWERS)

    async def _send(self, place: Place, message: BotMessage, reply_to: str | None) -> None:
        try:
            await self.tools.delivery.send(place, message, reply_to)
        except ServerError as error:
            logger.warning("a message was not sent: %s", error)


def queue_key(place: Place) -> str:
    return f"{place.key} {place.thread}"


def describe_outage(is_over: bool, held: int) -> BotMessage:
    """What the people in a chat are told of a disk that refuses, and of its end."""
    return BotMessage(texts.OUTAGE_OVER.format(messages=texts.count_messages(held)) if is_over else texts.OUTAGE)


def is_answer(message: ReceivedMessage, dialogue: Dialogue) -> bool:
    """Whether a message answers the question for a threshold: in private any text, in a group a number or a reply."""
    if dialogue.step != THRESHOLD_STEP:
        return False
    is_number = parse_threshold(message.text) is not None or message.text.strip().isdigit()
    return message.place.is_private or message.is_for_bot or is_number
