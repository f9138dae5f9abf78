"""Whether lines say what a model found in them: fairly, and with a reason if they do not (F9)."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from everword.facts.rules.grounding import Evidence, ReadLine, is_worth_reading, settle_time
from everword.model import FactCategory, FoundFact

TIME = datetime(2026, 5, 7, 12, tzinfo=UTC)


def said(text: str, *before: tuple[str, str]) -> tuple[Evidence, ReadLine]:
    """The evidence of a line by Dana, after lines of others."""
    lines = [ReadLine(who, words, TIME, "assistant" if who == "bot" else "user", False) for who, words in before]
    source = ReadLine("Dana", text, TIME)
    return Evidence.of([*lines, source], len(lines)), source


def is_said(text: str, value: str, *before: tuple[str, str], key: str = "thing") -> bool:
    return said(text, *before)[0].refuse_fact(FoundFact("other", key, value)) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I work in IT.", "IT"),
        ("I work in IT.", "works in IT"),
        ("The exam is on 23 May.", "on 23 May"),
        ("I saw The Who last night.", "The Who"),
        ("My blood type is A negative.", "A negative"),
        ("My mom is a nurse.", "mother is a nurse"),
        ("We got a puppy.", "has a dog"),
        ("I have two cats.", "2 cats"),
        ("I finished my first screenplay last Friday!", "finished her first screenplay on 1 May 2026"),
        ("I ran the race two days ago.", "ran the race on 5 May"),
        ("Ich wohne seit Jahren in einer Hütte im Schwarzwald.", "wohnt in einer Hütte im Schwarzwald"),
    ],
)
def test_what_is_said_in_other_words_is_said(text: str, value: str) -> None:
    assert is_said(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I work in marketing.", "IT"),
        ("I work in marketing in Rome.", "works in marketing in Oslo"),
        ("I have two cats.", "3 cats"),
        ("I ran the race two days ago.", "ran the race on 23 May"),
        ("Is my name Bob?", "Bob"),
        ("If I worked at Globex I'd be rich.", "Globex"),
        ("The soup was too salty for me.", "collects vintage stamps"),
    ],
)
def test_what_is_not_said_is_refused(text: str, value: str) -> None:
    assert not is_said(text, value)


class TestAnswers:
    def test_an_answer_is_understood_with_its_question(self) -> None:
        assert is_said("Yes, peanuts.", "peanuts", ("bot", "Any allergies?"), key="allergies")
        assert is_said("Yes, since 2019!", "vegetarian", ("bot", "Are you vegetarian?"))
        assert is_said("Yes!", "has a dog", ("Bo", "Do you have a dog?"))
        assert is_said("His name is Rex.", "Rex (dog)", ("Dana", "I got a dog yesterday."))

    def test_what_an_assistant_states_is_no_evidence(self) -> None:
        assert not is_said("Yes, lovely.", "lives in Atlantis", ("bot", "You live in Atlantis. Nice, is it?"))
        assert not is_said("The rain is loud.", "vegetarian", ("bot", "Are you vegetarian?"))

    def test_a_no_only_takes_back(self) -> None:
        evidence, _ = said("No, not any more.", ("Bo", "Do you still live in Utrecht?"))
        assert evidence.refuse_fact(FoundFact("identity", "location", "Utrecht")) is not None
        assert evidence.refuse_fact(FoundFact("identity", "location", "Utrecht", holds="ended")) is None


class TestDays:
    @pytest.mark.parametrize(
        ("text", "day"),
        [
            ("My cat died two days ago.", date(2026, 5, 5)),
            ("We met last Friday.", date(2026, 5, 1)),
            ("We meet on Saturday.", date(2026, 5, 9)),
            ("We move next month.", date(2026, 6, 1)),
            ("I start in October.", date(2026, 10, 1)),
            ("I have lived here for three years.", date(2023, 1, 1)),
            ("We will move on 1 March 2027.", date(2027, 3, 1)),
            ("I saw it yesterday.", date(2026, 5, 6)),
        ],
    )
    def test_a_day_that_follows_from_the_line_is_kept(self, text: str, day: date) -> None:
        assert said(text)[0].confirm_day(day) == day

    @pytest.mark.parametrize("text", ["My cat died.", "My cat died two days ago.", "We met in 2019."])
    def test_another_day_is_not(self, text: str) -> None:
        assert said(text)[0].confirm_day(date(2024, 2, 3)) is None


class TestTimeToCome:
    def settled(self, text: str, key: str, value: str, category: FactCategory = "identity") -> FoundFact:
        return settle_time(FoundFact(category, key, value), *said(text))

    def test_what_is_planned_is_a_plan(self) -> None:
        assert self.settled("We will move to Lyon.", "location", "Lyon").category == "plan"
        assert self.settled("I live in Utrecht and will move soon.", "location", "Utrecht").category == "identity"
        later = FoundFact("identity", "location", "Lyon", since=date(2031, 1, 1))
        settled = settle_time(later, *said("Lyon, some day."))
        assert (settled.category, settled.since) == ("plan", None)

    def test_now_is_a_change(self) -> None:
        assert self.settled("I'm 30 now.", "age", "30").corrects
        assert self.settled("I'm pescatarian now.", "diet", "pescatarian", "constraint").corrects
        assert not self.settled("I'm 30.", "age", "30").corrects


@pytest.mark.parametrize(
    ("texts", "worth"),
    [
        (["Gotta run, bye!"], False),
        (["Wow, that is great!", "Thanks so much!"], False),
        (["How are you?", "Any news?"], False),
        (["I keep bees."], True),
        (["Any allergies?", "Yes, peanuts"], True),
        (["My cat died."], True),
        (["Gotta run, my train to Bern leaves at 5!"], True),
    ],
)
def test_pleasantries_and_questions_alone_are_not_worth_a_call(texts: list[str], worth: bool) -> None:
    speakers = ("Bo", "Dana")[-len(texts) :]
    lines = [ReadLine(speaker, text, TIME) for speaker, text in zip(speakers, texts, strict=True)]
    assert is_worth_reading(lines) == worth
