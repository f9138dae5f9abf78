"""Takes pictures of the dashboard: `python scripts/screenshots.py FOLDER [--only NAME ...] [--small]`.

Fills a store with the talks of tests/doubles/dashboard_store.py, serves it on loopback, and takes a picture of every
page at the width of a desk and of a phone, in light and in dark; with `--small`, the three of the README. Needs
Debian's `chromium` and the extra `[dev]`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, ViewportSize

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "doubles"))

from browser import open_browser  # noqa: E402
from dashboard_store import CHANNEL, CHAT, REPLY, fill_store  # noqa: E402

from everword.config import Secret, Settings  # noqa: E402
from everword.server.keys import create_key, revoke_key  # noqa: E402
from everword.testing.serving import Serving  # noqa: E402

SIZES = {"desk": (1280, 860), "phone": (390, 844)}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SMALL = ("conversation", "context", "person")
QUESTION = "What did I say about the spots on the leaves?"
PAGES = {
    "home": "/",
    "find": "/web/find?query=tomatoes",
    "spaces": "/web/spaces",
    "conversations": "/web/conversations",
    "conversation": f"/web/conversation?id={CHAT}",
    "channel": f"/web/conversation?id={CHANNEL}",
    "message": f"/web/message?conversation={CHAT}&turn=13",
    "context": f"/web/context?conversation={CHAT}&text={QUESTION}&budget=standard&other=600",
    "replies": f"/web/replies?conversation={CHAT}",
    "reply": f"/web/reply?conversation={CHAT}&turn={REPLY}",
    "search": "/web/search?query=brown spots on leaves&conversation=garden&turn=1",
    "people": "/web/people",
    "person": "/web/person?id=marta",
    "person-in-a-channel": "/web/person?id=noor&channel=bakery",
    "fact": "/web/fact?user=marta&id={fact}",
    "refused": "/web/person/refused?id=marta",
    "digests": "/web/person/digests?id=noor",
    "topics": f"/web/topics?conversation={CHAT}",
    "topic": f"/web/topic?conversation={CHAT}&id=t1",
    "topics-of-all": "/web/topics",
    "episodes-of-all": "/web/episodes",
    "timeline": "/web/person?id=marta&order=time",
    "playground": f"/web/playground?conversation={CHAT}&text={QUESTION}",
    "import": "/web/import",
    "episodes": f"/web/episodes?conversation={CHAT}",
    "episode": f"/web/episode?conversation={CHAT}&level=2&first=1",
    "integrity": "/web/integrity",
    "erase": "/web/erase?user=marta",
    "problem": "/web/conversation?id=nowhere",
    "keys": "/web/keys",
    "settings": "/web/settings",
    "docs": "/docs",
    "deletion": f"/web/message?conversation={CHAT}&turn=13",
    "verified": "/web/integrity",
}
BUTTONS = {"deletion": "Delete …", "verified": "Verify the log"}  # to press before a picture is taken


def take_small_pictures(browser: Browser, url: str, folder: Path) -> None:
    """The pictures of the README: what a window shows, at half its size."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, device_scale_factor=0.5)
    page = context.new_page()
    for name in SMALL:
        page.goto(url + PAGES[name])
        page.wait_for_load_state("networkidle")
        page.screenshot(path=folder / f"{name}.png")
    context.close()


def take_pictures(browser: Browser, url: str, folder: Path, pages: dict[str, str]) -> None:
    for size, (width, height) in SIZES.items():
        for scheme in SCHEMES:
            viewport: ViewportSize = {"width": width, "height": height}
            context = browser.new_context(base_url=url, viewport=viewport, color_scheme=scheme)
            page = context.new_page()
            for name, path in pages.items():
                page.goto(path)
                if name in BUTTONS:
                    page.get_by_role("button", name=BUTTONS[name]).first.click()
                page.wait_for_load_state("networkidle")
                page.screenshot(path=folder / f"{name}-{size}-{scheme}.png", full_page=name != "docs")
            context.close()


def add_samples(server: Serving) -> str:
    """Add a second space, and keys. Returns the id of a fact that had another value before."""
    server.run(server.memory.conversation("till", space="shop").add("user", "The till is short of change again."))
    create_key(server.store, name="website", spaces=["default"], scopes=("read", "write"), days=90)
    create_key(server.store, name="Marta's phone", spaces=["default"], scopes=("read",), user="marta")
    old, _ = create_key(server.store, name="old notebook", scopes=("read", "write", "admin"))
    revoke_key(server.store, old.id)
    facts = server.run(server.memory.facts(user="marta"))
    return next(str(fact.id) for fact in facts if fact.key == "location")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=[*PAGES, "sign-in"], help="some of the pages")
    parser.add_argument("--small", action="store_true", help="the pictures of the README")
    parser.add_argument("--store", help="a store to show, in place of the sample")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    chosen = arguments.only or [*PAGES, "sign-in"]
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        store = arguments.store or str(Path(folder, "memory.db"))
        if arguments.store is None:
            fill_store(store)
        with Serving(store) as server:
            server.app.state.settings = Settings(store="everword.db", chat_model="local", chat_key=Secret("hidden"))
            fact = "" if arguments.store else add_samples(server)
            if arguments.small:
                take_small_pictures(browser, server.url, arguments.folder)
                return
            pages = {name: path.replace("{fact}", fact) for name, path in PAGES.items() if name in chosen}
            take_pictures(browser, server.url, arguments.folder, pages)
        if "sign-in" in chosen:
            with Serving(store, auth=True) as server:
                take_pictures(browser, server.url, arguments.folder, {"sign-in": "/web/sign-in"})


if __name__ == "__main__":
    main()
