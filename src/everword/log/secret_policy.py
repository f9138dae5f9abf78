"""What becomes of a secret that somebody pastes: the setting `secrets`, as rules.

- `mask`: the log keeps what was said and marks where the secrets are. A store gives messages masked, so that whatever
  is made of them has placeholders; only a message's own conversation shows it `as_said`.
- `redact`: placeholders are kept in place of the secrets, and nothing else is written.
- `refuse`: the message is refused. The error names the kind and the place of the secret, never the secret.
- `keep`: nothing is looked for.

A secret that was found once is one wherever it is repeated, without the words that gave it away: in the same text, and
in later messages of its conversation ("your password was tr0ub4dor").

Texts that are no messages (a statement to remember, a query, a title) have no conversation of their own: there a
placeholder is kept in all modes but `keep`, or the text is refused.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from everword.errors import SecretRefused
from everword.model import Draft, Message
from everword.secrets import Marks, SecretMark, mask_parts, mask_text, texts_in
from everword.secrets.detector import find_secrets

SecretMode = Literal["mask", "redact", "refuse", "keep"]
SECRET_MODES: tuple[SecretMode, ...] = get_args(SecretMode)
PLACEHOLDER = re.compile(r"\[secret: ([^\[\]\n]{1,40})\]")
# Names of fields that say that their value is a secret; an id of a session or a page is none.
TELLING_NAME = re.compile(
    r"(?:.*[_-])?(?:password|passwd|passphrase|pwd|secret|api[_-]?key|(?:access|auth|api|bearer)[_-]?token|authorization)",
    re.IGNORECASE,
)
SHORTEST = 6  # characters of a secret that is looked for without the words that gave it away
MOST_REPEATED = 64  # secrets that are looked for where they are repeated: of a text, and of what was said before it
NOTHING: Mapping[str, str] = {}
ADVICE = 'leave it out, or set secrets to "mask" or "redact"'


@dataclass(frozen=True, slots=True)
class SecretPolicy:
    """What a memory does with secrets; `earlier` are those that may be repeated, each with its kind."""

    mode: SecretMode = "mask"
    earlier: Mapping[str, str] = field(default_factory=dict)

    def after_messages(self, messages: Iterable[Message]) -> SecretPolicy:
        """The policy for what is said after these messages, which are masked."""
        return self._after({secret: kind for message in messages for secret, kind in secrets_of(message)})

    def after_texts(self, texts: Iterable[str]) -> SecretPolicy:
        """The policy for what is said after these texts."""
        if self.mode == "keep":
            return self
        return self._after({text[mark.start : mark.end]: mark.kind for text in texts for mark in find_secrets(text)})

    def _after(self, earlier: Mapping[str, str]) -> SecretPolicy:
        if not earlier:
            return self
        newest = list({**self.earlier, **earlier}.items())[-MOST_REPEATED:]
        return replace(self, earlier=dict(newest))

    def guard_draft(self, draft: Draft) -> tuple[Draft, Marks]:
        """The draft as it is kept, and the marks of its secrets, or of their placeholders."""
        if self.mode == "keep":
            return draft, ()
        marks = find_in_message(draft.content, draft.metadata, self.earlier)
        if not marks or self.mode == "mask":
            return draft, marks
        if self.mode == "refuse":
            raise refusal("content", marks)
        content, metadata, marks = mask_parts(draft.content, draft.metadata, marks)
        return replace(draft, content=content, metadata=metadata), marks

    def guard_text(self, field: str, text: str) -> str:
        """A text that is no message, as it is kept."""
        if self.mode == "refuse" and (marks := find_all(text)):
            raise refusal(field, marks)
        return self.mask(text)

    def mask(self, text: str) -> str:
        """A text as it is searched for, and shown to models that work for the memory."""
        return text if self.mode == "keep" else masked(text, self.earlier)

    def refuse_secrets(self, field: str, text: str) -> None:
        """Raise if a text holds a secret or a placeholder: for what makes no sense without it."""
        if self.mode != "keep" and (marks := find_all(text)):
            raise refusal(
                field, marks, "facts must not contain secrets, because facts are shown in other conversations"
            )
        if holds_placeholder(text):
            raise refusal(field, (), "contains a placeholder for a secret; write the text without the placeholder")


def find_in_message(content: str, metadata: Mapping[str, Any], earlier: Mapping[str, str] = NOTHING) -> Marks:
    """The secrets in a message: in its content, and in every text of its metadata. There the name of a field gives a
    text away: {"password": "hunter2"}."""
    marks = find_all(content, earlier)
    if not metadata:
        return marks
    earlier = {**earlier, **{content[mark.start : mark.end]: mark.kind for mark in marks}}
    return (*marks, *(mark for path, text in texts_in(metadata) for mark in find_in_field(path, text, earlier)))


def find_in_field(path: str, text: str, earlier: Mapping[str, str]) -> Iterator[SecretMark]:
    name = path.rpartition("/")[2]
    head = f"{name}: " if TELLING_NAME.fullmatch(name) else ""
    for mark in find_all(head + text, earlier):
        if mark.start >= len(head):
            yield SecretMark(mark.kind, mark.start - len(head), mark.end - len(head), path)


def find_all(text: str, earlier: Mapping[str, str] = NOTHING) -> Marks:
    """Every secret in a text, in its order: those that are found, and known ones that are repeated."""
    marks = find_secrets(text)
    if not marks and not earlier:
        return marks
    found = {text[mark.start : mark.end]: mark.kind for mark in marks[:MOST_REPEATED]}
    return tuple(sorted([*marks, *find_repeated(text, {**earlier, **found}, marks)], key=lambda mark: mark.start))


def find_repeated(text: str, kinds: Mapping[str, str], marks: Marks) -> Iterator[SecretMark]:
    """Where known secrets stand besides their marks: all of them are looked for at once, whatever their number."""
    secrets = [secret for secret in kinds if len(secret) >= SHORTEST and secret in text]
    if not secrets:
        return
    ends = [mark.end for mark in marks]
    longest_first = sorted(secrets, key=len, reverse=True)
    for match in re.finditer(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", text):
        place = bisect_right(ends, match.start())  # the first mark that ends after it begins
        if place == len(marks) or match.end() <= marks[place].start:
            yield SecretMark(kinds[match[0]], *match.span())


def secrets_of(message: Message) -> Iterator[tuple[str, str]]:
    """The secrets that are marked in the content of a masked message, each with its kind."""
    if message.original is not None:
        content, _, marks = message.original
        for mark in marks:
            if not mark.path:
                yield content[mark.start : mark.end], mark.kind


def masked(text: str, earlier: Mapping[str, str] = NOTHING) -> str:
    """A text with placeholders for the secrets in it."""
    marks = find_all(text, earlier)
    return mask_text(text, marks) if marks else text


def mask_repeated(text: str, messages: Iterable[Message]) -> str:
    """A text that somebody wrote who has read these messages: with placeholders for what is a secret in them, too."""
    return masked(text, SecretPolicy().after_messages(messages).earlier)


def stands_for_secret(text: str) -> bool:
    """Whether a part of a sentence is a placeholder or a piece of one."""
    return "[secret" in text or text.casefold().startswith("secret: ")


def placeholder_marks(content: str, metadata: Mapping[str, Any]) -> Marks:
    """Marks of the placeholders in a message."""
    texts = [("", content), *texts_in(metadata)]
    return tuple(
        SecretMark(match[1], *match.span(), path) for path, text in texts for match in PLACEHOLDER.finditer(text)
    )


def holds_placeholder(text: str) -> bool:
    return "[secret: " in text and PLACEHOLDER.search(text) is not None


def refusal(field: str, marks: Marks, reason: str = "") -> SecretRefused:
    """The error that names kinds and places of secrets."""
    places = ", ".join(describe_mark(mark) for mark in marks[:3]) + (", …" if len(marks) > 3 else "")
    held = f"contains a secret ({places}); " if marks else ""
    return SecretRefused(field, held + (reason or f"secrets are refused: {ADVICE}"))


def describe_mark(mark: SecretMark) -> str:
    place = f"characters {mark.start + 1} to {mark.end}"
    return f"{mark.kind}, {place}" + (f" of {mark.path[1:]} in the metadata" if mark.path else "")
