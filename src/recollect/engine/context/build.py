"""Builds a context: what is sent to the model to have a message answered, never a token over its budget.

Sections come in a fixed order, what changes rarely first: the system prompt, what is known of the person, summaries,
what the model searched for, what was retrieved, the topic of the message, the history of the window at its tiers, the
last exchanges word for word, the message itself. Each has a budget; what is left over goes to history. If there is not
room for all, retrieved memory gives way first, then the topic, then recent messages but for the last exchange, then
older summaries. All but the last exchanges stands in one fenced text, so that nothing in it can pose as anything else.
Every decision is on the receipt. The same state gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from recollect.engine.context import render
from recollect.engine.context.render import Note, Piece, Talked, current_words, words
from recollect.errors import InvalidInput
from recollect.model import Budget, ChatMessage, Context, Episode, Hit, Item, Message, Receipt, Role, Section, Tiers
from recollect.ports import Tokenizer
from recollect.rules.prompt import fences
from recollect.rules.prompt.fitting import PER_MESSAGE, PER_REPLY, fitting
from recollect.rules.prompt.labels import author_labels

SPOKEN = ("user", "assistant")
FENCE_COST = 24  # tokens: the lines before and after a section
TITLES = {
    "profile": "WHAT IS KNOWN",
    "summaries": "SUMMARIES",
    "found": "SEARCH RESULTS",
    "retrieved": "RETRIEVED MEMORY",
    "topic": "TOPIC",
}
LARGE = 200_000  # characters of what a context is made from; the usual budget holds about 120,000
OVER = "does not fit the budget"


@dataclass(frozen=True)
class State:
    """What a context is made from, as of one moment. `window` has the messages before the current one, oldest first;
    `author` wrote the current one, where that is known."""

    text: str
    instructions: str
    system: str | None
    conversation: str = ""
    window: Sequence[Message] = ()
    tiers: Mapping[int, Tiers] = field(default_factory=dict)
    relevance: Mapping[int, float] = field(default_factory=dict)
    profile: Sequence[Note] = ()
    episodes: Sequence[Episode] = ()
    past: Sequence[Episode] = ()
    retrieved: Sequence[Hit] = ()
    found: Sequence[Hit] = ()
    topic: Talked | None = None
    channel: bool = False
    raised_turns: int = 20
    author: str | None = None

    @cached_property
    def labels(self) -> fences.Labels:
        """How everybody in the context is shown, told apart."""
        spoke = [*self.window, *(hit.message for hit in (*self.found, *self.retrieved))]
        speakers: list[tuple[Role, str]] = [(message.role, message.author) for message in spoke]
        speakers += [(message.role, message.author) for message in (self.topic.left if self.topic else ())]
        return author_labels(speakers if self.author is None else [*speakers, ("user", self.author)])

    @cached_property
    def current(self) -> str:
        """The current message as it is sent."""
        return current_words(self.text, self.author, self.channel, self.labels)

    @property
    def is_large(self) -> bool:
        """Whether to count and escape it takes so long that nobody else should have to wait for it."""
        said = (*self.window, *(hit.message for hit in (*self.retrieved, *self.found)))
        return len(self.text) + len(self.system or "") + sum(len(message.content) for message in said) > LARGE


@dataclass(slots=True)
class Part:
    """One section in the making: `kept` in order of worth, best first, and what was left out."""

    name: str
    title: str
    kept: list[Piece]
    left_out: list[Item]
    between: str = "\n"

    def text(self) -> str:
        inside = render.body(self.kept, self.between)
        return fences.section(self.title, [fences.Fenced(inside)]) if inside else ""

    def drop(self, reason: str = OVER) -> None:
        """Leave out the least worthy."""
        self.left_out.append(self.kept.pop().out(reason))


def assemble(state: State, budget: Budget, tokenizer: Tokenizer) -> Context:
    """The context for a state. Raises InvalidInput if not even the system prompt and the message fit."""
    count = tokenizer.count
    head = head_of(state.instructions, state.system)
    room = room_beside(state.current, head, budget, count)
    spoken = [m for m in state.window if m.role in SPOKEN and m.content.strip()]
    last = spoken[-2 * budget.pairs :] if budget.pairs > 0 else []
    costs = [count(words(m, state.channel, state.labels)) + PER_MESSAGE for m in last]
    wanted, late = candidates(state, budget, count)
    shares = shared(room, budget, {name: total(found, count) for name, found in wanted.items()}, costs)
    recent, not_recent = recent_messages(last, costs, shares["recent"])
    room -= sum(item.tokens for _, item in recent)
    parts = [Part(name, TITLES[name], *chosen(wanted[name], shares[name], count)) for name in wanted]
    parts[-2].left_out += late
    room -= sum(cost(part, count) for part in parts)
    shown = {message.turn for message, _ in recent}
    older = [message for message in state.window if message.turn not in shown]
    now = state.window[-1].turn + 1 if state.window else 1
    history = render.of_window(older, state.tiers, now, state.raised_turns, state.channel, state.labels, count)
    history.sort(key=lambda piece: rank(state, piece))
    parts.append(Part("history", "HISTORY", *chosen(history, room, count), between="\n\n"))
    return fitted(state, budget, tokenizer, head, parts, recent, not_recent)


def head_of(instructions: str, system: str | None) -> str:
    return "\n\n".join(part for part in (instructions, system) if part)


def room_beside(text: str, head: str, budget: Budget, count: Callable[[str], int]) -> int:
    """The tokens that are left beside the message and the system text. Raises InvalidInput if these do not fit."""
    return checked_room(budget, count(head) + PER_MESSAGE if head else 0, count(text) + PER_MESSAGE)


def checked_room(budget: Budget, system: int, current: int) -> int:
    if budget.total < 1:
        raise InvalidInput("budget", f"has {budget.total} tokens; it must have at least one")
    if system > budget.system + PER_MESSAGE:
        had = system - PER_MESSAGE
        raise InvalidInput("system", f"has {had} tokens with the standing text; the budget allows {budget.system}")
    room = budget.total - PER_REPLY - system - current
    if room < 0:
        raise InvalidInput(
            "text",
            f"has {current} tokens and the system text {system}; a budget of {budget.total} has no room for both",
        )
    return room


def candidates(state: State, budget: Budget, count: Callable[[str], int]) -> tuple[dict[str, list[Piece]], list[Item]]:
    """What could stand in each section but history, most worthy first; and what was found and has no chance."""
    shown = {message.id for message in state.window}
    newest_first = sorted(state.episodes, key=lambda episode: (-episode.last, episode.level))
    place, asked, most = state.conversation, state.text, budget.retrieved
    labels, reason = state.labels, "found by the model's search"
    found, late = render.of_hits(state.found, reason, shown, place, asked, most, labels, count)
    shown |= {hit.message.id for hit in state.found}
    relevant, later = render.of_hits(state.retrieved, "relevant", shown, place, asked, most, labels, count)
    known = {episode.id for episode in state.episodes}
    past = [episode for episode in state.past if episode.conversation != state.conversation or episode.id not in known]
    wanted = {
        "profile": render.of_notes(state.profile, state.channel, count),
        "summaries": [
            *render.of_episodes(newest_first, count),
            *render.of_episodes(past, count, "a past episode close to the message"),
        ],
        "found": found,
        "retrieved": relevant,
        "topic": of_topic(state, budget, count),
    }
    return wanted, [*late, *later]


def of_topic(state: State, budget: Budget, count: Callable[[str], int]) -> list[Piece]:
    """The topic of the message, as far as it has no chance in another section."""
    if state.topic is None:
        return []
    hits = (*state.found, *state.retrieved) if budget.retrieved else ()
    there = {hit.message.turn for hit in hits if hit.message.conversation == state.conversation}
    summaries = (*state.episodes, *state.past) if budget.summaries else ()
    told = " ".join(episode.summary for episode in summaries).casefold()
    return render.of_topic(state.topic, there | {message.turn for message in state.window}, told, state.labels, count)


def total(found: Sequence[Piece], count: Callable[[str], int]) -> int:
    headings = sum(count(group) + 1 for group in {piece.group for piece in found} if group)
    return sum(piece.item.tokens for piece in found) + headings + FENCE_COST if found else 0


def shared(room: int, budget: Budget, wanted: Mapping[str, int], recent: Sequence[int]) -> dict[str, int]:
    """How many tokens each section gets: what it wants up to its budget, less what the others need more."""
    shares = {
        "profile": min(wanted["profile"], budget.profile),
        "summaries": min(wanted["summaries"], budget.summaries),
        "found": min(wanted["found"], budget.retrieved),
    }
    shares["retrieved"] = min(wanted["retrieved"], budget.retrieved - shares["found"])
    shares["topic"] = min(wanted["topic"], budget.topic)
    most = room if budget.recent is None else min(room, budget.recent)
    shares["recent"] = min(sum(recent), most)
    least = min(sum(recent[-2:]), most)
    over = sum(shares.values()) - room
    first, then = (("retrieved", 0), ("topic", 0), ("recent", least)), (("found", 0), ("summaries", 0), ("profile", 0))
    for name, floor in (*first, *then, ("recent", 0)):
        cut = max(min(over, shares[name] - floor), 0)
        shares[name] -= cut
        over -= cut
    return shares


def recent_messages(
    last: Sequence[Message], costs: Sequence[int], allowed: int
) -> tuple[list[tuple[Message, Item]], list[Item]]:
    """The last exchanges, word for word, newest first in, oldest first out; what does not fit goes to history."""
    split = len(last) - fitting(costs, allowed)
    items = [
        Item(fences.label(f"m{m.turn}"), cost, "among the last exchanges") for m, cost in zip(last, costs, strict=True)
    ]
    out = [Item(item.id, item.tokens, "too long for the recent section") for item in items[:split]]
    return list(zip(last[split:], items[split:], strict=True)), out


def rank(state: State, piece: Piece) -> tuple[int, float, int, int]:
    """What goes in first when not all does: what the model asked for, then what is relevant, then what is of the topic
    of the message, then what is newer."""
    turn = int(str(piece.place[0]))
    asked = piece.item.reason.startswith("the model")
    own = state.topic is not None and turn in state.topic.turns
    return (0 if asked else 1, -state.relevance.get(turn, 0.0), 0 if own else 1, -turn)


def chosen(found: Sequence[Piece], allowed: int, count: Callable[[str], int]) -> tuple[list[Piece], list[Item]]:
    """The pieces that fit, best first; a fence around them costs a few tokens too, and so does a heading."""
    left, kept, out, groups = allowed - FENCE_COST, list[Piece](), list[Item](), set[str]()
    for piece in found:
        spent = piece.item.tokens
        if piece.group and piece.group not in groups:
            spent += count(piece.group) + 1
        if spent <= left:
            left -= spent
            kept.append(piece)
            groups.add(piece.group)
        else:
            out.append(piece.out(f"{OVER}: others are more relevant"))
    return kept, out


def cost(part: Part, count: Callable[[str], int]) -> int:
    return count("\n\n" + part.text()) if part.kept else 0


def fitted(
    state: State,
    budget: Budget,
    tokenizer: Tokenizer,
    head: str,
    parts: list[Part],
    recent: list[tuple[Message, Item]],
    not_recent: list[Item],
) -> Context:
    """Put it together and count it as a whole; while it is over, what is worth least goes."""
    profile, summaries, found, retrieved, topic, history = parts
    while True:
        context = rendered(state, budget, tokenizer, head, parts, recent, not_recent)
        if context.receipt.tokens <= budget.total:
            return context
        if history.kept:
            history.drop()
        elif retrieved.kept:
            retrieved.drop()
        elif topic.kept:
            topic.drop()
        elif len(recent) > 2 or (recent and not (found.kept or summaries.kept or profile.kept)):
            gone = recent.pop(0)[1]
            not_recent.append(Item(gone.id, gone.tokens, OVER, gone.tier))
        elif found.kept:
            found.drop()
        elif summaries.kept:
            summaries.drop()
        elif profile.kept:
            profile.drop()
        else:
            raise InvalidInput("text", f"does not fit a budget of {budget.total} tokens")


def labels(recent: Sequence[tuple[Message, Item]]) -> str:
    """Which messages follow word for word: by their first and last label, or one by one if some between do not."""
    first, last = recent[0], recent[-1]
    if last[0].turn - first[0].turn == len(recent) - 1 > 0:
        return f"Messages {first[1].id} to {last[1].id}"
    return "Messages " + ", ".join(item.id for _, item in recent)


def rendered(
    state: State,
    budget: Budget,
    tokenizer: Tokenizer,
    head: str,
    parts: Sequence[Part],
    recent: Sequence[tuple[Message, Item]],
    not_recent: Sequence[Item],
) -> Context:
    count = tokenizer.count
    blocks = [head] if head else []
    sections = [Section("system", count(head) + PER_MESSAGE)] if head else []
    for part in parts:
        if part.kept:
            blocks.append(part.text())
        if part.kept or part.left_out:
            inside = sorted(part.kept, key=lambda piece: piece.place)
            items = tuple(piece.item for piece in inside)
            sections.append(Section(part.name, cost(part, count), items, tuple(part.left_out)))
    if recent and state.instructions:
        blocks.append(f"{labels(recent)} follow in full (tier 3).")
    messages: list[ChatMessage] = [{"role": "system", "content": "\n\n".join(blocks)}] if blocks else []
    messages += [
        {"role": message.role, "content": words(message, state.channel, state.labels)} for message, _ in recent
    ]
    messages.append({"role": "user", "content": state.current})
    if recent or not_recent:
        spent = sum(item.tokens for _, item in recent)
        spent += count("\n\n" + blocks[-1]) if recent and state.instructions else 0
        sections.append(Section("recent", spent, tuple(item for _, item in recent), tuple(not_recent)))
    sections.append(Section("current", count(state.current) + PER_MESSAGE))
    total = PER_REPLY + sum(count(message["content"]) + PER_MESSAGE for message in messages)
    return Context(messages, Receipt(tokenizer.name, budget, total, tuple(sections)))
