"""The terms a text is indexed by. The stores index these and nothing else, so a search means the same on each.

A text is cut into words without regard to its language (identifiers, addresses and compounds also into their
parts; scripts without spaces into pairs of characters). Each word then becomes a term by its language: function
words are left out, other words are stemmed and lose their accents. A term has letters, digits and marks only, so
that no tokenizer cuts it again. A query word stands for every term it could have become in the languages of the
index. The first step is the same for texts and queries, so a word is always found by the same word.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise

import Stemmer

from everword.text.detect import BY_SCRIPT, UNKNOWN, detect, function_words, script_of
from everword.word_lists import lazy_pattern

MAX_TERMS = 4_096
"""Terms of one text; what comes after is not indexed. Messages are indexed in passages, which have far fewer."""
MAX_TERM = 64
"""Characters of one term; a longer one ends in a hash of the whole."""
MAX_GROUPS = 32
"""Words of one query that are searched for."""
PASSAGE = 320
"""Words of one passage. From 200 to 500, and with or without overlap, it makes no measurable difference."""
MAX_CHARACTERS = 64_000
"""Characters of one text or query that are looked at."""

IDENTITY = f"1-{Stemmer.version()}"
"""Names the analysis: terms made under another name may not match and are to be made again."""

_REMEMBERED = 40_000  # tokens of each language, with the signs after them


@dataclass(frozen=True, slots=True)
class Analysis:
    """The terms of a text in order, each as often as it occurs, and the language they were made by."""

    language: str
    terms: tuple[str, ...]


def analyse(text: str, language: str | None = None) -> Analysis:
    """The terms to index a text by, at most `MAX_TERMS`, in `language` or else in the language of the text.

    Function words are left out, unless there is nothing else: "who is it?" can still be found.
    """
    text = _normalise(text)
    language = detect(text) if language is None else language
    known_language = language if language in _HOME else UNKNOWN
    terms: list[str] = []
    # No token goes across a space. Chat repeats its words, also with the signs after them.
    for chunk in text.split() if text.isascii() else _tokens(text):
        terms += _chunk_terms(chunk, known_language)
    if not terms:
        terms = [term for token in _tokens(text) for piece in _pieces(token) if (term := _term(piece, language))]
    return Analysis(language, tuple(terms[:MAX_TERMS]))


def word_terms(word: str, language: str) -> tuple[str, ...]:
    """The terms of a text that is one word, as `analyse` gives them."""
    if not (word.isascii() and word.isalnum()):
        return analyse(word, language).terms
    return _chunk_terms(word, language if language in _HOME else UNKNOWN) or analyse(word, language).terms


def query_groups(text: str, languages: Collection[str]) -> list[tuple[str, ...]]:
    """For each word of a query, the terms it could be indexed as: in its own language and in each of `languages`.

    Function words of the query's language are left out, unless there is nothing else. A word that is repeated, or
    another form of the same word, counts once. Of more than `MAX_GROUPS` words the longest are kept, as the rarest.
    """
    text = _normalise(text)
    language = detect(text)
    languages = tuple(dict.fromkeys((language, *sorted(languages))))
    words = [word for token in _tokens(text) for word in _query_words(token, language, languages)]
    groups = dict.fromkeys(terms for terms, is_function_word in words if terms and not is_function_word)
    groups = groups or dict.fromkeys(terms for terms, _ in words if terms)
    if len(groups) <= MAX_GROUPS:
        return list(groups)
    longest = set(sorted(groups, key=lambda terms: -len(terms[0]))[:MAX_GROUPS])
    return [terms for terms in groups if terms in longest]


def _query_words(token: str, language: str, languages: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """For each word of a token of a query its terms in each of `languages`, and whether it is a function word."""
    for piece in _pieces(token, for_query=True):
        yield _alternatives(piece, languages), _is_function_word(piece, language)


def _alternatives(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """The terms of a word, as written and without accents: some people leave accents out."""
    forms = dict.fromkeys((word, _fold(word), *_pairs_of_stem(word)))
    return tuple(dict.fromkeys(term for language in languages for form in forms if (term := _term(form, language))))


# A text is cut into tokens, runs of letters with what joins them inside, ...

# Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese.
_HAN = "\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u302a-\u312f\u31a0-\u31ff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\U0001aff0-\U0001b16f" + _HAN
)
_HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
_EMOJI = "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001faff"

_JOINTS = r"['.,:&\-]"
_ENDING = r"(?:\+\+|[+#](?!\w))?"
_PLAIN_TOKEN = lazy_pattern(rf"\w+(?:{_JOINTS}\w+)*{_ENDING}")
_BEYOND_LATIN = lazy_pattern("[\u0300-\u1fff\u2300-\U0010ffff]")
_LEADING_DOT = lazy_pattern(r"(?<![\w.])\.([A-Za-z]\w*)")
# Signs that compatibility would turn into letters of the word before them.
_SIGNS = lazy_pattern("[©®™℠]")
# Joiners, direction marks, variation selectors, the box of a keycap.
_INVISIBLE = lazy_pattern(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u20e3\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef]"
)
_ARABIC_JOINER = lazy_pattern("(?<=[\u0600-\u06ff])\u200c")


def _normalise(text: str) -> str:
    text = text[:MAX_CHARACTERS]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _SIGNS.sub(" ", text))
        # In Persian the joiner parts an ending from its word; elsewhere it only changes the look.
        text = _INVISIBLE.sub("", _ARABIC_JOINER.sub(" ", text))
        text = text.replace("’", "'").replace("‘", "'").replace("ʼ", "'").replace("l·l", "ll")
    return _LEADING_DOT.sub(lambda name: f" dot{name[1].lower()} {name[1]}", text)


def _tokens(text: str) -> list[str]:
    # Text without marks and emoji, as most is, needs no search for them.
    has_marks = not text.isascii() and _BEYOND_LATIN.search(text) is not None
    return (_mark_patterns()[0] if has_marks else _PLAIN_TOKEN).findall(text)


@cache
def _mark_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The pattern of a token and that of a letter with its marks. A combining mark belongs to the letter before it."""
    marks = [c for c in range(0x300, 0x20000) if unicodedata.category(chr(c))[0] == "M"]
    starts = [c for c in marks if unicodedata.category(chr(c - 1))[0] != "M"]
    ends = [c for c in marks if unicodedata.category(chr(c + 1))[0] != "M"]
    inside = "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))
    word = rf"[\w{inside}]+"
    token = rf"{word}(?:{_JOINTS}{word})*{_ENDING}|{_FLAG}|[{_EMOJI}]"
    return re.compile(token), re.compile(rf".[{inside}]*")


