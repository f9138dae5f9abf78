"""Memory for conversational AI: keeps every word, shows the model what matters now, and can say why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.config import Settings
    from recollect.engine.log import Batch
    from recollect.errors import (
        ConfigError,
        EmbedderError,
        EmbedderMismatch,
        ImportFailed,
        InvalidInput,
        MissingExtra,
        ModelBusy,
        ModelError,
        ModelNonsense,
        ModelRefused,
        ModelSpent,
        ModelTimeout,
        NoModel,
        NotFound,
        NotSettled,
        RecollectError,
        SchemaMismatch,
        ScopeError,
        StoreBusy,
        StoreError,
        StoreLocked,
        StoreUnwritable,
    )
    from recollect.model import (
        Added,
        Budget,
        Chunk,
        Context,
        Conversation,
        Draft,
        Episode,
        Erasure,
        Hit,
        Item,
        Message,
        Receipt,
        Reply,
        Role,
        Round,
        Section,
        Stats,
        Tiers,
        Verification,
    )
    from recollect.wiring import AsyncMemory, Memory

# Names are looked up in their modules when first used: importing the package costs nothing.
_HOMES = {
    "recollect.config": ("Settings",),
    "recollect.engine.log": ("Batch",),
    "recollect.errors": (
        "ConfigError",
        "EmbedderError",
        "EmbedderMismatch",
        "ImportFailed",
        "InvalidInput",
        "MissingExtra",
        "ModelBusy",
        "ModelError",
        "ModelNonsense",
        "ModelRefused",
        "ModelSpent",
        "ModelTimeout",
        "NoModel",
        "NotFound",
        "NotSettled",
        "RecollectError",
        "SchemaMismatch",
        "ScopeError",
        "StoreBusy",
        "StoreError",
        "StoreLocked",
        "StoreUnwritable",
    ),
    "recollect.model": (
        "Added",
        "Budget",
        "Chunk",
        "Context",
        "Conversation",
        "Draft",
        "Episode",
        "Erasure",
        "Hit",
        "Item",
        "Message",
        "Receipt",
        "Reply",
        "Role",
        "Round",
        "Section",
        "Stats",
        "Tiers",
        "Verification",
    ),
    "recollect.wiring": ("AsyncMemory", "Memory"),
}

__all__ = [
    "Added",
    "AsyncMemory",
    "Batch",
    "Budget",
    "Chunk",
    "ConfigError",
    "Context",
    "Conversation",
    "Draft",
    "EmbedderError",
    "EmbedderMismatch",
    "Episode",
    "Erasure",
    "Hit",
    "ImportFailed",
    "InvalidInput",
    "Item",
    "Memory",
    "Message",
    "MissingExtra",
    "ModelBusy",
    "ModelError",
    "ModelNonsense",
    "ModelRefused",
    "ModelSpent",
    "ModelTimeout",
    "NoModel",
    "NotFound",
    "NotSettled",
    "Receipt",
    "RecollectError",
    "Reply",
    "Role",
    "Round",
    "SchemaMismatch",
    "ScopeError",
    "Section",
    "Settings",
    "Stats",
    "StoreBusy",
    "StoreError",
    "StoreLocked",
    "StoreUnwritable",
    "Tiers",
    "Verification",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
