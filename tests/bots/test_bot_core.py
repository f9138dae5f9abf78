"""The core of a bot without a platform: what it reads and decides, deletions, moves that fail, stores it lets go of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everword import AsyncMemory, StoreError
from everword.bots.bot import MOST_REPLIES, Bot, OrderedQueues, describe_outage
from everword.bots.chat_settings import ChatSettings, chat_settings, parse_threshold
from everword.bots.commands import choose_hits, describe_digest, is_due, parse_schedule, with_mention
from everword.bots.delivery import Delivery, split_text
from everword.bots.memories import MemoryParts, check_equal, file_stem, is_allowed, window_settings
from everword.bots.platforms import (
    BotMessage,
    CommandCall,
    MessageDeletion,
    MessageEdit,
    Person,
    Place,
    ReceivedMessage,
    parse_slash,
)
from everword.bots.replay import PrintedPlatform, printed_identity
from everword.bots.service import BotOptions, keep_schedule, open_bot
from everword.errors import Forbidden, PlatformBusy
from everword.model import Hit, Message, Verification
from everword.ports import Completion, Request
from everword.testing.doubles import FrozenClock, ScriptedLLM

NOW = datetime(2026, 3, 3, 12, tzinfo=UTC)  # a Tuesday
ANN = Person("1", "Ann Lee", "ann")
PATIENCE = 120.0  # seconds until a test that waits for something gives up
GROUP = Place("replay", "boats", is_private=False)


def chat(number: int) -> Place:
    return Place("replay", str(number), is_private=True)


def message(text: str, id: str, place: Place = GROUP, **fields: Any) -> ReceivedMessage:
    return ReceivedMessage(place, id, ANN, text, NOW, **fields)


def command(text: str, place: Place = GROUP) -> CommandCall:
    parsed = parse_slash(text, "memo_bot")
    assert parsed is not None
    return CommandCall(place, text, ANN, *parsed)


class Screen(list[str]):
    """What the bot says, line by line, and a way to wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = asyncio.Event()

    def append(self, line: str) -> None:
        super().append(line)
        self._changed.set()

    async def wait_for(self, text: str) -> None:
        while text not in str(self):
            self._changed.clear()
            await asyncio.wait_for(self._changed.wait(), PATIENCE)


@asynccontextmanager
async def printed_bot(folder: Path, lines: list[str], **options: Any) -> AsyncIterator[Bot]:
    platform = PrintedPlatform(printed_identity(()), lines.append)
    parts = MemoryParts(settings={"telemetry": "off"}, **options)
    async with open_bot(Delivery(platform), BotOptions(folder, memories=parts)) as bot:
        yield bot


# -- reading and deciding


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("/summary", ("summary", "")),
        ("/Remember@Memo_Bot  I like tea ", ("remember", "I like tea")),
        ("/search night\ntrain", ("search", "night\ntrain")),
        ("/summary@other_bot", None),
        ("summary", None),
        ("/", None),
        ("/usr/bin", None),
    ],
)
def test_commands_with_a_slash(text: str, parsed: tuple[str, str] | None) -> None:
    assert parse_slash(text, "memo_bot") == parsed


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        ("500", 500),
        (" 15 ", 15),
        *((text, None) for text in ("0", "501", "abc", "1.5", "٣", "-3", "", "9" * 99)),
    ],
)
@pytest.mark.checklist("D7")
def test_a_threshold_is_a_number_from_1_to_500(text: str, number: int | None) -> None:
    assert parse_threshold(text) == number


def test_a_long_text_is_split_where_something_ends() -> None:
    assert split_text("short", 100) == ["short"]
    assert split_text("  ", 100) == []
    paragraphs = "\n\n".join(["One sentence. " * 5] * 8)
    parts = split_text(paragraphs, 100)
    assert all(0 < len(part) <= 100 for part in parts)
    assert " ".join(" ".join(parts).split()) == " ".join(paragraphs.split())
    assert split_text("x" * 250, 100) == ["x" * 100, "x" * 100, "x" * 50]
    assert all(len(part) <= 100 for part in split_text("word " * 100, 100))
    assert split_text("🚣" * 120, 100) == ["🚣" * 50, "🚣" * 50, "🚣" * 20], "each counts twice in UTF-16"


