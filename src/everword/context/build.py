"""Builds a context: what is sent to the model so that it answers a message, never a token over the budget.

Sections come in a fixed order, and those that change rarely come first: the system prompt, what is known of the person,
summaries, what the model searched for, what was retrieved, the topic of the message, the history of the window, whole
or at its tiers, the last exchanges word for word, the message itself. Each has its share of the budget
(`model.Budget`); what is left over goes to history. A conversation that costs no more whole than shortened is sent
whole. If there is not room for all, retrieved memory is dropped first, then the topic, then recent messages except the
last exchange, then older summaries. Everything except the last exchanges is in one fenced text, so that nothing in it
can look like something else. Every decision is on the receipt. The same state gives the same bytes.

Of the history, what is relevant to the message is word for word, best first, with what completes it: the question
before an answer, the short answer after a question. A correction and what it corrects are shown alike: if one is word
for word, so is the other, and if there is no room for that, the corrected one says that it may have changed. Everything
else stands at its tier, the lowest only where the model can ask for more.

A chat model spends a few tokens on each message besides its text, and a few on the reply. They are counted too, by the
figures that OpenAI documents; other models spend no more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from everword.context.render import Piece, Renderer, join_pieces, message_texts, span_texts
from everword.context.state import ContextState
from everword.errors import InvalidInput
from everword.model import Budget, ChatMessage, Context, Item, Message, Receipt, Section, Tiers
from everword.ports import Tokenizer
from everword.summaries.rules.tiers import HIGHEST, LOWEST, SUMMARY, text_at, tier_now
from everword.summaries.rules.tiers import write_tiers as offline_tiers
from everword.text import fences
from everword.text.corrections import corrected_turns, has_correction

PER_MESSAGE = 4  # tokens around each message: its role and the marks before and after
PER_REPLY = 3  # tokens that open the reply


def count_fitting(costs: Sequence[int], limit: int) -> int:
    """How many of the last messages fit together."""
    total = 0
    for count, cost in enumerate(reversed(costs)):
        total += cost
        if total > limit:
            return count
    return len(costs)


# -- history: the older messages of the window


SHORT_MESSAGE = 48  # tokens of a message that is word for word where the model cannot ask for more
COMPLETING = 400  # characters of a question or answer that is shown with what it completes
WORD_FOR_WORD = 600  # tokens of relevant messages that are word for word beside the best; more find nothing more
LONG_MESSAGE = 120  # tokens of a message that has to be nearly as relevant as the best
LEAST_SHARE = 0.5  # of the best score: what completes a message is shown with it from there on
NEARLY = 0.75  # of the best score
LARGE = 2  # a message that would take more than one part in this many of the room stays at its tier
RELEVANT = "relevant"
COMPLETES = "completes what is relevant"
CORRECTS = "a correction, or what it corrects"


class WindowPieces:
    """The older messages of the window as pieces: at their tiers, and word for word."""

    def __init__(self, state: ContextState, tokenizer: Tokenizer) -> None:
        self._state = state
        self._tokenizer = tokenizer
        self._turn = state.window[-1].turn + 1 if state.window else 1
        self.corrections = corrected_turns(state.window)

    def at_tier(self, message: Message) -> Piece:
        """A message at its current tier."""
        tiers = self._tiers_of(message)
        requested_tier = tier_now(tiers, self._turn, self._state.raised_turns)
        is_requested = requested_tier > LOWEST
        tier = max(requested_tier, self._least_tier(message))
        text, tier = text_at(message, tiers, tier)
        correction = self.corrections.get(message.turn)
        if correction is not None and tier < HIGHEST:
            text = f"{text} (m{correction} may change this)"
        reason = "the model asked for it" if is_requested else "in the window"
        return self._piece(message, text, tier, reason, is_requested)

    def word_for_word(self, message: Message, reason: str) -> Piece:
        return self._piece(message, message.content, HIGHEST, reason, False)

    def _least_tier(self, message: Message) -> int:
        """The lowest tier at which a message may stand: the first only if the model can ask for more, and not if the
        message takes something back, since its notes hold both."""
        if self._state.can_ask and not has_correction(message.content):
            return LOWEST
        return HIGHEST if self._tokenizer.count(message.content) <= SHORT_MESSAGE else SUMMARY

    def _tiers_of(self, message: Message) -> Tiers:
        tiers = self._state.tiers.get(message.turn)
        if tiers is None or tiers.made_by == "none":
            offline = offline_tiers(message.content, self._tokenizer.count)
            tiers = replace(tiers or Tiers(), tier1=offline.tier1, tier2=offline.tier2, made_by=offline.made_by)
        return tiers

    def _piece(self, message: Message, text: str, tier: int, reason: str, is_requested: bool) -> Piece:
        """In a channel further lines are indented, so that no line of a message looks like a label."""
        author = message.author if self._state.shows_authors and message.role == "user" else None
        label = f"m{message.turn}"
        indent = "  " if author is not None else ""
        fenced_text = fences.message(label, message.role, author, tier, text, labels=self._state.labels, indent=indent)
        item = Item(label, self._tokenizer.count(fenced_text) + 2, reason, tier)
        return Piece(fenced_text, item, (message.turn,), is_requested=is_requested)


def choose_history(
    state: ContextState, older: Sequence[Message], room: int, fence_cost: int, tokenizer: Tokenizer
) -> tuple[list[Piece], list[Item]]:
    """The pieces of history that fit into `room` tokens, in order of choice, and what is left out."""
    nearly_best = NEARLY * max((state.relevance.get(message.turn, 0.0) for message in older), default=0.0)
    pieces = WindowPieces(state, tokenizer)
    short_pieces = {message.turn: pieces.at_tier(message) for message in older}
    reasons = verbatim_reasons(state, older, short_pieces, pieces.corrections)
    ranks = {turn: rank for rank, turn in enumerate(reasons)}
    messages = {message.turn: message for message in older}
    choice = HistoryChoice(room - fence_cost, min(WORD_FOR_WORD, room // LARGE))
    for turn in sorted(messages, key=lambda turn: choice_rank(state, short_pieces[turn], turn, ranks)):
        short_piece = short_pieces[turn]
        reason = reasons.get(turn)
        if reason is not None and short_piece.item.tier < HIGHEST:
            whole_piece = pieces.word_for_word(messages[turn], reason)
            longest = room // LARGE if state.relevance.get(turn, 0.0) >= nearly_best else LONG_MESSAGE
            if whole_piece.item.tokens <= longest and choice.take_whole(whole_piece):
                continue
        elif reason is not None:
            short_piece = replace(short_piece, item=replace(short_piece.item, reason=reason))
        choice.take(short_piece)
    return choice.pieces, choice.left_out


class HistoryChoice:
    """What is chosen of the history while it is chosen, and the tokens that are left: in all, and for messages that are
    word for word although they have tiers."""

    def __init__(self, tokens: int, whole_tokens: int) -> None:
        self._tokens = tokens
        self._whole_tokens = whole_tokens
        self._has_whole = False
        self.pieces: list[Piece] = []
        self.left_out: list[Item] = []

    def take_whole(self, piece: Piece) -> bool:
        """Choose a message word for word, if it fits. The first is the best, and does not count."""
        tokens = piece.item.tokens
        if (self._has_whole and tokens > self._whole_tokens) or tokens > self._tokens:
            return False
        self._whole_tokens -= tokens if self._has_whole else 0
        self._has_whole = True
        self.take(piece)
        return True

    def take(self, piece: Piece) -> None:
        """Choose a piece, or leave it out if it does not fit."""
        if piece.item.tokens > self._tokens:
            self.left_out.append(piece.omission("does not fit the budget: others are more relevant"))
            return
        self._tokens -= piece.item.tokens
        self.pieces.append(piece)


def relevant_tokens(state: ContextState, older: Iterable[Message], tokenizer: Tokenizer) -> int:
    """About how many tokens the relevant messages of the history take word for word."""
    token_count = 0
    for message in older:
        if message.turn in state.relevance and token_count < WORD_FOR_WORD:
            token_count += tokenizer.count(message.content)
    return min(token_count, WORD_FOR_WORD)


def choice_rank(state: ContextState, piece: Piece, turn: int, ranks: Mapping[int, int]) -> tuple[int, int, int, int]:
    """The order of choice if not all of history fits: first what the model asked for, then what is relevant, then what
    belongs to the topic of the message, then what is newer."""
    is_of_topic = state.topic is not None and turn in state.topic.turns
    return (0 if piece.is_requested else 1, ranks.get(turn, len(ranks)), 0 if is_of_topic else 1, -turn)


def verbatim_reasons(
    state: ContextState,
    older: Sequence[Message],
    short_pieces: Mapping[int, Piece],
    corrections: Mapping[int, int],
) -> dict[int, str]:
    """The turns of history to show word for word, in the order of choice, each with the reason."""
    older_turns = {message.turn for message in older}
    reasons: dict[int, str] = {}
    least = LEAST_SHARE * max(state.relevance.values(), default=0.0)
    relevant_turns = sorted(older_turns & state.relevance.keys(), key=lambda turn: (-state.relevance[turn], -turn))
    completions = completing_turns(state.window)
    for turn in relevant_turns:
        reasons.setdefault(turn, f"{RELEVANT} ({state.relevance[turn]:.1f})")
        if state.relevance[turn] >= least:
            for neighbour in completions.get(turn, ()):
                reasons.setdefault(neighbour, COMPLETES)
    whole_turns = {turn for turn, piece in short_pieces.items() if piece.item.tier == HIGHEST}
    whole_turns |= {message.turn for message in state.window} - older_turns
    for turn in linked_turns([*reasons, *sorted(whole_turns, reverse=True)], partners_of(corrections)):
        reasons.setdefault(turn, CORRECTS)
    return {turn: reason for turn, reason in reasons.items() if turn in older_turns}


def linked_turns(turns: Sequence[int], partners: Mapping[int, Sequence[int]]) -> list[int]:
    """The corrections of some turns and what these correct, and theirs: a whole chain, without the turns themselves."""
    seen_turns = set(turns)
    open_turns = deque(turns)
    linked: list[int] = []
    while open_turns:
        for partner in partners.get(open_turns.popleft(), ()):
            if partner not in seen_turns:
                seen_turns.add(partner)
                open_turns.append(partner)
                linked.append(partner)
    return linked


def partners_of(corrections: Mapping[int, int]) -> dict[int, list[int]]:
    """For each turn the turns that correct it or that it corrects."""
    partners: dict[int, list[int]] = {}
    for corrected, correction in corrections.items():
        partners.setdefault(corrected, []).append(correction)
        partners.setdefault(correction, []).append(corrected)
    return partners


def completing_turns(window: Sequence[Message]) -> dict[int, list[int]]:
    """For each message the neighbours that complete it, if they are short: the question that it answers, and the answer
    to it."""
    completions: dict[int, list[int]] = {}
    for question, answer in question_pairs(window):
        if len(question.content) <= COMPLETING:
            completions.setdefault(answer.turn, []).append(question.turn)
        if len(answer.content) <= COMPLETING:
            completions.setdefault(question.turn, []).append(answer.turn)
    return completions


def question_pairs(window: Iterable[Message]) -> Iterator[tuple[Message, Message]]:
    """Questions, each with the message of somebody else that follows it."""
    before: Message | None = None
    for message in window:
        is_next = before is not None and message.turn == before.turn + 1
        if before is not None and is_next and "?" in before.content and is_other_speaker(before, message):
            yield before, message
        before = message


def is_other_speaker(before: Message, message: Message) -> bool:
    return (before.role, before.author) != (message.role, message.author)


# -- the sections


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
SPARE = 10  # the day and the times of messages take at most one part in so many of the room
LONGEST_TOKEN = 8  # characters of a token of ordinary text, at most: of a longer chat nothing has to be counted
OVER = "does not fit the budget"
LAST = "among the last exchanges"
WHOLE = "the whole conversation costs no more"
NOTHING_RELEVANT = "nothing relevant found"


@dataclass(slots=True)
class Part:
    """One section while it is built: its pieces, most valuable first, and what was left out."""

    name: str
    title: str
    pieces: list[Piece]
    left_out: list[Item]
    between: str = "\n"
    rendered: str | None = None
    token_count: int | None = None

    def text(self) -> str:
        """The section as it is sent; it is rendered again only if a piece was dropped."""
        if self.rendered is None:
            body = join_pieces(self.pieces, self.between)
            self.rendered = fences.section(self.title, [fences.Fenced(body)]) if body else ""
        return self.rendered

    def tokens(self, tokenizer: Tokenizer) -> int:
        """The tokens of the section with what stands before it; they are counted again only if a piece was dropped."""
        if self.token_count is None:
            self.token_count = tokenizer.count("\n\n" + self.text()) if self.pieces else 0
        return self.token_count

    def drop(self, reason: str = OVER) -> None:
        """Leave out the least valuable piece."""
        self.left_out.append(self.pieces.pop().omission(reason))
        self.rendered = None
        self.token_count = None


@dataclass(slots=True)
class Recent:
    """The last exchanges while a context is built: what is sent, and what does not fit."""

    messages: list[tuple[Message, Item]]
    left_out: list[Item]

    @property
    def tokens(self) -> int:
        return sum(item.tokens for _, item in self.messages)

    def drop_oldest(self) -> None:
        item = self.messages.pop(0)[1]
        self.left_out.append(replace(item, reason=OVER))


@dataclass(slots=True)
class Frame:
    """What a context says about itself: the system text, which day it is, and when the last messages were said."""

    head: str
    today: str
    has_times: bool = True

    @property
    def system(self) -> str:
        return "\n\n".join(part for part in (self.head, self.today) if part)

    def drop(self) -> bool:
        """Leave out the times and then the day; False if they are left out already."""
        if self.has_times:
            self.has_times = False
        elif self.today:
            self.today = ""
        else:
            return False
        return True


def assemble(state: ContextState, budget: Budget, tokenizer: Tokenizer) -> Context:
    """The context for a state: the economical one, or the whole conversation if that costs no more. Raises InvalidInput
    if not even the system prompt and the message fit."""
    context = choose_parts(state, budget, tokenizer)
    whole_context = whole_conversation(state, budget, tokenizer, context.receipt.tokens)
    return context if whole_context is None else whole_context


def choose_parts(state: ContextState, budget: Budget, tokenizer: Tokenizer) -> Context:
    """The context of the parts of a state that are worth their tokens."""
    head = head_of(state.instructions, state.system)
    room = room_beside(state.current, head, budget, tokenizer)
    frame = Frame(head, state.calendar.today)
    room -= fit_day(frame, room, tokenizer)
    spoken_messages = [message for message in state.window if message.role in SPOKEN and message.content.strip()]
    recent_count = len(spoken_messages) if state.sends_whole else 2 * budget.pairs
    last_messages = spoken_messages[-recent_count:] if recent_count > 0 else []
    room -= fit_times(frame, state, room, tokenizer)
    costs = message_costs(state, last_messages, tokenizer)
    pieces_by_section, omissions = candidates(state, budget, tokenizer)
    needs = {name: total_tokens(pieces, tokenizer) for name, pieces in pieces_by_section.items()}
    shares = share_tokens(room, relevance_budget(state, budget, last_messages, tokenizer), needs, costs)
    recent = recent_messages(last_messages, costs, shares["recent"], WHOLE if state.sends_whole else LAST)
    room -= recent.tokens
    parts = {
        name: Part(name, TITLES[name], *choose_pieces(pieces, shares[name], tokenizer))
        for name, pieces in pieces_by_section.items()
    }
    parts["retrieved"].left_out += omissions
    room -= sum(part.tokens(tokenizer) for part in parts.values())
    recent_turns = {message.turn for message, _ in recent.messages}
    older = [message for message in state.window if message.turn not in recent_turns]
    pieces, left_out = choose_history(state, older, room, FENCE_COST, tokenizer)
    parts["history"] = Part("history", TITLES["history"], pieces, left_out, between="\n\n")
    if not (head or recent.messages or any(part.pieces for part in parts.values())):
        frame.today = frame.today and state.calendar.short_today
    return fit_context(state, budget, tokenizer, frame, parts, recent)


def relevance_budget(
    state: ContextState, budget: Budget, last_messages: Sequence[Message], tokenizer: Tokenizer
) -> Budget:
    """The budget, with less for what is retrieved the more of the window is relevant: both answer the same question."""
    last_turns = {message.turn for message in last_messages}
    older = [message for message in state.window if message.turn not in last_turns]
    return replace(budget, retrieved=max(budget.retrieved - relevant_tokens(state, older, tokenizer), 0))


def whole_conversation(state: ContextState, budget: Budget, tokenizer: Tokenizer, max_tokens: int) -> Context | None:
    """A context with the whole conversation as it was said, if it has at most `max_tokens`; None if it has more."""
    messages = (*state.earlier, *state.window)
    is_spoken = all(message.role in SPOKEN and message.content.strip() for message in messages)
    least_tokens = sum(len(message.content) for message in messages) // LONGEST_TOKEN
    if not (state.is_whole and is_spoken and budget.pairs > 0) or least_tokens > max_tokens:
        return None
    context = choose_parts(state.as_whole(), budget, tokenizer)
    sections = {section.name: section for section in context.receipt.sections}
    shown_count = len(sections["recent"].items) if "recent" in sections else 0
    return context if shown_count == len(messages) and context.receipt.tokens <= max_tokens else None


def message_costs(state: ContextState, messages: Sequence[Message], tokenizer: Tokenizer) -> list[int]:
    return [tokenizer.count(text) + PER_MESSAGE for text in message_texts(messages, state.shows_authors, state.labels)]


def fit_day(frame: Frame, room: int, tokenizer: Tokenizer) -> int:
    """The tokens of the line that says which day it is; in a room that is too small it is left out."""
    if not frame.today:
        return 0
    tokens = tokenizer.count("\n\n" + frame.today) + (0 if frame.head else PER_MESSAGE)
    if tokens * SPARE > room:
        frame.today = ""
        return 0
    return tokens


def fit_times(frame: Frame, state: ContextState, room: int, tokenizer: Tokenizer) -> int:
    """The tokens of the line that says when the messages were said; in a small room it is left out."""
    line = times_line(state, {message.turn for message in state.window})
    tokens = tokenizer.count("\n\n" + line) if line else 0
    if not line or (tokens + PER_MESSAGE) * SPARE > room:
        frame.has_times = False
        return 0
    return tokens


def times_line(state: ContextState, turns: Collection[int]) -> str:
    """When messages of the conversation were said: those of the window in `turns`, and those beside the context. What
    was said just now needs no more than the day."""
    shown_messages = [*state.beside, *(message for message in state.window if message.turn in turns)]
    shown_messages.sort(key=lambda message: message.turn)
    if all(state.calendar.is_just_now(message.time) for message in shown_messages):
        return ""
    spans = span_texts([(f"m{message.turn}", message.time) for message in shown_messages], state.zone)
    return f"Times of messages: {'; '.join(spans)}." if spans else ""


def head_of(instructions: str, system: str | None) -> str:
    return "\n\n".join(part for part in (instructions, system) if part)


def room_beside(text: str, head: str, budget: Budget, tokenizer: Tokenizer) -> int:
    """The tokens that remain besides the message and the system text. Raises InvalidInput if these two do not fit."""
    if budget.total < 1:
        raise InvalidInput("budget", f"has {budget.total} tokens; it must have at least one")
    head_tokens = tokenizer.count(head) if head else 0
    if head_tokens > budget.system:
        raise InvalidInput(
            "system", f"has {head_tokens} tokens with the standing text; the budget allows {budget.system}"
        )
    system = head_tokens + PER_MESSAGE if head else 0
    current = tokenizer.count(text) + PER_MESSAGE
    room = budget.total - PER_REPLY - system - current
    if room < 0:
        raise InvalidInput(
            "text",
            f"has {current} tokens and the system text {system}; a budget of {budget.total} has no room for both",
        )
    return room


def candidates(state: ContextState, budget: Budget, tokenizer: Tokenizer) -> tuple[dict[str, list[Piece]], list[Item]]:
    """The pieces for each section except history, most valuable first; and the hits that cannot get in."""
    renderer = Renderer(tokenizer, state.labels, state.calendar, state.conversation)
    shown_ids = {message.id for message in state.window}
    newest_first = sorted(state.episodes, key=lambda episode: (-episode.last, episode.level))
    found, found_omissions = renderer.hit_pieces(
        state.found, "found by the model's search", shown_ids, state.text, budget.retrieved
    )
    retrieved, omissions = renderer.hit_pieces(state.retrieved, "relevant", shown_ids, state.text, budget.retrieved)
    episode_ids = {episode.id for episode in state.episodes}
    past_episodes = [
        episode for episode in state.past if episode.conversation != state.conversation or episode.id not in episode_ids
    ]
    pieces_by_section = {
        "profile": renderer.note_pieces(state.profile, state.channel),
        "summaries": [
            *renderer.episode_pieces(newest_first),
            *renderer.episode_pieces(past_episodes, "a past episode close to the message"),
        ],
        "found": found,
        "retrieved": retrieved,
        "topic": topic_pieces(state, budget, renderer),
    }
    return pieces_by_section, [*found_omissions, *omissions]


def topic_pieces(state: ContextState, budget: Budget, renderer: Renderer) -> list[Piece]:
    """The topic of the message, except what could be in another section."""
    if state.topic is None:
        return []
    hits = (*state.found, *state.retrieved) if budget.retrieved else ()
    shown_turns = {hit.message.turn for hit in hits if hit.message.conversation == state.conversation}
    shown_turns |= {message.turn for message in (*state.window, *state.beside)}
    summaries = (*state.episodes, *state.past) if budget.summaries else ()
    summary_text = " ".join(episode.summary for episode in summaries).casefold()
    return renderer.topic_pieces(state.topic, shown_turns, summary_text)


def total_tokens(pieces: Sequence[Piece], tokenizer: Tokenizer) -> int:
    headings = sum(tokenizer.count(group) + 1 for group in {piece.group for piece in pieces} if group)
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


def recent_messages(messages: Sequence[Message], costs: Sequence[int], max_tokens: int, reason: str = LAST) -> Recent:
    """The last exchanges, word for word; the newest are chosen first. What does not fit goes to history."""
    split = len(messages) - count_fitting(costs, max_tokens)
    items = [
        Item(fences.message_label(f"m{message.turn}"), cost, reason)
        for message, cost in zip(messages, costs, strict=True)
    ]
    omissions = [Item(item.id, item.tokens, "too long for the recent section") for item in items[:split]]
    return Recent(list(zip(messages[split:], items[split:], strict=True)), omissions)


def choose_pieces(pieces: Sequence[Piece], max_tokens: int, tokenizer: Tokenizer) -> tuple[list[Piece], list[Item]]:
    """The pieces that fit, best first; the fence around them and each heading cost a few tokens too."""
    tokens_left = max_tokens - FENCE_COST
    chosen_pieces: list[Piece] = []
    omissions: list[Item] = []
    groups: set[str] = set()
    for piece in pieces:
        piece_cost = piece.item.tokens
        if piece.group and piece.group not in groups:
            piece_cost += tokenizer.count(piece.group) + 1
        if piece_cost <= tokens_left:
            tokens_left -= piece_cost
            chosen_pieces.append(piece)
            groups.add(piece.group)
        else:
            omissions.append(piece.omission(f"{OVER}: others are more relevant"))
    return chosen_pieces, omissions


def fit_context(
    state: ContextState,
    budget: Budget,
    tokenizer: Tokenizer,
    frame: Frame,
    parts: Mapping[str, Part],
    recent: Recent,
) -> Context:
    """Put the context together and count it as a whole; while it is over the budget, drop what is least valuable."""
    while True:
        context = render_context(state, budget, tokenizer, frame, [*parts.values()], recent)
        if context.receipt.tokens <= budget.total:
            return context
        if not drop_least_valuable(parts, recent, frame):
            raise InvalidInput("text", f"does not fit a budget of {budget.total} tokens")


def drop_least_valuable(parts: Mapping[str, Part], recent: Recent, frame: Frame) -> bool:
    """Leave out a piece, or the oldest of the last exchanges; False if there is nothing left."""
    dropped_first = next((parts[name] for name in DROPPED_FIRST if parts[name].pieces), None)
    dropped_last = next((parts[name] for name in DROPPED_LAST if parts[name].pieces), None)
    if dropped_first is not None:
        dropped_first.drop()
    elif len(recent.messages) > 2 or (recent.messages and dropped_last is None):
        recent.drop_oldest()
    elif dropped_last is not None:
        dropped_last.drop()
    else:
        return frame.drop()
    return True


def recent_labels(recent: Sequence[tuple[Message, Item]]) -> str:
    """Which messages follow word for word: the first and last label, or each label if some between do not follow."""
    first_message, first_item = recent[0]
    last_message, last_item = recent[-1]
    if last_message.turn - first_message.turn == len(recent) - 1 > 0:
        return f"Messages {first_item.id} to {last_item.id}"
    return "Messages " + ", ".join(item.id for _, item in recent)


def closing_lines(state: ContextState, frame: Frame, history: Sequence[Piece], recent: Recent) -> list[str]:
    """What is said about the messages that are shown: when they were said, and which follow whole."""
    turns = {message.turn for message, _ in recent.messages} | {int(str(piece.place[0])) for piece in history}
    times = times_line(state, turns) if frame.has_times else ""
    is_labelled = recent.messages and state.can_ask and not state.sends_whole
    labels = f"{recent_labels(recent.messages)} follow in full (tier 3)." if is_labelled else ""
    return [line for line in (times, labels) if line]


def part_sections(parts: Sequence[Part], nothing_relevant: bool, tokenizer: Tokenizer) -> Iterator[Section]:
    """The parts on the receipt: those that have something, or left something out, or say that nothing was found."""
    for part in parts:
        note = NOTHING_RELEVANT if part.name == "retrieved" and nothing_relevant else ""
        if part.pieces or part.left_out or note:
            pieces = sorted(part.pieces, key=lambda piece: piece.place)
            items = tuple(piece.item for piece in pieces)
            yield Section(part.name, part.tokens(tokenizer), items, tuple(part.left_out), note)


def render_context(
    state: ContextState,
    budget: Budget,
    tokenizer: Tokenizer,
    frame: Frame,
    parts: Sequence[Part],
    recent: Recent,
) -> Context:
    blocks = [frame.system] if frame.system else []
    sections = [Section("system", tokenizer.count(frame.system) + PER_MESSAGE)] if frame.system else []
    blocks += [part.text() for part in parts if part.pieces]
    sections += part_sections(parts, state.nothing_relevant, tokenizer)
    history = [piece for part in parts if part.name == "history" for piece in part.pieces]
    lines = closing_lines(state, frame, history, recent)
    blocks += lines
    last_messages = [message for message, _ in recent.messages]
    texts = message_texts(last_messages, state.shows_authors, state.labels)
    messages: list[ChatMessage] = [{"role": "system", "content": "\n\n".join(blocks)}] if blocks else []
    messages += [{"role": message.role, "content": text} for message, text in zip(last_messages, texts, strict=True)]
    messages.append({"role": "user", "content": state.current})
    if recent.messages or recent.left_out or lines:
        recent_tokens = recent.tokens + sum(tokenizer.count("\n\n" + line) for line in lines)
        items = tuple(item for _, item in recent.messages)
        sections.append(Section("recent", recent_tokens, items, tuple(recent.left_out)))
    sections.append(Section("current", tokenizer.count(state.current) + PER_MESSAGE))
    token_count = PER_REPLY + sum(tokenizer.count(message["content"]) + PER_MESSAGE for message in messages)
    return Context(messages, Receipt(tokenizer.name, budget, token_count, tuple(sections)))
