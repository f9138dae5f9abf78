"""Whether what a model wrote is in what it was shown: a summary in its message, a fact in its lines; and if not, why.

Small models repeat the example of their prompt, and invent. Words are compared by their terms, so another form of a
word is the same; what can be said in other words (a small number spelt out, a month) is not counted as invented. A fact
has a source: a line by the person who states it, which says its value or answers a line that asks for it. What is
asked, supposed or quoted states nothing, and what an assistant states is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from everword.facts.english import WORDS
from everword.facts.english.finder import stated_text, states_something
from everword.facts.rules.keys_and_values import holds_several_values
from everword.model import FactRefusal, FoundFact, Role
from everword.text.dates import TimeSpan, parse_times, spans
from everword.text.english import RELATIONS, species
from everword.text.filler import is_small_talk
from everword.text.key_value_statements import CALENDAR, CAPITAL_NOUNS
from everword.text.sentences import limit_text, split_sentences
from everword.text.terms import analyse
from everword.text.word_weights import WORD, is_content, is_ordinary, words
from everword.word_lists import Patterns, lazy_pattern, read_list, read_table

_NUMBER = lazy_pattern(r"\d+(?:[.,]\d+)*")
_SEPARATORS = lazy_pattern(r"[.,]")
_SPEAKERS = frozenset({"user", "assistant", "ai", "i", "person", "they", "the"})
_SMALL = 12  # numbers up to it are often spelt out
_TOLERATED = 1  # inventions: an abbreviation written out looks like one
_MOST_INVENTED = 1 / 3  # of the names and numbers


@dataclass(frozen=True, slots=True)
class Grounds:
    """The terms and numbers of a message, as evidence for what a model wrote about it."""

    language: str
    terms: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, message: str) -> Grounds:
        analysis = analyse(message)
        terms = analysis.terms if any(map(str.isalnum, message)) else ()  # emoji have terms, but nobody repeats them
        return cls(analysis.language, frozenset(terms), _numbers(message))

    def shares_word(self, text: str) -> bool:
        """Whether a text has a word of the message, or the message has no words."""
        return not self.terms or not self.terms.isdisjoint(analyse(text, self.language).terms)

    def filter_pairs(self, line: str) -> str:
        """The `key = value` pairs that share a word with the message."""
        return "; ".join(
            pair for pair in line.split("; ") if self.shares_word(pair) and not self._foreign_mentions(pair)
        )

    def find_inventions(self, text: str) -> list[str]:
        """The names and numbers in a text that are not in the message; none if they are few."""
        foreign = self._foreign_mentions(text)
        mention_count = len(_names(text, self.language)) + len(_numbers(text))
        return foreign if len(foreign) > max(_TOLERATED, mention_count * _MOST_INVENTED) else []

    def _foreign_mentions(self, text: str) -> list[str]:
        names = [name for name in _names(text, self.language) if not self.shares_word(name)]
        numbers = [number for number in _numbers(text) if number not in self.numbers]
        return names + sorted(number for number in numbers if len(number) > 2 or int(number) > _SMALL)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_SEPARATORS.sub("", number)[:40] for number in _NUMBER.findall(text))


def _names(text: str, language: str) -> list[str]:
    """Words with a capital that does not begin a sentence or a value."""
    if language in CAPITAL_NOUNS:
        return []
    names: dict[str, None] = {}
    for sentence in split_sentences(text):
        for word in WORD.findall(sentence)[1:]:
            plain = word.casefold().removesuffix("'s").removesuffix("’s")
            if not word[0].isupper() or plain in CALENDAR | _SPEAKERS:
                continue
            if is_content(plain, language) and not is_ordinary(plain):
                names[word] = None
    return list(names)


_DATA = "facts/rules/data"
_EVIDENCE = Patterns("evidence", _DATA, WORDS)

NEAR = 3
"""Lines before a source that may be what it answers or continues."""
MAX_NEAR = 2_000
"""Characters of a line before a source, from its end."""
MOST_FOREIGN = 0.6
"""The most words of a value, as a share, that no line says: models reword."""
ENOUGH_WORDS = 5
"""Content words of a line that is worth reading although it names nobody."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line of a conversation as it is read: who says it, by the name people know, when, and whether it is new.

    Lines that are not new are there to be understood with the others. `shown` is what the assistant said or was shown
    of memory just before. `in_group`: three people or more talk there.
    """

    speaker: str
    text: str
    time: datetime | None = None
    role: Role = "user"
    is_new: bool = True
    shown: tuple[str, ...] = ()
    in_group: bool = False

    @property
    def may_state(self) -> bool:
        """Whether it may be the source of a fact."""
        return self.is_new and self.role == "user"

    @property
    def day(self) -> date | None:
        return self.time.date() if self.time else None


# -- whether a model should read lines at all


def is_worth_reading(lines: Sequence[ReadLine]) -> bool:
    """Whether any new line may state a fact. Pleasantries, questions and exclamations alone are not worth a call."""
    befores: tuple[ReadLine | None, ...] = (None, *lines)
    return any(line.may_state and _may_tell(line, before) for before, line in zip(befores, lines, strict=False))


def _is_name_or_number(word: str) -> bool:
    return (word[0].isupper() and not _EVIDENCE.self.fullmatch(word)) or _has_digit(word)


def _may_tell(line: ReadLine, before: ReadLine | None) -> bool:
    if is_small_talk(line.text) or not states_something(line.text):
        return False
    parts = re.split(r"(?<=[.!?])\s+|,\s+", line.text)
    plain = " ".join(part for part in parts if not _EVIDENCE.parting.search(part))
    plain_words = words(plain)
    if any(map(_is_name_or_number, plain_words[1:])):
        return True
    content_words = [word for word in plain_words if is_content(word.casefold(), "en") and not is_ordinary(word)]
    is_answer = before is not None and before.speaker != line.speaker and "?" in before.text
    tells_of_self = bool(content_words) and (_EVIDENCE.self.search(plain) is not None or is_answer)
    return tells_of_self or len(content_words) >= ENOUGH_WORDS


# -- evidence

_SPELT = {word: str(number) for number, word in enumerate(read_list("numbers", "evidence", _DATA))}
_SPELT |= read_table("other_numbers", "evidence", _DATA)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a source line says, and what it says together with the lines before it."""

    language: str
    own_terms: frozenset[str]
    terms: frozenset[str]
    tokens: frozenset[str]
    numbers: frozenset[str]
    times: tuple[TimeSpan, ...]
    days: frozenset[date]
    stated: str
    answers: re.Pattern[str] | None

    @classmethod
    def of(cls, lines: Sequence[ReadLine], place: int) -> Evidence:
        """The evidence for facts whose source is the line at `place`."""
        source = replace(lines[place], text=limit_text(lines[place].text))
        stated = stated_text(source.text)
        near_lines = [replace(line, text=line.text[-MAX_NEAR:]) for line in lines[max(place - NEAR, 0) : place]]
        near_texts = [_usable_text(line, source) for line in near_lines]
        language = analyse(stated).language
        everything = " . ".join((*near_texts, stated))
        asked = bool(near_lines) and "?" in near_lines[-1].text
        answers = next(
            (kind for kind in (_EVIDENCE.affirms, _EVIDENCE.denies) if asked and kind.match(source.text)), None
        )
        times, days = _times_in([*zip(near_texts, near_lines, strict=True), (source.text, source)])
        return cls(
            language,
            _terms_with_synonyms(stated, language),
            _terms_with_synonyms(everything, language),
            frozenset(token.casefold() for token in _EVIDENCE.token.findall(everything)),
            _numbers_in(everything) | {number for day in _days_of(times, days) for number in _numbers_of_day(day)},
            times,
            days,
            stated,
            answers,
        )

    @property
    def is_short_answer(self) -> bool:
        """Whether the line begins by affirming or denying what was asked just before it."""
        return self.answers is not None

    def refuse_fact(self, fact: FoundFact) -> FactRefusal | None:
        """Why the lines do not say a fact, or None if they do. Whom it is about is asked apart (`names_subject`)."""
        if not self.stated.strip():
            return FactRefusal("only_asked", "the line only asks, supposes or quotes")
        if not fact.value:
            is_said = fact.retracts and self._shares_term(fact.key)
            return None if is_said else FactRefusal("incomplete", "no value is given")
        foreign_words = self.foreign_words(fact.value)
        if foreign_words:
            return FactRefusal("not_said", f"no line says {', '.join(map(repr, foreign_words))}")
        terms = analyse(fact.value, self.language).terms
        if not any(is_content(term, "en") for term in terms):
            is_said = self._says_tokens(fact.value) or self._shares_term(fact.key)
            return None if is_said else FactRefusal("not_said", "no line says it")
        foreign_terms = [term for term in terms if term not in self.terms]
        if len(foreign_terms) > MOST_FOREIGN * len(terms):
            return FactRefusal("not_said", "the lines do not say it in these words")
        return None if not self.own_terms.isdisjoint(terms) else self._refuse_unstated(fact)

    def _refuse_unstated(self, fact: FoundFact) -> FactRefusal | None:
        """Why a fact is refused of which the line itself has no word."""
        if self.answers is None:
            return FactRefusal("not_said", "the line given does not say it")
        if self.answers is _EVIDENCE.denies and not fact.retracts:
            return FactRefusal("denied", "the line denies it")
        return None

    def foreign_words(self, value: str) -> list[str]:
        """The names and numbers in a value that no line says."""
        numbers = [number for number in _numbers_in(value) if number not in self.numbers]
        foreign = sorted(number for number in numbers if len(number) > 2 or number not in self.tokens)
        if self.language in CAPITAL_NOUNS:
            return foreign
        for place, word in enumerate(_EVIDENCE.token.findall(value)):
            if self._is_foreign_name(word) and not (place == 0 and self._begins_a_phrase(value)):
                foreign.append(word)
        return foreign

    def _is_foreign_name(self, word: str) -> bool:
        plain = word.casefold()
        if not word[0].isupper() or plain in self.tokens or plain in CALENDAR:
            return False
        is_function_word = not is_content(plain, "en") and not (len(word) > 1 and word.isupper())
        is_plain_word = is_function_word or (is_ordinary(plain) and not word.isupper())
        return not is_plain_word and not self._shares_term(word)

    def _begins_a_phrase(self, value: str) -> bool:
        """Whether a value of several words begins with a capital only because it begins."""
        rest = _EVIDENCE.token.findall(value)[1:]
        return len(rest) >= 2 and not rest[0][0].isupper()

    def names_subject(self, subject: str) -> bool:
        """Whether somebody is named in the lines, by a name or by a word for a relation."""
        return not self.terms.isdisjoint(_terms_with_synonyms(subject, self.language)) or self._says_tokens(subject)

    def confirm_day(self, day: date | None) -> date | None:
        """A day that a model gave, if it follows from the lines: models like to fill in the present one."""
        if day is None or day in self.days:
            return day
        return day if any(_may_mean(span, day) for span in self.times) else None

    def _says_tokens(self, text: str) -> bool:
        return all(token.casefold() in self.tokens for token in _EVIDENCE.token.findall(text))

    def _shares_term(self, text: str) -> bool:
        return not self.terms.isdisjoint(analyse(text, self.language).terms)


