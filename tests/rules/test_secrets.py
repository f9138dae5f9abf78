"""Secrets in a text are found, and a placeholder stands in their place."""

from __future__ import annotations

from recollect.model.secrets import SecretMark
from recollect.rules.secrets import mask_text


def test_a_placeholder_names_the_kind_and_leaves_the_words_around_it() -> None:
    text = "my password is hunter2, and my PIN 4711."
    marks = (SecretMark("password", 15, 22), SecretMark("PIN", 35, 39))
    assert mask_text(text, marks) == "my password is [secret: password], and my PIN [secret: PIN]."
