"""Reads the words and formats by which secrets are known, from the text files in `data`.

A file has sections: `== name`, then items. A line holds one item, or several with a comma and a space between
them; it may begin with its language (`de: kennwort`). What begins with `# ` is a comment. The items of many sections
are patterns, in which `<<name>>` stands for any item of another one. The files are read once, when the first section is
asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "data"
_REFERENCE = re.compile(r"<<([^<>]+)>>")
_LANGUAGE = re.compile(r"(?:[a-z]{2}|\*): ")


@cache
def words(*sections: str) -> tuple[str, ...]:
    """The items of some sections, in their order."""
    return tuple(item for section in sections for item in _all_sections()[section])


@cache
def word_set(*sections: str) -> frozenset[str]:
    return frozenset(words(*sections))


@cache
def pattern(*sections: str) -> re.Pattern[str]:
    """Finds any of the items of some sections, which are patterns; compiled when it is first needed."""
    return re.compile(any_of(*sections))


def has(text: str, *sections: str) -> bool:
    """Whether a text holds anything of some sections, which are patterns."""
    return pattern(*sections).search(text) is not None


def any_of(*sections: str) -> str:
    """The source of such a pattern."""
    items = "|".join(words(*sections))
    return "(?:" + _REFERENCE.sub(lambda reference: any_of(reference[1]), items) + ")"


def one_of(names: Iterable[str]) -> str:
    """A pattern that finds the longest of some words that begins at a place. They are tried letter by letter, so that
    their number hardly matters."""
    rests: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        rests.setdefault(name[:1], []).append(name[1:])
    is_whole = rests.pop("", None) is not None
    branches = "|".join(re.escape(letter) + one_of(ends) for letter, ends in rests.items())
    return f"(?:{branches})" + ("?" if is_whole else "") if branches else ""


@cache
def _all_sections() -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for file in sorted(FOLDER.glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                items = sections.setdefault(line.removeprefix("== "), [])
            elif line and not line.startswith("# "):
                items += _LANGUAGE.sub("", line, count=1).split(", ")
    return sections
