"""A message at three resolutions: what each may cost, checking the tiers a model wrote, and writing them without one.

Tier 1 is `key = value` pairs, tier 2 a short summary, tier 3 the message itself. A tier is one line, never costs more
than the message, and holds no marker: what was said in a message can never ask for anything when it is shown again.

Of the pairs that were found in a message some are chosen: a pair gains by its weight and by words that are not said
yet, and costs its tokens. So one long value never takes all the room, and nothing is said twice. Of its sentences the
most important are chosen in the same way, trimmed, in their order; where the whole sentence costs too much its first
clauses stand for it, and for an item its title.

A message is shown at the lowest tier, unless the model asked for a higher one recently. A request lasts for a number of
turns of the conversation; if it is not repeated, the message sinks again. A message that has no tiers yet, or is too
short for any, is shown as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import fsum
from operator import itemgetter

from everword.facts.rules.grounding import Grounds
from everword.model import Message, Tiers
from everword.text import escaping, key_value_statements
from everword.text.detect import detect
from everword.text.filler import bare_request, capitalise, is_filler, trim
from everword.text.sentences import MAX_CHARACTERS, Sentence, clauses, limit_text, sentences
from everword.text.word_weights import full_stop, is_unspaced, matters, shorten_phrase, stems, weigh
from everword.word_lists import lazy_pattern

Count = Callable[[str], int]

_LONGEST_RUN = 24  # characters of a value in a script without spaces
_AMPLE = 40  # tokens; in a larger budget there is room for whole phrases
_MOST = 160  # pairs that are compared with each other
_THRIFT = (0.3, 0.7, 1.1)  # how much the price of a pair counts; no one rule is best for every message


@dataclass(frozen=True, slots=True)
class _PairForm:
    """One way to write a pair: the number of the pair, its words, and its price without the key."""

    number: int
    pair: key_value_statements.KeyValue
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
) -> list[key_value_statements.KeyValue]:
    """The pairs of a text, the weightiest first, none twice."""
    pairs = [
        *key_value_statements.statement_pairs(message_sentences, language),
        *key_value_statements.question_pairs(message_sentences),
        *key_value_statements.list_pairs(message_sentences, language),
        *key_value_statements.technical_pairs(text, message_sentences),
    ]
    pairs += [
        *key_value_statements.mention_pairs(message_sentences, language),
        *key_value_statements.topic_pairs(message_sentences, language, weights),
    ]
    unique: dict[tuple[str, str], key_value_statements.KeyValue] = {}
    for pair in sorted((_tidy_pair(pair, language) for pair in pairs), key=lambda pair: -pair.weight):
        if pair.value:
            unique.setdefault((pair.key, pair.value.casefold()), pair)
    return list(unique.values())


def _tidy_pair(pair: key_value_statements.KeyValue, language: str) -> key_value_statements.KeyValue:
    """The pair in one line, without our separators and dangling words; light if all its words are ordinary."""
    value = " ".join(pair.value.replace(";", ",").replace(" = ", " is ").split())
    value = value.strip(_MARKS if pair.key in _LITERAL else _MARKS + "\"'“”«»")
    if pair.key not in _LITERAL:
        value = drop_dangling(value)
    key = shorten_phrase(" ".join(re.split(r"[\s;=]+", pair.key)).strip(), language)
    solid = pair.key in _SURE or any(matters(word, language) for word in value.split())
    return key_value_statements.KeyValue(key, value, pair.weight if solid else pair.weight * 0.3)


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


def render_pairs(pairs: Iterable[key_value_statements.KeyValue]) -> str:
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

    def choose(self, budget: int, thrift: float) -> tuple[float, list[key_value_statements.KeyValue]]:
        """The gain of the pairs that fit the budget, and these pairs, the weightiest first."""
        forms, gains, costs = self._forms, list(self._gains), list(self._costs)
        rates = [gain / cost**thrift for gain, cost in zip(gains, costs, strict=True)]
        open_places = list(range(len(forms)))
        covered_roots: set[str] = set()
        selection: list[key_value_statements.KeyValue] = []
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
    pair: key_value_statements.KeyValue, budget: int, count: Count, language: str, weights: Mapping[str, float]
) -> Iterator[key_value_statements.KeyValue]:
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
            yield key_value_statements.KeyValue(pair.key, value, pair.weight)
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


# -- the second tier


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
        if not open_numbers or self._room < _LEAST_ROOM:
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
            text = key_value_statements.end_of_question(clauses(text))
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
    bonus += (
        0.7
        if key_value_statements.WHEN.search(sentence.text) or key_value_statements.AMOUNT.search(sentence.text)
        else 0.0
    )
    return bonus + (0.5 if sentence.is_question else 0.0)


_LEAST_ROOM = 4  # tokens
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
        last = _JOINT.sub("", key_value_statements.end_of_question(parts) if asks else parts[-1])
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
        mark = ":" if sentence.kind == "heading" and follows else ";" if follows else full_stop(text)
        text = text.rstrip(" .;,") if follows else text
        line += text if text.endswith(_ENDS) else text + mark
        line += "" if has_no_spaces else " "
    return line.strip()


# -- budgets, checks, and the tiers of a message


SHORT = 24
"""Tokens; a message of so many or fewer is its own tier 1 and 2. The least pair that says something takes five tokens
(key, sign, a value of two or three): of 24 tokens that is over a fifth already, and what a summary could save is less
than what the label of a message costs."""

WORTH_A_CALL = 48
"""Tokens; of a message of so many or fewer, the tiers are shown in some five contexts and save some forty tokens in
each, while the call costs three hundred: the built-in writer makes them."""

TERSE = 190
"""Characters of a message, on average, up to which a chat is terse."""

TIER1_SHARE = (0.10, 0.20)
TIER2_SHARE = (0.30, 0.40)
"""Of the message's tokens: the least and the most we aim at."""
TIER1_LEAST, TIER1_MOST = 7, 600
TIER2_LEAST, TIER2_MOST = 12, 1_400
"""Tokens: less says nothing, more has no place in a context. The most begins to tell in messages of 3,000 tokens."""
TIER1_TOLERATED = 0.35
TIER2_TOLERATED = 0.60
"""Of the message's tokens: what we take from a model before we cut it."""
_MOST_READ = 16_000  # characters of a tier


