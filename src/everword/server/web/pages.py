"""Renders pages: templates that escape everything, links that keep the space, headers that let nothing else load.

A template gets what its page gives it, and `view`: who looks, in which space, with which rights. Times are written in
UTC, machine-readable; a script shows them in the viewer's zone.

Forms that change something are read once, with the token of the session, and from a page of this server. A form without
the right token is refused, and so is one that a browser says comes from a page of another origin. The rights of the key
are asked by the route itself, as those of the REST routes do.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from fastapi import Depends, Query, Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from everword import __version__
from everword.log.access import Access, ConversationScope, scope_for
from everword.log.checks_and_seals import PROFILE_PREFIX
from everword.memory.dashboard_data import ListedConversation, label_conversations, names_of_authors, recent_lines
from everword.model import Message
from everword.server import ServerOptions
from everword.server.access import Caller
from everword.server.keys import OVERVIEW, SIGN_IN, Sessions
from everword.server.problems import Problem

FOLDER = Path(__file__).parent
LABELS: dict[str, dict[str, str]] = tomllib.loads((FOLDER / "labels.toml").read_text(encoding="utf-8"))
POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; "
    "img-src 'self' data:"
)
# With the API's own `no-referrer`, a browser would send `Origin: null` with our own forms; other sites learn nothing.
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
}
FRAGMENT = "HX-Request"  # the header by which a script asks for a part of a page
MAX_SHOWN = 2_000  # characters of a text that a list shows
CODE = re.compile(r"`([^`]+)`")
MAX_TURN = 2**31 - 1
PRESENCES = ((0.35, "current"), (0.15, "recent"), (0.05, "fading"), (0.0, "quiet"))  # from which presence on
FLOOR = 0.04  # the relevance of a hit below which it has nothing to do with what was asked
SUGGESTED = 12  # conversations that are offered to choose from
ME = "me"  # who one is on a server without keys, until one says it
MINUTE = 60
HOUR = 3_600
DAY = 86_400


Id = Annotated[str, Query(max_length=256)]
RequiredTurn = Annotated[int, Query(ge=1, le=MAX_TURN)]
Turn = Annotated[int | None, Query(ge=1, le=MAX_TURN)]
Notice = Annotated[str, Query(alias="done", max_length=32)]
Skip = Annotated[int, Query(ge=0, le=1_000_000)]
KIND = "application/x-www-form-urlencoded"
MAX_FIELDS = 600  # a page of facts has two for each
FORGED = "this form did not come from a page of this session: load the page again, and send the form again"
UNREADABLE = "the form cannot be read"


@dataclass(frozen=True, slots=True)
class Navigation:
    """One entry of the menu: its path, its name, the operation that it shows (who may not do that does not see it), and
    the letter that leads there after a "g"."""

    path: str
    name: str
    operation: str
    letter: str
    group: str = ""
    for_all: bool = False  # not for a key of one user

    @property
    def hint(self) -> str:
        """What its page is for, in a sentence."""
        return LABELS["pages"][self.name]


MENU = (
    Navigation(OVERVIEW, "Home", "stats", "h"),
    Navigation("/web/conversations", "Conversations", "conversations", "c"),
    Navigation("/web/people", "People", "people", "p"),
    Navigation("/web/topics", "Topics", "topics", "t"),
    Navigation("/web/episodes", "Episodes", "episodes", "e"),
    Navigation("/web/playground", "Playground", "context", "y", "Try"),
    Navigation("/web/context", "Context lab", "context", "x", "Try"),
    Navigation("/web/search", "Search lab", "search", "s", "Try"),
    Navigation("/web/import", "Import", "add_messages", "i", "Manage"),
    Navigation("/web/integrity", "Integrity", "audit", "v", "Manage"),
    Navigation("/web/keys", "Keys", "list_keys", "k", "Manage", for_all=True),
    Navigation("/web/settings", "Settings", "settings", "o", "Manage", for_all=True),
)


class PageView:
    """Who looks at a page: rights, space, token, and how to link to other pages."""

    def __init__(self, request: Request, access: Access, space: str) -> None:
        options: ServerOptions = request.app.state.options
        sessions = Sessions(options.session_secret)
        self.access = access
        self.space = space
        self.path = request.url.path
        self.is_signed_in = request.scope.get("session") is not None
        self.token = sessions.token(request.scope.get("session"))
        self._named_space = request.query_params.get("space")

    def may(self, operation: str) -> bool:
        return self.access.may(operation)

    @property
    def menu(self) -> list[tuple[str, list[Navigation]]]:
        """The entries by group, in order."""
        shown = [entry for entry in MENU if self.may(entry.operation) and not (entry.for_all and self.access.is_bound)]
        return [(group, list(entries)) for group, entries in groupby(shown, key=lambda entry: entry.group)]

    @property
    def may_switch(self) -> bool:
        """Whether the key opens more than one space."""
        return self.access.spaces is None or len(self.access.spaces) > 1

    def link(self, path: str, **parameters: Any) -> str:
        """A link to a page of the same space; parameters without a value are left out."""
        values = {"space": self._named_space} | parameters
        query = "&".join(
            [f"{name}={quote_plus(str(value))}" for name, value in values.items() if value is not None and value != ""]
        )
        return f"{path}?{query}" if query else path

    def field(self) -> Markup:
        """The hidden field with the token, for a form that changes something."""
        return Markup('<input type="hidden" name="token" value="{}">').format(self.token)


def view_of(caller: Caller) -> PageView:
    return PageView(caller.request, caller.access, caller.space)


def scope_of(caller: Caller, conversation: str) -> ConversationScope:
    """A conversation, as far as the caller may see it."""
    return scope_for(caller.access, caller.space, conversation, None)


async def suggest_conversations(caller: Caller) -> list[ListedConversation]:
    """The conversations that changed last, to choose from."""
    return await recent_lines(caller.memory.runtime, caller.space, caller.access.user, None, SUGGESTED)


def likely_person(lines: Iterable[ListedConversation]) -> str:
    """Who probably looks at a page, on a server without keys: whose the last chat is."""
    return next((line.conversation.user for line in lines if line.conversation.user is not None), ME)


async def label_places(caller: Caller, ids: Iterable[str]) -> dict[str, str]:
    """What conversations are called, by id, as far as the caller may see them."""
    return await label_conversations(caller.memory.runtime, caller.access, caller.space, ids)


async def label_place(caller: Caller, id: str) -> str:
    """What one conversation is called; its id, if it is not there for the caller."""
    return (await label_places(caller, [id])).get(id, id)


async def name_authors(caller: Caller, messages: Sequence[Message]) -> dict[tuple[str, str], str]:
    """What the authors of messages are called where they spoke, by conversation and author."""
    return await names_of_authors(caller.memory.runtime, messages)


@dataclass(frozen=True, slots=True)
class CodeSamples:
    """What a page shows, as a program would ask for it: a command, and a program in Python."""

    curl: str
    python: str


def write_samples(caller: Caller, path: str, body: Mapping[str, Any] | None, *lines: str) -> CodeSamples:
    """A request to the API as a command for a shell; and lines of Python that do the same with a client."""
    url = str(caller.request.base_url).rstrip("/")
    parts = [f"curl {shlex.quote(url + path)}"]
    if caller.request.app.state.keys is not None:
        parts.append("-H 'Authorization: Bearer rk_…'")
    if caller.space != caller.access.home:
        parts.append(f"-H {shlex.quote('X-Everword-Space: ' + caller.space)}")
    if body is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(write_data(body))}"]
    arguments = [write_data(url)]
    if caller.request.app.state.keys is not None:
        arguments.append('"rk_…"')
    if caller.space != caller.access.home:
        arguments.append(f"space={write_data(caller.space)}")
    indented = "\n".join(f"    {line}" for line in lines)
    python = f"from everword import Client\n\nwith Client({', '.join(arguments)}) as memory:\n{indented}"
    return CodeSamples(" \\\n  ".join(parts), python)


def show_page(caller: Caller, template: str, **values: Any) -> Response:
    """A page, or a part of one."""
    return html_response(template, view=view_of(caller), **values)


def html_response(template: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(environment().get_template(template).render(values), status, HEADERS)


def redirect(path: str) -> Response:
    """Go on to a page after a form was sent: a reload does not send it again."""
    return RedirectResponse(path, 303, HEADERS)


def show_problem(problem: Problem, scope: Scope) -> Response:
    """What went wrong, as a page. Who is signed out is sent to where one signs in, and back afterwards."""
    request = Request(scope)
    if problem.code == "signed_out":
        return redirect_to_sign_in(request)
    access = scope.get("access") or Access("", frozenset(), frozenset())
    view = PageView(request, access, "")
    response = html_response("problem.html", problem.status, view=view, problem=problem)
    response.headers.update(problem.headers)
    return response


def redirect_to_sign_in(request: Request) -> Response:
    came_from = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    returns = request.method == "GET" and came_from != OVERVIEW and FRAGMENT not in request.headers
    target = f"{SIGN_IN}?{urlencode({'next': came_from})}" if returns else SIGN_IN
    if FRAGMENT in request.headers:  # a script would put the answer into the page it has
        return Response(None, 401, {**HEADERS, "HX-Redirect": target})
    return redirect(target)


# -- how templates write things


@cache
def environment() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.globals |= {
        "asset": {file.name: asset_link(file) for file in (FOLDER / "static").iterdir()}.__getitem__,
        "version": __version__,
        "moment": write_moment,
        "is_told": is_told,
        "hint": find_hint,
    }
    templates.filters |= {
        "number": write_number,
        "shorten": shorten,
        "ago": write_span,
        "data": write_data,
        "percent": write_percent,
        "writer": write_writer,
        "count": write_count,
        "code": write_code,
        "tag_name": write_tag_name,
        "key_name": write_key,
        "presence": write_presence,
    }
    return templates


def asset_link(file: Path) -> str:
    """The address of a file that pages use, which changes with its content: a browser may keep it for long."""
    return f"/web/static/{file.name}?v={sha256(file.read_bytes()).hexdigest()[:12]}"


def write_moment(moment: datetime | date | None, *, day: bool = False) -> Markup:
    if moment is None:
        return Markup('<span class="none">never</span>')
    if day and isinstance(moment, datetime) and moment.astimezone(UTC).time() == time():
        moment = moment.astimezone(UTC).date()  # only its day is known, which is the same in every zone
    if not isinstance(moment, datetime):
        return Markup('<time datetime="{0}" data-show="date">{0}</time>').format(moment.isoformat())
    utc = moment.astimezone(UTC)
    text = utc.strftime("%Y-%m-%d" if day else "%Y-%m-%d %H:%M")
    return Markup('<time datetime="{}" data-show="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), "day" if day else "minute", text
    )


def write_number(value: float | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def write_percent(part: float, whole: float) -> str:
    """A share in percent as attributes of SVG take it."""
    return f"{min(max(part / whole if whole else 0.0, 0.0), 1.0) * 100:.2f}%"


def write_writer(made_by: str) -> str:
    """Who wrote something that was derived."""
    return {"offline": "the built-in writer", "model": "a model", "self": "nobody: it is short"}.get(made_by, made_by)


def write_count(number: int, noun: str) -> str:
    """A number of things: "1 message", "2 messages"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def write_code(text: str) -> Markup:
    """A text of ours in which `code` stands between backticks, as our docs have it."""
    parts = CODE.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def write_tag_name(tag: str) -> str:
    """A group of routes as a heading."""
    return tag[:1].upper() + tag[1:]


