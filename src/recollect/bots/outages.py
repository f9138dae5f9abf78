"""A disk that refuses: what is said in a chat is held in memory, and the chat is told when that begins and ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recollect.bots import texts
from recollect.bots.events import Place
from recollect.bots.outgoing import BotMessage
from recollect.bots.texts import count_messages
from recollect.config import Settings, hold_in_chats
from recollect.model import Degraded
from recollect.wiring import AsyncMemory


def outage_options(report: Callable[[Degraded], None]) -> dict[str, Any]:
    """What a memory is opened with so that it holds what it cannot write, and reports when that begins and ends."""
    return {"hold_messages": hold_in_chats(Settings.load()).hold_messages, "on_degraded": report}


def holds_messages(memory: AsyncMemory) -> bool:
    """Whether a memory holds messages that it could not write: it must not be closed then, or they are lost."""
    return memory.degraded is not None


def describe_outage(is_over: bool, held: int) -> BotMessage:
    """What the people in a chat are told."""
    return BotMessage(texts.OUTAGE_OVER.format(messages=count_messages(held)) if is_over else texts.OUTAGE)


class OutageNotices:
    """The places that know of an outage: each is told once that it has begun, and once that it is over."""

    def __init__(self) -> None:
        self._told: dict[str, list[Place]] = {}  # by chat

    def begin(self, place: Place) -> bool:
        """Note that a place is told of an outage; False if it was told before."""
        places = self._told.setdefault(place.key, [])
        if place in places:
            return False
        places.append(place)
        return True

    def end(self, place: Place) -> list[Place]:
        """The places of a chat that are to be told that its outage is over."""
        return self._told.pop(place.key, [])
