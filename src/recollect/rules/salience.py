"""What carries a text and what only fills it: the weight of its words, its names and its numbers, and its filler.

A word weighs more the less ordinary it is; function words weigh nothing. There is no table of frequencies for every
language, so length, capitals and repetition stand in for one: that is enough to choose within one message.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from math import log

from recollect.rules.language import script_of
from recollect.rules.sentences import Sentence
from recollect.rules.smalltalk import is_small_talk
from recollect.rules.stopwords import function_words
from recollect.rules.text import analyse

# Ordinary words of English that say little about a message. Other languages do without.
_ORDINARY = frozenset(
    """
    able actually additionally ago almost already alright always amazing anyway area ask available away awesome bad basically
    begin best better big bit bring call came care case certain change check choose come consider cool couple course
    create day days decide definitely different easy end enjoy ensure especially essential etc even event
    example excited experience explore fact fantastic far feel felt finally find first fit follow fun general
    generally get gets getting give given glad go goes going gonna good got great guess guys happy hard hear heard hello
    help helpful helps hey hi high hope huge ideas important include includes including incredible info information
    instead interested interesting involve issue keep kind know large lately later learn least leave less like likely
    little long look looking looks lot lots love made main make makes making man matter maybe mean means mention method
    million mind moment need needs never new next nice now number offer often oh ok okay old ones open option
    options overall part particular people perfect perhaps person place plan please plenty point possible potential
    pretty probably process provide purpose put question questions quick quickly range ready real recently recommend
    related remember right said say says second see seem seems seen sense set several share show simple simply
    small sound sounds special specific start started stay step steps still stuff such suggest super support sure take
    takes taking talk team tell thank thanks thing things think thinking thought time times tip tips today
    together told took top totally tried try trying type types understand unique use used useful using usually
    various want wanted wants was way ways well went whole will wonder wonderful work working world worth
    would wow year years yeah yep yes
    """.split()
)  # fmt: skip

SPELT = frozenset(
    "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty hundred thousand twice".split()
)

_PUNCTUATION = r"\s!-#%-/:-@\[-^`{-~¡¿«»“”‘’‚„…–—·•、。，．！？；：（）「」『』【】《》〈〉؟،؛۔।॥"
WORD = re.compile(rf"[^{_PUNCTUATION}]+(?:['’.\-&/:,@][^{_PUNCTUATION}]+)*(?:\+\+|#)?")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_KATAKANA = re.compile("[\u30a0-\u30ff]{2,}")
_PARTICLES = re.compile("[的了是在和我你他她它们也都就很吗呢吧这那不有没要会能可把被给对从到与及或而但因所以为着过]")
_UNSPACED = frozenset({"han", "kana", "thai", "lao", "khmer", "myanmar"})
_LONGEST_WORD = 40  # characters; longer is no word


def words(text: str) -> list[str]:
    """The words of a text, as written; of a script without spaces, its runs between particles."""
    found: list[str] = []
    for word in WORD.findall(text):
        if word.isascii() or not (word[0].isalpha() and script_of(word[0]) in _UNSPACED):
            found.append(word)
        else:
            found += _runs(word)
    return found


def _runs(word: str) -> list[str]:
    if script_of(word[0]) not in ("han", "kana"):
        return [word[:_LONGEST_WORD]]
    runs = _KATAKANA.findall(word)
    for run in _HAN.findall(word):
        runs += [piece[:8] for piece in _PARTICLES.split(run) if len(piece) > 1]
    return runs


@lru_cache(maxsize=20_000)
def is_content(word: str, language: str) -> bool:
    """Whether a word has something to say."""
    if any(map(str.isdigit, word)):
        return True
    bare = word.casefold().replace("’", "'")
    if bare in _left_out(language) or len(word) > _LONGEST_WORD:
        return False
    return len(word) > 1 or script_of(word) in _UNSPACED


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script that puts no spaces between words."""
    return bool(text) and script_of(text[0]) in _UNSPACED


def is_ordinary(word: str) -> bool:
    return word.casefold().replace("’", "'") in _ORDINARY


@cache
def _left_out(language: str) -> frozenset[str]:
    words = set(function_words(language))
    if language == "en":
        for word in ("i", "you", "he", "she", "it", "we", "they", "that", "there", "what", "who", "here", "let"):
            words |= {f"{word}'{end}" for end in ("m", "s", "re", "ve", "ll", "d")}
        words |= {f"{word}n't" for word in "is are was were do does did ca could wo would should have has had".split()}
    return frozenset(words)


