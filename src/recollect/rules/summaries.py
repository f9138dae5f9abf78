"""The second tier: the sentences that carry a message, trimmed, in their order, within a budget of tokens.

A sentence gains by words that are not said yet and by what it is (the first question, a decision, a number), and costs
its tokens. Where the whole sentence costs too much its first clauses stand for it, and for an item its title.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from recollect.rules.filler import bare_request, capital, is_filler, trim
from recollect.rules.keyvalues import DANGLING
from recollect.rules.language import detect
from recollect.rules.mentions import AMOUNT, WHEN
from recollect.rules.salience import is_unspaced, stems, weigh
from recollect.rules.sentences import Sentence, clauses, sentences

Count = Callable[[str], int]

_TELLING = re.compile(
    r"\b(?:decid\w+|agree[ds]?|chose|prefer\w*|allergic|favou?rite|deadline|must|need|plan\w*|because|result|answer|total"
    r"|my\s+\w+|i['’]?m|i['’]ve|we['’]re|we['’]ve|recommend\w*|error|fail\w*|solution|important)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to say a sentence: whole, or shorter."""

    place: int
    text: str
    cost: int
    bonus: float
    roots: frozenset[str]


def summary(text: str, budget: int, count: Count) -> str:
    """The sentences that tell most about a text in `budget` tokens; empty if nothing fits."""
    said = sentences(text)
    kept = [sentence for sentence in said if not is_filler(sentence)] or said
    language = detect(text)
    weights = weigh(kept, language)
    chosen = _choose(kept, _Pen(language, count), weights, budget)
    while chosen:
        joined = _joined([kept[form.place] for form in chosen], [form.text for form in chosen])
        if count(joined) <= budget:
            return joined
        chosen.remove(min(chosen, key=lambda form: _worth(form, weights, frozenset())))
    return ""


@dataclass(frozen=True, slots=True)
class _Pen:
    """Writes forms, in a language and at a tokenizer's prices."""

    language: str
    count: Count

    def forms(self, kept: list[Sentence], place: int) -> Iterator[_Form]:
        """The ways to say one sentence, the whole first."""
        for text in dict.fromkeys(_ways(kept[place])):
            yield self.form(kept, place, text, self.count(f" {text}."))

    def cut(self, kept: list[Sentence], place: int, most: int) -> Iterator[_Form]:
        """The beginning of a sentence in `most` tokens; none if too little would be left."""
        text = bare_request(trim(kept[place].text))
        pieces, joint = (list(text[: 4 * most]), "") if is_unspaced(text) else (text.split()[: 2 * most], " ")
        while len(pieces) > _FEWEST:
            short = DANGLING.sub("", joint.join(pieces)).rstrip(_TRAIL) + "…"
            cost = self.count(f" {short}")
            if cost <= most:
                yield self.form(kept, place, short, cost)
                return
            pieces.pop()

    def form(self, kept: list[Sentence], place: int, text: str, cost: int) -> _Form:
        return _Form(place, text, cost, _bonus(place, len(kept), kept[place]), stems(text, self.language))


_FEWEST = 3  # words or characters


def _ways(sentence: Sentence) -> Iterator[str]:
    """The sentence trimmed, then ever shorter by its last clauses; its last clause alone; of an item the title."""
    whole = trim(sentence.text)
    yield whole
    if sentence.kind == "note":
        return
    yield bare_request(whole)
    parts = clauses(whole)
    mark = "?" if sentence.is_question else ""
    for length in range(len(parts) - 1, 0, -1):
        if length > 1 or not _LEANS.match(parts[0]):
            yield "".join(parts[:length]).rstrip(_TRAIL) + mark
    last = _JOINT.sub("", parts[-1]) if len(parts) > 1 else ""
    if last and not _LEANS.match(last):
        yield capital(last)
    if sentence.lead:
        yield sentence.lead


_TRAIL = " ,;:–—-、，；："
_JOINT = re.compile(r"^(?:and|but|so|or|und|aber|et|mais|y|pero|e|ma|mas|en|maar|и|но)\s", re.IGNORECASE)
# A clause that says nothing alone.
_LEANS = re.compile(
    r"^(?:since|if|when|while|although|though|as|after|before|because|by|speaking|even|which|who|where|whereas|that|in\s|on\s"
    r"|with\s|for\s|from\s|to\s|such|like|including|especially|instead|or\s|and\s|not\s|\w+ing\b)",
    re.IGNORECASE,
)


def _bonus(place: int, number: int, sentence: Sentence) -> float:
    bonus = 1.5 if place == 0 else 0.4 if place == number - 1 or place < 3 else 0.0
    bonus += 1.0 if _TELLING.search(sentence.text) else 0.0
    bonus += 0.7 if WHEN.search(sentence.text) or AMOUNT.search(sentence.text) else 0.0
    return bonus + (0.5 if sentence.is_question else 0.0)


def _worth(form: _Form, weights: Mapping[str, float], said: Collection[str]) -> float:
    fresh = sum(weights.get(root, 0.0) for root in form.roots if root not in said)
    return float(fresh * (1 + form.bonus / 4) / form.cost**0.7)


def _choose(kept: list[Sentence], pen: _Pen, weights: Mapping[str, float], budget: int) -> list[_Form]:
    forms = [form for place in range(len(kept)) for form in pen.forms(kept, place)]
    said: set[str] = set()
    chosen: dict[int, _Form] = {}
    room = budget
    # What was asked is what an answer will be read against: it comes first, in less than half of the room.
    question = next((place for place, sentence in enumerate(kept) if sentence.is_question), None)
    share = max(budget * 2 // 5, 8)
    first = [form for form in forms if form.place == question and form.cost <= share]
    if question is not None and not first:
        first = list(pen.cut(kept, question, share))
    while left := first or _open(kept, pen, forms, weights, said, chosen, room):
        best = max(left, key=lambda form: _worth(form, weights, said))
        first = []
        chosen[best.place] = best
        said |= best.roots
        room -= best.cost
    for form in forms:
        # Room that is left goes to saying more of what is said.
        here = chosen.get(form.place)
        if here and 0 < form.cost - here.cost <= room:
            chosen[form.place], room = form, room - form.cost + here.cost
    return [chosen[place] for place in sorted(chosen)]


def _open(
    kept: list[Sentence],
    pen: _Pen,
    forms: list[_Form],
    weights: Mapping[str, float],
    said: set[str],
    chosen: Mapping[int, _Form],
    room: int,
) -> list[_Form]:
    """The forms there is room for, and the beginning of the worthiest sentence if there is none for that."""
    left = [form for form in forms if form.place not in chosen]
    if not left or room < _LEAST:
        return []
    worthiest = max(left, key=lambda form: _worth(form, weights, said))
    fitting = [form for form in left if form.cost <= room]
    return [*fitting, *pen.cut(kept, worthiest.place, room)] if worthiest.cost > room else fitting


_LEAST = 4  # tokens
_ENDS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", ":", "]", "”", '"')


def _joined(kinds: list[Sentence], texts: list[str]) -> str:
    """As running text: items and headings side by side, sentences ended."""
    line = ""
    for number, (sentence, text) in enumerate(zip(kinds, texts, strict=True)):
        unspaced = is_unspaced(text)
        listed = sentence.kind != "prose"
        follows = number + 1 < len(kinds) and kinds[number + 1].kind == "item" and listed
        mark = ":" if sentence.kind == "heading" and follows else ";" if follows else "。" if unspaced else "."
        text = text.rstrip(" .;,") if follows else text
        line += text if text.endswith(_ENDS) else text + mark
        line += "" if unspaced else " "
    return line.strip()
