"""Builds a context: what is sent to the model so that it answers a message, never a token over the budget.

Sections come in a fixed order, and those that change rarely come first: the system prompt, what is known of the person,
summaries, what the model searched for, what was retrieved, the topic of the message, the history of the window at its
tiers, the last exchanges word for word, the message itself. Each has a budget; what is left over goes to history. If
there is not room for all, retrieved memory is dropped first, then the topic, then recent messages except the last
exchange, then older summaries. Everything except the last exchanges is in one fenced text, so that nothing in it can
look like something else. Every decision is on the receipt. The same state gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from recollect.engine.context import render
from recollect.engine.context.render import CurrentTopic, Note, Piece, current_text, message_text
from recollect.errors import InvalidInput
from recollect.model import Budget, ChatMessage, Context, Episode, Hit, Item, Message, Receipt, Role, Section, Tiers
from recollect.ports import Tokenizer
from recollect.rules.prompt import fences
from recollect.rules.prompt.fitting import PER_MESSAGE, PER_REPLY, count_fitting
from recollect.rules.prompt.speaker_labels import author_labels

SPOKEN = ("user", "assistant")
FENCE_COST = 24  # tokens: the lines before and after a section
TITLES = {
    "profile": "WHAT IS KNOWN",
    "summaries": "SUMMARIES",
    "found": "SEARCH RESULTS",
    "retrieved": "RETRIEVED MEMORY",
    "topic": "TOPIC",
    "history": "HISTORY",
}
# Sections that lose pieces before the last exchanges lose messages, and sections that lose them after that; in order.
DROPPED_FIRST = ("history", "retrieved", "topic")
DROPPED_LAST = ("found", "summaries", "profile")
LARGE = 200_000  # characters of the material of a context; the usual budget holds about 120,000
OVER = "does not fit the budget"
NOTHING_RELEVANT = "nothing relevant found"


@dataclass(frozen=True)
class ContextState:
    """The material of a context at one moment. `window` has the messages before the current one, oldest first;
    `author` is who wrote the current one, if known."""

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
    nothing_relevant: bool = False
    found: Sequence[Hit] = ()
    topic: CurrentTopic | None = None
    channel: bool = False
    raised_turns: int = 20
    author: str | None = None

    @cached_property
    def labels(self) -> fences.Labels:
        """The label of each author in the context; no two are the same."""
        messages = [*self.window, *(hit.message for hit in (*self.found, *self.retrieved))]
        speakers: list[tuple[Role, str]] = [(message.role, message.author) for message in messages]
        speakers += [(message.role, message.author) for message in (self.topic.last_messages if self.topic else ())]
        return author_labels(speakers if self.author is None else [*speakers, ("user", self.author)])

    @cached_property
    def current(self) -> str:
        """The current message as it is sent."""
        return current_text(self.text, self.author, self.channel, self.labels)

    @property
    def is_large(self) -> bool:
        """Whether counting and escaping it takes so long that it should not block others."""
        messages = (*self.window, *(hit.message for hit in (*self.retrieved, *self.found)))
        return len(self.text) + len(self.system or "") + sum(len(message.content) for message in messages) > LARGE


@dataclass(slots=True)
class Part:
    """One section while it is built: its pieces, most valuable first, and what was left out."""

    name: str
    title: str
    pieces: list[Piece]
    left_out: list[Item]
    between: str = "\n"

    def text(self) -> str:
        body = render.join_pieces(self.pieces, self.between)
        return fences.section(self.title, [fences.Fenced(body)]) if body else ""

    def drop(self, reason: str = OVER) -> None:
        """Leave out the least valuable piece."""
        self.left_out.append(self.pieces.pop().omission(reason))


def assemble(state: ContextState, budget: Budget, tokenizer: Tokenizer) -> Context:
    """The context for a state. Raises InvalidInput if not even the system prompt and the message fit."""
    count = tokenizer.count
    head = head_of(state.instructions, state.system)
    room = room_beside(state.current, head, budget, count)
    spoken_messages = [message for message in state.window if message.role in SPOKEN and message.content.strip()]
    last_messages = spoken_messages[-2 * budget.pairs :] if budget.pairs > 0 else []
    costs = [count(message_text(message, state.channel, state.labels)) + PER_MESSAGE for message in last_messages]
    pieces_by_section, omissions = candidates(state, budget, count)
    shares = share_tokens(
        room, budget, {name: total_tokens(pieces, count) for name, pieces in pieces_by_section.items()}, costs
    )
    recent, not_recent = recent_messages(last_messages, costs, shares["recent"])
    room -= sum(item.tokens for _, item in recent)
    parts = {
        name: Part(name, TITLES[name], *choose_pieces(pieces, shares[name], count))
        for name, pieces in pieces_by_section.items()
    }
    parts["retrieved"].left_out += omissions
    room -= sum(part_tokens(part, count) for part in parts.values())
    recent_turns = {message.turn for message, _ in recent}
    older = [message for message in state.window if message.turn not in recent_turns]
    current_turn = state.window[-1].turn + 1 if state.window else 1
    history = render.window_pieces(
        older, state.tiers, current_turn, state.raised_turns, state.channel, state.labels, count
    )
    history.sort(key=lambda piece: history_rank(state, piece))
    parts["history"] = Part("history", TITLES["history"], *choose_pieces(history, room, count), between="\n\n")
    return fit_context(state, budget, tokenizer, head, parts, recent, not_recent)


def head_of(instructions: str, system: str | None) -> str:
    return "\n\n".join(part for part in (instructions, system) if part)


def room_beside(text: str, head: str, budget: Budget, count: Callable[[str], int]) -> int:
    """The tokens that remain besides the message and the system text. Raises InvalidInput if these two do not fit."""
    return remaining_room(budget, count(head) + PER_MESSAGE if head else 0, count(text) + PER_MESSAGE)


def remaining_room(budget: Budget, system: int, current: int) -> int:
    if budget.total < 1:
        raise InvalidInput("budget", f"has {budget.total} tokens; it must have at least one")
    if system > budget.system + PER_MESSAGE:
        system_tokens = system - PER_MESSAGE
        raise InvalidInput(
            "system", f"has {system_tokens} tokens with the standing text; the budget allows {budget.system}"
        )
    room = budget.total - PER_REPLY - system - current
    if room < 0:
        raise InvalidInput(
            "text",
            f"has {current} tokens and the system text {system}; a budget of {budget.total} has no room for both",
        )
    return room


def candidates(
    state: ContextState, budget: Budget, count: Callable[[str], int]
) -> tuple[dict[str, list[Piece]], list[Item]]:
    """The pieces for each section except history, most valuable first; and the hits that cannot get in."""
    shown_ids = {message.id for message in state.window}
    newest_first = sorted(state.episodes, key=lambda episode: (-episode.last, episode.level))
    conversation = state.conversation
    question = state.text
    max_tokens = budget.retrieved
    labels = state.labels
    reason = "found by the model's search"
    search_pieces, search_omissions = render.hit_pieces(
        state.found, reason, shown_ids, conversation, question, max_tokens, labels, count
    )
    shown_ids |= {hit.message.id for hit in state.found}
    retrieved_pieces, retrieved_omissions = render.hit_pieces(
        state.retrieved, "relevant", shown_ids, conversation, question, max_tokens, labels, count
    )
    episode_ids = {episode.id for episode in state.episodes}
    past_episodes = [
        episode for episode in state.past if episode.conversation != state.conversation or episode.id not in episode_ids
    ]
    pieces_by_section = {
        "profile": render.note_pieces(state.profile, state.channel, count),
        "summaries": [
            *render.episode_pieces(newest_first, count),
            *render.episode_pieces(past_episodes, count, "a past episode close to the message"),
        ],
        "found": search_pieces,
        "retrieved": retrieved_pieces,
        "topic": topic_pieces(state, budget, count),
    }
    return pieces_by_section, [*search_omissions, *retrieved_omissions]


def topic_pieces(state: ContextState, budget: Budget, count: Callable[[str], int]) -> list[Piece]:
    """The topic of the message, except what could be in another section."""
    if state.topic is None:
        return []
    hits = (*state.found, *state.retrieved) if budget.retrieved else ()
    shown_turns = {hit.message.turn for hit in hits if hit.message.conversation == state.conversation}
    summaries = (*state.episodes, *state.past) if budget.summaries else ()
    summary_text = " ".join(episode.summary for episode in summaries).casefold()
    return render.topic_pieces(
        state.topic, shown_turns | {message.turn for message in state.window}, summary_text, state.labels, count
    )


def total_tokens(pieces: Sequence[Piece], count: Callable[[str], int]) -> int:
    headings = sum(count(group) + 1 for group in {piece.group for piece in pieces} if group)
    return sum(piece.item.tokens for piece in pieces) + headings + FENCE_COST if pieces else 0


def share_tokens(room: int, budget: Budget, needs: Mapping[str, int], recent_costs: Sequence[int]) -> dict[str, int]:
    """How many tokens each section gets: what it needs up to its budget, less what more important sections need."""
    shares = {
        "profile": min(needs["profile"], budget.profile),
        "summaries": min(needs["summaries"], budget.summaries),
        "found": min(needs["found"], budget.retrieved),
    }
    shares["retrieved"] = min(needs["retrieved"], budget.retrieved - shares["found"])
    shares["topic"] = min(needs["topic"], budget.topic)
    max_recent = room if budget.recent is None else min(room, budget.recent)
    shares["recent"] = min(sum(recent_costs), max_recent)
    min_recent = min(sum(recent_costs[-2:]), max_recent)
    excess = sum(shares.values()) - room
    floors = (
        ("retrieved", 0),
        ("topic", 0),
        ("recent", min_recent),
        ("found", 0),
        ("summaries", 0),
        ("profile", 0),
        ("recent", 0),
    )
    for name, floor in floors:
        cut = max(min(excess, shares[name] - floor), 0)
        shares[name] -= cut
        excess -= cut
    return shares


def recent_messages(
    messages: Sequence[Message], costs: Sequence[int], max_tokens: int
) -> tuple[list[tuple[Message, Item]], list[Item]]:
    """The last exchanges, word for word; the newest are chosen first. What does not fit goes to history."""
    split = len(messages) - count_fitting(costs, max_tokens)
    items = [
        Item(fences.message_label(f"m{message.turn}"), cost, "among the last exchanges")
        for message, cost in zip(messages, costs, strict=True)
    ]
    omissions = [Item(item.id, item.tokens, "too long for the recent section") for item in items[:split]]
    return list(zip(messages[split:], items[split:], strict=True)), omissions


def history_rank(state: ContextState, piece: Piece) -> tuple[int, float, int, int]:
    """The order of choice if not all of history fits: first what the model asked for, then what is relevant, then what
    belongs to the topic of the message, then what is newer."""
    turn = int(str(piece.place[0]))
    is_of_topic = state.topic is not None and turn in state.topic.turns
    return (0 if piece.is_requested else 1, -state.relevance.get(turn, 0.0), 0 if is_of_topic else 1, -turn)


def choose_pieces(
    pieces: Sequence[Piece], max_tokens: int, count: Callable[[str], int]
) -> tuple[list[Piece], list[Item]]:
    """The pieces that fit, best first; the fence around them and each heading cost a few tokens too."""
    tokens_left = max_tokens - FENCE_COST
    chosen_pieces: list[Piece] = []
    omissions: list[Item] = []
    groups: set[str] = set()
    for piece in pieces:
        piece_cost = piece.item.tokens
        if piece.group and piece.group not in groups:
            piece_cost += count(piece.group) + 1
        if piece_cost <= tokens_left:
            tokens_left -= piece_cost
            chosen_pieces.append(piece)
            groups.add(piece.group)
        else:
            omissions.append(piece.omission(f"{OVER}: others are more relevant"))
    return chosen_pieces, omissions


def part_tokens(part: Part, count: Callable[[str], int]) -> int:
    return count("\n\n" + part.text()) if part.pieces else 0


def fit_context(
    state: ContextState,
    budget: Budget,
    tokenizer: Tokenizer,
    head: str,
    parts: Mapping[str, Part],
    recent: list[tuple[Message, Item]],
    not_recent: list[Item],
) -> Context:
    """Put the context together and count it as a whole; while it is over the budget, drop what is least valuable."""
    while True:
        context = render_context(state, budget, tokenizer, head, [*parts.values()], recent, not_recent)
        if context.receipt.tokens <= budget.total:
            return context
        if not drop_least_valuable(parts, recent, not_recent):
            raise InvalidInput("text", f"does not fit a budget of {budget.total} tokens")


def drop_least_valuable(parts: Mapping[str, Part], recent: list[tuple[Message, Item]], not_recent: list[Item]) -> bool:
    """Leave out a piece, or the oldest of the last exchanges; False if there is nothing left."""
    dropped_first = next((parts[name] for name in DROPPED_FIRST if parts[name].pieces), None)
    dropped_last = next((parts[name] for name in DROPPED_LAST if parts[name].pieces), None)
    if dropped_first is not None:
        dropped_first.drop()
    elif len(recent) > 2 or (recent and dropped_last is None):
        item = recent.pop(0)[1]
        not_recent.append(Item(item.id, item.tokens, OVER, item.tier))
    elif dropped_last is not None:
        dropped_last.drop()
    else:
        return False
    return True


def recent_labels(recent: Sequence[tuple[Message, Item]]) -> str:
    """Which messages follow word for word: the first and last label, or each label if some between do not follow."""
    first_message, first_item = recent[0]
    last_message, last_item = recent[-1]
    if last_message.turn - first_message.turn == len(recent) - 1 > 0:
        return f"Messages {first_item.id} to {last_item.id}"
    return "Messages " + ", ".join(item.id for _, item in recent)


def render_context(
    state: ContextState,
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
        if part.pieces:
            blocks.append(part.text())
        note = NOTHING_RELEVANT if part.name == "retrieved" and state.nothing_relevant else ""
        if part.pieces or part.left_out or note:
            pieces = sorted(part.pieces, key=lambda piece: piece.place)
            items = tuple(piece.item for piece in pieces)
            sections.append(Section(part.name, part_tokens(part, count), items, tuple(part.left_out), note))
    if recent and state.instructions:
        blocks.append(f"{recent_labels(recent)} follow in full (tier 3).")
    messages: list[ChatMessage] = [{"role": "system", "content": "\n\n".join(blocks)}] if blocks else []
    messages += [
        {"role": message.role, "content": message_text(message, state.channel, state.labels)} for message, _ in recent
    ]
    messages.append({"role": "user", "content": state.current})
    if recent or not_recent:
        recent_tokens = sum(item.tokens for _, item in recent)
        recent_tokens += count("\n\n" + blocks[-1]) if recent and state.instructions else 0
        sections.append(Section("recent", recent_tokens, tuple(item for _, item in recent), tuple(not_recent)))
    sections.append(Section("current", count(state.current) + PER_MESSAGE))
    token_count = PER_REPLY + sum(count(message["content"]) + PER_MESSAGE for message in messages)
    return Context(messages, Receipt(tokenizer.name, budget, token_count, tuple(sections)))
