"""A sentence cut into clauses that may be statements: each with its own subject, without what depends on it.

"When I was ill, I read a lot, which helped" is one clause: "I read a lot". Short forms are written out and opening
words are gone: "Yeah, Ann, I'm in a band" is "I am in a band".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.facts.english import statement_words as words
from recollect.facts.english.clauses import expand_short_forms
from recollect.facts.english.words import (
    NUMBERS_TO_SIX,
    NUMBERS_TO_TEN,
    any_of,
    longest_first,
)
from recollect.text.calendar_words import MONTHS, WEEKDAYS
from recollect.text.fact_words import RELATIONS
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.sentences import MAX_SENTENCE
from recollect.text.verbs import is_past

_SPEAKER = lazy_pattern(
    r"(?:(?:(?=some\s(?:of\smy\s)?(?:friends|colleagues|cousins)\b)"
    rf"|(?!{any_of(words.SUBJECTS_THAT_POINT)}\b|i\b|we\b))"
    r"(?P<other>(?:[\w'’-]+\s){1,6}?)and\s(?=i\b))?(?:i|(?P<we>we))\s+(?=\w)(?!all\b|both\b)",
    re.IGNORECASE,
)
"""The speaker as the subject, alone, as "we", or with somebody else."""
_TIME_WORD = any_of(words.TIME_WORDS, MONTHS, WEEKDAYS)
TIME_FIRST = lazy_pattern(
    rf"((?:(?:{_TIME_WORD}|\d{{1,4}}(?:st|nd|rd|th)?),?\s+){{1,6}})(?=(?:i|we|my|our)\s)", re.IGNORECASE
)
"""A time before the subject: "last week, I"."""
TIME_HINT = lazy_pattern(rf"\d|\b{any_of(words.STRONG_TIME_WORDS, MONTHS, WEEKDAYS)}", re.IGNORECASE)
_BRACKETS = lazy_pattern(r"\[[^\[\]]{0,400}\]|\([^()]{0,200}\)")
_SUBJECT = rf"{any_of(words.SUBJECT_WORDS)}\b"
_TIME_LEAD = r"(?:just\s)?(?:yesterday|today|recently|lately|(?:last|this|next)\s\w+),?"
_CUT = lazy_pattern(
    rf"(?P<broken>\s*…\s*)|(?P<main>,?\s+(?:and,?\s+)?{any_of(words.EXCLAMATIONS)}\b,?\s*|\s*;\s*|,\s+but\s+|\s+[–—-]+\s+|(?<=\w)-\s+|\s*(?:--|—|–)\s*|:\s+"
    rf"|,?\s+{any_of(words.JOINTS)}\s+(?:then\s+|also\s+|now\s+|even\s+|maybe\s+|perhaps\s+)?(?=(?:{_TIME_LEAD}\s+)?{_SUBJECT})|,\s+(?={_SUBJECT}|the\b)"
    rf"|\s+and\s+(?=the\s(?:[\w'-]+\s){{1,3}}(?:is|are|was|were|looks|has)\b))"
    rf"|(?P<sub>,?\s+and\s+(?={any_of(words.THOUGHTS_THEN)}\b)|,?\s+(?:{any_of(words.SUBORDINATORS)}\s+(?=\S)|{any_of(words.JOINTS_OF_TIME)}\s+(?={_SUBJECT})))",
    re.IGNORECASE,
)
_OPENER = lazy_pattern(
    rf"(?:{any_of(words.OPENING_WORDS)}\b(?:,?\s(?-i:[A-Z][a-z]+)(?=[,!.]))?[\s,!.:–—-]*"
    rf"|(?!{any_of(words.TIME_WORDS, MONTHS, WEEKDAYS)}\b)(?-i:[A-Z][a-z]+)(?:,|!)\s+"
    r"(?=(?:i|we|my|our|gonna|just)\b))",
    re.IGNORECASE,
)
_ANNOUNCEMENT = lazy_pattern(
    rf"i\s(?:(?:am|was)\s(?:\w+\s)?{any_of(words.GLAD_WORDS)}|(?:just\s)?(?:wanted|want|have|had|need))\sto\s"
    r"(?:(?:tell\syou|let\syou\sknow)(?:\sthat)?[\s,:–—-]+(?=(?:i|we|my|our)\b)"
    r"|(?:share|say|announce|report|mention|admit)(?:\swith\syou)?(?:\sthat\s|[,:–—-]+\s*|\s(?=(?:i|we)\b))(?=\w))",
    re.IGNORECASE,
)
_CONDITION = lazy_pattern(rf"^{any_of(words.CONDITION_LEADS, words.LEADING_WORDS)}\b", re.IGNORECASE)
_UNREAL_LEAD = lazy_pattern(r"(?:even\s)?(?:if|unless)\b", re.IGNORECASE)
_LEADING_CLAUSE = lazy_pattern(
    rf"^{any_of(words.LEADING_WORDS)}"
    r"\b[^,]{2,80},\s+(?=(?:i|we|my|our)\b)",
    re.IGNORECASE,
)

_AGE_OF_LIFE = lazy_pattern(
    r"(?:even\s)?as\san?\s(?:little\s|small\s|young\s)?(?:kid|child|boy|girl|teen(?:ager)?|student)\b"
    r"|when\s(?:i|we)\s(?:was|were)\b",
    re.IGNORECASE,
)
_DURING = lazy_pattern(r"during\s(?!the\b|that\b|this\b|these\b|those\b)(?:[\w'’-]+\s?){1,4},", re.IGNORECASE)
_NO_CUT = lazy_pattern(  # "when I was a child", "learned how to row"
    r"\show\sto\b|(?<=go-to)\swhen\b|,?\swhen\s(?:i|we)\s(?:was|were)\s(?:an?\s(?:\w+\s)?(?:kid|child|boy|girl|teen|teenager|student)\b|in\s\w+\sschool\b"
    r"|in\s(?:school|college|university)\b|young(?:er)?\b|little\b|small\b|\d"
    rf"|{any_of(NUMBERS_TO_SIX, NUMBERS_TO_TEN)}\b)",
    re.IGNORECASE,
)
_ME_AND = lazy_pattern(
    rf"^me\sand\s((?:my|our|the)\s(?:\w+\s)?(?:{any_of(longest_first(RELATIONS))}|kids|family|friends|parents))\b",
    re.IGNORECASE,
)
_WANNA = lazy_pattern(r"\bwanna\b", re.IGNORECASE)
_SHORT_DAY = lazy_pattern(r"\b(last|this|next|on)\s(mon|tues?|wed|thu(?:rs)?|fri|sat|sun)\b\.?", re.IGNORECASE)
_FULL_DAYS = {day[:3]: day.capitalize() for day in WEEKDAYS}
_COMPLEMENTS = frozenset({"what", "how", "why"})
_HANGING = lazy_pattern(rf"[\s,]+{any_of(words.JOINTS)}$", re.IGNORECASE)
_OPEN_WORD = any_of(words.OPEN_ENDS, words.THOUGHT_VERBS)
_OPEN_END = lazy_pattern(rf"(?:[\s,]+(?:and|or|but))?(?:[\s,]+{_OPEN_WORD})+$", re.IGNORECASE)


def statement_clauses(sentence: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a sentence, and whether each depends on another and yet states something: "after we moved"."""
    text = expand_short_forms(_BRACKETS.sub(" ", sentence[:MAX_SENTENCE])).strip()
    text = _SHORT_DAY.sub(lambda day: f"{day[1]} {_FULL_DAYS[day[2][:3].casefold()]}", text)
    text = _strip_openers(_WANNA.sub("want to", text))
    text = _ME_AND.sub(r"\1 and I", text)
    leading = _LEADING_CLAUSE.match(text)
    if leading:
        text = text[leading.end() :]
        if _AGE_OF_LIFE.match(leading[0]) or _DURING.match(leading[0]):
            text = f"{text.rstrip(' .!')} {_lower_first(leading[0].strip(' ,'))}"
    time_lead = TIME_FIRST.match(text)
    if time_lead and TIME_HINT.search(time_lead[1]):
        text = f"{time_lead[1].replace(',', '')}{text[time_lead.end() :]}"
    own = match_speaker(text)
    first = own.end() if own else 0
    start = 0
    if _UNREAL_LEAD.match(text):
        return
    condition = _CONDITION.match(text)
    joint = condition[0].casefold() if condition else ""
    cuts = [cut for cut in _CUT.finditer(text, first) if not _belongs_together(text, cut.start())]
    for cut in (*cuts, None):
        unit = text[start : cut.start()] if cut else text[start:]
        is_broken = cut is not None and cut["broken"] is not None
        is_broken = is_broken or (cut is not None and (cut["sub"] or "").strip(" ,").casefold() in _COMPLEMENTS)
        if unit.strip() and not is_broken and (not joint or joint in words.FACTIVE_JOINTS):
            unit = _drop_open_end(unit.rstrip(" ,"), bool(cut and cut["sub"]))
            unit = _strip_openers(unit.strip(" ,"))
            yield unit, bool(joint) and not (joint == "after" and _tells_past(unit))
        if cut is None:
            break
        start = cut.end()
        joint = "…" if is_broken else cut["sub"].strip(" ,").casefold() if cut["sub"] else ""


