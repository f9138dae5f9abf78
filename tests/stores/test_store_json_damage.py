"""F15: a JSON file that was damaged, however, is read, or refused with an error of ours that repeats nothing of what it
holds; nothing else ever comes out of it."""

from __future__ import annotations

import json
import random
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from everword import Memory
from everword.errors import EverwordError, StoreError
from everword.log.append_and_read import verify
from everword.stores.jsonfile import JsonStore
from everword.testing import FrozenClock

SECRET = "quuxberg"
CASES = 150
# Values that stand where others should.
STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 7, 2**70, 1.5, 1e308, float("nan"), float("inf"), "", "text", SECRET, "\ud800", "\x00", "!",
    "AA=", "2024-05-17T09:30:15", "2024-05-17T09:30:15+00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    [], [1], ["\ud800"], {}, {"a": 1}, {"\ud800": 1}, {SECRET: float("nan")}, [[[]]],
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with something in most tables."""
    path = tmp_path_factory.mktemp("json") / "memory.json"
    with Memory(f"json:{path}", clock=FrozenClock()) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", f"I live in Berlin, near the {SECRET}", metadata={"n": [1, 2.5]}, platform_id="p1")
        chat.add("assistant", "Noted.")
        memory.remember("Alex likes tea", user="alex")
        memory.documents().put(("notes",), "k", {"text": SECRET})
        memory.settle()
    return path.read_text(encoding="utf-8")


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value in a file."""
    yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*way, key))


def parent_of(data: Any, way: tuple[Any, ...]) -> Any:
    for key in way[:-1]:
        data = data[key]
    return data


def put(data: Any, way: tuple[Any, ...], chance: random.Random) -> None:
    parent_of(data, way)[way[-1]] = chance.choice(STRANGE)


def drop(data: Any, way: tuple[Any, ...], chance: random.Random) -> None:
    del parent_of(data, way)[way[-1]]


def double(data: Any, way: tuple[Any, ...], chance: random.Random) -> None:
    parent = parent_of(data, way)
    if isinstance(parent, list):
        parent.append(parent[way[-1]])
    else:
        parent[chance.choice(["colour", SECRET, "\ud800", "messages"])] = parent[way[-1]]


def nest(data: Any, way: tuple[Any, ...], chance: random.Random) -> None:
    deep: Any = 1
    for _ in range(chance.choice([3, 300, 900])):
        deep = [deep] if chance.random() < 0.5 else {"a": deep}
    parent_of(data, way)[way[-1]] = deep


CHANGES: tuple[Callable[[Any, tuple[Any, ...], random.Random], None], ...] = (put, put, put, drop, double, nest)


def mutated(whole: str, chance: random.Random) -> bytes:
    if chance.random() < 0.2:  # the bytes themselves
        raw = bytearray(whole.encode())
        for _ in range(chance.randint(1, 4)):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        return bytes(raw[: chance.randrange(len(raw))] if chance.random() < 0.3 else raw)
    data = json.loads(whole)
    for _ in range(chance.randint(1, 3)):
        # A table first, and then something in it: most values are in long lists of passages.
        table = chance.choice([key for key in data if data[key]] or ["what"])
        ways = [(table, *way) for way in places(data.get(table))]
        chance.choice(CHANGES)(data, chance.choice(ways), chance)
    return json.dumps(data, ensure_ascii=True).encode()


@pytest.mark.checklist("F15")
def test_a_damaged_file_gives_errors_of_ours_alone(whole: str, tmp_path: Path) -> None:
    chance = random.Random(20260515)
    refused = 0
    for case in range(CASES):
        path = tmp_path / f"{case}.json"
        path.write_bytes(mutated(whole, chance))
        before = path.read_bytes()
        try:
            with closing(JsonStore(path)) as store:
                store.read(verify)
                store.read(lambda tx: tx.stats(FrozenClock().now()))
            with Memory(f"json:{path}", followers=False, clock=FrozenClock()) as memory:
                memory.search("Berlin", user="alex")
                memory.facts(user="alex")
                memory.conversation("chat", user="alex").history()
        except EverwordError as error:
            refused += 1
            shown = "".join(traceback.format_exception(error))
            assert SECRET not in shown, case
        assert path.read_bytes() == before, case
    assert refused > CASES // 2


def changed(whole: str, change: Callable[[dict[str, Any]], object]) -> str:
    data = json.loads(whole)
    change(data)
    return json.dumps(data)


DAMAGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a number for text": (lambda data: data["messages"][0].update(content=5), r"messages.*row 1: its content is not"),
    "a lone surrogate": (lambda data: data["messages"][1].update(content="\ud800"), r"messages.*row 2"),
    "one in metadata": (lambda data: data["messages"][1].update(metadata={"a": "\ud800"}), r"row 2: its metadata"),
    "metadata that is text": (lambda data: data["messages"][0].update(metadata="{}"), r"row 1: its metadata"),
    "a time without a zone": (lambda data: data["messages"][0].update(time="2024-05-17T09:30:15"), r"row 1: its time"),
    "a number that is too large": (lambda data: data["messages"][0].update(turn=2**70), r"messages"),
    "truth for a number": (lambda data: data["messages"][0].update(turn=True), r"row 1: its turn"),
    "a table of somebody else": (lambda data: data.update(recipes=[]), "a table that everword does not know"),
    "a vector cut short": (lambda data: data["vectors"][0].update(vec="AA=="), r"row 1: its vec is not a vector"),
    "a list of numbers": (lambda data: data["statements"][0].update(sources=[1]), r"row 1: its sources"),
}


@pytest.mark.parametrize(("change", "named"), DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.checklist("F15")
def test_what_is_wrong_is_named_by_table_row_and_column(
    whole: str, tmp_path: Path, change: Callable[[dict[str, Any]], object], named: str
) -> None:
    path = tmp_path / "memory.json"
    path.write_text(changed(whole, change), encoding="utf-8")
    with pytest.raises(StoreError, match=named) as caught:
        JsonStore(path)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
