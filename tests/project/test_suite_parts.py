"""The parts of the suite that run beside each other are the whole suite, and no test is in two of them."""

from __future__ import annotations

import pytest
from suite_parts import BESIDE, SECONDS, TESTS, deal_out, is_elsewhere, parse_part, unit_of

FILES = sorted(TESTS.rglob("test_*.py"))


@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_every_file_is_in_one_part(parts: int) -> None:
    for file in FILES:
        assert sum(not is_elsewhere(file, (number, parts)) for number in range(1, parts + 1)) == 1
    assert set(deal_out(parts).values()) == set(range(1, parts + 1))


def test_what_no_part_was_asked_of_is_in_it() -> None:
    assert not any(is_elsewhere(file, None) for file in FILES)
    assert not is_elsewhere(TESTS / "conftest.py", (1, 3))


def test_every_length_is_of_something_there_is() -> None:
    assert SECONDS.keys() <= {unit_of(file) for file in FILES}
    assert BESIDE.keys() <= {file.stem for file in FILES}


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "", "1/0"])
def test_a_part_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_part(text)
