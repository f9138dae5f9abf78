"""Sentences, filler and mentions: what a text is made of before anything is chosen from it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.text.filler import bare_request, is_filler, strip_addressee, trim
from everword.text.key_value_statements import AMOUNT, WHEN, amounts, names
from everword.text.sentences import (
    MAX_CHARACTERS,
    MAX_SENTENCE,
    MAX_SENTENCES,
    Sentence,
    clauses,
    limit_text,
    sentences,
    split_sentences,
)
from everword.text.word_weights import shorten_phrase, stems, weigh, words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=400)


def said(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("One. Two! Three?", ["One.", "Two!", "Three?"]),
            ("Dr. Smith paid 3.50 at 10 a.m. on Jan. 3.", ["Dr. Smith paid 3.50 at 10 a.m. on Jan. 3."]),
            ("Use e.g. Python. It works.", ["Use e.g. Python.", "It works."]),
            ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
            ("one\ntwo\nthree", ["one", "two", "three"]),
            ("雨です。傘を持って！行く？", ["雨です。", "傘を持って！", "行く？"]),
            ("यह ठीक है। चलो।", ["यह ठीक है।", "चलो।"]),
            ("كيف حالك؟ بخير.", ["كيف حالك؟", "بخير."]),
            ("", []),
            ("  \n\n ", []),
        ],
    )
    def test_are_told_apart(self, text: str, expected: list[str]) -> None:
        assert said(text) == expected

    @given(st.text("aB.!?\"') ", max_size=40))
    def test_end_at_the_same_marks_in_plain_text_and_in_other_text(self, text: str) -> None:
        assert split_sentences(text.replace("a", "ä")) == [s.replace("a", "ä") for s in split_sentences(text)]

    def test_go_on_over_wrapped_lines(self) -> None:
        wrapped = "This line was wrapped by a mail program after\nseventy characters or so. Then comes another."
        assert said(wrapped)[0].endswith("after seventy characters or so.")

    def test_lists_headings_and_tables_are_known(self) -> None:
        text = "# Plan\n\n- **Louvre**: a museum. It is big.\n2. Walk\n\n| City | Size |\n|---|---|\n| Oslo | 700k |"
        assert sentences(text) == [
            Sentence("Plan", "heading"),
            Sentence("Louvre: a museum.", "item", "Louvre"),
            Sentence("It is big.", continues_item=True),
            Sentence("Walk", "item"),
            Sentence("City, Size", "heading"),
            Sentence("Oslo: 700k", "item", "Oslo"),
        ]

    def test_markup_is_taken_off(self) -> None:
        text = "See **this** [page](https://example.org/a) and `run()`, a snake_case name, 2 * 3 and <b>more</b>."
        assert said(text) == ["See this page and run(), a snake_case name, 2 * 3 and more ."]

    @pytest.mark.parametrize(
        ("text", "note"),
        [
            ("```python\na = 1\nb = 2\n```", "[code: python, 2 lines]"),
            ("~~~\na = 1", "[code: 1 line]"),
            ("def f(x):\n    y = x + 1\n    return y\nprint(f(2))", "[code: 4 lines]"),
            ("12:00:01 start\n12:00:02 go\n12:00:03 stop", "[log: 3 lines]"),
            ("QUJD" * 60, "[data: 240 characters]"),
        ],
    )
    def test_what_is_not_language_is_named(self, text: str, note: str) -> None:
        assert Sentence(note, "note") in sentences(text)

    def test_two_lines_that_end_in_a_semicolon_are_no_code(self) -> None:
        assert said("I came;\nI saw;") == ["I came;", "I saw;"]

    @pytest.mark.parametrize("text", ["Why?", "¿Por qué?", "なぜ？", "لماذا؟", 'Really "why?"'])
    def test_questions_are_known(self, text: str) -> None:
        assert sentences(text)[-1].is_question

    @given(ANY_TEXT)
    @settings(max_examples=sample(50))
    def test_any_text_has_sentences(self, text: str) -> None:
        for sentence in sentences(text):
            assert sentence.text
            assert len(sentence.text) <= MAX_SENTENCE + 100
            assert "".join(clauses(sentence.text)).strip() == sentence.text.strip()

    def test_only_a_part_of_a_long_text_is_looked_at(self) -> None:
        text = "First. " + "Word. " * 100_000 + "Last."
        found = said(text)
        assert len(found) <= MAX_SENTENCES
        assert (found[0], found[-1]) == ("First.", "Last.")
        assert len(limit_text(text)) <= MAX_CHARACTERS + 2


class TestFiller:
    @pytest.mark.parametrize(
        "text",
        [
            "I hope this helps!",
            "Let me know if you have any other questions.",
            "Great question!",
            "That sounds like a great idea!",
            "Thanks, Maria!",
            "You're welcome.",
            "Wow, that sounds amazing.",
            "Is there anything else I can help you with?",
            "Guten Morgen!",
        ],
    )
    def test_what_only_keeps_the_talk_going(self, text: str) -> None:
        assert is_filler(Sentence(text))

    @pytest.mark.parametrize(
        "text", ["I like jazz.", "Thanks to Maria we won 3:1.", "No.  Use Redis.", "What is a great wall made of?"]
    )
    def test_what_says_something(self, text: str) -> None:
        assert not is_filler(Sentence(text))

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("Well, to be honest, I think we won.", "I think we won."),
            ("However, the price (as always) rose.", "The price rose."),
            ("By the way, my dog is really very old.", "My dog is old."),
            ("No, I never said that.", "No, I never said that."),
            ("Yes, on Friday.", "Yes, on Friday."),
            ("I do not like it.", "I do not like it."),
            ("Hey Caroline, the bus is late.", "The bus is late."),
            ("안녕하세요, 저는 학생입니다.", "저는 학생입니다."),
            ("(only this)", "(only this)"),
            ("It names its sources (e.g., [2]).", "It names its sources."),
            ("Like, on my last trip I packed seven shirts.", "On my last trip I packed seven shirts."),
            ("Like my sister, I swim.", "Like my sister, I swim."),
        ],
    )
    def test_a_sentence_loses_what_leads_into_it_and_no_meaning(self, text: str, expected: str) -> None:
        assert trim(text) == expected

    def test_a_request_without_its_preface(self) -> None:
        assert bare_request("Can you recommend a dentist?") == "Recommend a dentist?"
        assert bare_request("Where is it?") == "Where is it?"

    def test_whom_it_is_said_to(self) -> None:
        assert strip_addressee("Thanks for the tips, Evan!") == "Thanks for the tips!"
        assert strip_addressee("We saw Rome, Paris and Evan.") == "We saw Rome, Paris and Evan."

    @given(ANY_TEXT)
    @settings(max_examples=sample(50))
    def test_something_is_left_of_any_text(self, text: str) -> None:
        assert bool(trim(text)) == bool(text)


class TestMentions:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("We met Ada Lovelace in Paris.", ["Ada Lovelace", "Paris"]),
            ("Yesterday I saw Emma's dog.", ["Emma"]),
            ("Visit Rome. It is old.", ["Rome"]),
            ("The University of Oslo and NASA agreed.", ["University of Oslo", "NASA"]),
            ('I read "The Old Man and the Sea" in May.', ["The Old Man and the Sea"]),
            ("I THINK THIS IS VERY LOUD", []),
            ("On Monday I'd go.", []),
            ("In Vienna I'd stay.", ["Vienna"]),
        ],
    )
    def test_names(self, text: str, expected: list[str]) -> None:
        assert names(sentences(text), "en") == expected

    def test_german_nouns_are_no_names(self) -> None:
        assert names(sentences("Ich habe einen Hund und eine Katze."), "de") == []

    @pytest.mark.parametrize(
        "text",
        [
            "12 May 2025",
            "May 3rd",
            "2024-05-01",
            "next Friday",
            "yesterday",
            "two weeks ago",
            "10:30",
            "at 5 pm",
            "in 1999",
            "3月4日",
        ],
    )
    def test_times(self, text: str) -> None:
        assert WHEN.search(f"It was {text}, he said.")

    @pytest.mark.parametrize(
        "text", ["$45,000", "20 GB", "18 °C", "5 to 10 minutes", "1.500 €", "30 %", "between 7 and 9 hours"]
    )
    def test_amounts_with_units(self, text: str) -> None:
        assert AMOUNT.search(f"It is {text} now.")

    def test_other_numbers_have_their_noun(self) -> None:
        assert amounts("We have 3 cats, 12 angry hens and flat 7.", "en") == ["3 cats", "12 angry hens", "7"]


class TestSalience:
    def test_numbers_and_names_weigh_more_than_ordinary_words(self) -> None:
        weights = weigh(sentences("I really want to see the thing in Zanzibar before 2031."), "en")
        assert weights["2031"] > weights["see"]
        assert max(weights, key=weights.__getitem__) in ("2031", "zanzibar")

    def test_forms_of_a_word_are_one(self) -> None:
        assert stems("running runs", "en") == stems("run", "en")

    def test_scripts_without_spaces_have_words(self) -> None:
        assert "科技公司" in words("我在科技公司")
        assert "ラーメン" in words("駅でラーメンを食べた")

    def test_a_phrase_in_its_words_of_matter_keeps_its_negation(self) -> None:
        assert shorten_phrase("that we are not going to use the red tiles", "en") == "not red tiles"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Meine Mutter hat am 8. Juni Geburtstag. Dann feiern wir.", 2),
        ("Ich wohne im 3. Stock", 1),
        ("Am 24. 12. sind wir zu Hause", 1),
        ("den 8. juni er det fest", 1),
        ("I am 41. My sister is 38. We live in Graz.", 3),
    ],
)
def test_an_ordinal_ends_no_sentence(text: str, parts: int) -> None:
    assert len([*sentences(text)]) == parts