@dataclass(frozen=True, slots=True)
class CheckedTiers:
    """Tiers that can be used. `faults` says what was wrong with the given ones; then offline ones replace them."""

    tiers: Tiers
    faults: tuple[str, ...] = ()


def size(text: str, count: Count) -> int:
    """The tokens of a text as far as it is looked at: that bounds the time, and a longer one has no larger tiers."""
    part = limit_text(text)
    tokens = count(escaping.strip_invisible(part))
    return tokens if len(text) <= len(part) else max(tokens, 2 * SHORT)


def is_short(text: str, count: Count) -> bool:
    """Whether a message is too short to gain from tiers: it is its own tier 1 and 2."""
    return len(text) <= MAX_CHARACTERS and size(text, count) <= SHORT


def is_worth_a_call(text: str, count: Count) -> bool:
    """Whether a message is so long that a model may be asked for its tiers alone."""
    return len(text) > MAX_CHARACTERS or size(text, count) > WORTH_A_CALL


def is_terse(texts: Sequence[str]) -> bool:
    """Whether the messages of a chat are so short that its model need not write their tiers with each reply: to ask for
    them costs more than they would save, and the built-in writer makes them."""
    return sum(map(len, texts)) <= TERSE * len(texts)


def budgets(text: str, count: Count) -> tuple[int, int]:
    """The most tokens that tier 1 and tier 2 of a message are to have."""
    tokens = size(text, count)
    tier1 = min(max(int(tokens * TIER1_SHARE[1]), TIER1_LEAST), TIER1_MOST)
    tier2 = min(max(int(tokens * TIER2_SHARE[1]), TIER2_LEAST), TIER2_MOST)
    return tier1, tier2


