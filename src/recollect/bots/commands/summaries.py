"""The commands about how memory is kept: `/summary` with its two questions, and those that begin with its name."""

from __future__ import annotations

from recollect.bots import texts
from recollect.bots.events import ButtonPress, CommandCall, Person, Place
from recollect.bots.outages import holds_messages
from recollect.bots.outgoing import BotMessage, Button
from recollect.bots.settings import STORAGES, Dialogue, StorageKind, parse_threshold
from recollect.bots.texts import count_messages
from recollect.bots.tools import Tools
from recollect.errors import RecollectError, StoreError
from recollect.masking import masked_logger
from recollect.model import Episode
from recollect.ports import STAND_IN
from recollect.wiring import AsyncMemory

logger = masked_logger("recollect.bots")

STORAGE_STEP = "storage"
THRESHOLD_STEP = "threshold"
FOLLOWED = ("index", "window", "episodes")  # the views on which summaries rest
SHOWN = 20  # characters of a wrong answer that are repeated
LABELS: dict[StorageKind, str] = {"sqlite": "SQLite (recommended)", "json": "JSON file"}


class SummaryCommands:
    """How the memory of a chat is kept."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._table = tools.table

    # -- the dialogue

    async def set_up(self, call: CommandCall) -> BotMessage:
        """Set the memory up as the words after the command say: a storage, a threshold, or both, as in "json 20". What
        they leave out is asked, or stays as it is."""
        storages = [word for word in call.argument.casefold().split() if word in STORAGES]
        thresholds = [word for word in call.argument.casefold().split() if word not in STORAGES]
        if not storages and not thresholds:
            return await self.ask_storage(call.place, call.author)
        settings = await self._table.chat(call.place)
        dialogue = Dialogue(THRESHOLD_STEP, {"storage": storages[0] if storages else settings.storage})
        if thresholds:
            return await self.set_threshold(call.place, call.author, " ".join(thresholds), dialogue)
        await self._table.set_dialogue(call.place, call.author, dialogue)
        return BotMessage(texts.ASK_THRESHOLD)

    async def ask_storage(self, place: Place, person: Person) -> BotMessage:
        await self._table.set_dialogue(place, person, Dialogue(STORAGE_STEP, {}))
        buttons = tuple(Button(label, f"{STORAGE_STEP} {storage}") for storage, label in LABELS.items())
        return BotMessage(texts.CHOOSE_STORAGE, buttons)

    async def choose_storage(self, press: ButtonPress, choice: str) -> BotMessage | None:
        """Take the storage that was chosen, and ask for the threshold; None if that was not asked."""
        dialogue = await self._table.dialogue(press.place, press.author)
        if dialogue is None or dialogue.step != STORAGE_STEP or choice not in STORAGES:
            return None
        if not await self._tools.may("summary", press.place, press.author):
            return await self._refuse(press.place, press.author)
        await self._table.set_dialogue(press.place, press.author, Dialogue(THRESHOLD_STEP, {"storage": choice}))
        return BotMessage(texts.ASK_THRESHOLD)

    async def answer_threshold(self, place: Place, person: Person, text: str, dialogue: Dialogue) -> BotMessage:
        """Take the answer to the question for the threshold."""
        if not await self._tools.may("summary", place, person):
            return await self._refuse(place, person)
        return await self.set_threshold(place, person, text, dialogue)

    async def _refuse(self, place: Place, person: Person) -> BotMessage:
        """End the dialogue of somebody who no longer runs the chat."""
        await self._table.end_dialogue(place, person)
        return BotMessage(texts.ADMINS_ONLY)

    async def set_threshold(self, place: Place, person: Person, text: str, dialogue: Dialogue) -> BotMessage:
        """Take the threshold, and set the memory up; anything but a number from 1 to 500 is refused."""
        threshold = parse_threshold(text)
        if threshold is None:
            shown_text = text.strip()[:SHOWN] or "That"
            return BotMessage(texts.REFUSE_THRESHOLD.format(text=shown_text))
        storage: StorageKind = "json" if dialogue.values.get("storage") == "json" else "sqlite"
        try:
            settings = await self._tools.pool.change_storage(place, storage, threshold)
            await self._table.end_dialogue(place, person)
        except StoreError as error:
            logger.error("the storage of %s was not changed: %s", place.key, error)
            return BotMessage(texts.NOT_SET_UP)
        return BotMessage(
            texts.SET_UP.format(storage=STORAGES[settings.storage], threshold=count_messages(settings.threshold))
        )

    # -- the other commands

    async def turn_on(self, place: Place) -> BotMessage:
        settings = await self._table.change_chat(place, enabled=True)
        return BotMessage(
            f"Memory is on: {STORAGES[settings.storage]}, a summary after {count_messages(settings.threshold)}."
        )

    async def turn_off(self, place: Place) -> BotMessage:
        await self._table.change_chat(place, enabled=False)
        return BotMessage("Memory is off. I keep nothing of what is said now, and what I had stays. /summary_on")

    async def show_status(self, place: Place, person: Person) -> BotMessage:
        settings = await self._table.chat(place)
        async with self._tools.open_chat(place, person) as chat:
            messages = await chat.conversation.history()
            chunks = await chat.conversation.archived()
            episodes = await chat.conversation.episodes()
        last_archived = chunks[-1].last if chunks else 0
        waiting = [message for message in messages if message.turn > last_archived]
        if place.is_private and self._tools.has_model:
            waiting = [message for message in waiting if message.role == "user"]
        archived_count = sum(message.turn <= last_archived for message in messages)
        lines = [
            f"Memory: {'on' if settings.enabled else 'off'}",
            f"Storage: {STORAGES[settings.storage]}",
            f"Summary after: {count_messages(settings.threshold)}",
            f"Since the last summary: {count_messages(len(waiting))}",
            f"Messages: {len(messages):,} in all, {archived_count:,} archived",
            f"Active summaries: {len(episodes)}, highest level: {highest_level(episodes)}",
        ]
        return BotMessage("\n".join(lines))

    async def summarise_now(self, place: Place, person: Person) -> BotMessage:
        """Archive at once. If that fails, the messages stay active."""
        try:
            async with self._tools.open_chat(place, person) as chat:
                chunk = await chat.conversation.archive()
                episodes = await chat.conversation.episodes()
        except RecollectError as error:
            logger.warning("a summary failed: %s", error)
            return BotMessage(texts.FAILED_SUMMARY)
        if chunk is None:
            return BotMessage("There is nothing to summarise yet: the last exchange always stays as it is.")
        return BotMessage(
            f"Summarised {count_messages(chunk.last - chunk.first + 1)}; they can still be searched. "
            f"Active summaries: {len(episodes)}."
        )

    # -- failures

    async def report_failure(self, place: Place, memory: AsyncMemory) -> BotMessage | None:
        """What to say if summarising has failed since it last worked: it is said once."""
        if holds_messages(memory):  # then views wait, too
            return None
        settings = await self._table.chat(place)
        states = [state for state in (await memory.stats()).views if state.view in FOLLOWED and state.error]
        if bool(states) == settings.told_failure:
            return None
        await self._table.note_chat(place, told_failure=bool(states))
        if not states:
            return None
        logger.warning("summaries of %s: %s", settings.base, states[0].error)
        stands_in = all((state.error or "").startswith(STAND_IN) for state in states)
        return BotMessage(texts.STAND_IN_SUMMARY if stands_in else texts.FAILED_SUMMARY)


def highest_level(episodes: list[Episode]) -> int:
    return max((episode.level for episode in episodes), default=0)
