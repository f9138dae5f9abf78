"""The material of a context at one moment: everything that it can be chosen from, read in one transaction."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from functools import cached_property

from recollect.context.render import CurrentTopic, Note, current_text
from recollect.context.rules.times import Calendar
from recollect.model import Episode, ExtractLine, Hit, Message, Role, Tiers
from recollect.text import fences
from recollect.text.fences import author_labels

LARGE = 200_000  # characters of the material of a context; the usual budget holds about 120,000


@dataclass(frozen=True)
class ContextState:
    """The material of a context. `window` has the messages before the current one, oldest first; `beside` those that
    the model is shown anyway, beside the context; `author` is who wrote the current one, if known. `is_whole` says that
    `earlier`, which has left the window, and the window are the whole conversation: it can be sent as it is, with other
    instructions and what was found `elsewhere`, and then `sends_whole`. `names` says what people are called, by id;
    `now` and `zone` which day it is, and where; `texts` are summaries as they were rendered before."""

    text: str
    instructions: str
    system: str | None
    whole_instructions: str = ""
    conversation: str = ""
    window: Sequence[Message] = ()
    beside: Sequence[Message] = ()
    earlier: Sequence[Message] = ()
    is_whole: bool = False
    sends_whole: bool = False
    tiers: Mapping[int, Tiers] = field(default_factory=dict)
    relevance: Mapping[int, float] = field(default_factory=dict)
    profile: Sequence[Note] = ()
    episodes: Sequence[Episode] = ()
    past: Sequence[Episode] = ()
    retrieved: Sequence[Hit] = ()
    elsewhere: Sequence[Hit] = ()
    nothing_relevant: bool = False
    found: Sequence[Hit] = ()
    topic: CurrentTopic | None = None
    channel: bool = False
    raised_turns: int = 20
    author: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    now: datetime | None = None
    zone: tzinfo = UTC
    texts: MutableMapping[Hashable, str] = field(default_factory=dict)

    @property
    def people(self) -> set[str]:
        """The ids of all people who may be named in the context."""
        hits = (*self.retrieved, *self.elsewhere, *self.found)
        messages = (*self.earlier, *self.window, *self.beside, *(hit.message for hit in hits))
        last_of_topic = self.topic.last_messages if self.topic is not None else ()
        return {
            *(message.author for message in messages if message.role == "user"),
            *(message.author for message in last_of_topic if message.role == "user"),
            *(line.author for line in self.summary_lines if line.author and line.role != "assistant"),
            *(id for note in self.profile for id in (note.person, note.speaker) if id),
            *(() if self.author is None else (self.author,)),
        }

    @property
    def summary_lines(self) -> Iterator[ExtractLine]:
        """The lines of all summaries that may be in the context."""
        for episode in (*self.episodes, *self.past):
            yield from episode.lines
        if self.topic is not None:
            yield from self.topic.lines

    @cached_property
    def times_lines(self) -> dict[frozenset[int], str]:
        """What was said about the times of messages, by the turns that it is about."""
        return {}

    @cached_property
    def labels(self) -> fences.Labels:
        """The label of each author in the context; no two are the same."""
        messages = [*self.window, *(hit.message for hit in (*self.found, *self.retrieved))]
        speakers: list[tuple[Role, str]] = [(message.role, message.author) for message in messages]
        speakers += [(message.role, message.author) for message in (self.topic.last_messages if self.topic else ())]
        speakers += [(line.role, line.author) for line in self.summary_lines if line.role]
        speakers += [("user", person) for note in self.profile for person in (note.person, note.speaker) if person]
        speakers += [] if self.author is None else [("user", self.author)]
        return author_labels(speakers, self.names)

    @cached_property
    def shows_authors(self) -> bool:
        """Whether messages say who wrote them: in a channel, and in a chat in which several people write."""
        authors = {message.author for message in self.window if message.role == "user"}
        return self.channel or len(authors) > 1

    @cached_property
    def current(self) -> str:
        """The current message as it is sent."""
        return current_text(self.text, self.author, self.shows_authors, self.labels)

    def as_whole(self) -> ContextState:
        """The state from which the whole conversation is sent: nothing of it is summed up, retrieved or asked for."""
        return replace(
            self,
            instructions=self.whole_instructions,
            window=sorted((*self.earlier, *self.window), key=lambda message: message.turn),
            earlier=(),
            sends_whole=True,
            tiers={},
            relevance={},
            episodes=(),
            past=[episode for episode in self.past if episode.conversation != self.conversation],
            retrieved=self.elsewhere,
            found=[hit for hit in self.found if hit.message.conversation != self.conversation],
            topic=None,
        )

    @property
    def calendar(self) -> Calendar:
        """The day and the time zone in which times are shown."""
        return Calendar(self.now, self.zone)

    @property
    def can_ask(self) -> bool:
        """Whether the model is told how to ask for more."""
        return bool(self.instructions)

    @property
    def is_large(self) -> bool:
        """Whether counting and escaping it takes so long that it should not block others."""
        messages = (*self.earlier, *self.window, *(hit.message for hit in (*self.retrieved, *self.found)))
        return len(self.text) + len(self.system or "") + sum(len(message.content) for message in messages) > LARGE
