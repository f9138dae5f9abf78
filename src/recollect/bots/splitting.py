"""Splits a long text into messages that a platform takes: at the end of a paragraph, a line, a sentence or a word."""

from __future__ import annotations

ENDS = ("\n\n", "\n", ". ", "! ", "? ", " ")


def split_text(text: str, longest: int) -> list[str]:
    """The parts of a text, none of them empty or longer than `longest` characters."""
    parts: list[str] = []
    rest = text.strip()
    while len(rest) > longest:
        end = cut_place(rest, longest)
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*parts, rest] if rest else parts


def cut_place(text: str, longest: int) -> int:
    """Where to cut a text that is longer than `longest` characters: at the strongest end in its second half."""
    for end in ENDS:
        place = text.rfind(end, longest // 2, longest)
        if place >= 0:
            return min(place + len(end), longest)
    return longest
