"""The commands of a bot: how memory is kept, what is remembered, digests, and leaving with one's words or without.

What is remembered runs through `AsyncConversation.command`, in free form ("Memo, forget that …") and with a slash: it
decides whom a name means and what the chat may be shown. A question back ends with a press of a button or an answer,
and only whoever gave the command can give it. In a group, `/export` and `/erase` are about whoever asks. With
"everybody", which needs the right to it, they are about the whole chat.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from everword.bots import platforms, texts
from everword.bots.chat_settings import STORAGES, ChatSettings, Dialogue, StorageKind, parse_threshold
from everword.bots.memories import OpenChat, Tools, holds_messages
from everword.bots.platforms import BotMessage, Button, ButtonPress, CommandCall, Person, Place
from everword.bots.texts import count_messages
from everword.errors import EverwordError, InvalidInput, NotFound, PlatformRefused, ServerError, StoreError
from everword.facts.rules.commands import parse_command
from everword.formats.jsonl import dump
from everword.masking import masked_logger
from everword.model import Answer, Hit
from everword.ports import STAND_IN

logger = masked_logger("everword.bots")

STORAGE_STEP = "storage"
THRESHOLD_STEP = "threshold"
WHO_STEP = "who"
ERASE_STEP = "erase"
AGAIN_STEP = "erase again"
EVERYBODY = "everybody"
NOBODY = "-"
FOLLOWED = ("index", "topics", "window", "episodes")  # the views on which summaries rest
LABELS: dict[StorageKind, str] = {"sqlite": "SQLite (recommended)", "json": "JSON file"}
SHOWN_ANSWER = 20  # characters of a wrong answer that are repeated
MOST_CANDIDATES = 8  # that are asked about
HITS = 5  # messages that a search shows
LOOKED_AT = 20  # messages among which they are chosen
FLOOR = 0.5  # the relevance from which on a message without a word of the query is shown
SHOWN_TEXT = 300  # characters of a message that a search shows
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NOON = 12 * 60  # minutes; a digest before it is of the day before
_SCHEDULE = re.compile(
    rf"(?P<kind>daily|weekly\s+(?P<weekday>{'|'.join(WEEKDAYS)})\w*)\s+(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)",
    re.IGNORECASE,
)

CommandRunner = Callable[[CommandCall], Awaitable[BotMessage]]


class Commands:
    """What somebody can ask of a bot, with a slash, in free form, or by a button."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._table = tools.table
        self.runners: dict[str, CommandRunner] = {
            "start": self._greet,
            "help": self._help,
            "cancel": self._cancel,
            "summary": self._set_up,
            "summary_status": self._show_status,
            "summary_on": self._turn_on,
            "summary_off": self._turn_off,
            "summary_now": self._summarise_now,
            "whatdoyouknow": self._tell,
            "remember": self._remember,
            "forget": self._forget,
            "undo": self._undo,
            "search": self._search,
            "digest": self._digest,
            "export": self._export,
            "erase": self._ask_erase,
        }

    async def answer_press(self, press: ButtonPress) -> BotMessage | None:
        """Go on with the question to which a button belongs; None if the question is over or another's."""
        step, _, choice = press.data.partition(" ")
        dialogue = await self._table.dialogue(press.place, press.author)
        if dialogue is None or dialogue.step.partition(" ")[0] != step:
            return None
        match step:
            case "storage":
                return await self._choose_storage(press, choice)
            case "who":
                return await self._choose_person(press, choice, dialogue)
            case "erase":
                return await self._answer_erase(press, choice, dialogue)
        return None

    # -- what the bot is

    async def _greet(self, call: CommandCall) -> BotMessage:
        name = self._tools.identity.person.shown
        model = texts.WITHOUT_MODEL if self._tools.plain is None else texts.WITH_MODEL.format(name=name)
        text = texts.START_PRIVATE if call.place.is_private else texts.START_GROUP
        return BotMessage(text.format(name=name, model=model))

    async def _help(self, call: CommandCall) -> BotMessage:
        return BotMessage(texts.help_text())

    async def _cancel(self, call: CommandCall) -> BotMessage:
        if await self._table.dialogue(call.place, call.author) is None:
            return BotMessage(texts.NOTHING_TO_CANCEL)
        await self._table.end_dialogue(call.place, call.author)
        return BotMessage(texts.CANCELLED)

    # -- how memory is kept

    async def _set_up(self, call: CommandCall) -> BotMessage:
        """Set the memory up as the words after the command say: a storage, a threshold, or both, as in "json 20". What
        they leave out is asked, or stays as it is."""
        words = call.argument.casefold().split()
        storages = [word for word in words if word in STORAGES]
        thresholds = [word for word in words if word not in STORAGES]
        if not words:
            await self._table.set_dialogue(call.place, call.author, Dialogue(STORAGE_STEP, {}))
            buttons = tuple(Button(label, f"{STORAGE_STEP} {storage}") for storage, label in LABELS.items())
            return BotMessage(texts.CHOOSE_STORAGE, buttons)
        storage = storages[0] if storages else (await self._table.chat(call.place)).storage
        dialogue = Dialogue(THRESHOLD_STEP, {"storage": storage})
        if thresholds:
            return await self._set_threshold(call.place, call.author, " ".join(thresholds), dialogue)
        await self._table.set_dialogue(call.place, call.author, dialogue)
        return BotMessage(texts.ASK_THRESHOLD)

    async def _choose_storage(self, press: ButtonPress, choice: str) -> BotMessage | None:
        """Take the storage that was chosen, and ask for the threshold."""
        if choice not in STORAGES:
            return None
        if not await self._tools.may("summary", press.place, press.author):
            return await self._refuse(press.place, press.author)
        await self._table.set_dialogue(press.place, press.author, Dialogue(THRESHOLD_STEP, {"storage": choice}))
        return BotMessage(texts.ASK_THRESHOLD)

    async def answer_threshold(self, message: platforms.ReceivedMessage, dialogue: Dialogue) -> BotMessage:
        """Take the answer to the question for the threshold."""
        if not await self._tools.may("summary", message.place, message.author):
            return await self._refuse(message.place, message.author)
        return await self._set_threshold(message.place, message.author, message.text, dialogue)

    async def _refuse(self, place: Place, person: Person) -> BotMessage:
        """End the dialogue of somebody who no longer runs the chat."""
        await self._table.end_dialogue(place, person)
        return BotMessage(texts.ADMINS_ONLY)

    async def _set_threshold(self, place: Place, person: Person, text: str, dialogue: Dialogue) -> BotMessage:
        """Take the threshold, and set the memory up; anything but a number from 1 to 500 is refused."""
        threshold = parse_threshold(text)
        if threshold is None:
            return BotMessage(texts.REFUSE_THRESHOLD.format(text=text.strip()[:SHOWN_ANSWER] or "That"))
        storage: StorageKind = "json" if dialogue.values.get("storage") == "json" else "sqlite"
        try:
            settings = await self._tools.pool.change_storage(place, storage, threshold)
            await self._table.end_dialogue(place, person)
        except StoreError as error:
            logger.error("the storage of %s was not changed: %s", place.key, error)
            return BotMessage(texts.NOT_SET_UP)
        threshold_text = count_messages(settings.threshold)
        return BotMessage(texts.SET_UP.format(storage=STORAGES[settings.storage], threshold=threshold_text))

    async def _turn_on(self, call: CommandCall) -> BotMessage:
        if self._tools.plain is not None:
            self._tools.plain.clear(call.place)
        settings = await self._table.change_chat(call.place, enabled=True)
        threshold_text = count_messages(settings.threshold)
        return BotMessage(f"Memory is on: {STORAGES[settings.storage]}, a summary after {threshold_text}.")

    async def _turn_off(self, call: CommandCall) -> BotMessage:
        await self._table.change_chat(call.place, enabled=False)
        return BotMessage("Memory is off. I keep nothing of what is said now, and what I had stays. /summary_on")

    async def _show_status(self, call: CommandCall) -> BotMessage:
        settings = await self._table.chat(call.place)
        async with self._tools.open_chat(call.place, call.author) as chat:
            messages = await chat.conversation.history()
            chunks = await chat.conversation.archived()
            episodes = await chat.conversation.episodes()
        last_archived = chunks[-1].last if chunks else 0
        waiting = [message for message in messages if message.turn > last_archived]
        archived_count = len(messages) - len(waiting)
        if call.place.is_private and self._tools.plain is not None:
            waiting = [message for message in waiting if message.role == "user"]
        highest_level = max((episode.level for episode in episodes), default=0)
        lines = [
            f"Memory: {'on' if settings.enabled else 'off'}",
            f"Storage: {STORAGES[settings.storage]}",
            f"Summary after: {count_messages(settings.threshold)}",
            f"Since the last summary: {count_messages(len(waiting))}",
            f"Messages: {len(messages):,} in all, {archived_count:,} archived",
            f"Active summaries: {len(episodes)}, highest level: {highest_level}",
        ]
        return BotMessage("\n".join(lines))

    async def _summarise_now(self, call: CommandCall) -> BotMessage:
        """Archive at once. If that fails, the messages stay active."""
        try:
            async with self._tools.open_chat(call.place, call.author) as chat:
                chunk = await chat.conversation.archive()
                episodes = await chat.conversation.episodes()
        except EverwordError as error:
            logger.warning("a summary failed: %s", error)
            return BotMessage(texts.FAILED_SUMMARY)
        if chunk is None:
            return BotMessage("There is nothing to summarise yet: the last exchange always stays as it is.")
        return BotMessage(
            f"Summarised {count_messages(chunk.last - chunk.first + 1)}; they can still be searched. "
            f"Active summaries: {len(episodes)}."
        )

    async def report_failure(self, place: Place) -> BotMessage | None:
        """What to say if summarising has failed since it last worked: it is said once."""
        settings = await self._table.chat(place)
        async with self._tools.pool.maintain(place) as memory:
            if holds_messages(memory):  # then views wait, too
                return None
            states = [state for state in (await memory.stats()).views if state.view in FOLLOWED and state.error]
        if bool(states) == settings.told_failure:
            return None
        await self._table.note_chat(place, told_failure=bool(states))
        if not states:
            return None
        logger.warning("summaries of %s: %s", settings.base, states[0].error)
        stands_in = all((state.error or "").startswith(STAND_IN) for state in states)
        return BotMessage(texts.STAND_IN_SUMMARY if stands_in else texts.FAILED_SUMMARY)

    # -- what is remembered, in free form

    async def run_message(self, chat: OpenChat, message: platforms.ReceivedMessage) -> BotMessage | None:
        """Carry out what a message asks of the memory; None if it is not a command."""
        # Every message in another script would be shown to the model, if it were taken as addressed.
        is_for_memory = message.is_for_bot or (message.place.is_private and message.text.isascii())
        answer = await chat.conversation.command(
            message.text,
            author=message.author.id,
            names=self._tools.identity.names,
            addressed=is_for_memory,
            platform_id=message.id,
        )
        return None if answer is None else await self._show(message.place, message.author, message.text, answer)

    async def _choose_person(self, press: ButtonPress, choice: str, dialogue: Dialogue) -> BotMessage | None:
        """Carry out a command about the person who was chosen."""
        ids: list[str] = list(dialogue.values["ids"])
        if choice != NOBODY and not (choice.isdigit() and int(choice) < len(ids)):
            return None
        await self._table.end_dialogue(press.place, press.author)
        if choice == NOBODY:
            return BotMessage(texts.CANCELLED)
        if not (await self._tools.settings(press.place)).enabled:
            return BotMessage(texts.IS_OFF)
        own_names = self._tools.identity.names
        text = with_mention(str(dialogue.values["text"]), own_names, list(dialogue.values["names"]), ids[int(choice)])
        async with self._tools.open_chat(press.place, press.author) as chat:
            answer = await self._run(chat, press, [text])
        return answer or BotMessage("I did not understand that. Say it again with their handle, as in @name.")

    async def _run(
        self, chat: OpenChat, event: CommandCall | ButtonPress, wordings: Sequence[str]
    ) -> BotMessage | None:
        """Carry out the first of these wordings that is a command."""
        names = self._tools.identity.names
        for text in wordings:
            answer = await chat.conversation.command(text, author=event.author.id, names=names, addressed=True)
            if answer is not None:
                text_to_keep = chat.memory.runtime.parts.secrets.mask(text)
                return await self._show(event.place, event.author, text_to_keep, answer)
        return None

    async def _show(self, place: Place, person: Person, text: str, answer: Answer) -> BotMessage:
        """The answer to a command; if a name is not clear, the question back."""
        if answer.forgotten is not None and answer.forgotten.id is not None:
            await self._table.set_last_forgotten(place, person, answer.forgotten.id, answer.person or person.id)
            return BotMessage(f"{answer.text} /undo brings it back.")
        if not answer.candidates:
            return BotMessage(answer.text)
        candidates = answer.candidates[:MOST_CANDIDATES]
        ids = [candidate.member for candidate in candidates]
        names = [candidate.name for candidate in candidates]
        await self._table.set_dialogue(place, person, Dialogue(WHO_STEP, {"text": text, "ids": ids, "names": names}))
        labels = [f"{name} ({candidates[i].why})" if names.count(name) > 1 else name for i, name in enumerate(names)]
        buttons = [Button(label, f"{WHO_STEP} {number}") for number, label in enumerate(labels)]
        return BotMessage("Whom do you mean?", (*buttons, Button("Nobody of these", f"{WHO_STEP} {NOBODY}")))

    # -- what is remembered, with a slash

    async def _tell(self, call: CommandCall) -> BotMessage:
        """What is known of somebody, as far as this chat may see it."""
        async with self._tools.open_chat(call.place, call.author) as chat:
            answer = await self._run(chat, call, [f"What do you know about {call.argument or 'me'}?"])
        return answer or BotMessage(f"I know nobody here by the name of {call.argument}.")

    async def _remember(self, call: CommandCall) -> BotMessage:
        async with self._tools.open_chat(call.place, call.author) as chat:
            wordings = [f"Remember {opening}{call.argument}" for opening in ("that ", "", "this: ")]
            answer = await self._run(chat, call, wordings)
            if answer is None and call.place.is_private:
                statements = await chat.memory.remember(call.argument, user=call.author.id)
                answer = BotMessage(f"I will remember: {' '.join(statement.text for statement in statements)}")
        return answer or BotMessage("I found nothing to remember there. Write it as in: /remember I like tea")

    async def _forget(self, call: CommandCall) -> BotMessage:
        async with self._tools.open_chat(call.place, call.author) as chat:
            answer = await self._run(chat, call, [f"Forget {call.argument}", f"Forget that {call.argument}"])
            if answer is None and call.place.is_private:
                outcome = await chat.memory.forget(call.argument, user=call.author.id)
                if outcome.id is not None:
                    await self._table.set_last_forgotten(call.place, call.author, outcome.id, call.author.id)
                    answer = BotMessage("Forgotten. /undo brings it back.")
        return answer or BotMessage("I know nothing of that, so there is nothing to forget.")

    async def _undo(self, call: CommandCall) -> BotMessage:
        last = await self._table.last_forgotten(call.place, call.author)
        if last is None:
            return BotMessage("There is nothing to bring back: nothing was forgotten.")
        async with self._tools.open_chat(call.place, call.author) as chat:
            outcome = await chat.memory.undo(last[0], user=last[1])
        await self._table.set_last_forgotten(call.place, call.author, None, last[1])
        statements = [statement.text for statement in outcome.statements]
        lines = statements or [f"{fact.key}: {fact.value}." for fact in outcome.facts]
        return BotMessage(f"It is back: {' '.join(lines)}" if call.place.is_private and lines else "It is back.")

    async def _search(self, call: CommandCall) -> BotMessage:
        user = call.author.id if call.place.is_private else None
        conversation = None if call.place.is_private else call.place.conversation
        async with self._tools.open_chat(call.place, call.author) as chat:
            hits = await chat.memory.search(call.argument, user=user, conversation=conversation, limit=LOOKED_AT)
            names = {member.id: member.shown for member in await chat.memory.people()}
        own_name = self._tools.identity.person.shown
        lines = [describe_hit(hit, names, own_name, call.author) for hit in choose_hits(hits)]
        return BotMessage("\n".join(lines) or "I found nothing about that.")

    # -- digests

    async def _digest(self, call: CommandCall) -> BotMessage:
        """What a day or a week in a group was; or set when that is sent."""
        if call.place.is_private:
            return BotMessage("A digest is of a group. Here, /whatdoyouknow says what I know, /search finds it.")
        request = call.argument.casefold()
        has_hidden_channels = self._tools.delivery.platform.has_hidden_channels
        if has_hidden_channels and not await self._tools.may("digest of hidden channels", call.place, call.author):
            return BotMessage(texts.ADMINS_ONLY)
        if request in ("", "day", "today", "yesterday", "week"):
            return BotMessage(await self._write_digest(call.place, request == "week", request == "yesterday"))
        changes = parse_schedule(request, call.place.thread)
        if changes is None:
            return BotMessage(texts.DIGEST_USAGE)
        if not await self._tools.may("digest schedule", call.place, call.author):
            return BotMessage(texts.ADMINS_ONLY)
        await self._table.change_chat(call.place, **changes)
        return BotMessage(f"I will send it {request}." if changes["digest"] else "I will send no digests by myself.")

    async def send_due_digests(self) -> int:
        """Send the digests whose time has come; returns how many. One that cannot be sent is not tried again before the
        next day, and does not keep back the others."""
        now = self._now()
        count = 0
        for key, settings in (await self._table.scheduled_chats()).items():
            platform, _, chat = key.partition("-")
            if platform != self._tools.delivery.platform.name or not is_due(settings, now):
                continue
            place = Place(platform, chat, is_private=False, thread=settings.digest_thread)
            await self._table.note_chat(place, digest_sent=now.date().isoformat())
            try:
                text = await self._write_digest(place, settings.digest == "week", settings.digest_minute < NOON)
                await self._tools.delivery.send(place, BotMessage(text))
                count += 1
            except EverwordError as error:
                logger.warning("a digest was not sent: %s", error)
        return count

    async def _write_digest(self, place: Place, is_week: bool, is_of_yesterday: bool) -> str:
        day = self._now().date() - timedelta(days=1) if is_of_yesterday and not is_week else None
        async with self._tools.pool.use(place) as memory:
            digests = await memory.digests(day=day, week=is_week)
            names = {member.id: member.shown for member in await memory.people()}
        title = "The last days" if is_week else "Yesterday" if is_of_yesterday else "Today"
        if not digests:
            return f"{title}: nobody has said anything that I was shown."
        lines = [describe_digest(names.get(digest.user, "somebody"), digest.text) for digest in digests]
        return "\n".join([f"{title}:", *lines])

    def _now(self) -> datetime:
        return self._tools.clock.now().astimezone(self._tools.zone)

    # -- leaving

    async def _export(self, call: CommandCall) -> BotMessage:
        is_all = call.argument.casefold() == EVERYBODY
        if is_all and not await self._tools.may("export everybody", call.place, call.author):
            return BotMessage(texts.ADMINS_ONLY)
        async with self._tools.open_chat(call.place, call.author) as chat:
            messages = chat.memory.export(user=None if is_all else call.author.id)
            lines = [dump(message) async for message in messages if not message.erased]
        if not lines:
            return BotMessage("I keep nothing of what you said here.")
        content = "".join(f"{line}\n" for line in lines).encode()
        file = platforms.BotFile(f"{call.place.key}.jsonl", content, f"{count_messages(len(lines))}, one a line")
        delivery = self._tools.delivery
        place = call.place
        try:
            if not place.is_private:  # nobody else is to see it
                place = await delivery.call(delivery.platform.private_place, call.author.id)
            await delivery.call(delivery.platform.send_file, place, file)
        except PlatformRefused:
            return BotMessage(texts.START_FIRST)
        except ServerError as error:
            logger.warning("a file was not sent: %s", error)
            return BotMessage(texts.NOT_SENT)
        where = "" if call.place.is_private else " to your private chat with me"
        return BotMessage(f"I have sent {count_messages(len(lines))}{where}.")

    async def _ask_erase(self, call: CommandCall) -> BotMessage:
        is_all = call.argument.casefold() == EVERYBODY
        if is_all and not await self._tools.may("erase everybody", call.place, call.author):
            return BotMessage(texts.ADMINS_ONLY)
        await self._table.set_dialogue(call.place, call.author, Dialogue(ERASE_STEP, {EVERYBODY: is_all}))
        what = "everything that I keep of this chat" if is_all else "all that you said here, and all I know from it"
        return BotMessage(
            f"This removes {what}, for good: nobody can bring it back.",
            (Button("Erase", "erase yes"), Button("Keep", "erase no")),
        )

    async def _answer_erase(self, press: ButtonPress, choice: str, dialogue: Dialogue) -> BotMessage | None:
        """Go on with erasing, which is asked twice."""
        if choice == "no":
            await self._table.end_dialogue(press.place, press.author)
            return BotMessage("Nothing was erased.")
        if dialogue.step == ERASE_STEP and choice == "yes":
            await self._table.set_dialogue(press.place, press.author, Dialogue(AGAIN_STEP, dialogue.values))
            buttons = (Button("Yes, erase it for good", "erase sure"), Button("No, keep it", "erase no"))
            return BotMessage("Are you sure? I ask only this once more.", buttons)
        if dialogue.step == AGAIN_STEP and choice == "sure":
            answer = await self._erase(press.place, press.author, bool(dialogue.values.get(EVERYBODY)))
            if self._tools.plain is not None:
                self._tools.plain.clear(press.place)
            return answer
        return None

    async def _erase(self, place: Place, person: Person, is_all: bool) -> BotMessage:
        if is_all:
            if not await self._tools.may("erase everybody", place, person):
                return BotMessage(texts.ADMINS_ONLY)
            await self._tools.pool.remove(place)
            self._tools.known_names.clear()
            await self._table.forget_everybody(place)
            return BotMessage("Everything that I kept of this chat is erased.")
        count = 0
        async with self._tools.pool.use(place, owner=person.id) as memory:
            with suppress(NotFound):  # who wrote only while the memory was off
                count = (await memory.erase(user=person.id)).messages
            self._tools.known_names.pop((place.key, person.id), None)
        await self._table.forget_person(place, person)
        return BotMessage(f"Erased: {count_messages(count)}, and all that I knew from them.")

    # -- what is offered to somebody who writes a command

    async def complete_person(self, place: Place, prefix: str) -> list[str]:
        """Names of people who have spoken in a group that begin with what is typed, or have it in them."""
        if place.is_private or not (await self._tools.settings(place)).enabled:
            return []
        async with self._tools.pool.use(place) as memory:
            members = await memory.people()
        return choose_matches((member.shown for member in members if member.names), prefix)

    async def complete_statement(self, place: Place, person: Person, prefix: str) -> list[str]:
        """What was remembered of somebody on request, as far as this conversation has heard it."""
        if not (await self._tools.settings(place)).enabled:
            return []
        async with self._tools.pool.use(place) as memory:
            profile = await memory.profile(user=person.id, wait=0)
        audience = None if place.is_private else place.conversation
        statements = [statement.text for statement in profile.statements if statement.audience == audience]
        return choose_matches(statements, prefix)


