"""Packing: fewer bytes, and every message back exactly."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.cli.demo import drafts
from everword.errors import InvalidInput
from everword.model import ROLES
from everword.model.views import TopicMessage
from everword.topics.stored_topics import PACK_SIZE, decode_pack, encode_pack

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MESSAGES = st.builds(
    TopicMessage,
    turn=st.integers(1, 2**31 - 1),
    role=st.sampled_from(ROLES),
    author=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    content=st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    time=st.integers(-50_000_000_000_000_000, 200_000_000_000_000_000).map(lambda n: EPOCH + timedelta(microseconds=n)),
)


@given(st.lists(MESSAGES, max_size=20))
@pytest.mark.checklist("E5")
def test_what_is_packed_comes_back_exactly(messages: list[TopicMessage]) -> None:
    assert decode_pack(encode_pack(messages)) == messages


def test_lines_tabs_emoji_and_other_scripts_come_back() -> None:
    time = datetime(2026, 1, 1, tzinfo=UTC)
    words = ["", 'a\nb\tc\\n"d"', "🎉👩‍👩‍👧", "自転車も無料です。", "مرحبا", "\x00\x1f\u2028", " lead and trail "]
    messages = [TopicMessage(n, "user", 'Ann\t\n"', text, time) for n, text in enumerate(words, 1)]
    assert decode_pack(encode_pack(messages)) == messages


@pytest.mark.checklist("E2")
def test_short_chat_takes_less_than_gzip_of_json() -> None:
    """gzip is the floor."""
    said = [TopicMessage(n, d.role, "alex", d.content, d.time) for n, d in enumerate(drafts(), 1) if d.time]
    for count in (4, 9, 20, len(said)):
        plain = [{"role": m.role, "content": m.content, "timestamp": m.timestamp} for m in said[:count]]
        form = json.dumps(plain, ensure_ascii=False).encode()
        packed = encode_pack(said[:count])
        assert len(packed) < len(gzip.compress(form, 9)) < len(form)
        assert len(packed) < (0.45 if count < 9 else 0.38) * len(form)


@settings(max_examples=sample(50))
@given(st.binary(max_size=200))
def test_what_is_no_pack_is_refused_and_says_what_to_do(junk: bytes) -> None:
    with pytest.raises(InvalidInput, match="rebuild topics"):
        decode_pack(junk)


def test_a_large_message_and_a_full_pack_are_fine() -> None:
    time = datetime(2026, 1, 1, tzinfo=UTC)
    huge = [TopicMessage(1, "user", "alex", "long " * 200_000, time)]
    assert decode_pack(encode_pack(huge)) == huge
    many = [
        TopicMessage(n, "user", "alex", f"line {n}", time + n * timedelta(milliseconds=7)) for n in range(1, PACK_SIZE)
    ]
    assert decode_pack(encode_pack(many)) == many
