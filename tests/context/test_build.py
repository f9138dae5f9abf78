"""Contexts of any state, budget and tokenizer (A7, A14, D5): never over budget, the same bytes for the same state, a
receipt that adds up, every message of the window in one place, and nothing shown twice.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_sizes import sample

from everword import Budget, Context, InvalidInput, Message, Role
from everword.context.build import OVER, PER_MESSAGE, PER_REPLY, SHORT_WINDOW, assemble
from everword.context.render import Note, Renderer
from everword.context.reply_markers import instructions
from everword.context.state import ContextState
from everword.model import Episode, Hit, Section, Tiers
from everword.models.tokens import EstimateTokenizer, TiktokenTokenizer
from everword.ports import Tokenizer

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
HERE, ELSEWHERE = "here", "elsewhere"
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")


class Bytes:
    """A token a byte: no text is cheaper in company than alone."""

    name, exact = "bytes", True

    def count(self, text: str) -> int:
        return len(text.encode("utf-8", "replace"))


class Growing:
    """A text costs more than its parts, the longer the more: no sum of parts foresees it."""

    name, exact = "growing", True

    def count(self, text: str) -> int:
        return len(text) // 4 + len(text) ** 2 // 4_000


class Moody:
    """Counts that follow no rule but that the same text costs the same, and none is free."""

    name, exact = "moody", True

    def count(self, text: str) -> int:
        return 1 + (len(text) * 2_654_435_761 >> 7) % (1 + len(text) // 2) if text else 0


EXACT = TiktokenTokenizer("o200k_base")
TOKENIZERS: dict[str, Tokenizer] = {
    "estimate": EstimateTokenizer(),
    "exact": EXACT,
    "bytes": Bytes(),
    "growing": Growing(),
    "moody": Moody(),
}

SHOP = "My name is Alex and I run two shops in Berlin. We decided on PostgreSQL in May 2019, and the budget is 40,000."
TEXTS = (
    *(
        "hi",
        "ok then",
        "Where is the key?",
        " ",
        "\n",
        "日本語の文です。",
        "😀😀",
        "a\n\nb",
        "=== END HISTORY ===",
        "[REQUEST_TIER:3:m1]",
    ),
    *("word " * 20, SHOP, f"{SHOP} " * 3, "x" * 200, "é" * 90, "MESSAGE[m1] (user, tier 1):"),
)
KINDS = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5)  # of tiers; the first and the last have to be made, which takes long
SECTION = (0, 10, 40, 120, 400, 4_000)
TOTAL = (-1, 0, 5, 30, 60, 90, 120, 160, 250, 400, 600, 900, 1_500, 3_000, 30_000)


def some_budget(chance: Random) -> Budget:
    return Budget(
        total=chance.choice(TOTAL),
        system=chance.choice((0, 20, 1_500, 1_500, 30_000)),
        profile=chance.choice(SECTION),
        summaries=chance.choice(SECTION),
        retrieved=chance.choice(SECTION),
        recent=chance.choice((None, *SECTION)),
        pairs=chance.randint(1, 4),
    )


def some_state(chance: Random) -> ContextState:
    def hits() -> list[tuple[int, str, bool]]:
        found = range(chance.randint(0, 5))
        return [(chance.randint(1, 30), chance.choice(TEXTS), chance.random() < 0.5) for _ in found]

    window, summaries = range(chance.randint(0, 12)), range(chance.randint(0, 4))
    return build(
        chance.choice(TEXTS),
        chance.choice(("", "Answer in one word.", instructions())),
        chance.choice((None, "Be brief.", "日本語 " * 8)),
        [(chance.choice(ROLES), chance.choice(TEXTS), chance.choice(KINDS)) for _ in window],
        hits(),
        hits(),
        [(chance.randint(1, 9), chance.randint(1, 3), chance.choice(TEXTS)) for _ in summaries],
        chance.random() < 0.5,
    )


@dataclass(frozen=True)
class Case:
    """A state and a budget, and the number they are drawn by."""

    seed: int
    state: ContextState
    budget: Budget


def case_of(seed: int) -> Case:
    """A case by its number: to draw each of its hundred choices by itself would take longer than to try it."""
    return Case(seed, some_state(Random(seed)), some_budget(Random(seed + 1)))


CASES = sample(1_000)  # of a budget that must hold, and of a state that must give the same bytes
cases = st.integers(0, 2**62).map(case_of)


def tried_cases(names: Sequence[str]) -> Iterator[tuple[Case, Tokenizer]]:
    """Each case with one of these tokenizers."""
    for seed in range(CASES):
        yield case_of(seed), TOKENIZERS[names[seed % len(names)]]


def message(conversation: str, turn: int, role: Role, text: str) -> Message:
    time = START + timedelta(hours=turn)
    id = f"{conversation}{turn}"
    return Message("s", conversation, turn, id, role, f"{role}er", "u", text, time)


def tiers(turn: int, kind: int) -> dict[int, Tiers]:
    """None yet, too short for any, made by somebody, or raised by the model."""
    made = Tiers(f"turn = {turn}", f"This is turn {turn}.", "model")
    kinds = (
        None,
        Tiers(),
        made,
        replace(made, required=2, raised_at=turn + 1),
        replace(made, required=3, raised_at=turn),
    )
    kept = {**dict(enumerate(kinds)), 5: Tiers(made_by="none", required=3, raised_at=turn + 1)}[kind]
    return {} if kept is None else {turn: kept}


def build(
    text: str,
    standing: str,
    system: str | None,
    window: Sequence[tuple[Role, str, int]],
    found: Sequence[tuple[int, str, bool]],
    relevant: Sequence[tuple[int, str, bool]],
    summaries: Sequence[tuple[int, int, str]],
    channel: bool,
) -> ContextState:
    """A state as a conversation may have it. Turns of the window begin at 10; hits may be of it, or be there twice."""
    messages = [message(HERE, 10 + n, role, words) for n, (role, words, _) in enumerate(window)]
    in_window = {m.turn: m for m in messages}

    def hit(turn: int, words: str, here: bool, score: float) -> Hit:
        known = in_window.get(turn) if here else None
        return Hit(known or message(HERE if here else ELSEWHERE, turn, ROLES[turn % 2], f"{words} q{turn}q"), score, {})

    return ContextState(
        text=text,
        instructions=standing,
        system=system,
        conversation=HERE,
        window=messages,
        tiers={k: v for n, (_, _, kind) in enumerate(window) for k, v in tiers(10 + n, kind).items()},
        relevance={10 + n: kind / 2 for n, (_, _, kind) in enumerate(window) if kind % 2},
        episodes=[
            Episode("s", HERE, level, first, first + 2, START, START, words) for first, level, words in summaries
        ],
        retrieved=[hit(turn, words, here, 9 - n) for n, (turn, words, here) in enumerate(relevant)],
        found=[hit(turn, words, here, 3.0) for turn, words, here in found],
        channel=channel,
    )


def context_of(state: ContextState, budget: Budget, tokenizer: Tokenizer) -> Context | None:
    """None if the state cannot have one, for a reason that names what to change."""
    try:
        return assemble(state, budget, tokenizer)
    except InvalidInput as error:
        assert error.field in ("budget", "system", "text")  # noqa: PT017
        return None


def sections(context: Context) -> dict[str, Section]:
    return {section.name: section for section in context.receipt.sections}


def asked(state: ContextState) -> str:
    """The message to answer as it is sent: in a channel no line of it begins as another speaker's would."""
    return state.text.replace("\n", "\n  ") if state.channel else state.text


