"""Which messages contain a phrase: word for word, whatever the case, the spaces and the form of the letters."""

from __future__ import annotations

import pytest

from everword.text.word_weights import contains_phrase


@pytest.mark.parametrize(
    ("text", "phrase", "contained"),
    [
        ("The PIN\n is  1234.", "the pin is 1234", True),
        ("Straße 5", "STRASSE 5", True),
        ("cafe\u0301", "caf\u00e9", True),
        ("the pin was 1234", "the pin is 1234", False),
        ("anything", "", False),
        ("anything", " \n", False),
        ("", "word", False),
    ],
)
def test_a_phrase_is_found_in_whatever_form_it_stands(text: str, phrase: str, contained: bool) -> None:
    assert contains_phrase(text, phrase) is contained
