"""Decides which statements about a person are to be forgotten.

"Everything" is not done at once: the reply says so, and the caller asks the user to confirm. If the rules find a
statement that says exactly what is to be forgotten, a model may add others, but none that shares no word with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from everword.errors import ModelNonsense
from everword.facts.rules.statements import matching_statements, means_everything, parse_statement, target_statement
from everword.follow import task_answers as answers
from everword.follow.task import DATA, build_request, object_schema, repair_request
from everword.ports import Request
from everword.text.fences import Fenced, escape_line, plain_name, section
from everword.word_lists import lazy_pattern

name = "forget"

MOST = 3
"""Statements that a model may name although none of their words was said."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Whom it is about, what is known of them, and what is to be forgotten.

    `similarity` has, for each statement, its cosine to what is sought; it may be left out.
    """

    name: str
    statements: tuple[str, ...]
    what: str
    similarity: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The numbers, from 1, of the statements to take out; none if it is not known. With `everything`, all that is
    known was meant: the caller has to confirm that, and no number is given."""

    numbers: tuple[int, ...] = ()
    everything: bool = False


_SYSTEM = f"""You keep a profile: numbered statements about one person. The person wants something forgotten.
Name the numbers of the statements that say it, in whatever words. Only those: "forget that I like tea" does not mean
teapots, coffee, or where the person lives. If no statement says it, the list is empty.
{DATA}
Answer with JSON only: {{"numbers": [...]}}

Example:
=== PERSON ===
Dana
=== END PERSON ===
=== STATEMENTS ===
1. Dana likes tea.
2. Dana collects teapots.
=== END STATEMENTS ===
=== FORGET ===
that I like tea
=== END FORGET ===
{{"numbers": [1]}}"""
_SCHEMA = object_schema({"numbers": {"type": "array", "items": {"type": "integer"}}})
_MAX_WHAT = 1_000  # characters


def build(inputs: Inputs) -> Request:
    statement_lines = [Fenced(f"{number}. {escape_line(text)}") for number, text in enumerate(inputs.statements, 1)]
    parts = [
        section("PERSON", [Fenced(plain_name(inputs.name) or "the person")]),
        section("STATEMENTS", statement_lines or [Fenced("(none)")], between="\n"),
        section("FORGET", [escape_line(inputs.what[:_MAX_WHAT]) or Fenced("(empty)")]),
    ]
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=200, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    if means_everything(inputs.what, inputs.name):
        return Reply(everything=True)
    numbers = _numbers(text)
    wrong_numbers = [number for number in numbers if not 1 <= number <= len(inputs.statements)]
    if wrong_numbers:
        raise ModelNonsense(f"There is no statement {wrong_numbers[0]}; there are {len(inputs.statements)}.")
    sought_terms = parse_statement(inputs.name, target_statement(inputs.name, inputs.what)).terms
    rule_matches = matching_statements(inputs.name, inputs.statements, inputs.what)
    strange_numbers = [
        number
        for number in numbers
        if number not in rule_matches
        and not sought_terms & parse_statement(inputs.name, inputs.statements[number - 1]).terms
    ]
    if rule_matches:
        numbers = [number for number in numbers if number not in strange_numbers]
    elif len(strange_numbers) > MOST:
        raise ModelNonsense(
            f"{len(numbers)} statements are too many. Name only those that say what is to be forgotten."
        )
    return Reply(tuple(sorted(dict.fromkeys(numbers))))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    if means_everything(inputs.what, inputs.name):
        return Reply(everything=True)
    return Reply(tuple(matching_statements(inputs.name, inputs.statements, inputs.what, inputs.similarity)))


_NONE = lazy_pattern(r"[\s`]*(?:json)?\s*(?:\[\s*\]|\{\s*\}|none\b\.?)[\s`]*", re.IGNORECASE)
_LIST = lazy_pattern(r"\[\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*,?\s*\]")


def _numbers(text: str) -> list[int]:
    for answer in answers.objects(text):
        for key in ("numbers", "number", "forget", "remove", "statements"):
            if key in answer:
                values = answer[key] if isinstance(answer[key], list) else [] if answer[key] is None else [answer[key]]
                return [int(digits[0]) for value in values if (digits := re.search(r"\d{1,9}", answers.line(value)))]
    answer_text = answers.after_thinking(text)
    if _NONE.fullmatch(answer_text):
        return []
    match = _LIST.search(answer_text)
    if match is None:
        raise ModelNonsense('There is no JSON of the form {"numbers": [...]} in the answer.')
    return [int(digits) for digits in re.findall(r"\d+", match[1])]
