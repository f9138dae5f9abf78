"""Summarizes how a member has been in the last days: one text of their digests of six days, renewed every day."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date

from recollect.errors import ModelNonsense
from recollect.follow.task import DATA, build_request, object_schema, repair_request
from recollect.ports import Request
from recollect.summaries.prompts.level_summary import parse_summary
from recollect.summaries.rules import extract
from recollect.summaries.rules.lines import member_lines, render_lines
from recollect.text.fences import Fenced, escape_line, plain_name, section

name = "week_history"

CHARACTERS = 500  # about
MOST = 650  # characters that are kept whole
MAX_DAY = 2_000  # characters of a day's digest that are shown


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the member is called, and their days with what each was, oldest first."""

    name: str
    days: tuple[tuple[date, str], ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """The history, in one line."""

    text: str


_EXAMPLE = (
    "Dana worked up to a talk on Friday: nervous on Tuesday, calmer after practising with Kim, proud afterwards. She "
    "answers others late in the evening and makes fun of herself when she is tired."
)
_SYSTEM = f"""You keep the memory of a group chat. From a member's diary of the last days write how they have been, in
about {CHARACTERS} characters: what keeps coming back, how their mood went, what happened that matters or changed, and
what their behaviour says about them. Plain sentences in the third person, with their name. Keep the language.
Use only what is said. Never change a number or a name, never drop a "not".
{DATA}
Answer with JSON only, as in: {json.dumps({"summary": _EXAMPLE}, ensure_ascii=False)}"""
_SCHEMA = object_schema({"summary": {"type": "string"}})


def build(inputs: Inputs) -> Request:
    days = [Fenced(f"{day.isoformat()} ({day:%A}): {escape_line(text[:MAX_DAY])}") for day, text in inputs.days]
    member = plain_name(inputs.name) or "the member"
    parts = [section("MEMBER", [Fenced(member)]), section("DIARY", days, between="\n")]
    return build_request(_SYSTEM, "\n".join(parts), max_tokens=200 + CHARACTERS, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    dates = " ".join(f"{day.isoformat()} {day:%A %d %B %Y}" for day, _ in inputs.days)
    source = "\n".join([inputs.name, dates, *(digest[:MAX_DAY] for _, digest in inputs.days)])
    return Reply(parse_summary(text, source, (_SYSTEM, _EXAMPLE), MOST, len))


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    member = plain_name(inputs.name) or "the member"
    parts = [member_lines(text, member) for _, text in inputs.days]
    return Reply(render_lines(extract.condense(parts, CHARACTERS, len)))
