"""Which sentences of messages can be understood without others, and which one each of the rest needs.

An answer needs its question, a sentence that points back the one before, a short item what introduces the list. A
fragment without such a support ("214!", a bare name, "and me.") is not chosen for a summary unless there is nothing
else. In English a sentence stands alone if it has a verb and points to nothing outside it; in other languages, whose
verbs are not known here, the rules are milder, and they are the fallback for English too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.language.english_verbs import has_predicate, has_verb
from recollect.language.filler import is_filler, strip_addressee, trim
from recollect.language.names_times_amounts import WHEN
from recollect.language.sentences import Sentence, split_sentences
from recollect.language.word_weights import is_content, is_ordinary, is_unspaced, words
from recollect.rules.episodes.pointers import names_far_things, points_back, resolves_pronouns


@dataclass(frozen=True, slots=True)
class SourcedSentence:
    """A sentence, the number of its message, and who said it."""

    source: int
    speaker: tuple[str, str]
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a sentence may be chosen, and the place of the sentence it cannot be understood without."""

    stands: bool
    needs: int | None = None


ALONE = Support(True)
NOTHING = Support(False)

_REPLY = re.compile(
    r"^(?:\W*(?:oh|haha|well|hmm)\b\W*)?(?:yes|no|yeah|yep|yup|nope|nah|sure|maybe|probably|exactly|definitely|absolutely"
    r"|totally|of course|not really|not yet|i do|i did|i am|i have|me too|me neither|same here|so do i|neither do i"
    r"|right|true|correct|agreed|indeed|kind of|sort of|both|neither|none|nothing|everything)\b(?!\sone\b)",
    re.IGNORECASE,
)
_YES_OR_NO = re.compile(r"^(?:yes|no|yeah|yep|yup|nope|nah)\b\s*[,.!–—-]", re.IGNORECASE)
_PRONOUN = re.compile(
    r"^(?:it|they|he|she|them|him|his|their|its|both|one|ones|some|most|all|another)\b(?!\sof\s(?:the|my|our)\b)|"
    r"^(?:that|this|these|those|which|who)(?:['’](?:s|ll|d|re)|\s(?:is|are|was|were|will|would|has|had|have|did|does|do|can"
    r"|could|should|might|may|must|really|also|one|way|helps?|makes?|made|sounds?|looks?|means?|meant|kind|sort|all"
    r"|gives?|gave|keeps?|kept|took|takes?|happened|went|came|got|shows?|works?|seems?|feels?|felt|reminds?|brings?))\b",
    re.IGNORECASE,
)
_THERE = re.compile(r"\b(?:there|then|so|too|either|the\ssame|like\sthat|that\sone|this\sone)[.!?]*$", re.IGNORECASE)
_VOCATIVE = re.compile(
    r"^(?:(?i:oof|ugh|aw+|yay|god|gosh|man|dude|damn|whoa|woah|haha|lol|ouch|geez|ah|oh)[,!.\s]+)?(?:[A-Z]\w+[,!.]\s+)?(?=\w)"
)
_DEMONSTRATIVE = re.compile(r"^(?:this|that|these|those)\b", re.IGNORECASE)
_FAREWELL = re.compile(
    r"^(?:see\s(?:you|ya)|bye|take\scare|stay\ssafe|(?:talk|speak|chat|catch)\s(?:(?:to|with)\s)?(?:(?:you|ya)\s)?(?:soon|later))\b",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\b(?:it|them|they|him|he|she)\b", re.IGNORECASE)
_NAMES_THING = re.compile(r"\b(?:a|an|the|my|our|your|his|her|their|this|that|some|\d+)\s|\s[A-Z]\w|[\"“]")
_NUMBER_FIRST = re.compile(r"[$€£¥+-]?\s?\d")
_CAPTION = re.compile(r"\[[^\[\]]*\]\W*")
_JOINS = re.compile(
    r"^(?:and|or|but|nor|plus|because|cause|cuz|so|than|like|especially|including|such\sas|as\swell|too|also|with|without"
    r"|to|for|from|of|at|by|about|into|even|just|only|not|etc)\b",
    re.IGNORECASE,
)
_EXCLAIMS = re.compile(
    r"^(?:what\san?|such\san?|how\s(?:\w+ly\s)?(?!(?:many|much|long|often|far|old|big)\b)\w+!|so\s\w+!|looks?|sounds?|seems?"
    r"|reminds?|glad|good\sto|hope|can['’]t\swait|good\s(?:luck|job|call)|love\s(?:it|that|this|the|your|how)|nice|great|awesome|cool"
    r"|wow|keep|appreciate|i\s(?:\S+\s)?agree|cheers|always|an?\s(?:amazing|great|perfect)|adding|(?:that|this|it)['’]s\s(?:\w+\s)?(?:helpful|useful|good|great|nice)\b|no\s(?:problem|worries|regrets|doubts?)|looking\sforward\sto\smore)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"^(?:i|we|my|our)(?:['’]\w+)?\s", re.IGNORECASE)
_APOSTROPHE_END = re.compile(r"['’]\w{1,2}$")
_APOSTROPHE = re.compile(r"\w['’]\w")
_FEW_WORDS = 3
_FEW_NAMES = 4  # words of a sentence that may be nothing but names
_SHORT_ITEM = 8  # words: a shorter item of a list needs its heading, unless it has a title of its own
_DESCRIBED = 4  # words after the title of an item that say what it is
_SHORT_REPLY = 6  # words: a shorter sentence right after a question is its answer,
_BARE_REPLY = 12  # or one of fewer words that does not begin with "I" or "we": it may have no verb
_JOINED = 7  # words of a sentence that only goes on with the one before
_TELLING = 4  # telling words with which a sentence is clear though it begins with a pronoun
_CLEAR = 6  # the same if what it points to is not there
_ASKED = 2  # telling words of a question that points back and still says what it is about
_DENSE = 6  # characters of a sentence in a script without spaces


_LABEL = re.compile(
    r"^\W*(?:option|step|task|day|week|month|phase|part|tip|example|question|answer|scenario|idea|section|chapter|exercise"
    r"|round|level|stage|rule|method|approach|version|table|figure|item|lesson|module|act|scene|verse|stanza|paragraph"
    r"|slide|page|no|number|problem|case|team|group|set|q|a)?\W*(?:\d+(?:\s*[-–]\s*\d+)?|[ivx]+|[a-z]|one|two|three|four"
    r"|five)?\W*(?:hours?|hrs?|minutes?|mins?|seconds?|days?|weeks?|months?|years?|am|pm|a\.m\.?|p\.m\.?)?\W*$",
    re.IGNORECASE,
)
_VALUE = re.compile(rf"[$€£¥]?\d|{WHEN.pattern}", WHEN.flags)
_COUNTED = re.compile(r"\W*[^\W\d_]+\s#?\d+\W*$")
_LONGEST_LABEL = 30  # characters
_LABELLED = 6  # words after a label that say something without it
_TITLE = 3  # words of a name before its value
_DESCRIBES = re.compile(r"^(?:an?|the|his|her|its|their|your|one)\s", re.IGNORECASE)
_INTRODUCED = 2  # words of an item after what introduces the list


def find_supports(statements: Sequence[SourcedSentence], language: str) -> list[Support]:
    """The support of each sentence, in the order of the sentences. If by the strict rules of English none stands
    alone, the mild ones decide."""
    if language == "en":
        supports: list[Support] = []
        for place in range(len(statements)):
            supports.append(_english_support(statements, supports, place))
        if any(
            support.stands and statement.sentence.kind != "note"
            for support, statement in zip(supports, statements, strict=True)
        ):
            return supports
    return _mild_supports(statements, language)


def stands_alone(sentence: Sentence, language: str) -> bool:
    """Whether a sentence that is shown without another can be understood."""
    if language != "en" or sentence.kind == "note":
        return True
    if sentence.kind == "heading" or _is_caption(sentence) or _is_introduction(sentence):
        return False
    text = _bare_text(sentence)
    if sentence.kind == "item":
        return _is_whole_item(text)
    is_said = _says_something(text) or _is_entry(text)
    return is_said and not is_fragment(text, language) and not points_back(text)


# -- in English


def _english_support(statements: Sequence[SourcedSentence], supports: Sequence[Support], place: int) -> Support:
    sentence = statements[place].sentence
    if sentence.kind == "note":
        return ALONE
    if _is_empty(sentence) or sentence.kind == "heading" or _is_introduction(sentence):
        return NOTHING
    text = _bare_text(sentence)
    if sentence.kind == "item":
        return ALONE if _is_whole_item(text) else _list_support(statements, place, text)
    question = _question_before(statements, place)
    before = _sentence_before(statements, place)
    if before is not None and not supports[before].stands:
        before = None
    if _is_caption(sentence):
        return NOTHING if before is None else Support(True, before)
    is_exclaimed = text.endswith("!") and not has_predicate(text) and not _REPLY.match(sentence.text)
    if _EXCLAIMS.match(text) or (is_exclaimed and question is not None and statements[place].speaker[0] == "assistant"):
        return NOTHING
    is_usable = question is not None and (
        supports[question].stands or _is_clear_question(statements[question].sentence)
    )
    is_answer = not sentence.is_question and _answers(sentence.text, text) and not _DEMONSTRATIVE.match(text)
    if is_usable and is_answer:
        return Support(True, question)
    if _is_entry(text):
        return ALONE if question is None and _is_first(statements, place) else NOTHING
    if _REPLY.match(sentence.text) or is_fragment(text, "en") or not _says_something(text):
        return NOTHING
    if not points_back(text) and not (_JOINS.match(text) and len(words(text)) <= _JOINED):
        return ALONE
    if before is None:
        return NOTHING
    context = _chain_text(statements, supports, before)
    is_resolved = resolves_pronouns(context, text) and names_far_things(context, text)
    return Support(True, before) if is_resolved else NOTHING


def _says_something(text: str) -> bool:
    is_farewell = _FAREWELL.match(text) and not WHEN.search(text)
    title, _, rest = text.partition(": ")
    is_labelled = bool(rest) and _is_label(title) and len(words(rest)) < _LABELLED
    return has_predicate(text) and not is_labelled and not _EXCLAIMS.match(text) and not is_farewell


def _is_label(title: str) -> bool:
    """Whether a title only counts: "Option 1", "Day 3", "2 hours"."""
    return len(title) <= _LONGEST_LABEL and (_LABEL.match(title) or _COUNTED.match(title)) is not None


def _is_entry(text: str) -> bool:
    """Whether a sentence is a short name and its value: "Deadline: Friday", "Budget: 300 euros"."""
    title, _, value = text.partition(": ")
    return len(words(title)) <= _TITLE and not _is_label(title) and bool(_VALUE.match(value))


def _is_first(statements: Sequence[SourcedSentence], place: int) -> bool:
    """Whether a sentence is the first of its message."""
    return place == 0 or statements[place - 1].source != statements[place].source


def _is_clear_question(sentence: Sentence) -> bool:
    text = _bare_text(sentence)
    return has_predicate(text) and not points_back(text) and bool(_content_words(text, "en"))


def _chain_text(statements: Sequence[SourcedSentence], supports: Sequence[Support], place: int) -> str:
    """A sentence after those that it needs."""
    texts: list[str] = []
    at: int | None = place
    while at is not None:
        texts.append(statements[at].sentence.text)
        at = supports[at].needs
    return " ".join(reversed(texts))


def _is_whole_item(text: str) -> bool:
    """Whether an item says something without the list: a request, a statement, or a title and what it stands for."""
    title, _, described = text.partition(": ")
    if not described:
        return len(words(text)) >= _DESCRIBED and _says_something(text) and not points_back(text)
    if _is_label(title) or not WHEN.sub("", title).strip(" ,-–") or len(words(described)) < _DESCRIBED:
        return False
    if not (has_verb(described) or _DESCRIBES.match(described)):
        return False
    return resolves_pronouns(title, described)


def _list_support(statements: Sequence[SourcedSentence], place: int, text: str) -> Support:
    """The sentence that introduces the list of an item, if it is one."""
    title, _, described = text.partition(": ")
    if len(words(described or title)) < (_DESCRIBED if described else _INTRODUCED):
        return NOTHING
    introduction = _introduction_before(statements, place)
    if introduction is None or statements[introduction].sentence.kind == "heading":
        return NOTHING
    introducing = _bare_text(statements[introduction].sentence)
    is_clear = has_predicate(introducing) and not points_back(introducing)
    return Support(True, introduction) if is_clear else NOTHING


def _bare_text(sentence: Sentence) -> str:
    return _VOCATIVE.sub("", trim(strip_addressee(sentence.text)))


def _is_introduction(sentence: Sentence) -> bool:
    return sentence.text.rstrip().endswith((":", "："))


# -- in any language


def _mild_supports(statements: Sequence[SourcedSentence], language: str) -> list[Support]:
    supports: list[Support] = []
    for place in range(len(statements)):
        support = _mild_support(statements, place, language)
        needed = support.needs
        if needed is not None and not _is_support(statements[needed].sentence, supports[needed], language):
            sentence = statements[place].sentence
            is_clear = len(_telling_words(sentence.text, language)) >= _CLEAR
            support = ALONE if is_clear and sentence.kind == "prose" and not _is_caption(sentence) else NOTHING
        supports.append(support)
    return supports


def _mild_support(statements: Sequence[SourcedSentence], place: int, language: str) -> Support:
    sentence = statements[place].sentence
    if sentence.kind == "note":
        return ALONE
    if _is_empty(sentence) or sentence.kind == "heading" or _is_introduction(sentence):
        return NOTHING
    text = _bare_text(sentence)
    if sentence.kind == "item":
        return _item_support(statements, place, text)
    question = _question_before(statements, place)
    before = _sentence_before(statements, place)
    if _is_caption(sentence):
        return ALONE if before is None else Support(True, before)
    if question is not None and not sentence.is_question and _answers(sentence.text, text):
        return Support(True, question)
    if _YES_OR_NO.match(sentence.text) and len(_telling_words(text, language)) < _CLEAR:
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
        return ALONE if len(_telling_words(text, language)) >= _TELLING else NOTHING
    return ALONE


def _may_point_back(text: str) -> bool:
    """Whether a sentence speaks of something that was named before it: "it was great", "I want to add it"."""
    if _PRONOUN.match(text) or _THERE.search(text) or _NUMBER_FIRST.match(text):
        return True
    pronoun = _OBJECT.search(text)
    return pronoun is not None and not _NAMES_THING.search(text, 1, pronoun.start())


def is_fragment(text: str, language: str) -> bool:
    """Whether a sentence says nothing for itself: a bare number or name, two words, only ordinary words."""
    if is_unspaced(text):
        return len(text) < _DENSE or any(text.count(left) != text.count(right) for left, right in ("「」", "『』"))
    text_words = words(text)
    content_words = _content_words(text, language)
    if ": " in text and content_words:
        return False
    telling = _telling_words(text, language)
    if not telling and not WHEN.search(text):
        return language == "en" or not content_words
    if len(text_words) <= _FEW_NAMES and all(word[:1].isupper() or word.isdigit() for word in content_words):
        return True
    if _FIRST_PERSON.match(text):
        return len(text_words) + len(_APOSTROPHE.findall(text)) < _FEW_WORDS
    return len(text_words) < _FEW_WORDS


def is_bound(question: str, reply: str) -> bool:
    """Whether a message ends in a question that the next message, of somebody else, answers."""
    asked = _last_sentence(question)
    return asked is not None and asked.is_question and not is_filler(asked) and not _begins_with_question(reply)


def _last_sentence(text: str) -> Sentence | None:
    parts = [Sentence(part) for part in split_sentences(" ".join(text[-_END_READ:].split()))]
    return next((part for part in reversed(parts) if not _is_caption(part)), None)


def _begins_with_question(text: str) -> bool:
    parts = [Sentence(part) for part in split_sentences(" ".join(text[:_END_READ].split()))]
    return next((part.is_question for part in parts if not is_filler(part)), False)


_END_READ = 600  # characters of a message in which its last or its first sentence is looked for


def _answers(text: str, trimmed: str) -> bool:
    """Whether a sentence right after a question is to be read as its answer."""
    size = len(words(trimmed))
    is_own = _FIRST_PERSON.match(trimmed) is not None
    return bool(_REPLY.match(text) or _PRONOUN.match(trimmed)) or size < (_SHORT_REPLY if is_own else _BARE_REPLY)


def _item_support(statements: Sequence[SourcedSentence], place: int, text: str) -> Support:
    described = text.partition(": ")[2]
    if len(words(text)) >= _SHORT_ITEM or is_unspaced(text) or len(words(described)) >= _DESCRIBED:
        return ALONE
    introduction = _introduction_before(statements, place)
    return NOTHING if introduction is None else Support(True, introduction)


def _introduction_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The heading of the list in which an item stands, or the sentence that ends in a colon before it."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        sentence = statements[earlier].sentence
        if statements[earlier].source != source:
            break
        if sentence.kind == "heading" or (sentence.kind == "prose" and _is_introduction(sentence)):
            return earlier
        if sentence.kind != "item":
            break
    return None


def _question_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The question of somebody else that the message before ends in, for the first sentence that says something."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        statement = statements[earlier]
        if statement.source == source:
            if not is_filler(statement.sentence):
                return None
            continue
        if _is_caption(statement.sentence):
            continue
        is_question = statement.sentence.is_question and statement.speaker != statements[place].speaker
        return earlier if is_question and not is_filler(statement.sentence) else None
    return None


def _sentence_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The sentence before in the same message."""
    if place and statements[place - 1].source == statements[place].source:
        return place - 1
    return None


def _is_empty(sentence: Sentence) -> bool:
    return not any(map(str.isalnum, sentence.text)) or is_filler(sentence)


def _is_caption(sentence: Sentence) -> bool:
    """Whether a sentence is in brackets as a whole, as what is seen in a picture."""
    return sentence.kind == "prose" and bool(_CAPTION.fullmatch(sentence.text))


def _is_support(sentence: Sentence, support: Support, language: str) -> bool:
    """Whether a sentence helps to understand another: not a fragment, not a question that itself points back."""
    if sentence.is_question and _may_point_back(sentence.text) and support.needs is None:
        return len(_telling_words(sentence.text, language)) >= _ASKED
    return support.stands or _introduces(sentence)


def _introduces(sentence: Sentence) -> bool:
    """Whether a sentence that is not chosen for itself may be shown with another: a heading or a question."""
    ends = sentence.text.rstrip().endswith((":", "："))
    return sentence.kind in ("heading", "note") or ends or (sentence.is_question and not is_filler(sentence))


def _telling_words(text: str, language: str) -> list[str]:
    """The content words that are not ordinary ones, with or without what stands after an apostrophe."""
    telling = [word for word in _content_words(text, language) if not is_ordinary(word)]
    bare_words = [_APOSTROPHE_END.sub("", word) for word in telling]
    return [word for word in bare_words if is_content(word, language) and not is_ordinary(word)]


def _content_words(text: str, language: str) -> list[str]:
    return [word for word in words(text) if is_content(word, language)]
