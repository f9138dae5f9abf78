"""D10 in a chat with a bot: its disk takes nothing for a while. The chat is told once, all that is said is in contexts,
and it is told when everything is written. The bot's own settings are on the same disk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import discord_bot
import pytest
from discord_bot import DiscordTalk
from discord_server import CHANNEL, GUILD, DiscordServer
from outages import small_disk, with_full_disk, with_full_file, with_read_only_file, without_file, without_folder
from telegram_bot import ALEX, DANA, GROUP, NOOR, Talk, run, running_bot
from telegram_server import TelegramServer

from everword import AsyncMemory, Message, MessagesLost
from everword.bots.bot import Bot
from everword.bots.platforms import Place
from everword.testing.doubles import ScriptedLLM

BEFORE = "The spare key hangs behind the barometer."
LONG = f"It goes on{'…' * 4_000}"  # no page of a file that may not grow has room for it
SAID = [f"Parcel number{number} weighs {number} grams." for number in range(12)]


def warnings(sent: list[Any]) -> list[str]:
    """What was said about the disk, in order."""
    return [message.text for message in sent if "my disk" in message.text.lower()]


async def store_of(bot: Bot, place: Place) -> Any:
    async with bot.tools.pool.use(place) as memory:
        return memory.runtime.parts.store


async def history_of(file: Path, conversation: str) -> list[Message]:
    async with AsyncMemory(str(file), space=file.stem, followers=False) as memory:
        assert (await memory.verify()).ok
        return await memory.conversation(conversation).history()


@contextmanager
def own_disk(folder: Path) -> Iterator[bool]:
    """A folder on a small disk of its own, if this machine lets us make one."""
    folder.mkdir()
    with small_disk(folder) as is_small:
        yield is_small


@pytest.mark.checklist("D10")
def test_a_full_disk_is_told_once_and_nothing_is_lost_on_telegram(tmp_path: Path) -> None:
    async def talk(folder: Path, is_small: bool) -> None:
        model = ScriptedLLM(default="Aye.")
        with TelegramServer() as server, ExitStack() as outage:
            alex, dana = Talk(server, ALEX, GROUP), Talk(server, DANA, GROUP)
            async with running_bot(server, folder, chat=model) as bot:
                await alex.ask(f"Memo, {BEFORE}", "Aye.")
                store = await store_of(bot, Place("telegram", str(GROUP), is_private=False))
                outage.enter_context(with_full_disk(store) if is_small else with_full_file(store))
                await alex.ask("Memo, do you hear me?", "Aye.")
                await dana.say("I am new here, and I bring the cake.")
                for text in SAID:
                    await alex.say(text)
                await alex.ask("Memo, what weighs how much, and who brings what?", "Aye.")
                shown = str(model.requests[-1].messages)
                assert all(text in shown for text in (BEFORE, "I bring the cake.", *SAID)), (
                    "all of it is in the context"
                )
                assert "Dana Kim: I am new here" in shown
                await alex.say(LONG)
                await alex.ask("/remember that I steer", "I could not do that: my store refused it")
                if not is_small:  # where no disk can be mounted, a link into the void takes no new file
                    (folder / f"telegram-{NOOR[0]}.db").symlink_to(tmp_path / "void" / "memory.db")
                await Talk(server, NOOR).ask("Hello, Memo.", "I could not keep your message")  # it has no file yet
                assert len(warnings(server.sent)) == 1, "warned once"
                outage.close()
                await alex.ask("Memo, and now?", "Aye.")
                await alex.hear("My disk takes messages again")
            begun, over = warnings(server.sent)
            assert begun.startswith("I cannot write to my disk now")
            assert over.startswith("My disk takes messages again: ")
            kept = await history_of(folder / f"telegram-{GROUP}.db", "chat")
            said = [message.content for message in kept if message.role == "user" and "remember" not in message.content]
            assert said == [
                f"Memo, {BEFORE}",
                "Memo, do you hear me?",
                "I am new here, and I bring the cake.",
                *SAID,
                "Memo, what weighs how much, and who brings what?",
                LONG,
                "Memo, and now?",
            ]
            assert sum(message.content == "Aye." for message in kept) == 4

    with own_disk(tmp_path / "disk") as is_small:
        run(lambda: talk(tmp_path / "disk", is_small))


@pytest.mark.checklist("D10")
def test_a_read_only_file_is_told_in_each_channel_once_and_deletions_follow_later_on_discord(
    tmp_path: Path,
) -> None:
    async def talk() -> None:
        model = ScriptedLLM(default="Aye.")
        async with DiscordServer() as server:
            alex, other = DiscordTalk(server), DiscordTalk(server, channel=601)
            async with discord_bot.running_bot(server, tmp_path, chat=model) as bot:
                secret = await alex.say("The code of the gate is 4711.")
                typo = await alex.say("We meet at sevn.")
                await alex.ask(f"Memo, {BEFORE}", "Aye.")
                store = await store_of(bot, Place("discord", str(GUILD), False, str(CHANNEL)))
                with with_read_only_file(store):
                    for text in SAID[:3]:
                        await alex.say(text)
                    await alex.hear("I cannot write to my disk now")
                    await other.ask("The cleat is loose.", "I cannot write to my disk now")
                    await server.delete(secret)
                    await server.edit(typo, "We meet at seven.")
                    await alex.ask("Memo, what weighs how much?", "Aye.")
                    shown = str(model.requests[-1].messages)
                    assert all(text in shown for text in (BEFORE, *SAID[:3]))
                    assert len(warnings(server.sent)) == 2, "once in each channel"
                alex.seen = other.seen = len(server.sent)
                await alex.say("Memo, and now?")
                await alex.hear("Aye.")
                await server.wait(lambda: len(warnings(server.sent)) == 4, "for the end")
            told = [sent for sent in server.sent if "takes messages again" in sent.text]
            assert sorted(sent.channel for sent in told) == [CHANNEL, 601]
            file = tmp_path / f"discord-{GUILD}.db"
            contents = [message.content for message in await history_of(file, str(CHANNEL)) if message.role == "user"]
            expected = [
                "We meet at seven.",
                f"Memo, {BEFORE}",
                *SAID[:3],
                "Memo, what weighs how much?",
                "Memo, and now?",
            ]
            assert contents == expected, "also what was deleted and edited meanwhile"
            assert [message.content for message in await history_of(file, "601")] == ["The cleat is loose."]

    asyncio.run(talk())


@pytest.mark.checklist("D10")
def test_a_disk_that_is_gone_is_told_once_and_nothing_is_lost(tmp_path: Path) -> None:
    """The folder is somewhere else for a while, with the memory of the chat and the bot's own settings."""

    async def talk() -> None:
        folder = tmp_path / "memo"
        model = ScriptedLLM(default="Aye.")
        with TelegramServer() as server:
            alex = Talk(server)
            async with running_bot(server, folder, chat=model) as bot:
                await alex.ask(BEFORE, "Aye.")
                with without_folder(await store_of(bot, Place("telegram", "7", True))):
                    for text in SAID[:4]:
                        await alex.ask(text, "Aye.")
                    shown = str(model.requests[-1].messages)
                    assert all(text in shown for text in (BEFORE, *SAID[:4]))
                    assert len(warnings(server.sent)) == 1
                await alex.ask("And now?", "Aye.")
                await alex.hear("My disk takes messages again")
            assert len(warnings(server.sent)) == 2
            kept = await history_of(folder / "telegram-7.db", "chat")
            assert [message.content for message in kept if message.role == "user"] == [BEFORE, *SAID[:4], "And now?"]
            assert sum("could not" in sent.text for sent in server.sent) == 0

    run(talk)


