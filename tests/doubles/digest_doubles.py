"""A memory model that writes digests: it says of each member what they said, and counts what it was asked.

What goes wrong is told it beforehand: by number of call, or by kind. Whatever else it is asked, it refuses, so that the
built-in rules do that.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta

from everword import ModelRefused
from everword.ports import Request
from everword.testing import FrozenClock, ScriptedLLM
from everword.testing.doubles import Said

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
MESSAGE = re.compile(r"<author_id>(.*?)</author_id><author>(.*?)</author><content>(.*?)</content>", re.DOTALL)
MARKS = {"day": "diary of a group chat", "week": "diary of the last days", "merge": "before it answers them"}


def kind_of(request: Request) -> str:
    system = request.messages[0]["content"]
    return next((kind for kind, mark in MARKS.items() if mark in system), "other")


def section(request: Request, title: str) -> str:
    """In the question itself: one that asks for a better answer has it further up."""
    asked = next(one["content"] for one in request.messages if one["role"] == "user")
    body = asked.partition(f"=== {title} ===\n")[2]
    return body.partition(f"\n=== END {title} ===")[0]


def day_answer(request: Request) -> str:
    said: dict[str, list[str]] = {}
    for id, name, content in MESSAGE.findall(section(request, "MESSAGES")):
        said.setdefault(html.unescape(id), []).append(f"{html.unescape(name)} told: {html.unescape(content)}")
    entries = [{"id": id, "summary": texts[-1]} for id, texts in said.items()]
    return json.dumps({"members": entries}, ensure_ascii=False)


def week_answer(request: Request) -> str:
    days = [line.partition("): ")[2] for line in section(request, "DIARY").splitlines()]
    return json.dumps({"summary": f"Lately: {days[0]} And then: {days[-1]}"}, ensure_ascii=False)


def merge_answer(request: Request) -> str:
    parts = [" ".join(section(request, title).split()) for title in ("PROFILE", "TODAY", "HISTORY")]
    return json.dumps({"summary": "All in all: " + " ".join(filter(None, parts))}, ensure_ascii=False)


ANSWERS: Mapping[str, Callable[[Request], str]] = {"day": day_answer, "week": week_answer, "merge": merge_answer}


class Scribe(ScriptedLLM):
    """Writes digests; `calls` counts them by kind."""

    def __init__(self, failing: Mapping[int, Said] | None = None, *, kinds: Mapping[str, Said] | None = None) -> None:
        super().__init__(default=self._answer)
        self.failing, self.kinds = dict(failing or {}), dict(kinds or {})
        self.calls: Counter[str] = Counter()
        self.asked: list[tuple[str, Request]] = []

    def _answer(self, request: Request) -> Said:
        kind = kind_of(request)
        if kind == "other":
            return ModelRefused("this one writes digests only")
        self.calls[kind] += 1
        self.asked.append((kind, request))
        wrong = self.failing.get(self.calls.total()) or self.kinds.get(kind)
        return ANSWERS[kind](request) if wrong is None else wrong

    def since(self) -> Counter[str]:
        """What it was asked since one looked last."""
        found, self.calls = self.calls, Counter()
        return found


def clock_at(moment: datetime = NOON) -> FrozenClock:
    return FrozenClock(moment)
