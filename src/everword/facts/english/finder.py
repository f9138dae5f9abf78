"""Facts in a message, found by its wording, without a model: in plain English, few and sure rather than many.

What somebody states about themselves, or about somebody they name, is found; what they ask, suppose, quote, joke about,
or feel just now is not. Other languages give nothing. Any text takes a bounded time and raises nothing.

An answer that is no sentence by itself is read as the sentence it stands for ("Any allergies?" "Yes, peanuts."). An
order is a standing instruction only if it says that it is meant for good, or is about what nobody asks for only once.
What only repeats what the assistant said or was shown is an echo: memory must not confirm itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date

from everword.facts.english import DATA, WORDS
from everword.facts.english.clause_readers import FactReading, readings
from everword.facts.english.clauses import Clause, assertions_in, parse_clauses, prose_sentences, supposes
from everword.facts.english.statements import read_statements
from everword.facts.english.values import name
from everword.facts.rules.deciding import acceptable_facts
from everword.facts.rules.keys_and_values import fold
from everword.facts.rules.person_shift import retell_pronouns
from everword.model import FoundFact, Holds
from everword.text.english import LANGUAGE, RELATIONS
from everword.text.sentences import Sentence, limit_text, sentences
from everword.text.terms import analyse
from everword.word_lists import Patterns, read_table

_ECHOES = Patterns("echoes", DATA, WORDS)

COPIED = 7
"""Words in a row that are the same: fewer happen by chance."""
SHARED = 0.5
"""The share of a text's terms that were shown, for a text that refers to the assistant."""
_MOST = 50_000  # characters of what was shown


def is_echo(text: str, shown_texts: Iterable[str]) -> bool:
    """Whether a text repeats what was shown, rather than saying it anew."""
    texts = [shown_text[:_MOST] for shown_text in shown_texts if shown_text.strip()]
    if not texts or not text.strip():
        return False
    return _copies(text, texts) or (_ECHOES.leans.search(text) is not None and _shares(text, texts))


def _copies(text: str, shown_texts: Sequence[str]) -> bool:
    words = [word.casefold() for word in _ECHOES.word.findall(text)]
    runs = {tuple(words[at : at + COPIED]) for at in range(len(words) - COPIED + 1)}
    if not runs:
        return False
    for shown_text in shown_texts:
        shown_words = [word.casefold() for word in _ECHOES.word.findall(shown_text)]
        if any(tuple(shown_words[at : at + COPIED]) in runs for at in range(len(shown_words) - COPIED + 1)):
            return True
    return False


def _shares(text: str, shown_texts: Sequence[str]) -> bool:
    terms = set(analyse(_ECHOES.leans.sub(" ", text), "en").terms)
    shown_terms = {term for shown_text in shown_texts for term in analyse(shown_text, "en").terms}
    return not terms or len(terms & shown_terms) >= SHARED * len(terms)


_ANSWERS = Patterns("answers", DATA, WORDS)

MAX_ANSWER = 10
"""Words of an answer that is completed; a longer one is a sentence."""

MAX_QUESTION = 14
"""Words of a question; in a longer one, what is asked is not sure."""


_QUESTIONS = Patterns("questions", DATA, WORDS)
_SENTENCES = {question: read_table(question, "questions", DATA) for question in _QUESTIONS}
"""The sentences that answers to a question stand for: of a value, of a bare "yes" and of a bare "no"."""


def complete_answer(text: str, question: str) -> str:
    """The sentence that a text states as an answer to a question, or an empty text."""
    last_question = _last_question(question)
    if not last_question:
        return ""
    first = next((sentence.text for sentence in sentences(limit_text(text)) if sentence.text.strip()), "")
    if len(last_question.split()) > MAX_QUESTION or not first or first.rstrip().endswith("?"):
        return ""
    for question_kind, possible_sentences in _SENTENCES.items():
        match = getattr(_QUESTIONS, question_kind).search(last_question)
        if match:
            matter = (match.groupdict().get("what") or "").strip()
            is_vague = _ANSWERS.vague.search(matter) is not None
            return "" if is_vague else _complete(first.strip(), possible_sentences).replace("{what}", matter)
    return ""


