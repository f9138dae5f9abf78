"""What a text mentions and states: names, times, amounts; and pairs `key = value` of what a message says.

Names are recognised by their capitals, so only where capitals mean something: not at the beginning of a sentence, not
in a title or a shout, not in a language that capitalises every noun. A statement is found by its wording, by one finder
for each sort, and weighed. It is never reversed: "I don't like X" is a dislike, and what is doubted or asked is not
stated. Most finders know English; the sentences that people introduce themselves with are known in a few other
languages. Items, files, errors and topics are found in any language, if less well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from everword.text.dates import MONTH_ABBREVIATIONS, MONTHS, WEEKDAYS
from everword.text.doc import words_before
from everword.text.filler import is_filler, is_small_talk, strip_addressee, trim
from everword.text.sentences import Sentence, clauses, limit_text
from everword.text.word_weights import (
    SPELT_NUMBERS,
    WORD,
    is_content,
    is_ordinary,
    matters,
    shorten_phrase,
    stem,
    words,
)
from everword.word_lists import Patterns, WordLists, lazy_pattern

_PATTERNS = Patterns("mentions")
_LISTS = WordLists("mentions")
WHEN = _PATTERNS.when
"""A date, a time of day, or a time relative to now."""
AMOUNT = _PATTERNS.amount
"""A number with its unit or currency."""

MAX_NAMES = 200
"""Names of one text; what comes after is not looked at."""

_TITLE = lazy_pattern(r"[\"“«]([A-Z0-9ÀÉ][^\"“”«»]{1,58}[^\s\"“”«»,.])[,.!?]?[\"”»]")
_POSSESSIVE = lazy_pattern(r"['’]s$|['’]$")
CALENDAR = frozenset((*WEEKDAYS, *MONTHS, *MONTH_ABBREVIATIONS))
CAPITAL_NOUNS = frozenset({"de"})
_MOST_LOUD = 0.5  # of the words
_MOST_TITLED = 0.8  # of the words


def names(sentences: Iterable[Sentence], language: str) -> list[str]:
    """Names of people, places, things and works, in order, each once, without those that are part of another."""
    certain: dict[str, None] = {}
    doubtful: dict[str, None] = {}
    for sentence in sentences:
        if sentence.kind not in ("prose", "item") or len(certain) > MAX_NAMES:
            continue
        text = strip_addressee(sentence.text[len(sentence.lead) :])
        certain |= dict.fromkeys(_TITLE.findall(text))
        if language in CAPITAL_NOUNS or _shouts(text):
            continue
        for name, starts in _names_in(text, language):
            unsure = starts and " " not in name and not _is_sign(name)
            (doubtful if unsure else certain)[name] = None
    sure = {word for name in certain for word in name.split()}
    return _longest_names([*certain, *(name for name in doubtful if name in sure)][:MAX_NAMES])


def _names_in(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """Each name, and whether its capital may be that of a sentence's beginning."""
    for match in _PATTERNS.name.finditer(text):
        before = text[: match.start()].rstrip(" \"'“‘(¿¡-—*")
        starts = not before or before[-1] in ".!?:…"
        parts = _POSSESSIVE.sub("", match[0]).strip(" .&-").split()
        while parts and (not is_content(parts[0], language) or (starts and _is_opener(parts))):
            parts = parts[1:]
            starts = False
        while parts and not is_content(parts[-1], language):
            parts = parts[:-1]
        name = " ".join(parts)
        if len(name) > 1 and name.casefold() not in _LISTS.never_names and parts[0].casefold() not in CALENDAR:
            yield name, starts


def _is_opener(parts: list[str]) -> bool:
    """Whether the first word is capital only because it comes first: "Visit Rome", "Installing Linux"."""
    first = parts[0].casefold()
    return is_ordinary(first) or first in _LISTS.orders or (len(parts) > 1 and first.endswith("ing"))


def _is_sign(name: str) -> bool:
    """Whether a word is written as no ordinary word is: NASA, McCartney, GPT-4."""
    return name.isupper() or any(c.isupper() or c.isdigit() for c in name[1:])


def _shouts(text: str) -> bool:
    """Whether capitals mean nothing here: all letters have them, or all words as in a title."""
    words = WORD.findall(text)
    loud = sum(word.isupper() and len(word) > 1 for word in words)
    capitals = sum(word[0].isupper() for word in words)
    return len(words) > 3 and (loud > _MOST_LOUD * len(words) or capitals > _MOST_TITLED * len(words))


