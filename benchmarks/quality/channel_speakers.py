"""Who speaks in what is shown of a channel: digests, titles, summaries and contexts, read as a reader would.

A name with a colon after it says that the words behind it are that person's. Such names are looked for in every text,
however they are written: as a reader knows them, misspelt too. The words behind must stand in a message of that person.
A name after "to" is whom something is said to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from everword import Budget
from everword.log.append_and_read import known_names
from everword.model import Message
from everword.text.addressing import KnownNames
from everword.text.escaping import GUARD
from quality.channels import CHANNEL, KeptChannel, keep_channel
from quality.speakers import flatten, is_within, squeeze
from quality.threads import Stretch

EVERY = 40  # messages between those that a context is made for
READ = 3  # words behind a name that are compared
SMALL = Budget(total=3000)
_LABEL = re.compile(r"(?P<name>[^\s:,;<>@()\"“”]{1,40})\s?[:：](?=\s|[a-zÀ-ÿ]|$)(?!//)")
_HEADING = re.compile(r"[^\s:]+: [A-ZÀ-Þ]\w+(?: \w+){0,3}")  # a person and what is listed of them below
_START = re.compile(r"(?:^|[.!?:“\]·] ?|20\d\d, |user |to \w+\) )$")
_ADDRESSED = re.compile(r"\(to [^()]*\)")
_END = re.compile(r"[.!?:;][)\"]?\s|”|\.\.\.|…")


@dataclass(frozen=True, slots=True)
class Misreading:
    """A name that can be taken for who says the words behind it: in what kind of text, and what stands there."""

    kind: str
    person: str
    text: str


@dataclass(frozen=True, slots=True)
class ChannelReading:
    """What was read of a stretch: texts, names with a colon, and those of them that mislead."""

    texts: int
    labels: int
    misreadings: Sequence[Misreading]


def read_channel(stretch: Stretch) -> ChannelReading:
    """Keep a stretch in a memory without a model, and read all that is shown of it."""
    with keep_channel(stretch) as channel:
        texts = [(kind, line) for kind, text in shown_texts(channel) for line in text.split("\n")]
        return read_texts(texts, channel.messages)


def shown_texts(kept: KeptChannel) -> Iterator[tuple[str, str]]:
    memory = kept.memory
    channel = kept.conversation
    messages = kept.messages
    for day in sorted({message.time.date() for message in messages}):
        yield from (("digest", digest.text) for digest in memory.digests(day=day))
        yield from (("day", digest.text) for digest in memory.digests(day=day, conversation=CHANNEL))
    yield from (("week", digest.text) for digest in memory.digests(conversation=CHANNEL, week=True))
    for topic in channel.topics(faded=True):
        yield "title", topic.title
        yield "topic", topic.summary
    yield from (("summary", episode.summary) for episode in flatten(channel.episodes()))
    for message in messages[::EVERY]:
        shown = channel.context(message.content, budget=SMALL).messages
        yield from (("context", str(part["content"])) for part in shown[:-1])
    for author in dict.fromkeys(message.author for message in messages):
        yield from (("fact", f"{fact.key} {fact.value}") for fact in memory.facts(user=author))


def read_texts(texts: Iterable[tuple[str, str]], messages: Sequence[Message]) -> ChannelReading:
    """Count the names with a colon in some lines, and find those that mislead."""
    nicknames = known_names(messages)
    words_of: dict[str, list[str]] = {}
    for message in messages:
        words_of.setdefault(message.author, []).append(squeeze(message.content))
    count = labels = 0
    misreadings: dict[Misreading, None] = {}
    for kind, line in texts:
        count += 1
        for person, words in labelled_words(line, nicknames):
            labels += 1
            if not any(stands_in(words, own) for own in words_of.get(person, ())):
                misreadings[Misreading(kind, person, line)] = None
    return ChannelReading(count, labels, [*misreadings])


def stands_in(words: str, own: str) -> bool:
    """Whether words stand in somebody's own, also where a sign between two of them was left out."""
    return is_within(words, own) or words.replace(" ", "") in own.replace(" ", "")


def labelled_words(line: str, nicknames: KnownNames) -> Iterator[tuple[str, str]]:
    """Whom each name with a colon names, and the words behind it."""
    if _HEADING.fullmatch(line):
        return
    for match in _LABEL.finditer(line):
        name = match["name"].lstrip(GUARD)
        starts = _START.search(line[: match.start()])
        person = nicknames.find(name) if starts else nicknames.mentioned_in(name)
        if person is not None:
            words = _END.split(_ADDRESSED.sub("", line[match.end() :]).lstrip(), maxsplit=1)[0]
            yield person, " ".join(squeeze(words).split()[:READ])
