"""Lines: a conversation with the branches that clients make of it, and the place of a message in them.

A branch is a conversation of its own, `ID~2`, that starts where it leaves another: the metadata of its first message
says which conversation it leaves (`of`) and after which turn (`after`). So nothing is copied or rewritten, and views,
exports and proofs handle branches like any conversation. A line is what a client sees: the trunk up to that turn, and
then the branch. Messages are placed under one lock for the whole tree: two requests at once run one after the other.

No more is read than necessary, since all requests wait for that lock. A history is followed from its beginning, only
into branches that continue as it does. A history that does not match from its beginning is looked for in the lines that
changed last, and in a long conversation only as far from its beginning and its end as the sent messages can reach.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from everword.log import append_and_read as log
from everword.log.secret_policy import SecretPolicy
from everword.model import Batch, Conversation, Filter, Message
from everword.model.log import notes_key, own_notes
from everword.openai import reconcile
from everword.openai.messages import OPENED, ParsedMessage, utterance_of
from everword.openai.reconcile import UNKNOWN, Utterance
from everword.ports import Tx

NUMBERED = re.compile(r"(.+)~([1-9]\d{0,5})", re.DOTALL)
LISTED = 1_000  # conversations among which those that changed last are looked for
MOST = 100  # branches that are looked at
READ = 20_000  # messages that are read for a history without its beginning
REACH = (64, 16)  # messages read at each end of a conversation: a base, and so many more for each one sent
RECENT = 10  # conversations that a history may continue if it begins like none
PAGE = 50  # messages read for a first look


@dataclass(frozen=True, slots=True)
class ConversationTarget:
    """The conversation that a request is for, and its user: the trunk or one of its branches. If the client has not
    `named` it, it is the one that begins as its messages do, or else one that they continue."""

    space: str
    user: str | None
    id: str
    named: bool = True


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """One path through the tree, from the first message to the last, which is in the conversation `id`. None stands for
    messages that were not read."""

    id: str
    messages: tuple[Message | None, ...] = ()


class Tree:
    """A conversation with its branches, read as needed, for a client that sends so many messages."""

    def __init__(self, tx: Tx, target: ConversationTarget, sent_count: int) -> None:
        self._tx = tx
        self._target = target
        self._sent_count = sent_count
        self._reach = REACH[0] + REACH[1] * sent_count
        self._firsts: dict[str, Message | None] = {}
        self._messages: dict[str, tuple[Message | None, ...]] = {}
        self._utterances: dict[str, Utterance] = {}
        self.root = root_of(tx, target)
        trunk = log.find_own_conversation(tx, target.space, self.root, target.user)
        self._conversations: dict[str, Conversation | None] = {self.root: trunk}

    @cached_property
    def last_number(self) -> int:
        """The number of the last branch of any user; 1 if there is none."""
        below = 1
        above = 2
        while self._branch(above):
            below = above
            above *= 2
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (middle, above) if self._branch(middle) else (below, middle)
        return below

    def _branch(self, number: int) -> Conversation | None:
        return self._tx.conversation(self._target.space, f"{self.root}~{number}")

    @property
    def next_id(self) -> str:
        """The id of the next new branch."""
        return f"{self.root}~{self.last_number + 1}"

    @cached_property
    def branches(self) -> list[str]:
        """The user's branches, those that changed last first; if there are very many, only those made last."""
        conversations: list[Conversation | None] = []
        if MOST < self.last_number <= LISTED:
            page = self._tx.conversations(
                self._target.space, self._target.user, after=(self._target.space, f"{self.root}~"), limit=LISTED
            )
            conversations += [conversation for conversation in page if branch_number(conversation.id, self.root) > 1]
        else:
            conversations += [
                self._branch(index) for index in range(self.last_number, max(self.last_number - MOST, 1), -1)
            ]
        own_conversations = [
            conversation
            for conversation in conversations
            if conversation is not None and conversation.user == self._target.user
        ]
        self._conversations |= {conversation.id: conversation for conversation in own_conversations}
        newest_first = sorted(own_conversations, key=self._recency, reverse=True)
        return [conversation.id for conversation in newest_first[:MOST]]

    def _recency(self, conversation: Conversation) -> tuple[bool, datetime]:
        """The sort key of a branch: the target itself, then by the last change."""
        return conversation.id == self._target.id, conversation.changed_at

    def near_lines(self, history: Sequence[Utterance]) -> list[ConversationLine]:
        """The trunk, and the branches that a history from its beginning may lead into."""
        lines = [self.line(self.root) or ConversationLine(self.root)]
        seen_ids = {self.root}
        for line in lines:
            fit = reconcile.fit_from_start(self.utterances_of(line), history)
            if fit.overlap == len(history) or (fit.overlap == len(history) - 1 and fit.at_end):
                break  # no branch has more of it
            counts_by_position = {
                position_of(line.messages[index]): known_count for known_count, index in enumerate(fit.places)
            }
            for id in self.branches:
                first = self.first_message(id)
                count = None if first is None else counts_by_position.get(branch_origin(first))
                if first is None or count is None or id in seen_ids:
                    continue
                if reconcile.possible_starts([self._utterance(first)], history[count + 1], 0) and (
                    branch := self.line(id)
                ):
                    seen_ids.add(id)
                    lines.append(branch)
        return lines

    def all_lines(self) -> list[ConversationLine]:
        """All lines that are compared: first the target's own, then those that changed last."""
        ids = dict.fromkeys(
            (self._target.id, self.root, *self.branches) if self._sent_count > 1 else (self._target.id,)
        )
        lines: list[ConversationLine] = []
        message_count = 0
        for id in ids:
            line = self.line(id)
            if line is not None:
                lines.append(line)
                message_count += len(line.messages)
            if message_count > READ:
                break
        return lines or [ConversationLine(self.root)]

    def branch_starts_after(self, message: Message) -> list[Message]:
        """The first messages of the branches that leave after a message."""
        firsts = (self.first_message(id) for id in self.branches)
        return [first for first in firsts if first is not None and branch_origin(first) == position_of(message)]

    def line(self, id: str) -> ConversationLine | None:
        """The line that ends in a conversation; None if there is none, or if it is not known what it leaves."""
        way = [(id, 0)]
        parts: list[tuple[Message | None, ...]] = []
        while way[-1][0] != self.root:
            first = self.first_message(way[-1][0]) if self._conversation(way[-1][0]) else None
            origin = None if first is None else branch_origin(first)
            if origin is None or origin[0] in (conversation for conversation, _ in way):
                return None
            way.append(origin)
        for conversation, turn in reversed(way[1:]):
            part = self._own_messages_upto(conversation, turn)
            if part is None:
                return None
            parts.append(part)
        own_messages = self._own_messages(id)
        return (
            ConversationLine(id, (*(message for part in parts for message in part), *own_messages))
            if own_messages
            else None
        )

    def first_message(self, id: str) -> Message | None:
        if id not in self._firsts:
            self._firsts[id] = next(
                iter(self._tx.messages(self._filter(id), limit=1, damaged=log.warn_of_damage)), None
            )
        return self._firsts[id]

    def utterances_of(self, line: ConversationLine) -> list[Utterance]:
        return [UNKNOWN if message is None else self._utterance(message) for message in line.messages]

    def split_preface(
        self, line: ConversationLine, preface: Sequence[ParsedMessage]
    ) -> tuple[list[Message], list[ParsedMessage]]:
        """The messages that the line has of what a client puts before its own messages, and those that are new."""
        if not preface:
            return [], []
        messages_by_mark = {
            (self._utterance(message).role, self._utterance(message).mark): message
            for message in line.messages
            if message
        }
        marks = [(preface_message.role, preface_message.utterance.mark) for preface_message in preface]
        new_preface = [
            preface_message
            for preface_message, mark in zip(preface, marks, strict=True)
            if mark not in messages_by_mark
        ]
        return [messages_by_mark[mark] for mark in marks if mark in messages_by_mark], new_preface

    def _utterance(self, message: Message) -> Utterance:
        utterance = self._utterances.get(message.id)
        if utterance is None:
            utterance = self._utterances[message.id] = utterance_of(message)
        return utterance

    def _filter(self, id: str) -> Filter:
        return Filter(self._target.space, conversation=id)

    def _conversation(self, id: str) -> Conversation | None:
        """A conversation of this tree, if it is the user's."""
        if id not in self._conversations:
            conversation = self._tx.conversation(self._target.space, id) if branch_number(id, self.root) else None
            self._conversations[id] = (
                conversation if conversation is not None and conversation.user == self._target.user else None
            )
        return self._conversations[id]

    def _own_messages(self, id: str) -> tuple[Message | None, ...]:
        """A conversation's own messages; of a long one, only both ends."""
        if id not in self._messages:
            conversation = self._conversation(id)
            where = self._filter(id)
            if conversation is None:
                self._messages[id] = ()
            elif conversation.turns <= 2 * self._reach:
                self._messages[id] = tuple(log.every_message(self._tx, where, log.warn_of_damage))
            else:
                ends = [
                    self._tx.messages(where, limit=self._reach, newest=newest, damaged=log.warn_of_damage)
                    for newest in (False, True)
                ]
                self._messages[id] = (*ends[0], None, *ends[1])
        return self._messages[id]

    def _own_messages_upto(self, id: str, turn: int) -> tuple[Message | None, ...] | None:
        """A conversation's own messages up to a turn; None if it has no such turn."""
        conversation = self._conversation(id)
        own_messages = self._own_messages(id)
        if conversation is None or not 1 <= turn <= conversation.turns:
            return None
        beyond = conversation.turns - turn  # messages after that turn
        return own_messages[: turn if turn <= self._reach else max(len(own_messages) - beyond, self._reach + 1)]


