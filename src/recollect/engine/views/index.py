"""The index view: every message, in passages, with its terms and its vectors.

The store notes which embedder made its vectors. Vectors of two embedders cannot be compared, so whoever comes with
another one is refused, before writing and before searching, and told how to make the index anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recollect.engine.work.view import Run
from recollect.errors import EmbedderError, EmbedderMismatch
from recollect.language.terms import Analysed, analyse, passages
from recollect.model import Entry, Message
from recollect.ports import Embedder, Tx, Vectors

EMBEDDER = "embedder"  # the note that names who made the vectors

Passage = tuple[Message, int, str, Analysed]


class IndexView:
    """Full text and vectors over messages."""

    name = "index"
    at_once = 512
    ordered = False

    def __init__(self, embedder: Embedder, run: Callable[..., Any]) -> None:
        self._embedder, self._run = embedder, run

    def first(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[list[Entry]]:
        await self._embedder.ready()
        every: list[list[Passage]] = await self._run(lambda: [list(passages_of(run.messages)) for run in runs])
        vectors = await self._embedder.embed([text for found in every for _, _, text, _ in found])
        results, start = [], 0
        for found in every:
            results.append(entries_of(found, vectors[start : start + len(found)]))
            start += len(found)
        return results

    def save(self, tx: Tx, result: Sequence[Entry]) -> None:
        if result:
            if self.check(tx) is None:
                tx.set_note(EMBEDDER, self._embedder.identity)
            tx.put_entries(result)

    def guard(self, tx: Tx) -> None:
        """The same before any work is begun; an embedder that does not know its identity yet is asked first."""
        try:
            self._embedder.identity  # noqa: B018  an endpoint knows it only once it has answered
        except EmbedderError:
            return
        self.check(tx)

    def check(self, tx: Tx) -> str | None:
        """Refuse to mix vectors of two embedders; which one made those that are there."""
        made_by = tx.note(EMBEDDER)
        if made_by is not None and made_by != self._embedder.identity:
            raise EmbedderMismatch(
                f"the vectors in this store were made by {made_by!r}, and this embedder is "
                f"{self._embedder.identity!r}: set the embedder back, or make the index anew: `recollect rebuild index`"
            )
        return made_by


def passages_of(messages: Sequence[Message]) -> list[Passage]:
    found: list[Passage] = []
    for message in messages:
        if message.erased or not message.content.strip():
            continue
        for part, text in enumerate(passages(message.content)):
            found.append((message, part, text, analyse(text)))
    return found


def entries_of(found: Sequence[Passage], vectors: Vectors) -> list[Entry]:
    return [
        Entry(
            space=message.space,
            conversation=message.conversation,
            turn=message.turn,
            part=part,
            message_id=message.id,
            user=message.user,
            role=message.role,
            time=message.time,
            language=analysed.language,
            terms=analysed.terms,
            vector=vector,
            author=message.author,
        )
        for (message, part, _, analysed), vector in zip(found, vectors, strict=True)
    ]
