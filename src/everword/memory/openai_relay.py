"""Relays a turn of a program that talks to a chat model itself, and adds the memory.

The client sends its messages and gets a model's answer, both in OpenAI's shapes. What it sends is reconciled with the
log (`openai_branches`) before the model is asked. The model gets the memory as one system message, which includes the
client's own instructions, and then the client's last messages as they are; older ones are in the memory by now. What
the model asks for in markers is served here. The reply is in the log before the client is told that it has ended, so
the next request finds it. A reply that is cut off is kept as far as it was passed on.

The budget limits what the memory chooses. The current exchange, from the user's last message on, is always sent whole:
if it is too long by itself, nothing is added to it, and it is refused only if the client has named a limit.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from everword.context import turn
from everword.context.build import PER_MESSAGE, PER_REPLY
from everword.errors import EverwordError, InvalidInput
from everword.follow.model_calls import NONE, check_usable
from everword.log import append_and_read as log
from everword.log.access import ConversationScope
from everword.log.append_and_read import REPEATED
from everword.log.checks_and_seals import MAX_ID, check_id
from everword.log.secret_policy import SecretPolicy
from everword.memory import openai_branches as branches
from everword.memory.gather_context import ContextBuilder
from everword.memory.runtime import Runtime
from everword.model import Batch, Budget, Context, Filter, Message, Receipt, Section
from everword.openai import messages as message_rules
from everword.openai.messages import Layout, budget_of, is_whole, lay_out
from everword.openai.request_layouts import Shape
from everword.openai.stream import Choice, CompleteReply, ReplyStream, sum_usages
from everword.ports import LAST_EVENTS, Completion, ForeignApi, Relay, Tx, Vectors

TASK = "reply"
REPLY_NAME = re.compile(r"resp_(.{20})_(.{20})", re.DOTALL)
BRANCH_NUMBER_LENGTH = 8  # characters of a branch's number


class TooLong(InvalidInput):
    """What the client sends is longer than the limit it names."""


@dataclass(frozen=True, slots=True)
class RelayRequest:
    """A request of a client: its body, the space and user whose memory is used, and options.

    Without a `conversation`, it is the one that begins as the messages do. `budget` is the total of tokens that the
    model is sent. `history` is what the log has of the messages before those of the body, if the client names it.
    """

    body: Mapping[str, Any]
    space: str
    user: str
    conversation: str | None = None
    budget: int | None = None
    history: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelPrompt:
    """The messages that the model is sent, and their tokens."""

    messages: list[Mapping[str, Any]]
    tokens: int


def model_of_request(body: Mapping[str, Any]) -> str:
    """The name of the model in a request; empty if there is none."""
    model = body.get("model")
    if not isinstance(model, str | None):
        raise InvalidInput("model", "must be text")
    if model and len(model) > MAX_ID:
        raise InvalidInput("model", f"has {len(model)} characters; at most {MAX_ID} are allowed")
    return model or ""


async def find_relay(runtime: Runtime, body: Mapping[str, Any]) -> Relay:
    """The model that a request names; raises NoModel, which says how to configure one."""
    relay = runtime.chat.relay(TASK, model_of_request(body))
    if relay.name == NONE:
        await check_usable(runtime.chat.for_task(TASK))
    return relay


def find_forwarder(
    runtime: Runtime, body: Mapping[str, Any], api: ForeignApi, headers: Mapping[str, str]
) -> Relay | None:
    """The model that a request of another API names, if its server speaks that API."""
    return runtime.chat.forwarder(TASK, model_of_request(body), api, headers)


def model_names(runtime: Runtime) -> tuple[str, ...]:
    """The models that a client can name."""
    runtime.parts  # noqa: B018  a memory that is closed has none
    return runtime.chat.names


async def embed_texts(runtime: Runtime, texts: Sequence[str]) -> tuple[Vectors, str, int]:
    """The vectors of texts by the memory's embedder, the name of that embedder, and how many tokens the texts have."""
    parts = runtime.parts
    await parts.embedder.ready()
    vectors = await parts.embedder.embed(texts)
    tokens = await runtime.run(lambda: sum(map(parts.tokenizer.count, texts)))
    return vectors, parts.embedder.identity, tokens


