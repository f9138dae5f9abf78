"""How the follower of each view behaves: what it checks first, what it leaves for later, how long it waits for more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from everword.facts.view import FactsView
from everword.follow.view import Hooks, Patience, View
from everword.ports import Tx
from everword.recall.view import IndexView
from everword.summaries.episodes import EpisodesView
from everword.summaries.tiers import TiersView
from everword.summaries.window import WindowView
from everword.topics.titles import TitlesView
from everword.topics.view import TopicsView

FACT_TURNS = 40  # messages that the model reads for facts at once, if they come without a pause
FIRST_TURNS = 60  # messages of a person before which it reads nothing in the background
SUMMARY_TURNS = 80  # messages after which it writes summaries
TITLE_TURNS = 400  # messages after which it writes titles of topics: one has a title from its first message on
TIER_TURNS = 60  # messages after which it writes the tiers that did not come with a reply


def build_hooks(
    views: Sequence[View[Any]],
    guard: Callable[[Tx], None],
    has_open_turn: Callable[[str, str], bool],
    quiet_seconds: float,
    has_model: bool,
    on_indexed: Callable[[], None],
) -> dict[str, Hooks]:
    """The hooks of views into their followers, by view. `guard` raises where vectors are of another embedder. A turn
    under way brings its own tiers: until it ends, no other code makes them. `on_indexed` is called when new messages
    can be searched."""
    topics = next(view for view in views if isinstance(view, TopicsView))
    quiet = timedelta(seconds=quiet_seconds)
    waits = has_model and bool(quiet)
    facts = Patience(FACT_TURNS, quiet, first=FIRST_TURNS) if waits else None
    summaries = Patience(SUMMARY_TURNS, quiet, SUMMARY_TURNS) if waits else None
    tiers = Patience(TIER_TURNS, quiet, TIER_TURNS) if waits else None
    return {
        TiersView.name: Hooks(later=has_open_turn, patience=tiers),
        TopicsView.name: Hooks(skip=topics.skip),
        IndexView.name: Hooks(guard=guard, on_saved=on_indexed),
        WindowView.name: Hooks(guard=guard),
        EpisodesView.name: Hooks(guard=guard, patience=summaries),
        TitlesView.name: Hooks(patience=Patience(TITLE_TURNS, quiet, TITLE_TURNS) if waits else None),
        FactsView.name: Hooks(patience=facts, steady=has_model),
    }
