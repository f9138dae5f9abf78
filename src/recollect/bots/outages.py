"""A disk that refuses: what is said in a chat is held in memory, and the chat is told when that begins and ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recollect.bots import texts
from recollect.bots.outgoing import BotMessage
from recollect.bots.texts import count_messages
from recollect.config import BY_NAME, Settings
from recollect.wiring import AsyncMemory

HOLD = "hold_messages"
HELD = 1_000  # messages of a chat that are held, if no setting says how many


def outage_options(report: Callable[[Any], None]) -> dict[str, Any]:
    """What a memory is opened with so that it holds what it cannot write, and reports when that begins and ends;
    nothing, if this version of the engine holds no messages."""
    if HOLD not in BY_NAME:
        return {}
    return {HOLD: getattr(Settings.load(), HOLD) or HELD, "on_degraded": report}


def holds_messages(memory: AsyncMemory) -> bool:
    """Whether a memory holds messages that it could not write: it must not be closed then, or they are lost."""
    return getattr(memory, "degraded", None) is not None


def describe_outage(is_over: bool, held: int) -> BotMessage:
    """What the people in a chat are told."""
    return BotMessage(texts.OUTAGE_OVER.format(messages=count_messages(held)) if is_over else texts.OUTAGE)
