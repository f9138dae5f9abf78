"""Forms that change something: read once, with the token of the session, and from a page of this server.

A form without the right token is refused, and so is one that a browser says comes from a page of another origin. The
rights of the key are asked by the route itself, as those of the REST routes do.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from fastapi import Depends, Request

from recollect.server.problems import Problem
from recollect.server.web.session import Sessions

KIND = "application/x-www-form-urlencoded"
MAX_FIELDS = 100
FORGED = "this form did not come from a page of this session: load the page again, and send it once more"
UNREADABLE = "the form cannot be read"


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
    if is_from_elsewhere(request):
        raise Problem(403, "forged", FORGED)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != KIND:
        raise Problem(415, "media_type", UNREADABLE)
    try:
        text = (await request.body()).decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError:
        raise Problem(400, "bad_request", UNREADABLE) from None
    fields = FormFields(pairs)
    sessions = Sessions(request.app.state.options.session_secret)
    if not sessions.accepts_token(request.scope.get("session"), fields.get("token", "")):
        raise Problem(403, "forged", FORGED)
    return fields


def is_from_elsewhere(request: Request) -> bool:
    """Whether a browser says that a page of another origin sent it."""
    site = request.headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != request.headers.get("host")


Form = Annotated[FormFields, Depends(read_form)]
