"""Statements: sentences in which somebody tells of their life, each as one fact in the third person, with its day.

"I finished my first screenplay last Friday" is an event, "finished their first screenplay", since that Friday. Most
sentences of a chat are none: they greet, thank, answer, wonder, feel something just now, or point at something that
stands elsewhere ("I love it", "we did that there"). So a clause must be about the speaker, its verb must tell of what
was done, is done or is planned, and what it names must be named in it. A clause in doubt is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from recollect.facts.english import statement_words as words
from recollect.facts.english.statement_clarity import is_unclear
from recollect.facts.english.statement_clauses import TIME_FIRST, TIME_HINT, match_speaker, statement_clauses
from recollect.facts.english.statement_days import date_periods, take_time, tells_stale_time
from recollect.facts.english.statement_telling import THOUGHTS, tells_of_life
from recollect.facts.english.third_person_retelling import Predicate, Tense, retell_predicate, retell_pronouns
from recollect.facts.english.values import place
from recollect.facts.english.words import NUMBERS_TO_SIX, any_of, longest_first
from recollect.model import FactCategory, FoundFact
from recollect.text.english_predicates import PLAIN_VERBS
from recollect.text.fact_words import RELATIONS
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.stopwords import function_words
from recollect.text.verbs import PAST_FORMS, gerund, is_past
from recollect.text.word_weights import is_ordinary

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
    for unit, is_dependent in statement_clauses(sentence) if _HINT.search(sentence) else ():
        fact = _read_unit(unit, today) if subject_is_speaker or not _BARE.match(unit) else None
        subject_is_speaker = match_speaker(unit) is not None
        if fact is None or (in_request and fact.since is None and _IN_REQUEST.match(fact.value)):
            continue
        if is_dependent and not _stands_alone(fact):
            continue
        is_earlier = is_dependent or is_long_ago or fact.value.startswith(_WAS_SOMEWHERE)
        is_undated = is_earlier and fact.since is None and fact.category in ("event", "relationship")
        yield replace(fact, is_undated=True) if is_undated else fact


_WAS_SOMEWHERE = ("was in ", "was at ", "used to ")


def _stands_alone(fact: FoundFact) -> bool:
    """Whether what a dependent clause tells is told for itself: "when my son broke his arm"."""
    is_of_kin = fact.category == "relationship" and fact.value.startswith("their ")
    return is_of_kin if fact.since is None else is_of_kin or fact.category == "event"


_IN_REQUEST = lazy_pattern(
    r"(?:is|has\sbeen)\s(?:debating|wondering)\b|is\s(?:thinking|hoping)\b|hopes\b|wants\b|the\s.*\s(?:is|are)\simportant\sto\sthem"
)
_HINT = lazy_pattern(
    r"\b(?:i|we|my|our|me|us|i['’]\w+|we['’]\w+|gonna|been"
    rf"|{any_of(words.BARE_PAST, words.BARE_PROGRESSIVE)})\b",
    re.IGNORECASE,
)

# One unit

_BARE = lazy_pattern(
    rf"(?:{any_of(words.BEFORE_BARE)}\s+)*(?:(?P<past>{any_of(words.BARE_PAST)})|(?P<been>been\s\w+ing)"
    rf"|(?P<gonna>gonna|going\sto)|(?P<doing>{any_of(words.BARE_PROGRESSIVE)}))\s+(?=\w)",
    re.IGNORECASE,
)
_MINE = lazy_pattern(
    r"(?:my|(?P<our>our))\s(?P<who>(?:(?!to\s)[\w'’&-]+,?\s){1,6}?)"
    rf"(?P<verb>{any_of(words.FINITE_VERBS, sorted(PAST_FORMS))}|(?-i:[a-z]{{2,}}ed))\s+(?=\w)",
    re.IGNORECASE,
)
_THING = lazy_pattern(
    rf"(?:the\s(?=\w+\s\w+\s)|(?!{any_of(words.SUBJECTS_THAT_POINT)}\b))(?P<what>(?:[\w'’-]+\s){{1,8}}?)"
    rf"(?P<verb>{any_of(words.FINITE_VERBS)}|{any_of(words.EFFECT_VERBS)})\s+(?=.*\b(?:me|my)\b)",
    re.IGNORECASE,
)


def _read_unit(unit: str, today: date | None) -> FoundFact | None:
    unit = _ASIDE.sub(" ", unit).strip(" .!,")
    unit = _shorten(unit)
    lead = TIME_FIRST.match(unit)
    if lead and TIME_HINT.search(lead[1]):
        unit = f"{unit[lead.end() :]} {lead[1].strip(' ,')}"
    unit = _name_thing(unit)
    unit = _WISH.sub("I want to ", _HERE.sub("", unit))
    if unit[:3].casefold() == "it ":
        unit = _IMPORTANT.sub(_name_important, _DREAM.sub("my dream is to ", unit))
    unit = _clear_part(unit)
    if not unit:
        return None
    statement = _read_statement(unit)
    if statement is None or (statement.predicate.tense in ("present", "progressive") and _PASSING.search(unit)):
        return None
    if statement.predicate.tense == "perfect" and _MINUTES.search(unit):
        return None
    return _build_fact(statement, today)


_DREAM = lazy_pattern(
    r"it\s(?:is|has)\s(?:always\s)?(?:been\s)?(?:an?|my)\s(?:\w+\s)?dream\s(?:of\smine\s)?to\s", re.IGNORECASE
)
_HERE = lazy_pattern(r"(?<=\w)\shere(?=\s(?:from|in|about|when|\w+\s\w+\sago)\b)", re.IGNORECASE)
_WISH = lazy_pattern(
    rf"^i\swould\s(?:\w+\s)?(?:love|like)\sto\s(?!(?:learn|explore|visit)\s(?:more|other)\b)(?={any_of(words.WISHES)}\s(?!some|one\sday|too\b)\w)",
    re.IGNORECASE,
)
_IMPORTANT = lazy_pattern(
    r"it\sis\s(?:\w+\s)?(important|essential|crucial)\s(?:to|for)\sme\sto\s(\w+)\s(.+)$", re.IGNORECASE
)
_ASIDE = lazy_pattern(rf",\s{any_of(words.ASIDES)},\s?", re.IGNORECASE)


def _name_important(match: re.Match[str]) -> str:
    """The clause with what is important as its subject: "it is important to me to vote"."""
    return f"{gerund(match[2])} {match[3].rstrip(' .!')} is {match[1]} to me"


_LONG_PAUSE = lazy_pattern(r",\s|\sand\s", re.IGNORECASE)
_LEAST_KEPT = 0.4
_PAUSE = lazy_pattern(rf",\s|\s{any_of(words.PHRASE_STARTS)}\s", re.IGNORECASE)


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


def _clear_part(unit: str) -> str:
    """The clause, or as much of its beginning as is clear by itself."""
    if not is_unclear(unit):
        return unit
    head = _before_and(unit)
    parts = [_before_pointer(unit), head, _before_pointer(head)]
    return next((part for part in parts if part != unit and not is_unclear(part)), "")


_POINTER_AT_END = lazy_pattern(
    rf"\s(?:{any_of(words.PARTICLES)}\s(?!his|its|their|one){any_of(words.POINTERS)}"
    r"(?:\s\w+){0,2}|here)$",
    re.IGNORECASE,
)


_OPEN_VERB = lazy_pattern(r"\w+(?:ing|ed)$|\bto\s\w+$", re.IGNORECASE)


def _before_pointer(unit: str) -> str:
    """A clause without a last phrase that points at what stands elsewhere: "made a cake for her"."""
    pointer = _POINTER_AT_END.search(unit)
    if pointer is None:
        return unit
    head = unit[: pointer.start()]
    return unit if _OPEN_VERB.search(head) else head


def _before_and(unit: str) -> str:
    """What a clause says before the last "and", if another verb follows: "a safe and loving home" is not cut."""
    head, joint, tail = unit.rpartition(" and ")
    verb = tail.partition(" ")[0].casefold()
    is_clause = is_past(verb) or verb in PLAIN_VERBS or verb in words.SUBJECT_WORDS or head.endswith(",")
    return head.strip(" ,") if joint and is_clause else unit


_MINUTES = lazy_pattern(r"\b(?:minutes?|hours?)\b", re.IGNORECASE)
_PASSING = lazy_pattern(rf"\b{any_of(words.PASSING_WORDS)}\b", re.IGNORECASE)
_FOUND_THAT = lazy_pattern(r"\b(found)\sthat\s(?=\w+ing\b)", re.IGNORECASE)
_THIS_THING = lazy_pattern(
    rf"(?<=\w)\s(?P<which>this|that|these|those)\s(?=(?!{any_of(words.NO_NOUNS)}\b)([a-z])[a-z]+)"
)
_PARTICLES = frozenset(words.PARTICLES)


def _name_thing(unit: str) -> str:
    """The clause with "a bowl" for the first "this bowl", if it follows the verb: what is true of one, is true of a."""
    thing = _THIS_THING.search(unit)
    words_before = unit[: thing.start()].split() if thing else []
    if words_before and words_before[-1].casefold() in _PARTICLES:
        words_before.pop()
    if thing is None or not 1 <= len(words_before) <= 4 or not is_past(words_before[-1]):
        return unit
    if thing[0].strip() == "that" and words_before[-1].casefold() in words.FINDING_VERBS:
        return _FOUND_THAT.sub(r"\1 ", unit, count=1)  # "found that walking helps" names no thing
    if any(word.casefold() in words.HELPERS for word in words_before[:-1]):
        return unit  # "have been interested in this"
    article = "some" if thing["which"].endswith("se") else "an" if thing[2] in "aeiou" else "a"
    return f"{unit[: thing.start()]} {article} {unit[thing.end() :]}"


def _read_statement(unit: str) -> LifeStatement | None:
    own = match_speaker(unit)
    if own:
        predicate = retell_predicate(unit[own.end() :])
        if predicate is None or not tells_of_life(predicate):
            return None
        if (own["we"] and _is_about_all(predicate)) or (not own["other"] and _leaves_out_others(predicate)):
            return None
        other = retell_pronouns(own["other"].strip()) if own["other"] else ""
        return LifeStatement(_add_company(predicate.text, other), predicate)
    bare = _BARE.match(unit)
    if bare and not _NO_ACTOR.match(unit, bare.end()):
        return None if bare["doing"] and _FINITE.search(unit, bare.end()) else _read_bare(unit, bare)
    mine = _MINE.match(unit)
    if mine:
        return None if mine["our"] and not is_past(mine["verb"]) else _read_other(unit, mine["verb"], mine.end())
    thing = _THING.match(unit)
    is_definite = unit[:4].casefold() == "the "
    if thing and not (is_definite and (is_past(thing["verb"]) or len(thing["what"].split()) < 2)):
        return _read_other(unit, thing["verb"], thing.end())
    return None


def _add_company(text: str, other: str) -> str:
    """The text with who else took part, before a clause of time."""
    head, joint, clause = text.partition(" when they ")
    return f"{head} with {_lower_first(other)}{joint}{clause}" if other else text


_NO_ACTOR = lazy_pattern(  # "took some time", "gave me hope": something else is the subject
    r"(?:me|us|be|some|lots|time|\d+|two|three|a\s(?:lot|while|bit|few|day|week))\b", re.IGNORECASE
)
_FINITE = lazy_pattern(rf"\b(?:{any_of(words.FINITE_VERBS)}|{any_of(words.UNREAL_WORDS)})\b", re.IGNORECASE)
_HABIT = lazy_pattern(rf"{any_of(words.ADVERBS_OF_HABIT)}\s")
_COUNTED = lazy_pattern(rf"(?:{any_of(NUMBERS_TO_SIX)}|an?|one|\d+|in)\s", re.IGNORECASE)
_WITH_OTHERS = lazy_pattern(r"\btogether$|\b(?:our|their)\s(?:shared|mutual|common)\b", re.IGNORECASE)
_MATES = lazy_pattern(rf"(?:\w+\s)?{any_of(words.MATES)}\b", re.IGNORECASE)
_TOGETHER = lazy_pattern(r"\beach\sother\b|\bone\sanother\b", re.IGNORECASE)


def _leaves_out_others(predicate: Predicate) -> bool:
    """Whether it takes the others of "we", who are not named: "decided to move in together"."""
    return _WITH_OTHERS.search(predicate.rest) is not None and " with " not in predicate.rest


def _is_about_all(predicate: Predicate) -> bool:
    """Whether "we" may be everybody, or the two who talk: only what we did, do just now or have is of the speaker."""
    if _TOGETHER.search(predicate.rest) or _MATES.match(predicate.rest):
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
    return LifeStatement(predicate.text, predicate) if predicate and tells_of_life(predicate) else None


def _read_other(unit: str, verb: str, end: int) -> LifeStatement | None:
    """What is said of somebody or something of the speaker's: "my car broke down"."""
    rest = _EMPTY.sub("", unit[end:])
    is_of_kin = _OF_KIN.match(unit) is not None and _KIN_DOING.match(rest) is not None
    if (verb.casefold() in THOUGHTS and verb.casefold() != "believed") or (
        _IS.match(verb) and not _WHAT_IT_IS.match(rest) and not is_of_kin
    ):
        return None  # how something is, it is for a while: "my train is late"
    if _HOW_IT_HAS_BEEN.match(f"{verb} {rest}"):
        return None
    if (
        (_MADE_ME.match(rest) and (is_past(verb) or unit[:4].casefold() == "the "))
        or verb.casefold() in words.PASSING_ACTS
        or _CAME_AND.match(f"{verb} {rest}")
    ):
        return None
    if _GOAL_WAS.match(unit):
        return None  # of what it was the goal stands elsewhere
    text = retell_pronouns(_EMPTY.sub("", _lower_first(unit)))
    tense: Tense = "past" if is_past(verb) else "progressive" if is_of_kin else "present"
    predicate = Predicate(text, tense, verb.casefold(), rest)
    return LifeStatement(text, predicate, about_other=True)


