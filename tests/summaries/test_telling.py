"""A summary tells what a person who was there would: what happened, was planned and answered, before what was felt.
Through the public API, for chats with and without capitals and stops.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from everword import Draft, Memory
from everword.text.filler import with_question_mark
from everword.text.worth_telling import Telling, telling_of, told_part


def summary_of(folder: Path, *lines: str) -> str:
    """The summary of a chat, each line with its speaker; lines that say nothing push it out of the window."""
    drafts = [Draft("user", text, author=author) for author, _, text in (line.partition(": ") for line in lines)]
    drafts += [Draft("user", "ok", author="kim")] * 30
    with Memory(str(folder / "memory.db"), followers=False, chat_model="", memory_model="") as memory:
        chat = memory.conversation("demo")
        chat.extend(drafts)
        memory.settle()
        return " ".join(episode.summary for episode in chat.episodes())


@pytest.mark.checklist("B2")
def test_the_event_is_told_and_the_weather_is_not(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        "Ana: Hey Bo! What a gorgeous morning, the sky over the harbour is so beautiful!",
        "Bo: Wow, sunrises like these are truly amazing and remind us how precious life is.",
        "Ana: Been up and down lately, got married last week - how about you?",
        "Bo: Congratulations, Ana! That's wonderful news!",
        "Ana: Thanks! Love is such a powerful and beautiful thing.",
    )
    assert "got married last week" in summary
    assert not any(word in summary for word in ("beautiful", "amazing", "how about you"))


@pytest.mark.checklist("B2")
def test_an_answer_stands_with_its_question_though_no_mark_ends_it(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        "kira: hows training going",
        "theo: ran 18k sunday. my knee hurts a bit",
        "kira: omg so jealous",
        "kira: when is the half marathon again",
        "theo: april 21 in porto",
    )
    assert "kira: when is the half marathon again? theo: april 21 in porto." in summary
    assert "ran 18k sunday" in summary
    assert "jealous" not in summary


@pytest.mark.checklist("B2")
def test_a_question_that_was_answered_does_not_stand_alone(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        "mia: omg did u see the rain last night",
        "jonas: lol yeah our basement flooded",
        "mia: btw i quit my job",
        "jonas: what are u gonna do",
        "mia: im starting at a bakery in october, my aunt owns it",
    )
    assert all(words in summary for words in ("our basement flooded", "quit my job", "bakery in october"))
    assert not any(words in summary for words in ("?", "did u see"))


@pytest.mark.checklist("B2")
def test_an_event_told_by_a_pronoun_comes_with_the_line_that_says_who(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        "ana: how was the dinner with Marta and Leo",
        "bo: omg",
        "bo: they got ENGAGED",
        "ana: no way!!",
        "bo: yes, the wedding is in june",
    )
    assert "ana: how was the dinner with Marta and Leo? bo: they got ENGAGED." in summary
    assert "the wedding is in june" in summary
    assert "no way" not in summary


@pytest.mark.checklist("B2")
def test_a_short_number_and_a_yes_come_with_what_was_asked(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        "ana: did you pass the physics exam?",
        "bo: yes!",
        "ana: how many points did you get?",
        "bo: 95",
    )
    assert "ana: did you pass the physics exam? bo: yes!" in summary
    assert "how many points did you get? bo: 95." in summary


@pytest.mark.checklist("B2")
def test_what_follows_two_questions_is_not_shown_as_the_answer_to_one(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        "ana: what are your cats called? which colour is the barn?",
        "bo: miso and pepper",
        "bo: i sold the barn in march",
    )
    assert "i sold the barn in march" in summary
    assert "miso" not in summary


@pytest.mark.checklist("B2")
def test_in_a_long_chat_news_is_told_before_remarks(tmp_path: Path) -> None:
    remarks = [
        "Art brings people together in so many ways.",
        "Small steps add up over time.",
        "Friendship gives us strength to tackle any challenge.",
        "Nature has a way of healing everybody.",
    ]
    talk = [f"{'Bo' if number % 2 else 'Ana'}: {remark}" for number, remark in enumerate(remarks * 6)]
    summary = summary_of(
        tmp_path, *talk[:9], "Ana: Joey and Nina broke up.", *talk[9:], "Bo: I crashed the van in Ghent."
    )
    assert "Joey and Nina broke up" in summary
    assert "crashed the van" in summary
    assert "Small steps" not in summary


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("I took my family on a road trip to Jasper.", Telling.DEED),
        ("btw i quit my job", Telling.DEED),
        ("ran 18k sunday", Telling.DEED),
        ("We're off to Canada next month.", Telling.DEED),
        ("Marta will bring the telescope.", Telling.DEED),
        ("Joey and Nina finally broke up", Telling.DEED),
        ("the place closed", Telling.DEED),
        ("We'll paint the fence on Sunday.", Telling.DEED),
        ("I think we broke the lamp.", Telling.DEED),
        ("I have two cats.", Telling.STATE),
        ("we need a tent", Telling.STATE),
        ("9:40 your time", Telling.STATE),
        ("The kayak needs a new paddle.", Telling.PLAIN),
        ("Art is truly amazing.", Telling.FELT),
        ("Small steps add up.", Telling.FELT),
        ("Keep pushing, you made so much progress!", Telling.FELT),
        ("I'm so proud of you.", Telling.FELT),
        ("the weather is so gross today tho", Telling.FELT),
    ],
)
def test_what_a_sentence_tells(text: str, telling: Telling) -> None:
    assert telling_of(text) == telling


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("It's been a rough week - I lost my keys in the harbour.", "I lost my keys in the harbour."),
        ("I took the kids to the museum - it was so cool!", "I took the kids to the museum"),
        ("We hiked up the old volcano, and it was amazing!", "We hiked up the old volcano"),
        ("I'm so excited to tell you I started a yoga class.", "I started a yoga class."),
        ("Wanted to let you know that we moved to Delft.", "We moved to Delft."),
        ("I can't tell you I sold it.", "I can't tell you I sold it."),
        ("I sold my boat - it leaked.", "I sold my boat - it leaked."),
        ('He said "wait - I lost it" and left.', 'He said "wait - I lost it" and left.'),
    ],
)
def test_a_sentence_is_shown_without_how_it_was_felt(text: str, told: str) -> None:
    assert told_part(text) == told


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("when do u land", "when do u land?"),
        ("hows biscuit", "hows biscuit?"),
        ("omg did u see that", "omg did u see that?"),
        ("when i was a kid we had a dog", "when i was a kid we had a dog"),
        ("what a day", "what a day"),
        ("I moved to Oslo, how about you?", "I moved to Oslo"),
        ("How about you?", "How about you?"),
    ],
)
def test_a_question_gets_the_mark_it_was_written_without(text: str, marked: str) -> None:
    assert with_question_mark(text) == marked