def test_rights_in_a_group_and_in_private() -> None:
    for action in ("summary", "summary_off", "erase everybody", "digest schedule"):
        assert is_allowed(action, in_private=True, is_admin=False)
        assert is_allowed(action, in_private=False, is_admin=True)
        assert not is_allowed(action, in_private=False, is_admin=False)
    for action in ("remember", "forget", "whatdoyouknow", "erase", "export", "search", "digest"):
        assert is_allowed(action, in_private=False, is_admin=False)


def test_schedules_of_digests() -> None:
    assert parse_schedule("off", "") == {"digest": ""}
    assert parse_schedule("daily 25:00", "") is None
    weekly = parse_schedule("weekly tuesday 9:05", "44")
    assert weekly is not None
    settings = chat_settings({"base": "x", "unknown": 1, **weekly})
    assert (settings.digest, settings.digest_minute, settings.digest_thread) == ("week", 545, "44")
    assert is_due(settings, NOW)
    assert not is_due(settings, NOW.replace(hour=9, minute=4))
    assert not is_due(settings, NOW.replace(day=4))
    assert not is_due(ChatSettings("x", digest="day", digest_sent="2026-03-03"), NOW)
    assert not is_due(ChatSettings("x", digest="day", enabled=False), NOW)
    assert not is_due(ChatSettings("x"), NOW)


def test_the_threshold_counts_messages_of_the_user_where_each_is_answered() -> None:
    assert window_settings(15, True) == {"window_user_messages": 15, "window_turns": 0}
    assert window_settings(15, False) == {"window_user_messages": 0, "window_turns": 15}


def test_a_search_shows_what_has_the_words_or_the_meaning_and_not_what_stands_around_it() -> None:
    said = Message("s", "c", 1, "id", "user", "1", None, "We bought an oven.", NOW)
    by_word = Hit(said, 3.0, {"text": 0.9, "vector": 0.1}, relevance=0.1)
    by_meaning = Hit(said, 6.0, {"text": 0.0, "vector": 4.0}, relevance=0.9)
    beside = Hit(said, 2.0, {"text": 0.0, "vector": 0.0, "near": 1.9}, relevance=0.9)
    assert choose_hits([by_meaning, by_word, beside]) == [by_meaning, by_word]
    assert choose_hits([by_word] * 9) == [by_word] * 5
    assert choose_hits([]) == []


def test_a_digest_names_everybody_once() -> None:
    assert describe_digest("Ann", "Ann: I sold the oars.") == "Ann: I sold the oars."
    assert describe_digest("Ann", "sold the oars.") == "Ann: sold the oars."


def test_a_name_that_was_chosen_becomes_a_mention() -> None:
    names = ["Dana Kim", "Dana Ortiz"]
    assert with_mention("Memo, remember that Dana rows", ["Memo"], names, "8") == "Memo, remember that <@8> rows"
    assert with_mention("Memo, what do you know about @dana?", ["Memo"], names, "8").endswith("about <@8>?")


def test_no_id_of_a_chat_leads_out_of_the_folder() -> None:
    assert file_stem("telegram--100200300") == "telegram--100200300"
    assert "/" not in file_stem("replay-../../etc/x")
    assert len(file_stem("replay-" + "ж" * 200)) == 64


# -- what happens


def test_a_deletion_follows_the_platform_also_of_commands(tmp_path: Path) -> None:
    async def delete() -> list[str]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines) as bot:
            for event in (
                message("The code of the gate is 4711.", "a"),
                message("Memo, remember that I keep bees", "b"),
                message("The bees are fine.", "c"),
                MessageEdit(message("The bees are very fine.", "c")),
                MessageDeletion(GROUP, ("a", "b", "never seen")),
                command("/search bees gate"),
                command("/whatdoyouknow"),
            ):
                bot.submit(event)
            await bot.drain()
        return lines

    lines = asyncio.run(delete())
    assert lines[0] == "Memo: I will remember: Ann Lee keeps bees."
    assert "very fine" in lines[1]
    assert "4711" not in str(lines[1:])
    assert "keeps bees" not in str(lines[1:])


