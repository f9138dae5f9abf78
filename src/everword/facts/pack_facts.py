"""Facts in a message by the patterns of its language's pack, without a model: what the English rules do for English.

A pack's `fact_patterns.txt` is data (docs/patterns.md says how to write it). A message is cut into sentences and these
into clauses; what asks, supposes, quotes, jokes or tells what others said is left out, as the pack words it. Each line
of `[patterns]` names a category and a key of facts, as English facts have them, and a wording that is matched from the
first word of a clause. A value is made of words of the message alone, and is never translated; a verb or a pronoun of
the first person is put into the third by the pack's own tables, as English facts are told. A language without such a
file gives nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache
from itertools import islice
from typing import cast

from everword.facts.english.finder import mark_echoes
from everword.facts.rules.deciding import acceptable_facts
from everword.model import FactCategory, FoundFact
from everword.text.dates import TimeSpan, days_of, next_after, spans
from everword.text.detect import detect, function_words
from everword.text.doc import lower_words
from everword.text.language_packs import NEVER, Wordings, packs_with
from everword.text.own_words import own_words
from everword.text.sentences import Sentence, limit_text, sentences
from everword.word_lists import lazy_pattern

FILE = "fact_patterns"
PACK_LANGUAGES = frozenset(packs_with(FILE))
"""The languages whose facts are read by patterns of a pack."""

MAX_WORDS = 18
"""Words of a value; a longer one is a story."""
MAX_CHARACTERS = 120
MAX_CLAUSES = 200
"""Clauses of a message that are read."""
MAX_MENTIONS = 8_000
"""Characters of a message in which people named in passing are looked for."""
MOST_PARTS = 2
"""Parts after a clause that belong to it, at most."""
MOST_CLAUSES = 3
"""Clauses over which a statement may go: "Ana, my sister, lives in Rome"."""
LONGEST_PART = 5
"""Words of such a part."""
LEAST_LETTERS = 3
"""Letters of a word that says something, in a script with spaces."""

FLAGS = ("anywhere", "follows", "changes", "ended", "denied")
"""What a pattern may say of itself after its key: it is looked for in the whole message, it goes on about somebody of
whom was told before, its value is a new one, an old one, or is denied."""
LOOSE_NAMES = ("name", "call me")
"""The keys whose values may be written in small letters, if the whole message is."""

_CONFIDENCE = 0.9
_STATEMENT_CONFIDENCE = 0.8
_IMPORTANCE: dict[str, float] = {
    "name": 1.0, "allergies": 0.95, "diet": 0.9, "avoids": 0.8, "conditions": 0.8, "location": 0.8, "job": 0.8,
    "identity": 0.65, "instruction": 0.9, "relationship": 0.45, "work": 0.45, "health": 0.45, "preference": 0.5,
}  # fmt: skip

_UPPER = r"(?-i:[A-ZÀ-ÖØ-ÞŒА-ЯЁ])"
_NAME = rf"{_UPPER}[\w'’&-]+(?:\s{_UPPER}[\w'’&-]+){{0,2}}"
_SLOTS = {
    "name": _NAME,
    "any_name": rf"{_NAME}|\w[\w'’-]+",
    "place": rf"{_NAME}(?:(?:\s|-)(?:\w{{1,3}}\s){{1,2}}{_NAME})?",
    "number": r"\d{1,4}",
    "word": r"\w[\w'’-]*",
    "thing": r"[^,;:.!?()…–—\n]{2,100}",
    "rest": r".{2,200}",
    "front": r"(?:[^,;:.!?()…–—\n]|(?<=\d)\.){2,60}?",
}
_QUOTATION = lazy_pattern(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|„([^“”\n]{1,400})[“”]|「([^」\n]{1,400})」|『([^』\n]{1,400})』"
)
_IRONY = lazy_pattern(r"[🙄😜😝🤪😏]|(?:^|\s)/s\b")
_CODE = lazy_pattern(r"(?s)```.*?(?:```|$)|`[^`\n]{1,200}`|https?://\S+")
_MARKS = " \t,;:.!?…–—-~～。、，！？；：·*_\"'’()（）"
_COMMAS = (",", "，", "、", "-", "–", "—")
_PAREN = lazy_pattern(r"\s*[(（][^()（）]{0,200}[)）]")
_SMALL_STOP = lazy_pattern(r"(?<=[^\W\d_]{3})(\s?[.!?]+)\s+(?=[a-zß-öø-ÿœа-яё])")
_LAUGHTER = lazy_pattern(
    r"(?i)(?<!\w)(?:a?(?:ha){2,}h?|a?(?:ja){2,}j?|(?:je){2,}|k{3,}|(?:rs){2,}|mdr+|lol|xd+|а?(?:ха){2,}х?|\)\)+)(?!\w)"
    r"|\){2,}|(?<![(（\d])(?<=\w)\)(?=\s[^()]*$)|哈{2,}|[（(]?笑[）)]?(?=[。！!]|$)|(?<=[ぁ-ん一-龥])[wｗ]{1,20}(?=[。！!\s]|$)"
)
_EMOJI = lazy_pattern("[\u2190-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+")
_YEAR_OF_A_THING = lazy_pattern(r"(?i)(?:de|del|do|von|vom) \d{4}")
"""A year that is said of a thing and not of what happened: "bought a Fiat of 2009"."""
NO_BREAK = "\ue000"
_LONG_QUOTE = 4  # words, or thrice as many characters where words are not spaced


@dataclass(frozen=True, slots=True)
class FactPattern:
    """A wording and the fact that it states. `key` and `template` name slots of the wording in braces."""

    category: str
    key: str
    flag: str
    wording: re.Pattern[str]
    template: str
    across_clauses: bool

    @property
    def is_statement(self) -> bool:
        """Whether it states a clause rather than a value."""
        return "rest" in self.wording.groupindex


class FactPack(Wordings):
    """The patterns and words of one language. Marks on letters count: a value is made of words as they stand."""

    is_folded = False

    def __init__(self, language: str) -> None:
        super().__init__(language, FILE)
        self.pointers = frozenset(self.words("pointers"))
        # The characters that are written in another way too, as those of Chinese are.
        self._variants = {pair[0]: pair[1:] for pair in self.words("variants")}
        self._plain_characters = {ord(way): plain for plain, ways in self._variants.items() for way in ways}
        # The words for relations and the key of each.
        self.kin = {word.casefold(): key for key, words in self.word_table("kin").items() for word in words}
        # The verbs of the first person: the category of what each states, and its third person; and those that state
        # something only with another: "habe … gekauft".
        self.verbs = self._verb_table("verbs")
        self.auxiliaries = self._verb_table("aux")
        self.prepositions = frozenset(self.words("prepositions"))
        self._read_patterns()

    def _read_patterns(self) -> None:
        """Read what is matched. No pattern is compiled before it is used."""
        self.shifts = self._build_shifts()
        all_patterns = [self._pattern(line) for line in self.rows("patterns")]
        # Those that are matched from the beginning of a clause; and those that are looked for anywhere in a sentence:
        # somebody named in passing.
        self.patterns = [pattern for pattern in all_patterns if pattern.flag != "anywhere"]
        self.mentions = [pattern for pattern in all_patterns if pattern.flag == "anywhere"]
        self.refused = self._any_of("refused")
        self.reports = self._any_of("reports")
        self.passing = self._any_of("passing")
        self.stops = self._any_of("stops")
        self.joints = self._any_of("joints", bounded=False)
        # What makes a statement unclear by itself: it points at what stands elsewhere.
        self.unclear = self._any_of("unclear")
        self.breaks = self._build_breaks()
        # What a person says of themselves: words in quotation marks that have it are another's, or a title.
        self.own_verb = self._any_verb()
        self.openers = self._build_openers()
        self.past = self._part_pattern("past")
        self.habit = self._part_pattern("habit")
        self.future = self._part_pattern("future")
        # What says when, and by itself says nothing of somebody.
        self.times = self.compile("|".join(self.parts.get(name) or NEVER for name in ("lead", "future")), bounded=True)
        # The speaker as an object, who is told of in the third person only where they are the subject too.
        self.own_pronouns = self._part_pattern("me")
        # Somebody of the speaker's as the subject of a sentence, whom a next one may go on about.
        self.subject = self._part_pattern("subject", f"(?P<who>{NEVER})")
        self._own_subject = self._part_pattern("self")
        self._unbroken = self.compile(self.parts.get("unbroken", NEVER), bounded=False)
        self._kin_first = self._build_kin_first()

    def _part_pattern(self, name: str, default: str = NEVER) -> re.Pattern[str]:
        return self.compile(self.parts.get(name, default), bounded=True)

    def _verb_table(self, entry: str) -> dict[str, tuple[str, str]]:
        verbs: dict[str, tuple[str, str]] = {}
        for category, words in self.word_table(entry).items():
            for word in words:
                first, _, third = word.partition("=")
                verbs[first.casefold()] = category, third or first
        return verbs

    def _build_shifts(self) -> list[tuple[re.Pattern[str], str]]:
        """What is replaced where words of the first person are told of somebody."""
        lines = [line.partition(" =") for line in self.rows("shifts")]
        return [(self.compile(old, bounded=True), new.strip()) for old, _, new in lines]

    def _build_breaks(self) -> re.Pattern[str]:
        """What shows that a part of a sentence is a thought of its own."""
        words = [*self.verbs, *self.auxiliaries, *self.pointers]
        literals = "|".join(re.escape(word).replace(r"\ ", " ") for word in words)
        parts = [self.parts.get("third", ""), self.parts["my"]]
        rows = [row for entry in ("stops", "openers", "breaks") for row in self.rows(entry)]
        return self.compile("|".join(filter(None, [literals, *parts, *rows])), bounded=True)

    def _any_verb(self) -> re.Pattern[str]:
        """Any verb of the first person that is not one of the third too."""
        verbs = [verb for verb, (_, third) in {**self.verbs, **self.auxiliaries}.items() if verb != third]
        literals = "|".join(re.escape(verb).replace(r"\ ", " ") for verb in verbs if len(verb) > 1)
        own = self.parts.get("self", NEVER)
        return self.compile(literals + f"|{own}" if self.is_spaced and literals else own, bounded=True)

    def subject_of(self, clause: str, who: str | None) -> str | None:
        """Who is told of in a clause, if `who` was before it: somebody of the speaker's, the speaker (an empty text),
        or nobody who was named."""
        other = self.subject.match(clause)
        if other:
            return other["who"]
        return "" if self._own_subject.match(clause) else who

    @property
    def leaves_out_subject(self) -> bool:
        """Whether a verb does not show that the speaker is meant."""
        return "self" in self.parts

    def join_dates(self, text: str) -> str:
        """The text with a mark in place of a space after which no sentence begins: "1. März"."""
        return self._unbroken.sub(lambda date: date[0].replace(" ", NO_BREAK), text)

    def goes_on(self, part: str) -> bool:
        """Whether a part of a sentence begins with a name, a number or a preposition, as what goes on does."""
        words = part.split()
        if not self.is_spaced:
            return part[:1].isdigit()
        return bool(words) and (not words[0][0].islower() or words[0].casefold() in self.prepositions)

    def _build_openers(self) -> re.Pattern[str]:
        gap = r"(?:[,:.!…、，。：！~～–—-]+\s*|\s+)"
        if not self.is_spaced:  # a word of two characters may be the beginning of another
            gap = rf"(?:{gap}|(?<=[^\s、，。！]{{3}}))"
        openers = self._in_each_script(self.part("openers"))
        return re.compile(rf"(?:(?:{openers}){gap})+", re.IGNORECASE)

    def _in_each_script(self, expression: str) -> str:
        """A regular expression that matches each way in which characters are written."""
        if not self._variants:
            return expression
        characters: list[str] = []
        in_class = False
        for character in expression:
            in_class = character == "[" or (in_class and character != "]")
            ways = character + self._variants.get(character, "")
            characters.append(ways if in_class or len(ways) == 1 else f"[{ways}]")
        return "".join(characters)

    def plain(self, text: str) -> str:
        """A text as the words of this pack are written."""
        return text.casefold().translate(self._plain_characters)

    def _pattern(self, line: str) -> FactPattern:
        head, wording, *template = [part.strip() for part in line.split(" | ")]
        place, _, last = head.rpartition(" ")
        place, flag = (place, last) if last in FLAGS else (head, "")
        category, _, key = place.partition(".")
        slots = re.findall(r"(?:\{|\?P<)([a-z]\w*)[}>]", wording)
        default = next((slot for slot in ("thing", "rest", "place", "number", "name") if slot in slots), "")
        across = any(mark in re.sub(r"\{[\d,]+\}|\[[^]]*\]", "", wording) for mark in ",—")
        if key in LOOSE_NAMES and not across:  # "I am pregnant, since May" tells no name
            wording = wording.replace("{name}", "{any_name}")
        text = template[0] if template else f"{{{default}}}"
        return FactPattern(category, key or category, flag, self.compile(wording, bounded=True), text, across)

    def _any_of(self, entry: str, *, bounded: bool = True) -> re.Pattern[str]:
        return self.compile("|".join(self.rows(entry)) or NEVER, bounded=bounded)

    def compile(self, wording: str, *, bounded: bool) -> re.Pattern[str]:
        """A wording as a pattern, between words if it is bounded."""
        text = self.fill(wording)
        if bounded and self.is_spaced:
            text = rf"(?<!\w)(?:{text})(?:(?<=\W)|(?!\w))"
        return lazy_pattern(self._in_each_script(text), re.IGNORECASE)

    def part(self, name: str) -> str:
        tables: dict[str, Mapping[str, object]] = {"kin": self.kin, "verb": self.verbs, "aux": self.auxiliaries}
        if name in tables:
            words = sorted(tables[name], key=len, reverse=True)
            literals = "|".join(re.escape(word).replace(r"\ ", " ") for word in words)
            return rf"(?P<{name}>{literals})" + (r"(?!\w)" if self.is_spaced else "")
        slot = name.removeprefix("any_")
        if name in _SLOTS:
            own_slot = self.parts.get(f"{slot}_slot")
            return rf"(?P<{slot}>{self.fill(own_slot) if own_slot else _SLOTS[name]})"
        return f"(?P<animal>{self.fill(self.parts[name])})" if name == "animal" else super().part(name)

    def lower_first(self, text: str) -> str:
        """What stood first in a sentence, as it stands in the middle of one."""
        small = self.compile(self.parts.get("small", r"\w+"), bounded=True)
        return text[:1].lower() + text[1:] if small.match(text) else text

    def lower_kin(self, text: str) -> str:
        """A statement that begins with one of the speaker's people, as it stands in the middle of a sentence."""
        return text[:1].lower() + text[1:] if self.language != "de" and self._kin_first.match(text) else text

    def _build_kin_first(self) -> re.Pattern[str]:
        kin = "|".join(map(re.escape, self.kin))
        return self.compile(f"{self.parts['my']}|{self.parts.get('kin_to', NEVER)}|{kin}", bounded=True)

    def shift(self, text: str) -> str:
        """The text with words of the first person in the third."""
        for old, new in self.shifts:
            text = old.sub(new, text)
        return " ".join(text.split())


