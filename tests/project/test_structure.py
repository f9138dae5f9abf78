"""The code keeps its shape: short functions, names that say something, one home for each thing."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import runpy
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from statistics import quantiles
from typing import Any, get_args, get_type_hints

import pytest

import everword
from everword.memory.memory import MemoryFace
from everword.memory.operations.conversation import ConversationFace
from everword.memory.operations.documents import DocumentsFace
from everword.stores.tables import AHEAD_OF

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "everword"
STRUCTURE: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "structure.py"), run_name="structure")
FACES = (MemoryFace, ConversationFace, DocumentsFace)
# Where other classes with a face are. What a script writes (`memory/blocking.py`) repeats it: see test_generated.py.
WITH_A_FACE = ("client.py", "library.py")


@pytest.fixture(scope="module")
def report() -> Any:
    return STRUCTURE["measure"](SOURCE)


def test_functions_are_short(report: Any) -> None:
    assert quantiles((lines for lines, _ in report.lengths), n=100)[94] <= STRUCTURE["MAX_FUNCTION"]


def test_names_say_something(report: Any) -> None:
    percent = STRUCTURE["percent"]
    assert percent(len(report.participles), report.functions) < STRUCTURE["MAX_SHARE"], report.participles
    assert percent(len(report.fillers), report.variables) < STRUCTURE["MAX_SHARE"], report.fillers


def test_modules_do_not_import_in_circles_not_even_for_types(report: Any) -> None:
    assert STRUCTURE["circles"](report.imports) == []


def test_nobody_uses_the_private_names_of_another(report: Any) -> None:
    assert report.private == []


def test_a_class_name_stands_for_one_thing(report: Any) -> None:
    is_task_class = STRUCTURE["is_task_class"]
    places = {name: [file for file in files if not is_task_class(name, file)] for name, files in report.classes.items()}
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_every_view_is_in_the_module_of_its_name(tmp_path: Path) -> None:
    """What `stats` and `rebuild` call a view is what its module is called, or its room, whose module `view` it is."""
    places: dict[str, str] = {}
    for room in ("recall", "facts", "summaries", "topics"):
        for path in (SOURCE / room).glob("*.py"):
            module = f"everword.{room}.{path.stem}"
            for value in vars(import_module(module)).values():
                if inspect.isclass(value) and value.__module__ == module and hasattr(value, "prepare"):
                    places[getattr(value, "name", "")] = room if path.stem == "view" else path.stem
    assert places == {name: name for name in places} | {"index": "recall"}
    with everword.Memory(str(tmp_path / "views.db"), followers=False) as memory:
        assert sorted((*memory.views, *AHEAD_OF, "vectors")) == sorted(places)  # followed while they are made anew


def test_public_names_are_listed_once_in_order_and_can_be_imported() -> None:
    assert list(everword.__all__) == sorted(set(everword.__all__))
    assert [name for name in everword.__all__ if not hasattr(everword, name)] == []
    assert set(everword.__all__) - set(dir(everword)) == set()


def test_everything_a_public_method_returns_is_public() -> None:
    """Also within lists and tuples, and in the fields of what is returned."""
    returned_classes: set[type] = set()
    for face in FACES:
        for name, method in inspect.getmembers(face):
            if not name.startswith("_") and inspect.isfunction(method):
                collect_classes(get_type_hints(method).get("return"), returned_classes)
    assert everword.Message in returned_classes
    assert sorted(cls.__name__ for cls in returned_classes if cls.__name__ not in everword.__all__) == []


def collect_classes(hint: Any, into: set[type]) -> None:
    """Add the package's classes that a type names, and those that their fields name."""
    for argument in get_args(hint):
        collect_classes(argument, into)
    if inspect.isclass(hint) and hint.__module__.split(".")[0] == "everword" and hint not in into:
        into.add(hint)
        if dataclasses.is_dataclass(hint):
            for field_hint in get_type_hints(hint).values():
                collect_classes(field_hint, into)


def test_what_a_method_does_is_written_once() -> None:
    """Classes with a face have their docstrings from it."""
    described = {
        docstring: (path, place)
        for path in STRUCTURE["operation_modules"](SOURCE)
        for place, docstring in method_docstrings(path)
    }
    assert len(described) > 60
    repeated = [
        f"{path}: {place}"
        for path in (*STRUCTURE["operation_modules"](SOURCE), *(SOURCE / file for file in WITH_A_FACE))
        for place, docstring in method_docstrings(path)
        if described.get(docstring, (path, place)) != (path, place)
    ]
    assert repeated == []


def method_docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """The docstrings of public methods as they stand in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in (statement for statement in tree.body if isinstance(statement, ast.ClassDef)):
        for method in node.body:
            if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not method.name.startswith("_"):
                docstring = ast.get_docstring(method)
                if docstring:
                    yield f"{node.name}.{method.name}", docstring


def test_no_pattern_has_a_group_that_is_possessive() -> None:
    """Python 3.11.2, which Debian 12 has, does not match some of them ("(?:a|b)++"); it does match "(?>(?:a|b)+)"."""
    possessive = re.compile(r"\)(?:[+*?]|\{[\d,]+\})\+")
    files = [path for path in SOURCE.rglob("*") if path.suffix in (".py", ".re")]
    assert files
    assert [path for path in files if possessive.search(path.read_text(encoding="utf-8"))] == []
