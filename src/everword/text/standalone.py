"""Which sentences of messages can be understood without others, and which one each of the rest needs.

In English a sentence stands alone if it has a predicate, tells something, is not said only to please the other person,
and points to nothing outside it. Else it may stand with one that stands: an answer with its question, a pronoun with
the sentence before it in the message, "the vanity" with the last sentence that named a vanity, a short item of a list
with what introduces the list. Everything else is not chosen. A question is chosen for itself only if it asks for
something.

What a sentence names and points to is read by `references`. In other languages, whose verbs are not known here,
the rules are milder. If by the strict rules nothing of an episode stands, they are applied without asking what "the …"
means, and then the mild ones: a summary is never empty if something was said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from everword.text.corrections import says_new_value, states_value
from everword.text.doc import MARKS, begins_with, doc_of, lower_tokens, read_once
from everword.text.english import SPOKEN_PAST_FORMS, has_predicate, has_verb
from everword.text.filler import is_filler, trim_address
from everword.text.key_value_statements import WHEN
from everword.text.references import References, lists, read_nouns, read_references, root
from everword.text.sentences import Sentence, has_question_mark, split_sentences
from everword.text.word_weights import is_content, is_ordinary, is_unspaced, words
from everword.text.worth_telling import Telling, telling_of
from everword.word_lists import Patterns, lazy_pattern

_PATTERNS = Patterns("standalone", WHEN=WHEN.pattern)
FIRST_PERSON = _PATTERNS.first_person


class SourcedSentence(NamedTuple):
    """A sentence, the number of its message, and who said it."""

    source: int
    speaker: tuple[str, str]
    sentence: Sentence


class Support(NamedTuple):
    """Whether a sentence may be chosen, and the place of the sentence it cannot be understood without."""

    stands: bool
    needs: int | None = None


ALONE = Support(True)
NOTHING = Support(False)

_APOSTROPHE_END = lazy_pattern(r"['’]\w{1,2}$")
_APOSTROPHE = lazy_pattern(r"\w['’]\w")
_FEW_WORDS = 3
_FEW_NAMES = 4  # words of a sentence that may be nothing but names
_DENSE = 6  # characters of a sentence in a script without spaces
_VALUE = lazy_pattern(rf"[$€£¥]?\d|{WHEN.pattern}", re.IGNORECASE | re.VERBOSE)
_COUNTED = lazy_pattern(r"\W*[^\W\d_]+\s#?\d+\W*$")
_LONGEST_LABEL = 30  # characters
_TITLE = 3  # words of a name before its value


def drop_addition(text: str) -> str:
    """A sentence without an "and" at its beginning: it adds something to another sentence, and stands without it."""
    if not text.startswith(("And", "Plus")) or not _PATTERNS.addition.match(text):
        return text
    rest = text.split(maxsplit=1)[1]
    return rest[0].upper() + rest[1:]


def bare_text(sentence: Sentence) -> str:
    """A sentence without greeting and openers, and without the name of the person it is said to."""
    return doc_of(sentence.text).read(_bare_text)


def _bare_text(text: str) -> str:
    text = drop_addition(trim_address(text))
    vocative = _PATTERNS.vocative.match(text)
    if vocative is None or vocative[0].strip(" ,.!").casefold() in lists.openers:
        return text
    return text[vocative.end() :]


def is_introduction(sentence: Sentence) -> bool:
    return sentence.text.rstrip().endswith((":", "："))


def is_fragment(text: str, language: str) -> bool:
    """Whether a sentence says nothing for itself: a bare number or name, two words, only ordinary words."""
    if is_unspaced(text):
        return len(text) < _DENSE or any(text.count(left) != text.count(right) for left, right in ("「」", "『』"))
    text_words = words(text)
    if ": " in text and _content_words(text_words, language):
        return False
    is_telling = any(_telling_word(word, language) for word in text_words)
    if not is_telling and not WHEN.search(text):
        return language == "en" or not _content_words(text_words, language)
    if _has_only_names(text_words, language):
        return True
    if _PATTERNS.first_person.match(text):
        return len(text_words) + len(_APOSTROPHE.findall(text)) < _FEW_WORDS
    return len(text_words) < _FEW_WORDS


def _has_only_names(text_words: Sequence[str], language: str) -> bool:
    if len(text_words) > _FEW_NAMES:
        return False
    return all(word[:1].isupper() or word.isdigit() for word in _content_words(text_words, language))


def _content_words(text_words: Sequence[str], language: str) -> list[str]:
    return [word for word in text_words if is_content(word, language)]


def is_label(title: str) -> bool:
    """Whether a title only counts: "Option 1", "Day 3", "2 hours"."""
    return len(title) <= _LONGEST_LABEL and (_PATTERNS.label.match(title) or _COUNTED.match(title)) is not None


def is_entry(text: str) -> bool:
    """Whether a sentence is a short name and its value: "Deadline: Friday", "Budget: 300 euros"."""
    title, _, value = text.partition(": ")
    return bool(value) and len(words(title)) <= _TITLE and not is_label(title) and bool(_VALUE.match(value))


def is_first(statements: Sequence[SourcedSentence], place: int) -> bool:
    """Whether a sentence is the first of its message."""
    return place == 0 or statements[place - 1].source != statements[place].source


def introduction_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The heading of the list in which an item stands, or the sentence that ends in a colon before it."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        sentence = statements[earlier].sentence
        if statements[earlier].source != source:
            break
        if sentence.kind == "heading" or (sentence.kind == "prose" and is_introduction(sentence)):
            return earlier
        if sentence.kind != "item":
            break
    return None


def question_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The question of somebody else that the message before ends in, for the first sentence that says something. If
    it ends in two questions, the sentence may answer either: then none."""
    source = statements[place].source
    for earlier in range(place - 1, -1, -1):
        statement = statements[earlier]
        if statement.source == source:
            if not is_filler(statement.sentence):
                return None
            continue
        if is_caption(statement.sentence):
            continue
        is_asked = statement.speaker != statements[place].speaker and _asks(statement)
        asked_before = sentence_before(statements, earlier)
        is_one_of_two = asked_before is not None and _asks(statements[asked_before])
        return earlier if is_asked and not is_one_of_two else None
    return None


