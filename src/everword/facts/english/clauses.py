"""What a message states, clause by clause: of whom, whether it holds, since when.

Only what the author states as a fact is kept. Questions, conditions, wishes, quotations, what others said, jokes, code
and texts to be worked on are left out, and so is any clause in doubt.

For attributes a clause is brought to one form, so that few patterns match many wordings: "I'm no longer allergic to
nuts" is the speaker, `be allergic to nuts`, ended; "my brother's living in Rome" is "brother", `be living in Rome`,
now. For statements of a life a sentence is only cut, each clause with its own subject and without what depends on it:
"When I was ill, I read a lot, which helped" is "I read a lot".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from everword.facts.english import DATA, WORDS
from everword.model import Holds
from everword.text.dates import WEEKDAYS, TimedPhrase, parse_times
from everword.text.english import RELATIONS, is_past
from everword.text.filler import plain_spelling
from everword.text.own_words import is_claimed_as_own, own_words
from everword.text.sentences import MAX_SENTENCE, Sentence, limit_text, parts_between, sentences
from everword.word_lists import Patterns

_CLAUSES = Patterns("clauses", DATA, WORDS)


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

_LONG_QUOTE = 3  # words; a longer one is somebody's sentence, a shorter one may be a name


def prose_sentences(text: str) -> list[Sentence]:
    """The sentences in which the author speaks: no quotations, no code; none if the message is a joke."""
    text = limit_text(text)
    is_own = is_claimed_as_own(text)
    text = own_words(text)
    if _CLAUSES.joked.search(text) or _CLAUSES.roles.search(text):
        return []
    own_sentences = []
    for sentence in sentences(_drop_quotations(plain_spelling(text))):
        if (
            sentence.kind not in ("prose", "item")
            or _CLAUSES.made_up.match(sentence.text)
            or _CLAUSES.joking.search(sentence.text)
        ):
            continue
        if _CLAUSES.work_on_text.search(sentence.text):
            if _CLAUSES.text_follows.search(sentence.text) and not is_own:
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
        asks = _CLAUSES.asks.match(text) is not None and (sentence.is_question or not _CLAUSES.when_clause.match(text))
        if text and not asks and not supposes(text):
            texts.append(text)
    return texts


def supposes(sentence: str) -> bool:
    """Whether a sentence says what would be, not what is."""
    return _CLAUSES.unreal.search(sentence) is not None and _CLAUSES.if_word.search(sentence) is not None


def _drop_quotations(text: str) -> str:
    """The text without quoted lines, code and quotations; a name in quotes stays, without the quotes."""

    def unquote(quote: re.Match[str]) -> str:
        inner = next(group for group in quote.groups() if group is not None)
        return " … " if len(inner.split()) > _LONG_QUOTE or _CLAUSES.speaks.search(inner) else inner

    text = _CLAUSES.quotes.sub(unquote, _CLAUSES.code.sub(" … ", _CLAUSES.quoted_line.sub("", text)))
    return _CLAUSES.small_stop.sub(r"\1\n", text)


def _text_before_question(sentence: str) -> str:
    """What is stated before a question in the same sentence: "I live in Rome, do you know …?"."""
    asks = _CLAUSES.then_asks.search(sentence)
    return sentence[: asks.start()] if asks else ""


# Clauses

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
    return " ".join(_CLAUSES.short_forms.sub(_write_out, sentence.replace("’", "'")).split())


def _write_out(short_form: re.Match[str]) -> str:
    kind = short_form.lastgroup or ""
    if kind in ("not", "is"):
        return f"{short_form[kind]} {kind}"
    return kind.replace("_", " ").replace("i ", "I ") if kind.startswith("i_") else kind.replace("_", " ")  # "i_am"


def _clause_texts(sentence: str) -> Iterator[str]:
    """The clauses of a sentence as text, each with its subject.

    Conditions and relative clauses are left out with what depends on them, and what follows "she said" up to a "but".
    """
    start = 0
    subject = ""
    is_doubtful = False
    in_report = False
    cuts = [(cut.start(), cut.end(), cut.lastgroup or "") for cut in _CLAUSES.split.finditer(sentence)]
    for begin, end, joint in [*cuts, (len(sentence), len(sentence), "end")]:
        piece = sentence[start:begin].strip(" ,")
        text = f"{subject}{piece}"
        start = end
        subject = _find_subject(text) if joint == "verb" else ""
        condition = _CLAUSES.condition.search(text)
        statement = "" if is_doubtful else text[: condition.start()] if condition else text
        is_doubtful = joint == "beside" or ((is_doubtful or condition is not None) and joint in ("soft", "verb"))
        in_report = in_report or _reports_others(statement)
        if statement.strip() and not in_report:
            yield statement.strip()
        in_report = in_report and _CLAUSES.but.search(sentence, begin, end) is None


def _reports_others(statement: str) -> bool:
    """Whether a clause tells what somebody said or thinks; not in its opening words, and not of the speaker."""
    if not _CLAUSES.others_said.search(statement):
        return False
    return _CLAUSES.others_said.search(_CLAUSES.hedges.sub("", _strip_openers(statement)[0])) is not None


def _find_subject(text: str) -> str:
    """The subject of a clause, for the next clause if that has none."""
    match = _CLAUSES.who.match(_strip_openers(text)[0])
    return f"{match[0].strip()} " if match else ""


def _strip_openers(text: str) -> tuple[str, bool]:
    """The text without its opening words, and whether these announce a correction."""
    corrects = False
    for _ in range(6):
        correction = _CLAUSES.correction.match(text)
        opener = correction or _CLAUSES.openers.match(text)
        if opener is None:
            break
        corrects = corrects or correction is not None
        text = text[opener.end() :]
    return text, corrects


# One clause


def _parse_clause(text: str, today: date | None, in_correction: bool, lowercase: bool) -> Clause | None:
    text, corrects = _strip_openers(text)
    hedge = _CLAUSES.hedges.match(text)
    text = text[hedge.end() :] if hedge else text
    time_lead = _CLAUSES.time_first.match(text)
    if time_lead:
        text = f"{text[time_lead.end() :].rstrip('.! ')} {time_lead[1]}"
    text = _CLAUSES.first_day.sub("I had my first day", text, count=1) if _CLAUSES.first_day.match(text) else text
    is_passing = _CLAUSES.passing.search(text) is not None and not _CLAUSES.news.match(text)
    if is_passing or _CLAUSES.second_job.search(text):
        return None
    clause = _parse_attribute(text) or _parse_predicate(text)
    if clause is None:
        return None
    # "I live in Rome now" reports a change, as a correction does.
    corrects = in_correction or corrects or _CLAUSES.now.search(text) is not None
    times = parse_times(clause.text, today)
    return replace(
        clause,
        text=times.rest.strip(" .!,"),
        span=times,
        is_hedged=hedge is not None,
        corrects=corrects,
        lowercase=lowercase,
    )


def _subject_of(match: re.Match[str]) -> str:
    """Whom a clause is about, by name or by what they are to the speaker."""
    relation = match["relation"]
    return match["called"] or (relation and RELATIONS[relation.casefold()]) or match["named"]


def _parse_introduction(text: str) -> Clause | None:
    """ "I'm Jonas", "Jonas is my brother"."""
    here = _CLAUSES.here.match(text)
    if here and not _CLAUSES.not_names.match(here["named"]) and not _CLAUSES.nobody.match(here["named"]):
        return Clause(None, here["named"], "name")
    is_my = _CLAUSES.is_my.match(text)
    if is_my and not _CLAUSES.not_names.match(is_my["named"]):
        return Clause(None, is_my["named"], f"{is_my['relation']} name")
    return None


def _parse_attribute(text: str) -> Clause | None:
    """ "My name is …", "Bob's birthday is …", "my sister's name is …", "Jonas is my brother"."""
    introduction = _parse_introduction(text)
    if introduction is not None:
        return introduction
    match = _CLAUSES.attribute.match(text)
    if match is None:
        return None
    value, holds = _parse_negation(match["value"])
    attribute = match["what"].strip()
    if match["mine"]:
        relation = _CLAUSES.related.fullmatch(attribute)
        if relation and (relation["called"] or not _CLAUSES.called.match(value)):
            return None
        return Clause(None, value, attribute, holds)
    if match["relation"] and attribute.casefold() in ("name", "first name"):
        return Clause(None, value, f"{match['relation']} name", holds)
    subject = _subject_of(match)
    return None if _CLAUSES.not_names.match(subject) else Clause(subject, value, attribute, holds)


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
    text = _CLAUSES.no_subject.sub("I ", text, count=1) if _CLAUSES.no_subject.match(text) else text
    match = _CLAUSES.who.match(text)
    if match is None or (match["named"] and _CLAUSES.not_names.match(match["named"])):
        return None
    subject = None if match["self"] else _subject_of(match)
    if subject and subject.endswith(("'s", "'")):
        return None
    predicate = text[match.end() :].strip()
    reading = _parse_verb(f"{predicate} ")
    if reading is None:
        return None
    verb, holds, past, perfect = reading
    if subject and not verb.startswith("be "):
        # A third person needs "-s" or "does": "Sounds like fun" is about nobody.
        if _CLAUSES.base.match(verb) and not re.match(r"(?:\w+\s)?(?:does|did)\b", predicate):
            return None
        verb = _CLAUSES.third.sub(r"\1", verb)
        verb = re.sub(r"^has\b", "have", re.sub(r"^studies\b", "study", verb))
    if re.search(r"\banymore\b", verb):
        verb = re.sub(r"\s*\banymore\b", "", verb)
        holds = "ended"
    return Clause(subject, verb.strip(), holds=holds, past=past, perfect=perfect)


def _parse_verb(predicate: str) -> tuple[str, Holds, bool, bool] | None:
    """The predicate from its main verb on, whether it holds, and its tense; None if it is only possible or wished."""
    holds: Holds = "now"
    past = perfect = is_be = is_unable = False
    while (match := _CLAUSES.auxiliary.match(predicate)) is not None:
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


_STATEMENT_CLAUSES = Patterns("statement_clauses", DATA, WORDS)


_FULL_DAYS = {day[:3]: day.capitalize() for day in WEEKDAYS}
_COMPLEMENTS = frozenset({"what", "how", "why"})


def possible_statements(sentence: str) -> Iterator[tuple[str, bool]]:
    """What a sentence may state, clause by clause, and whether each depends on another and yet states something:
    "after we moved"."""
    text = _in_plain_order(sentence)
    if _STATEMENT_CLAUSES.unreal_lead.match(text):
        return
    speaker = match_speaker(text)
    cuts = _STATEMENT_CLAUSES.cut.finditer(text, speaker.end() if speaker else 0)
    condition = _STATEMENT_CLAUSES.condition.match(text)
    joint = condition[0].casefold() if condition else ""
    for unit, cut in parts_between(text, (cut for cut in cuts if not _belongs_together(text, cut.start()))):
        next_joint = (cut["sub"] or "").strip(" ,").casefold() if cut else ""
        is_broken = next_joint in _COMPLEMENTS or (cut is not None and cut["broken"] is not None)
        if unit.strip() and not is_broken and (not joint or joint in WORDS.FACTIVE_JOINTS):
            unit = _drop_open_end(unit.rstrip(" ,"), bool(next_joint))
            unit = _strip_talk(unit.strip(" ,"))
            yield unit, bool(joint) and not (joint == "after" and _tells_past(unit))
        joint = "…" if is_broken else next_joint


def _in_plain_order(sentence: str) -> str:
    """A sentence in full forms, without asides and opening talk, with its subject or its time first."""
    text = expand_short_forms(_STATEMENT_CLAUSES.brackets.sub(" ", sentence[:MAX_SENTENCE])).strip()
    text = _STATEMENT_CLAUSES.short_day.sub(lambda day: f"{day[1]} {_FULL_DAYS[day[2][:3].casefold()]}", text)
    text = _strip_talk(_STATEMENT_CLAUSES.wanna.sub("want to", text))
    text = _STATEMENT_CLAUSES.me_and.sub(r"\1 and I", text)
    leading = _STATEMENT_CLAUSES.leading_clause.match(text)
    if leading:
        text = text[leading.end() :]
        if _STATEMENT_CLAUSES.age_of_life.match(leading[0]) or _STATEMENT_CLAUSES.during.match(leading[0]):
            text = f"{text.rstrip(' .!')} {_lower_first(leading[0].strip(' ,'))}"
    time_lead = _STATEMENT_CLAUSES.time_first.match(text)
    if time_lead and _STATEMENT_CLAUSES.time_hint.search(time_lead[1]):
        text = f"{time_lead[1].replace(',', '')}{text[time_lead.end() :]}"
    return text


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
    return is_list and not any(word in WORDS.FINITE_VERBS or is_past(word) for word in subject_words)


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _strip_talk(text: str) -> str:
    for _ in range(6):
        opener = _STATEMENT_CLAUSES.opener.match(text) or _STATEMENT_CLAUSES.announcement.match(text)
        if opener is None or opener.end() == len(text):
            break
        text = text[opener.end() :]
    return text
