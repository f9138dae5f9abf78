"""Writes the reference pages in docs/ from the code: settings, cli, rest and tools. A test fails if one is out of date.

python scripts/reference.py [--check]
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from everword import AsyncMemory
from everword.cli.main import program
from everword.config import PREFIX, Secret, Settings
from everword.server.app import create_app
from everword.server.mcp.tools import build_server, local_caller

DOCS = Path(__file__).parents[1] / "docs"
WIDTH = 100  # columns of the help texts
EVERYWHERE = ("  --store ", "  --space ", "  -h, --help ")  # options of nearly every command, told once


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "`make docs` generates this page from `everword.config`.",
        "",
        "For each setting, the first of these values applies: the argument in code (`Memory(store=…)`), the",
        "environment variable, the value in `everword.toml`, the default. The file `everword.toml` is in the working",
        "directory, unless `EVERWORD_CONFIG` names another file. `everword settings` shows each value and its source.",
        "",
        "| setting | environment | default | meaning |",
        "|---|---|---|---|",
    ]
    for field in fields(Settings):
        default = "" if isinstance(field.default, Secret) else str(field.default)
        if isinstance(field.default, bool):
            default = default.lower()
        shown = f"`{default}`" if default else "none"
        lines.append(f"| `{field.name}` | `{PREFIX}{field.name.upper()}` | {shown} | {field.metadata['about']} |")
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    lines = [
        "# Command line",
        "",
        "`make docs` generates this page from `everword --help`. Nearly every command also takes",
        "`--store URL`, `--space NAME` and `--help`, which are not repeated below.",
        "",
        *block(program, None, "everword"),
    ]
    root = click.Context(program, info_name="everword", terminal_width=WIDTH, max_content_width=WIDTH)
    for name in program.list_commands(root):
        command = program.get_command(root, name)
        if command is not None and not command.hidden:
            lines += ["", f"## everword {name}", "", *without_common_options(block(command, root, name))]
        if isinstance(command, click.Group):
            parent = click.Context(command, root, name)
            for subname, subcommand in sorted(command.commands.items()):
                if not subcommand.hidden:
                    help_lines = without_common_options(block(subcommand, parent, subname))
                    lines += ["", f"### everword {name} {subname}", "", *help_lines]
    return "\n".join(lines) + "\n"


def block(command: click.Command, parent: click.Context | None, name: str) -> list[str]:
    names = list(program.context_settings["help_option_names"])
    context = click.Context(
        command, parent, name, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=names
    )
    return ["```", *(line.rstrip() for line in command.get_help(context).splitlines()), "```"]


def without_common_options(lines: list[str]) -> list[str]:
    """A help text without the options of every command, and without a heading that is left with none."""
    options = lines.index("Options:") if "Options:" in lines else 0
    kept = lines[:options]
    is_common = False
    for line in lines[options:]:
        continues = is_common and line.startswith(" " * 8)
        is_common = line.startswith(EVERYWHERE) or continues
        if not is_common:
            kept.append(line)
    if kept[-2:-1] == ["Options:"]:
        del kept[-3:-1]
    return kept


Schema = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
OF_EVERY_ROUTE = (("query", "space"), ("header", "X-Everword-Space"), ("header", "Idempotency-Key"))  # told once


def rest_page() -> str:
    description = create_app(AsyncMemory()).openapi()  # which opens no store
    lines = [
        "# REST API",
        "",
        "`make docs` generates this page from the server's API description. See [the server](server.md) for examples,",
        "keys and errors. A running server shows its API description at `/docs`, with the answers of each route.",
        "",
        "In the tables, a question mark marks an optional argument. If the path of a route does not name a space, name",
        "the space in the header `X-Everword-Space` or in the query parameter `space`. Most writes accept the",
        "header `Idempotency-Key`; the exceptions are archiving messages, changing names or time zones, and the",
        "endpoints of OpenAI's and Anthropic's APIs.",
    ]
    routes = [
        (f"{method.upper()} {path}", route)
        for path, methods in description["paths"].items()
        for method, route in methods.items()
        if method in METHODS
    ]
    for tag in description["tags"]:
        lines += ["", f"## {tag['name'][:1].upper()}{tag['name'][1:]}", "", tag["description"]]
        for name, route in routes:
            if tag["name"] in route["tags"]:
                lines += ["", f"### `{name}`", "", route["description"]]
                lines += arguments_table(rest_arguments(name, route, description))
    return "\n".join(lines) + "\n"


def rest_arguments(path: str, route: Schema, description: Schema) -> Iterator[tuple[str, str, str, str]]:
    """The arguments of a route: name, where it goes, type and meaning."""
    for argument in route.get("parameters", ()):
        if (argument["in"], argument["name"]) in OF_EVERY_ROUTE:
            continue
        name = argument["name"] + ("" if argument.get("required") else "?")
        yield name, argument["in"], type_name(argument["schema"]), argument["description"]
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    schema = description["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], body)
    author = "Anthropic" if "/anthropic/" in path else "OpenAI"
    for name, field in schema.get("properties", {}).items():
        shown = name if name in schema.get("required", ()) else f"{name}?"
        yield shown, "body", type_name(field), field.get("description", f"as {author} describes it")


def tools_page() -> str:
    tools = asyncio.run(build_server(AsyncMemory(), local_caller("default", None)).list_tools())
    lines = [
        "# MCP tools",
        "",
        "`make docs` generates this page from the MCP server. To connect an MCP client, see [MCP](mcp.md).",
    ]
    for tool in tools:
        schema = tool.input_schema
        arguments = (
            (name if name in schema.get("required", ()) else f"{name}?", "", type_name(field), field["description"])
            for name, field in schema["properties"].items()
        )
        lines += ["", f"## `{tool.name}`", "", tool.description or "", "", tool_kind(tool.annotations)]
        lines += arguments_table(arguments)
    return "\n".join(lines) + "\n"


def tool_kind(hints: Any) -> str:
    """What a client may know of a tool before it calls it."""
    if hints.read_only_hint:
        return "*This tool only reads.*"
    return "*This tool changes or removes data.*" if hints.destructive_hint else "*This tool only adds data.*"


def arguments_table(arguments: Iterable[tuple[str, str, str, str]]) -> list[str]:
    """A table of arguments; a question mark marks those that are optional."""
    rows = [
        f"| `{name}` | {', '.join(filter(None, (kind, where)))} | {' '.join(about.split())} |"
        for name, where, kind, about in arguments
    ]
    return ["", "| argument | type | meaning |", "|---|---|---|", *rows] if rows else []


def type_name(schema: Schema) -> str:
    """A JSON schema in a word or two."""
    if "anyOf" in schema:
        names = dict.fromkeys(type_name(choice) for choice in schema["anyOf"] if choice.get("type") != "null")
        return " or ".join(names)
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if isinstance(schema.get("type"), list):
        return " or ".join(name for name in schema["type"] if name != "null")
    if schema.get("type") == "array":
        return f"list of {type_name(schema.get('items', {}))}"
    formats = {"date-time": "time", "date": "date"}
    return formats.get(schema.get("format", "")) or str(schema.get("type", "object"))


PAGES = {"settings.md": settings_page, "cli.md": cli_page, "rest.md": rest_page, "tools.md": tools_page}


def outdated() -> list[str]:
    """The pages that differ from what the code says."""
    return [
        name
        for name, page in PAGES.items()
        if not (DOCS / name).exists() or (DOCS / name).read_text(encoding="utf-8") != page()
    ]


def main() -> None:
    stale = outdated()
    if "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; run `make docs`" if stale else 0)
    for name in stale:
        (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
        print(f"wrote docs/{name}")


if __name__ == "__main__":
    main()
