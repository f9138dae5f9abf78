"""Docs that run: every Python example is executed, every link leads somewhere, every generated page is up to date."""

from __future__ import annotations

import contextlib
import io
import os
import pkgutil
import re
import runpy
from dataclasses import fields
from functools import cache
from pathlib import Path

import click
import pytest

from everword import Memory
from everword.cli.main import program
from everword.config import PREFIX, Settings

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "everword"
FILES_OF_A_USER = {"everword.db", "everword.toml"}
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md", *DOCS]
GENERATED = ("cli.md", "rest.md", "settings.md", "tools.md")
EXAMPLE = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
ROW = re.compile(r"^\| ([A-G]\d+) \|[^|]*\| (.*?) \|$", re.MULTILINE)
WHOLE = tuple(f"G{n}" for n in range(1, 25))  # what was found later, by its numbers
QUOTE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w./-]*/[\w.-]+\.py\b")
NAME = re.compile(r"(?<![\w./-])everword(?:\.[A-Za-z_]\w*)+")
METRICS = "| `everword_"  # the rows that name a metric as each library spells it
PROOF = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def examples(page: Path) -> list[tuple[str, str]]:
    """Each Python example with what it prints: the block of text right after it, if there is one."""
    return EXAMPLE.findall(page.read_text(encoding="utf-8"))


WITH_EXAMPLES = [page for page in PAGES if examples(page)]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.name)
def test_every_example_runs_and_prints_what_the_page_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # As in the environment of all tests, which not every program that an example starts is given.
    (tmp_path / "everword.toml").write_text("index_seconds = 60\n", encoding="utf-8")
    with Memory("shown.db") as memory:
        names: dict[str, object] = {"memory": memory}
        for number, (code, shown) in enumerate(examples(page), 1):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, f"{page.name}, example {number}", "exec"), names)
            assert printed.getvalue() == shown, "show what an example prints, in a block of text right after it"
    assert list(tmp_path.glob("*.db"))


def test_the_first_page_and_the_tutorial_show_what_they_print() -> None:
    for name in ("README.md", "docs/tutorial.md"):
        assert all(shown for _, shown in examples(ROOT / name)), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_code_ends_on_a_line_of_its_own(page: Path) -> None:
    assert re.findall(r"(?m)^.*\S.*```$", page.read_text(encoding="utf-8")) == []


def test_the_readme_is_short_and_opens_with_the_two_commands() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 150
    first_screen = "\n".join(lines[:15])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_generated_pages_are_up_to_date() -> None:
    reference = runpy.run_path(str(ROOT / "scripts" / "reference.py"))
    assert sorted(reference["PAGES"]) == sorted(GENERATED)
    assert reference["outdated"]() == [], "run `make docs`"


