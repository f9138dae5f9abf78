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
from outages import with_read_only_file

from everword import AsyncMemory, InvalidInput, StoreError
from everword.bots import texts
from everword.bots.bot import MOST_ANSWERS, MOST_REPLIES, Bot, OrderedQueues, describe_outage
from everword.bots.chat_settings import ChatSettings, chat_settings, parse_threshold
from everword.bots.commands import choose_hits, describe_digest, explain, is_due, parse_schedule, with_mention
from everword.bots.delivery import Delivery, split_text
from everword.bots.memories import MemoryParts, check_equal, file_stem, is_allowed, window_settings
from everword.bots.platforms import (
    BotMessage,
    ButtonPress,
    CommandCall,
    Event,
    MessageDeletion,
    MessageEdit,
    Person,
    Place,
    ReceivedMessage,
    parse_slash,
)
from everword.bots.replay import PrintedPlatform, printed_identity
from everword.bots.service import BotOptions, keep_schedule, open_bot
from everword.errors import Forbidden, PlatformBusy, ServerError
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


def press(data: str, place: Place = GROUP, *, id: str = "") -> ButtonPress:
    return ButtonPress(place, id or f"press {data}", ANN, data)


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
    with pytest.raises(InvalidInput, match="send the command again"):
        with_mention("Memo, remember that she rows", ["Memo"], names, "8")


def test_of_a_failure_a_chat_is_told_what_somebody_did_wrong_and_nothing_of_the_machine() -> None:
    assert (
        explain(InvalidInput("text", "is empty; write something")).text == "That did not work: text: is empty; "
        "write something"
    )
    assert explain(StoreError("/srv/memo/telegram-7.db is locked")).text == texts.FAILED_INSIDE.format(
        kind="StoreError"
    )


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


# -- commands that find nothing, questions with buttons, and what is off


def test_a_command_that_finds_nothing_says_so_and_one_in_no_known_form_is_taken_at_its_word(tmp_path: Path) -> None:
    asked = {
        "/export": "I keep nothing of what you said here.",
        "/summary_now": "There is nothing to summarise yet",
        "/remember ?": "says nothing that can be remembered; write a statement",
        "/remember the oars": "I will remember: ",
        "/forget bees": "I know nothing of that, so there is nothing to forget.",
        "/forget oars": "Forgotten. /undo brings it back.",
        "/undo": "It is back: ",
    }

    async def talk() -> list[str]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines) as bot:
            for text in asked:
                bot.submit(command(text, chat(1)))
            await bot.drain()
        return lines

    for line, expected in zip(asyncio.run(talk()), asked.values(), strict=True):
        assert expected in line


def test_a_button_that_belongs_to_no_question_of_its_reader_changes_nothing(tmp_path: Path) -> None:
    """A button stays on the screen after its question is over, and whoever knows the protocol can send any data."""
    place = chat(1)

    async def talk() -> list[str]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines) as bot:
            for event in (
                command("/summary", place),
                press("storage floppy", place),
                press("storage floppy", place),  # delivered again
                press("storage json", place),
                press("threshold 5", place),
                command("/erase", place),
                press("erase sure", place),  # without having been asked twice
                message("40", "m", place),  # the question is no longer that for a number
                press("erase no", place),
                command("/summary_status", place),
            ):
                bot.submit(event)
                await bot.drain()
        return lines

    storage, floppy, threshold, typed, erase, sure, no_model, kept, status = asyncio.run(talk())
    assert storage.startswith("Memo: Where should I keep")
    assert floppy == typed == sure == f"Memo: {texts.NOT_FOR_YOU}"
    assert threshold == f"Memo: {texts.ASK_THRESHOLD}"
    assert "for good" in erase
    assert no_model == f"Memo: {texts.NO_MODEL_YET}"
    assert kept == "Memo: Nothing was erased."
    assert "Storage: SQLite" in status
    assert "Messages: 1 in all" in status


