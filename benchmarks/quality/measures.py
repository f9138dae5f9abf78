"""How well a ranking finds the evidence of a question. Pure: ids in, numbers from 0 to 1 out.

Three recalls differ by more than ten points, so each has a name of its own: `recall` is the share of the evidence
among the first k, `all` whether none of it is missing there, `any` whether there is at least one. A question with two
pieces of evidence, one of them found, has recall 0.5, all 0, any 1. A session is ranked by its best turn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2

RECALL_AT = (5, 10, 20)
GAIN_AT = 10
SESSIONS_AT = (5, 10)
DEEPEST = 20
"""Turns of a ranking that are looked at."""

TURN_MEASURES = (
    *(f"recall@{k}" for k in RECALL_AT),
    *(f"all@{k}" for k in RECALL_AT),
    *(f"any@{k}" for k in RECALL_AT),
    f"ndcg@{GAIN_AT}",
)
SESSION_MEASURES = tuple(f"session {name}@{k}" for name in ("recall", "all", "any") for k in SESSIONS_AT)


def recall(ranked: Sequence[str], evidence: Collection[str], k: int) -> float:
    """The share of the evidence that is among the first k."""
    return len(set(ranked[:k]) & set(evidence)) / len(set(evidence))


def everything(ranked: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 if all of the evidence is among the first k."""
    return float(set(evidence) <= set(ranked[:k]))


def anything(ranked: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 if any of the evidence is among the first k."""
    return float(not set(evidence).isdisjoint(ranked[:k]))


def ndcg(ranked: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain: 1 if the evidence stands first, less the further down it is."""
    wanted = set(evidence)
    gain = sum(1 / log2(place + 1) for place, id in enumerate(ranked[:k], 1) if id in wanted)
    best = sum(1 / log2(place + 1) for place in range(1, min(len(wanted), k) + 1))
    return gain / best


def by_session(ranked: Iterable[str], home: Mapping[str, str]) -> list[str]:
    """The sessions of ranked turns, each at the place of its best turn."""
    return list(dict.fromkeys(home[id] for id in ranked))


def of_turns(ranked: Sequence[str], evidence: Collection[str]) -> dict[str, float]:
    """Every measure of `TURN_MEASURES` for one question."""
    values = [judge(ranked, evidence, k) for judge in (recall, everything, anything) for k in RECALL_AT]
    return dict(zip(TURN_MEASURES, [*values, ndcg(ranked, evidence, GAIN_AT)], strict=True))


def of_sessions(ranked: Sequence[str], sessions: Collection[str]) -> dict[str, float]:
    """Every measure of `SESSION_MEASURES` for one question; `ranked` are sessions."""
    values = [judge(ranked, sessions, k) for judge in (recall, everything, anything) for k in SESSIONS_AT]
    return dict(zip(SESSION_MEASURES, values, strict=True))


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over the questions that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    having = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: sum(values) / len(values) for name, values in having.items()}
