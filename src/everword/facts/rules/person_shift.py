"""What somebody says of themselves, told in the third person, and back: the one place where persons are shifted.

With a name it is a statement about them: "I live in Rome and my dog is called Rex", said by Alex, is "Alex lives in
Rome." and "Alex's dog is called Rex."; the name replaces every pronoun, since a statement is read alone, years later.
Without a name it is the value of a fact, which says whose it is: "I lost my keys" is "lost their keys"; nobody's gender
is known, so it is "they". Only verbs and pronouns change. What cannot be told for certain is not told at all, words in
another language are quoted, and a question states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from everword.facts.english import WORDS
from everword.facts.english.values import trade
from everword.text import english
from everword.text.detect import detect, function_words
from everword.text.escaping import strip_invisible
from everword.text.language_packs import phrase
from everword.text.sentences import split_sentences
from everword.text.word_weights import full_stop
from everword.word_lists import Patterns, WordLists, read_table

_DATA = "facts/rules/data"
_WORDS = WordLists("third_person", folder=_DATA)
_RETELLING = Patterns("retelling", _DATA, WORDS)
_THIRD_PERSON = Patterns("third_person", _DATA, WORDS)
_SHORT_FORMS = Patterns("short_forms", _DATA)
"""Short forms by what they stand for: "I am" for "I'm"."""

Tense = Literal["past", "perfect", "present", "progressive", "future"]


@dataclass(frozen=True, slots=True)
class Predicate:
    """What is said of a person, from the verb on. `verb` is the main verb as it was said, `rest` what follows it.

    `text` is all of it in the third person; the main verb of "is going to visit Rome" is "visit".
    """

    text: str
    tense: Tense
    verb: str
    rest: str
    is_negated: bool = False


def retell_predicate(predicate: str) -> Predicate | None:
    """What follows "I" or "we", in the third person; None if it says only what may be."""
    predicate = _RETELLING.use_to.sub("used to ", _strip_adverbs(predicate), count=1)
    habit = _RETELLING.kept_adverbs.match(predicate)
    adverb = habit[0] if habit else ""
    predicate = _strip_adverbs(predicate[len(adverb) :])
    negation = _RETELLING.not_word.match(predicate)
    if negation:
        return _retell_negation(negation, predicate[negation.end() :])
    future = _RETELLING.future.match(predicate)
    if future:
        action = _strip_adverbs(predicate[future.end() :])
        begins = "will" if future[0].casefold().startswith("will") else "is going to"
        return _build(f"{begins} {adverb}{action}", "future", action)
    predicate = _RETELLING.emphasis.sub("", predicate)
    verb = _RETELLING.word.match(predicate)
    if verb is None or verb[0].casefold() in WORDS.POSSIBLE:
        return None
    rest = _strip_adverbs(predicate[verb.end() :].lstrip())
    is_helper = verb[0].casefold() in ("am", "are", "was", "were", "have", "had")
    return _retell_helper(verb[0], adverb, rest) if is_helper else _retell_verb(verb[0], adverb, rest)


def _retell_helper(verb: str, adverb: str, rest: str) -> Predicate | None:
    """What follows "I", from a form of "be" on, or from "have" and a participle: "am still looking"."""
    first = verb.casefold()
    inner_habit = _RETELLING.kept_adverbs.match(rest)
    if inner_habit:
        adverb += inner_habit[0]
        rest = _strip_adverbs(rest[inner_habit.end() :])
    participle = rest.partition(" ")[0].casefold()
    if first not in ("have", "had"):
        is_progressive = re.match(r"[a-z]{2,}ing\b", rest, re.IGNORECASE) and first in ("am", "are")
        tense: Tense = "progressive" if is_progressive else "past" if first.startswith("w") else "present"
        main = rest if is_progressive or is_participle(participle) else f"{first} {rest}"
        return _build(f"{english.form_after_name(first)} {adverb}{rest}", tense, main)
    if is_participle(participle):
        begins = "has" if first == "have" else "had"
        main = _strip_adverbs(rest.partition(" ")[2]) if participle == "been" else rest
        return _build(f"{begins} {adverb}{rest}", "perfect", main)
    return _retell_verb(verb, adverb, rest)


def _retell_verb(verb: str, adverb: str, rest: str) -> Predicate | None:
    first = verb.casefold()
    reads = first == "read" and _RETELLING.reads.match(rest) is not None
    if (first in english.SAME_IN_THE_PAST and not adverb and not reads) or english.is_past(first):
        adverb = "" if adverb.casefold().strip() == "still" else adverb
        return _build(f"{adverb}{verb} {rest}", "past", f"{verb} {rest}")
    if first in english.SAME_IN_THE_PAST:
        return _build(f"{adverb}{verb}s {rest}", "present", f"{verb} {rest}")
    rest_told = _RETELLING.second_verb.sub(lambda second: f"{second[1]}{english.form_after_name(second[2])}", rest)
    return _build(f"{adverb}{english.form_after_name(verb)} {rest_told}", "present", f"{verb} {rest}")


def is_participle(word: str) -> bool:
    """Whether a word can stand after "have": "gone", "started"."""
    plain = word.casefold()
    return (
        plain in WORDS.PARTICIPLES
        or plain in english.SAME_IN_THE_PAST
        or (english.is_past(plain) and plain not in _NO_PARTICIPLES)
    )


_NO_PARTICIPLES = english.PAST_FORMS.difference(WORDS.PAST_PARTICIPLES)


_TENSES: dict[str, Tense] = {"did": "past", "was": "past", "were": "past", "will": "future"}
_TENSES |= dict.fromkeys(("have", "had", "has"), "perfect")


def _retell_negation(negation: re.Match[str], action: str) -> Predicate | None:
    helper = negation["do"].casefold()
    action = _strip_adverbs(action)
    tense = _TENSES.get(helper, "present")
    word = "never" if "never" in negation[0].casefold() else "not"
    helper = "had" if helper == "had" else english.form_after_name(helper)
    predicate = _build(f"{helper} {word} {action}", tense, action)
    return predicate and Predicate(predicate.text, tense, predicate.verb, predicate.rest, is_negated=True)


def _build(text: str, tense: Tense, main: str) -> Predicate | None:
    verb, _, rest = main.strip(" .!,").partition(" ")
    if not verb or not text.strip():
        return None
    return Predicate(retell_pronouns(text).strip(" .!,;:-–—"), tense, verb.casefold().strip(".,!"), rest.strip())


def _strip_adverbs(text: str) -> str:
    adverbs = _RETELLING.adverbs.match(text)
    return text[adverbs.end() :] if adverbs else text


# Pronouns

_PRONOUNS = read_table("pronouns", "third_person", _DATA)


def retell_pronouns(text: str) -> str:
    """A text with "they" and "their" where the speaker is meant."""
    text = _RETELLING.be_after.sub(
        lambda be: f"they {be[1] or ''}{'were' if be[2].casefold() == 'was' else 'are'}", text
    )
    text = _RETELLING.pronoun.sub(lambda word: word[0] if word["numeral"] else _PRONOUNS[word[0].casefold()], text)
    return _RETELLING.space.sub(lambda space: space[1] or " ", text)


MAX_STATEMENT = 300
"""Characters of one statement; a longer one is cut between two words."""
MAX_STATEMENTS = 10
"""Statements that are made of one text."""
_MAX_SAID = 4_000  # characters that are looked at


def statements_about(name: str, speech: str, *, speaker: str = "") -> tuple[str, ...]:
    """A speech about somebody as statements that name them. Without a `speaker` they said it themselves."""
    name = _plain_name(name)
    speaker_name = _plain_name(speaker) or name
    statements: dict[str, None] = {}
    for line in strip_invisible(speech[:_MAX_SAID]).split("\n"):
        for sentence in split_sentences(" ".join(line.split())):
            if not sentence.rstrip("\"'”’»)」』 ").endswith(_ASKS) and any(map(str.isalnum, sentence)):
                clauses = _clauses(sentence, name)
                statements |= dict.fromkeys(
                    _finish_statement(_third_person(clause, name, speaker_name)) for clause in clauses
                )
    return tuple(text for text in statements if _says_something(text, name, speaker_name))[:MAX_STATEMENTS]


def first_person(name: str, statement: str) -> str:
    """A statement in the words of the person it is about: rules for messages can then read it."""
    name = _plain_name(name)
    start = re.match(rf"{re.escape(name)}(?P<own>['’]s?)?(?=[\s,.]|$)", statement, re.IGNORECASE) if name else None
    if start is None:
        return statement
    predicate = statement[start.end() :].lstrip()
    predicate = re.sub(rf"(?<!\w){re.escape(name)}['’]s?(?=\s)", "my", predicate, flags=re.IGNORECASE)
    predicate = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "me", predicate, flags=re.IGNORECASE)
    if start["own"]:
        return f"My {predicate}"
    adverbs = _THIRD_PERSON.adverbs_first.match(predicate)
    before, predicate = (adverbs[0], predicate[adverbs.end() :]) if adverbs else ("", predicate)
    verb, _, tail = predicate.partition(" ")
    stop = "." if verb.endswith(".") else ""
    return f"I {before}{english.form_after_i(verb.rstrip('.'))}{stop} {tail}".rstrip()


def possessive(name: str) -> str:
    return f"{name}'s"


_ASKS = ("?", "？", "؟", "\u037e", "՞")


def _plain_name(name: str) -> str:
    return " ".join(strip_invisible(name).split())


def _says_something(text: str, name: str, speaker_name: str) -> bool:
    """Whether a statement is more than a name and a short verb: "I am" says nothing."""
    for person in (name, speaker_name):
        text = re.sub(rf"^{re.escape(person)}(?:['’]s)?(?!\w)", "", text)
    words = text.strip(" .…").casefold().split()
    return bool(words) and not (len(words) == 1 and words[0] in english.PERSON_FORMS)


def _finish_statement(text: str) -> str:
    """The text with a full stop, cut to the length of a statement."""
    text = text.strip(" ,;:-–—")
    if len(text) > MAX_STATEMENT:
        cut = text[: MAX_STATEMENT - 1]
        text = f"{cut.rsplit(' ', 1)[0] if ' ' in cut[MAX_STATEMENT // 2 :] else cut}…"
    text = text.rstrip(" ,;!") or text
    return text if text.rstrip("”“»」 ").endswith((".", "…", "。", "！", "।", '."')) else f"{text}{full_stop(text)}"


# A sentence is cut where a clause with its own subject begins.


# Verbs that begin another clause after "and". Words that may also be nouns count only before words that follow no noun.


def _clauses(sentence: str, name: str) -> Iterator[str]:
    lead = _THIRD_PERSON.lead.match(sentence)
    sentence = sentence[lead.end() :] if lead else sentence
    start = 0
    for joint in _THIRD_PERSON.joint.finditer(sentence):
        piece = sentence[start : joint.start()]
        if _THIRD_PERSON.stated.match(piece) and not _THIRD_PERSON.leans.search(piece):
            yield from _split_predicates(piece, name)
            start = joint.end()
    yield from _split_predicates(sentence[start:], name)


def _split_predicates(clause: str, name: str) -> Iterator[str]:
    """The predicates of a clause, each with the subject: "I live in Rome and work at Globex" has two."""
    subject = re.match(rf"(?:i|we|he|she|they|{re.escape(name)})(?=\s)|i(?=['’]m\s)", clause, re.IGNORECASE)
    start = 0
    for cut in _THIRD_PERSON.next.finditer(clause) if subject else ():
        if (
            subject is None
            or _THIRD_PERSON.infinitive.search(clause, start, cut.start())
            or _THIRD_PERSON.leans.search(clause, start, cut.start())
        ):
            break
        yield clause[start : cut.start()] if not start else f"{subject[0]} {clause[start : cut.start()]}"
        start = cut.start("again")
    yield clause if not start or subject is None else f"{subject[0]} {clause[start:]}"


# Whom the pronouns mean


def _third_person(clause: str, name: str, speaker_name: str) -> str:
    """A clause with names instead of pronouns."""
    nickname = _THIRD_PERSON.call_me.match(clause)
    if nickname:
        return f"{speaker_name} goes by {nickname['called']}"
    plain = clause
    for full, short in _SHORT_FORMS.items():
        plain = short.sub(full.replace("WHO", r"\g<who>"), plain)
    with_name = _name_subject(plain, name)
    statement = _name_speaker(with_name, speaker_name)
    if statement == plain:
        statement = _add_subject(plain, name)
    language = detect(clause)
    if (
        statement == plain
        and language != "en"
        and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", clause, re.IGNORECASE)
    ):
        own_words = clause.strip().rstrip(".。।")
        return phrase(language, "said", name=speaker_name, text=f"{own_words}{full_stop(own_words)}")
    if statement == plain:
        statement = clause  # no name was put in: as it was said, short forms too
    return _capitalise_start(statement, name, speaker_name)


def _name_subject(clause: str, name: str) -> str:
    """The clause with the name where it begins with a pronoun, a mention, or the name in other case."""
    mention = _THIRD_PERSON.mention.match(clause)
    if mention:
        return f"{possessive(name) if mention['own'] else name}{clause[mention.end() :]}"
    somebody = _THIRD_PERSON.somebody.match(clause)
    if somebody:
        verb = english.form_after_name(somebody["verb"]) if somebody["they"] else somebody["verb"]
        return f"{name} {somebody['adverbs']}{verb}{clause[somebody.end() :]}"
    theirs = _THIRD_PERSON.theirs.match(clause)
    if theirs and not re.match(r"her\s+(?:and|or|is|was)\b", clause, re.IGNORECASE):
        return f"{possessive(name)} {clause[theirs.end() :]}"
    own_name = re.match(rf"@?{re.escape(name)}(?=['’]s\b|\s|$)", clause, re.IGNORECASE) if name else None
    return f"{name}{clause[own_name.end() :]}" if own_name else clause


def _name_speaker(clause: str, speaker_name: str) -> str:
    """The clause with the speaker's name where they spoke of themselves."""
    together = _THIRD_PERSON.with_me.match(clause)
    if together and not _is_verb(together["other"].split()[-1]):
        clause = f"{together['other']} {together['and']} {speaker_name}{clause[together.end() :]}"
        clause = re.sub(rf"(?<={re.escape(speaker_name)})\sam\b", " are", clause, count=1)

    def name_and_verb(match: re.Match[str]) -> str:
        return f"{speaker_name} {match['adverbs']}{english.form_after_name(match['verb'])}"

    clause = _THIRD_PERSON.i.sub(name_and_verb, clause)
    clause = re.sub(r"\b(?:myself|ourselves)\b", "themself", clause, flags=re.IGNORECASE)
    clause = re.sub(r"\b(?:[Mm]ine|[Oo]urs)\b(?!\s*[-:])", lambda _: possessive(speaker_name), clause)
    clause = re.sub(r"\b(?:[Mm]y|MY|[Oo]ur)\b(?=\s+\S)", lambda _: possessive(speaker_name), clause)
    clause = re.sub(r"(?<![\w-])(?:[Mm]e|us)\b(?!['’]|-\w)", lambda _: speaker_name, clause)
    return _THIRD_PERSON.not_past_i.sub(lambda _: speaker_name, clause)


