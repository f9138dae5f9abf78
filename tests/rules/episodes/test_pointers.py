"""Which sentences point to something outside them."""

from __future__ import annotations

import pytest

from recollect.rules.episodes.pointers import names_far_things, points_back, resolves_pronouns


@pytest.mark.parametrize(
    "text",
    [
        "It leaks.",
        "They forgave me in the end.",
        "I was ashamed the next morning, but luckily they forgave me.",
        "An aunt knitted it for my wedding.",
        "Where did you buy that?",
        "What do you think of these?",
        "I started rowing here in May.",
        "Give me 4 more.",
        "Tell me more about that lake soon!",
        "I haven't had one in years.",
        "Same with us, we row on Sundays.",
        "Because of the storm.",
        "I do - a parrot.",
        "Maybe some day you will!",
        "Those long evenings make the winter bright.",
        "We are collecting some to sell at the fair.",
        "Is there anything else to bring?",
    ],
)
def test_a_sentence_points_back(text: str) -> None:
    assert points_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "I sold the boat because it leaked.",
        "My sister says she rows on Sundays.",
        "The twins said they would come.",
        "It's hard to row against the wind.",
        "It took two hours to paint the hull.",
        "I'm rowing to the island this weekend.",
        "I met this old sailor from Ghent, Ilse.",
        "Here are my notes on rowing.",
        "Some boats leak in winter.",
        "You can rent a boat at the pier.",
        "Those who row early see the herons.",
        "I row faster than you do.",
    ],
)
def test_a_sentence_stands_alone(text: str) -> None:
    assert not points_back(text)


def test_a_pronoun_is_resolved_by_what_it_may_stand_for() -> None:
    assert resolves_pronouns("My aunt came on Sunday.", "She brought a pie.")
    assert not resolves_pronouns("The weather was mild.", "She brought a pie.")
    assert resolves_pronouns("I bought two oars.", "They are too short.")
    assert not resolves_pronouns("I bought an oar.", "They are too short.")


def test_what_is_far_away_has_to_be_named() -> None:
    assert names_far_things("We saw a lake in Mora.", "I want to swim in that lake.")
    assert not names_far_things("We had a good time.", "I want to swim in that lake.")
