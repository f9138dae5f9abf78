"""The values of facts, read from the words that follow a phrase such as "I live in".

A reader takes only what is surely the value, and nothing where the words cannot be one: "I live in hope" names no
place, "I love it" no thing. Capitals mark names, where there are any; a text all in small letters is read more
carefully.
"""

from __future__ import annotations

import re

from everword.facts.english.words import DATA, WORDS
from everword.text.detect import function_words
from everword.text.english import (
    CONDITIONS,
    FEELINGS,
    LANGUAGE,
    NO_PLACES,
    PLACES,
    PLAIN_VERBS,
    TRADES,
    gerund,
    species,
    wordlist,
)
from everword.word_lists import Patterns

_VALUES = Patterns("values", DATA, WORDS)

_PARTICLES = wordlist("de del della di da dos du la le van von der den bin ibn al el y e ten ter zu af")
_PLACE_JOINTS = wordlist("de del la le of upon am on sur the do da dos das los las el di")
_LOOKED_AT = 600  # characters of a text: a value has some words, and stands at its beginning
_MAX_NAME, _MAX_PLACE, _MAX_THING = 5, 5, 7  # words
_NO_NAMES = wordlist(
    """not on in too so very hard important common unusual spelled spelt pronounced written also here there just
    only the a an mud irrelevant secret private long short difficult easy funny weird unknown missing wrong
    right correct fine ok okay btw by and or but back later when if up mad crazy old anything whatever maybe
    anytime tomorrow today now"""
)
_AFTERWORDS = wordlist("btw by though and but here too now so")


def name(text: str, *, lowercase: bool = False) -> str:
    """The name a text begins with: words with capitals, particles between them; in small letters, a word or two."""
    text = text[:_LOOKED_AT]
    words = _VALUES.word.findall(text.strip().strip('"“”'))
    name_words: list[str] = []
    for word in words[:_MAX_NAME]:
        if _is_capital(word) or (name_words and word in _PARTICLES):
            name_words.append(word)
        else:
            break
    while name_words and name_words[-1] in _PARTICLES:
        name_words.pop()
    if name_words:
        return " ".join(name_words) if name_words[0].casefold() not in _NO_NAMES | FEELINGS else ""
    if not lowercase or not words:
        return ""
    first = words[0]
    after = words[1] if len(words) > 1 else ""
    ends = not after or not after[0].isalnum() or after in _AFTERWORDS
    plain = first.isalpha() and first not in _NO_NAMES | FEELINGS and first not in function_words("en")
    return first if plain and ends else ""


def place(text: str, *, lowercase: bool = False) -> str:
    """The place a text begins with: "the Netherlands", "Portland, Oregon", "san francisco"."""
    text = text[:_LOOKED_AT]
    words = _VALUES.word.findall(
        re.sub(r"^(?:the\s(?:city|town|village|state)\sof\s|the\s)", "", text.strip(), flags=re.IGNORECASE)
    )
    place_words: list[str] = []
    for number, word in enumerate(words[: _MAX_PLACE + 2]):
        following = words[number + 1] if number + 1 < len(words) else ""
        joins = place_words and (word in _PLACE_JOINTS or word == ",") and _is_capital(following)
        if not joins and (not _is_capital(word) or word.casefold() in ("i", "but")):
            break
        place_words.append(word)
    if place_words and place_words[0].casefold() not in NO_PLACES:
        return " ".join(place_words).replace(" ,", ",")
    if words and words[0] in ("a", "an", "my", "our"):
        return ""
    candidates = " ".join(words[:2]).casefold(), words[0].casefold() if words else ""
    for candidate in candidates:
        if candidate in PLACES:
            return " ".join(words[: len(candidate.split())])
    return _small_place(words) if lowercase else ""


def _small_place(words: list[str]) -> str:
    place_words: list[str] = []
    for word in words[:4]:
        if not word[0].isalpha() or word in function_words("en") or word in ("right", "near", "btw", "now", "since"):
            break
        place_words.append(word)
    return " ".join(place_words) if 0 < len(place_words) <= 3 and not NO_PLACES & set(place_words) else ""


