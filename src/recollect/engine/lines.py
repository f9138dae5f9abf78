"""Lines: a conversation with the branches that clients make of it, and where in them something belongs.

A branch is a conversation of its own, `ID~2`, that begins where it leaves: its first message says in its metadata which
conversation it leaves (`of`) and after which turn (`after`). So nothing is copied and nothing rewritten, and every
view, export and proof knows branches without knowing of them. A line is what a client sees: the trunk up to there, and
the branch. What is placed is placed under one lock for the whole tree: two requests at once are one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.engine import log
from recollect.model import Conversation, Filter, Message
from recollect.ports import Tx
from recollect.rules import reconciling
from recollect.rules.spoken import OURS, Spoken, said

NUMBERED = re.compile(r"(.+)~([1-9]\d{0,5})", re.DOTALL)
PAGE = 200  # branches read at a time
MOST = 100  # branches that are looked at: those that changed last


@dataclass(frozen=True, slots=True)
class Where:
    """Whose conversation is meant, and which: its trunk or one of its branches."""

    space: str
    user: str | None
    id: str


@dataclass(frozen=True, slots=True)
class Line:
    """One way through the tree, from the first message to the last; it goes on in the conversation `id`."""

    id: str
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """A conversation with its branches."""

    root: str
    lines: tuple[Line, ...]
    next: str


def tree(tx: Tx, where: Where) -> Tree:
    """The tree a conversation belongs to: the line that was named first, then those that changed last."""
    root = root_of(tx, where)
    trunk = log.owned(tx, where.space, root, where.user)
    called = branches(tx, where.space, root)
    mine = [one for one in called if one.user == where.user]
    members = {one.id: one for one in (*([trunk] if trunk else []), *mine)}
    newest = sorted(members.values(), key=lambda one: (one.id == where.id, one.changed_at), reverse=True)
    own: dict[str, tuple[Message, ...]] = {}
    wanted = [root, *(one.id for one in newest[:MOST])]
    while wanted:
        id = wanted.pop()
        if id in members and id not in own:
            own[id] = tuple(log.every_message(tx, Filter(where.space, conversation=id)))
            place = leaves(own[id][0]) if own[id] else None
            wanted += [place[0]] if place else []
    paths: dict[str, tuple[Message, ...]] = {}
    for id in sorted(own, key=lambda id: number(id, root)):
        if id == root or before(own[id], paths):
            paths[id] = (*before(own[id], paths), *own[id])
    last = max((number(one.id, root) for one in called), default=1)
    lines = tuple(Line(one.id, paths[one.id]) for one in newest if one.id in paths)
    return Tree(root, lines or (Line(root),), f"{root}~{last + 1}")


def root_of(tx: Tx, where: Where) -> str:
    """The trunk of a branch; any other conversation is its own, whatever it is called."""
    named = NUMBERED.fullmatch(where.id)
    if named is None:
        return where.id
    first = tx.messages(Filter(where.space, conversation=where.id), limit=1)
    return named[1] if first and leaves(first[0]) else where.id


def branches(tx: Tx, space: str, root: str) -> list[Conversation]:
    """The conversations that are called like branches, whosesoever they are."""
    found, after = list[Conversation](), f"{root}~"
    while True:
        page = tx.conversations(space, None, after=(space, after), limit=PAGE)
        alike = [one for one in page if one.space == space and one.id.startswith(f"{root}~")]
        found += [one for one in alike if number(one.id, root) > 1]
        if len(alike) < PAGE:
            return found
        after = alike[-1].id


def number(id: str, root: str) -> int:
    """The trunk is 1; 0 is none of its branches."""
    named = NUMBERED.fullmatch(id)
    return 1 if id == root else int(named[2]) if named and named[1] == root else 0


def leaves(first: Message) -> tuple[str, int] | None:
    """The conversation and the turn that a branch leaves, by its first message."""
    noted = first.metadata.get(OURS)
    about = noted.get("branch") if isinstance(noted, dict) else None
    of, after = (about.get("of"), about.get("after")) if isinstance(about, dict) else (None, None)
    return (of, after) if isinstance(of, str) and isinstance(after, int) else None


def before(own: Sequence[Message], paths: Mapping[str, tuple[Message, ...]]) -> tuple[Message, ...]:
    """What a branch's line has before the branch."""
    place = leaves(own[0]) if own else None
    path = paths.get(place[0], ()) if place else ()
    for count, message in enumerate(path, 1):
        if (message.conversation, message.turn) == place:
            return path[:count]
    return ()


def reconciled(tx: Tx, where: Where, sent: Sequence[Spoken], now: datetime) -> list[Message]:
    """The message of the log for each one sent: those it knows, and the others, which are added."""
    tx.lock("lines", where.space, root_of(tx, where))
    whole = tree(tx, where)
    lines = [[said(message) for message in line.messages] for line in whole.lines]
    which, fit = reconciling.best(lines, [one.utterance for one in sent])
    line = whole.lines[which]
    known = [line.messages[place] for place in fit.places]
    new = sent[fit.known :]
    if not new:
        return known
    here, branch = line.id, None
    if not fit.at_end:
        here, branch = whole.next, {"of": known[-1].conversation, "after": known[-1].turn}
    drafts = [one.draft(None if place else branch) for place, one in enumerate(new)]
    added = log.append(tx, log.Batch(where.space, here, where.user, drafts), now)
    return [*known, *(one.message for one in added)]


def answered(tx: Tx, where: Where, asked: Message, batch: log.Batch, now: datetime) -> Message:
    """Keep a reply: after what it answers, or in a branch if that has been answered. The same reply is kept once."""
    tx.lock("lines", where.space, root_of(tx, where))
    draft = batch.drafts[0]
    later = tx.messages(Filter(where.space, conversation=asked.conversation), after=(asked.conversation, asked.turn))
    mine = Spoken("assistant", draft.content, draft.metadata.get("openai", {})).utterance
    first = next((message for message in later if not said(message).partial), None)
    branch: dict[str, Any] | None = None
    here = asked.conversation
    if first is not None:
        whole = tree(tx, where)
        paths = [line.messages for line in whole.lines]
        answers = [path[n + 1] for path in paths for n, one in enumerate(path[:-1]) if one.id == asked.id]
        for answer in (first, *answers):
            if answer.id == draft.id or said(answer) == mine:
                return answer
        here, branch = whole.next, {"of": asked.conversation, "after": asked.turn}
    if branch:
        noted = {**draft.metadata.get(OURS, {}), "branch": branch}
        draft = replace(draft, metadata={**draft.metadata, OURS: noted})
    return log.append(tx, log.Batch(where.space, here, where.user, [draft]), now)[0].message
