"""Whether a clause is clear by itself: it speaks to nobody, supposes nothing, and names all it is about.

"We did that there" tells nothing to who did not hear what came before; neither does "I have rowed more since then", nor
a clause that was cut in its middle. A pronoun is clear if what it stands for was named before it, in the same clause.
"""

from __future__ import annotations

from recollect.facts.english.words import load_patterns

_CLARITY = load_patterns(__package__, "clarity")


_UNCLEAR = (
    _CLARITY.talk,
    _CLARITY.unreal,
    _CLARITY.so_that,
    _CLARITY.then,
    _CLARITY.something,
    _CLARITY.cut_short,
    _CLARITY.which_one,
)


def is_unclear(unit: str) -> bool:
    """Whether a clause speaks to somebody, supposes something, or points at what it does not name."""
    for pattern in _UNCLEAR:
        if pattern.search(unit):
            return True
    return _points_away(unit)


def _points_away(unit: str) -> bool:
    """Whether a clause points at somebody or something that it does not name."""
    for pointer in _CLARITY.pointer.finditer(unit):
        word = pointer[0].casefold()
        if word in ("he", "she", "him", "his", "her"):
            is_named = _CLARITY.person.search(unit, 0, pointer.start()) is not None
        elif word in ("they", "them", "their"):
            is_named = _CLARITY.several.search(unit, 0, pointer.start()) is not None and not unit[
                : pointer.start()
            ].endswith("of ")
        elif word in ("it", "its"):
            is_new = _CLARITY.new_thing.search(unit, 0, pointer.start()) is not None
            is_named = is_new and not _CLARITY.about.search(unit[: pointer.start()])
        elif word == "that":
            is_relative = _CLARITY.relative.match(unit, pointer.end()) is not None
            is_named = is_relative and not _CLARITY.points_back.search(unit[: pointer.start()])
        elif word == "this":
            is_named = _CLARITY.this_time.match(unit, pointer.end()) is not None
        elif word in ("those", "such"):
            is_named = _CLARITY.those_who.match(unit, pointer.end()) is not None
        elif word == "one":
            is_named = _CLARITY.one_of.match(unit, pointer.end()) is not None
        else:
            is_named = False
        if not is_named:
            return True
    return False
