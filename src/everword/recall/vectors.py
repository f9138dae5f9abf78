"""The vectors view: vectors made anew by another embedder, while the passages stay.

They are made conversation by conversation: words find what they found before, and a passage is found by its meaning
again when its turn has come. It begins by itself where the vectors are of an earlier version of this embedder, with
which ours can be compared meanwhile; where they are of another embedder, when somebody asks for it, and the old vectors
go at once. A note says that it is under way, so every process takes part, and a later one goes on. The note is taken
away with the last vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from everword.follow.view import Run
from everword.log.append_and_read import set_cursor
from everword.ports import FORMER_EMBEDDER, Clock, ConversationKey, Tx, Vectors
from everword.recall.view import VECTORS, IndexView, texts_of

REFRESH = timedelta(seconds=30)  # between the moments at which searches begin to use vectors that were made anew


@dataclass(frozen=True, slots=True)
class NewVectors:
    """The vectors of a run, by the turn and the part of each passage; whether it is the last run of its batch."""

    place: ConversationKey
    end: int
    vecs: dict[tuple[int, int], Vectors]
    is_last: bool


class VectorsView:
    """Vectors of this embedder in the place of another's. It is followed only while they are made anew."""

    name = VECTORS
    at_once = 512
    ordered = False

    def __init__(self, index: IndexView, clock: Clock) -> None:
        self._index = index
        self._clock = clock
        self._refreshed_at = clock.now()
        self._is_under_way = True

    def guard(self, tx: Tx) -> None:
        self._index.guard(tx)
        self._is_under_way = is_made_anew(tx)

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[NewVectors]:
        texts = [[*texts_of(run.messages)] if self._is_under_way else [] for run in runs]
        vectors = iter(await self._index.embed([text for run_texts in texts for _, _, text in run_texts]))
        return [
            NewVectors(
                run.place,
                run.end,
                {(message.turn, part): next(vectors) for message, part, _ in run_texts},
                run is runs[-1],
            )
            for run, run_texts in zip(runs, texts, strict=True)
        ]

    def save(self, tx: Tx, result: NewVectors) -> None:
        self._index.check_embedder(tx)
        tx.index.replace_vectors(*result.place, result.vecs)
        set_cursor(tx, self.name, *result.place, result.end)  # now, so that the last one sees whether all are done
        if not result.is_last or not is_made_anew(tx):
            return
        now = self._clock.now()
        is_complete = tx.view_state(self.name, now, None).behind == 0
        if is_complete:
            tx.set_note(FORMER_EMBEDDER, None)
        if is_complete or now - self._refreshed_at >= REFRESH:  # not more often: large scopes are read whole again
            self._refreshed_at = now
            tx.index.note_reset()


def is_made_anew(tx: Tx) -> bool:
    """Whether vectors are being made anew."""
    return tx.note(FORMER_EMBEDDER) is not None
