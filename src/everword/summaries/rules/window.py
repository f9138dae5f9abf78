"""When messages leave the window, and which: one rule with three triggers, the first to fire wins, each can be off.

Only whole exchanges leave, oldest first: a question leaves with its answer. The last exchange never leaves, nor do the
messages that each trigger keeps. Messages that leave are archived, not deleted.

What has left is cut into episodes, and these are merged into levels. Cuts are where the subject changes, not at a fixed
count. The method is TextTiling: at each gap the messages before are compared with those after, and the depth of a gap
is how far the likeness drops there below the next peaks on both sides. A depth is judged relative to the run, so the
embedder's own scale matters little; but a run that never leaves its subject has no deep gap, so a cut also needs a
least depth. No piece is longer than the longest: where the subject does not change for too long, the deepest gap is
taken. A long pause is always a cut, whatever the subject; apart from that no piece is shorter than the shortest. A
question and the reply right after it are in one piece, unless a piece of nothing else would get too long.

Few episodes stay active, however long a conversation gets. A merge takes the oldest episodes of one level and makes the
newest of the level above. So the active episodes are in the order of their levels, the highest first, which is the
order of time. Each merge takes neighbours; only the merged episodes leave the active set. Call again after each merge,
until there is no next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from everword.errors import InvalidInput
from everword.model import Role

REQUESTED = "asked for"  # the trigger of a departure that somebody asked for
LONGEST_QUESTION = 20  # messages without an answer after which each stands for itself, as in a busy channel


@dataclass(frozen=True, slots=True)
class WindowRule:
    """How much the window holds. A trigger of 0 is off."""

    tokens: int = 30_000
    under: int = 5_000
    keep: int = 5
    turns: int = 20
    keep_turns: int = 10
    user_messages: int = 0
    keep_pairs: int = 4


@dataclass(frozen=True, slots=True)
class WindowMessage:
    """A message in the window: its turn, who spoke, and its tokens as rendered."""

    turn: int
    role: Role
    tokens: int


@dataclass(frozen=True, slots=True)
class Departure:
    """The messages at the start of the window, from turn `first` to `last`, that are to leave, and the trigger."""

    first: int
    last: int
    trigger: str


def find_departure(window: Sequence[WindowMessage], rule: WindowRule) -> Departure | None:
    """The messages that must leave now that the window's last message is stored."""
    if not window:
        return None
    for trigger, count in (
        ("tokens", by_tokens(window, rule)),
        ("turns", by_turns(window, rule)),
        ("user messages", by_user_messages(window, rule)),
    ):
        if count:
            return Departure(window[0].turn, window[count - 1].turn, trigger)
    return None


def may_depart(message_count: int, most_tokens: int, rule: WindowRule) -> bool:
    """Whether messages may have to leave a window of so many messages and at most so many tokens."""
    is_long = 0 < rule.turns <= message_count
    return is_long or 0 < rule.tokens < most_tokens or bool(rule.user_messages)


def find_requested_departure(window: Sequence[WindowMessage]) -> Departure | None:
    """The messages that leave because somebody asks for it: all but the last exchange, or, where nobody answers, all
    but the last message."""
    answered = any(message.role != "user" for message in window)
    count = max(exchange_ends(window), default=0) if answered else len(window) - 1
    return Departure(window[0].turn, window[count - 1].turn, REQUESTED) if count > 0 else None


def by_tokens(window: Sequence[WindowMessage], rule: WindowRule) -> int:
    total = sum(message.tokens for message in window)
    if not rule.tokens or total <= rule.tokens:
        return 0
    count = 0
    for end in exchange_ends(window):
        if total <= rule.tokens - rule.under or len(window) - end < rule.keep:
            break
        total -= sum(message.tokens for message in window[count:end])
        count = end
    return count


def by_turns(window: Sequence[WindowMessage], rule: WindowRule) -> int:
    if not rule.turns or len(window) < rule.turns:
        return 0
    return max((end for end in exchange_ends(window) if len(window) - end >= rule.keep_turns), default=0)


def by_user_messages(window: Sequence[WindowMessage], rule: WindowRule) -> int:
    if not rule.user_messages or window[-1].role != "assistant":
        return 0
    if sum(message.role == "user" for message in window) < rule.user_messages:
        return 0
    return max((end for end in exchange_ends(window) if len(window) - end >= 2 * rule.keep_pairs), default=0)


