"""What is chosen for a summary can be understood: no fragments, no answer without its question (F1)."""

from __future__ import annotations

import time
from itertools import product
from string import ascii_lowercase

import pytest

from everword.models.tokens import EstimateTokenizer
from everword.summaries.rules.extract import SpokenLine, condense, gist, render_lines
from everword.text.sentences import Sentence
from everword.text.standalone import SourcedSentence, find_supports, is_bound, is_fragment

count = EstimateTokenizer().count
FILL = SpokenLine("user", "Kim", "The bakery in Leeds opens its second oven room on 4 May.", 90)


def summary(*said: tuple[str, str], limit: int = 120) -> str:
    lines = [SpokenLine("user", author, text, turn) for turn, (author, text) in enumerate(said, 1)]
    return render_lines(gist([*lines, FILL], limit, count))


@pytest.mark.parametrize(
    "fragment", ["214!", "Priya Natarajan.", "and me.", "It did.", "Me too!", "Luna and Oliver!", "What a lovely lake!"]
)
def test_a_fragment_is_not_chosen(fragment: str) -> None:
    made = summary(("Alex", fragment))
    assert fragment.rstrip(".!") not in made
    assert "second oven room" in made


@pytest.mark.parametrize("sentence", ["I'm vegan.", "We sold our boat.", "Deadline: Friday", "My sister is a nurse."])
def test_a_short_sentence_that_says_something_is_none(sentence: str) -> None:
    assert not is_fragment(sentence, "en")
    assert sentence.rstrip(".") in summary(("Alex", sentence))


@pytest.mark.parametrize("news", ["I got promoted!", "Speaking of ferries, my wife and I left for our tour of Norway!"])
def test_news_of_a_life_is_told_in_however_few_words(news: str) -> None:
    assert news.rstrip("!").rpartition(", ")[2] in summary(("Alex", news))
    assert "good" not in summary(("Alex", "That was so good!"))


def test_an_answer_comes_with_its_question() -> None:
    made = summary(("Sam", "Do you have any allergies?"), ("Alex", "Yes, peanuts and shellfish."))
    assert "Sam: Do you have any allergies? Alex: Yes, peanuts and shellfish." in made


def test_an_answer_comes_with_its_question_at_every_level() -> None:
    lines = [
        SpokenLine("user", "Sam", "Do you have any allergies?", 1),
        SpokenLine("user", "Alex", "Yes, peanuts and shellfish.", 2),
    ]
    first = gist([*lines, FILL], 120, count)
    assert [line.leans for line in first] == [0, 1, 0]
    for limit in range(4, 60):
        made = render_lines(condense([first, gist([FILL], 60, count)], limit, count))
        assert ("peanuts" in made) <= ("any allergies?" in made)


def test_a_sentence_that_points_back_comes_with_what_it_points_to() -> None:
    made = summary(("Alex", "I bought a red kayak in Turku. It weighs 22 kilos and leaks."))
    assert "kayak in Turku. It weighs 22 kilos" in made


def test_a_number_stays_with_what_it_counts() -> None:
    text = "We expect about 80 guests from Porto, 12 of them vegans, and the hall holds 1,250.5 square feet in all."
    for limit in range(3, 60):
        made = summary(("Alex", text), limit=limit)
        assert not made.rstrip(".…").endswith((" 80", " 12", "1,250", " 1"))


@pytest.mark.parametrize(
    ("question", "reply", "bound"),
    [
        ("Where do you live?", "In Oslo.", True),
        ("Where do you live? [a photo of a street]", "In Oslo.", True),
        ("I live in Oslo.", "Nice city.", False),
        ("Where do you live?", "Why do you ask?", False),
        ("Is there anything else I can help with?", "Tell me about trains.", False),
    ],
)
def test_a_reply_belongs_to_its_question(question: str, reply: str, bound: bool) -> None:
    assert is_bound(question, reply) is bound


@pytest.mark.parametrize(
    "fragment",
    [
        "Good days ahead!",
        "Where did you see that?",
        "Task 3: Prepare for the meeting.",
        "An aunt knitted it for my wedding.",
        "They forgave me, luckily, the next morning.",
        "- 2 cups of rye flour",
        "| Fri | letter | Ilse |",
    ],
)
def test_what_cannot_be_understood_alone_is_not_chosen_at_any_level(fragment: str) -> None:
    made = summary(("Alex", fragment))
    assert made == "Kim: The bakery in Leeds opens its second oven room on 4 May."
    lone = gist([SpokenLine("user", "Alex", fragment, 1)], 60, count)
    assert lone, "there is nothing else"
    assert render_lines(condense([lone, gist([FILL], 60, count)], 120, count)) == made


def test_a_pronoun_wants_something_that_it_may_stand_for() -> None:
    made = summary(("Alex", "The weather at the lake was mild. She brought a pie with almonds and honey."))
    assert "at the lake was mild" in made
    assert "She brought" not in made


def test_an_item_of_a_list_comes_with_what_introduces_it() -> None:
    made = summary(("Alex", "For the ferry trip we need:\n- two sleeping bags\n- oat milk"))
    assert "we need: two sleeping bags; oat milk" in made


@pytest.mark.parametrize(
    "text",
    [
        "Die Bäckerei in Leeds öffnet am 4. Mai ihre zweite Backstube. Schöne Tage am See.",
        "Ostin punaisen kajakin Turusta viime viikolla. Se painaa 22 kiloa.",
        "Kupiłem czerwony kajak w Gdańsku.",
        "昨日トゥルクで赤いカヤックを買いました。",
        "اشتريت قاربا أحمر في المدينة.",
        "That's great!",
        "Option 1",
    ],
)
def test_a_summary_is_never_empty_whatever_the_language(text: str) -> None:
    lines = gist([SpokenLine("user", "Alex", text, 1)], 60, count)
    assert lines
    assert condense([lines, lines], 60, count)


def test_a_short_answer_after_two_questions_is_given_to_neither() -> None:
    asked = ("Sam", "What are the names of your cats? And which plans do you have for the old barn?")
    made = summary(asked, ("Alex", "Miso and Pepper. I will open a pottery studio in Turku by May."))
    assert "pottery studio" in made
    assert "Miso" not in made
    made = summary(("Sam", "What are the names of your cats?"), ("Alex", "Miso and Pepper."))
    assert "names of your cats? Alex: Miso and Pepper" in made


def seconds_of_supports(words: list[str], size: int) -> float:
    """The processor's time for a message of so many sentences, each with another "the …"."""
    sentences = [Sentence(f"Tom repaired the {words.pop()}er in May.") for _ in range(size)]
    statements = [SourcedSentence(1, ("user", "Kim"), sentence) for sentence in sentences]
    begun = time.thread_time()
    assert len(find_supports(statements, "en")) == size
    return time.thread_time() - begun


def test_what_many_sentences_point_to_takes_time_in_proportion() -> None:
    words = ["".join(letters) for letters in product(ascii_lowercase, repeat=3)]
    seconds_of_supports(words, 100)  # patterns are compiled
    few = min(seconds_of_supports(words, 250) for _ in range(2))
    many = min(seconds_of_supports(words, 1_500) for _ in range(2))
    assert many < 15 * few  # six times as many; to compare each with all would be 36 times
