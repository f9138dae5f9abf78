"""Splits a long text into messages that a platform takes: at the end of a paragraph, a line, a sentence or a word.

The platforms do not say what a character is. So the larger number counts: one beyond U+FFFF, as most emoji are, is two.
"""

from __future__ import annotations

ENDS = ("\n\n", "\n", ". ", "! ", "? ", " ")
LAST_SINGLE = "\uffff"  # the last character that UTF-16 writes as one unit


def text_length(text: str) -> int:
    """The length of a text as a platform may count it."""
    return len(text) + sum(character > LAST_SINGLE for character in text)


def split_text(text: str, longest: int) -> list[str]:
    """The parts of a text, none of them empty or longer than `longest` characters."""
    parts: list[str] = []
    rest = text.strip()
    while text_length(rest) > longest:
        end = cut_place(rest, longest)
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*parts, rest] if rest else parts


def cut_place(text: str, longest: int) -> int:
    """Where to cut a text that is longer than `longest` characters: at the strongest end in its second half."""
    last = fitting_end(text, longest)
    for end in ENDS:
        place = text.rfind(end, last // 2, last)
        if place >= 0:
            return min(place + len(end), last)
    return last


def fitting_end(text: str, longest: int) -> int:
    """How much of a text is not longer than `longest` characters; at least one is."""
    length = 0
    for position, character in enumerate(text):
        length += text_length(character)
        if length > longest:
            return max(position, 1)
    return len(text)
