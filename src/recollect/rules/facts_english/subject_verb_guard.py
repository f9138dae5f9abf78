"""Tells without parsing that a sentence has no clause with a reading: no subject stands before a verb of the table.

One sentence in a hundred states an attribute, and to cut a sentence into clauses takes as long as all else that is read
in it. As in `language.pattern_prefilter`, a guard may only rule out what is really not there: it looks at words that
stand side by side, and wherever they are not plain it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from recollect.language.fact_words import RELATIONS
from recollect.language.pattern_heads import SIGN, SIZE
from recollect.language.word_runs import has_word_of, plain_words
from recollect.rules.facts_english import words
from recollect.rules.facts_english.clauses import NOT_NAMES, expand_short_forms
from recollect.rules.facts_english.patterns import verb_heads

_has_owner = has_word_of(("my", "our"))
_has_owned = has_word_of({"is", "are", "was", "will", "has"} | {relation.split()[0] for relation in RELATIONS})
"""What is said with them: a relation, or an attribute and its value."""
_SPEAKERS = frozenset({"i", "we"})
_JOINTS = frozenset({"and", "but", "or"})
_AFTER_JOINT = frozenset(
    phrase.split()[0] for phrase in (*words.ADVERBS_OF_CLAUSES, *words.VERBS_OF_CLAUSES, *words.VERBS_AFTER_AND)
)
"""What the subject of the clause before may be left out of."""
_TIME_LEADS = ("since", "ever", "for", "from", "until", "till", "up")
"""How the times begin that are cut out of a clause."""
_NOT_PLAIN = ("'s", "-", "@", " here")
_MAIN_FORMS = (*words.BE_FORMS, "was", "were", "has")  # "be" and "have" are written so
_HELPERS = ("had", "do", "does", "did", "can", "not", "never", "no", "used", "stopped", "ceased")


def may_have_readings(sentence: str) -> bool:
    """Whether a clause of a sentence may have a fact: it has a word that the text of such a clause begins with, or one
    that is between an attribute and its value, and a subject stands before one. Else it need not be parsed."""
    text = expand_short_forms(sentence)
    if "=" in text or ":" in text:
        return True
    if not _has_first_word()(text):
        return False
    if not text.isascii() or any(map(text.__contains__, _NOT_PLAIN)):
        return True
    return (_has_owner(text) and _has_owned(text)) or _has_subject_and_verb(text)


def _has_subject_and_verb(text: str) -> bool:
    """Whether a word that may begin a predicate follows the speaker, a name, or a joint."""
    predicate_starts = _predicate_starts()
    is_after_subject = is_after_joint = False
    for word in plain_words(text.replace(",", " and ").replace("'", "")):
        lower = word.lower()
        if is_after_subject and (lower in predicate_starts or lower[:SIZE] in predicate_starts):
            return True
        if is_after_joint and lower in _AFTER_JOINT:
            return True
        is_name = word[0].isupper() and (is_after_subject or _may_be_name(word))
        is_after_subject = is_name or lower in _SPEAKERS
        is_after_joint = lower in _JOINTS
    return False


@lru_cache(maxsize=4_096)
def _may_be_name(word: str) -> bool:
    return NOT_NAMES.match(word) is None


@cache
def _has_first_word() -> Callable[[str], bool]:
    first_words = _first_words()
    return has_word_of(first_words) if first_words is not None else bool


@cache
def _first_words() -> frozenset[str] | None:
    """The words, or beginnings of them, that the text of a clause with a fact begins with; None if not known."""
    first_words = {*_MAIN_FORMS, "here"}
    for heads in verb_heads():
        if heads is None or any(len(head) < SIZE and head + SIGN not in heads for head in heads):
            return None
        first_words |= {head.strip(SIGN) for head in heads}
    return frozenset(first_words)


@cache
def _predicate_starts() -> frozenset[str]:
    """The first words that a predicate may have: the verbs, and what is taken off before them."""
    lists = (_HELPERS, _TIME_LEADS, words.ADVERBS, words.DEGREES)
    first_words = {phrase.split()[0].lower() for phrases in lists for phrase in phrases}
    return (_first_words() or frozenset()) | first_words
