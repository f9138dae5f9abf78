"""Statements: sentences in which somebody tells of their life, each as one fact in the third person, with its day.

"I finished my first screenplay last Friday" is an event, "finished their first screenplay", since that Friday. Most
sentences of a chat are none: they greet, thank, answer, wonder, feel something just now, or point at something that
stands elsewhere ("I love it", "we did that there"). So a clause must be about the speaker, its verb must tell of what
was done, is done or is planned, and what it names must be named in it. A clause in doubt is left out.

A clause is clear by itself if it speaks to nobody, supposes nothing, and names all it is about. The time that it names
is taken out of its text. The tense says which one is meant: of a plan the time lies ahead, of what was done it lies
behind; and what was booked or arranged for a time is then. A vague time ("a few years ago") stays in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from everword.facts.english import DATA, WORDS
from everword.facts.english.clauses import _STATEMENT_CLAUSES, match_speaker, possible_statements
from everword.facts.english.values import place
from everword.facts.rules.deciding import is_occasion
from everword.facts.rules.person_shift import Predicate, Tense, retell_predicate, retell_pronouns
from everword.model import FactCategory, FoundFact
from everword.text.dates import (
    MONTHS,
    WEEKDAYS,
    TimeSpan,
    days_of,
    format_days,
    month_name,
    next_after,
    noon,
    parse_times,
    spans,
)
from everword.text.detect import function_words
from everword.text.doc import words_before
from everword.text.english import PLAIN_VERBS, gerund, has_verb, is_past, species
from everword.text.filler import names_something
from everword.text.word_weights import is_ordinary
from everword.word_lists import Patterns

_CLARITY = Patterns("clarity", DATA, WORDS)


def is_unclear(unit: str) -> bool:
    """Whether a clause speaks to somebody, supposes something, or points at what it does not name."""
    if _CLARITY.unreal.search(unit) or _CLARITY.unclear.search(unit):
        return True
    return any(not _is_named(unit, pointer) for pointer in _CLARITY.pointer.finditer(unit))


_NAMED_BEFORE = {"he she him his her": "person", "they them their": "several", "it its": "new_thing"}
_NAMED_AFTER = {"that": "relative", "this": "this_time", "those such": "those_who", "one": "one_of"}
_NAMED_BY = {
    word: (pattern, is_before)
    for patterns, is_before in ((_NAMED_BEFORE, True), (_NAMED_AFTER, False))
    for words, pattern in patterns.items()
    for word in words.split()
}
"""The pattern of what a pointer may mean, and whether it stands before it."""


def _is_named(unit: str, pointer: re.Match[str]) -> bool:
    """Whether a clause names what a word in it points at."""
    word = pointer[0].casefold()
    pattern, is_before = _NAMED_BY.get(word, ("", False))
    before = unit[: pointer.start()]
    if not pattern:
        return False
    match = _CLARITY[pattern].search(before) if is_before else _CLARITY[pattern].match(unit, pointer.end())
    if match is None:
        return False
    if pattern == "several":
        return not before.endswith("of ")
    if pattern == "new_thing":
        return not _CLARITY.about.search(before)
    return pattern != "relative" or not _CLARITY.points_back.search(before)


_TELLING = Patterns("telling", DATA, WORDS)

THOUGHTS = frozenset(WORDS.THOUGHT_VERBS)
_TALKED_VERBS = ("talked", "chatted", "spoke")
_LIKES = frozenset(
    ["love", "like", "enjoy", "adore", "loved", "liked", "enjoyed", "prefer", "hate", "hated", "dislike"]
)


def tells_of_life(predicate: Predicate) -> bool:
    """Whether a predicate tells of a life, rather than of what somebody thinks or feels just now."""
    action = f"{predicate.verb} {predicate.rest}"
    if _TELLING.hard_step.match(predicate.text):
        return True
    if _TELLING.plans.match(predicate.text) or _TELLING.looks_into.match(predicate.text):
        return not _TELLING.empty_tale.match(action)
    if _TELLING.conviction.match(action):
        return not predicate.is_negated
    if predicate.verb in THOUGHTS or _TELLING.of_the_moment.match(action):
        return False
    if predicate.verb in ("am", "are", "was", "were", "been"):
        return _tells_of_state(predicate)
    return _tells_of_deed(predicate)


def _is_feeling(predicate: Predicate, action: str) -> bool:
    is_felt = _TELLING.be.match(predicate.text) and _TELLING.feeling.match(action)
    return bool(is_felt) and not _TELLING.lasting.match(action)


def _tells_of_deed(predicate: Predicate) -> bool:
    """Whether what somebody did, does or has is more than a feeling, and is named."""
    action = f"{predicate.verb} {predicate.rest}"
    if _is_feeling(predicate, action) or _is_passing(predicate) or _names_nothing(predicate):
        return False
    if predicate.verb in ("had", "having", "got") and _TELLING.trouble.search(predicate.rest.partition(" with ")[0]):
        return predicate.verb != "having" and " with " in predicate.rest
    if predicate.verb in ("have", "got") and predicate.tense != "past" and _TELLING.moment.search(predicate.rest):
        return "coming up" in predicate.rest and not predicate.rest.startswith("no ")
    if predicate.tense in ("progressive", "future") and _TELLING.which_thing.search(action):
        return False
    return not predicate.is_negated or " never " in predicate.text


def _tells_of_state(predicate: Predicate) -> bool:
    """Whether what somebody is or was lasts, or was more than a feeling."""
    if predicate.tense != "past":
        return _TELLING.lasting.match(predicate.rest) is not None
    if predicate.rest.startswith("able to ") or _TELLING.lasting.match(predicate.rest):
        return True
    is_mood = _TELLING.feeling.match(predicate.rest) or _TELLING.a_bit.match(predicate.rest)
    return " " in predicate.rest and not is_mood and not _TELLING.background.match(predicate.text)


def _is_passing(predicate: Predicate) -> bool:
    """Whether it is of this moment, or of every day."""
    if predicate.tense == "progressive" and predicate.verb in WORDS.DOING_JUST_NOW:
        return _TELLING.at_told_time.search(predicate.rest) is None
    if predicate.tense == "perfect" and predicate.verb in WORDS.DOING_LATELY:
        return True
    if predicate.tense == "progressive" and _TELLING.of_now_only.match(f"{predicate.verb} {predicate.rest}"):
        return True
    if predicate.verb in ("have", "got", "had") and _TELLING.mood.match(predicate.rest):
        return True
    return bool(
        _TELLING.background.match(predicate.text) or _TELLING.everyday.match(f"{predicate.verb} {predicate.rest}")
    )


def _names_nothing(predicate: Predicate) -> bool:
    """Whether it names no thing: it points at one, tells what was said, or says only how much."""
    if predicate.verb in ("want", "like", "love") and _TELLING.talked.match(predicate.rest):
        return True
    if predicate.verb in _LIKES and (
        _TELLING.pointed_at.match(predicate.rest) or _TELLING.does_to_one.match(predicate.rest)
    ):
        return True
    if predicate.verb in _TALKED_VERBS and not _TELLING.about_what.search(predicate.rest):
        return True
    if predicate.rest.startswith("that "):  # what was heard or noticed
        return True
    action = f"{predicate.verb} {predicate.rest}"
    if _TELLING.empty_tale.match(action) or _TELLING.empty_deed.match(action) or _TELLING.more_than_what.search(action):
        return True
    return _TELLING.no_thing.match(predicate.rest) is not None


_DAYS = Patterns("days", DATA, WORDS)


@dataclass(frozen=True, slots=True)
class TimedText:
    """A text without the time that it names: from `since` to `last`, or the end of what holds, `until`."""

    text: str
    since: date | None = None
    last: date | None = None
    until: date | None = None


def take_time(text: str, predicate: Predicate, today: date | None) -> TimedText:
    """The text without the time it names, and the days of that time."""
    if today is None:
        return TimedText(text)
    is_past = predicate.tense in ("past", "perfect")
    times = parse_times(text, today, ahead=not is_past)
    # "For a week" has begun only if it is said so: "has been there for a week".
    has_begun = predicate.tense == "perfect" or not times.lasted
    if times.since and has_begun and predicate.tense in ("perfect", "present", "progressive"):
        return TimedText(times.rest, times.since, until=times.until)
    if times.until and not is_past:
        return TimedText(times.rest, until=times.until)
    times_named = spans(text, noon(today))
    if len(times_named) > 1:  # "two weeks ago, on a Saturday"
        times_named = tuple(span for span in times_named if not _is_name_part(text, span))
    if not times_named or not all(_is_time(text, span, predicate) for span in times_named[:2]):
        return TimedText(text)
    span = min(times_named[:2], key=lambda time: (time.end - time.start, time.text.isalpha()))
    return _take_span(text, span, times_named[:2], predicate, today)


def _take_span(
    text: str, span: TimeSpan, times_named: Sequence[TimeSpan], predicate: Predicate, today: date
) -> TimedText:
    """The text without its times, and the days of the one that counts."""
    days = _days_meant(text, span, predicate, today)
    if days is None or _DAYS.inner_deed.search(text[: span.at].partition(predicate.verb)[2]):
        return TimedText(text)  # "the boat I bought last week": the time is of the inner clause
    is_of_thing = predicate.tense in ("past", "perfect") and days[0] > today
    if is_of_thing or _DAYS.until.match(span.text):
        # "Signed up for a race next Sunday": the race is then, the signing was before.
        return TimedText(_name_in_text(text, span, days), *(days if is_of_thing else ()))
    if len(times_named) > 1 and _DAYS.several.search(text[times_named[0].at : times_named[1].at]):
        first_days = _days_meant(text, times_named[0], predicate, today)
        return TimedText(text, *(first_days or ()))
    rest = text
    for time in reversed(times_named):  # "last month, on 15 May": the closer one counts
        rest = _cut_time(rest, time, rest[time.at + len(time.text) :])
    if _DAYS.open_end.search(rest):  # "my exam is on Monday"
        rest = _name_in_text(text, span, days)
    return TimedText(rest, *days)


def _days_meant(text: str, span: TimeSpan, predicate: Predicate, today: date) -> tuple[date, date] | None:
    """The first and the last day of a time, in the past or ahead as the tense says; None if it is vague, or has begun
    though it is said of what is so now."""
    days = days_of(next_after(span, noon(today)) if _lies_ahead(text, span, predicate) else span)
    if days is None:
        return None
    if predicate.tense == "perfect":  # "this year" is not over, and is named in the text
        return days if days[0] == days[1] or not _DAYS.this_period.match(span.text) else None
    if predicate.tense == "past":
        week = timedelta(days=7)  # "this weekend" is then the last one
        is_this = days[0] > today and span.text[:5].casefold() == "this "
        return (days[0] - week, days[1] - week) if is_this else days
    return days if days[0] >= today else None


def _lies_ahead(text: str, span: TimeSpan, predicate: Predicate) -> bool:
    """Whether a time is still to come, as far as the verb and the thing tell: a flight is booked *for* a day."""
    before = f"{text[: span.at]}{_DAYS.lead.match(span.text)[0]}"  # type: ignore[index]
    if predicate.tense in ("past", "perfect"):
        return _DAYS.arranged.search(before) is not None
    if predicate.tense in ("progressive", "future") or predicate.verb in WORDS.PLANNING_VERBS:
        return True
    return _DAYS.comes.search(before) is not None or predicate.verb in WORDS.TIMETABLE_VERBS


def _is_time(text: str, span: TimeSpan, predicate: Predicate) -> bool:
    """Whether a time is when it was, rather than part of a name, one of several, or a habit."""
    after = text[span.at + len(span.text) :]
    if predicate.tense != "past" and after.lstrip().startswith(","):
        return False
    return not (
        _DAYS.no_time.search(words_before(text, span.at)) or _DAYS.habit.match(after) or _is_name_part(text, span)
    )


def _cut_time(text: str, span: TimeSpan, after: str) -> str:
    before = (_DAYS.before_day if _DAYS.day_word.match(span.text) else _DAYS.before_time).sub("", text[: span.at])
    if _DAYS.part_of_day.match(after):
        return text
    return " ".join(f"{before} {after}".split()).replace(" ,", ",").replace(",,", ",")


def _name_in_text(text: str, span: TimeSpan, days: tuple[date, date]) -> str:
    """The text with its time in words that stay true: "on 3 May 2024", "in May 2024"."""
    lead = _DAYS.lead.match(span.text)
    kept_lead = lead[0] if lead else ""
    name = format_days(*days)
    after = text[span.at + len(span.text) :]
    if kept_lead or _DAYS.governs_time.search(text[: span.at]):
        name = kept_lead + re.sub(r"^(?:on|in)\s", "", name)
    part_of_day = " in the" if _DAYS.part_of_day.match(after) else ""
    return f"{text[: span.at]}{name}{part_of_day}{after}"


def _is_name_part(text: str, span: TimeSpan) -> bool:
    """Whether a time is part of a name: "their Saturday class", "Black Friday"."""
    if _DAYS.day_word.match(span.text):
        return False
    before = words_before(text, span.at)
    if _DAYS.article.search(before):
        return True
    is_bare_name = span.text.isalpha() and span.text.istitle()
    return is_bare_name and (
        _DAYS.name_before.search(before) is not None
        or _DAYS.name_after.match(text, span.at + len(span.text)) is not None
    )


def date_periods(text: str, today: date | None) -> str:
    """The text with the month or the year that is meant: "this month" is another one when it is read."""
    if today is None:
        return text
    name = f"{month_name(today.month)} {today.year}"
    return _DAYS.this_period.sub(lambda period: f"in {name if period[1].casefold() == 'month' else today.year}", text)


def tells_stale_time(text: str) -> bool:
    """Whether a text names a time that only the day of its message explains: "yesterday". A vague one stays vague."""
    return _DAYS.stale.search(_DAYS.vague.sub("", text)) is not None


_STATEMENTS = Patterns("statements", DATA, WORDS)

MAX_WORDS = 22
"""Words of one statement; a longer one is a story, and is left out."""
_CONFIDENCE = 0.8
_IMPORTANCE_OF_HOME = 0.7
_IMPORTANCE: dict[FactCategory, float] = {
    "relationship": 0.45,
    "work": 0.45,
    "health": 0.45,
    "plan": 0.4,
    "event": 0.4,
}


@dataclass(frozen=True, slots=True)
class LifeStatement:
    """A statement in the third person, before its day is known."""

    text: str
    predicate: Predicate
    about_other: bool = False


def read_statements(sentence: str, today: date | None, *, in_request: bool, is_long_ago: bool) -> Iterator[FoundFact]:
    """The statements in a sentence that states something, as facts. If it is `in_request`, in a message
    that asks something, what somebody only thinks of doing is what they ask about. If the message tells of long ago, an
    event without a day was not on the day of the message."""
    subject_is_speaker = True
    for unit, is_dependent in possible_statements(sentence) if _STATEMENTS.hint.search(sentence) else ():
        fact = _read_unit(unit, today) if subject_is_speaker or not _STATEMENTS.bare.match(unit) else None
        subject_is_speaker = match_speaker(unit) is not None
        if fact is None or (in_request and fact.since is None and _STATEMENTS.in_request.match(fact.value)):
            continue
        if is_dependent and not _stands_alone(fact):
            continue
        yield _without_day(fact) if is_dependent or is_long_ago or fact.value.startswith(_WAS_SOMEWHERE) else fact


def _without_day(fact: FoundFact) -> FoundFact:
    """A fact of an earlier time: if it names no day, it was not on that of the message."""
    is_undated = fact.since is None and fact.category in ("event", "relationship")
    return replace(fact, is_undated=True) if is_undated else fact


_WAS_SOMEWHERE = ("was in ", "was at ", "used to ")


def _stands_alone(fact: FoundFact) -> bool:
    """Whether what a dependent clause tells is told for itself: "when my son broke his arm"."""
    is_of_kin = fact.category == "relationship" and fact.value.startswith("their ")
    return is_of_kin if fact.since is None else is_of_kin or fact.category == "event"


# One unit


def _read_unit(unit: str, today: date | None) -> FoundFact | None:
    unit = _STATEMENTS.aside.sub(" ", unit).strip(" .!,")
    unit = _shorten(unit)
    lead = _STATEMENT_CLAUSES.time_first.match(unit)
    if lead and _STATEMENT_CLAUSES.time_hint.search(lead[1]):
        unit = f"{unit[lead.end() :]} {_lower_time(lead[1].strip(' ,'))}"
    unit = _name_thing(_STATEMENTS.bare_kin.sub("my ", unit))
    unit = _STATEMENTS.wish.sub("I want to ", _STATEMENTS.here.sub("", unit))
    if unit[:3].casefold() == "it ":
        unit = _STATEMENTS.important.sub(_name_important, _STATEMENTS.dream.sub("my dream is to ", unit))
    unit = _clear_part(unit)
    if not unit:
        return None
    statement = _read_statement(unit)
    if statement is None or (
        statement.predicate.tense in ("present", "progressive") and _STATEMENTS.passing.search(unit)
    ):
        return None
    if statement.predicate.tense == "perfect" and _STATEMENTS.minutes.search(unit):
        return None
    return _build_fact(statement, today)


def _lower_time(text: str) -> str:
    """A time that stood first, as it stands in a sentence: "the other day" for "Just the other day"."""
    is_name = text.split(" ")[0].casefold() in (*MONTHS, *WEEKDAYS)
    return text if is_name else re.sub(r"^just\s", "", text[:1].lower() + text[1:])


def _name_important(match: re.Match[str]) -> str:
    """The clause with what is important as its subject: "it is important to me to vote"."""
    return f"{gerund(match[2])} {match[3].rstrip(' .!')} is {match[1]} to me"


_LEAST_KEPT = 0.4


def _shorten(unit: str) -> str:
    """The clause up to a comma or an "and" if it is long: a story has more than one fact can tell."""
    if len(unit.split()) <= MAX_WORDS:
        return unit
    head = " ".join(unit.split()[:MAX_WORDS])
    for pause in (_STATEMENTS.long_pause, _STATEMENTS.pause):
        ends = [end.start() for end in pause.finditer(head) if end.start() > _LEAST_KEPT * len(head)]
        if ends:
            return head[: ends[-1]]
    return ""


def _clear_part(unit: str) -> str:
    """The clause, or as much of its beginning as is clear by itself."""
    if not is_unclear(unit):
        return unit
    head = _before_and(unit)
    parts = [_before_pointer(unit), head, _before_pointer(head)]
    return next((part for part in parts if part != unit and not is_unclear(part)), "")


def _before_pointer(unit: str) -> str:
    """A clause without a last phrase that points at what stands elsewhere: "made a cake for her"."""
    pointer = _STATEMENTS.pointer_at_end.search(unit)
    if pointer is None:
        return unit
    head = unit[: pointer.start()]
    return unit if _STATEMENTS.open_verb.search(head) else head


def _before_and(unit: str) -> str:
    """What a clause says before the last "and", if another verb follows: "a safe and loving home" is not cut."""
    head, joint, tail = unit.rpartition(" and ")
    verb = tail.partition(" ")[0].casefold()
    is_clause = is_past(verb) or verb in PLAIN_VERBS or verb in WORDS.SUBJECT_WORDS or head.endswith(",")
    return head.strip(" ,") if joint and is_clause else unit


_PARTICLES = frozenset(WORDS.PARTICLES)


def _name_thing(unit: str) -> str:
    """The clause with "a bowl" for the first "this bowl", if it follows the verb: what is true of one, is true of a."""
    thing = _STATEMENTS.this_thing.search(unit)
    words_before = unit[: thing.start()].split() if thing else []
    if words_before and words_before[-1].casefold() in _PARTICLES:
        words_before.pop()
    if thing is None or not 1 <= len(words_before) <= 4 or not is_past(words_before[-1]):
        return unit
    if thing[0].strip() == "that" and words_before[-1].casefold() in WORDS.FINDING_VERBS:
        return _STATEMENTS.found_that.sub(r"\1 ", unit, count=1)  # "found that walking helps" names no thing
    if any(word.casefold() in WORDS.HELPERS for word in words_before[:-1]):
        return unit  # "have been interested in this"
    article = "some" if thing["which"].endswith("se") else "an" if thing[2] in "aeiou" else "a"
    return f"{unit[: thing.start()]} {article} {unit[thing.end() :]}"


def _read_statement(unit: str) -> LifeStatement | None:
    speaker = match_speaker(unit)
    if speaker:
        return _read_own(unit, speaker)
    bare = _STATEMENTS.bare.match(unit)
    if bare and not _STATEMENTS.no_actor.match(unit, bare.end()):
        return None if bare["doing"] and _STATEMENTS.finite.search(unit, bare.end()) else _read_bare(unit, bare)
    mine = _STATEMENTS.mine.match(unit)
    if mine:
        return None if mine["our"] and not is_past(mine["verb"]) else _read_other(unit, mine["verb"], mine.end())
    thing = _STATEMENTS.thing.match(unit)
    is_definite = unit[:4].casefold() == "the "
    if thing and not (is_definite and (is_past(thing["verb"]) or len(thing["what"].split()) < 2)):
        return _read_other(unit, thing["verb"], thing.end())
    return None


def _add_company(text: str, other: str) -> str:
    """The text with who else took part, before a clause of time."""
    head, joint, clause = text.partition(" when they ")
    return f"{head} with {_lower_first(other)}{joint}{clause}" if other else text


def _leaves_out_others(predicate: Predicate) -> bool:
    """Whether it takes the others of "we", who are not named: "decided to move in together"."""
    return _STATEMENTS.with_others.search(predicate.rest) is not None and " with " not in predicate.rest


def _is_about_all(predicate: Predicate) -> bool:
    """Whether "we" may be everybody, or the two who talk: only what we did, do just now or have is of the speaker."""
    if _STATEMENTS.together.search(predicate.rest) or _STATEMENTS.mates.match(predicate.rest):
        return True
    if predicate.tense == "past":
        return False
    if predicate.tense == "progressive":
        return predicate.verb not in WORDS.WE_ARE_DOING
    if _STATEMENTS.habit.match(predicate.text) or (predicate.tense == "perfect" and predicate.verb.endswith("ing")):
        return False
    return not (predicate.verb in ("have", "own", "got", "live") and _STATEMENTS.counted.match(predicate.rest))


def _read_bare(unit: str, bare: re.Match[str]) -> LifeStatement | None:
    start = next(bare.start(name) for name in ("past", "been", "gonna", "doing") if bare[name])
    helper = "have " if bare["been"] else "am " if bare["doing"] else "am " if bare["gonna"] else ""
    action = re.sub(r"^gonna\b", "going to", unit[start:], flags=re.IGNORECASE)
    predicate = retell_predicate(f"{helper}{action[0].lower()}{action[1:]}")
    return LifeStatement(predicate.text, predicate) if predicate and tells_of_life(predicate) else None


def _read_own(unit: str, speaker: re.Match[str]) -> LifeStatement | None:
    """What the speaker says of themself, alone or with others: "we moved to Lyon"."""
    predicate = retell_predicate(unit[speaker.end() :])
    if predicate is None or not tells_of_life(predicate):
        return None
    if (speaker["we"] and _is_about_all(predicate)) or (not speaker["other"] and _leaves_out_others(predicate)):
        return None
    other = retell_pronouns(speaker["other"].strip()) if speaker["other"] else ""
    if has_verb(other):
        return None  # "red reminds me of blood and I" is no company
    return LifeStatement(_add_company(predicate.text, other), predicate)


def _passes(unit: str, verb: str, rest: str) -> bool:
    """Whether what something does or did is over soon: "the film made me cry"."""
    action = f"{verb} {rest}"
    moves_speaker = _STATEMENTS.made_me.match(rest) and (is_past(verb) or unit[:4].casefold() == "the ")
    return (
        bool(moves_speaker or _STATEMENTS.how_it_has_been.match(action) or _STATEMENTS.came_and.match(action))
        or verb.casefold() in WORDS.PASSING_ACTS
    )


def _read_other(unit: str, verb: str, end: int) -> LifeStatement | None:
    """What is said of somebody or something of the speaker's: "my car broke down"."""
    rest = _STATEMENTS.empty.sub("", unit[end:])
    is_of_kin = _STATEMENTS.of_kin.match(unit) is not None and _STATEMENTS.kin_doing.match(rest) is not None
    if (verb.casefold() in THOUGHTS and verb.casefold() != "believed") or (
        _STATEMENTS.is_word.match(verb) and not _STATEMENTS.what_it_is.match(rest) and not is_of_kin
    ):
        return None  # how something is, it is for a while: "my train is late"
    if _passes(unit, verb, rest):
        return None
    if _STATEMENTS.goal_was.match(unit):
        return None  # of what it was the goal stands elsewhere
    text = retell_pronouns(_STATEMENTS.empty.sub("", _lower_first(unit)))
    tense: Tense = "past" if is_past(verb) else "progressive" if is_of_kin else "present"
    predicate = Predicate(text, tense, verb.casefold(), rest)
    return LifeStatement(text, predicate, about_other=True)


