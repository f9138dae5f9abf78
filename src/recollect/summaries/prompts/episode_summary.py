"""Summarizes an episode: writes a new summary of a run of messages, or updates the one so far with new messages.

Updating is incremental: the model sees the summary so far and the new messages, never the old messages again. What it
writes must be grounded in what it was shown, fit the limit, and keep something of the summary so far; without a model
the most important sentences are the summary (`summaries.rules.extract`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from recollect.errors import ModelNonsense
from recollect.follow.task import DATA, build_request, object_schema, repair_request
from recollect.model import ExtractLine
from recollect.ports import Request
from recollect.summaries.prompts.level_summary import parse_summary, word_limit
from recollect.summaries.rules import extract
from recollect.summaries.rules.lines import SpokenLine, narrative_lines, render_lines
from recollect.summaries.rules.tiers import Count
from recollect.text.fences import Fenced, attribution, author_labels, escape_line, section
from recollect.text.terms import analyse

name = "episode_summary"

MAX_TOKENS = 6_000
"""Tokens of messages that a model is shown; of more, the longest messages are cut first, in their middle."""
MAX_LINES = 300
"""Messages that a model is shown; of more, the first and the last."""
_TRACE = 5  # if at least so many words are only in the summary so far, one of them must be kept


@dataclass(frozen=True, slots=True)
class Inputs:
    """The new messages, the summary so far (empty for a new episode), the most tokens, and how they are counted.

    `before_lines` are the lines of the summary so far; without them it is prose that nobody said.
    """

    lines: tuple[SpokenLine, ...]
    before: str
    limit: int
    count: Count = field(compare=False, repr=False)
    before_lines: tuple[ExtractLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The summary, in one line, and without a model the lines that it was written from."""

    summary: str
    lines: tuple[ExtractLine, ...] = ()


_EXAMPLE = "Dana asked for a bakery near the station in Oslo. She decided against the red tiles, too dear at 900 kr."
GUIDE = """\
in plain sentences, in the third person, with who said what.
Keep names, numbers, dates, places, likes, decisions, plans and open questions. Leave out greetings and thanks.
If there is a SUMMARY SO FAR, write one summary that keeps what it says and adds what the new messages say.
Use only what is said. Never change a number or a name, never drop a "not". Write in the language of the messages."""
_SYSTEM = f"""You write the memory of a chat: a summary {GUIDE}
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
    body = "\n".join(shown_parts(inputs))
    return build_request(_SYSTEM, body, max_tokens=200 + 2 * inputs.limit, schema=_SCHEMA)


def shown_parts(inputs: Inputs) -> list[Fenced]:
    """What a model is shown of one episode: the summary so far, the new messages, and how long the new one may be."""
    parts = [section("SUMMARY SO FAR", [escape_line(inputs.before)])] if inputs.before.strip() else []
    parts.append(section("NEW MESSAGES", _message_lines(inputs) or [Fenced("(none)")], between="\n"))
    parts.append(Fenced(f"Write a summary of at most {word_limit(inputs.limit)} words."))
    return parts


def parse(text: str, inputs: Inputs) -> Reply:
    message_text = "\n".join(
        text_part for message in _shorten_lines(inputs) for text_part in (message.author, message.text)
    )
    summary = parse_summary(text, f"{inputs.before}\n{message_text}", (_SYSTEM, _EXAMPLE), inputs.limit, inputs.count)
    if _forgets(summary, inputs.before, message_text):
        raise ModelNonsense("The summary leaves out what the summary so far says.")
    return Reply(summary)


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    lines = extract.gist(inputs.lines, inputs.limit, inputs.count)
    if inputs.before.strip():
        before = inputs.before_lines or narrative_lines(inputs.before)
        lines = extract.condense([part for part in (before, lines) if part], inputs.limit, inputs.count)
    return Reply(render_lines(lines), lines)


def _message_lines(inputs: Inputs) -> list[Fenced]:
    # Escaped text never begins with a role, so the roles at the start of these lines are ours.
    labels = author_labels((message.role, message.author) for message in inputs.lines)
    return [
        Fenced(f"{attribution(message.role, message.author, labels)}: {escape_line(message.text) or '(empty)'}")
        for message in _shorten_lines(inputs)
    ]


def _shorten_lines(inputs: Inputs) -> list[SpokenLine]:
    """The messages as a model is shown them: of many the first and the last, of long ones both ends."""
    lines = list(inputs.lines)
    if len(lines) > MAX_LINES:
        lines = lines[: MAX_LINES // 2] + lines[-MAX_LINES // 2 :]
    texts = extract.limit_texts([message.text for message in lines])
    sizes = [inputs.count(text) for text in texts]
    max_tokens = extract.size_limit(sizes, MAX_TOKENS)
    return [
        SpokenLine(
            message.role,
            message.author,
            _both_ends(text, len(text) * max_tokens // size if size > max_tokens else len(text)),
        )
        for message, text, size in zip(lines, texts, sizes, strict=True)
    ]


def _both_ends(text: str, max_characters: int) -> str:
    return (
        text
        if len(text) <= max_characters
        else f"{text[: max_characters - max_characters // 4]} […] {text[len(text) - max_characters // 4 :]}"
    )


def _forgets(summary: str, before: str, message_text: str) -> bool:
    """Whether nothing is left of what only the summary so far says."""
    old_analysis = analyse(before)
    old_terms = set(old_analysis.terms) - set(analyse(message_text, old_analysis.language).terms)
    return len(old_terms) >= _TRACE and old_terms.isdisjoint(analyse(summary, old_analysis.language).terms)
