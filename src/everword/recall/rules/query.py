"""What a query asks for besides its words: whose words, which times, one thing or several, advice or an account.

"Can you suggest a film for tonight?" asks for something new, but what the person prefers decides the answer. "Can you
list the order in which I brought up the parts of my garden plan?" is about the garden plan. The words of a request, and
those that frame a question ("what kind of"), stand in many other texts and say nothing about the subject, so they count
little. "What did I pay for my bike?" can only be answered from memory; "How do I pay with a card?" asks for
instructions, though it has the same words: that decides nothing alone, it says how much else is needed before something
counts as relevant (`selection.relevance`).

The names a query can mean are the authors of the messages at hand, so nothing is looked up in a list. A question in the
first person is about what the person said; one that says "you" may be about either side. A question for several
things ("which books", "how many times") is answered in several places. The rules are those of English; of a query in
another language only words for what belongs to the speaker are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from everword.text.dates import TimeSpan, spans
from everword.text.detect import detect, function_words
from everword.text.terms import MAX_GROUPS, query_groups
from everword.word_lists import lazy_pattern

REQUEST = 0.2
"""What the words of a request count as words."""
REQUEST_WORDS = (
    "suggest suggestions recommend recommendations advise advice tips ideas help find interesting options think"
    " planning trying thinking looking lately recently"
)
"""The words with which advice is asked for."""
RECOUNT_WORDS = (
    "summary summarize summarise comprehensive overview recap list order brought bring different aspects throughout"
    " across conversations discussions chats mention mentioned only items walk discussed including key give time over"
    " two three four five six seven eight nine ten"
)
"""The words with which an account is asked for."""
LONGEST_REQUEST = 1_000
"""Characters of a text whose subject is told from its request: a longer text is mostly about its subject."""

_ADVICE = lazy_pattern(
    r"\b(?:can|could|would|will|do) you (?:please )?(?:help me )?(?:suggest|recommend|advise)\b"
    r"|\b(?:give|share|offer|have)(?: me)? (?:some|any|a few) (?:\w+ )?"
    r"(?:tips|ideas|advice|suggestions|recommendations)\b"
    r"|\b(?:any|some) (?:\w+ ){0,2}(?:tips|advice|suggestions?|recommendations?|ideas)\b"
    r"|\b(?:what|how|which|where) (?:\w+ )?(?:should|can) (?:i|we)\b|\bwhat are some (?:\w+ )?(?:ways|ideas|options)\b"
    r"|\bdo you (?:think|have any)\b"
    r"|\bhelp me (?:choose|decide|design|find|organi[sz]e|pick|plan|set|write)\b",
    re.IGNORECASE,
)
_RECOUNT = lazy_pattern(
    r"\bsummar(?:y|i[sz]e)\b|\b(?:recap|overview) of\b|\bthe order (?:in which|that|of)\b|\bin what order\b"
    r"|\bwalk me through (?:the|what|how|everything)\b|\blist (?:the order|all the|everything)\b",
    re.IGNORECASE,
)
_REQUEST_WORD = lazy_pattern(r"\w+(?:['’-]\w+)*")
_APOSTROPHE = lazy_pattern("['’]")
_OWN_TELLING = lazy_pattern(
    r"\bi (?:\w+ )?(?:brought|mentioned|raised|said|told|asked|talked|described|discussed)\b", re.IGNORECASE
)


def asks_for_advice(query: str) -> bool:
    """Whether a question asks what to do, to choose or to try."""
    return _ADVICE.search(query) is not None


def text_to_compare(query: str, now: datetime) -> str:
    """The text whose meaning a query is searched by: of a request for advice the words that say what it is about,
    without its times; the whole text if there are none, or if it asks for something else."""
    if len(query) > LONGEST_REQUEST or not asks_for_advice(query):
        return query
    text = query
    for span in spans(query, now):
        text = text.replace(span.text, " ")
    request_words = function_words("en").union(REQUEST_WORDS.split(), ("tip",))
    words = [word for word in _REQUEST_WORD.findall(text) if request_words.isdisjoint(_forms_of(word.casefold()))]
    return " ".join(words) or query


def _forms_of(word: str) -> tuple[str, str]:
    """A word as it is, and what is before its apostrophe: "I've" and "kitchen's" are of the same request as "I"."""
    return word, _APOSTROPHE.split(word)[0]


def asks_to_recount(query: str) -> bool:
    """Whether a question asks for a summary or a list of what was talked about."""
    return _RECOUNT.search(query) is not None


def is_own_telling(query: str) -> bool:
    """Whether a question is about what the person who asks has said."""
    return _OWN_TELLING.search(query) is not None


# -- whether it speaks of somebody's own life


# "How do I …?" and "Can I …?" ask for instructions, "I need …" and "I'd like …" for help: not about the speaker's life.
_REQUEST_FORM = lazy_pattern(
    r"(?i)\b(?:how|why) (?:do|does|can|could|should|would|must|might) (?:i|we|you)\b"
    r"|\b(?:can|could|should|may|might|shall|must|would|will) (?:i|we)\b"
    r"|\b(?:i|we)(?: just| really| only)? (?:need|want|wish|would|will|can|can['’]t|cannot|could|should|may|might)\b"
    r"|\bi['’](?:d|ll) (?:like|love|prefer|want|need)\b"
)
_OWN_LIFE = lazy_pattern(
    r"\b(?i:my|mine|myself|our|ours|ourselves)\b"
    r"|\b(?i:did|have|had|has|was|were|am) (?:[Ii]|we)\b"
    r"|\b(?i:how (?:many|much|often|long|old|far)|what|which|who|whom|whose|where|when)\b[^.?!]{0,80}? do [Ii]\b"
    r"|\bI(?:['’](?:ve|d|m))? [a-z]"
    r"|\bi['’](?:ve|d|m)\b|\bi (?:am|was|have|had|did|got|went|said|told|asked|bought|made|like|love|live|work)\b"
    r"|\b(?i:we) (?:were|had|did|met|went|said|talked|spoke|discussed|decided|agreed|planned|chose)\b"
    r"|\b(?i:remember|remind|earlier|previous|previously|last time)\b"
    r"|\b(?i:you)(?: \w+)? (?:told|said|mentioned|recommended|suggested|gave|wrote|made|listed|provided|described)\b"
)
_POSSESSIVES = {
    "de": r"mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|(?:hab|habe|hatte|war|bin) ich|ich (?:hab|habe|hatte|war|bin)",
    "fr": r"mon|ma|mes|notre|nos|ai-je|j['’](?:ai|avais|étais)",
    "es": r"mi|mis|mío|mía|míos|mías|nuestr[oa]s?|(?:yo )?(?:he|había|tengo|estuve|fui)",
    "it": r"mio|mia|miei|mie|nostr[oaie]|ho|avevo|sono (?:stato|stata|andato|andata)",
    "pt": r"meus?|minhas?|noss[oa]s?|eu (?:tenho|fui|estava|tinha)",
    "nl": r"mijn|ons|onze|(?:heb|had|was|ben) ik|ik (?:heb|had|was|ben)",
    "sv": r"min|mitt|mina|vår|vårt|våra|(?:har|hade|var) jag|jag (?:har|hade|var)",
    "pl": r"mój|moja|moje|moi|moich|mojego|mojej|moją|nasz\w*",
    "ru": r"мой|моя|мо[её]|мои|мою|моего|моей|моих|моём|наш\w*|у меня",
    "uk": r"мій|моя|моє|мої|мою|мого|моєї|моїх|наш\w*|у мене",
    "tr": r"benim|bizim",
    "id": r"saya|aku|kami",
}
_UNSPACED = lazy_pattern("我的|我们|我們|私の|僕の|俺の|私は|나의|내가|제가|우리")


def speaks_of_a_life(query: str) -> bool:
    """Whether a query is about what its speaker has, did or was told."""
    if _OWN_LIFE.search(_REQUEST_FORM.sub(" ", query)) or _UNSPACED.search(query):
        return True
    words = _POSSESSIVES.get(detect(query))
    return bool(words) and bool(re.search(rf"(?<![\w'’-])(?:{words})(?![\w'’-])", query, re.IGNORECASE))


# -- words that say little about what a question asks for


FRAME = 0.3
"""What a word counts that frames a question,"""
LIGHT = 0.5
"""and what one counts that goes with anything."""
FRAME_WORDS = (
    "kind kinds type types sort sorts different various certain particular specific example item items thing things"
    " according conversation conversations chat chats mention mentioned discuss discussed talk talked think thinking"
    " wonder wondering describe described"
)
LIGHT_WORDS = (
    "come came find found get getting got give gave go going gone went happen happened like say said see saw take took"
    " tell told want wanted amount current currently previous previously total"
)


# -- the query as ranking needs it


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
    names = {group for name in named_authors for group in query_groups(name, languages)}
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
    plain = len(parts[0]) > 2 and parts[0] not in function_words("en")
    for at, word in enumerate(folded_words):
        if word != parts[0]:
            continue
        capital = at > 0 and words[at][0].isupper()
        if folded_words[at : at + len(parts)] == parts and (plain or capital or len(parts) > 1):
            return True
        if len(parts) > 1 and plain and words[at][0].isupper():
            return True
    return False


def _parts_of_name(author: str) -> list[str]:
    return [part.casefold() for part in _WORD.findall(author)]


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
