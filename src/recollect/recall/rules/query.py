"""What a query asks for besides its words: whose words, which times, one thing or several.

The names it can mean are the authors of the messages at hand, so nothing is looked up in a list. A question in the
first person is about what the person said; one that says "you" may be about either side. A question for several
things ("which books", "how many times") is answered in several places. The rules are those of English; a query in
another language is left as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.recall.rules.advice_and_account_requests import (
    RECOUNT_WORDS,
    REQUEST,
    REQUEST_WORDS,
    asks_for_advice,
    asks_to_recount,
    is_own_telling,
)
from recollect.recall.rules.personal import speaks_of_a_life
from recollect.recall.rules.question_words import FRAME, FRAME_WORDS, LIGHT, LIGHT_WORDS
from recollect.text.dates import TimeSpan, spans
from recollect.text.detect import function_words
from recollect.text.packs import lazy_pattern
from recollect.text.terms import MAX_GROUPS, query_groups

NAME = 0.1
"""What the name of an author counts as a word: who is named speaks, and seldom says their own name."""
TIME = 0.3
"""What the words of a time count as words: "last month" is rarely said again about that month."""
END = 4_000
"""Characters of each end of a long query that are read for words, names and times: to search takes a turn, and others
wait meanwhile. All of a query has its part in the vector."""

DAY = timedelta(days=1)
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

_WORD = lazy_pattern(r"\w+(?:[-.]\w+)*")
_FIRST = lazy_pattern(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b|\bi(?:'m|'ve|'d|'ll)?\b")
_SECOND = lazy_pattern(r"(?i)\b(?:you|your|yours)\b")
_NOT_PLURAL = r"(?!is\b|was\b|does\b|has\b|this\b|his\b)"
_SEVERAL = lazy_pattern(
    r"(?i)\bhow (?:many|often)\b|\bboth\b|\bin common\b|\b(?:all|each|list) (?:the|of)\b|\bwhat (?:has|have|does|do)\b"
    r"|^(?:in |on |to )?(?:what|which|whose)(?: (?:kinds?|types?|sorts?) of| are| were| different| other| new)*"
    rf"(?: {_NOT_PLURAL}\w+){{0,2}}? {_NOT_PLURAL}\w+[^\Ws]s\b(?!')"
)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as ranking needs it: its groups of terms with what each counts, the authors it names, the times it
    speaks of, whether it is about the person who asks, whether several things are asked for, whether it is about the
    people of the memory (`personal`), and whether it asks for advice or for an account of what was said."""

    groups: tuple[tuple[str, ...], ...] = ()
    emphasis: tuple[float, ...] = ()
    authors: frozenset[str] = frozenset()
    times: tuple[TimeSpan, ...] = ()
    own: bool = False
    several: bool = False
    personal: bool = False
    advice: bool = False
    recount: bool = False


def searchable_part(query: str) -> str:
    """The part of a query that is read: of a long one its beginning and its end, where the question mostly is."""
    return query if len(query) <= 2 * END else f"{query[:END]} {query[-END:]}"


def parse_query(
    query: str, groups: Sequence[tuple[str, ...]], languages: Collection[str], now: datetime
) -> ParsedQuery:
    """The query as ranking needs it, as far as its words say; `add_authors` adds the authors."""
    times = spans(query, now)
    time_groups = _term_groups((span.text for span in times), languages)
    # A group that also occurs elsewhere in the query is not only a time.
    other_text = " ".join(_text_between(query, times))
    time_groups -= _term_groups([other_text], languages) if time_groups and _WORD.search(other_text) else set()
    advice = asks_for_advice(query)
    recount = not advice and asks_to_recount(query)
    shares = _shares_of_words(REQUEST_WORDS if advice else RECOUNT_WORDS if recount else "", frozenset(languages))
    emphasis = tuple(min(TIME if group in time_groups else 1.0, shares.get(group, 1.0)) for group in groups)
    about_asker = bool(_FIRST.search(query)) and not _SECOND.search(query)
    return ParsedQuery(
        tuple(groups),
        emphasis,
        times=times,
        own=about_asker or advice or (recount and is_own_telling(query)),
        several=asks_for_several(query),
        personal=speaks_of_a_life(query),
        advice=advice,
        recount=recount,
    )


