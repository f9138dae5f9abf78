"""What a message and a topic are about, by their words: stems to compare them, and phrases to name a topic.

Only words with content count: no function words, no words that every message has, no bare numbers, none of the words
that greetings, thanks and praise are made of. So a message of pleasantries has no words and says nothing. A topic
counts what its messages say and keeps a bounded number of stems and phrases; the least frequent go first, and of those
the oldest. So following a topic never needs to read its messages again, and costs the same however long it is.

A topic is named by the beginning of the message that opened it, and once it has a few messages by its key phrases: what
is said often in it, seldom in the other topics of the conversation, and names a thing rather than a thought. A name
stays whole ("Lord of the Rings"), and a sentence that is too long ends before a small word that leads on. A sentence of
nothing but phatic words ("so proud of you!") opens no topic and names none. A faint word says something, but names
nothing by itself, and a short message of faint words alone opens no topic. A describing word may begin a title
("virtual tour"), but not end it.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log, log1p
from sys import intern
from typing import Any, NamedTuple, TypeAlias

from everword.model import Role
from everword.text.dates import MONTHS, WEEKDAYS
from everword.text.detect import detect, function_words, script_of
from everword.text.doc import doc_of
from everword.text.english import PAST_FORMS, PLAIN_VERBS, form_after_i
from everword.text.filler import describes, is_small_talk, may_name, trim_address
from everword.text.sentences import clauses
from everword.text.word_weights import (
    SPELT_NUMBERS,
    concreteness,
    is_ordinary,
    is_unspaced,
    matters,
    stem,
    whole_words,
    words,
)
from everword.text.worth_telling import is_judgement
from everword.word_lists import WordLists, lazy_pattern

READ = 600
"""Characters of a user's message that are read."""
READ_OTHERS = 240
"""Characters of any other message: a reply says in its beginning what it is about."""
SAMPLE = 160
"""Characters by which the language of a message is told."""
MAX_STEMS = 64
MAX_PHRASES_KEPT = 40
"""Stems and phrases that are kept of a topic."""
LONGEST_PHRASE = 3
"""Words of a phrase."""

_BREAKS = r",;:!?…()\[\]{}<>\"“”«»*|—–/、。，！？；：（）「」『』《》〈〉【】・～،؛؟।॥¿¡"
_TOKEN = lazy_pattern(rf"[^\s{_BREAKS}]+|[\n{_BREAKS}]+")
_SENTENCE_ENDS = frozenset("!?…\n。！？؟।॥")
_ABBREVIATION = lazy_pattern(r"(?:[A-Z]\.)+|(?:Mrs?|Ms|Dr|St|Mt|Prof|vs)\.")
_ASIDE = lazy_pattern(r"\[[^\[\]]{0,300}\]")
_MARKS = ".'’`_-~#+&"
_POSSESSIVE = ("'s", "’s", "`s")
_APOSTROPHES = str.maketrans("’`", "''")


_LISTS = WordLists("words", folder="topics/data")


