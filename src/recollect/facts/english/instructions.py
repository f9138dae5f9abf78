"""Standing instructions: how somebody wants to be answered from now on, and how to be called.

An order for one answer is not a standing instruction: it must say that it is meant for good ("always", "never", "from
now on"), or be about one of the few things that nobody asks for only once: no emojis, short answers, call me Al.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.facts.english.values import name
from recollect.facts.english.words import WORDS, any_of, load_patterns
from recollect.model import FoundFact
from recollect.text.fact_words import LANGUAGE
from recollect.text.lazy_patterns import lazy_pattern

_INSTRUCTIONS = load_patterns(__package__, "instructions")

_TOPICS = {
    "emojis": r"\bemojis?\b|\bsmileys?\b|\bemoticons?\b",
    "answer length": rf"\b{any_of(WORDS.ANSWERS)}\b.*\b(?:{any_of(WORDS.LENGTHS)}|under\s\d+\s\w+)\b"
    r"|^be\s(?:brief|concise|terse)\b",
    "units": r"\b(?:metric|imperial|celsius|fahrenheit)\b(?=.*\bunits?\b|\W*$|\ssystem)|\bunits\b",
    "tone": rf"\b{any_of(WORDS.TONES)}\b(?=.*\b{any_of(WORDS.AFTER_TONE)}\b|\W*$)|\btone\b",
    "format": rf"\b{any_of(WORDS.FORMATS)}\b",
}
_ABOUT = tuple((topic, lazy_pattern(pattern, re.IGNORECASE)) for topic, pattern in _TOPICS.items())
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
    is_standing = bool(_INSTRUCTIONS.for_good_after.search(text))
    text = _INSTRUCTIONS.for_good_after.sub("", text)
    for _ in range(3):
        text = _INSTRUCTIONS.lead.sub("", text)
        for_good = _INSTRUCTIONS.for_good.match(text)
        is_standing = is_standing or for_good is not None
        text = text[for_good.end() :] if for_good else text
    call = _INSTRUCTIONS.call_me.match(text)
    if call:
        yield from _call_me(text[call.end() :])
        return
    always = _INSTRUCTIONS.always.match(text)
    never = _INSTRUCTIONS.never.match(text)
    order = text[(always or never).end() :] if always or never else text  # type: ignore[union-attr]
    if len(order.split()) > _LONGEST:
        return
    if always or never:
        if _INSTRUCTIONS.order.match(order):
            yield _rule(text, order, "never" if never else "always")
        return
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
    return next((topic for topic, pattern in _ABOUT if pattern.search(order)), "")


def _call_me(text: str) -> Iterator[FoundFact]:
    given_name = name(text, lowercase=text == text.lower())
    after = text[len(given_name) :].strip(" .!\"'")
    if given_name and (not after or after[0] in ",;(–—-" or _INSTRUCTIONS.after_call_me.match(after)):
        yield FoundFact("instruction", "call me", given_name, 0.95, 0.9)
        # A name to be called by is a name, but a weak one: it never replaces a name that was stated.
        yield FoundFact("identity", "name", given_name, 0.6, 1.0)
