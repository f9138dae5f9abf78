"""Whether somebody only repeats what the assistant said, or what memory put before it.

Memory must not confirm itself: a repetition of what was shown proves nothing new. A plain statement of a user is not an
echo, even if it was known ("I live in Berlin"): people say such things. It is an echo if it refers to the assistant
("as you said"), or copies what was shown, word for word, over a length that does not happen by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.facts.english.words import load_patterns
from recollect.text.terms import analyse

_ECHOES = load_patterns(__package__, "echoes")

COPIED = 7
"""Words in a row that are the same: fewer happen by chance."""
SHARED = 0.5
"""The share of a text's terms that were shown, for a text that refers to the assistant."""
_MOST = 50_000  # characters of what was shown


def is_echo(text: str, shown_texts: Iterable[str]) -> bool:
    """Whether a text repeats what was shown, rather than saying it anew."""
    texts = [shown_text[:_MOST] for shown_text in shown_texts if shown_text.strip()]
    if not texts or not text.strip():
        return False
    return _copies(text, texts) or (_ECHOES.leans.search(text) is not None and _shares(text, texts))


def _copies(text: str, shown_texts: Sequence[str]) -> bool:
    words = [word.casefold() for word in _ECHOES.word.findall(text)]
    runs = {tuple(words[at : at + COPIED]) for at in range(len(words) - COPIED + 1)}
    if not runs:
        return False
    for shown_text in shown_texts:
        shown_words = [word.casefold() for word in _ECHOES.word.findall(shown_text)]
        if any(tuple(shown_words[at : at + COPIED]) in runs for at in range(len(shown_words) - COPIED + 1)):
            return True
    return False


def _shares(text: str, shown_texts: Sequence[str]) -> bool:
    terms = set(analyse(_ECHOES.leans.sub(" ", text), "en").terms)
    shown_terms = {term for shown_text in shown_texts for term in analyse(shown_text, "en").terms}
    return not terms or len(terms & shown_terms) >= SHARED * len(terms)
