"""G10: secrets that people paste in chats with a bot: what is kept, and what they are told."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everword.bots.delivery import Delivery
from everword.bots.memories import MemoryParts
from everword.bots.platforms import MessageEdit, Person, Place, ReceivedMessage
from everword.bots.replay import PrintedPlatform, printed_identity
from everword.bots.service import BotOptions, open_bot

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)
ANN = Person("1", "Ann Lee", "ann")
PLACE = Place("replay", "1", is_private=True)
PASSWORD = "tr0ub4dor&3x"
TOLD = f"My password is {PASSWORD} since last week."


def say(id: str, text: str) -> ReceivedMessage:
    return ReceivedMessage(PLACE, id, ANN, text, NOW)


async def talk(folder: Path, mode: str, lines: list[str]) -> list[str]:
    """What the log has after Ann has pasted a password, edited it into another message, and asked to remember it."""
    platform = PrintedPlatform(printed_identity(()), lines.append)
    parts = MemoryParts(settings={"telemetry": "off", "secrets": mode})
    async with open_bot(Delivery(platform), BotOptions(folder, memories=parts)) as bot:
        for event in (
            say("1", "I live in Delft."),
            say("2", TOLD),
            MessageEdit(say("1", f"I live in Delft. {TOLD}")),
            say("3", f"Remember that {TOLD}"),
        ):
            bot.submit(event)
        await bot.drain()
        async with bot.tools.pool.maintain(PLACE) as memory:
            assert (await memory.verify()).ok
        async with bot.tools.open_chat(PLACE, ANN) as chat:
            return [message.content for message in await chat.conversation.history(versions=True)]


@pytest.mark.parametrize("mode", ["mask", "redact", "refuse"])
def test_a_bot_keeps_what_the_setting_says_and_tells_who_is_refused(tmp_path: Path, mode: str) -> None:
    lines: list[str] = []
    kept = asyncio.run(talk(tmp_path, mode, lines))
    assert PASSWORD not in str(lines)
    if mode == "refuse":
        assert kept == ["I live in Delft."]
        assert "contains a secret (password, characters 16 to 27)" in str(lines)
    else:
        assert kept[0].startswith("I live in Delft. My password is ")
        assert (PASSWORD in str(kept)) == (mode == "mask")
    if mode != "mask":
        files = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
        assert PASSWORD.encode() not in files
