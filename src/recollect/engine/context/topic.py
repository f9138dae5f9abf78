"""What is being talked of, for a context: the topic of the message to answer, as far as nothing else shows it.

A topic that lies in the window is shown there. Of one that reaches back further, what was packed stands as its summary,
and of one that is come back to, its last messages, as they were left. It costs one look at the topics, which are held
ready, and two more rows where there is something to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.engine.context.render import Talked
from recollect.engine.tables import topics as rows
from recollect.engine.views.topics import LAST, LOOKED_AT, Page, Topics
from recollect.model import Message, TopicMessage
from recollect.ports import Tx, Vectors
from recollect.rules.topics import topics as rule
from recollect.rules.topics.centroids import as_kept
from recollect.rules.topics.topics import Said, State
from recollect.tasks.standalone import leans

KEPT = 4  # of a topic's last messages outside the window that are shown
LARGE = 8_000  # characters of the window, from which on its topics may decide what is shown of it


def talked_of(
    tx: Tx,
    topics: Topics,
    place: tuple[str, str],
    text: str,
    vector: Vectors,
    window: Sequence[Message],
    now: datetime,
) -> Talked | None:
    """The topic that a message in `place`, a conversation of a space, would be given to, with what is worth showing."""
    page = topics.read(tx, *place)
    if not page.book.states:
        return None
    text = text[:LOOKED_AT]
    parts = found(tx, topics, page, Said(LAST, "user", text, now, as_kept(vector), leaning=leans(text)))
    if not parts:
        return None
    start = window[0].turn if window else LAST
    summary, left = "", list[TopicMessage]()
    if min(part.first for part in parts) < start:
        packed = [part for part in parts if part.packed_upto]
        summary = " ".join(filter(None, (rows.summary_of(tx, page.place, part.first)["summary"] for part in packed)))
        if parts[0].first != page.book.current:  # it is come back to
            left = [one for part in parts for one in rows.loose(tx, page.place, part) if one.turn < start]
    return Talked(
        id=parts[0].id,
        title=parts[0].title,
        first=parts[0].first,
        since=min(part.created_at for part in parts),
        messages=sum(part.count for part in parts),
        summary=summary,
        left=sorted(left, key=lambda one: one.turn)[-KEPT:],
        turns=turns_of(tx, page, parts, window),
    )


def found(tx: Tx, topics: Topics, page: Page, said: Said) -> list[State]:
    """The topic a message belongs to, active or faded, with what is part of it; nothing if it opens one."""
    first = rule.chosen(page.book, said, topics.rule)
    if first is not None:
        return rule.parts(page.book.states, first)
    faded = page.faded(tx)
    topics.remember(page)
    back = faded.returned(said.vector, topics.rule.similarity)
    return [] if back is None else rule.parts(faded.states, back)


def turns_of(tx: Tx, page: Page, parts: Sequence[State], window: Sequence[Message]) -> frozenset[int]:
    """The turns of a large window that are of this topic: where not all of it fits, they go first."""
    if not window or sum(len(message.content) for message in window) < LARGE:
        return frozenset()
    own = {part.first for part in parts}
    given = tx.rows(rows.TURNS, {**page.place, "turn": window[0].turn - 1}, where=page.place)
    return frozenset(row["turn"] for row in given if row["topic"] in own)
