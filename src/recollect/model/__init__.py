"""The nouns of recollect, as frozen values. They hold data and know nothing of storage, models or clocks.

A message is said once and never changes. Everything that can be derived from messages is a view: it can be thrown away
and built again.
"""

from recollect.model.context import (
    Budget,
    ChatMessage,
    Context,
    Item,
    Receipt,
    Reply,
    Round,
    Section,
)
from recollect.model.facts import (
    FACT_CATEGORIES,
    HOLDS,
    Fact,
    FactCategory,
    FoundFact,
    Holds,
)
from recollect.model.log import (
    DEFAULT_SPACE,
    ROLES,
    Added,
    BadRecord,
    Conversation,
    Draft,
    Erasure,
    Fault,
    Filter,
    Hit,
    Message,
    Record,
    Role,
    Seal,
    Verification,
)
from recollect.model.views import (
    Chunk,
    Entry,
    Episode,
    Stats,
    Tiers,
    ViewState,
)

__all__ = [
    "DEFAULT_SPACE",
    "FACT_CATEGORIES",
    "HOLDS",
    "ROLES",
    "Added",
    "BadRecord",
    "Budget",
    "ChatMessage",
    "Chunk",
    "Context",
    "Conversation",
    "Draft",
    "Entry",
    "Episode",
    "Erasure",
    "Fact",
    "FactCategory",
    "Fault",
    "Filter",
    "FoundFact",
    "Hit",
    "Holds",
    "Item",
    "Message",
    "Receipt",
    "Record",
    "Reply",
    "Role",
    "Round",
    "Seal",
    "Section",
    "Stats",
    "Tiers",
    "Verification",
    "ViewState",
]