def _asks(statement: SourcedSentence) -> bool:
    return statement.sentence.is_question and not is_filler(statement.sentence)


def sentence_before(statements: Sequence[SourcedSentence], place: int) -> int | None:
    """The sentence before in the same message."""
    if place and statements[place - 1].source == statements[place].source:
        return place - 1
    return None


def is_empty(sentence: Sentence) -> bool:
    return not (sentence.text[:1].isalnum() or any(map(str.isalnum, sentence.text))) or is_filler(sentence)


def is_caption(sentence: Sentence) -> bool:
    """Whether a sentence is in brackets as a whole, as what is seen in a picture."""
    return sentence.kind == "prose" and _PATTERNS.caption.fullmatch(sentence.text) is not None


def telling_words(text: str, language: str) -> list[str]:
    """The content words that are not ordinary ones, with or without what stands after an apostrophe."""
    return [telling for word in words(text) if (telling := _telling_word(word, language))]


def _telling_word(word: str, language: str) -> str:
    """A telling word without what stands after an apostrophe; empty for any other word."""
    if not is_content(word, language) or is_ordinary(word):
        return ""
    if word.isalpha():
        return word
    bare_word = _APOSTROPHE_END.sub("", word)
    return bare_word if is_content(bare_word, language) and not is_ordinary(bare_word) else ""


