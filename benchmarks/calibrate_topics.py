"""Find, for each embedder, the cosine to a topic's centroid from which on a message belongs to that topic.

    python benchmarks/calibrate_topics.py --tiage tiage_train.json --longmemeval longmemeval_oracle.json

Two questions are asked. "Goes on": a message and the topic being talked of; is it still that one? "Comes back": a
conversation of twenty topics, as many as everword keeps active, is dealt out from different dialogues in two rounds,
the first half of each, then the second. Does the message that comes back join its topic, which has to be the nearest,
and does the same message open one where its topic has never been? The first is asked of TIAGE's chats between people,
whose shifts are marked; the second of those and of LongMemEval's chats with an assistant, of what the user says in
each. For each the threshold with the best F1 of joining is printed, and that with the best mean of the two sets. The
second is what the threshold decides in everword, where the first is left to `topics/rules/drift.py`: TOPIC_SIMILARITY
in `everword.wiring` is near what is best with an assistant, in steps of 0.05. People's chit-chat is hardly recognised
when it comes back, whatever the threshold, and a topic too many can be merged, while a message under a wrong one is
lost there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everword.config import Settings
from everword.errors import EverwordError
from everword.ports import Vectors
from everword.topics.rules.topic_set import direction, move_centroid
from everword.wiring import open_embedder
from quality.baselines import embedded
from quality.dialogues import Dialogue, Line, load

TOPICS = 20  # dealt out together
SEED = 7
LEAST_WORDS = 4  # of a message that says by itself what it is about
STEPS = np.arange(0.0, 0.90, 0.01)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Joining:
    """A message that could join a topic at this cosine: whether that would be right, and whether there is a topic it
    should join at all."""

    cosine: float
    right: bool
    due: bool


def telling(text: str) -> bool:
    return len(text.split()) >= LEAST_WORDS


def goes_on(dialogue: Dialogue, vectors: Vectors) -> list[Joining]:
    """The cosine of each message to the topic it follows, and whether it belongs to it."""
    found: list[Joining] = []
    centroid, count = b"", 0
    for line, vector in zip(dialogue.lines, vectors, strict=True):
        if centroid and telling(line.text):
            found.append(Joining(float(direction(centroid) @ vector), not line.shift, not line.shift))
        if line.shift:
            centroid, count = b"", 0
        centroid, count = move_centroid(centroid, count, vector), count + 1
    return found


def halves_of(dialogue: Dialogue, vectors: Vectors) -> tuple[Vectors, Vectors] | None:
    """The vectors of the longest run of a dialogue without a shift, in two halves; None if it is too short."""
    runs: list[list[int]] = []
    for at, line in enumerate(dialogue.lines):
        if line.shift or not runs:
            runs.append([])
        if telling(line.text):
            runs[-1].append(at)
    longest = max(runs, key=len)
    middle = len(longest) // 2
    return (vectors[longest[:middle]], vectors[longest[middle:]]) if len(longest) >= 4 else None


def comes_back(halves: Sequence[tuple[Vectors, Vectors]]) -> list[Joining]:
    """The first message of each second half, and the nearest of the topics that the first halves made: once with its
    own topic among them, once without."""
    centroids = []
    for first, _ in halves:
        centroid = b""
        for count, vector in enumerate(first):
            centroid = move_centroid(centroid, count, vector)
        centroids.append(direction(centroid))
    found: list[Joining] = []
    for own, (_, second) in enumerate(halves):
        near = np.array(centroids) @ second[0]
        nearest = int(np.argmax(near))
        found.append(Joining(float(near[nearest]), nearest == own, True))
        found.append(Joining(float(np.max(np.delete(near, own))), False, False))
    return found


def curve(joinings: Sequence[Joining]) -> Floats:
    """For each threshold the F1 of joining, its precision and its recall."""
    cosines = np.array([one.cosine for one in joinings])
    rights = np.array([one.right for one in joinings])
    due = sum(one.due for one in joinings)
    rows = []
    for least in STEPS:
        joined = cosines >= least
        right, made = float(np.sum(joined & rights)), float(joined.sum())
        rows.append((2 * right / (made + due), right / max(made, 1.0), right / due))
    return np.array(rows)


def sessions_of(path: Path) -> list[Dialogue]:
    """What the user says in each chat with an assistant: one topic a chat."""
    chats: dict[str, list[dict[str, str]]] = {}
    for entry in json.loads(path.read_text(encoding="utf-8")):
        chats.update(zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True))
    said = {name: [turn["content"] for turn in chat if turn["role"] == "user"] for name, chat in chats.items()}
    return [
        Dialogue(name, tuple(Line(t, "user", False) for t in texts)) for name, texts in sorted(said.items()) if texts
    ]


async def vectors_of(name: str, dialogues: Sequence[Dialogue]) -> list[Vectors]:
    embedder = open_embedder(Settings.load(embedder=name))
    try:
        await embedder.ready()
        every = await embedded(embedder, [line.text for one in dialogues for line in one.lines])
    finally:
        await embedder.close()
    ends = np.cumsum([len(one.lines) for one in dialogues])
    return np.split(every, ends[:-1])


def dealt(dialogues: Sequence[Dialogue], vectors: Sequence[Vectors]) -> list[Joining]:
    """Whether messages come back to their topics, in conversations of `TOPICS` topics dealt out from dialogues."""
    halves = [half for pair in zip(dialogues, vectors, strict=True) if (half := halves_of(*pair))]
    random.Random(SEED).shuffle(halves)
    groups = [halves[at : at + TOPICS] for at in range(0, len(halves) - TOPICS + 1, TOPICS)]
    return [one for group in groups for one in comes_back(group)]


def show(embedder: str, question: str, cases: int, found: Floats) -> None:
    at = int(np.argmax(found[:, 0]))
    figures = " ".join(f"{value:9.3f}" for value in found[at])
    print(f"{embedder:10} {question:32} {cases:6} {STEPS[at]:9.2f} {figures}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiage", type=Path, required=True)
    parser.add_argument("--longmemeval", type=Path, required=True)
    parser.add_argument("--embedder", action="append", help="static, minilm; repeatable. Default: both")
    given = parser.parse_args()
    people, chats = load(given.tiage).dialogues, sessions_of(given.longmemeval)
    names = ("threshold", "F1", "precision", "recall")
    print(f"{'embedder':10} {'question':32} {'cases':>6} {' '.join(f'{name:>9}' for name in names)}")
    for name in given.embedder or ("static", "minilm"):
        try:
            theirs, asked = (asyncio.run(vectors_of(name, one)) for one in (people, chats))
        except EverwordError as error:
            print(f"{name:10} cannot be used here: {error}")
            continue
        on = [one for pair in zip(people, theirs, strict=True) for one in goes_on(*pair)]
        show(name, "goes on, people", len(on), curve(on))
        back = [dealt(people, theirs), dealt(chats, asked)]
        curves = [curve(found) for found in back]
        show(name, "comes back, people", len(back[0]), curves[0])
        show(name, "comes back, with an assistant", len(back[1]), curves[1])
        show(name, "comes back, mean of the two", sum(map(len, back)), (curves[0] + curves[1]) / 2)


if __name__ == "__main__":
    main()