@dataclass(frozen=True, slots=True)
class MessageWords:
    """The stems of a message, each once, and its phrases in order. `is_telling`: one of them may name a subject."""

    stems: frozenset[str] = frozenset()
    phrases: tuple[str, ...] = ()
    is_telling: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the message says nothing by itself."""
        return not self.stems


@dataclass(frozen=True, slots=True)
class TopicWords:
    """How many messages of a topic have each stem, and how often each phrase was said; the oldest first."""

    stems: Mapping[str, int] = field(default_factory=dict)
    phrases: Mapping[str, int] = field(default_factory=dict)

    def with_message(self, message: MessageWords) -> TopicWords:
        if not message.stems:
            return self
        # A set has no order of its own, and the order decides what is dropped.
        return TopicWords(
            _count(self.stems, sorted(message.stems), MAX_STEMS),
            _count(self.phrases, message.phrases, MAX_PHRASES_KEPT),
        )

    def to_object(self) -> dict[str, Any]:
        """What is stored of it. A store keeps no order of keys, and the order decides what is dropped and which phrase
        comes first in a title: so it is stored beside them."""
        if not self.stems:
            return {}
        order = [_places_in_order(self.stems), _places_in_order(self.phrases)]
        return {"stems": dict(self.stems), "phrases": dict(self.phrases), "order": order}

    @property
    def is_telling(self) -> bool:
        """Whether one of its words may name a subject."""
        return any(not is_faint(word) for phrase in self.phrases for word in phrase.split())

    @classmethod
    def from_object(cls, value: Mapping[str, Any]) -> TopicWords:
        """What `to_object` wrote; without an order, if it was stored before orders were."""
        if not value:
            return NO_WORDS
        stems_order, phrases_order = value.get("order") or ((), ())
        return cls(_put_in_order(value["stems"], stems_order), _put_in_order(value["phrases"], phrases_order))


NO_WORDS = TopicWords()


def _places_in_order(counts: Mapping[str, int]) -> list[int]:
    """The places that keys have when they are sorted, in their own order."""
    places = {key: place for place, key in enumerate(sorted(counts))}
    return [places[key] for key in counts]


def _put_in_order(counts: Mapping[str, int], order: Sequence[int]) -> dict[str, int]:
    """Counts in an order of places, with one string for each word: thousands of topics say the same words."""
    keys = list(counts)
    if len(order) == len(keys):
        in_order = sorted(keys)
        keys = [in_order[place] for place in order]
    return dict(zip(map(intern, keys), map(counts.__getitem__, keys), strict=True))


def _count(counts: Mapping[str, int], new: Iterable[str], most: int) -> dict[str, int]:
    result = dict(counts)
    for key in new:
        result[key] = result.get(key, 0) + 1
    excess = len(result) - most
    if excess > 0:
        rarest = [key for key, count in result.items() if count == 1]
        if len(rarest) < excess:
            rarest = sorted(result, key=result.__getitem__)  # among equals the oldest: sorting keeps the order
        for key in rarest[:excess]:
            del result[key]
    return result


# -- reading


def read_words(text: str, role: Role = "user") -> MessageWords:
    """The words of a message that say what it is about, none cut in two."""
    limit = READ if role == "user" else READ_OTHERS
    end = text.rfind(" ", 0, limit + 1) if len(text) > limit else limit
    return doc_of(text[: end if end > 0 else limit]).read(_read_words)


def _read_words(text: str) -> MessageWords:
    if "[" in text:
        text = _ASIDE.sub(" ", text)
    language = detect_language(text)
    stems: dict[str, None] = {}
    phrases: list[str] = []
    clause: list[str] = []
    is_first = True
    is_bare = False  # the clause before says nothing, so that a name alone only calls somebody: "Wow, Dana, a tent?"
    for token in [*_TOKEN.findall(text), "\n"]:
        if token[0].isalnum() or (token[-1].isalnum() and token[0] not in _SENTENCE_ENDS):
            clause.append(token)
            if token[-1] != "." or _ABBREVIATION.fullmatch(token):
                continue
        ends = not _SENTENCE_ENDS.isdisjoint(token) or token[-1] == "."
        if clause:
            count = len(stems)
            if not is_address(clause, is_first, ends or is_bare):
                _read_clause(clause, language, is_first, stems, phrases)
            is_bare = len(stems) == count
            is_first = False
            clause = []
        is_first = is_first or ends
    is_telling = any(not is_faint(word) for phrase in phrases for word in phrase.split())
    return MessageWords(frozenset(stems), tuple(phrases), is_telling)


def detect_language(text: str) -> str:
    """The language of a message, by its beginning."""
    return detect(text[:SAMPLE])


def is_address(clause: Sequence[str], is_first: bool, is_last: bool) -> bool:
    """Whether a clause only calls somebody by name: "Hey Dana", ", Dana!"."""
    if not clause[-1][:1].isupper() or is_first == is_last == (len(clause) == 1):
        return False
    if len(clause) == 1:
        return is_first or is_last
    return all(token.casefold() in _LISTS.calls for token in clause[:-1])


def _read_clause(
    clause: Sequence[str], language: str, is_first: bool, stems: dict[str, None], phrases: list[str]
) -> None:
    """Add the stems of a clause, and its phrases: runs of words with content, without verbs where one can tell. A small
    word between the words of a name belongs to it: "Museum of Glass"."""
    run: list[str] = []
    is_verb = False
    tokens = clause if all(map(str.isascii, clause)) else _spread_tokens(clause)
    for place, token in enumerate(tokens):
        root, leads_verb, is_lower, is_activity = _read_token(token, language)
        if root:
            stems[root] = None
        if root and is_unspaced(token) and len(token) > _LONGEST_UNSPACED:
            root = ""  # no word, so it names nothing in a title
        if root and not (is_lower and (is_verb or _takes_object(tokens, place, is_activity))):
            run.append(lower_opener(tokens) if is_first and place == 0 else token)
        elif _joins_name(tokens, place, bool(run)):
            run.append(token)
        elif run:
            _add_phrase(run, phrases)
            run = []
        is_verb = leads_verb
    if run:
        _add_phrase(run, phrases)


def _joins_name(tokens: Sequence[str], place: int, in_run: bool) -> bool:
    """Whether a word without content is a part of a name: "Lord of the Rings", "at Open Air"."""
    before, word, *after = ["", *tokens][place : place + 4]
    is_small = word in _LISTS.in_names
    if not after or not after[int(is_small and after[0] == "the" and len(after) > 1)].istitle():
        return False
    if in_run:
        return (is_small or word.istitle()) and (before.istitle() or before in _LISTS.in_names)
    return place > 0 and len(word) > 1 and word.istitle() and word.lower() not in _LISTS.before_nouns


def _takes_object(tokens: Sequence[str], place: int, is_activity: bool) -> bool:
    """Whether a word is a verb, since its object comes next: "painting that wall", and not "a painting that I made"."""
    after = [token.lower() for token in tokens[place + 1 : place + 3]]
    if not after or after[0] not in _LISTS.after_verbs:
        return False
    is_described = after[0] == "that" and after[1:] != [] and after[1] in _LISTS.before_verbs
    is_noun = not is_activity and (place == 0 or tokens[place - 1].lower() in _LISTS.before_nouns)
    return not (is_described or is_noun)


def _spread_tokens(clause: Sequence[str]) -> list[str]:
    """The words of a clause; those of a script without spaces are the runs between particles."""
    return [word for token in clause for word in (_unspaced_words(token) if is_unspaced(token) else (token,))]


def _unspaced_words(token: str) -> list[str]:
    return whole_words(token) if script_of(token[0]) in ("han", "kana") else words(token)


def lower_opener(tokens: Sequence[str]) -> str:
    """The first word of a sentence: its capital is no sign of a name, unless the next word has one, too."""
    first = tokens[0]
    return first if (len(tokens) > 1 and tokens[1][:1].isupper()) or not first.istitle() else first.lower()


def _add_phrase(run: Sequence[str], phrases: list[str]) -> None:
    """Add a run of words; of a long one the last words, which are what the others describe."""
    places = [place for place, token in enumerate(run) if token not in _LISTS.in_names][-LONGEST_PHRASE:]
    if places:
        words = [token.strip(_MARKS) for token in run[places[0] : places[-1] + 1]]
        phrases.append(" ".join([*words[:-1], _bare(words[-1])]))


class _TokenReading(NamedTuple):
    """A word of a text. `stem`: empty if it carries no content; `leads_verb`: a verb comes after it; `is_activity`: it
    ends in -ing, or is the form of a verb in -s."""

    stem: str
    leads_verb: bool
    is_lower: bool
    is_activity: bool


@lru_cache(maxsize=20_000)
def _read_token(token: str, language: str) -> _TokenReading:
    return _TokenReading(
        content_stem(token, language),
        leads_verb=token.lower() in _LISTS.before_verbs,
        is_lower=token.islower(),
        is_activity=token.endswith("ing") or _is_third_person(token),
    )


def content_stem(token: str, language: str) -> str:
    """The stem of a word that carries content; empty for any other word and for numbers."""
    word = _bare(token)
    if (len(word) < 2 and not is_unspaced(word)) or word.lower().translate(_APOSTROPHES) in _LISTS.phatic:
        return ""
    if not any(map(str.isalpha, word)) or not matters(word, language):
        return ""
    return stem(word, language)


def is_faint(word: str) -> bool:
    """Whether a word says too little to name a subject."""
    return word.lower() in _LISTS.faint


def _bare(token: str) -> str:
    token = token.strip(_MARKS)
    return token[:-2] if token.endswith(_POSSESSIVE) else token


# -- comparing


@dataclass(frozen=True, slots=True)
class Rarity:
    """How rare stems are among the topics of a conversation: what all of them have tells nothing."""

    topics: Sequence[Mapping[str, int]]

    def of(self, root: str) -> float:
        spread = len([stems for stems in self.topics if root in stems])
        return log((len(self.topics) + PRIOR) / (spread + 0.5))


PRIOR = 4
"""Topics that are assumed besides those of the conversation, so that a shared word counts in the first topic, too."""
UNSAID = 2.0
"""Added to the weight of all words of a message: a short one that shares a word shares little."""


def shared_words(message: Mapping[str, float], topic: TopicWords) -> float:
    """The share, from 0 to 1, of a message's words that a topic has, each with its rarity as weight."""
    return shared_weight(message, topic) / total_weight(message)


