"""Lines: a conversation with the branches that clients make of it, and where in them something belongs.

A branch is a conversation of its own, `ID~2`, that begins where it leaves: its first message says in its metadata which
conversation it leaves (`of`) and after which turn (`after`). So nothing is copied and nothing rewritten, and every
view, export and proof knows branches without knowing of them. A line is what a client sees: the trunk up to there, and
the branch. What is placed is placed under one lock for the whole tree: two requests at once are one after the other.

No more is read than can matter, since everybody waits for that lock. A history is followed from its beginning, into
those branches only that go on as it does. One that is not known from its beginning is looked for in the lines that
changed last, and in a long conversation no farther from its beginning and its end than what was sent can reach.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from recollect.engine.tables import log
from recollect.model import Conversation, Filter, Message
from recollect.ports import Tx
from recollect.rules.openai import reconcile
from recollect.rules.openai.messages import OPENED, OURS, Spoken, said
from recollect.rules.openai.reconcile import UNKNOWN, Utterance

NUMBERED = re.compile(r"(.+)~([1-9]\d{0,5})", re.DOTALL)
LISTED = 1_000  # conversations that are looked through for those that changed last
MOST = 100  # branches that are looked at
READ = 20_000  # messages that are looked at for a history without its beginning
REACH = (64, 16)  # messages at each end of a conversation that are read: so many, and so many for each one sent
RECENT = 10  # conversations that a history may go on with if it begins like none
PAGE = 50  # messages read for a first look


@dataclass(frozen=True, slots=True)
class Where:
    """Whose conversation is meant, and which: its trunk or one of its branches. If the client has not `named` it, it is
    the one that begins as its messages do, or else one that they go on with."""

    space: str
    user: str | None
    id: str
    named: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """One way through the tree, from the first message to the last; it goes on in the conversation `id`. None stands
    for messages that were not read."""

    id: str
    messages: tuple[Message | None, ...] = ()


class Tree:
    """A conversation with its branches, read as it is asked about, by somebody who sends so many messages."""

    def __init__(self, tx: Tx, where: Where, sent: int) -> None:
        self._tx, self._where, self._sent = tx, where, sent
        self._reach = REACH[0] + REACH[1] * sent
        self._firsts: dict[str, Message | None] = {}
        self._own: dict[str, tuple[Message | None, ...]] = {}
        self._said: dict[str, Utterance] = {}
        self.root = root_of(tx, where)
        trunk = log.owned(tx, where.space, self.root, where.user)
        self._known: dict[str, Conversation | None] = {self.root: trunk}

    @cached_property
    def last(self) -> int:
        """The number of the last branch, whosesoever it is; 1 if there is none."""
        below, above = 1, 2
        while self._numbered(above):
            below, above = above, above * 2
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (middle, above) if self._numbered(middle) else (below, middle)
        return below

    def _numbered(self, number: int) -> Conversation | None:
        return self._tx.conversation(self._where.space, f"{self.root}~{number}")

    @property
    def next(self) -> str:
        """What another branch is to be called."""
        return f"{self.root}~{self.last + 1}"

    @cached_property
    def branches(self) -> list[str]:
        """The user's branches, those that changed last first; of very many, those that were made last."""
        found: list[Conversation | None] = []
        if MOST < self.last <= LISTED:
            page = self._tx.conversations(
                self._where.space, self._where.user, after=(self._where.space, f"{self.root}~"), limit=LISTED
            )
            found += [one for one in page if number(one.id, self.root) > 1]
        else:
            found += [self._numbered(at) for at in range(self.last, max(self.last - MOST, 1), -1)]
        mine = [one for one in found if one is not None and one.user == self._where.user]
        self._known |= {one.id: one for one in mine}
        newest = sorted(mine, key=lambda one: (one.id == self._where.id, one.changed_at), reverse=True)
        return [one.id for one in newest[:MOST]]

    def near(self, sent: Sequence[Utterance]) -> list[Line]:
        """The trunk, and the branches that a history from the beginning may lead into."""
        found, seen = [self.line(self.root) or Line(self.root)], {self.root}
        for line in found:
            fit = reconcile.opened(self.said(line), sent)
            if fit.known == len(sent) or (fit.known == len(sent) - 1 and fit.at_end):
                break  # no branch has more of it
            reached = {place(line.messages[at]): number for number, at in enumerate(fit.places)}
            for id in self.branches:
                first = self.first(id)
                count = None if first is None else reached.get(leaves(first))
                if first is None or count is None or id in seen:
                    continue
                if reconcile.starts([self._utterance(first)], sent[count + 1], 0) and (branch := self.line(id)):
                    seen.add(id)
                    found.append(branch)
        return found

    def every(self) -> list[Line]:
        """All lines that are looked at: the one that was named first, then those that changed last."""
        ids = dict.fromkeys((self._where.id, self.root, *self.branches) if self._sent > 1 else (self._where.id,))
        found, read = list[Line](), 0
        for id in ids:
            line = self.line(id)
            if line is not None:
                found.append(line)
                read += len(line.messages)
            if read > READ:
                break
        return found or [Line(self.root)]

    def leaving(self, message: Message) -> list[Message]:
        """The first messages of the branches that leave after a message."""
        firsts = (self.first(id) for id in self.branches)
        return [first for first in firsts if first is not None and leaves(first) == place(message)]

    def line(self, id: str) -> Line | None:
        """The line that ends in a conversation; None if there is none, or if it is not known what it leaves."""
        way, parts = [(id, 0)], list[tuple[Message | None, ...]]()
        while way[-1][0] != self.root:
            first = self.first(way[-1][0]) if self._conversation(way[-1][0]) else None
            left = None if first is None else leaves(first)
            if left is None or left[0] in (one for one, _ in way):
                return None
            way.append(left)
        for at, after in reversed(way[1:]):
            part = self._upto(at, after)
            if part is None:
                return None
            parts.append(part)
        own = self._read(id)
        return Line(id, (*(one for part in parts for one in part), *own)) if own else None

    def first(self, id: str) -> Message | None:
        if id not in self._firsts:
            self._firsts[id] = next(
                iter(self._tx.messages(self._filter(id), limit=1, damaged=log.warn_of_damage)), None
            )
        return self._firsts[id]

    def said(self, line: Line) -> list[Utterance]:
        return [UNKNOWN if one is None else self._utterance(one) for one in line.messages]

    def prefaced(self, line: Line, preface: Sequence[Spoken]) -> tuple[list[Message], list[Spoken]]:
        """What a client puts before its messages: what the line has of it, and what is new."""
        if not preface:
            return [], []
        told = {(self._utterance(one).role, self._utterance(one).mark): one for one in line.messages if one}
        marks = [(one.role, one.utterance.mark) for one in preface]
        new = [one for one, mark in zip(preface, marks, strict=True) if mark not in told]
        return [told[mark] for mark in marks if mark in told], new

    def _utterance(self, message: Message) -> Utterance:
        found = self._said.get(message.id)
        if found is None:
            found = self._said[message.id] = said(message)
        return found

    def _filter(self, id: str) -> Filter:
        return Filter(self._where.space, conversation=id)

    def _conversation(self, id: str) -> Conversation | None:
        """One of this tree, if it is the user's."""
        if id not in self._known:
            found = self._tx.conversation(self._where.space, id) if number(id, self.root) else None
            self._known[id] = found if found is not None and found.user == self._where.user else None
        return self._known[id]

    def _read(self, id: str) -> tuple[Message | None, ...]:
        """A conversation's own messages; of a long one, both its ends."""
        if id not in self._own:
            conversation, where = self._conversation(id), self._filter(id)
            if conversation is None:
                self._own[id] = ()
            elif conversation.turns <= 2 * self._reach:
                self._own[id] = tuple(log.every_message(self._tx, where, log.warn_of_damage))
            else:
                ends = [
                    self._tx.messages(where, limit=self._reach, newest=end, damaged=log.warn_of_damage)
                    for end in (False, True)
                ]
                self._own[id] = (*ends[0], None, *ends[1])
        return self._own[id]

    def _upto(self, id: str, turn: int) -> tuple[Message | None, ...] | None:
        """What a conversation has of its own up to a turn; None if it has no such turn."""
        conversation, own = self._conversation(id), self._read(id)
        if conversation is None or not 1 <= turn <= conversation.turns:
            return None
        beyond = conversation.turns - turn  # messages after that turn
        return own[: turn if turn <= self._reach else max(len(own) - beyond, self._reach + 1)]