def write_tiers(text: str, count: Count) -> Tiers:
    """The tiers of a message, made without a model."""
    if is_short(text, count):
        return Tiers()
    source = _readable_text(text)
    budget1, budget2 = budgets(text, count)
    return Tiers(_write_tier1(source, budget1, count), _write_tier2(source, budget2, count), "offline")


def _write_tier1(source: str, budget: int, count: Count) -> str:
    if not source:
        return "text = blank"
    pairs = _fit(key_values(source, budget, count), budget, count)
    # Of a text without words, its beginning is enough.
    return pairs or _fit(f"text = {_fit(source, TIER1_LEAST, count)}", budget, count)


def _write_tier2(source: str, budget: int, count: Count) -> str:
    if not source:
        return "[blank]"
    sentences = _fit(summary(source, budget, count), budget, count)
    return sentences or _fit(source, min(2 * TIER1_LEAST, budget), count)


def _readable_text(text: str) -> str:
    return _MARKER.sub(" ", escaping.strip_invisible(limit_text(text))).strip()


def check_tiers(tier1: str, tier2: str, original: str, count: Count) -> CheckedTiers:
    """What a model gave as the tiers of a message: cleaned, cut where too long, replaced where of no use."""
    if is_short(original, count):
        return CheckedTiers(Tiers())
    grounds = Grounds.of(original)
    tier1 = pairs_in(tier1)
    tier2 = clean(tier2)
    fault1 = _fault_of_pairs(tier1, grounds)
    fault2 = _fault_of_summary(tier2, grounds)
    faults = tuple(f"{name} {fault}" for name, fault in (("tier 1", fault1), ("tier 2", fault2)) if fault)
    source = _readable_text(original) if faults else ""
    budget1, budget2 = budgets(original, count)
    tokens = size(original, count)
    limit1 = min(max(int(tokens * TIER1_TOLERATED), 2 * TIER1_LEAST), TIER1_MOST, tokens)
    limit2 = min(max(int(tokens * TIER2_TOLERATED), 2 * TIER2_LEAST), TIER2_MOST, tokens)
    return CheckedTiers(
        Tiers(
            _write_tier1(source, budget1, count) if fault1 else _cut_pairs(grounds.filter_pairs(tier1), limit1, count),
            _write_tier2(source, budget2, count) if fault2 else _cut_summary(tier2, limit2, count),
            "offline" if fault1 and fault2 else "model",
        ),
        faults,
    )


def is_of_no_use(tier1: str, tier2: str, original: str) -> bool:
    """Whether neither of the tiers that a model gave says anything of the message."""
    grounds = Grounds.of(original)
    return bool(_fault_of_pairs(pairs_in(tier1), grounds) and _fault_of_summary(clean(tier2), grounds))


def _fault_of_pairs(line: str, grounds: Grounds) -> str:
    """What is wrong with a tier 1; empty if nothing is."""
    if not line:
        return "is empty"
    if "=" not in line:
        return "has no pair like key = value"
    return "" if grounds.filter_pairs(line) else "says nothing that is in the message"


def _fault_of_summary(text: str, grounds: Grounds) -> str:
    """What is wrong with a tier 2; empty if nothing is."""
    if not text:
        return "is empty"
    if not grounds.shares_word(text):
        return "says nothing that is in the message"
    strangers = grounds.find_inventions(text)
    return f"mentions {', '.join(strangers[:4])}, which the message does not" if strangers else ""


def _cut_pairs(line: str, max_tokens: int, count: Count) -> str:
    pairs = line.split("; ")
    low = 1  # how many are kept
    high = len(pairs)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count("; ".join(pairs[:middle])) <= max_tokens else (low, middle - 1)
    return _fit("; ".join(pairs[:low]), max_tokens, count)