@cache
def fact_pack(language: str) -> FactPack:
    return FactPack(language)


def usual_language(texts: Sequence[str]) -> str:
    """The language that most of a conversation is in; a long text tells its own better than a short one."""
    letters: Counter[str] = Counter()
    for text in texts:
        letters[detect(text)] += len(text)
    return max(sorted(letters), key=letters.__getitem__, default="")


def _facts_in_questions(spoken: Sequence[Sentence], pack: FactPack, is_lower: bool) -> list[FoundFact]:
    """Who somebody says to be while they ask."""
    asked = [_tidy(sentence.text) for sentence in spoken if sentence.is_question]
    named = _mentioned_facts(" ".join(words for words in asked if not pack.refused.search(words)), pack, is_lower)
    return [fact for fact in named if fact.category == "identity"]


def read_pack_facts(
    text: str, language: str, now: datetime | None = None, shown_texts: Sequence[str] = ()
) -> list[FoundFact]:
    """The facts that a message in a language with a pack states of its author, as `finder.read_facts` gives them."""
    if language not in PACK_LANGUAGES:
        return []
    pack = fact_pack(language)
    is_lower = text.islower()
    spoken = [*_spoken_sentences(text, pack)]
    statements = [words for sentence in spoken if (words := _stated_text(sentence, pack)).strip(_MARKS)]
    facts = [*_mentioned_facts(" ".join(statements)[:MAX_MENTIONS], pack, is_lower)]
    facts += _facts_in_questions(spoken, pack, is_lower)
    who: str | None = None
    clauses = (clause for sentence in statements for clause in _clauses(sentence, pack))
    for clause in islice(clauses, MAX_CLAUSES):
        who = pack.subject_of(clause.text, who)
        facts += _clause_facts(clause, pack, who, is_lower, now)
    facts = [fact for fact in facts if not _is_repeated(fact, facts, language)]
    return mark_echoes(acceptable_facts(facts), text, shown_texts)


