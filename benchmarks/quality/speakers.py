"""Who is named in summaries: every labelled sentence of every level, traced to the message it is from.

Each conversation is kept in a memory without a model. A sentence of a summary is attributed twice: by its line, as it
is stored, and by the text, as a reader would: to the last label before it. Its words must stand in the message of its
turn; the speaker is wrong if no message with these words is by the one who is named.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everword import Draft, Memory
from everword.model import Episode, Message
from everword.summaries.rules.extract import speaker_labels
from quality.datasets import Dataset, Haystack
from quality.recall import _author as author_of

PATIENCE = 600.0
BATCH = 500
STITCHED = 40  # sessions of a set of short chats that are kept as one conversation
_WORD = re.compile(r"[^\W_]+")  # an underscore may be markup


@dataclass(slots=True)
class SpeakerCounts:
    """The summaries that were read, by level, and their sentences: all, with the wrong speaker, of no message."""

    conversations: int = 0
    summaries: Counter[int] = field(default_factory=Counter)
    sentences: int = 0
    wrong_by_line: int = 0
    wrong_in_text: int = 0
    untraceable: int = 0

    @property
    def wrong(self) -> int:
        return self.wrong_by_line + self.wrong_in_text


def evaluate(dataset: Dataset, report: Callable[[int], None]) -> SpeakerCounts:
    """Count the sentences of all summaries of a set."""
    counts = SpeakerCounts()
    for number, haystack in enumerate(dataset.haystacks, 1):
        for messages, episodes in summarise(haystack):
            counts.conversations += 1
            for episode in flatten(episodes):
                counts.summaries[episode.level] += 1
                check_episode(episode, messages, counts)
        report(number)
    return counts


def summarise(haystack: Haystack) -> Iterator[tuple[list[Message], list[Episode]]]:
    """The messages and the summaries of each conversation of a haystack."""
    if haystack.continuous:
        chats = [haystack.turns]
    else:
        groups = range(0, len(haystack.sessions), STITCHED)
        ordered = sorted(haystack.sessions, key=lambda session: session.time)
        chats = [
            tuple(turn for session in ordered[first : first + STITCHED] for turn in session.turns) for first in groups
        ]
    for turns in chats:
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory(str(Path(folder) / "memory.db"), followers=False) as memory,
        ):
            chat = memory.conversation("chat", user="owner")
            drafts = [Draft(turn.role, turn.text, author=author_of(turn), time=turn.time) for turn in turns]
            messages = [
                added.message
                for first in range(0, len(drafts), BATCH)
                for added in chat.extend(drafts[first : first + BATCH])
            ]
            memory.settle(PATIENCE)
            yield messages, chat.episodes()


def flatten(episodes: Sequence[Episode]) -> Iterator[Episode]:
    for episode in episodes:
        yield episode
        yield from flatten(episode.parts)


def check_episode(episode: Episode, messages: Sequence[Message], counts: SpeakerCounts) -> None:
    """Attribute each sentence of a summary by its line and by the text, and compare both with the messages."""
    within = [message for message in messages if episode.first <= message.turn <= episode.last]
    words_of = {message.turn: squeeze(message.content) for message in within}
    readings = attribute(episode)
    for number, line in enumerate(episode.lines):
        if not line.role:
            continue
        counts.sentences += 1
        words = squeeze(line.text)
        if not is_within(words, words_of.get(line.turn, "")):
            counts.untraceable += 1
            continue
        said_by = {(message.role, message.author) for message in within if is_within(words, words_of[message.turn])}
        counts.wrong_by_line += (line.role, line.author) not in said_by
        counts.wrong_in_text += readings[number] not in said_by


def attribute(episode: Episode) -> list[tuple[str, str] | None]:
    """Whom a reader of the text takes for the speaker of each line: the label that was last named before it."""
    people_by_label = {label: speaker for speaker, label in speaker_labels(episode.lines).items()}
    labels = sorted(people_by_label, key=len, reverse=True)
    day = r"(?:\d{1,2} \w{3} \d{4}, )?"
    named = re.compile(rf"(?:^|(?<=\s)){day}({'|'.join(map(re.escape, labels))}): ")
    text = episode.summary
    readings: list[tuple[str, str] | None] = []
    at = 0
    for line in episode.lines:
        words = line.text.rstrip(" .,;:–—-")
        start = text.find(words, at)
        if start < 0:  # not written as it is stored: nobody can read who said it
            readings.append(None)
            continue
        before = list(named.finditer(text, 0, start))
        readings.append(people_by_label[before[-1][1]] if before else None)
        at = start + len(words)
    return readings


def squeeze(text: str) -> str:
    """The words of a text, without marks and case."""
    return " ".join(_WORD.findall(text.casefold().replace("`", "")))  # markup is not shown


def is_within(words: str, source: str) -> bool:
    """Whether the words stand in this order in the source: a sentence is shortened by leaving words out."""
    source_words = iter(source.split())
    return all(word in source_words for word in words.split())
