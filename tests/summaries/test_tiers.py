"""Tiers made without a model, and tiers a model gave (A1, A8, A12)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample
from tier_samples import SAMPLES, Sample

from everword.context.reply_markers import parse
from everword.model import Tiers
from everword.models.tokens import EstimateTokenizer, TiktokenTokenizer
from everword.summaries.rules.shortened_messages import (
    SHORT,
    TERSE,
    TIER1_LEAST,
    TIER1_MOST,
    TIER1_SHARE,
    TIER1_TOLERATED,
    TIER2_LEAST,
    TIER2_MOST,
    TIER2_SHARE,
    TIER2_TOLERATED,
    WORTH_A_CALL,
    budgets,
    check_tiers,
    clean,
    is_of_no_use,
    is_short,
    is_terse,
    is_worth_a_call,
    pairs_in,
    write_tiers,
)

exact = TiktokenTokenizer().count
rough = EstimateTokenizer().count

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
PIECES = st.lists(
    st.sampled_from(
        [
            "I like ", "we decided not to ", "my name is ", "Ada Lovelace", " is ", "42 km", "on 3 May", "because ",
            "really ", "? ", ". ", ", ", "; ", " = ", "(aside) ", "e.g. ", "file.py ", "https://example.org/a?b=c ",
            "\n", "\n- ", "**", "# ", "```\n", "| a | b |\n", "def f(x):\n    return x\n", "[REQUEST_TIER:3:abc]",
            "[SEARCH_EPISODIC: x]", "[REQUEST_", "TIER:2:q]", "<everword>", "</everword>", "=== END HISTORY ===\n",
            "System: ", "猫が好きです。", "「はい」", "Привет ", "مرحبا، ", "👍🏽", "\u200d", "\u2028", "\ud800",
            "\x00",
        ]
    ),
    max_size=60,
).map("".join)  # fmt: skip
HIDDEN = ("[REQUEST_TIER", "[SEARCH_EPISODIC", "<everword", "</everword")


def made(text: str, count: Callable[[str], int] = exact) -> Tiers:
    return write_tiers(text, count)


@cache
def tiers_of(sample: Sample) -> Tiers:
    """Made once for all tests that look at them."""
    return made(sample.text)


def long(text: str) -> str:
    """A message that is not short, whatever the tokenizer."""
    return " ".join([text] * (SHORT + 1))


PADDING = (
    "Yesterday evening the old harbour was quiet and a cold wind blew from the east. Two fishing boats were moored at "
    "the pier, their ropes creaking, while gulls circled above the empty fish market. An elderly man repaired nets "
    "beside a stack of wooden crates, and a radio played softly in the background. Further along the quay, children "
    "threw pebbles into the water and counted the rings. Nobody seemed to be in a hurry, and the lamps were lit one "
    "after the other along the wall."
)


class TestSamples:
    @pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
    @pytest.mark.checklist("A1")
    def test_the_tiers_of_a_sample_say_what_matters(self, sample: Sample) -> None:
        tiers = tiers_of(sample)
        assert tiers.made_by == "offline"
        for words in sample.one:
            assert words in tiers.tier1
        for words in sample.two:
            assert words in tiers.tier2
        for words in sample.never:
            assert words not in tiers.tier1
            assert words not in tiers.tier2

    @pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
    @pytest.mark.checklist("A1")
    def test_tier_1_is_pairs_and_both_keep_to_their_share(self, sample: Sample) -> None:
        tiers = tiers_of(sample)
        tokens = exact(sample.text)
        assert " = " in tiers.tier1
        assert "\n" not in tiers.tier1 + tiers.tier2
        assert exact(tiers.tier1) <= max(tokens * TIER1_SHARE[1], TIER1_LEAST)
        assert exact(tiers.tier2) <= max(tokens * TIER2_SHARE[1], TIER2_LEAST)

    @pytest.mark.checklist("A1")
    def test_on_the_average_they_have_the_share_they_are_to_have(self) -> None:
        tokens = [exact(sample.text) for sample in SAMPLES]
        ones = [exact(tiers_of(sample).tier1) / size for sample, size in zip(SAMPLES, tokens, strict=True)]
        twos = [exact(tiers_of(sample).tier2) / size for sample, size in zip(SAMPLES, tokens, strict=True)]
        assert TIER1_SHARE[0] <= mean(ones) <= TIER1_SHARE[1]
        assert TIER2_SHARE[0] <= mean(twos) <= TIER2_SHARE[1]

    def test_there_are_many_samples_and_they_differ(self) -> None:
        assert len({sample.name for sample in SAMPLES}) == len(SAMPLES) >= 40

    @pytest.mark.parametrize("sample", SAMPLES[:10], ids=lambda sample: sample.name)
    def test_the_same_message_always_has_the_same_tiers(self, sample: Sample) -> None:
        assert made(sample.text) == made(sample.text)


class TestSummary:
    def test_the_first_question_is_kept(self) -> None:
        text = f"{PADDING} Which of the boats belongs to your uncle? {PADDING.replace('old', 'new')}"
        assert "Which of the boats belongs to your uncle?" in made(text).tier2

    def test_sentences_stay_in_their_order(self) -> None:
        tier = made(PADDING).tier2
        kept = [sentence for sentence in PADDING.split(". ") if sentence[:20] in tier]
        assert len(kept) > 1
        assert [tier.index(sentence[:20]) for sentence in kept] == sorted(
            tier.index(sentence[:20]) for sentence in kept
        )

    def test_code_is_named_and_not_quoted(self) -> None:
        code = "\n".join(f"value_{n} = compute({n})" for n in range(34))
        tier = made(
            f"This is the script that I run every night on the backup server:\n```\n{code}\n```\nIt works."
        ).tier2
        assert "[code: 34 lines]" in tier
        assert "compute" not in tier

    def test_what_is_said_on_a_condition_is_not_said_without_it(self) -> None:
        text = "We will ship the new version on Monday morning, unless the audit finds another serious problem with it."
        tier = made(f"{text} {PADDING}").tier2
        assert "on Monday morning." not in tier

    def test_scripts_without_spaces_are_cut_at_their_marks(self) -> None:
        said = [
            "昨日は友達と映画を見ました",
            "とても面白い話でした",
            "駅前でラーメンを食べて別れました",
            "明日は図書館で勉強します",
        ]
        tier = made("。".join(said) + "。").tier2
        assert tier.endswith("。")
        assert set(tier.rstrip("。").split("。")) < set(said)


class TestShort:
    @pytest.mark.parametrize(
        "text", ["", " ", "ok", "What's my name?", "Noted, Alex.", "猫が好きです。", "👍" * 5, "\n" * 20]
    )
    @pytest.mark.checklist("A12")
    def test_a_short_message_is_its_own_tiers(self, text: str) -> None:
        assert is_short(text, exact)
        assert made(text) == Tiers() == Tiers("", "", "self")

    @pytest.mark.checklist("A12")
    def test_nothing_a_model_says_of_it_is_taken(self) -> None:
        assert check_tiers("name = Eve", "Eve was here.", "Noted, Alex.", exact).tiers == Tiers()

    @pytest.mark.checklist("A12")
    def test_the_bound_is_in_tokens(self) -> None:
        assert is_short("word " * (SHORT - 1), exact)
        assert not is_short("word " * (SHORT + 5), exact)

    def test_a_long_message_that_shows_little_is_not_short(self) -> None:
        assert not is_short(" " * 200_000 + "hello", exact)


class TestAnyText:
    @given(ANY_TEXT)
    @settings(max_examples=sample(60))
    def test_never_crashes(self, text: str) -> None:
        self.check(text, rough)

    @given(PIECES)
    @settings(max_examples=sample(70))
    def test_never_crashes_on_what_looks_like_messages(self, text: str) -> None:
        self.check(text, rough)

    @given(PIECES)
    @settings(max_examples=sample(60))
    def test_never_crashes_with_a_real_tokenizer(self, text: str) -> None:
        self.check(text, lambda piece: exact(piece.encode("utf-8", "replace").decode()))

    @staticmethod
    def check(text: str, count: Callable[[str], int]) -> None:
        tiers = write_tiers(text, count)
        short = is_short(text, count)
        assert (tiers == Tiers()) == short
        for tier in () if short else (tiers.tier1, tiers.tier2):
            assert tier
            assert "\n" not in tier
            assert count(tier) <= count(text)
            assert not any(hidden in tier for hidden in HIDDEN)
            assert not parse(tier).asks
            tier.encode()

    @pytest.mark.parametrize(
        "text",
        [
            "a" * 5_000_000,
            "!" * 200_000 + "x",
            " " * 200_000 + "x",
            "word " * 100_000,
            "- item\n" * 20_000,
            "I really " + "really " * 20_000,
            "The x is " + "cut on " * 20_000 + "x",
            "(" * 100_000,
            "[REQUEST_TIER:" * 20_000,
            "# x" + " " * 100_000 + "y",
            "\u200d" * 60_000,
            "Alpha Beta, " * 20_000,
            "我喜欢猫，" * 20_000,
            "ผมชอบแมว" * 9_000,
            "👍🏽" * 20_000,
        ],
        ids=lambda text: f"{text[:12]!r}",
    )
    def test_a_huge_message_has_bounded_tiers(self, text: str) -> None:
        tiers = made(text)
        assert 0 < exact(tiers.tier1) <= TIER1_MOST
        assert 0 < exact(tiers.tier2) <= TIER2_MOST

    def test_a_huge_message_is_read_from_both_ends(self) -> None:
        text = "My name is Alex. " + "Nothing much happened that day at all. " * 20_000 + "We decided to use Redis."
        tier1 = made(text).tier1
        assert "name = Alex" in tier1
        assert "Redis" in tier1


ORIGINAL = (
    "My sister Emma is getting married in June and my brother Tom will be the best man. The wedding is in Lisbon, and "
    "we expect around 80 guests. Can you help me write a short speech for it? I am a bit nervous about that."
)
ONE = "sister = Emma; brother = Tom; wedding = Lisbon, June"
TWO = "Emma marries in June in Lisbon with 80 guests; a short speech is wanted."


class TestAccept:
    @pytest.mark.checklist("A8")
    def test_good_tiers_are_taken_as_they_are(self) -> None:
        accepted = check_tiers(ONE, TWO, ORIGINAL, exact)
        assert accepted.tiers == Tiers(ONE, TWO, "model")
        assert accepted.faults == ()

    @pytest.mark.checklist("A8")
    def test_tiers_are_of_no_use_if_neither_says_anything_of_the_message(self) -> None:
        assert is_of_no_use("name = Dana; city = Oslo", "The weather is fine today.", ORIGINAL)
        assert is_of_no_use("", "", ORIGINAL)
        assert not is_of_no_use(ONE, "The weather is fine today.", ORIGINAL)
        assert not is_of_no_use("name = Dana", TWO, ORIGINAL)

    @pytest.mark.parametrize(
        ("one", "two", "faults"),
        [
            ("", TWO, ["tier 1 is empty"]),
            (ONE, " \n ", ["tier 2 is empty"]),
            ("Emma marries", TWO, ["tier 1 has no pair like key = value"]),
            ("name = Dana; city = Oslo", TWO, ["tier 1 says nothing that is in the message"]),
            (ONE, "The weather is fine today.", ["tier 2 says nothing that is in the message"]),
            (ONE, "Emma paid 900 kr to Dana in Oslo.", ["tier 2 mentions Dana, Oslo, 900, which the message does not"]),
            ("", "", ["tier 1 is empty", "tier 2 is empty"]),
        ],
    )
    @pytest.mark.checklist("A8")
    def test_what_is_of_no_use_is_named_and_ours_is_in_its_place(self, one: str, two: str, faults: list[str]) -> None:
        accepted = check_tiers(one, two, ORIGINAL, exact)
        ours = write_tiers(ORIGINAL, exact)
        assert list(accepted.faults) == faults
        assert accepted.tiers.tier1 == (ours.tier1 if any("tier 1" in fault for fault in faults) else ONE)
        assert accepted.tiers.tier2 == (ours.tier2 if any("tier 2" in fault for fault in faults) else TWO)
        assert accepted.tiers.made_by == ("offline" if len(faults) == 2 else "model")

    def test_an_invented_pair_is_left_out(self) -> None:
        accepted = check_tiers(f"{ONE}; decision = no red tiles; name = Dana", TWO, ORIGINAL, exact)
        assert accepted.tiers.tier1 == ONE
        assert accepted.faults == ()

    def test_another_form_of_a_word_is_the_same_word(self) -> None:
        assert check_tiers("event = weddings", "A marriage with guests.", ORIGINAL, exact).faults == ()

    def test_a_small_number_may_be_written_otherwise(self) -> None:
        text = f"We waited three hours at the airport. {PADDING}"
        assert check_tiers("waited = 3 hours", "They waited 3 hours at the airport.", text, exact).faults == ()

    def test_markers_and_structure_are_taken_out(self) -> None:
        one = f"[REQUEST_TIER:3:abc] {ONE}; x = <everword> Emma"
        accepted = check_tiers(one, f"{TWO} [SEARCH_EPISODIC: all]\n=== END HISTORY ===", ORIGINAL, exact)
        for tier in (accepted.tiers.tier1, accepted.tiers.tier2):
            assert not any(hidden in tier for hidden in HIDDEN)
            assert "\n" not in tier

    def test_what_is_too_long_is_cut_between_pairs_and_sentences(self) -> None:
        tokens = exact(ORIGINAL)
        many = "; ".join(f"wedding {n} = Emma in Lisbon" for n in range(30))
        accepted = check_tiers(
            many, " ".join([TWO, "Emma is nervous about the speech.", "Tom is the best man."] * 9), ORIGINAL, exact
        )
        assert accepted.faults == ()
        assert many.startswith(accepted.tiers.tier1)
        assert accepted.tiers.tier1.endswith("= Emma in Lisbon")
        assert exact(accepted.tiers.tier1) <= tokens * TIER1_TOLERATED
        assert exact(accepted.tiers.tier2) <= tokens * TIER2_TOLERATED

    @given(ANY_TEXT | PIECES, ANY_TEXT | PIECES, PIECES)
    @settings(max_examples=sample(60))
    def test_whatever_was_given_what_is_taken_will_do(self, one: str, two: str, original: str) -> None:
        tiers = check_tiers(one, two, original, rough).tiers
        if is_short(original, rough):
            assert tiers == Tiers()
            return
        for tier in (tiers.tier1, tiers.tier2):
            assert tier
            assert rough(tier) <= rough(original)
            assert not any(hidden in tier for hidden in HIDDEN)
            assert "\n" not in tier


class TestPairs:
    @pytest.mark.parametrize(
        "written",
        [
            "name = Alex; city = Oslo",
            "name=Alex, city=Oslo",
            "name: Alex\ncity: Oslo",
            "- name = Alex\n- city = Oslo",
            "1. **name** = Alex\n2. **city** = Oslo",
            '{"name" = "Alex", "city" = "Oslo"}',
            "name = Alex | city = Oslo",
            "name = Alex;; city = Oslo;",
        ],
    )
    def test_pairs_are_read_however_models_write_them(self, written: str) -> None:
        assert pairs_in(written) == "name = Alex; city = Oslo"

    def test_a_value_with_commas_stays_one(self) -> None:
        assert pairs_in("likes = tea, maps, old films; city = Oslo") == "likes = tea, maps, old films; city = Oslo"

    @given(PIECES)
    @settings(max_examples=sample(50))
    def test_reading_twice_is_reading_once(self, text: str) -> None:
        once = pairs_in(text)
        assert pairs_in(once) == once


class TestClean:
    @given(ANY_TEXT | PIECES)
    @settings(max_examples=sample(60))
    def test_one_line_with_nothing_that_asks(self, text: str) -> None:
        kept = clean(text)
        assert kept == " ".join(kept.split())
        assert not any(hidden in kept for hidden in HIDDEN)
        assert not parse(kept).asks

    def test_a_plain_text_is_as_it_was(self) -> None:
        assert clean("name = Alex; likes = tea, maps") == "name = Alex; likes = tea, maps"


class TestBudgets:
    @pytest.mark.parametrize(
        ("words", "one", "two"), [(100, 20, 40), (1_000, 200, 400), (50_000, TIER1_MOST, TIER2_MOST)]
    )
    @pytest.mark.checklist("A1")
    def test_budgets_are_shares_of_the_message(self, words: int, one: int, two: int) -> None:
        text = "word " * words
        assert budgets(text, lambda piece: len(piece.split())) == (min(one, TIER1_MOST), min(two, TIER2_MOST))


@pytest.mark.checklist("F5")
def test_a_chat_of_short_messages_is_terse_and_only_longer_ones_are_worth_a_call() -> None:
    def words(text: str) -> int:
        return len(text.split())

    assert is_terse([])
    assert is_terse(["Hi!", "x" * 300])
    assert not is_terse(["x" * (TERSE + 1)])
    assert not is_worth_a_call("word " * WORTH_A_CALL, words)
    assert is_worth_a_call("word " * (WORTH_A_CALL + 1), words)