def company(text: str, *, lowercase: bool = False) -> str:
    """The firm a text begins with."""
    text = text[:_LOOKED_AT]
    lowercase = lowercase and not re.match(r"the\s", text.strip())
    text = re.sub(
        r"^(?:a\s(?:company|firm|startup|start-up)\s(?:called|named)\s|the\s)", "", text.strip(), flags=re.IGNORECASE
    )
    words = _VALUES.word.findall(text)
    company_words: list[str] = []
    for number, word in enumerate(words[:6]):
        following = words[number + 1] if number + 1 < len(words) else ""
        if _is_capital(word) or (company_words and (word in ("of", "for", "the", "&") and _is_capital(following))):
            company_words.append(word)
        else:
            break
    if company_words:
        return " ".join(company_words)
    if lowercase and len(words) in (1, 2) and not _NO_COMPANY & set(words) and all(map(str.isalnum, words)):
        return " ".join(words)
    return ""


_NO_COMPANY = wordlist(
    """home night nights least all a an the my our myself once day school work weekends scratch free fun money it
    them him her you us this that me everyone people early late today yesterday something someone"""
)


def trade(text: str, *, loose: bool = False) -> tuple[str, str]:
    """What somebody is by trade, and the words after it; empty if it is none we know. `loose` takes any "-er"."""
    text = text[:_LOOKED_AT]
    text = re.sub(r"^(?:an?|the|your|one\sof\sthe)\s", "", text.strip(), flags=re.IGNORECASE)
    words = _VALUES.word.findall(text)
    trade_words: list[str] = []
    for word in words[:6]:
        plain = word.casefold()
        if not word[0].isalpha() or plain in _BREAKS:
            break
        trade_words.append(word)
    for length in range(len(trade_words), 0, -1):
        heads = {trade_words[length - 1].casefold(), " ".join(trade_words[max(length - 2, 0) : length]).casefold()}
        fits = heads & TRADES or (
            loose and length == len(trade_words) and trade_words[-1].casefold().endswith(_ENDINGS)
        )
        if fits and not _NO_TRADE & set(map(str.casefold, trade_words[:length])):
            trade_name = " ".join(trade_words[:length])
            return trade_name, text[text.find(trade_words[length - 1]) + len(trade_words[length - 1]) :].strip(" ,")
    return "", text


_BREAKS = wordlist("at for from in with of by to and but who that on since now here so as working based because")
_ENDINGS = ("er", "or", "ist", "ian", "eer", "man", "woman")
_NO_TRADE = wordlist(
    """good great terrible bad big huge better beginner aspiring wannabe former would-be lousy amateur horrible
    decent fake real natural born bit little slow fast picky heavy light early sucker loser winner former ex
    professional-ish future hobby"""
)


def things(text: str) -> list[str]:
    """The things a text names, one by one: "nuts, shellfish and cats"."""
    text = text[:_LOOKED_AT]
    whole_text = text
    text = _cut_at_thing_end(text)
    last = [joint.end() for joint in re.finditer(r"\s(?:and|or)\s", text)][-1:]
    if last and "," in text[last[0] :]:
        text = text[: text.index(",", last[0])]  # after the "and" of a list a comma begins something else
    parts = re.split(r"\s*,\s*(?:and\s|or\s)?|\s+(?:and|or|as\swell\sas)\s+|\s*&\s*", text)
    if not last and any(len(part.split()) > 2 for part in parts):
        parts = parts[:1]
    if _VALUES.doing.match(parts[0]) and not any(part.split(" ", 1)[0].endswith("ing") for part in parts[1:]):
        parts = [text]  # what is done with several things: "mending bikes and scooters"
    elif _VALUES.of_several.search(parts[0]) and not _VALUES.doing.match(parts[0]):
        parts = [text]  # "books about history and art"
    if len(parts) > 1 and _VALUES.kind_of.fullmatch(parts[0]) and (head := _VALUES.head_noun.search(parts[-1])):
        parts[0] += head[0]  # "classic and rock music"
    if parts[0].startswith("to "):
        parts = [f"to {part}" if part.partition(" ")[0] in PLAIN_VERBS else part for part in parts]
    # The last is read with what follows it: "making it a better place" is no "making".
    tail = (
        whole_text[whole_text.find(parts[-1], len(text) - len(parts[-1])) :] if text.endswith(parts[-1]) else parts[-1]
    )
    items = [thing(part) for part in [*parts[:-1], tail]]
    # If the first only points at something, the others depend on it: "the idea of a walk and a swim".
    return [item for item in items if item] if items[0] else []


