"""Learn the weights of `everword.topics.rules.drift` from published dialogues, and print them to be put there.

    python benchmarks/train_drift.py --tiage tiage_train.json --longmemeval longmemeval_oracle.json

Both sets are under the MIT licence; neither is part of everword. TIAGE (github.com/HuiyuanXie/tiage) says of chats
between two people where the subject shifts. A rule learned from it alone takes every question for a shift and makes
little of meaning, so it also learns from dialogues put together from pieces of others: pieces of TIAGE, and of
LongMemEval's chats with an assistant, once whole, once cut short, once with nothing said about who is the
assistant, and from one half of the tasks in `benchmarks/data`. What announces a shift ("by the way") is learned from
TIAGE alone: LongMemEval's users say it in the middle of anything. Logistic regression with a small penalty, in plain
numpy. A fifth of TIAGE is left out in turn, to say what the rule does with dialogues it was not learned from.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everword.config import Settings
from everword.models.embedding.local import StaticEmbedder
from everword.topics.rules.drift import BUILT_IN, REACH, WEIGHTS, DriftMessage, signs
from everword.topics.rules.topic_set import round_vector
from everword.topics.rules.topics import Book, IncomingMessage, add_message, fit_active_topics, follows, open_topic
from everword.wiring import topic_rule
from quality.dialogues import Dialogue, Line, load
from quality.segmentation import Scores, score
from quality.tasks import assemble_tasks

Floats = NDArray[np.float64]
PENALTY = 3.0
FOLDS = 5
ROWS_OF_A_KIND = 1_500  # what a kind of dialogue counts for, whatever its size
MADE = 60  # dialogues of each kind that are put together
SEED = 4
START = datetime(2000, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=20)
RULE = topic_rule(Settings())
CHANCES = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


@dataclass(frozen=True, slots=True)
class Rows:
    """One row a message that may begin something else; `dialogue` is the number of the one it is of."""

    signs: Floats
    shifts: Floats
    dialogue: NDArray[np.int64]
    weight: float = 1.0


def put_together(pieces: Sequence[Sequence[Line]], number: int, chance: random.Random) -> list[Dialogue]:
    """Dialogues of three to five pieces; the subject shifts where a piece begins."""
    order = list(pieces)
    chance.shuffle(order)
    made, at = [], 0
    for name in range(number):
        lines: list[Line] = []
        for _ in range(chance.randint(3, 5)):
            piece = order[at % len(order)]
            at += 1
            lines += [Line(one.text, one.role, place == 0 and bool(lines)) for place, one in enumerate(piece)]
        made.append(Dialogue(str(name), tuple(lines)))
    return made


def pieces_of(dialogues: Sequence[Dialogue]) -> list[list[Line]]:
    """The runs of dialogues that stay with one subject for three messages or more."""
    found: list[list[Line]] = []
    for dialogue in dialogues:
        runs: list[list[Line]] = []
        for line in dialogue.lines:
            if line.shift or not runs:
                runs.append([])
            runs[-1].append(line)
        found += [run for run in runs if len(run) >= 3]
    return found


def sessions_of(path: Path, chance: random.Random) -> list[list[Line]]:
    """The beginning or the end of each chat with an assistant: two, four or six messages, the user's first."""
    chats: dict[str, list[dict[str, str]]] = {}
    for entry in json.loads(path.read_text(encoding="utf-8")):
        chats.update(zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True))
    found = []
    for _, chat in sorted(chats.items()):
        lines = [Line(turn["content"], "assistant" if turn["role"] == "assistant" else "user", False) for turn in chat]
        lines = lines[next((i for i, line in enumerate(lines) if line.role == "user"), len(lines)) :]
        count = chance.choice((2, 4, 6))
        part = lines[:count] if chance.random() < 0.6 else lines[-count - len(lines) % 2 :]
        if len(part) >= 2 and part[0].role == "user":
            found.append(part)
    return found


def cut_short(dialogues: Sequence[Dialogue], chance: random.Random, roles: bool) -> list[Dialogue]:
    """With a sentence or two of each message, as people write on a phone."""

    def short(text: str) -> str:
        sentences = [one for one in re.findall(r"[^.!?]+[.!?]*", text) if len(one.strip()) > 3] or [text]
        words = " ".join(sentences[: chance.choice((1, 1, 2))]).split()
        return " ".join(words[: chance.randint(15, 30)])

    return [
        Dialogue(one.name, tuple(Line(short(x.text), x.role if roles else "user", x.shift) for x in one.lines))
        for one in dialogues
    ]


@dataclass(frozen=True, slots=True)
class Judged:
    """A message that may begin something else: what came before it, its fit to the true topic before it, and whether it
    does."""

    before: tuple[DriftMessage, ...]
    message: DriftMessage
    fit: float
    shift: bool


def judge_messages(dialogue: Dialogue, embedder: StaticEmbedder) -> list[Judged | None]:
    """Each message of a dialogue, with the topics that it should have had so far; None for one that opens nothing."""
    vectors = embedder.embed_now([line.text for line in dialogue.lines])
    book = Book()
    judged: list[Judged | None] = []
    for turn, (line, vector) in enumerate(zip(dialogue.lines, vectors, strict=True), 1):
        message = IncomingMessage(turn, line.role, line.text, START + turn * SECOND, round_vector(vector))
        may_open = line.role == "user" and not follows(message)
        fit = fit_active_topics(book, message, RULE).to(book.current) if may_open and book.current else 0.0
        judged.append(Judged(book.recent, message.drift, fit, line.shift) if may_open and book.current else None)
        book = add_to_true_topic(book, message, line.shift)
    return judged


