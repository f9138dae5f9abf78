"""Summaries of published chats, drawn by a seed, to be read one by one.

No rule can say that a summary is good: somebody has to read it. Which ones are read is decided by a seed and the places
of the episodes, never by their text, so that the same spans are read before and after a change. What can be seen by
simple means is marked: a line without a verb, by a list of words that has nothing to do with the rules that choose the
lines, leftovers of markup, a number that is not in the message, and a beginning that points to something before it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from everword.model import Episode, ExtractLine, Message
from quality.datasets import Dataset
from quality.speakers import flatten, summarise

_VERBS = """
    am is are was were be been being 's 're 'm 've 'll 'd has have had do does did will would can could shall should
    may might must let lets add allow ask avoid bake become began begin believe book bought bring brought build
    buy came change check choose come consider contact cook cost could create cut decide discover drink drive
    eat enjoy ensure experiment explore feel felt find found gave get give go got grow guess had happen hear
    heard help hope include involve keep kept know learn leave left lets like listen live look lost love made
    make mean meet met mix move need offer open paint pay pick plan play practice prefer prepare provide put
    read recommend remember remind research run said sat saw say see seem sell send serve set share show sign
    sing sit skip sleep sold sound spent spend start stay stop store suggest take talk taste teach tell thank
    think thought told took travel try turn understand use visit wait walk want wash watch wear went wish won
    wonder work worry write wrote
"""
_VERB = re.compile(
    rf"\b(?:{'|'.join(sorted(set(_VERBS.split())))})\b|(?:n['’]t|['’](?:s|re|m|ve|ll|d))\b|\w{{2,}}ed\b"
    rf"|\b(?:{'|'.join(sorted({verb for verb in _VERBS.split() if len(verb) > 3}))})(?:e?s|ing)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|\||\\[_*`]|(?<!\w)__|^#+\s|```|</?\w+>")
_POINTS = re.compile(
    r"^(?:it|that|this|these|those|they|he|she|and|or|but|so|which|because|them|him|then)\b", re.IGNORECASE
)
_LABEL = re.compile(r"^(?:option|step|example|part|tip|question|q|day|note|idea)\s*\d*\s*[:.)]?$", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d.,:/]*\d|\d")


@dataclass(frozen=True, slots=True)
class DrawnSummary:
    """A summary and the messages it is of, oldest first."""

    episode: Episode
    messages: tuple[Message, ...]


def collect_summaries(dataset: Dataset, report: Callable[[int], None]) -> list[DrawnSummary]:
    """All summaries of all levels of a set."""
    collected: list[DrawnSummary] = []
    for number, haystack in enumerate(dataset.haystacks, 1):
        for messages, episodes in summarise(haystack):
            for episode in flatten(episodes):
                own = tuple(message for message in messages if episode.first <= message.turn <= episode.last)
                collected.append(DrawnSummary(episode, own))
        report(number)
    return collected


def draw_summaries(collected: Sequence[DrawnSummary], count: int, seed: int) -> list[DrawnSummary]:
    """So many of them, drawn by a seed."""
    return random.Random(seed).sample(collected, min(count, len(collected)))


def find_marks(drawn: DrawnSummary) -> Iterator[tuple[int, str]]:
    """What can be seen of a summary without reading it: the number of a line, and what is odd about it."""
    content_of = {message.turn: message.content for message in drawn.messages}
    for number, line in enumerate(drawn.episode.lines):
        for mark in line_marks(line, content_of.get(line.turn, "")):
            yield number, mark


def line_marks(line: ExtractLine, content: str) -> Iterator[str]:
    """What is odd about one line; `content` is the message it is from."""
    if not line.leans and line.kind != "note" and not _VERB.search(line.text):
        yield "no verb"
    if _MARKUP.search(line.text):
        yield "markup"
    if not line.leans and _POINTS.match(line.text):
        yield "points back"
    if _LABEL.match(line.text):
        yield "label"
    if line.kind != "note" and not set(_NUMBER.findall(line.text)) <= set(_NUMBER.findall(content)):
        yield "number of no message"
    if line.text.endswith("…") and not content.rstrip().endswith("…"):
        yield "cut"