def _last_question(text: str) -> str:
    """The question a text ends with, without its mark; other sentences may follow it."""
    questions = [sentence.text for sentence in sentences(limit_text(text)) if sentence.is_question]
    return questions[-1].rstrip("?! ") if questions else ""


def _complete(answer: str, forms: Mapping[str, str]) -> str:
    no = _ANSWERS.no.match(answer)
    yes = _ANSWERS.yes.match(answer)
    value = answer[no.end() if no else yes.end() if yes else 0 :]
    lead = _ANSWERS.lead.match(value)
    value = (value[lead.end() :] if lead else value).strip(" .!,")
    if yes and _ANSWERS.name.fullmatch(value):
        value = ""  # who asked: "Yep, John!"
    if _ANSWERS.sentence.match(value) or _ANSWERS.polite.match(value) or len(value.split()) > MAX_ANSWER:
        return ""
    if no:
        return forms.get("no", "") if not value else ""
    if not value:
        return forms.get("yes", "") if yes else ""
    return forms.get("value", "").replace("{}", value)


_INSTRUCTIONS = Patterns("instructions", DATA, WORDS)

_TOPICS = Patterns("topics", DATA, WORDS)
_AT_ONCE = ("emojis", "answer length", "tone", "format")
_LONGEST = 16  # words; what is longer is a task
_LONGEST_CHARACTERS = 600


def is_about_answering(text: str) -> bool:
    """Whether a text addresses the assistant or is about its answers."""
    return _INSTRUCTIONS.answering.search(text) is not None


def instructions(sentences: list[str]) -> Iterator[FoundFact]:
    """The standing instructions in sentences that state or order something."""
    for sentence in sentences:
        text = " ".join(sentence.split())
        if not _INSTRUCTIONS.may_instruct.search(text):
            continue
        for number, part in enumerate(_INSTRUCTIONS.joint.split(text)):
            facts = list(_instruction(part.strip())) if len(part) <= _LONGEST_CHARACTERS else []
            yield from facts
            if not facts and number == 0:
                break  # what is joined to a statement is no order: "I try to tidy up and keep …"


def _instruction(text: str) -> Iterator[FoundFact]:
    text = _INSTRUCTIONS.pleasing.sub("", text).strip(" .!,")
    nick = _INSTRUCTIONS.nicknamed.match(text)
    if nick and (given_name := name(text[nick.end() :])):
        yield FoundFact("identity", "nickname", given_name, 0.9, 0.8)
        return
    text, is_standing = _strip_for_good(text)
    call = _INSTRUCTIONS.call_me.match(text)
    if call:
        yield from _call_me(text[call.end() :])
        return
    always = _INSTRUCTIONS.always.match(text)
    frequency = always or _INSTRUCTIONS.never.match(text)
    order = text[frequency.end() :] if frequency else text
    if len(order.split()) > _LONGEST:
        return
    if frequency is None:
        yield from _order(text, is_standing)
    elif _INSTRUCTIONS.order.match(order) and not _INSTRUCTIONS.maxim.match(order):
        yield _rule(text, order, "always" if always else "never")


def _strip_for_good(text: str) -> tuple[str, bool]:
    """An order without what says that it is meant for good, and whether something says so."""
    is_standing = _INSTRUCTIONS.for_good_after.search(text) is not None
    text = _INSTRUCTIONS.for_good_after.sub("", text)
    for _ in range(3):
        text = _INSTRUCTIONS.lead.sub("", text)
        for_good = _INSTRUCTIONS.for_good.match(text)
        is_standing = is_standing or for_good is not None
        text = text[for_good.end() :] if for_good else text
    return text, is_standing


def _order(text: str, is_standing: bool) -> Iterator[FoundFact]:
    """An order that does not say "always" or "never", if it is meant for good."""
    negation = _INSTRUCTIONS.not_word.match(text)
    body = text[negation.end() :] if negation else text
    topic = _topic(body)
    if negation and (is_standing or topic in _AT_ONCE or re.match(r"call\sme\s\w+$", body)):
        yield _rule(text, re.sub(r"^using\b", "use", body), "never")
    elif not negation and _INSTRUCTIONS.order.match(body) and (is_standing or _is_lasting(body, topic)):
        yield _rule(text, body, "always")


