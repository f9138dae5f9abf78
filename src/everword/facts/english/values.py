"""The values of facts, read from the words that follow a phrase such as "I live in".

A reader takes only what is surely the value, and nothing where the words cannot be one: "I live in hope" names no
place, "I love it" no thing. Capitals mark names, where there are any; a text all in small letters is read more
carefully.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from everword.facts.english import DATA, WORDS
from everword.text import english
from everword.text.detect import function_words
from everword.text.filler import names_something
from everword.word_lists import Patterns

_VALUES = Patterns("values", DATA, WORDS)

_LOOKED_AT = 600  # characters of a text: a value has some words, and stands at its beginning
_MAX_NAME, _MAX_PLACE, _MAX_THING = 5, 7, 7  # words
_COMPANY_JOINTS = ("of", "for", "the", "&")


def _words(text: str, lead: str = "") -> list[str]:
    """The words of a text, without those it may begin with."""
    start = text[:_LOOKED_AT].strip()
    return _VALUES.word.findall(_VALUES[lead].sub("", start) if lead else start)


def _names_at_start(words: Sequence[str], most: int, joints: Collection[str], ends: Collection[str] = ()) -> list[str]:
    """The words with capitals that words begin with, and the joints between two of them."""
    names: list[str] = []
    for word, following in zip(words[:most], [*words[1:], ""], strict=False):
        is_joint = bool(names) and word in joints and _is_capital(following)
        if not is_joint and (not _is_capital(word) or word.casefold() in ends):
            break
        names.append(word)
    return names


def name(text: str, *, lowercase: bool = False) -> str:
    """The name a text begins with: words with capitals, particles between them; in small letters, a word or two."""
    words = _VALUES.word.findall(text[:_LOOKED_AT].strip().strip('"“”'))
    name_words: list[str] = []
    for word in words[:_MAX_NAME]:
        if not _is_capital(word) and not (name_words and word in WORDS.NAME_PARTICLES):
            break
        name_words.append(word)
    while name_words and name_words[-1] in WORDS.NAME_PARTICLES:
        name_words.pop()
    if name_words:
        return " ".join(name_words) if name_words[0].casefold() not in WORDS.NO_NAMES | english.FEELINGS else ""
    return _plain_name(words) if lowercase and words else ""


def _plain_name(words: Sequence[str]) -> str:
    """The first word as a name in small letters, if it may be one."""
    first, after = [*words, ""][:2]
    ends = not after or not after[0].isalnum() or after in WORDS.AFTER_NAMES
    plain = first.isalpha() and first not in WORDS.NO_NAMES | english.FEELINGS and first not in function_words("en")
    return first if plain and ends else ""


def place(text: str, *, lowercase: bool = False) -> str:
    """The place a text begins with: "the Netherlands", "Portland, Oregon", "san francisco"."""
    words = _words(text, "before_place")
    place_words = _names_at_start(words, _MAX_PLACE, WORDS.PLACE_JOINTS, ("i", "but"))
    if place_words and place_words[0].casefold() not in english.NO_PLACES:
        return " ".join(place_words).replace(" ,", ",")
    if words and words[0] in ("a", "an", "my", "our"):
        return ""
    for count in (2, 1):
        candidate = " ".join(words[:count])
        if candidate.casefold() in english.PLACES:
            return candidate
    return _small_place(words) if lowercase else ""


def _small_place(words: list[str]) -> str:
    place_words: list[str] = []
    for word in words[:4]:
        if not word[0].isalpha() or word in function_words("en") or word in WORDS.AFTER_PLACES:
            break
        place_words.append(word)
    return " ".join(place_words) if 0 < len(place_words) <= 3 and not english.NO_PLACES & set(place_words) else ""


def company(text: str, *, lowercase: bool = False) -> str:
    """The firm a text begins with."""
    words = _words(text, "before_company")
    company_words = _names_at_start(words, 6, _COMPANY_JOINTS)
    is_small_name = lowercase and len(words) in (1, 2) and not WORDS.NO_COMPANIES & set(words)
    if not company_words and is_small_name and not text.strip().startswith("the ") and all(map(str.isalnum, words)):
        return " ".join(words)
    return " ".join(company_words)


def trade(text: str, *, loose: bool = False) -> tuple[str, str]:
    """What somebody is by trade, and the words after it; empty if it is none we know. `loose` takes any "-er"."""
    text = _VALUES.before_trade.sub("", text[:_LOOKED_AT].strip())
    trade_words: list[str] = []
    for word in _VALUES.word.findall(text)[:6]:
        if not word[0].isalpha() or word.casefold() in WORDS.TRADE_BREAKS:
            break
        trade_words.append(word)
    for length in range(len(trade_words), 0, -1):
        last = trade_words[length - 1]
        heads = {last.casefold(), " ".join(trade_words[max(length - 2, 0) : length]).casefold()}
        ends_as_trade = loose and length == len(trade_words) and last.casefold().endswith(_ENDINGS)
        is_trade = ends_as_trade or not heads.isdisjoint(english.TRADES)
        if is_trade and WORDS.NO_TRADES.isdisjoint(map(str.casefold, trade_words[:length])):
            return " ".join(trade_words[:length]), text[text.find(last) + len(last) :].strip(" ,")
    return "", text


_ENDINGS = ("er", "or", "ist", "ian", "eer", "man", "woman")


def things(text: str) -> list[str]:
    """The things a text names, one by one: "nuts, shellfish and cats"."""
    whole_text = text[:_LOOKED_AT]
    end = _VALUES.thing_end.search(whole_text)
    text = whole_text[: end.start()] if end else whole_text
    last = [joint.end() for joint in re.finditer(r"\s(?:and|or)\s", text)][-1:]
    if last and "," in text[last[0] :]:
        text = text[: text.index(",", last[0])]  # after the "and" of a list a comma begins something else
    parts = _thing_parts(text, is_list=bool(last))
    # The last is read with what follows it: "making it a better place" is no "making".
    tail = parts[-1]
    if text.endswith(tail):
        tail = whole_text[whole_text.find(tail, len(text) - len(tail)) :]
    items = [thing(part) for part in [*parts[:-1], tail]]
    # If the first only points at something, the others depend on it: "the idea of a walk and a swim".
    return [item for item in items if item] if items[0] else []


def _thing_parts(text: str, *, is_list: bool) -> list[str]:
    """A text in parts, each of which names a thing."""
    parts = _VALUES.between_things.split(text)
    if not is_list and any(len(part.split()) > 2 for part in parts):
        parts = parts[:1]
    is_done = _VALUES.doing.match(parts[0]) is not None
    if is_done and not any(part.split(" ", 1)[0].endswith("ing") for part in parts[1:]):
        return _with_to([text])  # what is done with several things: "mending bikes and scooters"
    if not is_done and _VALUES.of_several.search(parts[0]):
        return _with_to([text])  # "books about history and art"
    if len(parts) > 1 and _VALUES.kind_of.fullmatch(parts[0]) and (head := _VALUES.head_noun.search(parts[-1])):
        parts[0] += head[0]  # "classic and rock music"
    return _with_to(parts)


def _with_to(parts: list[str]) -> list[str]:
    """The parts, each with "to" before its verb, if the first has it: "to swim and dive"."""
    if not parts[0].startswith("to "):
        return parts
    return [f"to {part}" if part.partition(" ")[0] in english.PLAIN_VERBS else part for part in parts]


def _as_activity(text: str) -> str:
    """What somebody likes "to" do, as a thing: "swim in lakes" is "swimming in lakes"."""
    verb, space, rest = text.partition(" ")
    is_verb = verb.casefold() in english.PLAIN_VERBS or (rest and verb.casefold() not in function_words("en"))
    return f"{english.gerund(verb)}{space}{rest}" if is_verb else text


def thing(text: str) -> str:
    """One thing as it is liked, eaten or owned; empty for what only points at something: "it", "your answer"."""
    text = text[:_LOOKED_AT]
    end = _VALUES.thing_end.search(text)
    text, after = (text[: end.start()], end[0].strip().casefold()) if end else (text, "")
    text = " ".join(text.split())
    lead = _VALUES.lead.match(text)
    text = (text[lead.end() :] if lead else text).strip(" .,!?-–—:;\"'“”")
    if lead and lead[0].split()[-1].casefold() == "to":
        text = _as_activity(text)
    words = text.casefold().split()
    if not words or len(words) > _MAX_THING or not any(map(str.isalnum, text)) or _is_pointer(text, words):
        return ""
    if len(words) == 1 and words[0].endswith("ing") and after in ("it", "you", "myself"):
        return ""  # "making it …": what is done is not said
    return text.removeprefix("the ") if names_something(_VALUES.word.findall(text)) else ""


def _is_pointer(text: str, words: Sequence[str]) -> bool:
    """Whether a text only points at something, or is talk about what was written."""
    is_definite = words[0] == "the" and not (len(words) > 1 and _is_capital(text.split()[1]))
    return bool(
        is_definite
        or words[0] in WORDS.POINTING_WORDS
        or words[-1] in WORDS.HANGING_WORDS
        or _VALUES.points_elsewhere.search(text)
        or _VALUES.does_to_one.fullmatch(text)
        or not (WORDS.PERSON_WORDS | WORDS.TALK_NOUNS).isdisjoint(words)
        or function_words("en").issuperset(words)
    )


def languages(text: str) -> list[str]:
    """The languages a text names before another thought begins."""
    text = text[:_LOOKED_AT]
    end = _VALUES.language_end.search(text)
    part = text[: end.start()] if end else text
    return [match[0] for match in english.LANGUAGE.finditer(part)]


def animals(text: str) -> list[str]:
    """Animals, with their names if they are given: "Rex (dog)", "two cats"."""
    text = text[:_LOOKED_AT]
    descriptions: list[str] = []
    for part in re.split(r"\s*,\s*(?:and\s)?|\s+and\s+", text):
        named_animal = _VALUES.named_animal.match(part)
        if named_animal and english.species(named_animal[1]):
            animal_name = name(named_animal[2], lowercase=True)
            if animal_name:
                descriptions.append(f"{animal_name} ({english.species(named_animal[1])})")
                continue
        plain_animal = _VALUES.plain_animal.match(part.strip())
        if plain_animal and english.species(plain_animal[3]):
            is_counted = plain_animal[2] and plain_animal[2] != "some"
            animal = f"{plain_animal[2]} {plain_animal[3]}" if is_counted else english.species(plain_animal[3])
            descriptions.append(animal)
    return descriptions


def condition(text: str) -> str:
    """A lasting condition a text begins with."""
    text = text[:_LOOKED_AT]
    text = re.sub(r"[.,!?;:].*$", "", text.strip())
    words = text.split()
    for length in range(min(4, len(words)), 0, -1):
        candidate = " ".join(words[:length])
        if candidate.casefold() in english.CONDITIONS:
            return re.sub(r"^a\s", "", candidate)
    return ""


def _is_capital(word: str) -> bool:
    if not word:
        return False
    return word[0].isupper() or (word[0].isalpha() and not word[0].islower() and word[0].upper() == word[0].lower())