def _drop_open_end(unit: str, is_before_dependent: bool) -> str:
    """A clause without a joint at its end, and before a dependent clause without a thought: "I know", "I love it"."""
    unit = _HANGING.sub("", unit)
    return _OPEN_END.sub("", unit) if is_before_dependent else unit


def match_speaker(text: str) -> re.Match[str] | None:
    """The speaker as the subject of a clause, if it begins so."""
    return _SPEAKER.match(text)


def _tells_past(unit: str) -> bool:
    """Whether one of the first words after the subject is a verb in the past."""
    return any(is_past(word) for word in unit.split()[1:4])


_AND_MY = lazy_pattern(r",?\sand\s(?:my|our)\b", re.IGNORECASE)


def _belongs_together(text: str, at: int) -> bool:
    """Whether a joint does not end a clause: "when I was a child", "my crew and my charts keep me going"."""
    if _NO_CUT.match(text, at):
        return True
    subject_words = text[:at].casefold().split()
    is_list = subject_words[:1] in (["my"], ["our"]) and _AND_MY.match(text, at) is not None
    return is_list and not any(word in words.FINITE_VERBS or is_past(word) for word in subject_words)


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _strip_openers(text: str) -> str:
    for _ in range(6):
        opener = _OPENER.match(text) or _ANNOUNCEMENT.match(text)
        if opener is None or opener.end() == len(text):
            break
        text = text[opener.end() :]
    return text
