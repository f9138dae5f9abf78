"""For the documentation site: gives the methods of the Python reference the descriptions of their parameters, which are
written once, for the server's API description too (src/everword/server/routes/descriptions.toml)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import griffe

SOURCE = Path(__file__).parents[1] / "src" / "everword" / "server" / "routes" / "descriptions.toml"
DESCRIPTIONS = tomllib.loads(SOURCE.read_text(encoding="utf-8"))


class ParameterTexts(griffe.Extension):
    """Adds a section on the parameters to each docstring of a public method."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        if func.docstring is None or func.name.startswith("_"):
            return
        texts = [
            f"    {parameter.name}: {text}"
            for parameter in func.parameters
            if (text := describe_parameter(func.name, parameter.name))
        ]
        if texts:
            func.docstring.value += "\n\nArgs:\n" + "\n".join(texts)


def describe_parameter(function: str, name: str) -> str:
    special: str | None = DESCRIPTIONS["arguments_of"].get(f"{function}.{name}")
    return special or DESCRIPTIONS["arguments"].get(name, "")