def _is_lasting(order: str, topic: str) -> bool:
    """Whether an order is of the sort that is meant for good: "keep your answers short"."""
    return (
        topic in ("answer length", "tone")
        and bool(re.match(r"(?:keep|be)\b", order, re.IGNORECASE))
        and "this" not in order.split()
    )


def _rule(text: str, order: str, frequency: str) -> FoundFact:
    reply = _INSTRUCTIONS.reply.match(order)
    tongue = LANGUAGE.match(order[reply.end() :]) if reply and frequency == "always" else None
    if tongue:
        return FoundFact("instruction", "reply language", tongue[0], 0.95, 0.95)
    topic = _topic(order)
    if topic:
        return FoundFact("instruction", topic, text[:1].lower() + text[1:], 0.95, 0.9)
    return FoundFact("instruction", frequency, order, 0.9, 0.85)


def _topic(order: str) -> str:
    return next((topic for topic, pattern in _TOPICS.items() if pattern.search(order)), "")


def _call_me(text: str) -> Iterator[FoundFact]:
    given_name = name(text, lowercase=text == text.lower())
    after = text[len(given_name) :].strip(" .!\"'")
    if given_name and (not after or after[0] in ",;(–—-" or _INSTRUCTIONS.after_call_me.match(after)):
        yield FoundFact("instruction", "call me", given_name, 0.95, 0.9)
        # A name to be called by is a name, but a weak one: it never replaces a name that was stated.
        yield FoundFact("identity", "name", given_name, 0.6, 1.0)


_MENTIONS = Patterns("mentions", DATA, WORDS)

HEDGED = 0.6
"""The part of a confidence that "I think" leaves."""
SURE = ("identity", "constraint", "instruction")
"""The categories in which what the rules find is added to what a model found."""
HEARSAY = 0.8
"""The part that is left of what somebody says about somebody else."""


def find_facts(
    text: str, today: date | None = None, shown_texts: Sequence[str] = (), question: str = ""
) -> list[FoundFact]:
    """The facts a message states. `today` is the day it was written; `shown_texts` is what the assistant said or was
    shown of memory, so that a repetition of it is marked as an echo; `question` is the line before, by anybody else: an
    answer to it may be no sentence."""
    answer = complete_answer(text, question) if question else ""
    if not answer and not _MENTIONS.hint.search(text):
        return []
    sentences = prose_sentences(text)
    assertions = [*assertions_in(sentences), *filter(None, [answer])]
    facts = [*_relation_mentions(sentences), *_attribute_facts(assertions, today)]
    return mark_echoes(_clear_facts(facts, text), text, shown_texts)


def read_facts(
    text: str, today: date | None = None, shown_texts: Sequence[str] = (), question: str = ""
) -> list[FoundFact]:
    """All that a message tells of its author: the facts that `find_facts` finds, and statements of what they did, do
    and plan. If a statement says the same as a fact, only the fact is kept."""
    sentences = prose_sentences(text)
    answer = complete_answer(text, question) if question else ""
    in_request = any(sentence.is_question for sentence in sentences)
    is_long_ago = _MENTIONS.long_ago.search(text) is not None or _MENTIONS.before_today.search(text) is not None
    facts = [*_relation_mentions(sentences), *_named_animals(sentences)]
    for assertion in assertions_in(sentences):
        attributes = _attribute_facts([assertion], today) if _MENTIONS.hint.search(assertion) else []
        statements = read_statements(assertion, today, in_request=in_request, is_long_ago=is_long_ago)
        facts += [*attributes, *(statement for statement in statements if not _repeats(statement, attributes))]
    facts += _attribute_facts([answer], today) if answer else []  # it is a sentence of ours: it tells nothing else
    return mark_echoes(_clear_facts(facts, text), text, shown_texts)


_INTRODUCTIONS = Patterns("introductions", DATA, WORDS)


def _clear_facts(facts: list[FoundFact], text: str) -> list[FoundFact]:
    """The facts that may be kept; a name of the author only if the text says clearly that it is theirs."""
    return [
        fact
        for fact in acceptable_facts(facts)
        if fact.key != "name" or fact.subject is not None or _tells_own_name(text, fact.value)
    ]