def add_to_true_topic(book: Book, message: IncomingMessage, opens: bool) -> Book:
    recent = (*book.recent, message.drift)[-REACH:]
    if book.current is None or opens:
        return Book({**book.states, message.turn: open_topic(message)}, message.turn, recent)
    states = {**book.states, book.current: add_message(book.states[book.current], message, back=False)}
    return Book(states, book.current, recent)


def rows(
    dialogues: Sequence[Dialogue], embedder: StaticEmbedder, weight: float = 1.0, hidden: Sequence[str] = ()
) -> Rows:
    """The signs of every message that may begin something else, those that are `hidden` as if there were none."""
    found, shifts, numbers = [], [], []
    for number, dialogue in enumerate(dialogues):
        for judged in judge_messages(dialogue, embedder):
            if judged is not None:
                found.append(list(signs(judged.before, judged.message, BUILT_IN, judged.fit).values()))
                shifts.append(float(judged.shift))
                numbers.append(number)
    table = np.array(found)
    table[:, [name in hidden for name in WEIGHTS]] = 0.0
    return Rows(table, np.array(shifts), np.array(numbers), weight)


def share_of(part: Rows, share: float) -> Rows:
    """A kind of dialogue with a weight that does not depend on how many messages there are of it."""
    return replace(part, weight=share * ROWS_OF_A_KIND / len(part.shifts))


def learn(parts: Sequence[Rows]) -> tuple[Floats, float]:
    """The weights and the bias that make what happened likeliest, by Newton's method."""
    table = np.vstack([part.signs for part in parts])
    shifts = np.concatenate([part.shifts for part in parts])
    counts = np.concatenate([np.full(len(part.shifts), part.weight) for part in parts])
    mean, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    known = np.hstack([(table - mean) / spread, np.ones((len(table), 1))])
    penalty = np.diag([PENALTY] * len(mean) + [0.0])
    beta = np.zeros(len(mean) + 1)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-known @ beta))
        slope = known.T @ (counts * (chance - shifts)) + penalty @ beta
        bend = (known * (counts * chance * (1 - chance))[:, None]).T @ known + penalty
        step = np.linalg.solve(bend, slope)
        beta -= step
        if np.abs(step).max() < 1e-8:
            break
    weights = beta[:-1] / spread
    return weights, float(beta[-1] - mean @ weights)


def tried(
    dialogues: Sequence[Dialogue], embedder: StaticEmbedder, weights: Floats, bias: float, least: float
) -> list[list[bool]]:
    """What these weights say of dialogues, from the chance `least` on."""
    found = []
    for dialogue in dialogues:
        marks = []
        for judged in judge_messages(dialogue, embedder):
            if judged is None:
                marks.append(False)
                continue
            values = list(signs(judged.before, judged.message, BUILT_IN, judged.fit).values())
            marks.append(bool(1 / (1 + np.exp(-bias - float(np.dot(weights, values)))) >= least))
        found.append(marks)
    return found


def left_out(tiage: Sequence[Dialogue], others: Sequence[Rows], embedder: StaticEmbedder) -> list[Scores]:
    """For each chance, the measures on TIAGE's dialogues, each judged by weights learned without it."""
    whole = rows(tiage, embedder)
    said: list[list[list[bool]]] = [[] for _ in CHANCES]
    judged: list[Dialogue] = []
    for fold in range(FOLDS):
        kept = whole.dialogue % FOLDS != fold
        weights, bias = learn([Rows(whole.signs[kept], whole.shifts[kept], whole.dialogue[kept]), *others])
        out = [one for number, one in enumerate(tiage) if number % FOLDS == fold]
        judged += out
        for at, least in enumerate(CHANCES):
            said[at] += tried(out, embedder, weights, bias, least)
    return [score(judged, found) for found in said]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiage", type=Path, required=True)
    parser.add_argument("--longmemeval", type=Path, required=True)
    given = parser.parse_args()
    embedder, chance = StaticEmbedder(), random.Random(SEED)
    tiage = load(given.tiage).dialogues
    chats = sessions_of(given.longmemeval, chance)
    others = [
        share_of(rows(put_together(pieces_of(tiage), MADE, chance), embedder), 1.5),
        share_of(rows(put_together(chats, MADE, chance), embedder, hidden=["cue"]), 1.0),
        share_of(rows(cut_short(put_together(chats, MADE, chance), chance, roles=True), embedder, hidden=["cue"]), 1.0),
        share_of(
            rows(cut_short(put_together(chats, MADE, chance), chance, roles=False), embedder, hidden=["cue"]), 1.0
        ),
        share_of(rows(assemble_tasks(to_learn=True, roles=False, count=MADE).dialogues, embedder), 0.7),
        share_of(rows(assemble_tasks(to_learn=True, roles=True, count=MADE).dialogues, embedder), 0.7),
    ]
    print("TIAGE, each dialogue left out in turn:")
    for least, found in zip(CHANCES, left_out(tiage, others, embedder), strict=True):
        print(f"  chance {least:.2f}: Pk {found.pk:.3f}  WindowDiff {found.window_diff:.3f}  F1 {found.f1:.3f}")
    weights, bias = learn([share_of(rows(tiage, embedder), 3.0), *others])
    print("\nfor topics/rules/drift.py:\nWEIGHTS = {")
    for name, weight in zip(WEIGHTS, weights, strict=True):
        print(f'    "{name}": {weight:.2f},')
    print(f"}}\nBIAS = {bias:.2f}")


if __name__ == "__main__":
    main()
