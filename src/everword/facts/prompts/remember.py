"""Merges a new statement into what is known of a person.

A model names the statements that the new one replaces, and words what is added; all others stay unchanged, since the
model is never asked to repeat them. A replaced statement must be related to the new one, and what else it said must be
in the new wording: an answer that drops what nobody contradicted cannot be used.

"Remember this about Bob" contains no statement: the statement is in the conversation so far.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everword.errors import ModelNonsense
from everword.facts.rules.grounding import Grounds
from everword.facts.rules.statements import (
    AuthoredMessage,
    ProfileMerge,
    contradicts,
    facts_not_restated,
    merge,
    parse_statement,
    recent_statements,
    says_same,
)
from everword.facts.rules.third_person import MAX_STATEMENT, MAX_STATEMENTS, statements_about
from everword.follow import task_answers as answers
from everword.follow.task import DATA, build_request, object_schema, repair_request
from everword.ports import Request
from everword.text.fences import Fenced, author_labels, escape_line, person_byline, plain_name, section
from everword.text.terms import analyse
from everword.word_lists import lazy_pattern

name = "remember"

Reply = ProfileMerge
"""What is added, and the numbers, from 1, of the statements it replaces and of those that say the same."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Whom it is about, what is known of them, and what is new, said by `speaker` (themselves if empty).

    If `new` refers back, `conversation` has the messages before it, oldest first; the statement is taken from them.
    """

    name: str
    statements: tuple[str, ...]
    new: str
    speaker: str = ""
    conversation: tuple[AuthoredMessage, ...] = ()


_SYSTEM = f"""You keep a profile: short statements about one person, in the third person, with their name.
You get the numbered statements and something new. Say what changes:
add: the new statement(s), each one short sentence about the person, by name. No "I", no "he" or "she" without the name.
replace: the numbers of the statements that are no longer true, because the new one contradicts them. Newer wins.
same: the numbers of the statements that say the same already; then add nothing for it.
All other statements stay as they are: do not repeat them. Two likes do not contradict each other. If a replaced
statement says something that is still true, say that in "add".
{DATA}
Answer with JSON only: {{"add": ["..."], "replace": [1], "same": []}}