_MADE_ME = lazy_pattern(rf"(?:me|us)\s(?:feel\s)?(?:so\s)?{any_of(words.FEELING_WORDS)}\b", re.IGNORECASE)
_HOW_IT_HAS_BEEN = lazy_pattern(
    rf"ha(?:s|ve)\sbeen\s(?:so\s|super\s|very\s|really\s)*(?:feeling|running|going|doing|{any_of(words.FEELING_WORDS)})\b",
    re.IGNORECASE,
)
_OF_KIN = lazy_pattern(
    rf"(?:my|our)\s(?:\w+\s)?(?:{any_of(longest_first(RELATIONS))}|kids|family|friends|parents|grandparents)\b",
    re.IGNORECASE,
)
_KIN_DOING = lazy_pattern(rf"{any_of(words.KIN_DOINGS)}\b", re.IGNORECASE)
_CAME_AND = lazy_pattern(r"came\s(?:and|up|in|running|over\sand)\b", re.IGNORECASE)
_GOAL_WAS = lazy_pattern(rf"(?:my|our)\s(?:\w+\s)?{any_of(words.GOALS)}\s(?:was|were)\b", re.IGNORECASE)
_IS = lazy_pattern(r"(?:is|are)\b", re.IGNORECASE)
_EMPTY = lazy_pattern(r"(?<!\bnot\s)\b(?:just|really|also|actually)\s(?=\w)")


