"""Reads a batch of lines of a conversation, and finds what they say about people: the facts, each with its line.

A model is shown the new lines with numbers, names and days, the lines before them, and what is known of the people, so
that it updates instead of repeating. One call reads a batch: the instructions cost as much for one line as for forty.
Its answer is checked against the lines (`rules.grounding`). If the rules know better whom a value is about, or
whether it still holds, the rules decide. What an assistant says is shown, and is no source of facts. A fact that the
lines do not say is refused, with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from everword.errors import ModelNonsense
from everword.facts.english.finder import complete_answer, find_facts, is_echo, read_facts, reconcile_facts
from everword.facts.rules.deciding import refusal, tidy_fact
from everword.facts.rules.grounding import Evidence, ReadLine, settle_time
from everword.facts.rules.keys import category_of
from everword.follow import task_answers as answers
from everword.follow.task import DATA, build_request, object_schema, repair_request
from everword.model import FACT_CATEGORIES, FactRefusal, FoundFact, Holds
from everword.ports import Request
from everword.text.dates import parse_date
from everword.text.english import RELATIONS
from everword.text.fences import Fenced, escape_line, section
from everword.text.filler import is_small_talk
from everword.text.own_words import own_words
from everword.text.sentences import limit_text
from everword.word_lists import lazy_pattern

name = "reading"

MAX_FACTS = 20
"""Facts of one line; if a model gives more, the rest is dropped."""
MAX_LINE = 4_000
"""Characters of one line that a model is shown; of a longer one the middle is left out."""
MAX_CONTEXT = 160
"""Characters of a line that is only context."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The lines, oldest first, and what is known of the people in them, a line for each person."""

    lines: tuple[ReadLine, ...]
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactInLine:
    """A fact, the place of the line that states it, and the place of the question it answers, if it needs it."""

    place: int
    fact: FoundFact
    question: int | None = None


@dataclass(frozen=True, slots=True)
class RefusedInLine:
    """A fact that is not kept, the place of the line it was found in, and why."""

    place: int
    fact: FoundFact
    refusal: FactRefusal


@dataclass(frozen=True, slots=True)
class Reply:
    """The facts as they may be kept, and those that were refused."""

    facts: tuple[FactInLine, ...] = ()
    refused: tuple[RefusedInLine, ...] = field(default=())


_SYSTEM = f"""You read a chat for a memory and note facts and events in the lives of its people that matter later.
line: the number of the line that says it; lines with "-" are context. about: the speaker's name, or whom else it is
about ("Bob", "brother"); never an assistant.
category: {", ".join(FACT_CATEGORIES)}. instruction: how somebody wants to be answered.
key: one or two words; the known key, if it is the same thing. value: short, in the words of the lines, without "I".
importance: 1 for a name or an allergy, 0.5 for a like, 0.3 for something small. Only where they apply: from, until:
days (YYYY-MM-DD) that follow from the lines, relative ones worked out; status: "corrected" (changed: "I'm 30 now"),
"ended" (no longer so, died, sold) or "not" (denied); confidence: less than 1, if it is not stated plainly.
Leave out what is known and has not changed, questions, jokes, quotes, moods and talk about this chat.
{DATA}
Answer with JSON only.

Example:
=== LINES ===
2024-05-07
- assistant: Any news?
1. Dana: My mom moved to Oslo two days ago.
=== END LINES ===
"""
_EXAMPLE = {
    "facts": [
        {"line": 1, "about": "mother", "category": "place", "key": "location", "value": "Oslo", "importance": 0.5,
         "from": "2024-05-05", "status": "corrected"},
    ]
}  # fmt: skip
_STATUS: dict[str, tuple[Holds, bool]] = {
    "now": ("now", False),
    "current": ("now", False),
    "corrected": ("now", True),
    "changed": ("now", True),
    "ended": ("ended", False),
    "past": ("ended", False),
    "not": ("not", True),
    "denied": ("not", True),
}
ENTRY = {
    "line": {"type": "integer"},
    "about": {"type": "string"},
    "category": {"type": "string", "enum": list(FACT_CATEGORIES)},
    "key": {"type": "string"},
    "value": {"type": "string"},
    "importance": {"type": "number"},
    "from": {"type": "string"},
    "until": {"type": "string"},
    "status": {"type": "string", "enum": ["now", "corrected", "ended", "not"]},
    "confidence": {"type": "number"},
}
REQUIRED = ("line", "about", "category", "key", "value", "importance")
"""What every fact has. The rest is written only where it applies: it would be half of what a model writes."""
_ITEMS = {**object_schema(ENTRY), "required": list(REQUIRED)}
SCHEMA = object_schema({"facts": {"type": "array", "items": _ITEMS}})
_SELF = frozenset({"", "user", "the user", "me", "i", "myself", "self", "speaker", "author", "none", "null"})
_ASSISTANTS = frozenset({"assistant", "the assistant", "ai", "the ai", "bot", "chatbot", "ai assistant"})
_NONE = lazy_pattern(r"[\s`]*(?:json)?\s*(?:\[\s*\]|\{\s*\}|none\b\.?)[\s`]*", re.IGNORECASE)
_ANSWER_TOKENS = (400, 120)  # to begin with, and for each new line


