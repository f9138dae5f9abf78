"""Whether an English sentence has a predicate: a verb that says something of its subject, or asks for something.

There is no grammar here: a verb is known from a list of common ones and from the words around it. Auxiliaries and
irregular pasts are verbs anywhere. A word that may as well be a noun ("plan", "works", "changes") counts only where a
verb stands: first in a request, after a subject, or before an object. An "-ing" form alone is no predicate. A sentence
whose verb is not recognised is taken for a fragment, which loses a sentence and never adds a false one.
"""

from __future__ import annotations

import re

from recollect.text.fact_words import wordlist
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.stopwords import function_words
from recollect.text.word_runs import words_before

PLAIN_VERBS = wordlist(
    """accept achieve act add adjust adopt advise affect agree aim align allocate allow analyze announce answer apply
    appreciate approach arrange arrive ask assess attend avoid bake balance be become begin believe belong benefit blend
    boil book borrow break bring brush build buy calculate call care carry catch celebrate change chat check choose
    clean close collaborate collect combine come communicate compare complete compost conduct connect consider consist
    consult consume contact contain continue contribute convert cook cost cover create cut deal decide declutter define
    delegate deliver depend describe design destroy determine develop discover discuss divide do donate drain draw dream
    drink drive drop earn eat educate emphasize employ enable encourage end engage enhance enjoy ensure establish
    estimate evaluate examine exercise exist expand expect experience experiment explain explore express extend face
    fail fall feed feel fill find finish fit fix focus fold follow forget form freeze gather get give go grab graduate
    grill grow guess handle happen hate have hear heat help hire hit hold hope host identify imagine implement improve
    include increase inform inspire install interact introduce invest invite involve join keep know label last launch
    lead learn leave lend let lie like limit link listen live look lose love maintain make manage mark marry match
    matter mean measure meet mention miss mist mix model monitor motivate move need negotiate note notice offer open
    operate opt order organize own paint participate pass pay perform pick place plan plant play post pour practice
    prefer prepare present preserve prevent prioritize produce promote protect provide prune pull purchase push put
    raise reach react read realize receive recommend reduce refer reflect regret reheat relate relax release rely remain
    remember remind remove rent repeat replace report represent request require research resemble reserve respond rest
    return review rinse roast run save say schedule search season see seek seem select sell send serve set share shop
    show sign simmer sing sit skip sleep slice smell solve sound speak specify spend spread sprinkle stand start state
    stay steam stick stir stop store stretch strive study submit suggest suit support surround swim switch take talk
    taste teach tell tend test thank think throw track train transform travel treat trim trust try turn understand
    update upgrade use vary verify view visit volunteer wait wake walk want warm wash waste watch water wear weigh win
    wish wonder work worry worship write yield bloom thrive prove ride rise sail ski skate climb dance draft email text
    phone download upload cheer laugh cry smile hug kiss hike camp jog fish hunt knit sew tend rule reign date"""
)
"""Common verbs in their plain form."""
PAST_FORMS = wordlist(
    """was were had did went got made took saw came found told gave thought felt bought met won lost said knew began
    wrote ran kept sold spent built brought taught caught sent heard held stood understood became grew drew broke chose
    drove ate fell flew forgot paid rode rose sang sat slept spoke swam threw wore woke led fed fought hung dealt meant
    stuck swept quit passed used started tried decided moved loved wanted"""
)
_AUXILIARIES = wordlist(
    """is are has have do does can cannot could will would should may might must shall ain't let's lets gonna wanna
    gotta cant dont didnt doesnt isnt wasnt wont im ive id ill youre theyre were hasnt havent couldnt wouldnt"""
)
_VERB_FORMS = PAST_FORMS | _AUXILIARIES
_CONTRACTION = lazy_pattern(
    r"n['’]t\b|\bi\sam\b|\b(?:i|we|you|they|it|he|she|there|here|that|this|these|who|what|where|how|when|why|let|everyone|everything"
    r"|someone|something|nothing|name)['’](?:s|re|m|ve|ll|d)\b|['’](?:re|ve|ll)\b"
    r"|\w['’]s\s(?:an?|the|been|got|going|not|so|my|our|your|really|very|also|always|now|still|too|in|on|at|called|getting)\b",
    re.IGNORECASE,
)
_ADVERB = r"(?:\w+ly|also|just|still|never|always|often|even|all|both|now|then|usually|sometimes|ever|already|once)"
_SUBJECT_VERB = lazy_pattern(rf"\b(?:i|we|they|he|she|who)\s+(?:{_ADVERB}\s+)*(?P<verb>[a-z]{{2,}})\b", re.IGNORECASE)
_NO_VERB = wordlist("and or but of in on at to for with from by as the a an my our all both too not am")
_OBJECT = r"(?:an?|the|my|our|your|his|her|its|their|this|these|those|some|any|all|each|every|me|you|him|us|them|it)"
_PARTICLE = r"(?:to|in|on|at|for|with|from|by|out|up|down|off|over|into|about|as|away|back|through|around|that|how)"
_BEFORE_ADJECTIVE = ("a", "an", "the", "my", "our", "your", "so", "too", "very", "super", "really", "and", "but", "or")
_NO_SUBJECT = "(?<!,)" + "".join(rf"(?<!\b(?i:{word}))" for word in _BEFORE_ADJECTIVE)
_PAST = lazy_pattern(  # what is before the verb is looked at last: it takes longest
    rf"(?=\s[a-z]\w+[^\We]ed\b){_NO_SUBJECT}\s\w+(?=\s(?:{_OBJECT}|{_PARTICLE}|\d|[A-Z])|\W*$)"
    rf"|^\w{{2,}}[^\We]ed\s(?:{_OBJECT}|{_PARTICLE}|\d|[A-Z])"
)
_THIRD_PERSON = lazy_pattern(
    rf"\b(?P<verb>[a-z]{{2,}}s)(?=\s(?:(?P<object>{_OBJECT}\b)|(?P<place>(?:in|on|at|for|with|from|by|of)\b)|\S))",
    re.IGNORECASE,
)
_BEFORE_NOUN = wordlist(
    """a an the my our your his her its their these those some any no many few several more new of with in on at for
    from by to about"""
)
_REQUEST = lazy_pattern(
    r"(?:^|[,;:–—]\s+|\b(?:then|please)\s+)[\"“(]?(?:(?:please|always|never|just|also|then|simply|first|don['’]t|do\snot)\s+)*"
    r"(?P<verb>[a-z]{2,})\b(?=\s\S)",
    re.IGNORECASE,
)
_LEADS_IN = lazy_pattern(
    r"(?:when|if|to|for|as|before|after|while|once|instead|based|in|on|with|by|during|at|next|then|first|since|unless"
    r"|depending|also|please|remember|\w+ing)\b",
    re.IGNORECASE,
)
_NOUN_LIKE = wordlist(
    """walk work plan show talk call ride run play change visit start stop look love need use help drink cook book post
    place move rest dream design report test track link drive climb hike cut deal order request review search sound
    support taste train turn view wish cover cost end experience exercise face fall focus form guess host hope label
    lead limit mark match model note offer dance laugh smile hug kiss paint season plant water cheer text email"""
)
_AFTER_NOUN = lazy_pattern(rf"\b(?P<subject>[^\W\d_]{{2,}})(?=\s(?:{_ADVERB}\s)?(?P<verb>[a-z]{{2,}})\b)")
_WORD = lazy_pattern(r"[^\W_]+(?:['’-][^\W_]+)*")
_SPACED = re.compile(r"\S+")
_STOPS = (".", "!", "?", "…")
_MANY_WORDS = 6  # words of a text that would have an English function word if it was English


