"""Summaries of messages without a model: the sentences with the most content, and who said them.

A sentence gains by words that are not covered yet, by being a decision, a plan or a question, and by its numbers and
dates; it costs its tokens. So the chosen sentences cover all that was talked about and say nothing twice. Sentences are
trimmed, never reworded, and stand in their order under their speaker: `Alex: My sister Emma marries in June. The
assistant: …`. A sentence that begins as if somebody else spoke gets a dot before it, as in `fences`. A summary is never
over the limit, and never empty if there is a word and room for one. Only a bounded part is read.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from recollect.language.detect import detect
from recollect.language.filler import is_filler, trim
from recollect.language.names_times_amounts import WHEN
from recollect.language.sentences import Sentence, clauses, limit_text, sentences, split_sentences
from recollect.language.word_weights import is_unspaced, stems, weigh
from recollect.model import Role
from recollect.rules.prompt import fences
from recollect.rules.prompt.speaker_labels import author_labels, without_posing
from recollect.rules.tiers import tiers
from recollect.rules.tiers.keyvalues import DANGLING

Count = Callable[[str], int]

MAX_CHARACTERS = 48_000
"""Characters that are read in all; if there are more, the longest texts are cut first."""


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A message: role, author and text. Without an author it is the user's or the assistant's."""

    role: Role
    author: str
    text: str


def gist(lines: Sequence[SpokenLine], limit: int, count: Count) -> str:
    """A summary of the messages in at most `limit` tokens."""
    texts = limit_texts([line.text for line in lines])
    speakers = speakers_of(lines)
    speaker_names = _NAMELESS.union(speakers)
    statements = [
        _Statement(number, speaker, _without_posing(sentence, speaker_names))
        for number, (speaker, text) in enumerate(zip(speakers, texts, strict=True))
        for sentence in sentences(text)
    ]
    return _write_summary(statements, limit, count) or _first_excerpt(map(_label, speakers, texts), limit, count)


def condense(texts: Sequence[str], limit: int, count: Count) -> str:
    """One summary of several summaries, oldest first; something of each is kept if there is room for it."""
    texts = limit_texts(texts)
    speaker_names = _gist_speakers(texts)
    statements = [
        statement for number, text in enumerate(texts) for statement in _statements_of(number, text, speaker_names)
    ]
    return _write_summary(statements, limit, count, traces=True) or _first_excerpt(texts, limit, count)


def first_sentences(text: str, limit: int, count: Count) -> str:
    """The whole sentences at the beginning of a line that fit `limit` tokens; if the first is too long, its words."""
    if count(text) <= limit:
        return text
    prefix = ""
    for sentence in split_sentences(text):
        longer = f"{prefix} {sentence}".strip()
        if count(longer) > limit:
            break
        prefix = longer
    return prefix or _cut_to_tokens(text, limit, count)


def speakers_of(lines: Sequence[SpokenLine]) -> list[str]:
    """The speaker of each line, in a few words, with distinct names."""
    labels = author_labels((line.role, line.author) for line in lines)
    names = [labels[line.role, line.author] for line in lines]
    return [f"The {line.role}" if name == line.role else name for name, line in zip(names, lines, strict=True)]


def _without_posing(sentence: Sentence, speakers: Collection[str]) -> Sentence:
    """The sentence, guarded so that it does not read as the line of another speaker."""
    return replace(sentence, text=without_posing(sentence.text, speakers))


def limit_texts(texts: Sequence[str]) -> list[str]:
    """The texts without invisible characters, the longest cut in the middle until the total is bounded."""
    limit = size_limit([len(text) for text in texts], MAX_CHARACTERS)
    return [fences.strip_invisible(_both_ends(limit_text(text), limit)) for text in texts]


def size_limit(sizes: Sequence[int], total: int) -> int:
    """The size to which the largest must be cut so that all together have at most `total`."""
    remaining = total
    for number, size in enumerate(sorted(sizes)):
        share = max(remaining, 0) // (len(sizes) - number)
        if size > share:
            return share
        remaining -= size
    return max(sizes, default=0)


def _both_ends(text: str, limit: int) -> str:
    """Three quarters from the beginning, the rest from the end."""
    return text if len(text) <= limit else f"{text[: limit - limit // 4]}\n\n{text[len(text) - limit // 4 :]}"


