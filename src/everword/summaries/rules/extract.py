"""Summaries of messages without a model: the sentences with the most content, and who said them.

An extract is structure until the last moment: who said a line, in which turn and when stand beside its words, and
nothing ever reads them back from a text. Text names speakers where they change and days where they change:
`2 Feb 2022, Alex: I sold the boat. Sam: Who bought it? 5 Feb 2022, Sam: I found a kayak.` Prose that a model wrote has
no speaker; after somebody's words it is introduced by `Summary:`. Labels are distinct, and a sentence that begins as
if somebody else spoke gets a dot before it, as in `escaping`.

The result is a list of lines, each with its speaker, its turn and its time; `render_lines` writes them as text.
`gist` chooses lines of messages, `condense` chooses among the lines of several extracts: who said what is never read
from a text. A summary is never over the limit, and never empty if there is a word and room for one. Only a bounded part
is read. What stands alone is decided in `text.standalone`, what was corrected in `text.corrections`.

A sentence gains by words that are not covered yet, by being a decision, a plan or a question, and by its numbers and
dates; it costs its tokens. So the chosen sentences cover all that was talked about and say nothing twice. Sentences are
trimmed, never reworded. What was corrected is chosen only together with its correction, or not at all.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise, takewhile
from math import fsum
from operator import attrgetter
from typing import Any, NamedTuple

from everword.model import ExtractLine, Role, from_microseconds, to_microseconds
from everword.summaries.rules import shortened_messages
from everword.summaries.rules.shortened_messages import drop_dangling
from everword.text import escaping
from everword.text.corrections import ComparedSentence, find_corrections, is_retraction
from everword.text.dates import MONTHS
from everword.text.detect import detect
from everword.text.doc import doc_of
from everword.text.escaping import GUARD, Labels, author_labels, byline, escape_line, with_sign, without_posing
from everword.text.filler import is_filler, strip_opening, trim, with_question_mark
from everword.text.sentences import Kind, Sentence, clauses, limit_text, sentences, split_sentences
from everword.text.standalone import (
    SourcedSentence,
    answers,
    drop_addition,
    find_supports,
    is_caption,
    is_yes_or_no,
    leans_on_context,
    may_be_told,
    names_person,
    says_something,
    stands_alone,
    tells_deed,
    wants_person,
)
from everword.text.word_weights import full_stop, is_unspaced, stems, weigh
from everword.text.worth_telling import WEIGHT, Telling, is_judgement, read_signs, telling_of, told_part
from everword.word_lists import lazy_pattern

Lines = Sequence[ExtractLine]

NAMELESS = frozenset({"The user", "The assistant", "The system", "The tool"})
NARRATOR = "Summary"
"""What introduces prose of a model that stands after somebody's words."""
_NARRATOR_KEY: tuple[Role, str] = ("system", NARRATOR)
_MONTHS = tuple(month[:3].capitalize() for month in MONTHS)


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A message: role, author, text, turn and time. Without an author it is the user's or the assistant's."""

    role: Role
    author: str
    text: str
    turn: int = 0
    time: datetime | None = None


def narrative_lines(text: str, turn: int = 0, time: datetime | None = None) -> tuple[ExtractLine, ...]:
    """The sentences of prose that a model wrote: nobody said them."""
    return tuple(ExtractLine(turn, "", "", sentence, time) for sentence in split_sentences(" ".join(text.split())))


def whole_line(text: str, turn: int = 0, time: datetime | None = None) -> tuple[ExtractLine, ...]:
    """A text of which it is not known who said what: its sentences stay together."""
    line = " ".join(text.split())
    return (ExtractLine(turn, "", "", line, time, "text"),) if line else ()


def member_lines(text: str, member: str) -> tuple[ExtractLine, ...]:
    """The sentences of a text about one member only: their own words if it is introduced by them, else prose."""
    introduction = prefix(ExtractLine(0, "user", member, ""), None, author_labels([("user", member)]))
    if not text.startswith(introduction):
        return narrative_lines(text)
    own_words = " ".join(text.removeprefix(introduction).split())
    return tuple(ExtractLine(0, "user", member, sentence) for sentence in split_sentences(own_words))


# -- as text

_STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", "]")
_QUOTES = "\"'”’»」』)"
_TRAIL = " ,;:–—-、，；："
# A sentence that begins with a day as we write it, before words that end in a colon or alone before one.
_DATED = lazy_pattern(
    r"(?:^|(?<=[.!?…;。！？]\s)|(?<=[.!?…;。！？][\"'”’»)\]]\s))"
    rf"(?=[^\w{GUARD}]*\d{{1,2}}\s\w{{3,4}}\.?\s\d{{4}}\s*(?:[,，][^:：.!?]{{1,80}})?[:：∶ː꞉︓﹕])"
)
_YEAR = lazy_pattern(r"\d{4}")  # found in a small part of the time
_COLON = lazy_pattern("[:：∶ː꞉︓﹕]")  # without one, nothing reads as the line of a speaker


def render_lines(
    lines: Lines,
    names: Mapping[str, str] | None = None,
    *,
    labels: Labels | None = None,
    escaped: bool = False,
) -> str:
    """The lines as running text: speakers and days where they change, list items side by side, a stop after sentences.

    `names` are the names to show for authors' ids; `labels`, if given, say how authors are shown in the same context.
    `escaped`: the words of each line are escaped for themselves, for a context.
    """
    shown_labels = speaker_labels(lines, names, labels)
    poses_as = {*NAMELESS, *shown_labels.values(), *(labels or {}).values()}
    text = ""
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else None
        after = lines[number + 1] if number + 1 < len(lines) else None
        text += prefix(line, before, shown_labels)
        words = guard_words(escape_line(line.text) if escaped else line.text, poses_as)
        text += _with_stop(words, line, after)
        is_joined = after is not None and is_unspaced(line.text) and speaker_of(after) == speaker_of(line)
        text += "" if is_joined and after is not None and not _changes_day(after, line) else " "
    return text.strip()


def prefix(line: ExtractLine, before: ExtractLine | None, labels: Labels) -> str:
    """What stands before a line: the day and the speaker, where one of them changes."""
    day = _day(line) if before is None or _changes_day(line, before) else ""
    changes_speaker = before is None or speaker_of(before) != speaker_of(line)
    is_narrative = not line.role
    if is_narrative:
        label = labels[_NARRATOR_KEY] if before is not None and before.role else ""
    else:
        label = labels[speaker_of(line)] if changes_speaker or day else ""
    parts = [part for part in (day, label) if part]
    return f"{', '.join(parts)}: " if parts else ""


def speaker_of(line: ExtractLine) -> tuple[Role, str]:
    return (line.role, line.author) if line.role else _NARRATOR_KEY


def speaker_labels(
    lines: Iterable[ExtractLine], names: Mapping[str, str] | None = None, labels: Labels | None = None
) -> dict[tuple[Role, str], str]:
    """How the speakers of lines are shown, all distinct: by the labels of the context, by names, or by their ids."""
    speakers = list(dict.fromkeys([_NARRATOR_KEY, *(speaker_of(line) for line in lines)]))
    if labels is not None:
        shown = {speaker: labels[speaker] if speaker in labels else _signed_label(*speaker) for speaker in speakers}
        is_taken = NARRATOR.casefold() in map(str.casefold, labels.values())
        shown[_NARRATOR_KEY] = _signed_label(*_NARRATOR_KEY) if is_taken else NARRATOR
    elif names:
        shown = author_labels(speakers, names)
    else:
        shown = author_labels(speakers)
    return {(role, author): f"The {role}" if label == role else label for (role, author), label in shown.items()}


def _signed_label(role: Role, author: str) -> str:
    return with_sign(byline(author, role), author)


def guard_words(text: str, labels: Collection[str]) -> str:
    """Words that do not read as the line of another speaker, with or without a day before the name."""
    if ":" not in text and (text.isascii() or not _COLON.search(text)):
        return text
    text = without_posing(text, labels)
    return _DATED.sub(GUARD, text) if _YEAR.search(text) else text


def _with_stop(text: str, line: ExtractLine, after: ExtractLine | None) -> str:
    leads_in = line.kind == "heading" or line.text.rstrip().endswith((":", "："))
    is_listed = (
        (leads_in or line.kind == "item")
        and after is not None
        and after.kind == "item"
        and (after.turn, speaker_of(after)) == (line.turn, speaker_of(line))
    )
    if line.kind == "text":
        return text
    text = text.rstrip(_TRAIL + ".")
    if is_listed:
        return text + (":" if leads_in else ";")
    is_ended = text.rstrip(_QUOTES).endswith(_STOPS) or unicodedata.category(text[-1:] or ".") == "So"  # an emoji
    return text if is_ended else text + full_stop(line.text)


def _changes_day(line: ExtractLine, before: ExtractLine) -> bool:
    return line.time is not None and (before.time is None or before.time.date() != line.time.date())


def _day(line: ExtractLine) -> str:
    time = line.time
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}" if time is not None else ""


# -- as a stored object


def to_object(lines: Lines) -> dict[str, Any]:
    """The lines as JSON types."""
    if not lines:
        return {}
    return {"lines": [list(_values(line)) for line in lines]}


def from_object(value: Mapping[str, Any]) -> tuple[ExtractLine, ...]:
    """The lines that `to_object` wrote."""
    return tuple(
        ExtractLine(turn, role, author, text, None if time is None else from_microseconds(time), kind, leans)
        for turn, role, author, time, kind, leans, text in value.get("lines", ())
    )


def _values(line: ExtractLine) -> Iterator[str | int | None]:
    yield line.turn
    yield line.role
    yield line.author
    yield None if line.time is None else to_microseconds(line.time)
    yield line.kind
    yield line.leans
    yield line.text


# -- sentences that may be chosen

Count = Callable[[str], int]


@dataclass(slots=True)
class SummarySentence:
    """A sentence that may be chosen: the number of its source, its line, and what it rests on.

    `stands` says whether it may be chosen for itself; `needs` is the place of the statement it cannot be understood
    without, and `hangs` says that there is none; one that `follows` may be shown after it if there is room. `plain` is
    the sentence as it is judged: that of an English chat in plain spelling, without what only opens it.
    `corrected_by` is the place of the one that corrects it: without that, it is never chosen. `corrects` says that it
    is such a correction itself.
    """

    source: int
    line: ExtractLine
    sentence: Sentence
    stands: bool = True
    needs: int | None = None
    hangs: bool = False
    follows: bool = False
    corrected_by: int | None = None
    corrects: bool = False
    is_answered: bool = False
    is_news: bool = False
    telling: Telling = Telling.STATE
    plain: Sentence = field(init=False)

    def __post_init__(self) -> None:
        self.plain = self.sentence

    @property
    def is_of_person(self) -> bool:
        return self.line.role == "user" and self.line.kind == "prose"


class Wording(NamedTuple):
    """One wording of a sentence: whole, or its first clauses, and what its words weigh. The price is an estimate; taken
    forms are counted."""

    place: int
    text: str
    roots: frozenset[str]
    weight: float
    bonus: float
    price: float


# A sentence is shortened only where its rest begins so, and not if a part of the rest changes what is said.
_ADDS = lazy_pattern(
    r"^(?:(?:and|so)\s(?:i|we|you|he|she|it|they|there|my|our)\b|because|since|as|while|plus|especially|including|like|such\sas|with|even|along|for\sexample)\b",
    re.IGNORECASE,
)
_PAUSES = lazy_pattern(r"(?:[;；–—]|\s-+)\s*$")
_CONDITION = lazy_pattern(
    r"^(?:(?:but|and|or|so)\s)?(?:unless|except|provided|only|if|not|never|until|but|though|although|however|no|actually"
    r"|i\smean|rather|sorry|wait|instead|or|than|nor|yet|without)\b",
    re.IGNORECASE,
)
_NUMBERED = lazy_pattern(r"^\d{1,2}[.)]\s+")
_LEANS = lazy_pattern(
    r"^(?:given|since|if|when|while|although|though|as|after|before|because|by|speaking|even|which|who|where|whereas|in"
    r"|on|with|for|from|to|\w+ing)\b",
    re.IGNORECASE,
)
_DISTINGUISHED = lazy_pattern(
    r"\d\S?(?:\s\w{1,9})?\s?\([^()]{1,40}\)[^()]{1,80}\d\S?(?:\s\w{1,9})?\s?\("
)  # "30 (front) and 28 (rear)"
_TORN = lazy_pattern(r"(?:\s|^)(?:[$€£]?\d[\d.,:/]*|\w+['’])$")
_LONG = 90  # characters of a sentence that may be said shorter
_LEAST_WORDING = 4  # words of a shorter wording
_SAID_BY = {"user": 1.0, "assistant": 0.7}
_FRESH = 0.35  # of a sentence's weight has to be new
_LEAST = 0.6  # weight that has to be new: more than two ordinary words have
_THRIFT = 0.75  # how much the price of a sentence counts
_LABEL_PRICE = 2.0  # tokens
_NEWS = 2.0  # what a deed is worth however few and common its words, in the weight of words
_NOTE = 2.0  # what it is worth to know that there was code, in the weight of words
_ANSWERED = 0.5  # of the gain of a question that was answered: alone it tells little
_TOO_MUCH = 1.5  # times the limit: so much does not fit, whatever it costs exactly
_TRIES = 12  # forms in a row that turned out too long
_LEAST_TRACE = 12  # tokens of a beginning that says something
_CHAIN = 3  # statements that one may need, one after the other
_MOST_CHARACTERS = 40  # of a token, so that a cut looks at a part in proportion to the limit

has_word = re.compile(r"[^\W_]").search


def choose_lines(
    statements: Sequence[SummarySentence], language: str, limit: int, count: Count, *, traces: bool = False
) -> tuple[ExtractLine, ...]:
    """The best lines within the limit; none if there are none or no room. With `traces`, something of each source."""
    if limit < 1:
        return ()
    weights = weigh((statement.sentence for statement in statements if statement.stands), language)
    choice = _Choice(statements, list(_forms(statements, language, weights)), weights, limit, count)
    if not choice.take_all():
        choice.take_first()
        if traces:
            choice.trace()
        choice.fill()
    choice.follow()
    return choice.lines()


def cut_to_tokens(text: str, limit: int, count: Count) -> str:
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


def drop_torn_end(text: str) -> str:
    """A text that was cut, without words that are not to be the last: a number without what it counts, "the", "and"."""
    text = drop_dangling(" ".join(text.split())).rstrip(_TRAIL)
    while text and _TORN.search(text):
        text = drop_dangling(_TORN.sub("", text)).rstrip(_TRAIL)
    return text


# -- wordings


def _forms(statements: Sequence[SummarySentence], language: str, weights: Mapping[str, float]) -> Iterator[Wording]:
    last = -1
    needed = _needed_places(statements)
    for place, statement in enumerate(statements):
        if not statement.stands and not statement.follows and place not in needed:
            continue
        bonus = _bonus(statement, opens=statement.source != last)
        last = statement.source
        sentence = statement.sentence
        is_line = statement.line.kind == "text"
        is_short_correction = statement.corrects and statement.needs is not None
        options = (sentence.kind, language, is_line, is_short_correction)
        for text, roots, price in doc_of(sentence.text).read(_read_wordings, *options):
            yield Wording(place, text, roots, _total_weight(roots, weights), bonus, price)


def _needed_places(statements: Sequence[SummarySentence]) -> set[int]:
    """The places of what sentences that may be chosen need, and of what these need."""
    needed: set[int] = set()
    waiting = [statement.needs for statement in statements if statement.stands]
    while waiting:
        place = waiting.pop()
        if place is not None and place not in needed:
            needed.add(place)
            waiting.append(statements[place].needs)
    return needed


def _total_weight(roots: Iterable[str], weights: Mapping[str, float]) -> float:
    weight = weights.get
    return fsum([weight(root, _NOTE) for root in roots])  # exact: roots have no order


def _read_wordings(
    text: str, kind: Kind, language: str, is_line: bool, is_short_correction: bool
) -> tuple[tuple[str, frozenset[str], float], ...]:
    """The wordings of a sentence, each with its roots and its price."""
    wordings = (text,) if is_line else _wordings(Sentence(text, kind), is_short_correction)
    note_roots = frozenset({text})
    return tuple(
        [
            (
                wording,
                note_roots if kind == "note" else stems(wording, language),
                len(wording) / (1.2 if is_unspaced(wording) else 4.2) + 1,
            )
            for wording in wordings
        ]
    )


def _wordings(sentence: Sentence, is_short_correction: bool) -> Iterator[str]:
    """The sentence trimmed; for a long one also its first clauses, unless the rest changes their meaning."""
    is_kept_whole = is_short_correction or _DISTINGUISHED.search(sentence.text)
    full_text = _NUMBERED.sub("", _clean(sentence.text if is_kept_whole else drop_addition(trim(sentence.text))))
    full_text = _without_lone_quotes(full_text)
    if not has_word(full_text):
        return
    yield full_text
    if sentence.kind == "note" or sentence.is_question or len(full_text) <= _LONG or is_retraction(full_text):
        return
    parts = clauses(full_text)
    for length in range(len(parts) - 1, 0, -1):
        shorter = drop_dangling("".join(parts[:length]).rstrip(_TRAIL))
        if _may_stop_before(parts, length) and len(shorter.split()) >= _LEAST_WORDING and not _is_torn(shorter):
            yield shorter


def _without_lone_quotes(text: str) -> str:
    if text.count('"') == 1:  # the other one is in another sentence
        text = text.replace('"', "")
    if text.count("“") != text.count("”"):
        text = text.replace("“", "").replace("”", "")
    return text


def _may_stop_before(parts: Sequence[str], place: int) -> bool:
    """Whether a sentence may end before one of its clauses and still mean the same."""
    is_comma = parts[place - 1].rstrip().endswith(",")
    may_end = (is_comma and _ADDS.match(parts[place])) or _PAUSES.search(parts[place - 1])
    changes_meaning = any(_CONDITION.match(part) for part in parts[place:])
    leans = place == 1 and _LEANS.match(parts[0])
    return bool(may_end) and not changes_meaning and not leans


def _is_torn(text: str) -> bool:
    return bool(_TORN.search(text)) or text.count('"') % 2 == 1 or text.count("“") != text.count("”")


def _clean(text: str) -> str:
    return shortened_messages.clean(text) if "[" in text else text


def _bonus(statement: SummarySentence, *, opens: bool) -> float:
    matters, has_new_value, counts = doc_of(statement.sentence.text).read(read_signs)
    bonus = 0.8 if opens else 0.0
    bonus += 1.0 if matters else 0.0
    bonus += 2.0 if statement.corrects or has_new_value else 0.0
    bonus += 0.8 if counts else 0.0
    return bonus + (0.4 if statement.sentence.is_question and not statement.is_answered else 0.0)


# -- the choice


@dataclass(slots=True)
class _Choice:
    """Takes forms, at most one for each sentence, while there is room for them."""

    statements: Sequence[SummarySentence]
    forms: list[Wording]
    weights: Mapping[str, float]
    limit: int
    count: Count
    room: int = field(init=False)
    covered_roots: set[str] = field(default_factory=set)
    taken: dict[int, tuple[Wording, float]] = field(default_factory=dict)
    labels: Labels = field(init=False)
    by_place: dict[int, list[Wording]] = field(default_factory=dict)
    chains: dict[int, tuple[int, ...] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.room = self.limit
        self.labels = speaker_labels(statement.line for statement in self.statements)
        for form in self.forms:
            self.by_place.setdefault(form.place, []).append(form)
        self.chains = {place: self._find_chain(place) for place in self.by_place}

    def _find_chain(self, place: int) -> tuple[int, ...] | None:
        """The places that a statement needs, and theirs; None if it may not be chosen."""
        if not self.statements[place].stands:
            return None
        chain: list[int] = []
        at = self.statements[place].needs
        while at is not None:
            is_lost = at in chain or at not in self.by_place or self.statements[at].hangs
            if is_lost or len(chain) == _CHAIN:
                return None
            chain.append(at)
            at = self.statements[at].needs
        members = {place, *chain}
        corrections = [self.statements[member].corrected_by for member in members]
        if any(correction is not None and correction not in members for correction in corrections):
            return None
        return tuple(sorted(chain))

    def take_all(self) -> bool:
        """Take everything that may be chosen, if it fits: nothing tells a short exchange better."""
        choosable = [forms[0] for place, forms in self.by_place.items() if self.chains[place] is not None]
        if sum(form.price for form in choosable) > self.limit * _TOO_MUCH:
            return False
        if all(form.place in self.taken or not self.gain(form) or self.take(form, self.room) for form in choosable):
            return bool(self.taken)
        self.taken.clear()
        self.covered_roots.clear()
        self.room = self.limit
        return False

    def take_first(self) -> None:
        """Take corrections and news first, each in at most half of the room: what a correction corrects must not be all
        that is left, and what people begin with is why they talk."""
        for is_chosen in (attrgetter("corrects"), attrgetter("is_news")):
            for place, statement in enumerate(self.statements):
                if is_chosen(statement) and place in self.by_place and place not in self.taken:
                    for form in self.by_place[place]:
                        if self.take(form, self.room - self.limit // 2):
                            break

    def _choosable(self) -> list[Wording]:
        return [form for form in self.forms if self.chains[form.place] is not None]

    def trace(self) -> None:
        """Take something of each source, in its share of the room; if the room is too small, of the newest sources."""
        sources = sorted({statement.source for statement in self.statements})
        taken_sources = {self.statements[place].source for place in self.taken}
        for number, source in enumerate(reversed(sources)):
            share = self.room // (len(sources) - number) if self.room else 0
            if source in taken_sources:
                continue
            forms = [form for form in self._choosable() if self.statements[form.place].source == source]
            worth = sorted(forms, key=self.gain, reverse=True)
            fitting = [form for form in worth if self._price(form) <= share * 1.2][:_TRIES]
            shortest = sorted(forms, key=self._price)[:_TRIES]
            has_trace = any(self.take(form, share) for form in (*fitting, *shortest))
            # What somebody said is left out if it does not fit; only the prose of a model is cut.
            prose = [form for form in worth if not self.statements[form.place].line.role]
            if prose and not has_trace and share >= _LEAST_TRACE and not self.chains[prose[0].place]:
                self.take(self._beginning(prose[0], share), share)

    def fill(self) -> None:
        """Take forms by gain until there is no room. Gains only fall, so the best of the last round is tried first."""
        choosable = self._choosable()
        heap = [(-self.gain(form), number) for number, form in enumerate(choosable)]
        heapq.heapify(heap)
        misses = 0
        while heap and misses < _TRIES and self.room > 1:
            negative_gain, number = heapq.heappop(heap)
            form = choosable[number]
            if form.place in self.taken or not (gain := self.gain(form)):
                continue
            if heap and gain < -heap[0][0] and gain < -negative_gain:
                heapq.heappush(heap, (-gain, number))
            elif not self.take(form, self.room):
                misses += 1
        if not self.taken and choosable:
            best = max(choosable, key=self.gain)
            shortest = sorted(choosable, key=self._price)[:_TRIES]
            is_taken = any(self.take(form, self.room) for form in (best, *shortest))
            if not is_taken and not self.chains[best.place]:
                self.take(self._beginning(best, self.room), self.room)

    def follow(self) -> None:
        """Take what goes on with something taken, in order, while there is room: an exchange is told to its end."""
        for place in sorted(self.by_place):
            statement = self.statements[place]
            if statement.follows and statement.needs in self.taken and place not in self.taken:
                form = self.by_place[place][0]
                cost = self.count(f" {form.text}.") + self._label_cost(place)
                if cost <= self.room:
                    self.taken[place] = (form, 0.0)
                    self.room -= cost

    def lines(self) -> tuple[ExtractLine, ...]:
        """The forms taken, in order; those that gained least are dropped again while the text is over the limit."""
        while self.taken:
            lines = self._build_lines()
            if self.count(render_lines(lines)) <= self.limit:
                return lines
            needed = {at for place in self.taken for at in self.chains[place] or ()}
            droppable = [place for place in self.taken if place not in needed]
            del self.taken[min(droppable, key=lambda place: self.taken[place][1])]
            self._drop_unneeded()
        return ()

    def _build_lines(self) -> tuple[ExtractLine, ...]:
        places = sorted(self.taken)
        lines: list[ExtractLine] = []
        for number, place in enumerate(places):
            statement = self.statements[place]
            leans = number - places.index(statement.needs) if statement.needs in self.taken else 0
            text = shortened_messages.clean(self.taken[place][0].text)
            lines.append(replace(statement.line, text=text, leans=max(leans, 0)))
        return tuple(lines)

    def _drop_unneeded(self) -> None:
        """Drop what may not stay alone: what was taken only for another that is gone."""
        needed = {at for place in self.taken for at in self.chains[place] or ()}
        lonely = [place for place in self.taken if self.chains[place] is None and place not in needed]
        for place in lonely:
            if self.statements[place].needs not in self.taken or not self.statements[place].follows:
                del self.taken[place]

    def gain(self, form: Wording) -> float:
        """What a form with what it needs tells that is not told yet, each sentence by what it tells, for its price."""
        chain = [self.by_place[place][0] for place in self.chains[form.place] or () if place not in self.taken]
        price = form.price + sum(needed.price + _LABEL_PRICE for needed in chain)
        total = 0.0
        fresh = 0.0
        worth = 0.0
        known_roots = self.covered_roots
        for member in (form, *chain):
            new_weight = _total_weight(member.roots - known_roots, self.weights) if known_roots else member.weight
            total += member.weight
            fresh += new_weight
            worth += self._factor(member.place) * new_weight
            known_roots = known_roots | member.roots if chain else known_roots
        if fresh < max(_FRESH * total, _LEAST):
            return 0.0
        worth += _NEWS if self.statements[form.place].telling == Telling.DEED else 0.0
        return float(worth * (1 + form.bonus / 3) / (price + _LABEL_PRICE) ** _THRIFT)

    def _factor(self, place: int) -> float:
        statement = self.statements[place]
        factor = _SAID_BY.get(statement.line.role, 1.0) * WEIGHT[statement.telling]
        return factor * (_ANSWERED if statement.is_answered and statement.sentence.is_question else 1.0)

    def take(self, form: Wording, limit: int) -> bool:
        """Take a form and what it needs, if they fit the limit, with their speakers where the speaker changes."""
        chain = self.chains[form.place]
        if chain is None or not form.text or form.place in self.taken:
            return False
        new_forms = [*(self.by_place[place][0] for place in chain if place not in self.taken), form]
        cost = 0
        for new_form in new_forms:
            cost += self.count(f" {new_form.text}.") + self._label_cost(new_form.place)
        if cost > limit:
            return False
        gain = self.gain(form)
        for new_form in new_forms:
            self.taken[new_form.place] = (new_form, gain)
            self.covered_roots |= new_form.roots
        self.room -= cost
        return True

    def _price(self, form: Wording) -> float:
        needed = [place for place in self.chains[form.place] or () if place not in self.taken]
        return form.price + sum(self.by_place[place][0].price for place in needed)

    def _label_cost(self, place: int) -> int:
        before = max((other for other in self.taken if other < place), default=None)
        line_before = None if before is None else self.statements[before].line
        label = prefix(self.statements[place].line, line_before, self.labels)
        return self.count(f" {label.rstrip()}") if label else 0

    def _beginning(self, form: Wording, limit: int) -> Wording:
        room = limit - self._label_cost(form.place) - 2
        text = drop_torn_end(cut_to_tokens(form.text, room, self.count)) if room > 0 else ""
        beginning = f"{text}…" if has_word(text) else ""
        return Wording(form.place, beginning, form.roots, form.weight, form.bonus, form.price)


# -- extracts


MAX_CHARACTERS = 48_000
"""Characters that are read in all; if there are more, the longest texts are cut first."""


def gist(lines: Sequence[SpokenLine], limit: int, count: Count) -> tuple[ExtractLine, ...]:
    """A summary of the messages in at most `limit` tokens."""
    texts = limit_texts([line.text for line in lines])
    speakers = dict.fromkeys([(line.role, line.author) for line in lines])
    labels = {
        *NAMELESS,
        *speaker_labels(ExtractLine(0, role, author, "") for role, author in speakers).values(),
    }
    statements = list(_read_statements(lines, texts, labels))
    language = _read_language(statements)
    _mark_supports(statements, language)
    _mark_corrections(statements, language)
    _mark_tellings(statements, language, limit, in_order=True)
    if chosen_lines := choose_lines(_without_repetition(statements), language, limit, count):
        return chosen_lines
    whole_texts = [
        ExtractLine(line.turn, line.role, line.author, text, line.time) for line, text in zip(lines, texts, strict=True)
    ]
    return _first_excerpt([*_excerpt_lines(statements), *whole_texts], limit, count)


def _read_statements(
    lines: Sequence[SpokenLine], texts: Sequence[str], labels: Collection[str]
) -> Iterator[SummarySentence]:
    """The sentences with a word, each with the line it would be shown in: that gets its text when it is chosen."""
    is_english = detect(" ".join(texts[:_SAMPLE])) == "en"
    for number, (line, text) in enumerate(zip(lines, texts, strict=True)):
        lines_by_kind: dict[str, ExtractLine] = {}
        for sentence in sentences(text):
            words = sentence.text
            if not has_word(shortened_messages.drop_markers(words)):
                continue
            if sentence.kind == "prose" and line.role == "user":
                words = with_question_mark(words)
                words = told_part(words) if is_english else words
            kind = sentence.kind
            if kind not in lines_by_kind:
                lines_by_kind[kind] = ExtractLine(line.turn, line.role, line.author, "", line.time, kind)
            guarded_words = guard_words(words, labels)
            if guarded_words != sentence.text:
                sentence = replace(sentence, text=guarded_words)
            yield SummarySentence(number, lines_by_kind[kind], sentence)


def condense(parts: Sequence[Lines], limit: int, count: Count) -> tuple[ExtractLine, ...]:
    """One extract of several, oldest first; something of each is kept if there is room for it."""
    texts = iter(limit_texts([line.text for part in parts for line in part]))
    statements: list[SummarySentence] = []
    for number, part in enumerate(parts):
        first = len(statements)
        for at, line in enumerate(part):
            text = next(texts)
            if line.kind == "text":
                text = first_sentences(text, max(limit // len(parts), 1), count)
            needs = first + at - line.leans if 0 < line.leans <= at else None
            sentence = Sentence(text, line.kind if line.kind in ("item", "heading", "note") else "prose")  # type: ignore[arg-type]
            stands = bool(has_word(text)) and line.kind != "heading" and not (line.role and is_filler(sentence))
            statements.append(SummarySentence(number, replace(line, text=text), sentence, stands, needs))
    language = _read_language(statements)
    if not any(statement.stands for statement in statements):
        for statement in statements:
            statement.stands = True
    _mark_unclear(statements, language)
    _mark_corrections(statements, language)
    _mark_tellings(statements, language, limit)
    chosen_lines = choose_lines(_without_repetition(statements), language, limit, count, traces=True)
    return chosen_lines or _first_excerpt(_excerpt_lines(statements), limit, count)


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
    return prefix or cut_to_tokens(text, limit, count)


def limit_texts(texts: Sequence[str]) -> list[str]:
    """The texts without invisible characters, the longest cut in the middle until the total is bounded."""
    limit = size_limit([len(text) for text in texts], MAX_CHARACTERS)
    return [escaping.strip_invisible(_both_ends(limit_text(text), limit)) for text in texts]


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


# -- what is known of the sentences


def _read_language(statements: Sequence[SummarySentence]) -> str:
    """The language of sentences, which are then spelt plainly if it is English."""
    language = detect(" ".join(statement.sentence.text for statement in statements[:40]))
    for statement in statements if language == "en" else ():
        sentence = statement.sentence
        if sentence.kind == "prose" and (plain := strip_opening(sentence.text)) != sentence.text:
            statement.plain = Sentence(plain, sentence.kind, sentence.lead, sentence.continues_item)
    return language


def _mark_supports(statements: Sequence[SummarySentence], language: str) -> None:
    """Note what each sentence needs to be understood; if none stands alone, all of them do."""
    supports = find_supports(
        [SourcedSentence(statement.source, speaker_of(statement.line), statement.plain) for statement in statements],
        language,
    )
    if not any(support.stands for support in supports):
        fillers = [statement for statement in statements if is_filler(statement.sentence)]
        for statement in fillers if len(fillers) < len(statements) else ():
            statement.stands = False
        return
    for statement, support in zip(statements, supports, strict=True):
        statement.stands, statement.needs = support
        if support.needs is not None:
            statements[support.needs].is_answered = True
    for statement, following in pairwise(statements):
        statement.is_answered |= following.source != statement.source and statement.sentence.is_question


def _mark_tellings(statements: Sequence[SummarySentence], language: str, limit: int, *, in_order: bool = False) -> None:
    """Note what each sentence tells. Where people tell what they did, have or plan, what they only feel is not chosen,
    and where they tell much, nothing else is. `in_order`: they are all that was said, nothing between them."""
    if language != "en":
        return
    for statement in statements:
        if statement.is_of_person:
            statement.telling = telling_of(statement.sentence.text)
            statement.stands = statement.stands or tells_deed(statement.plain)
    if in_order:
        _mark_context(statements)
        _mark_news(statements)
    least = _least_telling(statements, limit)
    for statement in statements:
        statement.stands = statement.stands and _may_stay(statement, statements, least)


def _mark_context(statements: Sequence[SummarySentence]) -> None:
    """Note, for those of people's sentences that cannot be understood alone, what was said right before them: an answer
    needs its question, "they got engaged" the line that says who. So what matters can be chosen with its context. A
    question that got an answer is not chosen without it.

    It begins at the end: what a sentence goes on with is looked for only if it may be chosen, or if a later one needs
    it."""
    needed: set[int | None] = set()
    answered: set[int] = set()
    for place in range(len(statements) - 1, -1, -1):
        statement = statements[place]
        if statement.is_of_person and statement.needs is None and not is_caption(statement.sentence):
            questions = _questions_before(statements, place)
            if len(questions) == 1 and _is_answer(statement, statements[questions[0]]):
                answered.add(questions[0])
                _mark_answer(statement, questions[0])
            elif not statement.stands:
                _mark_line_before(statements, place, len(questions), is_needed=place in needed)
        needed.add(statement.needs)
        if place in answered:
            statement.stands = False


def _is_answer(statement: SummarySentence, question: SummarySentence) -> bool:
    """Whether a statement answers the only question before it."""
    return is_yes_or_no(statement.sentence, question.sentence) or answers(
        statement.plain, question.sentence, statement.stands
    )


def _mark_answer(statement: SummarySentence, question: int) -> None:
    statement.needs = question
    statement.hangs = False
    statement.stands = True
    statement.telling = max(statement.telling, Telling.STATE)
    statement.follows = _may_follow(statement.plain)


def _mark_line_before(statements: Sequence[SummarySentence], place: int, questions: int, *, is_needed: bool) -> None:
    """Note what a statement that cannot be understood alone points back to. Of two questions nobody knows which is
    meant."""
    statement = statements[place]
    sentence = statement.plain
    tells = statement.telling > Telling.FELT and not sentence.is_question and may_be_told(sentence)
    if not (tells or is_needed or _may_follow(sentence)) or not leans_on_context(sentence):
        return
    statement.needs = _place_before(statements, place, sentence) if questions < 2 else None
    statement.hangs = statement.needs is None and not sentence.is_question
    statement.stands = tells and statement.needs is not None
    statement.follows = statement.needs is not None and _may_follow(sentence)


def _may_follow(sentence: Sentence) -> bool:
    """Whether a sentence that goes on with another is worth its place after it: it proposes a number or a day, or says
    more than a word that is no judgement."""
    if sentence.is_question:
        _, _, counts = doc_of(sentence.text).read(read_signs)
        return counts
    is_word = len(sentence.text.split()) < 2
    return not is_word and may_be_told(sentence) and says_something(sentence) and not is_judgement(sentence.text)


def _questions_before(statements: Sequence[SummarySentence], place: int) -> list[int]:
    """The places of the questions of another person in which the message before ends, for the first sentence of a
    message."""
    places: list[int] = []
    for earlier in range(place - 1, -1, -1):
        statement = statements[earlier]
        is_own = speaker_of(statement.line) == speaker_of(statements[place].line)
        if is_own or (places and statement.source != statements[places[0]].source):
            break
        if is_caption(statement.sentence):
            continue
        if not statement.sentence.is_question or is_filler(statement.sentence):
            break
        places.append(earlier)
    return places


def _place_before(statements: Sequence[SummarySentence], place: int, sentence: Sentence) -> int | None:
    """The place of what was said right before a sentence that may be what it points to. For "he" or "she" it is the
    last sentence with a person, else the last that tells or asks something."""
    source = statements[place].source
    back = takewhile(lambda at: source - statements[at].source <= _NEAR, range(place - 1, -1, -1))
    near = (at for at in back if not is_caption(statements[at].sentence) and says_something(statements[at].sentence))
    if not wants_person(sentence):
        return next((at for at in near if _may_lead(statements[at])), None)
    places = [*near]
    named = next((at for at in places if names_person(statements[at].sentence)), None)
    if named is not None or (places and statements[places[0]].source == source):
        return named
    return next((at for at in places if _may_lead(statements[at])), None)


def _may_lead(statement: SummarySentence) -> bool:
    """Whether a sentence that another goes on with says of what that one speaks."""
    is_told = statement.telling > Telling.FELT and may_be_told(statement.sentence)
    return statement.sentence.is_question or is_told


def _mark_news(statements: Sequence[SummarySentence]) -> None:
    """Mark the first that each person tells as their news: it counts as a deed."""
    speakers = set[tuple[Role, str]]()
    for statement in statements:
        tells = statement.stands and statement.telling >= Telling.STATE
        if tells and statement.is_of_person and speaker_of(statement.line) not in speakers:
            statement.telling = Telling.DEED
            statement.is_news = True
            speakers.add(speaker_of(statement.line))


_NEAR = 4  # messages back to what a sentence goes on with
_SAMPLE = 20  # messages by which the language is told
# Characters for each token of a summary: of so few that people did, have or plan, other things are chosen, too;
_LITTLE = 2
_ALL = 3  # and of so few in all.


def _least_telling(statements: Sequence[SummarySentence], limit: int) -> Telling:
    """What a sentence has to tell to be chosen: the more is told, the more."""
    sizes = {
        telling: sum(len(other.sentence.text) for other in statements if other.stands and _tells(other, telling))
        for telling in (Telling.PLAIN, Telling.STATE)
    }
    if not sizes[Telling.STATE]:
        return Telling.FELT
    is_little = sizes[Telling.STATE] < _LITTLE * limit or sizes[Telling.PLAIN] < _ALL * limit
    return Telling.PLAIN if is_little else Telling.STATE


def _tells(statement: SummarySentence, telling: Telling) -> bool:
    return statement.is_of_person and statement.telling >= telling and not statement.sentence.is_question


def _may_stay(statement: SummarySentence, statements: Sequence[SummarySentence], least: Telling) -> bool:
    """Whether a sentence tells enough to be chosen; an answer counts with its question."""
    if not statement.is_of_person or statement.corrects or statement.corrected_by is not None:
        return True
    needed = None if statement.needs is None else statements[statement.needs]
    is_answer = needed is not None and needed.sentence.is_question and needed.source != statement.source
    return statement.telling >= least or is_answer


def _mark_unclear(statements: Sequence[SummarySentence], language: str) -> None:
    """Mark lines of extracts that can no longer be understood alone as not to be chosen: an extract has such a line
    where its messages had nothing better. If none can be understood, all stay."""
    standing = [statement for statement in statements if statement.stands]
    for statement in standing:
        statement.stands = _is_clear_line(statement, language)
    lost = [statement for statement in standing if not _is_led_in(statements, statement)]
    for statement in lost:
        statement.stands = False
    if not any(statement.stands for statement in standing):
        for statement in standing:
            statement.stands = True


def _is_led_in(statements: Sequence[SummarySentence], statement: SummarySentence) -> bool:
    """Whether the line that another needs can be understood: it stands, asks, or introduces a list."""
    if statement.needs is None:
        return True
    needed = statements[statement.needs]
    return needed.stands or needed.sentence.is_question or needed.sentence.text.rstrip().endswith((":", "："))


def _is_clear_line(statement: SummarySentence, language: str) -> bool:
    has_context = statement.needs is not None or not statement.line.role or statement.line.kind == "text"
    return has_context or stands_alone(statement.sentence, language)


def _mark_corrections(statements: Sequence[SummarySentence], language: str) -> None:
    """Mark those that a later one corrects."""
    claims = [
        ComparedSentence(
            statement.line.turn,
            speaker_of(statement.line),
            statement.stands and statement.needs is None,
            statement.sentence.text,
            language,
        )
        for statement in statements
    ]
    for correction in find_corrections(claims):
        earlier = statements[correction.earlier]
        later = statements[correction.later]
        if correction.together and not earlier.stands:
            continue  # what nobody can understand is not shown, and so needs no correction
        earlier.corrected_by = correction.later
        later.corrects = later.stands = True
        later.needs = correction.earlier if correction.together else later.needs


def _without_repetition(statements: Sequence[SummarySentence]) -> list[SummarySentence]:
    """The statements, with those that are said again word for word not to be chosen, except the last of them."""
    last_places = {statement.sentence.text: place for place, statement in enumerate(statements)}
    return [
        statement if last_places[statement.sentence.text] == place else replace(statement, stands=False)
        for place, statement in enumerate(statements)
    ]


def _excerpt_lines(statements: Sequence[SummarySentence]) -> list[ExtractLine]:
    """The lines that may be cut short, best first; never what was corrected."""
    current = [statement for statement in statements if statement.corrected_by is None]
    ranked = sorted(current, key=lambda statement: (not statement.stands, statement.needs is not None))
    return [replace(statement.line, text=statement.sentence.text) for statement in ranked]


def _first_excerpt(lines: Iterable[ExtractLine], limit: int, count: Count) -> tuple[ExtractLine, ...]:
    """As much of the first line with a word as there is room for: used if nothing else fits."""
    for line in lines:
        text = shortened_messages.clean(line.text)
        if limit < 1 or not has_word(text):
            continue
        for form in (replace(line, text=text), whole_line(text, line.turn)[0]):
            if excerpt := _shorten_line(form, limit, count):
                return (excerpt,)
    return ()


def _shorten_line(line: ExtractLine, limit: int, count: Count) -> ExtractLine | None:
    """The beginning of a line that fits the limit with its speaker; None if not even a word does."""
    room = limit
    while room > 0:
        text = cut_to_tokens(line.text, room, count)
        if text != line.text:
            text = drop_torn_end(text) or text
        if not has_word(text):
            return None
        shorter = replace(line, text=text)
        excess = count(render_lines([shorter])) - limit
        if excess <= 0:
            return shorter
        room -= excess
    return None
