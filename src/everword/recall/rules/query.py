"""What a query asks for besides its words: whose words, which times, one thing or several, advice or an account.

"Can you suggest a film for tonight?" asks for something new, but what the person prefers decides the answer. "Can you
list the order in which I brought up the parts of my garden plan?" is about the garden plan. The words of a request, and
those that frame a question ("what kind of"), stand in many other texts and say nothing about the subject, so they count
little. "What did I pay for my bike?" can only be answered from memory; "How do I pay with a card?" asks for
instructions, though it has the same words: that decides nothing alone, it says how much else is needed before something
counts as relevant (`selection.relevance`).

The names a query can mean are those of the authors of the messages at hand, so nothing is looked up in a list of names.
A question in the first person is about what the person said; one that says "you" may be about either side. A question
for several things ("which books", "how many times") is answered in several places. The rules are those of English; of a
query in another language only words for what belongs to the speaker, and for "you", are looked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from everword.text.dates import TimeSpan, spans
from everword.text.detect import DEFAULT, detect, function_words
from everword.text.names import is_misspelling
from everword.text.terms import MAX_GROUPS, query_groups, word_terms
from everword.word_lists import Patterns, WordLists, lazy_pattern, read_list

REQUEST = 0.2
"""What the words of a request count as words."""
LONGEST_REQUEST = 1_000
"""Characters of a text whose subject is told from its request: a longer text is mostly about its subject."""

_WORDS = WordLists("query_words", folder="recall/data")
_PATTERNS = Patterns("queries", "recall/data")
_REQUEST_WORD = lazy_pattern(r"\w+(?:['’-]\w+)*")
_APOSTROPHE = lazy_pattern("['’]")


def asks_for_advice(query: str) -> bool:
    """Whether a question asks what to do, to choose or to try."""
    return _PATTERNS.advice.search(query) is not None


def text_to_compare(query: str, now: datetime) -> str:
    """The text whose meaning a query is searched by: of a request for advice the words that say what it is about,
    without its times; the whole text if there are none, or if it asks for something else."""
    if len(query) > LONGEST_REQUEST or not asks_for_advice(query):
        return query
    text = query
    for span in spans(query, now):
        text = text.replace(span.text, " ")
    request_words = function_words("en").union(_WORDS.request, ("tip",))
    words = [word for word in _REQUEST_WORD.findall(text) if request_words.isdisjoint(_forms_of(word.casefold()))]
    return " ".join(words) or query


def _forms_of(word: str) -> tuple[str, str]:
    """A word as it is, and what is before its apostrophe: "I've" and "kitchen's" are of the same request as "I"."""
    return word, _APOSTROPHE.split(word)[0]


def asks_to_recount(query: str) -> bool:
    """Whether a question asks for a summary or a list of what was talked about."""
    return _PATTERNS.recount.search(query) is not None


def is_own_telling(query: str) -> bool:
    """Whether a question is about what the person who asks has said."""
    return _PATTERNS.own_telling.search(query) is not None


# -- whether it speaks of somebody's own life


def speaks_of_a_life(query: str) -> bool:
    """Whether a query is about what its speaker has, did or was told."""
    if _PATTERNS.own_life.search(_PATTERNS.request_form.sub(" ", query)) or _PATTERNS.own_life_unspaced.search(query):
        return True
    pattern = _PATTERNS.get(f"own_life_{detect(query)}")
    return pattern is not None and pattern.search(query) is not None


# -- words that say little about what a question asks for


FRAME = 0.3
"""What a word counts that frames a question,"""
LIGHT = 0.5
"""and what one counts that goes with anything."""


# -- the query as ranking needs it


NAME = 0.1
"""What the name of an author counts as a word: who is named speaks, and seldom says their own name."""
TIME = 0.3
"""What the words of a time count as words: "last month" is rarely said again about that month."""
START = 3
"""Letters in which a word and its stem are alike: most words are seen to be no misspelt names by them alone."""
FEW_WORDS = 60
"""Words of a query in which misspelt names are looked for: a longer text is no question for somebody's words."""
END = 4_000
"""Characters of each end of a long query that are read for words, names and times: to search takes a turn, and others
wait meanwhile. All of a query has its part in the vector."""

DAY = timedelta(days=1)
EARLIEST = datetime.min.replace(tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)

