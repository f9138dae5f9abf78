"""Statements: sentences in which somebody tells of their life, each as one fact in the third person, with its day.

"I finished my first screenplay last Friday" is an event, "finished their first screenplay", since that Friday. Most
sentences of a chat are none: they greet, thank, answer, wonder, feel something just now, or point at something that
stands elsewhere ("I love it", "we did that there"). So a clause must be about the speaker, its verb must tell of what
was done, is done or is planned, and what it names must be named in it. A clause in doubt is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from recollect.language.calendar_words import MONTHS, WEEKDAYS
from recollect.language.english_verbs import PLAIN_VERBS
from recollect.language.fact_words import PETS, RELATIONS
from recollect.language.stopwords import function_words
from recollect.language.verbs import PAST_FORMS, gerund, is_past
from recollect.language.word_weights import is_ordinary
from recollect.model import FactCategory, FoundFact
from recollect.rules.facts_english import statement_words as words
from recollect.rules.facts_english.retelling import Predicate, retell_predicate, retell_pronouns
from recollect.rules.facts_english.statement_clauses import SELF, TIME_FIRST, TIME_HINT, statement_clauses
from recollect.rules.facts_english.statement_days import take_time
from recollect.rules.facts_english.values import place
from recollect.rules.facts_english.words import NUMBERS_TO_SIX, any_of, longest_first, word_tuple

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


def find_statements(
    assertions: Iterable[str], today: date | None = None, *, in_request: bool = False, is_long_ago: bool = False
) -> Iterator[FoundFact]:
    """The statements in sentences that state something, as facts. If they are `in_request`, in a message that asks
    something, what somebody only thinks of doing is what they ask about. If the message tells of long ago, an event
    without a day was not on the day of the message."""
    for sentence in assertions:
        if _HINT.search(sentence):
            for unit, is_dependent in statement_clauses(sentence):
                fact = _read_unit(unit, today)
                if fact is None or (in_request and _IN_REQUEST.match(fact.value)):
                    continue
                if is_dependent and (fact.category != "event" or fact.since is None):
                    continue
                is_undated = is_long_ago and fact.category == "event" and fact.since is None
                yield replace(fact, is_undated=True) if is_undated else fact


_IN_REQUEST = re.compile(
    r"(?:is|has\sbeen)\s(?:debating|wondering)\b|is\sthinking\b|the\s.*\s(?:is|are)\simportant\sto\sthem"
)
_HINT = re.compile(
    rf"\b(?:i|we|my|our|me|us|i['’]\w+|we['’]\w+|gonna|been|{any_of(words.BARE_PAST, words.BARE_PROGRESSIVE)})\b",
    re.IGNORECASE,
)

# One unit

_BARE = re.compile(
    rf"(?:(?:just|recently|finally|also|even|have|already)\s+)*(?:(?P<past>{any_of(words.BARE_PAST)})|(?P<been>been\s\w+ing)"
    rf"|(?P<gonna>gonna|going\sto)|(?P<doing>{any_of(words.BARE_PROGRESSIVE)}))\s+(?=\w)",
    re.IGNORECASE,
)
_MINE = re.compile(
    r"(?:my|(?P<our>our))\s(?P<who>(?:(?!to\s)[\w'’&-]+,?\s){1,6}?)"
    rf"(?P<verb>{any_of(words.FINITE_VERBS, sorted(PAST_FORMS))}|(?-i:[a-z]{{2,}}ed))\s+(?=\w)",
    re.IGNORECASE,
)
_THING = re.compile(
    rf"(?:the\s(?=\w+\s\w+\s)|(?!{any_of(words.SUBJECTS_THAT_POINT)}\b))(?P<what>(?:[\w'’-]+\s){{1,6}}?)"
    rf"(?P<verb>{any_of(words.FINITE_VERBS)}|{any_of(words.EFFECT_VERBS)})\s+(?=.*\b(?:me|my)\b)",
    re.IGNORECASE,
)


def _read_unit(unit: str, today: date | None) -> FoundFact | None:
    unit = _shorten(_ASIDE.sub(" ", unit).strip(" .!,"))
    lead = TIME_FIRST.match(unit)
    if lead and TIME_HINT.search(lead[1]):
        unit = f"{unit[lead.end() :]} {lead[1].strip(' ,')}"
    unit = _name_thing(unit)
    if _is_unclear(unit):
        unit = _before_and(unit)
        if _is_unclear(unit):
            return None
    statement = _read_statement(unit)
    if statement is None or (statement.predicate.tense in ("present", "progressive") and _PASSING.search(unit)):
        return None
    if statement.predicate.tense == "perfect" and _MINUTES.search(unit):
        return None
    return _build_fact(statement, today)


_ASIDE = re.compile(rf",\s{any_of(words.ASIDES)},\s?", re.IGNORECASE)
_LONG_PAUSE = re.compile(r",\s|\sand\s", re.IGNORECASE)
_LEAST_KEPT = 0.4
_PAUSE = re.compile(rf",\s|\s{any_of(words.PHRASE_STARTS)}\s", re.IGNORECASE)


def _shorten(unit: str) -> str:
    """The clause up to a comma or an "and" if it is long: a story has more than one fact can tell."""
    if len(unit.split()) <= MAX_WORDS:
        return unit
    head = " ".join(unit.split()[:MAX_WORDS])
    for pause in (_LONG_PAUSE, _PAUSE):
        ends = [end.start() for end in pause.finditer(head) if end.start() > _LEAST_KEPT * len(head)]
        if ends:
            return head[: ends[-1]]
    return ""


def _is_unclear(unit: str) -> bool:
    """Whether a clause speaks to somebody, supposes something, or points at what it does not name."""
    patterns = (_YOU, _UNREAL, _TALK, _SO_THAT, _THEN, _SOMETHING, _CUT_SHORT)
    return any(pattern.search(unit) for pattern in patterns) or _points_away(unit)


def _before_and(unit: str) -> str:
    """What a clause says before the last "and", if another verb follows: "a safe and loving home" is not cut."""
    head, joint, tail = unit.rpartition(" and ")
    verb = tail.partition(" ")[0].casefold()
    is_clause = is_past(verb) or verb in PLAIN_VERBS or verb in words.SUBJECT_WORDS or head.endswith(",")
    return head.strip(" ,") if joint and is_clause else unit


_SO_THAT = re.compile(r"\b(?:so|such)\s(?:\w+\s){1,6}that\b", re.IGNORECASE)
_THEN = re.compile(
    r"\b(?:(?:since|by|until|before|after)\sthen|the\s(?:same|whole)\s\w+$|a\ssimilar|got\sthe\s\w+(?:$|\sand\b))",
    re.IGNORECASE,
)
_SOMETHING = re.compile(r"(?<!,\s)\b(?:something|somewhere|somehow)\b", re.IGNORECASE)
_CUT_SHORT = re.compile(rf"\b(?:the|a)\s{any_of(words.NOUNS_THAT_LEAD)}$", re.IGNORECASE)


_MINUTES = re.compile(r"\b(?:minutes?|hours?)\b", re.IGNORECASE)
_PASSING = re.compile(rf"\b{any_of(words.PASSING_WORDS)}\b", re.IGNORECASE)
_UNREAL = re.compile(rf"\b{any_of(words.UNREAL_WORDS)}\b")
_THIS_THING = re.compile(rf"(?<=\w)\s(?:this|that)\s(?=(?!{any_of(words.NO_NOUNS)}\b)([a-z])[a-z]+)")
_YOU = re.compile(rf"\b{any_of(words.YOU_WORDS)}\b", re.IGNORECASE)


def _name_thing(unit: str) -> str:
    """The clause with "a bowl" for the first "this bowl", if it follows the verb."""
    thing = _THIS_THING.search(unit)
    words_before = unit[: thing.start()].split() if thing else []
    if thing is None or not 1 <= len(words_before) <= 4 or not is_past(words_before[-1]):
        return unit
    return f"{unit[: thing.start()]} {'an' if thing[1] in 'aeiou' else 'a'} {unit[thing.end() :]}"


def _read_statement(unit: str) -> LifeStatement | None:
    own = SELF.match(unit)
    if own:
        predicate = retell_predicate(unit[own.end() :])
        if predicate is None or not _tells(predicate):
            return None
        if own["we"] and (_is_about_all(predicate) or _leaves_out_others(predicate)):
            return None
        other = retell_pronouns(own["other"].strip()) if own["other"] else ""
        return LifeStatement(f"{predicate.text} with {_lower_first(other)}" if other else predicate.text, predicate)
    bare = _BARE.match(unit)
    if bare and not _NO_ACTOR.match(unit, bare.end()):
        return None if bare["doing"] and _FINITE.search(unit, bare.end()) else _read_bare(unit, bare)
    mine = _MINE.match(unit)
    if mine:
        return None if mine["our"] and not is_past(mine["verb"]) else _read_other(unit, mine["verb"], mine.end())
    thing = _THING.match(unit)
    if thing and not (unit[:4].casefold() == "the " and is_past(thing["verb"])):
        return _read_other(unit, thing["verb"], thing.end())
    return None


_NO_ACTOR = re.compile(  # "took some time", "gave me hope": something else is the subject
    r"(?:me|us|be|some|lots|time|\d+|two|three|a\s(?:lot|while|bit|few|day|week))\b", re.IGNORECASE
)
_FINITE = re.compile(rf"\b(?:{any_of(words.FINITE_VERBS)}|{any_of(words.UNREAL_WORDS)})\b", re.IGNORECASE)
_HABIT = re.compile(rf"{any_of(words.ADVERBS_OF_HABIT)}\s")
_COUNTED = re.compile(rf"(?:{any_of(NUMBERS_TO_SIX)}|an?|one|\d+|in)\s", re.IGNORECASE)
_WITH_OTHERS = re.compile(r"\btogether$", re.IGNORECASE)
_TOGETHER = re.compile(r"\beach\sother\b|\bone\sanother\b", re.IGNORECASE)


def _leaves_out_others(predicate: Predicate) -> bool:
    """Whether it takes the others of "we", who are not named: "decided to move in together"."""
    return _WITH_OTHERS.search(predicate.rest) is not None and " with " not in predicate.rest


def _is_about_all(predicate: Predicate) -> bool:
    """Whether "we" may be everybody, or the two who talk: only what we did, do just now or have is of the speaker."""
    if _TOGETHER.search(predicate.rest):
        return True
    if predicate.tense == "past":
        return False
    if predicate.tense == "progressive":
        return predicate.verb not in words.WE_ARE_DOING
    if _HABIT.match(predicate.text) or (predicate.tense == "perfect" and predicate.verb.endswith("ing")):
        return False
    return not (predicate.verb in ("have", "own", "got", "live") and _COUNTED.match(predicate.rest))


def _read_bare(unit: str, bare: re.Match[str]) -> LifeStatement | None:
    start = next(bare.start(name) for name in ("past", "been", "gonna", "doing") if bare[name])
    helper = "have " if bare["been"] else "am " if bare["doing"] else "am " if bare["gonna"] else ""
    action = re.sub(r"^gonna\b", "going to", unit[start:], flags=re.IGNORECASE)
    predicate = retell_predicate(f"{helper}{action[0].lower()}{action[1:]}")
    return LifeStatement(predicate.text, predicate) if predicate and _tells(predicate) else None


def _read_other(unit: str, verb: str, end: int) -> LifeStatement | None:
    """What is said of somebody or something of the speaker's: "my car broke down"."""
    rest = _EMPTY.sub("", unit[end:])
    if (verb.casefold() in _THOUGHTS and verb.casefold() != "believed") or (
        _IS.match(verb) and not _WHAT_IT_IS.match(rest)
    ):
        return None  # how something is, it is for a while: "my train is late"
    if _MADE_ME.match(rest):
        return None
    text = retell_pronouns(_EMPTY.sub("", _lower_first(unit)))
    predicate = Predicate(text, "past" if is_past(verb) else "present", verb.casefold(), rest)
    return LifeStatement(text, predicate, about_other=True)


