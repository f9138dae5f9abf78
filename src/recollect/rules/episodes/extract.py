"""What a run of messages says, in few tokens and without a model: the sentences that carry it, and who said them.

A sentence gains by words that are not said yet, by being a decision, a plan, a question, by its numbers and dates, and
costs its tokens; so what is chosen is spread over what was talked about and says nothing twice. Sentences are trimmed,
never turned round, and stand in their order under their speaker: `Alex: My sister Emma marries in June. The assistant:
…`. A sentence that begins as if somebody else spoke gets a dot before it, as in `fences`. Never over the limit, and
never empty where there is a word and room for one. Only a bounded part is looked at.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from recollect.language.detect import detect
from recollect.language.filler import is_filler, trim
from recollect.language.mentions import WHEN
from recollect.language.sentences import Sentence, clauses, part_of, sentences, split
from recollect.language.word_weights import is_unspaced, stems, weigh
from recollect.model import Role
from recollect.rules.prompt import fences
from recollect.rules.prompt.labels import author_labels, without_posing
from recollect.rules.tiers import tiers
from recollect.rules.tiers.keyvalues import DANGLING

Count = Callable[[str], int]

MAX_CHARACTERS = 48_000
"""Characters that are looked at in all; of more, the longest texts are cut first."""


@dataclass(frozen=True, slots=True)
class Line:
    """A message: who said what. Without an author it is the user's or the assistant's."""

    role: Role
    author: str
    text: str


def gist(lines: Sequence[Line], limit: int, count: Count) -> str:
    """What the messages say, in at most `limit` tokens."""
    texts = looked_at([line.text for line in lines])
    speakers = speakers_of(lines)
    known = _NAMELESS.union(speakers)
    told = [
        _Told(number, who, _without_posing(sentence, known))
        for number, (who, text) in enumerate(zip(speakers, texts, strict=True))
        for sentence in sentences(text)
    ]
    return _written(told, limit, count) or _taste(map(_label, speakers, texts), limit, count)


def condense(texts: Sequence[str], limit: int, count: Count) -> str:
    """What the summaries say together, oldest first; each leaves a trace where there is room for one of each."""
    texts = looked_at(texts)
    known = _speakers(texts)
    told = [one for number, text in enumerate(texts) for one in _told(number, text, known)]
    return _written(told, limit, count, traces=True) or _taste(texts, limit, count)


def within(text: str, limit: int, count: Count) -> str:
    """As many whole sentences from the beginning of a line as have at most so many tokens; of one too long, words."""
    if count(text) <= limit:
        return text
    made = ""
    for sentence in split(text):
        longer = f"{made} {sentence}".strip()
        if count(longer) > limit:
            break
        made = longer
    return made or _cut(text, limit, count)


def speakers_of(lines: Sequence[Line]) -> list[str]:
    """Who said each line, in a few words, told apart."""
    labels = author_labels((line.role, line.author) for line in lines)
    names = [labels[line.role, line.author] for line in lines]
    return [f"The {line.role}" if name == line.role else name for name, line in zip(names, lines, strict=True)]


def _without_posing(sentence: Sentence, speakers: Collection[str]) -> Sentence:
    """A sentence that cannot be read as the beginning of what another says."""
    return replace(sentence, text=without_posing(sentence.text, speakers))


def looked_at(texts: Sequence[str]) -> list[str]:
    """The texts without what cannot be seen, the longest cut in their middle until all are bounded."""
    most = level([len(text) for text in texts], MAX_CHARACTERS)
    return [fences.seen(_ends(part_of(text), most)) for text in texts]


def level(sizes: Sequence[int], most: int) -> int:
    """The size to which the largest have to come down so that all together are at most so much."""
    left = most
    for number, size in enumerate(sorted(sizes)):
        share = max(left, 0) // (len(sizes) - number)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _ends(text: str, most: int) -> str:
    """Three quarters from the beginning, the rest from the end."""
    return text if len(text) <= most else f"{text[: most - most // 4]}\n\n{text[len(text) - most // 4 :]}"


# -- what there is to say


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence, by whom, and in which of the texts; no speaker if it speaks for itself."""

    source: int
    speaker: str
    sentence: Sentence


