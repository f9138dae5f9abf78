"""Finds secrets in a text, and writes a placeholder where each one stands.

A mark covers the secret alone and not the words around it: "my password is hunter2" becomes "my password is
[secret: password]", so that what was said stays readable. Marks of one text do not overlap and are in its order.
"""

from __future__ import annotations

from collections.abc import Iterable

from recollect.model.secrets import SecretMark


def find_secrets(text: str) -> tuple[SecretMark, ...]:
    """Every secret in a text, in its order."""
    return ()


def mask_text(text: str, marks: Iterable[SecretMark]) -> str:
    """The text with a placeholder in place of each marked secret."""
    parts = []
    end = 0
    for mark in marks:
        parts += [text[end : mark.start], placeholder_of(mark.kind)]
        end = mark.end
    return "".join([*parts, text[end:]])


def placeholder_of(kind: str) -> str:
    """What stands in place of a secret of this kind."""
    return f"[secret: {kind}]"
