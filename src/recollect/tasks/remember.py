"""A new statement, merged into what is known of a person.

A model names the statements that the new one takes the place of, and words what is added; all others stay letter for
letter, since it is never asked to repeat them. What it replaces must have to do with the new statement, and whatever
else such a statement said must be in the new wording: an answer that drops what nobody contradicted cannot be used.

"Remember this about Bob" has no statement of its own: it is in the conversation so far.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.errors import ModelNonsense
from recollect.language.terms import analyse
from recollect.ports import Request
from recollect.rules.facts.grounding import Grounds
from recollect.rules.people.statements import (
    Heard,
    Merge,
    contradicts,
    just_said,
    merge,
    reading,
    says_same,
    unrestated,
)
from recollect.rules.people.third_person import MAX_STATEMENT, MAX_STATEMENTS, statements_about
from recollect.rules.prompt.fences import Fenced, byline, line, plain, section
from recollect.rules.prompt.labels import author_labels
from recollect.tasks import answers
from recollect.tasks.task import DATA, again, ask, object_schema

name = "remember"

Reply = Merge
"""What is added, and the numbers, from 1, of the statements it replaces and of those that say the same."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """Whom it is about, what is known of them, and what is new, said by `speaker` (themselves if empty).

    Where `new` refers back, `conversation` has the messages before, oldest first, and is what is remembered from.
    """

    name: str
    statements: tuple[str, ...]
    new: str
    speaker: str = ""
    conversation: tuple[Heard, ...] = ()


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
    whom = plain(inputs.name) or "the person"
    parts = [section("PERSON", [Fenced(whom)])]
    # Escaped text never begins a line with a number of ours: it stands behind one.
    known = [Fenced(f"{number}. {line(text)}") for number, text in enumerate(inputs.statements, 1)]
    parts.append(section("STATEMENTS", known or [Fenced("(none yet)")], between="\n"))
    if inputs.conversation:
        labels = author_labels(("user", one.author) for one in inputs.conversation)
        heard = [
            Fenced(f"- {labels['user', one.author]}: {line(one.text[:_MAX_HEARD])}") for one in inputs.conversation
        ]
        parts.append(section("CONVERSATION", heard, between="\n"))
    parts.append(section("NEW", [line(inputs.new[:_MAX_NEW]) or Fenced("(what was said last in the conversation)")]))
    parts.append(Fenced(f"The new statement is by {byline(inputs.speaker) if inputs.speaker else whom}."))
    return ask(_SYSTEM, "\n".join(parts), max_tokens=_MAX_TOKENS, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    entry = _entry(text)
    added = tuple(dict.fromkeys(made for said in _texts(entry) for made in _worded(said, inputs)))
    replaced, same = (_numbers(entry, key, len(inputs.statements)) for key in ("replace", "same"))
    made = Merge(added, replaced, tuple(number for number in same if number not in replaced))
    _check_added(made, inputs)
    _check_replaced(made, inputs)
    return _settled(made, inputs)


def _settled(made: Merge, inputs: Inputs) -> Merge:
    """With what the rules know besides: a contradiction that was overlooked, a statement that was there already."""
    left = [number for number in range(1, len(inputs.statements) + 1) if number not in made.replaced]
    ruled = merge(inputs.name, [inputs.statements[number - 1] for number in left], made.added)
    replaced = (*made.replaced, *(left[number - 1] for number in ruled.replaced))
    same = dict.fromkeys((*made.same, *(left[number - 1] for number in ruled.same)))
    return Merge(ruled.added, replaced, tuple(number for number in same if number not in replaced))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return again(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    return merge(inputs.name, inputs.statements, _said(inputs))


def _said(inputs: Inputs) -> tuple[str, ...]:
    """What is to be remembered, as statements."""
    told = statements_about(inputs.name, inputs.new, speaker=inputs.speaker) if inputs.new.strip() else ()
    return told or just_said(inputs.name, inputs.conversation)


# What a model wrote

_ADD = ("add", "added", "new", "statements", "statement")
_REPLACE = ("replace", "replaced", "replaces", "remove", "removed", "drop")
_SAME = ("same", "known", "duplicate", "duplicates")


def _entry(text: str) -> Mapping[str, Any]:
    for one in answers.objects(text):
        keys = {
            key: next((one[name] for name in names if name in one), None)
            for key, names in (("add", _ADD), ("replace", _REPLACE), ("same", _SAME))
        }
        if any(value is not None for value in keys.values()):
            return keys
    raise ModelNonsense('There is no JSON of the form {"add": [...], "replace": [...], "same": [...]} in the answer.')


def _texts(entry: Mapping[str, Any]) -> list[str]:
    given = entry["add"]
    listed = given if isinstance(given, list) else [given] if given else []
    return [said for each in listed[:MAX_STATEMENTS] if (said := " ".join(answers.line(each).split()))]


def _worded(said: str, inputs: Inputs) -> Sequence[str]:
    if len(said) > MAX_STATEMENT:
        raise ModelNonsense(f"A statement has at most {MAX_STATEMENT} characters.")
    if _FIRST_PERSON.search(_QUOTED.sub("", said)):
        raise ModelNonsense(f"Write about {plain(inputs.name)} in the third person, not as “I”.")
    return statements_about(inputs.name, said)


_FIRST_PERSON = re.compile(r"\b(?:I|I['’]m|I['’]ve|[Mm]y|[Mm]yself)\b(?!\.)")
_QUOTED = re.compile(r"[\"“«].*?[\"”»]")


def _numbers(entry: Mapping[str, Any], key: str, most: int) -> tuple[int, ...]:
    given = entry[key]
    listed = given if isinstance(given, list) else [given] if given is not None else []
    found = [int(digits[0]) for each in listed if (digits := re.search(r"\d{1,9}", answers.line(each)))]
    wrong = [number for number in found if not 1 <= number <= most]
    if wrong:
        raise ModelNonsense(f"There is no statement {wrong[0]}; there are {most}.")
    return tuple(dict.fromkeys(found))


def _check_added(made: Merge, inputs: Inputs) -> None:
    told = _said(inputs)
    if told and not made.added and not made.same:
        raise ModelNonsense("What is new is neither in add nor is a statement named that says the same.")
    said = " ".join([inputs.new, inputs.name, inputs.speaker, *told, *(one.text for one in inputs.conversation)])
    grounds = Grounds.of(said)
    old = Grounds.of(" ".join([said, *(inputs.statements[number - 1] for number in made.replaced)]))
    for text in made.added:
        values = {term for fact in reading(inputs.name, text).facts for term in analyse(fact.value, old.language).terms}
        if old.invented(text) or not values <= old.terms or not _shares(text, old, inputs):
            raise ModelNonsense(f"“{text}” is not what was said.")
    if made.added and not any(_shares(text, grounds, inputs) for text in made.added):
        raise ModelNonsense("What is new is not in add.")
    for number in made.same:
        if told and not _shares(inputs.statements[number - 1], grounds, inputs):
            raise ModelNonsense(f"Statement {number} does not say what is new.")


def _shares(text: str, grounds: Grounds, inputs: Inputs) -> bool:
    """Whether a text has a word of what was said, other than the name."""
    own = set(analyse(inputs.name, grounds.language).terms)
    mine = set(analyse(text, grounds.language).terms) - own
    return not mine or not grounds.terms - own or bool(mine & grounds.terms)


def _check_replaced(made: Merge, inputs: Inputs) -> None:
    """Nothing is lost that is not contradicted."""
    new = [reading(inputs.name, text) for text in (*made.added, *_said(inputs))]
    kept = [reading(inputs.name, inputs.statements[number - 1]) for number in made.same]
    words = {term for each in new for term in each.terms}
    for number in made.replaced:
        old = reading(inputs.name, inputs.statements[number - 1])
        if any(says_same(each, old) for each in new + kept):
            continue
        if not any(contradicts(old, each) for each in new) and not old.terms & words:
            raise ModelNonsense(f"Statement {number} has nothing to do with what is new; it must stay.")
        lost = unrestated(old, new + kept)
        if lost:
            raise ModelNonsense(f"Statement {number} also says: {lost[0]} Keep that in add, or do not replace it.")
