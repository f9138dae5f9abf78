"""The modules that only decide: no files, no clock, no await. Tests hold them to that, and call every rule in them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import everword

SOURCE = Path(everword.__file__).parent
ROOMS = ("text", "secrets", "openai", "documents", "facts/english", "*/rules")
MODULES = (
    "changes/retention_rules.py",
    "context/reply_markers.py",
    "facts/prompts.py",
    "follow/model_task.py",
    "follow/view.py",
    "log/access.py",
    "log/checks_and_seals.py",
    "log/secret_policy.py",
    "recall/follow_up_questions.py",
    "summaries/prompts.py",
)


def pure_paths() -> list[Path]:
    in_rooms = {path for room in ROOMS for path in SOURCE.glob(f"{room}/**/*.py")}
    return sorted(in_rooms | {SOURCE / name for name in MODULES})


def pure_modules() -> list[ModuleType]:
    names = (".".join(path.relative_to(SOURCE.parent).with_suffix("").parts) for path in pure_paths())
    return [import_module(name.removesuffix(".__init__")) for name in names]
