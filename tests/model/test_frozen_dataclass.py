"""Classes made by our decorator behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any, ClassVar

import pytest

from recollect.model.frozen import dataclass as fast
from recollect.model.frozen import fast_maker
from recollect.model.frozen import replace as fast_replace


def make_class(decorate: Callable[..., Any]) -> Any:
    @decorate(frozen=True, slots=True)
    class Parcel:
        """A parcel."""

        kinds: ClassVar[int] = 3
        name: str
        weight: float = 1.5
        labels: list[str] = field(default_factory=list)
        note: str = field(default="", compare=False, repr=False)

        @property
        def heavy(self) -> bool:
            return self.weight > 10

    return Parcel


@fast(frozen=True, slots=True)
class Letter:
    sender: str
    pages: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.sender:
            raise ValueError("a letter has a sender")


@fast(frozen=True, slots=True)
class SignedLetter(Letter):
    seal: str = "wax"


class Envelope(Letter):
    """A class that inherits fields and has others."""


Ours, Standard = make_class(fast), make_class(dataclasses.dataclass)


def test_signature_fields_and_text_are_those_of_the_standard_library() -> None:
    assert str(inspect.signature(Ours)) == str(inspect.signature(Standard))
    assert [one.name for one in fields(Ours)] == [one.name for one in fields(Standard)]
    assert Ours.__match_args__ == Standard.__match_args__
    assert Ours.__slots__ == Standard.__slots__
    assert repr(Ours("box", 2.0, ["red"], "hidden")) == repr(Standard("box", 2.0, ["red"], "hidden"))
    assert Ours.__doc__ == "A parcel."


def test_equality_and_hash_count_the_fields_that_compare() -> None:
    assert Ours("box", note="a") == Ours("box", note="b")
    assert Ours("box") != Ours("bag")
    assert Ours("box") != Standard("box")
    assert hash(Letter("ann", (1, 2))) == hash(Letter("ann", (1, 2)))
    assert {Letter("ann"): 1}[Letter("ann")] == 1
    with pytest.raises(TypeError):
        hash(Ours("box"))  # it holds a list


def test_values_cannot_be_changed_and_defaults_are_not_shared() -> None:
    parcel = Ours("box")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        parcel.name = "bag"
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del parcel.name
    with pytest.raises(FrozenInstanceError):
        parcel.unknown = 1
    parcel.labels.append("red")
    assert Ours("bag").labels == []
    assert not parcel.heavy


def test_copies_and_pickles_are_equal() -> None:
    letter = Letter("ann", (1,))
    assert pickle.loads(pickle.dumps(letter)) == copy.copy(letter) == copy.deepcopy(letter) == letter
    assert replace(letter, pages=()) == Letter("ann")
    match letter:
        case Letter(sender, pages):
            assert (sender, pages) == ("ann", (1,))


def test_what_comes_after_the_init_is_called_and_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="a letter has a sender"):
        Letter("")
    with pytest.raises(TypeError):
        Letter()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Letter("ann", (), 3)  # type: ignore[call-arg]


def test_a_class_may_inherit_fields() -> None:
    signed = SignedLetter("ann", seal="lead")
    assert (signed.sender, signed.pages, signed.seal) == ("ann", (), "lead")
    assert signed != Letter("ann")
    with pytest.raises(FrozenInstanceError):
        signed.seal = "wax"  # type: ignore[misc]
    envelope = Envelope("ann")
    envelope.colour = "blue"  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        envelope.sender = "bob"  # type: ignore[misc]


@fast(frozen=True, slots=True)
class Named:
    name: str


@fast(frozen=True, slots=True)
class Heir(Named):
    colour: str


def test_what_is_made_fast_is_as_frozen_and_equal_to_what_the_class_makes() -> None:
    parcel = fast_maker(Ours)("box", 2.0, ["red"], "hidden")
    assert type(parcel) is Ours
    assert parcel == Ours("box", 2.0, ["red"], "hidden")
    assert repr(parcel) == repr(Ours("box", 2.0, ["red"], "hidden"))
    assert copy.copy(parcel) == replace(parcel) == parcel
    with pytest.raises(FrozenInstanceError):
        parcel.name = "bag"
    with pytest.raises(AttributeError):
        object.__setattr__(parcel, "unknown", 1)


@pytest.mark.parametrize("changes", [{}, {"weight": 12.0}, {"note": "new", "name": "bag"}])
def test_the_fast_replace_is_that_of_the_standard_library(changes: dict[str, Any]) -> None:
    parcel = Ours("box", 2.0, ["red"], "hidden")
    other = fast_replace(parcel, **changes)
    assert [getattr(other, name) for name in Ours.__slots__] == [
        getattr(replace(parcel, **changes), name) for name in Ours.__slots__
    ]
    assert type(other) is Ours
    assert parcel == Ours("box", 2.0, ["red"], "hidden")
    assert fast_replace(SignedLetter("ann"), sender="bob") == SignedLetter("bob")
    with pytest.raises(ValueError, match="a letter has a sender"):
        fast_replace(Letter("ann"), sender="")
    heir = fast_replace(Heir("box", "red"), colour="blue")
    assert (heir.name, heir.colour) == ("box", "blue")
    with pytest.raises(TypeError):
        fast_replace(parcel, unknown=1)
