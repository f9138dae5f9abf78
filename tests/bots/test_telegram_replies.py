"""Replies on Telegram: as they are written, long ones, waits that Telegram asks for, a model that is away."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from telegram_bot import ALEX, Talk, Waits, run, running_bot
from telegram_server import PATIENCE, TOKEN, TelegramServer

from everword import AsyncMemory, ConfigError, ModelBusy
from everword.bots.bot import Bot
from everword.bots.memories import MemoryParts
from everword.bots.platforms import Place
from everword.bots.service import BotOptions, log_to_stderr, run_bot
from everword.bots.telegram import (
    MOST_BYTES,
    PATH,
    TelegramOptions,
    TelegramPlatform,
    Webhook,
    open_webhook_socket,
    serve_webhook,
)
from everword.config import Secret
from everword.ports import Request
from everword.testing.doubles import FrozenClock, ScriptedLLM

# The library warns of its own plans each time that Telegram asks to wait.
pytestmark = pytest.mark.filterwarnings("ignore::telegram.warnings.PTBDeprecationWarning")


async def last_reply(folder: Path) -> str:
    async with AsyncMemory(str(folder / "telegram-7.db"), space="telegram-7", followers=False) as memory:
        return (await memory.conversation("chat", user="7").history())[-1].content


def test_a_reply_is_shown_as_it_is_written_and_a_long_one_in_parts(tmp_path: Path) -> None:
    async def talk() -> None:
        long_reply = " ".join(f"Sentence {number} about the tide." for number in range(400))
        model = ScriptedLLM(["The tide is out until noon.", long_reply], chunk=200)
        seconds = count()
        with TelegramServer() as server:
            async with running_bot(server, tmp_path, chat=model, now=lambda: next(seconds) / 5):
                alex = Talk(server)
                short = await alex.ask("When is the tide out?", "The tide is out until noon.")
                assert short.edits == 0
                await alex.say("Tell me all about it.")
                await alex.hear("Sentence 399 about the tide.")
            parts = [sent for sent in server.sent if sent.text.startswith("Sentence")]
            assert len(parts) == 3
            assert " ".join(sent.text for sent in parts) == long_reply
            assert all(sent.text.endswith(".") for sent in parts), "cut where a sentence ends"
            assert parts[0].edits >= 3, "shown as it was written"
            assert await last_reply(tmp_path) == long_reply

    run(talk)


def test_edits_keep_to_the_pace_that_telegram_allows(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM(["word " * 100], chunk=5)
        with TelegramServer() as server:
            async with running_bot(server, tmp_path, chat=model, now=lambda: 0.0):
                sent = await Talk(server).ask("Say it.", "word word")
            assert sent.text == ("word " * 100).strip()
            assert sent.edits == 0, "no time has passed: it is sent once, at the end"

    run(talk)


def test_when_telegram_asks_to_wait_nothing_is_lost_or_said_twice(tmp_path: Path) -> None:
    async def talk() -> None:
        waits = Waits()
        seconds = count()
        model = ScriptedLLM(["one two three four five six"], chunk=4)
        with TelegramServer() as server:
            async with running_bot(server, tmp_path, chat=model, pause=waits, now=lambda: float(next(seconds))):
                alex = Talk(server)
                server.refuse("sendMessage", retry_after=17)
                server.refuse("sendMessage", retry_after=3)
                await alex.ask("/start", "I am Memo")
                assert waits.seconds == [17.0, 3.0]
                server.refuse("editMessageText", retry_after=5)
                await alex.ask("Count.", "one two three four five six")
            assert [sent.text for sent in server.sent][1:] == ["one two three four five six"]
            assert await last_reply(tmp_path) == "one two three four five six"

    run(talk)


def test_a_reply_is_whole_though_the_message_that_shows_it_is_deleted(tmp_path: Path) -> None:
    async def talk() -> None:
        seconds = count()
        model = ScriptedLLM(["one two three four five six"], chunk=4)
        with TelegramServer() as server:
            for _ in range(12):
                server.refuse("editMessageText", 400, "Bad Request: message to edit not found")
            async with running_bot(server, tmp_path, chat=model, now=lambda: float(next(seconds))):
                await Talk(server).ask("Count.", "one two three four five six")
            assert await last_reply(tmp_path) == "one two three four five six"

    run(talk)


def test_a_model_that_is_away_is_said_and_the_message_is_kept(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM([ModelBusy("the model is busy")], default="I am back.")
        with TelegramServer() as server:
            async with running_bot(server, tmp_path, chat=model):
                alex = Talk(server)
                await alex.ask("Where is the anchor?", "the model cannot be reached")
                await alex.ask("And now?", "I am back.")
                assert "Where is the anchor?" in str(model.requests[-1].messages)

    run(talk)


@pytest.mark.checklist("D9")
def test_a_summary_that_fails_is_told_once_and_tried_again(tmp_path: Path) -> None:
    async def talk() -> None:
        memory = AbsentModel()
        clock = FrozenClock()
        options: Any = {"chat": ScriptedLLM(default="Aye."), "memory": memory, "clock": clock, "batch_seconds": 0}
        with TelegramServer() as server:
            alex = Talk(server)
            async with running_bot(server, tmp_path, **options, window_user_messages=5) as bot:
                place = Place("telegram", "7", is_private=True)

                async def talk_until(is_told: bool) -> None:
                    """Let summaries be tried, and say something, until it is known whether that failed."""
                    for number in range(12):
                        await alex.ask(f"Boat {number} has a red sail and a broken mast.", "Aye.")
                        async with bot.tools.pool.use(place) as kept:
                            await kept.settle()
                        if (await bot.tools.settings(place)).told_failure is is_told:
                            return
                    raise AssertionError("it was not noticed")

                await talk_until(True)
                await alex.ask("Boat 20 leaks.", "Aye.")
                await alex.ask("/summary_status", "Memory: on")
                assert told(server) == 1, "told once"
                memory.is_away = False
                clock.advance(timedelta(hours=3))
                await talk_until(False)
                assert told(server) == 1
                memory.is_away = True
                clock.advance(timedelta(hours=3))
                await talk_until(True)
                await alex.ask("/summary_status", "Memory: on")
                assert told(server) == 2, "it worked in between"

    run(talk)


class AbsentModel(ScriptedLLM):
    """A model for memory work that is away, until it is not."""

    def __init__(self) -> None:
        super().__init__(default=self.answer)
        self.is_away = True

    def answer(self, request: Request) -> str:
        if self.is_away:
            raise ModelBusy("the model is busy")
        return "They talked about boats."


def told(server: TelegramServer) -> int:
    return sum("nothing is lost" in sent.text for sent in server.sent)


def test_the_token_is_nowhere_to_be_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def refused(server: TelegramServer) -> None:
        options = TelegramOptions(Secret("123:wrong-and-secret"), base_url=f"{server.address}/bot")
        platform = TelegramPlatform(options)
        assert "secret" not in repr(platform) + repr(options)
        with pytest.raises(ConfigError, match="refuses this token") as failure:
            async with platform.connect():
                pass
        assert "secret" not in repr(failure.value) + repr(failure.value.__cause__)

    async def talk() -> None:
        with TelegramServer() as server:
            await refused(server)
            with log_to_stderr():
                logging.getLogger("telegram").setLevel(logging.DEBUG)
                logging.getLogger("httpx").setLevel(logging.DEBUG)
                server.refuse("getUpdates", 502, f"Bad Gateway for {TOKEN}")
                async with running_bot(server, tmp_path):
                    await Talk(server).ask("/start", "I am Memo")

    run(talk)
    shown = capsys.readouterr()
    assert "/bot***/getMe" in shown.err, "it would have been shown"
    assert TOKEN not in shown.err + shown.out
    assert TOKEN.split(":")[1] not in shown.err + shown.out


def test_the_program_ends_when_telegram_no_longer_takes_the_token(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            server.refuse("getUpdates", 401, "Unauthorized")
            telegram = TelegramOptions(Secret(TOKEN), base_url=f"{server.address}/bot", poll_seconds=1)
            platform = TelegramPlatform(telegram)
            options = BotOptions(tmp_path, memories=MemoryParts(settings={"telemetry": "off"}))
            lines: list[str] = []
            with pytest.raises(ConfigError, match="refuses this token"):
                await asyncio.wait_for(run_bot(platform, options, lines.append, asyncio.Event()), PATIENCE)

    run(talk)


def test_updates_come_by_a_webhook_too(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server, open_webhook_socket("127.0.0.1", 0) as listener:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with running_bot(server, tmp_path, polls=False) as bot:
                platform = bot_platform(bot)
                async with serve_webhook(platform, "a secret", listener):
                    await platform.take_webhook(address + PATH, "a secret")
                    alex = Talk(server, ALEX)
                    await alex.say("/start")
                    assert await asyncio.to_thread(server.call_webhook, "a secret") == [200]
                    await alex.hear("I am Memo")
                    await alex.say("/help")
                    assert await asyncio.to_thread(server.call_webhook, "a guess") == [403]
                    for path, body, status in (("/", b"{}", 404), (PATH, b"no json", 400), (PATH, b"[]", 400)):
                        sent = await asyncio.to_thread(server.call_address, address + path, body, "a secret")
                        assert sent == status
                    assert server.webhook["secret_token"] == "a secret"
            assert len(server.sent) == 1

    run(talk)


def test_the_program_takes_updates_by_a_webhook_and_nothing_else_at_its_address(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server, open_webhook_socket("127.0.0.1", 0) as listener:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            webhook = Webhook(f"{address}/", listener)
            platform = TelegramPlatform(
                TelegramOptions(Secret(TOKEN), base_url=f"{server.address}/bot", webhook=webhook)
            )
            options = BotOptions(tmp_path, memories=MemoryParts(settings={"telemetry": "off"}))
            lines: list[str] = []
            stop = asyncio.Event()
            program = asyncio.create_task(run_bot(platform, options, lines.append, stop))
            await asyncio.to_thread(server.wait, lambda: "url" in server.webhook, "for the webhook")
            assert server.webhook["url"] == address + PATH
            secret = server.webhook["secret_token"]
            alex = Talk(server, ALEX)
            await alex.say("/start")
            assert await asyncio.to_thread(server.call_webhook, secret) == [200]
            await alex.hear("I am Memo")
            too_long = b" " * (MOST_BYTES + 1)
            assert await asyncio.to_thread(server.call_address, address + PATH, too_long, secret) == 413
            async with httpx2.AsyncClient() as browser:
                assert (await browser.get(address + PATH)).status_code == 405
            stop.set()
            await asyncio.wait_for(program, PATIENCE)
            assert "getUpdates" not in [method for method, _ in server.calls]
            assert lines[-1] == "stopping: what has come in is finished first"

    run(talk)


def bot_platform(bot: Bot) -> TelegramPlatform:
    platform = bot.tools.delivery.platform
    assert isinstance(platform, TelegramPlatform)
    return platform
