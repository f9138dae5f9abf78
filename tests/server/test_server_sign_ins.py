"""Signing in is throttled (G7): who sends wrong keys waits, by address and in all; who sends a right one does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from everword.server.rates import BY_ADDRESS, IN_ALL, SIGN_INS, Rates, SignIns, create_table, network_of, table_beside
from everword.testing.serving import Serving

WRONG = f"rk_{'0' * 16}_{'x' * 43}"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    with Serving(str(tmp_path / "memory.db"), auth=True, followers=False) as running:
        yield running


def send_key(server: Serving, key: str, address: str = "127.0.0.1") -> httpx2.Response:
    with httpx2.Client(base_url=server.url, transport=httpx2.HTTPTransport(local_address=address)) as http:
        found = re.search(r'name="token" value="([^"]+)"', http.get("/web/sign-in").text)
        assert found is not None
        return http.post("/web/sign-in", data={"token": found[1], "key": key})


@pytest.mark.checklist("G7")
def test_wrong_keys_from_an_address_are_refused_after_some(server: Serving) -> None:
    statuses = [send_key(server, WRONG).status_code for _ in range(BY_ADDRESS + 2)]
    assert statuses == [401] * BY_ADDRESS + [429] * 2
    refused = send_key(server, WRONG)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert "Too many keys were wrong" in refused.text
    assert send_key(server, server.key()).status_code == 429  # from this address nobody tries for now
    assert send_key(server, server.key(), "127.0.0.2").status_code == 303  # from another one they do
    assert httpx2.get(f"{server.url}/v1/space", headers={"Authorization": f"Bearer {server.key()}"}).status_code == 200


@pytest.mark.checklist("G7")
def test_right_keys_never_count(server: Serving) -> None:
    key = server.key()
    assert {send_key(server, key).status_code for _ in range(BY_ADDRESS + 5)} == {303}


def clock_at(table: Path | None = None) -> tuple[SignIns, list[float]]:
    now = [1_000.0]
    return SignIns(Rates(IN_ALL, table, lambda: now[0])), now


@pytest.mark.checklist("G7")
def test_many_addresses_together_are_slowed_and_a_right_key_is_let_in() -> None:
    sign_ins, now = clock_at()
    attempts = [sign_ins.begin_attempt(f"10.0.{number // 250}.{number % 250}") for number in range(IN_ALL)]
    assert {attempt.wait for attempt in attempts} == {0.0}
    assert sign_ins.begin_attempt("10.9.9.9").wait == 0.0  # one try a minute
    assert sign_ins.begin_attempt("10.9.9.9").wait > 30
    for _ in range(5):  # whoever has the right key is let in again and again, from an address of their own
        attempt = sign_ins.begin_attempt("192.0.2.7")
        assert attempt.wait == 0.0
        sign_ins.succeed(attempt)
    now[0] += 60
    assert sign_ins.begin_attempt("10.9.9.9").wait == 0.0


@pytest.mark.checklist("G7")
def test_tries_at_once_count_before_they_have_failed() -> None:
    sign_ins, now = clock_at()
    waits = [sign_ins.begin_attempt("192.0.2.1").wait for _ in range(BY_ADDRESS + 1)]
    assert waits[:-1] == [0.0] * BY_ADDRESS
    assert 0 < waits[-1] <= 60 / BY_ADDRESS
    now[0] += 60
    assert sign_ins.begin_attempt("192.0.2.1").wait == 0.0


@pytest.mark.checklist("G7")
def test_workers_count_tries_together(tmp_path: Path) -> None:
    table = table_beside(tmp_path / "rates")
    assert table is not None
    assert create_table(table).name == SIGN_INS
    one, _ = clock_at(table)
    two, _ = clock_at(table)
    waits = [sign_ins.begin_attempt("192.0.2.1").wait for sign_ins in (one, two) * (BY_ADDRESS // 2 + 1)]
    assert [wait == 0.0 for wait in waits] == [True] * BY_ADDRESS + [False] * 2


@pytest.mark.checklist("G7")
def test_an_address_of_ipv6_counts_by_its_network() -> None:
    assert network_of("2001:db8:0:1::5") == network_of("2001:db8:0:1:ffff::9")
    assert network_of("2001:db8:0:1::5") != network_of("2001:db8:0:2::5")
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1")
    assert network_of("") == ""
