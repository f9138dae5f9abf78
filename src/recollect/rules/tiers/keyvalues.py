"""The first tier: what a message states, as `key = value` pairs within a budget of tokens.

The pairs are found elsewhere; here some are chosen. A pair gains by its weight and by words that are not said yet, and
costs its tokens: so one long value never takes all the room, and nothing is said twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from recollect.language.detect import detect
from recollect.language.lazy_patterns import lazy_pattern
from recollect.language.sentences import Sentence, sentences
from recollect.language.word_weights import is_unspaced, matters, shorten_phrase, stems, weigh
from recollect.rules.tiers.message_claims import KeyValue, question_pairs, statement_pairs
from recollect.rules.tiers.particulars import list_pairs, mention_pairs, technical_pairs, topic_pairs

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
    prices = {form.pair.key: count(f"; {form.pair.key} =") - 1 for form in forms}
    attempts = [_choose_pairs(forms, prices, weights, budget, thrift) for thrift in _THRIFT]
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
        value = DANGLING.sub("", value)
    key = shorten_phrase(" ".join(re.split(r"[\s;=]+", pair.key)).strip(), language)
    solid = pair.key in _SURE or any(matters(word, language) for word in value.split())
    return KeyValue(key, value, pair.weight if solid else pair.weight * 0.3)


_MARKS = " .,:!?…–—-*"
_LITERAL = frozenset({"error", "code"})
# Values that count even if they are ordinary words, and are not shortened.
_SURE = frozenset({"name", "age", "when", "duration", "amounts", "names", "topic", "text"})
DANGLING = lazy_pattern(
    r"(?:[\s,]+(?:the|a|an|that|to|of|for|in|on|at|and|or|with|by|is|are|was|my|your|our|so|but|i|we|it|this|too|from|as"
    r"|which|because|since|really|very|also|just|been|have|not)){1,20}$",
    re.IGNORECASE,
)
"""Words that are not to be the last of a phrase. Not more: a long run would be read again from each of them."""


def render_pairs(pairs: Iterable[KeyValue]) -> str:
    """The pairs as a line, the values of one key side by side."""
    values_by_key: dict[str, list[str]] = {}
    for pair in pairs:
        values_by_key.setdefault(pair.key, []).append(pair.value)
    return "; ".join(f"{key} = {', '.join(values)}" for key, values in values_by_key.items())


def _choose_pairs(
    forms: list[_PairForm], prices: Mapping[str, int], weights: Mapping[str, float], budget: int, thrift: float
) -> tuple[float, list[KeyValue]]:
    """The gain of the pairs that fit the budget, and these pairs, the weightiest first."""
    key_prices = dict(prices)
    covered_roots: set[str] = set()
    selection: list[KeyValue] = []
    total_gain = 0.0
    room = budget + 1
    while True:
        forms = [
            form
            for form in forms
            if form.price + key_prices.get(form.pair.key, 0) <= room and _is_news(form, weights, covered_roots)
        ]
        if not forms:
            return total_gain, sorted(selection, key=lambda pair: -pair.weight)
        gains = [_gain(form, weights, covered_roots) for form in forms]
        rates = [
            gain / (form.price + key_prices.get(form.pair.key, 0)) ** thrift
            for gain, form in zip(gains, forms, strict=True)
        ]
        at = max(range(len(forms)), key=rates.__getitem__)
        best = forms[at]
        total_gain += gains[at]
        selection.append(best.pair)
        room -= best.price + key_prices.pop(best.pair.key, 0)
        covered_roots |= best.roots
        forms = [form for form in forms if form.number != best.number]


def _is_news(form: _PairForm, weights: Mapping[str, float], covered_roots: set[str]) -> bool:
    """Whether it says something that is not said yet; one more ordinary word does not count."""
    if form.roots.isdisjoint(covered_roots):
        return True
    return any(weights.get(root, 0.0) >= _NEWS for root in form.roots - covered_roots)


_NEWS = 0.5  # the weight of a word


def _gain(form: _PairForm, weights: Mapping[str, float], covered_roots: set[str]) -> float:
    fresh = sum(weights.get(root, 0.1) for root in form.roots - covered_roots)
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
        value = DANGLING.sub("", joint.join(pieces)).strip(" ,")
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