def _lower_first(text: str) -> str:
    """The text with a small letter, if it does not begin with a name."""
    first = re.sub(r"['’]s$", "", text.split(" ", 1)[0].casefold())
    is_plain = is_ordinary(first) or first in ("my", "our", "their", "the", "some") or first.endswith(_NOUN_ENDINGS)
    return text[0].lower() + text[1:] if is_plain else text


# The value


def _is_worth_keeping(predicate: Predicate, text: str, phrase: TimedText, today: date | None) -> bool:
    if today is not None and tells_stale_time(text):
        return False
    has_day = phrase.since is not None or phrase.until is not None
    if not _says_something(_DAYS.vague.sub("", text), predicate, has_day) or _STATEMENTS.no_favourite.match(text):
        return False
    # A promise in the chat: "I'll ask around".
    return not (predicate.text.startswith("will ") and phrase.since in (None, today))


def _next_home(text: str) -> str:
    move = _STATEMENTS.move.match(text)
    return place(text[move.end() :]) if move else ""


def _build_fact(statement: LifeStatement, today: date | None) -> FoundFact | None:
    text = statement.text
    for pattern in (_STATEMENTS.vague_time, _STATEMENTS.tail, _STATEMENTS.to_whom, _STATEMENTS.empty_end):
        text = pattern.sub("", text)
    if count := _read_count(statement, text):
        return count
    phrase = take_time(text, statement.predicate, today)
    since = phrase.since
    text = _STATEMENTS.tail.sub("", _STATEMENTS.symbols.sub("", date_periods(phrase.text, today))).strip(" ,.!;:-–—'\"")
    if not _is_worth_keeping(statement.predicate, text, phrase, today):
        return None
    is_ahead = since is not None and today is not None and since > today
    if is_ahead and (home := _next_home(text)):
        return FoundFact("plan", "location", home, _CONFIDENCE, _IMPORTANCE_OF_HOME, corrects=True, since=since)
    category = "plan" if is_ahead else _category(statement, text)
    key, value = _key_and_value(category, text)
    if not value:
        return None
    is_undated = category == "event" and since is None and _DAYS.vague.search(text) is not None
    importance = _IMPORTANCE.get(category, 0.4)
    fact = FoundFact(category, key, value, _CONFIDENCE, importance, since=since, is_undated=is_undated)
    return replace(fact, until=phrase.until or (phrase.last if is_occasion(fact) else None))


