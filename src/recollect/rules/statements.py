"""What a message states, found by its wording: who somebody is, what they like, what was decided, asked, listed.

Each finder looks for one sort of statement and says how much it weighs. A statement is never turned round: "I don't like X" is a dislike, and a question
states nothing. Where no finder applies, as in most languages but English, the salient words are the topic.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from recollect.rules.salience import (
    AMOUNT,
    SPELT,
    WHEN,
    WORD,
    is_content,
    is_filler,
    is_ordinary,
    matters,
    names,
    numbers,
    stem,
    terse,
    trim,
    words,
)
from recollect.rules.sentences import Sentence, clauses, part_of
from recollect.rules.smalltalk import is_small_talk

MAX_VALUE = 8
"""Words of one value."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: `key = value`, and how much it tells about the message."""

    key: str
    value: str
    weight: float


def statements(text: str, said: Sequence[Sentence], language: str, weights: Mapping[str, float]) -> list[Statement]:
    """The statements of a text, the most telling first, none twice: from its sentences and the weights of its words."""
    found = [*_stated(said, language), *_asked(said), *_listed(said, language), *_technical(text, said)]
    found += [*_mentioned(said, language), *_topic(said, language, weights)]
    kept: dict[tuple[str, str], Statement] = {}
    for each in sorted((_tidy(each, language) for each in found), key=lambda each: -each.weight):
        if each.value:
            kept.setdefault((each.key, each.value.casefold()), each)
    return list(kept.values())


SURE = frozenset({"name", "age", "when", "duration", "amounts", "names", "topic", "text"})
"""Keys whose values are what they are, ordinary words or not, and not to be shortened."""
_LOOSE = re.compile(
    r"^(?:(?:the|a|an|that|to|of|for|in|on|at|and|or|with|by|is|are|my|our|some)\s+)+(?=\S)", re.IGNORECASE
)
DANGLING = re.compile(
    r"(?:[\s,]+(?:the|a|an|that|to|of|for|in|on|at|and|or|with|by|is|are|was|my|your|our|so|but|i|we|it|this|too"
    r"|from|as|which|because|since|really|very|also|just|been|have|not))+$",
    re.IGNORECASE,
)


def _tidy(each: Statement, language: str) -> Statement:
    """One line, no separators of ours inside, nothing left hanging at the ends; light if all its words are ordinary."""
    value = re.sub(r"\s+", " ", each.value.replace(";", ",").replace(" = ", " is "))
    value = value.strip(" .,:!?…–—-*" if each.key in ("error", "code") else " .,:!?…–—-\"'“”«»*")
    if each.key not in ("question", "request", "code"):
        value = DANGLING.sub("", value)
    key = terse(re.sub(r"[\s;=]+", " ", each.key).strip(), language)
    solid = each.key in SURE or any(matters(word, language) for word in value.split())
    return Statement(key, value, each.weight if solid else each.weight * 0.3)


# What somebody states. A finder is a trigger and the key it gives; the value is the phrase after it.

_I = r"\b(?:i|we)"
_AM = r"\b(?:i['’]?m|i\sam|we['’]re|we\sare|i['’]ve\sbeen|i\shave\sbeen|we['’]ve\sbeen|been)"
_SOFT = r"(?:\s(?:really|also|just|still|always|absolutely|totally|actually|currently|recently|usually|definitely|especially|particularly|both|all|finally|\w+ly))*"  # noqa: E501
_NOT = r"(?:\s(?:do\snot|don['’]?t|did\snot|didn['’]t|never|can['’]?t|cannot|can\snot|won['’]t|will\snot|haven['’]t|wouldn['’]t))"