# A clause without a subject is about the person, if it begins as a statement about a person does.

_OF_ADJECTIVES = english.DIETS | english.CONDITION_ADJECTIVES


def _has_own_verb(clause: str) -> bool:
    auxiliary = re.search(r"\b(?:is|are|was|were|has|have|will|can)\b", clause)
    return auxiliary is not None or any(map(_is_verb, clause.split()[1:]))


def _add_subject(clause: str, name: str) -> str:
    attribute = _THIRD_PERSON.attribute.match(clause)
    if attribute:
        verb = attribute["is"] or ("are" if attribute["what"].casefold() == "pronouns" else "is")
        return f"{possessive(name)} {attribute['what'].lower()} {verb} {attribute['value']}"
    bare = _THIRD_PERSON.bare_begins.match(clause)
    if bare:
        verb, *rest = bare["verb"].split()
        return " ".join([name, *bare["adverbs"].split(), english.form_after_name(verb), *rest, clause[bare.end() :]])
    first = clause.split(" ", 1)[0].casefold().strip(".,")
    opens = _THIRD_PERSON.third_begins.match(f"{clause} ")
    if opens and (first in _WORDS.verbs_of_others or english.form_after_i(first) in english.COMMON_VERBS):
        return f"{name} {clause[0].lower()}{clause[1:]}"
    if (
        _THIRD_PERSON.adjective.match(f"{clause} ")
        or first in _OF_ADJECTIVES
        or clause.casefold().strip(". ") in _OF_ADJECTIVES
    ):
        # A clause with a verb of its own is about something else: "vegan food is dear".
        if not _has_own_verb(clause):
            return f"{name} is {clause[0].lower()}{clause[1:]}"
    elif first in ("a", "an") and len(clause.split()) <= _TRADE_WORDS and trade(clause)[0]:
        return f"{name} is {clause[0].lower()}{clause[1:]}"
    return clause


_TRADE_WORDS = 4


def _capitalise_start(text: str, name: str, speaker_name: str) -> str:
    """The text with a capital if it begins with a function word; a name stays as it is written."""
    first = text.split(" ", 1)[0]
    if first in function_words("en") and not text.startswith((name, speaker_name)):
        return text[:1].upper() + text[1:]
    return text


def _is_verb(word: str) -> bool:
    plain = word.casefold().strip(".,!")
    return (
        plain in english.COMMON_VERBS
        or plain in english.FORMS_AFTER_I
        or (plain.endswith("s") and english.form_after_i(plain) in english.COMMON_VERBS)
    )
