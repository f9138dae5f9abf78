"""What is set for each chat, and the questions that wait for an answer: documents in the bot's own store.

So they survive a restart, also in the middle of a dialogue. A chat that nobody has set up has the defaults, and no
document.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from everword.bots.platforms import Person, Place
from everword.errors import StoreError
from everword.masking import masked_logger
from everword.memory.operations.documents import DocumentsFace

logger = masked_logger("everword.bots")

StorageKind = Literal["sqlite", "json"]
STORAGES: dict[StorageKind, str] = {"sqlite": "SQLite", "json": "JSON file"}
LEAST_THRESHOLD = 1
MOST_THRESHOLD = 500
SPACE = "bot"  # of the bot's own store

CHATS = ("chats",)
DIALOGUES = ("dialogues",)
FORGOTTEN = ("forgotten",)
HANDLED = ("handled",)
MOST_HANDLED = 50  # commands of a chat that are known to have been carried out
CommandState = Literal["new", "begun", "done"]


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How the memory of a chat is kept.

    `base` names its file and its space. `threshold` is the number of messages until a summary. The bot says some things
    once: that it has no model (`told_no_model`), that a summary failed (`told_failure`). `digest` is "", "day" or
    "week", sent at the minute `digest_minute` of the day, in the time zone of the settings, to the thread
    `digest_thread`; `digest_sent` is the day on which the last one was sent.
    """

    base: str
    storage: StorageKind = "sqlite"
    threshold: int = 10
    enabled: bool = True
    told_no_model: bool = False
    told_failure: bool = False
    digest: str = ""
    digest_minute: int = 0
    digest_weekday: int = 0
    digest_thread: str = ""
    digest_sent: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A question that the bot has asked somebody: the `step` it is at, and what was said so far."""

    step: str
    values: Mapping[str, Any]


class SettingsTable:
    """The documents of the bot. Settings are read once and then held: nobody else writes them."""

    def __init__(self, documents: DocumentsFace) -> None:
        self._documents = documents
        self._chats: dict[str, ChatSettings] = {}
        self._writing = asyncio.Lock()  # for what is read, changed and written

    # -- chats

    async def chat(self, place: Place) -> ChatSettings:
        """The settings of a chat."""
        if place.key not in self._chats:
            stored = await self._documents.get(CHATS, place.key)
            self._chats[place.key] = ChatSettings(place.key) if stored is None else chat_settings(stored.value)
        return self._chats[place.key]

    async def has_chat(self, place: Place) -> bool:
        """Whether anything was ever set for a chat."""
        return await self._documents.get(CHATS, place.key) is not None

    async def change_chat(self, place: Place, **changes: Any) -> ChatSettings:
        """Change settings of a chat, and keep them."""
        async with self._writing:
            settings = replace(await self.chat(place), **changes)
            await self._documents.put(CHATS, place.key, asdict(settings), texts=[])
            self._chats[place.key] = settings
            return settings

    async def note_chat(self, place: Place, **changes: Any) -> None:
        """Change what the bot notes of a chat. If the store takes nothing, it is noted until the process ends."""
        try:
            await self.change_chat(place, **changes)
        except StoreError as error:
            logger.warning("a note on %s is not kept: %s", place.key, error)
            self._chats[place.key] = replace(await self.chat(place), **changes)

    async def move_chat(self, place: Place, old: Place) -> None:
        """Let a chat that has another id now go on with the settings, and so the files, of the old one."""
        await self.change_chat(place, **asdict(await self.chat(old)))

    async def scheduled_chats(self) -> dict[str, ChatSettings]:
        """The chats that want a digest by themselves, by key."""
        documents = await self._documents.search(CHATS, where={"digest": {"$ne": ""}}, limit=10_000)
        return {document.key: self._chats.get(document.key) or chat_settings(document.value) for document in documents}

    # -- what waits for an answer

    async def dialogue(self, place: Place, person: Person) -> Dialogue | None:
        stored = await self._documents.get(DIALOGUES, personal_key(place, person))
        return None if stored is None else Dialogue(str(stored.value["step"]), stored.value["values"])

    async def set_dialogue(self, place: Place, person: Person, dialogue: Dialogue) -> None:
        await self._put_personal(DIALOGUES, place, person, {"step": dialogue.step, "values": dict(dialogue.values)})

    async def end_dialogue(self, place: Place, person: Person) -> None:
        await self._documents.remove(DIALOGUES, personal_key(place, person))

    # -- what can be undone

    async def last_forgotten(self, place: Place, person: Person) -> tuple[str, str] | None:
        """The id of what somebody had forgotten last, and of whom it was."""
        stored = await self._documents.get(FORGOTTEN, personal_key(place, person))
        return None if stored is None else (str(stored.value["id"]), str(stored.value["user"]))

    async def set_last_forgotten(self, place: Place, person: Person, id: str | None, user: str) -> None:
        if id is None:
            await self._documents.remove(FORGOTTEN, personal_key(place, person))
        else:
            await self._put_personal(FORGOTTEN, place, person, {"id": id, "user": user})

    async def forget_person(self, place: Place, person: Person) -> None:
        """Remove what is kept of somebody's dialogues in a chat."""
        await self.end_dialogue(place, person)
        await self.set_last_forgotten(place, person, None, person.id)

    async def forget_everybody(self, place: Place) -> None:
        """Remove what is kept of everybody's dialogues in a chat."""
        for namespace in (DIALOGUES, FORGOTTEN):
            documents = await self._documents.search(namespace, where={"chat": place.key}, limit=10_000)
            for document in documents:
                await self._documents.remove(namespace, document.key)

    async def _put_personal(
        self, namespace: tuple[str, ...], place: Place, person: Person, value: Mapping[str, Any]
    ) -> None:
        named_value = {**value, "chat": place.key}
        await self._documents.put(namespace, personal_key(place, person), named_value, user=person.id, texts=[])

    # -- what is not to be done twice

    async def begin_command(self, place: Place, id: str) -> CommandState:
        """Note that a command is being carried out; returns how far it had come before, if a platform delivers it again
        after a crash."""
        async with self._writing:
            states = await self._command_states(place)
            if id in states:
                return states[id]
            await self._put_command_states(place, {**states, id: "begun"})
            return "new"

    async def end_command(self, place: Place, id: str) -> None:
        """Note that a command was carried out and answered."""
        async with self._writing:
            await self._put_command_states(place, {**await self._command_states(place), id: "done"})

    async def _command_states(self, place: Place) -> dict[str, CommandState]:
        stored = await self._documents.get(HANDLED, place.key)
        return {} if stored is None else dict(stored.value["states"])

    async def _put_command_states(self, place: Place, states: Mapping[str, CommandState]) -> None:
        last_states = [[id, state] for id, state in states.items()][-MOST_HANDLED:]
        await self._documents.put(HANDLED, place.key, {"states": last_states}, texts=[])


def personal_key(place: Place, person: Person) -> str:
    return f"{place.key} {place.thread} {person.id}"


def chat_settings(value: Mapping[str, Any]) -> ChatSettings:
    """Settings as they were kept; what this version does not know is left out."""
    known = {field.name for field in fields(ChatSettings)}
    return ChatSettings(**{name: entry for name, entry in value.items() if name in known})


def parse_threshold(text: str) -> int | None:
    """The threshold in a message; None if it is none from 1 to 500."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 4):
        return None
    number = int(digits)
    return number if LEAST_THRESHOLD <= number <= MOST_THRESHOLD else None
