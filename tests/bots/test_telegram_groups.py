"""The bot in a group on Telegram: three people, names that are not clear, who may do what, edits and repeats."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hostile_names import HOSTILE_NAMES
from telegram_bot import ALEX, DANA, GROUP, NOOR, Talk, run, running_bot
from telegram_server import TelegramServer

from everword import AsyncMemory, Message
from everword.testing.doubles import FrozenClock, ScriptedLLM

OTHER_DANA = (10, "Dana Ortiz")


async def messages_of(folder: Path, conversation: str = "chat", base: str = f"telegram-{GROUP}") -> list[Message]:
    async with AsyncMemory(str(folder / f"{base}.db"), space=base, followers=False) as memory:
        return await memory.conversation(conversation).history()


def test_a_group_with_three_people(tmp_path: Path) -> None:
    """It keeps all that is said, and replies only when it is addressed: by mention, by reply, by name."""

    async def talk() -> None:
        model = ScriptedLLM(default="Ahoy.")
        with TelegramServer() as server:
            alex, dana, noor = (Talk(server, person, GROUP) for person in (ALEX, DANA, NOOR))
            async with running_bot(server, tmp_path, chat=model):
                await alex.say("The regatta is on the ninth of May.")
                await dana.say("I bring the spare oars.")
                reply = await noor.ask("@memo_bot who brings the oars?", "Ahoy.")
                await alex.say("And the cake?", reply_to=reply)
                await alex.hear("Ahoy.")
                await dana.ask("Memo, when is the regatta?", "Ahoy.")
                await alex.say("Nobody asked the bot this.")
                await dana.ask("/whatdoyouknow Alex", "Alex")
            assert len(model.requests) == 3
            shown = str(model.requests[0].messages)
            assert "spare oars" in shown
            assert "Dana Kim" in shown
            assert reply.reply_to is not None
            kept = [message for message in await messages_of(tmp_path) if message.role == "user"]
            assert [message.author for message in kept[:3]] == ["7", "8", "9"]
            assert kept[1].metadata["name"] == "Dana Kim"
            assert kept[0].platform_id == "1"
            assert server.count("sendChatAction") >= 3

    run(talk)


@pytest.mark.checklist("G9")
def test_no_name_costs_a_message(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            async with running_bot(server, tmp_path):
                for number, name in enumerate(HOSTILE_NAMES):
                    await Talk(server, (100 + number, name), GROUP).say(f"I am number {number}.")
                await Talk(server, ALEX, GROUP).ask("/search number", "I am number")
        kept = [message.content for message in await messages_of(tmp_path) if message.role == "user"]
        assert kept == [f"I am number {number}." for number in range(len(HOSTILE_NAMES))]

    run(talk)


def test_topics_are_conversations_of_their_own_and_a_moved_group_goes_on(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            alex = Talk(server, ALEX, GROUP)
            async with running_bot(server, tmp_path):
                await alex.say("Oars are in the shed.", thread=44)
                await alex.say("The boat leaks.", thread=55)
                await alex.say("/search shed", thread=55)
                answer = await alex.hear("I found nothing")
                assert answer.thread == 55
                await alex.say("/search shed", thread=44)
                await alex.hear("Oars are in the shed")
                server.upgrade(GROUP, GROUP - 1)
                alex.chat = GROUP - 1
                await alex.say("/search shed", thread=44)
                await alex.hear("Oars are in the shed")
            assert [message.content for message in await messages_of(tmp_path, "55")] == ["The boat leaks."]

    run(talk)


@pytest.mark.checklist("C10", "C11")
def test_an_ambiguous_name_is_asked_back_with_buttons(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            alex, dana, other = (Talk(server, person, GROUP) for person in (ALEX, DANA, OTHER_DANA))
            async with running_bot(server, tmp_path):
                await dana.say("I like green tea.")
                await other.say("I like black coffee.")
                await alex.ask("@memo_bot remember that I keep bees", "I will remember: Alex keeps bees.")
                question = await alex.ask("Memo, remember that Dana plays the cello", "Whom do you mean?")
                assert sorted(label for label, _ in question.buttons) == ["Dana Kim", "Dana Ortiz", "Nobody of these"]
                await dana.press(question, "Dana Kim")
                await asyncio.to_thread(server.wait, lambda: any("not for you" in note for note in server.notes))
                await alex.press(question, "Dana Ortiz")
                await alex.hear("I will remember: Dana Ortiz plays the cello.")
                await alex.press(question, "Dana Kim")
                await asyncio.to_thread(server.wait, lambda: sum("is over" in note for note in server.notes) == 2)
                known = await alex.ask("Memo, what do you know about @dana10?", "What I know about Dana Ortiz")
                assert "cello" in known.text
                assert "tea" not in known.text
                question = await alex.ask("Memo, what do you know about Dana?", "Whom do you mean?")
                await alex.press(question, "Nobody")
                await alex.hear("Nothing was changed")

    run(talk)


def test_who_may_do_what_about_whom(tmp_path: Path) -> None:
    """Own memory; others' only in the channel, and only what one said oneself; the group's settings are its admins'."""

    async def talk() -> None:
        with TelegramServer() as server:
            server.admins.add((GROUP, ALEX[0]))
            server.blocked.add(DANA[0])
            alex, dana, noor = (Talk(server, person, GROUP) for person in (ALEX, DANA, NOOR))
            alone = Talk(server, NOOR)
            async with running_bot(server, tmp_path):
                await dana.say("I live in Porto.")
                await noor.ask("Memo, remember that Dana is the cox", "Dana Kim is the cox")
                await alone.ask("I am afraid of deep water.", "I have no model")
                for command in ("/summary", "/summary_off", "/summary_now", "/erase everybody", "/export everybody"):
                    await dana.ask(command, "Only those who run this group")
                await dana.ask("/digest daily 08:30", "Only those who run this group")
                known = await alex.ask("/whatdoyouknow Dana", "Porto")
                assert "Dana Kim is the cox" in known.text or "says Noor: " in known.text, "the channel has heard both"
                assert "says 9" not in known.text, "people are called by their names"
                known = await alex.ask("/whatdoyouknow Noor", "I know nothing about Noor yet")
                assert "water" not in known.text, "what was said in private stays there"
                await alone.ask("/whatdoyouknow Dana", "I know nobody here by the name of Dana")
                await alex.ask("/forget that Dana is the cox", "I know nothing of that")
                await noor.ask("/forget that Dana is the cox", "Forgotten")
                await dana.ask("/undo", "nothing to bring back")
                await noor.ask("/undo", "It is back")
                await dana.ask("/export", "open a private chat with me")
                await noor.ask("/export", "to your private chat with me")
                file = next(sent for sent in server.sent if sent.file is not None)
                assert (file.chat, b"Porto" in (file.file or b"")) == (NOOR[0], False)
                question = await alex.ask("/summary", "Where should I keep")
                await alex.press(question, "SQLite")
                await alex.hear("Send a number")
                await alex.say("Shall we row tomorrow?")
                await alex.ask("40", "Summary after: 40 messages")
                question = await dana.ask("/erase", "all that you said here")
                await dana.press(question, "Erase")
                await dana.press(await dana.hear("Are you sure"), "Yes")
                await dana.hear("Erased: ")
                contents = [message.content for message in await messages_of(tmp_path)]
                assert "I live in Porto." not in contents
                assert "Shall we row tomorrow?" in contents
                question = await alex.ask("/erase everybody", "everything that I keep of this chat")
                await alex.press(question, "Erase")
                await alex.press(await alex.hear("Are you sure"), "Yes")
                await alex.hear("Everything that I kept of this chat is erased")
                assert not (tmp_path / f"telegram-{GROUP}.db").exists()
                await alex.ask("/whatdoyouknow", "I know nothing about you yet")

    run(talk)


