"""Facts found by their wording, without a model (B4, B8), and the set of utterances that measures it."""

from __future__ import annotations

import random
from datetime import date

import pytest
from fact_corpus import notation, score, utterances
from hypothesis import given
from hypothesis import strategies as st
from sample_sizes import sample

from everword.facts.english.clauses import expand_short_forms
from everword.facts.english.finder import find_facts, is_echo, reconcile_facts
from everword.model import FoundFact

TODAY = date(2024, 9, 10)


def found(text: str) -> list[str]:
    return sorted(map(notation, find_facts(text, TODAY)))


def test_short_forms_are_written_out() -> None:
    text = "I’m sure it's mine; we'll go, I've said I can't, won't you? He isnt here any more"
    full_text = "I am sure it is mine; we will go, I have said I can not, will not you? He is not here anymore"
    assert expand_short_forms(text) == full_text


class TestCorpus:
    def test_it_is_large_and_half_of_it_is_held_out(self) -> None:
        rows = utterances()
        halves = [sum(row.half == half for row in rows) for half in ("tuning", "held out")]
        assert len({row.said for row in rows}) == len(rows) >= 150
        assert min(halves) >= 150
        assert sum(not row.facts for row in rows) >= 100

    @pytest.mark.parametrize("half", ["tuning", "held out"])
    def test_precision_and_recall(self, half: str, capsys: pytest.CaptureFixture[str]) -> None:
        result, _ = score([row for row in utterances() if row.half == half])
        with capsys.disabled():
            print(f"\n  facts found offline, {half} half: {result}")
        assert result.precision >= 0.9
        assert result.recall >= 0.6

    @pytest.mark.parametrize(
        "kind", ["hypothetical", "questions", "reported", "jokes", "passing", "talk", "other languages"]
    )
    @pytest.mark.checklist("B8")
    def test_what_is_no_fact_is_found_in_neither_half(self, kind: str) -> None:
        rows = [row for row in utterances() if row.kind == kind]
        assert rows
        assert {row.said: find_facts(row.said, TODAY) for row in rows} == {row.said: [] for row in rows}


class TestTraps:
    @pytest.mark.parametrize(
        "text",
        [
            "If my name were Bob",
            "is my name Bob?",
            "I wonder whether my name is Bob.",
            "My boss's name is Bob",
            "My sister's friend's name is Bob.",
            "The user's name is Bob",
            "> My name is Bob",
            "```\nMy name is Bob\n```",
            "He wrote: 'My name is Bob'",
            "Translate this into German:\n\nMy name is Bob. I live in Rome.",
            "Let's role-play. My name is Bob and I live in Rome.",
            "My name is Bob. Just kidding!",
        ],
    )
    def test_none_of_these_sets_the_users_name_or_home(self, text: str) -> None:
        mine = [fact for fact in find_facts(text, TODAY) if fact.subject is None and not fact.retracts]
        assert not {fact.key for fact in mine} & {"name", "location"}

    def test_a_past_home_is_no_home(self) -> None:
        (fact,) = find_facts("I used to live in Rome", TODAY)
        assert (fact.key, fact.value, fact.holds) == ("location", "Rome", "ended")

    def test_what_is_stated_beside_a_question_is_found(self) -> None:
        assert found("I live in Oslo, do you know a bakery?") == ["identity/location=oslo"]
        assert found("I live in Oslo, right?") == []

    def test_a_condition_ends_where_its_clause_ends(self) -> None:
        assert found("If you need it for the form, my name is Alex.") == ["identity/name=alex"]
        assert found("If I live in Oslo and work at Globex, do I pay more?") == []


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "since", "until"),
        [
            ("Since May I work at Contoso.", date(2024, 5, 1), None),
            ("Since November I work at Contoso.", date(2023, 11, 1), None),
            ("I've lived in Oslo since 2019.", date(2019, 1, 1), None),
            ("I have been living in Oslo for three years.", date(2021, 1, 1), None),
            ("I moved to Lisbon last year.", date(2023, 1, 1), None),
            ("I lived in Paris until 2019.", None, date(2019, 1, 1)),
            ("I lived in Paris from 2010 to March 2014.", date(2010, 1, 1), date(2014, 3, 1)),
            ("I've been vegan since 3 March 2020.", date(2020, 3, 3), None),
            ("I live in Oslo.", None, None),
            ("I've lived in Oslo since the 99th of May.", None, None),
            ("I am allergic to peanuts, and in March I travel to Kyoto for eleven days.", None, None),
            ("I'm vegan, next summer I will be in Rome for two weeks", None, None),
        ],
    )
    def test_what_is_said_of_the_time(self, text: str, since: date | None, until: date | None) -> None:
        (fact,) = find_facts(text, TODAY)
        assert (fact.since, fact.until) == (since, until)

    def test_without_a_day_only_whole_dates_are_read(self) -> None:
        assert find_facts("Since May I work at Contoso.")[0].since is None
        assert find_facts("Since May 2023 I work at Contoso.")[0].since == date(2023, 5, 1)


