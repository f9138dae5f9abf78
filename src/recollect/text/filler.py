"""What can be left out of a text without loss: greetings, praise, offers of help, and openers of a sentence.

A yes or a no is never filler, and neither is a negation or "I think": the rest must mean what was said.
"""

from __future__ import annotations

import re
import unicodedata

from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.sentences import Sentence
from recollect.text.short_text_cache import remember_short_texts
from recollect.text.smalltalk import is_small_talk
from recollect.text.word_weights import is_unspaced

_OPENERS = lazy_pattern(
    r"""^(?:
        (?: well|so|and|but|also|however|anyway|anyways|actually|basically|honestly|frankly|additionally|furthermore
          | moreover|besides|plus|finally|lastly|overall|ultimately|oh|ah|hmm|hm|wow|hey|hi|hello|yeah|yep|sure
          | certainly|absolutely|definitely|of\ course|great|okay|ok|alright|right|now|then|first|firstly|secondly
          | thanks|thank\ you|lol|haha|by\ the\ way|btw|on\ (?:a\ different|another|a\ side)\ note|in\ addition
          | in\ (?:conclusion|summary|short|fact|general)|to\ (?:be\ honest|sum\ up|summarize|start|begin)
          | as\ (?:i\ said|mentioned|you\ know|always|a\ result)|for\ (?:example|instance)|that\ (?:said|being\ said)
          | speaking\ of\ which|you\ know|i\ mean|note\ that|également|außerdem|übrigens|además|entonces|pues
          | inoltre|allora|além\ disso|então )
        (?:\s*[,:–—!-]+\s*|\s+(?=(?:i|we|my|our|the|it|you)\b))
      | like,\s+
      | (?: well|so|and|but|oh )\s+(?=(?:by\ the\ way|btw|also|actually|honestly|yes|yeah|anyway)\b)
      | (?: (?:and\ )?thank(?:s|\ you)(?:\ so\ much)?\ for\ \w+ing )\s*[,!–—-]+\s*
      | (?: please\ (?:note|remember|keep\ in\ mind)\ that|keep\ in\ mind\ that
          | it(?:['’]s|\ is)\ (?:important|worth\ (?:noting|mentioning)|essential)
            (?:\ to\ (?:note|remember|mention))?\ that
          | i\ (?:just\ )?wanted\ to\ (?:say|mention|let\ you\ know)(?:\ that)?
          | i['’]d\ be\ happy\ to\ help(?:\ you)?(?:\ with)?|i\ was\ (?:just\ )?wondering(?:\ if)?
          | as\ an\ ai(?:\ language\ model)?,? )\s+
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_PREFACE = lazy_pattern(
    r"""^(?: (?:can|could|would)\syou\s(?:please\s|also\s)?(?:help\sme\s(?:to\s|with\s)?|tell\sme\s|give\sme\s)?
        | do\syou\s(?:have|know|think)\s(?:of\s)?(?:any\s|some\s|that\s)?(?:other\s|good\s)?
        | i(?:['’]d|\swould)\s(?:like|love)\sto\s | i['’]m\s(?:also\s)?(?:looking\sfor|trying\sto)\s(?:some\s)?
    )(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_CALLED = lazy_pattern(
    r"^(?i:hey|hi|hello|thanks|thank you|thx|wow|yeah|yep|sure|dear|cheers|nice|cool|congrats|oh|aww|woah)"
    r"[ ,]+[A-Z]\w+[,!.]+\s*"
)
_SPOKEN_TO = lazy_pattern(r",(?<=[a-z],)\s[A-Z]\w+(?=[!.?]+$)")
_ASIDE = lazy_pattern(
    r"(?:(?<!\s)\s+)?[(（\[](?:[^()（）\[\]]|[(（\[][^()（）\[\]]{0,100}[)）\]]){0,300}[)）\]]"
    r"|(?<=,)\s(?:of course|for example|for instance|however|I think),"
)
_SOFTENERS = lazy_pattern(
    r"\s(?:really|very|just|actually|basically|definitely|literally|honestly|simply|quite|kind\sof|sort\sof|pretty|super"
    r"|totally)(?=\s[a-z])"
)
_BEFORE_MARK = lazy_pattern(r"(?<!\s)\s+([,.;:!?])")
_MARK_AFTER_SPACE = lazy_pattern(r"[,.;:!?](?<=\s.)")  # a mark is rarer than a space, so it is looked for first
_NOTE = lazy_pattern(r"^\[(?:code|log|data): [^\]]*\]$")
_PRAISE = (
    r"(?:great|good|amazing|awesome|fantastic|wonderful|excellent|incredible|cool|nice|lovely|perfect|welcome|right|fun"
    r"|interesting|wise|fabulous|brilliant|thoughtful)"
)
_PRAISED = r"(?:to\ hear|idea|question|choice|start|goal|decision|plan|step|news|point|job|thinking|one)"
_FILLER = lazy_pattern(
    rf"""^(?:
        (?:i\ )?(?:really\ )?hope\ (?:this|that|it|these|you).{{0,60}}
      | (?:please\ )?(?:let\ me\ know|feel\ free|don['’]t\ hesitate).{{0,120}}
      | (?:if\ you\ (?:have|need|want)|should\ you).{{0,60}}(?:questions?|help|assistance|know|ask).{{0,60}}
      | (?:is|was)\ there\ anything\ else.{{0,60}}
      | (?:what\ an?|that['’]?s|that\ is|that\ sounds|sounds|this\ is|it\ sounds\ like|it['’]s|it\ was|you['’]re)
        \s(?:\w+\s){{0,3}}{_PRAISE}(?:\s{_PRAISED}){{0,2}}
      | {_PRAISE}\ {_PRAISED}
      | (?:i['’]d|i\ would|i['’]m)\ (?:be\ )?(?:happy|glad|delighted|here)\ to\ (?:help|assist|hear)(?:\s\w+){{0,4}}
      | (?:have|enjoy)\ (?:a|your|the)\ .{{0,50}}
      | (?:happy|good\ luck|best\ of\ luck|safe\ travels|enjoy)(?:\s\w+){{0,4}}
      | (?:i|we)\ (?:really\ )?appreciate\ (?:it|that|your\ (?:help|support|patience)).{{0,20}}
      | (?:i\ )?(?:apologi[sz]e|sorry)\ for\ (?:the|any|my)\ \w+.{{0,20}}
      | thanks?(?:\ you)?\ (?:so\ much\ )?for\ .{{0,50}}
      | how\ (?:are|have)\ you(?:\ been)?(?:\s\w+){{0,3}} | (?:i['’]m|i\ am)\ (?:so\ )?glad\ (?:to\ hear|you).{{0,30}}
      | (?:it['’]s|it\ is|so)\ (?:so\ |really\ )?(?:good|great|nice|lovely)\ to\ (?:hear|talk|see|know|chat).{{0,40}}
      | i\ (?:completely\ |totally\ |fully\ )?(?:understand|get\ it)(?:\s\w+){{0,4}} | don['’]t\ worry.{{0,40}}
      | congrat(?:s|ulations)(?:\s\w+){{0,5}} | (?:and\ )?(?:what|how)\ about\ (?:you|yours|yourself)
      | can['’]t\ wait(?:\s\w+){{0,4}} | (?:it\ )?means\ a\ lot.{{0,20}} | keep\ (?:it\ up|up\ the\ good\ work)
    )[\s.!?]*$""",
    re.VERBOSE | re.IGNORECASE,
)
_GREETING_END = lazy_pattern(r"[,،，!！]\s*")
_GREETING = 5  # characters; a shorter one may be a yes or a no


def is_filler(sentence: Sentence) -> bool:
    """Whether a sentence only keeps the talk going: greetings, praise, offers of help."""
    return sentence.kind == "prose" and _is_filler(sentence.text)


@remember_short_texts
def _is_filler(text: str) -> bool:
    text = trim_address(text)
    return not text or is_small_talk(text) or bool(_FILLER.match(text))


@remember_short_texts
def trim(text: str) -> str:
    """A sentence without openers, softeners and brackets."""
    if text.startswith("[") and _NOTE.match(text):
        return text
    sentence = _strip_greeting(_strip_call(text))
    for _ in range(3):
        opener = _OPENERS.match(sentence)
        if opener is None:
            break
        sentence = sentence[opener.end() :]
    sentence = _SOFTENERS.sub("", _ASIDE.sub("", sentence))
    if _MARK_AFTER_SPACE.search(sentence):
        sentence = _BEFORE_MARK.sub(r"\1", sentence)
    sentence = sentence.strip(" ,;–—")
    if not sentence[:1].isalnum() and not any(unicodedata.category(c)[0] in "LN" for c in sentence):
        return text
    return sentence if sentence[0] == text[0] else capitalise(sentence)


@remember_short_texts
def trim_address(text: str) -> str:
    """A sentence without openers, softeners and brackets, and without the name of the person it is said to."""
    return trim(strip_addressee(text))


def bare_request(text: str) -> str:
    """A request without "can you", a wish without "I'd like to"."""
    return capitalise(_PREFACE.sub("", text))


def strip_addressee(text: str) -> str:
    """A sentence without the name of the person it is said to."""
    return _strip_call(_SPOKEN_TO.sub("", text))


def _strip_call(text: str) -> str:
    """A sentence without "Hey Dana," at its beginning."""
    call = _CALLED.match(text)
    return text[call.end() :] if call else text


def capitalise(text: str) -> str:
    """The text with a capital first letter, if the script has capitals."""
    return text[:1].upper() + text[1:]


def _strip_greeting(text: str) -> str:
    """The text without a first clause that is small talk, in any language."""
    end = _GREETING_END.search(text, 0, 60)
    at = end.end() if end else text.find(" ") + 1 if is_unspaced(text) else 0
    return text[at:] if at > _GREETING and text[at:].strip() and is_small_talk(text[:at]) else text
