"""What a model is told before it replies, and the tiers that come back with the reply (A3, A7, A8)."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.context.reply_markers import (
    CLOSE,
    OPEN,
    InlineTiers,
    ReplyFilter,
    instructions,
    parse,
    parse_inline,
    render_inline,
)
from everword.models.tokens import TiktokenTokenizer
from everword.text.escaping import message

count = TiktokenTokenizer().count

WHOLE = InlineTiers("name = Alex; city = Oslo", "Alex lives in Oslo.", "greeting = yes", "Alex was greeted.")
BLOCK = render_inline(WHOLE)


class TestInstructions:
    @pytest.mark.checklist("A7")
    def test_it_tells_what_tiers_are_and_how_to_ask(self) -> None:
        text = instructions()
        for words in (
            "[REQUEST_TIER:2:ID]",
            "[REQUEST_TIER:3:ID]",
            "[SEARCH_EPISODIC: words]",
            "several at once",
            "key = value",
        ):
            assert words in text

    @pytest.mark.checklist("A7")
    def test_the_markers_it_shows_are_markers(self) -> None:
        asked = parse(instructions())
        assert [request.tier for request in asked.tiers] == [3]
        assert asked.searches == ("words",)

    @pytest.mark.checklist("A7")
    def test_the_label_it_shows_is_the_label_messages_have(self) -> None:
        shown = message("abc", "user", None, 1, "x = y").splitlines()[0]
        assert shown == "MESSAGE[abc] (user, tier 1):"
        assert "MESSAGE[ID] (role, tier N):" in instructions()

    @pytest.mark.checklist("A8")
    def test_the_block_is_asked_for_unless_somebody_else_makes_tiers(self) -> None:
        assert OPEN in instructions()
        assert CLOSE in instructions()
        assert OPEN not in instructions(inline=False)
        assert instructions().startswith(instructions(inline=False))

    def test_it_is_short_and_always_the_same(self) -> None:
        assert count(instructions()) <= 350
        assert instructions() == instructions()

    def test_a_model_that_repeats_the_template_has_said_nothing(self) -> None:
        template = instructions()[instructions().index(OPEN) :]
        assert parse_inline(template[: template.index(CLOSE) + len(CLOSE)]) is None


class TestInline:
    @pytest.mark.checklist("A8")
    def test_a_block_is_read(self) -> None:
        assert BLOCK.startswith(f"{OPEN}\nU1: name = Alex; city = Oslo\n")
        assert parse_inline(BLOCK) == WHOLE

    @pytest.mark.checklist("A8")
    def test_the_block_that_was_held_back_is_read(self) -> None:
        holding = ReplyFilter()
        shown = holding.feed(f"Hello Alex!\n\n{BLOCK}")
        held = holding.finish()
        assert shown + held.text_to_show == "Hello Alex!"
        assert held.inline is not None
        assert parse_inline(held.inline) == WHOLE

    @pytest.mark.parametrize(
        ("block", "expected"),
        [
            ("U1: a = b", InlineTiers(user1="a = b")),
            ("U2: Only this.\nA2: And that.", InlineTiers(user2="Only this.", reply2="And that.")),
            (
                "<everword>U1: a = b U2: One. A1: c = d A2: Two.</everword>",
                InlineTiers("a = b", "One.", "c = d", "Two."),
            ),
            ("**U1:** a = b\n**A2:** Two.", InlineTiers(user1="a = b", reply2="Two.")),
            ("- u1: a=b, c=d\n- a1: e: f", InlineTiers(user1="a = b; c = d", reply1="e = f")),
            ("U1: a = b\nc = d\nU2: One\ntwo.", InlineTiers("a = b; c = d", "One two.")),
            ("```\nU1: a = b\n```", InlineTiers(user1="a = b")),
            ("U1: a = b\nU1: c = d", InlineTiers(user1="a = b")),
            ("U1:\nU2: -\nA1: none\nA2: Two.", InlineTiers(reply2="Two.")),
            ("u 1 = a = b", InlineTiers(user1="a = b")),
        ],
    )
    @pytest.mark.checklist("A8")
    def test_a_block_with_parts_missing_or_out_of_shape(self, block: str, expected: InlineTiers) -> None:
        assert parse_inline(block) == expected

    @pytest.mark.parametrize(
        "block", ["", OPEN + CLOSE, "hello", "U3: x = y", "U1:", "\n\n", "U1: key = value; key = value"]
    )
    @pytest.mark.checklist("A8")
    def test_nothing_in_it_is_no_tiers(self, block: str) -> None:
        assert parse_inline(block) is None

    def test_markers_in_a_block_are_taken_out(self) -> None:
        found = parse_inline("U1: a = b [REQUEST_TIER:3:abc]\nU2: It [SEARCH_EPISODIC: x] is <everword> so.\n")
        assert found is not None
        assert "[" not in found.user1 + found.user2
        assert "<everword>" not in found.user2

    @given(st.text(st.characters(exclude_categories=()), max_size=300))
    @settings(max_examples=sample(60))
    def test_any_block_is_read_without_an_error(self, block: str) -> None:
        assert parse_inline(block) is None or isinstance(parse_inline(block), InlineTiers)

    VALUE = st.text(st.sampled_from(list("abc =;,.:UA12 \n-*`[]<>é猫")), max_size=40)

    @given(VALUE, VALUE, VALUE, VALUE)
    @example("-=c", "", "1.=a", "=")
    @example("", "", "-=A>=[b", "")
    @example("Ac\n : 猫,", "", ".,<, =c<", "")
    @settings(max_examples=sample(70))
    def test_what_was_read_and_written_again_is_read_the_same(self, one: str, two: str, three: str, four: str) -> None:
        read = parse_inline(render_inline(InlineTiers(one, two, three, four)))
        if read is not None:
            assert parse_inline(render_inline(read)) == read

    @pytest.mark.parametrize(
        "block", ["\n" * 500_000, "U1" * 200_000, "U1: " * 100_000, "*" * 500_000, "key = value " * 50_000]
    )
    def test_a_hostile_block_is_read_in_its_time(self, block: str) -> None:
        parse_inline(block)
