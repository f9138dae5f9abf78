"""The first tier: what a message states, as `key = value` pairs within a budget of tokens.

The pairs are found elsewhere; here some are chosen. A pair gains by its weight and by words that are not said yet, and
costs its tokens: so one long value never takes all the room, and nothing is said twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import fsum

from recollect.text.detect import detect
from recollect.text.mentions import (
    KeyValue,
    list_pairs,
    mention_pairs,
    question_pairs,
    statement_pairs,
    technical_pairs,
    topic_pairs,
)
from recollect.text.sentences import Sentence, sentences
from recollect.text.words import is_unspaced, matters, shorten_phrase, stems, weigh

Count = Callable[[str], int]

_LONGEST_RUN = 24  # characters of a value in a script without spaces
_AMPLE = 40  # tokens; in a larger budget there is room for whole phrases
_MOST = 160  # pairs that are compared with each other
_THRIFT = (0.3, 0.7, 1.1)  # how much the price of a pair counts; no one rule is best for every message


@dataclass(frozen=True, slots=True)
class _PairForm:
    """One way to write a pair: the number of the pair, its words, and its price without the key."""

    number: int
    pair: KeyValue
    roots: frozenset[str]
    price: int


def key_values(text: str, budget: int, count: Count) -> str:
    """The pairs that tell most about a text in `budget` tokens, the weightiest first; empty if none fits."""
    message_sentences = sentences(text)
    language = detect(text)
    weights = weigh(message_sentences, language)
    pairs = _find_pairs(text, message_sentences, language, weights)[:_MOST]
    forms = [
        _PairForm(number, form, stems(form.value, language) or frozenset({form.value}), count(f", {form.value}"))
        for number, pair in enumerate(pairs)
        for form in _pair_forms(pair, budget, count, language, weights)
    ]
    chooser = _PairChooser(forms, weights, count)
    attempts = [chooser.choose(budget, thrift) for thrift in _THRIFT]
    selection = max(attempts, key=lambda attempt: attempt[0])[1]
    while selection and count(render_pairs(selection)) > budget:
        selection = selection[:-1]
    return render_pairs(selection)


def _find_pairs(
    text: str, message_sentences: list[Sentence], language: str, weights: Mapping[str, float]
) -> list[KeyValue]:
    """The pairs of a text, the weightiest first, none twice."""
    pairs = [
        *statement_pairs(message_sentences, language),
        *question_pairs(message_sentences),
        *list_pairs(message_sentences, language),
        *technical_pairs(text, message_sentences),
    ]
    pairs += [*mention_pairs(message_sentences, language), *topic_pairs(message_sentences, language, weights)]
    unique: dict[tuple[str, str], KeyValue] = {}
    for pair in sorted((_tidy_pair(pair, language) for pair in pairs), key=lambda pair: -pair.weight):
        if pair.value:
            unique.setdefault((pair.key, pair.value.casefold()), pair)
    return list(unique.values())


def _tidy_pair(pair: KeyValue, language: str) -> KeyValue:
    """The pair in one line, without our separators and dangling words; light if all its words are ordinary."""
    value = " ".join(pair.value.replace(";", ",").replace(" = ", " is ").split())
    value = value.strip(_MARKS if pair.key in _LITERAL else _MARKS + "\"'“”«»")
    if pair.key not in _LITERAL:
        value = drop_dangling(value)
    key = shorten_phrase(" ".join(re.split(r"[\s;=]+", pair.key)).strip(), language)
    solid = pair.key in _SURE or any(matters(word, language) for word in value.split())
    return KeyValue(key, value, pair.weight if solid else pair.weight * 0.3)


_MARKS = " .,:!?…–—-*"
_LITERAL = frozenset({"error", "code"})
# Values that count even if they are ordinary words, and are not shortened.
_SURE = frozenset({"name", "age", "when", "duration", "amounts", "names", "topic", "text"})
_LAST_OF_NONE = """
    the a an that to of for in on at and or with by is are was my your our so but i we it this too from as which because
    since really very also just been have not
