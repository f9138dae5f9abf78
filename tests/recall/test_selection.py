"""Which hits are worth their tokens: those near the best one, and fewer for a message that asks nothing."""

from __future__ import annotations

from datetime import UTC, datetime

from everword.model import Hit, Message
from everword.recall.rules.relevance import ASKED, TOLD, worthwhile_hits

NOON = datetime(2022, 2, 2, 12, tzinfo=UTC)


def hit(score: float) -> Hit:
    return Hit(Message("s", "c", 1, f"id{score}", "user", "alex", "alex", "The boat is blue.", NOON), score, {})


def test_what_is_far_below_the_best_hit_is_left_out() -> None:
    hits = [hit(10.0), hit(10 * TOLD), hit(10 * ASKED), hit(1.0)]
    assert worthwhile_hits(hits, "Which colour has the boat?") == hits[:3]
    assert worthwhile_hits(hits, "I painted the boat.") == hits[:2]
    assert worthwhile_hits([], "Which boat?") == []


def test_a_question_is_known_by_its_mark_in_any_script() -> None:
    hits = [hit(10.0), hit(10 * ASKED)]
    assert len(worthwhile_hits(hits, "船は何色ですか？")) == 2
