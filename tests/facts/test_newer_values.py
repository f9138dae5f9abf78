"""A newer statement of a key with one value ends the older one, in whatever words (G5); the history keeps both.

`tests/data/newer_values.tsv` has pairs of statements, the newer some months after the older: `tune`, `kept` and `third`
are pairs of which the newer ends the older (the last two were written to report the rules by), `both` are pairs of
which the older stays: another person's, a second job, what is only hoped or supposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from engine_doubles import settle_facts

from everword import Memory
from everword.model import Fact

FILE = Path(__file__).parents[1] / "data" / "newer_values.tsv"
FIRST = datetime(2025, 3, 1, 12, tzinfo=UTC)
SECOND = datetime(2025, 6, 1, 12, tzinfo=UTC)
LEAST = {"tune": 17, "kept": 19, "third": 16}
"""Of twenty pairs each."""


@dataclass(frozen=True)
class Pair:
    set: str
    older: str
    newer: str
    now: str
    before: str

    @property
    def user(self) -> str:
        return f"{self.older} {self.newer}"


PAIRS = [Pair(*line.split("\t")) for line in FILE.read_text(encoding="utf-8").splitlines()[1:]]
NUMBERS_AND_NEWS = (
    ("I work at Northwind.", "employer", "Northwind", "Helix"),
    ("I live in Porto.", "location", "Porto", "Braga"),
    ("I have 37 stamps.", "number of stamps", "37", "52"),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(str(tmp_path_factory.mktemp("values") / "memory.db"), followers=False) as memory:
        for pair in PAIRS:
            chat = memory.conversation(pair.user, user=pair.user)
            chat.add("user", pair.older, time=FIRST)
            chat.add("user", pair.newer, time=SECOND)
        settle_facts(memory)
        yield memory


def own_values(memory: Memory, pair: Pair) -> list[str]:
    """What is so of the person now; an event stays, whatever came later."""
    return [fact.value for fact in memory.facts(user=pair.user) if fact.subject is None and fact.category != "event"]


def has_ended(memory: Memory, pair: Pair) -> bool:
    values = own_values(memory, pair)
    return any(pair.now in value for value in values) and not any(pair.before in value for value in values)


@pytest.mark.checklist("G5")
@pytest.mark.parametrize("name", LEAST)
def test_a_newer_statement_ends_the_older_one(memory: Memory, name: str) -> None:
    pairs = [pair for pair in PAIRS if pair.set == name]
    stale = [pair for pair in pairs if not has_ended(memory, pair)]
    assert len(pairs) == 20
    assert len(pairs) - len(stale) >= LEAST[name], [(pair.newer, own_values(memory, pair)) for pair in stale]


@pytest.mark.checklist("G5")
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.set == "both"], ids=lambda pair: pair.newer)
def test_what_is_said_of_others_or_only_supposed_ends_nothing(memory: Memory, pair: Pair) -> None:
    values = own_values(memory, pair)
    assert any(pair.before in value for value in values), values
    assert any(pair.now in value for value in values), values


@pytest.mark.checklist("G5")
@pytest.mark.parametrize(("older", "key", "before", "now"), NUMBERS_AND_NEWS)
def test_the_history_has_both_values_with_their_days(
    memory: Memory, older: str, key: str, before: str, now: str
) -> None:
    [pair] = [pair for pair in PAIRS if pair.older == older and pair.now == now]

    def days(fact: Fact) -> tuple[datetime | None, datetime | None]:
        return fact.valid_from, fact.valid_to

    past, present = memory.fact_history(key, user=pair.user)
    assert (past.value, present.value) == (before, now)
    assert (days(past), days(present)) == ((FIRST, SECOND), (SECOND, None))
