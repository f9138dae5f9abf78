"""Whatever a user can name is described: public names, parameters, settings, routes, tools and commands. What the pages
name is there."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

import everword
from everword import AsyncMemory, BlockingConversation, BlockingDocuments, Client, Memory, wrap
from everword.cli.main import program
from everword.config import Settings
from everword.server.app import create_app
from everword.server.mcp.tools import build_server, local_caller
from everword.server.routes.shapes import DESCRIPTIONS

ROOT = Path(__file__).parents[2]
REFERENCE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
EXAMPLES = "\n".join(re.findall(r"(?ms)^```python\n(.*?)^```", REFERENCE))
FACES = (Memory, BlockingConversation, BlockingDocuments)
METHODS = [
    (name, method)
    for face in FACES
    for name, method in inspect.getmembers(face, inspect.isfunction)
    if not name.startswith("_")
]
BLOCK = re.compile(r"(?ms)^ *```.*?^ *```|^\| `everword_.*?$")  # code, and metrics as each library spells them
# Not ours, or invented.
FOREIGN = {
    "pg_xact_status",
    "citus_create_restore_point",
    "set_default_openai_api",
    "client_id",
    "pool_mode",
    "bass_guitar",
}


@pytest.mark.parametrize("name", everword.__all__)
def test_a_public_name_has_a_description_and_an_example(name: str) -> None:
    value = getattr(everword, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        about = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
        assert about, "has no docstring of its own"
        assert not about.startswith(f"{name}("), "has only the docstring that a dataclass makes"
    assert f"::: everword.{name}\n" in REFERENCE
    assert re.search(rf"\b{name}\b", EXAMPLES), "is in no example of docs/python.md"


@pytest.mark.parametrize(("name", "method"), METHODS, ids=[name for name, _ in METHODS])
def test_a_method_and_its_parameters_are_described(name: str, method: Any) -> None:
    about = inspect.getdoc(method)
    assert about
    assert re.search(rf"\.{name}\b", EXAMPLES) or name == "run", "is in no example of docs/python.md"
    for parameter in list(inspect.signature(method).parameters)[1:]:
        text = DESCRIPTIONS["arguments_of"].get(f"{name}.{parameter}") or DESCRIPTIONS["arguments"].get(parameter)
        assert text or f"`{parameter}`" in about, parameter


@pytest.mark.parametrize("made", [Memory, AsyncMemory, Client, wrap], ids=lambda made: str(made.__name__))
def test_what_a_memory_is_made_with_is_described(made: Any) -> None:
    about = inspect.getdoc(made) or ""
    assert [name for name in inspect.signature(made).parameters if f"`{name}`" not in about] == []


def test_no_description_is_of_an_argument_that_is_gone() -> None:
    methods = {f"{name}.{parameter}" for name, method in METHODS for parameter in inspect.signature(method).parameters}
    assert {key for key in DESCRIPTIONS["arguments_of"] if key not in methods} == set()


def test_every_setting_is_described() -> None:
    assert [field.name for field in fields(Settings) if not field.metadata.get("about")] == []


def test_every_route_and_its_arguments_are_described() -> None:
    page = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")
    document = create_app(AsyncMemory("never opened")).openapi()
    for path, methods in document["paths"].items():
        for method, route in methods.items():
            assert route.get("description"), (method, path)
            assert f"### `{method.upper()} {path}`\n" in page, (method, path)
            arguments = {argument["name"]: argument for argument in route.get("parameters", ())}
            body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            arguments |= (
                document["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], {}).get("properties", {})
            )
            assert [name for name, argument in arguments.items() if not argument.get("description")] == [], path


def test_every_tool_and_its_arguments_are_described() -> None:
    tools = asyncio.run(build_server(AsyncMemory("never opened"), local_caller("default", None)).list_tools())
    assert len(tools) > 10
    for tool in tools:
        assert tool.description
        assert all(argument.get("description") for argument in tool.input_schema["properties"].values()), tool.name


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """A command, with those below it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, f"{path} {name}")


def test_every_command_and_its_parameters_are_described() -> None:
    missing: list[str] = []
    for path, command in commands(program, "everword"):
        about = command.help or ""
        assert about, path
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                is_described = bool(parameter.help) or parameter.hidden
            else:
                is_described = argument_name(parameter) in about
            if not is_described:
                missing.append(f"{path} {parameter.name}")
    assert missing == []


def argument_name(parameter: click.Parameter) -> str:
    """An argument as the first line of a help text has it: `FILE`."""
    return (parameter.metavar or str(parameter.name).upper()).strip("[].")


def test_every_name_of_code_that_a_page_quotes_is_in_the_code() -> None:
    """Names with an underscore, in `quotes`: settings, arguments, tools, files of tests."""
    folders = ("src", "benchmarks", "tests", "scripts", "examples")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.*") if "__pycache__" not in file.parts]
    code = {file.stem for file in files} | FOREIGN
    code |= set(re.findall(r"\w+_\w+", (ROOT / "Makefile").read_text(encoding="utf-8")))
    for file in files:
        if file.suffix in (".py", ".toml", ".txt", ".re", ".sql", ".html"):
            code |= set(re.findall(r"\w+_\w+", file.read_text(encoding="utf-8")))
    wrong = {
        (page.name, name)
        for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
        for quote in re.findall(r"`([^`\n]+)`", BLOCK.sub("", page.read_text(encoding="utf-8")))
        for name in re.findall(r"\b[a-z]\w*_\w+", quote)
        if name not in code
    }
    assert {(page, name) for page, name in wrong if not name.endswith("_NAME")} == set()
