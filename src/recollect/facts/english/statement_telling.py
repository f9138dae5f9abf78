"""Whether what is said of a person tells of their life: what they did, do, have, like or plan.

What they think, feel or do at this moment tells nothing that lasts, and neither does what names no thing.
"""

from __future__ import annotations

from recollect.facts.english.third_person_retelling import Predicate
from recollect.facts.english.words import STATEMENT_WORDS, load_patterns

_TELLING = load_patterns(__package__, "telling")

THOUGHTS = frozenset(STATEMENT_WORDS.THOUGHT_VERBS)
_TALKED_VERBS = ("talked", "chatted", "spoke")
_LIKES = frozenset(
    ["love", "like", "enjoy", "adore", "loved", "liked", "enjoyed", "prefer", "hate", "hated", "dislike"]
)


def tells_of_life(predicate: Predicate) -> bool:
    """Whether a predicate tells of a life, rather than of what somebody thinks or feels just now."""
    action = f"{predicate.verb} {predicate.rest}"
    if _TELLING.hard_step.match(predicate.text):
        return True
    if _TELLING.plans.match(predicate.text) or _TELLING.looks_into.match(predicate.text):
        return not _TELLING.empty_tale.match(action)
    if _TELLING.conviction.match(action):
        return not predicate.is_negated
    if predicate.verb in THOUGHTS or _TELLING.of_the_moment.match(action):
        return False
    if predicate.verb in ("am", "are", "was", "were", "been"):
        return _tells_of_state(predicate)
    is_feeling = (
        _TELLING.be.match(predicate.text) and _TELLING.feeling.match(action) and not _TELLING.lasting.match(action)
    )
    if is_feeling or _is_passing(predicate) or _names_nothing(predicate):
        return False
    if predicate.verb in ("had", "having", "got") and _TELLING.trouble.search(predicate.rest.partition(" with ")[0]):
        return predicate.verb != "having" and " with " in predicate.rest
    if predicate.verb in ("have", "got") and predicate.tense != "past" and _TELLING.moment.search(predicate.rest):
        return "coming up" in predicate.rest and not predicate.rest.startswith("no ")
    if predicate.tense in ("progressive", "future") and _TELLING.which_thing.search(action):
        return False
    return not predicate.is_negated or " never " in predicate.text


def _tells_of_state(predicate: Predicate) -> bool:
    """Whether what somebody is or was lasts, or was more than a feeling."""
    if predicate.tense != "past":
        return _TELLING.lasting.match(predicate.rest) is not None
    if predicate.rest.startswith("able to ") or _TELLING.lasting.match(predicate.rest):
        return True
    is_mood = _TELLING.feeling.match(predicate.rest) or _TELLING.a_bit.match(predicate.rest)
    return " " in predicate.rest and not is_mood and not _TELLING.background.match(predicate.text)


def _is_passing(predicate: Predicate) -> bool:
    """Whether it is of this moment, or of every day."""
    if predicate.tense == "progressive" and predicate.verb in STATEMENT_WORDS.DOING_JUST_NOW:
        return True
    if predicate.tense == "perfect" and predicate.verb in STATEMENT_WORDS.DOING_LATELY:
        return True
    if predicate.tense == "progressive" and _TELLING.of_now_only.match(f"{predicate.verb} {predicate.rest}"):
        return True
    if predicate.verb in ("have", "got", "had") and _TELLING.mood.match(predicate.rest):
        return True
    return bool(
        _TELLING.background.match(predicate.text) or _TELLING.everyday.match(f"{predicate.verb} {predicate.rest}")
    )


def _names_nothing(predicate: Predicate) -> bool:
    """Whether it names no thing: it points at one, tells what was said, or says only how much."""
    if predicate.verb in ("want", "like", "love") and _TELLING.talked.match(predicate.rest):
        return True
    if predicate.verb in _LIKES and (
        _TELLING.pointed_at.match(predicate.rest) or _TELLING.does_to_one.match(predicate.rest)
    ):
        return True
    if predicate.verb in _TALKED_VERBS and not _TELLING.about_what.search(predicate.rest):
        return True
    if predicate.rest.startswith("that "):  # what was heard or noticed
        return True
    action = f"{predicate.verb} {predicate.rest}"
    if _TELLING.empty_tale.match(action) or _TELLING.empty_deed.match(action) or _TELLING.more_than_what.search(action):
        return True
    return bool(
        _TELLING.unnamed.match(predicate.rest)
        or _TELLING.some.match(predicate.rest)
        or _TELLING.to_think.match(predicate.rest)
    )