"""
_DANGLING_WORDS = frozenset(_LAST_OF_NONE.split())
_LONGEST_DANGLING = max(map(len, _DANGLING_WORDS))


def drop_dangling(text: str) -> str:
    """A phrase without words that are not to be its last; one that has no other word keeps the first."""
    end = len(text)
    while True:
        start = end
        while start and end - start <= _LONGEST_DANGLING and not _separates(text[start - 1]):
            start -= 1
        if start == 0 or text[start:end].lower() not in _DANGLING_WORDS:
            return text[:end]
        end = start
        while end and _separates(text[end - 1]):
            end -= 1


def _separates(character: str) -> bool:
    return character == "," or character.isspace()


def render_pairs(pairs: Iterable[KeyValue]) -> str:
    """The pairs as a line, the values of one key side by side."""
    values_by_key: dict[str, list[str]] = {}
    for pair in pairs:
        values_by_key.setdefault(pair.key, []).append(pair.value)
    return "; ".join(f"{key} = {', '.join(values)}" for key, values in values_by_key.items())


class _PairChooser:
    """Chooses pairs by what each gains for its price. When one is taken, only forms that share a root or the key with
    it are weighed again: the others gain what they gained before."""

    def __init__(self, forms: Sequence[_PairForm], weights: Mapping[str, float], count: Count) -> None:
        self._forms = forms
        self._weights = weights
        self._gains = [_gain(form, weights, frozenset()) for form in forms]
        self._places_by_root: dict[str, list[int]] = {}
        self._places_by_key: dict[str, list[int]] = {}
        for place, form in enumerate(forms):
            self._places_by_key.setdefault(form.pair.key, []).append(place)
            for root in form.roots:
                self._places_by_root.setdefault(root, []).append(place)
        prices = {key: count(f"; {key} =") - 1 for key in self._places_by_key}
        self._costs = [form.price + prices[form.pair.key] for form in forms]

    def choose(self, budget: int, thrift: float) -> tuple[float, list[KeyValue]]:
        """The gain of the pairs that fit the budget, and these pairs, the weightiest first."""
        forms, gains, costs = self._forms, list(self._gains), list(self._costs)
        rates = [gain / cost**thrift for gain, cost in zip(gains, costs, strict=True)]
        open_places = list(range(len(forms)))
        covered_roots: set[str] = set()
        selection: list[KeyValue] = []
        total_gain = 0.0
        room = budget + 1
        while open_places := [place for place in open_places if costs[place] <= room]:
            best = forms[best_place := max(open_places, key=rates.__getitem__)]
            total_gain += gains[best_place]
            selection.append(best.pair)
            room -= costs[best_place]
            new_roots = best.roots - covered_roots
            covered_roots |= new_roots
            for place in self._places_by_key[best.pair.key]:  # the key is there now
                costs[place] = forms[place].price
            touched = {place for root in new_roots for place in self._places_by_root[root]}
            for place in touched:
                gains[place] = _gain(forms[place], self._weights, covered_roots)
            for place in touched.union(self._places_by_key[best.pair.key]):
                rates[place] = gains[place] / costs[place] ** thrift
            open_places = [
                place
                for place in open_places
                if forms[place].number != best.number
                and (place not in touched or _is_news(forms[place], self._weights, covered_roots))
            ]
        return total_gain, sorted(selection, key=lambda pair: -pair.weight)


def _is_news(form: _PairForm, weights: Mapping[str, float], covered_roots: Set[str]) -> bool:
    """Whether it says something that is not said yet, since some of it is; one more ordinary word does not count."""
    return any(weights.get(root, 0.0) >= _NEWS for root in form.roots - covered_roots)


_NEWS = 0.5  # the weight of a word


def _gain(form: _PairForm, weights: Mapping[str, float], covered_roots: Set[str]) -> float:
    fresh = fsum(weights.get(root, 0.1) for root in form.roots - covered_roots)  # in any order the same
    return form.pair.weight**2 * (1.5 + fresh)


def _pair_forms(
    pair: KeyValue, budget: int, count: Count, language: str, weights: Mapping[str, float]
) -> Iterator[KeyValue]:
    """The pair as far as it fits, and in a small budget in half as many words too: the lightest words go first."""
    if pair.key in _SURE:
        if count(f"{pair.key} = {pair.value}") <= budget:
            yield pair
        return
    ample = budget > _AMPLE
    pieces = _glue_negations((pair.value if ample else shorten_phrase(pair.value, language)).split())
    if len(pieces) == 1 and is_unspaced(pieces[0]):
        pieces = list(pieces[0][:_LONGEST_RUN])
        joint = ""
    else:
        joint = " "
    half = (len(pieces) + 1) // 2
    fewest = min(len(pieces), 2)
    fits = False
    while len(pieces) >= fewest > 0:
        value = drop_dangling(joint.join(pieces)).strip(" ,")
        if value and (not fits or len(pieces) == half) and count(f"{pair.key} = {value}") <= budget:
            fits = True
            yield KeyValue(pair.key, value, pair.weight)
        if fits and (ample or len(pieces) <= half):
            return
        del pieces[_lightest_piece(pieces, language, weights) if joint else -1]


def _glue_negations(pieces: list[str]) -> list[str]:
    """The pieces with each negation and comparison joined to its word, so that neither is ever left out alone."""
    groups: list[str] = []
    for piece in pieces:
        if groups and groups[-1].split()[-1].casefold() in _GLUE:
            groups[-1] += f" {piece}"
        else:
            groups.append(piece)
    return groups


_GLUING = "not no never without cannot can't don't didn't won't doesn't isn't over than instead"
_GLUE = frozenset(_GLUING.split())


def _lightest_piece(pieces: list[str], language: str, weights: Mapping[str, float]) -> int:
    """The index of the lightest piece, of equals the last; late pieces weigh less: a phrase begins with its topic."""

    def weight(at: int) -> float:
        heaviest = max((weights.get(root, 0.0) for root in stems(pieces[at], language)), default=0.0)
        return heaviest * max(0.4, 1 - at / 8)

    return min(range(len(pieces)), key=lambda at: (weight(at), -at))