def choose_matches(values: Iterable[str], prefix: str) -> list[str]:
    """The values that contain what is typed, each once; those that begin with it come first."""
    wanted = prefix.strip().casefold()
    matches = [value for value in dict.fromkeys(values) if wanted in value.casefold()]
    return sorted(matches, key=lambda value: (not value.casefold().startswith(wanted), value.casefold()))


def choose_hits(hits: Sequence[Hit]) -> list[Hit]:
    """The hits to show: those that have words of the query, and those near to it in meaning. A search also finds what
    stands around them, which helps a model, and not somebody who looks for something."""
    nearest = max((hit.parts.get("vector", 0.0) for hit in hits), default=0.0)

    def is_shown(hit: Hit) -> bool:
        near = hit.parts.get("vector", 0.0)
        return hit.parts.get("text", 0.0) > 0 or (hit.relevance >= FLOOR and near > 0 and near >= nearest / 2)

    return [hit for hit in hits if is_shown(hit)][:HITS]


def describe_hit(hit: Hit, names: dict[str, str], own_name: str, reader: Person) -> str:
    message = hit.message
    author = own_name if message.role == "assistant" else names.get(message.author) or message.metadata.get("name")
    if message.role == "user" and message.author == reader.id:
        author = "you"
    content = " ".join(message.content.split())
    excerpt = content if len(content) <= SHOWN_TEXT else content[:SHOWN_TEXT].rstrip() + " …"
    return f"{message.time:%Y-%m-%d %H:%M}, {author or 'somebody'}: {excerpt}"