def shared_weight(message: Mapping[str, float], topic: TopicWords) -> float:
    """The weight of the words that a message has in common with a topic."""
    stems = topic.stems
    shared = 0.0
    for root, weight in message.items():
        if root in stems:
            shared += weight
    return shared


def total_weight(message: Mapping[str, float]) -> float:
    """The weight of all words of a message, and of what it does not say."""
    total = UNSAID
    for weight in message.values():
        total += weight
    return total


# -- titles


TITLE = 80
"""Characters of a title."""
KEY_PHRASES_FROM = 3
"""Messages from which on a topic is named by its key phrases."""
MAX_WORDS = 5
"""Words of a title of key phrases."""
MAX_PHRASES = 3
WORTH = 0.4
"""The least weight of a further phrase in a title, as a share of that of the first; after one word any will do."""
SINGLE = 0.6
"""What a word alone is worth as a phrase; two words say more, and three say too much."""
_BY_LENGTH = {1: SINGLE, 2: 1.0, 3: 0.8}
_VERB_ENDS = ("ing", "ed", "ly")
_SHORT = 4  # letters of a word in -ed that is no verb: "shed"
_PAUSES = " ,;:–—-"
_SENTENCE_END = lazy_pattern(r"(?<=[.!?…。！？؟।])(?<!\bvs\.)(?<!\b[MDS][rt]\.)(?<!\bMrs\.)\s+")
_LAST_BREAK = lazy_pattern(r"[\s、。，！？；：,;:!?،؛؟।](?=[^\s、。，！？；：,;:!?،؛؟।]*$)")
_LONGEST_UNSPACED = 6
"""Characters of a run in a script without spaces that may be a word: a longer one is a part of a sentence."""


