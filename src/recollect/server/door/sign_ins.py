"""Limits how often signing in may fail: by address, and in all.

An attempt takes a token, and gives it back if the key was right: so only failures count, also of attempts that come at
once. When too many have failed in all, an address has one attempt a minute: whoever signs in with a right key from an
address of their own is let in, whatever others do. Attempts are counted in a table of fixed size, apart from that of
requests, so that many addresses take no memory and no bucket of a key.
"""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollect.server.door.rates import Rates

BY_ADDRESS = 10  # failures a minute
IN_ALL = 100
WHEN_MANY = 1  # by address, while there are too many in all
SIGN_INS = "sign-ins"  # the name of the table in which workers count together
EVERYBODY = "everybody"
NETWORK = 64  # bits of an IPv6 address that count: the rest is the client's own choice


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """An attempt to sign in: the seconds to wait before it, 0.0 if it may be made now; and the tokens that it took."""

    wait: float
    taken_tokens: tuple[tuple[str, int], ...] = ()


class SignIns:
    """Counts attempts to sign in that failed; workers of one server in a table that they share."""

    def __init__(self, table: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._rates = Rates(IN_ALL, table, now)

    def begin_attempt(self, address: str) -> SignInAttempt:
        """Begin to sign in from an address. Until `succeed`, it counts as a failure."""
        network = network_of(address)
        everybody = (EVERYBODY, IN_ALL)
        if self._rates.take(*everybody):
            bucket = (f"many {network}", WHEN_MANY)
            return SignInAttempt(self._rates.take(*bucket), (bucket,))
        bucket = (f"few {network}", BY_ADDRESS)
        wait = self._rates.take(*bucket)
        if wait:
            self._rates.give_back(*everybody)  # what is refused unread is no failure
        return SignInAttempt(wait, (bucket, everybody))

    def succeed(self, attempt: SignInAttempt) -> None:
        """The key was right: the attempt does not count."""
        for key, rate in attempt.taken_tokens:
            self._rates.give_back(key, rate)


def network_of(address: str) -> str:
    """What counts as one address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:  # no address, such as that of a socket in the file system
        return address
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, NETWORK), strict=False))
    return str(ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else ip)


def table_beside(rates: Path | None) -> Path | None:
    """The file in which workers count attempts, beside the one in which they count requests."""
    return None if rates is None else rates.with_name(SIGN_INS)
