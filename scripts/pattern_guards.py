"""Write down what each pattern of the rules needs and how it begins, so that no process has to find that out.

    python scripts/pattern_guards.py [--check]  # some seconds; writes src/recollect/language/data/patterns.json

To be run after a pattern or a list of words has changed: a pattern that is not in the file works as well, but is
compiled at its first use and searched everywhere until it was used often. With `--check`, nothing is written.
"""

from __future__ import annotations

import gc
import importlib
import json
import pkgutil
import sys
from typing import Any

import recollect.language
import recollect.rules
import recollect.tasks
from recollect.language.lazy_patterns import GUARDS_FILE, PatternGuard, lazy_pattern, load_guards, pattern_key

LAZY_PATTERN = type(lazy_pattern(""))


def find_patterns() -> dict[str, tuple[str, int]]:
    """The patterns of all rules, by their keys: source and flags."""
    for package in (recollect.language, recollect.rules, recollect.tasks):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    patterns: list[Any] = [pattern for pattern in gc.get_objects() if type(pattern) is LAZY_PATTERN]
    return {pattern_key(*origin): origin for origin in sorted({pattern.origin for pattern in patterns})}


def read_guards() -> dict[str, dict[str, Any]]:
    return {key: PatternGuard.read(*origin).to_object() for key, origin in sorted(find_patterns().items())}


def main() -> int:
    if "--check" in sys.argv:
        missing = find_patterns().keys() - load_guards().keys()
        print(f"{len(missing)} patterns are not in {GUARDS_FILE.name}")
        return bool(missing)
    lines = [f"{json.dumps(key)}: {json.dumps(guard)}" for key, guard in read_guards().items()]
    GUARDS_FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} patterns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
