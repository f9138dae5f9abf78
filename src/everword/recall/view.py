"""The index view: every message, in passages, with its terms and vectors.

The store notes which embedder made its vectors. Vectors of two embedders cannot be compared, so another embedder is
refused, before writing and before searching, with an error that says how to rebuild the index.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from everword.errors import EmbedderError, EmbedderMismatch
from everword.follow.store_calls import StoreCalls
from everword.follow.view import Run
from everword.model import Entry, Message
from everword.ports import FORMER_EMBEDDER, Embedder, Tx, Vectors
from everword.recall.rules.ranking import traits
from everword.recall.scope_index import ScopeIndexes
from everword.text.terms import Analysis, analyse, passages

EMBEDDER = "embedder"  # the note that names who made the vectors
VECTORS = "vectors"  # the view that makes them anew

Passage = tuple[Message, int, str, Analysis]


class IndexView:
    """Full text and vectors over messages."""

    name = "index"
    at_once = 512
    ordered = False

    def __init__(self, embedder: Embedder, calls: StoreCalls, indexes: ScopeIndexes) -> None:
        self._embedder = embedder
        self._calls = calls
        self._indexes = indexes

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[list[Entry]]:
        await self._embedder.ready()
        passages_by_run: list[list[Passage]] = await self._calls.run(
            lambda: [list(passages_of(run.messages)) for run in runs]
        )
        vectors = await self._embedder.embed(
            [text for run_passages in passages_by_run for _, _, text, _ in run_passages]
        )
        results = []
        start = 0
        for run_passages in passages_by_run:
            results.append(entries_of(run_passages, vectors[start : start + len(run_passages)]))
            start += len(run_passages)
        return results

    def save(self, tx: Tx, result: Sequence[Entry]) -> None:
        if result:
            if self.check_embedder(tx) is None:
                tx.set_note(EMBEDDER, self._embedder.identity)
            tx.index.put_entries(result)
            for scope in {(entry.space, entry.user, entry.conversation) for entry in result}:
                self._indexes.note_new_passages(*scope)

    def guard(self, tx: Tx) -> None:
        """Check the embedder before work begins; skipped while the embedder does not know its identity yet."""
        try:
            self._embedder.identity  # noqa: B018  an endpoint knows it only once it has answered
        except EmbedderError:
            return
        self.check_embedder(tx)

    def check_embedder(self, tx: Tx) -> str | None:
        """Raise if another embedder made the stored vectors. Returns the embedder that made them, or None."""
        made_by = tx.note(EMBEDDER)
        self.check_vectors_of(made_by)
        return made_by

    def check_vectors_of(self, made_by: str | None) -> None:
        """Raise if vectors of this embedder cannot be compared with ours. An embedder may name earlier identities of
        its own whose vectors can (`comparable`)."""
        if made_by is not None and made_by != self._embedder.identity and not self._is_comparable(made_by):
            raise EmbedderMismatch(
                f"the vectors in this store come from the embedder {made_by!r}, not from "
                f"{self._embedder.identity!r}; use the earlier embedder again, or run `everword rebuild index`"
            )

    def _is_comparable(self, made_by: str) -> bool:
        return made_by in getattr(self._embedder, "comparable", ())

    # -- vectors made anew

    def has_earlier_vectors(self, tx: Tx) -> bool:
        """Whether an earlier version of this embedder made the vectors."""
        made_by = tx.note(EMBEDDER)
        return made_by is not None and self._is_comparable(made_by) and made_by != self._embedder.identity

    def start_anew(self, tx: Tx) -> bool:
        """Begin to make the vectors anew, if another embedder made them. Returns whether it did."""
        made_by = tx.note(EMBEDDER)
        if made_by is None or made_by == self._embedder.identity:
            return False
        tx.reset_view(VECTORS)
        tx.set_note(EMBEDDER, self._embedder.identity)
        tx.set_note(FORMER_EMBEDDER, made_by)
        if not self._is_comparable(made_by):
            tx.index.drop_vectors()
        return True

    async def embed(self, texts: Sequence[str]) -> Vectors:
        await self._embedder.ready()
        return await self._embedder.embed(texts)


def passages_of(messages: Sequence[Message]) -> list[Passage]:
    return [(message, part, text, analyse(text)) for message, part, text in texts_of(messages)]


def texts_of(messages: Sequence[Message]) -> Iterator[tuple[Message, int, str]]:
    for message in messages:
        if not message.erased and message.content.strip():
            for part, text in enumerate(passages(message.content)):
                yield message, part, text


def entries_of(run_passages: Sequence[Passage], vectors: Vectors) -> list[Entry]:
    traits_by_id = {message.id: traits_of(message) for message, part, _, _ in run_passages if part == 0}
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
            language=analysis.language,
            terms=analysis.terms,
            vector=vector,
            author=message.author,
            expires_at=message.expires_at,
            traits=traits_by_id[message.id],
        )
        for (message, part, _, analysis), vector in zip(run_passages, vectors, strict=True)
    ]


def traits_of(message: Message) -> int:
    """What ranking has to know of the text of a message; of what no person said, nothing."""
    return traits(message.content) if message.role == "user" else 0
