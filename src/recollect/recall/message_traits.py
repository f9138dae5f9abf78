"""What ranking has to know of the texts of messages. The index has it; of passages that an older version of recollect
indexed, the texts are read once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recollect.log.tables import warn_of_damage
from recollect.model import Filter, Message
from recollect.ports import Tx
from recollect.recall.index_or_database import PassageSource
from recollect.recall.rules.message_specificity import STANDING_WORDS, is_standing, traits
from recollect.recall.rules.passage_columns import USER, Numbers, Passages, distinct_numbers
from recollect.text.terms import query_groups

ALL = slice(None)
PER_WORD = 50  # messages, the newest, in which a standing instruction is looked for


class MessageReader:
    """Reads messages of a space, each at most once; some are known already, by their ids."""

    def __init__(self, tx: Tx, source: PassageSource, space: str, known: Mapping[str, Message]) -> None:
        self._tx = tx
        self._source = source
        self._space = space
        self.messages = dict(known)

    def read(self, ids: Sequence[str]) -> None:
        unread = [id for id in ids if id not in self.messages]
        if unread:
            found = self._tx.find_messages(self._space, ids=unread, damaged=warn_of_damage)
            self.messages.update((message.id, message) for message in found)

    def traits(self, passages: Passages, rows: NDArray[np.intp] | slice = ALL) -> NDArray[np.int8]:
        """The traits of the messages of passages in these rows; 0 for what no person said. Only texts that nobody has
        looked at yet are read for that."""
        docs = passages.docs[rows]
        is_user = passages.roles[rows] == USER
        known = self._source.traits(docs)
        if np.logical_or.reduce(known < 0):
            known = self._with_unknown(passages, rows, known, is_user)
        return np.asarray(known * is_user)

    def _with_unknown(
        self,
        passages: Passages,
        rows: NDArray[np.intp] | slice,
        known: NDArray[np.int8],
        is_user: NDArray[np.bool_],
    ) -> NDArray[np.int8]:
        """The traits of all, if their texts can be read."""
        places = (is_user & (known < 0)).nonzero()[0].tolist()
        ids = passages.message_ids[rows].tolist()
        self.read([ids[place] for place in places])
        for place in places:
            if ids[place] in self.messages:
                known[place] = traits(self.messages[ids[place]].content)
        self._source.keep_traits(passages.docs[rows][places], known[places])
        return np.maximum(known, 0)


def standing_instructions(
    reader: MessageReader, source: PassageSource, where: Filter, languages: Collection[str]
) -> Numbers:
    """The numbers of the passages that are a standing instruction, of those that a filter means."""
    if where.role not in (None, "user"):
        return np.empty(0, np.int64)
    kept_numbers = source.standing(where)
    if kept_numbers is not None:
        return kept_numbers
    whole_scope = where
    where = replace(where, role="user")
    postings = source.postings(where, groups_of(STANDING_WORDS, frozenset(languages)), PER_WORD)
    docs = [np.asarray(posting.docs, np.int64) for posting in postings if len(posting.docs)]
    numbers = distinct_numbers(np.concatenate([np.empty(0, np.int64), *docs]))
    known = source.traits(numbers)
    if (known >= 0).all():
        standing = np.asarray(numbers[is_standing(known)])
        source.keep_standing(whole_scope, standing)
        return standing
    passages = source.passages(where, numbers, ())
    return np.asarray(passages.docs[is_standing(reader.traits(passages))])


@lru_cache(maxsize=64)
def groups_of(words: str, languages: frozenset[str]) -> list[tuple[str, ...]]:
    """The groups of terms of some words, which are looked for in every search."""
    return query_groups(words, languages)