class TestSureness:
    @pytest.mark.checklist("B5")
    def test_the_confidences_of_the_documents_example(self) -> None:
        said = ("My name is Alex", "Call me Al", "My full name is Alexander")
        names = [next(fact for fact in find_facts(text) if fact.key == "name") for text in said]
        assert [(fact.value, fact.confidence) for fact in names] == [("Alex", 1.0), ("Al", 0.6), ("Alexander", 0.95)]

    def test_a_guess_and_hearsay_are_less_sure(self) -> None:
        plain, hedged = find_facts("I'm allergic to kiwi."), find_facts("I think I'm allergic to kiwi.")
        hearsay = find_facts("Bob is allergic to kiwi.")
        assert plain[0].confidence > hearsay[0].confidence > hedged[0].confidence >= 0.4
        assert hearsay[0].subject == "Bob"

    @pytest.mark.parametrize(
        "text",
        ["Actually, my name is Robin.", "I changed my name to Robin.", "I now live in Rome.", "I moved to Rome."],
    )
    def test_a_correction_or_a_change_is_known_for_one(self, text: str) -> None:
        assert any(fact.corrects for fact in find_facts(text, TODAY))

    def test_allergies_matter_more_than_tastes(self) -> None:
        facts = {
            fact.key: fact.importance for fact in find_facts("I'm allergic to nuts and I like jazz. I'm called Dana.")
        }
        assert facts["name"] > facts["allergies"] > facts["likes"] >= 0.4


class TestEchoes:
    SHOWN = ("location: Berlin", "You told me that you live in Berlin and work for Contoso as a nurse, Alex.")

    @pytest.mark.parametrize(
        "text",
        [
            "Yes, I live in Berlin as you said.",
            "You're right, I live in Berlin.",
            "According to your notes I live in Berlin. I live in Berlin.",
            "You told me that you live in Berlin and work for Contoso as a nurse",
        ],
    )
    def test_leaning_on_the_assistant_or_copying_it_is_an_echo(self, text: str) -> None:
        assert is_echo(text, self.SHOWN)
        assert all(fact.echo for fact in find_facts(text, TODAY, self.SHOWN))

    @pytest.mark.parametrize(
        "text",
        ["I live in Berlin.", "No, I live in Rome, as I said.", "You said Berlin, but I moved to Lisbon in May."],
    )
    def test_saying_it_in_ones_own_words_is_none(self, text: str) -> None:
        facts = find_facts(text, TODAY, self.SHOWN)
        assert facts
        assert not any(fact.echo for fact in facts)

    def test_nothing_shown_nothing_echoed(self) -> None:
        assert not is_echo("as you said", [])
        assert not is_echo("", ["Berlin"])


class TestModelAndRules:
    def test_the_rules_say_whose_a_value_is_and_whether_it_holds(self) -> None:
        text = "My boss's name is Bob and I used to live in Rome. I collect stamps."
        model = [
            FoundFact("identity", "name", "Bob"),
            FoundFact("identity", "location", "Rome"),
            FoundFact("preference", "likes", "stamps"),
        ]
        assert sorted(map(notation, reconcile_facts(model, find_facts(text, TODAY)))) == [
            "ended identity/location=rome",
            "identity/boss=bob",
            "preference/likes=stamps",
        ]


SAID = """
    so the build failed again because of a missing comma in the config file but it works on the other machine
    and that one is older than this what a day thanks for the help it looks fine now maybe we ship tomorrow or
    next week who knows could you check the logs please the second one I mean not the first I am tired I'm late
    I think so too lol my code is broken my question is about lists I need coffee I have no idea I like it I
    love that I hate this bug never mind always the same I went home I saw it I am not sure I'm working on it
    just now I was wondering if you know how do I sort a list my phone died my train is late I can't find the
    file I don't get it I never said that call me later I'm on it
"""
LINES = (
    "my code is broken again", "I'm working on it just now", "I like how you explained that", "I think it works now",
    "I have a meeting at three", "I need to fix this first", "my train is late again", "I don't get the second part",
    "I'm so tired today", "can you check the logs", "that one is older than this", "I went home early yesterday",
    "who wrote this function", "I was wondering about the config", "never mind, found it", "it crashes on start",
    "I'm sure it was the cache", "I hate this bug", "my question is about lists", "the build failed because of a comma",
)  # fmt: skip


@pytest.mark.checklist("B8")
def test_thousands_of_messages_of_junk_hold_no_fact() -> None:
    chance = random.Random(7)
    ends = (".", "!", "?", "", "...", " lol", " 🙂")
    junk = []
    for number in range(sample(10_000)):
        if number % 2:
            junk.append(" ".join(chance.choices(LINES, k=chance.randint(1, 3))) + chance.choice(ends))
        else:
            junk.append(", ".join(chance.choices(LINES, k=chance.randint(1, 2))).capitalize() + chance.choice(ends))
    wrong = {text: facts for text in junk if (facts := find_facts(text, TODAY))}
    assert wrong == {}


@pytest.mark.parametrize("text", ["I live in Rome on", "I work at Bank of", "my brother lives in Frankfurt am"])
def test_a_sentence_that_breaks_off_raises_nothing(text: str) -> None:
    assert isinstance(find_facts(text), list | tuple)


@given(st.lists(st.sampled_from(SAID.split()), max_size=40))
def test_words_in_any_order_raise_nothing(said: list[str]) -> None:
    find_facts(" ".join(said), TODAY)


@given(
    st.text(max_size=300), st.sampled_from(["", "I live in ", "My name is ", "I have ", "I'm ", "Call me ", "Always "])
)
def test_any_text_is_read_without_an_error(text: str, before: str) -> None:
    for fact in find_facts(f"{before}{text}", TODAY, (text,)):
        assert fact.value or fact.retracts
        assert len(fact.value) <= 200
        assert 0.4 <= fact.confidence <= 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x00",
        "🙂" * 5_000,
        "my " * 20_000,
        "I love " + "a, " * 20_000,
        "I'm '" * 10_000,
        "My name is " + "A" * 9_999,
    ],
)
def test_odd_and_huge_texts_are_read_in_passing(text: str) -> None:
    assert len(find_facts(text, TODAY)) <= 1
