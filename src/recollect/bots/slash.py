"""Reads commands with a slash: `/remember I like tea`, `/summary@memo_bot`."""

from __future__ import annotations

import re

_COMMAND = re.compile(
    r"/(?P<name>[A-Za-z][A-Za-z0-9_]{0,31})(?:@(?P<bot>\w{1,64}))?(?:\s+(?P<argument>.*))?", re.DOTALL
)


def parse_slash(text: str, handle: str) -> tuple[str, str] | None:
    """The name of the command in a message, in small letters, and what follows it; None if it is no command, or one
    for another bot."""
    match = _COMMAND.fullmatch(text.strip())
    if match is None or (match["bot"] and match["bot"].casefold() != handle.casefold()):
        return None
    return match["name"].lower(), (match["argument"] or "").strip()
