"""Reconciling: which of the messages a client sends are in the log already, and where the new ones belong.

Clients of chat models send the whole history with every request, and edit it: they change a message and go on from
there, ask for another reply, leave out old messages, replace an old tool result by a stub. The log only grows. So a
conversation is a tree whose **lines** are paths from the first message to an end, and each request is matched with one
of them: as many of the sent messages as possible are recognised, in order and without a gap among them, and those that
come after are new. They continue the end of the line, or leave the line where the two differ: a branch.

The rule never loses and never doubles a message: every sent message is either in the line or new. Messages of the line
that the client left out make no difference. Messages that it puts in their place (a summary, search results), before
messages that are the end of the line, are new, with the current time. A reply that was cut off may have reached the
client only in part, or not at all. An erased message matches any message in its place, so that it is not logged again;
but the last message sent is never matched with an erased one. If a client has sent a message alone before, without its
history, a message sent alone is a new one, even if its text is the same.

A history with its beginning is matched in one pass. One without is searched with bounded effort, so that messages that
are all alike cannot delay others: those not found by then are new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

TOLD_BACK = ("assistant", "tool")  # roles whose messages show that a client speaks of this conversation
EVIDENCE = 2  # messages in a row that place a history without its beginning
PREFACE = 2  # messages that a client may put in the place of what it has left out
EFFORT = 16  # comparisons for each message, of those sent and of the line


@dataclass(frozen=True, slots=True)
class Utterance:
    """What distinguishes one message from another. `mark` is its content, `call` the tool call it answers. `partial`:
    the client need not send it back, or not all of it. `alone`: it was sent without earlier messages. `preface`: it
    stood in the place of messages that were left out, and is not part of the line."""

    role: str
    mark: str
    call: str = ""
    partial: bool = False
    erased: bool = False
    alone: bool = False
    preface: bool = False

    @property
    def loose(self) -> bool:
        """Whether the line goes on without it."""
        return self.partial or self.preface


UNKNOWN = Utterance("", "")  # stands in a line for a message that was not read; no message is the same as this


@dataclass(frozen=True, slots=True)
class Fit:
    """How a history matches a line: the place in the line of each sent message that is recognised, in order; and
    whether the line ends there, so that new messages continue it. `preface` is the number of sent messages before the
    recognised ones, which are new."""

    places: tuple[int, ...]
    at_end: bool
    preface: int = 0

    @property
    def overlap(self) -> int:
        """How many of the sent messages are recognised; the others are new."""
        return len(self.places)


class Effort:
    """How many more comparisons may be made."""

    def __init__(self, line: Sequence[Utterance], history: Sequence[Utterance]) -> None:
        self.left = EFFORT * (len(line) + len(history))


Lines = Iterable[Sequence[Utterance]]


def best_line(lines: Lines, history: Sequence[Utterance], others: Lines | None = None) -> tuple[int, Fit]:
    """The number of the line that has most of the sent messages, and its fit; among equals the first given.

    A history that is recognised from its beginning, except its last message, is complete and not searched elsewhere.
    Any other is searched in `others`, if given, and the number is that of one of those.
    """
    near = list(lines)
    fits = [fit_from_start(line, history) for line in near]
    if not 0 < max(fit.overlap for fit in fits) >= len(history) - 1:
        fits = [find_fit(line, history) for line in (near if others is None else others)]
    number = max(range(len(fits)), key=lambda n: (fits[n].overlap, fits[n].at_end, -n))
    return number, fits[number]


def fit_from_start(line: Sequence[Utterance], history: Sequence[Utterance]) -> Fit:
    """How a history matches a line from the beginning of both."""
    places = match_beginning(line, history)
    return Fit(tuple(places), is_at_end(line, places))


def fit(line: Sequence[Utterance], history: Sequence[Utterance]) -> Fit:
    """How a history matches a line of which it may leave out the beginning, or a part in the middle."""
    opening = match_beginning(line, history)
    effort = Effort(line, history)
    rest = match_ending(line, history, opening[-1] + 1 if opening else 0, len(opening), effort)
    if rest:
        return Fit((*opening, *rest), True)
    if opening:
        return Fit(tuple(opening), is_at_end(line, opening))
    middle = longest_run(line, history, effort)
    if is_evident(line, middle):
        return Fit(tuple(middle), is_at_end(line, middle))
    return Fit((), True)


def find_fit(line: Sequence[Utterance], history: Sequence[Utterance]) -> Fit:
    """How a history matches a line, whatever it leaves out or puts there instead."""
    direct = fit(line, history)
    if direct.overlap >= len(history) - 1 or direct.places[:1] == (0,):
        return direct
    with_preface = fit_with_preface(line, history)
    return with_preface if with_preface.overlap > direct.overlap else direct


def fit_with_preface(line: Sequence[Utterance], history: Sequence[Utterance]) -> Fit:
    """How a history matches the end of a line, if it begins with something else."""
    effort = Effort(line, history)
    longest_fit = Fit((), True)
    for preface in range(1, min(PREFACE, len(history) - EVIDENCE) + 1):
        if history[preface - 1].role == "tool":  # which answers something
            break
        places = match_ending(line, history, 0, preface, effort)
        if len(places) > longest_fit.overlap and is_evident(line, places):
            longest_fit = Fit(tuple(places), True, preface)
    return longest_fit


def continues(line: Sequence[Utterance], history: Sequence[Utterance]) -> bool:
    """Whether a history without its beginning certainly continues the end of a line."""
    return is_evident(line, match_ending(line, history, 0, 0, Effort(line, history))) or bool(
        fit_with_preface(line, history).overlap
    )


def is_evident(line: Sequence[Utterance], places: Sequence[int]) -> bool:
    """Whether the recognised messages are more than chance; erased messages do not count."""
    roles = [line[place].role for place in places if not line[place].erased]
    return len(roles) >= EVIDENCE and any(role in TOLD_BACK for role in roles)


def match_beginning(line: Sequence[Utterance], history: Sequence[Utterance]) -> list[int]:
    """The places of the messages that are recognised from the beginning of both."""
    if len(history) == 1 and any(utterance.alone for utterance in line):
        return []
    return match_run(line, history, 0, 0, Effort(line, history))


def match_run(
    line: Sequence[Utterance], history: Sequence[Utterance], start: int, first: int, effort: Effort
) -> list[int]:
    """The places in the line, from `start` on, of sent messages from `first` on, as long as the two agree."""
    places: list[int] = []
    at = start
    stubs_end = 0
    for number in range(first, len(history)):
        place = at
        message = history[number]
        is_last = number == len(history) - 1
        while place < len(line) and line[place].loose and not is_same(line[place], message, is_last):
            place += 1
        if place == len(line):
            break
        if place >= stubs_end and not is_same(line[place], message, is_last):
            stubs_end = stubs_end_place(line, place, history, number, effort)
            if place >= stubs_end:
                break
        places.append(place)
        at = place + 1
    effort.left -= at - start + 1
    return places


def match_ending(
    line: Sequence[Utterance], history: Sequence[Utterance], after: int, first: int, effort: Effort
) -> list[int]:
    """The longest run of sent messages from `first` on that is the end of the line, if it is more than chance.

    It is if the client sends back a reply, or if no message was recognised before and all that it sends is there.
    """
    if first == len(history):
        return []
    # At most so many of the line's last messages can be sent back; replies that were cut off need not be.
    length = len(history) - first + sum(utterance.loose for utterance in line)
    for start in possible_starts(line, history[first], max(after, len(line) - length)):
        places = match_run(line, history, start, first, effort)
        if places and places[0] == start and is_at_end(line, places):
            has_reply = any(line[place].role in TOLD_BACK for place in places)
            return places if has_reply or len(places) == len(history) else []
        if effort.left < 0:
            break
    return []


def longest_run(line: Sequence[Utterance], history: Sequence[Utterance], effort: Effort) -> list[int]:
    """The longest run of sent messages, from the first of them on, anywhere in a line but at its beginning."""
    run_places: list[int] = []
    for start in possible_starts(line, history[0], 1):
        places = match_run(line, history, start, 0, effort)
        run_places = places if len(places) > len(run_places) and is_evident(line, places) else run_places
        if effort.left < 0 or len(run_places) == len(history):
            break
    return run_places


def possible_starts(line: Sequence[Utterance], message: Utterance, first: int) -> list[int]:
    """Where a sent message may be in a line, from a place on."""
    mark = message.mark
    is_tool = message.role == "tool"
    return [
        place
        for place in range(first, len(line))
        if (utterance := line[place]).mark == mark
        or utterance.partial
        or utterance.erased
        or (is_tool and utterance.call == message.call)
    ]


def is_at_end(line: Sequence[Utterance], places: Sequence[int]) -> bool:
    """Whether the rest of the line has no message that the client must send back."""
    return all(line[place].loose for place in range(places[-1] + 1 if places else 0, len(line)))


def is_same(line_message: Utterance, message: Utterance, is_last: bool) -> bool:
    """Whether a sent message is this one of the line; `is_last` for the last message sent."""
    if line_message.role != message.role or line_message.preface:
        return False
    if line_message.erased:
        return not is_last
    if line_message.call != message.call:
        return False
    if line_message.partial and message.mark:
        return line_message.mark.startswith(message.mark)
    return line_message.mark == message.mark


def stubs_end_place(
    line: Sequence[Utterance], place: int, history: Sequence[Utterance], number: int, effort: Effort
) -> int:
    """The place in the line after tool results that the client has only shortened, if the messages after them are the
    same; else 0."""
    start = place
    while place < len(line) and number < len(history) and line[place].role == history[number].role == "tool":
        if line[place].call != history[number].call and not line[place].erased:
            break
        place += 1
        number += 1
    effort.left -= place - start
    goes_on = start < place < len(line) and number < len(history)
    return place if goes_on and is_same(line[place], history[number], number == len(history) - 1) else 0
