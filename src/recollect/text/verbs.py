"""The forms of English verbs: after "I", after a name, in the past.

A verb that is not listed follows the rule. Where a word could be a verb or another word, the caller knows better: these
functions only look at letters.
"""

from __future__ import annotations

import re

from recollect.text.fact_words import wordlist

_AFTER_A_NAME = {
    "am": "is", "are": "is", "have": "has", "haven't": "hasn't", "do": "does", "don't": "doesn't", "dont": "doesn't",
    "were": "was", "weren't": "wasn't", "ain't": "isn't", "aren't": "isn't", "havent": "hasn't",
}  # fmt: skip
FORMS_AFTER_I = frozenset(_AFTER_A_NAME)
"""Irregular verbs as they are after "I"."""
PERSON_FORMS = frozenset(_AFTER_A_NAME.values())
"""Forms that a verb has only after a name."""

PAST_FORMS = wordlist(
    """was were had did used went got came saw made took met found bought thought felt left kept lost told said
    knew grew began became broke chose drove ate fell forgot gave heard held led learnt lent lay meant paid rode
    ran sang sat sent shot slept sold spent spoke stood swam taught understood woke won wore wrote built flew
    drank caught brought fought sought slid stuck hung dreamt burnt spelt threw drew froze hid rose shook stole
    tore bent bled bred dug fed fled knelt leapt sank spun sprang stung struck swore swept swung wept wound"""
)
"""Irregular verbs in the past, which have one form."""
SAME_IN_THE_PAST = wordlist("let put quit read cut hit hurt set cost shut split spread bet burst")
_FIXED = PAST_FORMS | wordlist(
    """is has does can could will would shall should must may might ought cannot can't won't wouldn't couldn't
    shouldn't mustn't didn't hadn't wasn't cant wont let put quit cut hit hurt set and or but in at on for with
    to of from not no the a an my your"""
)
COMMON_VERBS = wordlist(
    """live work love like hate prefer speak play drink eat drive own use study teach enjoy dislike collect write
    read watch need want know believe support travel cook bake run swim ride wear keep train volunteer smoke
    paint sing dance have suffer adore avoid follow manage build sell design code go identify come grow hail
    reside commute"""
)
"""Verbs of plain statements about people, as they are after "I"."""
_PRESENT_IN_ED = wordlist("need feed breed speed bleed heed seed weed shed embed proceed succeed exceed")
_PREFIXED = re.compile(r"(?:re|over|out|under)(\w{3,})")  # "retook", "overcame"
_PRESENT_WITH_PREFIX = wordlist("relay overlay outlay underlay resent relent")
_DOUBLED = re.compile(r"(?:[^aeiou]|^|qu)[aeiou][bdgklmnprt]$")
_NOT_DOUBLED = wordlist("visit open listen travel cook look read eat edit garden happen offer order")
_BASES = {
    "is": "am",
    "isn't": "am not",
    "has": "have",
    "hasn't": "haven't",
    "does": "do",
    "doesn't": "don't",
    "goes": "go",
}
_ENDS_IN_S = wordlist("was wasn't always sometimes this its as")


def is_past(verb: str) -> bool:
    """Whether a verb can only be in the past, or be a participle: "went", "finished"."""
    plain = verb.casefold()
    prefixed = _PREFIXED.fullmatch(plain)
    if prefixed and prefixed[1] in PAST_FORMS and plain not in _PRESENT_WITH_PREFIX:
        return True
    return plain in PAST_FORMS or (plain.endswith("ed") and plain not in _PRESENT_IN_ED and len(plain) > 3)


def form_after_name(verb: str) -> str:
    """The form after a name of a verb after "I"."""
    plain = verb.casefold().replace("’", "'")
    if plain in _AFTER_A_NAME:
        return _AFTER_A_NAME[plain]
    if plain in _FIXED or (plain.endswith("ed") and plain not in _PRESENT_IN_ED):
        return verb
    if re.search(r"[^aeiou]y$", plain):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if plain.endswith(("s", "x", "z", "ch", "sh", "o")) else f"{verb}s"


def gerund(verb: str) -> str:
    """The form in "-ing" of a verb in its plain form: "reading", "making", "swimming"."""
    plain = verb.casefold()
    if plain.endswith("ing") and len(plain) > 4:
        return verb
    if plain.endswith("ie"):
        return f"{verb[:-2]}ying"
    if plain.endswith("e") and not plain.endswith(("ee", "ye", "oe")) and len(plain) > 2:
        return f"{verb[:-1]}ing"
    is_short = len(re.findall(r"[aeiou]+", plain)) == 1
    return f"{verb}{verb[-1]}ing" if is_short and _DOUBLED.search(plain) and plain not in _NOT_DOUBLED else f"{verb}ing"


def form_after_i(verb: str) -> str:
    """The form after "I" of a verb after a name."""
    plain = verb.casefold().replace("’", "'")
    if plain in _BASES:
        return _BASES[plain]
    if plain in _ENDS_IN_S or not plain.endswith("s") or plain.endswith("ss") or len(plain) < 4:
        return verb
    if plain.endswith("ies") and len(plain) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if plain.endswith(("sses", "xes", "zes", "ches", "shes", "oes")) else verb[:-1]
