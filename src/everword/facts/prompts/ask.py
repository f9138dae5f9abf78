"""Answers a question about a person from facts and messages that are shown with it, and from nothing else.

The answer names the lines it rests on. A line that was not shown does not count, and an answer that rests on none, or
that has a name or a number which no line has, is not used. Without a model the answer is the best lines themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from everword.errors import ModelNonsense
from everword.follow import task_answers as answers
from everword.follow.task import DATA, build_request, fence_text, object_schema, repair_request
from everword.ports import Request
from everword.text.fences import Fenced, escape_line, plain_name, section
from everword.text.mentions import names
from everword.text.sentences import sentences
from everword.text.terms import analyse
from everword.word_lists import lazy_pattern

name = "ask"

MAX_ANSWER = 1_200  # characters
BEST_FACTS = 6  # that stand for an answer if there is no model,
BEST_MESSAGES = 3  # and messages
NOT_KNOWN = "Nothing that is remembered answers that."
_SMALL = 12  # numbers up to it may be counted, and are often spelt out


@dataclass(frozen=True, slots=True)
class Line:
    """A fact or a message as a line, and whether it is relevant enough to be an answer by itself."""

    text: str
    relevant: bool = True


@dataclass(frozen=True, slots=True)
class Inputs:
    """The question, whom it is about, the day it is asked, and the facts and messages to answer it from, best first."""

    question: str
    name: str
    today: date
    facts: tuple[Line, ...] = ()
    messages: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer, whether it is known, and the numbers, from 0, of the facts and messages it rests on."""

    text: str
    known: bool
    facts: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()


_EXAMPLE = {"answer": "Dana likes tea and chess.", "known": True, "lines": ["F1", "M2"]}
_SYSTEM = f"""You answer a question about a person from a memory of what was said.
Answer only from the facts (F1, F2, …) and the messages (M1, M2, …) that you are shown, in one to three sentences, in
the language of the question. Name the lines that the answer rests on. Where a message and a fact differ, the fact is
newer. If the lines do not answer the question, "known" is false, "lines" is empty, and the answer says that it is not
known. Never guess, never add a name, a number or a date that is not there.
{DATA}
Answer with JSON only, as in: {json.dumps(_EXAMPLE)}"""
_SCHEMA = object_schema(
    {
        "answer": {"type": "string"},
        "known": {"type": "boolean"},
        "lines": {"type": "array", "items": {"type": "string"}},
    }
)


def build(inputs: Inputs) -> Request:
    parts = [
        section("PERSON", [Fenced(plain_name(inputs.name) or "the person")]),
        section("TODAY", [Fenced(inputs.today.isoformat())]),
        section("FACTS", _label_lines("F", inputs.facts), between="\n"),
        section("MESSAGES", _label_lines("M", inputs.messages), between="\n"),
        fence_text("QUESTION", inputs.question),
    ]
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=600, schema=_SCHEMA)


def _label_lines(letter: str, lines: Sequence[Line]) -> list[Fenced]:
    labelled = [Fenced(f"{letter}{number}. {escape_line(line.text)}") for number, line in enumerate(lines, 1)]
    return labelled or [Fenced("(none)")]


def parse(text: str, inputs: Inputs) -> Reply:
    for reply in answers.objects(text):
        answer = answers.line(reply.get("answer")) if isinstance(reply.get("answer"), str) else ""
        if answer:
            return _check_reply(answer, reply.get("known") is not False, _labels(reply.get("lines")), inputs)
    raise ModelNonsense('There is no JSON of the form {"answer": "...", "known": true, "lines": [...]} in the answer.')


def _labels(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [label for item in values if isinstance(item, str) for label in re.findall(r"[FM]\d{1,6}", item.upper())]


def _check_reply(answer: str, known: bool, labels: Sequence[str], inputs: Inputs) -> Reply:
    if len(answer) > MAX_ANSWER:
        raise ModelNonsense(f"The answer has {len(answer)} characters; write at most three sentences.")
    invented = invented_words(answer, _sources(inputs))
    if invented:
        raise ModelNonsense(f"No line says {invented[0]!r}. Use only names and numbers that the lines have.")
    if not known:
        return Reply(answer, known=False)
    facts = _shown_numbers(labels, "F", len(inputs.facts))
    messages = _shown_numbers(labels, "M", len(inputs.messages))
    if not facts and not messages:
        raise ModelNonsense("The answer names no line that it rests on. Name them, or say that it is not known.")
    return Reply(answer, True, facts, messages)


def _shown_numbers(labels: Iterable[str], letter: str, count: int) -> tuple[int, ...]:
    numbers = [int(label[1:]) - 1 for label in labels if label[0] == letter]
    return tuple(dict.fromkeys(number for number in numbers if 0 <= number < count))


def _sources(inputs: Inputs) -> str:
    lines = [line.text for line in (*inputs.facts, *inputs.messages)]
    return "\n".join([inputs.question, inputs.name, inputs.today.isoformat(), *lines])


_NUMBER = lazy_pattern(r"\d+(?:[.,]\d+)*")


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


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    facts = [number for number, line in enumerate(inputs.facts) if line.relevant][:BEST_FACTS]
    messages = [number for number, line in enumerate(inputs.messages) if line.relevant][:BEST_MESSAGES]
    lines = [inputs.facts[number].text for number in facts] + [inputs.messages[number].text for number in messages]
    if not lines:
        return Reply(NOT_KNOWN, known=False)
    return Reply("\n".join(f"- {line}" for line in lines), True, tuple(facts), tuple(messages))