AuthorNames = Mapping[str, Collection[str]]
"""All names of the authors of messages, by id; the id is one of them."""

_WORD = lazy_pattern(r"\w+(?:[-.]\w+)*")
_HIRAGANA = lazy_pattern("[\u3041-\u309f]+")  # of a pair of them, mostly an ending or a particle
_NAME = lazy_pattern(r"(?<=[\w,;:] )[A-Z][a-z]\w+(?: [A-Z][a-z]\w+)*")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as ranking needs it: its groups of terms with what each counts, the authors it names, the times it
    speaks of, whether it is about the person who asks, whether several things are asked for, whether it is about the
    people of the memory (`personal`), and whether it asks for advice or for an account of what was said. What
    `asks_memory` can only be answered from memory: then an uncertain answer is better than none. It `is_english` if
    most of the memory is, too; it `is_abroad` if one of them is English and the other is not."""

    groups: tuple[tuple[str, ...], ...] = ()
    emphasis: tuple[float, ...] = ()
    authors: frozenset[str] = frozenset()
    times: tuple[TimeSpan, ...] = ()
    own: bool = False
    several: bool = False
    personal: bool = False
    advice: bool = False
    recount: bool = False
    asks_memory: bool = False
    is_english: bool = True
    is_abroad: bool = False


def searchable_part(query: str) -> str:
    """The part of a query that is read: of a long one its beginning and its end, where the question mostly is."""
    return query if len(query) <= 2 * END else f"{query[:END]} {query[-END:]}"


def _is_frame(group: tuple[str, ...], frame_terms: frozenset[str]) -> bool:
    """Whether a word only frames a question: "which", "tell me"."""
    return not frame_terms.isdisjoint(group) or _HIRAGANA.fullmatch(group[0]) is not None


def parse_query(
    query: str, groups: Sequence[tuple[str, ...]], languages: Collection[str], now: datetime
) -> ParsedQuery:
    """The query as ranking needs it, as far as its words say; `add_authors` adds the authors. `languages` are those of
    the memory, the most frequent first."""
    times = spans(query, now)
    time_groups = _term_groups((span.text for span in times), languages)
    # A group that also occurs elsewhere in the query is not only a time.
    other_text = " ".join(_text_between(query, times))
    time_groups -= _term_groups([other_text], languages) if time_groups and _WORD.search(other_text) else set()
    language = detect(query)
    advice = asks_for_advice(query)
    recount = not advice and asks_to_recount(query)
    shares = _shares_of_words("request" if advice else "recount" if recount else "", frozenset(languages))
    frame_terms = _frame_terms(language)
    emphasis = tuple(
        min(
            TIME if group in time_groups else 1.0,
            shares.get(group, 1.0),
            FRAME if _is_frame(group, frame_terms) else 1.0,
        )
        for group in groups
    )
    is_personal = speaks_of_a_life(query)
    is_english = language == DEFAULT
    memory_is_english = next(iter(languages), language) == DEFAULT
    in_first_person = is_english and bool(_PATTERNS.first_person.search(query))
    speaks_of_self = in_first_person if is_english else is_personal
    return ParsedQuery(
        tuple(groups),
        emphasis,
        times=times,
        own=(speaks_of_self and not _addresses(query, language)) or advice or (recount and is_own_telling(query)),
        several=asks_for_several(query),
        personal=is_personal,
        advice=advice,
        recount=recount,
        is_english=is_english and memory_is_english,
        is_abroad=is_english != memory_is_english,
        asks_memory=is_personal or (recount and bool(_PATTERNS.events.search(query))) or (advice and in_first_person),
    )


def _addresses(query: str, language: str) -> bool:
    """Whether a query says "you", or what an assistant did for the person who asks."""
    pattern = _PATTERNS.get(f"second_person_{language}")
    return pattern is not None and pattern.search(query) is not None


def names_in(query: str) -> list[str]:
    """The words of a query that are written as first names: with a capital, alone, and not at the beginning of a
    sentence."""
    names = [name[0] for name in _NAME.finditer(query)]
    return [name for name in names if " " not in name and name.casefold() not in function_words("en")]


def _text_between(query: str, times: Sequence[TimeSpan]) -> Iterator[str]:
    """The texts between the times of a query."""
    start = 0
    for span in times:
        yield query[start : span.at]
        start = span.at + len(span.text)
    yield query[start:]


def add_authors(
    parsed_query: ParsedQuery,
    query: str,
    names: AuthorNames,
    languages: Collection[str],
    unknown_groups: Collection[tuple[str, ...]],
) -> ParsedQuery:
    """The same query with those authors whom it names, by any of their names. A word that is in no message, of
    `unknown_groups` of terms, may be a misspelt name."""
    words_by_author = authors_in(query, names) | misspelt_authors(query, names, languages, unknown_groups)
    if not words_by_author:
        return parsed_query
    name_groups = {group for words in words_by_author.values() for group in query_groups(words, languages)}
    emphasis = tuple(
        NAME if group in name_groups else factor
        for group, factor in zip(parsed_query.groups, parsed_query.emphasis, strict=True)
    )
    return replace(parsed_query, emphasis=emphasis, authors=frozenset(words_by_author), personal=True, asks_memory=True)


def authors_in(query: str, names: AuthorNames) -> dict[str, str]:
    """The authors a query names, each with the names it has: in full or by the first of several words; a name that is
    also an everyday word, or a first name alone, only with a capital."""
    words = _WORD.findall(query)
    folded_words = [word.casefold() for word in words]
    found_names = {
        author: [name for name in author_names if _is_named(_parts_of_name(name), words, folded_words)]
        for author, author_names in names.items()
    }
    return {author: " ".join(author_names) for author, author_names in found_names.items() if author_names}


def misspelt_authors(
    query: str, names: AuthorNames, languages: Collection[str], unknown_groups: Collection[tuple[str, ...]]
) -> dict[str, str]:
    """The authors whose names a query misspells, each with the misspelt word: one that is in no message, or that has
    the stem of the name. A word that may be the name of two authors is of neither."""
    words = list(dict.fromkeys(_WORD.findall(query)))
    unknown_starts = {term[:START] for group in unknown_groups for term in group}
    misspelt_names: dict[str, str] = {}
    for word in words if len(words) <= FEW_WORDS else ():
        start = word[:START].casefold()
        authors = {
            author: name
            for author in names
            for name in names[author]
            if (start in unknown_starts or start == name[:START].casefold()) and is_misspelling(word, name)
        }
        groups = set(query_groups(word, languages)) if len(authors) == 1 else set()
        for author, name in authors.items() if groups else ():
            if groups.issubset(unknown_groups) or groups == set(query_groups(name, languages)):
                misspelt_names[author] = word
    return misspelt_names


def asks_for_several(query: str) -> bool:
    """Whether a question asks for more than one thing."""
    return bool(_PATTERNS.several.search(query.strip()))


def _is_named(parts: list[str], words: list[str], folded_words: list[str]) -> bool:
    if len("".join(parts)) < 2:
        return False
    plain = len(parts[0]) > 2 and parts[0] not in function_words("en")
    places = [at for at, word in enumerate(folded_words) if word == parts[0]]
    if len(parts) == 1:
        return any(plain or (at > 0 and words[at][0].isupper()) for at in places)
    is_whole = any(folded_words[at : at + len(parts)] == parts for at in places)
    return is_whole or (plain and any(words[at][0].isupper() for at in places))


def _parts_of_name(author: str) -> list[str]:
    return [part.casefold() for part in _WORD.findall(author)]


def _term_groups(texts: Iterable[str], languages: Collection[str]) -> set[tuple[str, ...]]:
    return {group for text in texts for group in query_groups(text, languages)}


@lru_cache(maxsize=64)
def _shares_of_words(request: str, languages: frozenset[str]) -> dict[tuple[str, ...], float]:
    """What the words of a kind of request and those that say little count, by their groups of terms; others count 1."""
    lists = {"light": LIGHT, "frame": FRAME} | ({request: REQUEST} if request else {})
    return {group: share for name, share in lists.items() for group in _term_groups(_short_texts(name), languages)}


def _frame_terms(language: str) -> frozenset[str]:
    """The terms of the words that frame a question in a language other than English."""
    words = read_list(f"frame_{language}", "query_words", "recall/data")
    return frozenset(term for word in words for term in word_terms(word, language))


def _short_texts(name: str) -> Iterator[str]:
    """The words of a list, some at a time: of a long text, not every word is searched for."""
    words = _WORDS.in_order(name)
    for start in range(0, len(words), MAX_GROUPS):
        yield " ".join(words[start : start + MAX_GROUPS])


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
