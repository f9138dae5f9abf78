"""The examples of docs/howto/frameworks.md: each is run by the test of its framework."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "frameworks.md"


def run_example(framework: str, **names: Any) -> dict[str, Any]:
    """Run the example under a framework's heading; what it has defined."""
    (section,) = re.findall(rf"(?ms)^## {framework}\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"))
    (code,) = re.findall(r"(?ms)^```py\n(.*?)^```", section)
    exec(compile(code, f"{PAGE.name}, {framework}", "exec"), names)
    return names