_MADE_ME = re.compile(rf"(?:me|us)\s(?:feel\s)?(?:so\s)?{any_of(words.FEELING_WORDS)}\b", re.IGNORECASE)
_IS = re.compile(r"(?:is|are)\b", re.IGNORECASE)
_EMPTY = re.compile(r"\b(?:just|really|also|actually)\s(?=\w)")


def _lower_first(text: str) -> str:
    """The text with a small letter, if it does not begin with a name."""
    first = re.sub(r"['’]s$", "", text.split(" ", 1)[0].casefold())
    is_plain = is_ordinary(first) or first in ("my", "our", "their", "the") or first.endswith(words.NOUN_ENDINGS)
    return text[0].lower() + text[1:] if is_plain else text


_WHAT_IT_IS = re.compile(rf"{any_of(words.AFTER_LASTING_IS)}\b", re.IGNORECASE)

# Whether a predicate tells something

_THOUGHTS = frozenset(words.THOUGHT_VERBS)
_FEELING = re.compile(
    rf"(?:so\s|very\s|really\s|quite\s|pretty\s|a\sbit\s|a\slittle\s)*{any_of(words.FEELING_WORDS)}\b", re.IGNORECASE
)
_BE = re.compile(r"(?:is|was|(?:has|had)\s(?:\w+\s)?been)\b")
_LASTING = re.compile(rf"(?!a\s(?:bit|little|tad)\b){any_of(words.LASTING_STATES)}\b", re.IGNORECASE)
_POINTED = re.compile(rf"^(?:{any_of(words.POINTERS)})\b", re.IGNORECASE)
_PLANS = re.compile(
    rf"(?:(?:is|has\sbeen)\sthinking\s(?:about|of)\s|(?:is|has\sbeen)\slooking\sforward\sto\s(?:their\s)?|always\slooks\sforward\sto\s(?:their\s)?)"
    rf"(?!{any_of(words.WANT_TO_TALK_DOING)}\b)(?:\w+ing\b|an?\b|(?<=their\s)\w)",
    re.IGNORECASE,
)
_CONVICTION = re.compile(
    r"(?:believe\sin|care\s(?:a\slot\s|deeply\s)?about)\s(?!it\b|that\b|this\b|us\b|them\b)\w", re.IGNORECASE
)
_TO_THINK = re.compile(rf"(?:to\s)?{any_of(words.THOUGHT_VERBS)}\b", re.IGNORECASE)
_BACKGROUND = re.compile(r"(?:was|were)\s\w+ing\b|had\sto\s", re.IGNORECASE)
_MOOD = re.compile(rf"(?:an?|the|some|this|that)\s(?:\w+\s)?{any_of(words.MOODS)}\b", re.IGNORECASE)
_MOMENT = re.compile(rf"^(?:\w+\s){{0,3}}?{any_of(words.THINGS_OF_THE_MOMENT)}\b", re.IGNORECASE)
_SOME = re.compile(
    rf"{any_of(words.QUANTITIES, NUMBERS_TO_SIX)}(?:\s(?:{any_of(words.AFTER_QUANTITY)})\b|$)", re.IGNORECASE
)
_OF_THE_MOMENT = re.compile(
    rf"(?:(?:am\s|are\s)?interested\sin\s(?:\w+ing|the|this|your)|want\s(?!to\s{any_of(words.LIFE_VERBS)}\b)"
    r"|am\san?\s(?:bit|little|tad|lot)|(?:make|making)\ssure)\b"
    rf"|trying\sto\s(?!{any_of(words.LIFE_EFFORTS)}\b)",
    re.IGNORECASE,
)
_EVERYDAY = re.compile(
    rf"(?:got|came|went)\s(?:back\s)?(?:from|to|for)\s(?:an?\s|my\s|the\s)?(?:\w+\s)?{any_of(words.WALKS)}$"
    r"|added\s(?!.*\bto\b)",
    re.IGNORECASE,
)
_TALKED_VERBS = ("talked", "chatted", "spoke")
_ABOUT_WHAT = re.compile(r"\b(?:about|at|on)\b", re.IGNORECASE)
_TROUBLE = re.compile(
    rf"^(?:\w+\s){{0,4}}?{any_of(words.TROUBLES)}(?:\W*$|\s(?:last|this|yesterday|at|in)\b)", re.IGNORECASE
)
_LIKES = frozenset(word_tuple("love like enjoy adore loved liked enjoyed prefer hate hated dislike"))
_POINTED_AT = re.compile(rf"(?:all\s)?{any_of(words.POINTING_OBJECTS)}\b", re.IGNORECASE)
_UNNAMED = re.compile(
    r"(?:\w+\s)?(?:something|things|stuff|a\snew\s(?:hobby|thing|project)|(?:on\s)?an?\s(?:big\s|cool\s)?project|out\son\stop)(?:\s\w+)?\W*$",
    re.IGNORECASE,
)
_TALKED = re.compile(rf"to\s{any_of(words.WANT_TO_TALK)}\b", re.IGNORECASE)