def _longest_names(candidates: list[str]) -> list[str]:
    keys = [f" {name} ".casefold() for name in dict.fromkeys(candidates)]
    return [
        name
        for name, key in zip(dict.fromkeys(candidates), keys, strict=True)
        if not any(key in other and key != other for other in keys)
    ]


_NUMBER = lazy_pattern(r"(?<![\w.])\d[\d.,:/]*(?:[-–]\d+|st|nd|rd|th)?(?:\s[^\W\d_]{3,}(?:\s[^\W\d_]{4,})?)?")


def amounts(text: str, language: str) -> list[str]:
    """Amounts, and other numbers with the noun they count, in order, each once; dates and times are `WHEN`."""
    text = _PATTERNS.when.sub(" ; ", text)
    amounts_at = {amount.start(): amount[0] for amount in _PATTERNS.amount.finditer(text)}
    text = _PATTERNS.amount.sub(lambda amount: ";" * len(amount[0]), text)
    for number in _NUMBER.finditer(text):
        digits, *words = number[0].split()
        nouns = words[:1] if len(words) > 1 and is_ordinary(words[1]) else words
        if nouns and not is_content(nouns[0], language):
            nouns = []
        amounts_at[number.start()] = " ".join(
            [digits.rstrip(".,:/"), *(noun for noun in nouns if is_content(noun, language))]
        )
    return list(dict.fromkeys(amounts_at[at].strip(" .,-") for at in sorted(amounts_at)))


_STATEMENTS = Patterns("statements")

