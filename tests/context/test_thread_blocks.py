"""In a group, a line that was found stands with what it answers and what answers it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from everword import BlockingConversation, Budget, Draft, Memory
from everword.testing import FrozenClock

START = datetime(2026, 5, 1, 9, tzinfo=UTC)
SAID = [
    ("ann", "how do I mount an encrypted usb disk?"),
    ("bob", "does anyone know a good recipe for rye bread?"),
    ("carl", "ann: use cryptsetup open, then the mapper device"),
    ("dana", "bob: take sourdough, and twelve hours of patience"),
    ("ann", "carl: great, that did the trick"),
]


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockingConversation]:
    folder = tmp_path_factory.mktemp("channel")
    clock = FrozenClock(START + timedelta(hours=5))
    lines = [*SAID, *((f"u{n % 4}", f"u{(n + 1) % 4}: the weather of day {n} was fine in town") for n in range(160))]
    with Memory(str(folder / "memory.db"), clock=clock, window_turns=10, followers=False) as memory:
        conversation = memory.conversation("general")
        conversation.extend(
            Draft("user", text, author, time=START + timedelta(minutes=number))
            for number, (author, text) in enumerate(lines)
        )
        memory.settle()
        yield conversation


@pytest.mark.checklist("G23")
def test_a_hit_stands_with_its_question_and_its_answers(channel: BlockingConversation) -> None:
    context = channel.context("Who knows about cryptsetup?", budget=Budget(total=3000, summaries=0, topic=0))
    text = "\n".join(str(message["content"]) for message in context.messages)
    lines = [line.partition("] ")[2] for line in text.split("\n") if line.startswith("[m")]
    place = lines.index("user carl: (to ann) use cryptsetup open, then the mapper device")
    assert lines[place - 1] == "user ann: how do I mount an encrypted usb disk?"
    assert lines[place + 1] == "user ann: (to carl) great, that did the trick"
    assert "answers a relevant line" in context.receipt.explain()


@pytest.mark.checklist("G23")
def test_a_context_says_which_thread_is_going_on(channel: BlockingConversation) -> None:
    thread = next(topic for topic in channel.topics() if "rye bread" in topic.title)
    text = "how many hours of patience does a rye bread recipe with sourdough take?"
    shown = "\n".join(str(message["content"]) for message in channel.context(text).messages)
    assert f"Going on since Fri 1 May 2026, {thread.messages} messages" in shown