def test_while_memory_is_off_no_name_is_chosen_or_offered_and_no_edit_is_kept(tmp_path: Path) -> None:
    danas = [Person("8", "Dana Kim", "dana8"), Person("10", "Dana Ortiz", "dana10")]

    async def talk() -> list[str]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines) as bot:

            async def submit(*events: Event) -> None:
                for event in events:
                    bot.submit(event)
                await bot.drain()

            await submit(
                *(replace(message(f"I am {dana.name}.", dana.id), author=dana) for dana in danas),
                message("Memo, remember that Dana plays the cello", "a"),
                press("who 7"),
            )
            assert await bot.commands.complete_person(GROUP, "dana o") == ["Dana Ortiz"]
            await submit(
                command("/summary_off"),
                press("who 0"),
                MessageEdit(replace(message("I am nobody.", "8"), author=danas[0])),
            )
            assert await bot.commands.complete_person(GROUP, "dana o") == []
            async with bot.tools.pool.use(GROUP) as memory:
                history = await memory.conversation(GROUP.conversation).history()
                assert [kept.content for kept in history][:2] == ["I am Dana Kim.", "I am Dana Ortiz."]
        return lines

    question, unknown, off, chosen = asyncio.run(talk())
    assert question.startswith("Memo: Whom do you mean?")
    assert unknown == f"Memo: {texts.NOT_FOR_YOU}"
    assert "Memory is off" in off
    assert chosen == f"Memo: {texts.IS_OFF}"


@pytest.mark.parametrize("kept", [2, 0])
def test_what_was_said_while_memory_was_off_is_not_shown_to_the_model_after_all_is_erased(
    tmp_path: Path, kept: int
) -> None:
    place = chat(1)
    model = ScriptedLLM(default="Aye.")

    async def talk() -> list[str]:
        lines: list[str] = []
        platform = PrintedPlatform(printed_identity(()), lines.append)
        memories = MemoryParts(model, settings={"telemetry": "off"})
        async with open_bot(Delivery(platform), BotOptions(tmp_path, "You are a cox.", memories)) as bot:
            events = (
                message("Hello.", "h", place),
                command("/summary_off", place),
                message("The gate opens with 4711.", "a", place),
                command("/erase", place),
                press("erase yes", place),
                press("erase sure", place),
                message("What do you know?", "b", place),
            )
            for event in events if kept else events[1:]:
                bot.submit(event)
                await bot.drain()
        return lines

    assert any(f"Erased: {kept} messages" in line for line in asyncio.run(talk()))
    first, last = (request.messages for request in model.requests[-2:])
    assert first[0] == last[0] == {"role": "system", "content": "You are a cox."}
    assert "4711" in str(first)
    assert last[1:] == [{"role": "user", "content": "What do you know?"}]


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
            bot.submit(command("/summary json 20", chat(1)))
            await bot.drain()
            assert lines[-1] == f"Memo: {texts.NOT_SET_UP}"
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


# -- a platform or a disk that refuses


class AbsentPlatform(PrintedPlatform):
    """A platform that refuses everything while it is away."""

    is_away: bool = False

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        self._check()
        return await super().send(place, message, reply_to)

    async def answer_press(self, press_id: str, note: str = "") -> None:
        self._check()
        await super().answer_press(press_id, note)

    async def is_admin(self, place: Place, person_id: str) -> bool:
        self._check()
        return True

    def _check(self) -> None:
        if self.is_away:
            raise ServerError("the platform is away")


