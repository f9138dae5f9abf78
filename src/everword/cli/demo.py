"""`everword demo`: shows the real engine on a scripted chat, step by step. Offline, without a key.

Each step runs what a program would call and prints the result; every claim is checked before it is printed. The output
is always the same: settings are ignored, the clock stands at the end of the conversation, and the model replies from a
script. What is said is in `demo.txt`. The demo works in a temporary folder, so that it leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from everword.cli.output import build_snippet, console, format_time, plural, print_indented, show_table, table
from everword.config import Settings
from everword.errors import EverwordError
from everword.model import Budget, Draft, Episode, Fact, Hit, Message, Role

if TYPE_CHECKING:
    from rich.console import Console

    from everword.memory.blocking import BlockingConversation, BlockingMemory
    from everword.memory.memory import MemoryEngine
    from everword.ports import Request
    from everword.testing.doubles import ScriptedLLM

NOW = datetime(2025, 4, 6, 10, 30, tzinfo=UTC)  # the conversation has just ended
LEVEL = 2  # summaries of one level, so that a short chat has a tree; 5 unless set
SESSIONS = ("2024-11-12T19:04:00+00:00", "2025-01-25T20:31:00+00:00", "2025-04-06T10:12:00+00:00")
PAUSE = timedelta(seconds=47)  # between two messages
USER = "alex"
CHAT = "chat"
BY_MEANING = "nut allergy"
SEARCHES = (
    ("databases", "other forms of a word are found too", "any database"),
    (BY_MEANING, "by meaning alone: no word in common", "allergic to peanuts"),
    ("自転車", "Japanese for bicycle, inside a sentence without spaces", "自転車も無料です"),
)
ORIGINAL = "below 2 GB free"
FORGED = "below 2 MB free"
SMALLEST_PART = 0.1  # of a score that is shown
SYSTEM = "You are Alex's assistant. Be brief."
BUDGET = 900  # tokens: small enough for something to be left out
ABOUT = {
    "system": "your prompt, and how to ask for more",
    "profile": "what is known of alex",
    "summaries": "of what has left the window",
    "topic": "what was said before on this topic",
    "retrieved": "what search found for this question",
    "history": "older messages of the window, shortened",
    "recent": "the last exchanges, word for word",
    "current": "the question",
}

QUESTION = "So which database do the two shops share?"
RECIPE = 32  # the turn of the recipe
HIDDEN = "9 l stock"  # what only its full text says
SOUP = "Twice as many guests tomorrow. What must Noor fetch?"
ASKS = f"[REQUEST_TIER:3:m{RECIPE}]"
SAYS = "18 l of stock, not 9. The rest doubles too: 4 kg carrots, 2 kg onions, 6 kg lentils."
NOTES = ("stock = 18 l; lentils = 6 kg", "18 l of stock, and the rest doubles.")  # tiers 1 and 2 of this reply
CLOSED = "How long was the bakery closed when I went to Japan?"
KNOWN = "we close for two weeks in March"
TITLE_LENGTH = 44  # characters that are shown
BACK = "How many carrots and how much cumin went into the lentil soup for thirty bowls?"
CHANNEL = "counter"
MEMBER = "noor"


@click.command()
@click.option(
    "--keep", type=click.Path(path_type=Path), metavar="FOLDER", help="Keep the demo's files in FOLDER, a new folder."
)
def demo(keep: Path | None) -> None:
    """Show in a few seconds what everword does.

    The demo runs offline, needs no key, and leaves no files. The demo stores a chat of 42 messages over five months.
    The demo finds messages by word, by meaning and in another writing system. The demo builds the context that a model
    would receive, and shows why each part is in the context. In the demo, a scripted model asks for the full text of an
    old message and receives that text. The demo shows summaries, facts, topics and digests. At the end, the demo
    verifies the stored messages, shows that everword detects tampering, and copies the store.

    \b
    everword demo
    everword demo --keep /tmp/demo
    """
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="everword-demo-") as folder:
            run_demo(Path(folder))
        return
    if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
        raise click.UsageError(f"--keep: the folder {keep} already exists; give the name of a new folder")
    keep.mkdir(parents=True, exist_ok=True)
    run_demo(keep)
    click.echo(f"\nKept in {keep}. Try: everword search databases --store {keep / 'demo.db'}")


def run_demo(folder: Path) -> None:
    out = console()
    model = scripted_model()
    file = folder / "demo.db"
    out.print("everword: a chat program's memory. This runs offline, without a key.", style="bold")
    with open_memory(file, model) as demo_memory:
        chat = demo_memory.conversation(CHAT, user=USER)
        show_keeping(out, demo_memory, chat)
        show_searches(out, demo_memory)
        show_facts(out, demo_memory)
        show_context(out, chat)
        show_turn(out, file, chat, model)
        demo_memory.settle()
        show_episodes(out, chat, model)
        demo_memory.settle()
        show_topics(out, folder)
        show_group(out, folder)
        show_proof(out, demo_memory)
        messages = list(demo_memory.export())
        show_tampering(out, folder)
        show_move(out, folder, demo_memory, messages)
    out.print(
        "\nOne file, no server, no key. Next: everword import YOUR_EXPORT, then everword search WORDS.", style="bold"
    )


# -- the stage


def model_lines() -> tuple[str, ...]:
    """What the model writes, in order."""
    from everword.context.reply_markers import InlineTiers, render_inline

    return ASKS, f"{SAYS}\n{render_inline(InlineTiers(reply1=NOTES[0], reply2=NOTES[1]))}", "For two weeks, in March."


def scripted_model() -> ScriptedLLM:
    """A chat model that needs no key: it replies with its lines in order, and counts tokens as the memory does."""
    from everword.ports import Completion
    from everword.testing.doubles import ScriptedLLM
    from everword.wiring import open_tokenizer

    count = open_tokenizer(Settings()).count

    def reply(line: str, request: Request) -> Completion:
        tokens_in = sum(count(message["content"]) for message in request.messages)
        return Completion(line, "scripted", tokens_in, count(line))

    return ScriptedLLM([partial(reply, line) for line in model_lines()])


def build_engine(url: str, model: ScriptedLLM | None = None) -> MemoryEngine:
    from everword.memory.memory import MemoryEngine
    from everword.testing.doubles import FrozenClock
    from everword.wiring import build

    return MemoryEngine(lambda: build(Settings(store=url, level_episodes=LEVEL), clock=FrozenClock(NOW), chat=model))


@contextmanager
def open_memory(path: Path, model: ScriptedLLM | None = None) -> Iterator[BlockingMemory]:
    from everword.memory.blocking import BlockingMemory

    with BlockingMemory(build_engine(str(path), model)) as blocking_memory:
        yield blocking_memory


def expect(condition: bool, problem: str) -> None:
    """End the demo with an error unless a claim is true."""
    if not condition:
        raise EverwordError(f"the demo failed: {problem}")


def print_step(out: Console, name: str, **values: object) -> None:
    """Print what stands above a step in the script."""
    line = next(line for line in script_lines("steps") if line.startswith(name))
    title, _, about = line.format(**values).partition(" | ")
    out.print()
    out.print(title, style="bold cyan")
    out.print(about, style="dim")


def print_line(out: Console, label: str, text: str, width: int = 14) -> None:
    """Print a label and its text, wrapped and aligned with the other lines."""
    from rich.text import Text

    first, *following = Text(text).wrap(out, max(out.width - width, 20))
    first.rstrip()
    out.print(Text(f"{label:<{width}}", style="green") + first)
    for wrapped_line in following:
        print_indented(out, wrapped_line, width)


# -- a chat


def script_lines(section: str) -> list[str]:
    """What is said in a section of the script."""
    text = files("everword.cli").joinpath("demo.txt").read_text(encoding="utf-8")
    return text.partition(f"\n== {section}\n")[2].partition("\n\n")[0].splitlines()


def drafts() -> list[Draft]:
    """Every message of the chat with its own time and the id a chat program would have given it."""
    return [
        Draft(
            "user" if line.startswith("> ") else "assistant",
            line[2:],
            time=start + number * PAUSE,
            platform_id=f"{start:%Y-%m-%d}/{number}",
        )
        for start in map(datetime.fromisoformat, SESSIONS)
        for number, line in enumerate(script_lines(start.isoformat()))
    ]


def show_keeping(out: Console, demo_memory: BlockingMemory, chat: BlockingConversation) -> None:
    print_step(out, "KEEP")
    # All at once: followers that saw them one by one would cut the summaries by the speed of the machine.
    chat.extend(drafts())
    duplicates = sum(addition.new for addition in chat.extend(drafts()))
    expect(duplicates == 0, f"{duplicates} messages were kept twice")
    demo_memory.settle()
    stats = demo_memory.stats()
    period = f"{format_time(stats.first)} to {format_time(stats.last)}"
    out.print(f"{plural(stats.messages, 'message')} of {USER} and an assistant, {period}")
    out.print(f"added a second time: {duplicates} new, since each has its platform's id")


def show_searches(out: Console, demo_memory: BlockingMemory) -> None:
    from rich.text import Text

    print_step(out, "FIND")
    for query, about, answer in SEARCHES:
        hit = demo_memory.search(query, user=USER, limit=1)[0]
        expect(answer in hit.message.content, f"{query} found turn {hit.message.turn}")
        expect(query != BY_MEANING or hit.parts["text"] == 0, f"{query} has a word in common with what it found")
        out.print(Text(query, style="green") + Text(f": {about}"))
        print_hit(out, hit, query)


def print_hit(out: Console, hit: Hit, query: str) -> None:
    from rich.text import Text

    parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items() if abs(value) >= SMALLEST_PART)
    print_indented(out, build_snippet(hit.message.content, query), 2)
    about = f"{format_time(hit.message.time)}, turn {hit.message.turn}, score {hit.score:.2f}: {parts}"
    print_indented(out, Text(about, style="dim"), 2)


def show_context(out: Console, chat: BlockingConversation) -> None:
    print_step(out, "CONTEXT", question=QUESTION, budget=BUDGET)
    receipt = chat.context(QUESTION, budget=Budget(total=BUDGET), system=SYSTEM).receipt
    grid = table("section", "tokens", "in", "left out", "what it is", right=("tokens", "in", "left out"))
    for section in receipt.sections:
        item_count = f"{len(section.items)}" if section.items or section.left_out else "1"
        grid.add_row(section.name, f"{section.tokens:,}", item_count, f"{len(section.left_out)}", ABOUT[section.name])
    show_table(grid)
    expect(receipt.tokens <= BUDGET, f"the context has {receipt.tokens} tokens")
    expect(any(section.left_out for section in receipt.sections), "nothing was left out")
    out.print(
        f"together {receipt.tokens:,} tokens, counted as {receipt.tokenizer} counts; what is left out stays in the log"
    )


def show_turn(out: Console, file: Path, chat: BlockingConversation, model: ScriptedLLM) -> None:
    print_step(out, "TURN", question=SOUP)
    reply = chat.reply(SOUP, system=SYSTEM, budget="compact")
    first, second = reply.rounds
    before, after = ("\n\n".join(message["content"] for message in request.messages) for request in model.requests)
    label = f"MESSAGE[m{RECIPE}]"
    expect(HIDDEN not in before and HIDDEN in after, "the model was not given what it asked for")
    expect(first.raised == ((RECIPE, 3),), f"raised were {first.raised}")
    print_line(
        out,
        "memory sends",
        f"{first.tokens_in} tokens, with turn {RECIPE}, the recipe, at tier 1: {line_below(before, label)}",
    )
    print_line(out, "model writes", ASKS)
    print_line(
        out, "memory sends", f"{second.tokens_in} tokens, with turn {RECIPE} at tier 3: {line_below(after, label)}"
    )
    print_line(out, "model writes", " ".join(model_lines()[1].split()))
    expect(reply.text == SAYS == chat.history(limit=1)[0].content, "the user was shown something else")
    print_line(out, "alex sees", f"{reply.text}")
    tokens = sum(model_round.tokens_in + model_round.tokens_out for model_round in reply.rounds)
    cost = f"{plural(len(reply.rounds), 'round')}, {tokens:,} tokens"
    out.print(f"{cost}. From the block, which alex does not see, the reply has its tiers:")
    tier1, tier2 = read_tiers(file, reply.message.turn)
    expect((tier1, tier2) == NOTES, "the tiers the model gave were not kept")
    for tier, text in enumerate((tier1, tier2, reply.text), start=1):
        print_line(out, f"  tier {tier}", text)


def line_below(text: str, label: str) -> str:
    """The line that follows the one with this label."""
    lines = text.splitlines()
    return next(next_line for label_line, next_line in pairwise(lines) if label_line.startswith(label))


def read_tiers(file: Path, turn: int) -> tuple[str, str]:
    with closing(sqlite3.connect(file)) as store:
        tier1, tier2 = store.execute("SELECT tier1, tier2 FROM tiers WHERE turn = ?", (turn,)).fetchone()
    return tier1, tier2


def show_episodes(out: Console, chat: BlockingConversation, model: ScriptedLLM) -> None:
    archive_end = chat.archived()[-1].last
    print_step(out, "EPISODES", turn=archive_end, level=LEVEL)
    tree = chat.episodes()
    expect(tree[0].level > 1 and {episode.first for episode in leaves(tree)} >= {1}, "there is no tree of summaries")
    expect(max(episode.last for episode in leaves(tree)) == archive_end, "a turn that left is in no episode")
    print_tree(out, tree)
    reply = chat.reply(CLOSED, system=SYSTEM)
    summaries = (
        model.requests[-1]
        .messages[0]["content"]
        .partition("=== SUMMARIES ===")[2]
        .partition("=== END SUMMARIES ===")[0]
    )
    expect(KNOWN in summaries, "the summaries do not answer the question")
    print_line(out, "the summary", f"answers “{CLOSED}”: … {KNOWN} …")
    print_line(out, "alex sees", reply.text)


def leaves(tree: Sequence[Episode]) -> list[Episode]:
    return [leaf for episode in tree for leaf in (leaves(episode.parts) if episode.parts else [episode])]


def print_tree(out: Console, tree: Sequence[Episode], depth: int = 0) -> None:
    for episode in tree:
        head = f"{'   ' * depth}level {episode.level}, turns {episode.first}-{episode.last}: "
        room = min(out.width, 100) - len(head) - 2
        summary = episode.summary if len(episode.summary) <= room else episode.summary[:room].rsplit(" ", 1)[0] + " …"
        out.print(head + summary)
        print_tree(out, episode.parts, depth + 1)


def show_facts(out: Console, memory: BlockingMemory) -> None:
    print_step(out, "FACTS")
    facts = {fact.key: fact for fact in memory.facts(user=USER)}
    grid = table("category", "key", "value", "said on", "in turn", right=("in turn",))
    for fact in facts.values():
        grid.add_row(fact.category, fact.key, fact.value, format_day(fact.said_at), f"{fact.turn}")
    show_table(grid)
    history = memory.fact_history("location", user=USER)
    expect([fact.value for fact in history] == ["Leiden", "Delft"], "the move is not in the history")
    out.print("history of location: " + "; ".join(f"{fact.value}, {format_span(fact)}" for fact in history))
    current = facts["location"]
    (message,) = memory.why(current.id, user=USER)
    expect(current.value == "Delft" and current.value in message.content, "the fact does not come from its message")
    out.print(f"why Delft? turn {message.turn}: “{message.content}”")


def format_day(moment: datetime | None) -> str:
    return "now" if moment is None else f"{moment:%Y-%m-%d}"


def format_span(fact: Fact) -> str:
    return f"{format_day(fact.valid_from)} to {format_day(fact.valid_to)}"


# -- topics


def show_topics(out: Console, folder: Path) -> None:
    print_step(out, "TOPICS")
    with open_memory(folder / "topics.db") as demo_memory:
        chat = demo_memory.conversation("chat", user="alex")
        for line in script_lines("topics"):
            days, speaker, text = line.split(" ", 2)
            role: Role = "assistant" if speaker == "<" else "user"
            chat.add(role, text, time=NOW - timedelta(days=int(days), minutes=30))
        demo_memory.settle()
        print_topics(chat)
        soup = chat.topics()[-1]
        expect("soup" in soup.title and not soup.current, "the soup is not the oldest topic")
        packed_messages = soup.packed
        total = soup.messages
        expect(packed_messages == 9 and bool(soup.summary), f"{packed_messages} messages of the soup are packed")
        print_line(out, "alex asks", BACK)
        returned_topic = chat.add_user_message(BACK)
        history = [message.turn for message in chat.get_full_topic_history(returned_topic.id)]
        expect(returned_topic.id == soup.id and len(history) == total + 1, "the soup did not come back")
        expect(history == sorted(history) and not returned_topic.packed, "its messages are not back in order")
        packed_before = f"{packed_messages} of {total} messages were packed"
        print_line(
            out,
            "the soup",
            f"is back: {packed_before}, all {len(history)} are there again, at priority {returned_topic.priority:.2f}",
        )


def print_topics(chat: BlockingConversation) -> None:
    grid = table("topic", "kind", "half-life", "priority", "messages", right=("half-life", "priority", "messages"))
    for topic in chat.topics():
        days = plural(topic.half_life.days, "day")
        title = topic.title if len(topic.title) <= TITLE_LENGTH else f"{topic.title[:TITLE_LENGTH]}…"
        grid.add_row(title, topic.kind, days, f"{topic.priority:.2f}", f"{topic.messages}")
    show_table(grid)


# -- a group


def show_group(out: Console, folder: Path) -> None:
    print_step(out, "GROUP")
    with open_memory(folder / "group.db") as demo_memory:
        channel = demo_memory.conversation(CHANNEL)
        for line in script_lines("group"):
            days, author, text = line.split(" ", 2)
            channel.add("user", text, author=author, time=NOW - timedelta(days=int(days), hours=1))
        private_chat = demo_memory.conversation("private", user=MEMBER)
        private_chat.add("user", "Do not tell Alex, but I am looking for another job.")
        show_remembering(out, demo_memory)
        demo_memory.settle()
        for digest in demo_memory.digests():
            print_line(out, f"{digest.user} today", digest.text)
        profile = demo_memory.profile(user=MEMBER)
        expect(profile.history is not None and "van" in profile.history.text, "the days before are not in the history")
        print_line(out, f"{MEMBER} lately", profile.history.text if profile.history else "")
        prompt = channel.context("What should I bake for Noor?").messages[0]["content"]
        expect("van" in profile.context and "lemons" in profile.context, "the context is not merged")
        expect("another job" not in prompt, "a private word is in the channel's context")
        out.print("profile, today and the days before stand in the channel's contexts; the private word does not")


def show_remembering(out: Console, demo_memory: BlockingMemory) -> None:
    """Show what is remembered and forgotten on request."""
    demo_memory.remember("I am allergic to lemons", user=MEMBER)
    removal = demo_memory.forget("the lemons", user=MEMBER)
    statements = demo_memory.profile(user=MEMBER).statements
    expect(removal.found and removal.id is not None and not statements, "it was not forgotten")
    (statement,) = demo_memory.undo(removal.id or "", user=MEMBER).statements
    print_line(
        out, f"{MEMBER} says", f"remember that I am allergic to lemons; forget the lemons; undo: “{statement.text}”"
    )


# -- the log


def show_proof(out: Console, demo_memory: BlockingMemory) -> None:
    print_step(out, "PROVE")
    proof = demo_memory.verify()
    expect(proof.ok, f"the log is not whole: {proof.faults}")
    out.print(
        f"verify: whole, {plural(proof.messages, 'message')}, and one hash that stands for them all: note it elsewhere"
    )


def show_tampering(out: Console, folder: Path) -> None:
    print_step(out, "TAMPER", original=ORIGINAL, forged=FORGED)
    tampered_file = folder / "tampered.db"
    with closing(sqlite3.connect(folder / "demo.db")) as source, closing(sqlite3.connect(tampered_file)) as copy:
        source.backup(copy)
        copy.execute("UPDATE messages SET content = replace(content, ?, ?)", (ORIGINAL, FORGED))
        copy.commit()
    with open_memory(tampered_file) as tampered_memory:
        proof = tampered_memory.verify()
    expect(not proof.ok, "a changed message was not noticed")
    expect([fault.turn for fault in proof.faults] == [12], f"the wrong one is named: {proof.faults}")
    out.print(f"verify: not whole, {proof.faults[0]}".partition(" (")[0])


def show_move(out: Console, folder: Path, demo_memory: BlockingMemory, messages: list[Message]) -> None:
    from everword.formats import dump

    print_step(out, "MOVE")
    exported_file = folder / "demo.jsonl"
    owners = {conversation.id: conversation for conversation in demo_memory.conversations()}
    text = "".join(dump(message, owners[message.conversation]) + "\n" for message in messages)
    exported_file.write_text(text, encoding="utf-8")
    new_messages = asyncio.run(import_into(exported_file, folder / "demo.json"))
    expect(new_messages == messages, "the messages that arrived are not those that left")
    counts = f"{exported_file.name}: {plural(len(messages), 'line')}; demo.json: {plural(len(new_messages), 'message')}"
    out.print(f"{counts}, with the same words, ids, authors, times")


async def import_into(source: Path, target: Path) -> list[Message]:
    from everword.formats import open_records
    from everword.memory.transfer import import_records

    async with build_engine(f"json:{target}") as target_engine:
        with open_records(source) as records:
            await import_records(target_engine, records, space="default")
        await target_engine.settle()
        return [message async for message in target_engine.export()]