def _usable_text(line: ReadLine, source: ReadLine) -> str:
    """What a line before a source adds: what its author said before, what other people say, what an assistant asks."""
    if line.role == "user":
        return stated_text(line.text) if line.speaker == source.speaker else line.text
    return " ".join(sentence for sentence in split_sentences(line.text) if sentence.rstrip().endswith("?"))


def _terms_with_synonyms(text: str, language: str) -> frozenset[str]:
    """The terms of a text, and those of other words for the same relation, animal or number."""
    synonyms: list[str] = []
    for token in map(str.casefold, _EVIDENCE.token.findall(text)):
        relation = RELATIONS.get(token) or RELATIONS.get(token.removesuffix("s"))
        if relation:
            synonyms += [relation, *(word for word, key in RELATIONS.items() if key == relation)]
        synonyms += filter(None, (species(token), _SPELT.get(token, "")))
    return frozenset((*analyse(text, language).terms, *analyse(" ".join(synonyms), language).terms))


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _numbers_in(text: str) -> frozenset[str]:
    digits = {_EVIDENCE.separators.sub("", number)[:40] for number in _EVIDENCE.number.findall(text)}
    return frozenset(
        digits | {_SPELT[token] for token in map(str.casefold, _EVIDENCE.token.findall(text)) if token in _SPELT}
    )


