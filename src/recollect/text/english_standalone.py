"""Which English sentences can be understood without others, and which one each of the rest needs.

A sentence stands alone if it has a predicate, tells something, is not said only to please the other person, and points
to nothing outside it (`references`). Else it may stand with one that stands: an answer with its question, a pronoun
with the sentence before it in the message, "the vanity" with the last sentence that named a vanity, a short item of a
list with what introduces the list. Everything else is not chosen. A question is chosen for itself only if it asks for
something; what one person asks another is shown with its answer or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from recollect.text import reference_words as lists
from recollect.text.calendar_words import MONTHS, WEEKDAYS
from recollect.text.corrections import says_new_value, states_value
from recollect.text.english_predicates import PAST_FORMS, has_predicate, has_verb
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.names_times_amounts import WHEN
from recollect.text.references import References, read_nouns, read_references, read_unless_open, root
from recollect.text.sentence_forms import (
    ALONE,
    NOTHING,
    SourcedSentence,
    Support,
    bare_text,
    introduction_before,
    is_caption,
    is_empty,
    is_entry,
    is_first,
    is_fragment,
    is_introduction,
    is_label,
    question_before,
    sentence_before,
    telling_words,
)
from recollect.text.sentence_tokens import MARKS, begins_with, lower_tokens
from recollect.text.sentences import Sentence
from recollect.text.short_text_cache import remember_short_texts
from recollect.text.word_weights import words

_DESCRIBED = 4  # words after the title of an item that say what it is
_INTRODUCED = 2  # words of an item after what introduces the list
_POINT = 7  # words of an item without an end mark that may be no statement
_END_MARKS = (".", "!", "?", "…")
_LABELLED = 6  # words after a label that say something without it
_ANSWER = 12  # words of a short answer, which may have no verb
_OPENING = 4  # words in which a feeling about the other person is said
_SAID_TO = 2  # telling words of a sentence that is said to the other person, or exclaimed
_NEAR = 3  # messages back in which "the …" was named
_RESUMED = 11  # words of "it has been a while since we last talked"
_ASKED = 2  # nouns of a question that is shown without an answer
_STATE = lazy_pattern(r"^\w+ing\s\w+ed\b", re.IGNORECASE)  # "staying hydrated" has no predicate
_DAY = lazy_pattern(
    rf"\d|\b(?:{'|'.join((*WEEKDAYS, *MONTHS))}|tomorrow|tonight"
    r"|next\s(?:week|weekend|month|year|spring|summer|autumn|fall|winter))\b",
    re.IGNORECASE,
)
_REMEMBERED = 8_192  # sentences: a summary is condensed again on every level
_COURTEOUS_OPENINGS = frozenset({phrase.split()[0] for phrase in lists.COURTEOUS_PAIRS | lists.WISHES} | {"we"})
_REQUESTS = ("can", "could", "would", "will")
_DESCRIBES = ("a", "an", "the", "his", "her", "its", "their", "your", "one")


def english_supports(statements: Sequence[SourcedSentence], *, is_strict: bool = True) -> list[Support]:
    """The support of each sentence, in their order. If not strict, "the …" may be anything."""
    finder = _Finder(statements, is_strict)
    finder.read_ahead()
    for place in range(len(statements)):
        finder.add(place)
    return finder.supports


@lru_cache(maxsize=_REMEMBERED)
def stands_alone_in_english(sentence: Sentence) -> bool:
    """Whether a sentence that is shown without another can be understood."""
    if sentence.kind == "note":
        return True
    return english_supports([SourcedSentence(0, ("", ""), sentence)])[0] == ALONE


@dataclass(slots=True)
class _Finder:
    """Finds the supports of sentences one after the other. What a sentence refers to is read only if it may stand, or
    if another asks: most are left out for simpler reasons."""

    statements: Sequence[SourcedSentence]
    is_strict: bool
    texts: dict[int, str] = field(default_factory=dict)  # what those say that may be chosen, captions aside
    supports: list[Support] = field(default_factory=list)
    named_at: dict[str, int] = field(default_factory=dict)  # where a sentence that stands last named each noun
    heard: set[str] = field(default_factory=set)  # the roots of the nouns of all sentences before `heard_upto`
    heard_upto: int = 0
    known_references: dict[int, References] = field(default_factory=dict)

    def read_ahead(self) -> None:
        """Read what may be chosen. The rules that take longest remember what they read: each reads all sentences before
        the next does, in less time than all of them take one sentence after the other."""
        places = [
            place
            for place, statement in enumerate(self.statements)
            if not is_caption(statement.sentence) and not self._is_left_out(place, statement.sentence)
        ]
        self.texts = {place: bare_text(self.statements[place].sentence) for place in places}
        for text in [text for place, text in self.texts.items() if self._is_told(place) and not _is_courteous(text)]:
            read_unless_open(text, "")

    def add(self, place: int) -> None:
        """Find the support of the next sentence."""
        sentence = self.statements[place].sentence
        text = self.texts.get(place)
        if text is None:
            self.supports.append(self._caption_support(place, sentence) if is_caption(sentence) else NOTHING)
            return
        support = self._find_support(place, sentence, text)
        self.supports.append(support)
        if support.stands:
            self.named_at.update(dict.fromkeys(self._references_at(place).nouns, place))

    def _is_told(self, place: int) -> bool:
        """Whether a sentence is neither a question nor an item or a note."""
        sentence = self.statements[place].sentence
        return sentence.kind == "prose" and not sentence.is_question

    def _caption_support(self, place: int, sentence: Sentence) -> Support:
        before = self._standing_before(place)
        is_hidden = before is None or self._is_left_out(place, sentence)
        return NOTHING if is_hidden else Support(True, before)

    def _references_at(self, place: int) -> References:
        references = self.known_references.get(place)
        if references is None:
            references = read_references(*_text_and_title(self.statements[place].sentence))
            self.known_references[place] = references
        return references

    def _references_unless_open(self, place: int) -> References | None:
        """What a sentence refers to; None if it hangs, or needs one that stands before it and there is none."""
        may_follow = self._standing_before(place) is not None
        if place not in self.known_references:
            references = read_unless_open(*_text_and_title(self.statements[place].sentence))
            if references is not None:
                self.known_references[place] = references
            if references is not None or not may_follow:
                return references
        references = self._references_at(place)
        is_open = references.hangs or (references.pronouns and not may_follow)
        return None if is_open else references

    def _is_left_out(self, place: int, sentence: Sentence) -> bool:
        """Whether a sentence is not chosen, whatever it refers to."""
        if sentence.kind == "note":
            return False
        if sentence.kind == "heading" or is_introduction(sentence) or is_empty(sentence):
            return True
        if not self._is_assistants(place):
            return False
        text = bare_text(sentence)
        return sentence.is_question or not _is_advice(text) or _is_generic(text)

    def _standing_before(self, place: int) -> int | None:
        """The sentence before in the same message, if it stands."""
        before = sentence_before(self.statements, place)
        return before if before is not None and self.supports[before].stands else None

    def _find_support(self, place: int, sentence: Sentence, text: str) -> Support:
        if sentence.kind == "note":
            return ALONE
        if sentence.kind == "item":
            return self._item_support(place, text, self._references_at(place))
        is_assistants = self._is_assistants(place)
        if sentence.is_question and not (_is_request(text) and len(self._references_at(place).nouns) >= _ASKED):
            return NOTHING
        is_courteous = _is_courteous(text)
        if not is_courteous and (answer := self._answer_support(place, sentence, text)):
            return answer
        if ": " in text and is_entry(text):
            return ALONE if is_first(self.statements, place) else NOTHING
        if is_courteous:
            return NOTHING
        references = self._references_unless_open(place)
        if references is None or not _has_statement(text):
            return NOTHING
        if not is_assistants and _is_about_the_other(text) and not _gives_value(text):
            return NOTHING
        support = self._reference_support(place, references)
        is_clear = not (references.pronouns or references.has_demonstrative)
        if is_clear and not is_assistants and support != ALONE and _gives_value(text):
            return ALONE
        if not support.stands or not is_assistants or not sentence.continues_item:
            return support
        item = self._item_before(place)
        is_within = item.needs is not None and support.needs is not None and support.needs >= item.needs
        return support if is_within else item

    def _item_before(self, place: int) -> Support:
        """The item of a list that a sentence goes on with: without it, nobody knows of what it is said."""
        source = self.statements[place].source
        for earlier in range(place - 1, -1, -1):
            statement = self.statements[earlier]
            if statement.source != source or not self.supports[earlier].stands:
                break
            if not statement.sentence.continues_item:
                return Support(True, earlier)
        return NOTHING

    def _is_assistants(self, place: int) -> bool:
        """Whether a sentence is by an assistant that has no name of its own."""
        role, author = self.statements[place].speaker
        return role == "assistant" and author in ("", role)

    def _answer_support(self, place: int, sentence: Sentence, text: str) -> Support | None:
        """The question that a sentence answers, if the question can be understood and the answer is short."""
        question = None if sentence.is_question else question_before(self.statements, place)
        if question is None or not self._is_clear_question(question):
            return None
        references = self._references_at(place)
        first = lower_tokens(sentence.text)[:1]
        is_bare = len(words(text)) < _ANSWER and not has_predicate(text)
        is_answer = is_bare or (bool(first) and first[0] in lists.ANSWERED_BY) or references.pronouns
        if not is_answer:
            return None
        is_known = references.pronouns <= self._references_at(question).names
        return Support(True, question) if is_known and telling_words(text, "en") else None

    def _is_clear_question(self, place: int) -> bool:
        sentence = self.statements[place].sentence
        is_closed = self._references_at(place).is_closed
        return is_closed and has_predicate(bare_text(sentence)) and bool(telling_words(sentence.text, "en"))

    def _reference_support(self, place: int, references: References) -> Support:
        """The sentence that names what a sentence points to."""
        if references.is_closed or references.is_own or not self.is_strict:
            if references.hangs or references.pronouns:
                return NOTHING
            return self._definite_support(place, references)
        if not references.pronouns and not references.hangs:
            return self._definite_support(place, references)
        before = self._standing_before(place)
        if before is None or references.hangs:
            return NOTHING
        named = self._references_at(before)
        kinds = references.pronouns - {"fact"}
        is_named = kinds <= named.names and all(named.nouns & definite for definite in references.bare_definites)
        return Support(True, before) if is_named else NOTHING

    def _definite_support(self, place: int, references: References) -> Support:
        """The last sentence that named what is called "the …"; nothing may be called so that nobody named."""
        if not self.is_strict:
            return ALONE
        places: set[int] = set()
        for definite in references.definites:
            mention = self._last_mention(place, definite)
            if mention is not None:
                places.add(mention)
            elif references.is_own:
                continue
            elif definite in references.bare_definites or self._is_heard(place, definite):
                return NOTHING
        if len(places) > 1:
            return NOTHING
        return Support(True, places.pop()) if places else ALONE

    def _last_mention(self, place: int, definite: frozenset[str]) -> int | None:
        """The last sentence that stands and names what "the …" means, if it is so near that nothing else is likely
        to be meant."""
        mentions = [self.named_at[noun] for noun in definite if noun in self.named_at]
        near = [mention for mention in mentions if self._is_near(mention, place)]
        return max(near, default=None)

    def _is_near(self, mention: int, place: int) -> bool:
        return self.statements[place].source - self.statements[mention].source <= _NEAR

    def _is_heard(self, place: int, definite: frozenset[str]) -> bool:
        """Whether a sentence before this one has a noun of "the …"."""
        for statement in self.statements[self.heard_upto : place]:
            if not is_caption(statement.sentence):
                self.heard.update(map(root, read_nouns(*_text_and_title(statement.sentence))))
        self.heard_upto = max(self.heard_upto, place)
        return not self.heard.isdisjoint(map(root, definite))

    def _item_support(self, place: int, text: str, references: References) -> Support:
        """An item says something without the list if it is a statement, or a title and what it stands for."""
        title, _, described = text.partition(": ")
        is_point = self._is_assistants(place) and _is_bare_point(text)
        if is_whole_item(text) and not is_point and not references.hangs and not references.pronouns:
            support = self._definite_support(place, references)
            if support.stands:
                return support
        if len(words(described or title)) < (_DESCRIBED if described else _INTRODUCED):
            return NOTHING
        if references.hangs or references.pronouns or references.definites:
            return NOTHING
        introduction = introduction_before(self.statements, place)
        if introduction is None or self.statements[introduction].sentence.kind == "heading":
            return NOTHING
        introduced = bare_text(self.statements[introduction].sentence)
        is_clear = has_predicate(introduced) and self._references_at(introduction).is_closed
        return Support(True, introduction) if is_clear else NOTHING


def _text_and_title(sentence: Sentence) -> tuple[str, str]:
    """What a sentence says, and the title before it, if it is an item with one."""
    text = bare_text(sentence)
    if sentence.kind != "item":
        return text, ""
    title, _, described = text.partition(": ")
    return (described, title) if described else (text, "")


def is_whole_item(text: str) -> bool:
    """Whether an item is a statement, a request, or a title and a description of it."""
    title, _, described = text.partition(": ")
    if not described:
        return len(words(text)) >= _DESCRIBED and _tells_something(text)
    if title.count('"') % 2 or title.count("“") != title.count("”"):
        return False  # a quotation with a colon in it
    if is_label(title) or not WHEN.sub("", title).strip(" ,-–") or len(words(described)) < _DESCRIBED:
        return False
    return has_verb(described) or described.split(" ", 1)[0].casefold() in _DESCRIBES


def _is_bare_point(text: str) -> bool:
    """Whether an item only names a point of a list: a few words without a title and without an end mark."""
    return ": " not in text and text.rstrip("\"”')")[-1:] not in _END_MARKS and len(words(text)) < _POINT


def _is_about_the_other(text: str) -> bool:
    """Whether one person tells another what that person is or should do: praise and encouragement, mostly."""
    text_words = lower_tokens(text)
    is_said_to = "your" in text_words or "you" in text_words
    is_judged = text_words[0] == "it" or text_words[-1] == "!" or "must" in text_words
    if is_said_to and is_judged and (text_words[0] == "it" or lists.OWN_WORDS.isdisjoint(text_words)):
        return True
    return text_words[1 if text_words[0].endswith("ly") and text_words[1:] else 0] in ("you", "your")


def _gives_value(text: str) -> bool:
    """Whether a sentence says when or how much something is, or that it has changed: "the rent is 900 euros" is worth
    keeping even if nobody said which rent."""
    return states_value(text) or says_new_value(text)


def _is_advice(text: str) -> bool:
    """Whether a sentence of an assistant is said in its own voice: "I", a lower case or a verb without a subject are
    those of a letter or a résumé that it drafts, or tell of itself."""
    title, _, described = text.partition(": ")
    begins = described or title
    first = next((word for word in begins.casefold().split(" ", 2) if not word.endswith("ly")), "")
    has_no_subject = first.endswith("ed") or first in PAST_FORMS
    is_begun = not begins.lstrip("\"“'(")[:1].islower()
    text_words = lower_tokens(text)
    is_recommended = text_words[:1] == ("i",) and text_words[1:2] and text_words[1] in lists.ADVISING
    return is_begun and not has_no_subject and lists.OWN_WORDS.isdisjoint(text_words[2 if is_recommended else 0 :])


def _tells_something(text: str) -> bool:
    """Whether a sentence has a predicate and enough content, and is not only said to please."""
    return not _is_courteous(text) and _has_statement(text)


@remember_short_texts
def _has_statement(text: str) -> bool:
    """Whether a sentence has a predicate and enough content."""
    if is_fragment(text, "en"):
        return False
    title, _, rest = text.partition(": ")
    if rest and is_label(title) and len(words(rest)) < _LABELLED:
        return False
    state = _STATE.match(text)
    return has_predicate(text[state.end() :] if state else text)


def _is_generic(text: str) -> bool:
    """Whether an assistant exclaims or says what is true of anything: "prices vary", "hydration is crucial"."""
    if any(map(str.isdigit, text)):
        return False
    return text.rstrip().endswith("!") or not lists.GENERIC.isdisjoint(lower_tokens(text))


def _is_wish(text: str, text_words: Sequence[str]) -> bool:
    """Whether a sentence wishes or proposes something without saying when: "let's meet soon", "I'd love to try"."""
    is_proposal = text_words[:2] == ["we", "should"] and not lists.SOMETIME.isdisjoint(text_words)
    return (is_proposal or begins_with(text_words, lists.WISHES)) and not _DAY.search(text)


@remember_short_texts
def _is_courteous(text: str) -> bool:
    """Whether a sentence greets, thanks, praises or wishes, and tells nothing else."""
    text_words = [word for word in lower_tokens(text) if word not in MARKS]
    if not text_words:
        return True
    if text_words[0] in lists.COURTESY or text_words[-1] == "thanks":
        return True
    if text_words[0] in _COURTEOUS_OPENINGS and (
        begins_with(text_words, lists.COURTEOUS_PAIRS) or _is_wish(text, text_words)
    ):
        return True
    spelt = text.casefold().replace("’", "'")
    is_resumed = len(text_words) < _RESUMED and _has_phrase(spelt, lists.RESUMING)
    is_assumed = text_words[:3] == ["i", "'m", "sure"] and lists.OWN_WORDS.isdisjoint(text_words[3:])
    if is_resumed or is_assumed or _has_phrase(spelt, lists.COURTEOUS_PHRASES):
        return True
    if text_words[0] == "keep" and text_words[1:2] and text_words[1].endswith("ing"):
        return True
    if "deserve" in text_words or "crossed" in text_words or text_words[-1] == "bye":
        return True
    is_said_to = "you" in text_words or "your" in text_words
    if is_said_to and _is_felt(text_words):
        return True
    return (is_said_to or text.endswith("!")) and len(telling_words(text, "en")) < _SAID_TO


def _is_felt(text_words: Sequence[str]) -> bool:
    """Whether what is said to another person tells what the speaker feels about that person, or hears and sees."""
    if text_words[0] == "it" and not lists.SEEN.isdisjoint(text_words):
        return True
    return not lists.SENTIMENTS.isdisjoint(text_words[:_OPENING]) or "proud" in text_words


def _has_phrase(text: str, phrases: Mapping[str, Sequence[str]]) -> bool:
    for common_part, longer_phrases in phrases.items():
        if common_part in text and any(map(text.__contains__, longer_phrases)):
            return True
    return False


def _is_request(text: str) -> bool:
    """Whether a question asks for something to be done or known, and not what the other person did or thinks."""
    text_words = lower_tokens(text)
    if not text_words or text_words[0] not in lists.ASKING:
        return False
    if text_words[1:2] == ("about",):  # "how about" goes on with what was asked
        return False
    if "you" not in text_words and "your" not in text_words:
        return True
    return text_words[0] in _REQUESTS and text_words[1:2] == ("you",)