_DESCRIBED = 4  # words after the title of an item that say what it is
_INTRODUCED = 2  # words of an item after what introduces the list
_POINT = 7  # words of an item without an end mark that may be no statement
_END_MARKS = (".", "!", "?", "…")
_LABELLED = 6  # words after a label that say something without it
_ANSWER = 12  # words of a short answer, which may have no verb
_OPENING = 4  # words in which a feeling about the other person is said
_SAID_TO = 2  # telling words of a sentence that is said to the other person, or exclaimed
_NEAR = 3  # messages back in which "the …" was named
_SPOKEN_OF = 2  # messages back in which "he" or "she" was named
_RESUMED = 11  # words of "it has been a while since we last talked"
_ASKED = 2  # nouns of a question that is shown without an answer, or telling words of one that points back
_REQUESTS = ("can", "could", "would", "will")
_DESCRIBES = ("a", "an", "the", "his", "her", "its", "their", "your", "one")


def english_supports(statements: Sequence[SourcedSentence], *, is_strict: bool = True) -> list[Support]:
    """The support of each sentence, in their order. If not strict, "the …" may be anything."""
    finder = _Finder(statements, is_strict)
    for place in range(len(statements)):
        finder.add(place)
    return finder.supports


@dataclass(slots=True)
class _Finder:
    """Finds the supports of sentences one after the other. What a sentence refers to is read only if it may stand, or
    if another asks: most are left out for simpler reasons."""

    statements: Sequence[SourcedSentence]
    is_strict: bool
    supports: list[Support] = field(default_factory=list)
    named_at: dict[str, int] = field(default_factory=dict)  # where a sentence that stands last named each noun
    heard: set[str] = field(default_factory=set)  # the roots of the nouns of all sentences before `heard_upto`
    heard_upto: int = 0
    known_references: dict[int, References] = field(default_factory=dict)

    def add(self, place: int) -> None:
        """Find the support of the next sentence."""
        sentence = self.statements[place].sentence
        if self._is_left_out(place, sentence):
            self.supports.append(NOTHING)
        elif is_caption(sentence):
            before = self._standing_before(place)
            self.supports.append(NOTHING if before is None else Support(True, before))
        else:
            support = self._find_support(place, sentence, bare_text(sentence))
            self.supports.append(support)
            if support.stands:
                self.named_at.update(dict.fromkeys(self._references_at(place).nouns, place))

    def _references_at(self, place: int) -> References:
        references = self.known_references.get(place)
        if references is None:
            references = read_references(*_text_and_title(self.statements[place].sentence))
            self.known_references[place] = references
        return references

    def _is_open(self, place: int) -> bool:
        """Whether a sentence hangs, or needs one that stands before it and there is none."""
        references = self._references_at(place)
        return references.hangs or (bool(references.pronouns) and self._standing_before(place) is None)

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
        if sentence.is_question and not self._asks_for_something(place, text):
            return NOTHING
        is_courteous = _is_courteous(text)
        if not is_courteous and (answer := self._answer_support(place, sentence, text)):
            return answer
        if ": " in text and is_entry(text):
            return ALONE if is_first(self.statements, place) else NOTHING
        if is_courteous or self._is_open(place) or not _has_statement(text):
            return NOTHING
        if self._is_assistants(place):
            return self._assistants_support(place, sentence)
        return self._persons_support(place, text)

    def _asks_for_something(self, place: int, text: str) -> bool:
        """Whether a question is a request that names what is wanted."""
        return _is_request(text) and len(self._references_at(place).nouns) >= _ASKED

    def _persons_support(self, place: int, text: str) -> Support:
        gives_value = _gives_value(text)
        if _is_about_the_other(text) and not gives_value:
            return NOTHING
        references = self._references_at(place)
        is_clear = not (references.pronouns or references.has_demonstrative)
        if is_clear and gives_value:
            return ALONE
        support = self._reference_support(place, references)
        return support if support.stands else self._person_before(place, text, references)

    def _person_before(self, place: int, text: str, references: References) -> Support:
        """The last sentence before that named a person, for one that goes on with "he" or "she": it must stand, or be
        what the other person asked."""
        if references.hangs or references.pronouns != {"person"} or not _PATTERNS.he_or_she.match(text):
            return NOTHING
        source = self.statements[place].source
        for earlier in range(place - 1, -1, -1):
            if source - self.statements[earlier].source > _SPOKEN_OF:
                break
            named = self._references_at(earlier)
            if "person" in named.names or named.pronouns & {"person"}:
                is_asked = self.statements[earlier].sentence.is_question and self._is_clear_question(earlier)
                return Support(True, earlier) if self.supports[earlier].stands or is_asked else NOTHING
        return NOTHING

    def _assistants_support(self, place: int, sentence: Sentence) -> Support:
        support = self._reference_support(place, self._references_at(place))
        if not support.stands or not sentence.continues_item:
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
        is_answer = is_bare or (bool(first) and first[0] in lists.answered_by) or references.pronouns
        if not is_answer:
            return None
        is_known = references.pronouns <= self._references_at(question).names
        says_something = telling_words(text, "en") or _VALUE.search(text)
        return Support(True, question) if is_known and says_something else None

    def _is_clear_question(self, place: int) -> bool:
        sentence = self.statements[place].sentence
        references = self._references_at(place)
        is_specific = references.is_closed or _PATTERNS.asks_value.match(bare_text(sentence)) is not None
        is_closed = is_specific and not (references.hangs or references.pronouns)
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
        support = self._whole_item_support(place, text, references)
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

    def _whole_item_support(self, place: int, text: str, references: References) -> Support:
        is_point = self._is_assistants(place) and _is_bare_point(text)
        if is_point or references.hangs or references.pronouns or not is_whole_item(text):
            return NOTHING
        return self._definite_support(place, references)


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
    if is_said_to and is_judged and (text_words[0] == "it" or lists.own_words.isdisjoint(text_words)):
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
    has_no_subject = first.endswith("ed") or first in SPOKEN_PAST_FORMS
    is_begun = not begins.lstrip("\"“'(")[:1].islower()
    text_words = lower_tokens(text)
    is_recommended = text_words[:1] == ("i",) and text_words[1:2] and text_words[1] in lists.advising
    return is_begun and not has_no_subject and lists.own_words.isdisjoint(text_words[2 if is_recommended else 0 :])


