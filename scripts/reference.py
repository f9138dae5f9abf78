"""Writes the reference pages from the code: docs/settings.md and docs/cli.md. A test fails if they are out of date.

python scripts/reference.py [--check]
"""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

import click

from everword.cli.main import program
from everword.config import PREFIX, Secret, Settings

DOCS = Path(__file__).parents[1] / "docs"
WIDTH = 100  # columns of the help texts
EVERYWHERE = ("  --store ", "  --space ", "  --help ")  # options of nearly every command, told once


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "Generated from `everword.config` by `make docs`.",
        "",
        "A value comes from the argument in code (`Memory(store=…)`), else from the environment, else from",
        "`everword.toml` in the working directory (or the file that `EVERWORD_CONFIG` names), else from the default.",
        "`everword settings` shows what is in force and where it comes from.",
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
        "Generated from `everword --help` by `make docs`. Nearly every command also takes",
        "`--store URL`, `--space NAME` and `--help`, which are not repeated below.",
        "",
        *block(program, None, "everword"),
    ]
    root = click.Context(program, info_name="everword", terminal_width=WIDTH, max_content_width=WIDTH)
    for name in program.list_commands(root):
        command = program.get_command(root, name)
        if command is not None and not command.hidden:
            lines += ["", f"## everword {name}", "", *without_common_options(block(command, root, name))]
    return "\n".join(lines) + "\n"


def block(command: click.Command, parent: click.Context | None, name: str) -> list[str]:
    context = click.Context(command, parent=parent, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH)
    return ["```", *(line.rstrip() for line in command.get_help(context).splitlines()), "```"]


def without_common_options(lines: list[str]) -> list[str]:
    """A help text without the options of every command, and without a heading that is left with none."""
    kept: list[str] = []
    is_common = False
    for line in lines:
        continues = is_common and line.startswith(" " * 8)
        is_common = line.startswith(EVERYWHERE) or continues
        if not is_common:
            kept.append(line)
    if kept[-2:-1] == ["Options:"]:
        del kept[-3:-1]
    return kept


PAGES = {"settings.md": settings_page, "cli.md": cli_page}


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
