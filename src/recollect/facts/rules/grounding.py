"""Whether what a model wrote about a message is in the message.

Small models repeat the example of their prompt, and invent. So a pair must share a word with the message, and a summary
must not name people and numbers that are not there. Words are compared by their terms, so another form of a word is the
same; what can be said in other words (a small number spelt out, a month) is not counted as invented.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.text.mentions import CALENDAR, CAPITAL_NOUNS
from recollect.text.packs import lazy_pattern
from recollect.text.sentences import split_sentences
from recollect.text.terms import analyse
from recollect.text.words import WORD, is_content, is_ordinary

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
