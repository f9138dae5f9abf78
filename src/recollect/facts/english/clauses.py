"""What a message states, clause by clause: of whom, whether it holds, since when.

Only what the author states as a fact is kept. Questions, conditions, wishes, quotations, what others said, jokes, code
and texts to be worked on are left out, and so is any clause in doubt.

A clause is brought to one form, so that few patterns match many wordings: "I'm no longer allergic to nuts" is the
speaker, `be allergic to nuts`, ended; "my brother's living in Rome" is "brother", `be living in Rome`, now.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from recollect.facts.english import words
from recollect.facts.english.words import any_of, longest_first
from recollect.model import Holds
from recollect.text.fact_words import RELATIONS
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.own_words import is_claimed_as_own, own_words
from recollect.text.sentences import Sentence, limit_text, sentences
from recollect.text.since_until import TimedPhrase, parse_times


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement: whom it is about (None: the speaker), and its text from the verb on.

    `attribute` is what is spoken of in "my X is …", with the value in `text`. `past` and `perfect` are the tense:
    "I lived in Rome" is over, "I have lived in Rome" is not.
    """

    subject: str | None
    text: str
    attribute: str = ""
    holds: Holds = "now"
    past: bool = False
    perfect: bool = False
    is_hedged: bool = False
    corrects: bool = False
    span: TimedPhrase = TimedPhrase("")
    lowercase: bool = False
    """Whether the sentence is all in small letters, so that a small letter does not rule out a name."""


# What is not stated

_QUOTED_LINE = lazy_pattern(  # a row of a table is left: `own_words` says whose it is
    r"^[^\S\n]*+(?:>|\|(?![^|\n]++\|[^\n]*\|[^\S\n]*$)).*$", re.MULTILINE
)
_CODE = lazy_pattern(r"```.*?(?:```|$)|`[^`\n]{1,200}`", re.DOTALL)
_QUOTES = lazy_pattern(
    r"\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|»([^«\n]{1,400})«|„([^“”\n]{1,400})[“”]|‘([^’\n]{1,400})’(?!\w)"
    r"|'(?<![\w']')((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)"  # each begins with a mark: others are passed over
)
_SPEAKS = lazy_pattern(rf"\b(?:{any_of(words.SPEAKER_WORDS)}|i['’]m|i['’]ve)\b", re.IGNORECASE)
_SMALL_STOP = lazy_pattern(r"(?<=[a-z]{3})(\s?[.!?]+)\s+(?=[a-z])")  # where small letters begin a sentence too
_LONG_QUOTE = 3  # words; a longer one is somebody's sentence, a shorter one may be a name