def _tells(predicate: Predicate) -> bool:
    """Whether a predicate tells of a life, rather than of what somebody thinks or feels just now."""
    if _PLANS.match(predicate.text):
        return True
    if _CONVICTION.match(f"{predicate.verb} {predicate.rest}"):
        return not predicate.is_negated
    if predicate.verb in _THOUGHTS or _OF_THE_MOMENT.match(f"{predicate.verb} {predicate.rest}"):
        return False
    if predicate.verb in ("am", "are", "was", "were", "been"):
        if predicate.tense == "past":
            if predicate.rest.startswith("able to "):
                return True
            return (
                " " in predicate.rest and not _FEELING.match(predicate.rest) and not _BACKGROUND.match(predicate.text)
            )
        return _LASTING.match(predicate.rest) is not None
    is_state = _BE.match(predicate.text) is not None
    if (
        is_state
        and _FEELING.match(f"{predicate.verb} {predicate.rest}")
        and not _LASTING.match(f"{predicate.verb} {predicate.rest}")
    ):
        return False
    if predicate.verb in ("want", "like", "love") and _TALKED.match(predicate.rest):
        return False
    if _BACKGROUND.match(predicate.text) or _UNNAMED.match(predicate.rest):
        return False
    if predicate.tense == "progressive" and predicate.verb in words.DOING_JUST_NOW:
        return False
    if predicate.verb in ("have", "got", "had") and _MOOD.match(predicate.rest):
        return False
    if (
        _SOME.match(predicate.rest)
        or _TO_THINK.match(predicate.rest)
        or (predicate.verb in _LIKES and _POINTED_AT.match(predicate.rest))
    ):
        return False
    if _EVERYDAY.match(f"{predicate.verb} {predicate.rest}"):
        return False
    if predicate.rest.startswith("that "):
        return False  # what was heard or noticed
    if predicate.verb in _TALKED_VERBS and not _ABOUT_WHAT.search(predicate.rest):
        return False
    if predicate.verb in ("had", "having", "got") and _TROUBLE.search(predicate.rest.partition(" with ")[0]):
        return predicate.verb != "having" and " with " in predicate.rest
    if predicate.verb in ("have", "got") and predicate.tense != "past" and _MOMENT.search(predicate.rest):
        return "coming up" in predicate.rest and not predicate.rest.startswith("no ")
    return not predicate.is_negated or " never " in predicate.text


