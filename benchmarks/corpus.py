"""Chat-like text from a seed: words drawn as often as English draws them, in messages as long as people write.

The words are those of the embedder's vocabulary, which stands roughly in order of frequency, so terms repeat and
meet each other as in real talk: a few everywhere, most of them rarely.
"""

from __future__ import annotations

import random
from itertools import accumulate
from pathlib import Path

import everword.models.embedding.local

VOCABULARY = Path(everword.models.embedding.local.__file__).parent / "data" / "vocab.txt"
FIRST_WORD = 1996  # the vocabulary begins with marks and single characters


def words() -> list[str]:
    lines = VOCABULARY.read_text(encoding="utf-8").splitlines()[FIRST_WORD:]
    return [word for word in lines if word.isascii() and word.isalpha() and len(word) > 1]


def corpus(count: int, seed: int = 0) -> list[str]:
    """That many messages of 3 to 45 words, 18 on average, about 110 characters."""
    chance = random.Random(seed)
    vocabulary = words()
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(vocabulary))))
    messages = []
    for _ in range(count):
        length = min(45, max(3, round(chance.gammavariate(2.2, 8))))
        drawn = chance.choices(vocabulary, cum_weights=weights, k=length)
        messages.append(" ".join(drawn).capitalize() + chance.choice(".!?"))
    return messages


def questions(messages: list[str], count: int, seed: int = 1) -> list[str]:
    """Queries of two to four words that a person might remember of a message: its rarer ones."""
    chance = random.Random(seed)
    rank = {word: place for place, word in enumerate(words())}
    asked: list[str] = []
    while len(asked) < count:
        said = [word for word in chance.choice(messages).lower().rstrip(".!?").split() if rank.get(word, 0) > 100]
        if len(said) >= 2:
            asked.append(" ".join(chance.sample(said, min(len(said), chance.randint(2, 4)))))
    return asked
