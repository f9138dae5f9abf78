"""The bot in a server on Discord, over the real gateway protocol: what is kept, edited, deleted, answered."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Literal

import discord
import pytest
from discord.backoff import ExponentialBackoff
from discord_bot import DiscordTalk, running_bot
from discord_server import ALEX, CHANNEL, DANA, GUILD, NOOR, DiscordServer, private_channel
from hostile_names import HOSTILE_NAMES

from everword import AsyncMemory, Message
from everword.testing.doubles import ScriptedLLM

BASE = f"discord-{GUILD}"
OTHER_CHANNEL = 601


async def messages_of(folder: Path, conversation: str = str(CHANNEL), base: str = BASE) -> list[Message]:
    async with AsyncMemory(str(folder / f"{base}.db"), space=base, followers=False) as memory:
        return await memory.conversation(conversation).history(versions=True)


def test_a_channel_with_three_people(tmp_path: Path) -> None:
    """It keeps all that is said, and replies only when it is addressed: by mention, by reply, by name."""

    async def talk() -> None:
        model = ScriptedLLM(default="Ahoy.")
        async with DiscordServer() as server:
            alex, dana, noor = (DiscordTalk(server, person) for person in (ALEX, DANA, NOOR))
            async with running_bot(server, tmp_path, chat=model):
                await alex.say("The regatta is on the ninth of May.")
                await dana.say("I bring the spare oars.")
                reply = await noor.ask("<@900> who brings the oars?", "Ahoy.")
                await alex.ask("And the cake?", "Ahoy.", reply_to=reply)
                await alex.say("Nobody asked the bot this.")
                await dana.ask("Memo, when is the regatta?", "Ahoy.")
            assert len(model.requests) == 3
            shown = str(model.requests[0].messages)
            assert "spare oars" in shown
            assert "Dana Kim" in shown
            assert reply.reply_to is not None
            kept = [message for message in await messages_of(tmp_path) if message.role == "user"]
            assert [message.author for message in kept] == ["7", "8", "9", "7", "7", "8"]
            assert kept[1].metadata["name"] == "Dana Kim"
            assert kept[3].reply_to == str(reply.id)
            assert kept[2].content == "@Memo who brings the oars?"
            assert server.count("POST channels/600/typing") >= 3

    asyncio.run(talk())


@pytest.mark.checklist("G9")
def test_no_name_costs_a_message(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server, running_bot(server, tmp_path, chat=ScriptedLLM(default="Ahoy.")):
            for number, name in enumerate(HOSTILE_NAMES):
                await DiscordTalk(server, (100 + number, name)).say(f"I am number {number}.")
            await DiscordTalk(server).ask("<@900> hello", "Ahoy.")
        kept = [message.content for message in await messages_of(tmp_path) if message.role == "user"]
        assert kept[:-1] == [f"I am number {number}." for number in range(len(HOSTILE_NAMES))]

    asyncio.run(talk())


def test_edits_are_new_versions_and_what_is_deleted_goes(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server:
            alex, alone = DiscordTalk(server), DiscordTalk(server, channel=None)
            async with running_bot(server, tmp_path):
                first = await alex.say("We meet at seven.")
                gone = await alex.say("The key is under the blue stone.")
                others = [await alex.say(f"Buoy {number} is adrift.") for number in range(2)]
                await server.edit(first, "We meet at seven.", is_preview=True)
                await server.edit(first, "We meet at eight.")
                await server.edit(77, "A message from before it came.")
                await server.delete(gone)
                await server.delete(*others)
                await server.delete(4_242)
                await alex.call("search", "We meet at eight.", text="when we meet")
                await alex.call("search", "I found nothing", text="blue stone")
                secret = await alone.say("I hide the key in the boathouse.")
                await alone.hear("no model to reply with")
                await server.delete(secret, channel=None)
                await alone.call("search", "I found nothing", text="boathouse")
            history = await messages_of(tmp_path)
            contents = [message.content for message in history if not message.erased]
            assert contents == ["We meet at eight.", "A message from before it came."]
            assert len(history[0].versions) == 1, "a preview of a link is no edit"
            base = f"discord-{private_channel(ALEX)}"
            assert "boathouse" not in str(await messages_of(tmp_path, "chat", base))

    asyncio.run(talk())


def test_what_comes_twice_is_kept_and_answered_once_and_bots_are_not_answered(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM(default="Aye.")
        other_bot = {"id": "33", "username": "weather", "discriminator": "0", "avatar": None, "bot": True}
        async with DiscordServer() as server:
            alex = DiscordTalk(server)
            async with running_bot(server, tmp_path, chat=model):
                await alex.ask("Memo, is that early?", "Aye.", deliveries=2)
                await alex.ask("Memo, remember that I row at bow", "I will remember", deliveries=2)
                await alex.call("remember", "I will remember", text="I steer on Fridays", deliveries=2)
                await alex.say("Memo, a storm is coming.", author=other_bot)
                await alex.say("Welcome!", type=7)
                await alex.ask("Memo, is that late?", "Aye.")
            contents = [message.content for message in await messages_of(tmp_path) if message.role == "user"]
            assert contents.count("Memo, is that early?") == 1
            assert contents.count("Memo, remember that I row at bow") == 1
            assert "Memo, a storm is coming." in contents
            assert "Welcome!" not in contents
            assert len(model.requests) == 2
            assert sum("steer" in sent.text for sent in server.sent) == 1

    asyncio.run(talk())


def test_threads_are_conversations_of_their_own_and_files_are_placeholders(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server:
            alex, thread = DiscordTalk(server), DiscordTalk(server, channel=OTHER_CHANNEL)
            async with running_bot(server, tmp_path):
                photo = attachment("boat.png", "image/png")
                voice = attachment("voice.ogg", "audio/ogg") | {"duration_secs": 3.0, "waveform": "AA==", "flags": 0}
                await alex.say("Our new boat", attachments=[photo, attachment("map.pdf", "application/pdf")])
                await alex.say("", attachments=[voice], flags=1 << 13)
                snapshot = {"type": 0, "content": "I live in Porto.", "timestamp": "2026-03-03T01:00:00+00:00"}
                snapshot |= {"edited_timestamp": None, "attachments": [], "embeds": [], "mentions": [], "flags": 0}
                reference = {"type": 1, "message_id": "41", "channel_id": "602"}
                await alex.say("", message_snapshots=[{"message": snapshot}], message_reference=reference)
                await thread.say("Oars are in the shed.")
                answer = await thread.call("search", "Oars are in the shed", text="shed")
                assert (answer.channel, answer.is_private) == (OTHER_CHANNEL, True)
                await alex.call("search", "I found nothing", text="shed")
            contents = [message.content for message in await messages_of(tmp_path)]
            quotation = "[forwarded]\n> I live in Porto."
            assert contents == ["[image: boat.png]\n[file: map.pdf]\nOur new boat", "[voice message]", quotation]
            assert [message.content for message in await messages_of(tmp_path, "601")] == ["Oars are in the shed."]

    asyncio.run(talk())


def attachment(name: str, kind: str) -> dict[str, Any]:
    fields = {"id": "40", "filename": name, "content_type": kind, "size": 9}
    return fields | {"url": f"https://cdn.example/{name}", "proxy_url": f"https://cdn.example/{name}"}


def test_what_was_said_goes_with_its_channel_or_thread(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server:
            channel, thread, other = (DiscordTalk(server, channel=id) for id in (CHANNEL, OTHER_CHANNEL, 602))
            async with running_bot(server, tmp_path):
                await channel.say("The winch is rusty.")
                await thread.say("The cleat is loose.")
                await other.say("The mast is new.")
                await server.delete_channel(OTHER_CHANNEL, is_thread=True)
                await server.delete_channel(CHANNEL)
                await server.delete_channel(699, is_thread=True)
                await other.call("search", "The mast is new", text="mast")
            for conversation, count in ((str(CHANNEL), 0), (str(OTHER_CHANNEL), 0), ("602", 1)):
                history = await messages_of(tmp_path, conversation)
                assert len([message for message in history if not message.erased]) == count
                assert "rusty" not in str(history) + str(await messages_of(tmp_path, "601"))

    asyncio.run(talk())


def test_a_dropped_connection_is_resumed_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    async def talk() -> None:
        async with DiscordServer() as server:
            alex = DiscordTalk(server)
            async with running_bot(server, tmp_path):
                await alex.say("Before the storm.")
                await alex.call("search", "Before the storm", text="storm")
                await server.drop_connections()
                await alex.say("While it was away.")
                await server.wait(lambda: len(server.resumes) == 1, "for a resume")
                await alex.say("After the storm.")
                await alex.call("search", "After the storm", text="storm")
            assert server.identifies == 1, "the session goes on"
            contents = [message.content for message in await messages_of(tmp_path)]
            assert contents == ["Before the storm.", "While it was away.", "After the storm."]

    asyncio.run(talk())


async def identify_at_once(client: discord.Client, shard_id: int | None, *, initial: bool = False) -> None:
    """What the library has in place of its own wait of five seconds before a second session."""


def test_a_session_that_discord_ends_is_begun_anew_and_a_request_to_come_back_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discord.Client, "before_identify_hook", identify_at_once)

    async def talk() -> None:
        async with DiscordServer() as server:
            alex = DiscordTalk(server)
            async with running_bot(server, tmp_path):
                await alex.say("Before the storm.")
                await alex.call("search", "Before the storm", text="storm")
                await server.send_opcode(7)
                await server.wait(lambda: len(server.resumes) == 1, "for a resume")
                await alex.say("In the storm.")
                await alex.call("search", "In the storm", text="storm")
                await server.send_opcode(9, data=False)
                await server.wait(lambda: server.identifies == 2, "for a new session")
                await alex.say("After the storm.")
                await alex.call("search", "After the storm", text="storm")
            assert len(server.resumes) == 1
            contents = [message.content for message in await messages_of(tmp_path)]
            assert contents == ["Before the storm.", "In the storm.", "After the storm."]

    asyncio.run(talk())


def test_a_gateway_that_refuses_is_asked_again_after_a_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    class NotedBackoff(ExponentialBackoff[Literal[False]]):
        """The library's own pauses, noted and not waited for."""

        def delay(self) -> float:
            pauses.append(super().delay())
            return 0.0

    monkeypatch.setattr("discord.client.ExponentialBackoff", NotedBackoff)

    async def talk() -> None:
        async with DiscordServer() as server:
            alex = DiscordTalk(server)
            async with running_bot(server, tmp_path):
                await alex.say("Before the storm.")
                await alex.call("search", "Before the storm", text="storm")
                server.refused_connections = 3
                await server.drop_connections()
                await alex.say("While it was away.")
                await server.wait(lambda: len(server.resumes) == 1, "for a resume")
                await alex.call("search", "While it was away", text="away")
            assert server.attempts == 5
            assert len(pauses) == 3, "one after each refusal"
            assert max(pauses) > 0
            contents = [message.content for message in await messages_of(tmp_path)]
            assert contents == ["Before the storm.", "While it was away."]

    asyncio.run(talk())
