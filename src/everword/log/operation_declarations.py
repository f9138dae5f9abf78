"""What can be asked of a memory from outside, each declared once: by `@operation` on the method that does it.

The declaration says the rights that it needs and what its answer may tell, and how it travels over HTTP. From it and
from the method's signature come the REST route and its description, the client's request, the check of the rights and
the answer to a repeated request. Every face checks a caller by the name of an operation: the REST routes, OpenAI's
endpoint, the tools of MCP and the pages of the dashboard. So no face has a rule of its own.

An answer tells "nothing" of the memory: that it is done, or how much the request itself did; or what the "request"
carried: its own words, and the ids that it made; or "memory", which is anything stored. Whoever learns what is stored
needs the right to read, so an operation that tells memory needs `read` besides the right by which it changes something.
Errors and headers are part of an answer.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, update_wrapper
from typing import Any, Literal, TypeVar, cast, get_type_hints

F = TypeVar("F", bound=Callable[..., Any])

RIGHTS = ("read", "write", "admin")
READ = "read"
Tells = Literal["nothing", "request", "memory"]
Repeats = Literal["words", "names", "nothing"]
"""What an answer repeats. One with words is not stored if something was removed since the request began. One with names
is, and goes with the next removal. One with nothing of either stays for the day."""

PLACE = re.compile(r"\{(?:(\w+) as )?(\w+)\}")  # a value in a path; its argument, if that is called otherwise


@dataclass(frozen=True)
class Operation:
    """One operation.

    - `name`: what rights are checked by. `right`: by which it acts. `tells`: what its answer may tell.
    - `verb` and `path`: its route; the arguments that are not in the path come in the query of a GET or DELETE, or with
      `in_query`, else in the body.
    - `about_all`: it is about everybody, so that a key of one user may not.
    - `once`: it can be repeated under an idempotency key, and its answer repeats that much.
    - `page`: the attribute of its values that pages are continued by. `wrap`: its value is sent under this name.
    - `sends`: what else a client sends, where two operations have one route. `by_hand`: its route is written by hand.
    - `tool`: what it is called as a tool of MCP, if it is one.
    """

    name: str
    right: str
    tells: Tells
    verb: str = ""
    path: str = ""
    about_all: bool = False
    in_query: bool = False
    once: Repeats | None = None
    page: str = ""
    wrap: str = ""
    sends: Mapping[str, str] = field(default_factory=dict)
    by_hand: bool = False
    tool: str = ""
    method: Callable[..., Any] = field(default=lambda self: None, repr=False)
    signature: inspect.Signature = field(init=False, repr=False, compare=False)
    """What it takes, without `self`."""

    def __post_init__(self) -> None:
        _, *parameters = inspect.signature(self.method).parameters.values()
        object.__setattr__(self, "signature", inspect.Signature(parameters))

    @property
    def rights(self) -> frozenset[str]:
        """All rights that it needs."""
        return frozenset({self.right, READ} if self.tells == "memory" else {self.right})

    @cached_property
    def types(self) -> Mapping[str, Any]:
        """The types of what it takes, and under `return` of its answer."""
        return get_type_hints(self.method)

    @property
    def places(self) -> Mapping[str, str]:
        """The arguments that are in its path, each with what it is called there."""
        return {argument or name: name for argument, name in PLACE.findall(self.path)}

    @property
    def takes_name(self) -> bool:
        """Whether it reads what is kept of a `user`, who may be given by a name: what changes something takes ids."""
        return self.right == READ and not self.about_all and "user" in self.signature.parameters

    @property
    def is_of_conversation(self) -> bool:
        """Whether it is about one conversation: then its path begins with that, and no argument names it."""
        return self.path.startswith("/v1/conversations/{id}") and "id" not in self.signature.parameters

    @property
    def has_body(self) -> bool:
        return self.verb not in ("GET", "DELETE") and not self.in_query

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """What it is called with, by name, with the defaults."""
        call = self.signature.bind(*args, **kwargs)
        call.apply_defaults()
        return call.arguments


OPERATIONS: dict[str, Operation] = {}
"""All of them, by the names that rights are checked by."""


def operation(route: str, *, right: str, tells: Tells = "memory", name: str = "", **options: Any) -> Callable[[F], F]:
    """Declare the operation that a method is. A call of it goes to `_perform` of its object, or to `_perform_stream` if
    it yields: an object in this process runs the method, after it has checked the caller; a client sends a request."""

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


def declare_operations(right: str, tells: Tells, names: str) -> None:
    """Declare operations that are no methods of a memory: what only a server has."""
    for name in names.split():
        OPERATIONS[name] = Operation(name, right, tells)


def operations_of(face: type) -> dict[str, Operation]:
    """The operations that a face declares, by their methods."""
    return {
        name: method.operation
        for kind in face.__mro__
        for name, method in vars(kind).items()
        if hasattr(method, "operation")
    }
