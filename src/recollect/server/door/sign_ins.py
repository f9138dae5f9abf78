"""Limits how often signing in may fail: by address, and in all.

A try takes a token, and gives it back if the key was right: so only failures count, also of tries that come at once.
When too many have failed in all, an address has one try a minute: whoever signs in with a right key from an address of
their own is let in, whatever others do. Tries are counted in a table of fixed size, apart from that of requests, so
that many addresses take no memory and no bucket of a key.
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
class Try:
    """A try to sign in: the seconds until it may be made, 0.0 if it may be made now; and the tokens that it took."""

    wait: float
    taken: tuple[tuple[str, int], ...] = ()


class SignIns:
    """Counts tries to sign in that failed; workers of one server in a table that they share."""

    def __init__(self, table: Path | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._rates = Rates(IN_ALL, table, now)

    def begin_try(self, address: str) -> Try:
        """Begin to sign in from an address. Until `succeed`, the try counts as a failure."""
        network = network_of(address)
        everybody = (EVERYBODY, IN_ALL)
        if self._rates.take(*everybody):
            own = (f"many {network}", WHEN_MANY)
            return Try(self._rates.take(*own), (own,))
        own = (f"few {network}", BY_ADDRESS)
        wait = self._rates.take(*own)
        if wait:
            self._rates.give_back(*everybody)  # what is refused unread is no failure
        return Try(wait, (own, everybody))

    def succeed(self, made: Try) -> None:
        """The key was right: the try does not count."""
        for key, rate in made.taken:
            self._rates.give_back(key, rate)


def network_of(address: str) -> str:
    """What counts as one address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # no address, such as that of a socket in the file system
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, NETWORK), strict=False))
    return str(parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else parsed)


def table_beside(rates: Path | None) -> Path | None:
    """The file in which workers count tries, beside the one in which they count requests."""
    return None if rates is None else rates.with_name(SIGN_INS)