def with_mention(text: str, own_names: Sequence[str], names: Sequence[str], id: str) -> str:
    """A command with the name in it replaced by a mention of one person, which means nobody else."""
    about = parse_command(text, own_names, for_bot=True, people=names).about
    first_names = [name.split()[0] for name in names if name.split()]
    for name in filter(None, (about, *names, *first_names)):
        changed = re.sub(rf"(?<!\w)@?{re.escape(name)}(?!\w)", f"<@{id}>", text, count=1, flags=re.IGNORECASE)
        if changed != text:
            return changed
    raise InvalidInput("name", "is missing from the text of the command; send the command again")


def describe_digest(name: str, text: str) -> str:
    """A line of a digest: the built-in writer begins with the name, a model may not."""
    return text if text.startswith(name) else f"{name}: {text}"


def parse_schedule(text: str, thread: str) -> dict[str, Any] | None:
    """The settings that a request for a schedule changes; None if it is none."""
    if text == "off":
        return {"digest": ""}
    match = _SCHEDULE.fullmatch(text)
    if match is None:
        return None
    weekday = match["weekday"]
    return {
        "digest": "day" if weekday is None else "week",
        "digest_weekday": 0 if weekday is None else WEEKDAYS.index(weekday.lower()),
        "digest_minute": int(match["hour"]) * 60 + int(match["minute"]),
        "digest_thread": thread,
        "digest_sent": "",
    }


def is_due(settings: ChatSettings, now: datetime) -> bool:
    """Whether a digest is to be sent now: at or after its minute, once a day, or once on its day of the week."""
    if not settings.digest or not settings.enabled or settings.digest_sent == now.date().isoformat():
        return False
    is_day = settings.digest == "day" or now.weekday() == settings.digest_weekday
    return is_day and now.hour * 60 + now.minute >= settings.digest_minute


def explain(error: EverwordError) -> BotMessage:
    """What a user is told of an error: what they did wrong, but nothing of the machine."""
    if isinstance(error, InvalidInput):
        return BotMessage(texts.FAILED.format(reason=error))
    return BotMessage(texts.FAILED_INSIDE.format(kind=type(error).__name__))