def write_key(key: str, category: str = "") -> str:
    """The key of a fact as words; "" where it says no more than the category does."""
    words = key.replace("_", " ").strip()
    return "" if words == category else words


def write_presence(value: float) -> str:
    """How much a topic is on people's minds, in a word."""
    return next(word for least, word in PRESENCES if value >= least)


def find_hint(group: str, name: str) -> str:
    """What a label means, in a sentence; "" if there is nothing to explain."""
    return LABELS.get(group, {}).get(name, "")


def is_told(conversation: str) -> bool:
    """Whether a conversation holds what somebody told by command, and no talk."""
    return conversation.startswith(PROFILE_PREFIX)


def shorten(text: str, length: int = MAX_SHOWN) -> str:
    """The beginning of a text. Its end is cut by characters: it is shown in a box, not read by a program."""
    return text if len(text) <= length else f"{text[:length]}…"


def write_span(span: timedelta) -> str:
    """A length of time in its largest unit."""
    seconds = span.total_seconds()
    for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{seconds:.0f} s"


def write_data(values: Mapping[str, Any] | list[Any] | str) -> str:
    """Values for a script, for an attribute of an element."""
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


class FormFields(dict[str, str]):
    """The fields of a form; of a field that is there twice, the last."""

    def text(self, name: str) -> str:
        """What a field holds, without space around it; "" if it is not there."""
        return self.get(name, "").strip()

    def required_text(self, name: str) -> str:
        """The same; an empty one is refused."""
        value = self.text(name)
        if not value:
            raise Problem(422, "invalid_input", f"{name}: is empty")
        return value


async def read_form(request: Request) -> FormFields:
    """The fields of a form that was sent from a page of this server, with the session's token."""
    check_origin(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != KIND:
        raise Problem(415, "media_type", UNREADABLE)
    try:
        text = (await request.body()).decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise Problem(400, "bad_request", UNREADABLE) from None
    fields = FormFields(pairs)
    check_token(request, fields.get("token", ""))
    return fields


def check_origin(request: Request) -> None:
    """Refuse a form that a browser says a page of another origin sent."""
    if is_from_elsewhere(request):
        raise Problem(403, "forged", FORGED)


def check_token(request: Request, token: str) -> None:
    """Refuse a form that has not the token of its session."""
    sessions = Sessions(request.app.state.options.session_secret)
    if not sessions.accepts_token(request.scope.get("session"), token):
        raise Problem(403, "forged", FORGED)


def is_from_elsewhere(request: Request) -> bool:
    """Whether a browser says that a page of another origin sent it."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


Form = Annotated[FormFields, Depends(read_form)]