# -- times


def _times_in(texts: Iterable[tuple[str, ReadLine]]) -> tuple[tuple[TimeSpan, ...], frozenset[date]]:
    times: list[TimeSpan] = []
    days: set[date] = set()
    for text, line in texts:
        if line.time is None:
            continue
        times += spans(text, line.time)
        phrase = parse_times(text, line.time.date())
        days |= {day for day in (phrase.since, phrase.until, phrase.then) if day is not None}
        days.add(line.time.date())
    return tuple(times), frozenset(days)


def _may_mean(span: TimeSpan, day: date) -> bool:
    """Whether a time in a text may mean a day. It is read as past; without a year it may be the next one to come."""
    if _is_within(span, day):
        return True
    if re.search(r"\b(?:19|20)\d\d\b", span.text):
        return False
    in_a_week = bool(_EVIDENCE.open_day.search(span.text)) and _is_within(span, day, ahead=7)
    return in_a_week or _is_within(span, day, ahead=365)


def _is_within(span: TimeSpan, day: date, *, ahead: int = 0) -> bool:
    """Whether a day is in a time, or so many days after it; a day more or less is no difference."""
    number = day.toordinal() - ahead
    return span.start.date().toordinal() - 1 <= number <= span.end.date().toordinal() + 1


def _days_of(times: Iterable[TimeSpan], days: Iterable[date]) -> set[date]:
    """The days that texts name: those said in full, and the edges of a time."""
    return {edge.date() for span in times for edge in (span.start, span.end)} | set(days)


