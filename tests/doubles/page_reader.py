"""Reads pages of the dashboard as a browser would find them, to say what they could load or run."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlsplit

ADDRESSES = ("href", "src", "action", "formaction", "poster", "data", "srcset", "xlink:href", "hx-get", "hx-post")
RUNNING = ("script", "iframe", "object", "embed", "applet", "base", "frame", "link")


class PageReader(HTMLParser):
    """The elements of a page, with their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def fields(self, name: str) -> list[str]:
        """The values of the fields of forms with this name."""
        return [given.get("value", "") for tag, given in self.elements if tag == "input" and given.get("name") == name]


def faults_in(page: str) -> list[str]:
    """What a page could run or load that is not ours: there should be nothing."""
    faults = list[str]()
    for tag, given in PageReader(page).elements:
        if tag in RUNNING and not given.get("src", given.get("href", "")).startswith("/web/static/"):
            faults.append(f"<{tag}> {given}")
        for name, value in given.items():
            if name.startswith("on") or name in ("style", "srcdoc"):
                faults.append(f"{tag} {name}={value}")
            if name in ADDRESSES and not is_own_address(value):
                faults.append(f"{tag} {name}={value}")
    return faults


def is_own_address(address: str) -> bool:
    """Whether an address leads to this server, and is no script."""
    parts = urlsplit(address)
    return not parts.scheme and not parts.netloc and (address.startswith(("/", "#")) or not address)
