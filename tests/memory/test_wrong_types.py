"""Whatever a program passes, only errors of ours come out: InvalidInput that names the parameter, and never an
AttributeError or a TypeError from inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from everword import Budget, Client, EverwordError, InvalidInput, Memory
from everword.memory.blocking import BlockingConversation, BlockingDocuments, BlockingMemory
from everword.testing import ScriptedLLM
from everword.testing.serving import Serving

ODD: tuple[Any, ...] = (
    object(),
    7,
    -1,
    10**30,
    7.5,
    float("nan"),
    True,
    "word",
    "",
    b"word",
    ["word"],
    [7],
    {"word": 7},
    {7: "word"},
    datetime(2025, 1, 1),  # noqa: DTZ001
    None,
    Budget,
    lambda: None,
)
FITTING: dict[str, Any] = {
    "namespace": ("notes",),
    "value": "Delft",
    "category": "identity",
    "role": "user",
    "content": "hello",
    "drafts": [{"role": "user", "content": "hello"}],
    "batches": [],
    "changes": [],
    "decide": lambda documents: ([], None),
    "message": 1,
    "score": 1,
    "tags": "tag",
    "name": "UTC",
}
APART = {"open", "close", "run", "settle"}  # what opens and closes; a time to wait may be any number


def methods(kind: type) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each public method: its name, the parameters that it needs, and all it has."""
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if name.startswith("_") or name in APART:
            continue
        parameters = list(inspect.signature(method).parameters.values())[1:]
        required = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
        yield name, required, [p.name for p in parameters if p.kind is not p.VAR_POSITIONAL]


CALLS = [
    (kind, name, required, parameter)
    for kind in (BlockingMemory, BlockingConversation, BlockingDocuments)
    for name, required, parameters in methods(kind)
    for parameter in parameters
]


@pytest.fixture(scope="module")
def faces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[type, Any]]:
    folder: Path = tmp_path_factory.mktemp("types")
    model = ScriptedLLM(["Hello."] * 2_000)
    with Memory(str(folder / "a.db"), chat=model, followers=False) as memory:
        chat = memory.conversation("chat", user="alex")
        chat.add("user", "I live in Delft.")
        yield {BlockingMemory: memory, BlockingConversation: chat, BlockingDocuments: memory.documents()}


def outcome(call: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """What came out that should not: an error that is none of ours."""
    try:
        value = call(**arguments)
        if isinstance(value, Iterator):
            list(value)
    except EverwordError:
        return None
    except Exception as error:  # noqa: BLE001  what the test looks for
        return f"{type(error).__name__}: {error}"
    return None


def escaped_errors(face: Any, name: str, required: list[str], parameter: str, odd: Sequence[Any]) -> list[str]:
    """What a method raises for odd values of one parameter that is no error of ours."""
    given = {need: FITTING.get(need, "alex") for need in required}
    if isinstance(face, BlockingDocuments) and name == "put":
        given["value"] = {"text": "hello"}
    # What a function of the program raises is the program's own.
    values = [value for value in odd if parameter != "decide" or not callable(value)]
    errors = [(value, outcome(getattr(face, name), {**given, parameter: value})) for value in values]
    return [f"{name}({parameter}={value!r}): {error}" for value, error in errors if error is not None]


@pytest.mark.parametrize(
    ("kind", "name", "required", "parameter"), CALLS, ids=[f"{k.__name__}.{n}-{p}" for k, n, _, p in CALLS]
)
def test_a_value_of_a_wrong_type_is_refused_with_an_error_of_ours(
    faces: dict[type, Any], kind: type, name: str, required: list[str], parameter: str
) -> None:
    assert not escaped_errors(faces[kind], name, required, parameter, ODD)


def test_over_http_as_well(tmp_path: Path) -> None:
    with Serving(str(tmp_path / "a.db"), followers=False) as server, Client(server.url) as memory:
        chat = memory.conversation("chat", user="alex")
        places = {BlockingMemory: memory, BlockingConversation: chat, BlockingDocuments: memory.documents()}
        for kind, name, required, parameter in CALLS:
            assert not escaped_errors(places[kind], name, required, parameter, (object(), 7))


def test_a_budget_may_be_named(faces: dict[type, Any]) -> None:
    chat: BlockingConversation = faces[BlockingConversation]
    assert chat.context("Hello?", budget="compact").receipt.budget == Budget.compact()
    assert chat.context("Hello?", budget="standard").receipt.budget == Budget()
    with pytest.raises(InvalidInput, match='budget: must be a Budget, "standard" or "compact", not \'small\''):
        chat.context("Hello?", budget="small")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="budget: has a field `total` that is not a whole number of tokens"):
        chat.reply("Hello?", budget=Budget(total="8000"))  # type: ignore[arg-type]


def test_metadata_that_holds_itself_or_is_too_deep_is_refused(faces: dict[type, Any]) -> None:
    chat: BlockingConversation = faces[BlockingConversation]
    itself: dict[str, Any] = {}
    itself["again"] = [itself, itself]
    deep: dict[str, Any] = {}
    for _ in range(10_000):
        deep = {"deep": deep}
    doubled: Any = "x"
    for _ in range(40):
        doubled = [doubled, doubled]  # a few lists, and 2**40 values as JSON
    for metadata, reason in ((itself, "64 levels"), (deep, "64 levels"), ({"a": doubled}, "524,288 values")):
        with pytest.raises(InvalidInput, match=reason):
            chat.add("user", "hello", metadata=metadata)
        with pytest.raises(InvalidInput, match=reason):
            faces[BlockingDocuments].put(("notes",), "a", metadata)
    nested: Any = "x"
    for _ in range(63):
        nested = [nested]
    assert chat.add("user", "hello", metadata={"nested": nested}).metadata == {"nested": nested}