def thing(text: str) -> str:
    """One thing as it is liked, eaten or owned; empty for what only points at something: "it", "your answer"."""
    text = text[:_LOOKED_AT]
    end = _VALUES.thing_end.search(text)
    text, after = (text[: end.start()], end[0].strip().casefold()) if end else (text, "")
    text = " ".join(text.split())
    lead = _VALUES.lead.match(text)
    text = (text[lead.end() :] if lead else text).strip(" .,!?-–—:;\"'“”")
    verb, space, rest = text.partition(" ")
    if lead and lead[0].split()[-1].casefold() == "to" and (rest or verb.casefold() in PLAIN_VERBS):
        text = f"{gerund(verb)}{space}{rest}"
    words = text.casefold().split()
    if not words or len(words) > _MAX_THING or not any(map(str.isalnum, text)):
        return ""
    if words[0] in _POINTING or (words[0] == "the" and not (len(words) > 1 and _is_capital(text.split()[1]))):
        return ""
    if (
        _VALUES.points_elsewhere.search(text)
        or words[-1] in _HANGING
        or _VALUES.does_to_one.fullmatch(text)
        or _PERSONS & set(words)
        or _TALK & set(words)
        or all(word in function_words("en") for word in words)
    ):
        return ""
    if len(words) == 1 and words[0].endswith("ing") and after in _OBJECTS:
        return ""  # "making it …": what is done is not said
    return text.removeprefix("the ")


_HANGING = wordlist(
    "them it him her me us what that how about to of with for by in at and or the a an this these those is are you're"
)
_OBJECTS = frozenset({"it", "you", "myself"})
_PERSONS = frozenset({"him", "she", "he", "you", "your"})
_POINTING = wordlist(
    """it its that this these those them him her you your yours his their our my mine me us what how when where why
    who which the one both everything anything nothing something someone everyone nobody people being to
    having there here all such no not more less another other others each either neither doing getting going
    as in on at for from by since"""
)
_TALK = wordlist(
    """answer reply paragraph version option idea suggestion explanation approach
    response sentence one ones solution example draft wording title theme vibe vibes point question design lot lots
    is are was were has have been can will"""
)


def _cut_at_thing_end(text: str) -> str:
    end = _VALUES.thing_end.search(text)
    return text[: end.start()] if end else text


def languages(text: str) -> list[str]:
    """The languages a text names before another thought begins."""
    text = text[:_LOOKED_AT]
    end = _VALUES.language_end.search(text)
    part = text[: end.start()] if end else text
    return [match[0] for match in LANGUAGE.finditer(part)]


def animals(text: str) -> list[str]:
    """Animals, with their names if they are given: "Rex (dog)", "two cats"."""
    text = text[:_LOOKED_AT]
    descriptions: list[str] = []
    for part in re.split(r"\s*,\s*(?:and\s)?|\s+and\s+", text):
        named_animal = _VALUES.named_animal.match(part)
        if named_animal and species(named_animal[1]):
            animal_name = name(named_animal[2], lowercase=True)
            if animal_name:
                descriptions.append(f"{animal_name} ({species(named_animal[1])})")
                continue
        plain_animal = _VALUES.plain_animal.match(part.strip())
        if plain_animal and species(plain_animal[3]):
            descriptions.append(
                f"{plain_animal[2]} {plain_animal[3]}"
                if plain_animal[2] and plain_animal[2] != "some"
                else species(plain_animal[3])
            )
    return descriptions


def condition(text: str) -> str:
    """A lasting condition a text begins with."""
    text = text[:_LOOKED_AT]
    text = re.sub(r"[.,!?;:].*$", "", text.strip())
    words = text.split()
    for length in range(min(4, len(words)), 0, -1):
        candidate = " ".join(words[:length])
        if candidate.casefold() in CONDITIONS:
            return re.sub(r"^a\s", "", candidate)
    return ""


def _is_capital(word: str) -> bool:
    if not word:
        return False
    return word[0].isupper() or (word[0].isalpha() and not word[0].islower() and word[0].upper() == word[0].lower())
