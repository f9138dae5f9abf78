"""What is asked of a model about facts: prompt, reply and parser side by side, with the answer without a model.

What the instructions say is in `data/prompts.txt`. Every answer is checked against what was shown: a
model adds nothing that nobody said.

- `reading`: the facts in a batch of lines, each with its line. A model is shown the new lines with numbers, names and
  days, the lines before them, and what is known of the people, so that it updates instead of repeating. One call reads
  a batch: the instructions cost as much for one line as for forty. If the rules know better whom a value is about, or
  whether it still holds, the rules decide. What an assistant says is shown, and is no source of facts.
- `fact_repair`: once more those facts that the lines do not say: to correct them in the words of the lines, or to leave
  them out. What is not corrected stays refused.
- `command`: what a message asks of the memory: remember, forget, tell what is known, or nothing. What to remember or
  forget must be in the message, in its words, and the person it is about must be named there. In a group the bot must
  be called by name, whatever a model says, and obviously ordinary talk is no command. Ask only if
  `facts.rules.commands.may_be_command` says that it may be one.
- `remember`: a new statement merged into what is known of a person. A model names the statements that it replaces, and
  words what is added; all others stay unchanged, since the model is never asked to repeat them. A replaced statement
  must be related to the new one, and what else it said must be in the new wording. "Remember this about Bob" contains
  no statement: the statement is in the conversation so far.
- `forget`: which statements about a person are meant. "Everything" is not done at once: the reply says so, and the
  caller asks the user to confirm. If the rules find a statement that says exactly what is to be forgotten, a model may
  add others, but none that shares no word with it.
- `ask`: the answer to a question about a person from facts and messages that are shown with it. An answer that names no
  line it rests on, or that has a name or a number which no line has, is not used. Without a model the answer is the
  best lines themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from everword.errors import ModelNonsense
from everword.facts.english.finder import (
    complete_answer,
    find_facts,
    is_echo,
    read_facts,
    read_group_facts,
    reconcile_facts,
)
from everword.facts.pack_facts import PACK_LANGUAGES, read_pack_facts, usual_language
from everword.facts.rules import remembered_statements as statement_rules
from everword.facts.rules.commands import NO_COMMAND, Command, CommandKind, is_addressed, is_talk, parse_command
from everword.facts.rules.deciding import refusal, tidy_fact
from everword.facts.rules.grounding import NEAR, Evidence, Grounds, ReadLine, settle_time, tells_end
from everword.facts.rules.keys_and_values import category_of
from everword.facts.rules.person_shift import MAX_STATEMENT, MAX_STATEMENTS, statements_about
from everword.follow import model_task
from everword.follow.model_task import Prompt, TaskMessage, build_request, fence_text, object_schema, read_instructions
from everword.model import FACT_CATEGORIES, FactCategory, FactRefusal, FoundFact, Holds
from everword.ports import Request
from everword.text.dates import parse_date
from everword.text.detect import detect_within
from everword.text.english import RELATIONS
from everword.text.escaping import Fenced, author_labels, escape_line, person_byline, plain_name, section
from everword.text.filler import is_small_talk
from everword.text.key_value_statements import names
from everword.text.names import fold_name
from everword.text.own_words import own_words
from everword.text.sentences import both_ends, first_words, limit_text, sentences
from everword.text.terms import analyse
from everword.word_lists import lazy_pattern

_FILE = "facts/data/prompts.txt"
_STRING = {"type": "string"}
_NUMBERS = {"type": "array", "items": {"type": "integer"}}
_NONE = lazy_pattern(r"[\s`]*(?:json)?\s*(?:\[\s*\]|\{\s*\}|none\b\.?)[\s`]*", re.IGNORECASE)


def _person_section(name: str) -> Fenced:
    return section("PERSON", [Fenced(plain_name(name) or "the person")])


def _numbered_section(title: str, lines: Iterable[str], mark: str = "", *, none: str = "(none)") -> Fenced:
    """Lines with their numbers. Escaped text stands after our number, so it cannot begin a line with one."""
    numbered = [Fenced(f"{mark}{number}. {escape_line(line)}") for number, line in enumerate(lines, 1)]
    return section(title, numbered or [Fenced(none)], between="\n")


def _statement_numbers(value: object, count: int) -> list[int]:
    """The numbers of statements that a model gave, of so many, however it wrote them."""
    values = value if isinstance(value, list) else [value] if value is not None else []
    numbers = [int(digits[0]) for item in values if (digits := re.search(r"\d{1,9}", model_task.line(item)))]
    wrong_numbers = [number for number in numbers if not 1 <= number <= count]
    if wrong_numbers:
        raise ModelNonsense(f"There is no statement {wrong_numbers[0]}; there are {count}.")
    return list(dict.fromkeys(numbers))


# -- the facts in lines

MAX_FACTS = 20
"""Facts of one line; if a model gives more, the rest is dropped."""
MAX_LINE = 4_000
"""Characters of one line that a model is shown; of a longer one the middle is left out."""
MAX_CONTEXT = 120
"""Characters of a line that is only context."""


@dataclass(frozen=True, slots=True)
class ReadingInputs:
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
class ReadingReply:
    """The facts as they may be kept, and those that were refused."""

    facts: tuple[FactInLine, ...] = ()
    refused: tuple[RefusedInLine, ...] = ()


_READING = read_instructions(_FILE, "reading", CATEGORIES=", ".join(FACT_CATEGORIES))
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
REQUIRED = {
    "line": {"type": "integer"},
    "about": _STRING,
    "category": {"type": "string", "enum": list(FACT_CATEGORIES)},
    "key": _STRING,
    "value": _STRING,
    "importance": {"type": "number"},
}
ENTRY = {
    **REQUIRED,
    "from": _STRING,
    "until": _STRING,
    "status": {"type": "string", "enum": ["now", "corrected", "ended", "not"]},
    "confidence": {"type": "number"},
}
"""What a fact may have. What is not required is written only where it applies: it would be half of what a model writes.
"""
_ITEMS = {**object_schema(ENTRY), "required": list(REQUIRED)}
_FACTS_SCHEMA = object_schema({"facts": {"type": "array", "items": _ITEMS}})
_SELF = frozenset({"", "user", "the user", "me", "i", "myself", "self", "speaker", "author", "none", "null"})
_ASSISTANTS = frozenset({"assistant", "the assistant", "ai", "the ai", "bot", "chatbot", "ai assistant"})
_PASSING: frozenset[FactCategory] = frozenset({"preference", "constraint", "instruction", "plan", "event"})
"""Categories in which an end is no event: who no longer likes tea has lost nothing."""
_END_IMPORTANCE = 0.6  # of a death, a loss, an end, at least
_ANSWER_TOKENS = (400, 120)  # to begin with, and for each new line
_MIDDLING = 0.6
_MOST_LINES = 10_000


def build_reading(inputs: ReadingInputs) -> Request:
    base_tokens, line_tokens = _ANSWER_TOKENS
    line_count = sum(line.may_state for line in inputs.lines)
    parts = [section("KNOWN", [escape_line(line) for line in inputs.known], between="\n")] if inputs.known else []
    parts.append(_lines_section(inputs.lines))
    return build_request(
        _READING, "\n".join(parts), max_tokens=base_tokens + line_tokens * line_count, schema=_FACTS_SCHEMA
    )


def parse_reading(text: str, inputs: ReadingInputs) -> ReadingReply:
    reader = LineReader(inputs.lines)
    for entry in read_entries(text)[: MAX_FACTS * max(len(inputs.lines), 1)]:
        reader.read_entry(entry)
    return reader.reply()


def offline_reading(inputs: ReadingInputs) -> ReadingReply:
    facts: list[FactInLine] = []
    usual = usual_language([line.text for line in inputs.lines if line.role == "user"])
    for place, line in enumerate(inputs.lines):
        if not line.may_state or is_small_talk(line.text):
            continue
        language = detect_within(line.text, usual)
        found = [] if language in PACK_LANGUAGES else _english_facts(inputs.lines, place)
        for other in dict.fromkeys((language, usual)):  # a line too short to tell its language is in that of the others
            found = found or [
                FactInLine(place, fact)
                for fact in read_pack_facts(line.text, other, line.time, line.shown)
                if not line.in_group or fact.key != fact.category  # much that is told in a group is of the moment
            ]
        facts += found
    return ReadingReply(tuple(facts))


def _english_facts(lines: Sequence[ReadLine], place: int) -> list[FactInLine]:
    line = lines[place]
    if line.in_group:  # whom a line answers is not who spoke before
        return [FactInLine(place, fact) for fact in read_group_facts(line.text, line.day, line.shown)]
    question = question_before(lines, place)
    found = read_facts(line.text, line.day, line.shown, question)
    is_answer = bool(question and found) and bool(complete_answer(line.text, question))
    alone = read_facts(line.text, line.day, line.shown) if is_answer else found
    return [FactInLine(place, fact, None if fact in alone else place - 1) for fact in found]


reading = Prompt("reading", build_reading, parse_reading, offline_reading)


def question_before(lines: Sequence[ReadLine], place: int) -> str:
    """What somebody else said just before a line; an empty text if nobody did."""
    if not 0 < place < len(lines) or lines[place - 1].speaker == lines[place].speaker:
        return ""
    return lines[place - 1].text


def _lines_section(lines: Sequence[ReadLine]) -> Fenced:
    """The lines as a model sees them: a number before each that may state facts, "-" before each that is context, and
    the day wherever it changes. Escaped text stands after our mark, so it cannot begin a line with one."""
    day = None
    shown_lines: list[Fenced] = []
    for number, line in numbered_lines(lines):
        if line.day != day and line.day is not None:
            day = line.day
            shown_lines.append(Fenced(day.isoformat()))
        mark = f"{number}." if number else "-"
        speaker = "assistant" if line.role == "assistant" else line.speaker
        shown_lines.append(Fenced(f"{mark} {escape_line(speaker)}: {_line_text(line)}"))
    return section("LINES", shown_lines, between="\n")


def numbered_lines(lines: Sequence[ReadLine]) -> Iterable[tuple[int, ReadLine]]:
    """The lines with their numbers; 0 for those that are context."""
    number = 0
    for line in lines:
        number += line.may_state
        yield number if line.may_state else 0, line


def _line_text(line: ReadLine) -> Fenced:
    words = own_words(limit_text(line.text)).strip() if line.role == "user" else line.text.strip()
    limit = MAX_LINE if line.may_state else MAX_CONTEXT
    return escape_line(both_ends(words, limit)) or Fenced("(empty)")


def tell_end(ended: FoundFact) -> FoundFact:
    """What has ended; as an event, if the value says how: a death is not over, and every profile shows it."""
    return ended if ended.category in _PASSING or not tells_end(ended.value) else end_event(ended, ended.key)


def end_event(fact: FoundFact, key: str) -> FoundFact:
    importance = max(fact.importance, _END_IMPORTANCE)
    since = fact.until or fact.since
    return replace(fact, category="event", key=key, holds="now", importance=importance, since=since, until=None)


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
        about = model_task.line(entry.get("about")).strip()
        first_refusal: FactRefusal | None = None
        places = self._places_to_try(entry, about)
        for place in places:
            fact = self._parse_fact(entry, about, place)
            refused = self._refuse(fact, about, place)
            if refused is None:
                settled = settle_time(tidy_fact(fact), self._evidence_at(place), self._lines[place])
                self._keep(tell_end(settled) if settled.holds == "ended" else settled, place)
                return
            first_refusal = first_refusal or refused
        if first_refusal is not None:
            fact = tidy_fact(self._parse_fact(entry, about, places[0]))
            self._refused.append(RefusedInLine(places[0], fact, first_refusal))

    def _keep(self, fact: FoundFact, place: int) -> None:
        facts = self._facts.setdefault(place, [])
        if len(facts) == MAX_FACTS:
            too_many = FactRefusal("invalid", f"its line gives more than {MAX_FACTS} facts")
            self._refused.append(RefusedInLine(place, fact, too_many))
        else:
            facts.append(fact)

    def _tell_ends(self, place: int, found: list[FoundFact]) -> list[FoundFact]:
        """The facts of a line, with the ends that the rules took for facts that hold, in the words of the line: "my
        father Tom died" names a father, and says more."""
        line = self._lines[place]
        ended_facts = [fact for fact in self._facts.get(place, []) if fact.holds == "ended"]
        if all(fact in found for fact in ended_facts):
            return found
        ends = [fact for fact in read_facts(line.text, line.day) if tells_end(fact.value)]
        return [*found, *(end_event(fact, "event") for fact in ends)]

    def reply(self) -> ReadingReply:
        """What the model and the rules found; marked, if a line repeats what the assistant was shown."""
        facts: list[FactInLine] = []
        for place in self._sources:
            line = self._lines[place]
            by_rules = [] if is_small_talk(line.text) else find_facts(line.text, line.day)
            found = self._tell_ends(place, reconcile_facts(self._facts.get(place, []), by_rules))
            if found and is_echo(line.text, line.shown):
                found = [replace(fact, echo=True) for fact in found]
            facts += [FactInLine(place, fact, self._question_of(fact, place)) for fact in found]
        return ReadingReply(tuple(facts), tuple(self._refused))

    def _question_of(self, fact: FoundFact, place: int) -> int | None:
        """The place of the question just before a line, if the line is an answer that says too little by itself."""
        question = question_before(self._lines, place)
        if "?" not in question:
            return None
        is_answer = self._evidence_at(place).is_short_answer or complete_answer(self._lines[place].text, question)
        if is_answer or Evidence.of(self._lines[place : place + 1], 0).refuse_fact(fact):
            return place - 1
        return None

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
        relation = re.sub(r"^(?:my|the|user['’]?s)\s+", "", about.casefold())
        is_own = relation in _SELF or about.casefold() in _SELF or _is_speaker(line, about)
        status = "ended" if entry.get("ended") is True else model_task.line(entry.get("status")).strip().casefold()
        holds, corrects = _STATUS.get(status, ("now", False))
        return FoundFact(
            category_of(model_task.line(entry.get("category"))),
            model_task.line(entry.get("key")),
            model_task.line(entry.get("value")),
            _parse_number(entry.get("confidence", 1)),
            _parse_number(entry.get("importance")),
            subject=None if is_own else RELATIONS.get(relation, about),
            holds=holds,
            corrects=corrects,
            since=parse_date(model_task.line(entry.get("from") or entry.get("since"))[:40], line.day),
            until=parse_date(model_task.line(entry.get("until"))[:40], line.day),
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
    objects = list(model_task.objects(text))
    if not objects and _NONE.fullmatch(model_task.after_thinking(text)):
        return []
    parts = [part for answer in objects if (part := _entries_in(answer)) is not None]
    if not parts:
        raise ModelNonsense('There is no JSON of the form {"facts": [...]} in the answer.')
    entries = [entry for part in parts for entry in part]
    if entries and not any({"category", "key", "value"} <= entry.keys() for entry in entries):
        raise ModelNonsense("A fact needs a category, a key and a value.")
    return entries


def _entries_in(answer: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The facts in one object, which may be one itself; None if it is neither a fact nor a list of them."""
    if "category" in answer or "value" in answer:
        return [answer]
    lists = [value for value in answer.values() if isinstance(value, list)]
    entries: list[Mapping[str, Any]] = [entry for value in lists for entry in value if isinstance(entry, dict)]
    return entries if lists or "facts" in answer else None


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


# -- the facts that lines do not say

MAX_REFUSED = 12
"""Facts that are asked about in one call; the others stay refused."""
_FACT_TOKENS = 110
_REPAIR = read_instructions(_FILE, "fact_repair")


@dataclass(frozen=True, slots=True)
class RepairInputs:
    """The lines that were read, and what was refused in them."""

    lines: tuple[ReadLine, ...]
    refused: tuple[RefusedInLine, ...]


def choose_lines(inputs: RepairInputs) -> tuple[RepairInputs, list[int]]:
    """Only the lines that the refused facts are about, each with those before it; and their places among all lines."""
    refused = inputs.refused[:MAX_REFUSED]
    sources = {fact.place for fact in refused}
    places = sorted({place for source in sources for place in range(max(source - NEAR, 0), source + 1)})
    lines = [replace(inputs.lines[place], is_new=inputs.lines[place].is_new and place in sources) for place in places]
    refused_in_lines = [replace(fact, place=places.index(fact.place)) for fact in refused]
    return RepairInputs(tuple(lines), tuple(refused_in_lines)), places


def build_repair(inputs: RepairInputs) -> Request:
    chosen, _ = choose_lines(inputs)
    numbers = [number for number, _ in numbered_lines(chosen.lines)]
    entries = [
        Fenced(f"{_entry_text(refused.fact, numbers[refused.place])} {escape_line(refused.refusal.reason)}")
        for refused in chosen.refused
    ]
    return build_request(
        _REPAIR,
        "\n".join([_lines_section(chosen.lines), section("REFUSED", entries, between="\n")]),
        max_tokens=200 + _FACT_TOKENS * len(chosen.refused),
        schema=_FACTS_SCHEMA,
    )


def _entry_text(fact: FoundFact, number: int) -> str:
    entry = {
        "line": number,
        "about": escape_line(fact.subject or ""),
        "category": fact.category,
        "key": escape_line(fact.key),
        "value": escape_line(fact.value),
        "from": fact.since.isoformat() if fact.since else "",
    }
    return json.dumps(entry, ensure_ascii=False)


def parse_repair(text: str, inputs: RepairInputs) -> ReadingReply:
    chosen, places = choose_lines(inputs)
    reader = LineReader(chosen.lines)
    for entry in read_entries(text)[: 2 * MAX_REFUSED]:
        reader.read_entry(entry)
    reply = reader.reply()
    by_rules = LineReader(chosen.lines).reply().facts  # they are known from the reading
    slots_by_rules = {_slot(fact) for fact in by_rules}
    facts = [
        replace(fact, place=places[fact.place], question=None if fact.question is None else places[fact.question])
        for fact in reply.facts
        if _slot(fact) not in slots_by_rules
    ]
    return ReadingReply(tuple(facts), tuple(replace(refused, place=places[refused.place]) for refused in reply.refused))


def _slot(found: FactInLine) -> tuple[object, ...]:
    return found.place, found.fact.subject, found.fact.category, found.fact.key, found.fact.value


def refused_after_repair(refused: Sequence[RefusedInLine], repaired: ReadingReply) -> tuple[RefusedInLine, ...]:
    """What stays refused: each fact for which no corrected one stands, and what was refused again in other words."""
    left = list(refused)
    for corrected in repaired.facts:
        slot = (corrected.fact.subject, corrected.fact.key)
        same_slot = [fact for fact in left if (fact.fact.subject, fact.fact.key) == slot]
        if same_slot:
            left.remove(min(same_slot, key=lambda fact: fact.place != corrected.place))
    known = {(fact.fact.subject, fact.fact.key, fact.fact.value) for fact in refused}
    again = [fact for fact in repaired.refused if (fact.fact.subject, fact.fact.key, fact.fact.value) not in known]
    return (*left, *again)


def offline_repair(inputs: RepairInputs) -> ReadingReply:
    return ReadingReply()


fact_repair = Prompt("fact_repair", build_repair, parse_repair, offline_repair)


# -- what a message asks of the memory


@dataclass(frozen=True, slots=True)
class CommandInputs:
    """The message, what the bot is called, and whether all messages here are for it.

    `people` are the names of members, if they are at hand; `exchange` what was said before, oldest first.
    """

    text: str
    names: tuple[str, ...]
    addressed: bool = False
    people: tuple[str, ...] = ()
    exchange: tuple[TaskMessage, ...] = ()


_COMMAND = read_instructions(_FILE, "command")
_KINDS: tuple[CommandKind, ...] = ("remember", "forget", "ask", "none")
_COMMAND_SCHEMA = object_schema(
    {
        "kind": {"type": "string", "enum": list(_KINDS)},
        "about": _STRING,
        "text": _STRING,
        "refers_back": {"type": "boolean"},
    }
)
_MAX_SAID = 400  # characters of an earlier message
_MAX_EXCHANGE = 4  # messages
_WRITER = frozenset({"me", "myself", "i", "my", "user", "the user", "the writer", "writer", "speaker"})
_NOBODY = frozenset({"", "none", "null", "nobody", "bot", "n/a", "unknown"})


def build_command(inputs: CommandInputs) -> Request:
    bot_names = ", ".join(filter(None, map(plain_name, inputs.names))) or "Bot"
    chat = [
        Fenced(f"{message.role}: {escape_line(first_words(message.text, _MAX_SAID))}")
        for message in inputs.exchange[-_MAX_EXCHANGE:]
    ]
    parts = [f"The bot is called {bot_names}."]
    parts += [section("BEFORE", chat, between="\n")] if chat else []
    parts.append(fence_text("MESSAGE", inputs.text))
    max_tokens = 200 + min(len(inputs.text), 2_000) // 3
    return build_request(_COMMAND, "\n".join(parts), max_tokens=max_tokens, schema=_COMMAND_SCHEMA)


def parse_command_reply(text: str, inputs: CommandInputs) -> Command:
    entry = next((entry for entry in model_task.objects(text) if "kind" in entry), None)
    if entry is None:
        raise ModelNonsense('There is no JSON with "kind", "about", "text" and "refers_back" in the answer.')
    kind = model_task.line(entry["kind"]).strip().casefold()
    if kind not in _KINDS:
        raise ModelNonsense(f'The kind is "{escape_line(kind[:40])}"; it must be one of {", ".join(_KINDS)}.')
    if kind == "none" or not (inputs.addressed or is_addressed(inputs.text, inputs.names)):
        return NO_COMMAND
    if is_talk(inputs.text) and offline_command(inputs).kind == "none":
        return NO_COMMAND
    return _check_command(cast(CommandKind, kind), entry, inputs)


def offline_command(inputs: CommandInputs) -> Command:
    return parse_command(inputs.text, inputs.names, for_bot=inputs.addressed, people=inputs.people)


command = Prompt("command", build_command, parse_command_reply, offline_command)


def _is_copied(text: str, source: str, language: str) -> bool:
    """Whether most terms of a text are in its source."""
    terms = analyse(text, language).terms
    return len(set(terms) - set(analyse(source, language).terms)) <= len(terms) / 3


def _check_command(kind: CommandKind, entry: Mapping[str, Any], inputs: CommandInputs) -> Command:
    about = " ".join(model_task.line(entry.get("about")).split())
    text = " ".join(model_task.line(entry.get("text")).split())
    refers_back = entry.get("refersback") is True or model_task.line(entry.get("refersback")).casefold() == "true"
    about_key = about.casefold()
    language = analyse(inputs.text).language
    if about_key not in _WRITER | _NOBODY and fold_name(about) not in fold_name(inputs.text):
        raise ModelNonsense(
            f'"{escape_line(about[:80])}" is not named in the message. Copy the name as it is written there.'
        )
    if text and not _is_copied(text, inputs.text, language):
        raise ModelNonsense("The text is not in the message. Copy it from there.")
    if kind in ("remember", "forget") and not text and not refers_back:
        raise ModelNonsense(f'What to {kind} is missing: copy it into "text", or set "refers_back".')
    if kind == "ask" and about_key in _NOBODY and not refers_back:
        raise ModelNonsense('Whom it asks about is missing: say it in "about", or the kind is "none".')
    about_whom = "me" if about_key in _WRITER else None if about_key in _NOBODY else about
    return Command(kind, about_whom, text, refers_back, language)


# -- a new statement in a profile


@dataclass(frozen=True, slots=True)
class RememberInputs:
    """Whom it is about, what is known of them, and what is new, said by `speaker` (themselves if empty).

    If `new` refers back, `conversation` has the messages before it, oldest first; the statement is taken from them.
    """

    name: str
    statements: tuple[str, ...]
    new: str
    speaker: str = ""
    conversation: tuple[statement_rules.AuthoredMessage, ...] = ()


_REMEMBER = read_instructions(_FILE, "remember")
_REMEMBER_SCHEMA = object_schema({"add": {"type": "array", "items": _STRING}, "replace": _NUMBERS, "same": _NUMBERS})
_MAX_NEW = 4_000  # characters
_MAX_HEARD = 1_200  # characters of one message


def build_remember(inputs: RememberInputs) -> Request:
    person = plain_name(inputs.name) or "the person"
    parts = [_person_section(inputs.name), _numbered_section("STATEMENTS", inputs.statements, none="(none yet)")]
    if inputs.conversation:
        labels = author_labels(("user", message.author) for message in inputs.conversation)
        conversation_lines = [
            Fenced(f"- {labels['user', message.author]}: {escape_line(first_words(message.text, _MAX_HEARD))}")
            for message in inputs.conversation
        ]
        parts.append(section("CONVERSATION", conversation_lines, between="\n"))
    new_statement = escape_line(first_words(inputs.new, _MAX_NEW)) or Fenced("(what was said last in the conversation)")
    parts.append(section("NEW", [new_statement]))
    parts.append(Fenced(f"The new statement is by {person_byline(inputs.speaker) if inputs.speaker else person}."))
    return build_request(_REMEMBER, "\n".join(parts), max_tokens=600, schema=_REMEMBER_SCHEMA)


def parse_remember(text: str, inputs: RememberInputs) -> statement_rules.ProfileMerge:
    entry = _merge_entry(text)
    added_statements = [statement for wording in _texts_to_add(entry) for statement in _third_person(wording, inputs)]
    replaced_numbers, same_numbers = (
        tuple(_statement_numbers(entry[key], len(inputs.statements))) for key in ("replace", "same")
    )
    proposal = statement_rules.ProfileMerge(
        tuple(dict.fromkeys(added_statements)),
        replaced_numbers,
        tuple(number for number in same_numbers if number not in replaced_numbers),
    )
    _check_added(proposal, inputs)
    _check_replaced(proposal, inputs)
    return _apply_rules(proposal, inputs)


def _apply_rules(proposal: statement_rules.ProfileMerge, inputs: RememberInputs) -> statement_rules.ProfileMerge:
    """The merge after the rules have added contradictions and duplicates that the model overlooked."""
    remaining_numbers = [number for number in range(1, len(inputs.statements) + 1) if number not in proposal.replaced]
    rule_merge = statement_rules.merge(
        inputs.name, [inputs.statements[number - 1] for number in remaining_numbers], proposal.added
    )
    replaced_numbers = (*proposal.replaced, *(remaining_numbers[number - 1] for number in rule_merge.replaced))
    same_numbers = dict.fromkeys((*proposal.same, *(remaining_numbers[number - 1] for number in rule_merge.same)))
    return statement_rules.ProfileMerge(
        rule_merge.added, replaced_numbers, tuple(number for number in same_numbers if number not in replaced_numbers)
    )


def offline_remember(inputs: RememberInputs) -> statement_rules.ProfileMerge:
    return statement_rules.merge(inputs.name, inputs.statements, _new_statements(inputs))


remember = Prompt("remember", build_remember, parse_remember, offline_remember)


def _new_statements(inputs: RememberInputs) -> tuple[str, ...]:
    """What is to be remembered, as statements."""
    statements = statements_about(inputs.name, inputs.new, speaker=inputs.speaker) if inputs.new.strip() else ()
    return statements or statement_rules.recent_statements(inputs.name, inputs.conversation)


_MERGE_KEYS = {
    "add": ("add", "added", "new", "statements", "statement"),
    "replace": ("replace", "replaced", "replaces", "remove", "removed", "drop"),
    "same": ("same", "known", "duplicate", "duplicates"),
}
_FIRST_PERSON = lazy_pattern(r"\b(?:I|I['’]m|I['’]ve|[Mm]y|[Mm]yself)\b(?!\.)")
_QUOTED = lazy_pattern(r"[\"“«].*?[\"”»]")


def _merge_entry(text: str) -> Mapping[str, Any]:
    for answer in model_task.objects(text):
        entry = {
            key: next((answer[alias] for alias in aliases if alias in answer), None)
            for key, aliases in _MERGE_KEYS.items()
        }
        if any(value is not None for value in entry.values()):
            return entry
    raise ModelNonsense('There is no JSON of the form {"add": [...], "replace": [...], "same": [...]} in the answer.')


def _texts_to_add(entry: Mapping[str, Any]) -> list[str]:
    value = entry["add"]
    values = value if isinstance(value, list) else [value] if value else []
    return [text for item in values[:MAX_STATEMENTS] if (text := " ".join(model_task.line(item).split()))]


def _third_person(text: str, inputs: RememberInputs) -> Sequence[str]:
    if len(text) > MAX_STATEMENT:
        raise ModelNonsense(f"A statement has at most {MAX_STATEMENT} characters.")
    if _FIRST_PERSON.search(_QUOTED.sub("", text)):
        raise ModelNonsense(f"Write about {plain_name(inputs.name)} in the third person, not as “I”.")
    return statements_about(inputs.name, text)


def _is_grounded(text: str, grounds: Grounds, inputs: RememberInputs) -> bool:
    values = {
        term
        for fact in statement_rules.parse_statement(inputs.name, text).facts
        for term in analyse(fact.value, grounds.language).terms
    }
    return not grounds.find_inventions(text) and values <= grounds.terms and _shares(text, grounds, inputs)


def _check_added(proposal: statement_rules.ProfileMerge, inputs: RememberInputs) -> None:
    new_statements = _new_statements(inputs)
    if new_statements and not proposal.added and not proposal.same:
        raise ModelNonsense("What is new is neither in add nor is a statement named that says the same.")
    heard = [message.text for message in inputs.conversation]
    source_text = " ".join([inputs.new, inputs.name, inputs.speaker, *new_statements, *heard])
    grounds = Grounds.of(source_text)
    wider_grounds = Grounds.of(
        " ".join([source_text, *(inputs.statements[number - 1] for number in proposal.replaced)])
    )
    for text in proposal.added:
        if not _is_grounded(text, wider_grounds, inputs):
            raise ModelNonsense(f"“{text}” is not what was said.")
    if proposal.added and not any(_shares(text, grounds, inputs) for text in proposal.added):
        raise ModelNonsense("What is new is not in add.")
    for number in proposal.same:
        if new_statements and not _shares(inputs.statements[number - 1], grounds, inputs):
            raise ModelNonsense(f"Statement {number} does not say what is new.")


def _shares(text: str, grounds: Grounds, inputs: RememberInputs) -> bool:
    """Whether a text shares a word with what was said, other than the name."""
    name_terms = set(analyse(inputs.name, grounds.language).terms)
    text_terms = set(analyse(text, grounds.language).terms) - name_terms
    return not text_terms or not grounds.terms - name_terms or bool(text_terms & grounds.terms)


def _check_replaced(proposal: statement_rules.ProfileMerge, inputs: RememberInputs) -> None:
    """Raise ModelNonsense if something is lost that was not contradicted."""
    new_readings = [
        statement_rules.parse_statement(inputs.name, text) for text in (*proposal.added, *_new_statements(inputs))
    ]
    same_readings = [
        statement_rules.parse_statement(inputs.name, inputs.statements[number - 1]) for number in proposal.same
    ]
    new_terms = {term for new_reading in new_readings for term in new_reading.terms}
    for number in proposal.replaced:
        old_reading = statement_rules.parse_statement(inputs.name, inputs.statements[number - 1])
        if any(statement_rules.says_same(new_reading, old_reading) for new_reading in new_readings + same_readings):
            continue
        is_contradicted = any(statement_rules.contradicts(old_reading, new_reading) for new_reading in new_readings)
        if not is_contradicted and not old_reading.terms & new_terms:
            raise ModelNonsense(f"Statement {number} has nothing to do with what is new; it must stay.")
        lost_statements = statement_rules.facts_not_restated(old_reading, new_readings + same_readings)
        if lost_statements:
            raise ModelNonsense(
                f"Statement {number} also says: {lost_statements[0]} Keep that in add, or do not replace it."
            )


# -- statements to be forgotten

MOST_STRANGE = 3
"""Statements that a model may name although none of their words was said."""
_MAX_WHAT = 1_000  # characters


@dataclass(frozen=True, slots=True)
class ForgetInputs:
    """Whom it is about, what is known of them, and what is to be forgotten.

    `similarity` has, for each statement, its cosine to what is sought; it may be left out.
    """

    name: str
    statements: tuple[str, ...]
    what: str
    similarity: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ForgetReply:
    """The numbers, from 1, of the statements to take out; none if it is not known. With `everything`, all that is
    known was meant: the caller has to confirm that, and no number is given."""

    numbers: tuple[int, ...] = ()
    everything: bool = False


_FORGET = read_instructions(_FILE, "forget")
_FORGET_SCHEMA = object_schema({"numbers": _NUMBERS})
_LIST = lazy_pattern(r"\[\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*,?\s*\]")


def build_forget(inputs: ForgetInputs) -> Request:
    parts = [
        _person_section(inputs.name),
        _numbered_section("STATEMENTS", inputs.statements),
        section("FORGET", [escape_line(first_words(inputs.what, _MAX_WHAT)) or Fenced("(empty)")]),
    ]
    return build_request(_FORGET, "\n".join(parts), max_tokens=200, schema=_FORGET_SCHEMA)


def parse_forget(text: str, inputs: ForgetInputs) -> ForgetReply:
    if statement_rules.means_everything(inputs.what, inputs.name):
        return ForgetReply(everything=True)
    numbers = _statement_numbers(_numbers_value(text), len(inputs.statements))
    sought_terms = statement_rules.parse_statement(
        inputs.name, statement_rules.target_statement(inputs.name, inputs.what)
    ).terms
    rule_matches = statement_rules.matching_statements(inputs.name, inputs.statements, inputs.what)
    strange_numbers = [
        number
        for number in numbers
        if number not in rule_matches
        and not sought_terms & statement_rules.parse_statement(inputs.name, inputs.statements[number - 1]).terms
    ]
    if rule_matches:
        numbers = [number for number in numbers if number not in strange_numbers]
    elif len(strange_numbers) > MOST_STRANGE:
        raise ModelNonsense(
            f"{len(numbers)} statements are too many. Name only those that say what is to be forgotten."
        )
    return ForgetReply(tuple(sorted(numbers)))


def _numbers_value(text: str) -> object:
    """What a model gave as numbers, in an object or in a list of its own."""
    for answer in model_task.objects(text):
        for key in ("numbers", "number", "forget", "remove", "statements"):
            if key in answer:
                return answer[key]
    answer_text = model_task.after_thinking(text)
    if _NONE.fullmatch(answer_text):
        return None
    match = _LIST.search(answer_text)
    if match is None:
        raise ModelNonsense('There is no JSON of the form {"numbers": [...]} in the answer.')
    return match[1].split(",")


def offline_forget(inputs: ForgetInputs) -> ForgetReply:
    if statement_rules.means_everything(inputs.what, inputs.name):
        return ForgetReply(everything=True)
    return ForgetReply(
        tuple(statement_rules.matching_statements(inputs.name, inputs.statements, inputs.what, inputs.similarity))
    )


forget = Prompt("forget", build_forget, parse_forget, offline_forget)


# -- a question about a person

MAX_ANSWER = 1_200  # characters
BEST_FACTS = 6  # that stand for an answer if there is no model,
BEST_MESSAGES = 3  # and messages
NOT_KNOWN = "Nothing that is remembered answers that."
UNCERTAIN = "Nothing that is remembered clearly answers that. This may be related:"
_SMALL = 12  # numbers up to it may be counted, and are often spelt out
_NUMBER = lazy_pattern(r"\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class Line:
    """A fact or a message as a line, and whether it is relevant enough to be an answer by itself, or may be one."""

    text: str
    relevant: bool = True
    possible: bool = True


@dataclass(frozen=True, slots=True)
class AskInputs:
    """The question, whom it is about, the day it is asked, and the facts and messages to answer it from, best first."""

    question: str
    name: str
    today: date
    facts: tuple[Line, ...] = ()
    messages: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class AskReply:
    """The answer, whether it is known, and the numbers, from 0, of the facts and messages it rests on."""

    text: str
    known: bool
    facts: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()


_ASK = read_instructions(_FILE, "ask")
_ASK_SCHEMA = object_schema(
    {"answer": _STRING, "known": {"type": "boolean"}, "lines": {"type": "array", "items": _STRING}}
)


def build_ask(inputs: AskInputs) -> Request:
    parts = [
        _person_section(inputs.name),
        section("TODAY", [Fenced(inputs.today.isoformat())]),
        _numbered_section("FACTS", (line.text for line in inputs.facts), "F"),
        _numbered_section("MESSAGES", (line.text for line in inputs.messages), "M"),
        fence_text("QUESTION", inputs.question),
    ]
    return build_request(_ASK, "\n".join(parts), max_tokens=600, schema=_ASK_SCHEMA)


def parse_ask(text: str, inputs: AskInputs) -> AskReply:
    for reply in model_task.objects(text):
        answer = model_task.line(reply.get("answer")) if isinstance(reply.get("answer"), str) else ""
        if answer:
            return _check_answer(answer, reply.get("known") is not False, _labels(reply.get("lines")), inputs)
    raise ModelNonsense('There is no JSON of the form {"answer": "...", "known": true, "lines": [...]} in the answer.')


def _labels(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [label for item in values if isinstance(item, str) for label in re.findall(r"[FM]\d{1,6}", item.upper())]


def _check_answer(answer: str, known: bool, labels: Sequence[str], inputs: AskInputs) -> AskReply:
    if len(answer) > MAX_ANSWER:
        raise ModelNonsense(f"The answer has {len(answer)} characters; write at most three sentences.")
    lines = [line.text for line in (*inputs.facts, *inputs.messages)]
    source = "\n".join([inputs.question, inputs.name, inputs.today.isoformat(), *lines])
    invented = invented_words(answer, source)
    if invented:
        raise ModelNonsense(f"No line says {invented[0]!r}. Use only names and numbers that the lines have.")
    if not known:
        return AskReply(answer, known=False)
    facts = _line_numbers(labels, "F", len(inputs.facts))
    messages = _line_numbers(labels, "M", len(inputs.messages))
    if not facts and not messages:
        raise ModelNonsense("The answer names no line that it rests on. Name them, or say that it is not known.")
    return AskReply(answer, True, facts, messages)


def _line_numbers(labels: Iterable[str], letter: str, count: int) -> tuple[int, ...]:
    numbers = [int(label[1:]) - 1 for label in labels if label[0] == letter]
    return tuple(dict.fromkeys(number for number in numbers if 0 <= number < count))


def invented_words(answer: str, source: str) -> list[str]:
    """The names and numbers in an answer that its source does not have."""
    analysis = analyse(source)
    terms = set(analysis.terms)
    strange_names = [
        found_name
        for found_name in names(sentences(answer), analysis.language)
        if terms.isdisjoint(analyse(found_name, analysis.language).terms)
    ]
    known_numbers = set(_NUMBER.findall(source))
    strange_numbers = [number for number in _NUMBER.findall(answer) if number not in known_numbers]
    return strange_names + [number for number in strange_numbers if not number.isdigit() or int(number) > _SMALL]


def offline_ask(inputs: AskInputs) -> AskReply:
    facts = [number for number, line in enumerate(inputs.facts) if line.relevant][:BEST_FACTS]
    messages = [number for number, line in enumerate(inputs.messages) if line.relevant][:BEST_MESSAGES]
    lines = [inputs.facts[number].text for number in facts] + [inputs.messages[number].text for number in messages]
    if lines:
        return AskReply("\n".join(f"- {line}" for line in lines), True, tuple(facts), tuple(messages))
    messages = [number for number, line in enumerate(inputs.messages) if line.possible][:BEST_MESSAGES]
    if not messages:
        return AskReply(NOT_KNOWN, known=False)
    lines = [f"- {inputs.messages[number].text}" for number in messages]
    return AskReply("\n".join([UNCERTAIN, *lines]), False, messages=tuple(messages))


ask = Prompt("ask", build_ask, parse_ask, offline_ask)