def _lower_first(text: str) -> str:
    """The text with a small letter, if it does not begin with a name."""
    first = re.sub(r"['’]s$", "", text.split(" ", 1)[0].casefold())
    is_plain = (
        is_ordinary(first) or first in ("my", "our", "their", "the", "some") or first.endswith(words.NOUN_ENDINGS)
    )
    return text[0].lower() + text[1:] if is_plain else text


_WHAT_IT_IS = lazy_pattern(rf"{any_of(words.AFTER_LASTING_IS)}\b", re.IGNORECASE)

# The value

_SYMBOLS = lazy_pattern(r"[^\w\s.,;:!?&%$€£+#'’\"“”/()-]+")
_VAGUE_TIME = lazy_pattern(rf",?(?:\s+just)?\s+{any_of(words.VAGUE_TIMES)}\b", re.IGNORECASE)
_TAIL = lazy_pattern(rf"(?:[\s,]+{any_of(words.END_PHRASES)}|,\sso\s\w+)+$", re.IGNORECASE)
_TO_WHOM = lazy_pattern(r"\sto\s(?:remind|tell|show|help|let|make|teach)\s(?:themself|themselves|them)$", re.IGNORECASE)
_EMPTY_END = lazy_pattern(  # "went rowing and had a ton of fun": only the rowing is told
    r",?\sand\s(?:even\s)?(?:had|having|saw)\s(?:\w+\s){0,4}?(?:fun|blast|stuff|(?:good|great|amazing|awesome)\stime)$",
    re.IGNORECASE,
)
_NO_FAVOURITE = lazy_pattern(r"their\sfavou?rites?\s(?:is|are|was|were)\b", re.IGNORECASE)
_WORD = lazy_pattern(r"[^\W\d_][\w'’-]*|\d+")


