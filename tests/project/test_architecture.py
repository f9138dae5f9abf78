"""Imports point one way: docs/architecture.md says which, and the code is held to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from pure_modules import pure_paths

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "everword"
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)


@cache
def allowed() -> dict[str, set[str]]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return {package: set(re.findall(r"`(\w+)`", names)) for package, names in ROW.findall(text)}


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def statements_in(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All statements, also those within others: an import is never a part of an expression."""
    for node in body:
        yield node
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            below = getattr(node, part, ())
            if isinstance(below, list):
                yield from statements_in(below)


def is_module(name: str) -> bool:
    return (SOURCE / name).is_dir() or (SOURCE / f"{name}.py").exists()


def imports(path: Path) -> set[str]:
    """The packages of everword that a module imports, anywhere in it, also for types only."""
    found = set()
    for node in statements_in(ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "everword":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {a.name for a in node.names if is_module(a.name)}
        elif isinstance(node, ast.Import):
            found |= {name.split(".")[1] for name in (a.name for a in node.names) if name.startswith("everword.")}
    return found


MODULES = sorted(
    path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem not in ("__init__", "__main__")
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_follow_the_table(path: Path) -> None:
    package = package_of(path)
    table = allowed()
    assert package in table, f"docs/architecture.md has no row for {package}"
    back = imports(path) - {package} - table[package]
    assert not back, f"{path.relative_to(ROOT)} imports {sorted(back)}, which its row does not allow"


def test_every_row_of_the_table_is_a_package() -> None:
    there = {package_of(path) for path in MODULES}
    assert set(allowed()) == there


def test_arrows_have_no_cycle() -> None:
    left = allowed()
    while left:
        free = {package for package, needs in left.items() if not needs & set(left)}
        assert free, f"these import each other: {sorted(left)}"
        left = {package: needs for package, needs in left.items() if package not in free}


PURE = pure_paths()


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rules_are_pure(path: Path) -> None:
    """No clock, no files, no await, no chance in what decides."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    assert not names & {"os", "io", "pathlib", "time", "random", "asyncio", "socket", "sqlite3", "sqlalchemy"}
    assert not any(isinstance(node, ast.AsyncFunctionDef | ast.Await) for node in nodes)