def root_of(tx: Tx, target: ConversationTarget) -> str:
    """The trunk of a branch; any other conversation is its own trunk, whatever its id looks like."""
    match = NUMBERED.fullmatch(target.id)
    if match is None:
        return target.id
    first_messages = tx.messages(Filter(target.space, conversation=target.id), limit=1, damaged=log.warn_of_damage)
    return match[1] if first_messages and branch_origin(first_messages[0]) else target.id


def branch_number(id: str, root: str) -> int:
    """The number of a branch: 1 for the trunk, 0 if it is not a branch of this root."""
    match = NUMBERED.fullmatch(id)
    return 1 if id == root else int(match[2]) if match and match[1] == root else 0


def branch_origin(first: Message) -> tuple[str, int] | None:
    """The conversation and the turn that a branch leaves, by its first message."""
    branch = own_notes(first.metadata).get("branch")
    of, after = (branch.get("of"), branch.get("after")) if isinstance(branch, dict) else (None, None)
    return (of, after) if isinstance(of, str) and isinstance(after, int) else None


def position_of(message: Message | None) -> tuple[str, int] | None:
    return None if message is None else (message.conversation, message.turn)


def find_continued(tx: Tx, target: ConversationTarget, history: Sequence[Utterance]) -> ConversationTarget:
    """The conversation that a history continues although it begins like none: its client has left out the beginning."""
    is_short = len(history) <= reconcile.EVIDENCE
    if target.named or is_short or tx.conversation(target.space, target.id) is not None:
        return target
    page = tx.conversations(target.space, target.user, after=(target.space, "chat-"), limit=LISTED)
    chats = [chat for chat in page if OPENED.fullmatch(chat.id)]
    marks = {utterance.mark for utterance in history}
    for chat in sorted(chats, key=lambda chat: chat.changed_at, reverse=True)[:RECENT]:
        chat_filter = Filter(target.space, conversation=chat.id)
        last_utterances = map(
            utterance_of, tx.messages(chat_filter, limit=PAGE, newest=True, damaged=log.warn_of_damage)
        )
        if not any(utterance.mark in marks for utterance in last_utterances):
            continue  # most are about something else and need not be read further
        candidate = replace(target, id=chat.id)
        tree = Tree(tx, candidate, len(history))
        line = tree.line(chat.id)
        if line is not None and reconcile.continues(tree.utterances_of(line), history):
            return candidate
    return target


