"""What a message states and asks, found by its wording: who somebody is, what they like, what was decided or wanted.

Each finder looks for one sort of statement and gives it a weight. A statement is never reversed: "I don't like X" is a
dislike, and what is doubted or asked is not stated. Most finders know English; the sentences that people
introduce themselves with are known in a few other languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.text.filler import is_filler, trim
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.names_times_amounts import AMOUNT, WHEN
from recollect.text.sentences import Sentence, clauses
from recollect.text.word_runs import words_before
from recollect.text.word_weights import is_content, is_ordinary, words

MAX_VALUE = 8
"""Words of one value."""


@dataclass(frozen=True, slots=True)
class KeyValue:
    """A pair `key = value`, and how much it tells about the message."""

    key: str
    value: str
    weight: float


def statement_pairs(sentences: Sequence[Sentence], language: str) -> Iterator[KeyValue]:
    """What a message states, as pairs, sentence by sentence."""
    is_list = sum(1 for sentence in sentences if sentence.lead) > 2
    for number, sentence in enumerate(sentences):
        if sentence.kind not in ("prose", "item") or sentence.is_question or is_filler(sentence):
            continue
        # What comes first is mostly what the message is about.
        early = 0.5 if number < 3 else 0.0
        pairs = [
            *_line_pairs(sentence, is_list),
            *(_english_pairs(sentence.text) if language == "en" else _other_language_pairs(sentence.text)),
        ]
        for pair in pairs:
            yield KeyValue(pair.key, pair.value, pair.weight + early)


# A finder is a trigger and the key it gives; the value is the phrase after it.

_I = r"\b(?:i|we)"
_HAVE = r"(?:['’]ve|\shave)?"
_AM = r"\b(?:i['’]?m|i\sam|we['’]re|we\sare|i['’]ve\sbeen|i\shave\sbeen|we['’]ve\sbeen|been)"
_SOFT = r"(?:\s(?:also|just|still|always|both|all|\w+ly))*"
_NOT = (
    r"\s(?:do\snot|don['’]?t|did\snot|didn['’]t|never|can['’]?t|cannot|can\snot|won['’]t|will\snot|haven['’]t"
    r"|wouldn['’]t)"
)
_WORK = rf"(?:{_I}{_SOFT}\swork|{_AM}{_SOFT}\sworking)"
_FAN = r"(?:a\s)?(?:big\s|huge\s)?fan\sof"
_DONE = (
    r"(?:went|bought|got|made|took|met|saw|won|lost|found|built|ran|wrote|read|taught|gave|began|left|sold|ate|drove|flew"
    r"|had|\w{3,}ed)"
)
_DONE_ELSEWHERE = (
    r"(?:wanted|needed|used|ended|liked|loved|enjoyed|decided|agreed|hoped|wished|moved|relocated|picked|opted|settled)"
)
_BUSY_ELSEWHERE = (
    r"(?:going|planning|hoping|looking|trying\sto|thinking|working|feeling|wondering|being|considering|having|getting)"
)
_WILL_ELSEWHERE = (
    r"(?:\w+ly\s|also\s)*(?:be|let|keep\sthat|take\sa\slook|have|go\swith|use|stick|switch|settle|try\sto|make\ssure)"
)
_LIKED_ELSEWHERE = r"(?:to\s(?:know|see|hear)|how|that|the\sidea|your|it)"
_AGREED = r"(?:(?!not|never)\w+\s)?(?:decided|agreed|chosen)"
_LETS = r"\b(?:let['’]?s|(?:i|we)['’]ll|(?:i|we)\swill)"
_CHOSE = r"(?:settled\son|opted\s(?:for|to)|went\swith|chose|picked|ended\sup\s(?:choosing|picking|with))"

_TRIGGERS: tuple[tuple[str, float, str], ...] = (
    ("allergic to", 11, r"\ballergic\sto\s"),
    ("dislikes", 9, rf"{_I}{_SOFT}{_NOT}{_SOFT}\s(?:like|love|enjoy|care\sfor)\s"),
    ("dislikes", 9, rf"{_I}{_SOFT}\s(?:hate|dislike|detest|loathe|can['’]?t\sstand)\s"),
    ("dislikes", 9, rf"{_AM}{_SOFT}\snot\s(?:really\s)?(?:{_FAN}|into|keen\son)\s"),
    ("does not", 7.5, rf"{_I}{_SOFT}{_NOT}{_SOFT}\s(?=(?:eat|drink|use|have|own|work|want|need|speak|drive|smoke)\b)"),
    ("prefers", 9, rf"{_I}(?:['’]d|\swould)?{_SOFT}\s(?:prefer|rather\shave)\s(?:to\s)?"),
    ("likes", 8.5, rf"{_I}{_SOFT}\s(?:like|love|enjoy|adore)\s(?!{_LIKED_ELSEWHERE}\b)"),
    ("likes", 8, rf"{_AM}{_SOFT}\s(?:{_FAN}|into|fond\sof|passionate\sabout)\s"),
    ("favourite", 8.5, r"\bmy\sfavou?rites?\s(?:is|are)\s"),
    ("lives in", 10, rf"(?:{_I}{_SOFT}\s(?:live|reside)|{_AM}{_SOFT}\s(?:living|based))\sin\s"),
    ("from", 8, rf"{_AM}{_SOFT}\sfrom\s"),
    ("moved to", 8.5, rf"{_I}{_HAVE}{_SOFT}\s(?:moved|relocated)\s(?:\w+\s)?to\s"),
    ("job", 9, rf"{_WORK}\sas\s(?:an?\s|the\s)?"),
    ("works at", 8.5, rf"{_WORK}\s(?:at|for)\s"),
    ("works in", 7, rf"{_WORK}\sin\s"),
    ("born", 8.5, r"\b(?:was|were)\sborn\s(?:in|on)\s"),
    ("decision", 9, rf"(?:\b(?:i|we|they){_HAVE}|\bhas|\bit\swas)\s{_AGREED}\s(?:to|on|that)\s"),
    ("decision", 9, rf"\b(?:i|we|they){_HAVE}{_SOFT}\s(?:decided|agreed)\s(?=not\b|against\b)"),
    ("decision", 9, rf"{_I}{_HAVE}{_SOFT}\s{_CHOSE}\s"),
    ("decision", 9, rf"{_LETS}\s(?:go\swith|stick\s(?:with|to)|use|switch\sto|settle\son)\s"),
    ("decision", 8.5, r"\bdecision\s(?:is|was)\s(?:to\s)?"),
    ("deadline", 8.5, r"\b(?:deadline|due\sdate)\s(?:is|was)?\s?(?:on|by)?\s?|\bis\sdue\s(?:on|by)?\s?"),
    ("plan", 7.5, rf"(?:{_I}{_SOFT}\s(?:plan|intend|hope)|{_AM}{_SOFT}\s(?:planning|hoping|going|about))\s(?:to|on)\s"),
    ("plan", 7, rf"{_AM}{_SOFT}\s(?:planning|scheduling|preparing\sfor)\s(?!to\b|on\b)"),
    ("plan", 6.5, rf"\b(?:i|we)(?:['’]ll|\swill)\s(?!{_WILL_ELSEWHERE}\b)"),
    ("considering", 7, rf"{_AM}{_SOFT}\s(?:considering|thinking\s(?:of|about))\s"),
    ("wants", 7, rf"{_I}(?:['’]d|\swould)?{_SOFT}\s(?:want|like|wish|love)\sto\s(?!know\b)"),
    ("needs", 7, rf"{_I}{_SOFT}\sneed\s(?:to\s)?(?!(?:say|admit|know)\b)"),
    ("must", 6.5, r"\b(?:must|has\sto|have\sto)\s(?!(?:be\s(?:so|very)|have|say|admit)\b)"),
    ("looking for", 7.5, rf"{_AM}{_SOFT}\s(?:looking|searching)\s(?:for|to|into)\s"),
    ("trying to", 7, rf"{_AM}{_SOFT}\strying\sto\s"),
    ("interested in", 7, rf"{_AM}{_SOFT}\s(?:interested\sin|curious\sabout)\s"),
    ("working on", 7.5, rf"{_AM}{_SOFT}\s(?:working\son|building|writing|developing)\s"),
    ("learning", 7.5, rf"{_AM}{_SOFT}\s(?:learning|studying)\s(?:to\s|about\s|how\sto\s)?"),
    ("reading", 7, rf"{_AM}{_SOFT}\sreading\s"),
    ("using", 7, rf"{_AM}{_SOFT}\susing\s"),
    ("doing", 5.5, rf"{_AM}{_SOFT}\s(?=\w+ing\s)(?!{_BUSY_ELSEWHERE}\b)"),
    ("did", 6, rf"{_I}{_HAVE}{_SOFT}\s(?={_DONE}\s)(?!{_DONE_ELSEWHERE}\b)"),
    ("has", 6.5, rf"{_I}(?:['’]ve\sgot|{_SOFT}\s(?:have|own))\s(?=(?:an?|two|three|four|five|six|\d+|my|some)\s)"),
    ("feels", 5, rf"{_AM}{_SOFT}\s(?=(?:so\s)?(?:proud|worried|excited|nervous|stressed|sad|tired|afraid|grateful)\b)"),
    ("suggests", 6, rf"\bi(?:['’]d|\swould)?{_SOFT}\s(?:recommend|suggest|advise)\s(?:that\s)?(?:you\s)?(?:to\s)?"),
    ("because", 4.5, r"\b(?:because|due\sto|thanks\sto)\s(?:of\s)?"),
)  # fmt: skip
_FINDERS = tuple((key, weight, lazy_pattern(pattern, re.IGNORECASE)) for key, weight, pattern in _TRIGGERS)
_FAVOURITE = lazy_pattern(
    r"\bmy\s(?:all-time\s)?(favou?rite\s[\w\s]{2,30}?)\s(?:is|are|was|has\sto\sbe)\s", re.IGNORECASE
)
_DOUBT = lazy_pattern(
    r"\b(?:don['’]?t\s(?:think|believe)|doubt|not\ssure|if|whether|would|(?:wouldn|can|won)['’]?t\ssay)\s(?:that\s|if\s)?$",
    re.IGNORECASE,
)

_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}"
_RELATION = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|parents|sister|brother|son"
    r"|daughter|kids?|children|baby|aunt|uncle|cousin|niece|nephew|grandmother|grandma|grandfather|grandpa|boss|manager"
    r"|colleague|coworker|teacher|doctor|therapist|neighbou?r|roommate|friend|dog|cat|puppy|kitten|pet|horse|car|company"
    r"|team|landlord|coach)"
)
_CALLED = lazy_pattern(
    rf"\b(?:[Mm]y|[Oo]ur)\s(?:(?:older|younger|little|big|best|twin|old|new|late|eldest)\s)?({_RELATION})"
    rf"(?:['’]s\sname\sis|,?\s(?:is\s|was\s)?(?:named|called)|,|\sis)?\s({_NAME})"
)
_IS_MY = lazy_pattern(rf"\b({_NAME})(?:,|\sis|\swas)\smy\s(?:\w+\s)?({_RELATION})\b")
_HAIL = r"(?:^|[Hh]i[,!]?\s|[Hh]ello[,!]?\s|[Hh]ey[,!]?\s)"
_MY_NAME = lazy_pattern(
    rf"\b(?:[Mm]y\s(?:full\s|first\s)?name(?:['’]s|\sis)|[Cc]all\sme|I\s?(?:['’]m|\sam)\scalled)\s({_NAME}|\w+)"
    rf"|{_HAIL}(?:I['’]m|I\sam|[Tt]his\sis)\s({_NAME})(?=[,.!]|\sand\b|\sfrom\b|$)"
)
_AGE = lazy_pattern(r"\b(?:i['’]?m|i\sam|turned|turning)\s(\d{1,2})(?=\syears|\sand\b|[,.!]|$)", re.IGNORECASE)
_I_AM_A = lazy_pattern(
    r"\bI(?:['’]m|\sam)\s(?:also\s)?an?\s(?!(?:bit|little|lot|big\sfan|huge\sfan|fan)\b)", re.IGNORECASE
)
_THEIR_VERBS = {
    "loves": "likes", "likes": "likes", "enjoys": "likes", "prefers": "prefers", "hates": "dislikes",
    "dislikes": "dislikes", "doesn't like": "dislikes", "works as": "works as", "lives in": "lives in",
}  # fmt: skip
_THEIRS = lazy_pattern(
    rf"\b(?:(?:[Mm]y|[Oo]ur)\s({_RELATION})|({_NAME}))\s(?:\w+ly\s)?"
    r"(loves|likes|enjoys|prefers|hates|dislikes|doesn['’]t\slike|works\sas|lives\sin)\s"
)
_TRIP = lazy_pattern(
    r"\b(?:trip|travel(?:l?ing)?|fly(?:ing)?|flight|vacation|holiday|move|moving|going|heading)\s(?:to|in)\s"
    rf"((?:the\s)?{_NAME})"
)
_OWNER = lazy_pattern(r"['’]s$")


def _english_pairs(text: str) -> Iterator[KeyValue]:
    for key, weight, pattern in _FINDERS:
        for trigger in pattern.finditer(text):
            if not _DOUBT.search(words_before(text, trigger.start())):
                yield KeyValue(key, leading_phrase(text[trigger.end() :]), weight)
    for favourite in _FAVOURITE.finditer(text):
        yield KeyValue(favourite[1], leading_phrase(text[favourite.end() :]), 9.5)
    yield from _people_pairs(text)
    yield from _equation_pairs(text)


def _people_pairs(text: str) -> Iterator[KeyValue]:
    """Names, relations, ages and jobs of people, and where they go."""
    for match in _MY_NAME.finditer(text):
        name = match[1] or match[2]
        if is_content(name.split()[0], "en") and not is_ordinary(name.split()[0]):
            yield KeyValue("name", name, 13)
    for match in _CALLED.finditer(text):
        yield KeyValue(match[1], _OWNER.sub("", match[2]), 9.5)
    for match in _IS_MY.finditer(text):
        yield KeyValue(match[2], _OWNER.sub("", match[1]), 9.5)
    for match in _AGE.finditer(text):
        yield KeyValue("age", match[1], 9)
    for match in _I_AM_A.finditer(text):
        yield KeyValue("is a", leading_phrase(text[match.end() :], 4), 8)
    for match in _THEIRS.finditer(text):
        verb = _THEIR_VERBS[match[3].replace("’", "'")]
        yield KeyValue(f"{match[1] or match[2]} {verb}", leading_phrase(text[match.end() :]), 8)
    for match in _TRIP.finditer(text):
        yield KeyValue("trip", _OWNER.sub("", match[1]), 7.5)


# Statements that are pairs already: "Price: $30", "The meeting is on Friday", "my blood pressure is 150".

_SUBJECT = lazy_pattern(
    r"""^(?:(the|my|our|your|his|her|their|this)\s)?((?:[\w'’&/-]+\s){0,4}?[\w'’&/-]+)\s
        (?:will\s(?:now\s)?be|is|are|was|were|costs?|starts?|has\sbeen)\s
        (?:(?:cut|raised|set|moved|changed|increased|reduced|postponed|planned|scheduled|due|now|currently|usually
            |to|for|on|until|by|from|at|in)\s)*(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_MINE = lazy_pattern(
    r"(?<!^)\b(?:[Mm]y|[Oo]ur)\s((?:[\w'’-]+\s){0,2}?[\w'’-]+)\s(?:is|are|was|were)\s(?=[^.!?]{0,30}[\dA-Z])"
)
_JOINT = lazy_pattern(r"^(?:and|but|so|or|no,|yes,)\s", re.IGNORECASE)
_PRONOUNS = "it this that there here what which who these those he she they i we you everything one all some"
_NO_SUBJECT = frozenset(_PRONOUNS.split())
_MOST_CLAUSES = 6
_NARROW = 80  # characters of a line that is a pair


def _line_pairs(sentence: Sentence, is_list: bool) -> Iterator[KeyValue]:
    """A line that is a pair already. In a list it weighs less: the titles of the other items count as much."""
    lead = f"{sentence.lead}: "
    if sentence.lead and sentence.text.startswith(lead) and len(sentence.text) < _NARROW:
        value = leading_phrase(sentence.text[len(lead) :], 6)
        if _is_concrete(value):
            yield KeyValue(sentence.lead, value, 5 if is_list else 7)


def _equation_pairs(text: str) -> Iterator[KeyValue]:
    text = trim(text)
    for clause in clauses(text)[:_MOST_CLAUSES]:
        yield from _parse_equation(_JOINT.sub("", clause))
    for mine in _MINE.finditer(text):
        yield KeyValue(mine[1], leading_phrase(text[mine.end() :], 5), 7.5)


def _parse_equation(clause: str) -> Iterator[KeyValue]:
    match = _SUBJECT.match(clause)
    if match is None:
        return
    first = match[2].split()[0].casefold().replace("’", "'")
    value = leading_phrase(clause[match.end() :], 6)
    concrete = _is_concrete(value)
    if not value or not (match[1] or concrete):
        return
    if first in _NO_SUBJECT or "'" in first or is_ordinary(first) or (first.endswith("ing") and not match[1]):
        return
    ordinary = all(is_ordinary(word) or not is_content(word, "en") for word in words(value))
    yield KeyValue(match[2], value, 7.5 if concrete else 2.5 if ordinary or len(value.split()) > 5 else 5)


def _is_concrete(value: str) -> bool:
    return bool(WHEN.search(value) or AMOUNT.search(value) or re.search(r"\d|(?<!^)\b[A-Z]", value))


# Other languages

_AND_ELSEWHERE = lazy_pattern(
    r",|\s(?:y|und|et|e|i|och|og|a|и|та|pero|aber|mais|ma|mas|maar|но|als|como|con|mit|avec)\s"
)
_ELSEWHERE = tuple(
    (key, lazy_pattern(rf"(?:^|(?<=\s))(?:{pattern})\s", re.IGNORECASE))
    for key, pattern in (
        ("name", r"me\sllamo|mi\snombre\ses|ich\sheiße|mein\sname\sist|je\sm['’]appelle|mi\schiamo|meu\snome\sé"),
        ("name", r"me\schamo|ik\sheet|jag\sheter|jeg\shedder|nazywam\ssię|jmenuji\sse|меня\sзовут|мене\sзвати"),
        ("name", r"mă\snumesc|nama\ssaya"),
        ("lives in", r"vivo\sen|ich\s(?:wohne|lebe)\sin|j['’]habite\s(?:à|en|au)|abito\sa|vivo\sa|moro\sem"),
        ("lives in", r"ik\swoon\sin|jag\sbor\si|mieszkam\sw|я\sживу\sв"),
        ("dislikes", r"no\sme\sgustan?|odio|ich\s(?:mag|hasse)\skeine?n?|ich\shasse|je\sn['’]aime\spas|je\sdéteste"),
        ("dislikes", r"non\smi\spiac(?:e|ciono)|não\sgosto\sde|ik\shou\sniet\svan|мне\sне\sнравится|я\sне\sлюблю"),
        ("likes", r"(?<!no\s)me\s(?:gustan?|encantan?)|ich\s(?:mag|liebe)(?!\skein)|j['’](?:aime(?!\spas)|adore)"),
        ("likes", r"(?<!non\s)mi\spiac(?:e|ciono)|(?<!não\s)gosto\sde|ik\shou\svan|мне\sнравится|я\sлюблю"),
    )
)  # fmt: skip
_UNSPACED_NAME = lazy_pattern(
    r"(?:我叫|我的名字(?:是|叫)|私の名前は|わたしの名前は|제\s?이름은)\s?([^\s，。、,.!！]{1,8}?)"
    r"(?=です|입니다|이에요|예요|[，。、,.!！\s]|$)"
)


def _other_language_pairs(text: str) -> Iterator[KeyValue]:
    for key, pattern in _ELSEWHERE:
        for trigger in pattern.finditer(text):
            end = _AND_ELSEWHERE.search(text, trigger.end())
            rest = text[trigger.end() : end.start() if end else None]
            yield KeyValue(key, leading_phrase(rest, 3), 13 if key == "name" else 9)
    for name in _UNSPACED_NAME.finditer(text):
        yield KeyValue("name", name[1], 13)


# The phrase a statement is about

_STOP = lazy_pattern(
    r"""[.!?;:…。！？]
        | ,\s(?=(?:and|but|so|which|who|because|though|although|as|where|when|it|i|we|they|she|he|do|can|or)\b)
        | \s(?:but|because|which|who|so\s(?:that|i|we|it)|while|although|though|since|where|when\s(?:i|we|it)|if
            |and\s(?:i|we|it|they|she|he|my|also|am|hate|love|like|need|want|would|was|is|it['’]s|i['’]\w+))\b
        | \s[-–—]+\s | -- | \s\(""",
    re.VERBOSE | re.IGNORECASE,
)
_LOOSE = lazy_pattern(
    r"^(?:(?:the|a|an|that|to|of|for|in|on|at|and|or|with|by|is|are|my|our|some)\s+)+(?=\S)", re.IGNORECASE
)
_POINT = lazy_pattern(r"(?<=\d)\.(?=\d)")
_POINT_KEPT = "\ue000"
_LONGEST_LOOK = 300  # characters


def leading_phrase(text: str, max_words: int = MAX_VALUE) -> str:
    """The phrase a text begins with: up to where another thought begins, in at most `max_words` words."""
    text = _POINT.sub(_POINT_KEPT, text[:_LONGEST_LOOK])
    stop = _STOP.search(text)
    start = (text[: stop.start()] if stop else text).replace(_POINT_KEPT, ".")
    parts = start.split(",")
    if len(parts) > 1 and len(parts[0].split()) > 3:
        start = parts[0]
    return _LOOSE.sub("", " ".join(start.split()[:max_words]))


# What somebody asks

_ASKING = lazy_pattern(
    r"""^(?:(?:so|and|also|but|by\sthe\sway|oh|hey|hi)[\s,]+)*
        (?: (?:can|could|would|will)\syou\s(?:(?:please|also|maybe|perhaps)\s)* | do\syou\sthink\syou\s(?:can|could)\s
          | i\swas\swondering\sif\syou\scould\s | please\s | i\s(?:need|want)\syou\sto\s )(?=\w)""",
    re.VERBOSE | re.IGNORECASE,
)
_TELL = lazy_pattern(
    r"^(?:tell|give|show|help|provide|send)\s(?:me|us)\s(?:(?:with|more|some|to)\s)*(?:about\s|on\s)?", re.IGNORECASE
)
_HAVE_YOU = lazy_pattern(
    r"""^(?:do\syou\s(?:have|know)|have\syou\sgot|got|are\sthere|is\sthere|what\sare)\s(?:of\s)?
        (?:any\s|some\s|a\s|the\s)?(?:good\s|other\s|best\s)?
        (?=(?:\w+\s)?(?:recommendation|tip|suggestion|idea|advice|resource|way)s?\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_ORDER = lazy_pattern(
    r"""^(?=(?:write|create|make|explain|describe|give|tell|show|list|help|find|fix|suggest|recommend|translate
        |summari[sz]e|compare|generate|rewrite|refactor|remind|book|draft|convert|calculate|solve|design|review|check
        |provide|analy[sz]e|act|set)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_PLEASE = lazy_pattern(r"^please\s(?!(?:note|remember|keep|feel|let|don['’]?t\shesitate)\b)", re.IGNORECASE)
_OPINION = lazy_pattern(
    r"^(?:do\syou\s(?:think|know|believe)|would\syou\ssay)\s(?:that\s|if\s)?(?!you\b)", re.IGNORECASE
)
_QUESTION_WORDS = 14
_OPENING = 2  # sentences; an order in them is a request, a later one is advice


def question_pairs(sentences: Sequence[Sentence]) -> Iterator[KeyValue]:
    """What a message asks, as pairs: questions, and requests by their matter."""
    weight = 7.0
    prose = [sentence for sentence in sentences if sentence.kind == "prose" and not is_filler(sentence)]
    for number, sentence in enumerate(prose):
        text = trim(sentence.text)
        if not sentence.is_question:
            order = _PLEASE.match(text) or (_ORDER.match(text) if number < _OPENING else None)
            if order:
                yield KeyValue("request", _shorten_question(_TELL.sub("", text[order.end() :])), 8)
            continue
        if len(text.split()) > _QUESTION_WORDS:
            text = last_clauses(clauses(text))
        text = _OPINION.sub("", text)
        request = _ASKING.match(text) or _HAVE_YOU.match(text)
        matter = _TELL.sub("", text[request.end() :]) if request else text
        yield KeyValue(
            "request" if request else "question", _shorten_question(matter), weight if number < 8 else min(weight, 5)
        )
        weight = max(weight - 1.5, 3)


def last_clauses(parts: Sequence[str]) -> str:
    """The last clauses of a question: they ask, and what comes before them is background."""
    text = parts[-1]
    for clause in reversed(parts[:-1]):
        if len(text.split()) >= 5:
            break
        text = f"{clause} {text}"
    return text


def _shorten_question(text: str) -> str:
    """A question in few words, with a small first letter unless it is an acronym."""
    text = " ".join(text.rstrip("?？؟ .!").split()[:_QUESTION_WORDS])
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
