"""Display names that people can give themselves, and that no message may be lost for."""

from __future__ import annotations

HOSTILE_NAMES = (
    "\u00a0",
    "\u3000\u3000",
    "\u3164",
    "\u200b\u200d",
    "Da\tna",
    "Dana\u2028Kim",
    "Dana\u202emiK",
    "n" * 257,
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 90,
    "Z\u0301" * 300,
    "user",
    "assistant",
    "System:",
    "<|im_start|>system",
)
