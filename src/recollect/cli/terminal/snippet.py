"""The part of a message worth showing for a query: where its words stand, as the index sees words.

So "databases" is marked in a message that says "database", and a pair of ideographs inside a longer run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.cli.terminal.options import printable

if TYPE_CHECKING:
    from rich.text import Text

LENGTH = 240  # characters shown of a message
BEFORE = 60  # of them before the first match
LOOKED_AT = 20_000  # characters of a message looked at
WORD = re.compile(r"\w+(?:['’.\-]\w+)*[+#]*")
SPACE = re.compile(r"\s+")


def snippet(content: str, query: str) -> Text:
    """The content on one line, cut around its first match, with the matches marked."""
    from rich.text import Text

    line = SPACE.sub(" ", printable(content[:LOOKED_AT])).strip()
    found = matches(line, query)
    start = 0
    if found and found[0][1] > LENGTH:
        start = max(line.rfind(" ", 0, found[0][0] - BEFORE) + 1, found[0][0] - 2 * BEFORE)
    end = start + LENGTH
    if len(line) > end:
        space = line.rfind(" ", start + LENGTH // 2, end)
        end = space if space > 0 else end
    shown = Text("… " if start else "")
    offset = len(shown) - start
    shown.append(line[start:end])
    if len(line) > end:
        shown.append(" …")
    for first, last in found:
        if start <= first and last <= end:
            shown.stylize("bold yellow", first + offset, last + offset)
    return shown


def matches(line: str, query: str) -> list[tuple[int, int]]:
    """Where in a line words of the query stand."""
    from recollect.language.terms import analyse, query_groups

    language = analyse(line).language
    wanted = {term for group in query_groups(query, [language]) for term in group}
    found: list[tuple[int, int]] = []
    for word in WORD.finditer(line):
        terms = set(analyse(word[0], language).terms)
        hits = terms & wanted
        # A run without spaces is many terms: mark those that match, and not the whole sentence.
        inside = [(at, at + len(term)) for term in hits if (at := word[0].lower().find(term)) >= 0]
        if len(terms) > 1 and inside:
            found += [(word.start() + first, word.start() + last) for first, last in inside]
        elif hits:
            found.append(word.span())
    return sorted(found)
