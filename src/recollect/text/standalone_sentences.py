"""Which sentences of messages can be understood without others, and which one each of the rest needs.

In English the strict rules of `english_standalone` decide. In other languages, whose verbs are not known here, the
rules are milder: an answer needs its question, a sentence that begins with a pronoun the one before, a short item what
introduces the list. If by the strict rules nothing of an episode stands, they are applied without asking what "the …"
means, and then the mild ones: a summary is never empty if something was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.text.english_standalone import english_supports, stands_alone_in_english
from recollect.text.filler import is_filler
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.names_times_amounts import WHEN
from recollect.text.sentence_forms import (
    ALONE,
    FIRST_PERSON,
    NOTHING,
    SourcedSentence,
    Support,
    bare_text,
    introduction_before,
    is_caption,
    is_empty,
    is_fragment,
    is_introduction,
    question_before,
    sentence_before,
    telling_words,
)
from recollect.text.sentences import Sentence, has_question_mark, split_sentences
from recollect.text.word_weights import is_unspaced, words

_REPLY = lazy_pattern(
    r"^(?:\W*(?:oh|haha|well|hmm)\b\W*)?(?:yes|no|yeah|yep|yup|nope|nah|sure|maybe|probably|exactly|definitely|absolutely"
    r"|totally|of course|not really|not yet|i do|i did|i am|i have|me too|me neither|same here|so do i|neither do i"
    r"|right|true|correct|agreed|indeed|kind of|sort of|both|neither|none|nothing|everything)\b(?!\sone\b)",
    re.IGNORECASE,
)
_YES_OR_NO = lazy_pattern(r"^(?:yes|no|yeah|yep|yup|nope|nah)\b\s*[,.!–—-]", re.IGNORECASE)
_PRONOUN = lazy_pattern(
    r"^(?:it|they|he|she|them|him|his|their|its|both|one|ones|some|most|all|another)\b(?!\sof\s(?:the|my|our)\b)|"
    r"^(?:that|this|these|those|which|who)(?:['’](?:s|ll|d|re)|\s(?:is|are|was|were|will|would|has|had|have|did|does|do|can"
    r"|could|should|might|may|must|really|also|one|way|helps?|makes?|made|sounds?|looks?|means?|meant|kind|sort|all"
    r"|gives?|gave|keeps?|kept|took|takes?|happened|went|came|got|shows?|works?|seems?|feels?|felt|reminds?|brings?))\b",
    re.IGNORECASE,
)
_THERE = lazy_pattern(r"\b(?:there|then|so|too|either|the\ssame|like\sthat|that\sone|this\sone)[.!?]*$", re.IGNORECASE)
_FAREWELL = lazy_pattern(
    r"^(?:see\s(?:you|ya)|bye|take\scare|stay\ssafe|(?:talk|speak|chat|catch)\s(?:(?:to|with)\s)?(?:(?:you|ya)\s)?(?:soon|later))\b",
    re.IGNORECASE,
)
_OBJECT = lazy_pattern(r"\b(?:it|them|they|him|he|she)\b", re.IGNORECASE)
_NAMES_THING = lazy_pattern(r"\b(?:a|an|the|my|our|your|his|her|their|this|that|some|\d+)\s|\s[A-Z]\w|[\"“]")
_NUMBER_FIRST = lazy_pattern(r"[$€£¥+-]?\s?\d")
_JOINS = lazy_pattern(
    r"^(?:and|or|but|nor|plus|because|cause|cuz|so|than|like|especially|including|such\sas|as\swell|too|also|with|without"
    r"|to|for|from|of|at|by|about|into|even|just|only|not|etc)\b",
    re.IGNORECASE,
)
_EXCLAIMS = lazy_pattern(
    r"^(?:what\san?|such\san?|how\s(?:\w+ly\s)?(?!(?:many|much|long|often|far|old|big)\b)\w+!|so\s\w+!|looks?|sounds?|seems?"
    r"|reminds?|glad|good\sto|hope|can['’]t\swait|good\s(?:luck|job|call)|love\s(?:it|that|this|the|your|how)|nice|great|awesome|cool"
    r"|wow|keep|appreciate|i\s(?:\S+\s)?agree|cheers|always|an?\s(?:amazing|great|perfect)|adding|(?:that|this|it)['’]s\s(?:\w+\s)?(?:helpful|useful|good|great|nice)\b|no\s(?:problem|worries|regrets|doubts?)|looking\sforward\sto\smore)\b",
    re.IGNORECASE,
)
_SHORT_ITEM = 8  # words: a shorter item of a list needs its heading, unless it has a title of its own
_DESCRIBED = 4  # words after the title of an item that say what it is
_SHORT_REPLY = 6  # words: a shorter sentence right after a question is its answer,
_BARE_REPLY = 12  # or one of fewer words that does not begin with "I" or "we": it may have no verb
_JOINED = 7  # words of a sentence that only goes on with the one before
_TELLING = 4  # telling words with which a sentence is clear though it begins with a pronoun
_CLEAR = 6  # the same if what it points to is not there
_ASKED = 2  # telling words of a question that points back and still says what it is about


def find_supports(statements: Sequence[SourcedSentence], language: str) -> list[Support]:
    """The support of each sentence, in the order of the sentences. If by the strict rules of English none stands
    alone, milder ones decide."""
    if language == "en":
        for is_strict in (True, False):
            supports = english_supports(statements, is_strict=is_strict)
            if any(
                support.stands and statement.sentence.kind != "note"
                for support, statement in zip(supports, statements, strict=True)
            ):
                return supports
    return _mild_supports(statements, language)


def stands_alone(sentence: Sentence, language: str) -> bool:
    """Whether a sentence that is shown without another can be understood."""
    return language != "en" or stands_alone_in_english(sentence)


# -- in any language


def _mild_supports(statements: Sequence[SourcedSentence], language: str) -> list[Support]:
    supports: list[Support] = []
    for place in range(len(statements)):
        support = _mild_support(statements, place, language)
        needed = support.needs
        if needed is not None and not _is_support(statements[needed].sentence, supports[needed], language):
            sentence = statements[place].sentence
            is_clear = len(telling_words(sentence.text, language)) >= _CLEAR
            support = ALONE if is_clear and sentence.kind == "prose" and not is_caption(sentence) else NOTHING
        supports.append(support)
    return supports


def _mild_support(statements: Sequence[SourcedSentence], place: int, language: str) -> Support:
    sentence = statements[place].sentence
    if sentence.kind == "note":
        return ALONE
    if is_empty(sentence) or sentence.kind == "heading" or is_introduction(sentence):
        return NOTHING
    text = bare_text(sentence)
    if sentence.kind == "item":
        return _item_support(statements, place, text)
    question = question_before(statements, place)
    before = sentence_before(statements, place)
    if is_caption(sentence):
        return ALONE if before is None else Support(True, before)
    if question is not None and not sentence.is_question and _answers(sentence.text, text):
        return Support(True, question)
    if _YES_OR_NO.match(sentence.text) and len(telling_words(text, language)) < _CLEAR:
        return NOTHING  # nothing was asked, or not right before it
    is_farewell = _FAREWELL.match(text) and not WHEN.search(text)
    if is_fragment(text, language) or _EXCLAIMS.match(text) or is_farewell:
        return NOTHING
    if _JOINS.match(text) and len(words(text)) <= _JOINED:
        return NOTHING if before is None else Support(True, before)
    if _may_point_back(text):
        needed = before if before is not None else question
        if needed is not None:
            return Support(True, needed)
        return ALONE if len(telling_words(text, language)) >= _TELLING else NOTHING
    return ALONE


def _may_point_back(text: str) -> bool:
    """Whether a sentence speaks of something that was named before it: "it was great", "I want to add it"."""
    if _PRONOUN.match(text) or _THERE.search(text) or _NUMBER_FIRST.match(text):
        return True
    pronoun = _OBJECT.search(text)
    return pronoun is not None and not _NAMES_THING.search(text, 1, pronoun.start())


def _answers(text: str, trimmed: str) -> bool:
    """Whether a sentence right after a question is to be read as its answer."""
    size = len(words(trimmed))
    is_own = FIRST_PERSON.match(trimmed) is not None
    return bool(_REPLY.match(text) or _PRONOUN.match(trimmed)) or size < (_SHORT_REPLY if is_own else _BARE_REPLY)


def _item_support(statements: Sequence[SourcedSentence], place: int, text: str) -> Support:
    described = text.partition(": ")[2]
    if len(words(text)) >= _SHORT_ITEM or is_unspaced(text) or len(words(described)) >= _DESCRIBED:
        return ALONE
    introduction = introduction_before(statements, place)
    return NOTHING if introduction is None else Support(True, introduction)


def _is_support(sentence: Sentence, support: Support, language: str) -> bool:
    """Whether a sentence helps to understand another: not a fragment, not a question that itself points back."""
    if sentence.is_question and _may_point_back(sentence.text) and support.needs is None:
        return len(telling_words(sentence.text, language)) >= _ASKED
    return support.stands or _introduces(sentence)


def _introduces(sentence: Sentence) -> bool:
    """Whether a sentence that is not chosen for itself may be shown with another: a heading or a question."""
    ends = sentence.text.rstrip().endswith((":", "："))
    return sentence.kind in ("heading", "note") or ends or (sentence.is_question and not is_filler(sentence))


def is_bound(question: str, reply: str) -> bool:
    """Whether a message ends in a question that the next message, of somebody else, answers."""
    if not has_question_mark(question[-_END_READ:]):
        return False
    asked = _last_question(question)
    return asked is not None and asked.is_question and not is_filler(asked) and not _begins_with_question(reply)


def _last_question(text: str) -> Sentence | None:
    """The sentence in which a text ends, captions aside, if it may be a question."""
    end = Sentence(" ".join(text[-_END_READ:].split()))
    if "[" not in end.text and not end.is_question:
        return None
    parts = [Sentence(part) for part in split_sentences(end.text)]
    return next((part for part in reversed(parts) if not is_caption(part)), None)


def _begins_with_question(text: str) -> bool:
    beginning = text[:_END_READ]
    if not has_question_mark(beginning):
        return False
    parts = [Sentence(part) for part in split_sentences(" ".join(beginning.split()))]
    return next((part.is_question for part in parts if not is_filler(part)), False)


_END_READ = 600  # characters of a message in which its last or its first sentence is looked for
