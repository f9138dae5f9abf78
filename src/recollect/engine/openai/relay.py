"""Relaying: a turn of a program that speaks to a chat model itself, with a memory in between.

The client sends its messages and gets a model's answer, both in OpenAI's shapes. What it sends is reconciled with the
log (`lines`) before the model is asked. The model is sent the memory as one system message, in which the client's own
instructions stand too, and then the client's last messages as they are; older ones are in the memory by now. What the
model asks for in markers is served here. The reply is in the log before the client is told that it has ended, so the
next request finds it. What is cut off is kept as far as it was passed on.

The budget bounds what the memory chooses. The exchange under way, from the user's last message on, is always sent
whole: if it is too long by itself, nothing is added to it, and it is refused only if the client has named a limit.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.engine import turn
from recollect.engine.conversation import AsyncConversation
from recollect.engine.openai import branches
from recollect.engine.tables import log
from recollect.engine.work.ask import NONE
from recollect.errors import InvalidInput, ModelError, RecollectError
from recollect.model import Budget, Context, Message, Section
from recollect.ports import Completion, Relay, Vectors
from recollect.rules.log import MAX_ID, checked_id
from recollect.rules.openai import messages as spoken
from recollect.rules.openai.stream import Answer, Choice, Passing, added
from recollect.rules.openai.tail import Layout, laid_out, sized
from recollect.rules.prompt.fitting import PER_MESSAGE, PER_REPLY

if TYPE_CHECKING:
    from recollect.engine.memory import MemoryEngine

TASK = "reply"
NUMBER = 8  # characters of a branch's number
TELLING = 24  # characters in a row that a server's words have from what it was sent if they repeat it


class TooLong(InvalidInput):
    """What the client sends is longer than the limit that it names."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A request of a client: its body, whose memory it is about, and what it wants of that.

    Without a `conversation`, the one that begins as the messages do. `budget` is all tokens of what the model is sent.
    """

    body: Mapping[str, Any]
    space: str
    user: str
    conversation: str | None = None
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What the model is sent, counted."""

    messages: list[Mapping[str, Any]]
    tokens: int


async def relay_of(memory: MemoryEngine, body: Mapping[str, Any]) -> Relay:
    """The model that is meant; raises NoModel, which says how to configure one."""
    model = body.get("model")
    if not isinstance(model, str | None):
        raise InvalidInput("model", "must be text")
    if model and len(model) > MAX_ID:
        raise InvalidInput("model", f"has {len(model)} characters; at most {MAX_ID} are allowed")
    found = memory._chat.relay(TASK, model or "")
    if found.name == NONE:
        await memory._usable(memory._chat.for_task(TASK))
    return found


def model_names(memory: MemoryEngine) -> tuple[str, ...]:
    """The models that a client can name."""
    memory._opened  # noqa: B018  a memory that is closed has none
    return memory._chat.names


async def embedded(memory: MemoryEngine, texts: Sequence[str]) -> tuple[Vectors, str, int]:
    """The vectors of texts as the memory makes them, the name of what made them, and how many tokens they have."""
    parts = memory._opened
    await parts.embedder.ready()
    vectors = await parts.embedder.embed(texts)
    tokens = await memory._run(lambda: sum(map(parts.tokenizer.count, texts)))
    return vectors, parts.embedder.identity, tokens


