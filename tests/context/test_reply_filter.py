"""Holding back (A5, A8): no part of a marker or of the inline block leaves a stream, however it is cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.context.reply_markers import MAX_INLINE, ParsedReply, ReplyEnd, ReplyFilter, TierRequest, parse, strip

TEXTS, CUTS = 125, 8  # a thousand streams: so many texts, each cut in so many ways
LONGEST_HOLD = 1_000  # characters: the longest marker, and what may stand around it
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
PIECES = [
    *("[REQUEST_TIER:2:abc]", "[REQUEST_TIER:3:x,y]", "[SEARCH_EPISODIC: foo [1] bar]", "[SEARCH_EPISODIC: ", "[REQ"),
    *("UEST_TIER:2:x]", "REQUEST_TIER", "[request tier:", "[SEARCH EPISODIC", "[", "]", "[[", "]]", "【", "】", "\\"),
    *("`", "```", "~~~", "**", "*", "_", "(", ")", '"', "<", "<everword>", "</everword>", "<ever", "word>"),
    *("```everword\n", "everword", "- ", "1. ", "\n", "\n\n", " ", "\t", "word", "r", "S", ":", "3", ",", "and"),
    *("[1]", "[ ]", "[REQUIRED]", "é", "。", "/", "x" * 30, " " * 70, "\n" * 70, "*" * 7, "-" * 50, "_" * 161),
]
# A text by its number: to draw each of its pieces by itself would take longer than to try it.
HOSTILE = st.integers(0, 2**62).map(lambda seed: pieced(Random(seed), PIECES, 14))
LONG = st.integers(0, 2**62).map(lambda seed: pieced(Random(seed), [*PIECES, "y" * 300, "[] " * 100], 10))
REPLY = (
    "Sure — here's a list:\n- [REQUEST_TIER:3:1m7ejx4s2qjr1qzpde9c]\n- **[SEARCH_EPISODIC: the trip]**\n\n"
    "```python\nx = a[0]\n```\nDone [1].\n\n<everword>\nuser1: name = Alex\n[REQUEST_TIER:2:quoted]\n</everword>\n"
)


def pieced(chance: Random, pieces: Sequence[str], most: int) -> str:
    """Up to so many of the pieces, one after the other."""
    return "".join(chance.choices(pieces, k=chance.randint(0, most)))


def cut(text: str, places: Iterable[int]) -> list[str]:
    """The text in pieces, cut at these places; some may be empty."""
    ends = sorted(min(place, len(text)) for place in places)
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def shown(chunks: Iterable[str]) -> tuple[list[str], ReplyEnd]:
    """What comes out after each chunk, and the end."""
    holding = ReplyFilter()
    return [holding.feed(chunk) for chunk in chunks], holding.finish()


def streamed(chunks: Iterable[str]) -> tuple[str, ReplyEnd]:
    pieces, held = shown(chunks)
    return "".join(pieces) + held.text_to_show, held


def assert_the_same_as_whole(text: str, chunks: list[str]) -> None:
    assert "".join(chunks) == text
    out, held = streamed(chunks)
    _, whole = streamed([text])
    assert out == strip(text)
    assert held.markers == parse(text) == whole.markers
    assert held.markers.text == out
    assert held.inline == whole.inline


class TestChunks:
    @settings(max_examples=TEXTS)
    @given(st.one_of(HOSTILE, ANY_TEXT), st.integers(0, 2**62))
    def test_any_cuts_show_the_same(self, text: str, seed: int) -> None:
        chance = Random(seed)
        for _ in range(CUTS):
            places = [chance.randint(0, len(text)) for _ in range(chance.randint(0, 12))]
            assert_the_same_as_whole(text, cut(text, places))

    @settings(max_examples=sample(70))
    @given(st.one_of(HOSTILE, ANY_TEXT))
    def test_one_character_at_a_time_shows_the_same(self, text: str) -> None:
        assert_the_same_as_whole(text, list(text))

    @settings(max_examples=sample(60))
    @given(LONG, st.integers(1, 50))
    def test_long_texts_in_even_chunks_show_the_same(self, text: str, size: int) -> None:
        assert_the_same_as_whole(text, cut(text, range(size, len(text), size)))

    def test_every_cut_in_two_of_a_reply(self) -> None:
        for place in range(len(REPLY) + 1):
            out, held = streamed(cut(REPLY, [place]))
            assert out == "Sure — here's a list:\n\n```python\nx = a[0]\n```\nDone [1]."
            assert held.markers.tiers == (TierRequest("1m7ejx4s2qjr1qzpde9c", 3),)
            assert held.markers.searches == ("the trip",)
            assert held.inline == "user1: name = Alex\n[REQUEST_TIER:2:quoted]"

    def test_every_cut_in_three_of_a_marker(self) -> None:
        text = "So **[REQUEST_TIER:2:a, b]** it [[SEARCH_EPISODIC: x]] is."
        for first in range(len(text) + 1):
            for second in range(first, len(text) + 1):
                out, held = streamed(cut(text, [first, second]))
                assert out == "So it is."
                assert held.markers.asks

    @settings(max_examples=sample(70))
    @given(st.one_of(HOSTILE, ANY_TEXT), st.integers(0, 200))
    def test_a_stream_that_breaks_off_shows_what_its_text_would(self, text: str, end: int) -> None:
        assert_the_same_as_whole(text[:end], list(text[:end]))

    @settings(max_examples=sample(120))
    @given(HOSTILE)
    def test_no_part_ever_shows_before_the_end(self, text: str) -> None:
        """What has come out at any time is a beginning of what comes out in the end: nothing is taken back."""
        pieces, held = shown(list(text))
        final = held.markers.text
        assert "".join(pieces) == final[: len("".join(pieces))]
        assert not re.search(r"[\[［【](?:request_tier|search_episodic)(?![^\W\d_])|<everword(?![^\W\d_])", final, re.I)

    def test_empty_chunks_change_nothing(self) -> None:
        chunks = [piece for char in REPLY for piece in ("", char, "")]
        assert_the_same_as_whole(REPLY, chunks)
        assert streamed([]) == ("", ReplyEnd("", ParsedReply(""), None))


class TestAsLittleAsPossible:
    @pytest.mark.parametrize(
        "text",
        [
            "an array a[i] and",
            "see [1] and [REQUIRED] or [requests",
            "[a link](https://example.org)",
            "- [x] done: [ ] open",
            "[R2] [S] [search](x) [request an offer]x",
            "1 < 2 and <b>bold</b>x",
            "`code` and **bold** and _more_ texts",
            "\\[x^2\\] maths",
            "「日本語」[注1]の文",
            "<everwords>s",
        ],
    )
    def test_ordinary_text_flows(self, text: str) -> None:
        pieces, held = shown(list(text))
        assert held.text_to_show == ""
        assert "".join(pieces) == text

    @pytest.mark.parametrize(
        ("chunk", "now"),
        [
            ("Hello", "Hello"),
            ("Hello ", "Hello"),
            ("Hello [", "Hello"),
            ("Hello [1", "Hello [1"),
            ("Hello [REQ", "Hello"),
            ("Hello [REQUI", "Hello [REQUI"),
            ("Hello [sea", "Hello"),
            ("Hello [sear ", "Hello [sear"),
            ("Hello **", "Hello"),
            ("Hello **w", "Hello **w"),
            ("a <", "a"),
            ("a <e", "a"),
            ("a <ea", "a <ea"),
            ("```", ""),
            ("```python\nx", "```python\nx"),
            ("in 2024", "in 2024"),
            ("x\n1", "x"),
            ("x\n1984", "x\n1984"),
            ("Hello [REQUEST_TIER:3:abc", "Hello"),
            ("Hello [REQUEST_TIER:3:abc] ", "Hello"),
            ("Hello [REQUEST_TIER:3:abc] t", "Hello t"),
            ("Bye.\n<everword>x</everword>y", "Bye."),
        ],
    )
    def test_a_chunk_comes_out_up_to_where_a_marker_may_begin(self, chunk: str, now: str) -> None:
        assert ReplyFilter().feed(chunk) == now

    @pytest.mark.parametrize(
        "unit",
        [
            "[",
            "[ ",
            "\\",
            "`",
            "<",
            " ",
            "\n",
            "*",
            "- ",
            "(",
            "a[",
            "[a] ",
            "[REQ ",
            "_",
            "1. ",
            "~",
            "<e",
        ],
    )
    def test_what_is_held_is_bounded(self, unit: str) -> None:
        holding, out = ReplyFilter(), 0
        for fed, char in enumerate(unit * (2_000 // len(unit)), 1):
            out += len(holding.feed(char))
            assert fed - out <= LONGEST_HOLD
        assert len(holding.finish().text_to_show) <= LONGEST_HOLD

    def test_a_marker_without_end_does_not_stop_the_stream(self) -> None:
        holding = ReplyFilter()
        out = "".join(holding.feed("w") for _ in range(3)) + holding.feed("[SEARCH_EPISODIC: ")
        out += "".join(holding.feed("w") for _ in range(2_000))
        assert len(out) > 1_000
        assert out + holding.finish().text_to_show == "www" + "w" * 2_000


class TestInline:
    @pytest.mark.parametrize(
        "block",
        [
            "<everword>{T}</everword>",
            "<everword>\n{T}\n</everword>\n",
            "<EVERWORD>{T}</Everword>",
            "< everword >{T}< / everword >",
            "<everword >{T}</everword >",
            '<everword version="1">{T}</everword>',
            "\\<everword\\>{T}\\</everword\\>",
            "＜everword＞{T}＜/everword＞",
            "<everword>{T}",
            "<everword>\n{T}\n",
            "<everword>\n```json\n{T}\n```\n</everword>",
            "```everword\n{T}\n```",
            "```Everword\n{T}\n```\n",
            "``` everword\n{T}\n```",
            "```everword\n{T}",
            "~~~everword\n{T}\n~~~",
            "<everword>{T}</everword> Anything else?",
            "<everword>old</everword>\n<everword>{T}</everword>",
            "<everword>old <everword>{T}</everword>",
            "<everword>{T}</everword>\n<everword>  </everword>",
        ],
    )
    def test_the_block_is_taken_out_and_given_back(self, block: str) -> None:
        tiers = '{"user": {"tier1": "name = Alex"}}'
        text = "Hello Alex.\n\n" + block.replace("{T}", tiers)
        for chunks in ([text], list(text)):
            out, held = streamed(chunks)
            assert out == "Hello Alex."
            assert held.inline == tiers

    @pytest.mark.parametrize("text", ["", "No block.", "a <b> c", "```\nx\n```", "everword", "<everword></everword>"])
    def test_no_block_is_none(self, text: str) -> None:
        assert streamed([text])[1].inline is None

    def test_a_block_cut_off_in_its_tag_is_not_seen(self) -> None:
        tag = "<everword>"
        for end in range(1, len(tag)):
            out, held = streamed(list("Hi.\n" + tag[:end]))
            assert (out, held.inline) == ("Hi.", None)

    def test_a_stray_closing_tag_is_not_seen(self) -> None:
        assert streamed(["Hi.</everword> More."])[0] == "Hi."

    def test_markers_before_and_after_the_block_count_and_in_it_do_not(self) -> None:
        text = "[REQUEST_TIER:2:a]\n<everword>[REQUEST_TIER:3:b]</everword>\n[SEARCH_EPISODIC: c]"
        _, held = streamed(list(text))
        assert held.markers == ParsedReply("", (TierRequest("a", 2),), ("c",))
        assert held.inline == "[REQUEST_TIER:3:b]"

    def test_a_block_without_end_is_kept_in_part(self) -> None:
        holding = ReplyFilter()
        assert holding.feed("Hi.<everword>") == "Hi."
        assert {holding.feed("x" * 10_000) for _ in range(100)} == {""}
        held = holding.finish()
        assert held.text_to_show == ""
        assert held.inline is not None
        assert len(held.inline) <= MAX_INLINE


def test_a_reply_of_ten_megabytes_passes() -> None:
    chunk = "Plain words, a[0], **bold** and [1] notes.\n" * 2_500
    holding = ReplyFilter()
    out = "".join(holding.feed(chunk) for _ in range(100)) + holding.finish().text_to_show
    assert out == chunk * 100