def _cut_summary(text: str, max_tokens: int, count: Count) -> str:
    return text if count(text) <= max_tokens else _fit(summary(text, max_tokens, count) or text, max_tokens, count)


def _fit(text: str, max_tokens: int, count: Count) -> str:
    """As much of a line as has at most `max_tokens` tokens, cut between words where possible."""
    text = clean(text)
    if count(text) <= max_tokens:
        return text
    low = 0
    high = len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle].rstrip()) <= max_tokens else (low, middle - 1)
    space = text.rfind(" ", low // 2, low)
    return text[: space if space > 0 else low].rstrip(" ,;=")


_MARKER = lazy_pattern(r"\[\s*(?:REQUEST_TIER|SEARCH_EPISODIC)\b[^\[\]\n]{0,300}\]", re.IGNORECASE)


def drop_markers(text: str) -> str:
    """The text without what asks for another tier or for a search."""
    return _MARKER.sub(" ", text) if "[" in text else text


def clean(text: str) -> str:
    """A tier as it may be kept: in one line, without markers, with nothing in it that reads as structure."""
    text = drop_markers(escaping.strip_invisible(text[: 2 * MAX_CHARACTERS]))
    return escaping.escape(" ".join(text.split())[:_MOST_READ].rstrip())


_NEXT_PAIR = lazy_pattern(r"[;\n|]|,(?=\s*[^\s,;=][^,;=]{0,40}=)")  # the white space around it is stripped
_COLON = lazy_pattern(r"^([^=:]{1,40}):\s+(?=\S)")
_BULLET = lazy_pattern(r"^(?:[-*•]\s+|\d+[.)]\s+)")
_QUOTES = " \"'`*"
_LOOKS = 8  # passes at most: each leaves less to correct


def pairs_in(text: str) -> str:
    """Pairs as models write them (lines, commas, colons, bullets) in our form: `key = value; key = value`. Doing it
    again changes nothing: of `-=value` the first pass leaves a bullet, the second the value."""
    pairs = _read_pairs(text)
    for _ in range(_LOOKS):
        before = pairs
        pairs = _read_pairs(pairs)
        if pairs == before:
            break
    return pairs


def _read_pairs(text: str) -> str:
    pairs: list[str] = []
    for pair in _NEXT_PAIR.split(text[:_MOST_READ]):
        pair = _BULLET.sub("", clean(pair).strip("{},=" + _QUOTES))
        if "=" not in pair:
            pair = _COLON.sub(r"\1 = ", pair)
        key, _, value = (part.strip(",;=" + _QUOTES) for part in pair.partition("="))
        if key and value:
            pairs.append(f"{key} = {value}")
        elif (lone := key or value) and pairs:
            pairs[-1] += f", {lone}"
        elif lone:
            pairs.append(lone)
    return clean("; ".join(dict.fromkeys(pairs)))


# -- at which tier a message is shown


LOWEST = 1
SUMMARY = 2
HIGHEST = 3


def tier_now(tiers: Tiers | None, turn: int, sinks_after: int) -> int:
    """The tier required at this turn of the conversation."""
    if tiers is None or tiers.raised_at is None or tiers.required <= LOWEST:
        return LOWEST
    return tiers.required if turn - tiers.raised_at <= sinks_after else LOWEST


def text_at(message: Message, tiers: Tiers | None, tier: int) -> tuple[str, int]:
    """The message at a tier, and the tier it really is: a message that is its own tiers is always whole."""
    if tiers is None or tiers.made_by == "self" or tier >= HIGHEST:
        return message.content, HIGHEST
    text = tiers.tier1 if tier == LOWEST else tiers.tier2
    return (text, tier) if text else (message.content, HIGHEST)


def tier_after_request(tiers: Tiers | None, tier: int, turn: int, sinks_after: int) -> tuple[int, int]:
    """The tier and turn to store after a request: never lower than what is still in force."""
    return max(tier, tier_now(tiers, turn, sinks_after)), turn
