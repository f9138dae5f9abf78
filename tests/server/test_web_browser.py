"""The dashboard in a real browser: every page at the width of a desk and of a phone, its main flows, and hostile text.

One store of over a thousand messages that every view has read (in `make test-all` of thousands), one server and one
browser serve all tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from browser import CONTRAST, PATIENCE, AccessibilityCheck, PageWatch, body_of, open_browser, overflow_of
from dashboard_store import CHAT, EACH, LONG, REPLY, fill_store
from fastapi.routing import iter_route_contexts
from hostile_pages import IDS, TEXTS
from hostile_store import CHATS, SPACE, HostilePlaces, fill_hostile_store, hostile_pages
from page_reader import faults_in
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect
from sample_sizes import is_whole

from everword.server.keys import COOKIE, Sessions, create_key, is_page
from everword.testing.serving import Serving

pytestmark = pytest.mark.browser
MESSAGES = 5_000 if is_whole else 500
DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
SPOTS = "What did I say about the spots on the leaves?"
# Every page, by its path without parameters; the test fails if a page of the dashboard is not among them.
PAGES = (
    "/",
    "/?from=2024-01-01&to=2024-02-01",
    "/web/find?query=brown+spots",
    "/web/spaces",
    "/web/conversations",
    f"/web/conversation?id={CHAT}&turn=13",
    f"/web/conversation?id={LONG}",
    f"/web/message?conversation={CHAT}&turn={REPLY}",
    f"/web/context?conversation={CHAT}&text={quote(SPOTS)}&other=700",
    f"/web/playground?conversation={CHAT}&text={quote(SPOTS)}",
    f"/web/replies?conversation={CHAT}",
    f"/web/reply?conversation={CHAT}&turn={REPLY}",
    f"/web/search?query=brown+spots&conversation={CHAT}&turn=1",
    "/web/people",
    "/web/person?id=marta",
    "/web/person?id=noor&channel=bakery",
    "/web/person?id=marta&order=time",
    "/web/people?name=guest&after=guest-030",
    "/web/person/refused?id=marta",
    "/web/person/digests?id=noor",
    "/web/topics",
    "/web/episodes?user=bram",
    "/web/fact?user=marta&id={fact}",
    f"/web/topics?conversation={LONG}",
    f"/web/topic?conversation={CHAT}&id=t1",
    f"/web/episodes?conversation={LONG}",
    f"/web/episode?conversation={CHAT}&level=1&first=1",
    "/web/import",
    "/web/integrity",
    "/web/erase?user=marta",
    "/web/keys",
    "/web/settings",
    "/docs",
)
# Parts of pages, files, and where one signs in, which is on the way of every other test.
NO_PAGES = {
    "/web/sign-in",
    "/web/static/{name}",
    "/web/overview/live",
    "/web/conversation/messages",
    "/web/conversation/export",
    "/web/episode/parts",
    "/web/import/file",  # test_a_file_is_imported_after_a_look_into_it
    "/web/import/progress",
}
CHARTED = "/"  # a page with every stylesheet
COLOURFUL = ("/", f"/web/reply?conversation={CHAT}&turn={REPLY}")  # pages that have all the colours there are
# What juts out of the window: no box may, even where the page cannot be scrolled to it.
OUTSIDE = """Array.from(document.querySelectorAll('main *')).filter((element) => {
  if (element.closest('.scroll, svg, .prompt, .u-wrap')) return false;
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && (box.right > innerWidth + 1 || box.left < -1);
}).map((element) => element.outerHTML.slice(0, 120))"""
# Of what is alike (the routes of /docs, messages, rows of tables and lists) axe-core reads some: it takes as long for
# each, and there are hundreds.
FEW = """document.querySelectorAll('.operation:nth-of-type(n+3), .chat > li:nth-child(n+6), .list > li:nth-child(n+6), '
  + 'tbody > tr:nth-child(n+6)').forEach((element) => element.remove())"""


@dataclass(frozen=True, slots=True)
class Stage:
    """A server, a browser, a key that opens everything, a session of that key, and what is hostile in the store. Most
    tests share one page of somebody who has signed in: to open another takes as long as to load two."""

    server: Serving
    browser: Browser
    key: str
    cookie: str
    hostile: HostilePlaces
    page: Page
    watch: PageWatch

    @contextmanager
    def signed_in(self, viewport: ViewportSize = DESK) -> Iterator[Page]:
        """A page of somebody who has signed in before. In the end nothing may have gone wrong on it."""
        self.watch.faults.clear()
        self.page.set_viewport_size(viewport)
        yield self.page
        assert self.watch.faults == []

    @contextmanager
    def accessibility_check(self) -> Iterator[AccessibilityCheck]:
        """A check in a page with every stylesheet. A body that is put into it has the inline styles of charts."""
        context = open_context(self.browser, self.server.url, bypass_csp=True)
        context.add_cookies([{"name": COOKIE, "value": self.cookie, "url": self.server.url}])
        page = context.new_page()
        page.goto(CHARTED)
        yield AccessibilityCheck(page)
        context.close()

    def new_context(self, scripts: bool = True) -> BrowserContext:
        """Another browser, so to speak: nobody has signed in."""
        return open_context(self.browser, self.server.url, java_script_enabled=scripts)


def open_context(browser: Browser, url: str, **options: Any) -> BrowserContext:
    """As wide as a desk; it waits as long for a page as for what the page is to show."""
    context = browser.new_context(viewport=DESK, base_url=url, **options)
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    store = str(tmp_path_factory.mktemp("browser") / "memory.db")
    hostile = fill_hostile_store(store)
    fill_store(store, MESSAGES)
    with Serving(store, auth=True, followers=False) as server, open_browser() as browser:
        key, text = create_key(server.store, name=IDS[0][:100], scopes=("read", "write", "admin"))
        sessions = Sessions(server.app.state.options.session_secret)
        cookie = sessions.cookie_value(sessions.begin(key.id, datetime.now(UTC)))
        context = open_context(browser, server.url)
        context.add_cookies([{"name": COOKIE, "value": cookie, "url": server.url}])
        page = context.new_page()
        yield Stage(server, browser, text, cookie, hostile, page, PageWatch(page, server.url))


def visit(page: Page, path: str) -> str:
    """Load a page; it must be there, and not be wider than the window. Returns it as the server sent it."""
    answer = page.goto(path)
    assert answer is not None
    assert answer.status == 200, path
    assert overflow_of(page) <= 0, path
    return answer.text()


def test_every_page_is_whole_on_a_desk_and_on_a_phone(stage: Stage) -> None:
    """No error, no request to another host, nothing wider than the window, nothing that axe-core finds serious; and
    every view has read all messages."""
    stats = stage.server.run(stage.server.memory.stats(space="default"))
    assert stats.messages >= MESSAGES - EACH
    assert {state.view: state.behind for state in stats.views if state.behind} == {}
    fact = stage.server.run(stage.server.memory.facts(user="marta"))[0].id
    bodies = dict[str, str]()
    with stage.signed_in() as page:
        sizes = [DESK, PHONE]
        for path in PAGES:  # loaded in the one size, and then turned to the other
            visit(page, path.replace("{fact}", fact))
            sizes.reverse()
            page.set_viewport_size(sizes[0])
            assert overflow_of(page) <= 0, path
            page.evaluate(FEW)
            bodies[path] = body_of(page)
    with stage.accessibility_check() as check:
        for path, body in bodies.items():
            assert check.faults(body) == [], path
        check.page.emulate_media(color_scheme="dark")
        for path in COLOURFUL:
            assert check.faults(bodies[path], CONTRAST) == [], path
        faults = check.faults('<main><img src="/web/static/icon.svg"><input></main>')
        assert {fault.partition(":")[0] for fault in faults} == {"image-alt", "label"}, "or the check finds nothing"


def test_no_page_is_left_out(stage: Stage) -> None:
    routes = iter_route_contexts(stage.server.app.routes)
    paths = {route.path_format or "" for route in routes if "GET" in (route.methods or ())}
    assert {path for path in paths if is_page(path)} == NO_PAGES | {path.partition("?")[0] for path in PAGES}


def test_hostile_text_runs_nothing_and_stays_in_its_box(stage: Stage) -> None:
    with stage.signed_in(PHONE) as page:
        for path, values in hostile_pages(stage.hostile):
            sent = visit(page, f"{path}?{urlencode(values)}")
            assert faults_in(sent) == [], path  # nothing that could run, or be loaded from elsewhere
            assert page.evaluate("window.harm") is None, path
            assert page.evaluate(OUTSIDE) == [], path
        visit(page, f"/web/conversation?{urlencode({'id': CHATS[0], 'space': SPACE})}")
        expect(page.get_by_text(TEXTS[0], exact=True).first).to_be_visible()


def test_a_long_conversation_loads_as_one_scrolls(stage: Stage) -> None:
    with stage.signed_in() as page:
        page.goto(f"/web/conversation?id={LONG}")
        bubbles = page.locator(".chat .bubble")
        expect(bubbles).to_have_count(40)
        expect(bubbles.last).to_be_in_viewport()
        page.locator(".chat > li.wait").scroll_into_view_if_needed()
        expect(bubbles).to_have_count(80)
        last = page.locator(".chat .meta a").last.text_content()
        assert last is not None
        page.get_by_label("Message", exact=True).fill("7")
        page.get_by_role("button", name="Jump").click()
        expect(page.locator("#turn-7")).to_be_in_viewport()


def test_pages_can_be_read_without_scripts(stage: Stage) -> None:
    context = stage.new_context(scripts=False)
    context.add_cookies([{"name": COOKIE, "value": stage.cookie, "url": stage.server.url}])
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_text("Messages over time")).to_be_visible()
    page.goto(f"/web/conversation?id={LONG}")
    page.get_by_role("link", name="Older messages").click()
    expect(page.locator(".chat .bubble")).to_have_count(40)
    page.goto(f"/web/episodes?conversation={CHAT}")
    page.get_by_role("link", name="What it is made of").first.click()
    expect(page.get_by_role("heading", name="What it is made of")).to_be_visible()
    context.close()


def press_until(page: Page, key: str, wanted: str, most: int = 80) -> None:
    """Press a key until the element with the focus has this text or label."""
    script = "(document.activeElement.textContent || '').trim() + '|' + (document.activeElement.id || '')"
    for _ in range(most):
        page.keyboard.press(key)
        text, _, id = str(page.evaluate(script)).rpartition("|")
        if wanted in (text, f"#{id}"):
            return
    raise AssertionError(f"{wanted!r} cannot be reached by {key}")


def skip_to_content(page: Page) -> None:
    """As one does by keyboard on a page that was just loaded: the first link leads past the menu."""
    press_until(page, "Tab", "Skip to the content")
    page.keyboard.press("Enter")


def test_the_main_flows_work_by_keyboard_alone(stage: Stage) -> None:
    """Sign in, build a context, search, correct a fact and take it back, sign out."""
    context = stage.new_context()
    page = context.new_page()
    watch = PageWatch(page, stage.server.url)
    page.goto("/")
    expect(page.get_by_label("Key")).to_be_focused()
    page.keyboard.insert_text(stage.key)
    page.keyboard.press("Enter")
    page.wait_for_url("**/")
    press_until(page, "Tab", "Skip to the content")
    press_until(page, "Tab", "Context lab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/web/context")
    skip_to_content(page)
    press_until(page, "Tab", "#text")
    page.keyboard.insert_text(SPOTS)
    press_until(page, "Tab", "#conversation")
    title = page.locator(f"#conversation option[value={CHAT}]").inner_text()
    page.keyboard.type(title)
    press_until(page, "Tab", "Build")
    page.keyboard.press("Enter")
    expect(page.locator(".prompt", has_text="brown spots since Monday").first).to_be_visible()
    page.goto("/web/search")
    page.keyboard.press("/")
    page.keyboard.type("brown spots")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The leaves have brown spots since Monday.").first).to_be_visible()
    page.goto("/web/person?id=marta")
    skip_to_content(page)
    press_until(page, "Tab", "job bookbinder")
    page.keyboard.press("Enter")
    page.wait_for_url("**/web/fact*")
    skip_to_content(page)
    press_until(page, "Tab", "#value")
    page.keyboard.press("Control+a")
    page.keyboard.type("printer")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The fact has a new value")).to_be_visible()
    expect(page.get_by_text("printer")).to_be_visible()
    skip_to_content(page)
    press_until(page, "Tab", "Undo")
    page.keyboard.press("Enter")
    expect(page.get_by_text("It is as it was before.")).to_be_visible()
    expect(page.get_by_text("bookbinder")).to_be_visible()
    press_until(page, "Shift+Tab", "Sign out")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Key")).to_be_visible()
    page.goto("/web/people")
    expect(page.get_by_label("Key")).to_be_visible()
    context.close()
    assert watch.faults == []


def test_a_message_and_a_person_are_removed_after_a_preview_and_the_log_is_whole(stage: Stage) -> None:
    """By keyboard alone, too."""
    with stage.signed_in() as page:
        page.goto("/web/message?conversation=bakery&turn=8")
        skip_to_content(page)
        press_until(page, "Tab", "Delete …")
        page.keyboard.press("Enter")
        expect(page.get_by_text("This would go, for good")).to_be_visible()
        skip_to_content(page)
        press_until(page, "Tab", "Delete it")
        page.keyboard.press("Enter")
        expect(page.get_by_text("gone for good")).to_be_visible()
        press_until(page, "Tab", "Back")
        page.keyboard.press("Enter")
        expect(page.get_by_text("I do. And I moved here from Ghent")).to_be_visible()
        expect(page.get_by_text("Who waters the basil")).to_have_count(0)
        page.goto("/web/integrity")
        skip_to_content(page)
        press_until(page, "Tab", "#user")
        page.keyboard.type("sam")
        press_until(page, "Tab", "Preview")
        page.keyboard.press("Enter")
        expect(page.get_by_text("What would go")).to_be_visible()
        skip_to_content(page)
        press_until(page, "Tab", "#confirm")
        page.keyboard.type("erase")
        press_until(page, "Tab", "Erase")
        page.keyboard.press("Enter")
        expect(page.get_by_text("gone for good")).to_be_visible()
        page.goto("/web/integrity")
        skip_to_content(page)
        press_until(page, "Tab", "Verify the log")
        page.keyboard.press("Enter")
        expect(page.get_by_text("The log is whole")).to_be_visible()
        expect(page.get_by_text("Root", exact=True)).to_be_visible()


def test_an_expired_key_signs_nobody_in(stage: Stage) -> None:
    past = datetime.now(UTC) - timedelta(days=3)
    _, text = create_key(stage.server.store, name="old", days=1, now=past)
    context = stage.new_context()
    page = context.new_page()
    page.goto("/web/people")
    page.get_by_label("Key").fill(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("expired")
    page.get_by_label("Key").fill(stage.key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="People")).to_be_visible()
    context.close()
