"""Reconciling: which of the messages a client sends are in the log already, and where the rest belongs.

Clients of chat models send the whole history with every request, and edit it: they change a message and go on from
there, ask for another reply, leave out what is old, replace what a tool said long ago by a stub. The log only grows.
So a conversation is a tree whose **lines** are paths from the first message to an end, and each request is laid along
one of them: as many of the sent messages as possible are recognised, in order and without a gap among them, and what
comes after those is new. It goes on at the end of its line, or leaves the line where the two part: a branch.

The rule never loses and never doubles: every sent message is either one that the line has, or new. Messages of the
line that the client left out are no difference. A reply that was cut off may have been seen less far than it was kept,
or not at all. An erased message stands for whatever was said there, so that it is not told again; but what is
asked now is never taken for an erased one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TOLD_BACK = ("assistant", "tool")  # roles whose messages show that a client speaks of this conversation
EVIDENCE = 2  # messages in a row that place a history without its beginning


@dataclass(frozen=True, slots=True)
class Utterance:
    """What tells one message from another. `mark` is what it says, `call` the tool call it answers."""

    role: str
    mark: str
    call: str = ""
    partial: bool = False
    erased: bool = False


@dataclass(frozen=True, slots=True)
class Fit:
    """How a history lies along a line: the place in the line of each sent message that is known, in order; and
    whether the line ends there, so that what is new goes on with it."""

    places: tuple[int, ...]
    at_end: bool

    @property
    def known(self) -> int:
        """How many of the sent messages are known; the others are new."""
        return len(self.places)


def best(lines: Sequence[Sequence[Utterance]], sent: Sequence[Utterance]) -> tuple[int, Fit]:
    """The number of the line that has most of what was sent, and how it lies there; of equals the first given.

    A history that is known from its beginning, all but its last message, is whole, and is not looked for elsewhere.
    """
    fits = [opened(line, sent) for line in lines]
    if not 0 < max(fit.known for fit in fits) >= len(sent) - 1:
        fits = [fit(line, sent) for line in lines]
    number = max(range(len(fits)), key=lambda n: (fits[n].known, fits[n].at_end, -n))
    return number, fits[number]


def opened(line: Sequence[Utterance], sent: Sequence[Utterance]) -> Fit:
    """How a history lies along a line from the beginning of both."""
    places = run(line, sent, 0, 0)
    return Fit(tuple(places), at_end(line, places))


def fit(line: Sequence[Utterance], sent: Sequence[Utterance]) -> Fit:
    """How a history lies along a line of which it may leave out the beginning, or a part in the middle."""
    opening = run(line, sent, 0, 0)
    rest = ending(line, sent, opening[-1] + 1 if opening else 0, len(opening))
    if rest:
        return Fit((*opening, *rest), True)
    if opening:
        return Fit(tuple(opening), at_end(line, opening))
    middle = max((run(line, sent, start, 0) for start in range(1, len(line))), key=len, default=[])
    if len(middle) >= EVIDENCE and any(line[place].role in TOLD_BACK for place in middle):
        return Fit(tuple(middle), at_end(line, middle))
    return Fit((), True)


def run(line: Sequence[Utterance], sent: Sequence[Utterance], start: int, first: int) -> list[int]:
    """The places in the line, from `start` on, of sent messages from `first` on, as long as the two agree."""
    places = list[int]()
    at = start
    for number in range(first, len(sent)):
        here = at
        while here < len(line) and line[here].partial and not same(line, here, sent, number):
            here += 1
        if here == len(line) or not same(line, here, sent, number):
            break
        places.append(here)
        at = here + 1
    return places


def ending(line: Sequence[Utterance], sent: Sequence[Utterance], after: int, first: int) -> list[int]:
    """The longest run of sent messages from `first` on that is the end of the line, if it is more than chance.

    It is if the client tells back a reply, or if nothing was known before and all that it sends is there.
    """
    # So many of the line's last messages can be told back; replies that were cut off need not be.
    longest = len(sent) - first + sum(one.partial for one in line)
    for start in range(max(after, len(line) - longest), len(line)):
        places = run(line, sent, start, first)
        if places and places[0] == start and at_end(line, places):
            told = any(line[place].role in TOLD_BACK for place in places)
            return places if told or len(places) == len(sent) else []
    return []


def at_end(line: Sequence[Utterance], places: Sequence[int]) -> bool:
    """Whether nothing but replies that were cut off follows in the line."""
    return all(one.partial for one in line[places[-1] + 1 if places else 0 :])


def same(line: Sequence[Utterance], place: int, sent: Sequence[Utterance], number: int) -> bool:
    """Whether a sent message is the one at this place of the line."""
    known, said = line[place], sent[number]
    if known.role != said.role:
        return False
    if known.erased:
        return number < len(sent) - 1
    if known.role == "tool" and known.call == said.call and known.mark != said.mark:
        return stubbed(line, place, sent, number)
    if known.call != said.call:
        return False
    if known.partial and said.mark:
        return known.mark.startswith(said.mark)
    return known.mark == said.mark


def stubbed(line: Sequence[Utterance], place: int, sent: Sequence[Utterance], number: int) -> bool:
    """Whether what a tool said was only shortened by the client: then what came after it is still the same."""
    while place < len(line) and number < len(sent) and line[place].role == sent[number].role == "tool":
        if line[place].call != sent[number].call and not line[place].erased:
            return False
        place, number = place + 1, number + 1
    return place < len(line) and number < len(sent) and same(line, place, sent, number)
