"""Which requests a server without keys answers: those of this machine.

It listens on loopback, so only programs of this machine reach it. But a browser is such a program and does what any
page says, and a proxy is one and passes on requests from elsewhere. So a request must name this machine by `localhost`
or a loopback address (a page can point a name of its own at it), must not come from a page of another origin, and must
have no header of a proxy.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

PROXY_HEADERS = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip")
CHECKED_HEADERS = frozenset((b"host", b"origin", b"sec-fetch-site", *PROXY_HEADERS))
KEYS = "make a key (`everword keys create`) and start the server again"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refusal(headers: Mapping[bytes, bytes], origins: Collection[str]) -> tuple[str, str] | None:
    """Why a request is refused without a key, as a code and a message; None if it is let in."""
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_loopback(re.sub(r":\d+$", "", host)):
        return "host", "this server has auth off and answers only to localhost and 127.0.0.1"
    if any(name in headers for name in PROXY_HEADERS):
        return "forwarded", f"this server has auth off, and a proxy passed this on from elsewhere; {KEYS}"
    origin = headers.get(b"origin", b"").decode("latin-1")
    is_foreign = not is_own_origin(origin, origins) if origin else headers.get(b"sec-fetch-site") == b"cross-site"
    if is_foreign:
        return (
            "origin",
            f"this server has auth off and serves no page of elsewhere; name it in server_origins, or {KEYS}",
        )
    return None


def is_own_origin(origin: str, origins: Collection[str]) -> bool:
    """Whether an origin is this machine, or one of those that may call."""
    if origin in origins or "*" in origins:
        return True
    try:
        return is_loopback(urlsplit(origin).hostname or "")
    except ValueError:
        return False