_JOKED = lazy_pattern(
    r"(?:^|\s)/s\b|\b(?:jk|j/k|just\s(?:kidding|joking)|(?:i['’]?m|only)\s(?:kidding|joking))\b",
    re.IGNORECASE,
)
_JOKING = lazy_pattern(
    rf"\b(?:{any_of(words.JOKE_WORDS)}|(?:ha){{2,}}h?|(?:he){{2,}}|yeah,?\sright|oh,?\ssure)|[🙄😂🤣😜😝🤪😏]",
    re.IGNORECASE,
)
_MADE_UP = lazy_pattern(
    rf"""^(?:so\s|ok\s|okay\s|now\s)?(?:
        {any_of(words.SUPPOSING)} | let['’]?s\s(?:say|pretend|imagine|assume)
      | in\s(?:the|a|my|this|that)\s(?:\w+\s)?{any_of(words.WORKS, words.SCENES)}\b
      | (?:the|a|this|that)\s(?:\w+\s)?{any_of(words.WORKS, words.PARTS_OF_WORKS)}\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_ROLES = lazy_pattern(
    rf"\b(?:role-?\s?play(?:ing)?|act\sas(?!\s(?:my|our)\b)|{any_of(words.ROLE_PLAY)})\b",  # "my coach" helps who asks
    re.IGNORECASE,
)
_WORK_ON_TEXT = lazy_pattern(
    rf"\b{any_of(words.TEXT_TASKS)}\b(?=.*(?::|\b{any_of(words.TASK_TEXTS)}\b))"
    r"|(?:^|,\s|\b(?:to|must|should|please|you)\s)(?:(?:grade|mark|assess|score)\s(?:this|these|the\sfollowing)|give\sthis\s(?:\w+\s)?(?:essay|text|exam|paper)\sa)\b",
    re.IGNORECASE,
)
_TEXT_FOLLOWS = lazy_pattern(r":|\b(?:this|following|below)\b")
_QUESTION = any_of(words.QUESTION_VERBS, words.QUESTION_WORDS)
_ASKS = lazy_pattern(
    rf"^(?:{any_of(words.BEFORE_QUESTION)}[,\s]+)*(?:{_QUESTION}|what['’]?s|who['’]?s|have\s(?:i|you|we)"
    rf"|{any_of(words.FIRST_QUESTION_VERBS, words.FIRST_QUESTION_WORDS)})\b",
    re.IGNORECASE,
)
_THEN_ASKS = lazy_pattern(
    r"(?:[,;–—-]\s*|\s(?:and|so|but)\s)(?:(?:so|and|but|please)\s)*"
    rf"(?:{_QUESTION}|what['’]?s|{any_of(words.LAST_QUESTION_WORDS)})\b.*$",
    re.IGNORECASE | re.DOTALL,
)


def prose_sentences(text: str) -> list[Sentence]:
    """The sentences in which the author speaks: no quotations, no code; none if the message is a joke."""
    text = limit_text(text)
    is_own = is_claimed_as_own(text)
    text = own_words(text)
    if _JOKED.search(text) or _ROLES.search(text):
        return []
    own_sentences = []
    for sentence in sentences(_drop_quotations(text)):
        if sentence.kind not in ("prose", "item") or _MADE_UP.match(sentence.text) or _JOKING.search(sentence.text):
            continue
        if _WORK_ON_TEXT.search(sentence.text):
            if _TEXT_FOLLOWS.search(sentence.text) and not is_own:
                break
            continue
        own_sentences.append(sentence)
    return own_sentences


def assertions_in(spoken_sentences: Iterable[Sentence]) -> list[str]:
    """The texts that state something, without questions; of a question, what is stated before it."""
    texts: list[str] = []
    for sentence in spoken_sentences:
        text = sentence.text.strip()
        if sentence.is_question:
            text = _text_before_question(text)
        asks = _ASKS.match(text) is not None and (sentence.is_question or not _WHEN_CLAUSE.match(text))
        if text and not asks and not supposes(text):
            texts.append(text)
    return texts


_WHEN_CLAUSE = lazy_pattern(r"(?:and\s|but\s|so\s|oh,?\s)?when\s(?:i|we|my|our)\s[^,?]{2,80},\s\w", re.IGNORECASE)
_UNREAL = lazy_pattern(r"\bwould\b|['’]d\b|\bcould\b", re.IGNORECASE)
_IF = lazy_pattern(r"\bif\s(?:i|we|my|our)\b", re.IGNORECASE)


def supposes(sentence: str) -> bool:
    """Whether a sentence says what would be, not what is."""
    return _UNREAL.search(sentence) is not None and _IF.search(sentence) is not None


def _drop_quotations(text: str) -> str:
    """The text without quoted lines, code and quotations; a name in quotes stays, without the quotes."""

    def unquote(quote: re.Match[str]) -> str:
        inner = next(group for group in quote.groups() if group is not None)
        return " … " if len(inner.split()) > _LONG_QUOTE or _SPEAKS.search(inner) else inner

    text = _QUOTES.sub(unquote, _CODE.sub(" … ", _QUOTED_LINE.sub("", text)))
    return _SMALL_STOP.sub(r"\1\n", text)


def _text_before_question(sentence: str) -> str:
    """What is stated before a question in the same sentence: "I live in Rome, do you know …?"."""
    asks = _THEN_ASKS.search(sentence)
    return sentence[: asks.start()] if asks else ""


# Clauses

_FULL_FORMS = {
    "i_am": "I am",
    "i_have": "I have",
    "i_would": "I would",
    "i_will": "I will",
    "we_are": "we are",
    "we_have": "we have",
    "we_would": "we would",
    "we_will": "we will",
    "can_not": "can not",
    "will_not": "will not",
    "anymore": "anymore",
}
_SHORT_FORMS = lazy_pattern(
    rf"""\b(?: (?P<i_am>i'm|im)\b(?!\s?=) | (?P<i_have>i've|ive)\b | (?P<i_would>i'd)\b | (?P<i_will>i'll)\b
      | (?P<we_are>we're)\b | (?P<we_have>we've)\b | (?P<we_would>we'd)\b | (?P<we_will>we'll)\b
      | (?P<can_not>can'?t\b|cannot)\b | (?P<will_not>won'?t)\b | (?P<not>{any_of(words.BEFORE_NOT)})n'?t\b
      | (?P<is>{any_of(words.BEFORE_IS)})'s\b | (?P<anymore>any\s?more|any\slonger)\b )""",
    re.VERBOSE | re.IGNORECASE,
)
_OPENERS = lazy_pattern(
    rf"""^(?:
        {any_of(words.GREETINGS)}(?:\s{any_of(words.GREETED)})?[,!.\s-]+(?=\w)
      | (?:(?:please\s)?{any_of(words.REMINDERS)}
          |i\s{any_of(words.INTENDING)}\s{any_of(words.MENTIONING)}
          |{any_of(words.ANNOUNCEMENTS)}
        )(?:,?\sthat)?[:,]?\s+(?=(?:i|we|my|our|[A-Z])\b|[A-Z])
      | {any_of(words.INTERJECTIONS, words.CONNECTIVES, words.ASIDES)}[,:.!\s–—-]+(?=\w)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CORRECTION = lazy_pattern(
    rf"""^(?:(?:hm+|{any_of(words.BEFORE_CORRECTION)})[,\s]+)?
        (?:no(?:pe)?(?=[,.!:–—\s]+(?:i|my|we|it|actually|sorry)\b)|{any_of(words.CORRECTIONS)})
        [,:.!\s–—-]+(?:(?:that\s)?(?=\w))""",
    re.VERBOSE | re.IGNORECASE,
)
_HEDGES = lazy_pattern(
    rf"^(?:i\s{any_of(words.HEDGING_VERBS)}|probably|i\sam\s(?:pretty|fairly|quite|almost)\ssure)"
    r"\s(?:that\s)?(?=i\b|my\b|we\b)",
    re.IGNORECASE,
)
_OTHERS_SAID = lazy_pattern(rf"\b{any_of(words.SAYING, words.THINKING)}\b", re.IGNORECASE)
_SUBJECT = rf"{any_of(words.SUBJECTS)}\b"
_VERBS = rf"(?:{any_of(words.ADVERBS_OF_CLAUSES)}\s)?{any_of(words.VERBS_OF_CLAUSES)}\b"
_MORE_VERBS = rf"{any_of(words.VERBS_AFTER_AND)}\b"
_LEAD = rf"(?:{any_of(words.BEFORE_TIME)}\s+(?:[\w’']+\s+){{1,2}}|tomorrow\s+)"
_SPLIT = lazy_pattern(
    rf"(?P<beside>,?\s+{any_of(words.RELATIVE_WORDS)}\s+(?={_SUBJECT}))"
    rf"|(?P<hard>\s*[;…]\s*|\s+[–—-]+\s+|\s*--\s*|(?<=\w):\s+(?={_SUBJECT})"
    rf"|,?\s+{any_of(words.CONJUNCTIONS)}\s+(?={_SUBJECT})"
    rf"|,\s*(?:and\s+|but\s+|so\s+|now\s+|yet\s+)*(?={_LEAD}?{_SUBJECT}))"
    rf"|(?P<soft>\s+(?:and|or)\s+(?={_SUBJECT}))"
    rf"|(?P<verb>,?\s+(?:and|but|or)\s+(?={_VERBS}|{_MORE_VERBS})|,\s+(?={_VERBS}))",
    re.IGNORECASE,
)
_BUT = lazy_pattern(r"\bbut\b", re.IGNORECASE)
_CONDITION = lazy_pattern(rf"(?:^|\s){any_of(words.CONDITION_WORDS)}\b", re.IGNORECASE)
_TIME_FIRST = lazy_pattern(
    rf"^({any_of(words.BEFORE_FIRST_TIME)}\s[^,]{{3,30}}?),?\s+(?=(?:i|we|my)\s)",
    re.IGNORECASE,
)
_PASSING = lazy_pattern(
    rf"\b(?:{any_of(words.PASSING_TIMES)}|for\s(?:a|the)\s{any_of(words.OCCASIONS)})\b",
    re.IGNORECASE,
)
_MAX_CLAUSES = 400


def parse_clauses(texts: Iterable[str], today: date | None = None) -> Iterator[Clause]:
    """The clauses in texts that state something about somebody."""
    count = 0
    for text in texts:
        body, corrects = _strip_openers(expand_short_forms(text))
        for piece in _clause_texts(body):
            count += 1
            if count > _MAX_CLAUSES:
                return
            clause = _parse_clause(piece, today, corrects, text.islower())
            if clause is not None:
                yield clause


def expand_short_forms(sentence: str) -> str:
    """The sentence with short forms written out, so that fewer wordings are left."""
    return " ".join(_SHORT_FORMS.sub(_write_out, sentence.replace("’", "'")).split())


def _write_out(short_form: re.Match[str]) -> str:
    kind = short_form.lastgroup or ""
    return f"{short_form[kind]} {kind}" if kind in ("not", "is") else _FULL_FORMS[kind]


def _clause_texts(sentence: str) -> Iterator[str]:
    """The clauses of a sentence as text, each with its subject.

    Conditions and relative clauses are left out with what depends on them, and what follows "she said" up to a "but".
    """
    start = 0
    subject = ""
    is_doubtful = False
    in_report = False
    cuts = [(cut.start(), cut.end(), cut.lastgroup or "") for cut in _SPLIT.finditer(sentence)]
    for begin, end, joint in [*cuts, (len(sentence), len(sentence), "end")]:
        piece = sentence[start:begin].strip(" ,")
        text = f"{subject}{piece}"
        start = end
        subject = _find_subject(text) if joint == "verb" else ""
        condition = _CONDITION.search(text)
        statement = "" if is_doubtful else text[: condition.start()] if condition else text
        is_doubtful = joint == "beside" or ((is_doubtful or condition is not None) and joint in ("soft", "verb"))
        in_report = in_report or _reports_others(statement)
        if statement.strip() and not in_report:
            yield statement.strip()
        in_report = in_report and _BUT.search(sentence, begin, end) is None


def _reports_others(statement: str) -> bool:
    """Whether a clause tells what somebody said or thinks; not in its opening words, and not of the speaker."""
    if not _OTHERS_SAID.search(statement):
        return False
    return _OTHERS_SAID.search(_HEDGES.sub("", _strip_openers(statement)[0])) is not None


def _find_subject(text: str) -> str:
    """The subject of a clause, for the next clause if that has none."""
    match = _WHO.match(_strip_openers(text)[0])
    return f"{match[0].strip()} " if match else ""


def _strip_openers(text: str) -> tuple[str, bool]:
    """The text without its opening words, and whether these announce a correction."""
    corrects = False
    for _ in range(6):
        correction = _CORRECTION.match(text)
        opener = correction or _OPENERS.match(text)
        if opener is None:
            break
        corrects = corrects or correction is not None
        text = text[opener.end() :]
    return text, corrects


# One clause

_MODIFIER = rf"(?:{any_of(words.RELATIVE_ADJECTIVES, words.SUBJECT_ADJECTIVES)}\s)*"
_RELATION = any_of(longest_first(RELATIONS), space=r"\ ")
_NAME = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*(?:\s[^\W\d_a-zß-öø-ÿ][\w'’-]*)?"
_WHO = lazy_pattern(
    r"(?P<self>(?i:i|we)\b)"
    rf"|(?i:my|our)\s(?i:{_MODIFIER})(?P<relation>(?i:{_RELATION}))(?:,?\s(?P<called>{_NAME}),?)?(?=\s(?!name\b))(?!['’]s)"
    rf"|(?P<named>@[\w.-]{{1,40}}|{_NAME})(?=\s)"
)
_ATTRIBUTE = lazy_pattern(
    rf"(?:(?:(?i:my|our)\s(?i:{_MODIFIER})(?P<relation>(?i:{_RELATION}))(?:\s(?P<called>{_NAME}?))?"
    rf"|(?P<named>{_NAME}?))'s"
    r"|(?P<mine>(?i:my|our)))"
    r"\s(?P<what>[\w'’ -]{2,40}?)\s?(?:\b(?i:is|are|was|will\sbe|has\sto\sbe)\b|=|:)\s*(?P<value>\S.*)$"
)
_RELATED = lazy_pattern(rf"(?i:{_MODIFIER})(?i:{_RELATION})(?P<called>,?\s{_NAME})?")
_CALLED = lazy_pattern(rf"(?:(?i:called|named)\s|{_NAME}$|{_NAME}[.,!])")
_HERE = lazy_pattern(rf"(?:(?i:it\sis|this\sis)\s)?(?P<named>{_NAME})\shere(?=\W|$)(?!\s(?:is|are|was|to|and)\b)")
_NOBODY = lazy_pattern(rf"{any_of(words.NOT_HERE)}\b")
_IS_MY = lazy_pattern(rf"(?P<named>{_NAME}) is (?i:my|our) (?i:{_MODIFIER})(?P<relation>(?i:{_RELATION}))\b(?!['’]s)")
_AUXILIARY = lazy_pattern(
    rf"""(?:
        (?P<ended>no\slonger|used\sto|stopped\sbeing|ceased\sto\sbe)
      | (?P<not>not|never)
      | (?P<modal>{any_of(words.MODALS)})
      | (?P<perfect>(?:have|has|had)(?=\s(?:{any_of(words.BEFORE_PERFECT)}\s)*{any_of(words.PERFECT_VERBS)}\b))
      | (?P<emphasis>do|does)(?=\s{any_of(words.AFTER_DO)}\b)
      | (?P<did>did)(?=\snot\b)
      | (?P<be>{any_of(words.BE_FORMS)})
      | (?P<was>was|were)
      | (?P<can>can)(?=\snot\b)
      | (?P<adverb>{any_of(words.ADVERBS, words.DEGREES)})
    )\s+""",
    re.VERBOSE | re.IGNORECASE,
)
_NOW = lazy_pattern(r"\bnow\b", re.IGNORECASE)
_THIRD = lazy_pattern(rf"^({any_of(words.VERBS_WITH_S)})s\b")
_BASE = lazy_pattern(rf"^(?:{any_of(words.VERBS_WITH_S)}|have|study)\b")
NOT_NAMES = lazy_pattern(
    "^"
    + any_of(
        words.PRONOUNS_NOT_NAMES,
        words.PARTICLES_NOT_NAMES,
        words.QUANTITIES_NOT_NAMES,
        words.OPENERS_NOT_NAMES,
        words.ADVERBS_NOT_NAMES,
        words.WEEKDAY_NAMES,
    )
    + r"\b"
)
"""Words with a capital letter that are no names."""


def _parse_clause(text: str, today: date | None, in_correction: bool, lowercase: bool) -> Clause | None:
    text, corrects = _strip_openers(text)
    hedge = _HEDGES.match(text)
    text = text[hedge.end() :] if hedge else text
    time_lead = _TIME_FIRST.match(text)
    if time_lead:
        text = f"{text[time_lead.end() :].rstrip('.! ')} {time_lead[1]}"
    if _PASSING.search(text):
        return None
    clause = _parse_attribute(text) or _parse_predicate(text)
    if clause is None:
        return None
    # "I live in Rome now" reports a change, as a correction does.
    corrects = in_correction or corrects or _NOW.search(text) is not None
    times = parse_times(clause.text, today)
    return replace(
        clause,
        text=times.rest.strip(" .!,"),
        span=times,
        is_hedged=hedge is not None,
        corrects=corrects,
        lowercase=lowercase,
    )


def _parse_attribute(text: str) -> Clause | None:
    """ "My name is …", "Bob's birthday is …", "my sister's name is …", "Jonas is my brother"."""
    introduction = _HERE.match(text)
    if introduction and not NOT_NAMES.match(introduction["named"]) and not _NOBODY.match(introduction["named"]):
        return Clause(None, introduction["named"], "name")
    is_my = _IS_MY.match(text)
    if is_my and not NOT_NAMES.match(is_my["named"]):
        return Clause(None, is_my["named"], f"{is_my['relation']} name")
    match = _ATTRIBUTE.match(text)
    if match is None:
        return None
    value, holds = _parse_negation(match["value"])
    attribute = match["what"].strip()
    if match["mine"]:
        relation = _RELATED.fullmatch(attribute)
        if relation and (relation["called"] or not _CALLED.match(value)):
            return None
        return Clause(None, value, attribute, holds)
    if match["relation"] and attribute.casefold() in ("name", "first name"):
        return Clause(None, value, f"{match['relation']} name", holds)
    subject = match["called"] or (match["relation"] and RELATIONS[match["relation"].casefold()]) or match["named"]
    return None if NOT_NAMES.match(subject) else Clause(subject, value, attribute, holds)


def _parse_negation(value: str) -> tuple[str, Holds]:
    holds: Holds = "now"
    negation = re.match(r"(?:no\slonger|not)\s", value, re.IGNORECASE)
    if negation:
        value = value[negation.end() :]
        holds = "ended" if negation[0].casefold().startswith("no ") else "not"
    if re.search(r"\banymore\b", value):
        value = re.sub(r"\s*\banymore\b", "", value)
        holds = "ended"
    return value, holds


def _parse_predicate(text: str) -> Clause | None:
    """ "I no longer live in Rome", "my brother is vegan", "Bob lives in Hamburg"."""
    match = _WHO.match(text)
    if match is None or (match["named"] and NOT_NAMES.match(match["named"])):
        return None
    subject = None
    if not match["self"]:
        subject = match["called"] or (match["relation"] and RELATIONS[match["relation"].casefold()]) or match["named"]
    if subject and subject.endswith(("'s", "'")):
        return None
    predicate = text[match.end() :].strip()
    reading = _parse_verb(f"{predicate} ")
    if reading is None:
        return None
    verb, holds, past, perfect = reading
    if subject and not verb.startswith("be "):
        # A third person needs "-s" or "does": "Sounds like fun" is about nobody.
        if _BASE.match(verb) and not re.match(r"(?:\w+\s)?(?:does|did)\b", predicate):
            return None
        verb = _THIRD.sub(r"\1", verb)
        verb = re.sub(r"^has\b", "have", re.sub(r"^studies\b", "study", verb))
    if re.search(r"\banymore\b", verb):
        verb = re.sub(r"\s*\banymore\b", "", verb)
        holds = "ended"
    return Clause(subject, verb.strip(), holds=holds, past=past, perfect=perfect)


def _parse_verb(predicate: str) -> tuple[str, Holds, bool, bool] | None:
    """The predicate from its main verb on, whether it holds, and its tense; None if it is only possible or wished."""
    holds: Holds = "now"
    past = perfect = is_be = is_unable = False
    while (match := _AUXILIARY.match(predicate)) is not None:
        if match["modal"]:
            return None
        if match["ended"]:
            holds = "ended"
            is_be = is_be or "be" in match["ended"].split()
        elif match["not"]:
            holds = "not"
        elif match["was"]:
            past = is_be = True
        elif match["be"]:
            past, is_be = False, True
        elif match["perfect"]:
            perfect = True
        elif match["can"]:
            is_unable = True
        elif match["did"]:
            past = True
        predicate = predicate[match.end() :]
    if is_unable:
        # What somebody cannot do is a statement of its own: "can not eat gluten".
        return f"can not {predicate}", "now", past, perfect
    return (f"be {predicate}" if is_be else predicate), holds, past, perfect
