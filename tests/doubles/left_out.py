"""A plugin of pytest: tests are left out where there is no browser, and the caller is told; in CI nothing is left out.

A test marked `browser` needs chromium. Where it is missing the test is left out, everything else runs, and that is said
at the very end, with the line that brings it. In CI (`CI=true`) such a test fails, and a run in which any test was
skipped fails as a whole.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

CHOSEN = "EVERWORD_TEST_CHROMIUM"  # the browser that the caller names
NOTE_FILE = "EVERWORD_TEST_LEFT_OUT"  # where `make test` wants to have it noted, to say it after all parts
NAMES = ("chromium-headless-shell", "chromium")  # the first shows the same pages with two thirds of the work
MARKER = "browser"
BRINGS = "sudo apt-get install chromium"
NOTE = pytest.StashKey[str]()


def find_chromium() -> str | None:
    """The browser that tests use; None where there is none. One that the caller names is the only one."""
    chosen = os.environ.get(CHOSEN)
    return next(filter(None, map(shutil.which, (chosen,) if chosen else NAMES)), None)


def is_in_ci() -> bool:
    return os.environ.get("CI") == "true"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take out the tests that need a browser, if there is none, and note how many. Where the caller names a browser
    they stay, and fail if it is not there."""
    needing = [item for item in items if item.get_closest_marker(MARKER) is not None]
    if not needing or is_in_ci() or os.environ.get(CHOSEN) or find_chromium() is not None:
        return
    items[:] = [item for item in items if item not in needing]
    config.hook.pytest_deselected(items=needing)
    config.stash[NOTE] = (
        f"Left out: {len(needing)} tests of the dashboard in a browser, since chromium is missing. "
        f"This line brings it: {BRINGS}"
    )


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out; `make test` says it itself, after all parts of the suite."""
    note = terminalreporter.config.stash.get(NOTE, None)
    if note is None:
        return
    if place := os.environ.get(NOTE_FILE):
        Path(place).write_text(f"{note}\n", encoding="utf-8")
    else:
        terminalreporter.write_line(note)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI, a run in which a test was skipped has failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not is_in_ci():
        return
    skipped = reporter.stats.get("skipped", [])
    for report in skipped:
        reporter.write_line(f"skipped, which is a failure in CI: {report.nodeid}")
    if skipped and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