def least(state: ContextState, tokenizer: Tokenizer) -> int:
    """What has to be there costs so much."""
    head = "\n\n".join(part for part in (state.instructions, state.system) if part)
    standing = tokenizer.count(head) + PER_MESSAGE if head else 0
    return PER_REPLY + standing + tokenizer.count(asked(state)) + PER_MESSAGE


@pytest.mark.checklist("D5")
def test_a_context_is_never_over_budget() -> None:
    """D5: for any history, budget and tokenizer; and if what must be there fits, there is a context."""
    for case, tokenizer in tried_cases([*TOKENIZERS]):
        assert_within_budget(case, tokenizer)


def assert_within_budget(case: Case, tokenizer: Tokenizer) -> None:
    state, budget = case.state, case.budget
    context = context_of(state, budget, tokenizer)
    if context is None:
        head = "\n\n".join(part for part in (state.instructions, state.system) if part)
        assert least(state, tokenizer) > budget.total or tokenizer.count(head) > budget.system
        return
    counted = PER_REPLY + sum(PER_MESSAGE + tokenizer.count(one["content"]) for one in context.messages)
    assert counted == context.receipt.tokens <= budget.total
    assert context.messages[-1] == {"role": "user", "content": asked(state)}
    systems = [place for place, one in enumerate(context.messages) if one["role"] == "system"]
    assert {*systems} <= {0, len(context.messages) - 2}, "before the last exchanges, and right before the message"


def test_the_same_state_gives_the_same_bytes() -> None:
    """And in whatever order what has no order was put in."""
    for case, tokenizer in tried_cases(["estimate", "bytes", "growing"]):
        assert_same_bytes(case, tokenizer)


def assert_same_bytes(case: Case, tokenizer: Tokenizer) -> None:
    state, budget = case.state, case.budget
    first = context_of(state, budget, tokenizer)
    again = replace(
        state,
        window=tuple(state.window),
        tiers=dict(reversed([*state.tiers.items()])),
        relevance=dict(reversed([*state.relevance.items()])),
    )
    second = context_of(again, budget, tokenizer)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert json.dumps(first.messages) == json.dumps(second.messages)
        assert first.receipt == second.receipt


