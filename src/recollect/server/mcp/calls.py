"""How a tool of MCP is called: what it takes is written plainly, read with patience, and refused in one line.

Small models and the programs that run them know types and descriptions, and neither references nor unions: so a schema
has none. What may be left out may be null. A list may come as text that holds one, which some clients send; a text is
taken as it is, however it reads, so that a user called `null` is that user. An argument that does not exist is refused:
`user_id` for `user` would otherwise mean everybody. What nobody foresaw is told without its text, which may repeat what
was said, and noted by its kind and place.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, ParamSpec

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import ValidationError

from recollect.errors import InvalidInput, NotFound, RecollectError, ScopeError
from recollect.server.observing import logger, where
from recollect.server.problems import Problem, invalid, problem_of

FAILED = "the memory failed, and its log says why; try once more, and if it fails again go on without it"

P = ParamSpec("P")


class PlainTool(Tool):
    """A tool whose arguments are read as above. Its function answers with a result, or raises ToolError."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> CallToolResult:
        properties: Mapping[str, Any] = self.parameters["properties"]
        for name in arguments:
            if name not in properties:
                raise ToolError(f"there is no argument {name!r}; {self.name} has {', '.join(properties)}")
        given = {
            name: listed(value) if properties[name]["type"] == "array" else value
            for name, value in arguments.items()
            if value is not None
        }
        try:
            checked = self.fn_metadata.arg_model.model_validate(given).model_dump_one_level()
        except ValidationError as error:
            raise ToolError(invalid(error.errors()).detail) from None
        answer: CallToolResult = await self.fn(**checked, **{str(self.context_kwarg): context})
        return answer


def tool(work: Callable[..., Awaitable[CallToolResult]], title: str, hints: ToolAnnotations) -> PlainTool:
    """A tool of a method: its docstring is what a model is told of it."""
    made = PlainTool.from_function(work, title=title, description=inspect.getdoc(work), annotations=hints)
    assert isinstance(made, PlainTool)
    made.parameters = plain(made.parameters) | {"additionalProperties": False}
    return made


def listed(value: Any) -> Any:
    """A list that came as text, if it is one."""
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without references, unions with null, titles and defaults of null."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})

    def of(part: Any) -> Any:
        if isinstance(part, list):
            return [of(one) for one in part]
        if not isinstance(part, Mapping):
            return part
        if "$ref" in part:
            part = {**definitions[part["$ref"].rpartition("/")[2]], **part}
        for one in part.get("anyOf", ()):
            part = {**part, **({} if one == {"type": "null"} else one)}
        dropped = {"$ref", "$defs", "anyOf"} | ({"default"} if part.get("default", "") is None else set())
        return {
            name: {key: of(one) for key, one in value.items()} if name == "properties" else of(value)
            for name, value in part.items()
            if name not in dropped and not (name == "title" and isinstance(value, str))
        }

    found: dict[str, Any] = of(schema)
    return found


# -- errors


def told(work: Callable[P, Awaitable[CallToolResult]]) -> Callable[P, Awaitable[CallToolResult]]:
    """A tool whose errors are for the model to read."""

    @functools.wraps(work)
    async def asked(*args: P.args, **kwargs: P.kwargs) -> CallToolResult:
        try:
            return await work(*args, **kwargs)
        except ToolError:
            raise
        except (RecollectError, Problem) as error:
            raise ToolError(problem_of(error).detail) from None
        except Exception as error:  # noqa: BLE001  the outermost handler
            raise ToolError(noted(work, error)) from None

    return asked


def found(work: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
    """A resource whose errors are for the client to read. What is somebody else's is not there."""

    @functools.wraps(work)
    async def asked(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return await work(*args, **kwargs)
        except (NotFound, ScopeError, InvalidInput, Problem, ToolError) as error:
            raise ResourceNotFoundError(str(error)) from None
        except RecollectError as error:
            raise ResourceError(problem_of(error).detail) from None
        except Exception as error:  # noqa: BLE001  the outermost handler
            raise ResourceError(noted(work, error)) from None

    return asked


def noted(work: Callable[..., Any], error: Exception) -> str:
    """Note an error nobody foresaw, and return what may be said of it."""
    about = where(error)
    logger.error("%s failed: %s at %s", work.__name__, about["error"], about["at"][-1], extra={"noted": about})
    return FAILED