def _text_between(query: str, times: Sequence[TimeSpan]) -> Iterator[str]:
    """The texts between the times of a query."""
    start = 0
    for span in times:
        yield query[start : span.at]
        start = span.at + len(span.text)
    yield query[start:]


def add_authors(
    parsed_query: ParsedQuery, query: str, authors: Iterable[str], languages: Collection[str]
) -> ParsedQuery:
    """The same query with those of these authors whom it names."""
    named_authors = authors_in(query, authors)
    if not named_authors:
        return parsed_query
    names = {group for name in named_authors for group in _groups_of_name(name, tuple(languages))}
    emphasis = tuple(
        NAME if group in names else factor
        for group, factor in zip(parsed_query.groups, parsed_query.emphasis, strict=True)
    )
    return replace(parsed_query, emphasis=emphasis, authors=named_authors, personal=True)


def authors_in(query: str, authors: Iterable[str]) -> frozenset[str]:
    """The authors a query names, in full or by the first of several names; a name that is also an everyday word, or
    a first name alone, only with a capital."""
    words = _WORD.findall(query)
    folded_words = [word.casefold() for word in words]
    return frozenset(author for author in set(authors) if _is_named(_parts_of_name(author), words, folded_words))


def asks_for_several(query: str) -> bool:
    """Whether a question asks for more than one thing."""
    return bool(_SEVERAL.search(query.strip()))


def _is_named(parts: list[str], words: list[str], folded_words: list[str]) -> bool:
    if not parts or (len(parts) == 1 and len(parts[0]) < 2):
        return False
    plain = len(parts[0]) > 2 and parts[0] not in _everyday_words()
    for at, word in enumerate(folded_words):
        if word != parts[0]:
            continue
        capital = at > 0 and words[at][0].isupper()
        if folded_words[at : at + len(parts)] == parts and (plain or capital or len(parts) > 1):
            return True
        if len(parts) > 1 and plain and words[at][0].isupper():
            return True
    return False


@lru_cache(maxsize=1_024)  # a search asks for the same few authors each time
def _parts_of_name(author: str) -> list[str]:
    return [part.casefold() for part in _WORD.findall(author)]


@lru_cache(maxsize=1_024)
def _groups_of_name(author: str, languages: tuple[str, ...]) -> list[tuple[str, ...]]:
    return query_groups(author, languages)


def _everyday_words() -> Collection[str]:
    return function_words("en")


def _term_groups(texts: Iterable[str], languages: Collection[str]) -> set[tuple[str, ...]]:
    return {group for text in texts for group in query_groups(text, languages)}


@lru_cache(maxsize=64)
def _shares_of_words(request_words: str, languages: frozenset[str]) -> dict[tuple[str, ...], float]:
    """What the words of requests and those that say little count, by their groups of terms; others count 1."""
    lists = ((LIGHT_WORDS, LIGHT), (FRAME_WORDS, FRAME), (request_words, REQUEST))
    return {group: share for words, share in lists for group in _term_groups(_short_texts(words), languages)}


def _short_texts(words: str) -> Iterator[str]:
    """Some words at a time: of a long text, not every word is searched for."""
    all_words = words.split()
    for start in range(0, len(all_words), MAX_GROUPS):
        yield " ".join(all_words[start : start + MAX_GROUPS])


def time_around(span: TimeSpan) -> tuple[datetime, datetime]:
    """From when to when something is near a span: its width before and after it, at least a day."""
    margin = max(span.end - span.start, DAY)
    return max(span.start, EARLIEST + margin) - margin, min(span.end, LATEST - margin) + margin


def closeness(times: Sequence[TimeSpan], moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """How near moments (in seconds since 1970) are to the nearest of some spans: 1 inside, half of it for each width
    of the span they are away from it. A span of less than a day counts as one."""
    best = np.zeros(len(moments))
    for span in times:
        start = span.start.timestamp()
        end = span.end.timestamp()
        away = np.maximum(np.maximum(start - moments, moments - end), 0.0)
        best = np.maximum(best, 0.5 ** (away / max(end - start, 86_400.0)))
    return best