# The value

_TALK = re.compile(rf"\b{any_of(words.TALK_WORDS)}\b", re.IGNORECASE)
_SYMBOLS = re.compile(r"[^\w\s.,;:!?&%$€£+#'’\"“”/()-]+")
_VAGUE_TIME = re.compile(rf",?(?:\s+just)?\s+{any_of(words.VAGUE_TIMES)}\b", re.IGNORECASE)
_TAIL = re.compile(rf"(?:[\s,]+{any_of(words.END_PHRASES)}|,\sso\s\w+)+$", re.IGNORECASE)
_NO_FAVOURITE = re.compile(r"their\sfavou?rites?\s(?:is|are|was|were)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_][\w'’-]*|\d+")


def _build_fact(statement: LifeStatement, today: date | None) -> FoundFact | None:
    text = _TAIL.sub("", _VAGUE_TIME.sub("", statement.text))
    text, since = take_time(text, statement.predicate, today)
    text = _TAIL.sub("", _SYMBOLS.sub("", text)).strip(" ,.!;:-–—'\"")
    if not _says_something(text, statement.predicate) or _NO_FAVOURITE.match(text):
        return None
    if statement.predicate.text.startswith("will ") and since is None:
        return None  # a promise in the chat: "I'll ask around"
    is_ahead = since is not None and today is not None and since > today
    move = _MOVE.match(text) if is_ahead else None
    if move and (home := place(text[move.end() :])):
        return FoundFact("plan", "location", home, _CONFIDENCE, _IMPORTANCE_OF_HOME, corrects=True, since=since)
    category = "plan" if is_ahead else _category(statement, text)
    liking = _LIKING.match(text) if category == "preference" else None
    key = ("prefers" if liking[0].startswith("prefer") else "likes") if liking else category
    value = _liked_thing(text[liking.end() :]) if liking else text
    return FoundFact(category, key, value, _CONFIDENCE, _IMPORTANCE.get(category, 0.4), since=since)


