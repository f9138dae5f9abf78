"""In a pipe, hits are printed without rich, and look as rich would print them."""

from __future__ import annotations

from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console

from everword.cli.conversations import hit_lines, show_hit
from everword.cli.output import ENDLESS, is_plain
from everword.model import Hit, Message

LONG = "We looked at boats in the harbour. " * 12 + "Then the ferry to Zadar left late.\n\tIt rained  all day."


@pytest.mark.parametrize("content", ["The ferry\tto Zadar \x1b[31mleft\x07 at nine.", LONG, "   ", "渡輪晚了 ferry"])
@pytest.mark.parametrize("explain", [False, True])
def test_a_hit_in_a_pipe_is_what_rich_would_print(content: str, explain: bool) -> None:
    moment = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
    message = Message("default", "trip", 12, "m1", "user", "Ana", "ana", content, moment)
    hit = Hit(message, 3.14159, {"text": 2.0, "vector": 1.14159}, 0.75)
    out = StringIO()
    printer = Console(file=out, markup=False, highlight=False, emoji=False, width=ENDLESS)
    show_hit(printer, 3, hit, "ferry to Zadar", explain)
    assert "\n".join(hit_lines(3, hit, "ferry to Zadar", explain)) + "\n" == out.getvalue()


def test_styles_may_be_asked_for_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("TTY_COMPATIBLE", raising=False)
    assert is_plain()
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not is_plain()
