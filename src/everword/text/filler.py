"""What can be left out of a text without loss: small talk, greetings, praise, offers of help, openers of a sentence.

A message is small talk if every word is known as such and there are few of them. With one other word, one number or one
name it has content. So an error costs a search that finds nothing, never a search that was needed. In a sentence, a yes
or a no is never filler, and neither is a negation or "I think": the rest must mean what was said.

`names_something` is the test of content for what is derived, facts and titles alike: a noun or a name that is not
filler. What people write among friends ("im w my gf rn tbh") is read as `plain_spelling` has it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from everword.text.detect import function_words
from everword.text.doc import JOINED_WORD, doc_of, lower_words, read_once
from everword.text.sentences import Sentence
from everword.text.word_weights import is_unspaced
from everword.word_lists import EVERY_LANGUAGE, Patterns, WordLists, any_of, lazy_pattern, read_list, read_table

_SMALL_TALK = WordLists("small_talk", folder=EVERY_LANGUAGE)
MAX_WORDS = 8
MAX_CHARACTERS = 120

_APOSTROPHE = lazy_pattern("[’‘ʼ`´]")
_MARK = lazy_pattern("[\u0300-\u036f\u064b-\u065f\u0900-\u0dff\u0e31-\u0e4e]")
_LAUGH = lazy_pattern(
    r"(?:[hj][aei]){2,}h?|a?(?:ha){2,}h?|l+o+l+|(?:lo){2,}l|k{3,}|w{3,}|(?:rs){2,}|x+d+|z{3,}|h+m+|m+h*m+|a+h+|o+h+"
    r"|а?(?:ха){2,}х?|(?:хе){2,}|哈{2,}|呵{2,}|ㅋ{2,}|ㅎ{2,}|笑+|草+|ه{3,}|5{3,}"
)
_LONGEST = 4  # words of one phrase
_DRAWN = lazy_pattern(r"(.)\1{2,}")  # "hiiii", "sooo"
_UNSPACED = lazy_pattern("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


def is_small_talk(text: str) -> bool:
    """Whether a text is only small talk. Emoji and punctuation alone are, and so is a blank text."""
    if len(text) > MAX_CHARACTERS or len(text.split()) > MAX_WORDS + 2:
        return False
    text = _APOSTROPHE.sub("'", unicodedata.normalize("NFKC", text).casefold())
    if len(text.split()) > MAX_WORDS + 2:
        return False
    if any(map(str.isnumeric, text)) and any(c.isnumeric() and not _UNSPACED.match(c) for c in text):
        return False
    words = _words(text)
    if len(words) > MAX_WORDS:
        return False
    return not words or _is_covered(words)


def _words(text: str) -> list[str]:
    # Vowel signs belong to their word; as letters to the pattern they would need a table of their own.
    if not text.isascii() and _MARK.search(text):
        bare = "".join(" " if unicodedata.category(c)[0] in "PSZC" and c not in "'-" else c for c in text)
        return bare.split()
    return JOINED_WORD.findall(text)


def _is_covered(words: list[str]) -> bool:
    """Whether phrases and the words that go with them cover all words, with at least one phrase."""
    phrases = _SMALL_TALK.phrases
    beside = _SMALL_TALK.beside
    is_drawn = _DRAWN.search(" ".join(words)) is not None
    at = 0
    has_phrase = False
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            phrase = " ".join(words[at : at + length])
            forms = _forms(phrase) if is_drawn else (phrase,)
            is_phrase = not phrases.isdisjoint(forms) or (length == 1 and _is_sound(words[at]))
            if is_phrase or not beside.isdisjoint(forms):
                has_phrase = has_phrase or is_phrase
                at += length
                break
        else:
            return False
    return has_phrase


def _forms(phrase: str) -> set[str]:
    """The spellings to compare: as written, and with repeated letters reduced to one or two."""
    if not _DRAWN.search(phrase):
        return {phrase}
    return {phrase, _DRAWN.sub(r"\1", phrase), _DRAWN.sub(r"\1\1", phrase)}


def _is_sound(word: str) -> bool:
    return bool(_LAUGH.fullmatch(word)) or bool(_UNSPACED.match(word) and _is_run(word))


def _is_run(word: str) -> bool:
    """Whether a run in a script without spaces consists of phrases."""
    phrases = _SMALL_TALK.phrases
    reachable = {0}
    for start in range(len(word)):
        if start in reachable:
            reachable |= {end for end in range(start + 1, len(word) + 1) if word[start:end] in phrases}
    return len(word) in reachable


_PATTERNS = Patterns("filler")

_SPOKEN_TO = lazy_pattern(r",(?<=[a-z],)\s[A-Z]\w+(?=[!.?]+$)")
_BEFORE_MARK = lazy_pattern(r"\s(?<!\s\s)\s*([,.;:!?])")
_ASIDE_BEGINS = "([（,"
_GREETING_END = lazy_pattern(r"[,،，!！]\s*")
_GREETING = 5  # characters; a shorter one may be a yes or a no


def is_filler(sentence: Sentence) -> bool:
    """Whether a sentence only keeps the talk going: greetings, praise, offers of help."""
    return sentence.kind == "prose" and doc_of(sentence.text).read(_is_filler)


def _is_filler(text: str) -> bool:
    text = trim_address(text)
    return not text or is_small_talk(text) or bool(_PATTERNS.filler.match(text))


@read_once
def trim(text: str) -> str:
    """A sentence without openers, softeners and brackets."""
    if text.startswith("[") and _PATTERNS.note.match(text):
        return text
    sentence = _strip_greeting(_strip_call(text))
    for _ in range(3):
        opener = _PATTERNS.openers.match(sentence)
        if opener is None:
            break
        sentence = sentence[opener.end() :]
    if any(map(sentence.__contains__, _ASIDE_BEGINS)):
        sentence = _PATTERNS.aside.sub("", sentence)
    sentence = _PATTERNS.softeners.sub("", sentence)
    sentence = _BEFORE_MARK.sub(r"\1", sentence).strip(" ,;–—")
    if not sentence[:1].isalnum() and not any(unicodedata.category(c)[0] in "LN" for c in sentence):
        return text
    return sentence if sentence[0] == text[0] else capitalise(sentence)


def trim_address(text: str) -> str:
    """A sentence without openers, softeners and brackets, and without the name of the person it is said to."""
    return trim(strip_addressee(text))


def bare_request(text: str) -> str:
    """A request without "can you", a wish without "I'd like to"."""
    return capitalise(_PATTERNS.preface.sub("", text))


def strip_addressee(text: str) -> str:
    """A sentence without the name of the person it is said to."""
    return _strip_call(_SPOKEN_TO.sub("", text))


def _strip_call(text: str) -> str:
    """A sentence without "Hey Dana," at its beginning."""
    call = _PATTERNS.called.match(text)
    return text[call.end() :] if call else text


def capitalise(text: str) -> str:
    """The text with a capital first letter, if the script has capitals."""
    return text[:1].upper() + text[1:]


def _strip_greeting(text: str) -> str:
    """The text without a first clause that is small talk, in any language."""
    end = _GREETING_END.search(text, 0, 60)
    at = end.end() if end else text.find(" ") + 1 if is_unspaced(text) else 0
    return text[at:] if at > _GREETING and text[at:].strip() and is_small_talk(text[:at]) else text


# -- how people write among friends, and what names something

_CHAT = WordLists("chat")
_SPELT = {spelling: word for word, spellings in read_table("spelt", "chat").items() for spelling in spellings.split()}
_CHAT_PATTERNS = Patterns(
    "chat",
    words=WordLists("chat", plain_verbs=read_list("plain_verbs", "predicates")),
    SPELLINGS=any_of(_SPELT),
)
_CHAT_WORDS = frozenset(lower_words(spelling)[0] for spelling in (*_SPELT, *_CHAT.in_order("particles"), "ill", "id"))
"""What is spelt as in a chat begins with one of these."""


@read_once
def plain_spelling(text: str) -> str:
    """A text of a chat as it would be spelt with care: "im w my gf rn" is "I'm with my girlfriend"."""
    if text[:1].islower():
        text = _CHAT_PATTERNS.run_on.sub(r"\1. ", text)
    if _CHAT_WORDS.isdisjoint(lower_words(text)):
        return text.strip(" ,")
    text = _CHAT_PATTERNS.particle.sub(lambda particle: "" if particle["more"] is None else ",", text)
    text = _CHAT_PATTERNS.spelling.sub(lambda spelling: _SPELT[spelling[0]], text)
    return _CHAT_PATTERNS.i_would.sub("I'd", _CHAT_PATTERNS.i_will.sub("I'll", text)).strip(" ,")


def strip_opening(text: str) -> str:
    """A sentence of a chat in plain spelling, without what only opens it: "lol yeah our basement flooded"."""
    plain = plain_spelling(text)
    opening = _CHAT_PATTERNS.opening.match(plain)
    return plain[opening.end() :] if opening else plain


def with_question_mark(text: str) -> str:
    """A sentence with its mark, if it asks and was written without one; without a question that only hands the word on
    to the other person: "got married last week, how about you?"."""
    if text.endswith("?"):
        returned = _CHAT_PATTERNS.returned.search(text)
        head = text[: returned.start()] if returned else ""
        return head if len(head.split()) >= _LEAST_HEAD and not _CHAT_PATTERNS.asks.match(head) else text
    return f"{text}?" if text[-1:].isalnum() and _CHAT_PATTERNS.asks.match(text) else text


_LEAST_HEAD = 3  # words that say something without the question after them


_ADVERB_END = "ly"
_ADJECTIVE_ENDS = ("ous", "ful", "less", "able", "ible", "anical", "ogical")
_ORDINAL = lazy_pattern(r"\d[\d.,:/-]*(?:st|nd|rd|th|am|pm|k|kg|km|cm|m|h|hrs?|mins?|%)?")


def describes(word: str) -> bool:
    """Whether an English word in small letters says how something is, and not what."""
    if word in _CHAT.describing or (len(word) > 5 and word.endswith(_ADJECTIVE_ENDS)):
        return True
    return word.endswith("er") and not _CHAT.describing.isdisjoint((word[:-2], f"{word[:-3]}y", word[:-1]))


def may_name(word: str) -> bool:
    """Whether an English word may be a noun or a name: it does not only describe, count, measure, join or stress."""
    plain = word.casefold().replace("’", "'")
    if plain in function_words("en") or plain in _CHAT.nameless or plain in _SPELT:
        return False
    if _ORDINAL.fullmatch(plain) or _DRAWN.search(plain) or "_" in plain:
        return False
    return not (word == plain and (describes(plain) or (plain.endswith(_ADVERB_END) and len(plain) > 5)))


def names_something(words: Iterable[str]) -> bool:
    """Whether words have content: a noun or a name that is not filler."""
    return any(map(may_name, words))
