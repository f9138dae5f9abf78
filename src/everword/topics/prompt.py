"""Writes a topic's title and summary: updates the summary so far with what was said since, and gives a title to it all.

Updating is incremental, as with an episode: the model sees the summary so far and the new messages, never the old ones
again. What it writes must be grounded in what it was shown. Without a model the title stays as it is, the beginning of
the message that opened the topic, and the most important sentences are the summary.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from everword.errors import ModelNonsense
from everword.facts.rules.grounding import Grounds
from everword.follow import task_answers as answers
from everword.follow.task import DATA, build_request, object_schema, repair_request
from everword.model import ExtractLine
from everword.ports import Request
from everword.summaries.prompts import EpisodeInputs, both_ends, episode_summary
from everword.summaries.rules import extract
from everword.summaries.rules.lines import SpokenLine
from everword.summaries.rules.tiers import Count
from everword.text.fences import Fenced, escape_line, section

name = "topic_summary"

MAX_TITLE = 80
"""Characters of a title."""
MAX_CHARACTERS = 2_400
"""Characters of messages that a model is shown; of more, the longest messages are cut first, in their middle."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The title so far, the new messages, the summary so far (empty for none), the most tokens of the new one, and how
    they are counted."""

    title: str
    lines: tuple[SpokenLine, ...]
    before: str
    limit: int
    count: Count = field(compare=False, repr=False)
    before_lines: tuple[ExtractLine, ...] = ()

    @property
    def episode(self) -> EpisodeInputs:
        """The inputs for the summary, which are those of an episode."""
        return EpisodeInputs(self.lines, self.before, self.limit, self.count, self.before_lines)

    @property
    def shown_episode(self) -> EpisodeInputs:
        """The same as a model is shown them: of long messages both ends. A title and a few sentences need no more."""
        most = extract.size_limit([len(line.text) for line in self.lines], MAX_CHARACTERS)
        lines = tuple(replace(line, text=both_ends(line.text, most)) for line in self.lines)
        return replace(self.episode, lines=lines)


@dataclass(frozen=True, slots=True)
class Reply:
    """The title and the summary, each in one line, and without a model the lines that the summary was written from."""

    title: str
    summary: str
    lines: tuple[ExtractLine, ...] = ()


_TITLE = "Tiles for the bathroom"
_EXAMPLE = "Dana compared tiles for the bathroom. She decided against the red ones, too dear at 900 kr."
_SYSTEM = f"""You keep the memory of a chat by topics. Give a topic a title and a summary.
title: two to eight words that tell this topic from others; no quotes, no full stop.
summary: plain sentences in the third person, with who said what. Keep names, numbers, dates, places, likes, decisions,
plans and open questions. If there is a SUMMARY SO FAR, keep what it says and add what the new messages say.
Use only what is said. Never change a number or a name, never drop a "not". Write in the language of the messages.
{DATA}
Answer with JSON only, as in: {json.dumps({"title": _TITLE, "summary": _EXAMPLE})}"""
_SCHEMA = object_schema({"title": {"type": "string"}, "summary": {"type": "string"}})


def build(inputs: Inputs) -> Request:
    request = episode_summary.build(inputs.shown_episode)
    title = section("TITLE SO FAR", [escape_line(inputs.title) or Fenced("(none)")])
    body = f"{title}\n{request.messages[-1]['content']}"
    return build_request(_SYSTEM, body, max_tokens=260 + 2 * inputs.limit, schema=_SCHEMA)


def parse(text: str, inputs: Inputs) -> Reply:
    try:
        summary = episode_summary.parse(text, inputs.shown_episode).summary
    except ModelNonsense:
        if inputs.lines or not inputs.before:
            raise
        summary = inputs.before
    return Reply(_title_in(text, inputs), summary)


def repair(inputs: Inputs, text: str, error: ModelNonsense) -> Request:
    return repair_request(build(inputs), text, error)


def offline(inputs: Inputs) -> Reply:
    reply = episode_summary.offline(inputs.episode)
    return Reply(inputs.title, reply.summary, reply.lines)


def _title_in(text: str, inputs: Inputs) -> str:
    """The title in an answer; the one so far, if the answer has none that is grounded in the messages."""
    raw_title = ""
    for answer in answers.objects(text):
        if isinstance(answer.get("title"), str) and answer["title"].strip():
            raw_title = answer["title"]
            break
    else:
        labels = answers.parts_by_label(text, {"title": r"title"})
        raw_title = labels[0]["title"].splitlines()[0] if labels and labels[0]["title"].strip() else ""
    title = " ".join(escape_line(raw_title).strip(" \"'`*").rstrip(".").split())
    if not any(map(str.isalnum, title)) or len(title) > MAX_TITLE or title.casefold() == _TITLE.casefold():
        return inputs.title
    source = "\n".join(
        [
            inputs.title,
            inputs.before,
            *(text_part for message in inputs.lines for text_part in (message.author, message.text)),
        ]
    )
    grounds = Grounds.of(source)
    return inputs.title if not grounds.shares_word(title) or grounds.find_inventions(title) else title
