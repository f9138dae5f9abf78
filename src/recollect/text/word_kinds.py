"""What an English word may name, wherever it stands: looked up once for each word.

`references` asks it of every word of every sentence; what the words around it say is decided there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from recollect.text import reference_words as lists
from recollect.text.stopwords import function_words
from recollect.text.word_weights import is_ordinary

PLURAL = 4
"""Letters of a plural, at least."""
_KNOWN_WORDS = 20_000


class WordKind(NamedTuple):
    """What a word may name."""

    is_content: bool
    is_person: bool
    is_group: bool
    may_be_plural: bool
    may_be_thing: bool


class _WordKinds(dict[str, WordKind]):
    """The kinds of the words that were met."""

    def __missing__(self, word: str) -> WordKind:
        if len(self) >= _KNOWN_WORDS:
            self.clear()  # another thread may use it too, so entries are not removed one by one
        self[word] = kind = _read_kind(word)
        return kind


word_kinds = _WordKinds()


def _read_kind(word: str) -> WordKind:
    is_person = word in lists.PERSONS
    has_ending = len(word) >= PLURAL and word.endswith("s") and not word.endswith(("ss", "us"))
    return WordKind(
        is_content(word),
        is_person,
        word in lists.GROUPS,
        has_ending and word not in lists.NOT_PLURAL and word not in function_words("en"),
        not (is_person or word in lists.TIMES or word in ENDS_PHRASE) and word[0].isalpha(),
    )


@lru_cache(maxsize=_KNOWN_WORDS)
def is_content(word: str) -> bool:
    if word in lists.TIMES:
        return False
    return len(word) > 2 and word not in function_words("en") and not is_ordinary(word) and word[0].isalpha()


ENDS_PHRASE = (
    function_words("en") | lists.BE_FORMS | lists.SUBJECTS | lists.DETERMINERS | {"'s", "'m", "'re", "'ve", "'t"}
) - (lists.ORDINALS | {"own", "more"})
"""Words that are no part of a noun and its adjectives."""


def _names_nothing(word: str) -> bool:
    may_be_plural = word.endswith("s") and word not in function_words("en")
    return not (is_content(word) or word in lists.PERSONS or word in lists.GROUPS or may_be_plural)


NAMELESS = frozenset(filter(_names_nothing, ENDS_PHRASE))
"""Words that end a phrase and name nothing, wherever they stand, if they are written small."""