def read_line(tx: Tx, space: str, user: str, ids: Sequence[str]) -> tuple[str, list[Message]] | None:
    """The conversation of a reply, and the user's line up to it. `ids` are the reply's and that of the message it
    answers, which stands for it if it was kept as another; None if there is neither."""
    for id in ids:
        message = next(iter(tx.find_messages(space, ids=[id], damaged=log.warn_of_damage)), None)
        conversation = None if message is None else tx.conversation(space, message.conversation)
        if message is None or conversation is None or conversation.user != user:
            continue
        if message.role == "user":
            message = find_next_message(tx, message) or message
        target = ConversationTarget(space, user, message.conversation)
        line = Tree(tx, target, LISTED).line(message.conversation)
        if line is None:
            continue
        messages = [kept for kept in line.messages if kept is not None]
        places = [place for place, kept in enumerate(messages) if kept.id == message.id]
        if places:
            return message.conversation, messages[: places[0] + 1]
    return None


def reconcile_messages(
    tx: Tx, target: ConversationTarget, sent_messages: Sequence[ParsedMessage], now: datetime, secrets: SecretPolicy
) -> list[Message]:
    """The message of the log for each one sent: those that are there, and the others, which are added.

    A new preface is neither added nor returned if nothing else is new.
    """
    utterances = [sent_message.utterance for sent_message in sent_messages]
    target = find_continued(tx, target, utterances)
    tx.lock("lines", target.space, root_of(tx, target))
    tree = Tree(tx, target, len(sent_messages))
    near_lines = tree.near_lines(utterances)
    far_lines: list[ConversationLine] = []

    def others() -> Iterator[list[Utterance]]:
        far_lines.extend(tree.all_lines())
        yield from map(tree.utterances_of, far_lines)

    line_index, fit = reconcile.best_line([tree.utterances_of(line) for line in near_lines], utterances, others())
    line = (far_lines or near_lines)[line_index]
    known_messages = [message for index in fit.places if (message := line.messages[index]) is not None]
    known_preface, new_preface = tree.split_preface(line, sent_messages[: fit.preface])
    new_messages = sent_messages[fit.preface + fit.overlap :]
    if not new_messages:
        return [*known_preface, *known_messages]
    conversation = line.id
    notes: dict[str, Any] = {}
    if not fit.at_end:
        conversation = tree.next_id
        notes = {"branch": {"of": known_messages[-1].conversation, "after": known_messages[-1].turn}}
    elif line.messages and not known_messages:
        notes = {"alone": True}
    drafts = [sent_message.draft({"preface": True}) for sent_message in new_preface]
    drafts += [sent_message.draft({} if index else notes) for index, sent_message in enumerate(new_messages)]
    batch = Batch(target.space, conversation, target.user, drafts)
    added_messages = [entry.message for entry in log.append_messages(tx, batch, now, secrets)]
    return [*known_preface, *added_messages[: len(new_preface)], *known_messages, *added_messages[len(new_preface) :]]


