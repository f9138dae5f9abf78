"""Digests of a group by its threads: what each asked, who answered, what came of it; always in whose words."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword import Draft, Memory, Message
from everword.log.append_and_read import known_names
from everword.summaries.rules.day_threads import DayThreads, is_told_by_thread
from everword.summaries.rules.days import ThreadLink
from everword.testing import FrozenClock, ScriptedLLM

DAY = date(2026, 5, 1)
START = datetime(2026, 5, 1, 9, tzinfo=UTC)
SAID = [
    ("ann", "how do I mount an encrypted usb disk?"),
    ("bob", "does anyone know a good recipe for rye bread?"),
    ("carl", "ann: use cryptsetup open, then mount the mapper device"),
    ("dana", "bob: take sourdough, and twelve hours of patience"),
    ("ann", "carl: cryptsetup says the device is in use"),
    ("carl", "ann: close the old mapper first"),
    ("ann", "carl: that works now, thanks"),
    ("bob", "dana: thank you"),
    ("eve", "is there a train to Ghent after midnight?"),
]


def fill(memory: Memory, said: list[tuple[str, str]], start: datetime = START) -> None:
    memory.conversation("general").extend(
        Draft("user", text, author, time=start + timedelta(minutes=number))
        for number, (author, text) in enumerate(said)
    )


def opened(path: Path, days: int = 1) -> Memory:
    return Memory(str(path / "memory.db"), clock=FrozenClock(START + timedelta(days=days)))


@pytest.mark.checklist("G23", "G24")
def test_a_digest_tells_what_was_asked_who_answered_and_what_came_of_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        fill(memory, SAID)
        texts = {digest.user: digest.text for digest in memory.digests(day=DAY)}
    assert texts["ann"] == (
        "ann asked “how do I mount an encrypted usb disk?”; carl answered “use cryptsetup open, then mount the mapper "
        "device”; ann in the end: “that works now, thanks”."
    )
    assert texts["carl"].startswith("carl answered ann (“how do I mount an encrypted usb disk?”): “use cryptsetup open")
    assert texts["dana"] == (
        "dana answered bob (“does anyone know a good recipe for rye bread?”): “take sourdough, and twelve hours of "
        "patience”; bob said thanks."
    )
    assert texts["eve"] == "eve asked “is there a train to Ghent after midnight?”; nobody answered."


@pytest.mark.checklist("G23")
def test_a_channel_has_its_threads_and_a_week_those_of_its_days(tmp_path: Path) -> None:
    with opened(tmp_path, days=2) as memory:
        fill(memory, SAID)
        fill(
            memory,
            [("bob", "who has a car that seats six people?"), ("ann", "bob: my sister has one")],
            START + DAY_LATER,
        )
        (channel,) = memory.digests(day=DAY, conversation="general")
        (week,) = memory.digests(conversation="general", week=True)
        (person,) = memory.digests(user="bob", week=True)
        assert memory.digests(day=DAY, conversation="nowhere") == []
    assert channel.user == ""
    assert [line.split("”")[0] for line in channel.text.split("\n")] == [
        "ann asked “how do I mount an encrypted usb disk?",
        "bob asked “does anyone know a good recipe for rye bread?",
    ]
    assert "usb disk" in week.text
    assert "seats six" in week.text
    assert [line.split("”")[0] for line in person.text.split("\n")] == [
        "bob asked “does anyone know a good recipe for rye bread?",
        "bob asked “who has a car that seats six people?",
    ]


DAY_LATER = timedelta(days=1)


def test_what_is_forgotten_leaves_a_digest_by_its_line(tmp_path: Path) -> None:
    with opened(tmp_path, days=0) as memory:
        fill(memory, [*SAID, ("ann", "I live in Ghent with my brother and two cats")])
        assert "Ghent with my brother" in memory.profile(user="ann").context
        memory.forget("ann lives in Ghent", user="ann")
        context = memory.profile(user="ann").context
    assert "Ghent with my brother" not in context
    assert "usb disk" in context


def test_two_people_have_the_digests_they_had(tmp_path: Path) -> None:
    said = [("ann" if author in ("ann", "bob", "eve") else "carl", text) for author, text in SAID]
    with opened(tmp_path) as memory:
        fill(memory, said)
        texts = [digest.text for digest in memory.digests(day=DAY)]
    assert [text.split(" ")[0] for text in texts] == ["ann:", "carl:"]


def test_a_model_is_told_the_threads(tmp_path: Path) -> None:
    model = ScriptedLLM(default="no answer")
    with Memory(str(tmp_path / "memory.db"), clock=FrozenClock(START + DAY_LATER), memory=model) as memory:
        fill(memory, SAID)
        memory.digests(day=DAY)
    day = next(text for text in map(str, model.requests) if "<messages" in text)
    assert re.search(r"<thread>1</thread>.{0,200}encrypted usb", day)
    assert re.search(r"<thread>2</thread>.{0,200}rye bread", day)


NICKNAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{2,10}", fullmatch=True)
WORDS = st.text(alphabet='abc :,.?“”"\n', min_size=1, max_size=40)


@given(st.lists(NICKNAMES, min_size=3, max_size=4, unique_by=str.casefold), st.data())
@pytest.mark.checklist("G24")
def test_every_quotation_is_of_whom_it_is_said_to_be(names: list[str], data: st.DataObject) -> None:
    messages: list[Message] = []
    links: dict[str, ThreadLink] = {}
    for turn in range(1, data.draw(st.integers(2, 8)) + 1):
        author = data.draw(st.sampled_from(names))
        to = data.draw(st.sampled_from(["", *(f"{name}: " for name in names)]))
        text = f"{to}{data.draw(WORDS)} m{turn}"
        messages.append(Message("s", "c", turn, f"id{turn}", "user", author, author, text, START))
        parent = data.draw(st.none() | st.integers(1, turn - 1)) if turn > 1 else None
        thread = links[f"id{parent}"].thread if parent else ("c", turn)
        links[f"id{turn}"] = ThreadLink(thread, parent)
    threads = DayThreads(messages, links, {}, known_names(messages))
    own_words = {f"m{message.turn}": message.author for message in messages}
    for text in [*(threads.tell_person(name, 600) for name in {m.author for m in messages}), threads.tell_day(600)]:
        for line in filter(None, text.split("\n")):
            assert is_told_by_thread(line)
            outside = re.sub("“[^“”]*”", "“”", line)
            assert "“" not in outside.replace("“”", "")
            assert not any(mark in outside for mark in own_words)
            for speaker, mark in speakers_of(line):
                assert own_words[mark] == speaker, line


def speakers_of(line: str) -> list[tuple[str, str]]:
    """Each quotation's mark, and whose it is by the words before it."""
    replies = re.match(r"(\S+) \S+(?: to)? (\S+) \(“[^“”]*?(m\d+)”\): “[^“”]*?(m\d+)”", line)
    if replies:
        speakers = [(replies[2], replies[3]), (replies[1], replies[4])]
        line = line[replies.end() :]
    else:
        speakers = []
    found = re.findall(r"(?:^|; )(\S+) (?:asked|said|answered|in the end:)(?: to \S+| \S+)? ?“[^“”]*?(m\d+)”", line)
    return [*speakers, *found]
