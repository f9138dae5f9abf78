"""Statements as pairs: what is found in a message, and what of it is told in a budget (A1)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword.models.tokens import TiktokenTokenizer
from everword.summaries.rules.shortened_messages import drop_dangling, key_values

count = TiktokenTokenizer().count
AMPLE = 200  # tokens


def pairs_of(said: str) -> list[str]:
    """The pairs of one sentence, with room for all of them."""
    return key_values(said if said.endswith("?") else f"{said}.", AMPLE, count).split("; ")


class TestStatements:
    @pytest.mark.parametrize(
        ("said", "pair"),
        [
            ("My name is Alex", "name = Alex"),
            ("my name is alex", "name = alex"),
            ("Please call me Sam", "name = Sam"),
            ("I live in New York", "lives in = New York"),
            ("I'm currently based in Oslo", "lives in = Oslo"),
            ("I'm from Ghana", "from = Ghana"),
            ("I work as a nurse", "job = nurse"),
            ("I work for Siemens", "works at = Siemens"),
            ("I'm allergic to shellfish", "allergic to = shellfish"),
            ("I love jazz", "likes = jazz"),
            ("I really enjoy old films", "likes = old films"),
            ("I don't like jazz", "dislikes = jazz"),
            ("I do not really like jazz", "dislikes = jazz"),
            ("I can't stand jazz", "dislikes = jazz"),
            ("I'm not a big fan of jazz", "dislikes = jazz"),
            ("I never eat meat", "does not = eat meat"),
            ("I'd prefer the aisle seat", "prefers = aisle seat"),
            ("My favorite band is Radiohead", "favorite band = Radiohead"),
            ("We decided to use Redis", "decision = use Redis"),
            ("We decided against Redis", "decision = against Redis"),
            ("We agreed on Thursday", "decision = Thursday"),
            ("Let's stick with plan B", "decision = plan B"),
            ("I'll book the hotel", "plan = book the hotel"),
            ("I'm planning to sell the boat", "plan = sell the boat"),
            ("I'm learning Greek", "learning = Greek"),
            ("My wife Nora called", "wife = Nora"),
            ("Nora is my wife", "wife = Nora"),
            ("My wife loves opera", "wife likes = opera"),
            ("Tariq doesn't like opera", "Tariq dislikes = opera"),
            ("I'm a pilot", "is a = pilot"),
            ("The password is swordfish9", "password = swordfish9"),
            ("The meeting is on Friday at 3 pm", "meeting = Friday at 3 pm"),
            ("Our trip to Japan was great", "trip = Japan"),
            ("Could you recommend a good dentist?", "request = recommend a good dentist"),
            ("How long does glue need to dry?", "question = how long does glue need to dry"),
            ("Please water the plants", "request = water the plants"),
            ("It fails with ValueError: bad input", "error = ValueError: bad input"),
            ("See src/app/main.py", "file = src/app/main.py"),
            ("Write to ann@example.org", "email = ann@example.org"),
            ("We run Django 5.1 there", "Django = 5.1"),
        ],
    )
    def test_a_statement_becomes_a_pair(self, said: str, pair: str) -> None:
        assert pair in pairs_of(said)

    @pytest.mark.parametrize(
        ("said", "pair"),
        [
            ("I don't think I like jazz", "likes ="),
            ("Do I like jazz?", "likes ="),
            ("I'm not sure if I like jazz", "likes = jazz"),
            ("We have not decided on Redis", "decision ="),
            ("We haven't decided on Redis", "decision ="),
            ("I no longer live in Oslo", "lives in ="),
            ("I'm not allowed to work for Siemens", "works at ="),
            ("I don't need a lamp", "needs ="),
        ],
    )
    def test_what_is_denied_doubted_or_asked_is_not_stated(self, said: str, pair: str) -> None:
        assert not any(found.startswith(pair) for found in pairs_of(said))

    def test_a_negation_is_never_left_out_of_a_value(self) -> None:
        for budget in range(4, 30):
            line = key_values("The capital of Australia is Canberra, not Sydney or Perth.", budget, count)
            assert "Sydney" not in line.partition("capital of Australia = ")[2] or "not Sydney" in line


class TestOtherLanguages:
    @pytest.mark.parametrize(
        ("said", "pair"),
        [
            ("Me llamo Carmen y vivo en Sevilla", "name = Carmen"),
            ("Me llamo Carmen y vivo en Sevilla", "lives in = Sevilla"),
            ("Me gusta el flamenco pero no tengo tiempo", "likes = el flamenco"),
            ("No me gustan los toros y nunca voy", "dislikes = los toros"),
            ("Ich heiße Jonas und wohne in Hamburg", "name = Jonas"),
            ("Ich mag keine Pilze und esse sie nie", "dislikes = Pilze"),
            ("Je m'appelle Claire et j'habite à Lyon", "lives in = Lyon"),
            ("Je n'aime pas les champignons du tout", "dislikes = les champignons du"),
            ("Меня зовут Ольга и я живу в Казани", "name = Ольга"),
            ("我叫小明，今年28岁", "name = 小明"),
            ("私の名前は田中です", "name = 田中"),
            ("제 이름은 민수입니다", "name = 민수"),
        ],
    )
    def test_people_may_introduce_themselves(self, said: str, pair: str) -> None:
        assert pair in pairs_of(said)

    @pytest.mark.parametrize("said", ["No me gustan los toros y nunca voy", "Je n'aime pas les champignons du tout"])
    def test_a_dislike_is_no_like(self, said: str) -> None:
        assert not any(pair.startswith("likes") for pair in pairs_of(said))

    @pytest.mark.parametrize(
        ("said", "word"),
        [
            ("Kissa istui ikkunalla ja katseli lintuja pihalla", "ikkunalla"),
            ("Η γάτα κοιμάται στο παράθυρο όλη την ημέρα", "παράθυρο"),
            ("고양이는 창가에서 하루 종일 잠을 잡니다", "고양이는"),
            ("החתול ישן ליד החלון כל היום", "החתול"),
            ("แมวนอนอยู่ข้างหน้าต่าง ทั้งวัน", "แมวนอนอยู่ข้างหน้าต่าง"),
        ],
    )
    def test_otherwise_the_salient_words_are_the_topic(self, said: str, word: str) -> None:
        assert any(pair.startswith("topic = ") and word in pair for pair in pairs_of(said))


class TestBudget:
    TEXT = (
        "My name is Alex and I live in Berlin. We decided to use PostgreSQL instead of MySQL. The budget is $45,000 "
        "and the deadline is 3 March. My sister Emma prefers tea, I don't like coffee. Could you book a table for four?"
    )

    @pytest.mark.parametrize("budget", [0, 1, 3, 5, 8, 12, 20, 40, 41, 60, 100])
    @pytest.mark.checklist("A1")
    def test_no_more_than_the_budget_and_whole_pairs(self, budget: int) -> None:
        line = key_values(self.TEXT, budget, count)
        assert count(line) <= budget
        assert all(" = " in pair for pair in line.split("; ")) or not line

    def test_more_budget_never_says_less(self) -> None:
        sizes = [len(key_values(self.TEXT, budget, count)) for budget in (5, 10, 20, 40, 80)]
        assert sizes == sorted(sizes)

    def test_who_somebody_is_comes_first(self) -> None:
        assert key_values(self.TEXT, 12, count).startswith("name = Alex")

    def test_nothing_is_said_twice(self) -> None:
        line = key_values("I live in Oslo. Oslo is cold. I live in Oslo, yes, in Oslo.", AMPLE, count)
        assert line.count("Oslo") == 1

    @given(st.text(max_size=200), st.integers(0, 60))
    @settings(max_examples=sample(50))
    def test_any_text_any_budget(self, text: str, budget: int) -> None:
        assert count(key_values(text, budget, count)) <= budget


class TestDanglingWords:
    @pytest.mark.parametrize(
        ("phrase", "rest"),
        [
            ("a trip to Rome with the", "a trip to Rome"),
            ("a trip to Rome, and", "a trip to Rome"),
            ("tea , because  OF", "tea"),
            ("tea and", "tea"),
            ("tea and, ", "tea and, "),
            ("the theatre", "the theatre"),
            ("the", "the"),
            ("of the", "of"),
            ("", ""),
            ("tea" + " of the" * 40, "tea"),
        ],
    )
    def test_a_phrase_does_not_end_with_them(self, phrase: str, rest: str) -> None:
        assert drop_dangling(phrase) == rest