def keep_reply(
    tx: Tx,
    target: ConversationTarget,
    question: Message,
    batch: Batch,
    now: datetime,
    secrets: SecretPolicy,
    fresh_ids: Collection[str] = (),
) -> Message:
    """Keep a reply: after the message it answers, or in a branch if that already has an answer. The same reply is kept
    only once."""
    target = replace(target, id=question.conversation)
    tx.lock("lines", target.space, root_of(tx, target))
    draft = batch.drafts[0]
    utterance = ParsedMessage("assistant", draft.content, draft.metadata.get("openai", {})).utterance
    next_message = find_next_message(tx, question)
    conversation = question.conversation
    if next_message is not None:
        tree = Tree(tx, target, 1)
        for answer in (next_message, *tree.branch_starts_after(question)):
            if answer.id == draft.id or utterance_of(answer) == utterance:
                return answer
        conversation = tree.next_id
        branch = {"of": question.conversation, "after": question.turn}
        notes = {**own_notes(draft.metadata), "branch": branch}
        draft = replace(draft, metadata={**draft.metadata, notes_key(draft.metadata): notes})
    reply = Batch(target.space, conversation, target.user, [draft])
    return log.append_messages(tx, reply, now, secrets, fresh_ids)[0].message


def find_next_message(tx: Tx, question: Message) -> Message | None:
    """The message that follows another in its conversation, except those that a client need not send back."""
    where = Filter(question.space, conversation=question.conversation)
    turn = question.turn
    while page := tx.messages(where, after=(question.conversation, turn), limit=PAGE, damaged=log.warn_of_damage):
        for message in page:
            if not utterance_of(message).loose:
                return message
        turn = page[-1].turn
    return None