_MOVE = re.compile(r"(?:will\s|is\s(?:going\sto\s)?)(?:move|moving|relocate|relocating)\sto\s(?=[A-Z])")


def _liked_thing(text: str) -> str:
    """What is liked, as a thing: "reading" for "to read"."""
    to_do = re.match(r"to\s(\w+)", text)
    return f"{gerund(to_do[1])}{text[to_do.end() :]}" if to_do else text


_POINTER = re.compile(rf"\b{any_of(words.POINTERS)}\b", re.IGNORECASE)
_PERSON = re.compile(
    rf"\b(?:{any_of(longest_first(RELATIONS))}|{any_of(words.PERSON_NOUNS)})s?\b|(?<=\s)(?!I\b)[A-Z][a-z]+"
)
_SEVERAL = re.compile(
    rf"\b(?:{any_of(words.NEW_SEVERAL, NUMBERS_TO_SIX)}\s(?:[\w'’-]+\s){{0,3}}?\w+s\b|{any_of(words.GROUPS)}\b)",
    re.IGNORECASE,
)
_RELATIVE = re.compile(rf"\s(?:{any_of(words.AFTER_RELATIVE)}|\w+s|\w+ed)\b", re.IGNORECASE)
_NEW_THING = re.compile(r"\ban?\s+\w{2,}", re.IGNORECASE)
_THIS_TIME = re.compile(rf"\s{any_of(words.STRONG_TIME_WORDS, WEEKDAYS, MONTHS)}", re.IGNORECASE)
_THOSE_WHO = re.compile(r"\s(?:in\sneed|who|with|an?)\b", re.IGNORECASE)
_ONE_OF = re.compile(r"\s(?:of(?!\smy\sown)|day|year|week|month|time|night)\b", re.IGNORECASE)
_ABOUT = re.compile(r"\b(?:about|of|from|with)\s$", re.IGNORECASE)
_POINTS_BACK = re.compile(rf"(?:\b{any_of(words.BEFORE_POINTER)}|^\w+\s\w+)\s*$", re.IGNORECASE)