Example:
=== PERSON ===
Dana
=== END PERSON ===
=== STATEMENTS ===
1. Dana likes jazz.
2. Dana lives in Oslo with two cats.
=== END STATEMENTS ===
=== NEW ===
I moved to Bergen
=== END NEW ===
The new statement is by Dana.
{{"add": ["Dana lives in Bergen.", "Dana has two cats."], "replace": [2], "same": []}}"""
_NUMBERS = {"type": "array", "items": {"type": "integer"}}
_SCHEMA = object_schema({"add": {"type": "array", "items": {"type": "string"}}, "replace": _NUMBERS, "same": _NUMBERS})
_MAX_NEW = 4_000  # characters
_MAX_HEARD = 1_200  # characters of one message
_MAX_TOKENS = 600


def build(inputs: Inputs) -> Request:
    person = plain_name(inputs.name) or "the person"
    parts = [section("PERSON", [Fenced(person)])]
    # Each statement stands after our number, so escaped text cannot begin a line with a number.
    statement_lines = [Fenced(f"{number}. {escape_line(text)}") for number, text in enumerate(inputs.statements, 1)]
    parts.append(section("STATEMENTS", statement_lines or [Fenced("(none yet)")], between="\n"))
    if inputs.conversation:
        labels = author_labels(("user", message.author) for message in inputs.conversation)
        conversation_lines = [
            Fenced(f"- {labels['user', message.author]}: {escape_line(message.text[:_MAX_HEARD])}")
            for message in inputs.conversation
        ]
        parts.append(section("CONVERSATION", conversation_lines, between="\n"))
    parts.append(
        section("NEW", [escape_line(inputs.new[:_MAX_NEW]) or Fenced("(what was said last in the conversation)")])
    )
    parts.append(Fenced(f"The new statement is by {person_byline(inputs.speaker) if inputs.speaker else person}."))
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=_MAX_TOKENS, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    entry = _entry(text)
    added_statements = tuple(
        dict.fromkeys(statement for wording in _texts_to_add(entry) for statement in _third_person(wording, inputs))
    )
    replaced_numbers, same_numbers = (_numbers(entry, key, len(inputs.statements)) for key in ("replace", "same"))
    proposal = ProfileMerge(
        added_statements, replaced_numbers, tuple(number for number in same_numbers if number not in replaced_numbers)
    )
    _check_added(proposal, inputs)
    _check_replaced(proposal, inputs)
    return _apply_rules(proposal, inputs)


def _apply_rules(proposal: ProfileMerge, inputs: Inputs) -> ProfileMerge:
    """The merge after the rules have added contradictions and duplicates that the model overlooked."""
    remaining_numbers = [number for number in range(1, len(inputs.statements) + 1) if number not in proposal.replaced]
    rule_merge = merge(inputs.name, [inputs.statements[number - 1] for number in remaining_numbers], proposal.added)
    replaced_numbers = (*proposal.replaced, *(remaining_numbers[number - 1] for number in rule_merge.replaced))
    same_numbers = dict.fromkeys((*proposal.same, *(remaining_numbers[number - 1] for number in rule_merge.same)))
    return ProfileMerge(
        rule_merge.added, replaced_numbers, tuple(number for number in same_numbers if number not in replaced_numbers)
    )


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return merge(inputs.name, inputs.statements, _new_statements(inputs))


def _new_statements(inputs: Inputs) -> tuple[str, ...]:
    """What is to be remembered, as statements."""
    statements = statements_about(inputs.name, inputs.new, speaker=inputs.speaker) if inputs.new.strip() else ()
    return statements or recent_statements(inputs.name, inputs.conversation)


# What a model wrote

_ADD = ("add", "added", "new", "statements", "statement")
_REPLACE = ("replace", "replaced", "replaces", "remove", "removed", "drop")
_SAME = ("same", "known", "duplicate", "duplicates")


def _entry(text: str) -> Mapping[str, Any]:
    for answer in answers.objects(text):
        entry = {
            key: next((answer[name] for name in names if name in answer), None)
            for key, names in (("add", _ADD), ("replace", _REPLACE), ("same", _SAME))
        }
        if any(value is not None for value in entry.values()):
            return entry
    raise ModelNonsense('There is no JSON of the form {"add": [...], "replace": [...], "same": [...]} in the answer.')


def _texts_to_add(entry: Mapping[str, Any]) -> list[str]:
    value = entry["add"]
    values = value if isinstance(value, list) else [value] if value else []
    return [text for item in values[:MAX_STATEMENTS] if (text := " ".join(answers.line(item).split()))]


def _third_person(text: str, inputs: Inputs) -> Sequence[str]:
    if len(text) > MAX_STATEMENT:
        raise ModelNonsense(f"A statement has at most {MAX_STATEMENT} characters.")
    if _FIRST_PERSON.search(_QUOTED.sub("", text)):
        raise ModelNonsense(f"Write about {plain_name(inputs.name)} in the third person, not as “I”.")
    return statements_about(inputs.name, text)


_FIRST_PERSON = lazy_pattern(r"\b(?:I|I['’]m|I['’]ve|[Mm]y|[Mm]yself)\b(?!\.)")
_QUOTED = lazy_pattern(r"[\"“«].*?[\"”»]")


def _numbers(entry: Mapping[str, Any], key: str, statement_count: int) -> tuple[int, ...]:
    value = entry[key]
    values = value if isinstance(value, list) else [value] if value is not None else []
    numbers = [int(digits[0]) for item in values if (digits := re.search(r"\d{1,9}", answers.line(item)))]
    wrong_numbers = [number for number in numbers if not 1 <= number <= statement_count]
    if wrong_numbers:
        raise ModelNonsense(f"There is no statement {wrong_numbers[0]}; there are {statement_count}.")
    return tuple(dict.fromkeys(numbers))


def _check_added(proposal: ProfileMerge, inputs: Inputs) -> None:
    new_statements = _new_statements(inputs)
    if new_statements and not proposal.added and not proposal.same:
        raise ModelNonsense("What is new is neither in add nor is a statement named that says the same.")
    source_text = " ".join(
        [inputs.new, inputs.name, inputs.speaker, *new_statements, *(message.text for message in inputs.conversation)]
    )
    grounds = Grounds.of(source_text)
    wider_grounds = Grounds.of(
        " ".join([source_text, *(inputs.statements[number - 1] for number in proposal.replaced)])
    )
    for text in proposal.added:
        values = {
            term
            for fact in parse_statement(inputs.name, text).facts
            for term in analyse(fact.value, wider_grounds.language).terms
        }
        if (
            wider_grounds.find_inventions(text)
            or not values <= wider_grounds.terms
            or not _shares(text, wider_grounds, inputs)
        ):
            raise ModelNonsense(f"“{text}” is not what was said.")
    if proposal.added and not any(_shares(text, grounds, inputs) for text in proposal.added):
        raise ModelNonsense("What is new is not in add.")
    for number in proposal.same:
        if new_statements and not _shares(inputs.statements[number - 1], grounds, inputs):
            raise ModelNonsense(f"Statement {number} does not say what is new.")


def _shares(text: str, grounds: Grounds, inputs: Inputs) -> bool:
    """Whether a text shares a word with what was said, other than the name."""
    name_terms = set(analyse(inputs.name, grounds.language).terms)
    text_terms = set(analyse(text, grounds.language).terms) - name_terms
    return not text_terms or not grounds.terms - name_terms or bool(text_terms & grounds.terms)


def _check_replaced(proposal: ProfileMerge, inputs: Inputs) -> None:
    """Raise ModelNonsense if something is lost that was not contradicted."""
    new_readings = [parse_statement(inputs.name, text) for text in (*proposal.added, *_new_statements(inputs))]
    same_readings = [parse_statement(inputs.name, inputs.statements[number - 1]) for number in proposal.same]
    new_terms = {term for new_reading in new_readings for term in new_reading.terms}
    for number in proposal.replaced:
        old_reading = parse_statement(inputs.name, inputs.statements[number - 1])
        if any(says_same(new_reading, old_reading) for new_reading in new_readings + same_readings):
            continue
        if (
            not any(contradicts(old_reading, new_reading) for new_reading in new_readings)
            and not old_reading.terms & new_terms
        ):
            raise ModelNonsense(f"Statement {number} has nothing to do with what is new; it must stay.")
        lost_statements = facts_not_restated(old_reading, new_readings + same_readings)
        if lost_statements:
            raise ModelNonsense(
                f"Statement {number} also says: {lost_statements[0]} Keep that in add, or do not replace it."
            )