@lru_cache(maxsize=20_000)
def stem(word: str, language: str) -> str:
    """What a word is counted as: forms of one word are one."""
    terms = analyse(_POSSESSIVE.sub("", word), language).terms
    return terms[0] if terms else word.casefold()


def stems(text: str, language: str) -> frozenset[str]:
    """The different words of a text that have something to say."""
    return frozenset(stem(word, language) for word in words(text) if is_content(word, language))


def weigh(sentences: Iterable[Sentence], language: str) -> dict[str, float]:
    """The weight of each word of a text, by its stem."""
    said = Counter[str]()
    shape: dict[str, float] = {}
    for sentence in sentences:
        if sentence.kind == "note":
            continue
        for number, word in enumerate(words(sentence.text)):
            if is_content(word, language):
                root = stem(word, language)
                said[root] += 1
                shape[root] = max(shape.get(root, 0.0), _shape(word, number == 0 or sentence.kind != "prose"))
    return {root: shape[root] * (1 + log(times)) for root, times in said.items()}


def _shape(word: str, starts: bool) -> float:
    if any(map(str.isdigit, word)):
        return 3.4
    if word.casefold() in SPELT:
        return 1.5
    if is_ordinary(word):
        return 0.2
    length = len(word) if word.isascii() else len(word) * (3 if script_of(word[0]) in _UNSPACED else 1)
    weight = 0.5 + min(length, 10) / 10
    return weight * 2.3 if word[0].isupper() and not starts else weight


_KEPT = frozenset(
    "not no never without cannot can't don't didn't won't how why when where who which vs over than instead".split()
)


def terse(text: str, language: str) -> str:
    """A phrase in its words of matter; negations and question words stay. As it is, if it has four words or fewer."""
    said = text.split()
    if len(said) <= 4:
        return text
    kept = [word for word in said if matters(word, language) or word.casefold().strip(",?") in _KEPT]
    return " ".join(kept) if any(matters(word, language) for word in kept) else text


def matters(word: str, language: str) -> bool:
    """Whether a word has something to say that not every message says."""
    bare = word.strip(",.:!?\"'“”()")
    return bool(bare) and is_content(bare, language) and not is_ordinary(bare)


# Names

_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩА-ЯЁІЇЄ]"
_LETTER = r"[\w'’&.-]"
_NAME = re.compile(
    rf"(?<![\w'’])(?:{_CAPITAL}[\w'’&-]*[\w]|{_CAPITAL}(?=\s{_CAPITAL}\w))(?:\.(?=\w)\w+)*"
    rf"(?:(?:\s|\.\s(?=[A-Z]))(?:(?:of|de|la|van|von|der|du|del|&)\s(?:the\s|la\s)?)?"
    rf"(?:{_CAPITAL}[\w'’&-]*\w|{_CAPITAL}(?!\w)|\d{{1,4}}(?![\w.,:%])))*"
)
_TITLE = re.compile(r"[\"“«]([A-Z0-9ÀÉ][^\"“”«»]{1,58}[^\s\"“”«»,.])[,.!?]?[\"”»]")
_POSSESSIVE = re.compile(r"['’]s$|['’]$")
_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_NO_NAMES = frozenset({"de"})  # it capitalises every noun
_NEVER_NAMES = frozenset(
    "i ok okay pm am ps btw lol omg asap diy faq ai tv id yes no error info warn warning debug".split()
)
_ORDERS = frozenset(
    "add ask avoid bake book buy build call check click combine congrats congratulations cook cut download drink eat fill fix "
    "install join mix mount move pack pay play praise prepare read remove review run save search sell send set sign teach "
    "thank update visit wait walk watch wear welcome write".split()
)
_MAX_CAPITALS = 0.5  # of the words; beyond, capitals mean nothing


