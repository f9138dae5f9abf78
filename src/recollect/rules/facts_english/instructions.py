"""Standing instructions: how somebody wants to be answered from now on, and how to be called.

An order for one answer is none: it must say that it is meant for good ("always", "never", "from now on"), or be of the
few things that nobody says for once only: no emojis, short answers, call me Al.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.language.lexicon import LANGUAGE
from recollect.model import FoundFact
from recollect.rules.facts_english.values import name

_LEAD = re.compile(
    r"^(?:(?:please|and|also|oh|but|so|ok|okay|hey|btw|by the way|remember to|make sure to|be sure to|you should"
    r"|you must|i want you to"
    r"|i['’]d like you to|i would like you to|i need you to|can you please|one more thing|also please|thanks)[,:\s]+)+",
    re.IGNORECASE,
)
_FOR_GOOD = re.compile(
    r"^(?:from\snow\son|from\shere\son(?:\sout)?|in\s(?:the\s)?future|going\sforward|every\stime"
    r"|whenever\syou\s(?:answer|reply|respond|write)"
    r"|in\sall\s(?:your\s)?(?:answers|replies)|for\sall\sfuture\s\w+)[,:\s]+(?:please\s)?(?:(?:you\s)?(?:should"
    r"|must)\s)?",
    re.IGNORECASE,
)
_FOR_GOOD_AFTER = re.compile(
    r"[,\s]+(?:from\snow\son|in\s(?:the\s)?future|going\sforward|from\shere\son|every\stime|always)(?=\W*$)",
    re.IGNORECASE,
)
_ALWAYS = re.compile(r"^always\s+", re.IGNORECASE)
_NEVER = re.compile(r"^(?:never|don['’]?t\sever|do\snot\sever)\s+(?!mind\b|ever\b)", re.IGNORECASE)
_NOT = re.compile(r"^(?:don['’]?t|do\snot|stop|no\smore|avoid|quit)\s+", re.IGNORECASE)
_ORDER = re.compile(
    r"^(?:answer|reply|respond|write|use|call|speak|address|include|give|show|keep|explain|format|cite|ask|remind"
    r"|translate|start|begin"
    r"|end|finish|add|avoid|make|be|tell|provide|send|put|sign|quote|talk|say|mention|suggest|recommend|assume"
    r"|convert|check|apologi[sz]e|refer|treat"
    r"|summari[sz]e|list|greet|sound|repeat|mark|round|spell|skip|stick)\b",
    re.IGNORECASE,
)
_REPLY = re.compile(
    r"^(?:answer|reply|respond|write|speak|talk)(?:\s(?:to\s)?me)?(?:\sback)?\s(?:only\s)?in\s", re.IGNORECASE
)
_CALL_ME = re.compile(
    r"^(?:(?:you\s(?:can|may|could|should)|just|please|everyone|always)\s)*(?:call|address)\sme\s(?:as\s)?(?=\S)"
    r"|^refer\sto\sme\sas\s",
    re.IGNORECASE,
)
_NICKNAMED = re.compile(
    r"^(?:(?:all\s)?my\s(?:friends|family|colleagues|mates)|friends|people|everyone|everybody)(?:\sall)?\scalls?\sme\s",
    re.IGNORECASE,
)
_ANSWERING = re.compile(
    r"\b(?:you|your|yours|yourself|(?:the|this|an?)\s(?:assistant|bot|chatbot|ai|model)|instructions?|prompts?"
    r"|answer(?:s|ed|ing)?|repl(?:y|ies|ied|ying)|respon(?:d|ds|ded|ding|se|ses))\b",
    re.IGNORECASE,
)
_TOPICS = {
    "emojis": r"\bemojis?\b|\bsmileys?\b|\bemoticons?\b",
    "answer length": r"\b(?:answers?|replies|responses?|it|things|explanations?)\b.*\b(?:short|brief|concise|long"
    r"|detailed|terse|to\sthe\spoint|under\s\d+\s\w+|crisp)\b|^be\s(?:brief|concise|terse)\b",
    "units": r"\b(?:metric|imperial|celsius|fahrenheit)\b(?=.*\bunits?\b|\W*$|\ssystem)|\bunits\b",
    "tone": r"\b(?:formal|informal|casual|polite|friendly|serious|professional|humorous)\b"
    r"(?=.*\b(?:tone|language|style|way|with\sme)\b|\W*$)|\btone\b",
    "format": r"\b(?:bullet\spoints?|markdown|tables?|plain\stext|headings?)\b",
}
_ABOUT = tuple((topic, re.compile(pattern, re.IGNORECASE)) for topic, pattern in _TOPICS.items())
_AT_ONCE = ("emojis", "answer length", "tone", "format")
_JOINT = re.compile(
    r"(?<=\w);\s+|,?\s+(?:and|but)\s+(?=(?:never|always|don['’]?t|please|call\sme|keep|stop)\b)", re.IGNORECASE
)
_PLEASING = re.compile(r"[,\s]*(?:please|thanks|thank\syou|ok|okay)[\s.!]*$", re.IGNORECASE)
_LONGEST = 16  # words; what is longer is a task
_LONGEST_CHARACTERS = 600


def is_about_answering(text: str) -> bool:
    """Whether words, in whatever form, speak to whoever answers, or of their answers."""
    return _ANSWERING.search(text) is not None


def instructions(sentences: list[str]) -> Iterator[FoundFact]:
    """The standing instructions in sentences that state or order something."""
    for sentence in sentences:
        for number, part in enumerate(_JOINT.split(" ".join(sentence.split()))):
            found = list(_instruction(part.strip())) if len(part) <= _LONGEST_CHARACTERS else []
            yield from found
            if not found and number == 0:
                break  # what is joined to a statement is no order: "I try to tidy up and keep …"


def _instruction(said: str) -> Iterator[FoundFact]:
    said = _PLEASING.sub("", said).strip(" .!,")
    nick = _NICKNAMED.match(said)
    if nick and (given := name(said[nick.end() :])):
        yield FoundFact("identity", "nickname", given, 0.9, 0.8)
        return
    standing = bool(_FOR_GOOD_AFTER.search(said))
    said = _FOR_GOOD_AFTER.sub("", said)
    for _ in range(3):
        said = _LEAD.sub("", said)
        lasting = _FOR_GOOD.match(said)
        standing = standing or lasting is not None
        said = said[lasting.end() :] if lasting else said
    called = _CALL_ME.match(said)
    if called:
        yield from _call_me(said[called.end() :])
        return
    always, never = _ALWAYS.match(said), _NEVER.match(said)
    order = said[(always or never).end() :] if always or never else said  # type: ignore[union-attr]
    if len(order.split()) > _LONGEST:
        return
    if always or never:
        if _ORDER.match(order):
            yield _rule(said, order, "never" if never else "always")
        return
    denied = _NOT.match(said)
    body = said[denied.end() :] if denied else said
    about = _topic(body)
    if denied and (standing or about in _AT_ONCE or re.match(r"call\sme\s\w+$", body)):
        yield _rule(said, re.sub(r"^using\b", "use", body), "never")
    elif not denied and _ORDER.match(body) and (standing or _is_lasting(body, about)):
        yield _rule(said, body, "always")


def _is_lasting(order: str, about: str) -> bool:
    """Whether an order is of the sort that is meant for good: "keep your answers short"."""
    return (
        about in ("answer length", "tone")
        and bool(re.match(r"(?:keep|be)\b", order, re.IGNORECASE))
        and "this" not in order.split()
    )


def _rule(said: str, order: str, way: str) -> FoundFact:
    reply = _REPLY.match(order)
    tongue = LANGUAGE.match(order[reply.end() :]) if reply and way == "always" else None
    if tongue:
        return FoundFact("instruction", "reply language", tongue[0], 0.95, 0.95)
    about = _topic(order)
    if about:
        return FoundFact("instruction", about, said[:1].lower() + said[1:], 0.95, 0.9)
    return FoundFact("instruction", way, order, 0.9, 0.85)


def _topic(order: str) -> str:
    return next((topic for topic, pattern in _ABOUT if pattern.search(order)), "")


def _call_me(rest: str) -> Iterator[FoundFact]:
    given = name(rest, small=rest == rest.lower())
    after = rest[len(given) :].strip(" .!\"'")
    if given and (not after or after[0] in ",;(–—-" or re.match(r"(?:please|instead|if|from|and|for|btw)\b", after)):
        yield FoundFact("instruction", "call me", given, 0.95, 0.9)
        # A name to be called by is a name, but a weak one: it never takes the place of one that was given.
        yield FoundFact("identity", "name", given, 0.6, 1.0)