def opening_title(text: str) -> str:
    """The first 80 characters of a message, without what is seen in a picture, sentences that name nothing or only say
    how it feels, and the sentence, clause or word that would be cut."""
    text = text[: 20 * TITLE]
    line = " ".join((_ASIDE.sub(" ", text).strip() or text).split())
    sentences = _SENTENCE_END.split(line)
    is_english = detect(line) == "en"
    title = trim_address(" ".join(sentences[_place_to_begin(sentences, is_english) :]))
    return _first_whole_parts(title) if is_english else _bare_beginning(title)


def _place_to_begin(sentences: Sequence[str], is_english: bool) -> int:
    """The first sentence that may name a subject and does not only judge; else that may name one; else that says
    anything."""
    readings = [read_words(sentence) for sentence in sentences]
    places = [place for place, reading in enumerate(readings) if reading.is_telling]
    for place in places if is_english else ():
        if not is_small_talk(sentences[place]) and not is_judgement(sentences[place]):
            return place
    return next(iter([*places, *(place for place, reading in enumerate(readings) if not reading.is_empty)]), 0)


def _first_whole_parts(text: str) -> str:
    """The sentences at the beginning of a text that fit a title and name something; else clauses, else words."""
    if len(text) <= TITLE:
        return text
    for parts in (_SENTENCE_END.split(text), clauses(text)):
        end = 0
        for part in parts:
            end = text.find(part, end) + len(part) if text.find(part, end) + len(part.rstrip()) <= TITLE else end
        if read_words(text[:end]).is_telling:
            return text[:end].rstrip(_PAUSES)
    return _first_words(text[: TITLE + 1].split(" ")[:-1] or [text[:TITLE]])