def _tells_something(text: str) -> bool:
    """Whether a sentence has a predicate and enough content, and is not only said to please."""
    return not _is_courteous(text) and _has_statement(text)


@read_once
def _has_statement(text: str) -> bool:
    """Whether a sentence has a predicate and enough content."""
    if is_fragment(text, "en"):
        return False
    title, _, rest = text.partition(": ")
    if rest and is_label(title) and len(words(rest)) < _LABELLED:
        return False
    state = _PATTERNS.state.match(text)
    return has_predicate(text[state.end() :] if state else text)


def _is_generic(text: str) -> bool:
    """Whether an assistant exclaims or says what is true of anything: "prices vary", "hydration is crucial"."""
    if any(map(str.isdigit, text)):
        return False
    return text.rstrip().endswith("!") or not lists.generic.isdisjoint(lower_tokens(text))


def _is_wish(text: str, text_words: Sequence[str]) -> bool:
    """Whether a sentence wishes or proposes something without saying when: "let's meet soon", "I'd love to try"."""
    is_proposal = text_words[:2] == ["we", "should"] and not lists.sometime.isdisjoint(text_words)
    return (is_proposal or begins_with(text_words, lists.wishes)) and not _PATTERNS.day.search(text)


@read_once
def _is_courteous(text: str) -> bool:
    """Whether a sentence greets, thanks, praises or wishes, and tells nothing else."""
    text_words = [word for word in lower_tokens(text) if word not in MARKS]
    if not text_words or _has_courteous_end(text_words) or _has_courteous_phrase(text, text_words):
        return True
    if begins_with(text_words, lists.courteous_pairs) or _is_wish(text, text_words):
        return True
    is_said_to = "you" in text_words or "your" in text_words
    if is_said_to and _is_felt(text_words):
        return True
    is_short = (is_said_to or text.endswith("!")) and len(telling_words(text, "en")) < _SAID_TO
    return is_short and not _PATTERNS.news.search(text)