def _tells_own_name(text: str, given_name: str) -> bool:
    """Whether a text says anywhere that its author has this name, and not only that they are, or that others and they
    are, like somebody who has it."""
    named_places = re.finditer(rf"(?<!\w){re.escape(given_name)}(?!\w)", limit_text(text))
    clearness = {_is_own_name_at(text, *place.span()) for place in named_places}
    return True in clearness or False not in clearness


def _is_own_name_at(text: str, start: int, end: int) -> bool | None:
    """Whether what stands before and after a name says that it is the author's; None if it says nothing about that."""
    before = text[max(start - _LONGEST_LEAD, 0) : start]
    if _INTRODUCTIONS.called.search(before):
        return True
    if not _INTRODUCTIONS.i_am.search(before):
        return False if _INTRODUCTIONS.we_are.search(before) else None
    if _INTRODUCTIONS.loudly.match(text, end):
        return _INTRODUCTIONS.greeting.search(before) is not None
    return _INTRODUCTIONS.introduced.match(text, end) is not None


_LONGEST_LEAD = 80  # characters before a name in which a greeting or "I am" is looked for


def _repeats(statement: FoundFact, facts: Iterable[FoundFact]) -> bool:
    """Whether a statement says in a sentence what a fact says."""
    words = fold(statement.value)
    # A wedding is more than being married, and that one thing was given for another is told for itself.
    facts = [fact for fact in facts if fact.key != "marital status" and fact.instead_of is None]
    return any(fold(fact.value.partition(" (")[0]) in words or fact.key == statement.key for fact in facts)


def _attribute_facts(assertions: list[str], today: date | None) -> list[FoundFact]:
    return acceptable_facts([*_facts_in_clauses(assertions, today), *instructions(assertions)])


_GROUPS = Patterns("groups", DATA, WORDS)
_LONG_NUMBER = re.compile(r"\d{3,}")
_MOST_WORDS = 11  # of a fact from a group


def read_group_facts(text: str, today: date | None, shown_texts: Sequence[str]) -> list[FoundFact]:
    """What lasts of what somebody tells of themselves in a group."""
    facts = [
        replace(fact, value=_GROUPS.goes_on.sub("", fact.value))
        for fact in read_facts(_GROUPS.address.sub("", text), today, shown_texts)
    ]
    return [fact for fact in facts if lasts_in_group(fact) and is_as_written(fact, text)]


def is_as_written(fact: FoundFact, text: str) -> bool:
    """Whether the numbers of a fact stand so in the text, which is told of oneself, as a name or an origin is."""
    if fact.key == "name" and _GROUPS.introduces.search(text) is None:
        return False
    if fact.key == "origin" and _GROUPS.of_relative.search(text):
        return False
    return _GROUPS.of_oneself.search(text) is not None and all(
        number in text for number in _LONG_NUMBER.findall(fact.value)
    )


def lasts_in_group(fact: FoundFact) -> bool:
    """Whether a fact that somebody told in a group lasts, and is of themselves. There much is said of the moment: what
    was tried, what failed, what a program wrote."""
    is_own = fact.subject is None or fact.subject.islower()
    if not is_own or _GROUPS.passing.search(fact.value) or len(fact.value.split()) > _MOST_WORDS:
        return False
    if fact.key != fact.category:
        return _GROUPS.bare_value.match(fact.value) is not None
    return _GROUPS.lasting.match(fact.value) is not None


def mark_echoes(facts: list[FoundFact], text: str, shown_texts: Sequence[str]) -> list[FoundFact]:
    """The facts, marked if the text only repeats what was shown."""
    if shown_texts and facts and is_echo(text, shown_texts):
        return [replace(fact, echo=True) for fact in facts]
    return facts


def _facts_in_clauses(assertions: Sequence[str], today: date | None) -> Iterator[FoundFact]:
    for clause in parse_clauses(assertions, today):
        for reading in readings(clause):
            yield _build_fact(reading, clause)


