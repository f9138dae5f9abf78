"""The days of facts (G5): a day not yet come is ahead, a vague one stays vague, every event has a day.

`tests/data/days_told.tsv` has sixty sentences, written before the rules were: the day on which each is said, the right
time, the sentence. "within" is a time that lies in another; "vague" is no day; "said" is the day on which it was said;
"shows" is what the value must show. A sentence of which no fact is kept must not get a wrong day: for these the times
that are read in it are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from engine_doubles import settle_facts, settle_views

from everword import Memory
from everword.model import Fact
from everword.text.dates import days_of, format_days, next_after, noon, spans

FILE = Path(__file__).parents[1] / "data" / "days_told.tsv"
MIN_RIGHT = 57


@dataclass(frozen=True)
class Told:
    day: date
    right: str
    text: str

    @property
    def user(self) -> str:
        return self.text

    @property
    def time(self) -> datetime:
        return datetime(self.day.year, self.day.month, self.day.day, 9, tzinfo=UTC)


def read_rows() -> list[Told]:
    lines = FILE.read_text(encoding="utf-8").splitlines()[1:]
    return [Told(date.fromisoformat(day), right, text) for day, right, text in (line.split("\t") for line in lines)]


ROWS = read_rows()
NAMED_IN_THE_ISSUE = ROWS[:4]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(str(tmp_path_factory.mktemp("days") / "memory.db"), followers=False) as memory:
        for row in ROWS:
            memory.conversation(row.text, user=row.user).add("user", row.text, time=row.time)
        settle_facts(memory)
        yield memory


def facts_of(memory: Memory, row: Told) -> list[Fact]:
    """What is known at once, and what is planned."""
    at_once = memory.facts(user=row.user, as_of=row.time + timedelta(minutes=1))
    planned = [fact for fact in memory.facts(user=row.user) if fact.id not in {known.id for known in at_once}]
    return [*at_once, *planned]


def bounds(text: str) -> tuple[date, date]:
    """The first and the last day of "2024", "2024-05", "2024-05-03" or "2024-05-03..2024-05-09"."""
    first, _, last = text.partition("..")
    parts = [int(part) for part in first.split("-")]
    start = date(*(*parts, 1, 1)[:3])
    if last:
        return start, date.fromisoformat(last)
    if len(parts) == 3:
        return start, start
    end = date(start.year + 1, 1, 1) if len(parts) == 1 or start.month == 12 else date(start.year, start.month + 1, 1)
    return start, end - timedelta(days=1)


def is_right(row: Told, facts: list[Fact]) -> bool:
    kind, _, rest = row.right.rpartition(" ") if not row.right.startswith("shows") else row.right.partition(" ")
    if not facts:
        return is_read_right(row, kind, rest)
    [fact, *_] = facts
    told_day = fact.valid_from.date() if fact.valid_from not in (None, row.time) else None
    last_day = fact.valid_to.date() if fact.valid_to is not None else None
    if row.right in ("vague", "said"):
        is_said_then = row.right != "said" or (fact.valid_from == row.time and fact.said_at == row.time)
        return told_day is None and last_day is None and is_said_then
    if kind == "shows":
        return rest in fact.value and told_day is None
    if kind == "until":
        return last_day == bounds(rest)[0]
    first, last = bounds(rest)
    if kind == "within" and told_day is None:
        return fact.value.endswith(f"in {first.year}") and last == date(first.year, 12, 31)
    if told_day is None or not first <= told_day <= last:
        return False
    if kind == "since" or last_day is None:  # a beginning, such as that of a new home
        return kind in ("since", "within")
    return last_day <= last if kind == "within" else (told_day, last_day) == (first, last)


def is_read_right(row: Told, kind: str, rest: str) -> bool:
    """Whether the times that are read in a sentence are right, if they are taken as past or as ahead."""
    times = spans(row.text, noon(row.day))
    if row.right in ("vague", "said"):
        return not times
    if not times:
        return False
    return any(days_of(span) == bounds(rest) for span in (times[0], next_after(times[0], noon(row.day))))


@pytest.mark.checklist("G5")
def test_the_days_of_sixty_sentences(memory: Memory) -> None:
    wrong = [row for row in ROWS if not is_right(row, facts_of(memory, row))]
    assert len(ROWS) == 60
    assert len(ROWS) - len(wrong) >= MIN_RIGHT, [(row.text, facts_of(memory, row)) for row in wrong]


@pytest.mark.checklist("G5")
@pytest.mark.parametrize("row", NAMED_IN_THE_ISSUE, ids=lambda row: row.right)
def test_a_day_not_yet_come_is_ahead(memory: Memory, row: Told) -> None:
    [fact] = memory.facts(user=row.user)
    first, last = bounds(row.right)
    assert fact.category == "plan"
    assert fact.valid_from == datetime(first.year, first.month, first.day, tzinfo=UTC)
    assert format_days(first, last) in memory.profile(user=row.user).text or str(first.year) in fact.value


@pytest.mark.checklist("G5")
def test_a_profile_tells_a_day_that_was_told_from_the_day_it_was_said(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        chat = memory.conversation("chat", user="alex")
        for text in (
            "I sold my canoe on 3 May.",
            "I lost my passport.",
            "I climbed Mont Blanc a few years ago.",
            "I had surgery last week.",
            "I taught sailing in Genoa from 2010 to 2014.",
            "I finished my novel on 1 February.",
        ):
            chat.add("user", text, time=datetime(2025, 11, 19, 9, tzinfo=UTC))
        settle_facts(memory)
        profile = str(memory.profile(user="alex"))
    for line in (
        "sold their canoe (on 3 May 2025)",
        "lost their passport (said 19 Nov 2025)",
        "climbed Mont Blanc a few years ago (said 19 Nov 2025)",
        "had surgery (10–16 November 2025)",
        "taught sailing in Genoa (2010–2014)",
        "finished their novel (on 1 February 2025)",
    ):
        assert line in profile, profile


@pytest.mark.checklist("G5")
def test_the_season_of_a_wedding_is_its_day(tmp_path: Path) -> None:
    with Memory(str(tmp_path / "memory.db")) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "We got married two summers ago.", time=datetime(2025, 11, 19, 9, tzinfo=UTC))
        settle_views(memory, "facts")
        [fact] = memory.facts(user="alex")
    assert (fact.key, fact.valid_from) == ("marital status", datetime(2023, 6, 1, tzinfo=UTC))
