"""What somebody says of themselves, told in the third person without a name: "I lost my keys" is "lost their keys".

The name is left out because the fact says whose it is. Nobody's gender is known, so it is "they" and "their". Only the
main verb and the pronouns change; what cannot be told for certain (what somebody would or could do) is not told at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recollect.facts.english.words import STATEMENT_WORDS, load_patterns
from recollect.text.verbs import PAST_FORMS, SAME_IN_THE_PAST, form_after_name, is_past

_RETELLING = load_patterns(__package__, "retelling")

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
    if verb is None or verb[0].casefold() in STATEMENT_WORDS.POSSIBLE:
        return None
    first = verb[0].casefold()
    rest = _strip_adverbs(predicate[verb.end() :].lstrip())
    if first in ("am", "are", "was", "were", "have", "had"):
        inner_habit = _RETELLING.kept_adverbs.match(rest)  # "am still looking", "have always had"
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
    reads = first == "read" and _RETELLING.reads.match(rest) is not None
    if (first in SAME_IN_THE_PAST and not adverb and not reads) or is_past(first):
        adverb = "" if adverb.casefold().strip() == "still" else adverb
        return _build(f"{adverb}{verb[0]} {rest}", "past", f"{verb[0]} {rest}")
    if first in SAME_IN_THE_PAST:
        return _build(f"{adverb}{verb[0]}s {rest}", "present", f"{verb[0]} {rest}")
    told = _RETELLING.second_verb.sub(lambda second: f"{second[1]}{form_after_name(second[2])}", rest)
    return _build(f"{adverb}{form_after_name(verb[0])} {told}", "present", f"{verb[0]} {rest}")


def is_participle(word: str) -> bool:
    """Whether a word can stand after "have": "gone", "started"."""
    plain = word.casefold()
    return (
        plain in STATEMENT_WORDS.PARTICIPLES
        or plain in SAME_IN_THE_PAST
        or (is_past(plain) and plain not in _NO_PARTICIPLES)
    )


_NO_PARTICIPLES = PAST_FORMS.difference(STATEMENT_WORDS.PAST_PARTICIPLES)


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
    adverbs = _RETELLING.adverbs.match(text)
    return text[adverbs.end() :] if adverbs else text


# Pronouns

_PRONOUNS = {
    "i": "they", "we": "they", "my": "their", "our": "their", "me": "them", "us": "them", "myself": "themself",
    "ourselves": "themselves", "mine": "theirs", "ours": "theirs",
}  # fmt: skip


def retell_pronouns(text: str) -> str:
    """A text with "they" and "their" where the speaker is meant."""
    text = _RETELLING.be_after.sub(
        lambda be: f"they {be[1] or ''}{'were' if be[2].casefold() == 'was' else 'are'}", text
    )
    text = _RETELLING.pronoun.sub(lambda word: word[0] if word["numeral"] else _PRONOUNS[word[0].casefold()], text)
    return _RETELLING.space.sub(lambda space: space[1] or " ", text)
