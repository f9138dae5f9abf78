"""The first tier: what a message states, as `key = value` pairs within a budget of tokens.

The statements are found elsewhere; here some are chosen. A pair gains by its weight and by words that are not said yet,
and costs its tokens: so one long value never takes the place of all, and nothing is said twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from recollect.language.detect import detect
from recollect.language.sentences import Sentence, sentences
from recollect.language.word_weights import is_unspaced, matters, stems, terse, weigh
from recollect.rules.tiers.claims import Statement, asked, stated
from recollect.rules.tiers.particulars import listed, mentioned, technical, topic

Count = Callable[[str], int]

_LONGEST_RUN = 24  # characters of a value in a script without spaces
_AMPLE = 40  # tokens; in a larger budget there is room for whole phrases
_MOST = 160  # statements that are weighed against each other
_THRIFT = (0.3, 0.7, 1.1)  # how much the price of a pair counts; no one rule is best for every message


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to say a statement: its number among the statements, its words, and its price without the key."""

    number: int
    said: Statement
    roots: frozenset[str]
    price: int


def key_values(text: str, budget: int, count: Count) -> str:
    """The pairs that tell most about a text in `budget` tokens, the weightiest first; empty if none fits."""
    said = sentences(text)
    language = detect(text)
    weights = weigh(said, language)
    found = _found(text, said, language, weights)[:_MOST]
    forms = [
        _Form(number, form, stems(form.value, language) or frozenset({form.value}), count(f", {form.value}"))
        for number, each in enumerate(found)
        for form in _forms(each, budget, count, language, weights)
    ]
    prices = {form.said.key: count(f"; {form.said.key} =") - 1 for form in forms}
    tries = [_choose(forms, prices, weights, budget, thrift) for thrift in _THRIFT]
    chosen = max(tries, key=lambda tried: tried[0])[1]
    while chosen and count(render(chosen)) > budget:
        chosen = chosen[:-1]
    return render(chosen)


def _found(text: str, said: list[Sentence], language: str, weights: Mapping[str, float]) -> list[Statement]:
    """The statements of a text, the most telling first, none twice."""
    found = [*stated(said, language), *asked(said), *listed(said, language), *technical(text, said)]
    found += [*mentioned(said, language), *topic(said, language, weights)]
    kept: dict[tuple[str, str], Statement] = {}
    for each in sorted((_tidy(each, language) for each in found), key=lambda each: -each.weight):
        if each.value:
            kept.setdefault((each.key, each.value.casefold()), each)
    return list(kept.values())


def _tidy(each: Statement, language: str) -> Statement:
    """One line, no separators of ours inside, nothing left hanging at the ends; light if all its words are ordinary."""
    value = " ".join(each.value.replace(";", ",").replace(" = ", " is ").split())
    value = value.strip(_MARKS if each.key in _LITERAL else _MARKS + "\"'“”«»")
    if each.key not in _LITERAL:
        value = DANGLING.sub("", value)
    key = terse(" ".join(re.split(r"[\s;=]+", each.key)).strip(), language)
    solid = each.key in _SURE or any(matters(word, language) for word in value.split())
    return Statement(key, value, each.weight if solid else each.weight * 0.3)


_MARKS = " .,:!?…–—-*"
_LITERAL = frozenset({"error", "code"})
# Values that are what they are: ordinary words or not, and not to be shortened.
_SURE = frozenset({"name", "age", "when", "duration", "amounts", "names", "topic", "text"})
DANGLING = re.compile(
    r"(?:[\s,]+(?:the|a|an|that|to|of|for|in|on|at|and|or|with|by|is|are|was|my|your|our|so|but|i|we|it|this|too|from|as"
    r"|which|because|since|really|very|also|just|been|have|not))+$",
    re.IGNORECASE,
)
"""Words that are not to be the last of a phrase."""