def root_of(tx: Tx, where: Where) -> str:
    """The trunk of a branch; any other conversation is its own, whatever it is called."""
    named = NUMBERED.fullmatch(where.id)
    if named is None:
        return where.id
    first = tx.messages(Filter(where.space, conversation=where.id), limit=1, damaged=log.warn_of_damage)
    return named[1] if first and leaves(first[0]) else where.id


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


def place(message: Message | None) -> tuple[str, int] | None:
    return None if message is None else (message.conversation, message.turn)


def elsewhere(tx: Tx, where: Where, sent: Sequence[Utterance]) -> Where:
    """Where a history goes on that begins like none, because its client has left out the beginning."""
    short = len(sent) <= reconcile.EVIDENCE
    if where.named or short or tx.conversation(where.space, where.id) is not None:
        return where
    page = tx.conversations(where.space, where.user, after=(where.space, "chat-"), limit=LISTED)
    found = [one for one in page if OPENED.fullmatch(one.id)]
    marks = {one.mark for one in sent}
    for one in sorted(found, key=lambda one: one.changed_at, reverse=True)[:RECENT]:
        own = Filter(where.space, conversation=one.id)
        last = map(said, tx.messages(own, limit=PAGE, newest=True, damaged=log.warn_of_damage))
        if not any(message.mark in marks for message in last):
            continue  # most are about something else, and need not be read
        there = replace(where, id=one.id)
        tree = Tree(tx, there, len(sent))
        line = tree.line(one.id)
        if line is not None and reconcile.continues(tree.said(line), sent):
            return there
    return where


