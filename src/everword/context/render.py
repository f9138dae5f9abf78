"""Pieces: the text of past messages, episodes and facts in a context, and what each costs; and how times stand in it.

A message of the window has a label that the model can use to ask for it. Retrieved messages are under the day and the
conversation they are from, one message a line: further lines are indented, so that no message can look like another.
All stored text is escaped, and every author is shown by the label that `text.escaping` gives them, which
is unique in the context.

Times are in the space's time zone: the day once, with its weekday, and the clock only where it helps. A day is `Wed 2
Feb 2022`; a time of the day is `18:05`. When the messages of a conversation were said is in one line, by their labels,
so that no text of a message carries a time that a model would imitate: `m7 to m10: Tue 1 Feb 2022, 09:00; m11 to m14:
Wed 2 Feb 2022, 18:00 to 18:20`. While all of them are of the last ten minutes there is no such line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from everword.model import Episode, ExtractLine, Hit, Item, Message, TopicMessage
from everword.ports import Tokenizer
from everword.recall.rules import relevance
from everword.summaries.rules.days import local_time
from everword.summaries.rules.extract import narrative_lines, render_lines
from everword.summaries.rules.shortened_messages import HIGHEST, SUMMARY
from everword.text import escaping
from everword.text.addressing import KnownNames, show_address
from everword.text.dates import MONTHS, WEEKDAYS
from everword.text.detect import DEFAULT
from everword.text.escaping import Labels, distinct_labels, person_byline, poses
from everword.text.language_packs import heading, phrase

PAUSE = timedelta(hours=1)  # between two messages, after which the clock is said anew
SHORT_WEEKDAYS = [name[:3].capitalize() for name in WEEKDAYS]
SHORT_MONTHS = [name[:3].capitalize() for name in MONTHS]
JUST_NOW = timedelta(minutes=10)
MANY_SPANS = 8  # spans from which on pauses within a day do not count


def day_text(day: date) -> str:
    """A day with its weekday: `Wed 2 Feb 2022`."""
    return f"{SHORT_WEEKDAYS[day.weekday()]} {day.day} {SHORT_MONTHS[day.month - 1]} {day.year}"


def clock_text(moment: datetime) -> str:
    """The time of the day: `18:05`."""
    return f"{moment.hour:02}:{moment.minute:02}"  # in a tenth of the time of `%H:%M`


@dataclass(frozen=True, slots=True)
class Calendar:
    """Times as they are shown: what day it is now, if that is known, and the time zone."""

    now: datetime | None = None
    zone: tzinfo = UTC

    def day(self, moment: datetime) -> str:
        return day_text(local_time(moment, self.zone).date())

    @property
    def today(self) -> str:
        """The line that says which day it is; empty if that is not known."""
        if self.now is None:
            return ""
        day = local_time(self.now, self.zone).date()
        month = MONTHS[day.month - 1].capitalize()
        return f"Today is {WEEKDAYS[day.weekday()].capitalize()}, {day.day} {month} {day.year}."

    @property
    def short_today(self) -> str:
        """The day as briefly as it can be said, `2Feb2022 Wed`: where all else is one short message, the line above
        would cost half as much as the message. Without its spaces it has five tokens, and with them seven."""
        if self.now is None:
            return ""
        weekday, *day = day_text(local_time(self.now, self.zone).date()).split()
        return f"{''.join(day)} {weekday}"

    def is_just_now(self, moment: datetime) -> bool:
        """Whether a moment is so near that the clock need not be said."""
        return self.now is not None and abs(self.now - moment) <= JUST_NOW


def span_texts(labelled_moments: Iterable[tuple[str, datetime]], zone: tzinfo) -> list[str]:
    """When labelled messages were said, in order, the day once. A pause begins a new span, unless there are many."""
    local_times = [(label, local_time(moment, zone)) for label, moment in labelled_moments]
    runs = list(split_runs(local_times, PAUSE))
    if len(runs) > MANY_SPANS:
        runs = list(split_runs(local_times, timedelta(days=1)))
    spans: list[str] = []
    last_day: date | None = None
    for run in runs:
        day = run[0][1].date()
        labels = unique_ends(run[0][0], run[-1][0])
        clocks = unique_ends(clock_text(run[0][1]), clock_text(run[-1][1]))
        spans.append(f"{labels}: {clocks}" if day == last_day else f"{labels}: {day_text(day)}, {clocks}")
        last_day = day
    return spans


def split_runs(local_times: Iterable[tuple[str, datetime]], pause: timedelta) -> Iterator[list[tuple[str, datetime]]]:
    """The messages in runs: each of one day, without a longer pause."""
    run: list[tuple[str, datetime]] = []
    for label, time in local_times:
        if run and (time.date() != run[-1][1].date() or abs(time - run[-1][1]) > pause):
            yield run
            run = []
        run.append((label, time))
    if run:
        yield run


def unique_ends(first: str, last: str) -> str:
    """The first and the last of some texts; only one if they are the same."""
    return first if first == last else f"{first} to {last}"


# -- pieces


WHOLE_MEMORY = "the whole memory is small"
BESIDE_HIT = {
    relevance.BESIDE: "next to a relevant line",
    relevance.ASKED_BY: "what a relevant line answers",
    relevance.ANSWERING: "answers a relevant line",
}
"""Why a line is shown that is no hit, by the part of its score."""
CHARACTERS = 4  # of a token, about
ENOUGH = 1.1  # times the section's budget: how much of what was found is considered
WHOLE = 4  # of the hits are shown whole; after that, a message of more than `LONG` tokens is shown as an excerpt
LONG = 60
LONG_OF_PERSON = 120  # the same for what a person wrote, which is asked about more often than what an assistant wrote
MANY = 32  # messages that a section should have room for: with a larger budget, longer ones are shown whole
LARGE = 3  # a message that would take more than one part in this many of the section's budget is shown as an excerpt


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the profile, under its heading, with the id of the fact and the reason why it is shown; in a channel,
    with the id of the `person` it is about. `speaker` is the id of whoever says it, if that is somebody else. It
    `lasts` if every context shows it, and `answers` if the message is about it."""

    id: str
    text: str
    reason: str
    heading: str = ""
    place: tuple[float | str, ...] = ()
    person: str = ""
    speaker: str = ""
    lasts: bool = True
    answers: bool = False