def _spoken_sentences(text: str, pack: FactPack) -> Iterator[Sentence]:
    """The sentences in which the author speaks and means it."""
    text = pack.join_dates(_CODE.sub(" … ", own_words(limit_text(text))))
    text = _QUOTATION.sub(lambda quote: _unquote(quote, pack), text)
    for sentence in sentences(_SMALL_STOP.sub(r"\1\n", _LAUGHTER.sub(" ", text))):
        if sentence.kind in ("prose", "item") and not _IRONY.search(sentence.text):
            yield sentence


def _stated_text(sentence: Sentence, pack: FactPack) -> str:
    """What a sentence states; of a question, what is stated before it; nothing from where others are quoted on."""
    words = sentence.text.partition("¿")[0]
    if sentence.is_question and words == sentence.text:
        *_, last = [0, *(cut.start() for cut in pack.joints.finditer(words))]
        words = words[:last]
    if report := pack.reports.search(words):
        words = words[: max((cut.start() for cut in pack.joints.finditer(words, 0, report.start())), default=0)]
    return "" if pack.refused.search(words) else _tidy(_PAREN.sub(" ", words))


def _tidy(text: str) -> str:
    return " ".join(_EMOJI.sub(" … ", text).replace(NO_BREAK, " ").split())


def _unquote(quotation: re.Match[str], pack: FactPack) -> str:
    inner = next(group for group in quotation.groups() if group is not None)
    is_long = len(inner) > 3 * _LONG_QUOTE if not pack.is_spaced else len(inner.split()) > _LONG_QUOTE
    return " … " if is_long or pack.own_verb.search(inner) else inner


