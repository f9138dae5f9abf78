"""The receipts of the last replies of a conversation: what a model was shown when it replied, and its calls.

A row holds ids, tiers, reasons and tokens, and no text: what a message said and what the model searched for stays in
the log. Each reply has a slot by its turn, so that a new one takes the place of an old one and a conversation never
has more than `SLOTS` of them. They cannot be made again: a rebuild leaves them alone, and a removal takes along those
that name what was removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from cachetools import LRUCache

from everword.model import Budget, Context, Item, Message, Receipt, Round, Section
from everword.ports import Tx

TABLE = "receipts"
SLOTS = 50  # receipts of a conversation
CONVERSATIONS = 256  # whose last prompts are known
EXCHANGE = 2  # turns: a message and its reply
MAX_LEFT_OUT = 40  # of a section, that are kept
MERGED = "merged"  # why a line stands for a person, whose name it has in place of an id

BUDGET_NAMES = tuple(field.name for field in fields(Budget))


@dataclass(frozen=True, slots=True)
class StoredReceipt:
    """The receipt of a past reply: the turns of the message and of the reply, and every call of the model. Of a
    section, `hidden` says how many more were left out than the receipt lists."""

    turn: int
    asked: int
    at: datetime
    receipt: Receipt
    rounds: tuple[Round, ...]
    hidden: Mapping[str, int]


def put_receipt(
    tx: Tx, question: Message, reply: Message, context: Context, rounds: Iterable[Round], now: datetime
) -> None:
    """Store the receipt of a reply, in the transaction that stores the reply."""
    row = {
        "space": reply.space,
        "conversation": reply.conversation,
        "slot": slot_of(reply.turn),
        "turn": reply.turn,
        "asked": question.turn,
        "at": now,
        "receipt": pack_receipt(context.receipt, rounds),
    }
    tx.put(TABLE, [row])


def slot_of(turn: int) -> int:
    """The place of a reply's receipt, by its turn."""
    return turn // EXCHANGE % SLOTS


def has_receipt(tx: Tx, space: str, conversation: str, turn: int) -> bool:
    where = {"space": space, "conversation": conversation, "slot": slot_of(turn), "turn": turn}
    return bool(tx.rows(TABLE, where=where))


def receipt_rows(tx: Tx, space: str, conversations: Sequence[str]) -> list[Mapping[str, Any]]:
    return tx.rows(TABLE, where={"space": space, "conversation": tuple(conversations)})


def receipts_of(tx: Tx, space: str, conversation: str) -> list[StoredReceipt]:
    """The receipts of a conversation, the newest first."""
    rows = sorted(receipt_rows(tx, space, [conversation]), key=lambda row: -row["turn"])
    return [unpack_receipt(row) for row in rows]


# -- how much of a prompt is that of the prompt before


class LastPrompts:
    """The lines of the last prompts, as numbers, of the conversations that were used last."""

    def __init__(self) -> None:
        self._lines: LRUCache[tuple[str, str], tuple[int, ...]] = LRUCache(CONVERSATIONS)

    def with_repeated(self, place: tuple[str, str], context: Context) -> Context:
        """The context, whose receipt says about how many of its tokens begin as the prompt before."""
        lines = [line for message in context.messages for line in message["content"].split("\n")]
        before = self._lines.get(place, ())
        self._lines[place] = tuple(map(hash, lines))
        pairs = zip(before, self._lines[place], strict=False)
        count = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        share = sum(map(len, lines[:count])) / max(sum(map(len, lines)), 1)
        repeated = int(share * context.receipt.tokens)
        return replace(context, receipt=replace(context.receipt, repeated=repeated))


# -- as it is stored: reasons once, items as short lists


def pack_receipt(receipt: Receipt, rounds: Iterable[Round]) -> dict[str, Any]:
    reasons: dict[str, int] = {}

    def pack_items(items: Iterable[Item]) -> list[list[Any]]:
        return [
            ["" if item.reason == MERGED else item.id, item.tokens, item.tier, number_of(reasons, item.reason)]
            for item in items
        ]

    sections = [
        {
            "name": section.name,
            "tokens": section.tokens,
            "note": section.note,
            "in": pack_items(section.items),
            "out": pack_items(section.left_out[:MAX_LEFT_OUT]),
            "hidden": max(len(section.left_out) - MAX_LEFT_OUT, 0),
        }
        for section in receipt.sections
    ]
    return {
        "tokenizer": receipt.tokenizer,
        "budget": {name: getattr(receipt.budget, name) for name in BUDGET_NAMES},
        "tokens": receipt.tokens,
        "repeated": receipt.repeated,
        "sections": sections,
        "reasons": list(reasons),
        "rounds": [pack_round(turn_round) for turn_round in rounds],
    }


def number_of(reasons: dict[str, int], reason: str) -> int:
    """The number of a reason; a new one gets the next."""
    return reasons.setdefault(reason, len(reasons))


def pack_round(turn_round: Round) -> dict[str, Any]:
    """A call of the model, without what it searched for: the reply's own metadata has that."""
    return {
        "raised": [list(pair) for pair in turn_round.raised],
        "found": list(turn_round.found),
        "tokens_in": turn_round.tokens_in,
        "tokens_out": turn_round.tokens_out,
        "model": turn_round.model,
    }


def unpack_receipt(row: Mapping[str, Any]) -> StoredReceipt:
    data = row["receipt"]
    reasons = data["reasons"]
    sections = tuple(
        Section(
            section["name"],
            section["tokens"],
            tuple(unpack_items(section["in"], reasons)),
            tuple(unpack_items(section["out"], reasons)),
            section["note"],
        )
        for section in data["sections"]
    )
    receipt = Receipt(data["tokenizer"], Budget(**data["budget"]), data["tokens"], sections, data.get("repeated", 0))
    rounds = tuple(unpack_round(number, packed) for number, packed in enumerate(data["rounds"], 1))
    hidden = {section["name"]: section["hidden"] for section in data["sections"] if section["hidden"]}
    return StoredReceipt(row["turn"], row["asked"], row["at"], receipt, rounds, hidden)


def unpack_items(items: Iterable[Sequence[Any]], reasons: Sequence[str]) -> Iterator[Item]:
    return (Item(id, tokens, reasons[reason], tier) for id, tokens, tier, reason in items)


def unpack_round(number: int, packed: Mapping[str, Any]) -> Round:
    raised = tuple((turn, tier) for turn, tier in packed["raised"])
    found = tuple(packed["found"])
    return Round(number, raised, (), found, packed["tokens_in"], packed["tokens_out"], packed["model"])


def named_ids(row: Mapping[str, Any]) -> set[str]:
    """Every id that a stored receipt names."""
    data = row["receipt"]
    items = {item[0] for section in data["sections"] for item in (*section["in"], *section["out"])}
    return items | {id for packed in data["rounds"] for id in packed["found"]}