_LABEL = re.compile(r"([^\s:][^:\n]{0,39}): (?=\S)")
_NAMELESS = frozenset({"The user", "The assistant", "The system", "The tool"})


def _label(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if _has_word(tiers.clean(text)) else ""


def _speakers(texts: Iterable[str]) -> frozenset[str]:
    """Those who speak in gists: what a text begins with, before a colon, if more than one sentence begins so."""
    first: set[str] = set()
    times: dict[str, int] = {}
    for text in texts:
        for number, sentence in enumerate(split(" ".join(text.split()))):
            if found := _LABEL.match(sentence):
                times[found[1]] = times.get(found[1], 0) + 1
                first |= {found[1]} if number == 0 else set()
    return _NAMELESS | {name for name in first if times[name] > 1}


def _told(source: int, text: str, known: Collection[str]) -> Iterator[_Told]:
    """The sentences of a summary; where it is a gist, with their speakers."""
    who = ""
    for sentence in split(" ".join(text.split())):
        found = _LABEL.match(sentence)
        if found and found[1] in known:
            who, sentence = found[1], sentence[found.end() :]
        yield _Told(source, who, Sentence(sentence))


# -- what of it is said

_MATTERS = re.compile(
    r"""\b(?: decid\w+|agree[ds]?|chose|chosen|settled\son|went\swith|go\swith|instead\sof|cancel\w*|postpone\w*
        | plan\w*|going\sto|will|book(?:ed|ing)|sign(?:ed)?\sup|start(?:ed|ing)|deadline|due|must|need\w*|prefer\w*
        | allergic|favou?rite|birthday|anniversary|moved?|married|born|works?\s(?:at|as|for)|lives?\sin
        | bought|sold|won|lost|broke|finished|built|met|because|result\w*|total|solution|error|fail\w*|recommend\w*
        | my\s\w+|our\s\w+|name(?:d|\sis)|called )\b""",
    re.VERBOSE | re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_CORRECTS = re.compile(r"(?:no|actually|correction|sorry|wait)[,:!]\s|i\smeant\b", re.IGNORECASE)
_CONDITION = re.compile(r"^(?:(?:but|and|or)\s)?(?:unless|except|provided|only|if|not|never|until)\b", re.IGNORECASE)
_LEANS = re.compile(
    r"^(?:given|since|if|when|while|although|though|as|after|before|because|by|speaking|even|which|who|where|whereas|in"
    r"|on|with|for|from|to|\w+ing)\b",
    re.IGNORECASE,
)
_TRAIL = " ,;:–—-、，；："
_LONG = 90  # characters of a sentence that may be said shorter
_SAID_BY = {"user": 1.0, "assistant": 0.7}
_FRESH = 0.35  # of a sentence's weight has to be new
_LEAST = 0.6  # weight that has to be new: more than two ordinary words have
_THRIFT = 0.6  # how much the price of a sentence counts
_LABEL_PRICE = 2.0  # tokens
_NOTE = 2.0  # what it is worth to know that there was code, in the weight of words


@dataclass(frozen=True, slots=True)
class _Form:
    """One way to say a sentence: whole, or by its first clauses. The price is a guess; what is taken is counted."""

    place: int
    text: str
    roots: frozenset[str]
    bonus: float
    price: float


def _written(told: list[_Told], limit: int, count: Count, *, traces: bool = False) -> str:
    """The best of what is told within the limit; empty if there is nothing or no room."""
    if limit < 1:
        return ""
    told = _without_filler(told)
    language = detect(" ".join(one.sentence.text for one in told[:40]))
    weights = weigh((one.sentence for one in told), language)
    choice = _Choice(told, list(_forms(told, language)), weights, limit, count)
    if traces:
        choice.trace()
    choice.fill()
    return choice.text()


def _without_filler(told: list[_Told]) -> list[_Told]:
    """Without small talk, repeated sentences, and what has no word; with the small talk if there is nothing else."""
    told = list({one.sentence.text: one for one in reversed(told) if _has_word(one.sentence.text)}.values())[::-1]
    return [one for one in told if not is_filler(one.sentence)] or told


def _forms(told: list[_Told], language: str) -> Iterator[_Form]:
    last = -1
    for place, one in enumerate(told):
        bonus = _bonus(one, opens=one.source != last)
        last = one.source
        for text in _ways(one.sentence):
            roots = stems(text, language)
            if one.sentence.kind == "note":
                roots = frozenset({one.sentence.text})
            yield _Form(place, text, roots, bonus, len(text) / (1.2 if is_unspaced(text) else 4.2) + 1)


def _ways(sentence: Sentence) -> Iterator[str]:
    """The sentence trimmed; a long one also by its first clauses, unless what follows turns them round."""
    whole = _clean(trim(sentence.text))
    if not _has_word(whole):
        return
    yield whole
    if sentence.kind == "note" or sentence.is_question or len(whole) <= _LONG:
        return
    parts = clauses(whole)
    for length in range(len(parts) - 1, 0, -1):
        if not _CONDITION.match(parts[length]) and (length > 1 or not _LEANS.match(parts[0])):
            yield DANGLING.sub("", "".join(parts[:length]).rstrip(_TRAIL))
    if sentence.lead and _has_word(sentence.lead):
        yield _clean(sentence.lead)


def _bonus(one: _Told, *, opens: bool) -> float:
    text = one.sentence.text
    bonus = 0.8 if opens else 0.0
    bonus += 1.0 if _MATTERS.search(text) else 0.0
    bonus += 1.0 if _CORRECTS.match(text) else 0.0
    bonus += 0.8 if _DIGIT.search(text) or WHEN.search(text) else 0.0
    return bonus + (0.4 if one.sentence.is_question else 0.0)


class _Choice:
    """Takes forms, at most one a sentence, while there is room for them."""

    def __init__(
        self, told: list[_Told], forms: list[_Form], weights: Mapping[str, float], limit: int, count: Count
    ) -> None:
        self._told = told
        self._forms = forms
        self._weights = weights
        self._limit = limit
        self._count = count
        self._room = limit
        self._said: set[str] = set()
        self._taken: dict[int, tuple[_Form, float]] = {}

    def trace(self) -> None:
        """Something of each source, in its share of the room; where there is room for some only, of the newest."""
        sources = sorted({one.source for one in self._told})
        for number, source in enumerate(reversed(sources)):
            share = self._room // (len(sources) - number) if self._room else 0
            forms = [form for form in self._forms if self._told[form.place].source == source]
            worth = sorted(forms, key=self._gain, reverse=True)
            fitting = (form for form in worth if form.price <= share * 1.2)
            taken = any(self._take(form, share) for form in list(fitting)[:_TRIES])
            if worth and not taken and share >= _LEAST_TRACE:
                self._take(self._beginning(worth[0], share), share)

    def fill(self) -> None:
        """What gains most first, until there is no room. Gains only fall, so the best of before is looked at first."""
        heap = [(-self._gain(form), number) for number, form in enumerate(self._forms)]
        heapq.heapify(heap)
        misses = 0
        while heap and misses < _TRIES and self._room > 1:
            _, number = heapq.heappop(heap)
            form = self._forms[number]
            gain = self._gain(form)
            if form.place in self._taken or not gain:
                continue
            if heap and gain < -heap[0][0]:
                heapq.heappush(heap, (-gain, number))
            elif not self._take(form, self._room):
                misses += 1
        if not self._taken and self._forms:
            best = max(self._forms, key=self._gain)
            if not self._take(best, self._room):
                self._take(self._beginning(best, self._room), self._room)

    def text(self) -> str:
        """What was taken, in order; what gained least is left out again if the whole is over the limit."""
        while self._taken:
            made = tiers.clean(
                _joined([(self._told[place], self._taken[place][0].text) for place in sorted(self._taken)])
            )
            if self._count(made) <= self._limit:
                return made
            del self._taken[min(self._taken, key=lambda place: self._taken[place][1])]
        return ""

    def _gain(self, form: _Form) -> float:
        weight, said = self._weights.get, self._said
        whole = sum([weight(root, _NOTE) for root in form.roots])
        fresh = sum([weight(root, _NOTE) for root in form.roots if root not in said]) if said else whole
        if fresh < max(_FRESH * whole, _LEAST):
            return 0.0
        by = _SAID_BY.get(self._role(form), 1.0)
        return float(by * fresh * (1 + form.bonus / 3) / (form.price + _LABEL_PRICE) ** _THRIFT)

    def _role(self, form: _Form) -> str:
        return self._told[form.place].speaker.removeprefix("The ")

    def _take(self, form: _Form, most: int) -> bool:
        """Take a form if it has at most so many tokens, with its speaker where that is not the one before."""
        cost = self._count(f" {form.text}.") + (self._label_cost(form.place) if form.text else 0)
        if not form.text or cost > most:
            return False
        self._taken[form.place] = (form, self._gain(form))
        self._room -= cost
        self._said |= form.roots
        return True

    def _label_cost(self, place: int) -> int:
        who = self._told[place].speaker
        before = max((other for other in self._taken if other < place), default=-1)
        same = before >= 0 and self._told[before].speaker == who
        return 0 if same or not who else self._count(f" {who}:")

    def _beginning(self, form: _Form, most: int) -> _Form:
        room = most - self._label_cost(form.place) - 2
        text = _cut(form.text, room, self._count) if room > 0 else ""
        text = DANGLING.sub("", text).rstrip(_TRAIL)
        return _Form(form.place, f"{text}…" if _has_word(text) else "", form.roots, form.bonus, form.price)


_TRIES = 12  # forms in a row that turned out too long
_LEAST_TRACE = 12  # tokens of a beginning that says something


# -- how it is said

_STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", "]", "”", '"')


def _joined(chosen: list[tuple[_Told, str]]) -> str:
    """As running text: speakers where they change, items of a list side by side, sentences ended."""
    made = ""
    who = ""
    for number, (one, text) in enumerate(chosen):
        if one.speaker != who:
            who = one.speaker
            made += f"{who}: " if who else ""
        after = chosen[number + 1][0] if number + 1 < len(chosen) else None
        listed = one.sentence.kind in ("item", "heading") and after is not None
        follows = listed and after is not None and after.source == one.source and after.sentence.kind == "item"
        unspaced = is_unspaced(text)
        text = text.rstrip(_TRAIL + ".")
        mark = ":" if one.sentence.kind == "heading" else ";"
        made += text + (mark if follows else "" if text.endswith(_STOPS) else "。" if unspaced else ".")
        made += "" if unspaced and after is not None and after.speaker == who else " "
    return made.strip()


def _taste(texts: Iterable[str], limit: int, count: Count) -> str:
    """As much of the first text with a word as there is room for: where nothing else could be said."""
    for text in texts:
        if limit > 0 and _has_word(text):
            made = _cut(tiers.clean(text), limit, count)
            if _has_word(made):
                return made
    return ""


def _cut(text: str, limit: int, count: Count) -> str:
    """As much of a line as has at most so many tokens, cut between words where that can be."""
    text = text[: limit * _MOST_CHARACTERS]
    if count(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle].rstrip()) <= limit else (low, middle - 1)
    space = text.rfind(" ", low // 2, low + 1)
    return text[: space if space > 0 else low].rstrip(_TRAIL)


_MOST_CHARACTERS = 40  # of a token, so that a cut looks at a part in proportion to the limit


def _clean(text: str) -> str:
    return tiers.clean(text) if "[" in text else text


_has_word = partial(re.search, r"[^\W_]")