async def passed_on(memory: MemoryEngine, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """The answer to a request that has nothing to do with the memory."""
    spoken.checked(body.get("messages"))
    relay = await relay_of(memory, body)
    async with aclosing(relay.relay(body)) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            # What a stream costs is always asked for, and told to those who asked.
            if chunk["choices"] or not chunk.get("usage") or wants_usage(body):
                yield chunk


def speaks(body: Mapping[str, Any]) -> bool:
    """Whether anybody says anything in a request: instructions alone are nothing to remember."""
    return any(one["role"] not in spoken.INSTRUCTIONS for one in spoken.checked(body.get("messages")))


async def begin(memory: MemoryEngine, asking: Asking) -> Talk:
    """Keep what is new of the client's messages, and build the first context. With no model, nothing is kept."""
    messages = spoken.checked(asking.body.get("messages"))
    # Whatever takes longer the longer a history is happens in a thread: others are being answered meanwhile.
    sent = await memory._run(lambda: [spoken.spoken(m) for m in messages if m["role"] not in spoken.INSTRUCTIONS])
    if not sent or sent[-1].silent:
        raise InvalidInput("messages", "ends in a message with nothing in it")
    sent = [one for one in sent if not one.silent]
    relay = await relay_of(memory, asking.body)
    id = asking.conversation or spoken.opening(sent, asking.space, asking.user)
    if len(checked_id("conversation", id)) > MAX_ID - NUMBER:
        raise InvalidInput("conversation", f"has {len(id)} characters; at most {MAX_ID - NUMBER} are allowed")
    named = bool(asking.conversation)
    where = branches.Where(checked_id("space", asking.space), checked_id("user", asking.user), id, named)
    await memory._caught_up(where.space)
    now = memory._opened.clock.now()
    kept: list[Message] = await memory._write(lambda tx: branches.reconciled(tx, where, sent, now))
    talk = Talk(memory, asking, relay, where, kept)
    try:
        await talk.prepare()
    except BaseException:
        memory._wake()  # else when the turn ends: nobody should wait because of views
        raise
    return talk


class Talk:
    """One request and its answer: `whole`, or in chunks by `stream`."""

    def __init__(
        self, memory: MemoryEngine, asking: Asking, relay: Relay, where: branches.Where, kept: Sequence[Message]
    ) -> None:
        self._memory, self._relay, self._where, self._kept = memory, relay, where, kept
        self._body, self._limit = asking.body, asking.budget
        parts = memory._opened
        self._count, self._rounds = parts.tokenizer.count, parts.rounds
        self._conversation = AsyncConversation(memory, where.space, kept[-1].conversation, where.user)
        self._turn = turn.Turn(kept[-1])
        self._usages = list[dict[str, Any]]()
        self._told = Told([], 0)
        self.tokens = 0
        self._tools = turn.Tools(
            model=memory._chat.for_task(TASK),
            context=partial(self._conversation._answering, sized(asking.budget), None),
            search=self._conversation._search,
            write=memory._write,
            count=self._count,
            now=parts.clock.now,
            woken=memory._wake,
            rounds=parts.rounds,
            raised_turns=parts.raised_turns,
            append=lambda tx, batch, now: branches.answered(tx, where, kept[-1], batch, now),
        )

    @property
    def conversation(self) -> str:
        """Where the message stands that is answered."""
        return self._turn.asked.conversation

    # -- what the model is sent

    async def prepare(self) -> None:
        """Build the first context, so that what does not fit is known before anything is answered."""
        self._told = await self._tell(self._asks)
        self.tokens = self._told.tokens

    @property
    def _asks(self) -> bool:
        """Whether the model may ask for more: not where its answer has a shape of its own."""
        shape = self._body.get("response_format")
        shaped = isinstance(shape, dict) and shape.get("type") != "text"
        return self._single and not shaped and not self._body.get("logprobs")

    @property
    def _single(self) -> bool:
        return self._body.get("n") in (None, 1)

    async def _tell(self, markers: bool) -> Told:
        budget, branch = sized(self._limit), self._kept[0].conversation != self.conversation
        run = self._memory._run
        layout = await run(lambda: laid_out(self._body, budget, self._count, all_of_it=branch))
        room = replace(
            budget,
            total=budget.total - layout.beside,
            system=budget.system + await run(self._count, layout.system or ""),
            pairs=0,
        )
        aside = frozenset(message.id for message in self._kept[max(len(self._kept) - layout.spoken, 0) :])
        try:
            context = await self._conversation._context(
                layout.text, self._turn.asked, self._turn.found, room, layout.system, markers, aside
            )
        except InvalidInput as error:
            return await run(self._bare, layout, budget, error)
        self._turn.context = noted(context, budget, layout)
        first = context.messages[0]
        system = [{"role": layout.role, "content": first["content"]}] if len(context.messages) > 1 else []
        return Told([*system, *layout.tail], self._turn.context.receipt.tokens)

    def _bare(self, layout: Layout, budget: Budget, error: InvalidInput) -> Told:
        """Only what the client sends, as there is no room for more."""
        system = [{"role": layout.role, "content": layout.system}] if layout.system else []
        tokens = layout.beside + self._count(layout.text) + PER_MESSAGE + PER_REPLY
        tokens += self._count(layout.system) + PER_MESSAGE if layout.system else 0
        if self._limit is not None and tokens > budget.total:
            reason = f"have {tokens} tokens from the user's last message on, and the budget is {budget.total}"
            raise TooLong("messages", f"{reason}; send less, or allow more") from error
        return Told([*system, *layout.tail], tokens)

    def _request(self) -> dict[str, Any]:
        """What is put to the model: what the client asks, about what the memory tells. What a stream costs is always
        asked for."""
        body = {**self._body, "messages": self._told.messages}
        options = body.get("stream_options")
        if isinstance(options, dict) and not {*options} - {"include_usage"}:
            del body["stream_options"]
        return body

    def _frame(self) -> dict[str, Any]:
        now = self._tools.now()
        return {"id": f"chatcmpl-{log.new_id(now)}", "created": int(now.timestamp()), "model": self._model}

    @property
    def _model(self) -> str:
        """What the model is called where its server does not say; its own name has the server's address in it."""
        return str(self._body.get("model") or next(iter(self._memory._chat.names), ""))

    # -- what it answers

    async def whole(self) -> dict[str, Any]:
        """The answer at once. One that nobody waits for any more is given up, and not kept."""
        with self._memory._turn_of(self._where.space, self.conversation):
            left, markers = self._rounds, self._asks
            while True:
                answer = Answer(await self._asked())
                cost = await self._cost(answer.reply.get("usage"), answer.reply, answer.first)
                if not await self._again(answer.first, cost, left, markers):
                    break
                left, markers = (left - 1, markers) if answer.first.asks else (left, False)
                self._told = await self._tell(markers)
            final = answer.last(self._frame(), added(self._usages))
            self._turn.said = answer.first.words
            await turn.seen_through(self._keep(answer.first))
            return final

    async def _asked(self) -> dict[str, Any]:
        async with aclosing(self._relay.relay(self._request())) as replies:  # type: ignore[type-var]
            try:
                return [reply async for reply in replies][-1]
            except ModelError as error:
                raise discreet(error, self._told.messages) from None

    async def stream(self) -> AsyncGenerator[dict[str, Any]]:
        """The answer in chunks. It is in the log before the client is told that it has ended."""
        with self._memory._turn_of(self._where.space, self.conversation) as turns:
            turns.append((self._turn, self._tools))
            try:
                async with aclosing(self._streamed()) as chunks:
                    async for chunk in chunks:
                        if self._turn.ended:
                            raise RecollectError("the memory was closed during this turn; open it again and ask again")
                        yield {"usage": None, **chunk} if wants_usage(self._body) else chunk
            except BaseException:
                await turn.cut_off(self._turn, self._tools)
                raise

    async def _streamed(self) -> AsyncGenerator[dict[str, Any]]:
        passing, left, markers = Passing(self._frame()), self._rounds, self._asks
        while True:
            async with aclosing(self._chunks()) as source:
                async for chunk in source:
                    passed = passing.feed(chunk)
                    self._turn.said = passing.first.words
                    if passed:
                        yield passed
            passing.finish()
            cost = await self._cost(passing.usages[-1], passing.frame, passing.first)
            if not await self._again(passing.first, cost, left, markers):
                break
            left, markers = (left - 1, markers) if passing.first.asks else (left, False)
            passing.again()
            self._told = await self._tell(markers)
        ends = passing.last()
        self._turn.said = passing.first.words
        await turn.seen_through(self._keep(passing.first))
        for chunk in ends:
            yield chunk
        if wants_usage(self._body):
            yield passing.cost(added(self._usages))

    async def _chunks(self) -> AsyncGenerator[dict[str, Any]]:
        async with aclosing(self._relay.relay(self._request())) as chunks:  # type: ignore[type-var]
            try:
                async for chunk in chunks:
                    yield chunk
            except ModelError as error:
                raise discreet(error, self._told.messages) from None

    async def _again(self, first: Choice, cost: Completion, left: int, markers: bool) -> bool:
        """Whether the model is to be asked once more: it asked for something, or said nothing but notes for us."""
        assert first.held is not None
        if self._single and first.asks and left and not first.calls:
            self._turn.rounds.append(await turn.serve(self._turn, self._tools, first.held, cost))
            return True
        self._turn.rounds.append(turn.receipt_of(self._turn, cost))
        only_notes = first.held.markers.asks or first.held.inline is not None
        return self._single and markers and only_notes and first.said_nothing

    async def _cost(self, usage: object, reply: Mapping[str, Any], first: Choice) -> Completion:
        """What a round cost: as the server says, or else as counted here."""
        told = usage if isinstance(usage, dict) else {}
        spent, made = told.get("prompt_tokens"), told.get("completion_tokens")
        if not isinstance(spent, int) or not isinstance(made, int) or spent <= 0:
            assert first.held is not None
            text = first.held.markers.text + (first.held.inline or "") + "".join(map(str, first.calls.values()))
            spent, counted = self._told.tokens, await self._memory._run(self._count, text)
            made = counted
            told = {"prompt_tokens": spent, "completion_tokens": counted, "total_tokens": spent + counted}
        self._usages.append(told)
        return Completion("", str(reply.get("model") or self._model), spent, made)

    async def _keep(self, first: Choice) -> None:
        """Put the reply into the log, unless there is nothing in it."""
        assert first.held is not None
        told = spoken.aloud({"content": first.shown, "refusal": first.refusals, "audio": {"id": first.sound}})
        if first.calls:
            told |= spoken.calls_told([first.calls[place] for place in sorted(first.calls)])
        self._turn.told = {spoken.WIRE: told} if told else {}
        if first.calls or not turn.is_blank(self._turn.shown):
            self._turn.inline = first.held.inline
            await turn.keep(self._turn, self._tools, partial=not first.complete)


def wants_usage(body: Mapping[str, Any]) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage"))


def noted(context: Context, budget: Budget, layout: Layout) -> Context:
    """The context with what the client sends beside it on its receipt."""
    receipt = context.receipt
    sections = (*receipt.sections, Section("client", layout.beside))
    receipt = replace(receipt, budget=budget, tokens=receipt.tokens + layout.beside, sections=sections)
    return replace(context, receipt=receipt)


def discreet(error: ModelError, messages: Sequence[Mapping[str, Any]]) -> ModelError:
    """The error without a server's words, if they repeat what it was sent: that may be memory."""
    if error.refusal is not None:
        said = error.refusal.message
        sent = "\n".join(spoken.words(one) for one in messages if one["role"] in spoken.INSTRUCTIONS)
        if any(
            said[at : at + TELLING] in sent for at in range(max(len(said) - TELLING, 0) + 1) if len(said) >= TELLING
        ):
            error.refusal = replace(error.refusal, message="")
    return error