def _build_fact(statement: LifeStatement, today: date | None) -> FoundFact | None:
    text = _EMPTY_END.sub("", _TO_WHOM.sub("", _TAIL.sub("", _VAGUE_TIME.sub("", statement.text))))
    text, since = take_time(text, statement.predicate, today)
    text = _TAIL.sub("", _SYMBOLS.sub("", date_periods(text, today))).strip(" ,.!;:-–—'\"")
    if today is not None and tells_stale_time(text):
        return None
    if not _says_something(text, statement.predicate) or _NO_FAVOURITE.match(text):
        return None
    if statement.predicate.text.startswith("will ") and since in (None, today):
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


_MOVE = lazy_pattern(r"(?:will\s|is\s(?:going\sto\s)?)(?:move|moving|relocate|relocating)\sto\s(?=[A-Z])")


def _liked_thing(text: str) -> str:
    """What is liked, as a thing: "reading" for "to read"."""
    to_do = re.match(r"to\s(\w+)", text)
    return f"{gerund(to_do[1])}{text[to_do.end() :]}" if to_do else text


_TOLD_BY_ONE_NAME = ("has always had ", "is doing ", "is part of ", "their dream is to ")
_THIN = words.THIN_WORDS | function_words("en")


def _says_something(text: str, predicate: Predicate) -> bool:
    """Whether a text names something: beside the verb, if it tells of the past."""
    rest = text.partition(predicate.verb)[2]
    if predicate.tense == "past" and predicate.verb in words.TURNING_POINTS:
        return True
    if text.startswith(_TOLD_BY_ONE_NAME):
        return _names(text, 1)
    tells_by_one_name = predicate.tense == "past"
    return _names(text, 2) or (tells_by_one_name and _names(rest, 1))