def test_a_platform_that_is_away_costs_no_message_and_gives_nobody_more_rights(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedLLM(default="Aye.")

    async def talk() -> list[str]:
        lines: list[str] = []
        platform = AbsentPlatform(printed_identity(()), lines.append)
        options = BotOptions(tmp_path, memories=MemoryParts(model, settings={"telemetry": "off"}))
        async with open_bot(Delivery(platform), options) as bot:
            platform.is_away = True
            for event in (
                message("Memo, where is the anchor?", "a"),
                command("/help"),
                press("who none"),
                command("/summary json 20"),  # the platform does not say who runs the group
            ):
                bot.submit(event)
            await bot.drain()
            assert lines == []
            platform.is_away = False
            bot.submit(command("/summary_status"))
            bot.submit(message("Memo, and now?", "b"))
            await bot.drain()
        return lines

    status, reply = asyncio.run(talk())
    assert "Storage: SQLite" in status
    assert "Messages: 2 in all" in status, "the question, and the reply that nobody has seen"
    assert reply == "Memo: Aye."
    assert "where is the anchor?" in str(model.requests[-1].messages)
    for refusal in ("a reply was not sent", "a message was not sent", "ServerError: the platform is away"):
        assert refusal in caplog.text


class ElectedPlatform(PrintedPlatform):
    """A platform on which somebody runs a chat for as long as they are in office."""

    is_in_office: bool = True

    async def is_admin(self, place: Place, person_id: str) -> bool:
        return self.is_in_office


def test_who_no_longer_runs_a_group_erases_nothing_of_others_though_they_had_begun_to(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        lines: list[str] = []
        platform = ElectedPlatform(printed_identity(()), lines.append)
        options = BotOptions(tmp_path, memories=MemoryParts(settings={"telemetry": "off"}))
        async with open_bot(Delivery(platform), options) as bot:
            for event in (message("The hull is blue.", "a"), command("/erase everybody"), press("erase yes")):
                bot.submit(event)
            await bot.drain()
            platform.is_in_office = False
            for event in (press("erase sure"), command("/summary_status")):
                bot.submit(event)
            await bot.drain()
        return lines

    begun, again, refused, status = asyncio.run(talk())
    assert "everything that I keep of this chat" in begun
    assert "Are you sure?" in again
    assert refused == f"Memo: {texts.ADMINS_ONLY}"
    assert "Messages: 1 in all" in status


class GatedPlatform(PrintedPlatform):
    """A platform that takes nothing before its gate opens. `asked` is set when the bot asks who runs a chat."""

    gate: asyncio.Event
    asked: asyncio.Event

    async def send(self, place: Place, message: BotMessage, reply_to: str | None = None) -> str:
        await self.gate.wait()
        return await super().send(place, message, reply_to)

    async def is_admin(self, place: Place, person_id: str) -> bool:
        self.asked.set()
        return True


def test_no_more_answers_wait_for_a_platform_than_a_chat_can_read(tmp_path: Path) -> None:
    async def talk() -> list[str]:
        lines: list[str] = []
        platform = GatedPlatform(printed_identity(()), lines.append)
        platform.gate, platform.asked = asyncio.Event(), asyncio.Event()
        options = BotOptions(tmp_path, memories=MemoryParts(settings={"telemetry": "off"}))
        async with open_bot(Delivery(platform), options) as bot:
            for number in range(MOST_ANSWERS + 3):
                bot.submit(replace(command("/cancel"), id=str(number)))
            bot.submit(command("/summary"))
            await asyncio.wait_for(platform.asked.wait(), PATIENCE)  # so what came before is handled
            platform.gate.set()
        return lines

    assert asyncio.run(talk()).count(f"Memo: {texts.NOTHING_TO_CANCEL}") == MOST_ANSWERS


def test_what_a_disk_refuses_is_said_and_changes_of_the_platform_follow_in_order(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def contents(bot: Bot) -> list[str]:
        async with bot.tools.pool.use(GROUP) as memory:
            return [kept.content for kept in await memory.conversation("chat").history()]

    async def talk() -> list[str]:
        lines: list[str] = []
        async with printed_bot(tmp_path, lines) as bot:
            for id in "abc":
                bot.submit(message(f"Boat {id} leaks.", id))
            await bot.drain()
            async with bot.tools.pool.maintain(GROUP) as memory:
                store: Any = memory.runtime.parts.store
            with with_read_only_file(store):
                for event in (
                    MessageDeletion(GROUP, ("a",)),
                    MessageEdit(message("\0" * 9, "b")),  # refused also by a disk that takes all
                    MessageEdit(message("Boat c is dry.", "c")),
                    message("Memo, remember that I steer", "d"),
                    command("/summary_now"),
                ):
                    bot.submit(event)
                await bot.drain()
                assert await contents(bot) == [*(f"Boat {id} leaks." for id in "abc"), "Memo, remember that I steer"]
            bot.retry_postponed()
            await bot.drain()
            assert "Boat c is dry." in await contents(bot)
            with with_read_only_file(store):
                bot.submit(MessageDeletion(GROUP, ("c",)))
                await bot.drain()
                await bot.close()
            return [*lines, *await contents(bot)]

    outage, not_done, no_summary, over, *kept = asyncio.run(talk())
    assert (outage, not_done, no_summary) == tuple(
        f"Memo: {text}" for text in (texts.OUTAGE, texts.NOT_DONE, texts.FAILED_SUMMARY)
    )
    assert over == "Memo: My disk takes messages again: 1 message held in memory written."
    assert kept == ["Boat b leaks.", "Boat c is dry.", "Memo, remember that I steer"]
    assert "an edit or a deletion is refused" in caplog.text
    assert "edits and deletions that the store refused are lost: 1" in caplog.text


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
