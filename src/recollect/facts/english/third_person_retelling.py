"""What somebody says of themselves, told in the third person without a name: "I lost my keys" is "lost their keys".

The name is left out because the fact says whose it is. Nobody's gender is known, so it is "they" and "their". Only the
main verb and the pronouns change; what cannot be told for certain (what somebody would or could do) is not told at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recollect.facts.english import statement_words as words
from recollect.facts.english.words import BEFORE_PERFECT, any_of
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.verbs import COMMON_VERBS, PAST_FORMS, SAME_IN_THE_PAST, form_after_name, is_past

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


_ADVERBS = lazy_pattern(
    rf"(?:(?!so\s(?:much|many)\b)(?:{any_of(words.EMPTY_ADVERBS)}"
    rf"|(?!{any_of(words.VERBS_IN_LY, words.ADVERBS_OF_HABIT)}\b)\w{{3,}}ly)\s+)+",
    re.IGNORECASE,
)
_KEPT_ADVERBS = lazy_pattern(rf"(?:{any_of(words.ADVERBS_OF_HABIT)}\s+)+", re.IGNORECASE)
_WORD = lazy_pattern(r"[a-z][a-z'-]*(?=\s|$|[,.!])", re.IGNORECASE)
_FUTURE = lazy_pattern(
    rf"(?:(?:am|are)\s(?:{any_of(words.EMPTY_ADVERBS)}\s)*(?:going\sto|gonna|about\sto)|gonna|will)\s+", re.IGNORECASE
)
_PERFECT = lazy_pattern(rf"(?:have|has|had)\s+(?:{any_of(BEFORE_PERFECT)}\s+)*", re.IGNORECASE)
_NOT = lazy_pattern(rf"(?P<do>{any_of(words.HELPERS)})\s+(?:not|never)\s+", re.IGNORECASE)


_EMPHASIS = lazy_pattern(rf"do\s(?={any_of(sorted(COMMON_VERBS))}\s|tend\sto\s)", re.IGNORECASE)


def retell_predicate(predicate: str) -> Predicate | None:
    """What follows "I" or "we", in the third person; None if it says only what may be."""
    predicate = _USE_TO.sub("used to ", _strip_adverbs(predicate), count=1)
    habit = _KEPT_ADVERBS.match(predicate)
    adverb = habit[0] if habit else ""
    predicate = _strip_adverbs(predicate[len(adverb) :])
    negation = _NOT.match(predicate)
    if negation:
        return _retell_negation(negation, predicate[negation.end() :])
    future = _FUTURE.match(predicate)
    if future:
        action = _strip_adverbs(predicate[future.end() :])
        begins = "will" if future[0].casefold().startswith("will") else "is going to"
        return _build(f"{begins} {adverb}{action}", "future", action)
    predicate = _EMPHASIS.sub("", predicate)
    verb = _WORD.match(predicate)
    if verb is None or verb[0].casefold() in words.POSSIBLE:
        return None
    first = verb[0].casefold()
    rest = _strip_adverbs(predicate[verb.end() :].lstrip())
    if first in ("am", "are", "was", "were", "have", "had"):
        inner_habit = _KEPT_ADVERBS.match(rest)  # "am still looking", "have always had"
        adverb += inner_habit[0] if inner_habit else ""
        rest = _strip_adverbs(rest[inner_habit.end() :]) if inner_habit else rest
    if first in ("am", "are", "was", "were"):
        is_progressive = re.match(r"[a-z]{2,}ing\b", rest, re.IGNORECASE) and first in ("am", "are")
        tense: Tense = "progressive" if is_progressive else "past" if first.startswith("w") else "present"
        main = rest if is_progressive or is_participle(rest.partition(" ")[0]) else f"{first} {rest}"
        return _build(f"{form_after_name(first)} {adverb}{rest}", tense, main)
    if first in ("have", "had"):
        participle = rest.partition(" ")[0].casefold()
        if is_participle(participle):
            begins = "has" if first == "have" else "had"
            main = _strip_adverbs(rest.partition(" ")[2]) if participle == "been" else rest
            return _build(f"{begins} {adverb}{rest}", "perfect", main)
    reads = first == "read" and _READS.match(rest) is not None
    if (first in SAME_IN_THE_PAST and not adverb and not reads) or is_past(first):
        adverb = "" if adverb.casefold().strip() == "still" else adverb
        return _build(f"{adverb}{verb[0]} {rest}", "past", f"{verb[0]} {rest}")
    if first in SAME_IN_THE_PAST:
        return _build(f"{adverb}{verb[0]}s {rest}", "present", f"{verb[0]} {rest}")
    told = _SECOND_VERB.sub(lambda second: f"{second[1]}{form_after_name(second[2])}", rest)
    return _build(f"{adverb}{form_after_name(verb[0])} {told}", "present", f"{verb[0]} {rest}")


_READS = lazy_pattern(  # "I read comics": nothing says that it is over
    rf"(?!{any_of(words.AFTER_PAST_READ)}\b)[a-z]"
    r"(?!.*\b(?:yesterday|last|ago|once|when|today)\b)"
)
_USE_TO = lazy_pattern(r"^use\sto\s", re.IGNORECASE)
_SECOND_VERB = lazy_pattern(
    rf"((?:,|\b(?:and|but|then))\s(?:{any_of(words.ADVERBS_OF_HABIT)}\s)?)((?!like\b){any_of(sorted(COMMON_VERBS))})(?=[\s,])(?!\s(?:is|are|was)\b)"
)


def is_participle(word: str) -> bool:
    """Whether a word can stand after "have": "gone", "started"."""
    plain = word.casefold()
    return plain in words.PARTICIPLES or plain in SAME_IN_THE_PAST or (is_past(plain) and plain not in _NO_PARTICIPLES)


_NO_PARTICIPLES = PAST_FORMS - words.PAST_PARTICIPLES


def _retell_negation(negation: re.Match[str], action: str) -> Predicate | None:
    helper = negation["do"].casefold()
    action = _strip_adverbs(action)
    tense: Tense = (
        "past"
        if helper in ("did", "was", "were")
        else "perfect"
        if helper in ("have", "had", "has")
        else "future"
        if helper == "will"
        else "present"
    )
    word = "never" if "never" in negation[0].casefold() else "not"
    helper = "had" if helper == "had" else form_after_name(helper)
    predicate = _build(f"{helper} {word} {action}", tense, action)
    return predicate and Predicate(predicate.text, tense, predicate.verb, predicate.rest, is_negated=True)


def _build(text: str, tense: Tense, main: str) -> Predicate | None:
    verb, _, rest = main.strip(" .!,").partition(" ")
    if not verb or not text.strip():
        return None
    return Predicate(retell_pronouns(text).strip(" .!,;:-–—"), tense, verb.casefold().strip(".,!"), rest.strip())


def _strip_adverbs(text: str) -> str:
    adverbs = _ADVERBS.match(text)
    return text[adverbs.end() :] if adverbs else text


# Pronouns

_BE_AFTER = lazy_pattern(r"\b(?:i|we)\s+((?:\w+ly|still|just|also|always|never)\s+)?(am|was)\b", re.IGNORECASE)
_PRONOUNS = {
    "i": "they", "we": "they", "my": "their", "our": "their", "me": "them", "us": "them", "myself": "themself",
    "ourselves": "themselves", "mine": "theirs", "ours": "theirs",
}  # fmt: skip
_PRONOUN = lazy_pattern(
    # A number in a name: "Mustang I".
    rf"(?P<numeral>\b[A-Z][\w-]+\sI\b(?!\s(?:am|was|have|will|{any_of(sorted(COMMON_VERBS | PAST_FORMS))}|\w+ed)\b))"
    r"|\b(?:I|i|[Ww]e|[Mm]y|MY|[Oo]ur|[Mm]e|ME|us|[Mm]yself|[Oo]urselves|[Mm]ine|[Oo]urs)\b(?!['’.-]\w)"
)
_SPACE = lazy_pattern(r"\s+(?:([,.;:!?])(?=\s|$))?")


def retell_pronouns(text: str) -> str:
    """A text with "they" and "their" where the speaker is meant."""
    text = _BE_AFTER.sub(lambda be: f"they {be[1] or ''}{'were' if be[2].casefold() == 'was' else 'are'}", text)
    text = _PRONOUN.sub(lambda word: word[0] if word["numeral"] else _PRONOUNS[word[0].casefold()], text)
    return _SPACE.sub(lambda space: space[1] or " ", text)