async def relay_without_memory(runtime: Runtime, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """The answer to a request that does not use the memory."""
    message_rules.check_messages(body.get("messages"))
    relay = await find_relay(runtime, body)
    async with aclosing(relay.relay(body)) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            # The usage of a stream is always requested, but passed on only to clients that asked for it.
            if chunk["choices"] or not chunk.get("usage") or wants_usage(body):
                yield chunk


def has_speech(body: Mapping[str, Any]) -> bool:
    """Whether a request has messages besides instructions, which alone are nothing to remember."""
    return any(
        message["role"] not in message_rules.INSTRUCTIONS
        for message in message_rules.check_messages(body.get("messages"))
    )


async def begin_exchange(runtime: Runtime, request: RelayRequest) -> RelayExchange:
    """Keep what is new of the client's messages, and build the first context. With no model, nothing is kept."""
    sent_messages = await read_request(runtime, request)
    relay = await find_relay(runtime, request.body)
    target, kept_messages = await keep_request(runtime, request, sent_messages)
    exchange = RelayExchange(runtime, request, relay, target, kept_messages)
    try:
        await exchange.prepare()
    except BaseException:
        runtime.wake()  # otherwise done when the turn ends, so that the turn does not wait for views
        raise
    return exchange


async def read_request(runtime: Runtime, request: RelayRequest) -> list[message_rules.ParsedMessage]:
    """What a request says, without instructions and what has nothing in it."""
    messages = message_rules.check_messages(request.body.get("messages"))

    def read_messages() -> list[message_rules.ParsedMessage]:
        return [
            message_rules.parse_message(message)
            for message in messages
            if message["role"] not in message_rules.INSTRUCTIONS
        ]

    # What takes longer for a longer history runs in a thread, so that others are answered meanwhile.
    sent_messages = await runtime.run(read_messages)
    if not sent_messages or sent_messages[-1].silent:
        raise InvalidInput("messages", "must not end with an empty message")
    sent_messages = [*map(message_rules.parse_kept, request.history), *sent_messages]
    return [sent_message for sent_message in sent_messages if not sent_message.silent]


def with_history(body: Mapping[str, Any], history: Sequence[Message]) -> Mapping[str, Any]:
    """A body with what the log has before its messages, from the first message of a user on."""
    start = next((place for place, message in enumerate(history) if message.role == "user"), len(history))
    earlier = [message_rules.wire_message(message) for message in history[start:] if not message.erased]
    if not earlier:
        return body
    messages = body["messages"]
    orders = [message for message in messages if message["role"] in message_rules.INSTRUCTIONS]
    others = [message for message in messages if message["role"] not in message_rules.INSTRUCTIONS]
    return {**body, "messages": [*orders, *earlier, *others]}


async def read_history(runtime: Runtime, space: str, user: str, reply: str) -> tuple[str, tuple[Message, ...]] | None:
    """The conversation in which a reply was given, and its messages up to there; None if the user has no such reply.
    `reply` is as `reply_name` writes it, or as another server named it."""
    match = REPLY_NAME.fullmatch(reply)
    ids = [reply] if match is None else [match[2], match[1]]
    line = await runtime.read(lambda tx: branches.read_line(tx, space, user, ids))
    return None if line is None else (line[0], tuple(line[1]))


def reply_name(question: str, reply: str) -> str:
    """A name for a reply, by its id and that of the message it answers."""
    return f"resp_{question}_{reply}"


async def keep_request(
    runtime: Runtime, request: RelayRequest, sent_messages: Sequence[message_rules.ParsedMessage]
) -> tuple[branches.ConversationTarget, list[Message]]:
    """Keep what is new of what a request says: the conversation it is for, and the message of the log for each one."""
    id = request.conversation or message_rules.opening_id(sent_messages, request.space, request.user)
    if len(check_id("conversation", id)) > MAX_ID - BRANCH_NUMBER_LENGTH:
        raise InvalidInput(
            "conversation", f"has {len(id)} characters; at most {MAX_ID - BRANCH_NUMBER_LENGTH} are allowed"
        )
    by_name = bool(request.conversation)
    target = branches.ConversationTarget(check_id("space", request.space), check_id("user", request.user), id, by_name)
    await runtime.catch_up(Filter(target.space, user=target.user))
    now = runtime.parts.clock.now()
    if runtime.parts.secrets.mode == "redact":  # as they are in the log, to be compared with it
        sent_messages = await runtime.run(mask_messages, sent_messages, runtime.parts.secrets)
    kept_messages: list[Message] = await runtime.write(
        lambda tx: branches.reconcile_messages(tx, target, sent_messages, now, runtime.parts.secrets)
    )
    return target, kept_messages


def mask_messages(
    messages: Sequence[message_rules.ParsedMessage], secrets: SecretPolicy
) -> list[message_rules.ParsedMessage]:
    """The messages with placeholders for their secrets, also where a later one repeats them."""
    masked_messages = []
    for message in messages:
        masked_messages.append(replace(message, text=secrets.mask(message.text)))
        secrets = secrets.after_texts([message.text])
    return masked_messages


class RelayExchange:
    """One request and its answer: `whole`, or in chunks by `stream`."""

    def __init__(
        self,
        runtime: Runtime,
        request: RelayRequest,
        relay: Relay,
        target: branches.ConversationTarget,
        kept_messages: Sequence[Message],
    ) -> None:
        self._runtime = runtime
        self._relay = relay
        self._target = target
        self._messages = kept_messages
        self._body = with_history(request.body, request.history)
        self._limit = request.budget
        parts = runtime.parts
        self._tokenizer = parts.tokenizer
        self._rounds = parts.settings.rounds
        self._contexts = ContextBuilder(
            runtime, ConversationScope(target.space, kept_messages[-1].conversation, target.user)
        )
        self._turn = turn.Turn(kept_messages[-1], log.new_id(parts.clock.now()))
        self._usages = list[dict[str, Any]]()
        self._prompt = ModelPrompt([], 0)
        self.tokens = 0
        self._tools = turn.TurnTools(
            model=runtime.chat.for_task(TASK),
            context=partial(self._contexts.build_answer_context, budget_of(request.budget), None),
            search=self._contexts.search,
            write=runtime.write_if_possible,
            keep=self._write_reply,
            tokenizer=parts.tokenizer,
            now=parts.clock.now,
            rounds=parts.settings.rounds,
            raised_turns=parts.settings.raised_turns,
            append=self._append_reply,
        )

    @property
    def conversation(self) -> str:
        """The conversation of the message that is answered."""
        return self._turn.asked.conversation

    @property
    def reply_name(self) -> str:
        """The name under which a client may go on from the reply."""
        return reply_name(self._turn.asked.id, self._turn.reply_id or "")

    async def _write_reply(self, batch: Batch, write: Callable[[Tx], Message]) -> Message:
        """Keep a reply in its branch. It is not held in memory: which branch it is in is decided in the store."""
        return await self._runtime.write(write)

    def _append_reply(self, tx: Tx, batch: Batch, now: datetime, fresh_ids: Collection[str]) -> Message:
        # The model has read what the client sent, whatever became of that in the log.
        secrets = self._runtime.parts.secrets.after_texts(
            map(message_rules.text_of, self._body["messages"][-REPEATED:])
        )
        return branches.keep_reply(tx, self._target, self._messages[-1], batch, now, secrets, fresh_ids)

    # -- what the model is sent

    async def prepare(self) -> None:
        """Build the first context, so that a request that does not fit fails before anything is answered."""
        self._prompt = await self._build_prompt(self._may_ask)
        self.tokens = self._prompt.tokens

    @property
    def _may_ask(self) -> bool:
        """Whether the model may ask for more: not if the client requires a format of the answer."""
        response_format = self._body.get("response_format")
        has_format = isinstance(response_format, dict) and response_format.get("type") != "text"
        return self._is_single and not has_format and not self._body.get("logprobs")

    @property
    def _is_single(self) -> bool:
        return self._body.get("n") in (None, 1)

    async def _build_prompt(self, with_markers: bool) -> ModelPrompt:
        """The prompt: the memory, and the last exchanges as the client sent them. If the whole conversation costs no
        more than the last exchanges with what the memory shows of the others, it is sent whole, as in `reply`."""
        budget = budget_of(self._limit)
        is_branch = self._messages[0].conversation != self.conversation
        run = self._runtime.run
        layout = await run(partial(lay_out, self._body, budget, self._tokenizer, all_of_it=is_branch))
        try:
            context = await self._build_context(layout, budget, with_markers)
            whole_layout = None if is_branch else await run(self._whole_layout, layout, budget, context)
            if whole_layout is not None:
                context = await self._build_context(whole_layout, budget, with_markers)
                layout = whole_layout
        except InvalidInput as error:
            return await run(self._bare_prompt, layout, budget, error)
        self._turn.context = with_client_section(context, budget, layout)
        system = [{"role": layout.role, "content": message["content"]} for message in context.messages[:-1]]
        messages = [*system[:1], *layout.before_text, *system[1:], *layout.from_text]
        return ModelPrompt(messages, self._turn.context.receipt.tokens)

    async def _build_context(self, layout: Layout, budget: Budget, with_markers: bool) -> Context:
        """What the memory adds to a layout."""
        room = replace(
            budget,
            total=budget.total - layout.beside,
            system=budget.system + await self._runtime.run(self._tokenizer.count, layout.system or ""),
            pairs=0,
        )
        tail_ids = frozenset(message.id for message in self._messages[max(len(self._messages) - layout.spoken, 0) :])
        return await self._contexts.build(
            layout.text, self._turn.asked, self._turn.found, room, layout.system, with_markers, tail_ids
        )

    def _whole_layout(self, layout: Layout, budget: Budget, context: Context) -> Layout | None:
        """The layout with all of the client's messages, if they cost no more than the history that stands for the older
        ones; None if they cost more."""
        history = sum(section.tokens for section in context.receipt.sections if section.name == "history")
        if not history:
            return None
        whole_layout = lay_out(self._body, budget, self._tokenizer, all_of_it=False, whole=True)
        is_cheaper = whole_layout.beside - layout.beside <= history
        return whole_layout if is_cheaper and is_whole(self._body, whole_layout) else None

    def _bare_prompt(self, layout: Layout, budget: Budget, error: InvalidInput) -> ModelPrompt:
        """Only what the client sends, because there is no room for more."""
        system = [{"role": layout.role, "content": layout.system}] if layout.system else []
        tokens = layout.beside + self._tokenizer.count(layout.text) + PER_MESSAGE + PER_REPLY
        tokens += self._tokenizer.count(layout.system) + PER_MESSAGE if layout.system else 0
        if self._limit is not None and tokens > budget.total:
            reason = f"have {tokens} tokens from the user's last message on, and the budget is {budget.total}"
            raise TooLong("messages", f"{reason}; send less, or allow more") from error
        return ModelPrompt([*system, *layout.tail], tokens)

    def _request(self) -> dict[str, Any]:
        """The request to the model: the client's, with the messages of the prompt. The usage of a stream is always
        requested."""
        body = {**self._body, "messages": self._prompt.messages}
        options = body.get("stream_options")
        if isinstance(options, dict) and not {*options} - {"include_usage"}:
            del body["stream_options"]
        return body

    def _frame(self) -> dict[str, Any]:
        now = self._tools.now()
        return {"id": f"chatcmpl-{log.new_id(now)}", "created": int(now.timestamp()), "model": self._model}

    @property
    def _model(self) -> str:
        """The name of the model if its server does not say one; its full name contains the server's address."""
        return str(self._body.get("model") or next(iter(self._runtime.chat.names), ""))

    # -- what it answers

    async def answer_whole(self) -> dict[str, Any]:
        """The answer as a whole. If the client stops waiting, it is given up and not kept."""
        with self._runtime.turn_under_way(self._target.space, self.conversation):
            rounds_left = self._rounds
            with_markers = self._may_ask
            while True:
                answer = CompleteReply(await self._ask_model())
                cost = await self._round_cost(answer.reply.get("usage"), answer.reply, answer.first)
                if not await self._needs_another_round(answer.first, cost, rounds_left, with_markers):
                    break
                if answer.first.asks:
                    rounds_left -= 1
                else:
                    with_markers = False
                self._prompt = await self._build_prompt(with_markers)
            final = answer.build_reply(self._frame(), sum_usages(self._usages))
            self._turn.said = answer.first.words
            await turn.run_to_end(self._keep_reply(answer.first))
            return final

    async def _ask_model(self) -> dict[str, Any]:
        async with aclosing(self._relay.relay(self._request())) as replies:  # type: ignore[type-var]
            return [reply async for reply in replies][-1]

    async def stream(self) -> AsyncGenerator[dict[str, Any]]:
        """The answer in chunks. It is in the log before the client is told that it has ended."""
        with self._runtime.turn_under_way(self._target.space, self.conversation) as turns:
            turns.append((self._turn, self._tools))
            try:
                async with aclosing(self._answer_chunks()) as chunks:
                    async for chunk in chunks:
                        if self._turn.ended:
                            raise EverwordError(
                                "the memory was closed before the reply was complete; open the memory again "
                                "and repeat the question"
                            )
                        yield {"usage": None, **chunk} if wants_usage(self._body) else chunk
            except BaseException:
                await turn.keep_partial_reply(self._turn, self._tools)
                raise

    async def _answer_chunks(self) -> AsyncGenerator[dict[str, Any]]:
        passing = ReplyStream(self._frame())
        rounds_left = self._rounds
        with_markers = self._may_ask
        while True:
            async with aclosing(self._model_chunks()) as source:
                async for chunk in source:
                    passed_chunk = passing.feed(chunk)
                    self._turn.said = passing.first.words
                    if passed_chunk:
                        yield passed_chunk
            passing.finish()
            cost = await self._round_cost(passing.usages[-1], passing.frame, passing.first)
            if not await self._needs_another_round(passing.first, cost, rounds_left, with_markers):
                break
            if passing.first.asks:
                rounds_left -= 1
            else:
                with_markers = False
            passing.start_round()
            self._prompt = await self._build_prompt(with_markers)
        last_chunks = passing.last_chunks()
        self._turn.said = passing.first.words
        await turn.run_to_end(self._keep_reply(passing.first))
        for chunk in last_chunks:
            yield chunk
        if wants_usage(self._body):
            yield passing.usage_chunk(sum_usages(self._usages))

    async def _model_chunks(self) -> AsyncGenerator[dict[str, Any]]:
        async with aclosing(self._relay.relay(self._request())) as chunks:  # type: ignore[type-var]
            async for chunk in chunks:
                yield chunk

    async def _needs_another_round(self, first: Choice, cost: Completion, rounds_left: int, with_markers: bool) -> bool:
        """Whether to ask the model once more: it asked for something, or wrote nothing but notes for the memory."""
        assert first.held is not None
        if self._is_single and first.asks and rounds_left and not first.calls:
            self._turn.rounds.append(await turn.serve_requests(self._turn, self._tools, first.held, cost))
            return True
        self._turn.rounds.append(turn.round_receipt(self._turn, cost))
        has_notes = first.held.markers.asks or first.held.inline is not None
        return self._is_single and with_markers and has_notes and first.said_nothing

    async def _round_cost(self, usage: object, reply: Mapping[str, Any], first: Choice) -> Completion:
        """What a round cost: as the server says, or else as counted here."""
        counts = usage if isinstance(usage, dict) else {}
        prompt_tokens = counts.get("prompt_tokens")
        completion_tokens = counts.get("completion_tokens")
        if not isinstance(prompt_tokens, int) or not isinstance(completion_tokens, int) or prompt_tokens <= 0:
            assert first.held is not None
            text = first.held.markers.text + (first.held.inline or "") + "".join(map(str, first.calls.values()))
            prompt_tokens = self._prompt.tokens
            text_tokens = await self._runtime.run(self._tokenizer.count, text)
            completion_tokens = text_tokens
            counts = {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": text_tokens,
                "total_tokens": prompt_tokens + text_tokens,
            }
        self._usages.append(counts)
        return Completion("", str(reply.get("model") or self._model), prompt_tokens, completion_tokens)

    async def _keep_reply(self, first: Choice) -> None:
        """Put the reply into the log, unless there is nothing in it."""
        assert first.held is not None
        wire_fields = message_rules.refusal_and_sound(
            {"content": first.visible_text, "refusal": first.refusals, "audio": {"id": first.sound}}
        )
        if first.calls:
            wire_fields |= message_rules.calls_metadata([first.calls[place] for place in sorted(first.calls)])
        self._turn.told = {message_rules.WIRE: wire_fields} if wire_fields else {}
        if first.calls or not turn.is_blank(self._turn.visible_text):
            self._turn.inline = first.held.inline
            await turn.keep_reply(self._turn, self._tools, partial=not first.complete)


@dataclass(frozen=True, slots=True)
class ProgramTurn:
    """A turn of a program that asks its model itself: what the memory adds to it, as text, and how it was chosen. The
    first text lasts from turn to turn, the last is about the message; there may be only one, or none."""

    target: branches.ConversationTarget
    question: Message
    texts: tuple[str, ...]
    receipt: Receipt


async def begin_program_turn(runtime: Runtime, request: RelayRequest) -> ProgramTurn:
    """Keep what is new of a program's messages, and choose what the memory adds to them."""
    sent_messages = await read_request(runtime, request)
    asked = next((message.text for message in reversed(sent_messages) if message.role == "user"), "")
    target, kept_messages = await keep_request(runtime, request, sent_messages)
    question = kept_messages[-1]
    scope = ConversationScope(target.space, question.conversation, target.user)
    context = await build_program_context(runtime, scope, asked, question, kept_messages, request.budget)
    return ProgramTurn(target, question, added_texts(context), context.receipt)


async def build_program_context(
    runtime: Runtime,
    scope: ConversationScope,
    asked: str,
    question: Message | None,
    shown_messages: Sequence[Message],
    tokens: int | None,
) -> Context:
    """What the memory adds to what a program asks its model, which is shown these messages of the log anyway."""
    budget = replace(budget_of(tokens), pairs=0)
    shown_ids = frozenset(message.id for message in shown_messages)
    return await ContextBuilder(runtime, scope).build(asked, question, (), budget, None, False, shown_ids)


def added_texts(context: Context) -> tuple[str, ...]:
    """What a context adds to a question, as texts."""
    return tuple(message["content"] for message in context.messages[:-1])


async def keep_program_messages(runtime: Runtime, request: RelayRequest) -> None:
    """Keep what is new of a program's messages."""
    await keep_request(runtime, request, await read_request(runtime, request))
    runtime.wake()


async def end_program_turn(
    runtime: Runtime, ended: ProgramTurn, reply: Mapping[str, Any], id: str | None = None, *, partial: bool = False
) -> None:
    """Keep the model's reply, in OpenAI's shape, unless there is nothing in it. `id` is the one its server gave it;
    `partial` that it broke off."""
    message = message_rules.parse_message({**reply, "role": "assistant"})
    if not message.silent:
        draft = message.draft({"partial": True} if partial else None)
        now = runtime.parts.clock.now()
        secrets = runtime.parts.secrets.after_texts([ended.question.as_said.content])

        def write(tx: Tx) -> Message:
            is_taken = id is None or bool(tx.find_messages(ended.target.space, ids=[id]))
            drafts = [draft if is_taken else replace(draft, id=id)]
            batch = Batch(ended.target.space, ended.question.conversation, ended.target.user, drafts)
            return branches.keep_reply(tx, ended.target, ended.question, batch, now, secrets)

        await runtime.write(write)
    runtime.wake(ended.target.space)


class ForwardedTurn:
    """A request of another API, forwarded to a server that speaks it with what the memory adds; all else as it is."""

    def __init__(
        self, runtime: Runtime, relay: Relay, shape: Shape, body: dict[str, Any], program_turn: ProgramTurn
    ) -> None:
        self._runtime = runtime
        self._relay = relay
        self._shape = shape
        self._body = shape.with_texts(body, program_turn.texts)
        self._begun = program_turn
        self._id: str | None = None

    @property
    def conversation(self) -> str:
        return self._begun.question.conversation

    @property
    def tokens(self) -> int:
        return self._begun.receipt.tokens

    async def answer_whole(self) -> dict[str, Any]:
        try:
            async with aclosing(self._relay.relay(self._body)) as replies:  # type: ignore[type-var]
                answer = [reply async for reply in replies][-1]
        except BaseException:
            self._runtime.wake()
            raise
        self._note_id(answer)
        await turn.run_to_end(self._keep(self._shape.reply(answer), partial=False))
        return answer

    async def stream(self) -> AsyncGenerator[dict[str, Any]]:
        """The events as they come. What was passed on is kept however the stream ends."""
        collector = self._shape.collector()
        is_complete = False
        try:
            async with aclosing(self._relay.relay(self._body)) as events:  # type: ignore[type-var]
                async for event in events:
                    collector.add(event)
                    self._note_id(event.get("response") or {})
                    is_last = event.get("type") in LAST_EVENTS
                    if is_last:
                        is_complete = True
                        await turn.run_to_end(self._keep(collector.message(), partial=False))
                    yield event
        finally:
            if not is_complete:
                await turn.run_to_end(self._keep(collector.message(), partial=True))

    def _note_id(self, answer: Mapping[str, Any]) -> None:
        id = answer.get("id")
        if answer.get("object") == "response" and isinstance(id, str) and 0 < len(id) <= MAX_ID:
            self._id = id

    async def _keep(self, reply: Mapping[str, Any], *, partial: bool) -> None:
        await end_program_turn(self._runtime, self._begun, reply, self._id, partial=partial)


def wants_usage(body: Mapping[str, Any]) -> bool:
    options = body.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage"))


def with_client_section(context: Context, budget: Budget, layout: Layout) -> Context:
    """The context with the client's own messages added to its receipt."""
    receipt = context.receipt
    sections = (*receipt.sections, Section("client", layout.beside))
    receipt = replace(receipt, budget=budget, tokens=receipt.tokens + layout.beside, sections=sections)
    return replace(context, receipt=receipt)
