"""Whether a query speaks of somebody's own life or of earlier talk, which is what a memory is about.

"What did I pay for my bike?" can only be answered from memory; "How do I pay with a card?" asks for instructions,
though it has the same words. In English, the forms of a question and of a statement tell the two apart. In other
languages, only words for what belongs to the speaker are looked for. It decides nothing alone: it says how much else
is needed before something counts as relevant (`recall.rules.floor`).
"""

from __future__ import annotations

import re
from functools import cache

from recollect.text.detect import detect
from recollect.text.packs import lazy_pattern

# "How do I …?" and "Can I …?" ask for instructions, "I need …" and "I'd like …" for help: not about the speaker's life.
_REQUEST = lazy_pattern(
    r"(?i)\b(?:how|why) (?:do|does|can|could|should|would|must|might) (?:i|we|you)\b"
    r"|\b(?:can|could|should|may|might|shall|must|would|will) (?:i|we)\b"
    r"|\b(?:i|we)(?: just| really| only)? (?:need|want|wish|would|will|can|can['’]t|cannot|could|should|may|might)\b"
    r"|\bi['’](?:d|ll) (?:like|love|prefer|want|need)\b"
)
_ENGLISH = lazy_pattern(
    r"\b(?i:my|mine|myself|our|ours|ourselves)\b"
    r"|\b(?i:did|have|had|has|was|were|am) (?:[Ii]|we)\b"
    r"|\b(?i:how (?:many|much|often|long|old|far)|what|which|who|whom|whose|where|when)\b[^.?!]{0,80}? do [Ii]\b"
    r"|\bI(?:['’](?:ve|d|m))? [a-z]"
    r"|\bi['’](?:ve|d|m)\b|\bi (?:am|was|have|had|did|got|went|said|told|asked|bought|made|like|love|live|work)\b"
    r"|\b(?i:we) (?:were|had|did|met|went|said|talked|spoke|discussed|decided|agreed|planned|chose)\b"
    r"|\b(?i:remember|remind|earlier|previous|previously|last time)\b"
    r"|\b(?i:you)(?: \w+)? (?:told|said|mentioned|recommended|suggested|gave|wrote|made|listed|provided|described)\b"
)
_POSSESSIVES = {
    "de": r"mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|(?:hab|habe|hatte|war|bin) ich|ich (?:hab|habe|hatte|war|bin)",
    "fr": r"mon|ma|mes|notre|nos|ai-je|j['’](?:ai|avais|étais)",
    "es": r"mi|mis|mío|mía|míos|mías|nuestr[oa]s?|(?:yo )?(?:he|había|tengo|estuve|fui)",
    "it": r"mio|mia|miei|mie|nostr[oaie]|ho|avevo|sono (?:stato|stata|andato|andata)",
    "pt": r"meus?|minhas?|noss[oa]s?|eu (?:tenho|fui|estava|tinha)",
    "nl": r"mijn|ons|onze|(?:heb|had|was|ben) ik|ik (?:heb|had|was|ben)",
    "sv": r"min|mitt|mina|vår|vårt|våra|(?:har|hade|var) jag|jag (?:har|hade|var)",
    "pl": r"mój|moja|moje|moi|moich|mojego|mojej|moją|nasz\w*",
    "ru": r"мой|моя|мо[её]|мои|мою|моего|моей|моих|моём|наш\w*|у меня",
    "uk": r"мій|моя|моє|мої|мою|мого|моєї|моїх|наш\w*|у мене",
    "tr": r"benim|bizim",
    "id": r"saya|aku|kami",
}
_UNSPACED = lazy_pattern("我的|我们|我們|私の|僕の|俺の|私は|나의|내가|제가|우리")


def speaks_of_a_life(query: str) -> bool:
    """Whether a query is about what its speaker has, did or was told."""
    if _ENGLISH.search(_REQUEST.sub(" ", query)) or _UNSPACED.search(query):
        return True
    pattern = _pattern_for(detect(query))
    return pattern is not None and pattern.search(query) is not None


@cache
def _pattern_for(language: str) -> re.Pattern[str] | None:
    words = _POSSESSIVES.get(language)
    return re.compile(rf"(?<![\w'’-])(?:{words})(?![\w'’-])", re.IGNORECASE) if words else None
