"""Where there is no browser everything else runs, and the caller is told at the very end; in CI that is a failure."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from left_out import BRINGS, NOTE_FILE

ROOT = Path(__file__).parents[2]
NOTE = f"Left out: 1 tests of the dashboard in a browser, since chromium is missing. This line brings it: {BRINGS}"
TESTS = """
import pytest
from left_out import find_chromium

@pytest.mark.browser
def test_shown():
    assert find_chromium() is not None

def test_other():
    pass

@pytest.mark.skipif({skips}, reason="to be seen")
def test_skipped():
    pass
"""
TOOLS = ("cat", "make", "rm", "sed", "seq", "sh", "test")


def make_program(folder: Path, name: str, text: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder of programs: the only one that is searched."""
    folder = tmp_path / "programs"
    folder.mkdir()
    return folder


# -- pytest


def run_pytest(
    tmp_path: Path, path: Path, environment: dict[str, str], skips: bool = False
) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "test_few.py"
    file.write_text(TESTS.format(skips=skips), encoding="utf-8")
    options = ["-p", "left_out", "-p", "no:cacheprovider", "-o", "markers=browser", "--rootdir", str(tmp_path)]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(file)],
        env={
            "PATH": str(path),
            "PYTHONPATH": str(ROOT / "tests" / "doubles"),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            **environment,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_browser_its_tests_are_left_out_and_the_end_says_so(tmp_path: Path, path: Path) -> None:
    run = run_pytest(tmp_path, path, {})
    assert run.returncode == 0
    assert "2 passed, 1 deselected" in run.stdout
    assert NOTE in run.stdout
    noted = run_pytest(tmp_path, path, {NOTE_FILE: str(tmp_path / "note")})
    assert NOTE not in noted.stdout, "who wants it noted says it"
    assert (tmp_path / "note").read_text(encoding="utf-8") == f"{NOTE}\n"


def test_with_a_browser_nothing_is_left_out(tmp_path: Path, path: Path) -> None:
    make_program(path, "chromium", "")
    run = run_pytest(tmp_path, path, {"CI": "true"})
    assert (run.returncode, "3 passed" in run.stdout, "Left out" in run.stdout) == (0, True, False)


def test_a_browser_that_is_named_must_be_there(tmp_path: Path, path: Path) -> None:
    assert run_pytest(tmp_path, path, {"EVERWORD_TEST_CHROMIUM": "none"}).returncode == 1


def test_in_ci_a_missing_browser_and_a_skipped_test_are_failures(tmp_path: Path, path: Path) -> None:
    missing = run_pytest(tmp_path, path, {"CI": "true"})
    assert (missing.returncode, "1 failed, 2 passed" in missing.stdout) == (1, True)
    make_program(path, "chromium", "")
    skipping = run_pytest(tmp_path, path, {"CI": "true"}, skips=True)
    assert (skipping.returncode, "skipped, which is a failure in CI" in skipping.stdout) == (1, True)
    assert run_pytest(tmp_path, path, {}, skips=True).returncode == 0


# -- make


def run_make(
    tmp_path: Path, path: Path, *, user: int, installs: bool = False, status: int = 0, goal: str = "test", **more: str
) -> subprocess.CompletedProcess[str]:
    """`make test` by a user with this number, whose suite is four parts that only note and say something."""
    for tool in TOOLS:
        if not (path / tool).exists():
            (path / tool).symlink_to(shutil.which(tool) or tool)
    make_program(path, "id", f"echo {user}")
    make_program(path, "apt-get", f"echo apt-get $1; {'true' if installs else 'false'}")
    environment = tmp_path / "venv"
    (environment / "bin").mkdir(parents=True, exist_ok=True)
    has_browser = "command -v chromium >/dev/null"
    note = f"echo '{NOTE}' > $EVERWORD_TEST_LEFT_OUT"
    make_program(environment / "bin", "pytest", f"{has_browser} || {note}; echo part $2; exit {status}")
    for name in ("bin/python", ".dev"):
        (environment / name).touch()
    return subprocess.run(
        ["make", "-f", str(ROOT / "Makefile"), goal, f"VENV={environment}"],
        env={"PATH": str(path), "HOME": str(tmp_path), **more},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def last_line(run: subprocess.CompletedProcess[str]) -> str:
    return run.stdout.splitlines()[-1]


@pytest.mark.parametrize("user", [0, 1000])
def test_make_runs_everything_else_and_says_last_what_was_left_out(tmp_path: Path, path: Path, user: int) -> None:
    """For root it is so if the browser cannot be installed."""
    run = run_make(tmp_path, path, user=user)
    assert run.returncode == 0, run.stderr
    assert all(f"part {number}/4" in run.stdout for number in (1, 2, 3, 4))
    assert last_line(run) == NOTE
    assert ("apt-get update" in run.stdout) == (user == 0)
    failing = run_make(tmp_path, path, user=user, status=1)
    assert (failing.returncode, last_line(failing)) == (2, NOTE)


def test_make_says_nothing_of_the_kind_where_a_browser_is(tmp_path: Path, path: Path) -> None:
    run_make(tmp_path, path, user=1000)
    make_program(path, "chromium", "")
    run = run_make(tmp_path, path, user=1000, CI="true")
    assert (run.returncode, "Left out" in run.stdout) == (0, False)


def test_make_installs_a_browser_for_root(tmp_path: Path, path: Path) -> None:
    run = run_make(tmp_path, path, user=0, installs=True, CI="true")
    assert (run.returncode, "part 1/4" in run.stdout) == (0, True)


@pytest.mark.parametrize("user", [0, 1000])
def test_make_stops_in_ci_where_there_is_no_browser(tmp_path: Path, path: Path, user: int) -> None:
    run = run_make(tmp_path, path, user=user, CI="true")
    assert (run.returncode, "part 1/4" in run.stdout) == (2, False)
    assert BRINGS in run.stderr
    assert run_make(tmp_path, path, user=user, goal="browser").returncode == 2