MAX_VALUE = 8
"""Words of one value."""


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A pair `key = value`, and how much it tells about the message."""

    key: str
    value: str
    weight: float


def statement_pairs(sentences: Sequence[Sentence], language: str) -> Iterator[KeyValue]:
    """What a message states, as pairs, sentence by sentence."""
    is_list = sum(1 for sentence in sentences if sentence.lead) > 2
    for number, sentence in enumerate(sentences):
        if sentence.kind not in ("prose", "item") or sentence.is_question or is_filler(sentence):
            continue
        # What comes first is mostly what the message is about.
        early = 0.5 if number < 3 else 0.0
        pairs = [
            *_line_pairs(sentence, is_list),
            *(_english_pairs(sentence.text) if language == "en" else _other_language_pairs(sentence.text)),
        ]
        for pair in pairs:
            yield KeyValue(pair.key, pair.value, pair.weight + early)


# A finder is a trigger and the key it gives; the value is the phrase after it.


def _read_finder(line: str) -> tuple[str, float, re.Pattern[str]]:
    weight, key, words_before_value = line.split(maxsplit=2)
    return key.replace("_", " "), float(weight), _STATEMENTS.compile(f"(?i){words_before_value}")


_FINDERS = tuple(map(_read_finder, _STATEMENTS.lines("TRIGGERS")))

_THEIR_VERBS = {
    "loves": "likes", "likes": "likes", "enjoys": "likes", "prefers": "prefers", "hates": "dislikes",
    "dislikes": "dislikes", "doesn't like": "dislikes", "works as": "works as", "lives in": "lives in",
}  # fmt: skip
_OWNER = lazy_pattern(r"['’]s$")


def _english_pairs(text: str) -> Iterator[KeyValue]:
    for key, weight, pattern in _FINDERS:
        for trigger in pattern.finditer(text):
            if not _STATEMENTS.doubt.search(words_before(text, trigger.start())):
                yield KeyValue(key, leading_phrase(text[trigger.end() :]), weight)
    for favourite in _STATEMENTS.favourite.finditer(text):
        yield KeyValue(favourite[1], leading_phrase(text[favourite.end() :]), 9.5)
    yield from _people_pairs(text)
    yield from _equation_pairs(text)


def _people_pairs(text: str) -> Iterator[KeyValue]:
    """Names, relations, ages and jobs of people, and where they go."""
    for match in _STATEMENTS.my_name.finditer(text):
        name = match[1] or match[2]
        if is_content(name.split()[0], "en") and not is_ordinary(name.split()[0]):
            yield KeyValue("name", name, 13)
    for match in _STATEMENTS.called.finditer(text):
        yield KeyValue(match[1], _OWNER.sub("", match[2]), 9.5)
    for match in _STATEMENTS.is_my.finditer(text):
        yield KeyValue(match[2], _OWNER.sub("", match[1]), 9.5)
    for match in _STATEMENTS.age.finditer(text):
        yield KeyValue("age", match[1], 9)
    for match in _STATEMENTS.i_am_a.finditer(text):
        yield KeyValue("is a", leading_phrase(text[match.end() :], 4), 8)
    for match in _STATEMENTS.theirs.finditer(text):
        verb = _THEIR_VERBS[match[3].replace("’", "'")]
        yield KeyValue(f"{match[1] or match[2]} {verb}", leading_phrase(text[match.end() :]), 8)
    for match in _STATEMENTS.trip.finditer(text):
        yield KeyValue("trip", _OWNER.sub("", match[1]), 7.5)


# Statements that are pairs already: "Price: $30", "The meeting is on Friday", "my blood pressure is 150".

_PRONOUNS = "it this that there here what which who these those he she they i we you everything one all some"
_NO_SUBJECT = frozenset(_PRONOUNS.split())
_MOST_CLAUSES = 6
_NARROW = 80  # characters of a line that is a pair


def _line_pairs(sentence: Sentence, is_list: bool) -> Iterator[KeyValue]:
    """A line that is a pair already. In a list it weighs less: the titles of the other items count as much."""
    lead = f"{sentence.lead}: "
    if sentence.lead and sentence.text.startswith(lead) and len(sentence.text) < _NARROW:
        value = leading_phrase(sentence.text[len(lead) :], 6)
        if _is_concrete(value):
            yield KeyValue(sentence.lead, value, 5 if is_list else 7)


def _equation_pairs(text: str) -> Iterator[KeyValue]:
    text = trim(text)
    for clause in clauses(text)[:_MOST_CLAUSES]:
        yield from _parse_equation(_STATEMENTS.joint.sub("", clause))
    for mine in _STATEMENTS.mine.finditer(text):
        yield KeyValue(mine[1], leading_phrase(text[mine.end() :], 5), 7.5)


def _parse_equation(clause: str) -> Iterator[KeyValue]:
    match = _STATEMENTS.subject.match(clause)
    if match is None:
        return
    first = match[2].split()[0].casefold().replace("’", "'")
    value = leading_phrase(clause[match.end() :], 6)
    concrete = _is_concrete(value)
    if not value or not (match[1] or concrete):
        return
    if not _may_be_subject(first) or (first.endswith("ing") and not match[1]):
        return
    ordinary = all(is_ordinary(word) or not is_content(word, "en") for word in words(value))
    yield KeyValue(match[2], value, 7.5 if concrete else 2.5 if ordinary or len(value.split()) > 5 else 5)


def _may_be_subject(word: str) -> bool:
    return not (word in _NO_SUBJECT or "'" in word or is_ordinary(word))


def _is_concrete(value: str) -> bool:
    return bool(WHEN.search(value) or AMOUNT.search(value) or re.search(r"\d|(?<!^)\b[A-Z]", value))


# Other languages


def _read_foreign_finder(line: str) -> tuple[str, re.Pattern[str]]:
    key, words_before_value = line.split(maxsplit=1)
    return key.replace("_", " "), _STATEMENTS.compile(rf"(?i)(?:^|(?<=\s))(?:{words_before_value})\s")


_FOREIGN_FINDERS = tuple(map(_read_foreign_finder, _STATEMENTS.lines("ELSEWHERE")))
_UNSPACED_NAME = lazy_pattern(
    r"(?:我叫|我的名字(?:是|叫)|私の名前は|わたしの名前は|제\s?이름은)\s?([^\s，。、,.!！]{1,8}?)"
    r"(?=です|입니다|이에요|예요|[，。、,.!！\s]|$)"
)


def _other_language_pairs(text: str) -> Iterator[KeyValue]:
    for key, pattern in _FOREIGN_FINDERS:
        for trigger in pattern.finditer(text):
            end = _STATEMENTS.and_elsewhere.search(text, trigger.end())
            rest = text[trigger.end() : end.start() if end else None]
            yield KeyValue(key, leading_phrase(rest, 3), 13 if key == "name" else 9)
    for name in _UNSPACED_NAME.finditer(text):
        yield KeyValue("name", name[1], 13)


# The phrase a statement is about

_POINT = lazy_pattern(r"(?<=\d)\.(?=\d)")
_POINT_KEPT = "\ue000"
_LONGEST_LOOK = 300  # characters


def leading_phrase(text: str, max_words: int = MAX_VALUE) -> str:
    """The phrase a text begins with: up to where another thought begins, in at most `max_words` words."""
    text = _POINT.sub(_POINT_KEPT, text[:_LONGEST_LOOK])
    stop = _STATEMENTS.stop.search(text)
    start = (text[: stop.start()] if stop else text).replace(_POINT_KEPT, ".")
    parts = start.split(",")
    if len(parts) > 1 and len(parts[0].split()) > 3:
        start = parts[0]
    return _STATEMENTS.loose.sub("", " ".join(start.split()[:max_words]))


# What somebody asks

_QUESTION_WORDS = 14
_OPENING = 2  # sentences; an order in them is a request, a later one is advice


def question_pairs(sentences: Sequence[Sentence]) -> Iterator[KeyValue]:
    """What a message asks, as pairs: questions, and requests by their matter."""
    weight = 7.0
    prose = [sentence for sentence in sentences if sentence.kind == "prose" and not is_filler(sentence)]
    for number, sentence in enumerate(prose):
        text = trim(sentence.text)
        if not sentence.is_question:
            order = _STATEMENTS.please.match(text) or (_STATEMENTS.order.match(text) if number < _OPENING else None)
            if order:
                yield KeyValue("request", _shorten_question(_STATEMENTS.tell.sub("", text[order.end() :])), 8)
            continue
        if len(text.split()) > _QUESTION_WORDS:
            text = end_of_question(clauses(text))
        text = _STATEMENTS.opinion.sub("", text)
        request = _STATEMENTS.asking.match(text) or _STATEMENTS.have_you.match(text)
        matter = _STATEMENTS.tell.sub("", text[request.end() :]) if request else text
        yield KeyValue(
            "request" if request else "question", _shorten_question(matter), weight if number < 8 else min(weight, 5)
        )
        weight = max(weight - 1.5, 3)


def end_of_question(parts: Sequence[str]) -> str:
    """The last clauses of a question: they ask, and what comes before them is background."""
    text = parts[-1]
    for clause in reversed(parts[:-1]):
        if len(text.split()) >= 5:
            break
        text = f"{clause} {text}"
    return text


def _shorten_question(text: str) -> str:
    """A question in few words, with a small first letter unless it is an acronym."""
    text = " ".join(text.rstrip("?？؟ .!").split()[:_QUESTION_WORDS])
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


_ASIDE = lazy_pattern(r"(?:(?<!\s)\s+)?\([^)]{0,200}\)")
_MOST_ITEMS = 60
_LIST_OPENING = 12  # sentences among which "here are" says what a list is of
_TITLE_WORDS = 7


def list_pairs(sentences: Sequence[Sentence], language: str) -> Iterator[KeyValue]:
    """What a list is of, and the titles of its items; the first weigh most."""
    for sentence in sentences[:_LIST_OPENING]:
        opening = _PATTERNS.here_are.match(sentence.text)
        if opening and sentence.text.endswith((":", "：")):
            title = shorten_phrase(sentence.text[opening.end() :].rstrip(":："), language)
            yield KeyValue("topic", " ".join(title.split()[:_TITLE_WORDS]), 8)
    titles = [sentence.lead or sentence.text for sentence in sentences if sentence.lead or sentence.kind == "heading"]
    for number, title in enumerate(titles[:_MOST_ITEMS]):
        yield KeyValue("items", _shorten_title(_PATTERNS.numbered.sub("", title), language), 7.2 - min(number, 40) / 20)
    if not titles:
        bare = [sentence.text for sentence in sentences if sentence.kind == "item"]
        for number, item in enumerate(bare[:_MOST_ITEMS]):
            yield KeyValue("items", _shorten_title(item, language, 5), 5.5 - min(number, 40) / 20)


def _shorten_title(text: str, language: str, max_words: int = 6) -> str:
    """A title in its first words, from the first that says something."""
    title_words = _ASIDE.sub("", text).rstrip(":.!? ").split()[:max_words]
    while title_words and not is_content(title_words[0].strip(",:\"'"), language):
        title_words = title_words[1:]
    return " ".join(title_words)


_SYMBOL = lazy_pattern(r"`([^`\n]{2,50})`")
_MAIL = lazy_pattern(r"(?<![\w.])[\w.+-]{1,64}@[\w-]{1,60}\.[\w.-]{2,30}\w")

_OTHERS = (
    ("email", _MAIL, 8.0),
    ("address", _PATTERNS.host, 7.0),
    ("defines", _PATTERNS.defined, 5.5),
    ("link", _PATTERNS.link, 5.0),
    ("code", _SYMBOL, 5.0),
)


def technical_pairs(text: str, sentences: Sequence[Sentence]) -> Iterator[KeyValue]:
    """Files, errors, versions, addresses and symbols; and notes that stand for code or data."""
    text = limit_text(text)
    for number, error in enumerate(_PATTERNS.error.finditer(text)):
        yield KeyValue("error", " ".join(error[0].split()[:MAX_VALUE]), 9.5 - min(number, 4))
    for number, file in enumerate(_PATTERNS.file.finditer(text)):
        yield KeyValue("file", file[0], 8.5 - min(number, 8) / 4)
    for version in _PATTERNS.version.finditer(text):
        yield KeyValue(version[1], version[2], 7)
    for key, pattern, weight in _OTHERS:
        for match in pattern.finditer(text):
            yield KeyValue(key, match[1] if pattern.groups else match[0], weight)
    for note in sentences:
        if note.kind == "note":
            kind, _, size = note.text.strip("[]").partition(": ")
            yield KeyValue(kind, size, 4.5)


_BARE = lazy_pattern(r"[\d.,:/]+")


def mention_pairs(sentences: Sequence[Sentence], language: str) -> Iterator[KeyValue]:
    """Names, times and amounts; the first weigh most."""
    for number, name in enumerate(names(sentences, language)):
        yield KeyValue("names", name, 6 - min(number, 30) / 12)
    prose = " ; ".join(sentence.text for sentence in sentences if sentence.kind in ("prose", "item"))
    for number, when in enumerate(WHEN.finditer(prose)):
        key = "duration" if when[0][:4].casefold() == "for " else "when"
        yield KeyValue(key, _PATTERNS.at.sub("", when[0]), 6.5 - min(number, 30) / 12)
    for number, amount in enumerate(amounts(prose, language)):
        yield KeyValue("amounts", amount, (5 if _BARE.fullmatch(amount) else 6.2) - min(number, 30) / 12)


_TOPIC_WORDS = 24
_REPEATED = 6


def topic_pairs(sentences: Sequence[Sentence], language: str, weights: Mapping[str, float]) -> Iterator[KeyValue]:
    """Pairs of words that are repeated, and the words that weigh most."""
    content = _content_sentences(sentences)
    sentence_words = [words(sentence.text) for sentence in content]
    for pair in _repeated_pairs(sentence_words, language):
        yield KeyValue("topic", " ".join(pair), 4.5)
    heaviest = _heaviest_words(sentence_words, language, weights)
    for number, word in enumerate(heaviest):
        if any(map(str.isalpha, word)) and (number == 0 or _may_be_topic(word)):
            yield KeyValue("topic", word, (4 if number < 4 else 3) - number / 30)
    if not heaviest and content:
        yield KeyValue("text", " ".join(WORD.findall(content[0].text)[:MAX_VALUE]) or content[0].text[:40], 1)


def _content_sentences(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences without notes, and without fillers unless there is nothing else."""
    noteless = [sentence for sentence in sentences if sentence.kind != "note"]
    return [sentence for sentence in noteless if not is_filler(sentence)] or noteless


def _heaviest_words(sentence_words: Iterable[Sequence[str]], language: str, weights: Mapping[str, float]) -> list[str]:
    """The words that weigh most, each as it is written first."""
    spellings: dict[str, str] = {}
    for word in chain.from_iterable(sentence_words):
        spellings.setdefault(stem(word, language), word)
    stems = sorted(spellings.keys() & weights.keys(), key=lambda root: (-weights[root], root))
    return [spellings[root] for root in stems[:_TOPIC_WORDS]]


def _may_be_topic(word: str) -> bool:
    return not (is_ordinary(word) or word.casefold() in SPELT_NUMBERS or is_small_talk(word))


def _repeated_pairs(sentence_words: Iterable[Sequence[str]], language: str) -> list[tuple[str, str]]:
    """The pairs of neighbouring words that are said more than once, the most frequent first."""
    counts = Counter(pair for words_of_sentence in sentence_words for pair in pairwise(words_of_sentence))
    pairs = [pair for pair, times in counts.most_common() if times > 1]
    return [pair for pair in pairs if matters(pair[0], language) and matters(pair[1], language)][:_REPEATED]
