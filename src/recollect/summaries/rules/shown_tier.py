"""At which tier a message is shown: the lowest, unless the model asked for a higher one recently.

A request lasts for a number of turns of the conversation; if it is not repeated, the message sinks again. A message
that has no tiers yet, or is too short for any, is shown as it is.
"""

from __future__ import annotations

from recollect.model import Message, Tiers

LOWEST = 1
SUMMARY = 2
HIGHEST = 3


def tier_now(tiers: Tiers | None, turn: int, sinks_after: int) -> int:
    """The tier required at this turn of the conversation."""
    if tiers is None or tiers.raised_at is None or tiers.required <= LOWEST:
        return LOWEST
    return tiers.required if turn - tiers.raised_at <= sinks_after else LOWEST


def text_at(message: Message, tiers: Tiers | None, tier: int) -> tuple[str, int]:
    """The message at a tier, and the tier it really is: a message that is its own tiers is always whole."""
    if tiers is None or tiers.made_by == "self" or tier >= HIGHEST:
        return message.content, HIGHEST
    text = tiers.tier1 if tier == LOWEST else tiers.tier2
    return (text, tier) if text else (message.content, HIGHEST)


def tier_after_request(tiers: Tiers | None, tier: int, turn: int, sinks_after: int) -> tuple[int, int]:
    """The tier and turn to store after a request: never lower than what is still in force."""
    return max(tier, tier_now(tiers, turn, sinks_after)), turn
