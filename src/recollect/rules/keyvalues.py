"""The first tier: what a message states, as `key = value` pairs within a budget of tokens.

The statements are found elsewhere; here some are chosen. A pair gains by its weight and by words that are not said yet,
and costs its tokens: so one long value never takes the place of all, and nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

def render(found: Sequence[Pair], budget: int, count: Count, weights: Mapping[str, float] | None = None) -> str:
    """The pairs that tell most in `budget` tokens, the weightiest first; values of one key are side by side.

    A pair gains by its weight and by the words nobody has said yet, and costs its tokens. In a small budget values are
    told in few words, so that one of them does not take the place of all.
    """
    open_pairs = [short for pair in found if (short := _fitting(pair, budget, count))]
    chosen: list[Pair] = []
    said: set[str] = set()
    room = budget
    while open_pairs:
        keys = {pair.key for pair in chosen}
        costs = [count(f", {pair.value}") + (0 if pair.key in keys else count(pair.key) + 1) for pair in open_pairs]
        gains = [_gain(pair, said, weights) / cost**0.6 for pair, cost in zip(open_pairs, costs, strict=True)]
        best = max(range(len(gains)), key=gains.__getitem__)
        if gains[best] <= 0:
            break
        if costs[best] <= room:
            chosen.append(open_pairs[best])
            said |= _bare_words(open_pairs[best].value)
            room -= costs[best]
        del open_pairs[best]
        open_pairs = [pair for pair in open_pairs if not _is_said(pair, said)]
    chosen.sort(key=lambda pair: -pair.weight)
    while chosen and count(_line(chosen)) > budget:
        chosen.pop()
    return _line(chosen)


def _gain(pair: Pair, said: set[str], weights: Mapping[str, float]) -> float:
    fresh = sum(weights.get(word, 0.1) for word in _bare_words(pair.value) - said)
    return pair.weight * (0.6 + fresh) if fresh else 0.0


def _bare_words(value: str) -> set[str]:
    return {word.casefold() for word in words(value)}


def _line(chosen: Iterable[Pair]) -> str:
    together: dict[str, list[str]] = {}
    for pair in chosen:
        together.setdefault(pair.key, []).append(pair.value)
    return "; ".join(f"{key} = {', '.join(values)}" for key, values in together.items())


def _fitting(pair: Pair, budget: int, count: Count) -> Pair | None:
    """The pair with as many words of its value as have a place, or characters in a script without spaces."""
    most = budget if budget > _AMPLE else max(budget * 3 // 4, 6)
    said = (pair.value if budget > _AMPLE else terse(pair.value)).split()
    unspaced = len(said) == 1 and is_unspaced(said[0])
    pieces = list(pair.value) if unspaced else said
    for length in range(min(len(pieces), 2 * most), 0, -1):
        value = _DANGLING.sub("", ("" if unspaced else " ").join(pieces[:length])).strip(" ,")
        if value and count(f"{pair.key} = {value}") <= most:
            return Pair(pair.key, value, pair.weight)
    return None


