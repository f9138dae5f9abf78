"""A space and its members: every message once and with all that is known of it, names over time, and who is meant."""

from __future__ import annotations

import itertools
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree

import member_bytes
import pytest
from hostile_names import HOSTILE_NAMES
from prepared_programs import PreparedProgram

from everword import Draft, Memory
from everword.model import Ambiguous, Member, Resolved, Unknown
from everword.summaries.digests import public_names
from everword.summaries.rules.days import transcript
from everword.testing import FrozenClock

GUILD = "guild"
MONDAY = datetime(2024, 5, 6, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def say(
    memory: Memory, author: str, text: str, time: datetime = MONDAY, *, name: str | None = None, **more: str
) -> None:
    channel = memory.conversation(more.get("channel", "general"), space=GUILD)
    channel.add("user", text, author=author, time=time, name=name, platform_id=more.get("id"))


def member(memory: Memory, id: str) -> Member:
    return next(one for one in memory.people(space=GUILD) if one.id == id)


def displayed(memory: Memory, id: str) -> list[tuple[str, datetime | None, datetime | None]]:
    names = [(name.text, name.since, name.seen) for name in member(memory, id).names if name.kind == "display"]
    return sorted(names, key=lambda each: str(each[1]))


# -- C1


@pytest.mark.checklist("C1")
def test_a_space_has_channels_and_members_and_every_message_once(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        for _ in range(2):  # a platform that delivers everything twice
            say(memory, "1", "hello", id="a1", name="Alex")
            say(memory, "2", "hi <@1>", MONDAY + DAY, id="a2", name="Kim")
            say(memory, "1", "psst", MONDAY + DAY, id="a1", channel="random")  # numbered by channel
        memory.settle()
        general = memory.conversation("general", space=GUILD).history()
        assert [(m.space, m.conversation, m.author, m.time, m.platform_id, m.content) for m in general] == [
            (GUILD, "general", "1", MONDAY, "a1", "hello"),
            (GUILD, "general", "2", MONDAY + DAY, "a2", "hi <@1>"),  # a mention stays an id in the log
        ]
        assert [c.id for c in memory.conversations(space=GUILD)] == ["random", "general"]
        assert [(one.id, one.shown) for one in memory.people(space=GUILD)] == [("1", "Alex"), ("2", "Kim")]
        assert memory.people() == []  # nothing crosses a space
        assert memory.stats(space=GUILD).messages == 3
        assert memory.verify().ok


# -- C8, C11: names over time


@pytest.mark.checklist("C8", "C11")
def test_display_names_come_with_messages_and_the_newest_is_shown(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        say(memory, "1", "I am here", MONDAY, name="Alexander")
        say(memory, "1", "me again", MONDAY + DAY, name="Alexander")
        say(memory, "1", "and again", MONDAY + 2 * DAY, name=" Lex ")
        say(memory, "2", "who?", MONDAY + 2 * DAY)
        memory.settle()
        assert displayed(memory, "1") == [
            ("Alexander", MONDAY, MONDAY + DAY),
            ("Lex", MONDAY + 2 * DAY, MONDAY + 2 * DAY),
        ]
        assert [member(memory, id).shown for id in ("1", "2")] == ["Lex", "2"]
        for called in (
            "Lex",
            "alexander",
            "<@1>",
            "<@!1>",
            "1",
        ):  # who changed their name is still known by the old one
            found = memory.who_is(called, space=GUILD)
            assert isinstance(found, Resolved), called
            assert found.member == "1"


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.checklist("C11")
def test_the_newest_name_wins_in_whatever_order_messages_are_read(tmp_path: Path, order: tuple[int, ...]) -> None:
    said = [(MONDAY, "Alex", "a"), (MONDAY + 4 * DAY, "Lex", "b"), (MONDAY + 8 * DAY, "Alex", "a")]
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        for time, name, channel in (said[place] for place in order):
            say(memory, "1", "hello", time, name=name, channel=channel)
            memory.settle()
        assert member(memory, "1").shown == "Alex"
        assert displayed(memory, "1") == [
            ("Alex", MONDAY, MONDAY + 8 * DAY),
            ("Lex", MONDAY + 4 * DAY, MONDAY + 4 * DAY),
        ]


@pytest.mark.checklist("C11")
def test_a_name_from_an_export_is_a_display_name_and_nonsense_is_none(tmp_path: Path) -> None:
    names: list[object] = ["Ann Lee", "", "  ", 7, None, ["x"], "y" * 300, "tab\x07bell"]
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        drafts = [Draft("user", f"line {n}", f"u{n}", metadata={"name": name}) for n, name in enumerate(names)]
        drafts.append(Draft("tool", "42", "calculator", metadata={"name": "Calculator"}))
        memory.conversation("general", space=GUILD).extend(drafts)
        memory.settle()
        shown = {one.id: one.shown for one in memory.people(space=GUILD)}
        cleaned = {"u0": "Ann Lee", "u6": "y" * 256, "u7": "tab bell"}
        assert shown == {f"u{n}": f"u{n}" for n in range(len(names))} | cleaned


@pytest.mark.checklist("C11")
def test_a_name_in_a_private_chat_stays_there(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        memory.conversation("dm", user="1", space=GUILD).add("user", "it is me", name="Zebediah")
        memory.settle()
        assert member(memory, "1").names == ()
        assert isinstance(memory.who_is("Zebediah", space=GUILD), Unknown)


@pytest.mark.checklist("G9")
def test_a_name_is_put_on_one_line_and_stops_no_message(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "a.db"), followers=False) as memory:
        for number, name in enumerate(("a\nb", *HOSTILE_NAMES)):
            say(memory, f"u{number}", "hello", name=name)
        memory.settle()
        assert member(memory, "u0").shown == "a b"
        assert len(list(memory.export(space=GUILD))) == 1 + len(HOSTILE_NAMES)


@pytest.mark.checklist("C11")
def test_an_ambiguous_name_is_asked_back_never_guessed(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        say(memory, "1", "hello", name="Sam Brown")
        say(memory, "2", "hello", name="Max")
        say(memory, "2", "hello again", MONDAY + DAY, name="Sam Green")
        say(memory, "3", "hello", name="Maximilian")
        memory.settle()
        memory.add_name("Max", user="3", kind="nickname", space=GUILD)
        memory.add_name("gardener", user="2", space=GUILD)
        for called, meant in {"Sam": {"1", "2"}, "max": {"2", "3"}, "MAX": {"2", "3"}}.items():
            found = memory.who_is(called, space=GUILD)
            assert isinstance(found, Ambiguous), called
            assert {one.member for one in found.candidates} == meant
        for called, one in {"Sam Green": "2", "gardener": "2", "Maximilian": "3", "<@1>": "1"}.items():
            clear = memory.who_is(called, space=GUILD)
            assert isinstance(clear, Resolved)
            assert clear.member == one
        unknown = memory.who_is("Maxx", space=GUILD)
        assert isinstance(unknown, Unknown)  # spelt alike is suggested, not taken
        assert {one.member for one in unknown.suggestions} >= {"2"}
        me = memory.who_is("me", speaker="3", space=GUILD)
        assert isinstance(me, Resolved)
        assert me.member == "3"


@pytest.mark.checklist("C8")
def test_what_a_model_reads_has_names_where_the_log_has_ids(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        say(memory, "1", "hello", name="Alexander")
        say(memory, "2", "ask <@1>, <@!1> or @1 & not <@9>", MONDAY + DAY, name="K<i>m")
        say(memory, "1", "renamed", MONDAY + DAY, name="Lex")
        memory.settle()
        said = memory.conversation("general", space=GUILD).history()
        names = memory.engine.runtime.parts.store.read(lambda tx: public_names(tx, GUILD, {m.author for m in said}))
        root = ElementTree.fromstring(transcript(said, names, UTC))
        assert [[field.text for field in each] for each in root][1] == [
            "2024-05-07T09:00",
            "2",
            "K<i>m",
            "ask @Lex, @Lex or @Lex & not <@9>",
        ]
        assert said[1].content == "ask <@1>, <@!1> or @1 & not <@9>"


@pytest.mark.checklist("C11")
def test_names_go_with_whoever_is_erased(store_url: str) -> None:
    with Memory(store_url, followers=False) as memory:
        say(memory, "1", "hello", name="Alex")
        say(memory, "2", "hello", name="Kim")
        memory.settle()
        memory.erase(user="1", space=GUILD)
        memory.settle()
        assert [one.shown for one in memory.people(space=GUILD)] == ["Kim"]
        assert isinstance(memory.who_is("Alex", space=GUILD), Unknown)


# -- C15: what a member costs

MEMBERS = 24  # a multiple of six
TEXT = """I went to the market{n} with my sister, and we talked about the flood{day} for hours. On the way home we met
neighbour{n}{day}, who plays the trombone{day} and invited us to a concert. Later I cooked lentils{day} and burnt them,
so we had to open every window{n} of the house. In the evening my brother{n} called from the harbour{day} about a boat.
"""


@pytest.mark.checklist("C15")
def test_a_member_costs_about_seven_kilobytes(tmp_path: Path) -> None:
    url, now = str(tmp_path / "a.db"), FrozenClock(MONDAY + 3 * DAY)
    with Memory(url, clock=now, telemetry="off", followers=False) as memory:
        channel = memory.conversation("general", space=GUILD)
        for day in range(4):
            time = MONDAY + day * DAY - timedelta(hours=2)
            channel.extend(Draft("user", TEXT.format(n=n, day=day), f"{n}", time=time) for n in range(MEMBERS))
        memory.settle()
        for number in range(MEMBERS):
            assert len(memory.profile(user=f"{number}", space=GUILD).context) > 600  # as long as it is meant to be
    command = [sys.executable, member_bytes.__file__, url, GUILD, str(MEMBERS), now.now().isoformat()]
    with PreparedProgram(command, stdout=subprocess.PIPE, text=True) as program:
        printed, _ = program.communicate()
    assert 1_000 < float(printed) < 7_500  # bytes; so 100 members are well under a megabyte
