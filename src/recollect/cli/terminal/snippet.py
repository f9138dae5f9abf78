"""The part of a message to show for a query: around the matching words, with the words as the index has them.

So the query "databases" marks "database" in a message, and a pair of ideographs is marked inside a longer run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recollect.cli.terminal.options import printable

if TYPE_CHECKING:
    from rich.text import Text

LENGTH = 240  # characters shown of a message
BEFORE = 60  # of them before the first match
MAX_SEARCHED = 20_000  # characters of a message that are searched
WORD = re.compile(r"\w+(?:['’.\-]\w+)*[+#]*")
SPACE = re.compile(r"\s+")


def build_snippet(content: str, query: str) -> Text:
    """The content on one line, cut around its first match, with the matches marked."""
    from rich.text import Text

    line, spans = cut_snippet(content, query)
    excerpt = Text(line)
    for first, last in spans:
        excerpt.stylize("bold yellow", first, last)
    return excerpt


def cut_snippet(content: str, query: str) -> tuple[str, list[tuple[int, int]]]:
    """The content on one line, cut around its first match; and where the matches are in it."""
    line = SPACE.sub(" ", printable(content[:MAX_SEARCHED])).strip()
    spans = find_matches(line, query)
    start = 0
    if spans and spans[0][1] > LENGTH:
        start = max(line.rfind(" ", 0, spans[0][0] - BEFORE) + 1, spans[0][0] - 2 * BEFORE)
    end = start + LENGTH
    if len(line) > end:
        space = line.rfind(" ", start + LENGTH // 2, end)
        end = space if space > 0 else end
    before = "… " if start else ""
    after = " …" if len(line) > end else ""
    offset = len(before) - start
    shown_spans = [(first + offset, last + offset) for first, last in spans if start <= first and last <= end]
    return before + line[start:end] + after, shown_spans


def find_matches(line: str, query: str) -> list[tuple[int, int]]:
    """The start and end of each word in a line that matches the query."""
    from recollect.text.terms import analyse, query_groups

    language = analyse(line).language
    query_terms = {term for group in query_groups(query, [language]) for term in group}
    spans: list[tuple[int, int]] = []
    for word in WORD.finditer(line):
        terms = set(analyse(word[0], language).terms)
        hits = terms & query_terms
        # A run without spaces is many terms: mark those that match, and not the whole sentence.
        term_spans = [(start, start + len(term)) for term in hits if (start := word[0].lower().find(term)) >= 0]
        if len(terms) > 1 and term_spans:
            spans += [(word.start() + first, word.start() + last) for first, last in term_spans]
        elif hits:
            spans.append(word.span())
    return sorted(spans)