def _first_words(words: Sequence[str]) -> str:
    """The words of a sentence that was cut, up to the last small word that leads something on, if they name something:
    "I sold the boat to buy | a larger"."""
    for end in range(len(words) - 1, _LEAST_WORDS, -1):
        if words[end].casefold() in _LISTS.leads_on and read_words(" ".join(words[:end])).is_telling:
            words = words[:end]
            break
    while len(words) > 1 and (words[-1].casefold() in function_words("en") or describes(words[-1])):
        words = words[:-1]
    return " ".join(words).rstrip(_PAUSES)


_LEAST_WORDS = 4


def _bare_beginning(text: str) -> str:
    """The beginning of a text in any script that fits a title, up to the end of a word, without marks at its ends."""
    title = text
    if len(title) > TITLE:
        break_at = _LAST_BREAK.search(title[: TITLE + 1])
        title = title[: break_at.start()] if break_at else title[:TITLE]
    bare = title.lstrip(_OPENING_MARKS)
    while bare and unicodedata.category(bare[-1]) in ("Po", "Pd", "Zs"):
        bare = bare[:-1]
    return bare or title


_OPENING_MARKS = " !！。，、؟،।.…~～"


def subject(title: str, made_by: str, limit: int = 6) -> str:
    """The subject of a topic in a few words: the title a model wrote, or the content words of a message's beginning."""
    if made_by == "model":
        return title
    language = detect(title)
    return " ".join([word for word in words(title) if matters(word, language)][:limit])


def is_due(count: int) -> bool:
    """Whether a topic of so many messages is named again: with the third, and whenever it has grown by two thirds."""
    due = KEY_PHRASES_FROM
    while due < count:
        due = due * 5 // 3
    return due == count


@dataclass(frozen=True, slots=True)
class OpeningTitle:
    """A title that is due: the beginning of a message."""

    message: str

    def text(self) -> str:
        return opening_title(self.message)


@dataclass(frozen=True, slots=True)
class KeyTitle:
    """A title that is due: the key phrases of a topic, by its words and those of the others at that moment."""

    words: TopicWords
    others: Sequence[TopicWords]

    def text(self) -> str:
        return key_title(self.words, self.others)


DueTitle: TypeAlias = OpeningTitle | KeyTitle


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    stems: frozenset[str]
    score: float


