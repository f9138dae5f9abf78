"""The data classes of everword, all frozen. They hold data and know nothing of storage, models or clocks.

A message is said once, and what is made of it later is a version of it. Everything that can be derived from messages is
a view: it can be thrown away and built again.
"""

from everword.model.changes import AuditLine, ChangeKind, Deletion, LogChange, Move, MoveKind, Redaction, RemovalKind
from everword.model.context import Budget, BudgetName, ChatMessage, Context, Item, Receipt, Reply, Round, Section
from everword.model.facts import (
    FACT_CATEGORIES,
    HOLDS,
    REFUSAL_KINDS,
    Digest,
    DigestKind,
    Fact,
    FactCategory,
    FactChange,
    FactChangeKind,
    FactRefusal,
    Forgotten,
    FoundFact,
    Holds,
    Profile,
    RefusalKind,
    RefusedFact,
    Span,
    Statement,
)
from everword.model.log import (
    DEFAULT_SPACE,
    HIT_KINDS,
    ON_EDIT,
    ROLES,
    Added,
    BadRecord,
    Batch,
    Change,
    Conversation,
    Degraded,
    Document,
    Draft,
    Erasure,
    Expired,
    Fault,
    Filter,
    Hit,
    HitKind,
    Kept,
    Message,
    OnEdit,
    Record,
    Retained,
    Role,
    Seal,
    Verification,
    Version,
)
from everword.model.people import (
    Ambiguous,
    Answer,
    Candidate,
    CommandKind,
    Member,
    MemoryAnswer,
    Name,
    NameKind,
    Resolved,
    Unknown,
    Whom,
)
from everword.model.views import (
    Activity,
    Chunk,
    Entry,
    Episode,
    ExtractLine,
    Retried,
    SetAside,
    Stats,
    Tiers,
    Topic,
    TopicHit,
    TopicKind,
    TopicMessage,
    TopicStats,
    ViewState,
)
from everword.secrets import SecretMark
