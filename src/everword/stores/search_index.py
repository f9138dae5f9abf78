"""The index view, as rows: passages with our own terms, their vectors, and tallies of both.

Which passages are candidates, and how often each term occurs in them, is decided here, the same way for every database.
The databases only fetch. Each passage also has a term for its space, its user and its conversation, so that the full
text search itself stays in scope instead of filtering afterwards. When messages or conversations get other names, the
index is not built again: a passage says the same under another name, and its vector stays.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any
from unicodedata import category

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Integer, Text, bindparam, delete, func, literal_column, select, update

from everword.errors import StoreError
from everword.model import EPOCH, Entry, Filter, Message
from everword.ports import NEVER, PassageBlock, PassageCandidate, Posting, ScopeState, SearchIndex, Tally, Vectors
from everword.stores import queries, tables
from everword.stores.queries import statement_of
from everword.stores.rows import conversation_row, message_row, turn_conditions
from everword.stores.sql import SqlTx
from everword.stores.tables import UNDECODED, conversations, entries, meta, parse_meta_number, tallies, vectors
from everword.stores.vectors import stack_vectors, unit_vectors

# Notes that count how often something was removed from the index, in a space (with the term of the space) and in all;
# and how often passages kept their numbers and became others.
REMOVALS = "removals"
RESETS = "resets"
EMBEDDER = "embedder"  # the note that names who made the vectors
NOBODY = ""  # the user_id of a passage that belongs to no one person


# What ranking needs of a passage, and who said it.
CANDIDATES = select(
    entries.c.doc,
    entries.c.message_id,
    entries.c.time,
    entries.c.length,
    entries.c.terms,
    entries.c.conversation,
    entries.c.turn,
    entries.c.role,
    entries.c.author,
    entries.c.traits,
)
EXPIRED = select(entries.c.doc).where(
    entries.c.space == bindparam("at_space"), entries.c.expires_at <= bindparam("now", type_=entries.c.expires_at.type)
)
ADD_ENTRIES = entries.insert()
ADD_VECTORS = vectors.insert()
VECTORS = (
    select(entries.c.turn, vectors.c.vec)
    .join_from(entries, vectors, queries.is_of_passage())
    .where(entries.c.space == bindparam("at_space"), entries.c.conversation == bindparam("at_conversation"))
    .where(entries.c.part == 0, entries.c.turn >= bindparam("first"), entries.c.turn <= bindparam("last"))
)

PASSAGE_NUMBERS = (
    select(entries.c.turn, entries.c.part, entries.c.doc, entries.c.user_id)
    .where(entries.c.space == bindparam("at_space"), entries.c.conversation == bindparam("at_conversation"))
    .where(entries.c.turn >= bindparam("first"), entries.c.turn <= bindparam("last"))
)


def scope_term(*scope: str) -> str:
    """A term that stands for a space, a user of it, or a conversation of it."""
    return "z" + blake2b("\0".join(scope).encode(), digest_size=10).hexdigest()


def space_removals(space: str) -> str:
    """The note that counts removals from the index of a space. It does not name the space."""
    return f"{REMOVALS} {scope_term('space', space)}"


def entry_terms(entry: Entry) -> str:
    """Terms as the full text index gets them. Two spaces between them, so that counting ` term ` counts each one."""
    scopes = (
        scope_term("space", entry.space),
        scope_term("user", entry.space, entry.user or NOBODY),
        scope_term("conversation", entry.space, entry.conversation),
    )
    return " " + "  ".join((*scopes, *entry.terms)) + " "


def scope_terms(where: Filter) -> list[str]:
    """The terms a passage must have to be in scope: as few and as narrow as possible."""
    terms = []
    if where.user is not None:
        terms.append(scope_term("user", where.space, where.user))
    if where.conversation is not None:
        terms.append(scope_term("conversation", where.space, where.conversation))
    return terms or [scope_term("space", where.space)]


class IndexTx(SqlTx):
    """The operations of the index that every database shares."""

    @property
    def index(self) -> SearchIndex:
        return self

    @abstractmethod
    def nearest(self, where: Filter, vector: Vectors, limit: int) -> list[tuple[int, float]]: ...

    @abstractmethod
    def cosines(self, where: Filter, vector: Vectors, docs: Sequence[int]) -> dict[int, float]: ...

    @abstractmethod
    def new_docs(self, count: int) -> Sequence[int]:
        """New numbers for that many passages: growing, and never used before."""

    @abstractmethod
    def matching_docs(self, where: Filter, group: Sequence[str], limit: int) -> Sequence[int]:
        """The newest passages in scope with one of these terms, newest first."""

    @abstractmethod
    def count_matching(self, where: Filter, group: Sequence[str]) -> int: ...

    @staticmethod
    @abstractmethod
    def is_among_numbers(column: Any) -> Any:
        """A condition: the column is one of many numbers, bound by `number_params`."""

    @staticmethod
    @abstractmethod
    def number_params(numbers: Sequence[int]) -> dict[str, Any]: ...

    @staticmethod
    @abstractmethod
    def is_at_places() -> Any:
        """A condition: the message of an entry is at one of many places, bound by `place_params`."""

    @staticmethod
    @abstractmethod
    def place_params(space: str, places: Sequence[tuple[str, int]]) -> dict[str, Any]: ...

    def put_entries(self, new: Sequence[Entry]) -> None:
        if not new:
            return
        docs = self.new_docs(len(new))
        rows = []
        vecs = []
        doc_counts: Counter[tuple[str, str, str]] = Counter()
        word_counts: Counter[tuple[str, str, str]] = Counter()
        for doc, entry in zip(docs, new, strict=True):
            user = entry.user or NOBODY
            rows.append(
                {
                    "space": entry.space,
                    "doc": doc,
                    "conversation": entry.conversation,
                    "turn": entry.turn,
                    "part": entry.part,
                    "message_id": entry.message_id,
                    "user_id": user,
                    "role": entry.role,
                    "time": entry.time,
                    "language": entry.language,
                    "length": len(entry.terms),
                    "terms": entry_terms(entry),
                    "author": entry.author,
                    "expires_at": entry.expires_at,
                    "traits": entry.traits,
                }
            )
            vec = np.asarray(entry.vector, dtype=np.float16)
            if np.count_nonzero(vec):  # an empty text has no vector
                vecs.append({"space": entry.space, "user_id": user, "doc": doc, "vec": vec.tobytes()})
            doc_counts[entry.space, user, entry.language] += 1
            word_counts[entry.space, user, entry.language] += len(entry.terms)
        self.write_rows(entries, ADD_ENTRIES, rows)
        if vecs:
            self.write_rows(vectors, ADD_VECTORS, vecs)
        for key, doc_count in sorted(doc_counts.items()):
            self.add_to_tally(*key, doc_count, word_counts[key])

    def replace_vectors(self, space: str, conversation: str, vecs: Mapping[tuple[int, int], Vectors]) -> None:
        turns = [turn for turn, _ in vecs]
        if not turns:
            return
        params = {"at_space": space, "at_conversation": conversation, "first": min(turns), "last": max(turns)}
        rows = [row for row in self.fetch(PASSAGE_NUMBERS, params) if (row[0], row[1]) in vecs]
        for user in sorted({row[3] for row in rows}):
            is_old = (vectors.c.space == space, vectors.c.user_id == user, self.is_among_numbers(vectors.c.doc))
            self.write(vectors, delete(vectors).where(*is_old), self.number_params([row[2] for row in rows]))
        new = [(doc, user, np.asarray(vecs[turn, part], np.float16)) for turn, part, doc, user in rows]
        values = [
            {"space": space, "user_id": user, "doc": doc, "vec": vec.tobytes()}
            for doc, user, vec in new
            if np.count_nonzero(vec)
        ]
        if values:
            self.write_rows(vectors, ADD_VECTORS, values)

    def drop_vectors(self) -> None:
        self.write(vectors, delete(vectors))

    def add_to_tally(self, space: str, user: str, language: str, docs: int, words: int) -> None:
        row = {"space": space, "user_id": user, "language": language, "docs": docs, "words": words}
        self.put(tallies.name, [row], add=("docs", "words"))

    def drop_entries(self, messages: Sequence[Message]) -> int:
        count = 0
        for conditions in turn_conditions(messages, entries):
            query = select(entries.c.user_id, entries.c.language, entries.c.length, entries.c.doc).where(*conditions)
            rows = self.connection.execute(query).all()
            self.write(entries, delete(entries).where(*conditions))
            space = messages[0].space
            docs = [row.doc for row in rows]
            for user in sorted({row.user_id for row in rows}):
                is_gone = (vectors.c.space == space, vectors.c.user_id == user, self.is_among_numbers(vectors.c.doc))
                self.write(vectors, delete(vectors).where(*is_gone), self.number_params(docs))
            for row in rows:
                self.add_to_tally(space, row.user_id, row.language, -1, -row.length)
            count += len(rows)
        # An empty tally would still name the person it belonged to.
        for space in sorted({message.space for message in messages}):
            self.write(tallies, delete(tallies).where(tallies.c.space == space, tallies.c.docs == 0))
            self.add_to_notes(REMOVALS, space_removals(space))
        return count

    def reset_view(self, view: str, space: str | None = None, conversation: str | None = None) -> None:
        super().reset_view(view, space, conversation)
        self.note_reset()

    def note_reset(self) -> None:
        """Every cached copy of the index in memory must be read again."""
        self.add_to_notes(REMOVALS, RESETS)

    def add_to_notes(self, *keys: str) -> None:
        """Count once more in each of these notes."""
        self.lock(REMOVALS)  # until the end: two that read the same number would count once
        for key in keys:
            self.set_note(key, str(parse_meta_number(self.note(key)) + 1))

    def tally(self, space: str, user: str | None, conversation: str | None = None) -> Tally:
        scope = Filter(space, user, conversation=conversation).scope
        rows = self.fetch(statement_of(tally_query, queries.filter_shape(scope)), queries.filter_values(scope))
        return Tally(
            docs=sum(int(row[1]) for row in rows),
            words=sum(int(row[2]) for row in rows),
            languages=tuple(row[0] for row in sorted(rows, key=lambda row: (-row[1], row[0])) if row[1]),
        )

    def postings(self, where: Filter, groups: Sequence[Sequence[str]], limit: int) -> list[Posting]:
        whole_scope = where.scope
        postings = []
        for group in map(indexable_terms, groups):
            docs = self.matching_docs(where, group, limit) if group else ()
            # These are all passages of the scope with the term, unless the limit or a filter cut some off.
            is_complete = len(docs) < limit and where.is_unrestricted
            postings.append(
                Posting(
                    tuple(docs), self.count_matching(whole_scope, group) if group and not is_complete else len(docs)
                )
            )
        return postings

    def candidates(self, where: Filter, docs: Sequence[int], groups: Sequence[Sequence[str]]) -> list[PassageCandidate]:
        return self._fetch_candidates(where, False, self.number_params(docs), groups)

    def passages_at(
        self, where: Filter, places: Sequence[tuple[str, int]], groups: Sequence[Sequence[str]]
    ) -> list[PassageCandidate]:
        return self._fetch_candidates(where, True, self.place_params(where.space, places), groups) if places else []

    def _fetch_candidates(
        self, where: Filter, by_place: bool, selection: Mapping[str, Any], groups: Sequence[Sequence[str]]
    ) -> list[PassageCandidate]:
        query = statement_of(candidates_query, type(self), queries.filter_shape(where), by_place)
        rows = self._fetch_raw(query, {**queries.filter_values(where), **selection})
        group_numbers: dict[str, list[int]] = {}
        for number, group in enumerate(groups):
            for term in dict.fromkeys(indexable_terms(group)):
                group_numbers.setdefault(term, []).append(number)
        with naming_index_damage():
            return [
                PassageCandidate(
                    doc,
                    id,
                    EPOCH + timedelta(microseconds=time),
                    length,
                    count_terms(terms, group_numbers, len(groups)),
                    conversation,
                    turn,
                    role,
                    author,
                    terms,
                    traits,
                )
                for doc, id, time, length, terms, conversation, turn, role, author, traits in rows
            ]

    def expired_docs(self, space: str, now: datetime) -> list[int]:
        return [row[0] for row in self.fetch(EXPIRED, {"at_space": space, "now": now})]

    def scope_state(self, scope: Filter) -> ScopeState:
        params = queries.filter_values(scope) | {"space_removals": space_removals(scope.space)}
        query = statement_of(state_query, queries.filter_shape(scope))
        docs, space_count, removals, resets, embedder = self.fetch(query, params)[0]
        return ScopeState(
            int(docs),
            parse_meta_number(space_count),
            parse_meta_number(removals),
            parse_meta_number(resets),
            embedder,
        )

    def docs_upto(self, scope: Filter, doc: int) -> NDArray[np.int64]:
        query = statement_of(queries.docs_upto_query, queries.filter_shape(scope))
        rows = self._fetch_raw(query, queries.filter_values(scope) | {"upto_doc": doc})
        with naming_index_damage():
            return np.fromiter((row[0] for row in rows), np.int64, len(rows))

    def passages_after(self, scope: Filter, doc: int, limit: int) -> PassageBlock:
        params = queries.filter_values(scope) | {"after_doc": doc, "most": limit}
        rows = self._fetch_raw(statement_of(queries.passages_after_query, queries.filter_shape(scope)), params)
        with naming_index_damage():
            return block_of_rows(rows)

    def vectors_after(self, scope: Filter, doc: int, upto: int) -> tuple[NDArray[np.int64], Vectors]:
        params = queries.filter_values(scope) | {"after_doc": doc, "upto_doc": upto}
        rows = self.fetch(statement_of(queries.vectors_after_query, queries.filter_shape(scope)), params)
        docs = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        if not rows:
            return docs, np.empty((0, 0), np.float32)
        return docs, unit_vectors(stack_vectors([row[1] for row in rows]))

    def vectors_of(self, space: str, conversation: str, first: int, last: int) -> dict[int, Vectors]:
        params = {"at_space": space, "at_conversation": conversation, "first": first, "last": last}
        rows = self.fetch(VECTORS, params)
        with naming_index_damage():
            vecs = [vec for _, vec in rows]
            if len({len(vec) for vec in vecs}) == 1:  # all at once, unless some are of another embedder
                return dict(zip([turn for turn, _ in rows], unit_vectors(stack_vectors(vecs)), strict=True))
            return {turn: unit_vectors(np.frombuffer(vec, np.float16)) for turn, vec in rows}


@contextmanager
def naming_index_damage() -> Iterator[None]:
    """Within it, an unreadable value of the index raises an error that says how to rebuild the index."""
    try:
        yield
    except (AttributeError, *UNDECODED):
        raise StoreError("a row of the search index cannot be read; run `everword rebuild index`") from None


def block_of_rows(rows: Sequence[Any]) -> PassageBlock:
    """Rows of `passages_after_query` as columns. Raises ValueError or TypeError if a value is of another kind."""
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * 12
    docs, times, lengths, turns, traits, expires, ids, conversations, roles, authors, languages, terms = columns
    return PassageBlock(
        docs=np.array(docs, np.int64),
        times=np.array(times, np.int64),
        lengths=np.array(lengths, np.int64),
        turns=np.array(turns, np.int64),
        traits=np.array(traits, np.int64),
        expires=np.array([NEVER if at is None else at for at in expires], np.int64),
        message_ids=ids,
        conversations=conversations,
        roles=roles,
        authors=authors,
        languages=languages,
        terms="\n".join(terms).encode(),
    )


def candidates_query(tx: type[IndexTx], fields: queries.Shape, by_place: bool) -> Any:
    selection = tx.is_at_places() if by_place else tx.is_among_numbers(entries.c.doc)
    return CANDIDATES.where(*queries.filter_conditions(entries, fields), selection)


def state_query(fields: queries.Shape) -> Any:
    if "conversation" in fields:
        docs = select(func.count(entries.c.doc)).where(*queries.filter_conditions(entries, fields))
    else:
        docs = select(func.coalesce(func.sum(tallies.c.docs), literal_column("0", Integer)))
        docs = docs.where(*queries.filter_conditions(tallies, fields))
    constants: list[Any] = [literal_column(f"'{key}'", Text) for key in (REMOVALS, RESETS, EMBEDDER)]
    keys = (bindparam("space_removals"), *constants)
    notes = (select(meta.c.value).where(meta.c.key == key).scalar_subquery() for key in keys)
    return select(docs.scalar_subquery(), *notes)


def tally_query(fields: queries.Shape) -> Any:
    """By language how many passages and words there are; of a conversation, for which no tally is kept, counted."""
    if "conversation" in fields:
        language: Any = entries.c.language
        sums = select(language, func.count(), func.sum(entries.c.length))
        conditions = queries.filter_conditions(entries, fields)
    else:
        language = tallies.c.language
        sums = select(language, func.sum(tallies.c.docs), func.sum(tallies.c.words))
        conditions = queries.filter_conditions(tallies, fields)
    return sums.where(*conditions).group_by(language).order_by(language)


def count_terms(terms: str, group_numbers: Mapping[str, Sequence[int]], groups: int) -> tuple[int, ...]:
    """How often a passage has a term of each group."""
    counts = [0] * groups
    words = terms.split()
    for term in group_numbers.keys() & words:
        times = words.count(term)
        for number in group_numbers[term]:
            counts[number] += times
    return tuple(counts)


def indexable_terms(group: Sequence[str]) -> list[str]:
    """The terms that can be in the index at all: letters, digits and marks. Nothing else is ever in a query."""
    return [term for term in group if term and all(category(letter)[0] in "LNM" for letter in term)]


Row = Mapping[str, Any]
SCOPES = 3  # the terms at the beginning that stand for the space, the user and the conversation
SEPARATOR = "  "  # between terms


def change_scope(terms: str, space: str, user: str, conversation: str) -> str:
    """The terms of a passage, for another user and conversation."""
    words = terms[1:-1].split(SEPARATOR)
    scopes = (
        scope_term("space", space),
        scope_term("user", space, user),
        scope_term("conversation", space, conversation),
    )
    return f" {SEPARATOR.join((*scopes, *words[SCOPES:]))} "


class MoveTx(IndexTx):
    """The operations that give other names to what is there."""

    def move_messages(self, moved: Sequence[Message], *, keep: Collection[str] = ()) -> None:
        if not moved:
            return
        self.revoke_leases(moved)  # first: it waits for a worker that is storing at this moment
        self.update_messages([message_row(message) for message in moved])
        self.note_reset()  # also if none of them is in the index: they may be kept in memory, as they were
        people = {
            (message.conversation, message.turn): {"user_id": message.user or NOBODY, "author": message.author}
            for message in moved
        }
        for conditions in turn_conditions(moved, entries):
            self.rewrite_entries(conditions, lambda row: people[row["conversation"], row["turn"]])
        self.reset_conversation_views(moved, keep)

    def rename_conversation(self, space: str, old: str, new: str) -> None:
        conversation = self.conversation(space, old)
        if conversation is None:
            return
        renamed = replace(conversation, id=new)
        self.revoke_leases([Message(space, old, 0, "", "user", "", None, "", conversation.created_at)])
        self.note_reset()
        # The row of the conversation first: messages refer to it.
        characters = self.rows(conversations.name, where={"space": space, "id": old}, columns=("characters",))[0]
        self.write(conversations, conversations.insert(), {**conversation_row(renamed), **characters})
        self.rewrite_entries((entries.c.space == space, entries.c.conversation == old), lambda _: {"conversation": new})
        for table in tables.TABLES.values():
            for column in (table.c[name] for name in ("conversation", "audience") if name in table.c):
                statement = update(table).where(table.c.space == space, column == old)
                self.write(table, statement.values({column.name: new}))
        people = tables.people
        spoke_there = (people.c.space == space, people.c.kind == "channel", people.c.name == old)
        self.write(people, update(people).where(*spoke_there).values(name=new))
        is_old_conversation = (conversations.c.space == space, conversations.c.id == old)
        self.write(conversations, delete(conversations).where(*is_old_conversation))

    def rewrite_entries(self, conditions: Sequence[Any], names_of: Callable[[Row], Row]) -> None:
        """Write passages anew with other names, with their vectors and tallies."""
        rows = [dict(row) for row in self.connection.execute(select(entries).where(*conditions)).mappings()]
        if not rows:
            return
        self.write(entries, delete(entries).where(*conditions))
        renamed = [{**row, **names_of(row)} for row in rows]
        for row in renamed:
            row["terms"] = change_scope(row["terms"], row["space"], row["user_id"], row["conversation"])
        self.write(entries, entries.insert(), renamed)
        docs_by_users: dict[tuple[str, str], list[int]] = {}
        for old, new in zip(rows, renamed, strict=True):
            if old["user_id"] != new["user_id"]:
                docs_by_users.setdefault((old["user_id"], new["user_id"]), []).append(old["doc"])
                self.add_to_tally(old["space"], old["user_id"], old["language"], -1, -old["length"])
                self.add_to_tally(new["space"], new["user_id"], new["language"], 1, new["length"])
        for (old_user, new_user), docs in sorted(docs_by_users.items()):
            is_moved = (vectors.c.space == rows[0]["space"], vectors.c.user_id == old_user)
            statement = update(vectors).where(*is_moved, self.is_among_numbers(vectors.c.doc))
            self.write(vectors, statement.values(user_id=new_user), self.number_params(docs))
        # An empty tally would still name the person it belonged to.
        self.write(tallies, delete(tallies).where(tallies.c.space == rows[0]["space"], tallies.c.docs == 0))
        self.note_reset()
