"""Slash commands on Discord: their options, what is offered while one types, answers that one person alone sees."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from discord_bot import DiscordTalk, running_bot
from discord_server import ALEX, CHANNEL, DANA, GUILD, NOOR, START, DiscordServer, private_channel

from everword.bots.platforms import BotMessage, Place
from everword.bots.texts import COMMANDS
from everword.errors import PlatformRefused
from everword.testing.doubles import FrozenClock, ScriptedLLM

PAGE = Path(__file__).parents[2] / "docs" / "bots.md"
OTHER_DANA = (10, "Dana Ortiz")


@pytest.mark.checklist("D7")
def test_the_summary_dialogue_and_its_commands(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server:
            alex = DiscordTalk(server, channel=None)
            async with running_bot(server, tmp_path, chat=ScriptedLLM(default="Noted.")):
                await alex.call("start", "I am Memo")
                question = await alex.call("summary", "Where should I keep")
                assert [label for label, _ in question.buttons] == ["SQLite (recommended)", "JSON file"]
            async with running_bot(server, tmp_path, chat=ScriptedLLM(default="Noted.")):
                await alex.press(question, "JSON", "Send a number from 1 to 500")
                await alex.ask("501", "501 is no number from 1 to 500")
                await alex.ask("15", "Storage: JSON file\nSummary after: 15 messages")
                for number in range(3):
                    await alex.ask(f"On Sunday number {number} I row on the river.", "Noted.")
                await alex.call("summary_now", "Summarised 4 messages")
                await alex.call("summary_status", "Messages: 6 in all, 4 archived")
                await alex.call("summary_off", "Memory is off")
                await alex.call("whatdoyouknow", "Memory is off here")
                await alex.call("summary_on", "Memory is on: JSON file")
                await alex.call(
                    "summary", "Storage: SQLite\nSummary after: 30 messages", storage="sqlite", threshold=30
                )
                await alex.call("summary", "Storage: SQLite\nSummary after: 40 messages", threshold=40)
                await alex.call("summary", "Send a number", storage="json")
                await alex.call("cancel", "Nothing was changed")
            assert (tmp_path / f"discord-{private_channel(ALEX)}.db").exists()
            assert {command["name"] for command in server.commands} == set(COMMANDS)
            for command in server.commands:  # in servers and in the bot's own private chats, and nowhere else
                assert (command["contexts"], command["integration_types"]) == ([0, 1], [0])

    asyncio.run(talk())


def test_private_answers_are_ephemeral_and_values_are_offered(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server:
            alex, dana, other = (DiscordTalk(server, person) for person in (ALEX, DANA, OTHER_DANA))
            async with running_bot(server, tmp_path):
                await dana.say("I like green tea.")
                await other.say("I like black coffee.")
                public = await alex.call("remember", "I will remember: Alex is left-handed.", text="I am left-handed")
                assert not public.is_private
                known = await alex.call("whatdoyouknow", "left-handed")
                assert known.is_private
                assert await server.type_option("whatdoyouknow", "name", "dan") == ["Dana Kim", "Dana Ortiz"]
                assert await server.type_option("whatdoyouknow", "name", "ortiz") == ["Dana Ortiz"]
                assert await server.type_option("whatdoyouknow", "name", "dan", channel=None) == []
                assert await server.type_option("forget", "text", "left") == ["Alex is left-handed."]
                assert await server.type_option("forget", "text", "left", user=DANA) == []
                assert await server.type_option("forget", "text", "left", channel=601) == [], "not said there"
                await alex.call("forget", "Forgotten", text="Alex is left-handed.")
                await alex.call("undo", "It is back")
                question = await alex.ask("Memo, remember that Dana plays the cello", "Whom do you mean?")
                note = await dana.press(question, "Dana Kim", "not for you")
                assert note.is_private
                answer = await alex.press(question, "Dana Ortiz", "Dana Ortiz plays the cello")
                assert not answer.is_private
                about = await alex.ask("<@900> what do you know about <@10>?", "What I know about Dana Ortiz")
                assert "cello" in about.text

    asyncio.run(talk())


def test_who_may_do_what_about_whom(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server:
            server.admins.add(ALEX[0])
            alex, dana, noor = (DiscordTalk(server, person) for person in (ALEX, DANA, NOOR))
            async with running_bot(server, tmp_path) as bot:
                await dana.say("I live in Porto.")
                await noor.say("I painted the hull blue today.")
                for command in ("summary", "summary_off", "summary_now", "digest"):
                    answer = await dana.call(command, "Only those who run this group")
                    assert answer.is_private
                for command in ("erase", "export"):
                    await dana.call(command, "Only those who run this group", everybody=True)
                await alex.call(
                    "digest", "I will send it weekly tue 08:30", period="weekly", time="08:30", weekday="tue"
                )
                await alex.call("digest", "/digest weekly mon 08:30", period="daily", time="soon")
                await alex.call("digest", "no digests by myself", period="off")
                await noor.call("export", "to your private chat with me")
                file = next(sent for sent in server.sent if sent.file is not None)
                assert (file.channel, b"Porto" in (file.file or b"")) == (private_channel(NOOR), False)
                assert b"painted the hull" in (file.file or b"")
                server.refuse(f"POST channels/{private_channel(NOOR)}/messages", 413, code=40005)
                await noor.call("export", "I could not send the file")
                server.refuse(f"POST channels/{private_channel(DANA)}/messages", 403, code=50007)
                await dana.call("export", "open a private chat with me")
                question = await dana.call("erase", "all that you said here")
                assert question.is_private
                question = await dana.press(question, "Erase", "Are you sure")
                answer = await dana.press(question, "Yes", "Erased: 1 message")
                assert answer.is_private
                await noor.call("search", "I found nothing", text="Porto")
                question = await alex.call("erase", "everything that I keep of this chat", everybody=True)
                await alex.press(await alex.press(question, "Erase", "Are you sure"), "Yes", "is erased")
                assert not (tmp_path / f"discord-{GUILD}.db").exists()
                over = BotMessage("Only for Alex.", is_private=True, answers="1")
                with pytest.raises(PlatformRefused):
                    await bot.tools.delivery.send(Place("discord", str(GUILD), False, str(CHANNEL)), over)
                assert all(sent.text != over.text for sent in server.sent), "what is for one is never shown to all"

    asyncio.run(talk())


def test_a_digest_on_request_and_on_a_schedule(tmp_path: Path) -> None:
    async def talk() -> None:
        clock = FrozenClock(datetime.fromtimestamp(START, UTC) + timedelta(minutes=5))
        async with DiscordServer() as server:
            server.admins.add(ALEX[0])
            alex, dana, other = DiscordTalk(server), DiscordTalk(server, DANA), DiscordTalk(server, DANA, 601)
            async with running_bot(server, tmp_path, clock=clock) as bot:
                await alex.say("I painted the hull blue today.")
                await other.say("I sold two old oars to the club in Faro.")
                digest = await alex.call("digest", "Today:")
                assert digest.is_private, "it is of all channels, and not all can read them all"
                assert "hull" in digest.text
                assert "Dana Kim: " in digest.text
                await dana.call("digest", "Only those who run this group")
                await alex.call("digest", "I will send it daily 00:30", period="daily", time="00:30")
                alex.seen = len(server.sent)
                assert await bot.commands.send_due_digests() == 1, "it is past half past midnight"
                sent = await alex.hear("Yesterday:")
                assert (sent.channel, sent.is_private) == (CHANNEL, False)
                assert await bot.commands.send_due_digests() == 0, "once a day"

    asyncio.run(talk())


def test_the_screen_in_the_docs(tmp_path: Path) -> None:
    """docs/bots.md shows what is said here."""

    async def talk() -> None:
        async with DiscordServer() as server:
            server.admins.add(ALEX[0])
            alex = DiscordTalk(server)
            async with running_bot(server, tmp_path):
                await alex.call("summary", "Memory is set up", storage="json", threshold=20)
                await alex.call("remember", "I will remember", text="I am left-handed")
                await alex.call("forget", "Forgotten", text="Alex is left-handed.")
                await alex.call("undo", "It is back")
                question = await alex.call("erase", "This removes")
                question = await alex.press(question, "Erase", "Are you sure")
                await alex.press(question, "No, keep it", "Nothing was erased")
            screen = "\n".join(alex.lines)
            assert f"```text\n{screen}\n```\n" in PAGE.read_text(encoding="utf-8"), screen

    asyncio.run(talk())