# A clause that hangs on another: its verb is not the verb of the sentence.
_SUBORDINATE = lazy_pattern(
    r"(?<=[\w,])\s(?:when|while|whenever|because|if|as|since|where|who|that|which|every\stime|after|before|until|how|what"
    r"|so\sthat|whose|than)\s[^,;:.!?–—]*",
    re.IGNORECASE,
)


_SUBORDINATORS = wordlist(
    """when while whenever because if as since where who that which every after before until how what so whose than"""
)
"""The words with which such a clause begins."""


_ASKS = lazy_pattern(
    r"\W*(?:(?:and|but|so|or|oh|hey|well|wow)\W+)?(?:who|what|when|where|why|how|which|whose|whom|is|are|was|were|do|does|did"
    r"|can|could|will|would|should|may|might|must|has|have|had|am|\w+n['’]t)\b|.*,\s(?:who|what|when|where|why|how)\b",
    re.IGNORECASE,
)


def has_predicate(text: str) -> bool:
    """Whether an English sentence has a verb where verbs stand. A text without an English word counts as one."""
    text = text.replace("’", "'")
    if _verb_comes_first(text) or _is_foreign(text):
        return True
    is_question = text.rstrip("\"') ").endswith("?") and _ASKS.match(text) is not None
    return _has_verb(text if is_question else _SUBORDINATE.sub("", text))


