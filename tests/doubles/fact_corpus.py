"""Utterances with the facts they state, and how well facts are found in them: precision and recall.

`python tests/doubles/fact_corpus.py` prints both, and what went wrong in the half that rules are tuned on. The other
half is only counted: whoever changes a rule must not look at it.

An expectation reads `category/key=value`, before it `ended` or `not` if a value is taken back, and `Name:` if it is
about somebody else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from everword.facts.english.finder import find_facts
from everword.model import FoundFact

PATH = Path(__file__).parent.parent / "data" / "fact_utterances.jsonl"
SAID_ON = date(2024, 9, 10)


@dataclass(frozen=True, slots=True)
class Utterance:
    half: str
    kind: str
    said: str
    facts: frozenset[str]


@dataclass(frozen=True, slots=True)
class Score:
    right: int
    found: int
    expected: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 1.0

    def __str__(self) -> str:
        return (
            f"precision {self.precision:.3f} ({self.right}/{self.found}), "
            f"recall {self.recall:.3f} ({self.right}/{self.expected})"
        )


def utterances() -> list[Utterance]:
    rows = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
    return [Utterance(row["half"], row["kind"], row["said"], frozenset(map(plain, row["facts"]))) for row in rows]


def notation(fact: FoundFact) -> str:
    about = f"{fact.subject}: " if fact.subject else ""
    holds = "" if fact.holds == "now" else f"{fact.holds} "
    return plain(f"{about}{holds}{fact.category}/{fact.key}={fact.value}")


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def score(
    rows: Iterable[Utterance], finder: Callable[[str, date], list[FoundFact]] = find_facts
) -> tuple[Score, list[tuple[Utterance, frozenset[str]]]]:
    """The score, and the utterances that went wrong with what was found in them."""
    right = found = expected = 0
    wrong = []
    for row in rows:
        got = frozenset(map(notation, finder(row.said, SAID_ON)))
        right += len(got & row.facts)
        found += len(got)
        expected += len(row.facts)
        if got != row.facts:
            wrong.append((row, got))
    return Score(right, found, expected), wrong


def main() -> None:
    rows = utterances()
    for half in ("tuning", "held out"):
        mine = [row for row in rows if row.half == half]
        result, wrong = score(mine)
        print(f"{half}: {len(mine)} utterances, {result}")
        for row, got in wrong if half == "tuning" else ():
            print(f"  {row.said}\n    missed {sorted(row.facts - got)}, wrong {sorted(got - row.facts)}")


if __name__ == "__main__":
    main()
