"""This machine alone: what a server without keys answers to.

It listens on loopback, so only programs of this machine reach it; but a browser is one, and does what any page says,
and a proxy is one, and passes on what anybody asks. So a request must call this machine by its own name or number (a
page can make a name of its own lead here), must come from no page of elsewhere, and must not say that it was passed on.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

PASSED_ON = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip")
LOOKED_AT = frozenset((b"host", b"origin", b"sec-fetch-site", *PASSED_ON))
KEYS = "make a key (`recollect keys create`) and start the server again"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refusal(headers: Mapping[bytes, bytes], origins: Collection[str]) -> tuple[str, str] | None:
    """Why a request is not let in without a key, as a code and in words; None if it is."""
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_loopback(re.sub(r":\d+$", "", host)):
        return "host", "this server has auth off and answers only to localhost and 127.0.0.1"
    if any(name in headers for name in PASSED_ON):
        return "forwarded", f"this server has auth off, and a proxy passed this on from elsewhere; {KEYS}"
    origin = headers.get(b"origin", b"").decode("latin-1")
    foreign = not is_own(origin, origins) if origin else headers.get(b"sec-fetch-site") == b"cross-site"
    if foreign:
        return (
            "origin",
            f"this server has auth off and serves no page of elsewhere; name it in server_origins, or {KEYS}",
        )
    return None


def is_own(origin: str, origins: Collection[str]) -> bool:
    """Whether a page is of this machine, or one of those that may call."""
    if origin in origins or "*" in origins:
        return True
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False