def _points_away(unit: str) -> bool:
    """Whether a clause points at somebody or something that it does not name."""
    for pointer in _POINTER.finditer(unit):
        word = pointer[0].casefold()
        if word in ("he", "she", "him", "his", "her"):
            is_named = _PERSON.search(unit, 0, pointer.start()) is not None
        elif word in ("they", "them", "their"):
            is_named = _SEVERAL.search(unit, 0, pointer.start()) is not None and not unit[: pointer.start()].endswith(
                "of "
            )
        elif word in ("it", "its"):
            is_new = _NEW_THING.search(unit, 0, pointer.start()) is not None
            is_named = is_new and not _ABOUT.search(unit[: pointer.start()])
        elif word == "that":
            is_relative = _RELATIVE.match(unit, pointer.end()) is not None
            is_named = is_relative and not _POINTS_BACK.search(unit[: pointer.start()])
        elif word == "this":
            is_named = _THIS_TIME.match(unit, pointer.end()) is not None
        elif word in ("those", "such"):
            is_named = _THOSE_WHO.match(unit, pointer.end()) is not None
        elif word == "one":
            is_named = _ONE_OF.match(unit, pointer.end()) is not None
        else:
            is_named = False
        if not is_named:
            return True
    return False


_THIN = words.THIN_WORDS | function_words("en")


