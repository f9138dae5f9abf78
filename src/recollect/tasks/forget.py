"""Which statements about a person are to be forgotten.

"Everything" is not taken at its word: the answer says so, and whoever asked is asked back. Where the rules find a
statement that says exactly this, a model may add others about the same thing, but none that shares no word with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.errors import ModelNonsense
from recollect.ports import Request
from recollect.rules.people.forgetting import matching, means_everything, sought
from recollect.rules.people.statements import reading
from recollect.rules.prompt.fences import Fenced, line, plain, section
from recollect.tasks import answers
from recollect.tasks.task import DATA, again, ask, object_schema

name = "forget"

MOST = 3
"""Statements that a model may name although none of their words was said."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Whom it is about, what is known of them, and what is to be forgotten.

    `similarity` has, for each statement, its cosine to `rules.forgetting.sought(name, what)`; it may be left out.
    """

    name: str
    statements: tuple[str, ...]
    what: str
    similarity: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The numbers, from 1, of the statements to take out; none if it is not known. With `everything`, all that is
    known was meant: that is for the caller to confirm, and no number is given."""

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
    known = [Fenced(f"{number}. {line(text)}") for number, text in enumerate(inputs.statements, 1)]
    parts = [
        section("PERSON", [Fenced(plain(inputs.name) or "the person")]),
        section("STATEMENTS", known or [Fenced("(none)")], between="\n"),
        section("FORGET", [line(inputs.what[:_MAX_WHAT]) or Fenced("(empty)")]),
    ]
    return ask(_SYSTEM, "\n".join(parts), max_tokens=200, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    if means_everything(inputs.what, inputs.name):
        return Reply(everything=True)
    numbers = _numbers(text)
    wrong = [number for number in numbers if not 1 <= number <= len(inputs.statements)]
    if wrong:
        raise ModelNonsense(f"There is no statement {wrong[0]}; there are {len(inputs.statements)}.")
    said = reading(inputs.name, sought(inputs.name, inputs.what)).terms
    by_rules = matching(inputs.name, inputs.statements, inputs.what)
    strange = [
        number
        for number in numbers
        if number not in by_rules and not said & reading(inputs.name, inputs.statements[number - 1]).terms
    ]
    if by_rules:
        numbers = [number for number in numbers if number not in strange]
    elif len(strange) > MOST:
        raise ModelNonsense(
            f"{len(numbers)} statements are too many. Name only those that say what is to be forgotten."
        )
    return Reply(tuple(sorted(dict.fromkeys(numbers))))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return again(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    if means_everything(inputs.what, inputs.name):
        return Reply(everything=True)
    return Reply(tuple(matching(inputs.name, inputs.statements, inputs.what, inputs.similarity)))


_NONE = re.compile(r"[\s`]*(?:json)?\s*(?:\[\s*\]|\{\s*\}|none\b\.?)[\s`]*", re.IGNORECASE)
_LIST = re.compile(r"\[\s*(\d{1,9}(?:\s*,\s*\d{1,9})*)\s*,?\s*\]")


def _numbers(text: str) -> list[int]:
    for one in answers.objects(text):
        for key in ("numbers", "number", "forget", "remove", "statements"):
            if key in one:
                given = one[key] if isinstance(one[key], list) else [] if one[key] is None else [one[key]]
                return [int(digits[0]) for each in given if (digits := re.search(r"\d{1,9}", answers.line(each)))]
    said = answers.said(text)
    if _NONE.fullmatch(said):
        return []
    listed = _LIST.search(said)
    if listed is None:
        raise ModelNonsense('There is no JSON of the form {"numbers": [...]} in the answer.')
    return [int(digits) for digits in re.findall(r"\d+", listed[1])]