def _verb_comes_first(text: str) -> bool:
    """Whether a verb stands before all clauses that hang on another: then nothing else need be looked at."""
    if text[:1].isdigit():
        return False
    for word in text.casefold().split():
        if word in _VERB_FORMS:
            return True
        if word in _SUBORDINATORS:
            return False
    return False


def has_verb(text: str) -> bool:
    """Whether there is a verb in a text, be it in a clause that hangs on another: "an app that helps"."""
    return _has_verb(text.replace("’", "'"))


def _has_verb(text: str) -> bool:
    is_quantity = text[:1].isdigit()  # "2 cups of butter, melted", "1 can of beans"
    if not is_quantity and not _VERB_FORMS.isdisjoint(text.casefold().split()):
        return True  # most sentences have such a verb between two spaces
    text_words = [word.casefold() for word in _WORD.findall(text)]
    if is_quantity:
        text_words = text_words[2:]
    if not _VERB_FORMS.isdisjoint(text_words) or _CONTRACTION.search(text):
        return True
    if any(match["verb"].casefold() not in _NO_VERB for match in _SUBJECT_VERB.finditer(text)):
        return True
    return not is_quantity and (_has_present(text) or bool(_PAST.search(text)) or _has_request(text))


def _is_foreign(text: str) -> bool:
    """Whether a text is a sentence without an English word; a row of names is none."""
    is_sentence = text.rstrip()[-1:] in _STOPS and "," not in text and ":" not in text
    if not is_sentence or not function_words("en").isdisjoint(text.casefold().split()):
        return False
    text_words = [word.casefold() for word in _WORD.findall(text) if word.isalpha()]
    return len(text_words) >= _MANY_WORDS and function_words("en").isdisjoint(text_words)


def _has_request(text: str) -> bool:
    """Whether a clause begins with the plain form of a verb."""
    may_follow = _LEADS_IN.match(text) is not None or ":" in text
    return any(
        match["verb"].casefold() in PLAIN_VERBS and (may_follow or not match[0].startswith((",", ";")))
        for match in _REQUEST.finditer(text)
    )


def _has_present(text: str) -> bool:
    """Whether a verb in the present follows its subject: "tomatoes need sun", "it takes two hours"."""
    before_noun_end: int | None = None
    for match in _THIRD_PERSON.finditer(text):
        verb = match["verb"].casefold()
        before = words_before(text, match.start()).split()
        if not before or before[-1].casefold() in _BEFORE_NOUN or before[-1][-1].isdigit():
            continue
        is_known = (
            verb[:-1] in PLAIN_VERBS
            or (verb.endswith("es") and verb[:-2] in PLAIN_VERBS)
            or f"{verb[:-3]}y" in PLAIN_VERBS
        )
        is_counted = text[match.end() + 1 : match.end() + 2].isdigit()
        is_noun_like = not match["object"] and not is_counted and not _NOUN_LIKE.isdisjoint((verb[:-1], verb[:-2]))
        if is_noun_like:
            if before_noun_end is None:
                before_noun_end = _end_of_first(_BEFORE_NOUN, text)
            if not match["place"] or before_noun_end > match.start():
                continue  # "long walks on the beach", "points for fantasy books and films"
        if is_known or match["object"]:
            return True
    return any(
        match["verb"] in PLAIN_VERBS and _is_plural(match["subject"].casefold()) for match in _AFTER_NOUN.finditer(text)
    )


def _end_of_first(words: frozenset[str], text: str) -> int:
    """Where the first of some words ends in a text; behind the text if it has none."""
    return next((match.end() for match in _SPACED.finditer(text) if match[0].casefold() in words), len(text) + 1)


def _is_plural(word: str) -> bool:
    return word in _PLURAL_SUBJECTS or (word.endswith("s") and word not in function_words("en"))


_PLURAL_SUBJECTS = wordlist("you people kids children family everyone everybody team guys men women they we i who that")