# ... a token into words, by its script, ...

_RUN = lazy_pattern(f"[{_UNSPACED}]+|[{_HANGUL}]+|[^{_UNSPACED}{_HANGUL}]+")
_LONE_HAN = lazy_pattern(f"(?<![{_HAN}])[{_HAN}](?![{_HAN}])")
_ONE_HAN = lazy_pattern(f"[{_HAN}]")
_ONE_UNSPACED = lazy_pattern(f"[{_UNSPACED}]")
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_ONE_EMOJI = lazy_pattern(f"[{_EMOJI}]")
_SKIN_TONE = lazy_pattern("[\U0001f3fb-\U0001f3ff]")


def _pieces(token: str, for_query: bool = False) -> Iterator[str]:
    """The words of a token, in lower case. For a query, without those that are indexed only for partial matches."""
    if token.isascii():
        yield from (word.lower() for word in _words(token))
        return
    if _ONE_EMOJI.match(token) and not token[0].isalnum():
        if not _SKIN_TONE.fullmatch(token):
            yield "".join(f"u{ord(c):x}" for c in token)
        return
    token = "".join(str(unicodedata.decimal(c, c)) for c in token)
    for run in _RUN.findall(token):
        if script_of(run[0]) == "hangul":
            yield from _syllables(run, for_query)
        elif _ONE_UNSPACED.match(run):
            yield from _pairs(run, for_query)
        else:
            yield from (unicodedata.normalize("NFKC", word.casefold()) for word in _words(run))


