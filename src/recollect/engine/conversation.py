"""One conversation: adding to it, reading it back, building contexts for it, and having a model reply in it.

Everything here is of one space and one conversation, and of one user if it is a chat with one. What is retrieved for a
chat is its user's memory; what is retrieved for a channel is the channel's own, so nothing said in private is shown to
many.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.engine import episodes, knowing, log, recall, turn
from recollect.engine.archiving import archived_upto, chunks
from recollect.engine.assemble import State, assemble
from recollect.engine.commands import Answer, carried_out
from recollect.engine.pieces import Note
from recollect.engine.tiering import load_tiers
from recollect.model import Added, Budget, Chunk, Context, Draft, Episode, Filter, Hit, Message, Reply, Role
from recollect.ports import Tx
from recollect.rules import log as rules
from recollect.rules.log import checked_number
from recollect.rules.smalltalk import is_small_talk
from recollect.tasks import standalone
from recollect.tasks.reply import instructions
from recollect.tasks.task import Said

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine

MAX_TURN = 2**31 - 1  # messages in one conversation
LOOK_BACK = 400  # messages of the window considered for a context
RELEVANT = (40, 200)  # messages that recall proposes for a context: the least and the most,
TOKENS = 32  # one for so many tokens of the section
RETURNING = (3, 4)  # messages from outside the window that come back: at least so many, and one in so many of them all
SPEAKERS = 12  # messages of a channel whose authors a context tells about
EXCHANGE = 4  # messages that tell what a follow-up question is about
FOUND = 10  # messages that a model's own search gives it


class AsyncConversation:
    """One thread of messages."""

    def __init__(self, memory: MemoryEngine, space: str, id: str, user: str | None) -> None:
        self._memory = memory
        self.space, self.id, self.user = space, id, user

    def __repr__(self) -> str:
        return f"<conversation {self.space}/{self.id}>"

    async def add(
        self,
        role: Role,
        content: str,
        *,
        author: str | None = None,
        user: str | None = None,
        time: datetime | None = None,
        platform_id: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Message:
        """Keep a message. Once this returns, it is on the disk; the same platform id twice is kept once."""
        draft = Draft(role, content, author, user, time, platform_id, {} if metadata is None else metadata)
        return (await self.extend([draft]))[0].message

    async def extend(self, drafts: Iterable[Draft]) -> list[Added]:
        """Keep several messages in one transaction: all of them, or none."""
        batch = log.Batch(self.space, self.id, self.user, list(drafts))
        return (await self._memory.add_many([batch]))[0]

    async def history(self, *, limit: int | None = None, before: int | None = None) -> list[Message]:
        """The messages in order; with `limit`, the last ones, and with `before`, those before that turn."""
        count = None if limit is None else checked_number("limit", limit, MAX_TURN)
        return await self._recent(count, None if before is None else checked_number("before", before, MAX_TURN))

    async def context(
        self, text: str, *, budget: Budget | None = None, system: str | None = None, markers: bool = True
    ) -> Context:
        """What to send to a model to have `text` answered: never over budget, with a receipt.

        It tells the model how to ask for more by markers, which `reply` serves. Without `markers` it does not: for
        programs that call a model themselves and show what it says.
        """
        rules.checked_text("text", text)
        if system is not None:
            rules.checked_text("system", system)
        return await self._context(text, None, (), budget or Budget(), system, markers)

    async def reply(
        self,
        text: str,
        *,
        budget: Budget | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> Reply:
        """The whole turn: keep the message, ask the model, keep and return its reply."""
        with self._memory._turn_of(self.space, self.id):
            return await turn.answer(*await self._begin(text, budget, system, author, platform_id))

    async def stream(
        self,
        text: str,
        *,
        budget: Budget | None = None,
        system: str | None = None,
        author: str | None = None,
        platform_id: str | None = None,
    ) -> AsyncIterator[str]:
        """The same, piece by piece as it is written. A turn that is cut off keeps what was seen, as partial."""
        with self._memory._turn_of(self.space, self.id) as turns:
            begun = await self._begin(text, budget, system, author, platform_id)
            turns.append(begun)
            # Closed in step with us: whoever stops listening leaves a log that is true at once.
            async with aclosing(turn.stream(*begun)) as pieces:
                async for piece in pieces:
                    yield piece

    async def command(
        self,
        text: str,
        *,
        author: str | None = None,
        names: Sequence[str] = ("recollect", "bot"),
        addressed: bool = False,
    ) -> Answer | None:
        """Carry out what a message asks of the memory: remember, forget, tell what is known; None if it asks nothing.

        `names` are those the memory is called by; with `addressed`, the message is for it without naming it. A command
        is kept in the log with its answer; what is none is not: it is ordinary talk, for `reply` or `add`.
        """
        return await carried_out(self._memory, (self.space, self.id, self.user), text, author, tuple(names), addressed)

    async def archived(self) -> list[Chunk]:
        """The runs of messages that have left the window, oldest first."""

        def read(tx: Tx) -> list[Chunk]:
            known = log.owned(tx, self.space, self.id, self.user) is not None
            return chunks(tx, self.space, self.id) if known else []

        return await self._memory._read(read)

    async def episodes(self) -> list[Episode]:
        """What left the window, as summaries: the active ones, highest level first, each with its parts."""

        def read(tx: Tx) -> list[Episode]:
            known = log.owned(tx, self.space, self.id, self.user) is not None
            return episodes.tree(tx, self.space, self.id) if known else []

        return await self._memory._read(read)

    async def standalone(self, question: str) -> str:
        """A follow-up question so that it can be understood alone, from what was said last; as it is if it can be."""
        rules.checked_text("question", question)
        inputs = standalone.Inputs(question, await self._exchange(None))
        return (await self._memory._asking.ask(standalone, inputs)).reply.question

    async def _exchange(self, asked: Message | None) -> tuple[Said, ...]:
        """What was said last, before a message."""
        last = await self._recent(EXCHANGE, None if asked is None else asked.turn)
        return tuple(Said(message.role, message.content) for message in last)

    # -- a turn

    async def _begin(
        self, text: str, budget: Budget | None, system: str | None, author: str | None, platform_id: str | None
    ) -> tuple[turn.Turn, turn.Tools]:
        if system is not None:
            rules.checked_text("system", system)
        memory = self._memory
        parts = memory._opened
        model = memory._chat.for_task("reply")
        await memory._usable(model)
        await memory._caught_up()
        draft = Draft("user", text, author, None, None, platform_id)
        batch = log.Batch(self.space, self.id, self.user, [draft])
        # Views are woken when the turn ends: nobody waits for them, and nobody should wait because of them.
        asked = (await memory._add([batch]))[0][0].message
        tools = turn.Tools(
            model=model,
            context=partial(self._answering, budget or Budget(), system),
            search=self._search,
            write=memory._write,
            count=parts.tokenizer.count,
            now=parts.clock.now,
            woken=memory._wake,
            rounds=parts.rounds,
            raised_turns=parts.raised_turns,
        )
        return turn.Turn(asked), tools

    async def _answering(self, budget: Budget, system: str | None, asked: Message, found: Sequence[Hit]) -> Context:
        return await self._context(asked.content, asked, found, budget, system, True)

    async def _context(
        self, text: str, asked: Message | None, found: Sequence[Hit], budget: Budget, system: str | None, markers: bool
    ) -> Context:
        parts = self._memory._opened
        vector, query = None, text
        if not is_small_talk(text):
            if asked is None:  # else it was waited for before the message was kept
                await self._memory._caught_up()
            if standalone.leans(text):  # "and the second one?" is searched for with what it is about
                query = standalone.offline(standalone.Inputs(text, await self._exchange(asked))).question
            vector = (await parts.embedder.embed([query]))[0]
        now = parts.clock.now()

        def look(tx: Tx) -> State:
            owner = log.owned(tx, self.space, self.id, self.user)
            person = owner.user if owner is not None else self.user
            start = archived_upto(tx, self.space, self.id)
            where = Filter(self.space, conversation=self.id)
            window = tx.messages(where, after=(self.id, start), limit=LOOK_BACK, newest=True) if owner else []
            window = [m for m in window if not m.erased and (asked is None or m.turn < asked.turn)]
            hits, past = list[Hit](), list[Episode]()
            if vector is not None:
                self._memory._index.check(tx)
                scope = Filter(self.space, user=person) if person is not None else where
                most = min(max(budget.retrieved // TOKENS, RELEVANT[0]), RELEVANT[1])
                hits = recall.search(tx, scope, query, vector, most, now, parts.weights)
                past = episodes.nearest(tx, scope, vector, parts.near_episodes, 1 - parts.episode_distance)
            hits = [hit for hit in hits if asked is None or hit.message.id != asked.id]
            inside = {message.id for message in window}
            # While little has left the window, all of it would come back by being found, and nothing would be saved.
            outside = start if person is None else max(tx.tally(self.space, person).docs - len(window), 0)
            back = max(RETURNING[0], -(-outside // RETURNING[1]))
            return State(
                text=text,
                instructions=instructions() if markers else "",
                system=system,
                conversation=self.id,
                window=window,
                tiers=load_tiers(tx, self.space, self.id, window[0].turn - 1) if window else {},
                episodes=[one.episode for one in episodes.active_episodes(tx, self.space, self.id)] if owner else (),
                past=past,
                profile=self._known(tx, person, window, asked),
                relevance={hit.message.turn: hit.score for hit in hits if hit.message.id in inside},
                retrieved=[hit for hit in hits if hit.message.id not in inside][:back],
                found=found,
                channel=person is None,
                raised_turns=parts.raised_turns,
            )

        state = await self._memory._read(look)
        return await self._memory._run(assemble, state, budget, parts.tokenizer)

    def _known(self, tx: Tx, person: str | None, window: Sequence[Message], asked: Message | None) -> list[Note]:
        """What is known of the person, or of those who spoke last in a channel."""
        if person is not None:
            return knowing.of_person(tx, self.space, person)
        last = [*window, *([asked] if asked else [])][-SPEAKERS:]
        return knowing.of_group(tx, self.space, dict.fromkeys(m.author for m in reversed(last) if m.role == "user"))

    async def _search(self, words: str) -> list[Hit]:
        """What the model searches for: in the memory of the chat's user, or in the channel."""
        conversation = await self._memory._read(lambda tx: log.owned(tx, self.space, self.id, self.user))
        person = conversation.user if conversation is not None else self.user
        within = None if person is not None else self.id
        return await self._memory.search(words, user=person, conversation=within, space=self.space, limit=FOUND)

    async def _recent(self, limit: int | None, before: int | None) -> list[Message]:
        where = Filter(self.space, conversation=self.id)

        def read(tx: Tx) -> list[Message]:
            if log.owned(tx, self.space, self.id, self.user) is None:
                return []
            found, upto = list[Message](), None if before is None else before - 1
            while page := tx.messages(where, upto=upto, limit=limit, newest=True):
                # What was erased is not shown and does not count: so it may take more than one look.
                found[:0] = [message for message in page if not message.erased]
                if limit is None or len(found) >= limit or len(page) < limit:
                    break
                upto = page[0].turn - 1
            return found if limit is None else found[-limit:]

        return await self._memory._read(read)
