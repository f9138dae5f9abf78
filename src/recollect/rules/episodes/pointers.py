"""Whether an English sentence points to something outside it: "it was great", "that place", "give me six more".

A pronoun is resolved if what it may stand for is named before it: "they" wants a plural, "she" a person, "it" a thing.
So "I sold the boat because it leaked" points to nothing outside, and "I was ashamed, but they forgave me" does. What
cannot be decided by the words around counts as pointing: the sentence is then shown with the one before it, or not.
"""

from __future__ import annotations

import re

from recollect.language.calendar_words import MONTHS, WEEKDAYS
from recollect.language.fact_words import PETS, RELATIONS, wordlist
from recollect.language.word_weights import is_content, is_ordinary

_TIME = (
    r"(?:week(?:end)?|month|year|morning|afternoon|evening|night|day|spring|summer|autumn|fall|winter|season|time|past"
    rf"|coming|last|next|quarter|semester|{'|'.join(WEEKDAYS)}|{'|'.join(MONTHS)})s?\b"
)
_VERB_AFTER = (
    r"(?:is|are|was|were|will|would|has|had|have|did|does|do|can|could|should|might|may|must|also|just|really|even|of"
    r"\s(?:them|these|those|it|which|that))\b"
)
# At the beginning of a sentence.
_BEGINS = re.compile(
    rf"^(?:this|that|these|those)\b(?!\s(?:{_TIME}|who\b))(?!['’]s\s(?:why|when)\b)"
    rf"|^(?:some|most|all|one|ones|another|many|few|each|none|neither|others?|either|several)(?:\s{_VERB_AFTER}|\W*$|[,.!])"
    r"|^both\s(?!.*\band\b)"
    r"|^(?:and|but|or|nor|so|because|plus|especially|including|instead|otherwise|same|besides|therefore|thus|hence|as\sfor"
    r"|as\sa\sresult|after\sthat|then|even\sthough\sit|such|still|again|yet|either\sway|in\s(?:that|this)\scase|speaking\sof"
    r"|likewise|similarly|alternatively|conversely|additionally|meanwhile|in\sthe\smeantime|not\sonly)\b(?!\smany\b)"
    r"|^(?:i|we|you|they|he|she|it)\s(?:do|did|am|are|have|has|had|can|could|will|would|was|were|is)(?:n['’]t|\snot)?"
    r"(?:\s*[-–—,.!;]|\s*$|\s(?:too|either|indeed)\b)"
    r"|^(?:me|us|him|them|not)\b|^(?:looks?|sounds?|seems?|feels?|makes?|means?|reminds?|depends?)\s",
    re.IGNORECASE,
)
# Anywhere.
_AFTER_NOUN = (
    r"(?:and|but|or|in|as|is|was|has|had|will|would|can|could|are|were|i|we|you|while|when|last|yesterday|today|because|so"
    r"|soon|too|myself|ourselves|that|which|makes?|helps?)"
)
_BEFORE_THAT = (
    r"(?:of|about|like|with|for|to|on|at|by|from|after|before|than|do|does|did|done|doing|is|was|are|were|can|could|would"
    r"|will|all|how|why|see|saw|seen|try|tried|use|using|via|through|around|over|into|during|since|without|behind)"
)
_ANYWHERE = re.compile(
    rf"\b(?:{_BEFORE_THAT}|in|capture|feel|share|keep|love|enjoy|finish|visit|buy|bought|read)\sthat\b(?!\s(?:{_TIME}|i\b|we\b|you\b))"
    r"|\bthat(?=\s*[.!?,;:]|\s*$|['’]s\s(?:what|how|why|where)\b)|\bthat\s(?:one|way|kind|sort|much|stuff|same)\b"
    rf"|\bthis(?=\W*$|\s*[.,!?;:]|\s(?:{_BEFORE_THAT}|and|but|or|in|is|was|has|will|would|can|could|one|way|kind|sort|\w+ly)\b)"
    rf"|\bthis\s(?!{_TIME})\w+(?=\W*$|\s*[.,!?;:]|\s(?:{_BEFORE_THAT}|{_AFTER_NOUN})\b)"
    rf"|\bthese\b(?!\s(?:days\b|{_TIME}))|\bthose\b(?!\s(?:who|days|of\sus|of\syou|with|interested|that|which|in\sneed)\b)"
    rf"|\b\w{{2,}}ed\sthat\s\w+(?=\W*$|\s(?:on|in|at|from|with|last|for)\b)|\bof\sthis\s(?!{_TIME})|\bthat['’]s\s(?:so\s|really\s|very\s)?\w+(?=[.!]*\s*$)"
    r"|\bsome(?=\s(?:to|for|from|and|but|too|myself|already)\b|\s*[.,!?;])|\d\smore(?=\W*$|[.,!?])"
    r"|\ba\sfew(?=\W*$|\s*[.,!?;])|\b(?:one|two|three|four|five|some|any|many|few|tell\sme|give\sme)\smore(?=\W*$|[.,!?])|\bone\smore\b"
    r"|\bthe\s(?:same|others?|rest|latter|former|above|following|first\stwo|ones)(?=\W*$|\s*[.,!?;]|\s(?:is|are|was|were|one|too|way|thing)\b)"
    r"|\b(?:any|some|every|no)(?:thing|one|body|where)\selse\b|\bwhat\selse\b|\bwhich\sones?\b|\banother(?=\s*[.,!?;]|\s*$|\sone\b)"
    r"|\b(?:think|hope|guess|do|did|doing|done|say|said|believe)\sso(?=\W*$|\s*[.,!?;])"
    r"|\b(?:from|over|in|on|at|out|up|down|around|near|been|went|go|goes|going|get|got|live|lives|lived|stay|stayed|back)"
    r"\sthere\b|\w\shere\b(?!['’]s)"
    r"|(?<!than\s)(?<!as\s)(?<!if\s)(?<!when\s)\b(?:i|you|we|they|he|she)\s"
    r"(?:will|would|can|could|do|did|does|have|has|had|am|are|should|might)(?:n['’]t|\snot)?(?=\s*[.!]*\s*$)"
    r"|\b(?:mentioned|listed|described|noted|said)\s(?:above|before)\b|\bas\s(?:above|below|follows)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?P<plural>they|them|their|theirs|themselves)\b|\b(?P<person>he|she|him|his|her|hers|himself|herself)\b"
    r"|\b(?P<thing>it|its|itself)\b"
    r"|(?<!no\s)(?<!any\s)(?<!some\s)(?<!every\s)(?<!number\s)(?<!one\s)\b(?P<one>ones?)(?=\W*$|\s*[.,!?;]"
    r"|\s(?:done|in|at|for|from|on|to|too|that|which|as|and|but|or|with|yet|before|soon|yesterday|last|this|is|was)\b)",
    re.IGNORECASE,
)
_EMPTY_IT = re.compile(
    r"it(?:(?:['’]s|\sis|\swas|['’]ll\sbe|\swill\sbe|\swould\sbe|['’]d\sbe|\scan\sbe|\smight\sbe|\smay\sbe|\sisn['’]t|\swasn['’]t"
    r"|\shas\sbeen|['’]s\sbeen)\s(?:(?:so|very|really|also|always|just|not|too|quite|pretty|more|still|often|never)\s)*"
    r"(?:\w+\s(?:to|that|if|how|for\s\w+\sto|seeing|being|having)\b|(?:time|raining|snowing|clear|true|likely|possible)\b"
    r"|(?:\w+\s){1,2}(?:days?|weeks?|months?|years?|while|ages)\b|my\s\w+\sto\b|an?\s\w+(?:\s\w+)?\sto\b)"
    r"|\s(?:takes|took|turns\sout|turned\sout|rains?|rained|snows?|snowed|happens)\b"
    r"|\s(?:seems|appears|looks|feels|sounds)\s(?:that|(?:like|as\sif)\s(?:i|we|you|he|she|they|there|people)\b))",
    re.IGNORECASE,
)
_EMPTY_NOW = re.compile(r"it(?:['’]s|\sis|\scan\sbe)\s(?:\w+\s){1,2}when\b", re.IGNORECASE)
_EMPTY_OBJECT = re.compile(
    r"(?:mak(?:e|es|ing)|made|find|found|think|believe|consider)\sit\s(?:\w+\s){1,2}(?:to|for|that|when)\b|worth\sit\b"
    r"|ma[dk]e\sit\s(?:to|through|back)\b|take\sit\seasy|call\sit\sa\sday|believe\sit\sor\snot",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:an?|the|my|our|your|his|her|their|this|that|some|another|one|every|each|any|no|\d+)\s(?P<noun>\w+(?:[\s-]\w+)?)"
    r"|[\"“]|(?:^|\b(?:of|by|from|love|loved|like|enjoy|enjoyed|started|tried|try)\s)"
    r"(?!(?:some|any|no|every)?thing\b|during\b)\w{3,}ing\b(?=\s\w)(?!\s(?:it|them|her|him)\b)",
    re.IGNORECASE,
)
_IS_TIME = re.compile(rf"(?:\w+\s)?{_TIME}", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w’']+")
_PLURAL = re.compile(
    r"\b(?:people|children|kids|men|women|family|team|group|everyone|everybody|someone|somebody|anyone|parents|couple"
    r"|person|staff|company|crew|band|folks|police|partner|friend|kid|child|each\sother)\b|\b[A-Z]\w+\sand\s[A-Z]|\b(?:an?|the|my|our|your|his|her)\s\w+\sand\s",
)
_NOT_PLURAL = wordlist(
    """is was has does its his this us yes as always perhaps less these those towards across besides sometimes
    afterwards news thus unless whereas nowadays hers theirs ours yours"""
)
_PERSONS = wordlist(
    """family team friends group woman man girl boy guy lady person kid child baby someone somebody anyone artist
    author actor actress singer writer player director president founder owner nurse student grandma grandpa mom
    mum dad folks pup puppy dog cat stranger veteran leader professor instructor guest client customer patient
    employee founder"""
)
_POSSESSIVE = re.compile(r"['’]\w*$")
_FIRST_NAME = re.compile(
    r"([A-Z][^\W\d_]+)(?:['’]s|\s(?:and|or|is|was|has|had|will|can|said|told|\w+s|\w+ed)\b|\s[A-Z])"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


_FAR = re.compile(
    rf"\b(?:that|those)\s(?P<noun>[a-z]{{4,}})(?=\W*$|\s*[.,!?;]|\s(?:{_BEFORE_THAT}|{_AFTER_NOUN})\b)",
    re.IGNORECASE,
)


def names_far_things(before: str, text: str) -> bool:
    """Whether what a text calls "that collage" or "those trips" is named in the one before."""
    named = before.casefold()
    return all(match["noun"][:_ROOT] in named for match in _FAR.finditer(text) if not _IS_TIME.match(match["noun"]))


_ROOT = 5  # letters by which a noun is known in another form


def points_back(text: str) -> bool:
    """Whether a sentence speaks of something that is not named in it."""
    if _BEGINS.search(text) or _ANYWHERE.search(text):
        return True
    return not resolves_pronouns("", text)


def resolves_pronouns(before: str, text: str) -> bool:
    """Whether each personal pronoun of a text has something before it, in the text or in the one before, that it may
    stand for."""
    start = len(before) + 1 if before else 0
    whole = f"{before} {text}" if before else text
    for pronoun in _PERSONAL.finditer(whole, start):
        if pronoun["thing"] and _is_empty(whole, pronoun):
            continue
        earlier = whole[: pronoun.start()]
        if pronoun["plural"]:
            is_named = _names_plural(earlier)
        elif pronoun["person"]:
            is_named = _names_person(earlier)
        else:
            is_named = _names_thing(" ".join(earlier.split()[:-2]) if pronoun["one"] else earlier)
        if not is_named:
            return False
    return True


def _is_empty(text: str, pronoun: re.Match[str]) -> bool:
    """Whether "it" stands for nothing: "it's hard to say", "I find it easy to row"."""
    start = pronoun.start()
    if _EMPTY_IT.match(text, start) or _EMPTY_NOW.match(text, start):
        return True
    return any(
        match.start() < pronoun.start() < match.end()
        for match in _EMPTY_OBJECT.finditer(text, max(pronoun.start() - 12, 0))
    )


def _names_plural(text: str) -> bool:
    words = [word.casefold() for word in _WORD.findall(text)]
    is_plural = any(
        len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "'s", "’s")) and word not in _NOT_PLURAL
        for word in words
    )
    return is_plural or bool(_PLURAL.search(text)) or any(word in RELATIONS for word in words)


def _names_thing(text: str) -> bool:
    """Whether a text names a thing, or does something: neither a person nor a time."""
    for match in _THING.finditer(text):
        noun = match["noun"]
        if not noun or not (_IS_TIME.match(noun) or any(map(_is_person, noun.casefold().split()))):
            return True
    return _names_one(text)


def _names_person(text: str) -> bool:
    words = [_POSSESSIVE.sub("", word.casefold()) for word in _WORD.findall(text)]
    return _names_one(text) or any(_is_person(word) or word in PETS for word in words)


def _is_person(word: str) -> bool:
    return word in RELATIONS or word in _PERSONS


def _names_one(text: str) -> bool:
    """Whether a text has a name: a capital in the middle, or a first word that is not an everyday one."""
    names = [_POSSESSIVE.sub("", match[0]) for match in _NAME.finditer(text)]
    if first := _FIRST_NAME.match(text):
        names.append(first[1])
    return any(
        len(name) > 1 and is_content(name, "en") and not is_ordinary(name) and name.casefold() not in _DAYS
        for name in names
    )


_DAYS = frozenset([*WEEKDAYS, *MONTHS])