def _read_count(statement: LifeStatement, text: str) -> FoundFact | None:
    """How many of a thing somebody has, under a key of its own: a newer number takes the place of an older one."""
    if statement.predicate.tense == "past" or statement.predicate.is_negated or _STATEMENTS.kin.match(text):
        return None
    for pattern in (_STATEMENTS.count_of, _STATEMENTS.count_owned, _STATEMENTS.count_in):
        if count := pattern.fullmatch(text.strip(" .!")):
            thing = " ".join(filter(None, (count["thing"], count.groupdict().get("parts")))).casefold()
            if thing.split()[-1] in WORDS.NOT_COUNTED or species(thing):
                return None
            return FoundFact("possession", f"number of {thing}", count["number"], _CONFIDENCE, 0.4, corrects=True)
    return None


def _key_and_value(category: FactCategory, text: str) -> tuple[str, str]:
    """The key and the value of a statement. A preference has what is liked, as a thing: "reading" for "to read"; no
    value if that names nothing."""
    liking = _STATEMENTS.liking.match(text) if category == "preference" else None
    if liking is None:
        return category, text
    value = re.sub(r"^to\s(\w+)", lambda to_do: gerund(to_do[1]), text[liking.end() :])
    return "prefers" if liking[0].startswith("prefer") else "likes", value if names_something(value.split()) else ""


