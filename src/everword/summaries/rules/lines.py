"""The lines of an extract, and the one place that writes them as text.

An extract is structure until the last moment: who said a line, in which turn and when stand beside its words, and
nothing ever reads them back from a text. Text names speakers where they change and days where they change:
`2 Feb 2022, Alex: I sold the boat. Sam: Who bought it? 5 Feb 2022, Sam: I found a kayak.` Prose that a model wrote has
no speaker; after somebody's words it is introduced by `Summary:`. Labels are distinct, and a sentence that begins as
if somebody else spoke gets a dot before it, as in `fences`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from everword.model import ExtractLine, Role
from everword.text.dates import MONTHS
from everword.text.fences import GUARD, Labels, author_labels, byline, escape_line, with_sign, without_posing
from everword.text.sentences import split_sentences
from everword.text.words import is_unspaced
from everword.word_lists import lazy_pattern

Lines = Sequence[ExtractLine]

NAMELESS = frozenset({"The user", "The assistant", "The system", "The tool"})
NARRATOR = "Summary"
"""What introduces prose of a model that stands after somebody's words."""
_NARRATOR_KEY: tuple[Role, str] = ("system", NARRATOR)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MONTHS = tuple(month[:3].capitalize() for month in MONTHS)


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A message: role, author, text, turn and time. Without an author it is the user's or the assistant's."""

    role: Role
    author: str
    text: str
    turn: int = 0
    time: datetime | None = None


def narrative_lines(text: str, turn: int = 0, time: datetime | None = None) -> tuple[ExtractLine, ...]:
    """The sentences of prose that a model wrote: nobody said them."""
    return tuple(ExtractLine(turn, "", "", sentence, time) for sentence in split_sentences(" ".join(text.split())))


def whole_line(text: str, turn: int = 0, time: datetime | None = None) -> tuple[ExtractLine, ...]:
    """A text of which it is not known who said what: its sentences stay together."""
    line = " ".join(text.split())
    return (ExtractLine(turn, "", "", line, time, "text"),) if line else ()


def member_lines(text: str, member: str) -> tuple[ExtractLine, ...]:
    """The sentences of a text about one member only: their own words if it is introduced by them, else prose."""
    introduction = prefix(ExtractLine(0, "user", member, ""), None, author_labels([("user", member)]))
    if not text.startswith(introduction):
        return narrative_lines(text)
    own_words = " ".join(text.removeprefix(introduction).split())
    return tuple(ExtractLine(0, "user", member, sentence) for sentence in split_sentences(own_words))


# -- as text

_STOPS = (".", "!", "?", "…", "。", "！", "？", "؟", "।", "]")
_QUOTES = "\"'”’»」』)"
_TRAIL = " ,;:–—-、，；："
# A sentence that begins with a day as we write it, before words that end in a colon or alone before one.
_DATED = lazy_pattern(
    r"(?:^|(?<=[.!?…;。！？]\s)|(?<=[.!?…;。！？][\"'”’»)\]]\s))"
    rf"(?=[^\w{GUARD}]*\d{{1,2}}\s\w{{3,4}}\.?\s\d{{4}}\s*(?:[,，][^:：.!?]{{1,80}})?[:：∶ː꞉︓﹕])"
)
_YEAR = lazy_pattern(r"\d{4}")  # found in a small part of the time
_COLON = lazy_pattern("[:：∶ː꞉︓﹕]")  # without one, nothing reads as the line of a speaker


def render_lines(
    lines: Lines,
    names: Mapping[str, str] | None = None,
    *,
    labels: Labels | None = None,
    escaped: bool = False,
) -> str:
    """The lines as running text: speakers and days where they change, list items side by side, a stop after sentences.

    `names` are the names to show for authors' ids; `labels`, if given, say how authors are shown in the same context.
    `escaped`: the words of each line are escaped for themselves, for a context.
    """
    shown_labels = speaker_labels(lines, names, labels)
    poses_as = {*NAMELESS, *shown_labels.values(), *(labels or {}).values()}
    text = ""
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else None
        after = lines[number + 1] if number + 1 < len(lines) else None
        text += prefix(line, before, shown_labels)
        words = guard_words(escape_line(line.text) if escaped else line.text, poses_as)
        text += _with_stop(words, line, after)
        is_joined = after is not None and is_unspaced(line.text) and speaker_of(after) == speaker_of(line)
        text += "" if is_joined and after is not None and not _changes_day(after, line) else " "
    return text.strip()


def prefix(line: ExtractLine, before: ExtractLine | None, labels: Labels) -> str:
    """What stands before a line: the day and the speaker, where one of them changes."""
    day = _day(line) if before is None or _changes_day(line, before) else ""
    changes_speaker = before is None or speaker_of(before) != speaker_of(line)
    is_narrative = not line.role
    if is_narrative:
        label = labels[_NARRATOR_KEY] if before is not None and before.role else ""
    else:
        label = labels[speaker_of(line)] if changes_speaker or day else ""
    parts = [part for part in (day, label) if part]
    return f"{', '.join(parts)}: " if parts else ""


def speaker_of(line: ExtractLine) -> tuple[Role, str]:
    return (line.role, line.author) if line.role else _NARRATOR_KEY


def speaker_labels(
    lines: Iterable[ExtractLine], names: Mapping[str, str] | None = None, labels: Labels | None = None
) -> dict[tuple[Role, str], str]:
    """How the speakers of lines are shown, all distinct: by the labels of the context, by names, or by their ids."""
    speakers = list(dict.fromkeys([_NARRATOR_KEY, *(speaker_of(line) for line in lines)]))
    if labels is not None:
        own = {speaker: with_sign(byline(speaker[1], speaker[0]), speaker[1]) for speaker in speakers}
        shown = {speaker: labels.get(speaker, own[speaker]) for speaker in speakers}
        is_taken = NARRATOR.casefold() in map(str.casefold, labels.values())
        shown[_NARRATOR_KEY] = own[_NARRATOR_KEY] if is_taken else NARRATOR
    elif names:
        shown = author_labels(speakers, names)
    else:
        shown = author_labels(speakers)
    return {(role, author): f"The {role}" if label == role else label for (role, author), label in shown.items()}


def guard_words(text: str, labels: Collection[str]) -> str:
    """Words that do not read as the line of another speaker, with or without a day before the name."""
    if ":" not in text and (text.isascii() or not _COLON.search(text)):
        return text
    text = without_posing(text, labels)
    return _DATED.sub(GUARD, text) if _YEAR.search(text) else text


def _with_stop(text: str, line: ExtractLine, after: ExtractLine | None) -> str:
    leads_in = line.kind == "heading" or line.text.rstrip().endswith((":", "："))
    is_listed = (
        (leads_in or line.kind == "item")
        and after is not None
        and after.kind == "item"
        and (after.turn, speaker_of(after)) == (line.turn, speaker_of(line))
    )
    if line.kind == "text":
        return text
    text = text.rstrip(_TRAIL + ".")
    if is_listed:
        return text + (":" if leads_in else ";")
    is_ended = text.rstrip(_QUOTES).endswith(_STOPS) or unicodedata.category(text[-1:] or ".") == "So"  # an emoji
    return text if is_ended else text + ("。" if is_unspaced(line.text) else ".")


def _changes_day(line: ExtractLine, before: ExtractLine) -> bool:
    return line.time is not None and (before.time is None or before.time.date() != line.time.date())


def _day(line: ExtractLine) -> str:
    time = line.time
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}" if time is not None else ""


# -- as a stored object


def to_object(lines: Lines) -> dict[str, Any]:
    """The lines as JSON types."""
    if not lines:
        return {}
    return {"lines": [list(_values(line)) for line in lines]}


def from_object(value: Mapping[str, Any]) -> tuple[ExtractLine, ...]:
    """The lines that `to_object` wrote."""
    return tuple(
        ExtractLine(
            turn, role, author, text, None if time is None else _EPOCH + timedelta(microseconds=time), kind, leans
        )
        for turn, role, author, time, kind, leans, text in value.get("lines", ())
    )


def _values(line: ExtractLine) -> Iterator[str | int | None]:
    yield line.turn
    yield line.role
    yield line.author
    yield None if line.time is None else (line.time - _EPOCH) // _MICROSECOND
    yield line.kind
    yield line.leans
    yield line.text
