"""What all tools share: schemas that small clients read, and errors that a model reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from everword.errors import EverwordError
from everword.server.problems import Problem, describe_error, logger, problem_of

FAILED = "the memory failed, and its log says why; try once more, and if it fails again go on without it"


@contextmanager
def tool_errors(name: str) -> Iterator[None]:
    """Errors become errors of the tool, which say what to do."""
    try:
        yield
    except ToolError:
        raise
    except (EverwordError, Problem) as error:
        raise ToolError(problem_of(error).detail) from None
    except Exception as error:  # noqa: BLE001  the outermost handler
        raise ToolError(log_failure(name, error)) from None


def flatten_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without references, unions with null, titles and defaults of null."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})

    def flatten(part: Any) -> Any:
        if isinstance(part, list):
            return [flatten(item) for item in part]
        if not isinstance(part, Mapping):
            return part
        if "$ref" in part:
            part = {**definitions[part["$ref"].rpartition("/")[2]], **part}
        for option in part.get("anyOf", ()):
            part = {**part, **({} if option == {"type": "null"} else option)}
        omitted_keys = {"$ref", "$defs", "anyOf"} | ({"default"} if part.get("default", "") is None else set())
        return {
            name: {key: flatten(subschema) for key, subschema in value.items()}
            if name == "properties"
            else flatten(value)
            for name, value in part.items()
            if name not in omitted_keys and not (name == "title" and isinstance(value, str))
        }

    flat_schema: dict[str, Any] = flatten(schema)
    return flat_schema


def log_failure(name: str, error: Exception) -> str:
    """Log an unexpected error, and return the message that a client may see."""
    place = describe_error(error)
    logger.error("%s failed: %s at %s", name, place["error"], place["at"][-1], extra={"noted": place})
    return FAILED
