"""Which language a text is in, as far as its analysis needs to know: which stemmer, which function words.

The script decides first. Within a script, function words and letters that only some languages use vote; a vote counts
less the more languages share it. Text without a clear sign counts as English. A wrong answer costs little: a query is
analysed for every language that the index holds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from everword.errors import InvalidInput
from everword.text.doc import doc_of, languages_read, lower_letter_runs
from everword.word_lists import EVERY_LANGUAGE, PACKAGE, WordLists, lazy_pattern, read_entries, read_list

PACKS = "text/packs"
LANGUAGES: tuple[str, ...] = tuple(sorted(file.parent.name for file in (PACKAGE / PACKS).glob("*/words.txt")))
"""The languages that have a pack."""


_WORDS = {language: WordLists("words", folder=f"{PACKS}/{language}") for language in LANGUAGES}


def function_words(language: str) -> frozenset[str]:
    """The function words of a language; none for a language that is not in `LANGUAGES`."""
    return _WORDS[language].function_words if language in _WORDS else frozenset()


UNKNOWN = "und"
DEFAULT = "en"

SAMPLE = 1_000
"""Characters of a text that are looked at."""

_RANGES = [line.split() for line in read_entries(f"{EVERY_LANGUAGE}/scripts.txt")["ranges"].split("\n")]
_STARTS = [int(start, 16) for start, _ in _RANGES]
_SCRIPTS = [name.strip("-") for _, name in _RANGES]

BY_SCRIPT: dict[str, tuple[str, ...]] = {
    "latin": tuple("en de fr es it pt nl sv da no fi hu ro tr pl cs ca id".split()),  # noqa: SIM905
    "cyrillic": ("ru", "uk"),
    "greek": ("el",),
    "arabic": ("ar", "fa"),
    "devanagari": ("hi",),
    "armenian": ("hy",),
    "tamil": ("ta",),
    "hebrew": ("he",),
    "han": ("zh", "ja"),
    "kana": ("ja",),
    "hangul": ("ko",),
    "thai": ("th",),
    "lao": ("lo",),
    "khmer": ("km",),
    "myanmar": ("my",),
}
"""The languages that are recognised in each script; the first is the default."""
ROMANISED = ("ar", "hi")
"""Those that chats also write in Latin letters: their packs have a list `romanised`."""

CODES = tuple(sorted({code for codes in BY_SCRIPT.values() for code in codes}))


def check_languages(text: str) -> str:
    """The codes of languages, with commas, as `languages_read` gives them; English is always among them. Empty: all."""
    codes = {code.strip().casefold() for code in text.split(",") if code.strip()}
    unknown = sorted(codes - {*CODES})
    if unknown:
        raise InvalidInput("languages", f"{unknown[0]!r} is not a known code; the codes are: {', '.join(CODES)}")
    return ",".join(sorted(codes | {DEFAULT})) if codes else ""


def languages_of(script: str) -> tuple[str, ...]:
    """The languages that a text in a script may be in, its default first."""
    return allowed_languages(BY_SCRIPT.get(script, ()))


def allowed_languages(codes: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some languages that texts may be in."""
    languages = languages_read()
    return tuple(code for code in codes if code in languages.split(",")) if languages else codes


_BEYOND_LATIN = lazy_pattern(r"[\u0370-\u1cff\u1f00-\u1fff\u2c80-\ua71f\ua800-\uab2f\uab70-\ufaff\ufb13-\U0010ffff]")

# The worth of a sign by the number of languages that share it, in whole numbers so that the order of counting does not
# matter; and the sum below which a text counts as the first language of its script.
_WORTH = (0, 12, 8, 6, 5, 4, *[3] * 13)
_NEEDED = 6
_SHORT = 3


def script_of(character: str) -> str:
    """The script of a letter, as `BY_SCRIPT` names it; empty for the others."""
    return _SCRIPTS[bisect_right(_STARTS, ord(character)) - 1]


def detect(text: str) -> str:
    """The ISO 639 code of the language whose analysis fits the text; `und` if none is known."""
    return doc_of(text[:SAMPLE].lower()).read(_detect_language)