def names(sentences: Iterable[Sentence], language: str) -> list[str]:
    """Names of people, places, things and works, in order, each once. Capitals that begin a sentence say nothing."""
    prose = [sentence for sentence in sentences if sentence.kind in ("prose", "item")]
    found: dict[str, None] = {}
    doubtful: list[str] = []
    for sentence in prose:
        text = _CALLED.sub("", _SPOKEN_TO.sub("", sentence.text[len(sentence.lead) :]))
        found |= dict.fromkeys(title for title in _TITLE.findall(text))
        if language in _NO_NAMES or _shouts(text):
            continue
        for name, starts in _names_in(text, language):
            if starts and " " not in name and not _is_sign(name):
                doubtful.append(name)
            else:
                found[name] = None
    found |= dict.fromkeys(name for name in doubtful if name in {word for known in found for word in known.split()})
    return _longest(found)


def _names_in(text: str, language: str) -> Iterable[tuple[str, bool]]:
    """Each name, and whether its capital may be that of a sentence's beginning."""
    for match in _NAME.finditer(text):
        before = text[: match.start()].rstrip(" \"'“‘(¿¡-—*")
        starts = not before or before[-1] in ".!?:…"
        parted = _POSSESSIVE.sub("", match[0]).strip(" .&-").split()
        while parted and (not is_content(parted[0], language) or (starts and _is_opener(parted))):
            parted, starts = parted[1:], False
        name = " ".join(parted)
        if len(name) > 1 and name.casefold() not in _NEVER_NAMES and parted[0].casefold() not in _CALENDAR:
            yield name, starts


def _is_opener(parted: list[str]) -> bool:
    """Whether the first word is capital only because it comes first: "Visit Rome", "Installing Linux"."""
    first = parted[0].casefold()
    return is_ordinary(first) or first in _ORDERS or (len(parted) > 1 and first.endswith("ing"))


def _is_sign(name: str) -> bool:
    """Whether a word is written as no ordinary word is: NASA, iPhone, GPT-4."""
    return len(name) > 1 and (name.isupper() or any(c.isupper() or c.isdigit() for c in name[1:]))


def _shouts(text: str) -> bool:
    said = WORD.findall(text)
    return len(said) > 3 and sum(word[0].isupper() for word in said) > _MAX_CAPITALS * len(said)


def _longest(found: Iterable[str]) -> list[str]:
    """Without names that are part of a longer one."""
    listed = list(found)
    whole = [f" {name} ".casefold() for name in listed]
    return [
        name
        for name in listed
        if not any(f" {name} ".casefold() in other and len(other) > len(name) + 2 for other in whole)
    ]


# Numbers

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin"
    r"|juillet|août|septembre|octobre|novembre|décembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    r"|septiembre|octubre|noviembre|diciembre)"
)
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
_COUNTED = r"(?:\d+(?:[.,]\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|couple of|several)"
_SPAN = r"(?:second|minute|min|hour|day|night|week|month|year|decade)s?"
WHEN = re.compile(
    rf"""\b(?: \d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d)? | \d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}
        | (?:the\s)?\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH}\b(?:,?\s\d{{4}})?
        | {_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}})? | {_MONTH}\s\d{{4}}
        | (?:next|last|this|every|past)\s(?:{_DAY}|{_MONTH}\b|week(?:end)?|month|year|summer|winter|spring|fall|night|morning)
        | {_DAY}(?:\s(?:morning|afternoon|evening|night))? | yesterday | tomorrow | tonight
        | (?:about\s)?{_COUNTED}\s{_SPAN}\s(?:ago|later|from\snow) | in\s{_COUNTED}\s{_SPAN}
        | for\s(?:the\s(?:past|last)\s|over\s|about\s)?{_COUNTED}\s{_SPAN} | since\s(?:{_MONTH}|\d{{4}})
        | (?:at\s)?\d{{1,2}}(?::\d\d)?\s?(?:am|pm|a\.m\.|p\.m\.)(?!\w) | (?:at\s)?\d{{1,2}}:\d\d(?:\sUhr)?(?![\w:])
        | (?:in|by)\s(?:19|20)\d\d(?![\w.,%]) | \d{{1,2}}月\d{{1,2}}[日号] | \d{{4}}年(?:\d{{1,2}}月)?
    )""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip
_UNIT = (
    r"(?:%|percent|°\s?[CF]|[kmgt]i?b|[kmgt]bit/s|ms|km|cm|mm|kg|mg|g|lbs?|oz|ml|l|hz|ghz|mhz|kw|w|v|mph|km/h"
    r"|inch(?:es)?|f(?:oo|ee)t|miles?|pounds?|cups?|tablespoons?|teaspoons?|tokens?|lines?|pages?|steps?|people|users?"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?(?:\sold)?)"
)
AMOUNT = re.compile(
    rf"""(?<![\w.,])(?:
        [$€£¥₹]\s?\d[\d.,]*(?:\s?(?:k|m|bn|million|billion))?(?:\s?[-–]\s?[$€£]?\d[\d.,]*)?
        | \d[\d.,]*\s?(?:[$€£¥₹元円원]|(?:dollars|euros|pounds|usd|eur|gbp|yen)\b)
        | \d[\d.,]*(?:\s?(?:-|–|to)\s?\d[\d.,]*)?\s?-?{_UNIT}(?!\w)
    )""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:/]*(?:[-–]\d+|st|nd|rd|th)?(?:\s[^\W\d_]{3,}(?:\s[^\W\d_]{4,})?)?")


