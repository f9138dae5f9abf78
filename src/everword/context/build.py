"""Builds a context: what is sent to the model so that it answers a message, never a token over the budget.

A context is composed by worth. After the system text and the message comes what answers the message: what was found and
retrieved, and facts about it; then the last exchanges, then summaries and the rest of what is known. What answers gets
at least three quarters of a room that is too small for all (`BY_WORTH`), and what others leave; of a large budget it
takes what is relevant, up to `Budget.retrieved`. A message that would be shortened is shown whole while there is room.
Only `Budget.compact()` keeps to fixed shares and gives up what was retrieved first (`BY_SECTION`).

What seldom changes stands first, so that a model's server can keep what it has computed of it: the system text, what is
known, summaries, history (older messages of the window at their tiers), then the last exchanges, which only grow at
their end until a whole stretch of them leaves. What belongs to this message stands right before it: facts, past
episodes, the topic, what was found and retrieved, the times and the day. A conversation that costs no more whole than
shortened is sent whole, and so is a small memory. All but the last exchanges stands between fences, so that nothing in
it can look like something else. Every decision is on the receipt. The same state gives the same bytes.

A correction and what it corrects are shown alike: if one is word for word, so is the other, and if there is no room for
that, the corrected one says that it may have changed.

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
from everword.model import Budget, ChatMessage, Context, Hit, Item, Message, Receipt, Section, Tiers
from everword.ports import Tokenizer
from everword.recall.rules.relevance import is_question
from everword.summaries.rules.shortened_messages import HIGHEST, LOWEST, SUMMARY, text_at, tier_now
from everword.summaries.rules.shortened_messages import write_tiers as offline_tiers
from everword.text import escaping
from everword.text.addressing import show_address
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
LEAST_SHARE = 0.5  # of the best score: what completes a message is shown with it from there on


class WindowPieces:
    """The older messages of the window as pieces, each at its current tier."""

    def __init__(self, state: ContextState, tokenizer: Tokenizer) -> None:
        self._state = state
        self._tokenizer = tokenizer
        self._turn = state.window[-1].turn + 1 if state.window else 1
        self._corrections = corrected_turns(state.window)

    def at_tier(self, message: Message) -> Piece:
        tiers = self._tiers_of(message)
        requested_tier = tier_now(tiers, self._turn, self._state.raised_turns)
        is_requested = requested_tier > LOWEST
        tier = max(requested_tier, self._least_tier(message))
        text, tier = text_at(message, tiers, tier)
        correction = self._corrections.get(message.turn)
        if correction is not None and tier < HIGHEST:
            text = f"{text} (m{correction} may change this)"
        reason = "the model asked for it" if is_requested else "in the window"
        return self._piece(message, text, tier, reason, is_requested)

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
        text = show_address(text, self._state.nicknames)
        fenced_text = escaping.message(
            label, message.role, author, tier, text, labels=self._state.labels, indent=indent
        )
        item = Item(label, self._tokenizer.count(fenced_text) + 2, reason, tier)
        return Piece(fenced_text, item, (message.turn,), is_requested=is_requested)


def history_pieces(state: ContextState, older: Iterable[Message], tokenizer: Tokenizer) -> list[Piece]:
    """The older messages in the order of choice: what the model asked for, then the newest."""
    pieces = WindowPieces(state, tokenizer)
    return sorted(map(pieces.at_tier, older), key=lambda piece: (not piece.is_requested, -int(piece.place[0])))


def relevant_hits(state: ContextState, older: Sequence[Message]) -> list[Hit]:
    """The older messages of the window, and those that have just left it, that the message is about, best first, each
    with what completes it: the question before an answer, the answer to a question, its correction and what it
    corrects."""
    messages = {message.turn: message for message in (*state.just_left, *older)}
    last_messages = (*state.just_left, *state.window)
    scores = {turn: score for turn, score in state.relevance.items() if turn in messages}
    least = LEAST_SHARE * max(scores.values(), default=0.0)
    completions = completing_turns(last_messages)
    turns: dict[int, float] = {}
    for turn in sorted(scores, key=lambda turn: (-scores[turn], -turn)):
        turns.setdefault(turn, scores[turn])
        for neighbour in completions.get(turn, ()) if scores[turn] >= least else ():
            turns.setdefault(neighbour, scores[turn])
    last_turns = {message.turn for message in state.window} - messages.keys()
    corrections = corrected_turns(last_messages)
    for turn in linked_turns([*turns, *sorted(last_turns, reverse=True)], partners_of(corrections)):
        turns.setdefault(turn, least)
    return [Hit(messages[turn], score, {}) for turn, score in turns.items() if turn in messages]


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
        is_asked = before is not None and "?" in before.content and message.turn == before.turn + 1
        if before is not None and is_asked and (before.role, before.author) != (message.role, message.author):
            yield before, message
        before = message


# -- the sections


SPOKEN = ("user", "assistant")
FENCE_COST = 24  # tokens: the lines before and after a section
TITLES = {
    "profile": "WHAT IS KNOWN",
    "summaries": "SUMMARIES",
    "memory": "OTHER CONVERSATIONS",
    "history": "HISTORY",
    "facts": "KNOWN ABOUT THIS",
    "past": "PAST EPISODES",
    "topic": "TOPIC",
    "found": "SEARCH RESULTS",
    "retrieved": "RETRIEVED MEMORY",
}
LASTING = ("profile", "summaries", "memory", "history")
"""Sections that stand before the last exchanges; the others belong to the message and stand right before it."""
RECALLED = ("past", "found", "retrieved")
"""Sections that a memory which is sent whole replaces."""
BY_WORTH = (
    ("topic", 0.0),
    ("past", 0.0),
    ("summaries", 1 / 16),
    ("profile", 1 / 16),
    ("recent", 1 / 8),
    ("retrieved", 0.0),
    ("facts", 0.0),
    ("found", 0.0),
)
"""Which sections give way to what answers the message, in this order, and the share of the room that each keeps."""
BY_SECTION = (
    ("retrieved", 0.0),
    ("facts", 0.0),
    ("past", 0.0),
    ("topic", 0.0),
    ("recent", 1.0),
    ("found", 0.0),
    ("summaries", 0.0),
    ("profile", 0.0),
    ("recent", 0.0),
)
"""The same for a budget of fixed shares. Of the last exchanges, whatever their share, only the last one is kept."""
REMARK = 3  # a message that asks nothing gets one part in so many of what may be retrieved
SMALL_MEMORY = 1_500  # tokens of a memory that is sent whole, though less would be retrieved
SHORT_WINDOW = 5  # messages for each exchange that is to be sent: so many stay until they leave the window,
LIGHT_WINDOW = 32_000  # if they have no more characters than this
LEAST_INSTRUCTED = 8  # times the tokens that tell the model how to ask for more: a smaller budget has no room for them
PASSES = 3  # in which the shares of the last exchanges and of what is retrieved are found
SPARE = 10  # the day and the times of messages take at most one part in so many of the room
LONGEST_TOKEN = 8  # characters of a token of ordinary text, at most: of a longer chat nothing has to be counted
OVER = "does not fit the budget"
LAST = "among the last exchanges"
WHOLE = "the whole conversation costs no more"
NOTHING_RELEVANT = "nothing relevant found"
UNCERTAIN = "uncertain"


@dataclass(slots=True)
class Part:
    """One section while it is built: its pieces, most valuable first, and what was left out."""

    name: str
    pieces: list[Piece]
    left_out: list[Item]
    rendered: str | None = None
    token_count: int | None = None

    def text(self) -> str:
        """The section as it is sent; it is rendered again only if a piece was dropped."""
        if self.rendered is None:
            body = join_pieces(self.pieces, "\n\n" if self.name == "history" else "\n")
            is_uncertain = any(piece.item.reason.startswith(UNCERTAIN) for piece in self.pieces)
            title = "POSSIBLY RELATED MEMORY" if is_uncertain else TITLES[self.name]
            self.rendered = escaping.section(title, [escaping.Fenced(body)]) if body else ""
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
    """The context for a state: the economical one, or the whole conversation if that costs no more, with the whole
    memory if that is small. Raises InvalidInput if not even the system prompt and the message fit."""
    context = choose_parts(state, budget, tokenizer)
    if state.is_unsaid:
        return context
    tokens = context.receipt.tokens
    whole_context = None
    if state.other_chats and not budget.fixed:
        recalled_tokens = sum(part.tokens for part in context.receipt.sections if part.name in RECALLED)
        allowed_tokens = tokens + max(SMALL_MEMORY - recalled_tokens, 0)
        whole_context = whole_conversation(state, state.as_whole_memory(), budget, tokenizer, allowed_tokens)
    if whole_context is None:
        whole_context = whole_conversation(state, state.as_whole(), budget, tokenizer, tokens)
    return context if whole_context is None else whole_context


def choose_parts(state: ContextState, budget: Budget, tokenizer: Tokenizer) -> Context:
    """The context of the parts of a state that are worth their tokens."""
    last_messages = last_exchanges(state, budget)
    older = messages_without(state.window, last_messages)
    state = with_fitting_instructions(state, budget, is_shortened=bool(older), tokenizer=tokenizer)
    head = head_of(state.instructions, state.system)
    room = room_beside(state.current, head, budget, tokenizer)
    frame = Frame(head, state.calendar.today)
    room -= fit_day(frame, room, tokenizer)
    room -= fit_times(frame, state, room, tokenizer)
    room -= tokenizer.count("\n\n" + state.tier_request) if state.tier_request else 0
    costs = message_costs(state, last_messages, tokenizer)
    is_remark = not (budget.fixed or is_question(state.text))
    limits = replace(budget, retrieved=budget.retrieved // REMARK) if is_remark else budget
    candidates = Candidates(state, limits, tokenizer, room)
    for _ in range(PASSES):
        pieces = candidates.pieces(older)
        needs = {name: total_tokens(pieces[name], tokenizer) for name in pieces}
        shares = share_tokens(room, limits, needs, costs)
        recent = recent_messages(last_messages, costs, shares["recent"], WHOLE if state.sends_whole else LAST)
        others = messages_without(state.window, (message for message, _ in recent.messages))
        if budget.fixed or len(others) == len(older):
            break
        older = others  # what does not fit among the last exchanges may be retrieved
    room -= recent.tokens
    parts = choose_sections(pieces, shares, limits, room, tokenizer)
    parts["retrieved"].left_out += candidates.omissions
    room -= sum(part.tokens(tokenizer) for part in parts.values())
    parts["history"] = choose_history(state, recent, parts["retrieved"], room, tokenizer)
    if not (head or recent.messages or any(part.pieces for part in parts.values())):
        frame.today = frame.today and state.calendar.short_today
    return fit_context(state, budget, tokenizer, frame, {name: parts[name] for name in TITLES}, recent)


def messages_without(messages: Iterable[Message], others: Iterable[Message]) -> list[Message]:
    other_turns = {message.turn for message in others}
    return [message for message in messages if message.turn not in other_turns]


def with_fitting_instructions(
    state: ContextState, budget: Budget, *, is_shortened: bool, tokenizer: Tokenizer
) -> ContextState:
    """The state with what the model has to be told: nothing of tiers if no message is shortened, and nothing at all in
    a small budget."""
    if not (is_shortened or state.sends_whole or state.beside):
        state = replace(state, instructions=state.search_instructions)
    if tokenizer.count(state.instructions + state.tier_request) * LEAST_INSTRUCTED > budget.total:
        state = replace(state, instructions="", tier_request="")
    return state


def choose_sections(
    pieces: Mapping[str, Sequence[Piece]], shares: Mapping[str, int], limits: Budget, room: int, tokenizer: Tokenizer
) -> dict[str, Part]:
    """The sections but for history and the last exchanges, each within its share. What the others leave goes to what is
    retrieved, unless the shares are fixed."""
    parts: dict[str, Part] = {}
    for name in ("memory", "profile", "summaries", "past", "topic", "found", "facts", "retrieved"):
        limit = shares.get(name, room)
        if name == "retrieved" and not limits.fixed:
            limit = min(room, limits.retrieved)
        shown_ids = {piece.item.id for piece in parts["profile"].pieces} if name == "facts" else ()
        new_pieces = [piece for piece in pieces[name] if piece.item.id not in shown_ids]
        parts[name] = Part(name, *choose_pieces(new_pieces, limit, tokenizer))
        room -= parts[name].tokens(tokenizer)
    return parts


def choose_history(state: ContextState, recent: Recent, retrieved: Part, room: int, tokenizer: Tokenizer) -> Part:
    """The older messages that fit, but for those that were retrieved and would stand there whole a second time."""
    older = messages_without(state.window, (message for message, _ in recent.messages))
    retrieved_labels = {piece.item.id for piece in retrieved.pieces}
    pieces = [
        piece
        for piece in history_pieces(state, older, tokenizer)
        if piece.item.tier < HIGHEST or piece.item.id not in retrieved_labels
    ]
    return Part("history", *choose_pieces(pieces, room, tokenizer))


def last_exchanges(state: ContextState, budget: Budget) -> list[Message]:
    """The last messages, to be sent as they are: at least `budget.pairs` exchanges. Where the budget is not fixed they
    leave together, when they leave a short window, or in stretches of so many exchanges: so that a prompt begins like
    the one before."""
    spoken_messages = [message for message in state.window if message.role in SPOKEN and message.content.strip()]
    count = 2 * budget.pairs
    if state.sends_whole or count <= 0:
        return spoken_messages if state.sends_whole else []
    last_messages = spoken_messages[-count:]
    if budget.fixed or not last_messages:
        return last_messages
    is_light = sum(len(message.content) for message in spoken_messages) <= LIGHT_WINDOW
    if is_light and len(spoken_messages) <= SHORT_WINDOW * budget.pairs:
        return spoken_messages
    start = (last_messages[0].turn - 1) // count * count
    return [message for message in spoken_messages if message.turn > start]


def whole_conversation(
    state: ContextState, whole_state: ContextState, budget: Budget, tokenizer: Tokenizer, max_tokens: int
) -> Context | None:
    """A context with the whole conversation as it was said, if it has at most `max_tokens`; None if it has more."""
    messages = whole_state.window
    is_spoken = all(message.role in SPOKEN and message.content.strip() for message in messages)
    least_tokens = sum(len(message.content) for message in messages) // LONGEST_TOKEN
    if not (state.is_whole and is_spoken and budget.pairs > 0) or least_tokens > max_tokens:
        return None
    context = choose_parts(whole_state, budget, tokenizer)
    counts = {section.name: len(section.items) for section in context.receipt.sections}
    is_shown = counts.get("recent", 0) == len(messages) and counts.get("memory", 0) == len(whole_state.other_chats)
    return context if is_shown and context.receipt.tokens <= max_tokens else None


def message_costs(state: ContextState, messages: Sequence[Message], tokenizer: Tokenizer) -> list[int]:
    texts = message_texts(messages, state.shows_authors, state.labels, state.nicknames)
    return [tokenizer.count(text) + PER_MESSAGE for text in texts]


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
        raise InvalidInput("budget", f"has {budget.total} tokens; must have at least one")
    head_tokens = tokenizer.count(head) if head else 0
    if head_tokens > budget.system:
        raise InvalidInput(
            "system",
            f"has {head_tokens} tokens with everword's own instructions; the budget allows {budget.system}",
        )
    system_tokens = head_tokens + PER_MESSAGE if head else 0
    text_tokens = tokenizer.count(text) + PER_MESSAGE
    room = budget.total - PER_REPLY - system_tokens - text_tokens
    if room < 0:
        raise InvalidInput(
            "text",
            f"has {text_tokens} tokens and the system text has {system_tokens}; a budget of {budget.total} is too "
            "small for both",
        )
    return room


class Candidates:
    """The pieces that a context can be chosen from, most valuable first, by section; `omissions` are hits that cannot
    get in."""

    def __init__(self, state: ContextState, budget: Budget, tokenizer: Tokenizer, room: int) -> None:
        self._state = state
        self._budget = budget
        self._room = min(budget.retrieved, room)
        names = (state.nicknames, state.titles, state.language, state.threads)
        self._renderer = Renderer(tokenizer, state.labels, state.calendar, state.conversation, *names)
        self.omissions: list[Item] = []

    def pieces(self, older: Sequence[Message]) -> dict[str, list[Piece]]:
        """All sections except history; `older` are the messages of the window before the last exchanges."""
        state = self._state
        self.omissions = []
        older_ids = {message.id for message in older}
        shown_ids = {message.id for message in state.window if message.id not in older_ids}
        newest_first = sorted(state.episodes, key=lambda episode: (-episode.last, episode.level))
        episode_ids = {episode.id for episode in state.episodes}
        past_episodes = [e for e in state.past if e.conversation != state.conversation or e.id not in episode_ids]
        hits = sorted([*relevant_hits(state, older), *state.retrieved], key=lambda hit: -hit.score)
        return {
            "profile": self._renderer.note_pieces([n for n in state.profile if n.lasts], state.channel),
            "facts": self._renderer.note_pieces([n for n in state.profile if n.answers], state.channel),
            "summaries": self._renderer.episode_pieces(newest_first),
            "past": self._renderer.episode_pieces(past_episodes, "a past episode close to the message"),
            "found": self._hit_pieces(state.found, "found by the model's search", shown_ids),
            "retrieved": self._hit_pieces(hits, UNCERTAIN if state.uncertain else "relevant", shown_ids),
            "topic": self._topic_pieces(),
            "memory": self._renderer.message_pieces(state.other_chats if state.sends_whole else ()),
        }

    def _hit_pieces(self, hits: Sequence[Hit], reason: str, shown_ids: set[str]) -> list[Piece]:
        pieces, omissions = self._renderer.hit_pieces(hits, reason, shown_ids, self._state.text, self._room)
        self.omissions += omissions
        return pieces

    def _topic_pieces(self) -> list[Piece]:
        """The topic of the message, except what could be in another section."""
        state = self._state
        if state.topic is None:
            return []
        hits = (*state.found, *state.retrieved) if self._budget.retrieved else ()
        shown_turns = {hit.message.turn for hit in hits if hit.message.conversation == state.conversation}
        shown_turns |= {message.turn for message in (*state.window, *state.beside)}
        summaries = (*state.episodes, *state.past) if self._budget.summaries else ()
        summary_text = " ".join(episode.summary for episode in summaries).casefold()
        return self._renderer.topic_pieces(state.topic, shown_turns, summary_text)


def total_tokens(pieces: Sequence[Piece], tokenizer: Tokenizer) -> int:
    headings = sum(tokenizer.count(group) + 1 for group in {piece.group for piece in pieces} if group)
    return sum(piece.item.tokens for piece in pieces) + headings + FENCE_COST if pieces else 0


def share_tokens(room: int, budget: Budget, needs: Mapping[str, int], recent_costs: Sequence[int]) -> dict[str, int]:
    """How many tokens each section gets: what it needs up to its budget, less what more valuable sections need."""
    max_recent = room if budget.recent is None else min(room, budget.recent)
    answering_room = budget.retrieved
    shares = {"recent": min(sum(recent_costs), max_recent)}
    for name in ("found", "facts", "retrieved"):
        shares[name] = min(needs[name], answering_room)
        answering_room -= shares[name]
    limits = {"profile": budget.profile, "summaries": budget.summaries, "past": budget.summaries, "topic": budget.topic}
    shares |= {name: min(needs[name], limit) for name, limit in limits.items()}
    last_exchange = min(sum(recent_costs[-2:]), max_recent)
    excess = sum(shares.values()) - room
    for name, least_share in BY_SECTION if budget.fixed else BY_WORTH:
        least = int(least_share * room)
        if name == "recent":
            least = min(least, last_exchange)
        cut = max(min(excess, shares[name] - least), 0)
        shares[name] -= cut
        excess -= cut
    return shares


def recent_messages(messages: Sequence[Message], costs: Sequence[int], max_tokens: int, reason: str = LAST) -> Recent:
    """The last exchanges, word for word; the newest are chosen first. What does not fit goes to history."""
    split = len(messages) - count_fitting(costs, max_tokens)
    items = [
        Item(escaping.message_label(f"m{message.turn}"), cost, reason)
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
    return with_whole_messages(chosen_pieces, tokens_left), omissions


def with_whole_messages(pieces: Sequence[Piece], tokens_left: int) -> list[Piece]:
    """The pieces, with whole messages in place of excerpts, best first, as far as tokens are left."""
    chosen_pieces: list[Piece] = []
    for piece in pieces:
        whole = piece.whole
        if whole is not None and whole.item.tokens - piece.item.tokens <= tokens_left:
            tokens_left -= whole.item.tokens - piece.item.tokens
            chosen_pieces.append(whole)
        else:
            chosen_pieces.append(piece)
    return chosen_pieces


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
        context = render_context(state, budget, tokenizer, frame, parts, recent)
        if context.receipt.tokens <= budget.total:
            return context
        if not drop_least_valuable(parts, recent, frame, BY_SECTION if budget.fixed else BY_WORTH):
            raise InvalidInput(
                "text", f"does not fit a budget of {budget.total} tokens; shorten the text or raise the budget"
            )


def drop_least_valuable(
    parts: Mapping[str, Part], recent: Recent, frame: Frame, order: Sequence[tuple[str, float]]
) -> bool:
    """Leave out a piece, or the oldest of the last exchanges, of which one stays as long as there is something else;
    False if there is nothing left."""
    for name in ("history", *(name for name, _ in order)):
        if name == "recent":
            if len(recent.messages) > 2:
                recent.drop_oldest()
                return True
        elif parts[name].pieces:
            parts[name].drop()
            return True
    if recent.messages:
        recent.drop_oldest()
        return True
    return frame.drop()


def recent_labels(recent: Sequence[tuple[Message, Item]]) -> str:
    """Which messages follow word for word: the first and last label, or each label if some between do not follow."""
    first_message, first_item = recent[0]
    last_message, last_item = recent[-1]
    if last_message.turn - first_message.turn == len(recent) - 1 > 0:
        return f"Messages {first_item.id} to {last_item.id}"
    return "Messages " + ", ".join(item.id for _, item in recent)


def closing_lines(state: ContextState, frame: Frame, history: Sequence[Piece], recent: Recent) -> list[str]:
    """What is said about the messages that are shown: when they were said, and which stand there whole."""
    turns = {message.turn for message, _ in recent.messages} | {int(str(piece.place[0])) for piece in history}
    times = times_line(state, turns) if frame.has_times else ""
    is_labelled = recent.messages and history and state.can_ask
    labels = f"{recent_labels(recent.messages)} stand above in full (tier 3)." if is_labelled else ""
    return [line for line in (state.tier_request, times, labels) if line]


def part_sections(parts: Iterable[Part], nothing_relevant: bool, tokenizer: Tokenizer) -> Iterator[Section]:
    """The parts on the receipt: those that have something, or left something out, or say that nothing was found."""
    for part in parts:
        note = NOTHING_RELEVANT if part.name == "retrieved" and nothing_relevant else ""
        if part.pieces or part.left_out or note:
            pieces = sorted(part.pieces, key=lambda piece: piece.place)
            items = tuple(piece.item for piece in pieces)
            yield Section(part.name, part.tokens(tokenizer), items, tuple(part.left_out), note)


def recent_sections(recent: Recent, lines: Sequence[str], tokenizer: Tokenizer) -> list[Section]:
    if not (recent.messages or recent.left_out or lines):
        return []
    tokens = recent.tokens + sum(tokenizer.count("\n\n" + line) for line in lines)
    return [Section("recent", tokens, tuple(item for _, item in recent.messages), tuple(recent.left_out))]


def render_context(
    state: ContextState,
    budget: Budget,
    tokenizer: Tokenizer,
    frame: Frame,
    parts: Mapping[str, Part],
    recent: Recent,
) -> Context:
    """The messages and the receipt. Where messages stand between what lasts and what belongs to the message, there are
    two system messages."""
    lasting_parts = [parts[name] for name in LASTING]
    other_parts = [part for name, part in parts.items() if name not in LASTING]
    lines = closing_lines(state, frame, parts["history"].pieces, recent)
    has_messages_between = bool(recent.messages or state.beside)
    lasting_blocks = [part.text() for part in lasting_parts if part.pieces]
    other_blocks = [part.text() for part in other_parts if part.pieces] + lines
    if has_messages_between:
        first_blocks, last_blocks = [frame.head, *lasting_blocks], [*other_blocks, frame.today]
    else:
        first_blocks, last_blocks = [frame.system, *lasting_blocks, *other_blocks], []
    last_messages = [message for message, _ in recent.messages]
    texts = message_texts(last_messages, state.shows_authors, state.labels, state.nicknames)
    messages = [
        *system_message(first_blocks),
        *(ChatMessage(role=message.role, content=text) for message, text in zip(last_messages, texts, strict=True)),
        *system_message(last_blocks),
        ChatMessage(role="user", content=state.current),
    ]
    sections = [Section("system", tokenizer.count(frame.system) + PER_MESSAGE)] if frame.system else []
    sections += part_sections(lasting_parts, False, tokenizer)
    sections += recent_sections(recent, lines, tokenizer)
    sections += part_sections(other_parts, state.nothing_relevant, tokenizer)
    sections.append(Section("current", tokenizer.count(state.current) + PER_MESSAGE))
    token_count = PER_REPLY + sum(tokenizer.count(message["content"]) + PER_MESSAGE for message in messages)
    return Context(messages, Receipt(tokenizer.name, budget, token_count, tuple(sections)))


def system_message(blocks: Iterable[str]) -> list[ChatMessage]:
    content = "\n\n".join(filter(None, blocks))
    return [ChatMessage(role="system", content=content)] if content else []