_TRIGGERS: tuple[tuple[str, float, re.Pattern[str]], ...] = tuple(
    (key, weight, re.compile(pattern, re.IGNORECASE))
    for key, weight, pattern in (
        ("allergic to", 11, r"\ballergic\sto\s"),
        ("dislikes", 9, rf"{_I}{_SOFT}{_NOT}{_SOFT}\s(?:like|love|enjoy|care\sfor)\s"),
        ("dislikes", 9, rf"{_I}{_SOFT}\s(?:hate|dislike|detest|loathe|can['’]?t\sstand|am\snot\s(?:a\sfan\sof|into))\s"),
        ("dislikes", 9, rf"{_AM}{_SOFT}\s(?:not\s(?:really\s)?(?:a\s(?:big\s|huge\s)?fan\sof|into|keen\son))\s"),
        ("does not", 7.5, rf"{_I}{_SOFT}{_NOT}{_SOFT}\s(?=(?:eat|drink|use|have|own|work|want|need|speak|drive|smoke)\b)"),
        ("prefers", 9, rf"{_I}(?:['’]d|\swould)?{_SOFT}\s(?:prefer|rather\shave)\s(?:to\s)?"),
        ("likes", 8.5, rf"{_I}{_SOFT}\s(?:like|love|enjoy|adore)\s(?!(?:to\s(?:know|see|hear)|how|that|the\sidea|your|it)\b)"),
        ("likes", 8, rf"{_AM}{_SOFT}\s(?:(?:a\s)?(?:big\s|huge\s)?fan\sof|into|fond\sof|passionate\sabout)\s"),
        ("lives in", 10, rf"(?:{_I}{_SOFT}\s(?:live|reside)|{_AM}{_SOFT}\s(?:living|based))\sin\s"),
        ("from", 8, rf"{_AM}{_SOFT}\s(?:originally\s)?from\s"),
        ("moved to", 8.5, rf"{_I}{_SOFT}\s(?:moved|relocated)\s(?:\w+\s)?to\s"),
        ("job", 9, rf"(?:{_I}{_SOFT}\swork|{_AM}{_SOFT}\sworking)\sas\s(?:an?\s|the\s)?"),
        ("works at", 8.5, rf"(?:{_I}{_SOFT}\swork|{_AM}{_SOFT}\sworking)\s(?:at|for)\s"),
        ("works in", 7, rf"(?:{_I}{_SOFT}\swork|{_AM}{_SOFT}\sworking)\sin\s"),
        ("born", 8.5, r"\b(?:was|were)\sborn\s(?:in|on)\s"),
        ("decision", 9, r"\b(?:(?:i|we|they)(?:['’]ve|\shave)?|has|it\swas)\s(?:\w+\s)?(?:decided|agreed|chosen)\s(?:to|on|that)\s"),
        ("decision", 9, r"\b(?:i|we|they)\s(?:\w+ly\s)?(?:decided|agreed)\s(?=not\b|against\b)"),
        ("decision", 9, rf"{_I}(?:['’]ve|\shave)?{_SOFT}\s(?:settled\son|opted\s(?:for|to)|went\swith|chose|picked|ended\sup\s(?:choosing|picking|with))\s"),
        ("decision", 9, r"\b(?:let['’]?s|(?:i|we)['’]ll|(?:i|we)\swill)\s(?:go\swith|stick\s(?:with|to)|use|switch\sto|settle\son)\s"),
        ("decision", 8.5, r"\b(?:the\s)?(?:final\s)?decision\s(?:is|was)\s(?:to\s)?"),
        ("plan", 7.5, rf"(?:{_I}{_SOFT}\s(?:plan|intend|hope)|{_AM}{_SOFT}\s(?:planning|hoping|going|about))\s(?:to|on)\s"),
        ("plan", 7, rf"{_AM}{_SOFT}\s(?:planning|scheduling|preparing\sfor)\s(?!to\b|on\b)"),
        ("plan", 6.5, r"\b(?:i|we)(?:['’]ll|\swill)\s(?!(?:\w+ly\s|also\s)*(?:be|let|keep\sthat|take\sa\slook|have|go\swith|use|stick|switch|settle|try\sto|make\ssure)\b)"),
        ("considering", 7, rf"{_AM}{_SOFT}\s(?:considering|thinking\s(?:of|about))\s"),
        ("wants", 7, rf"{_I}(?:['’]d|\swould)?{_SOFT}\s(?:want|like|wish|love)(?:ed)?\s(?=to\s)(?:to\s)(?!know\b)"),
        ("needs", 7, rf"{_I}{_SOFT}\sneed\s(?:to\s)?(?!(?:say|admit|know)\b)"),
        ("looking for", 7.5, rf"{_AM}{_SOFT}\s(?:looking|searching)\s(?:for|to|into)\s"),
        ("trying to", 7, rf"{_AM}{_SOFT}\strying\sto\s"),
        ("interested in", 7, rf"{_AM}{_SOFT}\s(?:interested\sin|curious\sabout)\s"),
        ("working on", 7.5, rf"{_AM}{_SOFT}\s(?:working\son|building|writing|developing)\s"),
        ("learning", 7.5, rf"{_AM}{_SOFT}\s(?:learning|studying)\s(?:to\s|about\s|how\sto\s)?"),
        ("reading", 7, rf"{_AM}{_SOFT}\sreading\s"),
        ("using", 7, rf"{_AM}{_SOFT}\susing\s"),
        ("doing", 5.5, rf"{_AM}{_SOFT}\s(?=\w+ing\s)(?!(?:going|planning|hoping|looking|trying\sto|thinking|working|feeling|wondering|being|considering|having|getting)\b)"),  # noqa: E501
        ("feels", 5, rf"{_AM}{_SOFT}\s(?=(?:so\s)?(?:proud|worried|excited|nervous|stressed|sad|tired|afraid|grateful|thankful)\b)"),
        ("has", 6.5, rf"{_I}(?:['’]ve\sgot|{_SOFT}\s(?:have|own))\s(?=(?:an?|two|three|four|five|six|\d+|my|some)\s)"),
        ("did", 6, rf"{_I}(?:['’]ve|\shave)?{_SOFT}\s(?=(?:went|bought|got|made|took|met|saw|won|lost|found|built|ran|wrote|read|taught|gave|began|left|sold|ate|drove|flew|had|\w{{3,}}ed)\s)(?!(?:wanted|needed|used|ended|liked|loved|enjoyed|decided|agreed|hoped|wished|moved|relocated|picked)\b)"),  # noqa: E501
        ("suggests", 6, r"\bi(?:['’]d|\swould)?(?:\s\w+ly)?\s(?:recommend|suggest|advise)\s(?:that\s)?(?:you\s)?(?:to\s)?"),
        ("because", 4.5, r"\b(?:because|due\sto|thanks\sto)\s(?:of\s)?"),
        ("must", 6.5, r"\b(?:must|has\sto|have\sto)\s(?!(?:be\s(?:so|very)|have|say|admit)\b)"),
        ("deadline", 8.5, r"\b(?:deadline|due\sdate)\s(?:is|was)?\s?(?:on|by)?\s?|\bis\sdue\s(?:on|by)?\s?"),
        ("favourite", 8.5, r"\bmy\sfavou?rites?\s(?:is|are)\s"),
    )
)  # fmt: skip
_FAVOURITE = re.compile(
    r"\bmy\s(?:all-time\s)?(favou?rite\s[\w\s]{2,30}?)\s(?:is|are|was|has\sto\sbe)\s", re.IGNORECASE
)
_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’-]+(?:\s[A-ZÀ-ÖØ-Þ][\w'’-]+){0,2}"
_RELATION = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|mother|mom|mum|father|dad|parents|sister|brother|son|daughter|kids?"
    r"|children|baby|aunt|uncle|cousin|niece|nephew|grandmother|grandma|grandfather|grandpa|boss|manager|colleague|coworker"
    r"|teacher|doctor|therapist|neighbou?r|roommate|friend|dog|cat|puppy|kitten|pet|horse|car|company|team|landlord|coach)"
)
_CALLED = re.compile(
    rf"\b[Mm]y\s(?:(?:older|younger|little|big|best|twin|old|new|late|eldest)\s)?({_RELATION})"
    rf"(?:['’]s\sname\sis|,?\s(?:is\s|was\s)?(?:named|called)|,|\sis)?\s({_NAME})"
)
_IS_MY = re.compile(rf"\b({_NAME})(?:,|\sis|\swas)\smy\s(?:\w+\s)?({_RELATION})\b")
_I_AM = re.compile(
    rf"\b(?:[Mm]y\s(?:full\s|first\s)?name(?:['’]s|\sis)|[Cc]all\sme|I\s?(?:['’]m|\sam)\scalled)\s({_NAME}|\w+)"
    rf"|(?:^|[Hh]i[,!]?\s|[Hh]ello[,!]?\s|[Hh]ey[,!]?\s)(?:I['’]m|I\sam|[Tt]his\sis)\s({_NAME})(?=[,.!]|\sand\b|\sfrom\b|$)"
)
_AGE = re.compile(r"\b(?:i['’]?m|i\sam|turned|turning)\s(\d{1,2})(?=\syears|\sand\b|[,.!]|$)", re.IGNORECASE)
_I_AM_A = re.compile(
    r"\bI(?:['’]m|\sam)\s(?:also\s)?(?:an?)\s(?!(?:bit|little|lot|big\sfan|huge\sfan|fan)\b)", re.IGNORECASE
)
_THEIRS = re.compile(
    rf"\b(?:[Mm]y\s({_RELATION})|({_NAME}))\s(?:\w+ly\s)?(loves|likes|enjoys|prefers|hates|dislikes|doesn['’]t\slike|works\sas|lives\sin)\s"
)
_THEIR_KEYS = {"loves": "likes", "enjoys": "likes", "hates": "dislikes"}
_TRIP = re.compile(
    rf"\b(?:trip|travel(?:l?ing)?|fly(?:ing)?|flight|vacation|holiday|move|moving|going|heading)\s(?:to|in)\s((?:the\s)?{_NAME})"
)
_DOUBT = re.compile(
    r"\b(?:don['’]?t\s(?:think|believe)|doubt|not\ssure|if|whether|would|used\sto)\s(?:that\s|if\s)?$", re.IGNORECASE
)
_ELSEWHERE = {
    "name": r"\b(?:me\sllamo|mi\snombre\ses|ich\sheiße|mein\sname\sist|je\sm['’]appelle|mi\schiamo|meu\snome\sé|me\schamo|ik\sheet"
    r"|jag\sheter|jeg\shedder|nazywam\ssię|jmenuji\sse|меня\sзовут|мене\sзвати|mă\snumesc|(?:benim\s)?adım|nama\ssaya)\s",
    "lives in": r"\b(?:vivo\sen|ich\s(?:wohne|lebe)\sin|j['’]habite\s(?:à|en|au)|abito\sa|vivo\sa|moro\sem|ik\swoon\sin|jag\sbor\si"
    r"|mieszkam\sw|я\sживу\sв)\s",
    "dislikes": r"\b(?:no\sme\sgustan?|odio|ich\s(?:mag|hasse)\skeine?n?|ich\shasse|je\sn['’]aime\spas|je\sdéteste|non\smi\spiac(?:e|ciono)"
    r"|não\sgosto\sde|ik\shou\sniet\svan|мне\sне\sнравится|я\sне\sлюблю)\s",
    "likes": r"\b(?<!no\s)(?:me\s(?:gustan?|encantan?)|ich\s(?:mag|liebe)(?!\skein)|j['’]aime(?!\spas)|j['’]adore|(?<!non\s)mi\spiac(?:e|ciono)"
    r"|(?<!não\s)gosto\sde|ik\shou\s(?!niet)van|мне\sнравится|я\sлюблю)\s",
}  # fmt: skip
_ELSEWHERE_TRIGGERS = {key: re.compile(pattern, re.IGNORECASE) for key, pattern in _ELSEWHERE.items()}
_AND_ELSEWHERE = re.compile(r",|\s(?:y|und|et|e|i|och|og|a|и|та|pero|aber|mais|ma|mas|maar|но|als|como|con|mit|avec)\s")
_ELSEWHERE_NAME = re.compile(
    r"(?:我叫|我的名字(?:是|叫)|私の名前は|わたしの名前は|제\s?이름은)\s?([^\s，。、,.!！]{1,8}?)(?=です|입니다|이에요|예요|[，。、,.!！\s]|$)"
)


def _stated(said: Sequence[Sentence], language: str) -> Iterator[Statement]:
    for number, sentence in enumerate(said):
        if sentence.kind not in ("prose", "item") or sentence.is_question or is_filler(sentence):
            continue
        # What comes first is mostly what the message is about.
        early = 0.5 if number < 3 else 0.0
        for each in (*_triggered(sentence.text, language), *_personal(sentence.text, language), *_equations(sentence)):
            yield Statement(each.key, each.value, each.weight + early)


def _triggered(text: str, language: str) -> Iterator[Statement]:
    if language != "en":
        for key, pattern in _ELSEWHERE_TRIGGERS.items():
            for trigger in pattern.finditer(text):
                rest = _AND_ELSEWHERE.split(text[trigger.end() :])[0]
                yield Statement(key, _phrase(rest, 3), 13 if key == "name" else 9)
        for name in _ELSEWHERE_NAME.finditer(text):
            yield Statement("name", name[1], 13)
        return
    for key, weight, pattern in _TRIGGERS:
        for trigger in pattern.finditer(text):
            if not _DOUBT.search(text[: trigger.start()]):
                yield Statement(key, _phrase(text[trigger.end() :]), weight)
    for favourite in _FAVOURITE.finditer(text):
        yield Statement(favourite[1], _phrase(text[favourite.end() :]), 9.5)


def _personal(text: str, language: str) -> Iterator[Statement]:
    """Who is who."""
    if language != "en":
        return
    for found in _I_AM.finditer(text):
        name = found[1] or found[2]
        if is_content(name.split()[0], language) and not is_ordinary(name.split()[0]):
            yield Statement("name", name, 13)
    for found in _CALLED.finditer(text):
        yield Statement(found[1], _owner(found[2]), 9.5)
    for found in _IS_MY.finditer(text):
        yield Statement(found[2], _owner(found[1]), 9.5)
    for found in _AGE.finditer(text):
        yield Statement("age", found[1], 9)
    for found in _I_AM_A.finditer(text):
        yield Statement("is a", _phrase(text[found.end() :], 4), 8)
    for found in _THEIRS.finditer(text):
        verb = found[3].casefold().replace("’", "'").replace("doesn't like", "dislikes")
        yield Statement(f"{found[1] or found[2]} {_THEIR_KEYS.get(verb, verb)}", _phrase(text[found.end() :]), 8)
    for found in _TRIP.finditer(text):
        yield Statement("trip", _owner(found[1]), 7.5)


def _owner(name: str) -> str:
    return re.sub(r"['’]s$", "", name)


_SUBJECT = re.compile(
    r"^(?:(the|my|our|your|his|her|their|this)\s)?((?:[\w'’&/-]+\s){0,4}?[\w'’&/-]+)\s(?:(?:will\s(?:now\s)?be|is|are|was|were|costs?|starts?|has\sbeen)\s"
    r"(?:(?:cut|raised|set|moved|changed|increased|reduced|postponed|planned|scheduled|due)\s(?:to\s|for\s|on\s|until\s|by\s|from\s)?|now\s|currently\s|usually\s|on\s|at\s|in\s)*)(?=\S)",
    re.IGNORECASE,
)  # fmt: skip
_MINE = re.compile(
    r"(?<!^)\b(?:my|our)\s((?:[\w'’-]+\s){0,2}?[\w'’-]+)\s(?:is|are|was|were)\s(?=[^.!?]{0,30}(?:\d|[A-Z]))",
    re.IGNORECASE,
)
_AND = re.compile(r"^(?:and|but|so|or)\s", re.IGNORECASE)
_NO_SUBJECT = frozenset(
    "it this that there here what which who these those he she they i we you everything one all some".split()
)


def _equations(sentence: Sentence) -> Iterator[Statement]:
    """Statements that are pairs already: "Price: $30", "The meeting is on Friday"."""
    text = trim(sentence.text)
    if sentence.lead and text.startswith(f"{sentence.lead}: "):
        value = _phrase(text[len(sentence.lead) + 2 :], 6)
        if len(text) < 80 and _is_concrete(value):
            yield Statement(sentence.lead, value, 7)
        return
    for clause in clauses(text)[:6]:
        yield from _equation(_AND.sub("", clause))
    for mine in _MINE.finditer(text):
        yield Statement(mine[1], _phrase(text[mine.end() :], 5), 7.5)


def _equation(clause: str) -> Iterator[Statement]:
    found = _SUBJECT.match(clause)
    if found is None:
        return
    first = found[2].split()[0].casefold().replace("’", "'")
    value = _phrase(clause[found.end() :], 6)
    concrete = _is_concrete(value)
    if first in _NO_SUBJECT or "'" in first or not value or not (found[1] or concrete):
        return
    if is_ordinary(first) or first.endswith("ing"):
        return
    ordinary = all(is_ordinary(word) or not is_content(word, "en") for word in words(value))
    weight = 7.5 if concrete else 2.5 if ordinary or len(value.split()) > 5 else 5
    yield Statement(found[2], value, weight)


def _is_concrete(value: str) -> bool:
    return bool(WHEN.search(value) or AMOUNT.search(value) or re.search(r"\d|(?<!^)\b[A-Z]", value))


_STOP = re.compile(
    r"[.!?;:…。！？]|,\s(?=(?:and|but|so|which|who|because|though|although|as|where|when|it|i|we|they|she|he|do|can|or)\b)"
    r"|\s(?:but|because|which|who|so\s(?:that|i|we|it)|while|although|though|since|and\s(?:i|we|it|they|she|he|my|also|am|hate|love"
    r"|like|need|want|would|was|is|it['’]s|i['’]\w+)|where|when\s(?:i|we|it)|if)\b|\s[-–—]+\s|--|\s\(",
    re.IGNORECASE,
)


def _phrase(text: str, most: int = MAX_VALUE) -> str:
    """The phrase a text begins with: up to where another thought begins, and not too long."""
    text = re.sub(r"(?<=\d)\.(?=\d)", "\ue000", text[:300])
    stop = _STOP.search(text)
    phrase = (text[: stop.start()] if stop else text).replace("\ue000", ".")
    listed = phrase.split(",")
    if len(listed) > 1 and len(listed[0].split()) > 5:
        phrase = listed[0]
    return _LOOSE.sub("", " ".join(phrase.split()[:most]))


# What somebody asks

_ASKING = re.compile(
    r"^(?:(?:so|and|also|but|by\sthe\sway|oh|hey|hi)[\s,]+)*(?:(?:can|could|would|will)\syou\s(?:please\s|also\s|maybe\s|perhaps\s)*"
    r"|do\syou\sthink\syou\s(?:can|could)\s|i\swas\swondering\sif\syou\scould\s|please\s|i\s(?:need|want)\syou\sto\s)"
    r"(?=\w)",
    re.IGNORECASE,
)
PREFACE = re.compile(
    r"^(?:(?:can|could|would)\syou\s(?:please\s|also\s)?(?:help\sme\s(?:to\s|with\s)?|tell\sme\s|give\sme\s)?|do\syou\s(?:have|know|think)\s(?:of\s)?"
    r"(?:any\s|some\s|that\s)?(?:other\s|good\s)?|i(?:['’]d|\swould)\s(?:like|love)\sto\s|i['’]m\s(?:also\s)?(?:looking\sfor|trying\sto)\s(?:some\s)?)(?=\S)",
    re.IGNORECASE,
)
"""What a request begins with and can do without."""
_TELL = re.compile(
    r"^(?:tell|give|show|help|provide|send)\s(?:me|us)\s(?:with\s|more\s|some\s|to\s)*(?:about\s|on\s)?", re.IGNORECASE
)
_HAVE_YOU = re.compile(
    r"^(?:do\syou\s(?:have|know)|have\syou\sgot|got|are\sthere|is\sthere|what\sare)\s(?:of\s)?(?:any\s|some\s|a\s|the\s)?(?:good\s|other\s|best\s)?"
    r"(?=(?:\w+\s)?(?:recommendation|tip|suggestion|idea|advice|resource|way)s?\b)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(?:please\s)?(?=(?:write|create|make|explain|describe|give|tell|show|list|help|find|fix|suggest|recommend|translate|summari[sz]e"
    r"|compare|generate|rewrite|refactor|remind|book|draft|convert|calculate|solve|design|review|check|provide|analy[sz]e|act|set)\b)",
    re.IGNORECASE,
)
_OPINION = re.compile(r"^(?:do\syou\s(?:think|know|believe)|would\syou\ssay)\s(?:that\s|if\s)?(?!you\b)", re.IGNORECASE)
_ASIDES = re.compile(r"\s*\([^)]{0,200}\)")
_QUESTION_WORDS = 14


def _asked(said: Sequence[Sentence]) -> Iterator[Statement]:
    weight = 7.0
    for number, sentence in enumerate(said):
        if sentence.kind != "prose" or is_filler(sentence):
            continue
        text = trim(sentence.text)
        if not sentence.is_question:
            order = _ORDER.match(text) if number < 2 else None
            if order:
                yield Statement("request", _short(_TELL.sub("", text[order.end() :])), 7)
            continue
        # The last clause asks; what comes before it sets the scene.
        asking = clauses(text)
        text = text if len(text.split()) <= _QUESTION_WORDS else _last(asking)
        text = _OPINION.sub("", text)
        request = _ASKING.match(text) or _HAVE_YOU.match(text)
        key = "request" if request else "question"
        asked = _TELL.sub("", text[request.end() :]) if request else text
        yield Statement(key, _short(asked), weight if number < 8 else min(weight, 5))
        weight = max(weight - 1.5, 3)


def _last(asking: Sequence[str]) -> str:
    kept = asking[-1]
    for clause in reversed(asking[:-1]):
        if len(kept.split()) >= 5:
            break
        kept = f"{clause} {kept}"
    return kept


def _short(text: str) -> str:
    """A question in few words, its first letter as in the middle of a sentence."""
    text = _ASIDES.sub("", text).rstrip("?？؟ .!")
    text = " ".join(text.split()[:_QUESTION_WORDS])
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


# What is listed, mentioned, and technical

_HERE_ARE = re.compile(
    r"^(?:here\s(?:are|is)|here['’]s|these\sare|the\sfollowing\sare|below\s(?:are|is))\s(?:some|a\sfew|several|the|an?)?\s*(?:\w+\sof\s)?",
    re.IGNORECASE,
)


def _listed(said: Sequence[Sentence], language: str) -> Iterator[Statement]:
    items = [sentence for sentence in said if sentence.lead or sentence.kind == "heading"]
    for number, item in enumerate(items[:60]):
        title = re.sub(r"^(?:step\s)?\d+[.:)]\s*", "", item.lead or item.text, flags=re.IGNORECASE)
        yield Statement("items", _kernel(title, language), 6.2 - min(number, 40) / 20)
    for sentence in said[:12]:
        opening = _HERE_ARE.match(sentence.text)
        if opening and sentence.text.endswith((":", "：")):
            yield Statement(
                "topic", " ".join(terse(sentence.text[opening.end() :].rstrip(":："), language).split()[:7]), 8
            )
    if not items:
        bare = [sentence for sentence in said if sentence.kind == "item" and not sentence.lead]
        for number, item in enumerate(bare[:60]):
            yield Statement("items", _kernel(item.text, language, 5), 5.5 - min(number, 40) / 20)


def _kernel(text: str, language: str, most: int = 6) -> str:
    """A title in its first words of content, with what is between them."""
    kept = _ASIDES.sub("", text).rstrip(":.!? ").split()[:most]
    while kept and not is_content(kept[0].strip(",:\"'"), language):
        kept = kept[1:]
    return " ".join(kept)


_FILE = re.compile(
    r"(?<![\w@/.-])(?:[\w.-]+/)*[\w-]+\.(?:py|js|tsx?|jsx|java|go|rs|c|cpp|h|cs|rb|php|sh|sql|html?|css|json|ya?ml|toml|md|txt|csv"
    r"|xlsx?|docx?|pdf|png|jpe?g|ipynb|db|log|env|ini|cfg|conf|lock)\b"
)
_SYMBOL = re.compile(r"`([^`\n]{2,50})`")
_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning)\b(?::\s[^\n`.]{1,50})?")
_LINK = re.compile(r"https?://(?:www\.)?([^\s/?#<>\")\]]{3,60})")
_MAIL = re.compile(r"(?<![\w.])[\w.+-]{1,64}@[\w-]{1,60}\.[\w.-]{2,30}\w")
_VERSION = re.compile(r"\b([A-Z][\w.+#]{1,30})\s(?:version\s)?v?(\d+(?:\.\d+){1,3})\b")
_DEFINED = re.compile(r"^\s*(?:async\s)?(?:def|class|function|fn|func|struct|interface)\s+(\w{2,40})", re.MULTILINE)


def _technical(text: str, said: Sequence[Sentence]) -> Iterator[Statement]:
    text = part_of(text)
    for number, error in enumerate(_ERROR.finditer(text)):
        yield Statement("error", _phrase_of(error[0]), 8 - min(number, 4))
    for number, file in enumerate(_FILE.finditer(text)):
        yield Statement("file", file[0], 7 - min(number, 8) / 4)
    for version in _VERSION.finditer(text):
        yield Statement(version[1], version[2], 7)
    for mail in _MAIL.finditer(text):
        yield Statement("email", mail[0], 8)
    for link in _LINK.finditer(text):
        yield Statement("link", link[1], 5)
    for name in _DEFINED.finditer(text):
        yield Statement("defines", name[1], 5.5)
    for symbol in _SYMBOL.finditer(text):
        yield Statement("code", symbol[1], 5)
    for note in said:
        if note.kind == "note":
            what, _, size = note.text.strip("[]").partition(": ")
            yield Statement(what, size, 4.5)


def _phrase_of(error: str) -> str:
    return " ".join(error.split()[:8])


def _mentioned(said: Sequence[Sentence], language: str) -> Iterator[Statement]:
    for number, name in enumerate(names(said, language)):
        yield Statement("names", name, 6 - min(number, 30) / 12)
    prose = " ; ".join(sentence.text for sentence in said if sentence.kind in ("prose", "item"))
    for number, when in enumerate(WHEN.finditer(prose)):
        key = "duration" if when[0][:4].casefold() == "for " else "when"
        yield Statement(key, _AT.sub("", when[0]), 6.5 - min(number, 30) / 12)
    for number, amount in enumerate(numbers(prose, language)):
        yield Statement("amounts", amount, (6.2 if re.search(r"[^\d.,:/]", amount) else 5) - min(number, 30) / 12)


_AT = re.compile(r"^(?:at|on|in|by|for|about|the)\s(?:the\s(?=\d|past|last))?", re.IGNORECASE)
_TOPIC_WORDS = 24


def _topic(said: Sequence[Sentence], language: str, weights: Mapping[str, float]) -> Iterator[Statement]:
    """The words that weigh most, as written; the last resort in English, the rule in languages we cannot read."""
    kept = [sentence for sentence in said if not is_filler(sentence) and sentence.kind != "note"] or list(said)
    written: dict[str, str] = {}
    twice = Counter[str]()
    for sentence in kept:
        listed = words(sentence.text)
        for word in listed:
            written.setdefault(stem(word, language), word)
        twice.update(
            f"{one} {other}" for one, other in pairwise(listed) if matters(one, language) and matters(other, language)
        )
    for phrase, times in twice.most_common(6):
        if times > 1:
            yield Statement("topic", phrase, 4.5)
    heaviest = sorted(written.keys() & weights.keys(), key=lambda root: (-weights[root], root))[:_TOPIC_WORDS]
    for number, root in enumerate(heaviest):
        word = written[root]
        if number == 0 or not (is_ordinary(word) or word.casefold() in SPELT or is_small_talk(word)):
            yield Statement("topic", word, (4 if number < 4 else 3) - number / 30)
    if not heaviest and kept:
        yield Statement("text", " ".join(WORD.findall(kept[0].text)[:MAX_VALUE]) or kept[0].text[:40], 1)
