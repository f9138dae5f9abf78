"""The bot on Telegram, over real HTTP: setting it up, its commands, restarts, and moving between stores."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest
from telegram_bot import ALEX, DANA, Talk, run, running_bot
from telegram_server import TelegramServer

from everword import AsyncMemory, Draft
from everword.testing.doubles import ScriptedLLM


@pytest.mark.checklist("D7")
def test_the_summary_dialogue_and_its_commands(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM(default="Noted.")
        with TelegramServer() as server:
            async with running_bot(server, tmp_path, chat=model):
                alex = Talk(server)
                await alex.ask("/start", "I am Memo")
                question = await alex.ask("/summary", "Where should I keep")
                assert [label for label, _ in question.buttons] == ["SQLite (recommended)", "JSON file"]
                await alex.press(question, "JSON")
                await alex.hear("Send a number from 1 to 500")
                for wrong in ("0", "501", "abc", "1.5"):
                    await alex.ask(wrong, f"{wrong} is no number from 1 to 500")
                await alex.ask("15", "Memory is set up.\nStorage: JSON file\nSummary after: 15 messages")
                assert (tmp_path / "telegram-7.json").exists() is False, "nothing was said yet"
                for number in range(3):
                    await alex.ask(f"On Sunday number {number} I row on the river.", "Noted.")
                await alex.ask("/summary_now", "Summarised 4 messages")
                status = await alex.ask("/summary_status", "Memory: on")
                *lines, summaries = status.text.splitlines()
                assert lines == [
                    "Memory: on",
                    "Storage: JSON file",
                    "Summary after: 15 messages",
                    "Since the last summary: 1 message",
                    "Messages: 6 in all, 4 archived",
                ]
                assert re.fullmatch(r"Active summaries: [1-4], highest level: 1", summaries)
                await alex.ask("/summary_off", "Memory is off")
                await alex.ask("A secret that nobody keeps.", "Noted.")
                await alex.ask("/whatdoyouknow", "Memory is off here")
                off = await alex.ask("/summary_status", "Memory: off")
                assert "Messages: 6 in all" in off.text, "what there was stays, and nothing is added"
                assert "river" not in str(model.requests[-1].messages), "nothing of the memory is used"
                await alex.ask("/summary_on", "Memory is on: JSON file, a summary after 15 messages")
                await alex.ask("Do you know my river?", "Noted.")
                assert "secret" not in str(model.requests[-1].messages)
                assert "row on the river" in str(model.requests[-1].messages)
                await alex.ask("/summary_now", "Summarised")

    run(talk)


@pytest.mark.checklist("D8")
def test_a_restart_in_the_middle_of_the_dialogue(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            alex = Talk(server)
            dana = Talk(server, DANA)
            async with running_bot(server, tmp_path):
                question = await alex.ask("/summary", "Where should I keep")
            await alex.press(question, "JSON")
            async with running_bot(server, tmp_path):
                await alex.hear("Send a number")
            await alex.say("abc")
            async with running_bot(server, tmp_path):
                await alex.hear("abc is no number")
                await alex.press(question, "SQLite")
                await asyncio.to_thread(server.wait, lambda: any("is over" in note for note in server.notes))
                await alex.ask("7", "Summary after: 7 messages")
                await dana.ask("/cancel", "There is no question")
                await dana.ask("/summary", "Where should I keep")
                await dana.ask("/cancel", "Nothing was changed")
            await alex.say("/summary_off")
            async with running_bot(server, tmp_path):
                await alex.hear("Memory is off")
            async with running_bot(server, tmp_path):
                status = await alex.ask("/summary_status", "Memory: off")
                assert "Storage: JSON file\nSummary after: 7 messages" in status.text

    run(talk)


@pytest.mark.checklist("D3")
def test_changing_the_storage_of_200_messages_loses_nothing(tmp_path: Path) -> None:
    async def fill() -> str:
        async with AsyncMemory(str(tmp_path / "telegram-7.db"), space="telegram-7") as memory:
            chat = memory.conversation("chat", user="7")
            turns = [("user", "assistant")[number % 2] for number in range(200)]
            await chat.extend(
                Draft(role, f"Line {number} of the logbook, about reef {number % 9}.", platform_id=f"old {number}")  # type: ignore[arg-type]
                for number, role in enumerate(turns)
            )
            await memory.settle()
            return (await memory.verify()).root

    async def choose(alex: Talk, label: str, threshold: str) -> None:
        question = await alex.ask("/summary", "Where should I keep")
        await alex.press(question, label)
        await alex.hear("Send a number")
        await alex.ask(threshold, "Memory is set up")

    async def root_of(url: str) -> tuple[int, str]:
        async with AsyncMemory(url, space="telegram-7", followers=False) as memory:
            result = await memory.verify()
            assert result.ok
            return result.messages, result.root

    async def talk() -> None:
        root = await fill()
        with TelegramServer() as server:
            alex = Talk(server)
            async with running_bot(server, tmp_path):
                await alex.ask("/summary_status", "Messages: 200 in all")
                await choose(alex, "JSON", "20")
                assert {"telegram-7.db", "telegram-7.json"} & set(os.listdir(tmp_path)) == {"telegram-7.json"}
                await alex.ask("/search logbook reef", "of the logbook")
                status = await alex.ask("/summary_status", "Storage: JSON file")
                assert "Messages: 200 in all" in status.text
            assert await root_of(f"json:{tmp_path / 'telegram-7.json'}") == (200, root)
            async with running_bot(server, tmp_path):
                await choose(alex, "SQLite", "30")
                await alex.ask("/summary_status", "Summary after: 30 messages")
            assert not (tmp_path / "telegram-7.json").exists()
            assert await root_of(str(tmp_path / "telegram-7.db")) == (200, root)

    run(talk)


def test_what_is_known_can_be_told_forgotten_brought_back_exported_and_erased(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            async with running_bot(server, tmp_path):
                alex = Talk(server)
                await alex.ask("/remember I am allergic to nuts", "I will remember: Alex is allergic to nuts.")
                await alex.ask("Memo, remember that my boat is called Gull", "Gull")
                await alex.ask("/whatdoyouknow", "nuts")
                await alex.ask("/forget that I am allergic to nuts", "/undo brings it back")
                known = await alex.ask("/whatdoyouknow", "What I know about you")
                assert "nuts" not in known.text
                await alex.ask("/undo", "It is back: Alex is allergic to nuts.")
                await alex.ask("/undo", "nothing to bring back")
                await alex.ask("/search boat", "you: Memo, remember that my boat is called Gull")
                for empty in ("/remember", "/forget", "/search"):
                    await alex.ask(empty, f"Write it as in: {empty}")
                await alex.ask("/export", "I have sent")
                file = next(sent.file for sent in server.sent if sent.file is not None)
                assert b"my boat is called Gull" in file
                await alex.ask("/digest", "A digest is of a group")
                question = await alex.ask("/erase", "for good")
                await alex.press(question, "Keep")
                await alex.hear("Nothing was erased")
                question = await alex.ask("/erase", "for good")
                await alex.press(question, "Erase")
                again = await alex.hear("Are you sure?")
                await alex.press(again, "Yes")
                await alex.hear("Erased:")
                await alex.ask("/whatdoyouknow", "I know nothing about you yet")
                await alex.ask("/nonsense", "There is no command /nonsense")

    run(talk)
    assert b"Gull" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_without_a_model_it_says_so_once_and_keeps_what_is_said(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            async with running_bot(server, tmp_path):
                alex = Talk(server, ALEX)
                await alex.ask("/start", "No model is set up for me")
                await alex.ask("The anchor is in the shed.", "I have no model to reply with")
                await alex.say("The oars are beside it.")
                await alex.say("", photo=[photo()], caption="The shed from the river")
                await alex.say("", voice={"file_id": "v", "file_unique_id": "v", "duration": 7})
                found = await alex.ask("/search shed", "[photo] The shed from the river")
                assert "The anchor is in the shed." in found.text
                await alex.ask("/summary_status", "Messages: 4 in all")
            assert sum("no model to reply" in sent.text for sent in server.sent) == 1
            assert "/help – all commands" in (await help_text(server, tmp_path))

    run(talk)


def photo() -> dict[str, object]:
    return {"file_id": "p", "file_unique_id": "p", "width": 9, "height": 9}


async def help_text(server: TelegramServer, folder: Path) -> str:
    async with running_bot(server, folder):
        return (await Talk(server).ask("/help@Memo_Bot", "/summary_now")).text
