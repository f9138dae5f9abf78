"""What everword itself says to people, in the language of the conversation: answers to commands and headings.

The texts are in `text/packs/CODE/phrases.txt`, by their names; names in braces are filled in. A language without a text
has the English one.
"""

from __future__ import annotations

from collections.abc import Iterable

from everword.text.detect import DEFAULT, detect_written, is_clear
from everword.text.wordings import wordings


def _texts(language: str, entry: str) -> dict[str, str]:
    return wordings(language, "phrases").table(entry)


def phrase(language: str, name: str, /, **parts: str) -> str:
    """A text of everword's own, in a language."""
    text = _texts(language, "phrases").get(name) or _texts(DEFAULT, "phrases")[name]
    return text.format(**parts)


def heading(language: str, english: str) -> str:
    """A heading of a profile, in a language: "Work", or "About Dana", where the name stays."""
    texts = _texts(language, "headings")
    name = english.removeprefix("About ")
    if name != english and "About" in texts:
        return texts["About"].format(name=name)
    return texts.get(english, english)


def language_of_chat(text: str, earlier_texts: Iterable[str]) -> str:
    """The language of a message; if it is too short to tell, that of the last message before it which tells."""
    return detect_written(next(filter(is_clear, (text, *earlier_texts)), text))
