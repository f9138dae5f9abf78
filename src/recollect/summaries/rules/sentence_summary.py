"""The second tier: the most important sentences of a message, trimmed, in their order, within a budget of tokens.

A sentence gains by words that are not said yet and by what it is (the first question, a decision, a number), and costs
its tokens. Where the whole sentence costs too much its first clauses stand for it, and for an item its title.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from math import fsum
from operator import itemgetter

from recollect.summaries.rules.keyvalues import drop_dangling
from recollect.text.detect import detect
from recollect.text.filler import bare_request, capitalise, is_filler, trim
from recollect.text.mentions import AMOUNT, WHEN, last_clauses
from recollect.text.packs import lazy_pattern
from recollect.text.sentences import Sentence, clauses, sentences
from recollect.text.words import is_unspaced, stems, weigh

Count = Callable[[str], int]

_TELLING = lazy_pattern(
    r"\b(?:decid\w+|agree[ds]?|chose|prefer\w*|allergic|favou?rite|deadline|must|need|plan\w*|because|result|answer|total"
    r"|my\s+\w+|i['’]?m|i['’]ve|we['’]re|we['’]ve|recommend\w*|error|fail\w*|solution|important)\b",
    re.IGNORECASE,
)


_CORRECTS = lazy_pattern(r"(?:no|actually|correction|sorry|wait)[,:!]\s|i\smeant\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _SentenceForm:
    """One wording of a sentence: whole, or shorter."""

    place: int
    text: str
    cost: int
    bonus: float
    note: float
    roots: frozenset[str]


def summary(text: str, budget: int, count: Count) -> str:
    """The sentences that tell most about a text in `budget` tokens; empty if nothing fits."""
    unique_sentences = list({sentence.text: sentence for sentence in reversed(sentences(text))}.values())[::-1]
    candidates = [sentence for sentence in unique_sentences if not is_filler(sentence)] or unique_sentences
    language = detect(text)
    weights = weigh(candidates, language)
    if not weights and all(sentence.kind != "note" for sentence in candidates):
        return ""
    forms = _SentenceChooser(candidates, weights, language, count).choose(budget)
    while forms:
        summary_text = _join_parts([candidates[form.place] for form in forms], [form.text for form in forms])
        if count(summary_text) <= budget:
            return summary_text
        forms.remove(min(forms, key=lambda form: _worth(form, weights, frozenset())))
    return ""


class _SentenceChooser:
    """Chooses forms, one for each sentence, until the budget is used up."""

    def __init__(self, candidates: list[Sentence], weights: Mapping[str, float], language: str, count: Count) -> None:
        self._candidates = candidates
        self._weights = weights
        self._language = language
        self._is_english = language == "en"
        self._count = count
        self._bonuses = [_bonus(place, len(candidates), sentence) for place, sentence in enumerate(candidates)]
        self._forms = [
            self._form(place, text, count(f" {text}."))
            for place, sentence in enumerate(candidates)
            for text in dict.fromkeys(_wordings(sentence, self._is_english))
        ]
        self._gains = [_worth(form, weights, frozenset()) for form in self._forms]
        self._forms_by_root: dict[str, list[int]] = {}
        for number, form in enumerate(self._forms):
            for root in form.roots:
                self._forms_by_root.setdefault(root, []).append(number)
        self._covered_roots: set[str] = set()
        self._chosen: dict[int, _SentenceForm] = {}
        self._room = 0

    def choose(self, budget: int) -> list[_SentenceForm]:
        """The forms that gain most together, in order."""
        self._room = budget
        self._take_question(max(budget * 2 // 5, 8))
        while gains_and_forms := self._affordable_forms():
            self._take(max(gains_and_forms, key=itemgetter(0))[1])
        for form in self._forms:
            # The room that is left goes to longer forms of the chosen sentences.
            current = self._chosen.get(form.place)
            if current and 0 < form.cost - current.cost <= self._room:
                self._take(form)
        return [self._chosen[place] for place in sorted(self._chosen)]

    def _take_question(self, share: int) -> None:
        """Take the first question, since an answer is understood by it. It gets less than half of the room."""
        place = next((place for place, sentence in enumerate(self._candidates) if sentence.is_question), None)
        if place is not None:
            forms = [form for form in self._forms if form.place == place and form.cost <= share]
            forms = forms or list(self._beginning(place, share))
            if forms:
                self._take(max(forms, key=self._gain))

    def _affordable_forms(self) -> list[tuple[float, _SentenceForm]]:
        """The forms there is room for, and the beginning of the worthiest sentence if there is none for that; each with
        what it gains."""
        forms, gains = self._forms, self._gains
        open_numbers = [number for number, form in enumerate(forms) if form.place not in self._chosen]
        if not open_numbers or self._room < _LEAST:
            return []
        worthiest = forms[max(open_numbers, key=gains.__getitem__)]
        fitting = [(gains[number], forms[number]) for number in open_numbers if forms[number].cost <= self._room]
        # A script without spaces has no visible place to cut, so that is the last resort.
        if worthiest.cost > self._room and not (self._chosen and is_unspaced(worthiest.text)):
            fitting += [(self._gain(form), form) for form in self._beginning(worthiest.place, self._room)]
        return fitting

    def _take(self, form: _SentenceForm) -> None:
        """Choose a form. Only forms that share a root with it gain less than before."""
        before = self._chosen.get(form.place)
        self._room -= form.cost - (before.cost if before else 0)
        self._chosen[form.place] = form
        new_roots = form.roots - self._covered_roots
        self._covered_roots |= new_roots
        for number in {number for root in new_roots for number in self._forms_by_root.get(root, ())}:
            self._gains[number] = self._gain(self._forms[number])

    def _gain(self, form: _SentenceForm) -> float:
        return _worth(form, self._weights, self._covered_roots)

    def _beginning(self, place: int, max_tokens: int) -> Iterator[_SentenceForm]:
        """The beginning of a sentence in `max_tokens` tokens; none if too little would be left."""
        text = trim(self._candidates[place].text)
        if self._candidates[place].is_question and self._is_english and not _ASKS.match(text):
            text = last_clauses(clauses(text))
        text = bare_request(text)
        joint = "" if is_unspaced(text) else " "
        pieces = text.split()[:max_tokens] if joint else list(text[: 2 * max_tokens])

        def shorten(length: int) -> str:
            return drop_dangling(joint.join(pieces[:length])).rstrip(_TRAIL) + "…"

        fits = (
            bisect_right(range(len(pieces) + 1), max_tokens, key=lambda length: self._count(f" {shorten(length)}")) - 1
        )
        cost = self._count(f" {shorten(fits)}")
        if fits > _FEWEST and cost <= max_tokens:
            yield self._form(place, shorten(fits), cost)

    def _form(self, place: int, text: str, cost: int) -> _SentenceForm:
        note = _NOTE if self._candidates[place].kind == "note" else 0.0
        return _SentenceForm(place, text, cost, self._bonuses[place], note, stems(text, self._language))


def _worth(form: _SentenceForm, weights: Mapping[str, float], covered_roots: Collection[str]) -> float:
    fresh = fsum(weights.get(root, 0.0) for root in form.roots if root not in covered_roots) or form.note
    return float(fresh * (1 + form.bonus / 4) / form.cost**0.7)


def _bonus(place: int, number: int, sentence: Sentence) -> float:
    bonus = 1.5 if place == 0 else 0.4 if place == number - 1 or place < 3 else 0.0
    bonus += 1.0 if _TELLING.search(sentence.text) else 0.0
    bonus += 1.5 if _CORRECTS.match(sentence.text) else 0.0
    bonus += 0.7 if WHEN.search(sentence.text) or AMOUNT.search(sentence.text) else 0.0
    return bonus + (0.5 if sentence.is_question else 0.0)


_LEAST = 4  # tokens
_NOTE = 3.0  # what it is worth to know that there was code, in the weight of words
_FEWEST = 4  # words or characters
_TRAIL = " ,;:–—-、，；："
_JOINT = lazy_pattern(r"^(?:and|but|so|or|und|aber|et|mais|y|pero|e|ma|mas|en|maar|и|но)\s", re.IGNORECASE)
# A clause that makes sense alone: it has a subject, or it asks.
_SUBJECT = lazy_pattern(
    r"(?:i|we|you|he|she|it|they|there|my|our|your|his|her|their|the|this|that|these|those|let|please)(?:\s|['’])",
    re.IGNORECASE,
)
_ASKS = lazy_pattern(
    r"(?:what|how|why|when|where|who|whose|which|can|could|do|does|did|is|are|was|were|will|would|should|shall|has|have|had"
    r"|may|might|any)\b",
    re.IGNORECASE,
)
# One that makes no sense alone, and one without which the clause before it means something else.
_LEANS = lazy_pattern(
    r"^(?:given|since|if|when|while|although|though|as|after|before|because|by|speaking|even|which|who|where|whereas|that"
    r"|in\s|on\s|with\s|for\s|from\s|to\s|such|like|including|especially|instead|or\s|and\s|not\s|\w+ing\b)",
    re.IGNORECASE,
)
_CONDITION = lazy_pattern(r"^(?:(?:but|and|or)\s)?(?:unless|except|provided|only|if|not|never|until)\b", re.IGNORECASE)


def _wordings(sentence: Sentence, english: bool) -> Iterator[str]:
    """The sentence trimmed, then shorter without its last clauses; its last clause alone; of an item the title.

    A question must keep the part that asks. That part is known in English; in other languages it may be any.
    """
    text = trim(sentence.text)
    yield text
    if sentence.kind == "note":
        return
    yield bare_request(text)
    parts = clauses(text)
    asks = sentence.is_question
    if not asks or not english or _ASKS.match(text):
        for length in range(len(parts) - 1, 0, -1):
            if not _CONDITION.match(parts[length]) and (length > 1 or not _LEANS.match(parts[0])):
                yield "".join(parts[:length]).rstrip(_TRAIL) + ("?" if asks else "")
    if len(parts) > 1:
        last = _JOINT.sub("", last_clauses(parts) if asks else parts[-1])
        if (_ASKS if asks else _SUBJECT).match(last) or (asks and not english):
            yield capitalise(last)
    if sentence.lead:
        yield sentence.lead


_ENDS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", ":", "]", "”", '"')


def _join_parts(parts: list[Sentence], texts: list[str]) -> str:
    """The parts as running text: items and headings side by side, sentences with an end mark."""
    line = ""
    for number, (sentence, text) in enumerate(zip(parts, texts, strict=True)):
        has_no_spaces = is_unspaced(text)
        is_listed = sentence.kind != "prose"
        follows = number + 1 < len(parts) and parts[number + 1].kind == "item" and is_listed
        mark = ":" if sentence.kind == "heading" and follows else ";" if follows else "。" if has_no_spaces else "."
        text = text.rstrip(" .;,") if follows else text
        line += text if text.endswith(_ENDS) else text + mark
        line += "" if has_no_spaces else " "
    return line.strip()