def detect_written(text: str) -> str:
    """Like `detect`; and of a text in Latin letters also whether it is Hindi or Arabic, as in chats."""
    language = detect(text)
    return _detect_romanised(text[:SAMPLE].lower(), language) if language in BY_SCRIPT["latin"] else language


def is_clear(text: str) -> bool:
    """Whether a text has signs of its language: "ok" and "Bob 3" have none, and count as English."""
    language = detect_written(text)
    if language not in (DEFAULT, UNKNOWN):
        return True
    return language == DEFAULT and not function_words(DEFAULT).isdisjoint(lower_letter_runs(text[:SAMPLE]))


def _detect_romanised(sample: str, language: str) -> str:
    words = [word.strip(",.!?;:…") for word in sample.split()]
    english_words = function_words(DEFAULT)
    for code in allowed_languages(ROMANISED):
        own_words = _WORDS[code].romanised
        signs = sum(word in own_words and word not in english_words for word in words)
        if signs >= 2 and 4 * signs >= len(words):
            return code
    return language


def _detect_language(sample: str) -> str:
    foreign = [] if sample.isascii() else [c for c in _BEYOND_LATIN.findall(sample) if c.isalpha()]
    # A word in a script such as Chinese has a third of a Latin word's letters.
    if not foreign or 3 * len(foreign) < sum(map(len, lower_letter_runs(sample))) - len(foreign):
        return _vote("latin", sample)
    scripts = Counter(map(script_of, foreign))
    if scripts["kana"]:
        # Japanese is written with Chinese characters too, and they may well be more.
        scripts["kana"] += scripts.pop("han", 0)
    script = max(sorted(scripts), key=scripts.__getitem__)
    if not languages_of(script):
        return UNKNOWN
    return _vote(script, sample) if script in ("cyrillic", "arabic") else languages_of(script)[0]


def detect_within(text: str, usual: str) -> str:
    """The language of a text of a conversation that is mostly in a language: the usual one, unless the text has a clear
    sign of another."""
    language = detect(text)
    if usual in (language, DEFAULT, UNKNOWN, ""):
        return language
    script = next((script for script, codes in BY_SCRIPT.items() if language in codes and usual in codes), "")
    if not script:
        return language
    worths = _worths(script, _signs_in(script, text[:SAMPLE].lower())[0])
    return language if worths.get(language, 0) - worths.get(usual, 0) >= _WORTH[1] else usual


def _vote(script: str, sample: str) -> str:
    signs, size = _signs_in(script, sample)
    worths = _worths(script, signs)
    best = max(worths, key=worths.__getitem__)  # of equals the first in the list, so the default
    # One sign is enough in a short text and in a script of few languages; in a long one it is a name or a quotation.
    is_short = size <= _SHORT or script != "latin"
    has_enough = is_short or sum(best in users for users in signs) > 1
    return best if worths[best] >= _NEEDED and has_enough else languages_of(script)[0]


def _signs_in(script: str, sample: str) -> tuple[list[list[str]], int]:
    """The languages that use each of the words and letters in a text that distinguish them, and its number of words."""
    words, letters = _signs(script)
    sample_words = set(lower_letter_runs(sample))
    signs = [words[word] for word in sample_words if word in words]
    if not sample.isascii():
        signs += [letters[letter] for letter in letters.keys() & set(sample)]
    return signs, len(sample_words)


def _worths(script: str, signs: Iterable[Sequence[str]]) -> dict[str, int]:
    """What signs are worth for each language of a script."""
    worths = dict.fromkeys(languages_of(script), 0)
    for users in signs:
        for language in users:
            if language in worths:
                worths[language] += _WORTH[len(users)]
    return worths


@cache
def _signs(script: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The words and the letters that distinguish languages, each with the languages that use it."""
    words: dict[str, list[str]] = {}
    letters: dict[str, list[str]] = {}
    for language in BY_SCRIPT[script]:
        for word in function_words(language) | set(read_list("common", "words", f"{PACKS}/{language}")):
            words.setdefault(word, []).append(language)
        for letter in read_list("letters", "words", f"{PACKS}/{language}"):
            letters.setdefault(letter, []).append(language)
    return words, letters