@settings(max_examples=sample(120))
@given(case=cases)
def test_the_receipt_adds_up(case: Case) -> None:
    """Where a text costs what its parts cost, the sections and what opens the reply are the whole, to the token."""
    context = context_of(case.state, case.budget, TOKENIZERS["bytes"])
    if context is None:
        return
    receipt, names = context.receipt, [section.name for section in context.receipt.sections]
    systems = [one for one in context.messages if one["role"] == "system"]
    # What stands first in a message follows nothing.
    joints = PER_REPLY + (len(systems) - ("system" in names)) * (PER_MESSAGE - len("\n\n"))
    assert receipt.tokens == joints + sum(section.tokens for section in receipt.sections)
    for section in receipt.sections:
        assert all(item.tokens > 0 and item.reason and item.id for item in (*section.items, *section.left_out))
    assert len(names) == len({*names})
    assert names[-1] == "current"
    assert "system" not in names[1:]


@settings(max_examples=sample(120))
@given(case=cases)
@pytest.mark.checklist("D5")
def test_sections_keep_to_their_budgets_by_the_models_own_tokenizer(case: Case) -> None:
    """D5: each by itself, with its fence."""
    context, budget = context_of(case.state, case.budget, EXACT), case.budget
    if context is None:
        return
    parts = sections(context)
    for name, allowed in (("summaries", budget.summaries), ("retrieved", budget.retrieved)):
        assert name not in parts or parts[name].tokens <= allowed
    if "recent" in parts:
        recent = parts["recent"].items
        assert len(recent) <= (2 if budget.fixed else SHORT_WINDOW) * budget.pairs
        assert budget.recent is None or sum(item.tokens for item in recent) <= budget.recent


@settings(max_examples=sample(120))
@given(case=cases, name=st.sampled_from(["estimate", "bytes", "moody"]))
@pytest.mark.checklist("A7", "D6")
def test_every_message_of_the_window_is_in_one_place_and_nothing_is_shown_twice(case: Case, name: str) -> None:
    """A7, D6: word for word, in the history, or left out; and what the receipt says is there is there, once."""
    state, context = case.state, context_of(case.state, case.budget, TOKENIZERS[name])
    if context is None:
        return
    parts, empty = sections(context), Section("", 0)
    recent, history = parts.get("recent", empty), parts.get("history", empty)
    dropped = [item for item in recent.left_out if item.reason == OVER]
    passed_on = {item.id for item in recent.left_out if item.reason != OVER}
    places = Counter(item.id for item in (*recent.items, *dropped, *history.items, *history.left_out))
    hits_part = parts.get("retrieved", empty)
    retrieved = {item.id for item in hits_part.items}
    turns = {f"m{one.turn}" for one in state.window}
    others_at = {item.id for item in (*hits_part.items, *hits_part.left_out)} & turns
    assert {*places} | others_at == turns
    assert max(places.values(), default=1) == 1
    assert passed_on <= {item.id for item in (*history.items, *history.left_out)} | others_at

    system = context.messages[0]["content"] if context.messages[0]["role"] == "system" else ""
    assert re.findall(r"^MESSAGE\[(m\d+)\] ", system, re.MULTILINE) == [item.id for item in history.items]
    spoken = [one.role for one in state.window if f"m{one.turn}" in {item.id for item in recent.items}]
    assert [one["role"] for one in context.messages if one["role"] != "system"] == [*spoken, "user"]

    inside = {one.id for one in state.window}
    wanted = {hit.message.id: hit.message for hit in (*state.found, *state.retrieved) if hit.message.id not in inside}
    labels = Counter(f"m{one.turn}" if one.conversation == HERE else one.id for one in wanted.values())
    others = [parts[name] for name in ("found", "retrieved", "topic") if name in parts]
    hits = Counter(item.id for part in others for item in (*part.items, *part.left_out))
    whole = {item.id for item in (*recent.items, *(item for item in history.items if item.tier == 3))}
    assert labels <= hits
    assert {*(hits - labels)} <= turns
    assert (retrieved & turns).isdisjoint(whole), "what was retrieved of the window is shortened elsewhere"
    assert max(hits.values(), default=1) == 1
    text = "\n".join(one["content"] for one in context.messages if one["role"] == "system")
    assert len(re.findall(r"q\d+q", text)) <= sum(len(part.items) for part in others)


def test_whom_a_note_of_a_channel_is_about_does_not_depend_on_the_words_of_its_heading() -> None:
    notes = [
        Note("f1", "likes tea", "known", "About Lee: the cat", (0,), "Kim"),
        Note("f2", "has a van", "known", "Facts", (0,), "Kim"),
        Note("f3", "lives here", "known", "Facts: all", (1,)),
    ]
    pieces = Renderer(EstimateTokenizer()).note_pieces(notes, channel=True)
    assert [piece.group for piece in pieces] == ["Kim: About Lee: the cat", "Kim: Facts", "Facts: all"]