def test_every_command_in_the_readme_exists() -> None:
    from everword.cli.main import COMMANDS

    named = set(re.findall(r"^everword ([a-z]+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= set(COMMANDS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_name_and_command_that_a_page_quotes_exists(page: Path) -> None:
    """Files as seen from the root or from the package; names of the package; `everword COMMAND`."""
    from everword.cli.main import COMMANDS

    lines = page.read_text(encoding="utf-8").splitlines()
    quotes = [quote for line in lines if not line.startswith(METRICS) for quote in QUOTE.findall(line)]
    files = {file for quote in quotes for file in FILE.findall(quote) if "NAME" not in file}
    assert {file for file in files if not any((base / file).exists() for base in (ROOT, SOURCE))} == set()
    names = {name for quote in quotes for name in NAME.findall(quote) if name not in FILES_OF_A_USER}
    assert {name for name in names if not is_importable(name)} == set()
    commands = {command for quote in quotes for command in re.findall(r"^everword ([a-z]+)", quote)}
    assert commands - set(COMMANDS) == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_and_variable_that_a_page_shows_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"(?m)(?:^ *|`)everword ((?!bench)[a-z]+)([^`\n]*)", text)
    wrong = {
        f"everword {command} {option}"
        for command, rest in shown
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", rest.partition("#")[0].partition("&&")[0])
        if option not in options_of(command)
    }
    assert wrong == set()
    known = known_variables()
    named = {name for name in re.findall(r"\bEVERWORD_[A-Z_]+", text) if not name.startswith("EVERWORD_TEST_")}
    assert {name for name in named if name.rstrip("_") not in known and name != PREFIX} == set()


@cache
def known_variables() -> set[str]:
    files = (SOURCE / "config.py", SOURCE / "cli" / "serve.py", *(SOURCE / "agents").glob("*.py"))
    source = "".join(file.read_text(encoding="utf-8") for file in files)
    return {PREFIX + field.name.upper() for field in fields(Settings)} | set(re.findall(r"EVERWORD_[A-Z_]+", source))


def test_every_route_that_a_page_names_exists() -> None:
    """The routes there are head the sections of rest.md, which the test of generated pages compares with the server."""
    headings = re.findall(r"(?m)^### `([A-Z]+) (/.*)`$", (ROOT / "docs" / "rest.md").read_text(encoding="utf-8"))
    routes = [(method, re.sub(r"\{[^}]*\}", r"[^/]+", path)) for method, path in headings]
    named = {
        (page.name, *route)
        for page in (ROOT / "README.md", *DOCS)
        for route in re.findall(r"\b(GET|POST|PUT|PATCH|DELETE) (/[\w{}/-]+)", page.read_text(encoding="utf-8"))
    }
    assert len(named) > 60
    assert [
        (page, method, path)
        for page, method, path in sorted(named)
        if not any(method == verb and re.fullmatch(route, path) for verb, route in routes)
    ] == []


def options_of(name: str) -> set[str]:
    """The options of a command, with those of the commands below it and those of all."""
    command = program.get_command(click.Context(program), name)
    assert command is not None, name
    commands = [program, command, *getattr(command, "commands", {}).values()]
    return {"--help"} | {
        option
        for shown in commands
        for parameter in shown.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


def test_the_docs_stay_short() -> None:
    """Prose: without code, and without what is generated: four pages, and what `:::` stands for on that of Python."""
    pages = [page.read_text(encoding="utf-8") for page in DOCS if page.name not in GENERATED]
    words = sum(len(re.sub(r"(?ms)^ *```.*?^ *```|^:::.*?$|^    options:.*?$", "", page).split()) for page in pages)
    print(words, "words of prose in docs/")  # pytest -rP shows it
    assert words <= 35_000, f"{words} words besides code"


def is_importable(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_every_row_of_the_checklist_names_a_test_that_proves_it() -> None:
    rows = ROW.findall((ROOT / "docs" / "checklist.md").read_text(encoding="utf-8"))
    counts = {"A": 14, "B": 14, "C": 15, "D": 12, "E": 10, "F": 18}
    numbered = [f"{letter}{n}" for letter, count in counts.items() for n in range(1, count + 1)]
    assert sorted(id for id, _ in rows) == sorted([*numbered, *WHOLE])
    for id, proof in rows:
        named = PROOF.findall(proof)
        assert named, f"{id} names no test"
        assert "not yet" not in proof, f"{id} is not proved"
        for file, name in named:
            check_proof(id, ROOT / file, name)


@cache
def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def check_proof(id: str, file: Path, name: str) -> None:
    """The test is there and carries the row's id, in its marker, its docstring or its module's."""
    source = text_of(file)
    definition = source.find(f"def {name}(")
    found = re.compile(
        rf"(?:@pytest\.mark\.checklist\((?P<ids>[^)]*)\)\s+)?(?:async )?def {name}\(.*?"
        r"(?=\n *(?:@|(?:async )?def |class )|\Z)",
        re.DOTALL,
    ).search(source, max(source.rfind("\n\n", 0, definition), 0))
    assert found, f"{id}: there is no {name} in {file.name}"
    opening = source.split('"""', 2)[1] if source.startswith('"""') else ""
    assert re.search(rf"(?<![A-Za-z0-9]){id}(?![0-9])", found[0] + "\n" + opening), f"{name} does not carry the id {id}"


@pytest.mark.parametrize("name", ["guarantees.md", "security.md"])
def test_every_guarantee_names_a_test(name: str) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    proofs = PROOF.findall(page)
    assert len(proofs) >= 10
    for file, test in proofs:
        assert re.search(rf"def {test}\(", (ROOT / file).read_text(encoding="utf-8")), f"{file}::{test}"


def test_the_distilling_script_can_be_read_without_its_heavy_parts() -> None:
    before = dict(os.environ)
    names = runpy.run_path(str(ROOT / "scripts" / "distill.py"), run_name="distill")
    assert callable(names["main"])
    assert dict(os.environ) == before
