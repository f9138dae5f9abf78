"""Many passages read as a few long texts: the database joins the values of each column, and they are parted as arrays.

To make an object of each value of each row takes several times as long. A text that does not part into as many values
as there are rows has a separator inside a value, or a value of another kind than its column: then `None` is returned,
and the passages are read row by row.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Integer, LargeBinary, bindparam, cast, func, select

from recollect.model.passages import NEVER, PassageBlock
from recollect.stores import queries

NUMBERS = ("doc", "time", "length", "turn", "traits")
NAMES = ("message_id", "conversation", "role", "author", "language")
LINE = "\n"


@lru_cache(maxsize=16)
def sqlite_block_query(fields: queries.Shape) -> Any:
    """The columns of the passages after a doc, each as one text; how many passages there are, and how many expire."""
    passages = queries.passages_after_query(fields).subquery()
    numbers = (func.group_concat(passages.c[name], " ") for name in NUMBERS)
    names = (func.group_concat(passages.c[name], LINE) for name in NAMES)
    terms = cast(func.group_concat(passages.c.terms, LINE), LargeBinary)
    return select(func.count(passages.c.doc), func.count(passages.c.expires_at), *numbers, *names, terms)


@lru_cache(maxsize=16)
def sqlite_vectors_query(fields: queries.Shape) -> Any:
    """The docs and the vectors of the passages after a doc, each as one value; at most so many, or all for -1."""
    rows = queries.vectors_after_query(fields).limit(bindparam("most", type_=Integer)).subquery()
    joined_vectors = cast(func.group_concat(rows.c.vec, ""), LargeBinary)
    return select(func.count(rows.c.doc), func.group_concat(rows.c.doc, " "), joined_vectors)


def part_block(row: Any) -> PassageBlock | None:
    """The passages of a row of joined columns; None if they cannot be parted, or if some expire."""
    count, expiring, *texts, terms = row
    if expiring or any(type(text) is not str for text in texts) or type(terms) is not bytes:
        return None
    numbers = [column for text in texts[: len(NUMBERS)] if (column := part_numbers(text, count)) is not None]
    names = [text.split(LINE) for text in texts[len(NUMBERS) :]]
    if len(numbers) < len(NUMBERS) or any(len(column) != count for column in names):
        return None
    docs, times, lengths, turns, traits = numbers
    ids, conversations, roles, authors, languages = names
    if (docs[1:] <= docs[:-1]).any():
        return None
    never = np.full(count, NEVER)
    return PassageBlock(
        docs, times, lengths, turns, traits, never, ids, conversations, roles, authors, languages, terms
    )


def part_numbers(text: Any, count: int) -> NDArray[np.int64] | None:
    """So many numbers with spaces between them; None if they are not."""
    if type(text) is not str:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            numbers = np.fromstring(text, np.int64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    return numbers if len(numbers) == count else None
