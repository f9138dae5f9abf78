"""The dashboard in a real browser: every page at the width of a desk and of a phone, its main flows, and hostile text.

One store of 5,000 messages, one server and one browser serve all tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from urllib.parse import quote

import pytest
from browser import CONTRAST, PageWatch, accessibility_faults, open_browser, overflow_of
from dashboard_store import CHAT, LONG, fill_store
from hostile_pages import IDS, TEXTS
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from recollect import Draft
from recollect.server.door.keys import create_key
from recollect.testing.serving import Serving

MESSAGES = 5_000
DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
QUESTION = "What did I say about the spots on the leaves?"
PAGES = (
    "/",
    "/web/spaces",
    "/web/conversations",
    f"/web/conversation?id={CHAT}&turn=13",
    f"/web/message?conversation={CHAT}&turn=13",
    f"/web/context?conversation={CHAT}&text={quote(QUESTION)}&other=700",
    f"/web/search?query=brown+spots&conversation={CHAT}&turn=1",
    "/web/people",
    "/web/person?id=marta",
    "/web/person?id=noor&channel=bakery",
    "/web/person/digests?id=noor",
    f"/web/topics?conversation={CHAT}",
    f"/web/topic?conversation={CHAT}&id=t1",
    f"/web/episodes?conversation={CHAT}",
    "/web/integrity",
    "/web/erase?user=marta",
    "/web/keys",
    "/web/settings",
    "/docs",
)
HOSTILE = "hostile"
# Of the routes in /docs, which are all alike, axe-core reads three a group: it would take longer than for all pages.
FEW_ROUTES = "document.querySelectorAll('.operation:nth-of-type(n+4)').forEach((route) => route.remove())"


@dataclass(frozen=True, slots=True)
class Stage:
    """A server, a browser, and a key that opens everything."""

    server: Serving
    browser: Browser
    key: str

    @contextmanager
    def sign_in(
        self, viewport: ViewportSize = DESK, scheme: Literal["light", "dark"] = "light", scripts: bool = True
    ) -> Iterator[Page]:
        """A page of somebody who has signed in. In the end nothing may have gone wrong on it."""
        context = self.new_context(viewport, scheme, scripts)
        page = context.new_page()
        watch = PageWatch(page, self.server.url)
        page.goto("/")
        page.get_by_label("Key").fill(self.key)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        yield page
        context.close()
        assert watch.faults == []

    def new_context(
        self, viewport: ViewportSize, scheme: Literal["light", "dark"] = "light", scripts: bool = True
    ) -> BrowserContext:
        return self.browser.new_context(
            viewport=viewport, color_scheme=scheme, base_url=self.server.url, java_script_enabled=scripts
        )


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    store = str(tmp_path_factory.mktemp("browser") / "memory.db")
    fill_store(store, MESSAGES)
    with Serving(store, auth=True, followers=False) as server, open_browser() as browser:
        memory = server.memory
        for place, id in enumerate(IDS[:4]):
            chat = memory.conversation(id, user=IDS[-place - 1], space=HOSTILE)
            texts = TEXTS[place * 15 : place * 15 + 15]
            server.run(chat.extend([Draft("user", text, metadata={"name": IDS[place]}) for text in texts]))
            server.run(memory.add_fact("identity", "city", id, user=IDS[-1], space=HOSTILE))
        yield Stage(server, browser, server.key(space=[], scopes=("read", "write", "admin")))


def test_every_page_is_whole_on_a_desk_and_on_a_phone(stage: Stage) -> None:
    """No error, no request to another host, nothing wider than the window, nothing that axe-core finds serious."""
    with stage.sign_in() as page:
        for path in PAGES:
            page.set_viewport_size(DESK)
            answer = page.goto(path)
            assert answer is not None
            assert answer.status == 200, path
            assert overflow_of(page) <= 0, path
            page.evaluate(FEW_ROUTES)
            assert accessibility_faults(page) == [], path
            page.set_viewport_size(PHONE)
            assert overflow_of(page) <= 0, path


def test_pages_can_be_read_in_the_dark(stage: Stage) -> None:
    """Pages that have all the colours there are."""
    with stage.sign_in(PHONE, "dark") as page:
        for path in ("/", *(path for path in PAGES if path.startswith("/web/context"))):
            page.goto(path)
            assert accessibility_faults(page, CONTRAST) == [], path


def test_the_check_for_accessibility_finds_what_is_wrong(stage: Stage) -> None:
    with stage.sign_in() as page:
        page.evaluate("document.querySelector('main').innerHTML = '<img src=\"/web/static/icon.svg\"><input>'")
        faults = accessibility_faults(page, within="main")
        assert {fault.partition(":")[0] for fault in faults} == {"image-alt", "label"}


def test_hostile_text_runs_nothing_and_stays_in_its_box(stage: Stage) -> None:
    paths = ["/", "/web/conversations", "/web/people", f"/web/person?id={quote(IDS[-1])}"]
    for id in IDS[:4]:
        name = quote(id, safe="")
        paths.append(f"/web/conversation?id={name}")
    paths += [f"/web/context?conversation={name}&text={name}&budget=800", f"/web/erase?conversation={name}"]
    paths.append(f"/web/message?conversation={name}&turn=1")
    with stage.sign_in(PHONE) as page:
        for path in paths:
            answer = page.goto(f"{path}{'&' if '?' in path else '?'}space={HOSTILE}")
            assert answer is not None
            assert answer.status == 200, path
            assert page.evaluate("window.harm") is None, path
            assert overflow_of(page) <= 0, path


def test_a_long_conversation_loads_as_one_scrolls(stage: Stage) -> None:
    with stage.sign_in() as page:
        page.goto(f"/web/conversation?id={LONG}")
        bubbles = page.locator(".chat .bubble")
        expect(bubbles).to_have_count(40)
        expect(bubbles.last).to_be_in_viewport()
        page.locator(".chat > li.wait").scroll_into_view_if_needed()
        expect(bubbles).to_have_count(80)
        last = page.locator(".chat .meta a").last.text_content()
        assert last is not None
        page.get_by_label("Turn").fill("7")
        page.get_by_role("button", name="Jump").click()
        expect(page.locator("#turn-7")).to_be_in_viewport()


def test_pages_can_be_read_without_scripts(stage: Stage) -> None:
    with stage.sign_in(scripts=False) as page:
        expect(page.get_by_text("Messages a day")).to_be_visible()
        page.goto(f"/web/conversation?id={LONG}")
        page.get_by_role("link", name="Older messages").click()
        expect(page.locator(".chat .bubble")).to_have_count(40)
        page.goto(f"/web/episodes?conversation={CHAT}")
        page.get_by_role("link", name="What it is made of").first.click()
        expect(page.get_by_role("heading", name="What it is made of")).to_be_visible()


def press_until(page: Page, key: str, wanted: str, most: int = 80) -> None:
    """Press a key until the element with the focus has this text or label."""
    script = "(document.activeElement.textContent || '').trim() + '|' + (document.activeElement.id || '')"
    for _ in range(most):
        page.keyboard.press(key)
        text, _, id = str(page.evaluate(script)).rpartition("|")
        if wanted in (text, f"#{id}"):
            return
    raise AssertionError(f"{wanted!r} cannot be reached by {key}")


def test_the_main_flows_work_by_keyboard_alone(stage: Stage) -> None:
    """Sign in, build a context, search, correct a fact and take it back, sign out."""
    context = stage.new_context(DESK)
    page = context.new_page()
    watch = PageWatch(page, stage.server.url)
    page.goto("/")
    page.keyboard.type(stage.key)
    page.keyboard.press("Enter")
    page.wait_for_url("**/")
    press_until(page, "Tab", "Skip to the content")
    press_until(page, "Tab", "Context lab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/web/context")
    press_until(page, "Tab", "#text")
    page.keyboard.type(QUESTION)
    press_until(page, "Tab", "#conversation")
    page.keyboard.type(CHAT)
    press_until(page, "Tab", "Build")
    page.keyboard.press("Enter")
    expect(page.get_by_text("brown spots since Monday").first).to_be_visible()
    page.goto("/web/search")
    page.keyboard.press("/")
    page.keyboard.type("brown spots")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The leaves have brown spots since Monday.").first).to_be_visible()
    page.goto("/web/person?id=marta")
    press_until(page, "Tab", "job bookbinder")
    page.keyboard.press("Enter")
    page.wait_for_url("**/web/fact*")
    press_until(page, "Tab", "#value")
    page.keyboard.press("Control+a")
    page.keyboard.type("printer")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The fact has a new value")).to_be_visible()
    expect(page.get_by_text("printer")).to_be_visible()
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
    with stage.sign_in(PHONE) as page:
        page.goto("/web/conversation?id=bakery&turn=8")
        page.get_by_role("link", name="#8", exact=True).click()
        page.get_by_role("button", name="Delete …").click()
        expect(page.get_by_text("This would go, for good")).to_be_visible()
        page.get_by_role("button", name="Delete it").click()
        expect(page.get_by_text("gone for good")).to_be_visible()
        page.get_by_role("link", name="Back").click()
        expect(page.get_by_text("Who waters the basil")).to_have_count(0)
        page.goto("/web/integrity")
        page.get_by_label("User").fill("sam")
        page.get_by_role("button", name="Preview").first.click()
        expect(page.get_by_text("What would go")).to_be_visible()
        page.get_by_label("Type sam to confirm").fill("sam")
        page.get_by_role("button", name="Erase").click()
        expect(page.get_by_text("gone for good")).to_be_visible()
        page.goto("/web/integrity")
        page.get_by_role("button", name="Verify the log").click()
        expect(page.get_by_text("The log is whole")).to_be_visible()
        expect(page.get_by_text("Root", exact=True)).to_be_visible()


def test_an_expired_key_signs_nobody_in(stage: Stage) -> None:
    past = datetime.now(UTC) - timedelta(days=3)
    _, text = create_key(stage.server.store, name="old", days=1, now=past)
    context = stage.new_context(DESK)
    page = context.new_page()
    page.goto("/web/people")
    page.get_by_label("Key").fill(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("expired")
    page.get_by_label("Key").fill(stage.key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="People")).to_be_visible()
    context.close()