def exchange_ends(window: Sequence[WindowMessage]) -> Iterator[int]:
    """The numbers of messages that may leave without splitting an exchange; the last exchange always stays."""
    waiting = 0
    for place, message in enumerate(window):
        before = window[place - 1].role if place else None
        if place and message.role == "user" and (before != "user" or waiting >= LONGEST_QUESTION):
            yield place
        waiting = waiting + 1 if message.role == "user" else 0


# -- cutting and merging

Rows = NDArray[np.float32]

SHORTEST = 4
"""The fewest messages of one piece."""
LONGEST = 30
"""The most messages of one piece."""
PAUSE = timedelta(hours=6)
"""A longer pause between two messages ends a piece: more than an afternoon away, less than a night."""
BLOCK = 4
"""Messages on each side of a gap that are compared."""
CALM = 0.3
"""The least depth, in cosine, at which the subject changes."""
DEVIATIONS = 0.5
"""How far above its mean, in standard deviations of the run's depths, a depth has to be."""
RELATED = 3.5
"""How far above the mean of unrelated texts, in their deviations, the cosine of messages that continue must be."""


def cuts(
    vectors: Rows,
    sizes: Sequence[int],
    may: Sequence[bool] | None = None,
    *,
    pauses: Sequence[bool] | None = None,
    replies: Sequence[bool] | None = None,
    shortest: int = SHORTEST,
    longest: int = LONGEST,
) -> list[int]:
    """Where pieces begin, after the first. One vector (unit or zero) and size (tokens) for each message. `may` says
    before which messages a cut is welcome, such as a user's; elsewhere a piece is cut only if it would get too long.
    `pauses` says which messages come after a long pause, and `replies` which ones answer the message before them.
    """
    count = len(sizes)
    for name, items in {"vectors": vectors, "may": may, "pauses": pauses, "replies": replies}.items():
        if items is not None and len(items) != count:
            raise InvalidInput(name, f"must have as many items as `sizes`, but has {len(items)} items, not {count}")
    if shortest < 1 or longest < 2 * shortest - 1:
        raise InvalidInput("longest", f"is {longest}; must be at least 2 * shortest - 1, here {2 * shortest - 1}")
    is_reply = np.zeros(count, dtype=bool) if replies is None else np.asarray(replies, dtype=bool)
    is_welcome = np.ones(count, dtype=bool) if may is None else np.asarray(may, dtype=bool)
    after_pause = np.zeros(count, dtype=bool) if pauses is None else np.asarray(pauses, dtype=bool)
    breaks = [int(place) for place in np.flatnonzero(after_pause & ~is_reply) if place]
    starts = list(breaks)
    for first, end in pairwise([0, *breaks, count]):
        if end - first < 2 * shortest:
            continue
        depth = depths(vectors[first:end], sizes[first:end])
        # Where a reply follows its question the gap is never chosen, if there is another.
        depth[is_reply[first:end]] = 0.0
        welcome = is_welcome[first:end] & ~is_reply[first:end]
        places = _clear_cuts(depth, welcome, shortest)
        free = ~is_reply[first:end]
        starts += [first + place for place in _split_long_pieces(places, depth, welcome, free, shortest, longest)]
    return sorted(starts)


