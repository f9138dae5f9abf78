"""Finds secrets in a text, and writes a placeholder where each one stands.

A mark covers the secret alone and not the words around it: "my password is hunter2" becomes "my password is
[secret: password]", so that what was said stays readable. Marks of one text do not overlap and are in its order.
"""

from __future__ import annotations

import re

from recollect.model.secrets import SecretMark
from recollect.model.secrets import mask_text as mask_text
from recollect.model.secrets import placeholder_of as placeholder_of


def find_secrets(text: str) -> tuple[SecretMark, ...]:
    """Every secret in a text, in its order."""
    found = [SecretMark("API key", *match.span()) for match in re.finditer("sk-[A-Za-z0-9]{20,}", text)]
    found += [SecretMark("password", *match.span(1)) for match in re.finditer(r"password(?: is|:) ([^\s\[]+)", text)]
    return tuple(sorted(found, key=lambda mark: mark.start))
