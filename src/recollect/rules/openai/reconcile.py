"""Reconciling: which of the messages a client sends are in the log already, and where the rest belongs.

Clients of chat models send the whole history with every request, and edit it: they change a message and go on from
there, ask for another reply, leave out what is old, replace what a tool said long ago by a stub. The log only grows.
So a conversation is a tree whose **lines** are paths from the first message to an end, and each request is laid along
one of them: as many of the sent messages as possible are recognised, in order and without a gap among them, and what
comes after those is new. It goes on at the end of its line, or leaves the line where the two part: a branch.

The rule never loses and never doubles: every sent message is either one that the line has, or new. Messages of the
line that the client left out are no difference. What it puts in their place (a summary, what it looked up), before
messages that are the end of the line, is new, and said now. A reply that was cut off may have been seen less far than
it was kept, or not at all. An erased message stands for whatever was said there, so that it is not told again; but what
is asked now is never taken for an erased one. Who has sent a message alone before, without its history, means a new one
by it, even if it says what the first one said.

A history that has its beginning is followed in one pass. One that has not is looked for with bounded effort, so that
messages that are all alike cannot hold up others: what is not found by then is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

TOLD_BACK = ("assistant", "tool")  # roles whose messages show that a client speaks of this conversation
EVIDENCE = 2  # messages in a row that place a history without its beginning
PREFACE = 2  # messages that a client may put in the place of what it has left out
EFFORT = 16  # comparisons for each message, of those sent and of the line


@dataclass(frozen=True, slots=True)
class Utterance:
    """What tells one message from another. `mark` is what it says, `call` the tool call it answers. `partial`: the
    client need not tell it back, or not all of it. `alone`: it came without anything that was said before it.
    `preface`: it stood in the place of what was left out, and is no part of the line."""

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


UNKNOWN = Utterance("", "")  # stands in a line for what was not looked at; nothing is the same as this


@dataclass(frozen=True, slots=True)
class Fit:
    """How a history lies along a line: the place in the line of each sent message that is known, in order; and
    whether the line ends there, so that what is new goes on with it. So many of those sent as are its `preface` stand
    before the known ones and are not."""

    places: tuple[int, ...]
    at_end: bool
    preface: int = 0

    @property
    def known(self) -> int:
        """How many of the sent messages are known; the others are new."""
        return len(self.places)


class Effort:
    """How much more may be compared."""

    def __init__(self, line: Sequence[Utterance], sent: Sequence[Utterance]) -> None:
        self.left = EFFORT * (len(line) + len(sent))


Lines = Iterable[Sequence[Utterance]]


def best(lines: Lines, sent: Sequence[Utterance], others: Callable[[], Lines] | None = None) -> tuple[int, Fit]:
    """The number of the line that has most of what was sent, and how it lies there; of equals the first given.

    A history that is known from its beginning, all but its last message, is whole, and is not looked for elsewhere. Any
    other is looked for in `others`, if there are any, and the number is that of one of those.
    """
    near = list(lines)
    fits = [opened(line, sent) for line in near]
    if not 0 < max(fit.known for fit in fits) >= len(sent) - 1:
        fits = [sought(line, sent) for line in (others() if others else near)]
    number = max(range(len(fits)), key=lambda n: (fits[n].known, fits[n].at_end, -n))
    return number, fits[number]


def opened(line: Sequence[Utterance], sent: Sequence[Utterance]) -> Fit:
    """How a history lies along a line from the beginning of both."""
    places = beginning(line, sent)
    return Fit(tuple(places), at_end(line, places))


def fit(line: Sequence[Utterance], sent: Sequence[Utterance]) -> Fit:
    """How a history lies along a line of which it may leave out the beginning, or a part in the middle."""
    opening, effort = beginning(line, sent), Effort(line, sent)
    rest = ending(line, sent, opening[-1] + 1 if opening else 0, len(opening), effort)
    if rest:
        return Fit((*opening, *rest), True)
    if opening:
        return Fit(tuple(opening), at_end(line, opening))
    middle = longest(line, sent, effort)
    if evident(line, middle):
        return Fit(tuple(middle), at_end(line, middle))
    return Fit((), True)


def sought(line: Sequence[Utterance], sent: Sequence[Utterance]) -> Fit:
    """How a history lies along a line, whatever it leaves out or puts there instead."""
    found = fit(line, sent)
    if found.known >= len(sent) - 1 or found.places[:1] == (0,):
        return found
    other = prefaced(line, sent)
    return other if other.known > found.known else found


def prefaced(line: Sequence[Utterance], sent: Sequence[Utterance]) -> Fit:
    """How a history lies along the end of a line, if it begins with something else."""
    effort, found = Effort(line, sent), Fit((), True)
    for preface in range(1, min(PREFACE, len(sent) - EVIDENCE) + 1):
        if sent[preface - 1].role == "tool":  # which answers something
            break
        places = ending(line, sent, 0, preface, effort)
        if len(places) > found.known and evident(line, places):
            found = Fit(tuple(places), True, preface)
    return found


def continues(line: Sequence[Utterance], sent: Sequence[Utterance]) -> bool:
    """Whether a history without its beginning goes on from the end of a line, beyond doubt."""
    return evident(line, ending(line, sent, 0, 0, Effort(line, sent))) or bool(prefaced(line, sent).known)


def evident(line: Sequence[Utterance], places: Sequence[int]) -> bool:
    """Whether what is known is more than chance; what was erased shows nothing."""
    seen = [line[place].role for place in places if not line[place].erased]
    return len(seen) >= EVIDENCE and any(role in TOLD_BACK for role in seen)


def beginning(line: Sequence[Utterance], sent: Sequence[Utterance]) -> list[int]:
    """The places of what is known from the beginning of both."""
    if len(sent) == 1 and any(one.alone for one in line):
        return []
    return run(line, sent, 0, 0, Effort(line, sent))


def run(line: Sequence[Utterance], sent: Sequence[Utterance], start: int, first: int, effort: Effort) -> list[int]:
    """The places in the line, from `start` on, of sent messages from `first` on, as long as the two agree."""
    places, at, shorter = list[int](), start, 0
    for number in range(first, len(sent)):
        here, said, last = at, sent[number], number == len(sent) - 1
        while here < len(line) and line[here].loose and not same(line[here], said, last):
            here += 1
        if here == len(line):
            break
        if here >= shorter and not same(line[here], said, last):
            shorter = shortened(line, here, sent, number, effort)
            if here >= shorter:
                break
        places.append(here)
        at = here + 1
    effort.left -= at - start + 1
    return places


def ending(line: Sequence[Utterance], sent: Sequence[Utterance], after: int, first: int, effort: Effort) -> list[int]:
    """The longest run of sent messages from `first` on that is the end of the line, if it is more than chance.

    It is if the client tells back a reply, or if nothing was known before and all that it sends is there.
    """
    if first == len(sent):
        return []
    # So many of the line's last messages can be told back; replies that were cut off need not be.
    longest = len(sent) - first + sum(one.loose for one in line)
    for start in starts(line, sent[first], max(after, len(line) - longest)):
        places = run(line, sent, start, first, effort)
        if places and places[0] == start and at_end(line, places):
            told = any(line[place].role in TOLD_BACK for place in places)
            return places if told or len(places) == len(sent) else []
        if effort.left < 0:
            break
    return []


def longest(line: Sequence[Utterance], sent: Sequence[Utterance], effort: Effort) -> list[int]:
    """The longest run of sent messages, from the first of them on, anywhere in a line but at its beginning."""
    found = list[int]()
    for start in starts(line, sent[0], 1):
        places = run(line, sent, start, 0, effort)
        found = places if len(places) > len(found) and evident(line, places) else found
        if effort.left < 0 or len(found) == len(sent):
            break
    return found


def starts(line: Sequence[Utterance], said: Utterance, first: int) -> list[int]:
    """Where a sent message may be in a line, from a place on."""
    mark, tool = said.mark, said.role == "tool"
    return [
        place
        for place in range(first, len(line))
        if (one := line[place]).mark == mark or one.partial or one.erased or (tool and one.call == said.call)
    ]


def at_end(line: Sequence[Utterance], places: Sequence[int]) -> bool:
    """Whether nothing that must be told back follows in the line."""
    return all(line[place].loose for place in range(places[-1] + 1 if places else 0, len(line)))


def same(known: Utterance, said: Utterance, last: bool) -> bool:
    """Whether a sent message is this one of the line; `last` is what is asked now."""
    if known.role != said.role or known.preface:
        return False
    if known.erased:
        return not last
    if known.call != said.call:
        return False
    if known.partial and said.mark:
        return known.mark.startswith(said.mark)
    return known.mark == said.mark


def shortened(line: Sequence[Utterance], place: int, sent: Sequence[Utterance], number: int, effort: Effort) -> int:
    """Up to where in the line the client has only shortened what tools said: then what comes after is still the same;
    0 if it has not."""
    begun = place
    while place < len(line) and number < len(sent) and line[place].role == sent[number].role == "tool":
        if line[place].call != sent[number].call and not line[place].erased:
            break
        place, number = place + 1, number + 1
    effort.left -= place - begun
    goes_on = begun < place < len(line) and number < len(sent)
    return place if goes_on and same(line[place], sent[number], number == len(sent) - 1) else 0
