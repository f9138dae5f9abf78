"""What scripts write into the package is what they would write now."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_blocking_twin_is_what_the_declarations_say() -> None:
    """`python scripts/blocking.py` writes it anew."""
    script = runpy.run_path(str(ROOT / "scripts" / "blocking.py"), run_name="blocking")
    written: str = script["TARGET"].read_text(encoding="utf-8")
    assert written == script["blocking_module"]()


def test_the_typescript_client_is_what_the_description_says() -> None:
    """`python scripts/typescript.py` writes it anew."""
    script = runpy.run_path(str(ROOT / "scripts" / "typescript.py"), run_name="typescript")
    assert script["TARGET"].read_text(encoding="utf-8") == script["client_text"]()