@pytest.mark.checklist("D10")
def test_a_chat_that_cannot_be_written_at_the_end_does_not_cost_another_its_messages(tmp_path: Path) -> None:
    """Two chats hold messages when the bot ends; the disk takes those of one alone. The other's loss is named."""

    async def talk() -> None:
        with TelegramServer() as server, ExitStack() as outage, ExitStack() as lasting_outage:
            alex, dana = Talk(server, ALEX), Talk(server, DANA)
            async with running_bot(server, tmp_path) as bot:
                for person in (alex, dana):
                    await person.ask(BEFORE, "no model to reply with")
                lasting_outage.enter_context(without_file(await store_of(bot, Place("telegram", "7", True))))
                outage.enter_context(with_read_only_file(await store_of(bot, Place("telegram", "8", True))))
                for person in (alex, dana):
                    await person.ask(SAID[0], "I cannot write to my disk now")
                outage.close()

    with pytest.raises(MessagesLost, match=r"^1 message held in memory could not be written: lost$"):
        run(talk)

    async def contents_of(id: int) -> list[str]:
        return [message.content for message in await history_of(tmp_path / f"telegram-{id}.db", "chat")]

    assert asyncio.run(contents_of(8)) == [BEFORE, SAID[0]]
    assert asyncio.run(contents_of(7)) == [BEFORE]
