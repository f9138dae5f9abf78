"""The forms of sentences in messages: headings, captions, labels, entries and fragments, and what stands before each.

Nothing here says whether a sentence is chosen: `standalone_sentences` and `english_standalone` do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.text.filler import is_filler, trim_address
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.names_times_amounts import WHEN
from recollect.text.reference_words import OPENERS
from recollect.text.sentences import Sentence
from recollect.text.short_text_cache import remember_short_texts, remember_words
from recollect.text.word_weights import is_content, is_ordinary, is_unspaced, words


class SourcedSentence(NamedTuple):
    """A sentence, the number of its message, and who said it."""

    source: int
    speaker: tuple[str, str]
    sentence: Sentence


class Support(NamedTuple):
    """Whether a sentence may be chosen, and the place of the sentence it cannot be understood without."""

    stands: bool
    needs: int | None = None


ALONE = Support(True)
NOTHING = Support(False)

_ADDITION = lazy_pattern(r"(?:And|Plus,?)\s+(?=\S+\s+\S)")
_VOCATIVE = lazy_pattern(
    r"^(?:(?i:oof|ugh|aw+|yay|god|gosh|man|dude|damn|whoa|woah|haha|lol|ouch|geez|ah|oh)[,!.\s]+)?(?:[A-Z]\w+[,!.]\s+)?(?=\w)"
)
_CAPTION = lazy_pattern(r"\[[^\[\]]*\]\W*")
FIRST_PERSON = lazy_pattern(r"^(?:i|we|my|our)(?:['’]\w+)?\s", re.IGNORECASE)
_APOSTROPHE_END = lazy_pattern(r"['’]\w{1,2}$")
_APOSTROPHE = lazy_pattern(r"\w['’]\w")
_FEW_WORDS = 3
_FEW_NAMES = 4  # words of a sentence that may be nothing but names
_DENSE = 6  # characters of a sentence in a script without spaces
_LABEL = lazy_pattern(
    r"^\W*(?:option|step|task|goal|day|week|month|phase|part|tip|example|question|answer|scenario|idea|section|chapter|exercise"
    r"|round|level|stage|rule|method|approach|version|table|figure|item|lesson|module|act|scene|verse|stanza|paragraph"
    r"|slide|page|no|number|problem|case|team|group|set|q|a)?\W*(?:\d+(?:\s*[-–]\s*\d+)?|[ivx]+|[a-z]|one|two|three|four"
    r"|five)?\W*(?:hours?|hrs?|minutes?|mins?|seconds?|days?|weeks?|months?|years?|am|pm|a\.m\.?|p\.m\.?)?\W*$",
    re.IGNORECASE,
)
_VALUE = lazy_pattern(rf"[$€£¥]?\d|{WHEN.pattern}", re.IGNORECASE | re.VERBOSE)
_COUNTED = lazy_pattern(r"\W*[^\W\d_]+\s#?\d+\W*$")
_LONGEST_LABEL = 30  # characters
_TITLE = 3  # words of a name before its value


def drop_addition(text: str) -> str:
    """A sentence without an "and" at its beginning: it adds something to another sentence, and stands without it."""
    if not text.startswith(("And", "Plus")) or not _ADDITION.match(text):
        return text
    rest = text.split(maxsplit=1)[1]
    return rest[0].upper() + rest[1:]


def bare_text(sentence: Sentence) -> str:
    """A sentence without greeting and openers, and without the name of the person it is said to."""
    return _bare_text(sentence.text)


@remember_short_texts
def _bare_text(text: str) -> str:
    text = drop_addition(trim_address(text))
    vocative = _VOCATIVE.match(text)
    if vocative is None or vocative[0].strip(" ,.!").casefold() in OPENERS:
        return text
    return text[vocative.end() :]


def is_introduction(sentence: Sentence) -> bool:
    return sentence.text.rstrip().endswith((":", "："))


def is_fragment(text: str, language: str) -> bool:
    """Whether a sentence says nothing for itself: a bare number or name, two words, only ordinary words."""
    if is_unspaced(text):
        return len(text) < _DENSE or any(text.count(left) != text.count(right) for left, right in ("「」", "『』"))
    text_words = words(text)
    if ": " in text and _content_words(text_words, language):
        return False
    is_telling = any(map(_telling_words(language).__getitem__, text_words))
    if not is_telling and not WHEN.search(text):
        return language == "en" or not _content_words(text_words, language)
    if len(text_words) <= _FEW_NAMES and all(
        word[:1].isupper() or word.isdigit() for word in _content_words(text_words, language)
    ):
        return True
    if FIRST_PERSON.match(text):
        return len(text_words) + len(_APOSTROPHE.findall(text)) < _FEW_WORDS
    return len(text_words) < _FEW_WORDS


def _content_words(text_words: Sequence[str], language: str) -> list[str]:
    return [word for word in text_words if is_content(word, language)]


def is_label(title: str) -> bool:
    """Whether a title only counts: "Option 1", "Day 3", "2 hours"."""
    return len(title) <= _LONGEST_LABEL and (_LABEL.match(title) or _COUNTED.match(title)) is not None


def is_entry(text: str) -> bool:
    """Whether a sentence is a short name and its value: "Deadline: Friday", "Budget: 300 euros"."""
    title, _, value = text.partition(": ")
    return bool(value) and len(words(title)) <= _TITLE and not is_label(title) and bool(_VALUE.match(value))


def is_first(statements: Sequence[SourcedSentence], place: int) -> bool:
    """Whether a sentence is the first of its message."""
    return place == 0 or statements[place - 1].source != statements[place].source


def introduction_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The heading of the list in which an item stands, or the sentence that ends in a colon before it."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        sentence = statements[earlier].sentence
        if statements[earlier].source != source:
            break
        if sentence.kind == "heading" or (sentence.kind == "prose" and is_introduction(sentence)):
            return earlier
        if sentence.kind != "item":
            break
    return None


def question_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The question of somebody else that the message before ends in, for the first sentence that says something. If
    it ends in two questions, the sentence may answer either: then none."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        statement = statements[earlier]
        if statement.source == source:
            if not is_filler(statement.sentence):
                return None
            continue
        if is_caption(statement.sentence):
            continue
        is_asked = statement.speaker != statements[place].speaker and _asks(statement)
        asked_before = sentence_before(statements, earlier)
        is_one_of_two = asked_before is not None and _asks(statements[asked_before])
        return earlier if is_asked and not is_one_of_two else None
    return None


def _asks(statement: SourcedSentence) -> bool:
    return statement.sentence.is_question and not is_filler(statement.sentence)


def sentence_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The sentence before in the same message."""
    if place and statements[place - 1].source == statements[place].source:
        return place - 1
    return None


def is_empty(sentence: Sentence) -> bool:
    return not (sentence.text[:1].isalnum() or any(map(str.isalnum, sentence.text))) or is_filler(sentence)


def is_caption(sentence: Sentence) -> bool:
    """Whether a sentence is in brackets as a whole, as what is seen in a picture."""
    return sentence.kind == "prose" and sentence.text.startswith("[") and bool(_CAPTION.fullmatch(sentence.text))


def telling_words(text: str, language: str) -> list[str]:
    """The content words that are not ordinary ones, with or without what stands after an apostrophe."""
    return list(filter(None, map(_telling_words(language).__getitem__, words(text))))


@remember_words
def _telling_words(word: str, language: str) -> str:
    """A telling word without what stands after an apostrophe; empty for any other word."""
    if not is_content(word, language) or is_ordinary(word):
        return ""
    bare_word = _APOSTROPHE_END.sub("", word)
    return bare_word if is_content(bare_word, language) and not is_ordinary(bare_word) else ""
