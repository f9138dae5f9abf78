"""Markers (A3 to A6): what a model may write to ask for more, and what is left of its text without them."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.context.reply_markers import MAX_BODY, MAX_REQUESTS, MAX_WORDS, ParsedReply, TierRequest, parse, strip

ID = "1m7ejx4s2qjr1qzpde9c"
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
# The pieces markers are made of, in any order: text that is nearly a marker, or one inside another.
PIECES = [
    *("[REQUEST_TIER:2:abc]", "[REQUEST_TIER:3:x,y]", "[SEARCH_EPISODIC: foo bar]", "[SEARCH_EPISODIC: ", "[REQ"),
    *("UEST_TIER:2:x]", "REQUEST_TIER", "[request tier:", "[SEARCH EPISODIC", "[", "]", "[[", "]]", "【", "】", "\\"),
    *("`", "```", "~~~", "**", "*", "_", "(", ")", '"', "<", "<everword>", "</everword>", "<ever", "word>"),
    *("```everword\n", "everword", "- ", "1. ", "\n", "\n\n", " ", "\t", "word", "r", "S", ":", "3", ",", "and"),
    *("[1]", "[ ]", "[REQUIRED]", "é", "。", "/", "x" * 30, "y" * 300, " " * 70, "\n" * 70, "*" * 7, "-" * 50),
]
# A text by its number: to draw each of its pieces by itself would take longer than to try it.
HOSTILE = st.integers(0, 2**62).map(lambda seed: hostile(Random(seed)))


def hostile(chance: Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(0, 14)))


# What must never be seen, said independently of how the module says it.
SEEN = re.compile(
    r"[\[［【][ \t]{0,4}(?:request_tier|search_episodic)(?![^\W\d_])|<[ \t]{0,4}/?everword(?![^\W\d_])",
    re.IGNORECASE,
)


def tiers(text: str) -> list[tuple[str, int]]:
    return [(one.id, one.tier) for one in parse(text).tiers]


def searches(text: str) -> list[str]:
    return list(parse(text).searches)


class TestWhatIsAskedFor:
    def test_a_tier(self) -> None:
        parsed = parse(f"One moment. [REQUEST_TIER:3:{ID}]")
        assert parsed == ParsedReply("One moment.", (TierRequest(ID, 3),), ())
        assert parsed.asks

    def test_a_search(self) -> None:
        assert parse("[SEARCH_EPISODIC: the trip to Lisbon]") == ParsedReply("", (), ("the trip to Lisbon",))

    def test_plain_text_asks_for_nothing(self) -> None:
        text = " Just an answer. \n"
        assert parse(text) == ParsedReply(text)
        assert not parse(text).asks

    @pytest.mark.parametrize(
        "text",
        [
            "[REQUEST_TIER:3:abc]",
            "[request_tier:3:abc]",
            "[Request_Tier:3:abc]",
            "[ REQUEST_TIER : 3 : abc ]",
            "[\u00a0REQUEST_TIER:\u30003:abc]",
            "［REQUEST_TIER：3：abc］",
            "【REQUEST_TIER:３:abc】",
            "[REQUEST_TIER:3:abc］",
            "\\[REQUEST_TIER:3:abc\\]",
            "\\[REQUEST\\_TIER:3:abc\\]",
            "[REQUEST TIER:3:abc]",
            "[REQUEST-TIER: 3: abc]",
            "[RequestTier:3:abc]",
            "**[REQUEST_TIER:3:abc]**",
            "***[REQUEST_TIER:3:abc]***",
            "_[REQUEST_TIER:3:abc]_",
            "`[REQUEST_TIER:3:abc]`",
            "**`[REQUEST_TIER:3:abc]`**",
            "([REQUEST_TIER:3:abc])",
            "[[REQUEST_TIER:3:abc]]",
            "```\n[REQUEST_TIER:3:abc]\n```",
            "```text\n[REQUEST_TIER:3:abc]\n```",
            "- [REQUEST_TIER:3:abc]",
            "[REQUEST_TIER:3:abc",
            "[REQUEST_TIER:3:abc\n",
            "[REQUEST_TIER:3:MESSAGE[abc]]",
            "[REQUEST_TIER:3:id=abc]",
            "[REQUEST_TIER:3:'abc']",
            "[REQUEST_TIER:tier 3:abc]",
            "[REQUEST_TIER|3|abc]",
            "[REQUEST_TIER 3 abc]",
            "[REQUEST_TIER:3:abc please]",
            "[\u200bREQUEST_TIER:3:abc]",
        ],
    )
    def test_a_tier_however_it_is_written(self, text: str) -> None:
        assert tiers(text) == [("abc", 3)]
        assert strip(text) == ""

    @pytest.mark.parametrize(
        "text",
        [
            "[SEARCH_EPISODIC: her birthday]",
            "[search_episodic:her birthday]",
            "[SEARCH_EPISODIC : her   birthday ]",
            "【SEARCH_EPISODIC：her birthday】",
            '[SEARCH_EPISODIC: "her birthday"]',
            "`[SEARCH_EPISODIC: her birthday]`",
            "*[Search_Episodic: her birthday]*",
            "\\[SEARCH\\_EPISODIC: her birthday\\]",
            "[SEARCH EPISODIC: her birthday]",
            "[SEARCH_EPISODIC_MEMORY: her birthday]",
            "[SEARCH_EPISODIC: her birthday",
            "[SEARCH_EPISODIC: her birthday\n",
        ],
    )
    def test_a_search_however_it_is_written(self, text: str) -> None:
        assert searches(text) == ["her birthday"]
        assert strip(text) == ""

    def test_several_ids_and_several_markers(self) -> None:
        text = "[REQUEST_TIER:3:a, b,c][REQUEST_TIER:2:d and e] [SEARCH_EPISODIC: x]\n[SEARCH_EPISODIC: y]"
        assert tiers(text) == [("a", 3), ("b", 3), ("c", 3), ("d", 2), ("e", 2)]
        assert searches(text) == ["x", "y"]
        assert strip(text) == ""

    def test_each_tier_of_a_list_may_be_its_own(self) -> None:
        assert tiers("[REQUEST_TIER:3:a, 2:b]") == [("a", 3), ("b", 2)]

    def test_the_highest_tier_wins_and_nothing_is_asked_twice(self) -> None:
        text = "[REQUEST_TIER:2:a][REQUEST_TIER:3:a][REQUEST_TIER:2:a][SEARCH_EPISODIC: x][SEARCH_EPISODIC:  x ]"
        assert parse(text) == ParsedReply("", (TierRequest("a", 3),), ("x",))

    @pytest.mark.parametrize(
        "text",
        [
            "[REQUEST_TIER:1:a]",
            "[REQUEST_TIER:4:a]",
            "[REQUEST_TIER:0:a]",
            "[REQUEST_TIER:33:a]",
            "[REQUEST_TIER:99999999999999999999:a]",
            "[REQUEST_TIER:three:a]",
            "[REQUEST_TIER:3:]",
            "[REQUEST_TIER:3]",
            "[REQUEST_TIER:]",
            "[REQUEST_TIER]",
            "[SEARCH_EPISODIC]",
            "[SEARCH_EPISODIC:]",
            "[SEARCH_EPISODIC:  ]",
            "[SEARCH_EPISODIC: **]",
            f"[REQUEST_TIER:3:{'a' * 65}]",
        ],
    )
    def test_what_cannot_be_meant_is_ignored_and_still_removed(self, text: str) -> None:
        assert parse(f"before {text} after") == ParsedReply("before after")

    def test_ids_of_up_to_64_characters(self) -> None:
        assert tiers(f"[REQUEST_TIER:3:{'a' * 64}]") == [("a" * 64, 3)]
        assert tiers("[REQUEST_TIER:3:7]") == [("7", 3)]
        assert tiers("[REQUEST_TIER:2:3f1c-9a]") == [("3f1c-9a", 2)]

    def test_words_in_brackets_are_words(self) -> None:
        assert parse("[SEARCH_EPISODIC: what [1] and [2] say] So:") == ParsedReply("So:", (), ("what [1] and [2] say",))

    def test_words_are_trimmed(self) -> None:
        assert searches(f"[SEARCH_EPISODIC: {'w ' * 300}]") == [("w " * 250).strip()]
        assert len(searches(f"[SEARCH_EPISODIC: {'w' * 600}]")[0]) == MAX_WORDS

    def test_no_more_than_fifty_are_honoured_and_all_are_removed(self) -> None:
        parsed = parse("".join(f"[REQUEST_TIER:2:a{n}] [SEARCH_EPISODIC: w{n}]" for n in range(1_000)))
        assert parsed.text == ""
        assert len(parsed.tiers) + len(parsed.searches) == MAX_REQUESTS == 50
        assert (parsed.tiers[0].id, parsed.searches[0]) == ("a0", "w0")
        assert len(tiers("[REQUEST_TIER:3:" + ",".join(f"a{n}" for n in range(100)) + "]")) == 50

    def test_one_honoured_before_the_limit_may_still_rise(self) -> None:
        text = "".join(f"[REQUEST_TIER:2:a{n}]" for n in range(80)) + "[REQUEST_TIER:3:a0]"
        assert tiers(text)[0] == ("a0", 3)

    def test_markers_in_the_inline_block_are_quotations_and_after_it_they_count(self) -> None:
        text = "Hi.\n<everword>user: [REQUEST_TIER:3:quoted]</everword>\n[REQUEST_TIER:2:meant]"
        assert parse(text) == ParsedReply("Hi.", (TierRequest("meant", 2),))

    @pytest.mark.parametrize("text", [f"[·REQUEST_TIER:3:{ID}]", f"(REQUEST_TIER:3:{ID})", f"REQUEST_TIER:3:{ID}"])
    def test_what_is_no_marker_is_text(self, text: str) -> None:
        assert parse(text) == ParsedReply(text)


class TestWhatIsLeft:
    @pytest.mark.parametrize(
        ("text", "left"),
        [
            ("Hi [M] there", "Hi there"),
            ("Hi[M]there", "Hithere"),
            ("Hi [M]", "Hi"),
            ("Hi\n\n[M]\n\n", "Hi"),
            ("[M] Hi", "Hi"),
            ("[M]\n\nHi", "Hi"),
            ("  [M]\n    code", "    code"),
            ("A\n\n[M]\n\nB", "A\n\nB"),
            ("A\n[M]\nB", "A\nB"),
            ("A\n[M]\n\n  B", "A\n\n  B"),
            ("A [M]\nB", "A\nB"),
            ("A\n[M] B", "A\nB"),
            ("I see [M].", "I see."),
            ("I see ([M]).", "I see."),
            ("I see [M], then", "I see, then"),
            ("A **[M]** B", "A B"),
            ("A `[M]` B", "A B"),
            ("**bold**[M] B", "**bold** B"),
            ("**[M] bold**", "**bold**"),
            ("A [M]\n[M] B", "A\nB"),
            ("**[M]** [M] B", "B"),
            ("A\n- [M]\n- **[M]**\n\nB", "A\n\nB"),
            ("A **[M] `[M]`** B", "A B"),
            ("A [M] **[M] bold** B", "A **bold** B"),
            ("A:\n[M]\n- [M] B", "A:\n- B"),
            ("```\n[M]\n[M]\n```\nB", "B"),
            ("```\n[M]\n```\n[M]\nB", "B"),
            ("[M]\n```\n[M]\n```\nB", "B"),
            ("A **[M]", "A"),
            ("A [M] [M], [M]\n- [M] B", "A\n- B"),
            ("So:\n- [M]\n- [M]\n\nB", "So:\n\nB"),
            ("So:\n1. [M]\n2. B", "So:\n2. B"),
            ("- [M] one\n- two", "- one\n- two"),
            ("A\n```\n[M]\n```\nB", "A\nB"),
            ("```py\nx\n```\n[M]", "```py\nx\n```"),
            ("```py\nx\n```\n\n[M]\n\nB", "```py\nx\n```\n\nB"),
            ("A\r\n\r\n[M]\r\nB", "A\r\n\r\nB"),
            ("A [[M]] B", "A B"),
        ],
    )
    def test_whitespace_and_what_was_put_around_a_marker(self, text: str, left: str) -> None:
        for marker in (f"[REQUEST_TIER:3:{ID}]", "[SEARCH_EPISODIC: words [1]]", "［request_tier：2：a，b］"):
            assert strip(text.replace("[M]", marker)) == left

    @pytest.mark.parametrize(
        "text",
        [
            "See [1], [2] and [REQUIRED].",
            "- [ ] open\n- [x] done",
            "[a link](https://example.org/[x]) and ![image](i.png)",
            "rows[0][1] = {'s': [1, 2]}; print(row[-1])",
            "[search](s) [request](r) [Searching for it] [REQUESTED_TIERS: 3]",
            "[REQUEST_TIERS: 3] [SEARCH_EPISODICALLY: x]",
            "\\[ r = \\sqrt{x^2} \\]",
            "if a < b: return `x` <b>bold</b> <ever> <everwords>",
            "```python\nvalues: list[str] = []\n```",
            "```everwords\nx\n```",
            "~~~\ntext\n~~~",
            "Ends in code:\n```\nx\n```",
            "Ends in a backslash \\",
            "  indented\n\n\n  and \t spaced  \n",
            "[REQUEST·TIER] [ R E Q U E S T",
            "",
        ],
    )
    def test_other_text_is_unchanged(self, text: str) -> None:
        assert parse(text) == ParsedReply(text)

    @pytest.mark.parametrize("marker", [f"[REQUEST_TIER:3:{ID}]", "[SEARCH_EPISODIC: words]", "［Request_Tier：2：a］"])
    def test_no_beginning_of_a_marker_stays_at_the_end(self, marker: str) -> None:
        for end in range(1, len(marker)):
            assert strip("Let me look. " + marker[:end]) == "Let me look."
            assert strip("Let me look.\n**" + marker[:end]) == "Let me look."

    @pytest.mark.parametrize("tag", ["<everword>", "< Everword >", "```everword\n", "~~~ everword\n"])
    def test_no_beginning_of_the_inline_block_stays_at_the_end(self, tag: str) -> None:
        for end in range(1, len(tag)):
            if tag[:end].strip("`~ "):  # three marks alone may end a block of code
                assert strip("Done.\n" + tag[:end]) == "Done."

    def test_a_beginning_in_the_middle_is_text(self) -> None:
        assert strip("[REQ and [SEARCH_EPI and <ever then") == "[REQ and [SEARCH_EPI and <ever then"

    def test_an_unclosed_tier_takes_only_its_own(self) -> None:
        assert parse("[REQUEST_TIER:3:a, b and then I know.") == ParsedReply(
            "and then I know.", (TierRequest("a", 3), TierRequest("b", 3))
        )

    def test_an_unclosed_marker_ends_before_the_next(self) -> None:
        text = "[SEARCH_EPISODIC: one [SEARCH_EPISODIC: two] [REQUEST_TIER:3:a [REQUEST_TIER:2:b] end"
        assert parse(text) == ParsedReply("end", (TierRequest("a", 3), TierRequest("b", 2)), ("one", "two"))

    def test_an_unclosed_search_ends_before_the_inline_block(self) -> None:
        assert parse("Hi [SEARCH_EPISODIC: one <everword>\nx\n</everword>") == ParsedReply("Hi", (), ("one",))

    def test_a_marker_without_end_is_none_but_its_name_is_not_shown(self) -> None:
        words = "w" * (MAX_BODY + 1)
        assert parse(f"A [SEARCH_EPISODIC: {words}] B") == ParsedReply(f"A {words}] B")
        assert strip(f"[REQUEST_TIER:3:{words}").startswith("w")

    def test_taking_a_marker_out_never_makes_one(self) -> None:
        inner = "[REQUEST_TIER:2:a]"
        outer = "[REQUEST_TIER:3:b]"
        for cut in range(1, len(outer)):
            text = outer[:cut] + inner + outer[cut:]
            assert ("b", 3) not in tiers(strip(text))
            assert not SEEN.search(strip(text))
        assert not SEEN.search(strip(f"<ever{inner}word>"))
        assert "```everword" not in strip(f"``{inner}`everword\nx")


Meaning = tuple[str, int] | str


def spelled(chance: Random, name: str) -> str:
    """A name in any mixture of cases, its underscore as models write it."""
    cased = "".join(chance.choice((char, char.upper())) for char in name)
    return cased.replace("_", chance.choice(["_", "\\_", " _ ", "＿"]))


def disguised(chance: Random) -> tuple[str, Meaning]:
    """A marker as a model might write it, and what it means."""
    first, last = chance.choices(["", " ", "  ", "\u3000"], k=2)
    colon = chance.choice([":", "：", " : "])
    opening, closing = chance.choice([("[", "]"), ("［", "］"), ("【", "】"), ("[", "］")])
    escaped = chance.choice(["", "\\"])
    before, after = chance.choice(
        [("", ""), ("**", "**"), ("`", "`"), ("_", "_"), ("(", ")"), ("*`", "`*"), ("- ", "")]
    )
    meaning: Meaning
    if chance.random() < 0.5:
        meaning = (chance.choice(["a", "7", ID, "msg_456", "3f1c-9a", "ж1"]), chance.choice([2, 3]))
        inside = spelled(chance, "request_tier") + f"{colon}{meaning[1]}{colon}{meaning[0]}"
    else:
        meaning = " ".join(chance.choices(["cat", "Über", "7", "猫", "it's"], k=chance.randint(1, 4)))
        inside = spelled(chance, "search_episodic") + colon + meaning
    line = "\n" if before == "- " else ""
    return f"{line}{before}{escaped}{opening}{first}{inside}{last}{escaped}{closing}{after}{line}", meaning


def talked(chance: Random) -> list[tuple[str, tuple[str, Meaning]]]:
    """Words, each with a marker after it."""
    words = ["Well,", "look.", "a[0]", "[1]", "<b>", "**yes**"]
    return [(chance.choice(words), disguised(chance)) for _ in range(chance.randint(0, 6))]


class TestProperties:
    @settings(max_examples=sample(120))
    @given(st.integers(0, 2**62).map(lambda seed: talked(Random(seed))))
    def test_every_disguise_is_read_and_every_word_stays(self, parts: list[tuple[str, tuple[str, Meaning]]]) -> None:
        parsed = parse("".join(f"{word} {marker} " for word, (marker, _) in parts))
        assert parsed.text.split() == [word for word, _ in parts]
        meant = [meaning for _, (_, meaning) in parts]
        asked = [one for one in meant if isinstance(one, tuple)]
        assert dict(parsed.tiers) == {id: max(tier for same, tier in asked if same == id) for id, _ in asked}
        assert list(parsed.searches) == list(dict.fromkeys(one for one in meant if isinstance(one, str)))

    @settings(max_examples=sample(120))
    @given(st.one_of(HOSTILE, ANY_TEXT))
    def test_nothing_that_is_left_is_a_marker(self, text: str) -> None:
        left = strip(text)
        assert not SEEN.search(left)
        assert not parse(left).asks

    @settings(max_examples=sample(120))
    @given(st.one_of(HOSTILE, ANY_TEXT))
    def test_what_is_left_was_there_in_this_order(self, text: str) -> None:
        rest = iter(text)
        # A line break may be put in where two halves would meet.
        assert all(char in rest for char in strip(text) if char != "\n")

    @settings(max_examples=sample(120))
    @given(st.text(st.characters(exclude_characters="[［【<＜`~"), max_size=200))
    def test_text_without_brackets_is_unchanged(self, text: str) -> None:
        assert strip(text) == text


def calls(work: Callable[[], Any]) -> int:
    """How many functions, ours and built in, a piece of work calls."""
    count = 0

    def seen(_frame: FrameType, event: str, _arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    gc.disable()  # what it would clear away is of other tests, and calls functions of its own
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


LONG = sample(200_000)  # characters
ENDLESS = [
    *(
        "[",
        "[[ ",
        "\\",
        "\\[",
        "`",
        "<",
        "< /",
        " ",
        "\n",
        "*",
        "- ",
        "1. ",
        "[]",
        "([",
        "[REQUEST_TIER:",
        "[REQUEST_TIER",
    ),
    *(
        "[SEARCH_EPISODIC: ",
        "[SEARCH_EPISODIC: [x] ",
        "[SEARCH_EPISODIC: [",
        "[REQUEST_TIER:3:a,",
        "[REQUEST_TIER:2:x] ",
    ),
    *("<everword>", "</everword>", "```everword\n", "[REQ[REQUEST_TIER:2:x]", "**[SEARCH_EPISODIC: x]** a "),
    "[SEARCH_EPISODIC:" + "[]" * 300,
    "[REQUEST_TIER:" + ":" * 600 + "]",
]


@pytest.mark.parametrize("unit", ENDLESS, ids=lambda unit: repr(unit[:24]))
class TestLinear:
    def test_work_grows_with_length_only(self, unit: str) -> None:
        short, long = (unit * (size // len(unit)) for size in (2_000, 8_000))
        assert calls(lambda: parse(long)) <= 4.5 * calls(lambda: parse(short)) + 100
        assert calls(lambda: parse(long)) <= 5 * len(long)

    def test_hundreds_of_thousands_of_characters(self, unit: str) -> None:
        # Were any step quadratic, this would take many minutes.
        parsed = parse(unit * (LONG // len(unit)))
        assert not SEEN.search(parsed.text)
        assert len(parsed.tiers) + len(parsed.searches) <= MAX_REQUESTS