def test_chats_go_on_while_one_of_them_waits_and_each_keeps_its_order() -> None:
    async def run() -> list[str]:
        queues = OrderedQueues()
        done: list[str] = []
        gate = asyncio.Event()

        async def work(name: str, wait: bool = False) -> None:
            if wait:
                await gate.wait()
            done.append(name)
            if name == "a1":
                raise ValueError("this ends nothing else")

        queues.put("a", work("a1", wait=True))
        queues.put("a", work("a2"))
        queues.put("b", work("b1"))
        await asyncio.sleep(0)
        queues.put("b", work("b2"))
        for _ in range(10):
            await asyncio.sleep(0)
        gate.set()
        await queues.drain()
        return done

    assert asyncio.run(run()) == ["b1", "b2", "a1", "a2"]


def test_memories_that_nobody_uses_are_closed_and_opened_again(tmp_path: Path) -> None:

    async def talk() -> list[str]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines, most_open=2) as bot:
            for number in range(4):
                bot.submit(message(f"My boat has number {number}.", "m", chat(number)))
                await bot.drain()
            lines.clear()
            for number in range(4):
                bot.submit(command(f"/search boat number {number}", chat(number)))
            await bot.drain()
        return lines

    lines = asyncio.run(talk())
    assert sorted(line.rsplit(" ", 1)[1] for line in lines) == ["0.", "1.", "2.", "3."]


class RefusingPlatform(PrintedPlatform):
    """A platform that asks to wait whenever the bot wants to say something. `asked` is set when the bot asks who runs a
    chat."""

    asked: asyncio.Event

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        busy = PlatformBusy("wait")
        busy.after = 3600.0
        raise busy

    async def is_admin(self, place: Place, person_id: str) -> bool:
        self.asked.set()
        return True


def test_messages_are_kept_while_the_platform_asks_to_wait_and_the_end_waits_so_long_and_no_longer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def talk() -> list[str]:
        waits: list[float] = []

        async def wait_in_vain(seconds: float) -> None:
            waits.append(seconds)
            await asyncio.Event().wait()

        platform = RefusingPlatform(printed_identity(()), lambda line: None)
        platform.asked = asyncio.Event()
        options = BotOptions(tmp_path, memories=MemoryParts(settings={"telemetry": "off"}))
        async with open_bot(Delivery(platform, wait_in_vain), options) as bot:
            for event in (command("/help"), message("The mast is oak.", "m"), command("/summary")):
                bot.submit(event)
            await asyncio.wait_for(platform.asked.wait(), PATIENCE)  # so what came before is handled
            await bot.drain(0.05)
            async with bot.tools.pool.use(GROUP) as memory:
                assert waits == [3600.0]
                return [kept.content for kept in await memory.conversation("chat").history()]

    assert asyncio.run(talk()) == ["The mast is oak."]
    assert "ended before it was done: " in caplog.text


def test_no_more_replies_wait_than_a_chat_can_read(tmp_path: Path) -> None:
    async def talk() -> tuple[list[str], int]:
        lines = Screen()
        gate = asyncio.Event()
        model = WaitingModel(gate)
        async with printed_bot(tmp_path, lines, chat=model) as bot:
            for number in range(MOST_REPLIES + 5):
                bot.submit(message(f"Question {number}?", f"m{number}", chat(1)))
            await lines.wait_for("too much to answer")
            bot.submit(MessageDeletion(chat(1), ("m1",)))
            bot.submit(command("/summary_status", chat(1)))
            await lines.wait_for("Memory: on")
            gate.set()
            await bot.drain()
            return lines, len(model.requests)

    lines, requests = asyncio.run(talk())
    assert sum("too much to answer" in line for line in lines) == 1
    assert f"Messages: {MOST_REPLIES + 4} in all" in str(lines), "all are kept but the one that was deleted"
    assert requests == MOST_REPLIES - 1, "what was deleted before its turn came is not answered"