def key_title(topic: TopicWords, others: Sequence[TopicWords]) -> str:
    """The key phrases of a topic against the other topics of the conversation; empty if it has none."""
    if not topic.phrases:
        return ""
    language = detect(" ".join(topic.phrases)[:SAMPLE])
    readings = {text: _read_phrase(text, language) for text in topic.phrases}
    counts = _count_stems(topic, readings)
    weights = _weigh_stems(counts, others, language)
    phrases: dict[str, _Phrase] = {}
    for text, count in topic.phrases.items():
        phrase = _weigh_phrase(readings[text], count, counts, weights)
        if phrase is not None and (phrase.text not in phrases or phrases[phrase.text].score < phrase.score):
            phrases[phrase.text] = phrase
    chosen = _choose_phrases(list(phrases.values()))
    return "" if language == "en" and _says_little(chosen) else ", ".join(chosen)


def _says_little(phrases: Sequence[str]) -> bool:
    """Whether a title would be no more than one word for something nobody can see: then the one before is better."""
    first = phrases[0] if len(phrases) == 1 else ""
    return first.isalpha() and first.islower() and concreteness(stem(first, "en")) < 0


def _count_stems(topic: TopicWords, readings: Mapping[str, Sequence[_PhraseWord]]) -> Mapping[str, int]:
    """How often stems were said in a topic. A long topic has dropped some that its phrases still have."""
    in_phrases = Counter[str]()
    for text, count in topic.phrases.items():
        in_phrases.update({word.stem: count for word in readings[text] if word.stem})
    return Counter(topic.stems) | in_phrases


def _weigh_stems(stems: Mapping[str, int], others: Sequence[TopicWords], language: str) -> dict[str, float]:
    """What stems tell of a topic: how often they are said in it, how much more often than in the other topics, and how
    much they are words for things one can see."""
    said = sum(stems.values())
    elsewhere = Counter[str]()
    for other in others:
        elsewhere.update(other.stems)
    said_elsewhere = elsewhere.total() + _UNSEEN
    weights: dict[str, float] = {}
    for root, count in stems.items():
        lift = (count / said) * said_elsewhere / (elsewhere[root] + 1)
        thing = concreteness(root) if language == "en" else 0.0
        weights[root] = count**0.75 * log1p(lift) * max(_LEAST_THING, 1 + _THING * thing)
    return weights


_UNSEEN = 200
"""Words that are assumed to be said elsewhere, so that the first topic has a background, too."""
_THING = 2.0
_LEAST_THING = 0.4


class _PhraseWord(NamedTuple):
    """A word of a phrase. `is_empty`: it names nothing; `may_be_verb`: by its ending it is a verb or an adverb;
    `describes`: it says how something is, and not what, so no phrase ends with it."""

    text: str
    stem: str
    is_faint: bool
    is_empty: bool
    may_be_verb: bool
    describes: bool

    def is_weak(self, counts: Mapping[str, int]) -> bool:
        """Whether the word names nothing by itself: it is faint, or a verb or an adverb that was said only once."""
        if self.is_faint or self.is_empty or self.stem not in counts:
            return True
        return self.may_be_verb and counts[self.stem] < 2


def _read_phrase(text: str, language: str) -> tuple[_PhraseWord, ...]:
    return tuple([_read_phrase_word(token, language) for token in text.split()])


def _read_phrase_word(token: str, language: str) -> _PhraseWord:
    word = _bare(token)
    is_lower = word.islower()
    is_english = language == "en"
    is_verbal = word.endswith(_VERB_ENDS) or (is_english and _is_third_person(word))
    return _PhraseWord(
        token,
        _read_token(token, language).stem,
        is_faint(word) or (is_english and word.endswith("s") and (is_faint(word[:-1]) or is_ordinary(word[:-1]))),
        is_empty=is_english and not describes(word) and (not may_name(word) or _counts(word.lower())),
        may_be_verb=is_lower and is_verbal and word not in _LISTS.activities,
        describes=is_lower and (describes(word) or (is_english and _is_past(word))),
    )


def _counts(word: str) -> bool:
    """Whether an English word is a month, a day of the week, a number or a contraction."""
    is_contraction = "'" in word.translate(_APOSTROPHES)
    return is_contraction or word in SPELT_NUMBERS or word in MONTHS or word.rstrip("s") in WEEKDAYS


