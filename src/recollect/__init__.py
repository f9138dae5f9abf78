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
        Context,
        Conversation,
        Draft,
        Erasure,
        Hit,
        Message,
        Receipt,
        Role,
        Stats,
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
        "Context",
        "Conversation",
        "Draft",
        "Erasure",
        "Hit",
        "Message",
        "Receipt",
        "Role",
        "Stats",
        "Verification",
    ),
    "recollect.wiring": ("AsyncMemory", "Memory"),
}

__all__ = [
    "Added",
    "AsyncMemory",
    "Batch",
    "Budget",
    "ConfigError",
    "Context",
    "Conversation",
    "Draft",
    "EmbedderError",
    "EmbedderMismatch",
    "Erasure",
    "Hit",
    "ImportFailed",
    "InvalidInput",
    "Memory",
    "Message",
    "MissingExtra",
    "ModelBusy",
    "ModelError",
    "ModelNonsense",
    "ModelRefused",
    "ModelTimeout",
    "NoModel",
    "NotFound",
    "NotSettled",
    "Receipt",
    "RecollectError",
    "Role",
    "SchemaMismatch",
    "ScopeError",
    "Settings",
    "Stats",
    "StoreBusy",
    "StoreError",
    "StoreLocked",
    "StoreUnwritable",
    "Verification",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
