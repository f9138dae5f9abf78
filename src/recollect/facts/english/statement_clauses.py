"""A sentence cut into clauses that may be statements: each with its own subject, without what depends on it.

"When I was ill, I read a lot, which helped" is one clause: "I read a lot". Short forms are written out and opening
words are gone: "Yeah, Ann, I'm in a band" is "I am in a band".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.facts.english.clauses import expand_short_forms
from recollect.facts.english.words import STATEMENT_WORDS, load_patterns
from recollect.text.calendar_words import WEEKDAYS
from recollect.text.sentences import MAX_SENTENCE
from recollect.text.verbs import is_past

_STATEMENT_CLAUSES = load_patterns(__package__, "statement_clauses")


_FULL_DAYS = {day[:3]: day.capitalize() for day in WEEKDAYS}
_COMPLEMENTS = frozenset({"what", "how", "why"})


def statement_clauses(sentence: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a sentence, and whether each depends on another and yet states something: "after we moved"."""
    text = expand_short_forms(_STATEMENT_CLAUSES.brackets.sub(" ", sentence[:MAX_SENTENCE])).strip()
    text = _STATEMENT_CLAUSES.short_day.sub(lambda day: f"{day[1]} {_FULL_DAYS[day[2][:3].casefold()]}", text)
    text = _strip_openers(_STATEMENT_CLAUSES.wanna.sub("want to", text))
    text = _STATEMENT_CLAUSES.me_and.sub(r"\1 and I", text)
    leading = _STATEMENT_CLAUSES.leading_clause.match(text)
    if leading:
        text = text[leading.end() :]
        if _STATEMENT_CLAUSES.age_of_life.match(leading[0]) or _STATEMENT_CLAUSES.during.match(leading[0]):
            text = f"{text.rstrip(' .!')} {_lower_first(leading[0].strip(' ,'))}"
    time_lead = _STATEMENT_CLAUSES.time_first.match(text)
    if time_lead and _STATEMENT_CLAUSES.time_hint.search(time_lead[1]):
        text = f"{time_lead[1].replace(',', '')}{text[time_lead.end() :]}"
    own = match_speaker(text)
    first = own.end() if own else 0
    start = 0
    if _STATEMENT_CLAUSES.unreal_lead.match(text):
        return
    condition = _STATEMENT_CLAUSES.condition.match(text)
    joint = condition[0].casefold() if condition else ""
    cuts = [cut for cut in _STATEMENT_CLAUSES.cut.finditer(text, first) if not _belongs_together(text, cut.start())]
    for cut in (*cuts, None):
        unit = text[start : cut.start()] if cut else text[start:]
        is_broken = cut is not None and cut["broken"] is not None
        is_broken = is_broken or (cut is not None and (cut["sub"] or "").strip(" ,").casefold() in _COMPLEMENTS)
        if unit.strip() and not is_broken and (not joint or joint in STATEMENT_WORDS.FACTIVE_JOINTS):
            unit = _drop_open_end(unit.rstrip(" ,"), bool(cut and cut["sub"]))
            unit = _strip_openers(unit.strip(" ,"))
            yield unit, bool(joint) and not (joint == "after" and _tells_past(unit))
        if cut is None:
            break
        start = cut.end()
        joint = "…" if is_broken else cut["sub"].strip(" ,").casefold() if cut["sub"] else ""


def _drop_open_end(unit: str, is_before_dependent: bool) -> str:
    """A clause without a joint at its end, and before a dependent clause without a thought: "I know", "I love it"."""
    unit = _STATEMENT_CLAUSES.hanging.sub("", unit)
    return _STATEMENT_CLAUSES.open_end.sub("", unit) if is_before_dependent else unit


def match_speaker(text: str) -> re.Match[str] | None:
    """The speaker as the subject of a clause, if it begins so."""
    return _STATEMENT_CLAUSES.speaker.match(text)


def _tells_past(unit: str) -> bool:
    """Whether one of the first words after the subject is a verb in the past."""
    return any(is_past(word) for word in unit.split()[1:4])


def _belongs_together(text: str, at: int) -> bool:
    """Whether a joint does not end a clause: "when I was a child", "my crew and my charts keep me going"."""
    if _STATEMENT_CLAUSES.no_cut.match(text, at):
        return True
    subject_words = text[:at].casefold().split()
    is_list = subject_words[:1] in (["my"], ["our"]) and _STATEMENT_CLAUSES.and_my.match(text, at) is not None
    return is_list and not any(word in STATEMENT_WORDS.FINITE_VERBS or is_past(word) for word in subject_words)


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _strip_openers(text: str) -> str:
    for _ in range(6):
        opener = _STATEMENT_CLAUSES.opener.match(text) or _STATEMENT_CLAUSES.announcement.match(text)
        if opener is None or opener.end() == len(text):
            break
        text = text[opener.end() :]
    return text
