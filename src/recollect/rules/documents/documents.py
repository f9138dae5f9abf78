"""What may be a document, what it says, and which documents a filter means.

A namespace is a path of names, kept as one text in which a control character stands between them. No name has one, so a
namespace and all below it lie side by side in the order of the keys, before whatever only begins with the same letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.errors import InvalidInput
from recollect.language.terms import analyse, passages, query_groups
from recollect.model.documents import Change
from recollect.rules.log import MAX_ID_BYTES, checked_id, checked_metadata, checked_text

BETWEEN = "\x1f"
AFTER = "\x01"  # sorts after every key of a namespace, and before the namespaces below it
ANY = "*"
MAX_TEXTS = 64  # passages of a document that have vectors
# Under these first names adapters keep all their documents: they are nobody's name.
LANGGRAPH, FILES, SESSIONS = ROOTS = ("langgraph", "memory files", "recollect")
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


def joined(namespace: Sequence[str]) -> str:
    """The namespace as one text, checked."""
    if isinstance(namespace, str) or not isinstance(namespace, Sequence):
        raise InvalidInput("namespace", f"is {namespace!r}; must be a tuple of names, such as ('notes', 'alex')")
    whole = BETWEEN.join(checked_id("namespace", name) for name in namespace)
    if len(whole.encode()) > MAX_ID_BYTES:
        raise InvalidInput("namespace", f"has more than {MAX_ID_BYTES} bytes as UTF-8")
    return whole


def split(namespace: str) -> tuple[str, ...]:
    return tuple(namespace.split(BETWEEN))


def names_in(namespace: str) -> tuple[str, ...]:
    """The names in a namespace that may be a person's."""
    every = split(namespace)
    return every[1:] if every[0] in ROOTS else every


def is_below(namespace: str, prefix: str) -> bool:
    """Whether a namespace is that one or one below it."""
    return not prefix or namespace == prefix or namespace.startswith(prefix + BETWEEN)


def checked(change: Change) -> Change:
    """The change with every field checked; raises InvalidInput for the first that is wrong."""
    if not joined(change.namespace):
        raise InvalidInput("namespace", "is empty; a document needs one name at least")
    checked_id("key", change.key)
    if change.user is not None:
        checked_id("user", change.user)
    for text in change.texts or ():
        checked_text("texts", text)
    return Change(
        tuple(change.namespace),
        change.key,
        None if change.value is None else checked_value(change.value),
        change.user,
        None if change.texts is None else tuple(change.texts),
    )


def checked_value(value: object) -> dict[str, Any]:
    try:
        return checked_metadata(value)
    except InvalidInput as error:
        raise InvalidInput("value", error.reason) from None


def to_keep(
    namespace: Sequence[str],
    key: str,
    value: Mapping[str, Any],
    user: str | None = None,
    texts: Sequence[str] | None = None,
) -> Change:
    """The change that keeps a value under a key. There must be one: a change without a value removes."""
    kept = checked_value(value)
    joined(namespace)
    return Change(tuple(namespace), key, kept, user, None if texts is None else tuple(texts))


def checked_where(where: object) -> dict[str, Any]:
    """A filter that comes from elsewhere, as JSON knows it."""
    try:
        return checked_metadata(where)
    except InvalidInput as error:
        raise InvalidInput("where", error.reason) from None


# -- what a document says


def said(value: Mapping[str, Any], texts: Sequence[str] | None) -> list[str]:
    """The passages by which a document is found."""
    whole = ["\n".join(lines(value))] if texts is None else texts
    return [part for text in whole if text.strip() for part in passages(text)][:MAX_TEXTS]


def shares(query: str, documents: Sequence[tuple[Mapping[str, Any], Sequence[str] | None]]) -> list[float | None]:
    """How many of a query's words each document has, from none, 0, to all, 1; None if it is found by nothing."""
    analysed = [[analyse(part) for part in said(*one)] for one in documents]
    groups = query_groups(query, {part.language for parts in analysed for part in parts})
    found: list[float | None] = []
    for parts in analysed:
        terms = {term for part in parts for term in part.terms}
        have = sum(not terms.isdisjoint(group) for group in groups)
        found.append(have / max(len(groups), 1) if parts else None)
    return found


def lines(value: Any, name: str = "") -> Iterator[str]:
    """Every plain value in a document with the name it goes by."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from lines(one, str(key))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from lines(one, name)
    elif value is not None and value != "":
        yield f"{name}: {value}" if name else str(value)


# -- which are meant


def matches(value: Mapping[str, Any], where: Mapping[str, Any] | None) -> bool:
    """Whether a document has what a filter asks for: values that are equal, or compare as an operator says."""
    return all(compares(value.get(key), wanted) for key, wanted in (where or {}).items())


def compares(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(holds(found, str(operator), other) for operator, other in wanted.items())
        return isinstance(found, Mapping) and all(compares(found.get(key), one) for key, one in wanted.items())
    if isinstance(wanted, list | tuple):
        same = isinstance(found, list | tuple) and len(found) == len(wanted)
        return same and all(map(compares, found, wanted))
    return bool(found == wanted)


def holds(found: Any, operator: str, other: Any) -> bool:
    if operator not in OPERATORS:
        raise InvalidInput("where", f"has the operator {operator!r}; there are {', '.join(OPERATORS)}")
    if operator in ("$eq", "$ne"):
        return bool(found == other) == (operator == "$eq")
    pair: tuple[Any, Any] = (found, other)
    if not (isinstance(found, str) and isinstance(other, str)):
        pair = (number(found), number(other))
    one, two = pair
    if one is None or two is None:
        return False
    return bool({"$gt": one > two, "$gte": one >= two, "$lt": one < two, "$lte": one <= two}[operator])


def number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def fits(namespace: Sequence[str], prefix: Sequence[str], suffix: Sequence[str]) -> bool:
    """Whether a namespace begins and ends so; `*` stands for any one name."""
    if len(namespace) < max(len(prefix), len(suffix)):
        return False
    pairs = [*zip(prefix, namespace, strict=False), *zip(reversed(suffix), reversed(namespace), strict=False)]
    return all(wanted in (ANY, name) for wanted, name in pairs)
