"""A real browser for the dashboard: Debian's chromium, driven by Playwright; its headless shell, where that is there.

    with open_browser() as browser:
        page = browser.new_page()

Where it is missing, its tests are left out (`left_out`), or in CI fail and say what to install (`make browser`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from left_out import BRINGS, find_chromium
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

AXE = Path(__file__).parents[1] / "server" / "axe" / "axe.min.js"
SERIOUS = ("serious", "critical")
WCAG = "{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}"
CONTRAST = "{type: 'rule', values: ['color-contrast']}"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-software-rasterizer",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    # Less work for pages that nobody looks at: none of them is kept, or painted by a thread of its own.
    "--disable-features=SpareRendererForSitePerProcess,BackForwardCache,IsolateOrigins,site-per-process",
    "--disable-site-isolation-trials",
    "--disable-lcd-text",
    "--renderer-process-limit=1",
)
PATIENCE = 60_000  # milliseconds to wait for what a page is to show: other tests may need the machine, too
LEFT = ("htmx:sendAbort", "htmx:sendError")  # a request of the page that the test left while it was under way
MISSING = f"chromium is missing: run `make browser` as root, or `{BRINGS}`"


@contextmanager
def open_browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    chromium = find_chromium()
    if chromium is None:
        raise FileNotFoundError(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


class PageWatch:
    """Notes what goes wrong on a page: errors of scripts, of its policy and of loading, and requests to other hosts."""

    def __init__(self, page: Page, url: str) -> None:
        self.faults: list[str] = []
        self._host = urlsplit(url).netloc
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", self._note_request)
        page.on("dialog", lambda dialog: self.faults.append(f"dialog: {dialog.message}"))

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(LEFT):
            self.faults.append(f"console: {message.text}")

    def _note_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != self._host:
            self.faults.append(f"request: {request.url}")


def overflow_of(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    width: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return width


class AccessibilityCheck:
    """axe-core, loaded once into a page of ours, which then shows the bodies of other pages as they were: so it checks
    a page in a fifth of the time that it takes to load it into each of them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        page.evaluate(AXE.read_text(encoding="utf-8"))

    def faults(self, body: str, rules: str = WCAG) -> list[str]:
        """What axe-core finds on a page with this body that is serious."""
        self.page.evaluate("(body) => { document.body.innerHTML = body; }", body)
        options = f"{{resultTypes: ['violations'], preload: false, iframes: false, runOnly: {rules}}}"
        violations = self.page.evaluate(f"axe.run(document, {options}).then((result) => result.violations)")
        return [
            f"{violation['id']}: {node['html'][:200]}"
            for violation in violations
            if violation["impact"] in SERIOUS
            for node in violation["nodes"]
        ]


def body_of(page: Page) -> str:
    """The body of a page as it is now, after its scripts have run."""
    body: str = page.evaluate("document.body.innerHTML")
    return body
