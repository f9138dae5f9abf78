"""Which messages somebody means who wants those deleted that say something."""

from __future__ import annotations

import unicodedata


def contains_phrase(text: str, phrase: str) -> bool:
    """Whether a text contains a phrase, whatever the case, the spaces and the form of its letters. An empty phrase is
    in no text: nothing is deleted by leaving it empty."""
    wanted = plain_form(phrase)
    return bool(wanted) and wanted in plain_form(text)


def plain_form(text: str) -> str:
    """A text in one case and one form, with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