def _says_something(text: str, predicate: Predicate) -> bool:
    """Whether a text names something: beside the verb, if it tells of the past."""
    rest = text.partition(predicate.verb)[2]
    return _names(text, 2) or (predicate.tense == "past" and _names(rest, 1))


def _names(text: str, count: int) -> bool:
    """Whether a text has so many words that say something."""
    names = {word for word in map(str.casefold, _WORD.findall(text)) if word not in _THIN and len(word) > 2}
    return len(names) >= count


# Categories

_WORK = re.compile(rf"\b(?:{any_of(words.WORK_WORDS)}|work(?:ed|ing|s)?\s(?:on|at|for|as|with))\b", re.IGNORECASE)
_HEALTH = re.compile(rf"\b{any_of(words.HEALTH_WORDS)}\b", re.IGNORECASE)
_RELATION = re.compile(rf"\b{any_of(words.RELATION_WORDS)}\b", re.IGNORECASE)
_KIN = re.compile(
    rf"^their\s(?:\w+\s)?(?:{any_of(sorted(RELATIONS))}|kids|family|friends|parents|grandparents)\b", re.IGNORECASE
)
_PET = re.compile(rf"\b(?:{any_of(sorted(PETS))})s?\b", re.IGNORECASE)


_LIKING = re.compile(
    rf"(?:always\s|still\s|also\s)*(?:{any_of(words.LIKING_VERBS)}"
    rf"|(?:is|has\s(?:always\s)?been)\s(?:\w+ly\s)?{any_of(words.FOND_OF)})\s+"
)


_GOT_FROM = re.compile(rf"\b{any_of(words.AFTER_GOT)}\b")


def _category(statement: LifeStatement, text: str) -> FactCategory:
    predicate = statement.predicate
    verb = predicate.verb
    if predicate.tense == "future" or verb in words.PLANNING_VERBS:
        return "plan"
    if statement.about_other and _KIN.match(text):
        return "relationship"
    if _RELATION.search(text):
        return "relationship" if predicate.tense != "past" else "event"
    if _HEALTH.search(text):
        return "health"
    if verb == "got" and predicate.tense == "past" and (_WORK.search(text) or _GOT_FROM.search(text)):
        return "work" if _WORK.search(text) else "event"
    if verb in words.POSSESSION_VERBS or (
        not statement.about_other
        and verb in ("have", "has", "got")
        and re.match(r"(?:an?|my|two|three|some|new)\b(?!\slot)", predicate.rest)
    ):
        return "possession"
    if _WORK.search(text):
        return "work"
    if predicate.tense == "past":
        return "event"
    if _LIKING.match(text):
        return "preference"
    return "place" if verb in words.PLACE_VERBS else "other"
