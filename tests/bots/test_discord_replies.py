"""Replies on Discord: as they are written, long ones, waits that Discord asks for, a model that is away, the start."""

from __future__ import annotations

import asyncio
import logging
from itertools import count
from pathlib import Path

import pytest
from discord_bot import DiscordTalk, running_bot
from discord_server import ALEX, CHANNEL, PATIENCE, TOKEN, DiscordServer, private_channel
from telegram_bot import Waits

from everword import ConfigError, ModelBusy
from everword.bots.discord import DiscordOptions, DiscordPlatform
from everword.bots.memories import MemoryParts
from everword.bots.service import BotOptions, log_to_stderr, run_bot
from everword.config import Secret
from everword.testing.doubles import ScriptedLLM


def test_a_reply_is_shown_as_it_is_written_and_a_long_one_in_parts(tmp_path: Path) -> None:
    async def talk() -> None:
        long_reply = " ".join(f"Sentence {number} about the tide." for number in range(150))
        model = ScriptedLLM(["The tide is out until noon.", long_reply], chunk=200)
        seconds = count()
        async with DiscordServer() as server:
            async with running_bot(server, tmp_path, chat=model, now=lambda: next(seconds) / 3):
                alex = DiscordTalk(server, channel=None)
                short = await alex.ask("When is the tide out?", "The tide is out until noon.")
                assert short.edits == 0
                await alex.say("Tell me all about it.")
                await alex.hear("Sentence 149 about the tide.")
            parts = [sent for sent in server.sent if sent.text.startswith("Sentence")]
            assert len(parts) == 3
            assert " ".join(sent.text for sent in parts) == long_reply
            assert all(sent.text.endswith(".") for sent in parts), "cut where a sentence ends"
            assert parts[0].edits >= 2, "shown as it was written"

    asyncio.run(talk())


def test_edits_keep_to_the_pace_that_discord_allows(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM(["word " * 100], chunk=5)
        async with DiscordServer() as server:
            async with running_bot(server, tmp_path, chat=model, now=lambda: 0.0):
                sent = await DiscordTalk(server, channel=None).ask("Say it.", "word word")
            assert sent.edits == 0, "no time has passed: it is sent once, at the end"

    asyncio.run(talk())


def test_when_discord_asks_to_wait_nothing_is_lost_or_said_twice(tmp_path: Path) -> None:
    async def talk() -> None:
        waits = Waits()
        model = ScriptedLLM(default="Aye.")
        call = f"POST channels/{CHANNEL}/messages"
        async with DiscordServer() as server:
            async with running_bot(server, tmp_path, chat=model, pause=waits):
                alex = DiscordTalk(server)
                server.refuse(call, retry_after=0.01)
                await alex.ask("Memo, are you there?", "Aye.")
                assert waits.seconds == [], "the library waits where it is short"
                server.refuse(call, retry_after=40.0)
                server.refuse(call, retry_after=35.0)
                await alex.ask("Memo, and now?", "Aye.")
            assert waits.seconds == [40.0, 35.0]
            assert [sent.text for sent in server.sent] == ["Aye.", "Aye."]

    asyncio.run(talk())


def test_a_model_that_is_away_is_said_and_the_message_is_kept(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM([ModelBusy("the model is busy")], default="I am back.")
        async with DiscordServer() as server, running_bot(server, tmp_path, chat=model):
            alex = DiscordTalk(server, channel=None)
            await alex.ask("Where is the anchor?", "the model cannot be reached")
            await alex.ask("And now?", "I am back.")
            assert "Where is the anchor?" in str(model.requests[-1].messages)

    asyncio.run(talk())


def test_the_program_runs_until_it_is_told_to_stop_and_shows_no_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[str] = []

    async def talk() -> None:
        stop, started = asyncio.Event(), asyncio.Event()

        def report(line: str) -> None:
            lines.append(line)
            if len(lines) == 3:
                started.set()

        options = BotOptions(tmp_path / "memo", memories=MemoryParts(settings={"telemetry": "off"}))
        async with DiscordServer() as server:
            running = asyncio.create_task(
                run_bot(DiscordPlatform(DiscordOptions(Secret(TOKEN))), options, report, stop)
            )
            await asyncio.wait_for(started.wait(), PATIENCE)
            alex = DiscordTalk(server, channel=None)
            await alex.ask("The lamp is in the drawer.", "no model to reply with")
            stop.set()
            await running

    with log_to_stderr():
        logging.getLogger("discord").setLevel(logging.DEBUG)
        asyncio.run(talk())
    assert lines[0].startswith("Memo (@Memo) is on Discord; its memory is in ")
    assert lines[1].startswith("replies: none. It remembers, and answers memory commands")
    assert lines[2] == "servers: 1; it sees every message of the channels that it may read"
    assert lines[3].startswith("stopping")
    assert (tmp_path / "memo" / f"discord-{private_channel(ALEX)}.db").exists()
    shown = capsys.readouterr()
    assert TOKEN not in shown.err + shown.out


def test_a_token_or_an_intent_that_discord_refuses_is_named(tmp_path: Path) -> None:
    async def talk() -> None:
        wrong = DiscordPlatform(DiscordOptions(Secret("wrong-and-secret")))
        async with DiscordServer() as server:
            with pytest.raises(ConfigError, match="refuses this token") as failure:
                async with wrong.connect():
                    pass
            assert "secret" not in repr(failure.value) + repr(failure.value.__cause__) + repr(wrong)
            server.refuses_intent = True
            with pytest.raises(ConfigError, match="Message Content Intent"):
                async with running_bot(server, tmp_path):
                    pass

    asyncio.run(talk())
