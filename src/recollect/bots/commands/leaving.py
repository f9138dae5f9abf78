"""Taking one's words along, or away: `/export` gives them as a file, `/erase` removes them after two questions.

In a group both are about whoever asks. With "everybody", which needs the right to it, they are about the whole chat.
"""

from __future__ import annotations

from recollect.bots import texts
from recollect.bots.events import ButtonPress, CommandCall, Person, Place
from recollect.bots.outgoing import BotFile, BotMessage, Button
from recollect.bots.settings import Dialogue
from recollect.bots.texts import count_messages
from recollect.bots.tools import Tools
from recollect.errors import PlatformRefused, ServerError
from recollect.formats.jsonl import dump
from recollect.masking import masked_logger

logger = masked_logger("recollect.bots")

ERASE_STEP = "erase"
AGAIN_STEP = "erase again"
EVERYBODY = "everybody"
NOT_SENT = "I could not send the file; it may be too large. Whoever runs me can do it with `recollect export`."
START_FIRST = "I send your messages to you alone: open a private chat with me, send /start there, and ask here again."


class LeavingCommands:
    """Export and erase."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._table = tools.table

    async def export(self, call: CommandCall) -> BotMessage:
        is_all = call.argument.casefold() == EVERYBODY
        if is_all and not await self._tools.may("export everybody", call.place, call.author):
            return BotMessage(texts.ADMINS_ONLY)
        lines = await self._lines(call.place, call.author, is_all)
        if not lines:
            return BotMessage("I keep nothing of what you said here.")
        content = "".join(f"{line}\n" for line in lines).encode()
        file = BotFile(f"{call.place.key}.jsonl", content, f"{count_messages(len(lines))}, one a line")
        try:
            await self._send_alone(call, file)
        except PlatformRefused:
            return BotMessage(START_FIRST)
        except ServerError as error:
            logger.warning("a file was not sent: %s", error)
            return BotMessage(NOT_SENT)
        where = "" if call.place.is_private else " to your private chat with me"
        return BotMessage(f"I have sent {count_messages(len(lines))}{where}.")

    async def _send_alone(self, call: CommandCall, file: BotFile) -> None:
        """Send a file to whoever asked, where nobody else sees it."""
        delivery = self._tools.delivery
        place = call.place
        if not place.is_private:
            place = await delivery.call(lambda: delivery.platform.private_place(call.author.id))
        await delivery.call(lambda: delivery.platform.send_file(place, file))

    async def _lines(self, place: Place, person: Person, is_all: bool) -> list[str]:
        async with self._tools.open_chat(place, person) as chat:
            messages = chat.memory.export(user=None if is_all else person.id)
            return [dump(message) async for message in messages if not message.erased]

    # -- erasing

    async def ask_erase(self, call: CommandCall) -> BotMessage:
        is_all = call.argument.casefold() == EVERYBODY
        if is_all and not await self._tools.may("erase everybody", call.place, call.author):
            return BotMessage(texts.ADMINS_ONLY)
        values = {EVERYBODY: is_all}
        await self._table.set_dialogue(call.place, call.author, Dialogue(ERASE_STEP, values))
        what = "everything that I keep of this chat" if is_all else "all that you said here, and all I know from it"
        return BotMessage(
            f"This removes {what}, for good: nobody can bring it back.",
            (Button("Erase", "erase yes"), Button("Keep", "erase no")),
        )

    async def answer_erase(self, press: ButtonPress, choice: str) -> BotMessage | None:
        """Go on with erasing; None if that was not asked."""
        dialogue = await self._table.dialogue(press.place, press.author)
        if dialogue is None or dialogue.step not in (ERASE_STEP, AGAIN_STEP):
            return None
        if choice == "no":
            await self._table.end_dialogue(press.place, press.author)
            return BotMessage("Nothing was erased.")
        if dialogue.step == ERASE_STEP and choice == "yes":
            await self._table.set_dialogue(press.place, press.author, Dialogue(AGAIN_STEP, dialogue.values))
            buttons = (Button("Yes, erase it for good", "erase sure"), Button("No, keep it", "erase no"))
            return BotMessage("Are you sure? I ask only this once more.", buttons)
        if dialogue.step == AGAIN_STEP and choice == "sure":
            return await self._erase(press.place, press.author, bool(dialogue.values.get(EVERYBODY)))
        return None

    async def _erase(self, place: Place, person: Person, is_all: bool) -> BotMessage:
        if is_all:
            if not await self._tools.may("erase everybody", place, person):
                return BotMessage(texts.ADMINS_ONLY)
            await self._tools.pool.remove(place)
            self._tools.known_names.clear()
            await self._table.forget_everybody(place)
            return BotMessage("Everything that I kept of this chat is erased.")
        async with self._tools.open_chat(place, person) as chat:
            erasure = await chat.memory.erase(user=person.id)
            self._tools.known_names.pop((place.key, person.id), None)
        await self._table.forget_person(place, person)
        return BotMessage(f"Erased: {count_messages(erasure.messages)}, and all that I knew from them.")