_NOUN_ENDINGS = ("ing", "ship", "ness", "ment", "tion", "ity", "ism", "ics")
_TOLD_BY_ONE_NAME = ("has always had ", "is doing ", "is part of ", "their dream is to ")
_THIN = frozenset(WORDS.THIN_WORDS) | function_words("en")


def _says_something(text: str, predicate: Predicate, has_day: bool) -> bool:
    """Whether a text names something: beside the verb, if it tells of the past or of a day."""
    rest = text.partition(predicate.verb)[2]
    if predicate.tense == "past" and predicate.verb in WORDS.TURNING_POINTS:
        return True
    if text.startswith(_TOLD_BY_ONE_NAME):
        return _names(text, 1)
    return _names(text, 2) or ((has_day or predicate.tense == "past") and _names(rest, 1))


def _names(text: str, count: int) -> bool:
    """Whether a text has so many words that say something."""
    words = map(str.casefold, _STATEMENTS.word.findall(text))
    names = {word for word in words if len(word) > 2 and word not in _THIN}
    return len(names) >= count and names_something(names)


# Categories


def _is_possession(statement: LifeStatement, text: str) -> bool:
    verb = statement.predicate.verb
    if verb in WORDS.POSSESSION_VERBS and not text.startswith("was "):
        return True
    may_own = not statement.about_other and verb in ("have", "has", "got")
    return may_own and re.match(r"(?:an?|my|two|three|some|new)\b(?!\slot)", statement.predicate.rest) is not None


def _category(statement: LifeStatement, text: str) -> FactCategory:
    predicate = statement.predicate
    verb = predicate.verb
    if predicate.tense == "future" or verb in WORDS.PLANNING_VERBS:
        return "plan"
    if statement.about_other and _STATEMENTS.kin.match(text):
        return "relationship"
    if _STATEMENTS.relation.search(text):
        return "relationship" if predicate.tense != "past" else "event"
    return "health" if _STATEMENTS.health.search(text) else _category_of_deed(statement, text)


def _category_of_deed(statement: LifeStatement, text: str) -> FactCategory:
    predicate = statement.predicate
    verb = predicate.verb
    is_of_work = _STATEMENTS.work.search(text) is not None
    if verb == "got" and predicate.tense == "past" and (is_of_work or _STATEMENTS.got_from.search(text)):
        return "work" if is_of_work else "event"
    if _is_possession(statement, text):
        return "possession"
    if is_of_work:
        return "work"
    if predicate.tense == "past":
        return "event"
    if _STATEMENTS.liking.match(text):
        return "preference"
    return "place" if verb in WORDS.PLACE_VERBS else "other"
