"""The map in docs/architecture.md has one true line for each module of the package."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "map.py"), run_name="map")
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LINES = SCRIPT["read_map"](PAGE)


def test_every_module_has_one_line_and_every_line_a_module() -> None:
    counts = Counter(line.module for line in LINES)
    on_disk = set(SCRIPT["modules"]())
    assert not on_disk - counts.keys(), "run `python scripts/map.py`, and correct the lines that it adds"
    assert not counts.keys() - on_disk, "run `python scripts/map.py`"
    assert [module for module, count in counts.items() if count > 1] == []


def test_every_line_names_a_test_file() -> None:
    assert [line.module for line in LINES if not (ROOT / "tests" / line.test).is_file()] == []
    assert [line.module for line in LINES if not Path(line.test).name.startswith("test_")] == []


def test_every_line_is_one_short_clause() -> None:
    most_words = SCRIPT["MOST_WORDS"]
    assert [line.module for line in LINES if not 1 <= len(line.clause.split()) <= most_words] == []


def test_the_map_is_in_order() -> None:
    assert SCRIPT["complete"](PAGE) == PAGE


def test_a_new_module_gets_a_line_and_the_others_keep_theirs() -> None:
    first, *others = LINES
    shortened = PAGE.replace(f"{first}\n", "")
    lines = SCRIPT["read_map"](SCRIPT["complete"](shortened))
    assert [line.module for line in lines] == [line.module for line in LINES]
    assert lines[1:] == others
    assert (ROOT / "tests" / lines[0].test).is_file()