def _names(text: str, count: int) -> bool:
    """Whether a text has so many words that say something."""
    names = {word for word in map(str.casefold, _WORD.findall(text)) if word not in _THIN and len(word) > 2}
    return len(names) >= count


# Categories

_WORK = lazy_pattern(
    rf"\b(?:{any_of(words.WORK_WORDS)}|work(?:ed|ing|s)?\s(?:at|for|as|with|on(?!\s(?:their|\w+ing)\b)))\b",
    re.IGNORECASE,
)
_HEALTH = lazy_pattern(rf"\b{any_of(words.HEALTH_WORDS)}\b", re.IGNORECASE)
_RELATION = lazy_pattern(rf"\b{any_of(words.RELATION_WORDS)}\b", re.IGNORECASE)
_KIN = lazy_pattern(
    rf"^their\s(?:\w+\s)?(?:{any_of(sorted(RELATIONS))}|kids|family|friends|parents|grandparents)\b", re.IGNORECASE
)


_LIKING = lazy_pattern(
    rf"(?:always\s|still\s|also\s)*(?:{any_of(words.LIKING_VERBS)}"
    rf"|(?:is|has\s(?:always\s)?been)\s(?:\w+ly\s)?{any_of(words.FOND_OF)})\s+"
)


_GOT_FROM = lazy_pattern(rf"\b{any_of(words.AFTER_GOT)}\b")


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
