"""What a bot says, where it does not depend on what is remembered: `texts.CANCELLED` is that name in `texts.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

SENTENCES: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COMMANDS: dict[str, str] = SENTENCES["COMMANDS"]
NEED_WORDS: dict[str, str] = SENTENCES["NEED_WORDS"]


def __getattr__(name: str) -> str:
    if name not in SENTENCES:
        raise AttributeError(name)
    return str(SENTENCES[name])


def help_text() -> str:
    """All commands, one a line."""
    lines = [f"/{name} – {about}" for name, about in COMMANDS.items()]
    return "\n".join(lines)


def count_messages(number: int) -> str:
    return f"{number:,} message{'' if number == 1 else 's'}"