def render(chosen: Iterable[Statement]) -> str:
    """As a line, the values of one key side by side."""
    together: dict[str, list[str]] = {}
    for each in chosen:
        together.setdefault(each.key, []).append(each.value)
    return "; ".join(f"{key} = {', '.join(values)}" for key, values in together.items())


def _choose(
    forms: list[_Form], prices: Mapping[str, int], weights: Mapping[str, float], budget: int, thrift: float
) -> tuple[float, list[Statement]]:
    """What a thrifty choice gains, and the choice, the weightiest first."""
    keys = dict(prices)
    said: set[str] = set()
    chosen: list[Statement] = []
    gained = 0.0
    room = budget + 1
    while True:
        forms = [
            form for form in forms if form.price + keys.get(form.said.key, 0) <= room and _is_news(form, weights, said)
        ]
        if not forms:
            return gained, sorted(chosen, key=lambda each: -each.weight)
        gains = [_gain(form, weights, said) for form in forms]
        rates = [
            gain / (form.price + keys.get(form.said.key, 0)) ** thrift for gain, form in zip(gains, forms, strict=True)
        ]
        at = max(range(len(forms)), key=rates.__getitem__)
        best = forms[at]
        gained += gains[at]
        chosen.append(best.said)
        room -= best.price + keys.pop(best.said.key, 0)
        said |= best.roots
        forms = [form for form in forms if form.number != best.number]


def _is_news(form: _Form, weights: Mapping[str, float], said: set[str]) -> bool:
    """Whether it says something that is not said yet; an ordinary word more is nothing."""
    if form.roots.isdisjoint(said):
        return True
    return any(weights.get(root, 0.0) >= _NEWS for root in form.roots - said)


_NEWS = 0.5  # the weight of a word


def _gain(form: _Form, weights: Mapping[str, float], said: set[str]) -> float:
    fresh = sum(weights.get(root, 0.1) for root in form.roots - said)
    return form.said.weight**2 * (1.5 + fresh)


def _forms(
    each: Statement, budget: int, count: Count, language: str, weights: Mapping[str, float]
) -> Iterator[Statement]:
    """The statement as it has a place, and in a small budget in half as many words too: the lightest go first."""
    if each.key in _SURE:
        if count(f"{each.key} = {each.value}") <= budget:
            yield each
        return
    ample = budget > _AMPLE
    pieces = _glued((each.value if ample else terse(each.value, language)).split())
    if len(pieces) == 1 and is_unspaced(pieces[0]):
        pieces, joint = list(pieces[0][:_LONGEST_RUN]), ""
    else:
        joint = " "
    half = (len(pieces) + 1) // 2
    fewest = min(len(pieces), 2)
    fits = False
    while len(pieces) >= fewest > 0:
        value = DANGLING.sub("", joint.join(pieces)).strip(" ,")
        if value and (not fits or len(pieces) == half) and count(f"{each.key} = {value}") <= budget:
            fits = True
            yield Statement(each.key, value, each.weight)
        if fits and (ample or len(pieces) <= half):
            return
        del pieces[_lightest(pieces, language, weights) if joint else -1]


def _glued(pieces: list[str]) -> list[str]:
    """With each negation and comparison on the word it belongs to: neither is ever left out alone."""
    found: list[str] = []
    for piece in pieces:
        if found and found[-1].split()[-1].casefold() in _GLUE:
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found


_GLUING = "not no never without cannot can't don't didn't won't doesn't isn't over than instead"
_GLUE = frozenset(_GLUING.split())


def _lightest(pieces: list[str], language: str, weights: Mapping[str, float]) -> int:
    """Of equals the last; what comes late weighs less, since a phrase begins with what it is about."""

    def weight(at: int) -> float:
        heaviest = max((weights.get(root, 0.0) for root in stems(pieces[at], language)), default=0.0)
        return heaviest * max(0.4, 1 - at / 8)

    return min(range(len(pieces)), key=lambda at: (weight(at), -at))