def depths(vectors: Rows, sizes: Sequence[int]) -> NDArray[np.float64]:
    """How deep the likeness drops before each message; 0 before the first, and before one without content: an emoji."""
    drops = np.zeros(len(sizes))
    telling = np.flatnonzero(np.any(vectors, axis=1)) if len(sizes) else np.arange(0)
    if len(telling) < 2:
        return drops
    # A longer message says more about the subject, but not in proportion.
    weights = np.sqrt(np.maximum(np.asarray(sizes, dtype=np.float64)[telling], 1))
    sums = np.cumsum(np.asarray(vectors, dtype=np.float64)[telling] * weights[:, None], axis=0)
    sums = np.vstack([np.zeros((1, sums.shape[1])), sums])
    gaps = np.arange(1, len(telling))
    first = np.maximum(gaps - BLOCK, 0)
    last = np.minimum(gaps + BLOCK, len(telling))
    before = sums[gaps] - sums[first]
    after = sums[last] - sums[gaps]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    # One or two messages at an end are no subject: an unreliable likeness is set to the mean.
    reliable = (lengths > _NOTHING) & (np.minimum(gaps - first, last - gaps) > BLOCK // 2)
    likeness = np.einsum("ij,ij->i", before, after) / np.where(reliable, lengths, 1.0)
    likeness = np.where(reliable, likeness, np.mean(likeness[reliable]) if reliable.any() else 0.0)
    drops[telling[1:]] = _climb(likeness) + _climb(likeness[::-1])[::-1]
    return drops


_NOTHING = 1e-9


def _climb(likeness: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the likeness rises from each gap to the next peak on the left."""
    peaks: list[float] = []
    before = -np.inf
    for height in likeness.tolist():
        peaks.append(peaks[-1] if before >= height else height)
        before = height
    heights: NDArray[np.float64] = np.array(peaks) - likeness
    return heights


def _clear_cuts(depth: NDArray[np.float64], welcome: NDArray[np.bool_], shortest: int) -> list[int]:
    """The gaps where the subject clearly changes, in order; none that is too near to a deeper one."""
    gaps = depth[1:]
    least = max(CALM, float(np.mean(gaps) + DEVIATIONS * np.std(gaps)))
    free = welcome & (depth >= least)
    free[:shortest] = False
    free[len(depth) - shortest + 1 :] = False
    places: list[int] = []
    for place in np.argsort(-depth, kind="stable"):
        at = int(place)
        if free[at]:
            places.append(at)
            free[max(at - shortest + 1, 0) : at + shortest] = False
    return sorted(places)


def _split_long_pieces(
    places: list[int],
    depth: NDArray[np.float64],
    welcome: NDArray[np.bool_],
    free: NDArray[np.bool_],
    shortest: int,
    longest: int,
) -> list[int]:
    """The cuts, with more of them at the deepest gaps until no piece is too long."""
    starts: list[int] = []
    open_pieces = list(pairwise([0, *places, len(depth)]))
    while open_pieces:
        start, end = open_pieces.pop()
        if start:
            starts.append(start)
        if end - start <= longest:
            continue
        at = _deepest(depth, (welcome, free), start + shortest, end - shortest)
        if start:
            starts.pop()
        open_pieces += [(start, at), (at, end)]
    return sorted(starts)


def _deepest(depth: NDArray[np.float64], preferred: Sequence[NDArray[np.bool_]], first: int, last: int) -> int:
    """The deepest gap from `first` to `last`, among those of the first preference that has any; of equals the
    middlemost."""
    places = np.arange(first, last + 1)
    for flags in preferred:
        if flags[places].any():
            places = places[flags[places]]
            break
    off_middle = np.abs(places - (first + last) / 2)
    return int(places[np.lexsort((off_middle, -depth[places]))[0]])


def continues(before: Rows, vectors: Rows, *, unrelated: float, spread: float) -> bool:
    """Whether messages continue the subject of the episode before them, whose vector is `before`.

    `unrelated` and `spread` are the mean and the deviation of the embedder's cosine of unrelated texts.
    """
    mean = np.sum(np.asarray(vectors, dtype=np.float64), axis=0)
    lengths = float(np.linalg.norm(mean) * np.linalg.norm(before))
    if lengths <= _NOTHING:
        return False
    return float(np.dot(mean, before)) / lengths >= unrelated + RELATED * spread


# -- levels


AT_MOST = 5
"""Active episodes of one level."""
IN_ALL = 10
"""Active episodes of all levels together."""


@dataclass(frozen=True, slots=True)
class EpisodeMerge:
    """The episodes of a level, by their first turns, oldest first, that become one episode of level + 1."""

    level: int
    firsts: tuple[int, ...]


def next_merge(active: Sequence[tuple[int, int]], at_most: int = AT_MOST, in_all: int = IN_ALL) -> EpisodeMerge | None:
    """The merge that is due among the active episodes (level, first turn); None if they are few enough."""
    if at_most < 2:
        raise InvalidInput("at_most", f"is {at_most}; must be 2 or more")
    if in_all < 1:
        raise InvalidInput("in_all", f"is {in_all}; must be 1 or more")
    levels: dict[int, list[int]] = {}
    for level, first in sorted(active):
        levels.setdefault(level, []).append(first)
    for level, firsts in levels.items():
        if len(firsts) > at_most:
            return EpisodeMerge(level, tuple(firsts[:at_most]))
    if len(active) <= in_all:
        return None
    fullest = max(levels, key=lambda level: (len(levels[level]), level))
    if len(levels[fullest]) == 1:
        # One of each level: the oldest but one rises until it meets the oldest, and those two become one.
        fullest = sorted(levels)[-2]
    return EpisodeMerge(fullest, tuple(levels[fullest][:at_most]))