def _is_third_person(token: str) -> bool:
    return token.endswith("s") and form_after_i(token) in PLAIN_VERBS


def _is_past(token: str) -> bool:
    """Whether an English word is the past of a verb, which names nothing at the end of a phrase: "held", "shaped"."""
    return token in PAST_FORMS or (len(token) > _SHORT and token.endswith("ed") and not token.endswith("eed"))


def _is_only_verb(word: str) -> bool:
    """Whether an English word is a form of a verb that is no noun: "find", "finds", "finding"."""
    forms = {word.lower(), form_after_i(word)}
    if word.endswith("ing") and word not in _LISTS.activities:
        forms |= {word[:-3], f"{word[:-3]}e", word[:-4]}
    return not _LISTS.only_verbs.isdisjoint(forms)


def _begins_badly(words: Sequence[_PhraseWord], counts: Mapping[str, int]) -> bool:
    """Whether a phrase begins with a word that names nothing, or with a verb: "prefer Lisbon", "Attending Open Air"."""
    first = words[0]
    if len(words) > 1 and first.text.istitle() and words[1].text.istitle():
        return first.text.endswith("ing")
    if first.is_weak(counts):
        return True
    return len(words) > 1 and _is_only_verb(first.text)


def _ends_badly(words: Sequence[_PhraseWord], counts: Mapping[str, int]) -> bool:
    """Whether a phrase ends with a word that names nothing or only describes, or is a verb alone."""
    last = words[-1]
    if len(words) > 1 and last.text.istitle() and words[-2].text.istitle():
        return False
    if last.text in _LISTS.only_verbs:
        return True
    if len(words) > 1 and last.is_faint and not last.is_empty and last.stem in counts:
        return words[-2].is_weak(counts) or words[-2].describes or last.may_be_verb or last.describes
    if len(words) == 1 and last.may_be_verb and last.text.endswith("ing"):
        return True
    return last.is_weak(counts) or last.describes


def _weigh_phrase(
    words: Sequence[_PhraseWord], count: int, counts: Mapping[str, int], weights: Mapping[str, float]
) -> _Phrase | None:
    """A phrase without what names nothing at its ends, with its weight; None if nothing is left."""
    start, end = 0, len(words)
    while start < end and _begins_badly(words[start : start + 2], counts):
        start += 1
    while start < end and _ends_badly(words[max(start, end - 2) : end], counts):
        end -= 1
    words = words[start:end]
    roots = frozenset([word.stem for word in words if word.stem in counts])
    if not roots:
        return None
    root_weights = [weights[root] for root in roots]
    mean = sum(root_weights) / len(roots)
    is_name = words[0].text[0].isupper()
    score = (
        (max(root_weights) + mean) * _BY_LENGTH[min(len(roots), 3)] * (1 + (count > 1) / 2) * (1.2 if is_name else 1.0)
    )
    return _Phrase(" ".join([*(word.text for word in words[:-1]), _bare(words[-1].text)]), roots, score)


def _choose_phrases(phrases: Sequence[_Phrase]) -> list[str]:
    """The best phrases that have no word in common, few words in all."""
    chosen: list[_Phrase] = []
    words_left = MAX_WORDS
    for phrase in sorted(phrases, key=lambda phrase: -phrase.score):  # among equals the oldest
        if words_left < MAX_WORDS - 1 and phrase.score < WORTH * chosen[0].score:
            break
        size = len(phrase.stems)
        is_new = all(phrase.stems.isdisjoint(other.stems) for other in chosen)
        if size <= words_left and is_new and sum(len(other.text) + 2 for other in [*chosen, phrase]) <= TITLE:
            chosen.append(phrase)
            words_left -= size
        if len(chosen) == MAX_PHRASES:
            break
    return [phrase.text for phrase in chosen]