def test_who_no_longer_runs_a_group_cannot_finish_what_they_began(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            server.admins.add((GROUP, ALEX[0]))
            alex = Talk(server, ALEX, GROUP)
            async with running_bot(server, tmp_path):
                question = await alex.ask("/summary", "Where should I keep")
                server.admins.clear()
                await alex.press(question, "JSON")
                await alex.hear("Only those who run this group")
                server.admins.add((GROUP, ALEX[0]))
                await alex.ask("/summary json", "Send a number")
                server.admins.clear()
                await alex.ask("40", "Only those who run this group")
                status = await alex.ask("/summary_status", "Memory: on")
                assert "Storage: SQLite" in status.text
            assert not (tmp_path / f"telegram-{GROUP}.json").exists()

    run(talk)


def test_an_admin_who_hides_behind_the_group_runs_it_and_gets_no_file_that_all_would_see(tmp_path: Path) -> None:
    async def talk() -> None:
        hidden = {"sender_chat": {"id": GROUP, "type": "supergroup", "title": "Rowers"}}
        with TelegramServer() as server:
            alex, dana = Talk(server, ALEX, GROUP), Talk(server, DANA, GROUP)
            async with running_bot(server, tmp_path):
                await dana.say("I live in Porto.")
                await alex.say("/export everybody", **hidden)
                await alex.hear("open a private chat with me")
                await alex.say("/summary json 40", **hidden)
                await alex.hear("Summary after: 40 messages")
                await alex.say("/erase everybody", **hidden)
                await alex.hear("everything that I keep of this chat")
            assert all(sent.file is None for sent in server.sent)

    run(talk)


def test_what_is_forwarded_is_not_said_by_whoever_forwards_it_and_bots_are_not_answered(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM(default="Aye.")
        author = {"id": 8, "is_bot": False, "first_name": "Dana", "last_name": "Kim"}
        origin = {"forward_origin": {"type": "user", "date": 1_772_400_000, "sender_user": author}}
        hidden = {"forward_origin": {"type": "hidden_user", "date": 1_772_400_000, "sender_user_name": "Noor"}}
        weather = {"from": {"id": 33, "is_bot": True, "first_name": "Weather", "username": "weather_bot"}}
        with TelegramServer() as server:
            alex = Talk(server, ALEX, GROUP)
            async with running_bot(server, tmp_path, chat=model):
                await alex.say("Memo, remember that I live in Porto\nI am allergic to nuts.", **origin)
                await alex.say("/summary_off", **hidden)
                await alex.say("Memo, a storm is coming.", **weather)
                await alex.ask("/whatdoyouknow", "I know nothing about you yet")
            kept = [(message.author, message.content) for message in await messages_of(tmp_path)][:3]
            assert kept == [
                ("7", "[forwarded from Dana Kim]\n> Memo, remember that I live in Porto\n> I am allergic to nuts."),
                ("7", "[forwarded from Noor]\n> /summary_off"),
                ("33", "Memo, a storm is coming."),
            ]
            assert model.requests == []

    run(talk)


def test_a_channel_in_a_group_is_named_and_may_nothing_and_what_says_nothing_is_left_out(tmp_path: Path) -> None:
    """A channel may write in its own name, and what comes from one is forwarded; a service message has no text."""

    async def talk() -> None:
        channel = {"id": -100700, "type": "channel", "title": "Tides"}
        club = {"id": -100800, "type": "supergroup", "title": "Sailors"}
        own: dict[str, Any] = {"sender_chat": channel, "from": None}
        posted = {"type": "channel", "date": 1_772_400_000, "chat": channel, "message_id": 3}
        said = {"type": "chat", "date": 1_772_400_000, "sender_chat": club}
        unknown = {"type": "a new kind", "date": 1_772_400_000}
        with TelegramServer() as server:
            alex = Talk(server, ALEX, GROUP)
            async with running_bot(server, tmp_path):
                await alex.say("High water at nine.", **own)
                await alex.say("/summary json 40", **own)
                await alex.hear("Only those who run this group")
                await alex.say("Low water at three.", forward_origin=posted)
                await alex.say("We race on Sunday.", forward_origin=said)
                await alex.say("Somebody said this.", forward_origin=unknown)
                await alex.say("", group_chat_created=True)
                await alex.ask("/summary_status", "Messages: 4 in all")
            kept = [(message.author, message.content) for message in await messages_of(tmp_path)]
            assert kept == [
                ("-100700", "High water at nine."),
                ("7", "[forwarded from Tides]\n> Low water at three."),
                ("7", "[forwarded from Sailors]\n> We race on Sunday."),
                ("7", "[forwarded from elsewhere]\n> Somebody said this."),
            ]

    run(talk)


def test_all_of_a_group_that_is_erased_goes_also_questions_that_wait(tmp_path: Path) -> None:
    async def talk() -> None:
        with TelegramServer() as server:
            server.admins.add((GROUP, ALEX[0]))
            alex, dana, other = (Talk(server, person, GROUP) for person in (ALEX, DANA, OTHER_DANA))
            async with running_bot(server, tmp_path):
                await dana.say("I like green tea.")
                await other.say("I like black coffee.")
                await dana.ask("Memo, remember that Dana plays the cello", "Whom do you mean?")
                question = await alex.ask("/erase everybody", "everything that I keep of this chat")
                await alex.press(question, "Erase")
                await alex.press(await alex.hear("Are you sure"), "Yes")
                await alex.hear("Everything that I kept of this chat is erased")

    run(talk)
    assert b"cello" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_edits_are_new_versions_and_what_comes_twice_is_kept_and_answered_once(tmp_path: Path) -> None:
    async def talk() -> None:
        model = ScriptedLLM(default="Aye.")
        with TelegramServer() as server:
            alex = Talk(server, ALEX, GROUP)
            async with running_bot(server, tmp_path, chat=model):
                first = await alex.say("We meet at seven.")
                await alex.say("Memo, is that early?", deliveries=2)
                await alex.hear("Aye.")
                await alex.say("Memo, remember that I row at bow", deliveries=2)
                await alex.hear("I will remember")
                server.edit(first, "We meet at eight.", user=ALEX, chat=GROUP)
                server.edit(9_999, "A message from before it came.", user=ALEX, chat=GROUP)
                await alex.ask("/search when we meet", "We meet at eight.")
            history = await messages_of(tmp_path)
            contents = [message.content for message in history if message.role == "user"]
            assert contents.count("Memo, is that early?") == 1
            assert contents.count("Memo, remember that I row at bow") == 1
            assert "We meet at eight." in contents
            assert "We meet at seven." not in contents
            assert "A message from before it came." in contents
            assert len(model.requests) == 1
            server.deliver_again()
            alex.seen = len(server.sent)
            async with running_bot(server, tmp_path, chat=model):
                await alex.ask("Memo, is that late?", "Aye.")
            assert len(model.requests) == 2, "what is in the log is not answered again after a restart"
            again = [message.content for message in await messages_of(tmp_path) if message.role == "user"]
            assert again.count("Memo, is that early?") == 1
            assert again.count("Memo, remember that I row at bow") == 1

    run(talk)


def test_a_digest_on_request_and_on_a_schedule(tmp_path: Path) -> None:
    async def talk() -> None:
        start = datetime.fromtimestamp(1_772_500_000, UTC)
        clock = FrozenClock(start + timedelta(minutes=5))
        with TelegramServer() as server:
            server.admins.add((GROUP, ALEX[0]))
            alex, dana = Talk(server, ALEX, GROUP), Talk(server, DANA, GROUP)
            async with running_bot(server, tmp_path, clock=clock) as bot:
                await alex.say("I painted the hull blue today.")
                await dana.say("I sold two old oars to the club in Faro.")
                digest = await alex.ask("/digest", "Today:")
                assert "hull" in digest.text
                assert "Dana Kim: " in digest.text
                await alex.ask("/digest often", "/digest weekly mon 08:30")
                await alex.ask("/digest daily 00:30", "I will send it daily 00:30")
                assert await bot.commands.send_due_digests() == 1, "it is past half past midnight"
                assert await bot.commands.send_due_digests() == 0, "once a day"
                clock.advance(timedelta(days=1))
                alex.seen = len(server.sent)
                assert await bot.commands.send_due_digests() == 1
                await alex.hear("Yesterday:")
                await alex.ask("/digest week", "The last days:")
                await alex.ask("/digest off", "no digests by myself")
                clock.advance(timedelta(days=1))
                assert await bot.commands.send_due_digests() == 0

    run(talk)