def _has_courteous_end(text_words: Sequence[str]) -> bool:
    """Whether the first or the last word greets, thanks or cheers: "keep rowing"."""
    if text_words[0] in lists.courtesy or text_words[-1] in ("thanks", "bye"):
        return True
    return text_words[0] == "keep" and text_words[1:2] != [] and text_words[1].endswith("ing")


def _has_courteous_phrase(text: str, text_words: Sequence[str]) -> bool:
    if "deserve" in text_words or "crossed" in text_words:
        return True
    spelt = text.casefold().replace("’", "'")
    is_resumed = len(text_words) < _RESUMED and any(map(spelt.__contains__, lists.resuming))
    is_assumed = text_words[:3] == ["i", "'m", "sure"] and lists.own_words.isdisjoint(text_words[3:])
    return is_resumed or is_assumed or any(map(spelt.__contains__, lists.courteous_phrases))


def _is_felt(text_words: Sequence[str]) -> bool:
    """Whether what is said to another person tells what the speaker feels about that person, or hears and sees."""
    if text_words[0] == "it" and not lists.seen.isdisjoint(text_words):
        return True
    return not lists.sentiments.isdisjoint(text_words[:_OPENING]) or "proud" in text_words


def _is_request(text: str) -> bool:
    """Whether a question asks for something to be done or known, and not what the other person did or thinks."""
    text_words = lower_tokens(text)
    if not text_words or text_words[0] not in lists.asking:
        return False
    if text_words[1:2] == ("about",):  # "how about" goes on with what was asked
        return False
    if "you" not in text_words and "your" not in text_words:
        return True
    return text_words[0] in _REQUESTS and text_words[1:2] == ("you",)


_NUMBER_FIRST = lazy_pattern(r"[$€£¥+-]?\s?\d")
_SHORT_ITEM = 8  # words: a shorter item of a list needs its heading, unless it has a title of its own
_SHORT_REPLY = 6  # words: a shorter sentence right after a question is its answer,
_BARE_REPLY = 12  # or one of fewer words that does not begin with "I" or "we": it may have no verb
_JOINED = 7  # words of a sentence that only goes on with the one before
_TELLING = 4  # telling words with which a sentence is clear though it begins with a pronoun
_CLEAR = 6  # the same if what it points to is not there


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
    if language != "en" or sentence.kind == "note":
        return True
    return english_supports([SourcedSentence(0, ("", ""), sentence)])[0] == ALONE


def tells_deed(sentence: Sentence) -> bool:
    """Whether an English sentence of a person tells what somebody did or plans, and no pronoun in it points elsewhere:
    "I got the apartment" tells something, whichever it was."""
    return sentence.kind == "prose" and not sentence.is_question and doc_of(sentence.text).read(_tells_deed)


def _tells_deed(text: str) -> bool:
    text = _bare_text(text)
    if telling_of(text) != Telling.DEED or not _tells_something(text) or _is_about_the_other(text):
        return False
    references = read_references(text)
    return not (references.hangs or references.pronouns)


def leans_on_context(sentence: Sentence) -> bool:
    """Whether an English sentence cannot be understood without what was said before it: it points there, or it neither
    asks nor has a predicate."""
    text = bare_text(sentence)
    references = read_references(text)
    points_back = not references.is_closed or references.has_demonstrative
    return points_back or not (says_something(sentence) if sentence.is_question else _has_statement(text))


def may_be_told(sentence: Sentence) -> bool:
    """Whether an English sentence of a person is more than courtesy, and not about the other person."""
    text = bare_text(sentence)
    return (
        not is_empty(sentence)
        and not is_introduction(sentence)
        and not _is_courteous(text)
        and not _is_about_the_other(text)
    )


