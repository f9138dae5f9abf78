"""The bot on Telegram, over real HTTP: setting it up, its commands, restarts, and moving between stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from telegram_bot import Talk, run, running_bot
from telegram_server import TelegramServer

from recollect.testing.llm import ScriptedLLM


def test_the_summary_dialogue_d7(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            async with running_bot(server, tmp_path, chat=ScriptedLLM(default="Noted.")):
                alex = Talk(server)
                await alex.ask("/start", "I am Memo")
                question = await alex.ask("/summary", "Where should I keep")
                assert [label for label, _ in question.buttons] == ["SQLite (recommended)", "JSON file"]
                await alex.press(question, "JSON")
                await alex.hear("Send a number from 1 to 500")
                for wrong in ("0", "501", "abc", "-3", "1.5", "९"):
                    await alex.ask(wrong, f"{wrong} is no number from 1 to 500")
                await alex.ask("15", "Memory is set up.\nStorage: JSON file\nSummary after: 15 messages")
                await alex.ask("I live in Lisbon and row on Sundays.", "Noted.")
                status = await alex.ask("/summary_status", "Memory: on")
                assert status.text.splitlines() == [
                    "Memory: on",
                    "Storage: JSON file",
                    "Summary after: 15 messages",
                    "Since the last summary: 1 message",
                    "Messages: 2 in all, 0 archived",
                    "Active summaries: 0, highest level: 0",
                ]
                assert (tmp_path / "telegram-7.json").exists()

    run(talk)


@pytest.mark.parametrize("dummy", [0])
def test_dummy(dummy: int) -> None:
    assert dummy == 0
