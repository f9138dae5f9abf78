"""The summary of an episode: a new one of a run of messages, or the one so far brought up to date with new messages.

Updating is incremental: the model sees the summary so far and the new messages, never the old messages again. What it
writes must be grounded in what it was shown, fit the limit, and keep a trace of the summary so far; without a model the
sentences that carry most stand for it (`rules.gist`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from recollect.errors import ModelNonsense
from recollect.language.terms import analyse
from recollect.ports import Request
from recollect.rules.episodes import extract
from recollect.rules.prompt.fences import Fenced, attribution, line, section
from recollect.rules.prompt.labels import author_labels
from recollect.rules.tiers.tiers import Count
from recollect.tasks.level_summary import summary_in, words_of
from recollect.tasks.task import DATA, again, ask, object_schema

name = "episode_summary"

MAX_TOKENS = 6_000
"""Tokens of messages that a model is shown; of more, the longest messages are cut first, in their middle."""
MAX_LINES = 300
"""Messages that a model is shown; of more, the first and the last."""
_TRACE = 5  # words that only the summary so far has, from which on one of them must be kept


@dataclass(frozen=True, slots=True)
class Inputs:
    """The new messages, the summary so far (empty for a new episode), the most tokens, and how they are counted."""

    lines: tuple[extract.Line, ...]
    before: str
    limit: int
    count: Count = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """The summary, in one line."""

    summary: str


_EXAMPLE = "Dana asked for a bakery near the station in Oslo. She decided against the red tiles, too dear at 900 kr."
_SYSTEM = f"""You write the memory of a chat: a summary in plain sentences, in the third person, with who said what.
Keep names, numbers, dates, places, likes, decisions, plans and open questions. Leave out greetings and thanks.
If there is a SUMMARY SO FAR, write one summary that keeps what it says and adds what the new messages say.
Use only what is said. Never change a number or a name, never drop a "not". Write in the language of the messages.
{DATA}
Answer with JSON only.

Example:
=== NEW MESSAGES ===
user Dana: Hi! Do you know a bakery near the station in Oslo?
assistant: Sure, there are three.
user Dana: Thanks. By the way, no red tiles, they are 900 kr!
=== END NEW MESSAGES ===
{json.dumps({"summary": _EXAMPLE})}"""
_SCHEMA = object_schema({"summary": {"type": "string"}})


def build(inputs: Inputs) -> Request:
    parts = [section("SUMMARY SO FAR", [line(inputs.before)])] if inputs.before.strip() else []
    parts.append(section("NEW MESSAGES", _messages(inputs) or [Fenced("(none)")], between="\n"))
    parts.append(Fenced(f"Write a summary of at most {words_of(inputs.limit)} words."))
    return ask(_SYSTEM, "\n".join(parts), max_tokens=200 + 2 * inputs.limit, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    told = "\n".join(one for each in _shown(inputs) for one in (each.author, each.text))
    summary = summary_in(text, f"{inputs.before}\n{told}", (_SYSTEM, _EXAMPLE), inputs.limit, inputs.count)
    if _forgets(summary, inputs.before, told):
        raise ModelNonsense("The summary leaves out what the summary so far says.")
    return Reply(summary)


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return again(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    made = extract.gist(inputs.lines, inputs.limit, inputs.count)
    if inputs.before.strip():
        made = extract.condense([one for one in (inputs.before, made) if one], inputs.limit, inputs.count)
    return Reply(made)


def _messages(inputs: Inputs) -> list[Fenced]:
    # Escaped text never begins with a role, so the roles that begin these lines are ours.
    labels = author_labels((each.role, each.author) for each in inputs.lines)
    return [
        Fenced(f"{attribution(each.role, each.author, labels)}: {line(each.text) or '(empty)'}")
        for each in _shown(inputs)
    ]


def _shown(inputs: Inputs) -> list[extract.Line]:
    """The messages as a model is shown them: of many the first and the last, of long ones both ends."""
    lines = list(inputs.lines)
    if len(lines) > MAX_LINES:
        lines = lines[: MAX_LINES // 2] + lines[-MAX_LINES // 2 :]
    texts = extract.looked_at([each.text for each in lines])
    sizes = [inputs.count(text) for text in texts]
    most = extract.level(sizes, MAX_TOKENS)
    return [
        extract.Line(each.role, each.author, _ends(text, len(text) * most // size if size > most else len(text)))
        for each, text, size in zip(lines, texts, sizes, strict=True)
    ]


def _ends(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - most // 4]} […] {text[len(text) - most // 4 :]}"


def _forgets(summary: str, before: str, told: str) -> bool:
    """Whether nothing is left of what only the summary so far says."""
    known = analyse(before)
    only = set(known.terms) - set(analyse(told, known.language).terms)
    return len(only) >= _TRACE and only.isdisjoint(analyse(summary, known.language).terms)
