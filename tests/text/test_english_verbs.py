"""Whether an English sentence has a predicate."""

from __future__ import annotations

import pytest

from everword.text.english import has_predicate, has_verb


@pytest.mark.parametrize(
    "text",
    [
        "I kayaked to the island.",
        "My cousin builds violins.",
        "The ferry costs 9 euros.",
        "The twins love chess.",
        "Emma lives in Lisbon.",
        "Clean the hinges once a year.",
        "When it rains, cover the boat.",
        "Finished the quilt on Sunday.",
        "Rowing calms me.",
        "Which island did you see?",
        "The lamp\u2019s on the shelf.",
        "Mein Bruder kaufte gestern wieder Brot.",
    ],
)
def test_a_sentence_has_one(text: str) -> None:
    assert has_predicate(text)


@pytest.mark.parametrize(
    "text",
    [
        "Good days ahead!",
        "Option 2",
        "Long walks on the pier.",
        "Best waffles in town.",
        "Rowing with all my strength whenever we race.",
        "Super thrilled for you!",
        "A relief when the storm passed.",
        "My aunt, Ilse, a nurse from Ghent.",
        "Two cups of flour.",
        "1 can of black beans, drained.",
        "Following local festivals or event promoters on the radio.",
        "2 cups of rye flour, sifted, cut with 1 cup of Bran.",
        "Fri, March 11: newsletter, draft, Ilse",
        "",
    ],
)
def test_a_fragment_has_none(text: str) -> None:
    assert not has_predicate(text)


def test_a_verb_may_be_in_a_clause_that_hangs_on_another() -> None:
    assert has_verb("an app that helps you row")
    assert not has_predicate("an app that helps you row")
