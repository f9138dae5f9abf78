"""Documents that programs keep under keys of their own: what is checked, their text, and how filters match them.

A namespace is a path of names, kept as one text with a control character between them. No name contains one, so a
namespace and all below it are next to each other in key order, before others that begin with the same letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from everword.errors import InvalidInput
from everword.log.checks_and_seals import MAX_ID_BYTES, check_expiry, check_id, check_items, check_metadata, check_text
from everword.model.log import Change
from everword.text.terms import analyse, passages, query_groups

BETWEEN = "\x1f"
AFTER = "\x01"  # sorts after every key of a namespace, and before the namespaces below it
ANY = "*"
MAX_TEXTS = 64  # passages of a document that have vectors
# Adapters keep all their documents under these first names, which are not names of persons. The third is what everword
# was called when the first sessions were kept.
LANGGRAPH, FILES, SESSIONS, CHECKPOINTS, ADK = ROOTS = (
    "langgraph",
    "memory files",
    "recollect",
    "langgraph checkpoints",
    "adk sessions",
)
OPERATORS = ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte")


def join_namespace(namespace: Sequence[str]) -> str:
    """The namespace as one text, checked."""
    if isinstance(namespace, str) or not isinstance(namespace, Sequence):
        raise InvalidInput("namespace", f"is {namespace!r}; must be a tuple of names, such as ('notes', 'alex')")
    text = BETWEEN.join(check_id("namespace", name) for name in namespace)
    if len(text.encode()) > MAX_ID_BYTES:
        raise InvalidInput("namespace", f"has more than {MAX_ID_BYTES} bytes as UTF-8")
    return text


def split_namespace(namespace: str) -> tuple[str, ...]:
    return tuple(namespace.split(BETWEEN))


def names_in(namespace: str) -> tuple[str, ...]:
    """The names in a namespace that may be a person's."""
    names = split_namespace(namespace)
    return names[1:] if names[0] in ROOTS else names


def is_below(namespace: str, prefix: str) -> bool:
    """Whether a namespace is the prefix or below it."""
    return not prefix or namespace == prefix or namespace.startswith(prefix + BETWEEN)


def check_change(change: Change, now: datetime | None = None) -> Change:
    """The change with every field checked; raises InvalidInput for the first that is wrong. Given the time now, when it
    expires is a moment in the future."""
    if not join_namespace(change.namespace):
        raise InvalidInput("namespace", "is empty; give at least one name")
    check_id("key", change.key)
    if change.user is not None:
        check_id("user", change.user)
    texts = None if change.texts is None else tuple(check_items("texts", change.texts))
    for text in texts or ():
        check_text("texts", text)
    expires_at = change.expires_at
    if expires_at is not None and now is not None:
        expires_at = check_expiry("expires", expires_at, now)
    return Change(
        tuple(change.namespace),
        change.key,
        None if change.value is None else check_value(change.value),
        change.user,
        texts,
        expires_at,
    )


def check_decide(decide: object) -> None:
    if not callable(decide):
        raise InvalidInput("decide", f"must be a function, not {type(decide).__name__}")


def check_value(value: object) -> dict[str, Any]:
    try:
        return check_metadata(value)
    except InvalidInput as error:
        raise InvalidInput("value", error.reason) from None


def build_change(
    namespace: Sequence[str],
    key: str,
    value: Mapping[str, Any],
    user: str | None = None,
    texts: Sequence[str] | None = None,
    *,
    expires: datetime | timedelta | None = None,
) -> Change:
    """The change that keeps a value under a key. The value is required: a change without one removes."""
    clean_value = check_value(value)
    join_namespace(namespace)
    passages = None if texts is None else tuple(check_items("texts", texts))
    return Change(tuple(namespace), key, clean_value, user, passages, expires)


def check_filter(where: object) -> dict[str, Any]:
    """A filter from a request, checked to be JSON."""
    try:
        return check_metadata(where)
    except InvalidInput as error:
        raise InvalidInput("where", error.reason) from None


# -- the text of a document


def document_passages(value: Mapping[str, Any], texts: Sequence[str] | None) -> list[str]:
    """The passages by which a document is searched."""
    contents = ["\n".join(value_lines(value))] if texts is None else texts
    return [part for text in contents if text.strip() for part in passages(text)][:MAX_TEXTS]


def word_overlaps(
    query: str, documents: Sequence[tuple[Mapping[str, Any], Sequence[str] | None]]
) -> list[float | None]:
    """The share of a query's words that each document has, from 0 to 1; None if the document has no text."""
    analyses = [[analyse(part) for part in document_passages(*document)] for document in documents]
    groups = query_groups(query, {part.language for parts in analyses for part in parts})
    overlaps: list[float | None] = []
    for parts in analyses:
        terms = {term for part in parts for term in part.terms}
        count = sum(not terms.isdisjoint(group) for group in groups)
        overlaps.append(count / max(len(groups), 1) if parts else None)
    return overlaps


def value_lines(value: Any, name: str = "") -> Iterator[str]:
    """Every scalar in a document, as a line with its key."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from value_lines(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from value_lines(item, name)
    elif value is not None and value != "":
        yield f"{name}: {value}" if name else str(value)


# -- filters


def matches_filter(value: Mapping[str, Any], where: Mapping[str, Any] | None) -> bool:
    """Whether a document satisfies a filter: each value is equal, or compares as the operator says."""
    return all(matches_condition(value.get(key), condition) for key, condition in (where or {}).items())


def matches_condition(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping):
        if any(str(key).startswith("$") for key in condition):
            return all(satisfies(value, str(operator), operand) for operator, operand in condition.items())
        return isinstance(value, Mapping) and all(
            matches_condition(value.get(key), inner) for key, inner in condition.items()
        )
    if isinstance(condition, list | tuple):
        has_same_length = isinstance(value, list | tuple) and len(value) == len(condition)
        return has_same_length and all(map(matches_condition, value, condition))
    return bool(value == condition)


def satisfies(value: Any, operator: str, operand: Any) -> bool:
    if operator not in OPERATORS:
        raise InvalidInput(
            "where", f"contains the unknown operator {operator!r}; the operators are {', '.join(OPERATORS)}"
        )
    if operator in ("$eq", "$ne"):
        return bool(value == operand) == (operator == "$eq")
    pair: tuple[Any, Any] = (value, operand)
    if not (isinstance(value, str) and isinstance(operand, str)):
        pair = (parse_number(value), parse_number(operand))
    first, second = pair
    if first is None or second is None:
        return False
    return bool(
        {"$gt": first > second, "$gte": first >= second, "$lt": first < second, "$lte": first <= second}[operator]
    )


def parse_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def matches_namespace(namespace: Sequence[str], prefix: Sequence[str], suffix: Sequence[str]) -> bool:
    """Whether a namespace has this prefix and suffix; `*` stands for any one name."""
    if len(namespace) < max(len(prefix), len(suffix)):
        return False
    pairs = [*zip(prefix, namespace, strict=False), *zip(reversed(suffix), reversed(namespace), strict=False)]
    return all(pattern in (ANY, name) for pattern, name in pairs)
