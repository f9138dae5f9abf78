"""The history of a context: the older messages of the window, each whole or at its tier.

What is relevant to the message is word for word, best first, with what completes it: the question before an answer, the
short answer after a question. A correction and what it corrects are shown alike: if one is word for word, so is the
other, and if there is no room for that, the corrected one says that it may have changed. Everything else stands at its
tier, the lowest only where the model can ask for more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from recollect.context.render import Piece
from recollect.context.state import ContextState
from recollect.model import Item, Message, Tiers
from recollect.summaries.rules.shown_tier import HIGHEST, LOWEST, SUMMARY, text_at, tier_now
from recollect.summaries.rules.tiers import write_tiers as offline_tiers
from recollect.text import fences
from recollect.text.corrections import corrected_turns, has_correction

Count = Callable[[str], int]

SHORT = 48  # tokens of a message that is word for word where the model cannot ask for more
COMPLETING = 400  # characters of a question or answer that is shown with what it completes
WORD_FOR_WORD = 600  # tokens of relevant messages that are word for word beside the best; more find nothing more
LONG = 120  # tokens of a message that has to be nearly as relevant as the best
LEAST_SHARE = 0.5  # of the best score: what completes a message is shown with it from there on
NEARLY = 0.75  # of the best score
LARGE = 2  # a message that would take more than one part in this many of the room stays at its tier
RELEVANT = "relevant"
COMPLETES = "completes what is relevant"
CORRECTS = "a correction, or what it corrects"
# A message that the view has not read yet is in every context of its conversation until it has: its tiers are written
# once, which takes milliseconds, and not for each of them.
tiers_of_unread = lru_cache(maxsize=1024)(offline_tiers)


class WindowPieces:
    """The older messages of the window as pieces: at their tiers, and word for word."""

    def __init__(self, state: ContextState, count: Count) -> None:
        self._state = state
        self._count = count
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
        return HIGHEST if self._count(message.content) <= SHORT else SUMMARY

    def _tiers_of(self, message: Message) -> Tiers:
        tiers = self._state.tiers.get(message.turn)
        if tiers is None or tiers.made_by == "none":
            offline = tiers_of_unread(message.content, self._count)
            tiers = replace(tiers or Tiers(), tier1=offline.tier1, tier2=offline.tier2, made_by=offline.made_by)
        return tiers

    def _piece(self, message: Message, text: str, tier: int, reason: str, is_requested: bool) -> Piece:
        """In a channel further lines are indented, so that no line of a message looks like a label."""
        author = message.author if self._state.shows_authors and message.role == "user" else None
        label = f"m{message.turn}"
        indent = "  " if author is not None else ""
        fenced_text = fences.message(label, message.role, author, tier, text, labels=self._state.labels, indent=indent)
        item = Item(label, self._count(fenced_text) + 2, reason, tier)
        return Piece(fenced_text, item, (message.turn,), is_requested=is_requested)


def choose_history(
    state: ContextState, older: Sequence[Message], room: int, fence_cost: int, count: Count
) -> tuple[list[Piece], list[Item]]:
    """The pieces of history that fit into `room` tokens, in order of choice, and what is left out."""
    nearly_best = NEARLY * max((state.relevance.get(message.turn, 0.0) for message in older), default=0.0)
    pieces = WindowPieces(state, count)
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
            longest = room // LARGE if state.relevance.get(turn, 0.0) >= nearly_best else LONG
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


def relevant_tokens(state: ContextState, older: Iterable[Message], count: Count) -> int:
    """About how many tokens the relevant messages of the history take word for word."""
    token_count = 0
    for message in older:
        if message.turn in state.relevance and token_count < WORD_FOR_WORD:
            token_count += count(message.content)
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