def build(inputs: Inputs) -> Request:
    base_tokens, line_tokens = _ANSWER_TOKENS
    line_count = sum(line.may_state for line in inputs.lines)
    return build_request(
        _SYSTEM + json.dumps(_EXAMPLE, ensure_ascii=False),
        "\n".join([*shown_knowledge(inputs), section("LINES", [*shown_lines(inputs.lines)], between="\n")]),
        max_tokens=base_tokens + line_tokens * line_count,
        schema=SCHEMA,
    )


def parse(text: str, inputs: Inputs) -> Reply:
    reader = LineReader(inputs.lines)
    for entry in read_entries(text)[: MAX_FACTS * max(len(inputs.lines), 1)]:
        reader.read_entry(entry)
    return reader.reply()


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    facts: list[FactInLine] = []
    for place, line in enumerate(inputs.lines):
        if not line.may_state or is_small_talk(line.text):
            continue
        question = question_before(inputs.lines, place)
        found = read_facts(line.text, line.day, line.shown, question)
        is_answer = bool(question and found) and bool(complete_answer(line.text, question))
        alone = read_facts(line.text, line.day, line.shown) if is_answer else found
        facts += [FactInLine(place, fact, None if fact in alone else place - 1) for fact in found]
    return Reply(tuple(facts))


def question_before(lines: Sequence[ReadLine], place: int) -> str:
    """What somebody else said just before a line; an empty text if nobody did."""
    if not 0 < place < len(lines) or lines[place - 1].speaker == lines[place].speaker:
        return ""
    return lines[place - 1].text


# -- what a model is shown


def shown_knowledge(inputs: Inputs) -> list[Fenced]:
    if not inputs.known:
        return []
    return [section("KNOWN", [escape_line(line) for line in inputs.known], between="\n")]


def shown_lines(lines: Sequence[ReadLine]) -> Iterable[Fenced]:
    """The lines as a model sees them: a number before each that may state facts, "-" before each that is context, and
    the day wherever it changes. Escaped text stands after our mark, so it cannot begin a line with one."""
    day = None
    for number, line in numbered_lines(lines):
        if line.day != day and line.day is not None:
            day = line.day
            yield Fenced(day.isoformat())
        mark = f"{number}." if number else "-"
        speaker = "assistant" if line.role == "assistant" else line.speaker
        yield Fenced(f"{mark} {escape_line(speaker)}: {_shown_text(line)}")