# -- the sentences there are


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence, its speaker, and the number of its text; the speaker is empty in a text without speakers."""

    source: int
    speaker: str
    sentence: Sentence


_LABEL = re.compile(r"([^\s:][^:\n]{0,39}): (?=\S)")
_NAMELESS = frozenset({"The user", "The assistant", "The system", "The tool"})


def _label(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if _has_word(tiers.clean(text)) else ""


def _gist_speakers(texts: Iterable[str]) -> frozenset[str]:
    """The speakers in gists: the words before a colon at the start of a text, if several sentences begin so."""
    first: set[str] = set()
    times: dict[str, int] = {}
    for text in texts:
        for number, sentence in enumerate(split_sentences(" ".join(text.split()))):
            if match := _LABEL.match(sentence):
                times[match[1]] = times.get(match[1], 0) + 1
                first |= {match[1]} if number == 0 else set()
    return _NAMELESS | {name for name in first if times[name] > 1}


def _statements_of(source: int, text: str, speaker_names: Collection[str]) -> Iterator[_Statement]:
    """The sentences of a summary; where it is a gist, with their speakers."""
    speaker = ""
    for sentence in split_sentences(" ".join(text.split())):
        match = _LABEL.match(sentence)
        if match and match[1] in speaker_names:
            speaker = match[1]
            sentence = sentence[match.end() :]
        yield _Statement(source, speaker, Sentence(sentence))


# -- which of them are chosen

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
    """One wording of a sentence: whole, or its first clauses. The price is an estimate; taken forms are counted."""

    place: int
    text: str
    roots: frozenset[str]
    bonus: float
    price: float


def _write_summary(statements: list[_Statement], limit: int, count: Count, *, traces: bool = False) -> str:
    """The best statements within the limit; empty if there are none or no room."""
    if limit < 1:
        return ""
    statements = _without_filler(statements)
    language = detect(" ".join(statement.sentence.text for statement in statements[:40]))
    weights = weigh((statement.sentence for statement in statements), language)
    choice = _Choice(statements, list(_forms(statements, language)), weights, limit, count)
    if traces:
        choice.trace()
    choice.fill()
    return choice.text()


def _without_filler(statements: list[_Statement]) -> list[_Statement]:
    """The statements without small talk, repetitions, and sentences without a word; small talk stays if it is all."""
    with_words = [statement for statement in reversed(statements) if _has_word(statement.sentence.text)]
    distinct = list({statement.sentence.text: statement for statement in with_words}.values())[::-1]
    return [statement for statement in distinct if not is_filler(statement.sentence)] or distinct


def _forms(statements: list[_Statement], language: str) -> Iterator[_Form]:
    last = -1
    for place, statement in enumerate(statements):
        bonus = _bonus(statement, opens=statement.source != last)
        last = statement.source
        for text in _wordings(statement.sentence):
            roots = stems(text, language)
            if statement.sentence.kind == "note":
                roots = frozenset({statement.sentence.text})
            yield _Form(place, text, roots, bonus, len(text) / (1.2 if is_unspaced(text) else 4.2) + 1)


def _wordings(sentence: Sentence) -> Iterator[str]:
    """The sentence trimmed; for a long one also its first clauses, unless the rest reverses their meaning."""
    full_text = _clean(trim(sentence.text))
    if not _has_word(full_text):
        return
    yield full_text
    if sentence.kind == "note" or sentence.is_question or len(full_text) <= _LONG:
        return
    parts = clauses(full_text)
    for length in range(len(parts) - 1, 0, -1):
        if not _CONDITION.match(parts[length]) and (length > 1 or not _LEANS.match(parts[0])):
            yield DANGLING.sub("", "".join(parts[:length]).rstrip(_TRAIL))
    if sentence.lead and _has_word(sentence.lead):
        yield _clean(sentence.lead)


def _bonus(statement: _Statement, *, opens: bool) -> float:
    text = statement.sentence.text
    bonus = 0.8 if opens else 0.0
    bonus += 1.0 if _MATTERS.search(text) else 0.0
    bonus += 1.0 if _CORRECTS.match(text) else 0.0
    bonus += 0.8 if _DIGIT.search(text) or WHEN.search(text) else 0.0
    return bonus + (0.4 if statement.sentence.is_question else 0.0)


class _Choice:
    """Takes forms, at most one for each sentence, while there is room for them."""

    def __init__(
        self, statements: list[_Statement], forms: list[_Form], weights: Mapping[str, float], limit: int, count: Count
    ) -> None:
        self._statements = statements
        self._forms = forms
        self._weights = weights
        self._limit = limit
        self._count = count
        self._room = limit
        self._covered_roots: set[str] = set()
        self._taken: dict[int, tuple[_Form, float]] = {}

    def trace(self) -> None:
        """Take something of each source, in its share of the room; if the room is too small, of the newest sources."""
        sources = sorted({statement.source for statement in self._statements})
        for number, source in enumerate(reversed(sources)):
            share = self._room // (len(sources) - number) if self._room else 0
            forms = [form for form in self._forms if self._statements[form.place].source == source]
            worth = sorted(forms, key=self._gain, reverse=True)
            fitting = (form for form in worth if form.price <= share * 1.2)
            has_trace = any(self._take(form, share) for form in list(fitting)[:_TRIES])
            if worth and not has_trace and share >= _LEAST_TRACE:
                self._take(self._beginning(worth[0], share), share)

    def fill(self) -> None:
        """Take forms by gain until there is no room. Gains only fall, so the best of the last round is tried first."""
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
        """The forms taken, in order; those that gained least are dropped again while the text is over the limit."""
        while self._taken:
            summary = tiers.clean(
                _join_statements(
                    [(self._statements[place], self._taken[place][0].text) for place in sorted(self._taken)]
                )
            )
            if self._count(summary) <= self._limit:
                return summary
            del self._taken[min(self._taken, key=lambda place: self._taken[place][1])]
        return ""

    def _gain(self, form: _Form) -> float:
        weight = self._weights.get
        covered_roots = self._covered_roots
        total = sum([weight(root, _NOTE) for root in form.roots])
        fresh = total
        if covered_roots:
            fresh = sum([weight(root, _NOTE) for root in form.roots if root not in covered_roots])
        if fresh < max(_FRESH * total, _LEAST):
            return 0.0
        role_weight = _SAID_BY.get(self._role(form), 1.0)
        return float(role_weight * fresh * (1 + form.bonus / 3) / (form.price + _LABEL_PRICE) ** _THRIFT)

    def _role(self, form: _Form) -> str:
        return self._statements[form.place].speaker.removeprefix("The ")

    def _take(self, form: _Form, limit: int) -> bool:
        """Take a form if it fits the limit, together with its speaker where the speaker changes."""
        cost = self._count(f" {form.text}.") + (self._label_cost(form.place) if form.text else 0)
        if not form.text or cost > limit:
            return False
        self._taken[form.place] = (form, self._gain(form))
        self._room -= cost
        self._covered_roots |= form.roots
        return True

    def _label_cost(self, place: int) -> int:
        speaker = self._statements[place].speaker
        before = max((other for other in self._taken if other < place), default=-1)
        same_speaker = before >= 0 and self._statements[before].speaker == speaker
        return 0 if same_speaker or not speaker else self._count(f" {speaker}:")

    def _beginning(self, form: _Form, limit: int) -> _Form:
        room = limit - self._label_cost(form.place) - 2
        text = _cut_to_tokens(form.text, room, self._count) if room > 0 else ""
        text = DANGLING.sub("", text).rstrip(_TRAIL)
        return _Form(form.place, f"{text}…" if _has_word(text) else "", form.roots, form.bonus, form.price)


_TRIES = 12  # forms in a row that turned out too long
_LEAST_TRACE = 12  # tokens of a beginning that says something


# -- how they are written

_STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", "]", "”", '"')


def _join_statements(parts: list[tuple[_Statement, str]]) -> str:
    """The statements as running text: speakers where they change, list items side by side, a stop after sentences."""
    summary = ""
    speaker = ""
    for number, (statement, text) in enumerate(parts):
        if statement.speaker != speaker:
            speaker = statement.speaker
            summary += f"{speaker}: " if speaker else ""
        after = parts[number + 1][0] if number + 1 < len(parts) else None
        in_list = statement.sentence.kind in ("item", "heading") and after is not None
        follows = in_list and after is not None and after.source == statement.source and after.sentence.kind == "item"
        without_spaces = is_unspaced(text)
        text = text.rstrip(_TRAIL + ".")
        mark = ":" if statement.sentence.kind == "heading" else ";"
        summary += text + (mark if follows else "" if text.endswith(_STOPS) else "。" if without_spaces else ".")
        summary += "" if without_spaces and after is not None and after.speaker == speaker else " "
    return summary.strip()


def _first_excerpt(texts: Iterable[str], limit: int, count: Count) -> str:
    """As much of the first text with a word as there is room for: used if nothing else fits."""
    for text in texts:
        if limit > 0 and _has_word(text):
            excerpt = _cut_to_tokens(tiers.clean(text), limit, count)
            if _has_word(excerpt):
                return excerpt
    return ""


def _cut_to_tokens(text: str, limit: int, count: Count) -> str:
    """As much of a line as fits `limit` tokens, cut between words if possible."""
    text = text[: limit * _MOST_CHARACTERS]
    if count(text) <= limit:
        return text
    low = 0
    high = len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle].rstrip()) <= limit else (low, middle - 1)
    space = text.rfind(" ", low // 2, low + 1)
    return text[: space if space > 0 else low].rstrip(_TRAIL)


_MOST_CHARACTERS = 40  # of a token, so that a cut looks at a part in proportion to the limit


def _clean(text: str) -> str:
    return tiers.clean(text) if "[" in text else text


_has_word = partial(re.search, r"[^\W_]")
