"""How well shifts of subject are found, and what simple methods find. Pure: marks in, numbers from 0 to 1 out.

Pk and WindowDiff slide a window of half a segment's mean length over a dialogue and count how often it is wrong: Pk if
only one of the two sees a shift in it, WindowDiff if they do not see the same number. Less is better; both are means
over dialogues. F1 is of the places themselves, over all dialogues together: a shift found one message too late counts
as one missed and one too many. Finding nothing has a fair Pk and an F1 of 0; all three have to be read together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from everword.ports import Vectors
from quality.dialogues import Dialogue

DRAWS = 200
"""How often chance is tried; its figures are the mean."""
SEED = 20
BLOCK = 2
"""Messages on each side of a gap that TextTiling compares: what has the best F1 on TIAGE's training part."""

Marks = Sequence[bool]


@dataclass(frozen=True, slots=True)
class Scores:
    """`pk` and `window_diff`: less is better. `f1` with its `precision` and `recall`: more is better."""

    pk: float
    window_diff: float
    f1: float
    precision: float
    recall: float


def window(marks: Marks) -> int:
    """Half of what a segment has on average, in messages; at least two, and fewer than there are in all."""
    half = round(len(marks) / (2 * (1 + sum(marks[1:]))))
    return max(min(max(half, 2), len(marks) - 1), 1)


def in_windows(marks: Marks, size: int) -> NDArray[np.int64]:
    """How many shifts each window has: between a message and the one `size` further on."""
    counted = np.cumsum([0, 0, *(int(mark) for mark in marks[1:])])
    return np.asarray(counted[size + 1 :] - counted[1 : len(marks) - size + 1], dtype=np.int64)


def score(dialogues: Sequence[Dialogue], found: Sequence[Marks]) -> Scores:
    """The measures of the shifts found in dialogues, one mark a message; what is said of a first message is ignored."""
    pk, window_diff = [], []
    right = made = there = 0
    for dialogue, marks in zip(dialogues, found, strict=True):
        true = dialogue.shifts
        size = window(true)
        wanted, seen = in_windows(true, size), in_windows(marks, size)
        pk.append(float(np.mean((wanted > 0) != (seen > 0))))
        window_diff.append(float(np.mean(wanted != seen)))
        right += sum(a and b for a, b in zip(true[1:], marks[1:], strict=True))
        made += sum(map(bool, marks[1:]))
        there += sum(true[1:])
    f1 = 2 * right / (made + there) if made + there else 0.0
    return Scores(fmean(pk), fmean(window_diff), f1, right / made if made else 0.0, right / there if there else 0.0)


def by_chance(dialogues: Sequence[Dialogue], draws: int = DRAWS) -> Scores:
    """Shifts at random places, as many as there really are: the mean of many draws, the same every time."""
    places = sum(len(dialogue.lines) - 1 for dialogue in dialogues)
    rate = sum(sum(dialogue.shifts) for dialogue in dialogues) / places
    chance = np.random.default_rng(SEED)
    drawn = []
    for _ in range(draws):
        marks = [[bool(mark) for mark in chance.random(len(dialogue.lines)) < rate] for dialogue in dialogues]
        drawn.append(score(dialogues, marks))
    names = ("pk", "window_diff", "f1", "precision", "recall")
    return Scores(*(fmean(getattr(one, name) for one in drawn) for name in names))


def tiling(vectors: Vectors, deviations: float, block: int = BLOCK) -> list[bool]:
    """TextTiling over the vectors of a whole dialogue: a shift at each dip of the likeness between the messages before
    and after a gap that is deeper than the mean depth and so many deviations.
    """
    number = len(vectors)
    alike = np.array([_cosine(vectors[max(g - block, 0) : g], vectors[g : g + block]) for g in range(1, number)])
    depth = _climb(alike) + _climb(alike[::-1])[::-1]
    least = max(float(depth.mean() + deviations * depth.std()), 0.0)
    marks = [False] * number
    for gap in range(number - 1):
        lowest = (gap == 0 or alike[gap] <= alike[gap - 1]) and (gap == number - 2 or alike[gap] < alike[gap + 1])
        marks[gap + 1] = bool(lowest and depth[gap] > least)
    return marks


def _climb(alike: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far it goes up from each gap to the next peak on the left."""
    peaks = np.empty_like(alike)
    for at, here in enumerate(alike):
        peaks[at] = peaks[at - 1] if at and alike[at - 1] >= here else here
    return np.asarray(peaks - alike)


def _cosine(before: Vectors, after: Vectors) -> float:
    one, other = before.sum(axis=0, dtype=np.float64), after.sum(axis=0, dtype=np.float64)
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.dot(one, other)) / lengths if lengths > 1e-9 else 0.0
