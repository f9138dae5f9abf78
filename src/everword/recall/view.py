"""The index view: every message, in passages, with its terms and vectors.

The store notes which embedder made its vectors. Vectors of two embedders cannot be compared, so another embedder is
refused, before writing and before searching, with an error that says how to rebuild the index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from everword.errors import EmbedderError, EmbedderMismatch
from everword.follow.view import Run
from everword.model import Entry, Message
from everword.ports import Embedder, Tx, Vectors
from everword.recall.rules.ranking import traits
from everword.text.terms import Analysis, analyse, passages

EMBEDDER = "embedder"  # the note that names who made the vectors

Passage = tuple[Message, int, str, Analysis]


class IndexView:
    """Full text and vectors over messages."""

    name = "index"
    at_once = 512
    ordered = False

    def __init__(
        self,
        embedder: Embedder,
        run: Callable[..., Any],
        on_save: Callable[[str, str | None, str], None] = lambda space, user, conversation: None,
    ) -> None:
        """`on_save` is told of each space, user and conversation of which passages are written, before they are
        committed."""
        self._embedder = embedder
        self._run = run
        self._on_save = on_save

    def read_after(self, done: int, turns: int) -> int:
        return done

    async def prepare(self, runs: Sequence[Run]) -> list[list[Entry]]:
        await self._embedder.ready()
        passages_by_run: list[list[Passage]] = await self._run(
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
                self._on_save(*scope)

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
        comparable = getattr(self._embedder, "comparable", ())
        if made_by is not None and made_by != self._embedder.identity and made_by not in comparable:
            raise EmbedderMismatch(
                f"the vectors in this store were made by {made_by!r}, and this embedder is "
                f"{self._embedder.identity!r}: set the embedder back, or make the index anew: `everword rebuild index`"
            )


def passages_of(messages: Sequence[Message]) -> list[Passage]:
    texts = [
        (message, part, text)
        for message in messages
        if not message.erased and message.content.strip()
        for part, text in enumerate(passages(message.content))
    ]
    return [(message, part, text, analyse(text)) for message, part, text in texts]


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