def reconciled(tx: Tx, where: Where, sent: Sequence[Spoken], now: datetime) -> list[Message]:
    """The message of the log for each one sent: those it knows, and the others, which are added.

    Of a preface that is new, nothing is given, nor is it added, if it comes with nothing else that is new.
    """
    utterances = [one.utterance for one in sent]
    where = elsewhere(tx, where, utterances)
    tx.lock("lines", where.space, root_of(tx, where))
    whole = Tree(tx, where, len(sent))
    near, far = whole.near(utterances), list[Line]()

    def others() -> list[list[Utterance]]:
        far.extend(whole.every())
        return [whole.said(line) for line in far]

    which, fit = reconcile.best([whole.said(line) for line in near], utterances, others)
    line = (far or near)[which]
    known = [one for at in fit.places if (one := line.messages[at]) is not None]
    front, preface = whole.prefaced(line, sent[: fit.preface])
    new = sent[fit.preface + fit.known :]
    if not new:
        return [*front, *known]
    here, noted = line.id, dict[str, Any]()
    if not fit.at_end:
        here, noted = whole.next, {"branch": {"of": known[-1].conversation, "after": known[-1].turn}}
    elif line.messages and not known:
        noted = {"alone": True}
    drafts = [one.draft({"preface": True}) for one in preface]
    drafts += [one.draft({} if at else noted) for at, one in enumerate(new)]
    added = [one.message for one in log.append(tx, log.Batch(where.space, here, where.user, drafts), now)]
    return [*front, *added[: len(preface)], *known, *added[len(preface) :]]


def answered(tx: Tx, where: Where, asked: Message, batch: log.Batch, now: datetime) -> Message:
    """Keep a reply: after what it answers, or in a branch if that has been answered. The same reply is kept once."""
    where = replace(where, id=asked.conversation)
    tx.lock("lines", where.space, root_of(tx, where))
    draft = batch.drafts[0]
    mine = Spoken("assistant", draft.content, draft.metadata.get("openai", {})).utterance
    first = after(tx, asked)
    here = asked.conversation
    if first is not None:
        whole = Tree(tx, where, 1)
        for answer in (first, *whole.leaving(asked)):
            if answer.id == draft.id or said(answer) == mine:
                return answer
        here = whole.next
        branch = {"of": asked.conversation, "after": asked.turn}
        noted = {**draft.metadata.get(OURS, {}), "branch": branch}
        draft = replace(draft, metadata={**draft.metadata, OURS: noted})
    return log.append(tx, log.Batch(where.space, here, where.user, [draft]), now)[0].message


def after(tx: Tx, asked: Message) -> Message | None:
    """What follows a message in its conversation, apart from what need not be told back."""
    where, turn = Filter(asked.space, conversation=asked.conversation), asked.turn
    while page := tx.messages(where, after=(asked.conversation, turn), limit=PAGE, damaged=log.warn_of_damage):
        for message in page:
            if not said(message).loose:
                return message
        turn = page[-1].turn
    return None