def _mentioned_facts(text: str, pack: FactPack, is_lower: bool) -> Iterator[FoundFact]:
    """What is told in passing, anywhere in a text."""
    for pattern in pack.mentions:
        for match in pattern.wording.finditer(text):
            fact = _build_fact(pattern, match, match[0], pack, is_lower)
            if fact is not None:
                yield fact


def _clauses(sentence: str, pack: FactPack) -> Iterator[_Clause]:
    start = 0
    ends = [*((cut.start(), cut.end()) for cut in pack.joints.finditer(sentence)), (len(sentence), len(sentence))]
    for number, (end, next_start) in enumerate(ends):
        opener = pack.openers.match(sentence, start)
        begin = opener.end() if opener and opener.end() <= end else start
        clause = sentence[begin:end].rstrip(_MARKS)
        if clause.strip(_MARKS):
            whole = sentence[begin : _end_of_thought(sentence, ends[number:], pack)].rstrip(_MARKS)
            longer = [sentence[begin:other].rstrip(_MARKS) for other, _ in ends[number : number + MOST_CLAUSES]]
            yield _Clause(clause, (whole, *longer), sentence[begin:])
        start = next_start


def _end_of_thought(sentence: str, ends: Sequence[tuple[int, int]], pack: FactPack) -> int:
    """Where a clause ends with the short parts after it that have no verb: "works in a shop, La Marea, since 2015"."""
    end, start = ends[0]
    for next_end, next_start in ends[1 : 1 + MOST_PARTS]:
        part = sentence[start:next_end]
        is_joined = sentence[end:start].strip() in _COMMAS and len(part.split()) <= LONGEST_PART
        if not (is_joined and len(part) <= LONGEST_PART * 8 and pack.goes_on(part)) or pack.breaks.search(part):
            break
        end, start = next_end, next_start
    return end


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause; the same with the parts that belong to it, and with one clause after the other; all that is left of its
    sentence."""

    text: str
    longer: tuple[str, ...]
    onwards: str

    def texts_for(self, pattern: FactPattern) -> list[str]:
        """What a pattern is tried on, one after the other."""
        if not pattern.is_statement:
            return [self.onwards if pattern.across_clauses else self.text]
        texts = self.longer if pattern.across_clauses else (self.longer[0], self.text)
        return list(dict.fromkeys(texts))


def _clause_facts(
    clause: _Clause, pack: FactPack, who: str | None, is_lower: bool, now: datetime | None
) -> Iterator[FoundFact]:
    """The facts of the first pattern that a clause matches, and of each that says more of an introduction. `who` is
    whom the clause is about, if it does not say so."""
    has_fact = False
    is_about_other = bool(who) and not pack.subject.match(clause.text)
    only_follows = is_about_other and pack.leaves_out_subject
    for pattern in pack.patterns:
        says_more = pattern.across_clauses and not pattern.is_statement
        may_match = is_about_other if pattern.flag == "follows" else not only_follows
        if not may_match or (has_fact and not says_more):
            continue
        for text in clause.texts_for(pattern):
            match = pattern.wording.match(text)
            fact = _build_fact(pattern, match, text, pack, is_lower, who or "") if match else None
            if fact is not None:
                has_fact = True
                yield _with_days(fact, text, now, pack) if now else fact
                break


def _with_days(fact: FoundFact, text: str, now: datetime, pack: FactPack) -> FoundFact:
    """A fact with the days that its clause names: since when it is so, or when it happened or will, as it is told. A
    day that is reckoned from the message ("yesterday") is taken out of its words."""
    times = spans(text, now, pack.language)
    if len(times) != 1 or fact.category in ("instruction", "preference") or _YEAR_OF_A_THING.fullmatch(times[0].text):
        return fact
    time = times[0]
    if (time.english or time.text).casefold().startswith("since"):
        is_state = fact.category not in ("event", "plan") and fact.since is None
        return replace(fact, since=_since(time)) if is_state else fact
    return _on_days(fact, time, text, now, pack)


def _on_days(fact: FoundFact, time: TimeSpan, text: str, now: datetime, pack: FactPack) -> FoundFact:
    is_ahead = fact.category == "plan" or (fact.category == "relationship" and _is_ahead(text, pack))
    time = next_after(time, now) if is_ahead else time
    days = days_of(time)
    if days is None or fact.category not in ("event", "plan", "relationship"):
        return fact
    first, last = days
    is_as_told = first > now.date() if is_ahead else last <= now.date()
    if not is_as_told:
        return fact
    if is_ahead and fact.category == "relationship":
        fact = replace(fact, category="plan", key="plan")
    # What is told of somebody else still holds after the month in which it began.
    until = last if last > first and fact.category != "relationship" else None
    return replace(fact, since=first, until=until, value=_without(time, fact.value, pack))


def _is_ahead(text: str, pack: FactPack) -> bool:
    return bool(pack.future.search(text)) and not pack.past.search(text)


def _since(time: TimeSpan) -> date:
    """The day from which something is so; of "for three years" the first of that year."""
    start = replace(time, end=time.start + timedelta(days=1), english=time.english.removeprefix("since "))
    days = days_of(start)
    return days[0] if days else time.start.date()


def _without(time: TimeSpan, value: str, pack: FactPack) -> str:
    """A value without a time that is reckoned from the message, if something is left. A date stays."""
    english = time.english or time.text
    has_count = english.endswith("ago") or english.startswith("in ")
    if time.every == "year" or (any(map(str.isdigit, time.text)) and not has_count):
        return value
    words = re.escape(pack.shift(time.text))
    left = re.sub(words if pack.is_spaced else rf"{words}(?:に|から|、)?", " ", value, count=1, flags=re.IGNORECASE)
    rest = (" " if pack.is_spaced else "").join(left.split()).replace(" ,", ",")
    return rest if rest != value and _says_something(rest, pack, 1) else value


def _is_repeated(fact: FoundFact, facts: Sequence[FoundFact], language: str) -> bool:
    """Whether another fact of the message says the same: a statement what a value says, or fewer words what more do."""
    others = [other for other in facts if other is not fact and other.value]
    if fact.key == "pets":
        return _is_pet_told_better(fact, others)
    return fact.key == fact.category and (_is_in_a_value(fact, others) or _says_less(fact, others, language))


def _is_pet_told_better(fact: FoundFact, others: Sequence[FoundFact]) -> bool:
    """Whether another fact has the pet with its name, or with more words."""
    words = fact.value.casefold()
    pets = [other.value.casefold() for other in others if other.key == "pets" and "(" in other.value]
    return any("(" not in words or set(lower_words(words)) < set(lower_words(value)) for value in pets)


def _is_in_a_value(fact: FoundFact, others: Sequence[FoundFact]) -> bool:
    words = fact.value.casefold()
    if fact.category == "event" and fact.since is None and any(_animal_of(other) in words for other in others):
        return True  # "we have got a cat" beside the cat's name
    values = (other.value.casefold() for other in others if other.key != other.category)
    return fact.category != "relationship" and any(value in words for value in values)


def _says_less(fact: FoundFact, others: Sequence[FoundFact], language: str) -> bool:
    words = fact.value.casefold()
    own_words = set(lower_words(words))
    is_relation = fact.category == "relationship"
    return any(
        own_words < set(lower_words(value)) | function_words(language)
        for other, value in ((other, other.value.casefold()) for other in others)
        if len(words) < len(value) or (is_relation and other.category == "identity")
    )


def _animal_of(fact: FoundFact) -> str:
    """What a pet is, as its fact says after its name ("Momo (cat)"), or a line break, which no value has."""
    return fact.value.casefold().rpartition("(")[2].rstrip(")") if fact.key == "pets" and "(" in fact.value else "\n"


def _is_passing(clause: str, slots: Mapping[str, str], pack: FactPack) -> bool:
    return bool(pack.passing.search(clause) or ("kin" in slots and pack.own_pronouns.search(clause)))


def _statement_value(words: str, category: str, pack: FactPack) -> str:
    """What is kept of the words of a statement; "" if they say too little or too much."""
    if category == "instruction":
        value, least_words = words, 1
    else:
        value, least_words = _retell(words, pack), 2
    return value if _says_something(value, pack, least_words) and not _is_long(value) else ""


def _build_fact(
    pattern: FactPattern, match: re.Match[str], clause: str, pack: FactPack, is_lower: bool, who: str = ""
) -> FoundFact | None:
    """The fact that a pattern states by a match in a clause; None if what its slots hold is none."""
    slots = {name: value for name, value in match.groupdict().items() if value is not None}
    if not all(_is_name(slots[name], pack, is_lower) for name in slots.keys() & {"name", "place"}):
        return None
    if pattern.is_statement and _is_passing(clause, slots, pack):
        return None
    category = pattern.category
    if category != "instruction" and not _cut_slots(slots, match, pack):
        return None
    for name, verbs in (("verb", pack.verbs), ("aux", pack.auxiliaries)):
        if name in slots:
            verb_category, slots[name] = verbs[pack.plain(slots[name])]
            category = _category(clause, verb_category, pack) if category == "*" else category
    if not _tells_enough(slots, category, pack):
        return None
    if "thing" in slots and category == "preference":
        slots["thing"] = pack.shift(slots["thing"])
    value = pattern.template.format_map({"all": match[0], "who": who, **slots})
    if pattern.is_statement:
        value = _statement_value(value, category, pack)
        if not value:
            return None
    key = pattern.key.format_map({**slots, "kin": pack.kin.get(pack.plain(slots.get("kin", "")), "")})
    return _found_fact(pattern, category, category if key == "*" else key, value)


def _found_fact(pattern: FactPattern, category: str, key: str, value: str) -> FoundFact:
    return FoundFact(
        cast(FactCategory, category),
        key,
        value.strip(_MARKS if not value.endswith(")") else " "),
        _STATEMENT_CONFIDENCE if pattern.is_statement else _CONFIDENCE,
        _IMPORTANCE.get(key, _IMPORTANCE.get(category, 0.4)),
        holds="ended" if pattern.flag == "ended" else "not" if pattern.flag == "denied" else "now",
        corrects=pattern.flag == "changes",
    )


def _cut_slots(slots: dict[str, str], match: re.Match[str], pack: FactPack) -> bool:
    """Cut what slots hold where another thought begins. Returns whether something is left, and is clear by itself."""
    for name in slots.keys() & {"thing", "rest", "front"}:
        text = (
            slots[name].strip(_MARKS) if pack.times.match(slots[name]) and name == "front" else _cut(slots[name], pack)
        )
        is_cut = len(text) < len(slots[name].strip(_MARKS))
        if not text or (is_cut and name == "thing" and match.end(name) < match.end()):
            return False  # what follows belongs to another thought: "how often I said that I hate"
        if name != "front" and _points_elsewhere(text, pack, is_rest=name == "rest"):
            return False
        slots[name] = pack.lower_first(text) if name == "front" else text
    return True


def _tells_enough(slots: Mapping[str, str], category: str, pack: FactPack) -> bool:
    """Whether a thing says something, and a statement more than a verb; a plan may be told by its day alone."""
    if "thing" in slots and category != "instruction" and not _says_something(slots["thing"], pack, 1):
        return False
    if "aux" in slots and not _says_something(slots["rest"], pack, 2):
        return False
    if "verb" not in slots or slots.keys() & {"kin", "word"}:
        return True
    has_day = category == "plan" and any(map(str.isdigit, slots["rest"]))
    return has_day or _says_something(pack.times.sub("", slots["rest"]), pack, 1)


def _retell(statement: str, pack: FactPack) -> str:
    """A statement in the third person; empty if it points at what stands elsewhere."""
    text = _cut(statement, pack)
    return "" if pack.unclear.search(text) else pack.shift(pack.lower_kin(text))


def _is_long(value: str) -> bool:
    return len(value.split()) > MAX_WORDS or len(value) > MAX_CHARACTERS


def _category(clause: str, category: str, pack: FactPack) -> str:
    """The category of what a verb states in a clause: what is to come is a plan, what is over an event, what is done
    again and again neither."""
    if pack.past.search(clause):
        return "event"
    if pack.habit.search(clause):
        return "other" if category == "plan" else category
    return "plan" if category == "plan" or pack.future.search(clause) else category


def _is_name(word: str, pack: FactPack, is_lower: bool) -> bool:
    """Whether a word may be a name: it has a capital, unless the whole message has none, and is no function word."""
    if not pack.is_spaced:
        return word not in pack.pointers
    first = word.split()[0].casefold()
    if first in function_words(pack.language) or first in pack.kin or first in pack.pointers:
        return False
    if pack.times.fullmatch(first):  # "Yesterday broke my heel"
        return False
    return word[0].isupper() or is_lower


def _cut(text: str, pack: FactPack) -> str:
    """What a slot holds, up to a word that begins another thought."""
    text = _PAREN.sub("", text)
    stop = pack.stops.search(text)
    return " ".join((text[: stop.start()] if stop else text).strip(_MARKS).split())


def _points_elsewhere(text: str, pack: FactPack, *, is_rest: bool) -> bool:
    """Whether a text begins with a word that says something only with what stands elsewhere."""
    if not pack.is_spaced:
        return not is_rest and pack.plain(text).startswith(tuple(pack.pointers))
    word, _, others = text.casefold().partition(" ")
    if word.isdigit() and others.partition(" ")[0] in pack.prepositions:  # "left 6 in blank": six of what?
        return True
    return word in pack.pointers and not (is_rest and pack.own_pronouns.match(word))


def _says_something(text: str, pack: FactPack, least: int) -> bool:
    """Whether a text has so many words that say something, or twice as many characters where words are not spaced."""
    if not pack.is_spaced:
        return len(re.findall(r"\w", text)) > 2 * (least - 1)
    small_words = function_words(pack.language)
    words = [word for word in lower_words(text) if word not in small_words]
    return len([word for word in words if len(word) >= LEAST_LETTERS or word.isdigit()]) >= least
