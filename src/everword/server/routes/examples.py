"""One example of each kind of answer, for the API's description."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from everword import model
from everword.wire import to_json_value

THEN = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)

MESSAGE = model.Message("default", "demo", 1, "01jd3x8k2m9q4r7t5v6w", "user", "alex", "alex", "I live in Berlin.", THEN)
FACT = model.Fact(
    "default", "alex", "f1", "identity", "city", "Berlin", 0.9, 0.8, "alex", "demo", 1, THEN, THEN, (MESSAGE.id,)
)
STATEMENT = model.Statement("default", "alex", "s1", "Alex lives in Berlin.", "alex", THEN, (MESSAGE.id,))
TOPIC = model.Topic(
    "t1", "Moving to Berlin", "", "short-term", timedelta(days=1), 0.5, 0.5, 1, 2, 0, THEN, THEN, current=True
)
DIGEST = model.Digest("default", "alex", "day", date(2026, 3, 1), date(2026, 3, 1), "Alex moved.", "offline", THEN)
DOCUMENT = model.Document("default", ("notes", "alex"), "pets", {"text": "Alex has an otter"}, "alex", THEN, THEN)
RECEIPT = model.Receipt(
    "o200k_base",
    model.Budget.compact(),
    120,
    (model.Section("recent", 12, (model.Item(MESSAGE.id, 12, "one of the last 4 exchanges"),)),),
)
SAMPLES: tuple[Any, ...] = (
    MESSAGE,
    FACT,
    STATEMENT,
    TOPIC,
    DIGEST,
    DOCUMENT,
    RECEIPT,
    model.Added(MESSAGE, True),
    model.Conversation("default", "demo", "alex", THEN, THEN, 1),
    model.Hit(MESSAGE, 1.7, {"words": 1.0, "meaning": 0.7}),
    model.Context([{"role": "user", "content": "Which language for the example?"}], RECEIPT),
    model.Reply("Your name is Alex.", MESSAGE, RECEIPT, (model.Round(1, (), (), (), 120, 6, "a-model"),)),
    model.Forgotten("01jd3x8k2m9q4r7t5v6w", (STATEMENT,), (FACT,)),
    model.FactChange("01jd3x8k2m9q4r7t5v6w", "add", "alex", THEN, FACT),
    model.MemoryAnswer("Alex lives in Berlin.", True, "model", (FACT,), (MESSAGE,)),
    model.Erasure("01jd3x8k2m9q4r7t5v6w", "default", THEN, 12, 2, 12),
)
EXAMPLES: dict[Any, Any] = {type(sample): to_json_value(sample) for sample in SAMPLES}