def numbered_lines(lines: Sequence[ReadLine]) -> Iterable[tuple[int, ReadLine]]:
    """The lines with their numbers; 0 for those that are context."""
    number = 0
    for line in lines:
        number += line.may_state
        yield number if line.may_state else 0, line


def _shown_text(line: ReadLine) -> Fenced:
    words = own_words(limit_text(line.text)).strip() if line.role == "user" else line.text.strip()
    limit = MAX_LINE if line.may_state else MAX_CONTEXT
    if len(words) > limit:
        words = f"{words[: limit * 3 // 4]} […] {words[-limit // 4 :]}"
    return escape_line(words) or Fenced("(empty)")


# -- what a model wrote


class LineReader:
    """Finds the line of each fact that a model gave, and gathers what is kept and what is refused."""

    def __init__(self, lines: Sequence[ReadLine]) -> None:
        self._lines = lines
        self._sources = [place for place, line in enumerate(lines) if line.may_state]
        self._evidence: dict[int, Evidence] = {}
        self._facts: dict[int, list[FoundFact]] = {}
        self._refused: list[RefusedInLine] = []

    def read_entry(self, entry: Mapping[str, Any]) -> None:
        if not self._sources:
            return
        about = answers.line(entry.get("about")).strip()
        first_refusal: FactRefusal | None = None
        places = self._places_to_try(entry, about)
        for place in places:
            fact = self._parse_fact(entry, about, place)
            refused = self._refuse(fact, about, place)
            if refused is None:
                settled = settle_time(tidy_fact(fact), self._evidence_at(place), self._lines[place])
                self._facts.setdefault(place, []).append(settled)
                return
            first_refusal = first_refusal or refused
        if first_refusal is not None:
            fact = tidy_fact(self._parse_fact(entry, about, places[0]))
            self._refused.append(RefusedInLine(places[0], fact, first_refusal))

    def reply(self) -> Reply:
        """What the model and the rules found; marked, if a line repeats what the assistant was shown."""
        facts: list[FactInLine] = []
        for place in self._sources:
            line = self._lines[place]
            by_rules = [] if is_small_talk(line.text) else find_facts(line.text, line.day)
            found = reconcile_facts(self._facts.get(place, [])[:MAX_FACTS], by_rules)
            if found and is_echo(line.text, line.shown):
                found = [replace(fact, echo=True) for fact in found]
            facts += [FactInLine(place, fact, self._question_of(fact, place)) for fact in found]
        return Reply(tuple(facts), tuple(self._refused))

    def _question_of(self, fact: FoundFact, place: int) -> int | None:
        """The place of the question just before a line, if the line is an answer that says too little by itself."""
        question = question_before(self._lines, place)
        if "?" not in question:
            return None
        is_answer = self._evidence_at(place).is_short_answer or complete_answer(self._lines[place].text, question)
        if is_answer:
            return place - 1
        return place - 1 if Evidence.of(self._lines[place : place + 1], 0).refuse_fact(fact) else None

    def _refuse(self, fact: FoundFact, about: str, place: int) -> FactRefusal | None:
        if about.casefold() in _ASSISTANTS or self._is_assistant(about):
            return FactRefusal("about_assistant", "it is about an assistant")
        evidence = self._evidence_at(place)
        if fact.subject is not None and not self._is_named(fact.subject, about, evidence):
            return FactRefusal("about_nobody", f"no line speaks of {about!r}")
        return evidence.refuse_fact(fact) or refusal(tidy_fact(fact))

    def _is_named(self, subject: str, about: str, evidence: Evidence) -> bool:
        speakers = {line.speaker.casefold() for line in self._lines}
        return about.casefold() in speakers or any(map(evidence.names_subject, (subject, about)))

    def _is_assistant(self, about: str) -> bool:
        people = {line.speaker.casefold() for line in self._lines if line.role == "user"}
        assistants = {line.speaker.casefold() for line in self._lines if line.role == "assistant"}
        return about.casefold() in assistants - people

    def _places_to_try(self, entry: Mapping[str, Any], about: str) -> list[int]:
        """The lines that may state a fact: those it is said to be of, then the others, the latest first. If it is about
        one of the speakers, their own lines come first."""
        cited = [self._sources[number - 1] for number in _cited_numbers(entry) if 0 < number <= len(self._sources)]
        others = [place for place in reversed(self._sources) if place not in cited]
        places = [*cited, *others]
        return sorted(places, key=lambda place: not _is_speaker(self._lines[place], about)) if about else places

    def _parse_fact(self, entry: Mapping[str, Any], about: str, place: int) -> FoundFact:
        line = self._lines[place]
        relation = re.sub(r"^(?:my|the|user['’]?s|user['’]s)\s+", "", about.casefold())
        is_own = relation in _SELF or about.casefold() in _SELF or _is_speaker(line, about)
        status = "ended" if entry.get("ended") is True else answers.line(entry.get("status")).strip().casefold()
        holds, corrects = _STATUS.get(status, ("now", False))
        return FoundFact(
            category_of(answers.line(entry["category"])),
            answers.line(entry["key"]),
            answers.line(entry["value"]),
            _parse_number(entry.get("confidence", 1)),
            _parse_number(entry.get("importance")),
            subject=None if is_own else RELATIONS.get(relation, about),
            holds=holds,
            corrects=corrects,
            since=parse_date(answers.line(entry.get("from") or entry.get("since"))[:40], line.day),
            until=parse_date(answers.line(entry.get("until"))[:40], line.day),
        )

    def _evidence_at(self, place: int) -> Evidence:
        if place not in self._evidence:
            self._evidence[place] = Evidence.of(self._lines, place)
        return self._evidence[place]