def numbers(text: str, language: str) -> list[str]:
    """Amounts and bare numbers with the noun they count, in order, each once; dates and times are `WHEN`."""
    text = WHEN.sub(" ; ", text)
    found = {amount.start(): amount[0] for amount in AMOUNT.finditer(text)}
    text = AMOUNT.sub(lambda amount: ";" * len(amount[0]), text)
    for number in _NUMBER.finditer(text):
        digits, *counted = number[0].split()
        nouns = counted[: 1 if len(counted) > 1 and is_ordinary(counted[1]) else 2]
        kept = (
            [word for word in nouns if is_content(word, language)] if nouns and is_content(nouns[0], language) else []
        )
        found[number.start()] = " ".join([digits.rstrip(".,:/"), *kept])
    return list(dict.fromkeys(found[at].strip(" .,-") for at in sorted(found)))


# Filler

_OPENERS = re.compile(
    r"""^(?:
        (?:well|so|and|but|also|however|anyway|anyways|actually|basically|honestly|frankly|additionally|furthermore
          |moreover|besides|finally|lastly|overall|ultimately|oh|ah|hmm|hm|wow|hey|hi|hello|yeah|yep|sure|certainly|absolutely
          |definitely|of\ course|great|okay|ok|alright|right|now|then|first|firstly|secondly|thanks|thank\ you|lol|haha
          |by\ the\ way|btw|on\ (?:a\ different|another|a\ side)\ note|in\ addition|in\ (?:conclusion|summary|short|fact|general)
          |to\ (?:be\ honest|sum\ up|summarize|start|begin)|as\ (?:i\ said|mentioned|you\ know|always|a\ result)
          |for\ (?:example|instance)|that\ (?:said|being\ said)|speaking\ of\ which|you\ know|i\ mean|note\ that|remember
          |additionnellement|également|außerdem|übrigens|also|además|entonces|pues|inoltre|allora|além\ disso|então)
        (?:\s*[,:–—!-]+\s*|\s+(?=(?:i|we|my|our|the|it|you)\b))
        | (?:please\ (?:note|remember|keep\ in\ mind)\ that|it(?:['’]s|\ is)\ (?:important|worth\ (?:noting|mentioning)|essential)
          (?:\ to\ (?:note|remember|mention))?\ that|i\ (?:just\ )?(?:wanted\ to\ (?:say|mention|let\ you\ know)|think|guess|believe
          |feel\ like|would\ say)(?:\ that)?|keep\ in\ mind\ that|i['’]d\ be\ happy\ to\ help(?:\ you)?(?:\ with)?
          |i\ was\ (?:just\ )?wondering(?:\ if)?|as\ an\ ai(?:\ language\ model)?,?)\s+
    )""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip
_CALLED = re.compile(
    r"^(?i:hey|hi|hello|thanks|thank you|thx|wow|yeah|yep|sure|dear|cheers|nice|cool|congrats|oh|aww|woah)[ ,]+[A-Z]\w+[,!.]+\s*"
)
_ASIDE = re.compile(
    r"\s*[(（\[][^()（）\[\]]{0,300}[)）\]]|(?<=,)\s(?:of course|for example|for instance|however|I think),"
)
_SPOKEN_TO = re.compile(r"(?<=[a-z]),\s[A-Z]\w+(?=[!.?]+$)")
_SOFTENERS = re.compile(
    r"\s(?:really|very|just|actually|basically|definitely|literally|honestly|simply|quite|kind\sof|sort\sof|pretty|super|totally)"
    r"(?=\s[a-z])"
)
_NOTE = re.compile(r"^\[(?:code|log|data): [^\]]*\]$")
_FILLER = re.compile(
    r"""^(?:
        (?:i\ )?(?:really\ )?hope\ (?:this|that|it|these|you).{0,60}
        | (?:please\ )?(?:let\ me\ know|feel\ free|don['’]t\ hesitate).{0,120}
        | (?:if\ you\ (?:have|need|want)|should\ you).{0,60}(?:questions?|help|assistance|know|ask).{0,60}
        | (?:is|was)\ there\ anything\ else.{0,60}
        | (?:what\ an?|that['’]?s|that\ is|that\ sounds|sounds|this\ is|it\ sounds\ like|it['’]s|it\ was|you['’]re)\ (?:\w+\s){0,3}
          (?:great|good|amazing|awesome|fantastic|wonderful|excellent|incredible|cool|nice|lovely|perfect|welcome|right|fun|interesting
          |wise|fabulous|brilliant|thoughtful)(?:\s(?:to\ hear|idea|question|choice|start|goal|decision|plan|step|news|point|job|one)){0,2}
        | (?:great|good|excellent|fantastic|wonderful|interesting)\ (?:question|idea|choice|point|job|thinking|news)
        | (?:i['’]d|i\ would|i['’]m)\ (?:be\ )?(?:happy|glad|delighted|here)\ to\ (?:help|assist|hear)(?:\s\w+){0,4}
        | (?:have|enjoy)\ (?:a|your|the)\ .{0,50} | (?:happy|good\ luck|best\ of\ luck|safe\ travels|enjoy)(?:\s\w+){0,4}
        | (?:i|we)\ (?:really\ )?appreciate\ (?:it|that|your\ (?:help|support|patience)) .{0,20}
        | (?:i\ )?(?:apologi[sz]e|sorry)\ for\ (?:the|any|my)\ \w+.{0,20} | thanks?(?:\ you)?\ (?:so\ much\ )?for\ .{0,50}
        | how\ (?:are|have)\ you(?:\ been)?(?:\s\w+){0,3} | (?:i['’]m|i\ am)\ (?:so\ )?glad\ (?:to\ hear|you).{0,30}
        | (?:it['’]s|it\ is|so)\ (?:so\ |really\ )?(?:good|great|nice|lovely)\ to\ (?:hear|talk|see|know|chat).{0,40}
        | i\ (?:completely\ |totally\ |fully\ )?(?:understand|get\ it)(?:\s\w+){0,4} | don['’]t\ worry.{0,40}
        | congrat(?:s|ulations)(?:\s\w+){0,5} | (?:and\ )?(?:what|how)\ about\ (?:you|yours|yourself) | can['’]t\ wait(?:\s\w+){0,4} | (?:it\ )?means\ a\ lot.{0,20} | keep\ (?:it\ up|up\ the\ good\ work)
    )[\s.!?]*$""",
    re.VERBOSE | re.IGNORECASE,
)  # fmt: skip


def is_filler(sentence: Sentence) -> bool:
    """Whether a sentence only keeps the talk going: greetings, praise, offers of help."""
    if sentence.kind != "prose":
        return False
    said = trim(sentence.text)
    return is_small_talk(said) or bool(_FILLER.match(said))


def trim(text: str) -> str:
    """A sentence without what leads into it and without what is said in brackets."""
    if _NOTE.match(text):
        return text
    kept = _without_greeting(_CALLED.sub("", text))
    for _ in range(3):
        kept, times = _OPENERS.subn("", kept)
        if not times:
            break
    kept = re.sub(r"\s+([,.;:!?])", r"\1", _SOFTENERS.sub("", _ASIDE.sub("", kept))).strip(" ,;–—")
    if not any(unicodedata.category(c)[0] in "LN" for c in kept):
        return text
    return kept if kept[0] == text[0] else kept[0].upper() + kept[1:]


_GREETING_END = re.compile(r"[,،，!！]\s*")
_GREETING = 5  # characters; a shorter one may be a yes or a no


def _without_greeting(text: str) -> str:
    """Without a first clause that is small talk, in any language."""
    end = _GREETING_END.search(text, 0, 60)
    at = end.end() if end else text.find(" ") + 1 if is_unspaced(text) else 0
    return text[at:] if at > _GREETING and text[at:].strip() and is_small_talk(text[:at]) else text