def _build_fact(reading: FactReading, clause: Clause) -> FoundFact:
    span = clause.span
    holds = _holds(reading, clause)
    confidence = reading.confidence * (HEDGED if clause.is_hedged else 1.0)
    if clause.subject is not None:
        confidence *= HEARSAY
    over = holds == "ended"
    return FoundFact(
        reading.category,
        reading.key,
        retell_pronouns(reading.value) if reading.category == "preference" else reading.value,
        confidence,
        reading.importance,
        subject=clause.subject,
        holds=holds,
        corrects=clause.corrects or reading.changes or reading.is_denied,
        since=None if over and span.lasted else span.since or (span.then if reading.changes else None),
        until=span.until or (span.then if over else None),
        instead_of=reading.instead_of,
    )


def _holds(reading: FactReading, clause: Clause) -> Holds:
    if reading.is_denied:
        return "ended" if clause.holds == "ended" else "not"
    if reading.timeless or (reading.survives_negation and clause.holds == "not"):
        return "now" if clause.holds != "not" or reading.survives_negation else "not"
    if clause.holds != "now":
        return clause.holds
    if reading.over or clause.past:
        return "ended"
    return "now"


# Somebody named in passing: "my sister Noor", "my wife, Ana," — in a question too.

_TITLES = frozenset({"i", "and", "mr", "mrs", "ms", "dr", "prof"})


def _relation_mentions(sentences: Iterable[Sentence]) -> Iterator[FoundFact]:
    for text in (sentence.text for sentence in sentences):
        if _MENTIONS.no_mention.search(text):
            continue
        for mention in _MENTIONS.mention.finditer(text):
            words = _MENTIONS.as_name.match(text, mention.end())
            given_name = re.sub(r"['’]s?$", "", name(words[0])) if words else ""
            is_animal = mention[1].casefold() in RELATIONS and _MENTIONS.animal.match(text, mention.end())
            if given_name and not is_animal and not given_name.isupper() and given_name.casefold() not in _TITLES:
                yield from _relation_fact(" ".join(mention[1].casefold().split()), given_name)


def _named_animals(sentences: Iterable[Sentence]) -> Iterator[FoundFact]:
    """The animals that are named in a sentence after the one that tells of them: "I got a dog. Her name is Ada." """
    text = " ".join(sentence.text for sentence in sentences)
    for animal in _MENTIONS.new_animal.finditer(text):
        yield from _relation_fact(animal[1].casefold(), animal[2])


def _relation_fact(kind: str, given_name: str) -> Iterator[FoundFact]:
    if kind in RELATIONS:
        yield FoundFact("identity", RELATIONS[kind], given_name, 0.9, 0.7)
    else:
        yield FoundFact("identity", "pets", f"{given_name} ({kind})", 0.9, 0.6)


# What a message states at all, and what a model found in it


def states_something(text: str) -> bool:
    """Whether a message states anything at all: of one that only asks, no fact of a model is kept."""
    return bool(stated_text(text).strip())


def stated_text(text: str) -> str:
    """What a message states in its author's own words: without what it asks, supposes or quotes."""
    sentences = prose_sentences(text)
    statements = [sentence.text for sentence in sentences if not sentence.is_question and not supposes(sentence.text)]
    return " ".join(assertions_in(sentences) + statements)


def reconcile_facts(by_model: Iterable[FoundFact], by_rules: Sequence[FoundFact]) -> list[FoundFact]:
    """The facts of a model and of the rules in one message. The rules find little, but what they find is sure: for a
    value both found, the rules say whose it is and whether it holds. A fact whose key the model lacks is added."""
    facts: list[FoundFact] = []
    for fact in by_model:
        same_value = [other for other in by_rules if fold(other.value) == fold(fact.value)]
        if same_value and not any(_fact_slot(other) == _fact_slot(fact) for other in same_value):
            facts += same_value
        else:
            facts.append(fact)
    keys = {(fact.category, fact.key) for fact in facts}
    facts += [fact for fact in by_rules if (fact.category, fact.key) not in keys and fact.category in SURE]
    return acceptable_facts(facts)


def _fact_slot(fact: FoundFact) -> tuple[object, ...]:
    return fact.category, fact.key, fact.subject and fold(fact.subject), fact.holds
