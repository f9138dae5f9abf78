"""Keeps the map in docs/architecture.md complete: `python scripts/map.py [--check]`.

The map has one line for each module: its path, what it does, and the test file that covers it best. The lines are
written by hand and stay as they are. This script sorts them, drops those of modules that are gone, and adds one for
each new module: the beginning of its docstring, and a test file that is a guess, to be corrected by hand.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
SOURCE = ROOT / "src" / "recollect"
TESTS = ROOT / "tests"
BEGIN = "| module | what it does | tests |\n|---|---|---|\n"
LINE = re.compile(r"^\| `([\w/]+\.py)` \| (.+) \| `tests/([\w/]+\.py)` \|$")
MOST_WORDS = 15


@dataclass(frozen=True, slots=True)
class MapLine:
    """One line of the map, with paths below `src/recollect` and below `tests`."""

    module: str
    clause: str
    test: str

    def __str__(self) -> str:
        return f"| `{self.module}` | {self.clause} | `tests/{self.test}` |"


def modules() -> list[str]:
    """The modules that the map names: all of the package except its `__init__` files."""
    paths = (path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")
    return sorted(str(path.relative_to(SOURCE)) for path in paths)


def split_page(text: str) -> tuple[str, str, str]:
    """The page up to the lines of the map, these lines, and what follows them."""
    before, _, after = text.partition(BEGIN)
    lines, _, rest = after.partition("\n\n")
    return before + BEGIN, lines.strip("\n"), f"\n{rest}" if rest else ""


def read_map(text: str) -> list[MapLine]:
    """The lines of the map. Raises ValueError for one that has another form."""
    parsed_lines = []
    for line in split_page(text)[1].splitlines():
        match = LINE.match(line)
        if match is None:
            raise ValueError(f"not a line of the map: {line}")
        parsed_lines.append(MapLine(*match.groups()))
    return parsed_lines


def new_line(module: str) -> MapLine:
    """A first line for a module, to be corrected by hand."""
    docstring = ast.get_docstring(ast.parse((SOURCE / module).read_text(encoding="utf-8"))) or ""
    words = re.split(r"[.:;](?:\s|$)", docstring, maxsplit=1)[0].split()[:MOST_WORDS]
    return MapLine(module, " ".join(words).replace("|", "/") or "?", guess_test(module))


def guess_test(module: str) -> str:
    """The test file whose path has most parts in common with the module's, and mentions it if one does."""
    dotted_name = "recollect." + module.removesuffix(".py").replace("/", ".")
    words = set(re.findall(r"[a-z]+", module.removesuffix(".py")))

    def likeness(path: Path) -> tuple[bool, int, str]:
        common = words & set(re.findall(r"[a-z]+", str(path.relative_to(TESTS))))
        return dotted_name in path.read_text(encoding="utf-8"), len(common), str(path)

    return str(max(TESTS.rglob("test_*.py"), key=likeness).relative_to(TESTS))


def complete(text: str) -> str:
    """The page with a line for each module, in order."""
    before, _, after = split_page(text)
    lines = {line.module: line for line in read_map(text)}
    return before + "\n".join(str(lines.get(module) or new_line(module)) for module in modules()) + "\n" + after


def main() -> int:
    text = PAGE.read_text(encoding="utf-8")
    completed = complete(text)
    if "--check" in sys.argv[1:]:
        return int(completed != text)
    PAGE.write_text(completed, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
