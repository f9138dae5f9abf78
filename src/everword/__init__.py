"""Memory for conversational AI: keeps every word, shows the model what matters now, and can say why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from everword.adapters.wrap import wrap
    from everword.client import AsyncClient, Client
    from everword.config import Settings
    from everword.errors import *
    from everword.library import AsyncMemory, Memory
    from everword.memory.blocking import BlockingConversation, BlockingDocuments
    from everword.memory.memory import MemoryFace
    from everword.memory.operations.conversation import AsyncConversation, ConversationFace
    from everword.memory.operations.documents import AsyncDocuments, DocumentsFace
    from everword.model import *

# A name is looked up in these modules when it is first used, the light ones first: importing the package costs nothing.
_HOMES = (
    "errors",
    "model",
    "config",
    "library",
    "memory.memory",
    "memory.operations.conversation",
    "memory.operations.documents",
    "memory.blocking",
    "client",
    "adapters.wrap",
)

__all__ = [
    "Activity",
    "Added",
    "Ambiguous",
    "Answer",
    "AnswerGone",
    "AsyncClient",
    "AsyncConversation",
    "AsyncDocuments",
    "AsyncMemory",
    "AuditLine",
    "Batch",
    "BlockingConversation",
    "BlockingDocuments",
    "Budget",
    "Candidate",
    "Change",
    "ChatMessage",
    "Chunk",
    "Client",
    "CommitUnknown",
    "ConfigError",
    "Context",
    "Conversation",
    "ConversationFace",
    "Degraded",
    "Deletion",
    "Digest",
    "Document",
    "DocumentsFace",
    "Draft",
    "EmbedderError",
    "EmbedderMismatch",
    "EmbedderRefused",
    "Episode",
    "Erasure",
    "EverwordError",
    "Expired",
    "ExtractLine",
    "Fact",
    "FactChange",
    "Fault",
    "Forgotten",
    "Hit",
    "ImportFailed",
    "InvalidInput",
    "Item",
    "MachineAway",
    "Member",
    "Memory",
    "MemoryAnswer",
    "MemoryFace",
    "Message",
    "MessagesLost",
    "MissingExtra",
    "ModelBusy",
    "ModelCutOff",
    "ModelError",
    "ModelNonsense",
    "ModelRefused",
    "ModelSpent",
    "ModelTimeout",
    "Move",
    "Name",
    "NoModel",
    "NotFound",
    "NotSettled",
    "Profile",
    "Receipt",
    "Redaction",
    "RefusedFact",
    "Reply",
    "Resolved",
    "Retained",
    "Retried",
    "Role",
    "Round",
    "SchemaMismatch",
    "ScopeError",
    "Seal",
    "SecretMark",
    "SecretRefused",
    "Section",
    "ServerError",
    "Settings",
    "Span",
    "Statement",
    "Stats",
    "StoreAway",
    "StoreBusy",
    "StoreClosed",
    "StoreError",
    "StoreLocked",
    "StoreUnwritable",
    "Tiers",
    "Topic",
    "TopicHit",
    "TopicMessage",
    "TopicStats",
    "Unknown",
    "Verification",
    "Version",
    "ViewState",
    "Whom",
    "wrap",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for home in _HOMES if name in __all__ else ():
        module = import_module(f"everword.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module 'everword' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
