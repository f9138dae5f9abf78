"""One docstring for a method, however many classes have it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

C = TypeVar("C", bound=type)


def documented_as(face: type) -> Callable[[C], C]:
    """A class decorator: methods without a docstring get the one that the face has under the same name."""

    def copy_docstrings(twin: C) -> C:
        for name, member in vars(twin).items():
            documented = getattr(face, name, None)
            if documented is not None and not name.startswith("_") and not inspect.getdoc(member):
                target = member.fget if isinstance(member, property) else member
                target.__doc__ = documented.__doc__
        return twin

    return copy_docstrings
