"""A `dataclass` decorator that makes frozen classes with slots in a quarter of the time.

The decorator of the standard library compiles six functions for each such class, which is an eighth of the time that
a command takes to start. Of those, only `__init__` has to be written for each class; the others are the same for all.
Classes behave as those of the standard library do (`fields`, `replace`, `copy`, `pickle`, patterns), and are made a
little faster, since `__init__` sets each slot by itself. For a type checker, it is the standard one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        """As `dataclasses.dataclass`; faster for `frozen=True, slots=True` and nothing else."""
        if cls is None and options == {"frozen": True, "slots": True}:
            return freeze_class
        return dataclasses.dataclass(cls, **options)


class MadeAnew:
    """Stands for a value that is made for each object; named as in the standard library."""

    def __repr__(self) -> str:
        return "<factory>"


MADE_ANEW = MadeAnew()


def freeze_class(cls: type) -> type:
    """The class as a frozen dataclass with slots. One that inherits fields is made by the standard library."""
    if any(hasattr(base, "__dataclass_fields__") for base in cls.__bases__):
        return dataclasses.dataclass(frozen=True, slots=True)(cls)
    own_names = set(cls.__dict__)
    if not cls.__doc__:
        cls.__doc__ = cls.__name__  # else it would be made from a signature that it does not have yet
    new_class: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    new_class.__dataclass_params__.frozen = True  # for classes that inherit from it
    fields = dataclasses.fields(new_class)
    new_class.__init__ = write_init(new_class, fields)
    new_class.read_compared = values_getter([field.name for field in fields if field.compare])
    new_class.read_hashed = values_getter(
        [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    )
    methods = {"__repr__": show_fields, "__eq__": compare_fields}
    methods |= {"__setattr__": refuse_assignment, "__delattr__": refuse_deletion}
    methods |= {"__getstate__": read_slots, "__setstate__": fill_slots}
    for name, method in methods.items():
        if name not in own_names:
            setattr(new_class, name, method)
    if cls.__dict__.get("__hash__") is None:
        new_class.__hash__ = hash_fields
    return new_class  # type: ignore[no-any-return]


def write_init(cls: type, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    """The method that fills the slots of a new object, one by one: nothing else can set them."""
    parameters = ["self"]
    lines = []
    names: dict[str, Any] = {"_made_anew": MADE_ANEW}
    for field in fields:
        name = field.name
        names[f"_set_{name}"] = getattr(cls, name).__set__
        value = name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _made_anew else {name}"
            parameters.append(f"{name}=_made_anew")
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        lines.append(f"    _set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *(lines or ["    pass"])]), names)
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    init.__annotations__ = {field.name: field.type for field in fields} | {"return": None}
    return init


def fast_maker(cls: type[T]) -> Callable[..., T]:
    """A function that makes objects of a frozen class from the values of all its fields, in order: a third of the time
    of a call of the class, for what is made by the hundred. What the class does after `__init__` is not done."""
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    return write_maker(cls, names, {name: name for name in names})


def replace(instance: T, /, **changes: Any) -> T:
    """As `dataclasses.replace`, in a part of the time for what `freeze_class` has made."""
    key = (type(instance), tuple(changes))
    replacer = _replacers.get(key)
    if replacer is None:
        replacer = _replacers[key] = write_replacer(*key)
    replica: T = replacer(instance, *changes.values())
    return replica


_replacers: dict[tuple[type, tuple[str, ...]], Callable[..., Any]] = {}


def write_replacer(cls: type[T], names: tuple[str, ...]) -> Callable[..., T]:
    """A function of an object and of new values for these fields of it that makes another one."""
    sources = {field.name: f"_original.{field.name}" for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
    is_ours = "read_compared" in cls.__dict__ and cls.__bases__ == (object,) and not hasattr(cls, "__post_init__")
    if is_ours and sources.keys() >= set(names):
        return write_maker(cls, ["_original", *names], sources | {name: name for name in names})
    return lambda original, *values: dataclasses.replace(original, **dict(zip(names, values, strict=True)))


def write_maker(cls: type[T], parameters: list[str], sources: dict[str, str]) -> Callable[..., T]:
    """A function that makes an object of a class, each field of what its source is among the parameters. The object
    begins as one of a class with the same slots that is not frozen: Python fills these without a call for each."""
    twin = type(f"Unfrozen{cls.__name__}", (), {"__slots__": tuple(sources)})
    lines = [f"def make({', '.join(parameters)}):", "    _instance = _twin()"]
    lines += [f"    _instance.{name} = {source}" for name, source in sources.items()]
    lines += ["    _instance.__class__ = _frozen", "    return _instance"]
    namespace: dict[str, Any] = {"_twin": twin, "_frozen": cls}
    exec("\n".join(lines), namespace)
    maker: Callable[..., T] = namespace["make"]
    return maker


def values_getter(names: list[str]) -> Callable[[Any], Any]:
    """What reads these fields of an object."""
    return attrgetter(*names) if names else no_values


class NoValues:
    """Reads no field. It is no function, which an object would take for one of its methods."""

    def __call__(self, value: object) -> tuple[()]:
        return ()


no_values = NoValues()


@recursive_repr()
def show_fields(self: Any) -> str:
    parts = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


def compare_fields(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return self.read_compared(self) == self.read_compared(other)


def hash_fields(self: Any) -> int:
    return hash(self.read_hashed(self))


def refuse_assignment(self: Any, name: str, value: Any) -> None:
    if is_field(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def refuse_deletion(self: Any, name: str) -> None:
    if is_field(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def is_field(value: Any, name: str) -> bool:
    """Whether a name may not be set: a class without fields of its own that inherits them may have others."""
    return "__dataclass_fields__" in type(value).__dict__ or name in value.__dataclass_fields__


def read_slots(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def fill_slots(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