@dataclass(frozen=True, slots=True)
class CurrentTopic:
    """The topic of the message: since when, how many messages, the lines of the summary of its packed part, and its
    last messages if the conversation returns to it."""

    id: str
    title: str
    first: int
    since: datetime
    messages: int
    lines: Sequence[ExtractLine] = ()
    last_messages: Sequence[TopicMessage] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a section: its text, its receipt item, its position and its heading; and whether the model asked for
    more than would be shown of it. An excerpt has the `whole` message beside it."""

    text: escaping.Fenced
    item: Item
    place: tuple[float | str, ...]
    group: str = ""
    is_requested: bool = False
    whole: Piece | None = None

    def omission(self, reason: str) -> Item:
        return replace(self.item, reason=reason)


@dataclass(frozen=True, slots=True)
class Renderer:
    """Makes the pieces of a context: with the labels of its authors, in its time zone, in tokens of its model,
    with headings in the language of the chat."""

    tokenizer: Tokenizer
    labels: Labels | None = None
    calendar: Calendar = field(default_factory=Calendar)
    conversation: str = ""
    nicknames: KnownNames = field(default_factory=KnownNames)
    titles: Mapping[str, str] = field(default_factory=dict)
    language: str = DEFAULT
    threads: Mapping[str, int] = field(default_factory=dict)

    def hit_pieces(
        self, hits: Sequence[Hit], reason: str, shown_ids: set[str], question: str, budget: int
    ) -> tuple[list[Piece], list[Item]]:
        """Messages that were found, best first, except those shown elsewhere; and those that cannot get in. The ids of
        all of them are added to those shown."""
        pieces: list[Piece] = []
        omissions: list[Item] = []
        token_count = 0
        max_size = max(budget // LARGE, 1)
        question_stems = relevance.stems(question)
        for hit in hits:
            message = hit.message
            if message.id in shown_ids:
                continue
            shown_ids.add(message.id)
            size = max(len(message.content) // CHARACTERS, 1)
            long_size = max(LONG_OF_PERSON if message.role == "user" else LONG, budget // MANY)
            if token_count > ENOUGH * budget:
                omissions.append(Item(self._hit_label(message) or message.id, size, "others are more relevant"))
                continue
            piece = self._hit_piece(hit, reason, message.content, HIGHEST)
            if size > max_size or (len(pieces) >= WHOLE and size > long_size):
                text = relevance.excerpt(message.content, question_stems, min(max_size, long_size) * CHARACTERS)
                piece = replace(self._hit_piece(hit, reason, text, SUMMARY), whole=piece)
            pieces.append(piece)
            token_count += piece.item.tokens
        return pieces, omissions

    def message_pieces(self, messages: Iterable[Message]) -> list[Piece]:
        """All messages of a small memory."""
        pieces = [self._hit_piece(Hit(message, 0.0, {}), "", message.content, HIGHEST) for message in messages]
        return [replace(piece, item=replace(piece.item, reason=WHOLE_MEMORY)) for piece in pieces]

    def _hit_piece(self, hit: Hit, reason: str, text: str, tier: int) -> Piece:
        message = hit.message
        label = self._hit_label(message)
        text = show_address(text, self.nicknames)
        line = escaping.message_line(label, message.role, message.author, tier, text, labels=self.labels)
        group = self._hit_heading(message)
        reason = next((BESIDE_HIT[part] for part in hit.parts if part in BESIDE_HIT), reason)
        # Counted with its line end, as in the section: the tokenizer remembers what it has counted.
        item = Item(label or message.id, self.tokenizer.count(line + "\n"), f"{reason} ({hit.score:.1f})", tier)
        thread = self.threads.get(message.id, message.turn)  # a question stands with its answers
        return Piece(line, item, (message.time.date().isoformat(), group, thread, message.turn), group)

    def _hit_label(self, message: Message) -> str:
        return f"m{message.turn}" if message.conversation == self.conversation else ""

    def _hit_heading(self, message: Message) -> str:
        """The day and conversation under which a retrieved message is shown."""
        if message.conversation == self.conversation:
            source = phrase(self.language, "this_conversation")
        else:
            name = self.titles.get(message.conversation) or escaping.plain_name(message.conversation)
            source = phrase(self.language, "in_conversation" if name else "elsewhere", name=name)
        return f"{self.calendar.day(message.time)}, {source}:"

    def episode_pieces(
        self, episodes: Iterable[Episode], reason: str = "", names: Mapping[str, str] | None = None
    ) -> list[Piece]:
        """Summaries, each with its turns; the days stand in its lines. The words of each line are escaped for
        themselves, as those of a retrieved message are. People are shown by their labels in the context, or by their
        `names`."""
        pieces = []
        for episode in episodes:
            lines = episode.lines or narrative_lines(episode.summary)
            place = f"Turns {episode.first}-{episode.last}"
            if not (lines and lines[0].role):  # what a model wrote has no days in it
                days = sorted({f"{episode.began:%Y-%m-%d}", f"{episode.ended:%Y-%m-%d}"})
                place += f", {' to '.join(days)}"
            is_timeless = episode.made_by == "model" or not episode.lines
            shown_lines = tuple(replace(line, time=None) for line in lines) if is_timeless else lines
            text = escaping.Fenced(f"{place}: {render_lines(shown_lines, names, labels=self.labels, escaped=True)}")
            item_reason = reason or f"summary of level {episode.level}"
            if episode.pending:
                item_reason += ", by the built-in writer until the model has written it"
            item = Item(episode.id, self.tokenizer.count(text) + 1, item_reason, 2)
            pieces.append(Piece(text, item, (episode.first, -episode.level)))
        return pieces

    def topic_pieces(self, topic: CurrentTopic, shown_turns: set[int], shown_text: str) -> list[Piece]:
        """The topic of the message, without the messages in `shown_turns` and the sentences in `shown_text`."""
        count = self.tokenizer.count
        lines = tuple(line for line in topic.lines if line.text.casefold() not in shown_text)
        pieces = []
        is_thread = self.nicknames.is_group and topic.messages > 1
        if lines or is_thread:
            # A title may be the beginning of its first message: if that is shown, the title would repeat it.
            is_shown = not is_thread and (topic.first in shown_turns or topic.title.casefold() in shown_text)
            end = "." if self.nicknames.is_group else ":"  # in a group a name with a colon would be who speaks
            title = "" if is_shown else f"{escaping.escape_line(show_address(topic.title, self.nicknames))}{end} "
            since = "Going on since" if is_thread else "Since"
            since += f" {self.calendar.day(topic.since)}, {topic.messages} messages"
            text = escaping.Fenced(f"{since}: {title}{render_lines(lines, labels=self.labels, escaped=True)}".rstrip())
            pieces.append(Piece(text, Item(topic.id, count(text) + 1, "what is being talked of", 2), (0,)))
        for message in reversed(topic.last_messages):
            if message.turn not in shown_turns and message.content.strip():
                label = f"m{message.turn}"
                words = show_address(message.content, self.nicknames)
                line = escaping.message_line(label, message.role, message.author, 3, words, labels=self.labels)
                item = Item(label, count(line + "\n"), "said last of what is come back to", 3)
                pieces.append(Piece(line, item, (1, message.turn)))
        return pieces

    def note_pieces(self, notes: Sequence[Note], channel: bool) -> list[Piece]:
        """The notes, the most important first; each has its position under its heading, which in a channel names whom
        it is about. People are shown by their labels among the authors of the context, or by labels of their own."""
        labels = self.labels or {}
        people = people_labels(notes) if channel else {}
        pieces = []
        for note in notes:
            says = f"says {labels.get(('user', note.speaker), person_byline(note.speaker))}: " if note.speaker else ""
            text = escaping.Fenced(f"- {escaping.escape_line(says + note.text)}")
            item = Item(note.id, self.tokenizer.count(text) + 1, note.reason, 1)
            label = labels.get(("user", note.person)) or people.get(person_key(note), note.person)
            title = heading(self.language, note.heading)
            group = escaping.escape_line(f"{label}: {title}" if label else title)
            pieces.append(Piece(text, item, note.place, group))
        return pieces


def person_key(note: Note) -> str:
    """The person whom a note of a channel is about: people are numbered, because two may have the same name."""
    return f"{note.place[0] if note.place else ''} {note.person}"


def people_labels(notes: Iterable[Note]) -> dict[str, str]:
    """The labels of the people whom the notes of a channel are about; no two are the same."""
    return distinct_labels({person_key(note): person_byline(note.person) for note in notes if note.person})


def message_texts(messages: Iterable[Message], with_author: bool, labels: Labels, nicknames: KnownNames) -> list[str]:
    """The texts of messages of this conversation, as they were said; in a channel with the author, further lines
    indented: no text can look like another's."""
    texts: list[str] = []
    for message in messages:
        text = message.as_said.content
        if with_author and message.role == "user":
            shown_text = escaping.with_indent(show_address(text, nicknames))
            text = f"{labels[message.role, message.author]}: {shown_text}"
        texts.append(text)
    return texts


def current_text(text: str, author: str | None, with_author: bool, labels: Labels, nicknames: KnownNames) -> str:
    """The message to answer; in a channel in the form of the others. If its author is not known, it may not begin with
    what looks like a label."""
    if not with_author:
        return text
    if author is not None:
        return f"{labels['user', author]}: {escaping.with_indent(show_address(text, nicknames))}"
    return (escaping.GUARD if poses(text, labels.values()) else "") + escaping.with_indent(text)


def join_pieces(pieces: Sequence[Piece], between: str) -> str:
    """The text of the pieces in order, each group below its heading."""
    blocks: list[str] = []
    group = ""
    for piece in sorted(pieces, key=lambda piece: piece.place):
        title = f"{piece.group}\n" if piece.group and piece.group != group else ""
        group = piece.group
        blocks.append(title + piece.text)
    return between.join(blocks)
