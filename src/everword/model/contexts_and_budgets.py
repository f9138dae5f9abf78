"""What a model is sent, and the receipt for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Literal, TypedDict

from everword.errors import InvalidInput
from everword.model.log import Degraded, Message


class ChatMessage(TypedDict):
    """A message in the form that every chat model takes."""

    role: str
    content: str


BudgetName = Literal["standard", "compact"]


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens a context may have in all, and how many each section of the context may have.

    Messages that help to answer come first: they get up to `retrieved` tokens, even if little is left of a small
    `total`. With `fixed`, each section keeps its own limit, and retrieved messages are cut first. At least the last
    `pairs` exchanges are sent word for word, as far as `recent` allows.
    """

    total: int = 30_000
    system: int = 2_000
    profile: int = 2_000
    summaries: int = 4_000
    retrieved: int = 6_000
    topic: int = 800
    recent: int | None = 10_000
    pairs: int = 4
    fixed: bool = False

    @classmethod
    def compact(cls) -> Budget:
        """8,000 tokens in all, for small models and low costs."""
        return cls(
            total=8_000,
            system=1_500,
            profile=1_500,
            summaries=2_000,
            retrieved=1_500,
            topic=500,
            recent=3_000,
            fixed=True,
        )

    @classmethod
    def of(cls, value: Budget | BudgetName | None) -> Budget:
        """The budget for a value: the budget itself, the one with that name, or the standard one for None."""
        if value is None or value == "standard":
            return cls()
        if value == "compact":
            return cls.compact()
        return cls._checked(value)

    @staticmethod
    def _checked(value: object) -> Budget:
        """A budget whose parts are numbers of tokens."""
        if not isinstance(value, Budget):
            shown = repr(value) if isinstance(value, str) else type(value).__name__
            raise InvalidInput("budget", f'must be a Budget, "standard" or "compact", not {shown}')
        for part in fields(value):
            number = getattr(value, part.name)
            if part.name == "fixed":
                if type(number) is not bool:
                    raise InvalidInput("budget", "has a field `fixed`, which must be true or false")
            elif type(number) is not int and not (number is None and part.name == "recent"):
                raise InvalidInput("budget", f"has a field `{part.name}` that is not a whole number of tokens")
        return value


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a receipt: a message or a similar text, its tier, its tokens, and why the context contains it or
    not."""

    id: str
    tokens: int
    reason: str
    tier: int = 3


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a context: its name, its tokens, the items in it, and the items that were left out. A `note` can say,
    for example, that nothing relevant was found."""

    name: str
    tokens: int
    items: tuple[Item, ...] = ()
    left_out: tuple[Item, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a context contains, at which tier, what was left out, why, and how many tokens each section has.

    `repeated` estimates how many tokens at the start of the prompt are the same as in the conversation's last prompt
    from this process. The model's server may have cached these tokens.
    """

    tokenizer: str
    budget: Budget
    tokens: int
    sections: tuple[Section, ...]
    repeated: int = field(default=0, compare=False)

    def explain(self, width: int | None = None) -> str:
        """The receipt as a plain-text table for a person to read; wrapped to `width` columns (60 or more), if given."""
        from io import StringIO

        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
        for column in ("section", "in/out", "id", "tier", "tokens", "reason"):
            is_number = column in ("tier", "tokens")
            table.add_column(column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
        for row in self._rows():
            # An id may be anything somebody chose: it is no markup, and moves no cursor.
            table.add_row(*("".join(c if c.isprintable() else "\ufffd" for c in cell) for cell in row))
        page = StringIO()
        plain = Console(
            file=page,
            width=100_000 if width is None else max(width, 60),
            color_system=None,
            force_terminal=False,
            force_jupyter=False,
            markup=False,
            emoji=False,
            highlight=False,
        )
        plain.print(table)
        lines = [
            f"{self.tokens:,} of {self.budget.total:,} tokens ({self.tokenizer})"
            + (f", about {self.repeated:,} as in the prompt before" if self.repeated else ""),
            "",
            *page.getvalue().split("\n"),
        ]
        return "\n".join(line.rstrip() for line in lines).rstrip()

    def _rows(self) -> Iterator[tuple[str, str, str, str, str, str]]:
        """The lines of the table: each section with its total and budget, and below it what is in and what is not."""
        for section in self.sections:
            section_budget = getattr(self.budget, section.name, None)
            about = [f"of {section_budget:,}"] if isinstance(section_budget, int) else []
            if section.items or section.left_out:
                about.append(f"{len(section.items):,} in, {len(section.left_out):,} left out")
            about += [section.note] if section.note else []
            yield section.name, "", "", "", f"{section.tokens:,}", "; ".join(about)
            for way, items in (("in", section.items), ("out", section.left_out)):
                for item in items:
                    yield "", way, item.id, f"{item.tier}", f"{item.tokens:,}", item.reason
        joints = self.tokens - sum(section.tokens for section in self.sections)
        if joints:
            yield "joints", "", "", "", f"{joints:,}", "between the parts, and to open the reply"


@dataclass(frozen=True, slots=True)
class Context:
    """What is sent to a model, with the receipt that explains the choice."""

    messages: list[ChatMessage]
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Round:
    """One call of the model within a turn: what the model asked for, what it was given, and what the call cost.

    `raised` has the turns of the messages whose tier was raised, with the new tiers. `found` has the ids that searches
    returned.
    """

    number: int
    raised: tuple[tuple[int, int], ...]
    searches: tuple[str, ...]
    found: tuple[str, ...]
    tokens_in: int
    tokens_out: int
    model: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply: the text, the stored message, the receipt of the last context, and every round (call of the
    model).

    If the turn is buffered in memory because the store cannot be written, `degraded` says why.
    """

    text: str
    message: Message
    receipt: Receipt
    rounds: tuple[Round, ...]
    degraded: Degraded | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.text
