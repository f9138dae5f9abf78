"""Home: what is new in a memory, and one search for everything in it.

Home shows what was said lately, over the whole time that there are messages of, or in a range of it: a chart of
messages from which a range can be dragged, the last conversations, questions and facts. The search looks among people,
conversations, messages, facts and topics, and says for each kind what it found.

A key of one user sees its own conversations and facts; the chart, which counts everybody's messages, it does not see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from everword.facts.stored_facts import active_facts_by_person, own_name
from everword.memory.dashboard_data import (
    BEGINNING,
    ListedPerson,
    News,
    has_words,
    page_of_people,
    read_news,
    titled_conversations,
    topics_of_messages,
)
from everword.model import Fact, Hit
from everword.server.access import Caller, caller_for
from everword.server.web.administration import Figures, figures_for
from everword.server.web.labs import parse_day
from everword.server.web.pages import FLOOR, label_places, name_authors, show_page, view_of, write_data, write_samples

router = APIRouter(include_in_schema=False)

MOST_BARS = 130  # of the chart
DAY_SECONDS = 86_400
BUCKETS = (1, 7, 30, 91, 365)  # days of one bar
RANGES = {"30 days": 30, "90 days": 90, "a year": 365}
MAX_QUERY = 1_000  # characters
HITS = 15  # messages that a search shows
FACTS = 8
EACH = 6  # people, conversations and topics that it shows
DEMO = "/v1/conversations/demo/messages"
DEMO_BODY = {"user": "alex", "messages": [{"role": "user", "content": "I live in Oslo."}]}
DEMO_LINES = ('memory.conversation("demo", user="alex").add("user", "I live in Oslo.")',)


@dataclass(frozen=True, slots=True)
class Range:
    """The days that Home is about; without a day, from the first or to the last."""

    first: date | None
    last: date | None

    @property
    def since(self) -> datetime:
        return BEGINNING if self.first is None else datetime.combine(self.first, time(), UTC)

    @property
    def until(self) -> datetime:
        last = date.max - timedelta(days=1) if self.last is None else min(self.last, date.max - timedelta(days=1))
        return datetime.combine(last + timedelta(days=1), time(), UTC)

    def holds(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)


def day_chart(days: Mapping[date, int], link: str) -> dict[str, Any]:
    """Messages over time as bars, each of a day or, where these would be too many, of some weeks."""
    first, last = min(days), max(days)
    size = next((size for size in BUCKETS if (last - first).days / size < MOST_BARS), BUCKETS[-1])
    counts = [0] * ((last - first).days // size + 1)
    for day, count in days.items():
        counts[(day - first).days // size] += count
    start = int(datetime.combine(first, time(), UTC).timestamp())
    step = size * DAY_SECONDS
    times = [start + place * step for place in range(len(counts))]
    return {"times": times, "names": ["messages"], "values": [counts], "bars": True, "step": step, "link": link}


def range_links(caller: Caller, days: Mapping[date, int]) -> list[tuple[str, str, date | None]]:
    """Ranges to choose from: the last days before the last message, so that none is empty."""
    view, last = view_of(caller), max(days)
    links: list[tuple[str, str, date | None]] = [("All", view.link("/"), None)]
    for name, count in RANGES.items():
        first = last - timedelta(days=count - 1)
        if first > min(days):
            links.append((f"Last {name}", view.link("/", **{"from": first.isoformat()}), first))
    return links


async def visible_news(caller: Caller, chosen: Range) -> News:
    news = await read_news(caller.memory.runtime, caller.space, caller.access.user, chosen.since, chosen.until)
    visible = await caller.memory.visible_facts(caller.space, [new.fact for new in news.facts])
    return replace(news, facts=tuple(new for new in news.facts if new.fact in visible))


@router.get("/")
async def show_home(
    caller: Annotated[Caller, caller_for("stats")],
    first: Annotated[str, Query(alias="from", max_length=10)] = "",
    last: Annotated[str, Query(alias="to", max_length=10)] = "",
) -> Response:
    """What is new: over the whole time, or in a range of days."""
    chosen = Range(parse_day("from", first), parse_day("to", last))
    figures: Figures | None = await figures_for(caller)
    days = {} if figures is None else {day: count for day, count in figures.days.items() if chosen.holds(day)}
    values: dict[str, Any] = {
        "figures": figures,
        "degraded": caller.memory.degraded,
        "chosen": chosen,
        "news": await visible_news(caller, chosen),
        "count": sum(days.values()),
        "chart": day_chart(days, view_of(caller).link("/")) if days else None,
        "samples": write_samples(caller, DEMO, DEMO_BODY, *DEMO_LINES),
        "ranges": range_links(caller, figures.days) if figures is not None and figures.days else [],
    }
    return show_page(caller, "home.html", section="Home", **values)


# -- one search for everything


async def find_people(caller: Caller, query: str) -> Sequence[ListedPerson]:
    if caller.access.is_bound or not caller.access.may("people"):
        return ()
    page = await page_of_people(caller.memory.runtime, caller.space, query.casefold(), "", EACH)
    return page.people


async def find_facts(caller: Caller, words: str, hits: Sequence[Hit], people: Sequence[ListedPerson]) -> list[Fact]:
    """The facts that come from the messages found, or have all the words; of those who said them, or have that name."""
    own = caller.access.user
    users = {hit.message.author for hit in hits} | {person.member.id for person in people} if own is None else {own}
    by_person = await caller.memory.runtime.read(lambda tx: active_facts_by_person(tx, caller.space, sorted(users)))
    ids = {hit.message.id: place for place, hit in enumerate(hits)}
    wanted = words.casefold().split()
    ranked = list[tuple[int, Fact]]()
    for fact in (fact for facts in by_person.values() for fact in facts):
        place = min((ids[source] for source in fact.sources if source in ids), default=len(ids))
        if place < len(ids) or has_words(f"{fact.key} {fact.value}", wanted):
            ranked.append((place, fact))
    ranked.sort(key=lambda pair: pair[0])
    return await caller.memory.visible_facts(caller.space, [fact for _, fact in ranked[:FACTS]])


async def name_owners(caller: Caller, facts: Sequence[Fact]) -> dict[str, str]:
    """What the people of facts are called, by id."""
    people = {fact.user for fact in facts}
    return await caller.memory.runtime.read(lambda tx: {id: own_name(tx, caller.space, id) for id in people})


def hit_places(hits: Sequence[Hit]) -> list[str]:
    return list(dict.fromkeys(hit.message.conversation for hit in hits))


def search_lines(words: str) -> tuple[str, str]:
    return f"for hit in memory.search({write_data(words)}):", "    print(hit.message.content)"


@router.get("/web/find")
async def find(
    caller: Annotated[Caller, caller_for("search")], query: Annotated[str, Query(max_length=MAX_QUERY)] = ""
) -> Response:
    """What a query finds anywhere: the best messages and facts, people and conversations by name, and the topics in
    which it was talked about."""
    words = query.strip()
    if not words:
        return show_page(caller, "find.html", section="", query="", nothing=True)
    runtime, user = caller.memory.runtime, caller.access.user
    hits = await caller.memory.search(words, user=user, limit=HITS, floor=FLOOR, space=caller.space)
    people = await find_people(caller, words)
    facts = await find_facts(caller, words, hits, people)
    lines = await titled_conversations(runtime, caller.space, user, words, EACH)
    topics = await topics_of_messages(runtime, caller.access, caller.space, [hit.message for hit in hits], EACH)
    places = [*hit_places(hits), *(topic.conversation for topic in topics)]
    values = {
        "hits": hits,
        "facts": facts,
        "people": people,
        "lines": lines,
        "topics": topics,
        "labels": await label_places(caller, places),
        "names": await name_authors(caller, [hit.message for hit in hits]),
        "owners": await name_owners(caller, facts),
        "samples": write_samples(caller, "/v1/search", {"query": words}, *search_lines(words)),
        "nothing": not (hits or facts or people or lines or topics),
    }
    return show_page(caller, "find.html", section="", query=query, **values)