def _numbers_of_day(day: date) -> tuple[str, ...]:
    return str(day.year), str(day.day), f"{day.day:02}", f"{day.month:02}", str(day.month)


# -- what the words say of when a fact holds


_CHANGING = frozenset({"location", "employer", "job", "school", "studies", "marital status", "number of children"})


def settle_time(fact: FoundFact, evidence: Evidence, source: ReadLine) -> FoundFact:
    """A fact with only the days that follow from the lines. What is still to come is a plan, and "now" is a change."""
    since = evidence.confirm_day(fact.since)
    until = evidence.confirm_day(fact.until)
    was_to_come = fact.since is not None and source.day is not None and fact.since > source.day
    settled = replace(fact, since=since, until=until)
    if settled.retracts or settled.category in ("event", "plan", "instruction"):
        return settled
    sentence = _sentence_with(source.text, fact.value)
    is_planned = fact.key in _CHANGING and _EVIDENCE.future.search(_words_before(sentence, fact.value)) is not None
    if since is None and (was_to_come or is_planned):
        return replace(settled, category="plan")
    is_single = not holds_several_values(fact.category, fact.key)
    if (is_single or fact.key == "diet") and _EVIDENCE.change.search(sentence):
        return replace(settled, corrects=True)
    return settled


def tells_end(value: str) -> bool:
    """Whether a value says by itself that something has ended: "died in March"."""
    return _EVIDENCE.end.search(value) is not None


def _words_before(sentence: str, value: str) -> str:
    """What stands before a value in its part of a sentence."""
    token = _EVIDENCE.token.search(value)
    at = sentence.casefold().find(token[0].casefold()) if token else -1
    return _EVIDENCE.parts.split(sentence[:at])[-1] if at >= 0 else ""


def _sentence_with(text: str, value: str) -> str:
    """The sentence of a text that has most words of a value."""
    tokens = {token.casefold() for token in _EVIDENCE.token.findall(value)}
    sentences = split_sentences(text) or [text]
    return max(sentences, key=lambda sentence: sum(token in sentence.casefold() for token in tokens))
