"""The parts of a run of messages that become episodes, and the lines of the episodes there are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from recollect.model import Episode, ExtractLine, Message
from recollect.ports import Vectors
from recollect.summaries.rules.lines import narrative_lines, whole_line
from recollect.summaries.rules.segments import PAUSE, cuts
from recollect.text.standalone import is_bound

LONGEST = 30  # messages in one episode of level 1
CHARACTERS = 4  # of a token, about


def stack_vectors(vectors: Sequence[Vectors | None]) -> Vectors:
    """One row for each message; zeros for one that has no vector."""
    width = max((len(vector) for vector in vectors if vector is not None), default=1)
    rows = [np.zeros(width, np.float32) if vector is None else vector for vector in vectors]
    return np.array(rows, np.float32).reshape(len(vectors), width)


def part_bounds(messages: Sequence[Message], vectors: Vectors) -> list[tuple[int, int]]:
    """The start and end of each part into which a run of messages is cut."""
    if not messages:
        return []
    sizes = [len(message.content) // CHARACTERS + 1 for message in messages]
    gaps = list(pairwise(messages))
    starts = [
        0,
        *cuts(
            vectors,
            sizes,
            [message.role == "user" for message in messages],
            pauses=[False, *(after.time - before.time > PAUSE for before, after in gaps)],
            replies=[False, *(is_reply(before, after) for before, after in gaps)],
            longest=LONGEST,
        ),
        len(messages),
    ]
    return list(pairwise(starts))


def bounds_after(before: Message | None, messages: Sequence[Message], vectors: Vectors) -> list[tuple[int, int]]:
    """The parts of a run; a reply to the message before the run is a part of its own, if others follow it there."""
    bounds = part_bounds(messages, vectors)
    if before is None or not bounds or bounds[0][1] == 1 or not is_reply(before, messages[0]):
        return bounds
    return [(0, 1), (1, bounds[0][1]), *bounds[1:]]


def is_reply(before: Message, after: Message) -> bool:
    """Whether a message answers the question that the message before it ends in."""
    return (before.role, before.author) != (after.role, after.author) and is_bound(before.content, after.content)


def lines_of(episode: Episode) -> tuple[ExtractLine, ...]:
    """The lines of a summary. Without them, what a model wrote is prose, and another text stays as it is."""
    if episode.lines or not episode.summary:
        return episode.lines
    to_lines = narrative_lines if episode.made_by == "model" else whole_line
    return to_lines(episode.summary, episode.last, episode.ended)