def _is_speaker(line: ReadLine, about: str) -> bool:
    """Whether a name is that of who speaks a line, or the first part of it."""
    name, speaker = about.casefold(), line.speaker.casefold()
    return bool(name) and (name == speaker or name == speaker.split(" ")[0] or name.split(" ")[0] == speaker)


def _cited_numbers(entry: Mapping[str, Any]) -> list[int]:
    """The numbers of the lines of a fact, however a model wrote them."""
    value = next((entry[key] for key in ("line", "lines", "message", "number") if entry.get(key) is not None), None)
    values = value if isinstance(value, list) else [value]
    return [int(number) for number in values if isinstance(number, int | float) and 1 <= number <= _MOST_LINES]


def read_entries(text: str) -> list[Mapping[str, Any]]:
    """The facts as they were written, however they were wrapped."""
    objects = list(answers.objects(text))
    if not objects and _NONE.fullmatch(answers.after_thinking(text)):
        return []
    entries: list[Mapping[str, Any]] = []
    has_list = False
    for answer in objects:
        lists = [value for value in answer.values() if isinstance(value, list)]
        if "category" in answer or "value" in answer:
            entries.append(answer)
        elif lists or "facts" in answer:
            has_list = True
            entries += [entry for value in lists for entry in value if isinstance(entry, dict)]
    if not entries and not has_list:
        raise ModelNonsense('There is no JSON of the form {"facts": [...]} in the answer.')
    usable_entries = [entry for entry in entries if "category" in entry and "key" in entry and "value" in entry]
    if entries and not usable_entries:
        raise ModelNonsense("A fact needs a category, a key and a value.")
    return usable_entries


def _parse_number(value: object) -> float:
    """A number as a model writes it: 0.9, "0.9", "90%". One that cannot be read counts as medium."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return _MIDDLING
    try:
        number = float(str(value).strip().rstrip("%"))
    except (ValueError, OverflowError):
        return _MIDDLING
    if number != number:
        return _MIDDLING
    return min(max(number / 100 if number > 1 and (number > 10 or "%" in str(value)) else number, 0.0), 1.0)


_MIDDLING = 0.6
_MOST_LINES = 10_000
