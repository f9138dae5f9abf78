"""How well messages are put into topics. Pure: labels in, numbers from 0 to 1 out.

V-measure is the mean of two things: whether a topic holds messages of one session only (homogeneity), and whether the
messages of a session are in one topic (completeness). Pairwise F1 is of all pairs of messages: is a pair that is of one
session in one topic, and the other way round. One topic for everything, and one topic for each message, are both bad.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import log

Labels = Sequence[Hashable]


@dataclass(frozen=True, slots=True)
class ClusterScores:
    """Topics for each session, V-measure with its two parts, and the F1 of pairs; more is better but for the first."""

    topics_per_session: float
    v_measure: float
    homogeneity: float
    completeness: float
    pair_f1: float


def score_clusters(sessions: Labels, topics: Labels) -> ClusterScores:
    """The scores of the topics of messages, given the session of each."""
    joint = Counter(zip(sessions, topics, strict=True))
    by_session = Counter(sessions)
    by_topic = Counter(topics)
    homogeneity = _explained(by_session, joint, by_topic, 1)
    completeness = _explained(by_topic, joint, by_session, 0)
    total = homogeneity + completeness
    right = _pairs(joint)
    all_pairs = _pairs(by_session) + _pairs(by_topic)
    return ClusterScores(
        len(by_topic) / len(by_session),
        2 * homogeneity * completeness / total if total else 0.0,
        homogeneity,
        completeness,
        2 * right / all_pairs if all_pairs else 1.0,
    )


def _explained(
    labels: Counter[Hashable], joint: Counter[tuple[Hashable, Hashable]], given: Counter[Hashable], place: int
) -> float:
    """The share of the entropy of labels that is gone once the other label (at `place` of a joint one) is known."""
    count = sum(labels.values())
    entropy = -sum(times / count * log(times / count) for times in labels.values())
    rest = -sum(times / count * log(times / given[pair[place]]) for pair, times in joint.items())
    return 1 - rest / entropy if entropy else 1.0


def _pairs(counts: Counter[Hashable] | Counter[tuple[Hashable, Hashable]]) -> int:
    return sum(times * (times - 1) // 2 for times in counts.values())