class WaitingModel(ScriptedLLM):
    """A model that answers nothing until it may."""

    def __init__(self, gate: asyncio.Event) -> None:
        super().__init__(default="Aye.")
        self._gate = gate

    async def stream(self, request: Request) -> AsyncIterator[str | Completion]:
        await self._gate.wait()
        async for piece in super().stream(request):
            yield piece


def test_a_command_that_comes_again_after_a_crash_is_not_carried_out_twice(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        lines: list[str] = []
        remember = command("/remember I keep bees", chat(1))
        forget = command("/forget that I keep bees", chat(1))
        async with printed_bot(tmp_path, lines) as bot:
            for event in (remember, forget, remember):
                bot.submit(event)
            await bot.drain()
        async with printed_bot(tmp_path, lines) as bot:
            bot.submit(remember)
            await bot.drain()
            await bot.tools.table.begin_command(chat(1), "cut short")
        async with printed_bot(tmp_path, lines) as bot:
            bot.submit(replace(remember, id="cut short"))
            bot.submit(command("/whatdoyouknow", chat(1)))
            await bot.drain()
        return lines

    remembered, forgotten, interrupted, known = asyncio.run(talk())
    assert "I will remember" in remembered
    assert "Forgotten" in forgotten
    assert "I was ended while I did this" in interrupted
    assert "I know nothing about you yet" in known


def test_settings_that_change_at_once_are_all_kept(tmp_path: Path) -> None:
    async def change() -> tuple[ChatSettings, list[str]]:
        async with printed_bot(tmp_path, []) as bot:
            table = bot.tools.table
            changes: list[dict[str, Any]] = [{"threshold": 40}, {"digest": "day"}, {"told_failure": True}]
            await asyncio.gather(*(table.change_chat(GROUP, **change) for change in changes))
            for id in ("a", "b"):
                await table.begin_command(GROUP, id)
            await asyncio.gather(*(table.end_command(GROUP, id) for id in ("a", "b")), table.begin_command(GROUP, "c"))
            states = [await table.begin_command(GROUP, id) for id in ("a", "b", "c")]
            return await table.chat(GROUP), [*states]

    settings, states = asyncio.run(change())
    assert (settings.threshold, settings.digest, settings.told_failure) == (40, "day", True)
    assert states == ["done", "done", "begun"]


def test_a_schedule_is_of_one_platform_and_goes_on_when_a_chat_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Two bots may share a folder; each sends the digests of its own platform."""

    async def talk() -> list[str]:
        lines = Screen()
        clock = FrozenClock(NOW)
        async with printed_bot(tmp_path, lines, clock=clock) as bot:
            bot.submit(message("I painted the hull blue.", "m"))
            bot.submit(command("/digest daily 12:30"))
            await bot.drain()
            schedule = {"digest": "day", "digest_minute": 750}
            await bot.tools.table.change_chat(Place("telegram", "-5", is_private=False), **schedule)
            broken = Place("replay", "broken", is_private=False)
            await bot.tools.table.change_chat(broken, **schedule)
            (tmp_path / "replay-broken.db").mkdir()
            lines.clear()
            assert await bot.commands.send_due_digests() == 0, "it is noon"
            clock.advance(timedelta(hours=1))
            async with keep_schedule(bot):
                await lines.wait_for("Today:")
            assert await bot.commands.send_due_digests() == 0, "once a day, also where it failed"
        return lines

    (line,) = asyncio.run(talk())
    assert line.startswith("Memo: Today:")
    assert "hull" in line
    assert caplog.text.count("a digest was not sent") == 1


# -- moving between stores


@pytest.mark.checklist("D3")
def test_a_move_that_was_killed_leaves_the_old_store_in_use(tmp_path: Path) -> None:
    """The copy is half written when the process dies, in a chat for which nothing was set before."""

    async def prepare() -> None:
        async with AsyncMemory(str(tmp_path / "replay-1.db"), space="replay-1") as memory:
            await memory.conversation("chat", user="1").add("user", "The keel is lead.")
        async with AsyncMemory(f"json:{tmp_path / 'replay-1.json'}", space="replay-1") as memory:
            await memory.conversation("chat", user="1").add("user", "Half a copy.")

    async def find() -> list[str]:
        lines: list[str] = []
        for number in range(2):
            async with printed_bot(tmp_path, lines) as bot:
                bot.submit(replace(command("/search keel lead copy", chat(1)), id=str(number)))
                await bot.drain()
        return lines

    asyncio.run(prepare())
    for line in asyncio.run(find()):
        assert "The keel is lead." in line
        assert "copy" not in line


@pytest.mark.checklist("D3")
def test_a_move_that_fails_leaves_the_old_store_in_use(tmp_path: Path) -> None:
    async def move() -> tuple[str, list[str]]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines) as bot:
            bot.submit(message("The mast is oak.", "m", chat(1)))
            await bot.drain()
            (tmp_path / "replay-1.json").mkdir()  # where the new file would be
            with pytest.raises(StoreError):
                await bot.tools.pool.change_storage(chat(1), "json", 20)
            (tmp_path / "replay-1.json").rmdir()
            settings = await bot.tools.settings(chat(1))
            bot.submit(command("/search mast", chat(1)))
            await bot.drain()
            return settings.storage, lines

    storage, lines = asyncio.run(move())
    assert storage == "sqlite"
    assert "The mast is oak." in lines[-1]


@pytest.mark.checklist("D3")
def test_what_a_move_left_is_removed_and_a_file_without_settings_counts(tmp_path: Path) -> None:
    async def prepare() -> None:
        async with AsyncMemory(f"json:{tmp_path / 'replay-1.json'}", space="replay-1") as memory:
            await memory.conversation("chat", user="1").add("user", "The keel is lead.")

    async def find() -> list[str]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines) as bot:
            bot.submit(command("/search keel", chat(1)))
            bot.submit(command("/summary_status", chat(1)))
            await bot.drain()
        (tmp_path / "replay-1.db").write_bytes(b"half a copy")
        async with printed_bot(tmp_path, lines) as bot:
            bot.submit(command("/search lead keel", chat(1)))
            await bot.drain()
        return lines

    asyncio.run(prepare())
    found, status, again = asyncio.run(find())
    assert "The keel is lead." in found
    assert "Storage: JSON file" in status
    assert "The keel is lead." in again
    assert not (tmp_path / "replay-1.db").exists()


@pytest.mark.checklist("D3")
def test_a_copy_that_is_not_equal_is_refused() -> None:
    whole = Verification(1, 200, 0, (), "abc")
    check_equal(whole, whole)
    for other in (Verification(1, 199, 0, (), "abc"), Verification(1, 200, 0, (), "abd")):
        with pytest.raises(StoreError, match="differs from the original"):
            check_equal(whole, other)


# -- a disk that refuses


def test_a_chat_is_told_that_its_disk_refuses_and_when_that_is_over() -> None:
    assert "lost if I am ended" in describe_outage(False, 3).text
    assert describe_outage(True, 3).text == "My disk takes messages again: 3 messages held in memory written."


def test_whoever_writes_in_a_chat_may_do_what_a_person_there_may_and_no_more(tmp_path: Path) -> None:
    async def act() -> None:
        platform = PrintedPlatform(printed_identity(()), lambda line: None)
        options = BotOptions(tmp_path, memories=MemoryParts(settings={"telemetry": "off"}))
        async with open_bot(Delivery(platform), options) as bot:
            async with bot.tools.pool.use(GROUP) as memory:
                with pytest.raises(Forbidden, match="admin"):
                    await memory.erase(user=ANN.id)
                with pytest.raises(Forbidden, match="space"):
                    await memory.search("boats", space="another chat")
            async with bot.tools.pool.use(GROUP, owner=ANN.id) as memory:
                with pytest.raises(Forbidden, match="another"):
                    await memory.erase(user="somebody else")

    asyncio.run(act())
