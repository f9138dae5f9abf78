"""Summarizes a few summaries: a level of episodes becomes one summary on the level above.

A model's summary is found wherever it is in the answer, cleaned, checked against what the model was shown and cut at
the end of a sentence; without a model the most important sentences are used, some of each summary
(`summaries.rules.extract.condense`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from recollect.errors import ModelNonsense
from recollect.facts.rules.grounding import Grounds
from recollect.follow import task_answers as answers
from recollect.follow.task import DATA, build_request, object_schema, repair_request
from recollect.model import ExtractLine
from recollect.ports import Request
from recollect.summaries.rules import extract
from recollect.summaries.rules.lines import narrative_lines, render_lines
from recollect.summaries.rules.tiers import Count, clean
from recollect.text.fences import Fenced, escape_line, section
from recollect.text.words import words

name = "level_summary"

MAX_TOKENS = 6_000
"""Tokens of summaries that a model is shown; of more, the longest are shortened first."""
_WORDS_PER_TOKEN = 0.7
_FEWEST_WORDS = 8


@dataclass(frozen=True, slots=True)
class Inputs:
    """The summaries, oldest first, the most tokens of the one they become, and how tokens are counted.

    `parts` are the lines of each summary; without them the summaries are prose that nobody said.
    """

    summaries: tuple[str, ...]
    limit: int
    count: Count = field(compare=False, repr=False)
    parts: tuple[tuple[ExtractLine, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The summary, in one line, and without a model the lines that it was written from."""

    summary: str
    lines: tuple[ExtractLine, ...] = ()


_EXAMPLE = "Dana chose grey tiles for 650 kr over the red ones. She then booked a sleeper to Bodø for 9 August."
_SYSTEM = f"""You write the memory of a chat. Make one summary of several that follow each other in time, oldest first.
Write plain sentences in the third person, in that order. Say something of each summary.
Keep names, numbers, dates, places, likes, decisions, plans and open questions. Where a later one corrects an earlier
one, keep the later. Use only what is said. Never change a number or a name, never drop a "not". Keep the language.
{DATA}
Answer with JSON only.

Example:
=== SUMMARY 1 ===
Dana liked the red tiles, but chose the grey ones for 650 kr.
=== END SUMMARY 1 ===
=== SUMMARY 2 ===
Dana asked how to get to Bodø without flying. She booked a sleeper for 9 August.
=== END SUMMARY 2 ===
{json.dumps({"summary": _EXAMPLE}, ensure_ascii=False)}"""
_SCHEMA = object_schema({"summary": {"type": "string"}})


def build(inputs: Inputs) -> Request:
    parts = [
        section(f"SUMMARY {number}", [escape_line(text) or Fenced("(empty)")])
        for number, text in enumerate(_shorten_summaries(inputs), 1)
    ]
    parts.append(Fenced(f"Write one summary of at most {word_limit(inputs.limit)} words."))
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=200 + 2 * inputs.limit, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    return Reply(
        parse_summary(text, "\n".join(_shorten_summaries(inputs)), (_SYSTEM, _EXAMPLE), inputs.limit, inputs.count)
    )


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    parts = inputs.parts or tuple(narrative_lines(summary) for summary in inputs.summaries)
    lines = extract.condense(parts, inputs.limit, inputs.count)
    return Reply(render_lines(lines), lines)


def word_limit(tokens: int) -> int:
    """How many words to ask a model for, so that it stays within so many tokens."""
    return max(int(tokens * _WORDS_PER_TOKEN), _FEWEST_WORDS)


def _shorten_summaries(inputs: Inputs) -> list[str]:
    texts = extract.limit_texts(inputs.summaries)
    max_tokens = extract.size_limit([inputs.count(text) for text in texts], MAX_TOKENS)
    return [extract.first_sentences(text, max_tokens, inputs.count) for text in texts]


# -- what a model wrote, for this task and for the summary of an episode

_KEYS = ("summary", "newsummary", "updatedsummary", "episodesummary", "text", "content", "answer")
_ECHO = 30  # a line of the prompt with at least so many characters is not in a summary by chance
_MANY = 24  # words from which on a summary must not repeat itself
_DIFFERENT = 0.2  # the share of different words, at least


def parse_summary(text: str, source: str, prompt: Sequence[str], limit: int, count: Count) -> str:
    """The summary in an answer, clean and within the limit; ModelNonsense if it does not summarize the source."""
    summary = clean(_find_summary(text))
    if fault := _fault(summary, source, prompt):
        raise ModelNonsense(fault)
    return extract.first_sentences(summary, limit, count)


def _find_summary(text: str) -> str:
    for answer in answers.objects(text):
        candidates = [answer, *(value for value in answer.values() if isinstance(value, dict))]
        for key in _KEYS:
            for candidate in candidates:
                if (value := _text(candidate.get(key))).strip():
                    return value
    if labels := answers.parts_by_label(text, {"summary": r"(?:(?:new|updated)\s+)?summary"}):
        return labels[0]["summary"]
    bare_text = answers.after_thinking(text).strip().strip("`").strip()
    # Prose without JSON counts as the summary; broken JSON does not.
    return "" if bare_text[:1] in ("{", "[") or bare_text.startswith("json") else bare_text.strip("\"'")


def _text(value: object) -> str:
    """What a model gave as text: a string, or a list of sentences."""
    if isinstance(value, list):
        return " ".join(sentence for sentence in value if isinstance(sentence, str))
    return answers.line(value) if isinstance(value, str) else ""


def _fault(summary: str, source: str, prompt: Sequence[str]) -> str:
    """What is wrong with a summary; empty if nothing is."""
    if not any(map(str.isalnum, summary)):
        return 'There is no JSON with "summary" in the answer, or it is empty.'
    summary_text = " ".join(summary.casefold().split())
    prompt_lines = [" ".join(prompt_line.casefold().split()) for part in prompt for prompt_line in part.splitlines()]
    if any(prompt_line in summary_text for prompt_line in prompt_lines if len(prompt_line) >= _ECHO):
        return "The summary repeats the instructions or the example."
    summary_words = [word.casefold() for word in words(summary)]
    if len(summary_words) >= _MANY and len(set(summary_words)) < _DIFFERENT * len(summary_words):
        return "The summary says the same words again and again."
    grounds = Grounds.of(source)
    if not grounds.shares_word(summary):
        return "The summary says nothing that was said."
    strangers = grounds.find_inventions(summary)
    return f"The summary mentions {', '.join(strangers[:4])}, which nobody said." if strangers else ""