def is_yes_or_no(sentence: Sentence, question: Sentence) -> bool:
    """Whether an English sentence is little more than a yes or a no to a question."""
    reply = _PATTERNS.reply.match(sentence.text)
    if reply is None or sentence.is_question or not says_something(question):
        return False
    is_bare = not has_predicate(_PATTERNS.supposing.sub("", sentence.text[reply.end() :]))
    return is_bare and not _PATTERNS.asks_what.match(bare_text(question))


def answers(sentence: Sentence, question: Sentence, stands: bool) -> bool:
    """Whether an English sentence right after a question is its answer, said so shortly that the question belongs to
    it. `stands`: it can be understood alone."""
    if sentence.is_question or not says_something(question):
        return False
    if stands:
        return not has_predicate(_PATTERNS.supposing.sub("", sentence.text))
    is_short = len(words(sentence.text)) < _ANSWER or leans_on_context(sentence)
    return is_short and says_something(sentence) and may_be_told(sentence)


def wants_person(sentence: Sentence) -> bool:
    """Whether an English sentence says "he" or "she" of somebody whom it does not name."""
    return "person" in read_references(bare_text(sentence)).pronouns


def names_person(sentence: Sentence) -> bool:
    """Whether an English sentence names a person, or says what they are to somebody: "my sister"."""
    return not is_filler(sentence) and "person" in read_references(bare_text(sentence)).names


def says_something(sentence: Sentence) -> bool:
    """Whether an English sentence has a word that tells something, or a value."""
    return doc_of(sentence.text).read(_says_something)


def _says_something(text: str) -> bool:
    return any(_telling_word(word, "en") for word in words(text)) or _VALUE.search(text) is not None


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
    before = sentence_before(statements, place)
    if is_caption(sentence):
        return ALONE if before is None else Support(True, before)
    question = question_before(statements, place)
    if question is not None and not sentence.is_question and _answers(sentence.text, text):
        return Support(True, question)
    if _says_nothing(sentence.text, text, language):
        return NOTHING
    return _statement_support(text, before, question, language)


def _statement_support(text: str, before: int | None, question: int | None, language: str) -> Support:
    """What a statement needs: the sentence before that it joins, or the one it points back to."""
    if _PATTERNS.joins.match(text) and len(words(text)) <= _JOINED:
        return NOTHING if before is None else Support(True, before)
    if not _may_point_back(text):
        return ALONE
    needed = before if before is not None else question
    if needed is not None:
        return Support(True, needed)
    return ALONE if len(telling_words(text, language)) >= _TELLING else NOTHING


def _says_nothing(text: str, trimmed: str, language: str) -> bool:
    """Whether a sentence says nothing for itself: a fragment, a farewell, or a yes to what was not asked before it."""
    if _PATTERNS.yes_or_no.match(text) and len(telling_words(trimmed, language)) < _CLEAR:
        return True
    is_farewell = _PATTERNS.farewell.match(trimmed) is not None and not WHEN.search(trimmed)
    return is_farewell or is_fragment(trimmed, language) or _PATTERNS.exclaims.match(trimmed) is not None


def _may_point_back(text: str) -> bool:
    """Whether a sentence speaks of something that was named before it: "it was great", "I want to add it"."""
    if _PATTERNS.pronoun.match(text) or _PATTERNS.there.search(text) or _NUMBER_FIRST.match(text):
        return True
    pronoun = _PATTERNS.object.search(text)
    return pronoun is not None and not _PATTERNS.names_thing.search(text, 1, pronoun.start())


def _answers(text: str, trimmed: str) -> bool:
    """Whether a sentence right after a question is to be read as its answer."""
    size = len(words(trimmed))
    is_own = FIRST_PERSON.match(trimmed) is not None
    return bool(_PATTERNS.reply.match(text) or _PATTERNS.pronoun.match(trimmed)) or size < (
        _SHORT_REPLY if is_own else _BARE_REPLY
    )


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
