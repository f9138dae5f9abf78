"""How an operation is declared: `@operation` on its method."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

from everword.log.operations import OPERATIONS, Operation, Tells

F = TypeVar("F", bound=Callable[..., Any])


def operation(route: str, *, right: str, tells: Tells = "memory", name: str = "", **options: Any) -> Callable[[F], F]:
    """Declare the operation that a method of a face is. The method itself has no body: a class that has the face
    defines it anew, or defines `_perform`, which is called for all that it does not define."""

    def declare(method: F) -> F:
        verb, path = route.split(" ", 1)
        declared = Operation(name or method.__name__, right, tells, verb, path, method=method, **options)
        OPERATIONS.setdefault(declared.name, declared)

        async def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            return await self._perform(declared, args, kwargs)

        def call_stream(self: Any, *args: Any, **kwargs: Any) -> Any:
            return self._perform_stream(declared, args, kwargs)

        wrapper = update_wrapper(call if inspect.iscoroutinefunction(method) else call_stream, method)
        wrapper.__dict__["operation"] = declared
        return cast(F, wrapper)

    return declare
