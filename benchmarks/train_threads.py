"""Learns the weights of `everword.topics.rules.reply_threads` from annotated reply links, and prints them.

    python benchmarks/train_threads.py FOLDER

The stretches of even place are used. For each annotated message the rule scores what it may answer, and beginning a
thread; the weights are those that make the annotated choices likeliest (a conditional logit with a small penalty), by
gradient ascent. Messages before the annotated ones are linked by the simple rule. The rule adds up the chances of all
messages of a thread, so beginning one gets `BONUS` more (of -0.4 to 0.9, that with the best F1 on these stretches).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everword.topics.rules.reply_threads import Threads
from quality.threads import Stretch, embed, link_simply, read_stretches

PENALTY = 3.0
STEPS = 300
RATE = 0.07
BONUS = 0.5

Choice = tuple[list[dict[str, float]], list[bool]]


def choices(stretch: Stretch) -> list[Choice]:
    """The signs of all that each annotated message may answer, and which of them were annotated."""
    threads = Threads()
    answers: dict[int, set[int]] = {}
    for first, last in stretch.links:
        answers.setdefault(last, set()).add(first)
    simple = {last: first for first, last in link_simply(stretch)}
    scored = set(stretch.scored)
    spoken_lines = {message.number for message in stretch.messages}
    results: list[Choice] = []
    for message, vector in zip(stretch.messages, embed(stretch), strict=True):
        spoken = threads.read(message.number, message.author, message.text, message.time, vector)
        expected = answers.get(message.number, set()) & spoken_lines - {message.number}
        parent = max(expected, default=None) if message.number in scored else simple.get(message.number)
        if message.number in scored:
            candidates = threads.candidates(spoken)
            signs = [*threads.signs(spoken, candidates), threads.signs_of_beginning(spoken)]
            is_expected = [*(candidate.turn in expected for candidate, _ in candidates), not expected]
            results += [(signs, is_expected)] if any(is_expected) else []
        thread = None if parent is None else threads.thread_of(parent)
        threads.append(spoken, message.number if thread is None else thread, parent)
    return results


def learn(data: Sequence[Choice]) -> dict[str, float]:
    names = sorted({name for signs, _ in data for options in signs for name in options})
    columns = {name: place for place, name in enumerate(names)}
    rows: NDArray[Any] = np.zeros((sum(len(signs) for signs, _ in data), len(names)))
    options = [option for signs, _ in data for option in signs]
    for row, option in zip(rows, options, strict=True):
        for name, value in option.items():
            row[columns[name]] = value
    is_expected = np.concatenate([expected for _, expected in data])
    starts = np.cumsum([0, *(len(signs) for signs, _ in data)])[:-1]
    groups = np.repeat(np.arange(len(data)), [len(signs) for signs, _ in data])
    weights = np.zeros(len(names))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        scores = rows @ weights
        values = np.exp(scores - np.maximum.reduceat(scores, starts)[groups])
        chances = values / np.add.reduceat(values, starts)[groups]
        wanted = values * is_expected
        wanted /= np.add.reduceat(wanted, starts)[groups]
        gradient = (rows.T @ (wanted - chances) - PENALTY * weights) / len(data)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights += RATE * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    stretches = read_stretches(parser.parse_args().folder)[::2]
    for name, weight in learn([choice for stretch in stretches for choice in choices(stretch)]).items():
        print(f'    "{name}": {round(weight + BONUS, 2) if name == "begins" else weight},')


if __name__ == "__main__":
    main()