def _pairs(run: str, for_query: bool) -> Iterator[str]:
    """Overlapping pairs, and single ideographs: all of them for a text, those that stand alone for a query."""
    characters = _mark_patterns()[1].findall(run)
    if len(characters) == 1:
        yield run
        return
    yield from map("".join, pairwise(characters))
    yield from (_LONE_HAN if for_query else _ONE_HAN).findall(run)


def _syllables(run: str, for_query: bool) -> Iterator[str]:
    """A Korean word and its pairs, since particles are attached to it; for a short word also its first syllable. In a
    query the pairs are other forms of the word (`_pairs_of_stem`)."""
    yield run
    if for_query:
        return
    if len(run) > 2:
        yield from map("".join, pairwise(run))
    if 1 < len(run) <= 3:
        yield run[0]


def _pairs_of_stem(word: str) -> Iterator[str]:
    """The pairs of a Korean word without the last, which is mostly an ending."""
    if len(word) > 2 and script_of(word[0]) == "hangul":
        yield from map("".join, pairwise(word if len(word) == 3 else word[:-1]))


_SEPARATORS = lazy_pattern(r"[_.,:&'-]+")
_SPELT = {"+": "plus", "++": "plusplus", "#": "sharp"}
_LONG = 100  # characters; beyond, a token is no word and is cut at its joints only
_THOUSANDS = lazy_pattern(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER = lazy_pattern(r"\d+(?:[.,:]\d+)+")
_ORDINAL = lazy_pattern(r"(\d+)(?:st|nd|rd|th)", re.IGNORECASE)
_HUMPS = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DIGITS = lazy_pattern(r"\d+|\D+")
_MAX_HUMPS = 6  # more are noise: a key, a hash
_POSSESSIVES = frozenset({"s", "m", "re", "ve", "ll", "d"})
_ELISIONS = frozenset({"c", "d", "j", "l", "m", "n", "s", "t", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"}) | {
    *("all", "dall", "dell", "nell", "sull", "coll", "quell", "quest", "un")
}


def _words(token: str) -> list[str]:
    """The words of a token in a script with spaces; case is kept."""
    if token.isalpha() and (token.islower() or token.istitle()):
        return [token]
    if len(token) > _LONG:
        return [part for part in _SEPARATORS.split(token.rstrip("+#")) if part]
    bare = token.rstrip("+#")
    if bare != token and bare[-1:].isalpha():
        name = _SEPARATORS.split(bare)[-1] + _SPELT[token[len(bare) :]]
        return [name] if len(bare) == 1 else [name, *_words(bare)]
    if "'" in bare:
        return _split_apostrophes(bare)
    return _split_parts(_THOUSANDS.sub("", bare))


def _split_parts(bare: str) -> list[str]:
    """The words of a token with separators, figures or capitals in it, and the token as one if it reads as one."""
    parts = [part for part in _SEPARATORS.split(bare) if part]
    number = _NUMBER.search(bare)
    words = [re.sub("[.,:]", "p", number[0])] if number else []
    if len(parts) > 1 and _reads_as_one(bare, parts):
        words.append("".join(parts))
        if "&" in bare or max(map(len, parts)) == 1:
            return words
    for part in parts:
        words += _split_humps(part)
    return words


def _split_apostrophes(token: str) -> list[str]:
    """The words without what an apostrophe attaches to them: "Mel's", "l'homme". "don't" stays one word."""
    head, _, tail = token.partition("'")
    if token.lower().endswith("n't"):
        return [token.replace("'", "")]
    if tail.lower() in _POSSESSIVES:
        return _words(head)
    if head.lower() in _ELISIONS:
        return _words(tail)
    parts = [part for part in _SEPARATORS.split(token) if part]
    if len(parts) < 2:
        return parts
    return ["".join(parts), *(word for part in parts if len(part) > 2 for word in _split_humps(part))]


def _reads_as_one(token: str, parts: list[str]) -> bool:
    """Whether people also write it as one word: U.S.A., R&D, node.js, e-mail."""
    if not all(map(str.isalpha, parts)):
        return False
    longest = max(map(len, parts))
    if "&" in token or longest == 1:
        return longest <= 2
    if len(parts) != 2 or not token.isascii():
        return False
    return (parts[1].islower() and len(parts[1]) <= 3) if "." in token else ("-" in token and min(map(len, parts)) <= 2)


def _split_humps(part: str) -> list[str]:
    """A word, and the words it consists of: camelCase, iPhone15, 10am. Of 15th, the number alone."""
    if part.isdecimal() or (part.isalpha() and (part.islower() or part.isupper() or part.istitle())):
        return [part]
    ordinal = _ORDINAL.fullmatch(part)
    if ordinal:
        return [ordinal[1]]
    blocks = _DIGITS.findall(part)
    humps = [hump for block in blocks for hump in (_HUMPS.findall(block) if block.isascii() else [block])]
    if not 1 < len(humps) <= _MAX_HUMPS:
        return [part]
    return [word for word in dict.fromkeys((part, *blocks, *humps)) if len(word) > 1 or word.isdecimal()]


# ... and a word becomes a term by its language.

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "fa": "persian", "fi": "finnish", "fr": "french", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish",
}  # fmt: skip
_HOME = {language: script for script, languages in BY_SCRIPT.items() for language in languages}
_AFTER_LATIN = "\u0370"  # of the characters before it, `script_of` says the same
# English writes "café" and "cafe" for the same word; other stemmers need the accents to know an ending.
_FOLD_FIRST = frozenset({"en", "id"})

_ANYWHERE = frozenset({"http", "https", "www"})
_FOLDED = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ŧ": "t"}
    | {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ـ": "", "ё": "е"}
    | dict.fromkeys(map(chr, [*range(0x0300, 0x0370), *range(0x0591, 0x05C8), *range(0x064B, 0x0660), 0x0670]), "")
)


def _chunk_terms(chunk: str, language: str) -> tuple[str, ...]:
    """The terms of a token, or of what stands between two spaces of a plain text."""
    return (_short_chunk_terms if len(chunk) <= MAX_TERM else _read_chunk_terms)(chunk, language)


def _read_chunk_terms(chunk: str, language: str) -> tuple[str, ...]:
    return tuple(
        term
        for token in (_PLAIN_TOKEN.findall(chunk) if chunk.isascii() else (chunk,))
        for piece in _pieces(token)
        if not _is_function_word(piece, language) and (term := _term(piece, language))
    )


_short_chunk_terms = lru_cache(maxsize=_REMEMBERED)(_read_chunk_terms)


def _is_function_word(word: str, language: str) -> bool:
    return word in _ANYWHERE or word in _function_word_forms(_language_of(word, language))


@cache
def _function_word_forms(language: str) -> frozenset[str]:
    """The function words of a language, with and without accents."""
    words = {word.casefold() for word in function_words(language)}
    return frozenset(words | {_fold(word) for word in words})


def _language_of(word: str, language: str) -> str:
    """The language to analyse a word in: that of its text, unless the word is in another script."""
    script = "latin" if word[0] < _AFTER_LATIN else script_of(word[0])
    if _HOME.get(language, script) == script:
        return language
    return BY_SCRIPT.get(script, (UNKNOWN,))[0]


@lru_cache(maxsize=20_000)
def _term(word: str, language: str) -> str:
    """The term a word is indexed as; empty if nothing of it is left."""
    language = _language_of(word, language) if word else UNKNOWN
    if language in _STEMMERS and (word.isalpha() or not any(map(str.isdigit, word))):
        if language in _FOLD_FIRST:
            word = _fold(word)
        elif language == "ar":
            word = _normalise_arabic(word)
        word = _stem(word, language)
    word = _fold(word)
    if len(word) > MAX_TERM:
        mark = blake2b(word.encode(), digest_size=5).hexdigest()
        word = word[: MAX_TERM - len(mark)] + mark
    return word


def _normalise_arabic(word: str) -> str:
    """One spelling for the letters that are written in several ways; a final ha is mostly a ta marbuta."""
    word = word.translate(_FOLDED)
    return word[:-1] + "ة" if word.endswith("ه") else word


def _fold(word: str) -> str:
    """The word without accents of Latin and Greek letters and without vowel signs of Hebrew and Arabic."""
    if word.isascii():
        return word
    bases = (unicodedata.normalize("NFD", c)[0] for c in word)
    return "".join(b if b < "\u0400" else c for b, c in zip(bases, word, strict=True)).translate(_FOLDED)


# A stemmer keeps state between calls: threads use it one after another.
_stemmer_lock = threading.Lock()
_stemmers = {language: Stemmer.Stemmer(name, 0) for language, name in _STEMMERS.items() if name in Stemmer.algorithms()}


def _stem(word: str, language: str) -> str:
    with _stemmer_lock:
        return str(_stemmers[language].stemWord(word)) if language in _stemmers else word


# Passages

_BOUNDARIES = (
    lazy_pattern(r"\n\s*\n"),
    lazy_pattern(r"\n"),
    lazy_pattern(r"(?<=[.!?;:…])\s+|(?<=[。！？])"),
    lazy_pattern(r"\s+"),
)
_CHARACTERS = 6  # of a word, with its space
_DENSE = 3  # times as much is said by a character of a script without spaces


def passages(text: str, words: int = PASSAGE) -> list[str]:
    """A long text cut for indexing, into parts of at most `words` words of six characters (or two, in a script
    without spaces): between paragraphs if that is enough, else between lines, sentences, words, characters. Together
    they have every character that is not a space. A text that is short enough is one passage, unchanged.
    """
    limit = words * _CHARACTERS
    if _weight(text) <= limit:
        return [text]
    parts: list[str] = []
    pending: list[str] = []
    room = limit
    for unit in _units(text, limit, 0):
        weight = _weight(unit)
        if weight > room:
            parts.append("".join(pending))
            pending = []
            room = limit
        pending.append(unit)
        room -= weight
    parts.append("".join(pending))
    return [content for passage in parts if (content := passage.strip())]


def _units(text: str, limit: int, level: int) -> Iterator[str]:
    """The text in pieces that fit, cut at the strongest boundaries that do."""
    if level == len(_BOUNDARIES):
        yield from _slices(text, limit)
        return
    start = 0
    for end in (*(boundary.end() for boundary in _BOUNDARIES[level].finditer(text)), len(text)):
        unit = text[start:end]
        start = end
        if _weight(unit) <= limit:
            yield unit
        else:
            yield from _units(unit, limit, level + 1)


def _slices(text: str, limit: int) -> Iterator[str]:
    length = limit if text.isascii() else max(limit // _DENSE, 1)
    start = 0
    while start < len(text):
        end = min(start + length, len(text))
        # Not between a letter and its marks, as far as that can be helped.
        for earlier in range(end, max(start, end - 8), -1):
            if earlier == len(text) or not unicodedata.category(text[earlier]).startswith("M"):
                end = earlier
                break
        yield text[start:end]
        start = end


def _weight(text: str) -> int:
    return len(text) + (0 if text.isascii() else (_DENSE - 1) * len(_ONE_UNSPACED.findall(text)))
