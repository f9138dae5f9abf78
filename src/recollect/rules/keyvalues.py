"""The first tier: what a message states, as `key = value` pairs within a budget of tokens.

The statements are found elsewhere; here some are chosen. A pair gains by its weight and by words that are not said yet,
and costs its tokens: so one long value never takes the place of all, and nothing is said twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from recollect.rules.language import detect
from recollect.rules.salience import is_unspaced, stems, terse, weigh
from recollect.rules.sentences import sentences
from recollect.rules.statements import DANGLING, SURE, Statement, statements

Count = Callable[[str], int]

_AMPLE = 40  # tokens; in a larger budget there is room for whole phrases
_MOST = 160  # statements that are weighed against each other


def key_values(text: str, budget: int, count: Count) -> str:
    """The pairs that tell most about a text in `budget` tokens, the weightiest first; empty if none fits."""
    said = sentences(text)
    language = detect(text)
    weights = weigh(said, language)
    found = statements(text, said, language, weights)[:_MOST]
    fitting = (_fitting(each, budget, count, language, weights) for each in found)
    chosen = _choose([each for each in fitting if each], language, weights, budget, count)
    while chosen and count(render(chosen)) > budget:
        chosen = chosen[:-1]
    return render(chosen)


def render(chosen: Iterable[Statement]) -> str:
    """As a line, the values of one key side by side."""
    together: dict[str, list[str]] = {}
    for each in chosen:
        together.setdefault(each.key, []).append(each.value)
    return "; ".join(f"{key} = {', '.join(values)}" for key, values in together.items())


def _choose(
    found: list[Statement], language: str, weights: Mapping[str, float], budget: int, count: Count
) -> list[Statement]:
    chosen: list[Statement] = []
    roots = {each: stems(each.value, language) or frozenset({each.value}) for each in found}
    alone = {each: count(f", {each.value}") for each in found}
    keyed = {each.key: count(f"; {each.key} =") - 1 for each in found}
    said: set[str] = set()
    room = budget + 1

    def worth(each: Statement) -> float:
        fresh = sum(weights.get(root, 0.1) for root in roots[each] - said)
        return each.weight * (0.6 + fresh) / (alone[each] + keyed.get(each.key, 0)) ** 0.6

    while found:
        found = [each for each in found if roots[each] - said and alone[each] + keyed.get(each.key, 0) <= room]
        if not found:
            break
        best = max(found, key=worth)
        chosen.append(best)
        room -= alone[best] + keyed.pop(best.key, 0)
        said |= roots[best]
        found.remove(best)
    return sorted(chosen, key=lambda each: -each.weight)


def _fitting(
    each: Statement, budget: int, count: Count, language: str, weights: Mapping[str, float]
) -> Statement | None:
    """The statement with as much of its value as has a place: the lightest words go first."""
    most = budget if budget > _AMPLE else max(budget * 3 // 4, 6)
    if each.key in SURE:
        return each if count(f"{each.key} = {each.value}") <= budget else None
    pieces = (each.value if budget > _AMPLE else terse(each.value, language)).split()
    joint = " "
    if len(pieces) == 1 and is_unspaced(pieces[0]):
        pieces, joint = list(pieces[0][: 2 * most]), ""
    while pieces:
        value = DANGLING.sub("", joint.join(pieces)).strip(" ,")
        if value and count(f"{each.key} = {value}") <= most:
            return Statement(each.key, value, each.weight)
        del pieces[_lightest(pieces, language, weights) if joint else -1]
    return None


def _lightest(pieces: list[str], language: str, weights: Mapping[str, float]) -> int:
    """Of equals the last."""

    def weight(at: int) -> float:
        return max((weights.get(root, 0.0) for root in stems(pieces[at], language)), default=0.0)

    return min(range(len(pieces)), key=lambda at: (weight(at), -at))
